#include "airy/array.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/backend.h"

/* Elements and bytes of a shape, checked. */
static airy_status measure(size_t *size, airy_dtype dtype, int ndim, const size_t *shape)
{
    AIRY_FAIL_ON_IF(ndim < 1 || ndim > AIRY_MAX_DIMS, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %d, expected 1 to %d", "ndim", ndim, AIRY_MAX_DIMS);
    AIRY_FAIL_IF(!shape, AIRY_ERR_PARAM, "shape is NULL");
    AIRY_FAIL_ON_IF(airy_dtype_size(dtype) == 0, AIRY_ERR_DTYPE, AIRY_SUBJECT_PARAMETER,
                    "%s = %d is none of airy_dtype", "dtype", (int)dtype);
    size_t n = airy_dtype_size(dtype);
    for (int i = 0; i < ndim; i++) {
        AIRY_FAIL_ON_IF(shape[i] == 0, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                        "%s[%d] = 0, expected at least 1", "shape", i);
        AIRY_FAIL_IF(airy_mul_size(&n, n, shape[i]), AIRY_ERR_MEMORY,
                     "an array of %zu x ... %s does not fit the address space", shape[0],
                     airy_dtype_name(dtype));
    }
    *size = n;
    return AIRY_OK;
}

/* Takes over the reference to the buffer. */
static airy_status wrap(airy_array **array, airy_buffer *buffer, size_t offset, airy_dtype dtype,
                        int ndim, const size_t *shape)
{
    void *block;
    const airy_status status = airy_memory_calloc(&block, 1, sizeof(airy_array), "an array");
    if (status != AIRY_OK) {
        airy_buffer_release(&buffer);
        return status;
    }
    airy_array *a = block;
    a->buffer = buffer;
    a->offset = offset;
    a->dtype = dtype;
    a->ndim = ndim;
    size_t step = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        a->shape[i] = shape[i];
        a->pitch[i] = step;
        step *= shape[i];
    }
    *array = a;
    return AIRY_OK;
}

static airy_buffer *share(airy_buffer *buffer)
{
    atomic_fetch_add(&buffer->references, 1);
    return buffer;
}

airy_status airy_array_create_uninitialized(airy_array **array, airy_device *device,
                                            airy_dtype dtype, int ndim, const size_t *shape)
{
    size_t size = 0;
    airy_buffer *buffer;
    AIRY_FAIL_IF(!array || !device, AIRY_ERR_PARAM, "airy_array_create: argument is NULL");
    AIRY_TRY(measure(&size, dtype, ndim, shape));
    AIRY_TRY(airy_buffer_create(&buffer, device, size, "an array"));
    return wrap(array, buffer, 0, dtype, ndim, shape);
}

static const size_t zero_piece = (size_t)1 << 20; /* bytes that a thread clears at a time */

static void zero_bytes(void *arg, size_t index, unsigned worker)
{
    const airy_buffer *buffer = arg;
    const size_t start = index * zero_piece;
    (void)worker;
    memset((char *)buffer->handle + start, 0, airy_min_size(zero_piece, buffer->size - start));
}

airy_status airy_array_create(airy_array **array, airy_device *device, airy_dtype dtype, int ndim,
                              const size_t *shape)
{
    AIRY_TRY(airy_array_create_uninitialized(array, device, dtype, ndim, shape));
    airy_buffer *buffer = (*array)->buffer;
    if (device->backend->in_place) /* memory of the others is zero as it is allocated */
        airy_pool_run(device->pool, (buffer->size + zero_piece - 1) / zero_piece, zero_bytes,
                      buffer);
    return AIRY_OK;
}

airy_status airy_array_create_from(airy_array **array, airy_queue *queue, airy_dtype dtype,
                                   int ndim, const size_t *shape, const void *data)
{
    airy_array *a = NULL;
    AIRY_FAIL_IF(!array || !queue || !data, AIRY_ERR_PARAM,
                 "airy_array_create_from: argument is NULL");
    AIRY_TRY(airy_array_create_uninitialized(&a, queue->device, dtype, ndim, shape));
    airy_status status = airy_array_push(queue, a, data, airy_array_size(a));
    /* Page-locked data may still be on its way; the contract says copied. */
    if (status == AIRY_OK && airy_host_contains(queue->device, data, airy_array_size(a)))
        status = airy_queue_finish(queue);
    if (status != AIRY_OK)
        airy_array_destroy(&a);
    else
        *array = a;
    return status;
}

