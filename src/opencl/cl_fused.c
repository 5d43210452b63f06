/*
 * Compressed frames straight into bins. One kernel decodes and sums a frame's blocks
 * (kernels/integrate_blocks.cl); where a batch has frames enough to fill the lanes, two kernels
 * sum up to 32 frames together (kernels/integrate_planes.cl). Both give the same bits.
 */
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
    SLOT_BYTES = AIRY_CL_BLOCK_LOCAL,
    GROUP_BYTES = 64, /* statistics, and what a driver may add */
    SCRATCH_BYTES = 256 << 20,
    /*
     * Fewer frames are summed one by one: MOST_SHARES lanes a frame leave lanes idle. On an H200
     * batches of 8 take 21.0 us a frame together and 29.9 one by one, 29.2 and 56.1 with Poisson
     * errors, 23.1 and 29.3 of u16.
     */
    TOGETHER_FROM = 6,
    MOST_SHARES = 4,  /* more would be kernels of their own for the last, few frames of a run */
    MIN_QUADS = 2,    /* fewer, and most blocks would go pixel by pixel */
    MAX_RANGE = 65535 /* groups in a second dimension, of NVIDIA's devices */
};

struct shape {
    struct airy_cl_lanes lanes;
    size_t span, bin_bytes; /* local bins */
    unsigned shares;        /* lanes a frame where frames are summed together */
};

/* Bit planes between the two kernels. */
struct kept {
    airy_buffer *quads, *planes;
    size_t range; /* blocks */
};

struct airy_cl_lanes airy_cl_fused_lanes(const airy_device *device)
{
    struct airy_cl_lanes lanes = airy_cl_lanes_of(device);
    /* lanes of which several blocks may share a work-group, as airy_cl_lanes_of has it */
    const bool several = lanes.lanes == 1 || airy_cl_device(device)->nvidia;
    lanes.blocks = several ? airy_tuned(device, AIRY_TUNE_FUSED_BLOCKS) : 1;
    lanes.planes_blocks = several ? airy_tuned(device, AIRY_TUNE_PLANES_BLOCKS) : 1;
    lanes.together = device->info.gpu ? TOGETHER_FROM : 0;
    return lanes;
}

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
    return !state->fused.why && layout->codec == AIRY_CODEC_BSLZ4 && !airy_dtype_is_float(dtype) &&
           airy_dtype_size(dtype) <= 4 && layout->elem_size == airy_dtype_size(dtype) &&
           layout->block_bytes <= AIRY_CL_BLOCK_BYTES &&
           layout->block_bytes / layout->elem_size % AIRY_FUSED_TILE == 0 &&
           choose_shape(&shape, plan->integrator, lanes);
}

/* No value below the limit is left out or saturated. */
static bool is_clear_below(const airy_pixel_test *test, int64_t limit)
{
    const bool clear = test->lo > test->hi || test->lo >= limit || test->hi < 0;
    return clear && test->saturation >= limit;
}

static unsigned max_quads(unsigned elem_size)
{
    return elem_size == 1 ? 2 : 4;
}

/* Quads of planes whose values need no test, and have no sign among them. */
static uint32_t clear_quads(const airy_pixel_test *test, airy_dtype dtype)
{
    const unsigned elem_size = (unsigned)airy_dtype_size(dtype);
    uint32_t quads = max_quads(elem_size);
    quads -= airy_dtype_is_signed(dtype) && quads * 4 == elem_size * 8;
    while (quads > 0 && !is_clear_below(test, (int64_t)1 << (4 * quads)))
        quads--;
    return quads;
}

/* Long enough that flushing the bins costs little, short enough that every unit has work. */
static uint32_t blocks_a_group(const airy_device *device, const struct shape *shape,
                               uint32_t blocks, size_t frames)
{
    const uint64_t groups = (uint64_t)device->info.units *
                            airy_tuned(device, AIRY_TUNE_FUSED_GROUPS);
    uint64_t n = (uint64_t)blocks * frames / (groups ? groups : 1);
    const uint32_t most = airy_tuned(device, AIRY_TUNE_FUSED_FLUSH);
    n = n > most ? most : n;
    n = n / shape->lanes.blocks * shape->lanes.blocks;
    return (uint32_t)(n < shape->lanes.blocks ? shape->lanes.blocks : n);
}

/* 64-bit planes of n frames, then their words; returns bytes. */
static size_t lay_out_scratch(airy_fused_geom *geom, size_t n)
{
    geom->words = 2 * n * AIRY_FUSED_PLANES * geom->span;
    geom->lane_sums = 0;
    return n * (AIRY_FUSED_PLANES * geom->span * sizeof(uint64_t) +
                (AIRY_FUSED_WORD_PLANES * geom->span + AIRY_FUSED_STAT_WORDS) * sizeof(uint32_t));
}

