#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/element.h"
#include "base/error.h"
#include "base/word.h"
#include "base/memory.h"
#include "core/backend.h"
#include "filter/filter_fns.h"
#include "reduce/statistics.h"

#define MOST_KAPPA 1e6

static const char *const filter_names[AIRY_RANK_FILTER_COUNT] = {
    "median",  "minimum", "maximum", "percentile",  "rank",
    "opening", "closing", "tophat",  "black-tophat"};

/* A rank filter on its way. */
struct run {
    airy_queue *queue;
    airy_array *dst;
    const airy_array *src;
    const airy_rank_params *params;
    int axes;
    size_t size[3];           /* z, y, x */
    const uint8_t *footprint; /* NULL: all of the box */
    uint8_t *turned;          /* the footprint in the reverse order */
    size_t count;             /* elements under it */
    airy_border border;
    uint8_t outside[8];
};

const char *airy_rank_filter_name(airy_rank_filter filter)
{
    return (unsigned)filter < AIRY_RANK_FILTER_COUNT ? filter_names[filter] : "?";
}

airy_status airy_rank_filter_parse(airy_rank_filter *filter, const char *name)
{
    int i = 0;
    AIRY_TRY(airy_find_word(&i, "filter", name, filter_names, AIRY_RANK_FILTER_COUNT));
    *filter = (airy_rank_filter)i;
    return AIRY_OK;
}

static airy_status check_footprint(struct run *run)
{
    const uint8_t *footprint = run->params->footprint;
    const size_t all = run->size[0] * run->size[1] * run->size[2];
    run->count = all;
    if (!footprint)
        return AIRY_OK;
    run->count = 0;
    for (size_t i = 0; i < all; i++)
        run->count += footprint[i] != 0;
    AIRY_FAIL_IF(run->count == 0, AIRY_ERR_PARAM,
                 "footprint: all %zu elements are 0, expected one that is not", all);
    if (run->count == all)
        return AIRY_OK;
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, all, 1, "a footprint"));
    run->turned = block;
    for (size_t i = 0; i < all; i++)
        run->turned[i] = footprint[all - 1 - i];
    run->footprint = footprint;
    return AIRY_OK;
}

static airy_status check_run(struct run *run)
{
    const airy_rank_params *p = run->params;
    const airy_array *src = run->src;
    const int most = src->ndim < 3 ? src->ndim : 3, least = src->ndim > 1 ? src->ndim - 1 : 1;
    AIRY_FAIL_ON_IF((unsigned)p->filter >= AIRY_RANK_FILTER_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d is none of airy_rank_filter", "filter",
                    (int)p->filter);
    run->axes = p->axes ? p->axes : most;
    AIRY_FAIL_ON_IF(run->axes < least || run->axes > most, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %d for an array of %d dimensions, expected %d to %d", "axes", run->axes,
                    src->ndim, least, most);
    run->border = p->has_border ? p->border : AIRY_BORDER_REFLECT;
    AIRY_FAIL_ON_IF((unsigned)run->border >= AIRY_BORDER_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d is none of airy_border", "border",
                    (int)run->border);
    const double value = run->border == AIRY_BORDER_VALUE ? p->border_value : 0;
    const airy_status status = airy_array_pattern(run->outside, src, value);
    if (status != AIRY_OK)
        return airy_fail_context(status, "border");
    for (int i = 0; i < 3; i++) {
        const int axis = run->axes - 3 + i;
        run->size[i] = axis < 0 ? 1 : p->size[axis];
        AIRY_FAIL_ON_IF(run->size[i] < 1 || run->size[i] > AIRY_FILTER_SIZE_MAX, AIRY_ERR_PARAM,
                        AIRY_SUBJECT_PARAMETER, "%s[%d] = %zu, expected 1 to %d", "size", axis,
                        run->size[i], AIRY_FILTER_SIZE_MAX);
    }
    AIRY_FAIL_IF(run->dst->dtype != src->dtype, AIRY_ERR_DTYPE,
                 "dst is %s, expected the dtype of src, %s", airy_dtype_name(run->dst->dtype),
                 airy_dtype_name(src->dtype));
    return airy_filter_check_dst(run->queue, run->dst, src, src->shape);
}

