#include "airy/label.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "core/backend.h"
#include "label/label_fns.h"
#include "shared/label_geom.h"

static airy_status get_fns(const struct airy_label_fns **fns, const airy_queue *queue)
{
    *fns = airy_queue_backend(queue)->label;
    AIRY_FAIL_IF(!*fns, AIRY_ERR_UNSUPPORTED, "back end '%s' does not implement label",
                 airy_queue_backend(queue)->name);
    return AIRY_OK;
}

/* src, and labels of its shape. */
static airy_status check_arrays(const airy_queue *queue, const airy_array *labels,
                                const airy_array *src)
{
    char text[96], other[96];
    AIRY_FAIL_ON_IF(!queue || !src, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s is NULL",
                    queue ? "src" : "queue");
    AIRY_TRY(airy_check_device(queue, src, "src"));
    AIRY_FAIL_IF(src->ndim > 3, AIRY_ERR_SHAPE, "src is %s, expected 1 to 3 dimensions",
                 airy_array_describe(src, text));
    AIRY_FAIL_IF(airy_array_count(src) > INT32_MAX, AIRY_ERR_SHAPE,
                 "src is %s, expected fewer than 2^31 elements", airy_array_describe(src, text));
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

/* Elements from the first of an array to behind its last. */
static size_t span_of(const airy_array *a)
{
    size_t span = 1;
    for (int i = 0; i < a->ndim; i++)
        span += (a->shape[i] - 1) * a->pitch[i];
    return span;
}

/* The images of a list that a back end takes together, from the first one on; of labels, too. */
static struct airy_label_stack take_stack(const airy_array *const *labels,
                                          const airy_array *const *srcs, size_t count, bool writes)
{
    struct airy_label_stack stack = {.labels_step = 0};
    const airy_array *src = srcs[0];
    stack.images = airy_array_count_planes(srcs, count, &stack.src_step);
    if (labels && stack.images > 1)
        stack.images = airy_array_count_planes(labels, stack.images, &stack.labels_step);
    /* One after the other where labels of one image lie in another one's, or in its labels. */
    if (labels && writes &&
        (labels[0]->buffer == src->buffer || stack.labels_step < span_of(labels[0])))
        stack.images = 1;
    for (int i = 0; i < 3; i++) {
        const int axis = src->ndim - 3 + i;
        stack.shape[i] = axis < 0 ? 1 : src->shape[axis];
    }
    return stack;
}

static airy_status check_connectivity(int *connectivity, int ndim)
{
    static const int known[3][3] = {{2, 2, 2}, {4, 8, 8}, {6, 18, 26}};
    const int *k = known[ndim - 1];
    if (*connectivity == 0)
        *connectivity = k[0];
    const int c = *connectivity;
    AIRY_FAIL_ON_IF(c != k[0] && c != k[1] && c != k[2], AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %d of an array of %d dimension%s, expected %s", "connectivity", c, ndim,
                    ndim == 1 ? "" : "s",
                    ndim == 1   ? "2"
                    : ndim == 2 ? "4 or 8"
                                : "6, 18 or 26");
    return AIRY_OK;
}

/* Which of many images an error is about. */
static airy_status name_image(airy_status status, size_t image, size_t images)
{
    return status != AIRY_OK && images > 1 ? airy_fail_context(status, "image %zu", image) : status;
}

static airy_status check_images(const airy_queue *queue, airy_array *const *labels,
                                const airy_array *const *srcs, size_t images, int connectivity)
{
    for (size_t i = 0; i < images; i++) {
        int c = connectivity;
        airy_status status = check_arrays(queue, labels ? labels[i] : NULL, srcs[i]);
        if (status == AIRY_OK && labels && !labels[i])
            status = airy_fail(AIRY_ERR_PARAM, "labels is NULL");
        if (status == AIRY_OK && labels && airy_array_overlaps(labels[i], srcs[i]))
            status = airy_fail(AIRY_ERR_PARAM, "labels and src share memory");
        if (status == AIRY_OK)
            status = check_connectivity(&c, srcs[i]->ndim);
        AIRY_TRY(name_image(status, i, images));
    }
    return AIRY_OK;
}

/* Stack after stack, of images that have been checked. */
static airy_status label_images(airy_queue *queue, airy_array *const *labels,
                                const airy_array *const *srcs, size_t images,
                                struct airy_label_plan *plan)
{
    const struct airy_label_fns *fns;
    const int connectivity = plan->connectivity;
    AIRY_TRY(get_fns(&fns, queue));
    for (size_t i = 0; i < images; i += plan->stack.images) {
        const airy_array *const *numbers = (const airy_array *const *)labels;
        plan->stack = take_stack(numbers ? numbers + i : NULL, srcs + i, images - i, true);
        plan->src = srcs[i];
        plan->labels = numbers ? numbers[i] : NULL;
        plan->connectivity = connectivity;
        AIRY_TRY(check_connectivity(&plan->connectivity, srcs[i]->ndim));
        AIRY_TRY(fns->label(queue, plan));
        plan->counts += plan->stack.images;
        if (plan->regions) /* NULL has no offset, not even 0 */
            plan->regions += plan->stack.images;
    }
    return AIRY_OK;
}

airy_status airy_label_each(airy_queue *queue, airy_array *const *labels,
                            const airy_array *const *srcs, size_t images,
                            const airy_label_params *params, size_t *counts, airy_region **regions)
{
    const airy_label_params p = params ? *params : (airy_label_params){.connectivity = 0};
    struct airy_label_plan plan = {.connectivity = p.connectivity,
                                   .has_above = p.has_above,
                                   .above = p.above,
                                   .min_count = p.min_count,
                                   .max_count = p.max_count ? p.max_count : UINT64_MAX};
    void *found = NULL, *made = NULL;
    AIRY_FAIL_ON_IF(!queue || !counts || !srcs, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s is NULL",
                    !queue    ? "queue"
                    : !counts ? "count"
                              : "srcs");
    AIRY_FAIL_ON_IF(p.has_above && isnan(p.above), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = nan, expected a number", "above");
    AIRY_FAIL_ON_IF(plan.min_count > plan.max_count, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %llu, expected at most max_count = %llu", "min_count",
                    (unsigned long long)p.min_count, (unsigned long long)p.max_count);
    AIRY_TRY(check_images(queue, labels, srcs, images, p.connectivity));
    airy_status status =
        airy_memory_calloc(&found, images + 1, sizeof(*counts), "counts of labels");
    if (status == AIRY_OK && regions)
        status = airy_memory_calloc(&made, images + 1, sizeof(airy_region *), "lists of regions");
    airy_region **lists = made;
    plan.counts = found;
    plan.regions = made;
    if (status == AIRY_OK)
        status = label_images(queue, labels, srcs, images, &plan);
    if (status == AIRY_OK)
        memcpy(counts, found, images * sizeof(*counts));
    for (size_t i = 0; i < images && lists; i++) {
        if (status == AIRY_OK)
            regions[i] = lists[i];
        else
            airy_regions_free(lists[i]);
    }
    free(made);
    free(found);
    return status;
}

airy_status airy_label(airy_queue *queue, airy_array *labels, const airy_array *src,
                       const airy_label_params *params, size_t *count, airy_region **regions)
{
    return airy_label_each(queue, labels ? &labels : NULL, &src, 1, params, count, regions);
}

airy_status airy_measure_each(airy_queue *queue, airy_region *const *regions, const size_t *counts,
                              const airy_array *const *labels, const airy_array *const *srcs,
                              size_t images)
{
    const struct airy_label_fns *fns;
    struct airy_measure_plan plan;
    AIRY_FAIL_ON_IF(!queue || !regions || !counts || !labels || !srcs, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s is NULL",
                    !queue     ? "queue"
                    : !regions ? "regions"
                    : !counts  ? "counts"
                    : !labels  ? "labels"
                               : "srcs");
    for (size_t i = 0; i < images; i++) {
        airy_status status = check_arrays(queue, labels[i], srcs[i]);
        if (status == AIRY_OK && (!labels[i] || (!regions[i] && counts[i])))
            status = airy_fail_on(AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s is NULL",
                                  labels[i] ? "regions" : "labels");
        if (status == AIRY_OK && counts[i] > INT32_MAX)
            status = airy_fail_on(AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                                  "%s = %zu, expected below 2^31", "count", counts[i]);
        AIRY_TRY(name_image(status, i, images));
    }
    AIRY_TRY(get_fns(&fns, queue));
    for (size_t i = 0; i < images; i += plan.stack.images) {
        plan = (struct airy_measure_plan){
            .regions = regions + i,
            .counts = counts + i,
            .labels = labels[i],
            .src = srcs[i],
            .stack = take_stack(labels + i, srcs + i, images - i, false)};
        AIRY_TRY(fns->measure(queue, &plan));
    }
    return AIRY_OK;
}

airy_status airy_measure(airy_queue *queue, airy_region *regions, size_t count,
                         const airy_array *labels, const airy_array *src)
{
    return airy_measure_each(queue, &regions, &count, &labels, &src, 1);
}

void airy_regions_free(airy_region *regions)
{
    free(regions);
}

/*
 * Semi-axes and angle: eigenvalues of [[mxx, mxy], [mxy, myy]]. Of pixels of both signs one may be
 * negative: no ellipse then. What rounding leaves of 0, at most `slack`, is 0.
 */
static void set_ellipse(airy_region *r, double slack)
{
    const double middle = 0.5 * (r->mxx + r->myy), half = 0.5 * (r->mxx - r->myy),
                 reach = hypot(half, r->mxy);
    if (!(middle - reach >= -slack)) {
        r->a = r->b = r->theta = (double)NAN;
        return;
    }
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
    const double height = (double)(r->last[1] - r->first[1] + 1),
                 width = (double)(r->last[2] - r->first[2] + 1), box = fmax(width, height);
    set_ellipse(r, AIRY_LABEL_SLACK * box * box);
}
