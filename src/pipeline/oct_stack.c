/*
 * A stack to depth profiles: the work of the engine gives a batch to airy_oct_process, from where its
 * bytes were read to if they follow each other there, and the writer hands the results on in order.
 */
#include "airy/oct_stack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/element.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/backend.h"
#include "engine/run.h"
#include "oct/oct_fns.h"

/* Of raw frames and results; those of a CPU stay in its cache. */
enum { BATCH_BYTES = 64 << 20, CPU_BATCH_BYTES = 8 << 20 };

struct job {
    struct airy_run run;
    struct airy_work work;
    airy_run_params params; /* of the run, with the last frame that a result takes */
    const airy_oct *const *octs;
    size_t count;
    airy_oct_results_fn take;
    void *user;
    airy_oct_run_info *out;
};

/* Of a lane: frames that are not taken from where they were read to. */
struct oct_lane {
    const airy_oct *oct;
    airy_array *frames;    /* [batch, lines, width] as stored */
    airy_array *converted; /* of the plan's dtype; NULL: frames have it */
};

struct oct_slot {
    airy_array *results, *words;
    airy_host *host; /* words, results; NULL: the device's are in the host's memory */
    bool stored;     /* frames were taken from the batch: words say nothing */
};

static bool is_complex(const airy_oct *oct)
{
    return oct->p.output == AIRY_OCT_COMPLEX;
}

static bool converts(const struct airy_run *run, const airy_oct *oct)
{
    return run->info.dtype != oct->p.dtype;
}

/* Bytes in front of the results of a slot on the host: its status words. */
static size_t words_bytes(size_t batch)
{
    return airy_align_up(batch * sizeof(uint32_t), 64);
}

static void find_need(const struct airy_run *run, size_t batch, struct airy_work_need *need)
{
    const struct job *job = run->job;
    const airy_oct *oct = job->octs[0];
    const size_t each = oct->info.frames_per_result,
                 results = words_bytes(batch) + batch / each * oct->info.result_bytes,
                 pixels = run->info.height * run->info.width;
    *need =
        (struct airy_work_need){.results = results,
                                .copied = results,
                                .scratch = converts(run, oct) ? batch * pixels * sizeof(float) : 0,
                                .frame = oct->info.result_bytes / each + sizeof(uint32_t),
                                .decodes = true};
}

static airy_status open_lane(struct airy_lane *lane)
{
    const struct airy_run *run = lane->run;
    const struct job *job = run->job;
    AIRY_TRY(airy_memory_calloc(&lane->work, 1, sizeof(struct oct_lane), "a lane"));
    struct oct_lane *own = lane->work;
    const size_t shape[3] = {run->plan.batch, run->info.height, run->info.width};
    own->oct = job->octs[lane->member];
    if (converts(run, own->oct))
        AIRY_TRY(airy_array_create_uninitialized(&own->converted, lane->device, AIRY_DTYPE_F32, 3,
                                                 shape));
    return airy_array_create_uninitialized(&own->frames, lane->device, run->info.dtype, 3, shape);
}

static void close_lane(struct airy_lane *lane)
{
    struct oct_lane *own = lane->work;
    if (!own)
        return;
    airy_array_destroy(&own->frames);
    airy_array_destroy(&own->converted);
    free(own);
    lane->work = NULL;
}

static airy_status open_slot(struct airy_lane *lane, struct airy_slot *slot)
{
    const struct oct_lane *own = lane->work;
    const airy_oct_info *info = &own->oct->info;
    const size_t batch = lane->run->plan.batch,
                 shape[4] = {batch / info->frames_per_result, info->out_lines, info->depth, 2};
    AIRY_TRY(airy_memory_calloc(&slot->work, 1, sizeof(struct oct_slot), "a slot"));
    struct oct_slot *s = slot->work;
    AIRY_TRY(airy_array_create_uninitialized(&s->words, lane->device, AIRY_DTYPE_U32, 1, &batch));
    AIRY_TRY(airy_array_create_uninitialized(&s->results, lane->device, own->oct->p.to,
                                             is_complex(own->oct) ? 4 : 3, shape));
    return lane->device->backend->in_place
               ? AIRY_OK
               : airy_host_create(&s->host, lane->device, lane->run->plan.need.copied);
}

