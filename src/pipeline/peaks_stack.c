/*
 * A stack to sparse frames: the work of the engine decodes a batch, integrates it, finds and lists;
 * the writer brings what is listed to the host and into the file, batch by batch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/peaks_stack.h"
#include "airy/sparse.h"
#include "base/error.h"
#include "base/fingerprint.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/backend.h"
#include "engine/run.h"
#include "io/result/layout.h"
#include "io/sparse/partial.h"
#include "peaks/peaks_fns.h"

enum { CPU_BATCH = 4 /* frames that are better in caches */ };

/* The calling thread's only, as batches are taken in turn: writer, partial, out. */
struct job {
    struct airy_run run;
    const char *path;    /* NULL: nothing is written */
    airy_sparse_fn each; /* gets the frames instead; NULL: nobody */
    void *user;          /* of each */
    const airy_peak_finder *const *finders;
    size_t count;
    airy_sparse_writer *writer;
    airy_sparse_partial *partial; /* NULL: nothing is written */
    uint8_t *again; /* [rows] an earlier run has them, but they are made again, and compared */
    bool finished;  /* the file has its name */
    airy_peaks_run_info *out;
};

/* Of a lane: what is of a batch only while it is computed, and what its writer brings to the host. */
struct peaks_lane {
    struct job *job;
    const airy_peak_finder *finder;
    airy_array *frames, *sums, *stats;
    airy_queue *fetch; /* NULL: the device's memory is the host's */
    void *listed[3];   /* index, intensity, peaks of the batch */
    size_t listed_size[3];
    airy_sparse_frame *out; /* [batch] */
};

/* Of a slot: what is found. */
struct peaks_slot {
    airy_array *status;
    airy_peak_lists lists;
    airy_host *host; /* status, counts, curves; NULL: the device's are in the host's memory */
};

static size_t pixel_bytes(const struct airy_run *run)
{
    return airy_dtype_size(run->info.dtype);
}

/* Bytes of status, counts and curves of a frame. */
static size_t small_bytes(const airy_peak_finder *finder)
{
    return sizeof(uint32_t) + AIRY_PEAK_COUNTS * sizeof(uint32_t) +
           2 * finder->integrator->bins * sizeof(float);
}

static void find_need(const struct airy_run *run, size_t batch, struct airy_work_need *need)
{
    const struct job *job = run->job;
    const airy_peak_finder *finder = job->finders[0];
    const airy_peak_params *p = &finder->params;
    const size_t small = small_bytes(finder),
                 lists = p->max_pixels * (sizeof(uint32_t) + pixel_bytes(run)) +
                         p->max_peaks * sizeof(airy_peak),
                 sums = finder->integrator->bins * (AIRY_SUM_PLANES * sizeof(double) + 48);
    const bool copied = !finder->device->backend->in_place;
    *need = (struct airy_work_need){.results = batch * (small + lists),
                                    .scratch = batch * sums,
                                    .copied = batch * small,
                                    .beside = copied ? batch * lists : 0,
                                    .frame = small,
                                    .decodes = true};
}

static airy_status open_lane(struct airy_lane *lane)
{
    const struct airy_run *run = lane->run;
    struct job *job = run->job;
    AIRY_TRY(airy_memory_calloc(&lane->work, 1, sizeof(struct peaks_lane), "a lane"));
    struct peaks_lane *own = lane->work;
    own->job = job;
    own->finder = job->finders[lane->member];
    const size_t n = run->plan.batch, bins = own->finder->integrator->bins;
    const size_t frames[3] = {n, run->info.height, run->info.width},
                 sums[3] = {n, AIRY_SUM_PLANES, bins}, stats[2] = {n, sizeof(airy_frame_stats)};
    AIRY_TRY(airy_memory_calloc((void **)&own->out, n, sizeof(*own->out), "frames"));
    if (!lane->device->backend->in_place)
        AIRY_TRY(airy_queue_create(&own->fetch, lane->device));
    AIRY_TRY(
        airy_array_create_uninitialized(&own->frames, lane->device, run->info.dtype, 3, frames));
    AIRY_TRY(airy_array_create_uninitialized(&own->sums, lane->device, AIRY_DTYPE_F64, 3, sums));
    return airy_array_create_uninitialized(&own->stats, lane->device, AIRY_DTYPE_U8, 2, stats);
}

