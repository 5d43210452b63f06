/* What the files of a live run share: the run, and the series that is at work. */
#ifndef AIRY_JOBS_INTEGRATE_SERIES_SERVICE_H
#define AIRY_JOBS_INTEGRATE_SERIES_SERVICE_H

#include <pthread.h>

#include "airy/live.h"
#include "airy/stream.h"
#include "jobs/configuration.h"
#include "jobs/integrate/integrate.h"

/* What became of the images of a series: each that was to come is in one of these. */
struct airy_series_counts {
    uint64_t integrated, resumed; /* resumed: by a run before */
    uint64_t bad;                 /* came, and are of no use */
    uint64_t dropped, lost;       /* lost: did not come */
    uint64_t left_out;            /* by `frames` */
};

/* counts: what became of the series, whose status this is. */
struct airy_series_outcome {
    const airy_stream_report *series;
    airy_live_info info;
    struct airy_series_counts counts;
    uint64_t published;
    airy_status status;
};

struct airy_service {
    airy_job *job;
    const struct airy_integrate_values *v;
    struct airy_compute_values compute; /* with the memory that the receiver leaves */
    airy_publisher *publisher;
    bool named; /* OUT has {series} in it, or there is none */

    /* Of all series. */
    size_t done, failed; /* series */
    bool partly;         /* one of them is AIRY_PARTLY */
    airy_error failure;  /* of the last one that failed */
    uint64_t frames, bad, lost;
    double seconds;
    uint64_t silent_ns;  /* since when the first series is waited for */
    atomic_bool heard;   /* something came, or its silence was reported */
    atomic_bool stopped; /* a hook wants no more */

    /* Hooks are called by one thread at a time. */
    pthread_mutex_t speaking, stepping;
    size_t at, of; /* progress, with stepping */

    /* The series at work. */
    char path[AIRY_PARTIAL_PATH]; /* "": no file */
    struct airy_integration_source source;
    uint8_t *mask;
    struct airy_integration *it;
    bool open, said, complete;                      /* said: its failure was reported */
    bool dtype_said, channels_said;                 /* in the start message */
    char why[AIRY_ERROR_TEXT + AIRY_HINT_TEXT + 2]; /* sentence of its failure, or "" */
    size_t done_before; /* complete: rows that an earlier run has made, and bad ones */
    size_t bad_before;
    uint64_t id;
    airy_live *live;
    airy_stream_pixels kind; /* what images of the run are like; stays for the next series */
    bool has_kind;
    double setup;                         /* s */
    atomic_uint_least64_t dropped, other; /* other: images that `frames` leaves out */
    atomic_bool unmarked;                 /* a row of two images could not be marked as bad */
    pthread_mutex_t lock;
    uint8_t *dropped_rows; /* a bit a row; with the lock */
    size_t dropped_size;   /* bytes of it */
};

/* ---- series_hooks.c ---- */

/* Texts of a detector make no lines of their own. */
void airy_series_one_line(char *text);
/* Report a message. */
void airy_series_say(struct airy_service *s, airy_log_level level, const char *format, ...)
    AIRY_PRINTF(3, 4);
/* An airy_progress_fn and an airy_log_fn with the service as user. */
bool airy_series_step(void *service, size_t done, size_t total);
void airy_series_message(void *service, airy_log_level level, const char *text);
/* Ask the progress hook where nothing else does, and whether the run is cancelled. */
bool airy_series_is_cancelled(struct airy_service *s);
/* SIZE_MAX: until the run is cancelled. */
size_t airy_series_wanted(const struct airy_service *s);
/* What a hint suggests, with words NAME=VALUE; "": nothing. */
void airy_series_hint(char text[AIRY_HINT_TEXT], const airy_job *job, airy_hint hint);
/*
 * A failure of the series at work, whose sentence is kept for its report and for those who subscribe.
 * Returns status.
 */
airy_status airy_series_fail(struct airy_service *s, uint64_t id, airy_status status,
                             airy_hint hint, const char *format, ...) AIRY_PRINTF(5, 6);

/* ---- series_begin.c ---- */

/* File, slots and kernels for images of this kind. */
airy_status airy_series_open_run(struct airy_service *s, const airy_stream_pixels *kind);
/* The stages `start` of the receiver's handler. */
airy_status airy_series_start(void *service, const airy_stream_message *start);
/* What `channel` selects; "": any. */
const char *airy_series_channel(const struct airy_service *s);

/* ---- series_images.c: `first`, `image`, `broken` and `conflict` of the handler ---- */

airy_status airy_series_first(void *service, const airy_stream_message *image);
airy_status airy_series_image(void *service, const airy_stream_message *image,
                              uint64_t received_ns);
void airy_series_broken(void *service, uint64_t image_id, const char *sentence);
void airy_series_conflict(void *service, uint64_t image_id);
/* Give up the rows that were dropped; no more images come. */
void airy_series_lose_dropped(struct airy_service *s);

/* ---- series_end.c ---- */

/* `end` of the handler. */
bool airy_series_end(void *service, const airy_stream_report *series);

/* ---- series_report.c ---- */

/* The file that has what is there, or NULL; text: room for its name. */
const char *airy_series_file(const struct airy_service *s, bool failed,
                             char text[AIRY_PARTIAL_PATH]);
/* Report SERIES_ENDS. */
airy_status airy_series_report(struct airy_service *s, const struct airy_series_outcome *o);

#endif
