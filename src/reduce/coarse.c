/* Noise of elements of few different values, such as low counts. */
#include <math.h>
#include <stdlib.h>

#include "airy/reduce.h"
#include "base/dtype.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/objects.h"

enum {
    ROUNDS = 16, /* times that the elements near the mean are found */
    LEAST = 64   /* elements that a share of them says something about */
};

/* On the host: this is for images that a clip has failed on. */
struct values {
    double *x; /* finite, not masked */
    size_t count;
};

static airy_status pull(void **data, airy_queue *queue, const airy_array *array)
{
    AIRY_TRY(airy_memory_calloc(data, airy_array_count(array), airy_dtype_size(array->dtype),
                                "the elements of an array"));
    AIRY_TRY(airy_array_pull(queue, *data, airy_array_size(array), array));
    return airy_queue_finish(queue);
}

static airy_status read_values(struct values *v, airy_queue *queue, const airy_array *src,
                               const airy_array *mask)
{
    const size_t n = airy_array_count(src);
    void *data = NULL, *out = NULL;
    airy_status status;
    AIRY_TRY_OR(out, pull(&data, queue, src));
    if (mask)
        AIRY_TRY_OR(out, pull(&out, queue, mask));
    AIRY_TRY_OR(out, airy_memory_calloc((void **)&v->x, n, sizeof(*v->x), "values"));
    for (size_t i = 0; i < n; i++) {
        const double x = airy_dtype_value(data, src->dtype, i);
        if (isfinite(x) && !(out && ((const uint8_t *)out)[i]))
            v->x[v->count++] = x;
    }
out:
    free(data);
    free(out);
    return status;
}

/*
 * Mean and deviation of what lies from lo to hi, about `value`; summed in steps, whose squares are
 * finite where those of the values may not be.
 */
static uint64_t find_moments(double *mean, double *std, const struct values *v, double lo,
                             double hi, double value, double step)
{
    double sum = 0, squares = 0;
    uint64_t count = 0;
    for (size_t i = 0; i < v->count; i++) {
        const double x = (v->x[i] - value) / step;
        if (v->x[i] < lo || v->x[i] > hi)
            continue;
        sum += x;
        squares += x * x;
        count++;
    }
    const double offset = count ? sum / (double)count : 0;
    *mean = value + step * offset;
    *std = count ? step * sqrt(fmax(0, squares / (double)count - offset * offset)) : 0;
    return count;
}

static void measure(airy_coarse_result *r, const struct values *v, double value)
{
    uint64_t equal = 0, near = 0, count = 0;
    double step = HUGE_VAL;
    for (size_t i = 0; i < v->count; i++) {
        equal += v->x[i] == value;
        if (v->x[i] != value)
            step = fmin(step, fabs(v->x[i] - value));
    }
    for (size_t i = 0; i < v->count; i++)
        near += v->x[i] != value && fabs(v->x[i] - value) <= 3.5 * step;
    r->step = isfinite(step) ? step : 0;
    r->coarse = v->count >= LEAST && equal >= v->count / 4 && near > v->count / 1000;
    double lo = value - 3.5 * step, hi = value + 3.5 * step;
    for (int round = 0; r->coarse && round < ROUNDS; round++) {
        r->count = find_moments(&r->mean, &r->std, v, lo, hi, value, step);
        if (r->count == count)
            break;
        count = r->count;
        const double half = fmax(3 * r->std, 3.5 * step);
        lo = r->mean - half;
        hi = r->mean + half;
    }
}

airy_status airy_coarse_noise(airy_queue *queue, airy_coarse_result *result, const airy_array *src,
                              const airy_array *mask, double value)
{
    AIRY_FAIL_IF(!result || !isfinite(value), AIRY_ERR_PARAM,
                 "airy_coarse_noise: result is NULL, or value is not finite");
    airy_statistics s; /* checks the arrays */
    AIRY_TRY(airy_statistics_get(queue, &s, src, mask, AIRY_STATISTICS_MOMENTS));
    struct values v = {0};
    airy_coarse_result r = {.mean = value};
    const airy_status status = read_values(&v, queue, src, mask);
    if (status == AIRY_OK && v.count)
        measure(&r, &v, value);
    free(v.x);
    AIRY_TRY(status);
    AIRY_FAIL_IF(r.coarse && !isfinite(r.std), AIRY_ERR_PARAM,
                 "the standard deviation of the elements about %g is not finite; scale them down",
                 value);
    *result = r;
    return AIRY_OK;
}
