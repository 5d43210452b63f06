/* Parts of `airy oct` that have files of their own. */
#ifndef AIRY_TOOLS_OCT_OCT_H
#define AIRY_TOOLS_OCT_OCT_H

#include <stdatomic.h>

#include "airy/frames.h"
#include "airy/oct_config.h"
#include "airy/oct_stream.h"
#include "airy/ring.h"
#include "airy/stack.h"
#include "cli/tool.h"

/* --repeat: so many times, or for so long; 0: not given so. */
struct oct_repeat {
    uint64_t times;
    double seconds;
};

struct oct_params {
    struct common common;
    const char *output, *plan, *plot, *enface, *mip, *feed;
    size_t frames[3]; /* first, last (0: end), step */
    size_t frame;     /* of the results, for pictures of one */
    airy_oct_compat compat;
    double line_rate;
    struct oct_repeat repeat;
    size_t batch, buffers; /* raw frames of a buffer; buffers; 0: chosen */
    bool has_frames, has_frame, has_compat, has_rate, has_repeat;
    bool skip_bad; /* --on-error skip */
    bool pairs;    /* --complex-as-pairs */
};

/* Frames of a file or a pipe as a plan takes them (oct/source.c). Zeroed is closed. */
struct oct_frames {
    airy_stack *stack;
    airy_stack_info info; /* of the stack */
    airy_dtype dtype;     /* of the frames that are read: u8, u16, i16 or f32 */
    size_t frame_bytes;   /* of these */
    void *stored;         /* a frame of another type, which is converted to f32; or NULL */
};
/* Close it in any case. AIRY_ERR_UNSUPPORTED: integers of 64 bits. */
airy_status oct_frames_open(struct oct_frames *frames, const char *path,
                            const airy_stack_params *params);
airy_status oct_frames_read(const struct oct_frames *frames, size_t number, void *frame);
void oct_frames_close(struct oct_frames *frames);

/* Raw frames and the plan that says what they are (oct/source.c). Zeroed is closed. */
struct oct_source {
    const struct common *common;
    const char *path;
    struct oct_frames input; /* of a ring: without a stack */
    airy_ring *ring;         /* or NULL */
    airy_oct_config config;  /* complete: what the plan leaves open is the file's */
    uint64_t first;          /* frame of the file that comes first */
    uint64_t frames;         /* that come at most; UINT64_MAX: until the end */
    uint64_t taken;
    char *head; /* frames that were read already */
    size_t head_count, head_at;
    uint64_t next, skipped; /* of a ring: number of the next frame; lost since it was set to 0 */
    bool numbered;
    const atomic_bool *stop; /* true: nobody wants frames of it any more; NULL: never */
    uint64_t whole;          /* frames that a pipe gave */
    char cut[512];           /* what is wrong with the end of a pipe whose frames are kept */
    uint64_t number;         /* of the stack's next frame, also where that cannot be read */
};

/* Exit code; close it in any case. */
int oct_source_open(struct oct_source *source, const struct oct_params *p);
/*
 * The next frames; *got is smaller than count only at the end. Whole frames of a pipe that ends inside
 * the next one are frames; `cut` says then what the end was like.
 */
airy_status oct_source_read(struct oct_source *source, void *frames, size_t count, size_t *got);
/*
 * The next frames without taking them, once, in front of the first read: *frames lives as long as
 * the source, *got are there.
 */
airy_status oct_source_peek(struct oct_source *source, const void **frames, size_t count,
                            size_t *got);
void oct_source_close(struct oct_source *source);
/* Of a packed sample; 0: samples are not packed. */
size_t oct_packed_bits(const airy_oct_params *plan);
/* The NAME of ring:NAME, or NULL. */
const char *oct_ring_name(const char *path);

