/* Connected components and measures (kernels/label.cl, kernels/measure.cl). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/backend.h"
#include "label/label_fns.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_launch.h"
#include "shared/label_geom.h"

enum {
    PARTS = 16384,     /* room for measures before it is known how many there are */
    FIRST_PARTS = 256, /* come back together with the number of labels */
    CLEAR_GROUPS = 64,
    FINISH_EACH = 1024 /* regions that a thread finishes at a time */
};

static const struct {
    const char *name;
    int kind; /* of label.cl: 0 unsigned, 1 signed, 2 floating */
} types[AIRY_DTYPE_COUNT] = {[AIRY_DTYPE_F32] = {"float", 2},  [AIRY_DTYPE_F64] = {"double", 2},
                             [AIRY_DTYPE_U8] = {"uchar", 0},   [AIRY_DTYPE_I8] = {"char", 1},
                             [AIRY_DTYPE_U16] = {"ushort", 0}, [AIRY_DTYPE_I16] = {"short", 1},
                             [AIRY_DTYPE_U32] = {"uint", 0},   [AIRY_DTYPE_I32] = {"int", 1},
                             [AIRY_DTYPE_U64] = {"ulong", 0},  [AIRY_DTYPE_I64] = {"long", 1}};

struct call {
    airy_queue *queue;
    const airy_array *src;
    airy_label_geom geom;
    airy_label_rows target; /* labels, where they are written */
    struct airy_cl_arg labels;
    airy_buffer *parent, *words, *pixels, *parts; /* parts: the table; its entry 0 is the image's */
    char options[64];                             /* of label.cl */
    char value[16];                               /* of measure.cl */
    double label_bytes;
};

static airy_label_rows rows_of(const airy_array *a)
{
    const int last = a->ndim - 1;
    return (airy_label_rows){.offset = airy_cl_offset(a),
                             .step_y = last >= 1 ? a->pitch[last - 1] : 0,
                             .step_z = last >= 2 ? a->pitch[last - 2] : 0};
}

/* Words for each row: bits, flags of roots, roots before; then roots of each group. */
static airy_status size_words(size_t *size, const airy_label_geom *g)
{
    size_t words;
    AIRY_FAIL_IF(airy_mul_size(&words, g->total, 3) || airy_add_size(&words, words, g->chunks) ||
                     airy_mul_size(size, words, sizeof(uint32_t)),
                 AIRY_ERR_MEMORY, "%u words of 32 pixels do not fit the address space", g->total);
    return AIRY_OK;
}

static airy_status start(struct call *call, airy_queue *queue, const airy_array *src,
                         const size_t shape[3], bool measures)
{
    const airy_device_info *info = &queue->device->info;
    AIRY_FAIL_IF(info->max_group < AIRY_LABEL_GROUP, AIRY_ERR_UNSUPPORTED,
                 "device '%s' takes work-groups of %u items, labels need %u; use --device cpu",
                 info->spec, info->max_group, AIRY_LABEL_GROUP);
    AIRY_FAIL_IF(measures && !info->fp64, AIRY_ERR_UNSUPPORTED,
                 "device '%s' has no double precision, which measures of labels need; use "
                 "--device cpu",
                 info->spec);
    AIRY_FAIL_IF(measures && !airy_cl_device(queue->device)->int64_atomics, AIRY_ERR_UNSUPPORTED,
                 "device '%s' has no 64-bit atomics, which measures of labels need; use "
                 "--device cpu",
                 info->spec);
    *call = (struct call){.queue = queue, .src = src};
    airy_label_geom *g = &call->geom;
    g->src = rows_of(src);
    g->depth = (uint32_t)shape[0];
    g->height = (uint32_t)shape[1];
    g->width = (uint32_t)shape[2];
    g->words = (g->width + 31) / 32;
    g->total = g->depth * g->height * g->words; /* at most the number of elements */
    g->tiles_y = (g->height + AIRY_LABEL_TILE - 1) / AIRY_LABEL_TILE;
    g->tiles = g->depth * g->tiles_y * g->words;
    g->chunks = (g->total + AIRY_LABEL_GROUP - 1) / AIRY_LABEL_GROUP;
    size_t words_size;
    AIRY_TRY(size_words(&words_size, g));
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_BLOCKS, words_size, &call->words));
    snprintf(call->value, sizeof(call->value), "-DT=%s", types[src->dtype].name);
    return AIRY_OK;
}

