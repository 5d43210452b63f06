/* Frames in device memory: the matrix walked bin by bin (kernels/integrate.cl). */
#include <assert.h>
#include <stdio.h>

#include "base/error.h"
#include "base/size.h"
#include "opencl/cl_integrate.h"
#include "opencl/cl_launch.h"
#include "shared/gather_geom.h"

/* Scratch is held to this by taking a few frames at a time, as far as one frame fits. */
enum { SCRATCH_BYTES = 256 << 20, BINS_GROUP = 64 };

/* What a frame needs in scratch, in doubles: see gather_geom.h. */
enum { PARTIALS = 2, KEPT = 5 };

struct gather {
    airy_queue *queue;
    const struct airy_integrate_plan *plan;
    const struct airy_cl_integrator *state;
    airy_buffer *scratch;
    airy_gather_geom geom;
    unsigned frames; /* that share a read of the matrix */
    char options[160];
};

static const char *type_name(airy_dtype dtype)
{
    static const char *const names[AIRY_DTYPE_COUNT] = {
        [AIRY_DTYPE_U8] = "uchar",  [AIRY_DTYPE_I8] = "char",   [AIRY_DTYPE_U16] = "ushort",
        [AIRY_DTYPE_I16] = "short", [AIRY_DTYPE_U32] = "uint",  [AIRY_DTYPE_I32] = "int",
        [AIRY_DTYPE_F32] = "float", [AIRY_DTYPE_F64] = "double"};
    return names[dtype];
}

static void write_options(struct gather *g)
{
    const airy_integrator *integrator = g->plan->integrator;
    const airy_dtype dtype = g->plan->frames->dtype;
    snprintf(g->options, sizeof(g->options),
             "-DT=%s%s -DGROUP=%d -DFRAMES=%u -DMODEL=%d -DUNWEIGHTED=%d -DDARK=%d",
             type_name(dtype), airy_dtype_is_float(dtype) ? " -DT_FLOAT" : "", AIRY_GATHER_GROUP,
             g->frames, (int)integrator->params.error_model, g->state->coef != NULL,
             g->state->dark != NULL);
}

/* Places of the parts of scratch for n frames; returns the bytes. */
static size_t lay_out_scratch(airy_gather_geom *geom, size_t n)
{
    const size_t pieces = n * geom->pieces, stat_pieces = n * geom->stat_pieces;
    size_t at = PARTIALS * pieces;
    geom->kept = at;
    at += KEPT * pieces;
    geom->stats = at;
    at += 2 * stat_pieces;
    geom->gone = 2 * at;
    geom->counts = geom->gone + pieces;
    return at * sizeof(double) + (pieces + 2 * stat_pieces) * sizeof(uint32_t);
}

static airy_status launch(const struct gather *g, const char *name, size_t width, size_t height,
                          size_t group, double bytes, const struct airy_cl_arg *args, size_t count)
{
    const struct airy_cl_kernel_spec spec = {"integrate.cl", name, g->options};
    const size_t global[2] = {width, height}, local[2] = {group, 1};
    return airy_cl_launch(g->queue, &spec, 2, global, local, bytes, args, count);
}

/* A buffer that there may not be: its kernels do not look at it then. */
static struct airy_cl_arg buffer_or_null(const airy_buffer *buffer)
{
    return buffer ? AIRY_CL_BUFFER(buffer) : AIRY_CL_NULL;
}

static airy_status gather_sums(const struct gather *g)
{
    const struct airy_cl_integrator *s = g->state;
    const size_t items = s->piece_count * AIRY_GATHER_GROUP, n = g->geom.frames;
    const struct airy_cl_arg frames = AIRY_CL_ARRAY(g->plan->frames),
                             scratch = AIRY_CL_BUFFER(g->scratch);
    const struct airy_cl_arg coef = buffer_or_null(s->coef), dark = buffer_or_null(s->dark);
    const size_t entry_count = g->plan->integrator->matrix.entries;
    const double matrix_bytes = 8.0 * (double)entry_count;
    const double frame_bytes = (double)g->geom.pixels *
                               (double)airy_dtype_size(g->plan->frames->dtype) * (double)n;

    const struct airy_cl_arg sum_args[] = {AIRY_CL_BUFFER(s->pixel),
                                           AIRY_CL_BUFFER(s->weight),
                                           AIRY_CL_BUFFER(s->pieces),
                                           frames,
                                           scratch,
                                           scratch,
                                           AIRY_CL_VALUE(g->geom)};
    AIRY_TRY(launch(g, "gather_pieces", items, (n + g->frames - 1) / g->frames, AIRY_GATHER_GROUP,
                    frame_bytes + matrix_bytes * (double)((n + g->frames - 1) / g->frames),
                    sum_args, 7));
    const struct airy_cl_arg kept_args[] = {AIRY_CL_BUFFER(s->pixel),
                                            AIRY_CL_BUFFER(s->weight),
                                            coef,
                                            AIRY_CL_BUFFER(s->pieces),
                                            AIRY_CL_BUFFER(s->norm),
                                            dark,
                                            buffer_or_null(s->variance),
                                            frames,
                                            scratch,
                                            scratch,
                                            AIRY_CL_VALUE(g->geom)};
    AIRY_TRY(launch(g, "gather_kept", items, n, AIRY_GATHER_GROUP, 0, kept_args, 11));
    const struct airy_cl_arg status = g->geom.has_status ? AIRY_CL_ARRAY(g->plan->status)
                                                         : AIRY_CL_NULL;
    const struct airy_cl_arg finish_args[] = {AIRY_CL_BUFFER(s->row),
                                              AIRY_CL_BUFFER(s->base),
                                              AIRY_CL_BUFFER(s->piece_base),
                                              AIRY_CL_BUFFER(s->base_entries),
                                              scratch,
                                              scratch,
                                              status,
                                              AIRY_CL_ARRAY(g->plan->sums),
                                              AIRY_CL_VALUE(g->geom)};
    return launch(g, "gather_finish", g->geom.bins, n, BINS_GROUP, 0, finish_args, 9);
}

