/*
 * A stack to sparse frames. A lane has a queue, memory for a batch and a thread that reads, decodes,
 * integrates, finds and lists one batch after another; a device has several lanes, so that one reads
 * or waits while another computes. Batches are written in their order.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/peaks_stack.h"
#include "airy/sparse.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/messages.h"
#include "base/numa.h"
#include "base/size.h"
#include "codec/chunks.h"
#include "core/backend.h"
#include "io/stack/source.h"
#include "peaks/peaks_fns.h"
#include "engine/run.h"

enum { CPU_BATCH = 4, DEVICE_BATCH = 16, CPU_LANES = 2, DEVICE_LANES = 4, MOST_LANES = 64 };

/* What became of a frame. */
struct fate {
    size_t frame; /* of the stack */
    airy_error error;
};

struct run;

struct lane {
    struct run *run;
    const airy_peak_finder *finder;
    airy_queue *queue;
    airy_batch *chunks;
    airy_array *frames, *status, *sums, *stats;
    airy_peak_lists lists;
    uint8_t *pixels;    /* a batch of frames read on the host, made when needed */
    struct fate *fates; /* [batch] */
    size_t *sizes;      /* [batch] bytes as they are stored */
    size_t *row;        /* [batch] fate of the k-th frame on the device */
    uint32_t *counts;   /* [batch][AIRY_PEAK_COUNTS] */
    uint32_t *decoded;  /* [batch] status words */
    float *curves;      /* [batch][2][bins] */
    void *listed[3];    /* index, intensity, peaks of the batch */
    size_t listed_size[3];
    airy_sparse_frame *out; /* [batch] */
    pthread_t thread;
    bool started;
};

struct run {
    const airy_stack *stack;
    airy_stack_info info;
    airy_run_params params;
    size_t frames, batch, batches, frame_bytes;
    airy_sparse_writer *writer;
    struct lane *lanes;
    size_t lane_count;
    pthread_mutex_t lock;
    pthread_cond_t turn;
    size_t next, written; /* batches begun, written */
    struct airy_messages messages;
    bool stopped;
    airy_error error;
    airy_peaks_run_info *out;
};

/* Takes the calling thread's sentence; the first one stays. */
static void fail_run(struct run *run, airy_status status)
{
    pthread_mutex_lock(&run->lock);
    (void)airy_error_first(&run->error, status);
    pthread_cond_broadcast(&run->turn);
    pthread_mutex_unlock(&run->lock);
}

static void set_fate(struct fate *fate, airy_status status)
{
    airy_error_get(&fate->error);
    fate->error.status = status;
}

/* The frame before the sentence of what is wrong with it. */
static airy_status fail_at(const struct run *run, size_t frame, airy_status status)
{
    char where[300];
    if (airy_stack_where(run->stack, frame, where, sizeof(where)) != AIRY_OK)
        snprintf(where, sizeof(where), "frame %zu", frame);
    return airy_fail_frame(status, where);
}

/* One frame's bytes to their place in the batch. */
static void read_stored(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    const struct lane *lane = arg;
    const struct run *run = lane->run;
    struct fate *fate = &lane->fates[index];
    struct airy_frame_source source;
    airy_stack_source(run->stack, fate->frame, &source);
    airy_status status = AIRY_OK;
    if (source.size > lane->sizes[index]) /* its place in the file was not to be read before */
        status = airy_fail(AIRY_ERR_MEMORY, "the batch has no room for %zu bytes", source.size);
    else
        status = airy_stack_fetch(run->stack, fate->frame, airy_batch_place(lane->chunks, index),
                                  source.size);
    if (status != AIRY_OK) {
        airy_batch_index_absent(lane->chunks, index);
    } else if (source.kind != AIRY_SOURCE_CHUNK) {
        airy_batch_index_stored(lane->chunks, index);
    } else {
        status = airy_batch_index(lane->chunks, index, source.size);
        if (status == AIRY_ERR_CORRUPT)
            status = fail_at(run, fate->frame, status);
    }
    if (status != AIRY_OK)
        set_fate(fate, status);
}

/*
 * The frames as they are stored. *fits false: some frame is cut into more blocks than a batch has
 * room for.
 */
