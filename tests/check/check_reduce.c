/* Statistics, quantiles, histograms, clips, thresholds. */
#include <float.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "airy/element.h"
#include "airy/image.h"
#include "airy/reduce.h"
#include "check.h"
#include "ref_reduce.h"

/* What an image of numbers is made of. */
enum kind {
    KIND_NOISE,  /* normal about an offset, with sources */
    KIND_EVEN,   /* uniform */
    KIND_COUNTS, /* few different whole numbers */
    KIND_CONSTANT,
    KIND_TAILS, /* Cauchy */
    KIND_EXPONENTIAL,
    KIND_STAR,    /* noise and an element of 10^12 standard deviations */
    KIND_HOLES,   /* noise with NaN and infinities */
    KIND_NOTHING, /* NaN only */
    KIND_RAMP,    /* ascending */
    KIND_PATCHES, /* neighbours are alike, so that a sample of runs guesses badly */
    KIND_COUNT
};
static const char *const kind_names[KIND_COUNT] = {"noise",   "even",        "counts", "constant",
                                                   "tails",   "exponential", "star",   "holes",
                                                   "nothing", "ramp",        "patches"};

static double make_value(struct check *c, enum kind kind, double offset, size_t i)
{
    switch (kind) {
    case KIND_EVEN:
        return offset + check_uniform(c) * 100;
    case KIND_COUNTS:
        return offset + floor(check_uniform(c) * check_uniform(c) * 7);
    case KIND_CONSTANT:
        return offset + 3;
    case KIND_TAILS:
        return offset + tan(3.14159 * (check_uniform(c) - 0.5));
    case KIND_EXPONENTIAL:
        return offset - 10 * log(check_uniform(c) + 1e-9);
    case KIND_STAR:
        return offset + (i == 77 ? 1e13 : check_normal(c) * 10);
    case KIND_HOLES:
        return i % 7 == 3    ? (double)NAN
               : i % 31 == 5 ? (double)INFINITY
               : i % 37 == 1 ? -(double)INFINITY
                             : offset + 10 * check_normal(c);
    case KIND_NOTHING:
        return (double)NAN;
    case KIND_RAMP:
        return offset + (double)i;
    case KIND_PATCHES:
        return offset + (double)(i / 300 * 7919 % 1009) + (double)(i % 300) / 300;
    default:
        return offset + 10 * check_normal(c) + (i % 501 == 9 ? 1000 * check_uniform(c) : 0);
    }
}

struct image {
    airy_array *src, *mask;
    double *x; /* the elements as f64, raster order */
    uint8_t *m;
    size_t n;
};

static double value_of(const void *data, airy_dtype dtype, size_t i)
{
    const airy_image image = {
        .dtype = dtype, .ndim = 1, .shape = {i + 1}, .data = (void *)(uintptr_t)data};
    return airy_image_value(&image, i);
}

/* What of a larger array is looked at; rows lie without gaps behind an odd number of elements. */
enum view { VIEW_WHOLE, VIEW_INSIDE, VIEW_ROWS };

static struct image make_image(struct check *c, airy_dtype dtype, size_t h, size_t w,
                               enum kind kind, double offset, bool masked, enum view view)
{
    struct image image = {.n = h * w};
    const size_t start[2] = {view == VIEW_WHOLE ? 0 : 3, view == VIEW_INSIDE ? 3 : 0},
                 inner[2] = {h, w}, hh = h + 2 * start[0], ww = w + 2 * start[1],
                 shape[2] = {hh, ww};
    uint8_t *data = check_alloc(c, hh * ww * airy_dtype_size(dtype)),
            *mask = check_alloc(c, hh * ww);
    image.x = check_alloc(c, image.n * sizeof(double));
    image.m = masked ? check_alloc(c, image.n) : NULL;
    for (size_t i = 0; i < hh * ww; i++) {
        check_put(data, dtype, i, make_value(c, kind, offset, i));
        mask[i] = check_uniform(c) < 0.1 ? (uint8_t)(1 + i % 255) : 0;
    }
    for (size_t i = 0; i < image.n; i++) {
        const size_t at = (i / w + start[0]) * ww + i % w + start[1];
        image.x[i] = value_of(data, dtype, at);
        if (masked)
            image.m[i] = mask[at];
    }
    image.src = check_upload(c, dtype, 2, shape, data);
    image.mask = masked ? check_upload(c, AIRY_DTYPE_U8, 2, shape, mask) : NULL;
    if (view != VIEW_WHOLE) {
        image.src = check_view(c, image.src, start, inner);
        image.mask = masked ? check_view(c, image.mask, start, inner) : NULL;
    }
    return image;
}

/* Within the header's 1e-12 of the larger of |mean| and std. */
static bool near(double got, double want, double scale)
{
    return (isnan(got) && isnan(want)) || fabs(got - want) <= 1e-12 * scale;
}

static bool same(double got, double want)
{
    return got == want || (isnan(got) && isnan(want));
}

static void compare_statistics(struct check *c, const airy_statistics *got,
                               const struct ref_statistics *want)
{
    const double scale = fmax(fabs(want->mean), want->std);
    CHECK(c, got->count == want->count && got->nan == want->nan &&
                 got->infinite == want->infinite && got->masked == want->masked);
    CHECK(c, same(got->min, want->min) && same(got->max, want->max));
    CHECK(c, got->count == 0 || (got->min_at == want->min_at && got->max_at == want->max_at));
    CHECK(c, near(got->mean, want->mean, scale));
    CHECK(c, near(got->std, want->std, scale));
    CHECK(c, near(got->sum, want->sum, scale * (double)want->count));
    CHECK(c, same(got->median, want->median));
}

