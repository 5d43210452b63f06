/* Compressed frames straight into bins (kernels/integrate_blocks.cl). */
#include <assert.h>
#include <stdio.h>

#include "base/error.h"
#include "base/size.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_decode.h"
#include "opencl/cl_integrate.h"
#include "opencl/cl_launch.h"
#include "shared/fused_geom.h"

enum {
    SPAN_STEP = 8, /* local bins are a multiple of it */
    SLOT_BYTES = AIRY_CL_BLOCK_BYTES + 32,
    GROUP_BYTES = 64,      /* statistics, and what a driver may add */
    MAX_GROUP_BLOCKS = 64, /* blocks of one flush of the bins */
    GROUPS_A_UNIT = 40,    /* work-groups that each unit should get, so that the last ones leave
                              few idle */
    FINISH_GROUP = 64,
    SCRATCH_BYTES = 256 << 20
};

struct shape {
    struct airy_cl_lanes lanes;
    size_t span, bin_bytes;
};

static bool is_poisson(const airy_integrator *integrator)
{
    return integrator->params.error_model == AIRY_ERROR_MODEL_POISSON;
}

/* How many blocks a group holds beside its bins; false: the bins do not fit. */
static bool choose_shape(struct shape *shape, const airy_integrator *integrator,
                         const struct airy_cl_lanes *lanes)
{
    const size_t local = integrator->device->info.local_mem;
    shape->lanes = *lanes;
    shape->span = airy_align_up(integrator->bins + AIRY_FUSED_BEHIND, SPAN_STEP);
    shape->bin_bytes = shape->span * 8 * (is_poisson(integrator) ? 2 : 1);
    while (shape->lanes.blocks > 1 &&
           shape->lanes.blocks * SLOT_BYTES + shape->bin_bytes + GROUP_BYTES > local)
        shape->lanes.blocks--;
    return SLOT_BYTES + shape->bin_bytes + GROUP_BYTES <= local;
}

bool airy_cl_fused_takes(const struct airy_integrate_plan *plan, const struct airy_cl_lanes *lanes)
{
    const struct airy_cl_integrator *state = plan->integrator->state;
    const airy_block_layout *layout = &plan->chunks.layout;
    const airy_dtype dtype = plan->chunks.dtype;
    struct shape shape;
    return !state->fused.why && layout->codec == AIRY_CODEC_BSLZ4 &&
           (dtype == AIRY_DTYPE_U8 || dtype == AIRY_DTYPE_U16 || dtype == AIRY_DTYPE_U32) &&
           layout->elem_size == airy_dtype_size(dtype) &&
           layout->block_bytes <= AIRY_CL_BLOCK_BYTES &&
           layout->block_bytes / layout->elem_size % AIRY_FUSED_TILE == 0 &&
           choose_shape(&shape, plan->integrator, lanes);
}

/* No value that the fast path takes is left out or saturated. */
static bool is_all_fast(const airy_pixel_test *test, unsigned elem_size)
{
    const int64_t limit = 1 << (elem_size == 1 ? 7 : 11);
    const bool clear = test->lo > test->hi || test->lo >= limit || test->hi < 0;
    return clear && test->saturation >= limit;
}

/* Long enough that flushing the bins costs little, short enough that every unit has work. */
static uint32_t blocks_a_group(const airy_device *device, const struct shape *shape,
                               uint32_t blocks, size_t frames)
{
    const uint64_t groups = (uint64_t)device->info.units * GROUPS_A_UNIT;
    uint64_t n = (uint64_t)blocks * frames / (groups ? groups : 1);
    n = n / shape->lanes.blocks * shape->lanes.blocks;
    n = n > MAX_GROUP_BLOCKS ? MAX_GROUP_BLOCKS : n;
    return (uint32_t)(n < shape->lanes.blocks ? shape->lanes.blocks : n);
}

/* 64-bit planes of n frames, then their words; returns bytes. */
static size_t lay_out_scratch(airy_fused_geom *geom, size_t n)
{
    geom->words = 2 * n * AIRY_FUSED_PLANES * geom->span;
    return n * (AIRY_FUSED_PLANES * geom->span * sizeof(uint64_t) +
                (AIRY_FUSED_WORD_PLANES * geom->span + AIRY_FUSED_STAT_WORDS) * sizeof(uint32_t));
}

static struct airy_cl_arg dark_or_null(const struct airy_cl_integrator *state)
{
    return state->dark ? AIRY_CL_BUFFER(state->dark) : AIRY_CL_NULL;
}

