/* Warnings about pixels that are part of a result, or are no part of it. */
#ifndef AIRY_JOBS_INTEGRATE_NOTES_H
#define AIRY_JOBS_INTEGRATE_NOTES_H

#include "jobs/integrate/integrate.h"

/* Frames that become one pattern, of which the last may have fewer. */
void airy_integration_warn_groups(const struct airy_integration *it);
/* A limit of the memory that leaves room for `threads` of a CPU alone; 0: no CPU. */
void airy_integration_warn_threads(const struct airy_integration *it, unsigned threads);
/* Limits of an angle that look like radians. */
void airy_integration_warn_degrees(const struct airy_integration *it);
/* A dummy value that no pixel of the frames' type can have. */
void airy_integration_warn_dummy(const struct airy_integration *it);
/*
 * Values that detectors write into gaps and that are part of the result, of a detector that has no
 * name. rows: where they are; NULL: the largest pixels of the HDF5 file `result` tell it, and where
 * that is NULL, too, a few frames are read.
 */
void airy_integration_warn_gaps(const struct airy_integration *it, const char *result,
                                const struct airy_gap_rows *rows);
/* A dummy value that left out no pixel, which the HDF5 file `result` tells; NULL: nothing does. */
void airy_integration_warn_dummy_unused(const struct airy_integration *it, const char *result);
/* Frames without a pixel that counts; first: the first of them in the stack. */
void airy_integration_warn_empty(const airy_job *job, size_t frames, size_t empty, size_t first);

#endif
