/* airy label: connected components, a label image and a table of measures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/element.h"
#include "images/catalog.h"
#include "images/plane_runs.h"

struct label_params {
    struct common common;
    struct bad_pixels bad;
    const char *output, *table;
    double above, sigma;
    bool has_above, has_sigma, each, has_frames;
    size_t connectivity, min_area, max_area;
    size_t frames[3]; /* first, end (0: all), step */
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
     .fallback = "values that are not 0; NaN is background",
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
    PLANE_FRAMES_OPTION(struct label_params, frames, has_frames),
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
     .holds = 1 + AIRY_DTYPE_I32,
     .help = "32-bit image of the labels"},
    {.name = "table",
     .type = OPT_STRING,
     FIELD(table),
     .use = OPT_WRITTEN,
     .argument = "TABLE",
     .help = "measures of each label, .csv, .fits or .vot"},
    {0},
};

/* What is found of an image, or of planes of a cube, which are volumes of one plane. */
struct found {
    struct plane_runs runs;
    size_t total;            /* images: one, or planes of all runs */
    bool flat;               /* they are planes, if with an axis of length 1 in front */
    bool has_above;          /* there are thresholds */
    double *above;           /* of each; infinity: nothing is foreground */
    airy_clip_result *clips; /* of each, for --sigma */
    size_t *counts;
    airy_region **regions;
    airy_image labels; /* of --output */
    airy_image about;  /* of planes of FITS: shape and header of them all, no data */
    bool said;         /* that values are those of gaps */
};

