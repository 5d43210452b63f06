/* airy label: connected components, a label image and a table of measures. */
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "device_image.h"

struct label_params {
    struct common common;
    const char *output, *table;
    double above, sigma;
    bool has_above, has_sigma, each;
    size_t connectivity, min_area, max_area;
};

#define FIELD(member) .offset = offsetof(struct label_params, member)

static const struct opt label_options[] = {
    {.heading = "Labels"},
    {.name = "above",
     .type = OPT_FLOAT,
     FIELD(above),
     .seen = offsetof(struct label_params, has_above),
     .argument = "T",
     .fallback = "values that are not 0, NaN among them",
     .help = "foreground are values larger than T, in the unit of the image; NaN is not"},
    {.name = "sigma",
     .type = OPT_FLOAT,
     FIELD(sigma),
     .seen = offsetof(struct label_params, has_sigma),
     .lo = 0,
     .hi = 1e300,
     .argument = "K",
     .help = "T = K standard deviations (of what a kappa-sigma clip leaves); no background is "
             "subtracted, so that it is for images around 0"},
    {.name = "connectivity",
     .type = OPT_COUNT,
     FIELD(connectivity),
     .lo = 2,
     .hi = 26,
     .argument = "N",
     .fallback = "4, in 3-D 6",
     .help = "neighbours of a pixel: 4 or 8, in 3-D 6, 18 or 26"},
    {.name = "each",
     .type = OPT_FLAG,
     FIELD(each),
     .help = "each plane of a cube or stack is an image by itself; the table has a column 'plane' "
             "more, and {labels} is a list. T of --sigma is that of all of them"},
    {.name = "min-area",
     .type = OPT_COUNT,
     FIELD(min_area),
     .lo = 1,
     .hi = 4e9,
     .argument = "N",
     .fallback = "1",
     .help = "pixels that a component must have"},
    {.name = "max-area",
     .type = OPT_COUNT,
     FIELD(max_area),
     .lo = 1,
     .hi = 4e9,
     .argument = "N",
     .help = "pixels that it may have"},
    {.name = "output",
     .letter = 'o',
     .type = OPT_STRING,
     FIELD(output),
     .use = OPT_WRITTEN_IMAGE,
     .argument = "LABELS",
     .help = "32-bit image of the labels, .npy, .h5, .edf, .fits, .tif or .cbf"},
    {.name = "table",
     .type = OPT_STRING,
     FIELD(table),
     .use = OPT_WRITTEN,
     .argument = "TABLE",
     .help = "measures of each label, .csv, .fits or .vot"},
    {0},
};

static int write_table(const struct label_params *p, const airy_image *image,
                       const airy_region *regions, size_t count)
{
    struct catalog catalog;
    catalog_open(&catalog, image);
    catalog.rows = count;
    int code = AIRY_EXIT_OK;
    if (!catalog_add_regions(&catalog, regions))
        code = tool_fail(&p->common, "%s: out of memory for %zu labels", p->table, count);
    if (image->ndim == 3)
        catalog_add_depth(&catalog, regions);
    if (code == AIRY_EXIT_OK)
        code = catalog_write(&catalog, &p->common, "LABELS", "Connected components", NULL, 0,
                             p->table);
    catalog_close(&catalog);
    return code;
}

/* The threshold of --sigma; what it was made of goes into the JSON. */
static int find_threshold(const struct label_params *p, struct device_image *d,
                          airy_label_params *params, json_t *json)
{
    params->has_above = p->has_above || p->has_sigma;
    params->above = p->above;
    if (p->has_sigma) {
        airy_clip_result clip;
        const airy_status status = airy_clip(d->queue, &clip, d->src, NULL, NULL);
        if (status != AIRY_OK)
            return tool_failed(&p->common, status);
        if (clip.kept.count == 0)
            return tool_fail(&p->common,
                             "%s: a clip leaves nothing, so there is no standard "
                             "deviation; give --above",
                             p->common.inputs.items[0]);
        params->above = p->sigma * clip.kept.std;
        if (params->above < clip.kept.median)
            tool_say(&p->common,
                     "%s: the threshold %.6g lies below the background, whose median is %.6g; "
                     "subtract that first, as 'airy sources' does, or give --above",
                     p->common.inputs.items[0], params->above, clip.kept.median);
        json_object_set_new(json, "std", json_number(clip.kept.std));
        json_object_set_new(json, "iterations", json_integer((json_int_t)clip.iterations));
    }
    if (params->has_above)
        json_object_set_new(json, "above", json_number(params->above));
    return AIRY_EXIT_OK;
}

