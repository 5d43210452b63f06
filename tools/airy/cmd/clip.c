/* airy clip: statistics of what a kappa-sigma clip leaves. */
#include <stdlib.h>
#include <string.h>

#include "images/plane_runs.h"

struct clip_params {
    struct common common;
    struct bad_pixels bad;
    double kappa[2];
    bool has_kappa, inclusive, each, has_frames;
    size_t frames[3];   /* first, end (0: all), step */
    int center, spread; /* airy_center, airy_spread */
    size_t iterations;
};
BAD_PIXELS_FIT(struct clip_params);

#define FIELD(member) .offset = offsetof(struct clip_params, member)

static const char *parse_kappa(void *field, const char *text)
{
    double *kappa = field;
    if (opt_number(text, &kappa[0]))
        kappa[1] = kappa[0];
    else if (!opt_two(text, kappa))
        return "expected a number, or two as LOW,HIGH";
    return kappa[0] > 0 && kappa[0] < 1e300 && kappa[1] > 0 && kappa[1] < 1e300
               ? NULL
               : "expected positive numbers";
}

static const char *const centers[] = {"median", "mean", NULL};

static const char *const spreads[] = {"std", "mad", NULL};

static const struct opt clip_options[] = {
    {.heading = "Clip"},
    {.name = "kappa",
     .type = OPT_PARSED,
     FIELD(kappa),
     .seen = offsetof(struct clip_params, has_kappa),
     .parse = parse_kappa,
     .argument = "K[,HIGH]",
     .fallback = "3",
     .help = "bounds in spreads from the center, below and above"},
    {.name = "center",
     .type = OPT_WORD,
     FIELD(center),
     .words = centers,
     .argument = "median|mean",
     .fallback = "median",
     .help = "of what is left"},
    {.name = "spread",
     .type = OPT_WORD,
     FIELD(spread),
     .words = spreads,
     .argument = "std|mad",
     .fallback = "std",
     .help =
         "mad: 1.482602218505602 times the median distance from the median, which is the standard "
         "deviation of normal values"},
    {.name = "iterations",
     .type = OPT_COUNT,
     FIELD(iterations),
     .lo = 1,
     .hi = 1e9,
     .argument = "N",
     .fallback = "until nothing is removed",
     .help = "passes at most"},
    {.name = "inclusive",
     .type = OPT_FLAG,
     FIELD(inclusive),
     .help = "values on a bound stay, as scipy and astropy have it"},
    {.name = "each",
     .type = OPT_FLAG,
     FIELD(each),
     .help = "of each plane of a cube or stack by itself, as {planes: [...]}"},
    PLANE_FRAMES_OPTION(struct clip_params, frames, has_frames),
    {0},
};

static json_t *result_json(const airy_clip_result *r)
{
    json_t *json = statistics_json(&r->kept);
    json_object_set_new(json, "iterations", json_integer((json_int_t)r->iterations));
    json_object_set_new(json, "clipped", json_integer((json_int_t)r->clipped));
    json_object_set_new(json, "low", tool_json_number(r->low));
    json_object_set_new(json, "high", tool_json_number(r->high));
    return json;
}

static json_t *planes_json(const airy_clip_result *results, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, result_json(&results[i]));
    return json_pack("{s:o}", "planes", list);
}

/* Of values that are alike, or lie on both bounds, nothing is left: null in the answer. */
static void say_nothing_left(const struct clip_params *p, const airy_clip_result *all, size_t count)
{
    size_t empty = 0;
    for (size_t i = 0; i < count; i++)
        empty += all[i].kept.count == 0 && all[i].clipped > 0;
    if (!empty || p->inclusive)
        return;
    if (p->each)
        tool_say(&p->common,
                 "nothing is left of %zu of %zu planes: no value lies strictly between the bounds; "
                 "--inclusive keeps those on a bound",
                 empty, count);
    else
        tool_say(&p->common, "nothing is left: no value lies strictly between the bounds; "
                             "--inclusive keeps those on a bound");
}

/* The answer, or NULL and an exit code. */
static json_t *clip_planes(const struct clip_params *p, struct plane_runs *runs, int *code)
{
    const airy_clip_params params = {.kappa_low = p->has_kappa ? p->kappa[0] : 3,
                                     .kappa_high = p->has_kappa ? p->kappa[1] : 3,
                                     .center = (airy_center)p->center,
                                     .spread = (airy_spread)p->spread,
                                     .iterations = p->iterations,
                                     .inclusive = p->inclusive};
    json_t *json = NULL;
    airy_clip_result *all = calloc(runs->total, sizeof(*all));
    *code = all ? AIRY_EXIT_OK : tool_fail(&p->common, "out of memory for %zu planes", runs->total);
    while (*code == AIRY_EXIT_OK && (*code = plane_runs_next(runs)) == AIRY_EXIT_OK &&
           runs->planes.count) {
        const struct device_planes *planes = &runs->planes;
        const airy_status status =
            airy_clip_each(runs->d.queue, all + runs->at, (const airy_array *const *)planes->srcs,
                           (const airy_array *const *)planes->masks, planes->count, &params);
        *code = status == AIRY_OK ? *code : tool_failed(&p->common, status);
    }
    if (*code == AIRY_EXIT_OK) {
        if (!device_image_say_mask(&p->common, &p->bad, runs->stack))
            device_image_say_gaps(&runs->d, &p->common, &p->bad, &all->kept, runs->total,
                                  sizeof(*all));
        say_nothing_left(p, all, runs->total);
        json = p->each ? planes_json(all, runs->total) : result_json(&all[0]);
    }
    free(all);
    return json;
}

static int check_clip(void *user)
{
    const struct clip_params *p = user;
    return bad_pixels_check(&p->common, &p->bad);
}

static int run_clip(void *user)
{
    const struct clip_params *p = user;
    struct plane_runs runs = {.total = 0};
    json_t *json = NULL;
    int code = plane_runs_open(&runs, &p->common, &p->bad, p->has_frames ? p->frames : NULL,
                               p->each, false);
    if (code == AIRY_EXIT_OK)
        json = clip_planes(p, &runs, &code);
    if (code == AIRY_EXIT_OK)
        code = device_image_profile(&runs.d, &p->common);
    plane_runs_close(&runs);
    if (code == AIRY_EXIT_OK)
        return tool_print_json(&p->common, json);
    json_decref(json);
    return code;
}

const struct command cmd_clip = {
    .name = "clip",
    .usage = "IMAGE [options]",
    .summary = "statistics of what an iterated kappa-sigma clip leaves of an image, as JSON",
    .details =
        "Values are kept while they lie strictly between center - K spread and center + K spread "
        "of what is left, pass after pass. Prints {count, nan, masked, min, max, sum, mean, "
        "median, "
        "std} of what is kept, iterations (the last pass, which removes nothing, counts), clipped "
        "(values removed) and the last bounds low and high. nan counts everything not finite. "
        "Where "
        "all values are alike nothing lies strictly between the bounds, and nothing is kept. With "
        "--each this is of every plane, in the order of the file: {planes: [{count, ...}, ...]}. "
        "Of a stack only some planes are in memory then.",
    .examples = "  airy clip image.npy\n"
                "  airy clip image.npy --kappa 2.5 --spread mad --iterations 5\n"
                "  airy clip cube.fits --each\n",
    .tables = {clip_options, bad_pixels_options},
    .takes = TAKES_COMPUTE | TAKES_COMPARE,
    .params_size = sizeof(struct clip_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .check = check_clip,
    .run = run_clip,
};
