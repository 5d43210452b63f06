/* airy bench filter: order statistics of images and of a volume that are on the device. */
#include <stdlib.h>

#include "airy/filter.h"
#include "airy/random.h"
#include "bench.h"

struct filter_job {
    airy_queue *queue;
    airy_array *src, *dst;
    airy_rank_params params;
    bool hampel; /* of params.size */
};

static airy_status run_filter(void *user)
{
    struct filter_job *job = user;
    const size_t *size = job->params.size;
    const airy_hampel_params hampel = {.size = {size[0], size[1], size[2]}};
    const airy_status status =
        job->hampel ? airy_hampel_run(job->queue, job->dst, job->src, &hampel)
                    : airy_rank_filter_run(job->queue, job->dst, job->src, &job->params);
    return status == AIRY_OK ? airy_queue_finish(job->queue) : status;
}

/* Random bits; floats from 0 to 1. */
static airy_status fill(struct filter_job *job)
{
    const size_t size = airy_array_size(job->src), n = (size + 3) / 4;
    uint32_t *words = malloc(n * sizeof(*words));
    if (!words)
        return AIRY_ERR_MEMORY;
    for (size_t i = 0; i < n; i += 1 << 20)
        airy_random_words(words + i, n - i < 1 << 20 ? n - i : 1 << 20, 1, 0, i);
    float *values = (float *)words;
    for (size_t i = 0; i < n && airy_array_dtype(job->src) == AIRY_DTYPE_F32; i++)
        values[i] = (float)(words[i] * 0x1p-32);
    const airy_status status = airy_array_push(job->queue, job->src, words, size);
    free(words);
    return status;
}

/* The limit is one read and one write at the rate of a copy, whose bytes count once. */
static airy_status measure(struct bench *bench, struct filter_job *job, const char *name)
{
    struct timing t;
    airy_status status = bench_measure_limits(bench);
    if (status == AIRY_OK)
        status = bench_repeat(bench, &t, run_filter, job);
    if (status == AIRY_OK)
        bench_add_latency(
            bench, &t,
            &(struct bench_row){.name = name,
                                .unit = "ms",
                                .amount = 1e3,
                                .limit = 1e3 * (double)airy_array_size(job->src) /
                                         bench->limits.inside,
                                .limit_name = "reading and writing the images at the copy rate"});
    return status;
}

int bench_filter(struct bench *bench)
{
    static const airy_dtype dtypes[] = {AIRY_DTYPE_U8, AIRY_DTYPE_U16, AIRY_DTYPE_F32};
    static const struct {
        const char *name;
        airy_rank_filter filter;
        size_t size;
        int axes;
        bool hampel;
    } jobs[] = {{"median 3x3", AIRY_RANK_MEDIAN, 3, 2, false},
                {"median 5x5", AIRY_RANK_MEDIAN, 5, 2, false},
                {"median 15x15", AIRY_RANK_MEDIAN, 15, 2, false},
                {"maximum 15x15", AIRY_RANK_MAXIMUM, 15, 2, false},
                {"opening 15x15", AIRY_RANK_OPENING, 15, 2, false},
                {"hampel 5x5", AIRY_RANK_MEDIAN, 5, 2, true},
                {"median 3x3x3 of 100x512x512", AIRY_RANK_MEDIAN, 3, 3, false}};
    static const size_t flat[2] = {2048, 2048}, deep[3] = {100, 512, 512};
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]) && status == AIRY_OK; i++)
        for (size_t k = 0; k < sizeof(dtypes) / sizeof(dtypes[0]) && status == AIRY_OK; k++) {
            const size_t size = jobs[i].size, *shape = jobs[i].axes == 3 ? deep : flat;
            struct filter_job job = {
                .queue = bench->queue,
                .hampel = jobs[i].hampel,
                .params = {.filter = jobs[i].filter, .size = {size, size, size}}};
            char name[64];
            snprintf(name, sizeof(name), "%s, %s", jobs[i].name, airy_dtype_name(dtypes[k]));
            status = airy_array_create(&job.src, bench->device, dtypes[k], jobs[i].axes, shape);
            if (status == AIRY_OK)
                status = airy_array_create(&job.dst, bench->device, dtypes[k], jobs[i].axes, shape);
            if (status == AIRY_OK)
                status = fill(&job);
            if (status == AIRY_OK)
                status = measure(bench, &job, name);
            if (status == AIRY_ERR_UNSUPPORTED && job.hampel) {
                tool_say(bench->common, "%s: left out, %s", name, airy_last_error());
                status = AIRY_OK;
            }
            airy_array_destroy(&job.src);
            airy_array_destroy(&job.dst);
        }
    return status == AIRY_OK ? AIRY_EXIT_OK : bench_failed(bench, status);
}
