/* The picture of airy bench scaling: speed-up of each kind, what limits it, and the ideal. */
#include <math.h>
#include <string.h>

#include "scaling.h"
#include "plot/gnuplot.h"

/* Colours that stay apart for colour-blind eyes and in grey. Source: Okabe and Ito, 2008. */
static const struct {
    const char *title;
    unsigned colour;
} kinds[SCALING_KINDS] = {{"cores of one process", 0x0072b2},
                          {"commands of one thread", 0xe69f00},
                          {"ranks of one thread", 0x009e73},
                          {"devices", 0xcc79a7}};

/* n, speed-up and limit of one kind; returns how many. */
static size_t write_curve(FILE *s, const struct scaling_figure *figures, size_t count, size_t kind)
{
    size_t points = 0;
    fprintf(s, "$kind%zu << EOD\n", kind);
    for (size_t i = 0; i < count; i++)
        if (figures[i].kind == kind) {
            fprintf(s, "%zu %.6g %.6g\n", figures[i].n, figures[i].speed_up, figures[i].limit);
            points++;
        }
    fputs("EOD\n", s);
    return points;
}

int scaling_plot(const struct bench *bench, const struct scaling_figure *figures, size_t count)
{
    struct gnuplot plot;
    size_t points[SCALING_KINDS], most = 1;
    double highest = 1;
    const int code = gnuplot_begin(&plot, bench->common, bench->params->plot, 0.75);
    if (code != AIRY_EXIT_OK)
        return code;
    FILE *s = plot.script;
    for (size_t i = 0; i < count; i++) {
        most = figures[i].n > most ? figures[i].n : most;
        highest = fmax(highest, fmax(figures[i].speed_up, figures[i].limit));
    }
    for (size_t kind = 0; kind < SCALING_KINDS; kind++)
        points[kind] = write_curve(s, figures, count, kind);
    char title[200];
    const char *slash = strrchr(bench->sample, '/');
    snprintf(title, sizeof(title), "%.120s: speed-up against one",
             slash ? slash + 1 : bench->sample);
    fputs("set title ", s);
    gnuplot_text(s, title);
    fprintf(s,
            "\nset key top left Left reverse samplen 3\nset xlabel 'cores, commands, "
            "ranks or devices'\nset ylabel 'speed-up'\nset grid lw 0.5 lc rgb '#d0d0d0'\n"
            "set xrange [0:%zu.5]\nset yrange [0:%.6g]\nset xtics %zu\n"
            "plot x with lines dt 2 lc rgb '#606060' title 'ideal'",
            most, fmax(highest, (double)most) * 1.05, (most + 7) / 8);
    const bool cpu = points[SCALING_CORES] != 0;
    const size_t limits = cpu ? SCALING_CORES : SCALING_DEVICES;
    if (points[limits])
        fprintf(s, ", $kind%zu using 1:3 with linespoints pt 6 dt 3 lc rgb '#606060' title '%s'",
                limits, cpu ? "what the cores compute" : "copies or reading, the lower");
    for (size_t kind = 0; kind < SCALING_KINDS; kind++)
        if (points[kind])
            fprintf(s, ", $kind%zu using 1:2 with linespoints pt 7 lc rgb '#%06x' title '%s'", kind,
                    kinds[kind].colour, kinds[kind].title);
    fputc('\n', s);
    return gnuplot_end(&plot);
}