/* Which element of the sorted ones is wanted. */
static airy_status find_rank(const struct run *run, size_t *rank)
{
    const airy_rank_params *p = run->params;
    const size_t n = run->count;
    const int64_t nth = p->rank < 0 ? p->rank + (int64_t)n : p->rank;
    switch (p->filter) {
    case AIRY_RANK_MEDIAN:
        *rank = n / 2;
        return AIRY_OK;
    case AIRY_RANK_PERCENTILE:
        AIRY_FAIL_ON_IF(!(p->percentile >= 0 && p->percentile <= 100), AIRY_ERR_PARAM,
                        AIRY_SUBJECT_PARAMETER, "%s = %g, expected 0 to 100", "percentile",
                        p->percentile);
        *rank = (size_t)((double)n * p->percentile / 100);
        *rank -= *rank == n;
        return AIRY_OK;
    case AIRY_RANK_NTH:
        AIRY_FAIL_ON_IF(nth < 0 || nth >= (int64_t)n, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                        "%s = %lld of %zu elements, expected %lld to %lld", "rank",
                        (long long)p->rank, n, -(long long)n, (long long)n - 1);
        *rank = (size_t)nth;
        return AIRY_OK;
    case AIRY_RANK_MAXIMUM:
    case AIRY_RANK_CLOSING:
    case AIRY_RANK_BLACK_TOPHAT:
        *rank = n - 1;
        return AIRY_OK;
    default:
        *rank = 0;
        return AIRY_OK;
    }
}

/* turned: with the footprint in the reverse order, as the second half of an opening has it. */
static airy_status plan_rank(struct airy_rank_plan *plan, const struct run *run, airy_array *dst,
                             const airy_array *src, size_t rank, bool turned)
{
    *plan = (struct airy_rank_plan){.dst = dst,
                                    .src = src,
                                    .footprint = turned && run->footprint ? run->turned
                                                                          : run->footprint,
                                    .count = run->count,
                                    .rank = rank};
    struct airy_filter_geometry *g = &plan->geometry;
    memcpy(&plan->outside, run->outside, sizeof(plan->outside));
    g->images = src->ndim > run->axes ? src->shape[0] : 1;
    g->border = run->border;
    if (run->border == AIRY_BORDER_VALUE) /* an element, as in `outside` */
        g->border_value = src->dtype == AIRY_DTYPE_F32 ? (double)(float)run->params->border_value
                                                       : run->params->border_value;
    for (int i = 0; i < 3; i++) {
        const bool there = run->axes - 3 + i >= 0;
        const size_t n = there ? src->shape[src->ndim - 3 + i] : 1, taps = run->size[i];
        g->axis[i] = (struct airy_filter_axis){
            .n = n, .out = n, .taps = taps, .offset = (int64_t)(turned ? taps : taps - 1) / 2};
    }
    AIRY_FAIL_IF(run->count > AIRY_RANK_SORTED_MAX &&
                     (run->footprint || (rank != 0 && rank != run->count - 1)),
                 AIRY_ERR_UNSUPPORTED,
                 "the footprint has %zu elements, expected at most %d (minimum and maximum of a "
                 "box have no such limit)",
                 run->count, AIRY_RANK_SORTED_MAX);
    return AIRY_OK;
}

static airy_status run_rank(const struct run *run, airy_array *dst, const airy_array *src,
                            size_t rank, bool turned)
{
    struct airy_rank_plan plan;
    const struct airy_filter_fns *fns = airy_queue_backend(run->queue)->filter;
    AIRY_FAIL_IF(!fns || !fns->rank, AIRY_ERR_UNSUPPORTED,
                 "back end '%s' does not implement rank filters",
                 airy_queue_backend(run->queue)->name);
    AIRY_TRY(plan_rank(&plan, run, dst, src, rank, turned));
    return fns->rank(run->queue, &plan);
}

static airy_status run_two(const struct run *run, size_t rank)
{
    const airy_rank_filter filter = run->params->filter;
    airy_array *between = NULL;
    AIRY_TRY(airy_array_create_uninitialized(&between, run->queue->device, run->src->dtype,
                                             run->src->ndim, run->src->shape));
    /* A dilation is turned, whichever comes first. */
    airy_status status = run_rank(run, between, run->src, rank, rank != 0);
    if (status == AIRY_OK)
        status = run_rank(run, run->dst, between, run->count - 1 - rank, rank == 0);
    if (status == AIRY_OK && filter == AIRY_RANK_WHITE_TOPHAT)
        status = airy_combine(run->queue, run->dst, run->src, AIRY_SUBTRACT, run->dst);
    if (status == AIRY_OK && filter == AIRY_RANK_BLACK_TOPHAT)
        status = airy_combine(run->queue, run->dst, run->dst, AIRY_SUBTRACT, run->src);
    /* The memory may go only when the work on it is done. */
    if (status == AIRY_OK)
        status = airy_queue_finish(run->queue);
    airy_array_destroy(&between);
    return status;
}

