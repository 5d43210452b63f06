/**
 * Calibration of an OCT spectrometer from recordings of a mirror: where samples lie on the axis of
 * wavenumbers, and the dispersion between the arms. On the host, in double precision.
 *
 * A mirror's fringe has the phase 2 pi p K(i) + D(i) + constant at sample i: p is its depth in
 * bins, K the place on the k axis from 0 to 1, D the dispersion. Of two mirrors on the same side of
 * zero depth the difference of the phases has K alone, and with K known D is left. Phases come from
 * the analytic signal (Hilbert transform) of a band around the fringe, weighted by its power; with
 * what was found the line is resampled, which narrows the band, and the rest is found again until
 * nothing changes. Where that leaves a peak more than 2 percent wider than theory, the lowest terms
 * are moved for the sharpest peaks: the largest sum P^2 / (sum P)^2 of the power P around them (J.
 * Nelder, R. Mead, Comput. J. 7 (1965) 308).
 */
#ifndef AIRY_OCT_CALIBRATE_H
#define AIRY_OCT_CALIBRATE_H

#include "airy/oct.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    AIRY_OCT_CALIBRATE_MIN_SAMPLES = 64,
    AIRY_OCT_CALIBRATE_MIN_DEGREE = 3,
    AIRY_OCT_CALIBRATE_MAX_DEGREE = 8
};

/** Lines of one mirror. Their mean is taken after their phases have been turned to agree. */
typedef struct airy_oct_mirror {
    const double *lines; /**< [count][samples] */
    size_t count;
    const double
        *dark; /**< [samples], subtracted: without a sample, or both arms alone; NULL: none */
} airy_oct_mirror;

typedef enum airy_oct_fit {
    AIRY_OCT_FIT_AUTO =
        0,             /**< two mirrors: both; one: the axis, or, with start's axis, dispersion */
    AIRY_OCT_FIT_BOTH, /**< needs two mirrors */
    AIRY_OCT_FIT_AXIS, /**< with start's dispersion, or none */
    AIRY_OCT_FIT_DISPERSION, /**< with start's axis, or none */
    AIRY_OCT_FIT_COUNT
} airy_oct_fit;

typedef struct airy_oct_calibrate_params {
    size_t samples;
    airy_oct_mirror mirror[2];
    size_t mirrors; /**< 1 or 2 */
    airy_oct_fit fit;
    /**
     * Of the positions' polynomial; 0: the lowest from 3 on that leaves no more phase than noise.
     */
    int degree;
    /** Axis, interpolation and dispersion that are not fitted, and the window; NULL: none, Hann. */
    const airy_oct_params *start;
    double distance_m; /**< between the two mirrors; 0: not known */
} airy_oct_calibrate_params;

/** Of one mirror's profile, in bins; widths of the magnitude at half of its maximum (-6 dB). */
typedef struct airy_oct_peak {
    double position, width;
    double limit; /**< width without any phase error: of the fringe's amplitude and the window */
    double phase_rms; /**< radians, weighted by power, of the phase less its straight line */
} airy_oct_peak;

/** Released by airy_oct_calibration_free. */
typedef struct airy_oct_calibration {
    size_t samples;
    bool has_axis, has_dispersion; /**< what was fitted */
    int degree;                    /**< of the positions; 3: poly has them also */
    double *curve; /**< [samples] positions, from 0 to samples - 1; NULL: not fitted */
    double poly[AIRY_OCT_TERMS]; /**< as airy_oct_params.poly */
    double dispersion
        [AIRY_OCT_TERMS]; /**< compensates: as airy_oct_params.dispersion; 0 at both ends */
    /** of a bin: from distance_m, or the ends of start's wavelengths or k; else NaN */
    double depth_step_m;
    size_t mirrors;
    airy_oct_peak before[2], after[2];
    size_t profile_count; /**< of each of mirrors' two profiles, before and after */
    double profile_step;  /**< bins */
    double *profile;      /**< [mirrors][2][profile_count] magnitudes */
} airy_oct_calibration;

/**
 * Fit the axis and the dispersion of a spectrometer to recordings of mirrors.
 * @param out     released by the caller
 * @param params  host memory
 *
 * Errors: AIRY_ERR_PARAM (params, a value that is not finite; recordings that do not do: no fringe,
 *         one too near to depth 0 or to the last bin, a saturated one, mirrors at the same depth,
 *         an axis that is not monotonic; the sentence names what to change), AIRY_ERR_SHAPE
 *         (samples), AIRY_ERR_MEMORY.
 * Threads: any.
 */
AIRY_API airy_status airy_oct_calibrate(airy_oct_calibration *out,
                                        const airy_oct_calibrate_params *params);
/** Release it and set it to zero; a zeroed one is allowed. */
AIRY_API void airy_oct_calibration_free(airy_oct_calibration *calibration);

#ifdef __cplusplus
}
#endif
#endif
