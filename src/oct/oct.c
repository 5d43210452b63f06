#include "airy/oct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/backend.h"
#include "oct/oct_fns.h"

/*
 * Spectra between the two steps of frames that need both; frames are taken in pieces of so much. On a
 * host it is about what stays in its threads' caches (of 4 repeats and 4 threads, 8 MiB took a third
 * of the time of 64), on other devices enough to keep one busy.
 */
enum {
    PIECE_BYTES = 64 << 20,
    HOST_PIECE_BYTES = 8 << 20,
    PATTERN_SEGMENTS = 9,
    MAX_REPEATS = 4096
};

/* ---- parameters ---- */

static airy_status check_raw(airy_oct_params *p)
{
    AIRY_FAIL_ON_IF(p->samples < AIRY_OCT_MIN_SAMPLES || p->samples > AIRY_OCT_MAX_SAMPLES,
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s = %zu, expected %d to %d",
                    "samples", p->samples, AIRY_OCT_MIN_SAMPLES, AIRY_OCT_MAX_SAMPLES);
    AIRY_FAIL_ON_IF(p->lines < 1 || p->lines > AIRY_OCT_MAX_LINES, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %zu, expected 1 to %d", "lines", p->lines,
                    AIRY_OCT_MAX_LINES);
    AIRY_FAIL_ON_IF((unsigned)p->packing >= AIRY_OCT_PACKING_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d is none of airy_oct_packing", "packing",
                    (int)p->packing);
    if (p->packing != AIRY_OCT_PACKING_NONE) {
        const int bits = p->packing == AIRY_OCT_PACKING_10 ? 10 : 12;
        AIRY_FAIL_ON_IF(p->dtype == AIRY_DTYPE_I16, AIRY_ERR_DTYPE, AIRY_SUBJECT_PARAMETER,
                        "%s = int16 with packing, packed samples are unsigned", "dtype");
        AIRY_FAIL_ON_IF(p->samples * bits % 8 != 0, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                        "%s = %zu of %d bits do not fill whole bytes", "samples", p->samples, bits);
        p->dtype = AIRY_DTYPE_U8;
    }
    AIRY_FAIL_ON_IF(p->dtype != AIRY_DTYPE_F32 && p->dtype != AIRY_DTYPE_U8 &&
                        p->dtype != AIRY_DTYPE_U16 && p->dtype != AIRY_DTYPE_I16,
                    AIRY_ERR_DTYPE, AIRY_SUBJECT_PARAMETER,
                    "%s = %s, expected uint8, uint16, int16 or float32", "dtype",
                    airy_dtype_name(p->dtype));
    AIRY_FAIL_ON_IF(p->bit_shift < 0 || p->bit_shift > 15, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %d, expected 0 to 15", "bit_shift", p->bit_shift);
    AIRY_FAIL_ON_IF(p->bit_shift > 0 && p->dtype == AIRY_DTYPE_F32, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d of float32, expected 0", "bit_shift",
                    p->bit_shift);
    return AIRY_OK;
}

static airy_status check_spectrum(airy_oct_params *p)
{
    AIRY_FAIL_ON_IF((unsigned)p->background >= AIRY_OCT_BACKGROUND_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d is none of airy_oct_background", "background",
                    (int)p->background);
    AIRY_FAIL_IF(p->background == AIRY_OCT_BACKGROUND_LINE && !p->background_line, AIRY_ERR_PARAM,
                 "background_line is NULL, expected %zu samples", p->samples);
    AIRY_FAIL_ON_IF(p->background == AIRY_OCT_BACKGROUND_ROLLING &&
                        (p->rolling < 1 || p->rolling > p->samples),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s = %zu, expected 1 to %zu",
                    "rolling", p->rolling, p->samples);
    AIRY_FAIL_ON_IF((unsigned)p->axis >= AIRY_OCT_AXIS_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d is none of airy_oct_axis", "axis",
                    (int)p->axis);
    AIRY_FAIL_ON_IF((unsigned)p->interpolation >= AIRY_OCT_INTERPOLATION_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d is none of airy_oct_interpolation",
                    "interpolation", (int)p->interpolation);
    AIRY_FAIL_ON_IF((unsigned)p->window >= AIRY_OCT_WINDOW_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d is none of airy_oct_window", "window",
                    (int)p->window);
    if (p->window_center == 0)
        p->window_center = 0.5;
    if (p->window_fill == 0)
        p->window_fill = 1;
    AIRY_FAIL_ON_IF(!(p->window_center > 0 && p->window_center <= 1), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %g, expected above 0 up to 1", "window_center",
                    p->window_center);
    const double widest = p->window == AIRY_OCT_WINDOW_GAUSS ? 1e6 : 1;
    AIRY_FAIL_ON_IF(!(p->window_fill > 0 && p->window_fill <= widest), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %g, expected above 0 up to %g", "window_fill",
                    p->window_fill, widest);
    AIRY_FAIL_ON_IF((unsigned)p->compat >= AIRY_OCT_COMPAT_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d is none of airy_oct_compat", "compat",
                    (int)p->compat);
    if (p->compat == AIRY_OCT_COMPAT_PYMOTIONOCT)
        p->window_first = true;
    return AIRY_OK;
}

static airy_status check_repeats(airy_oct_params *p)
{
    if (p->average_lines == 0)
        p->average_lines = 1;
    if (p->average_frames == 0)
        p->average_frames = 1;
    AIRY_FAIL_ON_IF((unsigned)p->flow >= AIRY_OCT_FLOW_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d is none of airy_oct_flow", "flow",
                    (int)p->flow);
    AIRY_FAIL_ON_IF((unsigned)p->flip >= AIRY_OCT_FLIP_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d is none of airy_oct_flip", "flip",
                    (int)p->flip);
    if (p->flow == AIRY_OCT_FLOW_NONE) {
        p->repeats = 1;
    } else {
        const bool phase = p->flow == AIRY_OCT_FLOW_PHASE;
        AIRY_FAIL_ON_IF(p->repeats < 2 || p->repeats > MAX_REPEATS, AIRY_ERR_PARAM,
                        AIRY_SUBJECT_PARAMETER, "%s = %zu, expected 2 to %d", "repeats", p->repeats,
                        MAX_REPEATS);
        AIRY_FAIL_IF(phase ? p->output != AIRY_OCT_PHASE : p->output > AIRY_OCT_POWER,
                     AIRY_ERR_PARAM, "output of flow by %s must be %s",
                     phase ? "phase" : "variance", phase ? "phase" : "db, magnitude or power");
        AIRY_FAIL_IF(!p->flow_frames && p->flip != AIRY_OCT_FLIP_NONE, AIRY_ERR_PARAM,
                     "flip with flow between lines, whose order would change");
    }
    AIRY_FAIL_ON_IF(p->average_frames > MAX_REPEATS, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, expected 1 to %d", "average_frames", p->average_frames, MAX_REPEATS);
    const size_t repeats = p->flow_frames ? 1 : p->repeats;
    AIRY_FAIL_ON_IF(p->average_lines > p->lines || p->lines % (p->average_lines * repeats) != 0,
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, expected a multiple of average_lines = %zu times %zu repeats",
                    "lines", p->lines, p->average_lines, repeats);
    return AIRY_OK;
}

static airy_status check_result(airy_oct_params *p)
{
    AIRY_FAIL_ON_IF((unsigned)p->output >= AIRY_OCT_OUTPUT_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d is none of airy_oct_output", "output",
                    (int)p->output);
    if (p->depth_last == 0)
        p->depth_last = p->samples / 2;
    AIRY_FAIL_ON_IF(p->depth_last > p->samples / 2 + 1, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, expected at most %zu", "depth_last", p->depth_last,
                    p->samples / 2 + 1);
    AIRY_FAIL_ON_IF(p->depth_first >= p->depth_last, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, expected less than depth_last = %zu", "depth_first", p->depth_first,
                    p->depth_last);
    AIRY_FAIL_ON_IF(p->fixed_pattern > MAX_REPEATS, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu frames, expected at most %d", "fixed_pattern", p->fixed_pattern,
                    MAX_REPEATS);
    AIRY_FAIL_ON_IF(p->fixed_pattern && p->fixed_pattern * p->lines < PATTERN_SEGMENTS,
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu frames of %zu lines, expected %d lines", "fixed_pattern",
                    p->fixed_pattern, p->lines, PATTERN_SEGMENTS);
    AIRY_FAIL_ON_IF(p->to != AIRY_DTYPE_F32 && p->to != AIRY_DTYPE_U8 && p->to != AIRY_DTYPE_U16,
                    AIRY_ERR_DTYPE, AIRY_SUBJECT_PARAMETER,
                    "%s = %s, expected float32, uint8 or uint16", "to", airy_dtype_name(p->to));
    AIRY_FAIL_ON_IF(p->to != AIRY_DTYPE_F32 && !p->display, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %s without display, whose limits define its numbers", "to",
                    airy_dtype_name(p->to));
    AIRY_FAIL_IF(p->post_background && !p->display, AIRY_ERR_PARAM,
                 "post_background without display");
    if (!p->display)
        return AIRY_OK;
    if (p->multiply == 0)
        p->multiply = 1;
    AIRY_FAIL_IF(p->output == AIRY_OCT_COMPLEX, AIRY_ERR_PARAM, "display of complex numbers");
    AIRY_FAIL_ON_IF(!isfinite(p->low) || !isfinite(p->high) || !(p->low < p->high), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %g, high = %g, expected finite numbers that rise",
                    "low", p->low, p->high);
    AIRY_FAIL_ON_IF(!isfinite(p->multiply) || !isfinite(p->add), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %g, add = %g, expected finite numbers",
                    "multiply", p->multiply, p->add);
    AIRY_FAIL_ON_IF(!isfinite(p->post_weight) || !isfinite(p->post_offset), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %g, post_offset = %g, expected finite numbers",
                    "post_weight", p->post_weight, p->post_offset);
    return AIRY_OK;
}

static airy_status check_params(airy_oct_params *p)
{
    AIRY_TRY(check_raw(p));
    AIRY_TRY(check_spectrum(p));
    AIRY_TRY(check_result(p));
    return check_repeats(p);
}

/* ---- the object ---- */

static airy_oct_finish make_finish(const airy_oct_params *p)
{
    const double half = p->compat == AIRY_OCT_COMPAT_OCTPROZ ? 2.0 / (double)p->samples : 1,
                 range = p->display ? p->high - p->low : 1;
    return (airy_oct_finish){
        .power_scale = (float)half,
        .magnitude_scale = (float)half,
        .scale = (float)(p->display ? p->multiply / range : 1),
        .offset = (float)(p->display ? p->multiply * (p->add - p->low / range) : 0),
        .top = p->to == AIRY_DTYPE_U8    ? 255.0f
               : p->to == AIRY_DTYPE_U16 ? 65535.0f
                                         : 0.0f,
        .display = p->display};
}

unsigned airy_oct_sample_bits(const airy_oct_params *params)
{
    return params->packing == AIRY_OCT_PACKING_10   ? 10
           : params->packing == AIRY_OCT_PACKING_12 ? 12
                                                    : 8 * (unsigned)airy_dtype_size(params->dtype);
}

static airy_status fill_info(airy_oct_info *info, const airy_oct_params *p)
{
    const size_t repeats_lines = p->flow_frames ? 1 : p->repeats,
                 repeats_frames = p->flow_frames ? p->repeats : 1,
                 parts = p->output == AIRY_OCT_COMPLEX ? 2 : 1;
    *info = (airy_oct_info){.depth = p->depth_last - p->depth_first,
                            .depth_step_m = airy_oct_depth_step(p),
                            .line_bytes = p->samples * airy_oct_sample_bits(p) / 8,
                            .out_lines = p->lines / (p->average_lines * repeats_lines),
                            .frames_per_result = p->average_frames * repeats_frames,
                            .method = ""};
    /* At most 2^20 lines of 2^15 bytes. */
    info->frame_bytes = p->lines * info->line_bytes;
    info->result_bytes = info->out_lines * info->depth * parts * airy_dtype_size(p->to);
    AIRY_FAIL_IF(p->sinusoidal && info->out_lines < 2, AIRY_ERR_PARAM,
                 "sinusoidal with %zu lines of a result, expected 2 or more", info->out_lines);
    return AIRY_OK;
}

static airy_status get_fns(const struct airy_oct_fns **fns, const airy_queue *queue)
{
    *fns = airy_queue_backend(queue)->oct;
    AIRY_FAIL_IF(!*fns, AIRY_ERR_UNSUPPORTED, "back end '%s' does not implement oct",
                 airy_queue_backend(queue)->name);
    return AIRY_OK;
}

static airy_status make_oct(struct airy_oct *oct, airy_queue *queue, const airy_oct_params *params)
{
    const struct airy_oct_fns *fns;
    AIRY_TRY(get_fns(&fns, queue));
    AIRY_TRY(check_params(&oct->p));
    AIRY_TRY(airy_oct_tables_make(&oct->tables, &oct->p));
    AIRY_TRY(fill_info(&oct->info, &oct->p));
    oct->finish = make_finish(&oct->p);
    oct->conjugate = params->compat == AIRY_OCT_COMPAT_OCTPROZ;
    oct->p.background_line = oct->p.axis_table = oct->p.window_table = oct->p.phase_table = NULL;
    return fns->prepare(queue, oct);
}

airy_status airy_oct_create(airy_oct **oct, airy_queue *queue, const airy_oct_params *params)
{
    void *block;
    AIRY_FAIL_ON_IF(!oct || !queue || !params, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s is NULL",
                    !oct     ? "oct"
                    : !queue ? "queue"
                             : "params");
    AIRY_TRY(airy_memory_calloc(&block, 1, sizeof(struct airy_oct), "an OCT plan"));
    struct airy_oct *made = block;
    made->device = queue->device;
    made->p = *params;
    const airy_status status = make_oct(made, queue, params);
    if (status != AIRY_OK) {
        airy_oct_destroy(&made);
        return status;
    }
    *oct = made;
    return AIRY_OK;
}

airy_status airy_oct_get_info(const airy_oct *oct, airy_oct_info *info)
{
    AIRY_FAIL_ON_IF(!oct || !info, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s is NULL",
                    oct ? "info" : "oct");
    *info = oct->info;
    return AIRY_OK;
}

void airy_oct_destroy(airy_oct **oct)
{
    if (!oct || !*oct)
        return;
    struct airy_oct *old = *oct;
    if (old->impl)
        old->device->backend->oct->release(old);
    airy_array_destroy(&old->pattern);
    airy_array_destroy(&old->post);
    airy_oct_tables_free(&old->tables);
    free(old);
    *oct = NULL;
}

/* ---- processing ---- */

static airy_status check_src(size_t *frames, const airy_queue *queue, const airy_oct *oct,
                             const airy_array *src)
{
    char text[96];
    const airy_oct_params *p = &oct->p;
    const size_t width = p->packing ? oct->info.line_bytes : p->samples;
    AIRY_TRY(airy_check_device(queue, src, "src"));
    AIRY_FAIL_IF(queue->device != oct->device, AIRY_ERR_PARAM, "queue is of %s, oct of %s",
                 queue->device->info.spec, oct->device->info.spec);
    AIRY_FAIL_IF(src->dtype != p->dtype, AIRY_ERR_DTYPE, "src is %s, expected %s",
                 airy_array_describe(src, text), airy_dtype_name(p->dtype));
    AIRY_FAIL_IF(src->ndim != 3 || src->shape[1] != p->lines || src->shape[2] != width,
                 AIRY_ERR_SHAPE, "src is %s, expected [frames, %zu, %zu]",
                 airy_array_describe(src, text), p->lines, width);
    AIRY_FAIL_IF(!airy_array_is_tight(src), AIRY_ERR_SHAPE, "src is a view with gaps");
    *frames = src->shape[0];
    return AIRY_OK;
}

static airy_status check_dst(const airy_queue *queue, const airy_oct *oct, const airy_array *dst,
                             const airy_array *src, size_t frames)
{
    char text[96];
    const airy_oct_info *info = &oct->info;
    const bool complex = oct->p.output == AIRY_OCT_COMPLEX;
    AIRY_FAIL_IF(frames % info->frames_per_result != 0, AIRY_ERR_SHAPE,
                 "src has %zu frames, expected a multiple of %zu", frames, info->frames_per_result);
    const size_t shape[4] = {frames / info->frames_per_result, info->out_lines, info->depth, 2};
    AIRY_TRY(airy_check_device(queue, dst, "dst"));
    AIRY_FAIL_IF(dst->dtype != oct->p.to, AIRY_ERR_DTYPE, "dst is %s, expected %s",
                 airy_array_describe(dst, text), airy_dtype_name(oct->p.to));
    AIRY_FAIL_IF(dst->ndim != (complex ? 4 : 3) ||
                     memcmp(dst->shape, shape, (complex ? 4 : 3) * sizeof(size_t)) != 0,
                 AIRY_ERR_SHAPE, "dst is %s, expected [%zu, %zu, %zu%s]",
                 airy_array_describe(dst, text), shape[0], shape[1], shape[2],
                 complex ? ", 2" : "");
    AIRY_FAIL_IF(!airy_array_is_tight(dst), AIRY_ERR_SHAPE, "dst is a view with gaps");
    AIRY_FAIL_IF(airy_array_overlaps(dst, src), AIRY_ERR_PARAM, "dst overlaps src");
    return AIRY_OK;
}

/* Frames [first, first + count) of a tight array. */
static struct airy_array part_of(const airy_array *a, size_t first, size_t count)
{
    struct airy_array part = *a;
    part.offset += first * a->shape[1] * a->shape[2] * (a->ndim == 4 ? a->shape[3] : 1) *
                   airy_dtype_size(a->dtype);
    part.shape[0] = count;
    return part;
}

static struct airy_array array_over(airy_buffer *buffer, int ndim, const size_t shape[4])
{
    struct airy_array a = {.buffer = buffer, .dtype = AIRY_DTYPE_F32, .ndim = ndim};
    size_t step = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        a.shape[i] = shape[i];
        a.pitch[i] = step;
        step *= shape[i];
    }
    return a;
}

/* The lines of some frames, after the mean of each where that is the background. */
static airy_status run_lines(airy_queue *queue, struct airy_oct_lines_plan *plan)
{
    const struct airy_oct *oct = plan->oct;
    const struct airy_oct_fns *fns = airy_queue_backend(queue)->oct;
    struct airy_array mean;
    if (oct->p.background == AIRY_OCT_BACKGROUND_MEAN) {
        airy_buffer *buffer;
        const size_t shape[4] = {plan->frames, oct->p.samples};
        AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_SMALL,
                                    plan->frames * oct->p.samples * sizeof(float), &buffer));
        mean = array_over(buffer, 2, shape);
        AIRY_TRY(fns->mean(queue, oct, &mean, plan->src, plan->frames));
        plan->mean = &mean;
    }
    return fns->lines(queue, plan);
}

