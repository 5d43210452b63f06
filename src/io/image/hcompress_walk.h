/* HCOMPRESS tiles of FITS, walked without being transformed. */
#ifndef AIRY_IO_IMAGE_HCOMPRESS_WALK_H
#define AIRY_IO_IMAGE_HCOMPRESS_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "airy/status.h"

/*
 * AIRY_ERR_CORRUPT where the data of a tile are of another number of pixels or end too early:
 * CFITSIO's decoder does not know where they end.
 */
airy_status airy_hcompress_check(const uint8_t *src, size_t size, size_t pixels);

#endif
