/**
 * Sums of frames put together: several frames as one pattern, regions of a pattern, fewer bins.
 * All from the sums of airy/integrate.h, so that nothing is lost that they hold.
 */
#ifndef AIRY_MERGE_H
#define AIRY_MERGE_H

#include "airy/integrate.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How the frames of a group are combined. A group of one frame is unchanged. */
typedef enum airy_merge {
    AIRY_MERGE_AVERAGE = 0, /**< all five sums added: the weighted mean over the frames */
    AIRY_MERGE_SUM,         /**< all five sums added, then sum_normalization, sum_normalization2
                                 and count divided by the number of frames: the pattern of the
                                 frames' sum */
    AIRY_MERGE_COUNT
} airy_merge;
AIRY_API const char *airy_merge_name(airy_merge v); /**< "average", "sum" */

/** Sums of frames being added up. Thread-safety: one thread at a time. */
typedef struct airy_accumulator airy_accumulator;

/**
 * Create an accumulator without frames.
 * @param bins   of a plane of sums
 * @param model  of the frames: none, poisson and variance add their variances. azimuthal: with the
 *               frames' means m_k about their common mean M, sum_variance = sum (V_k + N2_k (m_k -
 *               M)^2), N2: sum_normalization2; exact where a bin's weights are equal.
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_MEMORY (16 bytes a sum).
 * Source: E. Schubert, M. Gertz, SSDBM 2018 (doi:10.1145/3221269.3223036), equation 18, in the form
 *         that is symmetric in its parts.
 */
AIRY_API airy_status airy_accumulator_create(airy_accumulator **accumulator, size_t bins,
                                             airy_error_model model);
AIRY_API void airy_accumulator_destroy(airy_accumulator **accumulator);
/** Forget all frames. */
AIRY_API void airy_accumulator_clear(airy_accumulator *accumulator);
/**
 * Add a frame.
 * @param sums   [AIRY_SUM_PLANES][bins]
 * @param stats  of the frame; NULL: not known. One whose status is not good adds nothing:
 *               AIRY_ERR_PARAM
 * @param normalization  of this frame alone, 1 for none, as of airy_integrator_finish
 * Accuracy: sums are kept in about 106 bits, so that their order moves a result by 2^-104 of the
 *           sum of absolute terms.
 */
AIRY_API airy_status airy_accumulator_add(airy_accumulator *accumulator, const double *sums,
                                          const airy_frame_stats *stats, double normalization);
/** Return the number of frames added since the last clear. */
AIRY_API size_t airy_accumulator_frames(const airy_accumulator *accumulator);
/**
 * Combine them; with no frame all is 0 and stats->status is not good.
 * @param sums   out, [AIRY_SUM_PLANES][bins]; normalizations are in it
 * @param stats  out or NULL: total, invalid and saturated pixels added up (the counts end at 2^32 -
 *               1), the largest maximum
 */
AIRY_API airy_status airy_accumulator_get(const airy_accumulator *accumulator, airy_merge how,
                                          double *sums, airy_frame_stats *stats);

/**
 * Normalize sums to results without an integrator: as airy_integrator_finish with normalization 1;
 * bins without pixels become `empty`. std and sem may be NULL.
 */
AIRY_API airy_status airy_sums_finish(const double *sums, size_t bins, double empty,
                                      float *intensity, float *std, float *sem);

/**
 * Rebin: `factor` neighbours of the radius become one bin; bins that are left over at the upper end
 * are dropped.
 * @param dst     out, [AIRY_SUM_PLANES][azimuth][bins / factor]
 * @param src     [AIRY_SUM_PLANES][azimuth][bins], azimuth 1 in one dimension
 * Variances and sum_normalization2 are added: exact for pixels that lie in one of the bins (a pixel
 * shared by two neighbours counts as two). The azimuthal model as in airy_accumulator_create.
 */
AIRY_API airy_status airy_sums_rebin(double *dst, const double *src, size_t azimuth, size_t bins,
                                     size_t factor, airy_error_model model);

/** A region of a pattern, half open. */
typedef struct airy_roi {
    double radial[2];  /**< in the unit of the axis */
    bool has_azimuth;  /**< in two dimensions */
    double azimuth[2]; /**< degrees; upper <= lower wraps around. Where the second axis is no angle
                            about the beam: in its unit, the lower first */
} airy_roi;

/** The metadata of the experiment in an NXazint1d or NXazint2d file. */
typedef struct airy_nxazint {
    bool solid_angle, polarization;                /**< corrected for */
    double wavelength;                             /**< m; 0: not known */
    const char *instrument, *source, *source_type; /**< names; NULL: "unknown" */
} airy_nxazint;

/**
 * Check that the region has a part of the axes. Errors: AIRY_ERR_PARAM (not finite, ends that are
 * not ascending, outside of the axis, azimuth in one dimension).
 */
AIRY_API airy_status airy_roi_check(const airy_roi *roi, const airy_integrator_info *axes);
/**
 * Compute signal and mean of a region of one frame's sums.
 * @param signal  out or NULL: counts (less dark), sum of sum_signal over the region's bins
 * @param mean    out or NULL: the same over the sum of sum_normalization; NaN where no pixel is
 * @param axes    limits and bins (airy_integrator_get_info)
 * A bin that the region has a part of counts by that part, as if it were even inside: exact for
 * regions that end at edges of bins (to 10^-9 of a bin), otherwise off by no more than what the
 * bins at its ends hold.
 */
AIRY_API airy_status airy_roi_sum(double *signal, double *mean, const double *sums,
                                  const airy_integrator_info *axes, const airy_roi *roi);

#ifdef __cplusplus
}
#endif
#endif
