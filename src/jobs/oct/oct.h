/* The job oct in its parts: where raw frames come from, a camera, where results go. */
#ifndef AIRY_JOBS_OCT_OCT_H
#define AIRY_JOBS_OCT_OCT_H

#include <stdatomic.h>

#include "airy/frames.h"
#include "airy/oct_config.h"
#include "airy/oct_stream.h"
#include "airy/ring.h"
#include "jobs/groups.h"

/* Frames N times, or for so long; 0: not given so. */
struct oct_repeat {
    uint64_t times;
    double seconds;
};

/* "[OUT][,MORE]": a projection of all results, and its file; MORE is text until the bins are known. */
struct oct_map_values {
    char path[4096]; /* "": it stays in memory */
    bool along_frames, has_bins;
    size_t bins[2];
};

struct oct_values {
    struct airy_job_source raw;
    char *plan;
    struct airy_frames_values frames;
    int compat;
    double line_rate;
    struct oct_repeat repeat;
    size_t batch, buffers; /* raw frames of a buffer; buffers; 0: chosen */
    char *feed, *output;
    bool pairs, force, explain;
    size_t frame;
    struct oct_map_values enface, mip;
    struct airy_compute_values compute;
};

/*
 * Whether anybody still wants frames. The hook of the job is asked on the thread of the run, now and
 * then, unless frames come on a thread of their own.
 */
struct oct_patience {
    airy_job *job;
    atomic_bool stopped;
    bool has_camera;    /* frames come on a thread of their own */
    uint64_t asked_ns;  /* when the hook was asked last */
    size_t done, total; /* what it is told; total 0: not known */
};
/* Ask the hook, at most 50 times a second. On the thread of the run. */
bool airy_oct_goes_on(struct oct_patience *patience);
/* Any thread. */
bool airy_oct_is_stopped(struct oct_patience *patience);

/* ---- raw frames (source.c) ---- */

/* Frames of a file, an array or a pipe as a plan takes them. Zeroed is closed. */
struct oct_frames {
    const char *name;     /* for sentences */
    airy_stack *stack;    /* NULL: of a ring */
    airy_stack_info info; /* of the stack */
    airy_dtype dtype;     /* of the frames that are read: u8, u16, i16 or f32 */
    size_t frame_bytes;   /* of these */
    void *stored;         /* a frame of another type, which is converted to f32; or NULL */
};
/* Close it in any case. AIRY_ERR_UNSUPPORTED: integers of 64 bits. */
airy_status airy_oct_frames_open(struct oct_frames *frames, const struct airy_job_source *from,
                                 const airy_stack_params *params);
airy_status airy_oct_frames_read(const struct oct_frames *frames, size_t number, void *frame);
void airy_oct_frames_close(struct oct_frames *frames);

/* Raw frames and the plan that says what they are. Zeroed is closed. */
struct oct_source {
    airy_job *job;
    const struct oct_values *v;
    struct oct_patience *patience;
    struct oct_frames input;
    airy_ring *ring;        /* or NULL */
    airy_oct_config config; /* complete: what the plan leaves open is the file's */
    uint64_t first;         /* frame of the file that comes first */
    uint64_t frames;        /* that come at most; UINT64_MAX: until the end */
    uint64_t taken;
    char *head; /* frames that were read already */
    size_t head_count, head_at;
    uint64_t next, skipped; /* of a ring: number of the next frame; missed since it was set to 0 */
    bool numbered;
    uint64_t whole;  /* frames that a pipe gave */
    char cut[512];   /* what is wrong with the end of a pipe whose frames are kept */
    uint64_t number; /* of the stack's next frame, also where that cannot be read */
};

/* Close it in any case. */
airy_status airy_oct_source_open(struct oct_source *source);
/*
 * The next frames; *got is smaller than count only at the end. Whole frames of a pipe that ends inside
 * the next one are frames; `cut` says then what the end was like.
 */
airy_status airy_oct_source_read(struct oct_source *source, void *frames, size_t count,
                                 size_t *got);
/*
 * The next frames without taking them, once, in front of the first read: *frames lives as long as
 * the source, *got are there.
 */
