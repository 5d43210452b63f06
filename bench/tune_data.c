/* Frames for `airy tune`, and the jobs that are timed. */
#include <stdlib.h>
#include <string.h>

#include "tune.h"

enum {
    STACK_FRAMES = 64,   /* in the file */
    DISTINCT = 8,        /* in the batches */
    GPU_FRAMES = 32,     /* a batch, */
    OTHER_FRAMES = 4,    /* and where a CPU works */
    LARGE_BLOCK = 32768, /* bytes: more than decode_blocks takes */
    BINS = 1000,
    SAMPLES = 2048,        /* of a spectrum, */
    GPU_SPECTRA = 1 << 15, /* and spectra, */
    OTHER_SPECTRA = 64,
    MOST_REPEATS = 256
};

/* The case "4M" of `airy bench`, for any detector. */
int tune_data_make(struct tune_data *d, const struct common *common, const char *detector)
{
    char json[512];
    d->common = common;
    d->bench.common = common;
    airy_status status = airy_detector_find(&d->geometry.detector, detector);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    const int code = bench_folder(&d->bench);
    if (code != AIRY_EXIT_OK)
        return code;
    bench_name(d->path, &d->bench, "tune.h5");
    snprintf(json, sizeof(json),
             "{\"detector\": \"%s\", \"frames\": %d, \"same-frame\": true, \"increment\": 500}",
             d->geometry.detector.name, STACK_FRAMES);
    return bench_simulate(&d->bench, d->path, json, 0, &d->geometry);
}

void tune_data_remove(struct tune_data *d)
{
    bench_remove_folder(&d->bench);
}

/* The first frames of the file over and over, in blocks of this size (0: the format's). */
static airy_status fill_batch(airy_batch **batch, const struct tune_data *d, size_t frames,
                              uint32_t block_bytes)
{
    const size_t height = d->geometry.detector.height, width = d->geometry.detector.width;
    const size_t size = height * width * sizeof(uint32_t);
    const airy_codec_params codec = {.codec = AIRY_CODEC_BSLZ4,
                                     .elem_size = 4,
                                     .block_bytes = block_bytes,
                                     .threads = tool_threads(d->common)};
    const size_t bound = airy_encode_bound(size, &codec);
    void *pixels = malloc(size), *chunks[DISTINCT] = {NULL};
    size_t sizes[DISTINCT], total = 0;
    airy_status status = pixels ? AIRY_OK : AIRY_ERR_MEMORY;
    for (size_t i = 0; i < DISTINCT && i < frames && status == AIRY_OK; i++) {
        sizes[i] = bound;
        chunks[i] = malloc(bound);
        status = chunks[i] ? airy_stack_read(d->stack, i, pixels, size) : AIRY_ERR_MEMORY;
        if (status == AIRY_OK)
            status = airy_encode(chunks[i], &sizes[i], pixels, size, &codec);
    }
    for (size_t i = 0; i < frames && status == AIRY_OK; i++)
        total += sizes[i % DISTINCT];
    const airy_batch_params params = {.dtype = AIRY_DTYPE_U32,
                                      .height = height,
                                      .width = width,
                                      .codec = codec,
                                      .frames = frames,
                                      .bytes = total + (frames << 16)};
    if (status == AIRY_OK)
        status = airy_batch_create(batch, d->device, &params);
    for (size_t i = 0; i < frames && status == AIRY_OK; i++)
        status = airy_batch_add(*batch, chunks[i % DISTINCT], sizes[i % DISTINCT]);
    for (size_t i = 0; i < DISTINCT; i++)
        free(chunks[i]);
    free(pixels);
    return status;
}

static airy_status create_integrator(struct tune_data *d)
{
    uint8_t *mask = malloc(d->geometry.detector.height * d->geometry.detector.width);
    airy_status status = mask ? airy_detector_mask(&d->geometry.detector, mask) : AIRY_ERR_MEMORY;
    const airy_integrator_params params = {.bins = BINS, .mask = mask, .unit = AIRY_UNIT_Q_NM};
    if (status == AIRY_OK)
        status = airy_integrator_create(&d->integrator, d->device, &d->geometry, &params);
    free(mask);
    return status;
}

/* What the kernels' jobs read and write. */
static airy_status open_batches(struct tune_data *d)
{
    const size_t frames_shape[3] = {d->frames, d->geometry.detector.height,
                                    d->geometry.detector.width};
    const size_t sums_shape[3] = {d->frames, AIRY_SUM_PLANES, BINS};
    const size_t stats_shape[2] = {d->frames, sizeof(airy_frame_stats)}, origin[3] = {0};
    airy_status status = fill_batch(&d->batch, d, d->frames, 0);
    if (status == AIRY_OK)
        status = fill_batch(&d->one, d, 1, 0);
    if (status == AIRY_OK)
        status = fill_batch(&d->large, d, d->frames, LARGE_BLOCK);
    if (status == AIRY_OK)
        status = airy_array_create(&d->pixels, d->device, AIRY_DTYPE_U32, 3, frames_shape);
    if (status == AIRY_OK)
        status = airy_array_create(&d->status, d->device, AIRY_DTYPE_U32, 1, frames_shape);
    if (status == AIRY_OK)
        status = airy_array_create(&d->sums, d->device, AIRY_DTYPE_F64, 3, sums_shape);
    if (status == AIRY_OK)
        status = airy_array_create(&d->stats, d->device, AIRY_DTYPE_U8, 2, stats_shape);
    if (status == AIRY_OK)
        status = airy_array_view(&d->one_sums, d->sums, origin,
                                 (const size_t[3]){1, AIRY_SUM_PLANES, BINS});
    if (status == AIRY_OK)
        status = airy_array_view(&d->one_stats, d->stats, origin,
                                 (const size_t[2]){1, sizeof(airy_frame_stats)});
    return status;
}

