/* Backgrounds: against their definition, and against SEP. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/background.h"
#include "airy/image.h"
#include "check.h"
#include "check_skies.h"
#include "ref_background.h"

struct image {
    airy_array *src, *mask;
    double *x; /* NaN: left out */
    size_t h, w;
};

/* What an image is made of. */
enum kind {
    KIND_SKY,    /* a slope, noise that grows, sources */
    KIND_COUNTS, /* few different whole numbers */
    KIND_HOLES,  /* sky with NaN here and there and meshes of nothing else */
    KIND_FLAT,   /* mostly one value */
    KIND_HOT     /* sky, and in it pixels of 10^3 to 10^30 */
};
static const char *const kind_names[] = {"sky", "counts", "holes", "flat", "hot"};

static double make_pixel(struct check *c, enum kind kind, size_t y, size_t x, double offset)
{
    const double sky = offset + 0.05 * (double)x - 0.002 * (double)y * (double)y / 100 +
                       (4 + 0.01 * (double)x) * check_normal(c) +
                       (check_uniform(c) < 0.01 ? 900 * check_uniform(c) : 0);
    switch (kind) {
    case KIND_COUNTS:
        return offset + floor(check_uniform(c) * check_uniform(c) * 9);
    case KIND_HOLES:
        return (y / 40 + x / 50) % 3 == 1 || check_uniform(c) < 0.1
                   ? (check_uniform(c) < 0.5 ? (double)NAN : (double)INFINITY)
                   : sky;
    case KIND_FLAT:
        return offset + (check_uniform(c) < 0.02 ? 1 + floor(3 * check_uniform(c)) : 0);
    case KIND_HOT:
        return check_uniform(c) < 0.003 ? pow(10, 3 + 27 * check_uniform(c)) : sky;
    default:
        return sky;
    }
}

static struct image make_image(struct check *c, airy_dtype dtype, size_t h, size_t w,
                               enum kind kind, double offset, bool masked, bool view)
{
    const size_t border = view ? 5 : 0, hh = h + 2 * border, ww = w + 2 * border;
    const size_t shape[2] = {hh, ww}, start[2] = {border, border}, inner[2] = {h, w};
    struct image image = {.x = check_alloc(c, h * w * sizeof(double)), .h = h, .w = w};
    char *data = check_alloc(c, hh * ww * airy_dtype_size(dtype));
    uint8_t *mask = check_alloc(c, hh * ww);
    const airy_image all = {.dtype = dtype, .ndim = 2, .shape = {hh, ww}, .data = data};
    for (size_t i = 0; i < hh * ww; i++) {
        check_put(data, dtype, i, make_pixel(c, kind, i / ww, i % ww, offset));
        mask[i] = check_uniform(c) < 0.2 ? 3 : 0;
    }
    for (size_t i = 0; i < h * w; i++) {
        const size_t at = (i / w + border) * ww + i % w + border;
        image.x[i] = masked && mask[at] ? (double)NAN : airy_image_value(&all, at);
    }
    image.src = check_upload(c, dtype, 2, shape, data);
    image.mask = masked ? check_upload(c, AIRY_DTYPE_U8, 2, shape, mask) : NULL;
    if (view) {
        image.src = check_view(c, image.src, start, inner);
        image.mask = masked ? check_view(c, image.mask, start, inner) : NULL;
    }
    return image;
}

static struct ref_background ref_of(const airy_background_params *p, size_t h, size_t w)
{
    struct ref_background r = {.height = h,
                               .width = w,
                               .threshold = p->filter_threshold,
                               .estimate = (int)p->estimate,
                               .sep = p->compat_sep};
    for (int i = 0; i < 2; i++) {
        r.mesh[i] = p->mesh[i] ? p->mesh[i] : 64;
        r.filter[i] = p->filter[i] ? p->filter[i] : 3;
    }
    return r;
}

/* Maps by the definition. */
struct want {
    struct ref_nodes nodes;
    double *level, *noise, largest;
};

