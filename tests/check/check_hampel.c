/* The Hampel filter. No tolerances: medians and what is kept are elements of the source. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "core/backend.h"
#include "filter/filter_fns.h"
#include "ref_rank.h"

struct problem {
    airy_dtype dtype;
    int ndim;
    size_t n[3];
    size_t images; /* 0: no list */
    airy_hampel_params params;
};

/*
 * Few values, so that ties and MADs of 0 come up; one in twenty far away, in floats also NaN and
 * infinities.
 */
static void make_data(struct check *c, const struct problem *p, void *data, double *x, size_t n)
{
    const bool is_float = airy_dtype_is_float(p->dtype);
    for (size_t i = 0; i < n; i++) {
        const double v = is_float ? check_normal(c) : floor(8 * check_uniform(c)),
                     odd = check_uniform(c), many = airy_dtype_is_signed(p->dtype) ? 127 : 255;
        const double far[5] = {-100, 1000, (double)NAN, (double)INFINITY, -(double)INFINITY};
        x[i] = odd >= 0.05   ? v
               : !is_float   ? (odd < 0.02 ? 0 : many)
               : odd < 0.025 ? far[(int)(200 * odd)]
                             : v + far[(int)(800 * (odd - 0.025)) % 2];
        if (p->dtype == AIRY_DTYPE_F32)
            x[i] = (double)(float)x[i];
        check_put(data, p->dtype, i, x[i]);
    }
}

static void run_problem(struct check *c, const struct problem *p)
{
    const size_t images = p->images ? p->images : 1, elem = airy_dtype_size(p->dtype);
    const int list = p->images != 0;
    size_t shape[4] = {p->images}, n = 1;
    struct ref_hampel ref = {.border = p->params.has_border ? (enum ref_border)p->params.border
                                                            : REF_REFLECT,
                             .value = p->params.border_value,
                             .kappa = p->params.kappa != 0 ? p->params.kappa : 3};
    for (int i = 0; i < 3; i++) {
        const int axis = i - (3 - p->ndim);
        ref.n[i] = axis < 0 ? 1 : p->n[axis];
        ref.k[i] = axis < 0 ? 1 : p->params.size[axis];
        n *= ref.n[i];
    }
    memcpy(shape + list, p->n, (size_t)p->ndim * sizeof(size_t));
    char *data = check_alloc(c, images * n * elem), *want = check_alloc(c, images * n * elem);
    double *x = check_alloc(c, images * n * sizeof(*x)), *y = check_alloc(c, n * sizeof(*y));
    make_data(c, p, data, x, images * n);
    for (size_t i = 0; i < images; i++) {
        ref_hampel(y, x + i * n, &ref);
        for (size_t k = 0; k < n; k++)
            check_put(want, p->dtype, i * n + k, y[k]);
    }
    airy_hampel_params params = p->params;
    params.axes = p->ndim;
    airy_array *src = check_upload(c, p->dtype, p->ndim + list, shape, data),
               *dst = check_output(c, p->dtype, p->ndim + list, shape);
    if (CHECK_OK(c, airy_hampel_run(c->queue, dst, src, &params)))
        check_array(c, dst, want, NULL);
}

static bool lacks_f64(struct check *c)
{
    airy_device_info info;
    return airy_device_get_info(c->device, &info) == AIRY_OK && !info.fp64;
}

static void check_one(struct check *c, const struct problem *p)
{
    char src[64] = "", size[64] = "";
    for (int i = 0; i < p->ndim; i++) {
        snprintf(src + strlen(src), sizeof(src) - strlen(src), i ? "x%zu" : "%zu", p->n[i]);
        snprintf(size + strlen(size), sizeof(size) - strlen(size), i ? "x%zu" : "%zu",
                 p->params.size[i]);
    }
    if (!check_case(c, "hampel_%s_%s_%s_%s_k%g%s", airy_dtype_name(p->dtype), src, size,
                    p->params.has_border ? airy_border_name(p->params.border) : "default",
                    p->params.kappa, p->images ? "_list" : ""))
        return;
    if (lacks_f64(c))
        check_skip(c, "no double precision");
    else
        run_problem(c, p);
}

