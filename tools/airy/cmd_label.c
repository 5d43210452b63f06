/* airy label: connected components, a label image and a table of measures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "device_image.h"

struct label_params {
    struct common common;
    struct bad_pixels bad;
    const char *output, *table;
    double above, sigma;
    bool has_above, has_sigma, each;
    size_t connectivity, min_area, max_area;
};
BAD_PIXELS_FIT(struct label_params);

#define FIELD(member) .offset = offsetof(struct label_params, member)

static const struct opt label_options[] = {
    {.heading = "Labels"},
    {.name = "above",
     .type = OPT_FLOAT,
     FIELD(above),
     .seen = offsetof(struct label_params, has_above),
     .lo = -1e300,
     .hi = 1e300,
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
             "more, {labels} is a list, and T of --sigma is each plane's own"},
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
     .help = "32-bit image of the labels, .npy, .h5, .edf, .fits" IF_TIFF(", .tif") " or .cbf"},
    {.name = "table",
     .type = OPT_STRING,
     FIELD(table),
     .use = OPT_WRITTEN,
     .argument = "TABLE",
     .help = "measures of each label, .csv, .fits or .vot"},
    {0},
};

/* An image, or the planes of a cube, which are volumes of one plane, and what is found of each. */
struct found {
    struct device_planes images;
    double *above; /* of each, where there are thresholds; infinity: nothing is foreground */
    bool has_above;
    airy_array *bits, **foreground; /* 0 and 1, of which the labels are; bits NULL: of the values */
    airy_array *cube, **targets;    /* of labels; cube NULL: not wanted */
    size_t *counts;
    airy_region **regions;
};

/* A number of each plane as a list, or the one of the image; null where there is none. */
static json_t *numbers_json(const struct label_params *p, const double *numbers, size_t count)
{
    if (!p->each)
        return tool_json_number(numbers[0]);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, tool_json_number(numbers[i]));
    return list;
}

static json_t *counts_json(const struct label_params *p, const size_t *counts, size_t count)
{
    if (!p->each)
        return json_integer((json_int_t)counts[0]);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_integer((json_int_t)counts[i]));
    return list;
}

/* Thresholds of --sigma that are of no use; the first one of planes is named. */
static int say_thresholds(const struct label_params *p, const airy_clip_result *clips,
                          const struct found *f)
{
    const char *input = p->common.inputs.items[0];
    size_t none = 0, low = 0, first[2] = {0};
    for (size_t i = f->images.count; i-- > 0;) {
        const bool has = clips[i].kept.count > 0, below = f->above[i] < clips[i].kept.median;
        none += !has;
        low += below;
        first[0] = has ? first[0] : i;
        first[1] = below ? i : first[1];
    }
    if (none && !p->each)
        return tool_fail(&p->common,
                         "%s: a clip leaves nothing, so there is no standard deviation; give "
                         "--above",
                         input);
    if (none)
        tool_say(&p->common,
                 "%s: a clip leaves nothing of %zu plane%s, of which plane %zu is the first: no "
                 "threshold, no labels",
                 input, none, tool_s(none), first[0]);
    if (low) {
        char of[96] = "";
        if (p->each)
            snprintf(of, sizeof(of), " of %zu plane%s, plane %zu the first,", low, tool_s(low),
                     first[1]);
        tool_say(&p->common,
                 "%s: the threshold%s %.6g lies below the background, whose median is %.6g; "
                 "subtract that first, as 'airy sources' does, or give --above",
                 input, of, f->above[first[1]], clips[first[1]].kept.median);
    }
    return AIRY_EXIT_OK;
}

