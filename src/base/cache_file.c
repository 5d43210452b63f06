#include "base/cache_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/temporary.h"

enum { MAX_PATH = 640 };

/* In front of the bytes. The hash of the bytes finds files that were cut or damaged. */
struct header {
    char magic[8];
    uint64_t key[2], size, hash;
};
static const char magic[8] = "AIRYCF1";

void airy_cache_folder(char *folder, size_t size)
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

struct airy_cache_key airy_cache_key(const char *const *parts)
{
    struct airy_cache_key key = {{AIRY_HASH_START, AIRY_HASH_START2}};
    for (; *parts; parts++)
        for (int i = 0; i < 2; i++)
            key.half[i] = airy_hash_text(key.half[i], *parts);
    return key;
}

static bool name_path(char path[MAX_PATH], const char *folder, const char *name)
{
    const int length = folder[0] ? snprintf(path, MAX_PATH, "%s/%s", folder, name) : -1;
    if (length > 0 && length < MAX_PATH)
        return true;
    errno = folder[0] ? ENAMETOOLONG : ENOENT;
    return false;
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
static void *read_entry(int file, struct airy_cache_key key, size_t most, size_t *size)
{
    struct stat info;
    struct header header;
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid() ||
        !read_all(file, &header, sizeof(header)))
        return NULL;
    if (memcmp(header.magic, magic, sizeof(magic)) != 0 ||
        memcmp(header.key, key.half, sizeof(header.key)) != 0 || header.size == 0 ||
        header.size > most || (uint64_t)info.st_size != sizeof(header) + header.size)
        return NULL;
    char *data = malloc((size_t)header.size + 1);
    if (data && read_all(file, data, (size_t)header.size) &&
        airy_hash_bytes(AIRY_HASH_START, data, (size_t)header.size) == header.hash) {
        *size = (size_t)header.size;
        data[header.size] = 0;
        return data;
    }
    free(data);
    return NULL;
}

bool airy_cache_load(const char *folder, const char *name, struct airy_cache_key key, size_t most,
                     void **data, size_t *size)
{
    char path[MAX_PATH];
    if (!name_path(path, folder, name))
        return false;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return false;
    *data = read_entry(file, key, most, size);
    if (*data)
        (void)futimens(file, NULL); /* used now */
    close(file);
    airy_log(AIRY_LOG_DEBUG, "cache: %s %s", path,
             *data ? "is used" : "is stale, damaged or of another user: not used");
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

bool airy_cache_store(const char *folder, const char *name, struct airy_cache_key key,
                      const void *data, size_t size)
{
    char path[MAX_PATH], *partial;
    int file;
    if (!name_path(path, folder, name) || !make_folder(folder))
        return false;
    errno = airy_temporary_create(&file, &partial, path, 0600);
    if (errno)
        return false;
    struct header header = {.key = {key.half[0], key.half[1]}, .size = size};
    memcpy(header.magic, magic, sizeof(magic));
    header.hash = airy_hash_bytes(AIRY_HASH_START, data, size);
    const bool written = write_all(file, &header, sizeof(header)) && write_all(file, data, size);
    const bool done = close(file) == 0 && written && rename(partial, path) == 0;
    const int reason = errno;
    if (!done)
        unlink(partial);
    airy_temporary_forget(partial);
    free(partial);
    errno = reason;
    return done;
}

bool airy_cache_drop(const char *folder, const char *name)
{
    char path[MAX_PATH];
    return !name_path(path, folder, name) || unlink(path) == 0 || errno == ENOENT;
}

/* Also one that a killed process left incomplete. */
static bool is_entry(const char *name, const char *suffix)
{
    const size_t digits = strspn(name, "0123456789abcdef");
    return digits >= 16 && strncmp(name + digits, suffix, strlen(suffix)) == 0;
}

/* Of this user, the entry not used for the longest time; the number of all. */
static size_t find_oldest(DIR *listing, const char *suffix, char oldest[256])
{
    struct timespec oldest_time = {0, 0};
    size_t count = 0;
    for (const struct dirent *entry; (entry = readdir(listing));) {
        struct stat info;
        if (!is_entry(entry->d_name, suffix) ||
            fstatat(dirfd(listing), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
            S_ISDIR(info.st_mode) || info.st_uid != geteuid())
            continue;
        const struct timespec time = info.st_mtim;
        if (count++ == 0 || time.tv_sec < oldest_time.tv_sec ||
            (time.tv_sec == oldest_time.tv_sec && time.tv_nsec < oldest_time.tv_nsec)) {
            snprintf(oldest, 256, "%s", entry->d_name);
            oldest_time = time;
        }
    }
    return count;
}

void airy_cache_bound(const char *folder, const char *suffix, size_t most)
{
    DIR *listing = opendir(folder);
    char oldest[256];
    if (!listing)
        return;
    while (find_oldest(listing, suffix, oldest) > most &&
           (unlinkat(dirfd(listing), oldest, 0) == 0 || errno == ENOENT)) /* another process did */
        rewinddir(listing);
    closedir(listing);
}
