/* The files of a stack as bytes: read by several threads, in the page cache or not. */
#ifndef AIRY_BENCH_FILES_H
#define AIRY_BENCH_FILES_H

#include <stdatomic.h>

#include "bench.h"

/* Items 0 to count - 1 dealt to threads one by one. */
struct bench_team {
    struct bench *bench;
    unsigned threads;
    size_t count;
    airy_status (*work)(void *user, unsigned thread, size_t item);
    void *user;
};
/* The first failure of a thread, which has been said then; AIRY_ERR_CANCELLED after Ctrl-C. */
airy_status bench_team_run(const struct bench_team *team);

struct bench_file {
    const char *path;
    int fd;
    uint64_t size;
};

/* Where the frames of bench->stack lie. */
struct bench_files {
    struct bench *bench;
    unsigned threads;
    struct bench_file *files;
    size_t count;
    airy_stack_place *places; /* [frames] */
    size_t *owner;            /* [frames] index into files */
    size_t frames, largest;   /* bytes of the largest frame */
    size_t passes;            /* of bench_files_read over the frames; 1 */
    double stored;            /* bytes of a frame, mean */
    char **buffers;           /* [threads] of `largest` bytes */
};

/*
 * AIRY_ERR_UNSUPPORTED where a frame is not one piece of a file. bench_files_close in any case.
 */
airy_status bench_files_open(struct bench_files *files, struct bench *bench, unsigned threads);
void bench_files_close(struct bench_files *files);

/* One frame into the buffer of a thread. */
airy_status bench_files_read_frame(void *user, unsigned thread, size_t frame);
/* All frames `passes` times, each by one pread (user: a struct bench_files). */
airy_status bench_files_read(void *user);
/* Part of the frames' bytes that is in the page cache, 0 to 1; NaN: the system does not say. */
double bench_files_resident(const struct bench_files *files);
/* Write back and drop from the page cache what the system lets go. */
void bench_files_evict(const struct bench_files *files);
/* The same as a step of struct bench_loop. */
airy_status bench_files_prepare_cold(void *user);

/*
 * Limits, bytes/s, the best of a few times: what the threads copy in memory, in pieces of a frame;
 * what is read past the page cache, NaN where the file system has no such reads; what one thread
 * writes as zeros into the temporary folder, with fsync.
 */
airy_status bench_limit_memcpy(const struct bench_files *files, double *rate);
airy_status bench_limit_direct(const struct bench_files *files, double *rate);
airy_status bench_limit_zeros(struct bench *bench, uint64_t bytes, double *rate);

#endif
