/* Sigma clipping and quantiles of bins over frames in device memory (kernels/ring_clip.cl ...). */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_integrate.h"
#include "opencl/cl_launch.h"
#include "shared/ring_pass_geom.h"

enum {
    SCRATCH_BYTES = 256 << 20, /* held to by taking a few frames at a time, as far as one fits */
    MAX_STEP = 4096,           /* frames of a launch */
    SLICE = AIRY_RING_SLICE,
    STAT_ITEMS = AIRY_RING_STAT_ITEMS,
    FRAME_GROUP = 64 /* of kernels with an item a frame */
};

struct rings {
    airy_queue *queue;
    const struct airy_integrate_plan *plan;
    const struct airy_cl_integrator *state;
    airy_buffer *scratch, *parts;
    airy_ring_pass geom;
    char options[256];
};

static bool is_compat_clip(const airy_ring_rule *rule)
{
    return rule->compat && rule->kind == AIRY_RING_CLIP;
}

static unsigned group_of(const airy_ring_rule *rule)
{
    return rule->kind == AIRY_RING_CLIP ? AIRY_RING_CLIP_GROUP : AIRY_RING_QUANTILE_GROUP;
}

static void write_options(struct rings *r, int alone)
{
    const airy_integrator *integrator = r->plan->integrator;
    const airy_ring_rule *rule = &integrator->ring;
    airy_cl_frame_options(r->options, sizeof(r->options), integrator, r->plan->frames->dtype, 1);
    const size_t length = strlen(r->options);
    snprintf(r->options + length, sizeof(r->options) - length,
             " -DCLIPS_BY=%u -DLEAVES=%u -DALONE=%d -DRING_GROUP=%u",
             rule->kind == AIRY_RING_CLIP ? rule->clips_by : rule->leaves, rule->leaves, alone,
             group_of(rule));
}

static airy_status launch(const struct rings *r, const char *file, const char *name, size_t width,
                          size_t height, size_t group, double bytes, const struct airy_cl_arg *args,
                          size_t count)
{
    const struct airy_cl_kernel_spec spec = {file, name, r->options};
    const size_t global[2] = {width, height}, local[2] = {group, 1};
    return airy_cl_launch(r->queue, &spec, height > 1 ? 2 : 1, global, local, bytes, args, count);
}

static struct airy_cl_arg buffer_or_null(const airy_buffer *buffer)
{
    return buffer ? AIRY_CL_BUFFER(buffer) : AIRY_CL_NULL;
}

static struct airy_cl_arg status_arg(const struct rings *r)
{
    return r->plan->status ? AIRY_CL_ARRAY(r->plan->status) : AIRY_CL_NULL;
}

static airy_status launch_stats(struct rings *r)
{
    const size_t frames = r->geom.gather.frames;
    const struct airy_cl_arg args[] = {AIRY_CL_BUFFER(r->state->rings.valid),
                                       AIRY_CL_ARRAY(r->plan->frames), AIRY_CL_BUFFER(r->parts),
                                       AIRY_CL_VALUE(r->geom)};
    const double bytes = (double)r->geom.pixels *
                         (double)(frames * airy_dtype_size(r->plan->frames->dtype));
    airy_cl_frame_options(r->options, sizeof(r->options), r->plan->integrator,
                          r->plan->frames->dtype, 1);
    AIRY_TRY(launch(r, "ring_stats.cl", "ring_stats", AIRY_RING_STAT_GROUPS * STAT_ITEMS, frames,
                    STAT_ITEMS, bytes, args, 4));
    const struct airy_cl_arg finish_args[] = {AIRY_CL_BUFFER(r->parts), status_arg(r),
                                              AIRY_CL_ARRAY(r->plan->stats),
                                              AIRY_CL_VALUE(r->geom)};
    return launch(r, "ring_stats.cl", "ring_stats_finish", STAT_ITEMS, frames, STAT_ITEMS, 0,
                  finish_args, 4);
}

static airy_status launch_bins(struct rings *r, const char *file, const char *name,
                               const airy_buffer *bins, int alone, size_t items, size_t group)
{
    const struct airy_cl_rings *t = &r->state->rings;
    const struct airy_cl_arg args[] = {
        AIRY_CL_BUFFER(bins),           AIRY_CL_BUFFER(t->pixel),   AIRY_CL_BUFFER(t->weight),
        AIRY_CL_BUFFER(t->other),       buffer_or_null(t->dark),    buffer_or_null(t->variance),
        AIRY_CL_ARRAY(r->plan->frames), AIRY_CL_BUFFER(r->scratch), status_arg(r),
        AIRY_CL_ARRAY(r->plan->sums),   AIRY_CL_VALUE(r->geom)};
    write_options(r, alone);
    return launch(r, file, name, items, 1, group, 0, args, 11);
}

