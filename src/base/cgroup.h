/* What the control groups of this process allow, versions 1 and 2. */
#ifndef AIRY_BASE_CGROUP_H
#define AIRY_BASE_CGROUP_H

#include <stdint.h>

struct airy_cgroup_limits {
    double cpus;               /* quota over period, the smallest on the way to the root; 0: none */
    uint64_t memory_limit;     /* bytes; UINT64_MAX: none */
    uint64_t memory_available; /* bytes left below the tightest limit, file cache counted as free;
                             UINT64_MAX: no limit */
};

/*
 * root: "" for the system, a folder with proc/ and sys/ below it for tests. What cannot be read is
 * no limit. Any thread.
 */
void airy_cgroup_read(struct airy_cgroup_limits *limits, const char *root);

/*
 * Bytes that can still be allocated: the kernel's MemAvailable and the control group's, whichever
 * is less.
 */
uint64_t airy_memory_available(void);
/* Bytes there are: RAM, or the control group's limit where that is less. */
uint64_t airy_memory_total(void);

#endif
