/*
 * airy bench copy: 400 MB to the device and back, from page-locked memory and from other memory,
 * which goes through page-locked pieces.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { BYTES = 400000000 };

struct copies {
    airy_queue *queue;
    airy_array *array;
    void *data;
};

static airy_status finish(const struct copies *c, airy_status status)
{
    return status == AIRY_OK ? airy_queue_finish(c->queue) : status;
}

static airy_status push(void *user)
{
    const struct copies *c = user;
    return finish(c, airy_array_push(c->queue, c->array, c->data, BYTES));
}

static airy_status pull(void *user)
{
    const struct copies *c = user;
    return finish(c, airy_array_pull(c->queue, c->data, BYTES, c->array));
}

static airy_status measure(struct bench *bench, struct copies *c, const char *name,
                           airy_status (*run)(void *user))
{
    struct timing t;
    const airy_status status = bench_repeat(bench, &t, run, c);
    if (status == AIRY_OK)
        bench_add_latency(bench, &t,
                          &(struct bench_row){.name = name,
                                              .unit = "ms",
                                              .amount = 1e3,
                                              .limit = 1e3 * BYTES / bench->limits.up,
                                              .limit_name = "copy to the device"});
    return status;
}

int bench_copy(struct bench *bench)
{
    struct copies c = {.queue = bench->queue};
    const size_t shape[1] = {BYTES};
    airy_host *host = NULL;
    void *other = malloc(BYTES);
    airy_status status = other ? bench_measure_limits(bench) : AIRY_ERR_MEMORY;
    if (!other)
        (void)bench_say(bench, status, "no memory for the 400 MB that are copied");
    if (status == AIRY_OK)
        status = airy_array_create(&c.array, bench->device, AIRY_DTYPE_U8, 1, shape);
    if (status == AIRY_OK)
        status = airy_host_create(&host, bench->device, BYTES);
    if (status == AIRY_OK) {
        memset(other, 1, BYTES); /* its pages are there */
        c.data = memset(airy_host_data(host), 1, BYTES);
        status = measure(bench, &c, "push 400 MB, page-locked", push);
    }
    if (status == AIRY_OK)
        status = measure(bench, &c, "pull 400 MB, page-locked", pull);
    c.data = other;
    if (status == AIRY_OK)
        status = measure(bench, &c, "push 400 MB, other memory", push);
    if (status == AIRY_OK)
        status = measure(bench, &c, "pull 400 MB, other memory", pull);
    airy_host_destroy(&host);
    airy_array_destroy(&c.array);
    free(other);
    return status == AIRY_OK ? AIRY_EXIT_OK : bench_failed(bench, status);
}
