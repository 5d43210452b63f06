/*
 * Lines of float along one axis, four of which an item takes at a time: an element in its registers
 * counts in EACH results, a weight in four times as many. Weights are the same for all items at a
 * time, so that GPUs keep them in uniform registers.
 *
 * Build options beside those of filter_line.h: along x (KERNEL 1): TAPS_X, and where rows of the
 * source begin at units of 16 bytes, UNITS and SHIFT (filter_tile.h); along y or z (KERNEL 2):
 * TAPS_Y, taps along the axis.
 */
#ifndef UNITS
#define UNITS 0
#endif
#ifndef SHIFT
#define SHIFT 0
#endif

#include "shared/filter_geom.h"
#define WIDE AIRY_FILTER_ACROSS
#include "opencl/kernels/filter_tile.h"

#if VL == 4

/*
 * Blocks of EACH elements that EACH results look at; the first of them all of which count in all
 * results, and the first behind these. shift: as in add_block.
 */
#define BLOCKS(taps, shift)  (((taps) + (shift) + 2u * EACH - 2u) / EACH)
#define FULL_FROM(shift)     ((2u * EACH - 2u + (shift)) / EACH)
#define FULL_TO(taps, shift) max(((taps) + (shift)) / EACH, FULL_FROM(shift))

#if TABLE
#define LINE    const W *
#define LINE_AT weights.w
#else
#define LINE    __global const W *
#define LINE_AT weights
#endif

/* Return whether elements of two lines are equal at one of four places. */
AIRY_INLINE bool any_equal(V a, V b)
{
    return any(a == b);
}

/*
 * What block number `block` gives to EACH results of four lines: result k is the sum of weight j
 * times element k + j + shift. full: all of the block counts in all results.
 */
AIRY_INLINE void add_block(V *sum, const V *at, LINE weights, uint block, uint shift, uint taps,
                           bool full)
{
    W w[2u * EACH - 1u];
    const int first = (int)(block * EACH) - (int)(EACH - 1u + shift); /* weight of w[0] */
#pragma unroll
    for (int j = 0; j < (int)(2u * EACH - 1u); j++)
        if (full || (first + j >= 0 && first + j < (int)taps))
            w[j] = weights[first + j];
#pragma unroll
    for (int i = 0; i < (int)EACH; i++)
#pragma unroll
        for (int k = 0; k < (int)EACH; k++) {
            const int j = (int)EACH - 1 + i - k;
            if (full || (first + j >= 0 && first + j < (int)taps))
                sum[k] = fma((V)w[j], at[i], sum[k]);
        }
}

#if HAS(1)
#define BELOW  (GROUP / ACROSS) /* items below each other */
#define HIGH_X (BELOW * VL)

/* Elements of four lines that are `apart` units apart: at[i] has element i of each. */
AIRY_INLINE void load_across(V *at, __local const V *line, uint apart)
{
#pragma unroll
    for (uint u = 0u; u < EACH / VL; u++) {
        const V a = line[u], b = line[apart + u], c = line[2u * apart + u],
                d = line[3u * apart + u];
        at[u * VL] = (V)(a.s0, b.s0, c.s0, d.s0);
        at[u * VL + 1u] = (V)(a.s1, b.s1, c.s1, d.s1);
        at[u * VL + 2u] = (V)(a.s2, b.s2, c.s2, d.s2);
        at[u * VL + 3u] = (V)(a.s3, b.s3, c.s3, d.s3);
    }
}

/* Line r of what four lines gave: results 4 u to 4 u + 3. */
AIRY_INLINE V unit_across(const V *sum, uint r, uint u)
{
    const V a = sum[u * VL], b = sum[u * VL + 1u], c = sum[u * VL + 2u], d = sum[u * VL + 3u];
    return r == 0u   ? (V)(a.s0, b.s0, c.s0, d.s0)
           : r == 1u ? (V)(a.s1, b.s1, c.s1, d.s1)
           : r == 2u ? (V)(a.s2, b.s2, c.s2, d.s2)
                     : (V)(a.s3, b.s3, c.s3, d.s3);
}