static airy_status read_batch(struct lane *lane, size_t n, size_t *good, bool *fits)
{
    for (size_t i = 0; i < n; i++) {
        struct airy_frame_source source;
        airy_stack_source(lane->run->stack, lane->fates[i].frame, &source);
        lane->sizes[i] = source.size;
        lane->row[i] = i;
    }
    const airy_status status = airy_batch_reserve(lane->chunks, n, lane->sizes);
    *fits = status != AIRY_ERR_MEMORY;
    if (status != AIRY_OK)
        return *fits ? status : AIRY_OK;
    airy_pool_run(lane->finder->device->pool, n, read_stored, lane);
    for (size_t i = 0; i < n; i++) {
        const struct fate *fate = &lane->fates[i];
        *fits &= fate->error.status != AIRY_ERR_MEMORY;
        if (fate->error.status != AIRY_OK && fate->error.status != AIRY_ERR_MEMORY &&
            !airy_status_is_of_frame(fate->error.status))
            return airy_error_restore(&fate->error);
    }
    *good = n;
    return AIRY_OK;
}

struct reading {
    struct lane *lane;
    size_t frame_bytes;
};

static void read_one(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    const struct reading *r = arg;
    struct fate *fate = &r->lane->fates[index];
    const airy_status status = airy_stack_read(
        r->lane->run->stack, fate->frame, r->lane->pixels + index * r->frame_bytes, r->frame_bytes);
    if (status != AIRY_OK)
        set_fate(fate, status);
}

/* The same as pixels, side by side. */
static airy_status read_pixels(struct lane *lane, size_t n, size_t *good)
{
    struct run *run = lane->run;
    const size_t bytes = run->frame_bytes;
    if (!lane->pixels)
        AIRY_TRY(airy_memory_alloc((void **)&lane->pixels, run->batch * bytes));
    struct reading reading = {lane, bytes};
    for (size_t i = 0; i < n; i++)
        lane->fates[i].error.status = AIRY_OK;
    airy_pool_run(lane->finder->device->pool, n, read_one, &reading);
    *good = 0;
    for (size_t i = 0; i < n; i++) {
        const struct fate *fate = &lane->fates[i];
        if (fate->error.status != AIRY_OK && !airy_status_is_of_frame(fate->error.status))
            return airy_error_restore(&fate->error);
        if (fate->error.status != AIRY_OK)
            continue;
        if (*good < i)
            memmove(lane->pixels + *good * bytes, lane->pixels + i * bytes, bytes);
        lane->row[(*good)++] = i;
    }
    return AIRY_OK;
}

/* The first n rows of an array. */
static airy_status head(airy_array **view, const airy_array *array, size_t n)
{
    static const size_t origin[AIRY_MAX_DIMS];
    size_t shape[AIRY_MAX_DIMS];
    for (int k = 0; k < array->ndim; k++)
        shape[k] = k ? array->shape[k] : n;
    return airy_array_view(view, array, origin, shape);
}

static airy_status pull_head(const struct lane *lane, void *to, const airy_array *array, size_t n)
{
    airy_array *view = NULL;
    AIRY_TRY(head(&view, array, n));
    const airy_status status = airy_array_pull(lane->queue, to, airy_array_size(view), view);
    airy_array_destroy(&view);
    return status;
}

/* Frames onto the device, their sums, what stands out of them. */
static airy_status compute(struct lane *lane, size_t good, bool from_chunks)
{
    const struct run *run = lane->run;
    enum { VIEWS = 9 };
    airy_array *v[VIEWS] = {NULL};
    const airy_array *const whole[VIEWS] = {
        lane->frames,      lane->status,          lane->sums,
        lane->stats,       lane->lists.counts,    lane->lists.curves,
        lane->lists.index, lane->lists.intensity, lane->lists.peaks};
    const airy_peak_params *limits = &lane->finder->params;
    airy_status status = AIRY_OK;
    for (int i = 0; i < VIEWS && status == AIRY_OK; i++)
        status = head(&v[i], whole[i],
                      i == 8  ? good * limits->max_peaks
                      : i > 5 ? good * limits->max_pixels
                              : good);
    const airy_peak_lists lists = {v[4], v[5], v[6], v[7], v[8]};
    if (status == AIRY_OK)
        status = from_chunks
                     ? airy_decode_batch(lane->queue, v[0], v[1], lane->chunks)
                     : airy_array_push(lane->queue, v[0], lane->pixels, good * run->frame_bytes);
    if (status == AIRY_OK)
        status = airy_integrate(lane->queue, v[2], v[3], lane->finder->integrator, v[0]);
    if (status == AIRY_OK)
        status = airy_find_peaks(lane->queue, &lists, lane->finder, v[2], v[0]);
    if (status == AIRY_OK)
        status = pull_head(lane, lane->counts, lane->lists.counts, good);
    if (status == AIRY_OK)
        status = pull_head(lane, lane->curves, lane->lists.curves, good);
    if (status == AIRY_OK && from_chunks)
        status = pull_head(lane, lane->decoded, lane->status, good);
    if (status == AIRY_OK)
        status = airy_queue_finish(lane->queue);
    for (int i = 0; i < VIEWS; i++)
        airy_array_destroy(&v[i]);
    return status;
}

