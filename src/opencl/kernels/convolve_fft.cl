/*
 * Convolution by transforms of tiles: rows of tiles are loaded and transformed along x, columns are
 * transformed along y or z, multiplied by the kernel's transform, transformed back, and rows are
 * transformed back and stored. Tiles lie in scratch in between: [pair][z][y][x].
 *
 * Build options: T: type of the source; W, W2: of the arithmetic; N: elements along the axis of the
 * pass; LINES: lines of a group; TURN: 0 where rows are not transformed; WAY: of a pass over columns.
 */
#include "shared/transform_geom.h"

#include "opencl/kernels/transform_line.h"

#ifndef T
#define T float
#endif
#ifndef LINES
#define LINES 4
#endif
#ifndef TURN
#define TURN 1
#endif
#define WAY_FORWARD  0
#define WAY_MULTIPLY 1
#define WAY_BACK     2
#ifndef WAY
#define WAY WAY_MULTIPLY
#endif

#define GROUP (LINES * ITEMS)

/* The kernel's weights stand behind the factors. */
#define WEIGHTS ((__global const W *)(factor + g.factors))

/* Results of a row of a tile: n from column x of row (z, y) of an image on. */
struct place {
    long image, z, y, x, n;
    bool there, result; /* something is looked at; there are results */
};

AIRY_INLINE struct place find_row(uint tile, uint row, const airy_transform_geom *g)
{
    struct place p;
    uint i = tile / g->blocks[2];
    p.x = (long)(tile % g->blocks[2]) * g->block[2];
    p.n = min(g->out[2] - p.x, (long)g->block[2]);
    const long y0 = (long)(i % g->blocks[1]) * g->block[1];
    i /= g->blocks[1];
    const long z0 = (long)(i % g->blocks[0]) * g->block[0];
    const long high = min(g->out[1] - y0, (long)g->block[1]),
               deep = min(g->out[0] - z0, (long)g->block[0]);
    const long ry = (long)(row % g->length[1]), rz = (long)(row / g->length[1]);
    p.image = (long)(i / g->blocks[0]);
    p.z = z0 + rz;
    p.y = y0 + ry;
    p.result = tile < g->tiles && rz < deep && ry < high;
    p.there = tile < g->tiles && rz < deep + (long)g->taps[0] - 1l &&
              ry < high + (long)g->taps[1] - 1l;
    return p;
}

/* Element (z, y, x) of an image of the source, borders included. */
AIRY_INLINE W element(__global const T *image, long z, long y, long x, W outside,
                      const airy_transform_geom *g)
{
    z = airy_border_index(z, g->n[0], g->border);
    y = airy_border_index(y, g->n[1], g->border);
    x = airy_border_index(x, g->n[2], g->border);
    if (z < 0l || y < 0l || x < 0l)
        return outside;
    return (W)image[z * g->src_step[1] + y * g->src_step[2] + x];
}

/*
 * Elements of a row of a tile; 0 where nothing looks at them, and in place of those that transforms
 * would spread.
 */
AIRY_INLINE void load_part(W *v, __global const T *src, __global uint *bad, uint tile, uint row,
                           uint t, W outside, W limit, const airy_transform_geom *g)
{
    const struct place p = find_row(tile, row, g);
    const long z = airy_border_index(p.z + g->offset[0] - (long)(g->taps[0] - 1u), g->n[0],
                                     g->border),
               y = airy_border_index(p.y + g->offset[1] - (long)(g->taps[1] - 1u), g->n[1],
                                     g->border);
    const bool inside = z >= 0l && y >= 0l;
    __global const T *from = src + g->src_offset + p.image * g->src_step[0] +
                             (inside ? z * g->src_step[1] + y * g->src_step[2] : 0l);
    bool good = true;
#pragma unroll
    for (uint k = 0u; k < EACH; k++) {
        const long i = (long)(t + k * ITEMS);
        v[k] = (W)0;
        if (!p.there || i >= p.n + (long)g->taps[2] - 1l)
            continue;
        const long x =
            airy_border_index(p.x + i + g->offset[2] - (long)(g->taps[2] - 1u), g->n[2], g->border);
        const W value = inside && x >= 0l ? (W)from[x] : outside;
        const bool fits = value <= limit && value >= -limit;
        good = good && fits;
        v[k] = fits ? value : (W)0;
    }
    if (!good)
        bad[tile] = 1u;
}

