/* airy bench latency: how long one frame takes, alone on an idle device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

struct latency_job {
    airy_queue *queue;
    const airy_integrator *integrator;
    airy_batch *batch;           /* the frame's chunk in page-locked memory */
    airy_host *pixels, *results; /* the frame, and its sums and statistics */
    airy_array *frame, *sums, *stats;
    airy_array *stored, *word; /* so many bytes as the chunk has; a word */
    float *intensity;
};

static airy_status fetch(const struct latency_job *job)
{
    double *sums = airy_host_data(job->results);
    const size_t size = airy_array_size(job->sums);
    airy_status status = airy_array_pull(job->queue, sums, size, job->sums);
    if (status == AIRY_OK)
        status =
            airy_array_pull(job->queue, (char *)sums + size, sizeof(airy_frame_stats), job->stats);
    if (status == AIRY_OK)
        status = airy_queue_finish(job->queue);
    return status == AIRY_OK
               ? airy_integrator_finish(job->integrator, sums, 1, job->intensity, NULL, NULL)
               : status;
}

static airy_status from_chunk(void *user)
{
    const struct latency_job *job = user;
    const airy_status status =
        airy_integrate_batch(job->queue, job->sums, job->stats, job->integrator, job->batch);
    return status == AIRY_OK ? fetch(job) : status;
}

static airy_status push_frame(const struct latency_job *job)
{
    return airy_array_push(job->queue, job->frame, airy_host_data(job->pixels),
                           airy_array_size(job->frame));
}

static airy_status from_frame(void *user)
{
    const struct latency_job *job = user;
    airy_status status = push_frame(job);
    if (status == AIRY_OK)
        status = airy_integrate(job->queue, job->sums, job->stats, job->integrator, job->frame);
    return status == AIRY_OK ? fetch(job) : status;
}

static airy_status integrate_resident(const struct latency_job *job, int times)
{
    airy_status status = AIRY_OK;
    for (int i = 0; i < times && status == AIRY_OK; i++)
        status = airy_integrate(job->queue, job->sums, job->stats, job->integrator, job->frame);
    return status == AIRY_OK ? airy_queue_finish(job->queue) : status;
}

enum { IN_A_ROW = 16 };

static airy_status resident(void *user)
{
    return integrate_resident(user, 1);
}

static airy_status resident_in_a_row(void *user)
{
    return integrate_resident(user, IN_A_ROW);
}

static airy_status copy_chunk(void *user)
{
    const struct latency_job *job = user;
    const airy_status status = airy_array_push(job->queue, job->stored, airy_host_data(job->pixels),
                                               airy_array_size(job->stored));
    return status == AIRY_OK ? airy_queue_finish(job->queue) : status;
}

static airy_status copy_frame(void *user)
{
    const struct latency_job *job = user;
    const airy_status status = push_frame(job);
    return status == AIRY_OK ? airy_queue_finish(job->queue) : status;
}

static airy_status fill_word(void *user)
{
    const struct latency_job *job = user;
    const airy_status status = airy_array_fill(job->queue, job->word, 1);
    return status == AIRY_OK ? airy_queue_finish(job->queue) : status;
}

/* The stack's first frame, as it is and as a chunk. */
static airy_status load_frame(struct latency_job *job, const struct bench *bench)
{
    const airy_stack_info *info = &bench->stack_info;
    airy_batch_params params = {.dtype = info->dtype,
                                .height = info->height,
                                .width = info->width,
                                .codec = info->codec,
                                .frames = 1};
    if (params.codec.codec == AIRY_CODEC_NONE)
        params.codec = (airy_codec_params){.codec = AIRY_CODEC_BSLZ4};
    params.codec.elem_size = (uint32_t)airy_dtype_size(info->dtype);
    const size_t size = airy_array_size(job->frame), one = 1;
    size_t used = airy_encode_bound(size, &params.codec);
    void *chunk = malloc(used);
    airy_status status = chunk ? airy_host_create(&job->pixels, bench->device, size)
                               : AIRY_ERR_MEMORY;
    if (status == AIRY_OK)
        status = airy_stack_read(bench->stack, 0, airy_host_data(job->pixels), size);
    if (status == AIRY_OK)
        status = airy_encode(chunk, &used, airy_host_data(job->pixels), size, &params.codec);
    if (status == AIRY_OK)
        status = airy_batch_create(&job->batch, bench->device, &params);
    if (status == AIRY_OK)
        status = airy_batch_add(job->batch, chunk, used);
    used = used < size ? used : size;
    if (status == AIRY_OK)
        status = airy_array_create(&job->stored, bench->device, AIRY_DTYPE_U8, 1, &used);
    if (status == AIRY_OK)
        status = airy_array_create(&job->word, bench->device, AIRY_DTYPE_U32, 1, &one);
    free(chunk);
    return status;
}

