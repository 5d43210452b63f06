/*
 * Radial sums of frames in memory: every bin's row of the matrix is walked in pieces. All sums of
 * pixel values are in double precision and in one order, whatever the batch.
 *
 * Build options: T, the frames' element type, with T_FLOAT for float and double; GROUP, work-items
 * of a piece, a power of two; FRAMES, frames that share a read of the matrix; MODEL, the error
 * model: 0 none, 1 poisson, 2 azimuthal, 3 variance; UNWEIGHTED 1: weight and coef differ; DARK 1:
 * there is a dark image.
 */
#include "shared/block_layout.h"
#include "shared/gather_geom.h"

#ifndef T
#define T uint
#endif
#ifndef GROUP
#define GROUP 64
#endif
#ifndef FRAMES
#define FRAMES 4
#endif
#ifndef MODEL
#define MODEL 0
#endif
#ifndef UNWEIGHTED
#define UNWEIGHTED 0
#endif
#ifndef DARK
#define DARK 0
#endif

#define PLANES         5u /* of a frame's sums */
#define SIGNAL         0u
#define VARIANCE       1u
#define NORMALIZATION  2u
#define NORMALIZATION2 3u
#define COUNT          4u

static inline bool is_invalid(T raw, const airy_pixel_test t)
{
#ifdef T_FLOAT
    const double v = raw;
    return !isfinite(v) || (v >= t.float_lo && v <= t.float_hi);
#else
    const long v = raw;
    return v >= t.lo && v <= t.hi;
#endif
}

static inline bool is_saturated(T raw, const airy_pixel_test t)
{
#ifdef T_FLOAT
    return (double)raw >= t.float_saturation;
#else
    return (long)raw >= t.saturation;
#endif
}

/*
 * columns[n][GROUP] become sums in columns[n][0], in a fixed order. All items of the group call it.
 */
static inline void add_columns(__local double *columns, uint n, uint item)
{
    for (uint half_size = GROUP / 2u; half_size > 0u; half_size /= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_size)
            for (uint k = 0u; k < n; k++)
                columns[k * GROUP + item] += columns[k * GROUP + item + half_size];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/*
 * Signal and poisson variance (less its constant part) of one piece for FRAMES frames, and how
 * many entries are invalid there.
 * Mapping: work-groups of GROUP items, in x a piece each, in y FRAMES frames. Local memory: FRAMES
 *          * (GROUP * 16 + 4) bytes.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
gather_pieces(__global const uint *pixel, __global const float *weight,
              __global const airy_gather_piece *pieces, __global const T *frames,
              __global double *partials, __global uint *words, const airy_gather_geom g)
{
    __local double columns[2 * FRAMES * GROUP];
    __local uint gone_of[FRAMES];
    const uint item = get_local_id(0), piece = get_group_id(0), first = get_group_id(1) * FRAMES;
    const airy_gather_piece span = pieces[piece];
    double signal[FRAMES], variance[FRAMES];
    uint gone[FRAMES];
    ulong image[FRAMES];
#pragma unroll
    for (uint f = 0u; f < FRAMES; f++) {
        signal[f] = variance[f] = 0.0;
        gone[f] = 0u;
        /* Frames behind the last one are the last one once more. */
        image[f] = g.frames_offset + (ulong)min(first + f, g.frames - 1u) * g.pixels;
    }
    if (item < FRAMES)
        gone_of[item] = 0u;
    for (uint i = item; i < span.count; i += GROUP) {
        const uint p = pixel[span.first + i];
        const double w = weight[span.first + i];
#pragma unroll
        for (uint f = 0u; f < FRAMES; f++) {
            const T raw = frames[image[f] + p];
            const bool out = is_invalid(raw, g.test);
            const double v = out ? 0.0 : (double)raw;
            gone[f] += out ? 1u : 0u;
            signal[f] = fma(w, v, signal[f]);
            if (MODEL == 1)
                variance[f] = fma(w * w, fmax(v, 1.0) - 1.0, variance[f]);
        }
    }
#pragma unroll
    for (uint f = 0u; f < FRAMES; f++) {
        columns[f * GROUP + item] = signal[f];
        columns[(FRAMES + f) * GROUP + item] = variance[f];
    }
    add_columns(columns, MODEL == 1 ? 2u * FRAMES : FRAMES, item);
