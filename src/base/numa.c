#include "base/numa.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"

/* Source: linux/mempolicy.h. */
enum { POLICY_PREFERRED = 1 };

/* The first line of a file below /sys; false where there is none. */
static bool read_line(const char *root, const char *path, char *text, size_t size)
{
    char name[512];
    snprintf(name, sizeof(name), "%s/sys/%s", root, path);
    FILE *file = fopen(name, "re");
    const bool read = file && fgets(text, (int)size, file);
    if (file)
        fclose(file);
    return read;
}

/*
 * Call take for each number of a list like "0-3,8": the form of the kernel's lists. False for other
 * text.
 */
static bool walk_list(const char *text, void (*take)(void *user, unsigned long number), void *user)
{
    while (*text && *text != '\n') {
        char *end;
        const unsigned long first = strtoul(text, &end, 10);
        unsigned long last = first;
        if (end == text)
            return false;
        if (*end == '-') {
            text = end + 1;
            last = strtoul(text, &end, 10);
            if (end == text)
                return false;
        }
        for (unsigned long n = first; n <= last && n < AIRY_NUMA_CPUS; n++)
            take(user, n);
        text = *end == ',' ? end + 1 : end;
        if (*end && *end != ',' && *end != '\n')
            return false;
    }
    return true;
}

static void count(void *user, unsigned long number)
{
    (void)number;
    ++*(size_t *)user;
}

int airy_numa_of_pci(const char *root, const char *pci)
{
    char path[128], text[4096];
    size_t nodes = 0;
    if (!*pci)
        return AIRY_NUMA_NONE;
    snprintf(path, sizeof(path), "bus/pci/devices/%.32s/numa_node", pci);
    if (!read_line(root, path, text, sizeof(text))) {
        airy_log(AIRY_LOG_DEBUG, "numa: the system does not report the node of PCI device %s", pci);
        return AIRY_NUMA_NONE;
    }
    char *end;
    const long node = strtol(text, &end, 10);
    if (end == text || node < 0 || node >= AIRY_NUMA_NODES)
        return AIRY_NUMA_NONE;
    if (!read_line(root, "devices/system/node/online", text, sizeof(text)) ||
        !walk_list(text, count, &nodes) || nodes < 2)
        return AIRY_NUMA_NONE;
    return (int)node;
}

static void add_cpu(void *user, unsigned long number)
{
    struct airy_numa_cpus *cpus = user;
    CPU_SET_S(number, sizeof(*cpus), cpus->sets);
}

bool airy_numa_cpus(const char *root, int node, struct airy_numa_cpus *cpus)
{
    char path[64], text[4096];
    CPU_ZERO_S(sizeof(*cpus), cpus->sets);
    snprintf(path, sizeof(path), "devices/system/node/node%d/cpulist", node);
    return read_line(root, path, text, sizeof(text)) && walk_list(text, add_cpu, cpus);
}

void airy_numa_bind(int node)
{
    struct airy_numa_cpus near, mine;
    if (node < 0)
        return;
    CPU_ZERO_S(sizeof(mine), mine.sets);
    if (!airy_numa_cpus("", node, &near) || sched_getaffinity(0, sizeof(mine), mine.sets) != 0) {
        airy_log(AIRY_LOG_DEBUG, "numa: the processors of node %d are not known", node);
        return;
    }
    CPU_AND_S(sizeof(near), near.sets, near.sets, mine.sets);
    if (CPU_COUNT_S(sizeof(near), near.sets) == 0 ||
        sched_setaffinity(0, sizeof(near), near.sets) != 0)
        airy_log(AIRY_LOG_DEBUG, "numa: this thread cannot run on node %d", node);
}

void airy_numa_prefer(int node, struct airy_numa_policy *before)
{
    *before = (struct airy_numa_policy){.mode = -1};
    if (node < 0)
        return;
    const unsigned long bits = 8 * sizeof(unsigned long);
    unsigned long wanted[AIRY_NUMA_NODES / (8 * sizeof(unsigned long))] = {0};
    int mode = 0;
    wanted[(unsigned)node / bits] = 1ul << (unsigned)node % bits;
    if (syscall(SYS_get_mempolicy, &mode, before->nodes, (unsigned long)AIRY_NUMA_NODES, NULL,
                0ul) != 0 ||
        syscall(SYS_set_mempolicy, POLICY_PREFERRED, wanted, (unsigned long)AIRY_NUMA_NODES) != 0)
        airy_log(AIRY_LOG_DEBUG, "numa: no memory policy for node %d: %s", node, strerror(errno));
    else
        before->mode = mode;
}

void airy_numa_restore(const struct airy_numa_policy *before)
{
    if (before->mode >= 0)
        (void)syscall(SYS_set_mempolicy, before->mode, before->nodes,
                      (unsigned long)AIRY_NUMA_NODES);
}
