/* Moves and projections. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/element.h"
#include "airy/image.h"
#include "check.h"
#include "ref_element.h"

enum { AXES = 4 };

struct shape {
    int ndim;
    size_t n[AXES];
};

static const struct shape shapes[] = {{1, {1}},           {1, {77}},      {2, {1, 9}},
                                      {2, {33, 70}},      {3, {5, 6, 7}}, {3, {2, 40, 3}},
                                      {4, {3, 2, 5, 11}}, {2, {130, 100}}};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };
static const airy_dtype dtypes[4] = {AIRY_DTYPE_U8, AIRY_DTYPE_I16, AIRY_DTYPE_F32, AIRY_DTYPE_F64};

static size_t count_of(const struct shape *s)
{
    size_t n = 1;
    for (int i = 0; i < s->ndim; i++)
        n *= s->n[i];
    return n;
}

/* Where element `index` of a shape lies along each axis. */
static void unravel(const struct shape *s, size_t index, size_t at[AXES])
{
    for (int i = s->ndim - 1; i >= 0; i--) {
        at[i] = index % s->n[i];
        index /= s->n[i];
    }
}

static size_t ravel(const struct shape *s, const size_t at[AXES])
{
    size_t index = 0;
    for (int i = 0; i < s->ndim; i++)
        index = index * s->n[i] + at[i];
    return index;
}

static void name_of(char text[64], const struct shape *s, airy_dtype dtype)
{
    snprintf(text, 64, "%s_", airy_dtype_name(dtype));
    for (int i = 0; i < s->ndim; i++)
        snprintf(text + strlen(text), 64 - strlen(text), i ? "x%zu" : "%zu", s->n[i]);
}

/* Source and result as views into larger arrays, and what the result should be. */
struct move {
    struct shape from, to;
    airy_dtype dtype;
    uint8_t *data, *want; /* tight */
    airy_array *src, *dst;
};

static airy_array *view_of(struct check *c, const struct shape *s, airy_dtype dtype,
                           const void *data, size_t margin)
{
    struct shape whole = *s;
    size_t start[AXES];
    const size_t size = airy_dtype_size(dtype);
    airy_array *view = NULL;
    for (int i = 0; i < s->ndim; i++) {
        whole.n[i] += margin;
        start[i] = margin / 2;
    }
    uint8_t *all = check_alloc(c, count_of(&whole) * size);
    for (size_t i = 0; data && i < count_of(s); i++) {
        size_t at[AXES];
        unravel(s, i, at);
        for (int k = 0; k < s->ndim; k++)
            at[k] += start[k];
        memcpy(all + ravel(&whole, at) * size, (const uint8_t *)data + i * size, size);
    }
    airy_array *array = check_upload(c, dtype, s->ndim, whole.n, all);
    CHECK_OK(c, airy_array_view(&view, array, start, s->n));
    return view;
}

static void begin(struct check *c, struct move *m)
{
    const size_t size = airy_dtype_size(m->dtype);
    m->data = check_alloc(c, count_of(&m->from) * size);
    m->want = check_alloc(c, count_of(&m->to) * size);
    check_rand(c, m->data, m->dtype, count_of(&m->from), 0, 100);
    m->src = view_of(c, &m->from, m->dtype, m->data, 3);
    m->dst = view_of(c, &m->to, m->dtype, NULL, 2);
}

static void want_from(struct move *m, size_t to, const size_t from[AXES])
{
    const size_t size = airy_dtype_size(m->dtype);
    memcpy(m->want + to * size, m->data + ravel(&m->from, from) * size, size);
}

static void end(struct check *c, struct move *m)
{
    const size_t n = count_of(&m->to), size = airy_dtype_size(m->dtype);
    void *got = check_alloc(c, n * size);
    if (CHECK_OK(c, airy_array_pull(c->queue, got, n * size, m->dst)))
        check_values(c, "result", m->dtype, got, m->want, n, NULL);
    airy_array_destroy(&m->src);
    airy_array_destroy(&m->dst);
}

