/*
 * A compressed block decoded in local memory, and its pixels into bins: what the kernels share
 * that sum without a frame in between.
 *
 * Build options: ELEM_SIZE 1, 2 or 4, SIGNED 0 or 1, BLOCK_BYTES; SPAN: local bins, at least
 * g.span, or 0: none, all goes straight to the frame's sums; POISSON 0 or 1; LANES, BLOCKS
 * (lz4_block.h). Blocks hold a multiple of 1,024 elements, but for the last one and the tail.
 */
#ifndef AIRY_KERNELS_FUSED_BLOCK_H
#define AIRY_KERNELS_FUSED_BLOCK_H

#include "opencl/kernels/lz4_block.h"
#include "shared/fused_geom.h"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4
#endif
#ifndef SPAN
#define SPAN 1024
#endif
#ifndef POISSON
#define POISSON 0
#endif

#define PLANES    (8u * ELEM_SIZE)
#define ROW_WORDS (BLOCK_BYTES / ELEM_SIZE / 32u) /* of a plane of a full block */
/* Counts below 2^FAST_PLANES add up in 32 bits over 32 pixels, and need half of the transpose. */
#define FAST_PLANES (ELEM_SIZE == 1 ? 7u : 11u)
#define SUMS        (1u + POISSON)

#ifndef SIGNED
#define SIGNED 0
#endif

#if ELEM_SIZE == 1
#define ELEM   uchar
#define PACKED 8u /* words of 32 packed pixels */
#elif ELEM_SIZE == 2
#define ELEM   ushort
#define PACKED 16u
#else
#define ELEM   uint
#define PACKED 16u
#endif

/* What a group adds to, and what it reads: the same for all its items. */
struct group {
    __local uint *low, *high; /* [SUMS][SPAN], 64-bit sums in two words */
    __local uint *stat;       /* total (2), rank of the largest, invalid, saturated, seen */
    __global ulong *sums;     /* of the frame, planes of g.span */
    __global uint *words;
    __global const float *norm, *dark;
};

/*
 * 96 bits: the upper word counts carries, and where values are signed the sign above bit 63, as
 * two's complement does.
 */
AIRY_INLINE void add_global(__global ulong *sum, __global uint *over, ulong v)
{
    const uint sign = SIGNED && (long)v < 0L ? 0xffffffffu : 0u;
#ifdef AIRY_INT64_ATOMICS
    const ulong old = atom_add(sum, v);
    const uint above = sign + (old + v < old ? 1u : 0u);
#else
    __global uint *half_word = (__global uint *)sum; /* little-endian */
    const uint lo = (uint)v, hi = (uint)(v >> 32), old_low = atomic_add(half_word, lo);
    const uint carry = old_low + lo < old_low ? 1u : 0u;
    const uint old = atomic_add(half_word + 1, hi), with = old + hi;
    uint above = sign + (with < old ? 1u : 0u);
    if (carry != 0u)
        above += atomic_add(half_word + 1, 1u) == 0xffffffffu ? 1u : 0u;
#endif
    if (above != 0u)
        atomic_add(over, above);
}

/* The old value. A group of one item needs no atomics on its own memory. */
AIRY_INLINE uint add_local(__local uint *sum, uint v)
{
#if LANES * BLOCKS == 1
    const uint old = *sum;
    *sum = old + v;
    return old;
#else
    return atomic_add(sum, v);
#endif
}

/*
 * The last addition to a local bin. Its old value is not looked at before the next addition, so
 * that no lane waits for it.
 */
struct carry {
    uint at, low, high, old;
};

AIRY_INLINE void settle(const struct group *to, const struct carry *c)
{
    const uint high = c->high + (c->old + c->low < c->old ? 1u : 0u);
    if (high != 0u)
        (void)add_local(to->high + c->at, high);
}

/*
 * Sums of LOCAL_BITS bits at most go to local bins: a group adds at most 2^21 of them to a bin (64
 * blocks of 8,192 pixels, two bins each), so the upper word stays below 2^32. Larger ones go
 * straight to the frame's sums. small: known to the compiler where counts are, so that the second
 * way is not even there.
 */
#define LOCAL_BITS 42

AIRY_INLINE void add_bin(const struct group *to, struct carry *c, uint which, uint bin, uint span,
                         ulong v, bool small)
{
    if (SPAN == 0 || (!small && v >> LOCAL_BITS != 0UL)) {
        add_global(to->sums + (AIRY_FUSED_SIGNAL + which) * span + bin,
                   to->words + (AIRY_FUSED_OVER + which) * span + bin, v);
        return;
    }
    settle(to, c);
    c->at = which * SPAN + bin;
    c->low = (uint)v;
    c->high = (uint)(v >> 32);
    c->old = add_local(to->low + c->at, c->low);
}

