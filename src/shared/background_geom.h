/*
 * Meshes of an image, histograms of their pixels, splines through their statistics. The same on
 * host and device, so that they fill the same bins.
 */
#ifndef AIRY_SHARED_BACKGROUND_GEOM_H
#define AIRY_SHARED_BACKGROUND_GEOM_H

#ifndef __OPENCL_VERSION__
#include <math.h>
#endif

#include "shared/scalar.h"

/* Bins of a mesh's histogram, at most. */
#define AIRY_BACKGROUND_LEVELS 4096
/* Pixels beyond this, of which there may be 2^30 in a mesh, have no squares to be added. */
#define AIRY_BACKGROUND_LARGEST 1e150
/* Times that sums are made; each brings the pivot 2^45 times nearer or so. */
#define AIRY_BACKGROUND_SUMS 16
/* Times that a mesh is done; each has bins 100 times narrower or so. */
#define AIRY_BACKGROUND_ROUNDS 100

typedef struct airy_background_geom {
    airy_u64 src_offset, src_pitch, mask_offset, mask_pitch; /* elements */
    airy_u32 height, width, mesh_y, mesh_x, nodes_y, nodes_x;
    airy_u32 estimate, compat;
} airy_background_geom;
AIRY_ASSERT_SIZE(airy_background_geom, 64);

/* Where nodes lie, and what a map is made of. */
typedef struct airy_background_map_geom {
    airy_u64 dst_offset, dst_pitch, src_offset, src_pitch, noise_offset, noise_pitch;
    double base;  /* what levels of nodes are counted from */
    double floor; /* least noise */
    airy_u32 height, width, mesh_y, mesh_x, nodes_y, nodes_x;
    airy_u32 compat, rows; /* rows: of a group */
} airy_background_map_geom;
AIRY_ASSERT_SIZE(airy_background_map_geom, 96);

/* ---- the histogram of a mesh ---- */

typedef struct airy_background_bins {
    double zero, scale; /* the middle of bin i is zero + i scale */
    double inverse;     /* of scale */
    double alike;       /* with levels 0: the pixels are all this */
    airy_u32 levels;
    airy_u32 unused;
} airy_background_bins;
AIRY_ASSERT_SIZE(airy_background_bins, 40);

/* x to 2^-20 of the power of two below unit, so that the last digits of x do not matter. */
static inline double airy_background_round(double x, double unit)
{
    const double quantum = unit > 1e-280 ? ldexp(1.0, ilogb(unit) - 20) : 0.0;
    return fabs(x) < quantum * 0x1p51 ? rint(x / quantum) * quantum : x;
}

/* The pixels within two standard deviations of the mean. */
static inline void airy_background_cuts(double *lo, double *hi, double mean, double std,
                                        airy_u32 compat)
{
    const double middle = airy_background_round(mean, std);
    const double width = 2.0 * airy_background_round(std, std);
    *lo = compat ? (double)(float)(mean - 2.0 * std) : middle - width;
    *hi = compat ? (double)(float)(mean + 2.0 * std) : middle + width;
}

/*
 * Whether sums about the pivot have lost the digits of the deviation, and are to be made again about
 * the mean: pixels that are cut out may have drawn it as far away as they are large.
 */
static inline int airy_background_sums_again(double pivot, double mean, double std, double min,
                                             double max)
{
    return min < max && mean != pivot && !(fabs(mean - pivot) <= 64.0 * std);
}

/* The bins of a mesh: count, mean, standard deviation and extremes of the pixels cut out. */
static inline airy_background_bins airy_background_plan(airy_u32 count, double mean, double std,
                                                        double min, double max, airy_u32 compat)
{
    /* A bin of the mode of normal noise holds 4 pixels: 10 s / (5/4 sqrt(2/pi) n). */
    const double wanted = floor(0.99735570100358172 * (double)count + 1.0);
    airy_background_bins b = {0.0, 1.0, 1.0, mean, AIRY_BACKGROUND_LEVELS, 0u};
    if (wanted < (double)AIRY_BACKGROUND_LEVELS)
        b.levels = (airy_u32)wanted;
    const double width = airy_background_round(std, std), levels = (double)b.levels;
    if (compat && min < max) {
        b.scale = (double)(float)(10.0 * std / levels);
        b.zero = (double)(float)(mean - 5.0 * std);
    } else if (compat) {
        b.zero = (double)(float)mean;
    } else {
        b.scale = 10.0 * width / levels;
        b.zero = airy_background_round(mean, width) - 5.0 * width;
    }
    /* No width to speak of, or a single pixel. */
    if ((!compat && !(min < max)) || !(b.scale > 1e-280) || !(b.scale < 1e280) || b.levels < 2u) {
        b.alike = min < max ? mean : min;
        b.levels = 0u;
    }
    b.inverse = 1.0 / b.scale;
    return b;
}

