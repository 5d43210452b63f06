/*
 * A 64-bit FNV-1a hash with a stronger end; not for secrets. Constants: Fowler, Noll, Vo,
 * draft-eastlake-fnv.
 */
#ifndef AIRY_BASE_HASH_H
#define AIRY_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/*
 * 128 bits of large arrays at the speed of memory: four words of 8 bytes at a time, each in a lane
 * of its own. Parts may be added one after another; all but the last have a multiple of 32 bytes.
 */
struct airy_hash_lanes {
    uint64_t lane[4];
};
#define AIRY_HASH_LANES_START                                                                      \
    {                                                                                              \
        {                                                                                          \
            AIRY_HASH_START, AIRY_HASH_START2, ~AIRY_HASH_START, ~AIRY_HASH_START2                 \
        }                                                                                          \
    }

static inline void airy_hash_lanes_add(struct airy_hash_lanes *lanes, const void *data, size_t size)
{
    const unsigned char *byte = data;
    for (size_t at = 0; at < size; at += 32) {
        uint64_t word[4] = {0};
        memcpy(word, byte + at, size - at < 32 ? size - at : 32);
        for (int k = 0; k < 4; k++) {
            const uint64_t h = (lanes->lane[k] ^ word[k]) * UINT64_C(0x9e3779b97f4a7c15);
            lanes->lane[k] = h ^ (h >> 29);
        }
    }
}

static inline void airy_hash_lanes_end(uint64_t hash[2], const struct airy_hash_lanes *lanes,
                                       size_t size)
{
    hash[0] = AIRY_HASH_START, hash[1] = AIRY_HASH_START2;
    for (int k = 0; k < 2; k++) {
        hash[k] = airy_hash_bytes(hash[k], lanes->lane, sizeof(lanes->lane));
        hash[k] = airy_hash_bytes(hash[k], &size, sizeof(size));
    }
}

#endif
