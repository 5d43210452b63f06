/*
 * airy bench write: frames in memory to chunks, and on to a file or as many files as threads, by all
 * threads of the host.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/stack_write.h"
#include "bench.h"

enum {
    MAX_THREADS = 64,
    HELD_BYTES = 512 << 20, /* of decoded frames; fewer come round again */
    FRAMES_A_THREAD = 8     /* of one call */
};

struct write_job {
    struct bench *bench;
    airy_codec_params codec;
    size_t frame_size, bound, held, frames; /* held: that lie in memory */
    unsigned threads;
    uint8_t *pixels;              /* [held][frame_size] */
    uint8_t *chunks[MAX_THREADS]; /* [bound] */
    bool copy;                    /* instead of encoding */
    size_t files;                 /* 0: one, without a master */
    char path[4096];
    atomic_size_t next;
    atomic_uint workers;
    atomic_int status;
    atomic_ullong stored; /* of the last call */
};

static const uint8_t *held_frame(const struct write_job *job, size_t index)
{
    return job->pixels + index % job->held * job->frame_size;
}

static void *work(void *user)
{
    struct write_job *job = user;
    uint8_t *chunk = job->chunks[atomic_fetch_add(&job->workers, 1)];
    for (;;) {
        const size_t i = atomic_fetch_add(&job->next, 1);
        if (i >= job->frames)
            return NULL;
        size_t used = job->bound;
        airy_status status = AIRY_OK;
        if (job->copy)
            memcpy(chunk, held_frame(job, i), job->frame_size);
        else
            status = airy_encode(chunk, &used, held_frame(job, i), job->frame_size, &job->codec);
        if (status != AIRY_OK)
            atomic_store(&job->status, (int)status);
        atomic_fetch_add(&job->stored, used);
    }
}

/* All frames of a call, encoded or copied. */
static airy_status go_through(void *user)
{
    struct write_job *job = user;
    pthread_t others[MAX_THREADS];
    unsigned started = 0;
    atomic_store(&job->next, 0);
    atomic_store(&job->workers, 0);
    atomic_store(&job->stored, 0);
    while (started + 1 < job->threads && pthread_create(&others[started], NULL, work, job) == 0)
        started++;
    work(job);
    for (unsigned i = 0; i < started; i++)
        pthread_join(others[i], NULL);
    return (airy_status)atomic_load(&job->status);
}

static const void *lend_frame(void *user, size_t index)
{
    return held_frame(user, index);
}

/* The n-th of the files that frames go to; malloc'ed, NULL without memory. */
static char *name_file(const struct write_job *job, size_t n)
{
    char *path = NULL;
    if (!job->files)
        return strdup(job->path);
    return airy_stack_data_path(&path, job->path, n + 1) == AIRY_OK ? path : NULL;
}

static airy_status remove_files(void *user)
{
    const struct write_job *job = user;
    for (size_t n = 0; n < job->files; n++) {
        char *path = name_file(job, n);
        if (path)
            unlink(path);
        free(path);
    }
    unlink(job->path);
    return AIRY_OK;
}

static airy_status write_stack(void *user)
{
    struct write_job *job = user;
    const struct common *common = job->bench->common;
    const airy_stack_info *info = &job->bench->stack_info;
    struct progress progress;
    const airy_stack_write_params params = {
        .format = {.dtype = info->dtype,
                   .frames = job->frames,
                   .height = info->height,
                   .width = info->width,
                   .codec = job->codec,
                   .force = common->force,
                   .frames_per_file = job->files ? job->frames / job->files : 0},
        .fill = {.lend = lend_frame,
                 .source = job,
                 .threads = tool_threads(common),
                 .memory_limit = common->memory_limit,
                 .progress = progress_step,
                 .user = &progress}};
    tool_catch_interrupts(); /* from here on there are partial files */
    progress_begin(&progress, common, "frames");
    const airy_status status = airy_stack_write_file(job->path, &params, NULL);
    progress_end(&progress);
    return status;
}

/* The same bytes as they are into a file of its own, each worker by one thread. */
static void *write_file_plainly(void *user)
{
    struct write_job *job = user;
    const unsigned worker = atomic_fetch_add(&job->workers, 1);
    const size_t size = (size_t)(atomic_load(&job->stored) / job->frames),
                 frames = job->frames / (job->files ? job->files : 1);
    char *path = name_file(job, worker);
    const int fd = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
    bool done = fd >= 0;
    for (size_t i = 0; i < frames && done; i++)
        done = pwrite(fd, job->chunks[worker], size, (off_t)(i * size)) == (ssize_t)size;
    done = done && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    free(path);
    if (!done)
        atomic_store(&job->status, (int)AIRY_ERR_IO);
    return NULL;
}

/* One file takes bytes from one thread at a time. */
static airy_status write_plainly(void *user)
{
    struct write_job *job = user;
    atomic_store(&job->workers, 0);
    tool_work(job->files ? job->files : 1, write_file_plainly, job);
    return atomic_load(&job->status) == AIRY_OK
               ? AIRY_OK
               : bench_say(job->bench, AIRY_ERR_IO, "the files cannot be written");
}

