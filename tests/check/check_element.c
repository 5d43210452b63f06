/* Arithmetic, comparison, functions, choice, limits, conversion. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/element.h"
#include "check.h"
#include "core/objects.h"
#include "ref_element.h"

enum { HEIGHT = 21, WIDTH = 53, COUNT = HEIGHT * WIDTH, MARGIN = 3 };

static const char *const operators[AIRY_OPERATOR_COUNT] = {
    "add",           "subtract", "multiply", "divide",     "minimum", "maximum",
    "power",         "hypot",    "less",     "less_equal", "equal",   "not_equal",
    "greater_equal", "greater",  "and",      "or",         "xor"};
static const char *const functions[AIRY_FUNCTION_COUNT] = {"negate", "abs",    "square",   "sqrt",
                                                           "exp",    "log",    "log10",    "log1p",
                                                           "not",    "is_nan", "is_finite"};

static struct ref_type type_of(airy_dtype dtype)
{
    return (struct ref_type){.is_float = airy_dtype_is_float(dtype),
                             .is_signed = airy_dtype_is_signed(dtype),
                             .size = (int)airy_dtype_size(dtype)};
}

#define GET(DTYPE, T)                                                                              \
    case AIRY_DTYPE_##DTYPE:                                                                       \
        return ((const T *)data)[i];
#define PUT(DTYPE, T)                                                                              \
    case AIRY_DTYPE_##DTYPE:                                                                       \
        ((T *)data)[i] = (T)v;                                                                     \
        break;

static long double get(const void *data, airy_dtype dtype, size_t i)
{
    switch (dtype) {
        GET(U8, uint8_t)
        GET(I8, int8_t)
        GET(U16, uint16_t)
        GET(I16, int16_t)
        GET(U32, uint32_t)
        GET(I32, int32_t)
        GET(U64, uint64_t)
        GET(I64, int64_t)
        GET(F32, float)
        GET(F64, double)
    default:
        return 0;
    }
}

static void put(void *data, airy_dtype dtype, size_t i, long double v)
{
    switch (dtype) {
        PUT(U8, uint8_t)
        PUT(I8, int8_t)
        PUT(U16, uint16_t)
        PUT(I16, int16_t)
        PUT(U32, uint32_t)
        PUT(I32, int32_t)
        PUT(U64, uint64_t)
        PUT(I64, int64_t)
        PUT(F32, float)
        PUT(F64, double)
    default:
        break;
    }
}

/* An operand on host and device: a view with margins, so that no two operands have one pitch. */
struct operand {
    airy_dtype dtype;
    void *data; /* COUNT tight elements */
    airy_array *whole, *view;
};

/* Small numbers, halves, limits of the dtype and what is next to them, and what is not finite. */
static void make_values(struct check *c, struct operand *o, bool turned)
{
    const struct ref_type type = type_of(o->dtype);
    const int bits = 8 * type.size;
    const long double above = ldexpl(1, type.is_signed ? bits - 1 : bits);
    const long double special[] = {0,
                                   1,
                                   2,
                                   100,
                                   type.is_float ? 0.5L : 3,
                                   type.is_float ? 2.5L : above - 1,
                                   type.is_float ? -3.5L : above - 2,
                                   type.is_float ? 1e10L : (type.is_signed ? -above : 5),
                                   type.is_float ? (long double)INFINITY : 6,
                                   type.is_float ? -(long double)INFINITY : 7,
                                   type.is_float ? (long double)NAN : above / 2,
                                   type.is_float ? -7.25L : above / 2 + 1};
    enum { SPECIAL = sizeof(special) / sizeof(special[0]) };
    o->data = check_alloc(c, COUNT * airy_dtype_size(o->dtype));
    check_rand(c, o->data, o->dtype, COUNT, type.is_signed ? -120 : 0, 120);
    for (size_t i = 0; i < SPECIAL * SPECIAL; i++)
        put(o->data, o->dtype, i, special[turned ? i / SPECIAL : i % SPECIAL]);
}

static void make_arrays(struct check *c, struct operand *o, size_t margin)
{
    const size_t shape[2] = {HEIGHT + margin, WIDTH + margin}, start[2] = {margin / 2, margin / 2},
                 inner[2] = {HEIGHT, WIDTH}, size = airy_dtype_size(o->dtype);
    uint8_t *all = check_alloc(c, shape[0] * shape[1] * size);
    for (size_t y = 0; y < HEIGHT && o->data; y++)
        memcpy(all + ((y + start[0]) * shape[1] + start[1]) * size,
               (const uint8_t *)o->data + y * WIDTH * size, WIDTH * size);
    o->whole = check_upload(c, o->dtype, 2, shape, all);
    CHECK_OK(c, airy_array_view(&o->view, o->whole, start, inner));
}

