/* Parameters of an integration as a user gives them. */
#include "airy/integrate_params.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static bool parse_count(size_t *count, const char *text, size_t length)
{
    char digits[8];
    if (length == 0 || length >= sizeof(digits) || strspn(text, "0123456789") < length)
        return false;
    memcpy(digits, text, length);
    digits[length] = 0;
    *count = strtoul(digits, NULL, 10);
    return *count >= 1 && *count <= 1000000;
}

airy_status airy_bins_parse(size_t *radial, size_t *azimuth, const char *text)
{
    size_t bins[2] = {0, 0};
    const size_t n = strcspn(text, "x");
    AIRY_FAIL_IF(!parse_count(&bins[0], text, n) ||
                     (text[n] && (!parse_count(&bins[1], text + n + 1, strlen(text + n + 1)) ||
                                  bins[0] * bins[1] > 1 << 22)),
                 AIRY_ERR_PARAM,
                 "expected N or RADIUSxAZIMUTH, 1 to 1000000 each and 4194304 in all");
    *radial = bins[0];
    *azimuth = bins[1];
    return AIRY_OK;
}

airy_status airy_params_set_clip(airy_integrator_params *p, const double *numbers, size_t count)
{
    AIRY_FAIL_IF(count < 1 || count > 2 || !(numbers[0] >= 0 && isfinite(numbers[0])),
                 AIRY_ERR_PARAM, "expected T or T,CYCLES, T >= 0 (0: Chauvenet's criterion)");
    AIRY_FAIL_IF(count == 2 &&
                     !(numbers[1] >= 1 && numbers[1] <= 1000 && numbers[1] == floor(numbers[1])),
                 AIRY_ERR_PARAM, "expected 1 to 1000 cycles");
    p->has_clip = true;
    p->clip_threshold = numbers[0];
    p->clip_cycles = count == 2 ? (unsigned)numbers[1] : 0;
    return AIRY_OK;
}

airy_status airy_params_set_quantile(airy_integrator_params *p, const double percent[2])
{
    AIRY_FAIL_IF(!(percent[0] >= 0 && percent[0] <= percent[1] && percent[1] <= 100),
                 AIRY_ERR_PARAM, "expected A,B with 0 <= A <= B <= 100 (50,50: the median)");
    p->has_quantile = true;
    p->quantile[0] = percent[0] / 100;
    p->quantile[1] = percent[1] / 100;
    return AIRY_OK;
}

airy_status airy_params_set_polarization(airy_integrator_params *p, const double *numbers,
                                         size_t count)
{
    AIRY_FAIL_IF(count < 1 || count > 2, AIRY_ERR_PARAM,
                 "expected a factor, or factor,offset in degrees");
    AIRY_FAIL_IF(!(numbers[0] >= -1 && numbers[0] <= 1), AIRY_ERR_PARAM,
                 "expected a factor from -1 to 1");
    AIRY_FAIL_IF(count == 2 && !(fabs(numbers[1]) <= 3600), AIRY_ERR_PARAM,
                 "expected an angle from -3600 to 3600 degrees");
    p->has_polarization = true;
    p->polarization = numbers[0];
    p->polarization_offset_deg = count == 2 ? numbers[1] : 0;
    return AIRY_OK;
}

/* ---- values together ---- */

static airy_unit second_unit(const airy_integrator_params *p)
{
    return p->azimuth_unit ? p->azimuth_unit : AIRY_UNIT_CHI_DEG;
}

/* A value of the sample that neither axis depends on: the units that do. */
static airy_status check_sample(const airy_integrator_params *p, const char *name, bool given,
                                unsigned flag)
{
    const unsigned second = p->azimuth_unit ? airy_unit_sample(p->azimuth_unit) : 0;
    if (!given || (airy_unit_sample(p->unit) | second) & flag)
        return AIRY_OK;
    char list[512] = "";
    for (int u = 0; u < AIRY_UNIT_COUNT; u++)
        if (airy_unit_sample((airy_unit)u) & flag)
            snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", *list ? ", " : "",
                     airy_unit_name((airy_unit)u));
    return airy_fail_on(AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                        "%s has no effect on %s%s%s, only on %s", name, airy_unit_name(p->unit),
                        p->azimuth_unit ? " and " : "",
                        p->azimuth_unit ? airy_unit_name(p->azimuth_unit) : "", list);
}

