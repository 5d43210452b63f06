/* What CFITSIO takes on trust is looked at first. */
#ifndef AIRY_IO_IMAGE_FITS_SCAN_H
#define AIRY_IO_IMAGE_FITS_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "airy/status.h"

/* A FITS file in memory, or behind a descriptor where memory is NULL. */
struct fits_bytes {
    const void *memory;
    int fd;
    uint64_t size;
};
airy_status airy_fits_read_at(const struct fits_bytes *bytes, void *out, uint64_t at, size_t size);
/*
 * Walk all headers. AIRY_ERR_FORMAT where one does not end in the file, or names tiles, block
 * sizes or pixel sizes with which CFITSIO would divide by zero, loop or leave its buffers.
 */
airy_status airy_fits_scan(const struct fits_bytes *bytes);
/*
 * How many bytes the headers of the beginning of a file account for, with room for one more header.
 * Errors: as airy_fits_scan, but for a header that does not end in these bytes.
 */
airy_status airy_fits_extent(uint64_t *extent, const struct fits_bytes *bytes);

#endif