static void close_slot(struct airy_lane *lane, struct airy_slot *slot)
{
    (void)lane;
    struct oct_slot *s = slot->work;
    if (!s)
        return;
    airy_array_destroy(&s->words);
    airy_array_destroy(&s->results);
    airy_host_destroy(&s->host);
    free(s);
}

/* Whether the slot's frames lie one behind the other where they were read to. */
static bool are_stored(const struct airy_run *run, const struct airy_slot *slot,
                       const struct airy_chunks *chunks)
{
    const size_t size = run->info.height * run->info.width * airy_dtype_size(run->info.dtype);
    if (run->info.codec.codec != AIRY_CODEC_NONE)
        return false;
    for (size_t i = 0; i < slot->frames; i++)
        if (slot->sizes[i] != size || slot->fates[i].pixels ||
            slot->fates[i].error.status != AIRY_OK ||
            airy_lane_stored_at(chunks, i) != airy_lane_stored_at(chunks, 0) + i * size)
            return false;
    return true;
}

/* Enqueue what is done with these frames, which the plan may want as other numbers. */
static airy_status process(struct airy_lane *lane, struct airy_slot *slot, const airy_array *frames)
{
    const struct airy_run *run = lane->run;
    const struct oct_lane *own = lane->work;
    const struct oct_slot *s = slot->work;
    const airy_oct_run from = {
        .first_frame = airy_run_frame(run->params, slot->rows ? slot->rows[0] : 0)};
    airy_array *results = NULL, *converted = NULL;
    airy_status status =
        airy_lane_head(&results, s->results, slot->frames / own->oct->info.frames_per_result);
    if (status == AIRY_OK && own->converted)
        status = airy_lane_head(&converted, own->converted, slot->frames);
    if (status == AIRY_OK && converted)
        status = airy_convert(lane->compute, converted, frames, AIRY_CONVERT_SATURATE, 1, 0);
    if (status == AIRY_OK)
        status = airy_oct_process(lane->compute, own->oct, results, converted ? converted : frames,
                                  &from);
    airy_array_destroy(&results);
    airy_array_destroy(&converted);
    return status;
}

static airy_status submit(struct airy_lane *lane, struct airy_slot *slot,
                          const struct airy_chunks *chunks)
{
    const struct airy_run *run = lane->run;
    const struct oct_lane *own = lane->work;
    struct oct_slot *s = slot->work;
    s->stored = are_stored(run, slot, chunks);
    if (!s->stored)
        return airy_lane_decode(lane, slot, chunks, own->frames, s->words);
    const size_t shape[3] = {slot->frames, run->info.height, run->info.width};
    airy_array *frames = NULL;
    AIRY_TRY(airy_array_view_as(&frames, chunks->bytes, airy_lane_stored_at(chunks, 0),
                                run->info.dtype, 3, shape));
    const airy_status status = process(lane, slot, frames);
    airy_array_destroy(&frames);
    return status;
}

static airy_status submit_decoded(struct airy_lane *lane, struct airy_slot *slot, size_t i,
                                  const airy_array *frame)
{
    const struct oct_lane *own = lane->work;
    (void)slot;
    return airy_lane_place(lane, own->frames, i, frame);
}

static airy_status submit_rest(struct airy_lane *lane, struct airy_slot *slot)
{
    const struct oct_lane *own = lane->work;
    const struct oct_slot *s = slot->work;
    if (s->stored)
        return AIRY_OK;
    airy_array *frames = NULL;
    AIRY_TRY(airy_lane_head(&frames, own->frames, slot->frames));
    const airy_status status = process(lane, slot, frames);
    airy_array_destroy(&frames);
    return status;
}

