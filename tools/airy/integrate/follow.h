/*
 * --follow from the inside: follow.c looks until no more comes, follow_stack.c at HDF5 files that
 * grow, follow_files.c at the files of a pattern.
 */
#ifndef AIRY_TOOLS_INTEGRATE_FOLLOW_H
#define AIRY_TOOLS_INTEGRATE_FOLLOW_H

#include <sys/types.h>
#include <time.h>

#include "airy/live.h"
#include "integrate/integrate.h"
#include "integrate/kept_rows.h"

/* FAILED: the exit code is in follow.code. */
enum taken { TAKEN, LATER, FAILED };

/* What a frame that is taken was like: another file of the same name has another one there. */
struct proof {
    bool known, stored; /* stored: the bytes of the file, else pixels */
    size_t frame;
    uint64_t hash;
};

struct follow_stack {
    uint64_t *places; /* [have_count] where the last look found frames, hashed; 0 nowhere */
    size_t next;      /* frames before it are given */
    uint8_t *have;    /* [have_count] rows that are given */
    size_t have_count;
    struct proof proof; /* of the last look that took frames */
};

/* A file that was there at the last look, and how it was. */
struct seen_file {
    char *path;
    off_t size;
    struct timespec changed;
    double since; /* when it was first seen so */
};

struct follow_files {
    void *taken; /* names, a tree */
    size_t late, first_frame;
    char previous[4200]; /* the one taken last */
    /* Numbers in their names, since the names began so: */
    uint64_t first_number, last_number, stride; /* least step between two; 0: there was none */
    size_t numbered, missing;                   /* files taken; numbers left out of earlier names */
    struct timespec kept_at; /* when the rows that are gone on with were written last */
    struct seen_file *seen;
    size_t seen_count;
};

struct follow {
    struct integration *job;
    airy_live *live;
    double timeout, poll; /* s */
    int code;             /* of FAILED */
    bool last;            /* look: what cannot be read now is bad */
    double new_at;        /* when a frame came last */
    double idle;          /* s of looks since then: not those in which the machine stood still */
    double shown;
    size_t frames;   /* that will be there; 0: unknown */
    size_t given;    /* rows given to the run */
    uint8_t *pixels; /* of a frame */
    size_t frame_bytes, chunk_bytes;
    uint8_t *chunk;
    int fd; /* of the file read last, with its name */
    char name[4200];
    struct kept_rows *kept; /* of the run that is gone on with; NULL: none, or compared */
    struct follow_stack stack;
    struct follow_files files;
};

/* Return the row of a frame, or SIZE_MAX for a frame that is not for this run. */
size_t follow_row(const struct follow *f, size_t frame);
enum taken follow_fail(struct follow *f, int code);
/* Fail because rows cannot be written, mostly for want of room. Exit code. */
int follow_fail_file(const struct follow *f, const char *sentence);
bool follow_fits(const struct follow *f, const airy_stack_info *info);
/* Read all bytes at a place of the stack into f->chunk. */
bool follow_read(struct follow *f, const airy_stack *stack, const airy_stack_place *place);
/* Close the file read last, before a look in which its name may belong to another file. */
void follow_close(struct follow *f);
/* A frame of an open stack; one that is in memory; one that cannot be read and never will be. */
enum taken follow_take(struct follow *f, const airy_stack *stack, const airy_stack_info *info,
                       size_t frame, size_t row);
enum taken follow_give(struct follow *f, size_t row, const void *bytes, size_t size, bool encoded);
enum taken follow_give_up(struct follow *f, size_t row, const char *why);

/* A look takes what is there. resume: what a partial file says of what was taken. */
enum taken follow_stack_look(struct follow *f);
void follow_stack_resume(struct follow *f, const char *partial);
void follow_stack_free(struct follow_stack *s);

enum taken follow_files_look(struct follow *f);
void follow_files_resume(struct follow *f, const char *partial);
/* Files that never came, or too late. */
size_t follow_files_lost(const struct follow *f);
void follow_files_free(struct follow_files *s);

#endif
