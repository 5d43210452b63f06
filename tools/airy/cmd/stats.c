/* airy stats: what an image's values are like. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "images/plane_runs.h"

enum { MOST_QUANTILES = 64, MOST_BINS = 1 << 24 };

struct quantiles {
    double percent[MOST_QUANTILES];
    size_t count; /* 0: none are asked for */
};

struct histogram {
    size_t bins; /* 0: none is asked for */
    bool has_range;
    double lo, hi;
};

struct stats_params {
    struct common common;
    struct bad_pixels bad;
    struct quantiles quantiles;
    struct histogram histogram;
    bool mad, each, has_frames;
    size_t frames[3]; /* first, end (0: all), step */
};
BAD_PIXELS_FIT(struct stats_params);

static const char *parse_quantiles(void *field, const char *text)
{
    struct quantiles *q = field;
    q->count = opt_numbers(text, q->percent, MOST_QUANTILES);
    bool good = q->count > 0;
    for (size_t i = 0; i < q->count; i++)
        good &= q->percent[i] >= 0 && q->percent[i] <= 100;
    return good ? NULL : "expected 1 to 64 numbers from 0 to 100, as A,B,...";
}

static const char *parse_histogram(void *field, const char *text)
{
    struct histogram *h = field;
    double numbers[3];
    const size_t n = opt_numbers(text, numbers, 3);
    const bool good = (n == 1 || n == 3) && numbers[0] >= 1 && numbers[0] <= MOST_BINS &&
                      floor(numbers[0]) == numbers[0] && (n == 1 || numbers[1] < numbers[2]);
    if (!good)
        return "expected N or N,LO,HI with 1 to 16777216 bins, LO < HI";
    *h = (struct histogram){.bins = (size_t)numbers[0], .has_range = n == 3};
    if (n == 3) {
        h->lo = numbers[1];
        h->hi = numbers[2];
    }
    return NULL;
}

#define FIELD(member) .offset = offsetof(struct stats_params, member)

static const struct opt stats_options[] = {
    {.heading = "Statistics"},
    {.name = "quantiles",
     .type = OPT_PARSED,
     .parse = parse_quantiles,
     FIELD(quantiles),
     .argument = "A,B,...",
     .help = "these too, in percent"},
    {.name = "histogram",
     .type = OPT_PARSED,
     .parse = parse_histogram,
     FIELD(histogram),
     .argument = "N[,LO,HI]",
     .help = "counts in N equal bins from LO to HI (default: smallest to largest value, of each "
             "plane by itself; null where a plane has none), as {lo, hi, below, above, counts}; "
             "infinities are below or above"},
    {.name = "mad",
     .type = OPT_FLAG,
     FIELD(mad),
     .help = "the median distance from the median too, not scaled"},
    {.name = "each",
     .type = OPT_FLAG,
     FIELD(each),
     .help = "of each plane of a cube or stack by itself, as {planes: [...]}"},
    PLANE_FRAMES_OPTION(struct stats_params, frames, has_frames),
    {0},
};

/* An image, or a plane. */
struct plane {
    airy_queue *queue;
    const airy_array *src, *mask;
};

static int add_quantiles(const struct stats_params *p, const struct plane *d, json_t *json)
{
    const struct quantiles *q = &p->quantiles;
    double fractions[MOST_QUANTILES], values[MOST_QUANTILES];
    for (size_t i = 0; i < q->count; i++)
        fractions[i] = q->percent[i] / 100;
    const airy_status status =
        airy_quantiles(d->queue, values, d->src, d->mask, fractions, q->count);
    if (status != AIRY_OK)
        return tool_failed(&p->common, status);
    json_t *list = json_array();
    for (size_t i = 0; i < q->count; i++)
        json_array_append_new(list,
                              json_pack("{s:o, s:o}", "percent", tool_json_number(q->percent[i]),
                                        "value", tool_json_number(values[i])));
    json_object_set_new(json, "quantiles", list);
    return AIRY_EXIT_OK;
}

