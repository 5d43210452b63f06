/*
 * What the benches of `airy bench` share: the run, times, rows, and the limits of the machine,
 * measured in the same run. A bench is an entry of the table in cmd_bench.c and a file
 * bench_<name>.c.
 */
#ifndef AIRY_TOOLS_BENCH_H
#define AIRY_TOOLS_BENCH_H

#include "pattern_opt.h"

struct bench_params {
    struct geometry_params geometry;
    struct pattern_params pattern;
    size_t frames, replay;
    double seconds;
    bool has_frames, has_replay, has_seconds, table, write;
};

enum { BENCH_MAX_REPEATS = 10000 };

/* Times of one measurement. */
struct timing {
    double times[BENCH_MAX_REPEATS]; /* s */
    size_t count;
    double first; /* s, of the first call, which is not among times */
};

/* Bytes/s; 0: not measured yet. */
struct bench_limits {
    double up, inside;
};

/* A bench gets this with a device open and, where it wants one, a stack. */
struct bench {
    const struct bench_params *params;
    const struct common *common;
    airy_device *device; /* opened for this case */
    airy_queue *queue;
    airy_device_info info;
    bool cpu;
    const char *sample; /* the case's name, or the stack's */
    const char *path;   /* of the stack */
    airy_stack *stack;  /* NULL for benches that want none */
    airy_stack_info stack_info;
    airy_geometry geometry; /* for benches that want it */
    struct bench_limits limits;
    char folder[3072]; /* a temporary one, empty at first; "" until bench_folder */
    json_t *rows;
};

enum bench_wants {
    BENCH_ALONE,   /* nothing: run once whatever the cases are */
    BENCH_STACK,   /* frames */
    BENCH_GEOMETRY /* frames and their geometry */
};

/* An entry of the table in cmd_bench.c. */
struct bench_kind {
    const char *name, *help;
    enum bench_wants wants;
    bool by_default;                 /* runs where no bench is named */
    int (*run)(struct bench *bench); /* exit code, after a message */
};

int bench_decode(struct bench *bench);
int bench_integrate(struct bench *bench);

/* The part of the calls that took no longer, 0.5: the median, s. Sorts the times. */
double bench_percentile(struct timing *t, double part);
/*
 * Call run once for t->first, then until --seconds (default 2) are over, at least three times.
 * Ctrl-C ends it early.
 */
airy_status bench_repeat(const struct bench *bench, struct timing *t,
                         airy_status (*run)(void *user), void *user);

/* One figure. */
struct bench_row {
    const char *name, *unit;
    double amount;          /* of one call: the figure is amount / time, or amount * time */
    double limit;           /* in the unit; 0: none */
    const char *limit_name; /* NULL: "" */
};
/* The figure is amount / time: the more the better; ratio = figure / limit. */
void bench_add_rate(struct bench *bench, struct timing *t, const struct bench_row *row);
/* The figure is amount * time (1e6 for us): the less the better; ratio = limit / figure. */
void bench_add_latency(struct bench *bench, struct timing *t, const struct bench_row *row);
/* A row of one number. */
void bench_add_fact(struct bench *bench, const char *name, const char *unit, double value);
void bench_print_table(const json_t *rows);

/*
 * Fill bench->limits: `up`, copies from page-locked memory to the device, and `inside`, copies
 * inside it (bytes copied, not read and written). On the CPU both are what its threads copy.
 */
airy_status bench_measure_limits(struct bench *bench);

/* Make the temporary folder in TMPDIR, if it is not there yet. Exit code. */
int bench_folder(struct bench *bench);
/* A name in it. */
void bench_name(char path[4096], const struct bench *bench, const char *name);
/* Remove it with all that is in it. */
void bench_remove_folder(struct bench *bench);
/* Write the case's stack into the folder; its geometry. Exit code. */
int bench_make_case(struct bench *bench, char path[4096], airy_geometry *geometry);

/* The mask of detector and file, malloc'ed. */
airy_status bench_mask(uint8_t **mask, const struct bench *bench);
/* An integrator as the options say, for bench->geometry. */
airy_status bench_integrator(airy_integrator **integrator, const struct bench *bench);

#endif
