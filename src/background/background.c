#include "airy/background.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "background/background_fns.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/backend.h"

enum { DEFAULT_MESH = 64, MIN_MESH = 2, MAX_MESH = 32768, DEFAULT_FILTER = 3, MAX_FILTER = 63 };

static airy_status fill_params(airy_background_params *p)
{
    for (int i = 0; i < 2; i++) {
        const char axis = i == 0 ? 'y' : 'x';
        if (p->mesh[i] == 0)
            p->mesh[i] = DEFAULT_MESH;
        if (p->filter[i] == 0)
            p->filter[i] = DEFAULT_FILTER;
        AIRY_FAIL_IF(p->mesh[i] < MIN_MESH || p->mesh[i] > MAX_MESH, AIRY_ERR_PARAM,
                     "mesh along %c = %zu px, expected %d to %d", axis, p->mesh[i], MIN_MESH,
                     MAX_MESH);
        AIRY_FAIL_IF(p->filter[i] % 2 == 0 || p->filter[i] > MAX_FILTER, AIRY_ERR_PARAM,
                     "filter along %c = %zu meshes, expected an odd number up to %d", axis,
                     p->filter[i], MAX_FILTER);
    }
    AIRY_FAIL_ON_IF(!(p->filter_threshold >= 0), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %g, expected a number of at least 0", "filter_threshold",
                    p->filter_threshold);
    AIRY_FAIL_ON_IF((unsigned)p->estimate >= AIRY_BACKGROUND_ESTIMATE_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d is none of airy_background_estimate",
                    "estimate", (int)p->estimate);
    return AIRY_OK;
}

static airy_status get_fns(const struct airy_background_fns **fns, const airy_queue *queue)
{
    *fns = airy_queue_backend(queue)->background;
    AIRY_FAIL_IF(!*fns, AIRY_ERR_UNSUPPORTED, "back end '%s' does not implement backgrounds",
                 airy_queue_backend(queue)->name);
    return AIRY_OK;
}

static airy_status check_image(const airy_queue *queue, const airy_array *image,
                               const airy_array *mask)
{
    char text[96], other[96];
    AIRY_TRY(airy_check_device(queue, image, "image"));
    AIRY_FAIL_IF(image->ndim != 2 || image->shape[0] > INT32_MAX || image->shape[1] > INT32_MAX,
                 AIRY_ERR_SHAPE, "image is %s, expected two dimensions below 2^31",
                 airy_array_describe(image, text));
    if (!mask)
        return AIRY_OK;
    AIRY_TRY(airy_check_device(queue, mask, "mask"));
    AIRY_FAIL_IF(mask->dtype != AIRY_DTYPE_U8, AIRY_ERR_DTYPE, "mask is %s, expected uint8",
                 airy_array_describe(mask, text));
    AIRY_FAIL_IF(mask->ndim != 2 || memcmp(mask->shape, image->shape, 2 * sizeof(size_t)) != 0,
                 AIRY_ERR_SHAPE, "mask is %s, expected the shape of image, %s",
                 airy_array_describe(mask, text), airy_array_describe(image, other));
    return AIRY_OK;
}

/* Statistics of the meshes made into nodes; level and noise: [nodes]. */
static airy_status make_nodes(double *level, double *noise, airy_background_info *info,
                              const airy_background_params *p)
{
    const size_t *nodes = info->nodes, count = nodes[0] * nodes[1];
    AIRY_TRY(airy_background_fill(level, noise, nodes, &info->bad));
    AIRY_FAIL_IF(info->bad == count, AIRY_ERR_PARAM,
                 "of %zu meshes of %zu x %zu px not one has half of its pixels finite and "
                 "unmasked; the image has no background",
                 count, p->mesh[0], p->mesh[1]);
    AIRY_TRY(airy_background_filter(level, noise, nodes, p->filter, p->filter_threshold));
    AIRY_TRY(airy_background_median(&info->level, level, count));
    return airy_background_median(&info->noise, noise, count);
}

/* The object, but for its handle. level, noise: nodes. */
static airy_status make_splines(struct airy_background *b, airy_queue *queue, const double *level,
                                const double *noise, double middle)
{
    const size_t *nodes = b->nodes, count = nodes[0] * nodes[1],
                 shape[4] = {2, AIRY_BACKGROUND_PLANES, nodes[0], nodes[1]};
    void *planes;
    /* A float, so that what lies near it is subtracted from floats without rounding. */
    b->base = fabs(middle) < 1e38 ? (double)(float)middle : 0;
    b->floor = b->compat ? -(double)INFINITY : (double)INFINITY;
    for (size_t i = 0; i < count && !b->compat; i++)
        b->floor = noise[i] < b->floor ? noise[i] : b->floor;
    AIRY_TRY(airy_memory_calloc(&planes, count, 2 * AIRY_BACKGROUND_PLANES * sizeof(double),
                                "splines of a background"));
    double *second = (double *)planes + AIRY_BACKGROUND_PLANES * count;
    airy_status status = airy_background_splines(planes, level, b->base, nodes, b->compat);
    if (status == AIRY_OK)
        status = airy_background_splines(second, noise, 0, nodes, b->compat);
    if (status == AIRY_OK)
        status = airy_array_create_from(&b->splines, queue, AIRY_DTYPE_F64, 4, shape, planes);
    free(planes);
    return status;
}

static airy_status make_background(struct airy_background *b, airy_queue *queue,
                                   const struct airy_background_plan *plan,
                                   const airy_background_params *p, airy_background_info *info)
{
    const struct airy_background_fns *fns;
    const size_t count = plan->nodes[0] * plan->nodes[1];
    void *block;
    AIRY_TRY(get_fns(&fns, queue));
    AIRY_TRY(airy_memory_calloc(&block, count, 2 * sizeof(double), "nodes of a background"));
    double *level = block, *noise = level + count;
    airy_status status = fns->meshes(queue, plan, level);
    if (status == AIRY_OK)
        status = make_nodes(level, noise, info, p);
    if (status == AIRY_OK)
        status = make_splines(b, queue, level, noise, info->level);
    free(block);
    return status;
}

