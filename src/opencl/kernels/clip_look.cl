/*
 * Where warps exchange in registers: the plan of statistics or a clip (clip_ranks and clip_plan in
 * one) from a sample four times as large, so that fewer elements lie in its window. A few elements,
 * which every group sorts, say where its middle lies; this is counted in bins, in which the last
 * group done finds ranks.
 *
 * Build options: those of clip.cl but WIDE, which must be 0.
 * Mapping: groups of AIRY_CLIP_ITEMS items, one item an element of the sample. Local memory: 10 KiB.
 * Barriers: about 12, and 2 for each pass of a clip.
 */
#if defined(AIRY_FP64) && defined(AIRY_WARP)

#include "shared/clip_geom.h"

#define WIDE  0
#define GROUP AIRY_CLIP_ITEMS
#include "opencl/kernels/clip_element.h"

/* Elements that say where the bins lie, one an item, and the ranks on either side of their middle:
 * 4.5 standard deviations, sqrt(ROUGH)/2, for the middle of all; more where a clip moves it. */
#define ROUGH      GROUP
#define ROUGH_AWAY (TAILS ? 56u : 36u)
#define OWN_BINS   (AIRY_CLIP_BINS / GROUP)
/* Elements that an item goes over where a clip cuts the sample, and how far they are apart. */
#define CUT_EACH 16u
#define CUT_STEP (AIRY_CLIP_LOOKED / CUT_EACH)

/* What the items of a group share. */
struct looking {
    struct group_room room;
    real_key rough[ROUGH]; /* each warp's in order */
    real_key ends[2];      /* those between which the bins lie */
    uint known, counted;   /* of rough; of the group's: valid, and 2^16 times below the bins */
    uint4 from[AIRY_CLIP_BINS / 4u]; /* the rank at which each bin begins */
    float4 passed[GROUP / AIRY_WARP];
    uint last;
};

/* The bins, and how many elements there are. */
struct look_bins {
    real_key first, last;
    real lo, width, unit; /* begin and width of all; the width where it is not 0, else 1 */
    uint n;
};

/* What a clip of the sample comes to. */
struct look_cut {
    real lo, hi, center;
    uint middle; /* rank of the median of what is left */
};

AIRY_INLINE uint bin_of(const struct look_bins *b, real x)
{
    const real scale = b->width > (real)0 ? (real)AIRY_CLIP_BINS / b->unit : (real)0;
    return min((uint)((x - b->lo) * scale), AIRY_CLIP_BINS - 1u);
}

/* The last bin that begins at a rank or before it. */
AIRY_INLINE uint bin_at(__local const struct looking *w, uint rank)
{
    uint b = 0u;
#pragma unroll
    for (uint step = AIRY_CLIP_BINS / 2u; step > 0u; step /= 2u)
        b += ((__local const uint *)w->from)[b + step] <= rank ? step : 0u;
    return b;
}

AIRY_INLINE real middle_of(const struct look_bins *b, uint bin)
{
    return b->lo + ((real)bin + (real)0.5) * (b->width * ((real)1 / (real)AIRY_CLIP_BINS));
}

/* Keys of a warp, ascending by item (Batcher's bitonic sort). */
AIRY_INLINE real_key sort_warp(real_key key)
{
    const uint lane = get_local_id(0) % AIRY_WARP;
#pragma unroll
    for (uint size = 2u; size <= AIRY_WARP; size *= 2u)
#pragma unroll
        for (uint step = size / 2u; step > 0u; step /= 2u) {
            const real_key other = (real_key)AIRY_SHUFFLE_XOR((uint)key, step);
            const bool low = (lane & step) == 0u, up = (lane & size) == 0u;
            key = low == up ? min(key, other) : max(key, other);
        }
    return key;
}

/* The item's rank in w->rough, of which its warp and each other one has sorted a row. */
AIRY_INLINE uint rank_rough(__local const struct looking *w, real_key mine)
{
    const uint own = get_local_id(0) / AIRY_WARP;
    uint rank = get_local_id(0) % AIRY_WARP;
#pragma unroll
    for (uint r = 0u; r < ROUGH / AIRY_WARP; r++) {
        __local const real_key *row = w->rough + r * AIRY_WARP;
        const real_key limit = r < own ? mine + 1
                                       : mine; /* of equal ones the first row's is less */
        uint n = 0u;
#pragma unroll
        for (uint step = AIRY_WARP / 2u; step > 0u; step /= 2u)
            n += row[n + step - 1u] < limit ? step : 0u;
        n += row[n] < limit ? 1u : 0u;
        rank += r != own ? n : 0u;
    }
    return rank;
}