static airy_status collect(struct airy_lane *lane, struct airy_slot *slot)
{
    const struct oct_lane *own = lane->work;
    const struct oct_slot *s = slot->work;
    char *host = airy_host_data(s->host);
    if (!s->stored)
        AIRY_TRY(airy_lane_pull(lane->down, host, s->words, slot->frames));
    return airy_lane_pull(lane->down, host + words_bytes(lane->run->plan.batch), s->results,
                          slot->frames / own->oct->info.frames_per_result);
}

/* What stands where a frame of a result was bad. */
static void write_nothing(void *result, const airy_oct *oct)
{
    const size_t bytes = oct->info.result_bytes;
    float *values = result;
    if (oct->p.to != AIRY_DTYPE_F32) {
        memset(result, 0, bytes);
        return;
    }
    for (size_t i = 0; i < bytes / sizeof(*values); i++)
        values[i] = NAN;
}

/* Results of frames that are good up to `end`. */
static airy_status hand_on(struct job *job, const struct airy_lane *lane, const char *results,
                           size_t end, struct airy_tally *tally)
{
    const struct oct_lane *own = lane->work;
    const size_t count = end / own->oct->info.frames_per_result;
    const airy_status status = job->take && count ? job->take(job->user, results, count) : AIRY_OK;
    tally->refused = status != AIRY_OK;
    job->out->results += status == AIRY_OK ? count : 0;
    return status;
}

static airy_status take(struct airy_lane *lane, struct airy_slot *slot, struct airy_tally *tally)
{
    struct airy_run *run = lane->run;
    struct job *job = run->job;
    const struct oct_lane *own = lane->work;
    const struct oct_slot *s = slot->work;
    char *host = s->host ? airy_host_data(s->host) : NULL;
    const uint32_t *words = host ? (const void *)host : airy_array_address(s->words);
    char *results = host ? host + words_bytes(run->plan.batch) : airy_array_address(s->results);
    const size_t each = own->oct->info.frames_per_result;
    airy_error ending = {.status = AIRY_OK};
    bool bad = false;
    for (size_t i = 0; i < slot->frames; i++) {
        airy_error error;
        bad = bad && i % each;
        if (airy_run_frame_is_bad(run, slot, i, s->stored ? AIRY_FRAME_GOOD : words[i], &error)) {
            (void)airy_error_first(&ending, airy_run_mark_bad(run, slot->rows[i], &error, tally));
            if (tally->ends)
                break;
            job->out->bad_results += !bad;
            bad = true;
            write_nothing(results + i / each * own->oct->info.result_bytes, own->oct);
        } else {
            tally->stored += slot->sizes[i];
        }
        tally->frames++;
    }
    AIRY_TRY(hand_on(job, lane, results, tally->frames, tally));
    return tally->ends ? airy_error_restore(&ending) : AIRY_OK;
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
    .in_turn = true,
    .bad = "has a result of NaN (0 in integers)",
};

static airy_status check_octs(const struct job *job)
{
    const airy_stack_info *info = &job->run.info;
    for (size_t i = 0; i < job->count; i++) {
        const airy_oct *oct = job->octs[i];
        AIRY_FAIL_IF(!oct, AIRY_ERR_PARAM, "airy_oct_stack: octs[%zu] is NULL", i);
        const airy_oct_params *p = &oct->p;
        const size_t width = p->packing ? oct->info.line_bytes : p->samples;
        AIRY_FAIL_IF(info->height != p->lines || info->width != width, AIRY_ERR_SHAPE,
                     "frames have %zu lines of %zu, expected %zu of %zu", info->height, info->width,
                     p->lines, width);
        AIRY_FAIL_IF(info->dtype != (p->packing ? AIRY_DTYPE_U8 : p->dtype) &&
                         (p->packing || p->dtype != AIRY_DTYPE_F32),
                     AIRY_ERR_DTYPE, "frames of %s, expected %s", airy_dtype_name(info->dtype),
                     airy_dtype_name(p->packing ? AIRY_DTYPE_U8 : p->dtype));
        AIRY_FAIL_IF(oct->info.result_bytes != job->octs[0]->info.result_bytes ||
                         oct->info.frames_per_result != job->octs[0]->info.frames_per_result ||
                         p->to != job->octs[0]->p.to || p->output != job->octs[0]->p.output,
                     AIRY_ERR_PARAM, "octs[%zu] is not like the first", i);
    }
    return AIRY_OK;
}