static void check_shapes(struct check *c)
{
    static const struct {
        int ndim;
        size_t n[3], size[3], images;
    } shapes[] = {{1, {1}, {3}, 0},
                  {1, {2}, {11}, 0},
                  {1, {700}, {7}, 0},
                  {1, {40}, {1}, 0},
                  {2, {1, 1}, {5, 5}, 0},
                  {2, {9, 511}, {3, 3}, 0},
                  {2, {5, 513}, {5, 3}, 3},
                  {2, {6, 5}, {13, 25}, 0},
                  {2, {3, 20}, {3, 1025}, 0},
                  {2, {66000, 1}, {3, 3}, 0},
                  {3, {4, 7, 17}, {3, 3, 3}, 0},
                  {3, {1, 6, 9}, {1, 5, 3}, 2},
                  {3, {5, 3, 4}, {7, 1, 5}, 0}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct problem p = {.dtype = i % 2 ? AIRY_DTYPE_U16 : AIRY_DTYPE_F32,
                            .ndim = shapes[i].ndim,
                            .images = shapes[i].images,
                            .params = {.kappa = i % 3 ? 2 : 0}};
        memcpy(p.n, shapes[i].n, sizeof(p.n));
        memcpy(p.params.size, shapes[i].size, sizeof(p.params.size));
        check_one(c, &p);
    }
    for (int i = 0; i < AIRY_BORDER_COUNT; i++) {
        const struct problem p = {.dtype = i % 2 ? AIRY_DTYPE_F64 : AIRY_DTYPE_I16,
                                  .ndim = 2,
                                  .n = {8, 11},
                                  .params = {.size = {5, 7},
                                             .kappa = 1.5,
                                             .has_border = true,
                                             .border = (airy_border)i,
                                             .border_value = i == AIRY_BORDER_VALUE ? 2 : 0}};
        check_one(c, &p);
    }
    for (int i = 0; i < AIRY_DTYPE_COUNT; i++) {
        const struct problem p = {
            .dtype = (airy_dtype)i, .ndim = 2, .n = {21, 37}, .params = {.size = {5, 5}}};
        check_one(c, &p);
    }
}

/* By hand. */
static void check_literal(struct check *c)
{
    if (!check_case(c, "hampel_literal"))
        return;
    if (lacks_f64(c)) {
        check_skip(c, "no double precision");
        return;
    }
    const float nan = (float)NAN, inf = (float)INFINITY;
    static const size_t shape[1] = {7};
    const struct {
        float kappa, src[7], want[7];
        size_t size;
    } cases[] = {
        /* 100: median 10, deviations 0 2 4 6 90, 3 x 1.4826 x 4 = 17.8 */
        {3, {2, 4, 6, 100, 10, 12, 14}, {2, 4, 6, 10, 10, 12, 14}, 5},
        /* 20 x 1.4826 x 4 = 119 */
        {20, {2, 4, 6, 100, 10, 12, 14}, {2, 4, 6, 100, 10, 12, 14}, 5},
        /* more than half are equal */
        {1000, {5, 5, 5, 5.5f, 5, 5, 5}, {5, 5, 5, 5, 5, 5, 5}, 3},
        /* of -inf: median 1, deviations 0 0 0 inf inf inf NaN */
        {3, {1, 1, inf, 1, nan, -inf, 1}, {1, 1, 1, 1, nan, -inf, 1}, 7},
        /* the median of the last two is infinite or NaN */
        {3, {1, 2, 1, 1, inf, nan, inf}, {1, 1, 1, 1, inf, nan, inf}, 3},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const airy_hampel_params params = {.size = {cases[i].size},
                                           .kappa = (double)cases[i].kappa};
        airy_array *src = check_upload(c, AIRY_DTYPE_F32, 1, shape, cases[i].src),
                   *dst = check_output(c, AIRY_DTYPE_F32, 1, shape);
        if (CHECK_OK(c, airy_hampel_run(c->queue, dst, src, &params)))
            check_array(c, dst, cases[i].want, NULL);
    }
    /* Integers that f64 does not tell apart stay as they are, and medians are exact. */
    const uint64_t wide[7] = {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 1, 0,
                              UINT64_MAX, UINT64_MAX - 1, UINT64_MAX};
    uint64_t want[7];
    memcpy(want, wide, sizeof(want));
    want[3] = UINT64_MAX - 1;
    airy_array *src = check_upload(c, AIRY_DTYPE_U64, 1, shape, wide),
               *dst = check_output(c, AIRY_DTYPE_U64, 1, shape);
    if (CHECK_OK(c, airy_hampel_run(c->queue, dst, src, &(airy_hampel_params){.size = {5}})))
        check_array(c, dst, want, NULL);
}

