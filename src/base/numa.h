/*
 * Memory nodes: on a machine with several, threads and memory near the device they feed. Where the
 * system does not say (no /sys, one node, a container that refuses), nothing is done.
 */
#ifndef AIRY_BASE_NUMA_H
#define AIRY_BASE_NUMA_H

#include <sched.h>
#include <stdbool.h>

enum { AIRY_NUMA_NONE = -1, AIRY_NUMA_NODES = 1024, AIRY_NUMA_CPUS = 8192 };

/* Room for more processors than cpu_set_t has. */
struct airy_numa_cpus {
    cpu_set_t sets[AIRY_NUMA_CPUS / CPU_SETSIZE];
};

/*
 * The node of a PCI device ("0000:17:00.0"); AIRY_NUMA_NONE where the machine has one node or does
 * not say. root: "" for the system, a folder with sys/ below it for tests. Any thread.
 */
int airy_numa_of_pci(const char *root, const char *pci);
/* The node's processors; false where they cannot be read. */
bool airy_numa_cpus(const char *root, int node, struct airy_numa_cpus *cpus);

/*
 * Keep the calling thread to those of its processors that are the node's. AIRY_NUMA_NONE, or none
 * of them: it stays where it may be.
 */
void airy_numa_bind(int node);

/* The calling thread's policy for new memory, to be put back. */
struct airy_numa_policy {
    int mode; /* negative: unknown, nothing was changed */
    unsigned long nodes[AIRY_NUMA_NODES / (8 * sizeof(unsigned long))];
};
/* New memory of the calling thread comes from the node where it has some. */
void airy_numa_prefer(int node, struct airy_numa_policy *before);
void airy_numa_restore(const struct airy_numa_policy *before);

#endif