/* An array of bytes over part of a buffer. */
static airy_array bytes_of(airy_buffer *buffer, size_t size)
{
    return (airy_array){
        .buffer = buffer, .dtype = AIRY_DTYPE_U8, .ndim = 1, .shape = {size}, .pitch = {1}};
}

static airy_status take_parts(struct call *call, size_t labels)
{
    size_t size;
    AIRY_FAIL_IF(airy_mul_size(&size, labels + 1, sizeof(airy_label_part)), AIRY_ERR_MEMORY,
                 "measures of %zu labels do not fit the address space", labels);
    AIRY_TRY(airy_queue_scratch(call->queue, AIRY_SCRATCH_SMALL, size, &call->parts));
    call->geom.capacity =
        (uint32_t)airy_min_size(call->parts->size / sizeof(airy_label_part) - 1, INT32_MAX);
    return AIRY_OK;
}

static airy_status launch(const struct call *call, const struct airy_cl_kernel_spec *spec,
                          size_t items, size_t local, double bytes, const struct airy_cl_arg *args,
                          size_t count)
{
    return airy_cl_launch(call->queue, spec, 1, &items, &local, bytes, args, count);
}

/* Items of the kernels that give 32 of them AIRY_LABEL_WRITE_EACH words. */
static size_t pixel_items(const airy_label_geom *g)
{
    const size_t words = AIRY_LABEL_GROUP / 32 * AIRY_LABEL_WRITE_EACH;
    return (g->total + words - 1) / words * AIRY_LABEL_GROUP;
}

/* The value that a key stands for: the number itself, or a floating one by its bits. */
static double value_of_key(airy_dtype dtype, uint64_t key)
{
    const bool negative = key >> 63;
    if (dtype == AIRY_DTYPE_F32) {
        const uint32_t bits = negative ? UINT32_C(0x80000000) - (uint32_t)key : (uint32_t)key;
        float v;
        memcpy(&v, &bits, sizeof(v));
        return (double)v;
    }
    if (dtype == AIRY_DTYPE_F64) {
        const uint64_t bits = negative ? (UINT64_C(1) << 63) - key : key;
        double v;
        memcpy(&v, &bits, sizeof(v));
        return v;
    }
    return types[dtype].kind == 1 ? (double)(int64_t)key : (double)key;
}

/*
 * The keys of what is above a value: found by halving, so that no conversion of the threshold to
 * the dtype, and no arithmetic of the device, rounds anything.
 */
static void find_keys(airy_label_geom *g, airy_dtype dtype, double above)
{
    const unsigned bits = 8 * (unsigned)airy_dtype_size(dtype);
    uint64_t least, most;
    if (types[dtype].kind == 2) {
        most = dtype == AIRY_DTYPE_F32 ? UINT64_C(0x7f800000) : UINT64_C(0x7ff0000000000000);
        least = 0 - most;
    } else if (types[dtype].kind == 1) {
        most = (UINT64_C(1) << (bits - 1)) - 1;
        least = ~most;
    } else {
        most = UINT64_MAX >> (64 - bits);
        least = 0;
    }
    g->none = !(value_of_key(dtype, most) > above);
    if (g->none)
        return;
    uint64_t lo = 0, hi = most - least; /* the first one above is least + [lo, hi] */
    while (lo < hi) {
        const uint64_t middle = lo + (hi - lo) / 2;
        if (value_of_key(dtype, least + middle) > above)
            hi = middle;
        else
            lo = middle + 1;
    }
    g->first = least + lo;
    g->span = most - g->first;
}

static airy_status run_tiles(const struct call *call)
{
    const airy_label_geom *g = &call->geom;
    const size_t local = (size_t)AIRY_LABEL_TILE * AIRY_LABEL_TILES,
                 items = (g->tiles + (size_t)AIRY_LABEL_TILES - 1) / AIRY_LABEL_TILES * local;
    const struct airy_cl_arg args[] = {AIRY_CL_ARRAY(call->src),    AIRY_CL_BUFFER(call->parent),
                                       AIRY_CL_BUFFER(call->words), AIRY_CL_BUFFER(call->pixels),
                                       AIRY_CL_BUFFER(call->parts), AIRY_CL_VALUE(call->geom)};
    return launch(call, &(struct airy_cl_kernel_spec){"label.cl", "label_tiles", call->options},
                  items, local, (double)airy_array_size(call->src), args,
                  sizeof(args) / sizeof(args[0]));
}

