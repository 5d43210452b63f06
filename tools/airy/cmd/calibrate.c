/* airy calibrate: distance, beam centre and tilts from the rings of a calibrant. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/job_command.h"
#include "cmd/calibrate.h"

struct calibrate_params {
    struct job_params job;
    const char *plot;
    bool list;
};

#define FIELD(member) .offset = offsetof(struct calibrate_params, member)
static const struct opt shown_options[] = {
    {.name = "list",
     .type = OPT_FLAG,
     FIELD(list),
     .help = "prints the table of calibrants and stops"},
    {.name = "plot",
     .type = OPT_STRING,
     FIELD(plot),
     .use = OPT_WRITTEN,
     .argument = "OUT.png",
     .help = "draws the image with rings (blue), points (yellow; red: left out) and beam (green)"},
    {0},
};

static int print_list(const struct common *common)
{
    json_t *list = json_array();
    for (size_t i = 0; i < airy_calibrant_count(); i++) {
        airy_calibrant_info info;
        const airy_status status = airy_calibrant_get(&info, i);
        if (status != AIRY_OK)
            return tool_failed(common, status);
        const double *c = info.cell;
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:[o,o,o,o,o,o], s:s}", "name", info.name, "title",
                            info.title, "group", info.group, "cell", tool_json_number(c[0]),
                            tool_json_number(c[1]), tool_json_number(c[2]), tool_json_number(c[3]),
                            tool_json_number(c[4]), tool_json_number(c[5]), "source", info.source));
        if (!common->json)
            printf("%-13s %-21s %-9s a %.10g b %.10g c %.10g  %s\n", info.name, info.title,
                   info.group, c[0], c[1], c[2], info.source);
    }
    if (common->json)
        return tool_print_json(common, list);
    json_decref(list);
    return AIRY_EXIT_OK;
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* Row and column; NaN where the results have none. */
static void get_pair(double pair[2], const json_t *results, const char *key)
{
    const json_t *list = json_object_get(results, key);
    for (size_t i = 0; i < 2; i++)
        pair[i] = json_is_array(list) ? json_number_value(json_array_get(list, i)) : (double)NAN;
}

/* What the picture is drawn from; free the calibrant in any case. */
static airy_status get_drawn(struct drawn *drawn, const airy_job *job, const json_t *results)
{
    airy_host_view picture = {.data = NULL};
    char *calibrant = NULL, *json = json_dumps(json_object_get(results, "geometry"), 0);
    airy_status status = json ? airy_geometry_parse(&drawn->geometry, json) : AIRY_ERR_MEMORY;
    if (status == AIRY_OK)
        status = airy_job_get_array(job, "picture", &picture);
    if (status == AIRY_OK)
        status = airy_job_get_table(job, "places", &drawn->points);
    if (status == AIRY_OK)
        status = airy_job_get(job, "calibrant", &calibrant);
    if (status == AIRY_OK)
        status = airy_calibrant_load(&drawn->calibrant, calibrant, drawn->geometry.wavelength);
    free(json);
    airy_job_text_free(calibrant);
    drawn->frame.height = picture.shape[0];
    drawn->frame.width = picture.shape[1];
    drawn->frame.values = (double *)picture.data;
    get_pair(drawn->beam, results, "beam_px");
    return status;
}

static int draw(const struct calibrate_params *p, const json_t *results)
{
    const struct common *common = &p->job.common;
    struct drawn drawn = {.points = NULL};
    const airy_status status = get_drawn(&drawn, p->job.job, results);
    const int code = status == AIRY_OK ? calibrate_plot(common, p->plot, &drawn)
                                       : tool_failed(common, status);
    airy_calibrant_free(&drawn.calibrant);
    return code;
}

static void print_values(const json_t *results)
{
    static const char *const names[] = {"dist", "poni1", "poni2", "rot1", "rot2", "wavelength"};
    const json_t *geometry = json_object_get(results, "geometry"),
                 *errors = json_object_get(results, "errors");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *unit = strncmp(names[i], "rot", 3) == 0 ? "rad" : "m";
        printf("%-10s  %.10g", names[i], number(geometry, names[i]));
        if (json_object_get(errors, names[i]))
            printf(" +- %.2g %s\n", number(errors, names[i]), unit);
        else
            printf(" %s (held)\n", unit);
    }
    printf("%-10s  %.10g rad (held)\n", "rot3", number(geometry, "rot3"));
}

