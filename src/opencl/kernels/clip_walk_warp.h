/* clip_walk where warps exchange in registers: each has its own stage, and no barrier in a step. */
#ifndef AIRY_KERNELS_CLIP_WALK_WARP_H
#define AIRY_KERNELS_CLIP_WALK_WARP_H

#define WARPS      (GROUP / AIRY_WARP)
#define WARP_STAGE (AIRY_WARP * 8u)
#define BATCH      (32u / EACH) /* steps: a bit for each of their elements */

/* What an item has seen. */
struct walked {
    double sum, sum_rest, squares, squares_rest;
    real least, most;
    uint least_step, most_step;
    uint count, below;
    uint waiting; /* elements of the warp's stage */
};

/* What a warp has. */
struct warp_part {
    double sum, squares;
    real least, most;
    uint count, below;
};

AIRY_INLINE real exchange_real(real v, uint m)
{
#if WIDE
    return exchange_double(v, m);
#else
    return as_float(AIRY_SHUFFLE_XOR(as_uint(v), m));
#endif
}

AIRY_INLINE void flush(struct walked *w, __local const real *stage, __global airy_clip_state *state,
                       __global real *buckets, const struct bounds *plan, uint depth)
{
    const real lo = plan->window_lo, scale = (real)BUCKETS / (plan->window_hi - lo);
    AIRY_WARP_SYNC();
#pragma unroll 1
    for (uint i = get_local_id(0) % AIRY_WARP; i < w->waiting; i += AIRY_WARP)
        put_in_bucket(state, buckets, stage[i], lo, scale, depth);
    AIRY_WARP_SYNC();
    w->waiting = 0u;
}

/* The warp's sums, in its first item. */
AIRY_INLINE struct warp_part add_warp(struct walked *w)
{
    struct warp_part p = {
        w->sum + w->sum_rest, w->squares + w->squares_rest, w->least, w->most, w->count, w->below};
#pragma unroll
    for (uint m = AIRY_WARP / 2u; m > 0u; m /= 2u) {
        p.sum += exchange_double(p.sum, m);
        p.squares += exchange_double(p.squares, m);
        p.least = fmin(p.least, exchange_real(p.least, m));
        p.most = fmax(p.most, exchange_real(p.most, m));
        p.count += AIRY_SHUFFLE_XOR(p.count, m);
        p.below += AIRY_SHUFFLE_XOR(p.below, m);
    }
    return p;
}

/* What the items share. */
struct walking {
    real stages[WARPS][WARP_STAGE]; /* elements on their way to the buckets */
    struct warp_part parts[WARPS];
    uint places[2];                          /* the first of the least, and of the most */
    uint ties_lo, ties_hi, masked, infinite; /* rare: counted here */
    struct group_room room;
#if TAILS
    struct sorting sorting;
#endif
};

/* Sums what is core. A bit for each element that is not, or that the window holds. */
AIRY_INLINE uint add_step(struct walked *w, const real *x, uint step, const struct bounds *plan)
{
    const real core_lo = plan->core_lo, core_hi = plan->core_hi, window_lo = plan->window_lo,
               window_hi = plan->window_hi;
    struct core_sums sums = {0.0, 0.0, (real)INFINITY, -(real)INFINITY};
    uint special = 0u;
#pragma unroll
    for (uint k = 0u; k < EACH; k++) {
        const bool core = (x[k] >= core_lo) & (x[k] <= core_hi);
        const real y = add_core(&sums, x[k], core, plan);
        const bool below = y < window_lo;
        w->below += below ? 1u : 0u;
        special |= (below | (y > window_hi)) ? 0u : 1u << k;
    }
    w->count += EACH;
    add_two(&w->sum, &w->sum_rest, sums.sum);
    add_two(&w->squares, &w->squares_rest, sums.squares);
    w->least_step = sums.low < w->least ? step : w->least_step;
    w->least = fmin(w->least, sums.low);
    w->most_step = sums.high > w->most ? step : w->most_step;
    w->most = fmax(w->most, sums.high);
    return special;
}

/* From a step of a group to its next one. */
AIRY_INLINE uint stride_of(const airy_clip_geom *g)
{
    return g->groups * GROUP * EACH;
}

AIRY_INLINE uint first_bit(uint bits)
{
    return 31u - clz(bits & (0u - bits));
}

/* Counts what is special of a batch of steps, and stages what lies inside the window; a bit for each
 * of the tails. One of each item at a time, all items of the warp together. */
AIRY_INLINE uint sort_special(struct walked *w, __local struct walking *l, __global const T *src,
                              __global const uchar *mask, __global airy_clip_state *state,
                              __global real *buckets, const airy_clip_geom *g, uint batch,
                              uint special, const struct bounds *plan)
{
    __local real *stage = l->stages[get_local_id(0) / AIRY_WARP];
    const real window_lo = plan->window_lo, window_hi = plan->window_hi;
    const uint before = (1u << get_local_id(0) % AIRY_WARP) - 1u;
    uint outside = 0u;
#pragma unroll 1
    for (; AIRY_BALLOT(special) != 0u; special &= special - 1u) {
        if (w->waiting > WARP_STAGE - AIRY_WARP)
            flush(w, stage, state, buckets, plan, g->depth);
        const uint k = special != 0u ? first_bit(special) : 0u,
                   step = batch + k / EACH * stride_of(g), place = place_of(k % EACH);
        bool is = special != 0u && place < (uint)g->count - step;
        const uint i = is ? step + place : 0u;
#if HAS_MASK
        if (is && mask[TIGHT ? g->mask.offset + i : box_place(&g->mask, i)] != 0) {
            atomic_inc(&l->masked);
            is = false;
        }
#endif
        const real y = is ? element(src, mask, g, i) : (real)NAN;
        const bool inside = (y > window_lo) & (y < window_hi);
        const uint all = AIRY_BALLOT(inside);
        if (inside)
            stage[w->waiting + popcount(all & before)] = y;
        w->waiting += popcount(all);
        if (isinf(y)) /* as the ends of no window are */
            atomic_inc(&l->infinite);
        else if (y == window_lo)
            atomic_inc(&l->ties_lo);
        else if (y == window_hi)
            atomic_inc(&l->ties_hi);
        const bool core = (y >= plan->core_lo) & (y <= plan->core_hi);
        w->count -= special != 0u && !core ? 1u : 0u;
        outside |= !core && fabs(y) <= REAL_MAX ? special & (0u - special) : 0u;
    }
    return outside;
}

