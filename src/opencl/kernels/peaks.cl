/*
 * Pixels that stand out of their ring. Kept pixels and candidates become bits, 32 pixels a word, of
 * which chunks of AIRY_PEAKS_CHUNK pixels are counted; candidates that are no peaks lose theirs; what
 * is found before each chunk is summed up; then words are listed where they belong, so that lists are
 * in raster order.
 *
 * bits: [2][frames][words], kept, then candidates or peaks; found: [2][frames][chunks].
 *
 * Build options: T: type of the frames; T_FLOAT, T_SIGNED: 1 where it is; DARK: 1 where there is one.
 */
#include "shared/peaks_geom.h"

#ifndef T
#define T uint
#endif
#ifndef T_FLOAT
#define T_FLOAT 0
#endif
#ifndef T_SIGNED
#define T_SIGNED 0
#endif
#ifndef DARK
#define DARK 1
#endif

#define GROUP  AIRY_PEAKS_GROUP
#define CHUNK  AIRY_PEAKS_CHUNK
#define WORDS  AIRY_PEAKS_WORDS
#define FRAMES 4u /* that an item looks at one pixel of: GROUP words of two kinds in all */
#define PLANES 5u /* of a frame's sums: signal, variance, normalization, its square, count */

#ifdef AIRY_FP64

/* Of include/airy/peaks.h. */
typedef struct airy_peak {
    float y, x, intensity, sigma, snr;
    uint pixels, index, reserved;
} airy_peak;

AIRY_INLINE airy_peaks_point point_of(__global const double *sums, uint bins, uint b)
{
    const double variance = sums[bins + b];
    airy_peaks_point p;
    p.mean = sums[b] / sums[2u * bins + b];
    p.std = sqrt((variance > 0.0 ? variance : 0.0) / sums[3u * bins + b]);
    return p;
}

/* A bin's values; those of bins without pixels lie on the line between the next ones with some. */
AIRY_INLINE airy_peaks_point value_of_bin(__global const double *sums, uint bins, uint b)
{
    __global const double *count = sums + 4u * bins;
    uint low = b, high = b;
    while (low > 0u && !(count[low] > 0.0))
        low--;
    while (high + 1u < bins && !(count[high] > 0.0))
        high++;
    const bool has_low = count[low] > 0.0, has_high = count[high] > 0.0;
    airy_peaks_point none;
    none.mean = none.std = NAN;
    if (!has_low && !has_high)
        return none;
    const airy_peaks_point below = point_of(sums, bins, has_low ? low : high),
                           above = point_of(sums, bins, has_high ? high : low);
    if (low == high || !has_low || !has_high)
        return below;
    return airy_peaks_between(below, above, (double)(b - low) / (double)(high - low));
}

/* Mapping: an item a bin, frames in the second dimension. No local memory, no barriers. */
__kernel void peaks_curve(__global const double *sums, __global float *curves,
                          __global float4 *table, const airy_peaks_geom g)
{
    const uint b = get_global_id(0), frame = get_global_id(1);
    if (b >= g.bins || frame >= g.frames)
        return;
    __global const double *of = sums + g.sums_at + (size_t)frame * PLANES * g.bins;
    __global float *to = curves + g.curves_at + (size_t)frame * 2u * g.bins;
    const airy_peaks_point here = value_of_bin(of, g.bins, b),
                           next = value_of_bin(of, g.bins, min(b + 1u, g.bins - 1u));
    const float mean = (float)here.mean, std = (float)here.std;
    to[b] = mean;
    to[g.bins + b] = std;
    table[(size_t)frame * g.bins + b] =
        (float4)(mean, (float)next.mean - mean, std, (float)next.std - std);
}

/* Left out of the frame. */
AIRY_INLINE bool is_left_out(T raw, const airy_peaks_geom *g)
{
#if T_FLOAT
    const double v = (double)raw;
    return !(fabs(v) <= DBL_MAX) || (v >= g->float_lo && v <= g->float_hi);
#elif T_SIGNED
    return g->has_invalid != 0u && ((uint)(int)raw ^ 0x80000000u) - g->lo <= g->span;
#else
    return g->has_invalid != 0u && (uint)raw - g->lo <= g->span;
#endif
}