/* Where the bins lie. All items call it, with an element each that says so. */
AIRY_INLINE struct look_bins place_bins(__local struct looking *w, real_key rough)
{
    const uint item = get_local_id(0), known = popcount(AIRY_BALLOT(rough < NO_KEY));
    if (item % AIRY_WARP == 0u && known != 0u)
        atomic_add(&w->known, known);
    const real_key mine = sort_warp(rough);
    w->rough[item] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint all = w->known, mid = all / 2u, most = all != 0u ? all - 1u : 0u,
               rank = rank_rough(w, mine);
    if (rank == (mid > ROUGH_AWAY ? mid - ROUGH_AWAY : 0u))
        w->ends[0] = mine;
    if (rank == min(mid + ROUGH_AWAY, most))
        w->ends[1] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    struct look_bins b = {.first = all != 0u ? w->ends[0] : key_of(-REAL_MAX),
                          .last = all != 0u ? w->ends[1] : key_of(REAL_MAX)};
    b.lo = of_key(b.first);
    b.width = of_key(b.last) - b.lo;
    b.unit = b.width > (real)0 ? b.width : (real)1;
    return b;
}

/* In the order of keys, never 0 or UINT_MAX for one that is finite. */
AIRY_INLINE uint ordered(real_key key)
{
    return (uint)key ^ 1u << 31;
}

/* Counts an element of the sample. All items call it. */
AIRY_INLINE void fill_bins(__local struct looking *w, __global airy_clip_tally *tally,
                           const struct look_bins *b, real_key key)
{
    const bool in = key >= b->first && key <= b->last, leads = get_local_id(0) % AIRY_WARP == 0u,
               alike = b->first == b->last; /* the first item counts for all */
    const uint valid = popcount(AIRY_BALLOT(key < NO_KEY)),
               below = popcount(AIRY_BALLOT(key < b->first)), all = popcount(AIRY_BALLOT(in));
    if (leads)
        atomic_add(&w->counted, valid + (below << 16));
    if (alike ? leads && all != 0u : in) {
        const real_key seen = alike ? b->first : key;
        const uint at = bin_of(b, of_key(seen));
        atomic_add(&tally->counts[at], alike ? all : 1u);
        atomic_max(&tally->most[at], ordered(seen));
        atomic_max(&tally->least[at], ~ordered(seen));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0u) {
        atomic_add(&tally->valid, w->counted & 0xffffu);
        atomic_add(&tally->below, w->counted >> 16);
    }
}

