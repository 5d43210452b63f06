/*
 * GROUP must be defined (group_sums.h).
 *
 * What clips compare elements as: f32 where it holds them (WIDE 0), or f64; keys in their order.
 */
#ifndef AIRY_KERNELS_CLIP_REAL_H
#define AIRY_KERNELS_CLIP_REAL_H

#include "shared/clip_geom.h"

#include "opencl/kernels/group_sums.h"

#define BUCKETS AIRY_CLIP_BUCKETS

#if WIDE
typedef double real;
typedef double4 real4;
typedef long real_key;
typedef long4 real_key4;
#define REAL_MAX         DBL_MAX
#define KEY_BITS         63
#define KEY_REST         LONG_MAX
#define bits_of(x)       as_long(x)
#define of_bits(x)       as_double(x)
#define real_not_less(x) (x)
#define real_not_more(x) (x)
#else
typedef float real;
typedef float4 real4;
typedef int real_key;
typedef int4 real_key4;
#define REAL_MAX         FLT_MAX
#define KEY_BITS         31
#define KEY_REST         INT_MAX
#define bits_of(x)       as_int(x)
#define of_bits(x)       as_float(x)
#define real_not_less(x) convert_float_rtp(x)
#define real_not_more(x) convert_float_rtn(x)
#endif

/*
 * The one of a work-group, of the images that a launch goes over. MANY: 0 where it goes over one,
 * which saves registers.
 */
#ifndef MANY
#define MANY 1
#endif
AIRY_INLINE uint own_image(void)
{
#if MANY
    return (uint)get_group_id(1);
#else
    return 0u;
#endif
}

/*
 * Tails that were sorted together, ascending: those from `begin` to `end` are left, the others have
 * gone, from both ends. An empty block has the extremes of nothing.
 */
struct tail_block {
    real least, most;
    uint begin, end;
#if WIDE
    ulong unused;
#endif
};

/* What a group of the walk found, in the words in which an image's state has it. */
AIRY_INLINE void put_part(__global airy_clip_state *state, uint group, const airy_clip_part *part)
{
    const ulong words[AIRY_CLIP_PART_WORDS] = {as_ulong(part->sum),
                                               as_ulong(part->squares),
                                               (ulong)part->least,
                                               (ulong)part->most,
                                               as_ulong((uint2)(part->least_at, part->most_at)),
                                               as_ulong((uint2)(part->count, part->below)),
                                               as_ulong((uint2)(part->ties_lo, part->ties_hi)),
                                               as_ulong((uint2)(part->masked, part->infinite)),
                                               as_ulong((uint2)(part->tails, part->low)),
                                               as_ulong(part->tail_sum),
                                               as_ulong(part->tail_squares)};
#pragma unroll
    for (uint k = 0u; k < AIRY_CLIP_PART_WORDS; k++)
        state->parts[k][group] = words[k];
}

AIRY_INLINE airy_clip_part part_at(__global const airy_clip_state *state, uint group)
{
    ulong words[AIRY_CLIP_PART_WORDS];
#pragma unroll
    for (uint k = 0u; k < AIRY_CLIP_PART_WORDS; k++)
        words[k] = state->parts[k][group];
    const uint2 places = as_uint2(words[4]), counts = as_uint2(words[5]), ties = as_uint2(words[6]),
                odd = as_uint2(words[7]), tails = as_uint2(words[8]);
    return (airy_clip_part){.sum = as_double(words[0]),
                            .squares = as_double(words[1]),
                            .least = (long)words[2],
                            .most = (long)words[3],
                            .least_at = places.x,
                            .most_at = places.y,
                            .count = counts.x,
                            .below = counts.y,
                            .ties_lo = ties.x,
                            .ties_hi = ties.y,
                            .masked = odd.x,
                            .infinite = odd.y,
                            .tails = tails.x,
                            .low = tails.y,
                            .tail_sum = as_double(words[9]),
                            .tail_squares = as_double(words[10])};
}

/* Blocks of an image: first one of each group, then the groups' second ones. */
AIRY_INLINE uint levels_of(const airy_clip_geom *g)
{
    return g->room / AIRY_CLIP_BLOCK;
}

/* An image's tails, by groups, and behind them what is left of its blocks. */
AIRY_INLINE ulong first_tail(const airy_clip_geom *g)
{
    return own_image() * ((ulong)g->groups * (g->room + levels_of(g) * (ulong)AIRY_CLIP_ENDS));
}

AIRY_INLINE ulong first_place(const airy_clip_geom *g)
{
    return own_image() * ((ulong)g->groups * g->room);
}

AIRY_INLINE ulong first_block(const airy_clip_geom *g)
{
    return first_tail(g) + (ulong)g->groups * g->room;
}

AIRY_INLINE real_key key_of(real x)
{
    const real_key b = bits_of(x);
    return b ^ ((b >> KEY_BITS) & KEY_REST);
}

AIRY_INLINE real of_key(real_key k)
{
    return of_bits(k ^ ((k >> KEY_BITS) & KEY_REST));
}

#define NO_KEY key_of((real)INFINITY)

/* Ranks of the sample on either side of one that hold it with 3.5 standard deviations, sqrt(n)/2. */
AIRY_INLINE uint margin_of(uint n)
{
    return (uint)(1.75f * sqrt((float)n)) + 1u;
}

#endif