static airy_status grow(void **block, size_t *size, size_t wanted)
{
    if (wanted <= *size)
        return AIRY_OK;
    free(*block);
    *size = 0;
    *block = malloc(wanted);
    AIRY_FAIL_IF(!*block, AIRY_ERR_MEMORY, "out of memory for %zu bytes of peaks", wanted);
    *size = wanted;
    return AIRY_OK;
}

/* The parts of the lists that are there. */
static airy_status pull_lists(struct lane *lane, size_t good)
{
    const airy_array *const arrays[3] = {lane->lists.index, lane->lists.intensity,
                                         lane->lists.peaks};
    const size_t each[3] = {sizeof(uint32_t), airy_dtype_size(lane->run->info.dtype),
                            sizeof(airy_peak)};
    size_t pixels = 0, peaks = 0;
    for (size_t k = 0; k < good; k++) {
        pixels += lane->counts[k * AIRY_PEAK_COUNTS + AIRY_PEAK_PIXELS];
        peaks += lane->counts[k * AIRY_PEAK_COUNTS + AIRY_PEAK_PEAKS];
    }
    for (int i = 0; i < 3; i++) {
        const size_t n = i < 2 ? pixels : peaks;
        AIRY_TRY(grow(&lane->listed[i], &lane->listed_size[i], n * each[i]));
        if (n > 0)
            AIRY_TRY(pull_head(lane, lane->listed[i], arrays[i], n));
    }
    return airy_queue_finish(lane->queue);
}

/* A frame with more than the finder lists. */
static void judge(struct lane *lane, struct fate *fate, const uint32_t *counts)
{
    const airy_peak_params *p = &lane->finder->params;
    const bool pixels = counts[AIRY_PEAK_PIXELS_FOUND] > p->max_pixels;
    if (!pixels && counts[AIRY_PEAK_PEAKS_FOUND] <= p->max_peaks)
        return;
    const airy_status status = airy_hinted(
        pixels ? AIRY_HINT_MAX_PIXELS : AIRY_HINT_MAX_PEAKS,
        airy_fail(AIRY_ERR_PARAM, "%u %s, at most %zu are listed (%s)",
                  pixels ? counts[AIRY_PEAK_PIXELS_FOUND] : counts[AIRY_PEAK_PEAKS_FOUND],
                  pixels ? "pixels stand out" : "peaks", pixels ? p->max_pixels : p->max_peaks,
                  pixels ? "max_pixels" : "max_peaks"));
    set_fate(fate, fail_at(lane->run, fate->frame, status));
}

/* Rows of the file. */
static void make_rows(struct lane *lane, size_t n, size_t good, bool from_chunks)
{
    const size_t bins = lane->finder->integrator->bins,
                 elem = airy_dtype_size(lane->run->info.dtype);
    size_t pixel = 0, peak = 0;
    for (size_t k = 0; k < good; k++) {
        const uint32_t *counts = lane->counts + k * AIRY_PEAK_COUNTS;
        struct fate *fate = &lane->fates[lane->row[k]];
        airy_sparse_frame *out = &lane->out[lane->row[k]];
        if (fate->error.status == AIRY_OK && from_chunks && lane->decoded[k] != AIRY_FRAME_GOOD) {
            (void)airy_fail(AIRY_ERR_CORRUPT, "%s", airy_frame_error(lane->decoded[k]));
            set_fate(fate, fail_at(lane->run, fate->frame, AIRY_ERR_CORRUPT));
        } else if (fate->error.status == AIRY_OK) {
            judge(lane, fate, counts);
        }
        *out = (airy_sparse_frame){.number = fate->frame};
        if (fate->error.status == AIRY_OK) {
            out->index = (uint32_t *)lane->listed[0] + pixel;
            out->intensity = (char *)lane->listed[1] + pixel * elem;
            out->pixels = counts[AIRY_PEAK_PIXELS];
            out->peaks = (airy_peak *)lane->listed[2] + peak;
            out->peak_count = counts[AIRY_PEAK_PEAKS];
            out->mean = lane->curves + k * 2 * bins;
            out->std = out->mean + bins;
        }
        pixel += counts[AIRY_PEAK_PIXELS];
        peak += counts[AIRY_PEAK_PEAKS];
    }
    for (size_t i = 0; i < n; i++)
        if (lane->fates[i].error.status != AIRY_OK)
            lane->out[i] = (airy_sparse_frame){.number = lane->fates[i].frame,
                                               .message = lane->fates[i].error.text};
}

