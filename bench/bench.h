/*
 * What the benches of `airy bench` share: the run, times, rows, and the limits of the machine,
 * measured in the same run. A bench is an entry of the table in bench/bench.c and a file
 * bench_<name>.c.
 */
#ifndef AIRY_BENCH_BENCH_H
#define AIRY_BENCH_BENCH_H

#include <stdatomic.h>

#include "airy/pipeline.h"
#include "airy/job_params.h"
#include "cli/job_command.h"

enum { BENCH_MAX_REPEATS = 10000, BENCH_MAX_CASES = 8 };

struct bench_params {
    struct job_params job; /* integrate, for what bench_take_given fills in */
    airy_geometry_params geometry;
    airy_integrator_params integrator;
    airy_sample_params sample;
    bool has_unit, has_bins;
    const char *channel; /* NULL: not given */
    size_t batch;        /* 0: chosen */
    size_t frames, replay;
    double seconds;
    uint8_t cases[BENCH_MAX_CASES]; /* 1: the first to run, 2 ...; 0: not at all */
    bool has_cases, has_frames, has_replay, has_seconds, table, write, beyond_memory, all;
    const char *plot, *against;
    size_t rounds;
    bool has_rounds;
};

/* Times of one measurement. */
struct timing {
    double times[BENCH_MAX_REPEATS]; /* s */
    size_t count;
    double spent;  /* s, sum of times */
    double first;  /* s, of the first call, which is not among times */
    double stolen; /* of the processors' time meanwhile: by a virtual machine's host, 0 to 1 */
    double host_peak, device_peak; /* bytes held at most: by the process in this loop, on the
                                      device since the bench began */
};

/* Bytes/s; 0: not measured yet. up and inside hold for all cases. */
struct bench_limits {
    double up, inside, wire;
};

/* The devices of a bench and an integrator on each. Zeroed is closed. */
struct team {
    airy_device **devices;         /* [count] */
    airy_integrator **integrators; /* [count], or NULL */
    size_t count;
};
/* The devices that --device, or else AIRY_DEVICE, means. Close in any case. */
airy_status team_open(struct team *team, const struct common *common);
/* Each device makes its own at the same time. */
airy_status team_integrators(struct team *team, const airy_geometry *geometry,
                             const airy_integrator_params *params);
void team_close(struct team *team);
/* "gpu:0" or "gpu:0, gpu:1"; malloc'ed, NULL when memory is short. */
char *team_specs(const struct team *team);

/* A bench gets this with a device open and, where it wants one, a stack. */
struct bench {
    const struct bench_params *params;
    const struct common *common;
    struct team team;    /* opened for this bench and case */
    airy_device *device; /* the team's first */
    airy_queue *queue;
    airy_device_info info;
    bool cpu, device_said;
    atomic_bool said;   /* what failed */
    const char *sample; /* the case's name, or the stack's */
    const char *path;   /* of the stack */
    airy_stack *stack;  /* NULL for benches that want none */
    airy_stack_info stack_info;
    airy_geometry geometry;       /* for benches that want it */
    airy_detector_arrays *arrays; /* of its detector */
    struct bench_limits limits;
    char folder[3072]; /* a temporary one, empty at first; "" until bench_folder */
    json_t *rows;
    size_t shown; /* rows printed in the table */
};

enum bench_wants {
    BENCH_ALONE,   /* nothing: run once whatever the cases are */
    BENCH_STACK,   /* frames */
    BENCH_GEOMETRY /* frames and their geometry */
};

/* An entry of the table in bench/bench.c. */
struct bench_kind {
    const char *name, *help;
    enum bench_wants wants;
    bool by_default;                 /* runs where no bench is named */
    int (*run)(struct bench *bench); /* exit code, after a message */
};

int bench_decode(struct bench *bench);
int bench_integrate(struct bench *bench);
int bench_stages(struct bench *bench);
int bench_start(struct bench *bench);
int bench_latency(struct bench *bench);
int bench_layouts(struct bench *bench);
int bench_write(struct bench *bench);
int bench_scaling(struct bench *bench);
int bench_convolve(struct bench *bench);
int bench_convolve1d(struct bench *bench);
int bench_blur(struct bench *bench);
int bench_filter(struct bench *bench);
int bench_stats(struct bench *bench);
int bench_clip(struct bench *bench);
int bench_threshold(struct bench *bench);
int bench_label(struct bench *bench);
int bench_measure(struct bench *bench);
int bench_chain(struct bench *bench);
int bench_background(struct bench *bench);
int bench_copy(struct bench *bench);
int bench_memory(struct bench *bench);
int bench_oct(struct bench *bench);
int bench_peaks(struct bench *bench);