static int label_image(const struct label_params *p, struct device_image *d, json_t *json)
{
    airy_label_params params = {
        .connectivity = (int)p->connectivity, .min_count = p->min_area, .max_count = p->max_area};
    airy_array *labels = NULL;
    airy_region *regions = NULL;
    size_t count;
    int code = find_threshold(p, d, &params, json);
    if (code != AIRY_EXIT_OK)
        return code;
    airy_status status = AIRY_OK;
    if (p->output)
        status =
            airy_array_create(&labels, d->device, AIRY_DTYPE_I32, d->image.ndim, d->image.shape);
    if (status == AIRY_OK)
        status = airy_label(d->queue, labels, d->src, &params, &count, p->table ? &regions : NULL);
    code = status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
    if (code == AIRY_EXIT_OK)
        json_object_set_new(json, "labels", json_integer((json_int_t)count));
    if (code == AIRY_EXIT_OK && p->table)
        code = write_table(p, &d->image, regions, count);
    if (code == AIRY_EXIT_OK && p->output)
        code = device_image_write(d, &p->common, labels, p->output);
    airy_regions_free(regions);
    airy_array_destroy(&labels);
    return code;
}

/* The planes of a cube, which are volumes of one plane, or an image, and what is found of each. */
struct planes {
    struct device_planes images;
    airy_array *cube, **targets; /* of labels; the cube is NULL where they are not wanted */
    size_t *counts;
    airy_region **regions;
};

static int open_planes(struct planes *planes, const struct label_params *p,
                       const struct device_image *d)
{
    const int code = device_planes_open(&planes->images, d, &p->common, true);
    if (code != AIRY_EXIT_OK)
        return code;
    const size_t n = planes->images.count;
    airy_status status = AIRY_OK;
    planes->targets = calloc(n, sizeof(airy_array *));
    planes->counts = calloc(n, sizeof(*planes->counts));
    planes->regions = calloc(n, sizeof(airy_region *));
    if (!planes->targets || !planes->counts || !planes->regions)
        return tool_fail(&p->common, "out of memory for %zu planes", n);
    if (p->output)
        status = airy_array_create(&planes->cube, d->device, AIRY_DTYPE_I32, d->image.ndim,
                                   d->image.shape);
    for (size_t i = 0; p->output && i < n && status == AIRY_OK; i++)
        status = device_plane_view(&planes->targets[i], planes->cube, i, n);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
}

static void close_planes(struct planes *planes)
{
    for (size_t i = 0; i < planes->images.count; i++) {
        if (planes->targets)
            airy_array_destroy(&planes->targets[i]);
        if (planes->regions)
            airy_regions_free(planes->regions[i]);
    }
    airy_array_destroy(&planes->cube);
    device_planes_close(&planes->images);
    free(planes->targets);
    free(planes->counts);
    free(planes->regions);
}

static int write_planes(const struct label_params *p, const airy_image *image,
                        const struct planes *planes)
{
    struct catalog catalog;
    catalog_open(&catalog, image);
    for (size_t i = 0; i < planes->images.count; i++)
        catalog.rows += planes->counts[i];
    airy_region *all = malloc((catalog.rows + 1) * sizeof(*all));
    for (size_t i = 0, at = 0; all && i < planes->images.count; at += planes->counts[i++])
        if (planes->counts[i] > 0)
            memcpy(all + at, planes->regions[i], planes->counts[i] * sizeof(*all));
    int code = AIRY_EXIT_OK;
    if (!all || !catalog_add_planes(&catalog, all, planes->counts, planes->images.count))
        code = tool_fail(&p->common, "%s: out of memory for %zu labels", p->table, catalog.rows);
    if (code == AIRY_EXIT_OK)
        code = catalog_write(&catalog, &p->common, "LABELS", "Connected components of planes", NULL,
                             0, p->table);
    free(all);
    catalog_close(&catalog);
    return code;
}