static airy_status open_job(struct latency_job *job, struct bench *bench)
{
    const airy_stack_info *info = &bench->stack_info;
    const size_t bins = airy_integrator_bins(job->integrator);
    const size_t frame[3] = {1, info->height, info->width}, sums[3] = {1, AIRY_SUM_PLANES, bins},
                 stats[2] = {1, sizeof(airy_frame_stats)};
    job->intensity = malloc(bins * sizeof(*job->intensity));
    airy_status status = job->intensity ? AIRY_OK : AIRY_ERR_MEMORY;
    if (status == AIRY_OK)
        status = airy_array_create(&job->frame, bench->device, info->dtype, 3, frame);
    if (status == AIRY_OK)
        status = airy_array_create(&job->sums, bench->device, AIRY_DTYPE_F64, 3, sums);
    if (status == AIRY_OK)
        status = airy_array_create(&job->stats, bench->device, AIRY_DTYPE_U8, 2, stats);
    if (status == AIRY_OK)
        status = airy_host_create(&job->results, bench->device,
                                  airy_array_size(job->sums) + sizeof(airy_frame_stats));
    return status == AIRY_OK ? load_frame(job, bench) : status;
}

static void close_job(struct latency_job *job)
{
    airy_batch_destroy(&job->batch);
    airy_array_destroy(&job->frame);
    airy_array_destroy(&job->sums);
    airy_array_destroy(&job->stats);
    airy_array_destroy(&job->stored);
    airy_array_destroy(&job->word);
    airy_host_destroy(&job->pixels);
    airy_host_destroy(&job->results);
    free(job->intensity);
}

/* A way of a frame, and what of it cannot be avoided. */
struct way {
    const char *name;
    airy_status (*run)(void *user), (*least)(void *user); /* least NULL: reading it once */
    const char *limit_name;
    int frames;
};

static airy_status measure_way(struct bench *bench, struct latency_job *job, const struct way *way)
{
    struct timing limit, t;
    airy_status status = AIRY_OK;
    /* `inside` counts the bytes copied; reading alone takes half that time. */
    double least = (double)airy_array_size(job->frame) / (2 * bench->limits.inside);
    if (way->least) {
        status = bench_repeat(bench, &limit, way->least, job);
        least = bench_percentile(&limit, 0.5);
    }
    if (status == AIRY_OK)
        status = bench_repeat(bench, &t, way->run, job);
    if (status == AIRY_OK)
        bench_add_latency(bench, &t,
                          &(struct bench_row){.name = way->name,
                                              .unit = "us",
                                              .amount = 1e6 / way->frames,
                                              .limit = 1e6 * least,
                                              .limit_name = way->limit_name,
                                              .frames = 1});
    return status;
}

int bench_latency(struct bench *bench)
{
    static const struct way ways[] = {
        {"latency of a chunk", from_chunk, copy_chunk, "copy of the chunk alone", 1},
        {"latency of a frame", from_frame, copy_frame, "copy of the frame alone", 1},
        {"latency of a resident frame", resident, fill_word, "filling a word", 1},
        {"resident frames, 16 in a row", resident_in_a_row, NULL,
         "half of the frame's copy in the device", IN_A_ROW},
    };
    airy_integrator *integrator = NULL;
    airy_status status = bench_integrator(&integrator, bench);
    struct latency_job job = {.queue = bench->queue, .integrator = integrator};
    if (status == AIRY_OK)
        status = bench_measure_limits(bench);
    if (status == AIRY_OK)
        status = open_job(&job, bench);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]) && status == AIRY_OK; i++)
        status = measure_way(bench, &job, &ways[i]);
    close_job(&job);
    if (status == AIRY_OK)
        status = bench_batch_sums(bench, integrator);
    airy_integrator_destroy(&integrator);
    return status == AIRY_OK ? AIRY_EXIT_OK : bench_failed(bench, status);
}