#pragma unroll
    for (uint f = 0u; f < FRAMES; f++)
        if (gone[f] != 0u)
            atomic_add(&gone_of[f], gone[f]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < FRAMES && first + item < g.frames) {
        const ulong at = (ulong)(first + item) * g.pieces + piece;
        partials[2u * at] = columns[item * GROUP];
        partials[2u * at + 1u] = MODEL == 1 ? columns[(FRAMES + item) * GROUP] : 0.0;
        words[g.gone + at] = gone_of[item];
    }
}

/*
 * What the pixels left of a piece contribute to the sums that are the same for all frames where
 * none is invalid, each sum by itself: nothing is taken away from a larger one. Pieces without
 * invalid pixels write nothing.
 * Mapping: work-groups of GROUP items, in x a piece each, in y a frame. Local memory: GROUP * 40
 *          bytes. Barriers: of the work-group.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
gather_kept(__global const uint *pixel, __global const float *weight, __global const float *coef,
            __global const airy_gather_piece *pieces, __global const float *norm,
            __global const float *dark, __global const float *variance, __global const T *frames,
            __global double *scratch, __global const uint *words, const airy_gather_geom g)
{
    __local double columns[5 * GROUP];
    const uint item = get_local_id(0), piece = get_group_id(0), frame = get_group_id(1);
    const ulong at = (ulong)frame * g.pieces + piece;
    if (words[g.gone + at] == 0u)
        return;
    const airy_gather_piece span = pieces[piece];
    __global const T *image = frames + g.frames_offset + (ulong)frame * g.pixels;
    double sum[5] = {0.0, 0.0, 0.0, 0.0, 0.0};
    for (uint i = item; i < span.count; i += GROUP) {
        const uint e = span.first + i, p = pixel[e];
        if (is_invalid(image[p], g.test))
            continue;
        const double w = weight[e];
        const double c = UNWEIGHTED ? coef[e] : weight[e];
        const double cn = c * (double)norm[p];
        sum[0] += cn;
        sum[1] = fma(cn, cn, sum[1]);
        sum[2] += c;
        if (DARK)
            sum[3] = fma(w, (double)dark[p], sum[3]);
        if (MODEL == 1)
            sum[4] = fma(w, w, sum[4]);
        if (MODEL == 3)
            sum[4] = fma(w * w, (double)variance[p], sum[4]);
    }
    for (uint k = 0u; k < 5u; k++)
        columns[k * GROUP + item] = sum[k];
    add_columns(columns, 5u, item);
    if (item < 5u)
        scratch[g.kept + at * 5u + item] = columns[item * GROUP];
}

/*
 * The pieces of each bin, in order, to the five planes. base: [5][bins] normalization,
 * normalization2, count, dark, variance of a frame without invalid pixels; piece_base: [pieces][5]
 * the pieces' part in them; row: [bins + 1], the bins' pieces. Azimuthal models leave the variance
 * to the kernels below.
 * Mapping: in x bins, in y frames; any work-group. No local memory, no barrier.
 */
__kernel void gather_finish(__global const uint *row, __global const double *base,
                            __global const double *piece_base, __global const uint *base_entries,
                            __global const double *scratch, __global const uint *words,
                            __global const uint *status, __global double *sums,
                            const airy_gather_geom g)
{
    const uint bin = get_global_id(0), frame = get_global_id(1);
    if (bin >= g.bins)
        return;
    double signal = 0.0, variance = 0.0, fixed[5];
    uint gone = 0u;
    for (uint piece = row[bin]; piece < row[bin + 1u]; piece++) {
        const ulong at = (ulong)frame * g.pieces + piece;
        signal += scratch[2u * at];
        variance += scratch[2u * at + 1u];
        gone += words[g.gone + at];
    }
    __global double *out = sums + g.sums_offset + (ulong)frame * PLANES * g.bins + bin;
    const bool bad = g.has_status != 0u && status[g.status_offset + frame] != AIRY_STATUS_GOOD;
    if (bad || gone == base_entries[bin]) {
        for (uint k = 0u; k < PLANES; k++)
            out[(ulong)k * g.bins] = 0.0;
        return;
    }
    for (uint k = 0u; k < 5u; k++)
        fixed[k] = gone == 0u ? base[k * g.bins + bin] : 0.0;
    for (uint piece = row[bin]; piece < row[bin + 1u] && gone != 0u; piece++) {
        const ulong at = (ulong)frame * g.pieces + piece;
        const bool whole = words[g.gone + at] == 0u;
        for (uint k = 0u; k < 5u; k++)
            fixed[k] += whole ? piece_base[piece * 5u + k] : scratch[g.kept + at * 5u + k];
    }
    out[SIGNAL * g.bins] = signal - fixed[3];
    out[VARIANCE * g.bins] = fixed[4] + variance;
    out[NORMALIZATION * g.bins] = fixed[0];
    out[NORMALIZATION2 * g.bins] = fixed[1];
    out[COUNT * g.bins] = fixed[2];
}

