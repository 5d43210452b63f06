/* A batch of chunks to sums: from the call to the end, and what of it the device is at work. */
#include <math.h>
#include <stdio.h>

#include "bench.h"

struct sums_job {
    airy_queue *queue;
    const airy_integrator *integrator;
    airy_batch *batch;
    airy_array *sums, *stats;
};

static airy_status decode_and_sum(void *user)
{
    const struct sums_job *job = user;
    const airy_status status =
        airy_integrate_batch(job->queue, job->sums, job->stats, job->integrator, job->batch);
    return status == AIRY_OK ? airy_queue_finish(job->queue) : status;
}

static airy_status open_job(struct sums_job *job, const struct bench *bench,
                            const airy_integrator *integrator, size_t frames, size_t *stored)
{
    const size_t sums[3] = {frames, AIRY_SUM_PLANES, airy_integrator_bins(integrator)},
                 stats[2] = {frames, sizeof(airy_frame_stats)};
    *job = (struct sums_job){.queue = bench->queue, .integrator = integrator};
    airy_status status = bench_batch(&job->batch, bench, frames, stored);
    if (status == AIRY_OK)
        status = airy_array_create(&job->sums, bench->device, AIRY_DTYPE_F64, 3, sums);
    if (status == AIRY_OK)
        status = airy_array_create(&job->stats, bench->device, AIRY_DTYPE_U8, 2, stats);
    return status;
}

static void close_job(struct sums_job *job)
{
    airy_batch_destroy(&job->batch);
    airy_array_destroy(&job->sums);
    airy_array_destroy(&job->stats);
}

static void add_row(struct bench *bench, struct timing *t, size_t frames, const char *part,
                    double limit)
{
    char name[64];
    snprintf(name, sizeof(name), "decode and sum, %zu frames%s", frames, part);
    bench_add_latency(
        bench, t,
        &(struct bench_row){.name = name,
                            .unit = "us/frame",
                            .amount = 1e6 / (double)frames,
                            .limit = limit,
                            .limit_name = limit > 0 ? "copy of these chunks to the device" : NULL,
                            .frames = frames});
}

/* The kernels alone by the device's own clock, on a device that is opened for it. */
static airy_status time_kernels(struct timing *t, const struct bench *bench, size_t frames)
{
    enum { CALLS = 20 };
    struct bench own = *bench;
    struct sums_job job = {.queue = NULL};
    airy_integrator *integrator = NULL;
    size_t stored;
    double before[2], after[2];
    *t = (struct timing){.first = (double)NAN};
    own.queue = NULL;
    airy_status status = airy_device_create(&own.device, airy_device_spec(bench->device),
                                            &(airy_device_params){.profile = true});
    if (status != AIRY_OK)
        return status;
    status = airy_queue_create(&own.queue, own.device);
    if (status == AIRY_OK)
        status = bench_integrator(&integrator, &own);
    if (status == AIRY_OK)
        status = open_job(&job, &own, integrator, frames, &stored);
    if (status == AIRY_OK)
        status = decode_and_sum(&job); /* compiles the kernels */
    if (status == AIRY_OK)
        status = bench_profile(before, own.device);
    while (status == AIRY_OK && t->count < CALLS) {
        status = decode_and_sum(&job);
        if (status == AIRY_OK)
            status = bench_profile(after, own.device);
        t->times[t->count++] = 1e-3 * (after[0] - before[0]);
        before[0] = after[0];
    }
    close_job(&job);
    airy_integrator_destroy(&integrator);
    airy_queue_destroy(&own.queue);
    airy_device_destroy(&own.device);
    return status;
}

airy_status bench_batch_sums(struct bench *bench, const airy_integrator *integrator)
{
    const size_t frames = bench->params->batch ? bench->params->batch : 32;
    struct sums_job job;
    static struct timing t;
    size_t stored = 0;
    airy_status status = open_job(&job, bench, integrator, frames, &stored);
    if (status == AIRY_OK)
        status = bench_repeat(bench, &t, decode_and_sum, &job);
    close_job(&job);
    if (status == AIRY_OK)
        status = bench_measure_wire(bench);
    if (status == AIRY_OK)
        add_row(bench, &t, frames, "",
                bench->cpu ? 0 : 1e6 * (double)stored / bench->limits.wire / (double)frames);
    if (status == AIRY_OK && !bench->cpu) {
        status = time_kernels(&t, bench, frames);
        if (status == AIRY_OK)
            add_row(bench, &t, frames, ", kernels", 0);
    }
    return status;
}
