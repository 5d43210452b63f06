/* Order statistics and morphology. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/image.h"
#include "check.h"
#include "core/backend.h"
#include "filter/filter_fns.h"
#include "ref_rank.h"

struct shape {
    int ndim;
    size_t n[3];
};

static size_t axis_of(const struct shape *s, int axis)
{
    const int i = axis - (3 - s->ndim);
    return i < 0 ? 1 : s->n[i];
}

#define DEFINE_COMPARE(name, type)                                                                 \
    static int compare_##name(const void *a, const void *b)                                        \
    {                                                                                              \
        const type x = *(const type *)a, y = *(const type *)b;                                     \
        return (x > y) - (x < y);                                                                  \
    }
/* NaN behind all numbers, -0 in front of 0. */
#define DEFINE_COMPARE_FLOAT(name, type)                                                           \
    static int compare_##name(const void *a, const void *b)                                        \
    {                                                                                              \
        const type x = *(const type *)a, y = *(const type *)b;                                     \
        if (isnan(x) || isnan(y))                                                                  \
            return (isnan(x) != 0) - (isnan(y) != 0);                                              \
        return x == y ? (signbit(y) != 0) - (signbit(x) != 0) : (x > y) - (x < y);                 \
    }
DEFINE_COMPARE(u8, uint8_t)
DEFINE_COMPARE(i8, int8_t)
DEFINE_COMPARE(u16, uint16_t)
DEFINE_COMPARE(i16, int16_t)
DEFINE_COMPARE(u32, uint32_t)
DEFINE_COMPARE(i32, int32_t)
DEFINE_COMPARE(u64, uint64_t)
DEFINE_COMPARE(i64, int64_t)
DEFINE_COMPARE_FLOAT(f32, float)
DEFINE_COMPARE_FLOAT(f64, double)

static int (*const compares[AIRY_DTYPE_COUNT])(const void *, const void *) = {
    [AIRY_DTYPE_U8] = compare_u8,   [AIRY_DTYPE_I8] = compare_i8,   [AIRY_DTYPE_U16] = compare_u16,
    [AIRY_DTYPE_I16] = compare_i16, [AIRY_DTYPE_U32] = compare_u32, [AIRY_DTYPE_I32] = compare_i32,
    [AIRY_DTYPE_U64] = compare_u64, [AIRY_DTYPE_I64] = compare_i64, [AIRY_DTYPE_F32] = compare_f32,
    [AIRY_DTYPE_F64] = compare_f64};

struct problem {
    struct shape shape;
    airy_dtype dtype;
    size_t images; /* 0: no list */
    airy_rank_params params;
    double lo, hi; /* of the values */
};

static size_t wanted_rank(const airy_rank_params *p, size_t n)
{
    switch (p->filter) {
    case AIRY_RANK_MEDIAN:
        return n / 2;
    case AIRY_RANK_PERCENTILE:
        return p->percentile >= 100 ? n - 1 : (size_t)((double)n * p->percentile / 100);
    case AIRY_RANK_NTH:
        return p->rank < 0 ? n - (size_t)-p->rank : (size_t)p->rank;
    case AIRY_RANK_MAXIMUM:
    case AIRY_RANK_CLOSING:
    case AIRY_RANK_BLACK_TOPHAT:
        return n - 1;
    default:
        return 0;
    }
}

/* a - b, held at the dtype's limits; values are small. */
static void subtract(void *a, const void *b, airy_dtype dtype, size_t n)
{
    const airy_image x = {.dtype = dtype, .ndim = 1, .shape = {n}, .data = a},
                     y = {.dtype = dtype, .ndim = 1, .shape = {n}, .data = (void *)(uintptr_t)b};
    const double least = !airy_dtype_is_signed(dtype) ? 0 : dtype == AIRY_DTYPE_I8 ? -128 : -1e9;
    for (size_t i = 0; i < n; i++) {
        const double v = airy_image_value(&x, i) - airy_image_value(&y, i);
        check_put(a, dtype, i, v < least ? least : dtype == AIRY_DTYPE_I8 && v > 127 ? 127 : v);
    }
}

