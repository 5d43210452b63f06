/* Jobs that benches time: `airy integrate` from its start to its exit, and what it wrote. */
#ifndef AIRY_BENCH_JOBS_H
#define AIRY_BENCH_JOBS_H

#include "bench.h"

/* How a stack is shared out between threads and the device: the words of `layout` of integrate. */
enum layout {
    LAYOUT_AUTO,
    LAYOUT_SERIAL,  /* one frame at a time, nothing read ahead */
    LAYOUT_THREADS, /* the CPU: readers ahead, a pool for groups of frames */
    LAYOUT_DEVICE   /* an OpenCL device: readers, copies and kernels overlap */
};
const char *layout_name(enum layout layout);

enum { BENCH_PROCESSES_MAX = 16 };

/* Whether a job is one process with a layout, or several processes. */
enum bench_job_kind {
    BENCH_JOB_LAYOUT,
    BENCH_JOB_COMMANDS, /* each takes its part of the frames; then their results are merged */
    BENCH_JOB_RANKS     /* ranks of mpirun */
};

struct bench_job {
    const struct bench *bench; /* its stack, geometry and pattern */
    const char *spec, *path;   /* device; of the result */
    enum bench_job_kind kind;
    enum layout layout;        /* of each process */
    size_t processes, threads; /* threads: of each process; 0: its default */
    size_t replay;             /* how many times in a row the stack is integrated */
    /* Results; seconds and frames are 0 where the job has failed. */
    double wall;    /* s from start to exit */
    double seconds; /* s of the run; for commands those of the longest run and of the merge */
    double frames;
    char why[256]; /* what mpirun printed, or "" */
};

/* Run the job. Returns 0, or the errno for which it cannot be started. */
int bench_job_run(struct bench_job *job);
/* Return why ranks have not run; failed: what bench_job_run returned. */
const char *bench_job_why(const struct bench_job *job, int failed);
/*
 * Return the name of the first dataset in which the job's result differs from another by a bit, or
 * NULL. Where one file has more values than the other, these must repeat those of the other:
 * normalizations, which a merged result has for each frame, and, if the results are of different
 * numbers of replays (`replayed`), all rows. Of commands on a device the sums are compared, but not
 * their quotients, which the merge makes on the host.
 */
const char *bench_job_difference(const struct bench_job *job, const char *other, bool replayed);

#endif
