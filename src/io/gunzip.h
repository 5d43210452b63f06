/* Whole gzip files into memory. */
#ifndef AIRY_IO_GUNZIP_H
#define AIRY_IO_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "airy/status.h"

/*
 * All members of the file, malloc'ed. It grows as it decodes and asks for memory at each step, so
 * that a file which unpacks to more than the machine has is refused. AIRY_ERR_CORRUPT.
 */
airy_status airy_gunzip(void **data, size_t *bytes, int fd, uint64_t size);
/* Whether the first member of these bytes is whole and unpacks to no more than `most`. */
bool airy_gunzip_ends(const void *bytes, size_t size, size_t most);

#endif
