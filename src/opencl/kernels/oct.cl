/*
 * OCT lines: raw samples to what is asked of their spectra, in one pass.
 *
 * Mapping: ITEMS items work on a set of LINES lines, SIDE sets share a work-group. TRANSFORMS
 * transforms of M elements are done at a time, so that table entries are read once for all of them;
 * a transform has two real lines as real and imaginary part (PAIRS), or one line. Local memory: ROOM
 * bytes a set, for samples, then for what items exchange. Barriers: up to 8.
 *
 * Build options: N: samples; M: elements of a transform: N, or a power of two for a convolution with a
 * chirp (CHIRP); EACH: elements of an item; R1 R2 R3: radices, R2 1: two steps; TRANSFORMS, PAIRS,
 * SIDE; FORM: of table entries; TAPS; OFFSET 0 none, 1 in the table, 2 of each frame; ROLLING;
 * PHASOR: samples are multiplied by complex numbers; CONJUGATE; PATTERN; QUANTITY: as
 * AIRY_OCT_AS_...; OUT: type of the result; INTEGER: it is one; POST: a background is subtracted from it; FLIP: some frames
 * are reversed; ALL: bins are 0
 * to N / 2 - 1; SPLIT, GLOBAL_ROOM: how items exchange; ROOM, ROOM_STEP: elements between rooms;
 * REQUIRED: the work-group's size is the compiler's to know. And those of oct_samples.h.
 */
#include "shared/oct_geom.h"
#include "shared/oct_lines_geom.h"

#ifndef N
#define N           2048
#define M           2048
#define EACH        16
#define R1          16
#define R2          16
#define R3          8
#define TRANSFORMS  2
#define PAIRS       1
#define SIDE        1
#define FORM        AIRY_OCT_FORM_FRACTION
#define TAPS        2
#define OFFSET      1
#define ROLLING     0
#define PHASOR      0
#define CHIRP       0
#define CONJUGATE   0
#define PATTERN     0
#define QUANTITY    AIRY_OCT_AS_DB
#define OUT         float
#define INTEGER     0
#define POST        0
#define FLIP        0
#define ALL         1
#define SPLIT       0
#define GLOBAL_ROOM 0
#define ROOM        33024
#define ROOM_STEP   2064
#define REQUIRED    0
#endif

#define ITEMS (M / EACH)
#define LINES (PAIRS ? 2 * TRANSFORMS : TRANSFORMS)

#include "opencl/kernels/oct_samples.h"
#include "opencl/kernels/oct_transform.h"

/* ---- samples in local memory ---- */

/* HALVES: of WORDS words a sample; else floats, one a line. */
#define HALVES (BITS != 32 && !ROLLING)
#define WORDS  ((LINES + 1) / 2)
#if LINES == 1
typedef float floats;
#elif LINES == 2
typedef float2 floats;
#else
typedef float4 floats;
#endif
#if WORDS == 1
typedef uint words;
#else
typedef uint2 words;
#endif

/* A word left out for each chunk of the rolling mean, so that items meet in no bank. */
#if ROLLING
#define PLACE(i) ((i) + (i) / EACH)
#else
#define PLACE(i) (i)
#endif

AIRY_INLINE float float_of(floats s, uint l)
{
#if LINES == 1
    (void)l;
    return s;
#elif LINES == 2
    return l == 0u ? s.x : s.y;
#else
    return l == 0u ? s.x : l == 1u ? s.y : l == 2u ? s.z : s.w;
#endif
}

AIRY_INLINE uint word_of(words s, uint l)
{
#if WORDS == 1
    (void)l;
    return s;
#else
    return l < 2u ? s.x : s.y;
#endif
}

AIRY_INLINE floats make_floats(const float *v)
{
#if LINES == 1
    return v[0];
#elif LINES == 2
    return (float2)(v[0], v[1]);
#else
    return (float4)(v[0], v[1], v[2], v[3]);
#endif
}

