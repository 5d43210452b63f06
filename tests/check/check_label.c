/* Labels and measures. */
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

#include "airy/image.h"
#include "airy/label.h"
#include "check.h"
#include "core/backend.h"
#include "opencl/cl_device.h"
#include "ref_label.h"

struct volume {
    size_t shape[3], n;
    int ndim;
    airy_array *src, *labels;
    double *values;
    uint8_t *foreground;
    uint32_t *want;
};

enum shape_kind { SPOTS, SNAKES, STRIPES_, NOISE, FULL, EMPTY, CHECKER, SHAPE_KINDS };
static const char *const shape_names[SHAPE_KINDS] = {"spots", "snakes", "stripes", "noise",
                                                     "full",  "empty",  "checker"};

static bool is_foreground(struct check *c, enum shape_kind kind, size_t z, size_t y, size_t x)
{
    switch (kind) {
    case SPOTS:
        return (x / 5 + y / 4 + z / 3) % 7 == 0 && (x * y + z) % 5 != 0;
    case SNAKES: /* rows joined at alternate ends */
        return y % 2 == 0 || x == (y % 4 == 1 ? 0u : 4u + z);
    case STRIPES_:
        return (x + y + z) % 3 == 0;
    case FULL:
        return true;
    case EMPTY:
        return false;
    case CHECKER:
        return (x + y + z) % 2 == 0;
    default:
        return check_rand_u64(c) % 100 < 45;
    }
}

static struct volume make_volume(struct check *c, airy_dtype dtype, int ndim, const size_t *shape,
                                 enum shape_kind kind, double above)
{
    struct volume v = {.shape = {1, 1, 1}, .ndim = ndim};
    memcpy(v.shape + 3 - ndim, shape, (size_t)ndim * sizeof(size_t));
    v.n = v.shape[0] * v.shape[1] * v.shape[2];
    uint8_t *data = check_alloc(c, v.n * airy_dtype_size(dtype));
    v.values = check_alloc(c, v.n * sizeof(double));
    v.foreground = check_alloc(c, v.n);
    v.want = check_alloc(c, v.n * sizeof(uint32_t));
    for (size_t i = 0; i < v.n; i++) {
        const size_t x = i % v.shape[2], y = i / v.shape[2] % v.shape[1],
                     z = i / (v.shape[1] * v.shape[2]);
        v.foreground[i] = is_foreground(c, kind, z, y, x);
        check_put(data, dtype, i,
                  v.foreground[i] ? above + 1 + (double)(check_rand_u64(c) % 90) : above);
        const airy_image image = {.dtype = dtype, .ndim = 1, .shape = {i + 1}, .data = data};
        v.values[i] = airy_image_value(&image, i);
    }
    v.src = check_upload(c, dtype, ndim, shape, data);
    v.labels = check_output(c, AIRY_DTYPE_U32, ndim, shape);
    return v;
}

/* Coordinates that may differ between neighbours. */
static int axes_of(int ndim, int connectivity)
{
    return ndim == 1            ? 1
           : ndim == 2          ? (connectivity == 8 ? 2 : 1)
           : connectivity == 26 ? 3
           : connectivity == 18 ? 2
                                : 1;
}

static bool near(double got, double want, double allowed)
{
    return fabs(got - want) <= allowed;
}

static void compare_region(struct check *c, const airy_region *got, const struct volume *v,
                           uint32_t label)
{
    struct ref_region want;
    ref_measure(&want, label, v->want, v->values, v->shape);
    CHECK(c, got->count == want.count);
    CHECK(c, memcmp(got->first, want.first, sizeof(want.first)) == 0 &&
                 memcmp(got->last, want.last, sizeof(want.last)) == 0);
    CHECK(c, got->min == want.min && got->max == want.max &&
                 memcmp(got->min_at, want.min_at, sizeof(want.min_at)) == 0 &&
                 memcmp(got->max_at, want.max_at, sizeof(want.max_at)) == 0);
    CHECK(c, near(got->sum, want.sum, 1e-12 * want.magnitude));
    for (int k = 0; k < 3; k++)
        CHECK(c, near(got->center[k], want.center[k], 1e-9) &&
                     near(got->centroid[k], want.centroid[k], 1e-9));
    const double box = fmax((double)(want.last[2] - want.first[2] + 1),
                            (double)(want.last[1] - want.first[1] + 1));
    CHECK(c, near(got->mxx, want.mxx, 1e-9 * box * box) &&
                 near(got->myy, want.myy, 1e-9 * box * box) &&
                 near(got->mxy, want.mxy, 1e-9 * box * box));
    /* The ellipse has the moments: a^2 + b^2 = mxx + myy, (a^2 - b^2) sin 2 theta = 2 mxy. */
    const double a2 = got->a * got->a, b2 = got->b * got->b;
    CHECK(c, near(a2 + b2, want.mxx + want.myy, 2e-9 * box * box));
    CHECK(c, near((a2 - b2) * sin(2 * got->theta), 2 * want.mxy, 4e-9 * box * box));
    CHECK(c, got->theta > -1.5707963267948968 && got->theta <= 1.5707963267948968);
}

/* Every label where they are few, else some. */
static void compare_regions(struct check *c, const airy_region *regions, size_t count,
                            const struct volume *v)
{
    const size_t step = count / 25 + 1;
    for (size_t i = 0; i < count; i += step)
        compare_region(c, &regions[i], v, (uint32_t)(i + 1));
}

static void check_label_one(struct check *c, airy_dtype dtype, int ndim, const size_t *shape,
                            int connectivity, enum shape_kind kind, double above)
{
    if (!check_case(c, "label_%s_%zux%zux%zu_%d_%s%s", airy_dtype_name(dtype),
                    ndim > 2 ? shape[0] : 1, ndim > 1 ? shape[ndim - 2] : 1, shape[ndim - 1],
                    connectivity, shape_names[kind], above != 0 ? "_above" : ""))
        return;
    struct volume v = make_volume(c, dtype, ndim, shape, kind, above);
    const airy_label_params params = {
        .connectivity = connectivity, .has_above = above != 0, .above = above};
    const size_t want = ref_label(v.want, v.foreground, v.shape, axes_of(ndim, connectivity));
    size_t count = 0;
    airy_region *regions = NULL;
    if (CHECK_OK(c, airy_label(c->queue, v.labels, v.src, &params, &count, &regions))) {
        CHECK(c, count == want);
        check_array(c, v.labels, v.want, NULL);
        if (count == want)
            compare_regions(c, regions, count, &v);
        airy_regions_free(regions);
    }
    regions = check_alloc(c, (want + 1) * sizeof(*regions));
    if (CHECK_OK(c, airy_measure(c->queue, regions, want, v.labels, v.src)))
        compare_regions(c, regions, want, &v);
    CHECK_BENCH(c, (double)airy_array_size(v.src) + 4.0 * (double)v.n, 0,
                airy_label(c->queue, v.labels, v.src, &params, &count, NULL));
}