static bool make_want(struct check *c, struct want *want, const struct image *image,
                      const airy_background_params *p)
{
    const struct ref_background r = ref_of(p, image->h, image->w);
    double least = (double)INFINITY;
    want->level = check_alloc(c, image->h * image->w * sizeof(double));
    want->noise = check_alloc(c, image->h * image->w * sizeof(double));
    if (!ref_background_nodes(&want->nodes, image->x, &r)) {
        free(want->nodes.level);
        free(want->nodes.noise);
        return false;
    }
    ref_background_map(want->level, want->nodes.level, &r);
    ref_background_map(want->noise, want->nodes.noise, &r);
    want->largest = 0;
    for (size_t i = 0; i < want->nodes.ny * want->nodes.nx; i++) {
        least = fmin(least, want->nodes.noise[i]);
        want->largest = fmax(want->largest, fabs(want->nodes.level[i]) + want->nodes.noise[i]);
    }
    for (size_t i = 0; i < image->h * image->w && !p->compat_sep; i++)
        want->noise[i] = fmax(want->noise[i], least);
    free(want->nodes.level);
    free(want->nodes.noise);
    return true;
}

static void compare_maps(struct check *c, const airy_background *b, const struct want *want,
                         const struct image *image, airy_dtype dtype)
{
    const size_t shape[2] = {image->h, image->w}, n = image->h * image->w;
    airy_array *level = check_output(c, dtype, 2, shape), *noise = check_output(c, dtype, 2, shape),
               *less = check_output(c, dtype, 2, shape), *other = check_output(c, dtype, 2, shape);
    char *want_level = check_alloc(c, n * 8), *want_noise = check_alloc(c, n * 8),
         *want_less = check_alloc(c, n * 8);
    const airy_image pixels = {.dtype = AIRY_DTYPE_F64, .ndim = 1, .shape = {n}, .data = image->x};
    double *src = check_alloc(c, n * sizeof(double)), most = want->largest;
    airy_array *f64 = check_upload(c, AIRY_DTYPE_F64, 2, shape, pixels.data);
    for (size_t i = 0; i < n; i++) {
        src[i] = airy_image_value(&pixels, i);
        most = fmax(most, isfinite(src[i]) ? fabs(src[i]) : 0);
        check_put(want_level, dtype, i, want->level[i]);
        check_put(want_noise, dtype, i, want->noise[i]);
        check_put(want_less, dtype, i, src[i] - want->level[i]);
    }
    /* The header's, of the largest node or pixel. The cubic of a piece has terms of up to some ten
     * times the nodes. */
    const struct check_tol tol = {.abs = dtype == AIRY_DTYPE_F32 ? ldexp(most, -22) : 1e-13 * most};
    if (CHECK_OK(c, airy_background_map(c->queue, b, level, noise))) {
        check_array(c, level, want_level, &tol);
        check_array(c, noise, want_noise, &tol);
    }
    if (CHECK_OK(c, airy_background_subtract(c->queue, b, less, f64, other))) {
        check_array(c, less, want_less, &tol);
        check_array(c, other, want_noise, &tol);
    }
}

static void check_one(struct check *c, airy_dtype dtype, size_t h, size_t w, enum kind kind,
                      double offset, const airy_background_params *p, const char *variant)
{
    if (!check_case(c, "background_%s_%zux%zu_%s_%g_%s", airy_dtype_name(dtype), h, w,
                    kind_names[kind], offset, variant))
        return;
    const bool masked = (h + w) % 2 == 1, view = h % 3 == 0;
    struct image image = make_image(c, dtype, h, w, kind, offset, masked, view);
    struct want want;
    airy_background *b = NULL;
    airy_background_info info;
    if (!make_want(c, &want, &image, p)) {
        CHECK_FAILS(c, airy_background_create(&b, c->queue, image.src, image.mask, p, &info),
                    AIRY_ERR_PARAM, "not one has half");
    } else if (CHECK_OK(c, airy_background_create(&b, c->queue, image.src, image.mask, p, &info))) {
        CHECK(c, info.nodes[0] == want.nodes.ny && info.nodes[1] == want.nodes.nx &&
                     info.bad == want.nodes.bad);
        /* Nodes are made of whole numbers once the bins are filled. */
        CHECK(c, fabs(info.level - want.nodes.middle_level) <= 1e-14 * want.largest);
        CHECK(c, fabs(info.noise - want.nodes.middle_noise) <= 1e-14 * want.largest);
        compare_maps(c, b, &want, &image, AIRY_DTYPE_F64);
        compare_maps(c, b, &want, &image, AIRY_DTYPE_F32);
    }
    airy_background_destroy(&b);
    CHECK(c, b == NULL);
}

