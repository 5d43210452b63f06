/**
 * Parameters of an integration as a user gives them: parsed, and checked together before a file is
 * opened. Sentences name them as jobs do: "radial-range", "mask-only".
 */
#ifndef AIRY_INTEGRATE_PARAMS_H
#define AIRY_INTEGRATE_PARAMS_H

#include "airy/integrate.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The sample at grazing incidence. Zeroed: not given. */
typedef struct airy_sample_params {
    bool has_incidence, has_tilt;
    double incidence_deg, tilt_deg;
    int orientation; /**< 1 to 8; 0: not given */
} airy_sample_params;

/** Parse "RADIAL" or "RADIALxAZIMUTHAL"; *azimuth is 0 of the first. AIRY_ERR_PARAM "expected ...". */
AIRY_API airy_status airy_bins_parse(size_t *radial, size_t *azimuth, const char *text);
/** Set clipping from "THRESHOLD" or "THRESHOLD,CYCLES". AIRY_ERR_PARAM, "expected ...". */
AIRY_API airy_status airy_params_set_clip(airy_integrator_params *params, const double *numbers,
                                          size_t count);
/** Set the quantile filter from two percentages. AIRY_ERR_PARAM, "expected ...". */
AIRY_API airy_status airy_params_set_quantile(airy_integrator_params *params,
                                              const double percent[2]);
/** Set polarization from "FACTOR" or "FACTOR,DEGREES". AIRY_ERR_PARAM, "expected ...". */
AIRY_API airy_status airy_params_set_polarization(airy_integrator_params *params,
                                                  const double *numbers, size_t count);

/**
 * Check values that must go together. Arrays are not looked at.
 *
 * @param sample        NULL: not given
 * @param has_variance  the variance of each pixel is going to be there
 * Errors: AIRY_ERR_PARAM with the parameter as subject.
 */
AIRY_API airy_status airy_params_check(const airy_integrator_params *params,
                                       const airy_sample_params *sample, bool has_variance);
/** Turn the sample of a geometry as given. */
AIRY_API void airy_geometry_set_sample(airy_geometry *geometry, const airy_sample_params *sample);

#ifdef __cplusplus
}
#endif

#endif