static void check_statistics_one(struct check *c, airy_dtype dtype, size_t h, size_t w,
                                 enum kind kind, double offset, bool masked, enum view view)
{
    static const char *const views[] = {"", "_view", "_rows"};
    if (!check_case(c, "statistics_%s_%zux%zu_%s_%g%s%s", airy_dtype_name(dtype), h, w,
                    kind_names[kind], offset, masked ? "_mask" : "", views[view]))
        return;
    struct image image = make_image(c, dtype, h, w, kind, offset, masked, view);
    struct ref_statistics want;
    airy_statistics got;
    ref_statistics(&want, image.x, image.m, image.n);
    if (CHECK_OK(c, airy_statistics_get(c->queue, &got, image.src, image.mask, 0))) {
        compare_statistics(c, &got, &want);
        /* x - median is rounded, so two of them may change places. */
        CHECK(c, same(got.mad, want.mad) ||
                     fabs(got.mad - want.mad) <= DBL_EPSILON * fabs(want.median));
    }
    if (CHECK_OK(
            c, airy_statistics_get(c->queue, &got, image.src, image.mask, AIRY_STATISTICS_MOMENTS)))
        CHECK(c, near(got.std, want.std, fmax(fabs(want.mean), want.std)) && isnan(got.median) &&
                     isnan(got.mad) && got.count == want.count && got.nan == want.nan &&
                     got.infinite == want.infinite && got.masked == want.masked);
    CHECK_BENCH(c, (double)airy_array_size(image.src), 0,
                airy_statistics_get(c->queue, &got, image.src, image.mask,
                                    AIRY_STATISTICS_MOMENTS | AIRY_STATISTICS_MEDIAN));
}

static void check_quantiles_one(struct check *c, size_t h, size_t w, enum kind kind)
{
    static const double fractions[] = {0, 0.001, 0.1, 0.25, 0.5, 0.999, 1};
    enum { N = sizeof(fractions) / sizeof(fractions[0]) };
    if (!check_case(c, "quantiles_f32_%zux%zu_%s", h, w, kind_names[kind]))
        return;
    struct image image = make_image(c, AIRY_DTYPE_F32, h, w, kind, -3, true, VIEW_WHOLE);
    double got[N], want[N];
    for (int i = 0; i < N; i++)
        want[i] = ref_quantile(image.x, image.m, image.n, fractions[i]);
    /* One rounding of the interpolation more or less. */
    if (CHECK_OK(c, airy_quantiles(c->queue, got, image.src, image.mask, fractions, N)))
        check_values(c, "quantiles", AIRY_DTYPE_F64, got, want, N,
                     &(struct check_tol){.rel = 4 * DBL_EPSILON, .abs = DBL_MIN});
}

static void check_histogram_one(struct check *c, airy_dtype dtype, size_t bins, enum kind kind)
{
    if (!check_case(c, "histogram_%s_%zu_%s", airy_dtype_name(dtype), bins, kind_names[kind]))
        return;
    struct image image = make_image(c, dtype, 97, 133, kind, 20, true, VIEW_INSIDE);
    const double lo = 1, hi = 31;
    uint64_t *got = check_alloc(c, bins * 8), *want = check_alloc(c, bins * 8);
    airy_histogram_rest rest, want_rest = {0};
    for (size_t i = 0; i < image.n; i++) {
        const double x = image.x[i];
        if (image.m[i])
            want_rest.masked++;
        else if (isnan(x))
            want_rest.nan++;
        else if (x < lo)
            want_rest.below++;
        else if (x > hi)
            want_rest.above++;
        else {
            size_t bin = 0;
            while (bin + 1 < bins && x >= lo + ((double)bin + 1) * (hi - lo) / (double)bins)
                bin++;
            want[bin]++;
        }
    }
    if (CHECK_OK(c, airy_histogram(c->queue, got, image.src, image.mask, bins, lo, hi, &rest))) {
        check_values(c, "counts", AIRY_DTYPE_U64, got, want, bins, NULL);
        CHECK(c, memcmp(&rest, &want_rest, sizeof(rest)) == 0);
    }
}

static void check_clip_one(struct check *c, airy_dtype dtype, size_t h, size_t w, enum kind kind,
                           const airy_clip_params *params, const char *variant)
{
    if (!check_case(c, "clip_%s_%zux%zu_%s_%s", airy_dtype_name(dtype), h, w, kind_names[kind],
                    variant))
        return;
    const bool masked = h % 2 == 1;
    struct image image = make_image(c, dtype, h, w, kind, 20, masked, VIEW_WHOLE);
    const struct ref_clip p = {.kappa_low = params->kappa_low != 0 ? params->kappa_low : 3,
                               .kappa_high = params->kappa_high != 0 ? params->kappa_high : 3,
                               .mean = params->center == AIRY_CENTER_MEAN,
                               .mad = params->spread == AIRY_SPREAD_MAD,
                               .inclusive = params->inclusive,
                               .iterations = params->iterations};
    struct ref_statistics want, all;
    uint8_t *keep = check_alloc(c, image.n);
    const uint64_t passes = ref_clip(&want, keep, image.x, image.m, image.n, &p);
    ref_counts(&all, image.x, image.m, image.n);
    want.nan = all.nan;
    want.infinite = all.infinite;
    want.masked = all.masked;
    airy_clip_result got;
    if (CHECK_OK(c, airy_clip(c->queue, &got, image.src, image.mask, params))) {
        compare_statistics(c, &got.kept, &want);
        CHECK(c, got.iterations == passes);
        CHECK(c, got.clipped == all.count - want.count);
    }
    CHECK_BENCH(c, (double)airy_array_size(image.src), 0,
                airy_clip(c->queue, &got, image.src, image.mask, params));
}

