/*
 * What the kernels of filters share: elements with their borders, lines in local memory.
 *
 * Build options: T: type of the source; W: of the result and the arithmetic; VL: elements of W in
 * 16 bytes; GROUP: items of a work-group, a multiple of 32; TABLE: weights handed over by value, 0:
 * in a buffer; FETCH: bytes of T if it is W, so that it can go to local memory without a
 * conversion.
 */
#ifndef AIRY_KERNELS_FILTER_LINE_H
#define AIRY_KERNELS_FILTER_LINE_H

#include "shared/filter_geom.h"

#ifndef T
#define T float
#endif
#ifndef W
#define W float
#endif
#ifndef VL
#define VL 4
#endif
#ifndef GROUP
#define GROUP 64
#endif
#ifndef TABLE
#define TABLE 64
#endif
#ifndef FETCH
#define FETCH 0
#endif
/* Lines are padded as below. */
#ifndef PADDED
#define PADDED 1
#endif

#define AIRY_JOIN_(a, b) a##b
#define AIRY_JOIN(a, b)  AIRY_JOIN_(a, b)
#define V                AIRY_JOIN(W, VL)
#define EACH             8

/* In front of loops over blocks of taps: all at a time where their number is known. */
#ifndef LOOP
#define LOOP AIRY_UNROLL(2)
#endif

#if TABLE
typedef struct filter_weights {
    W w[TABLE];
} filter_weights;
#define WEIGHTS        const filter_weights weights
#define WEIGHT(i)      weights.w[i]
#define TABLE_AT(from) (weights.w + (from))
#else
#define WEIGHTS        __global const W *weights
#define WEIGHT(i)      weights[i]
#define TABLE_AT(from) ((const W *)0)
#endif

/* Loads into local memory that nobody waits for, where no conversion is needed. */
#if FETCH == 4
#define TO_LOCAL(to, i, from) AIRY_FETCH4(to, i, from, true)
#elif FETCH == 8
#define TO_LOCAL(to, i, from) AIRY_FETCH8(to, i, from)
#else
#define TO_LOCAL(to, i, from) (to)[i] = (W) * (from)
#endif

/*
 * Lines in local memory that items read 16 bytes at a time, EACH elements apart: every eight units
 * of 16 bytes one is left out, so that items beside each other find different banks.
 */
AIRY_INLINE uint padded_unit(uint unit)
{
    return PADDED ? unit + unit / 8u : unit;
}

AIRY_INLINE uint padded(uint i)
{
    return padded_unit(i / VL) * VL + i % VL;
}

/* Elements of a line that an item stages at a time, 32 apart: a line of 128 and taps is one turn. */
#define ROUND 5u
#define STEP  (PADDED ? 32u + 32u / 8u : 32u)

/*
 * ROUND of them from row + x[k], of which `count` are wanted; x below 0: outside. All loads are on
 * their way before one is waited for.
 */
AIRY_INLINE void stage_round(__local W *to, __global const T *row, const long *x, uint count,
                             bool there, W outside)
{
#if FETCH
#pragma unroll
    for (uint k = 0u; k < ROUND; k++)
        if (k < count) {
            if (there && x[k] >= 0)
                TO_LOCAL(to, k * STEP, row + x[k]);
            else
                to[k * STEP] = outside;
        }
#else
    W v[ROUND];
#pragma unroll
    for (uint k = 0u; k < ROUND; k++)
        v[k] = k < count && there && x[k] >= 0 ? (W)row[x[k]] : outside;
#pragma unroll
    for (uint k = 0u; k < ROUND; k++)
        if (k < count)
            to[k * STEP] = v[k];
#endif
}

/*
 * rows x columns elements of plane z of an image from (y, x) on, borders included, to padded lines
 * of `pitch` elements. All items of the group; AIRY_FETCHED and a barrier end it.
 */