AIRY_INLINE void load_row(W2 *v, __global const T *src, __global uint *bad, uint pair, uint row,
                          uint t, W outside, W limit, const airy_transform_geom *g)
{
    W a[EACH], b[EACH];
    load_part(a, src, bad, 2u * pair, row, t, outside, limit, g);
    load_part(b, src, bad, 2u * pair + 1u, row, t, outside, limit, g);
#pragma unroll
    for (uint k = 0u; k < EACH; k++)
        v[k] = (W2)(a[k], b[k]);
}

/* A result by the definition. */
AIRY_INLINE W sum_directly(__global const T *src, __global const W *weights, const struct place *p,
                           long x, W outside, const airy_transform_geom *g)
{
    __global const T *from = src + g->src_offset + p->image * g->src_step[0];
    W sum = (W)0;
    for (uint c = 0u; c < g->taps[0]; c++)
        for (uint b = 0u; b < g->taps[1]; b++)
            for (uint a = 0u; a < g->taps[2]; a++)
                sum = fma(weights[(c * g->taps[1] + b) * g->taps[2] + a],
                          element(from, p->z + g->offset[0] - (long)(g->taps[0] - 1u) + (long)c,
                                  p->y + g->offset[1] - (long)(g->taps[1] - 1u) + (long)b,
                                  x + g->offset[2] - (long)(g->taps[2] - 1u) + (long)a, outside, g),
                          sum);
    return sum;
}

AIRY_INLINE void store_tile(const W *v, __global const T *src, __global const W *weights,
                            __global W *dst, __global const uint *bad, uint tile, uint row, uint t,
                            W outside, const airy_transform_geom *g)
{
    const struct place p = find_row(tile, row, g);
    if (!p.result)
        return;
    __global W *to = dst + g->dst_offset + p.image * g->dst_step[0] + p.z * g->dst_step[1] +
                     p.y * g->dst_step[2] + p.x;
    const bool direct = bad[tile] != 0u;
#pragma unroll
    for (uint k = 0u; k < EACH; k++) {
        const long x = (long)(t + k * ITEMS);
        if (x < p.n)
            to[x] = direct ? sum_directly(src, weights, &p, p.x + x, outside, g) : v[k];
    }
}

AIRY_INLINE void store_row(const W2 *v, __global const T *src, __global const W *weights,
                           __global W *dst, __global const uint *bad, uint pair, uint row, uint t,
                           W outside, const airy_transform_geom *g)
{
    W part[EACH];
#pragma unroll
    for (uint k = 0u; k < EACH; k++)
        part[k] = v[k].x;
    store_tile(part, src, weights, dst, bad, 2u * pair, row, t, outside, g);
#pragma unroll
    for (uint k = 0u; k < EACH; k++)
        part[k] = v[k].y;
    store_tile(part, src, weights, dst, bad, 2u * pair + 1u, row, t, outside, g);
}

/*
 * Mapping of all kernels over rows: N / 8 items a row, LINES rows a group, rows of all pairs of the
 * launch one behind the other. Local memory: `room`, LINES * AIRY_TRANSFORM_ROOM(N) numbers.
 * Barriers: of transform.
 */
#define ROW_MAPPING                                                                                \
    const uint t = get_local_id(0) % ITEMS, line = get_local_id(0) / ITEMS;                        \
    __local W *own = room + line * AIRY_TRANSFORM_ROOM(N);                                         \
    const uint rows = g.length[0] * g.length[1];                                                   \
    const uint number = (uint)get_group_id(0) * LINES + line, row = number % rows,                 \
               pair = number / rows;                                                               \
    const bool mine = pair < g.pairs;
#define PLACE ((long)number * N + (long)t)