static bool is_combined(const airy_oct_params *p)
{
    return p->average_lines * p->average_frames > 1 || p->flow || p->sinusoidal;
}

/* What means and flow are made of. */
static airy_oct_output given_of(const airy_oct_params *p)
{
    if (p->flow == AIRY_OCT_FLOW_VARIANCE)
        return p->output;
    if (p->average_lines * p->average_frames == 1 && p->flow == AIRY_OCT_FLOW_NONE &&
        p->output != AIRY_OCT_COMPLEX && p->output != AIRY_OCT_PHASE)
        return p->output;
    return p->output == AIRY_OCT_DB      ? AIRY_OCT_POWER
           : p->output == AIRY_OCT_PHASE ? AIRY_OCT_COMPLEX
                                         : p->output;
}

/* One piece: spectra into scratch, then what several of them make. */
static airy_status run_combined(airy_queue *queue, struct airy_oct_lines_plan *plan,
                                const airy_array *dst)
{
    const struct airy_oct *oct = plan->oct;
    const size_t parts = plan->quantity == AIRY_OCT_COMPLEX ? 2 : 1,
                 shape[4] = {plan->frames, oct->p.lines, oct->info.depth, 2};
    airy_buffer *buffer;
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_FRAMES,
                                shape[0] * shape[1] * shape[2] * parts * sizeof(float), &buffer));
    const struct airy_array lines = array_over(buffer, parts == 2 ? 4 : 3, shape);
    plan->dst = &lines;
    AIRY_TRY(run_lines(queue, plan));
    const struct airy_oct_combine_plan combine = {
        .oct = oct, .dst = dst, .src = &lines, .given = plan->quantity, .frames = plan->frames};
    return airy_queue_backend(queue)->oct->combine(queue, &combine);
}

