/* Detectors whose pixels have positions of their own. */
#ifndef AIRY_INTEGRATE_POSITIONS_H
#define AIRY_INTEGRATE_POSITIONS_H

#include "integrate/detector_table.h"

enum { AIRY_CORNER_VALUES = 12 }; /* of a pixel: 4 corners of 3 coordinates */

struct airy_detector_arrays {
    float *corners; /* [height][width][4][3] */
    uint8_t *bad;   /* [height][width] */
};

/*
 * Compute the corners of the pixels of an entry with several pixel sizes, at the detector's
 * binning.
 */
airy_status airy_positions_of_chips(struct airy_detector_arrays *arrays, const airy_detector *d,
                                    const struct airy_detector_entry *entry);

#endif
