/*
 * What a clip reads of an array: a sample, and one walk (clip_solve.cl does the rest). The sample,
 * ranked by all groups, says where the median lies and what surely stays. The walk sums that core,
 * puts the elements near the median into buckets and lists those outside of the core, sorted in
 * blocks, so that a pass takes what it removes from their ends.
 *
 * Build options: T: type of the elements; WIDE: 1 where f32 does not hold it; HAS_MASK: 1 with a
 * mask; TIGHT: 1 where array and mask have no gaps; QUADS: 1 where they begin at multiples of four
 * elements, too; TAILS: 1 for a clip, 0: all is core;
 * MANY: clip_real.h.
 * Local memory: clip_ranks 16 KiB; clip_walk 17 KiB at most, 19 KiB where warps are.
 */
#ifdef AIRY_FP64

#include "shared/clip_geom.h"

#define GROUP AIRY_CLIP_ITEMS
#include "opencl/kernels/clip_element.h"

#ifndef QUADS
#define QUADS 0
#endif

#define EACH AIRY_CLIP_EACH

#define FOUR_OF(t)      FOUR_OF_TYPE(t)
#define FOUR_OF_TYPE(t) t##4

/*
 * AIRY_CLIP_RANK_SHARE items an element of the sample: its rank is counted, every group reads the
 * whole sample. Without a clip this makes the plan too.
 */