static airy_status do_batch(struct lane *lane, size_t number, size_t *count)
{
    struct run *run = lane->run;
    const size_t first = number * run->batch, n = airy_min_size(run->batch, run->frames - first);
    size_t good = 0;
    bool chunks = true;
    *count = n;
    for (size_t i = 0; i < n; i++)
        lane->fates[i] = (struct fate){.frame = airy_run_frame(&run->params, first + i)};
    AIRY_TRY(read_batch(lane, n, &good, &chunks));
    if (!chunks)
        AIRY_TRY(read_pixels(lane, n, &good));
    if (good > 0) {
        AIRY_TRY(compute(lane, good, chunks));
        AIRY_TRY(pull_lists(lane, good));
    }
    make_rows(lane, n, good, chunks);
    return AIRY_OK;
}

/* In the batch's turn: what is bad ends the run, or has its message. */
static airy_status deliver(struct lane *lane, size_t n)
{
    struct run *run = lane->run;
    airy_peaks_run_info *out = run->out;
    for (size_t i = 0; i < n; i++) {
        const struct fate *fate = &lane->fates[i];
        if (fate->error.status == AIRY_OK)
            continue;
        if (out->run.bad++ == 0)
            snprintf(out->run.first_error, sizeof(out->run.first_error), "%.511s",
                     fate->error.text);
        if (!run->params.skip_bad && fate->error.status != AIRY_ERR_UNWRITTEN)
            return airy_error_restore(&fate->error);
        airy_message(&run->messages, AIRY_LOG_WARN, "frame %zu was left out: %s", fate->frame,
                     fate->error.text);
    }
    if (run->writer)
        AIRY_TRY(airy_sparse_writer_add(run->writer, lane->out, n));
    for (size_t i = 0; i < n; i++) {
        if (lane->fates[i].error.status != AIRY_OK)
            continue;
        struct airy_frame_source source;
        airy_stack_source(run->stack, lane->fates[i].frame, &source);
        out->run.stored_bytes += source.size;
        out->run.decoded_bytes += run->frame_bytes;
        out->pixels += lane->out[i].pixels;
        out->peaks += lane->out[i].peak_count;
    }
    out->run.frames += n;
    return AIRY_OK;
}

static void do_batches(struct lane *lane)
{
    struct run *run = lane->run;
    for (;;) {
        pthread_mutex_lock(&run->lock);
        const bool ends = run->error.status != AIRY_OK || run->stopped || run->next == run->batches;
        const size_t number = ends ? 0 : run->next++;
        pthread_mutex_unlock(&run->lock);
        if (ends)
            return;
        size_t n = 0;
        airy_status status = do_batch(lane, number, &n);
        airy_error error = {.status = AIRY_OK};
        (void)airy_error_first(&error, status);
        pthread_mutex_lock(&run->lock);
        while (run->written != number && run->error.status == AIRY_OK)
            pthread_cond_wait(&run->turn, &run->lock);
        const bool lost = run->error.status != AIRY_OK;
        pthread_mutex_unlock(&run->lock);
        if (lost)
            return;
        if (status == AIRY_OK)
            status = deliver(lane, n);
        else
            (void)airy_error_restore(&error);
        if (status != AIRY_OK) {
            fail_run(run, status);
            return;
        }
        const bool go_on =
            !run->params.progress ||
            run->params.progress(run->params.user, run->out->run.frames, run->frames);
        pthread_mutex_lock(&run->lock);
        run->written++;
        run->stopped |= !go_on && run->written < run->batches;
        pthread_cond_broadcast(&run->turn);
        pthread_mutex_unlock(&run->lock);
    }
}