/* Components: bits, roots, and the number of labels in the table's first entry. */
static airy_status run_components(const struct call *call)
{
    const airy_label_geom *g = &call->geom;
    const struct airy_cl_arg parent = AIRY_CL_BUFFER(call->parent),
                             words = AIRY_CL_BUFFER(call->words),
                             sizes = AIRY_CL_BUFFER(call->pixels);
    AIRY_TRY(run_tiles(call));
    const struct airy_cl_arg merge[] = {parent, words, AIRY_CL_VALUE(call->geom)};
    AIRY_TRY(launch(call, &(struct airy_cl_kernel_spec){"label.cl", "label_merge", call->options},
                    g->total, AIRY_LABEL_GROUP, 4.0 * g->total, merge,
                    sizeof(merge) / sizeof(merge[0])));
    if (g->sized) {
        const struct airy_cl_arg size[] = {parent, words, sizes, AIRY_CL_VALUE(call->geom)};
        AIRY_TRY(launch(
            call, &(struct airy_cl_kernel_spec){"label.cl", "label_sizes", call->options}, g->total,
            AIRY_LABEL_GROUP, 4.0 * g->total, size, sizeof(size) / sizeof(size[0])));
    }
    const struct airy_cl_arg roots[] = {parent, words, sizes, AIRY_CL_BUFFER(call->parts),
                                        AIRY_CL_VALUE(call->geom)};
    return launch(call, &(struct airy_cl_kernel_spec){"label.cl", "label_roots", call->options},
                  g->total, AIRY_LABEL_GROUP, 12.0 * g->total, roots,
                  sizeof(roots) / sizeof(roots[0]));
}

static airy_status run_write(const struct call *call)
{
    const struct airy_cl_arg args[] = {AIRY_CL_BUFFER(call->parent), AIRY_CL_BUFFER(call->words),
                                       call->labels, AIRY_CL_BUFFER(call->parts),
                                       AIRY_CL_VALUE(call->geom)};
    return launch(call, &(struct airy_cl_kernel_spec){"label.cl", "label_write", call->options},
                  pixel_items(&call->geom), AIRY_LABEL_GROUP, call->label_bytes, args,
                  sizeof(args) / sizeof(args[0]));
}

/* Both walks over the labels, into a cleared table. */
static airy_status run_measures(const struct call *call)
{
    const struct airy_cl_arg args[] = {AIRY_CL_ARRAY(call->src), call->labels,
                                       AIRY_CL_BUFFER(call->words), AIRY_CL_BUFFER(call->parts),
                                       AIRY_CL_VALUE(call->geom)};
    const size_t count = sizeof(args) / sizeof(args[0]),
                 items = (call->geom.total + (size_t)AIRY_LABEL_WALK_EACH - 1) /
                         AIRY_LABEL_WALK_EACH;
    AIRY_TRY(launch(call,
                    &(struct airy_cl_kernel_spec){"measure.cl", "measure_extents", call->value},
                    items, AIRY_LABEL_GROUP, 0, args, count));
    return launch(call, &(struct airy_cl_kernel_spec){"measure.cl", "measure_sums", call->value},
                  items, AIRY_LABEL_GROUP, 0, args, count);
}

static airy_status run_clear(const struct call *call)
{
    const struct airy_cl_arg args[] = {AIRY_CL_BUFFER(call->parts), AIRY_CL_VALUE(call->geom)};
    return launch(call, &(struct airy_cl_kernel_spec){"measure.cl", "measure_clear", call->value},
                  (size_t)CLEAR_GROUPS * AIRY_LABEL_GROUP, AIRY_LABEL_GROUP, 0, args,
                  sizeof(args) / sizeof(args[0]));
}

/* A sum of two words, in units of 2^-b. */
static double wide_value(const uint64_t wide[2], uint32_t b)
{
    const int64_t high = (int64_t)(wide[0] + (wide[1] >> 32));
    const double v = (double)high * 0x1p32 + (double)(wide[1] & UINT32_MAX);
    return ldexp(v, -(int)b);
}

static double double_of_key(uint64_t key)
{
    const uint64_t bits = airy_label_unkey(key);
    double v;
    memcpy(&v, &bits, sizeof(v));
    return v;
}

static void set_place(uint64_t at[3], uint32_t pixel, const airy_label_geom *g)
{
    if (pixel == UINT32_MAX) /* NaN only */
        return;
    at[0] = pixel / g->width / g->height;
    at[1] = pixel / g->width % g->height;
    at[2] = pixel % g->width;
}