/* The same with the sums of lanes behind. */
static size_t lay_out_lanes(airy_fused_geom *geom, size_t n, bool poisson)
{
    const size_t row = AIRY_FUSED_LANES * sizeof(uint64_t);
    const size_t size = airy_align_up(lay_out_scratch(geom, n), row);
    geom->lane_sums = size / sizeof(uint64_t);
    return size + row * (geom->span * (poisson ? 2 : 1) + AIRY_FUSED_SLOTS) +
           AIRY_FUSED_LANES * sizeof(uint32_t) * AIRY_FUSED_SLOTS;
}

static struct airy_cl_arg dark_or_null(const struct airy_cl_integrator *state)
{
    return state->dark ? AIRY_CL_BUFFER(state->dark) : AIRY_CL_NULL;
}

static void write_options(char *text, size_t size, const struct airy_integrate_plan *plan,
                          const struct shape *shape)
{
    const airy_block_layout *layout = &plan->chunks.layout;
    const struct airy_cl_integrator *state = plan->integrator->state;
    char lanes[96];
    airy_cl_lanes_options(lanes, sizeof(lanes), &shape->lanes);
    const int n = snprintf(text, size,
                           "%s -DELEM_SIZE=%u -DSIGNED=%d -DBLOCK_BYTES=%u -DPOISSON=%d", lanes,
                           layout->elem_size, airy_dtype_is_signed(plan->chunks.dtype),
                           layout->block_bytes, is_poisson(plan->integrator));
    if (n <= 0 || (size_t)n >= size)
        return;
    if (shape->span)
        snprintf(text + n, size - (size_t)n, " -DSPAN=%zu", shape->span);
    else
        snprintf(text + n, size - (size_t)n, " -DFRACTION_BITS=%u -DSHARES=%u",
                 state->fused.fraction_bits, shape->shares);
}

static airy_status clear_scratch(airy_queue *queue, airy_buffer *scratch, size_t size)
{
    const uint32_t zero = 0;
    const airy_array words = {
        .buffer = scratch, .dtype = AIRY_DTYPE_U32, .ndim = 1, .shape = {size / 4}, .pitch = {1}};
    return airy_cl_fill(queue, &words, &zero);
}

static airy_status finish_part(airy_queue *queue, const struct airy_integrate_plan *plan,
                               const struct shape *shape, const airy_fused_geom *geom,
                               airy_buffer *scratch)
{
    const struct airy_cl_integrator *state = plan->integrator->state;
    const struct airy_cl_fused *fused = &state->fused;
    char options[192];
    write_options(options, sizeof(options), plan, shape);
    const struct airy_cl_arg args[] = {
        AIRY_CL_BUFFER(fused->base),  AIRY_CL_BUFFER(fused->base_entries),
        AIRY_CL_BUFFER(fused->shift), AIRY_CL_BUFFER(scratch),
        AIRY_CL_ARRAY(plan->sums),    AIRY_CL_ARRAY(plan->stats),
        AIRY_CL_VALUE(*geom)};
    const struct airy_cl_kernel_spec spec = {"integrate_blocks.cl", "integrate_blocks_finish",
                                             options};
    const size_t width[2] = {geom->bins, geom->frames},
                 group[2] = {airy_tuned(queue->device, AIRY_TUNE_FUSED_FINISH_GROUP), 1};
    return airy_cl_launch(queue, &spec, 2, width, group, 0, args, 7);
}

static airy_status run_part(airy_queue *queue, const struct airy_integrate_plan *plan,
                            const struct shape *shape, const airy_fused_geom *geom,
                            airy_buffer *scratch, size_t scratch_size)
{
    const struct airy_cl_integrator *state = plan->integrator->state;
    const struct airy_cl_fused *fused = &state->fused;
    char options[192];
    write_options(options, sizeof(options), plan, shape);
    AIRY_TRY(clear_scratch(queue, scratch, scratch_size));
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
    return finish_part(queue, plan, shape, geom, scratch);
}

