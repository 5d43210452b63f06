/* Sources: against their definition. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "ref_sources.h"
#include "sources/sources_parts.h"

static const double blur[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};

/* What an image is made of. Values are whole numbers, so that filtered ones are exact in f32. */
enum kind { NOISE, STARS, HOLES, KINDS };
static const char *const kind_names[KINDS] = {"noise", "stars", "holes"};

static void add_star(double *value, const size_t shape[2], double x, double y, double sigma,
                     double height)
{
    for (size_t i = 0; i < shape[0] * shape[1]; i++) {
        const double dx = (double)(i % shape[1]) - x, dy = (double)(i / shape[1]) - y;
        value[i] += floor(height * exp(-(dx * dx + dy * dy) / (2 * sigma * sigma)));
    }
}

static double *make_values(struct check *c, enum kind kind, const size_t shape[2])
{
    const size_t n = shape[0] * shape[1];
    double *value = check_alloc(c, n * sizeof(*value));
    for (size_t i = 0; i < n; i++)
        value[i] = floor((kind == NOISE ? 200 : 40) * (check_uniform(c) - 0.5));
    for (size_t i = 0; kind != NOISE && i < n / 60 + 1; i++)
        add_star(value, shape, check_uniform(c) * (double)shape[1],
                 check_uniform(c) * (double)shape[0], 1 + 2 * check_uniform(c),
                 60 / (0.02 + check_uniform(c)));
    for (size_t i = 0; kind == HOLES && i < n; i++)
        if (check_uniform(c) < 0.05)
            value[i] = (double)NAN;
    return value;
}

static airy_array *upload(struct check *c, const double *value, const size_t shape[2])
{
    const size_t n = shape[0] * shape[1];
    float *data = check_alloc(c, n * sizeof(*data));
    for (size_t i = 0; i < n; i++)
        data[i] = (float)value[i];
    return check_upload(c, AIRY_DTYPE_F32, 2, shape, data);
}

static bool near(double got, double want, double allowed)
{
    return fabs(got - want) <= allowed;
}

/* Without deblending, pixel for pixel. */
static void compare_sources(struct check *c, const airy_source *s, size_t count,
                            const uint32_t *labels, const double *filtered,
                            const struct ref_field *field)
{
    for (size_t i = 0; i < count; i++) {
        struct ref_source want;
        ref_source_measure(&want, (uint32_t)i + 1, labels, filtered, field);
        CHECK(c, s[i].label == i + 1 && s[i].npix == want.npix);
        CHECK(c, s[i].xmin == want.xmin && s[i].xmax == want.xmax && s[i].ymin == want.ymin &&
                     s[i].ymax == want.ymax && s[i].peak == want.peak);
        /* Sums of whole numbers, and quotients of them; moments are about the corner of the box,
         * which is some 10^2 px away, where 10^4 px^2 cancel: 10^4 n 2^-53 for n <= 10^4. */
        CHECK(c, near(s[i].flux, want.flux, 1e-9) && near(s[i].filtered_flux, want.filtered, 1e-9));
        CHECK(c, near(s[i].x, want.x, 1e-9) && near(s[i].y, want.y, 1e-9));
        const double more = s[i].flags & AIRY_SOURCE_SINGULAR ? 1.0 / 12 : 0;
        CHECK(c, near(s[i].xx, want.xx + more, 1e-8) && near(s[i].yy, want.yy + more, 1e-8) &&
                     near(s[i].xy, want.xy, 1e-8));
        CHECK(c, (more > 0) == (want.xx * want.yy - want.xy * want.xy < 0.00694));
        const bool edge = want.xmin == 0 || want.ymin == 0 || want.xmax + 1 == field->width ||
                          want.ymax + 1 == field->height;
        CHECK(c, edge == ((s[i].flags & AIRY_SOURCE_EDGE) != 0));
        /* The ellipse has the moments. */
        const double a2 = s[i].a * s[i].a, b2 = s[i].b * s[i].b, size = a2 + b2;
        CHECK(c, near(size, s[i].xx + s[i].yy, 1e-9 * size) &&
                     near((a2 - b2) * sin(2 * s[i].theta), 2 * s[i].xy, 1e-9 * size));
        CHECK(c, s[i].theta > -1.5707963267948968 && s[i].theta <= 1.5707963267948968);
        CHECK(c, near(s[i].cxx * s[i].xx + s[i].cyy * s[i].yy + s[i].cxy * s[i].xy, 2, 1e-9));
    }
}

enum { FILTER = 1, MAP = 2, MATCHED = 4 };