static struct operand make_operand(struct check *c, airy_dtype dtype, bool turned, size_t margin)
{
    struct operand o = {.dtype = dtype};
    make_values(c, &o, turned);
    make_arrays(c, &o, margin);
    return o;
}

static struct operand make_result(struct check *c, airy_dtype dtype, size_t margin)
{
    struct operand o = {.dtype = dtype};
    make_arrays(c, &o, margin);
    return o;
}

/* Element by element; rel where the operation is not rounded once, then integers may differ by 1. */
static void compare(struct check *c, const struct operand *dst, const long double *want, double rel)
{
    const size_t size = COUNT * airy_dtype_size(dst->dtype);
    void *got = check_alloc(c, size);
    if (!CHECK_OK(c, airy_array_pull(c->queue, got, size, dst->view)))
        return;
    for (size_t i = 0; i < COUNT; i++) {
        /* Below the normal range units do not get smaller. */
        const long double tiny = airy_dtype_is_float(dst->dtype)
                                     ? ldexpl(rel > 0x1p-40 ? 32 : 0, -149) + ldexpl(32, -1074)
                                     : 1;
        const long double g = get(got, dst->dtype, i), w = want[i];
        const long double allowed = rel > 0 ? (long double)rel * fabsl(w) + tiny : 0;
        if (g == w || (isnan(g) && isnan(w)) || fabsl(g - w) <= allowed)
            continue;
        check_failed(c, __FILE__, __LINE__, "element %zu: got %.20Lg, want %.20Lg", i, g, w);
        return;
    }
}

static void destroy(struct operand *o)
{
    airy_array_destroy(&o->view);
}

static bool lacks_f64(struct check *c, const airy_dtype *dtypes, int count)
{
    airy_device_info info;
    if (airy_device_get_info(c->device, &info) != AIRY_OK || info.fp64)
        return false;
    for (int i = 0; i < count; i++)
        if (airy_dtype_size(dtypes[i]) >= 4 && dtypes[i] != AIRY_DTYPE_F32) {
            check_skip(c, "no double precision");
            return true;
        }
    return false;
}

/* The header's rule. */
static enum ref_domain domain_of(const airy_dtype *dtypes, int count, bool fraction)
{
    bool whole = !fraction, large = false;
    for (int i = 0; i < count; i++) {
        whole = whole && !airy_dtype_is_float(dtypes[i]);
        large = large || (airy_dtype_size(dtypes[i]) >= 4 && dtypes[i] != AIRY_DTYPE_F32);
    }
    return whole ? REF_EXACT : large ? REF_F64 : REF_F32;
}

/* What the operations that are not rounded once may be off by, relative; ulps of the domain. */
static double slack(enum ref_domain domain, bool exact, bool power)
{
    return exact ? 0 : (power ? 16 : 4) * 2 * (domain == REF_F32 ? 0x1p-24 : 0x1p-53);
}

/* b: an array, or with number set that number. */
static void check_operator_one(struct check *c, const airy_dtype dtypes[3], airy_operator op,
                               const double *number, bool in_place)
{
    char tail[48] = "";
    if (number)
        snprintf(tail, sizeof(tail), "%g", *number);
    if (!check_case(c, "element_%s_%s_%s_%s%s", operators[op], airy_dtype_name(dtypes[0]),
                    number ? tail : airy_dtype_name(dtypes[1]), airy_dtype_name(dtypes[2]),
                    in_place ? "_in_place" : "") ||
        lacks_f64(c, dtypes, 3))
        return;
    const bool predicate = op >= AIRY_LESS,
               fraction = op == AIRY_DIVIDE || op == AIRY_POWER || op == AIRY_HYPOT;
    airy_dtype of[3] = {dtypes[0], dtypes[1], dtypes[2]};
    if (number)
        of[1] = airy_dtype_is_float(dtypes[0])                 ? dtypes[0]
                : *number != floor(*number)                    ? AIRY_DTYPE_F64
                : *number >= INT16_MIN && *number <= INT16_MAX ? AIRY_DTYPE_I16
                                                               : AIRY_DTYPE_I64;
    const enum ref_domain domain = domain_of(of, predicate ? 2 : 3, fraction);
    struct operand a = make_operand(c, dtypes[0], false, MARGIN),
                   b = make_operand(c, number ? AIRY_DTYPE_U8 : dtypes[1], true, MARGIN + 2),
                   dst = make_result(c, dtypes[2], 0);
    long double *want = check_alloc(c, COUNT * sizeof(*want));
    for (size_t i = 0; i < COUNT; i++)
        want[i] = ref_store(ref_operator((int)op, get(a.data, a.dtype, i),
                                         number ? *number : get(b.data, b.dtype, i), domain),
                            type_of(dtypes[2]), false);
    const struct operand *to = in_place ? &a : &dst;
    if (number)
        CHECK_OK(c, airy_combine_value(c->queue, to->view, a.view, op, *number));
    else
        CHECK_OK(c, airy_combine(c->queue, to->view, a.view, op, b.view));
    compare(c, to, want, slack(domain, op != AIRY_POWER && op != AIRY_HYPOT, op == AIRY_POWER));
    destroy(&a);
    destroy(&b);
    destroy(&dst);
}