airy_status airy_array_create_over(airy_array **array, airy_queue *queue, airy_dtype dtype,
                                   int ndim, const size_t *shape, void *data)
{
    size_t size = 0;
    airy_buffer *buffer;
    AIRY_FAIL_IF(!array || !queue || !data, AIRY_ERR_PARAM,
                 "airy_array_create_over: argument is NULL");
    if (!queue->device->backend->in_place)
        return airy_array_create_from(array, queue, dtype, ndim, shape, data);
    AIRY_TRY(measure(&size, dtype, ndim, shape));
    AIRY_FAIL_IF((uintptr_t)data % airy_dtype_size(dtype) != 0, AIRY_ERR_PARAM,
                 "data is not aligned to the %zu bytes of a %s", airy_dtype_size(dtype),
                 airy_dtype_name(dtype));
    AIRY_TRY(airy_buffer_over(&buffer, queue->device, size, data, "an array"));
    return wrap(array, buffer, 0, dtype, ndim, shape);
}

airy_status airy_array_view(airy_array **view, const airy_array *array, const size_t *start,
                            const size_t *shape)
{
    AIRY_FAIL_IF(!view || !array || !start || !shape, AIRY_ERR_PARAM,
                 "airy_array_view: argument is NULL");
    size_t offset = 0;
    for (int i = 0; i < array->ndim; i++) {
        AIRY_FAIL_IF(shape[i] == 0, AIRY_ERR_PARAM, "view shape[%d] = 0, expected at least 1", i);
        AIRY_FAIL_IF(start[i] > array->shape[i] || shape[i] > array->shape[i] - start[i],
                     AIRY_ERR_SHAPE, "view axis %d: start %zu + shape %zu leaves the array of %zu",
                     i, start[i], shape[i], array->shape[i]);
        offset += start[i] * array->pitch[i];
    }
    AIRY_TRY(wrap(view, share(array->buffer),
                  array->offset + offset * airy_dtype_size(array->dtype), array->dtype, array->ndim,
                  shape));
    memcpy((*view)->pitch, array->pitch, sizeof(array->pitch));
    return AIRY_OK;
}

airy_status airy_array_view_as(airy_array **view, const airy_array *array, size_t offset,
                               airy_dtype dtype, int ndim, const size_t *shape)
{
    size_t size = 0;
    AIRY_FAIL_IF(!view || !array, AIRY_ERR_PARAM, "airy_array_view_as: argument is NULL");
    AIRY_TRY(measure(&size, dtype, ndim, shape));
    const size_t bytes = airy_array_size(array);
    AIRY_FAIL_IF(!airy_array_is_tight(array), AIRY_ERR_SHAPE,
                 "airy_array_view_as: the array has gaps between its rows");
    AIRY_FAIL_IF(offset > bytes || size > bytes - offset, AIRY_ERR_SHAPE,
                 "typed view: offset %zu + %zu bytes leaves the array of %zu bytes", offset, size,
                 bytes);
    AIRY_FAIL_IF((array->offset + offset) % airy_dtype_size(dtype) != 0, AIRY_ERR_SHAPE,
                 "typed view: offset %zu is no multiple of the %zu bytes of %s",
                 array->offset + offset, airy_dtype_size(dtype), airy_dtype_name(dtype));
    return wrap(view, share(array->buffer), array->offset + offset, dtype, ndim, shape);
}

airy_status airy_array_over_host(airy_array **array, airy_host *host)
{
    airy_buffer *buffer;
    AIRY_FAIL_IF(!array || !host, AIRY_ERR_PARAM, "airy_array_over_host: argument is NULL");
    const bool in_place = host->device->backend->in_place;
    AIRY_FAIL_IF(!in_place && !host->shared, AIRY_ERR_UNSUPPORTED,
                 "host memory of %s cannot be an array: only the CPU works in place",
                 host->device->info.spec);
    AIRY_TRY(
        airy_buffer_borrow(&buffer, host->device, host->size, in_place ? host->data : host->impl));
    return wrap(array, buffer, 0, AIRY_DTYPE_U8, 1, &host->size);
}

airy_status airy_array_over_memory(airy_array **array, airy_device *device, const void *memory,
                                   size_t size)
{
    airy_buffer *buffer;
    AIRY_TRY(airy_buffer_borrow(&buffer, device, size, (void *)memory));
    return wrap(array, buffer, 0, AIRY_DTYPE_U8, 1, &size);
}

void airy_array_destroy(airy_array **array)
{
    if (!array || !*array)
        return;
    airy_buffer_release(&(*array)->buffer);
    free(*array);
    *array = NULL;
}

airy_device *airy_array_device(const airy_array *array)
{
    return array ? array->buffer->device : NULL;
}

airy_dtype airy_array_dtype(const airy_array *array)
{
    return array ? array->dtype : AIRY_DTYPE_COUNT;
}

