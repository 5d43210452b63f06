/* What a result was made of, as JSON that is kept in it (airy/resume.h compares it). */
#ifndef AIRY_JOBS_CONFIGURATION_H
#define AIRY_JOBS_CONFIGURATION_H

#include "airy/geometry.h"
#include "jobs/job.h"

/*
 * Begin a configuration: program, inputs, files that parameters name, the geometry, and all
 * parameters that were set and decide rows or values, but for those of `without`, which the geometry
 * stands for. inputs: NULL, see airy_job_name_inputs. *json is a new reference.
 */
airy_status airy_job_begin_configuration(const airy_job *job, json_t **json,
                                         const struct airy_job_list *inputs,
                                         const airy_geometry *geometry,
                                         const struct airy_job_row *without);
/* Add inputs by their names alone, not by what the files are now. json is released where this fails. */
airy_status airy_job_name_inputs(json_t *json, const struct airy_job_list *inputs);
/* Its text, malloc'ed, and release it. */
airy_status airy_job_end_configuration(char **text, json_t *json);

/* Whether there is anything of this name, a link to nothing included. */
bool airy_job_is_there(const char *path);
/* The output is there, and a run with `resume` may find it complete. output: NULL is not. */
bool airy_job_may_be_complete(const char *output, bool resume, bool force);
/* Report an output that an earlier run has completed, as the results of this one; AIRY_PARTLY: frames of it failed. */
airy_status airy_job_put_complete(airy_job *job, const char *output, bool names_output,
                                  size_t frames, size_t bad);

enum { AIRY_PARTIAL_PATH = 4200 };
/* OUTPUT.partial. AIRY_ERR_PARAM where the name is too long. */
airy_status airy_job_partial_path(char partial[AIRY_PARTIAL_PATH], const char *output);
/*
 * Look for the partial result that `resume` continues, which must have been begun with this
 * configuration; where there is none, warn and set *is_there to false. before: its configuration,
 * malloc'ed, also where it is another one, or NULL where it cannot be read; may be NULL.
 */
airy_status airy_job_check_partial(const airy_job *job, bool *is_there, const char *output,
                                   const char *configuration, char **before);
/*
 * AIRY_ERR_CANCELLED of a run over frames. output: NULL, or the file whose partial result has the rows
 * so far; total: 0 where nobody knows it.
 */
airy_status airy_job_stopped(const char *output, size_t done, size_t total, bool is_resumed);

#endif
