#include "airy/reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "core/backend.h"
#include "core/objects.h"
#include "reduce/statistics.h"

enum { MAX_BINS = 1 << 24 };

/* src and mask in order, and the back end's walks. */
static airy_status make_source(struct airy_reduce_source *source, airy_queue *queue,
                               const airy_array *src, const airy_array *mask)
{
    char text[96], other[96];
    AIRY_FAIL_ON_IF(!queue || !src, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s is NULL",
                    queue ? "src" : "queue");
    AIRY_TRY(airy_check_device(queue, src, "src"));
    if (mask) {
        AIRY_TRY(airy_check_device(queue, mask, "mask"));
        AIRY_FAIL_IF(mask->dtype != AIRY_DTYPE_U8, AIRY_ERR_DTYPE, "mask is %s, expected uint8",
                     airy_array_describe(mask, text));
        AIRY_FAIL_IF(mask->ndim != src->ndim ||
                         memcmp(mask->shape, src->shape, (size_t)src->ndim * sizeof(size_t)) != 0,
                     AIRY_ERR_SHAPE, "mask is %s, expected the shape of src, %s",
                     airy_array_describe(mask, text), airy_array_describe(src, other));
    }
    const struct airy_reduce_fns *fns = airy_queue_backend(queue)->reduce;
    AIRY_FAIL_IF(!fns, AIRY_ERR_UNSUPPORTED, "back end '%s' does not implement statistics",
                 airy_queue_backend(queue)->name);
    *source = (struct airy_reduce_source){.queue = queue,
                                          .fns = fns,
                                          .src = src,
                                          .mask = mask,
                                          .count = airy_array_count(src),
                                          .stack = {.images = 1}};
    return AIRY_OK;
}

/* How many of the masks are the first one. */
static size_t count_same(const airy_array *const *masks, size_t count)
{
    size_t n = 1;
    while (n < count && masks[n] && airy_array_is_like(masks[0], masks[n]) &&
           masks[0]->offset == masks[n]->offset)
        n++;
    return n;
}

/* The images that each source begins, all of them with masks or without. */
static void find_stacks(struct airy_reduce_source *sources, const airy_array *const *srcs,
                        const airy_array *const *masks, size_t count)
{
    for (size_t i = 0; i < count;) {
        size_t src_step, mask_step = 0, n = airy_array_count_planes(srcs + i, count - i, &src_step);
        if (masks && masks[i]) {
            const size_t same = count_same(masks + i, n);
            n = same > 1 ? same : airy_array_count_planes(masks + i, n, &mask_step);
        } else if (masks) {
            const size_t most = n;
            for (n = 1; n < most && !masks[i + n];)
                n++;
        }
        for (; n > 0; n--, i++)
            sources[i].stack = (struct airy_reduce_stack){n, src_step, mask_step};
    }
}

/* The sources of `count` images, to be freed. */
static airy_status make_sources(struct airy_reduce_source **sources, airy_queue *queue,
                                const airy_array *const *srcs, const airy_array *const *masks,
                                size_t count)
{
    void *made;
    AIRY_FAIL_ON_IF(!queue || !srcs, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s is NULL",
                    queue ? "srcs" : "queue");
    AIRY_TRY(airy_memory_calloc(&made, count, sizeof(**sources), "images"));
    *sources = made;
    for (size_t i = 0; i < count; i++) {
        const airy_status status =
            make_source(&(*sources)[i], queue, srcs[i], masks ? masks[i] : NULL);
        if (status != AIRY_OK) {
            free(made);
            return count > 1 ? airy_fail_context(status, "image %zu", i) : status;
        }
    }
    find_stacks(made, srcs, masks, count);
    return AIRY_OK;
}

airy_status airy_statistics_each(airy_queue *queue, airy_statistics *statistics,
                                 const airy_array *const *srcs, const airy_array *const *masks,
                                 size_t count, unsigned flags)
{
    struct airy_reduce_source *sources;
    void *made;
    AIRY_FAIL_IF(!statistics, AIRY_ERR_PARAM, "statistics is NULL");
    AIRY_FAIL_ON_IF((flags & ~(unsigned)AIRY_STATISTICS_ALL) != 0, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = 0x%x, expected a sum of airy_statistics_flags",
                    "flags", flags);
    AIRY_TRY(make_sources(&sources, queue, srcs, masks, count));
    airy_status status = airy_memory_calloc(&made, count, sizeof(*statistics), "statistics");
    if (status == AIRY_OK) {
        status = airy_reduce_statistics(sources, count, made, flags ? flags : AIRY_STATISTICS_ALL);
        if (status == AIRY_OK)
            memcpy(statistics, made, count * sizeof(*statistics));
        free(made);
    }
    free(sources);
    return status;
}

airy_status airy_statistics_get(airy_queue *queue, airy_statistics *statistics,
                                const airy_array *src, const airy_array *mask, unsigned flags)
{
    return airy_statistics_each(queue, statistics, &src, &mask, 1, flags);
}

