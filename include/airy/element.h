/**
 * Element by element: arithmetic, comparison, logic, functions, choice, limits and conversion; and
 * elements moved about, or brought together in boxes.
 *
 * Unless a function states otherwise, the arrays of one call have one shape; each has its own
 * pitch. dst may be one of the operands of arithmetic, but not overlap one in any other way. Calls
 * return before the work is done, but for AIRY_CONVERT_EXACT.
 *
 * What it is computed in:
 *   integers  exactly where the operands are integers, and dst too unless 0 or 1 is written, but
 *             for divide, power, hypot, sqrt, exp and the logarithms; what leaves (-2^64, 2^64)
 *             stays at its limit
 *   f64       else, where an operand or dst (unless 0 or 1 is written) is f64 or has integers of 32
 *             or 64 bits, of which those beyond 2^53 are rounded
 *   f32       else
 * The result goes to dst as by AIRY_CONVERT_SATURATE.
 *
 * Accuracy: +, -, *, / and sqrt are rounded once (f32 on an OpenCL device without correctly rounded
 *           division: 2.5 units in the last place); hypot, exp and logarithms within 4 units in the
 *           last place, power within 16. On the CPU exp, logarithms and power: f32 within 1, f64
 *           within 2.
 * Special:  power of 0, 1, infinities, NaN and numbers below 0: as C11's pow (F.10.4.4).
 * Errors:   AIRY_ERR_PARAM, AIRY_ERR_SHAPE, AIRY_ERR_DTYPE (mask), AIRY_ERR_MEMORY,
 *           AIRY_ERR_UNSUPPORTED (f64 on a device without it).
 * Threads:  one thread per queue at a time.
 */
#ifndef AIRY_ELEMENT_H
#define AIRY_ELEMENT_H

#include "airy/array.h"
#include "airy/border.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum airy_operator {
    AIRY_ADD = 0,
    AIRY_SUBTRACT,
    AIRY_MULTIPLY,
    AIRY_DIVIDE,
    AIRY_MINIMUM, /**< NaN where either is */
    AIRY_MAXIMUM, /**< NaN where either is */
    AIRY_POWER,
    AIRY_HYPOT,
    AIRY_LESS, /**< this and those below write 0 or 1; NaN is only not equal */
    AIRY_LESS_EQUAL,
    AIRY_EQUAL,
    AIRY_NOT_EQUAL,
    AIRY_GREATER_EQUAL,
    AIRY_GREATER,
    AIRY_AND, /**< of "not 0"; NaN is not 0 */
    AIRY_OR,
    AIRY_XOR,
    AIRY_OPERATOR_COUNT
} airy_operator;

typedef enum airy_function {
    AIRY_NEGATE = 0,
    AIRY_ABS,
    AIRY_SQUARE,
    AIRY_SQRT,
    AIRY_EXP,
    AIRY_LOG,
    AIRY_LOG10,
    AIRY_LOG1P,
    AIRY_NOT, /**< this and those below write 0 or 1; of "not 0" */
    AIRY_IS_NAN,
    AIRY_IS_FINITE,
    AIRY_FUNCTION_COUNT
} airy_function;

/** Compute dst = a op b. */
AIRY_API airy_status airy_combine(airy_queue *queue, airy_array *dst, const airy_array *a,
                                  airy_operator op, const airy_array *b);
/**
 * Compute dst = a op b for a number. Beside floats it has their dtype; beside integers it is an
 * integer where it is a whole number from -2^63 to below 2^64, else f64.
 */
AIRY_API airy_status airy_combine_value(airy_queue *queue, airy_array *dst, const airy_array *a,
                                        airy_operator op, double b);
/** Compute dst = function(src). */
AIRY_API airy_status airy_apply(airy_queue *queue, airy_array *dst, airy_function function,
                                const airy_array *src);
/** Compute dst = mask != 0 ? a : b; mask u8. */
AIRY_API airy_status airy_where(airy_queue *queue, airy_array *dst, const airy_array *mask,
                                const airy_array *a, const airy_array *b);
