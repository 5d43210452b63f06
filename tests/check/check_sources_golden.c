/*
 * Sources of simulated and real images against SEP 1.4.1's lists (sources_sep.h5) and against a
 * catalogue of SExtractor.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/background.h"
#include "airy/image.h"
#include "airy/sources.h"
#include "check.h"
#include "check_skies.h"

/* Columns of sources_sep.h5. */
enum column { X, Y, NPIX, FLUX, A, B, THETA, ERR_XX, FLAGS, CIRCLE, KRON, FLUX_KRON, COLUMNS };

/* A list to compare with: rows of COLUMNS values; NaN or 0: not known. */
struct list {
    size_t count;
    const double *row;
};

struct sky {
    size_t height, width;
    double level, noise; /* the background's */
    airy_array *image;   /* less the background, on the case's device */
    airy_array *mask;    /* of what is not finite */
};

static const double blur[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1}, radius[1] = {5};

/* SEP's background, which the CPU has on any build, off the image. */
static bool subtract_background(struct check *c, struct sky *sky, float *pixels)
{
    const size_t shape[2] = {sky->height, sky->width}, size = shape[0] * shape[1] * sizeof(*pixels);
    const airy_background_params params = {.compat_sep = true};
    airy_background_info info = {.noise = 0};
    airy_device *device = NULL;
    airy_queue *queue = NULL;
    airy_array *image = NULL;
    airy_background *background = NULL;
    const bool fine =
        CHECK_OK(c, airy_device_create(&device, "cpu", NULL)) &&
        CHECK_OK(c, airy_queue_create(&queue, device)) &&
        CHECK_OK(c, airy_array_create_from(&image, queue, AIRY_DTYPE_F32, 2, shape, pixels)) &&
        CHECK_OK(c, airy_background_create(&background, queue, image, NULL, &params, &info)) &&
        CHECK_OK(c, airy_background_subtract(queue, background, image, image, NULL)) &&
        CHECK_OK(c, airy_array_pull(queue, pixels, size, image));
    airy_background_destroy(&background);
    airy_array_destroy(&image);
    airy_queue_destroy(&queue);
    airy_device_destroy(&device);
    sky->level = info.level;
    sky->noise = info.noise;
    if (fine)
        sky->image = check_upload(c, AIRY_DTYPE_F32, 2, shape, pixels);
    return fine;
}

struct golden {
    const char *name;
    const char *file; /* under AIRY_REALDATA; NULL: a simulated sky */
    size_t height, width, random;
    uint64_t seed;
    double blank;
    bool only_plain;
};

static bool simulate(struct check *c, struct sky *sky, const struct golden *g)
{
    const struct check_sky model = {g->height, g->width, g->random, g->seed, g->blank};
    float *pixels = check_alloc(c, g->height * g->width * sizeof(*pixels));
    sky->height = g->height;
    sky->width = g->width;
    return CHECK(c, check_simulate_sky(pixels, &model)) && subtract_background(c, sky, pixels);
}

static bool load(struct check *c, struct sky *sky, const char *file)
{
    airy_image image;
    const char *path = check_realdata(c, file);
    if (!path)
        return false;
    const airy_status status = airy_image_read(&image, path);
    if (status == AIRY_ERR_UNSUPPORTED) {
        check_skip(c, "%s", airy_last_error());
        return false;
    }
    if (!CHECK_OK(c, status))
        return false;
    sky->height = image.shape[image.ndim - 2];
    sky->width = image.shape[image.ndim - 1];
    const size_t n = sky->height * sky->width;
    float *pixels = check_alloc(c, n * sizeof(*pixels));
    for (size_t i = 0; i < n; i++)
        pixels[i] = (float)airy_image_value(&image, i);
    airy_image_free(&image);
    return subtract_background(c, sky, pixels);
}

static double distance(const airy_source *s, const double *row)
{
    return hypot(s->x - row[X], s->y - row[Y]);
}

/* The nearest source to a row; sources are few. */
static const airy_source *find_nearest(const airy_source *s, size_t count, const double *row)
{
    const airy_source *best = s;
    for (size_t i = 1; i < count; i++)
        if (distance(&s[i], row) < distance(best, row))
            best = &s[i];
    return best;
}