/* The thresholds of --sigma; what they were made of goes into the JSON. */
static int clip_images(const struct label_params *p, const struct device_image *d, struct found *f,
                       airy_clip_result *clips, json_t *json)
{
    const size_t count = f->images.count;
    double *stds = calloc(count, sizeof(*stds));
    size_t *passes = calloc(count, sizeof(*passes));
    int code = stds && passes ? AIRY_EXIT_OK
                              : tool_fail(&p->common, "out of memory for %zu planes", count);
    if (code == AIRY_EXIT_OK) {
        const airy_status status =
            airy_clip_each(d->queue, clips, (const airy_array *const *)f->images.srcs,
                           (const airy_array *const *)f->images.masks, count, NULL);
        code = status == AIRY_OK ? code : tool_failed(&p->common, status);
    }
    for (size_t i = 0; i < count && code == AIRY_EXIT_OK; i++) {
        stds[i] = clips[i].kept.std;
        passes[i] = (size_t)clips[i].iterations;
        f->above[i] = clips[i].kept.count ? p->sigma * stds[i] : (double)INFINITY;
    }
    if (code == AIRY_EXIT_OK) {
        json_object_set_new(json, "std", numbers_json(p, stds, count));
        json_object_set_new(json, "iterations", counts_json(p, passes, count));
        json_object_set_new(json, "above", numbers_json(p, f->above, count));
        code = say_thresholds(p, clips, f);
    }
    free(stds);
    free(passes);
    return code;
}

static int find_thresholds(const struct label_params *p, const struct device_image *d,
                           struct found *f, json_t *json)
{
    const size_t count = f->images.count;
    f->has_above = p->has_above || p->has_sigma;
    f->above = calloc(count, sizeof(*f->above));
    airy_clip_result *clips = p->has_sigma ? calloc(count, sizeof(*clips)) : NULL;
    int code = AIRY_EXIT_OK;
    if (!f->above || (p->has_sigma && !clips))
        code = tool_fail(&p->common, "out of memory for %zu planes", count);
    else if (p->has_sigma)
        code = clip_images(p, d, f, clips, json);
    for (size_t i = 0; i < count && p->has_above && code == AIRY_EXIT_OK; i++)
        f->above[i] = p->above;
    if (p->has_above)
        json_object_set_new(json, "above", tool_json_number(p->above));
    free(clips);
    return code;
}

/* An array of the image's shape, and of each plane a view of it. */
static airy_status open_views(airy_array **whole, airy_array **views, const struct device_image *d,
                              airy_dtype dtype, size_t count)
{
    airy_status status = airy_array_create(whole, d->device, dtype, d->image.ndim, d->image.shape);
    for (size_t i = 0; i < count && status == AIRY_OK; i++)
        status = device_plane_view(&views[i], *whole, i, count);
    return status;
}

static void close_views(airy_array **whole, airy_array **views, size_t count)
{
    for (size_t i = 0; views && i < count; i++)
        airy_array_destroy(&views[i]);
    airy_array_destroy(whole);
    free(views);
}

/* Where values are foreground and pixels not bad. */
static airy_status make_foreground(struct found *f, const struct device_image *d)
{
    const size_t count = f->images.count;
    airy_status status = open_views(&f->bits, f->foreground, d, AIRY_DTYPE_U8, count);
    for (size_t i = 0; i < count && status == AIRY_OK; i++) {
        airy_array *to = f->foreground[i];
        status = f->has_above
                     ? airy_threshold(d->queue, to, f->images.srcs[i], f->above[i])
                     : airy_combine_value(d->queue, to, f->images.srcs[i], AIRY_NOT_EQUAL, 0);
        if (status == AIRY_OK && f->images.masks) /* of 0 and 1, too */
            status = airy_combine(d->queue, to, to, AIRY_GREATER, f->images.masks[i]);
    }
    return status;
}

/* Measures of labels of the foreground, from the values. */
static int measure_images(const struct label_params *p, const struct device_image *d,
                          struct found *f)
{
    for (size_t i = 0; i < f->images.count; i++)
        if (!(f->regions[i] = calloc(f->counts[i] + 1, sizeof(*f->regions[i]))))
            return tool_fail(&p->common, "out of memory for %zu labels", f->counts[i]);
    const airy_status status =
        airy_measure_each(d->queue, f->regions, f->counts, (const airy_array *const *)f->targets,
                          (const airy_array *const *)f->images.srcs, f->images.count);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
}