/* What an entry of a pixel that is left out had in the sums that do not depend on the frame. */
AIRY_INLINE void take_out(const struct group *to, uint pixel, uint bin, uint weight, uint shift,
                          const airy_fused_geom *g)
{
    if (weight == 0u || bin >= g->bins)
        return;
    const double unit = ldexp(1.0, -(int)shift), c = (double)weight * unit;
    const double cn = c * (double)to->norm[pixel];
    __global ulong *sums = to->sums + bin;
    __global uint *over = to->words + AIRY_FUSED_OVER * g->span + g->span -
                          1u; /* never read: these sums stay below 2^63 */
    add_global(sums + AIRY_FUSED_NORMALIZATION * g->span, over,
               (ulong)(long)rint(cn * g->normalization_scale));
    add_global(sums + AIRY_FUSED_NORMALIZATION2 * g->span, over,
               (ulong)(long)rint(cn * cn * g->normalization2_scale));
    add_global(sums + AIRY_FUSED_COUNT * g->span, over, weight);
    if (g->has_dark != 0u)
        add_global(sums + AIRY_FUSED_DARK * g->span, over,
                   (ulong)(long)rint(c * (double)to->dark[pixel] * g->dark_scale));
    if (POISSON)
        add_global(sums + AIRY_FUSED_SQUARES * g->span, over, airy_fused_square(weight, shift));
    atomic_inc(to->words + AIRY_FUSED_GONE * g->span + bin);
}

/*
 * Neighbouring pixels often share their bins: their sums are kept until the bin changes. whole:
 * counts; part: counts times weight of the second bin; left and right: what is there for the two
 * bins already. Below 2^32 * 32 * 2^22 each, so no sum here comes near 2^63.
 */
struct run {
    uint bin;
    ulong whole, part, left, right;
    ulong squares_left, squares_right; /* poisson */
};

AIRY_INLINE void turn_run(struct run *r, struct carry *c, uint bin, const struct group *to,
                          const airy_fused_geom *g, bool small)
{
    const ulong left = r->left + (r->whole << g->fraction_bits) - r->part,
                right = r->right + r->part;
    const bool up = bin == r->bin + 1u, down = bin + 1u == r->bin;
    if (!down && left != 0UL)
        add_bin(to, c, 0u, r->bin, g->span, left, small);
    if (!up && right != 0UL)
        add_bin(to, c, 0u, r->bin + 1u, g->span, right, small);
    if (POISSON) {
        if (!down && r->squares_left != 0UL)
            add_bin(to, c, 1u, r->bin, g->span, r->squares_left, small);
        if (!up && r->squares_right != 0UL)
            add_bin(to, c, 1u, r->bin + 1u, g->span, r->squares_right, small);
        const ulong squares_left = r->squares_left;
        r->squares_left = up ? r->squares_right : 0UL;
        r->squares_right = down ? squares_left : 0UL;
    }
    r->left = up ? right : 0UL;
    r->right = down ? left : 0UL;
    r->whole = r->part = 0UL;
    r->bin = bin;
}

/* v: the value's low 32 bits. */
AIRY_INLINE long value_of(uint v)
{
    return SIGNED ? (long)(int)v : (long)(ulong)v;
}

/* max(1, v) - 1 */
AIRY_INLINE uint above_one(uint v)
{
    return SIGNED ? (uint)(max((int)v, 1) - 1) : v - min(v, 1u);
}

/* In the order of values. */
AIRY_INLINE uint rank_of(uint v)
{
    return SIGNED ? v ^ 0x80000000u : v;
}

/* A value of ELEM_SIZE bytes to 32 bits. */
AIRY_INLINE uint extend(uint v)
{
    const uint rest = 32u - PLANES;
    return SIGNED ? (uint)((int)(v << rest) >> rest) : v;
}

