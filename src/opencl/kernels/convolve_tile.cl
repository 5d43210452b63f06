/*
 * The product of two lines of few taps in one pass (filter_tile.h).
 *
 * Build option beside those of filter_tile.h: REQUIRED: the work-group's size is the compiler's to
 * know.
 */
#ifndef REQUIRED
#define REQUIRED 0
#endif
#define DOWN (GROUP / (WIDE / 2u)) /* items of two columns */
#include "opencl/kernels/filter_tile.h"

#if VL == 4 /* float */

#define UNITS (WIDE / VL)      /* of results of x in a row, which lie one behind the other */
#define TURN  (GROUP / ACROSS) /* rows that a group sums at a time */

/*
 * The results that an item makes of a row, to two units. Those of the last four items of a row are
 * the other way round (swap), so that items beside each other find different banks.
 */
AIRY_INLINE void store_sums(__local V *made, uint swap, const W *sum)
{
    made[swap] = (V)(sum[0], sum[1], sum[2], sum[3]);
    made[swap ^ 1u] = (V)(sum[4], sum[5], sum[6], sum[7]);
}

/* Where the element of column x of a row of results is. */
AIRY_INLINE uint place_of(uint x)
{
    return x < WIDE / 2u ? x : x ^ VL;
}

/* Return element x of a line that folds once at most; there: the line is not all outside. */
AIRY_INLINE W element_at(__global const T *line, int x, int n, bool there, W outside, uint border)
{
    const int from = airy_border_fold(x, n, border);
    return there && from >= 0 && from < n ? line[from] : outside;
}

#define MADE_RESULT(k)   ((__local W *)made)[(k) ^ (swap * VL)]
#define INNER_ELEMENT(i) from[SHIFT + (i)]
#define EDGE_ELEMENT(i)  element_at(line, x + (int)(SHIFT + (i)), n, there, outside, g->border)

/*
 * Sums along x of an item's rows of a tile that is not inside of the image. (y, x): what it looks at
 * first.
 */
AIRY_INLINE void sum_edge(__local V *made, uint swap, __global const T *plane, int y, int x,
                          W outside, const W *weights, const airy_filter_geom *g)
{
    const int n = (int)g->n[2], high = (int)g->n[1];
    AIRY_UNROLL(1)
    for (uint row = get_local_id(0) / ACROSS; row < ROWS; row += TURN) {
        W at[NEEDED(EACH) * VL], sum[EACH];
        const int from_y = airy_border_fold(y, high, g->border);
        const bool there = from_y >= 0 && from_y < high;
        __global const T *line = plane + (there ? (long)from_y * g->src_step[2] : 0);
        if (there) {
#pragma unroll
            for (uint i = 0u; i < NEEDED(EACH); i++) {
                AIRY_ANEW(x);
                get_unit(at + i * VL, unit_at(line, x + (int)(i * VL), n, outside, g->border));
            }
        } else {
#pragma unroll
            for (uint i = 0u; i < NEEDED(EACH) * VL; i++)
                at[i] = outside;
        }
        const bool pair = units_pair(at);
        sum_units(sum, at, weights);
        store_sums(made, swap, sum);
        if (g->unit != 0u && pair)
            KEEP_RUNS(KEEP_FEW, EACH, TAPS_X, EDGE_ELEMENT, MADE_RESULT);
        made += TURN * UNITS;
        y += (int)TURN;
    }
}

/*
 * Make RUN results along y of two columns of x sums, which begin at a and b. Returns whether
 * has_pair holds for one of them.
 */
AIRY_INLINE bool sum_pair(W *left, W *right, __local const W *a, __local const W *b, const W *table)
{
    W left_before = (W)0, right_before = (W)0;
    bool pair = false;
#pragma unroll
    for (uint k = 0u; k < RUN; k++)
        left[k] = right[k] = (W)0;
#pragma unroll
    for (uint i = 0u; i < RUN + TAPS_Y - 1u; i++) {
        const W l = a[i * WIDE], r = b[i * WIDE];
#pragma unroll
        for (uint k = 0u; k < RUN; k++)
            if (k <= i && i - k < TAPS_Y) {
                left[k] = fma(table[i - k], l, left[k]);
                right[k] = fma(table[i - k], r, right[k]);
            }
        if (is_pair(i, RUN, TAPS_Y - 1u, TAPS_Y - 1u))
            pair |= l == left_before || r == right_before;
        left_before = l;
        right_before = r;
    }
    return pair;
}

/*
 * Call keep_column for the columns of an item. This is rare, so their places are computed again and
 * take no registers before. to: results of the tile, of which wide x high are wanted.
 */
