/* The memory of an image: airy_image_free and airy_image_value are public. */
#ifndef AIRY_BASE_IMAGE_MEMORY_H
#define AIRY_BASE_IMAGE_MEMORY_H

#include "airy/image.h"

/* Bytes of an image's data; AIRY_ERR_SHAPE where there are none or too many. */
airy_status airy_image_bytes(size_t *bytes, const airy_image *image);
/* malloc'ed pixels, refused where they would not fit the machine's memory. */
airy_status airy_image_alloc(void **data, size_t bytes);

#endif