static airy_status run_part(airy_queue *queue, const struct airy_integrate_plan *plan,
                            const struct shape *shape, const airy_fused_geom *geom,
                            airy_buffer *scratch, size_t scratch_size)
{
    const struct airy_cl_integrator *state = plan->integrator->state;
    const struct airy_cl_fused *fused = &state->fused;
    char text[96], options[192];
    airy_cl_lanes_options(text, sizeof(text), &shape->lanes);
    snprintf(options, sizeof(options), "%s -DELEM_SIZE=%u -DBLOCK_BYTES=%u -DSPAN=%zu -DPOISSON=%d",
             text, geom->layout.elem_size, geom->layout.block_bytes, shape->span,
             is_poisson(plan->integrator));
    const uint32_t zero = 0;
    const airy_array words = {.buffer = scratch,
                              .dtype = AIRY_DTYPE_U32,
                              .ndim = 1,
                              .shape = {scratch_size / 4},
                              .pitch = {1}};
    AIRY_TRY(airy_cl_fill(queue, &words, &zero));
    const struct airy_cl_arg args[] = {AIRY_CL_ARRAY(plan->chunks.bytes),
                                       AIRY_CL_BUFFER(fused->table),
                                       AIRY_CL_BUFFER(fused->valid_words),
                                       AIRY_CL_BUFFER(fused->extra_start),
                                       AIRY_CL_BUFFER(fused->extra),
                                       AIRY_CL_BUFFER(state->norm),
                                       dark_or_null(state),
                                       AIRY_CL_BUFFER(scratch),
                                       AIRY_CL_VALUE(*geom)};
    const struct airy_cl_kernel_spec spec = {"integrate_blocks.cl", "integrate_blocks", options};
    const size_t local = (size_t)shape->lanes.lanes * shape->lanes.blocks;
    const size_t global = (size_t)geom->groups_a_frame * geom->frames * local;
    /* As if the frames had been written and read: the profile compares engines. */
    AIRY_TRY(airy_cl_launch(queue, &spec, 1, &global, &local,
                            (double)geom->layout.frame_bytes * geom->frames, args, 9));
    const struct airy_cl_arg finish_args[] = {
        AIRY_CL_BUFFER(fused->base),  AIRY_CL_BUFFER(fused->base_entries),
        AIRY_CL_BUFFER(fused->shift), AIRY_CL_BUFFER(scratch),
        AIRY_CL_ARRAY(plan->sums),    AIRY_CL_ARRAY(plan->stats),
        AIRY_CL_VALUE(*geom)};
    const struct airy_cl_kernel_spec finish = {"integrate_blocks.cl", "integrate_blocks_finish",
                                               options};
    const size_t width[2] = {geom->bins, geom->frames}, group[2] = {FINISH_GROUP, 1};
    return airy_cl_launch(queue, &finish, 2, width, group, 0, finish_args, 7);
}

airy_status airy_cl_fused_run(airy_queue *queue, const struct airy_integrate_plan *plan,
                              const struct airy_cl_lanes *lanes)
{
    const airy_integrator *integrator = plan->integrator;
    const struct airy_cl_integrator *state = integrator->state;
    const struct airy_chunks *chunks = &plan->chunks;
    const size_t frames = chunks->frames;
    assert(chunks->bytes->offset % 8 == 0 && plan->sums->offset % 8 == 0 &&
           plan->stats->offset % 8 == 0);
    struct shape shape;
    AIRY_FAIL_IF(!choose_shape(&shape, integrator, lanes), AIRY_ERR_UNSUPPORTED,
                 "%zu bins do not fit the local memory of %s", integrator->bins,
                 queue->device->info.spec);
    airy_fused_geom geom = {.layout = chunks->layout,
                            .test = plan->test,
                            .normalization_scale = state->fused.normalization_scale,
                            .normalization2_scale = state->fused.normalization2_scale,
                            .dark_scale = state->fused.dark_scale,
                            .bins = (uint32_t)integrator->bins,
                            .span = (uint32_t)shape.span,
                            .fraction_bits = state->fused.fraction_bits,
                            .all_fast = is_all_fast(&plan->test, chunks->layout.elem_size),
                            .has_dark = state->dark != NULL};
    const size_t frame_scratch = lay_out_scratch(&geom, 1);
    const size_t step = airy_min_size(frames, airy_max_size(1, SCRATCH_BYTES / frame_scratch));
    airy_buffer *scratch;
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_PARTIALS, step * frame_scratch, &scratch));
    for (size_t first = 0; first < frames; first += step) {
        const size_t n = airy_min_size(step, frames - first);
        const size_t size = lay_out_scratch(&geom, n);
        geom.frames = (uint32_t)n;
        geom.bytes_offset = chunks->bytes->offset;
        geom.first_frame = (uint32_t)first;
        geom.sums_offset = airy_cl_offset(plan->sums) + first * AIRY_SUM_PLANES * integrator->bins;
        geom.stats_offset = plan->stats->offset / 8 + first * (sizeof(airy_frame_stats) / 8);
        geom.group_blocks = blocks_a_group(queue->device, &shape, chunks->layout.blocks, n);
        geom.groups_a_frame = (chunks->layout.blocks + geom.group_blocks - 1) / geom.group_blocks;
        AIRY_TRY(run_part(queue, plan, &shape, &geom, scratch, size));
    }
    return AIRY_OK;
}