/* Arrays of a run. */
struct work {
    airy_array *bits, **foreground; /* 0 and 1, of which the labels are; bits NULL: of the values */
    airy_array *cube, **targets;    /* of labels; cube NULL: not wanted */
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

/* The number of a plane in the file. */
static size_t plane_number(const struct found *f, size_t i)
{
    return f->runs.whole ? i : f->runs.first + i * f->runs.step;
}

/* One frame or plane was chosen: its labels are an image. */
static bool is_one_frame(const struct found *f)
{
    return !f->runs.whole && f->runs.chosen == 1;
}

/* Thresholds of --sigma that are of no use; the first one of planes is named. */
static int say_thresholds(const struct label_params *p, const struct found *f)
{
    const char *input = p->common.inputs.items[0];
    size_t none = 0, low = 0, first[2] = {0};
    for (size_t i = f->total; i-- > 0;) {
        const bool has = f->clips[i].kept.count > 0, below = f->above[i] < f->clips[i].kept.median;
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
                 input, none, tool_s(none), plane_number(f, first[0]));
    if (low) {
        char of[96] = "";
        if (p->each)
            snprintf(of, sizeof(of), " of %zu plane%s, plane %zu the first,", low, tool_s(low),
                     plane_number(f, first[1]));
        tool_say(&p->common,
                 "%s: the threshold%s %.6g lies below the background, whose median is %.6g; "
                 "subtract that first, as 'airy sources' does, or give --above",
                 input, of, f->above[first[1]], f->clips[first[1]].kept.median);
    }
    return AIRY_EXIT_OK;
}

/* The clip's deviation becomes that of such noise. */
static airy_status measure_coarse(airy_clip_result *clip, airy_queue *queue, const airy_array *src,
                                  const airy_array *mask)
{
    airy_coarse_result few = {0};
    airy_statistics all = clip->kept;
    airy_status status = AIRY_OK;
    if (!device_image_may_be_coarse(&clip->kept))
        return AIRY_OK;
    if (all.count == 0)
        status = airy_statistics_get(queue, &all, src, mask, AIRY_STATISTICS_MEDIAN);
    if (status == AIRY_OK && all.count)
        status = airy_coarse_noise(queue, &few, src, mask, all.median);
    if (status != AIRY_OK || !few.coarse)
        return status;
    clip->kept.count = few.count;
    clip->kept.median = all.median;
    clip->kept.mean = few.mean;
    clip->kept.std = few.std;
    return AIRY_OK;
}

/* Thresholds of a run's images. */
static airy_status find_thresholds(const struct label_params *p, struct found *f)
{
    const struct device_planes *images = &f->runs.planes;
    const size_t at = f->runs.at;
    for (size_t i = 0; i < images->count && p->has_above; i++)
        f->above[at + i] = p->above;
    if (!p->has_sigma)
        return AIRY_OK;
    airy_status status =
        airy_clip_each(f->runs.d.queue, f->clips + at, (const airy_array *const *)images->srcs,
                       (const airy_array *const *)images->masks, images->count, NULL);
    for (size_t i = 0; i < images->count && status == AIRY_OK; i++)
        status = measure_coarse(&f->clips[at + i], f->runs.d.queue, images->srcs[i],
                                images->masks ? images->masks[i] : NULL);
    for (size_t i = at; i < at + images->count && status == AIRY_OK; i++)
        f->above[i] = f->clips[i].kept.count ? p->sigma * f->clips[i].kept.std : (double)INFINITY;
    return status;
}

/* The thresholds, and what those of --sigma were made of. */
static int add_thresholds(const struct label_params *p, const struct found *f, json_t *json)
{
    if (p->has_above)
        json_object_set_new(json, "above", tool_json_number(p->above));
    if (!p->has_sigma)
        return AIRY_EXIT_OK;
    double *stds = calloc(f->total, sizeof(*stds));
    size_t *passes = calloc(f->total, sizeof(*passes));
    const bool good = stds && passes;
    for (size_t i = 0; i < f->total && good; i++) {
        stds[i] = f->clips[i].kept.std;
        passes[i] = (size_t)f->clips[i].iterations;
    }
    if (good) {
        json_object_set_new(json, "std", numbers_json(p, stds, f->total));
        json_object_set_new(json, "iterations", counts_json(p, passes, f->total));
        json_object_set_new(json, "above", numbers_json(p, f->above, f->total));
    }
    free(stds);
    free(passes);
    return good ? say_thresholds(p, f)
                : tool_fail(&p->common, "out of memory for %zu planes", f->total);
}

/* An array of the run's shape, and of each plane a view of it. */
static airy_status open_views(airy_array **whole, airy_array **views, const struct plane_runs *r,
                              airy_dtype dtype)
{
    const airy_image *image = &r->d.image;
    airy_status status =
        airy_array_create_uninitialized(whole, r->d.device, dtype, image->ndim, image->shape);
    for (size_t i = 0; i < r->planes.count && status == AIRY_OK; i++)
        status = device_plane_view(&views[i], *whole, i, r->planes.count);
    return status;
}

static void close_views(airy_array **whole, airy_array **views, size_t count)
{
    for (size_t i = 0; views && i < count; i++)
        airy_array_destroy(&views[i]);
    airy_array_destroy(whole);
    free(views);
}

/* 1 where a number is not 0, as airy_label has it: NaN, which is unlike itself, is none. */
static airy_status make_not_zero(airy_queue *queue, airy_array *to, const airy_array *src)
{
    if (!airy_dtype_is_float(airy_array_dtype(src)))
        return airy_combine_value(queue, to, src, AIRY_NOT_EQUAL, 0);
    const airy_status status = airy_combine(queue, to, src, AIRY_EQUAL, src);
    return status == AIRY_OK ? airy_combine(queue, to, to, AIRY_AND, src) : status;
}

/* Where values are foreground and pixels not bad. */
static airy_status make_foreground(struct work *w, const struct found *f)
{
    const struct device_planes *images = &f->runs.planes;
    airy_queue *queue = f->runs.d.queue;
    airy_status status = open_views(&w->bits, w->foreground, &f->runs, AIRY_DTYPE_U8);
    for (size_t i = 0; i < images->count && status == AIRY_OK; i++) {
        airy_array *to = w->foreground[i];
        status = f->has_above ? airy_threshold(queue, to, images->srcs[i], f->above[f->runs.at + i])
                              : make_not_zero(queue, to, images->srcs[i]);
        if (status == AIRY_OK && images->masks) /* of 0 and 1, too */
            status = airy_combine(queue, to, to, AIRY_GREATER, images->masks[i]);
    }
    return status;
}

/* Measures of labels of the foreground, from the values. */
static int measure_images(const struct label_params *p, struct found *f, const struct work *w)
{
    const struct device_planes *images = &f->runs.planes;
    const size_t at = f->runs.at;
    for (size_t i = at; i < at + images->count; i++)
        if (!(f->regions[i] = calloc(f->counts[i] + 1, sizeof(*f->regions[i]))))
            return tool_fail(&p->common, "out of memory for %zu labels", f->counts[i]);
    const airy_status status = airy_measure_each(
        f->runs.d.queue, f->regions + at, f->counts + at, (const airy_array *const *)w->targets,
        (const airy_array *const *)images->srcs, images->count);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
}

static airy_status label_images(const struct label_params *p, struct found *f, const struct work *w)
{
    const struct device_planes *images = &f->runs.planes;
    const size_t at = f->runs.at;
    /* In a volume of one plane 6 and 18 neighbours are 4 and 8. */
    const int in_volumes = p->connectivity == 8 ? 18 : 6;
    const airy_label_params params = {
        .connectivity = f->flat && f->runs.d.image.ndim == 3 ? in_volumes : (int)p->connectivity,
        .has_above = f->has_above && !w->bits,
        .above = f->above[at],
        .min_count = p->min_area,
        .max_count = p->max_area};
    airy_array **from = w->bits ? w->foreground : images->srcs;
    return airy_label_each(f->runs.d.queue, w->cube ? w->targets : NULL,
                           (const airy_array *const *)from, images->count, &params, f->counts + at,
                           p->table && !w->bits ? f->regions + at : NULL);
}

/* Labels of the run to their place in the label image. */
static airy_status keep_labels(struct found *f, const struct work *w)
{
    const size_t size = airy_array_size(w->cube), plane = size / f->runs.planes.count;
    const airy_status status = airy_array_pull(
        f->runs.d.queue, (char *)f->labels.data + f->runs.at * plane, size, w->cube);
    return status == AIRY_OK ? airy_queue_finish(f->runs.d.queue) : status;
}

static int find_labels(const struct label_params *p, struct found *f, struct work *w)
{
    const size_t count = f->runs.planes.count;
    airy_status status = AIRY_OK;
    w->foreground = calloc(count, sizeof(airy_array *));
    w->targets = calloc(count, sizeof(airy_array *));
    if (!w->foreground || !w->targets)
        return tool_fail(&p->common, "out of memory for %zu planes", count);
    if (f->runs.planes.masks || (p->has_sigma && count > 1))
        status = make_foreground(w, f);
    if (status == AIRY_OK && (p->output || (p->table && w->bits)))
        status = open_views(&w->cube, w->targets, &f->runs, AIRY_DTYPE_I32);
    if (status == AIRY_OK)
        status = label_images(p, f, w);
    if (status == AIRY_OK && p->output)
        status = keep_labels(f, w);
    if (status != AIRY_OK)
        return tool_failed(&p->common, status);
    return p->table && w->bits ? measure_images(p, f, w) : AIRY_EXIT_OK;
}

/* Squares of values beyond 1e154 are infinite, and so is what is made of their sum. */
static int check_thresholds(const struct label_params *p, const struct found *f)
{
    for (size_t i = 0; p->has_sigma && i < f->runs.planes.count; i++)
        if (f->clips[f->runs.at + i].kept.count && !isfinite(f->above[f->runs.at + i]))
            return device_image_no_spread(&p->common, p->common.inputs.items[0]);
    return AIRY_EXIT_OK;
}

/* All of a run but what is said of the images together. */
static int label_run(const struct label_params *p, struct found *f)
{
    struct work w = {.bits = NULL};
    const airy_status status = find_thresholds(p, f);
    int code = status == AIRY_OK ? check_thresholds(p, f) : tool_failed(&p->common, status);
    if (code == AIRY_EXIT_OK)
        code = find_labels(p, f, &w);
    close_views(&w.bits, w.foreground, f->runs.planes.count);
    close_views(&w.cube, w.targets, f->runs.planes.count);
    return code;
}

static int open_found(const struct label_params *p, struct found *f)
{
    f->total = f->runs.total;
    f->has_above = p->has_above || p->has_sigma;
    f->above = calloc(f->total, sizeof(*f->above));
    f->clips = p->has_sigma ? calloc(f->total, sizeof(*f->clips)) : NULL;
    f->counts = calloc(f->total, sizeof(*f->counts));
    f->regions = calloc(f->total, sizeof(airy_region *));
    if (!f->above || (p->has_sigma && !f->clips) || !f->counts || !f->regions)
        return tool_fail(&p->common, "out of memory for %zu planes", f->total);
    if (!p->output)
        return AIRY_EXIT_OK;
    f->labels = f->runs.d.image;
    f->labels.header = NULL;
    f->labels.dtype = AIRY_DTYPE_I32;
    if (!f->runs.whole)
        f->labels.shape[0] = f->runs.chosen;
    const size_t bytes = tool_count(f->labels.shape, f->labels.ndim) * sizeof(int32_t);
    f->labels.data = malloc(bytes);
    return f->labels.data
               ? AIRY_EXIT_OK
               : tool_fail(&p->common, "%s: out of memory for %zu bytes", p->output, bytes);
}

static void close_found(struct found *f)
{
    for (size_t i = 0; f->regions && i < f->total; i++)
        airy_regions_free(f->regions[i]);
    airy_image_free(&f->labels);
    airy_image_free(&f->about);
    free(f->above);
    free(f->clips);
    free(f->counts);
    free(f->regions);
    plane_runs_close(&f->runs);
}

/* Of planes with their numbers. */
static bool add_regions(struct catalog *catalog, const struct label_params *p,
                        const struct found *f, const airy_region *all)
{
    if (p->each)
        return catalog_add_planes(catalog, all, f->counts, f->total, plane_number(f, 0),
                                  f->runs.whole ? 1 : f->runs.step);
    const bool added = catalog_add_regions(catalog, all);
    if (f->runs.d.image.ndim == 3 && !f->flat)
        catalog_add_depth(catalog, all);
    return added;
}

static int write_table(const struct label_params *p, const struct found *f, const airy_image *image)
{
    struct catalog catalog;
    catalog_open(&catalog, image);
    for (size_t i = 0; i < f->total; i++)
        catalog.rows += f->counts[i];
    airy_region *all = malloc((catalog.rows + 1) * sizeof(*all));
    for (size_t i = 0, at = 0; all && i < f->total; at += f->counts[i++])
        if (f->counts[i] > 0)
            memcpy(all + at, f->regions[i], f->counts[i] * sizeof(*all));
    int code = AIRY_EXIT_OK;
    if (!all || !add_regions(&catalog, p, f, all))
        code = tool_fail(&p->common, "%s: out of memory for %zu labels", p->table, catalog.rows);
    if (code == AIRY_EXIT_OK)
        code = catalog_write(&catalog, &p->common, "LABELS",
                             p->each ? "Connected components of planes" : "Connected components",
                             NULL, 0, p->table);
    free(all);
    catalog_close(&catalog);
    return code;
}

/* Planes were read without the file's header, which has the unit of a table and labels' coordinates. */
static void read_about(const struct label_params *p, struct found *f)
{
    const char *input = p->common.inputs.items[0];
    const bool wanted = p->table || (p->output && image_is_fits_name(p->output));
    if (!wanted || f->runs.whole || !airy_image_is_fits(input))
        return;
    if (airy_fits_read_planes(&f->about, input, 0, 0, 1) != AIRY_OK)
        f->about = (airy_image){.data = NULL};
    image_say_odd_cards(&p->common, input, &f->about);
}

/* Labels of planes of FITS get their axes and header; false: these are not known, or cannot follow. */
static bool add_header(const struct label_params *p, struct found *f, airy_image *labels)
{
    if (!image_is_fits_name(p->output) || f->about.ndim == 0 ||
        airy_image_choose_planes(&f->about, f->runs.first, f->runs.chosen, f->runs.step) !=
            AIRY_OK ||
        tool_count(f->about.shape, f->about.ndim) != tool_count(labels->shape, labels->ndim))
        return false;
    f->about.dtype = labels->dtype;
    f->about.data = labels->data;
    *labels = f->about;
    f->about = (airy_image){.data = NULL};
    return true;
}

static int write_labels(const struct label_params *p, struct found *f)
{
    airy_image labels = f->labels;
    f->labels.data = NULL;
    if (!f->runs.whole && !add_header(p, f, &labels)) {
        image_say_header(&p->common, p->output);
        if (is_one_frame(f)) {
            labels.ndim = 2;
            memmove(labels.shape, labels.shape + 1, 2 * sizeof(size_t));
        }
    }
    return device_image_save(&f->runs.d, &p->common, &labels, p->output);
}

static int make_labels(const struct label_params *p, struct found *f, json_t *json)
{
    const struct device_image *d = &f->runs.d;
    const double above = p->has_above ? p->above : -(double)INFINITY;
    int code = open_found(p, f);
    const bool marked = code == AIRY_EXIT_OK &&
                        device_image_say_mask(&p->common, &p->bad, f->runs.stack);
    while (code == AIRY_EXIT_OK && (code = plane_runs_next(&f->runs)) == AIRY_EXIT_OK &&
           f->runs.planes.count) {
        code = label_run(p, f);
        if (code == AIRY_EXIT_OK && !marked && !f->said)
            f->said = device_image_say_values(d, &p->common, &p->bad, above);
    }
    if (code == AIRY_EXIT_OK)
        code = add_thresholds(p, f, json);
    if (code == AIRY_EXIT_OK)
        json_object_set_new(json, "labels", counts_json(p, f->counts, f->total));
    if (code == AIRY_EXIT_OK)
        read_about(p, f);
    if (code == AIRY_EXIT_OK && p->table)
        code = write_table(p, f, f->runs.whole ? &f->runs.d.image : &f->about);
    return code == AIRY_EXIT_OK && p->output ? write_labels(p, f) : code;
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
static int check_image(const struct label_params *p, const struct found *f)
{
    static const char *const expected[] = {"2", "4 or 8", "6, 18 or 26"};
    const airy_image *image = &f->runs.d.image;
    const size_t c = p->connectivity;
    if (image->ndim > 3)
        return tool_fail(&p->common, "%s: has %d dimensions, expected an image or a volume%s",
                         p->common.inputs.items[0], image->ndim,
                         p->each ? "" : "; --each takes its planes");
    const int ndim = f->flat ? 2 : image->ndim;
    const bool known = ndim == 1   ? c == 2
                       : ndim == 2 ? c == 4 || c == 8
                                   : c == 6 || c == 18 || c == 26;
    return c == 0 || known
               ? AIRY_EXIT_OK
               : tool_usage(&p->common, "--connectivity %zu: expected %s in %d dimension%s", c,
                            expected[ndim - 1], ndim, tool_s((size_t)ndim));
}

/* A stack may have been meant. */
static void say_volume(const struct label_params *p, const struct found *f)
{
    const airy_image *image = &f->runs.d.image;
    if (!f->flat && !p->connectivity && image->ndim == 3 &&
        (f->runs.whole ? image->shape[0] : f->runs.chosen) > 1)
        tool_say(&p->common, "the volume is labelled as a whole, across its planes; --each labels "
                             "each plane by itself");
}

static int run_label(void *user)
{
    const struct label_params *p = user;
    const struct common *common = &p->common;
    struct found f = {.total = 0};
    json_t *json = json_object();
    int code = plane_runs_open(&f.runs, common, &p->bad, p->has_frames ? p->frames : NULL, p->each,
                               p->output != NULL);
    f.flat = p->each || is_one_frame(&f);
    if (code == AIRY_EXIT_OK)
        code = check_image(p, &f);
    if (code == AIRY_EXIT_OK)
        code = is_one_frame(&f)
                   ? tool_check_format(common, p->output, AIRY_DTYPE_I32, 2)
                   : device_image_check_format(&f.runs.d, common, p->output, AIRY_DTYPE_I32);
    if (code == AIRY_EXIT_OK)
        say_volume(p, &f);
    if (code == AIRY_EXIT_OK)
        code = make_labels(p, &f, json);
    if (code == AIRY_EXIT_OK)
        code = device_image_profile(&f.runs.d, common);
    close_found(&f);
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
        "signs leave no ellipse; of a volume also the places along z, while moments are those of x "
        "and y; coordinates are pixel centres from 0. Prints {labels}, with the "
        "threshold used (with --each --sigma: "
        "thresholds). Bad pixels are background. With --each, and no -o or with --frames, only "
        "some "
        "planes of a stack are in memory, and the labels of -o.",
    .examples = "  airy label image.npy --above 120 -o labels.npy --table sources.csv\n"
                "  airy label residual.npy --sigma 5 --table sources.csv\n"
                "  airy label mask.npy --connectivity 8 --min-area 5\n"
                "  airy label cube.fits --each --above 120 --table sources.csv\n"
                "  airy label frames.npy --each --above 50 --mask bad.npy --table spots.csv\n"
                "  airy label series_master.h5 --frames 17 --above 50 -o labels.npy\n",
    .tables = {label_options, bad_pixels_options},
    .takes = TAKES_COMPUTE | TAKES_COMPARE,
    .params_size = sizeof(struct label_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .check = check_label,
    .run = run_label,
};
