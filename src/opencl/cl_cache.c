#include "opencl/cl_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

enum { NAME_SIZE = 40 };
#define MAX_PROGRAM ((size_t)256 << 20) /* a hundred times the largest program seen */

static void entry_name(char name[NAME_SIZE], struct airy_cache_key key)
{
    snprintf(name, NAME_SIZE, "%016" PRIx64 "%016" PRIx64 ".clbin", key.half[0], key.half[1]);
}

bool airy_cl_cache_load(const char *folder, struct airy_cache_key key, void **data, size_t *size)
{
    char name[NAME_SIZE];
    entry_name(name, key);
    return airy_cache_load(folder, name, key, MAX_PROGRAM, data, size);
}

/* Files of the cache, those too that a killed process left incomplete: 32 digits and the suffix. */
static bool is_entry(const char *name)
{
    return strspn(name, "0123456789abcdef") == 32 && strncmp(name + 32, ".clbin", 6) == 0;
}

/* Each store adds at most one file, so taking away the oldest keeps the number. */
static void drop_oldest(const char *folder)
{
    DIR *listing = opendir(folder);
    if (!listing)
        return;
    char oldest[256] = "";
    struct timespec oldest_time = {0, 0};
    unsigned count = 0;
    for (const struct dirent *entry; (entry = readdir(listing));) {
        struct stat info;
        if (!is_entry(entry->d_name) ||
            fstatat(dirfd(listing), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        const struct timespec time = info.st_mtim;
        if (count++ == 0 || time.tv_sec < oldest_time.tv_sec ||
            (time.tv_sec == oldest_time.tv_sec && time.tv_nsec < oldest_time.tv_nsec)) {
            snprintf(oldest, sizeof(oldest), "%s", entry->d_name);
            oldest_time = time;
        }
    }
    if (count > AIRY_CL_CACHE_ENTRIES)
        unlinkat(dirfd(listing), oldest, 0);
    closedir(listing);
}

void airy_cl_cache_store(const char *folder, struct airy_cache_key key, const void *data,
                         size_t size)
{
    if (!folder[0] || size == 0 || size > MAX_PROGRAM)
        return;
    char name[NAME_SIZE];
    entry_name(name, key);
    if (airy_cache_store(folder, name, key, data, size))
        drop_oldest(folder);
    else
        airy_log(AIRY_LOG_INFO, "opencl: compiled programs are not kept: cannot write to %s: %s",
                 folder, strerror(errno));
}

void airy_cl_cache_drop(const char *folder, struct airy_cache_key key)
{
    char name[NAME_SIZE];
    entry_name(name, key);
    (void)airy_cache_drop(folder, name);
}
