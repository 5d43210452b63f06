/*
 * Products of lines: x and y in one pass, y or z in one, x alone.
 *
 * Build options beside those of filter_line.h: TAPS_X, TAPS_Y: taps along x and y (marches: TAPS_Y,
 * along their axis), both or none. Local memory is one piece: lines, the ring, the weights
 * (airy_filter_geom).
 */
#ifdef TAPS_Y
#define LOOP  _Pragma("unroll")
#define EXACT true
#else
#define EXACT false
#endif

#include "opencl/kernels/filter_line.h"

#ifndef TAPS_Y
#define TAPS_X g.taps[2]
#define TAPS_Y (g.axis == 0u ? g.taps[0] : g.taps[1])
#endif

/*
 * Along x, then along y. Mapping: a group goes down a strip of GROUP columns, EACH rows at a time:
 * these go to local memory while the rows before are worked on, an item makes EACH results of one
 * row, which join the ring of rows that y looks back on, and then EACH of one column. Local memory:
 * 2 x EACH lines, the ring, the weights of x (g.taps[2], rounded) and y. Barriers: two a step.
 */
#if HAS(1)
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
convolve_xy(__global const T *src, WEIGHTS, __global W *dst, __local V *memory, W outside,
            const airy_filter_geom g)
{
    const uint item = get_local_id(0), strip = get_group_id(0) % g.strips,
               rest = get_group_id(0) / g.strips, segment = rest % g.segments;
    const uint plane = rest / g.segments;
    const long image = (long)(plane / (uint)g.out[0]), z = (long)(plane % (uint)g.out[0]);
    const uint taps_x = TAPS_X, taps_y = TAPS_Y;
    const long x0 = (long)strip * GROUP, first = (long)segment * g.length;
    const long end = min(first + (long)g.length, (long)g.out[1]);
    const uint columns = (uint)min((long)GROUP, g.out[2] - x0) + taps_x - 1u;
    const uint slots = airy_filter_slots(taps_y);
    const uint blocks = (uint)((end - first + EACH - 1) / EACH) + slots - 1u;
    const long from_x = x0 + g.offset[2] - (long)(taps_x - 1u),
               from_y = first + g.offset[1] - (long)(taps_y - 1u);
    __global const T *from = src + g.src_offset + image * g.src_step[0];
    __global W *to = dst + g.dst_offset + image * g.dst_step[0] + z * g.dst_step[1];
    __local W *lines = (__local W *)memory, *ring = (__local W *)(memory + g.ring);
    __local V *weights_x = memory + g.weights,
              *weights_y = weights_x + airy_filter_rounded(taps_x) / VL;
    const uint ring_pitch = GROUP + GROUP / 8u, run = item % (GROUP / EACH),
               row = item / (GROUP / EACH);
    for (uint i = item; i < taps_x; i += GROUP)
        ((__local W *)weights_x)[i] = WEIGHT(i);
    for (uint i = item; i < taps_y; i += GROUP)
        ((__local W *)weights_y)[i] = WEIGHT(airy_filter_rounded(taps_x) + i);
    stage(lines, g.pitch * VL, EACH, columns, from, z + g.offset[0], from_y, from_x, outside, &g);
    uint newest = 0u; /* block of the ring */
    for (uint m = 0u; m < blocks; m++) {
        W sum[EACH];
        AIRY_FETCHED();
        barrier(CLK_LOCAL_MEM_FENCE);
        if (m + 1u < blocks)
            stage(lines + ((m + 1u) & 1u) * EACH * g.pitch * VL, g.pitch * VL, EACH, columns, from,
                  z + g.offset[0], from_y + (long)(EACH * (m + 1u)), from_x, outside, &g);
        __local const V *line = memory + ((m & 1u) * EACH + row) * g.pitch;
        const bool keep_x = sum_line(sum, line, run * EACH, taps_x, weights_x, EXACT, TABLE_AT(0));
        __local V *made = memory + g.ring + (newest * EACH + row) * (ring_pitch / VL);
        store_line(made, run * (EACH / VL), sum);
        if (g.unit != 0u && keep_x)
            keep_line((__local W *)made, run * EACH, EACH, (__local const W *)line, run * EACH,
                      taps_x);
        barrier(CLK_LOCAL_MEM_FENCE);
        newest = newest + 1u == slots ? 0u : newest + 1u;
        if (m + 1u < slots)
            continue;
        const bool keep_y = sum_column(sum, ring + padded(item), ring_pitch, newest, slots, taps_y,
                                       weights_y, EXACT, TABLE_AT(airy_filter_rounded(taps_x)));
        const long y = first + (long)(EACH * (m + 1u - slots));
        if (x0 + (long)item >= g.out[2])
            continue;
        __global W *at = to + y * g.dst_step[2] + x0 + (long)item;
        put_column(at, g.dst_step[2], sum, EACH, end - y, &g);
        if (g.unit != 0u && keep_y)
            keep_column(at, g.dst_step[2], (uint)min((long)EACH, end - y), ring + padded(item),
                        ring_pitch, newest * EACH, slots * EACH, taps_y);
    }
}
#endif

