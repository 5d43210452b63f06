/*
 * Measures of the labels of an image: one walk for counts, boxes, places and extremes, a second one
 * for sums, which are scaled by what the first one found. Everything that items add to each other
 * is a whole number, so no order changes a bit.
 *
 * runs: labels of the runs of all words, 2^shift for each, from word runs_at on. Where g.split is set, runs are bounded by
 * labels as well as by background, and their first bits follow the bits of all words.
 *
 * Build option: T: type of the values. Mapping of the walks: an item a word of 32 pixels; groups of
 * AIRY_LABEL_GROUP. No local memory, but for measure_runs.
 */
#ifndef T
#define T float
#endif
#include "opencl/kernels/label_part.h"

#define GROUP AIRY_LABEL_GROUP

/* A cleared table. Mapping: items take words of it in turn. */
__kernel void measure_clear(__global airy_label_part *parts, const airy_label_geom g)
{
    if (get_global_id(0) == 0u)
        parts[0].count = g.count;
    airy_label_clear(parts + 1, g.count, g.depth, get_global_id(0), get_global_size(0));
}

#if defined(AIRY_FP64) && defined(AIRY_INT64_ATOMICS)

/* Bits and first bits of a word's runs; their labels to runs. As u32 negative ones are above all. */
AIRY_INLINE uint find_runs(__global const uint *labels, uint width, uint count,
                           __global uint *runs, uint *heads)
{
    uint bits = 0u, before = 0u, rank = 0u;
    *heads = 0u;
    for (uint c = 0u; c < width; c++) {
        const uint label = labels[c];
        if (label - 1u < count) {
            bits |= 1u << c;
            if (label != before) {
                *heads |= 1u << c;
                runs[rank++] = label;
            }
        }
        before = label;
    }
    return bits;
}

#ifdef AIRY_WARP
/* The same for the words of a group, by 32 items each. */
AIRY_INLINE void find_group_runs(__global const uint *labels, __local const ulong *place,
                                 uint count, __global uint *runs, uint shift,
                                 __local uint *words, __local uint *firsts)
{
    const uint lane = get_local_id(0) % 32u, team = get_local_id(0) / 32u;
    for (uint i = team * 32u; i < team * 32u + 32u; i += 8u) {
        uint label[8];
#pragma unroll
        for (uint k = 0u; k < 8u; k++)
            label[k] = lane < (uint)(place[i + k] >> 56)
                           ? labels[(place[i + k] & (ULONG_MAX >> 8)) + lane]
                           : 0u;
#pragma unroll
        for (uint k = 0u; k < 8u; k++) {
            const bool wanted = label[k] - 1u < count;
            const uint bits = AIRY_BALLOT(wanted);
            if (bits == 0u) {
                if (lane == 0u)
                    words[i + k] = firsts[i + k] = 0u;
                continue;
            }
            const uint before = AIRY_SHUFFLE_UP(label[k], 1u);
            const bool begins = wanted && (lane == 0u || before != label[k]);
            const uint heads = AIRY_BALLOT(begins);
            if (begins)
                runs[((size_t)(get_group_id(0) * GROUP + i + k) << shift) + rank_of(heads, lane)] =
                    label[k];
            if (lane == 0u) {
                words[i + k] = bits;
                firsts[i + k] = heads;
            }
        }
    }
}
#endif

