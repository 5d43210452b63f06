/* Parts of `airy integrate` that have files of their own. */
#ifndef AIRY_TOOLS_INTEGRATE_INTEGRATE_H
#define AIRY_TOOLS_INTEGRATE_INTEGRATE_H

#include "airy/pipeline.h"
#include "airy/pixels.h"
#include "images/bad_pixels.h"
#include "plot/curve.h"
#include "cli/layout.h"
#include "cli/pattern_opt.h"
#include "cli/stack_opt.h"
#include "cli/team.h"
#include "cli/world.h"

/* Of inputs that are a detector's stream (live_stream.c). */
struct stream_opt {
    const char *publish, *allow;
    struct curve_opt curve;
    size_t sockets, series, queue; /* queue: messages; 0 the library's */
    uint64_t max_message;          /* bytes; 0 the library's */
    uint64_t max_images;           /* of a series; 0 the library's */
    double timeout;
    bool bind, drop, has_timeout;
};

struct integrate_params {
    struct geometry_params geometry;
    struct pattern_params pattern;
    const char *output, *plot, *config, *mask_only, *dark, *flat, *absorption, *variance, *monitor;
    const char *instrument, *source; /* names, of NXazint files */
    struct bad_pixels bad;
    struct raw_opt raw;
    bool one_table;
    enum result_format { FORMAT_AIRY, FORMAT_NXAZINT } format;
    size_t frames[3]; /* first, last (0: end), step */
    double radial_range[2], azimuth_range[2], polarization[2], normalization, empty;
    bool has_frames, has_radial_range, has_azimuth_range, has_polarization, has_normalization,
        has_empty;
    double saturation;
    bool has_saturation, mask_saturated;
    struct opt_list roi, carry;
    size_t grid[2]; /* rows, columns of a scan */
    bool zigzag;
    size_t average, sum; /* frames of a group, SIZE_MAX: all; 0: not given */
    bool no_solid_angle, sensor_efficiency, unweighted, chi_zero, skip_bad, resume;
    bool follow;
    double follow_timeout, poll; /* s */
    bool has_follow_timeout, has_poll;
    enum layout layout;
    enum world_wish mpi;
    bool has_mpi, per_rank;
    struct world *world; /* of run; never NULL then */
    struct stream_opt stream;
};

/* What stands for the stack where frames come by themselves. */
struct integration_source {
    airy_stack_info info; /* frames 0: their number is not known */
    airy_stack_meta meta;
    const uint8_t *mask; /* where meta.has_mask */
    struct team *team;   /* devices that are open; their integrators are not touched */
    json_t *about;       /* goes into the configuration as "stream" */
};

/* Everything an integration needs, opened in this order and closed in reverse. */
struct integration {
    const struct integrate_params *params;
    const struct common *common;
    const struct integration_source *source; /* NULL: the stack */
    airy_stack *stack;
    airy_stack_info info;
    airy_stack_meta meta;
    size_t lost; /* files that did not come, of a run that followed them */
    airy_geometry geometry;
    airy_detector_arrays *arrays; /* of its detector */
    airy_integrator_params integrator_params;
    airy_pixels pixels;
    double *monitor;
    struct team team;
    airy_device *device;         /* the team's first */
    airy_integrator *integrator; /* the team's first */
    airy_run_params run;
    size_t frames; /* that run covers */
    double start;  /* of the set-up, s */
    airy_nxazint nxazint;
    char *names[3]; /* of its instrument and source */
    airy_roi *rois;
    airy_frame_values *carried;
    size_t carried_count;
    char *configuration;
    bool replayed; /* the geometry comes from --config */
    struct layout_choice layout;
    size_t files; /* of --per-rank, which the result is spread over; 0: one */
};

/* Refuse values that no stack can have a meaning for: wrong use. Exit code. */
int integration_check(const struct integrate_params *params);
/*
 * Open stack, geometry, masks, corrections, device and integrator. Exit code; integration_close in
 * any case.
 */
int integration_open(struct integration *job, const struct integrate_params *params,
                     const airy_geometry *replayed);
/* The same without a stack: of what `source` says, which outlives the job. */
int integration_open_source(struct integration *job, const struct integrate_params *params,
                            const airy_geometry *replayed, const struct integration_source *source);
