/**
 * Statistics of an array: moments, order statistics, histogram, iterated clipping, threshold.
 *
 *   const size_t shape[2] = {height, width};
 *   airy_statistics s;
 *   if (airy_device_create(&device, "cpu", NULL) || airy_queue_create(&queue, device) ||
 *       airy_array_create_from(&image, queue, AIRY_DTYPE_F32, 2, shape, pixels) ||
 *       airy_statistics_get(queue, &s, image, NULL, AIRY_STATISTICS_MOMENTS))
 *       fprintf(stderr, "%s\n", airy_last_error());
 *   else
 *       printf("mean %g, standard deviation %g\n", s.mean, s.std);
 *
 * Any dtype and shape, views too. Elements that are not finite, and those that a mask excludes, are
 * left out and counted. Elements are read as f64: 64-bit integers beyond 2^53 as the nearest one,
 * by which they are compared, with a threshold or a bound of a clip too.
 * Results are host memory and are there when the call returns: it waits for the work that is
 * queued before it.
 */
#ifndef AIRY_REDUCE_H
#define AIRY_REDUCE_H

#include "airy/array.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum airy_statistics_flags {
    AIRY_STATISTICS_MOMENTS = 1u << 0, /**< min, max, sum, mean, std */
    AIRY_STATISTICS_MEDIAN = 1u << 1,
    AIRY_STATISTICS_MAD = 1u << 2, /**< needs the median, and gives it */
    AIRY_STATISTICS_ALL = 7u
} airy_statistics_flags;

/** NaN where there are no elements, or where the flag was not set. */
typedef struct airy_statistics {
    uint64_t count;                 /**< elements that went in: finite, not masked */
    uint64_t nan, infinite, masked; /**< left out; a masked one is not looked at */
    double min, max;
    uint64_t min_at, max_at; /**< first place in raster order */
    double sum, mean;
    double std;    /**< population (ddof 0) */
    double median; /**< of an even count: the mean of the two in the middle */
    double mad;    /**< median of |x - median|, not scaled */
} airy_statistics;

/**
 * Compute the statistics of an array.
 * @param statistics  out
 * @param mask   u8, shape of src, not 0 = left out; NULL: none
 * @param flags  of airy_statistics_flags; 0: all
 *
 * Accuracy: counts, min, max, places, median exact; mad too but for the rounding of x - median.
 *           sum, mean, std: relative 1e-12 of the larger of |mean| and std, whatever the offset
 *           (sums about an element near the median, blocks of 4,096 in f64, those in double words).
 *           The bits do not depend on threads.
 * Errors:   AIRY_ERR_PARAM, AIRY_ERR_SHAPE, AIRY_ERR_DTYPE (mask), AIRY_ERR_MEMORY,
 *           AIRY_ERR_UNSUPPORTED.
 */
AIRY_API airy_status airy_statistics_get(airy_queue *queue, airy_statistics *statistics,
                                         const airy_array *src, const airy_array *mask,
                                         unsigned flags);

/**
 * Measure many images in one call, for example the planes of a cube: statistics[i] has the bits
 * that airy_statistics_get gives for srcs[i]. A device gets the work of all before one is waited
 * for; what is alike in one array at equal distances, as planes are, it does side by side.
 *
 * @param statistics  out, count of them
 * @param srcs   count of them, each of any dtype and shape
 * @param masks  NULL: none; or one for each of srcs, of its shape, NULL: none
 *
 * Errors: as airy_statistics_get, of the first image that has one; nothing is written then.
 */
AIRY_API airy_status airy_statistics_each(airy_queue *queue, airy_statistics *statistics,
                                          const airy_array *const *srcs,
                                          const airy_array *const *masks, size_t count,
                                          unsigned flags);

/**
 * Compute quantiles by linear interpolation between neighbours (NumPy's default): position fraction
 * (count - 1).
 * @param values     out, count of them; NaN where there are no elements
 * @param fractions  count of them, in [0, 1]
 * Exact but for the rounding of the interpolation. Errors: as airy_statistics_get.
 */
AIRY_API airy_status airy_quantiles(airy_queue *queue, double *values, const airy_array *src,
                                    const airy_array *mask, const double *fractions, size_t count);

/** What a histogram has outside of its bins. */
typedef struct airy_histogram_rest {
    uint64_t below, above, nan, masked; /**< infinities are below or above */
} airy_histogram_rest;

/**
 * Count elements in equal bins from lo to hi: bin i holds edge i <= x < edge i + 1, the last bin
 * its upper edge too, edge i = lo + i (hi - lo) / bins.
 * @param counts  out, bins of them
 * @param bins    1 to 16777216
 * @param lo      finite, below hi
 * @param rest    out, or NULL
 * Errors: as airy_statistics_get.
 */
AIRY_API airy_status airy_histogram(airy_queue *queue, uint64_t *counts, const airy_array *src,
                                    const airy_array *mask, size_t bins, double lo, double hi,
                                    airy_histogram_rest *rest);

typedef enum airy_center {
    AIRY_CENTER_MEDIAN = 0,
    AIRY_CENTER_MEAN,
    AIRY_CENTER_COUNT
} airy_center;

