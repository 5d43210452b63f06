/* The job stream: frames of a stack, played as a detector's live stream. */
#ifndef AIRY_JOBS_STREAM_STREAM_H
#define AIRY_JOBS_STREAM_STREAM_H

#include "airy/stream_send.h"
#include "jobs/curve.h"
#include "jobs/geometry.h"
#include "jobs/groups.h"

enum { AIRY_PLAY_SOCKETS = 64, AIRY_PLAY_LOST = 256, AIRY_PLAY_SHUFFLE = 4096 };

/* Images that are left out: one in every `of`, the last of them, or those of a list. */
struct airy_play_lost {
    uint64_t of;
    uint64_t list[AIRY_PLAY_LOST];
    size_t count;
};

struct airy_play_values {
    struct airy_stack_values stack;
    struct airy_geometry_values geometry;
    struct airy_curve_values curve;
    struct airy_frames_values frames;
    struct airy_job_list to;
    double rate, arm, pause, patience, linger;
    size_t loop, series, series_count, high_water, shuffle, channels, threads;
    uint64_t preload, seed;
    int filter, detail; /* airy_codec, airy_stream_detail, in the order of their words */
    struct airy_play_lost lose;
    bool connect, no_end, no_preload;
};

/* What is played. An image is `channels` frames of the stack. */
struct airy_play_source {
    airy_job *job;
    const struct airy_play_values *v;
    bool has_rate, has_filter;
    airy_stream_keys *keys; /* NULL: none */
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
struct airy_play_file {
    const char *path; /* NULL: none is open */
    int fd;
    void *pixels; /* of a frame that is encoded here */
};

/* Image `index` of a pass, read. */
airy_status airy_play_read_image(airy_stream_image **image, struct airy_play_file *file,
                                 const struct airy_play_source *source, size_t index);
void airy_play_close_file(struct airy_play_file *file);
/* Bytes of an image's payloads. */
size_t airy_play_image_bytes(const struct airy_play_source *source, size_t index);
/* All images into memory. */
airy_status airy_play_keep_images(struct airy_play_source *source);
void airy_play_free_images(struct airy_play_source *source);

/* What happened, over all series. */
struct airy_play_report {
    uint64_t sent, lost, late, bytes; /* images; payloads */
    double seconds, latest, blocked;  /* latest: s behind its time; blocked: s of all sockets */
    size_t series;                    /* that were played to their end */
    bool stopped;
};
/* Play all series; the report is filled in any case. AIRY_ERR_CANCELLED with a sentence of its own. */
airy_status airy_play_series(struct airy_play_report *report, struct airy_play_source *source);

#endif
