/*
 * Statistics of an array: walks that count, sum and list.
 *
 * Build options: T: type of the elements; HAS_MASK: 1 with a mask.
 * Mapping (all kernels but sample_runs): work-groups of AIRY_REDUCE_GROUP_ITEMS items;
 * a group takes AIRY_REDUCE_GROUP_ITEMS x AIRY_REDUCE_EACH elements at a time, then those that many
 * groups further on. The number of groups is the host's, the same for an array every time.
 * Local memory: 2 KiB for sums; reduce_keys: 16 KiB.
 */
#include "opencl/kernels/array_box.h"
#include "shared/reduce_geom.h"

#ifndef T
#define T float
#endif
#ifndef HAS_MASK
#define HAS_MASK 0
#endif

#ifdef AIRY_FP64

#define ITEMS AIRY_REDUCE_GROUP_ITEMS
#define EACH  AIRY_REDUCE_EACH

/* Element i as f64, -0 as 0; NaN where it is masked or there is none. */
AIRY_INLINE double element(__global const T *src, __global const uchar *mask,
                           const airy_reduce_geom *g, ulong i)
{
    (void)mask;
    if (i >= g->count)
        return NAN;
#if HAS_MASK
    if (mask[box_place(&g->mask, i)] != 0)
        return NAN;
#endif
    return (double)src[box_place(&g->src, i)] + 0.0;
}

/* What the order compares, NaN for what it does not admit. */
AIRY_INLINE double compared(double x, const airy_reduce_geom *g)
{
    return x >= g->lo && x <= g->hi ? (g->deviation != 0u ? fabs(x - g->center) : x) : NAN;
}

