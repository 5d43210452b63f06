/* airy sources: what stands out of an image of the sky, as a catalogue. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gnuplot.h"
#include "sources.h"

#define FIELD(member) .offset = offsetof(struct sources_params, member)
#define SEEN(member)  .seen = offsetof(struct sources_params, member)

static const char *parse_method(void *field, const char *text)
{
    if (strcmp(text, "simple") != 0)
        return "expected simple";
    *(bool *)field = true;
    return NULL;
}

static const struct opt sources_options[] = {
    {.heading = "Detection"},
    {.name = "method",
     .type = OPT_PARSED,
     FIELD(simple),
     .parse = parse_method,
     .argument = "simple",
     .help = "simple: a threshold of SIGMA standard deviations of what a clip leaves, above 0"},
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
     .fallback = "4",
     .help = "neighbours of a pixel"},
    {.name = "min-area",
     .type = OPT_COUNT,
     FIELD(min_area),
     .lo = 1,
     .hi = 4e9,
     .argument = "N",
     .fallback = "1",
     .help = "pixels that a source must have"},
    {.name = "frame",
     .type = OPT_COUNT,
     FIELD(frame),
     SEEN(has_frame),
     .lo = 0,
     .hi = 1e15,
     .argument = "N",
     .help = "plane of a cube, from 0"},
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
     .help = "32-bit image of the sources' numbers"},
    {.name = "plot",
     .type = OPT_STRING,
     FIELD(plot),
     .use = OPT_WRITTEN,
     .argument = "OUT.png",
     .help = "picture of the image with the sources, .png, .svg or .pdf; drawn by gnuplot"},
    {0},
};

/* Pixels above k standard deviations among n of pure Gaussian noise. */
static double expected_false(double k, double n)
{
    return n * erfc(k / sqrt(2)) / 2;
}

static void fill_json(json_t *json, const struct found *f, const struct catalog *catalog)
{
    json_object_set_new(json, "sources", json_integer((json_int_t)f->count));
    json_object_set_new(json, "threshold", json_number(f->threshold));
    json_object_set_new(json, "background", json_number(f->background));
    json_object_set_new(json, "noise", json_number(f->noise));
    json_object_set_new(json, "expected_false_pixels", json_number(f->expected_false));
    json_object_set_new(json, "unit", tool_json_string(catalog->unit));
}

static int find_simple(const struct sources_params *p, struct device_image *d, struct found *f)
{
    const struct common *common = &p->common;
    airy_clip_result clip;
    airy_status status = airy_clip(d->queue, &clip, d->src, NULL, NULL);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    if (clip.kept.count == 0)
        return tool_fail(common, "%s: %s, so there is no noise to measure", common->inputs.items[0],
                         clip.clipped ? "a clip leaves nothing of its values"
                                      : "no pixel is finite");
    f->background = clip.kept.median;
    f->noise = clip.kept.std;
    f->threshold = p->sigma * f->noise;
    f->expected_false = expected_false(p->sigma, (double)(clip.kept.count + clip.clipped));
    const airy_label_params params = {.connectivity = (int)p->connectivity,
                                      .has_above = true,
                                      .above = f->threshold,
                                      .min_count = p->min_area};
    if (p->segmentation)
        status = airy_array_create(&f->labels, d->device, AIRY_DTYPE_I32, 2, d->image.shape);
    if (status == AIRY_OK)
        status = airy_label(d->queue, f->labels, d->src, &params, &f->count, &f->regions);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

static int write_outputs(const struct sources_params *p, struct device_image *d,
                         const struct found *f, struct catalog *catalog)
{
    int code = AIRY_EXIT_OK;
    if (p->catalog)
        code = sources_write_catalog(p, f, catalog);
    if (code == AIRY_EXIT_OK && p->regions)
        code = sources_write_regions(p, f, catalog);
    if (code == AIRY_EXIT_OK && p->segmentation)
        code = device_image_write(d, &p->common, f->labels, p->segmentation);
    if (code == AIRY_EXIT_OK && p->plot)
        code = sources_plot(p, f, catalog, &d->image);
    return code;
}

static int find_sources(const struct sources_params *p, struct device_image *d, json_t *json)
{
    struct found found = {0};
    struct catalog catalog;
    catalog_open(&catalog, &d->image);
    int code = find_simple(p, d, &found);
    catalog.rows = found.count;
    if (code == AIRY_EXIT_OK)
        code = sources_columns(p, &found, &catalog);
    if (code == AIRY_EXIT_OK)
        code = write_outputs(p, d, &found, &catalog);
    if (code == AIRY_EXIT_OK) {
        fill_json(json, &found, &catalog);
        sources_say(p, &found, &catalog);
    }
    catalog_close(&catalog);
    airy_regions_free(found.regions);
    airy_array_destroy(&found.labels);
    return code;
}

static int run_sources(void *user)
{
    struct sources_params *p = user;
    const struct common *common = &p->common;
    p->sigma = p->has_sigma ? p->sigma : 5;
    p->connectivity = p->connectivity ? p->connectivity : 4;
    p->min_area = p->min_area ? p->min_area : 1;
    if (p->connectivity != 4 && p->connectivity != 8)
        return tool_usage(common, "--connectivity %zu: expected 4 or 8", p->connectivity);
    int code = catalog_check_name(common, "catalog", p->catalog);
    if (code == AIRY_EXIT_OK && p->plot)
        code = gnuplot_check_name(common, p->plot);
    if (code == AIRY_EXIT_OK && p->plot)
        code = gnuplot_check(common);
    if (code != AIRY_EXIT_OK)
        return code;
    struct device_image d;
    json_t *json = json_object();
    code = device_image_open_plane(&d, common, common->inputs.items[0], NULL,
                                   p->has_frame ? &p->frame : NULL);
    if (code == AIRY_EXIT_OK)
        code = find_sources(p, &d, json);
    if (code == AIRY_EXIT_OK)
        code = tool_profile(common, d.device);
    device_image_close(&d);
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
        "The simple method clips the image until nothing is removed, takes K standard deviations "
        "of what is left as threshold, without the median, so that it is for images around 0, and "
        "measures the connected pixels above it. The catalogue has the columns of `airy label`, "
        "the flux in Jy where the header has a beam and the unit Jy/beam, and sky coordinates. "
        "Prints {sources, threshold, background, noise, expected_false_pixels, unit}; the last "
        "number is what Gaussian noise alone would have above the threshold.",
    .examples = "  airy sources residual.fits --method simple --catalog sources.csv\n"
                "  airy sources cube.fits --frame 3 --method simple --sigma 6 --regions out.reg\n",
    .tables = {sources_options},
    .takes = TAKES_COMPUTE,
    .params_size = sizeof(struct sources_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .run = run_sources,
};