void integration_close(struct integration *job);
/* Rows of the file: frames, or groups of them. */
size_t integration_rows(const struct integration *job);
/* Patterns whose largest pixel that counted is a value that detectors write into gaps. */
struct gap_rows {
    bool known; /* false: nobody has looked */
    size_t count, first;
};
/*
 * Print a line where pixels of a detector that has no name are what others write into gaps, in any
 * frame of the run. rows: NULL, or where they are; else the column of largest pixels of the HDF5 file
 * `result` tells it, and where that is NULL, too, a few frames are read.
 */
void integration_say_gaps(const struct integration *job, const char *result,
                          const struct gap_rows *rows);
/* Print a line where --dummy left out no pixel, which the result tells where it is one file. */
void integration_say_dummy_unused(const struct integration *job, const char *result);
/* Warn of frames without a pixel that counts; first: the first of them in the stack. */
void integration_say_empty(const struct common *common, size_t frames, size_t empty, size_t first);

/* --roi, --grid and --carry (around.c). Parsed before the stack is open; then resolved. */
int around_check(const struct integrate_params *params);
int around_open(struct integration *job);
/* Regions that have no part of the axes, when those are known. */
int around_fit(const struct integration *job);
void around_close(struct integration *job);
/* An opt_parse_fn: NxM into size_t[2]. */
const char *around_grid(void *field, const char *text);
/* An opt_parse_fn: F[,DEG] into double[2]. */
const char *integrate_parse_polarization(void *field, const char *text);
/* .h5, .hdf5 or .nxs */
bool integrate_is_hdf5_name(const char *path);
/* Neither the output nor what an interrupted run left of it is in the way. Exit code. */
int integrate_check_place(const struct integrate_params *params, const char *output);

/* --explain: what the run would do, on standard output. --verbose: what was chosen. Exit codes. */
int integrate_explain(const struct integration *job);
int integrate_say_choices(const struct integration *job);

/* After Ctrl-C: what is done, and the way on where anything is kept. Exit code. */
int integrate_stopped(const struct integration *job, size_t done);

/* Make the JSON that goes into the result: enough to redo it. Exit code. */
int configuration_text(char **text, const struct integration *job);
/*
 * Read the options of a previous result: words "--name=value" (each malloc'ed, in a malloc'ed
 * list) and its geometry. Exit code.
 */
int configuration_read(const struct common *common, const char *path, struct opt_list *words,
                       airy_geometry *geometry);

/*
 * For --resume: OUT.partial must have been started with the same meaning, else a message says what
 * differs; its configuration is taken over. Without OUT.partial the run starts from the beginning.
 * Exit code.
 */
int resume_prepare(struct integration *job);
/* The output of --resume is there, and no OUT.partial. */
bool resume_is_complete(const struct integrate_params *params);
/* Then it must be of the same run: says so, or what differs. Exit code. */
int resume_complete(const struct integration *job);

/* The slots must fit the limit of --memory-limit on the host, too. Exit code. */
int integrate_check_memory(const struct integration *job);

/* Inputs that are streams: "tcp://HOST:PORT" or "ipc://PATH". */
extern const struct opt stream_options[];
bool live_is_stream(const struct integrate_params *params);
/* Of the options alone; those of streams are refused where the input is none. Exit codes. */
int live_stream_check(const struct integrate_params *p);
int live_stream_unused(const struct integrate_params *params);
/* As integrate_check_place. */
int live_stream_check_place(const struct integrate_params *params);
/* The whole run. Exit code. */
int live_stream_run(const struct integrate_params *params, const airy_geometry *replayed);

/*
 * --follow (follow.c): frames that are still to come. check: of the options alone. wait: until the
 * input can be opened. frames: instead of what the stack has now. Exit codes.
 */
int follow_check(const struct integrate_params *params);
int follow_wait(const struct integrate_params *params);
int follow_frames(struct integration *job);
int follow_run(struct integration *job, airy_run_info *info);

/* One text file a frame or group of frames: .xye .xy .chi .dat. Exit code. */
struct ascii_result {
    char first[4200], last[4200]; /* files; "" where none was written */
    struct gap_rows gaps;
};
int ascii_run(struct integration *job, airy_run_info *info, struct ascii_result *result);
/* How many patterns that are. */
size_t ascii_rows(const struct integration *job);
bool ascii_name(const char *path);

#endif