/* What an entry adds to signal and normalization. */
static inline double entry_signal(__global const float *weight, __global const float *dark, uint e,
                                  uint p, T raw)
{
    return (double)weight[e] * (DARK ? (double)raw - (double)dark[p] : (double)raw);
}

static inline double entry_norm(__global const float *weight, __global const float *coef,
                                __global const float *norm, uint e, uint p)
{
    return (double)(UNWEIGHTED ? coef[e] : weight[e]) * (double)norm[p];
}

/*
 * Second moment around the bin's mean, of one piece and frame: sum (weight (raw - dark) - mean
 * coef norm)^2. Mapping, memory and barriers as gather_kept, with GROUP * 8 bytes.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
azimuth_pieces(__global const uint *pixel, __global const float *weight, __global const float *coef,
               __global const airy_gather_piece *pieces, __global const float *norm,
               __global const float *dark, __global const T *frames, __global const double *sums,
               __global double *partials, const airy_gather_geom g)
{
    __local double columns[GROUP];
    const uint item = get_local_id(0), piece = get_group_id(0), frame = get_group_id(1);
    const airy_gather_piece span = pieces[piece];
    __global const T *image = frames + g.frames_offset + (ulong)frame * g.pixels;
    __global const double *of = sums + g.sums_offset + (ulong)frame * PLANES * g.bins + span.bin;
    const double whole = of[NORMALIZATION * g.bins];
    const double mean = whole != 0.0 ? of[SIGNAL * g.bins] / whole : 0.0;
    double sum = 0.0;
    for (uint i = item; i < span.count; i += GROUP) {
        const uint e = span.first + i, p = pixel[e];
        const T raw = image[p];
        if (is_invalid(raw, g.test))
            continue;
        const double d = entry_signal(weight, dark, e, p, raw) -
                         mean * entry_norm(weight, coef, norm, e, p);
        sum = fma(d, d, sum);
    }
    columns[item] = sum;
    add_columns(columns, 1u, item);
    if (item == 0u)
        partials[((ulong)frame * g.pieces + piece) * 2u + 1u] = columns[0];
}

/* Mapping: in x bins, in y frames; any work-group. No local memory, no barrier. */
__kernel void azimuth_finish(__global const uint *row, __global const double *partials,
                             __global double *sums, const airy_gather_geom g)
{
    const uint bin = get_global_id(0), frame = get_global_id(1);
    if (bin >= g.bins)
        return;
    double sum = 0.0;
    for (uint piece = row[bin]; piece < row[bin + 1u]; piece++)
        sum += partials[((ulong)frame * g.pieces + piece) * 2u + 1u];
    __global double *out = sums + g.sums_offset + (ulong)frame * PLANES * g.bins + bin;
    /* A bin without pixels, or a bad frame, stays 0. */
    out[VARIANCE * g.bins] = out[NORMALIZATION2 * g.bins] != 0.0 ? sum : 0.0;
}

/*
 * The recurrence that established packages use: V += w^2 (x - mean before)(x - mean after), pixel
 * by pixel in ascending order; the first pixel of a bin adds nothing.
 * Source: J. Kieffer et al., J. Synchrotron Rad. 27 (2020) 558; E. Schubert and M. Gertz, SSDBM
 *         2018, doi:10.1145/3221269.3223036.
 * Mapping: in x bins, in y frames, an item each; any work-group. No local memory, no barrier.
 */
