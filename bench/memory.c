/*
 * airy bench memory: the largest array and the largest blur that a device takes. Sizes are found by
 * halving, in planes of 1024 x 1024 of float32.
 */
#include "airy/filter.h"
#include "bench.h"

enum { PLANE = 1024, USUAL = 100 };

static const double plane_bytes = (double)PLANE * PLANE * sizeof(float);

/* AIRY_OK: so many planes can be had, and blurred; AIRY_ERR_MEMORY: they cannot. */
static airy_status attempt(const struct bench *bench, size_t planes, bool blurred)
{
    airy_array *src = NULL, *dst = NULL;
    const size_t shape[3] = {planes, PLANE, PLANE};
    const airy_blur_params blur = {.sigma = {2, 2, 2}};
    airy_status status = airy_array_create(&src, bench->device, AIRY_DTYPE_F32, 3, shape);
    if (status == AIRY_OK && blurred)
        status = airy_array_create(&dst, bench->device, AIRY_DTYPE_F32, 3, shape);
    if (status == AIRY_OK)
        status = airy_array_fill(bench->queue, src, 1);
    if (status == AIRY_OK && blurred)
        status = airy_gaussian_blur(bench->queue, dst, src, &blur);
    const airy_status end = airy_queue_finish(bench->queue);
    airy_array_destroy(&dst);
    airy_array_destroy(&src);
    return status == AIRY_OK ? end : status;
}

/* The most planes below `limit`, to 0.4 percent. */
static airy_status find_most(const struct bench *bench, size_t limit, bool blurred, size_t *planes)
{
    size_t can = 0, cannot = limit;
    while (cannot - can > 1 + can / 256) {
        if (tool_interrupted())
            return AIRY_ERR_CANCELLED;
        const size_t middle = can + (cannot - can) / 2;
        const airy_status status = attempt(bench, middle, blurred);
        if (status != AIRY_OK && status != AIRY_ERR_MEMORY)
            return status;
        *(status == AIRY_OK ? &can : &cannot) = middle;
    }
    *planes = can;
    return AIRY_OK;
}

/* What a blur of the usual size takes: two images, and as little more as can be. */
static airy_status measure_blur(struct bench *bench)
{
    airy_memory_info before, after;
    airy_status status = airy_device_memory(bench->device, &before);
    if (status == AIRY_OK)
        status = attempt(bench, USUAL, true);
    if (status == AIRY_ERR_MEMORY)
        return AIRY_OK;
    if (status == AIRY_OK)
        status = airy_device_memory(bench->device, &after);
    if (status != AIRY_OK)
        return status;
    bench_add_fact(bench, "memory of a blur of 100x1024x1024", "MB",
                   1e-6 * (double)(after.peak - before.in_use));
    bench_add_fact(bench, "its image and its result", "MB", 2e-6 * USUAL * plane_bytes);
    return AIRY_OK;
}

int bench_memory(struct bench *bench)
{
    airy_memory_info memory;
    airy_device_info info;
    size_t array = 0, blur = 0;
    airy_status status = measure_blur(bench);
    if (status == AIRY_OK)
        status = airy_device_memory(bench->device, &memory);
    if (status == AIRY_OK)
        status = airy_device_get_info(bench->device, &info);
    if (status != AIRY_OK)
        return bench_failed(bench, status);
    /* The system would take from others what the CPU has not free. */
    double limit = (double)memory.limit;
    if (bench->cpu && info.memory_free && 0.8 * (double)info.memory_free < limit)
        limit = 0.8 * (double)info.memory_free;
    const size_t most = (size_t)(limit / plane_bytes) + 1;
    status = find_most(bench, most, false, &array);
    if (status == AIRY_OK)
        status = find_most(bench, array + 1, true, &blur);
    if (status != AIRY_OK)
        return bench_failed(bench, status);
    bench_add_fact(bench, "largest array", "GB", 1e-9 * (double)array * plane_bytes);
    bench_add_fact(bench, "largest image that is blurred at once", "GB",
                   1e-9 * (double)blur * plane_bytes);
    bench_add_fact(bench, "limit of the device, or what the host has free", "GB", 1e-9 * limit);
    return AIRY_EXIT_OK;
}
