/* Convolution and blur. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_filter.h"
#include "airy/image.h"
#include "core/backend.h"
#include "filter/filter_fns.h"
#include "opencl/cl_device.h"
#include "ref_filter.h"
#include "shared/border_index.h"

const char *const check_kernel_names[KERNEL_KINDS] = {"random", "product", "two", "zeros"};

size_t check_shape_count(const struct shape *s)
{
    size_t n = 1;
    for (int i = 0; i < s->ndim; i++)
        n *= s->n[i];
    return n;
}

/* An axis of a shape of up to three, slowest first; 1 where it has none. */
static size_t axis_of(const struct shape *s, int axis)
{
    const int i = axis - (3 - s->ndim);
    return i < 0 ? 1 : s->n[i];
}

double *check_kernel(struct check *c, const struct shape *k, enum kernel_kind kind)
{
    const size_t n = check_shape_count(k);
    double *v = check_alloc(c, n * sizeof(*v));
    enum { LONGEST = 1025 };
    double line[2][3][LONGEST];
    check_rand(c, v, AIRY_DTYPE_F64, n, -1, 1);
    for (int r = 0; r < 2; r++)
        for (int axis = 0; axis < 3; axis++)
            check_rand(c, line[r][axis], AIRY_DTYPE_F64, LONGEST, -1, 1);
    for (size_t i = 0; i < n && kind != RANDOM; i++) {
        const size_t x = i % axis_of(k, 2), y = i / axis_of(k, 2) % axis_of(k, 1),
                     z = i / (axis_of(k, 2) * axis_of(k, 1));
        v[i] = kind == ZEROS ? 0 : line[0][0][z] * line[0][1][y] * line[0][2][x];
        if (kind == TWO_PRODUCTS)
            v[i] += line[1][0][z] * line[1][1][y] * line[1][2][x];
    }
    return v;
}

void check_filter_want(const struct problem *p, const double *values, const double *kernel,
                       const size_t *out, double *want, double *scale)
{
    struct ref_convolve r = {.border = (enum ref_border)p->params.border,
                             .value = p->params.border_value,
                             .correlate = p->params.correlate,
                             .normalize = p->params.normalize,
                             .least = CHECK_LEAST(p->to)};
    size_t n = 1, results = 1;
    for (int i = 0; i < 3; i++) {
        r.n[i] = axis_of(&p->src, i);
        r.k[i] = axis_of(&p->kernel, i);
        const int axis = i - (3 - p->src.ndim);
        r.out[i] = axis < 0 ? 1 : out[axis];
        const long k = (long)r.k[i];
        r.offset[i] = p->params.mode == AIRY_CONVOLVE_FULL    ? 0
                      : p->params.mode == AIRY_CONVOLVE_VALID ? k - 1
                      : p->params.correlate                   ? k / 2
                                                              : (k - 1) / 2;
        n *= r.n[i];
        results *= r.out[i];
    }
    for (size_t i = 0; i < (p->images ? p->images : 1); i++)
        ref_convolve(want + i * results, scale + i * results, values + i * n, kernel, &r);
}

static double largest_scale(const double *scale, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, scale[i]);
    return most;
}

/*
 * The header's bound over e, with the largest element for all of two tiles.
 *
 * Where it comes from, u = e: a transform of N, in steps of two or fewer roundings, gives a result
 * with |error| <= 6.7 u log2 N |result| (check_fft_tmpl.c); the kernel's has this error too, and the
 * product's norm is at most |src| sqrt(N) times the largest frequency of the kernel, which is below
 * sqrt(N) |kernel|. Three transforms make 20.1 log2 N, and rounding the kernel, the product and the
 * source to the dtype less than another log2 N, as N >= 16.
 */
static double fft_allowed(const struct problem *p, const double *kernel, const double *values,
                          size_t n, const airy_convolve_info *info)
{
    double squares = 0, most = p->params.border == AIRY_BORDER_VALUE ? p->params.border_value : 0;
    for (size_t i = 0; i < check_shape_count(&p->kernel); i++)
        squares += kernel[i] * kernel[i];
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(values[i]));
    const double elements = (double)info->tile[0] * (double)info->tile[1] * (double)info->tile[2];
    return 21 * log2(elements) * sqrt(squares * elements) * sqrt(2 * elements) * most;
}

static void run_problem(struct check *c, const struct problem *p)
{
    const double *kernel = check_kernel(c, &p->kernel, p->kind);
    size_t shape[4], out[4];
    const int list = p->images != 0, ndim = p->src.ndim + list;
    shape[0] = p->images;
    memcpy(shape + list, p->src.n, (size_t)p->src.ndim * sizeof(size_t));
    size_t n = 1, results = 1;
    if (!CHECK_OK(
            c, airy_convolve_shape(out, p->params.mode, ndim, shape, p->kernel.ndim, p->kernel.n)))
        return;
    for (int i = 0; i < ndim; i++) {
        n *= shape[i];
        results *= out[i];
    }
    uint8_t *data = check_alloc(c, n * airy_dtype_size(p->from));
    double *values = check_alloc(c, n * sizeof(double)), *want = check_alloc(c, results * 8),
           *scale = check_alloc(c, results * 8);
    check_rand(c, data, p->from, n, airy_dtype_is_signed(p->from) ? -100 : 0, 100);
    for (size_t i = 0; i < n; i++) {
        const airy_image image = {.dtype = p->from, .ndim = 1, .shape = {n}, .data = data};
        values[i] = airy_image_value(&image, i);
    }
    check_filter_want(p, values, kernel, out + list, want, scale);
    airy_array *src = check_upload(c, p->from, ndim, shape, data),
               *dst = check_output(c, p->to, ndim, out);
    airy_convolve_info info;
    const airy_status status =
        airy_convolve(c->queue, dst, src, kernel, p->kernel.ndim, p->kernel.n, &p->params, &info);
    /* Devices with groups of 64 items have transforms of at most 512. */
    if (status == AIRY_ERR_UNSUPPORTED && p->params.method == AIRY_CONVOLVE_FFT &&
        p->kernel.n[0] > 512) {
        check_skip(c, "%s", airy_last_error());
        return;
    }
    if (!CHECK_OK(c, status))
        return;
    if (p->kind != RANDOM && p->kernel.ndim < 3)
        CHECK(c, info.method == AIRY_CONVOLVE_DIRECT ||
                     info.rank == (p->kind == TWO_PRODUCTS && p->kernel.ndim == 2 &&
                                           p->kernel.n[0] > 1 && p->kernel.n[1] > 1
                                       ? 2
                                       : 1));
    /*
     * The header's bound, with one sum of |kernel src| for all elements: products of lines have larger
     * absolute values than the kernel where they cancel, by a factor below 8 here, and each of their
     * numbers is rounded to the dtype once.
     */
    const double e = p->to == AIRY_DTYPE_F32 ? 0x1p-24 : 0x1p-53,
                 taps = (double)check_shape_count(&p->kernel);
    const double allowed = info.method == AIRY_CONVOLVE_FFT
                               ? fft_allowed(p, kernel, values, n, &info) * e
                               : (taps + 4) * e * largest_scale(scale, results) *
                                     (info.method == AIRY_CONVOLVE_SEPARABLE ? 8 : 1);
    CHECK(c, p->params.method == AIRY_CONVOLVE_AUTO || info.method == p->params.method);
    float *narrow = check_alloc(c, results * sizeof(float));
    for (size_t i = 0; i < results; i++)
        narrow[i] = (float)want[i];
    check_array(c, dst, p->to == AIRY_DTYPE_F32 ? (const void *)narrow : (const void *)want,
                &(struct check_tol){.abs = allowed});
}

