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
    return ldexp(1, (int)(airy_dtype_is_signed(dtype) ? bits - 1 : bits)) - 1;
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

/* Pixels that are looked at and have such a value, gaps->value: of the first of them. */
static size_t count_pixels(airy_stack_gaps *gaps, const airy_image *frame)
{
    const size_t count = frame->shape[0] * frame->shape[1];
    const double least = airy_gap_least(frame->dtype);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const double v = airy_image_value(frame, i);
        if ((v < least && !airy_gap_is(frame->dtype, v, false)) || (gaps->mask && gaps->mask[i]))
            continue;
        gaps->value = found++ ? gaps->value : v;
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