/* What a pixel's arithmetic needs that is the same in all frames. */
struct pixel {
    uint bin;
    float fraction, scale, dark;
};

AIRY_INLINE struct pixel load_pixel(__global const uint *place, __global const float *scale,
                                    __global const float *dark, const airy_peaks_geom *g, uint i)
{
    struct pixel p;
    p.bin = place[i] >> g->shift;
    p.fraction = airy_peaks_fraction(place[i], g->shift, g->step);
    p.scale = scale[i];
#if DARK
    p.dark = dark[i];
#else
    (void)dark;
    p.dark = 0.0f;
#endif
    return p;
}

AIRY_INLINE airy_peaks_value value_of(T raw, struct pixel p, __global const float4 *table,
                                      const airy_peaks_geom *g)
{
    const float4 c = table[p.bin];
    airy_peaks_bin bin;
    bin.mean = c.x;
    bin.mean_step = c.y;
    bin.std = c.z;
    bin.std_step = c.w;
    float x = (float)raw;
#if DARK
    x -= p.dark;
#endif
    return airy_peaks_evaluate(x, p.scale, p.fraction, bin, g->noise2);
}

/*
 * Mapping: a group a chunk of FRAMES frames (second dimension), an item every GROUP-th pixel of it.
 * found of candidates is cleared. Local memory: 1 KiB. Barriers: 2.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
peaks_mark(__global const T *frames, __global const uint *place, __global const float *scale,
           __global const float *dark, __global const float4 *table, __global uint *bits,
           __global uint *found, const airy_peaks_geom g)
{
    __local uint words[GROUP], counts[FRAMES];
    const uint item = get_local_id(0), chunk = get_group_id(0),
               first = get_global_id(1) * FRAMES, n = min(FRAMES, g.frames - first);
    words[item] = 0u;
    if (item < FRAMES)
        counts[item] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0u; k < CHUNK / GROUP; k++) {
        const uint in = k * GROUP + item, i = chunk * CHUNK + in;
        if (i >= g.pixels)
            break;
        const struct pixel p = load_pixel(place, scale, dark, &g, i);
        if (p.scale == 0.0f)
            continue;
        const uint word = in / 32u, bit = 1u << (in % 32u);
        __global const T *from = frames + g.frames_at + (size_t)first * g.pixels + i;
        for (uint f = 0u; f < n; f++) {
            const T raw = from[(size_t)f * g.pixels];
            const airy_peaks_value v = value_of(raw, p, table + (size_t)(first + f) * g.bins, &g);
            const bool out = is_left_out(raw, &g);
            if (out ? g.strict == 0u : airy_peaks_is_kept(v, g.noise, g.pick2) != 0)
                atomic_or(&words[f * WORDS + word], bit);
            if (!out && airy_peaks_is_candidate(v, g.peak2) != 0)
                atomic_or(&words[(FRAMES + f) * WORDS + word], bit);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint kind = item / (FRAMES * WORDS), f = item / WORDS % FRAMES;
    if (f < n)
        bits[((size_t)kind * g.frames + first + f) * g.words + chunk * WORDS + item % WORDS] =
            words[item];
    if (kind == 0u && words[item] != 0u)
        atomic_add(&counts[f], popcount(words[item]));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < n) {
        found[((size_t)first + item) * g.chunks + chunk] = counts[item];
        found[((size_t)g.frames + first + item) * g.chunks + chunk] = 0u;
    }
}

/* The pixels of a patch that lie on the frame. */
struct patch {
    uint y0, y1, x0, x1; /* behind the last */
};

AIRY_INLINE struct patch patch_of(const airy_peaks_geom *g, uint i)
{
    const uint y = i / g->width, x = i - y * g->width;
    struct patch p;
    p.y0 = y > g->reach ? y - g->reach : 0u;
    p.y1 = min(y + g->reach + 1u, g->height);
    p.x0 = x > g->reach ? x - g->reach : 0u;
    p.x1 = min(x + g->reach + 1u, g->width);
    return p;
}