static void make_want(struct check *c, const struct problem *p, const char *data, char *want)
{
    const airy_rank_params *q = &p->params;
    const size_t elem = airy_dtype_size(p->dtype);
    char value[8] = {0};
    check_put(value, p->dtype, 0, q->border == AIRY_BORDER_VALUE ? q->border_value : 0);
    struct ref_rank r = {.footprint = q->footprint,
                         .border = q->has_border ? (enum ref_border)q->border : REF_REFLECT,
                         .value = value,
                         .elem = elem,
                         .compare = compares[p->dtype]};
    size_t n = 1, box = 1, count = 0;
    for (int i = 0; i < 3; i++) {
        const int axis = i - (3 - p->shape.ndim);
        r.n[i] = axis_of(&p->shape, i);
        r.k[i] = axis < 0 ? 1 : q->size[axis];
        r.before[i] = r.k[i] / 2;
        n *= r.n[i];
        box *= r.k[i];
    }
    uint8_t *turned = check_alloc(c, box);
    for (size_t i = 0; i < box; i++) {
        count += !q->footprint || q->footprint[i];
        turned[i] = !q->footprint || q->footprint[box - 1 - i];
    }
    r.rank = wanted_rank(q, count);
    if (q->filter < AIRY_RANK_OPENING) {
        ref_rank(want, data, &r);
        return;
    }
    char *between = check_alloc(c, n * elem);
    struct ref_rank dilation = r;
    dilation.footprint = turned;
    dilation.rank = count - 1;
    for (int i = 0; i < 3; i++)
        dilation.before[i] = (r.k[i] - 1) / 2;
    r.rank = 0;
    const bool opens = q->filter == AIRY_RANK_OPENING || q->filter == AIRY_RANK_WHITE_TOPHAT;
    ref_rank(between, data, opens ? &r : &dilation);
    ref_rank(want, between, opens ? &dilation : &r);
    if (q->filter == AIRY_RANK_WHITE_TOPHAT) {
        memcpy(between, data, n * elem);
        subtract(between, want, p->dtype, n);
        memcpy(want, between, n * elem);
    }
    if (q->filter == AIRY_RANK_BLACK_TOPHAT)
        subtract(want, data, p->dtype, n);
}

static bool lacks_f64(struct check *c, const struct problem *p)
{
    airy_device_info info;
    return p->dtype == AIRY_DTYPE_F64 && p->params.filter >= AIRY_RANK_WHITE_TOPHAT &&
           airy_device_get_info(c->device, &info) == AIRY_OK && !info.fp64;
}

static void run_problem(struct check *c, const struct problem *p)
{
    const size_t elem = airy_dtype_size(p->dtype), images = p->images ? p->images : 1;
    const int list = p->images != 0, ndim = p->shape.ndim + list;
    size_t shape[4] = {p->images}, n = 1;
    memcpy(shape + list, p->shape.n, (size_t)p->shape.ndim * sizeof(size_t));
    for (int i = 0; i < p->shape.ndim; i++)
        n *= p->shape.n[i];
    char *data = check_alloc(c, images * n * elem), *want = check_alloc(c, images * n * elem);
    check_rand(c, data, p->dtype, images * n, p->lo, p->hi);
    for (size_t i = 0; i < images; i++)
        make_want(c, p, data + i * n * elem, want + i * n * elem);
    airy_rank_params params = p->params;
    params.axes = p->shape.ndim;
    airy_array *src = check_upload(c, p->dtype, ndim, shape, data),
               *dst = check_output(c, p->dtype, ndim, shape);
    if (CHECK_OK(c, airy_rank_filter_run(c->queue, dst, src, &params)))
        check_array(c, dst, want, NULL);
}

static void check_one(struct check *c, const struct problem *p, const char *variant)
{
    char src[64] = "", size[64] = "";
    for (int i = 0; i < p->shape.ndim; i++) {
        snprintf(src + strlen(src), sizeof(src) - strlen(src), i ? "x%zu" : "%zu", p->shape.n[i]);
        snprintf(size + strlen(size), sizeof(size) - strlen(size), i ? "x%zu" : "%zu",
                 p->params.size[i]);
    }
    if (!check_case(c, "rank_%s_%s_%s_%s_%s%s%s", airy_rank_filter_name(p->params.filter),
                    airy_dtype_name(p->dtype), src, size,
                    p->params.has_border ? airy_border_name(p->params.border) : "default", variant,
                    p->images ? "_list" : ""))
        return;
    if (lacks_f64(c, p))
        check_skip(c, "no double precision");
    else
        run_problem(c, p);
}

