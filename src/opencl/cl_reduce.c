/* Walks over arrays for statistics (kernels/reduce.cl). */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/backend.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_launch.h"
#include "opencl/cl_move.h"
#include "opencl/cl_reduce.h"
#include "reduce/select.h"
#include "shared/reduce_geom.h"

enum { MAX_GROUPS = 1024, CHUNK = AIRY_REDUCE_GROUP_ITEMS * AIRY_REDUCE_EACH };

struct call {
    const struct airy_reduce_source *source;
    airy_reduce_geom geom;
    char options[48];
    size_t groups;
    double bytes;
};

static airy_status start(struct call *call, const struct airy_reduce_source *source)
{
    const airy_array *src = source->src, *mask = source->mask;
    const airy_device *device = source->queue->device;
    AIRY_FAIL_HINT_IF(!device->info.fp64, AIRY_ERR_UNSUPPORTED, AIRY_HINT_CPU, AIRY_SUBJECT_DEVICE,
                      "device '%s' has no double precision, which statistics need",
                      device->info.spec);
    AIRY_FAIL_HINT_IF(device->info.max_group < AIRY_REDUCE_GROUP_ITEMS, AIRY_ERR_UNSUPPORTED,
                      AIRY_HINT_CPU, AIRY_SUBJECT_DEVICE,
                      "device '%s' takes work-groups of %u items, statistics need %u",
                      device->info.spec, device->info.max_group, AIRY_REDUCE_GROUP_ITEMS);
    AIRY_FAIL_IF(source->count > UINT32_MAX, AIRY_ERR_SHAPE,
                 "src has %zu elements, expected fewer than 2^32 on an OpenCL device",
                 source->count);
    *call = (struct call){.source = source, .bytes = (double)airy_array_size(src)};
    call->geom.src = airy_cl_box(src);
    call->geom.mask = airy_cl_box(mask ? mask : src);
    call->geom.count = source->count;
    call->groups = airy_min_size((source->count + CHUNK - 1) / CHUNK, MAX_GROUPS);
    snprintf(call->options, sizeof(call->options), "-DT=%s -DHAS_MASK=%d",
             airy_cl_types[src->dtype].name, mask != NULL);
    return AIRY_OK;
}

static struct airy_cl_arg mask_of(const struct call *call)
{
    return call->source->mask ? AIRY_CL_ARRAY(call->source->mask) : AIRY_CL_NULL;
}

static airy_status launch(const struct call *call, const char *kernel,
                          const struct airy_cl_arg *args, size_t count)
{
    const struct airy_cl_kernel_spec spec = {"reduce.cl", kernel, call->options};
    const size_t local = AIRY_REDUCE_GROUP_ITEMS, global = call->groups * local;
    return airy_cl_launch(call->source->queue, &spec, 1, &global, &local, call->bytes, args, count);
}

/* The first `size` bytes of scratch; done on return. */
static airy_status pull(const struct call *call, void *data, airy_buffer *buffer, size_t size)
{
    const airy_array bytes = airy_cl_bytes_of(buffer, size);
    return airy_cl_pull(call->source->queue, data, &bytes, false);
}

/* Scratch whose bytes are 0. */
static airy_status cleared(const struct call *call, enum airy_scratch slot, size_t size,
                           airy_buffer **buffer)
{
    static const uint8_t zero = 0;
    AIRY_TRY(airy_queue_scratch(call->source->queue, slot, size, buffer));
    const airy_array bytes = airy_cl_bytes_of(*buffer, size);
    return airy_cl_fill(call->source->queue, &bytes, &zero);
}

/* A list that the device made, malloc'ed; NULL where it is longer than the limit. */
static airy_status pull_list(const struct call *call, double **list, airy_buffer *buffer,
                             uint64_t count)
{
    void *block;
    *list = NULL;
    if (count > call->geom.limit)
        return AIRY_OK;
    AIRY_TRY(airy_memory_calloc(&block, count + 1, sizeof(double), "a list"));
    const airy_status status = count ? pull(call, block, buffer, count * sizeof(double)) : AIRY_OK;
    if (status == AIRY_OK)
        *list = block;
    else
        free(block);
    return status;
}

static void add_parts(struct airy_reduce_walk *w, const airy_reduce_part *parts, size_t n)
{
    airy_reduce_walk_begin(w);
    for (size_t i = 0; i < n; i++) {
        w->masked += parts[i].masked;
        w->core_count += parts[i].count;
        w->below += parts[i].below;
        w->window_count += parts[i].window;
        w->tails_count += parts[i].tails;
        airy_double_double_add(&w->sum, parts[i].sum);
        airy_double_double_add(&w->squares, parts[i].squares);
        w->min = fmin(w->min, parts[i].min);
        w->max = fmax(w->max, parts[i].max);
    }
}