static void check_detect_one(struct check *c, enum kind kind, const size_t shape[2],
                             int connectivity, unsigned with)
{
    const bool filter = with & FILTER, map = with & MAP, matched = with & MATCHED;
    if (!check_case(c, "sources_find_%s_%zux%zu_%d%s%s%s", kind_names[kind], shape[0], shape[1],
                    connectivity, filter ? "_filter" : "", map ? "_map" : "",
                    matched ? "_matched" : ""))
        return;
    const size_t n = shape[0] * shape[1];
    double *value = make_values(c, kind, shape), *filtered = check_alloc(c, n * sizeof(double)),
           *noise = check_alloc(c, n * sizeof(double));
    uint32_t *labels = check_alloc(c, n * sizeof(*labels));
    struct ref_field field = {.width = shape[1],
                              .height = shape[0],
                              .value = value,
                              .kernel = filter ? blur : NULL,
                              .threshold = matched ? 2.0307
                                           : map   ? 2
                                                   : 40,
                              .noise = map || matched ? noise : NULL,
                              .matched = matched,
                              .axes = connectivity == 8 ? 2 : 1,
                              .min_area = 3};
    airy_sources_params params = {.connectivity = connectivity,
                                  .min_area = 3,
                                  .deblend_levels = 1,
                                  .kernel = filter ? blur : NULL,
                                  .kernel_shape = {3, 3},
                                  .sigma = matched ? 2.0307
                                                   : 2, /* no pixel is as near as rounding */
                                  .matched = matched,
                                  .noise = map ? 0 : 20};
    for (size_t i = 0; i < n; i++)
        noise[i] = !map          ? 20
                   : i % 97 == 5 ? 0
                   : i % 89 == 7 ? (double)NAN
                   : i % 83 == 9 ? (double)INFINITY
                                 : 10 + (double)(i % 20);
    airy_array *image = upload(c, value, shape), *d_noise = upload(c, noise, shape),
               *got = check_output(c, AIRY_DTYPE_U32, 2, shape);
    if (map)
        params.noise_map = d_noise;
    for (size_t i = 0; map && i < n; i++)
        value[i] = noise[i] > 0 && !isinf(noise[i]) ? value[i] : (double)NAN;
    const size_t want = ref_sources_find(labels, filtered, &field);
    airy_source *s = NULL;
    size_t count = 0;
    if (!CHECK_OK(c, airy_sources_find(c->queue, &s, &count, got, image, &params)))
        return;
    CHECK(c, count == want);
    /* Matched pixels can be below 0, and their moments without digits. */
    if (check_array(c, got, labels, NULL) && !matched)
        compare_sources(c, s, count, labels, filtered, &field);
    airy_sources_free(s);
}

enum { MOST_CORES = 512 };

/* Every core is in a source of its own, with its position; all of the island belongs to one. */
static void compare_split(struct check *c, const airy_source *s, const uint32_t *got,
                          const struct ref_core *cores, size_t count, const uint32_t *core,
                          const struct ref_field *field)
{
    for (size_t i = 0; i < field->width * field->height; i++)
        if (core[i] && !CHECK(c, got[i] == got[cores[core[i] - 1].first]))
            return;
    for (size_t i = 0; i < count; i++) {
        const uint32_t label = got[cores[i].first];
        CHECK(c, near(s[label - 1].x, cores[i].x, 1e-9) && near(s[label - 1].y, cores[i].y, 1e-9));
        CHECK(c, s[label - 1].flags & AIRY_SOURCE_MERGED && s[label - 1].npix >= cores[i].npix);
    }
}

static void check_split_one(struct check *c, const size_t shape[2], int connectivity, int levels,
                            double contrast)
{
    if (!check_case(c, "sources_split_%zux%zu_%d_%d_%g", shape[0], shape[1], connectivity, levels,
                    contrast))
        return;
    const size_t n = shape[0] * shape[1];
    double *value = make_values(c, STARS, shape), *filtered = check_alloc(c, n * sizeof(double));
    uint32_t *labels = check_alloc(c, n * sizeof(*labels)), *core = check_alloc(c, n * 4),
             *got = check_alloc(c, n * sizeof(*got));
    const struct ref_field field = {.width = shape[1],
                                    .height = shape[0],
                                    .value = value,
                                    .threshold = 20,
                                    .axes = connectivity == 8 ? 2 : 1,
                                    .min_area = 5};
    const airy_sources_params params = {.connectivity = connectivity,
                                        .has_threshold = true,
                                        .threshold = 20,
                                        .deblend_levels = levels,
                                        .has_contrast = true,
                                        .deblend_contrast = contrast};
    airy_array *image = upload(c, value, shape), *d_got = check_output(c, AIRY_DTYPE_U32, 2, shape);
    airy_source *s = NULL;
    size_t count = 0, want = 0;
    if (!CHECK_OK(c, airy_sources_find(c->queue, &s, &count, d_got, image, &params)) ||
        !CHECK_OK(c, airy_array_pull(c->queue, got, n * sizeof(*got), d_got)))
        return;
    const size_t islands = ref_sources_find(labels, filtered, &field);
    struct ref_core *cores = check_alloc(c, MOST_CORES * sizeof(*cores));
    for (uint32_t island = 1; island <= islands; island++) {
        memset(core, 0, n * sizeof(*core));
        const size_t found = ref_sources_split(cores, MOST_CORES, core, island, labels, filtered,
                                               &field, levels, contrast);
        want += found ? found : 1;
        compare_split(c, s, got, cores, found, core, &field);
    }
    CHECK(c, count == want && (levels == 1 || contrast == 1 || want > islands));
    uint64_t pixels = 0, inside = 0;
    for (size_t i = 0; i < count; i++)
        pixels += s[i].npix;
    for (size_t i = 0; i < n; i++) {
        inside += labels[i] != 0;
        CHECK(c, (labels[i] != 0) == (got[i] != 0));
    }
    CHECK(c, pixels == inside);
    airy_sources_free(s);
}

