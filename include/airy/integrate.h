/**
 * Azimuthal integration: frames to radial patterns. A pattern is the mean intensity of the pixels at
 * each distance from the beam, corrected for what each pixel sees.
 *
 * Files are integrated in one call by the job "integrate" (airy/job.h), or by airy_integrate_stack
 * (airy/pipeline.h). This header is for frames in memory:
 *
 *   const airy_integrator_params params = {.bins = 1000}; // q in 1/nm, full pixel splitting
 *   airy_integrator_create(&integrator, device, &geometry, &params);
 *   airy_integrate(queue, sums, stats, integrator, frames); // arrays on the device
 *   airy_array_pull(queue, host_sums, sizeof(double) * AIRY_SUM_PLANES * 1000, sums);
 *   airy_integrator_finish(integrator, host_sums, 1.0, intensity, NULL, NULL);
 *
 * examples/pattern.c is a complete program. These are the rules.
 *
 * For bin b, over pixels i with splitting coefficient c_bi (sum over b of c_bi = 1 for a pixel
 * inside the range):
 *   sum_signal = sum c (raw - dark)          sum_normalization  = sum c n        count = sum c
 *   sum_variance = sum c^2 v                 sum_normalization2 = sum (c n)^2
 *   n = normalization factor * flat * solid angle * polarization * absorption * efficiency
 *   intensity = sum_signal / sum_normalization   sem = sqrt(sum_variance) / sum_normalization
 *   std = sqrt(sum_variance / sum_normalization2)
 * Unweighted: signal and sqrt(variance) are divided by n first and n is 1.
 * v: poisson max(1, raw); variance: given; azimuthal: v_i such that sum_variance = sum (c n)^2
 * ((raw - dark)/n - intensity)^2, the second moment around the bin's mean.
 * A pixel is left out where the mask is not 0, n is 0, or raw, dark, flat or absorption is not
 * finite or raw is a dummy value; where a bin has no pixel left its sums are 0 and the results are
 * params->empty.
 * Two dimensions (azimuth_bins > 0): bins are cells of radius and chi, planes of sums are
 * [azimuth_bins][bins], and a pixel's share of a cell is by area; chi is cut at its discontinuity
 * and at the ends of azimuth_range, pixels on either side of it belong to both ends. Instead of chi
 * the second axis can be any of airy_unit_is_azimuthal, see azimuth_unit. A quadrilateral that
 * crosses itself counts as the two triangles that it consists of.
 * Where the sign of qip changes, qip and chigi jump across what no pixel sees: such a pixel is
 * taken to lie on the side of its centre, without compat.
 * Bins: half open, [lo, hi); without a range given lo and hi are the limits of the unmasked pixels
 * (centres, boxes or corners, by splitting; corners: 0 where such a pixel holds the beam), and hi
 * belongs to the last bin.
 * With has_clip or has_quantile all sums are those of the entries that are kept, see
 * airy_integrator_params.
 * Source: J. Kieffer et al., J. Synchrotron Rad. 27 (2020) 558 (doi:10.1107/S1600577520000776) for
 *         the weighted mean.
 */
#ifndef AIRY_INTEGRATE_H
#define AIRY_INTEGRATE_H

#include "airy/array.h"
#include "airy/codec.h"
#include "airy/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum airy_split {
    AIRY_SPLIT_FULL = 0, /**< the pixel's quadrilateral in (radius, chi), by area */
    AIRY_SPLIT_BBOX,     /**< the interval centre +- half width, by length */
    AIRY_SPLIT_NO,       /**< all of the pixel to the bin of its centre */
    AIRY_SPLIT_PSEUDO,   /**< two dimensions only: the quadrilateral's box, shrunk to its area about
                              its middle, by area; the beam's pixel as full */
    AIRY_SPLIT_COUNT
} airy_split;

/**
 * pyFAI's method that compat pyfai reproduces. It selects rules about ranges and edges that differ
 * between that package's methods (docs/numerics.md); without compat it changes nothing. One engine
 * for each device serves all methods (airy_integrator_info.engine), so they take the same time.
 */
typedef enum airy_method {
    AIRY_METHOD_CSR = 0,   /**< sparse matrix, a row for each bin */
    AIRY_METHOD_CSC,       /**< sparse matrix, a column for each pixel; same rules as csr */
    AIRY_METHOD_LUT,       /**< look-up table; same rules as csr */
    AIRY_METHOD_HISTOGRAM, /**< weighted histogram */
    AIRY_METHOD_COUNT
} airy_method;

typedef enum airy_error_model {
    AIRY_ERROR_MODEL_NONE = 0,
    AIRY_ERROR_MODEL_POISSON,
    AIRY_ERROR_MODEL_AZIMUTHAL,
    AIRY_ERROR_MODEL_VARIANCE,
    AIRY_ERROR_MODEL_HYBRID, /**< with has_clip only: azimuthal while clipping, then poisson */
    AIRY_ERROR_MODEL_COUNT
} airy_error_model;