/* Sums over a group, in a fixed order; the result in item 0. All items call it. */
AIRY_INLINE double group_sum(double v, __local double *of)
{
    const uint i = get_local_id(0);
    of[i] = v;
    for (uint step = ITEMS / 2u; step > 0u; step /= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < step)
            of[i] += of[i + step];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const double sum = of[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}

AIRY_INLINE double group_min(double v, __local double *of)
{
    const uint i = get_local_id(0);
    of[i] = v;
    for (uint step = ITEMS / 2u; step > 0u; step /= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < step)
            of[i] = fmin(of[i], of[i + step]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const double least = of[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return least;
}

AIRY_INLINE ulong group_count(ulong v, __local double *room)
{
    __local ulong *of = (__local ulong *)room;
    const uint i = get_local_id(0);
    of[i] = v;
    for (uint step = ITEMS / 2u; step > 0u; step /= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < step)
            of[i] += of[i + step];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong sum = of[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}

/*
 * An item adds `mine` elements to a list that all groups share; the place of the first. Elements
 * past the limit are not to be written. A warp asks once for all its items, which call together.
 */
AIRY_INLINE uint list_place(uint mine, __global uint *listed)
{
#ifdef AIRY_WARP
    const uint lane = get_local_id(0) % AIRY_WARP;
    uint upto = mine;
    for (uint step = 1u; step < AIRY_WARP; step *= 2u) {
        const uint before = AIRY_SHUFFLE_UP(upto, step);
        upto += lane >= step ? before : 0u;
    }
    const uint all = AIRY_SHUFFLE(upto, AIRY_WARP - 1u);
    if (all == 0u)
        return 0u;
    uint first = 0u;
    if (lane == 0u)
        first = atomic_add(listed, all);
    return AIRY_SHUFFLE(first, 0u) + upto - mine;
#else
    return mine != 0u ? atomic_add(listed, mine) : 0u;
#endif
}

/* Elements of a group of items at once, and how far to the group's next. */
#define CHUNK ((ulong)ITEMS * EACH)

/* listed: of window and tails; an array has fewer than 2^32 elements, so no count wraps. */
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
reduce_walk(__global const T *src, __global const uchar *mask, __global airy_reduce_part *parts,
            __global double *window, __global double *tails, __global uint *listed,
            const airy_reduce_geom g)
{
    __local double room[ITEMS];
    airy_reduce_part p = {0ul, 0ul, 0ul, 0ul, 0ul, 0.0, 0.0, INFINITY, -INFINITY};
    const bool tailed = g.lo < g.core_lo || g.hi > g.core_hi;
    const bool listing = g.window_lo < g.window_hi;
    for (ulong first = get_group_id(0) * CHUNK; first < g.count;
         first += get_num_groups(0) * CHUNK) {
        double x[EACH];
        uint in_window = 0u, in_tails = 0u;
#pragma unroll
        for (uint k = 0u; k < EACH; k++) {
            const ulong i = first + k * ITEMS + get_local_id(0);
            x[k] = element(src, mask, &g, i);
#if HAS_MASK
            p.masked += i < g.count && mask[box_place(&g.mask, i)] != 0 ? 1ul : 0ul;
#endif
            const bool core = x[k] >= g.core_lo && x[k] <= g.core_hi;
            const double d = core ? x[k] - g.pivot : 0.0;
            p.sum += d;
            p.squares += d * d;
            p.count += core ? 1ul : 0ul;
            p.min = core ? fmin(p.min, x[k]) : p.min;
            p.max = core ? fmax(p.max, x[k]) : p.max;
            p.below += core && x[k] < g.window_lo ? 1ul : 0ul;
            in_window += x[k] >= g.window_lo && x[k] <= g.window_hi ? 1u : 0u;
            in_tails += !core && x[k] >= g.lo && x[k] <= g.hi ? 1u : 0u;
        }
        p.window += in_window;
        p.tails += in_tails;
        if (listing) {
            uint at = list_place(in_window, &listed[0]);
            for (uint k = 0u; k < EACH && in_window != 0u; k++)
                if (x[k] >= g.window_lo && x[k] <= g.window_hi && at++ < g.limit)
                    window[at - 1u] = x[k];
        }
        if (tailed) {
            uint at = list_place(in_tails, &listed[1]);
            for (uint k = 0u; k < EACH && in_tails != 0u; k++)
                if (!(x[k] >= g.core_lo && x[k] <= g.core_hi) && x[k] >= g.lo && x[k] <= g.hi &&
                    at++ < g.limit)
                    tails[at - 1u] = x[k];
        }
    }
    p.masked = group_count(p.masked, room);
    p.count = group_count(p.count, room);
    p.below = group_count(p.below, room);
    p.window = group_count(p.window, room);
    p.tails = group_count(p.tails, room);
    p.sum = group_sum(p.sum, room);
    p.squares = group_sum(p.squares, room);
    p.min = group_min(p.min, room);
    p.max = -group_min(-p.max, room);
    if (get_local_id(0) == 0u)
        parts[get_group_id(0)] = p;
}

/* One item an element of the sample. */
__kernel void sample_runs(__global const T *src, __global const uchar *mask,
                          __global const ulong *first, __global double *runs, uint run, uint total,
                          const airy_reduce_geom g)
{
    const uint i = get_global_id(0);
    if (i < total)
        runs[i] = element(src, mask, &g, first[i / run] + i % run);
}

/* below: in `below`, inside: in `count` of the part. */
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
reduce_list(__global const T *src, __global const uchar *mask, __global airy_reduce_part *parts,
            __global double *list, __global uint *listed, const airy_reduce_geom g)
{
    __local double room[ITEMS];
    ulong below = 0ul, inside = 0ul;
    for (ulong first = get_group_id(0) * CHUNK; first < g.count;
         first += get_num_groups(0) * CHUNK) {
        double x[EACH];
        uint found = 0u;
#pragma unroll
        for (uint k = 0u; k < EACH; k++) {
            x[k] = compared(element(src, mask, &g, first + k * ITEMS + get_local_id(0)), &g);
            below += x[k] < g.window_lo ? 1ul : 0ul;
            found += x[k] >= g.window_lo && x[k] <= g.window_hi ? 1u : 0u;
        }
        inside += found;
        if (g.lists != 0u) {
            uint at = list_place(found, listed);
            for (uint k = 0u; k < EACH && found != 0u; k++)
                if (x[k] >= g.window_lo && x[k] <= g.window_hi && at++ < g.limit)
                    list[at - 1u] = x[k];
        }
    }
    below = group_count(below, room);
    inside = group_count(inside, room);
    if (get_local_id(0) == 0u) {
        parts[get_group_id(0)].below = below;
        parts[get_group_id(0)].count = inside;
    }
}

/* 64 bits in two words. */
AIRY_INLINE void add_wide(__global uint *low, __global uint *high, uint v)
{
    const uint old = atomic_add(low, v);
    if (old + v < old)
        atomic_inc(high);
}

#define KEY_BINS 4096u

AIRY_INLINE ulong key_of(double x)
{
    const ulong b = as_ulong(x);
    return b >> 63 != 0ul ? ~b : b | 1ul << 63;
}

/* counts: KEY_BINS low words, then as many high ones. A group sees fewer than 2^32 elements. */
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
reduce_keys(__global const T *src, __global const uchar *mask, __global uint *counts,
            const airy_reduce_geom g)
{
    __local uint bins[KEY_BINS];
    for (uint i = get_local_id(0); i < KEY_BINS; i += ITEMS)
        bins[i] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong first = get_group_id(0) * CHUNK; first < g.count; first += get_num_groups(0) * CHUNK)
        for (uint k = 0u; k < EACH; k++) {
            const double x =
                compared(element(src, mask, &g, first + k * ITEMS + get_local_id(0)), &g);
            const ulong key = key_of(x) - g.first;
            if (!isnan(x) && key <= g.span)
                atomic_inc(&bins[(uint)(key >> g.shift)]);
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_id(0); i < KEY_BINS; i += ITEMS)
        if (bins[i] != 0u)
            add_wide(counts + i, counts + KEY_BINS + i, bins[i]);
}

/* places: of window_lo, then of window_hi, one each a group; ULONG_MAX where a group has none. */
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
reduce_locate(__global const T *src, __global const uchar *mask, __global ulong *places,
              const airy_reduce_geom g)
{
    __local ulong least[2][ITEMS];
    const uint item = get_local_id(0);
    ulong at[2] = {ULONG_MAX, ULONG_MAX};
    for (ulong first = get_group_id(0) * CHUNK; first < g.count; first += get_num_groups(0) * CHUNK)
        for (uint k = 0u; k < EACH; k++) {
            const ulong i = first + k * ITEMS + item;
            const double x = element(src, mask, &g, i);
            at[0] = x == g.window_lo ? min(at[0], i) : at[0];
            at[1] = x == g.window_hi ? min(at[1], i) : at[1];
        }
    least[0][item] = at[0];
    least[1][item] = at[1];
    for (uint step = ITEMS / 2u; step > 0u; step /= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < step) {
            least[0][item] = min(least[0][item], least[0][item + step]);
            least[1][item] = min(least[1][item], least[1][item + step]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < 2u)
        places[get_group_id(0) * 2u + item] = least[item][0];
}

/*
 * Elements that are no numbers: in the part masked; NaN: count; infinite: below; counted as below
 * and above lo and hi: window and tails. counts: NULL, or g.bins low words, then as many high ones.
 */
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
reduce_bins(__global const T *src, __global const uchar *mask, __global airy_reduce_part *parts,
            __global uint *counts, const airy_reduce_geom g)
{
    __local double room[ITEMS];
    ulong masked = 0ul, nan = 0ul, infinite = 0ul, below = 0ul, above = 0ul;
    for (ulong first = get_group_id(0) * CHUNK; first < g.count; first += get_num_groups(0) * CHUNK)
        for (uint k = 0u; k < EACH; k++) {
            const ulong i = first + k * ITEMS + get_local_id(0);
            if (i >= g.count)
                continue;
#if HAS_MASK
            if (mask[box_place(&g.mask, i)] != 0) {
                masked++;
                continue;
            }
#endif
            const double x = element(src, mask, &g, i);
            nan += isnan(x) ? 1ul : 0ul;
            infinite += isinf(x) ? 1ul : 0ul;
            below += x < g.lo ? 1ul : 0ul;
            above += x > g.hi ? 1ul : 0ul;
            if (g.bins != 0u && x >= g.lo && x <= g.hi) {
                const uint bin = airy_reduce_bin(x, g.lo, g.hi, g.bins);
                add_wide(counts + bin, counts + g.bins + bin, 1u);
            }
        }
    masked = group_count(masked, room);
    nan = group_count(nan, room);
    infinite = group_count(infinite, room);
    below = group_count(below, room);
    above = group_count(above, room);
    if (get_local_id(0) == 0u) {
        const airy_reduce_part p = {masked, nan, infinite, below, above, 0.0, 0.0, 0.0, 0.0};
        parts[get_group_id(0)] = p;
    }
}

#endif
