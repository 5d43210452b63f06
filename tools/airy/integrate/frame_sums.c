#include "integrate/frame_sums.h"

airy_status frame_sums_open(struct frame_sums *f, const struct integration *job, double *values)
{
    const size_t bins = airy_integrator_bins(job->integrator);
    const size_t frame[3] = {1, job->info.height, job->info.width},
                 sums[3] = {1, AIRY_SUM_PLANES, bins};
    const size_t stats[2] = {1, sizeof(airy_frame_stats)};
    *f = (struct frame_sums){
        .values = values,
        .pixels_size = frame[1] * frame[2] * airy_dtype_size(job->info.dtype),
        .sums_size = AIRY_SUM_PLANES * bins * sizeof(double),
    };
    airy_status status = airy_queue_create(&f->queue, job->device);
    if (status == AIRY_OK)
        status = airy_array_create_uninitialized(&f->frame, job->device, job->info.dtype, 3, frame);
    if (status == AIRY_OK)
        status = airy_array_create_uninitialized(&f->sums, job->device, AIRY_DTYPE_F64, 3, sums);
    if (status == AIRY_OK)
        status = airy_array_create_uninitialized(&f->stats, job->device, AIRY_DTYPE_U8, 2, stats);
    return status;
}

void frame_sums_close(struct frame_sums *f)
{
    airy_array_destroy(&f->stats);
    airy_array_destroy(&f->sums);
    airy_array_destroy(&f->frame);
    airy_queue_destroy(&f->queue);
}

airy_status frame_sums_take(struct frame_sums *f, const struct integration *job, const void *pixels)
{
    airy_status status = airy_array_push(f->queue, f->frame, pixels, f->pixels_size);
    if (status == AIRY_OK)
        status = airy_integrate(f->queue, f->sums, f->stats, job->integrator, f->frame);
    if (status == AIRY_OK)
        status = airy_array_pull(f->queue, f->values, f->sums_size, f->sums);
    if (status == AIRY_OK)
        status = airy_array_pull(f->queue, &f->about, sizeof(f->about), f->stats);
    return status == AIRY_OK ? airy_queue_finish(f->queue) : status;
}