static void check_shapes(struct check *c)
{
    static const struct {
        struct shape shape;
        size_t size[3];
    } boxes[] = {{{1, {1}}, {3}},
                 {{1, {5}}, {12}},
                 {{1, {300}}, {15}},
                 {{1, {700}}, {201}},
                 {{2, {1, 1}}, {3, 3}},
                 {{2, {1, 40}}, {3, 5}},
                 {{2, {7, 5}}, {4, 6}},
                 {{2, {40, 70}}, {3, 3}},
                 {{2, {33, 129}}, {5, 5}},
                 {{2, {65, 31}}, {7, 1}},
                 {{2, {30, 67}}, {7, 7}},
                 {{2, {19, 66}}, {15, 15}},
                 {{2, {12, 37}}, {34, 39}},
                 {{3, {5, 6, 7}}, {3, 2, 5}},
                 {{3, {9, 12, 40}}, {3, 3, 3}},
                 {{3, {2, 3, 35}}, {7, 7, 7}}};
    static const airy_dtype dtypes[] = {AIRY_DTYPE_F32, AIRY_DTYPE_U16, AIRY_DTYPE_U8,
                                        AIRY_DTYPE_F64};
    static const airy_rank_filter filters[] = {AIRY_RANK_MEDIAN, AIRY_RANK_MINIMUM,
                                               AIRY_RANK_PERCENTILE, AIRY_RANK_WHITE_TOPHAT};
    for (size_t i = 0; i < sizeof(boxes) / sizeof(boxes[0]); i++)
        for (int border = 0; border < AIRY_BORDER_COUNT; border++)
            for (size_t k = 0; k < sizeof(filters) / sizeof(filters[0]); k++) {
                struct problem p = {.shape = boxes[i].shape,
                                    .dtype = dtypes[(i + (size_t)border + k) % (c->is_cpu ? 4 : 2)],
                                    .images = boxes[i].shape.ndim < 3 && border % 3 == 1 ? 3 : 0,
                                    .params = {.filter = filters[k],
                                               .percentile = 80,
                                               .has_border = border != AIRY_BORDER_REFLECT,
                                               .border = (airy_border)border,
                                               .border_value = 9},
                                    .hi = i % 2 ? 12 : 200};
                memcpy(p.params.size, boxes[i].size, sizeof(p.params.size));
                p.lo = airy_dtype_is_float(p.dtype) ? -p.hi : 0;
                check_one(c, &p, "");
            }
}

static void check_dtypes(struct check *c)
{
    static const uint8_t footprint[12] = {0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 0, 1};
    for (int dtype = 0; dtype < AIRY_DTYPE_COUNT; dtype++)
        for (int filter = 0; filter < AIRY_RANK_FILTER_COUNT; filter++) {
            const bool with_sign = airy_dtype_is_signed((airy_dtype)dtype);
            struct problem p = {.shape = {2, {13, 41}},
                                .dtype = (airy_dtype)dtype,
                                .params = {.filter = (airy_rank_filter)filter,
                                           .size = {3, 4},
                                           .percentile = 30,
                                           .rank = -3},
                                .lo = with_sign ? -100 : 0,
                                .hi = 120};
            check_one(c, &p, "");
            p.params.footprint = footprint;
            check_one(c, &p, "_footprint");
        }
}