AIRY_INLINE void add_pixel(struct run *r, struct carry *c, uint entry, uint v,
                           const struct group *to, const airy_fused_geom *g, bool small)
{
    const uint bin = entry >> g->fraction_bits, fraction = entry & ((1u << g->fraction_bits) - 1u);
    if (bin != r->bin)
        turn_run(r, c, bin, to, g, small);
    const ulong value = small ? v : (ulong)value_of(v);
    r->whole += value;
    r->part += value * fraction;
    if (POISSON) {
        const uint rest = (1u << g->fraction_bits) - fraction;
        const ulong above = above_one(v);
        r->squares_left += airy_fused_square(rest, g->fraction_bits) * above;
        r->squares_right += airy_fused_square(fraction, g->fraction_bits) * above;
    }
}

/* What an item keeps until its group's end. */
struct tally {
    ulong total;
    uint rank, seen; /* of the largest value; 1: there was one */
    uint invalid, saturated;
    struct carry carry;
};

/* Any pixel that counts, with all tests. */
AIRY_INLINE void add_any(struct run *r, struct tally *t, uint entry, uint v, uint pixel,
                         const struct group *to, const airy_fused_geom *g)
{
    const long value = value_of(v);
    t->saturated += value >= g->test.saturation ? 1u : 0u;
    if (value >= g->test.lo && value <= g->test.hi) {
        const uint bin = entry >> g->fraction_bits,
                   fraction = entry & ((1u << g->fraction_bits) - 1u);
        t->invalid++;
#pragma unroll 1
        for (uint k = 0u; k < 2u; k++)
            take_out(to, pixel, bin + k, k ? fraction : (1u << g->fraction_bits) - fraction,
                     g->fraction_bits, g);
        return;
    }
    t->total += (ulong)value;
    t->rank = max(t->rank, rank_of(v));
    t->seen = 1u;
    add_pixel(r, &t->carry, entry, v, to, g, false);
}

AIRY_INLINE struct run start_run(uint bin)
{
    struct run r;
    r.bin = bin;
    r.whole = r.part = r.left = r.right = 0UL;
    r.squares_left = r.squares_right = 0UL;
    return r;
}

/* A decoded block in local memory. */
struct block {
    __local uchar *bytes;
    uint first, pixels; /* of the frame */
    bool native;        /* pixels; else bit planes */
    bool full;
    uint row;    /* bytes of a plane */
    uint planes; /* that may have a bit of a pixel that counts */
};

/* Block `index` of a frame, not yet loaded. */
AIRY_INLINE struct block block_at(uint index, __local uint4 *store, const airy_fused_geom *g)
{
    struct block b;
    const uint size = airy_block_decoded_bytes(g->layout, index);
    b.bytes = (__local uchar *)store;
    b.first = (uint)(airy_block_start(g->layout, index) / ELEM_SIZE);
    b.pixels = size / ELEM_SIZE;
    b.native = false;
    b.full = size == BLOCK_BYTES;
    b.row = b.pixels / 8u;
    b.planes = PLANES;
    return b;
}

/* Any pixel of a block. Values of planes: bit by bit. */
AIRY_INLINE uint value_at(const struct block *b, uint i)
{
    if (b->native)
        return extend(((__local const ELEM *)b->bytes)[i]);
    uint v = 0u;
    for (uint p = 0u; p < b->planes; p++)
        v |= (uint)(b->bytes[p * b->row + i / 8u] >> (i & 7u) & 1u) << p;
    return extend(v);
}

#if SPAN != 0
/*
 * 32 pixels of a full block whose counts are all small: word w of the planes is replaced by the
 * pixels. valid: those that count.
 */
