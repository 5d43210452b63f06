/* Whole gzip files into memory. */
#ifndef AIRY_IO_FILE_GUNZIP_H
#define AIRY_IO_FILE_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "airy/status.h"

/*
 * How many bytes the headers of what is unpacked so far account for, with room for what may follow
 * them; have: the first `used` bytes. A failure ends the unpacking.
 */
typedef airy_status airy_gunzip_expect_fn(uint64_t *expected, void *user, const void *have,
                                          size_t used);
/*
 * All members of the file, malloc'ed. It grows as it decodes, and at each step asks the headers how
 * much they account for, and the machine for the memory: a small file that unpacks to more than its
 * headers say is AIRY_ERR_CORRUPT, one that needs more than there is AIRY_ERR_MEMORY.
 */
airy_status airy_gunzip(void **data, size_t *bytes, int fd, uint64_t size,
                        airy_gunzip_expect_fn *expect, void *user);
/*
 * Find how many bytes the first member unpacks to. False where it has no end, or more than `most`.
 */
bool airy_gunzip_size(size_t *unpacked, const void *bytes, size_t size, size_t most);

#endif