static void check_convolve_one(struct check *c, const struct problem *p)
{
    char src[64] = "", kernel[64] = "";
    for (int i = 0; i < p->src.ndim; i++)
        snprintf(src + strlen(src), sizeof(src) - strlen(src), i ? "x%zu" : "%zu", p->src.n[i]);
    for (int i = 0; i < p->kernel.ndim; i++)
        snprintf(kernel + strlen(kernel), sizeof(kernel) - strlen(kernel), i ? "x%zu" : "%zu",
                 p->kernel.n[i]);
    if (!check_case(c, "convolve_%s_%s_%s_t%s_%s_%s_%s_%s%s%s%s", airy_dtype_name(p->from),
                    airy_dtype_name(p->to), src, kernel, airy_convolve_mode_name(p->params.mode),
                    airy_border_name(p->params.border), airy_convolve_method_name(p->params.method),
                    check_kernel_names[p->kind], p->params.correlate ? "_correlate" : "",
                    p->images ? "_list" : "",
                    p->room == SMALL  ? "_small"
                    : p->room == TINY ? "_tiny"
                                      : ""))
        return;
    airy_device_info *info = &c->device->info;
    const uint64_t local_mem = info->local_mem;
    const uint32_t max_group = info->max_group;
    if (p->room != WHOLE) {
        const uint64_t room = p->room == SMALL ? 32768 : 6144;
        info->local_mem = local_mem < room ? local_mem : room;
        info->max_group = max_group < 64 ? max_group : 64;
    }
    run_problem(c, p);
    info->local_mem = local_mem;
    info->max_group = max_group;
}

