#include "ref_array.h"

#include <string.h>

/* Index in the whole array of element number e of the box. */
static size_t locate(size_t e, int ndim, const size_t *shape, const size_t *start,
                     const size_t *box)
{
    size_t at = 0, step = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        at += (start[i] + e % box[i]) * step;
        e /= box[i];
        step *= shape[i];
    }
    return at;
}

static size_t count_elements(int ndim, const size_t *box)
{
    size_t n = 1;
    for (int i = 0; i < ndim; i++)
        n *= box[i];
    return n;
}

void ref_box_get(void *packed, const void *array, int ndim, const size_t *shape,
                 const size_t *start, const size_t *box, size_t size)
{
    for (size_t e = 0; e < count_elements(ndim, box); e++)
        memcpy((char *)packed + e * size,
               (const char *)array + locate(e, ndim, shape, start, box) * size, size);
}

void ref_box_set(void *array, const void *packed, int ndim, const size_t *shape,
                 const size_t *start, const size_t *box, size_t size)
{
    for (size_t e = 0; e < count_elements(ndim, box); e++)
        memcpy((char *)array + locate(e, ndim, shape, start, box) * size,
               (const char *)packed + e * size, size);
}
