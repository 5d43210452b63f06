/* Frames that several results have rows of. */
#ifndef AIRY_JOBS_MERGE_OVERLAP_H
#define AIRY_JOBS_MERGE_OVERLAP_H

#include "jobs/job.h"

/*
 * Warn where two of these results have good rows of the same frame of the same input file, by what
 * their configurations say of files that were hashed, or are the same file. Where memory is too
 * short to find that out, this is what the warning says.
 */
void airy_job_warn_overlap(const airy_job *job, const char *const *paths, size_t count);

#endif
