/*
 * Arithmetic element by element.
 *
 * Build options: AIRY_ELEMENT_CLASS, what it is computed in; TA, TB, TC: types of the operands; TD,
 * TD_MIN, TD_MAX: of dst, TD_FLOAT: 1 where it is a float; HAS_B, HAS_C: 1 for arrays, 0 for
 * numbers; SLOW: 1 for the operations that call functions, 0 for the others; TRUNCATE; COUNT: 1 to
 * count what dst does not hold.
 * Mapping: one item an element. No local memory, no barriers.
 */
#include "opencl/kernels/array_box.h"
#include "shared/element_geom.h"

#ifndef AIRY_ELEMENT_CLASS
#define AIRY_ELEMENT_CLASS 0
#define TA                 float
#define TB                 float
#define TC                 uchar
#define TD                 float
#define TD_MIN             0
#define TD_MAX             0
#define TD_FLOAT           1
#define HAS_B              1
#define HAS_C              1
#define SLOW               0
#define TRUNCATE           0
#define COUNT              1
#endif

#define AIRY_E(name) element_##name
#include "shared/element_ops.h"

#if AIRY_ELEMENT_CLASS == AIRY_ELEMENT_WIDE
#define LOAD(T, v)       ((T)-1 < (T)0 ? element_signed((long)(v)) : element_unsigned((ulong)(v)))
#define NUMBER(g, which) ((g).wide_##which)
#elif AIRY_ELEMENT_CLASS == AIRY_ELEMENT_I64
#define LOAD(T, v)       ((long)(v))
#define NUMBER(g, which) element_limited((g).wide_##which)
AIRY_INLINE long element_limited(airy_wide w)
{
    const long size = w.size > (ulong)LONG_MAX ? LONG_MAX : (long)w.size;
    return w.negative != 0ul ? -size : size;
}
#elif AIRY_ELEMENT_CLASS == AIRY_ELEMENT_F64
#define LOAD(T, v)       ((double)(v))
#define NUMBER(g, which) as_double((g).bits_##which)
#else
#define LOAD(T, v)       ((float)(v))
#define NUMBER(g, which) ((g).narrow_##which)
#endif

/* airy_operator and airy_function in their order. */
AIRY_INLINE V compute(V a, V b, V c, uint op)
{
#if SLOW
    switch (op) {
    case 3u:
        return a / b;
    case 6u:
        return pow(a, b);
    case 7u:
        return hypot(a, b);
    case AIRY_ELEMENT_FUNCTION + 3u:
        return sqrt(a);
    case AIRY_ELEMENT_FUNCTION + 4u:
        return exp(a);
    case AIRY_ELEMENT_FUNCTION + 5u:
        return log(a);
    case AIRY_ELEMENT_FUNCTION + 6u:
        return log10(a);
    case AIRY_ELEMENT_FUNCTION + 7u:
        return log1p(a);
    default:
        return a;
    }
#else
    switch (op) {
    case 0u:
        return element_add(a, b);
    case 1u:
        return element_add(a, element_negate(b));
    case 2u:
        return element_multiply(a, b);
    case 4u:
        return element_minimum(a, b);
    case 5u:
        return element_maximum(a, b);
    case 8u:
        return element_truth(element_less(a, b));
    case 9u:
        return element_truth(element_less(a, b) || element_equal(a, b));
    case 10u:
        return element_truth(element_equal(a, b));
    case 11u:
        return element_truth(!element_equal(a, b));
    case 12u:
        return element_truth(element_less(b, a) || element_equal(a, b));
    case 13u:
        return element_truth(element_less(b, a));
    case 14u:
        return element_truth(element_not_zero(a) && element_not_zero(b));
    case 15u:
        return element_truth(element_not_zero(a) || element_not_zero(b));
    case 16u:
        return element_truth(element_not_zero(a) != element_not_zero(b));
    case AIRY_ELEMENT_FUNCTION:
        return element_negate(a);
    case AIRY_ELEMENT_FUNCTION + 1u:
        return element_absolute(a);
    case AIRY_ELEMENT_FUNCTION + 2u:
        return element_multiply(a, a);
    case AIRY_ELEMENT_FUNCTION + 8u:
        return element_truth(!element_not_zero(a));
    case AIRY_ELEMENT_FUNCTION + 9u:
        return element_truth(element_is_nan(a));
    case AIRY_ELEMENT_FUNCTION + 10u:
        return element_truth(element_is_finite(a));
    case AIRY_ELEMENT_WHERE:
        return element_not_zero(c) ? a : b;
    case AIRY_ELEMENT_CLAMP:
        return element_clamp(a, b, c);
    case AIRY_ELEMENT_LINEAR:
        return element_add(element_multiply(a, b), c);
    default:
        return a;
    }
#endif
}

#if AIRY_ELEMENT_CLASS != AIRY_ELEMENT_F64 || defined(AIRY_FP64)

/* inexact: how many, and whether any. */
__kernel void element(__global TD *dst, __global const TA *a, __global const TB *b,
                      __global const TC *c, __global uint *inexact, const airy_element_geom g)
{
    const ulong i = get_global_id(0);
    if (i >= g.count)
        return;
    const V v = LOAD(TA, a[box_place(&g.a, i)]);
#if HAS_B
    const V w = LOAD(TB, b[box_place(&g.b, i)]);
#else
    const V w = NUMBER(g, b);
#endif
#if HAS_C
    const V u = LOAD(TC, c[box_place(&g.c, i)]);
#else
    const V u = NUMBER(g, c);
#endif
    const V r = compute(v, w, u, g.op);
#if TD_FLOAT
    dst[box_place(&g.dst, i)] = AIRY_E_FLOAT(r, TD);
#else
    dst[box_place(&g.dst, i)] = AIRY_E_INTEGER(r, TD, TD_MIN, TD_MAX, TRUNCATE);
#endif
#if COUNT
#if TD_FLOAT
    const int held = AIRY_E_FLOAT_IS_HELD(r, TD);
#else
    const int held = AIRY_E_IS_HELD(r, TD, TD_MIN, TD_MAX);
#endif
    if (!held) {
        atomic_inc(&inexact[0]);
        inexact[1] = 1u;
    }
#endif
}

#endif