typedef enum airy_spread {
    AIRY_SPREAD_STD = 0, /**< population */
    AIRY_SPREAD_MAD,     /**< 1.482602218505602 x median of |x - median| */
    AIRY_SPREAD_COUNT
} airy_spread;

/** Zeroed is the default. */
typedef struct airy_clip_params {
    double kappa_low, kappa_high; /**< 0: 3; INFINITY: no bound on that side */
    airy_center center;
    airy_spread spread;
    size_t iterations; /**< passes at most; 0: until one removes nothing */
    bool inclusive;    /**< elements on a bound stay (scipy, astropy); default: they go */
} airy_clip_params;

typedef struct airy_clip_result {
    airy_statistics kept; /**< of what is left; mad only where it is the spread */
    double low, high;     /**< bounds of the last pass */
    uint64_t iterations;  /**< passes done; the last one, which removes nothing, counts */
    uint64_t clipped;     /**< finite, unmasked elements removed */
} airy_clip_result;

/**
 * Compute mean and deviation by a kappa-sigma clip: of what is left keep center - kappa_low spread
 * < x < center + kappa_high spread, again and again. Bounds in f64. Where the spread is 0 nothing
 * lies strictly between the bounds and nothing is left; with `inclusive` what equals the center
 * stays.
 * Accuracy: of the statistics as airy_statistics_get; an element within that of a bound may fall on
 *           either side of it.
 */
AIRY_API airy_status airy_clip(airy_queue *queue, airy_clip_result *result, const airy_array *src,
                               const airy_array *mask, const airy_clip_params *params);

/**
 * Clip many images in one call: results[i] is what airy_clip gives for srcs[i]. Images and
 * errors: as airy_statistics_each.
 */
AIRY_API airy_status airy_clip_each(airy_queue *queue, airy_clip_result *results,
                                    const airy_array *const *srcs, const airy_array *const *masks,
                                    size_t count, const airy_clip_params *params);

/**
 * Write mask = 1 where src > value, else 0 (also where src is NaN). Returns before it is done.
 * @param mask  out, u8, shape of src, not overlapping it
 * Errors: as airy_statistics_get.
 */
AIRY_API airy_status airy_threshold(airy_queue *queue, airy_array *mask, const airy_array *src,
                                    double value);

/** What airy_coarse_noise has found. */
typedef struct airy_coarse_result {
    bool coarse;      /**< the values are few; else mean, std and count mean nothing */
    double step;      /**< from the value to the next other one; 0: there is none */
    double mean, std; /**< of the elements that are noise; std: population */
    uint64_t count;   /**< of them */
} airy_coarse_result;

/**
 * Estimate mean and standard deviation of noise whose steps from one value to the next are not
 * small beside it, such as counts of few photons: of these a clip removes all values but one, and
 * the median absolute deviation is 0. Values are few where, of 64 elements or more, a quarter or
 * more have `value`, and more than one in a thousand differ from it by no more than 3.5 steps.
 *
 *   first of the elements within 3.5 steps of value; then of those within 3 std, and no less than
 *   3.5 steps, of the mean, until they are as many as before, 16 times at most
 *
 * Sums in f64 on the host, to which the elements are copied: for images that a clip has failed on.
 * @param value  the most frequent one: the median
 * Errors: as airy_statistics_get; AIRY_ERR_PARAM (value is not finite; a standard deviation that is
 *         not).
 */
AIRY_API airy_status airy_coarse_noise(airy_queue *queue, airy_coarse_result *result,
                                       const airy_array *src, const airy_array *mask, double value);

/** What airy_hot_pixels has found. */
typedef struct airy_hot_result {
    double center, sigma;  /**< of the elements that went in */
    double low, high;      /**< the bounds */
    uint64_t above, below; /**< the elements beyond them */
    uint64_t left_out;     /**< masked, or not finite */
} airy_hot_result;

/**
 * Find elements that are off by more than kappa robust standard deviations: of a dark, or a flat
 * that was divided by a smooth one, the pixels that are hot or dead.
 *
 *   center = median, sigma = 1.482602218505602 median |x - center|; where more than half of the
 *   elements are equal, so that this is 0: the std of airy_coarse_noise, where the values are few,
 *   else the standard deviation of what a clip at 5 of them about the median keeps. With sigma 0 all
 *   that differs from the center is beyond.
 *   low, high = center -+ kappa sigma; where the values are few no less than 3.5 steps from the center,
 *   as single counts of few photons are not hot.
 *
 * @param hot     out, [elements of src] on the host: 1 where x is below low, above high, not finite or
 *                masked; else 0
 * @param result  out or NULL
 * @param src     any dtype and shape
 * @param mask    u8, shape of src, not 0 = left out; NULL: none
 * @param kappa   >= 0, finite
 * Errors: as airy_statistics_get; AIRY_ERR_PARAM (kappa; no finite element; a standard
 *         deviation that is not finite).
 */
AIRY_API airy_status airy_hot_pixels(airy_queue *queue, uint8_t *hot, airy_hot_result *result,
                                     const airy_array *src, const airy_array *mask, double kappa);

#ifdef __cplusplus
}
#endif
#endif