static void check_label_sizes(struct check *c, size_t height, size_t width)
{
    if (!check_case(c, "label_sizes_%zux%zu", height, width))
        return;
    const size_t shape[2] = {height, width};
    struct volume v = make_volume(c, AIRY_DTYPE_F32, 2, shape, NOISE, 0);
    const size_t all = ref_label(v.want, v.foreground, v.shape, 1);
    uint32_t *next = check_alloc(c, (all + 1) * sizeof(*next));
    uint64_t *pixels = check_alloc(c, (all + 1) * sizeof(*pixels));
    for (size_t i = 0; i < v.n; i++)
        pixels[v.want[i]]++;
    uint32_t left = 0;
    for (size_t i = 1; i <= all; i++)
        next[i] = pixels[i] >= 3 && pixels[i] <= 40 ? ++left : 0;
    for (size_t i = 0; i < v.n; i++)
        v.want[i] = next[v.want[i]];
    size_t count;
    const airy_label_params params = {.min_count = 3, .max_count = 40};
    if (CHECK_OK(c, airy_label(c->queue, v.labels, v.src, &params, &count, NULL))) {
        CHECK(c, count == left && left > 0);
        check_array(c, v.labels, v.want, NULL);
    }
}

/* Thresholds that a dtype does not have: between, outside of and at the ends of its values. */
static void check_label_above(struct check *c, airy_dtype dtype, double above)
{
    if (!check_case(c, "label_above_%s_%g", airy_dtype_name(dtype), above))
        return;
    const double values[] = {0,   -0.0, 1,    2,   3,   0.1,  -0.1,  -1,     -2,           100, 127,
                             128, 255,  -128, 300, 1e6, -1e6, 1e-42, -1e-42, 4294967295.0, 1e12};
    const size_t n = sizeof(values) / sizeof(values[0]), shape[1] = {4 * n};
    uint8_t *data = check_alloc(c, 4 * n * airy_dtype_size(dtype));
    uint32_t *want = check_alloc(c, 4 * n * sizeof(*want));
    const bool is_float = dtype == AIRY_DTYPE_F32 || dtype == AIRY_DTYPE_F64;
    uint32_t labels = 0;
    for (size_t i = 0; i < 4 * n; i++) {
        /* The bytes of small values, or all bits. */
        const double v = values[i / 4];
        if (is_float)
            check_put(data, dtype, i, i % 4 == 3 ? -(double)INFINITY : i % 4 == 2 ? NAN : v);
        else if (i % 4 == 3)
            memset(data + i * airy_dtype_size(dtype), 0xff, airy_dtype_size(dtype));
        else
            check_put(data, dtype, i, fmod(fabs(v), 128));
        const airy_image image = {.dtype = dtype, .ndim = 1, .shape = {i + 1}, .data = data};
        if (airy_image_value(&image, i) > above) {
            labels += i == 0 || want[i - 1] == 0;
            want[i] = labels;
        }
    }
    airy_array *src = check_upload(c, dtype, 1, shape, data),
               *got = check_output(c, AIRY_DTYPE_U32, 1, shape);
    size_t count;
    const airy_label_params params = {.has_above = true, .above = above};
    if (CHECK_OK(c, airy_label(c->queue, got, src, &params, &count, NULL))) {
        CHECK(c, count == labels);
        check_array(c, got, want, NULL);
    }
}

/* The inside of a larger image or volume, and labels into one. quads: rows of whole 16 bytes. */
static void check_label_view(struct check *c, int ndim, bool quads)
{
    if (!check_case(c, "label_view_%d%s", ndim, quads ? "_quads" : ""))
        return;
    const size_t shape[3] = {7, 45, quads ? 72 : 70}, origin[3] = {1, 3, quads ? 8 : 5},
                 inner[3] = {5, 39, quads ? 60 : 61};
    const int skip = 3 - ndim;
    struct volume v = make_volume(c, AIRY_DTYPE_I16, ndim, shape + skip, NOISE, 0);
    uint8_t *inside = check_alloc(c, v.n);
    uint32_t *part = check_alloc(c, v.n * sizeof(*part));
    double *values = check_alloc(c, v.n * sizeof(*values));
    size_t size[3] = {1, inner[1], inner[2]}, n = 0;
    for (int i = skip; i < 3; i++)
        size[i] = inner[i];
    for (size_t z = 0; z < size[0]; z++)
        for (size_t y = 0; y < size[1]; y++)
            for (size_t x = 0; x < size[2]; x++, n++) {
                const size_t at = ((z + (skip ? 0 : origin[0])) * shape[1] + y + origin[1]) *
                                      shape[2] +
                                  x + origin[2];
                inside[n] = v.foreground[at];
                values[n] = v.values[at];
            }
    const size_t labels = ref_label(part, inside, size, axes_of(ndim, ndim == 2 ? 8 : 26));
    airy_array *src = NULL, *target = NULL;
    CHECK_OK(c, airy_array_view(&src, v.src, origin + skip, inner + skip));
    CHECK_OK(c, airy_array_view(&target, v.labels, origin + skip, inner + skip));
    const airy_label_params params = {.connectivity = ndim == 2 ? 8 : 26};
    size_t count = 0;
    airy_region *regions = NULL;
    if (CHECK_OK(c, airy_label(c->queue, target, src, &params, &count, &regions))) {
        uint32_t *got = check_alloc(c, n * sizeof(*got));
        CHECK_OK(c, airy_array_pull(c->queue, got, n * sizeof(*got), target));
        CHECK(c, count == labels);
        check_values(c, "labels", AIRY_DTYPE_U32, got, part, n, NULL);
        struct volume w = {.n = n, .want = part, .values = values};
        memcpy(w.shape, size, sizeof(size));
        if (count == labels) {
            compare_regions(c, regions, count, &w);
            if (CHECK_OK(c, airy_measure(c->queue, regions, count, target, src)))
                compare_regions(c, regions, count, &w);
        }
        airy_regions_free(regions);
    }
    airy_array_destroy(&src);
    airy_array_destroy(&target);
}