/* Boxes and footprints that take each other way through the back ends. */
static void check_large(struct check *c)
{
    for (int i = 0; i < 2; i++) {
        struct problem p = {
            .shape = {2, {3, 40}}, .dtype = i ? AIRY_DTYPE_I16 : AIRY_DTYPE_F32, .lo = -9, .hi = 9};
        p.params = (airy_rank_params){.filter = i ? AIRY_RANK_MAXIMUM : AIRY_RANK_MINIMUM,
                                      .size = {33, 1025}};
        p.params.filter = i ? AIRY_RANK_MAXIMUM : AIRY_RANK_MINIMUM;
        check_one(c, &p, "");
        p.params.size[0] = 1025;
        p.params.size[1] = 2;
        check_one(c, &p, "");
        p = (struct problem){
            .shape = {3, {30, 7, 20}},
            .dtype = i ? AIRY_DTYPE_U64 : AIRY_DTYPE_I8,
            .params = {.filter = i ? AIRY_RANK_OPENING : AIRY_RANK_CLOSING, .size = {9, 4, 5}},
            .hi = 100};
        check_one(c, &p, "");
    }
    for (int i = 0; i < 2; i++) { /* histograms of 8 bits: two tiles side by side; planes */
        const struct problem p = {.shape = {i ? 3 : 2, {i ? 5 : 3, i ? 9 : 300, 20}},
                                  .dtype = i ? AIRY_DTYPE_I8 : AIRY_DTYPE_U8,
                                  .params = {.filter = AIRY_RANK_PERCENTILE,
                                             .size = {i ? 9 : 45, i ? 11 : 31, 13},
                                             .percentile = 40,
                                             .has_border = true,
                                             .border = AIRY_BORDER_MIRROR},
                                  .lo = i ? -128 : 0,
                                  .hi = i ? 127 : 255};
        check_one(c, &p, "_histogram");
    }
    /* Buckets: tiles side by side and one below the other, planes; wider than they take. */
    static const struct {
        struct shape shape;
        airy_dtype dtype;
        size_t size[3];
    } buckets[] = {{{2, {3, 300}}, AIRY_DTYPE_U16, {31, 33}},
                   {{2, {140, 9}}, AIRY_DTYPE_F32, {21, 40}},
                   {{2, {20, 30}}, AIRY_DTYPE_F64, {34, 27}},
                   {{2, {150, 3}}, AIRY_DTYPE_I64, {45, 12}},
                   {{2, {5, 70}}, AIRY_DTYPE_I16, {3, 191}},
                   {{2, {70, 4}}, AIRY_DTYPE_U32, {191, 2}},
                   {{2, {6, 9}}, AIRY_DTYPE_U16, {195, 3}},
                   {{2, {3, 9}}, AIRY_DTYPE_I32, {7, 300}},
                   {{3, {6, 12, 20}}, AIRY_DTYPE_U16, {5, 18, 13}},
                   {{3, {7, 4, 5}}, AIRY_DTYPE_F32, {9, 29, 11}}};
    for (size_t i = 0; i < sizeof(buckets) / sizeof(buckets[0]); i++) {
        struct problem p = {.shape = buckets[i].shape,
                            .dtype = buckets[i].dtype,
                            .params = {.filter = AIRY_RANK_PERCENTILE,
                                       .percentile = 35,
                                       .has_border = true,
                                       .border = i % 2 ? AIRY_BORDER_REFLECT : AIRY_BORDER_WRAP},
                            .hi = i % 3 ? 40 : 30000};
        memcpy(p.params.size, buckets[i].size, sizeof(p.params.size));
        check_one(c, &p, "_buckets");
    }
    /* On a device whose local memory holds no tile. */
    airy_device_info *info = &c->device->info;
    const uint64_t local_mem = info->local_mem;
    info->local_mem = local_mem < 1024 ? local_mem : 1024;
    for (int i = 0; i < 2; i++) {
        const struct problem p = {.shape = {i ? 3 : 2, {3, 9, 4}},
                                  .dtype = i ? AIRY_DTYPE_I16 : AIRY_DTYPE_F32,
                                  .params = {.filter = AIRY_RANK_PERCENTILE,
                                             .percentile = 35,
                                             .size = {i ? 2 : 4, 7, 3},
                                             .has_border = true,
                                             .border = i ? AIRY_BORDER_WRAP : AIRY_BORDER_VALUE,
                                             .border_value = 3},
                                  .lo = -20,
                                  .hi = 30};
        check_one(c, &p, "_far");
    }
    info->local_mem = local_mem;
    /* More rows or planes than a grid of CUDA has groups there. */
    static const struct {
        airy_rank_filter filter;
        size_t images, rows, size[2];
    } tall[] = {{AIRY_RANK_MAXIMUM, 0, 200000, {3, 3}},
                {AIRY_RANK_MEDIAN, 70000, 2, {3, 3}},
                {AIRY_RANK_MINIMUM, 70000, 2, {2, 2}},
                {AIRY_RANK_PERCENTILE, 70000, 1, {1, 4}}};
    for (size_t i = 0; i < sizeof(tall) / sizeof(tall[0]); i++) {
        const struct problem p = {.shape = {2, {tall[i].rows, 3}},
                                  .dtype = AIRY_DTYPE_U16,
                                  .images = tall[i].images,
                                  .params = {.filter = tall[i].filter,
                                             .percentile = 40,
                                             .axes = 2,
                                             .size = {tall[i].size[0], tall[i].size[1]}},
                                  .hi = 60000};
        check_one(c, &p, "_tall");
    }
    for (int axes = 1; axes <= 3; axes++) {
        const double radius = axes == 3 ? 2.3 : 6.5;
        uint8_t *ball = NULL;
        size_t length = 0;
        if (airy_footprint_ball(&ball, &length, axes, radius) != AIRY_OK)
            return;
        for (int filter = 0; filter < AIRY_RANK_FILTER_COUNT; filter += 3) {
            struct problem p = {.shape = {axes, {8, 22, 50}},
                                .dtype = filter ? AIRY_DTYPE_U8 : AIRY_DTYPE_F32,
                                .params = {.filter = (airy_rank_filter)filter,
                                           .size = {length, length, length},
                                           .footprint = ball,
                                           .percentile = 10},
                                .hi = 100};
            if (axes < 3)
                memcpy(p.shape.n, (size_t[3]){30, 44}, sizeof(p.shape.n));
            check_one(c, &p, "_ball");
        }
        airy_footprint_free(ball);
    }
}

