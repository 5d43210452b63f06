/* What the values of an image are like. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "jobs/image_group.h"

enum { MOST_BINS = 1 << 24 };

struct values {
    struct airy_image_values image;
    struct airy_bad_values bad;
    struct airy_planes_values planes;
    struct airy_compute_values compute;
    struct airy_job_tuple quantiles, histogram;
    bool mad;
};

#define ROW(member, ...) AIRY_JOB_ROW(struct values, member, __VA_ARGS__)
static const struct airy_job_row rows[] = {
    ROW(quantiles, .name = "quantiles", .type = AIRY_PARAMETER_TUPLE, .least = 1,
        .most = AIRY_JOB_TUPLE, .hi = 100, .argument = "A,B,...", .unit = "percent",
        .help = "computes these quantiles", .section = "Statistics"),
    ROW(histogram, .name = "histogram", .type = AIRY_PARAMETER_TUPLE, .least = 1, .most = 3,
        .argument = "N[,LO,HI]",
        .help = "counts the values in 1 to 16777216 equal bins from LO to HI (default: smallest to "
                "largest value of each plane; null where a plane has none), as {lo, hi, below, "
                "above, counts}; infinities are below or above"),
    ROW(mad, .name = "mad", .type = AIRY_PARAMETER_FLAG,
        .help = "computes the median distance from the median, which is not scaled"),
    {{0}, 0, NULL}};

static const airy_job_result results[] = {
    {"count", AIRY_JOB_NUMBER, NULL, "values that are finite and not masked"},
    {"nan", AIRY_JOB_NUMBER, NULL, "values that are not finite"},
    {"masked", AIRY_JOB_NUMBER, NULL, "bad pixels"},
    {"min", AIRY_JOB_NUMBER, NULL, "the smallest value"},
    {"max", AIRY_JOB_NUMBER, NULL, "the largest value"},
    {"sum", AIRY_JOB_NUMBER, NULL, "the sum"},
    {"mean", AIRY_JOB_NUMBER, NULL, "the mean"},
    {"median", AIRY_JOB_NUMBER, NULL, "the median"},
    {"std", AIRY_JOB_NUMBER, NULL, "the standard deviation of the population (ddof 0)"},
    {"mad", AIRY_JOB_NUMBER, NULL, "mad: the median distance from the median"},
    {"quantiles", AIRY_JOB_JSON, NULL, "quantiles: a list of {percent, value}"},
    {"histogram", AIRY_JOB_JSON, NULL, "histogram: {lo, hi, below, above, counts}"},
    {"planes", AIRY_JOB_JSON, NULL, "each: a list of these numbers, an object for each plane"},
    {NULL, AIRY_JOB_ARRAY, NULL, NULL}};

struct stats {
    const struct values *v;
    struct airy_job_planes planes;
    airy_statistics *all;
    json_t *list, *object; /* of planes with `each`, and of the image or the last plane */
};

static airy_status check(airy_job *job)
{
    const struct values *v = job->values;
    const struct airy_job_tuple *h = &v->histogram;
    const double bins = h->values[0];
    const bool good = h->count != 2 && bins >= 1 && bins <= MOST_BINS && floor(bins) == bins &&
                      (h->count == 1 || h->values[1] < h->values[2]);
    char *text = NULL;
    if (h->count == 0 || good)
        return AIRY_OK;
    AIRY_TRY(airy_job_get(job, "histogram", &text));
    const airy_status status = airy_fail_on(
        AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
        "%s %s: expected N or N,LO,HI with 1 to 16777216 bins, LO < HI", "histogram", text);
    airy_job_text_free(text);
    return status;
}

/* Plane i of a run, or the image. */
static const airy_array *mask_of(const struct stats *s, size_t i)
{
    return s->planes.masks ? s->planes.masks[i] : NULL;
}

static airy_status add_quantiles(const struct stats *s, size_t i)
{
    const struct airy_job_tuple *q = &s->v->quantiles;
    double fractions[AIRY_JOB_TUPLE], values[AIRY_JOB_TUPLE];
    for (size_t k = 0; k < q->count; k++)
        fractions[k] = q->values[k] / 100;
    AIRY_TRY(airy_quantiles(s->planes.d.queue, values, s->planes.srcs[i], mask_of(s, i), fractions,
                            q->count));
    json_t *list = json_array();
    for (size_t k = 0; k < q->count; k++)
        json_array_append_new(list, json_pack("{s:f, s:o}", "percent", q->values[k], "value",
                                              airy_json_real(values[k])));
    json_object_set_new(s->object, "quantiles", list);
    return AIRY_OK;
}

static airy_status add_histogram(const struct stats *s, size_t i, const airy_statistics *found)
{
    const struct airy_job_tuple *h = &s->v->histogram;
    const size_t bins = (size_t)h->values[0];
    const bool has_range = h->count == 3, nothing = found->count == 0 && !has_range;
    if (nothing && s->v->planes.each) {
        json_object_set_new(s->object, "histogram", json_null());
        return AIRY_OK;
    }
    AIRY_FAIL_IF(nothing, AIRY_ERR_PARAM,
                 "%s: no finite value, so a histogram has no range; give it as histogram=%zu,LO,HI",
                 airy_job_image_name(&s->planes.d), bins);
    /* Of a single value: bins that are wider than what f64 tells apart there. */
    const double lo = has_range ? h->values[1] : found->min,
                 least = lo + fmax(1, 2 * (double)bins * DBL_EPSILON * fabs(lo)),
                 hi = has_range                 ? h->values[2]
                      : found->max > found->min ? found->max
                                                : least;
    uint64_t *counts;
    airy_histogram_rest rest;
    AIRY_TRY(airy_memory_calloc((void **)&counts, bins, sizeof(*counts), "a histogram"));
    const airy_status status = airy_histogram(s->planes.d.queue, counts, s->planes.srcs[i],
                                              mask_of(s, i), bins, lo, hi, &rest);
    json_t *list = json_array();
    for (size_t k = 0; k < bins && status == AIRY_OK; k++)
        json_array_append_new(list, json_integer((json_int_t)counts[k]));
    free(counts);
    json_object_set_new(s->object, "histogram",
                        json_pack("{s:o, s:o, s:I, s:I, s:o}", "lo", airy_json_real(lo), "hi",
                                  airy_json_real(hi), "below", (json_int_t)rest.below, "above",
                                  (json_int_t)rest.above, "counts", list));
    return status;
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
               : airy_json_unsigned(((const uint64_t *)image->data)[most]);
}

