/*
 * Files that are still being written: a run that follows them waits for its first frame, and makes
 * patterns of frames as they come.
 */
#ifndef AIRY_JOBS_INTEGRATE_FOLLOW_H
#define AIRY_JOBS_INTEGRATE_FOLLOW_H

#include "airy/pipeline.h"
#include "jobs/job.h"

struct airy_integration;

struct airy_follow_values {
    bool on;
    double timeout, poll; /* s */
};
extern const struct airy_job_row airy_follow_rows[];

/* Check the values together. */
airy_status airy_follow_check(const airy_job *job);
/* Wait for the first frame; stack, info and meta of the integration are open then. */
airy_status airy_follow_open(struct airy_integration *it);
/* Choose the frames of the run, whose number may not be known: frames and the run's end are 0 then. */
airy_status airy_follow_choose(struct airy_integration *it);
/* Take frames until all are there, or no more come. */
airy_status airy_follow_run(struct airy_integration *it, airy_run_info *info);

#endif
