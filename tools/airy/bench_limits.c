/* What the machine can do at most, measured beside the benches. */
#include <string.h>

#include "bench.h"

struct copy_job {
    airy_queue *queue;
    airy_array *array, *other;
    void *data;
    size_t size;
};

static airy_status copy_up(void *user)
{
    const struct copy_job *job = user;
    const airy_status status = airy_array_push(job->queue, job->array, job->data, job->size);
    return status == AIRY_OK ? airy_queue_finish(job->queue) : status;
}

static airy_status copy_inside(void *user)
{
    const struct copy_job *job = user;
    const airy_status status = airy_array_copy(job->queue, job->other, job->array);
    return status == AIRY_OK ? airy_queue_finish(job->queue) : status;
}

airy_status bench_measure_limits(struct bench *bench)
{
    if (bench->limits.inside > 0)
        return AIRY_OK;
    const size_t size = (size_t)256 << 20;
    struct copy_job job = {.queue = bench->queue, .size = size};
    struct timing t;
    airy_host *host = NULL;
    airy_status status = airy_host_create(&host, bench->device, size);
    if (status == AIRY_OK)
        status = airy_array_create(&job.array, bench->device, AIRY_DTYPE_U8, 1, &size);
    if (status == AIRY_OK)
        status = airy_array_create(&job.other, bench->device, AIRY_DTYPE_U8, 1, &size);
    if (status == AIRY_OK) {
        job.data = airy_host_data(host);
        memset(job.data, 1, size);
        status = bench_repeat(bench, &t, copy_up, &job);
    }
    if (status == AIRY_OK) {
        bench->limits.up = (double)size / bench_percentile(&t, 0.5);
        status = bench_repeat(bench, &t, copy_inside, &job);
    }
    if (status == AIRY_OK)
        bench->limits.inside = (double)size / bench_percentile(&t, 0.5);
    airy_array_destroy(&job.other);
    airy_array_destroy(&job.array);
    airy_host_destroy(&host);
    return status;
}