static int label_planes(const struct label_params *p, struct device_image *d, json_t *json)
{
    /* In a volume of one plane 6 and 18 neighbours are 4 and 8. */
    const int in_volumes = p->connectivity == 8 ? 18 : 6;
    airy_label_params params = {.connectivity = d->image.ndim == 3 ? in_volumes
                                                                   : (int)p->connectivity,
                                .min_count = p->min_area,
                                .max_count = p->max_area};
    struct planes planes = {.cube = NULL};
    int code = find_threshold(p, d, &params, json);
    if (code != AIRY_EXIT_OK)
        return code;
    code = open_planes(&planes, p, d);
    if (code == AIRY_EXIT_OK) {
        const airy_status status = airy_label_each(d->queue, p->output ? planes.targets : NULL,
                                                   (const airy_array *const *)planes.images.srcs,
                                                   planes.images.count, &params, planes.counts,
                                                   p->table ? planes.regions : NULL);
        code = status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
    }
    if (code == AIRY_EXIT_OK) {
        json_t *list = json_array();
        for (size_t i = 0; i < planes.images.count; i++)
            json_array_append_new(list, json_integer((json_int_t)planes.counts[i]));
        json_object_set_new(json, "labels", list);
    }
    if (code == AIRY_EXIT_OK && p->table)
        code = write_planes(p, &d->image, &planes);
    if (code == AIRY_EXIT_OK && p->output)
        code = device_image_write(d, &p->common, planes.cube, p->output);
    close_planes(&planes);
    return code;
}

static int check_options(const struct label_params *p)
{
    const struct common *common = &p->common;
    if (p->has_above && p->has_sigma)
        return tool_usage(common, "--above and --sigma exclude each other");
    if (p->max_area && p->min_area > p->max_area)
        return tool_usage(common, "--min-area %zu: expected at most --max-area, %zu", p->min_area,
                          p->max_area);
    return catalog_check_name(common, "table", p->table);
}

/* Neighbours are those of a plane, or of what is labelled as a whole. */
static int check_image(const struct label_params *p, const airy_image *image)
{
    static const char *const expected[] = {"2", "4 or 8", "6, 18 or 26"};
    const size_t c = p->connectivity;
    if (image->ndim > 3)
        return tool_fail(&p->common, "%s: has %d dimensions, expected an image or a volume%s",
                         p->common.inputs.items[0], image->ndim,
                         p->each ? "" : "; --each takes its planes");
    const int ndim = p->each ? 2 : image->ndim;
    const bool known = ndim == 1   ? c == 2
                       : ndim == 2 ? c == 4 || c == 8
                                   : c == 6 || c == 18 || c == 26;
    return c == 0 || known
               ? AIRY_EXIT_OK
               : tool_usage(&p->common, "--connectivity %zu: expected %s in %d dimension%s", c,
                            expected[ndim - 1], ndim, tool_s((size_t)ndim));
}

static int run_label(void *user)
{
    const struct label_params *p = user;
    const struct common *common = &p->common;
    int code = check_options(p);
    if (code != AIRY_EXIT_OK)
        return code;
    struct device_image d;
    json_t *json = json_object();
    code = p->each ? device_image_open_cube(&d, common, common->inputs.items[0])
                   : device_image_open(&d, common, common->inputs.items[0], NULL);
    if (code == AIRY_EXIT_OK)
        code = check_image(p, &d.image);
    if (code == AIRY_EXIT_OK)
        code = p->each ? label_planes(p, &d, json) : label_image(p, &d, json);
    if (code == AIRY_EXIT_OK)
        code = device_image_profile(&d, common);
    device_image_close(&d);
    if (code == AIRY_EXIT_OK)
        return tool_print_json(common, json);
    json_decref(json);
    return code;
}

const struct command cmd_label = {
    .name = "label",
    .usage = "IMAGE [options]",
    .summary = "number the connected components of an image, and measure them",
    .details =
        "Labels are 1, 2, ... in the raster order of the components' first pixels, as "
        "scipy.ndimage.label has them. The table has label, npix, sum, mean, peak and its place, "
        "center of mass, box (ends included), second moments about the center weighted by the "
        "values, semi-axes a and b and angle theta (rad, from x towards y); coordinates are pixel "
        "centres from 0. Prints {labels}, with the threshold used.",
    .examples = "  airy label image.npy --above 120 -o labels.npy --table sources.csv\n"
                "  airy label residual.npy --sigma 5 --table sources.csv\n"
                "  airy label mask.npy --connectivity 8 --min-area 5\n"
                "  airy label cube.fits --each --above 120 --table sources.csv\n",
    .tables = {label_options},
    .takes = TAKES_COMPUTE | TAKES_COMPARE,
    .params_size = sizeof(struct label_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .run = run_label,
};
