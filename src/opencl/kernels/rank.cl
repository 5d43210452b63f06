/*
 * Order statistics under a window, of keys: unsigned numbers in the order of the elements.
 *
 * Build options: T: unsigned integer as large as an element; KIND: 0 unsigned, 1 signed, 2 float;
 * K: uint, for 8 bytes ulong; LARGEST: of extremes, 0 or 1; RUN, NX, NY, NZ, GY, EACH: see the kernels.
 * Groups in the third dimension: images x planes (passes along z: runs of them).
 */
#include "shared/rank_geom.h"

#ifndef T
#define T    uint
#define K    uint
#define KIND 2
#endif
#ifndef LARGEST
#define LARGEST 0
#endif
#ifndef RUN
#define RUN 4
#endif
#ifndef NX
#define NX 3
#define NY 3
#define NZ 1
#endif
#ifndef GY
#define GY   2
#define EACH 4
#endif

#define SIGN ((K)1 << (8u * (uint)sizeof(T) - 1u))

/* NaN is the largest. */
AIRY_INLINE K to_key(T v)
{
#if KIND == 0
    return v;
#elif KIND == 1
    return (K)v ^ SIGN;
#else
    const K infinite = sizeof(T) == 4 ? (K)0x7f800000u : (K)0x7ff0000000000000ul,
            nan = sizeof(T) == 4 ? (K)0xffc00000u : (K)0xfff8000000000000ul;
    if ((v & ~SIGN) > infinite)
        return nan;
    return (v & SIGN) != 0 ? ~(K)v : v | SIGN;
#endif
}

AIRY_INLINE T from_key(K key)
{
#if KIND == 0
    return (T)key;
#elif KIND == 1
    return (T)(key ^ SIGN);
#else
    return (key & SIGN) != 0 ? (T)(key ^ SIGN) : (T)~key;
#endif
}

/* Element (z, y, x) of an image of the source, borders included. */
AIRY_INLINE K element(__global const T *image, long z, long y, long x, const airy_rank_geom *g)
{
    z = airy_border_index(z, g->n[0], g->border);
    y = airy_border_index(y, g->n[1], g->border);
    x = airy_border_index(x, g->n[2], g->border);
    if (z < 0 || y < 0 || x < 0)
        return to_key((T)g->outside);
    return to_key(image[z * g->src_step[1] + y * g->src_step[2] + x]);
}

AIRY_INLINE K choose(K a, K b)
{
    return LARGEST ? max(a, b) : min(a, b);
}

#define SWAP(a, b)                                                                                 \
    {                                                                                              \
        const K lower_ = min((a), (b));                                                            \
        (b) = max((a), (b));                                                                       \
        (a) = lower_;                                                                              \
    }

/*
 * Medians of an odd number of elements, in registers: of any half of them and two more neither the
 * smallest nor the largest is the median; they go, one comes, until three are left.
 */
#define COUNT (NX * NY * NZ)
#define HELD  (COUNT / 2 + 2)

#if NX == 3 && NY == 3 && NZ == 1
/* Rows are sorted once for the three results that they count in. */
#define SHARES_ROWS 1
#else
#define SHARES_ROWS 0
#endif

AIRY_INLINE K median_of_three(K a, K b, K c)
{
    return max(min(a, b), min(max(a, b), c));
}

/* Element i of the window at (z, y, x). */
AIRY_INLINE K nth(__global const T *image, long z, long y, long x, int i, bool inside,
                  const airy_rank_geom *g)
{
    const long dz = i / (NX * NY), dy = i / NX % NY, dx = i % NX;
    if (inside)
        return to_key(image[(z + dz) * g->src_step[1] + (y + dy) * g->src_step[2] + x + dx]);
    return element(image, z + dz, y + dy, x + dx, g);
}

AIRY_INLINE K median(__global const T *image, long z, long y, long x, bool inside,
                     const airy_rank_geom *g)
{
    K v[HELD];
#pragma unroll
    for (int i = 0; i < HELD; i++)
        v[i] = nth(image, z, y, x, i, inside, g);
#pragma unroll
    for (int step = 0; step < HELD - 2; step++) {
        const int m = HELD - step;
#pragma unroll
        for (int i = 0; i < m / 2; i++)
            SWAP(v[i], v[m - 1 - i]);
#pragma unroll
        for (int i = 1; i < (m + 1) / 2; i++)
            SWAP(v[0], v[i]);
#pragma unroll
        for (int i = m / 2; i < m - 1; i++)
            SWAP(v[i], v[m - 1]);
        if (m > 3)
            v[0] = nth(image, z, y, x, HELD + step, inside, g);
    }
    return v[1];
}

