/*
 * Frames in device memory: the matrix walked tile by tile (kernels/integrate.cl,
 * integrate_azimuth.cl).
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "opencl/cl_integrate.h"
#include "opencl/cl_launch.h"
#include "shared/gather_geom.h"

enum {
    SCRATCH_BYTES = 256 << 20, /* held to by taking a few frames at a time, as far as one fits */
    MAX_STEP = 32768,          /* frames of a launch, whose number fits any device's index space */
    MAX_AZIMUTH = 2,           /* frames that share a read of the matrix, for second moments */
    LOCAL_REST = 320,          /* local memory beside the large parts, and what a driver may add */
    FINISH_GROUP = 256,        /* FINISH of integrate.cl */
    BIN_ITEMS = 32,            /* of it, that share a bin of many slots */
    BINS_GROUP = 64
};

/* What a frame needs in scratch, in doubles: see gather_geom.h. */
enum { KEPT = 5 };

struct gather {
    airy_queue *queue;
    const struct airy_integrate_plan *plan;
    const struct airy_cl_integrator *state;
    const struct airy_cl_gather *tables;
    airy_buffer *scratch;
    airy_gather_geom geom;
    char options[192];
};

/* What kernels hold a pixel in, and OpenCL's name of the frames' type. */
static const struct {
    const char *name, *held;
    size_t size;
} types[AIRY_DTYPE_COUNT] = {
    [AIRY_DTYPE_U8] = {"uchar", "uint", 4},   [AIRY_DTYPE_I8] = {"char", "int", 4},
    [AIRY_DTYPE_U16] = {"ushort", "uint", 4}, [AIRY_DTYPE_I16] = {"short", "int", 4},
    [AIRY_DTYPE_U32] = {"uint", "uint", 4},   [AIRY_DTYPE_I32] = {"int", "int", 4},
    [AIRY_DTYPE_F32] = {"float", "float", 4}, [AIRY_DTYPE_F64] = {"double", "double", 8}};

/* Items of gather_finish for each bin: as many as its slots keep busy, of small cells one. */
static unsigned bin_items(const struct gather *g)
{
    unsigned items = BIN_ITEMS;
    while (items > 1 && (size_t)items * g->geom.bins > g->geom.slots)
        items /= 2;
    return items;
}

size_t airy_cl_held_size(airy_dtype dtype)
{
    return types[dtype].size;
}

void airy_cl_frame_options(char *options, size_t size, const airy_integrator *integrator,
                           airy_dtype dtype, unsigned frames)
{
    snprintf(options, size,
             "-DT=%s%s%s%s -DVALUE=%s -DFRAMES=%u -DMODEL=%d -DUNWEIGHTED=%d -DDARK=%d",
             types[dtype].name, airy_dtype_is_float(dtype) ? " -DT_FLOAT" : "",
             airy_dtype_is_signed(dtype) && !airy_dtype_is_float(dtype) ? " -DT_SIGNED" : "",
             airy_dtype_size(dtype) == 4 ? " -DT_IS_4_BYTES" : "", types[dtype].held, frames,
             (int)integrator->params.error_model, integrator->weight != integrator->matrix.coef,
             integrator->has_dark);
}

/* Options of a kernel that takes `frames` frames at a time. */
static void write_options(struct gather *g, unsigned frames)
{
    airy_cl_frame_options(g->options, sizeof(g->options), g->plan->integrator,
                          g->plan->frames->dtype, frames);
    const size_t length = strlen(g->options);
    snprintf(g->options + length, sizeof(g->options) - length, " -DBIN_ITEMS=%u", bin_items(g));
}

/* Local memory of gather_tiles and azimuth_tiles: see there. */
static size_t tiles_local(const struct gather *g, unsigned frames)
{
    const bool poisson = g->plan->integrator->params.error_model == AIRY_ERROR_MODEL_POISSON;
    const size_t tile = AIRY_GATHER_PLACES * frames * types[g->plan->frames->dtype].size,
                 parts = AIRY_GATHER_GROUP * frames * (poisson ? 36 : 28),
                 kept = AIRY_GATHER_GROUP * 44;
    return airy_max_size(tile, airy_max_size(parts, kept)) + LOCAL_REST;
}

static size_t azimuth_local(const struct gather *g, unsigned frames)
{
    return AIRY_GATHER_PLACES * (frames * types[g->plan->frames->dtype].size + 9) +
           AIRY_GATHER_GROUP * (8 * frames + 2) + LOCAL_REST;
}

/* Frames a group takes: 1, 2 or 4. */
static unsigned choose_frames(const struct gather *g, unsigned most,
                              size_t (*local)(const struct gather *g, unsigned frames))
{
    unsigned frames = g->geom.frames > 1 ? most : 1;
    while (frames > 1 && local(g, frames) > g->queue->device->info.local_mem)
        frames /= 2;
    return frames;
}