static void check_flip_one(struct check *c, const struct shape *s, airy_dtype dtype, unsigned axes)
{
    char text[64];
    name_of(text, s, dtype);
    if (!check_case(c, "flip_%s_%u", text, axes))
        return;
    struct move m = {.from = *s, .to = *s, .dtype = dtype};
    begin(c, &m);
    for (size_t i = 0; i < count_of(s); i++) {
        size_t at[AXES];
        unravel(s, i, at);
        for (int k = 0; k < s->ndim; k++)
            at[k] = axes >> k & 1u ? s->n[k] - 1 - at[k] : at[k];
        want_from(&m, i, at);
    }
    CHECK_OK(c, airy_flip(c->queue, m.dst, m.src, axes));
    end(c, &m);
}

static void check_transpose_one(struct check *c, const struct shape *s, airy_dtype dtype,
                                const int *order, const char *name)
{
    char text[64];
    name_of(text, s, dtype);
    if (!check_case(c, "transpose_%s_%s", text, name))
        return;
    struct move m = {.from = *s, .to = *s, .dtype = dtype};
    for (int i = 0; i < s->ndim; i++)
        m.to.n[i] = s->n[order ? order[i] : s->ndim - 1 - i];
    begin(c, &m);
    for (size_t i = 0; i < count_of(s); i++) {
        size_t at[AXES], from[AXES];
        unravel(&m.to, i, at);
        for (int k = 0; k < s->ndim; k++)
            from[order ? order[k] : s->ndim - 1 - k] = at[k];
        want_from(&m, i, from);
    }
    CHECK_OK(c, airy_transpose(c->queue, m.dst, m.src, order));
    end(c, &m);
}

static void check_pad_one(struct check *c, const struct shape *s, airy_dtype dtype,
                          airy_border border)
{
    char text[64];
    name_of(text, s, dtype);
    if (!check_case(c, "pad_%s_%s", text, airy_border_name(border)))
        return;
    /* Beyond a whole length on short axes. */
    static const size_t before[AXES] = {3, 0, 12, 5}, behind[AXES] = {2, 9, 1, 0};
    struct move m = {.from = *s, .to = *s, .dtype = dtype};
    for (int i = 0; i < s->ndim; i++)
        m.to.n[i] += before[i] + behind[i];
    begin(c, &m);
    for (size_t i = 0; i < count_of(&m.to); i++) {
        size_t at[AXES];
        bool outside = false;
        unravel(&m.to, i, at);
        for (int k = 0; k < s->ndim; k++) {
            const long from =
                ref_border_element((long)at[k] - (long)before[k], (long)s->n[k], (int)border);
            outside = outside || from < 0;
            at[k] = from < 0 ? 0 : (size_t)from;
        }
        if (outside)
            check_put(m.want, dtype, i, border == AIRY_BORDER_VALUE ? 37 : 0);
        else
            want_from(&m, i, at);
    }
    CHECK_OK(c, airy_pad(c->queue, m.dst, m.src, before, border, 37));
    end(c, &m);
}

static void check_enlarge_one(struct check *c, const struct shape *s, airy_dtype dtype)
{
    char text[64];
    static const size_t factor[AXES] = {2, 3, 1, 4};
    name_of(text, s, dtype);
    if (!check_case(c, "enlarge_%s", text))
        return;
    struct move m = {.from = *s, .to = *s, .dtype = dtype};
    for (int i = 0; i < s->ndim; i++)
        m.to.n[i] *= factor[i];
    begin(c, &m);
    for (size_t i = 0; i < count_of(&m.to); i++) {
        size_t at[AXES];
        unravel(&m.to, i, at);
        for (int k = 0; k < s->ndim; k++)
            at[k] /= factor[k];
        want_from(&m, i, at);
    }
    CHECK_OK(c, airy_enlarge(c->queue, m.dst, m.src, factor));
    end(c, &m);
}