/*
 * Runs of a label image, and the first walk. Local memory: 4 KiB. Barriers: 2.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
measure_runs(__global const T *src, __global const uint *labels, __global uint *runs,
             __global uint *bits, __global airy_label_part *parts, const airy_label_geom g)
{
    const uint word = (uint)get_global_id(0);
    const bool there = word < g.total;
    const struct place at = place_of(there ? word : 0u, &g);
    const uint width = there ? min(32u, g.width - at.x) : 0u;
    __global uint *own = runs + ((size_t)word << g.shift);
    uint heads;
#ifdef AIRY_WARP
    const uint item = get_local_id(0);
    __local uint words[GROUP], firsts[GROUP];
    __local ulong place[GROUP];
    place[item] = element_of(&g.labels, &at) | (ulong)width << 56;
    barrier(CLK_LOCAL_MEM_FENCE);
    find_group_runs(labels, place, g.count, runs, g.shift, words, firsts);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const uint here = words[item];
    heads = firsts[item];
#else
    const uint here = find_runs(labels + element_of(&g.labels, &at), width, g.count, own, &heads);
#endif
    if (there) {
        bits[word] = here;
        bits[(size_t)g.total + word] = heads;
    }
    walk_extents(parts, &g, src + element_of(&g.src, &at), here, heads, at, own, g.count);
}

/* The bits of a word and the first ones of its runs; 0 behind the last one. */
AIRY_INLINE uint load_word(__global const uint *bits, const airy_label_geom *g, uint word,
                           uint *heads)
{
    const uint here = word < g->total ? bits[word] : 0u;
    *heads = heads_of(here);
    if (g->split != 0u && here != 0u)
        *heads = bits[(size_t)g->total + word];
    return here;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
measure_extents(__global const T *src, __global const uint *runs, __global const uint *bits,
                __global airy_label_part *parts, const airy_label_geom g)
{
    const uint word = (uint)get_global_id(0);
    uint heads;
    const uint here = load_word(bits, &g, word, &heads);
    const struct place at = place_of(here != 0u ? word : 0u, &g);
    walk_extents(parts, &g, src + element_of(&g.src, &at), here, heads, at,
                 runs + (((size_t)g.runs_at + word) << g.shift), g.count);
}

/* How a label's values and places are scaled, and its sums over a word's pixels. */
struct sums {
    double by, by_x, least, most; /* by: 0 where some value is not finite */
    uint label, first, least_at, most_at;
    double sum, x, xx;
};

AIRY_INLINE struct sums no_sums(void)
{
    const struct sums s = {0.0, 0.0, NAN, NAN, 0u, 0u, UINT_MAX, UINT_MAX, 0.0, 0.0, 0.0};
    return s;
}

AIRY_INLINE double power_of_two(int k)
{
    return as_double((ulong)(1023 + k) << 52);
}

AIRY_INLINE struct sums start_sums(__global const airy_label_part *p, uint label)
{
    struct sums s = no_sums();
    const ulong least = p->least, most = p->most;
    if (least <= most) {
        s.least = as_double(airy_label_unkey(least));
        s.most = as_double(airy_label_unkey(most));
        const uint e = airy_label_exponent(least, most);
        /* 2^(1022 - e); of the two largest exponents that is below the normal numbers. */
        if (e < 2047u && p->nan == 0u)
            s.by = e < 2045u ? power_of_two(1022 - (int)e) : as_double(1ul << (2096u - e));
    }
    s.label = label;
    s.first = p->first[2];
    s.by_x = power_of_two(-(int)airy_label_log2(p->last[2] - s.first + 1u));
    return s;
}

/* v, in units that all items share, added in two words. */
AIRY_INLINE void add_wide(__global ulong *wide, double v, double unit, const struct team *t)
{
    const double scaled = v * unit, high = floor(scaled * 0x1p-32);
    const ulong a = join_sum_64(t, (ulong)(long)high, 0ul),
                b = join_sum_64(t, (ulong)rint(scaled - high * 0x1p32), 0ul);
    if (t->adds && (a | b) != 0ul) {
        add_64(&wide[0], a);
        add_64(&wide[1], b);
    }
}

AIRY_INLINE void add_sums(__global airy_label_part *parts, const struct sums *s,
                          const struct place *at, uint depth, const struct team *t)
{
    __global airy_label_part *p = parts + s->label;
    const uint least_at = join_min(t, s->least_at, UINT_MAX),
               most_at = join_min(t, s->most_at, UINT_MAX);
    if (t->adds && least_at != UINT_MAX)
        atomic_min(&p->least_at, least_at);
    if (t->adds && most_at != UINT_MAX)
        atomic_min(&p->most_at, most_at);
    double unit = 0.0, v = 0.0, w = 0.0; /* places in the box, y and z */
    if (s->by != 0.0) {
        const uint y0 = p->first[1], z0 = p->first[0];
        unit = power_of_two((int)airy_label_bits(p->count));
        v = (double)(at->y - y0) * power_of_two(-(int)airy_label_log2(p->last[1] - y0 + 1u));
        w = (double)(at->z - z0) * power_of_two(-(int)airy_label_log2(p->last[0] - z0 + 1u));
    }
    add_wide(p->wide[AIRY_LABEL_SUM], s->sum, unit, t);
    add_wide(p->wide[AIRY_LABEL_X], s->x, unit, t);
    add_wide(p->wide[AIRY_LABEL_Y], s->sum * v, unit, t);
    add_wide(p->wide[AIRY_LABEL_XX], s->xx, unit, t);
    add_wide(p->wide[AIRY_LABEL_YY], s->sum * v * v, unit, t);
    add_wide(p->wide[AIRY_LABEL_XY], s->x * v, unit, t);
    if (depth > 1u)
        add_wide(p->wide[AIRY_LABEL_Z], s->sum * w, unit, t);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
measure_sums(__global const T *src, __global const uint *runs, __global const uint *bits,
             __global airy_label_part *parts, const airy_label_geom g)
{
    const uint word = (uint)get_global_id(0), count = min(parts[0].count, g.capacity);
    uint heads, rank = 0u, label = 0u;
    const uint here = load_word(bits, &g, word, &heads);
    const struct place at = place_of(here != 0u ? word : 0u, &g);
    __global const T *from = src + element_of(&g.src, &at);
    runs += ((size_t)g.runs_at + word) << g.shift;
    struct sums s = no_sums();
    for (uint left = here; left != 0u; left &= left - 1u) {
        const uint c = lowest(left), x = at.x + c, pixel = at.row * g.width + x;
        if ((heads >> c & 1u) != 0u) {
            label = runs[rank++];
            label = label - 1u < count ? label : 0u;
        }
        if (label == 0u)
            continue;
        if (label != s.label) {
            const struct team alone = no_team(s.label);
            if (s.label != 0u)
                add_sums(parts, &s, &at, g.depth, &alone);
            s = start_sums(parts + label, label);
        }
        const double v = (double)from[c];
        s.least_at = v == s.least ? min(s.least_at, pixel) : s.least_at;
        s.most_at = v == s.most ? min(s.most_at, pixel) : s.most_at;
        if (s.by != 0.0) {
            const double t = v * s.by, u = (double)(x - s.first) * s.by_x;
            s.sum += t;
            s.x += t * u;
            s.xx += t * u * u;
        }
    }
    const struct team t = find_team(s.label);
    add_sums(parts, &s, &at, g.depth, &t);
}

/* A sum of two words. */
AIRY_INLINE double wide_value(__global const ulong *wide)
{
    return (double)(long)(wide[0] + (wide[1] >> 32)) * 0x1p32 + (double)(wide[1] & UINT_MAX);
}

AIRY_INLINE void set_place(__global ulong *at, uint pixel, const airy_label_geom *g)
{
    const bool there = pixel != UINT_MAX; /* not of NaN only */
    at[0] = there ? pixel / g->width / g->height : 0ul;
    at[1] = there ? pixel / g->width % g->height : 0ul;
    at[2] = there ? pixel % g->width : 0ul;
}

/* Second moments and the ellipse of them, as airy_region_finish makes them. */
AIRY_INLINE void set_shape(__global airy_label_row *r, __global const airy_label_part *p,
                           double sum, const double *u, const double *length)
{
    const double xx = wide_value(p->wide[AIRY_LABEL_XX]), yy = wide_value(p->wide[AIRY_LABEL_YY]),
                 xy = wide_value(p->wide[AIRY_LABEL_XY]);
    const double mxx = length[2] * length[2] * (xx / sum - u[2] * u[2]),
                 myy = length[1] * length[1] * (yy / sum - u[1] * u[1]),
                 mxy = length[2] * length[1] * (xy / sum - u[2] * u[1]),
                 middle = 0.5 * (mxx + myy), reach = hypot(0.5 * (mxx - myy), mxy);
    const bool none = isnan(mxx);
    r->mxx = as_ulong(mxx);
    r->myy = as_ulong(myy);
    r->mxy = as_ulong(mxy);
    r->a = as_ulong(none ? (double)NAN : sqrt(fmax(middle + reach, 0.0)));
    r->b = as_ulong(none ? (double)NAN : sqrt(fmax(middle - reach, 0.0)));
    r->theta = as_ulong(none ? (double)NAN : 0.5 * atan2(2.0 * mxy, mxx - myy));
}

/*
 * Rows of the labels' measures, so that the host has nothing to do but to copy them: what
 * airy_region_finish does. hypot and atan2 are within 4 and 6 ulp here. Mapping: an item a row.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
measure_finish(__global airy_label_part *parts, const airy_label_geom g)
{
    const uint label = (uint)get_global_id(0), count = parts[0].count;
    __global airy_label_row *r = (__global airy_label_row *)(parts + g.capacity + 1u) + label;
    if (label == 0u)
        r->count = count;
    if (label == 0u || label > min(count, g.capacity))
        return;
    __global const airy_label_part *p = parts + label;
    const uint n = p->count;
    const bool there = n > 0u, numbers = there && p->least <= p->most;
    const double least = numbers ? as_double(airy_label_unkey(p->least)) : (double)NAN,
                 most = numbers ? as_double(airy_label_unkey(p->most)) : (double)NAN;
    const bool sums = numbers && p->nan == 0u && isfinite(least) && isfinite(most);
    const int moments[3] = {AIRY_LABEL_Z, AIRY_LABEL_Y, AIRY_LABEL_X};
    const int exponent =
        sums ? (int)airy_label_exponent(p->least, p->most) - 1022 - (int)airy_label_bits(n) : 0;
    const double sum = sums                 ? wide_value(p->wide[AIRY_LABEL_SUM])
                       : !there             ? 0.0
                       : numbers && !p->nan ? least + most
                                            : (double)NAN;
    double u[3], length[3];
    r->count = n;
    r->sum = as_ulong(there ? ldexp(sum, exponent) : (double)NAN);
    r->mean = as_ulong(ldexp(sum / (double)n, exponent));
    r->least = as_ulong(least);
    r->most = as_ulong(most);
    set_place(r->least_at, numbers ? p->least_at : UINT_MAX, &g);
    set_place(r->most_at, numbers ? p->most_at : UINT_MAX, &g);
    for (int i = 0; i < 3; i++) {
        const uint first = there ? p->first[i] : 0u, last = there ? p->last[i] : 0u;
        length[i] = power_of_two((int)airy_label_log2(last - first + 1u));
        u[i] = sums && sum != 0.0 ? wide_value(p->wide[moments[i]]) / sum : (double)NAN;
        r->first[i] = first;
        r->last[i] = last;
        r->center[i] = as_ulong((double)first + length[i] * u[i]);
        r->centroid[i] = as_ulong((there ? (double)p->place[i] : 0.0) / (double)n);
    }
    if (sums) {
        set_shape(r, p, sum, u, length);
    } else {
        const ulong none = as_ulong((double)NAN);
        r->mxx = r->myy = r->mxy = r->a = r->b = r->theta = none;
    }
}

#endif
