/* airy sources: what stands out of an image of the sky, as a catalogue. */
#include "cmd/sources.h"

#include <math.h>
#include <string.h>

#include "plot/gnuplot.h"

static const struct opt plot_options[] = {
    {.name = "plot",
     .type = OPT_STRING,
     .offset = offsetof(struct sources_params, plot),
     .use = OPT_WRITTEN,
     .argument = "OUT.png",
     .help = "draws a picture of the image with the sources, .png, .svg or .pdf, by gnuplot"},
    {0},
};

static int check_sources(void *params)
{
    struct sources_params *p = params;
    const struct common *common = &p->job.common;
    int code = job_check(params);
    if (code == AIRY_EXIT_OK && p->plot)
        code = gnuplot_check_name(common, p->plot);
    if (code == AIRY_EXIT_OK && p->plot)
        code = gnuplot_check(common);
    airy_status status = airy_job_want(p->job.job, "catalog");
    if (status == AIRY_OK && p->plot)
        status = airy_job_want(p->job.job, "image");
    return status == AIRY_OK ? code : tool_failed(common, status);
}

static void print_brightest(const struct sources_shown *s)
{
    size_t top[SOURCES_TOP];
    const size_t count = sources_brightest(top, s);
    const bool jy = count > 0 && !isnan(sources_value(s->jy, top[0]));
    if (count > 0)
        tool_say(s->common, "%7s %10s %10s %12s %12s %8s %12s", "label", "x", "y",
                 s->place[0]->name, s->place[1]->name, "npix", jy ? "Jy" : "flux");
    for (size_t k = 0; k < count; k++) {
        const size_t row = top[k];
        const double ra = sources_value(s->place[0], row), dec = sources_value(s->place[1], row);
        char text[2][24] = {"-", "-"};
        if (isfinite(ra)) {
            snprintf(text[0], sizeof(text[0]), "%.6f", ra);
            snprintf(text[1], sizeof(text[1]), "%+.6f", dec);
        }
        tool_say(s->common, "%7zu %10.2f %10.2f %12s %12s %8.0f %12.6g", row + 1,
                 sources_value(s->x, row), sources_value(s->y, row), text[0], text[1],
                 sources_value(s->pixels, row), sources_value(jy ? s->jy : s->flux, row));
    }
}

/* The first column of one of these names, which a catalogue has. */
static const airy_column *find(const airy_table *table, const char *name, const char *other)
{
    size_t i = 0;
    while (i + 1 < table->columns && strcmp(table->column[i].name, name) != 0 &&
           strcmp(table->column[i].name, other) != 0)
        i++;
    return &table->column[i];
}

/* The first column in degrees, which is a longitude; the latitude stands behind it. */
static const airy_column *find_longitude(const airy_table *table)
{
    size_t i = 0;
    while (i + 2 < table->columns &&
           (!table->column[i].unit || strcmp(table->column[i].unit, "deg") != 0))
        i++;
    return &table->column[i];
}

static airy_status take_results(struct sources_shown *s, const airy_job *job)
{
    airy_status status = airy_job_get_table(job, "catalog", &s->table);
    if (status == AIRY_OK)
        status = airy_job_get_number(job, "background", &s->background);
    if (status == AIRY_OK)
        status = airy_job_get_number(job, "noise", &s->noise);
    if (status == AIRY_OK)
        status = airy_job_get_text(job, "unit", &s->unit);
    if (status == AIRY_OK && s->plot)
        status = airy_job_get_array(job, "image", &s->image);
    if (status != AIRY_OK)
        return status;
    s->x = find(s->table, "x", "com_x");
    s->y = find(s->table, "y", "com_y");
    s->a = find(s->table, "a", "a");
    s->b = find(s->table, "b", "b");
    s->theta = find(s->table, "theta", "theta");
    s->flux = find(s->table, "flux", "sum");
    s->pixels = find(s->table, "npix", "npix");
    s->jy = find(s->table, "flux_jy", "flux_jy");
    s->place[0] = find_longitude(s->table);
    s->place[1] = s->place[0] + 1;
    return status;
}

static int show_sources(void *params)
{
    const struct sources_params *p = params;
    struct sources_shown s = {.common = &p->job.common, .plot = p->plot};
    const airy_status status = take_results(&s, p->job.job);
    if (status != AIRY_OK)
        return tool_failed(s.common, status);
    const int code = p->plot ? sources_plot(&s) : AIRY_EXIT_OK;
    if (code != AIRY_EXIT_OK)
        return code;
    tool_say(s.common, "%s", airy_job_summary(p->job.job));
    print_brightest(&s);
    return code;
}

const struct command cmd_sources = {
    .name = "sources",
    .usage = "IMAGE [options]",
    .examples = "  airy sources field.fits --catalog field.vot --regions field.reg\n"
                "  airy sources ccd.fits --sigma 1.5 --matched 3 --mesh 32 --apertures 3,5 \\\n"
                "      --catalog ccd.csv --background back.fits --plot ccd.png\n"
                "  airy sources cube.fits --frame 3 --method simple --catalog plane3.csv\n",
    .job = "sources",
    .tables = {NULL, plot_options},
    .takes = TAKES_COMPUTE | TAKES_COMPARE,
    .prints_json = true,
    .params_size = sizeof(struct sources_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .check = check_sources,
    .run = job_run,
    .show = show_sources,
};