/*
 * Mapping: an item makes AIRY_RANK_SMALL_EACH results, one below the other; the first dimension is
 * x, the second runs of rows. NX, NY, NZ: elements of the window. Any work-group. No local memory,
 * no barrier.
 */
__kernel void rank_small(__global const T *src, __global T *dst, const airy_rank_geom g)
{
    const long x = (long)get_global_id(0), y0 = (long)get_global_id(1) * AIRY_RANK_SMALL_EACH,
               plane = (long)get_global_id(2), image = plane / g.n[0], z = plane % g.n[0];
    if (x >= g.n[2] || y0 >= g.n[1])
        return;
    __global const T *from = src + g.src_offset + image * g.src_step[0];
    __global T *to = dst + g.dst_offset + image * g.dst_step[0] + z * g.dst_step[1] + x;
    const long zs = z + g.first[0], ys = y0 + g.first[1], xs = x + g.first[2];
    const bool inside = zs >= 0 && ys >= 0 && xs >= 0 && zs + NZ <= g.n[0] &&
                        ys + (long)AIRY_RANK_SMALL_EACH - 1 + NY <= g.n[1] && xs + NX <= g.n[2];
#if SHARES_ROWS
    K low[AIRY_RANK_SMALL_EACH + 2], middle[AIRY_RANK_SMALL_EACH + 2],
        high[AIRY_RANK_SMALL_EACH + 2];
#pragma unroll
    for (int r = 0; r < (int)AIRY_RANK_SMALL_EACH + 2; r++) {
        low[r] = nth(from, zs, ys + r, xs, 0, inside, &g);
        middle[r] = nth(from, zs, ys + r, xs, 1, inside, &g);
        high[r] = nth(from, zs, ys + r, xs, 2, inside, &g);
        SWAP(low[r], middle[r]);
        SWAP(middle[r], high[r]);
        SWAP(low[r], middle[r]);
    }
#pragma unroll
    for (int r = 0; r < (int)AIRY_RANK_SMALL_EACH; r++)
        if (y0 + r < g.n[1])
            to[(y0 + r) * g.dst_step[2]] =
                from_key(median_of_three(max(max(low[r], low[r + 1]), low[r + 2]),
                                         median_of_three(middle[r], middle[r + 1], middle[r + 2]),
                                         min(min(high[r], high[r + 1]), high[r + 2])));
#else
    for (int r = 0; r < (int)AIRY_RANK_SMALL_EACH && y0 + r < g.n[1]; r++)
        to[(y0 + r) * g.dst_step[2]] = from_key(median(from, zs, ys + r, xs, inside, &g));
#endif
}

/* Elements of a tile below each of the EACH numbers; rows y .. y + taps + EACH - 2. */
AIRY_INLINE void count_below(uint count[EACH], const K than[EACH], __local const T *tile,
                             __global const airy_rank_stretch *runs, const airy_rank_geom *g)
{
#pragma unroll
    for (int k = 0; k < EACH; k++)
        count[k] = 0u;
    for (uint i = 0u; i < g->runs; i++) {
        const airy_rank_stretch run = runs[i];
        __local const T *row = tile + (run.plane * g->tile_height + run.row) * g->tile_width;
        for (uint x = run.first; x < run.end; x++)
#pragma unroll
            for (int k = 0; k < EACH; k++)
                count[k] += (K)row[(uint)k * g->tile_width + x] < than[k] ? 1u : 0u;
    }
    if (g->runs != 0u)
        return;
    for (uint z = 0u; z < g->taps[0]; z++)
        for (uint y = 0u; y < g->taps[1] + EACH - 1u; y++) {
            __local const T *row = tile + (z * g->tile_height + y) * g->tile_width;
            if (y + 1u >= EACH && y < g->taps[1]) {
                for (uint x = 0u; x < g->taps[2]; x++) {
                    const K v = row[x];
#pragma unroll
                    for (int k = 0; k < EACH; k++)
                        count[k] += v < than[k] ? 1u : 0u;
                }
                continue;
            }
            for (uint x = 0u; x < g->taps[2]; x++) {
                const K v = row[x];
#pragma unroll
                for (int k = 0; k < EACH; k++)
                    count[k] += v < than[k] && y >= (uint)k && y - (uint)k < g->taps[1] ? 1u : 0u;
            }
        }
}

