/* Statistics and clips that the device finds by itself (kernels/clip.cl). */
#include <math.h>
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
    LEAST_LOCAL = 24 << 10,   /* of local memory, without warps */
    MOST_ELEMENTS = 1 << 25,  /* of the images of a launch: more of them gain nothing */
    SCRATCH_MOST = 256 << 20, /* bytes, where that is more than one image's */
    MOST_SLOTS = 128          /* of images that are under way */
};

/* A solve of images that are alike under way. */
struct solve {
    const struct airy_reduce_source *source; /* the first */
    size_t images;
    airy_clip_geom geom;
    char options[96], solver[48];
    airy_buffer *state, *buckets, *tails, *tail_at, *tallies;
    const struct airy_cl_answer *answer;
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
    /*
     * Blocks for a quarter of what a group sees; a sixteenth of all elements is near the median,
     * four times.
     */
    const size_t seen = (steps + g->groups - 1) / g->groups * step;
    g->room = (uint32_t)airy_max_size(LEAST_ROOM, seen / 4);
    g->depth = (uint32_t)airy_max_size(LEAST_DEPTH, source->count / AIRY_CLIP_BUCKETS / 4);
}

static bool is_tight(const struct airy_reduce_source *source)
{
    return airy_array_is_tight(source->src) && (!source->mask || airy_array_is_tight(source->mask));
}

static bool takes_quads(const struct airy_reduce_source *source)
{
    return is_tight(source) && airy_cl_offset(source->src) % 4 == 0 &&
           (!source->mask || airy_cl_offset(source->mask) % 4 == 0);
}

/* What images take of scratch, in elements: of buckets, of tails and of their places. */
struct room {
    size_t buckets, tails, places;
};

static struct room room_of(const airy_clip_geom *g, size_t images)
{
    const size_t places = images * (g->clips ? (size_t)g->groups * g->room : 1);
    return (struct room){.buckets = images * (g->median ? (size_t)AIRY_CLIP_BUCKETS * g->depth : 1),
                         .tails = places + places / AIRY_CLIP_BLOCK * AIRY_CLIP_ENDS,
                         .places = places};
}

static size_t size_of(const struct solve *s)
{
    return airy_cl_is_wide(s->source->src->dtype) ? sizeof(double) : sizeof(float);
}

/* What take_scratch finds of an earlier call. */
static size_t held_scratch(const airy_queue *queue)
{
    const airy_buffer *buckets = queue->scratch[AIRY_SCRATCH_FRAMES],
                      *tails = queue->scratch[AIRY_SCRATCH_BLOCKS];
    return (buckets ? buckets->size : 0) + (tails ? tails->size : 0);
}

/* How many images, from the first of so many on, one launch goes over. */
static size_t count_together(const struct solve *s, size_t most)
{
    const struct airy_reduce_source *source = s->source;
    const struct room one = room_of(&s->geom, 1);
    const double each = (double)sizeof(airy_clip_state) +
                        (double)size_of(s) * (double)(one.buckets + one.tails) +
                        (double)sizeof(uint32_t) * (double)one.places,
                 room = fmin(SCRATCH_MOST, 0.5 * ((double)airy_device_room(source->queue->device) +
                                                  (double)held_scratch(source->queue)));
    most = airy_min_size(airy_min_size(most, AIRY_CLIP_IMAGES), source->stack.images);
    most = airy_min_size(most, MOST_ELEMENTS / source->count);
    most = (size_t)fmin((double)most, room / each);
    size_t n = 1; /* loads by fours are another order of sums */
    while (n < most && takes_quads(source + n) == takes_quads(source))
        n++;
    return n;
}

static airy_status take_scratch(struct solve *s)
{
    airy_queue *queue = s->source->queue;
    const struct room room = room_of(&s->geom, s->images);
    const size_t size = size_of(s);
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_SMALL, s->images * sizeof(airy_clip_state),
                                &s->state));
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_FRAMES, room.buckets * size, &s->buckets));
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_BLOCKS, room.tails * size, &s->tails));
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_PARTIALS, room.places * sizeof(uint32_t),
                                &s->tail_at));
    /* 0, as new buffers are, and as the kernels leave it. */
    return s->looks ? airy_queue_scratch(queue, AIRY_SCRATCH_TALLY,
                                         AIRY_CLIP_IMAGES * sizeof(airy_clip_tally), &s->tallies)
                    : AIRY_OK;
}

static void plan_clip(airy_clip_geom *g, const airy_clip_params *params)
{
    g->clips = 1;
    g->passes = params->iterations;
    g->kappa_low = params->kappa_low;
    g->kappa_high = params->kappa_high;
    g->mean = params->center == AIRY_CENTER_MEAN;
    g->inclusive = params->inclusive;
}

