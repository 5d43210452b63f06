/*
 * The profiler: fed by the OpenCL launch, the CPU parallel loop and the copies, nowhere else. They
 * ask airy_profile_of where their samples go. Samples are kept per name. Thread-safety: any thread.
 */
#ifndef AIRY_CORE_PROFILE_H
#define AIRY_CORE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "airy/device.h"
#include "base/thread.h"

typedef struct airy_profile airy_profile;

airy_status airy_profile_create(airy_profile **profile);
void airy_profile_destroy(airy_profile **profile);
/*
 * Leave what the calling thread enqueues from here on out of all profiles, until it calls
 * airy_profile_resume: a warm-up is no part of the work. What other threads enqueue is counted.
 */
void airy_profile_pause(void);
void airy_profile_resume(void);
/* The profile that counts what the calling thread enqueues on the device; NULL: none does. */
airy_profile *airy_profile_of(const airy_device *device);
/* name is copied; profile NULL: nothing happens. */
void airy_profile_add(airy_profile *profile, const char *name, bool transfer, double ms,
                      double bytes);
/* Return how many samples are missing because there was no memory for them. */
uint64_t airy_profile_lost(airy_profile *profile);
airy_status airy_profile_rows(const airy_profile *profile, airy_profile_row **rows, size_t *count);

/* The CPU back end's parallel loop, profiled under name. bytes: what the loop moves, for GB/s. */
void airy_profile_loop(airy_device *device, const char *name, double bytes, size_t count,
                       airy_pool_fn fn, void *arg);
/* The same by at most so many threads, as of airy_queue_thread_scratch. */
void airy_profile_loop_few(airy_device *device, const char *name, double bytes, unsigned threads,
                           size_t count, airy_pool_fn fn, void *arg);

#endif
