/* airy bench peaks: frames to what stands out of their rings. */
#include <math.h>
#include <stdlib.h>

#include "airy/peaks_stack.h"
#include "bench.h"

enum { FRAMES = 16, BINS = 800, CPU_REPLAY = 2, DEVICE_REPLAY = 24 };

struct peaks_job {
    struct bench *bench;
    airy_integrator *integrator;
    airy_peak_finder *finder;
    airy_array *frames, *sums, *stats;
    airy_peak_lists lists;
    size_t count; /* frames on the device */
    airy_stack *replayed;
    airy_run_params run;
    airy_peaks_run_info info;
};

/* As `airy peaks` has it where nothing else is given. */
static airy_status open_finder(struct peaks_job *job)
{
    uint8_t *mask = NULL;
    airy_status status = bench_mask(&mask, job->bench);
    airy_integrator_params params = job->bench->params->integrator;
    if (!job->bench->params->has_bins)
        params.bins = BINS;
    params.azimuth_bins = 0;
    params.azimuth_unit = 0;
    params.split = AIRY_SPLIT_NO;
    params.unit = job->bench->geometry.wavelength > 0 ? AIRY_UNIT_Q_NM : AIRY_UNIT_TTH_DEG;
    if (params.error_model == AIRY_ERROR_MODEL_NONE)
        params.error_model = AIRY_ERROR_MODEL_POISSON;
    params.mask = mask;
    params.has_clip = !params.has_quantile;
    if (status == AIRY_OK)
        status = airy_integrator_create(&job->integrator, job->bench->device, &job->bench->geometry,
                                        &params);
    if (status == AIRY_OK)
        status = airy_peak_finder_create(&job->finder, job->integrator, NULL);
    free(mask);
    return status;
}

static airy_status make_arrays(struct peaks_job *job)
{
    const struct bench *bench = job->bench;
    const airy_stack_info *info = &bench->stack_info;
    airy_device *device = bench->device;
    airy_peak_params p;
    airy_status status = airy_peak_finder_get_params(job->finder, &p);
    const size_t n = job->count, bins = airy_integrator_bins(job->integrator),
                 frames[3] = {n, info->height, info->width}, sums[3] = {n, AIRY_SUM_PLANES, bins},
                 stats[2] = {n, sizeof(airy_frame_stats)}, counts[2] = {n, AIRY_PEAK_COUNTS},
                 curves[3] = {n, 2, bins}, pixels = n * p.max_pixels,
                 peaks[2] = {n * p.max_peaks, sizeof(airy_peak)};
    const struct {
        airy_array **to;
        airy_dtype dtype;
        int ndim;
        const size_t *shape;
    } rows[] = {{&job->frames, info->dtype, 3, frames},
                {&job->sums, AIRY_DTYPE_F64, 3, sums},
                {&job->stats, AIRY_DTYPE_U8, 2, stats},
                {&job->lists.counts, AIRY_DTYPE_U32, 2, counts},
                {&job->lists.curves, AIRY_DTYPE_F32, 3, curves},
                {&job->lists.index, AIRY_DTYPE_U32, 1, &pixels},
                {&job->lists.intensity, info->dtype, 1, &pixels},
                {&job->lists.peaks, AIRY_DTYPE_U8, 2, peaks}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && status == AIRY_OK; i++)
        status = airy_array_create(rows[i].to, device, rows[i].dtype, rows[i].ndim, rows[i].shape);
    return status;
}

static airy_status push_frames(struct peaks_job *job)
{
    const struct bench *bench = job->bench;
    const airy_stack_info *info = &bench->stack_info;
    const size_t size = info->height * info->width * airy_dtype_size(info->dtype);
    char *pixels = malloc(job->count * size);
    airy_status status = pixels ? AIRY_OK : AIRY_ERR_MEMORY;
    for (size_t i = 0; i < job->count && status == AIRY_OK; i++)
        status = airy_stack_read(bench->stack, i % info->frames, pixels + i * size, size);
    if (status == AIRY_OK)
        status = airy_array_push(bench->queue, job->frames, pixels, job->count * size);
    if (status == AIRY_OK)
        status = airy_queue_finish(bench->queue);
    free(pixels);
    return status;
}