/* The group's part, by item 0; all items call it. */
AIRY_INLINE void write_part(__global airy_clip_state *state, uint group, struct walked *w,
                            const airy_clip_part *own, __local struct walking *l,
                            __global const T *src, __global const uchar *mask,
                            const airy_clip_geom *g)
{
    const uint item = get_local_id(0);
    const struct warp_part part = add_warp(w);
    if (item % AIRY_WARP == 0u)
        l->parts[item / AIRY_WARP] = part;
    barrier(CLK_LOCAL_MEM_FENCE);
    real least = l->parts[0].least, most = l->parts[0].most;
#pragma unroll
    for (uint r = 1u; r < WARPS; r++) {
        least = fmin(least, l->parts[r].least);
        most = fmax(most, l->parts[r].most);
    }
    /* The items know the steps of their extremes; those that have the group's find the places. */
    const bool any = least <= REAL_MAX;
    if (any && w->least == least)
        find_place(&l->places[0], src, mask, g, w->least_step, least);
    if (any && w->most == most)
        find_place(&l->places[1], src, mask, g, w->most_step, most);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item != 0u)
        return;
    struct warp_part p = l->parts[0];
    for (uint r = 1u; r < WARPS; r++) {
        p.sum += l->parts[r].sum;
        p.squares += l->parts[r].squares;
        p.count += l->parts[r].count;
        p.below += l->parts[r].below;
    }
    const airy_clip_part whole = {.sum = p.sum,
                                  .squares = p.squares,
                                  .least = any ? (long)key_of(least + (real)0) : LONG_MAX,
                                  .most = any ? -1l - (long)key_of(most + (real)0) : LONG_MAX,
                                  .least_at = l->places[0],
                                  .most_at = l->places[1],
                                  .count = p.count,
                                  .below = p.below,
                                  .ties_lo = l->ties_lo,
                                  .ties_hi = l->ties_hi,
                                  .masked = l->masked,
                                  .infinite = l->infinite,
                                  .tails = own->tails,
                                  .low = own->low,
                                  .tail_sum = own->tail_sum,
                                  .tail_squares = own->tail_squares};
    put_part(state, group, &whole);
}

/* tails, tail_at: g.room values and places a group; with them what is left of each block. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
clip_walk(__global const T *src, __global const uchar *mask, __global airy_clip_state *state,
          __global real *buckets, __global real *tails, __global uint *tail_at,
          const airy_clip_geom g)
{
    __local struct walking l;
    const uint item = get_local_id(0), group = get_group_id(0), first = group * GROUP * EACH,
               stride = stride_of(&g);
    src += own_image() * g.src_step;
    mask += own_image() * g.mask_step;
    state += own_image();
    buckets += own_image() * (ulong)BUCKETS * g.depth;
#if TAILS
    __global struct tail_block *const blocks =
        (__global struct tail_block *)(tails + first_block(&g)) + group;
    tails += first_tail(&g) + (ulong)group * g.room;
    tail_at += first_place(&g) + (ulong)group * g.room;
    uint listed = 0u;
#endif
    /* What needs no plan is on its way before that comes. */
    real x[EACH];
    load_step(x, src, mask, &g, first);
    const struct bounds plan = bounds_of(state);
    struct walked w = {.least = (real)INFINITY, .most = -(real)INFINITY};
    uint special = 0u, steps = 0u, batch = 0u; /* bits of so many steps; their first one */
    if (item == 0u) {
        l.places[0] = l.places[1] = UINT_MAX;
        l.ties_lo = l.ties_hi = l.masked = l.infinite = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = first, left = (uint)g.count - first; left > 0u; step += stride) {
        if (step != first)
            load_step(x, src, mask, &g, step);
        batch = steps == 0u ? step : batch;
        special |= add_step(&w, x, step, &plan) << (steps * EACH);
        left -= min(left, stride);
        if (++steps < BATCH && left > 0u)
            continue;
        uint outside = sort_special(&w, &l, src, mask, state, buckets, &g, batch, special, &plan);
        special = steps = 0u;
#if TAILS
        uint all, slot = listed + group_scan(popcount(outside), &all, &l.room);
        listed += all;
        for (; outside != 0u; outside &= outside - 1u, slot++) {
            const uint bit = first_bit(outside),
                       i = batch + bit / EACH * stride + place_of(bit % EACH);
            if (slot < g.room) {
                tails[slot] = element(src, mask, &g, i);
                tail_at[slot] = i;
            }
        }
#else
        (void)outside; /* none is */
#endif
    }
    flush(&w, l.stages[item / AIRY_WARP], state, buckets, &plan, g.depth);
    airy_clip_part part;
    part.tails = part.low = 0u;
    part.tail_sum = part.tail_squares = 0.0;
#if TAILS
    sort_tails(&part, tails, tail_at, blocks, listed, &plan, &g, &l.sorting, &l.room);
#endif
    write_part(state, group, &w, &part, &l, src, mask, &g);
}

#endif
