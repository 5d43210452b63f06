/* Arithmetic element by element (kernels/element.cl). */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "core/backend.h"
#include "element/element_fns.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_launch.h"
#include "opencl/cl_move.h"

enum { MOST_GROUP = 256 };

/* Operations of the kernel's SLOW variant. */
static bool is_slow(unsigned op)
{
    return op == AIRY_DIVIDE || op == AIRY_POWER || op == AIRY_HYPOT ||
           (op >= AIRY_ELEMENT_FUNCTION + AIRY_SQRT && op <= AIRY_ELEMENT_FUNCTION + AIRY_LOG1P);
}

static airy_element_geom make_geom(const struct airy_element_plan *p)
{
    airy_element_geom g = {.dst = airy_cl_box(p->dst),
                           .a = airy_cl_box(p->a),
                           .b = airy_cl_box(p->b ? p->b : p->a),
                           .c = airy_cl_box(p->c ? p->c : p->a),
                           .count = airy_array_count(p->dst),
                           .wide_b = p->number_b.wide,
                           .wide_c = p->number_c.wide,
                           .narrow_b = (float)p->number_b.value,
                           .narrow_c = (float)p->number_c.value,
                           .op = p->op};
    memcpy(&g.bits_b, &p->number_b.value, sizeof(g.bits_b));
    memcpy(&g.bits_c, &p->number_c.value, sizeof(g.bits_c));
    return g;
}

static airy_status check_device(const airy_queue *queue, const struct airy_element_plan *p)
{
    const airy_device_info *info = &queue->device->info;
    const bool wide = p->domain == AIRY_ELEMENT_F64 || p->dst->dtype == AIRY_DTYPE_F64;
    AIRY_FAIL_HINT_IF(wide && !info->fp64, AIRY_ERR_UNSUPPORTED, AIRY_HINT_CPU_OR_FLOAT32,
                      AIRY_SUBJECT_DEVICE, "device '%s' has no double precision", info->spec);
    return AIRY_OK;
}

static airy_status launch(airy_queue *queue, const struct airy_element_plan *p,
                          const airy_buffer *counter)
{
    const airy_element_geom geom = make_geom(p);
    char options[320];
    snprintf(options, sizeof(options),
             "-DAIRY_ELEMENT_CLASS=%d -DTA=%s -DTB=%s -DTC=%s -DTD=%s -DTD_MIN=%s -DTD_MAX=%s "
             "-DTD_FLOAT=%d -DHAS_B=%d -DHAS_C=%d -DSLOW=%d -DTRUNCATE=%d -DCOUNT=%d",
             p->domain, airy_cl_types[p->a->dtype].name,
             p->b ? airy_cl_types[p->b->dtype].name : "uchar",
             p->c ? airy_cl_types[p->c->dtype].name : "uchar", airy_cl_types[p->dst->dtype].name,
             airy_cl_types[p->dst->dtype].min, airy_cl_types[p->dst->dtype].max,
             airy_dtype_is_float(p->dst->dtype), p->b != NULL, p->c != NULL, is_slow(p->op),
             p->truncate, p->inexact != NULL);
    const struct airy_cl_kernel_spec spec = {"element.cl", "element", options};
    const struct airy_cl_arg args[] = {AIRY_CL_ARRAY(p->dst),
                                       AIRY_CL_ARRAY(p->a),
                                       p->b ? AIRY_CL_ARRAY(p->b) : AIRY_CL_NULL,
                                       p->c ? AIRY_CL_ARRAY(p->c) : AIRY_CL_NULL,
                                       counter ? AIRY_CL_BUFFER(counter) : AIRY_CL_NULL,
                                       AIRY_CL_VALUE(geom)};
    const airy_array *const arrays[4] = {p->dst, p->a, p->b, p->c};
    double bytes = 0;
    for (int i = 0; i < 4; i++)
        bytes += arrays[i] ? (double)airy_array_size(arrays[i]) : 0;
    const size_t global = geom.count,
                 local = airy_min_size(MOST_GROUP, queue->device->info.max_group);
    return airy_cl_launch(queue, &spec, 1, &global, &local, bytes, args,
                          sizeof(args) / sizeof(args[0]));
}

static airy_status run(airy_queue *queue, const struct airy_element_plan *plan)
{
    AIRY_TRY(check_device(queue, plan));
    if (!plan->inexact)
        return launch(queue, plan, NULL);
    airy_buffer *buffer;
    uint32_t counts[2] = {0, 0};
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_SMALL, sizeof(counts), &buffer));
    const airy_array view = {
        .buffer = buffer, .dtype = AIRY_DTYPE_U32, .ndim = 1, .shape = {2}, .pitch = {1}};
    AIRY_TRY(airy_cl_push(queue, &view, counts, false));
    AIRY_TRY(launch(queue, plan, buffer));
    AIRY_TRY(airy_cl_pull(queue, counts, &view, false));
    /* The number starts again at 2^32. */
    *plan->inexact += counts[0] == 0 && counts[1] != 0 ? (uint64_t)1 << 32 : counts[0];
    return AIRY_OK;
}

const struct airy_element_fns airy_element_opencl = {
    .run = run, .move = airy_cl_move, .project = airy_cl_project};
