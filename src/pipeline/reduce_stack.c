/*
 * A stack to one image. One lane decodes batches and takes their frames in order; so results do not
 * depend on threads. Frames that a CPU does not have to decode are taken from where they were read
 * to. A median needs all frames of a pixel: it collects strips of rows, in one pass over the stack
 * for each.
 */
#include "airy/reduce_stack.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/backend.h"
#include "engine/run.h"

enum {
    BATCH_BYTES = 64 << 20,  /* of frames that are added up together */
    STRIP_BYTES = 256 << 20, /* of rows of all frames, for medians */
    STRIP_BATCH = 16 << 20,  /* of frames that rows are taken from */
    THREAD_BYTES = 256 << 10 /* that decoding takes beside its frames */
};

struct job {
    const airy_stack *stack;
    const airy_run_params *asked;
    airy_device *device;
    airy_projection by;
    airy_stack_info info;
    size_t frames, frame_bytes; /* of the run; of one of them */
    airy_queue *queue;
    airy_array *result;         /* [1, height, width] */
    airy_array *part, *spread;  /* of a batch: sum or mean, and std */
    airy_array *squares;        /* of std: the sum of squares about the mean so far */
    airy_array *strip;          /* of a median: [frames, rows, width] */
    size_t first_row, rows;     /* of the strip */
    uint64_t one_pass;          /* of airy_reduce_run_info */
    size_t pass, passes, taken; /* taken: frames in the sums or in the strip */
    bool *left_out;             /* [frames] */
    airy_error first_bad;
    struct airy_run run; /* the pass */
    airy_run_params params;
    struct airy_work work;
};

struct reduce_lane {
    struct airy_chunks chunks;  /* of the slot that is being submitted */
    airy_array *frames, *words; /* [batch, height, width] decoded, made when needed; status words */
    size_t place;               /* of its first frame in a strip of whole ones */
    bool rehearsed;
};

/* The strip has whole frames: these are decoded to where they stay. */
static bool strip_is_whole(const struct job *job)
{
    return job->strip && job->rows == job->info.height;
}

/* Stored pixels are taken from the batch. */
static bool takes_stored(const struct job *job)
{
    return job->device->backend->in_place && job->info.codec.codec == AIRY_CODEC_NONE;
}

static void find_need(const struct airy_run *run, size_t batch, struct airy_work_need *need)
{
    const struct job *job = run->job;
    *need = (struct airy_work_need){.results = batch * sizeof(uint32_t),
                                    .decodes = !takes_stored(job) && !strip_is_whole(job)};
}

static airy_status open_lane(struct airy_lane *lane)
{
    struct reduce_lane *own;
    AIRY_TRY(airy_memory_calloc(&lane->work, 1, sizeof(*own), "a lane"));
    own = lane->work;
    return airy_array_create_uninitialized(&own->words, lane->device, AIRY_DTYPE_U32, 1,
                                           &lane->run->plan.batch);
}

static void close_lane(struct airy_lane *lane)
{
    struct reduce_lane *own = lane->work;
    if (!own)
        return;
    airy_array_destroy(&own->frames);
    airy_array_destroy(&own->words);
    free(own);
    lane->work = NULL;
}

/* The status words of its frames, on the host. */
static airy_status open_slot(struct airy_lane *lane, struct airy_slot *slot)
{
    return airy_memory_calloc(&slot->work, lane->run->plan.batch, sizeof(uint32_t), "a slot");
}

static void close_slot(struct airy_lane *lane, struct airy_slot *slot)
{
    (void)lane;
    free(slot->work);
}

/* Frames [first, first + count) of a batch where they are decoded to. */
static airy_status view_decoded(airy_array **view, struct airy_lane *lane, size_t first,
                                size_t count)
{
    const struct job *job = lane->run->job;
    struct reduce_lane *own = lane->work;
    const size_t height = job->info.height, width = job->info.width,
                 all[3] = {lane->run->plan.batch, height, width}, shape[3] = {count, height, width};
    if (strip_is_whole(job) && !takes_stored(job))
        return airy_array_view(view, job->strip, (const size_t[3]){own->place + first, 0, 0},
                               shape);
    if (!own->frames)
        AIRY_TRY(
            airy_array_create_uninitialized(&own->frames, lane->device, job->info.dtype, 3, all));
    return airy_array_view(view, own->frames, (const size_t[3]){first, 0, 0}, shape);
}

