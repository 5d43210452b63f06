/*
 * Compressed frames to radial sums without a frame in between: blocks are decoded in local memory,
 * and integer counts times fixed-point weights are added to bins in local memory, which go to
 * 64-bit sums in global memory once a work-group. All sums are integers, so their order does not
 * matter.
 *
 * Build options: of fused_block.h; SPAN is at least g.span.
 */
#include "opencl/kernels/fused_block.h"

/*
 * Mapping: LANES * BLOCKS items, which is exact; a group takes group_blocks blocks of one frame,
 *          BLOCKS at a time; groups_a_frame groups a frame.
 * Local memory: BLOCKS * (BLOCK_STORE + 32) + SUMS * SPAN * 8 + 24 bytes. Barriers: of the
 *               work-group around the loop, of a block's lanes inside.
 */
__kernel __attribute__((reqd_work_group_size(LANES * BLOCKS, 1, 1))) void
integrate_blocks(__global const uchar *bytes, __global const uint *table,
                 __global const uint *valid_words, __global const uint *extra_start,
                 __global const airy_fused_extra *extra, __global const float *norm,
                 __global const float *dark, __global ulong *sums, const airy_fused_geom g)
{
    __local uint4 store[BLOCKS][BLOCK_STORE / 16];
    __local uint steps[BLOCKS][STEP_WORDS];
    __local uint low[SUMS * SPAN], high[SUMS * SPAN], stat[6];
    const uint item = get_local_id(0), slot = item / LANES, lane = item % LANES;
    for (uint i = item; i < SUMS * SPAN; i += LANES * BLOCKS)
        low[i] = high[i] = 0u;
    for (uint i = item; i < 6u; i += LANES * BLOCKS)
        stat[i] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);

    const uint frame = get_group_id(0) / g.groups_a_frame;
    const uint begin = get_group_id(0) % g.groups_a_frame * g.group_blocks;
    const uint end = min(begin + g.group_blocks, g.layout.blocks);
    __global const airy_block *places = (__global const airy_block *)(bytes + g.bytes_offset);
    struct group to;
    to.low = low;
    to.high = high;
    to.stat = stat;
    to.sums = sums + (ulong)frame * AIRY_FUSED_PLANES * g.span;
    to.words = (__global uint *)sums + g.words +
               (ulong)frame * (AIRY_FUSED_WORD_PLANES * g.span + AIRY_FUSED_STAT_WORDS);
    to.norm = norm;
    to.dark = dark;
    __global uint *frame_stat = to.words + AIRY_FUSED_WORD_PLANES * g.span;
    struct tally t;
    t.total = 0UL;
    t.rank = t.seen = t.invalid = t.saturated = 0u;
    t.carry.at = t.carry.low = t.carry.high = t.carry.old = 0u;
    for (uint index = begin + slot; index < end; index += BLOCKS) {
        struct block b = block_at(index, store[slot], &g);
        const uint2 range = extra_range(&b, extra_start);
        const uint reason =
            load_block(&b, places[(ulong)(g.first_frame + frame) * g.layout.blocks + index], bytes,
                       lane, steps[slot], &g);
        if (reason == AIRY_STATUS_GOOD) {
            add_extra(&b, lane, range, extra, &to, &g);
            LANES_SYNC();
            add_block(&b, &t, lane, table, valid_words, &to, &g);
        } else if (lane == 0u) {
            /* The lowest status word wins: the highest complement, so that 0 is good. */
            atomic_max(frame_stat + 5, ~(index << 3 | reason));
        }
        LANES_SYNC();
    }
    settle(&to, &t.carry);
    const uint lo = (uint)t.total, old = atomic_add(stat, lo);
    atomic_add(stat + 1, (uint)(t.total >> 32) + (old + lo < old ? 1u : 0u));
    atomic_max(stat + 2, t.rank);
    atomic_add(stat + 3, t.invalid);
    atomic_add(stat + 4, t.saturated);
    atomic_or(stat + 5, t.seen);
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint k = 0u; k < SUMS; k++)
        for (uint i = item; i < g.bins; i += LANES * BLOCKS) {
            const ulong v = (ulong)high[k * SPAN + i] << 32 | low[k * SPAN + i];
            if (v != 0UL)
                add_global(to.sums + (AIRY_FUSED_SIGNAL + k) * g.span + i,
                           to.words + (AIRY_FUSED_OVER + k) * g.span + i, v);
        }
    if (item == 0u) {
        /* The total stays below 2^64: at most 2^32 pixels of 32 bits. */
        add_global((__global ulong *)frame_stat, frame_stat + 6, (ulong)stat[1] << 32 | stat[0]);
        atomic_max(frame_stat + 2, stat[2]);
        atomic_add(frame_stat + 3, stat[3]);
        atomic_add(frame_stat + 4, stat[4]);
        atomic_or(frame_stat + 7, stat[5]);
    }
}

/* 96 bits. */
struct sum {
    ulong low;
    uint over;
};

AIRY_INLINE void add_sum(struct sum *s, ulong v)
{
    s->low += v;
    s->over += s->low < v ? 1u : 0u;
}

AIRY_INLINE double sum_value(struct sum s)
{
    const double above = 18446744073709551616.0; /* 2^64 */
    if (!SIGNED || (int)s.over >= 0)
        return (double)s.over * above + (double)s.low;
    const ulong low = 0UL - s.low;
    return -((double)(~s.over + (low == 0UL ? 1u : 0u)) * above + (double)low);
}