AIRY_INLINE void stage(__local W *lines, uint pitch, uint rows, uint columns,
                       __global const T *image, long z, long y, long x, W outside,
                       const airy_filter_geom *g)
{
    const uint lane = get_local_id(0) % 32u, first = get_local_id(0) / 32u;
    const long from_z = airy_border_index(z, g->n[0], g->border);
    const bool inside = y >= 0 && y + (long)rows <= g->n[1] && x >= 0 &&
                        x + (long)columns <= g->n[2];
    __global const T *plane = image + from_z * g->src_step[1];
    for (uint i = lane; i < columns; i += 32u * ROUND) {
        const uint count = (columns - i + 31u) / 32u;
        __local W *to = lines + first * pitch + padded(lane) + i / 32u * STEP;
        long from_x[ROUND];
        if (inside && from_z >= 0) {
            __global const T *from = plane + (y + (long)first) * g->src_step[2] + x + (long)i;
#pragma unroll
            for (uint k = 0u; k < ROUND; k++)
                from_x[k] = 32 * (long)k;
            for (uint row = first; row < rows; row += GROUP / 32u) {
                stage_round(to, from, from_x, count, true, outside);
                from += (long)(GROUP / 32u) * g->src_step[2];
                to += GROUP / 32u * pitch;
            }
            continue;
        }
#pragma unroll
        for (uint k = 0u; k < ROUND; k++)
            from_x[k] = airy_border_index(x + (long)(i + 32u * k), g->n[2], g->border);
        for (uint row = first; row < rows; row += GROUP / 32u) {
            const long from_y = airy_border_index(y + (long)row, g->n[1], g->border);
            stage_round(to, plane + from_y * g->src_step[2], from_x, count,
                        from_z >= 0 && from_y >= 0, outside);
            to += GROUP / 32u * pitch;
        }
    }
}

AIRY_INLINE void get_unit(W *to, V v)
{
    to[0] = v.s0;
    to[1] = v.s1;
#if VL == 4
    to[2] = v.s2;
    to[3] = v.s3;
#endif
}

/* EACH elements of a padded line from unit `unit` on. */
AIRY_INLINE void load_line(W *to, __local const V *line, uint unit)
{
#pragma unroll
    for (uint i = 0u; i < EACH / VL; i++)
        get_unit(to + i * VL, line[padded_unit(unit + i)]);
}

/* The same to a line. */
AIRY_INLINE void store_line(__local V *line, uint unit, const W *v)
{
#pragma unroll
    for (uint i = 0u; i < EACH / VL; i++)
#if VL == 4
        line[padded_unit(unit + i)] =
            (V)(v[4u * i], v[4u * i + 1u], v[4u * i + 2u], v[4u * i + 3u]);
#else
        line[padded_unit(unit + i)] = (V)(v[2u * i], v[2u * i + 1u]);
#endif
}

AIRY_INLINE void put(__global W *dst, long at, W v, const airy_filter_geom *g)
{
    dst[at] = g->add != 0u ? dst[at] + v : v;
}

/* `n` results, `step` apart, of which there are `count` at most. */
AIRY_INLINE void put_column(__global W *to, long step, const W *v, uint n, long count,
                            const airy_filter_geom *g)
{
    if (count >= (long)n && g->add == 0u) {
#pragma unroll
        for (uint k = 0u; k < n; k++) {
            *to = v[k];
            to += step;
        }
        return;
    }
#pragma unroll
    for (uint k = 0u; k < n; k++)
        if ((long)k < count)
            put(to, (long)k * step, v[k], g);
}

/* EACH weights. */
AIRY_INLINE void load_weights(W *to, __local const V *from)
{
#pragma unroll
    for (uint i = 0u; i < EACH / VL; i++)
        get_unit(to + i * VL, from[i]);
}

/* sum[k] += w[j] at[k + j] for j < taps <= EACH. */
AIRY_INLINE void add_taps(W *sum, const W *w, const W *at, uint taps)
{
#pragma unroll
    for (uint j = 0u; j < EACH; j++)
        if (j < taps) {
#pragma unroll
            for (uint k = 0u; k < EACH; k++)
                sum[k] = fma(w[j], at[k + j], sum[k]);
        }
}

/*
 * Weights that add up to 1 keep a constant, but the rounding of partial sums does not. So a result
 * whose elements are all equal is set to the value of these; results of zeros are exact anyway.
 * Result k is made of the elements k to k + taps - 1, so that taps - 1 results in a row have two
 * neighbouring elements in common. These are rarely equal in most images, and are compared while
 * they are in registers.
 */

/*
 * Return whether elements i - 1 and i are such a pair of n results; the elements of the first
 * result end with number `last`. beside: how many results have a pair in common.
 */
AIRY_INLINE bool is_pair(uint i, uint n, uint last, uint beside)
{
    return i >= last && i - last < n && (i - last) % max(beside, 1u) == 0u;
}

/* Return whether a pair is equal, so that results may be made of equal elements alone. */
AIRY_INLINE bool has_pair(const W *at, uint n, uint last, uint beside)
{
    bool any = false;
#pragma unroll
    for (uint k = 0u; k < n; k += max(beside, 1u))
        any |= at[k + last - 1u] == at[k + last];
    return any;
}

