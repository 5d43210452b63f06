/* SHA-256 of files, for the configuration kept in results. Source: FIPS 180-4. */
#ifndef AIRY_TOOLS_CLI_SHA256_H
#define AIRY_TOOLS_CLI_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sha256 {
    uint32_t state[8];
    uint64_t bytes;
    uint8_t block[64];
};

void sha256_begin(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *data, size_t size);
void sha256_end(struct sha256 *hash, char hex[65]);
/*
 * Hash a whole regular file of at most `most` bytes. False, and errno: it cannot be read, or 0: it is
 * another kind of file, or a larger one.
 */
bool sha256_file(const char *path, off_t most, char hex[65]);

#endif