static airy_status gather_azimuthal(const struct gather *g)
{
    const struct airy_cl_integrator *s = g->state;
    const size_t n = g->geom.frames;
    const struct airy_cl_arg frames = AIRY_CL_ARRAY(g->plan->frames),
                             scratch = AIRY_CL_BUFFER(g->scratch);
    const struct airy_cl_arg coef = buffer_or_null(s->coef), dark = buffer_or_null(s->dark);
    const struct airy_cl_arg sums = AIRY_CL_ARRAY(g->plan->sums);
    if (g->plan->integrator->params.compat == AIRY_COMPAT_PYFAI) {
        const struct airy_cl_arg args[] = {AIRY_CL_BUFFER(s->pixel),
                                           AIRY_CL_BUFFER(s->weight),
                                           coef,
                                           AIRY_CL_BUFFER(s->pieces),
                                           AIRY_CL_BUFFER(s->row),
                                           AIRY_CL_BUFFER(s->norm),
                                           dark,
                                           frames,
                                           sums,
                                           AIRY_CL_VALUE(g->geom)};
        return launch(g, "azimuth_recurrence", g->geom.bins, n, BINS_GROUP, 0, args, 10);
    }
    const struct airy_cl_arg args[] = {AIRY_CL_BUFFER(s->pixel),
                                       AIRY_CL_BUFFER(s->weight),
                                       coef,
                                       AIRY_CL_BUFFER(s->pieces),
                                       AIRY_CL_BUFFER(s->norm),
                                       dark,
                                       frames,
                                       sums,
                                       scratch,
                                       AIRY_CL_VALUE(g->geom)};
    AIRY_TRY(launch(g, "azimuth_pieces", s->piece_count * AIRY_GATHER_GROUP, n, AIRY_GATHER_GROUP,
                    0, args, 10));
    const struct airy_cl_arg finish_args[] = {AIRY_CL_BUFFER(s->row), scratch, sums,
                                              AIRY_CL_VALUE(g->geom)};
    return launch(g, "azimuth_finish", g->geom.bins, n, BINS_GROUP, 0, finish_args, 4);
}

static airy_status gather_stats(const struct gather *g)
{
    const struct airy_cl_integrator *s = g->state;
    const size_t n = g->geom.frames;
    const struct airy_cl_arg scratch = AIRY_CL_BUFFER(g->scratch);
    const struct airy_cl_arg args[] = {AIRY_CL_BUFFER(s->valid), AIRY_CL_ARRAY(g->plan->frames),
                                       scratch, scratch, AIRY_CL_VALUE(g->geom)};
    AIRY_TRY(launch(g, "stats_pieces", s->stat_pieces * AIRY_GATHER_GROUP, n, AIRY_GATHER_GROUP, 0,
                    args, 5));
    const struct airy_cl_arg status = g->geom.has_status ? AIRY_CL_ARRAY(g->plan->status)
                                                         : AIRY_CL_NULL;
    const struct airy_cl_arg finish_args[] = {
        scratch, scratch, status, AIRY_CL_ARRAY(g->plan->stats), AIRY_CL_VALUE(g->geom)};
    return launch(g, "stats_finish", n, 1, BINS_GROUP, 0, finish_args, 5);
}

airy_status airy_cl_gather(airy_queue *queue, const struct airy_integrate_plan *plan)
{
    const airy_integrator *integrator = plan->integrator;
    const struct airy_cl_integrator *state = integrator->state;
    const size_t frames = plan->frames->shape[0];
    assert(plan->sums->offset % 8 == 0 && plan->stats->offset % 8 == 0);
    struct gather g = {.queue = queue, .plan = plan, .state = state};
    g.geom = (airy_gather_geom){.test = plan->test,
                                .pixels = (uint32_t)integrator->pixels,
                                .bins = (uint32_t)integrator->bins,
                                .pieces = (uint32_t)state->piece_count,
                                .stat_pieces = (uint32_t)state->stat_pieces,
                                .has_status = plan->status != NULL};
    const size_t frame_scratch = lay_out_scratch(&g.geom, 1);
    const size_t step = airy_min_size(frames, airy_max_size(1, SCRATCH_BYTES / frame_scratch));
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_PARTIALS, lay_out_scratch(&g.geom, step),
                                &g.scratch));
    for (size_t first = 0; first < frames; first += step) {
        const size_t n = airy_min_size(step, frames - first);
        (void)lay_out_scratch(&g.geom, n);
        g.frames = n > 1 ? AIRY_GATHER_FRAMES : 1;
        g.geom.frames = (uint32_t)n;
        g.geom.frames_offset = airy_cl_offset(plan->frames) + first * integrator->pixels;
        g.geom.sums_offset = airy_cl_offset(plan->sums) +
                             first * AIRY_SUM_PLANES * integrator->bins;
        g.geom.stats_offset = plan->stats->offset / 8 + first * (sizeof(airy_frame_stats) / 8);
        g.geom.status_offset = plan->status ? airy_cl_offset(plan->status) + first : 0;
        write_options(&g);
        AIRY_TRY(gather_sums(&g));
        if (integrator->params.error_model == AIRY_ERROR_MODEL_AZIMUTHAL)
            AIRY_TRY(gather_azimuthal(&g));
        AIRY_TRY(gather_stats(&g));
    }
    return AIRY_OK;
}