/*
 * Set those of n results whose elements are all equal. This is a macro because results and elements
 * may be in any memory: result(k) is result k, element(i) is element i. loop: the pragma of the
 * loop over results. taps > 1.
 */
#define KEEP_RUNS(loop, n, taps, element, result)                                                  \
    do {                                                                                           \
        for (uint from_ = 0u; from_ < (n); from_ += (taps)-1u) {                                   \
            uint low_ = min(from_ + (taps)-1u, (uint)(n)) - 1u, high_ = low_ + 1u;                 \
            const W value_ = element(low_);                                                        \
            if (value_ == (W)0 || element(high_) != value_)                                        \
                continue;                                                                          \
            while (high_ + 2u < (taps) + (n) && element(high_ + 1u) == value_)                     \
                high_++;                                                                           \
            while (low_ > 0u && high_ + 1u >= (taps) && element(low_ - 1u) == value_)              \
                low_--;                                                                            \
            loop for (uint k_ = 0u; k_ < (n); k_++)                                                \
            {                                                                                      \
                if (k_ >= low_ && k_ + (taps) <= high_ + 1u)                                       \
                    result(k_) = value_;                                                           \
            }                                                                                      \
        }                                                                                          \
    } while (0)
#define KEEP_FEW      AIRY_UNROLL(1)    /* results in memory */
#define KEEP_ALL      _Pragma("unroll") /* results in registers */
#define SUM_RESULT(k) sum[k]

/*
 * Set as KEEP_RUNS does, of elements in registers; those of the first result end with number
 * `last`.
 */
#define KEEP_HELD(results, step, n, taps, at, last)                                                \
    do {                                                                                           \
        uint run_ = 1u;                                                                            \
        _Pragma("unroll") for (uint i_ = 1u; i_ < (last) + (n); i_++)                              \
        {                                                                                          \
            run_ = (at)[i_] == (at)[i_ - 1u] ? run_ + 1u : 1u;                                     \
            if (i_ >= (last) && run_ >= (taps))                                                    \
                (results)[(i_ - (last)) * (step)] = (at)[i_];                                      \
        }                                                                                          \
    } while (0)

#define LINE_ELEMENT(i)   line[padded(first + (i))]
#define LINE_RESULT(k)    made[padded(to + (k))]
#define COLUMN_ELEMENT(i) column[(first + (i) < rows ? first + (i) : first + (i)-rows) * pitch]
#define COLUMN_RESULT(k)  to[(long)(k)*step]

/*
 * Keep runs in n results of a padded line from element `first` on, which begin at `to` in another.
 */
AIRY_INLINE void keep_line(__local W *made, uint to, uint n, __local const W *line, uint first,
                           uint taps)
{
    KEEP_RUNS(KEEP_FEW, n, taps, LINE_ELEMENT, LINE_RESULT);
}

/*
 * Keep runs in n results, `step` apart, of a column of a ring of `rows` rows of `pitch` elements,
 * from row `first` on.
 */
AIRY_INLINE void keep_column(__global W *to, long step, uint n, __local const W *column, uint pitch,
                             uint first, uint rows, uint taps)
{
    KEEP_RUNS(KEEP_FEW, n, taps, COLUMN_ELEMENT, COLUMN_RESULT);
}

/*
 * Where the number of taps is a build option loops vanish, and weights are taken from the table by
 * numbers that the compiler knows, which is faster than from local memory.
 */
#define TAKE_WEIGHTS(w, exact, table, weights, j)                                                  \
    do {                                                                                           \
        if (exact) {                                                                               \
            _Pragma("unroll") for (uint k_ = 0u; k_ < EACH; k_++)(w)[k_] =                         \
                (j) + k_ < taps ? (table)[(j) + k_] : (W)0;                                        \
        } else                                                                                     \
            load_weights((w), (weights) + (j) / VL);                                               \
    } while (0)

/*
 * Return what has_pair does for EACH results with an odd number of taps, j of which are done in
 * whole blocks: `at` begins with element j, and `before` is element j - 1.
 */
AIRY_INLINE bool has_shared(const W *at, W before, uint j)
{
    return j > 0u ? before == at[0] : has_pair(at, EACH, 2u, 2u);
}

/*
 * sum[k] = sum over j < taps of weight j times element first + k + j of a padded line; first is a
 * multiple of EACH. Reads to the end of the block of EACH behind the last tap. Returns what
 * has_pair does, for an odd number of taps.
 */
