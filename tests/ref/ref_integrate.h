/*
 * Azimuthal integration from its definition: rotations as products of matrices, angles by atan2,
 * polygons clipped to each bin. Public plain data (geometry, params) go in; params mean what
 * airy/integrate.h says, without compat.
 */
#ifndef AIRY_TESTS_REF_INTEGRATE_H
#define AIRY_TESTS_REF_INTEGRATE_H

#include "airy/integrate.h"

/*
 * Position in the laboratory of a point of the detector, in units of pixels from its first corner
 * (before orientation): y, x, z in m.
 */
void ref_position(double yxz[3], const airy_geometry *geometry, double c1, double c2);
/*
 * The unit's value, chi in rad in (-pi, pi], solid angle, efficiency of the sensor, polarization there.
 * With corners of its own a detector's points are between those of the pixel; the attenuation of its
 * sensor must be given.
 */
double ref_radial(const airy_geometry *geometry, airy_unit unit, double c1, double c2);
double ref_chi(const airy_geometry *geometry, double c1, double c2);
double ref_solid_angle(const airy_geometry *geometry, double c1, double c2);
double ref_efficiency(const airy_geometry *geometry, double c1, double c2);
double ref_polarization(const airy_geometry *geometry, double factor, double offset_rad, double c1,
                        double c2);

/*
 * Limits of the radial axis and of chi in degrees, and the coefficients c[pixel * bins + bin] of
 * pixels with valid != 0; bins: params->bins, with azimuth_bins > 0 times those, radius fastest.
 */
void ref_matrix(double *c, double limits[4], const airy_geometry *geometry,
                const airy_integrator_params *params, const uint8_t *valid);
/* n of every pixel, and whether it counts. */
void ref_normalization(double *norm, uint8_t *valid, const airy_geometry *geometry,
                       const airy_integrator_params *params);
/*
 * The five planes of one frame, [AIRY_SUM_PLANES][bins], and what their errors are measured by:
 * the same sums of absolute terms (for the azimuthal variance, also of what cancels). out: 1 = the
 * pixel is left out of this frame.
 */
void ref_sums(double *sums, double *scale, const double *c, const double *norm,
              const uint8_t *valid, const double *raw, const uint8_t *out,
              const airy_geometry *geometry, const airy_integrator_params *params);

#endif