static airy_status submit(struct airy_lane *lane, struct airy_slot *slot,
                          const struct airy_chunks *chunks)
{
    const struct job *job = lane->run->job;
    struct reduce_lane *own = lane->work;
    airy_array *frames = NULL;
    own->chunks = *chunks;
    own->place = job->taken;
    if (takes_stored(job))
        return AIRY_OK;
    airy_status status = view_decoded(&frames, lane, 0, slot->frames);
    if (status == AIRY_OK)
        status = airy_lane_decode(lane, slot, chunks, frames, own->words);
    if (status == AIRY_OK)
        status =
            airy_array_pull(lane->compute, slot->work, airy_array_size(own->words), own->words);
    airy_array_destroy(&frames);
    return status;
}

static airy_status submit_decoded(struct airy_lane *lane, struct airy_slot *slot, size_t i,
                                  const airy_array *frame)
{
    airy_array *frames = NULL;
    AIRY_TRY(view_decoded(&frames, lane, 0, slot->frames));
    const airy_status status = airy_lane_place(lane, frames, i, frame);
    airy_array_destroy(&frames);
    return status;
}

/* Whether frame i is where it was read to; else it is where frames are decoded to. */
static bool is_stored(const struct airy_lane *lane, const struct airy_slot *slot, size_t i)
{
    return takes_stored(lane->run->job) && !slot->fates[i].alone;
}

static bool is_good(const struct airy_lane *lane, const struct airy_slot *slot, size_t i)
{
    const uint32_t *words = slot->work;
    return slot->fates[i].error.status == AIRY_OK &&
           (slot->fates[i].alone || takes_stored(lane->run->job) || words[i] == AIRY_FRAME_GOOD);
}

/* Good frames from i on that follow each other at equal distances. */
static size_t count_alike(const struct airy_lane *lane, const struct airy_slot *slot, size_t i)
{
    const struct reduce_lane *own = lane->work;
    size_t end = i;
    while (end < slot->frames && is_good(lane, slot, end) &&
           is_stored(lane, slot, end) == is_stored(lane, slot, i) &&
           (!is_stored(lane, slot, i) || end < i + 2 ||
            airy_lane_stored_at(&own->chunks, end) - airy_lane_stored_at(&own->chunks, end - 1) ==
                airy_lane_stored_at(&own->chunks, i + 1) - airy_lane_stored_at(&own->chunks, i)))
        end++;
    return end - i;
}

/* These frames as an array [count, height, width]. */
static airy_status view_frames(airy_array **view, struct airy_lane *lane,
                               const struct airy_slot *slot, size_t i, size_t count)
{
    const struct job *job = lane->run->job;
    const struct reduce_lane *own = lane->work;
    const size_t shape[3] = {1, job->info.height, job->info.width};
    if (!is_stored(lane, slot, i))
        return view_decoded(view, lane, i, count);
    AIRY_TRY(airy_array_view_as(view, own->chunks.bytes, airy_lane_stored_at(&own->chunks, i),
                                job->info.dtype, 3, shape));
    (*view)->shape[0] = count;
    if (count > 1)
        (*view)->pitch[0] =
            (airy_lane_stored_at(&own->chunks, i + 1) - airy_lane_stored_at(&own->chunks, i)) /
            airy_dtype_size(job->info.dtype);
    return AIRY_OK;
}

/* dst += factor src, with src overwritten. */
static airy_status add_scaled(airy_queue *queue, airy_array *dst, airy_array *src, double factor)
{
    AIRY_TRY(airy_combine_value(queue, src, src, AIRY_MULTIPLY, factor));
    return airy_combine(queue, dst, dst, AIRY_ADD, src);
}

/*
 * Mean and squares of the frames before get `count` more: Chan, Golub, LeVeque, 1979, equations
 * 2.1a and b.
 */
static airy_status merge_spread(struct job *job, airy_queue *q, double count)
{
    const double before = (double)job->taken, all = before + count;
    AIRY_TRY(airy_apply(q, job->spread, AIRY_SQUARE, job->spread));
    AIRY_TRY(add_scaled(q, job->squares, job->spread, count));
    /* From here on part: the distance of the means. */
    AIRY_TRY(airy_combine(q, job->part, job->part, AIRY_SUBTRACT, job->result));
    AIRY_TRY(airy_apply(q, job->spread, AIRY_SQUARE, job->part));
    AIRY_TRY(add_scaled(q, job->squares, job->spread, before * count / all));
    return add_scaled(q, job->result, job->part, count / all);
}

