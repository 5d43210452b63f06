/* Jobs that benches time: `airy integrate` from its start to its exit, and what it wrote. */
#ifndef AIRY_TOOLS_BENCH_JOBS_H
#define AIRY_TOOLS_BENCH_JOBS_H

#include "bench.h"
#include "layout.h"

struct bench_job {
    const struct bench *bench; /* its stack, geometry and pattern */
    const char *spec, *path;   /* device; of the result */
    enum layout layout;
    size_t ranks;              /* of mpirun, each with `threads`; 0: a layout */
    size_t processes, threads; /* threads 0: not said */
    size_t replay;             /* the stack so often in a row */
    /* What has come out; seconds and frames are 0 where the job has failed. */
    double wall, seconds; /* from start to exit, and of the run in it */
    double frames;
    char why[256]; /* what mpirun said, or "" */
};

/* 0, or the errno for which it cannot be started. */
int bench_job_run(struct bench_job *job);
/*
 * Name of the first dataset in which two results differ by a bit, or NULL. replayed: of one stack,
 * but not equally often, so that the rows both have are compared.
 */
const char *bench_job_difference(const char *a, const char *b, bool replayed);

#endif