/* For a power of two, whose inverse is one too: dividing by it is this product, bit for bit. */
AIRY_INLINE double inverse(double power)
{
    return as_double((2046UL << 52) - as_ulong(power));
}

/* What the sums of lanes add to a frame's total, and the rank of the largest value. */
AIRY_INLINE void add_slots(__global const ulong *totals, uint frame, ulong *total, uint *rank)
{
    __global const uint *tops =
        (__global const uint *)(totals + AIRY_FUSED_SLOTS * AIRY_FUSED_LANES) + frame;
    ulong slot[AIRY_FUSED_SLOTS];
    uint top[AIRY_FUSED_SLOTS], largest = 0u;
#pragma unroll
    for (uint i = 0u; i < AIRY_FUSED_SLOTS; i++) {
        slot[i] = totals[i * AIRY_FUSED_LANES + frame];
        top[i] = tops[i * AIRY_FUSED_LANES];
    }
#pragma unroll
    for (uint i = 0u; i < AIRY_FUSED_SLOTS; i++) {
        *total += slot[i];
        largest = max(largest, top[i]);
    }
    if (largest != 0u)
        *rank = max(*rank, rank_of(largest));
}

/*
 * Fixed-point sums to the five planes. base: [5][bins] 64-bit sums of a frame without pixels left
 * out: normalization, normalization2, count, dark, squares; base_entries: their number of entries;
 * shift: [bins] the unit of each bin is 2^-shift. All that a bin needs is asked for at once.
 * Mapping: in x bins, in y frames; any work-group. No local memory, no barrier.
 */
__kernel void integrate_blocks_finish(__global const ulong *base, __global const uint *base_entries,
                                      __global const uint *shift, __global const ulong *sums,
                                      __global double *out, __global double *stats,
                                      const airy_fused_geom g)
{
    const uint bin = get_global_id(0), frame = get_global_id(1);
    if (bin >= g.bins)
        return;
    __global const ulong *sum = sums + (ulong)frame * AIRY_FUSED_PLANES * g.span + bin;
    __global const uint *words = (__global const uint *)sums + g.words +
                                 (ulong)frame *
                                     (AIRY_FUSED_WORD_PLANES * g.span + AIRY_FUSED_STAT_WORDS);
    __global const uint *stat = words + AIRY_FUSED_WORD_PLANES * g.span;
    __global const ulong *lanes = sums + g.lane_sums;
    const uint lane = frame % AIRY_FUSED_LANES;
    struct sum signal = {sum[0], words[AIRY_FUSED_OVER * g.span + bin]};
    struct sum variance = {0UL, 0u};
    ulong left[5];
#pragma unroll
    for (uint k = 0u; k < 5u; k++)
        left[k] = base[k * g.bins + bin] - sum[(AIRY_FUSED_NORMALIZATION + k) * g.span];
    const uint entries = base_entries[bin] - words[AIRY_FUSED_GONE * g.span + bin];
    const double unit = as_double((1023UL - shift[bin]) << 52);
    const bool good = stat[5] == 0u;
    if (POISSON) {
        variance.low = sum[AIRY_FUSED_VARIANCE * g.span];
        variance.over = words[(AIRY_FUSED_OVER + 1u) * g.span + bin];
    }
    if (g.lane_sums != 0UL) {
        add_sum(&signal, lanes[bin * AIRY_FUSED_LANES + lane]);
        if (POISSON)
            add_sum(&variance, lanes[(g.span + bin) * AIRY_FUSED_LANES + lane]);
    }
    double plane[5];
    plane[0] = sum_value(signal) * unit - (double)(long)left[3] * inverse(g.dark_scale);
    plane[1] = POISSON ? (sum_value(variance) + (double)left[4]) * unit : 0.0;
    plane[2] = (double)(long)left[0] * inverse(g.normalization_scale);
    plane[3] = (double)left[1] * inverse(g.normalization2_scale);
    plane[4] = (double)left[2] * unit;
    /* Slivers are left whose squares are all below the unit: docs/numerics.md. */
    if (POISSON && plane[1] == 0.0 && plane[4] > 0.0)
        plane[1] = plane[4] * fmax(plane[4], sum_value(signal) * unit) / (double)entries;
    for (uint k = 0u; k < 5u; k++)
        out[g.sums_offset + ((ulong)frame * 5u + k) * g.bins + bin] =
            good && entries != 0u ? plane[k] : 0.0;
    if (bin != 0u)
        return;
    ulong total = (ulong)stat[1] << 32 | stat[0];
    uint rank = stat[2];
    if (g.lane_sums != 0UL)
        add_slots(lanes + SUMS * g.span * AIRY_FUSED_LANES, lane, &total, &rank);
    __global double *to = stats + g.stats_offset + (ulong)frame * 4u;
    const bool any = good && (!SIGNED || stat[7] != 0u);
    to[0] = any ? (SIGNED ? (double)(long)total : (double)total) : 0.0;
    to[1] = any ? (double)value_of(rank_of(rank)) : 0.0;
    __global uint *tail = (__global uint *)(to + 2);
    tail[0] = good ? stat[3] : 0u;
    tail[1] = good ? stat[4] : 0u;
    tail[2] = ~stat[5];
    tail[3] = 0u;
}