/*
 * Any element: the largest number that no more than `rank` elements are below of, bit by bit.
 * Mapping: groups of AIRY_RANK_X x GY items make AIRY_RANK_X x (GY * EACH) results. Local memory: the
 * keys that they look at, [z taps][tile_height][tile_width] of T. One barrier.
 */
__kernel __attribute__((reqd_work_group_size(AIRY_RANK_X, GY, 1))) void
rank_select(__global const T *src, __global const airy_rank_stretch *runs, __global T *dst,
            __local T *tile, const airy_rank_geom g)
{
    const uint item = get_local_id(1) * AIRY_RANK_X + get_local_id(0);
    const long plane = (long)get_group_id(2), image = plane / g.n[0], z = plane % g.n[0];
    const long x0 = (long)get_group_id(0) * AIRY_RANK_X, y0 = (long)get_group_id(1) * (GY * EACH);
    __global const T *from = src + g.src_offset + image * g.src_step[0];
    const uint each = g.tile_width * g.tile_height;
    for (uint i = item; i < each * g.taps[0]; i += AIRY_RANK_X * GY)
        tile[i] = (T)element(from, z + g.first[0] + (long)(i / each),
                             y0 + g.first[1] + (long)(i % each / g.tile_width),
                             x0 + g.first[2] + (long)(i % g.tile_width), &g);
    barrier(CLK_LOCAL_MEM_FENCE);
    K found[EACH], tried[EACH];
    uint count[EACH];
#pragma unroll
    for (int k = 0; k < EACH; k++)
        found[k] = 0;
    for (int bit = 8 * (int)sizeof(T) - 1; bit >= 0; bit--) {
#pragma unroll
        for (int k = 0; k < EACH; k++)
            tried[k] = found[k] | (K)1 << bit;
        count_below(count, tried, tile + get_local_id(1) * EACH * g.tile_width + get_local_id(0),
                    runs, &g);
#pragma unroll
        for (int k = 0; k < EACH; k++)
            found[k] = count[k] <= g.rank ? tried[k] : found[k];
    }
    const long x = x0 + (long)get_local_id(0);
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const long y = y0 + (long)get_local_id(1) * EACH + k;
        if (x < g.n[2] && y < g.n[1])
            dst[g.dst_offset + image * g.dst_step[0] + z * g.dst_step[1] + y * g.dst_step[2] + x] =
                from_key(found[k]);
    }
}

/* The same for windows larger than local memory. Mapping: an item a result; any work-group. */
__kernel void rank_far(__global const T *src, __global const airy_rank_stretch *runs,
                       __global T *dst, const airy_rank_geom g)
{
    const long x = (long)get_global_id(0), y = (long)get_global_id(1),
               plane = (long)get_global_id(2), image = plane / g.n[0], z = plane % g.n[0];
    if (x >= g.n[2] || y >= g.n[1])
        return;
    __global const T *from = src + g.src_offset + image * g.src_step[0];
    const uint stretches = g.runs != 0u ? g.runs : g.taps[0] * g.taps[1];
    K found = 0;
    for (int bit = 8 * (int)sizeof(T) - 1; bit >= 0; bit--) {
        const K tried = found | (K)1 << bit;
        uint count = 0u;
        for (uint i = 0u; i < stretches; i++) {
            airy_rank_stretch run;
            if (g.runs != 0u) {
                run = runs[i];
            } else {
                run.plane = i / g.taps[1];
                run.row = i % g.taps[1];
                run.first = 0u;
                run.end = g.taps[2];
            }
            for (uint k = run.first; k < run.end; k++)
                count += element(from, z + g.first[0] + (long)run.plane,
                                 y + g.first[1] + (long)run.row, x + g.first[2] + (long)k,
                                 &g) < tried
                             ? 1u
                             : 0u;
        }
        found = count <= g.rank ? tried : found;
    }
    dst[g.dst_offset + image * g.dst_step[0] + z * g.dst_step[1] + y * g.dst_step[2] + x] =
        from_key(found);
}

/*
 * Extremes of RUN neighbouring windows of `taps` >= RUN elements: what all of them hold, with what
 * is in front of it for the first ones, and behind it for the last ones.
 */