static airy_status take_extreme(struct job *job, airy_queue *q, const airy_array *frame)
{
    if (job->taken++ == 0)
        return airy_array_copy(q, job->result, frame);
    return airy_combine(q, job->result, job->result,
                        job->by == AIRY_PROJECT_MAX ? AIRY_MAXIMUM : AIRY_MINIMUM, frame);
}

/* Rows of a frame to the next place of the strip; it may be there. */
static airy_status take_rows(struct job *job, airy_queue *q, const airy_array *frame)
{
    const size_t from[3] = {0, job->first_row, 0}, to[3] = {job->taken++, 0, 0},
                 shape[3] = {1, job->rows, job->info.width};
    airy_array *src = NULL, *dst = NULL;
    airy_status status = airy_array_view(&src, frame, from, shape);
    if (status == AIRY_OK)
        status = airy_array_view(&dst, job->strip, to, shape);
    if (status == AIRY_OK && (src->buffer != dst->buffer || src->offset != dst->offset))
        status = airy_array_copy(q, dst, src);
    airy_array_destroy(&src);
    airy_array_destroy(&dst);
    return status;
}

static airy_status take_each(struct job *job, airy_queue *q, const airy_array *frames)
{
    const size_t shape[3] = {1, job->info.height, job->info.width};
    for (size_t i = 0; i < frames->shape[0]; i++) {
        airy_array *frame = NULL;
        AIRY_TRY(airy_array_view(&frame, frames, (const size_t[3]){i, 0, 0}, shape));
        const airy_status status = job->by == AIRY_PROJECT_MEDIAN ? take_rows(job, q, frame)
                                                                  : take_extreme(job, q, frame);
        airy_array_destroy(&frame);
        AIRY_TRY(status);
    }
    return AIRY_OK;
}

static airy_status take_frames(struct job *job, airy_queue *q, const airy_array *frames)
{
    const size_t count = frames->shape[0], factor[3] = {count, 1, 1};
    if (!job->part)
        return take_each(job, q, frames);
    if (job->by == AIRY_PROJECT_STD) {
        AIRY_TRY(airy_project(q, job->part, frames, factor, AIRY_PROJECT_MEAN, false));
        AIRY_TRY(airy_project(q, job->spread, frames, factor, AIRY_PROJECT_STD, false));
        AIRY_TRY(merge_spread(job, q, (double)count));
    } else {
        AIRY_TRY(airy_project(q, job->part, frames, factor, AIRY_PROJECT_SUM, false));
        AIRY_TRY(airy_combine(q, job->result, job->result, AIRY_ADD, job->part));
    }
    job->taken += count;
    return AIRY_OK;
}

/* The slot's good frames, in order. */
static airy_status submit_rest(struct airy_lane *lane, struct airy_slot *slot)
{
    struct job *job = lane->run->job;
    struct reduce_lane *own = lane->work;
    if (!own->rehearsed) {
        own->rehearsed = true;
        return AIRY_OK;
    }
    for (size_t i = 0, count; i < slot->frames; i += airy_max_size(count, 1)) {
        count = count_alike(lane, slot, i);
        if (count == 0)
            continue;
        airy_array *frames = NULL;
        AIRY_TRY(view_frames(&frames, lane, slot, i, count));
        const airy_status status = take_frames(job, lane->compute, frames);
        airy_array_destroy(&frames);
        AIRY_TRY(status);
    }
    return AIRY_OK;
}

/* The rows of a median are all of the same frames: one that was read once has to be there. */
static airy_status fail_changed(const struct airy_run *run, size_t row)
{
    char where[512];
    airy_run_where(run, airy_run_frame(run->params, row), where, sizeof(where));
    return airy_hinted(
        AIRY_HINT_STATED,
        airy_fail_on(AIRY_ERR_IO, AIRY_SUBJECT_FRAME,
                     "%s: the frame was there when the first rows were read, and is not now: the "
                     "file was changed meanwhile; repeat the command when it stays as it is",
                     where));
}