static void check_convolve_all(struct check *c)
{
    static const struct {
        struct shape src, kernel;
    } shapes[] = {{{1, {1}}, {1, {1}}},
                  {{1, {100}}, {1, {15}}},
                  {{1, {5}}, {1, {12}}},
                  {{1, {9000}}, {1, {4}}},
                  {{2, {1, 1}}, {2, {3, 3}}},
                  {{2, {7, 5}}, {2, {4, 6}}},
                  {{2, {40, 70}}, {2, {5, 9}}},
                  {{2, {33, 129}}, {2, {1, 8}}},
                  {{2, {65, 31}}, {2, {7, 1}}},
                  {{3, {5, 6, 7}}, {3, {3, 2, 5}}},
                  {{3, {20, 9, 40}}, {3, {5, 3, 3}}},
                  {{3, {2, 3, 35}}, {3, {1, 3, 3}}}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        for (int mode = 0; mode < AIRY_CONVOLVE_MODE_COUNT; mode++)
            for (int border = 0; border < AIRY_BORDER_COUNT; border++)
                for (int kind = 0; kind < KERNEL_KINDS; kind++) {
                    struct problem p = {.src = shapes[i].src,
                                        .kernel = shapes[i].kernel,
                                        .from = (border + kind) % 2 ? AIRY_DTYPE_F32
                                                                    : AIRY_DTYPE_F64,
                                        .to = kind % 2 ? AIRY_DTYPE_F64 : AIRY_DTYPE_F32,
                                        .kind = (enum kernel_kind)kind};
                    p.params = (airy_convolve_params){.mode = (airy_convolve_mode)mode,
                                                      .border = (airy_border)border,
                                                      .border_value = 3.25,
                                                      .correlate = (border + mode + kind) % 3 == 0};
                    p.images = p.src.ndim < 3 && border % 2 ? 1 + (size_t)border : 0;
                    bool fits = mode != AIRY_CONVOLVE_VALID || border == 0;
                    for (int k = 0; k < p.src.ndim; k++)
                        fits = fits && (mode != AIRY_CONVOLVE_VALID || p.kernel.n[k] <= p.src.n[k]);
                    if (!fits)
                        continue;
                    p.params.method = kind == PRODUCT  ? AIRY_CONVOLVE_SEPARABLE
                                      : kind == RANDOM ? AIRY_CONVOLVE_DIRECT
                                                       : AIRY_CONVOLVE_AUTO;
                    check_convolve_one(c, &p);
                }
    for (int dtype = 0; dtype < AIRY_DTYPE_COUNT; dtype++) {
        const struct problem p = {
            .src = {2, {31, 57}},
            .kernel = {2, {3, 5}},
            .from = (airy_dtype)dtype,
            .to = AIRY_DTYPE_F64,
            .params = {.mode = AIRY_CONVOLVE_SAME, .border = AIRY_BORDER_REFLECT}};
        check_convolve_one(c, &p);
    }
}

/* Several tiles along every axis, and kernels of which some axes have one element. */
static void check_convolve_fft(struct check *c)
{
    static const struct {
        struct shape src, kernel;
        size_t images;
    } shapes[] = {{{1, {1}}, {1, {1}}, 0},
                  {{1, {9000}}, {1, {70}}, 0},
                  {{1, {700}}, {1, {700}}, 3},
                  {{1, {40}}, {1, {200}}, 0},
                  {{2, {150, 170}}, {2, {9, 12}}, 0},
                  {{2, {90, 100}}, {2, {33, 20}}, 2},
                  {{2, {200, 33}}, {2, {1, 16}}, 0},
                  {{2, {200, 133}}, {2, {16, 1}}, 0},
                  {{2, {5, 6}}, {2, {5, 6}}, 0},
                  {{3, {40, 45, 50}}, {3, {5, 6, 7}}, 0},
                  {{3, {40, 9, 50}}, {3, {5, 1, 3}}, 0},
                  {{3, {70, 9, 70}}, {3, {17, 1, 1}}, 2},
                  {{3, {4, 30, 50}}, {3, {1, 9, 1}}, 0},
                  {{3, {4, 30, 50}}, {3, {1, 9, 9}}, 0}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        for (int mode = 0; mode < AIRY_CONVOLVE_MODE_COUNT; mode++)
            for (int border = 0; border < AIRY_BORDER_COUNT; border++) {
                struct problem p = {.src = shapes[i].src,
                                    .kernel = shapes[i].kernel,
                                    .from = border == 3 ? AIRY_DTYPE_I16 : AIRY_DTYPE_F32,
                                    .to = (border + mode) % 2 ? AIRY_DTYPE_F64 : AIRY_DTYPE_F32,
                                    .images = shapes[i].images};
                p.params = (airy_convolve_params){.mode = (airy_convolve_mode)mode,
                                                  .method = AIRY_CONVOLVE_FFT,
                                                  .border = (airy_border)border,
                                                  .border_value = 3.25,
                                                  .correlate = (border + mode) % 3 == 0};
                bool fits = mode != AIRY_CONVOLVE_VALID || border == 0;
                for (int k = 0; k < p.src.ndim; k++)
                    fits = fits && (mode != AIRY_CONVOLVE_VALID || p.kernel.n[k] <= p.src.n[k]);
                if (fits)
                    check_convolve_one(c, &p);
            }
}

/* NaN, infinities and numbers near the largest come out as the direct method has them. */
static void check_fft_nan(struct check *c)
{
    if (!check_case(c, "convolve_fft_nan"))
        return;
    const size_t shape[2] = {100, 90}, k[2] = {5, 4}, n = 9000;
    double kernel[20];
    float *data = check_alloc(c, n * sizeof(float)), *want = check_alloc(c, n * sizeof(float));
    check_rand(c, kernel, AIRY_DTYPE_F64, 20, 0, 1);
    check_rand(c, data, AIRY_DTYPE_F32, n, 0, 1);
    data[30 * 90 + 40] = (float)NAN;
    data[98 * 90 + 2] = (float)INFINITY;
    data[5] = 1e38F;
    airy_array *src = check_upload(c, AIRY_DTYPE_F32, 2, shape, data),
               *direct = check_output(c, AIRY_DTYPE_F32, 2, shape),
               *fft = check_output(c, AIRY_DTYPE_F32, 2, shape);
    airy_convolve_params params = {.mode = AIRY_CONVOLVE_SAME, .method = AIRY_CONVOLVE_DIRECT};
    airy_convolve_info info;
    CHECK_OK(c, airy_convolve(c->queue, direct, src, kernel, 2, k, &params, NULL));
    params.method = AIRY_CONVOLVE_FFT;
    if (!CHECK_OK(c, airy_convolve(c->queue, fft, src, kernel, 2, k, &params, &info)) ||
        !CHECK_OK(c, airy_array_pull(c->queue, want, n * sizeof(float), direct)) ||
        !CHECK_OK(c, airy_queue_finish(c->queue)))
        return;
    /* Where 1e38 counts direct results are 1e38 times a weight; elsewhere fft_allowed has
     * 21 log2 N e |kernel| |src| sqrt(N) with 20 weights and elements of at most 1. */
    const double elements = (double)(info.tile[1] * info.tile[2]);
    check_array(c, fft, want,
                &(struct check_tol){.abs = 21 * log2(elements) * 0x1p-24 * sqrt(40.0) * elements,
                                    .rel = 24 * 0x1p-24});
}

/*
 * More taps than a block of a direct pass has, lines that local memory does not hold, and results
 * so many that OpenCL has kernels for their number of taps.
 */
static void check_convolve_sizes(struct check *c)
{
    static const airy_dtype f32 = AIRY_DTYPE_F32, f64 = AIRY_DTYPE_F64, u16 = AIRY_DTYPE_U16;
    const airy_convolve_params direct = {.mode = AIRY_CONVOLVE_SAME,
                                         .border = AIRY_BORDER_MIRROR,
                                         .method = AIRY_CONVOLVE_DIRECT},
                               full = {.border = AIRY_BORDER_VALUE,
                                       .border_value = -2.5,
                                       .method = AIRY_CONVOLVE_DIRECT},
                               lines = {.mode = AIRY_CONVOLVE_SAME,
                                        .border = AIRY_BORDER_REFLECT,
                                        .method = AIRY_CONVOLVE_SEPARABLE},
                               value = {.border = AIRY_BORDER_VALUE,
                                        .border_value = -2.5,
                                        .method = AIRY_CONVOLVE_SEPARABLE},
                               valid = {.mode = AIRY_CONVOLVE_VALID,
                                        .method = AIRY_CONVOLVE_SEPARABLE};
    const struct problem problems[] = {
        {{2, {90, 100}}, {2, {20, 19}}, f32, f32, direct, 0, RANDOM, WHOLE},
        {{2, {90, 100}}, {2, {20, 19}}, u16, f64, full, 0, RANDOM, SMALL},
        {{2, {60, 140}}, {2, {2, 70}}, f32, f64, full, 0, RANDOM, WHOLE},
        {{3, {7, 30, 40}}, {3, {3, 18, 17}}, f64, f32, full, 0, RANDOM, SMALL},
        {{1, {3000}}, {1, {401}}, f32, f32, lines, 3, RANDOM, SMALL},
        {{2, {300, 70}}, {2, {150, 1}}, f64, f64, lines, 0, PRODUCT, SMALL},
        {{2, {260, 70}}, {2, {60, 33}}, u16, f32, lines, 2, PRODUCT, WHOLE},
        {{2, {260, 70}}, {2, {60, 33}}, f32, f64, value, 2, PRODUCT, SMALL},
        {{2, {500, 24}}, {2, {701, 3}}, f64, f64, lines, 0, PRODUCT, WHOLE},
        {{3, {300, 9, 24}}, {3, {351, 1, 3}}, f32, f64, lines, 0, PRODUCT, SMALL},
        {{3, {12, 20, 33}}, {3, {5, 4, 3}}, u16, f32, value, 0, PRODUCT, SMALL},
        {{3, {40, 1, 70}}, {3, {9, 1, 5}}, f32, f32, value, 0, PRODUCT, WHOLE},
        {{2, {1451, 1467}}, {2, {3, 5}}, f32, f32, direct, 0, RANDOM, WHOLE},
        {{2, {1451, 1467}}, {2, {4, 2}}, u16, f64, full, 0, RANDOM, WHOLE},
        {{2, {1451, 1467}}, {2, {5, 3}}, f32, f32, value, 0, PRODUCT, WHOLE},
        {{2, {1451, 1467}}, {2, {2, 9}}, f64, f64, lines, 0, PRODUCT, WHOLE},
        {{3, {70, 190, 160}}, {3, {5, 1, 3}}, f32, f32, value, 0, PRODUCT, WHOLE},
        {{2, {1451, 1468}}, {2, {5, 4}}, f32, f32, value, 0, PRODUCT, WHOLE},
        {{2, {7, 9}}, {2, {50, 2}}, f32, f32, lines, 0, PRODUCT, TINY},
        {{3, {4, 3, 5}}, {3, {25, 1, 2}}, u16, f64, value, 0, PRODUCT, TINY},
        /* More planes or strips than a grid of CUDA has groups there. */
        {{2, {8, 8}}, {2, {3, 3}}, f32, f32, lines, 70000, PRODUCT, WHOLE},
        {{2, {8, 8}}, {2, {3, 3}}, f32, f32, lines, 70000, TWO_PRODUCTS, WHOLE},
        {{2, {8, 8}}, {2, {3, 3}}, f32, f32, direct, 70000, RANDOM, WHOLE},
        {{2, {2, 6000000}}, {2, {2, 2}}, f32, f32, valid, 0, PRODUCT, WHOLE},
    };
    for (size_t i = 0; i < sizeof(problems) / sizeof(problems[0]); i++)
        if (!c->is_cpu || check_shape_count(&problems[i].src) < 1000000)
            check_convolve_one(c, &problems[i]);
}

struct exact {
    size_t n[3], taps[3], at; /* z, y, x; where the view begins in its rows */
    airy_dtype from, to;
    airy_convolve_params params;
};

static void put_value(void *data, airy_dtype dtype, size_t at, double value)
{
    if (dtype == AIRY_DTYPE_F32)
        ((float *)data)[at] = (float)value;
    else if (dtype == AIRY_DTYPE_F64)
        ((double *)data)[at] = value;
    else if (dtype == AIRY_DTYPE_U16 && value >= 0 && value <= UINT16_MAX)
        ((uint16_t *)data)[at] = (uint16_t)value;
}

/*
 * OpenCL's kernels for many results, which are built for their number of taps, give the bits of
 * those for few. Of views in rows of a whole number of units of 16 bytes, and in others.
 */
static void check_convolve_exact_one(struct check *c, const struct exact *e)
{
    if (!check_case(c, "convolve_exact_%s_%s_%zux%zux%zu_t%zux%zux%zu_at%zu_%s_%s_%s",
                    airy_dtype_name(e->from), airy_dtype_name(e->to), e->n[0], e->n[1], e->n[2],
                    e->taps[0], e->taps[1], e->taps[2], e->at,
                    airy_convolve_mode_name(e->params.mode), airy_border_name(e->params.border),
                    airy_convolve_method_name(e->params.method)))
        return;
    enum { IMAGES = 2 };
    const size_t whole[4] = {IMAGES, e->n[0] + 1, e->n[1] + 3, (e->n[2] + e->at) / 4 * 4 + 8},
                 start[4] = {0, 1, 2, e->at}, shape[4] = {IMAGES, e->n[0], e->n[1], e->n[2]},
                 n = whole[0] * whole[1] * whole[2] * whole[3];
    size_t out[4];
    const double *kernel =
        check_kernel(c, &(struct shape){3, {e->taps[0], e->taps[1], e->taps[2]}}, PRODUCT);
    void *data = check_alloc(c, n * airy_dtype_size(e->from));
    check_rand(c, data, e->from, n, e->from == AIRY_DTYPE_U16 ? 0 : -100, 100);
    put_value(data, e->from, n / 3, (double)NAN);
    put_value(data, e->from, n / 4, (double)INFINITY);
    if (!CHECK_OK(c, airy_convolve_shape(out, e->params.mode, 4, shape, 3, e->taps)))
        return;
    const size_t size = out[0] * out[1] * out[2] * out[3] * airy_dtype_size(e->to);
    void *few = check_alloc(c, size);
    airy_array *src = check_view(c, check_upload(c, e->from, 4, whole, data), start, shape),
               *dst = check_output(c, e->to, 4, out);
    struct airy_cl_device *device = airy_cl_device(c->device);
    const size_t results = device->exact_results;
    device->exact_results = SIZE_MAX;
    CHECK_OK(c, airy_convolve(c->queue, dst, src, kernel, 3, e->taps, &e->params, NULL));
    CHECK_OK(c, airy_array_pull(c->queue, few, size, dst));
    device->exact_results = 1;
    /* High tiles where all are there at a time, as on a device of many units, and else low ones. */
    const uint32_t units = c->device->info.units, pretended[2] = {1, 1000};
    for (int i = 0; i < (e->params.method == AIRY_CONVOLVE_SEPARABLE ? 2 : 1); i++) {
        if (e->params.method == AIRY_CONVOLVE_SEPARABLE)
            c->device->info.units = pretended[i];
        dst = check_output(c, e->to, 4, out);
        CHECK_OK(c, airy_convolve(c->queue, dst, src, kernel, 3, e->taps, &e->params, NULL));
        if (CHECK_OK(c, airy_queue_finish(c->queue)))
            check_array(c, dst, few, NULL);
    }
    c->device->info.units = units;
    device->exact_results = results;
}

static void check_convolve_exact(struct check *c)
{
    static const struct {
        size_t n[3], taps[3], at;
        airy_convolve_mode mode;
        airy_convolve_method method;
    } shapes[] = {{{1, 131, 197}, {1, 15, 15}, 8, AIRY_CONVOLVE_SAME, AIRY_CONVOLVE_SEPARABLE},
                  {{2, 131, 197}, {1, 15, 15}, 5, AIRY_CONVOLVE_SAME, AIRY_CONVOLVE_SEPARABLE},
                  {{1, 97, 130}, {1, 17, 4}, 4, AIRY_CONVOLVE_SAME, AIRY_CONVOLVE_SEPARABLE},
                  {{3, 49, 165}, {1, 2, 9}, 0, AIRY_CONVOLVE_FULL, AIRY_CONVOLVE_SEPARABLE},
                  {{1, 5, 3}, {1, 8, 17}, 0, AIRY_CONVOLVE_SAME, AIRY_CONVOLVE_SEPARABLE},
                  {{1, 32, 33}, {1, 17, 17}, 8, AIRY_CONVOLVE_FULL, AIRY_CONVOLVE_SEPARABLE},
                  {{1, 40, 31}, {1, 17, 16}, 8, AIRY_CONVOLVE_FULL, AIRY_CONVOLVE_SEPARABLE},
                  /* Tiles of 64 x 104 or 64 x 56, one less and one more; lines that fold once. */
                  {{1, 103, 63}, {1, 15, 8}, 0, AIRY_CONVOLVE_SAME, AIRY_CONVOLVE_SEPARABLE},
                  {{1, 104, 64}, {1, 8, 15}, 4, AIRY_CONVOLVE_SAME, AIRY_CONVOLVE_SEPARABLE},
                  {{1, 105, 65}, {1, 15, 15}, 0, AIRY_CONVOLVE_SAME, AIRY_CONVOLVE_SEPARABLE},
                  {{1, 57, 129}, {1, 3, 3}, 0, AIRY_CONVOLVE_SAME, AIRY_CONVOLVE_SEPARABLE},
                  {{1, 17, 17}, {1, 17, 17}, 0, AIRY_CONVOLVE_FULL, AIRY_CONVOLVE_SEPARABLE},
                  {{1, 16, 16}, {1, 17, 17}, 4, AIRY_CONVOLVE_FULL, AIRY_CONVOLVE_SEPARABLE},
                  {{1, 20, 70}, {1, 3, 3}, 0, AIRY_CONVOLVE_SAME, AIRY_CONVOLVE_SEPARABLE},
                  {{1, 20, 70}, {1, 3, 3}, 0, AIRY_CONVOLVE_SAME, AIRY_CONVOLVE_DIRECT},
                  {{1, 101, 197}, {1, 15, 15}, 8, AIRY_CONVOLVE_FULL, AIRY_CONVOLVE_DIRECT},
                  {{2, 67, 131}, {1, 4, 16}, 5, AIRY_CONVOLVE_SAME, AIRY_CONVOLVE_DIRECT},
                  {{1, 67, 131}, {1, 9, 7}, 0, AIRY_CONVOLVE_FULL, AIRY_CONVOLVE_DIRECT},
                  {{1, 5, 3}, {1, 8, 7}, 0, AIRY_CONVOLVE_SAME, AIRY_CONVOLVE_DIRECT},
                  /* A narrow last strip; lines that fold once, just, and not quite. */
                  {{1, 40, 116}, {1, 15, 15}, 0, AIRY_CONVOLVE_FULL, AIRY_CONVOLVE_DIRECT},
                  {{3, 24, 100}, {1, 7, 12}, 4, AIRY_CONVOLVE_VALID, AIRY_CONVOLVE_DIRECT},
                  {{2, 15, 15}, {1, 15, 15}, 4, AIRY_CONVOLVE_FULL, AIRY_CONVOLVE_DIRECT},
                  {{1, 16, 16}, {1, 16, 16}, 4, AIRY_CONVOLVE_SAME, AIRY_CONVOLVE_DIRECT},
                  {{1, 14, 14}, {1, 15, 15}, 0, AIRY_CONVOLVE_FULL, AIRY_CONVOLVE_DIRECT},
                  {{21, 69, 197}, {9, 9, 9}, 4, AIRY_CONVOLVE_SAME, AIRY_CONVOLVE_SEPARABLE},
                  {{19, 40, 150}, {8, 9, 4}, 0, AIRY_CONVOLVE_FULL, AIRY_CONVOLVE_SEPARABLE},
                  {{11, 30, 70}, {17, 12, 16}, 0, AIRY_CONVOLVE_SAME, AIRY_CONVOLVE_SEPARABLE},
                  {{6, 33, 130}, {2, 5, 3}, 8, AIRY_CONVOLVE_VALID, AIRY_CONVOLVE_SEPARABLE},
                  {{3, 7, 5}, {9, 8, 7}, 0, AIRY_CONVOLVE_SAME, AIRY_CONVOLVE_SEPARABLE},
                  /* Columns enough for slides and quads, along y and z in place. */
                  {{19, 190, 182}, {17, 11, 18}, 4, AIRY_CONVOLVE_SAME, AIRY_CONVOLVE_SEPARABLE},
                  {{53, 187, 184}, {16, 33, 40}, 3, AIRY_CONVOLVE_SAME, AIRY_CONVOLVE_SEPARABLE},
                  {{60, 90, 170}, {3, 50, 81}, 0, AIRY_CONVOLVE_FULL, AIRY_CONVOLVE_SEPARABLE},
                  {{89, 189, 188}, {56, 41, 61}, 4, AIRY_CONVOLVE_SAME, AIRY_CONVOLVE_SEPARABLE},
                  {{90, 97, 190}, {80, 10, 19}, 4, AIRY_CONVOLVE_VALID, AIRY_CONVOLVE_SEPARABLE},
                  {{24, 301, 364}, {1, 41, 1}, 4, AIRY_CONVOLVE_SAME, AIRY_CONVOLVE_SEPARABLE},
                  {{24, 150, 364}, {1, 35, 35}, 4, AIRY_CONVOLVE_SAME, AIRY_CONVOLVE_SEPARABLE},
                  /* The last of a march begins with few results behind those of 64 rows. */
                  {{24, 130, 364}, {1, 35, 35}, 4, AIRY_CONVOLVE_SAME, AIRY_CONVOLVE_SEPARABLE},
                  {{66, 187, 184}, {15, 1, 1}, 4, AIRY_CONVOLVE_SAME, AIRY_CONVOLVE_SEPARABLE},
                  {{130, 90, 100}, {43, 3, 3}, 4, AIRY_CONVOLVE_SAME, AIRY_CONVOLVE_SEPARABLE}};
    static const airy_dtype from[] = {AIRY_DTYPE_F32, AIRY_DTYPE_U16, AIRY_DTYPE_F64},
                            to[] = {AIRY_DTYPE_F32, AIRY_DTYPE_F32, AIRY_DTYPE_F64};
    const int kinds = c->device->info.fp64 ? 3 : 2;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]) && !c->is_cpu; i++)
        for (int k = 0; k < AIRY_BORDER_COUNT * kinds; k++) {
            const int border = k % AIRY_BORDER_COUNT, kind = k / AIRY_BORDER_COUNT;
            if (from[kind] == AIRY_DTYPE_U16 && shapes[i].method != AIRY_CONVOLVE_DIRECT)
                continue;
            const struct exact e = {
                .n = {shapes[i].n[0], shapes[i].n[1], shapes[i].n[2]},
                .taps = {shapes[i].taps[0], shapes[i].taps[1], shapes[i].taps[2]},
                .at = shapes[i].at,
                .from = from[kind],
                .to = to[kind],
                .params = {.mode = shapes[i].mode,
                           .border = (airy_border)border,
                           .border_value = -2.5,
                           .method = shapes[i].method}};
            check_convolve_exact_one(c, &e);
        }
}