/* The bin of a pixel; -1: none. */
static inline airy_i32 airy_background_bin(double x, airy_background_bins b)
{
    const double at = (x - b.zero) * b.inverse + 0.5;
    return at >= 0.0 && at < (double)b.levels ? (airy_i32)at : -1;
}

/* In floats, a little to the left; what is above -1 is in bin 0, as C converts it. */
static inline float airy_background_shift(airy_background_bins b)
{
    return (float)(0.499999 - (double)((float)b.zero / (float)b.scale));
}

static inline airy_i32 airy_background_bin_compat(double x, airy_background_bins b, float shift)
{
    const float at = (float)x / (float)b.scale + shift;
    return at > -1.0f && at < (float)b.levels ? (airy_i32)at : -1;
}

/* ---- what is made of a histogram ---- */

/* Bins [lo, hi] are left; median, mean and std in bins. */
typedef struct airy_background_clip {
    double median, mean, std, before;
    airy_i32 lo, hi;
    airy_i32 pass, unused;
} airy_background_clip;
AIRY_ASSERT_SIZE(airy_background_clip, 48);

/* What a pass finds in [lo, hi]. */
typedef struct airy_background_pass {
    airy_u64 first, second; /* sums of i and i^2 over the pixels, i the bin */
    airy_u32 count;
    airy_u32 low;      /* pixels up to bin split, */
    airy_u32 at, next; /* in it, and in the one after it */
    airy_i32 split;    /* where the halves meet: see airy_background_meet */
    airy_u32 unused;
} airy_background_pass;
AIRY_ASSERT_SIZE(airy_background_pass, 40);

static inline airy_background_clip airy_background_clip_begin(airy_u32 levels)
{
    airy_background_clip c = {0.0, 0.0, 10.0 * ((double)levels - 1.0), 1.0, 0, 0, 0, 0};
    c.hi = (airy_i32)levels - 1;
    return c;
}

static inline int airy_background_clip_goes_on(airy_background_clip c)
{
    return c.pass < 100 && c.std >= 0.1 && fabs(c.std / c.before - 1.0) > 1e-4;
}

/*
 * The median is where bins taken from both ends, from the end that has fewer pixels so far, meet.
 * Of pixels[k], those in bins lo to k: the last bin to be taken is the first k for which
 * pixels[k - 1] + pixels[k + 1] >= all (pixels[lo - 1] = 0, pixels[hi + 1] = all). It goes to the
 * lower half if that has less than the upper one; split is the last bin of the lower half.
 */
static inline airy_i32 airy_background_meet(airy_i32 k, airy_u32 below, airy_u32 upto, airy_u32 all)
{
    return below < all - upto ? k : k - 1;
}

static inline airy_background_clip
airy_background_clip_pass(airy_background_clip c, airy_background_pass p, airy_u32 levels)
{
    const double last = (double)levels - 1.0, n = (double)p.count;
    const double most = (double)(p.at > p.next ? p.at : p.next);
    const double excess = n - 2.0 * (double)p.low; /* of the upper half */
    c.before = c.std;
    c.pass++;
    c.mean = n > 0.0 ? (double)p.first / n : 0.0;
    const double variance = n > 0.0 ? (double)p.second / n - c.mean * c.mean : 0.0;
    c.std = variance > 0.0 ? sqrt(variance) : 0.0;
    c.median = p.split < 0 ? 0.0
                           : (double)p.split + 0.5 + (most > 0.0 ? excess / (2.0 * most) : 0.0);
    const double lo = c.median - 3.0 * c.std, hi = c.median + 3.0 * c.std;
    c.lo = lo > 0.0 ? (airy_i32)(lo + 0.5) : 0;
    c.hi = hi < last ? (airy_i32)(hi + 0.5) : (airy_i32)last;
    return c;
}

/*
 * Whether pixels that are cut off by now have made bins so wide that what is left lies in one of
 * them, where noise alone has a tenth of all as its deviation: the mesh is then done again, of the
 * pixels in [*lo, *hi].
 */
static inline int airy_background_narrow(double *lo, double *hi, airy_background_clip c,
                                         airy_background_bins b)
{
    const double least = 0.02 * (double)b.levels;
    if (b.levels < 8u || c.std >= (least < 1.0 ? least : 1.0))
        return 0;
    *lo = b.zero + ((double)c.lo - 1.0) * b.scale;
    *hi = b.zero + ((double)c.hi + 1.0) * b.scale;
    return 1;
}

/* estimate: of airy_background_estimate */
static inline double airy_background_level(airy_background_clip c, airy_background_bins b,
                                           airy_u32 estimate)
{
    double at = c.mean;
    if (c.std > 0.0 && estimate == 0u)
        at = fabs(c.mean - c.median) < 0.3 * c.std ? 2.5 * c.median - 1.5 * c.mean : c.median;
    else if (c.std > 0.0 && estimate == 1u)
        at = c.median;
    return b.zero + at * b.scale;
}

