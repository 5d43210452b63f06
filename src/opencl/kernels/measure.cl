/*
 * Measures of the labels of an image: one walk for counts, boxes, places and extremes, a second one
 * for sums, which are scaled by what the first one found. Everything that items add to each other
 * is a whole number, so no order changes a bit.
 *
 * Build option: T: type of the values. Mapping of the walks: an item takes AIRY_LABEL_WALK_EACH
 * words of 32 pixels, and adds once for each stretch of a row that has one label; groups of
 * AIRY_LABEL_GROUP. No local memory.
 */
#include "opencl/kernels/label_part.h"

#ifndef T
#define T float
#endif

/* Bits of the pixels whose labels are wanted, and a cleared table. Local memory: 32 bytes. */
__kernel __attribute__((reqd_work_group_size(AIRY_LABEL_GROUP, 1, 1))) void
measure_bits(__global const uint *labels, __global uint *bits, __global airy_label_part *parts,
             const airy_label_geom g)
{
    const uint lane = get_local_id(0) % 32u, team = get_local_id(0) / 32u,
               teams = AIRY_LABEL_GROUP / 32u;
    const size_t start = (size_t)get_group_id(0) * (teams * AIRY_LABEL_WRITE_EACH);
    if (get_global_id(0) == 0u)
        parts[0].count = g.count;
    for (size_t i = get_global_id(0); i < g.count; i += get_global_size(0))
        airy_label_clear(&parts[i + 1u], g.depth);
    bool wanted[AIRY_LABEL_WRITE_EACH];
#pragma unroll
    for (uint k = 0u; k < AIRY_LABEL_WRITE_EACH; k++) {
        const size_t word = start + k * teams + team;
        const uint row = (uint)(word / g.words), x = (uint)(word % g.words) * 32u + lane;
        const uint z = row / g.height, y = row % g.height;
        const bool there = word < g.total && x < g.width;
        const uint label =
            there ? labels[g.labels.offset + z * g.labels.step_z + y * g.labels.step_y + x] : 0u;
        wanted[k] = label - 1u < g.count; /* as u32 negative labels are above any count */
    }
#ifdef AIRY_WARP
#pragma unroll
    for (uint k = 0u; k < AIRY_LABEL_WRITE_EACH; k++) {
        const uint word = AIRY_BALLOT(wanted[k]);
        if (lane == 0u && start + k * teams + team < g.total)
            bits[start + k * teams + team] = word;
    }
#else
    __local uint room[AIRY_LABEL_GROUP / 32u];
    for (uint k = 0u; k < AIRY_LABEL_WRITE_EACH; k++) {
        if (lane == 0u)
            room[team] = 0u;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (wanted[k])
            atomic_or(&room[team], 1u << lane);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane == 0u && start + k * teams + team < g.total)
            bits[start + k * teams + team] = room[team];
    }
#endif
}

/* A cleared table. Mapping: items take labels in turn. */
__kernel void measure_clear(__global airy_label_part *parts, const airy_label_geom g)
{
    if (get_global_id(0) == 0u)
        parts[0].count = g.count;
    for (size_t i = get_global_id(0); i < g.count; i += get_global_size(0))
        airy_label_clear(&parts[i + 1u], g.depth);
}

#if defined(AIRY_FP64) && defined(AIRY_INT64_ATOMICS)

/* Pixels of one label that follow each other in a row; label 0: none yet. */
struct stretch {
    uint label, row;
};

AIRY_INLINE void add_64(__global ulong *sum, ulong v)
{
#ifdef AIRY_ADD_64
    AIRY_ADD_64(sum, v);
#else
    atom_add(sum, v);
#endif
}

/* Whether an item has anything to do; asked of all its words at once, since most are 0. */
AIRY_INLINE bool has_pixels(__global const uint *bits, size_t start, uint total)
{
    uint any = 0u;
#pragma unroll
    for (uint k = 0u; k < AIRY_LABEL_WALK_EACH; k++)
        any |= bits[min(start + k, (size_t)total - 1u)];
    return start < total && any != 0u;
}

struct extent {
    uint count, first, last;
    ulong place;
    double least, most;
    bool nan;
};