static airy_status launch_compat(struct rings *r)
{
    const size_t size = (size_t)(r->geom.gather.frames * r->geom.pixels);
    const airy_array gone = {
        .buffer = r->scratch, .dtype = AIRY_DTYPE_U8, .ndim = 1, .shape = {size}, .pitch = {1}};
    const uint8_t none = 0;
    AIRY_TRY(airy_cl_fill(r->queue, &gone, &none));
    return launch_bins(r, "ring_compat.cl", "ring_clip_compat", r->state->rings.large_bins, 1,
                       r->geom.gather.frames, FRAME_GROUP);
}

/*
 * Launch a kernel over the bins that have a work-group each, `runs` groups a bin, and over those that
 * have a work-item each.
 */
static airy_status launch_both(struct rings *r, const char *file, const char *name, size_t runs)
{
    const struct airy_cl_rings *t = &r->state->rings;
    const size_t frames = r->geom.gather.frames, group = group_of(&r->geom.rule);
    if (t->large > 0)
        AIRY_TRY(launch_bins(r, file, name, t->large_bins, 0, t->large * runs * group, group));
    return t->slices > 0 ? launch_bins(r, file, name, t->bins, 1, t->slices * frames * SLICE, SLICE)
                         : AIRY_OK;
}

static airy_status launch_rings(struct rings *r)
{
    const airy_ring_rule *rule = &r->geom.rule;
    const size_t frames = r->geom.gather.frames;
    if (rule->kind == AIRY_RING_QUANTILE)
        return launch_both(r, "ring_quantile.cl", "ring_quantile", frames);
    AIRY_TRY(launch_both(r, "ring_clip.cl", "ring_clip", frames));
    return airy_ring_starts_anew(*rule)
               ? launch_both(r, "ring_clip.cl", "ring_clip_anew",
                             (frames + AIRY_RING_ANEW_FRAMES - 1) / AIRY_RING_ANEW_FRAMES)
               : AIRY_OK;
}

/* Scratch of a frame. */
static size_t frame_bytes(const struct rings *r)
{
    const airy_integrator *integrator = r->plan->integrator;
    if (is_compat_clip(&integrator->ring))
        return integrator->pixels;
    const size_t held = integrator->ring.kind == AIRY_RING_QUANTILE
                            ? sizeof(int64_t)
                            : airy_cl_held_size(r->plan->frames->dtype);
    return airy_max_size(r->state->rings.entries, 1) * held;
}

airy_status airy_cl_rings(airy_queue *queue, const struct airy_integrate_plan *plan)
{
    const airy_integrator *integrator = plan->integrator;
    const struct airy_cl_integrator *state = integrator->state;
    const size_t frames = plan->frames->shape[0], bins = integrator->bins;
    assert(plan->sums->offset % 8 == 0 && plan->stats->offset % 8 == 0);
    struct rings r = {.queue = queue, .plan = plan, .state = state};
    r.geom = (airy_ring_pass){.rule = integrator->ring,
                              .entries = state->rings.entries,
                              .pixels = integrator->pixels,
                              .gather = {.test = plan->test,
                                         .width = (uint32_t)integrator->width,
                                         .height = (uint32_t)integrator->height,
                                         .bins = (uint32_t)bins,
                                         .has_status = plan->status != NULL}};
    airy_gather_geom *g = &r.geom.gather;
    airy_cl_word_test(g, &plan->test, plan->frames->dtype);
    const size_t each = frame_bytes(&r), fitting = airy_min_size(MAX_STEP, SCRATCH_BYTES / each),
                 step = airy_min_size(frames, airy_max_size(1, fitting));
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_PARTIALS, step * each, &r.scratch));
    AIRY_TRY(airy_queue_scratch(
        queue, AIRY_SCRATCH_SMALL,
        step * AIRY_RING_STAT_GROUPS * AIRY_RING_STAT_PARTS * sizeof(double), &r.parts));
    for (size_t first = 0; first < frames; first += step) {
        g->frames = (uint32_t)airy_min_size(step, frames - first);
        g->frames_offset = airy_cl_offset(plan->frames) + first * integrator->pixels;
        g->sums_offset = airy_cl_offset(plan->sums) + first * AIRY_SUM_PLANES * bins;
        g->stats_offset = plan->stats->offset / 8 + first * (sizeof(airy_frame_stats) / 8);
        g->status_offset = plan->status ? airy_cl_offset(plan->status) + first : 0;
        AIRY_TRY(launch_stats(&r));
        AIRY_TRY(is_compat_clip(&integrator->ring) ? launch_compat(&r) : launch_rings(&r));
    }
    return AIRY_OK;
}