/* Planes of the blocks of a range to memory; what has none to the sums. */
static airy_status run_planes(airy_queue *queue, const struct airy_integrate_plan *plan,
                              const struct airy_cl_lanes *lanes, const char *options,
                              const airy_fused_geom *geom, airy_buffer *scratch,
                              const struct kept *kept)
{
    const struct airy_cl_integrator *state = plan->integrator->state;
    const struct airy_cl_fused *fused = &state->fused;
    const struct airy_cl_arg args[] = {AIRY_CL_ARRAY(plan->chunks.bytes),
                                       AIRY_CL_BUFFER(fused->table),
                                       AIRY_CL_BUFFER(fused->valid_words),
                                       AIRY_CL_BUFFER(fused->extra_start),
                                       AIRY_CL_BUFFER(fused->extra),
                                       AIRY_CL_BUFFER(state->norm),
                                       dark_or_null(state),
                                       AIRY_CL_BUFFER(scratch),
                                       AIRY_CL_BUFFER(kept->quads),
                                       AIRY_CL_BUFFER(kept->planes),
                                       AIRY_CL_VALUE(*geom)};
    const struct airy_cl_kernel_spec spec = {"integrate_planes.cl", "integrate_planes", options},
                                     rest = {"integrate_planes.cl", "integrate_planes_rest",
                                             options};
    const size_t rows = geom->range_blocks,
                 groups = (geom->frames + lanes->blocks - 1) / lanes->blocks,
                 local[2] = {(size_t)lanes->lanes * lanes->blocks, 1},
                 global[2] = {groups * local[0], rows}, rest_local = lanes->lanes,
                 rest_global = rows * rest_local;
    const double bytes = (double)geom->layout.block_bytes * (double)rows * geom->frames;
    AIRY_TRY(airy_cl_launch(queue, &spec, 2, global, local, bytes, args, 11));
    return airy_cl_launch(queue, &rest, 1, &rest_global, &rest_local, 0, args, 11);
}

/* The blocks of a range to planes, and from there to the sums. */
static airy_status run_range(airy_queue *queue, const struct airy_integrate_plan *plan,
                             const struct shape *shape, const airy_fused_geom *geom,
                             airy_buffer *scratch, const struct kept *kept)
{
    const struct airy_cl_integrator *state = plan->integrator->state;
    const struct airy_cl_fused *fused = &state->fused;
    struct shape planes = *shape;
    planes.span = 0;
    if (planes.lanes.planes_blocks)
        planes.lanes.blocks = planes.lanes.planes_blocks;
    char options[192];
    write_options(options, sizeof(options), plan, &planes);
    AIRY_TRY(run_planes(queue, plan, &planes.lanes, options, geom, scratch, kept));
    const struct airy_cl_arg args[] = {AIRY_CL_BUFFER(fused->table), AIRY_CL_BUFFER(fused->parts),
                                       AIRY_CL_BUFFER(kept->quads),  AIRY_CL_BUFFER(kept->planes),
                                       AIRY_CL_BUFFER(scratch),      AIRY_CL_VALUE(*geom)};
    const struct airy_cl_kernel_spec sum = {"integrate_planes.cl", "integrate_planes_sum", options};
    const size_t parts = geom->layout.block_bytes / geom->layout.elem_size / AIRY_FUSED_PART;
    const size_t items = geom->range_blocks * parts * AIRY_FUSED_LANES, group = AIRY_FUSED_LANES;
    const double bytes = (double)geom->layout.block_bytes * geom->range_blocks * geom->frames;
    return airy_cl_launch(queue, &sum, 1, &items, &group, bytes, args, 6);
}

/* As many as leave no lane idle, up to MOST_SHARES. */
static unsigned shares_of(const struct airy_cl_lanes *lanes, uint32_t frames)
{
    unsigned shares = lanes->shares ? lanes->shares : MOST_SHARES;
    while (shares * frames > AIRY_FUSED_LANES)
        shares /= 2;
    return shares;
}

/*
 * No more than the decoded batch would be, which callers have room for, but for whole rows of a short
 * last block and of a tail.
 */
static airy_status take_kept(struct kept *kept, airy_queue *queue, const airy_fused_geom *geom,
                             const struct shape *shape, size_t batch)
{
    const struct airy_cl_lanes *lanes = &shape->lanes;
    const unsigned elem_size = geom->layout.elem_size;
    const size_t block = (size_t)geom->layout.block_bytes * max_quads(elem_size) / (2 * elem_size) *
                         (AIRY_FUSED_LANES / shape->shares);
    const size_t memory =
        airy_min_size((size_t)airy_tuned(queue->device, AIRY_TUNE_PLANES_MIB) << 20,
                      batch * (size_t)geom->layout.frame_bytes + 2 * block);
    const size_t range = lanes->range ? lanes->range : memory / block;
    kept->range =
        airy_min_size(airy_min_size(geom->layout.blocks, MAX_RANGE), airy_max_size(1, range));
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_SMALL, kept->range * AIRY_FUSED_LANES,
                                &kept->quads));
    return airy_queue_scratch(queue, AIRY_SCRATCH_BLOCKS, kept->range * block, &kept->planes);
}

