/*
 * What a clip makes of a sample and of a walk (clip.cl): one group does all passes on an image's
 * lists and buckets. Where the sample was wrong, `status` says so.
 *
 * Build options: WIDE: 1 where elements are compared as f64; TAILS: 1 for a clip, 0: all is core;
 * MANY: clip_real.h.
 * Local memory: 10 KiB at most; 21 KiB without warps.
 */
#ifndef WIDE
#define WIDE 0
#endif
#ifndef TAILS
#define TAILS 1
#endif

#ifdef AIRY_FP64

#include "shared/clip_geom.h"
#include "shared/middle.h"

#define GROUP AIRY_CLIP_SOLVERS
#include "opencl/kernels/clip_real.h"

#define OWN  (BUCKETS / GROUP)
#define HALF (GROUP / 2u)

/* Of the elements in [lo, hi] of the sample; their sums about a pivot. */
struct looked {
    uint count, below;
    double sum, squares;
};

AIRY_INLINE double sample_at(__global const airy_clip_state *state, uint rank)
{
    return (double)of_key((real_key)state->sample[rank]);
}

/*
 * The bounds that a clip of the sample comes to, and from them what a walk is to sum and to list.
 * One group an image.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
clip_plan(__global airy_clip_state *state, const airy_clip_geom g)
{
    enum { SHARE = AIRY_CLIP_SAMPLE / GROUP };
    /* Where the final bounds are about to lie, less a margin for what a sample does not know. */
    const double margin = 0.1;
    __local struct group_room room;
    const uint item = get_local_id(0);
    state += own_image();
    real_key keys[SHARE];
    uint n = 0u, unused = 0u;
    for (uint k = 0u; k < SHARE; k++) {
        const uint i = k * GROUP + item;
        keys[k] = i < g.samples ? (real_key)state->sample[i] : NO_KEY;
        n += keys[k] < NO_KEY ? 1u : 0u;
    }
    group_counts(&n, &unused, &room);
    const double pivot = n != 0u ? sample_at(state, n / 2u) : 0.0;
    double lo = -DBL_MAX, hi = DBL_MAX, center = pivot;
    uint left = 0u, middle = n / 2u;
    for (ulong pass = 0; n != 0u && pass < 64u; pass++) {
        struct looked s = {0u, 0u, 0.0, 0.0};
        for (uint k = 0u; k < SHARE; k++) {
            const double x = keys[k] < NO_KEY ? (double)of_key(keys[k]) : NAN;
            const bool in = x >= lo && x <= hi;
            const double d = in ? x - pivot : 0.0;
            s.sum += d;
            s.squares += d * d;
            s.count += in ? 1u : 0u;
            s.below += x < lo ? 1u : 0u;
        }
        group_sums(&s.sum, &s.squares, &s.count, &s.below, &room);
        if (s.count == 0u)
            break;
        middle = s.below + s.count / 2u;
        const double mean = s.sum / s.count,
                     spread = sqrt(fmax(s.squares / s.count - mean * mean, 0.0));
        center = g.mean != 0u ? pivot + mean : sample_at(state, middle);
        if (s.count == left || (g.passes != 0ul && pass >= g.passes))
            break;
        left = s.count;
        lo = isinf(g.kappa_low) ? lo : fmax(lo, center - g.kappa_low * spread);
        hi = isinf(g.kappa_high) ? hi : fmin(hi, center + g.kappa_high * spread);
    }
    if (item != 0u)
        return;
    airy_clip_plan plan = {pivot, -(double)REAL_MAX, (double)REAL_MAX, (double)INFINITY,
                           -(double)INFINITY};
    if (n != 0u) {
        /* From the median of all to that of what is left. */
        const uint beside = margin_of(n), first = min(middle, n / 2u), last = max(middle, n / 2u),
                   most = n - 1u;
        plan.pivot = sample_at(state, min(middle, most));
        plan.window_lo = sample_at(state, first > beside ? first - beside : 0u);
        plan.window_hi = sample_at(state, min(last + beside, most));
        /* The true center moves the bounds with it. */
        const double before = sample_at(state, middle > beside ? middle - beside : 0u),
                     behind = sample_at(state, min(middle + beside, most));
        if (lo > -DBL_MAX)
            plan.core_lo = fmin(fmax(behind - center, 0.0) + lo + margin * (center - lo), center);
        if (hi < DBL_MAX)
            plan.core_hi = fmax(hi - margin * (hi - center) - fmax(center - before, 0.0), center);
        plan.core_lo = (double)real_not_less(plan.core_lo);
        plan.core_hi = (double)real_not_more(plan.core_hi);
        plan.window_lo = fmax(plan.window_lo, plan.core_lo);
        plan.window_hi = fmin(plan.window_hi, plan.core_hi);
    }
    state->plan = plan;
}

