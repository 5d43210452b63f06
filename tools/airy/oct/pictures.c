/* The picture of `airy oct --plot`: a B-scan with its axes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oct/oct.h"
#include "plot/gnuplot.h"

enum {
    MOST_PIXELS = 1600, /* of a side of a plot; more are drawn in boxes of their mean */
    MOST_SORTED = 1 << 20
};

/* A B-scan as it is drawn: [depth][lines] in boxes. */
struct picture {
    size_t lines, depth; /* of the result */
    double bin, first;   /* micrometres of a bin, or 1; of the first */
    const char *axis;    /* what these are */
    size_t width, height, step_x, step_y;
    float *values;
};

static bool make_picture(struct picture *p, const float *values)
{
    const size_t lines = p->lines, depth = p->depth;
    p->step_x = (lines + MOST_PIXELS - 1) / MOST_PIXELS;
    p->step_y = (depth + MOST_PIXELS - 1) / MOST_PIXELS;
    p->width = (lines + p->step_x - 1) / p->step_x;
    p->height = (depth + p->step_y - 1) / p->step_y;
    p->values = malloc(p->width * p->height * sizeof(*p->values));
    if (!p->values)
        return false;
    for (size_t y = 0; y < p->height; y++)
        for (size_t x = 0; x < p->width; x++) {
            double sum = 0;
            size_t n = 0;
            for (size_t l = x * p->step_x; l < (x + 1) * p->step_x && l < lines; l++)
                for (size_t z = y * p->step_y; z < (y + 1) * p->step_y && z < depth; z++, n++)
                    sum += (double)values[l * depth + z];
            p->values[y * p->width + x] = (float)(sum / (double)n);
        }
    return true;
}

/* Magnitudes and powers span decades; others do not. Returns the scale's name. */
static const char *to_db(struct picture *p, const char *signal)
{
    const bool magnitude = strcmp(signal, "magnitude") == 0, power = strcmp(signal, "power") == 0;
    if (strcmp(signal, "phase") == 0)
        return "phase (rad)";
    if (!magnitude && !power)
        return strcmp(signal, "db") == 0 ? "dB" : signal;
    for (size_t i = 0; i < p->width * p->height; i++)
        p->values[i] = fmaxf((magnitude ? 20.0f : 10.0f) * log10f(p->values[i]), -300.0f);
    return "dB";
}

/* The value at this part of sorted ones, rounded down. */
static double percentile(double *values, size_t count, double part)
{
    const double last = (double)(count - 1);
    return tool_percentile(values, count, count > 1 ? floor(part * last) / last : 0);
}

/* Of the finite values; 0 and 1 where there is none. */
static bool find_limits(double limits[2], const struct picture *p, bool whole)
{
    const size_t count = p->width * p->height, step = count / MOST_SORTED + 1;
    double *values = malloc((count / step + 1) * sizeof(*values));
    size_t n = 0;
    for (size_t i = 0; values && i < count; i += step)
        if (isfinite(p->values[i]))
            values[n++] = (double)p->values[i];
    limits[0] = n ? percentile(values, n, whole ? 0 : 5 / 100.0) : 0;
    limits[1] = n ? percentile(values, n, whole ? 1 : 99.95 / 100) : 1;
    if (!(limits[1] > limits[0]))
        limits[1] = limits[0] + (limits[0] != 0 ? fabs(limits[0]) : 1);
    const bool sorted = values != NULL;
    free(values);
    return sorted;
}

static void write_script(FILE *s, const char *path, const struct picture *p, const char *scale,
                         const double limits[2])
{
    const double dx = (double)p->step_x, dy = (double)p->step_y * p->bin;
    const char *slash = strrchr(path, '/');
    fputs("set title ", s);
    gnuplot_text(s, slash && slash[1] ? slash + 1 : path);
    fprintf(s,
            "\nset cblabel '%s' noenhanced offset 1.5\nset rmargin 13\nset xlabel "
            "'line'\nset ylabel '%s'\nset tics out\nset xrange [-0.5:%.1f]\nset yrange "
            "[%.9g:%.9g]\nset cbrange [%.9g:%.9g]\nunset key\n",
            scale, p->axis, (double)p->lines - 0.5, p->first + ((double)p->depth - 0.5) * p->bin,
            p->first - 0.5 * p->bin, limits[0], limits[1]);
    fprintf(s,
            "plot '-' binary array=(%zu,%zu) format='%%float' origin=(%.9g,%.9g) dx=%.9g dy=%.9g "
            "with image notitle\n",
            p->width, p->height, (dx - 1) / 2, p->first + (dy - p->bin) / 2, dx, dy);
    fwrite(p->values, sizeof(float), p->width * p->height, s);
}

int oct_plot(const struct oct_params *params, const json_t *results)
{
    const struct common *common = &params->job.common;
    const json_t *um = json_object_get(results, "depth_um"),
                 *range = json_object_get(results, "range"),
                 *ends = um ? um : json_object_get(results, "depth_bins");
    const char *signal = json_string_value(json_object_get(results, "signal"));
    airy_host_view view;
    struct gnuplot plot;
    double limits[2];
    const airy_status status = airy_job_get_array(params->job.job, "picture", &view);
    if (status != AIRY_OK || !signal)
        return tool_failed(common, status);
    struct picture picture = {
        .lines = view.shape[0],
        .depth = view.shape[1],
        .bin = um ? json_number_value(json_object_get(results, "depth_step_um")) : 1,
        .first = json_number_value(json_array_get(ends, 0)),
        .axis = um ? "depth (µm)" : "depth (bins)"};
    const bool made = make_picture(&picture, view.data);
    const char *scale = made ? to_db(&picture, signal) : NULL;
    const bool whole = made && (strcmp(signal, "phase") == 0 || strcmp(signal, "display") == 0);
    if (!made || !find_limits(limits, &picture, whole)) {
        free(picture.values);
        return tool_fail(common, "%s: out of memory for the picture", params->plot);
    }
    for (size_t i = 0; i < 2 && range && !whole; i++) /* db_range */
        limits[i] = json_number_value(json_array_get(range, i));
    int code = gnuplot_begin(&plot, common, params->plot, 0.66);
    if (code == AIRY_EXIT_OK) {
        gnuplot_palette(&plot, colormap_find("gray"));
        write_script(plot.script, common->inputs.items[0], &picture, scale, limits);
        code = gnuplot_end(&plot);
    }
    free(picture.values);
    return code;
}