static void check_overlap(struct check *c)
{
    if (!check_case(c, "sources_overlap"))
        return;
    for (int i = 0; i < 400; i++) {
        const double b = i % 5 == 0 ? 0.05 + check_uniform(c) : 0.3 + 5 * check_uniform(c),
                     a = i % 3 == 0 ? b : b * (1 + 6 * check_uniform(c)),
                     theta = 3 * check_uniform(c) - 1.5, dx = (2 * check_uniform(c) - 1) * (a + 1),
                     dy = (2 * check_uniform(c) - 1) * (a + 1),
                     m[4] = {cos(theta) / a, sin(theta) / a, -sin(theta) / b, cos(theta) / b};
        /* The sum of 40000 slices errs where the chord begins, by at most (1/40000)^1.5 times its
         * steepness, root(2 / radius of curvature), there: 1.3e-7 root(2 a / b^2) <= 1e-5. */
        if (!CHECK(c, near(airy_pixel_overlap(dx, dy, m), ref_overlap(dx, dy, a, b, theta), 1e-5)))
            return;
    }
    /* A circle inside a pixel, and a pixel inside a circle. */
    const double small[4] = {4, 0, 0, 4}, large[4] = {0.1, 0, 0, 0.1};
    CHECK(c, near(airy_pixel_overlap(0.1, -0.2, small), 3.14159265358979 / 16, 1e-14));
    CHECK(c, near(airy_pixel_overlap(3, -2, large), 1, 1e-14));
    CHECK(c, near(airy_pixel_overlap(30, -2, large), 0, 1e-14));
}

/* Two stars of known flux: apertures, Kron, half-light radius, errors. */
static void check_measures(struct check *c)
{
    if (!check_case(c, "sources_measures"))
        return;
    const size_t shape[2] = {96, 128}, n = shape[0] * shape[1];
    const double sigma = 3, height = 1e4, pi = 3.14159265358979, apertures[3] = {2, 5.5, 15};
    double *value = check_alloc(c, n * sizeof(*value));
    for (size_t i = 0; i < n; i++) {
        const double dx = (double)(i % shape[1]) - 50.25, dy = (double)(i / shape[1]) - 40.5;
        value[i] = height * exp(-(dx * dx + dy * dy) / (2 * sigma * sigma));
    }
    airy_sources_params params = {
        .noise = 2, .apertures = apertures, .aperture_count = 3, .kernel = blur, .gain = 4};
    params.kernel_shape[0] = params.kernel_shape[1] = 3;
    airy_array *image = upload(c, value, shape);
    airy_source *s = NULL;
    size_t count = 0;
    if (!CHECK_OK(c, airy_sources_find(c->queue, &s, &count, NULL, image, &params)) ||
        !CHECK(c, count == 1))
        return;
    CHECK(c, near(s->x, 50.25, 1e-3) && near(s->y, 40.5, 1e-3) && s->flags == 0);
    const double total = height * 2 * pi * sigma * sigma;
    for (int i = 0; i < 3; i++) {
        /* Pixels are samples of the Gaussian, whose curvature over a pixel is 1/24 (1/3)^2 of it. */
        const double want = total * (1 - exp(-apertures[i] * apertures[i] / (2 * sigma * sigma)));
        CHECK(c, near(s->flux_aper[i], want, 0.01 * want));
        const double variance = 4 * pi * apertures[i] * apertures[i] + s->flux_aper[i] / 4;
        CHECK(c, near(s->flux_aper_err[i], sqrt(variance), 1e-9 * sqrt(variance)));
    }
    CHECK(c, isnan(s->flux_aper[3]) && isnan(s->background) && near(s->noise, 2, 1e-6));
    CHECK(c, near(s->flux_kron, total, 0.02 * total) && s->kron_radius > 1 && s->kron_radius < 2);
    CHECK(c, near(s->half_light_radius, sigma * sqrt(2 * log(2)), 0.05 * sigma));
    CHECK(c, s->err_xx > 0 && s->err_xx < 1e-3);
    airy_sources_free(s);
}