static airy_status pull_walk(const struct call *call, struct airy_reduce_walk *w,
                             airy_buffer *parts, airy_buffer *window, airy_buffer *tails)
{
    airy_reduce_part part[MAX_GROUPS];
    AIRY_TRY(pull(call, part, parts, call->groups * sizeof(part[0])));
    add_parts(w, part, call->groups);
    w->window_full = w->window_lo < w->window_hi && w->window_count > call->geom.limit;
    w->tails_full = w->tails_count > call->geom.limit;
    if (w->window_lo < w->window_hi)
        AIRY_TRY(pull_list(call, &w->window, window, w->window_count));
    const airy_status status = pull_list(call, &w->tails, tails, w->tails_count);
    if (status != AIRY_OK) {
        free(w->window);
        w->window = NULL;
    }
    return status;
}

static airy_status walk(const struct airy_reduce_source *source, struct airy_reduce_walk *w)
{
    struct call call;
    airy_buffer *parts, *window, *tails, *listed;
    AIRY_TRY(start(&call, source));
    airy_reduce_geom *g = &call.geom;
    g->limit = airy_reduce_list_limit(source->count);
    g->lo = w->lo;
    g->hi = w->hi;
    g->core_lo = w->core_lo;
    g->core_hi = w->core_hi;
    g->window_lo = w->window_lo;
    g->window_hi = w->window_hi;
    g->pivot = w->pivot;
    const size_t list_size = g->limit * sizeof(double);
    AIRY_TRY(airy_queue_scratch(source->queue, AIRY_SCRATCH_PARTIALS,
                                MAX_GROUPS * sizeof(airy_reduce_part), &parts));
    AIRY_TRY(airy_queue_scratch(source->queue, AIRY_SCRATCH_FRAMES, list_size, &window));
    AIRY_TRY(airy_queue_scratch(source->queue, AIRY_SCRATCH_BLOCKS, list_size, &tails));
    AIRY_TRY(cleared(&call, AIRY_SCRATCH_SMALL, 2 * sizeof(uint32_t), &listed));
    const struct airy_cl_arg args[] = {AIRY_CL_ARRAY(source->src), mask_of(&call),
                                       AIRY_CL_BUFFER(parts),      AIRY_CL_BUFFER(window),
                                       AIRY_CL_BUFFER(tails),      AIRY_CL_BUFFER(listed),
                                       AIRY_CL_VALUE(call.geom)};
    AIRY_TRY(launch(&call, "reduce_walk", args, sizeof(args) / sizeof(args[0])));
    return pull_walk(&call, w, parts, window, tails);
}

static airy_status sample(const struct airy_reduce_source *source, const uint64_t *first,
                          size_t count, double (*runs)[AIRY_SAMPLE_RUN])
{
    struct call call;
    airy_buffer *places, *values;
    AIRY_TRY(start(&call, source));
    const uint32_t run = AIRY_SAMPLE_RUN, total = (uint32_t)(AIRY_SAMPLE_RUN * count);
    const size_t places_size = count * sizeof(uint64_t), local = AIRY_REDUCE_GROUP_ITEMS,
                 items = airy_align_up(total, local);
    AIRY_TRY(airy_queue_scratch(source->queue, AIRY_SCRATCH_SMALL, places_size, &places));
    AIRY_TRY(
        airy_queue_scratch(source->queue, AIRY_SCRATCH_PARTIALS, total * sizeof(double), &values));
    const airy_array bytes = airy_cl_bytes_of(places, places_size);
    AIRY_TRY(airy_cl_push(source->queue, &bytes, first, false));
    const struct airy_cl_kernel_spec spec = {"reduce.cl", "sample_runs", call.options};
    const struct airy_cl_arg args[] = {AIRY_CL_ARRAY(source->src), mask_of(&call),
                                       AIRY_CL_BUFFER(places),     AIRY_CL_BUFFER(values),
                                       AIRY_CL_VALUE(run),         AIRY_CL_VALUE(total),
                                       AIRY_CL_VALUE(call.geom)};
    AIRY_TRY(airy_cl_launch(source->queue, &spec, 1, &items, &local, 0, args,
                            sizeof(args) / sizeof(args[0])));
    return pull(&call, runs, values, total * sizeof(double));
}