/* Places of the parts of scratch for n frames; returns the bytes. */
static size_t lay_out_scratch(airy_gather_geom *geom, size_t n, bool variance)
{
    const size_t slots = n * geom->slots, tiles = n * geom->tiles;
    geom->variance = slots;
    geom->kept = variance ? 2 * slots : slots;
    geom->stats = geom->kept + KEPT * slots;
    const size_t doubles = geom->stats + 2 * tiles;
    geom->gone = 2 * doubles;
    geom->counts = geom->gone + slots;
    return doubles * sizeof(double) + (slots + 2 * tiles) * sizeof(uint32_t);
}

/* All dtypes that kernels test as integers fit 32 bits. */
void airy_cl_word_test(airy_gather_geom *geom, const airy_pixel_test *test, airy_dtype dtype)
{
    const int64_t least = airy_dtype_is_signed(dtype) ? INT32_MIN : 0,
                  most = least + (int64_t)UINT32_MAX;
    const bool wraps = airy_dtype_is_signed(dtype) && test->hi > most;
    const int64_t lo = test->lo > least ? test->lo : least,
                  hi = test->hi < most || wraps ? test->hi : most;
    const int64_t saturation = test->saturation > least ? test->saturation : least;
    geom->has_invalid = lo <= hi;
    if (geom->has_invalid) {
        geom->lo = (uint32_t)(lo - least);
        geom->span = (uint32_t)(hi - lo);
    }
    geom->has_saturation = saturation <= most;
    if (geom->has_saturation)
        geom->saturation = (uint32_t)(saturation - least);
    /* Where there are neither, the largest value is looked at for nothing. */
    geom->odd = geom->has_saturation ? geom->saturation : UINT32_MAX;
    if (geom->has_invalid && geom->lo < geom->odd)
        geom->odd = geom->lo;
    if (wraps) /* the least word is a negative value */
        geom->odd = 0;
}

static airy_status launch(const struct gather *g, const char *file, const char *name, size_t width,
                          size_t height, size_t group, double bytes, const struct airy_cl_arg *args,
                          size_t count)
{
    const struct airy_cl_kernel_spec spec = {file, name, g->options};
    const size_t global[2] = {width, height}, local[2] = {group, 1};
    return airy_cl_launch(g->queue, &spec, height > 1 ? 2 : 1, global, local, bytes, args, count);
}

/* A buffer that there may not be: its kernels do not look at it then. */
static struct airy_cl_arg buffer_or_null(const airy_buffer *buffer)
{
    return buffer ? AIRY_CL_BUFFER(buffer) : AIRY_CL_NULL;
}

static size_t tile_items(const struct gather *g, unsigned frames)
{
    return g->tables->unit_count * ((g->geom.frames + frames - 1) / frames) * AIRY_GATHER_GROUP;
}

static airy_status gather_sums(struct gather *g)
{
    const struct airy_cl_gather *t = g->tables;
    const unsigned frames =
        choose_frames(g, airy_tuned(g->queue->device, AIRY_TUNE_GATHER_FRAMES), tiles_local);
    const struct airy_cl_arg images = AIRY_CL_ARRAY(g->plan->frames),
                             scratch = AIRY_CL_BUFFER(g->scratch);
    write_options(g, frames);
    const struct airy_cl_arg args[] = {AIRY_CL_BUFFER(t->units),
                                       AIRY_CL_BUFFER(t->places),
                                       AIRY_CL_BUFFER(t->weight),
                                       AIRY_CL_BUFFER(t->segments),
                                       AIRY_CL_BUFFER(t->valid),
                                       buffer_or_null(t->coef),
                                       AIRY_CL_BUFFER(g->state->norm),
                                       buffer_or_null(g->state->dark),
                                       buffer_or_null(t->variance),
                                       images,
                                       scratch,
                                       scratch,
                                       AIRY_CL_VALUE(g->geom)};
    /* Each pixel once, and the entries once for all frames. */
    const double bytes = (double)g->plan->integrator->pixels * (double)g->geom.frames *
                             (double)airy_dtype_size(g->plan->frames->dtype) +
                         (double)(t->weight->size + t->places->size);
    AIRY_TRY(launch(g, "integrate.cl", "gather_tiles", tile_items(g, frames), 1, AIRY_GATHER_GROUP,
                    bytes, args, 13));
    const struct airy_cl_arg status = g->geom.has_status ? AIRY_CL_ARRAY(g->plan->status)
                                                         : AIRY_CL_NULL;
    const struct airy_cl_arg finish_args[] = {AIRY_CL_BUFFER(t->row),
                                              AIRY_CL_BUFFER(t->base),
                                              AIRY_CL_BUFFER(t->slot_base),
                                              AIRY_CL_BUFFER(t->base_entries),
                                              scratch,
                                              scratch,
                                              status,
                                              AIRY_CL_ARRAY(g->plan->sums),
                                              AIRY_CL_ARRAY(g->plan->stats),
                                              AIRY_CL_VALUE(g->geom)};
    const size_t of_group = FINISH_GROUP / bin_items(g),
                 groups = (g->geom.bins + of_group - 1) / of_group + 1; /* one for statistics */
    return launch(g, "integrate.cl", "gather_finish", groups * FINISH_GROUP, g->geom.frames,
                  FINISH_GROUP, 0, finish_args, 10);
}