static void check_clip_all(struct check *c, enum kind kind)
{
    static const struct {
        const char *name;
        airy_clip_params params;
    } variants[] = {
        {"default", {.iterations = 0}},
        {"mean", {.center = AIRY_CENTER_MEAN}},
        {"mad", {.spread = AIRY_SPREAD_MAD}},
        {"mean_mad", {.center = AIRY_CENTER_MEAN, .spread = AIRY_SPREAD_MAD}},
        {"inclusive", {.inclusive = true}},
        {"five", {.iterations = 5, .inclusive = true}},
        {"one", {.iterations = 1}},
        {"lopsided", {.kappa_low = 5, .kappa_high = 1.5}},
        {"tight", {.kappa_low = 0.5, .kappa_high = 0.5}},
    };
    for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
        check_clip_one(c, AIRY_DTYPE_F32, 200, 301, kind, &variants[i].params, variants[i].name);
        check_clip_one(c, AIRY_DTYPE_F64, 17, 23, kind, &variants[i].params, variants[i].name);
    }
}

static void check_threshold_one(struct check *c, airy_dtype dtype, size_t h, size_t w, bool view)
{
    if (!check_case(c, "threshold_%s_%zux%zu%s", airy_dtype_name(dtype), h, w, view ? "_view" : ""))
        return;
    struct image image = make_image(c, dtype, h, w,
                                    airy_dtype_is_float(dtype) ? KIND_HOLES : KIND_COUNTS, 3, false,
                                    view ? VIEW_INSIDE : VIEW_WHOLE);
    const size_t shape[2] = {h, w};
    airy_array *mask = check_output(c, AIRY_DTYPE_U8, 2, shape);
    uint8_t *want = check_alloc(c, image.n);
    for (size_t i = 0; i < image.n; i++)
        want[i] = image.x[i] > 5;
    if (CHECK_OK(c, airy_threshold(c->queue, mask, image.src, 5)))
        check_array(c, mask, want, NULL);
    CHECK_BENCH(c, (double)airy_array_size(image.src) + (double)image.n, 0,
                airy_threshold(c->queue, mask, image.src, 5));
}

/* Bounds between what the dtype has, and beyond it. */
static void check_threshold_bounds(struct check *c, airy_dtype dtype)
{
    enum { N = 1003 };
    static const double bounds[] = {0,
                                    -0.5,
                                    -1,
                                    5,
                                    5.5,
                                    127,
                                    254.5,
                                    255,
                                    300,
                                    65534.5,
                                    65535,
                                    1e10,
                                    -1e10,
                                    0x1p31,
                                    -0x1p31,
                                    0.1,
                                    -(double)0.1f,
                                    (double)0.1f,
                                    1e300,
                                    -1e300,
                                    (double)INFINITY,
                                    -(double)INFINITY};
    if (!check_case(c, "threshold_bounds_%s", airy_dtype_name(dtype)))
        return;
    const size_t shape[1] = {N};
    double *x = check_alloc(c, N * sizeof(*x));
    float *narrow = check_alloc(c, N * sizeof(*narrow));
    uint8_t *want = check_alloc(c, N);
    for (size_t i = 0; i < N; i++) {
        const double bound = bounds[i % 19];
        narrow[i] = (float)bound + (float)(i / 19 % 3) - 1;
        if (i % 7 == 0)
            narrow[i] = (float[]){NAN, INFINITY, -INFINITY, 0.1f, -0.1f}[i / 7 % 5];
    }
    airy_array *values = check_upload(c, AIRY_DTYPE_F32, 1, shape, narrow),
               *src = check_output(c, dtype, 1, shape),
               *wide = check_output(c, AIRY_DTYPE_F64, 1, shape),
               *mask = check_output(c, AIRY_DTYPE_U8, 1, shape);
    CHECK_OK(c, airy_convert(c->queue, src, values, AIRY_CONVERT_SATURATE, 1, 0));
    CHECK_OK(c, airy_convert(c->queue, wide, src, AIRY_CONVERT_SATURATE, 1, 0));
    CHECK_OK(c, airy_array_pull(c->queue, x, N * sizeof(*x), wide));
    for (size_t k = 0; k < sizeof(bounds) / sizeof(bounds[0]); k++) {
        for (size_t i = 0; i < N; i++)
            want[i] = x[i] > bounds[k];
        if (CHECK_OK(c, airy_threshold(c->queue, mask, src, bounds[k])))
            check_array(c, mask, want, NULL);
    }
}

/* Numbers whose keys lie about those of zero, too many to be listed at once. */
static void check_denormals(struct check *c)
{
    enum { N = 300000 };
    if (!check_case(c, "statistics_denormals"))
        return;
    const size_t shape[1] = {N};
    double *x = check_alloc(c, N * sizeof(*x));
    for (size_t i = 0; i < N; i++)
        x[i] = i % 3 == 0 ? 0 : -ldexp((double)(1 + i % 5), -1060);
    airy_array *src = check_upload(c, AIRY_DTYPE_F64, 1, shape, x);
    const double fractions[] = {0.1, 0.3, 0.5, 0.66, 0.7, 0.9};
    double got[6], want[6];
    for (int i = 0; i < 6; i++)
        want[i] = ref_quantile(x, NULL, N, fractions[i]);
    if (CHECK_OK(c, airy_quantiles(c->queue, got, src, NULL, fractions, 6)))
        check_values(c, "quantiles", AIRY_DTYPE_F64, got, want, 6, NULL);
}

/* Medians of odd multiples of 2^-1074, of which half is no number. */
static void check_subnormals(struct check *c, size_t n)
{
    if (!check_case(c, "statistics_subnormals_%zu", n))
        return;
    const size_t shape[1] = {n};
    double *x = check_alloc(c, n * sizeof(*x));
    for (size_t i = 0; i < n; i++)
        x[i] = ldexp((double)(1 + 4 * (i * 7 % n)), -1074);
    airy_array *src = check_upload(c, AIRY_DTYPE_F64, 1, shape, x);
    struct ref_statistics want;
    airy_statistics got;
    airy_clip_result clipped;
    const airy_clip_params params = {.kappa_low = (double)INFINITY, .kappa_high = (double)INFINITY};
    ref_statistics(&want, x, NULL, n);
    if (CHECK_OK(c, airy_statistics_get(c->queue, &got, src, NULL, 0)))
        CHECK(c, got.median == want.median && got.mad == want.mad && got.median > 0);
    if (CHECK_OK(c, airy_clip(c->queue, &clipped, src, NULL, &params)))
        CHECK(c, clipped.kept.median == want.median);
}

