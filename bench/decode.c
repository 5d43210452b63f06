/* airy bench decode: chunks in page-locked memory to frames on the device. */
#include <stdlib.h>

#include "bench.h"

struct decode_job {
    airy_queue *queue;
    airy_batch *batch;
    airy_array *frames, *status;
};

static airy_status decode(void *user)
{
    const struct decode_job *job = user;
    const airy_status status = airy_decode_batch(job->queue, job->frames, job->status, job->batch);
    return status == AIRY_OK ? airy_queue_finish(job->queue) : status;
}

/* The first frames of a stack, encoded as they are stored or, where they are not, anew. */
static airy_status fill_batch(airy_batch *batch, const airy_stack *stack,
                              const airy_stack_info *info, const airy_codec_params *codec,
                              size_t frames, size_t *stored)
{
    const size_t size = info->height * info->width * airy_dtype_size(info->dtype),
                 bound = airy_encode_bound(size, codec);
    void *pixels = malloc(size), *chunk = malloc(bound);
    airy_status status = pixels && chunk ? AIRY_OK : AIRY_ERR_MEMORY;
    *stored = 0;
    for (size_t i = 0; i < frames && status == AIRY_OK; i++) {
        size_t used = bound;
        status = airy_stack_read(stack, i % info->frames, pixels, size);
        if (status == AIRY_OK)
            status = airy_encode(chunk, &used, pixels, size, codec);
        if (status == AIRY_OK)
            status = airy_batch_add(batch, chunk, used);
        *stored += used;
    }
    free(pixels);
    free(chunk);
    return status;
}

airy_status bench_batch(airy_batch **batch, const struct bench *bench, size_t frames,
                        size_t *stored)
{
    const airy_stack_info *info = &bench->stack_info;
    airy_batch_params params = {.dtype = info->dtype,
                                .height = info->height,
                                .width = info->width,
                                .codec = info->codec,
                                .frames = frames};
    if (params.codec.codec == AIRY_CODEC_NONE)
        params.codec = (airy_codec_params){.codec = AIRY_CODEC_BSLZ4};
    params.codec.elem_size = (uint32_t)airy_dtype_size(info->dtype);
    params.bytes = info->max_chunk * frames + (frames << 16);
    const airy_status status = airy_batch_create(batch, bench->device, &params);
    return status == AIRY_OK ? fill_batch(*batch, bench->stack, info, &params.codec, frames, stored)
                             : status;
}

airy_status bench_time_decode(const struct bench *bench, size_t frames, struct timing *t,
                              size_t *stored)
{
    const airy_stack_info *info = &bench->stack_info;
    struct decode_job job = {.queue = bench->queue};
    const size_t shape[3] = {frames, info->height, info->width};
    airy_status status = bench_batch(&job.batch, bench, frames, stored);
    if (status == AIRY_OK)
        status = airy_array_create(&job.frames, bench->device, info->dtype, 3, shape);
    if (status == AIRY_OK)
        status = airy_array_create(&job.status, bench->device, AIRY_DTYPE_U32, 1, shape);
    if (status == AIRY_OK)
        status = bench_repeat(bench, t, decode, &job);
    airy_array_destroy(&job.status);
    airy_array_destroy(&job.frames);
    airy_batch_destroy(&job.batch);
    return status;
}

/*
 * The CPU cannot decode faster than it can copy the frames; a device not faster than the chunks
 * come up the wire.
 */
static void report(struct bench *bench, struct timing *t, size_t count, size_t stored)
{
    const airy_stack_info *info = &bench->stack_info;
    const double frames = (double)count,
                 raw = frames * (double)(info->height * info->width * airy_dtype_size(info->dtype));
    const double limit = bench->cpu ? bench->limits.inside / raw
                                    : bench->limits.wire / (double)stored;
    bench_add_rate(bench, t,
                   &(struct bench_row){.name = "decode",
                                       .unit = "frames/s",
                                       .amount = frames,
                                       .limit = frames * limit,
                                       .limit_name = bench->cpu
                                                         ? "copy of the decoded frames"
                                                         : "copy of these chunks to the device",
                                       .frames = count});
    bench_add_rate(bench, t,
                   &(struct bench_row){.name = "decode bandwidth, decoded",
                                       .unit = "GB/s",
                                       .amount = raw * 1e-9,
                                       .limit = bench->limits.inside * 1e-9,
                                       .limit_name = "copy inside the device",
                                       .frames = count});
}

int bench_decode(struct bench *bench)
{
    const size_t frames = bench->params->batch ? bench->params->batch : 32;
    struct timing t;
    size_t stored = 0;
    airy_status status = bench_time_decode(bench, frames, &t, &stored);
    if (status == AIRY_OK)
        status = bench_measure_wire(bench);
    if (status != AIRY_OK)
        return bench_failed(bench, status);
    report(bench, &t, frames, stored);
    return AIRY_EXIT_OK;
}
