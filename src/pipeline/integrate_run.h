/* A run that integrates: each frame's sums on the device, rows of patterns from them. */
#ifndef AIRY_PIPELINE_INTEGRATE_RUN_H
#define AIRY_PIPELINE_INTEGRATE_RUN_H

#include "engine/run.h"
#include "io/result/file.h"
#include "io/result/grow.h"

/* Frames that are to be one row. */
struct integrate_group {
    airy_accumulator *sums; /* NULL: none has more than one frame */
    size_t bad;             /* frames that are no part of it */
    airy_status status;     /* of the first of them */
    char message[160];
};

/* Planes from AIRY_SUM_NORMALIZATION on, as the file has them. */
enum { AIRY_RUN_NORMS = AIRY_SUM_PLANES - AIRY_SUM_NORMALIZATION };

/* Of a live run, which looks at rows on their way. Called by writers. */
struct integrate_hooks {
    /* A slot's frames are done: the fates of those that are spoiled say so from here on. */
    void (*taken)(void *user, struct airy_slot *slot);
    /* Rows of a slot that are made, before they are written. */
    void (*made)(void *user, const struct airy_slot *slot, const struct airy_pattern_row *rows,
                 size_t count);
    /* The file has these rows. The lock is held. */
    void (*written)(void *user, const struct airy_slot *slot, const struct airy_pattern_row *rows,
                    size_t count);
    void *user;
};

struct airy_integrate_job {
    struct airy_run run; /* its job is this */
    const char *path;    /* of the file; NULL: none is written */
    bool shared;         /* by processes that work on it */
    /* One a device, of frames and bins of the same shape. */
    const airy_integrator *const *integrators;
    size_t count;
    airy_integrator_info axes;
    /*
     * Planes of a frame's sums that are copied back: all; or of long rows those that no frame
     * without invalid pixels has in common with the others, the first one or two.
     */
    size_t planes;
    const struct integrate_hooks *hooks; /* NULL: none */
    struct integrate_group spread;       /* of the batch whose turn it is */
    airy_pattern_file *file;             /* NULL: nothing is written, or: */
    airy_pattern_growing *growing;       /* of a fed run whose rows nobody has counted */
};

/* A row of the file that is made. */
struct integrate_done {
    size_t number;
    airy_status status; /* AIRY_OK, or of its first bad frame, where it has no good one */
};

/* What each writer of a lane has of its own; a lane's work is an array of these. */
struct integrate_lane {
    struct airy_integrate_job *job;
    const airy_integrator *integrator;
    /* For a slot's frames: patterns, whose intensity, std and sem are in values. */
    struct airy_pattern_row *patterns; /* [batch] */
    float *values;                     /* [batch][3][bins] */
    double *regions;                   /* [batch][2][regions]: sums and means */
    /* For frames with invalid pixels, where not all planes are copied back. */
    airy_queue *fetch;
    double *norms;                /* [batch][AIRY_RUN_NORMS][bins] */
    struct integrate_done *done;  /* [batch] those of patterns */
    struct integrate_group group; /* being added up, where groups end with batches */
};

struct integrate_slot {
    airy_array *results, *sums, *stats; /* sums and stats are views of results */
    airy_host *host_results; /* sums of the job's planes, [batch][planes][bins], and stats; NULL
                                where the device's are in the host's memory */
};

/* For a run that has begun, whose job has path, integrators, count and hooks: its team and lanes. */
airy_status airy_integrate_open(struct airy_run *run);
/* When the run is closed: a partial file stays where it can be resumed, or is shared. */
void airy_integrate_close(struct airy_run *run);

/* Rows of params->arrays are marked as not made. */
void airy_integrate_clear_arrays(const struct airy_integrate_job *job);

/* Parts of the work. */
airy_status airy_integrate_take(struct airy_lane *lane, struct airy_slot *slot,
                                struct airy_tally *tally);
void airy_integrate_booked(struct airy_lane *lane, struct airy_slot *slot,
                           const struct airy_tally *tally);

/*
 * The file of the run: opened in one of these ways, completed with what does not differ between
 * frames. The run is open.
 */
enum integrate_file { AIRY_RUN_ALONE, AIRY_RUN_JOIN, AIRY_RUN_GATHER };
airy_status airy_integrate_file_open(struct airy_integrate_job *job, enum integrate_file how);
airy_status airy_integrate_file_grow(struct airy_integrate_job *job);
airy_status airy_integrate_file_finish(struct airy_integrate_job *job);

#endif