static void *work(void *arg)
{
    struct lane *lane = arg;
    airy_numa_bind(lane->finder->device->node);
    do_batches(lane);
    airy_messages_leave(&lane->run->messages);
    return NULL;
}

/* Bytes that a frame takes on a device, in lists and in what leads to them. */
static size_t device_bytes(const struct run *run, const airy_peak_finder *finder)
{
    const airy_peak_params *p = &finder->params;
    return run->frame_bytes + airy_min_size(run->info.max_chunk, run->frame_bytes) +
           p->max_pixels * (sizeof(uint32_t) + airy_dtype_size(run->info.dtype)) +
           p->max_peaks * sizeof(airy_peak) +
           finder->integrator->bins * (AIRY_SUM_PLANES * sizeof(double) + 48);
}

/* Batches that leave the device room for what integration takes. */
static void choose_batch(struct run *run, const airy_peak_finder *finder, size_t lanes)
{
    const size_t room = airy_device_room(finder->device) / 4 / lanes,
                 each = device_bytes(run, finder);
    const bool cpu = finder->device->backend->in_place; /* its frames are better in caches */
    run->batch = run->params.batch ? run->params.batch : cpu ? CPU_BATCH : DEVICE_BATCH;
    if (!run->params.batch) {
        run->batch = airy_min_size(run->batch, airy_max_size(1, room / each));
        /* all lanes have something to do */
        run->batch = airy_min_size(run->batch, (run->frames + lanes - 1) / lanes);
    }
    run->batch = airy_min_size(run->batch, run->frames);
    run->batches = (run->frames + run->batch - 1) / run->batch;
}