static airy_status take(struct airy_lane *lane, struct airy_slot *slot, struct airy_tally *tally)
{
    struct airy_run *run = lane->run;
    struct job *job = run->job;
    const uint32_t *words = slot->work;
    for (; tally->frames < slot->frames; tally->frames++) {
        const size_t i = tally->frames, row = slot->rows[i];
        const uint32_t word = takes_stored(job) ? AIRY_FRAME_GOOD : words[i];
        airy_error error;
        if (!airy_run_frame_is_bad(run, slot, i, word, &error)) {
            tally->stored += slot->sizes[i];
            continue;
        }
        if (job->pass > 0 && error.status == AIRY_ERR_UNWRITTEN)
            return fail_changed(run, row);
        if (job->pass > 0)
            return airy_hinted(AIRY_HINT_FETCH,
                               airy_fail_context(airy_error_restore(&error),
                                                 "read for the first rows, and not again"));
        job->left_out[row] = true;
        if (job->first_bad.status == AIRY_OK)
            job->first_bad = error;
        AIRY_TRY(airy_run_mark_bad(run, row, &error, tally));
    }
    return AIRY_OK;
}

/* What the first pass has left out stays out. */
static bool is_done(const struct airy_run *run, size_t group)
{
    const struct job *job = run->job;
    return job->pass > 0 && job->left_out[group];
}

static bool tell_progress(void *user, size_t done, size_t total)
{
    const struct job *job = user;
    (void)total;
    return job->asked->progress(job->asked->user, job->pass * job->frames + done,
                                job->passes * job->frames);
}

static void tell_message(void *user, airy_log_level level, const char *text)
{
    const struct job *job = user;
    job->asked->message(job->asked->user, level, text);
}

static airy_status open_pass(struct airy_run *run)
{
    struct job *job = run->job;
    AIRY_TRY(airy_run_set_team(run, 1));
    run->team.devices[0] = job->device;
    run->work = &job->work;
    if (job->passes > 1)
        airy_message(&run->messages, AIRY_LOG_INFO, "pass %zu of %zu: rows %zu to %zu",
                     job->pass + 1, job->passes, job->first_row, job->first_row + job->rows - 1);
    return airy_run_open(run);
}

/* The stack once. */
static airy_status read_stack(struct job *job, airy_run_info *out)
{
    job->taken = 0;
    job->run =
        (struct airy_run){.stack = job->stack, .params = &job->params, .out = out, .job = job};
    const airy_status status =
        airy_run_do(&job->run, "airy_stack_reduce", open_pass, airy_run_execute, NULL);
    return status == AIRY_ERR_CANCELLED && job->passes > 1
               ? airy_fail_context(status, "pass %zu of %zu", job->pass + 1, job->passes)
               : status;
}

/* The hint is that of the first bad frame, but to leave such frames out is of no use. */
static airy_status check_taken(const struct job *job, const airy_run_info *out)
{
    const airy_hint hint = job->first_bad.hint;
    AIRY_FAIL_HINT_IF(job->taken == 0, job->first_bad.status,
                      hint == AIRY_HINT_SKIP || hint == AIRY_HINT_GROWING_FRAMES ? AIRY_HINT_FETCH
                                                                                 : hint,
                      AIRY_SUBJECT_NONE, "none of the %zu frame%s can be used, the first: %s",
                      job->frames, job->frames == 1 ? "" : "s", out->first_error);
    return AIRY_OK;
}

static airy_status finish_sums(const struct job *job)
{
    const double frames = (double)job->taken;
    if (job->by == AIRY_PROJECT_MEAN)
        return airy_combine_value(job->queue, job->result, job->result, AIRY_DIVIDE, frames);
    if (job->by != AIRY_PROJECT_STD)
        return AIRY_OK;
    AIRY_TRY(airy_combine_value(job->queue, job->squares, job->squares, AIRY_DIVIDE, frames));
    return airy_apply(job->queue, job->result, AIRY_SQRT, job->squares);
}

/* Of the strip's frames to rows of the result. */
static airy_status make_medians(struct job *job)
{
    const size_t width = job->info.width, factor[3] = {job->taken, 1, 1},
                 to[3] = {0, job->first_row, 0}, zero[3] = {0, 0, 0};
    airy_array *dst = NULL, *src = NULL;
    airy_status status =
        airy_array_view(&src, job->strip, zero, (const size_t[3]){job->taken, job->rows, width});
    if (status == AIRY_OK)
        status = airy_array_view(&dst, job->result, to, (const size_t[3]){1, job->rows, width});
    if (status == AIRY_OK)
        status = airy_project(job->queue, dst, src, factor, AIRY_PROJECT_MEDIAN, false);
    if (status == AIRY_OK)
        status = airy_queue_finish(job->queue);
    airy_array_destroy(&src);
    airy_array_destroy(&dst);
    return status;
}