/* Spectra that are resampled from wavelengths; what they say does not matter. */
static airy_status open_spectra(struct tune_data *d)
{
    double wavelength_m[SAMPLES];
    for (int i = 0; i < SAMPLES; i++)
        wavelength_m[i] = 1.2e-6 + 0.25e-6 * i / (SAMPLES - 1);
    const airy_oct_params params = {.samples = SAMPLES,
                                    .lines = d->info.gpu ? GPU_SPECTRA : OTHER_SPECTRA,
                                    .dtype = AIRY_DTYPE_U16,
                                    .axis = AIRY_OCT_AXIS_WAVELENGTH,
                                    .axis_table = wavelength_m,
                                    .window = AIRY_OCT_WINDOW_HANN};
    const size_t from[3] = {1, params.lines, SAMPLES}, to[3] = {1, params.lines, SAMPLES / 2};
    airy_status status = airy_oct_create(&d->oct, d->queue, &params);
    if (status == AIRY_OK)
        status = airy_array_create(&d->spectra, d->device, params.dtype, 3, from);
    if (status == AIRY_OK)
        status = airy_array_create(&d->profiles, d->device, AIRY_DTYPE_F32, 3, to);
    return status;
}

airy_status tune_data_open(struct tune_data *d, bool whole)
{
    const airy_device_params params = {.threads = (uint32_t)d->common->threads,
                                       .profile = !whole,
                                       .memory_limit = d->common->memory_limit};
    airy_status status = airy_device_create(&d->device, d->common->device, &params);
    if (status == AIRY_OK)
        status = airy_device_get_info(d->device, &d->info);
    if (status == AIRY_OK)
        status = airy_queue_create(&d->queue, d->device);
    d->frames = d->info.gpu ? GPU_FRAMES : OTHER_FRAMES;
    if (status == AIRY_OK)
        status = airy_stack_create(&d->stack, (const char *[]){d->path}, 1);
    if (status == AIRY_OK)
        status = create_integrator(d);
    if (status == AIRY_OK && !whole)
        status = open_batches(d);
    if (status == AIRY_OK && !whole)
        status = open_spectra(d);
    return status;
}

void tune_data_close(struct tune_data *d)
{
    airy_array_destroy(&d->profiles);
    airy_array_destroy(&d->spectra);
    airy_oct_destroy(&d->oct);
    airy_array_destroy(&d->one_stats);
    airy_array_destroy(&d->one_sums);
    airy_array_destroy(&d->stats);
    airy_array_destroy(&d->sums);
    airy_array_destroy(&d->status);
    airy_array_destroy(&d->pixels);
    airy_batch_destroy(&d->large);
    airy_batch_destroy(&d->one);
    airy_batch_destroy(&d->batch);
    airy_integrator_destroy(&d->integrator);
    airy_stack_destroy(&d->stack);
    airy_queue_destroy(&d->queue);
    airy_device_destroy(&d->device);
}

airy_status tune_data_repeat(struct tune_data *d, double seconds)
{
    airy_run_info info;
    const char *paths[MOST_REPEATS];
    for (size_t i = 0; i < MOST_REPEATS; i++)
        paths[i] = d->path;
    /* The first run compiles; the second says what a file's frames cost. */
    airy_status status = airy_integrate_stack(NULL, d->stack, &d->integrator, 1, NULL, &info);
    if (status == AIRY_OK)
        status = airy_integrate_stack(NULL, d->stack, &d->integrator, 1, NULL, &info);
    const double repeats = status == AIRY_OK ? seconds / info.seconds : 1;
    d->repeats = repeats < 1 ? 1 : repeats > MOST_REPEATS ? MOST_REPEATS : (size_t)repeats;
    if (status != AIRY_OK || d->repeats == 1)
        return status;
    airy_stack_destroy(&d->stack);
    return airy_stack_create(&d->stack, paths, d->repeats);
}

static airy_status finish(struct tune_data *d, airy_status status)
{
    return status == AIRY_OK ? airy_queue_finish(d->queue) : status;
}

static airy_status decode(struct tune_data *d)
{
    return finish(d, airy_decode_batch(d->queue, d->pixels, d->status, d->batch));
}

static airy_status decode_large(struct tune_data *d)
{
    return finish(d, airy_decode_batch(d->queue, d->pixels, d->status, d->large));
}

static airy_status integrate_batch(struct tune_data *d)
{
    return finish(d, airy_integrate_batch(d->queue, d->sums, d->stats, d->integrator, d->batch));
}

static airy_status integrate_one(struct tune_data *d)
{
    return finish(d,
                  airy_integrate_batch(d->queue, d->one_sums, d->one_stats, d->integrator, d->one));
}

static airy_status integrate_frames(struct tune_data *d)
{
    return finish(d, airy_integrate(d->queue, d->sums, d->stats, d->integrator, d->pixels));
}

static airy_status transform_spectra(struct tune_data *d)
{
    return finish(d, airy_oct_process(d->queue, d->oct, d->profiles, d->spectra, NULL));
}

static airy_status integrate_stack(struct tune_data *d)
{
    airy_run_info info;
    return airy_integrate_stack(NULL, d->stack, &d->integrator, 1, NULL, &info);
}

const struct tune_job tune_jobs[] = {
    {"decoding", decode, false},
    {"decoding large blocks", decode_large, false},
    {"integrating compressed frames", integrate_batch, false},
    {"integrating one compressed frame", integrate_one, false},
    {"integrating frames", integrate_frames, false},
    {"spectra to profiles", transform_spectra, false},
    {"a whole run", integrate_stack, true},
};
const size_t tune_job_count = sizeof(tune_jobs) / sizeof(tune_jobs[0]);