airy_status airy_rank_filter_run(airy_queue *queue, airy_array *dst, const airy_array *src,
                                 const airy_rank_params *params)
{
    size_t rank = 0;
    AIRY_TRY(airy_filter_check_given(queue, dst, src, params));
    struct run run = {.queue = queue, .dst = dst, .src = src, .params = params};
    AIRY_TRY(airy_check_device(queue, src, "src"));
    AIRY_TRY(check_run(&run));
    AIRY_TRY(check_footprint(&run));
    airy_status status = find_rank(&run, &rank);
    if (status == AIRY_OK)
        status = params->filter >= AIRY_RANK_OPENING ? run_two(&run, rank)
                                                     : run_rank(&run, dst, src, rank, false);
    free(run.turned);
    return status;
}

airy_status airy_hampel_run(airy_queue *queue, airy_array *dst, const airy_array *src,
                            const airy_hampel_params *params)
{
    AIRY_TRY(airy_filter_check_given(queue, dst, src, params));
    const airy_rank_params median = {.axes = params->axes,
                                     .size = {params->size[0], params->size[1], params->size[2]},
                                     .has_border = params->has_border,
                                     .border = params->border,
                                     .border_value = params->border_value};
    const double kappa = params->kappa != 0 ? params->kappa : 3;
    struct run run = {.queue = queue, .dst = dst, .src = src, .params = &median};
    struct airy_hampel_plan plan = {.limit = kappa * AIRY_MAD_SCALE};
    AIRY_FAIL_ON_IF(!(kappa > 0 && kappa <= MOST_KAPPA), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %g, expected above 0, at most %g (0: 3)", "kappa", kappa, MOST_KAPPA);
    AIRY_TRY(airy_check_device(queue, src, "src"));
    AIRY_TRY(check_run(&run));
    for (int i = 0; i < 3; i++)
        AIRY_FAIL_ON_IF(run.size[i] % 2 == 0, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                        "%s[%d] = %zu, expected an odd number", "size", run.axes - 3 + i,
                        run.size[i]);
    AIRY_TRY(check_footprint(&run));
    AIRY_TRY(plan_rank(&plan.median, &run, dst, src, run.count / 2, false));
    const struct airy_filter_fns *fns = airy_queue_backend(queue)->filter;
    AIRY_FAIL_IF(!fns || !fns->hampel, AIRY_ERR_UNSUPPORTED,
                 "back end '%s' does not implement the Hampel filter",
                 airy_queue_backend(queue)->name);
    return fns->hampel(queue, &plan);
}

airy_status airy_footprint_ball(uint8_t **footprint, size_t *length, int axes, double radius)
{
    void *block;
    AIRY_FAIL_ON_IF(!footprint || !length, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s is NULL",
                    footprint ? "length" : "footprint");
    AIRY_FAIL_ON_IF(axes < 1 || axes > 3, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %d, expected 1 to 3", "axes", axes);
    AIRY_FAIL_ON_IF(!(radius >= 0 && radius <= 512), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %g, expected 0 to 512", "radius", radius);
    const long reach = (long)radius, n = 2 * reach + 1;
    const long planes = axes > 2 ? n : 1, rows = axes > 1 ? n : 1;
    AIRY_TRY(airy_memory_calloc(&block, (size_t)(planes * rows), (size_t)n, "a footprint"));
    uint8_t *at = block;
    for (long z = 0; z < planes; z++)
        for (long y = 0; y < rows; y++)
            for (long x = 0; x < n; x++) {
                const long dz = axes > 2 ? z - reach : 0, dy = axes > 1 ? y - reach : 0;
                const long dx = x - reach;
                *at++ = (double)(dz * dz + dy * dy + dx * dx) <= radius * radius;
            }
    *footprint = block;
    *length = (size_t)n;
    return AIRY_OK;
}

void airy_footprint_free(uint8_t *footprint)
{
    free(footprint);
}