/* Numbers that scipy.ndimage 1.17 gives, but for one that wraps round to 255 there. */
static void check_golden_numbers(struct check *c)
{
    static const uint8_t data[20] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4},
                         cross[9] = {0, 1, 0, 1, 1, 1, 0, 0, 1};
    static const struct {
        airy_rank_params params;
        uint8_t want[20];
    } cases[] = {
        {{.size = {3, 3}}, {3, 3, 2, 4, 5, 5, 5, 5, 5, 5, 5, 5, 6, 6, 5, 3, 3, 7, 7, 7}},
        {{.filter = AIRY_RANK_MINIMUM,
          .size = {2, 3},
          .has_border = true,
          .border = AIRY_BORDER_MIRROR},
         {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 2, 2, 2, 3, 4}},
        {{.filter = AIRY_RANK_MAXIMUM,
          .size = {3, 2},
          .has_border = true,
          .border = AIRY_BORDER_WRAP},
         {9, 9, 6, 8, 8, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 8, 9, 9, 9}},
        {{.filter = AIRY_RANK_PERCENTILE,
          .percentile = 25,
          .size = {3, 3},
          .has_border = true,
          .border = AIRY_BORDER_NEAREST},
         {2, 2, 1, 3, 3, 3, 3, 2, 4, 3, 3, 3, 3, 4, 4, 3, 3, 3, 4, 4}},
        {{.filter = AIRY_RANK_NTH,
          .rank = -2,
          .size = {3, 3},
          .has_border = true,
          .border = AIRY_BORDER_VALUE,
          .border_value = 7},
         {7, 7, 7, 7, 7, 8, 9, 8, 9, 7, 8, 9, 8, 9, 8, 7, 8, 8, 9, 8}},
        {{.filter = AIRY_RANK_OPENING, .size = {2, 2}},
         {3, 1, 1, 1, 1, 5, 2, 5, 5, 3, 5, 2, 5, 5, 4, 3, 2, 3, 4, 4}},
        {{.filter = AIRY_RANK_CLOSING, .size = {3, 2}},
         {9, 6, 6, 5, 5, 9, 6, 6, 5, 5, 8, 8, 9, 9, 9, 8, 8, 9, 9, 9}},
        {{.filter = AIRY_RANK_WHITE_TOPHAT, .size = {3, 3}, .footprint = cross},
         {1, 0, 2, 0, 2, 7, 0, 0, 1, 0, 3, 2, 3, 1, 5, 1, 0, 0, 2, 0}},
        {{.filter = AIRY_RANK_BLACK_TOPHAT, .size = {3, 3}, .footprint = cross},
         {1, 3, 0, 4, 0, 0, 2, 0, 0, 2, 0, 0, 0, 0, 0, 2, 3, 2, 0, 4}},
        {{.size = {3, 3}, .footprint = cross},
         {3, 3, 4, 3, 5, 8, 6, 5, 5, 5, 5, 5, 8, 7, 7, 3, 3, 8, 4, 4}},
    };
    if (!check_case(c, "rank_scipy"))
        return;
    const size_t shape[2] = {4, 5};
    airy_array *src = check_upload(c, AIRY_DTYPE_U8, 2, shape, data),
               *dst = check_output(c, AIRY_DTYPE_U8, 2, shape);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (CHECK_OK(c, airy_rank_filter_run(c->queue, dst, src, &cases[i].params)))
            check_array(c, dst, cases[i].want, NULL);
}

