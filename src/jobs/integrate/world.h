/*
 * The ranks of one job, through the table of its hooks (airy_job_ranks).
 *
 * Whatever can fail on one rank alone is followed by airy_world_agree: all ranks go on, or all end with
 * the failure of the first rank that has failed. A stage of a job that fails earlier ends with an
 * agreement, too, which is its answer to the others' next one.
 */
#ifndef AIRY_JOBS_INTEGRATE_WORLD_H
#define AIRY_JOBS_INTEGRATE_WORLD_H

#include "jobs/job.h"

/* Zeroed: one process. */
struct airy_world {
    const airy_job_ranks *ranks; /* NULL: one process */
    atomic_llong *counters;      /* of one process, which may have some */
    bool ended;                  /* all know that one has failed */
};

/* The world of a job; close it in any case. */
void airy_world_open(struct airy_world *world, const airy_job *job);
void airy_world_close(struct airy_world *world);
/* One process. */
bool airy_world_is_alone(const struct airy_world *world);
/* One process, or rank 0. */
bool airy_world_is_first(const struct airy_world *world);
size_t airy_world_rank(const struct airy_world *world);
size_t airy_world_size(const struct airy_world *world);

/*
 * Return AIRY_OK, or AIRY_PARTLY where a rank says so; else the failure of the first one that has
 * failed, with its name where it is not the same for all. `wait`, or NULL, is called meanwhile.
 */
airy_status airy_world_agree(struct airy_world *world, airy_status status, void (*wait)(void *),
                             void *user);
/* `bytes` of each to all, in the order of the ranks. These three agree first. */
airy_status airy_world_gather(struct airy_world *world, const void *mine, size_t bytes, void *all);
/* From rank 0 to all. */
airy_status airy_world_tell(struct airy_world *world, void *data, size_t bytes);
/* The same of a text, malloc'ed, or NULL; *text of rank 0 stays what it is. */
airy_status airy_world_tell_text(struct airy_world *world, char **text);

/* How many counters there are. */
size_t airy_world_counters(const struct airy_world *world);
/* Make so many counters ready for a run of all ranks: they are 0. */
airy_status airy_world_begin(struct airy_world *world, size_t counters);
/* Add to a counter; return the value before. */
int64_t airy_world_add(struct airy_world *world, size_t counter, int64_t amount);

#endif