/* Raw frames at once: pieces of scratch, in whole results. */
static size_t piece_frames(const struct airy_oct *oct, size_t frames, airy_oct_output given)
{
    const size_t one = oct->p.lines * oct->info.depth * sizeof(float) *
                       (given == AIRY_OCT_COMPLEX ? 2 : 1),
                 each = oct->info.frames_per_result,
                 most = oct->device->backend->in_place ? HOST_PIECE_BYTES : PIECE_BYTES;
    const size_t results = airy_max_size(1, most / one / each);
    return airy_min_size(frames, results * each);
}

airy_status airy_oct_process(airy_queue *queue, const airy_oct *oct, airy_array *dst,
                             const airy_array *src, const airy_oct_run *run)
{
    size_t frames;
    AIRY_FAIL_ON_IF(!queue || !oct || !dst || !src, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s is NULL",
                    !queue ? "queue"
                    : !oct ? "oct"
                    : !dst ? "dst"
                           : "src");
    AIRY_TRY(check_src(&frames, queue, oct, src));
    AIRY_TRY(check_dst(queue, oct, dst, src, frames));
    AIRY_FAIL_IF((oct->p.fixed_pattern && !oct->pattern) || (oct->p.post_background && !oct->post),
                 AIRY_ERR_PARAM, "%s is not known yet: airy_oct_learn comes first",
                 oct->p.fixed_pattern && !oct->pattern ? "the fixed pattern"
                                                       : "the post background");
    struct airy_oct_lines_plan plan = {.oct = oct,
                                       .dst = dst,
                                       .src = src,
                                       .quantity = oct->p.output,
                                       .display = true,
                                       .flip = oct->p.flip,
                                       .frames = frames,
                                       .first_frame = run ? run->first_frame : 0};
    if (!is_combined(&oct->p))
        return run_lines(queue, &plan);
    const uint64_t first_frame = plan.first_frame;
    plan.quantity = given_of(&oct->p);
    plan.display = false;
    const size_t piece = piece_frames(oct, frames, plan.quantity),
                 each = oct->info.frames_per_result;
    for (size_t at = 0; at < frames; at += piece) {
        plan.frames = airy_min_size(piece, frames - at);
        plan.first_frame = first_frame + at;
        const struct airy_array from = part_of(src, at, plan.frames),
                                to = part_of(dst, at / each, plan.frames / each);
        plan.src = &from;
        AIRY_TRY(run_combined(queue, &plan, &to));
    }
    return AIRY_OK;
}

