/* Checked size arithmetic: true on overflow, *out untouched then. */
#ifndef AIRY_BASE_SIZE_H
#define AIRY_BASE_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool airy_mul_size(size_t *out, size_t a, size_t b)
{
    size_t r;
    if (__builtin_mul_overflow(a, b, &r))
        return true;
    *out = r;
    return false;
}

static inline bool airy_add_size(size_t *out, size_t a, size_t b)
{
    size_t r;
    if (__builtin_add_overflow(a, b, &r))
        return true;
    *out = r;
    return false;
}

/* Round up to a multiple of a power of two; the caller has bounded v. */
static inline size_t airy_align_up(size_t v, size_t power)
{
    return (v + power - 1) & ~(power - 1);
}

static inline size_t airy_min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t airy_max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

#endif
