/* The registry of detectors: plain data, one entry a class. */
#ifndef AIRY_INTEGRATE_DETECTOR_TABLE_H
#define AIRY_INTEGRATE_DETECTOR_TABLE_H

#include "airy/geometry.h"

#include <stddef.h>
#include <stdint.h>

enum airy_detector_flags {
    AIRY_DETECTOR_CURVED = 1u << 0,    /* not one plane */
    AIRY_DETECTOR_HEXAGONAL = 1u << 1, /* pixels on a hexagonal grid */
    AIRY_DETECTOR_UNEVEN = 1u << 2,    /* some pixels are larger than others, or modules are off
                                          the grid */
    AIRY_DETECTOR_DECTRIS = 1u << 3,   /* dummy values -1, -2, -3 in the image's type */
    AIRY_DETECTOR_ROUND = 1u << 4,     /* bad where (y + 1/2 - h/2)^2 + (x + 1/2 - w/2)^2 >
                                          (h/2)^2 */
    AIRY_DETECTOR_PLATE = 1u << 5,     /* scanned: an image has as many pixels as fit the plate */
    AIRY_DETECTOR_HALVED = 1u << 6     /* shape and pixels are those of the usual image, binned by
                                          two; the sensor has twice as many */
};

/*
 * Rows (or columns) [first + k step, first + k step + size) for k below count; a list ends with
 * size 0.
 */
struct airy_band {
    uint16_t first, size, step, count;
};
/* Good pixels [y0, y1) x [x0, x1); a list ends with y1 = 0. */
struct airy_chip {
    uint16_t y0, y1, x0, x1;
};

struct airy_detector_entry {
    const char *names; /* "name|class|alias..." */
    uint16_t height, width;
    double pixel1, pixel2;
    unsigned flags;
    const struct airy_band *rows, *columns; /* bad over the whole width, height; NULL: none */
    const struct airy_chip *chips;          /* not NULL: everything else is bad */
};

extern const struct airy_detector_entry airy_detector_table[];
extern const size_t airy_detector_table_count;

/*
 * Along an axis, chips of `length` pixels: those at a border with another chip are `border` times as
 * long as the others, and between chips there is a gap, m.
 */
struct airy_chip_axis {
    uint16_t length;
    double border, gap;
};
struct airy_chips {
    struct airy_chip_axis rows, columns;
};
/* Of entries whose pixels have several sizes, where these are known; else NULL. */
const struct airy_chips *airy_detector_chips(const struct airy_detector_entry *entry);

/*
 * Shape and binning that the pixel sizes of a detector give, where its images without binning, or of
 * an entry the usual ones, are those of `known`; flags are the entry's. False where the sizes are of
 * no image that is known, and nothing is changed.
 */
bool airy_detector_follow_pixels(airy_detector *detector, const airy_detector *known,
                                 unsigned flags);

/* What keeps positions of an entry's pixels from being known; NULL for nothing. */
const char *airy_detector_obstacle(const struct airy_detector_entry *entry);

/*
 * By class name, name or alias as airy_detector_find does; NULL when there is none. Reports
 * nothing.
 */
const struct airy_detector_entry *airy_detector_entry_find(const char *name);

#endif
