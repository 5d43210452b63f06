/* Convolution and blur around gaps. */
#include <math.h>
#include <string.h>

#include "check_filter.h"
#include "ref_filter.h"

/* Of f32 or f64, `share` of it gaps, with a kernel of no negative elements, some of them 0. */
static void check_normalize_one(struct check *c, const struct problem *p, double share)
{
    if (!check_case(c, "normalize_%s_%s_%dd_%zu_%s_%s_%s_%s%s_gaps%.0f", airy_dtype_name(p->from),
                    airy_dtype_name(p->to), p->src.ndim, p->src.n[0],
                    airy_convolve_mode_name(p->params.mode), airy_border_name(p->params.border),
                    airy_convolve_method_name(p->params.method), check_kernel_names[p->kind],
                    p->params.correlate ? "_correlate" : "", share * 100))
        return;
    const size_t n = check_shape_count(&p->src), taps = check_shape_count(&p->kernel);
    const bool two = p->kind == TWO_PRODUCTS;
    double *kernel = check_kernel(c, &p->kernel, two ? PRODUCT : p->kind),
           *more = check_kernel(c, &p->kernel, PRODUCT), *values = check_alloc(c, n * 8),
           *chance = check_alloc(c, n * 8);
    size_t out[3], results = 1;
    for (size_t i = 0; i < taps; i++) {
        kernel[i] = p->kind != RANDOM || kernel[i] > -0.5 ? fabs(kernel[i]) : 0;
        kernel[i] += two ? fabs(more[i]) : 0;
    }
    if (!CHECK_OK(c, airy_convolve_shape(out, p->params.mode, p->src.ndim, p->src.n, p->kernel.ndim,
                                         p->kernel.n)))
        return;
    for (int i = 0; i < p->src.ndim; i++)
        results *= out[i];
    double *want = check_alloc(c, results * 8), *scale = check_alloc(c, results * 8);
    void *data = check_alloc(c, n * airy_dtype_size(p->from)),
         *narrow = check_alloc(c, results * airy_dtype_size(p->to));
    check_rand(c, values, AIRY_DTYPE_F64, n, -100, 100);
    check_rand(c, chance, AIRY_DTYPE_F64, n, 0, 1);
    for (size_t i = 0; i < n; i++) {
        values[i] = chance[i] < share ? (double)(i % 3 ? NAN : INFINITY) : (double)(float)values[i];
        check_put(data, p->from, i, values[i]);
    }
    check_filter_want(p, values, kernel, out, want, scale);
    for (size_t i = 0; i < results; i++)
        check_put(narrow, p->to, i, want[i]);
    airy_array *src = check_upload(c, p->from, p->src.ndim, p->src.n, data),
               *dst = check_output(c, p->to, p->src.ndim, out);
    airy_convolve_info info;
    if (!CHECK_OK(c, airy_convolve(c->queue, dst, src, kernel, p->kernel.ndim, p->kernel.n,
                                   &p->params, &info)))
        return;
    CHECK(c, info.method == AIRY_CONVOLVE_DIRECT ||
                 (info.method == AIRY_CONVOLVE_SEPARABLE && info.rank == 1));
    /* The header's bound, and want itself is rounded. */
    check_array(c, dst, narrow,
                &(struct check_tol){.abs = ldexp((2 * (double)taps + 7) * 100,
                                                 p->to == AIRY_DTYPE_F32 ? -24 : -53)});
}

/*
 * A gap in whose middle all weights that are left are below the least number, or normal number, of
 * the dtype. Gaussian whose sum is `sum`; method AUTO: of airy_gaussian_blur.
 */
struct far_case {
    airy_dtype to;
    airy_convolve_method method;
    double sigma, sum;
    size_t radius, gap;
};