/* factor of an axis: 0: all of it. */
static void check_project_one(struct check *c, const struct shape *s, airy_dtype from,
                              airy_dtype to, const size_t *factors, airy_projection how,
                              bool skip_nan)
{
    char text[64];
    name_of(text, s, from);
    if (!check_case(c, "project_%s_%s_%s_%zu%zu%s", airy_projection_name(how), text,
                    airy_dtype_name(to), factors[0], factors[1], skip_nan ? "_skip" : ""))
        return;
    airy_device_info info;
    if (airy_device_get_info(c->device, &info) == AIRY_OK && !info.fp64) {
        check_skip(c, "no double precision");
        return;
    }
    struct shape out = *s;
    size_t factor[AXES] = {1, 1, 1, 1}, shape[AXES] = {1, 1, 1, 1}, box[AXES] = {1, 1, 1, 1};
    const int lead = AXES - s->ndim;
    for (int i = 0; i < s->ndim; i++) {
        factor[i] = factors[i] == 0 || factors[i] > s->n[i] ? s->n[i] : factors[i];
        out.n[i] = s->n[i] / factor[i];
        shape[lead + i] = s->n[i];
        box[lead + i] = factor[i];
    }
    const size_t n = count_of(s), results = count_of(&out);
    uint8_t *data = check_alloc(c, n * airy_dtype_size(from));
    double *values = check_alloc(c, n * sizeof(*values));
    check_rand(c, data, from, n, airy_dtype_is_signed(from) ? -50 : 0, 100);
    for (size_t i = 0; i < n && airy_dtype_is_float(from); i += 13 + i % 5)
        check_put(data, from, i, (double)NAN);
    const airy_image image = {.dtype = from, .ndim = 1, .shape = {n}, .data = data};
    for (size_t i = 0; i < n; i++)
        values[i] = airy_image_value(&image, i);
    airy_array *src = view_of(c, s, from, data, 3), *dst = view_of(c, &out, to, NULL, 2);
    CHECK_OK(c, airy_project(c->queue, dst, src, factor, how, skip_nan));
    uint8_t *got = check_alloc(c, results * airy_dtype_size(to));
    CHECK_OK(c, airy_array_pull(c->queue, got, results * airy_dtype_size(to), dst));
    const airy_image made = {.dtype = to, .ndim = 1, .shape = {results}, .data = got};
    for (size_t i = 0; i < results; i++) {
        size_t at[AXES], first[AXES] = {0, 0, 0, 0};
        double scale;
        unravel(&out, i, at);
        for (int k = 0; k < s->ndim; k++)
            first[lead + k] = at[k] * factor[k];
        const double value = ref_project(values, shape, first, box, (int)how, skip_nan, &scale);
        const struct ref_type type = {.is_float = airy_dtype_is_float(to),
                                      .is_signed = airy_dtype_is_signed(to),
                                      .size = (int)airy_dtype_size(to)};
        const double want = (double)ref_store(value, type, false), v = airy_image_value(&made, i);
        /*
         * The header's bound for sums, which mean and std stay under: std is below the root of the
         * mean square, with twice the roundings. Rounded to f32 once, to integers by up to 1.
         */
        const double count = (double)(box[0] * box[1] * box[2] * box[3]);
        double allowed = how == AIRY_PROJECT_MEAN || how == AIRY_PROJECT_SUM ||
                                 how == AIRY_PROJECT_STD
                             ? (4 * count + 4) * 0x1p-53 * (scale + 1)
                             : 0;
        if (allowed > 0)
            allowed += to == AIRY_DTYPE_F32 ? 0x1p-24 * fabs(want) : type.is_float ? 0 : 1;
        if (v == want || (isnan(v) && isnan(want)) || fabs(v - want) <= allowed)
            continue;
        check_failed(c, __FILE__, __LINE__, "result %zu: got %.17g, want %.17g +- %g", i, v, want,
                     allowed);
        break;
    }
    airy_array_destroy(&src);
    airy_array_destroy(&dst);
}

