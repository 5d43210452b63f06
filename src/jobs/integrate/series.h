/* Integration of series that a detector sends: parameters, and the run. */
#ifndef AIRY_JOBS_INTEGRATE_SERIES_H
#define AIRY_JOBS_INTEGRATE_SERIES_H

#include "jobs/curve.h"

enum { AIRY_SERIES_ALLOWED = 64 }; /* addresses of allow */

struct airy_series_values {
    char *publish, *allow;
    struct airy_curve_values curve;
    size_t sockets, series, queue, max_images; /* queue: messages */
    uint64_t max_message;                      /* bytes; 0: the receiver's */
    double timeout;                            /* s */
    bool bind, drop;
};
extern const struct airy_job_row airy_series_rows[];

struct airy_integrate_values;
struct airy_integration;
/* An input is the address of a stream. */
bool airy_integration_is_live(const struct airy_integrate_values *v);
/* The values together, with streams as input and without. */
airy_status airy_integration_check_live(const airy_job *job);
/* Take series after series; `it` is what is open of each. */
airy_status airy_integration_run_live(airy_job *job, struct airy_integration *it);

#endif