static void check_special(struct check *c)
{
    if (!check_case(c, "rank_nan"))
        return;
    const float nan = (float)NAN, inf = (float)INFINITY;
    const size_t shape[1] = {9};
    const float data[9] = {1, -nan, 3, 0.0f, -0.0f, -inf, 2, nan, nan};
    const struct {
        airy_rank_params params;
        float want[9];
    } cases[] = {
        {{.filter = AIRY_RANK_MINIMUM, .size = {3}}, {1, 1, 0.0f, -0.0f, -inf, -inf, -inf, 2, nan}},
        {{.filter = AIRY_RANK_MAXIMUM, .size = {3}}, {nan, nan, nan, 3, 0.0f, 2, nan, nan, nan}},
        {{.filter = AIRY_RANK_MEDIAN, .size = {3}}, {1, 3, 3, 0.0f, -0.0f, -0.0f, 2, nan, nan}},
        {{.filter = AIRY_RANK_MEDIAN,
          .size = {3},
          .has_border = true,
          .border = AIRY_BORDER_VALUE,
          .border_value = (double)NAN},
         {nan, 3, 3, 0.0f, -0.0f, -0.0f, 2, nan, nan}},
        {{.filter = AIRY_RANK_OPENING, .size = {3}}, {1, 1, 1, 0.0f, -0.0f, -inf, 2, nan, nan}},
    };
    airy_array *src = check_upload(c, AIRY_DTYPE_F32, 1, shape, data),
               *dst = check_output(c, AIRY_DTYPE_F32, 1, shape);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (CHECK_OK(c, airy_rank_filter_run(c->queue, dst, src, &cases[i].params)))
            check_array(c, dst, cases[i].want, NULL);
}

/* Integers of 64 bits that no float tells apart; differences at the limits. */
static void check_limits(struct check *c)
{
    if (!check_case(c, "rank_limits"))
        return;
    const size_t shape[1] = {5};
    const uint64_t wide[5] = {UINT64_MAX, UINT64_MAX - 1, 1, (uint64_t)1 << 63, 0},
                   median[5] = {UINT64_MAX, UINT64_MAX - 1, (uint64_t)1 << 63, 1, 0};
    const int8_t narrow[5] = {127, -128, 127, -128, -128}, hat[5] = {127, 0, 127, 0, 0};
    airy_rank_params params = {.size = {3}};
    airy_array *src = check_upload(c, AIRY_DTYPE_U64, 1, shape, wide),
               *dst = check_output(c, AIRY_DTYPE_U64, 1, shape);
    if (CHECK_OK(c, airy_rank_filter_run(c->queue, dst, src, &params)))
        check_array(c, dst, median, NULL);
    params.filter = AIRY_RANK_WHITE_TOPHAT;
    src = check_upload(c, AIRY_DTYPE_I8, 1, shape, narrow);
    dst = check_output(c, AIRY_DTYPE_I8, 1, shape);
    if (CHECK_OK(c, airy_rank_filter_run(c->queue, dst, src, &params)))
        check_array(c, dst, hat, NULL);
}

