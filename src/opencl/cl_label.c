/* Connected components and measures (kernels/label.cl, kernels/measure.cl). */
#include <math.h>
#include <stddef.h>
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
#include "opencl/cl_move.h"
#include "shared/label_geom.h"

enum {
    FIRST_ROWS = 255, /* come back with the number of labels where they are copied */
    LABEL_GROUPS = 256,
    LEAST_GROUPS = 32,       /* of these for an image among others */
    SCRATCH_MOST = 256 << 20 /* bytes, where that is more than one image's */
};

/*
 * Launches for some images of a stack, one after the other, none of which waits. What they work on
 * lies side by side, image by image: the second dimension of a launch.
 */
struct call {
    airy_queue *queue;
    const airy_array *src;
    size_t images;
    airy_label_geom geom;
    struct airy_cl_arg labels;
    struct airy_cl_arg measured; /* labels that measure.cl reads: of runs, or of pixels */
    /* nodes: parents, then labels of runs; words: bits, facts, states of chunks */
    airy_buffer *nodes, *words, *sizes, *parts, *rows, *turns;
    struct airy_cl_answer answer;
    char options[128]; /* of label.cl */
    char value[48];    /* of measure.cl */
    double label_bytes;
};

static airy_label_rows rows_of(const airy_array *a)
{
    const int last = a->ndim - 1;
    return (airy_label_rows){.offset = airy_cl_offset(a),
                             .step_y = last >= 1 ? a->pitch[last - 1] : 0,
                             .step_z = last >= 2 ? a->pitch[last - 2] : 0};
}

/* Scratch of 4 bytes for each of `each` words, for every image. */
static airy_status take_words(const struct call *call, enum airy_scratch slot, size_t each,
                              airy_buffer **buffer)
{
    size_t size;
    AIRY_FAIL_IF(airy_mul_size(&size, each, call->images * sizeof(uint32_t)), AIRY_ERR_MEMORY,
                 "%u words of 32 pixels do not fit the address space", call->geom.total);
    return airy_queue_scratch(call->queue, slot, size, buffer);
}

/* Every other pixel of a word begins a run at most. */
static uint32_t shift_of(const size_t shape[3])
{
    return airy_label_log2((uint32_t)airy_min_size(shape[2] + 1, 32) / 2);
}

/* Images whose scratch is taken together. times: nodes of each; labels: in their tables. */
static size_t images_at_once(airy_queue *queue, const struct airy_label_stack *stack,
                             unsigned times, size_t labels)
{
    const size_t *shape = stack->shape, words = (shape[2] + 31) / 32 * shape[1] * shape[0];
    const double each = 4.0 * (double)words * (2 + ldexp(times, (int)shift_of(shape))) +
                        (double)(labels + 1) *
                            (double)(sizeof(airy_label_part) + sizeof(airy_label_row));
    const double room = fmin(SCRATCH_MOST, 0.5 * (double)airy_device_room(queue->device));
    return (size_t)fmax(1, fmin(fmin((double)stack->images, AIRY_LABEL_IMAGES), room / each));
}

static airy_status check_device(const airy_queue *queue, bool measures)
{
    const airy_device_info *info = &queue->device->info;
    AIRY_FAIL_HINT_IF(info->max_group < AIRY_LABEL_GROUP, AIRY_ERR_UNSUPPORTED, AIRY_HINT_CPU,
                      AIRY_SUBJECT_DEVICE,
                      "device '%s' takes work-groups of %u items, labels need %u", info->spec,
                      info->max_group, AIRY_LABEL_GROUP);
    AIRY_FAIL_HINT_IF(
        measures && !info->fp64, AIRY_ERR_UNSUPPORTED, AIRY_HINT_CPU, AIRY_SUBJECT_DEVICE,
        "device '%s' has no double precision, which measures of labels need", info->spec);
    AIRY_FAIL_HINT_IF(measures && !airy_cl_device(queue->device)->int64_atomics,
                      AIRY_ERR_UNSUPPORTED, AIRY_HINT_CPU, AIRY_SUBJECT_DEVICE,
                      "device '%s' has no 64-bit atomics, which measures of labels need",
                      info->spec);
    return AIRY_OK;
}