static void check_operators(struct check *c)
{
    static const airy_dtype triples[][3] = {{AIRY_DTYPE_F32, AIRY_DTYPE_F32, AIRY_DTYPE_F32},
                                            {AIRY_DTYPE_U8, AIRY_DTYPE_U8, AIRY_DTYPE_U8},
                                            {AIRY_DTYPE_U16, AIRY_DTYPE_I16, AIRY_DTYPE_I32},
                                            {AIRY_DTYPE_U32, AIRY_DTYPE_U32, AIRY_DTYPE_U64},
                                            {AIRY_DTYPE_I64, AIRY_DTYPE_U64, AIRY_DTYPE_I64},
                                            {AIRY_DTYPE_F64, AIRY_DTYPE_F32, AIRY_DTYPE_F64},
                                            {AIRY_DTYPE_I32, AIRY_DTYPE_F32, AIRY_DTYPE_F32},
                                            {AIRY_DTYPE_U64, AIRY_DTYPE_U64, AIRY_DTYPE_U64},
                                            {AIRY_DTYPE_F64, AIRY_DTYPE_F64, AIRY_DTYPE_I16},
                                            {AIRY_DTYPE_U8, AIRY_DTYPE_U16, AIRY_DTYPE_F32},
                                            {AIRY_DTYPE_I8, AIRY_DTYPE_I8, AIRY_DTYPE_U8},
                                            {AIRY_DTYPE_I32, AIRY_DTYPE_U32, AIRY_DTYPE_I64},
                                            {AIRY_DTYPE_F32, AIRY_DTYPE_U8, AIRY_DTYPE_U64},
                                            {AIRY_DTYPE_U16, AIRY_DTYPE_U16, AIRY_DTYPE_U16},
                                            {AIRY_DTYPE_U8, AIRY_DTYPE_U16, AIRY_DTYPE_U8},
                                            {AIRY_DTYPE_I32, AIRY_DTYPE_I32, AIRY_DTYPE_I32},
                                            {AIRY_DTYPE_I32, AIRY_DTYPE_I16, AIRY_DTYPE_U16},
                                            {AIRY_DTYPE_I32, AIRY_DTYPE_I32, AIRY_DTYPE_U32}};
    static const double numbers[] = {2, -0.75, 70000};
    for (size_t i = 0; i < sizeof(triples) / sizeof(triples[0]); i++)
        for (int op = 0; op < AIRY_OPERATOR_COUNT; op++) {
            check_operator_one(c, triples[i], (airy_operator)op, NULL, false);
            if (triples[i][0] == triples[i][2])
                check_operator_one(c, triples[i], (airy_operator)op, NULL, true);
            if (i % 3 == 0 || triples[i][0] == AIRY_DTYPE_U16)
                check_operator_one(c, triples[i], (airy_operator)op, &numbers[op % 3], false);
        }
}