/*
 * The border's value is an element: 1000.1 is rounded by up to half of what is between two elements,
 * and 4.4 times that would be more than the element is off.
 */
static void check_border(struct check *c)
{
    static const size_t shape[1] = {3};
    const float v = 1000.1f, next = nextafterf(v, 2000), values[3] = {next, v, v},
                want[3] = {v, v, v};
    if (!check_case(c, "hampel_border_rounded"))
        return;
    if (lacks_f64(c)) {
        check_skip(c, "no double precision");
        return;
    }
    const airy_hampel_params params = {
        .size = {3}, .has_border = true, .border = AIRY_BORDER_VALUE, .border_value = 1000.1};
    airy_array *src = check_upload(c, AIRY_DTYPE_F32, 1, shape, values),
               *dst = check_output(c, AIRY_DTYPE_F32, 1, shape);
    if (CHECK_OK(c, airy_hampel_run(c->queue, dst, src, &params)))
        check_array(c, dst, want, NULL);
}

/* Views with a pitch of their own: as of the same elements without one. */
static void check_views(struct check *c)
{
    if (!check_case(c, "hampel_views"))
        return;
    if (lacks_f64(c)) {
        check_skip(c, "no double precision");
        return;
    }
    const size_t shape[3] = {4, 9, 12}, start[3] = {1, 2, 3}, part[3] = {2, 5, 7};
    uint16_t data[4 * 9 * 12], want[70];
    double cut[70], y[70];
    check_rand(c, data, AIRY_DTYPE_U16, 4 * 9 * 12, 0, 30);
    for (size_t i = 0; i < 70; i++)
        cut[i] = data[((i / 35 + 1) * 9 + i / 7 % 5 + 2) * 12 + i % 7 + 3];
    ref_hampel(
        y, cut,
        &(struct ref_hampel){.n = {2, 5, 7}, .k = {3, 3, 5}, .border = REF_REFLECT, .kappa = 1});
    for (size_t i = 0; i < 70; i++)
        want[i] = (uint16_t)y[i];
    airy_array *whole = check_upload(c, AIRY_DTYPE_U16, 3, shape, data),
               *out = check_output(c, AIRY_DTYPE_U16, 3, shape),
               *src = check_view(c, whole, start, part), *dst = check_view(c, out, start, part);
    const airy_hampel_params params = {.size = {3, 3, 5}, .kappa = 1};
    if (CHECK_OK(c, airy_hampel_run(c->queue, dst, src, &params)))
        check_array(c, dst, want, NULL);
}

