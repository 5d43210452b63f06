/* The gnuplot program, fed by a pipe without a shell. */
#ifndef AIRY_TOOLS_PLOT_GNUPLOT_H
#define AIRY_TOOLS_PLOT_GNUPLOT_H

#include <sys/types.h>

#include "plot/colormap.h"
#include "cli/tool.h"

struct gnuplot {
    const struct common *common;
    struct tool_file picture;
    FILE *script; /* commands and data go here */
    FILE *talk;   /* what gnuplot says */
    pid_t pid;
};

/* The program is on the search path; else a message. Exit code. */
int gnuplot_check(const struct common *common);
/* Is it a name of a format that can be drawn? Exit code 0 or 2. */
int gnuplot_check_name(const struct common *common, const char *output);
/*
 * Start it for a picture of some aspect (height / width); the suffix of output decides: .png,
 * .svg, .pdf. One at a time. Exit code; after 0 plot stays where it is until gnuplot_end().
 */
int gnuplot_begin(struct gnuplot *plot, const struct common *common, const char *output,
                  double aspect);
/* Wait; the picture takes its name only if all went well. Exit code. */
int gnuplot_end(struct gnuplot *plot);
/* Commands for a palette like the colour map's. */
void gnuplot_palette(struct gnuplot *plot, const struct colormap *map);
/* Ticks of an axis of rows, columns or frames: whole numbers where there are few. */
void gnuplot_whole_ticks(FILE *script, const char *axis, size_t count);
/*
 * Write text that is not ours as "'text' noenhanced" (quote.h): the only way by which such text
 * goes into a script.
 */
void gnuplot_text(FILE *script, const char *text);

#endif
