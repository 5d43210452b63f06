#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/word.h"
#include "base/memory.h"
#include "core/backend.h"
#include "core/objects.h"
#include "element/element_fns.h"
#include "shared/border_index.h"

/* Axis i of dst among the four. */
static int axis_of(const airy_array *array, int i)
{
    return AIRY_MAX_DIMS - array->ndim + i;
}

static airy_status check_arrays(const airy_queue *queue, const airy_array *dst,
                                const airy_array *src)
{
    char text[96], other[96];
    AIRY_FAIL_ON_IF(!queue || !dst || !src, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s is NULL",
                    !queue ? "queue"
                    : !dst ? "dst"
                           : "src");
    AIRY_TRY(airy_check_device(queue, dst, "dst"));
    AIRY_TRY(airy_check_device(queue, src, "src"));
    AIRY_FAIL_IF(dst->ndim != src->ndim, AIRY_ERR_SHAPE,
                 "dst is %s, expected as many dimensions as src, %s",
                 airy_array_describe(dst, text), airy_array_describe(src, other));
    AIRY_FAIL_IF(airy_array_overlaps(dst, src), AIRY_ERR_PARAM, "dst and src share memory");
    return AIRY_OK;
}

static airy_status check_dtypes(const airy_array *dst, const airy_array *src)
{
    char text[96], other[96];
    AIRY_FAIL_IF(dst->dtype != src->dtype, AIRY_ERR_DTYPE,
                 "dst is %s, expected the dtype of src, %s", airy_array_describe(dst, text),
                 airy_array_describe(src, other));
    return AIRY_OK;
}

static airy_status check_length(const airy_array *dst, int axis, size_t want)
{
    char text[96];
    AIRY_FAIL_IF(dst->shape[axis] != want, AIRY_ERR_SHAPE, "dst is %s, expected %zu along axis %d",
                 airy_array_describe(dst, text), want, axis);
    return AIRY_OK;
}

/* Where every place of every axis is 0; release plan->place[0]. */
static airy_status make_plan(struct airy_move_plan *plan, const airy_array *dst,
                             const airy_array *src)
{
    size_t total = 0;
    void *block;
    *plan = (struct airy_move_plan){.dst = dst, .src = src, .n = {1, 1, 1, 1}};
    for (int i = 0; i < dst->ndim; i++) {
        plan->n[axis_of(dst, i)] = dst->shape[i];
        plan->step[axis_of(dst, i)] = dst->pitch[i];
    }
    for (int i = 0; i < AIRY_MAX_DIMS; i++)
        total += plan->n[i];
    AIRY_TRY(airy_memory_calloc(&block, total, sizeof(int64_t), "places"));
    plan->place[0] = block;
    for (int i = 1; i < AIRY_MAX_DIMS; i++)
        plan->place[i] = plan->place[i - 1] + plan->n[i - 1];
    return AIRY_OK;
}

static airy_status run(airy_queue *queue, struct airy_move_plan *plan)
{
    const struct airy_element_fns *fns = airy_queue_backend(queue)->element;
    const airy_status status = fns ? fns->move(queue, plan)
                                   : airy_fail(AIRY_ERR_UNSUPPORTED,
                                               "back end '%s' does not implement moves",
                                               airy_queue_backend(queue)->name);
    free(plan->place[0]);
    return status;
}