AIRY_INLINE struct extent no_extent(void)
{
    const struct extent e = {0u, UINT_MAX, 0u, 0ul, INFINITY, -INFINITY, false};
    return e;
}

AIRY_INLINE void add_extent(__global airy_label_part *parts, const airy_label_geom *g,
                            struct stretch s, struct extent e)
{
    if (s.label == 0u)
        return;
    __global airy_label_part *p = parts + s.label;
    const uint z = s.row / g->height, y = s.row % g->height;
    atomic_add(&p->count, e.count);
    atomic_min(&p->first[2], e.first);
    atomic_max(&p->last[2], e.last);
    atomic_min(&p->first[1], y);
    atomic_max(&p->last[1], y);
    add_64(&p->place[2], e.place);
    add_64(&p->place[1], (ulong)y * e.count);
    if (g->depth > 1u) {
        atomic_min(&p->first[0], z);
        atomic_max(&p->last[0], z);
        add_64(&p->place[0], (ulong)z * e.count);
    }
    if (e.nan)
        atomic_or(&p->nan, 1u);
    if (e.least <= e.most) {
        /* -0 as 0 */
        atom_min(&p->least, airy_label_key(as_ulong(e.least + 0.0)));
        atom_max(&p->most, airy_label_key(as_ulong(e.most + 0.0)));
    }
}

__kernel __attribute__((reqd_work_group_size(AIRY_LABEL_GROUP, 1, 1))) void
measure_extents(__global const T *src, __global const uint *labels, __global const uint *bits,
                __global airy_label_part *parts, const airy_label_geom g)
{
    const size_t start = (size_t)get_global_id(0) * AIRY_LABEL_WALK_EACH;
    const uint count = min(parts[0].count, g.capacity);
    struct stretch s = {0u, 0u};
    struct extent e = no_extent();
    if (!has_pixels(bits, start, g.total))
        return;
    for (size_t word = start; word < start + AIRY_LABEL_WALK_EACH && word < g.total; word++) {
        const uint row = (uint)(word / g.words), x0 = (uint)(word % g.words) * 32u;
        const uint z = row / g.height, y = row % g.height;
        __global const T *from = src + g.src.offset + z * g.src.step_z + y * g.src.step_y;
        __global const uint *of = labels + g.labels.offset + z * g.labels.step_z +
                                  y * g.labels.step_y;
        for (uint left = bits[word]; left != 0u; left &= left - 1u) {
            const uint x = x0 + 31u - clz(left & (0u - left)), label = of[x];
            if (label - 1u >= count)
                continue;
            if (label != s.label || row != s.row) {
                add_extent(parts, &g, s, e);
                s.label = label;
                s.row = row;
                e = no_extent();
            }
            const double v = (double)from[x];
            e.count++;
            e.first = min(e.first, x);
            e.last = x;
            e.place += x;
            e.least = v < e.least ? v : e.least;
            e.most = v > e.most ? v : e.most;
            e.nan = e.nan || isnan(v);
        }
    }
    add_extent(parts, &g, s, e);
}

/* How a label's values and places are scaled, and its sums so far. */
struct sums {
    double by, by_x, least, most; /* by: 0 where some value is not finite */
    uint first;
    uint least_at, most_at;
    double sum, x, xx;
};

AIRY_INLINE double power_of_two(int k)
{
    return as_double((ulong)(1023 + k) << 52);
}

AIRY_INLINE struct sums start_sums(__global const airy_label_part *p)
{
    struct sums s = {0.0, 0.0, NAN, NAN, 0u, UINT_MAX, UINT_MAX, 0.0, 0.0, 0.0};
    const ulong least = p->least, most = p->most;
    if (least <= most) {
        s.least = as_double(airy_label_unkey(least));
        s.most = as_double(airy_label_unkey(most));
        const uint e = airy_label_exponent(least, most);
        /* 2^(1022 - e); of the two largest exponents that is below the normal numbers. */
        if (e < 2047u && p->nan == 0u)
            s.by = e < 2045u ? power_of_two(1022 - (int)e) : as_double(1ul << (2096u - e));
    }
    s.first = p->first[2];
    s.by_x = power_of_two(-(int)airy_label_log2(p->last[2] - s.first + 1u));
    return s;
}

