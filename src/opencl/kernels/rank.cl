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
 * Medians of an odd number of elements, in registers. Of any half of them and two more neither the
 * smallest nor the largest is the median: they go, one comes, until three are left. Of two results,
 * one below the other, what both see comes first; what is left of it then, an element more than a
 * row has, is the same for both.
 */
#define COUNT  (NX * NY * NZ)
#define ROW    (NX * NZ)
#define COMMON (COUNT - ROW)
#define HELD   (COUNT / 2 + 2)
#define STEPS  (COMMON - HELD + 1)

AIRY_INLINE K median_of_three(K a, K b, K c)
{
    return max(min(a, b), min(max(a, b), c));
}

/*
 * Where the elements of an item's windows are: the sum of what its plane, row and column add to the
 * place; negative where the border's value stands for it.
 */
#define SMALL_ROWS ((int)AIRY_RANK_SMALL_EACH(COUNT) + NY - 1)
#define NOWHERE    (-((long)1 << 60))

struct places {
    long plane[NZ], row[SMALL_ROWS], column[NX];
};

AIRY_INLINE long place(long i, long n, uint border, long step)
{
    const long at = airy_border_index(i, n, border);
    return at < 0 ? NOWHERE : at * step;
}

AIRY_INLINE K nth(__global const T *image, const struct places *at, int z, int y, int x,
                  const airy_rank_geom *g)
{
    const long i = at->plane[z] + at->row[y] + at->column[x];
    const T v = image[max(i, (long)0)]; /* no branch: element 0 is there */
    return to_key(i < 0 ? (T)g->outside : v);
}

/* Element i of the rows that two results have in common. */
#define SEEN_BY_BOTH(i) nth(image, at, (i) / (NX * (NY - 1)), 1 + (i) / NX % (NY - 1), (i) % NX, g)

/* The smallest of v[0 .. m - 1] to the front, the largest to the end. */
AIRY_INLINE void part_extremes(K *v, int m)
{
#pragma unroll
    for (int i = 0; i < m / 2; i++)
        SWAP(v[i], v[m - 1 - i]);
#pragma unroll
    for (int i = 1; i < (m + 1) / 2; i++)
        SWAP(v[0], v[i]);
#pragma unroll
    for (int i = m / 2; i < m - 1; i++)
        SWAP(v[i], v[m - 1]);
}

/* Steps are written out, since compilers do not see that inner loops have fixed lengths. */
#define EIGHT(STEP, n)                                                                             \
    STEP((n))                                                                                      \
    STEP((n) + 1)                                                                                  \
    STEP((n) + 2) STEP((n) + 3) STEP((n) + 4) STEP((n) + 5) STEP((n) + 6) STEP((n) + 7)
#define BOTH_STEP(step)                                                                            \
    if ((step) < STEPS) {                                                                          \
        part_extremes(v, (step) < STEPS ? HELD - (step) : 2);                                      \
        if ((step) + 1 < STEPS)                                                                    \
            v[0] = SEEN_BY_BOTH(HELD + (step));                                                    \
    }
#define OWN_STEP(step)                                                                             \
    if ((step) < ROW) {                                                                            \
        part_extremes(w, (step) < ROW ? ROW + 2 - (step) : 2);                                     \
        if ((step) + 1 < ROW)                                                                      \
            w[0] = nth(image, at, ((step) + 1) / NX, k * NY, ((step) + 1) % NX, g);                \
    }

/* Two results, one below the other. */
AIRY_INLINE void median_pair(K result[2], __global const T *image, const struct places *at,
                             const airy_rank_geom *g)
{
    K v[HELD];
#pragma unroll
    for (int i = 0; i < HELD; i++)
        v[i] = SEEN_BY_BOTH(i);
    EIGHT(BOTH_STEP, 0)
    EIGHT(BOTH_STEP, 8)
    EIGHT(BOTH_STEP, 16)
#pragma unroll
    for (int k = 0; k < 2; k++) {
        K w[ROW + 2];
        w[0] = nth(image, at, 0, k * NY, 0, g);
#pragma unroll
        for (int i = 1; i < ROW + 2; i++)
            w[i] = v[i];
        EIGHT(OWN_STEP, 0)
        EIGHT(OWN_STEP, 8)
        result[k] = w[1];
    }
}

/* Four results of 3 x 3. */
AIRY_INLINE void median_four(K result[4], __global const T *image, const struct places *at,
                             const airy_rank_geom *g)
{
    K low[SMALL_ROWS], middle[SMALL_ROWS], high[SMALL_ROWS];
#pragma unroll
    for (int r = 0; r < SMALL_ROWS; r++) {
        low[r] = nth(image, at, 0, r, 0, g);
        middle[r] = nth(image, at, 0, r, 1, g);
        high[r] = nth(image, at, 0, r, 2, g);
        SWAP(low[r], middle[r]);
        SWAP(middle[r], high[r]);
        SWAP(low[r], middle[r]);
    }
#pragma unroll
    for (int r = 0; r < SMALL_ROWS - 2; r++)
        result[r] = median_of_three(max(max(low[r], low[r + 1]), low[r + 2]),
                                    median_of_three(middle[r], middle[r + 1], middle[r + 2]),
                                    min(min(high[r], high[r + 1]), high[r + 2]));
}