/* Views with a pitch of their own. */
static void check_views(struct check *c)
{
    if (!check_case(c, "rank_views"))
        return;
    const size_t shape[3] = {4, 9, 12}, start[3] = {1, 2, 3}, part[3] = {2, 5, 7};
    uint16_t data[4 * 9 * 12], cut[70], want[70];
    check_rand(c, data, AIRY_DTYPE_U16, 4 * 9 * 12, 0, 1000);
    for (size_t i = 0; i < 70; i++)
        cut[i] = data[((i / 35 + 1) * 9 + i / 7 % 5 + 2) * 12 + i % 7 + 3];
    airy_array *whole = check_upload(c, AIRY_DTYPE_U16, 3, shape, data), *src = NULL, *dst = NULL,
               *out = check_output(c, AIRY_DTYPE_U16, 3, shape);
    for (int filter = 0; filter < 2; filter++)
        for (size_t k = 3; k <= 9; k += 6) {
            struct problem p = {.shape = {3, {2, 5, 7}},
                                .dtype = AIRY_DTYPE_U16,
                                .params = {.filter = (airy_rank_filter)filter, .size = {k, 3, k}}};
            make_want(c, &p, (const char *)cut, (char *)want);
            if (CHECK_OK(c, airy_array_view(&src, whole, start, part)) &&
                CHECK_OK(c, airy_array_view(&dst, out, start, part)) &&
                CHECK_OK(c, airy_rank_filter_run(c->queue, dst, src, &p.params)))
                check_array(c, dst, want, NULL);
            airy_array_destroy(&src);
            airy_array_destroy(&dst);
        }
}

static void check_refusals(struct check *c)
{
    if (!check_case(c, "rank_refusals"))
        return;
    const size_t shape[3] = {3, 4, 5}, less[3] = {3, 4, 4};
    airy_array *a = check_output(c, AIRY_DTYPE_U16, 3, shape),
               *b = check_output(c, AIRY_DTYPE_U16, 3, shape),
               *other = check_output(c, AIRY_DTYPE_I16, 3, shape),
               *small = check_output(c, AIRY_DTYPE_U16, 3, less);
    static const uint8_t nothing[27];
    airy_rank_params p = {.size = {3, 3, 3}};
#define FAILS(dst, status, part)                                                                   \
    CHECK_FAILS(c, airy_rank_filter_run(c->queue, (dst), b, &p), (status), (part))
    CHECK_FAILS(c, airy_rank_filter_run(c->queue, a, b, NULL), AIRY_ERR_PARAM, "params is NULL");
    CHECK_FAILS(c, airy_rank_filter_run(NULL, a, b, &p), AIRY_ERR_PARAM, "queue is NULL");
    FAILS(NULL, AIRY_ERR_PARAM, "dst is NULL");
    FAILS(b, AIRY_ERR_PARAM, "share memory");
    FAILS(other, AIRY_ERR_DTYPE, "int16");
    FAILS(small, AIRY_ERR_SHAPE, "[3, 4, 5]");
    p.axes = 1;
    FAILS(a, AIRY_ERR_PARAM, "axes = 1");
    p = (airy_rank_params){.size = {3, 0, 3}};
    FAILS(a, AIRY_ERR_PARAM, "size[1] = 0");
    p.size[1] = 1026;
    FAILS(a, AIRY_ERR_PARAM, "size[1] = 1026");
    p = (airy_rank_params){.size = {3, 3, 3}, .footprint = nothing};
    FAILS(a, AIRY_ERR_PARAM, "all 27 elements are 0");
    p = (airy_rank_params){.filter = AIRY_RANK_PERCENTILE, .size = {3, 3, 3}, .percentile = 100.5};
    FAILS(a, AIRY_ERR_PARAM, "percentile = 100.5");
    p = (airy_rank_params){.filter = AIRY_RANK_NTH, .size = {3, 3, 3}, .rank = 27};
    FAILS(a, AIRY_ERR_PARAM, "rank = 27 of 27");
    p.rank = -28;
    FAILS(a, AIRY_ERR_PARAM, "expected -27 to 26");
    p = (airy_rank_params){.size = {1024, 1024, 2}};
    FAILS(a, AIRY_ERR_UNSUPPORTED, "at most 1048576");
    p = (airy_rank_params){.filter = AIRY_RANK_FILTER_COUNT, .size = {3, 3, 3}};
    FAILS(a, AIRY_ERR_PARAM, "filter = 9");
    p = (airy_rank_params){.size = {3, 3, 3}, .has_border = true, .border = AIRY_BORDER_COUNT};
    FAILS(a, AIRY_ERR_PARAM, "border = 6");
    p.border = AIRY_BORDER_VALUE;
    p.border_value = -1;
    FAILS(a, AIRY_ERR_PARAM, "uint16");
#undef FAILS
    airy_rank_filter filter;
    CHECK_FAILS(c, airy_rank_filter_parse(&filter, "mode"), AIRY_ERR_PARAM, "black-tophat");
    CHECK(c, airy_rank_filter_parse(&filter, "opening") == AIRY_OK && filter == AIRY_RANK_OPENING);
    uint8_t *ball = NULL;
    size_t length;
    CHECK_FAILS(c, airy_footprint_ball(NULL, &length, 2, 1), AIRY_ERR_PARAM, "footprint is NULL");
    CHECK_FAILS(c, airy_footprint_ball(&ball, &length, 4, 1), AIRY_ERR_PARAM, "axes = 4");
    CHECK_FAILS(c, airy_footprint_ball(&ball, &length, 2, -1), AIRY_ERR_PARAM, "radius = -1");
}