/* Without divisions as with them, and from element to element, wherever a line folds once. */
static void check_border_fold(struct check *c)
{
    if (!c->is_cpu || !check_case(c, "border_fold"))
        return;
    for (int n = 1; n < 9; n++)
        for (int i = 1 - n; i < 2 * n - 1; i++)
            for (uint32_t border = 0; border < AIRY_BORDER_COUNT; border++) {
                const int end = i < 0 ? -1 : n, first = airy_border_fold(end, n, border),
                          step = airy_border_step(border);
                const bool outside = i < 0 || i >= n;
                CHECK(c, airy_border_fold(i, n, border) == airy_border_index(i, n, border));
                CHECK(c, !outside || airy_border_fold(i, n, border) == first + (i - end) * step);
            }
}

/* scipy.signal.convolve2d of two small arrays, worked out by hand. */
static void check_convolve_literal(struct check *c)
{
    if (!check_case(c, "convolve_literal"))
        return;
    const size_t shape[2] = {2, 3}, k[2] = {2, 2};
    const double data[6] = {1, 2, 3, 4, 5, 6}, kernel[4] = {1, 10, 100, 1000};
    const double full[12] = {1, 12, 23, 30, 104, 1245, 2356, 3060, 400, 4500, 5600, 6000},
                 same[6] = {1, 12, 23, 104, 1245, 2356}, valid[2] = {1245, 2356},
                 /* the kernel not turned: 1 x + 10 right + 100 below + 1000 below right */
        correlate[2] = {1 + 20 + 400 + 5000, 2 + 30 + 500 + 6000};
    airy_array *src = check_upload(c, AIRY_DTYPE_F64, 2, shape, data);
    const struct {
        airy_convolve_params params;
        const double *want;
    } cases[] = {{{.mode = AIRY_CONVOLVE_FULL}, full},
                 {{.mode = AIRY_CONVOLVE_SAME}, same},
                 {{.mode = AIRY_CONVOLVE_VALID}, valid},
                 {{.mode = AIRY_CONVOLVE_VALID, .correlate = true}, correlate}};
    for (size_t i = 0; i < 4; i++) {
        size_t out[2];
        CHECK_OK(c, airy_convolve_shape(out, cases[i].params.mode, 2, shape, 2, k));
        airy_array *dst = check_output(c, AIRY_DTYPE_F64, 2, out);
        if (CHECK_OK(c, airy_convolve(c->queue, dst, src, kernel, 2, k, &cases[i].params, NULL)))
            check_array(c, dst, cases[i].want, NULL);
    }
}

