/*
 * Entries of bins, by bin, for clips and quantiles. Build options: those of gather_tile.h, CLIPS_BY
 * and LEAVES (ring_geom.h), and ALONE: 1 an item a bin, 0 a work-group of RING_GROUP items a bin.
 */
#ifndef AIRY_KERNELS_RING_ENTRY_H
#define AIRY_KERNELS_RING_ENTRY_H

#include "opencl/kernels/gather_tile.h"
#include "shared/ring_pass_geom.h"

#ifndef ALONE
#define ALONE 0
#endif
#ifndef CLIPS_BY
#define CLIPS_BY 3
#define LEAVES   3
#endif

#if ALONE
#undef RING_GROUP
#define RING_GROUP AIRY_RING_SLICE
#elif !defined RING_GROUP
#define RING_GROUP AIRY_RING_CLIP_GROUP
#endif

/* Whether variances are summed that are expected, and those about the mean. */
#define EXPECTED (LEAVES == 1 || LEAVES == 2)
#define SPREAD   (CLIPS_BY == 3 || LEAVES == 3)

/* The matrix by bin. other: norm in a weighted mean, coef in an unweighted one. */
struct ring_table {
    __global const uint *pixel;
    __global const float *weight, *other, *dark, *variance;
};

/*
 * The arguments of each kernel over bins, as launch_bins of cl_rings.c sets them. type: of an element
 * of the scratch.
 */
#define RING_ARGUMENTS(type)                                                                       \
    __global const airy_ring_bin *bins, __global const uint *pixel, __global const float *weight,  \
        __global const float *other, __global const float *dark, __global const float *variance,   \
        __global const T *frames, __global type *scratch, __global const uint *status,             \
        __global double *sums, const airy_ring_pass g
/* The value of a struct ring_table of these arguments. */
#define RING_TABLE                                                                                 \
    {                                                                                              \
        pixel, weight, other, dark, variance                                                       \
    }

/* An item's own entries are number first + k * RING_GROUP, k < count. */
struct ring_own {
    uint first, count;
};

AIRY_INLINE struct ring_own own_entries(const airy_ring_bin bin, bool good)
{
    const uint item = get_local_id(0);
    struct ring_own own = {bin.first, bin.count};
    if (ALONE == 0) {
        own.first += item;
        own.count = (bin.count + RING_GROUP - 1u - item) / RING_GROUP;
    }
    own.count = good ? own.count : 0u;
    return own;
}

AIRY_INLINE bool frame_is_good(__global const uint *status, uint frame, const airy_gather_geom g)
{
    return g.has_status == 0u || status[g.status_offset + frame] == AIRY_STATUS_GOOD;
}

AIRY_INLINE double value_of(VALUE v)
{
    return to_double(v);
}

/* What an entry adds: s, omega and c. */
struct ring_entry {
    double s, omega, c;
};

AIRY_INLINE struct ring_entry load_entry(const struct ring_table t, uint e, VALUE v)
{
    struct ring_entry entry;
    const double weight = t.weight[e], other = t.other[e];
    entry.c = UNWEIGHTED ? other : weight;
    entry.omega = UNWEIGHTED ? other : weight * other;
    entry.s = weight * (DARK ? value_of(v) - (double)t.dark[e] : value_of(v));
    return entry;
}

AIRY_INLINE double omega_of(const struct ring_table t, uint e)
{
    return UNWEIGHTED ? (double)t.other[e] : (double)t.weight[e] * (double)t.other[e];
}

/* Of the variance that is expected without looking at the spread. */
AIRY_INLINE double expected_variance(const struct ring_table t, uint e, VALUE v)
{
#if LEAVES == 1
    const double weight = t.weight[e];
    return weight * weight * (above_one(v) + 1.0);
#elif LEAVES == 2
    const double weight = t.weight[e];
    (void)v;
    return weight * weight * (double)t.variance[e];
#else
    (void)t, (void)e, (void)v;
    return 0.0;
#endif
}

/* Sums of what is kept; d = s - pivot omega. */
enum ring_sum { R_SIGNAL, R_OMEGA, R_OMEGA2, R_COUNT, R_EXPECTED, R_SQUARES, R_CROSS, R_SUMS };

struct ring_sums {
    double v[R_SUMS];
    uint entries, flags;
};

AIRY_INLINE void clear_sums(struct ring_sums *sums)
{
#pragma unroll
    for (uint i = 0u; i < R_SUMS; i++)
        sums->v[i] = 0.0;
    sums->entries = sums->flags = 0u;
}

AIRY_INLINE void add_sums(struct ring_sums *sums, const struct ring_sums *more)
{
#pragma unroll
    for (uint i = 0u; i < R_SUMS; i++)
        sums->v[i] += more->v[i];
    sums->entries += more->entries;
    sums->flags += more->flags;
}

AIRY_INLINE void add_entry(struct ring_sums *sums, const struct ring_entry entry, double expected,
                           double d)
{
    sums->v[R_SIGNAL] += entry.s;
    sums->v[R_OMEGA] += entry.omega;
    sums->v[R_OMEGA2] = fma(entry.omega, entry.omega, sums->v[R_OMEGA2]);
    sums->v[R_COUNT] += entry.c;
#if EXPECTED
    sums->v[R_EXPECTED] += expected;
#else
    (void)expected;
#endif
#if SPREAD
    sums->v[R_SQUARES] = fma(d, d, sums->v[R_SQUARES]);
    sums->v[R_CROSS] = fma(d, entry.omega, sums->v[R_CROSS]);
#else
    (void)d;
#endif
    sums->entries++;
}