static void bench_rank(struct check *c, airy_dtype dtype, airy_rank_filter filter, size_t size)
{
    if (!c->bench || !check_case(c, "rank_bench_%s_%s_2048_%zux%zu", airy_rank_filter_name(filter),
                                 airy_dtype_name(dtype), size, size))
        return;
    const size_t shape[2] = {2048, 2048}, n = shape[0] * shape[1];
    void *data = check_alloc(c, n * airy_dtype_size(dtype));
    check_rand(c, data, dtype, n, 0, dtype == AIRY_DTYPE_U8 ? 250 : 60000);
    airy_array *src = check_upload(c, dtype, 2, shape, data),
               *dst = check_output(c, dtype, 2, shape);
    const airy_rank_params params = {.filter = filter, .size = {size, size}};
    CHECK_OK(c, airy_rank_filter_run(c->queue, dst, src, &params));
    CHECK_BENCH(c, 2 * (double)airy_array_size(src), 0,
                airy_rank_filter_run(c->queue, dst, src, &params));
}

void check_rank(struct check *c)
{
    if (!airy_queue_backend(c->queue)->filter || !airy_queue_backend(c->queue)->filter->rank) {
        if (check_case(c, "rank"))
            check_skip(c, "back end '%s' has no rank filters", airy_queue_backend(c->queue)->name);
        return;
    }
    check_shapes(c);
    check_dtypes(c);
    check_large(c);
    check_golden_numbers(c);
    check_special(c);
    check_limits(c);
    check_views(c);
    check_refusals(c);
    static const airy_dtype dtypes[] = {AIRY_DTYPE_U8, AIRY_DTYPE_U16, AIRY_DTYPE_F32};
    for (int i = 0; i < 3; i++) {
        bench_rank(c, dtypes[i], AIRY_RANK_MEDIAN, 3);
        bench_rank(c, dtypes[i], AIRY_RANK_MEDIAN, 5);
        bench_rank(c, dtypes[i], AIRY_RANK_MEDIAN, 15);
        bench_rank(c, dtypes[i], AIRY_RANK_MEDIAN, 31);
        bench_rank(c, dtypes[i], AIRY_RANK_MEDIAN, 63);
        bench_rank(c, dtypes[i], AIRY_RANK_MAXIMUM, 15);
    }
}
