/* Rank filters (kernels/rank.cl). */
#include "opencl/cl_rank.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_launch.h"
#include "opencl/cl_move.h"
#include "shared/hampel_geom.h"

enum {
    LOCAL_REST = 128, /* what the kernel and a driver add to local memory */
    MAX_SMALL = 49,   /* elements of a median in registers */
    GROUP = 64
};

/* Where a pass reads or writes; steps in elements: image, z, y. */
struct place {
    struct airy_cl_arg buffer;
    uint64_t offset;
    size_t step[3];
};

struct pass {
    airy_queue *queue;
    const struct airy_rank_plan *plan;
    struct place src, dst;
    airy_rank_geom geom;
    char options[160];
};

static struct place place_of(const airy_array *array, const struct airy_filter_geometry *g)
{
    struct place p = {.buffer = AIRY_CL_ARRAY(array), .offset = airy_cl_offset(array)};
    airy_filter_steps(p.step, array, g);
    return p;
}

static struct pass start_pass(airy_queue *queue, const struct airy_rank_plan *plan)
{
    const struct airy_filter_geometry *g = &plan->geometry;
    struct pass pass = {.queue = queue,
                        .plan = plan,
                        .src = place_of(plan->src, g),
                        .dst = place_of(plan->dst, g),
                        .geom = {.border = (uint32_t)g->border,
                                 .count = (uint32_t)plan->count,
                                 .rank = (uint32_t)plan->rank}};
    memcpy(&pass.geom.outside, &plan->outside, sizeof(pass.geom.outside));
    for (int i = 0; i < 3; i++) {
        pass.geom.n[i] = (int64_t)g->axis[i].n;
        pass.geom.taps[i] = (uint32_t)g->axis[i].taps;
        pass.geom.first[i] = g->axis[i].offset - (int64_t)(g->axis[i].taps - 1);
    }
    return pass;
}

static void set_places(struct pass *pass)
{
    airy_rank_geom *g = &pass->geom;
    g->src_offset = (int64_t)pass->src.offset;
    g->dst_offset = (int64_t)pass->dst.offset;
    for (int i = 0; i < 3; i++) {
        g->src_step[i] = (int64_t)pass->src.step[i];
        g->dst_step[i] = (int64_t)pass->dst.step[i];
    }
}

/* runs: of a footprint, or NULL for kernels that have none. more: build options. */
static airy_status launch(struct pass *pass, const char *kernel, const struct airy_cl_arg *runs,
                          size_t local_size, const size_t *global, const size_t *local,
                          const char *more)
{
    static const char *const types[4] = {"uchar", "ushort", "uint", "ulong"};
    const airy_dtype dtype = pass->plan->src->dtype;
    const size_t elem = airy_dtype_size(dtype);
    snprintf(pass->options, sizeof(pass->options), "-DT=%s -DK=%s -DKIND=%d%s",
             types[elem == 8 ? 3 : elem / 2], elem == 8 ? "ulong" : "uint",
             airy_dtype_is_float(dtype)    ? 2
             : airy_dtype_is_signed(dtype) ? 1
                                           : 0,
             more);
    const struct airy_cl_kernel_spec spec = {"rank.cl", kernel, pass->options};
    set_places(pass);
    struct airy_cl_arg args[5];
    size_t n = 0;
    args[n++] = pass->src.buffer;
    if (runs)
        args[n++] = *runs;
    args[n++] = pass->dst.buffer;
    if (local_size)
        args[n++] = AIRY_CL_LOCAL(local_size);
    args[n++] = AIRY_CL_VALUE(pass->geom);
    return airy_cl_launch(pass->queue, &spec, 3, global, local,
                          2 * (double)airy_array_size(pass->plan->src), args, n);
}

/* A median in registers: of the windows that are asked for most; each is a kernel of its own. */
static bool is_small(const struct airy_rank_plan *plan)
{
    const struct airy_filter_axis *a = plan->geometry.axis;
    const bool even_sides = (a[0].taps == 1 || a[0].taps == a[2].taps) && a[1].taps == a[2].taps;
    return !plan->footprint && even_sides && plan->count % 2 == 1 && plan->count > 1 &&
           plan->count <= MAX_SMALL && plan->rank == plan->count / 2;
}

