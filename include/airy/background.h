/**
 * Background and noise of an image: robust statistics of the meshes of a grid, filtered by medians,
 * and splines through them.
 *
 * Pixels that are not finite, lie beyond 1e150 in size, or are masked are left out. A mesh of which
 * fewer than half of the pixels are left is bad: it takes the mean of the nearest good ones.
 *
 * Of a good mesh, with x its pixels:
 *   1. mean m and standard deviation s of all x, then of those from m - 2 s to m + 2 s; both are
 *      rounded to multiples of 2^-20 of the power of two below s, so that what follows does not
 *      depend on the order of sums;
 *   2. a histogram of all x in levels = min(4096, floor(5/4 sqrt(2/pi) n + 1)) bins of 10 s /
 *      levels, the first one about m - 5 s, n: pixels left by step 1;
 *   3. until the standard deviation in it is below 0.1 bins or changes by less than 1e-4, 100 times
 *      at most: median, mean and standard deviation of the bins that are left, then those stay that
 *      lie within 3 standard deviations of the median;
 *   4. level: by params->estimate; noise: that standard deviation, which of normal noise is 1.3
 *      percent too small, the tails being cut off.
 * Images of few counts have meshes whose noise is no wider than the step from one value to the next,
 * and whose clip would leave one value alone. So where the pixels that are left are all alike, or 64
 * or more of which a quarter have the value v of the median, level and noise are instead mean and
 * standard deviation (with AIRY_BACKGROUND_MEDIAN the level is v) of the pixels of the mesh that step
 * 3 leaves or that lie within 3.5 d of v, with d the distance from v to the next other value of the
 * mesh; then of those within max(3 standard deviations, 3.5 d) of the mean, until their number stays
 * the same, 16 times at most. Of Poisson counts of mean 0.001 to 1 that noise is sqrt(mean) within 4
 * percent and the sampling error of the mesh. Where all pixels of the mesh are alike, the noise is 0.
 */
#ifndef AIRY_BACKGROUND_H
#define AIRY_BACKGROUND_H

#include "airy/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * On a device; made by airy_background_create, does not change afterwards.
 * Thread-safety: any thread; queues of its device share it once the call that made it has returned.
 */
typedef struct airy_background airy_background;

typedef enum airy_background_estimate {
    AIRY_BACKGROUND_MODE =
        0, /**< 2.5 median - 1.5 mean where |mean - median| < 0.3 std, else median */
    AIRY_BACKGROUND_MEDIAN,
    AIRY_BACKGROUND_MEAN,
    AIRY_BACKGROUND_ESTIMATE_COUNT
} airy_background_estimate;

/** Zeroed is the default. */
typedef struct airy_background_params {
    size_t mesh[2];          /**< px, y then x, 2 to 32768; 0: 64. May be larger than the image */
    size_t filter[2];        /**< meshes of the median's window, y then x, odd, 1 to 63; 0: 3 */
    double filter_threshold; /**< a node whose level is nearer than this to its median stays */
    airy_background_estimate estimate;
    /**
     * As SEP 1.4 and SExtractor: maps lie half a pixel too far down (nodes at y = (i + 1/2) mesh,
     * but x = (i + 1/2) mesh - 1/2); second derivatives of the splines are divided by 6 once more
     * at each node of the recurrence, and there are none along x where there is one row of meshes;
     * pixels are read as f32 and so are bounds and bins, whose first one takes what lies up to a
     * bin below it; meshes of equal pixels have bins of 1; meshes of few values are no exception; the noise may be extrapolated to
     * below 0. What is not taken over: sums that cancel far from zero, and 0 and 1 for an image
     * without a good mesh.
     */
    bool compat_sep;
} airy_background_params;

typedef struct airy_background_info {
    size_t nodes[2]; /**< meshes along y and x */
    size_t bad;      /**< meshes that were filled from others */
    double level;    /**< median over the nodes, filtered */
    double noise;    /**< the same */
} airy_background_info;

/**
 * Estimate background and noise of an image.
 * @param background  out
 * @param image   any dtype, [height, width]; fewer than 2^24 meshes on an OpenCL device
 * @param mask    u8, shape of image, not 0 = left out; NULL: none
 * @param params  NULL for defaults
 * @param info    out, or NULL
 *
 * The call waits for its work. At the border the median's window shrinks by as much on the other
 * side.
 * Accuracy: level and noise agree between devices but for pixels within rounding of a bin's edge.
 * Memory:   64 bytes for each mesh.
 * Errors:   AIRY_ERR_PARAM (also an image without a good mesh, which has no background),
 *           AIRY_ERR_SHAPE, AIRY_ERR_DTYPE, AIRY_ERR_MEMORY, AIRY_ERR_UNSUPPORTED.
 * Source:   E. Bertin, S. Arnouts, Astron. Astrophys. Suppl. Ser. 117 (1996) 393, section 3, and
 *           the program's source for what the paper leaves open; K. Barbary, J. Open Source Softw.
 *           1 (2016) 58, doi:10.21105/joss.00058.
 */
AIRY_API airy_status airy_background_create(airy_background **background, airy_queue *queue,
                                            const airy_array *image, const airy_array *mask,
                                            const airy_background_params *params,
                                            airy_background_info *info);

/**
 * Write maps of the image's shape: natural bicubic splines through the nodes, the middles of the
 * meshes (those that the image cuts off too are taken as whole), continued by half a mesh outside
 * of them. The noise is nowhere less than at the node where it is least.
 *
 * @param level  out, f32 or f64, shape of the image; NULL: not wanted
 * @param noise  the same; not overlapping level
 *
 * Returns before it is done.
 * Accuracy: f32: 2^-22 of the level, and of the differences between nodes; f64: 1e-14 of them.
 * Errors:   AIRY_ERR_PARAM (neither is wanted), AIRY_ERR_SHAPE, AIRY_ERR_DTYPE,
 *           AIRY_ERR_UNSUPPORTED.
 */
AIRY_API airy_status airy_background_map(airy_queue *queue, const airy_background *background,
                                         airy_array *level, airy_array *noise);

/**
 * Subtract the background, dst = src - level, and write the noise, in one pass. What is not finite
 * in src stays so.
 *
 * @param dst    out, f32 or f64, shape of the image; may be src, may not overlap it otherwise
 * @param src    any dtype, that shape
 * @param noise  out, f32 or f64, that shape, overlapping neither; NULL: not wanted
 *
 * Returns before it is done.
 * Accuracy: as airy_background_map, and 2^-23 (f64: 2^-52) of src; a large level common to the
 *           image costs no digits.
 * Errors:   AIRY_ERR_PARAM, AIRY_ERR_SHAPE, AIRY_ERR_DTYPE, AIRY_ERR_UNSUPPORTED.
 */
AIRY_API airy_status airy_background_subtract(airy_queue *queue, const airy_background *background,
                                              airy_array *dst, const airy_array *src,
                                              airy_array *noise);

/** Destroy it and set *background to NULL; work that is queued still finishes. */
AIRY_API void airy_background_destroy(airy_background **background);

#ifdef __cplusplus
}
#endif
#endif