/* Of a frame. */
struct source {
    __global const T *raw;
    __global const uint *place;
    __global const float *scale, *dark;
    __global const float4 *table;
};

/* A pixel's value; false: it has none in this frame. */
AIRY_INLINE bool value_at(airy_peaks_value *value, const struct source *s, const airy_peaks_geom *g,
                          uint i)
{
    const struct pixel p = load_pixel(s->place, s->scale, s->dark, g, i);
    const T raw = s->raw[i];
    *value = value_of(raw, p, s->table, g);
    return p.scale != 0.0f && !is_left_out(raw, g);
}

AIRY_INLINE bool is_peak(const struct source *s, const airy_peaks_geom *g, uint i)
{
    const struct patch p = patch_of(g, i);
    airy_peaks_value own, other;
    uint candidates = 0u;
    (void)value_at(&own, s, g, i);
    for (uint y = p.y0; y < p.y1; y++)
        for (uint x = p.x0; x < p.x1; x++) {
            const uint k = y * g->width + x;
            if (!value_at(&other, s, g, k)) {
                if (g->strict != 0u)
                    return false;
                continue;
            }
            if (other.v > own.v || (other.v == own.v && k < i))
                return false;
            candidates += airy_peaks_is_candidate(other, g->peak2) != 0 ? 1u : 0u;
        }
    return candidates >= g->connected;
}

AIRY_INLINE struct source source_of(__global const T *frames, __global const uint *place,
                                    __global const float *scale, __global const float *dark,
                                    __global const float4 *table, const airy_peaks_geom *g,
                                    uint frame)
{
    struct source s;
    s.raw = frames + g->frames_at + (size_t)frame * g->pixels;
    s.place = place;
    s.scale = scale;
    s.dark = dark;
    s.table = table + (size_t)frame * g->bins;
    return s;
}

/*
 * Candidates that are peaks. Mapping: an item a word, frames in the second dimension. No local
 * memory, no barriers.
 */
__kernel void peaks_test(__global const T *frames, __global const uint *place,
                         __global const float *scale, __global const float *dark,
                         __global const float4 *table, __global uint *bits, __global uint *found,
                         const airy_peaks_geom g)
{
    const uint word = get_global_id(0), frame = get_global_id(1);
    if (word >= g.words || frame >= g.frames)
        return;
    const size_t at = ((size_t)g.frames + frame) * g.words + word;
    const uint candidates = bits[at];
    if (candidates == 0u)
        return;
    const struct source s = source_of(frames, place, scale, dark, table, &g, frame);
    uint peaks = 0u;
    for (uint left = candidates; left != 0u; left &= left - 1u) {
        const uint bit = left & (0u - left);
        if (is_peak(&s, &g, word * 32u + (31u - clz(bit))))
            peaks |= bit;
    }
    bits[at] = peaks;
    if (peaks != 0u)
        atomic_add(&found[((size_t)g.frames + frame) * g.chunks + word / WORDS], popcount(peaks));
}