static airy_status gather_recurrence(struct gather *g)
{
    const struct airy_cl_gather *t = g->tables;
    write_options(g, 1);
    const struct airy_cl_arg args[] = {
        AIRY_CL_BUFFER(t->bin_pixel),   AIRY_CL_BUFFER(t->bin_weight),
        buffer_or_null(t->bin_coef),    AIRY_CL_BUFFER(t->bin_row),
        AIRY_CL_BUFFER(g->state->norm), buffer_or_null(g->state->dark),
        AIRY_CL_ARRAY(g->plan->frames), AIRY_CL_ARRAY(g->plan->sums),
        AIRY_CL_VALUE(g->geom)};
    return launch(g, "integrate_azimuth.cl", "azimuth_recurrence", g->geom.bins, g->geom.frames,
                  BINS_GROUP, 0, args, 9);
}

static airy_status gather_azimuthal(struct gather *g)
{
    const struct airy_cl_gather *t = g->tables;
    const unsigned frames = choose_frames(g, MAX_AZIMUTH, azimuth_local);
    write_options(g, frames);
    const struct airy_cl_arg args[] = {
        AIRY_CL_BUFFER(t->units),       AIRY_CL_BUFFER(t->places),
        AIRY_CL_BUFFER(t->weight),      AIRY_CL_BUFFER(t->segments),
        buffer_or_null(t->coef),        AIRY_CL_BUFFER(g->state->norm),
        buffer_or_null(g->state->dark), AIRY_CL_ARRAY(g->plan->frames),
        AIRY_CL_ARRAY(g->plan->sums),   AIRY_CL_BUFFER(g->scratch),
        AIRY_CL_VALUE(g->geom)};
    AIRY_TRY(launch(g, "integrate_azimuth.cl", "azimuth_tiles", tile_items(g, frames), 1,
                    AIRY_GATHER_GROUP, 0, args, 11));
    const struct airy_cl_arg finish_args[] = {AIRY_CL_BUFFER(t->row), AIRY_CL_BUFFER(g->scratch),
                                              AIRY_CL_ARRAY(g->plan->sums), AIRY_CL_VALUE(g->geom)};
    return launch(g, "integrate_azimuth.cl", "azimuth_finish", g->geom.bins, g->geom.frames,
                  BINS_GROUP, 0, finish_args, 4);
}

airy_status airy_cl_gather(airy_queue *queue, const struct airy_integrate_plan *plan)
{
    const airy_integrator *integrator = plan->integrator;
    const struct airy_cl_integrator *state = integrator->state;
    const airy_error_model model = integrator->params.error_model;
    const size_t frames = plan->frames->shape[0];
    assert(plan->sums->offset % 8 == 0 && plan->stats->offset % 8 == 0);
    AIRY_TRY(airy_cl_gather_prepare(queue, integrator));
    struct gather g = {.queue = queue, .plan = plan, .state = state, .tables = &state->gather};
    g.geom = (airy_gather_geom){.test = plan->test,
                                .width = (uint32_t)integrator->width,
                                .height = (uint32_t)integrator->height,
                                .bins = (uint32_t)integrator->bins,
                                .slots = (uint32_t)state->gather.slots,
                                .tiles = (uint32_t)state->gather.tiles,
                                .has_status = plan->status != NULL};
    airy_cl_word_test(&g.geom, &plan->test, plan->frames->dtype);
    const bool variance = model == AIRY_ERROR_MODEL_POISSON || model == AIRY_ERROR_MODEL_AZIMUTHAL;
    const size_t frame_scratch = lay_out_scratch(&g.geom, 1, variance);
    const size_t fitting = airy_min_size(MAX_STEP, SCRATCH_BYTES / frame_scratch),
                 step = airy_min_size(frames, airy_max_size(1, fitting));
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_PARTIALS,
                                lay_out_scratch(&g.geom, step, variance), &g.scratch));
    for (size_t first = 0; first < frames; first += step) {
        const size_t n = airy_min_size(step, frames - first);
        (void)lay_out_scratch(&g.geom, n, variance);
        g.geom.frames = (uint32_t)n;
        g.geom.frames_offset = airy_cl_offset(plan->frames) + first * integrator->pixels;
        g.geom.sums_offset = airy_cl_offset(plan->sums) +
                             first * AIRY_SUM_PLANES * integrator->bins;
        g.geom.stats_offset = plan->stats->offset / 8 + first * (sizeof(airy_frame_stats) / 8);
        g.geom.status_offset = plan->status ? airy_cl_offset(plan->status) + first : 0;
        AIRY_TRY(gather_sums(&g));
        if (model != AIRY_ERROR_MODEL_AZIMUTHAL)
            continue;
        AIRY_TRY(integrator->params.compat == AIRY_COMPAT_PYFAI ? gather_recurrence(&g)
                                                                : gather_azimuthal(&g));
    }
    return AIRY_OK;
}