static airy_status check_azimuth_range(const airy_integrator_params *p)
{
    const airy_unit second = second_unit(p);
    const double *a = p->azimuth_range;
    if (!p->has_azimuth_range)
        return AIRY_OK;
    AIRY_FAIL_ON_IF(a[0] == a[1], AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s %g,%g: expected two limits that differ", "azimuth-range", a[0], a[1]);
    if (airy_unit_turn(second) == 0) {
        AIRY_FAIL_ON_IF(!(a[0] < a[1]), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                        "%s %g,%g: expected A < B in %s", "azimuth-range", a[0], a[1],
                        airy_unit_name(second));
        return AIRY_OK;
    }
    AIRY_FAIL_ON_IF(fabs(a[0]) > 720 || fabs(a[1]) > 720 || a[1] - a[0] > 360, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER,
                    "%s %g,%g: expected degrees from -720 to 720, and 360 at most between them",
                    "azimuth-range", a[0], a[1]);
    return AIRY_OK;
}

static airy_status check_axes(const airy_integrator_params *p)
{
    const airy_unit second = second_unit(p);
    AIRY_FAIL_ON_IF(p->has_radial_range && !(p->radial_range[0] < p->radial_range[1]),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s %g,%g: expected A < B",
                    "radial-range", p->radial_range[0], p->radial_range[1]);
    AIRY_FAIL_ON_IF(p->azimuth_bins == 0 && p->split == AIRY_SPLIT_PSEUDO, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s pseudo is for two dimensions: bins=RADIUSxAZIMUTH",
                    "split");
    AIRY_FAIL_ON_IF(p->azimuth_bins && airy_unit_turn(p->unit) != 0, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s %s: expected a radial unit in two dimensions",
                    "unit", airy_unit_name(p->unit));
    AIRY_FAIL_ON_IF(p->azimuth_bins && second == p->unit, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s %s is also the unit of the first axis: give another", "azimuthal",
                    airy_unit_name(second));
    AIRY_FAIL_ON_IF(p->chi_zero && airy_unit_turn(second) == 0, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER,
                    "%s is for chi_deg, chi_rad, chigi_deg and chigi_rad, and the second axis is "
                    "%s",
                    "chi-zero", airy_unit_name(second));
    return check_azimuth_range(p);
}

static airy_status check_errors(const airy_integrator_params *p, bool has_variance)
{
    const airy_error_model model = p->error_model;
    AIRY_FAIL_ON_IF(
        has_variance && model != AIRY_ERROR_MODEL_NONE && model != AIRY_ERROR_MODEL_VARIANCE,
        AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s goes with error-model variance", "variance");
    AIRY_FAIL_ON_IF(!has_variance && model == AIRY_ERROR_MODEL_VARIANCE, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s variance needs variance=FILE", "error-model");
    AIRY_FAIL_ON_IF(p->has_clip && p->has_quantile, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s and quantile: give one of them", "clip");
    AIRY_FAIL_ON_IF(
        model == AIRY_ERROR_MODEL_HYBRID && !p->has_clip, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
        "%s hybrid is for clip=T: azimuthal while clipping, poisson after it", "error-model");
    return AIRY_OK;
}

airy_status airy_params_check(const airy_integrator_params *p, const airy_sample_params *sample,
                              bool has_variance)
{
    const airy_sample_params none = {.orientation = 0}, *s = sample ? sample : &none;
    AIRY_TRY(check_errors(p, has_variance));
    AIRY_TRY(check_axes(p));
    AIRY_FAIL_ON_IF(p->azimuth_unit && !p->azimuth_bins, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s %s is the second axis of two dimensions: bins=RADIUSxAZIMUTH; unit=%s "
                    "has it in one",
                    "azimuthal", airy_unit_name(p->azimuth_unit), airy_unit_name(p->azimuth_unit));
    AIRY_TRY(check_sample(p, "incidence", s->has_incidence, AIRY_SAMPLE_INCIDENCE));
    AIRY_TRY(check_sample(p, "tilt", s->has_tilt, AIRY_SAMPLE_TILT));
    return check_sample(p, "sample-orientation", s->orientation != 0, AIRY_SAMPLE_ORIENTATION);
}

void airy_geometry_set_sample(airy_geometry *geometry, const airy_sample_params *sample)
{
    const double rad = 3.14159265358979323846 / 180;
    geometry->incidence = sample->incidence_deg * rad;
    geometry->tilt = sample->tilt_deg * rad;
    geometry->sample_orientation = sample->orientation;
}