/* Sums over tails. */
struct tail_sums {
    double sum, squares;
    uint count, below; /* below the core */
};

/* A clip under way, the same in all items: each computes it, which takes no barrier. */
struct passing {
    struct tail_sums kept;
    double added;  /* squares when kept was last added up, not subtracted from */
    double lo, hi; /* closed bounds of what is left */
    real rlo, rhi; /* the same as elements are */
    double low, high, median, mean, spread; /* mean: from the pivot */
    ulong passes, before, count, finite;    /* elements: before, now, at first */
    bool removes;                           /* the next look at tails subtracts what goes */
    bool empty;                             /* nothing is left */
    bool again, done, wanted;
    bool known; /* the median of what is left */
    uint status;
};

/* What the walk found and the sample told, the same in all items. */
struct walk {
    airy_clip_plan plan;
    airy_clip_part p;
    uint all;    /* in buckets */
    uint levels; /* of blocks of tails */
};

/* The two in the middle, the same in all items: their ranks in the buckets, or an end of the window. */
struct middle {
    uint rank[2];
    real end[2];
    bool sought[2], missed;
};

#ifdef AIRY_WARP
/* What the parts of a warp's items come to: sum and squares, count and those below, least and most. */
struct part_rows {
    double sums[2][GROUP_ROWS];
    long firsts[2][GROUP_ROWS];
    uint counts[2][GROUP_ROWS], places[2][GROUP_ROWS];
#if TAILS
    double tail_sums[2][GROUP_ROWS];
    uint tails[2][GROUP_ROWS];
#endif
};
#endif

/* What the solving group shares. */
struct solving {
    struct group_room room;
#ifdef AIRY_WARP
    struct part_rows rows;
#endif
    real4 near[2][AIRY_CLIP_SORTED / 4u]; /* their elements, if few, and NaN behind the last */
    uint bucket[2], before[2], size[2];   /* those of the two elements in the middle */
    real middle[2];
    uint crowded;
    uint places[2]; /* of the least and of the most of the tails */
    uint rare[5]; /* ties_lo, ties_hi, masked, infinite, full: mostly 0, so not summed over warps */
    uint most;    /* tails of a group, if more than a block */
};

/* An item's own buckets: elements in those before each, and in all of the array's. */
struct buckets {
    uint from[OWN + 1u];
    uint all;
};

AIRY_INLINE void add_part(airy_clip_part *p, const airy_clip_part *q)
{
    p->sum += q->sum;
    p->squares += q->squares;
    p->least_at = q->least < p->least || (q->least == p->least && q->least_at < p->least_at)
                      ? q->least_at
                      : p->least_at;
    p->least = min(p->least, q->least);
    p->most_at = q->most < p->most || (q->most == p->most && q->most_at < p->most_at) ? q->most_at
                                                                                      : p->most_at;
    p->most = min(p->most, q->most);
    p->count += q->count;
    p->below += q->below;
    p->ties_lo += q->ties_lo;
    p->ties_hi += q->ties_hi;
    p->masked += q->masked;
    p->infinite += q->infinite;
#if TAILS
    p->tails += q->tails;
    p->low += q->low;
    p->tail_sum += q->tail_sum;
    p->tail_squares += q->tail_squares;
#endif
}

/* What is mostly 0; full: number of groups whose list is too long; most: tails of one. */
AIRY_INLINE void add_rare(__local struct solving *w, const airy_clip_part *p, uint full, uint most)
{
    const uint rare[5] = {p->ties_lo, p->ties_hi, p->masked, p->infinite, full};
#pragma unroll
    for (uint k = 0u; k < 5u; k++)
        if (rare[k] != 0u)
            atomic_add(&w->rare[k], rare[k]);
    if (most > AIRY_CLIP_BLOCK)
        atomic_max(&w->most, most);
}

