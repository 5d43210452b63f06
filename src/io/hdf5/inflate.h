/*
 * Chunks that are packed by deflate, behind shuffle or not. libhdf5 unpacks such a chunk to as many
 * bytes as it holds, 1032 times its stored ones, and copies from behind its end where they are
 * fewer than the chunk's shape needs.
 */
#ifndef AIRY_IO_HDF5_INFLATE_H
#define AIRY_IO_HDF5_INFLATE_H

#include <hdf5.h>
#include <stdbool.h>

#include "airy/image.h"

/*
 * Read a box that is exactly one such chunk of native values. *done: false where it is not, and
 * libhdf5 is to read it. Lock held. AIRY_ERR_CORRUPT (more or fewer bytes than the chunk has),
 * AIRY_ERR_IO, AIRY_ERR_MEMORY.
 */
airy_status airy_hdf5_inflate(bool *done, hid_t dataset, airy_dtype dtype, const hsize_t *start,
                              const hsize_t *count, void *values);
/*
 * Likewise a whole dataset of chunks that lie one behind the other in memory, each of 64 KiB or
 * more; what was never written is read by libhdf5. *done: false where its chunks are others.
 */
airy_status airy_hdf5_inflate_all(bool *done, hid_t dataset, const airy_image *image);

#endif