__kernel void azimuth_recurrence(__global const uint *pixel, __global const float *weight,
                                 __global const float *coef,
                                 __global const airy_gather_piece *pieces, __global const uint *row,
                                 __global const float *norm, __global const float *dark,
                                 __global const T *frames, __global double *sums,
                                 const airy_gather_geom g)
{
    const uint bin = get_global_id(0), frame = get_global_id(1);
    if (bin >= g.bins)
        return;
    __global const T *image = frames + g.frames_offset + (ulong)frame * g.pixels;
    __global double *out = sums + g.sums_offset + (ulong)frame * PLANES * g.bins + bin;
    double signal = 0.0, whole = 0.0, moment = 0.0;
    for (uint piece = row[bin]; piece < row[bin + 1u]; piece++) {
        const airy_gather_piece span = pieces[piece];
        for (uint e = span.first; e < span.first + span.count; e++) {
            const uint p = pixel[e];
            const T raw = image[p];
            if (is_invalid(raw, g.test))
                continue;
            const double s = entry_signal(weight, dark, e, p, raw),
                         w = entry_norm(weight, coef, norm, e, p);
            if (w == 0.0)
                continue;
            const double x = s / w, before = signal / whole;
            signal += s;
            if (whole != 0.0)
                moment += w * w * (x - before) * (x - signal / (whole + w));
            whole += w;
        }
    }
    out[VARIANCE * g.bins] = out[NORMALIZATION2 * g.bins] != 0.0 ? moment : 0.0;
}

/*
 * Total, largest, invalid and saturated values of the pixels that count, in pieces of STAT_PIECE
 * pixels.
 * Mapping: work-groups of GROUP items, in x a piece each, in y a frame. Local memory: GROUP * 16 +
 *          8 bytes. Barriers: of the work-group.
 */
#define STAT_PIECE 16384u

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
stats_pieces(__global const uchar *valid, __global const T *frames, __global double *scratch,
             __global uint *words, const airy_gather_geom g)
{
    __local double columns[GROUP], largest[GROUP];
    __local uint count[2];
    const uint item = get_local_id(0), piece = get_group_id(0), frame = get_group_id(1);
    const uint first = piece * STAT_PIECE, end = min(first + STAT_PIECE, g.pixels);
    __global const T *image = frames + g.frames_offset + (ulong)frame * g.pixels;
    double total = 0.0, top = -INFINITY;
    uint invalid = 0u, saturated = 0u;
    for (uint p = first + item; p < end; p += GROUP) {
        if (valid[p] == 0)
            continue;
        const T raw = image[p];
        saturated += is_saturated(raw, g.test) ? 1u : 0u;
        if (is_invalid(raw, g.test)) {
            invalid++;
        } else {
            total += (double)raw;
            top = fmax(top, (double)raw);
        }
    }
    if (item < 2u)
        count[item] = 0u;
    columns[item] = total;
    largest[item] = top;
    add_columns(columns, 1u, item);
    atomic_add(&count[0], invalid);
    atomic_add(&count[1], saturated);
    for (uint half_size = GROUP / 2u; half_size > 0u; half_size /= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_size)
            largest[item] = fmax(largest[item], largest[item + half_size]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < 2u) {
        const ulong at = ((ulong)frame * g.stat_pieces + piece) * 2u + item;
        scratch[g.stats + at] = item == 0u ? columns[0] : largest[0];
        words[g.counts + at] = count[item];
    }
}

/*
 * stats: struct airy_frame_stats as doubles. Mapping: an item a frame; any work-group. No local
 * memory, no barrier.
 */
__kernel void stats_finish(__global const double *scratch, __global const uint *words,
                           __global const uint *status, __global double *stats,
                           const airy_gather_geom g)
{
    const uint frame = get_global_id(0);
    if (frame >= g.frames)
        return;
    const uint word = g.has_status != 0u ? status[g.status_offset + frame] : AIRY_STATUS_GOOD;
    double total = 0.0, top = -INFINITY;
    uint invalid = 0u, saturated = 0u;
    for (uint piece = 0u; piece < g.stat_pieces && word == AIRY_STATUS_GOOD; piece++) {
        const ulong at = ((ulong)frame * g.stat_pieces + piece) * 2u;
        total += scratch[g.stats + at];
        top = fmax(top, scratch[g.stats + at + 1u]);
        invalid += words[g.counts + at];
        saturated += words[g.counts + at + 1u];
    }
    __global double *out = stats + g.stats_offset + (ulong)frame * 4u;
    out[0] = total;
    out[1] = top == -INFINITY ? 0.0 : top;
    __global uint *tail = (__global uint *)(out + 2);
    tail[0] = invalid;
    tail[1] = saturated;
    tail[2] = word;
    tail[3] = 0u;
}
