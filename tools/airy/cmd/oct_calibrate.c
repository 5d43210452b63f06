/* airy oct calibrate: the plan's axis and dispersion from recordings of mirrors. */
#include <math.h>

#include "cli/job_command.h"
#include "plot/gnuplot.h"

struct calibrate_params {
    struct job_params job;
    const char *plot;
};

static const struct opt plot_options[] = {
    {.name = "plot",
     .type = OPT_STRING,
     .offset = offsetof(struct calibrate_params, plot),
     .use = OPT_WRITTEN,
     .argument = "OUT.png",
     .help = "draws the profiles before and after (.png, .svg, .pdf)"},
    {0},
};

/* Magnitudes in dB of the peak behind. */
static void draw_profile(FILE *s, const double *values, const double *top, const double *bins,
                         size_t count, double scale)
{
    double most = 1e-300;
    for (size_t i = 8; i < count; i++)
        most = top[i] > most ? top[i] : most;
    for (size_t i = 0; i < count; i++)
        fprintf(s, "%.6g %.4f\n", scale * bins[i], 20 * log10(fmax(values[i], 1e-300) / most));
    fputs("e\n", s);
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static void write_script(FILE *s, const json_t *results, const airy_host_view *profiles,
                         const double *bins)
{
    static const char *const colours[] = {"#2166ac", "#b2182b"};
    const json_t *step = json_object_get(results, "depth_step_um"), *mirror;
    const size_t count = profiles->shape[2];
    const double scale = step ? json_number_value(step) : 1, *values = profiles->data;
    size_t m;
    fprintf(
        s,
        "set xlabel '%s'\nset ylabel 'magnitude (dB)'\nset yrange [-70:5]\nset xrange [0:%.6g]\n"
        "set key top right\nset grid ytics lc '#e0e0e0'\nplot ",
        step ? "depth (µm)" : "depth (bins)", scale * bins[1] * (double)count);
    json_array_foreach(json_object_get(results, "mirrors"), m, mirror)
    {
        const json_t *before = json_object_get(mirror, "before"),
                     *after = json_object_get(mirror, "after");
        fprintf(
            s,
            "%s'-' with lines lc '%s' lw 0.7 dt 2 title 'mirror %zu before, %.2f bins wide', '-' "
            "with lines lc '%s' title 'after, %.2f bins (theory %.2f)'",
            m ? ", " : "", colours[m], m + 1, number(before, "width_bins"), colours[m],
            number(after, "width_bins"), number(after, "theory_bins"));
    }
    fputc('\n', s);
    for (m = 0; m < profiles->shape[0]; m++)
        for (size_t after = 0; after < 2; after++)
            draw_profile(s, values + (2 * m + after) * count, values + (2 * m + 1) * count, bins,
                         count, scale);
}

static int draw(const struct calibrate_params *p, const json_t *results)
{
    const struct common *common = &p->job.common;
    airy_host_view profiles, bins;
    struct gnuplot plot;
    airy_status status = airy_job_get_array(p->job.job, "profiles", &profiles);
    if (status == AIRY_OK)
        status = airy_job_get_array(p->job.job, "bins", &bins);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    const int code = gnuplot_begin(&plot, common, p->plot, 0.6);
    if (code != AIRY_EXIT_OK)
        return code;
    write_script(plot.script, results, &profiles, bins.data);
    return gnuplot_end(&plot);
}

static void print_numbers(const json_t *results, const char *key, const char *format)
{
    const json_t *list = json_object_get(results, key);
    if (list)
        printf(format, json_number_value(json_array_get(list, 0)),
               json_number_value(json_array_get(list, 1)),
               json_number_value(json_array_get(list, 2)),
               json_number_value(json_array_get(list, 3)));
}

static void print_calibration(const json_t *results)
{
    const json_t *mirror, *um = json_object_get(results, "depth_step_um");
    size_t m;
    json_array_foreach(json_object_get(results, "mirrors"), m, mirror)
    {
        const json_t *b = json_object_get(mirror, "before"), *a = json_object_get(mirror, "after");
        printf("mirror %zu: bin %.2f, width %.2f before, %.3f after, theory %.3f bins", m + 1,
               number(a, "bin"), number(b, "width_bins"), number(a, "width_bins"),
               number(a, "theory_bins"));
        if (um)
            printf(" (%.3f, %.3f, %.3f um)", number(b, "width_um"), number(a, "width_um"),
                   number(a, "theory_um"));
        printf("; phase %.2f before, %.3f rad rms after\n", number(b, "phase_rms"),
               number(a, "phase_rms"));
    }
    print_numbers(results, "poly", "axis: poly [%.9g, %.9g, %.9g, %.9g]\n");
    if (json_object_get(results, "degree") && !json_object_get(results, "poly"))
        printf("axis: curve of degree %.0f\n", number(results, "degree"));
    print_numbers(results, "dispersion", "dispersion: [%.6g, %.6g, %.6g, %.6g] rad\n");
    if (um)
        printf("depth: %.6g um a bin\n", json_number_value(um));
}

static int show_calibration(void *params)
{
    const struct calibrate_params *p = params;
    json_t *results = job_results(&p->job);
    if (!results)
        return tool_failed(&p->job.common, AIRY_ERR_MEMORY);
    const int code = p->plot ? draw(p, results) : AIRY_EXIT_OK;
    if (code == AIRY_EXIT_OK && !p->job.common.json)
        print_calibration(results);
    json_decref(results);
    return code;
}

static int check_calibration(void *params)
{
    const struct calibrate_params *p = params;
    const struct common *common = &p->job.common;
    int code = job_check(params);
    if (code == AIRY_EXIT_OK && p->plot)
        code = gnuplot_check_name(common, p->plot);
    return code == AIRY_EXIT_OK && p->plot ? gnuplot_check(common) : code;
}

const struct command cmd_oct_calibrate = {
    .name = "oct calibrate",
    .usage = "MIRROR [MIRROR2] -o PLAN.json [options]",
    .examples =
        "  airy oct calibrate near.npy far.npy --dark dark.npy -o plan.json --plot peaks.png\n"
        "  airy oct calibrate far.raw --plan known_axis.json --fit dispersion -o plan.json\n",
    .job = "oct-calibrate",
    .params_size = sizeof(struct calibrate_params),
    .check = check_calibration,
    .run = job_run,
    .show = show_calibration,
    .tables = {NULL, plot_options},
    .min_inputs = 1,
    .max_inputs = 2,
};
