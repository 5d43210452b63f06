/* Parameters of the keys that encrypt a stream. */
#ifndef AIRY_JOBS_CURVE_H
#define AIRY_JOBS_CURVE_H

#include "airy/stream_keys.h"
#include "jobs/job.h"

struct airy_curve_values {
    char *key, *server, *allow;
};
extern const struct airy_job_row airy_curve_rows[];
/* connects, binds: which kinds of sides the job has. */
airy_status airy_job_check_curve(const struct airy_curve_values *values, bool connects, bool binds);
/* Read the files; *keys is NULL where none is given. Release it with airy_stream_keys_free. */
airy_status airy_job_read_curve(airy_stream_keys **keys, const struct airy_curve_values *values);
/* The keys where this side has what it needs, else NULL: it is not encrypted. */
const airy_stream_keys *airy_curve_side(const airy_stream_keys *keys, bool binds);

#endif
