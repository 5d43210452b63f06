/*
 * A 64-bit FNV-1a hash with a stronger end; not for secrets. Constants: Fowler, Noll, Vo,
 * draft-eastlake-fnv.
 */
#ifndef AIRY_BASE_HASH_H
#define AIRY_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define AIRY_HASH_START  UINT64_C(0xcbf29ce484222325)
#define AIRY_HASH_START2 UINT64_C(0x9ae16a3b2f90404f) /* for the second half of a 128-bit key */

static inline uint64_t airy_hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash ^ (hash >> 29);
}

/* With its end, so that "ab", "c" and "a", "bc" differ. */
static inline uint64_t airy_hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return (hash ^ (hash >> 29)) * UINT64_C(0x100000001b3);
}

#endif