static void check_function_one(struct check *c, airy_dtype from, airy_dtype to, airy_function f)
{
    const airy_dtype dtypes[2] = {from, to};
    if (!check_case(c, "element_%s_%s_%s", functions[f], airy_dtype_name(from),
                    airy_dtype_name(to)) ||
        lacks_f64(c, dtypes, 2))
        return;
    const bool fraction = f >= AIRY_SQRT && f <= AIRY_LOG1P;
    const enum ref_domain domain = domain_of(dtypes, f >= AIRY_NOT ? 1 : 2, fraction);
    struct operand a = make_operand(c, from, false, MARGIN), dst = make_result(c, to, 2);
    long double *want = check_alloc(c, COUNT * sizeof(*want));
    for (size_t i = 0; i < COUNT; i++)
        want[i] = ref_store(ref_function((int)f, get(a.data, from, i), domain), type_of(to), false);
    CHECK_OK(c, airy_apply(c->queue, dst.view, f, a.view));
    compare(c, &dst, want, slack(domain, f < AIRY_EXP || f > AIRY_LOG1P, false));
    destroy(&a);
    destroy(&dst);
}

static void check_functions(struct check *c)
{
    static const airy_dtype pairs[][2] = {
        {AIRY_DTYPE_F32, AIRY_DTYPE_F32}, {AIRY_DTYPE_F64, AIRY_DTYPE_F64},
        {AIRY_DTYPE_U8, AIRY_DTYPE_I16},  {AIRY_DTYPE_I32, AIRY_DTYPE_U64},
        {AIRY_DTYPE_I64, AIRY_DTYPE_U64}, {AIRY_DTYPE_U32, AIRY_DTYPE_U64},
        {AIRY_DTYPE_U16, AIRY_DTYPE_F32}, {AIRY_DTYPE_F32, AIRY_DTYPE_U8},
        {AIRY_DTYPE_U8, AIRY_DTYPE_U8},   {AIRY_DTYPE_U16, AIRY_DTYPE_U16},
        {AIRY_DTYPE_I32, AIRY_DTYPE_I32}, {AIRY_DTYPE_I32, AIRY_DTYPE_U32}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        for (int f = 0; f < AIRY_FUNCTION_COUNT; f++)
            check_function_one(c, pairs[i][0], pairs[i][1], (airy_function)f);
}

/*
 * The CPU's own series in f32 over all exponents, subnormal numbers, infinities and NaN: within 1
 * unit in the last place. 2^32 / SERIES_STEP bit patterns.
 */
static void check_series(struct check *c)
{
    enum { SERIES_STEP = 16411, SERIES_COUNT = 261712 };
    static const struct {
        airy_function function;
        long double (*of)(long double);
    } series[] = {{AIRY_EXP, expl}, {AIRY_LOG, logl}, {AIRY_LOG10, log10l}, {AIRY_LOG1P, log1pl}};
    for (size_t k = 0; k < sizeof(series) / sizeof(series[0]) && c->is_cpu; k++) {
        if (!check_case(c, "element_series_%s", functions[series[k].function]))
            continue;
        const size_t shape[1] = {SERIES_COUNT};
        float *x = check_alloc(c, SERIES_COUNT * sizeof(*x)),
              *got = check_alloc(c, SERIES_COUNT * sizeof(*got));
        for (uint32_t i = 0; i < SERIES_COUNT; i++)
            memcpy(&x[i], &(uint32_t){i * SERIES_STEP}, sizeof(*x));
        airy_array *a = check_upload(c, AIRY_DTYPE_F32, 1, shape, x);
        CHECK_OK(c, airy_apply(c->queue, a, series[k].function, a));
        CHECK_OK(c, airy_array_pull(c->queue, got, SERIES_COUNT * sizeof(*got), a));
        for (size_t i = 0; i < SERIES_COUNT; i++) {
            const long double w = series[k].of(x[i]), g = got[i];
            int exponent = 0;
            (void)frexpl(w, &exponent);
            const long double ulp = ldexpl(1, exponent < -125 ? -149 : exponent - 24);
            if (g == (float)w || (isnan(g) && isnan(w)) || fabsl(g - w) <= ulp)
                continue;
            check_failed(c, __FILE__, __LINE__, "%a: got %La, want %La", (double)x[i], g, w);
            break;
        }
    }
}

/*
 * The CPU's own powers: all pairs of the numbers at which the rules of C11, F.10.4.4 begin and end,
 * each sign of 0 too, each alone among pairs with normal numbers above 0; then pairs with results
 * over all exponents and beyond: within 1 unit in the last place of f32, 2 of f64.
 */
enum {
    POWER_EDGES = 42,
    POWER_STEP = 128,
    POWER_NORMAL = POWER_EDGES * POWER_EDGES * POWER_STEP,
    POWER_COUNT = POWER_NORMAL + 65536
};

static void make_powers(struct check *c, airy_dtype dtype, void *x, void *y)
{
    const bool is_f32 = dtype == AIRY_DTYPE_F32;
    const int bits = is_f32 ? 24 : 53, top = is_f32 ? 127 : 1023;
    const long double unit = ldexpl(1, 1 - bits), odd = ldexpl(1, bits) - 1,
                      least = ldexpl(1, 2 - top - bits), normal = ldexpl(1, 1 - top),
                      half[] = {0,
                                1,
                                0.5L,
                                1.5L,
                                2,
                                2.5L,
                                3,
                                10,
                                least,
                                least * 3,
                                normal,
                                normal - least,
                                ldexpl(2 - unit, top),
                                1 + unit,
                                1 - unit / 2,
                                odd,
                                odd + 1,
                                ldexpl(1, top),
                                top + 1,
                                (long double)INFINITY,
                                (long double)NAN};
    _Static_assert(2 * sizeof(half) / sizeof(half[0]) == POWER_EDGES, "both signs of each");
    double *u = check_alloc(c, 2 * POWER_COUNT * sizeof(*u));
    check_rand(c, u, AIRY_DTYPE_F64, 2 * POWER_COUNT, -1, 1);
    for (size_t i = 0; i < POWER_COUNT; i++) {
        const size_t pair = i / POWER_STEP, of_x = pair % POWER_EDGES, of_y = pair / POWER_EDGES;
        if (i < POWER_NORMAL && i % POWER_STEP == of_x) {
            put(x, dtype, i, of_x % 2 ? -half[of_x / 2] : half[of_x / 2]);
            put(y, dtype, i, of_y % 2 ? -half[of_y / 2] : half[of_y / 2]);
            continue;
        }
        /* Half of them near 1. */
        const long double log = i % 2 ? u[2 * i] * top : ldexpl(u[2 * i], (int)(i % 40) / -2);
        put(x, dtype, i, exp2l(log));
        put(y, dtype, i, u[2 * i + 1] * (i < POWER_NORMAL ? top - 2 : top + bits) / log);
    }
}

static void check_powers_one(struct check *c, airy_dtype dtype)
{
    if (!check_case(c, "element_powers_%s", airy_dtype_name(dtype)))
        return;
    const size_t size = airy_dtype_size(dtype), shape[1] = {POWER_COUNT};
    void *x = check_alloc(c, POWER_COUNT * size), *y = check_alloc(c, POWER_COUNT * size),
         *got = check_alloc(c, POWER_COUNT * size);
    make_powers(c, dtype, x, y);
    airy_array *a = check_upload(c, dtype, 1, shape, x), *b = check_upload(c, dtype, 1, shape, y);
    CHECK_OK(c, airy_combine(c->queue, a, a, AIRY_POWER, b));
    CHECK_OK(c, airy_array_pull(c->queue, got, POWER_COUNT * size, a));
    const int bits = size == 4 ? 24 : 53, least = size == 4 ? -149 : -1074;
    const long double limit = ldexpl(1, size == 4 ? 128 : 1024);
    for (size_t i = 0; i < POWER_COUNT; i++) {
        const long double w = powl(get(x, dtype, i), get(y, dtype, i)), g = get(got, dtype, i);
        int exponent = 0;
        (void)frexpl(w, &exponent);
        const long double ulp = ldexpl(1, exponent - bits < least ? least : exponent - bits) *
                                (size == 4 ? 1 : 2);
        const bool fits = fabsl(w) >= limit ? fabsl(g) + ulp >= limit && (g > 0) == (w > 0)
                                            : fabsl(g - w) <= ulp && signbit(g) == signbit(w);
        if (isnan(w) ? isnan(g) : fits)
            continue;
        check_failed(c, __FILE__, __LINE__, "%La to the power %La: got %La, want %La",
                     get(x, dtype, i), get(y, dtype, i), g, w);
        break;
    }
}

static void check_powers(struct check *c)
{
    if (!c->is_cpu)
        return;
    check_powers_one(c, AIRY_DTYPE_F32);
    check_powers_one(c, AIRY_DTYPE_F64);
}

static void check_where_one(struct check *c, const airy_dtype dtypes[3])
{
    if (!check_case(c, "element_where_%s_%s_%s", airy_dtype_name(dtypes[0]),
                    airy_dtype_name(dtypes[1]), airy_dtype_name(dtypes[2])) ||
        lacks_f64(c, dtypes, 3))
        return;
    const enum ref_domain domain = domain_of(dtypes, 3, false);
    struct operand mask = make_operand(c, AIRY_DTYPE_U8, true, 1),
                   a = make_operand(c, dtypes[0], false, MARGIN),
                   b = make_operand(c, dtypes[1], true, MARGIN + 2),
                   dst = make_result(c, dtypes[2], 0);
    long double *want = check_alloc(c, COUNT * sizeof(*want));
    for (size_t i = 0; i < COUNT; i++) {
        const long double v = get(mask.data, AIRY_DTYPE_U8, i) != 0 ? get(a.data, a.dtype, i)
                                                                    : get(b.data, b.dtype, i);
        want[i] = ref_store(ref_enter(v, domain), type_of(dtypes[2]), false);
    }
    CHECK_OK(c, airy_where(c->queue, dst.view, mask.view, a.view, b.view));
    compare(c, &dst, want, 0);
    destroy(&mask);
    destroy(&a);
    destroy(&b);
    destroy(&dst);
}

static void check_clamp_one(struct check *c, airy_dtype from, airy_dtype to, double lo, double hi)
{
    const airy_dtype dtypes[2] = {from, to};
    if (!check_case(c, "element_clamp_%s_%s_%g_%g", airy_dtype_name(from), airy_dtype_name(to), lo,
                    hi) ||
        lacks_f64(c, dtypes, 2))
        return;
    const enum ref_domain domain = domain_of(dtypes, 2, false);
    struct operand a = make_operand(c, from, false, MARGIN), dst = make_result(c, to, 2);
    const long double low = ref_enter(domain == REF_EXACT ? ceill(lo) : lo, domain),
                      high = ref_enter(domain == REF_EXACT ? floorl(hi) : hi, domain);
    long double *want = check_alloc(c, COUNT * sizeof(*want));
    for (size_t i = 0; i < COUNT; i++) {
        const long double v = ref_enter(get(a.data, from, i), domain);
        want[i] = ref_store(v < low ? low : v > high ? high : v, type_of(to), false);
    }
    CHECK_OK(c, airy_clamp(c->queue, dst.view, a.view, lo, hi));
    compare(c, &dst, want, 0);
    destroy(&a);
    destroy(&dst);
}

static void check_convert_one(struct check *c, airy_dtype from, airy_dtype to,
                              airy_conversion conversion, double scale, double offset)
{
    const airy_dtype dtypes[3] = {from, to, scale != 1 ? AIRY_DTYPE_F64 : from};
    if (!check_case(c, "element_convert_%s_%s_%d_%g_%g", airy_dtype_name(from), airy_dtype_name(to),
                    (int)conversion, scale, offset) ||
        lacks_f64(c, dtypes, 3))
        return;
    struct operand a = make_operand(c, from, false, MARGIN), dst = make_result(c, to, 2);
    long double *want = check_alloc(c, COUNT * sizeof(*want));
    size_t inexact = 0;
    for (size_t i = 0; i < COUNT; i++) {
        long double v = get(a.data, from, i);
        if (scale != 1 || offset != 0) {
            const double product = (double)v * scale;
            v = product + offset;
        }
        want[i] = ref_store(v, type_of(to), conversion == AIRY_CONVERT_TRUNCATE);
        inexact += !(want[i] == v || (isnan(want[i]) && isnan(v)));
    }
    const airy_status status = airy_convert(c->queue, dst.view, a.view, conversion, scale, offset);
    if (conversion == AIRY_CONVERT_EXACT && inexact > 0) {
        char part[64];
        snprintf(part, sizeof(part), "%zu of %d elements", inexact, COUNT);
        CHECK_FAILS(c, status, AIRY_ERR_DTYPE, part);
    } else {
        CHECK_OK(c, status);
    }
    compare(c, &dst, want, 0);
    destroy(&a);
    destroy(&dst);
}

static void check_converts(struct check *c)
{
    for (int from = 0; from < AIRY_DTYPE_COUNT; from++)
        for (int to = 0; to < AIRY_DTYPE_COUNT; to++) {
            if (!c->is_cpu && (from + to) % 3 != 0)
                continue; /* each is a program to compile */
            for (int how = 0; how < AIRY_CONVERSION_COUNT; how++)
                check_convert_one(c, (airy_dtype)from, (airy_dtype)to, (airy_conversion)how, 1, 0);
            check_convert_one(c, (airy_dtype)from, (airy_dtype)to,
                              (airy_conversion)((from + to) % AIRY_CONVERSION_COUNT), 0.37, -3.5);
        }
}

static void check_choices(struct check *c)
{
    static const airy_dtype triples[][3] = {{AIRY_DTYPE_F32, AIRY_DTYPE_F32, AIRY_DTYPE_F32},
                                            {AIRY_DTYPE_U16, AIRY_DTYPE_U16, AIRY_DTYPE_U16},
                                            {AIRY_DTYPE_U64, AIRY_DTYPE_I64, AIRY_DTYPE_U64},
                                            {AIRY_DTYPE_F64, AIRY_DTYPE_I32, AIRY_DTYPE_F32},
                                            {AIRY_DTYPE_U8, AIRY_DTYPE_U8, AIRY_DTYPE_U8}};
    for (size_t i = 0; i < sizeof(triples) / sizeof(triples[0]); i++) {
        check_where_one(c, triples[i]);
        check_clamp_one(c, triples[i][0], triples[i][2], -1.5, 40.25);
        check_clamp_one(c, triples[i][0], triples[i][2], 3, (double)INFINITY);
        check_clamp_one(c, triples[i][0], triples[i][2], 2, 101);
        check_clamp_one(c, triples[i][1], triples[i][2], -(double)INFINITY, 7);
    }
}

/* Without gaps, in several blocks and pieces, the last of them not full. */
static void check_blocks_one(struct check *c, airy_dtype dtype)
{
    enum { LONG = 100003 };
    if (!check_case(c, "element_blocks_%s", airy_dtype_name(dtype)))
        return;
    const size_t shape[1] = {LONG}, size = LONG * airy_dtype_size(dtype);
    void *a = check_alloc(c, size), *b = check_alloc(c, size), *want = check_alloc(c, size);
    check_rand(c, a, dtype, LONG, 0, 200);
    check_rand(c, b, dtype, LONG, 0, 200);
    for (size_t i = 0; i < LONG; i++)
        put(want, dtype, i, ref_store(get(a, dtype, i) + get(b, dtype, i), type_of(dtype), false));
    airy_array *of_a = check_upload(c, dtype, 1, shape, a),
               *of_b = check_upload(c, dtype, 1, shape, b), *dst = check_output(c, dtype, 1, shape);
    CHECK_OK(c, airy_combine(c->queue, dst, of_a, AIRY_ADD, of_b));
    check_array(c, dst, want, NULL);
    CHECK_OK(c, airy_combine(c->queue, of_a, of_a, AIRY_ADD, of_b));
    check_array(c, of_a, want, NULL);
}

static void check_blocks(struct check *c)
{
    static const airy_dtype dtypes[] = {AIRY_DTYPE_U8, AIRY_DTYPE_U16, AIRY_DTYPE_I32,
                                        AIRY_DTYPE_F32};
    for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++)
        check_blocks_one(c, dtypes[i]);
}

