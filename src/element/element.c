#include "airy/element.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "core/backend.h"
#include "core/objects.h"
#include "element/element_fns.h"

static bool same_shape(const airy_array *a, const airy_array *b)
{
    return a->ndim == b->ndim && memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof(size_t)) == 0;
}

/* An operand of dst's shape on the queue's device, which may be dst itself. */
static airy_status check_operand(const airy_queue *queue, const airy_array *dst,
                                 const airy_array *operand, const char *name)
{
    char text[96], other[96];
    AIRY_FAIL_ON_IF(!operand, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s is NULL", name);
    AIRY_TRY(airy_check_device(queue, operand, name));
    AIRY_FAIL_ON_IF(!same_shape(dst, operand), AIRY_ERR_SHAPE, AIRY_SUBJECT_PARAMETER,
                    "%s is %s, expected the shape of %s", name, airy_array_describe(operand, text),
                    airy_array_describe(dst, other));
    const bool itself = dst->offset == operand->offset &&
                        airy_dtype_size(dst->dtype) == airy_dtype_size(operand->dtype) &&
                        memcmp(dst->pitch, operand->pitch, (size_t)dst->ndim * sizeof(size_t)) == 0;
    AIRY_FAIL_IF(!itself && airy_array_overlaps(dst, operand), AIRY_ERR_PARAM,
                 "dst and %s overlap and are not the same elements", name);
    return AIRY_OK;
}

static airy_status check_dst(const airy_queue *queue, const airy_array *dst)
{
    AIRY_FAIL_ON_IF(!queue || !dst, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s is NULL",
                    queue ? "dst" : "queue");
    return airy_check_device(queue, dst, "dst");
}

static airy_status run(airy_queue *queue, const struct airy_element_plan *plan)
{
    const struct airy_element_fns *fns = airy_queue_backend(queue)->element;
    AIRY_FAIL_IF(!fns, AIRY_ERR_UNSUPPORTED, "back end '%s' does not implement arithmetic",
                 airy_queue_backend(queue)->name);
    return fns->run(queue, plan);
}

static bool is_whole(double v)
{
    return v == floor(v) && v >= -0x1p63 && v < 0x1p64;
}

/* A number for every class; limited to (-2^64, 2^64) where it is no float. */
static struct airy_element_number make_number(double v)
{
    struct airy_element_number n = {.value = v};
    const double size = fabs(v);
    n.wide.size = isnan(v) ? 0 : size >= 0x1p64 ? UINT64_MAX : (uint64_t)size;
    n.wide.negative = v < 0 && n.wide.size != 0;
    return n;
}

/* The dtypes that say what it is computed in. */
struct kinds {
    bool floats, large, wide; /* a float; f64 or an integer of 32 or 64 bits; one of 64 bits */
    int u32;                  /* how many have 32 bits without a sign */
};

static void add_kind(struct kinds *kinds, airy_dtype dtype, bool operand)
{
    kinds->floats = kinds->floats || airy_dtype_is_float(dtype);
    kinds->large = kinds->large || (airy_dtype_size(dtype) >= 4 && dtype != AIRY_DTYPE_F32);
    if (!operand)
        return;
    kinds->wide = kinds->wide || airy_dtype_size(dtype) == 8;
    kinds->u32 += dtype == AIRY_DTYPE_U32;
}

/* fraction: the operation is not one of integers; product: one of two u32 leaves 63 bits. */
static int pick_domain(const struct kinds *kinds, bool fraction, bool product)
{
    if (!kinds->floats && !fraction)
        return kinds->wide || (product && kinds->u32 > 1) ? AIRY_ELEMENT_WIDE : AIRY_ELEMENT_I64;
    return kinds->large ? AIRY_ELEMENT_F64 : AIRY_ELEMENT_F32;
}

static bool is_predicate(airy_operator op)
{
    return op >= AIRY_LESS;
}

static bool is_fraction(airy_operator op)
{
    return op == AIRY_DIVIDE || op == AIRY_POWER || op == AIRY_HYPOT;
}

static airy_status check_operator(const airy_queue *queue, const airy_array *dst,
                                  const airy_array *a, airy_operator op)
{
    AIRY_FAIL_ON_IF((unsigned)op >= AIRY_OPERATOR_COUNT, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %d is none of airy_operator", "op", (int)op);
    AIRY_TRY(check_dst(queue, dst));
    return check_operand(queue, dst, a, "a");
}

airy_status airy_combine(airy_queue *queue, airy_array *dst, const airy_array *a, airy_operator op,
                         const airy_array *b)
{
    struct kinds kinds = {.floats = false};
    AIRY_TRY(check_operator(queue, dst, a, op));
    AIRY_TRY(check_operand(queue, dst, b, "b"));
    add_kind(&kinds, a->dtype, true);
    add_kind(&kinds, b->dtype, true);
    if (!is_predicate(op))
        add_kind(&kinds, dst->dtype, false);
    const struct airy_element_plan plan = {
        .dst = dst,
        .a = a,
        .b = b,
        .op = (unsigned)op,
        .domain = pick_domain(&kinds, is_fraction(op), op == AIRY_MULTIPLY)};
    return run(queue, &plan);
}

airy_status airy_combine_value(airy_queue *queue, airy_array *dst, const airy_array *a,
                               airy_operator op, double b)
{
    struct kinds kinds = {.floats = false};
    AIRY_TRY(check_operator(queue, dst, a, op));
    add_kind(&kinds, a->dtype, true);
    if (!airy_dtype_is_float(a->dtype))
        add_kind(&kinds,
                 !is_whole(b)                       ? AIRY_DTYPE_F64
                 : b >= INT16_MIN && b <= INT16_MAX ? AIRY_DTYPE_I16
                 : b >= INT32_MIN && b <= INT32_MAX ? AIRY_DTYPE_I32
                                                    : AIRY_DTYPE_I64,
                 true);
    if (!is_predicate(op))
        add_kind(&kinds, dst->dtype, false);
    const struct airy_element_plan plan = {
        .dst = dst,
        .a = a,
        .number_b = make_number(b),
        .op = (unsigned)op,
        .domain = pick_domain(&kinds, is_fraction(op), op == AIRY_MULTIPLY)};
    return run(queue, &plan);
}

airy_status airy_apply(airy_queue *queue, airy_array *dst, airy_function function,
                       const airy_array *src)
{
    struct kinds kinds = {.floats = false};
    AIRY_FAIL_ON_IF((unsigned)function >= AIRY_FUNCTION_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d is none of airy_function", "function",
                    (int)function);
    AIRY_TRY(check_dst(queue, dst));
    AIRY_TRY(check_operand(queue, dst, src, "src"));
    add_kind(&kinds, src->dtype, true);
    add_kind(&kinds, src->dtype, true); /* a square is a product of two */
    if (function < AIRY_NOT)
        add_kind(&kinds, dst->dtype, false);
    const bool fraction = function >= AIRY_SQRT && function <= AIRY_LOG1P;
    const struct airy_element_plan plan = {
        .dst = dst,
        .a = src,
        .op = AIRY_ELEMENT_FUNCTION + (unsigned)function,
        .domain = pick_domain(&kinds, fraction, function == AIRY_SQUARE)};
    return run(queue, &plan);
}

airy_status airy_where(airy_queue *queue, airy_array *dst, const airy_array *mask,
                       const airy_array *a, const airy_array *b)
{
    char text[96];
    struct kinds kinds = {.floats = false};
    AIRY_TRY(check_dst(queue, dst));
    AIRY_TRY(check_operand(queue, dst, mask, "mask"));
    AIRY_TRY(check_operand(queue, dst, a, "a"));
    AIRY_TRY(check_operand(queue, dst, b, "b"));
    AIRY_FAIL_IF(mask->dtype != AIRY_DTYPE_U8, AIRY_ERR_DTYPE, "mask is %s, expected uint8",
                 airy_array_describe(mask, text));
    add_kind(&kinds, a->dtype, true);
    add_kind(&kinds, b->dtype, true);
    add_kind(&kinds, dst->dtype, false);
    const struct airy_element_plan plan = {.dst = dst,
                                           .a = a,
                                           .b = b,
                                           .c = mask,
                                           .op = AIRY_ELEMENT_WHERE,
                                           .domain = pick_domain(&kinds, false, false)};
    return run(queue, &plan);
}

airy_status airy_clamp(airy_queue *queue, airy_array *dst, const airy_array *src, double lo,
                       double hi)
{
    struct kinds kinds = {.floats = false};
    AIRY_FAIL_ON_IF(!(lo <= hi), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %g, %g, expected lo <= hi", "limits", lo, hi);
    AIRY_TRY(check_dst(queue, dst));
    AIRY_TRY(check_operand(queue, dst, src, "src"));
    add_kind(&kinds, src->dtype, true);
    add_kind(&kinds, dst->dtype, false);
    /* Limits with fractions, and infinities, only as floats. */
    const bool whole = is_whole(lo) && is_whole(hi);
    const int domain = pick_domain(&kinds, false, false);
    struct airy_element_number low = make_number(lo), high = make_number(hi);
    if (domain >= AIRY_ELEMENT_I64 && !whole) {
        low = make_number(ceil(lo));
        high = make_number(floor(hi));
        AIRY_FAIL_ON_IF(low.value > high.value, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                        "%s = %g, %g, expected a whole number between them for integers", "limits",
                        lo, hi);
    }
    const struct airy_element_plan plan = {.dst = dst,
                                           .a = src,
                                           .number_b = low,
                                           .number_c = high,
                                           .op = AIRY_ELEMENT_CLAMP,
                                           .domain = domain};
    return run(queue, &plan);
}

airy_status airy_convert(airy_queue *queue, airy_array *dst, const airy_array *src,
                         airy_conversion conversion, double scale, double offset)
{
    char text[96];
    uint64_t inexact = 0;
    AIRY_FAIL_ON_IF((unsigned)conversion >= AIRY_CONVERSION_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d is none of airy_conversion", "conversion",
                    (int)conversion);
    AIRY_FAIL_ON_IF(!isfinite(scale) || !isfinite(offset), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %g, expected finite", isfinite(scale) ? "offset" : "scale",
                    isfinite(scale) ? offset : scale);
    AIRY_TRY(check_dst(queue, dst));
    AIRY_TRY(check_operand(queue, dst, src, "src"));
    const bool as_it_is = scale == 1 && offset == 0;
    const bool whole = as_it_is && !airy_dtype_is_float(src->dtype),
               narrow = src->dtype == AIRY_DTYPE_F32 && as_it_is;
    const struct airy_element_plan plan = {
        .dst = dst,
        .a = src,
        .number_b = make_number(scale),
        .number_c = make_number(offset),
        .op = as_it_is ? AIRY_ELEMENT_COPY : AIRY_ELEMENT_LINEAR,
        .domain = whole ? (airy_dtype_size(src->dtype) == 8 ? AIRY_ELEMENT_WIDE : AIRY_ELEMENT_I64)
                  : narrow ? AIRY_ELEMENT_F32
                           : AIRY_ELEMENT_F64,
        .truncate = conversion == AIRY_CONVERT_TRUNCATE,
        .inexact = conversion == AIRY_CONVERT_EXACT ? &inexact : NULL};
    AIRY_TRY(run(queue, &plan));
    AIRY_FAIL_IF(
        inexact > 0, AIRY_ERR_DTYPE, "%llu of %zu elements cannot be held exactly by dst, %s",
        (unsigned long long)inexact, airy_array_count(dst), airy_array_describe(dst, text));
    return AIRY_OK;
}
