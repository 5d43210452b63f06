/* The picture of airy bench layouts: frames a second of each, and how they scale. */
#include <math.h>
#include <string.h>

#include "layouts.h"
#include "plot/gnuplot.h"

size_t layout_count(const struct layout_figure *figure)
{
    return figure->layout == LAYOUT_THREADS ? figure->threads : figure->processes;
}

double layout_rate(const struct layout_figure *figure, double part)
{
    double seconds[LAYOUT_RUNS];
    memcpy(seconds, figure->seconds, sizeof(seconds));
    return figure->frames / tool_percentile(seconds, figure->runs, part);
}

/* Colours that stay apart for colour-blind eyes and in grey. Source: Okabe and Ito, 2008. */
static unsigned colour_of(enum bench_job_kind kind, enum layout layout)
{
    return kind == BENCH_JOB_COMMANDS ? 0xe69f00
           : kind == BENCH_JOB_RANKS  ? 0xcc79a7
           : layout == LAYOUT_SERIAL  ? 0x999999
           : layout == LAYOUT_THREADS ? 0x0072b2
                                      : 0x009e73;
}

static void draw_bars(FILE *s, const struct layout_figure *figures, size_t count, const char *title)
{
    double least = INFINITY, most = 0;
    fputs("$bars << EOD\n", s);
    for (size_t i = 0; i < count; i++) {
        const struct layout_figure *f = &figures[i];
        const double rate = layout_rate(f, 0.5);
        least = fmin(least, rate);
        most = fmax(most, rate);
        fprintf(s, "%zu %.6g %u \"%s%s\" \"%.*f\"\n", i, rate, colour_of(f->kind, f->layout),
                f->name, f->cpu ? "" : " (device)", rate < 100 ? 1 : 0, rate);
    }
    fputs("EOD\n", s);
    const bool log = most > 30 * least;
    fputs("set title ", s);
    gnuplot_text(s, title);
    fprintf(s,
            "\nset ylabel 'frames/s'\nunset key\nset xrange [-0.7:%.1f]\n"
            "set bmargin 6\nset xtics rotate by 40 right\n%s\n"
            "set style fill solid 0.9 noborder\n",
            (double)count - 0.3, log ? "set logscale y" : "unset logscale y");
    fprintf(s, "set yrange [%.6g:%.6g]\n", log ? least / 2 : 0.0, log ? most * 2.5 : most * 1.15);
    fputs("plot $bars using 1:2:(0.72):3:xtic(4) with boxes lc rgb variable, "
          "$bars using 1:2:5 with labels offset 0,0.7 font ',14'\n",
          s);
}

struct curve {
    const char *title;
    enum bench_job_kind kind;
    enum layout layout;
    bool cpu;
};

/* Write the points of curve number k. Returns how many there are. */
static size_t write_curve(FILE *s, size_t k, const struct curve *curve,
                          const struct layout_figure *figures, size_t count)
{
    size_t points = 0;
    fprintf(s, "$curve%zu << EOD\n", k);
    for (size_t i = 0; i < count; i++) {
        const struct layout_figure *f = &figures[i];
        if (f->kind != curve->kind || f->layout != curve->layout || f->cpu != curve->cpu)
            continue;
        fprintf(s, "%zu %.6g\n", layout_count(f), f->speed_up);
        points++;
    }
    fputs("EOD\n", s);
    return points;
}

static void draw_speed_up(FILE *s, const struct layout_figure *figures, size_t count)
{
    size_t most = 1;
    bool cores = false;
    for (size_t i = 0; i < count; i++) {
        cores |= figures[i].cpu;
        const size_t n = layout_count(&figures[i]);
        most = n > most ? n : most;
    }
    static const struct curve curves[] = {
        {"threads", BENCH_JOB_LAYOUT, LAYOUT_THREADS, true},
        {"commands of one thread", BENCH_JOB_COMMANDS, LAYOUT_AUTO, true},
        {"ranks of one thread", BENCH_JOB_RANKS, LAYOUT_AUTO, true},
        {"commands that share the device", BENCH_JOB_COMMANDS, LAYOUT_AUTO, false},
        {"ranks that share the device", BENCH_JOB_RANKS, LAYOUT_AUTO, false}};
    enum { CURVES = sizeof(curves) / sizeof(curves[0]) };
    size_t points[CURVES];
    for (size_t k = 0; k < CURVES; k++)
        points[k] = write_curve(s, k, &curves[k], figures, count);
    fprintf(s,
            "set title 'Speed-up against one'\nunset logscale y\n"
            "set key top left Left reverse opaque samplen 2\n"
            "set xlabel '%s'\nset ylabel 'speed-up'\nset grid lw 0.5 lc rgb '#d0d0d0'\n"
            "set xrange [0:%zu.5]\nset yrange [0:%zu.5]\nset xtics norotate %d\nset ytics %d\n"
            "plot x with lines dt 2 lc rgb '#606060' title 'ideal'",
            cores ? "threads or processes" : "processes", most, most, most > 8 ? 2 : 1,
            most > 8 ? 2 : 1);
    for (size_t k = 0; k < CURVES; k++)
        if (points[k])
            fprintf(s,
                    ", $curve%zu using 1:2 with linespoints pt 7 lc rgb '#%06x' dt %d title '%s'",
                    k, colour_of(curves[k].kind, curves[k].layout), curves[k].cpu ? 1 : 3,
                    curves[k].title);
    fputc('\n', s);
}

int layouts_plot(const struct bench *bench, const struct layout_figure *figures, size_t count)
{
    struct gnuplot plot;
    const int code = gnuplot_begin(&plot, bench->common, bench->params->plot, 0.45);
    if (code != AIRY_EXIT_OK)
        return code;
    char title[200];
    const char *slash = strrchr(bench->sample, '/');
    snprintf(title, sizeof(title), "%.120s, %.0f frames", slash ? slash + 1 : bench->sample,
             figures[0].frames);
    fputs("set multiplot layout 1,2\n", plot.script);
    draw_bars(plot.script, figures, count, title);
    draw_speed_up(plot.script, figures, count);
    fputs("unset multiplot\n", plot.script);
    return gnuplot_end(&plot);
}