int airy_array_ndim(const airy_array *array)
{
    return array ? array->ndim : 0;
}

const size_t *airy_array_shape(const airy_array *array)
{
    return array ? array->shape : NULL;
}

const size_t *airy_array_pitch(const airy_array *array)
{
    return array ? array->pitch : NULL;
}

size_t airy_array_count(const airy_array *array)
{
    size_t n = array ? 1 : 0;
    for (int i = 0; i < airy_array_ndim(array); i++)
        n *= array->shape[i];
    return n;
}

size_t airy_array_size(const airy_array *array)
{
    return airy_array_count(array) * airy_dtype_size(airy_array_dtype(array));
}

bool airy_array_is_tight(const airy_array *array)
{
    size_t step = 1;
    for (int i = array->ndim - 1; i >= 0; i--) {
        if (array->shape[i] > 1 && array->pitch[i] != step)
            return false;
        step *= array->shape[i];
    }
    return true;
}

bool airy_array_is_like(const airy_array *a, const airy_array *b)
{
    const size_t size = (size_t)a->ndim * sizeof(a->shape[0]);
    return a->buffer == b->buffer && a->dtype == b->dtype && a->ndim == b->ndim &&
           memcmp(a->shape, b->shape, size) == 0 && memcmp(a->pitch, b->pitch, size) == 0;
}

/* Elements from an array to one that is like it and lies behind it in the same memory; else 0. */
static size_t step_to(const airy_array *a, const airy_array *next)
{
    return next && airy_array_is_like(a, next) && next->offset > a->offset
               ? (next->offset - a->offset) / airy_dtype_size(a->dtype)
               : 0;
}

size_t airy_array_count_planes(const airy_array *const *arrays, size_t count, size_t *step)
{
    size_t n = 1;
    *step = count > 1 ? step_to(arrays[0], arrays[1]) : 0;
    while (*step > 0 && n < count && step_to(arrays[n - 1], arrays[n]) == *step)
        n++;
    return n;
}

/* First byte of row number `row`, rows counted over all axes but the last; ascending with row. */
static size_t row_start(const airy_array *a, size_t row)
{
    size_t at = 0;
    for (int i = a->ndim - 2; i >= 0; i--) {
        at += row % a->shape[i] * a->pitch[i];
        row /= a->shape[i];
    }
    return a->offset + at * airy_dtype_size(a->dtype);
}

bool airy_array_overlaps(const airy_array *a, const airy_array *b)
{
    if (a->buffer != b->buffer)
        return false;
    const size_t a_run = a->shape[a->ndim - 1] * airy_dtype_size(a->dtype),
                 a_rows = airy_array_size(a) / a_run;
    const size_t b_run = b->shape[b->ndim - 1] * airy_dtype_size(b->dtype),
                 b_rows = airy_array_size(b) / b_run;
    if (row_start(a, a_rows - 1) + a_run <= b->offset ||
        row_start(b, b_rows - 1) + b_run <= a->offset)
        return false;
    /* Both lists of rows ascend: leave behind whichever row ends first. */
    for (size_t i = 0, j = 0; i < a_rows && j < b_rows;) {
        const size_t a_start = row_start(a, i), b_start = row_start(b, j);
        if (a_start + a_run <= b_start)
            i++;
        else if (b_start + b_run <= a_start)
            j++;
        else
            return true;
    }
    return false;
}

void *airy_array_address(const airy_array *array)
{
    assert(array->buffer->device->backend->in_place);
    return (char *)array->buffer->handle + array->offset;
}

const char *airy_array_describe(const airy_array *array, char text[96])
{
    const char kind = airy_dtype_is_float(array->dtype)    ? 'f'
                      : airy_dtype_is_signed(array->dtype) ? 'i'
                                                           : 'u';
    size_t n = (size_t)snprintf(text, 96, "%c%zu [", kind, 8 * airy_dtype_size(array->dtype));
    for (int i = 0; i < array->ndim; i++) {
        const int wrote = snprintf(text + n, 96 - n, "%s%zu", i ? ", " : "", array->shape[i]);
        n = airy_min_size(n + (size_t)wrote, 95);
    }
    snprintf(text + n, 96 - n, "] on %s", array->buffer->device->info.spec);
    return text;
}

airy_status airy_check_device(const airy_queue *queue, const airy_array *array, const char *name)
{
    AIRY_FAIL_IF(array->buffer->device != queue->device, AIRY_ERR_PARAM,
                 "%s is an array of device %s, the queue is of %s", name,
                 array->buffer->device->info.spec, queue->device->info.spec);
    return AIRY_OK;
}

