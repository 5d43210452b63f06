#include "opencl/cl_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "opencl/cl_hash.h"

enum { MAX_PATH = 640 };
#define MAX_FILE ((uint64_t)256 << 20) /* a hundred times the largest program seen */

/* In front of the bytes. The hash of the bytes finds files that were cut or damaged. */
struct header {
    char magic[8];
    uint64_t key[2], size, hash;
};
static const char magic[8] = "AIRYCL1";

void airy_cl_cache_folder(char *folder, size_t size)
{
    const char *own = getenv("AIRY_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    int length = 0;
    folder[0] = 0;
    if (own && own[0])
        length = strcmp(own, "none") == 0 ? 0 : snprintf(folder, size, "%s", own);
    else if (xdg && xdg[0] == '/')
        length = snprintf(folder, size, "%s/airy", xdg);
    else if (home && home[0] == '/')
        length = snprintf(folder, size, "%s/.cache/airy", home);
    if (length < 0 || (size_t)length >= size)
        folder[0] = 0;
}

struct airy_cl_key airy_cl_cache_key(const char *const *parts)
{
    struct airy_cl_key key = {{AIRY_HASH_START, AIRY_HASH_START2}};
    for (; *parts; parts++)
        for (int i = 0; i < 2; i++)
            key.half[i] = airy_hash_text(key.half[i], *parts);
    return key;
}

static void entry_path(char path[MAX_PATH], const char *folder, struct airy_cl_key key)
{
    snprintf(path, MAX_PATH, "%s/%016" PRIx64 "%016" PRIx64 ".clbin", folder, key.half[0],
             key.half[1]);
}

static bool read_all(int file, void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n = read(file, (char *)data + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

static bool write_all(int file, const void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n = write(file, (const char *)data + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* The bytes of an open file, or NULL. */
static void *read_entry(int file, struct airy_cl_key key, size_t *size)
{
    struct stat info;
    struct header header;
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid() ||
        !read_all(file, &header, sizeof(header)))
        return NULL;
    if (memcmp(header.magic, magic, sizeof(magic)) != 0 ||
        memcmp(header.key, key.half, sizeof(header.key)) != 0 || header.size == 0 ||
        header.size > MAX_FILE || (uint64_t)info.st_size != sizeof(header) + header.size)
        return NULL;
    void *data = malloc((size_t)header.size);
    if (data && read_all(file, data, (size_t)header.size) &&
        airy_hash_bytes(AIRY_HASH_START, data, (size_t)header.size) == header.hash) {
        *size = (size_t)header.size;
        return data;
    }
    free(data);
    return NULL;
}

bool airy_cl_cache_load(const char *folder, struct airy_cl_key key, void **data, size_t *size)
{
    if (!folder[0])
        return false;
    char path[MAX_PATH];
    entry_path(path, folder, key);
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return false;
    *data = read_entry(file, key, size);
    if (*data)
        (void)futimens(file, NULL); /* used now */
    close(file);
    airy_log(AIRY_LOG_DEBUG, "opencl: %s %s", path,
             *data ? "is used" : "is damaged or of another user: not used");
    return *data != NULL;
}

/* The folder and those above it, for this user only. */
static bool make_folder(const char *folder)
{
    char path[MAX_PATH];
    snprintf(path, sizeof(path), "%s", folder);
    for (char *at = path + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return false;
        *at = '/';
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
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

void airy_cl_cache_store(const char *folder, struct airy_cl_key key, const void *data, size_t size)
{
    if (!folder[0] || size == 0 || size > MAX_FILE)
        return;
    char path[MAX_PATH], partial[MAX_PATH + 16];
    entry_path(path, folder, key);
    snprintf(partial, sizeof(partial), "%s.XXXXXX", path);
    const int file = make_folder(folder) ? mkostemp(partial, O_CLOEXEC) : -1;
    if (file < 0) {
        airy_log(AIRY_LOG_INFO, "opencl: compiled programs are not kept: cannot write to %s: %s",
                 folder, strerror(errno));
        return;
    }
    struct header header = {.key = {key.half[0], key.half[1]}, .size = size};
    memcpy(header.magic, magic, sizeof(magic));
    header.hash = airy_hash_bytes(AIRY_HASH_START, data, size);
    const bool written = write_all(file, &header, sizeof(header)) && write_all(file, data, size);
    if (close(file) != 0 || !written || rename(partial, path) != 0) {
        airy_log(AIRY_LOG_INFO, "opencl: compiled program not kept: cannot write %s: %s", path,
                 strerror(errno));
        unlink(partial);
        return;
    }
    drop_oldest(folder);
}

void airy_cl_cache_drop(const char *folder, struct airy_cl_key key)
{
    if (!folder[0])
        return;
    char path[MAX_PATH];
    entry_path(path, folder, key);
    unlink(path);
}
