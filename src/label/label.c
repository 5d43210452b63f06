#include "airy/label.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "core/backend.h"
#include "label/label_fns.h"

static airy_status get_fns(const struct airy_label_fns **fns, const airy_queue *queue)
{
    *fns = airy_queue_backend(queue)->label;
    AIRY_FAIL_IF(!*fns, AIRY_ERR_UNSUPPORTED, "back end '%s' does not implement label",
                 airy_queue_backend(queue)->name);
    return AIRY_OK;
}

/* Of an array's dimensions the first `lead` (0 or 1) count its images. */
static airy_array first_image(const airy_array *array, int lead)
{
    airy_array image = *array;
    image.ndim -= lead;
    for (int i = 0; i < image.ndim; i++) {
        image.shape[i] = array->shape[i + lead];
        image.pitch[i] = array->pitch[i + lead];
    }
    return image;
}

/* src, and labels of its shape. */
static airy_status check_arrays(struct airy_label_stack *stack, const airy_queue *queue,
                                const airy_array *labels, const airy_array *src, int lead)
{
    char text[96], other[96];
    AIRY_FAIL_IF(!queue || !src, AIRY_ERR_PARAM, "%s is NULL", queue ? "src" : "queue");
    AIRY_TRY(airy_check_device(queue, src, "src"));
    AIRY_FAIL_IF(src->ndim <= lead || src->ndim > lead + 3, AIRY_ERR_SHAPE,
                 "src is %s, expected %d to %d dimensions", airy_array_describe(src, text),
                 lead + 1, lead + 3);
    const airy_array image = first_image(src, lead);
    AIRY_FAIL_IF(airy_array_count(&image) > INT32_MAX, AIRY_ERR_SHAPE,
                 "src is %s, expected fewer than 2^31 elements%s", airy_array_describe(src, text),
                 lead ? " an image" : "");
    *stack = (struct airy_label_stack){.images = lead ? src->shape[0] : 1,
                                       .src_step = lead ? src->pitch[0] : 0,
                                       .labels_step = lead && labels ? labels->pitch[0] : 0};
    for (int i = 0; i < 3; i++) {
        const int axis = image.ndim - 3 + i;
        stack->shape[i] = axis < 0 ? 1 : image.shape[axis];
    }
    if (!labels)
        return AIRY_OK;
    AIRY_TRY(airy_check_device(queue, labels, "labels"));
    AIRY_FAIL_IF(labels->dtype != AIRY_DTYPE_U32 && labels->dtype != AIRY_DTYPE_I32, AIRY_ERR_DTYPE,
                 "labels is %s, expected uint32 or int32", airy_array_describe(labels, text));
    AIRY_FAIL_IF(labels->ndim != src->ndim ||
                     memcmp(labels->shape, src->shape, (size_t)src->ndim * sizeof(size_t)) != 0,
                 AIRY_ERR_SHAPE, "labels is %s, expected the shape of src, %s",
                 airy_array_describe(labels, text), airy_array_describe(src, other));
    return AIRY_OK;
}

static airy_status check_connectivity(int *connectivity, int ndim)
{
    static const int known[3][3] = {{2, 2, 2}, {4, 8, 8}, {6, 18, 26}};
    const int *k = known[ndim - 1];
    if (*connectivity == 0)
        *connectivity = k[0];
    const int c = *connectivity;
    AIRY_FAIL_IF(c != k[0] && c != k[1] && c != k[2], AIRY_ERR_PARAM,
                 "connectivity = %d of an array of %d dimensions, expected %s", c, ndim,
                 ndim == 1   ? "2"
                 : ndim == 2 ? "4 or 8"
                             : "6, 18 or 26");
    return AIRY_OK;
}

static airy_status run_label(airy_queue *queue, airy_array *labels, const airy_array *src, int lead,
                             const airy_label_params *params, size_t *counts, airy_region **regions)
{
    const airy_label_params p = params ? *params : (airy_label_params){.connectivity = 0};
    const struct airy_label_fns *fns;
    struct airy_label_plan plan = {.connectivity = p.connectivity,
                                   .has_above = p.has_above,
                                   .above = p.above,
                                   .min_count = p.min_count,
                                   .max_count = p.max_count ? p.max_count : UINT64_MAX,
                                   .counts = counts,
                                   .regions = regions};
    AIRY_FAIL_IF(p.has_above && isnan(p.above), AIRY_ERR_PARAM, "above = nan, expected a number");
    AIRY_FAIL_IF(plan.min_count > plan.max_count, AIRY_ERR_PARAM,
                 "min_count = %llu, expected at most max_count = %llu",
                 (unsigned long long)p.min_count, (unsigned long long)p.max_count);
    AIRY_TRY(check_arrays(&plan.stack, queue, labels, src, lead));
    AIRY_FAIL_IF(labels && airy_array_overlaps(labels, src), AIRY_ERR_PARAM,
                 "labels and src share memory");
    AIRY_TRY(check_connectivity(&plan.connectivity, src->ndim - lead));
    AIRY_TRY(get_fns(&fns, queue));
    const airy_array image = first_image(src, lead),
                     target = labels ? first_image(labels, lead) : image;
    plan.src = &image;
    plan.labels = labels ? &target : NULL;
    const airy_status status = fns->label(queue, &plan);
    for (size_t i = 0; i < plan.stack.images && regions && status != AIRY_OK; i++)
        airy_regions_free(regions[i]);
    return status;
}