/** Compute dst = src limited to [lo, hi], lo <= hi; NaN stays. */
AIRY_API airy_status airy_clamp(airy_queue *queue, airy_array *dst, const airy_array *src,
                                double lo, double hi);

typedef enum airy_conversion {
    AIRY_CONVERT_SATURATE = 0, /**< integers: halves to even, limits, NaN 0; floats: the nearest */
    AIRY_CONVERT_TRUNCATE,     /**< integers: towards 0, limits, NaN 0; floats: the nearest */
    AIRY_CONVERT_EXACT, /**< waits; AIRY_ERR_DTYPE, with their number, where dst does not hold
                             elements exactly: these are written as by SATURATE */
    AIRY_CONVERSION_COUNT
} airy_conversion;

/**
 * Compute dst = scale src + offset, each step rounded in f64; 1 and 0: every element as it is,
 * rounded at most once.
 * @param scale, offset  finite
 */
AIRY_API airy_status airy_convert(airy_queue *queue, airy_array *dst, const airy_array *src,
                                  airy_conversion conversion, double scale, double offset);

/*
 * Moves: dst has the dtype of src and shares no memory with it. Elements are copied bit for bit.
 */

/** Reverse the axes whose bit is set: bit 0 the slowest. */
AIRY_API airy_status airy_flip(airy_queue *queue, airy_array *dst, const airy_array *src,
                               unsigned axes);
/** Transpose: axis i of dst is axis order[i] of src; NULL: the other way round. */
AIRY_API airy_status airy_transpose(airy_queue *queue, airy_array *dst, const airy_array *src,
                                    const int *order);
/**
 * Pad src with before[i] elements in front of axis i, and behind it what dst has room for.
 * @param border_value  AIRY_BORDER_VALUE: a number that the dtype holds
 */
AIRY_API airy_status airy_pad(airy_queue *queue, airy_array *dst, const airy_array *src,
                              const size_t *before, airy_border border, double border_value);
/** Repeat each element factor[i] times along axis i; dst has factor[i] times src's length. */
AIRY_API airy_status airy_enlarge(airy_queue *queue, airy_array *dst, const airy_array *src,
                                  const size_t *factor);

typedef enum airy_projection {
    AIRY_PROJECT_MEAN = 0,
    AIRY_PROJECT_SUM,
    AIRY_PROJECT_MAX,
    AIRY_PROJECT_MIN,
    AIRY_PROJECT_STD,    /**< population (ddof 0), about the mean that was found before */
    AIRY_PROJECT_MEDIAN, /**< of an even count: the mean of the two in the middle */
    AIRY_PROJECTION_COUNT
} airy_projection;

AIRY_API const char *airy_projection_name(airy_projection projection); /**< "mean" ...; or "?" */
AIRY_API airy_status airy_projection_parse(airy_projection *projection, const char *name);

/**
 * Compute one value for each box of factor[i] elements along axis i; elements that fill no box at
 * an end are left out. An axis is projected by a factor of its whole length. One thread walks a
 * box: for all of a large array see airy_statistics_get.
 *
 * @param dst       any dtype, of src's lengths over the factors, rounded down; written as by
 *                  AIRY_CONVERT_SATURATE
 * @param factor    1 to the length of the axis
 * @param skip_nan  leave NaN out; of a box of nothing else the sum is 0, the rest NaN. Else NaN in
 *                  a box gives NaN.
 * Accuracy: sums in f64, in an order that the shape alone defines: |error| <= count 2^-53 sum |x|.
 *           Elements are read as f64. max, min and the elements of a median are exact.
 * Errors:   AIRY_ERR_UNSUPPORTED on an OpenCL device without f64.
 */
AIRY_API airy_status airy_project(airy_queue *queue, airy_array *dst, const airy_array *src,
                                  const size_t *factor, airy_projection projection, bool skip_nan);

#ifdef __cplusplus
}
#endif
#endif
