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

#if TABLE
typedef struct filter_weights {
    W w[TABLE];
} filter_weights;
#define WEIGHTS   const filter_weights weights
#define WEIGHT(i) weights.w[i]
#else
#define WEIGHTS   __global const W *weights
#define WEIGHT(i) weights[i]
#endif

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

/*
 * rows x columns elements of plane z of an image from (y, x) on, borders included, to padded lines
 * of `pitch` elements. All items of the group; AIRY_FETCHED and a barrier end it.
 */
AIRY_INLINE void stage(__local W *lines, uint pitch, uint rows, uint columns,
                       __global const T *image, long z, long y, long x, W outside,
                       const airy_filter_geom *g)
{
    const uint lane = get_local_id(0) % 32u, first = get_local_id(0) / 32u;
    if (z >= 0 && z < g->n[0] && y >= 0 && y + (long)rows <= g->n[1] && x >= 0 &&
        x + (long)columns <= g->n[2]) {
        __global const T *from = image + z * g->src_step[1] + (y + (long)first) * g->src_step[2] +
                                 x;
        for (uint row = first; row < rows; row += GROUP / 32u) {
            for (uint i = lane; i < columns; i += 32u)
                TO_LOCAL(lines, row * pitch + padded(i), from + i);
            from += (long)(GROUP / 32u) * g->src_step[2];
        }
        return;
    }
    const long from_z = airy_border_index(z, g->n[0], g->border);
    for (uint i = lane; i < columns; i += 32u) {
        const long from_x = airy_border_index(x + (long)i, g->n[2], g->border);
        for (uint row = first; row < rows; row += GROUP / 32u) {
            const long from_y = airy_border_index(y + (long)row, g->n[1], g->border);
            const bool there = from_z >= 0 && from_y >= 0 && from_x >= 0;
            lines[row * pitch + padded(i)] =
                there ? (W)image[from_z * g->src_step[1] + from_y * g->src_step[2] + from_x]
                      : outside;
        }
    }
}

/* EACH elements of a padded line from unit `unit` on. */
AIRY_INLINE void load_line(W *to, __local const V *line, uint unit)
{
#pragma unroll
    for (uint i = 0u; i < EACH / VL; i++) {
        const V v = line[padded_unit(unit + i)];
        to[i * VL] = v.s0;
        to[i * VL + 1u] = v.s1;
#if VL == 4
        to[i * VL + 2u] = v.s2;
        to[i * VL + 3u] = v.s3;
#endif
    }
}

/* EACH weights. */
AIRY_INLINE void load_weights(W *to, __local const V *from)
{
#pragma unroll
    for (uint i = 0u; i < EACH / VL; i++) {
        const V v = from[i];
        to[i * VL] = v.s0;
        to[i * VL + 1u] = v.s1;
#if VL == 4
        to[i * VL + 2u] = v.s2;
        to[i * VL + 3u] = v.s3;
#endif
    }
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
 * sum[k] = sum over j < taps of weight j times element first + k + j of a padded line; first is a
 * multiple of EACH. Reads to the end of the block of EACH behind the last tap.
 */
AIRY_INLINE void sum_line(W *sum, __local const V *line, uint first, uint taps,
                          __local const V *weights)
{
    W at[2 * EACH], w[EACH];
    uint unit = first / VL, j = 0u;
#pragma unroll
    for (uint k = 0u; k < EACH; k++)
        sum[k] = (W)0;
    load_line(at, line, unit);
#pragma unroll 2
    for (; j + EACH <= taps; j += EACH) {
        unit += EACH / VL;
        load_line(at + EACH, line, unit);
        load_weights(w, weights + j / VL);
        add_taps(sum, w, at, EACH);
#pragma unroll
        for (uint k = 0u; k < EACH; k++)
            at[k] = at[k + EACH];
    }
    if (j < taps) {
        load_line(at + EACH, line, unit + EACH / VL);
        load_weights(w, weights + j / VL);
        add_taps(sum, w, at, taps - j);
    }
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
AIRY_INLINE void sum_column(W *sum, __local const W *ring, uint pitch, uint slot, uint slots,
                            uint taps, __local const V *weights)
{
    W at[2 * EACH], w[EACH];
    uint j = 0u;
#pragma unroll
    for (uint k = 0u; k < EACH; k++)
        sum[k] = (W)0;
    load_block(at, ring + slot * EACH * pitch, pitch);
#pragma unroll 2
    for (; j + EACH <= taps; j += EACH) {
        slot = slot + 1u == slots ? 0u : slot + 1u;
        load_block(at + EACH, ring + slot * EACH * pitch, pitch);
        load_weights(w, weights + j / VL);
        add_taps(sum, w, at, EACH);
#pragma unroll
        for (uint k = 0u; k < EACH; k++)
            at[k] = at[k + EACH];
    }
    if (j < taps) {
        slot = slot + 1u == slots ? 0u : slot + 1u;
        load_block(at + EACH, ring + slot * EACH * pitch, pitch);
        load_weights(w, weights + j / VL);
        add_taps(sum, w, at, taps - j);
    }
}

#endif
