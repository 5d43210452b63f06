/* The values of an integration as parameters of its integrator. */
#include "airy/job_params.h"
#include "jobs/integrate/integrate.h"

airy_status airy_job_get_integration(const airy_job *job, airy_integrator_params *integrator,
                                     airy_sample_params *sample, airy_geometry_params *geometry)
{
    AIRY_FAIL_IF(!job || !integrator || !sample || !geometry, AIRY_ERR_PARAM,
                 "airy_job_get_integration: an argument is NULL");
    AIRY_FAIL_IF(job->kind != &airy_job_integrate, AIRY_ERR_UNSUPPORTED,
                 "airy_job_get_integration: the job %s is not integrate", job->kind->name);
    const struct airy_integrate_values *v = job->values;
    airy_integrator_params params;
    AIRY_TRY(airy_job_check_geometry(job));
    AIRY_TRY(airy_integration_params(job, &params, sample));
    AIRY_TRY(airy_params_check(&params, sample, airy_source_is_given(&v->pixels.variance)));
    *integrator = params;
    *geometry = airy_job_geometry_params(job, &v->geometry, NULL);
    return AIRY_OK;
}
