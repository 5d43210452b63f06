#include "opencl/cl_cache.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum { NAME_SIZE = 40 };
#define SUFFIX      ".clbin"
#define MAX_PROGRAM ((size_t)256 << 20) /* a hundred times the largest program seen */

static void entry_name(char name[NAME_SIZE], struct airy_cache_key key)
{
    snprintf(name, NAME_SIZE, "%016" PRIx64 "%016" PRIx64 SUFFIX, key.half[0], key.half[1]);
}

bool airy_cl_cache_load(const char *folder, struct airy_cache_key key, void **data, size_t *size)
{
    char name[NAME_SIZE];
    entry_name(name, key);
    return airy_cache_load(folder, name, key, MAX_PROGRAM, data, size);
}

void airy_cl_cache_store(const char *folder, struct airy_cache_key key, const void *data,
                         size_t size)
{
    if (!folder[0] || size == 0 || size > MAX_PROGRAM)
        return;
    char name[NAME_SIZE];
    entry_name(name, key);
    if (airy_cache_store(folder, name, key, data, size))
        airy_cache_bound(folder, SUFFIX, AIRY_CL_CACHE_ENTRIES);
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
