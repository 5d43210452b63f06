/*
 * GROUP must be defined (group_sums.h). Build options: those of clip.cl.
 *
 * Elements of the array of a clip, and its sample.
 */
#ifndef AIRY_KERNELS_CLIP_ELEMENT_H
#define AIRY_KERNELS_CLIP_ELEMENT_H

#ifndef T
#define T float
#endif
#ifndef WIDE
#define WIDE 0
#endif
#ifndef HAS_MASK
#define HAS_MASK 0
#endif
#ifndef TIGHT
#define TIGHT 1
#endif
#ifndef TAILS
#define TAILS 1
#endif

#include "opencl/kernels/array_box.h"
#include "opencl/kernels/clip_real.h"

/* Element i, -0 as 0; NaN where it is masked. */
AIRY_INLINE real element(__global const T *src, __global const uchar *mask, const airy_clip_geom *g,
                         uint i)
{
    (void)mask;
#if TIGHT
    const ulong at = g->src.offset + i, bad = g->mask.offset + i;
#else
    const ulong at = box_place(&g->src, i), bad = box_place(&g->mask, i);
#endif
#if HAS_MASK
    if (mask[bad] != 0)
        return (real)NAN;
#else
    (void)bad;
#endif
    return (real)src[at] + (real)0;
}

/* Well-mixed bits of a number (finalizer of MurmurHash3, A. Appleby, public domain). */
AIRY_INLINE uint mix(uint z)
{
    z = (z ^ z >> 16) * 0x85ebca6bu;
    z = (z ^ z >> 13) * 0xc2b2ae35u;
    return z ^ z >> 16;
}

/* Element i of the sample: one from each stretch. */
AIRY_INLINE real_key sampled(__global const T *src, __global const uchar *mask,
                             const airy_clip_geom *g, uint i)
{
    const real x = element(src, mask, g, i * g->stretch + mul_hi(mix(i), g->stretch));
    return fabs(x) <= REAL_MAX ? key_of(x) : NO_KEY;
}

AIRY_INLINE uint count_less(real_key4 keys, real_key than)
{
    return (keys.x < than ? 1u : 0u) + (keys.y < than ? 1u : 0u) + (keys.z < than ? 1u : 0u) +
           (keys.w < than ? 1u : 0u);
}

/* All items of all groups of an image call it. */
AIRY_INLINE void clear_buckets(__global airy_clip_state *state)
{
    for (uint i = get_global_id(0); i < BUCKETS; i += get_global_size(0)) {
        state->counts[i] = 0u;
        state->least[i] = LONG_MAX;
        state->most[i] = LONG_MIN;
    }
}

#endif
