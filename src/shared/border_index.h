/* Where an element outside of a line is taken from. The same on host and device. */
#ifndef AIRY_SHARED_BORDER_INDEX_H
#define AIRY_SHARED_BORDER_INDEX_H

#include "shared/scalar.h"

/* airy_border. */
#define AIRY_BORDER_INDEX_NEAREST 2u
#define AIRY_BORDER_INDEX_REFLECT 3u
#define AIRY_BORDER_INDEX_MIRROR  4u
#define AIRY_BORDER_INDEX_WRAP    5u

/* i modulo n, at least 0. */
static inline airy_i64 airy_modulo(airy_i64 i, airy_i64 n)
{
    const airy_i64 r = i % n;
    return r < 0 ? r + n : r;
}

/* The element of a line of n that stands for element i; -1: the border's value does. */
static inline airy_i64 airy_border_index(airy_i64 i, airy_i64 n, airy_u32 border)
{
    if (i >= 0 && i < n)
        return i;
    if (border == AIRY_BORDER_INDEX_NEAREST)
        return i < 0 ? 0 : n - 1;
    /* The modulo is for lines shorter than what hangs over them: it costs a GPU 100 instructions. */
    if (border == AIRY_BORDER_INDEX_WRAP)
        return i < -n || i >= 2 * n ? airy_modulo(i, n) : i < 0 ? i + n : i - n;
    if (border == AIRY_BORDER_INDEX_REFLECT) {
        if (i >= -n && i < 2 * n)
            return i < 0 ? -1 - i : 2 * n - 1 - i;
        const airy_i64 k = airy_modulo(i, 2 * n);
        return k < n ? k : 2 * n - 1 - k;
    }
    if (border == AIRY_BORDER_INDEX_MIRROR) {
        if (n == 1)
            return 0;
        if (i > -n && i < 2 * n - 1)
            return i < 0 ? -i : 2 * n - 2 - i;
        const airy_i64 k = airy_modulo(i, 2 * n - 2);
        return k < n ? k : 2 * n - 2 - k;
    }
    return -1;
}

/* The same in 32 bits and without a division, for -n < i < 2 n - 1: the line folds once. */
static inline airy_i32 airy_border_fold(airy_i32 i, airy_i32 n, airy_u32 border)
{
    const bool before = i < 0;
    if (!before && i < n)
        return i;
    if (border == AIRY_BORDER_INDEX_NEAREST)
        return before ? 0 : n - 1;
    if (border == AIRY_BORDER_INDEX_WRAP)
        return before ? i + n : i - n;
    if (border == AIRY_BORDER_INDEX_REFLECT)
        return before ? -1 - i : 2 * n - 1 - i;
    if (border == AIRY_BORDER_INDEX_MIRROR)
        return before ? -i : 2 * n - 2 - i;
    return -1;
}

/*
 * From what stands for an element outside of the line to what stands for the next, where the line
 * folds once and the border has no value.
 */
static inline airy_i32 airy_border_step(airy_u32 border)
{
    if (border == AIRY_BORDER_INDEX_REFLECT || border == AIRY_BORDER_INDEX_MIRROR)
        return -1;
    return border == AIRY_BORDER_INDEX_WRAP ? 1 : 0;
}

#endif
