/*
 * Files in the user's cache folder: bytes under a name, with the key of what they were made from.
 * Nothing that is wrong with the folder or a file is an error: the bytes are then made again.
 *
 * A file is written under another name and renamed when complete, so readers see all of it or
 * nothing, also over NFS and between processes. A file of another key (stale), cut, damaged, of
 * another user, or no plain file is not read. Thread-safety: any thread.
 */
#ifndef AIRY_BASE_CACHE_FILE_H
#define AIRY_BASE_CACHE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct airy_cache_key {
    uint64_t half[2];
};

/*
 * AIRY_CACHE_DIR, else $XDG_CACHE_HOME/airy, else ~/.cache/airy; "" for AIRY_CACHE_DIR=none, or
 * where none of them is set.
 */
void airy_cache_folder(char *folder, size_t size);
/* parts: strings, NULL at the end. */
struct airy_cache_key airy_cache_key(const char *const *parts);
/*
 * True: *data (freed with free; a 0 stands behind it) is what was stored under this name and key.
 * most: bytes that there may be. folder "": never.
 */
bool airy_cache_load(const char *folder, const char *name, struct airy_cache_key key, size_t most,
                     void **data, size_t *size);
/* False: errno says why; the old file, if any, is as it was. The folder is made if need be. */
bool airy_cache_store(const char *folder, const char *name, struct airy_cache_key key,
                      const void *data, size_t size);
/* False: errno says why there still is one. */
bool airy_cache_drop(const char *folder, const char *name);
/*
 * Of this user's files whose names are 16 or more hexadecimal digits and this suffix, remove those
 * that were not used for the longest time, until there are no more than `most`.
 */
void airy_cache_bound(const char *folder, const char *suffix, size_t most);

#endif
