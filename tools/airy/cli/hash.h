/* A 64-bit FNV-1a hash; not for secrets. Constants: Fowler, Noll, Vo, draft-eastlake-fnv. */
#ifndef AIRY_TOOLS_CLI_HASH_H
#define AIRY_TOOLS_CLI_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* With its end, so that "ab", "c" and "a", "bc" differ. */
static inline uint64_t hash_text(uint64_t hash, const char *text)
{
    return hash_bytes(hash, text, strlen(text) + 1);
}

#endif
