/*
 * Where warps exchange in registers: the plan of statistics or a clip (clip_ranks and clip_plan in
 * one) from a sample four times as large, so that fewer elements lie in its window. All groups read
 * the sample; the last one done takes the middle of it apart into bins, in which ranks are found.
 *
 * Build options: those of clip.cl but WIDE, which must be 0.
 * Mapping: groups of 1024 items, one item an element of the sample, in the last group
 * AIRY_CLIP_LOOKED / 1024. Local memory: 28 KiB. Barriers: about 16, and 2 of a few warps for each
 * pass of a clip.
 */
#if defined(AIRY_FP64) && defined(AIRY_WARP)

#include "shared/clip_geom.h"

#define WIDE  0
#define GROUP AIRY_CLIP_LOOKERS
#include "opencl/kernels/clip_element.h"

#define LOOK_EACH (AIRY_CLIP_LOOKED / GROUP)
#define LOOK_BINS (2u * GROUP)
/* Elements that say where the bins lie, and the ranks on either side of their middle: 4.5 standard
 * deviations, sqrt(ROUGH)/2, for the middle of all; more where a clip moves it. */
#define ROUGH      256u
#define ROUGH_AWAY (TAILS ? 56u : 36u)
/* Items whose elements a clip of the sample looks at: the others are done when it begins. */
#define PASSING 256u

/* What the last group shares. */
struct looking {
    struct group_room room;
    real_key4 rough[ROUGH / 4u];
    real_key sorted[ROUGH];
    uint ranks[ROUGH];
    uint from[LOOK_BINS]; /* elements of each bin; then the rank of its first one */
    real_key least[LOOK_BINS], most[LOOK_BINS];
    float4 passed[PASSING / AIRY_WARP];
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
    const real scale = b->width > (real)0 ? (real)LOOK_BINS / b->unit : (real)0;
    return min((uint)((x - b->lo) * scale), LOOK_BINS - 1u);
}

/* The last bin that begins at a rank or before it. */
AIRY_INLINE uint bin_at(__local const struct looking *w, uint rank)
{
    uint b = 0u;
#pragma unroll
    for (uint step = LOOK_BINS / 2u; step > 0u; step /= 2u)
        b += w->from[b + step] <= rank ? step : 0u;
    return b;
}

AIRY_INLINE real place_of(__local const struct looking *w, const struct look_bins *b, uint rank)
{
    return b->lo + ((real)bin_at(w, rank) + (real)0.5) * (b->width * ((real)1 / (real)LOOK_BINS));
}

