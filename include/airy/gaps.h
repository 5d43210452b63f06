/**
 * Values that detectors write where they have no pixel.
 *
 * Detectors write the largest values of an unsigned type, or -1 and -2 of a signed one, into gaps
 * and bad pixels. A frame whose mask does not cover these pixels gives wrong sums.
 *
 *     airy_stack_gaps gaps = {.stack = stack, .step = 1, .count = 8, .last = info.frames};
 *     if (airy_stack_find_gaps(&gaps) > 0)
 *         ... frame gaps.number has such pixels, the first one is gaps.value
 */
#ifndef AIRY_GAPS_H
#define AIRY_GAPS_H

#include "airy/stack.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Return whether a value of this type is one that detectors write into gaps: the three largest values
 * of an unsigned type of 32 bits or more, the two largest of one of 16 bits, -1 and -2 of a signed
 * type.
 *
 * @param plain  the pixels may be those of anything, not of a detector alone: only values that
 *               nothing else has are counted, those of unsigned types of 32 bits or more
 */
AIRY_API bool airy_gap_is(airy_dtype dtype, double value, bool plain);
/** Return the smallest such value of an unsigned type, of 8 bits as well; infinity for others. */
AIRY_API double airy_gap_least(airy_dtype dtype);
/** Return the largest value of an integer type; infinity for floats. */
AIRY_API double airy_dtype_largest(airy_dtype dtype);
/** Return who writes such values, for a sentence: "which detectors write into gaps and bad pixels". */
AIRY_API const char *airy_gap_writers(airy_dtype dtype);

/** Frames first, first + step, ... of a stack, `count` of them, below `last`. */
typedef struct airy_stack_gaps {
    const airy_stack *stack;
    const uint8_t *mask; /**< [height * width] not 0: the pixel is not looked at; NULL: all are */
    size_t first, step, count, last;
    size_t number; /**< out: the frame that was found */
    double value;  /**< out: of the first such pixel of it */
} airy_stack_gaps;

/**
 * Find the first of these frames with such a value. Frames that cannot be read are passed over.
 * Return the number of pixels that have one; 0: none, or there is no memory to look. Any thread.
 */
AIRY_API size_t airy_stack_find_gaps(airy_stack_gaps *gaps);

#ifdef __cplusplus
}
#endif
#endif