static void check_projections(struct check *c)
{
    static const size_t factors[][AXES] = {{0, 0, 0, 0}, {0, 1, 1, 1}, {1, 0, 1, 0}, {2, 3, 2, 2}};
    static const airy_dtype pairs[][2] = {{AIRY_DTYPE_F32, AIRY_DTYPE_F32},
                                          {AIRY_DTYPE_U16, AIRY_DTYPE_F64},
                                          {AIRY_DTYPE_F64, AIRY_DTYPE_I16},
                                          {AIRY_DTYPE_I32, AIRY_DTYPE_I32}};
    for (size_t s = 0; s < SHAPES; s++)
        for (size_t f = 0; f < 4; f++)
            for (int how = 0; how < AIRY_PROJECTION_COUNT; how++)
                for (size_t p = 0; p < 4; p++)
                    for (int skip = 0; skip < (p % 2 == 0 ? 2 : 1); skip++)
                        check_project_one(c, &shapes[s], pairs[p][0], pairs[p][1], factors[f],
                                          (airy_projection)how, skip != 0);
    /* Longer than the block of elements that is loaded, and than a piece of results. */
    static const struct shape lines = {2, {3, 2600}}, wide = {2, {7, 1100}};
    static const size_t along[2] = {1, 0}, across[2] = {0, 1}, thousand[2] = {1, 1000};
    for (int how = 0; how < AIRY_PROJECTION_COUNT; how++) {
        check_project_one(c, &lines, AIRY_DTYPE_F32, AIRY_DTYPE_F64, along, (airy_projection)how,
                          true);
        check_project_one(c, &lines, AIRY_DTYPE_U8, AIRY_DTYPE_F32, thousand, (airy_projection)how,
                          false);
        check_project_one(c, &wide, AIRY_DTYPE_U16, AIRY_DTYPE_F32, across, (airy_projection)how,
                          false);
    }
    /* Extremes are found in src's dtype, in lines of up to 128 lanes. */
    static const size_t box[2] = {3, 299};
    for (int from = 0; from < AIRY_DTYPE_COUNT; from++)
        for (int how = AIRY_PROJECT_MAX; how <= AIRY_PROJECT_MIN; how++)
            for (int skip = 0; skip < 2; skip++)
                check_project_one(c, &wide, (airy_dtype)from, AIRY_DTYPE_F64, box,
                                  (airy_projection)how, skip != 0);
}

static void check_infinite_medians(struct check *c)
{
    if (!check_case(c, "project_median_infinite"))
        return;
    const size_t shape[2] = {2, 4}, out[2] = {2, 1}, factor[2] = {1, 4};
    const float infinity = INFINITY,
                data[8] = {infinity, 1, infinity, infinity, -0.0f, 0.0f, -infinity, 3};
    const double want[2] = {(double)infinity, 0};
    airy_array *src = check_upload(c, AIRY_DTYPE_F32, 2, shape, data),
               *dst = check_output(c, AIRY_DTYPE_F64, 2, out);
    CHECK_OK(c, airy_project(c->queue, dst, src, factor, AIRY_PROJECT_MEDIAN, false));
    check_array(c, dst, want, &(struct check_tol){.abs = 0});
}

/* Element i of a list of n whose middle is hard to find. */
static double odd_element(struct check *c, int kind, size_t i, size_t n)
{
    switch (kind) {
    case 0: /* two values, half of each */
        return (double)(i % 2);
    case 1: /* all but a few are equal */
        return i % 97 == 0 ? (double)i : 5;
    case 2: /* infinities at both ends */
        return i % 5 == 0 ? -(double)INFINITY : i % 7 == 0 ? (double)INFINITY : (double)(i % 100);
    case 3: /* all the same */
        return -(double)INFINITY;
    case 4: /* the middle lies where no sample looks */
        return i < n / 3 ? -1e30 - (double)i : i < 2 * n / 3 ? 1e30 + (double)i : (double)i;
    case 5: /* of which a half is no number */
        return ldexp((double)(1 + 4 * i), -1074);
    default:
        return ldexp((double)(check_rand_u64(c) % 1000), (int)(check_rand_u64(c) % 60));
    }
}

