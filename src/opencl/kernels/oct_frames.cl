/*
 * OCT, what needs several lines at once: the mean line of frames, and means, flow and the sinusoidal
 * scan of what oct.cl made of lines.
 *
 * Build options: those of oct_samples.h (mean); GIVEN: what lines are, as AIRY_OCT_AS_...; QUANTITY: what
 * becomes of it; FLOW: 0 none, 1 phase, 2 variance; SINUSOIDAL; OUT: type of the result; INTEGER: it is
 * one; POST: a background is subtracted.
 */
#include "shared/oct_geom.h"
#include "shared/oct_lines_geom.h"

#ifndef GIVEN
#define GIVEN      AIRY_OCT_AS_POWER
#define QUANTITY   AIRY_OCT_AS_DB
#define FLOW       0
#define SINUSOIDAL 1
#define OUT        float
#define INTEGER    0
#define POST       1
#endif
#ifndef GROUP
#define GROUP 64
#endif

#include "opencl/kernels/oct_samples.h"

#if BITS == 32
typedef float part_sum;
#else
typedef uint part_sum;
#endif

/*
 * Sums of samples over part_lines lines: at most 2^16, so that integers are exact; floats are
 * compensated. Mapping: an item for AT_ONCE samples of a part; groups: chunks of a line, then parts,
 * then frames. No local memory, no barriers.
 */
#if HAS(1)
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
oct_mean_sum(__global const uchar *restrict src, __global part_sum *restrict sums,
             const airy_oct_mean_geom g)
{
    const ulong group = get_group_id(0), part = group / g.chunks;
    const uint i = (uint)(group % g.chunks) * GROUP + (uint)get_local_id(0);
    const uint first = (uint)(part % g.parts) * g.part_lines,
               end = min(first + g.part_lines, g.lines);
    __global const uchar *frame = src + g.src_offset + part / g.parts * g.lines * g.line_bytes;
    if (i >= g.samples / AT_ONCE)
        return;
    part_sum sum[AT_ONCE];
#pragma unroll
    for (uint k = 0u; k < AT_ONCE; k++)
        sum[k] = 0;
#if BITS == 32
    float lost = 0.0f;
    for (uint l = first; l < end; l++) {
        const float x = load_float(frame + l * g.line_bytes, i), before = sum[0];
        const float next = before + x, back = next - before;
        lost += (before - (next - back)) + (x - back);
        sum[0] = next;
    }
    sum[0] += isfinite(sum[0]) ? lost : 0.0f;
#else
#pragma unroll 4
    for (uint l = first; l < end; l++) {
        uint halves[(AT_ONCE + 1) / 2];
        load_halves(halves, frame + l * g.line_bytes, i);
#pragma unroll
        for (uint k = 0u; k < AT_ONCE; k++)
            sum[k] += k % 2u == 0u ? halves[k / 2u] & 0xffffu : halves[k / 2u] >> 16;
    }
#endif
#pragma unroll
    for (uint k = 0u; k < AT_ONCE; k++)
        sums[part * g.samples + i * AT_ONCE + k] = sum[k];
}
#endif

/* The mean of sample i from the sums of a frame's parts. */
AIRY_INLINE float mean_of(__global const part_sum *sums, uint i, const airy_oct_mean_geom *g)
{
#if BITS == 32
    float sum = 0.0f, lost = 0.0f;
    for (uint p = 0u; p < g->parts; p++) {
        const float x = sums[(ulong)p * g->samples + i], next = sum + x, back = next - sum;
        lost += (sum - (next - back)) + (x - back);
        sum = next;
    }
    return (sum + (isfinite(sum) ? lost : 0.0f)) / (float)g->lines;
#else
    ulong sum = 0ul;
    for (uint p = 0u; p < g->parts; p++)
        sum += sums[(ulong)p * g->samples + i];
    const uint whole = (uint)(sum / g->lines), rest = (uint)(sum - (ulong)whole * g->lines);
    return (float)((int)whole - ABOVE) + (float)rest / (float)g->lines;
#endif
}

/*
 * The mean line as lines are resampled. table: bases, then weights [sample][tap] as floats. Mapping: an
 * item for a sample; groups: chunks of a line, then frames. No local memory, no barriers.
 */
#if HAS(2)
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
oct_mean(__global const part_sum *restrict sums, __global const uint *restrict table,
         __global float *restrict dst, const airy_oct_mean_geom g)
{
    const ulong frame = get_group_id(0) / g.chunks;
    const uint j = (uint)(get_group_id(0) % g.chunks) * GROUP + (uint)get_local_id(0);
    if (j >= g.samples)
        return;
    __global const part_sum *own = sums + frame * g.parts * g.samples;
    float sum = 0.0f;
    for (uint k = 0u; k < g.taps; k++)
        sum = fma(as_float(table[g.samples + j * g.taps + k]), mean_of(own, table[j] + k, &g), sum);
    dst[g.dst_offset + frame * g.samples + j] = sum;
}
#endif

/* ---- means, flow, the sinusoidal scan ---- */