/*
 * Values of any size: labels whose values differ by 200 orders of magnitude, fractions, one bright
 * pixel among faint ones. The same bits when it is done again, with labels written or not.
 */
static void check_measure_range(struct check *c)
{
    if (!check_case(c, "measure_range"))
        return;
    const size_t shape[2] = {90, 200}, n = shape[0] * shape[1];
    struct volume v = {.shape = {1, shape[0], shape[1]}, .n = n, .ndim = 2};
    v.values = check_alloc(c, n * sizeof(double));
    v.want = check_alloc(c, n * sizeof(uint32_t));
    check_rand(c, v.values, AIRY_DTYPE_F64, n, 0.5, 2);
    for (size_t i = 0; i < n; i++) {
        const size_t column = i % shape[1] / 10;
        v.values[i] = i % 10 == 9 ? 0 : ldexp(v.values[i], (int)column * 100 - 1010);
        if (i % shape[1] == 4 && i / shape[1] == 7)
            v.values[i] *= 1e14;
    }
    uint8_t *foreground = check_alloc(c, n);
    for (size_t i = 0; i < n; i++)
        foreground[i] = v.values[i] != 0;
    const size_t want = ref_label(v.want, foreground, v.shape, 1);
    v.src = check_upload(c, AIRY_DTYPE_F64, 2, shape, v.values);
    v.labels = check_output(c, AIRY_DTYPE_U32, 2, shape);
    size_t count = 0, again = 0;
    airy_region *regions = NULL, *same = NULL;
    if (CHECK_OK(c, airy_label(c->queue, v.labels, v.src, NULL, &count, &regions)) &&
        CHECK(c, count == want && want == 20))
        compare_regions(c, regions, count, &v);
    if (CHECK_OK(c, airy_label(c->queue, NULL, v.src, NULL, &again, &same)) &&
        CHECK(c, again == count))
        CHECK(c, memcmp(regions, same, count * sizeof(*same)) == 0);
    airy_regions_free(regions);
    airy_regions_free(same);
}

/* Labels in no order, in pieces all over a volume, and some that no pixel has. */
static void check_measure_scattered(struct check *c)
{
    if (!check_case(c, "measure_scattered"))
        return;
    const size_t shape[3] = {5, 190, 211}, n = shape[0] * shape[1] * shape[2], labels = 30;
    struct volume v = {.shape = {shape[0], shape[1], shape[2]}, .n = n, .ndim = 3};
    float *data = check_alloc(c, n * sizeof(float));
    check_rand(c, data, AIRY_DTYPE_F32, n, 1, 100);
    v.values = check_alloc(c, n * sizeof(double));
    v.want = check_alloc(c, n * sizeof(uint32_t));
    for (size_t i = 0; i < n; i++) {
        const size_t x = i % shape[2], y = i / shape[2] % shape[1], z = i / (shape[1] * shape[2]);
        v.values[i] = (double)data[i];
        v.want[i] = (uint32_t)((x / 37 * 7 + y / 31 * 5 + (4 - z) * 11) % 28);
    }
    v.src = check_upload(c, AIRY_DTYPE_F32, 3, shape, data);
    v.labels = check_upload(c, AIRY_DTYPE_U32, 3, shape, v.want);
    airy_region *regions = check_alloc(c, labels * sizeof(*regions));
    if (CHECK_OK(c, airy_measure(c->queue, regions, labels, v.labels, v.src))) {
        compare_regions(c, regions, 27, &v);
        for (size_t i = 27; i < labels; i++)
            CHECK(c, regions[i].count == 0 && isnan(regions[i].sum) && isnan(regions[i].min));
    }
}

/* Labels of one pixel: every other one of a line. */
static bool are_points(const airy_region *regions, size_t labels, const uint8_t *data)
{
    size_t right = 0;
    for (size_t i = 0; i < labels; i++)
        right += regions[i].count == 1 && regions[i].first[2] == 2 * i &&
                 regions[i].last[2] == 2 * i && regions[i].sum == data[2 * i];
    return right == labels;
}

static void check_measure_points(struct check *c, const char *name, size_t labels)
{
    if (!check_case(c, "%s", name))
        return;
    const size_t n = 2 * labels - 1;
    uint8_t *data = check_alloc(c, n);
    for (size_t i = 0; i < n; i += 2)
        data[i] = (uint8_t)(1 + i / 2 % 255);
    airy_array *src = check_upload(c, AIRY_DTYPE_U8, 1, &n, data),
               *target = check_output(c, AIRY_DTYPE_U32, 1, &n);
    size_t count = 0;
    airy_region *regions = NULL;
    if (CHECK_OK(c, airy_label(c->queue, target, src, NULL, &count, &regions)) &&
        CHECK(c, count == labels)) {
        CHECK(c, are_points(regions, labels, data));
        memset(regions, 0, labels * sizeof(*regions));
        if (CHECK_OK(c, airy_measure(c->queue, regions, labels, target, src)))
            CHECK(c, are_points(regions, labels, data));
    }
    airy_regions_free(regions);
}

/* Infinities are extremes, and leave no center. */
static void check_measure_infinite(struct check *c)
{
    if (!check_case(c, "measure_infinite"))
        return;
    const size_t shape[2] = {1, 8};
    const float huge = (float)INFINITY, data[8] = {1, huge, 0, -huge, huge, 0, 3, -huge};
    airy_array *src = check_upload(c, AIRY_DTYPE_F32, 2, shape, data);
    size_t count;
    airy_region *r = NULL;
    if (!CHECK_OK(c, airy_label(c->queue, NULL, src, NULL, &count, &r)) || !CHECK(c, count == 3))
        return;
    CHECK(c, isinf(r[0].sum) && r[0].sum > 0 && r[0].min == 1 && r[0].max_at[2] == 1);
    CHECK(c, isnan(r[1].sum) && r[1].min_at[2] == 3 && r[1].max_at[2] == 4);
    CHECK(c, isinf(r[2].sum) && r[2].sum < 0 && r[2].max == 3 && r[2].last[2] == 7);
    for (int i = 0; i < 3; i++)
        CHECK(c, isnan(r[i].center[2]) && isnan(r[i].a) && r[i].count == 2);
    airy_regions_free(r);
}