airy_status airy_oct_rehearse(airy_queue *queue, const airy_oct *oct, size_t frames)
{
    AIRY_FAIL_ON_IF(!queue || !oct, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s is NULL",
                    !queue ? "queue" : "oct");
    const airy_oct_params *p = &oct->p;
    const airy_oct_info *info = &oct->info;
    AIRY_FAIL_ON_IF(frames == 0 || frames % info->frames_per_result != 0, AIRY_ERR_SHAPE,
                    AIRY_SUBJECT_PARAMETER, "%s = %zu, expected a multiple of %zu", "frames",
                    frames, info->frames_per_result);
    const size_t raw[3] = {frames, p->lines, p->packing ? info->line_bytes : p->samples},
                 results[4] = {frames / info->frames_per_result, info->out_lines, info->depth, 2};
    airy_array *src = NULL, *dst = NULL;
    airy_status status;
    airy_profile_pause();
    AIRY_TRY_OR(out, airy_array_create(&src, queue->device, p->dtype, 3, raw));
    AIRY_TRY_OR(out,
                airy_array_create_uninitialized(&dst, queue->device, p->to,
                                                p->output == AIRY_OCT_COMPLEX ? 4 : 3, results));
    AIRY_TRY_OR(out, airy_oct_process(queue, oct, dst, src, NULL));
    status = airy_queue_finish(queue);
out:
    airy_profile_resume();
    airy_array_destroy(&dst);
    airy_array_destroy(&src);
    return status;
}