/* NONORM: the kernel's sum of 16 is in the filtered values, which are exact, and in nothing else. */
static void check_as_is(struct check *c)
{
    if (!check_case(c, "sources_kernel_as_is"))
        return;
    const size_t shape[2] = {70, 90}, n = shape[0] * shape[1];
    airy_array *image = upload(c, make_values(c, STARS, shape), shape),
               *labels[2] = {check_output(c, AIRY_DTYPE_U32, 2, shape),
                             check_output(c, AIRY_DTYPE_U32, 2, shape)};
    uint32_t *label[2];
    airy_source *s[2] = {NULL, NULL};
    size_t count[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        const airy_sources_params params = {.noise = 20,
                                            .sigma = i ? 32 : 2,
                                            .min_area = 3,
                                            .deblend_levels = 1,
                                            .kernel = blur,
                                            .kernel_shape = {3, 3},
                                            .kernel_as_is = i == 1};
        label[i] = check_alloc(c, n * sizeof(uint32_t));
        if (!CHECK_OK(c, airy_sources_find(c->queue, &s[i], &count[i], labels[i], image, &params)))
            return;
        CHECK_OK(c, airy_array_pull(c->queue, label[i], n * sizeof(uint32_t), labels[i]));
    }
    CHECK(c, count[0] > 3 && count[0] == count[1]);
    CHECK(c, memcmp(label[0], label[1], n * sizeof(uint32_t)) == 0);
    for (size_t i = 0; i < count[0] && count[0] == count[1]; i++)
        CHECK(c, s[0][i].flux == s[1][i].flux && s[0][i].x == s[1][i].x &&
                     16 * s[0][i].filtered_peak == s[1][i].filtered_peak &&
                     16 * s[0][i].filtered_flux == s[1][i].filtered_flux);
    airy_sources_free(s[0]);
    airy_sources_free(s[1]);
}

static void check_measure_flags(struct check *c)
{
    if (!check_case(c, "sources_flags"))
        return;
    const size_t shape[2] = {40, 60}, n = shape[0] * shape[1];
    const double apertures[1] = {5};
    double *value = check_alloc(c, n * sizeof(*value)), *level = check_alloc(c, n * sizeof(*level));
    uint8_t *masked = check_alloc(c, n);
    for (size_t i = 0; i < n; i++) {
        value[i] = -1;
        level[i] = (double)i;
        masked[i] = i / 60 == 20 && i % 60 == 33;
    }
    add_star(value, shape, 3, 20, 1.5, 500); /* its aperture leaves the image */
    add_star(value, shape, 30, 20, 1.5, 500);
    for (size_t x = 45; x < 52; x++) /* thin */
        value[30 * 60 + x] = 50;
    airy_array *image = upload(c, value, shape), *d_level = upload(c, level, shape),
               *mask = check_upload(c, AIRY_DTYPE_U8, 2, shape, masked);
    const airy_sources_params params = {.noise = 5,
                                        .apertures = apertures,
                                        .aperture_count = 1,
                                        .mask = mask,
                                        .background = d_level};
    airy_source *s = NULL;
    size_t count = 0;
    if (!CHECK_OK(c, airy_sources_find(c->queue, &s, &count, NULL, image, &params)) ||
        !CHECK(c, count == 3))
        return;
    CHECK(c, s[0].flags & AIRY_SOURCE_APER_EDGE && s[0].x < 5);
    CHECK(c, s[1].flags & AIRY_SOURCE_APER_MASKED && !(s[1].flags & AIRY_SOURCE_APER_EDGE));
    CHECK(c, s[2].flags & AIRY_SOURCE_SINGULAR && s[2].npix == 7 && s[2].theta == 0);
    /* Around a line of 7 x 50 there are many more pixels of -1 within 6 a: none for the Kron
     * radius only where they outweigh it. 6 a is 12.2 px: 6 b 1.7 px, 65 px^2 in all. */
    CHECK(c, s[2].kron_radius > 0);
    CHECK(c, s[1].background ==
                 (double)((size_t)floor(s[1].y + 0.5) * 60 + (size_t)floor(s[1].x + 0.5)));
    airy_sources_free(s);
}

