/**
 * Background and Bragg peaks: the pixels of a frame that stand out of their ring, and the peaks
 * among them.
 *
 * Of a frame's sums (integrate.h) come mean and standard deviation of each radial bin; on the line
 * between the two bin centres around the pixel's own centre (level beyond the first and the last)
 * they give
 *   b = mean, s = standard deviation, v = (raw - dark) / n - b, u = sqrt(s^2 + noise^2).
 * A bin without pixels lies on the line between the nearest ones with pixels on either side.
 *
 * Kept pixels: v > max(noise, cutoff_pick u); besides, with their raw values, those that count but
 * are left out of this frame as dummy or not finite, so that a frame put together again has them
 * as they were.
 * Peaks: v > 0 and v >= cutoff_peak u (a candidate); no pixel of the patch (2 h + 1 on a side,
 * around it) has a larger v, none in front of it in raster order the same; and at least `connected`
 * candidates in the patch, itself among them. Of the patch's pixels with v > 0:
 *   intensity = sum v, y = sum v y / sum v, x = sum v x / sum v, sigma = sqrt(sum u^2).
 * Pixels that do not count, are left out of this frame or lie outside of the radial range are
 * neither, and are as if they were not there; with the integrator's compat pyfai such a pixel in
 * the patch makes the peak none, and pixels left out of a frame are not kept.
 *
 * Source: definition; the separation follows J. Kieffer et al., J. Appl. Cryst. 58 (2025), jo5109.
 */
#ifndef AIRY_PEAKS_H
#define AIRY_PEAKS_H

#include "airy/integrate.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Zeroed is the default. */
typedef struct airy_peak_params {
    double noise;       /**< in the unit of the pattern; 0: 1; from 1e-15 to 1e15 */
    double cutoff_pick; /**< of pixels to keep, standard deviations; 0: 3; at most 1e6 */
    double cutoff_peak; /**< of pixels that make a peak; 0: 3; at most 1e6 */
    size_t patch;       /**< pixels on a side, odd, 3 to 31; 0: 3 */
    size_t connected;   /**< candidates in a patch, 1 to patch^2; 0: 2 */
    size_t max_pixels;  /**< kept of a frame; 0: a quarter of all */
    size_t max_peaks;   /**< of a frame; 0: 4096, or all pixels where that is less */
} airy_peak_params;

/**
 * Immutable, so any number of queues of its device may share it.
 * Thread-safety: any thread.
 */
typedef struct airy_peak_finder airy_peak_finder;

/**
 * Create a peak finder on the device of an integrator.
 * @param integrator  one dimension, an error model, not unweighted; stays until the finder goes
 * @param params      NULL for defaults
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_UNSUPPORTED, AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_peak_finder_create(airy_peak_finder **finder,
                                             const airy_integrator *integrator,
                                             const airy_peak_params *params);
AIRY_API void airy_peak_finder_destroy(airy_peak_finder **finder);
/** Get the parameters with defaults filled in. */
AIRY_API airy_status airy_peak_finder_get_params(const airy_peak_finder *finder,
                                                 airy_peak_params *params);
/**
 * Get the radius of every pixel's centre in the integrator's unit, NaN where the pixel does not
 * count, and the divisor n of raw values, 0 there. Either may be NULL. out[height * width].
 */
AIRY_API airy_status airy_peak_finder_images(const airy_peak_finder *finder, float *radius,
                                             float *normalization);

/** Laid out alike on host and device (32 bytes). */
typedef struct airy_peak {
    float y, x; /**< of the centroid, pixels, 0 at the centre of the first */
    float intensity, sigma;
    float snr;       /**< intensity / sigma */
    uint32_t pixels; /**< candidates in the patch */
    uint32_t index;  /**< of the largest pixel, in raster order */
    uint32_t reserved;
} airy_peak;

/** Columns of counts. found > the finder's limit: listed is 0, the frame has too many. */
typedef enum airy_peak_count {
    AIRY_PEAK_PIXELS = 0, /**< listed */
    AIRY_PEAK_PIXELS_FOUND,
    AIRY_PEAK_PEAKS, /**< listed */
    AIRY_PEAK_PEAKS_FOUND,
    AIRY_PEAK_COUNTS
} airy_peak_count;

/** Results of n frames; lists of all frames lie one behind the other. */
typedef struct airy_peak_lists {
    airy_array *counts;    /**< u32 [n, AIRY_PEAK_COUNTS] */
    airy_array *curves;    /**< f32 [n, 2, bins]: mean, standard deviation */
    airy_array *index;     /**< u32 [n * max_pixels]: in raster order, ascending */
    airy_array *intensity; /**< the frames' dtype [n * max_pixels]: raw values */
    airy_array *peaks;     /**< u8 [n * max_peaks, sizeof(airy_peak)], by index ascending */
} airy_peak_lists;

/**
 * Find pixels and peaks of frames in device memory.
 *
 * @param lists   out; elements behind its count are left as they are
 * @param sums    f64 [n, AIRY_SUM_PLANES, bins], of airy_integrate of the same frames
 * @param frames  [n, height, width], tightly packed, n at most 65535
 * No two arrays may overlap.
 *
 * Accuracy:  b, s, v in f32 without fused operations, the same bits on all back ends and for any
 *            number of threads, given the same sums; v errs by 2^-22 (|raw - dark| / n + |b|).
 *            Centroids and sums of patches are made in f64 and rounded to f32.
 * Errors:    AIRY_ERR_SHAPE, AIRY_ERR_DTYPE, AIRY_ERR_PARAM, AIRY_ERR_DEVICE, AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_find_peaks(airy_queue *queue, const airy_peak_lists *lists,
                                     const airy_peak_finder *finder, const airy_array *sums,
                                     const airy_array *frames);

#ifdef __cplusplus
}
#endif
#endif