/*
 * Mapping: an item makes AIRY_RANK_SMALL_EACH results, one below the other; the first dimension is
 * x, the second runs of rows. NX, NY, NZ: elements of the window. Any work-group. No local memory,
 * no barrier.
 */
__kernel void rank_small(__global const T *src, __global T *dst, const airy_rank_geom g)
{
    const long x = (long)get_global_id(0), plane = (long)get_global_id(2),
               y0 = (long)(get_global_id(1) * AIRY_RANK_SMALL_EACH(COUNT)), image = plane / g.n[0],
               z = plane % g.n[0];
    if (x >= g.n[2] || y0 >= g.n[1])
        return;
    struct places at;
#pragma unroll
    for (int i = 0; i < NZ; i++)
        at.plane[i] = place(z + g.first[0] + i, g.n[0], g.border, g.src_step[1]);
#pragma unroll
    for (int i = 0; i < SMALL_ROWS; i++)
        at.row[i] = place(y0 + g.first[1] + i, g.n[1], g.border, g.src_step[2]);
#pragma unroll
    for (int i = 0; i < NX; i++)
        at.column[i] = place(x + g.first[2] + i, g.n[2], g.border, 1);
    __global const T *from = src + g.src_offset + image * g.src_step[0];
    __global T *to = dst + g.dst_offset + image * g.dst_step[0] + z * g.dst_step[1] + x;
    K result[AIRY_RANK_SMALL_EACH(COUNT)];
#if NX == 3 && NY == 3 && NZ == 1
    median_four(result, from, &at, &g);
#else
    median_pair(result, from, &at, &g);
#endif
#pragma unroll
    for (int r = 0; r < (int)AIRY_RANK_SMALL_EACH(COUNT); r++)
        if (y0 + r < g.n[1])
            to[(y0 + r) * g.dst_step[2]] = from_key(result[r]);
}

/*
 * VISIT(k, v) for each of the elements v under the windows of the EACH results k of an item, whose
 * first window begins at `tile`. The rows in the middle are seen by all of them.
 */