/*
 * Pixels of both signs: the center as scipy has it, moments as they are, no ellipse where one of its
 * axes would be the root of a negative number; of a sum below 0 there may be one.
 */
static void check_measure_signs(struct check *c)
{
    if (!check_case(c, "measure_signs"))
        return;
    const size_t shape[2] = {2, 14};
    const int32_t data[28] = {2, -1, 0, 3,  -1, 0, -1, -1, 0, 3, -1, 3, 0, 5,
                              0, 0,  0, -1, 3,  0, 0,  0,  0, 0, 0,  0, 0, 0};
    const double mxx[5] = {-2, 0.25, 0.25, 1.2, 0}, mxy[5] = {0, 0.5, 0, 0, 0};
    airy_array *src = check_upload(c, AIRY_DTYPE_I32, 2, shape, data);
    size_t count;
    airy_region *r = NULL;
    if (!CHECK_OK(c, airy_label(c->queue, NULL, src, NULL, &count, &r)) || !CHECK(c, count == 5))
        return;
    CHECK(c, near(r[0].center[2], -1, 1e-9) && near(r[1].center[2], 3.5, 1e-9));
    for (int i = 0; i < 5; i++) {
        CHECK(c, near(r[i].mxx, mxx[i], 1e-9) && near(r[i].mxy, mxy[i], 1e-9));
        CHECK(c,
              (i < 2) == isnan(r[i].a) && (i < 2) == isnan(r[i].b) && (i < 2) == isnan(r[i].theta));
    }
    CHECK(c, near(r[2].a, 0.5, 1e-9) && near(r[3].a, sqrt(1.2), 1e-9) && near(r[3].b, 0, 1e-4));
    airy_regions_free(r);
}

/* A line has a semi-axis of 0, whatever rounding makes of it. */
static void check_measure_lines(struct check *c)
{
    enum { SIDE = 96, LINES = 16 };
    if (!check_case(c, "measure_lines"))
        return;
    const size_t shape[2] = {LINES * SIDE, SIDE};
    float *data = check_alloc(c, sizeof(float) * LINES * SIDE * SIDE);
    for (size_t y = 0; y < LINES * SIDE; y++)
        if (y % SIDE < SIDE - 2)
            data[y * SIDE + (y / SIDE % 2 ? y % SIDE : SIDE - 1 - y % SIDE)] =
                (float)(check_rand_u64(c) % 1000000 + 1) * 1e-3f;
    airy_array *src = check_upload(c, AIRY_DTYPE_F32, 2, shape, data);
    const airy_label_params params = {.connectivity = 8};
    size_t count;
    airy_region *r = NULL;
    if (!CHECK_OK(c, airy_label(c->queue, NULL, src, &params, &count, &r)) ||
        !CHECK(c, count == LINES))
        return;
    for (size_t i = 0; i < count; i++)
        CHECK(c, r[i].a > 10 && r[i].b >= 0 && r[i].b < 1e-3 && isfinite(r[i].theta));
    airy_regions_free(r);
}

/* NaN is background of either kind, whatever its bits; infinities and the smallest numbers are not. */
static void check_label_nan(struct check *c, airy_dtype dtype)
{
    if (!check_case(c, "label_nan_%s", airy_dtype_name(dtype)))
        return;
    enum { N = 12 };
    const bool wide = dtype == AIRY_DTYPE_F64;
    const size_t shape[2] = {1, N};
    uint64_t bits[N] = {0};
    void *data = bits;
    static const double values[N] = {NAN,       0,   2,        NAN, -0.0, 1,
                                     -INFINITY, NAN, INFINITY, NAN, NAN,  0};
    static const uint32_t any[N] = {0, 0, 1, 0, 0, 2, 2, 0, 3, 0, 0, 4},
                          above[N] = {0, 0, 1, 0, 0, 0, 0, 0, 2, 0, 0, 0};
    for (size_t i = 0; i < N; i++)
        check_put(data, dtype, i, values[i]);
    const uint64_t quiet64 = 0xfff8000000000001u, least64 = 0x7ff0000000000001u, tiny64 = 1;
    const uint32_t quiet32 = 0xffc00001u, least32 = 0x7f800001u, tiny32 = 1;
    memcpy((char *)data + 9 * (wide ? 8 : 4), wide ? (const void *)&quiet64 : &quiet32,
           wide ? 8 : 4);
    memcpy((char *)data + 10 * (wide ? 8 : 4), wide ? (const void *)&least64 : &least32,
           wide ? 8 : 4);
    memcpy((char *)data + 11 * (wide ? 8 : 4), wide ? (const void *)&tiny64 : &tiny32,
           wide ? 8 : 4);
    airy_array *src = check_upload(c, dtype, 2, shape, data),
               *labels = check_output(c, AIRY_DTYPE_I32, 2, shape);
    size_t count;
    airy_region *regions = NULL;
    if (CHECK_OK(c, airy_label(c->queue, labels, src, NULL, &count, &regions))) {
        CHECK(c, count == 4 && regions[0].max == 2 && regions[0].sum == 2 &&
                     regions[1].count == 2 && regions[3].count == 1);
        check_array(c, labels, any, NULL);
        airy_regions_free(regions);
    }
    const airy_label_params params = {.has_above = true, .above = 1};
    if (CHECK_OK(c, airy_label(c->queue, labels, src, &params, &count, NULL)))
        check_array(c, labels, above, NULL);
}

