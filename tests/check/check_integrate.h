/* The small detector that check_matrix.c and check_integrate.c look at. */
#ifndef AIRY_TESTS_CHECK_INTEGRATE_H
#define AIRY_TESTS_CHECK_INTEGRATE_H

#include "check.h"

#include "airy/integrate.h"

enum { HEIGHT = 19, WIDTH = 26, PIXELS = HEIGHT * WIDTH };

/*
 * The beam on the detector, off it, on a corner of pixels, and behind a detector that is turned
 * away.
 */
enum view { VIEW_ON, VIEW_OFF, VIEW_CORNER, VIEW_BACK, VIEW_COUNT };

airy_geometry scene_geometry(enum view view, int orientation);
/* mask: [PIXELS], not 0 = leave out; some pixels and a row. */
void scene_mask(struct check *c, uint8_t *mask);

void check_matrix(struct check *c); /* part of check_integrate */

#endif