/*
 * What lies in front of each chunk of a frame; its totals. Mapping: a group a frame (second
 * dimension, first all frames' kept pixels, then peaks). Local memory: 1 KiB. Barriers: 17.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
peaks_scan(__global uint *found, __global uint *counts, const airy_peaks_geom g)
{
    __local uint sums[GROUP];
    const uint item = get_local_id(0), row = get_global_id(1);
    const uint kind = row / g.frames, frame = row % g.frames;
    __global uint *list = found + (size_t)row * g.chunks;
    const uint each = (g.chunks + GROUP - 1u) / GROUP, first = min(item * each, g.chunks),
               end = min(first + each, g.chunks);
    uint own = 0u;
    for (uint i = first; i < end; i++)
        own += list[i];
    sums[item] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1u; step < GROUP; step *= 2u) {
        const uint before = item >= step ? sums[item - step] : 0u;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[item] += before;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint at = sums[item] - own;
    for (uint i = first; i < end; i++) {
        const uint n = list[i];
        list[i] = at;
        at += n;
    }
    if (item == GROUP - 1u) {
        const bool fits = sums[item] <= (kind == 0u ? g.max_pixels : g.max_peaks);
        __global uint *to = counts + g.counts_at + 4u * frame + 2u * kind;
        to[0] = fits ? sums[item] : 0u;
        to[1] = sums[item];
    }
}

/* Where a word's entries begin: those of frames, chunks and words before it. */
AIRY_INLINE size_t place_of_word(__global const uint *bits, __global const uint *found,
                                 __global const uint *counts, const airy_peaks_geom *g, uint kind,
                                 uint frame, uint word)
{
    const size_t row = (size_t)kind * g->frames + frame;
    size_t at = found[row * g->chunks + word / WORDS];
    for (uint f = 0u; f < frame; f++)
        at += counts[g->counts_at + 4u * f + 2u * kind];
    for (uint w = word / WORDS * WORDS; w < word; w++)
        at += popcount(bits[row * g->words + w]);
    return at;
}

/*
 * The kept pixels. Mapping: an item a word, frames in the second dimension. No local memory, no
 * barriers.
 */
__kernel void peaks_pixels(__global const T *frames, __global const uint *bits,
                           __global const uint *found, __global const uint *counts,
                           __global uint *index, __global T *intensity, const airy_peaks_geom g)
{
    const uint word = get_global_id(0), frame = get_global_id(1);
    if (word >= g.words || frame >= g.frames || counts[g.counts_at + 4u * frame] == 0u)
        return;
    const uint kept = bits[(size_t)frame * g.words + word];
    if (kept == 0u)
        return;
    __global const T *raw = frames + g.frames_at + (size_t)frame * g.pixels;
    size_t at = place_of_word(bits, found, counts, &g, 0u, frame, word);
    for (uint left = kept; left != 0u; left &= left - 1u, at++) {
        const uint i = word * 32u + (31u - clz(left & (0u - left)));
        index[g.index_at + at] = i;
        intensity[g.intensity_at + at] = raw[i];
    }
}

/* The peaks; mapping as above. */
__kernel void peaks_measure(__global const T *frames, __global const uint *place,
                            __global const float *scale, __global const float *dark,
                            __global const float4 *table, __global const uint *bits,
                            __global const uint *found, __global const uint *counts,
                            __global airy_peak *peaks, const airy_peaks_geom g)
{
    const uint word = get_global_id(0), frame = get_global_id(1);
    if (word >= g.words || frame >= g.frames || counts[g.counts_at + 4u * frame + 2u] == 0u)
        return;
    const uint some = bits[((size_t)g.frames + frame) * g.words + word];
    if (some == 0u)
        return;
    const struct source s = source_of(frames, place, scale, dark, table, &g, frame);
    size_t at = g.peaks_at + place_of_word(bits, found, counts, &g, 1u, frame, word);
    for (uint left = some; left != 0u; left &= left - 1u, at++) {
        const uint i = word * 32u + (31u - clz(left & (0u - left)));
        const struct patch p = patch_of(&g, i);
        airy_peaks_sums sums = {0.0, 0.0, 0.0, 0.0, 0u};
        airy_peaks_value value;
        for (uint y = p.y0; y < p.y1; y++)
            for (uint x = p.x0; x < p.x1; x++)
                if (value_at(&value, &s, &g, y * g.width + x))
                    sums = airy_peaks_plus(sums, value, (double)y, (double)x, g.peak2);
        airy_peak peak;
        peak.y = (float)(sums.y / sums.v);
        peak.x = (float)(sums.x / sums.v);
        peak.intensity = (float)sums.v;
        peak.sigma = (float)sqrt(sums.u2);
        peak.snr = (float)(sums.v / sqrt(sums.u2));
        peak.pixels = sums.candidates;
        peak.index = i;
        peak.reserved = 0u;
        peaks[at] = peak;
    }
}

#endif
