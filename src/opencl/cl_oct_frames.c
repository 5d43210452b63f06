/* OCT, what needs several lines at once (kernels/oct_frames.cl). */
#include <stdio.h>

#include "base/size.h"
#include "opencl/cl_launch.h"
#include "opencl/cl_move.h"
#include "opencl/cl_oct.h"

/*
 * GROUP: items. FEWEST: lines that one item adds up, if there are as many; MOST: so that sums of 16 bits
 * fit in 32. WAVES: groups a compute unit should get.
 */
enum { GROUP = 64, FEWEST = 32, MOST = 1 << 16, WAVES = 8 };

/* Parts of a frame, so that all units have something to add up. */
static void choose_parts(airy_oct_mean_geom *g, const airy_queue *queue, size_t frames)
{
    const size_t groups = frames * g->chunks,
                 wanted = WAVES * airy_max_size(queue->device->info.units, 1);
    size_t parts = (wanted + groups - 1) / groups;
    parts = airy_min_size(parts, (g->lines + FEWEST - 1) / FEWEST);
    parts = airy_max_size(parts, (g->lines + MOST - 1) / MOST);
    g->part_lines = (uint32_t)((g->lines + parts - 1) / parts);
    g->parts = (g->lines + g->part_lines - 1) / g->part_lines;
}

airy_status airy_cl_oct_mean(airy_queue *queue, const struct airy_oct *oct, const airy_array *mean,
                             const airy_array *src, size_t frames)
{
    const struct airy_cl_oct *impl = oct->impl;
    const size_t n = oct->p.samples, group = GROUP;
    const unsigned at_once = airy_cl_oct_at_once(impl, oct, src, 4);
    airy_oct_mean_geom g = {.src_offset = src->offset,
                            .line_bytes = oct->info.line_bytes,
                            .dst_offset = airy_cl_offset(mean),
                            .lines = (uint32_t)oct->p.lines,
                            .samples = (uint32_t)n,
                            .taps = (uint32_t)oct->tables.taps,
                            .chunks = (uint32_t)((n / at_once + GROUP - 1) / GROUP)};
    char samples[96], options[128];
    airy_buffer *sums;
    choose_parts(&g, queue, frames);
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_PARTIALS, frames * g.parts * n * sizeof(float),
                                &sums));
    airy_cl_oct_sample_options(samples, sizeof(samples), impl, oct, at_once);
    snprintf(options, sizeof(options), "%s -DKERNEL=1", samples);
    const struct airy_cl_kernel_spec add = {"oct_frames.cl", "oct_mean_sum", options};
    const struct airy_cl_arg add_args[] = {AIRY_CL_ARRAY(src), AIRY_CL_BUFFER(sums),
                                           AIRY_CL_VALUE(g)};
    const size_t add_items = frames * g.parts * g.chunks * GROUP;
    AIRY_TRY(airy_cl_launch(queue, &add, 1, &add_items, &group,
                            (double)frames * (double)oct->info.frame_bytes, add_args, 3));
    snprintf(options, sizeof(options), "%s -DKERNEL=2", samples);
    g.chunks = (uint32_t)((n + GROUP - 1) / GROUP);
    const struct airy_cl_kernel_spec resample = {"oct_frames.cl", "oct_mean", options};
    const struct airy_cl_arg args[] = {AIRY_CL_BUFFER(sums), AIRY_CL_ARRAY(impl->mean),
                                       AIRY_CL_ARRAY(mean), AIRY_CL_VALUE(g)};
    const size_t items = frames * g.chunks * GROUP;
    return airy_cl_launch(queue, &resample, 1, &items, &group, (double)(frames * n) * sizeof(float),
                          args, 4);
}

airy_status airy_cl_oct_combine(airy_queue *queue, const struct airy_oct_combine_plan *plan)
{
    const struct airy_oct *oct = plan->oct;
    const airy_oct_params *p = &oct->p;
    const struct airy_cl_oct *impl = oct->impl;
    const airy_oct_finish *finish = &oct->finish;
    const bool frames = p->flow_frames;
    const size_t group = GROUP, depth = oct->info.depth,
                 rows = plan->frames / oct->info.frames_per_result * oct->info.out_lines;
    const airy_oct_combine_geom g = {.src_offset = airy_cl_offset(plan->src),
                                     .dst_offset = airy_cl_offset(plan->dst),
                                     .out_lines = (uint32_t)oct->info.out_lines,
                                     .depth = (uint32_t)depth,
                                     .lines = (uint32_t)p->lines,
                                     .average_lines = (uint32_t)p->average_lines,
                                     .average_frames = (uint32_t)p->average_frames,
                                     .repeat_lines = (uint32_t)(frames ? 1 : p->repeats),
                                     .repeat_frames = (uint32_t)(frames ? p->repeats : 1),
                                     .chunks = (uint32_t)((depth + GROUP - 1) / GROUP),
                                     .scale = finish->display ? finish->scale : 1,
                                     .offset = finish->display ? finish->offset : 0,
                                     .top = finish->top};
    const airy_dtype to = plan->dst->dtype;
    const bool post = finish->display && oct->post;
    char options[192];
    snprintf(options, sizeof(options),
             "-DGIVEN=%d -DQUANTITY=%d -DFLOW=%d -DSINUSOIDAL=%d -DOUT=%s -DINTEGER=%d -DPOST=%d "
             "-DKERNEL=3",
             (int)plan->given, (int)p->output, (int)p->flow, (int)p->sinusoidal,
             airy_cl_types[to].name, to != AIRY_DTYPE_F32, post);
    const struct airy_cl_kernel_spec spec = {"oct_frames.cl", "oct_combine", options};
    const struct airy_cl_arg args[] = {
        AIRY_CL_ARRAY(plan->src), impl->positions ? AIRY_CL_ARRAY(impl->positions) : AIRY_CL_NULL,
        post ? AIRY_CL_ARRAY(oct->post) : AIRY_CL_NULL, AIRY_CL_ARRAY(plan->dst), AIRY_CL_VALUE(g)};
    const size_t items = rows * g.chunks * GROUP;
    const double bytes = (double)airy_array_size(plan->src) + (double)airy_array_size(plan->dst);
    return airy_cl_launch(queue, &spec, 1, &items, &group, bytes, args,
                          sizeof(args) / sizeof(args[0]));
}