airy_status airy_background_create(airy_background **background, airy_queue *queue,
                                   const airy_array *image, const airy_array *mask,
                                   const airy_background_params *params, airy_background_info *info)
{
    airy_background_params p = params ? *params : (airy_background_params){.compat_sep = false};
    AIRY_FAIL_ON_IF(!background || !queue || !image, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s is NULL",
                    !background ? "background"
                    : queue     ? "image"
                                : "queue");
    AIRY_TRY(fill_params(&p));
    AIRY_TRY(check_image(queue, image, mask));
    struct airy_background_plan plan = {
        .image = image, .mask = mask, .estimate = p.estimate, .compat = p.compat_sep};
    airy_background_info made = {.bad = 0};
    for (int i = 0; i < 2; i++) {
        plan.mesh[i] = p.mesh[i];
        plan.nodes[i] = made.nodes[i] = (image->shape[i] - 1) / p.mesh[i] + 1;
    }
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, 1, sizeof(struct airy_background), "a background"));
    struct airy_background *b = block;
    b->device = queue->device;
    b->compat = p.compat_sep;
    memcpy(b->shape, image->shape, sizeof(b->shape));
    memcpy(b->mesh, plan.mesh, sizeof(b->mesh));
    memcpy(b->nodes, plan.nodes, sizeof(b->nodes));
    const airy_status status = make_background(b, queue, &plan, &p, &made);
    if (status != AIRY_OK) {
        airy_background_destroy(&b);
        return status;
    }
    *background = b;
    if (info)
        *info = made;
    return AIRY_OK;
}

/* An array of the image's shape on its device; out: one that a map is written to. */
static airy_status check_map(const airy_queue *queue, const airy_background *b,
                             const airy_array *array, const char *name, bool out)
{
    char text[96];
    if (!array)
        return AIRY_OK;
    AIRY_TRY(airy_check_device(queue, array, name));
    AIRY_FAIL_ON_IF(array->ndim != 2 || memcmp(array->shape, b->shape, sizeof(b->shape)) != 0,
                    AIRY_ERR_SHAPE, AIRY_SUBJECT_PARAMETER,
                    "%s is %s, expected the shape of the image, [%zu, %zu]", name,
                    airy_array_describe(array, text), b->shape[0], b->shape[1]);
    AIRY_FAIL_ON_IF(out && !airy_dtype_is_float(array->dtype), AIRY_ERR_DTYPE,
                    AIRY_SUBJECT_PARAMETER, "%s is %s, expected float32 or float64", name,
                    airy_array_describe(array, text));
    return AIRY_OK;
}

static airy_status check_apart(const airy_array *a, const char *a_name, const airy_array *b,
                               const char *b_name)
{
    AIRY_FAIL_IF(a && b && airy_array_overlaps(a, b), AIRY_ERR_PARAM, "%s and %s share memory",
                 a_name, b_name);
    return AIRY_OK;
}

static bool is_same(const airy_array *a, const airy_array *b)
{
    return a->buffer == b->buffer && a->offset == b->offset && a->dtype == b->dtype &&
           a->pitch[0] == b->pitch[0];
}

static airy_status run_map(airy_queue *queue, const struct airy_background_map_plan *plan)
{
    const struct airy_background_fns *fns;
    AIRY_FAIL_IF(queue->device != plan->background->device, AIRY_ERR_PARAM,
                 "background is on another device than queue");
    AIRY_TRY(get_fns(&fns, queue));
    return fns->map(queue, plan);
}

airy_status airy_background_map(airy_queue *queue, const airy_background *background,
                                airy_array *level, airy_array *noise)
{
    AIRY_FAIL_ON_IF(!queue || !background, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s is NULL",
                    queue ? "background" : "queue");
    AIRY_FAIL_IF(!level && !noise, AIRY_ERR_PARAM, "level and noise are NULL");
    AIRY_TRY(check_map(queue, background, level, "level", true));
    AIRY_TRY(check_map(queue, background, noise, "noise", true));
    AIRY_TRY(check_apart(level, "level", noise, "noise"));
    const struct airy_background_map_plan plan = {
        .background = background, .dst = level, .noise = noise};
    return run_map(queue, &plan);
}

airy_status airy_background_subtract(airy_queue *queue, const airy_background *background,
                                     airy_array *dst, const airy_array *src, airy_array *noise)
{
    AIRY_FAIL_ON_IF(!queue || !background || !dst || !src, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s is NULL",
                    !queue        ? "queue"
                    : !background ? "background"
                    : dst         ? "src"
                                  : "dst");
    AIRY_TRY(check_map(queue, background, dst, "dst", true));
    AIRY_TRY(check_map(queue, background, src, "src", false));
    AIRY_TRY(check_map(queue, background, noise, "noise", true));
    if (!is_same(dst, src))
        AIRY_TRY(check_apart(dst, "dst", src, "src"));
    AIRY_TRY(check_apart(dst, "dst", noise, "noise"));
    AIRY_TRY(check_apart(src, "src", noise, "noise"));
    const struct airy_background_map_plan plan = {
        .background = background, .dst = dst, .src = src, .noise = noise};
    return run_map(queue, &plan);
}

void airy_background_destroy(airy_background **background)
{
    if (!background || !*background)
        return;
    airy_array_destroy(&(*background)->splines);
    free(*background);
    *background = NULL;
}
