/* Images in host memory as the commands need them: 2-D, float, masks. */
#ifndef AIRY_TOOLS_IMAGE_UTIL_H
#define AIRY_TOOLS_IMAGE_UTIL_H

#include "tool.h"

/*
 * Read FILE as height x width float values (malloc'ed): --what FILE. Exit code.
 * A 3-D file of one frame counts as 2-D. *odd: values that are not finite.
 */
int image_load_float(const struct common *common, const char *what, const char *path, size_t height,
                     size_t width, float **data, size_t *odd);
/* The same as a mask, 1 = bad (any value that is not 0). */
int image_load_mask(const struct common *common, const char *what, const char *path, size_t height,
                    size_t width, uint8_t **mask);

/* Largest value of an integer type; infinity for floats. */
double image_limit(airy_dtype dtype);

#endif