static int compare_doubles(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* Of |got / want - 1|; rows and measures that are not known are left out. */
struct ratios {
    double *value;
    size_t count;
};

static void add_ratio(struct ratios *r, double got, double want)
{
    if (want != 0 && !isnan(want))
        r->value[r->count++] = fabs(got / want - 1);
}

static double find_median(struct ratios *r)
{
    qsort(r->value, r->count, sizeof(double), compare_doubles);
    return r->count ? r->value[r->count / 2] : 0;
}

/* One percent of a list may be missing, but for one row of short lists. */
static size_t some(size_t count)
{
    return count >= 200 ? count / 100 : 1;
}

/* Rows that are matched within half a pixel, and the medians of what differs. */
static void compare_lists(struct check *c, const airy_source *s, size_t count,
                          const struct list *want)
{
    size_t missing = 0;
    struct ratios ratio[4]; /* flux, circle, Kron radius, Kron flux */
    for (int i = 0; i < 4; i++)
        ratio[i] = (struct ratios){.value = check_alloc(c, (want->count + 1) * sizeof(double))};
    for (size_t i = 0; i < want->count; i++) {
        const double *row = want->row + i * COLUMNS;
        const airy_source *got = find_nearest(s, count, row);
        if (distance(got, row) >= 0.5) {
            missing++;
            continue;
        }
        add_ratio(&ratio[0], got->flux, row[FLUX]);
        add_ratio(&ratio[1], got->flux_aper[0], row[CIRCLE]);
        add_ratio(&ratio[2], got->kron_radius, row[KRON]);
        add_ratio(&ratio[3], got->flux_kron, row[FLUX_KRON]);
    }
    const size_t more = count > want->count ? count - want->count : want->count - count;
    CHECK(c, more <= some(want->count));
    CHECK(c, missing <= some(want->count));
    for (int i = 0; i < 4; i++)
        CHECK(c, find_median(&ratio[i]) <= 0.01);
}

static bool find(struct check *c, airy_source **s, size_t *count, const struct sky *sky,
                 const airy_sources_params *params)
{
    return CHECK_OK(c, airy_sources_find(c->queue, s, count, NULL, sky->image, params)) &&
           CHECK(c, *count > 0);
}

static airy_status find_and_free(struct check *c, const struct sky *sky,
                                 const airy_sources_params *params)
{
    airy_source *s = NULL;
    size_t count = 0;
    const airy_status status = airy_sources_find(c->queue, &s, &count, NULL, sky->image, params);
    airy_sources_free(s);
    return status;
}

static double bytes_of(const struct sky *sky)
{
    return (double)airy_array_size(sky->image);
}

/* Threshold 3, no filter, no deblending: every source. */
static void compare_plain(struct check *c, const struct sky *sky, const struct list *want)
{
    const airy_sources_params params = {.sigma = 3, .noise = sky->noise, .deblend_levels = 1};
    airy_source *s = NULL;
    size_t count = 0;
    if (!find(c, &s, &count, sky, &params))
        return;
    CHECK(c, count == want->count);
    for (size_t i = 0; i < want->count; i++) {
        const double *row = want->row + i * COLUMNS;
        const airy_source *got = find_nearest(s, count, row);
        CHECK(c, got->npix == (uint64_t)row[NPIX] && distance(got, row) <= 1e-4);
        /* The golden files' tolerance; SEP rounds each pixel's background to f32. */
        CHECK(c, fabs(got->flux - row[FLUX]) <=
                     1e-6 * fabs(row[FLUX]) + 0x1p-24 * fabs(sky->level) * row[NPIX]);
        CHECK(c, fabs(got->a / row[A] - 1) <= 1e-5 && fabs(got->b / row[B] - 1) <= 1e-5);
        /* SEP has 0.08333 for 1/12 here. */
        CHECK(c, fabs(got->err_xx / row[ERR_XX] - 1) <= 5e-5);
        CHECK(c, fabs(sin(got->theta - row[THETA])) * (got->a - got->b) <= 1e-4);
        CHECK(c, got->flags % 16 == (unsigned)row[FLAGS]);
    }
    airy_sources_free(s);
    CHECK_BENCH(c, bytes_of(sky), 0, find_and_free(c, sky, &params));
}

/* Threshold 1.5, filter, deblending, cleaning. */
static void compare_usual(struct check *c, const struct sky *sky, const struct list *want)
{
    airy_sources_params params = {.sigma = 1.5,
                                  .noise = sky->noise,
                                  .kernel = blur,
                                  .kernel_shape = {3, 3},
                                  .clean = true,
                                  .apertures = radius,
                                  .aperture_count = 1,
                                  .has_kron_minimum = true,
                                  .compat_sep = true};
    airy_source *s = NULL;
    size_t count = 0;
    if (!find(c, &s, &count, sky, &params))
        return;
    compare_lists(c, s, count, want);
    airy_sources_free(s);
    CHECK_BENCH(c, bytes_of(sky), 0, find_and_free(c, sky, &params));
}

static void check_golden_one(struct check *c, const struct golden *g, const char *run)
{
    struct sky sky = {.image = NULL};
    airy_image rows = {.data = NULL};
    char name[64];
    if (!check_case(c, "sources_sep_%s_%s", g->name, run))
        return;
    const char *path = check_golden(c, "astro/sources_sep.h5");
    if (!path || !(g->file ? load(c, &sky, g->file) : simulate(c, &sky, g)))
        return;
    char *full = check_alloc(c, strlen(path) + sizeof(name));
    snprintf(name, sizeof(name), "::%s/%s", g->name, run);
    strcat(strcpy(full, path), name);
    if (CHECK_OK(c, airy_image_read(&rows, full)) && CHECK(c, rows.shape[1] == COLUMNS)) {
        const struct list want = {.count = rows.shape[0], .row = rows.data};
        if (run[0] == 'B')
            compare_plain(c, &sky, &want);
        else
            compare_usual(c, &sky, &want);
    }
    airy_image_free(&rows);
}

/*
 * The catalogue that SExtractor made of its image with its default.sex: all sources within half a
 * pixel, fluxes within 1 percent.
 */
static void check_sextractor(struct check *c)
{
    enum { VALUES = 21, ROOM = 256 };
    struct sky sky = {.image = NULL};
    if (!check_case(c, "sources_sextractor") || !load(c, &sky, "astro/sep/image.fits"))
        return;
    const char *path = check_realdata(c, "astro/sep/image.cat");
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file)
        return;
    double *row = check_alloc(c, ROOM * COLUMNS * sizeof(*row));
    struct list want = {.row = row};
    char line[1024];
    while (want.count < ROOM && fgets(line, sizeof(line), file)) {
        double value[VALUES];
        char *at = line;
        for (int i = 0; line[0] != '#' && i < VALUES; i++)
            value[i] = strtod(at, &at);
        if (line[0] == '#')
            continue;
        double *to = row + COLUMNS * want.count++;
        to[X] = value[1] - 1;
        to[Y] = value[2] - 1;
        to[CIRCLE] = value[12];
        to[KRON] = value[14] / 2.5; /* printed with two digits behind the point */
        to[FLUX_KRON] = value[15];
    }
    fclose(file);
    airy_sources_params params = {.sigma = 1.5,
                                  .noise = sky.noise,
                                  .kernel = blur,
                                  .kernel_shape = {3, 3},
                                  .has_contrast = true,
                                  .deblend_contrast = 1,
                                  .clean = true,
                                  .apertures = radius,
                                  .aperture_count = 1,
                                  .has_kron_minimum = true,
                                  .whole_pixels = true,
                                  .compat_sep = true};
    airy_source *s = NULL;
    size_t count = 0;
    CHECK(c, want.count == 65);
    for (int compat = 0; compat < 2 && find(c, &s, &count, &sky, &params); compat++) {
        size_t missing = 0;
        for (size_t i = 0; i < want.count; i++)
            missing += distance(find_nearest(s, count, row + i * COLUMNS), row + i * COLUMNS) >
                       1e-3;
        CHECK(c, missing == 0);
        if (params.compat_sep)
            compare_lists(c, s, count, &want);
        airy_sources_free(s);
        params.compat_sep = false;
    }
}

void check_sources_golden(struct check *c)
{
    static const struct golden all[] = {
        {"sky512", .height = 512, .width = 512, .random = 40, .seed = 20240001},
        {"skynan480x640", .height = 480, .width = 640, .random = 45, .seed = 20240002,
         .blank = 1.55},
        {"sky2048", .height = 2048, .width = 2048, .random = 230, .seed = 20240003,
         .only_plain = true},
        {"real_image", .file = "astro/sep/image.fits"},
        {"real_m13", .file = "astro/astropy/m13.fits"},
        {"real_1904-66_SIN", .file = "astro/aegean/1904-66_SIN.fits"},
        {"real_ScorpioFaintSNRField", .file = "astro/caesar/ScorpioFaintSNRField.fits"},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        check_golden_one(c, &all[i], "B");
        if (!all[i].only_plain)
            check_golden_one(c, &all[i], "A");
    }
    check_sextractor(c);
}
