/* Pixels that stand out of their ring: the same on host and device. */
#ifndef AIRY_SHARED_PEAKS_GEOM_H
#define AIRY_SHARED_PEAKS_GEOM_H

#include "shared/scalar.h"

#define AIRY_PEAKS_GROUP 256u  /* items of a work-group */
#define AIRY_PEAKS_CHUNK 1024u /* pixels of which kept ones are counted together */
#define AIRY_PEAKS_WORDS (AIRY_PEAKS_CHUNK / 32u)

typedef struct airy_peaks_geom {
    airy_u64 frames_at, sums_at, counts_at, curves_at, index_at, intensity_at; /* elements */
    airy_u64 peaks_at;                                                         /* peaks */
    double float_lo, float_hi; /* values left out of frames of floats */
    airy_u32 width, height, pixels, frames, bins;
    airy_u32 chunks;   /* of a frame */
    airy_u32 words;    /* of 32 pixels, chunks * AIRY_PEAKS_WORDS */
    airy_u32 shift;    /* bits of a place between two bins: see airy_peaks_bin */
    airy_u32 lo, span; /* values left out of frames of integers, from the type's least value on */
    airy_u32 has_invalid;
    airy_u32 reach, connected; /* the patch reaches so far; so many candidates make a peak */
    airy_u32 max_pixels, max_peaks;
    airy_u32 strict; /* pixels without a value make a peak none, and are not kept */
    float noise, noise2, pick2, peak2;
    float step; /* 2^-shift */
    airy_u32 reserved;
} airy_peaks_geom;
AIRY_ASSERT_SIZE(airy_peaks_geom, 160);

/* Mean and standard deviation at a bin's centre and what they are more at the next one's. */
typedef struct airy_peaks_bin {
    float mean, mean_step, std, std_step;
} airy_peaks_bin;
AIRY_ASSERT_SIZE(airy_peaks_bin, 16);

/* What is asked of a pixel: above its ring's mean; the square of what it is compared with. */
typedef struct airy_peaks_value {
    float v, u2;
} airy_peaks_value;

/* Where the pixel lies between its bins: the lower `shift` bits of its place. */
static inline float airy_peaks_fraction(airy_u32 place, const airy_u32 shift, const float step)
{
    return (float)(place & (((airy_u32)1 << shift) - 1u)) * step;
}

/* x: raw - dark; scale: 1 / n. */
static inline airy_peaks_value airy_peaks_evaluate(float x, float scale, float fraction,
                                                   airy_peaks_bin bin, float noise2)
{
    airy_peaks_value r;
    const float s = bin.std + fraction * bin.std_step;
    r.v = x * scale - (bin.mean + fraction * bin.mean_step);
    r.u2 = s * s + noise2;
    return r;
}

static inline int airy_peaks_is_kept(airy_peaks_value p, float noise, float pick2)
{
    return p.v > noise && p.v * p.v > pick2 * p.u2;
}

static inline int airy_peaks_is_candidate(airy_peaks_value p, float peak2)
{
    return p.v > 0.0f && p.v * p.v >= peak2 * p.u2;
}

/*
 * Sums over the patch of a peak, in raster order. In a build for a device without double precision
 * nothing of this is used.
 */
#if !defined(__OPENCL_VERSION__) || defined(AIRY_FP64)
typedef struct airy_peaks_sums {
    double v, y, x, u2;
    airy_u32 candidates;
} airy_peaks_sums;

static inline airy_peaks_sums airy_peaks_plus(airy_peaks_sums s, airy_peaks_value p, double y,
                                              double x, float peak2)
{
    if (p.v > 0.0f) {
        s.v += (double)p.v;
        s.y += (double)p.v * y;
        s.x += (double)p.v * x;
        s.u2 += (double)p.u2;
    }
    s.candidates += airy_peaks_is_candidate(p, peak2) != 0 ? 1u : 0u;
    return s;
}

/* Mean and standard deviation of a bin that has pixels: of its sums, as in integrate.h. */
typedef struct airy_peaks_point {
    double mean, std;
} airy_peaks_point;

static inline airy_peaks_point airy_peaks_between(airy_peaks_point a, airy_peaks_point b,
                                                  double fraction)
{
    airy_peaks_point r;
    r.mean = a.mean + fraction * (b.mean - a.mean);
    r.std = a.std + fraction * (b.std - a.std);
    return r;
}
#endif

#endif
