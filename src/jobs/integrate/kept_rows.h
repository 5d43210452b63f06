/*
 * Rows that an interrupted run has written, beside what their frames give now. A file that was replaced
 * meanwhile gives other rows: to continue with it would mix two measurements in one result.
 */
#ifndef AIRY_JOBS_INTEGRATE_KEPT_ROWS_H
#define AIRY_JOBS_INTEGRATE_KEPT_ROWS_H

#include "jobs/integrate/integrate.h"

/* Thread-safety: one thread at a time. */
struct airy_kept_rows;

/*
 * Open the good rows of a partial result, which `it` outlives; *kept is NULL where it has none, or
 * cannot be read. AIRY_ERR_MEMORY.
 */
airy_status airy_kept_rows_open(struct airy_kept_rows **kept, const struct airy_integration *it,
                                const char *partial);
void airy_kept_rows_close(struct airy_kept_rows **kept);
/* kept: NULL has no row. */
bool airy_kept_rows_has(const struct airy_kept_rows *kept, size_t row);
/* The first frame of the newest row, in the numbers of the stack. */
size_t airy_kept_rows_newest(const struct airy_kept_rows *kept);
/*
 * Integrate a frame's pixels again. *same: its row is as it was written, up to what the order of a sum
 * in float64 and the arithmetic of another device may change. pixels: as of it->info.
 */
airy_status airy_kept_rows_compare(struct airy_kept_rows *kept, size_t row, const void *pixels,
                                   bool *same);

/* A row that is another one now: its first frame, and the file that it lies in. */
struct airy_kept_other {
    bool found;
    size_t frame;
    char path[4200];
    char why[AIRY_ERROR_TEXT]; /* the first frame of a group that cannot be read; "": all can */
};
/*
 * Integrate some rows of a stack again: the newest, the first and 16 between them, and the first of
 * each file where there are at most 1,000; of groups of frames so many of these as have 1,000 frames
 * together, and the newest and the first in any case. pixels: room for a frame. Errors: those of a
 * frame that cannot be read (airy_status_is_of_frame), of the device and the memory;
 * AIRY_ERR_CANCELLED.
 */
airy_status airy_kept_rows_check(struct airy_kept_rows *kept, const airy_stack *stack, void *pixels,
                                 struct airy_kept_other *other);

#endif