/* Make EACH results along x of four lines. Returns whether has_pair holds for one of them. */
AIRY_INLINE bool sum_across(V *sum, __local const V *line, uint apart, LINE weights)
{
    const uint from = FULL_FROM(SHIFT), to = FULL_TO(TAPS_X, SHIFT), all = BLOCKS(TAPS_X, SHIFT);
    V at[EACH];
    bool pair = false;
#pragma unroll
    for (uint k = 0u; k < EACH; k++)
        sum[k] = (V)(W)0;
#pragma unroll
    for (uint b = 0u; b < min(from, all); b++) {
        load_across(at, line + b * (EACH / VL), apart);
        add_block(sum, at, weights, b, SHIFT, TAPS_X, false);
    }
    AIRY_UNROLL(1)
    for (uint b = from; b < to; b++) {
        load_across(at, line + b * (EACH / VL), apart);
        add_block(sum, at, weights, b, SHIFT, TAPS_X, true);
        if (b == from) /* has_pair: elements under the weights of all results */
            pair = any_equal(at[0], at[1]);
    }
#pragma unroll
    for (uint b = to; b < all; b++) {
        load_across(at, line + b * (EACH / VL), apart);
        add_block(sum, at, weights, b, SHIFT, TAPS_X, false);
    }
    return pair;
}

/* The lines of a group, borders included. AIRY_FETCHED and a barrier end it. */
AIRY_INLINE void stage_lines(__local V *lines, __global const T *image, long z, long y, long x,
                             W outside, const airy_filter_geom *g)
{
#if UNITS
    const bool inside = x >= 0 && x + (long)(NEEDED(WIDE) * VL) <= g->n[2];
    const long from_z = airy_border_index(z, g->n[0], g->border);
    AIRY_UNROLL(1)
    for (uint row = get_local_id(0) / ACROSS; row < HIGH_X; row += BELOW) {
        const long from_y = airy_border_index(y + (long)row, g->n[1], g->border);
        stage_row(lines + row * TILE_PITCH,
                  image + from_z * g->src_step[1] + from_y * g->src_step[2], inside,
                  from_z >= 0 && from_y >= 0, x, outside, g);
    }
#else
    stage((__local W *)lines, TILE_PITCH * VL, HIGH_X, WIDE + TAPS_X - 1u, image, z, y, x, outside,
          g);
#endif
}

#define ACROSS_ELEMENT(i) ((__local const W *)line)[SHIFT + (i)]
#define ACROSS_RESULT(k)  to[k]

/*
 * Along x. Mapping: a group makes WIDE results of HIGH_X rows, an item EACH of four rows. Local
 * memory: the lines, 27 KiB with 81 taps. One barrier.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
convolve_quads_x(__global const T *src, WEIGHTS, __global W *dst, W outside,
                 const airy_filter_geom g)
{
    __local V lines[HIGH_X * TILE_PITCH + EACH / VL]; /* a whole block is read at the end */
    const uint item = get_local_id(0), strip = get_group_id(0) % g.strips,
               rest = get_group_id(0) / g.strips, plane = rest / g.segments;
    const long image = (long)(plane / (uint)g.out[0]), z = (long)(plane % (uint)g.out[0]);
    const long x0 = (long)strip * WIDE, y0 = (long)(rest % g.segments) * HIGH_X;
    /* Items 4 across and 2 down in turn, so that they find different banks. */
    const uint run = item % 4u + item / 8u % (ACROSS / 4u) * 4u,
               row = item / 4u % 2u + item / (2u * ACROSS) * 2u;
    V sum[EACH];
    stage_lines(lines, src + g.src_offset + image * g.src_step[0], z + g.offset[0],
                y0 + g.offset[1], x0 + g.offset[2] - (long)(TAPS_X - 1u) - SHIFT, outside, &g);
    AIRY_FETCHED();
    barrier(CLK_LOCAL_MEM_FENCE);
    __local const V *line = lines + row * TILE_PITCH + run * (EACH / VL);
    const bool keep = sum_across(sum, line, BELOW * TILE_PITCH, LINE_AT);
    const long columns = g.out[2] - x0 - (long)(run * EACH), rows = g.out[1] - y0 - (long)row;
    __global W *to = dst + g.dst_offset + image * g.dst_step[0] + z * g.dst_step[1] +
                     (y0 + (long)row) * g.dst_step[2] + x0 + (long)(run * EACH);
