/* Statistics and clips that the device finds by itself (kernels/clip.cl). */
#include <stdio.h>

#include "base/error.h"
#include "base/size.h"
#include "core/backend.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_device.h"
#include "opencl/cl_launch.h"
#include "opencl/cl_move.h"
#include "opencl/cl_reduce.h"
#include "shared/clip_geom.h"

enum {
    LEAST_ROOM = AIRY_CLIP_ITEMS * AIRY_CLIP_EACH, /* a step's worth of tails */
    LEAST_DEPTH = 256,                             /* elements of a bucket */
    GROUPS_A_UNIT = 4,
    LEAST_LOCAL = 24 << 10 /* of local memory, without warps */
};

/* A solve under way. */
struct solve {
    const struct airy_reduce_source *source;
    airy_clip_geom geom;
    char options[80], solver[32];
    airy_buffer *state, *buckets, *tails, *tail_at, *ticket;
    struct airy_cl_answer answer;
    double bytes;
    bool looks; /* one kernel samples and plans, where warps are */
};

static void plan_sizes(struct solve *s)
{
    airy_clip_geom *g = &s->geom;
    const struct airy_reduce_source *source = s->source;
    const size_t step = (size_t)AIRY_CLIP_ITEMS * AIRY_CLIP_EACH,
                 steps = (source->count + step - 1) / step,
                 units = (size_t)GROUPS_A_UNIT * source->queue->device->info.units;
    g->groups = (uint32_t)airy_min_size(steps, airy_min_size(units, AIRY_CLIP_GROUPS));
    /* A quarter of what a group sees; a sixteenth of all elements is near the median, four times. */
    const size_t seen = (steps + g->groups - 1) / g->groups * step;
    g->room = (uint32_t)airy_max_size(LEAST_ROOM, seen / 4);
    g->depth = (uint32_t)airy_max_size(LEAST_DEPTH, source->count / AIRY_CLIP_BUCKETS / 4);
}

static airy_status start(struct solve *s, const struct airy_reduce_source *source,
                         const airy_clip_params *params, bool median)
{
    const airy_array *src = source->src, *mask = source->mask;
    const bool wide = airy_cl_is_wide(src->dtype),
               tight = airy_array_is_tight(src) && (!mask || airy_array_is_tight(mask)),
               quads = tight && airy_cl_offset(src) % 4 == 0 &&
                       (!mask || airy_cl_offset(mask) % 4 == 0);
    *s = (struct solve){.source = source,
                        .bytes = (double)airy_array_size(src) + (mask ? (double)source->count : 0),
                        .looks = airy_cl_device(source->queue->device)->nvidia && !wide};
    airy_clip_geom *g = &s->geom;
    g->src = airy_cl_box(src);
    g->mask = airy_cl_box(mask ? mask : src);
    g->count = source->count;
    const size_t samples = s->looks ? AIRY_CLIP_LOOKED
                           : wide   ? AIRY_CLIP_SAMPLE / 2
                                    : AIRY_CLIP_SAMPLE;
    g->samples = (uint32_t)airy_min_size(source->count, samples);
    g->median = median;
    if (params) {
        g->clips = 1;
        g->passes = params->iterations;
        g->kappa_low = params->kappa_low;
        g->kappa_high = params->kappa_high;
        g->mean = params->center == AIRY_CENTER_MEAN;
        g->inclusive = params->inclusive;
    }
    g->stretch = (uint32_t)(source->count / g->samples);
    plan_sizes(s);
    snprintf(s->options, sizeof(s->options),
             "-DT=%s -DWIDE=%d -DHAS_MASK=%d -DTIGHT=%d -DQUADS=%d -DTAILS=%d",
             airy_cl_types[src->dtype].name, wide, mask != NULL, tight, quads, params != NULL);
    snprintf(s->solver, sizeof(s->solver), "-DWIDE=%d -DTAILS=%d", wide, params != NULL);
    airy_queue *queue = source->queue;
    const size_t size = wide ? sizeof(double) : sizeof(float),
                 tails = params ? 2 * (size_t)g->groups * g->room : 1;
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_SMALL, sizeof(airy_clip_state), &s->state));
    AIRY_TRY(airy_cl_answer_begin(queue, sizeof(airy_clip_found), 1, &s->answer));
    g->turn = s->answer.turn;
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_FRAMES,
                                (median ? (size_t)AIRY_CLIP_BUCKETS * g->depth : 1) * size,
                                &s->buckets));
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_BLOCKS, tails * size, &s->tails));
    AIRY_TRY(
        airy_queue_scratch(queue, AIRY_SCRATCH_PARTIALS, tails * sizeof(uint32_t), &s->tail_at));
    /* 0, as new buffers are, and as the kernels leave it. */
    return s->looks ? airy_queue_scratch(queue, AIRY_SCRATCH_TICKET, sizeof(uint32_t), &s->ticket)
                    : AIRY_OK;
}