/* ---- what frames tell ---- */

/* Mean and variance of the bins of some lines; spectra: [lines][depth][2]. */
static void segment_bins(double *mean, double *variance, const float *spectra, size_t lines,
                         size_t depth)
{
    memset(mean, 0, 2 * depth * sizeof(*mean));
    memset(variance, 0, depth * sizeof(*variance));
    for (size_t l = 0; l < lines; l++)
        for (size_t i = 0; i < 2 * depth; i++)
            mean[i] += spectra[l * 2 * depth + i];
    for (size_t i = 0; i < 2 * depth; i++)
        mean[i] /= (double)lines;
    for (size_t l = 0; l < lines; l++)
        for (size_t i = 0; i < 2 * depth; i++) {
            const double d = spectra[l * 2 * depth + i] - mean[i];
            variance[i / 2] += d * d;
        }
}

/* pattern: [depth][2]; room: [6 depth]. */
static void least_segment(float *pattern, double *room, const float *spectra, size_t lines,
                          size_t depth)
{
    double *mean = room, *variance = room + 2 * depth, *least = room + 3 * depth;
    const size_t each = lines / PATTERN_SEGMENTS;
    for (size_t s = 0; s < PATTERN_SEGMENTS; s++) {
        segment_bins(mean, variance, spectra + s * each * 2 * depth, each, depth);
        for (size_t p = 0; p < depth; p++)
            if (s == 0 || variance[p] < least[p]) {
                least[p] = variance[p];
                pattern[2 * p] = (float)mean[2 * p];
                pattern[2 * p + 1] = (float)mean[2 * p + 1];
            }
    }
}