static airy_status run_small(airy_queue *queue, const struct airy_rank_plan *plan)
{
    const struct airy_filter_axis *a = plan->geometry.axis;
    struct pass pass = start_pass(queue, plan);
    char more[64];
    snprintf(more, sizeof(more), " -DNX=%zu -DNY=%zu -DNZ=%zu", a[2].taps, a[1].taps, a[0].taps);
    const size_t each = AIRY_RANK_SMALL_EACH(plan->count),
                 local[3] = {AIRY_RANK_X, GROUP / AIRY_RANK_X, 1};
    const size_t global[3] = {a[2].n, (a[1].n + each - 1) / each, a[0].n * plan->geometry.images};
    return launch(&pass, "rank_small", NULL, 0, global, local, more);
}

/* The runs of the footprint on the device; *count 0 for a box. */
static airy_status push_runs(airy_queue *queue, const struct airy_rank_plan *plan,
                             struct airy_cl_arg *arg, uint32_t *count)
{
    const struct airy_filter_axis *a = plan->geometry.axis;
    const uint8_t *row = plan->footprint;
    airy_buffer *buffer;
    void *block;
    *arg = AIRY_CL_NULL;
    *count = 0;
    if (!row)
        return AIRY_OK;
    AIRY_TRY(airy_memory_calloc(&block, plan->count, sizeof(airy_rank_stretch), "a footprint"));
    airy_rank_stretch *run = block;
    for (uint32_t z = 0; z < a[0].taps; z++)
        for (uint32_t y = 0; y < a[1].taps; y++, row += a[2].taps)
            for (uint32_t x = 0, end; x < a[2].taps; x = end + 1) {
                for (end = x; end < a[2].taps && row[end];)
                    end++;
                if (end > x)
                    run[(*count)++] = (airy_rank_stretch){z, y, x, end};
            }
    const size_t size = *count * sizeof(*run);
    airy_status status = airy_queue_scratch(queue, AIRY_SCRATCH_SMALL, size, &buffer);
    if (status == AIRY_OK) {
        const airy_array bytes = airy_cl_bytes_of(buffer, size);
        /* Not page-locked: it is copied before this returns. */
        status = airy_cl_push(queue, &bytes, run, false);
        *arg = AIRY_CL_BUFFER(buffer);
    }
    free(block);
    return status;
}

static airy_status run_select(airy_queue *queue, const struct airy_rank_plan *plan)
{
    const struct airy_filter_axis *a = plan->geometry.axis;
    const airy_device_info *info = &queue->device->info;
    struct pass pass = start_pass(queue, plan);
    struct airy_cl_arg runs;
    AIRY_TRY(push_runs(queue, plan, &runs, &pass.geom.runs));
    const size_t elem = airy_dtype_size(plan->src->dtype), planes = a[0].n * plan->geometry.images;
    const size_t group = airy_min_size(info->max_group, 256), items = group / AIRY_RANK_X;
    for (size_t each = 4; each >= 1 && items >= 1; each /= 2) {
        const size_t rows = items * each, width = AIRY_RANK_X + a[2].taps - 1,
                     height = rows + a[1].taps - 1, size = width * height * a[0].taps * elem;
        if (size + LOCAL_REST > info->local_mem)
            continue;
        char more[64];
        snprintf(more, sizeof(more), " -DGY=%zu -DEACH=%zu", items, each);
        pass.geom.tile_width = (uint32_t)width;
        pass.geom.tile_height = (uint32_t)height;
        const size_t global[3] = {a[2].n, (a[1].n + rows - 1) / rows * items, planes},
                     local[3] = {AIRY_RANK_X, items, 1};
        return launch(&pass, "rank_select", &runs, size, global, local, more);
    }
    const size_t global[3] = {a[2].n, a[1].n, planes}, local[3] = {AIRY_RANK_X, 1, 1};
    return launch(&pass, "rank_far", &runs, 0, global, local, "");
}