static void close_lane(struct airy_lane *lane)
{
    struct peaks_lane *own = lane->work;
    if (!own)
        return;
    airy_array_destroy(&own->frames);
    airy_array_destroy(&own->sums);
    airy_array_destroy(&own->stats);
    airy_queue_destroy(&own->fetch);
    for (int i = 0; i < 3; i++)
        free(own->listed[i]);
    free(own->out);
    free(own);
    lane->work = NULL;
}

static airy_status open_slot(struct airy_lane *lane, struct airy_slot *slot)
{
    const struct airy_run *run = lane->run;
    const struct peaks_lane *own = lane->work;
    const airy_peak_params *p = &own->finder->params;
    airy_device *device = lane->device;
    const size_t n = run->plan.batch, counts[2] = {n, AIRY_PEAK_COUNTS},
                 curves[3] = {n, 2, own->finder->integrator->bins}, pixels = n * p->max_pixels,
                 peaks[2] = {n * p->max_peaks, sizeof(airy_peak)};
    AIRY_TRY(airy_memory_calloc(&slot->work, 1, sizeof(struct peaks_slot), "a slot"));
    struct peaks_slot *s = slot->work;
    airy_peak_lists *l = &s->lists;
    AIRY_TRY(airy_array_create_uninitialized(&s->status, device, AIRY_DTYPE_U32, 1, &n));
    AIRY_TRY(airy_array_create_uninitialized(&l->counts, device, AIRY_DTYPE_U32, 2, counts));
    AIRY_TRY(airy_array_create_uninitialized(&l->curves, device, AIRY_DTYPE_F32, 3, curves));
    AIRY_TRY(airy_array_create_uninitialized(&l->index, device, AIRY_DTYPE_U32, 1, &pixels));
    AIRY_TRY(airy_array_create_uninitialized(&l->intensity, device, run->info.dtype, 1, &pixels));
    AIRY_TRY(airy_array_create_uninitialized(&l->peaks, device, AIRY_DTYPE_U8, 2, peaks));
    return device->backend->in_place ? AIRY_OK
                                     : airy_host_create(&s->host, device, run->plan.need.copied);
}

static void close_slot(struct airy_lane *lane, struct airy_slot *slot)
{
    (void)lane;
    struct peaks_slot *s = slot->work;
    if (!s)
        return;
    airy_array **const arrays[] = {&s->status,      &s->lists.counts,    &s->lists.curves,
                                   &s->lists.index, &s->lists.intensity, &s->lists.peaks};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        airy_array_destroy(arrays[i]);
    airy_host_destroy(&s->host);
    free(s);
}

static airy_status submit(struct airy_lane *lane, struct airy_slot *slot,
                          const struct airy_chunks *chunks)
{
    const struct peaks_lane *own = lane->work;
    const struct peaks_slot *s = slot->work;
    return airy_lane_decode(lane, slot, chunks, own->frames, s->status);
}

static airy_status submit_decoded(struct airy_lane *lane, struct airy_slot *slot, size_t i,
                                  const airy_array *frame)
{
    (void)slot;
    const struct peaks_lane *own = lane->work;
    return airy_lane_place(lane, own->frames, i, frame);
}

/* The frames' sums, and what stands out of them. */
static airy_status submit_rest(struct airy_lane *lane, struct airy_slot *slot)
{
    enum { VIEWS = 8 };
    const struct peaks_lane *own = lane->work;
    const struct peaks_slot *s = slot->work;
    const airy_peak_params *p = &own->finder->params;
    const size_t n = slot->frames;
    const struct {
        const airy_array *whole;
        size_t rows;
    } parts[VIEWS] = {{own->frames, n},
                      {own->sums, n},
                      {own->stats, n},
                      {s->lists.counts, n},
                      {s->lists.curves, n},
                      {s->lists.index, n * p->max_pixels},
                      {s->lists.intensity, n * p->max_pixels},
                      {s->lists.peaks, n * p->max_peaks}};
    airy_array *v[VIEWS] = {NULL};
    airy_status status = AIRY_OK;
    for (int i = 0; i < VIEWS && status == AIRY_OK; i++)
        status = airy_lane_head(&v[i], parts[i].whole, parts[i].rows);
    const airy_peak_lists lists = {v[3], v[4], v[5], v[6], v[7]};
    if (status == AIRY_OK)
        status = airy_integrate(lane->compute, v[1], v[2], own->finder->integrator, v[0]);
    if (status == AIRY_OK)
        status = airy_find_peaks(lane->compute, &lists, own->finder, v[1], v[0]);
    for (int i = 0; i < VIEWS; i++)
        airy_array_destroy(&v[i]);
    return status;
}

