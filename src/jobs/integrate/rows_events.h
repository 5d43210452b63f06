/* Events of an integration (airy/job.h), whose rows come from a stack, from files or from a stream. */
#ifndef AIRY_JOBS_INTEGRATE_ROWS_EVENTS_H
#define AIRY_JOBS_INTEGRATE_ROWS_EVENTS_H

#include "airy/live.h"
#include "jobs/integrate/integrate.h"

/*
 * All of these report nothing, and return true or AIRY_OK, where nobody takes events. The functions
 * that return a bool return false where the run is to end: AIRY_ERR_CANCELLED. They are called by one
 * thread at a time, when the integrators are there.
 */

/* Frames begin: so many; 0: not known. */
bool airy_integration_begins(const struct airy_integration *it, uint64_t series, size_t frames);
/* An airy_row_fn with the integration as user; the run has airy_run_params.in_order. */
airy_status airy_integration_row(void *it, const airy_run_row *row);
/*
 * A pattern of a live run (airy/live.h), which is this row of the result and this frame of the series;
 * the event is LOST where its status is AIRY_ERR_NOT_FOUND.
 */
bool airy_integration_live_row(const struct airy_integration *it, uint64_t series, size_t row,
                               size_t frame, const airy_live_pattern *pattern);
/*
 * Frames end. Of a failure the text is its sentence, which stays the thread's record; else it is the
 * job's summary, and json has the results that are there.
 */
bool airy_integration_ends(const struct airy_integration *it, uint64_t series, airy_status status);
/* Have rows of a run over a stack reported, where somebody takes events. */
void airy_integration_report_rows(struct airy_integration *it);

#endif