/* Line l's sample, BEYOND its value, if stored as a half. */
AIRY_INLINE float half_of(words s, uint l, uint magic)
{
    return l % 2u == 0u ? low_float(word_of(s, l), magic) : high_float(word_of(s, l), magic);
}

/* Where the lines of a set are, and where their results go. */
typedef struct line_set {
    __global const uchar *from[LINES];
    ulong to[LINES]; /* bins from the first of dst */
    uint frame, count;
} line_set;

AIRY_INLINE line_set find_lines(uint number, __global const uchar *src,
                                const airy_oct_lines_geom *g)
{
    line_set s;
    const uint set = min(number, g->sets - 1u);
#if OFFSET == 2
    const uint block = set / g->tiles, first = (set - block * g->tiles) * LINES;
#else
    const uint block = 0u, first = set * LINES;
#endif
    s.count = number < g->sets ? min((uint)LINES, g->block_lines - first) : 0u;
    s.frame = block;
#pragma unroll
    for (uint l = 0u; l < LINES; l++) {
        const uint line = block * g->block_lines + min(first + l, g->block_lines - 1u);
        uint place = line;
#if FLIP
        const uint frame = line / g->lines, own = line - frame * g->lines;
        if (g->flip >> (frame & 1u) & 1u)
            place = frame * g->lines + g->lines - 1u - own;
#endif
        s.from[l] = src + g->src_offset + line * g->line_bytes;
        s.to[l] = (ulong)place * g->depth;
    }
    return s;
}

#define TURNS ((N / AT_ONCE + ITEMS - 1) / ITEMS)

#if BITS == 32

/* Returns a bit for each line of which the item has seen a sample that is not finite. */
AIRY_INLINE uint load_lines(__local uint4 *memory, const line_set *s, uint t)
{
    __local floats *store = (__local floats *)memory;
    uint bad = 0u;
#pragma unroll
    for (uint n = 0u; n < TURNS; n++) {
        const uint i = t + n * ITEMS;
        if (N % ITEMS != 0 && i >= N)
            break;
        float v[LINES];
#pragma unroll
        for (uint l = 0u; l < LINES; l++) {
            v[l] = load_float(s->from[l], i);
            const bool good = isfinite(v[l]);
            bad |= good ? 0u : 1u << l;
            v[l] = good ? v[l] : 0.0f;
        }
        store[PLACE(i)] = make_floats(v);
    }
    return bad;
}

#else

AIRY_INLINE uint load_lines(__local uint4 *memory, const line_set *s, uint t)
{
    enum { FULL = (AT_ONCE + 1) / 2 };
#pragma unroll
    for (uint n = 0u; n < TURNS; n++) {
        const uint i = t + n * ITEMS;
        if (N / AT_ONCE % ITEMS != 0 && i >= N / AT_ONCE)
            break;
        uint halves[2 * WORDS][FULL], out[AT_ONCE * WORDS];
#pragma unroll
        for (uint l = 0u; l < 2u * WORDS; l++) {
            if (l < LINES)
                load_halves(halves[l], s->from[l < LINES ? l : 0u], i);
            else
                for (uint k = 0u; k < FULL; k++)
                    halves[l][k] = 0u;
        }
#pragma unroll
        for (uint k = 0u; k < AT_ONCE; k++)
#pragma unroll
            for (uint w = 0u; w < WORDS; w++)
                out[k * WORDS + w] =
                    k % 2u == 0u ? join_low(halves[2u * w][k / 2u], halves[2u * w + 1u][k / 2u])
                                 : join_high(halves[2u * w][k / 2u], halves[2u * w + 1u][k / 2u]);
#if AT_ONCE * WORDS >= 4 && !ROLLING
#pragma unroll
        for (uint k = 0u; k < AT_ONCE * WORDS / 4u; k++)
            memory[i * (AT_ONCE * WORDS / 4u) + k] =
                (uint4)(out[4u * k], out[4u * k + 1u], out[4u * k + 2u], out[4u * k + 3u]);
#else
#pragma unroll
        for (uint k = 0u; k < AT_ONCE; k++)
#pragma unroll
            for (uint w = 0u; w < WORDS; w++)
                ((__local uint *)memory)[PLACE(i * AT_ONCE + k) * WORDS + w] = out[k * WORDS + w];
#endif
    }
    return 0u;
}

