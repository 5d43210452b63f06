/* Pixels that stand out of their ring (kernels/peaks.cl). */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/backend.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_integrate.h"
#include "opencl/cl_launch.h"
#include "opencl/cl_move.h"
#include "peaks/peaks_fns.h"

enum { FRAMES = 4 /* of peaks.cl */ };

/* What is made once. */
struct state {
    airy_buffer *place, *scale, *dark;
};

struct call {
    airy_queue *queue;
    const struct airy_peaks_plan *plan;
    airy_peaks_geom geom;
    airy_buffer *table, *bits, *found;
    char options[96];
    /* of the kernels that look at pixels */
    struct airy_cl_arg frames, place, scale, dark;
};

static void release(airy_peak_finder *finder)
{
    struct state *state = finder->state;
    if (!state)
        return;
    airy_buffer_release(&state->place);
    airy_buffer_release(&state->scale);
    airy_buffer_release(&state->dark);
    free(state);
    finder->state = NULL;
}

static airy_status prepare(airy_peak_finder *finder)
{
    const airy_integrator *it = finder->integrator;
    const airy_device_info *info = &finder->device->info;
    struct state *state;
    airy_queue *queue = NULL;
    AIRY_FAIL_HINT_IF(!info->fp64 || info->max_group < AIRY_PEAKS_GROUP, AIRY_ERR_UNSUPPORTED,
                      AIRY_HINT_CPU, AIRY_SUBJECT_DEVICE,
                      "device '%s' has %s, peaks need double precision and work-groups of %u items",
                      info->spec, info->fp64 ? "small work-groups" : "no double precision",
                      AIRY_PEAKS_GROUP);
    AIRY_TRY(airy_memory_calloc((void **)&state, 1, sizeof(*state), "a peak finder"));
    finder->state = state;
    airy_status status;
    AIRY_TRY_OR(out, airy_queue_create(&queue, finder->device));
    AIRY_TRY_OR(out, airy_cl_upload(&state->place, queue, finder->place,
                                    it->pixels * sizeof(*finder->place),
                                    "places of pixels between bins"));
    AIRY_TRY_OR(out,
                airy_cl_upload(&state->scale, queue, finder->scale,
                               it->pixels * sizeof(*finder->scale), "normalizations of pixels"));
    const float *dark = finder->corrections.dark;
    if (dark)
        AIRY_TRY_OR(out, airy_cl_upload(&state->dark, queue, dark, it->pixels * sizeof(*dark),
                                        "the dark image"));
    status = airy_queue_finish(queue);
out:
    airy_queue_destroy(&queue);
    return status;
}

static airy_status launch(const struct call *call, const char *name, size_t items, size_t rows,
                          size_t group, double bytes, const struct airy_cl_arg *args, size_t count)
{
    const struct airy_cl_kernel_spec spec = {"peaks.cl", name, call->options};
    const size_t global[2] = {items, rows}, local[2] = {group, 1};
    return airy_cl_launch(call->queue, &spec, 2, global, local, bytes, args, count);
}

static airy_status start(struct call *call)
{
    const struct airy_peaks_plan *plan = call->plan;
    const struct state *state = plan->finder->state;
    airy_peaks_geom *g = &call->geom;
    *g = plan->geom;
    g->frames_at = airy_cl_offset(plan->frames);
    g->sums_at = airy_cl_offset(plan->sums);
    g->counts_at = airy_cl_offset(plan->lists->counts);
    g->curves_at = airy_cl_offset(plan->lists->curves);
    g->index_at = airy_cl_offset(plan->lists->index);
    g->intensity_at = airy_cl_offset(plan->lists->intensity);
    AIRY_FAIL_IF(plan->lists->peaks->offset % sizeof(airy_peak), AIRY_ERR_SHAPE,
                 "peaks begins at byte %zu of its memory, expected a multiple of %zu",
                 plan->lists->peaks->offset, sizeof(airy_peak));
    g->peaks_at = plan->lists->peaks->offset / sizeof(airy_peak);
    snprintf(call->options, sizeof(call->options), "-DT=%s -DT_FLOAT=%d -DT_SIGNED=%d -DDARK=%d",
             airy_cl_types[plan->dtype].name, airy_dtype_is_float(plan->dtype),
             airy_dtype_is_signed(plan->dtype), state->dark != NULL);
    const size_t frames = g->frames;
    AIRY_TRY(airy_queue_scratch(call->queue, AIRY_SCRATCH_SMALL,
                                frames * g->bins * sizeof(airy_peaks_bin), &call->table));
    AIRY_TRY(airy_queue_scratch(call->queue, AIRY_SCRATCH_PARTIALS,
                                2 * frames * g->words * sizeof(uint32_t), &call->bits));
    AIRY_TRY(airy_queue_scratch(call->queue, AIRY_SCRATCH_BLOCKS,
                                2 * frames * g->chunks * sizeof(uint32_t), &call->found));
    call->frames = AIRY_CL_ARRAY(plan->frames);
    call->place = AIRY_CL_BUFFER(state->place);
    call->scale = AIRY_CL_BUFFER(state->scale);
    call->dark = state->dark ? AIRY_CL_BUFFER(state->dark) : AIRY_CL_NULL;
    return AIRY_OK;
}