static void check_long_medians(struct check *c, size_t n)
{
    if (!check_case(c, "project_median_long_%zu", n))
        return;
    enum { KINDS = 7 };
    const size_t shape[2] = {KINDS, n}, flipped[2] = {n, KINDS}, along[2] = {1, n},
                 across[2] = {n, 1}, column[2] = {KINDS, 1}, row[2] = {1, KINDS},
                 box[4] = {1, 1, 1, n}, size[4] = {1, 1, KINDS, n};
    double *data = check_alloc(c, KINDS * n * sizeof(*data)),
           *turned = check_alloc(c, KINDS * n * sizeof(*turned)), want[KINDS], scale;
    for (size_t i = 0; i < KINDS * n; i++)
        turned[i % n * KINDS + i / n] = data[i] = odd_element(c, (int)(i / n), i % n, n);
    for (size_t k = 0; k < KINDS; k++)
        want[k] = ref_project(data, size, (const size_t[4]){0, 0, k, 0}, box, AIRY_PROJECT_MEDIAN,
                              false, &scale);
    airy_array *src = check_upload(c, AIRY_DTYPE_F64, 2, shape, data),
               *dst = check_output(c, AIRY_DTYPE_F64, 2, column);
    CHECK_OK(c, airy_project(c->queue, dst, src, along, AIRY_PROJECT_MEDIAN, false));
    check_array(c, dst, want, &(struct check_tol){.abs = 0});
    src = check_upload(c, AIRY_DTYPE_F64, 2, flipped, turned);
    dst = check_output(c, AIRY_DTYPE_F64, 2, row);
    CHECK_OK(c, airy_project(c->queue, dst, src, across, AIRY_PROJECT_MEDIAN, true));
    check_array(c, dst, want, &(struct check_tol){.abs = 0});
}

static void check_move_refusals(struct check *c)
{
    if (!check_case(c, "move_refusals"))
        return;
    airy_queue *q = c->queue;
    const size_t shape[2] = {4, 6}, turned[2] = {6, 4}, three[3] = {1, 4, 6}, before[2] = {0, 1},
                 none[2] = {1, 0}, half[2] = {1, 7};
    airy_array *a = check_output(c, AIRY_DTYPE_U8, 2, shape),
               *b = check_output(c, AIRY_DTYPE_U8, 2, shape),
               *t = check_output(c, AIRY_DTYPE_U8, 2, turned),
               *f = check_output(c, AIRY_DTYPE_F32, 2, shape),
               *d = check_output(c, AIRY_DTYPE_U8, 3, three);
    const int twice[2] = {1, 1}, order[2] = {0, 1};
    airy_projection projection;
    CHECK_FAILS(c, airy_flip(NULL, a, b, 1), AIRY_ERR_PARAM, "queue is NULL");
    CHECK_FAILS(c, airy_flip(q, NULL, b, 1), AIRY_ERR_PARAM, "dst is NULL");
    CHECK_FAILS(c, airy_flip(q, a, NULL, 1), AIRY_ERR_PARAM, "src is NULL");
    CHECK_FAILS(c, airy_flip(q, a, a, 1), AIRY_ERR_PARAM, "share memory");
    CHECK_FAILS(c, airy_flip(q, a, b, 4), AIRY_ERR_PARAM, "axes = 0x4");
    CHECK_FAILS(c, airy_flip(q, a, f, 1), AIRY_ERR_DTYPE, "dtype of src");
    CHECK_FAILS(c, airy_flip(q, a, d, 1), AIRY_ERR_SHAPE, "as many dimensions");
    CHECK_FAILS(c, airy_flip(q, a, t, 1), AIRY_ERR_SHAPE, "expected 6 along axis 0");
    CHECK_FAILS(c, airy_transpose(q, t, b, twice), AIRY_ERR_PARAM, "order[1] = 1");
    CHECK_FAILS(c, airy_transpose(q, t, b, order), AIRY_ERR_SHAPE, "expected 4 along axis 0");
    CHECK_FAILS(c, airy_pad(q, a, b, NULL, AIRY_BORDER_ZERO, 0), AIRY_ERR_PARAM, "before is NULL");
    CHECK_FAILS(c, airy_pad(q, a, b, before, AIRY_BORDER_COUNT, 0), AIRY_ERR_PARAM, "border = 6");
    CHECK_FAILS(c, airy_pad(q, a, b, before, AIRY_BORDER_VALUE, 0.5), AIRY_ERR_PARAM, "0.5");
    CHECK_FAILS(c, airy_pad(q, a, b, before, AIRY_BORDER_ZERO, 0), AIRY_ERR_SHAPE,
                "at least 1 + 6 along axis 1");
    CHECK_FAILS(c, airy_enlarge(q, a, b, NULL), AIRY_ERR_PARAM, "factor is NULL");
    CHECK_FAILS(c, airy_enlarge(q, a, b, none), AIRY_ERR_PARAM, "factor[1] = 0");
    CHECK_FAILS(c, airy_enlarge(q, a, b, half), AIRY_ERR_SHAPE, "7 times 6 along axis 1");
    CHECK_FAILS(c, airy_project(q, a, b, NULL, AIRY_PROJECT_SUM, false), AIRY_ERR_PARAM,
                "factor is NULL");
    CHECK_FAILS(c, airy_project(q, a, b, half, AIRY_PROJECT_SUM, false), AIRY_ERR_PARAM,
                "factor[1] = 7, expected 1 to 6");
    CHECK_FAILS(c, airy_project(q, a, b, shape, AIRY_PROJECT_SUM, false), AIRY_ERR_SHAPE,
                "expected 1 along axis 0");
    CHECK_FAILS(c, airy_project(q, a, b, shape, AIRY_PROJECTION_COUNT, false), AIRY_ERR_PARAM,
                "projection = 6");
    CHECK_FAILS(c, airy_projection_parse(&projection, "mode"), AIRY_ERR_PARAM, "'mode'");
    CHECK_FAILS(c, airy_projection_parse(NULL, "mean"), AIRY_ERR_PARAM, "projection is NULL");
    CHECK_OK(c, airy_projection_parse(&projection, "median"));
    CHECK(c, projection == AIRY_PROJECT_MEDIAN &&
                 strcmp(airy_projection_name(AIRY_PROJECTION_COUNT), "?") == 0);
}

