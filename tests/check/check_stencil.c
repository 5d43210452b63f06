/* Box, Sobel, Prewitt, gradient, Laplace, LoG, DoG. */
#include <string.h>

#include "airy/filter.h"
#include "check.h"
#include "ref_filter.h"

static const char *const names[AIRY_STENCIL_COUNT] = {"box",     "sobel", "prewitt", "gradient",
                                                      "laplace", "log",   "dog"};

struct shape {
    int ndim;
    size_t n[3];
};

/* The weights of one axis in one of the products, after the definitions of the header. */
static size_t make_line(double line[128], const airy_stencil_params *p, int axis, int term,
                        int wanted)
{
    static const double step[3] = {-1, 0, 1}, smooth[3] = {1, 2, 1}, flat[3] = {1, 1, 1},
                        second[3] = {1, -2, 1};
    const double *three = NULL;
    switch (p->stencil) {
    case AIRY_STENCIL_BOX:
        for (size_t i = 0; i < p->size[axis]; i++)
            line[i] = 1.0 / (double)p->size[axis];
        return p->size[axis];
    case AIRY_STENCIL_SOBEL:
    case AIRY_STENCIL_GRADIENT:
        three = axis == (p->stencil == AIRY_STENCIL_SOBEL ? wanted : term) ? step : smooth;
        break;
    case AIRY_STENCIL_PREWITT:
        three = axis == wanted ? step : flat;
        break;
    case AIRY_STENCIL_LAPLACE:
        line[0] = 1;
        if (axis != term)
            return 1;
        three = second;
        break;
    default:
        break;
    }
    if (three) {
        memcpy(line, three, 3 * sizeof(double));
        return 3;
    }
    const bool log = p->stencil == AIRY_STENCIL_LOG;
    const double sigma = log || term == 0 ? p->sigma[axis] : p->sigma2[axis];
    const size_t radius = (size_t)(4 * sigma + 0.5);
    line[0] = 1;
    if (sigma > 0)
        ref_gauss(line, radius, sigma);
    for (size_t i = 0; log && axis == term && i <= 2 * radius; i++) {
        const double x = (double)i - (double)radius;
        line[i] *= x * x / (sigma * sigma * sigma * sigma) - 1 / (sigma * sigma);
    }
    return 2 * radius + 1;
}

/* One product over the volume; also the sum of |weights| times the largest |value|. */
static void run_term(struct check *c, double *out, double *scale, const double *values,
                     const struct shape *s, const airy_stencil_params *p, int term)
{
    double line[3][128];
    struct ref_convolve r = {.border = p->has_border ? (enum ref_border)p->border : REF_REFLECT,
                             .value = p->border_value,
                             .correlate = true};
    const int lead = 3 - s->ndim, wanted = p->has_axis ? p->axis : s->ndim - 1;
    for (int i = 0; i < 3; i++) {
        line[i][0] = 1;
        r.n[i] = r.out[i] = i < lead ? 1 : s->n[i - lead];
        r.k[i] = i < lead ? 1 : make_line(line[i], p, i - lead, term, wanted);
        /* An even box has one more element in front. */
        r.offset[i] = (long)(p->stencil == AIRY_STENCIL_BOX ? r.k[i] - 1 : r.k[i]) / 2;
    }
    const size_t taps = r.k[0] * r.k[1] * r.k[2];
    double *kernel = check_alloc(c, taps * sizeof(*kernel)), sum = 0;
    for (size_t i = 0; i < taps; i++) {
        kernel[i] = line[0][i / (r.k[1] * r.k[2])] * line[1][i / r.k[2] % r.k[1]] *
                    line[2][i % r.k[2]];
        sum += fabs(kernel[i]);
    }
    ref_convolve(out, NULL, values, kernel, &r);
    /* The header's bound of a separable product, of values up to 10 and a border of 3. */
    *scale += (double)(r.k[0] + r.k[1] + r.k[2] + 4) * sum * 10;
}

static void check_stencil_one(struct check *c, const struct shape *s, airy_dtype to,
                              const airy_stencil_params *p)
{
    if (!check_case(c, "stencil_%s_%dd_%zu_%s_%s", names[p->stencil], s->ndim, s->n[s->ndim - 1],
                    airy_dtype_name(to), p->has_border ? airy_border_name(p->border) : "default"))
        return;
    airy_device_info info;
    if (to == AIRY_DTYPE_F64 && airy_device_get_info(c->device, &info) == AIRY_OK && !info.fp64) {
        check_skip(c, "no double precision");
        return;
    }
    size_t n = 1;
    for (int i = 0; i < s->ndim; i++)
        n *= s->n[i];
    float *data = check_alloc(c, n * sizeof(*data)), *narrow = check_alloc(c, n * sizeof(*narrow));
    double *values = check_alloc(c, n * 8), *want = check_alloc(c, n * 8),
           *more = check_alloc(c, n * 8), scale = 0;
    check_rand(c, data, AIRY_DTYPE_F32, n, -10, 10);
    for (size_t i = 0; i < n; i++)
        values[i] = data[i];
    const bool each = p->stencil == AIRY_STENCIL_GRADIENT || p->stencil == AIRY_STENCIL_LAPLACE ||
                      p->stencil == AIRY_STENCIL_LOG;
    const int terms = each ? s->ndim : p->stencil == AIRY_STENCIL_DOG ? 2 : 1;
    for (int term = 0; term < terms; term++) {
        run_term(c, more, &scale, values, s, p, term);
        for (size_t i = 0; i < n; i++)
            want[i] = p->stencil == AIRY_STENCIL_GRADIENT      ? hypot(want[i], more[i])
                      : p->stencil == AIRY_STENCIL_DOG && term ? want[i] - more[i]
                                                               : want[i] + more[i];
    }
    for (size_t i = 0; i < n; i++)
        narrow[i] = (float)want[i];
    airy_array *src = check_upload(c, AIRY_DTYPE_F32, s->ndim, s->n, data),
               *dst = check_output(c, to, s->ndim, s->n);
    /* scale bounds the results too, so that the roundings of sums and hypot (4 units) are in twice. */
    if (CHECK_OK(c, airy_stencil_run(c->queue, dst, src, p)))
        check_array(
            c, dst, to == AIRY_DTYPE_F32 ? (const void *)narrow : (const void *)want,
            &(struct check_tol){.abs = 2 * scale * (to == AIRY_DTYPE_F32 ? 0x1p-24 : 0x1p-53)});
}

