#include "base/cgroup.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 1024, LINE_SIZE = 4096 };

/*
 * A mounted hierarchy: the folder of this process's group, and how many characters of it are the
 * mount point.
 */
struct group {
    char path[PATH_SIZE];
    size_t mount_length;
};

static bool read_first_line(char *line, size_t size, const char *folder, const char *name)
{
    char path[PATH_SIZE + 64];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    const bool ok = fgets(line, (int)size, f) != NULL;
    fclose(f);
    return ok;
}

static bool read_number(uint64_t *value, const char *folder, const char *name)
{
    char line[64], *end;
    if (!read_first_line(line, sizeof(line), folder, name) || line[0] < '0' || line[0] > '9')
        return false;
    *value = strtoull(line, &end, 10);
    return end != line;
}

/* A value of a "key value" file, added to *sum. */
static void add_keyed(uint64_t *sum, const char *folder, const char *name, const char *key)
{
    char path[PATH_SIZE + 64], line[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    const size_t n = strlen(key);
    while (fgets(line, sizeof(line), f))
        if (strncmp(line, key, n) == 0 && line[n] == ' ')
            *sum += strtoull(line + n, NULL, 10);
    fclose(f);
}

/* True if the comma-separated list has the word; the empty word is in the empty list. */
static bool list_has(const char *list, const char *word)
{
    const size_t n = strlen(word);
    if (n == 0)
        return list[0] == 0;
    for (const char *p = list; (p = strstr(p, word)) != NULL; p += n)
        if ((p == list || p[-1] == ',') && (p[n] == 0 || p[n] == ','))
            return true;
    return false;
}

/*
 * The path of this process in the hierarchy of a controller ("" = version 2), from lines
 * "ID:CONTROLLERS:PATH".
 */
static bool find_membership(char *path, size_t size, const char *root, const char *controller)
{
    char name[PATH_SIZE], line[LINE_SIZE];
    snprintf(name, sizeof(name), "%s/proc/self/cgroup", root);
    FILE *f = fopen(name, "re");
    if (!f)
        return false;
    bool found = false;
    while (!found && fgets(line, sizeof(line), f)) {
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':');
        char *where = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!where)
            continue;
        *where++ = 0;
        found = list_has(controllers + 1, controller) && strlen(where) < size;
        if (found)
            strcpy(path, where);
    }
    fclose(f);
    return found;
}

/*
 * Lines "ID PARENT MAJOR:MINOR ROOT MOUNT OPTIONS [TAGS] - TYPE SOURCE SUPER": ROOT is the part of
 * the hierarchy that is mounted, so membership paths are taken relative to it. In a container the
 * membership may lie outside of what is mounted; then the mount point itself is the group.
 */
static bool find_group(struct group *group, const char *root, const char *controller)
{
    char member[PATH_SIZE], name[PATH_SIZE], line[LINE_SIZE];
    if (!find_membership(member, sizeof(member), root, controller))
        return false;
    snprintf(name, sizeof(name), "%s/proc/self/mountinfo", root);
    FILE *f = fopen(name, "re");
    if (!f)
        return false;
    const char *want = *controller ? "cgroup" : "cgroup2";
    bool found = false;
    while (!found && fgets(line, sizeof(line), f)) {
        char top[512], mount[512], type[32], super[512];
        const char *rest = strstr(line, " - ");
        if (!rest || sscanf(line, "%*d %*d %*s %511s %511s", top, mount) != 2 ||
            sscanf(rest, " - %31s %*s %511s", type, super) != 2)
            continue;
        if (strcmp(type, want) != 0 || (*controller && !list_has(super, controller)))
            continue;
        const size_t n = strcmp(top, "/") == 0 ? 0 : strlen(top);
        const bool below = strncmp(member, top, n) == 0 && (member[n] == '/' || member[n] == 0);
        const int length = snprintf(group->path, sizeof(group->path), "%s%s", root, mount);
        group->mount_length = (size_t)length;
        if (below && strcmp(member + n, "/") != 0 &&
            (size_t)length + strlen(member + n) < sizeof(group->path))
            strcpy(group->path + length, member + n);
        found = true;
    }
    fclose(f);
    return found;
}

