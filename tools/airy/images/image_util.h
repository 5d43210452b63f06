/* Images in host memory as the commands need them: 2-D, float, masks. */
#ifndef AIRY_TOOLS_IMAGES_IMAGE_UTIL_H
#define AIRY_TOOLS_IMAGES_IMAGE_UTIL_H

#include "images/bad_pixels.h"

/* One frame of whatever a file is: what the file marks as bad, dummies and gaps are NaN. */
struct image_frame {
    size_t height, width, frames; /* of these it is one */
    double *values;               /* malloc'ed; NULL after a failure */
    char unit[AIRY_CARD_VALUE];   /* of them: BUNIT, or the dataset's attribute; "": not known */
    airy_dtype dtype;             /* as they are in the file */
    size_t dummies;               /* those that --dummy left out */
};
/*
 * Frame `number` of a stack, or plane of an image. output: must be none of the stack's files (NULL: not
 * looked at); bad: of which --dummy counts here, or NULL. Exit code.
 */
int image_load_frame(const struct common *common, const char *path, size_t number,
                     const char *output, const struct bad_pixels *bad, struct image_frame *frame);
/*
 * Percentiles 1 and 99.5 of at most a million evenly spread finite values, of positive ones only; *good of
 * them, where there is none 0 and 1. Exit code.
 */
int image_percentiles(const struct common *common, const double *values, size_t count,
                      bool positive, double limits[2], size_t *good);

/* --mask FILE, of all planes or of one for all, of this plane: 1 = bad (not 0). Exit code. */
int image_mask_plane(const struct common *common, const char *path, const airy_image_plane *plane,
                     uint8_t *bad);

#endif