/* Labels of an image that somebody else made: gaps, negative numbers, more than are asked for. */
static void check_measure_odd(struct check *c)
{
    if (!check_case(c, "measure_odd"))
        return;
    const size_t shape[2] = {2, 5};
    const int32_t labels[10] = {3, 3, -1, 0, 7, 1, 3, INT32_MIN, 1, 7};
    const double data[10] = {1, 2, 4, 8, 16, 32, 64, 128, -256, 512};
    airy_array *src = check_upload(c, AIRY_DTYPE_F64, 2, shape, data),
               *image = check_upload(c, AIRY_DTYPE_I32, 2, shape, labels);
    airy_region r[3];
    if (CHECK_OK(c, airy_measure(c->queue, r, 3, image, src))) {
        CHECK(c, r[0].count == 2 && r[0].sum == -224 && r[0].min == -256 && r[0].min_at[2] == 3);
        CHECK(c, r[1].count == 0 && isnan(r[1].sum) && isnan(r[1].min) && isnan(r[1].center[0]));
        CHECK(c, r[2].count == 3 && r[2].sum == 67 && r[2].last[1] == 1 && r[2].first[2] == 0);
    }
    CHECK_OK(c, airy_measure(c->queue, NULL, 0, image, src));
}

#define CONST_LIST(list) ((const airy_array *const *)(list))

/* Images that a call takes together. */
struct stack {
    airy_dtype dtype;
    size_t images, shape[3];
    int ndim;  /* of an image */
    bool dots; /* instead of all kinds in turn */
    airy_label_params params;
    const char *name;
};

static size_t stack_pixels(const struct stack *s)
{
    size_t n = 1;
    for (int i = 0; i < s->ndim; i++)
        n *= s->shape[i];
    return n;
}

/* Every other pixel of every other row, and in each other image a frame around them. */
static bool is_dot(size_t image, size_t y, size_t x, const size_t shape[3])
{
    const bool rim = y == 0 || x == 0 || y + 1 == shape[0] || x + 1 == shape[1];
    return image % 2 == 0 && rim ? true : y % 2 == 1 && x % 2 == 1 && image % 3 != 1;
}

static void draw_stack(struct check *c, uint8_t *data, const struct stack *s)
{
    const size_t n = stack_pixels(s), width = s->shape[s->ndim - 1],
                 height = s->ndim > 1 ? s->shape[s->ndim - 2] : 1;
    for (size_t i = 0; i < s->images * n; i++) {
        const size_t image = i / n, at = i % n, x = at % width, y = at / width % height,
                     z = at / width / height;
        const bool set = s->dots
                             ? is_dot(image, y, x, s->shape)
                             : is_foreground(c, (enum shape_kind)(image % SHAPE_KINDS), z, y, x);
        const double v = (double)(1 + check_rand_u64(c) % 90);
        check_put(data, s->dtype, i,
                  !set                                                        ? 0
                  : airy_dtype_is_float(s->dtype) && image % 5 == 4 && v > 80 ? (double)NAN
                                                                              : v);
    }
}

/* Labels, counts and regions of one call each. data: of the image; the last two: what `each` found. */
static void compare_one(struct check *c, const struct stack *s, const void *data,
                        const uint32_t *labels, size_t count, const airy_region *regions)
{
    const size_t n = stack_pixels(s);
    uint32_t *want = check_alloc(c, n * sizeof(*want));
    airy_array *src = check_upload(c, s->dtype, s->ndim, s->shape, data),
               *target = check_output(c, AIRY_DTYPE_U32, s->ndim, s->shape);
    size_t found = 0;
    airy_region *list = NULL;
    if (CHECK_OK(c, airy_label(c->queue, target, src, &s->params, &found, &list)) &&
        CHECK_OK(c, airy_array_pull(c->queue, want, n * sizeof(*want), target))) {
        CHECK(c, found == count && memcmp(labels, want, n * sizeof(*want)) == 0);
        CHECK(c, found != count || memcmp(list, regions, count * sizeof(*list)) == 0);
    }
    airy_regions_free(list);
}

/* Measures of so many labels of each image, likewise. */
static void compare_measures(struct check *c, const struct stack *s, airy_array **labels,
                             airy_array **srcs, const uint32_t *numbers, const uint8_t *data,
                             const size_t *counts)
{
    const size_t n = stack_pixels(s), size = n * airy_dtype_size(s->dtype);
    airy_region **regions = check_alloc(c, s->images * sizeof(airy_region *));
    for (size_t i = 0; i < s->images; i++)
        regions[i] = counts[i] ? check_alloc(c, counts[i] * sizeof(airy_region)) : NULL;
    if (!CHECK_OK(c, airy_measure_each(c->queue, regions, counts, CONST_LIST(labels),
                                       CONST_LIST(srcs), s->images)))
        return;
    for (size_t i = 0; i < s->images; i++) {
        airy_array *one = check_upload(c, s->dtype, s->ndim, s->shape, data + i * size),
                   *own = check_upload(c, AIRY_DTYPE_U32, s->ndim, s->shape, numbers + i * n);
        airy_region *want = check_alloc(c, (counts[i] + 1) * sizeof(airy_region));
        CHECK_OK(c, airy_measure(c->queue, want, counts[i], own, one));
        CHECK(c, counts[i] == 0 || memcmp(want, regions[i], counts[i] * sizeof(*want)) == 0);
    }
}

/* Images of an array, along its first axis, `apart` elements of that between two of them. */
static airy_array **cut(struct check *c, const airy_array *all, const struct stack *s,
                        const size_t *origin, size_t apart)
{
    airy_array **images = check_alloc(c, s->images * sizeof(airy_array *));
    size_t at[3] = {0, 0, 0};
    memcpy(at, origin, (size_t)s->ndim * sizeof(size_t));
    for (size_t i = 0; i < s->images; i++, at[0] += s->shape[0] + apart)
        CHECK_OK(c, airy_array_view(&images[i], all, at, s->shape));
    return images;
}

static void check_images(struct check *c, const struct stack *s, airy_array **srcs,
                         airy_array **targets, const uint8_t *data)
{
    const size_t n = stack_pixels(s), size = n * airy_dtype_size(s->dtype);
    uint32_t *labels = check_alloc(c, s->images * n * sizeof(*labels));
    size_t *counts = check_alloc(c, s->images * sizeof(*counts)),
           *alone = check_alloc(c, s->images * sizeof(*alone));
    airy_region **regions = check_alloc(c, s->images * sizeof(airy_region *));
    if (!CHECK_OK(c, airy_label_each(c->queue, targets, CONST_LIST(srcs), s->images, &s->params,
                                     counts, regions)))
        return;
    for (size_t i = 0; i < s->images; i++)
        CHECK_OK(c, airy_array_pull(c->queue, labels + i * n, n * sizeof(*labels), targets[i]));
    for (size_t i = 0; i < s->images; i++) {
        compare_one(c, s, data + i * size, labels + i * n, counts[i], regions[i]);
        airy_regions_free(regions[i]);
    }
    CHECK_OK(c,
             airy_label_each(c->queue, NULL, CONST_LIST(srcs), s->images, &s->params, alone, NULL));
    CHECK(c, memcmp(counts, alone, s->images * sizeof(*counts)) == 0);
    for (size_t i = 0; i < s->images; i++) /* more than there are, none, all, fewer */
        counts[i] = i % 4 == 0   ? counts[i] + 2
                    : i % 4 == 1 ? 0
                    : i % 4 == 2 ? counts[i]
                                 : counts[i] / 2;
    compare_measures(c, s, targets, srcs, labels, data, counts);
}

