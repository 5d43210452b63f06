#include <math.h>
#include <stdlib.h>

#include "airy/element.h"
#include "base/error.h"
#include "base/memory.h"
#include "core/backend.h"
#include "filter/filter_fns.h"

/* A stencil on its way: its products of lines follow each other. */
struct stencil {
    airy_queue *queue;
    airy_array *dst;
    const airy_array *src;
    airy_stencil_params params;
    airy_convolve_params border;
    int axes;
};

static airy_status make_line(double **line, size_t taps)
{
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, taps, sizeof(double), "stencil weights"));
    *line = block;
    return AIRY_OK;
}

static airy_status make_three(double **line, size_t *taps, double a, double b, double c)
{
    *taps = 3;
    AIRY_TRY(make_line(line, 3));
    (*line)[0] = a;
    (*line)[1] = b;
    (*line)[2] = c;
    return AIRY_OK;
}

/* The line of one axis (of the last `axes`) in product number `term`. */
static airy_status make_axis(const struct stencil *s, double **line, size_t *taps, int term,
                             int axis)
{
    const airy_stencil_params *p = &s->params;
    const bool along =
        axis ==
        (p->stencil == AIRY_STENCIL_SOBEL || p->stencil == AIRY_STENCIL_PREWITT ? p->axis : term);
    switch (p->stencil) {
    case AIRY_STENCIL_BOX:
        *taps = p->size[axis];
        AIRY_TRY(make_line(line, *taps));
        for (size_t i = 0; i < *taps; i++)
            (*line)[i] = 1 / (double)*taps;
        return AIRY_OK;
    case AIRY_STENCIL_PREWITT:
        return along ? make_three(line, taps, -1, 0, 1) : make_three(line, taps, 1, 1, 1);
    case AIRY_STENCIL_LAPLACE:
        if (along)
            return make_three(line, taps, 1, -2, 1);
        return airy_gauss_line(line, taps, 0, 1, 0, false);
    case AIRY_STENCIL_LOG:
        return airy_gauss_line(line, taps, p->sigma[axis], p->truncate, 0, along);
    case AIRY_STENCIL_DOG:
        return airy_gauss_line(line, taps, term ? p->sigma2[axis] : p->sigma[axis], p->truncate, 0,
                               false);
    default:
        return along ? make_three(line, taps, -1, 0, 1) : make_three(line, taps, 1, 2, 1);
    }
}

static airy_status run_term(const struct stencil *s, airy_array *to, int term)
{
    double *line[3] = {NULL, NULL, NULL};
    size_t taps[3];
    airy_status status = AIRY_OK;
    for (int i = 0; i < 3 && status == AIRY_OK; i++) {
        const int axis = s->axes - 3 + i;
        status = axis < 0 ? airy_gauss_line(&line[i], &taps[i], 0, 1, 0, false)
                          : make_axis(s, &line[i], &taps[i], term, axis);
    }
    if (status == AIRY_OK)
        status = airy_filter_product(s->queue, to, s->src, line, taps, s->axes, &s->border);
    for (int i = 0; i < 3; i++)
        free(line[i]);
    return status;
}

static airy_status run_terms(const struct stencil *s, int terms, airy_operator op)
{
    airy_array *more = NULL;
    airy_status status = run_term(s, s->dst, 0);
    if (status == AIRY_OK && terms > 1)
        status = airy_array_create_uninitialized(&more, s->queue->device, s->dst->dtype,
                                                 s->dst->ndim, s->dst->shape);
    for (int i = 1; i < terms && status == AIRY_OK; i++) {
        status = run_term(s, more, i);
        if (status == AIRY_OK)
            status = airy_combine(s->queue, s->dst, s->dst, op, more);
    }
    /* The memory may go only when the work on it is done. */
    if (more && status == AIRY_OK)
        status = airy_queue_finish(s->queue);
    airy_array_destroy(&more);
    /* Sobel along the only axis there is: the root of its square. */
    if (status == AIRY_OK && s->params.stencil == AIRY_STENCIL_GRADIENT && terms == 1)
        status = airy_apply(s->queue, s->dst, AIRY_ABS, s->dst);
    return status;
}

static airy_status check_stencil(struct stencil *s)
{
    airy_stencil_params *p = &s->params;
    AIRY_FAIL_ON_IF((unsigned)p->stencil >= AIRY_STENCIL_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d is none of airy_stencil", "stencil",
                    (int)p->stencil);
    p->axis = p->has_axis ? p->axis : s->axes - 1;
    AIRY_FAIL_ON_IF(p->axis < 0 || p->axis >= s->axes, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %d, expected 0 to %d", "axis", p->axis, s->axes - 1);
    p->truncate = p->truncate != 0 ? p->truncate : 4;
    AIRY_FAIL_ON_IF(!(p->truncate > 0) || isinf(p->truncate), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %g, expected a positive number", "truncate",
                    p->truncate);
    bool first = false, second = false;
    for (int i = 0; i < s->axes; i++) {
        AIRY_FAIL_ON_IF(p->stencil == AIRY_STENCIL_BOX &&
                            (p->size[i] < 1 || p->size[i] > AIRY_FILTER_SIZE_MAX),
                        AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s[%d] = %zu, expected 1 to %d",
                        "size", i, p->size[i], AIRY_FILTER_SIZE_MAX);
        AIRY_FAIL_ON_IF(p->stencil == AIRY_STENCIL_LOG && !(p->sigma[i] > 0), AIRY_ERR_PARAM,
                        AIRY_SUBJECT_PARAMETER, "%s[%d] = %g, expected a number above 0", "sigma",
                        i, p->sigma[i]);
        first = first || p->sigma[i] > 0;
        second = second || p->sigma2[i] > 0;
    }
    AIRY_FAIL_ON_IF(p->stencil == AIRY_STENCIL_DOG && !(first && second), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = 0 on every axis, expected one above 0",
                    first ? "sigma2" : "sigma");
    return AIRY_OK;
}

airy_status airy_stencil_run(airy_queue *queue, airy_array *dst, const airy_array *src,
                             const airy_stencil_params *params)
{
    AIRY_TRY(airy_filter_check_given(queue, dst, src, params));
    const int most = src->ndim < 3 ? src->ndim : 3, least = src->ndim > 1 ? src->ndim - 1 : 1;
    struct stencil s = {
        .queue = queue,
        .dst = dst,
        .src = src,
        .params = *params,
        .border = {.mode = AIRY_CONVOLVE_SAME,
                   /* A box is the same turned round, and of an even one more lies in front, as in
                      scipy.ndimage. */
                   .correlate = params->stencil != AIRY_STENCIL_BOX,
                   .border = params->has_border ? params->border : AIRY_BORDER_REFLECT,
                   .border_value = params->border_value},
        .axes = params->axes ? params->axes : most};
    AIRY_FAIL_ON_IF(s.axes < least || s.axes > most, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %d for an array of %d dimensions, expected %d to %d", "axes", s.axes,
                    src->ndim, least, most);
    AIRY_TRY(check_stencil(&s));
    switch (params->stencil) {
    case AIRY_STENCIL_GRADIENT:
        return run_terms(&s, s.axes, AIRY_HYPOT);
    case AIRY_STENCIL_LAPLACE:
    case AIRY_STENCIL_LOG:
        return run_terms(&s, s.axes, AIRY_ADD);
    case AIRY_STENCIL_DOG:
        return run_terms(&s, 2, AIRY_SUBTRACT);
    default:
        return run_terms(&s, 1, AIRY_ADD);
    }
}