airy_status airy_quantiles(airy_queue *queue, double *values, const airy_array *src,
                           const airy_array *mask, const double *fractions, size_t count)
{
    struct airy_reduce_source source;
    AIRY_FAIL_ON_IF(!values || !fractions, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s is NULL",
                    values ? "fractions" : "values");
    for (size_t i = 0; i < count; i++)
        AIRY_FAIL_ON_IF(!(fractions[i] >= 0 && fractions[i] <= 1), AIRY_ERR_PARAM,
                        AIRY_SUBJECT_PARAMETER, "%s[%zu] = %g, expected 0 to 1", "fractions", i,
                        fractions[i]);
    AIRY_TRY(make_source(&source, queue, src, mask));
    void *made;
    AIRY_TRY(airy_memory_calloc(&made, count + 1, sizeof(double), "quantiles"));
    const airy_status status = airy_reduce_quantiles(&source, made, fractions, count);
    if (status == AIRY_OK)
        memcpy(values, made, count * sizeof(*values));
    free(made);
    return status;
}

airy_status airy_histogram(airy_queue *queue, uint64_t *counts, const airy_array *src,
                           const airy_array *mask, size_t bins, double lo, double hi,
                           airy_histogram_rest *rest)
{
    struct airy_reduce_source source;
    AIRY_FAIL_IF(!counts, AIRY_ERR_PARAM, "counts is NULL");
    AIRY_FAIL_ON_IF(bins < 1 || bins > MAX_BINS, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, expected 1 to %d", "bins", bins, MAX_BINS);
    AIRY_FAIL_ON_IF(!isfinite(lo) || !isfinite(hi) || lo >= hi || !isfinite(hi - lo),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %g, %g, expected lo < hi, both finite and hi - lo too", "range", lo, hi);
    AIRY_TRY(make_source(&source, queue, src, mask));
    airy_histogram_rest found = {0};
    void *made;
    AIRY_TRY(airy_memory_calloc(&made, bins, sizeof(uint64_t), "a histogram"));
    const airy_status status = source.fns->histogram(&source, made, bins, lo, hi, &found);
    if (status == AIRY_OK)
        memcpy(counts, made, bins * sizeof(*counts));
    if (status == AIRY_OK && rest)
        *rest = found;
    free(made);
    return status;
}

static airy_status fill_clip(airy_clip_params *params)
{
    AIRY_FAIL_ON_IF((unsigned)params->center >= AIRY_CENTER_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d is none of airy_center", "center",
                    (int)params->center);
    AIRY_FAIL_ON_IF((unsigned)params->spread >= AIRY_SPREAD_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d is none of airy_spread", "spread",
                    (int)params->spread);
    double *kappa[2] = {&params->kappa_low, &params->kappa_high};
    for (int i = 0; i < 2; i++) {
        AIRY_FAIL_ON_IF(!(*kappa[i] >= 0), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                        "%s = %g, expected a positive number", "kappa", *kappa[i]);
        if (*kappa[i] == 0)
            *kappa[i] = 3;
    }
    return AIRY_OK;
}

airy_status airy_clip_each(airy_queue *queue, airy_clip_result *results,
                           const airy_array *const *srcs, const airy_array *const *masks,
                           size_t count, const airy_clip_params *params)
{
    struct airy_reduce_source *sources;
    void *made;
    AIRY_FAIL_IF(!results, AIRY_ERR_PARAM, "result is NULL");
    airy_clip_params filled = params ? *params : (airy_clip_params){.iterations = 0};
    AIRY_TRY(fill_clip(&filled));
    AIRY_TRY(make_sources(&sources, queue, srcs, masks, count));
    airy_status status = airy_memory_calloc(&made, count, sizeof(*results), "results of clips");
    if (status == AIRY_OK) {
        status = airy_reduce_clip(sources, count, made, &filled);
        if (status == AIRY_OK)
            memcpy(results, made, count * sizeof(*results));
        free(made);
    }
    free(sources);
    return status;
}

airy_status airy_clip(airy_queue *queue, airy_clip_result *result, const airy_array *src,
                      const airy_array *mask, const airy_clip_params *params)
{
    return airy_clip_each(queue, result, &src, &mask, 1, params);
}

airy_status airy_threshold(airy_queue *queue, airy_array *mask, const airy_array *src, double value)
{
    struct airy_reduce_source source;
    AIRY_FAIL_IF(!mask, AIRY_ERR_PARAM, "mask is NULL");
    AIRY_FAIL_ON_IF(isnan(value), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = nan, expected a number", "value");
    AIRY_TRY(make_source(&source, queue, src, mask));
    AIRY_FAIL_IF(airy_array_overlaps(mask, src), AIRY_ERR_PARAM, "mask and src share memory");
    return source.fns->threshold(queue, mask, src, value);
}