__kernel __attribute__((reqd_work_group_size(AIRY_CLIP_RANK_ITEMS, 1, 1))) void
clip_ranks(__global const T *src, __global const uchar *mask, __global airy_clip_state *state,
           const airy_clip_geom g)
{
    enum { MOST = WIDE ? AIRY_CLIP_SAMPLE / 2 : AIRY_CLIP_SAMPLE };
    __local real_key4 quads[MOST / 4];
    __local real_key *keys = (__local real_key *)quads;
    __local uint ranks[AIRY_CLIP_RANKED], valid;
    src += own_image() * g.src_step;
    mask += own_image() * g.mask_step;
    state += own_image();
    const uint item = get_local_id(0), own = item / AIRY_CLIP_RANK_SHARE,
               share = item % AIRY_CLIP_RANK_SHARE,
               place = (uint)get_group_id(0) * AIRY_CLIP_RANKED + own;
    clear_buckets(state);
    if (item < AIRY_CLIP_RANKED)
        ranks[item] = 0u;
    if (item == 0u)
        valid = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint found = 0u;
#pragma unroll
    for (uint k = 0u; k < MOST / AIRY_CLIP_RANK_ITEMS; k++) {
        const uint i = k * AIRY_CLIP_RANK_ITEMS + item;
        const real_key key = i < g.samples ? sampled(src, mask, &g, i) : NO_KEY;
        keys[i] = key;
        found += key < NO_KEY ? 1u : 0u;
    }
    atomic_add(&valid, found);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (place < g.samples) {
        /* Of equal ones the first is less. */
        const real_key mine = keys[place];
        uint below = 0u;
#pragma unroll 4
        for (uint i = share; i < MOST / 4u; i += AIRY_CLIP_RANK_SHARE)
            below += count_less(quads[i], i < place / 4u ? mine + 1 : mine);
        for (uint i = place - place % 4u; i < place && share == 0u; i++)
            below += keys[i] == mine ? 1u : 0u;
        atomic_add(&ranks[own], below);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (place >= g.samples || share != 0u)
        return;
    const uint rank = ranks[own], n = valid, margin = margin_of(n);
    const double x = (double)of_key(keys[place]);
    state->sample[rank] = keys[place];
    __global airy_clip_plan *plan = &state->plan;
    if (g.clips != 0u)
        return;
    if (rank == n / 2u)
        plan->pivot = n != 0u ? x : 0.0;
    if (rank == (n / 2u > margin ? n / 2u - margin : 0u))
        plan->window_lo = n != 0u && g.median != 0u ? x : (double)INFINITY;
    if (rank == (n != 0u ? min(n / 2u + margin, n - 1u) : 0u))
        plan->window_hi = n != 0u && g.median != 0u ? x : -(double)INFINITY;
    if (rank == 0u) {
        plan->core_lo = -(double)REAL_MAX;
        plan->core_hi = (double)REAL_MAX;
    }
}

/* The plan as elements are. */
struct bounds {
    double pivot;
    real core_lo, core_hi, window_lo, window_hi;
};

AIRY_INLINE struct bounds bounds_of(__global const airy_clip_state *state)
{
    const airy_clip_plan p = state->plan;
#if TAILS
    const real core_lo = (real)p.core_lo, core_hi = (real)p.core_hi;
#else
    const real core_lo = -REAL_MAX, core_hi = REAL_MAX;
#endif
    return (struct bounds){p.pivot, core_lo, core_hi, (real)p.window_lo, (real)p.window_hi};
}

/* Extremes of what a bucket did not hold. */
AIRY_INLINE void keep_extremes(__global long *least, __global long *most, long key)
{
#ifdef AIRY_INT64_ATOMICS
    atom_min(least, key);
    atom_max(most, key);
#else
    (void)key;
    *least = LONG_MIN; /* as if all were different */
    *most = LONG_MAX;
#endif
}

/* An element of the window, on none of its ends, to its bucket. */
AIRY_INLINE void put_in_bucket(__global airy_clip_state *state, __global real *buckets, real x,
                               real lo, real scale, uint depth)
{
    const real at = (x - lo) * scale;
    const uint b = at < (real)BUCKETS ? (uint)at : BUCKETS - 1u;
    const uint slot = atomic_inc(&state->counts[b]);
    if (slot < depth)
        buckets[(ulong)b * depth + slot] = x;
    else
        keep_extremes(&state->least[b], &state->most[b], (long)key_of(x));
}

/* Two words a sum (Knuth, TAOCP 2, 4.2.2, theorem B). */
AIRY_INLINE void add_two(double *sum, double *rest, double v)
{
    const double s = *sum + v, rounded = s - *sum;
    *rest += (*sum - (s - rounded)) + (v - rounded);
    *sum = s;
}

/* Where element k of an item lies in a step of the group. */
AIRY_INLINE uint place_of(uint k)
{
    return QUADS ? (k / 4u * GROUP + (uint)get_local_id(0)) * 4u + k % 4u
                 : k * GROUP + (uint)get_local_id(0);
}

/* EACH elements of a step of the group, NaN beyond the end; -0 may be among them. */
AIRY_INLINE void load_step(real *x, __global const T *src, __global const uchar *mask,
                           const airy_clip_geom *g, ulong step)
{
    if (step + GROUP * EACH > g->count) {
#pragma unroll
        for (uint k = 0u; k < EACH; k++)
            x[k] = step + place_of(k) < g->count ? element(src, mask, g, (uint)step + place_of(k))
                                                 : (real)NAN;
        return;
    }
#pragma unroll
    for (uint k = 0u; k < EACH; k += QUADS ? 4u : 1u) {
        const uint i = (uint)step + place_of(k);
#if QUADS
        const FOUR_OF(T) quad = *(__global const FOUR_OF(T) *)(src + g->src.offset + i);
        x[k] = (real)quad.x;
        x[k + 1u] = (real)quad.y;
        x[k + 2u] = (real)quad.z;
        x[k + 3u] = (real)quad.w;
#if HAS_MASK
        const uchar4 bad = *(__global const uchar4 *)(mask + g->mask.offset + i);
        x[k] = bad.x != 0 ? (real)NAN : x[k];
        x[k + 1u] = bad.y != 0 ? (real)NAN : x[k + 1u];
        x[k + 2u] = bad.z != 0 ? (real)NAN : x[k + 2u];
        x[k + 3u] = bad.w != 0 ? (real)NAN : x[k + 3u];
#endif
#else
        x[k] = element(src, mask, g, i);
#endif
    }
}

/* What a step's elements of the core come to. */
struct core_sums {
    double sum, squares; /* of differences from the pivot */
    real low, high;
};

/* x, or NaN where it is not in the core, which adds nothing. */
AIRY_INLINE real add_core(struct core_sums *s, real x, bool core, const struct bounds *plan)
{
    const double d = (double)(core ? x : (real)plan->pivot) - plan->pivot;
    const real y = core ? x : (real)NAN;
    s->sum += d;
    s->squares = fma(d, d, s->squares);
    s->low = fmin(s->low, y);
    s->high = fmax(s->high, y);
    return y;
}

/* The first place of a value that an item met in a step, to the least of the group. */
AIRY_INLINE void find_place(__local uint *place, __global const T *src, __global const uchar *mask,
                            const airy_clip_geom *g, ulong step, real value)
{
    real x[EACH];
    uint first = EACH;
    load_step(x, src, mask, g, step);
#pragma unroll
    for (uint k = EACH; k > 0u; k--)
        first = x[k - 1u] == value ? k - 1u : first;
    if (first < EACH)
        atomic_min(place, (uint)step + place_of(first));
}

#if TAILS
/* What the items share to sort tails. */
struct sorting {
    real_key4 keys[AIRY_CLIP_BLOCK / 4u];
};

/* Those of a block before the item's own one; of equal ones the first is less. */
AIRY_INLINE uint rank_in_block(__local const struct sorting *s, real_key mine, uint count)
{
    __local const real_key *keys = (__local const real_key *)s->keys;
    const uint item = get_local_id(0);
    uint below = 0u;
#pragma unroll 4
    for (uint i = 0u; i < (count + 3u) / 4u; i++)
        below += count_less(s->keys[i], i < item / 4u ? mine + 1 : mine);
    for (uint i = item - item % 4u; i < item; i++)
        below += keys[i] == mine ? 1u : 0u;
    return below;
}

/*
 * Sorts the group's tails, block by block, and tells p what they come to. tails, tail_at: the
 * group's, of which so many were found; blocks: its first one. All items call it.
 */
AIRY_INLINE void sort_tails(airy_clip_part *p, __global real *tails, __global uint *tail_at,
                            __global struct tail_block *blocks, uint found,
                            const struct bounds *plan, const airy_clip_geom *g,
                            __local struct sorting *s, __local struct group_room *room)
{
    const uint item = get_local_id(0), listed = found > g->room ? 0u : found;
    double sum = 0.0, squares = 0.0;
    uint low = 0u, own = 0u, first = 0u;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (; first < listed; first += AIRY_CLIP_BLOCK, blocks += g->groups) {
        const uint count = min(listed - first, AIRY_CLIP_BLOCK), at = first + item;
        const bool there = item < count;
        const real x = there ? tails[at] : (real)INFINITY;
        const uint place = there ? tail_at[at] : 0u;
        ((__local real_key *)s->keys)[item] = key_of(x);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (there) {
            const double d = (double)x - plan->pivot;
            const uint rank = rank_in_block(s, key_of(x), count);
            tails[first + rank] = x;
            tail_at[first + rank] = place;
            if (rank == 0u)
                blocks->least = x;
            if (rank == count - 1u)
                blocks->most = x;
            sum += d;
            squares = fma(d, d, squares);
            low += x < plan->core_lo ? 1u : 0u;
            own++;
        }
        if (item == 0u) {
            blocks->begin = 0u;
            blocks->end = count;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint i = first / AIRY_CLIP_BLOCK + item; i < levels_of(g); i += GROUP)
        blocks[(i - first / AIRY_CLIP_BLOCK) * g->groups] =
            (struct tail_block){.least = (real)INFINITY, .most = -(real)INFINITY};
    group_sums(&sum, &squares, &low, &own, room);
    p->tails = found;
    p->low = low;
    p->tail_sum = sum;
    p->tail_squares = squares;
}
#endif

#ifdef AIRY_WARP
#include "opencl/kernels/clip_walk_warp.h"
#else
/* Elements on their way to the buckets. */
struct stage {
    real values[AIRY_CLIP_STAGE];
    uint count;
};

/*
 * An element in the window goes there, one on its ends, or that is not finite, is counted; true: it
 * lies outside of the core.
 */
AIRY_INLINE bool sort_out(airy_clip_part *p, real y, const struct bounds *plan, real scale,
                          __local struct stage *stage, __global airy_clip_state *state,
                          __global real *buckets, uint depth)
{
    const real window_lo = plan->window_lo, window_hi = plan->window_hi;
    if (isnan(y))
        return false;
    if (isinf(y)) {
        p->infinite++;
        return false;
    }
#if TAILS
    if (y < plan->core_lo || y > plan->core_hi)
        return true;
#endif
    if (y == window_lo || y == window_hi) {
        p->ties_lo += y == window_lo ? 1u : 0u;
        p->ties_hi += y == window_lo ? 0u : 1u;
        return false;
    }
    const uint slot = atomic_inc(&stage->count);
    if (slot < AIRY_CLIP_STAGE)
        stage->values[slot] = y;
    else
        put_in_bucket(state, buckets, y, window_lo, scale, depth);
    return false;
}

/* tails, tail_at: g.room values and places a group; with them what is left of each block. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
clip_walk(__global const T *src, __global const uchar *mask, __global airy_clip_state *state,
          __global real *buckets, __global real *tails, __global uint *tail_at,
          const airy_clip_geom g)
{
    __local struct group_room room;
    __local struct stage stage;
    __local uint first_places[2];
    const uint item = get_local_id(0), group = get_group_id(0);
    src += own_image() * g.src_step;
    mask += own_image() * g.mask_step;
    state += own_image();
    buckets += own_image() * (ulong)BUCKETS * g.depth;
    const struct bounds plan = bounds_of(state);
    const real core_lo = plan.core_lo, core_hi = plan.core_hi, window_lo = plan.window_lo,
               window_hi = plan.window_hi;
    const real scale = (real)BUCKETS / (window_hi - window_lo);
#if TAILS
    __local struct sorting sorting;
    __global struct tail_block *blocks = (__global struct tail_block *)(tails + first_block(&g)) +
                                         group;
    uint listed = 0u;
    tails += first_tail(&g) + (ulong)group * g.room;
    tail_at += first_place(&g) + (ulong)group * g.room;
#else
    (void)tails;
    (void)tail_at;
#endif
    const ulong stride = (ulong)g.groups * GROUP * EACH;
    airy_clip_part p = {.least = LONG_MAX, .most = LONG_MAX};
    double sum_rest = 0.0, squares_rest = 0.0;
    real least = (real)INFINITY, most = -(real)INFINITY;
    uint least_step = 0u, most_step = 0u;
    if (item < 2u)
        first_places[item] = UINT_MAX;
    if (item == 0u)
        stage.count = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong batch = (ulong)group * GROUP * EACH; batch < g.count;
         batch += AIRY_CLIP_BATCH * stride) {
        for (ulong step = batch; step < g.count && step < batch + AIRY_CLIP_BATCH * stride;
             step += stride) {
            real x[EACH];
            load_step(x, src, mask, &g, step);
            struct core_sums sums = {0.0, 0.0, (real)INFINITY, -(real)INFINITY};
            uint special = 0u;
#pragma unroll
            for (uint k = 0u; k < EACH; k++) {
                const bool core = x[k] >= core_lo && x[k] <= core_hi;
                const bool less = x[k]<window_lo, more = x[k]> window_hi;
                (void)add_core(&sums, x[k], core, &plan);
                p.count += core ? 1u : 0u;
                p.below += core && less ? 1u : 0u;
                special |= core && (less || more) ? 0u : 1u << k;
            }
            add_two(&p.sum, &sum_rest, sums.sum);
            add_two(&p.squares, &squares_rest, sums.squares);
            least_step = sums.low < least ? (uint)step : least_step;
            least = fmin(least, sums.low);
            most_step = sums.high > most ? (uint)step : most_step;
            most = fmax(most, sums.high);
            uint outside = 0u;
            for (; special != 0u; special &= special - 1u) {
                const uint k = 31u - clz(special & (0u - special)), i = (uint)step + place_of(k);
                if (step + place_of(k) >= g.count)
                    break;
#if HAS_MASK
                if (mask[TIGHT ? g.mask.offset + i : box_place(&g.mask, i)] != 0) {
                    p.masked++;
                    continue;
                }
#endif
                const real y = element(src, mask, &g, i);
                if (sort_out(&p, y, &plan, scale, &stage, state, buckets, g.depth))
                    outside |= 1u << k;
            }
#if TAILS
            uint all, slot = listed + group_scan(popcount(outside), &all, &room);
            listed += all;
            for (; outside != 0u; outside &= outside - 1u, slot++) {
                const uint k = 31u - clz(outside & (0u - outside)), i = (uint)step + place_of(k);
                if (slot < g.room) {
                    tails[slot] = element(src, mask, &g, i);
                    tail_at[slot] = i;
                }
            }
#endif
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = item; i < min(stage.count, AIRY_CLIP_STAGE); i += GROUP)
            put_in_bucket(state, buckets, stage.values[i], window_lo, scale, g.depth);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item == 0u)
            stage.count = 0u;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    p.sum += sum_rest;
    p.squares += squares_rest;
    group_sums(&p.sum, &p.squares, &p.count, &p.below, &room);
    group_counts(&p.ties_lo, &p.ties_hi, &room);
    group_counts(&p.masked, &p.infinite, &room);
    /* The items know the steps of their extremes; those that have the group's find the places. */
    uint unused = 0u;
    p.least = least <= REAL_MAX ? (long)key_of(least + (real)0) : LONG_MAX;
    p.most = most >= -REAL_MAX ? -1l - (long)key_of(most + (real)0) : LONG_MAX;
    const long own_least = p.least, own_most = p.most;
    group_first(&p.least, &unused, &room);
    group_first(&p.most, &unused, &room);
    if (own_least != LONG_MAX && own_least == p.least)
        find_place(&first_places[0], src, mask, &g, least_step, least);
    if (own_most != LONG_MAX && own_most == p.most)
        find_place(&first_places[1], src, mask, &g, most_step, most);
    barrier(CLK_LOCAL_MEM_FENCE);
    p.least_at = first_places[0];
    p.most_at = first_places[1];
#if TAILS
    sort_tails(&p, tails, tail_at, blocks, listed, &plan, &g, &sorting, &room);
#endif
    if (item == 0u)
        put_part(state, group, &p);
}

#endif

#endif