/* Some frames through the device and back. host: malloc'ed, of the caller. */
static airy_status pull_lines(void **host, airy_queue *queue, struct airy_oct_lines_plan *plan,
                              int ndim, const size_t shape[4])
{
    airy_array *spectra = NULL;
    *host = NULL;
    airy_status status =
        airy_array_create_uninitialized(&spectra, queue->device, AIRY_DTYPE_F32, ndim, shape);
    if (status == AIRY_OK) {
        plan->dst = spectra;
        status = run_lines(queue, plan);
    }
    if (status == AIRY_OK)
        status = airy_memory_calloc(host, 1, airy_array_size(spectra), "spectra");
    if (status == AIRY_OK)
        status = airy_array_pull(queue, *host, airy_array_size(spectra), spectra);
    if (status == AIRY_OK)
        status = airy_queue_finish(queue);
    airy_array_destroy(&spectra);
    return status;
}

static airy_status learn_pattern(airy_queue *queue, airy_oct *oct, const airy_array *src)
{
    const size_t frames = oct->p.fixed_pattern, depth = oct->info.depth,
                 shape[4] = {frames, oct->p.lines, depth, 2}, own[2] = {depth, 2};
    AIRY_FAIL_IF(src->shape[0] < frames, AIRY_ERR_SHAPE,
                 "src has %zu frames, fixed_pattern expects %zu", src->shape[0], frames);
    airy_array_destroy(&oct->pattern);
    const struct airy_array from = part_of(src, 0, frames);
    struct airy_oct_lines_plan plan = {
        .oct = oct, .src = &from, .quantity = AIRY_OCT_COMPLEX, .frames = frames};
    void *spectra, *room = NULL;
    airy_status status = pull_lines(&spectra, queue, &plan, 4, shape);
    if (status == AIRY_OK)
        status = airy_memory_calloc(&room, depth, 8 * sizeof(double), "a fixed pattern");
    if (status == AIRY_OK) {
        float *pattern = (float *)((double *)room + 6 * depth);
        least_segment(pattern, room, spectra, frames * oct->p.lines, depth);
        status = airy_array_create_from(&oct->pattern, queue, AIRY_DTYPE_F32, 2, own, pattern);
    }
    free(room);
    free(spectra);
    return status;
}

