/* Parameters that several jobs share: tables of rows with the structs that they fill, and what is made of them. */
#ifndef AIRY_JOBS_GROUPS_H
#define AIRY_JOBS_GROUPS_H

#include "airy/stack.h"
#include "jobs/job.h"

/* Files as one stack. */
struct airy_stack_values {
    struct airy_job_list paths;
    airy_raw_frames raw;
    char *channel;
};
extern const struct airy_job_row airy_stack_rows[];
/* Open them. */
airy_status airy_job_open_stack(const airy_job *job, airy_stack **stack,
                                const struct airy_stack_values *values);

/* Which frames, and what becomes of those that cannot be read. */
struct airy_frames_values {
    size_t frames[3];
    int on_error; /* 1: skip */
};
extern const struct airy_job_row airy_frames_rows[];
/* How many of so many frames are chosen, which must be there. path: for the sentence. */
airy_status airy_job_choose_frames(size_t *count, const struct airy_frames_values *values,
                                   size_t there, const char *path);

/* Where a job computes. */
struct airy_compute_values {
    char *device;
    size_t threads;
    uint64_t memory_limit;
    bool profile;
};
extern const struct airy_job_row airy_compute_rows[];
/* Open the device, which is job->device from then on. */
airy_status airy_job_open_device(airy_job *job, airy_device **device,
                                 const struct airy_compute_values *values);

/* An output must be none of the files that frames are read from. */
airy_status airy_job_keep_stack(const airy_stack *stack, const char *output);

#endif
