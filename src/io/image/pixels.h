/* Functions that the readers of several formats share, for files and for pixels. */
#ifndef AIRY_IO_IMAGE_PIXELS_H
#define AIRY_IO_IMAGE_PIXELS_H

#include "airy/image.h"

/* Open the file and call read; the sentence of a failure begins with the path. */
airy_status airy_image_read_with(airy_image *image, const char *path,
                                 airy_status (*read)(airy_image *image, int fd, uint64_t size));
/*
 * Parse a number of decimal digits alone. False where the text is something else or does not fit.
 */
bool airy_image_parse_size(size_t *size, const char *digits);
void airy_image_swap(void *data, size_t count, size_t size);
/* Invert the top bit of each value, by which types of FITS differ from those in memory. */
void airy_image_flip(void *data, size_t count, size_t size);
/* Convert f16 values in the upper half of the memory to f32 values that fill all of it; exact. */
void airy_image_widen(void *data, size_t count, bool swapped);

#endif