void check_move(struct check *c)
{
    /* More rows, or planes, than a grid of CUDA has groups there. */
    static const struct shape tall = {2, {200000, 3}}, deep = {3, {70000, 2, 3}};
    static const size_t pairs[2] = {1, 3};
    check_flip_one(c, &tall, AIRY_DTYPE_U8, 1);
    check_flip_one(c, &deep, AIRY_DTYPE_U8, 3);
    /* Few rows, in parts for the CPU's threads. */
    static const struct shape few = {2, {3, 70001}};
    check_flip_one(c, &few, AIRY_DTYPE_U16, 1);
    check_flip_one(c, &few, AIRY_DTYPE_U16, 2);
    check_pad_one(c, &few, AIRY_DTYPE_U16, AIRY_BORDER_VALUE);
    check_enlarge_one(c, &few, AIRY_DTYPE_U16);
    check_project_one(c, &tall, AIRY_DTYPE_U16, AIRY_DTYPE_F32, pairs, AIRY_PROJECT_SUM, false);
    static const int orders[4][AXES] = {{0}, {1, 0}, {1, 2, 0}, {2, 0, 3, 1}};
    for (size_t s = 0; s < SHAPES; s++)
        for (size_t d = 0; d < 4; d++) {
            for (unsigned axes = 0; axes < 1u << shapes[s].ndim; axes++)
                check_flip_one(c, &shapes[s], dtypes[d], axes);
            check_transpose_one(c, &shapes[s], dtypes[d], NULL, "turned");
            check_transpose_one(c, &shapes[s], dtypes[d], orders[shapes[s].ndim - 1], "order");
            check_enlarge_one(c, &shapes[s], dtypes[d]);
            for (int border = 0; border < AIRY_BORDER_COUNT; border++)
                check_pad_one(c, &shapes[s], dtypes[d], (airy_border)border);
        }
    check_projections(c);
    check_infinite_medians(c);
    check_long_medians(c, 33);
    check_long_medians(c, 1000);
    check_long_medians(c, 6001);
    check_move_refusals(c);
}