/* Centers and moments from sums over the box. */
static void finish_finite(airy_region *r, struct airy_region_sums *s, const airy_label_part *p)
{
    const uint32_t b = airy_label_bits(p->count);
    const int e = (int)airy_label_exponent(p->least, p->most) - 1022;
    double sums[AIRY_LABEL_SUMS], length[3];
    for (int i = 0; i < AIRY_LABEL_SUMS; i++)
        sums[i] = wide_value(p->wide[i], b);
    s->sum = ldexp(sums[AIRY_LABEL_SUM], e);
    airy_region_center(r, s);
    const double total = sums[AIRY_LABEL_SUM],
                 u[3] = {sums[AIRY_LABEL_Z] / total, sums[AIRY_LABEL_Y] / total,
                         sums[AIRY_LABEL_X] / total};
    for (int i = 0; i < 3; i++) {
        length[i] = ldexp(1.0, (int)airy_label_log2(p->last[i] - p->first[i] + 1));
        r->center[i] = total != 0 ? (double)p->first[i] + length[i] * u[i] : (double)NAN;
    }
    /* The walk's moments are about the corner of the box; and by the sum already. */
    struct airy_region_sums about = {.sum = 1};
    about.xx = length[2] * length[2] * (sums[AIRY_LABEL_XX] / total - u[2] * u[2]);
    about.yy = length[1] * length[1] * (sums[AIRY_LABEL_YY] / total - u[1] * u[1]);
    about.xy = length[2] * length[1] * (sums[AIRY_LABEL_XY] / total - u[2] * u[1]);
    airy_region_finish(r, &about);
}

static void finish_region(airy_region *r, const airy_label_part *p, const airy_label_geom *g)
{
    struct airy_region_sums s = {.count = p->count};
    *r = (airy_region){.count = p->count};
    if (p->count == 0) {
        airy_region_center(r, &s);
        airy_region_finish(r, &s);
        return;
    }
    const bool numbers = p->least <= p->most;
    r->min = numbers ? double_of_key(p->least) : (double)INFINITY;
    r->max = numbers ? double_of_key(p->most) : -(double)INFINITY;
    set_place(r->min_at, p->least_at, g);
    set_place(r->max_at, p->most_at, g);
    for (int i = 0; i < 3; i++) {
        r->first[i] = p->first[i];
        r->last[i] = p->last[i];
        s.place[i] = (double)p->place[i];
    }
    if (numbers && !p->nan && isfinite(r->min) && isfinite(r->max)) {
        finish_finite(r, &s, p);
        return;
    }
    s.sum = p->nan || !numbers ? (double)NAN : r->min + r->max; /* of both infinities: NaN */
    for (int i = 0; i < 3; i++)
        s.moment[i] = (double)NAN;
    s.xx = s.yy = s.xy = (double)NAN;
    airy_region_center(r, &s);
    airy_region_finish(r, &s);
}

struct finish_job {
    airy_region *regions;
    const airy_label_part *parts;
    const airy_label_geom *geom;
    size_t count;
};

static void finish_piece(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    const struct finish_job *job = arg;
    const size_t end = airy_min_size((index + 1) * FINISH_EACH, job->count);
    for (size_t i = index * FINISH_EACH; i < end; i++)
        finish_region(&job->regions[i], &job->parts[i + 1], job->geom);
}

static void finish_regions(const struct call *call, airy_region *regions,
                           const airy_label_part *parts, size_t count)
{
    struct finish_job job = {regions, parts, &call->geom, count};
    airy_pool_run(call->queue->device->pool, (count + FINISH_EACH - 1) / FINISH_EACH, finish_piece,
                  &job);
}

/* The table of `count` labels; what `have` entries hold is there already. */
static airy_status pull_parts(const struct call *call, airy_region *regions, size_t count,
                              const airy_label_part *have, size_t entries)
{
    void *block;
    if (count < entries) {
        finish_regions(call, regions, have, count);
        return AIRY_OK;
    }
    AIRY_TRY(airy_memory_calloc(&block, count + 1, sizeof(airy_label_part), "measures of labels"));
    const airy_array bytes = bytes_of(call->parts, (count + 1) * sizeof(airy_label_part));
    const airy_status status = airy_cl_pull(call->queue, block, &bytes, false);
    if (status == AIRY_OK)
        finish_regions(call, regions, block, count);
    free(block);
    return status;
}