/* Frames as a camera brings them (oct/live.c). */
struct oct_live;
struct oct_live_start {
    const struct oct_params *p;
    struct oct_source *source;
    airy_oct_stream *stream;
    airy_device *device;
    airy_host **memory;  /* frames that are repeated; the caller's, outlives the stream */
    size_t group, batch; /* raw frames of a result, of a buffer */
};
/* An opt_parse_fn of a struct oct_repeat. */
const char *oct_parse_repeat(void *field, const char *text);
bool oct_is_live(const struct oct_params *p);
int oct_live_check(const struct oct_params *p);
/* Begins to give; *live is to be ended in any case. Exit code. */
int oct_live_start(struct oct_live **live, const struct oct_live_start *start);
/* A line on a terminal, now and then. */
void oct_live_show(struct oct_live *live);
/* Exit code of the frames that came; NULL is fine. */
int oct_live_end(struct oct_live **live);
/* --feed: all of it. Exit code. */
int oct_live_feed(const struct oct_params *p, struct oct_source *source);

/* The brightest bin of a result. */
struct oct_peak {
    double value; /* NaN: none */
    size_t line, bin;
};

/* Where results go (oct/sink.c). Zeroed is closed. */
struct oct_sink {
    const struct oct_params *p;
    const airy_oct_params *plan;
    airy_oct_info info;
    airy_frame_writer *writer;
    bool png;          /* OUT is written picture by picture */
    bool one;          /* there is one result, so that its picture needs no number */
    uint64_t frames;   /* results so far */
    uint64_t pictures; /* of those, written as PNG */
    float *values;     /* one result, [lines][depth] */
    float *drawn;      /* that of --plot; NULL: did not come yet */
    struct oct_map *enface, *mip;
    struct oct_peak
        peak; /* of the first result, in front of a display, whose limits would cut it */
    bool has_peak;
};

struct oct_sink_open {
    const struct oct_params *p;
    const struct oct_source *source;
    const airy_oct_params *plan; /* what the oct was made of */
    airy_oct_info info;
    const char *configuration;   /* JSON */
    const struct oct_peak *peak; /* NULL: to be found */
    uint64_t frames;             /* raw ones that are expected; UINT64_MAX: not known */
};

/* The options make sense: before anything is opened. Exit code. */
int oct_sink_check(const struct oct_params *p);
/* What pictures need and the plan does not ask for; exit code, where it forbids them. */
int oct_sink_adapt(const struct oct_params *p, airy_oct_params *plan);
/* Exit code; close it in any case. */
int oct_sink_open(struct oct_sink *sink, const struct oct_sink_open *open);
/* Results one behind the other. Exit code. */
int oct_sink_add(struct oct_sink *sink, const void *results, size_t count);
/* Files take their names. Exit code. */
int oct_sink_finish(struct oct_sink *sink);
void oct_sink_close(struct oct_sink *sink);

/* Pictures (oct/pictures.c). */
struct oct_map; /* a projection that grows by results */
/* Bins of --enface that do not rise are wrong use. Exit code. */
int oct_enface_check(const struct common *common, const char *text);
/*
 * --enface OUT[,z0:z1] (mean of the bins z0 to z1 - 1) and --mip OUT[,depth|frames] (largest value
 * along depth, or of all results). Exit code; NULL where text is NULL.
 */
int oct_map_open(struct oct_map **map, const struct oct_params *p, const char *option,
                 const char *text, const airy_oct_info *info, size_t depth_first);
/* One result's values. Exit code. */
int oct_map_add(struct oct_map *map, const float *values);
/* Exit code. */
int oct_map_write(const struct oct_map *map);
void oct_map_close(struct oct_map **map);
/* --plot: one result with its axes. Exit code. */
int oct_plot(const struct oct_sink *sink, const float *values);
/* Of [out_lines][depth] values. */
void oct_find_peak(struct oct_peak *peak, const float *values, const airy_oct_info *info,
                   size_t depth_first);
/* One result as a PNG, depth downwards. Exit code. */
int oct_picture_write(const struct oct_sink *sink, const void *result, const char *path);
/* Percentiles of the finite values; false where there is none. */
bool oct_limits(const float *values, size_t count, double lo_percent, double hi_percent, double *lo,
                double *hi);
/* Micrometres of a bin; 0: not known. */
double oct_depth_um(const airy_oct_info *info);

#endif
