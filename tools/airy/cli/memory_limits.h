/* How much memory this process may use: the machine, its control group, its batch job. */
#ifndef AIRY_TOOLS_CLI_MEMORY_LIMITS_H
#define AIRY_TOOLS_CLI_MEMORY_LIMITS_H

#include <stdint.h>

struct memory_limits {
    uint64_t host, available; /* bytes of the machine, and free now; 0 unknown */
    uint64_t cgroup;          /* limit of the control group (v1 or v2, the smallest on the way
                                 up); 0: none */
    uint64_t slurm;           /* SLURM_MEM_PER_NODE, or per CPU times CPUs; 0: not a Slurm job */
};

void memory_limits_get(struct memory_limits *limits);

#endif
