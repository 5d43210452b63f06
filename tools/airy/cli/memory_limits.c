#include "cli/memory_limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/opt.h"

/* One whole number in a file; 0 when there is none ("max"). */
static uint64_t read_number(const char *path)
{
    FILE *file = fopen(path, "r");
    unsigned long long value = 0;
    if (!file)
        return 0;
    if (fscanf(file, "%llu", &value) != 1)
        value = 0;
    fclose(file);
    return value;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a == 0 ? b : b == 0 ? a : a < b ? a : b;
}

/* The smallest limit of a group and its parents. */
static uint64_t walk(const char *root, const char *group, const char *name)
{
    char folder[1024], path[2200];
    uint64_t limit = 0;
    snprintf(folder, sizeof(folder), "%s", group);
    for (;;) {
        snprintf(path, sizeof(path), "%s%s/%s", root, strcmp(folder, "/") == 0 ? "" : folder, name);
        limit = smaller(limit, read_number(path));
        char *slash = strrchr(folder, '/');
        if (!slash || strcmp(folder, "/") == 0 || !*folder)
            break;
        slash[slash == folder ? 1 : 0] = 0;
    }
    return limit;
}

static uint64_t cgroup_limit(void)
{
    FILE *file = fopen("/proc/self/cgroup", "r");
    char line[1200];
    uint64_t limit = 0;
    while (file && fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':'),
             *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = 0;
        controllers++;
        if (!*controllers)
            limit = smaller(limit, walk("/sys/fs/cgroup", group, "memory.max"));
        else if (strstr(controllers, "memory"))
            limit = smaller(limit, walk("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
    }
    if (file)
        fclose(file);
    return limit > (uint64_t)1 << 60 ? 0 : limit; /* version 1 says "none" by a huge number */
}

static uint64_t slurm_limit(void)
{
    const char *node = getenv("SLURM_MEM_PER_NODE"), *cpu = getenv("SLURM_MEM_PER_CPU"),
               *cpus = getenv("SLURM_CPUS_ON_NODE");
    uint64_t a = 0, b = 0;
    if (node && opt_whole(node, &a))
        return a << 20;
    if (cpu && cpus && opt_whole(cpu, &a) && opt_whole(cpus, &b))
        return (a * b) << 20;
    return 0;
}

void memory_limits_get(struct memory_limits *limits)
{
    const long pages = sysconf(_SC_PHYS_PAGES), available = sysconf(_SC_AVPHYS_PAGES),
               size = sysconf(_SC_PAGESIZE);
    limits->host = pages > 0 ? (uint64_t)pages * (uint64_t)size : 0;
    limits->available = available > 0 ? (uint64_t)available * (uint64_t)size : 0;
    limits->cgroup = cgroup_limit();
    limits->slurm = slurm_limit();
}