/* The options of the job integrate that the benches take, of a section of its options. */
bool bench_borrows(const char *section, const char *name);
/* Fill in what the values of these options say. Exit code. */
int bench_take_given(struct bench_params *params);
/* Find the geometry of bench->stack, which is open, with the arrays of its detector. Exit code. */
int bench_find_geometry(struct bench *bench);

/* The words of a command line, malloc'ed each. */
struct bench_words {
    struct opt_list list;
    bool lost; /* memory was short */
};
void bench_words_add(struct bench_words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Add the options of the job integrate as they were given to the bench. */
void bench_words_add_given(struct bench_words *words, const struct common *common);
void bench_words_free(struct bench_words *words);

/* A process that runs. */
struct bench_child {
    pid_t pid;
    int output;   /* a file of what it prints */
    double asked; /* when it was started */
};
/* Start a program; NULL: this one. errors: its standard error. Returns 0 or an errno. */
int bench_child_start(struct bench_child *child, const char *program, int errors,
                      const struct bench_words *words);
/*
 * Wait for the end of the process. Returns the JSON that it printed; NULL where it printed something
 * else, or where status, that of waitpid, is not 0. A signal to this process ends the child as well.
 */
json_t *bench_child_end(const struct bench_child *child, int *status);
/* Run this build and params->against in turn with the same arguments, and print ratios. Exit code. */
int bench_against(const struct bench_params *params);

/* The part of the calls that took no longer, 0.5: the median, s. Sorts the times. */
double bench_percentile(struct timing *t, double part);
double bench_seconds(const struct bench *bench); /* --seconds, or what holds without it */
/* Call run once for t->first, then until --seconds are over, at least three times. */
airy_status bench_repeat(const struct bench *bench, struct timing *t,
                         airy_status (*run)(void *user), void *user);
/*
 * The same with a step before each call that is not timed (NULL: none), and without a first call
 * that is apart where `first` is false; at least `least` times, or until 20 s are spent.
 */
struct bench_loop {
    airy_status (*prepare)(void *user), (*run)(void *user);
    void *user;
    double seconds;
    size_t least;
    bool first;
};
airy_status bench_loop(const struct bench *bench, struct timing *t, const struct bench_loop *loop);
/* Print a failure whose sentence is not the library's, once; returns status. Any thread. */
airy_status bench_say(struct bench *bench, airy_status status, const char *sentence);
/* tool_failed, but after bench_say and Ctrl-C (said once at the end) nothing. Exit code. */
int bench_failed(const struct bench *bench, airy_status status);

/* Time of all processors so far, and what of it a virtual machine's host gave to others. */
struct bench_ticks {
    double all, stolen;
};
struct bench_ticks bench_ticks(void);
/* Share of the time since then, 0 to 1; NaN where the system does not say. */
double bench_stolen(const struct bench_ticks *since);

/* One figure. */
struct bench_row {
    const char *name, *unit;
    double amount;          /* of one call: the figure is amount / time, or amount * time */
    double limit;           /* in the unit; 0: none */
    const char *limit_name; /* NULL: "" */
    double bound;           /* what a design can reach, in the unit; 0: not said */
    const char *bound_name;
    size_t frames;    /* of one call; 0: not said */
    const char *note; /* what a reader must know; NULL: nothing */
};
/* The figure is amount / time: the more the better; ratio = figure / limit. */
void bench_add_rate(struct bench *bench, struct timing *t, const struct bench_row *row);
/* The figure is amount * time (1e6 for us): the less the better; ratio = limit / figure. */
void bench_add_latency(struct bench *bench, struct timing *t, const struct bench_row *row);
/* A row of one number. */
void bench_add_fact(struct bench *bench, const char *name, const char *unit, double value);
/* A row of what could not be measured, and why. */
void bench_add_missing(struct bench *bench, const char *name, const char *unit, const char *why);
/* ms so far of kernels [0] and of copies [1], on a device that is opened with a profile. */
airy_status bench_profile(double ms[2], const airy_device *device);
/* The case of a row as tables show it: a file without its folders. */
const char *bench_shown_case(const json_t *row);
/* Print a blank and a number of a row with four digits in so many characters, or "-". */
void bench_print_number(const json_t *row, const char *key, int width);
/* Print the rows that are new since the last call as lines of the table. */
void bench_show(struct bench *bench);

/*
 * Fill bench->limits: `up`, copies from page-locked memory to the device, and `inside`, copies
 * inside it (bytes copied, not read and written). On the CPU both are what its threads copy.
 */
airy_status bench_measure_limits(struct bench *bench);
/*
 * Fill bench->limits.wire: the same copy to the device as `up`, of exactly the bytes in which the
 * stack's first frames are stored (256 MB of them at most). On the CPU it is `up`.
 */
airy_status bench_measure_wire(struct bench *bench);
/* Bytes/s of such copies to all of the team's devices at a time, together. */
airy_status bench_measure_wires(struct bench *bench, double *rate);

/* Make the temporary folder in TMPDIR, if it is not there yet. Exit code. */
int bench_folder(struct bench *bench);
/* A name in it. */
void bench_name(char path[4096], const struct bench *bench, const char *name);
/* Remove it with all that is in it. */
void bench_remove_folder(struct bench *bench);
/* So many bytes are free there. Exit code. */
int bench_need_space(struct bench *bench, double bytes);
/* Cases in order, NULL behind the last; the parser of --case fills bool[BENCH_MAX_CASES]. */
const char *bench_case_name(size_t index);
const char *bench_parse_cases(void *field, const char *text);
/*
 * Run the job simulate-diffraction with the parameters of a JSON object, and a curve of this level
 * above 0. geometry: out, of the frames. Exit code.
 */
int bench_simulate(const struct bench *bench, const char *path, const char *json, double level,
                   airy_geometry *geometry);
/* Write a case's stack into the folder; bench->geometry is its. Exit code. */
int bench_make_case(struct bench *bench, char path[4096], size_t index);

/* The stack so many times in a row. */
airy_status bench_replayed(airy_stack **stack, const struct bench *bench, size_t replay);
/* What was timed below. */
struct bench_integrated {
    airy_run_info info; /* of the last call */
    size_t replay;      /* a call is the stack so often */
    double once;        /* s, the stack once, after the first call */
    /* Of bench_integrate_team, frames/s: without start and end where that is known. */
    double rate, limit;
};
/*
 * Times of integrating bench->stack, into the file at path or (NULL) to memory; a call goes through
 * it so often as --replay says, or that --seconds hold three calls.
 */
airy_status bench_time_integrate(const struct bench *bench, airy_integrator *const *integrators,
                                 size_t count, const char *path, struct timing *t,
                                 struct bench_integrated *out);
/* Rows of integrating with the team's devices, and of what limits it. */
airy_status bench_integrate_team(struct bench *bench, const char *path,
                                 struct bench_integrated *integrated);
/* A batch of the first frames of bench->stack, or of all in turn; bytes of them, stored. */
airy_status bench_batch(airy_batch **batch, const struct bench *bench, size_t frames,
                        size_t *stored);
/*
 * Times of decoding `frames` frames of bench->stack that lie encoded in memory; bytes of all of
 * them, stored.
 */
airy_status bench_time_decode(const struct bench *bench, size_t frames, struct timing *t,
                              size_t *stored);
/* An airy_progress_fn that stops a run after Ctrl-C. */
bool bench_go_on(void *user, size_t done, size_t total);
/* The mask of detector and file, malloc'ed. */
airy_status bench_mask(uint8_t **mask, const struct bench *bench);
/* Return the parameters of an integrator that the options of the bench ask for, of its stack. */
airy_integrator_params bench_params(const struct bench *bench, const uint8_t *mask);
/* An integrator as the options say, for bench->geometry; the other: one on each device. */
airy_status bench_integrator(airy_integrator **integrator, const struct bench *bench);
airy_status bench_team(struct bench *bench);
/* Rows of a batch of frames from chunks to sums. */
airy_status bench_batch_sums(struct bench *bench, const airy_integrator *integrator);
/* Rows of every method, splitting and error model. */
airy_status bench_methods(struct bench *bench);

/* The commands of airy-bench; `airy bench start` starts the last one, which is in no list. */
extern const struct command cmd_bench, cmd_tune, cmd_bench_start;

#endif