static int add_histogram(const struct stats_params *p, const struct plane *d,
                         const airy_statistics *s, json_t *json)
{
    const struct histogram *h = &p->histogram;
    const size_t bins = h->bins;
    if (s->count == 0 && !h->has_range && p->each) {
        json_object_set_new(json, "histogram", json_null());
        return AIRY_EXIT_OK;
    }
    if (s->count == 0 && !h->has_range)
        return tool_fail(&p->common,
                         "%s: no finite value, so a histogram has no range; give it as "
                         "--histogram %zu,LO,HI",
                         p->common.inputs.items[0], bins);
    /* Of a single value: bins that are wider than what f64 tells apart there. */
    const double lo = h->has_range ? h->lo : s->min,
                 least = lo + fmax(1, 2 * (double)bins * DBL_EPSILON * fabs(lo)),
                 hi = h->has_range      ? h->hi
                      : s->max > s->min ? s->max
                                        : least;
    uint64_t *counts = calloc(bins, sizeof(*counts));
    if (!counts)
        return tool_fail(&p->common, "out of memory for %zu bins", bins);
    airy_histogram_rest rest;
    const airy_status status =
        airy_histogram(d->queue, counts, d->src, d->mask, bins, lo, hi, &rest);
    json_t *list = json_array();
    for (size_t i = 0; i < bins && status == AIRY_OK; i++)
        json_array_append_new(list, json_integer((json_int_t)counts[i]));
    free(counts);
    json_object_set_new(json, "histogram",
                        json_pack("{s:o, s:o, s:I, s:I, s:o}", "lo", tool_json_number(lo), "hi",
                                  tool_json_number(hi), "below", (json_int_t)rest.below, "above",
                                  (json_int_t)rest.above, "counts", list));
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
}

/* What was found of one, and what else is asked for. */
static int add_numbers(const struct stats_params *p, const struct plane *d,
                       const airy_statistics *s, json_t *json)
{
    json_t *numbers = statistics_json(s);
    json_object_update(json, numbers);
    json_decref(numbers);
    if (p->mad)
        json_object_set_new(json, "mad", tool_json_number(s->mad));
    int code = p->quantiles.count ? add_quantiles(p, d, json) : AIRY_EXIT_OK;
    if (code == AIRY_EXIT_OK && p->histogram.bins)
        code = add_histogram(p, d, s, json);
    return code;
}

/* Element i of integers of 64 bits is closer to the end of the range than element k. */
static bool is_beyond(const airy_image *image, size_t i, size_t k, bool upwards)
{
    const int64_t *signeds = image->data;
    const uint64_t *unsigneds = image->data;
    if (airy_dtype_is_signed(image->dtype))
        return upwards ? signeds[i] > signeds[k] : signeds[i] < signeds[k];
    return upwards ? unsigneds[i] > unsigneds[k] : unsigneds[i] < unsigneds[k];
}

/*
 * Extremes of integers of 64 bits in all digits: f64 holds 53 bits, so that several of them may be
 * the one that was found. bad: of the pixels, or NULL; at: the place that was found, of these.
 */
static json_t *exact_extreme(const airy_image *image, const uint8_t *bad, size_t first,
                             size_t count, size_t at, bool upwards)
{
    const double found = airy_image_value(image, first + at);
    size_t most = first + at;
    for (size_t i = first; i < first + count; i++)
        if (airy_image_value(image, i) == found && !(bad && bad[i]) &&
            is_beyond(image, i, most, upwards))
            most = i;
    return airy_dtype_is_signed(image->dtype)
               ? json_integer((json_int_t)((const int64_t *)image->data)[most])
               : tool_json_unsigned(((const uint64_t *)image->data)[most]);
}

/* min and max of plane i of a run, where they are such integers. */
static void add_exact(const struct plane_runs *runs, size_t i, const airy_statistics *s,
                      json_t *json)
{
    const airy_image *image = &runs->d.image;
    const bool wide = image->dtype == AIRY_DTYPE_U64 || image->dtype == AIRY_DTYPE_I64;
    if (!wide || !image->data || s->count == 0)
        return;
    const int ndim = image->ndim;
    const size_t count = runs->each ? image->shape[ndim - 2] * image->shape[ndim - 1]
                                    : tool_count(image->shape, ndim);
    const uint8_t *bad = runs->is_bad ? runs->is_bad : runs->d.is_bad;
    json_object_set_new(json, "min", exact_extreme(image, bad, i * count, count, s->min_at, false));
    json_object_set_new(json, "max", exact_extreme(image, bad, i * count, count, s->max_at, true));
}