static void check_odd_image(struct check *c, const char *name, const size_t shape[2], double value,
                            const airy_sources_params *params, size_t want)
{
    if (!check_case(c, "sources_odd_%s_%zux%zu", name, shape[0], shape[1]))
        return;
    const size_t n = shape[0] * shape[1];
    double *values = check_alloc(c, n * sizeof(*values));
    for (size_t i = 0; i < n; i++)
        values[i] = value;
    airy_array *image = upload(c, values, shape), *got = check_output(c, AIRY_DTYPE_U32, 2, shape);
    uint32_t *labels = check_alloc(c, n * sizeof(*labels));
    for (size_t i = 0; i < n; i++)
        labels[i] = (uint32_t)want;
    airy_source *s = NULL;
    size_t count = 9;
    if (!CHECK_OK(c, airy_sources_find(c->queue, &s, &count, got, image, params)))
        return;
    CHECK(c, count == want);
    check_array(c, got, labels, NULL);
    if (count == 1) {
        CHECK(c, s->npix == n && near(s->flux, value * (double)n, 1e-6 * fabs(value) * (double)n));
        CHECK(c, near(s->x, 0.5 * (double)(shape[1] - 1), 1e-6) &&
                     near(s->y, 0.5 * (double)(shape[0] - 1), 1e-6));
        CHECK(c, isfinite(s->a) && isfinite(s->b) && s->b > 0 && s->flags & AIRY_SOURCE_EDGE);
    }
    airy_sources_free(s);
}

static void check_odd(struct check *c)
{
    static const size_t shapes[][2] = {{1, 1}, {1, 70}, {70, 1}, {33, 47}};
    const airy_sources_params usual = {.noise = 1, .min_area = 1, .clean = true},
                              below = {.has_threshold = true,
                                       .threshold = -8,
                                       .min_area = 1,
                                       .clean = true};
    for (size_t i = 0; i < 4; i++) {
        check_odd_image(c, "constant", shapes[i], 3, &usual, 0);
        check_odd_image(c, "above", shapes[i], 7, &usual, 1);
        check_odd_image(c, "nan", shapes[i], (double)NAN, &usual, 0);
        check_odd_image(c, "infinite", shapes[i], (double)INFINITY, &usual, 0);
        check_odd_image(c, "negative", shapes[i], -3, &below, 1);
        check_odd_image(c, "zero", shapes[i], 0, &below, 1);
    }
}

/* An image that is one island: a slope with stars, each on its own, and a pool of threads. */
static void check_deep(struct check *c)
{
    if (!check_case(c, "sources_deep"))
        return;
    const size_t shape[2] = {700, 720}, n = shape[0] * shape[1];
    float *value = check_alloc(c, n * sizeof(*value));
    for (size_t i = 0; i < n; i++) {
        const double dx = fmod((double)(i % shape[1]), 12) - 5.25,
                     dy = fmod((double)(i / shape[1]), 14) - 6.5;
        value[i] = (float)(100 + 900 * exp(-(dx * dx + dy * dy) / 4));
    }
    const airy_sources_params params = {
        .noise = 10, .isophotal = true, .has_contrast = true, .deblend_contrast = 1e-6};
    airy_source *s[2] = {NULL, NULL};
    uint32_t *labels[2] = {check_alloc(c, n * sizeof(uint32_t)), check_alloc(c, n * 4)};
    size_t count[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        airy_device *device = NULL;
        airy_queue *queue = NULL;
        airy_array *image = NULL, *got = NULL;
        const airy_device_params with = {.threads = i ? 5 : 1};
        if (CHECK_OK(c, airy_device_create(&device, "cpu", &with)) &&
            CHECK_OK(c, airy_queue_create(&queue, device)) &&
            CHECK_OK(c, airy_array_create_from(&image, queue, AIRY_DTYPE_F32, 2, shape, value)) &&
            CHECK_OK(c, airy_array_create(&got, device, AIRY_DTYPE_U32, 2, shape)) &&
            CHECK_OK(c, airy_sources_find(queue, &s[i], &count[i], got, image, &params)))
            CHECK_OK(c, airy_array_pull(queue, labels[i], n * sizeof(uint32_t), got));
        airy_array_destroy(&image);
        airy_array_destroy(&got);
        airy_queue_destroy(&queue);
        airy_device_destroy(&device);
    }
    CHECK(c, count[0] == 60 * 50 && count[1] == count[0]);
    CHECK(c, memcmp(labels[0], labels[1], n * sizeof(uint32_t)) == 0);
    for (size_t i = 0; i < count[0] && i < count[1]; i++)
        if (!CHECK(c, memcmp(&s[0][i].flux, &s[1][i].flux, sizeof(double)) == 0 &&
                          memcmp(&s[0][i].xx, &s[1][i].xx, sizeof(double)) == 0))
            break;
    airy_sources_free(s[0]);
    airy_sources_free(s[1]);
}