/* v, in units that all stretches share, added in two words. */
AIRY_INLINE void add_wide(__global ulong *wide, double v, double unit)
{
    if (v == 0.0)
        return;
    const double t = v * unit, high = floor(t * 0x1p-32);
    add_64(&wide[0], (ulong)(long)high);
    add_64(&wide[1], (ulong)rint(t - high * 0x1p32));
}

AIRY_INLINE void add_sums(__global airy_label_part *parts, const airy_label_geom *g,
                          struct stretch at, struct sums s)
{
    if (at.label == 0u)
        return;
    __global airy_label_part *p = parts + at.label;
    const uint z = at.row / g->height, y = at.row % g->height;
    if (s.least_at != UINT_MAX)
        atomic_min(&p->least_at, s.least_at);
    if (s.most_at != UINT_MAX)
        atomic_min(&p->most_at, s.most_at);
    if (s.by == 0.0)
        return;
    const double unit = power_of_two((int)airy_label_bits(p->count));
    const uint y0 = p->first[1];
    const double v = (double)(y - y0) * power_of_two(-(int)airy_label_log2(p->last[1] - y0 + 1u));
    add_wide(p->wide[AIRY_LABEL_SUM], s.sum, unit);
    add_wide(p->wide[AIRY_LABEL_X], s.x, unit);
    add_wide(p->wide[AIRY_LABEL_Y], s.sum * v, unit);
    add_wide(p->wide[AIRY_LABEL_XX], s.xx, unit);
    add_wide(p->wide[AIRY_LABEL_YY], s.sum * v * v, unit);
    add_wide(p->wide[AIRY_LABEL_XY], s.x * v, unit);
    if (g->depth > 1u) {
        const uint z0 = p->first[0];
        const double w = (double)(z - z0) *
                         power_of_two(-(int)airy_label_log2(p->last[0] - z0 + 1u));
        add_wide(p->wide[AIRY_LABEL_Z], s.sum * w, unit);
    }
}

__kernel __attribute__((reqd_work_group_size(AIRY_LABEL_GROUP, 1, 1))) void
measure_sums(__global const T *src, __global const uint *labels, __global const uint *bits,
             __global airy_label_part *parts, const airy_label_geom g)
{
    const size_t start = (size_t)get_global_id(0) * AIRY_LABEL_WALK_EACH;
    const uint count = min(parts[0].count, g.capacity);
    struct stretch at = {0u, 0u};
    struct sums s = {0.0, 0.0, NAN, NAN, 0u, UINT_MAX, UINT_MAX, 0.0, 0.0, 0.0};
    if (!has_pixels(bits, start, g.total))
        return;
    for (size_t word = start; word < start + AIRY_LABEL_WALK_EACH && word < g.total; word++) {
        const uint row = (uint)(word / g.words), x0 = (uint)(word % g.words) * 32u;
        const uint z = row / g.height, y = row % g.height;
        __global const T *from = src + g.src.offset + z * g.src.step_z + y * g.src.step_y;
        __global const uint *of = labels + g.labels.offset + z * g.labels.step_z +
                                  y * g.labels.step_y;
        for (uint left = bits[word]; left != 0u; left &= left - 1u) {
            const uint x = x0 + 31u - clz(left & (0u - left)), label = of[x];
            if (label - 1u >= count)
                continue;
            if (label != at.label || row != at.row) {
                add_sums(parts, &g, at, s);
                at.label = label;
                at.row = row;
                s = start_sums(parts + label);
            }
            const double v = (double)from[x];
            const uint pixel = row * g.width + x;
            s.least_at = v == s.least ? min(s.least_at, pixel) : s.least_at;
            s.most_at = v == s.most ? min(s.most_at, pixel) : s.most_at;
            if (s.by != 0.0) {
                const double t = v * s.by, u = (double)(x - s.first) * s.by_x;
                s.sum += t;
                s.x += t * u;
                s.xx += t * u * u;
            }
        }
    }
    add_sums(parts, &g, at, s);
}

#endif