/* Up to AIRY_FUSED_LANES frames. */
static airy_status run_together(airy_queue *queue, const struct airy_integrate_plan *plan,
                                struct shape *shape, airy_fused_geom *geom)
{
    shape->shares = shares_of(&shape->lanes, geom->frames);
    const size_t size = lay_out_lanes(geom, geom->frames, is_poisson(plan->integrator));
    struct kept kept;
    airy_buffer *scratch;
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_PARTIALS, size, &scratch));
    AIRY_TRY(take_kept(&kept, queue, geom, shape, plan->chunks.frames));
    AIRY_TRY(clear_scratch(queue, scratch, size));
    for (uint32_t first = 0; first < geom->layout.blocks; first += (uint32_t)kept.range) {
        geom->first_block = first;
        geom->range_blocks =
            (uint32_t)airy_min_size(kept.range, geom->layout.blocks - (size_t)first);
        AIRY_TRY(run_range(queue, plan, shape, geom, scratch, &kept));
    }
    return finish_part(queue, plan, shape, geom, scratch);
}

/* Any number of frames, one by one. */
static airy_status run_apart(airy_queue *queue, const struct airy_integrate_plan *plan,
                             const struct shape *shape, airy_fused_geom *geom)
{
    const size_t size = lay_out_scratch(geom, geom->frames);
    airy_buffer *scratch;
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_PARTIALS, size, &scratch));
    geom->group_blocks = blocks_a_group(queue->device, shape, geom->layout.blocks, geom->frames);
    geom->groups_a_frame = (geom->layout.blocks + geom->group_blocks - 1) / geom->group_blocks;
    return run_part(queue, plan, shape, geom, scratch, size);
}

airy_status airy_cl_fused_run(airy_queue *queue, const struct airy_integrate_plan *plan,
                              const struct airy_cl_lanes *lanes)
{
    const airy_integrator *integrator = plan->integrator;
    const struct airy_cl_integrator *state = integrator->state;
    const struct airy_chunks *chunks = &plan->chunks;
    const unsigned elem_size = chunks->layout.elem_size;
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
                            .bytes_offset = chunks->bytes->offset,
                            .bins = (uint32_t)integrator->bins,
                            .span = (uint32_t)shape.span,
                            .fraction_bits = state->fused.fraction_bits,
                            .all_fast = is_clear_below(&plan->test, 1 << (elem_size == 1 ? 7 : 11)),
                            .quads = clear_quads(&plan->test, chunks->dtype),
                            .has_dark = state->dark != NULL};
    const bool lanes_fit = lanes->together > 0 && geom.quads >= MIN_QUADS && state->fused.parts;
    const size_t apart = airy_max_size(1, SCRATCH_BYTES / lay_out_scratch(&geom, 1));
    for (size_t first = 0, n = 0; first < chunks->frames; first += n) {
        n = chunks->frames - first;
        const bool together = lanes_fit && n >= lanes->together;
        n = airy_min_size(n, together ? AIRY_FUSED_LANES : apart);
        geom.frames = (uint32_t)n;
        geom.first_frame = (uint32_t)first;
        geom.sums_offset = airy_cl_offset(plan->sums) + first * AIRY_SUM_PLANES * integrator->bins;
        geom.stats_offset = plan->stats->offset / 8 + first * (sizeof(airy_frame_stats) / 8);
        AIRY_TRY(together ? run_together(queue, plan, &shape, &geom)
                          : run_apart(queue, plan, &shape, &geom));
    }
    return AIRY_OK;
}

/* Weights of 22 bits leave 10 for the bin; with fewer than 18 the means would lose accuracy. */
enum { MAX_FRACTION_BITS = 22, MIN_FRACTION_BITS = 18 };

unsigned airy_cl_fraction_bits(const airy_integrator *integrator)
{
    unsigned bin_bits = 1;
    while (((uint64_t)1 << bin_bits) < integrator->bins + AIRY_FUSED_BEHIND)
        bin_bits++;
    return 32 - bin_bits < MAX_FRACTION_BITS ? 32 - bin_bits : MAX_FRACTION_BITS;
}

const char *airy_cl_fused_declines(const airy_integrator *integrator)
{
    const airy_error_model model = integrator->params.error_model;
    if (model != AIRY_ERROR_MODEL_NONE && model != AIRY_ERROR_MODEL_POISSON)
        return "the error model needs whole frames";
    if (integrator->params.unweighted)
        return "the mean is unweighted";
    if (airy_cl_fraction_bits(integrator) < MIN_FRACTION_BITS)
        return "there are too many bins";
    if (integrator->pixels > ((size_t)1 << 31))
        return "there are too many pixels";
    return NULL;
}
