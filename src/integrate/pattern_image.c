#include <math.h>
#include <stdlib.h>

#include "airy/integrate.h"
#include "base/error.h"
#include "base/memory.h"
#include "integrate/pose.h"

#define PI 3.14159265358979323846

/*
 * Linear between points, level beyond the ends; `at` remembers where the last value was, as
 * neighbours lie close.
 */
static double interpolate(double v, const double *x, const double *y, size_t n, size_t *at)
{
    if (!(v > x[0]))
        return v != v ? v : y[0];
    if (!(v < x[n - 1]))
        return y[n - 1];
    size_t lo = *at;
    if (!(x[lo] <= v && v < x[lo + 1])) {
        lo = 0;
        size_t hi = n - 1;
        while (hi - lo > 1) {
            const size_t middle = lo + (hi - lo) / 2;
            if (x[middle] <= v)
                lo = middle;
            else
                hi = middle;
        }
        *at = lo;
    }
    return y[lo] + (y[lo + 1] - y[lo]) * ((v - x[lo]) / (x[lo + 1] - x[lo]));
}

static airy_status check_curve(airy_geometry *prepared, const airy_geometry *geometry,
                               const airy_integrator_params *p, const double *radial, size_t n)
{
    AIRY_TRY(airy_geometry_prepare(prepared, geometry, p->sensor_efficiency));
    AIRY_FAIL_ON_IF((unsigned)p->unit >= AIRY_UNIT_COUNT, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %d, expected 0 to %d", "unit", (int)p->unit, AIRY_UNIT_COUNT - 1);
    AIRY_FAIL_HINT_IF(airy_unit_needs_wavelength(p->unit) && geometry->wavelength == 0,
                      AIRY_ERR_PARAM, AIRY_HINT_WAVELENGTH, AIRY_SUBJECT_PARAMETER,
                      "%s '%s' needs a wavelength, the geometry has none", "unit",
                      airy_unit_name(p->unit));
    AIRY_FAIL_IF(p->has_polarization && !(fabs(p->polarization) <= 1), AIRY_ERR_PARAM,
                 "polarization factor = %g, expected -1 to 1", p->polarization);
    AIRY_FAIL_IF(n == 0, AIRY_ERR_PARAM, "the curve has no point");
    for (size_t k = 0; k < n; k++)
        AIRY_FAIL_ON_IF(!isfinite(radial[k]) || (k > 0 && !(radial[k] > radial[k - 1])),
                        AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                        "%s[%zu] = %g of the curve, expected finite ascending values", "radial", k,
                        radial[k]);
    return AIRY_OK;
}

airy_status airy_image_from_pattern(double *image, const airy_geometry *geometry,
                                    const airy_integrator_params *params, const double *radial,
                                    const double *curve, size_t n)
{
    AIRY_FAIL_IF(!image, AIRY_ERR_PARAM, "airy_image_from_pattern: image is NULL");
    AIRY_FAIL_IF(!radial, AIRY_ERR_PARAM, "airy_image_from_pattern: radial is NULL");
    AIRY_FAIL_IF(!curve, AIRY_ERR_PARAM, "airy_image_from_pattern: curve is NULL");
    const airy_integrator_params p = params ? *params : (airy_integrator_params){0};
    airy_geometry prepared;
    AIRY_TRY(check_curve(&prepared, geometry, &p, radial, n));
    const size_t h = geometry->detector.height, w = geometry->detector.width;
    double *row = NULL;
    AIRY_TRY(airy_memory_calloc((void **)&row, w, 3 * sizeof *row, "a row of the image"));
    double *angle = row + w, *efficiency = angle + w;
    struct airy_pose pose;
    airy_pose_make(&pose, &prepared);
    size_t at = 0;
    for (size_t y = 0; y < h; y++) {
        double *out = image + y * w;
        const double c1 = (double)y + 0.5;
        airy_pose_radial(&pose, p.unit, c1, 0.5, w, row);
        if (!p.no_solid_angle)
            airy_pose_solid_angle(&pose, c1, 0.5, w, angle);
        if (p.has_polarization)
            airy_pose_polarization(&pose, p.polarization, p.polarization_offset_deg * (PI / 180),
                                   c1, 0.5, w, out);
        if (p.sensor_efficiency)
            airy_pose_efficiency(&pose, c1, 0.5, w, efficiency);
        for (size_t x = 0; x < w; x++) {
            const size_t i = y * w + x;
            double v = interpolate(row[x], radial, curve, n, &at);
            v *= p.no_solid_angle ? 1 : angle[x];
            v *= p.has_polarization ? out[x] : 1;
            v *= p.sensor_efficiency ? efficiency[x] : 1;
            v *= p.flat ? (double)p.flat[i] : 1;
            v += p.dark ? (double)p.dark[i] : 0;
            out[x] = p.mask && p.mask[i] ? p.dummy : v;
        }
    }
    free(row);
    return AIRY_OK;
}