/* The parent folder, until the mount point has been seen. */
static bool go_up(struct group *group)
{
    char *slash = strrchr(group->path, '/');
    if (strlen(group->path) <= group->mount_length || !slash ||
        (size_t)(slash - group->path) < group->mount_length)
        return false;
    *slash = 0;
    return true;
}

static void limit_cpus(struct airy_cgroup_limits *limits, double quota, double period)
{
    if (quota > 0 && period > 0 && (limits->cpus == 0 || quota / period < limits->cpus))
        limits->cpus = quota / period;
}

static void limit_memory(struct airy_cgroup_limits *limits, uint64_t limit, uint64_t used,
                         uint64_t cache)
{
    const uint64_t held = used > cache ? used - cache : 0;
    const uint64_t left = limit > held ? limit - held : 0;
    if (limit < limits->memory_limit)
        limits->memory_limit = limit;
    if (left < limits->memory_available)
        limits->memory_available = left;
}

static void read_version2(struct airy_cgroup_limits *limits, struct group group)
{
    do {
        char line[128];
        double quota, period;
        uint64_t limit, used = 0, cache = 0;
        if (read_first_line(line, sizeof(line), group.path, "cpu.max") &&
            sscanf(line, "%lf %lf", &quota, &period) == 2)
            limit_cpus(limits, quota, period);
        if (read_number(&limit, group.path, "memory.max") &&
            read_number(&used, group.path, "memory.current")) {
            add_keyed(&cache, group.path, "memory.stat", "inactive_file");
            add_keyed(&cache, group.path, "memory.stat", "active_file");
            limit_memory(limits, limit, used, cache);
        }
    } while (go_up(&group));
}

static void read_version1_cpu(struct airy_cgroup_limits *limits, struct group group)
{
    do {
        uint64_t quota, period;
        if (read_number(&quota, group.path, "cpu.cfs_quota_us") &&
            read_number(&period, group.path, "cpu.cfs_period_us"))
            limit_cpus(limits, (double)quota, (double)period);
    } while (go_up(&group));
}

static void read_version1_memory(struct airy_cgroup_limits *limits, struct group group)
{
    /* Without a limit the file holds 2^63 rounded down to a page. */
    const uint64_t none = (uint64_t)1 << 62;
    do {
        uint64_t limit, used = 0, cache = 0;
        if (read_number(&limit, group.path, "memory.limit_in_bytes") && limit < none &&
            read_number(&used, group.path, "memory.usage_in_bytes")) {
            add_keyed(&cache, group.path, "memory.stat", "total_inactive_file");
            add_keyed(&cache, group.path, "memory.stat", "total_active_file");
            limit_memory(limits, limit, used, cache);
        }
    } while (go_up(&group));
}

void airy_cgroup_read(struct airy_cgroup_limits *limits, const char *root)
{
    struct group group;
    limits->cpus = 0;
    limits->memory_limit = limits->memory_available = UINT64_MAX;
    if (find_group(&group, root, ""))
        read_version2(limits, group);
    if (find_group(&group, root, "cpu"))
        read_version1_cpu(limits, group);
    if (find_group(&group, root, "memory"))
        read_version1_memory(limits, group);
}

/* A line "KEY: N kB" of /proc/meminfo in bytes. */
static bool read_meminfo(uint64_t *bytes, const char *key)
{
    FILE *f = fopen("/proc/meminfo", "re");
    if (!f)
        return false;
    char line[256];
    const size_t n = strlen(key);
    bool found = false;
    while (!found && fgets(line, sizeof(line), f))
        if (strncmp(line, key, n) == 0 && line[n] == ':') {
            *bytes = strtoull(line + n + 1, NULL, 10) * 1024;
            found = true;
        }
    fclose(f);
    return found;
}

uint64_t airy_memory_available(void)
{
    struct airy_cgroup_limits limits;
    uint64_t bytes = UINT64_MAX;
    airy_cgroup_read(&limits, "");
    if (!read_meminfo(&bytes, "MemAvailable"))
        bytes = UINT64_MAX;
    return bytes < limits.memory_available ? bytes : limits.memory_available;
}

uint64_t airy_memory_total(void)
{
    struct airy_cgroup_limits limits;
    uint64_t bytes = UINT64_MAX;
    airy_cgroup_read(&limits, "");
    if (!read_meminfo(&bytes, "MemTotal"))
        bytes = UINT64_MAX;
    return bytes < limits.memory_limit ? bytes : limits.memory_limit;
}