static void check_blur_one(struct check *c, const struct shape *s, size_t images,
                           const airy_blur_params *params, const char *variant)
{
    if (!check_case(c, "blur_%zux%zux%zu_%s%s", axis_of(s, 0), axis_of(s, 1), axis_of(s, 2),
                    variant, images ? "_list" : ""))
        return;
    struct ref_convolve r = {.border = params->has_border ? (enum ref_border)params->border
                                                          : REF_REFLECT,
                             .value = params->border_value,
                             .normalize = params->normalize};
    size_t shape[4] = {images}, n = images ? images : 1;
    double line[3][128], kernel[128 * 128];
    size_t taps = 1;
    for (int i = 0; i < 3; i++) {
        const int axis = i - (3 - s->ndim);
        const double sigma = axis < 0 ? 0 : params->sigma[axis];
        const size_t radius =
            (size_t)((params->truncate != 0 ? params->truncate : 4) * sigma + 0.5);
        line[i][0] = 1;
        if (sigma > 0)
            ref_gauss(line[i], radius, sigma);
        r.n[i] = r.out[i] = axis_of(s, i);
        r.k[i] = sigma > 0 ? 2 * radius + 1 : 1;
        r.offset[i] = (long)(r.k[i] - 1) / 2;
        n *= r.n[i];
        taps *= r.k[i];
    }
    for (size_t i = 0; i < taps; i++)
        kernel[i] = line[0][i / (r.k[1] * r.k[2])] * line[1][i / r.k[2] % r.k[1]] *
                    line[2][i % r.k[2]];
    memcpy(shape + (images != 0), s->n, (size_t)s->ndim * sizeof(size_t));
    float *data = check_alloc(c, n * sizeof(float)), *narrow = check_alloc(c, n * sizeof(float));
    double *values = check_alloc(c, n * 8), *want = check_alloc(c, n * 8);
    check_rand(c, data, AIRY_DTYPE_F32, n, 0, 10);
    for (size_t i = 0; i < n; i++) {
        data[i] = params->normalize && i % 3 != 0 ? (float)NAN : data[i];
        values[i] = data[i];
    }
    const size_t each = n / (images ? images : 1);
    for (size_t i = 0; i < n; i += each)
        ref_convolve(want + i, NULL, values + i, kernel, &r);
    for (size_t i = 0; i < n; i++)
        narrow[i] = (float)want[i];
    const int ndim = s->ndim + (images != 0);
    airy_array *src = check_upload(c, AIRY_DTYPE_F32, ndim, shape, data),
               *dst = check_output(c, AIRY_DTYPE_F32, ndim, shape);
    /*
     * Weights are positive and add up to 1: (taps of the lines + 4) 2^-24 of the largest value, twice
     * where their sum is one, too, and a quotient.
     */
    const double sums = params->normalize ? 2.25 : 1,
                 allowed = sums * (double)(r.k[0] + r.k[1] + r.k[2] + 4) * 10;
    if (CHECK_OK(c, airy_gaussian_blur(c->queue, dst, src, params)))
        check_array(c, dst, narrow, &(struct check_tol){.abs = ldexp(allowed, -24)});
    CHECK_BENCH(c, 8.0 * (double)n, 2.0 * (double)n * (double)(r.k[0] + r.k[1] + r.k[2]),
                airy_gaussian_blur(c->queue, dst, src, params));
}