/*
 * EACH elements along the axis of a march, from number `at` on, which is `seen` behind the first
 * that it looked at. In place, what came before comes from the ring. Those beyond one end lie one
 * behind the other as well, or are all the same, where lines fold once.
 */
AIRY_INLINE void load_ahead(W *to, __global const T *column, long at, uint seen, long n, long step,
                            W outside, __local const W *ring, uint slots, const airy_filter_geom *g)
{
    const bool inside = at >= 0 && at + EACH <= n, behind = g->in_place != 0u && at > 0;
    const bool beyond = (at + EACH <= 0 || at >= n) && at > -n && at + EACH < 2 * n;
    if (!inside && !beyond) {
#pragma unroll
        for (uint k = 0u; k < EACH; k++) {
            const long i = airy_border_index(at + (long)k, n, g->border);
            const uint back = (uint)(i - at + (long)seen);
            if (i >= 0 && i < at && behind)
                to[k] = ring[(back / EACH % slots * EACH + back % EACH) * GROUP];
            else
                to[k] = i < 0 ? outside : (W)column[i * step];
        }
        return;
    }
    const long first = airy_border_index(at, n, g->border),
               way = airy_border_index(at + 1, n, g->border) - first;
    if (first < 0) {
#pragma unroll
        for (uint k = 0u; k < EACH; k++)
            to[k] = outside;
    } else if (inside || !behind) {
        __global const T *from = column + first * step;
#pragma unroll
        for (uint k = 0u; k < EACH; k++) {
            to[k] = (W)*from;
            from += way * step;
        }
    } else {
        const uint rows = slots * EACH;
        uint row = (uint)(first - at + (long)seen) % rows;
#pragma unroll
        for (uint k = 0u; k < EACH; k++) {
            to[k] = ring[row * GROUP];
            row = way < 0 && row == 0u ? rows - 1u : row + (uint)way;
            row = row == rows ? 0u : row;
        }
    }
}

/*
 * Along y or z (g.axis). Mapping: an item goes along a column, EACH elements at a time, and keeps
 * in a ring of its own what it looks back on; columns are numbered x first, then the other axis.
 * Local memory: the ring and the weights. One barrier.
 */
#if HAS(2)
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
convolve_march(__global const T *src, WEIGHTS, __global W *dst, __local V *memory, W outside,
               const airy_filter_geom g)
{
    const uint item = get_local_id(0), taps = TAPS_Y, slots = airy_filter_slots(taps);
    __local W *ring = (__local W *)(memory + g.ring) + item;
    __local V *line = memory + g.weights;
    for (uint i = item; i < taps; i += GROUP)
        ((__local W *)line)[i] = WEIGHT(i);
    barrier(CLK_LOCAL_MEM_FENCE);
    struct column c;
    if (!find_column(&c, GROUP, item, taps, src, dst, &g))
        return;
    const uint blocks = (uint)((c.end - c.first + EACH - 1) / EACH) + slots - 1u;
    W next[EACH], sum[EACH];
    load_ahead(next, c.from, c.begin, 0u, c.n, c.src_step, outside, ring, slots, &g);
    uint newest = 0u;
    for (uint m = 0u; m < blocks; m++) {
#pragma unroll
        for (uint k = 0u; k < EACH; k++)
            ring[(newest * EACH + k) * GROUP] = next[k];
        if (m + 1u < blocks)
            load_ahead(next, c.from, c.begin + (long)(EACH * (m + 1u)), EACH * (m + 1u), c.n,
                       c.src_step, outside, ring, slots, &g);
        newest = newest + 1u == slots ? 0u : newest + 1u;
        if (m + 1u < slots)
            continue;
        const bool keep =
            sum_column(sum, ring, GROUP, newest, slots, taps, line, EXACT, TABLE_AT(0));
        const long at = (long)(EACH * (m + 1u - slots)), left = c.end - c.first - at;
        put_column(c.to + at * c.dst_step, c.dst_step, sum, EACH, left, &g);
        if (g.unit != 0u && keep)
            keep_column(c.to + at * c.dst_step, c.dst_step, (uint)min((long)EACH, left), ring,
                        GROUP, newest * EACH, slots * EACH, taps);
    }
}
#endif

/*
 * Along x, where there are fewer rows than EACH. Mapping: a group makes GROUP * EACH results of one
 * row. Local memory: one line of as many elements and the taps, the weights. Three barriers.
 */