#pragma unroll
    for (uint r = 0u; r < VL; r++)
#pragma unroll
        for (uint u = 0u; u < EACH / VL; u++)
            if ((long)(r * BELOW) < rows && (long)(u * VL) < columns)
                *(__global V *)(to + (long)(r * BELOW) * g.dst_step[2] + u * VL) =
                    unit_across(sum, r, u);
    if (g.unit != 0u && keep) {
        AIRY_UNROLL(1)
        for (uint r = 0u; r < VL && (long)(r * BELOW) < rows; r++) {
            KEEP_RUNS(KEEP_FEW, (uint)clamp(columns, 0L, (long)EACH), TAPS_X, ACROSS_ELEMENT,
                      ACROSS_RESULT);
            line += BELOW * TILE_PITCH;
            to += (long)BELOW * g.dst_step[2];
        }
    }
}
#endif

#if HAS(2)
#define COLUMNS     AIRY_FILTER_WIDE
#define QUADS       (COLUMNS / VL)  /* items beside each other */
#define STEP_BLOCKS (GROUP / QUADS) /* items along the axis */
#define STEP_ROWS   (STEP_BLOCKS * EACH)
#define RING        (BLOCKS(TAPS_Y, 0u) + STEP_BLOCKS - 1u) /* blocks */
#define RING_ROWS   (RING * EACH)

AIRY_INLINE void load_down(V *at, __local const V *column)
{
#pragma unroll
    for (uint i = 0u; i < EACH; i++)
        at[i] = column[i * QUADS];
}

/* The block behind block `block` of the ring. */
AIRY_INLINE uint next_block(uint block)
{
    return block + 1u == RING ? 0u : block + 1u;
}

/*
 * Make EACH results down four columns of the ring, from block `first` on. Returns whether has_pair
 * holds for one of them.
 */
AIRY_INLINE bool sum_columns(V *sum, __local const V *ring, uint first, LINE weights)
{
    const uint from = FULL_FROM(0u), to = FULL_TO(TAPS_Y, 0u);
    uint block = first;
    V at[EACH], before;
    bool pair = false;
#pragma unroll
    for (uint k = 0u; k < EACH; k++)
        sum[k] = (V)(W)0;
    load_down(at, ring + block * (EACH * QUADS));
    add_block(sum, at, weights, 0u, 0u, TAPS_Y, false);
    /* has_pair: elements 7 and 8, or all of those of few taps */
    before = at[EACH - 1u];
    if (TAPS_Y <= EACH) {
#pragma unroll
        for (uint i = 2u; i < EACH; i += 2u)
            pair |= any_equal(at[i - 1u], at[i]);
    }
    AIRY_UNROLL(1)
    for (uint b = from; b < to; b++) {
        block = next_block(block);
        load_down(at, ring + block * (EACH * QUADS));
        add_block(sum, at, weights, b, 0u, TAPS_Y, true);
        if (b == 1u)
            pair = any_equal(before, at[0]);
    }
#pragma unroll
    for (uint b = to; b < BLOCKS(TAPS_Y, 0u); b++) {
        block = next_block(block);
        load_down(at, ring + block * (EACH * QUADS));
        add_block(sum, at, weights, b, 0u, TAPS_Y, false);
        if (b == 1u)
            pair |= any_equal(before, at[0]);
    }
    return pair;
}

/* Elements that are not there: lines fold once at most, so these lie in one direction. */
struct beyond {
    uint low, high; /* rows from `low` to `high`, counted from the first looked at, are there */
    int front, front_way, behind, behind_way;
};

AIRY_INLINE struct beyond look_beyond(long begin, long n, uint rows, uint border)
{
    struct beyond b;
    b.low = (uint)max(-begin, 0L);
    b.high = (uint)clamp(n - begin, 0L, (long)rows);
    b.front = (int)airy_border_index(-1, n, border);
    b.front_way = (int)airy_border_index(-2, n, border) - b.front;
    const long edge = begin + (long)b.high;
    b.behind = (int)airy_border_index(edge, n, border);
    b.behind_way = (int)airy_border_index(edge + 1, n, border) - b.behind;
    return b;
}