static void check_refusals(struct check *c)
{
    if (!check_case(c, "hampel_refusals"))
        return;
    const size_t shape[3] = {3, 4, 5}, less[3] = {3, 4, 4};
    airy_array *a = check_output(c, AIRY_DTYPE_U16, 3, shape),
               *b = check_output(c, AIRY_DTYPE_U16, 3, shape),
               *other = check_output(c, AIRY_DTYPE_I16, 3, shape),
               *small = check_output(c, AIRY_DTYPE_U16, 3, less);
    const airy_hampel_params good = {.size = {3, 3, 3}};
    airy_hampel_params p = good;
#define FAILS(dst, status, part)                                                                   \
    CHECK_FAILS(c, airy_hampel_run(c->queue, (dst), b, &p), (status), (part))
    CHECK_FAILS(c, airy_hampel_run(NULL, a, b, &p), AIRY_ERR_PARAM, "queue is NULL");
    CHECK_FAILS(c, airy_hampel_run(c->queue, a, NULL, &p), AIRY_ERR_PARAM, "src is NULL");
    CHECK_FAILS(c, airy_hampel_run(c->queue, a, b, NULL), AIRY_ERR_PARAM, "params is NULL");
    FAILS(NULL, AIRY_ERR_PARAM, "dst is NULL");
    FAILS(b, AIRY_ERR_PARAM, "share memory");
    FAILS(other, AIRY_ERR_DTYPE, "int16");
    FAILS(small, AIRY_ERR_SHAPE, "[3, 4, 5]");
    static const double kappas[] = {-1, 1e7, (double)NAN, (double)INFINITY};
    for (int i = 0; i < 4; i++) {
        p.kappa = kappas[i];
        FAILS(a, AIRY_ERR_PARAM, "kappa = ");
    }
    p = good;
    p.size[1] = 4;
    FAILS(a, AIRY_ERR_PARAM, "size[1] = 4, expected an odd number");
    p.size[1] = 0;
    FAILS(a, AIRY_ERR_PARAM, "size[1] = 0");
    p = (airy_hampel_params){.size = {1023, 1023, 3}};
    FAILS(a, AIRY_ERR_UNSUPPORTED, "at most 1048576");
    p = good;
    p.axes = 1;
    FAILS(a, AIRY_ERR_PARAM, "axes = 1");
    p = good;
    p.has_border = true;
    p.border = AIRY_BORDER_COUNT;
    FAILS(a, AIRY_ERR_PARAM, "border = 6");
    p.border = AIRY_BORDER_VALUE;
    p.border_value = -1;
    FAILS(a, AIRY_ERR_PARAM, "uint16");
#undef FAILS
}

static void bench_hampel(struct check *c, airy_dtype dtype, size_t size)
{
    if (!c->bench ||
        !check_case(c, "hampel_bench_%s_2048_%zux%zu", airy_dtype_name(dtype), size, size))
        return;
    const size_t shape[2] = {2048, 2048}, n = shape[0] * shape[1];
    void *data = check_alloc(c, n * airy_dtype_size(dtype));
    check_rand(c, data, dtype, n, 0, 60000);
    airy_array *src = check_upload(c, dtype, 2, shape, data),
               *dst = check_output(c, dtype, 2, shape);
    const airy_hampel_params params = {.size = {size, size}};
    CHECK_OK(c, airy_hampel_run(c->queue, dst, src, &params));
    CHECK_BENCH(c, 2 * (double)airy_array_size(src), 3.0 * (double)(n * size * size),
                airy_hampel_run(c->queue, dst, src, &params) || airy_queue_finish(c->queue));
}

void check_hampel(struct check *c)
{
    const struct airy_filter_fns *fns = airy_queue_backend(c->queue)->filter;
    if (!fns || !fns->hampel) {
        if (check_case(c, "hampel"))
            check_skip(c, "back end '%s' has no Hampel filter", airy_queue_backend(c->queue)->name);
        return;
    }
    check_shapes(c);
    check_literal(c);
    check_border(c);
    check_views(c);
    check_refusals(c);
    for (size_t size = 3; size <= 7; size += 2) {
        bench_hampel(c, AIRY_DTYPE_U16, size);
        bench_hampel(c, AIRY_DTYPE_F32, size);
    }
}
