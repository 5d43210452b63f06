/* airy sources: what stands out of an image of the sky, as a catalogue. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "images/found.h"
#include "plot/gnuplot.h"

#define FIELD(member) .offset = offsetof(struct sources_params, member)
#define SEEN(member)  .seen = offsetof(struct sources_params, member)

static const char *const methods[] = {"full", "simple", NULL};

static const char *parse_method(void *field, const char *text)
{
    int method = 0;
    const char *expected = opt_word(text, methods, &method);
    *(bool *)field = method == 1;
    return expected;
}

static const char *parse_compat(void *field, const char *text)
{
    if (strcmp(text, "sep") != 0)
        return "expected sep";
    *(bool *)field = true;
    return NULL;
}

/* N, or Y,X */
static const char *parse_mesh(void *field, const char *text)
{
    double v[2];
    size_t *mesh = field;
    if (opt_number(text, &v[0]))
        v[1] = v[0];
    else if (!opt_two(text, v))
        return "expected a number of pixels, or two as Y,X";
    for (int i = 0; i < 2; i++) {
        if (!(v[i] >= 2 && v[i] <= 32768 && floor(v[i]) == v[i]))
            return "expected whole numbers from 2 to 32768";
        mesh[i] = (size_t)v[i];
    }
    return NULL;
}

static const char *parse_deblend(void *field, const char *text)
{
    struct deblending *d = field;
    double v[2] = {1, 1};
    if (strcmp(text, "off") != 0 && !opt_two(text, v))
        return "expected LEVELS,CONTRAST or off";
    if (!(v[0] >= 1 && v[0] <= 1024 && floor(v[0]) == v[0] && v[1] >= 0 && v[1] <= 1))
        return "expected 1 to 1024 levels and a contrast from 0 to 1";
    d->levels = (int)v[0];
    d->contrast = v[1];
    return NULL;
}

static const char *parse_apertures(void *field, const char *text)
{
    struct apertures *a = field;
    const size_t count = opt_numbers(text, a->radius, AIRY_SOURCE_APERTURES);
    bool good = count > 0;
    for (size_t i = 0; i < count; i++)
        good &= a->radius[i] > 0 && a->radius[i] <= 1e6;
    a->count = (int)count;
    return good ? NULL : "expected 1 to 8 radii in pixels as R,R,..., each above 0";
}

