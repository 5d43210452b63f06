/* The sources that a run has found, as the command shows them. */
#ifndef AIRY_TOOLS_CMD_SOURCES_H
#define AIRY_TOOLS_CMD_SOURCES_H

#include "cli/job_command.h"

struct sources_params {
    struct job_params job;
    const char *plot;
};

/* Results of the job, and columns of its table. */
struct sources_shown {
    const struct common *common;
    const char *plot, *unit;
    const airy_table *table;
    airy_host_view image; /* of a picture */
    double background, noise;
    const airy_column *x, *y, *a, *b, *theta, *flux, *pixels;
    const airy_column *jy;       /* NULL: not known */
    const airy_column *place[2]; /* longitude and latitude */
};

/* The f64 of a row. */
double sources_value(const airy_column *column, size_t row);
/* Twice the moments' axes, which is the outline of an even disc, and a pixel at least. */
airy_ellipse sources_outline(const struct sources_shown *s, size_t row);
enum { SOURCES_TOP = 10 };
/* The rows of the brightest sources, falling; how many. */
size_t sources_brightest(size_t top[SOURCES_TOP], const struct sources_shown *s);
/* Draw the picture. Exit code. */
int sources_plot(const struct sources_shown *s);

#endif