#ifdef AIRY_WARP
/* All rows of parts, in the first ones' place. The first warp calls it. */
AIRY_INLINE void add_rows(__local struct part_rows *rows)
{
    const uint side = get_local_id(0) / GROUP_ROWS, row = get_local_id(0) % GROUP_ROWS;
    double sum = rows->sums[side][row];
    uint count = rows->counts[side][row], place = rows->places[side][row];
    long first = rows->firsts[side][row];
#if TAILS
    double tail_sum = rows->tail_sums[side][row];
    uint tails = rows->tails[side][row];
#endif
#pragma unroll
    for (uint m = GROUP_ROWS / 2u; m > 0u; m /= 2u) {
        sum += exchange_double(sum, m);
        count += AIRY_SHUFFLE_XOR(count, m);
        take_first(&first, &place, first, place, m);
#if TAILS
        tail_sum += exchange_double(tail_sum, m);
        tails += AIRY_SHUFFLE_XOR(tails, m);
#endif
    }
    if (row != 0u)
        return;
    rows->sums[side][0] = sum;
    rows->counts[side][0] = count;
    rows->firsts[side][0] = first;
    rows->places[side][0] = place;
#if TAILS
    rows->tail_sums[side][0] = tail_sum;
    rows->tails[side][0] = tails;
#endif
}

/* The groups' parts, one an item. */
AIRY_INLINE void sum_parts(airy_clip_part *all, __global const airy_clip_state *state,
                           const airy_clip_geom *g, __local struct solving *w)
{
    __local struct part_rows *rows = &w->rows;
    const uint item = get_local_id(0), row = item / AIRY_WARP, side = item % AIRY_WARP / GROUP_ROWS;
    airy_clip_part p = {.least = LONG_MAX, .most = LONG_MAX};
    if (item < g->groups) {
        const airy_clip_part q = part_at(state, item);
        add_part(&p, &q);
    }
    add_rare(w, &p, p.tails > g->room ? 1u : 0u, p.tails);
    const double sum = warp_sums(p.sum, p.squares);
    const uint count = warp_counts(p.count, p.below);
    warp_firsts(&p.least, &p.least_at, p.most, p.most_at);
#if TAILS
    const double tail_sum = warp_sums(p.tail_sum, p.tail_squares);
    const uint tails = warp_counts(p.tails, p.low);
#endif
    if (item % GROUP_ROWS == 0u) {
        rows->sums[side][row] = sum;
        rows->counts[side][row] = count;
        rows->firsts[side][row] = p.least;
        rows->places[side][row] = p.least_at;
#if TAILS
        rows->tail_sums[side][row] = tail_sum;
        rows->tails[side][row] = tails;
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < AIRY_WARP)
        add_rows(rows);
    barrier(CLK_LOCAL_MEM_FENCE);
    *all = (airy_clip_part){.sum = rows->sums[0][0],
                            .squares = rows->sums[1][0],
                            .least = rows->firsts[0][0],
                            .most = rows->firsts[1][0],
                            .least_at = rows->places[0][0],
                            .most_at = rows->places[1][0],
                            .count = rows->counts[0][0],
                            .below = rows->counts[1][0]};
#if TAILS
    all->tails = rows->tails[0][0];
    all->low = rows->tails[1][0];
    all->tail_sum = rows->tail_sums[0][0];
    all->tail_squares = rows->tail_sums[1][0];
#endif
}
#else
AIRY_INLINE void sum_parts(airy_clip_part *all, __global const airy_clip_state *state,
                           const airy_clip_geom *g, __local struct solving *w)
{
    __local struct group_room *room = &w->room;
    airy_clip_part p = {.least = LONG_MAX, .most = LONG_MAX};
    uint full = 0u, most = 0u;
    for (uint i = get_local_id(0); i < g->groups; i += GROUP) {
        const airy_clip_part q = part_at(state, i);
        add_part(&p, &q);
        full += q.tails > g->room ? 1u : 0u;
        most = max(most, q.tails);
    }
    add_rare(w, &p, full, most);
    group_sums(&p.sum, &p.squares, &p.count, &p.below, room);
#if TAILS
    group_sums(&p.tail_sum, &p.tail_squares, &p.tails, &p.low, room);
#endif
    group_first(&p.least, &p.least_at, room);
    group_first(&p.most, &p.most_at, room);
    *all = p;
}
#endif

