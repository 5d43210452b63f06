/*
 * Measures of the labels of an image: one walk for counts, boxes, places and extremes, a second one
 * for sums, which are scaled by what the first one found. Everything that items add to each other
 * is a whole number, so no order changes a bit.
 *
 * Build option: T: type of the values. Mapping of the walks: an item takes AIRY_LABEL_WALK_EACH
 * words of 32 pixels, and adds once for each stretch of a row that has one label; where many items
 * end with the same label, the group adds their last stretches once. Groups of AIRY_LABEL_GROUP.
 * Local memory: 2 KiB. Barriers: 3, and 10 for each of 13 or 16 numbers that the group adds.
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

/* From so many items on a group adds their numbers first: else atomics wait for each other. */
#define SHARED 32u

/* The label that the items' last stretches have, if they are many and it is one; else 0. */
AIRY_INLINE uint shared_label(uint label, __local uint *seen)
{
    if (get_local_id(0) == 0u) {
        seen[0] = UINT_MAX;
        seen[1] = seen[2] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (label != 0u) {
        atomic_min(&seen[0], label);
        atomic_max(&seen[1], label);
        atomic_inc(&seen[2]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint shared = seen[0] == seen[1] && seen[2] >= SHARED ? seen[0] : 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    return shared;
}

enum how { SUM_OF, LEAST_OF, MOST_OF };

/* Of all items of the group; all call it. */
AIRY_INLINE ulong group_of(enum how how, ulong v, __local ulong *room)
{
    const uint item = get_local_id(0);
    room[item] = v;
    for (uint step = AIRY_LABEL_GROUP / 2u; step > 0u; step /= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < step) {
            const ulong a = room[item], b = room[item + step];
            room[item] = how == SUM_OF ? a + b : how == LEAST_OF ? min(a, b) : max(a, b);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong all = room[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return all;
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

/* What an extent adds: neutral numbers where there is none. */
struct extent_words {
    ulong count, place[3], first[3], last[3], least, most, nan;
};

AIRY_INLINE struct extent_words extent_words(const airy_label_geom *g, struct stretch s,
                                             struct extent e)
{
    const bool none = s.label == 0u, numbers = e.least <= e.most;
    const uint at[3] = {s.row / g->height, s.row % g->height, 0u};
    struct extent_words w;
    w.count = e.count;
    for (uint i = 0u; i < 3u; i++) {
        w.place[i] = i < 2u ? (ulong)at[i] * e.count : e.place;
        w.first[i] = none ? UINT_MAX : i < 2u ? at[i] : e.first;
        w.last[i] = none ? 0u : i < 2u ? at[i] : e.last;
    }
    /* -0 as 0 */
    w.least = numbers ? airy_label_key(as_ulong(e.least + 0.0)) : ULONG_MAX;
    w.most = numbers ? airy_label_key(as_ulong(e.most + 0.0)) : 0ul;
    w.nan = e.nan ? 1ul : 0ul;
    return w;
}

AIRY_INLINE void put_extent(__global airy_label_part *p, const airy_label_geom *g,
                            struct extent_words w)
{
    atomic_add(&p->count, (uint)w.count);
    for (uint i = g->depth > 1u ? 0u : 1u; i < 3u; i++) {
        add_64(&p->place[i], w.place[i]);
        atomic_min(&p->first[i], (uint)w.first[i]);
        atomic_max(&p->last[i], (uint)w.last[i]);
    }
    if (w.nan != 0ul)
        atomic_or(&p->nan, 1u);
    if (w.least <= w.most) {
        atom_min(&p->least, w.least);
        atom_max(&p->most, w.most);
    }
}

AIRY_INLINE struct extent_words group_extent(struct extent_words w, __local ulong *room)
{
    w.count = group_of(SUM_OF, w.count, room);
    for (uint i = 0u; i < 3u; i++) {
        w.place[i] = group_of(SUM_OF, w.place[i], room);
        w.first[i] = group_of(LEAST_OF, w.first[i], room);
        w.last[i] = group_of(MOST_OF, w.last[i], room);
    }
    w.least = group_of(LEAST_OF, w.least, room);
    w.most = group_of(MOST_OF, w.most, room);
    w.nan = group_of(MOST_OF, w.nan, room);
    return w;
}

__kernel __attribute__((reqd_work_group_size(AIRY_LABEL_GROUP, 1, 1))) void
measure_extents(__global const T *src, __global const uint *labels, __global const uint *bits,
                __global airy_label_part *parts, const airy_label_geom g)
{
    __local ulong room[AIRY_LABEL_GROUP];
    __local uint seen[3];
    const size_t start = (size_t)get_global_id(0) * AIRY_LABEL_WALK_EACH;
    const uint count = min(parts[0].count, g.capacity);
    struct stretch s = {0u, 0u};
    struct extent e = no_extent();
    const size_t end = has_pixels(bits, start, g.total)
                           ? min(start + AIRY_LABEL_WALK_EACH, (size_t)g.total)
                           : start;
    for (size_t word = start; word < end; word++) {
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
                if (s.label != 0u)
                    put_extent(parts + s.label, &g, extent_words(&g, s, e));
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
    const uint shared = shared_label(s.label, seen);
    if (shared == 0u) {
        if (s.label != 0u)
            put_extent(parts + s.label, &g, extent_words(&g, s, e));
        return;
    }
    const struct extent_words w = group_extent(extent_words(&g, s, e), room);
    if (get_local_id(0) == 0u)
        put_extent(parts + shared, &g, w);
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

/* What sums add, in units that all stretches of a label share. */
struct sum_words {
    ulong wide[AIRY_LABEL_SUMS][2], least_at, most_at;
};

AIRY_INLINE void set_wide(ulong *wide, double v, double unit)
{
    const double t = v * unit, high = floor(t * 0x1p-32);
    wide[0] = (ulong)(long)high;
    wide[1] = (ulong)rint(t - high * 0x1p32);
}

AIRY_INLINE struct sum_words sum_words(__global const airy_label_part *parts,
                                       const airy_label_geom *g, struct stretch at, struct sums s)
{
    struct sum_words w;
    for (uint i = 0u; i < AIRY_LABEL_SUMS; i++)
        w.wide[i][0] = w.wide[i][1] = 0ul;
    w.least_at = s.least_at;
    w.most_at = s.most_at;
    if (at.label == 0u || s.by == 0.0)
        return w;
    __global const airy_label_part *p = parts + at.label;
    const double unit = power_of_two((int)airy_label_bits(p->count));
    const uint y0 = p->first[1], z0 = p->first[0];
    const double y = (double)(at.row % g->height - y0) *
                     power_of_two(-(int)airy_label_log2(p->last[1] - y0 + 1u)),
                 z = (double)(at.row / g->height - z0) *
                     power_of_two(-(int)airy_label_log2(p->last[0] - z0 + 1u));
    set_wide(w.wide[AIRY_LABEL_SUM], s.sum, unit);
    set_wide(w.wide[AIRY_LABEL_Z], s.sum * z, unit);
    set_wide(w.wide[AIRY_LABEL_Y], s.sum * y, unit);
    set_wide(w.wide[AIRY_LABEL_X], s.x, unit);
    set_wide(w.wide[AIRY_LABEL_XX], s.xx, unit);
    set_wide(w.wide[AIRY_LABEL_YY], s.sum * y * y, unit);
    set_wide(w.wide[AIRY_LABEL_XY], s.x * y, unit);
    return w;
}

AIRY_INLINE void put_sums(__global airy_label_part *p, struct sum_words w)
{
#pragma unroll
    for (uint i = 0u; i < AIRY_LABEL_SUMS; i++)
        for (uint k = 0u; k < 2u; k++)
            if (w.wide[i][k] != 0ul)
                add_64(&p->wide[i][k], w.wide[i][k]);
    if (w.least_at != UINT_MAX)
        atomic_min(&p->least_at, (uint)w.least_at);
    if (w.most_at != UINT_MAX)
        atomic_min(&p->most_at, (uint)w.most_at);
}

AIRY_INLINE struct sum_words group_sums(struct sum_words w, __local ulong *room)
{
#pragma unroll
    for (uint i = 0u; i < AIRY_LABEL_SUMS; i++)
        for (uint k = 0u; k < 2u; k++)
            w.wide[i][k] = group_of(SUM_OF, w.wide[i][k], room);
    w.least_at = group_of(LEAST_OF, w.least_at, room);
    w.most_at = group_of(LEAST_OF, w.most_at, room);
    return w;
}

__kernel __attribute__((reqd_work_group_size(AIRY_LABEL_GROUP, 1, 1))) void
measure_sums(__global const T *src, __global const uint *labels, __global const uint *bits,
             __global airy_label_part *parts, const airy_label_geom g)
{
    __local ulong room[AIRY_LABEL_GROUP];
    __local uint seen[3];
    const size_t start = (size_t)get_global_id(0) * AIRY_LABEL_WALK_EACH;
    const uint count = min(parts[0].count, g.capacity);
    struct stretch at = {0u, 0u};
    struct sums s = {0.0, 0.0, NAN, NAN, 0u, UINT_MAX, UINT_MAX, 0.0, 0.0, 0.0};
    const size_t end = has_pixels(bits, start, g.total)
                           ? min(start + AIRY_LABEL_WALK_EACH, (size_t)g.total)
                           : start;
    for (size_t word = start; word < end; word++) {
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
                if (at.label != 0u)
                    put_sums(parts + at.label, sum_words(parts, &g, at, s));
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
    const uint shared = shared_label(at.label, seen);
    if (shared == 0u) {
        if (at.label != 0u)
            put_sums(parts + at.label, sum_words(parts, &g, at, s));
        return;
    }
    const struct sum_words w = group_sums(sum_words(parts, &g, at, s), room);
    if (get_local_id(0) == 0u)
        put_sums(parts + shared, w);
}

#endif