static void check_stencil_refusals(struct check *c)
{
    if (!check_case(c, "stencil_refusals"))
        return;
    const size_t shape[3] = {3, 4, 5};
    airy_array *a = check_output(c, AIRY_DTYPE_F32, 3, shape),
               *b = check_output(c, AIRY_DTYPE_F32, 3, shape),
               *ints = check_output(c, AIRY_DTYPE_U8, 3, shape);
    airy_stencil_params p = {.stencil = AIRY_STENCIL_SOBEL};
    CHECK_FAILS(c, airy_stencil_run(NULL, a, b, &p), AIRY_ERR_PARAM, "queue is NULL");
    CHECK_FAILS(c, airy_stencil_run(c->queue, NULL, b, &p), AIRY_ERR_PARAM, "dst is NULL");
    CHECK_FAILS(c, airy_stencil_run(c->queue, a, NULL, &p), AIRY_ERR_PARAM, "src is NULL");
    CHECK_FAILS(c, airy_stencil_run(c->queue, a, b, NULL), AIRY_ERR_PARAM, "params is NULL");
    CHECK_FAILS(c, airy_stencil_run(c->queue, a, a, &p), AIRY_ERR_PARAM, "share memory");
    CHECK_FAILS(c, airy_stencil_run(c->queue, ints, b, &p), AIRY_ERR_DTYPE, "dst is");
    p.axes = 1;
    CHECK_FAILS(c, airy_stencil_run(c->queue, a, b, &p), AIRY_ERR_PARAM, "axes = 1");
    p = (airy_stencil_params){.stencil = AIRY_STENCIL_SOBEL, .has_axis = true, .axis = 3};
    CHECK_FAILS(c, airy_stencil_run(c->queue, a, b, &p), AIRY_ERR_PARAM, "axis = 3");
    p = (airy_stencil_params){.stencil = AIRY_STENCIL_BOX, .size = {1, 0, 1}};
    CHECK_FAILS(c, airy_stencil_run(c->queue, a, b, &p), AIRY_ERR_PARAM, "size[1] = 0");
    p = (airy_stencil_params){.stencil = AIRY_STENCIL_LOG, .sigma = {1, 1, 0}};
    CHECK_FAILS(c, airy_stencil_run(c->queue, a, b, &p), AIRY_ERR_PARAM, "sigma[2] = 0");
    p.sigma[2] = 1000;
    CHECK_FAILS(c, airy_stencil_run(c->queue, a, b, &p), AIRY_ERR_PARAM, "radius of 4000");
    p = (airy_stencil_params){.stencil = AIRY_STENCIL_DOG, .sigma = {1, 1, 1}};
    CHECK_FAILS(c, airy_stencil_run(c->queue, a, b, &p), AIRY_ERR_PARAM, "sigma2 = 0");
    p.sigma2[0] = -1;
    p.sigma2[1] = 1;
    CHECK_FAILS(c, airy_stencil_run(c->queue, a, b, &p), AIRY_ERR_PARAM, "sigma = -1");
    p = (airy_stencil_params){.truncate = -1, .size = {1, 1, 1}};
    CHECK_FAILS(c, airy_stencil_run(c->queue, a, b, &p), AIRY_ERR_PARAM, "truncate = -1");
    p = (airy_stencil_params){.stencil = AIRY_STENCIL_COUNT};
    CHECK_FAILS(c, airy_stencil_run(c->queue, a, b, &p), AIRY_ERR_PARAM, "stencil = 7");
    p = (airy_stencil_params){
        .stencil = AIRY_STENCIL_SOBEL, .has_border = true, .border = AIRY_BORDER_COUNT};
    CHECK_FAILS(c, airy_stencil_run(c->queue, a, b, &p), AIRY_ERR_PARAM, "border = 6");
}

void check_stencil(struct check *c)
{
    static const struct shape shapes[] = {
        {1, {50}}, {2, {1, 1}}, {2, {19, 33}}, {2, {3, 40}}, {3, {6, 9, 11}}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        for (int stencil = 0; stencil < AIRY_STENCIL_COUNT; stencil++)
            for (int border = -1; border < AIRY_BORDER_COUNT; border++) {
                const airy_stencil_params p = {.stencil = (airy_stencil)stencil,
                                               .size = {3, 4, 5},
                                               .has_axis = border % 2 == 0,
                                               .sigma = {0.8, 1.1, 0.7},
                                               .sigma2 = {1.2, 0, 0.9},
                                               .has_border = border >= 0,
                                               .border = border < 0 ? AIRY_BORDER_ZERO
                                                                    : (airy_border)border,
                                               .border_value = 3};
                check_stencil_one(c, &shapes[i],
                                  (border + stencil) % 2 ? AIRY_DTYPE_F64 : AIRY_DTYPE_F32, &p);
            }
    check_stencil_refusals(c);
}