static airy_status open_results(struct lane *lane)
{
    const size_t n = lane->run->batch, bins = lane->finder->integrator->bins;
    const struct {
        void **to;
        size_t size;
    } rows[] = {{(void **)&lane->fates, sizeof(*lane->fates)},
                {(void **)&lane->sizes, sizeof(*lane->sizes)},
                {(void **)&lane->row, sizeof(*lane->row)},
                {(void **)&lane->counts, AIRY_PEAK_COUNTS * sizeof(*lane->counts)},
                {(void **)&lane->decoded, sizeof(*lane->decoded)},
                {(void **)&lane->curves, 2 * bins * sizeof(*lane->curves)},
                {(void **)&lane->out, sizeof(*lane->out)}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        AIRY_TRY(airy_memory_calloc(rows[i].to, n, rows[i].size, "frames of a batch"));
    return AIRY_OK;
}

static airy_status open_lane(struct lane *lane)
{
    const struct run *run = lane->run;
    const airy_peak_finder *finder = lane->finder;
    airy_device *device = finder->device;
    const airy_dtype dtype = run->info.dtype;
    const size_t n = run->batch, bins = finder->integrator->bins;
    const size_t frames[3] = {n, run->info.height, run->info.width},
                 sums[3] = {n, AIRY_SUM_PLANES, bins}, stats[2] = {n, sizeof(airy_frame_stats)},
                 counts[2] = {n, AIRY_PEAK_COUNTS}, curves[3] = {n, 2, bins},
                 pixels = n * finder->params.max_pixels,
                 peaks[2] = {n * finder->params.max_peaks, sizeof(airy_peak)};
    AIRY_TRY(airy_queue_create(&lane->queue, device));
    const airy_batch_params params = {.dtype = dtype,
                                      .height = run->info.height,
                                      .width = run->info.width,
                                      .codec = run->info.codec,
                                      .frames = n,
                                      .bytes = (run->info.max_chunk + (64 << 10)) * n};
    AIRY_TRY(airy_batch_create(&lane->chunks, device, &params));
    AIRY_TRY(airy_array_create_uninitialized(&lane->frames, device, dtype, 3, frames));
    AIRY_TRY(airy_array_create_uninitialized(&lane->status, device, AIRY_DTYPE_U32, 1, frames));
    AIRY_TRY(airy_array_create_uninitialized(&lane->sums, device, AIRY_DTYPE_F64, 3, sums));
    AIRY_TRY(airy_array_create_uninitialized(&lane->stats, device, AIRY_DTYPE_U8, 2, stats));
    AIRY_TRY(
        airy_array_create_uninitialized(&lane->lists.counts, device, AIRY_DTYPE_U32, 2, counts));
    AIRY_TRY(
        airy_array_create_uninitialized(&lane->lists.curves, device, AIRY_DTYPE_F32, 3, curves));
    AIRY_TRY(
        airy_array_create_uninitialized(&lane->lists.index, device, AIRY_DTYPE_U32, 1, &pixels));
    AIRY_TRY(airy_array_create_uninitialized(&lane->lists.intensity, device, dtype, 1, &pixels));
    AIRY_TRY(airy_array_create_uninitialized(&lane->lists.peaks, device, AIRY_DTYPE_U8, 2, peaks));
    return open_results(lane);
}

static void close_lane(struct lane *lane)
{
    airy_array **const arrays[] = {&lane->frames,      &lane->status,          &lane->sums,
                                   &lane->stats,       &lane->lists.counts,    &lane->lists.curves,
                                   &lane->lists.index, &lane->lists.intensity, &lane->lists.peaks};
    airy_batch_destroy(&lane->chunks);
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        airy_array_destroy(arrays[i]);
    airy_queue_destroy(&lane->queue);
    airy_memory_release(lane->pixels);
    free(lane->sizes);
    free(lane->fates);
    free(lane->row);
    free(lane->counts);
    free(lane->decoded);
    free(lane->curves);
    free(lane->out);
    for (int i = 0; i < 3; i++)
        free(lane->listed[i]);
}

static airy_status open_writer(struct run *run, const char *path, const airy_peak_finder *finder)
{
    const airy_integrator *it = finder->integrator;
    const airy_dtype dtype = run->info.dtype;
    float *images;
    AIRY_TRY(airy_memory_calloc((void **)&images, 2 * it->pixels, sizeof(*images),
                                "images of a sparse file"));
    airy_status status = airy_peak_finder_images(finder, images, images + it->pixels);
    /* What detectors write where they have no pixel. */
    double dummy = airy_dtype_is_float(dtype) ? (double)NAN
                   : airy_dtype_is_signed(dtype)
                       ? -1
                       : (double)(UINT32_MAX >> (32 - 8 * airy_dtype_size(dtype)));
    if (it->params.has_dummy)
        dummy = it->params.dummy;
    const airy_sparse_writer_params params = {.dtype = dtype,
                                              .height = it->height,
                                              .width = it->width,
                                              .bins = it->bins,
                                              .unit = it->params.unit,
                                              .radial = it->radial,
                                              .radius = images,
                                              .normalization = images + it->pixels,
                                              .dark = finder->corrections.dark,
                                              .dummy = dummy,
                                              .configuration = run->params.configuration,
                                              .force = run->params.force};
    if (status == AIRY_OK)
        status = airy_sparse_writer_create(&run->writer, path, &params);
    free(images);
    return status;
}

static airy_status check_run(struct run *run, const airy_peak_finder *const *finders, size_t count)
{
    AIRY_FAIL_IF(!run->stack || !finders || count == 0 || !finders[0], AIRY_ERR_PARAM,
                 "airy_peaks_stack: stack or finders is missing");
    const airy_run_params *p = &run->params;
    AIRY_FAIL_IF(p->monitor || p->resume || p->parts > 1 || p->group > 1 || p->roi_count ||
                     p->grid[0],
                 AIRY_ERR_PARAM, "airy_peaks_stack: %s is for integration only",
                 p->monitor     ? "monitor"
                 : p->resume    ? "resume"
                 : p->parts > 1 ? "parts"
                 : p->group > 1 ? "group"
                 : p->roi_count ? "rois"
                                : "grid");
    AIRY_TRY(airy_stack_get_info(run->stack, &run->info));
    for (size_t i = 0; i < count; i++) {
        AIRY_FAIL_IF(!finders[i], AIRY_ERR_PARAM, "airy_peaks_stack: finders[%zu] is NULL", i);
        const airy_peak_params *a = &finders[0]->params, *b = &finders[i]->params;
        const airy_integrator *it = finders[i]->integrator;
        AIRY_FAIL_IF(run->info.height != it->height || run->info.width != it->width, AIRY_ERR_SHAPE,
                     "frames have %zu x %zu pixels, the detector '%s' %zu x %zu", run->info.height,
                     run->info.width, it->geometry.detector.name, it->height, it->width);
        AIRY_FAIL_IF(!airy_integrators_agree(finders[0]->integrator, it) || a->noise != b->noise ||
                         a->cutoff_pick != b->cutoff_pick || a->cutoff_peak != b->cutoff_peak ||
                         a->patch != b->patch || a->connected != b->connected ||
                         a->max_pixels != b->max_pixels || a->max_peaks != b->max_peaks,
                     AIRY_ERR_PARAM, "finders[%zu] is not like the first", i);
        AIRY_FAIL_IF(!finders[i]->takes[run->info.dtype], AIRY_ERR_DTYPE,
                     "frames of %s, expected integers of at most 32 bits or floats",
                     airy_dtype_name(run->info.dtype));
    }
    AIRY_TRY(airy_run_rows(&run->frames, &run->info, p));
    run->frame_bytes = run->info.height * run->info.width * airy_dtype_size(run->info.dtype);
    return AIRY_OK;
}

static airy_status open_lanes(struct run *run, const airy_peak_finder *const *finders, size_t count)
{
    const bool cpu = finders[0]->device->backend->in_place;
    const size_t each = run->params.slots ? run->params.slots
                        : cpu             ? CPU_LANES
                                          : DEVICE_LANES,
                 lanes = airy_min_size(airy_min_size(each * count, MOST_LANES), run->frames);
    choose_batch(run, finders[0], airy_min_size(each, lanes));
    AIRY_TRY(airy_memory_calloc((void **)&run->lanes, lanes, sizeof(*run->lanes), "lanes"));
    while (run->lane_count < airy_min_size(lanes, run->batches)) {
        struct lane *lane = &run->lanes[run->lane_count];
        lane->run = run;
        lane->finder = finders[run->lane_count % count];
        run->lane_count++;
        AIRY_TRY(open_lane(lane));
    }
    airy_run_info *out = &run->out->run;
    out->batch = run->batch;
    out->slots = (run->lane_count + count - 1) / count;
    out->device_bytes = out->slots * run->batch * device_bytes(run, finders[0]);
    out->host_bytes = run->lane_count * run->batch * (run->info.max_chunk + (64 << 10));
    return AIRY_OK;
}

static airy_status do_frames(struct run *run)
{
    size_t threads = 0;
    for (size_t i = 0; i < run->lane_count; i++) {
        struct lane *lane = &run->lanes[i];
        lane->started = pthread_create(&lane->thread, NULL, work, lane) == 0;
        if (!lane->started && i == 0)
            return airy_fail(AIRY_ERR_MEMORY, "cannot start the threads of the pipeline");
        threads += lane->started;
    }
    airy_messages_serve(&run->messages, threads);
    for (size_t i = 0; i < run->lane_count; i++)
        if (run->lanes[i].started)
            pthread_join(run->lanes[i].thread, NULL);
    if (run->error.status != AIRY_OK)
        return airy_error_restore(&run->error);
    run->out->run.stopped = run->stopped;
    AIRY_FAIL_IF(run->stopped, AIRY_ERR_CANCELLED, "stopped after %zu of %zu frames",
                 run->out->run.frames, run->frames);
    return run->writer ? airy_sparse_writer_finish(run->writer) : AIRY_OK;
}

airy_status airy_peaks_stack(const char *path, const airy_stack *stack,
                             const airy_peak_finder *const *finders, size_t count,
                             const airy_run_params *params, airy_peaks_run_info *info)
{
    airy_peaks_run_info local;
    struct run run = {.stack = stack,
                      .lock = PTHREAD_MUTEX_INITIALIZER,
                      .turn = PTHREAD_COND_INITIALIZER,
                      .out = info ? info : &local};
    const uint64_t start = airy_clock_ns();
    if (params)
        run.params = *params;
    *run.out = (airy_peaks_run_info){.pixels = 0};
    airy_status status = check_run(&run, finders, count);
    if (status == AIRY_OK)
        status = airy_messages_open(&run.messages, run.params.message, run.params.user, false);
    if (status == AIRY_OK)
        status = open_lanes(&run, finders, count);
    if (status == AIRY_OK && path)
        status = open_writer(&run, path, finders[0]);
    if (status == AIRY_OK)
        status = do_frames(&run);
    airy_error error = {.status = AIRY_OK};
    (void)airy_error_first(&error, status);
    for (size_t i = 0; i < run.lane_count; i++)
        close_lane(&run.lanes[i]);
    free(run.lanes);
    airy_sparse_writer_destroy(&run.writer);
    airy_messages_close(&run.messages);
    pthread_cond_destroy(&run.turn);
    pthread_mutex_destroy(&run.lock);
    run.out->run.seconds = (double)(airy_clock_ns() - start) * 1e-9;
    return status == AIRY_OK ? status : airy_error_restore(&error);
}
