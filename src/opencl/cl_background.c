/* Backgrounds (kernels/background.cl). */
#include <stdio.h>

#include "background/background_fns.h"
#include "base/error.h"
#include "base/size.h"
#include "core/backend.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_launch.h"
#include "opencl/cl_move.h"

enum {
    MAX_ITEMS = 256,
    MIN_ITEMS = 32,
    EACH = 16,         /* pixels that an item keeps in registers, if a mesh has so few */
    MAX_ROWS = 16,     /* of a map, that a group takes */
    CUBICS = 16 * 1024 /* bytes of a group's cubics, about which rows are chosen */
};

/* Items of a group: a power of two that the device admits. */
static airy_status choose_items(size_t *items, const airy_queue *queue)
{
    const airy_device_info *info = &queue->device->info;
    AIRY_FAIL_HINT_IF(!info->fp64, AIRY_ERR_UNSUPPORTED, AIRY_HINT_CPU, AIRY_SUBJECT_DEVICE,
                      "device '%s' has no double precision, which backgrounds need", info->spec);
    AIRY_FAIL_HINT_IF(info->max_group < MIN_ITEMS, AIRY_ERR_UNSUPPORTED, AIRY_HINT_CPU,
                      AIRY_SUBJECT_DEVICE,
                      "device '%s' takes work-groups of %u items, backgrounds need %d", info->spec,
                      info->max_group, MIN_ITEMS);
    *items = MAX_ITEMS;
    while (*items > info->max_group)
        *items /= 2;
    return AIRY_OK;
}

/* What f32 holds exactly, or nothing. */
static bool is_narrow(const airy_array *array)
{
    return !array || array->dtype == AIRY_DTYPE_F32 || airy_dtype_size(array->dtype) <= 2;
}

static airy_status meshes(airy_queue *queue, const struct airy_background_plan *plan,
                          double *level_noise)
{
    const airy_array *image = plan->image, *mask = plan->mask ? plan->mask : plan->image;
    const size_t nodes = plan->nodes[0] * plan->nodes[1],
                 area = airy_min_size(plan->mesh[0], image->shape[0]) *
                        airy_min_size(plan->mesh[1], image->shape[1]);
    size_t items;
    char options[96];
    airy_buffer *out;
    AIRY_TRY(choose_items(&items, queue));
    AIRY_FAIL_IF(nodes > UINT32_MAX / MAX_ITEMS, AIRY_ERR_SHAPE,
                 "image has %zu meshes, expected at most %u on an OpenCL device", nodes,
                 UINT32_MAX / MAX_ITEMS);
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_PARTIALS, 2 * nodes * sizeof(double), &out));
    snprintf(options, sizeof(options), "-DT=%s -DHAS_MASK=%d -DITEMS=%zu -DEACH=%d -DKEPT=%s",
             airy_cl_types[image->dtype].name, plan->mask != NULL, items,
             area <= EACH * items ? EACH : 0, is_narrow(image) ? "float" : "double");
    const airy_background_geom geom = {.src_offset = airy_cl_offset(image),
                                       .src_pitch = image->pitch[0],
                                       .mask_offset = airy_cl_offset(mask),
                                       .mask_pitch = mask->pitch[0],
                                       .height = (uint32_t)image->shape[0],
                                       .width = (uint32_t)image->shape[1],
                                       .mesh_y = (uint32_t)plan->mesh[0],
                                       .mesh_x = (uint32_t)plan->mesh[1],
                                       .nodes_y = (uint32_t)plan->nodes[0],
                                       .nodes_x = (uint32_t)plan->nodes[1],
                                       .estimate = (uint32_t)plan->estimate,
                                       .compat = plan->compat};
    const struct airy_cl_kernel_spec spec = {"background.cl", "background_mesh", options};
    const struct airy_cl_arg args[] = {AIRY_CL_ARRAY(image),
                                       plan->mask ? AIRY_CL_ARRAY(mask) : AIRY_CL_NULL,
                                       AIRY_CL_BUFFER(out), AIRY_CL_VALUE(geom)};
    const size_t global = nodes * items;
    const double bytes = (double)airy_array_size(image) +
                         (plan->mask ? (double)airy_array_size(mask) : 0);
    AIRY_TRY(airy_cl_launch(queue, &spec, 1, &global, &items, bytes, args,
                            sizeof(args) / sizeof(args[0])));
    const airy_array view = {
        .buffer = out, .dtype = AIRY_DTYPE_F64, .ndim = 1, .shape = {2 * nodes}, .pitch = {1}};
    return airy_cl_pull(queue, level_noise, &view, false);
}

