/* What an earlier run has left of an output. */
#ifndef AIRY_JOBS_INTEGRATE_RESUME_H
#define AIRY_JOBS_INTEGRATE_RESUME_H

#include "airy/result.h"
#include "jobs/integrate/integrate.h"

/* Read a number of each row of a result, malloc'ed; *values stays NULL after a failure. */
airy_status airy_integration_read_column(double **values, size_t *rows, const char *path,
                                         const char *name);

/*
 * Check that neither an HDF5 output nor what an interrupted run left of it is in the way. No input is
 * needed for it. AIRY_ERR_EXISTS.
 */
airy_status airy_integration_check_place(const struct airy_integrate_values *v, const char *output);
/* `resume` finds an output, and no partial result: airy_integration_complete tells. */
bool airy_integration_may_be_complete(const struct airy_integrate_values *v);
/* Report the output as the result, which must be complete and of the same run, else the difference. */
airy_status airy_integration_complete(struct airy_integration *it);
/* Check that this result is complete and of the same run; info: out, what it has. */
airy_status airy_integration_check_complete(const struct airy_integration *it, const char *output,
                                            airy_result_info *info);
/*
 * With `resume`: the partial result was begun with the same configuration, which is taken over, and
 * its rows are those of the frames that are there now. A run that follows its input compares the rows
 * itself. Without a partial result the run starts from the beginning.
 */
airy_status airy_integration_prepare_resume(struct airy_integration *it, const char *output,
                                            bool follows);
/* A run that follows its input goes on with one that did. before: the configuration of that one. */
airy_status airy_integration_check_follow(const struct airy_integration *it, const char *partial,
                                          const char *before, bool follows);

#endif