/* `images` of a stack, from the first one on. labels: NULL where there are none. */
static airy_status start(struct call *call, airy_queue *queue, const airy_array *src,
                         const airy_array *labels, const struct airy_label_stack *stack,
                         size_t first, size_t images)
{
    const size_t *shape = stack->shape;
    *call = (struct call){.queue = queue, .src = src, .images = images, .labels = AIRY_CL_NULL};
    airy_label_geom *g = &call->geom;
    g->src = rows_of(src);
    g->src.offset += first * stack->src_step;
    g->src_step = stack->src_step;
    if (labels) {
        g->labels = rows_of(labels);
        g->labels.offset += first * stack->labels_step;
        g->labels_step = stack->labels_step;
        call->labels = AIRY_CL_ARRAY(labels);
    }
    g->depth = (uint32_t)shape[0];
    g->height = (uint32_t)shape[1];
    g->width = (uint32_t)shape[2];
    g->words = (g->width + 31) / 32;
    g->total = g->depth * g->height * g->words; /* at most the number of elements */
    g->shift = shift_of(shape);
    g->tiles_x = (g->words + AIRY_LABEL_TILE_WORDS - 1) / AIRY_LABEL_TILE_WORDS;
    g->tiles_y = (g->height + AIRY_LABEL_TILE_ROWS - 1) / AIRY_LABEL_TILE_ROWS;
    g->chunks = (g->total + AIRY_LABEL_GROUP - 1) / AIRY_LABEL_GROUP;
    /* Bits of all words and what follows: facts, states of chunks and of all. */
    size_t words;
    AIRY_FAIL_IF(airy_mul_size(&words, g->total, 2) ||
                     airy_add_size(&words, words, (size_t)g->chunks + AIRY_LABEL_STATES),
                 AIRY_ERR_MEMORY, "%u words of 32 pixels do not fit the address space", g->total);
    AIRY_TRY(take_words(call, AIRY_SCRATCH_BLOCKS, words, &call->words));
    snprintf(call->value, sizeof(call->value), "-DT=%s -DIMAGE=0", airy_cl_types[src->dtype].name);
    return AIRY_OK;
}

/* Tables of so many labels; those of parts are empty between calls, as new buffers are. */
static airy_status take_parts(struct call *call, size_t labels)
{
    size_t parts, rows;
    AIRY_FAIL_IF(airy_mul_size(&parts, labels + 1, call->images * sizeof(airy_label_part)) ||
                     airy_mul_size(&rows, labels + 1, call->images * sizeof(airy_label_row)),
                 AIRY_ERR_MEMORY, "measures of %zu labels do not fit the address space", labels);
    AIRY_TRY(airy_queue_scratch(call->queue, AIRY_SCRATCH_LABELS, parts, &call->parts));
    AIRY_TRY(airy_queue_scratch(call->queue, AIRY_SCRATCH_SMALL, rows, &call->rows));
    call->geom.capacity =
        (uint32_t)airy_min_size(airy_min_size(call->parts->size / sizeof(airy_label_part),
                                              call->rows->size / sizeof(airy_label_row)) /
                                        call->images -
                                    1,
                                INT32_MAX);
    call->geom.stride = call->geom.capacity + 1;
    return AIRY_OK;
}

/* An answer with rows of up to so many labels of each image. */
static airy_status begin_answer(struct call *call, size_t labels)
{
    const size_t room = AIRY_CL_ANSWER_BYTES / AIRY_LABEL_LINE / call->images - 1,
                 most = call->queue->device->shares_host ? room : FIRST_ROWS;
    call->geom.told = (uint32_t)airy_min_size(labels, most);
    AIRY_TRY(airy_cl_answer_begin(call->queue, ((size_t)call->geom.told + 1) * AIRY_LABEL_LINE,
                                  call->images, &call->answer));
    call->geom.turn = call->answer.turn;
    return AIRY_OK;
}