/* Orders w->rough; NO_KEY comes last. Four items an element. */
AIRY_INLINE void sort_rough(__local struct looking *w)
{
    const uint item = get_local_id(0), own = item / 4u;
    __local const real_key *rough = (__local const real_key *)w->rough;
    const real_key mine = rough[own];
    uint below = 0u;
#pragma unroll 4
    for (uint j = item % 4u; j < ROUGH / 4u; j += 4u) /* of equal ones the first is less */
        below += count_less(w->rough[j], j < own / 4u ? mine + 1 : mine);
    for (uint j = own - own % 4u; j < own && item % 4u == 0u; j++)
        below += rough[j] == mine ? 1u : 0u;
    atomic_add(&w->ranks[own], below);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < ROUGH)
        w->sorted[w->ranks[item]] = rough[item];
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Counts the elements of each bin and below all; the rank at which each begins. */
AIRY_INLINE void fill_bins(__local struct looking *w, const struct look_bins *b,
                           const real_key *keys)
{
    const uint item = get_local_id(0);
    uint below = 0u, unused = 0u;
#pragma unroll
    for (uint k = 0u; k < LOOK_EACH; k++) {
        below += keys[k] < b->first ? 1u : 0u;
        if (keys[k] >= b->first && keys[k] <= b->last) {
            const uint at = bin_of(b, of_key(keys[k]));
            atomic_inc(&w->from[at]);
            atomic_min(&w->least[at], keys[k]);
            atomic_max(&w->most[at], keys[k]);
        }
    }
    group_counts(&below, &unused, &w->room);
    const uint even = w->from[2u * item], both = even + w->from[2u * item + 1u],
               from = below + group_scan(both, &unused, &w->room);
    w->from[2u * item] = from;
    w->from[2u * item + 1u] = from + even;
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Sums over the elements of the first PASSING items in [lo, hi]: of d = (x - base) / unit, of d^2,
 * their count, and the count of those below. Uneven rounding is no matter: bounds are guesses. */
AIRY_INLINE float4 look_sums(__local struct looking *w, const real_key *keys, real lo, real hi,
                             real base, real per_unit)
{
    const uint item = get_local_id(0);
    float sum = 0.0f, squares = 0.0f;
    uint both = 0u; /* inside, and below: fewer than 2^16 */
#pragma unroll
    for (uint k = 0u; k < LOOK_EACH; k++) {
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
    AIRY_PART_SYNC(PASSING);
    float4 all = w->passed[0];
#pragma unroll
    for (uint r = 1u; r < PASSING / AIRY_WARP; r++)
        all += w->passed[r];
    AIRY_PART_SYNC(PASSING);
    return all;
}

/* Clips the sample until little goes. The first PASSING items call it. */
AIRY_INLINE struct look_cut cut_sample(__local struct looking *w, const struct look_bins *b,
                                       const real_key *keys, const airy_clip_geom *g)
{
    const real base = place_of(w, b, b->n / 2u);
    struct look_cut c = {-(real)INFINITY, (real)INFINITY, base, b->n / 2u};
#if TAILS
    const real per_unit = (real)1 / b->unit;
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
        c.center = g->mean != 0u ? base + mean * b->unit : place_of(w, b, c.middle);
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
#endif
    return c;
}

/* Item 0 writes what the walk is to sum and to list. */
AIRY_INLINE void write_plan(__global airy_clip_plan *to, __local const struct looking *w,
                            const struct look_bins *b, const struct look_cut *c,
                            const airy_clip_geom *g)
{
    airy_clip_plan plan = {0.0, -(double)REAL_MAX, (double)REAL_MAX, (double)INFINITY,
                           -(double)INFINITY};
    if (b->n != 0u) {
        /* From the median of all to that of what is left. */
        const uint most = b->n - 1u, margin = margin_of(b->n), middle = c->middle,
                   first = min(middle, b->n / 2u), last = max(middle, b->n / 2u);
        plan.pivot = (double)of_key(w->most[bin_at(w, middle)]);
        if (g->median != 0u) {
            plan.window_lo =
                (double)of_key(w->least[bin_at(w, first > margin ? first - margin : 0u)]);
            plan.window_hi = (double)of_key(w->most[bin_at(w, min(last + margin, most))]);
        }
#if TAILS
        /* The true center moves the bounds with it; a margin for what a sample does not know. */
        const double shy = 0.1, center = (double)c->center, lo = (double)c->lo, hi = (double)c->hi,
                     before = (double)place_of(w, b, middle > margin ? middle - margin : 0u),
                     behind = (double)place_of(w, b, min(middle + margin, most));
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
    *to = plan;
}

/* True in all items of the group that comes last of an image's. ticket: 0 before and after. */
AIRY_INLINE bool comes_last(__global uint *ticket, __local uint *last)
{
    AIRY_FENCE();
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0u) {
        *last = atomic_inc(ticket) + 1u == get_num_groups(0);
        if (*last != 0u)
            *ticket = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    AIRY_FENCE();
    return *last != 0u;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
clip_look(__global const T *src, __global const uchar *mask, __global airy_clip_state *state,
          __global uint *ticket, const airy_clip_geom g)
{
    __local struct looking w;
    const uint item = get_local_id(0), at = get_global_id(0);
    src += own_image() * g.src_step;
    mask += own_image() * g.mask_step;
    state += own_image();
    state->looked[at] = at < g.samples ? sampled(src, mask, &g, at) : NO_KEY;
    clear_buckets(state);
    if (!comes_last(ticket + own_image(), &w.last))
        return;
    real_key keys[LOOK_EACH];
    struct look_bins b = {.n = 0u};
    uint known = 0u;
#pragma unroll
    for (uint k = 0u; k < LOOK_EACH; k++) {
        const uint i = k * GROUP + item;
        keys[k] = i < g.samples ? state->looked[i] : NO_KEY;
        b.n += keys[k] < NO_KEY ? 1u : 0u;
    }
    if (item < ROUGH) {
        const real_key key = state->looked[item * g.samples / ROUGH];
        ((__local real_key *)w.rough)[item] = key;
        w.ranks[item] = 0u;
        known = key < NO_KEY ? 1u : 0u;
    }
    for (uint i = item; i < LOOK_BINS; i += GROUP) {
        w.from[i] = 0u;
        w.least[i] = INT_MAX;
        w.most[i] = INT_MIN;
    }
    group_counts(&b.n, &known, &w.room);
    sort_rough(&w);
    const uint most = known != 0u ? known - 1u : 0u, mid = known / 2u;
    b.first = known != 0u ? w.sorted[mid > ROUGH_AWAY ? mid - ROUGH_AWAY : 0u] : key_of(-REAL_MAX);
    b.last = known != 0u ? w.sorted[min(mid + ROUGH_AWAY, most)] : key_of(REAL_MAX);
    b.lo = of_key(b.first);
    b.width = of_key(b.last) - b.lo;
    b.unit = b.width > (real)0 ? b.width : (real)1;
    fill_bins(&w, &b, keys);
    if (item >= PASSING)
        return;
    const struct look_cut cut = cut_sample(&w, &b, keys, &g);
    if (item == 0u)
        write_plan(&state->plan, &w, &b, &cut, &g);
}

#endif
