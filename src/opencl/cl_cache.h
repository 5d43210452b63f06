/*
 * Compiled programs in the user's cache folder: one file each, named after the hash of what it was
 * made from (base/cache_file.h). Nothing that is wrong with the folder or a file is an error: the
 * program is then built from source. At most AIRY_CL_CACHE_ENTRIES are kept: what was used longest
 * ago goes. Thread-safety: any thread.
 */
#ifndef AIRY_OPENCL_CL_CACHE_H
#define AIRY_OPENCL_CL_CACHE_H

#include "base/cache_file.h"

enum { AIRY_CL_CACHE_ENTRIES = 256 }; /* a program is 10 to 300 KB */

/* True: *data (freed with free) is what was stored under this key. */
bool airy_cl_cache_load(const char *folder, struct airy_cache_key key, void **data, size_t *size);
void airy_cl_cache_store(const char *folder, struct airy_cache_key key, const void *data,
                         size_t size);
/* Take away an entry that the driver did not accept. */
void airy_cl_cache_drop(const char *folder, struct airy_cache_key key);

#endif