/* Whole results of the frames that are asked for, and what is in a batch. */
static airy_status choose_frames(struct job *job)
{
    const struct airy_run *run = &job->run;
    const airy_oct_info *info = &job->octs[0]->info;
    const size_t each = info->frames_per_result,
                 frame = run->info.height * run->info.width * airy_dtype_size(run->info.dtype);
    size_t frames;
    AIRY_FAIL_ON_IF(job->params.step > 1, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, expected 1: frames follow each other", "step", job->params.step);
    AIRY_TRY(airy_run_rows(&frames, &run->info, &job->params));
    job->out->left_over = frames % each;
    AIRY_FAIL_IF(frames < each, AIRY_ERR_SHAPE, "%zu frame%s chosen, but a result takes %zu",
                 frames, frames == 1 ? " is" : "s are", each);
    job->params.last = job->params.first + frames - frames % each;
    job->work.multiple = each;
    const size_t bytes = job->octs[0]->device->backend->in_place ? CPU_BATCH_BYTES : BATCH_BYTES;
    job->work.batch = airy_max_size(bytes / (frame + info->result_bytes / each), 1);
    return AIRY_OK;
}

static airy_status open_job(struct airy_run *run)
{
    struct job *job = run->job;
    AIRY_FAIL_IF(!run->stack, AIRY_ERR_PARAM, "airy_oct_stack: stack is NULL");
    AIRY_FAIL_IF(!job->octs || job->count == 0 || !job->octs[0], AIRY_ERR_PARAM,
                 "airy_oct_stack: octs is missing");
    AIRY_TRY(airy_run_check_plain(run->params, "airy_oct_stack"));
    AIRY_TRY(check_octs(job));
    AIRY_TRY(choose_frames(job));
    AIRY_TRY(airy_run_set_team(run, job->count));
    for (size_t i = 0; i < job->count; i++)
        run->team.devices[i] = job->octs[i]->device;
    return airy_run_open(run);
}

static airy_status make_plan(struct airy_run *run)
{
    return airy_run_plan_make(&run->plan, run, NULL, run->total_rows, NULL);
}

static airy_status run_job(struct job *job, const airy_stack *stack, const airy_run_params *params,
                           airy_oct_run_info *info, airy_status (*perform)(struct airy_run *run))
{
    airy_oct_run_info local;
    job->out = info ? info : &local;
    *job->out = (airy_oct_run_info){.results = 0};
    job->work = work;
    job->params = params ? *params : (airy_run_params){.first = 0};
    job->run = (struct airy_run){.stack = stack,
                                 .params = &job->params,
                                 .out = &job->out->run,
                                 .work = &job->work,
                                 .job = job};
    return airy_run_do(&job->run, "airy_oct_stack", open_job, perform, NULL);
}

airy_status airy_oct_stack(const airy_stack *stack, const airy_oct *const *octs, size_t count,
                           const airy_run_params *params, airy_oct_results_fn take_results,
                           void *user, airy_oct_run_info *info)
{
    struct job job = {.octs = octs, .count = count, .take = take_results, .user = user};
    return run_job(&job, stack, params, info, airy_run_execute);
}

airy_status airy_oct_stack_plan(airy_oct_run_info *info, const airy_stack *stack,
                                const airy_oct *const *octs, size_t count,
                                const airy_run_params *params)
{
    struct job job = {.octs = octs, .count = count};
    return run_job(&job, stack, params, info, make_plan);
}
