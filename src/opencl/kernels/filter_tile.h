/*
 * What products of lines of few taps in one pass share: tiles of WIDE columns of float in local
 * memory, where rows of the source begin at units of 16 bytes.
 *
 * Build options beside those of filter_line.h: TAPS_X, TAPS_Y, TAPS_Z: taps along the axes; SHIFT:
 * elements from such a beginning to the first that a row of a group looks at; ROWS: of a tile, of
 * which TAPS_Y - 1 or up to DOWN - 1 more give no result, where columns are summed too. DOWN may be
 * set before: items below each other, each of which makes RUN results of a column. Weights are in a
 * table: of x, then each line from the next whole block on (airy_filter_rounded).
 */
#ifndef AIRY_KERNELS_FILTER_TILE_H
#define AIRY_KERNELS_FILTER_TILE_H

#ifndef TAPS_X
#define TAPS_X 15u
#define TAPS_Y 15u
#define TAPS_Z 15u
#define ROWS   32u
#endif
#ifndef SHIFT
#define SHIFT 1
#endif
#ifndef GROUP
#define GROUP 256
#endif

/* An item takes its units of a row one behind the other. */
#define PADDED 0

#include "opencl/kernels/filter_line.h"

#ifndef WIDE
#define WIDE AIRY_FILTER_WIDE
#endif
#define ACROSS       (WIDE / EACH)                                   /* items of a row */
#define NEEDED(wide) (((wide) + TAPS_X - 1u + SHIFT + VL - 1u) / VL) /* units for so many results */
#define TILE_PITCH   (NEEDED(WIDE) | 1u) /* units from row to row where elements are staged */
#define AFTER(taps)  (((taps) + EACH - 1u) / EACH * EACH)

/* The unit at x of a row, whose elements are taken one by one where the row ends in it. */
AIRY_INLINE void stage_unit(__local V *to, __global const T *row, long x, bool there, W outside,
                            const airy_filter_geom *g)
{
    if (there && x >= 0 && x + VL <= g->n[2]) {
        AIRY_FETCH16(to, (__global const V *)(row + x));
        return;
    }
    AIRY_UNROLL(1)
    for (uint k = 0u; k < VL; k++) {
        const long from = airy_border_index(x + (long)k, g->n[2], g->border);
        if (there && from >= 0)
            TO_LOCAL((__local W *)to, k, row + from);
        else
            ((__local W *)to)[k] = outside;
    }
}

#if VL == 4 /* float */
/*
 * The same to registers, of a line that folds once at most. What stands for elements outside lies one
 * behind the other, too, forwards or backwards; no load waits for another.
 */
AIRY_INLINE V unit_at(__global const T *line, int x, int n, W outside, uint border)
{
    if (x >= 0 && x + VL <= n)
        return *(__global const V *)(line + x);
    const bool fills = border < AIRY_BORDER_INDEX_NEAREST;
    if (fills && (x >= n || x + VL <= 0))
        return (V)outside;
    const int end = x < 0 ? -1 : n, first = airy_border_fold(end, n, border),
              step = airy_border_step(border);
    W at[VL];
#pragma unroll
    for (int k = 0; k < VL; k++) {
        const bool inside = x + k >= 0 && x + k < n;
        const int from = inside ? x + k : first + (x + k - end) * step;
        at[k] = outside;
        if (inside || !fills)
            at[k] = line[clamp(from, 0, n - 1)];
    }
    return (V)(at[0], at[1], at[2], at[3]);
}
#endif

/* The row of a plane that row `row` of a tile of `rows` from y on is; -1: none. */
AIRY_INLINE long row_of(long y, uint row, uint rows, const airy_filter_geom *g)
{
    return row < rows ? airy_border_index(y + (long)row, g->n[1], g->border) : -1;
}

/*
 * The units of a row from x on, borders included: ACROSS items take them, and all of these call it.
 * inside: the row has all of them; there: it has some, else all are outside. AIRY_FETCHED and a
 * barrier end it.
 */
AIRY_INLINE void stage_row(__local V *to, __global const T *row, bool inside, bool there, long x,
                           W outside, const airy_filter_geom *g)
{
    const uint first = get_local_id(0) % ACROSS;
    if (inside && there) {
        __global const V *from = (__global const V *)(row + x) + first;
#pragma unroll
        for (uint k = 0u; k < NEEDED(WIDE); k += ACROSS)
            if (first + k < NEEDED(WIDE))
                AIRY_FETCH16(to + first + k, from + k);
        return;
    }
    AIRY_UNROLL(1)
    for (uint k = first; k < NEEDED(WIDE); k += ACROSS)
        stage_unit(to + k, row, x + (long)(k * VL), there, outside, g);
}

/* What an item looks at for EACH results. A macro: from is in global or in local memory. */
#define get_units(at, from)                                                                        \
    do {                                                                                           \
        _Pragma("unroll") for (uint i_ = 0u; i_ < NEEDED(EACH); i_++)                              \
            get_unit((at) + i_ * VL, (from)[i_]);                                                  \
    } while (0)

/* Return what has_pair does for EACH results along x. */
AIRY_INLINE bool units_pair(const W *at)
{
    return has_pair(at + SHIFT, EACH, TAPS_X - 1u, TAPS_X - 1u);
}

/* EACH results along x, of elements from SHIFT behind at[0] on. */
AIRY_INLINE void sum_units(W *sum, const W *at, const W *table)
{
#pragma unroll
    for (uint k = 0u; k < EACH; k++)
        sum[k] = (W)0;
#pragma unroll
    for (uint j = 0u; j < TAPS_X; j++)
#pragma unroll
        for (uint k = 0u; k < EACH; k++)
            sum[k] = fma(table[j], at[SHIFT + k + j], sum[k]);
}

#ifdef ROWS
#ifndef DOWN
#define DOWN (GROUP / WIDE) /* items of a column */
#endif
#define HIGH ((ROWS - (TAPS_Y - 1u)) / DOWN * DOWN) /* rows of results of a group */
#define RUN  (HIGH / DOWN)                          /* results of an item */

#define DOWN_ELEMENT(i) column[(i)*pitch]

/* Make RUN results along y of the column of x sums at `column`. unit: weights add up to 1. */
AIRY_INLINE void sum_down(W *sum, __local const W *column, uint pitch, const W *table, bool unit)
{
    W at[RUN + TAPS_Y - 1u];
#pragma unroll
    for (uint k = 0u; k < RUN + TAPS_Y - 1u; k++)
        at[k] = column[k * pitch];
    const bool pair = has_pair(at, RUN, TAPS_Y - 1u, TAPS_Y - 1u);
#pragma unroll
    for (uint k = 0u; k < RUN; k++) {
        sum[k] = (W)0;
#pragma unroll
        for (uint j = 0u; j < TAPS_Y; j++)
            sum[k] = fma(table[j], at[k + j], sum[k]);
    }
    if (unit && pair)
        KEEP_RUNS(KEEP_ALL, RUN, TAPS_Y, DOWN_ELEMENT, SUM_RESULT);
}
#endif

#endif
