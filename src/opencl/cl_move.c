/* Moving elements (kernels/move.cl) and projections (kernels/project.cl). */
#include "opencl/cl_move.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "core/backend.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_launch.h"
#include "shared/move_geom.h"

enum { GROUP = 64 };

airy_status airy_cl_move(airy_queue *queue, const struct airy_move_plan *plan)
{
    static const char *const types[9] = {
        [1] = "-DT=uchar", [2] = "-DT=ushort", [4] = "-DT=uint", [8] = "-DT=ulong"};
    airy_move_geom geom = {.src_offset = (int64_t)airy_cl_offset(plan->src),
                           .dst_offset = (int64_t)airy_cl_offset(plan->dst)};
    airy_buffer *buffer;
    size_t total = 0;
    for (int i = 0; i < AIRY_MAX_DIMS; i++) {
        geom.dst_step[i] = (int64_t)plan->step[i];
        geom.n[i] = (int64_t)plan->n[i];
        geom.table[i] = (int64_t)total;
        total += plan->n[i];
    }
    memcpy(&geom.pattern, plan->pattern, sizeof(geom.pattern));
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_SMALL, total * sizeof(int64_t), &buffer));
    const airy_array table = {
        .buffer = buffer, .dtype = AIRY_DTYPE_I64, .ndim = 1, .shape = {total}, .pitch = {1}};
    AIRY_TRY(airy_cl_push(queue, &table, plan->place[0], false));
    const struct airy_cl_kernel_spec spec = {"move.cl", "move",
                                             types[airy_dtype_size(plan->dst->dtype)]};
    const struct airy_cl_arg args[] = {AIRY_CL_ARRAY(plan->dst), AIRY_CL_ARRAY(plan->src),
                                       AIRY_CL_BUFFER(buffer), AIRY_CL_VALUE(geom)};
    const size_t global[3] = {plan->n[3], plan->n[2], plan->n[0] * plan->n[1]},
                 local[3] = {GROUP, 1, 1};
    return airy_cl_launch(queue, &spec, 3, global, local, 2.0 * (double)airy_array_size(plan->dst),
                          args, sizeof(args) / sizeof(args[0]));
}

airy_status airy_cl_project(airy_queue *queue, const struct airy_project_plan *plan)
{
    const airy_device_info *info = &queue->device->info;
    const struct airy_cl_type *to = &airy_cl_types[plan->dst->dtype];
    AIRY_FAIL_HINT_IF(!info->fp64, AIRY_ERR_UNSUPPORTED, AIRY_HINT_CPU, AIRY_SUBJECT_DEVICE,
                      "device '%s' has no double precision, which projections need", info->spec);
    airy_project_geom geom = {.src_offset = (int64_t)airy_cl_offset(plan->src),
                              .dst_offset = (int64_t)airy_cl_offset(plan->dst)};
    for (int i = 0; i < AIRY_MAX_DIMS; i++) {
        geom.src_step[i] = (int64_t)plan->src_step[i];
        geom.dst_step[i] = (int64_t)plan->dst_step[i];
        geom.n[i] = (int64_t)plan->n[i];
        geom.factor[i] = (int64_t)plan->factor[i];
    }
    char options[192];
    snprintf(options, sizeof(options),
             "-DT=%s -DTD=%s -DTD_MIN=%s -DTD_MAX=%s -DTD_FLOAT=%d -DHOW=%d -DSKIP_NAN=%d",
             airy_cl_types[plan->src->dtype].name, to->name, to->min, to->max,
             airy_dtype_is_float(plan->dst->dtype), (int)plan->projection, plan->skip_nan);
    const struct airy_cl_kernel_spec spec = {"project.cl", "project", options};
    const struct airy_cl_arg args[] = {AIRY_CL_ARRAY(plan->dst), AIRY_CL_ARRAY(plan->src),
                                       AIRY_CL_VALUE(geom)};
    const size_t global[3] = {plan->n[3], plan->n[2], plan->n[0] * plan->n[1]},
                 local[3] = {GROUP, 1, 1};
    return airy_cl_launch(queue, &spec, 3, global, local, (double)airy_array_size(plan->src), args,
                          sizeof(args) / sizeof(args[0]));
}