/* Where status, counts and curves of a slot are on the host. */
struct found {
    uint32_t *status; /* [batch] */
    uint32_t *counts; /* [batch][AIRY_PEAK_COUNTS] */
    float *curves;    /* [batch][2][bins] */
};

static struct found find_results(const struct airy_lane *lane, const struct peaks_slot *s)
{
    const size_t batch = lane->run->plan.batch;
    if (!s->host)
        return (struct found){airy_array_address(s->status), airy_array_address(s->lists.counts),
                              airy_array_address(s->lists.curves)};
    uint32_t *host = airy_host_data(s->host);
    return (struct found){host, host + batch, (void *)(host + batch * (1 + AIRY_PEAK_COUNTS))};
}

static airy_status collect(struct airy_lane *lane, struct airy_slot *slot)
{
    const struct peaks_slot *s = slot->work;
    const struct found to = find_results(lane, s);
    AIRY_TRY(airy_lane_pull(lane->down, to.status, s->status, slot->frames));
    AIRY_TRY(airy_lane_pull(lane->down, to.counts, s->lists.counts, slot->frames));
    return airy_lane_pull(lane->down, to.curves, s->lists.curves, slot->frames);
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

/* The parts of the lists that are there: where index, intensity and peaks are on the host. */
static airy_status bring_lists(struct airy_lane *lane, struct airy_slot *slot,
                               const uint32_t *counts, void *lists[3])
{
    struct peaks_lane *own = lane->work;
    const struct peaks_slot *s = slot->work;
    const airy_array *const arrays[3] = {s->lists.index, s->lists.intensity, s->lists.peaks};
    const size_t each[3] = {sizeof(uint32_t), pixel_bytes(lane->run), sizeof(airy_peak)};
    size_t rows[3] = {0};
    for (size_t k = 0; k < slot->frames; k++) {
        rows[0] += counts[k * AIRY_PEAK_COUNTS + AIRY_PEAK_PIXELS];
        rows[2] += counts[k * AIRY_PEAK_COUNTS + AIRY_PEAK_PEAKS];
    }
    rows[1] = rows[0];
    for (int i = 0; i < 3; i++) {
        if (!own->fetch) {
            lists[i] = airy_array_address(arrays[i]);
            continue;
        }
        AIRY_TRY(grow(&own->listed[i], &own->listed_size[i], rows[i] * each[i]));
        lists[i] = own->listed[i];
        if (rows[i] > 0)
            AIRY_TRY(airy_lane_pull(own->fetch, lists[i], arrays[i], rows[i]));
    }
    return own->fetch ? airy_queue_finish(own->fetch) : AIRY_OK;
}

/* A frame with more than the finder lists. */
static bool has_too_many(const struct airy_run *run, const airy_peak_params *p, size_t frame,
                         const uint32_t *counts, airy_error *error)
{
    const bool pixels = counts[AIRY_PEAK_PIXELS_FOUND] > p->max_pixels;
    if (!pixels && counts[AIRY_PEAK_PEAKS_FOUND] <= p->max_peaks)
        return false;
    char where[300];
    airy_run_where(run, frame, where, sizeof(where));
    (void)airy_fail_frame(
        airy_hinted(
            pixels ? AIRY_HINT_MAX_PIXELS : AIRY_HINT_MAX_PEAKS,
            airy_fail(AIRY_ERR_PARAM, "%u %s, at most %zu are listed (%s)",
                      pixels ? counts[AIRY_PEAK_PIXELS_FOUND] : counts[AIRY_PEAK_PEAKS_FOUND],
                      pixels ? "pixels stand out" : "peaks", pixels ? p->max_pixels : p->max_peaks,
                      pixels ? "max_pixels" : "max_peaks")),
        where);
    airy_error_get(error);
    return true;
}

/* ---- rows of an earlier run ---- */

static bool is_done(const struct airy_run *run, size_t row)
{
    const struct job *job = run->job;
    return job->partial && airy_sparse_partial_has(job->partial, row) && !job->again[row];
}

static bool is_stopped(struct airy_run *run)
{
    pthread_mutex_lock(&run->lock);
    const bool stopped = run->stopped;
    pthread_mutex_unlock(&run->lock);
    return stopped;
}

/* Those below `before` that are not in the file yet. */
static airy_status write_kept(struct job *job, size_t before)
{
    enum { SHOWN = 256 };
    airy_sparse_frame frame;
    size_t row;
    for (size_t count = 1;; count++) {
        AIRY_TRY(airy_sparse_partial_next(job->partial, before, &row, &frame));
        if (row == SIZE_MAX)
            return AIRY_OK;
        AIRY_TRY(airy_sparse_writer_add(job->writer, &frame, 1));
        job->out->pixels += frame.pixels;
        job->out->peaks += frame.peak_count;
        if (count % SHOWN == 0)
            airy_run_show(&job->run);
        AIRY_FAIL_IF(count % SHOWN == 0 && is_stopped(&job->run), AIRY_ERR_CANCELLED,
                     "cancelled while rows of an earlier run were copied");
    }
}

/* Elements of two ascending lists that are in both; those of the same intensity. */
static void count_common(size_t *both, size_t *equal, const airy_sparse_frame *a,
                         const airy_sparse_frame *b, size_t elem)
{
    *both = *equal = 0;
    for (size_t i = 0, k = 0; i < a->pixels && k < b->pixels;) {
        if (a->index[i] == b->index[k]) {
            ++*both;
            *equal += memcmp((const char *)a->intensity + i * elem,
                             (const char *)b->intensity + k * elem, elem) == 0;
        }
        const uint32_t at = a->index[i], other = b->index[k];
        i += at <= other;
        k += other <= at;
    }
}

/*
 * Two results of one frame, maybe of different devices: kept pixels are the frame's own values, and
 * the last bits of the background let few of them, and few values of a ring, be on the other side of
 * a threshold.
 */
static bool is_same_frame(const airy_sparse_frame *a, const airy_sparse_frame *b, size_t bins,
                          size_t elem)
{
    enum { FEW = 2, PART = 50 };
    size_t both, equal, other = 0;
    float largest = 0;
    count_common(&both, &equal, a, b, elem);
    for (size_t i = 0; i < bins; i++)
        largest = fmaxf(largest, fmaxf(fabsf(a->mean[i]), fabsf(b->mean[i])));
    for (size_t i = 0; i < bins; i++)
        other += isnan(a->mean[i]) != isnan(b->mean[i]) ||
                 fabsf(a->mean[i] - b->mean[i]) > 1e-4F * largest;
    const size_t most = airy_max_size(a->pixels, b->pixels);
    return equal == both && most - both <= FEW + most / PART && other <= FEW + bins / PART;
}

/* A row below the last one that an earlier run has: one that was bad then, or one to compare. */
static airy_status write_among_kept(struct job *job, size_t row, const airy_sparse_frame *now)
{
    const struct airy_run *run = &job->run;
    airy_sparse_frame kept;
    size_t found;
    char where[300];
    AIRY_TRY(write_kept(job, row));
    if (!airy_sparse_partial_has(job->partial, row))
        return airy_sparse_writer_add(job->writer, now, 1);
    AIRY_TRY(airy_sparse_partial_next(job->partial, row + 1, &found, &kept));
    airy_run_where(run, now->number, where, sizeof(where));
    AIRY_FAIL_HINT_IF(
        found != row || now->message ||
            !is_same_frame(&kept, now, job->finders[0]->integrator->bins, pixel_bytes(run)),
        AIRY_ERR_FORMAT, AIRY_HINT_STATED, AIRY_SUBJECT_FRAME,
        "%s is another one than when its row was made: the file was replaced%s%.500s; "
        "start anew without resume",
        where, now->message ? " or damaged: " : "", now->message ? now->message : "");
    return airy_sparse_writer_add(job->writer, &kept, 1);
}

/*
 * The first `count` frames of a slot, in the order of the stack with what an earlier run has. Rows
 * among those are not appended to it: what is appended was made after all comparisons.
 */
static airy_status write_frames(struct job *job, const size_t *rows,
                                const airy_sparse_frame *frames, size_t count)
{
    size_t k = 0;
    if (job->each && count > 0)
        return job->each(job->user, frames, count);
    if (!job->writer || count == 0)
        return AIRY_OK;
    for (; k < count && rows[k] < airy_sparse_partial_end(job->partial); k++)
        AIRY_TRY(write_among_kept(job, rows[k], &frames[k]));
    if (k == count)
        return AIRY_OK;
    AIRY_TRY(write_kept(job, SIZE_MAX));
    AIRY_TRY(airy_sparse_partial_add(job->partial, rows + k, frames + k, count - k));
    return airy_sparse_writer_add(job->writer, frames + k, count - k);
}

/* Rows of the file, and the books. */
static airy_status take(struct airy_lane *lane, struct airy_slot *slot, struct airy_tally *tally)
{
    struct airy_run *run = lane->run;
    struct peaks_lane *own = lane->work;
    struct job *job = own->job;
    const size_t bins = own->finder->integrator->bins;
    const struct found found = find_results(lane, slot->work);
    void *lists[3];
    size_t pixel = 0, peak = 0, frames = 0;
    uint64_t pixels = 0, peaks = 0, stored = 0;
    airy_status ended = AIRY_OK;
    AIRY_TRY(bring_lists(lane, slot, found.counts, lists));
    for (; frames < slot->frames; frames++) {
        const size_t k = frames;
        const uint32_t *counts = found.counts + k * AIRY_PEAK_COUNTS;
        const size_t frame = airy_run_frame(run->params, slot->rows[k]);
        airy_sparse_frame *out = &own->out[k];
        airy_error *error = &slot->fates[k].error;
        *out = (airy_sparse_frame){.number = frame};
        if (airy_run_frame_is_bad(run, slot, k, found.status[k], error) ||
            has_too_many(run, &own->finder->params, frame, counts, error)) {
            ended = airy_run_mark_bad(run, slot->rows[k], error, tally);
            if (ended != AIRY_OK)
                break;
            out->message = error->text;
        } else {
            out->index = (uint32_t *)lists[0] + pixel;
            out->intensity = (char *)lists[1] + pixel * pixel_bytes(run);
            out->pixels = counts[AIRY_PEAK_PIXELS];
            out->peaks = (airy_peak *)lists[2] + peak;
            out->peak_count = counts[AIRY_PEAK_PEAKS];
            out->mean = found.curves + k * 2 * bins;
            out->std = out->mean + bins;
            pixels += out->pixels;
            peaks += out->peak_count;
            stored += slot->sizes[k];
        }
        pixel += counts[AIRY_PEAK_PIXELS];
        peak += counts[AIRY_PEAK_PEAKS];
    }
    AIRY_TRY(write_frames(job, slot->rows, own->out, frames));
    job->out->pixels += pixels;
    job->out->peaks += peaks;
    tally->frames = frames;
    tally->stored = stored;
    return ended == AIRY_OK ? AIRY_OK : airy_error_restore(&slot->fates[frames].error);
}

static const struct airy_work work = {
    .need = find_need,
    .open_lane = open_lane,
    .close_lane = close_lane,
    .open_slot = open_slot,
    .close_slot = close_slot,
    .submit = submit,
    .submit_decoded = submit_decoded,
    .submit_rest = submit_rest,
    .collect = collect,
    .take = take,
    .is_done = is_done,
    .in_turn = true,
    .cpu_batch = CPU_BATCH,
};

/* But for its images. */
static airy_sparse_writer_params describe_file(const struct job *job)
{
    const struct airy_run *run = &job->run;
    const airy_integrator *it = job->finders[0]->integrator;
    const airy_dtype dtype = run->info.dtype;
    /* What detectors write where they have no pixel. */
    double dummy = airy_dtype_is_float(dtype) ? (double)NAN
                   : airy_dtype_is_signed(dtype)
                       ? -1
                       : (double)(UINT32_MAX >> (32 - 8 * airy_dtype_size(dtype)));
    if (it->params.has_dummy)
        dummy = it->params.dummy;
    return (airy_sparse_writer_params){.dtype = dtype,
                                       .height = it->height,
                                       .width = it->width,
                                       .bins = it->bins,
                                       .unit = it->params.unit,
                                       .radial = it->radial,
                                       .dark = job->finders[0]->corrections.dark,
                                       .dummy = dummy,
                                       .configuration = run->params->configuration,
                                       .force = run->params->force};
}

static airy_status open_writer(struct job *job)
{
    const airy_peak_finder *finder = job->finders[0];
    const size_t pixels = finder->integrator->pixels;
    float *images;
    AIRY_TRY(airy_memory_calloc((void **)&images, 2 * pixels, sizeof(*images),
                                "images of a sparse file"));
    airy_status status = airy_peak_finder_images(finder, images, images + pixels);
    airy_sparse_writer_params params = describe_file(job);
    params.radius = images;
    params.normalization = images + pixels;
    if (status == AIRY_OK)
        status = airy_sparse_writer_create(&job->writer, job->path, &params);
    free(images);
    return status;
}

/* All that decides a good row: how much is listed at most only decides which rows are bad. */
static struct airy_fingerprint describe_rows(const struct job *job)
{
    const struct airy_run *run = &job->run;
    const airy_peak_params *p = &job->finders[0]->params;
    struct airy_fingerprint f = job->finders[0]->integrator->fingerprint;
    const struct {
        const char *name;
        double number;
    } numbers[] = {{"noise", p->noise},
                   {"cutoff-pick", p->cutoff_pick},
                   {"cutoff-peak", p->cutoff_peak},
                   {"patch", (double)p->patch},
                   {"connected", (double)p->connected},
                   {"first-frame", (double)run->params->first},
                   {"frame-step", (double)airy_max_size(run->params->step, 1)}};
    airy_fingerprint_word(&f, AIRY_FINGERPRINT_ROWS, "dtype", airy_dtype_name(run->info.dtype));
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        airy_fingerprint_number(&f, AIRY_FINGERPRINT_ROWS, numbers[i].name, numbers[i].number);
    return f;
}

/*
 * The newest row of an earlier run, the first, 16 between them, and the first of each file where there
 * are not many are made again: with another stack the file would mix two measurements.
 */
static airy_status choose_again(struct job *job)
{
    enum { BETWEEN = 16, FILES = 1000 };
    const struct airy_run *run = &job->run;
    const size_t end = airy_sparse_partial_end(job->partial);
    const bool by_file = run->info.files > 1 && run->info.files <= FILES;
    const char *last = NULL;
    size_t next = 0;
    AIRY_TRY(airy_memory_calloc((void **)&job->again, run->total_rows, 1, "rows"));
    for (size_t row = 0; row < end; row++) {
        airy_stack_place place = {.path = NULL};
        if (!airy_sparse_partial_has(job->partial, row))
            continue;
        if (by_file)
            AIRY_TRY(airy_stack_get_place(run->stack, airy_run_frame(run->params, row), &place));
        const bool begins = place.path && (!last || strcmp(place.path, last) != 0);
        job->again[row] = begins || row >= next || row + 1 == end;
        next = row < next ? next : row + end / BETWEEN + 1;
        last = begins ? place.path : last;
    }
    return AIRY_OK;
}

/* For PATH.partial, where a file of an interrupted run may be. */
static airy_status make_way(const char *path, bool force)
{
    char *partial;
    AIRY_FAIL_IF(asprintf(&partial, "%s.partial", path) < 0, AIRY_ERR_MEMORY,
                 "out of memory for a path");
    const airy_status status = airy_pattern_clear_partial(partial, force);
    free(partial);
    return status;
}

/* The file, and what an interrupted run leaves of it. */
static airy_status open_files(struct job *job, const char *path)
{
    const struct airy_run *run = &job->run;
    const airy_sparse_writer_params file = describe_file(job);
    const struct airy_fingerprint fingerprint = describe_rows(job);
    const struct airy_sparse_partial_spec spec = {.file = &file,
                                                  .rows = run->total_rows,
                                                  .first = run->params->first,
                                                  .step = airy_max_size(run->params->step, 1),
                                                  .fingerprint = fingerprint.text};
    if (!run->params->resume)
        AIRY_TRY(make_way(path, run->params->force));
    AIRY_TRY(airy_sparse_partial_create(&job->partial, path, &spec, run->params->resume));
    AIRY_TRY(choose_again(job));
    return open_writer(job);
}

static airy_status finish_files(struct job *job)
{
    AIRY_TRY(write_kept(job, SIZE_MAX));
    return airy_sparse_writer_finish(job->writer);
}

static airy_status check_finders(const struct job *job)
{
    const airy_stack_info *info = &job->run.info;
    const airy_peak_finder *const *finders = job->finders;
    for (size_t i = 0; i < job->count; i++) {
        AIRY_FAIL_IF(!finders[i], AIRY_ERR_PARAM, "airy_peaks_stack: finders[%zu] is NULL", i);
        const airy_peak_params *a = &finders[0]->params, *b = &finders[i]->params;
        const airy_integrator *it = finders[i]->integrator;
        AIRY_FAIL_IF(info->height != it->height || info->width != it->width, AIRY_ERR_SHAPE,
                     "frames have %zu x %zu pixels, the detector '%s' %zu x %zu", info->height,
                     info->width, it->geometry.detector.name, it->height, it->width);
        AIRY_FAIL_IF(!airy_integrators_agree(finders[0]->integrator, it) || a->noise != b->noise ||
                         a->cutoff_pick != b->cutoff_pick || a->cutoff_peak != b->cutoff_peak ||
                         a->patch != b->patch || a->connected != b->connected ||
                         a->max_pixels != b->max_pixels || a->max_peaks != b->max_peaks,
                     AIRY_ERR_PARAM, "finders[%zu] is not like the first", i);
        AIRY_FAIL_IF(!finders[i]->takes[info->dtype], AIRY_ERR_DTYPE,
                     "frames of %s, expected integers of at most 32 bits or floats",
                     airy_dtype_name(info->dtype));
    }
    return AIRY_OK;
}

static airy_status open_job(struct airy_run *run)
{
    const struct job *job = run->job;
    airy_run_params others = *run->params;
    AIRY_FAIL_IF(!run->stack, AIRY_ERR_PARAM, "airy_peaks_stack: stack is NULL");
    AIRY_FAIL_IF(!job->finders || job->count == 0 || !job->finders[0], AIRY_ERR_PARAM,
                 "airy_peaks_stack: stack or finders is missing");
    AIRY_FAIL_IF(others.resume && !job->path, AIRY_ERR_PARAM,
                 "airy_peaks_stack: resume continues a file, and path is NULL");
    others.resume = false;
    AIRY_TRY(airy_run_check_plain(&others, "airy_peaks_stack"));
    AIRY_TRY(check_finders(job));
    AIRY_TRY(airy_run_set_team(run, job->count));
    for (size_t i = 0; i < job->count; i++)
        run->team.devices[i] = job->finders[i]->device;
    run->work = &work;
    return airy_run_open(run);
}

static airy_status find_all(struct airy_run *run)
{
    struct job *job = run->job;
    if (!job->path)
        return airy_run_execute(run);
    /* What cannot be done fails before a file is made. */
    AIRY_TRY(airy_run_plan_make(&run->plan, run, NULL, run->total_rows, NULL));
    AIRY_TRY(open_files(job, job->path));
    const airy_status status = airy_run_execute(run);
    AIRY_TRY(airy_hint_becomes(AIRY_HINT_SKIP, AIRY_HINT_SKIP_RESUME, status));
    AIRY_TRY(finish_files(job));
    job->finished = true;
    return AIRY_OK;
}

static void close_job(struct airy_run *run)
{
    struct job *job = run->job;
    const bool kept = run->params->resume || run->out->frames + run->out->resumed > 0;
    airy_sparse_writer_destroy(&job->writer);
    /* What an unfinished run has done can be resumed. */
    airy_sparse_partial_destroy(&job->partial, !job->finished && kept);
    free(job->again);
}

static airy_status run_job(struct job *job, const airy_stack *stack,
                           const airy_peak_finder *const *finders, size_t count,
                           const airy_run_params *params, airy_peaks_run_info *info)
{
    airy_peaks_run_info local;
    job->out = info ? info : &local;
    *job->out = (airy_peaks_run_info){.pixels = 0};
    job->run =
        (struct airy_run){.stack = stack, .params = params, .out = &job->out->run, .job = job};
    job->finders = finders;
    job->count = count;
    return airy_run_do(&job->run, "airy_peaks_stack", open_job, find_all, close_job);
}

airy_status airy_peaks_stack(const char *path, const airy_stack *stack,
                             const airy_peak_finder *const *finders, size_t count,
                             const airy_run_params *params, airy_peaks_run_info *info)
{
    struct job job = {.path = path};
    return run_job(&job, stack, finders, count, params, info);
}

airy_status airy_peaks_each(const airy_stack *stack, const airy_peak_finder *const *finders,
                            size_t count, const airy_run_params *params, airy_sparse_fn each,
                            void *user, airy_peaks_run_info *info)
{
    struct job job = {.each = each, .user = user};
    return run_job(&job, stack, finders, count, params, info);
}