static airy_status mark(const struct call *call)
{
    const struct airy_peaks_plan *plan = call->plan;
    const airy_peaks_geom *g = &call->geom;
    const struct airy_cl_arg table = AIRY_CL_BUFFER(call->table), geom = AIRY_CL_VALUE(*g),
                             bits = AIRY_CL_BUFFER(call->bits), found = AIRY_CL_BUFFER(call->found);
    const struct airy_cl_arg curve[] = {AIRY_CL_ARRAY(plan->sums),
                                        AIRY_CL_ARRAY(plan->lists->curves), table, geom};
    AIRY_TRY(launch(call, "peaks_curve", g->bins, g->frames, AIRY_PEAKS_GROUP, 0, curve,
                    sizeof(curve) / sizeof(curve[0])));
    const struct airy_cl_arg pixels[] = {call->frames, call->place, call->scale, call->dark,
                                         table,        bits,        found,       geom};
    const size_t count = sizeof(pixels) / sizeof(pixels[0]);
    AIRY_TRY(launch(call, "peaks_mark", (size_t)g->chunks * AIRY_PEAKS_GROUP,
                    (g->frames + FRAMES - 1) / FRAMES, AIRY_PEAKS_GROUP,
                    (double)airy_array_size(plan->frames), pixels, count));
    return launch(call, "peaks_test", g->words, g->frames, AIRY_PEAKS_GROUP, 0, pixels, count);
}

static airy_status list(const struct call *call)
{
    const airy_peak_lists *lists = call->plan->lists;
    const airy_peaks_geom *g = &call->geom;
    const struct airy_cl_arg bits = AIRY_CL_BUFFER(call->bits), found = AIRY_CL_BUFFER(call->found),
                             counts = AIRY_CL_ARRAY(lists->counts), geom = AIRY_CL_VALUE(*g);
    const struct airy_cl_arg scan[] = {found, counts, geom};
    AIRY_TRY(launch(call, "peaks_scan", AIRY_PEAKS_GROUP, 2 * (size_t)g->frames, AIRY_PEAKS_GROUP,
                    0, scan, sizeof(scan) / sizeof(scan[0])));
    const struct airy_cl_arg pixels[] = {call->frames,
                                         bits,
                                         found,
                                         counts,
                                         AIRY_CL_ARRAY(lists->index),
                                         AIRY_CL_ARRAY(lists->intensity),
                                         geom};
    AIRY_TRY(launch(call, "peaks_pixels", g->words, g->frames, AIRY_PEAKS_GROUP, 0, pixels,
                    sizeof(pixels) / sizeof(pixels[0])));
    const struct airy_cl_arg measure[] = {call->frames,
                                          call->place,
                                          call->scale,
                                          call->dark,
                                          AIRY_CL_BUFFER(call->table),
                                          bits,
                                          found,
                                          counts,
                                          AIRY_CL_ARRAY(lists->peaks),
                                          geom};
    return launch(call, "peaks_measure", g->words, g->frames, AIRY_PEAKS_GROUP, 0, measure,
                  sizeof(measure) / sizeof(measure[0]));
}

static airy_status find(airy_queue *queue, const struct airy_peaks_plan *plan)
{
    struct call call = {.queue = queue, .plan = plan};
    AIRY_TRY(start(&call));
    AIRY_TRY(mark(&call));
    return list(&call);
}

const struct airy_peaks_fns airy_peaks_opencl = {
    .prepare = prepare, .release = release, .find = find};