static airy_status read_strips(struct job *job, airy_reduce_run_info *info)
{
    const size_t height = job->info.height, most = job->rows;
    for (; job->first_row < height; job->first_row += most, job->pass++) {
        airy_run_info later = {0};
        job->rows = airy_min_size(most, height - job->first_row);
        const airy_status status = read_stack(job, job->pass ? &later : &info->run);
        info->run.stopped |= later.stopped || job->run.stopped;
        AIRY_TRY(status);
        /* Asked to stop when the last frame of a pass was done. */
        AIRY_FAIL_IF(job->run.stopped && job->first_row + job->rows < height, AIRY_ERR_CANCELLED,
                     "pass %zu of %zu: cancelled after %zu of %zu frames", job->pass + 1,
                     job->passes, job->frames, job->frames);
        AIRY_TRY(check_taken(job, &info->run));
        assert(job->pass == 0 || job->taken == info->taken);
        info->taken = job->taken;
        AIRY_TRY(make_medians(job));
    }
    return AIRY_OK;
}

/*
 * Rows of a strip of all frames. A limit of memory is for these, the image, a batch of a frame with
 * another one that is being read, and an eighth that reading leaves free.
 */
static airy_status choose_rows(struct job *job)
{
    const airy_stack_info *info = &job->info;
    const size_t row = info->width * airy_dtype_size(info->dtype);
    const uint64_t limit = job->device->params.memory_limit;
    size_t strip; /* of one row */
    AIRY_FAIL_IF(airy_mul_size(&strip, row, job->frames), AIRY_ERR_MEMORY,
                 "a row of pixels of all %zu frames does not fit the address space", job->frames);
    uint64_t most = STRIP_BYTES;
    const uint64_t kept = airy_array_size(job->result) + THREAD_BYTES +
                          2 * (uint64_t)airy_max_size(info->max_chunk, job->frame_bytes);
    if (limit) {
        const uint64_t left = limit - limit / 8 > kept ? limit - limit / 8 - kept : 0;
        AIRY_FAIL_IF(left < strip, AIRY_ERR_MEMORY,
                     "a median of %zu frames needs at least %llu bytes, for a row of pixels of all "
                     "frames, the image and two frames, more than the limit of %llu",
                     job->frames, (unsigned long long)((kept + strip) * 8 / 7 + 1),
                     (unsigned long long)limit);
        most = left < most ? left : most;
    }
    job->rows = airy_min_size(airy_max_size((size_t)(most / strip), 1), info->height);
    job->passes = (info->height + job->rows - 1) / job->rows;
    if (job->passes > 1 && strip <= STRIP_BYTES / info->height)
        job->one_pass = (kept + strip * info->height) * 8 / 7 + 1;
    job->work.batch = airy_max_size(STRIP_BATCH / job->frame_bytes, 1);
    return airy_array_create_uninitialized(&job->strip, job->device, info->dtype, 3,
                                           (const size_t[3]){job->frames, job->rows, info->width});
}

/* f64 images of zeros that the sums need; how many frames are added up together. */
static airy_status make_sums(struct job *job)
{
    const uint64_t limit = job->device->params.memory_limit;
    const uint64_t most = limit && limit / 4 < BATCH_BYTES ? limit / 4 : BATCH_BYTES;
    const size_t shape[3] = {1, job->info.height, job->info.width};
    airy_array **const arrays[3] = {&job->part, &job->squares, &job->spread};
    const int count = job->by == AIRY_PROJECT_MAX || job->by == AIRY_PROJECT_MIN ? 0
                      : job->by == AIRY_PROJECT_STD                              ? 3
                                                                                 : 1;
    job->work.batch = airy_max_size((size_t)(most / job->frame_bytes), 1);
    for (int i = 0; i < count; i++)
        AIRY_TRY(airy_array_create(arrays[i], job->device, AIRY_DTYPE_F64, 3, shape));
    return AIRY_OK;
}

airy_dtype airy_stack_reduce_dtype(airy_projection projection, airy_dtype frames)
{
    return projection == AIRY_PROJECT_MAX || projection == AIRY_PROJECT_MIN ? frames
                                                                            : AIRY_DTYPE_F64;
}

