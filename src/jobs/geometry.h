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

/* Values that exclude each other. */
airy_status airy_job_check_geometry(const airy_job *job);
/* A sensor goes with parallax, which a PONI file may have, or with another parameter (NULL: none). */
airy_status airy_job_check_absorber(const struct airy_geometry_values *values, const char *other,
                                    bool uses_other);
/* The values that were set, with the job's messages; input: what sentences call the frames' files. */
airy_geometry_params airy_job_geometry_params(const airy_job *job,
                                              const struct airy_geometry_values *values,
                                              const char *input);
/*
 * The geometry of the frames of a stack, or of a stream (stack NULL): of its files, which must agree where it is theirs, of the
 * result that was replayed, of the PONI file and of the values, in the order of their precedence.
 * `absorber` names another parameter that needs the sensor beside parallax, NULL: the job has none;
 * uses_absorber: it is set.
 *
 * meta:     what the files say; the geometry of a result replaces theirs in it
 * replayed: that of a result; NULL: there is none
 */
struct airy_geometry_source {
    airy_stack *stack;
    const airy_stack_info *info;
    airy_stack_meta *meta;
    const airy_geometry *replayed;
    const char *input; /* what sentences call the files */
    const char *absorber;
    bool uses_absorber;
};
airy_status airy_job_resolve_geometry(const airy_job *job, airy_geometry *geometry,
                                      const struct airy_geometry_values *values,
                                      const struct airy_geometry_source *source);

#endif
