/*
 * Raw lines: samples of any packing become halves of words (integers; a word has two lines) or
 * floats, in local memory, one after the other for each sample.
 *
 * Build options: BITS of a sample: 8, 10, 12, 16, 32 (float); BIG: most significant first; SIGNED;
 * SHIFT; AT_ONCE: samples that an item loads at once: 16 of 10 bits, 8 of 12, 4 of 8 bits, 2 or 4 of 16,
 * which needs lines that begin at words; 1: any.
 */
#ifndef AIRY_KERNELS_OCT_SAMPLES_H
#define AIRY_KERNELS_OCT_SAMPLES_H

#ifndef BITS
#define BITS    16
#define BIG     0
#define SIGNED  0
#define SHIFT   0
#define AT_ONCE 2
#endif

/* What integers are stored above their value. */
#if SIGNED
#define ABOVE (32768 >> SHIFT)
#else
#define ABOVE 0
#endif

/* The same shift for both halves of a word. */
AIRY_INLINE uint shift_halves(uint w)
{
    return w >> SHIFT & (0xffffu >> SHIFT) * 0x10001u;
}

/* Sample i of a line as it is stored: integers. */
AIRY_INLINE uint load_one(__global const uchar *line, uint i)
{
#if BITS == 8
    uint v = line[i];
#elif BITS == 16
    uint v = ((__global const ushort *)line)[i];
#if BIG
    v = (v & 0xffu) << 8 | v >> 8;
#endif
#if SIGNED
    v ^= 0x8000u;
#endif
#elif BITS == 10 || BITS == 12
    const uint at = i * BITS, a = line[at / 8u], b = line[at / 8u + 1u];
#if BIG
    uint v = (a << 8 | b) >> (16u - BITS - at % 8u) & ((1u << BITS) - 1u);
#else
    uint v = (a | b << 8) >> at % 8u & ((1u << BITS) - 1u);
#endif
#else
    uint v = 0u;
#endif
    return v >> SHIFT;
}

AIRY_INLINE float load_float(__global const uchar *line, uint i)
{
    uint v = ((__global const uint *)line)[i];
#if BIG
    v = as_uint(as_uchar4(v).wzyx);
#endif
    return as_float(v);
}

/* Samples AT_ONCE * i and on, two in a word, the first in its low half. */
AIRY_INLINE void load_halves(uint *halves, __global const uchar *line, uint i)
{
#if AT_ONCE == 1
    halves[0] = load_one(line, i);
#elif BITS == 8
    const uint w = ((__global const uint *)line)[i];
    halves[0] = shift_halves((w & 0xffu) | (w & 0xff00u) << 8);
    halves[1] = shift_halves((w >> 16 & 0xffu) | (w >> 8 & 0xff0000u));
#elif BITS == 16
#if AT_ONCE == 2
    halves[0] = ((__global const uint *)line)[i];
#else
    const uint2 w = ((__global const uint2 *)line)[i];
    halves[0] = w.x;
    halves[1] = w.y;
#endif
#pragma unroll
    for (uint k = 0u; k < AT_ONCE / 2u; k++) {
#if BIG
        halves[k] = (halves[k] & 0x00ff00ffu) << 8 | (halves[k] >> 8 & 0x00ff00ffu);
#endif
#if SIGNED
        halves[k] ^= 0x80008000u;
#endif
#if SHIFT
        halves[k] = shift_halves(halves[k]);
#endif
    }
#else
    uint w[AT_ONCE * BITS / 32 + 1], v[AT_ONCE];
    w[AT_ONCE * BITS / 32] = 0u;
#pragma unroll
    for (uint k = 0u; k < AT_ONCE * BITS / 32u; k++) {
        w[k] = ((__global const uint *)line)[AT_ONCE * BITS / 32u * i + k];
#if BIG
        w[k] = as_uint(as_uchar4(w[k]).wzyx);
#endif
    }
#pragma unroll
    for (uint k = 0u; k < AT_ONCE; k++) {
        const uint at = k * BITS / 32u, bit = k * BITS % 32u;
        const ulong both = BIG ? (ulong)w[at] << 32 | w[at + 1u] : (ulong)w[at + 1u] << 32 | w[at];
        v[k] = (uint)(BIG ? both >> (64u - BITS - bit) : both >> bit) & ((1u << BITS) - 1u);
    }
#pragma unroll
    for (uint k = 0u; k < AT_ONCE / 2u; k++)
        halves[k] = shift_halves(v[2u * k] | v[2u * k + 1u] << 16);
#endif
}

/* The low halves of two words as one word, and the high ones. */
AIRY_INLINE uint join_low(uint a, uint b)
{
#ifdef AIRY_BYTES
    return AIRY_BYTES(a, b, 0x5410u);
#else
    return (a & 0xffffu) | b << 16;
#endif
}

AIRY_INLINE uint join_high(uint a, uint b)
{
#ifdef AIRY_BYTES
    return AIRY_BYTES(a, b, 0x7632u);
#else
    return a >> 16 | (b & 0xffff0000u);
#endif
}

/* 2^23 and a half of a word. magic: 2^23 as a float. */
AIRY_INLINE float low_float(uint w, uint magic)
{
#ifdef AIRY_BYTES
    return as_float(AIRY_BYTES(w, magic, 0x7410u));
#else
    return as_float((w & 0xffffu) | magic);
#endif
}

AIRY_INLINE float high_float(uint w, uint magic)
{
#ifdef AIRY_BYTES
    return as_float(AIRY_BYTES(w, magic, 0x7432u));
#else
    return as_float(w >> 16 | magic);
#endif
}

/* What a float of a half is above the sample's value. */
#define BEYOND (8388608.0f + (float)ABOVE)

#endif
