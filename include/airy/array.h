/**
 * Device arrays: up to four dimensions, C order, shape given slowest first (z, y, x).
 *
 * An array belongs to one device. A view shares the memory of the array it was cut from and keeps
 * it alive.
 */
#ifndef AIRY_ARRAY_H
#define AIRY_ARRAY_H

#include "airy/device.h"
#include "airy/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { AIRY_MAX_DIMS = 4 };

/** Thread-safety: one thread at a time. */
typedef struct airy_array airy_array;

/**
 * Create an array of zeros.
 *
 * @param ndim   1 to 4
 * @param shape  elements of each axis, slowest first; each at least 1
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_DTYPE, AIRY_ERR_MEMORY (the sentence gives wanted, in use,
 *         limit, largest block). On success the memory is really there, on devices that allocate
 *         lazily too.
 */
AIRY_API airy_status airy_array_create(airy_array **array, airy_device *device, airy_dtype dtype,
                                       int ndim, const size_t *shape);
/**
 * Create an array whose elements may have any values: for results of which every element is
 * written, this saves the time that airy_array_create takes to clear the memory of a CPU device.
 * Parameters and errors are those of airy_array_create.
 */
AIRY_API airy_status airy_array_create_uninitialized(airy_array **array, airy_device *device,
                                                     airy_dtype dtype, int ndim,
                                                     const size_t *shape);
/** Create an array filled from tightly packed host memory; has copied when it returns. */
AIRY_API airy_status airy_array_create_from(airy_array **array, airy_queue *queue, airy_dtype dtype,
                                            int ndim, const size_t *shape, const void *data);
/**
 * Create an array from host memory as airy_array_create_from does; on a CPU device the array uses
 * data itself, and nothing is copied: data outlives it, counts as the array's memory until then,
 * and what is written to one is in the other. Of two arrays over the same memory the library does
 * not know that they overlap.
 *
 * @param data  aligned to its elements, or AIRY_ERR_PARAM on a CPU device
 */
AIRY_API airy_status airy_array_create_over(airy_array **array, airy_queue *queue, airy_dtype dtype,
                                            int ndim, const size_t *shape, void *data);
/**
 * Create a view of a box: start and shape per axis (ndim of the array). The view's rows keep the
 * array's pitch.
 * Errors: AIRY_ERR_SHAPE when the box leaves the array.
 */
AIRY_API airy_status airy_array_view(airy_array **view, const airy_array *array,
                                     const size_t *start, const size_t *shape);
/** Destroy an array or a view; memory goes when the last of them goes. */
AIRY_API void airy_array_destroy(airy_array **array);

/** Of NULL: NULL, 0, AIRY_DTYPE_COUNT. */
AIRY_API airy_device *airy_array_device(const airy_array *array);
AIRY_API airy_dtype airy_array_dtype(const airy_array *array);
AIRY_API int airy_array_ndim(const airy_array *array);
AIRY_API const size_t *airy_array_shape(const airy_array *array); /**< ndim values */
/** Return the step of each axis in elements */
AIRY_API const size_t *airy_array_pitch(const airy_array *array);
AIRY_API size_t airy_array_count(const airy_array *array); /**< elements */
/** Return the bytes of the elements, without gaps */
AIRY_API size_t airy_array_size(const airy_array *array);

/**
 * Copy from the host to the device. Asynchronous when data lies in airy_host memory of the same
 * device; otherwise data has been read when it returns.
 * @param data  tightly packed elements of the array's dtype
 * @param size  bytes at data; must be airy_array_size
 */
AIRY_API airy_status airy_array_push(airy_queue *queue, airy_array *array, const void *data,
                                     size_t size);
/**
 * Copy from the device to the host. Asynchronous when data lies in airy_host memory; otherwise done
 * when it returns.
 */
AIRY_API airy_status airy_array_pull(airy_queue *queue, void *data, size_t size,
                                     const airy_array *array);
/**
 * Copy between arrays of a device: same device, shape and dtype. AIRY_ERR_PARAM where source and
 * destination overlap.
 */
AIRY_API airy_status airy_array_copy(airy_queue *queue, airy_array *dst, const airy_array *src);
/** Set every element to value, converted to the dtype (AIRY_ERR_PARAM where an integer does not
 * hold it exactly, or it is
 *  finite and beyond float32). */
AIRY_API airy_status airy_array_fill(airy_queue *queue, airy_array *array, double value);
/**
 * Format an array as text, as NumPy prints it: a line of shape, dtype and device, then the values,
 * shortened to the first and last three of an axis longer than six when there are more than 1000.
 *
 *     char *text;
 *     if (airy_array_format(queue, &text, array) == AIRY_OK) {
 *         fputs(text, stdout);
 *         free(text);
 *     }
 *
 * @param text  out, several lines, each with a newline at its end; released with free()
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_MEMORY, those of airy_array_pull.
 */
AIRY_API airy_status airy_array_format(airy_queue *queue, char **text, const airy_array *array);

#ifdef __cplusplus
}
#endif
#endif
