/* airy integrate: frames of files or of a stream to radial patterns. */
#include <string.h>

#include "cli/job_command.h"
#include "plot/gnuplot.h"
#include "result/plot.h"

struct integrate_params {
    struct job_params job;
    const char *plot;
};

static const struct opt plot_options[] = {
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
    const struct integrate_params *p = params;
    const struct common *common = &p->job.common;
    if (!job_output(&p->job, "output") && !common->explain && !is_stream(common))
        return tool_usage(common, "no output: give -o OUT.h5, .xye, .xy, .chi or .dat");
    airy_job_origin follow = AIRY_ORIGIN_DEFAULT;
    (void)airy_job_get_origin(p->job.job, "follow", &follow);
    if (common->explain && follow != AIRY_ORIGIN_DEFAULT)
        return tool_usage(common, "--explain needs all frames at once: not with --follow");
    const int code = p->plot ? gnuplot_check_name(common, p->plot) : AIRY_EXIT_OK;
    return code == AIRY_EXIT_OK ? job_check(params) : code;
}

static int show_integrate(void *params)
{
    const struct integrate_params *p = params;
    const struct common *common = &p->job.common;
    const char *output = job_output(&p->job, "output"), *summary = airy_job_summary(p->job.job);
    const char *written = ""; /* the first of several text files, or none where all frames are bad */
    (void)airy_job_get_text(p->job.job, "output", &written);
    if (!common->json && *summary)
        tool_say(common, "%s%s%s", written, *written ? ": " : "", summary);
    return p->plot && output ? plot_result(common, output, p->plot) : AIRY_EXIT_OK;
}

extern const struct command cmd_integrate_job;
const struct command cmd_integrate_job = {
    .name = "integrate",
    .usage = "STACK...|tcp://HOST:PORT... [--poni FILE] -o OUT.h5|.xye|.xy|.chi|.dat [options]",
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
    .run = job_run,
    .show = show_integrate,
    .tables = {NULL, plot_options},
    .takes = TAKES_COMPUTE | TAKES_DEVICES | TAKES_EXPLAIN,
    .min_inputs = 1,
    .max_inputs = 10000000,
    .own_signals = true,
    .optional_output = true,
};
