/* Statistics of what a kappa-sigma clip leaves of an image. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "jobs/image_group.h"

struct values {
    struct airy_image_values image;
    struct airy_bad_values bad;
    struct airy_planes_values planes;
    struct airy_compute_values compute;
    struct airy_job_tuple kappa;
    int center, spread; /* airy_center, airy_spread, in the order of the words */
    size_t iterations;
    bool inclusive;
};

static const char *const centers[] = {"median", "mean", NULL}, *const spreads[] = {"std", "mad",
                                                                                   NULL};
_Static_assert(AIRY_CENTER_MEAN == 1 && AIRY_SPREAD_MAD == 1, "words are in this order");

#define ROW(member, ...) AIRY_JOB_ROW(struct values, member, __VA_ARGS__)
static const struct airy_job_row rows[] = {
    ROW(kappa, .name = "kappa", .type = AIRY_PARAMETER_TUPLE, .least = 1, .most = 2, .hi = INFINITY,
        .open = true, .argument = "K[,HIGH]", .fallback = "3",
        .help = "sets the distances of the bounds from the center, below and above, in spreads",
        .section = "Clip"),
    ROW(center, .name = "center", .type = AIRY_PARAMETER_WORD, .words = centers,
        .fallback = "median", .help = "sets the center: this measure of the values that are left"),
    ROW(spread, .name = "spread", .type = AIRY_PARAMETER_WORD, .words = spreads, .fallback = "std",
        .help = "sets the spread: this measure of the values that are left; mad: 1.482602218505602 "
                "times the median "
                "distance from the median, which is the standard deviation of normal values"),
    ROW(iterations, .name = "iterations", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = 1e9,
        .fallback = "until nothing is removed", .computed = true,
        .help = "ends after this number of passes"),
    ROW(inclusive, .name = "inclusive", .type = AIRY_PARAMETER_FLAG,
        .help = "keeps values on a bound, as scipy and astropy do"),
    {{0}, 0, NULL}};

static const airy_job_result results[] = {
    {"count", AIRY_JOB_NUMBER, NULL, "values that are kept"},
    {"nan", AIRY_JOB_NUMBER, NULL, "values that are not finite"},
    {"masked", AIRY_JOB_NUMBER, NULL, "bad pixels"},
    {"min", AIRY_JOB_NUMBER, NULL, "the smallest value that is kept"},
    {"max", AIRY_JOB_NUMBER, NULL, "the largest value that is kept"},
    {"sum", AIRY_JOB_NUMBER, NULL, "the sum of what is kept"},
    {"mean", AIRY_JOB_NUMBER, NULL, "its mean"},
    {"median", AIRY_JOB_NUMBER, NULL, "its median"},
    {"std", AIRY_JOB_NUMBER, NULL, "its standard deviation (ddof 0)"},
    {"iterations", AIRY_JOB_NUMBER, NULL, "passes; the last one, which removes nothing, counts"},
    {"clipped", AIRY_JOB_NUMBER, NULL, "values that were removed"},
    {"low", AIRY_JOB_NUMBER, NULL, "the last lower bound"},
    {"high", AIRY_JOB_NUMBER, NULL, "the last upper bound"},
    {"planes", AIRY_JOB_JSON, NULL, "each: a list of these numbers, an object for each plane"},
    {NULL, AIRY_JOB_ARRAY, NULL, NULL}};

struct clip {
    const struct values *v;
    struct airy_job_planes planes;
    airy_clip_result *all;
};

static json_t *result_json(const airy_clip_result *r)
{
    json_t *json = airy_statistics_json(&r->kept);
    json_object_set_new(json, "iterations", json_integer((json_int_t)r->iterations));
    json_object_set_new(json, "clipped", json_integer((json_int_t)r->clipped));
    json_object_set_new(json, "low", airy_json_real(r->low));
    json_object_set_new(json, "high", airy_json_real(r->high));
    return json;
}