airy_status airy_array_push(airy_queue *queue, airy_array *array, const void *data, size_t size)
{
    AIRY_FAIL_IF(!queue || !array || !data, AIRY_ERR_PARAM, "airy_array_push: argument is NULL");
    AIRY_FAIL_IF(size != airy_array_size(array), AIRY_ERR_SHAPE,
                 "push: size = %zu bytes, expected %zu", size, airy_array_size(array));
    AIRY_TRY(airy_check_device(queue, array, "array"));
    return queue->device->backend->push(queue, array, data,
                                        airy_host_contains(queue->device, data, size));
}

airy_status airy_array_pull(airy_queue *queue, void *data, size_t size, const airy_array *array)
{
    AIRY_FAIL_IF(!queue || !array || !data, AIRY_ERR_PARAM, "airy_array_pull: argument is NULL");
    AIRY_FAIL_IF(size != airy_array_size(array), AIRY_ERR_SHAPE,
                 "pull: size = %zu bytes, expected %zu", size, airy_array_size(array));
    AIRY_TRY(airy_check_device(queue, array, "array"));
    return queue->device->backend->pull(queue, data, array,
                                        airy_host_contains(queue->device, data, size));
}

airy_status airy_array_copy(airy_queue *queue, airy_array *dst, const airy_array *src)
{
    AIRY_FAIL_IF(!queue || !dst || !src, AIRY_ERR_PARAM, "airy_array_copy: argument is NULL");
    AIRY_TRY(airy_check_device(queue, dst, "dst"));
    AIRY_TRY(airy_check_device(queue, src, "src"));
    char a[96], b[96];
    AIRY_FAIL_IF(dst->dtype != src->dtype, AIRY_ERR_DTYPE, "copy: dst is %s, src is %s",
                 airy_array_describe(dst, a), airy_array_describe(src, b));
    AIRY_FAIL_IF(dst->ndim != src->ndim ||
                     memcmp(dst->shape, src->shape, (size_t)dst->ndim * sizeof(size_t)) != 0,
                 AIRY_ERR_SHAPE, "copy: dst is %s, src is %s", airy_array_describe(dst, a),
                 airy_array_describe(src, b));
    AIRY_FAIL_IF(airy_array_overlaps(dst, src), AIRY_ERR_PARAM,
                 "copy: dst and src, both %s, overlap", airy_array_describe(dst, a));
    return queue->device->backend->copy(queue, dst, src);
}

/* True if an integer dtype holds the value exactly; false for what is not finite. */
static bool fits_integer(airy_dtype dtype, double value)
{
    const int bits = 8 * (int)airy_dtype_size(dtype);
    const bool is_signed = airy_dtype_is_signed(dtype);
    const double above = ldexp(1.0, is_signed ? bits - 1 : bits);
    return value == floor(value) && value < above && value >= (is_signed ? -above : 0.0);
}

/* One element of the dtype; the value fits. */
static void encode(uint8_t pattern[8], airy_dtype dtype, double value)
{
    if (dtype == AIRY_DTYPE_F32) {
        const float f = (float)value;
        memcpy(pattern, &f, sizeof(f));
    } else if (dtype == AIRY_DTYPE_F64) {
        memcpy(pattern, &value, sizeof(value));
    } else {
        const uint64_t u = value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
        for (size_t i = 0; i < airy_dtype_size(dtype); i++)
            pattern[i] = (uint8_t)(u >> 8 * i);
    }
}

airy_status airy_array_pattern(uint8_t pattern[8], const airy_array *array, double value)
{
    const bool is_float = airy_dtype_is_float(array->dtype);
    AIRY_FAIL_ON_IF(!is_float && !fits_integer(array->dtype, value), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %.17g is no %s", "value", value,
                    airy_dtype_name(array->dtype));
    AIRY_FAIL_ON_IF(array->dtype == AIRY_DTYPE_F32 && isfinite(value) && fabs(value) > FLT_MAX,
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s = %.17g is beyond float32", "value",
                    value);
    memset(pattern, 0, 8);
    encode(pattern, array->dtype, value);
    return AIRY_OK;
}

airy_status airy_array_fill(airy_queue *queue, airy_array *array, double value)
{
    uint8_t pattern[8];
    AIRY_FAIL_IF(!queue || !array, AIRY_ERR_PARAM, "airy_array_fill: argument is NULL");
    AIRY_TRY(airy_check_device(queue, array, "array"));
    const airy_status status = airy_array_pattern(pattern, array, value);
    if (status != AIRY_OK)
        return airy_fail_context(status, "fill");
    return queue->device->backend->fill(queue, array, pattern);
}