/*
 * A faint clump in the wings of a bright star goes, one further out stays. 5 pixels of the clump
 * are at least 8 above the threshold of 30; the star has 365 of a = 2.98, an amplitude of 20181, and
 * so 10.8 at the clump for a power of 1, but 0.1 for one of 8.
 */
static void check_clean(struct check *c)
{
    if (!check_case(c, "sources_clean"))
        return;
    const size_t shape[2] = {120, 200}, n = shape[0] * shape[1];
    double *value = check_alloc(c, n * sizeof(*value));
    add_star(value, shape, 40, 60, 3, 20000);
    add_star(value, shape, 58, 60, 1.2, 55);
    add_star(value, shape, 150, 60, 1.2, 55);
    airy_array *image = upload(c, value, shape);
    for (int i = 0; i < 4; i++) {
        const airy_sources_params params = {
            .noise = 6, .clean = i > 0, .clean_power = i == 2 ? 8 : 1, .compat_sep = i == 3};
        airy_source *s = NULL;
        size_t count = 0;
        if (!CHECK_OK(c, airy_sources_find(c->queue, &s, &count, NULL, image, &params)))
            return;
        CHECK(c, count == (i == 1 || i == 3 ? 2 : 3) && s[count - 1].label == count);
        airy_sources_free(s);
    }
}

/* A line across the image: its ellipses are long and thin, and leave the image. */
static void check_line(struct check *c, int dx, int dy)
{
    if (!check_case(c, "sources_line_%d_%d", dx, dy))
        return;
    const size_t shape[2] = {90, 100}, n = shape[0] * shape[1];
    const double apertures[1] = {7};
    double *value = check_alloc(c, n * sizeof(*value));
    for (int t = -35; t <= 35; t++)
        value[(size_t)(45 + dy * t) * shape[1] + (size_t)(50 + dx * t)] = 100;
    airy_array *image = upload(c, value, shape);
    const airy_sources_params params = {.noise = 4, .apertures = apertures, .aperture_count = 1};
    airy_source *s = NULL;
    size_t count = 0;
    if (!CHECK_OK(c, airy_sources_find(c->queue, &s, &count, NULL, image, &params)) ||
        !CHECK(c, count == 1))
        return;
    const double angle = dx == 0 ? 2 * atan(1) : atan2(dy, dx);
    CHECK(c, s->npix == 71 && near(s->x, 50, 1e-9) && near(s->y, 45, 1e-9));
    CHECK(c, near(fabs(s->theta), fabs(angle), 1e-9) && s->flags & AIRY_SOURCE_SINGULAR);
    /* Every pixel of the line is in the ellipses whole, or nearly: 3.5 b = 1 px wide, or more. */
    CHECK(c, near(s->flux, 7100, 1e-9) && near(s->flux_kron, 7100, 0.02 * 7100));
    CHECK(c, s->kron_radius > 0.8 && s->kron_radius < 1);
    /* Half of it is within 71 / 4 pixels of the center, along the line. */
    CHECK(c, near(s->half_light_radius, 71 / 4.0 * hypot(dx, dy), hypot(dx, dy)));
    double inside = 0; /* of the circle, in pixels: each pixel of the line, by its overlap */
    for (int t = -10; t <= 10; t++)
        inside += ref_overlap(dx * t, dy * t, 7, 7, 0);
    CHECK(c, near(s->flux_aper[0], 100 * inside, 1e-3 * 100 * inside));
    airy_sources_free(s);
}

/*
 * Weights of both signs that cancel to 2^-10 of 1: the centre is 2^70 times as far away as the
 * image is wide, where no aperture finds a pixel.
 */
static void check_far_center(struct check *c)
{
    if (!check_case(c, "sources_far_center"))
        return;
    const size_t shape[2] = {8, 16}, places[2][2] = {{2, 9}, {9, 2}};
    const double radius[1] = {3};
    for (int i = 0; i < 2; i++) {
        double *value = check_alloc(c, shape[0] * shape[1] * sizeof(*value));
        value[places[i][0]] = 0x1p70;
        value[places[i][1]] = -0x1p70;
        value[100] = 0x1p-10;
        airy_array *image = upload(c, value, shape);
        const airy_sources_params params = {
            .has_threshold = true, .threshold = -0x1p80, .apertures = radius, .aperture_count = 1};
        airy_source *s = NULL;
        size_t count = 0;
        if (!CHECK_OK(c, airy_sources_find(c->queue, &s, &count, NULL, image, &params)))
            return;
        CHECK(c, count == 1 && fabs(s[0].x) > 0x1p80 && isnan(s[0].flux_aper[0]) &&
                     s[0].flags & AIRY_SOURCE_APER_EMPTY);
        airy_sources_free(s);
    }
}