/* The whole walk's part, the same in all items; the number of groups whose list is too long. */
AIRY_INLINE uint add_parts(struct walk *to, __global const airy_clip_state *state,
                           const airy_clip_geom *g, __local struct solving *w)
{
    airy_clip_part *p = &to->p;
    if (get_local_id(0) < 5u)
        w->rare[get_local_id(0)] = 0u;
    if (get_local_id(0) == 0u)
        w->most = AIRY_CLIP_BLOCK;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum_parts(p, state, g, w);
    p->ties_lo = w->rare[0];
    p->ties_hi = w->rare[1];
    p->masked = w->rare[2];
    p->infinite = w->rare[3];
    to->levels = (min(w->most, g->room) + AIRY_CLIP_BLOCK - 1u) / AIRY_CLIP_BLOCK;
    return w->rare[4];
}

/* As if no bucket came before the item's own. */
AIRY_INLINE struct buckets own_buckets(__global const airy_clip_state *state)
{
    __global const uint4 *counts = (__global const uint4 *)state->counts +
                                   get_local_id(0) * (OWN / 4u);
    struct buckets own = {.all = 0u};
#pragma unroll
    for (uint k = 0u; k < OWN; k += 4u) {
        const uint4 c = counts[k / 4u];
        own.from[k] = own.all;
        own.from[k + 1u] = own.all + c.x;
        own.from[k + 2u] = own.all + c.x + c.y;
        own.from[k + 3u] = own.all + c.x + c.y + c.z;
        own.all += c.x + c.y + c.z + c.w;
    }
    own.from[OWN] = own.all;
    return own;
}

AIRY_INLINE void add_buckets(struct buckets *own, __local struct group_room *room)
{
    const uint before = group_scan(own->from[OWN], &own->all, room);
#pragma unroll
    for (uint k = 0u; k <= OWN; k++)
        own->from[k] += before;
}

/* How many of four are less than x, and how many are not more. */
AIRY_INLINE void add_ranks(uint *below, uint *upto, real4 y, real x)
{
    *below += (y.x < x ? 1u : 0u) + (y.y < x ? 1u : 0u) + (y.z < x ? 1u : 0u) + (y.w < x ? 1u : 0u);
    *upto += (y.x <= x ? 1u : 0u) + (y.y <= x ? 1u : 0u) + (y.z <= x ? 1u : 0u) +
             (y.w <= x ? 1u : 0u);
}

/* One of the two in the middle, by half of the items: number `item` of `items`. */
AIRY_INLINE void find_in_bucket(__global const airy_clip_state *state, __global const real *values,
                                __local struct solving *w, uint side, uint rank, uint depth,
                                uint item, uint items)
{
    const uint n = w->size[side], b = w->bucket[side];
    if (n > depth) { /* only where all are alike */
        const long key = (long)key_of(values[0]);
        bool alike = state->least[b] == key && state->most[b] == key;
        for (uint i = item; i < depth; i += items)
            alike = alike && values[i] == values[0];
        if (!alike)
            w->crowded = 1u;
        if (item == 0u)
            w->middle[side] = values[0];
        return;
    }
    for (uint i = item; i < n; i += items) {
        const real x = values[i];
        uint below = 0u, upto = 0u;
        if (n <= AIRY_CLIP_SORTED) {
#pragma unroll 2
            for (uint k = 0u; k < (n + 3u) / 4u; k++)
                add_ranks(&below, &upto, w->near[side][k], x);
        } else {
            for (uint k = 0u; k < n; k++)
                add_ranks(&below, &upto, (real4)(values[k], NAN, NAN, NAN), x);
        }
        if (below <= rank && rank < upto) /* of equal ones, all */
            w->middle[side] = x;
    }
}

