/*
 * Compiled programs on disk: one file each, named after the hash of what it was made from. Nothing
 * that is wrong with the folder or a file is an error: the program is then built from source.
 *
 * A file is written under another name and renamed when complete, so readers see all of it or
 * nothing, also over NFS and between processes. Files of other users are not read. At most
 * AIRY_CL_CACHE_ENTRIES are kept: what was used longest ago goes. Thread-safety: any thread.
 */
#ifndef AIRY_OPENCL_CL_CACHE_H
#define AIRY_OPENCL_CL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AIRY_CL_CACHE_ENTRIES = 256 }; /* a program is 10 to 300 KB */

struct airy_cl_key {
    uint64_t half[2];
};

/*
 * AIRY_CACHE_DIR, else $XDG_CACHE_HOME/airy, else ~/.cache/airy; "" for AIRY_CACHE_DIR=none, or
 * where none of them is set.
 */
void airy_cl_cache_folder(char *folder, size_t size);
/* parts: strings, NULL at the end. */
struct airy_cl_key airy_cl_cache_key(const char *const *parts);
/* True: *data (freed with free) is what was stored under this key. */
bool airy_cl_cache_load(const char *folder, struct airy_cl_key key, void **data, size_t *size);
void airy_cl_cache_store(const char *folder, struct airy_cl_key key, const void *data, size_t size);
/* Take away an entry that the driver did not accept. */
void airy_cl_cache_drop(const char *folder, struct airy_cl_key key);

#endif
