/* airy stream: a file played as a detector's live stream. */
#ifndef AIRY_TOOLS_STREAM_STREAM_H
#define AIRY_TOOLS_STREAM_STREAM_H

#include <stdatomic.h>

#include "airy/stream_send.h"
#include "plot/curve.h"
#include "cli/geometry_opt.h"
#include "cli/stack_opt.h"

enum { STREAM_SOCKETS = 64, STREAM_LOST = 256, STREAM_SHUFFLE = 4096 };

/* Images that are left out: one in every `of`, the last of them, or those of a list. */
struct stream_lost {
    uint64_t of;
    uint64_t list[STREAM_LOST];
    size_t count;
};

struct stream_params {
    struct geometry_params geometry;
    struct raw_opt raw;
    struct opt_list to;
    struct curve_opt curve;
    double rate, arm, pause, patience, linger;
    size_t frames[3], loop, series, series_count, high_water, shuffle, channels;
    uint64_t preload, seed;
    airy_codec filter;
    airy_stream_detail detail;
    struct stream_lost lose;
    bool connect, no_end, no_preload, has_rate, has_frames, has_series, has_preload, has_filter,
        has_linger;
};

/* What is played. An image is `channels` frames of the stack. */
struct stream_source {
    const struct stream_params *p;
    const struct common *common;
    const airy_stream_keys *keys; /* or NULL */
    airy_stack *stack;
    airy_stack_info info;
    airy_stack_meta meta;
    airy_geometry geometry;
    uint8_t *mask;              /* NULL: none */
    size_t first, step, images; /* the first frame, from one to the next, images of one pass */
    uint64_t total;             /* of a series: passes of all images */
    airy_stream_series series;  /* of the first one */
    char names[AIRY_STREAM_CHANNELS][16];
    const char *channels[AIRY_STREAM_CHANNELS];
    airy_stream_image **kept; /* [images]; NULL: they are read when their time comes */
    uint64_t bytes;           /* of the payloads of all images, at least */
};

/* The file of the last image, for one thread. */
struct stream_file {
    const char *path;
    int fd;
    void *pixels; /* of a frame that is encoded here */
};

/* Image `index` of a pass, read. A failure's sentence is airy_last_error(). */
airy_status stream_read_image(airy_stream_image **image, struct stream_file *file,
                              const struct stream_source *source, size_t index);
void stream_close_file(struct stream_file *file);
/* All images into memory. Exit code. */
int stream_keep_images(struct stream_source *source);
void stream_free_images(struct stream_source *source);

/* What happened, over all series. */
struct stream_report {
    uint64_t sent, lost, late, bytes; /* images; payloads */
    double seconds, latest, blocked;  /* latest: s behind its time; blocked: s of all sockets */
    size_t series;                    /* that were played to their end */
    bool stopped;
};
/* Play all series. Exit code; the report is filled in any case. */
int stream_play(struct stream_report *report, struct stream_source *source);
/* Bytes of an image's payloads. */
size_t stream_image_bytes(const struct stream_source *source, size_t index);

#endif