#define WALK(VISIT)                                                                                \
    {                                                                                              \
        for (uint i = 0u; i < g.runs; i++) {                                                       \
            const airy_rank_stretch run = runs[i];                                                 \
            __local const T *row = first + (run.plane * g.tile_height + run.row) * g.tile_width;   \
            for (uint x = run.first; x < run.end; x++) {                                           \
                _Pragma("unroll") for (uint k = 0u; k < EACH; k++)                                 \
                {                                                                                  \
                    const K v = row[k * g.tile_width + x];                                         \
                    VISIT(k, v)                                                                    \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        for (uint i = 0u; g.runs == 0u && i < g.taps[0] * (g.taps[1] + EACH - 1u); i++) {          \
            const uint y = i % (g.taps[1] + EACH - 1u), z = i / (g.taps[1] + EACH - 1u);           \
            __local const T *row = first + (z * g.tile_height + y) * g.tile_width;                 \
            if (y + 1u >= EACH && y < g.taps[1]) {                                                 \
                for (uint x = 0u; x < g.taps[2]; x++) {                                            \
                    const K v = row[x];                                                            \
                    _Pragma("unroll") for (uint k = 0u; k < EACH; k++)                             \
                    {                                                                              \
                        VISIT(k, v)                                                                \
                    }                                                                              \
                }                                                                                  \
                continue;                                                                          \
            }                                                                                      \
            for (uint x = 0u; x < g.taps[2]; x++) {                                                \
                const K v = row[x];                                                                \
                _Pragma("unroll") for (uint k = 0u; k < EACH; k++)                                 \
                {                                                                                  \
                    if (y >= k && y - k < g.taps[1])                                               \
                        VISIT(k, v)                                                                \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

#define COUNT_BELOW(k, v) count[k] += (v) < tried[k] ? 1u : 0u;
#define NEAREST(k, v)                                                                              \
    {                                                                                              \
        at_least[k] = (v) >= found[k] ? min(at_least[k], (v)) : at_least[k];                       \
        at_most[k] = (v) <= limit[k] ? max(at_most[k], (v)) : at_most[k];                          \
    }

/* The bits in which keys of a tile differ: all items call it. Two barriers. */
AIRY_INLINE K find_differences(__local const T *tile, uint count, uint item, uint items,
                               __local uint *words)
{
    K differs = 0;
    if (item < 2u)
        words[item] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < count; i += items)
        differs |= (K)(tile[i] ^ tile[0]);
    atomic_or(words, (uint)differs);
    if (sizeof(K) == 8u)
        atomic_or(words + 1, (uint)(differs >> (4u * (uint)sizeof(K))));
    barrier(CLK_LOCAL_MEM_FENCE);
    differs = words[0];
    if (sizeof(K) == 8u)
        differs |= (K)words[1] << (4u * (uint)sizeof(K));
    return differs;
}

/*
 * Any element: the largest number that no more than `rank` elements are below of, bit by bit, where
 * bits differ at all. found and limit: the least and the largest that it can be; below and up_to: elements
 * below found, and up to limit. As soon as it is the first of those from found on, or the last of
 * those up to limit, it is the nearest there.
 * Mapping: groups of AIRY_RANK_X x GY items make AIRY_RANK_X x (GY * EACH) results. Local memory: the
 * keys that they look at, [z taps][tile_height][tile_width] of T, and 8 bytes. Three barriers.
 */
__kernel __attribute__((reqd_work_group_size(AIRY_RANK_X, GY, 1))) void
rank_select(__global const T *src, __global const airy_rank_stretch *runs, __global T *dst,
            __local T *tile, const airy_rank_geom g)
{
    __local uint words[2];
    const uint item = get_local_id(1) * AIRY_RANK_X + get_local_id(0);
    const long plane = (long)get_global_id(2), image = plane / g.n[0], z = plane % g.n[0];
    const long x0 = (long)get_group_id(0) * AIRY_RANK_X,
               y0 = (long)(get_global_id(1) - get_local_id(1)) * EACH;
    __global const T *from = src + g.src_offset + image * g.src_step[0];
    const uint each = g.tile_width * g.tile_height;
    for (uint i = item; i < each * g.taps[0]; i += AIRY_RANK_X * GY)
        tile[i] = (T)element(from, z + g.first[0] + (long)(i / each),
                             y0 + g.first[1] + (long)(i % each / g.tile_width),
                             x0 + g.first[2] + (long)(i % g.tile_width), &g);
    barrier(CLK_LOCAL_MEM_FENCE);
    const K differs = find_differences(tile, each * g.taps[0], item, AIRY_RANK_X * GY, words);
    __local const T *first = tile + get_local_id(1) * EACH * g.tile_width + get_local_id(0);
    K found[EACH], limit[EACH], tried[EACH], at_least[EACH], at_most[EACH];
    uint count[EACH], below[EACH], up_to[EACH];
#pragma unroll
    for (uint k = 0u; k < EACH; k++) {
        found[k] = tile[0] & ~differs;
        limit[k] = tile[0] | differs;
        below[k] = 0u;
        up_to[k] = g.count;
    }
    for (K bit = SIGN; bit != 0; bit >>= 1) {
        bool done = true;
#pragma unroll
        for (uint k = 0u; k < EACH; k++)
            done = done && (below[k] == g.rank || up_to[k] == g.rank + 1u);
        if (done)
            break;
        if ((bit & differs) == 0)
            continue;
#pragma unroll
        for (uint k = 0u; k < EACH; k++) {
            tried[k] = found[k] | bit;
            count[k] = 0u;
        }
        WALK(COUNT_BELOW)
#pragma unroll
        for (uint k = 0u; k < EACH; k++) {
            const bool above = count[k] <= g.rank;
            found[k] = above ? tried[k] : found[k];
            below[k] = above ? count[k] : below[k];
            limit[k] = above ? limit[k] : limit[k] & ~bit;
            up_to[k] = above ? up_to[k] : count[k];
        }
    }
#pragma unroll
    for (uint k = 0u; k < EACH; k++) {
        at_least[k] = limit[k];
        at_most[k] = found[k];
    }
    WALK(NEAREST)
    const long x = x0 + (long)get_local_id(0);
#pragma unroll
    for (uint k = 0u; k < EACH; k++) {
        const long y = y0 + (long)(get_local_id(1) * EACH + k);
        if (x < g.n[2] && y < g.n[1])
            dst[g.dst_offset + image * g.dst_step[0] + z * g.dst_step[1] + y * g.dst_step[2] + x] =
                from_key(below[k] == g.rank ? at_least[k] : at_most[k]);
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
    K found = 0, nearest = 0;
    uint below = 0u;
    /* The last walk, with no bit to try, is for the smallest from `found` on. */
    for (K bit = SIGN, last = 0; last == 0; bit >>= 1) {
        last = bit == 0 || below == g.rank ? 1 : 0;
        const K tried = found | bit;
        uint count = 0u;
        nearest = ~(K)0;
        for (uint i = 0u; i < stretches; i++) {
            airy_rank_stretch run = {i / g.taps[1], i % g.taps[1], 0u, g.taps[2]};
            if (g.runs != 0u)
                run = runs[i];
            for (uint k = run.first; k < run.end; k++) {
                const K v = element(from, z + g.first[0] + (long)run.plane,
                                    y + g.first[1] + (long)run.row, x + g.first[2] + (long)k, &g);
                count += v < tried ? 1u : 0u;
                nearest = v >= found ? min(nearest, v) : nearest;
            }
        }
        if (last == 0 && count <= g.rank) {
            found = tried;
            below = count;
        }
    }
    dst[g.dst_offset + image * g.dst_step[0] + z * g.dst_step[1] + y * g.dst_step[2] + x] =
        from_key(nearest);
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
    const long y = (long)get_global_id(1), plane = (long)get_global_id(2), image = plane / g.n[0],
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
