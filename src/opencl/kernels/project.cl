/*
 * Projections by boxes.
 *
 * Build options: T: type of the elements; TD, TD_MIN, TD_MAX, TD_FLOAT: of the results; HOW: of
 * airy_projection; SKIP_NAN.
 * Mapping: x, y, and the two slow axes together; one item a box. No local memory, no barriers.
 */
#include "shared/element_geom.h"
#include "shared/move_geom.h"

#ifndef T
#define T        float
#define TD       float
#define TD_MIN   0
#define TD_MAX   0
#define TD_FLOAT 1
#define HOW      AIRY_PROJECT_OP_MEDIAN
#define SKIP_NAN 0
#endif

#ifdef AIRY_FP64

#define AIRY_ELEMENT_CLASS AIRY_ELEMENT_F64
#define AIRY_E(name)       element_##name
#include "shared/element_ops.h"
#include "shared/middle.h"

/* Where the box begins. */
AIRY_INLINE long begin(const airy_project_geom *g, long w, long z, long y, long x)
{
    return g->src_offset + w * g->factor[0] * g->src_step[0] + z * g->factor[1] * g->src_step[1] +
           y * g->factor[2] * g->src_step[2] + x * g->factor[3] * g->src_step[3];
}

#define EACH_OF_BOX                                                                                \
    for (long bw = 0; bw < g->factor[0]; bw++)                                                     \
        for (long bz = 0; bz < g->factor[1]; bz++)                                                 \
            for (long by = 0; by < g->factor[2]; by++)                                             \
                for (long bx = 0; bx < g->factor[3]; bx++)
#define ELEMENT                                                                                    \
    ((double)src[from + bw * g->src_step[0] + bz * g->src_step[1] + by * g->src_step[2] +          \
                 bx * g->src_step[3]])

#if HOW == AIRY_PROJECT_OP_MEDIAN

/* Keys are ordered as the values; -0 is 0. */
AIRY_INLINE ulong key_of(double v)
{
    const ulong bits = as_ulong(v + 0.0);
    return bits >> 63 != 0ul ? ~bits : bits | 1ul << 63;
}

AIRY_INLINE double value_of(ulong key)
{
    return as_double(key >> 63 != 0ul ? key & ~(1ul << 63) : ~key);
}

/* The interval of keys that holds the middle is halved until one is left. */
AIRY_INLINE double project_box(__global const T *src, const airy_project_geom *g, long from)
{
    ulong lo = ~0ul, hi = 0ul, count = 0ul;
    EACH_OF_BOX
    {
        const double x = ELEMENT;
        if (isnan(x)) {
#if SKIP_NAN
            continue;
#else
            return NAN;
#endif
        }
        const ulong key = key_of(x);
        lo = min(lo, key);
        hi = max(hi, key);
        count++;
    }
    if (count == 0ul)
        return NAN;
    const ulong wanted = (count - 1ul) / 2ul;
    ulong upto = 0ul, above = hi;
    while (lo < hi) {
        const ulong middle = lo + (hi - lo) / 2ul;
        ulong below = 0ul;
        EACH_OF_BOX
        {
            const double x = ELEMENT;
            below += !isnan(x) && key_of(x) <= middle ? 1ul : 0ul;
        }
        if (below > wanted)
            hi = middle;
        else
            lo = middle + 1ul;
    }
    EACH_OF_BOX
    {
        const double x = ELEMENT;
        if (isnan(x))
            continue;
        const ulong key = key_of(x);
        upto += key <= lo ? 1ul : 0ul;
        above = key > lo ? min(above, key) : above;
    }
    const ulong last = upto > count / 2ul ? lo : above;
    const double lower = value_of(lo), upper = value_of(last);
    return count % 2ul != 0ul ? lower : airy_middle(lower, upper);
}

#else

AIRY_INLINE double walk_box(__global const T *src, const airy_project_geom *g, long from,
                            double mean, ulong *of)
{
    double value = HOW == AIRY_PROJECT_OP_MAX   ? -INFINITY
                   : HOW == AIRY_PROJECT_OP_MIN ? INFINITY
                                                : 0.0;
    ulong count = 0ul;
    (void)mean;
    EACH_OF_BOX
    {
        const double x = ELEMENT;
#if SKIP_NAN
        if (isnan(x))
            continue;
#endif
#if HOW == AIRY_PROJECT_OP_MAX
        value = x > value || isnan(x) ? x : value;
#elif HOW == AIRY_PROJECT_OP_MIN
        value = x < value || isnan(x) ? x : value;
#elif HOW == AIRY_PROJECT_OP_STD
        value += (x - mean) * (x - mean);
#else
        value += x;
#endif
        count++;
    }
    *of = count;
    return value;
}

AIRY_INLINE double sum_box(__global const T *src, const airy_project_geom *g, long from, ulong *of)
{
    double sum = 0.0;
    ulong count = 0ul;
    EACH_OF_BOX
    {
        const double x = ELEMENT;
        const int in = !SKIP_NAN || !isnan(x);
        sum += in ? x : 0.0;
        count += in ? 1ul : 0ul;
    }
    *of = count;
    return sum;
}

AIRY_INLINE double project_box(__global const T *src, const airy_project_geom *g, long from)
{
    ulong count;
    double mean = 0.0;
#if HOW == AIRY_PROJECT_OP_STD
    mean = sum_box(src, g, from, &count);
    mean /= (double)count;
#endif
    const double value = walk_box(src, g, from, mean, &count);
    if (count == 0ul)
        return HOW == AIRY_PROJECT_OP_SUM ? 0.0 : NAN;
    return HOW == AIRY_PROJECT_OP_MEAN  ? value / (double)count
           : HOW == AIRY_PROJECT_OP_STD ? sqrt(value / (double)count)
                                        : value;
}

#endif

__kernel void project(__global TD *dst, __global const T *src, const airy_project_geom g)
{
    const long x = (long)get_global_id(0), y = (long)get_global_id(1);
    const long z = (long)get_global_id(2) % g.n[1], w = (long)get_global_id(2) / g.n[1];
    if (x >= g.n[3] || y >= g.n[2] || w >= g.n[0])
        return;
    const double v = project_box(src, &g, begin(&g, w, z, y, x));
    const long to = g.dst_offset + w * g.dst_step[0] + z * g.dst_step[1] + y * g.dst_step[2] +
                    x * g.dst_step[3];
#if TD_FLOAT
    dst[to] = AIRY_E_FLOAT(v, TD);
#else
    dst[to] = AIRY_E_INTEGER(v, TD, TD_MIN, TD_MAX, 0);
#endif
}

#endif
