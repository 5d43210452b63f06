/* Threads that make the parts of a simulated recording. */
#ifndef AIRY_JOBS_SIMULATE_WORK_H
#define AIRY_JOBS_SIMULATE_WORK_H

#include "airy/stack_write.h"
#include "base/thread.h"
#include "jobs/job.h"

/* Make part `index`; worker is below the size of the pool, for scratch. */
typedef airy_status (*airy_part_fn)(void *user, size_t index, unsigned worker);

/* The parts [first, last) of `total`; so many of them are a step of the job. */
struct airy_parts {
    size_t first, last, total, of_step;
    const char *name; /* of the sentence where the job is cancelled */
    airy_part_fn make;
    void *user;
};
/* Make them by the threads of a pool. The first failure ends the call; AIRY_ERR_CANCELLED. */
airy_status airy_job_make_parts(airy_job *job, airy_pool *pool, const struct airy_parts *parts);

/* Frames as a stack has them. */
struct airy_made_frames {
    airy_dtype dtype;
    size_t frames, height, width;
    airy_frame_make_fn make;
    void *source;
    size_t threads;
    uint64_t memory_limit;
};
/* Make them into memory, as the result `stack` of the job, [frames, height, width]. */
airy_status airy_job_make_stack(airy_job *job, const struct airy_made_frames *made);

#endif