static void check_element_refusals(struct check *c)
{
    if (!check_case(c, "element_refusals"))
        return;
    airy_queue *q = c->queue;
    const size_t shape[2] = {4, 6}, other_shape[2] = {6, 4}, start[2] = {0, 0}, one[2] = {0, 1},
                 part[2] = {4, 5};
    airy_array *a = check_output(c, AIRY_DTYPE_F32, 2, shape),
               *b = check_output(c, AIRY_DTYPE_F32, 2, shape),
               *other = check_output(c, AIRY_DTYPE_F32, 2, other_shape), *left = NULL,
               *right = NULL, *ints = check_output(c, AIRY_DTYPE_U8, 2, shape);
    const double nan = (double)NAN, infinity = (double)INFINITY;
    CHECK_OK(c, airy_array_view(&left, a, start, part));
    CHECK_OK(c, airy_array_view(&right, a, one, part));
    CHECK_FAILS(c, airy_combine(NULL, a, a, AIRY_ADD, b), AIRY_ERR_PARAM, "queue is NULL");
    CHECK_FAILS(c, airy_combine(q, NULL, a, AIRY_ADD, b), AIRY_ERR_PARAM, "dst is NULL");
    CHECK_FAILS(c, airy_combine(q, a, NULL, AIRY_ADD, b), AIRY_ERR_PARAM, "a is NULL");
    CHECK_FAILS(c, airy_combine(q, a, b, AIRY_ADD, NULL), AIRY_ERR_PARAM, "b is NULL");
    CHECK_FAILS(c, airy_combine(q, a, b, AIRY_OPERATOR_COUNT, b), AIRY_ERR_PARAM, "op = 17");
    CHECK_FAILS(c, airy_combine(q, a, other, AIRY_ADD, b), AIRY_ERR_SHAPE, "a is");
    CHECK_FAILS(c, airy_combine(q, a, b, AIRY_ADD, other), AIRY_ERR_SHAPE, "b is");
    CHECK_FAILS(c, airy_combine(q, left, right, AIRY_ADD, left), AIRY_ERR_PARAM,
                "dst and a overlap");
    CHECK_FAILS(c, airy_combine_value(q, a, NULL, AIRY_ADD, 1), AIRY_ERR_PARAM, "a is NULL");
    CHECK_FAILS(c, airy_combine_value(q, a, a, (airy_operator)-1, 1), AIRY_ERR_PARAM, "op = -1");
    CHECK_FAILS(c, airy_apply(q, a, AIRY_FUNCTION_COUNT, b), AIRY_ERR_PARAM, "function = 11");
    CHECK_FAILS(c, airy_apply(q, a, AIRY_ABS, NULL), AIRY_ERR_PARAM, "src is NULL");
    CHECK_FAILS(c, airy_where(q, a, NULL, a, b), AIRY_ERR_PARAM, "mask is NULL");
    CHECK_FAILS(c, airy_where(q, a, b, a, b), AIRY_ERR_DTYPE, "mask is");
    CHECK_FAILS(c, airy_where(NULL, a, ints, a, b), AIRY_ERR_PARAM, "queue is NULL");
    CHECK_FAILS(c, airy_clamp(q, a, b, 2, 1), AIRY_ERR_PARAM, "lo <= hi");
    CHECK_FAILS(c, airy_clamp(q, a, b, nan, 1), AIRY_ERR_PARAM, "lo <= hi");
    CHECK_FAILS(c, airy_clamp(q, ints, ints, 0.2, 0.8), AIRY_ERR_PARAM, "whole number");
    CHECK_FAILS(c, airy_convert(q, a, b, AIRY_CONVERSION_COUNT, 1, 0), AIRY_ERR_PARAM,
                "conversion = 3");
    CHECK_FAILS(c, airy_convert(q, a, b, AIRY_CONVERT_SATURATE, infinity, 0), AIRY_ERR_PARAM,
                "scale = inf");
    CHECK_FAILS(c, airy_convert(q, a, b, AIRY_CONVERT_SATURATE, 1, nan), AIRY_ERR_PARAM,
                "offset = nan");
    airy_array_destroy(&left);
    airy_array_destroy(&right);
}

