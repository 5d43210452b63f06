/**
 * Parameters of objects that a program makes itself, from the values of a job: so that it takes the
 * same parameters as the job, by the same names and with the same checks.
 *
 *     airy_job_create(&job, "integrate", NULL, NULL);
 *     airy_job_set(job, "poni", "lab6.poni");
 *     airy_job_set(job, "bins", "2000");
 *     airy_job_get_integration(job, &params, &sample, &given);
 *     airy_geometry_resolve(&geometry, &given, NULL, height, width);
 *     airy_geometry_set_sample(&geometry, &sample);
 *     airy_integrator_create(&integrator, device, &geometry, &params);
 */
#ifndef AIRY_JOB_PARAMS_H
#define AIRY_JOB_PARAMS_H

#include "airy/geometry_params.h"
#include "airy/integrate_params.h"
#include "airy/job.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Fill in the parameters of an integrator from the values of a job `integrate`. No file is opened: the
 * images among the values (mask, flat, ...) are left out, and what is found in files is not known.
 *
 * @param integrator  out
 * @param sample      out
 * @param geometry    out; its texts belong to the job, and its warnings go to the job's hook
 * Errors: AIRY_ERR_UNSUPPORTED (another job), AIRY_ERR_PARAM with the parameter as subject (values
 *         that do not go together).
 */
AIRY_API airy_status airy_job_get_integration(const airy_job *job,
                                              airy_integrator_params *integrator,
                                              airy_sample_params *sample,
                                              airy_geometry_params *geometry);

#ifdef __cplusplus
}
#endif

#endif