AIRY_INLINE void keep_pair(__global W *to, __local const W *tile, int wide, int high,
                           const airy_filter_geom *g)
{
    uint item = (uint)get_local_id(0);
    AIRY_ANEW(item);
    const uint y = item / (WIDE / 2u) * RUN;
    const int rows = min(high - (int)y, (int)RUN);
    AIRY_UNROLL(1)
    for (uint x = item % (WIDE / 2u); (int)x < wide && x < WIDE; x += WIDE / 2u)
        keep_column(to + (long)y * g->dst_step[2] + x, g->dst_step[2], (uint)rows,
                    tile + y * WIDE + place_of(x), WIDE, 0u, ROWS, TAPS_Y);
}

/*
 * Along x, then along y. Mapping: a group makes the results of x for a tile of 64 columns, EACH of
 * a row an item, and from these HIGH rows of results, RUN of two columns an item, which are half a
 * tile apart: items beside each other write beside each other. Groups go down strips, and the strips
 * at both ends, which take longer, come first.
 * Local memory: 30 KiB with 15 x 15 taps and 13 rows an item. Barriers: one. Launches are never cut
 * into pieces, so that places are numbers of groups, which takes fewer registers.
 */
__kernel
#if REQUIRED
    __attribute__((reqd_work_group_size(GROUP, 1, 1)))
#endif
    void
    convolve_tile(__global const T *src, WEIGHTS, __global W *dst, W outside,
                  const airy_filter_geom g)
{
    __local V tile[ROWS * UNITS];
    const uint item = get_local_id(0), row = item / ACROSS, across = item % ACROSS,
               plane = (uint)get_group_id(2);
    const int strip = get_group_id(1) > 0 ? (int)get_group_id(1) - 1 : (int)g.strips - 1;
    const int x0 = strip * (int)WIDE, y0 = (int)get_group_id(0) * (int)HIGH;
    const int from_y = y0 + (int)g.offset[1] - (int)(TAPS_Y - 1u),
              from_x = x0 + (int)g.offset[2] - (int)(TAPS_X - 1u + SHIFT);
    __global const T *from = src + g.src_offset;
    __global W *to = dst + g.dst_offset;
    if (plane > 0u) {
        const long image = (long)(plane / (uint)g.out[0]), z = (long)(plane % (uint)g.out[0]);
        from += image * g.src_step[0] + z * g.src_step[1];
        to += image * g.dst_step[0] + z * g.dst_step[1];
    }
    __local V *made = tile + row * UNITS + across * (EACH / VL);
    const uint swap = across / (ACROSS / 2u);
    const int first_y = from_y + (int)row, first_x = from_x + (int)(across * EACH);
    if (from_x >= 0 && from_x + (int)(NEEDED(WIDE) * VL) <= (int)g.n[2] && from_y >= 0 &&
        from_y + (int)ROWS <= (int)g.n[1]) {
        from += (long)first_y * g.src_step[2] + first_x;
        AIRY_UNROLL(1)
        for (uint y = row; y < ROWS; y += TURN) {
            W at[NEEDED(EACH) * VL], sum[EACH];
            get_units(at, (__global const V *)from);
            const bool pair = units_pair(at);
            sum_units(sum, at, TABLE_AT(0));
            store_sums(made, swap, sum);
            if (g.unit != 0u && pair)
                KEEP_RUNS(KEEP_FEW, EACH, TAPS_X, INNER_ELEMENT, MADE_RESULT);
            made += TURN * UNITS;
            from += (long)TURN * g.src_step[2];
        }
    } else
        sum_edge(made, swap, from, first_y, first_x, outside, TABLE_AT(0), &g);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint x = item % (WIDE / 2u), y = item / (WIDE / 2u) * RUN;
    const int wide = (int)g.out[2] - x0 - (int)x, high = (int)g.out[1] - y0 - (int)y;
    W left[RUN], right[RUN];
    if (wide <= 0 || high <= 0)
        return;
    __local const W *column = (__local const W *)tile + y * WIDE;
    const bool pair = sum_pair(left, right, column + x, column + place_of(x + WIDE / 2u),
                               TABLE_AT(AFTER(TAPS_X)));
    __global W *base = to + (long)y0 * g.dst_step[2] + x0;
    to += (long)(y0 + (int)y) * g.dst_step[2] + x0 + (int)x;
    if (wide > (int)(WIDE / 2u) && high >= (int)RUN && g.add == 0u) {
#pragma unroll
        for (uint k = 0u; k < RUN; k++) {
            to[0] = left[k];
            to[WIDE / 2u] = right[k];
            to += g.dst_step[2];
        }
    } else {
#pragma unroll
        for (uint k = 0u; k < RUN; k++)
            if ((int)k < high) {
                put(to, 0, left[k], &g);
                if (wide > (int)(WIDE / 2u))
                    put(to, WIDE / 2u, right[k], &g);
                to += g.dst_step[2];
            }
    }
    if (g.unit != 0u && pair)
        keep_pair(base, (__local const W *)tile, (int)g.out[2] - x0, (int)g.out[1] - y0, &g);
}

#endif