typedef enum airy_compat {
    AIRY_COMPAT_NONE = 0,
    /**
     * Upper limits times (1 + 2^-23), truncation towards bin 0, folded edges, dummies as float32,
     * variance by recurrence in pixel order; details in docs/numerics.md.
     */
    AIRY_COMPAT_PYFAI
} airy_compat;

AIRY_API const char *airy_split_name(airy_split v);
AIRY_API const char *airy_method_name(airy_method v);
AIRY_API const char *airy_error_model_name(airy_error_model v);
AIRY_API airy_status airy_split_parse(airy_split *v, const char *name);
AIRY_API airy_status airy_method_parse(airy_method *v, const char *name);
AIRY_API airy_status airy_error_model_parse(airy_error_model *v, const char *name);

/**
 * Zeroed is the default. Arrays are host memory of height * width elements, read during create
 * only; NULL: none.
 *
 * Robust sums. An entry is a pixel's part in a bin: of those that are not left out, with omega =
 * c n other than 0, s = c (raw - dark) and x = s / omega, the corrected value. Unweighted: omega is
 * c, s is c (raw - dark) / n. An entry is kept or rejected in its own bin only: a split pixel that
 * is rejected by one bin stays in its neighbours, and the result of a bin does not depend on the
 * order of bins or on threads. What is kept gives all five sums; a bin whose entries are all kept
 * has the sums of a plain integration (to rounding).
 *
 * Sigma clipping. In each bin, with all its entries kept at first, at most clip_cycles times:
 *   mean = sum s / sum omega,  std = sqrt(sum_variance / sum omega^2) of the kept entries;
 *   n = max(3, sum c of the kept entries);
 *   cutoff = max(clip_threshold, sqrt(2 ln(n / sqrt(2 pi)))), the second term Chauvenet's criterion
 *   for a normal distribution (below 1 for n < 4.14);
 *   limit = max(cutoff std, 2^-40 |mean|), so that rounding rejects nothing of equal values;
 *   entries with |x - mean| > limit are rejected for good.
 * A bin stops before clip_cycles where a cycle rejects nothing; where it would reject all that is
 * left, it rejects nothing and stops, so that clipping empties no bin; and where mean or limit is
 * not finite or sum omega is 0.
 * By expected variances (poisson, variance) a few strong entries can lift the mean so far that no
 * other entry lies within its limit. So the first cycle that would keep fewer than half of all
 * entries of the bin is replaced by a start from the median: with x_m the lower median of all
 * entries' x, and std that of the entries with x <= x_m (to 2^-40), those are kept whose x is within
 * max(max(cutoff, 3) std, 2^-40 |x_m|) of x_m, cutoff as in the first cycle. Later cycles go on from
 * these entries.
 * sum_variance is that of the error model: poisson and variance clip by the expected variance,
 * azimuthal by the spread about the mean; hybrid and none clip by the spread, and their variance
 * plane is at the end that of poisson and 0.
 *
 * Quantile filter. The entries of a bin in ascending x, of the same x in ascending order of pixels,
 * cover one after another intervals of their weight |omega|; with W the sum of weights, those are
 * kept whose interval [a, b] lies in [lower W, upper W] or contains it; where there are none, those
 * that meet it. So 0, 1 keeps all; 0.5, 0.5 keeps the weighted median, and where two entries meet
 * at W / 2, both. Weights are rounded to a multiple of 2^-52 of the smallest power of two above 1 +
 * 2^-40 times sqrt(m sum omega^2), m the number and the sum that of all entries of the bin, left
 * out ones with them, so that sums of weights are exact: which entries are kept is the same on all
 * devices.
 * Weights that are rounded to 0 take part at a point.
 *
 * Compat pyfai: the limit is cutoff std, no bin starts from its median, and bins may end up empty;
 * an entry that is rejected is rejected in the bins that come after, too, which are worked on in
 * ascending order (the package itself does that in an order that its threads make); azimuthal
 * variances are by recurrence. The quantile filter then keeps no entry of a bin where none lies in
 * the interval or contains it.
 */