/* A result that has one part has it in x. */
AIRY_INLINE float2 load_bin(__global const float *src, ulong frame, ulong line, uint p,
                            const airy_oct_combine_geom *g)
{
    const ulong at = (frame * g->lines + line) * g->depth + p;
#if GIVEN == AIRY_OCT_AS_COMPLEX
    return vload2(at, src);
#else
    return (float2)(src[at], 0.0f);
#endif
}

/* Repeat r of a series that begins at frame, line. */
AIRY_INLINE float2 load_repeat(__global const float *src, ulong frame, ulong line, uint r, uint p,
                               const airy_oct_combine_geom *g)
{
    const bool frames = g->repeat_frames > 1u;
    return load_bin(src, frame + (frames ? r : 0u), line + (frames ? 0u : r), p, g);
}

/* What one series adds to the mean of all. */
AIRY_INLINE float2 load_series(__global const float *src, ulong frame, ulong line, uint p,
                               const airy_oct_combine_geom *g)
{
#if FLOW == 0
    return load_bin(src, frame, line, p, g);
#else
    const uint repeats = g->repeat_frames * g->repeat_lines;
    float2 sum = (float2)(0.0f);
#if FLOW == 1
    float2 a = load_repeat(src, frame, line, 0u, p, g);
    for (uint r = 1u; r < repeats; r++) {
        const float2 b = load_repeat(src, frame, line, r, p, g);
        sum += (float2)(fma(a.x, b.x, a.y * b.y), fma(a.x, b.y, -(a.y * b.x)));
        a = b;
    }
#else
    for (uint r = 0u; r < repeats; r++)
        sum.x += load_repeat(src, frame, line, r, p, g).x;
    const float mean = sum.x / (float)repeats;
    sum.x = 0.0f;
    for (uint r = 0u; r < repeats; r++) {
        const float d = load_repeat(src, frame, line, r, p, g).x - mean;
        sum.x = fma(d, d, sum.x);
    }
    sum.x /= (float)repeats;
#endif
    return sum;
#endif
}

/* Bin p of a line of the result as it is before the sinusoidal scan is straightened. */
AIRY_INLINE float2 combine_line(__global const float *src, ulong result, ulong line, uint p,
                                const airy_oct_combine_geom *g)
{
    const ulong frames = g->average_frames * g->repeat_frames,
                lines = g->average_lines * g->repeat_lines;
    float2 sum = (float2)(0.0f);
    for (ulong f = 0ul; f < frames; f += g->repeat_frames)
        for (ulong l = 0ul; l < lines; l += g->repeat_lines)
            sum += load_series(src, result * frames + f, line * lines + l, p, g);
    const float2 mean = sum / (float)(g->average_frames * g->average_lines);
#if QUANTITY == AIRY_OCT_AS_DB && GIVEN == AIRY_OCT_AS_POWER && FLOW == 0
    /* 10 log10(2) */
    const float power = mean.x < AIRY_OCT_LEAST_POWER ? AIRY_OCT_LEAST_POWER : mean.x;
    return (float2)(3.0102999566398120f * AIRY_LOG2(power), 0.0f);
#elif QUANTITY == AIRY_OCT_AS_PHASE && GIVEN == AIRY_OCT_AS_COMPLEX
    return (float2)(atan2(mean.y, mean.x), 0.0f);
#else
    return mean;
#endif
}

/*
 * Mapping: an item for a bin of the result; groups: chunks of a line, then lines of all frames.
 * positions: of lines in the scan, a line and what is behind it. No local memory, no barriers.
 */
#if HAS(3)
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
oct_combine(__global const float *restrict src, __global const uint2 *restrict positions,
            __global const float *restrict post, __global OUT *restrict dst,
            const airy_oct_combine_geom g)
{
    const ulong row = get_group_id(0) / g.chunks, result = row / g.out_lines,
                line = row - result * g.out_lines;
    const uint p = (uint)(get_group_id(0) % g.chunks) * GROUP + (uint)get_local_id(0);
    __global const float *from = src + g.src_offset;
    __global OUT *to = dst + g.dst_offset;
    if (p >= g.depth)
        return;
#if SINUSOIDAL
    const uint2 position = positions[line];
    const float part = as_float(position.y);
    float2 v = combine_line(from, result, position.x, p, &g);
    const float2 next =
        combine_line(from, result, min(position.x + 1u, g.out_lines - 1u), p, &g);
    v = (float2)(fma(part, next.x - v.x, v.x), fma(part, next.y - v.y, v.y));
#else
    (void)positions;
    const float2 v = combine_line(from, result, line, p, &g);
#endif
#if QUANTITY == AIRY_OCT_AS_COMPLEX
    vstore2(v, row * g.depth + p, to);
#else
    float value = fma(v.x, g.scale, g.offset);
#if POST
    value -= post[p];
#endif
#if INTEGER
    value = airy_oct_integer(value, g.top);
#endif
    to[row * g.depth + p] = (OUT)value;
#endif
}
#endif
