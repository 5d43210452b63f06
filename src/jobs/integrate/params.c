/* Values of an integration that no file decides. */
#include <string.h>

#include "jobs/integrate/integrate.h"

const char *const airy_integrate_layouts[] = {"auto", "serial", "threads", "device", NULL};

airy_status airy_integration_roi(airy_roi *roi, const char *text)
{
    static const struct airy_job_row row = {
        {.name = "roi", .type = AIRY_PARAMETER_TUPLE, .least = 2, .most = 4}, 0, NULL};
    struct airy_job_tuple t = {.count = 0};
    AIRY_TRY(airy_value_parse(&row, &t, text));
    *roi = (airy_roi){.radial = {t.values[0], t.values[1]}, .has_azimuth = t.count == 4};
    memcpy(roi->azimuth, t.values + 2, sizeof(roi->azimuth));
    AIRY_FAIL_ON_IF(
        t.count == 3 || !(roi->radial[0] < roi->radial[1]), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
        "%s %s: expected A,B or A,B,CHI0,CHI1 with A < B, in the unit and in degrees", "roi", text);
    return AIRY_OK;
}

/* All that no file decides. */
airy_status airy_integration_params(const airy_job *job, airy_integrator_params *params,
                                    airy_sample_params *sample)
{
    const struct airy_integrate_values *v = job->values;
    AIRY_TRY(airy_job_pattern_params(job, params, sample, &v->pattern));
    AIRY_TRY(airy_job_correction_params(job, params, &v->pixels));
    if (airy_source_is_given(&v->pixels.variance) && params->error_model == AIRY_ERROR_MODEL_NONE)
        params->error_model = AIRY_ERROR_MODEL_VARIANCE;
    params->sensor_efficiency = v->sensor_efficiency;
    params->normalization = airy_job_is_set(job, "normalization") ? v->normalization : 0;
    params->has_saturation = airy_job_is_set(job, "saturation");
    params->saturation = v->saturation;
    params->mask_saturated = v->mask_saturated;
    return AIRY_OK;
}