/* Rows of tiles to scratch. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
convolve_fft_load(__global const T *src, __global W2 *tiles, __global uint *bad,
                  __global const W2 *factor, __local W *room, W outside, W limit,
                  const airy_transform_geom g)
{
    ROW_MAPPING
    W2 v[EACH];
    load_row(v, src, bad, mine ? g.first + pair : g.tiles, row, t, outside, limit, &g);
    if (TURN)
        transform(v, own, t, factor, g.factors / N);
    if (!mine)
        return;
#pragma unroll
    for (uint k = 0u; k < EACH; k++)
        tiles[PLACE + (long)(k * ITEMS)] = v[k];
}

/*
 * The same for the kernel's own tile: weight (z, y, x), divided by the elements of the transform,
 * stands at (-z, -y, -x); along an axis that is not transformed it stands everywhere.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
convolve_fft_kernel(__global W2 *tiles, __global const W2 *factor, __local W *room, W scale,
                    const airy_transform_geom g)
{
    ROW_MAPPING
    W2 v[EACH];
    const uint z = row / g.length[1], y = row % g.length[1], c = (g.length[0] - z) % g.length[0],
               b = (g.length[1] - y) % g.length[1];
#pragma unroll
    for (uint k = 0u; k < EACH; k++) {
        const uint x = t + k * ITEMS, a = TURN ? (N - x) % N : 0u;
        const bool there = mine && c < g.taps[0] && b < g.taps[1] && a < g.taps[2];
        v[k] = (W2)(there ? WEIGHTS[(c * g.taps[1] + b) * g.taps[2] + a] * scale : (W)0, (W)0);
    }
    if (TURN)
        transform(v, own, t, factor, g.factors / N);
    if (!mine)
        return;
#pragma unroll
    for (uint k = 0u; k < EACH; k++)
        tiles[PLACE + (long)(k * ITEMS)] = v[k];
}

/*
 * Columns along y (g.axis 1) or z (0). Mapping: LINES columns beside each other, N / 8 items each,
 * the column first; the second dimension is the other one of y and z, the third pairs.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
convolve_fft_columns(__global W2 *tiles, __global const W2 *spectrum, __global const W2 *factor,
                     __local W *room, const airy_transform_geom g)
{
    const uint column = get_local_id(0) % LINES, t = get_local_id(0) / LINES;
    __local W *own = room + column * AIRY_TRANSFORM_ROOM(N);
    const uint step = g.axis != 0u ? g.length[2] : g.length[2] * g.length[1],
               other = g.axis != 0u ? g.length[2] * g.length[1] : g.length[2];
    const uint at = (uint)get_group_id(0) * LINES + column + (uint)get_global_id(1) * other;
    __global W2 *tile = tiles + (long)get_global_id(2) * (long)(g.length[0] * g.length[1]) *
                                    (long)g.length[2];
    W2 v[EACH];
#pragma unroll
    for (uint k = 0u; k < EACH; k++)
        v[k] = tile[at + (t + k * ITEMS) * step];
    if (WAY != WAY_BACK)
        transform(v, own, t, factor, g.factors / N);
    if (WAY == WAY_MULTIPLY) {
#pragma unroll
        for (uint k = 0u; k < EACH; k++)
            v[k] = times(v[k], spectrum[at + (t + k * ITEMS) * step]);
    }
    if (WAY != WAY_FORWARD)
        transform_back(v, own, t, factor, g.factors / N);
#pragma unroll
    for (uint k = 0u; k < EACH; k++)
        tile[at + (t + k * ITEMS) * step] = v[k];
}

/* Rows of tiles from scratch to results. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
convolve_fft_store(__global const T *src, __global const W2 *tiles, __global W *dst,
                   __global const uint *bad, __global const W2 *factor, __local W *room, W outside,
                   const airy_transform_geom g)
{
    ROW_MAPPING
    W2 v[EACH];
#pragma unroll
    for (uint k = 0u; k < EACH; k++)
        v[k] = mine ? tiles[PLACE + (long)(k * ITEMS)] : (W2)(0);
    if (TURN)
        transform_back(v, own, t, factor, g.factors / N);
    if (mine)
        store_row(v, src, WEIGHTS, dst, bad, g.first + pair, row, t, outside, &g);
}

/*
 * A kernel that is a line along x: all at once, tiles are pieces of lines. A tile is found bad and
 * stored by the same items.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
convolve_fft_line(__global const T *src, __global const W2 *spectrum, __global W *dst,
                  __global uint *bad, __global const W2 *factor, __local W *room, W outside,
                  W limit, const airy_transform_geom g)
{
    ROW_MAPPING
    W2 v[EACH];
    load_row(v, src, bad, mine ? g.first + pair : g.tiles, row, t, outside, limit, &g);
    transform(v, own, t, factor, g.factors / N);
#pragma unroll
    for (uint k = 0u; k < EACH; k++)
        v[k] = times(v[k], spectrum[t + k * ITEMS]);
    transform_back(v, own, t, factor, g.factors / N);
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (mine)
        store_row(v, src, WEIGHTS, dst, bad, g.first + pair, row, t, outside, &g);
}