/* The group's sums in a fixed order; all items call. With an item a bin there is nothing to do. */
#if ALONE
struct ring_room {
    uint unused;
};

AIRY_INLINE void group_ring_sums(struct ring_sums *sums, __local struct ring_room *room)
{
    (void)sums, (void)room;
}

AIRY_INLINE double group_ring_sum(double v, __local struct ring_room *room)
{
    (void)room;
    return v;
}
#elif defined(AIRY_WARP)
#define RING_WARPS (RING_GROUP / AIRY_WARP)

struct ring_room {
    double v[R_SUMS][RING_WARPS];
    uint entries[RING_WARPS], flags[RING_WARPS];
};

AIRY_INLINE double shuffle_double(double v, uint m)
{
    uint2 u = as_uint2(v);
    u.x = AIRY_SHUFFLE_XOR(u.x, m);
    u.y = AIRY_SHUFFLE_XOR(u.y, m);
    return as_double(u);
}

AIRY_INLINE void lane_sums(struct ring_sums *sums, uint lanes)
{
    for (uint m = lanes / 2u; m > 0u; m /= 2u) {
#pragma unroll
        for (uint i = 0u; i < R_SUMS; i++)
            sums->v[i] += shuffle_double(sums->v[i], m);
        sums->entries += AIRY_SHUFFLE_XOR(sums->entries, m);
        sums->flags += AIRY_SHUFFLE_XOR(sums->flags, m);
    }
}

AIRY_INLINE void group_ring_sums(struct ring_sums *sums, __local struct ring_room *room)
{
    const uint item = get_local_id(0);
    lane_sums(sums, AIRY_WARP);
    barrier(CLK_LOCAL_MEM_FENCE); /* what was there may still be read */
    if (item % AIRY_WARP == 0u) {
#pragma unroll
        for (uint i = 0u; i < R_SUMS; i++)
            room->v[i][item / AIRY_WARP] = sums->v[i];
        room->entries[item / AIRY_WARP] = sums->entries;
        room->flags[item / AIRY_WARP] = sums->flags;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint i = 0u; i < R_SUMS; i++)
        sums->v[i] = room->v[i][item % RING_WARPS];
    sums->entries = room->entries[item % RING_WARPS];
    sums->flags = room->flags[item % RING_WARPS];
    lane_sums(sums, RING_WARPS);
}

AIRY_INLINE double group_ring_sum(double v, __local struct ring_room *room)
{
    const uint item = get_local_id(0);
    for (uint m = AIRY_WARP / 2u; m > 0u; m /= 2u)
        v += shuffle_double(v, m);
    barrier(CLK_LOCAL_MEM_FENCE); /* what was there may still be read */
    if (item % AIRY_WARP == 0u)
        room->v[0][item / AIRY_WARP] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    v = room->v[0][item % RING_WARPS];
    for (uint m = RING_WARPS / 2u; m > 0u; m /= 2u)
        v += shuffle_double(v, m);
    return v;
}
#else
struct ring_room {
    double v[R_SUMS][RING_GROUP];
    uint entries[RING_GROUP], flags[RING_GROUP];
};

AIRY_INLINE void group_ring_sums(struct ring_sums *sums, __local struct ring_room *room)
{
    const uint item = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE); /* what was there may still be read */
    for (uint i = 0u; i < R_SUMS; i++)
        room->v[i][item] = sums->v[i];
    room->entries[item] = sums->entries;
    room->flags[item] = sums->flags;
    for (uint half_size = RING_GROUP / 2u; half_size > 0u; half_size /= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_size) {
            for (uint i = 0u; i < R_SUMS; i++)
                room->v[i][item] += room->v[i][item + half_size];
            room->entries[item] += room->entries[item + half_size];
            room->flags[item] += room->flags[item + half_size];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0u; i < R_SUMS; i++)
        sums->v[i] = room->v[i][0];
    sums->entries = room->entries[0];
    sums->flags = room->flags[0];
}

AIRY_INLINE double group_ring_sum(double v, __local struct ring_room *room)
{
    const uint item = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE); /* what was there may still be read */
    room->v[0][item] = v;
    for (uint half_size = RING_GROUP / 2u; half_size > 0u; half_size /= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_size)
            room->v[0][item] += room->v[0][item + half_size];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return room->v[0][0];
}
#endif

/*
 * The five planes of a bin, by each item that calls. variance: the sum that is expected, or sum (s -
 * omega mean)^2.
 */
AIRY_INLINE void write_planes(__global double *sums, const struct ring_sums *kept, double variance,
                              uint frame, uint bin, const airy_gather_geom g)
{
    __global double *out = sums + g.sums_offset + (ulong)frame * PLANES * g.bins + bin;
    const bool none = kept->entries == 0u;
    out[SIGNAL * g.bins] = none ? 0.0 : kept->v[R_SIGNAL];
    out[VARIANCE * g.bins] = none ? 0.0 : variance;
    out[NORMALIZATION * g.bins] = none ? 0.0 : kept->v[R_OMEGA];
    out[NORMALIZATION2 * g.bins] = none ? 0.0 : kept->v[R_OMEGA2];
    out[COUNT * g.bins] = none ? 0.0 : kept->v[R_COUNT];
}

/* Which items write their bin's planes. */
AIRY_INLINE bool is_writer(const airy_ring_bin bin)
{
    return bin.bin != ~0u && (ALONE + (get_local_id(0) == 0u ? 1 : 0)) != 0;
}

#endif