static void check_masks(struct check *c)
{
    if (!check_case(c, "sources_mask_neighbours"))
        return;
    const size_t shape[2] = {50, 80}, n = shape[0] * shape[1];
    double *value = check_alloc(c, n * sizeof(*value));
    add_star(value, shape, 30, 25, 1.5, 1000);
    add_star(value, shape, 41, 25, 1.5, 1000);
    airy_array *image = upload(c, value, shape);
    const double radius[1] = {10};
    double flux[2];
    for (int i = 0; i < 2; i++) {
        const airy_sources_params params = {
            .noise = 10, .apertures = radius, .aperture_count = 1, .mask_neighbours = i == 1};
        airy_source *s = NULL;
        size_t count = 0;
        if (!CHECK_OK(c, airy_sources_find(c->queue, &s, &count, NULL, image, &params)) ||
            !CHECK(c, count == 2))
            return;
        flux[i] = s[0].flux_aper[0];
        CHECK(c, ((s[0].flags & AIRY_SOURCE_APER_MASKED) != 0) == (i == 1));
        airy_sources_free(s);
    }
    /* 2 pi 1.5^2 1000 = 14137; what is left out, less than a twelfth of the circle, takes the mean
     * of the rest. Three quarters of the other star's flux are outside. */
    CHECK(c, flux[0] > 16000 && near(flux[1], 14137, 14137.0 / 12));
}

