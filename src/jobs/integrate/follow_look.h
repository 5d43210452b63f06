/*
 * A run that follows files from the inside: follow.c looks until no more comes, follow_stack.c at
 * HDF5 files that grow, follow_files.c at the files of a pattern, and follow_take.c gives frames to
 * the run.
 */
#ifndef AIRY_JOBS_INTEGRATE_FOLLOW_LOOK_H
#define AIRY_JOBS_INTEGRATE_FOLLOW_LOOK_H

#include <sys/types.h>
#include <time.h>

#include "airy/live.h"
#include "jobs/configuration.h"
#include "jobs/integrate/integrate.h"
#include "jobs/integrate/kept_rows.h"

/* FAILED: the record is follow.error. */
enum airy_taken { TAKEN, LATER, FAILED };

/* What the newest frame that was taken is like: another file of the same name has another one there. */
struct airy_taken_frame {
    bool known, stored; /* stored: the bytes of the file, else pixels */
    size_t frame;
    uint64_t hash;
};

struct airy_follow_stack {
    uint64_t *places; /* [have_count] where the last look found frames, hashed; 0 nowhere */
    size_t next;      /* frames before it are given */
    uint8_t *have;    /* [have_count] rows that are given */
    size_t have_count;
    struct airy_taken_frame newest; /* of the last look that took frames */
};

/* A file that was there at the last look, and how it was. */
struct airy_seen_file {
    char *path;
    off_t size;
    struct timespec changed;
    double since; /* when it was first seen so */
};

struct airy_follow_files {
    void *taken; /* names, a tree */
    size_t late, first_frame;
    char previous[4200]; /* the one taken last */
    /* Numbers in their names, since the names began so: */
    uint64_t first_number, last_number, stride; /* least step between two; 0: there was none */
    size_t numbered, missing;                   /* files taken; numbers left out of earlier names */
    struct timespec kept_at; /* when the rows that are gone on with were written last */
    struct airy_seen_file *seen;
    size_t seen_count;
};

struct airy_follow {
    struct airy_integration *it;
    airy_live *live;
    double timeout, poll; /* s */
    airy_error error;     /* of FAILED */
    bool last;            /* look: what cannot be read now is bad */
    bool stopped;         /* cancelled, or nobody wants more events */
    atomic_bool refused;  /* an event was */
    double idle;     /* s of looks since a frame came: not those in which the machine stood still */
    double asked;    /* when progress was reported last */
    size_t frames;   /* that will be there; 0: not known */
    size_t given;    /* rows given to the run */
    uint8_t *pixels; /* of a frame */
    size_t frame_bytes, chunk_bytes;
    uint8_t *chunk;
    int fd; /* of the file read last, with its name */
    char name[4200];
    char partial[AIRY_PARTIAL_PATH];
    struct airy_kept_rows *kept; /* of the run that is gone on with; NULL: none, or compared */
    struct airy_follow_stack stack;
    struct airy_follow_files files;
    bool has_begun; /* the series, for those who take events */
};

/* Seconds of the monotonic clock. */
double airy_follow_now(void);
/* Report progress from time to time; false: the run is to stop. */
bool airy_follow_goes_on(struct airy_follow *f);
/* Return the row of a frame, or SIZE_MAX for a frame that is not for this run. */
size_t airy_follow_row(const struct airy_follow *f, size_t frame);
/* Keep the failure of this status. */
enum airy_taken airy_follow_fail(struct airy_follow *f, airy_status status);
/* Add to the sentence of a failure where the rows are that the run has made; returns status. */
airy_status airy_follow_partial(const struct airy_follow *f, airy_status status);
/* Fail because of a file (path) that is another one than that of the rows. */
enum airy_taken airy_follow_fail_other(struct airy_follow *f, const char *path);
bool airy_follow_fits(const struct airy_follow *f, const airy_stack_info *info);
/* Read all bytes at a place of the stack into f->chunk. */
bool airy_follow_read(struct airy_follow *f, const airy_stack *stack,
                      const airy_stack_place *place);
/* Close the file read last, before a look in which its name may belong to another file. */
void airy_follow_close(struct airy_follow *f);
/* A frame of an open stack; one that is in memory; one that cannot be read and never will be. */
enum airy_taken airy_follow_take(struct airy_follow *f, const airy_stack *stack,
                                 const airy_stack_info *info, size_t frame, size_t row);
enum airy_taken airy_follow_give(struct airy_follow *f, size_t row, const void *bytes, size_t size,
                                 bool encoded);
enum airy_taken airy_follow_give_up(struct airy_follow *f, size_t row, const char *why);

/* A look takes what is there. resume: what the partial file says of what was taken. */
enum airy_taken airy_follow_stack_look(struct airy_follow *f);
airy_status airy_follow_stack_resume(struct airy_follow *f);
void airy_follow_stack_free(struct airy_follow_stack *s);

enum airy_taken airy_follow_files_look(struct airy_follow *f);
airy_status airy_follow_files_resume(struct airy_follow *f);
/* Files that never came, or too late. */
size_t airy_follow_files_lost(const struct airy_follow *f);
void airy_follow_files_free(struct airy_follow_files *s);

#endif