typedef struct airy_integrator_params {
    size_t bins; /**< of the radius; 0: 1000; at most 1000000 */
    airy_unit unit;
    airy_split split;
    airy_method method;
    airy_error_model error_model;
    airy_compat compat;
    bool has_radial_range, has_azimuth_range;
    double radial_range[2]; /**< in the unit */
    double azimuth_range
        [2];       /**< degrees; upper <= lower wraps around; a pixel counts whole or not at all
                        (centre inside). With an azimuth_unit that is no angle about the beam: in
                        that unit, the lower first */
    bool chi_zero; /**< chi (chigi) in [0, 360) rather than (-180, 180] */
    const uint8_t *mask; /**< not 0 = bad; already everything that should be masked */
    const float *dark, *flat, *absorption;
    const float *variance; /**< with AIRY_ERROR_MODEL_VARIANCE */
    bool has_polarization;
    double polarization, polarization_offset_deg;
    bool no_solid_angle, unweighted;
    double normalization; /**< factor; 0: 1 */
    bool has_dummy;
    double dummy, delta_dummy; /**< left out: |raw - dummy| <= delta, delta 0: raw == dummy */
    bool no_default_dummy;     /**< ignore the detector's own dummy values */
    bool has_saturation;
    double saturation; /**< raw >= it is counted as saturated; default: the dtype's largest
                            value, for floats none */
    bool has_empty;
    double empty; /**< result of a bin without pixels; default NaN, with compat 0 */
    size_t
        azimuth_bins; /**< 0: patterns of one dimension; bins * azimuth_bins at most 4194304. Then
                              azimuth_range, if given, is the axis of chi: pixels are cut there */
    bool has_clip;    /**< sigma clipping, see below */
    double clip_threshold;  /**< in standard deviations, >= 0; 0: Chauvenet's criterion alone */
    unsigned clip_cycles;   /**< at most so many; 0: 5; at most 1000 */
    bool has_quantile;      /**< quantile filter, see below; not together with has_clip */
    double quantile[2];     /**< 0 <= lower <= upper <= 1; 0.5, 0.5: the weighted median */
    bool sensor_efficiency; /**< n gets airy_geometry_efficiency as a factor */
    /**
     * Pixels that are saturated in a frame are left out of it, as dummies are. With a signed dtype
     * and the detector's own dummy values all negative values are left out, too; any other dummy
     * values must reach up to the saturation.
     */
    bool mask_saturated;
    /**
     * In two dimensions the second axis, one of airy_unit_is_azimuthal; 0 (which is none of them):
     * chi_deg. The radial unit then is any other but chi and chigi. Compat pyfai: chi_deg and
     * chi_rad alone.
     */
    airy_unit azimuth_unit;
} airy_integrator_params;

/**
 * Geometry, corrections and matrix, ready on a device.
 * Thread-safety: immutable, so any number of queues of its device may share it.
 */
typedef struct airy_integrator airy_integrator;

/**
 * Prepare geometry, corrections and matrix on a device.
 * Errors: AIRY_ERR_PARAM (range empty or inverted, no wavelength, no valid pixel left, bins),
 *         AIRY_ERR_SHAPE, AIRY_ERR_MEMORY, AIRY_ERR_UNSUPPORTED (device without double precision;
 *         clip or quantile on a back end without it; at the first frames: dummy values that do not
 *         go together with mask_saturated).
 */
AIRY_API airy_status airy_integrator_create(airy_integrator **integrator, airy_device *device,
                                            const airy_geometry *geometry,
                                            const airy_integrator_params *params);
AIRY_API void airy_integrator_destroy(airy_integrator **integrator);
/**
 * Create one on each device, all at the same time.
 *
 * @param integrators  out, [count]; NULL those that failed
 * Errors: as airy_integrator_create, of the first device that fails.
 */
AIRY_API airy_status airy_integrator_create_all(airy_integrator **integrators,
                                                airy_device *const *devices, size_t count,
                                                const airy_geometry *geometry,
                                                const airy_integrator_params *params);
/**
 * Return the bins of a plane of sums: in two dimensions those of the radius times those of chi. 0
 * for NULL.
 */
AIRY_API size_t airy_integrator_bins(const airy_integrator *integrator);
/** Return the bin centres in the unit, [bins]; lives as long as the integrator. NULL for NULL. */
AIRY_API const double *airy_integrator_radial(const airy_integrator *integrator);
/**
 * Return the bin centres of the second axis in its unit, [azimuth_bins]; NULL for NULL and in one
 * dimension.
 */
AIRY_API const double *airy_integrator_azimuth(const airy_integrator *integrator);

/** What an integrator covers, what it takes, and how long its parts took to make. */
typedef struct airy_integrator_info {
    size_t pixels, valid_pixels, entries, bins;
    uint64_t host_bytes;   /**< a GPU that has split the pixels itself takes 8 bytes an entry and 9
                                a pixel more, 13 with a dark image, for the time in which it makes
                                what the first frames that are not compressed need */
    uint64_t device_bytes; /**< a device other than the CPU takes more with the first frames that
                                are not compressed: some 7 bytes an entry */
    double lower, upper;   /**< limits of the radial axis in the unit */
    const char *engine;    /**< what walks the matrix on this device, static text */
    size_t radial_bins, azimuth_bins;    /**< azimuth_bins: 0 in one dimension */
    double azimuth_lower, azimuth_upper; /**< limits of the second axis in its unit */
    airy_unit azimuth_unit;              /**< of the second axis; 0 counts as chi_deg */
    double corrections_seconds; /**< of airy_integrator_create; 0: made with the matrix, on a GPU */
    double matrix_seconds; /**< shares of pixels in bins; on a GPU that splits them, the sums */
    double sums_seconds;   /**< what all frames have in common, on the host */
    double tables_seconds; /**< the form of it all in which the device walks it */
} airy_integrator_info;
AIRY_API airy_status airy_integrator_get_info(const airy_integrator *integrator,
                                              airy_integrator_info *info);

