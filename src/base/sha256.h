/* SHA-256 of files, for the configuration kept in results. Source: FIPS 180-4. */
#ifndef AIRY_BASE_SHA256_H
#define AIRY_BASE_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct airy_sha256 {
    uint32_t state[8];
    uint64_t bytes;
    uint8_t block[64];
};

void airy_sha256_begin(struct airy_sha256 *hash);
void airy_sha256_add(struct airy_sha256 *hash, const void *data, size_t size);
void airy_sha256_end(struct airy_sha256 *hash, char hex[65]);
/*
 * Hash a whole regular file of at most `most` bytes. False, and errno: it cannot be read, or 0: it is
 * another kind of file, or a larger one.
 */
bool airy_sha256_file(const char *path, off_t most, char hex[65]);

#endif