/* Devices with groups of few items; top-hats take this arithmetic too. */
static void check_small_groups(struct check *c)
{
    if (!check_case(c, "element_small_groups"))
        return;
    const size_t shape[2] = {7, 50};
    airy_device_info *info = &c->device->info;
    const uint32_t max_group = info->max_group;
    float *data = check_alloc(c, 7 * 50 * sizeof(*data)),
          *want = check_alloc(c, 7 * 50 * sizeof(*want));
    check_rand(c, data, AIRY_DTYPE_F32, 7 * 50, -5, 5);
    for (size_t i = 0; i < 7 * 50; i++)
        want[i] = data[i] + data[i];
    airy_array *a = check_upload(c, AIRY_DTYPE_F32, 2, shape, data);
    info->max_group = 64;
    CHECK_OK(c, airy_combine(c->queue, a, a, AIRY_ADD, a));
    CHECK_OK(c, airy_queue_finish(c->queue));
    info->max_group = max_group;
    check_array(c, a, want, NULL);
}

static void check_element_bench(struct check *c)
{
    if (!c->bench || !check_case(c, "element_add_f32_4096x4096"))
        return;
    const size_t shape[2] = {4096, 4096};
    airy_array *a = check_output(c, AIRY_DTYPE_F32, 2, shape),
               *b = check_output(c, AIRY_DTYPE_F32, 2, shape);
    CHECK_BENCH(c, 12.0 * 4096 * 4096, 4096.0 * 4096,
                airy_combine(c->queue, a, a, AIRY_ADD, b) || airy_queue_finish(c->queue));
}

void check_element(struct check *c)
{
    check_operators(c);
    check_functions(c);
    check_series(c);
    check_powers(c);
    check_choices(c);
    check_blocks(c);
    check_converts(c);
    check_element_refusals(c);
    check_small_groups(c);
    check_element_bench(c);
}