static void check_normalize_far(struct check *c, const struct far_case *f)
{
    enum { SIDE = 64, MOST = 49 };
    const char *what = f->method ? airy_convolve_method_name(f->method) : "blur";
    if (!check_case(c, "normalize_far_%s_%s_%g", airy_dtype_name(f->to), what, f->sum))
        return;
    const size_t taps = 2 * f->radius + 1, first = (SIDE - f->gap) / 2, n = SIDE * SIDE;
    const struct problem p = {
        .src = {2, {SIDE, SIDE}},
        .kernel = {2, {taps, taps}},
        .to = f->to,
        .params = {AIRY_CONVOLVE_SAME, AIRY_BORDER_REFLECT, 0, f->method, .normalize = true}};
    double line[MOST], kernel[MOST * MOST], *want = check_alloc(c, n * 8),
                                            *scale = check_alloc(c, n * 8),
                                            *values = check_alloc(c, n * 8);
    float *data = check_alloc(c, n * sizeof(float));
    void *rounded = check_alloc(c, n * 8);
    ref_gauss(line, f->radius, f->sigma);
    for (size_t i = 0; i < taps * taps; i++)
        kernel[i] = f->sum * line[i / taps] * line[i % taps];
    check_rand(c, data, AIRY_DTYPE_F32, n, 1, 2);
    for (size_t i = 0; i < n; i++) {
        const bool gap = i / SIDE - first < f->gap && i % SIDE - first < f->gap;
        values[i] = data[i] = gap ? (float)NAN : data[i];
    }
    check_filter_want(&p, values, kernel, p.src.n, want, scale);
    size_t none = 0;
    for (size_t i = 0; i < n; i++) {
        none += isnan(want[i]) != 0;
        check_put(rounded, f->to, i, want[i]);
    }
    CHECK(c, none > 0 && none < f->gap * f->gap);
    airy_array *src = check_upload(c, AIRY_DTYPE_F32, 2, p.src.n, data),
               *dst = check_output(c, f->to, 2, p.src.n);
    const airy_blur_params blur = {
        .sigma = {f->sigma, f->sigma}, .radius = {f->radius, f->radius}, .normalize = true};
    /* The header's bound; want itself is rounded, and so is each product of the kernel. */
    const double lengths = f->method == AIRY_CONVOLVE_DIRECT ? (double)(taps * taps)
                                                             : 2 * (double)taps,
                 allowed = (2 * lengths + 9) * 2 * (f->to == AIRY_DTYPE_F32 ? 0x1p-24 : 0x1p-53);
    if (CHECK_OK(c, f->method
                        ? airy_convolve(c->queue, dst, src, kernel, 2, p.kernel.n, &p.params, NULL)
                        : airy_gaussian_blur(c->queue, dst, src, &blur)))
        check_array(c, dst, rounded, &(struct check_tol){.abs = allowed});
}

static void check_normalize_all(struct check *c)
{
    static const struct {
        struct shape src, kernel;
    } shapes[] = {{{1, {100}}, {1, {15}}},        {{1, {5}}, {1, {12}}},
                  {{2, {1, 1}}, {2, {3, 3}}},     {{2, {40, 70}}, {2, {5, 9}}},
                  {{2, {60, 33}}, {2, {25, 26}}}, {{3, {20, 9, 40}}, {3, {5, 3, 3}}}};
    static const double shares[] = {0, 0.3, 0.9, 1};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        for (int border = 0; border < AIRY_BORDER_COUNT; border++)
            for (size_t s = 0; s < sizeof(shares) / sizeof(shares[0]); s++) {
                const int mix = border + (int)s;
                struct problem p = {.src = shapes[i].src,
                                    .kernel = shapes[i].kernel,
                                    .from = mix % 3 == 0 ? AIRY_DTYPE_F64 : AIRY_DTYPE_F32,
                                    .to = mix % 2 ? AIRY_DTYPE_F64 : AIRY_DTYPE_F32,
                                    .kind = s % 2 ? PRODUCT : RANDOM};
                p.params = (airy_convolve_params){.mode = mix % 4 ? AIRY_CONVOLVE_SAME
                                                                  : AIRY_CONVOLVE_FULL,
                                                  .border = (airy_border)border,
                                                  .border_value = 3.25,
                                                  .correlate = border % 2,
                                                  .normalize = true};
                check_normalize_one(c, &p, shares[s]);
            }
    /* Two products, which are done directly, and valid. */
    for (int kind = RANDOM; kind <= TWO_PRODUCTS; kind++) {
        const struct problem p = {.src = {2, {50, 60}},
                                  .kernel = {2, {21, 19}},
                                  .kind = (enum kernel_kind)kind,
                                  .params = {.mode = AIRY_CONVOLVE_VALID, .normalize = true}};
        check_normalize_one(c, &p, 0.95);
    }
}

/* Worked out by hand, and an image of one value. */
static void check_normalize_literal(struct check *c)
{
    if (!check_case(c, "normalize_literal"))
        return;
    enum { SIDE = 24 };
    const size_t shape[1] = {4}, k[1] = {3}, square[2] = {SIDE, SIDE}, box[2] = {5, 5};
    const double data[4] = {1, 2, (double)NAN, 4}, kernel[3] = {1, 2, 1},
                 nearest[4] = {1.25, 5.0 / 3, 3, 4}, value[4] = {3.5, 5.0 / 3, 3, 6},
                 zero[4] = {1, 5.0 / 3, 3, 8.0 / 3}, *const wants[] = {zero, value, nearest};
    const airy_border borders[] = {AIRY_BORDER_ZERO, AIRY_BORDER_VALUE, AIRY_BORDER_NEAREST};
    const struct check_tol tol = {.rel = 4 * 0x1p-53};
    airy_convolve_params params = {
        .mode = AIRY_CONVOLVE_SAME, .border_value = 10, .normalize = true};
    airy_array *src = check_upload(c, AIRY_DTYPE_F64, 1, shape, data);
    for (int i = 0; i < 3; i++) {
        airy_array *dst = check_output(c, AIRY_DTYPE_F64, 1, shape);
        params.border = borders[i];
        if (CHECK_OK(c, airy_convolve(c->queue, dst, src, kernel, 1, k, &params, NULL)))
            check_array(c, dst, wants[i], &tol);
    }
    float flat[SIDE * SIDE], want[SIDE * SIDE];
    double weights[25];
    check_rand(c, weights, AIRY_DTYPE_F64, 25, 0, 9);
    for (size_t i = 0; i < SIDE * SIDE; i++) {
        want[i] = 3.7F;
        flat[i] = i % 3 == 0 ? 3.7F : (float)NAN;
    }
    src = check_upload(c, AIRY_DTYPE_F32, 2, square, flat);
    airy_array *dst = check_output(c, AIRY_DTYPE_F32, 2, square);
    if (CHECK_OK(c, airy_convolve(c->queue, dst, src, weights, 2, box, &params, NULL)))
        check_array(c, dst, want, &(struct check_tol){.rel = 30 * 0x1p-24});
}