/*
 * Row `row`, which is not there, to ring[slot]. In place, of what comes again behind the end rows up
 * to `seen` are in the ring, and only they may have been written since.
 */
AIRY_INLINE void stage_beyond(__local V *ring, uint slot, uint row, uint seen,
                              const struct beyond *b, const struct column *c, W outside,
                              bool in_place)
{
    const int at = row < b->low ? b->front + (int)(b->low - 1u - row) * b->front_way
                                : b->behind + (int)(row - b->high) * b->behind_way;
    const uint again = (uint)(at - (int)c->begin);
    if (at < 0)
        ring[slot] = (V)outside;
    else if (in_place && row >= b->high && again < seen)
        ring[slot] = ring[again % RING_ROWS * QUADS + slot % QUADS];
    else
        AIRY_FETCH16(ring + slot, (__global const V *)(c->from + (long)at * c->src_step));
}

/*
 * Along y or z (g.axis). Mapping: a group goes along COLUMNS columns, STEP_ROWS elements at a time,
 * and keeps what they look back on in a ring of blocks; an item makes EACH results of four columns,
 * which are numbered x first, then the other axis. Local memory: the ring, 36 KiB with 81 taps.
 * Barriers: two a step.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
convolve_quads(__global const T *src, WEIGHTS, __global W *dst, W outside, const airy_filter_geom g)
{
    __local V ring[RING_ROWS * QUADS];
    const uint lane = get_local_id(0) % QUADS, block = get_local_id(0) / QUADS;
    struct column c;
    const bool there = find_column(&c, COLUMNS, lane * VL, TAPS_Y, src, dst, &g);
    const uint rows = (uint)(c.end - c.first) + TAPS_Y - 1u; /* that are looked at */
    const struct beyond beyond = look_beyond(c.begin, c.n, rows, g.border);
    uint seen = 0u, until = RING_ROWS, oldest = 0u; /* rows; a block of the ring */
    uint row = block, slot = block * QUADS + lane;  /* what the item stages next, and where to */
    __global const T *next = c.from + (c.begin + (long)row) * c.src_step;
    __global W *to = c.to + (long)(block * EACH) * c.dst_step;
    long left = c.end - c.first - (long)(block * EACH);
    AIRY_UNROLL(1)
    for (;;) {
        const uint stop = there ? min(until, rows) : 0u;
        AIRY_UNROLL(1)
        for (; row < stop; row += STEP_BLOCKS) {
            if (row >= beyond.low && row < beyond.high)
                AIRY_FETCH16(ring + slot, (__global const V *)next);
            else
                stage_beyond(ring, slot, row, seen, &beyond, &c, outside, g.in_place != 0u);
            next += (long)STEP_BLOCKS * c.src_step;
            slot += STEP_BLOCKS * QUADS;
            slot = slot >= RING_ROWS * QUADS ? slot - RING_ROWS * QUADS : slot;
        }
        AIRY_FETCHED();
        barrier(CLK_LOCAL_MEM_FENCE);
        if (there && left > 0) {
            V sum[EACH];
            const uint from = oldest + block >= RING ? oldest + block - RING : oldest + block;
            const bool keep = sum_columns(sum, ring + lane, from, LINE_AT);
#pragma unroll
            for (uint k = 0u; k < EACH; k++)
                if ((long)k < left)
                    *(__global V *)(to + (long)k * c.dst_step) = sum[k];
            if (g.unit != 0u && keep) {
                AIRY_UNROLL(1)
                for (uint r = 0u; r < VL; r++)
                    keep_column(to + r, c.dst_step, (uint)min((long)EACH, left),
                                (__local const W *)(ring + lane) + r, QUADS * VL, from * EACH,
                                RING_ROWS, TAPS_Y);
            }
        }
        /* By results: the ring may hold all rows before as many steps are done as give all. */
        if ((long)(until - RING_ROWS + STEP_ROWS) >= c.end - c.first)
            break;
        seen = until;
        until += STEP_ROWS;
        oldest = oldest + STEP_BLOCKS >= RING ? oldest + STEP_BLOCKS - RING : oldest + STEP_BLOCKS;
        to += (long)STEP_ROWS * c.dst_step;
        left -= STEP_ROWS;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#endif
#endif