/* An image that SEP has been given, pixels malloc'ed. */
struct golden {
    const char *name; /* of the group in background_sep.h5 */
    const char *file; /* under AIRY_REALDATA; NULL: a simulated sky */
    size_t height, width, random;
    uint64_t seed;
    double blank;
    airy_background_params params;
    size_t step; /* every so many pixels are in the group */
    double level, noise;
};

static float *simulate(const struct golden *g)
{
    const struct check_sky sky = {g->height, g->width, g->random, g->seed, g->blank};
    float *pixels = malloc(g->height * g->width * sizeof(*pixels));
    if (pixels && !check_simulate_sky(pixels, &sky)) {
        free(pixels);
        return NULL;
    }
    return pixels;
}

static bool load_golden(struct check *c, airy_image *image, const struct golden *g)
{
    *image = (airy_image){.dtype = AIRY_DTYPE_F32, .ndim = 2, .shape = {g->height, g->width}};
    if (!g->file) {
        image->data = simulate(g);
        return CHECK(c, image->data != NULL);
    }
    const char *path = check_realdata(c, g->file);
    if (!path)
        return false;
    const airy_status status = airy_image_read(image, path);
    if (status == AIRY_ERR_UNSUPPORTED) {
        check_skip(c, "%s", airy_last_error());
        return false;
    }
    if (!CHECK_OK(c, status))
        return false;
    /* Axes of length 1 in front. */
    while (image->ndim > 2 && image->shape[0] == 1) {
        memmove(image->shape, image->shape + 1, (AIRY_MAX_DIMS - 1) * sizeof(size_t));
        image->ndim--;
    }
    return CHECK(c, image->ndim == 2);
}

/* Every step-th pixel of a map against what SEP gave. */
static void compare_golden(struct check *c, const struct golden *g, const char *what,
                           const airy_array *map, const size_t shape[2], double tolerance)
{
    char name[64];
    airy_image want = {.data = NULL};
    const char *path = check_golden(c, "astro/background_sep.h5");
    if (!path)
        return;
    char *full = check_alloc(c, strlen(path) + sizeof(name));
    snprintf(name, sizeof(name), "::%s/%s", g->name, what);
    strcat(strcpy(full, path), name);
    float *got = check_alloc(c, shape[0] * shape[1] * sizeof(*got));
    if (CHECK_OK(c, airy_image_read(&want, full)) &&
        CHECK_OK(c, airy_array_pull(c->queue, got, shape[0] * shape[1] * sizeof(*got), map))) {
        const size_t rows = want.shape[0], columns = want.shape[1];
        float *some = check_alloc(c, rows * columns * sizeof(*some));
        CHECK(c, rows == (shape[0] - 1) / g->step + 1 && columns == (shape[1] - 1) / g->step + 1);
        for (size_t i = 0; i < rows * columns; i++)
            some[i] = got[i / columns * g->step * shape[1] + i % columns * g->step];
        check_values(c, what, AIRY_DTYPE_F32, some, want.data, rows * columns,
                     &(struct check_tol){.abs = tolerance});
    }
    airy_image_free(&want);
}

