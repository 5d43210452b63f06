/*
 * What a clip makes of a sample and of a walk (clip.cl): one group does all passes on lists and
 * buckets. Where the sample was wrong, `status` says so.
 *
 * Build option: WIDE: 1 where elements are compared as f64.
 * Local memory: 9 KiB at most; 33 KiB without warps.
 */
#ifndef WIDE
#define WIDE 0
#endif

#ifdef AIRY_FP64

#include "shared/clip_geom.h"

#define GROUP AIRY_CLIP_SOLVERS
#include "opencl/kernels/clip_real.h"

#define OWN   (BUCKETS / GROUP)
#define AHEAD 8u /* loads on their way */

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
 * One group.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
clip_plan(__global airy_clip_state *state, const airy_clip_geom g)
{
    enum { SHARE = AIRY_CLIP_SAMPLE / GROUP };
    /* Where the final bounds are about to lie, less a margin for what a sample does not know. */
    const double margin = 0.1;
    __local struct group_room room;
    const uint item = get_local_id(0);
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

/* A clip under way: item 0 writes it. */
struct passing {
    airy_clip_plan plan;
    airy_clip_part p; /* of the walk */
    struct tail_sums kept;
    double added;        /* squares when kept was last added up, not subtracted from */
    double lo, hi;       /* closed bounds of what is left */
    real rlo, rhi;       /* the same as elements are */
    real was_lo, was_hi; /* of the pass before */
    double low, high, median;
    ulong passes, before, count, finite; /* elements: before, now, at first */
    uint all;                            /* in buckets */
    uint removes;                        /* the next look at tails subtracts what goes */
    uint empty;                          /* nothing is left */
    uint again, done, wanted, missed;
    uint known; /* the median of what is left */
    uint full;  /* the tails are not all there */
    uint status;
};

/* What the solving group shares. */
struct solving {
    struct group_room room;
    struct passing pass;
    real sorted[2][AIRY_CLIP_SORTED];
    uint bucket[2], before[2], size[2]; /* those of the two elements in the middle */
    real middle[2];
    uint sought[2], rank[2];
    uint crowded;
};

/* An item's own buckets: elements in those before each, and in all of the array's. */
struct buckets {
    uint from[OWN + 1u];
    uint all;
};

/* The whole walk's part, the same in all items; the number of groups whose list is too long. */
AIRY_INLINE uint add_parts(airy_clip_part *p, __global const airy_clip_state *state,
                           const airy_clip_geom *g, __local struct group_room *room)
{
    uint full = 0u;
    *p = (airy_clip_part){0.0, 0.0, LONG_MAX, LONG_MAX, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u};
    for (uint i = get_local_id(0); i < g->groups; i += GROUP) {
        const airy_clip_part q = state->parts[i];
        p->sum += q.sum;
        p->squares += q.squares;
        p->least_at = q.least < p->least || (q.least == p->least && q.least_at < p->least_at)
                          ? q.least_at
                          : p->least_at;
        p->least = min(p->least, q.least);
        p->most_at = q.most < p->most || (q.most == p->most && q.most_at < p->most_at) ? q.most_at
                                                                                       : p->most_at;
        p->most = min(p->most, q.most);
        p->count += q.count;
        p->below += q.below;
        p->ties_lo += q.ties_lo;
        p->ties_hi += q.ties_hi;
        p->masked += q.masked;
        p->infinite += q.infinite;
        p->tails += q.tails;
        full += q.tails > g->room ? 1u : 0u;
    }
    group_sums(&p->sum, &p->squares, &p->count, &p->below, room);
    group_counts(&p->ties_lo, &p->ties_hi, room);
    group_counts(&p->masked, &p->infinite, room);
    group_counts(&p->tails, &full, room);
    group_first(&p->least, &p->least_at, room);
    group_first(&p->most, &p->most_at, room);
    return full;
}

AIRY_INLINE struct buckets add_buckets(__global const airy_clip_state *state,
                                       __local struct group_room *room)
{
    struct buckets own;
    uint mine = 0u;
    for (uint k = 0u; k < OWN; k++) {
        own.from[k] = mine;
        mine += state->counts[get_local_id(0) * OWN + k];
    }
    own.from[OWN] = mine;
    const uint before = group_scan(mine, &own.all, room);
    for (uint k = 0u; k <= OWN; k++)
        own.from[k] += before;
    return own;
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
    const bool near = n <= AIRY_CLIP_SORTED;
    for (uint i = item; i < n; i += items) {
        const real x = near ? w->sorted[side][i] : values[i];
        uint below = 0u;
        if (near) {
#pragma unroll 4
            for (uint k = 0u; k < n; k++) {
                const real y = w->sorted[side][k];
                below += y < x || (y == x && k < i) ? 1u : 0u;
            }
        } else {
            for (uint k = 0u; k < n; k++)
                below += values[k] < x || (values[k] == x && k < i) ? 1u : 0u;
        }
        if (below == rank)
            w->middle[side] = x;
    }
}

/* Item 0: the ranks of the two in the middle, in the buckets or on an end of the window. */
AIRY_INLINE void seek_median(__local struct solving *w)
{
    __local struct passing *c = &w->pass;
    const ulong below = (ulong)c->p.below + c->kept.below;
    bool missed = c->count == 0ul;
    for (uint j = 0u; j < 2u; j++) {
        long rank = (long)((c->count - (j == 0u ? 1ul : 0ul)) / 2ul) - (long)below;
        missed = missed || rank < 0l || rank >= (long)c->p.ties_lo + c->all + c->p.ties_hi;
        const bool lo = rank < (long)c->p.ties_lo;
        rank -= (long)c->p.ties_lo;
        w->sought[j] = c->wanted && !missed && !lo && rank < (long)c->all;
        w->rank[j] = (uint)rank;
        w->middle[j] = (real)(lo ? c->plan.window_lo : c->plan.window_hi);
    }
    c->missed = missed;
    w->crowded = 0u;
}

/* The two in the middle. Barriers stand under no condition (compilers that make loops of items). */
AIRY_INLINE void find_median(__global const airy_clip_state *state, __global const real *buckets,
                             const struct buckets *own, __local struct solving *w, uint depth)
{
    const uint item = get_local_id(0), side = item / (GROUP / 2u), mate = item % (GROUP / 2u);
    for (uint j = 0u; j < 2u; j++) {
        const uint rank = w->sought[j] != 0u ? w->rank[j] : UINT_MAX;
        if (rank >= own->from[0] && rank < own->from[OWN]) {
            for (uint k = 0u; k < OWN; k++)
                if (rank >= own->from[k] && rank < own->from[k + 1u]) {
                    w->bucket[j] = item * OWN + k;
                    w->before[j] = own->from[k];
                    w->size[j] = own->from[k + 1u] - own->from[k];
                }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const bool seeks = w->sought[side] != 0u;
    __global const real *values = buckets + (seeks ? (ulong)w->bucket[side] * depth : 0ul);
    const uint loaded = seeks ? min(w->size[side], min(depth, AIRY_CLIP_SORTED)) : 0u;
    for (uint i = mate; i < loaded; i += GROUP / 2u)
        w->sorted[side][i] = values[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (seeks)
        find_in_bucket(state, values, w, side, w->rank[side] - w->before[side], depth, mate,
                       GROUP / 2u);
    barrier(CLK_LOCAL_MEM_FENCE);
}

AIRY_INLINE void add_tail(struct tail_sums *s, real x, bool taken, double pivot, real core_lo)
{
    const double d = taken ? (double)x - pivot : 0.0;
    s->sum += d;
    s->squares = fma(d, d, s->squares);
    s->count += taken ? 1u : 0u;
    s->below += taken && x < core_lo ? 1u : 0u;
}

/* Of those in the bounds, or of those that the last pass removed, which are few. */
AIRY_INLINE struct tail_sums add_tails(__global const real *tails, __local struct solving *w)
{
    struct tail_sums s = {0.0, 0.0, 0u, 0u};
    __local const struct passing *c = &w->pass;
    const bool removed = c->removes != 0u;
    const uint count = c->p.tails;
    const double pivot = c->plan.pivot;
    const real core_lo = (real)c->plan.core_lo, lo = c->rlo, hi = c->rhi, was_lo = c->was_lo,
               was_hi = c->was_hi;
    for (ulong first = get_local_id(0); first < count; first += GROUP * AHEAD) {
        real x[AHEAD];
        uint gone = 0u;
#pragma unroll
        for (uint k = 0u; k < AHEAD; k++)
            x[k] = first + k * GROUP < count ? tails[first + k * GROUP] : (real)NAN;
        if (removed) {
#pragma unroll
            for (uint k = 0u; k < AHEAD; k++)
                gone |= !(x[k] >= lo && x[k] <= hi) && x[k] >= was_lo && x[k] <= was_hi ? 1u << k
                                                                                        : 0u;
            for (; gone != 0u; gone &= gone - 1u) {
                const uint k = 31u - clz(gone & (0u - gone));
                add_tail(&s, tails[first + k * GROUP], true, pivot, core_lo);
            }
        } else {
#pragma unroll
            for (uint k = 0u; k < AHEAD; k++)
                add_tail(&s, x[k], x[k] >= lo && x[k] <= hi, pivot, core_lo);
        }
    }
    group_sums(&s.sum, &s.squares, &s.count, &s.below, &w->room);
    return s;
}

AIRY_INLINE double bound(double center, double kappa, double spread)
{
    /* Infinity times a spread of 0 is no number. */
    return isinf(kappa) ? kappa : center + kappa * spread;
}

/* New bounds. A status. */
AIRY_INLINE uint next_bounds(__local struct passing *c, const airy_clip_geom *g)
{
    __local const airy_clip_plan *plan = &c->plan;
    const double n = (double)(c->p.count + (ulong)c->kept.count), sum = c->p.sum + c->kept.sum,
                 squares = c->p.squares + c->kept.squares;
    const double variance = (squares - sum * (sum / n)) / n,
                 spread = sqrt(variance < 0.0 ? 0.0 : variance),
                 center = g->mean != 0u ? plan->pivot + sum / n : c->median;
    c->passes++;
    c->low = bound(center, -g->kappa_low, spread);
    c->high = bound(center, g->kappa_high, spread);
    c->lo = fmax(c->lo, g->inclusive != 0u ? c->low : nextafter(c->low, (double)INFINITY));
    c->hi = fmin(c->hi, g->inclusive != 0u ? c->high : nextafter(c->high, -(double)INFINITY));
    if (isnan(variance) || isinf(variance))
        return AIRY_CLIP_INSIDE;
    c->empty = c->lo > c->hi;
    c->was_lo = c->rlo;
    c->was_hi = c->rhi;
    c->rlo = real_not_less(c->lo);
    c->rhi = real_not_more(c->hi);
    c->removes = true;
    return c->empty || (c->rlo <= (real)plan->core_lo && c->rhi >= (real)plan->core_hi)
               ? AIRY_CLIP_DONE
               : AIRY_CLIP_INSIDE;
}

/* Takes a sum over tails; true where it has to be taken again. */
AIRY_INLINE bool take_tails(__local struct passing *c, const struct tail_sums *s)
{
    if (!c->removes) {
        c->kept = *s;
        c->added = c->p.squares + s->squares;
        return false;
    }
    c->kept.count -= s->count;
    c->kept.below -= s->below;
    c->kept.sum -= s->sum;
    c->kept.squares -= s->squares;
    /* Subtracting loses digits; two at most. */
    c->removes = !(c->p.squares + c->kept.squares < 0.01 * c->added);
    return !c->removes;
}

/* Item 0: what follows from a look at tails. */
AIRY_INLINE void take_look(__local struct solving *w, const struct tail_sums *s,
                           const airy_clip_geom *g)
{
    __local struct passing *c = &w->pass;
    const bool again = take_tails(c, s);
    const ulong count = c->p.count + (ulong)c->kept.count;
    c->count = count;
    c->finite = c->before == ULONG_MAX ? count : c->finite;
    c->again = again;
    c->done = !again && (count == 0ul || count == c->before || g->clips == 0u ||
                         (g->passes != 0ul && c->passes == g->passes));
    c->known = c->known && count == c->before;
    c->wanted = !again && !c->known && g->median != 0u && (c->done || g->mean == 0u);
    c->known = c->known || (!again && g->mean == 0u);
    seek_median(w);
}

/* Item 0: what follows from the median. */
AIRY_INLINE void take_median(__local struct solving *w, const airy_clip_geom *g)
{
    __local struct passing *c = &w->pass;
    if (c->wanted && c->count != 0ul) {
        c->median = 0.5 * (double)w->middle[0] + 0.5 * (double)w->middle[1];
        c->status = c->missed          ? AIRY_CLIP_MISSED
                    : w->crowded != 0u ? AIRY_CLIP_CROWDED
                                       : AIRY_CLIP_DONE;
    }
    c->done = c->done || c->status != AIRY_CLIP_DONE;
    if (c->done || c->again)
        return;
    c->before = c->count;
    c->status = next_bounds(c, g);
    c->done = c->empty || c->status != AIRY_CLIP_DONE;
}

/* Extremes of what is left, tails too. */
AIRY_INLINE void add_extremes(airy_clip_part *p, __local struct solving *w,
                              __global const real *tails, __global const uint *tail_at)
{
    long least = LONG_MAX, most = LONG_MAX;
    uint least_at = UINT_MAX, most_at = UINT_MAX;
    const real lo = w->pass.rlo, hi = w->pass.rhi;
    for (ulong first = get_local_id(0); first < p->tails; first += GROUP * AHEAD) {
        real x[AHEAD];
        uint at[AHEAD];
#pragma unroll
        for (uint k = 0u; k < AHEAD; k++) {
            const ulong i = first + k * GROUP;
            x[k] = i < p->tails ? tails[i] : (real)NAN;
            at[k] = i < p->tails ? tail_at[i] : UINT_MAX;
        }
#pragma unroll
        for (uint k = 0u; k < AHEAD; k++) {
            if (!(x[k] >= lo && x[k] <= hi))
                continue;
            const long up = (long)key_of(x[k]), down = -1l - up;
            least_at = up < least || (up == least && at[k] < least_at) ? at[k] : least_at;
            least = min(least, up);
            most_at = down < most || (down == most && at[k] < most_at) ? at[k] : most_at;
            most = min(most, down);
        }
    }
    group_first(&least, &least_at, &w->room);
    group_first(&most, &most_at, &w->room);
    p->least_at = least < p->least ? least_at : p->least_at;
    p->least = min(p->least, least);
    p->most_at = most < p->most ? most_at : p->most_at;
    p->most = min(p->most, most);
}

/* One group. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
clip_solve(__global airy_clip_found *found, __global airy_clip_state *state,
           __global const real *buckets, __global const real *tails, __global const uint *tail_at,
           const airy_clip_geom geom)
{
    __local struct solving w;
    const airy_clip_geom *g = &geom;
    const uint item = get_local_id(0);
    airy_clip_part p;
    const uint full = add_parts(&p, state, g, &w.room);
    const struct buckets own = add_buckets(state, &w.room);
    if (full != 0u) /* they are not all there */
        p.tails = 0u;
    if (item == 0u) {
        __local struct passing *c = &w.pass;
        c->plan = state->plan;
        c->p = p;
        c->kept = (struct tail_sums){0.0, 0.0, 0u, 0u};
        c->added = 0.0;
        c->lo = -DBL_MAX;
        c->hi = DBL_MAX;
        c->rlo = c->was_lo = -REAL_MAX;
        c->rhi = c->was_hi = REAL_MAX;
        c->low = c->high = c->median = NAN;
        c->passes = c->finite = 0ul;
        c->before = ULONG_MAX;
        c->all = own.all;
        c->removes = c->empty = c->known = 0u;
        c->full = full;
        c->status = AIRY_CLIP_DONE;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    /* clip_gather put them there. */
    tails += (ulong)g->groups * g->room;
    tail_at += (ulong)g->groups * g->room;
    for (bool done = false; !done;) {
        const struct tail_sums s = add_tails(tails, &w);
        if (item == 0u)
            take_look(&w, &s, g);
        barrier(CLK_LOCAL_MEM_FENCE);
        find_median(state, buckets, &own, &w, g->depth);
        if (item == 0u)
            take_median(&w, g);
        barrier(CLK_LOCAL_MEM_FENCE);
        done = w.pass.done != 0u;
    }
    p = w.pass.p;
    add_extremes(&p, &w, tails, tail_at);
    if (item != 0u)
        return;
    __local const struct passing *c = &w.pass;
    *found = (airy_clip_found){.sum = p.sum + c->kept.sum,
                               .squares = p.squares + c->kept.squares,
                               .pivot = c->plan.pivot,
                               .median = c->median,
                               .min = (double)of_key((real_key)p.least),
                               .max = (double)of_key((real_key)(-1l - p.most)),
                               .low = c->low,
                               .high = c->high,
                               .min_at = p.least_at,
                               .max_at = p.most_at,
                               .count = c->empty ? 0ul : c->count,
                               .finite = c->finite,
                               .masked = p.masked,
                               .infinite = p.infinite,
                               .passes = c->passes,
                               .tails = p.tails,
                               .status = c->full != 0u ? AIRY_CLIP_FULL : c->status};
    AIRY_TELL(&found->turn, g->turn);
}

#endif