static const char *type_of(const airy_array *array)
{
    return airy_cl_types[array ? array->dtype : AIRY_DTYPE_F32].name;
}

static airy_status map(airy_queue *queue, const struct airy_background_map_plan *plan)
{
    const struct airy_background *b = plan->background;
    const airy_array *dst = plan->dst ? plan->dst : plan->noise, *src = plan->src ? plan->src : dst,
                     *noise = plan->noise ? plan->noise : dst;
    size_t items;
    char options[192];
    AIRY_TRY(choose_items(&items, queue));
    const bool narrow = is_narrow(plan->dst) && is_narrow(plan->src) && is_narrow(plan->noise);
    const size_t maps = (plan->dst != NULL) + (plan->noise != NULL),
                 row = maps * (narrow ? 16 : 32) * (items / b->mesh[1] + 2),
                 rows = airy_max_size(airy_min_size(CUBICS / row, MAX_ROWS), 1);
    snprintf(options, sizeof(options),
             "-DTD=%s -DTS=%s -DTN=%s -DHAS_DST=%d -DHAS_SRC=%d -DHAS_NOISE=%d -DREAL=%s "
             "-DREAL4=%s4",
             type_of(plan->dst), type_of(plan->src), type_of(plan->noise), plan->dst != NULL,
             plan->src != NULL, plan->noise != NULL, narrow ? "float" : "double",
             narrow ? "float" : "double");
    const airy_background_map_geom geom = {.dst_offset = airy_cl_offset(dst),
                                           .dst_pitch = dst->pitch[0],
                                           .src_offset = airy_cl_offset(src),
                                           .src_pitch = src->pitch[0],
                                           .noise_offset = airy_cl_offset(noise),
                                           .noise_pitch = noise->pitch[0],
                                           .base = b->base,
                                           .floor = b->floor,
                                           .height = (uint32_t)b->shape[0],
                                           .width = (uint32_t)b->shape[1],
                                           .mesh_y = (uint32_t)b->mesh[0],
                                           .mesh_x = (uint32_t)b->mesh[1],
                                           .nodes_y = (uint32_t)b->nodes[0],
                                           .nodes_x = (uint32_t)b->nodes[1],
                                           .compat = b->compat,
                                           .rows = (uint32_t)rows};
    const struct airy_cl_kernel_spec spec = {"background.cl", "background_map", options};
    const struct airy_cl_arg args[] = {plan->dst ? AIRY_CL_ARRAY(dst) : AIRY_CL_NULL,
                                       plan->src ? AIRY_CL_ARRAY(src) : AIRY_CL_NULL,
                                       plan->noise ? AIRY_CL_ARRAY(noise) : AIRY_CL_NULL,
                                       AIRY_CL_ARRAY(b->splines),
                                       AIRY_CL_LOCAL(row * rows),
                                       AIRY_CL_VALUE(geom)};
    const airy_array *const arrays[3] = {plan->dst, plan->src, plan->noise};
    double bytes = 0;
    for (int i = 0; i < 3; i++)
        bytes += arrays[i] ? (double)airy_array_size(arrays[i]) : 0;
    const size_t global[2] = {b->shape[1], (b->shape[0] + rows - 1) / rows}, local[2] = {items, 1};
    return airy_cl_launch(queue, &spec, 2, global, local, bytes, args,
                          sizeof(args) / sizeof(args[0]));
}

const struct airy_background_fns airy_background_opencl = {.meshes = meshes, .map = map};
