/* The keys that encrypt streams (airy/stream_keys.h), as parameters that name files. */
#ifndef AIRY_JOBS_CURVE_H
#define AIRY_JOBS_CURVE_H

#include "airy/stream_keys.h"
#include "jobs/job.h"

struct airy_curve_values {
    char *key, *server, *allow;
};
extern const struct airy_job_row airy_curve_rows[];

/* Values together. connects, binds: which kinds of sides the run has. */
airy_status airy_job_check_curve(const struct airy_curve_values *values, bool connects, bool binds);

/* What the files hold; zeroed: nothing. */
struct airy_curve {
    airy_stream_keys keys;
    char secret[AIRY_STREAM_KEY_BYTES], server[AIRY_STREAM_KEY_BYTES];
    char (*peers)[AIRY_STREAM_KEY_BYTES];
    const char **list;
};
/* Read the files that are set. Close it in any case. */
airy_status airy_job_open_curve(struct airy_curve *curve, const struct airy_curve_values *values);
void airy_job_close_curve(struct airy_curve *curve);
/* The keys, where this side has what it needs; NULL: its stream is not encrypted. */
const airy_stream_keys *airy_job_curve_keys(const struct airy_curve *curve, bool binds);

#endif
