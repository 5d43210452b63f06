/* What the parts of `airy tune` share: the data, the jobs that move each size, measurements. */
#ifndef AIRY_BENCH_TUNE_H
#define AIRY_BENCH_TUNE_H

#include "airy/oct.h"
#include "airy/tune.h"
#include "bench.h"

enum { TUNE_ROUNDS = 64, TUNE_SIZES = 64 };

/* A piece of work whose kernels the profile times, or that is timed as a whole. */
struct tune_data;
struct tune_job {
    const char *name; /* for messages */
    airy_status (*run)(struct tune_data *data);
    bool whole; /* a run of the pipeline: wall time */
};

/* Simulated frames, compressed, and what the jobs need on a device. */
struct tune_data {
    const struct common *common;
    airy_device *device;
    airy_queue *queue;
    airy_device_info info;
    airy_geometry geometry;
    size_t frames;                   /* of a batch */
    airy_batch *batch, *one, *large; /* in blocks of 8 KiB; one frame; in larger blocks */
    airy_array *pixels, *status, *sums, *stats, *one_sums, *one_stats;
    airy_integrator *integrator;
    airy_oct *oct;
    airy_array *spectra, *profiles;
    struct bench bench; /* its folder holds the stack */
    char path[4096];
    airy_stack *stack;
    size_t repeats; /* of the file in the stack, so that a run takes long enough */
};

/* The frames in a file, without a device. Exit code. */
int tune_data_make(struct tune_data *data, const struct common *common, const char *detector);
/* A device for the kernels (profiled) or for whole runs. */
airy_status tune_data_open(struct tune_data *data, bool whole);
void tune_data_close(struct tune_data *data);
void tune_data_remove(struct tune_data *data);
/* The stack with the file so often in it that a run takes this long, s. */
airy_status tune_data_repeat(struct tune_data *data, double seconds);

extern const struct tune_job tune_jobs[];
extern const size_t tune_job_count;

/* Times of one value. */
struct tune_times {
    uint32_t value;
    bool failed; /* the device does not run it */
    size_t count;
    double ms[TUNE_ROUNDS];
};

/* One size: what was measured, what is chosen. */
struct tune_result {
    airy_tunable tunable; /* as it was before */
    bool wanted;
    const struct tune_job *job; /* NULL: nothing here runs its kernel */
    struct tune_times times[AIRY_TUNABLE_VALUES];
    size_t count;    /* of times; 0: not measured */
    uint32_t chosen; /* 0: nothing was faster than the default */
};

/* A kernel, or the whole run, with all defaults and with all choices. */
struct tune_gain {
    char kernel[48]; /* "": the whole run */
    const struct tune_job *job;
    struct tune_times before, after;
    bool taken_back; /* together the choices were no faster: defaults hold */
};

struct tune {
    struct tune_data data;
    double end; /* on tool_now's clock: when measuring should be over */
    struct progress progress;
    struct tune_result results[TUNE_SIZES];
    size_t count;
    struct tune_gain gains[TUNE_SIZES];
    size_t gain_count;
};

/* The part of the times that are not longer: 0.5 is the median, ms. Sorts them. */
double tune_part(struct tune_times *times, double part);
/*
 * Measure the wanted sizes of kernels, or of whole runs, on the open device; each has its share of
 * what is left until tune->end. What is chosen is set on the device.
 */
airy_status tune_measure(struct tune *tune, bool whole);
/*
 * Default against choice, kernel by kernel or the whole run, on the open device, for this long, s;
 * choices that make nothing faster are taken back.
 */
airy_status tune_compare(struct tune *tune, bool whole, double seconds);

#endif