/* Bounds on one side alone, and numbers whose squares are too large. */
static void check_clip_extremes(struct check *c)
{
    if (!check_case(c, "clip_extremes"))
        return;
    const size_t shape[1] = {40};
    double x[40], huge[40] = {0};
    for (int i = 0; i < 40; i++)
        x[i] = i % 2;
    x[3] = -1000;
    x[4] = 1000;
    huge[7] = 1e200;
    airy_array *src = check_upload(c, AIRY_DTYPE_F64, 1, shape, x),
               *large = check_upload(c, AIRY_DTYPE_F64, 1, shape, huge);
    const airy_clip_params params = {.kappa_low = (double)INFINITY};
    airy_clip_result r;
    airy_statistics s;
    if (CHECK_OK(c, airy_clip(c->queue, &r, src, NULL, &params)))
        CHECK(c, r.kept.max == 1 && r.kept.min == -1000 && r.low == -(double)INFINITY);
    if (CHECK_OK(c, airy_statistics_get(c->queue, &s, large, NULL, 0)))
        CHECK(c, s.max == 1e200 && s.median == 0 && !(s.std < 1e190));
    const double half = 0.5, ends[2] = {-1.5e308, 1.5e308};
    const size_t two[1] = {2};
    double middle;
    airy_array *wide = check_upload(c, AIRY_DTYPE_F64, 1, two, ends);
    if (CHECK_OK(c, airy_quantiles(c->queue, &middle, wide, NULL, &half, 1)))
        CHECK(c, middle == 0);
}

/* In what order planes of a cube are given in one call. */
enum order {
    ORDER_UP,
    ORDER_DOWN,
    ORDER_MIXED, /* at changing distances, some twice; every fifth is an array of its own */
    ORDER_COUNT
};

enum { PLANES = 37 };

/* Planes of all kinds, and their masks: none, of all, or of the odd ones. */
struct cube {
    airy_array *srcs[PLANES], *masks[PLANES];
    size_t solved[PLANES]; /* so many of the clips devices find in one go for certain */
};

static struct cube make_cube(struct check *c, airy_dtype dtype, size_t h, size_t w,
                             enum order order, unsigned masked)
{
    struct cube cube = {.srcs = {NULL}};
    const size_t shape[3] = {PLANES, h, w}, inner[3] = {1, h, w}, n = h * w;
    uint8_t *data = check_alloc(c, PLANES * n * airy_dtype_size(dtype)),
            *mask = check_alloc(c, PLANES * n);
    for (size_t z = 0; z < PLANES; z++)
        for (size_t i = 0; i < n; i++) {
            check_put(data, dtype, z * n + i, make_value(c, (enum kind)(z % KIND_COUNT), 9, i));
            mask[z * n + i] = check_uniform(c) < 0.1 || z % 8 == 7;
        }
    airy_array *src = check_upload(c, dtype, 3, shape, data),
               *bad = check_upload(c, AIRY_DTYPE_U8, 3, shape, mask);
    for (size_t i = 0; i < PLANES; i++) {
        const size_t z = order == ORDER_UP     ? i
                         : order == ORDER_DOWN ? PLANES - 1 - i
                                               : i * i / 3 % PLANES,
                     start[3] = {z, 0, 0};
        const bool own = order == ORDER_MIXED && i % 5 == 4;
        cube.srcs[i] = own ? check_upload(c, i % 2 ? dtype : AIRY_DTYPE_U16, 3, inner, data)
                           : check_view(c, src, start, inner);
        /* By the standard deviation, of noise. */
        cube.solved[i] = !own && z % KIND_COUNT == KIND_NOISE ? 2 : 0;
        cube.masks[i] =
            masked == 1 || (masked == 2 && i % 2 == 1) ? check_view(c, bad, start, inner) : NULL;
    }
    return cube;
}

/*
 * To the bit, or but for the order of sums: clips that a device does not find in one go, as those by
 * the median distance, list tails as they come.
 */
static bool same_clip(const airy_clip_result *got, const airy_clip_result *want, bool bits)
{
    const airy_statistics *a = &got->kept, *b = &want->kept;
    const double scale = fmax(fabs(b->mean), b->std);
    if (bits || memcmp(got, want, sizeof(*got)) == 0)
        return memcmp(got, want, sizeof(*got)) == 0;
    return a->count == b->count && a->nan == b->nan && a->infinite == b->infinite &&
           a->masked == b->masked && same(a->min, b->min) && same(a->max, b->max) &&
           a->min_at == b->min_at && a->max_at == b->max_at && same(a->median, b->median) &&
           same(a->mad, b->mad) && near(a->mean, b->mean, scale) && near(a->std, b->std, scale) &&
           near(a->sum, b->sum, scale * (double)b->count) && near(got->low, want->low, 4 * scale) &&
           near(got->high, want->high, 4 * scale) && got->iterations == want->iterations &&
           got->clipped == want->clipped;
}