AIRY_INLINE struct middle seek_median(const struct passing *c, const struct walk *walk)
{
    const ulong below = (ulong)walk->p.below + c->kept.below;
    struct middle m = {.missed = c->count == 0ul};
#pragma unroll
    for (uint j = 0u; j < 2u; j++) {
        long rank = (long)((c->count - (j == 0u ? 1ul : 0ul)) / 2ul) - (long)below;
        m.missed = m.missed || rank < 0l ||
                   rank >= (long)walk->p.ties_lo + walk->all + walk->p.ties_hi;
        const bool lo = rank < (long)walk->p.ties_lo;
        rank -= (long)walk->p.ties_lo;
        m.sought[j] = c->wanted && !m.missed && !lo && rank < (long)walk->all;
        m.rank[j] = (uint)rank;
        m.end[j] = (real)(lo ? walk->plan.window_lo : walk->plan.window_hi);
    }
    return m;
}

/* The buckets of the two in the middle. */
AIRY_INLINE void find_buckets(const struct buckets *own, const struct middle *m,
                              __local struct solving *w)
{
    const uint item = get_local_id(0);
#pragma unroll
    for (uint j = 0u; j < 2u; j++) {
        if (m->sought[j] && m->rank[j] >= own->from[0] && m->rank[j] < own->from[OWN]) {
            for (uint k = 0u; k < OWN; k++)
                if (m->rank[j] >= own->from[k] && m->rank[j] < own->from[k + 1u]) {
                    w->bucket[j] = item * OWN + k;
                    w->before[j] = own->from[k];
                    w->size[j] = own->from[k + 1u] - own->from[k];
                }
        }
    }
    if (item == 0u)
        w->crowded = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* What half of the items has of one of the two buckets: its elements, of which some go to local
 * memory, and the item's own first one of these. */
struct half_bucket {
    __global const real *values;
    real first;
    uint side, item, loaded;
    bool seeks;
};

AIRY_INLINE struct half_bucket load_bucket(__global const real *buckets, const struct middle *m,
                                           __local const struct solving *w, uint depth)
{
    struct half_bucket h = {.side = get_local_id(0) / HALF, .item = get_local_id(0) % HALF};
    h.seeks = h.side == 0u ? m->sought[0] : m->sought[1];
    h.values = buckets + (h.seeks ? (ulong)w->bucket[h.side] * depth : 0ul);
    h.loaded = h.seeks ? min(w->size[h.side], min(depth, AIRY_CLIP_SORTED)) : 0u;
    h.first = h.item < h.loaded ? h.values[h.item] : (real)NAN;
    return h;
}

/* The two in the middle. Barriers stand under no condition (compilers that make loops of items). */
AIRY_INLINE void find_median(__global const airy_clip_state *state, const struct half_bucket *h,
                             const struct middle *m, __local struct solving *w, uint depth)
{
    __local real *near = (__local real *)w->near[h->side];
    if (h->item < (h->loaded + 3u) / 4u * 4u)
        near[h->item] = h->first;
    for (uint i = h->item + HALF; i < (h->loaded + 3u) / 4u * 4u; i += HALF)
        near[i] = i < h->loaded ? h->values[i] : (real)NAN;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint rank = h->side == 0u ? m->rank[0] : m->rank[1];
    if (h->seeks)
        find_in_bucket(state, h->values, w, h->side, rank - w->before[h->side], depth, h->item,
                       HALF);
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* One of an item's blocks, of which it keeps the first. */
AIRY_INLINE struct tail_block block_at(const struct tail_block *own,
                                       __global const struct tail_block *blocks, uint i)
{
    struct tail_block b = *own;
    if (i >= GROUP)
        b = blocks[i];
    return b;
}

/* The tails of a block. */
AIRY_INLINE ulong place_of(uint block, const airy_clip_geom *g)
{
    return (ulong)(block % g->groups) * g->room + block / g->groups * AIRY_CLIP_BLOCK;
}

/* Adds those of four tails that are numbered from `first` to `end`, of which `at` is the first. */
AIRY_INLINE void add_quad(struct tail_sums *s, real4 quad, uint at, uint first, uint end,
                          const airy_clip_plan *plan)
{
    const real x[4] = {quad.x, quad.y, quad.z, quad.w};
#pragma unroll
    for (uint k = 0u; k < 4u; k++) {
        const bool in = (at + k >= first) & (at + k < end);
        const double d = (double)(in ? x[k] : (real)plan->pivot) - plan->pivot;
        s->sum += d;
        s->squares = fma(d, d, s->squares);
        s->count += in ? 1u : 0u;
        s->below += in && x[k] < (real)plan->core_lo ? 1u : 0u;
    }
}

/*
 * Takes what lies beyond a bound from the low end of a block, or from its high end, by the quads of
 * tails in which it ends.
 */
AIRY_INLINE void drop(struct tail_sums *s, struct tail_block *b, __global const real4 *quads,
                      bool low, real limit, const airy_clip_plan *plan)
{
    for (bool more = low ? b->least < limit : b->most > limit; more;) {
        const uint end = low ? b->begin : b->end, at = (low ? end : end - 1u) / 4u * 4u;
        const real4 quad = quads[at / 4u];
        const real x[4] = {quad.x, quad.y, quad.z, quad.w};
        real left = low ? (real)INFINITY : -(real)INFINITY;
        uint to = end;
#pragma unroll
        for (uint k = 0u; k < 4u; k++) {
            const real y = x[low ? k : 3u - k];
            const bool next = low ? at + k == to && to < b->end
                                  : at + 4u - k == to && to > b->begin,
                       goes = low ? y < limit : y > limit;
            left = next && !goes ? y : left;
            to += !next || !goes ? 0u : low ? 1u : UINT_MAX;
        }
        add_quad(s, quad, at, low ? end : to, low ? to : end, plan);
        if (low) {
            b->least = left;
            b->begin = to;
        } else {
            b->most = left;
            b->end = to;
        }
        more = to == (low ? at + 4u : at) && b->begin < b->end;
    }
}

/*
 * Of those that the last pass removed, which go, or of all that are left. An item looks at its own
 * blocks alone.
 */
AIRY_INLINE struct tail_sums add_tails(__global const real *tails, struct tail_block *own,
                                       __global struct tail_block *blocks, const struct passing *c,
                                       const struct walk *walk, const airy_clip_geom *g,
                                       __local struct group_room *room)
{
    struct tail_sums s = {0.0, 0.0, 0u, 0u};
    for (uint i = get_local_id(0); i < walk->levels * g->groups; i += GROUP) {
        struct tail_block b = block_at(own, blocks, i);
        __global const real4 *quads = (__global const real4 *)(tails + place_of(i, g));
        if (c->removes && b.least >= c->rlo && b.most <= c->rhi)
            continue;
        if (!c->removes) {
            for (uint at = b.begin / 4u * 4u; at < b.end; at += 4u)
                add_quad(&s, quads[at / 4u], at, b.begin, b.end, &walk->plan);
            continue;
        }
        drop(&s, &b, quads, true, c->rlo, &walk->plan);
        drop(&s, &b, quads, false, c->rhi, &walk->plan);
        if (b.begin == b.end) {
            b.least = (real)INFINITY;
            b.most = -(real)INFINITY;
        }
        if (i < GROUP)
            *own = b;
        else
            blocks[i] = b;
    }
    group_sums(&s.sum, &s.squares, &s.count, &s.below, room);
    return s;
}

AIRY_INLINE double bound(double center, double kappa, double spread)
{
    /* Infinity times a spread of 0 is no number. */
    return isinf(kappa) ? kappa : center + kappa * spread;
}

/* Of what is left. The spread is NaN or infinite where the sums are too large. */
AIRY_INLINE void find_spread(struct passing *c, const struct walk *walk)
{
    const double n = (double)c->count, sum = walk->p.sum + c->kept.sum,
                 squares = walk->p.squares + c->kept.squares;
    c->mean = sum / n;
    const double variance = (squares - sum * c->mean) / n;
    c->spread = sqrt(variance < 0.0 ? 0.0 : variance);
}

/* New bounds. A status. */
AIRY_INLINE uint next_bounds(struct passing *c, const struct walk *walk, const airy_clip_geom *g)
{
    const airy_clip_plan *plan = &walk->plan;
    const double center = g->mean != 0u ? plan->pivot + c->mean : c->median;
    c->passes++;
    c->low = bound(center, -g->kappa_low, c->spread);
    c->high = bound(center, g->kappa_high, c->spread);
    c->lo = fmax(c->lo, g->inclusive != 0u ? c->low : nextafter(c->low, (double)INFINITY));
    c->hi = fmin(c->hi, g->inclusive != 0u ? c->high : nextafter(c->high, -(double)INFINITY));
    if (isnan(c->spread) || isinf(c->spread))
        return AIRY_CLIP_INSIDE;
    c->empty = c->lo > c->hi;
    c->rlo = real_not_less(c->lo);
    c->rhi = real_not_more(c->hi);
    c->removes = true;
    return c->empty || (c->rlo <= (real)plan->core_lo && c->rhi >= (real)plan->core_hi)
               ? AIRY_CLIP_DONE
               : AIRY_CLIP_INSIDE;
}

/* Takes a sum over tails; true where it has to be taken again. */
AIRY_INLINE bool take_tails(struct passing *c, const struct tail_sums *s, double core_squares)
{
    if (!c->removes) {
        c->kept = *s;
        c->added = core_squares + s->squares;
        return false;
    }
    c->kept.count -= s->count;
    c->kept.below -= s->below;
    c->kept.sum -= s->sum;
    c->kept.squares -= s->squares;
    /* Subtracting loses digits; two at most. */
    c->removes = !(core_squares + c->kept.squares < 0.01 * c->added);
    return !c->removes;
}

/* What follows from a look at tails. */
AIRY_INLINE void take_look(struct passing *c, const struct tail_sums *s, const struct walk *walk,
                           const airy_clip_geom *g)
{
    c->again = take_tails(c, s, walk->p.squares);
    c->count = walk->p.count + (ulong)c->kept.count;
    c->finite = c->before == ULONG_MAX ? c->count : c->finite;
    c->done = !c->again && (c->count == 0ul || c->count == c->before || g->clips == 0u ||
                            (g->passes != 0ul && c->passes == g->passes));
    c->known = c->known && c->count == c->before;
    c->wanted = !c->again && !c->known && g->median != 0u && (c->done || g->mean == 0u);
    c->known = c->known || (!c->again && g->mean == 0u);
}

/* What follows from the median. */
AIRY_INLINE void take_median(struct passing *c, const struct middle *m,
                             __local const struct solving *w, const struct walk *walk,
                             const airy_clip_geom *g)
{
    if (c->wanted && c->count != 0ul) {
        const double lower = (double)(m->sought[0] ? w->middle[0] : m->end[0]),
                     upper = (double)(m->sought[1] ? w->middle[1] : m->end[1]);
        c->median = airy_middle(lower, upper);
        c->status = m->missed          ? AIRY_CLIP_MISSED
                    : w->crowded != 0u ? AIRY_CLIP_CROWDED
                                       : AIRY_CLIP_DONE;
    }
    c->done = c->done || c->status != AIRY_CLIP_DONE;
    if (!TAILS || c->done || c->again)
        return;
    c->before = c->count;
    c->status = next_bounds(c, walk, g);
    c->done = c->empty || c->status != AIRY_CLIP_DONE;
}

/* The first place of a value at an end of an item's own blocks, to the least of the group. */
AIRY_INLINE void find_place(__local uint *place, __global const real *tails,
                            __global const uint *tail_at, const struct tail_block *own,
                            __global const struct tail_block *blocks, uint count,
                            const airy_clip_geom *g, bool low, real value)
{
    for (uint i = get_local_id(0); i < count; i += GROUP) {
        const struct tail_block b = block_at(own, blocks, i);
        const ulong from = place_of(i, g);
        for (uint k = b.begin; (low ? b.least : b.most) == value && k < b.end; k++) {
            const uint at = low ? k : b.begin + b.end - 1u - k;
            if (tails[from + at] != value)
                break;
            atomic_min(place, tail_at[from + at]);
        }
    }
}

/* Extremes of what is left, tails too: the items know theirs, those with the group's find it. */
AIRY_INLINE void add_extremes(airy_clip_part *p, __global const real *tails,
                              __global const uint *tail_at, const struct tail_block *own,
                              __global const struct tail_block *blocks, uint count,
                              const airy_clip_geom *g, __local struct solving *w)
{
    real own_least = (real)INFINITY, own_most = -(real)INFINITY;
    for (uint i = get_local_id(0); i < count; i += GROUP) {
        const struct tail_block b = block_at(own, blocks, i);
        own_least = fmin(own_least, b.least);
        own_most = fmax(own_most, b.most);
    }
    const long up = own_least <= REAL_MAX ? (long)key_of(own_least) : LONG_MAX,
               down = own_most >= -REAL_MAX ? -1l - (long)key_of(own_most) : LONG_MAX;
    long least = up, most = down;
    uint unused = 0u;
    if (get_local_id(0) == 0u)
        w->places[0] = w->places[1] = UINT_MAX;
    group_first(&least, &unused, &w->room);
    group_first(&most, &unused, &w->room);
    if (up == least && least < p->least)
        find_place(&w->places[0], tails, tail_at, own, blocks, count, g, true, own_least);
    if (down == most && most < p->most)
        find_place(&w->places[1], tails, tail_at, own, blocks, count, g, false, own_most);
    barrier(CLK_LOCAL_MEM_FENCE);
    p->least_at = least < p->least ? w->places[0] : p->least_at;
    p->least = min(p->least, least);
    p->most_at = most < p->most ? w->places[1] : p->most_at;
    p->most = min(p->most, most);
}

/* One group an image. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
clip_solve(__global airy_clip_found *found, __global airy_clip_state *state,
           __global const real *buckets, __global real *tails, __global const uint *tail_at,
           const airy_clip_geom geom)
{
    __local struct solving w;
    const airy_clip_geom *g = &geom;
    found += g->slot + own_image();
    state += own_image();
    buckets += own_image() * (ulong)BUCKETS * g->depth;
    struct walk walk = {.plan = state->plan};
#if TAILS
    __global struct tail_block *blocks = (__global struct tail_block *)(tails + first_block(g));
    struct tail_block first = {.begin = 0u};
    if (get_local_id(0) < levels_of(g) * g->groups)
        first = blocks[get_local_id(0)];
    tails += first_tail(g);
    tail_at += first_place(g);
#else
    (void)tails;
    (void)tail_at;
#endif
    struct buckets own = own_buckets(state); /* loads that the next line need not wait for */
    const uint full = add_parts(&walk, state, g, &w);
    add_buckets(&own, &w.room);
    walk.all = own.all;
    if (full != 0u) /* they are not all there */
        walk.levels = 0u;
    struct passing c = {.kept = {0.0, 0.0, 0u, 0u},
                        .lo = -DBL_MAX,
                        .hi = DBL_MAX,
                        .rlo = -REAL_MAX,
                        .rhi = REAL_MAX,
                        .low = NAN,
                        .high = NAN,
                        .median = NAN,
                        .before = ULONG_MAX,
                        .status = AIRY_CLIP_DONE};
    struct tail_sums s = {walk.p.tail_sum, walk.p.tail_squares, walk.p.tails, walk.p.low};
    for (;;) {
        take_look(&c, &s, &walk, g);
        const struct middle m = seek_median(&c, &walk);
        find_buckets(&own, &m, &w);
        const struct half_bucket bucket = load_bucket(buckets, &m, &w, g->depth);
        find_spread(&c, &walk); /* while that is on its way */
        find_median(state, &bucket, &m, &w, g->depth);
        take_median(&c, &m, &w, &walk, g);
        if (!TAILS || c.done)
            break;
#if TAILS
        s = add_tails(tails, &first, blocks, &c, &walk, g, &w.room);
#endif
    }
    airy_clip_part p = walk.p;
#if TAILS
    add_extremes(&p, tails, tail_at, &first, blocks, walk.levels * g->groups, g, &w);
#endif
    if (get_local_id(0) != 0u)
        return;
    *found = (airy_clip_found){.sum = p.sum + c.kept.sum,
                               .squares = p.squares + c.kept.squares,
                               .pivot = walk.plan.pivot,
                               .median = c.median,
                               .min = (double)of_key((real_key)p.least),
                               .max = (double)of_key((real_key)(-1l - p.most)),
                               .low = c.low,
                               .high = c.high,
                               .min_at = p.least_at,
                               .max_at = p.most_at,
                               .count = c.empty ? 0ul : c.count,
                               .finite = c.finite,
                               .masked = p.masked,
                               .infinite = p.infinite,
                               .passes = c.passes,
                               .tails = p.tails,
                               .status = full != 0u ? AIRY_CLIP_FULL : c.status};
    AIRY_TELL(&found->turn, g->turn);
}

#endif