static const struct opt sources_options[] = {
    {.heading = "Detection"},
    {.name = "method",
     .type = OPT_PARSED,
     FIELD(simple),
     .parse = parse_method,
     .argument = "full|simple",
     .fallback = "full",
     .help = "full: background and noise of a mesh, deblending; simple: SIGMA standard deviations "
             "of what a clip leaves, above 0"},
    {.name = "sigma",
     .type = OPT_FLOAT,
     FIELD(sigma),
     SEEN(has_sigma),
     .lo = 1e-300,
     .hi = 1e300,
     .argument = "K",
     .fallback = "5",
     .help = "threshold in standard deviations of the noise"},
    {.name = "connectivity",
     .type = OPT_COUNT,
     FIELD(connectivity),
     .lo = 4,
     .hi = 8,
     .argument = "4|8",
     .fallback = "8; simple: 4",
     .help = "neighbours of a pixel"},
    {.name = "min-area",
     .type = OPT_COUNT,
     FIELD(min_area),
     .lo = 1,
     .hi = 4e9,
     .argument = "N",
     .fallback = "5; simple: 1",
     .help = "pixels that a source must have"},
    {.name = "frame",
     .type = OPT_COUNT,
     FIELD(frame),
     SEEN(has_frame),
     .lo = 0,
     .hi = 1e15,
     .argument = "N",
     .help = "plane of a cube, from 0"},
    {.heading = "The full method"},
    {.name = "mesh",
     .type = OPT_PARSED,
     FIELD(mesh),
     .parse = parse_mesh,
     .argument = "N|Y,X",
     .fallback = "64",
     .help = "pixels of a mesh of the background"},
    {.name = "global-noise",
     .type = OPT_FLAG,
     FIELD(global_noise),
     .help = "one noise for the image, the median over the meshes"},
    {.name = "matched",
     .type = OPT_FLOAT,
     FIELD(fwhm),
     .lo = 0.1,
     .hi = 300,
     .argument = "FWHM",
     .help = "detect in the image filtered for points of this width, pixels"},
    {.name = "kernel",
     .type = OPT_STRING,
     FIELD(kernel),
     .use = OPT_READ,
     .argument = "FILE",
     .help = "detect in the image correlated with this kernel over the sum of its absolute values, "
             "an image or SExtractor's .conv, which is taken as it is with NONORM; sides are odd"},
    {.name = "deblend",
     .type = OPT_PARSED,
     FIELD(deblending),
     .parse = parse_deblend,
     .argument = "LEVELS,CONTRAST|off",
     .fallback = "32,0.005",
     .help =
         "split sources whose parts have each CONTRAST of the flux at one of LEVELS thresholds"},
    {.name = "clean",
     .type = OPT_FLAG,
     FIELD(clean),
     .help = "leave out what the wings of brighter neighbours explain"},
    {.name = "apertures",
     .type = OPT_PARSED,
     FIELD(apertures),
     .parse = parse_apertures,
     .argument = "R,R,...",
     .help = "radii of circles, pixels, for flux_aper_1, ..."},
    {.name = "gain",
     .type = OPT_FLOAT,
     FIELD(gain),
     .lo = 1e-30,
     .hi = 1e30,
     .argument = "G",
     .help = "electrons a unit of the image, for errors of fluxes"},
    {.name = "compat",
     .type = OPT_PARSED,
     FIELD(sep),
     .parse = parse_compat,
     .argument = "sep",
     .help = "as sep 1.4 by default: its background, one noise, its filter of 3 x 3, cleaning"},
    {.heading = "Output"},
    {.name = "catalog",
     .type = OPT_STRING,
     FIELD(catalog),
     .use = OPT_WRITTEN,
     .argument = "OUT",
     .help = "table of the sources, .csv, .fits or .vot"},
    {.name = "regions",
     .type = OPT_STRING,
     FIELD(regions),
     .use = OPT_WRITTEN,
     .argument = "OUT.reg",
     .help = "ellipses for DS9, of twice the semi-axes"},
    {.name = "segmentation",
     .type = OPT_STRING,
     FIELD(segmentation),
     .use = OPT_WRITTEN_IMAGE,
     .argument = "OUT",
     .holds = 1 + AIRY_DTYPE_I32,
     .help = "32-bit image of the sources' numbers"},
    {.name = "background",
     .type = OPT_STRING,
     FIELD(background),
     .use = OPT_WRITTEN_IMAGE,
     .argument = "OUT",
     .holds = 1 + AIRY_DTYPE_F32,
     .help = "float32 image of the background (full)"},
    {.name = "noise",
     .type = OPT_STRING,
     FIELD(noise),
     .use = OPT_WRITTEN_IMAGE,
     .argument = "OUT",
     .holds = 1 + AIRY_DTYPE_F32,
     .help = "float32 image of the noise (full)"},
    {.name = "plot",
     .type = OPT_STRING,
     FIELD(plot),
     .use = OPT_WRITTEN,
     .argument = "OUT.png",
     .help = "picture of the image with the sources, .png, .svg or .pdf; drawn by gnuplot"},
    {0},
};

static void fill_json(json_t *json, const struct found *f, const struct catalog *catalog)
{
    json_object_set_new(json, "sources", json_integer((json_int_t)f->count));
    json_object_set_new(json, "threshold", tool_json_number(f->threshold));
    json_object_set_new(json, "background", tool_json_number(f->background));
    json_object_set_new(json, "noise", tool_json_number(f->noise));
    json_object_set_new(json, "expected_false_pixels", tool_json_number(f->expected_false));
    json_object_set_new(json, "unit", tool_json_string(catalog->unit));
}

static int write_outputs(const struct sources_params *p, struct device_image *d,
                         const struct found *f, struct catalog *catalog)
{
    const struct {
        const char *path;
        const airy_array *array;
    } images[] = {
        {p->segmentation, f->segmentation}, {p->background, f->level}, {p->noise, f->noise_map}};
    int code = AIRY_EXIT_OK;
    if (p->catalog)
        code = found_write_catalog(p, f, catalog);
    if (code == AIRY_EXIT_OK && p->regions)
        code = found_write_regions(p, f, catalog);
    for (size_t i = 0; i < 3 && code == AIRY_EXIT_OK; i++)
        if (images[i].path)
            code = device_image_write(d, &p->common, images[i].array, images[i].path);
    if (code == AIRY_EXIT_OK && p->plot)
        code = found_plot(p, f, catalog, &d->image);
    return code;
}

static int find_sources(const struct sources_params *p, struct device_image *d, json_t *json)
{
    struct found found = {0};
    struct catalog catalog;
    catalog_open(&catalog, &d->image);
    catalog_say_assumed(&p->common, catalog.sky);
    int code = p->simple ? find_simple(p, d, &found) : find_full(p, d, &found);
    catalog.rows = found.count;
    if (code == AIRY_EXIT_OK)
        code = found_columns(p, &found, &catalog);
    if (code == AIRY_EXIT_OK)
        code = write_outputs(p, d, &found, &catalog);
    if (code == AIRY_EXIT_OK) {
        fill_json(json, &found, &catalog);
        found_say(p, &found, &catalog);
    }
    catalog_close(&catalog);
    found_free(&found);
    return code;
}