/** Planes of a frame's sums. */
typedef enum airy_sum {
    AIRY_SUM_SIGNAL = 0,
    AIRY_SUM_VARIANCE,
    AIRY_SUM_NORMALIZATION,
    AIRY_SUM_NORMALIZATION2,
    AIRY_SUM_COUNT_PLANE,
    AIRY_SUM_PLANES
} airy_sum;

/**
 * What is known of one frame beside its pattern; unmasked pixels only. Laid out alike on host and
 * device (32 bytes).
 */
typedef struct airy_frame_stats {
    double total;       /**< sum of the raw values of the pixels that count */
    double max;         /**< largest of them; 0 when there is none */
    uint32_t invalid;   /**< pixels left out as dummy or not finite in this frame */
    uint32_t saturated; /**< raw >= saturation */
    uint32_t status;    /**< AIRY_FRAME_GOOD, or what airy_frame_error explains */
    uint32_t reserved;
} airy_frame_stats;

/**
 * Integrate frames in device memory.
 *
 * @param sums   out, f64 [frames, AIRY_SUM_PLANES, bins]
 * @param stats  out, u8 [frames, sizeof(airy_frame_stats)]
 * @param frames in, [frames, height, width], tightly packed, any dtype but i64 and u64
 * The three must not overlap.
 *
 * Accuracy:  coefficients c and normalizations n are rounded to f32 (2^-24 each). Each of the five
 *            sums is then formed in f64, with |error| <= (m + 8) 2^-53 of the sum of absolute
 *            terms of the m entries that are left in the bin, however little of the bin that is;
 *            sum_signal also errs by 2^-104 of the dark of each entry left out, the azimuthal
 *            sum_variance by 4 (m + 8) 2^-53 of sum (c n)^2 (|raw - dark| / n + mean of the
 *            same)^2. Compressed unsigned frames on OpenCL: exact integer sums over c rounded to
 *            2^-23 (up to 1021 bins; 2^-19 at most) in all sums alike, so that means differ by
 *            less than 2^-20 of the spread of a bin's pixels (docs/numerics.md). On one device the
 *            result of a frame does not depend on its neighbours, on batch size or threads.
 *            Clip and quantile: the five sums to (m + 8) 2^-53 of the sum of absolute terms of the
 *            m entries kept, the azimuthal sum_variance to 16 (m + 8) 2^-53 of sum omega^2 (|raw -
 *            dark| / n + |mean|)^2. An entry whose distance from the mean is the limit within 2^-40
 *            of |x| + |mean| may be on either side of it, and differ between devices.
 * Errors:    AIRY_ERR_SHAPE, AIRY_ERR_DTYPE, AIRY_ERR_PARAM (overlap), AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_integrate(airy_queue *queue, airy_array *sums, airy_array *stats,
                                    const airy_integrator *integrator, const airy_array *frames);
/**
 * Integrate compressed frames as airy_integrate does; a frame that does not decode has its status
 * set, its sums are 0.
 */
AIRY_API airy_status airy_integrate_batch(airy_queue *queue, airy_array *sums, airy_array *stats,
                                          const airy_integrator *integrator, airy_batch *batch);

/**
 * Normalize the sums of one frame, on the host, to results.
 * @param sums  [AIRY_SUM_PLANES][bins]
 * @param normalization  factor of this frame alone (a monitor), 1 for none: scales
 *                       sum_normalization by it and
 *              sum_normalization2 by its square, in place
 * @param intensity, std, sem  out, [bins]; std and sem may be NULL
 */
AIRY_API airy_status airy_integrator_finish(const airy_integrator *integrator, double *sums,
                                            double normalization, float *intensity, float *std,
                                            float *sem);

/**
 * Draw a radial curve as an image (the inverse), by linear interpolation at pixel centres (the ends
 * go on level), times solid angle, polarization and flat, plus dark, masked pixels = dummy;
 * corrections as in params (bins, split, method, ranges are ignored).
 * @param image   out, [height * width]
 * @param radial, curve  n points, radial ascending, in params->unit
 */
AIRY_API airy_status airy_image_from_pattern(double *image, const airy_geometry *geometry,
                                             const airy_integrator_params *params,
                                             const double *radial, const double *curve, size_t n);

#ifdef __cplusplus
}
#endif
#endif
