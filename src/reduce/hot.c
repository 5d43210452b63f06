/* Elements far from the others, by a robust measure. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "airy/reduce.h"
#include "base/error.h"
#include "base/memory.h"
#include "core/objects.h"
#include "reduce/statistics.h"

/* r: sigma and the bounds. Where more than half of the elements are equal, mad is 0. */
static airy_status find_bounds(airy_hot_result *r, airy_queue *queue, const airy_array *src,
                               const airy_array *mask, double mad, double kappa)
{
    airy_coarse_result few = {0};
    r->sigma = AIRY_MAD_SCALE * mad;
    if (mad == 0)
        AIRY_TRY(airy_coarse_noise(queue, &few, src, mask, r->center));
    if (few.coarse) {
        r->sigma = few.std;
    } else if (mad == 0) {
        const airy_clip_params params = {.kappa_low = 5, .kappa_high = 5, .inclusive = true};
        airy_clip_result clipped;
        AIRY_TRY(airy_clip(queue, &clipped, src, mask, &params));
        r->sigma = clipped.kept.std;
    }
    AIRY_FAIL_IF(!isfinite(r->sigma), AIRY_ERR_PARAM,
                 "the standard deviation of the elements is not finite, for their squares are too "
                 "large; scale them down");
    const double half = fmax(kappa * r->sigma, few.coarse ? 3.5 * few.step : 0);
    r->low = r->center - half;
    r->high = r->center + half;
    return AIRY_OK;
}

/* What is known of an element. */
enum { MASKED = 1, ABOVE = 2, BELOW = 4 };

struct marking {
    airy_queue *queue;
    const airy_array *src, *mask;
    airy_array *scratch; /* u8, shape of src */
    uint8_t *marks, *values;
    size_t count;
};

/* values = src > value */
static airy_status compare(struct marking *m, double value)
{
    AIRY_TRY(airy_threshold(m->queue, m->scratch, m->src, value));
    AIRY_TRY(airy_array_pull(m->queue, m->values, m->count, m->scratch));
    return airy_queue_finish(m->queue);
}

static airy_status mark_all(struct marking *m, const airy_hot_result *r)
{
    if (m->mask) {
        AIRY_TRY(airy_array_copy(m->queue, m->scratch, m->mask));
        AIRY_TRY(airy_array_pull(m->queue, m->values, m->count, m->scratch));
        AIRY_TRY(airy_queue_finish(m->queue));
    }
    for (size_t i = 0; i < m->count; i++)
        m->marks[i] = m->mask && m->values[i] ? MASKED : 0;
    AIRY_TRY(compare(m, r->high));
    for (size_t i = 0; i < m->count; i++)
        m->marks[i] |= m->values[i] ? ABOVE : 0;
    /* Not x >= low: below it, or not a number. */
    AIRY_TRY(compare(m, nextafter(r->low, -(double)INFINITY)));
    for (size_t i = 0; i < m->count; i++)
        m->marks[i] |= m->values[i] ? 0 : BELOW;
    return AIRY_OK;
}

/* Marks become 0 and 1. What is not finite stands among those beyond, and does not count there. */
static airy_status count_marks(struct marking *m, airy_hot_result *r, const airy_statistics *s)
{
    uint64_t plus = 0;
    if (s->infinite) {
        AIRY_TRY(compare(m, DBL_MAX));
        for (size_t i = 0; i < m->count; i++)
            plus += m->values[i] && !(m->marks[i] & MASKED);
    }
    for (size_t i = 0; i < m->count; i++) {
        const bool counts = !(m->marks[i] & MASKED);
        r->above += counts && (m->marks[i] & ABOVE);
        r->below += counts && (m->marks[i] & BELOW);
        m->marks[i] = m->marks[i] != 0;
    }
    r->above -= plus;
    r->below -= s->nan + s->infinite - plus;
    r->left_out = s->nan + s->infinite + s->masked;
    return AIRY_OK;
}

airy_status airy_hot_pixels(airy_queue *queue, uint8_t *hot, airy_hot_result *result,
                            const airy_array *src, const airy_array *mask, double kappa)
{
    AIRY_FAIL_IF(!hot, AIRY_ERR_PARAM, "airy_hot_pixels: hot is NULL");
    AIRY_FAIL_ON_IF(!(kappa >= 0 && kappa < HUGE_VAL), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %g, expected a finite number of at least 0", "kappa", kappa);
    airy_statistics s;
    airy_hot_result r = {0};
    struct marking m = {.queue = queue, .src = src, .mask = mask, .marks = hot};
    airy_status status;
    AIRY_TRY(airy_statistics_get(queue, &s, src, mask, AIRY_STATISTICS_MAD));
    AIRY_FAIL_IF(s.count == 0, AIRY_ERR_PARAM, "no element is finite and not masked");
    r.center = s.median;
    AIRY_TRY(find_bounds(&r, queue, src, mask, s.mad, kappa));
    m.count = airy_array_count(src);
    AIRY_TRY_OR(out, airy_memory_calloc((void **)&m.values, m.count, 1, "a mask"));
    AIRY_TRY_OR(out, airy_array_create_uninitialized(&m.scratch, airy_queue_device(queue),
                                                     AIRY_DTYPE_U8, src->ndim, src->shape));
    AIRY_TRY_OR(out, mark_all(&m, &r));
    AIRY_TRY_OR(out, count_marks(&m, &r, &s));
    if (result)
        *result = r;
out:
    airy_array_destroy(&m.scratch);
    free(m.values);
    return status;
}