#endif

/* ---- the rolling mean ---- */

#if ROLLING

/* Sums of integers are exact: at most 2^14 of 16 bits. Those of floats are of what is above the first. */
#if BITS == 32
typedef float rolled;
#define ROLLED(store, i, l) (float_of(((__local const floats *)(store))[PLACE(i)], l) - first[l])
#else
typedef int rolled;
#define ROLLED(store, i, l)                                                                        \
    ((int)(word_of(((__local const words *)(store))[PLACE(i)], l) >> (l) % 2u * 16u & 0xffffu))
#endif

/*
 * An item has EACH samples that follow each other, and goes along with the window; the window of its
 * first one it finds from the sums of all items. Samples become floats, in the same memory.
 */
AIRY_INLINE void subtract_rolling(__local uint4 *memory, uint t, uint width)
{
    __local rolled *sums = (__local rolled *)memory +
                           (BITS == 32 ? LINES : WORDS) * PLACE((uint)(M + EACH));
    const uint begin = t * EACH;
    float result[EACH][LINES];
    rolled sum[LINES];
#if BITS == 32
    float first[LINES];
#pragma unroll
    for (uint l = 0u; l < LINES; l++)
        first[l] = float_of(((__local const floats *)memory)[0], l);
#endif
#pragma unroll
    for (uint l = 0u; l < LINES; l++)
        sum[l] = 0;
    for (uint i = begin; i < min(begin + EACH, (uint)N); i++)
#pragma unroll
        for (uint l = 0u; l < LINES; l++)
            sum[l] += ROLLED(memory, i, l);
#pragma unroll
    for (uint l = 0u; l < LINES; l++) {
        sums[t * LINES + l] = sum[l];
        sum[l] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint low = begin + 1u > width ? begin + 1u - width : 0u, high = min(begin + width + 1u, (uint)N);
    for (uint i = min(low, high); i < high && begin < N;) {
        const bool whole = i % EACH == 0u && i + EACH <= high;
#pragma unroll
        for (uint l = 0u; l < LINES; l++)
            sum[l] += whole ? sums[i / EACH * LINES + l] : ROLLED(memory, i, l);
        i += whole ? EACH : 1u;
    }
#pragma unroll
    for (uint k = 0u; k < EACH; k++) {
        const uint i = begin + k;
        if (i < N) {
            const rolled count = (rolled)(high - low);
            const bool more = high < N && i + 1u < N, less = i + 2u > width;
#pragma unroll
            for (uint l = 0u; l < LINES; l++) {
                result[k][l] = (float)(ROLLED(memory, i, l) * count - sum[l]) / (float)count;
                sum[l] += more ? ROLLED(memory, high, l) : 0;
                sum[l] -= less ? ROLLED(memory, low, l) : 0;
            }
            high += more ? 1u : 0u;
            low += less ? 1u : 0u;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint k = 0u; k < EACH; k++)
        if (begin + k < N)
            ((__local floats *)memory)[PLACE(begin + k)] = make_floats(result[k]);
    barrier(CLK_LOCAL_MEM_FENCE);
}

#endif

/* ---- from samples to the elements of a transform ---- */

#define PIECE(type, which) ((__global const type *)(table + g->at[which]))

/*
 * Sums over taps, windows and backgrounds included, of all lines, and what they are multiplied with:
 * element number m of item t.
 */
AIRY_INLINE void resample(float *v, float2 *phasor, __local const uint4 *memory, const line_set *s,
                          __global const uint4 *table, __global const float *mean, uint m, uint t,
                          const airy_oct_lines_geom *g)
{
    (void)s;
    (void)mean;
    (void)memory;
    const uint j = t + ITEMS * m;
    float offset = 0.0f;
    (void)j;
    *phasor = (float2)(1.0f, 0.0f);
#if PHASOR && (PAIRS || FORM != AIRY_OCT_FORM_FRACTION)
    *phasor = PIECE(float2, AIRY_OCT_AT_PHASORS)[j];
#endif
#if OFFSET == 2
    offset = (PAIRS ? 0.5f : 1.0f) * mean[g->mean_offset + (ulong)s->frame * N + j];
#endif
#if FORM == AIRY_OCT_FORM_IN_PLACE
    const float2 e = PIECE(float2, AIRY_OCT_AT_ENTRIES)[j];
#if OFFSET == 1
    offset = e.y;
#endif
#pragma unroll
    for (uint l = 0u; l < LINES; l++)
        v[l] = fma(e.x, as_float(load_one(s->from[l], j) | g->magic) - BEYOND, -offset);
#elif FORM == AIRY_OCT_FORM_FRACTION
#if PAIRS
    /* Of two elements in one word, and of four: airy_oct_place. */
    const uint4 two = PIECE(uint4, AIRY_OCT_AT_ENTRIES)[m / 2u * ITEMS + t];
    const uint2 e = m % 2u == 0u ? two.xy : two.zw;
    const float weight = as_float(e.y);
#if OFFSET == 1
    const float4 four = PIECE(float4, AIRY_OCT_AT_OFFSETS)[m / 4u * ITEMS + t];
    offset = m % 4u == 0u ? four.x : m % 4u == 1u ? four.y : m % 4u == 2u ? four.z : four.w;
#endif
#else
    const uint4 e = PIECE(uint4, AIRY_OCT_AT_ENTRIES)[j];
    const float weight = 1.0f;
    *phasor = as_float2(e.zw);
#if OFFSET == 1
    offset = as_float(e.y);
#endif
#endif
    const uint bits = 23u - AIRY_OCT_FRACTION_BITS;
    const float part = as_float((e.x << bits & 0x7fffffu) | 0x3f800000u) - 1.0f;
    __local const words *at = (__local const words *)memory + (e.x >> AIRY_OCT_FRACTION_BITS);
    const words a = at[0], b = at[1];
#pragma unroll
    for (uint l = 0u; l < LINES; l++) {
        const float low = half_of(a, l, g->magic), high = half_of(b, l, g->magic),
                    between = fma(part, high - low, low - BEYOND);
        v[l] = PAIRS ? fma(weight, between, -offset) : between - offset;
    }
#else
    const uint4 e = PIECE(uint4, AIRY_OCT_AT_ENTRIES)[j];
#if OFFSET == 1
    offset = as_float(e.y);
#endif
#pragma unroll
    for (uint l = 0u; l < LINES; l++)
        v[l] = -offset;
#pragma unroll
    for (uint k = 0u; k < TAPS; k++) {
        const float weight =
            k == 0u   ? as_float(e.z)
            : k == 1u ? as_float(e.w)
                      : PIECE(float, AIRY_OCT_AT_TAPS)[((k - 2u) / 2u * N + j) * 2u + k % 2u];
#if HALVES
        const words a = ((__local const words *)memory)[e.x + k];
#else
        const floats a = ((__local const floats *)memory)[PLACE(e.x + k)];
#endif
#pragma unroll
        for (uint l = 0u; l < LINES; l++)
#if HALVES
            v[l] = fma(weight, half_of(a, l, g->magic) - BEYOND, v[l]);
#else
            v[l] = fma(weight, float_of(a, l), v[l]);
#endif
    }
#endif
}

/* Elements of all transforms: z[h][m] is element t + ITEMS m. */
AIRY_INLINE void fill_elements(float2 (*z)[EACH], __local const uint4 *memory, const line_set *s,
                               __global const uint4 *table, __global const float *mean, uint t,
                               const airy_oct_lines_geom *g)
{
#pragma unroll
    for (uint m = 0u; m < EACH; m++) {
        const uint j = t + ITEMS * m;
        float v[LINES];
        float2 w = (float2)(0.0f);
#pragma unroll
        for (uint l = 0u; l < LINES; l++)
            v[l] = 0.0f;
        if (M == N || j < N)
            resample(v, &w, memory, s, table, mean, m, t, g);
#pragma unroll
        for (uint h = 0u; h < TRANSFORMS; h++) {
#if PAIRS && PHASOR
            z[h][m] = times((float2)(v[2u * h], v[2u * h + 1u]), w);
#elif PAIRS
            z[h][m] = (float2)(v[2u * h], v[2u * h + 1u]);
#elif PHASOR
            z[h][m] = v[h] * w;
#else
            z[h][m] = (float2)(v[h], 0.0f);
#endif
        }
    }
}

/* ---- from spectra to results ---- */

AIRY_INLINE float quantity(float2 f, const airy_oct_lines_geom *g)
{
#if QUANTITY == AIRY_OCT_AS_DB
    return AIRY_LOG2(fma(f.x, f.x, fma(f.y, f.y, g->least)));
#elif QUANTITY == AIRY_OCT_AS_PHASE
    (void)g;
    return atan2(f.y, f.x);
#else
    (void)g;
    const float power = fma(f.x, f.x, f.y * f.y);
    return QUANTITY == AIRY_OCT_AS_MAGNITUDE ? sqrt(power) : power;
#endif
}

/* Bin k of the line whose results begin at `to`; bad: the line has a sample that is not finite. */
AIRY_INLINE void put(__global OUT *dst, ulong to, uint k, float2 f, bool bad,
                     __global const float2 *pattern, __global const float *post,
                     const airy_oct_lines_geom *g)
{
    (void)pattern;
    (void)post;
#if ALL
    const uint p = k;
#else
    const uint p = k - g->depth_first;
    if (p >= g->depth)
        return;
#endif
#if CONJUGATE
    f.y = -f.y;
#endif
#if PATTERN
    f -= pattern[p];
#endif
    if (bad)
        f = (float2)(NAN, NAN);
#if QUANTITY == AIRY_OCT_AS_COMPLEX
    vstore2(f, to + p, dst);
#else
    float v = fma(quantity(f, g), g->gain, g->bias);
#if POST
    v -= post[p];
#endif
#if INTEGER
    v = airy_oct_integer(v, g->top);
#endif
    dst[to + p] = (OUT)v;
#endif
}

#if PAIRS
/* Bin k of two lines from elements k and M - k of their transform. */
AIRY_INLINE void put_pair(__global OUT *dst, const line_set *s, uint h, uint k, float2 x, float2 y,
                          uint bad, __global const float2 *pattern, __global const float *post,
                          const airy_oct_lines_geom *g)
{
    put(dst, s->to[2u * h], k, (float2)(x.x + y.x, x.y - y.y), bad >> 2u * h & 1u, pattern, post,
        g);
    if (2u * h + 1u < s->count)
        put(dst, s->to[2u * h + 1u], k, (float2)(x.y + y.y, y.x - x.x), bad >> (2u * h + 1u) & 1u,
            pattern, post, g);
}
#endif

#if CHIRP

/*
 * The rest of a convolution with a chirp: F[p] = chirp[p] sum_j (z[j] chirp[j]) / chirp[p - j], whose
 * bins below `end` and above M - end are kept; those stand for bins -1, -2, ... of the line.
 */
AIRY_INLINE void convolve(float2 (*z)[EACH], room_pointer room, __global const uint4 *table,
                          const uint *low, uint t, const airy_oct_lines_geom *g)
{
    __global const float2 *spectrum = PIECE(float2, AIRY_OCT_AT_SPECTRUM),
                          *chirp = PIECE(float2, AIRY_OCT_AT_CHIRP);
    ROOM_SPACE float2 *bins = (ROOM_SPACE float2 *)room;
    const uint end = g->depth_first + g->depth;
    float2 y[1][EACH];
    uint columns_back[EACH / 2];
    last_step last;
#pragma unroll
    for (uint i = 0u; i < EACH; i++)
        y[0][i] = times(z[0][i - i % R3 + reversed(i % R3, R3)],
                        spectrum[low[i / R3] + M / R3 * (i % R3)])
                      .yx;
#pragma unroll
    for (uint j = 0u; j < EACH / R1; j++)
        columns_back[j] = t + ITEMS * j;
    transform(y, &last, room, R3, R2, R1, PIECE(float2, AIRY_OCT_AT_BACK), columns_back, t);
    finish(y[0], &last, room, R2 > 1 ? R2 : R3, R1);
    MEET();
#pragma unroll
    for (uint i = 0u; i < EACH; i++) {
        const uint p = columns_back[i / R1] + M / R1 * (i % R1);
        const float2 v = y[0][i - i % R1 + reversed(i % R1, R1)].yx;
        if (p < end)
            bins[p] = times(v, chirp[p]);
        if (PAIRS && p > M - end)
            bins[end + M - p] = times(v, chirp[M - p]);
    }
    MEET();
}

#endif

/* What becomes of a transform's last step. low: numbers of its columns. */
AIRY_INLINE void put_transform(__global OUT *dst, const float2 *z, const line_set *s, uint h,
                               const uint *low, uint t, uint bad, __global const float2 *pattern,
                               __global const float *post, const airy_oct_lines_geom *g)
{
#if PAIRS
    /* Two columns of an item mirror each other, but for item 0's first two, which mirror themselves. */
#pragma unroll
    for (uint j = 0u; j < EACH / R3; j += 2u) {
        const float2 *a = z + j * R3, *b = a + R3;
        const bool own = j == 0u && t == 0u;
#pragma unroll
        for (uint k = 0u; k < R3 / 2u; k++) {
            const float2 mirror = a[reversed((R3 - k) % R3, R3)], across = a[reversed(R3 - 1u - k, R3)],
                         other = b[reversed(R3 - 1u - k, R3)];
            put_pair(dst, s, h, low[j] + M / R3 * k, a[reversed(k, R3)], own ? mirror : other, bad,
                     pattern, post, g);
            put_pair(dst, s, h, low[j + 1u] + M / R3 * k, b[reversed(k, R3)], own ? other : across,
                     bad, pattern, post, g);
        }
        if (!ALL && own)
            put_pair(dst, s, h, M / 2u, a[reversed(R3 / 2u, R3)], a[reversed(R3 / 2u, R3)], bad,
                     pattern, post, g);
    }
#else
#pragma unroll
    for (uint i = 0u; i < EACH; i++)
        if (i % R3 < R3 / 2u)
            put(dst, s->to[h], low[i / R3] + M / R3 * (i % R3), z[i - i % R3 + reversed(i % R3, R3)],
                bad >> h & 1u, pattern, post, g);
    if (!ALL && t == 0u)
        put(dst, s->to[h], M / 2u, z[reversed(R3 / 2u, R3)], bad >> h & 1u, pattern, post, g);
#endif
}

/* Numbers of an item's columns in the last step. */
AIRY_INLINE void number_columns(uint *low, uint t)
{
#if PAIRS && !CHIRP
#pragma unroll
    for (uint j = 0u; j < EACH / R3; j += 2u) {
        const uint u = t + ITEMS * (j / 2u);
        low[j] = u;
        low[j + 1u] = u == 0u ? M / R3 / 2u : M / R3 - u;
    }
#else
#pragma unroll
    for (uint j = 0u; j < EACH / R3; j++)
        low[j] = t + ITEMS * j;
#endif
}

/* One set of lines of each side of a group. */
AIRY_INLINE void process(uint number, uint t, __global const uchar *src,
                         __global const uint4 *table, __global const float *mean,
                         __global const float2 *pattern, __global const float *post,
                         __global OUT *dst, __local uint4 *memory, __local uint *flag,
                         room_pointer room, const airy_oct_lines_geom *g)
{
    const line_set s = find_lines(number, src, g);
    float2 z[TRANSFORMS][EACH];
    uint low[EACH / 2], bad = 0u;
    last_step last;
    (void)flag;
#if BITS == 32
    if (t == 0u)
        *flag = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
#if FORM != AIRY_OCT_FORM_IN_PLACE
    bad = load_lines(memory, &s, t);
#if BITS == 32
    if (bad != 0u)
        atomic_or(flag, bad);
#endif
#if BITS == 32
    barrier(CLK_LOCAL_MEM_FENCE);
    bad = *flag;
#elif ROLLING || GLOBAL_ROOM
    barrier(CLK_LOCAL_MEM_FENCE);
#else
    MEET();
#endif
#endif
#if ROLLING
    subtract_rolling(memory, t, g->rolling);
#endif
    fill_elements(z, memory, &s, table, mean, t, g);
    number_columns(low, t);
    transform(z, &last, room, R1, R2, R3, PIECE(float2, AIRY_OCT_AT_TWIST), low, t);
#if CHIRP
    finish(z[0], &last, room, R2 > 1 ? R2 : R1, R3);
    convolve(z, room, table, low, t, g);
    const uint end = g->depth_first + g->depth;
    ROOM_SPACE const float2 *bins = (ROOM_SPACE const float2 *)room;
    for (uint k = g->depth_first + t; k < end && s.count > 0u; k += ITEMS)
#if PAIRS
        put_pair(dst, &s, 0u, k, bins[k], bins[k == 0u ? 0u : end + k], bad, pattern, post, g);
#else
        put(dst, s.to[0], k, bins[k], bad & 1u, pattern, post, g);
#endif
#else
#pragma unroll
    for (uint h = 0u; h < TRANSFORMS; h++) {
        finish(z[h], &last, room + h * ROOM_STEP, R2 > 1 ? R2 : R1, R3);
        if ((PAIRS + 1u) * h < s.count)
            put_transform(dst, z[h], &s, h, low, t, bad, pattern, post, g);
    }
#endif
}

/* Arrays that the options do not ask for are not read. scratch: of each group, GLOBAL_ROOM. */
__kernel
#if REQUIRED
    __attribute__((reqd_work_group_size(SIDE *ITEMS, 1, 1)))
#endif
    void
    oct_lines(__global const uchar *restrict src, __global const uint4 *restrict table,
              __global const float *restrict mean, __global const float2 *restrict pattern,
              __global const float *restrict post, __global OUT *restrict dst,
              __global float2 *restrict scratch, const airy_oct_lines_geom g)
{
    __local uint4 memory[SIDE * (ROOM / 16)];
    __local uint flags[SIDE];
    const uint side = get_local_id(0) / ITEMS, t = get_local_id(0) % ITEMS;
    __global OUT *to = dst + g.dst_offset;
#if GLOBAL_ROOM
    for (uint n = get_group_id(0); n < g.sets; n += get_num_groups(0)) {
        process(n, t, src, table, mean, pattern, post, to, memory, flags + side,
                scratch + get_group_id(0) * (ulong)ROOM_STEP, &g);
        MEET();
    }
#else
    (void)scratch;
    __local uint4 *own = memory + side * (ROOM / 16);
    process(get_group_id(0) * SIDE + side, t, src, table, mean, pattern, post, to, own,
            flags + side, (room_pointer)own, &g);
#endif
}
