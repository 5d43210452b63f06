/* Statistics, clips and labels of simulated and real images: of NumPy, SciPy and Astropy. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/image.h"
#include "golden.h"
#include "jobs/simulate/simulated_sky.h"

struct image {
    size_t height, width;
    float *pixels;
};

static double number(const json_t *of, const char *key)
{
    return json_number_value(json_object_get(of, key));
}

static bool simulate(struct golden *g, struct image *image, const char *name)
{
    char path[4096];
    json_error_t error;
    snprintf(path, sizeof(path), "%s/../astro/%s.params.json", g->dir, name);
    json_t *p = json_load_file(path, 0, &error);
    if (!p) {
        golden_complain(g, "%s: %s", path, error.text);
        return false;
    }
    const json_t *first = json_array_get(json_object_get(p, "explicit"), 0);
    const struct airy_sky_source source = {
        number(first, "x0"), number(first, "y0"), number(first, "A"), number(first, "w"),
        number(first, "sh"), number(first, "el"), number(first, "R")};
    const struct airy_sky_model model = {
        .seed = (uint64_t)number(p, "seed"),
        .height = (size_t)number(p, "h"),
        .width = (size_t)number(p, "w"),
        .random = (size_t)number(p, "nsrc"),
        .amplitude = {number(p, "amin"), number(p, "amax")},
        .widths = {number(p, "wmin"), number(p, "wmax")},
        .rings = number(p, "fring"),
        .sigma = number(p, "sigma"),
        .gradient = number(p, "ngrad"),
        .background = {number(p, "b0"), number(p, "b1"), number(p, "b2")},
        .blank = number(p, "blank"),
        .sources = &source,
        .count = first != NULL};
    *image = (struct image){model.height, model.width,
                            malloc(model.height * model.width * sizeof(float))};
    json_decref(p);
    const bool made = image->pixels && airy_simulated_sky(image->pixels, &model);
    if (!made)
        golden_complain(g, "no memory for a sky");
    return made;
}

static bool load(struct golden *g, struct image *image, const char *folder, const char *file)
{
    char path[4096];
    airy_image read;
    snprintf(path, sizeof(path), "%s/astro/%s", folder, file);
    if (!golden_ok(g, "airy_image_read", airy_image_read(&read, path)))
        return false;
    const size_t h = read.shape[read.ndim - 2], w = read.shape[read.ndim - 1];
    *image = (struct image){h, w, malloc(h * w * sizeof(float))};
    for (size_t i = 0; image->pixels && i < h * w; i++)
        image->pixels[i] = (float)airy_image_value(&read, i);
    airy_image_free(&read);
    if (!image->pixels)
        golden_complain(g, "no memory for %s", file);
    return image->pixels != NULL;
}

static void check_raw(struct golden *g, const airy_array *src, const json_t *item)
{
    const json_t *want = json_object_get(item, "raw");
    airy_statistics s;
    if (!golden_ok(g, "airy_statistics_get", airy_statistics_get(g->queue, &s, src, NULL, 0)))
        return;
    golden_statistics(g, "raw", &s, want);
    if (s.nan != (uint64_t)json_integer_value(json_object_get(item, "nan")))
        golden_complain(g, "raw: %llu NaN", (unsigned long long)s.nan);
    /* x - median is rounded in another width there. */
    const double mad = number(item, "mad");
    if (!(fabs(s.mad - mad) <= 0x1p-22 * (fabs(mad) + fabs(s.median))))
        golden_complain(g, "mad: got %.17g, want %.17g", s.mad, mad);
}

/* Clips as other packages do them. */
static void check_variants(struct golden *g, const airy_array *src, const json_t *item)
{
    static const struct {
        const char *name;
        airy_clip_params params;
    } variants[] = {
        {"clipped", {.iterations = 0}},
        {"astropy_sigma_clip_default_sigma3_maxiters5", {.inclusive = true, .iterations = 5}},
        {"astropy_sigma_clip_sigma3_converge", {.inclusive = true}},
        {"astropy_sigma_clip_mad_std_converge", {.inclusive = true, .spread = AIRY_SPREAD_MAD}},
        {"scipy_sigmaclip_3_3", {.inclusive = true, .center = AIRY_CENTER_MEAN}},
        {"scipy_sigmaclip_low4_high4_meancentred",
         {.inclusive = true, .center = AIRY_CENTER_MEAN, .kappa_low = 4, .kappa_high = 4}},
    };
    for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
        const json_t *want = json_object_get(item, variants[i].name);
        airy_clip_result r;
        if (!want)
            golden_complain(g, "no %s", variants[i].name);
        else if (golden_ok(g, "airy_clip", airy_clip(g->queue, &r, src, NULL, &variants[i].params)))
            golden_statistics(g, variants[i].name, &r.kept, want);
    }
}

static void check_threshold(struct golden *g, const airy_array *src, const json_t *item)
{
    const double above = number(item, "threshold_5sigma");
    airy_array *mask = NULL;
    airy_statistics s = {.sum = 0};
    if (golden_ok(g, "airy_array_create",
                  airy_array_create(&mask, g->device, AIRY_DTYPE_U8, 2, airy_array_shape(src))) &&
        golden_ok(g, "airy_threshold", airy_threshold(g->queue, mask, src, above)) &&
        golden_ok(g, "airy_statistics_get",
                  airy_statistics_get(g->queue, &s, mask, NULL, AIRY_STATISTICS_MOMENTS)) &&
        s.sum != number(item, "pixels_above"))
        golden_complain(g, "%g pixels above, want %g", s.sum, number(item, "pixels_above"));
    airy_array_destroy(&mask);
}

static void check_image(struct golden *g, const struct image *image, const char *name)
{
    char path[4096];
    json_error_t error;
    const size_t shape[2] = {image->height, image->width};
    airy_array *src = NULL;
    snprintf(path, sizeof(path), "%s/../astro/%s.stats.json", g->dir, name);
    json_t *item = json_load_file(path, 0, &error);
    if (!item)
        golden_complain(g, "%s: %s", path, error.text);
    else if (golden_ok(
                 g, "airy_array_create_from",
                 airy_array_create_from(&src, g->queue, AIRY_DTYPE_F32, 2, shape, image->pixels))) {
        check_raw(g, src, item);
        golden_clip_passes(g, src, item);
        check_variants(g, src, item);
        check_threshold(g, src, item);
        golden_labels(g, src, item, name);
    }
    airy_array_destroy(&src);
    json_decref(item);
}

void golden_sky(struct golden *g)
{
    static const struct {
        const char *name, *file; /* of AIRY_REALDATA; NULL: simulated */
    } images[] = {
        {"sky512", NULL},
        {"skynan480x640", NULL},
        {"sky2048", NULL},
        {"real_m13", "astropy/m13.fits"},
        {"real_image", "sep/image.fits"},
        {"real_1904-66_SIN", "aegean/1904-66_SIN.fits"},
        {"real_ScorpioFaintSNRField", "caesar/ScorpioFaintSNRField.fits"},
    };
    const char *folder = getenv("AIRY_REALDATA");
    char name[96];
    for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
        const bool real = images[i].file != NULL;
        struct image image = {.pixels = NULL};
        snprintf(name, sizeof(name), "statistics_%s", images[i].name);
        if (!golden_begin(g, name))
            continue;
        if (real && !(folder && *folder)) {
            golden_skip(g, "AIRY_REALDATA is not set");
            continue;
        }
        if (real ? load(g, &image, folder, images[i].file) : simulate(g, &image, images[i].name))
            check_image(g, &image, images[i].name);
        free(image.pixels);
        golden_end(g);
    }
}