/* Images in one call have the results of their own calls. */
static void check_each(struct check *c, airy_dtype dtype, size_t h, size_t w, enum order order,
                       unsigned masked)
{
    static const char *const orders[] = {"up", "down", "mixed"}, *const masks[] = {"", "_mask",
                                                                                   "_some"};
    static const airy_clip_params clips[] = {{.iterations = 0},
                                             {.center = AIRY_CENTER_MEAN, .inclusive = true},
                                             {.spread = AIRY_SPREAD_MAD}};
    if (!check_case(c, "statistics_each_%s_%zux%zu_%s%s", airy_dtype_name(dtype), h, w,
                    orders[order], masks[masked]))
        return;
    const struct cube cube = make_cube(c, dtype, h, w, order, masked);
    const airy_array *const *srcs = (const airy_array *const *)cube.srcs,
                            *const *bad = masked ? (const airy_array *const *)cube.masks : NULL;
    airy_statistics got[PLANES], one;
    airy_clip_result clipped[PLANES], result;
    for (unsigned flags = 0; flags <= AIRY_STATISTICS_ALL; flags += 3) {
        CHECK_OK(c, airy_statistics_each(c->queue, got, srcs, bad, PLANES, flags));
        for (size_t i = 0; i < PLANES; i++) {
            CHECK_OK(c, airy_statistics_get(c->queue, &one, srcs[i], cube.masks[i], flags));
            CHECK(c, memcmp(&one, &got[i], sizeof(one)) == 0);
        }
    }
    for (size_t k = 0; k < sizeof(clips) / sizeof(clips[0]); k++) {
        CHECK_OK(c, airy_clip_each(c->queue, clipped, srcs, bad, PLANES, &clips[k]));
        for (size_t i = 0; i < PLANES; i++) {
            CHECK_OK(c, airy_clip(c->queue, &result, srcs[i], cube.masks[i], &clips[k]));
            CHECK(c, same_clip(&clipped[i], &result, c->is_cpu || cube.solved[i] > k));
        }
    }
    CHECK_BENCH(c, (double)(PLANES * h * w * airy_dtype_size(dtype)), 0,
                airy_statistics_each(c->queue, got, srcs, bad, PLANES,
                                     AIRY_STATISTICS_MOMENTS | AIRY_STATISTICS_MEDIAN));
}

/* More images than answers and solutions have room for, and none. */
static void check_each_many(struct check *c)
{
    enum { MANY = 300 };
    if (!check_case(c, "statistics_each_many"))
        return;
    const size_t shape[2] = {MANY, 5}, inner[2] = {1, 5};
    float data[MANY][5];
    const airy_array *srcs[MANY];
    airy_statistics got[MANY];
    for (size_t i = 0; i < MANY; i++)
        for (size_t k = 0; k < 5; k++)
            data[i][k] = (float)(i + k * k);
    airy_array *src = check_upload(c, AIRY_DTYPE_F32, 2, shape, data);
    for (size_t i = 0; i < MANY; i++)
        srcs[i] = check_view(c, src, (const size_t[2]){i, 0}, inner);
    CHECK_OK(c, airy_statistics_each(c->queue, got, srcs, NULL, MANY, 0));
    for (size_t i = 0; i < MANY; i++)
        CHECK(c, got[i].count == 5 && got[i].median == (double)(i + 4) && got[i].min == (double)i &&
                     got[i].max == (double)(i + 16) && got[i].max_at == 4);
    got[0].count = 3;
    CHECK_OK(c, airy_statistics_each(c->queue, got, srcs, NULL, 0, 0));
    srcs[7] = NULL;
    CHECK_FAILS(c, airy_statistics_each(c->queue, got, srcs, NULL, MANY, 0), AIRY_ERR_PARAM,
                "image 7: src");
    CHECK_FAILS(c, airy_statistics_each(c->queue, got, NULL, NULL, MANY, 0), AIRY_ERR_PARAM,
                "srcs");
    CHECK_FAILS(c, airy_clip_each(c->queue, NULL, srcs, NULL, 1, NULL), AIRY_ERR_PARAM, "result");
    CHECK(c, got[0].count == 3);
}

static void check_reduce_errors(struct check *c)
{
    if (!check_case(c, "reduce_errors"))
        return;
    const size_t shape[2] = {4, 5}, other[2] = {5, 4};
    const float data[20] = {0};
    const uint8_t bytes[20] = {0};
    airy_array *src = check_upload(c, AIRY_DTYPE_F32, 2, shape, data),
               *mask = check_upload(c, AIRY_DTYPE_U8, 2, other, bytes),
               *out = check_output(c, AIRY_DTYPE_F32, 2, shape),
               *byte_src = check_upload(c, AIRY_DTYPE_U8, 2, shape, bytes);
    airy_statistics s;
    airy_clip_result r;
    double v;
    uint64_t counts[4];
    const double bad = 1.5;
    CHECK_FAILS(c, airy_statistics_get(c->queue, NULL, src, NULL, 0), AIRY_ERR_PARAM, "statistics");
    CHECK_FAILS(c, airy_statistics_get(c->queue, &s, NULL, NULL, 0), AIRY_ERR_PARAM, "src");
    CHECK_FAILS(c, airy_statistics_get(c->queue, &s, src, NULL, 8), AIRY_ERR_PARAM, "0x8");
    CHECK_FAILS(c, airy_statistics_get(c->queue, &s, src, mask, 0), AIRY_ERR_SHAPE, "[5, 4]");
    CHECK_FAILS(c, airy_statistics_get(c->queue, &s, src, out, 0), AIRY_ERR_DTYPE, "uint8");
    CHECK_FAILS(c, airy_quantiles(c->queue, &v, src, NULL, &bad, 1), AIRY_ERR_PARAM, "1.5");
    CHECK_FAILS(c, airy_quantiles(c->queue, NULL, src, NULL, &bad, 1), AIRY_ERR_PARAM, "values");
    CHECK_FAILS(c, airy_histogram(c->queue, counts, src, NULL, 0, 0, 1, NULL), AIRY_ERR_PARAM,
                "bins = 0");
    CHECK_FAILS(c, airy_histogram(c->queue, NULL, src, NULL, 4, 0, 1, NULL), AIRY_ERR_PARAM,
                "counts");
    CHECK_FAILS(c, airy_histogram(c->queue, counts, src, NULL, 4, 1, 1, NULL), AIRY_ERR_PARAM,
                "range");
    CHECK_FAILS(c, airy_histogram(c->queue, counts, src, NULL, 4, -DBL_MAX, DBL_MAX, NULL),
                AIRY_ERR_PARAM, "range");
    CHECK_FAILS(c, airy_clip(c->queue, NULL, src, NULL, NULL), AIRY_ERR_PARAM, "result");
    CHECK_FAILS(c, airy_clip(c->queue, &r, src, NULL, &(airy_clip_params){.kappa_low = -1}),
                AIRY_ERR_PARAM, "kappa = -1");
    CHECK_FAILS(
        c, airy_clip(c->queue, &r, src, NULL, &(airy_clip_params){.center = AIRY_CENTER_COUNT}),
        AIRY_ERR_PARAM, "center");
    CHECK_FAILS(
        c, airy_clip(c->queue, &r, src, NULL, &(airy_clip_params){.spread = AIRY_SPREAD_COUNT}),
        AIRY_ERR_PARAM, "spread");
    CHECK_FAILS(c, airy_threshold(c->queue, out, src, 1), AIRY_ERR_DTYPE, "uint8");
    CHECK_FAILS(c, airy_threshold(c->queue, mask, src, 1), AIRY_ERR_SHAPE, "mask");
    CHECK_FAILS(c, airy_threshold(c->queue, NULL, src, 1), AIRY_ERR_PARAM, "mask");
    CHECK_FAILS(c, airy_threshold(c->queue, byte_src, byte_src, 1), AIRY_ERR_PARAM, "share");
    CHECK_FAILS(c, airy_threshold(c->queue, byte_src, src, (double)NAN), AIRY_ERR_PARAM, "nan");
}