/* Of values that are alike, or lie on both bounds, nothing is left: null in the answer. */
static void warn_nothing_left(const struct clip *s)
{
    static const char why[] = "no value lies strictly between the bounds; inclusive=on keeps those "
                              "on a bound";
    const airy_job *job = s->planes.d.job;
    const size_t count = s->planes.total;
    size_t empty = 0;
    for (size_t i = 0; i < count; i++)
        empty += s->all[i].kept.count == 0 && s->all[i].clipped > 0;
    if (!empty || s->v->inclusive)
        return;
    if (s->v->planes.each)
        airy_job_message(job, AIRY_LOG_WARN, "nothing is left of %zu of %zu planes: %s", empty,
                         count, why);
    else
        airy_job_message(job, AIRY_LOG_WARN, "nothing is left: %s", why);
}

static airy_status clip_planes(struct clip *s)
{
    const struct values *v = s->v;
    const airy_clip_params params = {.kappa_low = v->kappa.values[0],
                                     .kappa_high = v->kappa.values[v->kappa.count - 1],
                                     .center = (airy_center)v->center,
                                     .spread = (airy_spread)v->spread,
                                     .iterations = v->iterations,
                                     .inclusive = v->inclusive};
    struct airy_job_planes *r = &s->planes;
    AIRY_TRY(airy_memory_calloc((void **)&s->all, r->total, sizeof(*s->all), "planes"));
    for (;;) {
        AIRY_TRY(airy_job_planes_next(r));
        if (r->count == 0)
            return AIRY_OK;
        AIRY_TRY(airy_clip_each(r->d.queue, s->all + r->at, (const airy_array *const *)r->srcs,
                                (const airy_array *const *)r->masks, r->count, &params));
    }
}

static airy_status run(airy_job *job, void *state)
{
    struct clip *s = state;
    const struct values *v = s->v = job->values;
    s->planes = (struct airy_job_planes){
        .d = {.job = job, .from = &v->image, .bad = &v->bad, .compute = &v->compute},
        .values = &v->planes};
    AIRY_TRY(airy_job_planes_open(&s->planes, false));
    AIRY_TRY(clip_planes(s));
    if (!airy_job_warn_mask(&s->planes.d, s->planes.stack))
        airy_job_warn_gaps(&s->planes.d, &s->all->kept, s->planes.total, sizeof(*s->all));
    warn_nothing_left(s);
    AIRY_TRY(airy_job_image_finish(&s->planes.d));
    if (!v->planes.each)
        return airy_job_put_object(job, result_json(s->all));
    json_t *list = json_array();
    for (size_t i = 0; i < s->planes.total; i++)
        json_array_append_new(list, result_json(&s->all[i]));
    return airy_job_put_json(job, "planes", list);
}

static void close_clip(void *state)
{
    struct clip *s = state;
    airy_job_planes_close(&s->planes);
    free(s->all);
}

extern const struct airy_job_kind airy_job_clip;
const struct airy_job_kind airy_job_clip = {
    .name = "clip",
    .summary = "statistics of what an iterated kappa-sigma clip leaves of an image",
    .details =
        "Values are kept while they lie strictly between center - K spread and center + K spread "
        "of what is left, pass after pass. Gives {count, nan, masked, min, max, sum, mean, median, "
        "std} of what is kept, iterations (the last pass, which removes nothing, counts), clipped "
        "(values removed) and the last bounds low and high. nan counts everything not finite. "
        "Where all values are alike nothing lies strictly between the bounds, and nothing is kept. "
        "With each the result is {planes: [{count, ...}, ...]}, in the order of the file. Of a "
        "stack only some planes are in memory then.",
    .groups = {{airy_image_rows, offsetof(struct values, image)},
               {rows, 0},
               {airy_planes_rows, offsetof(struct values, planes)},
               {airy_bad_rows, offsetof(struct values, bad)},
               {airy_device_rows, offsetof(struct values, compute)},
               {airy_host_rows, offsetof(struct values, compute)}},
    .results = results,
    .values_size = sizeof(struct values),
    .state_size = sizeof(struct clip),
    .run = run,
    .close = close_clip,
};
