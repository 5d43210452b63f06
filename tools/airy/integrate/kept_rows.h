/*
 * Rows that an interrupted run has written, beside what their frames give now. A file that was replaced
 * meanwhile gives other rows: to go on with it would mix two measurements in one result.
 */
#ifndef AIRY_TOOLS_INTEGRATE_KEPT_ROWS_H
#define AIRY_TOOLS_INTEGRATE_KEPT_ROWS_H

#include "integrate/integrate.h"

/* Thread-safety: one thread at a time. */
struct kept_rows;

/* The good rows of a partial result; NULL where it has none, or cannot be read. */
struct kept_rows *kept_rows_open(const struct integration *job, const char *partial);
void kept_rows_close(struct kept_rows **kept);
bool kept_rows_has(const struct kept_rows *kept, size_t row);
/* The frame of the newest row, in the numbers of the stack. */
size_t kept_rows_newest(const struct kept_rows *kept);
/*
 * Integrate a frame's pixels again. *same: its row is as it was written, up to what the order of a sum
 * in float64 and the arithmetic of another device may change. pixels: as of job->info.
 */
airy_status kept_rows_compare(struct kept_rows *kept, size_t row, const void *pixels, bool *same);

/* A frame whose row is another one now, and the file that it lies in. */
struct kept_other {
    bool found;
    size_t frame;
    char path[4200];
};
/*
 * Read some frames of a stack that have rows again: the newest, the first and 16 between them, and the
 * first of each file where there are at most 1,000. pixels: room for a frame. An error is that of a
 * frame which cannot be read.
 */
airy_status kept_rows_check(struct kept_rows *kept, const airy_stack *stack, void *pixels,
                            struct kept_other *other);

#endif