static void check_golden_one(struct check *c, const struct golden *g)
{
    airy_image image;
    if (!check_case(c, "background_sep_%s", g->name) || !load_golden(c, &image, g))
        return;
    airy_background *b = NULL;
    airy_background_info info;
    airy_background_params params = g->params;
    params.compat_sep = true;
    airy_array *src = check_upload(c, image.dtype, 2, image.shape, image.data),
               *level = check_output(c, AIRY_DTYPE_F32, 2, image.shape),
               *noise = check_output(c, AIRY_DTYPE_F32, 2, image.shape);
    if (CHECK_OK(c, airy_background_create(&b, c->queue, src, NULL, &params, &info)) &&
        CHECK_OK(c, airy_background_map(c->queue, b, level, noise))) {
        /* Of f32 numbers, as are SEP's nodes. */
        CHECK(c, fabs(info.level - g->level) <= 1e-6 * (fabs(g->level) + g->noise));
        CHECK(c, fabs(info.noise - g->noise) <= 1e-6 * (fabs(g->level) + g->noise));
        /* The golden files' tolerance. */
        compare_golden(c, g, "level", level, image.shape, 1e-3 * g->noise);
        compare_golden(c, g, "noise", noise, image.shape, 1e-3 * g->noise);
    }
    airy_background_destroy(&b);
    airy_image_free(&image);
}

