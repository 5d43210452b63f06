#include "airy/gaps.h"

#include <math.h>
#include <stdlib.h>

#include "airy/image.h"
#include "base/dtype.h"
#include "base/size.h"

double airy_dtype_largest(airy_dtype dtype)
{
    if (airy_dtype_is_float(dtype))
        return (double)INFINITY;
    const unsigned bits = 8 * (unsigned)airy_dtype_size(dtype);
    return (double)(UINT64_MAX >> (64 - (airy_dtype_is_signed(dtype) ? bits - 1 : bits)));
}

bool airy_gap_is(airy_dtype dtype, double value, bool plain)
{
    const size_t size = airy_dtype_size(dtype);
    if (airy_dtype_is_float(dtype) || size < (plain ? 4 : 2))
        return false;
    if (airy_dtype_is_signed(dtype))
        return !plain && (value == -1 || value == -2);
    return value >= airy_dtype_largest(dtype) - (size > 2 ? 2 : 1);
}

double airy_gap_least(airy_dtype dtype)
{
    const size_t size = airy_dtype_size(dtype);
    if (airy_dtype_is_float(dtype) || airy_dtype_is_signed(dtype))
        return (double)INFINITY;
    return airy_dtype_largest(dtype) - (size > 2 ? 2 : size == 2 ? 1 : 0);
}

const char *airy_gap_writers(airy_dtype dtype)
{
    return airy_dtype_is_signed(dtype) || airy_dtype_size(dtype) > 2
               ? "which detectors write into gaps and bad pixels"
               : "which cameras write into saturated pixels and detectors into gaps";
}

/* Pixels that are compared at once, in a loop that the compiler makes vectors of. */
enum { BLOCK = 4096 };

/* Whether one of `count` pixels of an unsigned type is one of its `values` largest values. */
#define HAS_LARGEST(name, type, values)                                                            \
    static bool name(const void *data, size_t count)                                               \
    {                                                                                              \
        const type *v = data, least = (type)((type)-1 - (values) + 1);                             \
        type found = 0;                                                                            \
        for (size_t i = 0; i < count; i++)                                                         \
            found |= v[i] >= least;                                                                \
        return found;                                                                              \
    }
/* Whether one of them is -1 or -2, as the signed type has them. */
#define HAS_NEGATIVE(name, type)                                                                   \
    static bool name(const void *data, size_t count)                                               \
    {                                                                                              \
        const type *v = data;                                                                      \
        type found = 0;                                                                            \
        for (size_t i = 0; i < count; i++)                                                         \
            found |= (v[i] == -1) | (v[i] == -2);                                                  \
        return found;                                                                              \
    }
HAS_LARGEST(has_u8, uint8_t, 1)
HAS_LARGEST(has_u16, uint16_t, 2)
HAS_LARGEST(has_u32, uint32_t, 3)
HAS_LARGEST(has_u64, uint64_t, 3)
HAS_NEGATIVE(has_i16, int16_t)
HAS_NEGATIVE(has_i32, int32_t)
HAS_NEGATIVE(has_i64, int64_t)

/* Pixels that are looked at and have such a value, gaps->value: of the first of them. */
static size_t count_pixels(airy_stack_gaps *gaps, const airy_image *frame)
{
    static bool (*const has[AIRY_DTYPE_COUNT])(const void *data, size_t count) = {
        [AIRY_DTYPE_U8] = has_u8,   [AIRY_DTYPE_U16] = has_u16, [AIRY_DTYPE_U32] = has_u32,
        [AIRY_DTYPE_U64] = has_u64, [AIRY_DTYPE_I16] = has_i16, [AIRY_DTYPE_I32] = has_i32,
        [AIRY_DTYPE_I64] = has_i64};
    const size_t count = frame->shape[0] * frame->shape[1], size = airy_dtype_size(frame->dtype);
    const double least = airy_gap_least(frame->dtype);
    size_t found = 0;
    for (size_t first = 0; has[frame->dtype] && first < count; first += BLOCK) {
        const size_t last = count - first < BLOCK ? count : first + BLOCK;
        if (!has[frame->dtype]((const char *)frame->data + first * size, last - first))
            continue;
        for (size_t i = first; i < last; i++) {
            const double v = airy_image_value(frame, i);
            if ((v < least && !airy_gap_is(frame->dtype, v, false)) ||
                (gaps->mask && gaps->mask[i]))
                continue;
            gaps->value = found++ ? gaps->value : v;
        }
    }
    return found;
}

size_t airy_stack_find_gaps(airy_stack_gaps *gaps)
{
    airy_stack_info info;
    size_t found = 0;
    if (!gaps || airy_stack_get_info(gaps->stack, &info) != AIRY_OK ||
        airy_dtype_is_float(info.dtype))
        return 0;
    const size_t size = info.height * info.width * airy_dtype_size(info.dtype);
    airy_image frame = {
        .dtype = info.dtype, .ndim = 2, .shape = {info.height, info.width}, .data = malloc(size)};
    for (size_t i = 0; frame.data && i < gaps->count && found == 0; i++) {
        gaps->number = gaps->first + i * gaps->step;
        if (gaps->number < gaps->last &&
            airy_stack_read(gaps->stack, gaps->number, frame.data, size) == AIRY_OK)
            found = count_pixels(gaps, &frame);
    }
    free(frame.data);
    return found;
}