static void check_normalize_errors(struct check *c)
{
    if (!check_case(c, "normalize_errors"))
        return;
    const size_t shape[2] = {4, 5}, k[2] = {3, 3};
    const float data[20] = {0};
    double kernel[9] = {1, 0, 0, 0, 1};
    airy_array *src = check_upload(c, AIRY_DTYPE_F32, 2, shape, data),
               *dst = check_output(c, AIRY_DTYPE_F32, 2, shape);
    airy_convolve_params params = {.mode = AIRY_CONVOLVE_SAME, .normalize = true};
    params.method = AIRY_CONVOLVE_FFT;
    CHECK_FAILS(c, airy_convolve(c->queue, dst, src, kernel, 2, k, &params, NULL), AIRY_ERR_PARAM,
                "fft does not normalize");
    params.method = AIRY_CONVOLVE_SEPARABLE;
    CHECK_FAILS(c, airy_convolve(c->queue, dst, src, kernel, 2, k, &params, NULL), AIRY_ERR_PARAM,
                "a sum of 2 products");
    params.method = AIRY_CONVOLVE_AUTO;
    params.border = AIRY_BORDER_VALUE;
    params.border_value = (double)NAN;
    CHECK_FAILS(c, airy_convolve(c->queue, dst, src, kernel, 2, k, &params, NULL), AIRY_ERR_PARAM,
                "border_value = nan");
    CHECK_FAILS(c,
                airy_gaussian_blur(c->queue, dst, src,
                                   &(airy_blur_params){.sigma = {1, 1},
                                                       .has_border = true,
                                                       .border = AIRY_BORDER_VALUE,
                                                       .border_value = (double)INFINITY,
                                                       .normalize = true}),
                AIRY_ERR_PARAM, "border_value = inf");
    params.border = AIRY_BORDER_ZERO;
    kernel[5] = -0.5;
    CHECK_FAILS(c, airy_convolve(c->queue, dst, src, kernel, 2, k, &params, NULL), AIRY_ERR_PARAM,
                "an element of -0.5");
    memset(kernel, 0, sizeof(kernel));
    CHECK_FAILS(c, airy_convolve(c->queue, dst, src, kernel, 2, k, &params, NULL), AIRY_ERR_PARAM,
                "the kernel's sum is 0");
    kernel[0] = kernel[1] = 1.5e308;
    CHECK_FAILS(c, airy_convolve(c->queue, dst, src, kernel, 2, k, &params, NULL), AIRY_ERR_PARAM,
                "the kernel's sum is inf");
}

void check_normalize(struct check *c)
{
    static const struct far_case far[] = {
        {AIRY_DTYPE_F32, AIRY_CONVOLVE_AUTO, 1.05, 1, 21, 42},
        {AIRY_DTYPE_F32, AIRY_CONVOLVE_DIRECT, 1.05, 1, 21, 42},
        {AIRY_DTYPE_F32, AIRY_CONVOLVE_SEPARABLE, 1.4, 1, 24, 46},
        {AIRY_DTYPE_F32, AIRY_CONVOLVE_SEPARABLE, 1.4, 1e-200, 24, 46},
        {AIRY_DTYPE_F32, AIRY_CONVOLVE_DIRECT, 1.4, 1e200, 24, 46},
        {AIRY_DTYPE_F64, AIRY_CONVOLVE_AUTO, 0.6, 1, 24, 48},
        {AIRY_DTYPE_F64, AIRY_CONVOLVE_DIRECT, 0.6, 1, 24, 48},
        {AIRY_DTYPE_F64, AIRY_CONVOLVE_SEPARABLE, 0.6, 1, 24, 48}};
    for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++)
        check_normalize_far(c, &far[i]);
    check_normalize_all(c);
    check_normalize_literal(c);
    check_normalize_errors(c);
}