AIRY_INLINE bool add_fast(const struct block *b, struct tally *t, uint w, uint valid,
                          __global const uint4 *entries, const struct group *to,
                          const airy_fused_geom *g)
{
    __local uint *words = (__local uint *)b->bytes + w;
    uint upper = 0u, x[16];
#pragma unroll
    for (uint p = FAST_PLANES; p < PLANES; p++)
        upper |= words[p * ROW_WORDS];
    if ((upper & valid) != 0u || g->all_fast == 0u)
        return false;
    uint total = 0u, top = 0u, candidates = 0xffffffffu;
#pragma unroll
    for (uint p = 0u; p < 16u; p++)
        x[p] = p < FAST_PLANES ? words[p * ROW_WORDS] & valid : 0u;
#pragma unroll
    for (uint i = 0u; i < FAST_PLANES; i++) {
        const uint p = FAST_PLANES - 1u - i, with = candidates & x[p];
        total += popcount(x[p]) << p;
        candidates = with != 0u ? with : candidates;
        top |= with != 0u ? 1u << p : 0u;
    }
    t->total += total;
    t->rank = max(t->rank, rank_of(top));
    t->seen = 1u;
#if ELEM_SIZE == 1
    TRANSPOSE_8(x)
#else
    TRANSPOSE_16(x)
#endif
#pragma unroll
    for (uint i = 0u; i < PACKED; i++)
        words[i * ROW_WORDS] = x[i];
    const uint mask = ELEM_SIZE == 1 ? 0xffu : 0xffffu;
    uint4 next = entries[0];
    struct run r = start_run(next.x >> g->fraction_bits);
    for (uint k = 0u; k < 8u; k++) {
        const uint4 q = next;
        next = entries[min(k + 1u, 7u) * 32u];
        const uint shift = 4u * k / PACKED * PACKED;
        __local const uint *at = words + 4u * k % PACKED * ROW_WORDS;
        add_pixel(&r, &t->carry, q.x, at[0] >> shift & mask, to, g, true);
        add_pixel(&r, &t->carry, q.y, at[ROW_WORDS] >> shift & mask, to, g, true);
        add_pixel(&r, &t->carry, q.z, at[2u * ROW_WORDS] >> shift & mask, to, g, true);
        add_pixel(&r, &t->carry, q.w, at[3u * ROW_WORDS] >> shift & mask, to, g, true);
    }
    turn_run(&r, &t->carry, 0xfffffff0u, to, g, true);
    return true;
}

#endif

/* Word w of a full block's planes becomes its pixels, in a layout of which value_full knows. */
AIRY_INLINE void unshuffle_word(const struct block *b, uint w)
{
    __local uint *words = (__local uint *)b->bytes + w;
    uint x[PLANES];
#pragma unroll
    for (uint p = 0u; p < PLANES; p++)
        x[p] = words[p * ROW_WORDS];
#if ELEM_SIZE == 1
    TRANSPOSE_8(x)
#elif ELEM_SIZE == 2
    TRANSPOSE_16(x)
#else
    TRANSPOSE_32(x)
#endif
#pragma unroll
    for (uint p = 0u; p < PLANES; p++)
        words[p * ROW_WORDS] = x[p];
}

AIRY_INLINE uint value_full(const struct block *b, uint w, uint i)
{
    __local const uint *words = (__local const uint *)b->bytes + w;
#if ELEM_SIZE == 4
    return words[i * ROW_WORDS];
#elif ELEM_SIZE == 2
    return extend(words[(i & 15u) * ROW_WORDS] >> (i >> 4 << 4) & 0xffffu);
#else
    return extend(words[(i & 7u) * ROW_WORDS] >> (i >> 3 << 3) & 0xffu);
#endif
}

/*
 * A short block of planes, whose planes may begin anywhere: 8 pixels a lane at a time, a byte of
 * each plane.
 */
AIRY_INLINE void add_short(const struct block *b, struct tally *t, uint lane,
                           __global const uint *table, __global const uint *valid_words,
                           const struct group *to, const airy_fused_geom *g)
{
    const uint columns = b->pixels / 8u;
    for (uint m = lane; m < columns; m += LANES) {
        const uint first = b->first + m * 8u,
                   valid = valid_words[first >> 5] >> (first & 31u) & 0xffu;
        if (valid == 0u)
            continue;
        ulong bytes[ELEM_SIZE]; /* byte i: of pixel i */
#pragma unroll
        for (uint k = 0u; k < ELEM_SIZE; k++) {
            ulong x = 0UL;
#pragma unroll
            for (uint i = 0u; i < 8u; i++)
                x |= (ulong)b->bytes[(k * 8u + i) * columns + m] << (8u * i);
            bytes[k] = transpose_8x8(x);
        }
        struct run r = start_run(table[airy_fused_place(first)] >> g->fraction_bits);
        for (uint i = 0u; i < 8u; i++) {
            if ((valid >> i & 1u) == 0u)
                continue;
            uint v = 0u;
#pragma unroll
            for (uint k = 0u; k < ELEM_SIZE; k++)
                v |= (uint)(bytes[k] >> (8u * i) & 0xffu) << (8u * k);
            add_any(&r, t, table[airy_fused_place(first + i)], extend(v), first + i, to, g);
        }
        turn_run(&r, &t->carry, 0xfffffff0u, to, g, false);
    }
}