#define EXTREMES(v, taps, AT)                                                                      \
    {                                                                                              \
        K common_ = AT(RUN - 1);                                                                   \
        for (int i_ = RUN; i_ < (int)(taps); i_++)                                                 \
            common_ = choose(common_, AT(i_));                                                     \
        (v)[RUN - 1] = common_;                                                                    \
        _Pragma("unroll") for (int i_ = RUN - 2; i_ >= 0; i_--)(v)[i_] =                           \
            choose((v)[i_ + 1], AT(i_));                                                           \
        if (RUN > 1) {                                                                             \
            K behind_ = AT((int)(taps));                                                           \
            (v)[1 % RUN] = choose((v)[1 % RUN], behind_);                                          \
            _Pragma("unroll") for (int i_ = 2; i_ < RUN; i_++)                                     \
            {                                                                                      \
                behind_ = choose(behind_, AT((int)(taps) + i_ - 1));                               \
                (v)[i_] = choose((v)[i_], behind_);                                                \
            }                                                                                      \
        }                                                                                          \
    }

/*
 * Along y or z (g.axis). Mapping: an item makes RUN results, one behind the other along the axis;
 * the first dimension is x, the second runs or rows, the third images x planes or runs. Any
 * work-group. No local memory, no barrier.
 */
__kernel void rank_run(__global const T *src, __global T *dst, const airy_rank_geom g)
{
    const bool along_z = g.axis == 0u;
    const long runs = (g.n[0] + RUN - 1) / RUN, x = (long)get_global_id(0),
               third = (long)get_global_id(2), image = third / (along_z ? runs : g.n[0]);
    const long start = RUN * (along_z ? third % runs : (long)get_global_id(1)),
               other = along_z ? (long)get_global_id(1) : third % g.n[0];
    if (x >= g.n[2] || (along_z ? other >= g.n[1] : start >= g.n[1]))
        return;
    const long n = g.n[g.axis], least = start + g.first[g.axis],
               step = along_z ? g.src_step[1] : g.src_step[2];
    const uint taps = g.taps[g.axis];
    __global const T *from = src + g.src_offset + image * g.src_step[0] +
                             other * (along_z ? g.src_step[2] : g.src_step[1]) + x;
    K v[RUN];
    if (least >= 0 && least + (long)taps + RUN - 1 <= n) {
        from += least * step;
#define AT_INSIDE(i) to_key(from[(i)*step])
        EXTREMES(v, taps, AT_INSIDE)
    } else {
#define AT_BORDER(i)                                                                               \
    (along_z ? element(src + g.src_offset + image * g.src_step[0], least + (i), other, x, &g)      \
             : element(src + g.src_offset + image * g.src_step[0], other, least + (i), x, &g))
        EXTREMES(v, taps, AT_BORDER)
    }
#pragma unroll
    for (int k = 0; k < RUN; k++) {
        const long at = start + k;
        if (at < n)
            dst[g.dst_offset + image * g.dst_step[0] + (along_z ? at : other) * g.dst_step[1] +
                (along_z ? other : at) * g.dst_step[2] + x] = from_key(v[k]);
    }
}

/*
 * Along x. Mapping: groups of AIRY_RANK_LINE items make RUN results of a row each. Local memory:
 * tile_width keys of T, one unused behind every RUN, so that the items' runs lie in different banks.
 * Barriers: three.
 */
#define PLACE(i) ((i) + (i) / RUN)
__kernel __attribute__((reqd_work_group_size(AIRY_RANK_LINE, 1, 1))) void
rank_line(__global const T *src, __global T *dst, __local T *line, const airy_rank_geom g)
{
    const int item = (int)get_local_id(0), taps = (int)g.taps[2];
    const long y = (long)get_group_id(1), plane = (long)get_group_id(2), image = plane / g.n[0],
               z = plane % g.n[0], x0 = (long)get_group_id(0) * (AIRY_RANK_LINE * RUN);
    __global const T *from = src + g.src_offset + image * g.src_step[0];
    __global T *to = dst + g.dst_offset + image * g.dst_step[0] + z * g.dst_step[1] +
                     y * g.dst_step[2];
    for (int i = item; i < (int)AIRY_RANK_LINE * RUN + taps - 1; i += (int)AIRY_RANK_LINE)
        line[PLACE(i)] = (T)element(from, z, y, x0 + g.first[2] + i, &g);
    barrier(CLK_LOCAL_MEM_FENCE);
    K v[RUN];
#define AT_LINE(i) ((K)line[PLACE(item * RUN + (i))])
    EXTREMES(v, taps, AT_LINE)
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int k = 0; k < RUN; k++)
        line[PLACE(item * RUN + k)] = (T)v[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < (int)AIRY_RANK_LINE * RUN; i += (int)AIRY_RANK_LINE)
        if (x0 + i < g.n[2])
            to[x0 + i] = from_key(line[PLACE(i)]);
}
