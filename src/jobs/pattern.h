/* What pattern is made of a frame, as parameters of a job. */
#ifndef AIRY_JOBS_PATTERN_H
#define AIRY_JOBS_PATTERN_H

#include "airy/integrate_params.h"
#include "jobs/job.h"

/* A job has rows for some of these members; the others stay zeros. */
struct airy_pattern_values {
    struct airy_bins_value {
        size_t radial, azimuth; /* azimuth 0: one dimension */
    } bins;
    airy_unit unit, azimuthal; /* azimuthal 0: chi_deg */
    double incidence, tilt;
    size_t sample_orientation;
    int split, method, error_model; /* in the order of the words */
    struct airy_job_tuple clip, quantile, radial_range, azimuth_range;
    bool chi_zero, unweighted;
    double empty;
    int compat;
};

/* Rows of integrate. */
extern const struct airy_job_row airy_pattern_rows[];
/* What rows of other jobs with other defaults take. */
extern const struct airy_job_record airy_unit_record;
extern const char *const airy_split_words[], *const airy_error_model_words[],
                                                 *const airy_compat_words[];
extern const struct airy_job_row airy_compat_rows[];

/* The integrator's parameters but for what files say, and the sample. */
airy_status airy_job_pattern_params(const airy_job *job, airy_integrator_params *params,
                                    airy_sample_params *sample,
                                    const struct airy_pattern_values *values);

#endif