static void check_errors(struct check *c)
{
    if (!check_case(c, "sources_errors"))
        return;
    const size_t shape[2] = {8, 9}, line[1] = {9}, other[2] = {9, 8};
    float data[72] = {0};
    const uint8_t bytes[72] = {0};
    airy_array *image = check_upload(c, AIRY_DTYPE_F32, 2, shape, data),
               *turned = check_upload(c, AIRY_DTYPE_F32, 2, other, data),
               *row = check_upload(c, AIRY_DTYPE_F32, 1, line, data),
               *u8 = check_upload(c, AIRY_DTYPE_U8, 2, shape, bytes),
               *u32 = check_output(c, AIRY_DTYPE_U32, 2, shape);
    airy_source *s;
    size_t n;
    const double zeros[9] = {0}, radii[1] = {0};
#define FIND(segmentation, image, ...)                                                             \
    airy_sources_find(c->queue, &s, &n, segmentation, image, &(airy_sources_params){__VA_ARGS__})
    const airy_sources_params fine = {.noise = 1};
    CHECK_FAILS(c, airy_sources_find(c->queue, NULL, &n, NULL, image, &fine), AIRY_ERR_PARAM,
                "sources is NULL");
    CHECK_FAILS(c, airy_sources_find(c->queue, &s, NULL, NULL, image, &fine), AIRY_ERR_PARAM,
                "count is NULL");
    CHECK_FAILS(c, airy_sources_find(NULL, &s, &n, NULL, image, &fine), AIRY_ERR_PARAM,
                "queue is NULL");
    CHECK_FAILS(c, airy_sources_find(c->queue, &s, &n, NULL, NULL, &fine), AIRY_ERR_PARAM,
                "image is NULL");
    CHECK_FAILS(c, airy_sources_find(c->queue, &s, &n, NULL, image, NULL), AIRY_ERR_PARAM,
                "params is NULL");
    CHECK_FAILS(c, FIND(NULL, row, .noise = 1), AIRY_ERR_SHAPE, "expected 2 dimensions");
    CHECK_FAILS(c, FIND(u8, image, .noise = 1), AIRY_ERR_DTYPE, "segmentation is u8");
    CHECK_FAILS(c, FIND(turned, image, .noise = 1), AIRY_ERR_SHAPE, "segmentation is");
    CHECK_FAILS(c, FIND(u32, u32, .noise = 1), AIRY_ERR_PARAM, "shares memory");
    CHECK_FAILS(c, FIND(NULL, image, .noise_map = turned), AIRY_ERR_SHAPE, "noise_map is");
    CHECK_FAILS(c, FIND(NULL, image, .noise_map = u8), AIRY_ERR_DTYPE, "noise_map is u8");
    CHECK_FAILS(c, FIND(NULL, image, .noise = 1, .background = u8), AIRY_ERR_DTYPE,
                "background is");
    CHECK_FAILS(c, FIND(NULL, image, .noise = 1, .mask = image), AIRY_ERR_DTYPE, "mask is f32");
    CHECK_FAILS(c, FIND(NULL, image, .sigma = 3), AIRY_ERR_PARAM,
                "no noise, noise_map or threshold");
    CHECK_FAILS(c, FIND(NULL, image, .noise = 1, .noise_map = image), AIRY_ERR_PARAM,
                "beside noise_map");
    CHECK_FAILS(c, FIND(NULL, image, .noise = -1), AIRY_ERR_PARAM, "noise = -1");
    CHECK_FAILS(c, FIND(NULL, image, .noise = 1, .sigma = (double)NAN), AIRY_ERR_PARAM,
                "sigma = nan");
    CHECK_FAILS(c, FIND(NULL, image, .noise = 1, .gain = (double)INFINITY), AIRY_ERR_PARAM,
                "gain = inf");
    CHECK_FAILS(c, FIND(NULL, image, .has_threshold = true, .threshold = (double)NAN),
                AIRY_ERR_PARAM, "threshold = nan");
    CHECK_FAILS(c, FIND(NULL, image, .noise = 1, .matched = true), AIRY_ERR_PARAM,
                "matched without a kernel");
    CHECK_FAILS(c,
                FIND(NULL, image, .matched = true, .kernel = blur, .kernel_shape = {3, 3},
                     .has_threshold = true),
                AIRY_ERR_PARAM, "matched without noise");
    CHECK_FAILS(c, FIND(NULL, image, .noise = 1, .kernel = blur, .kernel_shape = {3, 2}),
                AIRY_ERR_SHAPE, "kernel_shape[1] = 2");
    CHECK_FAILS(c, FIND(NULL, image, .noise = 1, .kernel = zeros, .kernel_shape = {3, 3}),
                AIRY_ERR_PARAM, "kernel: the sum");
    CHECK_FAILS(c, FIND(NULL, image, .noise = 1, .connectivity = 6), AIRY_ERR_PARAM,
                "connectivity = 6");
    CHECK_FAILS(c, FIND(NULL, image, .noise = 1, .deblend_levels = 1025), AIRY_ERR_PARAM,
                "deblend_levels = 1025");
    CHECK_FAILS(c, FIND(NULL, image, .noise = 1, .has_contrast = true, .deblend_contrast = 1.5),
                AIRY_ERR_PARAM, "deblend_contrast = 1.5");
    CHECK_FAILS(c, FIND(NULL, image, .noise = 1, .clean_power = -1), AIRY_ERR_PARAM,
                "clean_power = -1");
    CHECK_FAILS(c, FIND(NULL, image, .noise = 1, .kron_factor = -1), AIRY_ERR_PARAM,
                "kron_factor = -1");
    CHECK_FAILS(c, FIND(NULL, image, .noise = 1, .has_kron_minimum = true, .kron_minimum = -1),
                AIRY_ERR_PARAM, "kron_minimum = -1");
    CHECK_FAILS(c, FIND(NULL, image, .noise = 1, .aperture_count = 9, .apertures = zeros),
                AIRY_ERR_PARAM, "aperture_count = 9");
    CHECK_FAILS(c, FIND(NULL, image, .noise = 1, .aperture_count = 1), AIRY_ERR_PARAM,
                "apertures is NULL");
    CHECK_FAILS(c, FIND(NULL, image, .noise = 1, .aperture_count = 1, .apertures = radii),
                AIRY_ERR_PARAM, "apertures[0] = 0");
#undef FIND
}

void check_sources(struct check *c)
{
    static const size_t shapes[][2] = {{1, 1}, {1, 257}, {263, 1}, {63, 64}, {130, 129}};
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
            for (unsigned with = 0; with < 8; with++) {
                if (with & MATCHED && !(with & FILTER))
                    continue;
                check_detect_one(c, (enum kind)kind, shapes[i], 4, with);
                check_detect_one(c, (enum kind)kind, shapes[i], 8, with);
            }
    check_split_one(c, (const size_t[]){80, 96}, 8, 32, 0.005);
    check_split_one(c, (const size_t[]){80, 96}, 4, 32, 0.005);
    check_split_one(c, (const size_t[]){96, 80}, 8, 32, 0);
    check_split_one(c, (const size_t[]){96, 80}, 8, 5, 0.02);
    check_split_one(c, (const size_t[]){60, 64}, 8, 200, 0.0001);
    check_split_one(c, (const size_t[]){80, 96}, 8, 1, 0.005);
    check_split_one(c, (const size_t[]){80, 96}, 8, 32, 1);
    check_overlap(c);
    check_measures(c);
    check_as_is(c);
    check_measure_flags(c);
    check_odd(c);
    check_deep(c);
    check_clean(c);
    check_far_center(c);
    check_masks(c);
    check_line(c, 1, 0);
    check_line(c, 0, 1);
    check_line(c, 1, 1);
    check_line(c, 1, -1);
    check_errors(c);
    check_sources_golden(c);
}