airy_status airy_flip(airy_queue *queue, airy_array *dst, const airy_array *src, unsigned axes)
{
    struct airy_move_plan plan;
    AIRY_TRY(check_arrays(queue, dst, src));
    AIRY_TRY(check_dtypes(dst, src));
    AIRY_FAIL_ON_IF(axes >> src->ndim != 0, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = 0x%x, expected bits of %d dimensions", "axes", axes, src->ndim);
    for (int i = 0; i < src->ndim; i++)
        AIRY_TRY(check_length(dst, i, src->shape[i]));
    AIRY_TRY(make_plan(&plan, dst, src));
    for (int i = 0; i < src->ndim; i++)
        for (size_t k = 0; k < src->shape[i]; k++)
            plan.place[axis_of(dst, i)][k] =
                (int64_t)((axes >> i & 1u ? src->shape[i] - 1 - k : k) * src->pitch[i]);
    return run(queue, &plan);
}

airy_status airy_transpose(airy_queue *queue, airy_array *dst, const airy_array *src,
                           const int *order)
{
    struct airy_move_plan plan;
    unsigned seen = 0;
    AIRY_TRY(check_arrays(queue, dst, src));
    AIRY_TRY(check_dtypes(dst, src));
    for (int i = 0; i < src->ndim; i++) {
        const int from = order ? order[i] : src->ndim - 1 - i;
        AIRY_FAIL_ON_IF(from < 0 || from >= src->ndim || (seen >> from & 1u), AIRY_ERR_PARAM,
                        AIRY_SUBJECT_PARAMETER, "%s[%d] = %d, expected each of 0 to %d once",
                        "order", i, from, src->ndim - 1);
        seen |= 1u << from;
        AIRY_TRY(check_length(dst, i, src->shape[from]));
    }
    AIRY_TRY(make_plan(&plan, dst, src));
    for (int i = 0; i < src->ndim; i++) {
        const int from = order ? order[i] : src->ndim - 1 - i;
        for (size_t k = 0; k < dst->shape[i]; k++)
            plan.place[axis_of(dst, i)][k] = (int64_t)(k * src->pitch[from]);
    }
    return run(queue, &plan);
}

airy_status airy_pad(airy_queue *queue, airy_array *dst, const airy_array *src,
                     const size_t *before, airy_border border, double border_value)
{
    char text[96];
    struct airy_move_plan plan;
    uint8_t pattern[8];
    AIRY_TRY(check_arrays(queue, dst, src));
    AIRY_TRY(check_dtypes(dst, src));
    AIRY_FAIL_IF(!before, AIRY_ERR_PARAM, "before is NULL");
    AIRY_FAIL_ON_IF((unsigned)border >= AIRY_BORDER_COUNT, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %d is none of airy_border", "border", (int)border);
    AIRY_TRY(airy_array_pattern(pattern, dst, border == AIRY_BORDER_VALUE ? border_value : 0));
    for (int i = 0; i < src->ndim; i++)
        AIRY_FAIL_IF(dst->shape[i] < src->shape[i] || dst->shape[i] - src->shape[i] < before[i],
                     AIRY_ERR_SHAPE, "dst is %s, expected at least %zu + %zu along axis %d",
                     airy_array_describe(dst, text), before[i], src->shape[i], i);
    AIRY_TRY(make_plan(&plan, dst, src));
    memcpy(plan.pattern, pattern, sizeof(pattern));
    for (int i = 0; i < src->ndim; i++)
        for (size_t k = 0; k < dst->shape[i]; k++) {
            const int64_t from = airy_border_index((int64_t)k - (int64_t)before[i],
                                                   (int64_t)src->shape[i], (uint32_t)border);
            plan.place[axis_of(dst, i)][k] = from < 0 ? -1 : from * (int64_t)src->pitch[i];
        }
    return run(queue, &plan);
}

airy_status airy_enlarge(airy_queue *queue, airy_array *dst, const airy_array *src,
                         const size_t *factor)
{
    char text[96];
    struct airy_move_plan plan;
    AIRY_TRY(check_arrays(queue, dst, src));
    AIRY_TRY(check_dtypes(dst, src));
    AIRY_FAIL_IF(!factor, AIRY_ERR_PARAM, "factor is NULL");
    for (int i = 0; i < src->ndim; i++) {
        AIRY_FAIL_ON_IF(factor[i] < 1, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                        "%s[%d] = 0, expected at least 1", "factor", i);
        AIRY_FAIL_IF(dst->shape[i] / factor[i] != src->shape[i] || dst->shape[i] % factor[i] != 0,
                     AIRY_ERR_SHAPE, "dst is %s, expected %zu times %zu along axis %d",
                     airy_array_describe(dst, text), factor[i], src->shape[i], i);
    }
    AIRY_TRY(make_plan(&plan, dst, src));
    for (int i = 0; i < src->ndim; i++)
        for (size_t k = 0; k < dst->shape[i]; k++)
            plan.place[axis_of(dst, i)][k] = (int64_t)(k / factor[i] * src->pitch[i]);
    return run(queue, &plan);
}

static const char *const projection_names[AIRY_PROJECTION_COUNT] = {"mean", "sum", "max",
                                                                    "min",  "std", "median"};

const char *airy_projection_name(airy_projection projection)
{
    return (unsigned)projection < AIRY_PROJECTION_COUNT ? projection_names[projection] : "?";
}

airy_status airy_projection_parse(airy_projection *projection, const char *name)
{
    AIRY_FAIL_ON_IF(!projection || !name, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s is NULL",
                    projection ? "name" : "projection");
    int i = 0;
    AIRY_TRY(airy_find_word(&i, "projection", name, projection_names, AIRY_PROJECTION_COUNT));
    *projection = (airy_projection)i;
    return AIRY_OK;
}

airy_status airy_project(airy_queue *queue, airy_array *dst, const airy_array *src,
                         const size_t *factor, airy_projection projection, bool skip_nan)
{
    struct airy_project_plan plan = {.dst = dst,
                                     .src = src,
                                     .n = {1, 1, 1, 1},
                                     .factor = {1, 1, 1, 1},
                                     .projection = projection,
                                     .skip_nan = skip_nan};
    AIRY_TRY(check_arrays(queue, dst, src));
    AIRY_FAIL_IF(!factor, AIRY_ERR_PARAM, "factor is NULL");
    AIRY_FAIL_ON_IF((unsigned)projection >= AIRY_PROJECTION_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d is none of airy_projection", "projection",
                    (int)projection);
    for (int i = 0; i < src->ndim; i++) {
        const int axis = axis_of(dst, i);
        AIRY_FAIL_ON_IF(factor[i] < 1 || factor[i] > src->shape[i], AIRY_ERR_PARAM,
                        AIRY_SUBJECT_PARAMETER, "%s[%d] = %zu, expected 1 to %zu", "factor", i,
                        factor[i], src->shape[i]);
        AIRY_TRY(check_length(dst, i, src->shape[i] / factor[i]));
        plan.n[axis] = dst->shape[i];
        plan.factor[axis] = factor[i];
        plan.src_step[axis] = src->pitch[i];
        plan.dst_step[axis] = dst->pitch[i];
    }
    const struct airy_element_fns *fns = airy_queue_backend(queue)->element;
    AIRY_FAIL_IF(!fns, AIRY_ERR_UNSUPPORTED, "back end '%s' does not implement projections",
                 airy_queue_backend(queue)->name);
    return fns->project(queue, &plan);
}