AIRY_INLINE bool sum_line(W *sum, __local const V *line, uint first, uint taps,
                          __local const V *weights, bool exact, const W *table)
{
    W at[2 * EACH], w[EACH], before = (W)0;
    uint next = first / VL, j = 0u;
#pragma unroll
    for (uint k = 0u; k < EACH; k++)
        sum[k] = (W)0;
    load_line(at, line, next);
    LOOP for (; j + EACH <= taps; j += EACH)
    {
        next += EACH / VL;
        load_line(at + EACH, line, next);
        TAKE_WEIGHTS(w, exact, table, weights, j);
        add_taps(sum, w, at, EACH);
        before = at[EACH - 1u];
#pragma unroll
        for (uint k = 0u; k < EACH; k++)
            at[k] = at[k + EACH];
    }
    if (j < taps) {
        if (j + 1u < taps)
            load_line(at + EACH, line, next + EACH / VL);
        TAKE_WEIGHTS(w, exact, table, weights, j);
        add_taps(sum, w, at, taps - j);
    }
    return taps > 1u && has_shared(at, before, j);
}

/* EACH elements of a column. */
AIRY_INLINE void load_block(W *to, __local const W *block, uint pitch)
{
#pragma unroll
    for (uint k = 0u; k < EACH; k++)
        to[k] = block[k * pitch];
}

/*
 * The same down a column of a ring of `slots` blocks of EACH rows of `pitch` elements, from the
 * first row of block `slot` on.
 */
AIRY_INLINE bool sum_column(W *sum, __local const W *ring, uint pitch, uint slot, uint slots,
                            uint taps, __local const V *weights, bool exact, const W *table)
{
    W at[2 * EACH], w[EACH], before = (W)0;
    uint j = 0u;
#pragma unroll
    for (uint k = 0u; k < EACH; k++)
        sum[k] = (W)0;
    load_block(at, ring + slot * EACH * pitch, pitch);
    LOOP for (; j + EACH <= taps; j += EACH)
    {
        slot = slot + 1u == slots ? 0u : slot + 1u;
        load_block(at + EACH, ring + slot * EACH * pitch, pitch);
        TAKE_WEIGHTS(w, exact, table, weights, j);
        add_taps(sum, w, at, EACH);
        before = at[EACH - 1u];
#pragma unroll
        for (uint k = 0u; k < EACH; k++)
            at[k] = at[k + EACH];
    }
    if (j < taps) {
        if (j + 1u < taps) {
            slot = slot + 1u == slots ? 0u : slot + 1u;
            load_block(at + EACH, ring + slot * EACH * pitch, pitch);
        }
        TAKE_WEIGHTS(w, exact, table, weights, j);
        add_taps(sum, w, at, taps - j);
    }
    return taps > 1u && has_shared(at, before, j);
}

/* A column of a pass along y or z (g.axis), or a segment of it. */
struct column {
    __global const T *from; /* element 0 */
    __global W *to;         /* the segment's first result */
    long src_step, dst_step, n;
    long first, end; /* results of the segment */
    long begin;      /* the element that the first result begins with */
};

/*
 * Number `at` of the `columns` of the work-group, which are numbered x first, then the other axis.
 * False: it is none.
 */
AIRY_INLINE bool find_column(struct column *c, uint columns, uint at, uint taps,
                             __global const T *src, __global W *dst, const airy_filter_geom *g)
{
    const uint strip = get_group_id(0) % g->strips, rest = get_group_id(0) / g->strips,
               segment = rest % g->segments;
    const bool along_z = g->axis == 0u;
    const ulong number = (ulong)strip * columns + at;
    const long image = (long)(rest / g->segments), x = (long)(number % (ulong)g->out[2]),
               across = (long)(number / (ulong)g->out[2]), out = along_z ? g->out[0] : g->out[1];
    c->n = along_z ? g->n[0] : g->n[1];
    c->src_step = along_z ? g->src_step[1] : g->src_step[2];
    c->dst_step = along_z ? g->dst_step[1] : g->dst_step[2];
    c->first = (long)segment * g->length;
    c->end = min(c->first + (long)g->length, out);
    c->begin = c->first + (along_z ? g->offset[0] : g->offset[1]) - (long)(taps - 1u);
    c->from = src + g->src_offset + image * g->src_step[0] +
              across * (along_z ? g->src_step[2] : g->src_step[1]) + x;
    c->to = dst + g->dst_offset + image * g->dst_step[0] + c->first * c->dst_step +
            across * (along_z ? g->dst_step[2] : g->dst_step[1]) + x;
    return across < (along_z ? g->out[1] : g->out[0]);
}

#endif
