/* airy integrate: frames of files or of a stream to radial patterns. */
#include <string.h>

#include "cli/job_command.h"
#include "plot/gnuplot.h"
#include "result/plot.h"

struct integrate_params {
    struct job_params job;
    const char *plot;
    enum world_wish mpi;
    bool has_mpi;
};

static const struct opt shown_options[] = {
    {.name = "mpi",
     .type = OPT_PARSED,
     .optional = true,
     .offset = offsetof(struct integrate_params, mpi),
     .seen = offsetof(struct integrate_params, has_mpi),
     .parse = world_parse,
     .argument = "on|off",
     .fallback = "on where mpirun or srun has started several",
     .help = "shares the frames among the processes of a launcher"},
    {.name = "plot",
     .type = OPT_STRING,
     .offset = offsetof(struct integrate_params, plot),
     .use = OPT_WRITTEN_OWN,
     .argument = "OUT.png",
     .help = "draws the result (.png, .svg, .pdf)",
     .heading = "Picture"},
    {0},
};

static bool is_stream(const struct common *common)
{
    for (size_t i = 0; i < common->inputs.count; i++)
        if (strstr(common->inputs.items[i], "://") && !tool_exists(common->inputs.items[i]))
            return true;
    return false;
}

static int check_integrate(void *params)
{
    struct integrate_params *p = params;
    const struct common *common = &p->job.common;
    p->job.prints_series = is_stream(common);
    if (p->job.prints_series && (common->explain || p->plot))
        return tool_usage(common,
                          "--%s is for files, not for streams; the detector's own file takes it",
                          common->explain ? "explain" : "plot");
    if (p->job.prints_series && !job_output(&p->job, "output") &&
        !opt_given(common, "publish", NULL))
        return tool_usage(common, "no output: give -o OUT.h5, or --publish ADDRESS, or both");
    if (!job_output(&p->job, "output") && !common->explain && !p->job.prints_series)
        return tool_usage(common, "no output: give -o OUT.h5, .xye, .xy, .chi or .dat");
    airy_job_origin follow = AIRY_ORIGIN_DEFAULT;
    (void)airy_job_get_origin(p->job.job, "follow", &follow);
    if (common->explain && follow != AIRY_ORIGIN_DEFAULT)
        return tool_usage(common, "--explain needs all frames at once: not with --follow");
    const int code = p->plot ? gnuplot_check_name(common, p->plot) : AIRY_EXIT_OK;
    return code == AIRY_EXIT_OK ? job_check(params) : code;
}

/* Of a run that followed its input. */
static void say_latency(const struct job_params *p)
{
    const double *s;
    size_t count;
    if (airy_job_get_numbers(p->job, "latency", &s, &count) == AIRY_OK && count == 3 &&
        s[2] > 0) /* of good rows, of which there may be none */
        tool_say(&p->common,
                 "latency from frame to pattern: median %.3g ms, 99 %% %.3g ms, longest %.3g ms",
                 s[0] * 1e3, s[1] * 1e3, s[2] * 1e3);
}

/* A picture shows one pattern of columns. */
static int planned_integrate(void *params)
{
    const struct integrate_params *p = params;
    const char *output = job_output(&p->job, "output");
    static const char *const several[] = {".xye", ".xy", ".chi", ".dat"};
    char *text = NULL;
    bool is_text = false;
    for (size_t i = 0; p->plot && output && i < sizeof(several) / sizeof(several[0]); i++)
        is_text |= tool_has_suffix(output, several[i]);
    if (!is_text)
        return AIRY_EXIT_OK;
    airy_status status = airy_job_resolve(p->job.job);
    if (status == AIRY_OK)
        status = airy_job_get_plan(p->job.job, &text);
    if (status != AIRY_OK)
        return job_failed(&p->job, output, status);
    json_t *plan = json_loads(text, 0, NULL);
    const long long rows =
        (long long)json_integer_value(json_object_get(json_object_get(plan, "run"), "rows"));
    json_decref(plan);
    airy_job_text_free(text);
    return rows <= 1 ? AIRY_EXIT_OK
                     : tool_usage(&p->job.common,
                                  "--plot draws one result, not %lld text files; write .h5", rows);
}

static int run_integrate(void *params)
{
    struct integrate_params *p = params;
    return job_run_ranks(params, p->has_mpi && p->mpi == WORLD_AUTO ? WORLD_ON : p->mpi);
}

static int show_integrate(void *params)
{
    const struct integrate_params *p = params;
    const struct common *common = &p->job.common;
    const char *output = job_output(&p->job, "output"), *summary = airy_job_summary(p->job.job);
    if (p->job.prints_series)
        return AIRY_EXIT_OK;
    if (!common->json)
        say_latency(&p->job);
    if (!common->json && *summary)
        tool_say(common, "%s", summary);
    return p->plot && output ? plot_result(common, output, p->plot) : AIRY_EXIT_OK;
}

const struct command cmd_integrate = {
    .name = "integrate",
    .usage = "STACK...|tcp://HOST:PORT... [--poni FILE] -o OUT.h5|.xye|.xy|.chi|.dat [options]",
    .details = "STACK is HDF5 (FILE or FILE::DATASET), CBF, EDF" IF_TIFF(
        ", TIFF") " or NPY, one file or several, "
                  "or a pattern: 'run_*.cbf', frame_####.cbf. tcp://HOST:PORT is the stream of a "
                  "detector (DECTRIS Stream V2): see docs/live.md.",
    .examples = "  airy integrate series_master.h5 -o patterns.h5\n"
                "  airy integrate series_master.h5 --poni lab6.poni --bins 2000 --error-model "
                "poisson -o patterns.h5 --plot patterns.png\n"
                "  airy integrate frame.h5 --detector eiger_4M --dist 0.3 --poni1 0.08 --poni2 "
                "0.08 --energy 12.4 \\\n"
                "      --unit 2th_deg --error-model poisson -o frame.xye\n"
                "  airy integrate tcp://detector:31001 --sockets 4 -o 'run_{series}.h5' --publish "
                "tcp://192.168.1.2:31002\n",
    .job = "integrate",
    .params_size = sizeof(struct integrate_params),
    .check = check_integrate,
    .run = run_integrate,
    .planned = planned_integrate,
    .show = show_integrate,
    .tables = {NULL, shown_options},
    .takes = TAKES_COMPUTE | TAKES_DEVICES | TAKES_EXPLAIN,
    .min_inputs = 1,
    .max_inputs = 10000000,
    .json_without = "configuration", /* which the file has */
    .own_signals = true,
    .optional_output = true,
};