static airy_status launch(const struct solve *s, const struct airy_cl_kernel_spec *spec,
                          size_t groups, size_t local, double bytes, const struct airy_cl_arg *args,
                          size_t count)
{
    const size_t global = groups * local;
    return airy_cl_launch(s->source->queue, spec, 1, &global, &local, bytes, args, count);
}

static struct airy_cl_arg mask_of(const struct solve *s)
{
    return s->source->mask ? AIRY_CL_ARRAY(s->source->mask) : AIRY_CL_NULL;
}

/* Sample and plan in one. */
static airy_status look(const struct solve *s)
{
    const struct airy_cl_kernel_spec spec = {"clip_look.cl", "clip_look", s->options};
    const struct airy_cl_arg args[] = {AIRY_CL_ARRAY(s->source->src), mask_of(s),
                                       AIRY_CL_BUFFER(s->state), AIRY_CL_BUFFER(s->ticket),
                                       AIRY_CL_VALUE(s->geom)};
    const size_t groups = (s->geom.samples + AIRY_CLIP_LOOKERS - 1) / AIRY_CLIP_LOOKERS;
    return launch(s, &spec, groups, AIRY_CLIP_LOOKERS, 0, args, 5);
}

static airy_status rank(const struct solve *s)
{
    const struct airy_cl_kernel_spec ranks = {"clip.cl", "clip_ranks", s->options},
                                     plan = {"clip_solve.cl", "clip_plan", s->solver};
    const struct airy_cl_arg state = AIRY_CL_BUFFER(s->state), geom = AIRY_CL_VALUE(s->geom),
                             rank_args[] = {AIRY_CL_ARRAY(s->source->src), mask_of(s), state, geom},
                             plan_args[] = {state, geom};
    const size_t groups = (s->geom.samples + AIRY_CLIP_RANKED - 1) / AIRY_CLIP_RANKED;
    AIRY_TRY(launch(s, &ranks, groups, AIRY_CLIP_RANK_ITEMS, 0, rank_args, 4));
    return s->geom.clips ? launch(s, &plan, 1, AIRY_CLIP_SOLVERS, 0, plan_args, 2) : AIRY_OK;
}

static airy_status run(const struct solve *s)
{
    const struct airy_reduce_source *source = s->source;
    const struct airy_cl_arg src = AIRY_CL_ARRAY(source->src), mask = mask_of(s),
                             state = AIRY_CL_BUFFER(s->state), buckets = AIRY_CL_BUFFER(s->buckets),
                             tails = AIRY_CL_BUFFER(s->tails), tail_at = AIRY_CL_BUFFER(s->tail_at),
                             geom = AIRY_CL_VALUE(s->geom);
    const struct airy_cl_kernel_spec walk = {"clip.cl", "clip_walk", s->options},
                                     gather = {"clip.cl", "clip_gather", s->options},
                                     solve = {"clip_solve.cl", "clip_solve", s->solver};
    const struct airy_cl_arg walk_args[] = {src, mask, state, buckets, tails, tail_at, geom},
                             gather_args[] = {state, tails, tail_at, geom},
                             solve_args[] = {{.buffer = s->answer.memory},
                                             state,
                                             buckets,
                                             tails,
                                             tail_at,
                                             geom};
    const size_t groups = s->geom.groups;
    AIRY_TRY(s->looks ? look(s) : rank(s));
    AIRY_TRY(launch(s, &walk, groups, AIRY_CLIP_ITEMS, s->bytes, walk_args, 7));
    if (s->geom.clips)
        AIRY_TRY(launch(s, &gather, groups, AIRY_CLIP_ITEMS, 0, gather_args, 4));
    return launch(s, &solve, 1, AIRY_CLIP_SOLVERS, 0, solve_args, 6);
}

airy_status airy_cl_solve(const struct airy_reduce_source *source, const airy_clip_params *params,
                          bool median, struct airy_reduce_solution *solution)
{
    const airy_device_info *info = &source->queue->device->info;
    struct solve s;
    const void *data;
    *solution = (struct airy_reduce_solution){.found = false};
    if (!info->fp64 || info->max_group < AIRY_CLIP_RANK_ITEMS || info->local_mem < LEAST_LOCAL ||
        source->count > UINT32_MAX)
        return AIRY_OK;
    AIRY_TRY(start(&s, source, params, median));
    AIRY_TRY(run(&s));
    AIRY_TRY(airy_cl_answer_wait(source->queue, &s.answer, 0, &data));
    const airy_clip_found *found = data;
    *solution = (struct airy_reduce_solution){.found = found->status == AIRY_CLIP_DONE,
                                              .finite = found->finite,
                                              .masked = found->masked,
                                              .infinite = found->infinite,
                                              .count = found->count,
                                              .pivot = found->pivot,
                                              .sum = {found->sum, 0},
                                              .squares = {found->squares, 0},
                                              .min = found->min,
                                              .max = found->max,
                                              .median = found->median,
                                              .min_at = found->min_at,
                                              .max_at = found->max_at,
                                              .low = found->low,
                                              .high = found->high,
                                              .iterations = found->passes};
    return AIRY_OK;
}
