/** Single images in host memory, from and to files. The format follows the suffix. */
#ifndef AIRY_IMAGE_H
#define AIRY_IMAGE_H

#include "airy/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Plain data; data is malloc'ed and freed by airy_image_free. */
typedef struct airy_image {
    airy_dtype dtype;
    int ndim;
    size_t shape[AIRY_MAX_DIMS];
    void *data; /**< native byte order, C order, tightly packed */
} airy_image;

/**
 * Read .npy (any of the dtypes, either byte order, C or Fortran order), HDF5 (FILE or
 * FILE::DATASET, any number of dimensions up to 4, big-endian too), EDF, or anything
 * airy_stack_create takes. Exact: no conversion of dtype.
 * Errors: AIRY_ERR_IO, AIRY_ERR_FORMAT, AIRY_ERR_UNSUPPORTED (suffix), AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_image_read(airy_image *image, const char *path);
/** Write .npy, .h5 or .edf; the file appears when complete. AIRY_ERR_EXISTS unless force. */
AIRY_API airy_status airy_image_write(const airy_image *image, const char *path, bool force);
AIRY_API void airy_image_free(airy_image *image);
/** Element i as double; NaN where there are no data. */
AIRY_API double airy_image_value(const airy_image *image, size_t index);
/** Write 8-bit RGB rows, top first, as PNG; the file appears when complete. */
AIRY_API airy_status airy_png_write(const char *path, const uint8_t *rgb, size_t height,
                                    size_t width, bool force);

#ifdef __cplusplus
}
#endif
#endif