/* Some of these sources, at most so many, that are planes; their answers' slots from `slot` on. */
static airy_status start(struct solve *s, const struct airy_reduce_source *source, size_t most,
                         const airy_clip_params *params, bool median,
                         const struct airy_cl_answer *answer, size_t slot)
{
    const airy_array *src = source->src, *mask = source->mask;
    const bool wide = airy_cl_is_wide(src->dtype);
    *s = (struct solve){.source = source,
                        .answer = answer,
                        .bytes = (double)airy_array_size(src) + (mask ? (double)source->count : 0),
                        .looks = airy_cl_device(source->queue->device)->nvidia && !wide};
    airy_clip_geom *g = &s->geom;
    g->src = airy_cl_box(src);
    g->mask = airy_cl_box(mask ? mask : src);
    g->src_step = source->stack.src_step;
    g->mask_step = source->stack.mask_step;
    g->count = source->count;
    const size_t samples = s->looks ? AIRY_CLIP_LOOKED
                           : wide   ? AIRY_CLIP_SAMPLE / 2
                                    : AIRY_CLIP_SAMPLE;
    g->samples = (uint32_t)airy_min_size(source->count, samples);
    g->median = median;
    g->turn = answer->turn;
    g->slot = (uint32_t)slot;
    if (params)
        plan_clip(g, params);
    g->stretch = (uint32_t)(source->count / g->samples);
    plan_sizes(s);
    s->images = count_together(s, most);
    snprintf(s->options, sizeof(s->options),
             "-DT=%s -DWIDE=%d -DHAS_MASK=%d -DTIGHT=%d -DQUADS=%d -DTAILS=%d -DMANY=%d",
             airy_cl_types[src->dtype].name, wide, mask != NULL, is_tight(source),
             takes_quads(source), params != NULL, s->images > 1);
    snprintf(s->solver, sizeof(s->solver), "-DWIDE=%d -DTAILS=%d -DMANY=%d", wide, params != NULL,
             s->images > 1);
    return take_scratch(s);
}

static airy_status launch(const struct solve *s, const struct airy_cl_kernel_spec *spec,
                          size_t groups, size_t local, double bytes, const struct airy_cl_arg *args,
                          size_t count)
{
    const size_t global[2] = {groups * local, s->images}, group[2] = {local, 1};
    return airy_cl_launch(s->source->queue, spec, s->images > 1 ? 2 : 1, global, group,
                          bytes * (double)s->images, args, count);
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
                                       AIRY_CL_BUFFER(s->state), AIRY_CL_BUFFER(s->tallies),
                                       AIRY_CL_VALUE(s->geom)};
    const size_t groups = (s->geom.samples + AIRY_CLIP_ITEMS - 1) / AIRY_CLIP_ITEMS;
    return launch(s, &spec, groups, AIRY_CLIP_ITEMS, 0, args, 5);
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
                                     solve = {"clip_solve.cl", "clip_solve", s->solver};
    const struct airy_cl_arg walk_args[] = {src, mask, state, buckets, tails, tail_at, geom},
                             solve_args[] = {{.buffer = s->answer->memory},
                                             state,
                                             buckets,
                                             tails,
                                             tail_at,
                                             geom};
    const size_t groups = s->geom.groups;
    AIRY_TRY(s->looks ? look(s) : rank(s));
    AIRY_TRY(launch(s, &walk, groups, AIRY_CLIP_ITEMS, s->bytes, walk_args, 7));
    return launch(s, &solve, 1, AIRY_CLIP_SOLVERS, 0, solve_args, 6);
}

/* All kernels of so many images, whose answers are on their way then. */
static airy_status run_all(const struct airy_reduce_source *sources, size_t count,
                           const airy_clip_params *params, bool median,
                           const struct airy_cl_answer *answer)
{
    size_t together = AIRY_CLIP_IMAGES;
    for (size_t i = 0; i < count;) {
        struct solve s;
        const size_t most = airy_min_size(count - i, together);
        airy_status status = start(&s, sources + i, most, params, median, answer, i);
        if (status == AIRY_ERR_MEMORY && s.images > 1) { /* scratch of one may be there */
            together = 1;
            status = start(&s, sources + i, 1, params, median, answer, i);
        }
        AIRY_TRY(status);
        AIRY_TRY(run(&s));
        i += s.images;
        if (i < count)
            AIRY_TRY(airy_cl_flush(sources->queue));
    }
    return AIRY_OK;
}

static airy_status collect(const struct airy_reduce_source *source,
                           const struct airy_cl_answer *answer, size_t slot,
                           struct airy_reduce_solution *solution)
{
    const void *data;
    AIRY_TRY(airy_cl_answer_wait(source->queue, answer, slot, &data));
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

/* Of as many as there are slots. */
static airy_status solve_some(const struct airy_reduce_source *sources, size_t count,
                              const airy_clip_params *params, bool median,
                              struct airy_reduce_solution *solutions)
{
    airy_queue *queue = sources->queue;
    struct airy_cl_answer answer;
    AIRY_TRY(airy_cl_answer_begin(queue, sizeof(airy_clip_found), count, &answer));
    airy_status status = run_all(sources, count, params, median, &answer);
    for (size_t i = 0; i < count && status == AIRY_OK; i++)
        status = collect(&sources[i], &answer, i, &solutions[i]);
    if (status != AIRY_OK) /* kernels under way write no later answer */
        (void)airy_cl_finish(queue);
    return status;
}

static bool can_solve(const struct airy_reduce_source *source)
{
    const airy_device_info *info = &source->queue->device->info;
    return info->fp64 && info->max_group >= AIRY_CLIP_RANK_ITEMS &&
           info->local_mem >= LEAST_LOCAL && source->count <= UINT32_MAX;
}

airy_status airy_cl_solve(const struct airy_reduce_source *sources, size_t count,
                          const airy_clip_params *params, bool median,
                          struct airy_reduce_solution *solutions)
{
    for (size_t i = 0; i < count;) {
        size_t n = 0;
        while (n < MOST_SLOTS && i + n < count && can_solve(&sources[i + n]))
            n++;
        if (n > 0)
            AIRY_TRY(solve_some(sources + i, n, params, median, solutions + i));
        else
            solutions[i] = (struct airy_reduce_solution){.found = false};
        i += n > 0 ? n : 1;
    }
    return AIRY_OK;
}