/* Wait for the number of labels, and for their measures where they are wanted. */
static airy_status collect(struct call *call, struct airy_label_plan *plan)
{
    airy_label_part first[FIRST_PARTS];
    size_t entries = plan->wants_regions ? FIRST_PARTS : 1;
    void *block;
    const airy_array bytes = bytes_of(call->parts, entries * sizeof(first[0]));
    AIRY_TRY(airy_cl_pull(call->queue, first, &bytes, false));
    plan->count = first[0].count;
    if (!plan->wants_regions)
        return AIRY_OK;
    if (plan->count > call->geom.capacity) {
        AIRY_TRY(take_parts(call, plan->count));
        call->geom.count = (uint32_t)plan->count;
        AIRY_TRY(run_clear(call));
        AIRY_TRY(run_measures(call));
        entries = 0;
    }
    AIRY_TRY(airy_memory_calloc(&block, plan->count + 1, sizeof(airy_region), "regions"));
    plan->regions = block;
    const airy_status status = pull_parts(call, plan->regions, plan->count, first, entries);
    if (status != AIRY_OK) {
        free(plan->regions);
        plan->regions = NULL;
    }
    return status;
}

/* Labels go to the caller's array, or to scratch for the measures. */
static void set_target(struct call *call, const struct airy_label_plan *plan)
{
    airy_label_geom *g = &call->geom;
    if (plan->labels) {
        g->labels = rows_of(plan->labels);
        call->labels = AIRY_CL_ARRAY(plan->labels);
    } else {
        g->labels = (airy_label_rows){.step_y = g->width, .step_z = (uint64_t)g->width * g->height};
        call->labels = AIRY_CL_BUFFER(call->pixels);
    }
    call->label_bytes = 4.0 * (double)airy_array_count(plan->src);
}

static airy_status label(airy_queue *queue, struct airy_label_plan *plan)
{
    struct call call;
    const airy_dtype dtype = plan->src->dtype;
    const size_t pixels = airy_array_count(plan->src) * sizeof(uint32_t);
    const int c = plan->connectivity;
    AIRY_TRY(start(&call, queue, plan->src, plan->shape, plan->wants_regions));
    airy_label_geom *g = &call.geom;
    g->edge = c == 8 || c == 18 || c == 26;
    g->corner = c == 26;
    g->sized = plan->min_count > 1 || plan->max_count < airy_array_count(plan->src);
    g->min_count = (uint32_t)(plan->min_count < UINT32_MAX ? plan->min_count : UINT32_MAX);
    g->max_count = (uint32_t)(plan->max_count < UINT32_MAX ? plan->max_count : UINT32_MAX);
    if (plan->has_above)
        find_keys(g, dtype, plan->above);
    snprintf(call.options, sizeof(call.options), "-DBYTES=%zu -DKIND=%d -DABOVE=%d",
             airy_dtype_size(dtype), types[dtype].kind, plan->has_above);
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_FRAMES, pixels, &call.parent));
    /* One after the other: sizes of components, and labels that nobody asked for. */
    const bool needs_pixels = g->sized || (plan->wants_regions && !plan->labels);
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_PARTIALS,
                                needs_pixels ? pixels : sizeof(uint32_t), &call.pixels));
    AIRY_TRY(take_parts(&call, PARTS));
    set_target(&call, plan);
    if (!plan->wants_regions)
        g->capacity = 0;
    AIRY_TRY(run_components(&call));
    if (plan->labels || plan->wants_regions)
        AIRY_TRY(run_write(&call));
    if (plan->wants_regions)
        AIRY_TRY(run_measures(&call));
    return collect(&call, plan);
}

static airy_status measure(airy_queue *queue, const struct airy_measure_plan *plan)
{
    struct call call;
    AIRY_TRY(start(&call, queue, plan->src, plan->shape, true));
    AIRY_TRY(take_parts(&call, plan->count));
    call.geom.labels = rows_of(plan->labels);
    call.geom.count = (uint32_t)plan->count;
    call.labels = AIRY_CL_ARRAY(plan->labels);
    const struct airy_cl_arg args[] = {call.labels, AIRY_CL_BUFFER(call.words),
                                       AIRY_CL_BUFFER(call.parts), AIRY_CL_VALUE(call.geom)};
    AIRY_TRY(launch(&call, &(struct airy_cl_kernel_spec){"measure.cl", "measure_bits", call.value},
                    pixel_items(&call.geom), AIRY_LABEL_GROUP,
                    (double)airy_array_size(plan->labels), args, sizeof(args) / sizeof(args[0])));
    AIRY_TRY(run_measures(&call));
    return pull_parts(&call, plan->regions, plan->count, NULL, 0);
}

const struct airy_label_fns airy_label_opencl = {.label = label, .measure = measure};
