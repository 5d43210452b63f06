/* Jobs that benches time: `airy integrate` from its start to its exit, and what it wrote. */
#ifndef AIRY_BENCH_JOBS_H
#define AIRY_BENCH_JOBS_H

#include "bench.h"
#include "cli/layout.h"

enum { BENCH_PROCESSES_MAX = 16 };

/* How a job is shared out: by the layout of one process, or between several. */
enum bench_job_kind {
    BENCH_JOB_LAYOUT,
    BENCH_JOB_COMMANDS, /* each with its part of the frames; their results are merged */
    BENCH_JOB_RANKS     /* of mpirun */
};

struct bench_job {
    const struct bench *bench; /* its stack, geometry and pattern */
    const char *spec, *path;   /* device; of the result */
    enum bench_job_kind kind;
    enum layout layout;        /* of each process */
    size_t processes, threads; /* threads: of each; 0: not said */
    size_t replay;             /* the stack so often in a row */
    /* What has come out; seconds and frames are 0 where the job has failed. */
    double wall, seconds; /* from start to exit; of the run in it, of several commands of the
                             longest and of the merge */
    double frames;
    char why[256]; /* what mpirun said, or "" */
};

/* 0, or the errno for which it cannot be started. */
int bench_job_run(struct bench_job *job);
/* Why ranks have not run, for such a result. */
const char *bench_job_why(const struct bench_job *job, int failed);
/*
 * Name of the first dataset in which the job's result differs from another by a bit, or NULL. What
 * one file has more often than the other must be the same again and again: normalizations, which a
 * merged result has for each frame, and with `replayed` all rows, of a stack that was not played
 * equally often. Several commands on a device: the sums, which the merge divides on the host.
 */
const char *bench_job_difference(const struct bench_job *job, const char *other, bool replayed);

#endif