static airy_status label_images(const struct label_params *p, const struct device_image *d,
                                struct found *f)
{
    /* In a volume of one plane 6 and 18 neighbours are 4 and 8. */
    const int in_volumes = p->connectivity == 8 ? 18 : 6;
    const airy_label_params params = {
        .connectivity = p->each && d->image.ndim == 3 ? in_volumes : (int)p->connectivity,
        .has_above = f->has_above && !f->bits,
        .above = f->above[0],
        .min_count = p->min_area,
        .max_count = p->max_area};
    airy_array **from = f->bits ? f->foreground : f->images.srcs;
    return airy_label_each(d->queue, f->cube ? f->targets : NULL, (const airy_array *const *)from,
                           f->images.count, &params, f->counts,
                           p->table && !f->bits ? f->regions : NULL);
}

static int find_labels(const struct label_params *p, const struct device_image *d, struct found *f)
{
    const size_t count = f->images.count;
    airy_status status = AIRY_OK;
    f->counts = calloc(count, sizeof(*f->counts));
    f->regions = calloc(count, sizeof(airy_region *));
    f->foreground = calloc(count, sizeof(airy_array *));
    f->targets = calloc(count, sizeof(airy_array *));
    if (!f->counts || !f->regions || !f->foreground || !f->targets)
        return tool_fail(&p->common, "out of memory for %zu planes", count);
    if (f->images.masks || (p->has_sigma && count > 1))
        status = make_foreground(f, d);
    if (status == AIRY_OK && (p->output || (p->table && f->bits)))
        status = open_views(&f->cube, f->targets, d, AIRY_DTYPE_I32, count);
    if (status == AIRY_OK)
        status = label_images(p, d, f);
    if (status != AIRY_OK)
        return tool_failed(&p->common, status);
    return p->table && f->bits ? measure_images(p, d, f) : AIRY_EXIT_OK;
}

static void close_found(struct found *f)
{
    for (size_t i = 0; f->regions && i < f->images.count; i++)
        airy_regions_free(f->regions[i]);
    close_views(&f->bits, f->foreground, f->images.count);
    close_views(&f->cube, f->targets, f->images.count);
    device_planes_close(&f->images);
    free(f->above);
    free(f->counts);
    free(f->regions);
}

/* Of planes with their numbers. */
static bool add_regions(struct catalog *catalog, const struct label_params *p,
                        const airy_image *image, const struct found *f, const airy_region *all)
{
    if (p->each)
        return catalog_add_planes(catalog, all, f->counts, f->images.count);
    const bool added = catalog_add_regions(catalog, all);
    if (image->ndim == 3)
        catalog_add_depth(catalog, all);
    return added;
}

static int write_table(const struct label_params *p, const airy_image *image, const struct found *f)
{
    struct catalog catalog;
    catalog_open(&catalog, image);
    for (size_t i = 0; i < f->images.count; i++)
        catalog.rows += f->counts[i];
    airy_region *all = malloc((catalog.rows + 1) * sizeof(*all));
    for (size_t i = 0, at = 0; all && i < f->images.count; at += f->counts[i++])
        if (f->counts[i] > 0)
            memcpy(all + at, f->regions[i], f->counts[i] * sizeof(*all));
    int code = AIRY_EXIT_OK;
    if (!all || !add_regions(&catalog, p, image, f, all))
        code = tool_fail(&p->common, "%s: out of memory for %zu labels", p->table, catalog.rows);
    if (code == AIRY_EXIT_OK)
        code = catalog_write(&catalog, &p->common, "LABELS",
                             p->each ? "Connected components of planes" : "Connected components",
                             NULL, 0, p->table);
    free(all);
    catalog_close(&catalog);
    return code;
}