airy_status airy_oct_source_peek(struct oct_source *source, const void **frames, size_t count,
                                 size_t *got);
void airy_oct_source_close(struct oct_source *source);
/* Of a packed sample; 0: samples are not packed. */
size_t airy_oct_packed_bits(const airy_oct_params *plan);
/* The NAME of ring:NAME, or NULL. */
const char *airy_oct_ring_name(const struct airy_job_source *raw);
/* The frames come as a camera brings them. */
bool airy_oct_is_live(const airy_job *job);
/* The frames can be read at any place: they do not come from a camera or a pipe. */
bool airy_oct_is_file(const struct oct_source *source);

/* ---- frames as a camera brings them (live.c) ---- */

extern const struct airy_job_record airy_oct_repeat_record;

struct oct_live;
struct airy_oct_live_start {
    struct oct_source *source;
    airy_oct_stream *stream;
    airy_device *device;
    airy_host **memory;  /* frames that are repeated; the caller's, outlives the stream */
    size_t group, batch; /* raw frames of a result, of a buffer */
};
/* Begin to bring frames; *live is to be ended in any case. */
airy_status airy_oct_live_start(struct oct_live **live, const struct airy_oct_live_start *start);
/* The outcome of the frames that came, after `status` of the run; *live may be NULL. */
airy_status airy_oct_live_end(struct oct_live **live, airy_status status);
/* Play all frames into the ring of the parameter feed. */
airy_status airy_oct_live_feed(struct oct_source *source);

/* ---- results (results.c) ---- */

/* The brightest bin of a result. */
struct oct_peak {
    double value; /* NaN: none */
    size_t line, bin;
};

struct oct_map; /* a projection that grows by results */
extern const struct airy_job_record airy_oct_enface_record, airy_oct_mip_record;

/* Where results go. Zeroed is closed. */
struct oct_results {
    airy_job *job;
    const struct oct_values *v;
    const airy_oct_params *plan;
    airy_oct_info info;
    airy_frame_writer *writer;
    bool png;        /* the output is written picture by picture */
    bool one;        /* there is one result, so that its picture needs no number */
    uint64_t frames; /* results so far */
    float *values;   /* one result, [lines][depth] */
    float *picture;  /* that of the parameter frame; NULL: not wanted, or did not come yet */
    char *kept;      /* all of them; NULL: none */
    size_t room;     /* for so many */
    bool keeps, has_picture;
    struct oct_map *enface, *mip;
    struct oct_peak
        peak; /* of the first result, in front of a display, whose limits would cut it */
    bool has_peak;
};

struct airy_oct_results_open {
    const struct oct_source *source;
    const airy_oct_params *plan; /* what the oct was made of */
    airy_oct_info info;
    const char *configuration;   /* JSON; NULL: nothing is written */
    const struct oct_peak *peak; /* NULL: to be found */
};

/* The values make sense: before anything is opened. */
airy_status airy_oct_results_check(const airy_job *job);
/* The output is a file of frames. */
bool airy_oct_results_is_stack(const struct oct_values *values);
/* Change what pictures need and the plan does not ask for. */
airy_status airy_oct_results_adapt(const airy_job *job, airy_oct_params *plan);
/* Close it in any case. */
airy_status airy_oct_results_open(struct oct_results *results, airy_job *job,
                                  const struct airy_oct_results_open *open);
/* Results one behind the other. */
airy_status airy_oct_results_add(struct oct_results *results, const void *data, size_t count);
/* Files take their names, and arrays are the job's. */
airy_status airy_oct_results_finish(struct oct_results *results);
void airy_oct_results_close(struct oct_results *results);
/* Of [out_lines][depth] values. */
void airy_oct_find_peak(struct oct_peak *peak, const float *values, const airy_oct_info *info,
                        size_t depth_first);
/* Percentiles of the finite values; false where there is none. */
bool airy_oct_limits(const float *values, size_t count, double lo_percent, double hi_percent,
                     double *lo, double *hi);
/* Micrometres of a bin; 0: not known. */
double airy_oct_depth_um(const airy_oct_info *info);

#endif