static void check_golden_all(struct check *c)
{
#define SKY512             .height = 512, .width = 512, .random = 40, .seed = 20240001, .step = 8
#define MESH(y, x, fy, fx) .params = {.mesh = {y, x}, .filter = {fy, fx} }
    static const struct golden all[] = {
        {"sky512", SKY512, .level = 0.0003843014710582793, .noise = 0.013458359986543655},
        {"sky512_32_5", SKY512, MESH(32, 32, 5, 5), .level = 5.190979936742224e-05,
         .noise = 0.013236676342785358},
        {"sky512_37x50_3x5", SKY512, MESH(50, 37, 5, 3), .level = 0.00015219103079289198,
         .noise = 0.013289367780089378},
        {"sky512_600", SKY512, MESH(100, 600, 3, 3), .level = 0.00010716453834902495,
         .noise = 0.013494578190147877},
        {"sky512_100x600", SKY512, MESH(600, 100, 3, 3), .level = 0.0002923359861597419,
         .noise = 0.013401590287685394},
        {"sky512_9_1", SKY512, MESH(9, 9, 1, 1), .level = 0.00038237363332882524,
         .noise = 0.012059678323566914},
        {"sky512_threshold", SKY512, .params = {.filter_threshold = 0.0005},
         .level = 0.0003843014710582793, .noise = 0.013316964730620384},
        {"skynan480x640", .height = 480, .width = 640, .random = 45, .seed = 20240002,
         .blank = 1.55, .step = 8, .level = 0.0002790390281006694, .noise = 0.013131861574947834},
        {"sky2048", .height = 2048, .width = 2048, .random = 230, .seed = 20240003, .step = 24,
         .level = -6.695026968372986e-06, .noise = 0.013012013398110867},
        {"real_m13", .file = "astro/astropy/m13.fits", .step = 5, .level = 116.79509735107422,
         .noise = 4.049408912658691},
        {"real_image", .file = "astro/sep/image.fits", .step = 4, .level = 6852.04931640625,
         .noise = 65.46174621582031},
        {"real_1904-66_SIN", .file = "astro/aegean/1904-66_SIN.fits", .step = 4,
         .level = -0.016706716269254684, .noise = 0.05718152970075607},
        {"real_ScorpioFaintSNRField", .file = "astro/caesar/ScorpioFaintSNRField.fits", .step = 16,
         .level = 0.00011929984611924738, .noise = 8.564353629481047e-05},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        check_golden_one(c, &all[i]);
#undef SKY512
#undef MESH
}

/* The same for an image on a pedestal, and for one that is scaled by a power of two. */
static void check_pedestal(struct check *c, double offset, double scale)
{
    if (!check_case(c, "background_pedestal_%g_%g", offset, scale))
        return;
    struct image image = make_image(c, AIRY_DTYPE_F64, 150, 130, KIND_SKY, 0, false, false);
    const size_t shape[2] = {150, 130};
    for (size_t i = 0; i < 150 * 130; i++) /* on a grid that offset does not disturb */
        image.x[i] = round(image.x[i] * 1024) / 1024;
    airy_array *low = check_upload(c, AIRY_DTYPE_F64, 2, shape, image.x);
    for (size_t i = 0; i < 150 * 130; i++)
        image.x[i] = (image.x[i] + offset) * scale;
    airy_array *high = check_upload(c, AIRY_DTYPE_F64, 2, shape, image.x);
    airy_background *b[2] = {NULL, NULL};
    airy_background_info info[2];
    if (CHECK_OK(c, airy_background_create(&b[0], c->queue, low, NULL, NULL, &info[0])) &&
        CHECK_OK(c, airy_background_create(&b[1], c->queue, high, NULL, NULL, &info[1]))) {
        /* The level is as exact as its own rounding. */
        CHECK(c, fabs(info[1].level / scale - offset - info[0].level) <=
                     1e-15 * offset + 1e-12 * info[0].noise);
        CHECK(c, fabs(info[1].noise / scale - info[0].noise) <= 1e-12 * info[0].noise);
    }
    airy_background_destroy(&b[0]);
    airy_background_destroy(&b[1]);
}

/* Results that can be said without arithmetic. */
static void check_plain(struct check *c, size_t h, size_t w, double value)
{
    if (!check_case(c, "background_constant_%zux%zu_%g", h, w, value))
        return;
    const size_t shape[2] = {h, w}, n = h * w;
    double *x = check_alloc(c, n * 8), *zero = check_alloc(c, n * 8),
           *level = check_alloc(c, n * 8);
    for (size_t i = 0; i < n; i++)
        x[i] = level[i] = value;
    if (n > 1)
        x[n / 2] = (double)NAN;
    airy_array *src = check_upload(c, AIRY_DTYPE_F64, 2, shape, x),
               *map = check_output(c, AIRY_DTYPE_F64, 2, shape),
               *noise = check_output(c, AIRY_DTYPE_F64, 2, shape);
    airy_background *b = NULL;
    airy_background_info info;
    if (CHECK_OK(c, airy_background_create(&b, c->queue, src, NULL, NULL, &info)) &&
        CHECK_OK(c, airy_background_map(c->queue, b, map, noise))) {
        CHECK(c, info.level == value && info.noise == 0 && info.bad == 0);
        check_array(c, map, level, &(struct check_tol){.rel = 1e-15});
        check_array(c, noise, zero, NULL);
        CHECK_OK(c, airy_background_subtract(c->queue, b, src, src, NULL));
        if (n > 1)
            zero[n / 2] = (double)NAN;
        check_array(c, src, zero, &(struct check_tol){.abs = 1e-15 * fabs(value)});
    }
    airy_background_destroy(&b);
}

/*
 * Poisson counts of a mean; rare: `step` above 100 with that probability. The noise of one mesh of n
 * = 4096 pixels has a relative sampling error of sqrt((kurtosis - 1) / n) / 2, kurtosis 3 + 1 / mean,
 * and the median of 16 a third of it; 4 percent are the pixels beyond 3 standard deviations.
 */
static void check_counts(struct check *c, airy_dtype dtype, double mean, double step)
{
    enum { SIZE = 256, MESH = 64 * 64 };
    const size_t shape[2] = {SIZE, SIZE};
    if (!check_case(c, "background_%s_%s_%g", step > 0 ? "rare" : "poisson", airy_dtype_name(dtype),
                    mean))
        return;
    char *data = check_alloc(c, SIZE * SIZE * airy_dtype_size(dtype));
    for (size_t i = 0; i < SIZE * SIZE; i++) {
        double n = 0;
        for (double p = check_uniform(c); step == 0 && p > exp(-mean); p *= check_uniform(c))
            n++;
        check_put(data, dtype, i, step > 0 ? 100 + (check_uniform(c) < mean ? step : 0) : n);
    }
    airy_array *src = check_upload(c, dtype, 2, shape, data);
    airy_background *b = NULL;
    airy_background_info info;
    const double scale = step > 0 ? step : 1, want = scale * sqrt(mean);
    if (CHECK_OK(c, airy_background_create(&b, c->queue, src, NULL, NULL, &info))) {
        CHECK(c, fabs(info.noise / want - 1) <= 0.5 * sqrt((2 + 1 / mean) / MESH) + 0.04);
        CHECK(c, fabs(info.level - (step > 0 ? 100 : 0) - scale * mean) <=
                     want / sqrt(MESH) + 0.04 * scale * mean);
    }
    airy_background_destroy(&b);
}

/* Source and result of every dtype, in place too. */
static void check_dtypes(struct check *c, airy_dtype from, airy_dtype to)
{
    if (!check_case(c, "background_subtract_%s_%s", airy_dtype_name(from), airy_dtype_name(to)))
        return;
    enum { H = 67, W = 85 }; /* five meshes each way, the last ones cut */
    struct image image = make_image(c, from, H, W, KIND_COUNTS, 30, false, true);
    const airy_background_params p = {.mesh = {16, 21}};
    const size_t shape[2] = {H, W}, n = (size_t)H * W;
    struct want want;
    airy_background *b = NULL;
    airy_array *dst = check_output(c, to, 2, shape);
    char *less = check_alloc(c, n * 8);
    if (CHECK(c, make_want(c, &want, &image, &p)) &&
        CHECK_OK(c, airy_background_create(&b, c->queue, image.src, NULL, &p, NULL)) &&
        CHECK_OK(c, airy_background_subtract(c->queue, b, dst, image.src, NULL))) {
        /* Pixels and nodes below 40. */
        const struct check_tol tol = {.abs = to == AIRY_DTYPE_F32 ? 40 * 0x1p-22 : 40e-13};
        for (size_t i = 0; i < n; i++)
            check_put(less, to, i, image.x[i] - want.level[i]);
        check_array(c, dst, less, &tol);
        if (from == to &&
            CHECK_OK(c, airy_background_subtract(c->queue, b, image.src, image.src, NULL)))
            check_array(c, image.src, less, &tol);
    }
    airy_background_destroy(&b);
}

static void check_errors(struct check *c)
{
    if (!check_case(c, "background_errors"))
        return;
    const size_t shape[2] = {4, 5}, other[2] = {5, 4}, line[1] = {20}, start[2] = {0, 1},
                 part[2] = {4, 4};
    float data[20];
    const uint8_t bytes[20] = {0};
    for (int i = 0; i < 20; i++)
        data[i] = i < 11 ? NAN : 1;
    airy_array *src = check_upload(c, AIRY_DTYPE_F32, 2, shape, data),
               *good = check_upload(c, AIRY_DTYPE_U8, 2, shape, bytes),
               *mask = check_upload(c, AIRY_DTYPE_U8, 2, other, bytes),
               *flat = check_upload(c, AIRY_DTYPE_F32, 1, line, data),
               *out = check_output(c, AIRY_DTYPE_F32, 2, shape),
               *narrow = check_output(c, AIRY_DTYPE_F32, 2, part), *left, *right;
    airy_background *b = NULL;
    airy_background_params p = {.compat_sep = true};
    CHECK_OK(c, airy_array_view(&left, out, (size_t[2]){0, 0}, part));
    CHECK_OK(c, airy_array_view(&right, out, start, part));
#define CREATE(image, mask, params) airy_background_create(&b, c->queue, image, mask, params, NULL)
    CHECK_FAILS(c, airy_background_create(NULL, c->queue, src, NULL, NULL, NULL), AIRY_ERR_PARAM,
                "background is NULL");
    CHECK_FAILS(c, airy_background_create(&b, NULL, src, NULL, NULL, NULL), AIRY_ERR_PARAM,
                "queue is NULL");
    CHECK_FAILS(c, CREATE(NULL, NULL, NULL), AIRY_ERR_PARAM, "image is NULL");
    CHECK_FAILS(c, CREATE(flat, NULL, NULL), AIRY_ERR_SHAPE, "two dimensions");
    CHECK_FAILS(c, CREATE(src, mask, NULL), AIRY_ERR_SHAPE, "[5, 4]");
    CHECK_FAILS(c, CREATE(src, out, NULL), AIRY_ERR_DTYPE, "uint8");
    CHECK_FAILS(c, CREATE(src, NULL, NULL), AIRY_ERR_PARAM, "no background");
    CHECK_FAILS(c, CREATE(src, NULL, &p), AIRY_ERR_PARAM, "no background");
    p.mesh[0] = 1;
    CHECK_FAILS(c, CREATE(good, NULL, &p), AIRY_ERR_PARAM, "mesh along y = 1");
    p = (airy_background_params){.mesh = {2, 40000}};
    CHECK_FAILS(c, CREATE(good, NULL, &p), AIRY_ERR_PARAM, "mesh along x = 40000");
    p = (airy_background_params){.filter = {3, 4}};
    CHECK_FAILS(c, CREATE(good, NULL, &p), AIRY_ERR_PARAM, "filter along x = 4");
    p = (airy_background_params){.filter = {65, 3}};
    CHECK_FAILS(c, CREATE(good, NULL, &p), AIRY_ERR_PARAM, "filter along y = 65");
    p = (airy_background_params){.filter_threshold = (double)NAN};
    CHECK_FAILS(c, CREATE(good, NULL, &p), AIRY_ERR_PARAM, "filter_threshold");
    p = (airy_background_params){.estimate = AIRY_BACKGROUND_ESTIMATE_COUNT};
    CHECK_FAILS(c, CREATE(good, NULL, &p), AIRY_ERR_PARAM, "estimate");
    CHECK(c, b == NULL);
    if (CHECK_OK(c, CREATE(good, NULL, NULL))) {
        CHECK_FAILS(c, airy_background_map(NULL, b, out, NULL), AIRY_ERR_PARAM, "queue");
        CHECK_FAILS(c, airy_background_map(c->queue, NULL, out, NULL), AIRY_ERR_PARAM,
                    "background");
        CHECK_FAILS(c, airy_background_map(c->queue, b, NULL, NULL), AIRY_ERR_PARAM, "level and");
        CHECK_FAILS(c, airy_background_map(c->queue, b, good, NULL), AIRY_ERR_DTYPE, "float32");
        CHECK_FAILS(c, airy_background_map(c->queue, b, narrow, NULL), AIRY_ERR_SHAPE, "[4, 5]");
        CHECK_FAILS(c, airy_background_map(c->queue, b, out, out), AIRY_ERR_PARAM, "share");
        CHECK_FAILS(c, airy_background_subtract(NULL, b, out, src, NULL), AIRY_ERR_PARAM, "queue");
        CHECK_FAILS(c, airy_background_subtract(c->queue, NULL, out, src, NULL), AIRY_ERR_PARAM,
                    "background");
        CHECK_FAILS(c, airy_background_subtract(c->queue, b, NULL, src, NULL), AIRY_ERR_PARAM,
                    "dst");
        CHECK_FAILS(c, airy_background_subtract(c->queue, b, out, NULL, NULL), AIRY_ERR_PARAM,
                    "src");
        CHECK_FAILS(c, airy_background_subtract(c->queue, b, out, mask, NULL), AIRY_ERR_SHAPE,
                    "src");
        CHECK_FAILS(c, airy_background_subtract(c->queue, b, out, src, src), AIRY_ERR_PARAM,
                    "share");
    }
    airy_background_destroy(&b);
    const airy_array *inner = left;
    if (CHECK_OK(c, airy_array_copy(c->queue, left, narrow)) &&
        CHECK_OK(c, airy_array_fill(c->queue, out, 1)) && CHECK_OK(c, CREATE(inner, NULL, NULL)))
        CHECK_FAILS(c, airy_background_subtract(c->queue, b, right, left, NULL), AIRY_ERR_PARAM,
                    "share");
    airy_background_destroy(&b);
    airy_background_destroy(&b);
    airy_background_destroy(NULL);
    airy_array_destroy(&left);
    airy_array_destroy(&right);
#undef CREATE
}

static void check_speed(struct check *c, size_t mesh)
{
    if (!check_case(c, "background_speed_2048x2048_m%zu", mesh))
        return;
    const struct golden g = {.height = 2048, .width = 2048, .random = 230, .seed = 20240003};
    const size_t shape[2] = {2048, 2048};
    float *pixels = simulate(&g);
    if (!CHECK(c, pixels != NULL))
        return;
    const airy_background_params p = {.mesh = {mesh, mesh}};
    airy_array *src = check_upload(c, AIRY_DTYPE_F32, 2, shape, pixels),
               *dst = check_output(c, AIRY_DTYPE_F32, 2, shape),
               *noise = check_output(c, AIRY_DTYPE_F32, 2, shape);
    airy_background *b = NULL;
    free(pixels);
    if (CHECK_OK(c, airy_background_create(&b, c->queue, src, NULL, &p, NULL)))
        CHECK_OK(c, airy_background_subtract(c->queue, b, dst, src, noise));
    airy_background_destroy(&b);
    CHECK_BENCH(
        c, 0x1p24, 0,
        (airy_background_create(&b, c->queue, src, NULL, &p, NULL), airy_background_destroy(&b)));
    if (CHECK_OK(c, airy_background_create(&b, c->queue, src, NULL, &p, NULL)))
        CHECK_BENCH(
            c, 3 * 0x1p24, 0,
            (airy_background_subtract(c->queue, b, dst, src, noise), airy_queue_finish(c->queue)));
    airy_background_destroy(&b);
}

void check_backgrounds(struct check *c)
{
    static const size_t shapes[][2] = {{1, 1},    {1, 2},     {1, 300},  {257, 1},
                                       {5, 7},    {64, 64},   {63, 65},  {65, 63},
                                       {128, 64}, {150, 201}, {192, 256}};
    static const struct {
        const char *name;
        airy_background_params params;
    } variants[] = {
        {"default", {.mesh = {0, 0}}},
        {"sep", {.compat_sep = true}},
        {"median", {.mesh = {17, 32}, .estimate = AIRY_BACKGROUND_MEDIAN}},
        {"mean", {.mesh = {32, 9}, .estimate = AIRY_BACKGROUND_MEAN, .filter = {5, 1}}},
        {"small", {.mesh = {2, 3}, .filter = {7, 3}, .filter_threshold = 0.5}},
        {"large", {.mesh = {300, 32768}, .filter = {1, 1}}},
        {"sep_odd", {.mesh = {15, 22}, .filter = {1, 5}, .compat_sep = true}},
    };
    for (size_t v = 0; v < sizeof(variants) / sizeof(variants[0]); v++)
        for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
            for (int kind = 0; kind <= KIND_HOT; kind++)
                check_one(c, kind == KIND_SKY ? AIRY_DTYPE_F32 : AIRY_DTYPE_F64, shapes[i][0],
                          shapes[i][1], (enum kind)kind, i % 2 == 0 ? 0 : 1000, &variants[v].params,
                          variants[v].name);
    check_one(c, AIRY_DTYPE_F32, 700, 600, KIND_SKY, 50,
              &(airy_background_params){.mesh = {300, 400}}, "streamed");
    for (int dtype = 0; dtype < AIRY_DTYPE_COUNT; dtype++) {
        check_dtypes(c, (airy_dtype)dtype, AIRY_DTYPE_F32);
        check_dtypes(c, (airy_dtype)dtype, AIRY_DTYPE_F64);
    }
    check_pedestal(c, 0x1p30, 1);
    check_pedestal(c, 0x1p40, 1);
    check_pedestal(c, 0, 0x1p400);
    check_pedestal(c, 0, 0x1p-400);
    static const double values[] = {0, 5.3, -1e9, 1e100, 1e-300};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        check_plain(c, 1, 1, values[i]);
        check_plain(c, 100, 130, values[i]);
    }
    static const double means[] = {0.001, 0.01, 0.05, 0.1, 0.3, 1};
    for (size_t i = 0; i < sizeof(means) / sizeof(means[0]); i++) {
        check_counts(c, AIRY_DTYPE_F32, means[i], 0);
        check_counts(c, i % 2 ? AIRY_DTYPE_U8 : AIRY_DTYPE_U16, means[i], 0);
    }
    check_counts(c, AIRY_DTYPE_U8, 0.002, 5);
    check_counts(c, AIRY_DTYPE_F32, 0.002, 0.125);
    check_golden_all(c);
    check_errors(c);
    check_speed(c, 64);
    check_speed(c, 16);
    check_speed(c, 256);
}