static void print_rings(const json_t *rings)
{
    const json_t *ring;
    size_t i;
    printf(
        "\n  ring     h   k   l    d (A)   2theta   points   used   rms px   mean px   width px\n");
    json_array_foreach(rings, i, ring)
    {
        const json_t *hkl = json_object_get(ring, "hkl");
        printf("  %4.0f  %4d%4d%4d  %7.4f  %7.3f  %3.0f/%-4.0f  %4.0f", number(ring, "ring"),
               (int)json_integer_value(json_array_get(hkl, 0)),
               (int)json_integer_value(json_array_get(hkl, 1)),
               (int)json_integer_value(json_array_get(hkl, 2)), number(ring, "d_angstrom"),
               number(ring, "2th_deg"), number(ring, "points"), number(ring, "sectors"),
               number(ring, "used"));
        if (number(ring, "used") > 0)
            printf("  %7.4f   %+7.4f   %8.2f", number(ring, "rms_px"), number(ring, "mean_px"),
                   number(ring, "fwhm_px"));
        printf("\n");
    }
}

static void print_calibration(const json_t *results, bool verbose)
{
    const json_t *rings = json_object_get(results, "rings");
    double beam[2], error[2];
    print_values(results);
    get_pair(beam, results, "beam_px");
    get_pair(error, results, "beam_error_px");
    if (isfinite(beam[0]))
        printf("beam        y %.4f +- %.2g, x %.4f +- %.2g pixels\n", beam[0], error[0], beam[1],
               error[1]);
    printf("residual    %.4f pixels, %.5f degrees (rms) of %.0f of %.0f points on %zu ring%s\n",
           number(results, "rms_px"), number(results, "rms_deg"), number(results, "used"),
           number(results, "points"), json_array_size(rings), tool_s(json_array_size(rings)));
    if (verbose)
        print_rings(rings);
}

static int show_calibration(void *params)
{
    const struct calibrate_params *p = params;
    json_t *results = job_results(&p->job);
    const int code = p->plot ? draw(p, results) : AIRY_EXIT_OK;
    if (code == AIRY_EXIT_OK && !p->job.common.json)
        print_calibration(results, p->job.common.verbose);
    json_decref(results);
    return code;
}

static int check_calibrate(void *params)
{
    const struct calibrate_params *p = params;
    const struct common *common = &p->job.common;
    if (p->list)
        return tool_check_list(common);
    if (common->inputs.count == 0)
        return tool_usage(common, "IMAGE is missing");
    if (p->plot && !tool_has_suffix(p->plot, ".png"))
        return tool_usage(common, "output '%s': expected a name that ends in .png", p->plot);
    if (p->plot && airy_job_want(p->job.job, "picture") != AIRY_OK)
        return tool_failed(common, AIRY_ERR_NOT_FOUND);
    return job_check(params);
}

static int run_calibrate(void *params)
{
    struct calibrate_params *p = params;
    return p->list ? print_list(&p->job.common) : job_run(params);
}

const struct command cmd_calibrate = {
    .name = "calibrate",
    .usage = "IMAGE --calibrant NAME -o OUT.poni [options]",
    .examples =
        "  airy calibrate lab6.cbf --calibrant LaB6 --energy 20 --dist 0.2 --center 520,490 "
        "-o lab6.poni --plot lab6.png\n"
        "  airy calibrate ceo2.h5 --calibrant CeO2 --guess old.poni --fix rot1,rot2 -o new.poni\n",
    .job = "calibrate",
    .params_size = sizeof(struct calibrate_params),
    .check = check_calibrate,
    .run = run_calibrate,
    .show = show_calibration,
    .tables = {NULL, shown_options},
    .takes = TAKES_THREADS,
    .min_inputs = 0,
    .max_inputs = 1,
};