/* ---- meshes of few different values, such as low counts ---- */

/* Times that the pixels near the mean are found. */
#define AIRY_BACKGROUND_COARSE_ROUNDS 16

/*
 * The bin of the value that a quarter or more of all pixels has, from the first pass over them; -1:
 * there is none. The median is it. A bin of noise that is resolved has 4 pixels.
 */
static inline airy_i32 airy_background_crowd(airy_background_pass p)
{
    const airy_u32 most = p.at > p.next ? p.at : p.next;
    return p.count >= 64u && most >= p.count / 4u ? (p.at >= p.next ? p.split : p.split + 1) : -1;
}

/*
 * Noise of few counts is no wider than the step from one value to the next, by which a clip then
 * removes all but one value. So mean and deviation are first those of the pixels that the clip
 * leaves or that lie within 3.5 steps of that value, then of those within 3 deviations, and no less
 * than 3.5 steps, of the mean.
 */
static inline void airy_background_coarse_start(double *lo, double *hi, airy_background_clip c,
                                                airy_background_bins b, double value, double step)
{
    const double low = b.levels != 0u ? b.zero + ((double)c.lo - 1.0) * b.scale : value,
                 high = b.levels != 0u ? b.zero + ((double)c.hi + 1.0) * b.scale : value;
    *lo = fmin(low, value - 3.5 * step);
    *hi = fmax(high, value + 3.5 * step);
}

static inline void airy_background_coarse_next(double *lo, double *hi, double mean, double std,
                                               double step)
{
    const double reach = fmax(3.0 * std, 3.5 * step);
    *lo = mean - reach;
    *hi = mean + reach;
}

/* ---- splines ---- */

/* Planes of a spline's nodes: value, and second derivatives over 6, in units of a mesh. */
#define AIRY_BACKGROUND_VALUE      0u
#define AIRY_BACKGROUND_ALONG_Y    1u
#define AIRY_BACKGROUND_ALONG_X    2u
#define AIRY_BACKGROUND_ALONG_BOTH 3u
#define AIRY_BACKGROUND_PLANES     4u

/* A row of the image: weights of the nodes of rows lo and lo + 1, and of their derivatives. */
typedef struct airy_background_row {
    double low, high, bend_low, bend_high;
    airy_u32 lo, hi;
} airy_background_row;
AIRY_ASSERT_SIZE(airy_background_row, 40);

/* A cubic: a + t (b + t (c + t d)), t = 0 and 1 at the nodes. */
typedef struct airy_background_cubic {
    double a, b, c, d;
} airy_background_cubic;
AIRY_ASSERT_SIZE(airy_background_cubic, 32);

static inline airy_background_row airy_background_row_of(airy_u32 y, airy_u32 mesh, airy_u32 nodes,
                                                         airy_u32 compat)
{
    airy_background_row r = {1.0, 0.0, 0.0, 0.0, 0u, 0u};
    if (nodes < 2u)
        return r;
    const double at = ((double)y + (compat ? 0.0 : 0.5)) / (double)mesh - 0.5;
    r.lo = at > 0.0 ? (airy_u32)at : 0u;
    r.lo = r.lo > nodes - 2u ? nodes - 2u : r.lo;
    r.hi = r.lo + 1u;
    r.high = at - (double)r.lo;
    r.low = 1.0 - r.high;
    r.bend_low = r.low * r.low * r.low - r.low;
    r.bend_high = r.high * r.high * r.high - r.high;
    return r;
}

/* From nodes of rows lo and hi, and their derivatives along y. */
static inline double airy_background_along(airy_background_row r, double low, double high,
                                           double bend_low, double bend_high)
{
    return r.low * low + r.high * high + r.bend_low * bend_low + r.bend_high * bend_high;
}

/* Between nodes of a row and their derivatives along x. */
static inline airy_background_cubic airy_background_cubic_of(double low, double high,
                                                             double bend_low, double bend_high)
{
    airy_background_cubic c = {low, high - low - 2.0 * bend_low - bend_high, 3.0 * bend_low,
                               bend_high - bend_low};
    return c;
}

/* Pieces of a row between nodes, at least one; the piece of a pixel, and its place there. */
static inline airy_u32 airy_background_pieces(airy_u32 nodes)
{
    return nodes > 1u ? nodes - 1u : 1u;
}

static inline airy_u32 airy_background_piece(airy_u32 x, airy_u32 mesh, airy_u32 nodes)
{
    const airy_u32 middle = mesh / 2u, piece = x < middle ? 0u : (x - middle) / mesh;
    return piece < airy_background_pieces(nodes) ? piece : airy_background_pieces(nodes) - 1u;
}

static inline double airy_background_place(airy_u32 x, airy_u32 mesh, airy_u32 piece)
{
    return ((double)x + 0.5) / (double)mesh - 0.5 - (double)piece;
}

#endif
