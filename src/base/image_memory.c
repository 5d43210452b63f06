#include "base/image_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"
#include "base/dtype.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"

airy_status airy_image_bytes(size_t *bytes, const airy_image *image)
{
    size_t total = airy_dtype_size(image->dtype);
    AIRY_FAIL_IF(total == 0, AIRY_ERR_DTYPE, "image: dtype = %d is not known", (int)image->dtype);
    AIRY_FAIL_IF(image->ndim < 1 || image->ndim > AIRY_MAX_DIMS, AIRY_ERR_SHAPE,
                 "image of %d dimensions, expected 1 to %d", image->ndim, AIRY_MAX_DIMS);
    for (int axis = 0; axis < image->ndim; axis++)
        AIRY_FAIL_IF(image->shape[axis] == 0 || airy_mul_size(&total, total, image->shape[axis]),
                     AIRY_ERR_SHAPE,
                     "image: shape[%d] = %zu, expected at least 1 and a product below 2^64 bytes",
                     axis, image->shape[axis]);
    *bytes = total;
    return AIRY_OK;
}

airy_status airy_image_alloc(void **data, size_t bytes)
{
    /*
     * An allocation that is granted now and cannot be kept later ends the process; below a
     * megabyte asking costs more than it saves.
     */
    const uint64_t available = bytes < 1 << 20 ? UINT64_MAX : airy_memory_available();
    AIRY_FAIL_IF(bytes > available, AIRY_ERR_MEMORY,
                 "an image of %zu bytes, more than the %llu bytes of memory that are left", bytes,
                 (unsigned long long)available);
    return airy_memory_alloc(data, bytes);
}

void airy_image_free(airy_image *image)
{
    if (!image)
        return;
    free(image->data);
    free(image->header);
    memset(image, 0, sizeof(*image));
}

double airy_image_value(const airy_image *image, size_t index)
{
    if (!image || !image->data)
        return NAN;
    return airy_dtype_value(image->data, image->dtype, index);
}