/* A minimum or maximum along one axis. */
static airy_status run_axis(struct pass *pass, int axis)
{
    const struct airy_filter_axis *a = pass->plan->geometry.axis;
    const size_t taps = a[axis].taps, images = pass->plan->geometry.images;
    /* Results of an item: at most the length of the window. */
    const size_t run = taps >= 32 ? 16 : taps >= 8 ? 8 : taps >= 2 ? 2 : 1;
    char more[48];
    snprintf(more, sizeof(more), " -DLARGEST=%d -DRUN=%zu", pass->plan->rank > 0, run);
    pass->geom.axis = (uint32_t)axis;
    if (axis == 2) {
        const size_t each = AIRY_RANK_LINE * run, last = each + taps - 2;
        const size_t size = (last + last / run + 1) * airy_dtype_size(pass->plan->src->dtype);
        const size_t global[3] = {(a[2].n + each - 1) / each * AIRY_RANK_LINE, a[1].n,
                                  a[0].n * images},
                     local[3] = {AIRY_RANK_LINE, 1, 1};
        return launch(pass, "rank_line", NULL, size, global, local, more);
    }
    const size_t runs = (a[axis].n + run - 1) / run;
    const size_t global[3] = {a[2].n, axis == 1 ? runs : a[1].n,
                              (axis == 1 ? a[0].n : runs) * images},
                 local[3] = {GROUP, 1, 1};
    return launch(pass, "rank_run", NULL, 0, global, local, more);
}

/* x, then y, then z, each from what the one before has left; two pieces of scratch take turns. */
static airy_status run_extreme(airy_queue *queue, const struct airy_rank_plan *plan)
{
    static const enum airy_scratch slots[2] = {AIRY_SCRATCH_FRAMES, AIRY_SCRATCH_PARTIALS};
    const struct airy_filter_axis *a = plan->geometry.axis;
    struct pass pass = start_pass(queue, plan);
    const struct place dst = pass.dst;
    int last = 2;
    for (int axis = 1; axis >= 0; axis--)
        if (a[axis].taps > 1)
            last = axis;
    for (int axis = 2, turn = 0; axis >= last; axis--) {
        if (a[axis].taps == 1 && axis != last)
            continue;
        pass.dst = dst;
        if (axis != last) {
            airy_buffer *buffer;
            AIRY_TRY(airy_queue_scratch(queue, slots[turn++], airy_array_size(plan->src), &buffer));
            pass.dst = (struct place){.buffer = AIRY_CL_BUFFER(buffer),
                                      .step = {a[0].n * a[1].n * a[2].n, a[1].n * a[2].n, a[2].n}};
        }
        AIRY_TRY(run_axis(&pass, axis));
        pass.src = pass.dst;
    }
    return AIRY_OK;
}

airy_status airy_cl_rank(airy_queue *queue, const struct airy_rank_plan *plan)
{
    const airy_device_info *info = &queue->device->info;
    AIRY_FAIL_HINT_IF(info->max_group < GROUP, AIRY_ERR_UNSUPPORTED, AIRY_HINT_CPU,
                      AIRY_SUBJECT_DEVICE,
                      "device '%s' takes work-groups of %u items, filters need %d", info->spec,
                      info->max_group, GROUP);
    if (!plan->footprint && (plan->rank == 0 || plan->rank + 1 == plan->count))
        return run_extreme(queue, plan);
    return is_small(plan) ? run_small(queue, plan) : run_select(queue, plan);
}

airy_status airy_cl_hampel(airy_queue *queue, const struct airy_hampel_plan *plan)
{
    const struct airy_rank_plan *m = &plan->median;
    const airy_device_info *info = &queue->device->info;
    AIRY_FAIL_HINT_IF(!info->fp64, AIRY_ERR_UNSUPPORTED, AIRY_HINT_CPU, AIRY_SUBJECT_DEVICE,
                      "device '%s' has no double precision, which the Hampel filter needs",
                      info->spec);
    AIRY_TRY(airy_cl_rank(queue, m));
    struct pass pass = start_pass(queue, m);
    set_places(&pass);
    const airy_hampel_geom geom = {.box = pass.geom,
                                   .count = airy_array_count(m->src),
                                   .limit = plan->limit,
                                   .value = m->geometry.border_value};
    snprintf(pass.options, sizeof(pass.options), "-DT=%s", airy_cl_types[m->src->dtype].name);
    const struct airy_cl_kernel_spec spec = {"hampel.cl", "hampel", pass.options};
    const struct airy_cl_arg args[] = {AIRY_CL_ARRAY(m->src), AIRY_CL_ARRAY(m->dst),
                                       AIRY_CL_VALUE(geom)};
    const size_t items = geom.count, local = GROUP;
    return airy_cl_launch(queue, &spec, 1, &items, &local, 3 * (double)airy_array_size(m->src),
                          args, sizeof(args) / sizeof(args[0]));
}