static airy_status find(void *user)
{
    struct peaks_job *job = user;
    const airy_status status =
        airy_find_peaks(job->bench->queue, &job->lists, job->finder, job->sums, job->frames);
    return status == AIRY_OK ? airy_queue_finish(job->bench->queue) : status;
}

static airy_status integrate_and_find(void *user)
{
    struct peaks_job *job = user;
    const airy_status status =
        airy_integrate(job->bench->queue, job->sums, job->stats, job->integrator, job->frames);
    return status == AIRY_OK ? find(job) : status;
}

static airy_status run_stack(void *user)
{
    struct peaks_job *job = user;
    const airy_peak_finder *const finders[1] = {job->finder};
    return airy_peaks_stack(NULL, job->replayed, finders, 1, &job->run, &job->info);
}

static void add(struct peaks_job *job, struct timing *t, const char *name, size_t count,
                double limit, const char *limit_name)
{
    bench_add_rate(job->bench, t,
                   &(struct bench_row){.name = name,
                                       .unit = "frames/s",
                                       .amount = (double)count,
                                       .limit = limit,
                                       .limit_name = limit_name,
                                       .frames = count});
}

static airy_status measure(struct peaks_job *job, struct timing *t)
{
    struct bench *bench = job->bench;
    const airy_stack_info *info = &bench->stack_info;
    const double raw = (double)(info->height * info->width * airy_dtype_size(info->dtype)),
                 stored = (double)info->stored_bytes / (double)info->frames;
    /* integration makes the sums that finding needs */
    airy_status status = bench_repeat(bench, t, integrate_and_find, job);
    const double inside = bench->limits.inside / raw;
    if (status == AIRY_OK)
        add(job, t, "integrate and find peaks, resident", job->count, inside,
            "copy of the decoded frames");
    if (status == AIRY_OK)
        status = bench_repeat(bench, t, find, job);
    if (status == AIRY_OK)
        add(job, t, "find peaks, resident", job->count, inside, "copy of the decoded frames");
    /* what is made once for a run should not count much */
    const size_t replay = bench->params->has_replay ? bench->params->replay
                          : bench->cpu              ? CPU_REPLAY
                                                    : DEVICE_REPLAY;
    if (status == AIRY_OK)
        status = bench_replayed(&job->replayed, bench, replay);
    if (status == AIRY_OK)
        status = bench_repeat(bench, t, run_stack, job);
    if (status == AIRY_OK) {
        const size_t frames = replay * info->frames;
        add(job, t, "peaks of a stack", frames, bench->cpu ? inside : bench->limits.wire / stored,
            bench->cpu ? "copy of the decoded frames" : "copy of these chunks to the device");
        bench_add_fact(bench, "kept pixels of a frame", "",
                       (double)job->info.pixels / (double)frames);
        bench_add_fact(bench, "peaks of a frame", "", (double)job->info.peaks / (double)frames);
    }
    return status;
}

int bench_peaks(struct bench *bench)
{
    const size_t batch = bench->params->batch;
    struct peaks_job job = {.bench = bench,
                            .count = batch ? batch : FRAMES,
                            .run = {.batch = batch, .progress = bench_go_on}};
    struct timing *t = malloc(sizeof(*t));
    airy_status status = t ? open_finder(&job) : AIRY_ERR_MEMORY;
    if (status == AIRY_OK)
        status = make_arrays(&job);
    if (status == AIRY_OK)
        status = push_frames(&job);
    if (status == AIRY_OK)
        status = bench_measure_wire(bench);
    if (status == AIRY_OK)
        status = measure(&job, t);
    airy_array **const arrays[] = {&job.frames,          &job.sums,         &job.stats,
                                   &job.lists.counts,    &job.lists.curves, &job.lists.index,
                                   &job.lists.intensity, &job.lists.peaks};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        airy_array_destroy(arrays[i]);
    airy_stack_destroy(&job.replayed);
    airy_peak_finder_destroy(&job.finder);
    airy_integrator_destroy(&job.integrator);
    free(t);
    return status == AIRY_OK ? AIRY_EXIT_OK : bench_failed(bench, status);
}