/* g of the first result, without what is to be learned. */
static airy_status pull_first(void **host, airy_queue *queue, airy_oct *oct, const airy_array *src)
{
    airy_array *dst = NULL;
    const size_t shape[3] = {1, oct->info.out_lines, oct->info.depth},
                 frames = oct->info.frames_per_result;
    const airy_oct_params kept = oct->p;
    const airy_oct_finish finish = oct->finish;
    AIRY_FAIL_IF(src->shape[0] < frames, AIRY_ERR_SHAPE,
                 "src has %zu frames, post_background expects %zu", src->shape[0], frames);
    airy_status status =
        airy_array_create_uninitialized(&dst, queue->device, AIRY_DTYPE_F32, 3, shape);
    if (status != AIRY_OK)
        return status;
    const struct airy_array from = part_of(src, 0, frames);
    oct->p.post_background = false;
    oct->p.to = AIRY_DTYPE_F32;
    oct->finish.top = 0;
    status = airy_oct_process(queue, oct, dst, &from, NULL);
    if (status == AIRY_OK)
        status = airy_memory_calloc(host, 1, airy_array_size(dst), "a first frame");
    if (status == AIRY_OK)
        status = airy_array_pull(queue, *host, airy_array_size(dst), dst);
    if (status == AIRY_OK)
        status = airy_queue_finish(queue);
    oct->p = kept;
    oct->finish = finish;
    airy_array_destroy(&dst);
    return status;
}

