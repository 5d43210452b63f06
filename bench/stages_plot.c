/* The picture of airy bench stages: frames a second of each, and what limits it. */
#include <math.h>

#include "stages.h"
#include "plot/gnuplot.h"

const char *const stage_names[STAGE_COUNT] = {
    "read", "decode", "read+decode", "read+decode+integrate", "read+decode+integrate+write"};

/* Bars or limits of one kind; a stage's place is its number, cold ones beside it. */
static void write_points(FILE *s, const char *name, const struct stage_figure *figures, bool limits,
                         int cold)
{
    fprintf(s, "$%s << EOD\n", name);
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        const double value = limits ? figures[stage].limit[cold] : figures[stage].rate[cold];
        const double at = stage == STAGE_DECODE ? 0 : cold ? 0.2 : -0.2;
        if (isfinite(value))
            fprintf(s, value < 100 ? "%.2f %.6g \"%.3g\"\n" : "%.2f %.6g \"%.0f\"\n", stage + at,
                    value, value);
    }
    fputs("0 NaN \"\"\nEOD\n", s); /* gnuplot wants a point */
}

int stages_plot(const struct bench *bench, const struct stage_figure figures[STAGE_COUNT])
{
    struct gnuplot plot;
    char title[512];
    double least = INFINITY, most = 0;
    for (int i = 0; i < 2 * STAGE_COUNT; i++) {
        const struct stage_figure *f = &figures[i / 2];
        least = fmin(least, fmin(f->rate[i % 2], f->limit[i % 2]));
        most = fmax(most, fmax(f->rate[i % 2], f->limit[i % 2]));
    }
    const int code = gnuplot_begin(&plot, bench->common, bench->params->plot, 0.6);
    if (code != AIRY_EXIT_OK)
        return code;
    FILE *s = plot.script;
    write_points(s, "cached", figures, false, 0);
    write_points(s, "cold", figures, false, 1);
    write_points(s, "cached_limit", figures, true, 0);
    write_points(s, "cold_limit", figures, true, 1);
    snprintf(title, sizeof(title), "%s on %s", bench->sample, bench->info.name);
    fputs("set title ", s);
    gnuplot_text(s, title);
    fprintf(s,
            "\nset ylabel 'frames/s'\nset logscale y\nset xrange [-0.6:%d.6]\n"
            "set yrange [%.6g:%.6g]\nset grid ytics lw 0.5 lc "
            "'#dddddd'\nset key outside top center horizontal noenhanced\nset rmargin 3\nset xtics "
            "noenhanced (",
            STAGE_COUNT - 1, least / 3, most * 2);
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        fprintf(s, "%s'%s' %d", stage ? ", " : "", stage_names[stage], stage);
    }
    fputs(")\nset xtics rotate by 20 right font ',16'\nset boxwidth 0.36\n"
          "set style fill solid 0.9 noborder\n"
          "plot $cached using 1:2 with boxes lc rgb '#0072b2' title 'page cache', "
          "$cold using 1:2 with boxes lc rgb '#e69f00' title 'cold', "
          "$cached using 1:2:3 with labels offset 0,-0.7 font ',13' tc rgb 'white' notitle, "
          "$cold using 1:2:3 with labels offset 0,-0.7 font ',13' tc rgb 'white' notitle, "
          "$cached_limit using 1:2:(0.18) with xerrorbars pt 0 lw 2.5 lc rgb '#000000' "
          "title 'limit', "
          "$cold_limit using 1:2:(0.18) with xerrorbars pt 0 lw 2.5 lc rgb '#000000' notitle\n",
          s);
    return gnuplot_end(&plot);
}