static int ascending_doubles(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

/* Pixels beyond kappa robust sigma, by the definition on sorted values. */
static void check_hot(struct check *c, airy_dtype dtype, bool masked)
{
    if (!check_case(c, "hot_pixels_%s%s", airy_dtype_name(dtype), masked ? "_masked" : ""))
        return;
    enum { H = 37, W = 53, N = H * W };
    const size_t shape[2] = {H, W};
    const bool floats = airy_dtype_is_float(dtype);
    uint8_t *data = check_alloc(c, N * 8), *mask = check_alloc(c, N), *hot = check_alloc(c, N);
    double *x = check_alloc(c, N * sizeof(*x)), *y = check_alloc(c, N * sizeof(*y));
    size_t n = 0, left = 0, above = 0, below = 0;
    for (size_t i = 0; i < N; i++) {
        x[i] = floor(100 + 4 * check_normal(c));
        if (i % 211 == 0)
            x[i] += i % 2 ? 60 : -60;
        if (floats && i % 307 == 1)
            x[i] = i % 3 == 0 ? (double)NAN : i % 3 == 1 ? (double)INFINITY : -(double)INFINITY;
        mask[i] = masked && i % 5 == 0 ? 7 : 0;
        check_put(data, dtype, i, x[i]);
        if (!mask[i] && isfinite(x[i]))
            y[n++] = x[i];
        else
            left++;
    }
    qsort(y, n, sizeof(*y), ascending_doubles);
    const double center = n % 2 ? y[n / 2] : (y[n / 2 - 1] + y[n / 2]) / 2;
    for (size_t i = 0; i < n; i++)
        y[i] = fabs(y[i] - center);
    qsort(y, n, sizeof(*y), ascending_doubles);
    const double sigma = 1.482602218505602 * (n % 2 ? y[n / 2] : (y[n / 2 - 1] + y[n / 2]) / 2);
    airy_array *src = check_upload(c, dtype, 2, shape, data),
               *bad = masked ? check_upload(c, AIRY_DTYPE_U8, 2, shape, mask) : NULL;
    airy_hot_result r;
    if (!CHECK_OK(c, airy_hot_pixels(c->queue, hot, &r, src, bad, 6)))
        return;
    for (size_t i = 0; i < N; i++) {
        const bool in = !mask[i] && isfinite(x[i]);
        above += in && x[i] > center + 6 * sigma;
        below += in && x[i] < center - 6 * sigma;
        CHECK(c, hot[i] == (!in || fabs(x[i] - center) > 6 * sigma));
    }
    CHECK(c, r.center == center && fabs(r.sigma - sigma) <= 1e-15 * sigma && above && below);
    CHECK(c, r.above == above && r.below == below && r.left_out == left);
}

/* More than half of the pixels are equal; nothing else; nothing at all. */
static void check_hot_equal(struct check *c)
{
    if (!check_case(c, "hot_pixels_equal"))
        return;
    enum { N = 1000 };
    const size_t shape[1] = {N};
    double *x = check_alloc(c, N * sizeof(*x));
    uint8_t *hot = check_alloc(c, N);
    airy_hot_result r;
    for (size_t i = 0; i < N; i++)
        x[i] = i % 10 == 0 ? (double)(i % 20) / 10 - 0.5 : 3;
    x[77] = 50;
    airy_array *src = check_upload(c, AIRY_DTYPE_F64, 1, shape, x);
    CHECK_OK(c, airy_hot_pixels(c->queue, hot, &r, src, NULL, 8));
    /* One value of 50 goes; a tenth of the rest is about 3 below. */
    CHECK(c, r.center == 3 && r.sigma > 0.5 && r.sigma < 1.5 && hot[77] && r.above == 1 &&
                 r.below == 0);
    for (size_t i = 0; i < N; i++)
        x[i] = i == 5 ? -1 : 3;
    src = check_upload(c, AIRY_DTYPE_F64, 1, shape, x);
    CHECK_OK(c, airy_hot_pixels(c->queue, hot, &r, src, NULL, 6));
    CHECK(c, r.sigma == 0 && r.below == 1 && r.above == 0 && hot[5] && !hot[6]);
    CHECK_FAILS(c, airy_hot_pixels(c->queue, hot, &r, src, NULL, -1), AIRY_ERR_PARAM, "kappa = -1");
    CHECK_FAILS(c, airy_hot_pixels(c->queue, hot, &r, src, NULL, NAN), AIRY_ERR_PARAM, "kappa");
    CHECK_FAILS(c, airy_hot_pixels(c->queue, NULL, &r, src, NULL, 3), AIRY_ERR_PARAM, "NULL");
    for (size_t i = 0; i < N; i++)
        x[i] = (double)NAN;
    src = check_upload(c, AIRY_DTYPE_F64, 1, shape, x);
    CHECK_FAILS(c, airy_hot_pixels(c->queue, hot, &r, src, NULL, 3), AIRY_ERR_PARAM, "no element");
}

/* So many elements of each number of counts as a mean makes them, and a few strong ones. Their number. */
static size_t put_counts(double *x, size_t most, double mean)
{
    enum { ELEMENTS = 20000, STRONG = 5 };
    size_t n = 0;
    double share = exp(-mean);
    for (int k = 0; k < 20; share *= mean / ++k)
        for (size_t i = 0; i < (size_t)(share * ELEMENTS + 0.5) && n + STRONG < most; i++)
            x[n++] = k;
    for (int i = 0; i < STRONG; i++)
        x[n++] = 200;
    for (size_t i = n - 1; i > 0; i--) { /* mixed */
        const size_t k = i * 7919 % (i + 1);
        const double kept = x[i];
        x[i] = x[k];
        x[k] = kept;
    }
    return n;
}

/*
 * Counts of few photons: a clip leaves one value of them, their deviation is the root of the mean. What
 * lies beyond 3.5 counts and 3 deviations is left out, which is 3.2 percent of the deviation at a mean
 * of 1 (the sum over k > 4 of (k - 1)^2 e^-1 / k!), and less below.
 */
static void check_counts(struct check *c, airy_dtype dtype, bool masked)
{
    static const double means[] = {0.003, 0.01, 0.1, 0.5, 1};
    enum { MOST = 25000 };
    if (!check_case(c, "coarse_noise_%s%s", airy_dtype_name(dtype), masked ? "_masked" : ""))
        return;
    double *x = check_alloc(c, MOST * sizeof(*x));
    uint8_t *data = check_alloc(c, MOST * 8), *mask = check_alloc(c, MOST),
            *hot = check_alloc(c, MOST);
    for (size_t m = 0; m < sizeof(means) / sizeof(means[0]); m++) {
        const size_t n = put_counts(x, MOST, means[m]);
        size_t above = 0;
        for (size_t i = 0; i < n; i++) {
            mask[i] = masked && i % 7 == 0;
            check_put(data, dtype, i, mask[i] ? 17 : x[i]);
        }
        airy_array *src = check_upload(c, dtype, 1, &n, data),
                   *bad = masked ? check_upload(c, AIRY_DTYPE_U8, 1, &n, mask) : NULL;
        airy_coarse_result r = {0};
        airy_hot_result h = {0};
        const double value = means[m] == 1 ? 1 : 0, want = sqrt(means[m]);
        CHECK_OK(c, airy_coarse_noise(c->queue, &r, src, bad, value));
        CHECK(c, r.coarse && r.step == 1);
        /* A mask of every seventh leaves sqrt(2 / n) of the variance open, of single counts more. */
        const double open = masked ? 4 / sqrt((double)n * means[m]) : 1e-2;
        CHECK(c, fabs(r.std - want) <= (0.033 + open) * want);
        CHECK(c, fabs(r.mean - means[m]) <= 2 * (0.033 + open) * means[m]);
        if (value != 0)
            continue;
        CHECK_OK(c, airy_hot_pixels(c->queue, hot, &h, src, bad, 6));
        for (size_t i = 0; i < n; i++)
            above += !mask[i] && x[i] > fmax(6 * r.std, 3.5);
        CHECK(c, h.sigma == r.std && h.high >= 3.5 && h.above == above && h.below == 0);
    }
}

/* Values that are not few: of noise that is resolved, and where one element alone differs. */
static void check_not_coarse(struct check *c)
{
    if (!check_case(c, "coarse_noise_none"))
        return;
    enum { N = 2000 };
    const size_t shape[1] = {N};
    double *x = check_alloc(c, N * sizeof(*x));
    airy_coarse_result r = {.coarse = true};
    for (size_t i = 0; i < N; i++)
        x[i] = i == 5 ? -1 : 3;
    airy_array *src = check_upload(c, AIRY_DTYPE_F64, 1, shape, x);
    CHECK_OK(c, airy_coarse_noise(c->queue, &r, src, NULL, 3));
    CHECK(c, !r.coarse && r.step == 4);
    for (size_t i = 0; i < N; i++)
        x[i] = check_normal(c);
    src = check_upload(c, AIRY_DTYPE_F64, 1, shape, x);
    CHECK_OK(c, airy_coarse_noise(c->queue, &r, src, NULL, x[7]));
    CHECK(c, !r.coarse);
    for (size_t i = 0; i < N; i++)
        x[i] = 3;
    src = check_upload(c, AIRY_DTYPE_F64, 1, shape, x);
    CHECK_OK(c, airy_coarse_noise(c->queue, &r, src, NULL, 3));
    CHECK(c, !r.coarse && r.step == 0);
    /* Steps whose squares are not finite, and a deviation that is not. */
    for (size_t i = 0; i < N; i++)
        x[i] = 0x1p600 * (double)(i % 2);
    src = check_upload(c, AIRY_DTYPE_F64, 1, shape, x);
    CHECK_OK(c, airy_coarse_noise(c->queue, &r, src, NULL, 0));
    CHECK(c, r.coarse && r.step == 0x1p600 && r.mean == 0x1p599 && r.std == 0x1p599);
    for (size_t i = 0; i < N; i++)
        x[i] = i % 2 ? 0x1.8p1023 : -0x1.8p1023;
    src = check_upload(c, AIRY_DTYPE_F64, 1, shape, x);
    CHECK_FAILS(c, airy_coarse_noise(c->queue, &r, src, NULL, -0x1.8p1023), AIRY_ERR_PARAM,
                "not finite");
    CHECK_FAILS(c, airy_coarse_noise(c->queue, &r, src, NULL, (double)NAN), AIRY_ERR_PARAM,
                "value");
    CHECK_FAILS(c, airy_coarse_noise(c->queue, NULL, src, NULL, 0), AIRY_ERR_PARAM, "NULL");
}

void check_reduce(struct check *c)
{
    static const size_t shapes[][2] = {{1, 1}, {1, 2}, {1, 4095}, {64, 64}, {1, 4097}, {300, 401}};
    check_hot_equal(c);
    check_not_coarse(c);
    for (int masked = 0; masked < 2; masked++) {
        check_counts(c, AIRY_DTYPE_U8, masked);
        check_counts(c, AIRY_DTYPE_I64, masked);
        check_counts(c, AIRY_DTYPE_F32, masked);
        check_counts(c, AIRY_DTYPE_F64, masked);
    }
    for (int masked = 0; masked < 2; masked++) {
        check_hot(c, AIRY_DTYPE_U16, masked);
        check_hot(c, AIRY_DTYPE_I32, masked);
        check_hot(c, AIRY_DTYPE_F32, masked);
        check_hot(c, AIRY_DTYPE_F64, masked);
    }
    for (int dtype = 0; dtype < AIRY_DTYPE_COUNT; dtype++)
        for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
            check_statistics_one(c, (airy_dtype)dtype, shapes[i][0], shapes[i][1], KIND_COUNTS, 1,
                                 i % 2 == 1, i % 3 == 2 ? VIEW_INSIDE : VIEW_WHOLE);
    for (int masked = 0; masked < 2; masked++) {
        check_statistics_one(c, AIRY_DTYPE_U16, 61, 101, KIND_COUNTS, 1, masked, VIEW_ROWS);
        check_statistics_one(c, AIRY_DTYPE_F32, 61, 101, KIND_NOISE, 0, masked, VIEW_ROWS);
        check_statistics_one(c, AIRY_DTYPE_F64, 61, 101, KIND_NOISE, 0, masked, VIEW_ROWS);
    }
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        check_statistics_one(c, AIRY_DTYPE_F32, 301, 403, (enum kind)kind, 0, true, VIEW_INSIDE);
        check_statistics_one(c, AIRY_DTYPE_F64, 700, 1000, (enum kind)kind, 1e6, false, VIEW_WHOLE);
        check_statistics_one(c, AIRY_DTYPE_F64, 3, 1, (enum kind)kind, -1e9, false, VIEW_WHOLE);
        /* As many groups of a GPU as look at a sample, and the last one's end. */
        check_statistics_one(c, AIRY_DTYPE_F32, 500, 401, (enum kind)kind, 0, kind % 2 == 0,
                             VIEW_WHOLE);
        check_quantiles_one(c, 211, 307, (enum kind)kind);
        check_clip_all(c, (enum kind)kind);
    }
    /* Of so many elements the median lies outside of what the sample says: keys are divided. */
    check_quantiles_one(c, 700, 1000, KIND_PATCHES);
    check_statistics_one(c, AIRY_DTYPE_F32, 2048, 2048, KIND_NOISE, 0, false, VIEW_WHOLE);
    check_clip_one(c, AIRY_DTYPE_F32, 2048, 2048, KIND_NOISE, &(airy_clip_params){0}, "default");
    /* A GPU's groups go over these more often than elements are on their way at a time. */
    check_statistics_one(c, AIRY_DTYPE_F32, 3001, 2805, KIND_EXPONENTIAL, 0, true, VIEW_WHOLE);
    check_clip_one(c, AIRY_DTYPE_F32, 3001, 2804, KIND_NOISE, &(airy_clip_params){0}, "default");
    for (size_t bins = 1; bins < 1000; bins = bins * 3 + 1) {
        check_histogram_one(c, AIRY_DTYPE_F32, bins, KIND_HOLES);
        check_histogram_one(c, AIRY_DTYPE_U16, bins, KIND_EXPONENTIAL);
    }
    for (int dtype = 0; dtype < AIRY_DTYPE_COUNT; dtype++) {
        check_threshold_one(c, (airy_dtype)dtype, 63, 65, dtype % 2 == 1);
        if (c->is_cpu)
            check_threshold_bounds(c, (airy_dtype)dtype);
    }
    check_threshold_one(c, AIRY_DTYPE_F32, 2048, 2048, false);
    /* More elements than a clip looks at first; few, but more than a group takes in a step. */
    for (unsigned order = 0; order < ORDER_COUNT; order++) {
        const unsigned masked = order == ORDER_MIXED ? 2 : order;
        check_each(c, AIRY_DTYPE_F32, 100, 144, (enum order)order, masked);
        check_each(c, AIRY_DTYPE_F32, 31, 67, (enum order)order, 1);
        check_each(c, AIRY_DTYPE_U16, 1, 50, (enum order)order, masked);
        check_each(c, AIRY_DTYPE_F64, 50, 77, (enum order)order, masked);
    }
    check_each_many(c);
    check_denormals(c);
    for (size_t n = 1; n < 300000; n = 9 * n - n % 2)
        check_subnormals(c, n);
    check_clip_extremes(c);
    check_reduce_errors(c);
}