/* The stack's first frames, decoded, and room for what becomes of them. */
static airy_status prepare(struct write_job *job)
{
    const airy_stack_info *info = &job->bench->stack_info;
    job->codec = info->codec;
    if (job->codec.codec != AIRY_CODEC_BSLZ4 && job->codec.codec != AIRY_CODEC_LZ4)
        job->codec = (airy_codec_params){.codec = AIRY_CODEC_BSLZ4};
    job->codec.elem_size = (uint32_t)airy_dtype_size(info->dtype);
    job->frame_size = info->height * info->width * job->codec.elem_size;
    const size_t bound = airy_encode_bound(job->frame_size, &job->codec);
    job->bound = bound > job->frame_size ? bound : job->frame_size;
    job->threads = tool_threads(job->bench->common);
    job->threads = job->threads > MAX_THREADS ? MAX_THREADS : job->threads;
    job->frames = (size_t)job->threads * FRAMES_A_THREAD;
    job->held = HELD_BYTES / job->frame_size + 1;
    job->held = job->held > info->frames ? info->frames : job->held;
    job->pixels = malloc(job->held * job->frame_size);
    bool there = job->pixels != NULL;
    for (unsigned t = 0; t < job->threads && there; t++)
        there = (job->chunks[t] = malloc(job->bound)) != NULL;
    airy_status status = there ? AIRY_OK : AIRY_ERR_MEMORY;
    for (size_t i = 0; i < job->held && status == AIRY_OK; i++)
        status = airy_stack_read(job->bench->stack, i, job->pixels + i * job->frame_size,
                                 job->frame_size);
    return status;
}

/* Into files; the limit is what the file system does with the bytes alone. */
static airy_status measure_files(struct bench *bench, struct write_job *job, const char *name,
                                 const char *limit_name)
{
    struct timing plain, t;
    struct bench_loop loop = {.prepare = remove_files,
                              .run = write_plainly,
                              .user = job,
                              .seconds = bench_seconds(bench),
                              .least = 3,
                              .first = true};
    airy_status status = bench_loop(bench, &plain, &loop);
    loop.run = write_stack;
    if (status == AIRY_OK)
        status = bench_loop(bench, &t, &loop);
    remove_files(job);
    if (status != AIRY_OK)
        return status;
    const double frames = (double)job->frames;
    bench_add_rate(bench, &t,
                   &(struct bench_row){.name = name,
                                       .unit = "frames/s",
                                       .amount = frames,
                                       .limit = frames / bench_percentile(&plain, 0.5),
                                       .limit_name = limit_name,
                                       .frames = job->frames});
    return AIRY_OK;
}

/* One file, and then as many as there are threads. */
static airy_status measure_writing(struct bench *bench, struct write_job *job)
{
    char name[64];
    airy_status status = measure_files(bench, job, "write", "pwrite and fsync of the same bytes");
    job->files = job->threads;
    snprintf(name, sizeof(name), "write, %zu file%s", job->files, tool_s(job->files));
    if (status == AIRY_OK)
        status = measure_files(bench, job, name, "the same, a thread a file");
    return status;
}

static airy_status measure(struct bench *bench, struct write_job *job)
{
    struct timing copies, t;
    job->copy = true;
    airy_status status = bench_repeat(bench, &copies, go_through, job);
    job->copy = false;
    if (status == AIRY_OK)
        status = bench_repeat(bench, &t, go_through, job);
    if (status != AIRY_OK)
        return status;
    const double limit = bench_percentile(&copies, 0.5), frames = (double)job->frames,
                 raw = frames * (double)job->frame_size;
    bench_add_rate(bench, &t,
                   &(struct bench_row){.name = "encode",
                                       .unit = "frames/s",
                                       .amount = frames,
                                       .limit = frames / limit,
                                       .limit_name = "copy of the decoded frames",
                                       .frames = job->frames});
    bench_add_rate(bench, &t,
                   &(struct bench_row){.name = "encode bandwidth, decoded",
                                       .unit = "GB/s",
                                       .amount = raw * 1e-9,
                                       .limit = raw / limit * 1e-9,
                                       .limit_name = "copy of the decoded frames",
                                       .frames = job->frames});
    bench_add_fact(bench, "compression ratio", "x", raw / (double)atomic_load(&job->stored));
    return measure_writing(bench, job);
}

int bench_write(struct bench *bench)
{
    struct write_job *job = calloc(1, sizeof(*job));
    if (!job)
        return tool_fail(bench->common, "out of memory");
    job->bench = bench;
    int code = bench_folder(bench);
    bench_name(job->path, bench, "written_master.h5");
    airy_status status = code == AIRY_EXIT_OK ? prepare(job) : AIRY_OK;
    if (code == AIRY_EXIT_OK && status == AIRY_OK)
        code = bench_need_space(bench, (double)(job->frames * job->bound));
    if (code == AIRY_EXIT_OK && status == AIRY_OK)
        status = measure(bench, job);
    if (status == AIRY_ERR_MEMORY)
        code = tool_fail(bench->common, "out of memory for frames and their chunks");
    else if (code == AIRY_EXIT_OK && status != AIRY_OK)
        code = bench_failed(bench, status);
    for (unsigned i = 0; i < MAX_THREADS; i++)
        free(job->chunks[i]);
    free(job->pixels);
    free(job);
    return code;
}