static airy_status learn_post(airy_queue *queue, airy_oct *oct, const airy_array *src)
{
    const size_t depth = oct->info.depth, lines = oct->info.out_lines;
    void *first = NULL, *block = NULL;
    airy_array_destroy(&oct->post);
    airy_status status = pull_first(&first, queue, oct, src);
    if (status == AIRY_OK)
        status = airy_memory_calloc(&block, depth, sizeof(float), "a post background");
    if (status == AIRY_OK) {
        const float *g = first;
        float *post = block;
        for (size_t p = 0; p < depth; p++) {
            double sum = 0;
            for (size_t l = 0; l < lines; l++)
                sum += g[l * depth + p];
            post[p] = (float)(oct->p.post_weight * (sum / (double)lines) + oct->p.post_offset);
        }
        status = airy_array_create_from(&oct->post, queue, AIRY_DTYPE_F32, 1, &depth, post);
    }
    free(block);
    free(first);
    return status;
}

airy_status airy_oct_learn(airy_queue *queue, airy_oct *oct, const airy_array *src)
{
    size_t frames;
    AIRY_FAIL_ON_IF(!queue || !oct || !src, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s is NULL",
                    !queue ? "queue"
                    : !oct ? "oct"
                           : "src");
    AIRY_TRY(check_src(&frames, queue, oct, src));
    AIRY_FAIL_IF(!oct->p.fixed_pattern && !oct->p.post_background, AIRY_ERR_PARAM,
                 "neither fixed_pattern nor post_background is asked for");
    if (oct->p.fixed_pattern)
        AIRY_TRY(learn_pattern(queue, oct, src));
    return oct->p.post_background ? learn_post(queue, oct, src) : AIRY_OK;
}