static void bench_convolve(struct check *c, airy_dtype dtype, size_t taps,
                           airy_convolve_method method)
{
    if (!check_case(c, "convolve_bench_%s_2048_t%zu_%s", airy_dtype_name(dtype), taps,
                    airy_convolve_method_name(method)))
        return;
    const size_t shape[2] = {2048, 2048}, k[2] = {taps, taps}, side = 2047 + taps,
                 out[2] = {side, side}, n = shape[0] * shape[1], half = taps / 2;
    void *data = check_alloc(c, n * airy_dtype_size(dtype));
    double *kernel = check_alloc(c, taps * taps * sizeof(double)), squares = 0;
    for (size_t i = 0; i < taps * taps; i++) {
        const double y = ((double)(i / taps) - (double)half) * 2 / (double)half,
                     x = ((double)(i % taps) - (double)half) * 2 / (double)half;
        kernel[i] = exp(-0.5 * (x * x + y * y));
        squares += kernel[i] * kernel[i];
    }
    check_put(data, dtype, n / 2, 1); /* comes out as the kernel */
    airy_array *src = check_upload(c, dtype, 2, shape, data), *dst = check_output(c, dtype, 2, out);
    const airy_convolve_params params = {.method = method};
    airy_convolve_info info;
    double *got = check_alloc(c, side * side * 8);
    if (CHECK_OK(c, airy_convolve(c->queue, dst, src, kernel, 2, k, &params, &info)) &&
        CHECK_OK(c, airy_array_pull(c->queue, got, airy_array_size(dst), dst)) &&
        CHECK_OK(c, airy_queue_finish(c->queue))) {
        const size_t at = (n / 2 / 2048 + half) * side + half;
        /* fft: fft_allowed for one element of 1. */
        const double elements = (double)(info.tile[1] * info.tile[2]),
                     allowed = method == AIRY_CONVOLVE_FFT
                                   ? 21 * log2(elements) * 0x1p-24 * sqrt(squares * elements)
                                   : 1e-6;
        CHECK(c,
              fabs((dtype == AIRY_DTYPE_F32 ? (double)((float *)got)[at] : got[at]) - 1) < allowed);
    }
    CHECK_BENCH(c, (double)airy_array_size(src) + (double)airy_array_size(dst),
                2 * (double)(taps * taps) * (double)(side * side),
                airy_convolve(c->queue, dst, src, kernel, 2, k, &params, NULL));
}

