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
/*
 * A bent and twisted detector of the scene's pixels, with gaps between some, as orientation 3 counts
 * them: [PIXELS][4][3].
 */
void scene_corners(float *corners, double pixel1, double pixel2);
/* mask: [PIXELS], not 0 = leave out; some pixels and a row. */
void scene_mask(struct check *c, uint8_t *mask);

void check_matrix(struct check *c); /* part of check_integrate */

#endif
