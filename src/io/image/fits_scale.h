/* Pixels of FITS as they are stored, to physical values. */
#ifndef AIRY_IO_IMAGE_FITS_SCALE_H
#define AIRY_IO_IMAGE_FITS_SCALE_H

#include <stdbool.h>

#include "airy/image.h"

/* How the pixels lie in the file. */
struct fits_stored {
    int bitpix;
    bool compressed, quantised, blank, offset;
    double scale, zero;
    long long blank_value;
};

/* Integers to floats in place, last first: a float is never narrower than its integer. */
void airy_fits_scale_integers(const airy_image *image, const struct fits_stored *s, size_t count);
void airy_fits_scale_floats(const airy_image *image, const struct fits_stored *s, size_t count);

#endif
