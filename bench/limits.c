/* What the machine can do at most, measured beside the benches. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

enum {
    LIMIT_BYTES = 256 << 20,
    LIMIT_BYTES_EACH = 64 << 20 /* of several devices: what batches in flight have */
};

/* A limit takes half a second at most. */
static airy_status repeat(const struct bench *bench, struct timing *t,
                          airy_status (*run)(void *user), void *user)
{
    const double seconds = bench_seconds(bench);
    const struct bench_loop loop = {.run = run,
                                    .user = user,
                                    .seconds = seconds < 0.5 ? seconds : 0.5,
                                    .least = 3,
                                    .first = true};
    return bench_loop(bench, t, &loop);
}

airy_status bench_measure_limits(struct bench *bench)
{
    if (bench->limits.inside > 0)
        return AIRY_OK;
    const size_t size = LIMIT_BYTES;
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
        status = repeat(bench, &t, copy_up, &job);
    }
    if (status == AIRY_OK) {
        bench->limits.up = (double)size / bench_percentile(&t, 0.5);
        status = repeat(bench, &t, copy_inside, &job);
    }
    if (status == AIRY_OK)
        bench->limits.inside = (double)size / bench_percentile(&t, 0.5);
    airy_array_destroy(&job.other);
    airy_array_destroy(&job.array);
    airy_host_destroy(&host);
    return status;
}

/* The chunks of the first frames one behind the other; what fits. */
static size_t gather_chunks(const struct bench *bench, char *data, size_t room)
{
    const char *open_path = NULL;
    int fd = -1;
    size_t size = 0;
    for (size_t i = 0; i < bench->stack_info.frames; i++) {
        airy_stack_place place;
        if (airy_stack_get_place(bench->stack, i, &place) != AIRY_OK || !place.path ||
            place.size > room - size)
            break;
        if (place.path != open_path) {
            if (fd >= 0)
                close(fd);
            fd = open(place.path, O_RDONLY | O_CLOEXEC);
            open_path = place.path;
        }
        if (fd < 0 ||
            pread(fd, data + size, place.size, (off_t)place.offset) != (ssize_t)place.size)
            break;
        size += place.size;
    }
    if (fd >= 0)
        close(fd);
    return size;
}

airy_status bench_measure_wire(struct bench *bench)
{
    const airy_status measured = bench_measure_limits(bench);
    if (measured != AIRY_OK || bench->limits.wire > 0)
        return measured;
    bench->limits.wire = bench->limits.up;
    if (bench->cpu)
        return AIRY_OK;
    const size_t room = LIMIT_BYTES;
    struct copy_job job = {.queue = bench->queue};
    struct timing t;
    airy_host *host = NULL;
    airy_status status = airy_host_create(&host, bench->device, room);
    if (status == AIRY_OK) {
        job.data = airy_host_data(host);
        job.size = gather_chunks(bench, job.data, room);
    }
    if (status == AIRY_OK && job.size > 0) {
        status = airy_array_create(&job.array, bench->device, AIRY_DTYPE_U8, 1, &job.size);
        if (status == AIRY_OK)
            status = repeat(bench, &t, copy_up, &job);
        if (status == AIRY_OK)
            bench->limits.wire = (double)job.size / bench_percentile(&t, 0.5);
    }
    airy_array_destroy(&job.array);
    airy_host_destroy(&host);
    return status;
}

/* Copies to several devices at a time. */
struct copies_job {
    struct copy_job *jobs; /* [count] */
    size_t count;
};

static airy_status copy_all_up(void *user)
{
    const struct copies_job *all = user;
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < all->count && status == AIRY_OK; i++) {
        const struct copy_job *job = &all->jobs[i];
        status = airy_array_push(job->queue, job->array, job->data, job->size);
        if (status == AIRY_OK)
            status = airy_queue_flush(job->queue);
    }
    for (size_t i = 0; i < all->count && status == AIRY_OK; i++)
        status = airy_queue_finish(all->jobs[i].queue);
    return status;
}

static airy_status open_copy(const struct bench *bench, struct copy_job *job, airy_host **host,
                             airy_device *device)
{
    airy_status status = airy_host_create(host, device, LIMIT_BYTES_EACH);
    if (status == AIRY_OK)
        status = airy_queue_create(&job->queue, device);
    if (status != AIRY_OK)
        return status;
    job->data = airy_host_data(*host);
    job->size = gather_chunks(bench, job->data, LIMIT_BYTES_EACH);
    if (job->size == 0) {
        job->size = LIMIT_BYTES_EACH;
        memset(job->data, 1, job->size);
    }
    return airy_array_create(&job->array, device, AIRY_DTYPE_U8, 1, &job->size);
}

airy_status bench_measure_wires(struct bench *bench, double *rate)
{
    const size_t count = bench->team.count;
    struct copies_job all = {.jobs = calloc(count, sizeof(*all.jobs)), .count = count};
    airy_host **hosts = calloc(count, sizeof(airy_host *));
    airy_status status = all.jobs && hosts ? AIRY_OK : AIRY_ERR_MEMORY;
    struct timing t;
    double size = 0;
    for (size_t i = 0; i < count && status == AIRY_OK; i++) {
        status = open_copy(bench, &all.jobs[i], &hosts[i], bench->team.devices[i]);
        size += (double)all.jobs[i].size;
    }
    if (status == AIRY_OK)
        status = repeat(bench, &t, copy_all_up, &all);
    if (status == AIRY_OK)
        *rate = size / bench_percentile(&t, 0.5);
    for (size_t i = 0; i < count && all.jobs && hosts; i++) {
        airy_array_destroy(&all.jobs[i].array);
        airy_queue_destroy(&all.jobs[i].queue);
        airy_host_destroy(&hosts[i]);
    }
    free(all.jobs);
    free(hosts);
    return status;
}