/* A few pixels as they are: a lane each. */
AIRY_INLINE void add_tail(const struct block *b, struct tally *t, uint lane,
                          __global const uint *table, __global const uint *valid_words,
                          const struct group *to, const airy_fused_geom *g)
{
    for (uint i = lane; i < b->pixels; i += LANES) {
        const uint pixel = b->first + i, entry = table[airy_fused_place(pixel)];
        if ((valid_words[pixel >> 5] >> (pixel & 31u) & 1u) == 0u)
            continue;
        struct run r = start_run(entry >> g->fraction_bits);
        add_any(&r, t, entry, value_at(b, i), pixel, to, g);
        turn_run(&r, &t->carry, 0xfffffff0u, to, g, false);
    }
}

/* All pixels of a block but for its extra entries. */
AIRY_INLINE void add_block(const struct block *b, struct tally *t, uint lane,
                           __global const uint *table, __global const uint *valid_words,
                           const struct group *to, const airy_fused_geom *g)
{
    if (b->native && !b->full) {
        add_tail(b, t, lane, table, valid_words, to, g);
        return;
    }
    if (!b->full) {
        add_short(b, t, lane, table, valid_words, to, g);
        return;
    }
    for (uint w = lane; w < ROW_WORDS; w += LANES) {
        const uint first = b->first + w * 32u, valid = valid_words[first >> 5];
        if (valid == 0u)
            continue;
        if (!b->native) {
#if SPAN != 0
            __global const uint4 *entries = (__global const uint4 *)table + (first >> 10) * 256u +
                                            (first >> 5 & 31u);
            if (add_fast(b, t, w, valid, entries, to, g))
                continue;
#endif
            unshuffle_word(b, w);
        }
        struct run r = start_run(table[airy_fused_place(first)] >> g->fraction_bits);
        for (uint i = 0u; i < 32u; i++) {
            if ((valid >> i & 1u) == 0u)
                continue;
            const uint v = b->native ? value_at(b, w * 32u + i) : value_full(b, w, i);
            add_any(&r, t, table[airy_fused_place(first + i)], v, first + i, to, g);
        }
        turn_run(&r, &t->carry, 0xfffffff0u, to, g, false);
    }
}

/* Which of the entries that the table has no room for are near a block's: asked for early. */
AIRY_INLINE uint2 extra_range(const struct block *b, __global const uint *extra_start)
{
    return (uint2)(extra_start[b->first / AIRY_FUSED_TILE],
                   extra_start[(b->first + b->pixels - 1u) / AIRY_FUSED_TILE + 1u]);
}

/* These entries, of extra_range. Before add_block, which changes the planes. */
AIRY_INLINE void add_extra(const struct block *b, uint lane, uint2 range,
                           __global const airy_fused_extra *extra, const struct group *to,
                           const airy_fused_geom *g)
{
    for (uint e = range.x + lane; e < range.y; e += LANES) {
        const airy_fused_extra entry = extra[e];
        if (entry.pixel < b->first || entry.pixel - b->first >= b->pixels)
            continue;
        const uint v = value_at(b, entry.pixel - b->first);
        const long value = value_of(v);
        if (value >= g->test.lo && value <= g->test.hi) {
            take_out(to, entry.pixel, entry.bin, entry.weight, entry.shift, g);
            continue;
        }
        add_global(to->sums + AIRY_FUSED_SIGNAL * g->span + entry.bin,
                   to->words + AIRY_FUSED_OVER * g->span + entry.bin, (ulong)value * entry.weight);
        if (POISSON)
            add_global(to->sums + AIRY_FUSED_VARIANCE * g->span + entry.bin,
                       to->words + (AIRY_FUSED_OVER + 1u) * g->span + entry.bin,
                       airy_fused_square(entry.weight, entry.shift) * above_one(v));
    }
}

/* A block's bytes to local memory. AIRY_STATUS_GOOD or an AIRY_REASON_*, the same for all lanes. */
AIRY_INLINE uint load_block(struct block *b, airy_block place, __global const uchar *bytes,
                            uint lane, __local uint *step, const airy_fused_geom *g)
{
    const ulong from = g->bytes_offset + place.offset;
    const uint size = b->pixels * ELEM_SIZE;
    if (place.size == AIRY_BLOCK_ABSENT)
        return AIRY_REASON_ABSENT;
    if ((place.size & AIRY_BLOCK_STORED) == 0u)
        return decode_lz4(b->bytes, 0u, size, bytes, from, place.size, lane, step);
    if ((place.size & ~AIRY_BLOCK_STORED) != size)
        return AIRY_REASON_SIZE;
    b->native = true;
    copy_literals(b->bytes, 0u, bytes, from, size, lane);
    LANES_SYNC();
    return AIRY_STATUS_GOOD;
}

#endif
