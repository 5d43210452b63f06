/* What the readers of all formats do with a file and with the pixels that it holds. */
#ifndef AIRY_IO_IMAGE_PIXELS_H
#define AIRY_IO_IMAGE_PIXELS_H

#include "airy/image.h"

/* Open the file and read it so; after a failure the name stands in front of why. */
airy_status airy_image_read_with(airy_image *image, const char *path,
                                 airy_status (*read)(airy_image *image, int fd, uint64_t size));
/* A whole number of decimal digits and nothing else; false: it is none, or does not fit. */
bool airy_image_parse_size(size_t *size, const char *digits);
void airy_image_swap(void *data, size_t count, size_t size);
/* The top bit of each, by which types of FITS differ from those in memory. */
void airy_image_flip(void *data, size_t count, size_t size);
/* f16 that fill the upper half of the memory to f32 that fill all of it; exact. */
void airy_image_widen(void *data, size_t count, bool swapped);

#endif