airy_status airy_label(airy_queue *queue, airy_array *labels, const airy_array *src,
                       const airy_label_params *params, size_t *count, airy_region **regions)
{
    size_t found = 0;
    airy_region *list = NULL;
    AIRY_FAIL_IF(!count, AIRY_ERR_PARAM, "count is NULL");
    AIRY_TRY(run_label(queue, labels, src, 0, params, &found, regions ? &list : NULL));
    *count = found;
    if (regions)
        *regions = list;
    return AIRY_OK;
}

airy_status airy_label_each(airy_queue *queue, airy_array *labels, const airy_array *src,
                            const airy_label_params *params, size_t *counts, airy_region **regions)
{
    void *found = NULL, *lists = NULL;
    AIRY_FAIL_IF(!counts || !src, AIRY_ERR_PARAM, "%s is NULL", src ? "counts" : "src");
    const size_t images = src->shape[0];
    airy_status status = airy_memory_calloc(&found, images, sizeof(size_t), "counts of labels");
    if (status == AIRY_OK && regions)
        status = airy_memory_calloc(&lists, images, sizeof(airy_region *), "lists of regions");
    if (status == AIRY_OK)
        status = run_label(queue, labels, src, 1, params, found, lists);
    if (status == AIRY_OK) {
        memcpy(counts, found, images * sizeof(size_t));
        if (regions)
            memcpy(regions, lists, images * sizeof(airy_region *));
    }
    free(found);
    free(lists);
    return status;
}

static airy_status run_measure(airy_queue *queue, airy_region *const *regions, const size_t *counts,
                               const airy_array *labels, const airy_array *src, int lead)
{
    const struct airy_label_fns *fns;
    struct airy_measure_plan plan = {.regions = regions, .counts = counts};
    AIRY_TRY(check_arrays(&plan.stack, queue, labels, src, lead));
    for (size_t i = 0; i < plan.stack.images; i++) {
        AIRY_FAIL_IF(!regions[i] && counts[i], AIRY_ERR_PARAM, "regions of image %zu is NULL", i);
        AIRY_FAIL_IF(counts[i] > INT32_MAX, AIRY_ERR_PARAM, "count = %zu, expected below 2^31",
                     counts[i]);
    }
    AIRY_TRY(get_fns(&fns, queue));
    const airy_array image = first_image(src, lead), numbers = first_image(labels, lead);
    plan.src = &image;
    plan.labels = &numbers;
    return fns->measure(queue, &plan);
}

airy_status airy_measure(airy_queue *queue, airy_region *regions, size_t count,
                         const airy_array *labels, const airy_array *src)
{
    AIRY_FAIL_IF(!labels, AIRY_ERR_PARAM, "labels is NULL");
    return run_measure(queue, &regions, &count, labels, src, 0);
}

airy_status airy_measure_each(airy_queue *queue, airy_region *const *regions, const size_t *counts,
                              const airy_array *labels, const airy_array *src)
{
    AIRY_FAIL_IF(!labels || !counts || !regions, AIRY_ERR_PARAM, "%s is NULL",
                 !labels   ? "labels"
                 : !counts ? "counts"
                           : "regions");
    return run_measure(queue, regions, counts, labels, src, 1);
}

void airy_regions_free(airy_region *regions)
{
    free(regions);
}

/* Semi-axes and angle: eigenvalues of [[mxx, mxy], [mxy, myy]]. */
static void set_ellipse(airy_region *r)
{
    if (isnan(r->mxx)) {
        r->a = r->b = r->theta = (double)NAN;
        return;
    }
    const double middle = 0.5 * (r->mxx + r->myy), half = 0.5 * (r->mxx - r->myy),
                 reach = hypot(half, r->mxy);
    r->a = sqrt(fmax(middle + reach, 0.0));
    r->b = sqrt(fmax(middle - reach, 0.0));
    r->theta = 0.5 * atan2(2 * r->mxy, r->mxx - r->myy);
}

void airy_region_finish(airy_region *r, const struct airy_region_sums *s, const double origin[3],
                        const double length[3])
{
    const double n = (double)s->count;
    double u[3];
    r->count = s->count;
    r->sum = s->count ? s->sum : (double)NAN;
    r->mean = s->sum / n; /* 0 / 0 of none */
    for (int i = 0; i < 3; i++) {
        u[i] = s->sum != 0 ? s->moment[i] / s->sum : (double)NAN;
        r->center[i] = origin[i] + length[i] * u[i];
        r->centroid[i] = s->place[i] / n;
    }
    if (s->count == 0 || r->min > r->max) /* NaN only */
        r->min = r->max = (double)NAN;
    r->mxx = length[2] * length[2] * (s->xx / s->sum - u[2] * u[2]);
    r->myy = length[1] * length[1] * (s->yy / s->sum - u[1] * u[1]);
    r->mxy = length[2] * length[1] * (s->xy / s->sum - u[2] * u[1]);
    set_ellipse(r);
}