static void set_order(airy_reduce_geom *g, const struct airy_reduce_order *order, double lo,
                      double hi)
{
    g->lo = order->lo;
    g->hi = order->hi;
    g->deviation = order->deviation;
    g->center = order->center;
    g->window_lo = lo;
    g->window_hi = hi;
}

static airy_status list(const struct airy_reduce_source *source,
                        const struct airy_reduce_order *order, double lo, double hi,
                        uint64_t *below, uint64_t *inside, double **values)
{
    struct call call;
    airy_reduce_part part[MAX_GROUPS];
    airy_buffer *parts, *listed, *buffer;
    AIRY_TRY(start(&call, source));
    set_order(&call.geom, order, lo, hi);
    call.geom.limit = airy_reduce_list_limit(source->count);
    call.geom.lists = values != NULL;
    AIRY_TRY(airy_queue_scratch(source->queue, AIRY_SCRATCH_PARTIALS, sizeof(part), &parts));
    AIRY_TRY(airy_queue_scratch(source->queue, AIRY_SCRATCH_FRAMES,
                                values ? call.geom.limit * sizeof(double) : sizeof(double),
                                &buffer));
    AIRY_TRY(cleared(&call, AIRY_SCRATCH_SMALL, sizeof(uint32_t), &listed));
    const struct airy_cl_arg args[] = {AIRY_CL_ARRAY(source->src), mask_of(&call),
                                       AIRY_CL_BUFFER(parts),      AIRY_CL_BUFFER(buffer),
                                       AIRY_CL_BUFFER(listed),     AIRY_CL_VALUE(call.geom)};
    AIRY_TRY(launch(&call, "reduce_list", args, sizeof(args) / sizeof(args[0])));
    AIRY_TRY(pull(&call, part, parts, call.groups * sizeof(part[0])));
    *below = *inside = 0;
    for (size_t i = 0; i < call.groups; i++) {
        *below += part[i].below;
        *inside += part[i].count;
    }
    return values ? pull_list(&call, values, buffer, *inside) : AIRY_OK;
}

/* Counts in two words each. */
static airy_status pull_counts(const struct call *call, uint64_t *counts, airy_buffer *buffer,
                               size_t n)
{
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, 2 * n, sizeof(uint32_t), "counts"));
    const uint32_t *words = block;
    const airy_status status = pull(call, block, buffer, 2 * n * sizeof(uint32_t));
    for (size_t i = 0; i < n && status == AIRY_OK; i++)
        counts[i] += words[i] | (uint64_t)words[n + i] << 32;
    free(block);
    return status;
}

static airy_status keys(const struct airy_reduce_source *source,
                        const struct airy_reduce_order *order, uint64_t first, uint64_t last,
                        unsigned shift, uint64_t *bins)
{
    struct call call;
    airy_buffer *counts;
    const size_t n = (size_t)1 << AIRY_KEY_BITS;
    AIRY_TRY(start(&call, source));
    set_order(&call.geom, order, 0, 0);
    call.geom.first = first;
    call.geom.span = last - first;
    call.geom.shift = shift;
    AIRY_TRY(cleared(&call, AIRY_SCRATCH_SMALL, 2 * n * sizeof(uint32_t), &counts));
    const struct airy_cl_arg args[] = {AIRY_CL_ARRAY(source->src), mask_of(&call),
                                       AIRY_CL_BUFFER(counts), AIRY_CL_VALUE(call.geom)};
    AIRY_TRY(launch(&call, "reduce_keys", args, sizeof(args) / sizeof(args[0])));
    return pull_counts(&call, bins, counts, n);
}

static airy_status locate(const struct airy_reduce_source *source, double min, double max,
                          uint64_t *min_at, uint64_t *max_at)
{
    struct call call;
    uint64_t at[MAX_GROUPS][2];
    airy_buffer *places;
    AIRY_TRY(start(&call, source));
    call.geom.window_lo = min;
    call.geom.window_hi = max;
    AIRY_TRY(airy_queue_scratch(source->queue, AIRY_SCRATCH_PARTIALS, sizeof(at), &places));
    const struct airy_cl_arg args[] = {AIRY_CL_ARRAY(source->src), mask_of(&call),
                                       AIRY_CL_BUFFER(places), AIRY_CL_VALUE(call.geom)};
    AIRY_TRY(launch(&call, "reduce_locate", args, sizeof(args) / sizeof(args[0])));
    AIRY_TRY(pull(&call, at, places, call.groups * sizeof(at[0])));
    *min_at = *max_at = UINT64_MAX;
    for (size_t i = 0; i < call.groups; i++) {
        *min_at = at[i][0] < *min_at ? at[i][0] : *min_at;
        *max_at = at[i][1] < *max_at ? at[i][1] : *max_at;
    }
    return AIRY_OK;
}