/* min and max of plane i of a run, where they are such integers. */
static void add_exact(const struct stats *s, size_t i, const airy_statistics *found)
{
    const struct airy_job_planes *r = &s->planes;
    const airy_image *image = &r->d.image;
    const bool wide = image->dtype == AIRY_DTYPE_U64 || image->dtype == AIRY_DTYPE_I64;
    if (!wide || found->count == 0)
        return;
    const int ndim = image->ndim;
    const size_t count = s->v->planes.each ? image->shape[ndim - 2] * image->shape[ndim - 1]
                                           : airy_shape_count(image->shape, ndim);
    const uint8_t *bad = r->is_bad ? r->is_bad : r->d.is_bad;
    json_object_set_new(s->object, "min",
                        exact_extreme(image, bad, i * count, count, found->min_at, false));
    json_object_set_new(s->object, "max",
                        exact_extreme(image, bad, i * count, count, found->max_at, true));
}

/* The object of plane i of a run, or of the image. */
static airy_status describe(struct stats *s, size_t i, const airy_statistics *found)
{
    json_decref(s->object);
    s->object = airy_statistics_json(found);
    if (s->v->mad)
        json_object_set_new(s->object, "mad", airy_json_real(found->mad));
    if (s->v->quantiles.count)
        AIRY_TRY(add_quantiles(s, i));
    if (s->v->histogram.count)
        AIRY_TRY(add_histogram(s, i, found));
    add_exact(s, i, found);
    json_array_append(s->list, s->object);
    return AIRY_OK;
}

static airy_status find_planes(struct stats *s)
{
    const unsigned flags = AIRY_STATISTICS_MOMENTS | AIRY_STATISTICS_MEDIAN |
                           (s->v->mad ? (unsigned)AIRY_STATISTICS_MAD : 0u);
    struct airy_job_planes *r = &s->planes;
    AIRY_TRY(airy_memory_calloc((void **)&s->all, r->total, sizeof(*s->all), "planes"));
    for (;;) {
        AIRY_TRY(airy_job_planes_next(r));
        if (r->count == 0)
            return AIRY_OK;
        airy_statistics *found = s->all + r->at;
        AIRY_TRY(airy_statistics_each(r->d.queue, found, (const airy_array *const *)r->srcs,
                                      (const airy_array *const *)r->masks, r->count, flags));
        for (size_t i = 0; i < r->count; i++)
            AIRY_TRY(describe(s, i, &found[i]));
    }
}

static airy_status run(airy_job *job, void *state)
{
    struct stats *s = state;
    const struct values *v = s->v = job->values;
    s->planes = (struct airy_job_planes){
        .d = {.job = job, .from = &v->image, .bad = &v->bad, .compute = &v->compute},
        .values = &v->planes};
    s->list = v->planes.each ? json_array() : NULL;
    AIRY_TRY(airy_job_planes_open(&s->planes, false));
    AIRY_TRY(find_planes(s));
    if (!airy_job_warn_mask(&s->planes.d, s->planes.stack))
        airy_job_warn_gaps(&s->planes.d, s->all, s->planes.total, sizeof(*s->all));
    AIRY_TRY(airy_job_image_finish(&s->planes.d));
    return v->planes.each ? airy_job_put_json(job, "planes", json_incref(s->list))
                          : airy_job_put_object(job, json_incref(s->object));
}

static void close_stats(void *state)
{
    struct stats *s = state;
    airy_job_planes_close(&s->planes);
    json_decref(s->list);
    json_decref(s->object);
    free(s->all);
}

extern const struct airy_job_kind airy_job_stats;
const struct airy_job_kind airy_job_stats = {
    .name = "stats",
    .summary = "count, extremes, sum, mean, median and standard deviation of an image",
    .details = "Gives {count, nan, masked, min, max, sum, mean, median, std}. count is the number "
               "of values that are used, nan of those that are left out because they are not "
               "finite; std is the population's (ddof 0). Integers of 64 bits keep all digits of "
               "min and max, from 2^63 on as text. The median and quantiles are exact; a number "
               "that does not exist is null. With each the result is {planes: [{count, ...}, "
               "...]}, in the order of the file. Of a stack only some planes are in memory then.",
    .groups = {{airy_image_rows, offsetof(struct values, image)},
               {rows, 0},
               {airy_planes_rows, offsetof(struct values, planes)},
               {airy_bad_rows, offsetof(struct values, bad)},
               {airy_device_rows, offsetof(struct values, compute)},
               {airy_host_rows, offsetof(struct values, compute)}},
    .results = results,
    .values_size = sizeof(struct values),
    .state_size = sizeof(struct stats),
    .check = check,
    .run = run,
    .close = close_stats,
};