#if HAS(3)
#define ROW_ELEMENT(i) line[padded(item * EACH + (i))]

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
convolve_x(__global const T *src, WEIGHTS, __global W *dst, __local V *memory, W outside,
           const airy_filter_geom g)
{
    const uint item = get_local_id(0);
    const uint strip = get_group_id(0) % g.strips, rest = get_group_id(0) / g.strips;
    const uint row = rest % (uint)g.out[1], plane = rest / (uint)g.out[1];
    const long image = (long)(plane / (uint)g.out[0]), z = (long)(plane % (uint)g.out[0]);
    const long x0 = (long)strip * (GROUP * EACH);
    const uint results = (uint)min((long)(GROUP * EACH), g.out[2] - x0),
               length = results + g.taps[2] - 1u;
    const long from_x = x0 + g.offset[2] - (long)(g.taps[2] - 1u), y = (long)row + g.offset[1];
    __global const T *from = src + g.src_offset + image * g.src_step[0] + z * g.src_step[1] +
                             y * g.src_step[2];
    __local W *line = (__local W *)memory;
    W sum[EACH];
    for (uint i = item; i < g.taps[2]; i += GROUP)
        ((__local W *)(memory + g.weights))[i] = WEIGHT(i);
    if (from_x >= 0 && from_x + (long)length <= g.n[2])
        for (uint i = item; i < length; i += GROUP)
            TO_LOCAL(line, padded(i), from + from_x + i);
    else
        for (uint i = item; i < length; i += GROUP) {
            const long x = airy_border_index(from_x + (long)i, g.n[2], g.border);
            if (x < 0)
                line[padded(i)] = outside;
            else
                TO_LOCAL(line, padded(i), from + x);
        }
    AIRY_FETCHED();
    barrier(CLK_LOCAL_MEM_FENCE);
    const bool keep =
        sum_line(sum, memory, item * EACH, g.taps[2], memory + g.weights, false, TABLE_AT(0));
    if (g.unit != 0u && keep)
        KEEP_RUNS(KEEP_ALL, EACH, g.taps[2], ROW_ELEMENT, SUM_RESULT);
    barrier(CLK_LOCAL_MEM_FENCE);
    store_line(memory, item * (EACH / VL), sum);
    barrier(CLK_LOCAL_MEM_FENCE);
    const long to = g.dst_offset + image * g.dst_step[0] + z * g.dst_step[1] +
                    (long)row * g.dst_step[2] + x0;
    for (uint i = item; i < results; i += GROUP)
        put(dst, to + (long)i, line[padded(i)], &g);
}
#endif

/*
 * Along y or z with more taps than a ring has room for. Mapping: an item makes EACH results, one
 * behind the other along the axis; columns as convolve_march. No local memory, no barrier.
 */
#if HAS(4)
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
convolve_run(__global const T *src, WEIGHTS, __global W *dst, W outside, const airy_filter_geom g)
{
    const uint strip = get_group_id(0) % g.strips, rest = get_group_id(0) / g.strips;
    const bool along_z = g.axis == 0u;
    const uint taps = along_z ? g.taps[0] : g.taps[1];
    const ulong column = (ulong)strip * GROUP + get_local_id(0);
    const long image = (long)(rest / g.segments), first = EACH * (long)(rest % g.segments);
    const long x = (long)(column % (ulong)g.out[2]), across = (long)(column / (ulong)g.out[2]);
    if (across >= (along_z ? g.out[1] : g.out[0]))
        return;
    const long n = along_z ? g.n[0] : g.n[1], out = along_z ? g.out[0] : g.out[1];
    const long step = along_z ? g.src_step[1] : g.src_step[2];
    __global const T *from = src + g.src_offset + image * g.src_step[0] +
                             across * (along_z ? g.src_step[2] : g.src_step[1]) + x;
    const long begin = first + (along_z ? g.offset[0] : g.offset[1]) - (long)(taps - 1u);
    W sum[EACH];
#pragma unroll
    for (uint k = 0u; k < EACH; k++)
        sum[k] = (W)0;
    W before = (W)0;
    uint equal = 0u; /* how many of the last elements are equal */
    /* Element i of the run's source counts in result k with weight i - k. */
    for (uint i = 0u; i < taps + EACH - 1u; i++) {
        const long at = airy_border_index(begin + (long)i, n, g.border);
        const W v = at < 0 ? outside : (W)from[at * step];
#pragma unroll
        for (uint k = 0u; k < EACH; k++)
            if (i >= k && i - k < taps)
                sum[k] = fma(WEIGHT(i - k), v, sum[k]);
        equal = v == before ? equal + 1u : 1u;
        before = v;
        if (g.unit != 0u && equal >= taps) { /* KEEP_RUNS */
#pragma unroll
            for (uint k = 0u; k < EACH; k++)
                sum[k] = i - k == taps - 1u ? v : sum[k];
        }
    }
    __global W *to = dst + g.dst_offset + image * g.dst_step[0] +
                     across * (along_z ? g.dst_step[2] : g.dst_step[1]) + x;
#pragma unroll
    for (uint k = 0u; k < EACH; k++)
        if (first + (long)k < out)
            put(to, (first + (long)k) * (along_z ? g.dst_step[1] : g.dst_step[2]), sum[k], &g);
}
#endif