/* What all groups counted; the rank at which each bin begins. */
AIRY_INLINE void take_bins(__local struct looking *w, __global const airy_clip_tally *tally,
                           struct look_bins *b)
{
    const uint first = get_local_id(0) * (OWN_BINS / 4u);
    __global const uint4 *counts = (__global const uint4 *)tally->counts + first;
    const uint below = tally->below;
    b->n = tally->valid;
    uint4 n[OWN_BINS / 4u];
    uint own = 0u, unused;
#pragma unroll
    for (uint k = 0u; k < OWN_BINS / 4u; k++) {
        n[k] = counts[k];
        own += n[k].x + n[k].y + n[k].z + n[k].w;
    }
    uint from = below + group_scan(own, &unused, &w->room);
#pragma unroll
    for (uint k = 0u; k < OWN_BINS / 4u; k++) {
        const uint y = from + n[k].x, z = y + n[k].y, last = z + n[k].z;
        w->from[first + k] = (uint4)(from, y, z, last);
        from = last + n[k].w;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* All items call it, when none of them reads the tally any more. */
AIRY_INLINE void clear_bins(__global airy_clip_tally *tally)
{
    const uint item = get_local_id(0);
    __global uint4 *all = (__global uint4 *)tally->counts; /* and what lies behind */
#pragma unroll
    for (uint k = 0u; k < 3u * OWN_BINS / 4u; k++)
        all[k * GROUP + item] = (uint4)(0u);
    if (item == 0u)
        tally->valid = tally->below = 0u;
}

AIRY_INLINE real most_of(__global const airy_clip_tally *tally, uint bin)
{
    return of_key((real_key)ordered((real_key)tally->most[bin]));
}

AIRY_INLINE real least_of(__global const airy_clip_tally *tally, uint bin)
{
    return of_key((real_key)ordered((real_key)~tally->least[bin]));
}

/* Sums over the items' elements in [lo, hi]: of d = (x - base) / unit, of d^2,
 * their count, and the count of those below. Uneven rounding is no matter: bounds are guesses. */
AIRY_INLINE float4 look_sums(__local struct looking *w, const real_key *keys, real lo, real hi,
                             real base, real per_unit)
{
    const uint item = get_local_id(0);
    float sum = 0.0f, squares = 0.0f;
    uint both = 0u; /* inside, and below: fewer than 2^16 */
#pragma unroll
    for (uint k = 0u; k < CUT_EACH; k++) {
        const real x = of_key(keys[k]);
        const bool in = keys[k] < NO_KEY && x >= lo && x <= hi;
        /* Squares of what lies further out do not fit; it goes at once. */
        const float d = in ? clamp((x - base) * per_unit, -1e15f, 1e15f) : 0.0f;
        sum += d;
        squares += d * d;
        both += (in ? 1u : 0u) + (x < lo ? 1u << 16 : 0u);
    }
#pragma unroll
    for (uint m = AIRY_WARP / 2u; m > 0u; m /= 2u) {
        sum += as_float(AIRY_SHUFFLE_XOR(as_uint(sum), m));
        squares += as_float(AIRY_SHUFFLE_XOR(as_uint(squares), m));
        both += AIRY_SHUFFLE_XOR(both, m);
    }
    if (item % AIRY_WARP == 0u)
        w->passed[item / AIRY_WARP] =
            (float4)(sum, squares, (float)(both & 0xffffu), (float)(both >> 16));
    barrier(CLK_LOCAL_MEM_FENCE);
    float4 all = w->passed[0];
#pragma unroll
    for (uint r = 1u; r < GROUP / AIRY_WARP; r++)
        all += w->passed[r];
    barrier(CLK_LOCAL_MEM_FENCE);
    return all;
}

/* Clips a quarter of the sample until little goes. */
AIRY_INLINE struct look_cut cut_sample(__local struct looking *w, const struct look_bins *b,
                                       __global const airy_clip_state *state,
                                       const airy_clip_geom *g)
{
    const real base = middle_of(b, bin_at(w, b->n / 2u));
    struct look_cut c = {-(real)INFINITY, (real)INFINITY, base, b->n / 2u};
#if TAILS
    const real per_unit = (real)1 / b->unit;
    real_key keys[CUT_EACH];
#pragma unroll
    for (uint k = 0u; k < CUT_EACH; k++) {
        const uint i = k * CUT_STEP + get_local_id(0);
        keys[k] = i < g->samples ? state->looked[i] : NO_KEY;
    }
    float left = 0.0f, whole = 0.0f;
#pragma unroll 1
    for (uint pass = 0u; b->n != 0u && pass < 64u; pass++) {
        const float4 s = look_sums(w, keys, c.lo, c.hi, base, per_unit);
        const float count = s.z;
        if (count == 0.0f)
            break;
        whole = pass == 0u ? count : whole;
        c.middle = (uint)((s.w + 0.5f * count) * ((float)b->n / whole));
        const float mean = s.x / count, spread = sqrt(fmax(s.y / count - mean * mean, 0.0f));
        c.center = g->mean != 0u ? base + mean * b->unit : middle_of(b, bin_at(w, c.middle));
        if ((pass != 0u && count >= left * (1.0f - 0x1p-11f)) ||
            (g->passes != 0ul && pass >= g->passes))
            break;
        left = count;
        if (!isinf(g->kappa_low))
            c.lo = fmax(c.lo, c.center - (float)g->kappa_low * spread * b->unit);
        if (!isinf(g->kappa_high))
            c.hi = fmin(c.hi, c.center + (float)g->kappa_high * spread * b->unit);
    }
    c.middle = min(c.middle, b->n - 1u);
#else
    (void)state;
    (void)g;
#endif
    return c;
}

/* Writes what the walk is to sum and to list. The first warp calls it: an item looks for a rank. */
AIRY_INLINE void write_plan(__global airy_clip_plan *to, __global const airy_clip_tally *tally,
                            __local const struct looking *w, const struct look_bins *b,
                            const struct look_cut *c, const airy_clip_geom *g)
{
    airy_clip_plan plan = {0.0, -(double)REAL_MAX, (double)REAL_MAX, (double)INFINITY,
                           -(double)INFINITY};
    /* The window goes from the median of all to that of what is left. */
    const uint most = b->n != 0u ? b->n - 1u : 0u, margin = margin_of(b->n), middle = c->middle,
               first = min(middle, b->n / 2u), last = max(middle, b->n / 2u),
               item = get_local_id(0),
               rank = item == 0u   ? middle
                      : item == 1u ? (first > margin ? first - margin : 0u)
                      : item == 2u ? min(last + margin, most)
                      : item == 3u ? (middle > margin ? middle - margin : 0u)
                                   : min(middle + margin, most);
    const uint own = bin_at(w, rank);
    uint bins[5];
#pragma unroll
    for (uint i = 0u; i < 5u; i++)
        bins[i] = AIRY_SHUFFLE(own, i);
    if (b->n != 0u) {
        plan.pivot = (double)most_of(tally, bins[0]);
        if (g->median != 0u) {
            plan.window_lo = (double)least_of(tally, bins[1]);
            plan.window_hi = (double)most_of(tally, bins[2]);
        }
#if TAILS
        /* The true center moves the bounds with it; a margin for what a sample does not know. */
        const double shy = 0.1, center = (double)c->center, lo = (double)c->lo, hi = (double)c->hi,
                     before = (double)middle_of(b, bins[3]), behind = (double)middle_of(b, bins[4]);
        if (!isinf(lo))
            plan.core_lo = fmin(fmax(behind - center, 0.0) + lo + shy * (center - lo), center);
        if (!isinf(hi))
            plan.core_hi = fmax(hi - shy * (hi - center) - fmax(center - before, 0.0), center);
        plan.core_lo = (double)real_not_less(plan.core_lo);
        plan.core_hi = (double)real_not_more(plan.core_hi);
        plan.window_lo = fmax(plan.window_lo, plan.core_lo);
        plan.window_hi = fmin(plan.window_hi, plan.core_hi);
#endif
    }
    if (get_local_id(0) == 0u)
        *to = plan;
}

/*
 * True in all items of the group that comes last of an image's, which sees what the others wrote.
 * ticket: 0 before and after.
 */
AIRY_INLINE bool comes_last(__global uint *ticket, __local uint *last)
{
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0u) {
        AIRY_FENCE();
        *last = atomic_inc(ticket) + 1u == get_num_groups(0);
        if (*last != 0u) {
            *ticket = 0u;
            AIRY_FENCE();
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return *last != 0u;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
clip_look(__global const T *src, __global const uchar *mask, __global airy_clip_state *state,
          __global airy_clip_tally *tallies, const airy_clip_geom g)
{
    __local struct looking w;
    const uint item = get_local_id(0), at = get_global_id(0);
    __global airy_clip_tally *tally = tallies + own_image();
    src += own_image() * g.src_step;
    mask += own_image() * g.mask_step;
    state += own_image();
    const real_key key = at < g.samples ? sampled(src, mask, &g, at) : NO_KEY,
                   rough = sampled(src, mask, &g, item * g.samples / ROUGH);
    if (item == 0u)
        w.known = w.counted = 0u;
    clear_buckets(state);
    barrier(CLK_LOCAL_MEM_FENCE);
    struct look_bins b = place_bins(&w, rough);
    fill_bins(&w, tally, &b, key);
#if TAILS
    state->looked[at] = key;
#endif
    if (!comes_last(&tally->done, &w.last))
        return;
    take_bins(&w, tally, &b);
    const struct look_cut cut = cut_sample(&w, &b, state, &g);
    if (item < AIRY_WARP)
        write_plan(&state->plan, tally, &w, &b, &cut, &g);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    clear_bins(tally);
}

#endif
