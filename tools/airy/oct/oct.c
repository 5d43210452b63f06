/* airy oct: raw spectra of a camera to depth profiles. What it prints for people, and --plot. */
#include "oct/oct.h"
#include "plot/gnuplot.h"

#include <string.h>
#include <unistd.h>

static const struct opt plot_options[] = {
    {.name = "plot",
     .type = OPT_STRING,
     .offset = offsetof(struct oct_params, plot),
     .use = OPT_WRITTEN,
     .argument = "OUT.png",
     .help = "draws one B-scan in dB, with its depth in micrometres (.png, .svg, .pdf)",
     .heading = "Picture"},
    {0},
};

static int check_oct(void *params)
{
    struct oct_params *p = params;
    const struct common *c = &p->job.common;
    static const char *const uses[] = {"output", "enface", "mip", "feed", "line-rate", "repeat"};
    const char *path = c->inputs.items[0];
    bool used = p->plot || c->explain || strncmp(path, "ring:", 5) == 0;
    for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
        used |= opt_given(c, uses[i], NULL) != NULL;
    if (p->plot && airy_job_want(p->job.job, "picture") != AIRY_OK)
        return tool_failed(c, AIRY_ERR_MEMORY);
    int code = job_check(p);
    if (code == AIRY_EXIT_OK && !used)
        return tool_usage(c, "no output: give -o OUT" FRAME_SUFFIXES
                             " or .png, --plot, --enface or --mip");
    if (code == AIRY_EXIT_OK && p->plot)
        code = gnuplot_check_name(c, p->plot);
    return code == AIRY_EXIT_OK && p->plot ? gnuplot_check(c) : code;
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static void print_camera(const json_t *results)
{
    const json_t *camera = json_object_get(results, "camera"),
                 *latency = json_object_get(camera, "latency_us");
    char text[32];
    if (!camera)
        return;
    printf("camera    %.0f frames in, %.0f out, %.0f dropped, %.0f failed\n", number(camera, "in"),
           number(camera, "out"), number(camera, "dropped"), number(camera, "failed"));
    printf("latency   p50 %.4g us, p99 %.4g us, at most %.4g us\n", number(latency, "p50"),
           number(latency, "p99"), number(latency, "max"));
    printf("buffers   %.0f of %.0f frames, %s\n", number(camera, "buffers"),
           number(results, "batch_frames"), tool_bytes(text, number(camera, "memory_bytes")));
}

static void print_oct(const struct common *common, const json_t *results, const char *summary)
{
    const json_t *um = json_object_get(results, "depth_um"),
                 *ends = um ? um : json_object_get(results, "depth_bins"),
                 *peak = json_object_get(results, "peak");
    const double first = json_number_value(json_array_get(ends, 0)),
                 last = json_number_value(json_array_get(ends, 1));
    printf("frames    %.0f of %.0f lines\n", number(results, "frames"), number(results, "lines"));
    if (um)
        printf("depth     %.0f bins, %.2f to %.2f um, %.4f um each\n", number(results, "depth"),
               first, last, number(results, "depth_step_um"));
    else
        printf("depth     bins %.0f to %.0f\n", first, last);
    if (json_is_object(peak) && um)
        printf("peak      %.4g at %.2f um (bin %.0f) of line %.0f of the first frame\n",
               number(peak, "value"), number(peak, "depth_um"), number(peak, "bin"),
               number(peak, "line"));
    else if (json_is_object(peak))
        printf("peak      %.4g at bin %.0f of line %.0f of the first frame\n",
               number(peak, "value"), number(peak, "bin"), number(peak, "line"));
    print_camera(results);
    tool_say(common, "%s", summary);
}

/* A line on a terminal, now and then, about the frames of a camera. */
static void watch_oct(void *params)
{
    static double shown;
    const struct oct_params *p = params;
    const char *text;
    if (tool_now() - shown < 0.2 || p->job.common.quiet || !tool_is_terminal(STDERR_FILENO) ||
        airy_job_get_text(p->job.job, "camera", &text) != AIRY_OK)
        return;
    json_t *camera = json_loads(text, 0, NULL), *latency = json_object_get(camera, "latency_us");
    shown = tool_now();
    fprintf(stderr, "\r\033[K%.0f frames, %.0f dropped, latency p50 %.4g us, p99 %.4g us",
            number(camera, "out"), number(camera, "dropped"), number(latency, "p50"),
            number(latency, "p99"));
    fflush(stderr);
    json_decref(camera);
}

static int show_oct(void *params)
{
    const struct oct_params *p = params;
    const struct common *common = &p->job.common;
    json_t *results = job_results(&p->job);
    if (!results)
        return tool_failed(common, AIRY_ERR_MEMORY);
    if (json_object_get(results, "camera") && !common->quiet && tool_is_terminal(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
    int code = p->plot ? oct_plot(p, results) : AIRY_EXIT_OK;
    if (code == AIRY_EXIT_OK && !common->json && opt_given(common, "feed", NULL))
        return tool_print_json(common, results);
    if (code == AIRY_EXIT_OK && !common->json)
        print_oct(common, results, airy_job_summary(p->job.job));
    json_decref(results);
    return code;
}

const struct command cmd_oct = {
    .name = "oct",
    .usage = "RAW --plan PLAN.json -o OUT [options]",
    .examples = "  airy oct scan.raw --plan plan.json -o scan.h5 --plot scan.png\n"
                "  airy oct volume.h5::/raw --plan plan.json --enface face.npy,100:200\n"
                "  camera | airy oct - --plan plan.json -o live.npy\n"
                "  airy oct scan.raw --plan plan.json --line-rate 200000 --repeat 60s\n",
    .job = "oct",
    .params_size = sizeof(struct oct_params),
    .check = check_oct,
    .run = job_run,
    .tables = {NULL, plot_options},
    .takes = TAKES_COMPUTE | TAKES_EXPLAIN,
    .min_inputs = 1,
    .max_inputs = 1,
    .reads_pipe = true,
    .own_signals = true,
    .show = show_oct,
    .watch = watch_oct,
    .optional_output = true,
};