/* Images that are written, with the axes of the one that is read. */
static int check_formats(const struct sources_params *p, const struct device_image *d)
{
    const struct common *common = &p->common;
    int code = device_image_check_format(d, common, p->segmentation, AIRY_DTYPE_I32);
    if (code == AIRY_EXIT_OK)
        code = device_image_check_format(d, common, p->background, AIRY_DTYPE_F32);
    if (code == AIRY_EXIT_OK)
        code = device_image_check_format(d, common, p->noise, AIRY_DTYPE_F32);
    return code;
}

/* Options that the simple method does not have, and names of outputs. */
static int check_sources(void *user)
{
    const struct sources_params *p = user;
    const struct common *common = &p->common;
    const struct {
        const char *name;
        bool given;
    } full[] = {{"mesh", p->mesh[0] > 0},
                {"global-noise", p->global_noise},
                {"matched", p->fwhm > 0},
                {"kernel", p->kernel != NULL},
                {"deblend", p->deblending.levels > 0},
                {"clean", p->clean},
                {"apertures", p->apertures.count > 0},
                {"gain", p->gain > 0},
                {"mask", p->bad.mask != NULL},
                {"dummy", p->bad.has_dummy},
                {"compat", p->sep},
                {"background", p->background != NULL},
                {"noise", p->noise != NULL}};
    for (size_t i = 0; p->simple && i < sizeof(full) / sizeof(full[0]); i++)
        if (full[i].given)
            return tool_usage(common, "--%s is of the full method", full[i].name);
    if (p->kernel && p->fwhm > 0)
        return tool_usage(common, "--kernel and --matched exclude each other");
    if (p->connectivity && p->connectivity != 4 && p->connectivity != 8)
        return tool_usage(common, "--connectivity %zu: expected 4 or 8", p->connectivity);
    if (p->regions && !tool_has_suffix(p->regions, ".reg"))
        return tool_usage(common, "--regions %s: expected a name that ends in .reg", p->regions);
    int code = bad_pixels_check(common, &p->bad);
    if (code == AIRY_EXIT_OK)
        code = catalog_check_name(common, "catalog", p->catalog);
    if (code == AIRY_EXIT_OK && p->plot)
        code = gnuplot_check_name(common, p->plot);
    if (code == AIRY_EXIT_OK && p->plot)
        code = gnuplot_check(common);
    return code;
}

static int run_sources(void *user)
{
    struct sources_params *p = user;
    const struct common *common = &p->common;
    p->sigma = p->has_sigma ? p->sigma : 5;
    struct device_image d = {0};
    json_t *json = json_object();
    int code = find_filter(p);
    if (code == AIRY_EXIT_OK)
        code = device_image_open_plane(&d, common, common->inputs.items[0], &p->bad,
                                       p->has_frame ? &p->frame : NULL);
    if (code == AIRY_EXIT_OK)
        code = check_formats(p, &d);
    if (code == AIRY_EXIT_OK) {
        device_image_begin(&d, common);
        code = find_sources(p, &d, json);
    }
    if (code == AIRY_EXIT_OK)
        code = tool_profile(common, d.device);
    device_image_close(&d);
    free(p->filter);
    if (code == AIRY_EXIT_OK)
        return tool_print_json(common, json);
    json_decref(json);
    return code;
}

const struct command cmd_sources = {
    .name = "sources",
    .usage = "IMAGE [options]",
    .summary = "find the sources of an image of the sky, and measure them",
    .details =
        "The full method subtracts a background that it takes from the image, mesh by mesh, finds "
        "what is brighter than K times the noise there, splits what belongs to several sources, "
        "and measures it. The simple one clips the image until nothing is removed and takes K "
        "standard deviations of what is left as threshold, without the median: it is for images "
        "around 0. Fluxes are in Jy where the header has a beam and the unit Jy/beam, places in "
        "degrees where it has coordinates. Prints {sources, threshold, background, noise, "
        "expected_false_pixels, unit}; noise alone would have so many pixels above the threshold.",
    .examples = "  airy sources field.fits --catalog field.vot --regions field.reg\n"
                "  airy sources ccd.fits --sigma 1.5 --matched 3 --mesh 32 --apertures 3,5 \\\n"
                "      --catalog ccd.csv --background back.fits --plot ccd.png\n"
                "  airy sources cube.fits --frame 3 --method simple --catalog plane3.csv\n",
    .tables = {sources_options, bad_pixels_options},
    .takes = TAKES_COMPUTE | TAKES_COMPARE,
    .params_size = sizeof(struct sources_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .check = check_sources,
    .run = run_sources,
};