/*
 * Images in one call give the bits of one by one: side by side in an array; with gaps between them,
 * their rows and their labels; and each in an array of its own, with labels in one.
 */
static void check_label_each(struct check *c, const struct stack *s)
{
    static const char *const places[] = {"", "_apart", "_alone"};
    for (size_t place = 0; place < 3; place++) {
        if (!check_case(c, "label_each_%s_%s%s", airy_dtype_name(s->dtype), s->name, places[place]))
            continue;
        const size_t n = stack_pixels(s), size = n * airy_dtype_size(s->dtype),
                     gap = place == 1 ? 3 : 0, origin[3] = {gap, gap, gap};
        size_t shape[3];
        for (int i = 0; i < s->ndim; i++)
            shape[i] = s->shape[i] + gap * 2;
        shape[0] = (s->shape[0] + gap) * s->images + gap;
        uint8_t *data = check_alloc(c, s->images * size);
        draw_stack(c, data, s);
        airy_array *all = check_output(c, s->dtype, s->ndim, shape),
                   *target = check_output(c, AIRY_DTYPE_U32, s->ndim, shape);
        airy_array **srcs = cut(c, all, s, origin, gap), **targets = cut(c, target, s, origin, gap);
        for (size_t i = 0; i < s->images; i++) {
            CHECK_OK(c, airy_array_push(c->queue, srcs[i], data + i * size, size));
            if (place == 2) {
                airy_array_destroy(&srcs[i]);
                srcs[i] = check_upload(c, s->dtype, s->ndim, s->shape, data + i * size);
            }
        }
        check_images(c, s, srcs, targets, data);
        for (size_t i = 0; i < s->images; i++) {
            airy_array_destroy(&targets[i]);
            if (place != 2)
                airy_array_destroy(&srcs[i]);
        }
    }
}