static void check_filter_nan(struct check *c)
{
    if (!check_case(c, "convolve_nan"))
        return;
    const size_t shape[1] = {7}, k[1] = {3};
    const float data[7] = {1, 2, 3, (float)NAN, 5, 6, 7};
    const float nan = (float)NAN, want[7] = {1, 2, nan, nan, nan, 6, 7};
    const double kernel[3] = {0, 1, 0};
    airy_array *src = check_upload(c, AIRY_DTYPE_F32, 1, shape, data),
               *dst = check_output(c, AIRY_DTYPE_F32, 1, shape);
    const airy_convolve_params params = {.mode = AIRY_CONVOLVE_SAME, .border = AIRY_BORDER_NEAREST};
    if (CHECK_OK(c, airy_convolve(c->queue, dst, src, kernel, 1, k, &params, NULL)))
        check_array(c, dst, want, NULL);
}

static void check_filter_errors(struct check *c)
{
    if (!check_case(c, "filter_errors"))
        return;
    const size_t shape[2] = {4, 5}, k[2] = {3, 3}, big[2] = {5, 9}, huge[2] = {1, 1026},
                 full[2] = {6, 7};
    const float data[30] = {0};
    double kernel[45] = {1, 0, 0, 0, 1};
    airy_array *src = check_upload(c, AIRY_DTYPE_F32, 2, shape, data),
               *same = check_output(c, AIRY_DTYPE_F32, 2, shape),
               *dst = check_output(c, AIRY_DTYPE_F32, 2, full),
               *ints = check_output(c, AIRY_DTYPE_I32, 2, full);
    size_t out[2];
    airy_border border;
    airy_convolve_mode mode;
    airy_convolve_method method;
    CHECK_FAILS(c, airy_convolve(c->queue, NULL, src, kernel, 2, k, NULL, NULL), AIRY_ERR_PARAM,
                "dst");
    CHECK_FAILS(c, airy_convolve(c->queue, dst, src, NULL, 2, k, NULL, NULL), AIRY_ERR_PARAM,
                "kernel");
    CHECK_FAILS(c, airy_convolve(c->queue, same, src, kernel, 2, k, NULL, NULL), AIRY_ERR_SHAPE,
                "[6, 7]");
    CHECK_FAILS(c, airy_convolve(c->queue, ints, src, kernel, 2, k, NULL, NULL), AIRY_ERR_DTYPE,
                "float64");
    CHECK_FAILS(c,
                airy_convolve(c->queue, src, src, kernel, 2, k,
                              &(airy_convolve_params){.mode = AIRY_CONVOLVE_SAME}, NULL),
                AIRY_ERR_PARAM, "share");
    CHECK_FAILS(c, airy_convolve(c->queue, dst, src, kernel, 2, NULL, NULL, NULL), AIRY_ERR_PARAM,
                "kernel_shape");
    CHECK_FAILS(c, airy_convolve(c->queue, dst, src, kernel, 4, k, NULL, NULL), AIRY_ERR_PARAM,
                "kernel_ndim");
    CHECK_FAILS(c, airy_convolve(c->queue, dst, src, kernel, 3, k, NULL, NULL), AIRY_ERR_SHAPE,
                "3 dimensions");
    CHECK_FAILS(c, airy_convolve(c->queue, dst, src, kernel, 2, huge, NULL, NULL), AIRY_ERR_SHAPE,
                "1026");
    CHECK_FAILS(c,
                airy_convolve(c->queue, dst, src, kernel, 2, k,
                              &(airy_convolve_params){.mode = AIRY_CONVOLVE_MODE_COUNT}, NULL),
                AIRY_ERR_PARAM, "mode");
    CHECK_FAILS(c,
                airy_convolve(c->queue, dst, src, kernel, 2, k,
                              &(airy_convolve_params){.border = AIRY_BORDER_COUNT}, NULL),
                AIRY_ERR_PARAM, "border");
    CHECK_FAILS(c,
                airy_convolve(c->queue, dst, src, kernel, 2, k,
                              &(airy_convolve_params){.method = AIRY_CONVOLVE_METHOD_COUNT}, NULL),
                AIRY_ERR_PARAM, "method");
    CHECK_FAILS(c, airy_convolve_shape(out, AIRY_CONVOLVE_VALID, 2, shape, 2, big), AIRY_ERR_SHAPE,
                "valid");
    CHECK_FAILS(c, airy_convolve_shape(NULL, AIRY_CONVOLVE_VALID, 2, shape, 2, k), AIRY_ERR_PARAM,
                "shape");
    for (int i = 0; i < 25; i++)
        kernel[i] = i % 6 == 0;
    size_t five[2] = {5, 5}, wide[2] = {8, 9};
    airy_array *larger = check_output(c, AIRY_DTYPE_F32, 2, wide);
    CHECK_FAILS(c,
                airy_convolve(c->queue, larger, src, kernel, 2, five,
                              &(airy_convolve_params){.method = AIRY_CONVOLVE_SEPARABLE}, NULL),
                AIRY_ERR_PARAM, "products");
    kernel[3] = (double)INFINITY;
    CHECK_FAILS(c, airy_convolve(c->queue, dst, src, kernel, 2, k, NULL, NULL), AIRY_ERR_PARAM,
                "not finite");
    CHECK_FAILS(c, airy_gaussian_blur(c->queue, same, src, NULL), AIRY_ERR_PARAM, "params");
    CHECK_FAILS(c, airy_gaussian_blur(c->queue, same, src, &(airy_blur_params){.truncate = 4}),
                AIRY_ERR_PARAM, "every axis");
    CHECK_FAILS(c, airy_gaussian_blur(c->queue, same, src, &(airy_blur_params){.sigma = {-1}}),
                AIRY_ERR_PARAM, "sigma = -1");
    CHECK_FAILS(c, airy_gaussian_blur(c->queue, same, src, &(airy_blur_params){.sigma = {1, 200}}),
                AIRY_ERR_PARAM, "512");
    CHECK_FAILS(
        c, airy_gaussian_blur(c->queue, same, src, &(airy_blur_params){.axes = 3, .sigma = {1}}),
        AIRY_ERR_PARAM, "axes");
    CHECK_FAILS(
        c,
        airy_gaussian_blur(c->queue, same, src, &(airy_blur_params){.sigma = {1}, .truncate = -1}),
        AIRY_ERR_PARAM, "truncate");
    CHECK_FAILS(c, airy_gaussian_blur(c->queue, dst, src, &(airy_blur_params){.sigma = {1}}),
                AIRY_ERR_SHAPE, "[4, 5]");
    CHECK_FAILS(c, airy_border_parse(&border, "edge"), AIRY_ERR_PARAM, "reflect");
    CHECK_FAILS(c, airy_convolve_mode_parse(&mode, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_convolve_method_parse(&method, "fast"), AIRY_ERR_PARAM, "separable");
    CHECK(c, airy_border_parse(&border, "mirror") == AIRY_OK && border == AIRY_BORDER_MIRROR);
}

/*
 * A blur with reflected borders keeps the sum of an image, here a ramp of 100 x 100 whose sum is
 * 49995000. The weights of each axis add up to 1 within 2^-27, which is 0.75 of both together; the
 * results' own rounding, 2^-24 of 5000 each by chance up or down, adds less than as much.
 */
static void check_blur_sum(struct check *c, double sigma)
{
    enum { SIZE = 100 };
    const size_t shape[2] = {SIZE, SIZE};
    if (!check_case(c, "blur_sum_%g", sigma))
        return;
    float *ramp = check_alloc(c, SIZE * SIZE * sizeof(float));
    double sum = 0;
    for (int i = 0; i < SIZE * SIZE; i++)
        ramp[i] = (float)i;
    airy_array *src = check_upload(c, AIRY_DTYPE_F32, 2, shape, ramp),
               *dst = check_output(c, AIRY_DTYPE_F32, 2, shape);
    const airy_blur_params params = {.sigma = {sigma, sigma}};
    if (CHECK_OK(c, airy_gaussian_blur(c->queue, dst, src, &params)) &&
        CHECK_OK(c, airy_array_pull(c->queue, ramp, SIZE * SIZE * sizeof(float), dst)) &&
        CHECK_OK(c, airy_queue_finish(c->queue))) {
        for (int i = 0; i < SIZE * SIZE; i++)
            sum += (double)ramp[i];
        CHECK(c, fabs(sum - 49995000) < 1.5);
    }
}

void check_filter(struct check *c)
{
    if (!airy_queue_backend(c->queue)->filter) {
        if (check_case(c, "filter"))
            check_skip(c, "back end '%s' has no filters", airy_queue_backend(c->queue)->name);
        return;
    }
    check_convolve_all(c);
    check_convolve_sizes(c);
    check_convolve_exact(c);
    check_border_fold(c);
    check_convolve_literal(c);
    check_filter_nan(c);
    if (airy_queue_backend(c->queue)->filter->fft) {
        check_convolve_fft(c);
        check_fft_nan(c);
    }
    static const struct shape flat = {2, {50, 61}}, deep = {3, {12, 20, 33}}, line = {1, {300}};
    for (int i = 0; i < 4; i++)
        check_blur_sum(c, (const double[]){0.9, 1, 2, 10}[i]);
    check_blur_constants(c);
    check_blur_one(c, &line, 0, &(airy_blur_params){.sigma = {5}}, "5");
    check_blur_one(c, &line, 4, &(airy_blur_params){.axes = 1, .sigma = {2}}, "2");
    check_blur_one(c, &flat, 0, &(airy_blur_params){.sigma = {2, 0.5}}, "2_0.5");
    check_blur_one(c, &flat, 3, &(airy_blur_params){.axes = 2, .sigma = {0, 1}, .truncate = 2.5},
                   "0_1");
    check_blur_one(
        c, &flat, 0,
        &(airy_blur_params){
            .sigma = {3, 3}, .has_border = true, .border = AIRY_BORDER_VALUE, .border_value = 7},
        "value");
    check_blur_one(c, &deep, 0, &(airy_blur_params){.sigma = {1.5, 1, 1}}, "3d");
    check_blur_one(c, &deep, 2, &(airy_blur_params){.sigma = {1, 0.7, 0}}, "3d_flat");
    check_blur_one(
        c, &deep, 0,
        &(airy_blur_params){.sigma = {1, 1, 1}, .has_border = true, .border = AIRY_BORDER_WRAP},
        "3d_wrap");
    check_blur_one(c, &line, 4, &(airy_blur_params){.axes = 1, .sigma = {2}, .normalize = true},
                   "gaps_2");
    check_blur_one(c, &flat, 0, &(airy_blur_params){.sigma = {0, 0.6}, .normalize = true}, "gaps");
    check_blur_one(c, &deep, 0,
                   &(airy_blur_params){.sigma = {1, 0.7, 0.7},
                                       .has_border = true,
                                       .border = AIRY_BORDER_VALUE,
                                       .border_value = 3,
                                       .normalize = true},
                   "gaps_value");
    /* As many columns as let OpenCL go along z in place. */
    static const struct shape volume = {3, {30, 50, 90}};
    for (int border = 0; border < AIRY_BORDER_COUNT; border++)
        check_blur_one(c, &volume, 0,
                       &(airy_blur_params){.sigma = {1, 0.5, 0.5},
                                           .has_border = true,
                                           .border = (airy_border)border,
                                           .border_value = 3},
                       airy_border_name((airy_border)border));
    check_blur_one(c, &volume, 0, &(airy_blur_params){.sigma = {3.5, 0, 0.5}}, "3d_27_1_5");
    const bool fft = airy_queue_backend(c->queue)->filter->fft != NULL;
    for (int i = 0; i < 2; i++)
        for (int method = AIRY_CONVOLVE_DIRECT;
             method <= (fft ? AIRY_CONVOLVE_FFT : AIRY_CONVOLVE_SEPARABLE); method++)
            for (size_t taps = 15; taps <= 63; taps = 2 * taps + 1)
                if (taps == 15 || c->bench)
                    bench_convolve(c, i ? AIRY_DTYPE_F64 : AIRY_DTYPE_F32, taps,
                                   (airy_convolve_method)method);
    check_normalize(c);
    check_filter_errors(c);
}