/* Elements by kind, and in bins where there are any. */
static airy_status count_bins(const struct airy_reduce_source *source, uint64_t *counts,
                              size_t bins, double lo, double hi, airy_reduce_part *sum)
{
    struct call call;
    airy_reduce_part part[MAX_GROUPS];
    airy_buffer *parts, *words;
    AIRY_TRY(start(&call, source));
    call.geom.lo = lo;
    call.geom.hi = hi;
    call.geom.bins = (uint32_t)bins;
    AIRY_TRY(airy_queue_scratch(source->queue, AIRY_SCRATCH_PARTIALS, sizeof(part), &parts));
    AIRY_TRY(cleared(&call, AIRY_SCRATCH_SMALL, 2 * (bins + 1) * sizeof(uint32_t), &words));
    const struct airy_cl_arg args[] = {AIRY_CL_ARRAY(source->src), mask_of(&call),
                                       AIRY_CL_BUFFER(parts), AIRY_CL_BUFFER(words),
                                       AIRY_CL_VALUE(call.geom)};
    AIRY_TRY(launch(&call, "reduce_bins", args, sizeof(args) / sizeof(args[0])));
    AIRY_TRY(pull(&call, part, parts, call.groups * sizeof(part[0])));
    *sum = (airy_reduce_part){.masked = 0};
    for (size_t i = 0; i < call.groups; i++) {
        sum->masked += part[i].masked;
        sum->count += part[i].count;
        sum->below += part[i].below;
        sum->window += part[i].window;
        sum->tails += part[i].tails;
    }
    return bins ? pull_counts(&call, counts, words, bins) : AIRY_OK;
}

static airy_status odd(const struct airy_reduce_source *source, uint64_t *nan, uint64_t *infinite)
{
    airy_reduce_part sum;
    AIRY_TRY(count_bins(source, NULL, 0, 0, 0, &sum));
    *nan = sum.count;
    *infinite = sum.below;
    return AIRY_OK;
}

static airy_status histogram(const struct airy_reduce_source *source, uint64_t *counts, size_t bins,
                             double lo, double hi, airy_histogram_rest *rest)
{
    airy_reduce_part sum;
    AIRY_TRY(count_bins(source, counts, bins, lo, hi, &sum));
    *rest = (airy_histogram_rest){
        .below = sum.window, .above = sum.tails, .nan = sum.count, .masked = sum.masked};
    return AIRY_OK;
}

static bool takes_quads(const airy_array *array, const airy_array_box *box)
{
    return airy_array_is_tight(array) && box->offset % 4 == 0;
}

static airy_status threshold(airy_queue *queue, const airy_array *mask, const airy_array *src,
                             double value)
{
    const struct airy_reduce_source source = {
        .queue = queue, .src = src, .count = airy_array_count(src)};
    struct call call;
    char options[64];
    AIRY_TRY(start(&call, &source));
    call.geom.mask = airy_cl_box(mask);
    call.geom.pivot = value;
    const bool quads = takes_quads(src, &call.geom.src) && takes_quads(mask, &call.geom.mask);
    snprintf(options, sizeof(options), "-DT=%s -DREAL=%s -DQUADS=%d",
             airy_cl_types[src->dtype].name, airy_cl_is_wide(src->dtype) ? "double" : "float",
             quads);
    const struct airy_cl_kernel_spec spec = {"threshold.cl", "threshold", options};
    const struct airy_cl_arg args[] = {AIRY_CL_ARRAY(src), AIRY_CL_ARRAY(mask),
                                       AIRY_CL_VALUE(call.geom)};
    const size_t local = AIRY_REDUCE_GROUP_ITEMS, each = quads ? 4 * AIRY_THRESHOLD_QUADS : 1,
                 items = (source.count + each - 1) / each;
    return airy_cl_launch(queue, &spec, 1, &items, &local, call.bytes + (double)source.count, args,
                          sizeof(args) / sizeof(args[0]));
}

const struct airy_reduce_fns airy_reduce_opencl = {
    .solve = airy_cl_solve,
    .walk = walk,
    .sample = sample,
    .list = list,
    .keys = keys,
    .locate = locate,
    .odd = odd,
    .histogram = histogram,
    .threshold = threshold,
};
