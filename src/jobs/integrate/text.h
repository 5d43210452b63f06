/* Patterns as columns of text: what the run (text.c) and the format of its files (text_file.c) share. */
#ifndef AIRY_JOBS_INTEGRATE_TEXT_H
#define AIRY_JOBS_INTEGRATE_TEXT_H

#include <pthread.h>

#include "jobs/integrate/integrate.h"

enum { AIRY_TEXT_MISSING, AIRY_TEXT_WITHOUT_FILE, AIRY_TEXT_WRITTEN };

/* A run that writes text. */
struct airy_text_run {
    struct airy_integration *it;
    char *head;       /* of every long header */
    char *radial;     /* the first column of every file */
    double gap_least; /* largest pixels from here on are those of gaps */
    pthread_mutex_t lock;
    uint8_t *states; /* [rows] AIRY_TEXT_MISSING ...; with lock */
    size_t refused;  /* the first row whose file cannot be written; with lock */
    /* Of one table: [rows, bins], sem NULL: it has none; [rows] which have a column. */
    const float *intensity, *sem;
    bool *columns;
};

/* Frames of a row, but for the last one's, which may be fewer. */
static inline size_t airy_text_group(const struct airy_integration *it)
{
    return it->run.group < 1 ? 1 : it->run.group < it->frames ? it->run.group : it->frames;
}

/* The number that a frame of the run has in the stack. */
static inline size_t airy_text_frame(const struct airy_integration *it, size_t frame)
{
    return it->run.first + frame * it->run.step;
}

/* Columns of errors: where there are any, but for suffixes that stand for two columns. */
bool airy_text_has_errors(const struct airy_integration *it);
/* Programs that refine powder patterns read the file. */
bool airy_text_for_refinement(const char *path);
/* What all files share: head and radial, malloc'ed. */
airy_status airy_text_prepare(struct airy_text_run *run);
/* The file of a row. Any thread. */
airy_status airy_text_write_row(const struct airy_text_run *run, const airy_run_row *row,
                                const char *path);
/* The file of all rows. */
airy_status airy_text_write_table(struct airy_text_run *run);

#endif