/* Images of several shapes, and labels that lie in the array of the images. */
static void check_label_each_mixed(struct check *c)
{
    if (!check_case(c, "label_each_mixed"))
        return;
    const size_t shape[2] = {4, 6}, line = 24, one[2] = {1, 6}, none = 0;
    const uint32_t data[24] = {1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
    airy_array *image = check_upload(c, AIRY_DTYPE_U32, 2, shape, data),
               *flat = check_upload(c, AIRY_DTYPE_U32, 1, &line, data),
               *other = check_upload(c, AIRY_DTYPE_U32, 2, shape, data);
    airy_array *row[4] = {NULL};
    size_t counts[3];
    airy_region *regions[3] = {NULL};
    const airy_array *srcs[3] = {image, flat, other};
    if (CHECK_OK(c, airy_label_each(c->queue, NULL, srcs, 3, NULL, counts, regions))) {
        CHECK(c, counts[0] == 4 && counts[1] == 4 && counts[2] == 4);
        CHECK(c, regions[0][3].count == 6 && regions[1][3].first[2] == 12);
    }
    for (int i = 0; i < 3; i++)
        airy_regions_free(regions[i]);
    CHECK_OK(c, airy_label_each(c->queue, NULL, srcs, 0, NULL, counts, NULL));
    for (size_t i = 0; i < 4; i++)
        CHECK_OK(c, airy_array_view(&row[i], image, (size_t[2]){i, none}, one));
    /* Row 0 to row 1, which then has 3 labels, to row 2: as one call after the other. */
    airy_array *targets[2] = {row[1], row[2]};
    if (CHECK_OK(c, airy_label_each(c->queue, targets, (const airy_array *[2]){row[0], row[1]}, 2,
                                    NULL, counts, NULL))) {
        const uint32_t want[24] = {1, 0, 1, 1, 0, 1, 1, 0, 2, 2, 0, 3, 1, 0, 2, 2, 0, 3};
        CHECK(c, counts[0] == 3 && counts[1] == 3);
        check_array(c, image, want, NULL);
    }
    for (size_t i = 0; i < 4; i++)
        airy_array_destroy(&row[i]);
}

static void check_label_each_errors(struct check *c)
{
    if (!check_case(c, "label_each_errors"))
        return;
    const size_t shape[2] = {3, 4}, other[2] = {4, 3};
    const uint32_t data[12] = {0};
    airy_array *src = check_upload(c, AIRY_DTYPE_U32, 2, shape, data),
               *labels = check_output(c, AIRY_DTYPE_U32, 2, shape),
               *wrong = check_output(c, AIRY_DTYPE_U32, 2, other);
    const airy_array *srcs[2] = {src, src}, *gap[2] = {src, NULL};
    airy_array *targets[2] = {labels, wrong}, *shared[2] = {labels, src}, *few[2] = {labels, NULL};
    airy_region r[2], *lists[2] = {r, NULL};
    size_t counts[2] = {1, 1};
    const airy_label_params solid = {.connectivity = 6};
    CHECK_FAILS(c, airy_label_each(c->queue, NULL, NULL, 2, NULL, counts, NULL), AIRY_ERR_PARAM,
                "srcs");
    CHECK_FAILS(c, airy_label_each(c->queue, NULL, gap, 2, NULL, counts, NULL), AIRY_ERR_PARAM,
                "src");
    CHECK_FAILS(c, airy_label_each(c->queue, NULL, srcs, 2, NULL, NULL, NULL), AIRY_ERR_PARAM,
                "count");
    CHECK_FAILS(c, airy_label_each(c->queue, targets, srcs, 2, NULL, counts, NULL), AIRY_ERR_SHAPE,
                "image 1");
    CHECK_FAILS(c, airy_label_each(c->queue, few, srcs, 2, NULL, counts, NULL), AIRY_ERR_PARAM,
                "labels is NULL");
    CHECK_FAILS(c, airy_label_each(c->queue, shared, srcs, 2, NULL, counts, NULL), AIRY_ERR_PARAM,
                "share");
    CHECK_FAILS(c, airy_label_each(c->queue, NULL, srcs, 2, &solid, counts, lists), AIRY_ERR_PARAM,
                "4 or 8");
    CHECK(c, counts[0] == 1 && lists[0] == r);
    CHECK_FAILS(c, airy_measure_each(c->queue, lists, counts, NULL, srcs, 2), AIRY_ERR_PARAM,
                "labels");
    CHECK_FAILS(c, airy_measure_each(c->queue, lists, NULL, srcs, srcs, 2), AIRY_ERR_PARAM,
                "counts");
    CHECK_FAILS(c, airy_measure_each(c->queue, NULL, counts, srcs, srcs, 2), AIRY_ERR_PARAM,
                "regions");
    CHECK_FAILS(c, airy_measure_each(c->queue, lists, counts, srcs, srcs, 2), AIRY_ERR_PARAM,
                "image 1");
    counts[1] = (size_t)1 << 31;
    lists[1] = r + 1;
    CHECK_FAILS(c, airy_measure_each(c->queue, lists, counts, srcs, srcs, 2), AIRY_ERR_PARAM,
                "count");
}

static void check_label_stacks(struct check *c)
{
    static const struct stack stacks[] = {
        {AIRY_DTYPE_F32, 19, {67, 130}, 2, .name = "images"},
        {AIRY_DTYPE_F64, 8, {40, 64}, 2, .params = {.connectivity = 8}, .name = "quads"},
        {AIRY_DTYPE_U8,
         16,
         {33, 65},
         2,
         .params = {.min_count = 3, .max_count = 50},
         .name = "sized"},
        {AIRY_DTYPE_I16, 7, {5, 20, 70}, 3, .params = {.connectivity = 26}, .name = "volumes"},
        {AIRY_DTYPE_F32, 17, {700}, 1, .params = {.has_above = true, .above = 30}, .name = "lines"},
        {AIRY_DTYPE_F32, 1, {30, 50}, 2, .name = "one"},
        {AIRY_DTYPE_U8, 6, {140000, 1}, 2, .name = "long"}, /* a word a pixel */
        /* 19,600 labels and two boxes that are not walked at once; and few among them. */
        {AIRY_DTYPE_F32, 5, {281, 283}, 2, .dots = true, .name = "many"},
    };
    for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
        check_label_each(c, &stacks[i]);
    check_label_each_mixed(c);
    check_label_each_errors(c);
}

static void check_label_errors(struct check *c)
{
    if (!check_case(c, "label_errors"))
        return;
    const size_t shape[4] = {2, 3, 4, 5}, count_of[1] = {120};
    const uint32_t data[120] = {0};
    airy_array *src = check_upload(c, AIRY_DTYPE_U32, 3, shape, data),
               *four = check_upload(c, AIRY_DTYPE_U32, 4, shape, data),
               *line = check_upload(c, AIRY_DTYPE_U32, 1, count_of, data),
               *floats = check_output(c, AIRY_DTYPE_F32, 3, shape),
               *two = check_output(c, AIRY_DTYPE_U32, 2, shape);
    size_t count;
    airy_region r;
    CHECK_FAILS(c, airy_label(c->queue, NULL, NULL, NULL, &count, NULL), AIRY_ERR_PARAM, "src");
    CHECK_FAILS(c, airy_label(c->queue, NULL, src, NULL, NULL, NULL), AIRY_ERR_PARAM, "count");
    CHECK_FAILS(c, airy_label(c->queue, NULL, four, NULL, &count, NULL), AIRY_ERR_SHAPE, "1 to 3");
    CHECK_FAILS(c, airy_label(c->queue, two, src, NULL, &count, NULL), AIRY_ERR_SHAPE, "labels");
    CHECK_FAILS(c, airy_label(c->queue, floats, src, NULL, &count, NULL), AIRY_ERR_DTYPE, "labels");
    CHECK_FAILS(c, airy_label(c->queue, src, src, NULL, &count, NULL), AIRY_ERR_PARAM, "share");
    CHECK_FAILS(
        c, airy_label(c->queue, NULL, src, &(airy_label_params){.connectivity = 8}, &count, NULL),
        AIRY_ERR_PARAM, "6, 18 or 26");
    CHECK_FAILS(
        c, airy_label(c->queue, NULL, line, &(airy_label_params){.connectivity = 4}, &count, NULL),
        AIRY_ERR_PARAM, "expected 2");
    CHECK_FAILS(c,
                airy_label(c->queue, NULL, src,
                           &(airy_label_params){.has_above = true, .above = (double)NAN}, &count,
                           NULL),
                AIRY_ERR_PARAM, "above");
    CHECK_FAILS(c,
                airy_label(c->queue, NULL, src,
                           &(airy_label_params){.min_count = 5, .max_count = 4}, &count, NULL),
                AIRY_ERR_PARAM, "min_count");
    CHECK_FAILS(c, airy_measure(c->queue, NULL, 1, src, src), AIRY_ERR_PARAM, "regions");
    CHECK_FAILS(c, airy_measure(c->queue, &r, 1, NULL, src), AIRY_ERR_PARAM, "labels");
    CHECK_FAILS(c, airy_measure(c->queue, &r, (size_t)1 << 31, src, src), AIRY_ERR_PARAM, "count");
    airy_array large = *line; /* refused before a pixel is looked at */
    large.shape[0] = (size_t)1 << 31;
    CHECK_FAILS(c, airy_label(c->queue, NULL, &large, NULL, &count, NULL), AIRY_ERR_SHAPE, "2^31");
    CHECK_FAILS(c, airy_measure(c->queue, &r, 1, &large, &large), AIRY_ERR_SHAPE, "2^31");
}

/* What a device lacks is named; labels alone need neither. */
static void check_label_lacking(struct check *c)
{
    if (c->is_cpu || !check_case(c, "label_lacking"))
        return;
    const size_t shape[2] = {2, 3};
    const float data[6] = {0, 1, 0, 2, 0, 3};
    airy_array *src = check_upload(c, AIRY_DTYPE_F32, 2, shape, data),
               *labels = check_output(c, AIRY_DTYPE_U32, 2, shape);
    airy_region r[3], *regions = NULL;
    size_t count = 0;
    struct airy_cl_device *device = airy_cl_device(c->device);
    const bool fp64 = c->device->info.fp64, atomics = device->int64_atomics;
    for (int i = 0; i < 2; i++) {
        const char *lacks = i == 0 ? "no double precision" : "no 64-bit atomics";
        c->device->info.fp64 = i == 0 ? false : fp64;
        device->int64_atomics = i == 1 ? false : atomics;
        CHECK_FAILS(c, airy_label(c->queue, labels, src, NULL, &count, &regions),
                    AIRY_ERR_UNSUPPORTED, lacks);
        CHECK_FAILS(c, airy_measure(c->queue, r, 3, labels, src), AIRY_ERR_UNSUPPORTED, lacks);
        CHECK_OK(c, airy_label(c->queue, labels, src, NULL, &count, NULL));
        CHECK(c, count == 3 && !regions);
    }
    c->device->info.fp64 = fp64;
    device->int64_atomics = atomics;
}

/* The reference's masks and labels. */
static herr_t torture_mask(hid_t file, const char *name, const H5L_info_t *info, void *user)
{
    (void)info;
    struct check *c = user;
    const char *end = strstr(name, "__mask");
    if (!end || !check_case(c, "label_torture_%.*s", (int)(end - name), name))
        return 0;
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
    hsize_t dims[2];
    H5Sget_simple_extent_dims(space, dims, NULL);
    const size_t shape[2] = {(size_t)dims[0], (size_t)dims[1]}, n = shape[0] * shape[1];
    uint8_t *mask = check_alloc(c, n);
    int32_t *want = check_alloc(c, n * sizeof(*want));
    H5Dread(set, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, mask);
    H5Sclose(space);
    H5Dclose(set);
    airy_array *src = check_upload(c, AIRY_DTYPE_U8, 2, shape, mask);
    for (int connectivity = 4; connectivity <= 8; connectivity += 4) {
        char path[128];
        snprintf(path, sizeof(path), "%.*s__l%d", (int)(end - name), name, connectivity);
        const hid_t labels = H5Dopen2(file, path, H5P_DEFAULT);
        H5Dread(labels, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, want);
        H5Dclose(labels);
        airy_array *got = check_output(c, AIRY_DTYPE_I32, 2, shape);
        size_t count;
        if (CHECK_OK(c,
                     airy_label(c->queue, got, src,
                                &(airy_label_params){.connectivity = connectivity}, &count, NULL)))
            check_array(c, got, want, NULL);
    }
    return 0;
}

static void check_label_torture(struct check *c)
{
    if (!check_case(c, "label_torture"))
        return;
    const char *path = check_golden(c, "astro/ccl_torture.h5");
    if (!path)
        return;
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (CHECK(c, file >= 0)) {
        H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, NULL, torture_mask, c);
        H5Fclose(file);
    }
}