static airy_status open_job(struct job *job, size_t size)
{
    static const struct airy_work work = {
        .need = find_need,
        .open_lane = open_lane,
        .close_lane = close_lane,
        .open_slot = open_slot,
        .close_slot = close_slot,
        .submit = submit,
        .submit_decoded = submit_decoded,
        .submit_rest = submit_rest,
        .take = take,
        .is_done = is_done,
        .slots = 2, /* one is filled while the other one is taken */
        .one_lane = true,
    };
    const airy_stack_info *info = &job->info;
    const airy_dtype dtype = airy_stack_reduce_dtype(job->by, info->dtype);
    const size_t shape[3] = {1, info->height, info->width};
    AIRY_TRY(airy_run_rows(&job->frames, info, job->asked));
    AIRY_FAIL_ON_IF(size != info->height * info->width * airy_dtype_size(dtype), AIRY_ERR_SHAPE,
                    AIRY_SUBJECT_PARAMETER, "%s = %zu, expected %zu x %zu pixels of %s", "size",
                    size, info->height, info->width, airy_dtype_name(dtype));
    job->frame_bytes = info->height * info->width * airy_dtype_size(info->dtype);
    job->work = work;
    job->params = *job->asked;
    job->params.user = job;
    job->params.progress = job->asked->progress ? tell_progress : NULL;
    job->params.message = job->asked->message ? tell_message : NULL;
    job->passes = 1;
    job->rows = info->height;
    AIRY_TRY(airy_memory_calloc((void **)&job->left_out, job->frames, sizeof(bool), "frames"));
    AIRY_TRY(airy_queue_create(&job->queue, job->device));
    AIRY_TRY(airy_array_create(&job->result, job->device, dtype, 3, shape));
    return job->by == AIRY_PROJECT_MEDIAN ? choose_rows(job) : make_sums(job);
}

static airy_status reduce(struct job *job, void *image, size_t size, airy_reduce_run_info *info)
{
    AIRY_TRY(open_job(job, size));
    info->passes = job->passes;
    info->rows = job->rows;
    info->one_pass = job->one_pass;
    if (job->by == AIRY_PROJECT_MEDIAN) {
        AIRY_TRY(read_strips(job, info));
    } else {
        AIRY_TRY(read_stack(job, &info->run));
        AIRY_TRY(check_taken(job, &info->run));
        info->taken = job->taken;
        AIRY_TRY(finish_sums(job));
    }
    AIRY_TRY(airy_array_pull(job->queue, image, size, job->result));
    return airy_queue_finish(job->queue);
}

static void close_job(struct job *job)
{
    airy_array **const arrays[] = {&job->result, &job->part, &job->spread, &job->squares,
                                   &job->strip};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        airy_array_destroy(arrays[i]);
    airy_queue_destroy(&job->queue);
    free(job->left_out);
}

airy_status airy_stack_reduce(void *image, size_t size, const airy_stack *stack,
                              airy_device *device, airy_projection projection,
                              const airy_run_params *params, airy_reduce_run_info *info)
{
    static const airy_run_params defaults;
    airy_reduce_run_info local;
    const uint64_t start = airy_clock_ns();
    struct job job = {
        .stack = stack, .asked = params ? params : &defaults, .device = device, .by = projection};
    info = info ? info : &local;
    *info = (airy_reduce_run_info){.taken = 0};
    AIRY_FAIL_IF(!image || !stack || !device, AIRY_ERR_PARAM,
                 "airy_stack_reduce: image, stack or device is missing");
    AIRY_FAIL_ON_IF((unsigned)projection >= AIRY_PROJECTION_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d is none of airy_projection", "projection",
                    (int)projection);
    AIRY_TRY(airy_run_check_plain(job.asked, "airy_stack_reduce"));
    AIRY_TRY(airy_stack_refuse_pipe(stack, "airy_stack_reduce"));
    AIRY_TRY(airy_stack_get_info(stack, &job.info));
    const airy_status status = reduce(&job, image, size, info);
    airy_error error = {.status = AIRY_OK};
    (void)airy_error_first(&error, status);
    close_job(&job);
    info->run.seconds = (double)(airy_clock_ns() - start) * 1e-9;
    return status == AIRY_OK ? status : airy_error_restore(&error);
}
