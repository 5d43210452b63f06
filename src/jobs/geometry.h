/* The geometry as parameters of a job. */
#ifndef AIRY_JOBS_GEOMETRY_H
#define AIRY_JOBS_GEOMETRY_H

#include "airy/geometry_params.h"
#include "jobs/job.h"

struct airy_geometry_values {
    char *poni, *detector;
    struct airy_job_tuple pixel;
    size_t binning[2], orientation;
    double dist, poni1, poni2, rot1, rot2, rot3, wavelength, energy;
    airy_sensor sensor;
    double attenuation;
    bool parallax;
};
extern const struct airy_job_row airy_geometry_rows[];

/* The values that were set, with the job's messages; input: what sentences call the frames' files. */
airy_geometry_params airy_job_geometry_params(const airy_job *job,
                                              const struct airy_geometry_values *values,
                                              const char *input);
/*
 * The geometry of frames of height x width pixels (airy_geometry_resolve): of `input`, the PONI file
 * and the values, in the order of their precedence.
 */
airy_status airy_job_resolve_geometry(const airy_job *job, airy_geometry *geometry,
                                      const struct airy_geometry_values *values,
                                      const airy_stack_meta *meta, const char *input, size_t height,
                                      size_t width);

#endif