void check_label(struct check *c)
{
    if (!airy_queue_backend(c->queue)->label) {
        if (check_case(c, "label"))
            check_skip(c, "back end '%s' has no labels", airy_queue_backend(c->queue)->name);
        return;
    }
    static const size_t flat[][2] = {{1, 1}, {1, 257}, {263, 1}, {63, 64}, {130, 129}, {67, 1030}},
                        deep[][3] = {{2, 3, 4}, {70, 5, 66}, {9, 40, 33}};
    static const int solid[] = {6, 18, 26};
    for (int kind = 0; kind < SHAPE_KINDS; kind++) {
        for (size_t i = 0; i < sizeof(flat) / sizeof(flat[0]); i++)
            for (int connectivity = 4; connectivity <= 8; connectivity += 4)
                check_label_one(c, i % 2 ? AIRY_DTYPE_F32 : AIRY_DTYPE_U8, 2, flat[i], connectivity,
                                (enum shape_kind)kind, i % 3 == 0 ? 7 : 0);
        for (size_t i = 0; i < sizeof(deep) / sizeof(deep[0]); i++)
            for (size_t k = 0; k < 3; k++)
                check_label_one(c, AIRY_DTYPE_F32, 3, deep[i], solid[k], (enum shape_kind)kind, 0);
        check_label_one(c, AIRY_DTYPE_F64, 1, &(size_t){777}, 0, (enum shape_kind)kind, 2);
    }
    for (int dtype = 0; dtype < AIRY_DTYPE_COUNT; dtype++)
        check_label_one(c, (airy_dtype)dtype, 2, flat[4], 8, NOISE, 3);
    check_label_one(c, AIRY_DTYPE_F32, 2, (const size_t[]){1024, 1024}, 4, NOISE, 5);
    check_label_one(c, AIRY_DTYPE_F32, 2, (const size_t[]){2048, 2048}, 4, EMPTY, 5);
    /* More than AIRY_LABEL_GROUP groups of words. */
    check_label_one(c, AIRY_DTYPE_U8, 2, (const size_t[]){70001, 3}, 8, NOISE, 0);
    static const double above[] = {-1e300, -2, -0.1, -0.0, 0.1, 2, 2.5, 254, 1e19, 1e300};
    for (int dtype = 0; dtype < AIRY_DTYPE_COUNT; dtype++)
        for (size_t i = 0; i < sizeof(above) / sizeof(above[0]); i++)
            check_label_above(c, (airy_dtype)dtype, above[i]);
    for (int ndim = 2; ndim <= 3; ndim++)
        for (int quads = 0; quads < 2; quads++)
            check_label_view(c, ndim, quads);
    check_label_sizes(c, 37, 301);
    check_label_sizes(c, 4, 70);
    /* More than come back in one copy, more than a kernel tells, and than it has room for. */
    check_measure_scattered(c);
    check_measure_points(c, "measure_hundreds", 300);
    check_measure_points(c, "measure_thousands", 5000);
    check_measure_points(c, "measure_many", 16385);
    check_label_nan(c, AIRY_DTYPE_F32);
    check_label_nan(c, AIRY_DTYPE_F64);
    check_measure_range(c);
    check_measure_infinite(c);
    check_measure_signs(c);
    check_measure_lines(c);
    check_measure_odd(c);
    check_label_stacks(c);
    check_label_errors(c);
    check_label_lacking(c);
    check_label_torture(c);
}
