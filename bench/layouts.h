/* Figures of the layouts, from the jobs to their picture. */
#ifndef AIRY_BENCH_LAYOUTS_H
#define AIRY_BENCH_LAYOUTS_H

#include "jobs.h"

enum { LAYOUT_FIGURES = 32, LAYOUT_RUNS = 64 };

/* One layout, or several processes, on one device. */
struct layout_figure {
    enum bench_job_kind kind;
    enum layout layout; /* auto of several processes */
    bool cpu, identical;
    size_t processes, threads; /* threads: of all processes, 0 on a device */
    char name[48];             /* "threads 4" */
    double seconds[LAYOUT_RUNS];
    size_t runs;
    double first;    /* s, a job from its start to its exit */
    double frames;   /* of a job */
    double speed_up; /* against one thread, or the layout of a device */
};

/* Return the number of threads, or of processes where there are several. */
size_t layout_count(const struct layout_figure *figure);
/* frames/s that a part of the runs did not stay below in time, 0.5: the median. */
double layout_rate(const struct layout_figure *figure, double part);

/* Bars and speed-up into --plot. Exit code. */
int layouts_plot(const struct bench *bench, const struct layout_figure *figures, size_t count);

#endif