static airy_status launch(const struct call *call, const struct airy_cl_kernel_spec *spec,
                          size_t items, double bytes, const struct airy_cl_arg *args, size_t count)
{
    const size_t global[2] = {items, call->images}, local[2] = {AIRY_LABEL_GROUP, 1};
    return airy_cl_launch(call->queue, spec, 2, global, local, (double)call->images * bytes, args,
                          count);
}

/* KIND of label.cl: 0 unsigned, 1 signed, 2 floating. */
static int kind_of(airy_dtype dtype)
{
    return airy_dtype_is_float(dtype) ? 2 : airy_dtype_is_signed(dtype);
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
    return kind_of(dtype) == 1 ? (double)(int64_t)key : (double)key;
}

/*
 * The keys of what is above a value: found by halving, so that no conversion of the threshold to
 * the dtype, and no arithmetic of the device, rounds anything.
 */
static void find_keys(airy_label_geom *g, airy_dtype dtype, double above)
{
    const unsigned bits = 8 * (unsigned)airy_dtype_size(dtype);
    uint64_t least, most;
    if (kind_of(dtype) == 2) {
        most = dtype == AIRY_DTYPE_F32 ? UINT64_C(0x7f800000) : UINT64_C(0x7ff0000000000000);
        least = 0 - most;
    } else if (kind_of(dtype) == 1) {
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

/* A kernel of label.cl with an item for each of so many. */
static airy_status launch_label(const struct call *call, const char *name, size_t items,
                                double bytes, const struct airy_cl_arg *args, size_t count)
{
    return launch(call, &(struct airy_cl_kernel_spec){"label.cl", name, call->options}, items,
                  bytes, args, count);
}

/* Components: bits, roots, their numbers and what follows from these; the count in the table. */
static airy_status run_components(const struct call *call)
{
    const airy_label_geom *g = &call->geom;
    const size_t groups = (size_t)g->tiles_x * g->tiles_y * g->depth;
    const double words = 4.0 * g->total;
    const struct airy_cl_arg src = AIRY_CL_ARRAY(call->src), nodes = AIRY_CL_BUFFER(call->nodes),
                             bits = AIRY_CL_BUFFER(call->words),
                             sizes = AIRY_CL_BUFFER(call->sizes),
                             parts = AIRY_CL_BUFFER(call->parts), rows = AIRY_CL_BUFFER(call->rows),
                             answer = {.buffer = call->answer.memory},
                             geom = AIRY_CL_VALUE(call->geom);
    const struct airy_cl_arg tiles[] = {
        src, nodes, bits, sizes, call->labels, AIRY_CL_BUFFER(call->turns), geom};
    AIRY_TRY(launch_label(call, "label_tiles", groups * AIRY_LABEL_GROUP,
                          (double)airy_array_size(call->src) + words + call->label_bytes, tiles,
                          sizeof(tiles) / sizeof(tiles[0])));
    const struct airy_cl_arg merge[] = {nodes, bits, geom};
    if (g->depth > 1)
        AIRY_TRY(launch_label(call, "label_merge", (size_t)g->total * AIRY_LABEL_MERGERS, words,
                              merge, sizeof(merge) / sizeof(merge[0])));
    if (g->sized) {
        const struct airy_cl_arg count[] = {nodes, bits, sizes, geom};
        AIRY_TRY(launch_label(call, "label_sizes", g->total, words, count,
                              sizeof(count) / sizeof(count[0])));
    }
    const struct airy_cl_arg number[] = {src,   nodes, bits,   sizes, call->labels,
                                         parts, rows,  answer, geom};
    return launch_label(call, "label_number", g->total, 2 * words, number,
                        sizeof(number) / sizeof(number[0]));
}

/* A walk of measure.cl over all words. */
static airy_status run_walk(const struct call *call, const char *name, double bytes)
{
    const struct airy_cl_arg args[] = {AIRY_CL_ARRAY(call->src),    call->measured,
                                       AIRY_CL_BUFFER(call->words), AIRY_CL_BUFFER(call->parts),
                                       AIRY_CL_BUFFER(call->rows),  AIRY_CL_VALUE(call->geom)};
    return launch(call, &(struct airy_cl_kernel_spec){"measure.cl", name, call->value},
                  call->geom.total, bytes + 4.0 * call->geom.total, args,
                  sizeof(args) / sizeof(args[0]));
}

_Static_assert(sizeof(airy_region) == sizeof(airy_label_row) &&
                   offsetof(airy_region, count) == offsetof(airy_label_row, count) &&
                   offsetof(airy_region, min_at) == offsetof(airy_label_row, least_at) &&
                   offsetof(airy_region, center) == offsetof(airy_label_row, center) &&
                   offsetof(airy_region, theta) == offsetof(airy_label_row, theta),
               "a row of measure.cl is an airy_region");

/* Rows of the labels that are still in the table. */
static airy_status run_finish(const struct call *call, size_t labels)
{
    const struct airy_cl_arg args[] = {AIRY_CL_BUFFER(call->parts), AIRY_CL_BUFFER(call->rows),
                                       AIRY_CL_VALUE(call->geom)};
    return launch(call, &(struct airy_cl_kernel_spec){"measure.cl", "measure_finish", call->value},
                  labels + 1, 0, args, sizeof(args) / sizeof(args[0]));
}

/* Sums and rows of labels with small boxes. */
static airy_status run_labels(const struct call *call, size_t labels)
{
    const size_t groups = airy_max_size(LABEL_GROUPS / call->images, LEAST_GROUPS);
    const struct airy_cl_arg args[] = {AIRY_CL_ARRAY(call->src),    call->measured,
                                       AIRY_CL_BUFFER(call->words), AIRY_CL_BUFFER(call->parts),
                                       AIRY_CL_BUFFER(call->rows),  {.buffer = call->answer.memory},
                                       AIRY_CL_VALUE(call->geom)};
    return launch(call, &(struct airy_cl_kernel_spec){"measure.cl", "measure_labels", call->value},
                  airy_min_size((labels + 1) * 32, groups * AIRY_LABEL_GROUP), 0, args,
                  sizeof(args) / sizeof(args[0]));
}

/* Sums and rows of all labels. */
static airy_status run_rest(const struct call *call, size_t labels)
{
    AIRY_TRY(run_walk(call, "measure_sums", 0));
    return run_finish(call, labels);
}

/* Wait for what there is to say of an image; it is there until the queue's next answer or copy. */
static airy_status wait_answer(const struct call *call, size_t image,
                               const airy_label_answer **answer)
{
    const void *data;
    AIRY_TRY(airy_cl_answer_wait(call->queue, &call->answer, image, &data));
    *answer = data;
    return AIRY_OK;
}

/* What is to be done for one image of a call. */
static struct call call_of(const struct call *call, size_t image)
{
    struct call one = *call;
    one.images = 1;
    one.geom.image = (uint32_t)image;
    return one;
}

/* Rows of labels to `regions`, from the one at `have` on, of one image. */
static airy_status pull_rows(const struct call *one, airy_region *regions, size_t have,
                             size_t count)
{
    airy_array rest = airy_cl_bytes_of(one->rows, (count - have) * sizeof(*regions));
    rest.offset = ((size_t)one->geom.image * one->geom.stride + 1 + have) * sizeof(*regions);
    return count > have ? airy_cl_pull(one->queue, regions + have, &rest, false) : AIRY_OK;
}

/* Measures of one image of more labels than there were entries for: both walks, with a table. */
static airy_status measure_many(const struct call *call, size_t image, airy_region *regions,
                                size_t count)
{
    struct call one = call_of(call, image);
    AIRY_TRY(take_parts(&one, count));
    one.geom.stride = 0; /* it is the only one */
    one.geom.counts[image] = (uint32_t)count;
    AIRY_TRY(run_walk(&one, "measure_extents", 0));
    AIRY_TRY(run_rest(&one, count));
    return pull_rows(&one, regions, 0, count);
}

/* Labels of an image whose rows are still to be made, or to be fetched. */
struct rest {
    size_t count, have; /* in all; the first ones are there */
    bool left;          /* rows are not made */
};

/* The rows that an answer has. */
static void take_told(const struct call *call, const airy_label_answer *answer,
                      airy_region *regions, struct rest *rest)
{
    rest->left = answer->left > 0;
    rest->have = rest->left ? 0 : airy_min_size(call->geom.told, rest->count);
    for (size_t i = 0; i < rest->have; i++)
        memcpy(regions + i, (const unsigned char *)answer + (i + 1) * AIRY_LABEL_LINE,
               sizeof(*regions));
}

/* The other rows; images of more labels than there were entries for come last, as they take more. */
static airy_status fetch_rest(const struct call *call, airy_region *const *regions,
                              const struct rest *rest)
{
    bool many = false;
    for (size_t i = 0; i < call->images; i++) {
        const struct call one = call_of(call, i);
        many = many || rest[i].count > call->geom.capacity;
        if (rest[i].count > call->geom.capacity)
            continue;
        if (rest[i].left)
            AIRY_TRY(run_rest(&one, rest[i].count));
        AIRY_TRY(pull_rows(&one, regions[i], rest[i].have, rest[i].count));
    }
    if (many)
        airy_buffer_release(&call->queue->scratch[AIRY_SCRATCH_LABELS]); /* it is not empty */
    for (size_t i = 0; i < call->images && many; i++)
        if (rest[i].count > call->geom.capacity)
            AIRY_TRY(measure_many(call, i, regions[i], rest[i].count));
    return AIRY_OK;
}

/* Wait for the numbers of labels and for the measures, which come with them. */
static airy_status collect(const struct call *call, size_t *counts, airy_region **regions)
{
    struct rest rest[AIRY_LABEL_IMAGES];
    for (size_t i = 0; i < call->images; i++) {
        const airy_label_answer *answer;
        void *block;
        AIRY_TRY(wait_answer(call, i, &answer));
        rest[i].count = counts[i] = answer->count;
        if (!regions)
            continue;
        AIRY_TRY(airy_memory_calloc(&block, counts[i] + 1, sizeof(airy_region), "regions"));
        regions[i] = block;
        take_told(call, answer, regions[i], &rest[i]);
    }
    return regions ? fetch_rest(call, regions, rest) : AIRY_OK;
}

/* Components of some sizes only are wanted. */
static bool is_sized(const struct airy_label_plan *plan)
{
    return plan->min_count > 1 || plan->max_count < airy_array_count(plan->src);
}

/* What a component has to be, and what is foreground. */
static void set_components(airy_label_geom *g, const struct airy_label_plan *plan)
{
    const int c = plan->connectivity;
    g->edge = c == 8 || c == 18 || c == 26;
    g->corner = c == 26;
    g->sized = is_sized(plan);
    g->min_count = (uint32_t)(plan->min_count < UINT32_MAX ? plan->min_count : UINT32_MAX);
    g->max_count = (uint32_t)(plan->max_count < UINT32_MAX ? plan->max_count : UINT32_MAX);
    if (plan->has_above)
        find_keys(g, plan->src->dtype, plan->above);
}

static airy_status find_labels(airy_queue *queue, const struct airy_label_plan *plan, size_t first,
                               size_t images)
{
    struct call call;
    const airy_dtype dtype = plan->src->dtype;
    const bool measures = plan->regions != NULL;
    AIRY_TRY(start(&call, queue, plan->src, plan->labels, &plan->stack, first, images));
    airy_label_geom *g = &call.geom;
    set_components(g, plan);
    g->writes = plan->labels != NULL;
    call.label_bytes = plan->labels ? (double)airy_array_size(plan->labels) : 0;
    g->runs_at = g->total;
    snprintf(call.options, sizeof(call.options),
             "-DBYTES=%zu -DKIND=%d -DABOVE=%d -DMEASURES=%d %s", airy_dtype_size(dtype),
             kind_of(dtype), plan->has_above, measures, call.value);
    const size_t nodes = (size_t)g->total << g->shift;
    AIRY_TRY(take_words(&call, AIRY_SCRATCH_FRAMES, measures ? 2 * nodes : nodes, &call.nodes));
    call.measured = AIRY_CL_BUFFER(call.nodes);
    call.sizes = call.nodes;
    if (g->sized)
        AIRY_TRY(take_words(&call, AIRY_SCRATCH_PARTIALS, nodes, &call.sizes));
    AIRY_TRY(
        take_words(&call, AIRY_SCRATCH_TURNS, (size_t)g->tiles_x * g->tiles_y * 4, &call.turns));
    AIRY_TRY(take_parts(&call, measures ? AIRY_LABEL_MANY : 0)); /* row 0 is of the image */
    AIRY_TRY(begin_answer(&call, measures ? g->capacity : 0));
    AIRY_TRY(run_components(&call));
    if (measures)
        AIRY_TRY(run_labels(&call, g->capacity));
    return collect(&call, plan->counts + first, measures ? plan->regions + first : NULL);
}

/* Rows of labels begin and end at multiples of 16 bytes. */
static bool begins_quads(const airy_label_geom *g)
{
    const airy_label_rows *rows = &g->labels;
    return (rows->offset | rows->step_y | rows->step_z | g->labels_step | g->width) % 4 == 0;
}

/* The most labels that one of some images has. */
static size_t most_labels(const struct airy_measure_plan *plan, size_t first, size_t images)
{
    size_t most = 0;
    for (size_t i = 0; i < images; i++)
        most = airy_max_size(most, plan->counts[first + i]);
    return most;
}

static airy_status find_measures(airy_queue *queue, const struct airy_measure_plan *plan,
                                 size_t first, size_t images)
{
    const size_t most = most_labels(plan, first, images);
    struct call call;
    struct rest rest[AIRY_LABEL_IMAGES];
    AIRY_TRY(start(&call, queue, plan->src, plan->labels, &plan->stack, first, images));
    airy_label_geom *g = &call.geom;
    for (size_t i = 0; i < images; i++)
        g->counts[i] = (uint32_t)plan->counts[first + i];
    call.measured = call.labels;
    snprintf(call.value, sizeof(call.value), "-DT=%s -DIMAGE=1 -DQUADS=%d",
             airy_cl_types[plan->src->dtype].name, begins_quads(g));
    AIRY_TRY(take_parts(&call, most));
    AIRY_TRY(begin_answer(&call, most));
    AIRY_TRY(run_walk(&call, "measure_image", (double)airy_array_size(plan->labels)));
    AIRY_TRY(run_labels(&call, most));
    for (size_t i = 0; i < images; i++) {
        const airy_label_answer *answer;
        AIRY_TRY(wait_answer(&call, i, &answer));
        rest[i].count = plan->counts[first + i];
        take_told(&call, answer, plan->regions[first + i], &rest[i]);
    }
    return fetch_rest(&call, plan->regions + first, rest);
}

/* What is left in the tables of a call that failed is not empty, and nobody waits for its kernels. */
static airy_status drop_tables(airy_queue *queue, airy_status status)
{
    if (status != AIRY_OK) {
        (void)airy_cl_finish(queue);
        airy_buffer_release(&queue->scratch[AIRY_SCRATCH_LABELS]);
        airy_buffer_release(&queue->scratch[AIRY_SCRATCH_TURNS]);
    }
    return status;
}

static airy_status label(airy_queue *queue, const struct airy_label_plan *plan)
{
    const bool measures = plan->regions != NULL;
    const unsigned nodes = (measures ? 2 : 1) + is_sized(plan);
    const size_t images = plan->stack.images,
                 step = images_at_once(queue, &plan->stack, nodes, measures ? AIRY_LABEL_MANY : 0);
    airy_status status = check_device(queue, measures);
    for (size_t i = 0; i < images && status == AIRY_OK; i += step)
        status = find_labels(queue, plan, i, airy_min_size(step, images - i));
    return drop_tables(queue, status);
}

static airy_status measure(airy_queue *queue, const struct airy_measure_plan *plan)
{
    const size_t images = plan->stack.images,
                 step = images_at_once(queue, &plan->stack, 0, most_labels(plan, 0, images));
    airy_status status = check_device(queue, true);
    for (size_t i = 0; i < images && status == AIRY_OK; i += step)
        status = find_measures(queue, plan, i, airy_min_size(step, images - i));
    return drop_tables(queue, status);
}

const struct airy_label_fns airy_label_opencl = {.label = label, .measure = measure};