/* Of floats that are taken as they are, with no threshold that NaN does not pass. */
static void say_nan(const struct label_params *p, const struct device_image *d)
{
    const airy_image *image = &d->image;
    if (p->has_above || p->has_sigma || !airy_dtype_is_float(image->dtype))
        return;
    const size_t count = tool_count(image->shape, image->ndim);
    size_t nan = 0;
    for (size_t i = 0; i < count; i++)
        nan += isnan(airy_image_value(image, i)) && !(d->is_bad && d->is_bad[i]);
    if (nan)
        tool_say(&p->common,
                 "%s: %zu pixel%s NaN, which is foreground here as all that is not 0; --above T or "
                 "--mask leaves %s out",
                 p->common.inputs.items[0], nan, nan > 1 ? "s are" : " is",
                 nan > 1 ? "them" : "it");
}

static int make_labels(const struct label_params *p, struct device_image *d, json_t *json)
{
    struct found f = {.bits = NULL};
    int code = device_planes_open(&f.images, d, &p->common, p->each);
    if (code == AIRY_EXIT_OK)
        code = find_thresholds(p, d, &f, json);
    if (code == AIRY_EXIT_OK)
        code = find_labels(p, d, &f);
    if (code == AIRY_EXIT_OK) {
        if (!device_image_say_mask(&p->common, &p->bad, NULL)) {
            say_nan(p, d);
            device_image_say_values(d, &p->common, &p->bad,
                                    p->has_above ? p->above : -(double)INFINITY);
        }
        json_object_set_new(json, "labels", counts_json(p, f.counts, f.images.count));
    }
    if (code == AIRY_EXIT_OK && p->table)
        code = write_table(p, &d->image, &f);
    if (code == AIRY_EXIT_OK && p->output)
        code = device_image_write(d, &p->common, f.cube, p->output);
    close_found(&f);
    return code;
}

static int check_label(void *user)
{
    const struct label_params *p = user;
    const struct common *common = &p->common;
    if (p->has_above && p->has_sigma)
        return tool_usage(common, "--above and --sigma exclude each other");
    if (p->max_area && p->min_area > p->max_area)
        return tool_usage(common, "--min-area %zu: expected at most --max-area, %zu", p->min_area,
                          p->max_area);
    const size_t c = p->connectivity;
    const bool of_planes = c == 4 || c == 8;
    if (c && !of_planes && (p->each || (c != 2 && c != 6 && c != 18 && c != 26)))
        return tool_usage(common, "--connectivity %zu: expected 4 or 8%s", c,
                          p->each ? " in planes" : ", in 3-D 6, 18 or 26");
    const int code = bad_pixels_check(common, &p->bad);
    return code == AIRY_EXIT_OK ? catalog_check_name(common, "table", p->table) : code;
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
    struct device_image d;
    json_t *json = json_object();
    int code = p->each ? device_image_open_cube(&d, common, common->inputs.items[0], &p->bad)
                       : device_image_open(&d, common, common->inputs.items[0], &p->bad);
    if (code == AIRY_EXIT_OK)
        code = check_image(p, &d.image);
    if (code == AIRY_EXIT_OK) {
        device_image_begin(&d, common);
        code = make_labels(p, &d, json);
    }
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
        "values, semi-axes a and b and angle theta (rad, from x towards y), empty where values of "
        "both "
        "signs leave no ellipse; coordinates are pixel centres from 0. Prints {labels}, with the "
        "threshold used (with --each --sigma: "
        "thresholds). Bad pixels are background.",
    .examples = "  airy label image.npy --above 120 -o labels.npy --table sources.csv\n"
                "  airy label residual.npy --sigma 5 --table sources.csv\n"
                "  airy label mask.npy --connectivity 8 --min-area 5\n"
                "  airy label cube.fits --each --above 120 --table sources.csv\n"
                "  airy label frames.npy --each --above 50 --mask bad.npy --table spots.csv\n",
    .tables = {label_options, bad_pixels_options},
    .takes = TAKES_COMPUTE | TAKES_COMPARE,
    .params_size = sizeof(struct label_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .check = check_label,
    .run = run_label,
};