/* What was found of a run of planes, or of the image. */
static int add_run(const struct stats_params *p, const struct plane_runs *runs,
                   const airy_statistics *s, json_t *json, json_t *list)
{
    const struct device_planes *planes = &runs->planes;
    int code = AIRY_EXIT_OK;
    for (size_t i = 0; i < planes->count && code == AIRY_EXIT_OK; i++) {
        const struct plane plane = {.queue = runs->d.queue,
                                    .src = planes->srcs[i],
                                    .mask = planes->masks ? planes->masks[i] : NULL};
        json_t *to = list ? json_object() : json;
        code = add_numbers(p, &plane, &s[i], to);
        add_exact(runs, i, &s[i], to);
        if (list)
            json_array_append_new(list, to);
    }
    return code;
}

static int make_stats(const struct stats_params *p, struct plane_runs *runs, json_t *json)
{
    const unsigned flags = AIRY_STATISTICS_MOMENTS | AIRY_STATISTICS_MEDIAN |
                           (p->mad ? (unsigned)AIRY_STATISTICS_MAD : 0u);
    airy_statistics *all = calloc(runs->total, sizeof(*all));
    json_t *list = p->each ? json_array() : NULL;
    if (!all)
        return tool_fail(&p->common, "out of memory for %zu planes", runs->total);
    int code;
    while ((code = plane_runs_next(runs)) == AIRY_EXIT_OK && runs->planes.count) {
        const struct device_planes *planes = &runs->planes;
        airy_statistics *s = all + runs->at;
        const airy_status status =
            airy_statistics_each(runs->d.queue, s, (const airy_array *const *)planes->srcs,
                                 (const airy_array *const *)planes->masks, planes->count, flags);
        code = status == AIRY_OK ? add_run(p, runs, s, json, list)
                                 : tool_failed(&p->common, status);
        if (code != AIRY_EXIT_OK)
            break;
    }
    if (code == AIRY_EXIT_OK && !device_image_say_mask(&p->common, &p->bad, runs->stack))
        device_image_say_gaps(&runs->d, &p->common, &p->bad, all, runs->total, sizeof(*all));
    if (list)
        json_object_set_new(json, "planes", list);
    free(all);
    return code;
}

static int check_stats(void *user)
{
    const struct stats_params *p = user;
    return bad_pixels_check(&p->common, &p->bad);
}

static int run_stats(void *user)
{
    const struct stats_params *p = user;
    struct plane_runs runs = {.total = 0};
    json_t *json = json_object();
    int code = plane_runs_open(&runs, &p->common, &p->bad, p->has_frames ? p->frames : NULL,
                               p->each, false);
    if (code == AIRY_EXIT_OK)
        code = make_stats(p, &runs, json);
    if (code == AIRY_EXIT_OK)
        code = device_image_profile(&runs.d, &p->common);
    plane_runs_close(&runs);
    if (code == AIRY_EXIT_OK)
        return tool_print_json(&p->common, json);
    json_decref(json);
    return code;
}

const struct command cmd_stats = {
    .name = "stats",
    .usage = "IMAGE [options]",
    .summary = "count, extremes, sum, mean, median and standard deviation of an image, as JSON",
    .details = "Prints {count, nan, masked, min, max, sum, mean, median, std}. count is what went "
               "in, nan what was left out because it is not finite; std is the population's (ddof "
               "0). Integers of 64 bits keep all digits of min and max, from 2^63 on as text. The "
               "median and quantiles are exact; a number that does not exist is null. With "
               "--each these are of every plane, in the order of the file: {planes: [{count, ...}, "
               "...]}. Of a stack only some planes are in memory then.",
    .examples = "  airy stats image.npy\n"
                "  airy stats stack.h5::/entry/data/data --quantiles 1,99 --histogram 100\n"
                "  airy stats cube.fits --each\n"
                "  airy stats series_master.h5 --each --frames 0:1000:10\n",
    .tables = {stats_options, bad_pixels_options},
    .takes = TAKES_COMPUTE | TAKES_COMPARE,
    .params_size = sizeof(struct stats_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .check = check_stats,
    .run = run_stats,
};
