/*
 * Chunks that are packed by deflate. libhdf5 unpacks such a chunk to as many bytes as it holds, 1032
 * times its stored ones, and copies from behind its end where they are fewer than the chunk's shape
 * needs. Here it is unpacked no further than that.
 */
#ifndef AIRY_IO_HDF5_INFLATE_H
#define AIRY_IO_HDF5_INFLATE_H

#include "io/hdf5/probe.h" /* hdf5.h with the right API version */

/*
 * The chunks that were unpacked last, so that boxes that share a chunk do not unpack it again: of
 * one dataset and one type in memory, together at most `room` bytes, or a single chunk. Zeroed at
 * first, but for room.
 */
struct airy_inflated {
    struct airy_inflated_chunk *chunks; /* [count] the one used last comes last */
    size_t count, bytes, room;
};
void airy_inflated_free(struct airy_inflated *kept);

/*
 * Read what is selected of a dataset whose chunks are packed by deflate, as H5Dread does, type being
 * that in memory. *done: false where libhdf5 is to read it: there is no deflate, or there are other
 * filters than shuffle beside it, or the selection is no box that becomes all of the memory. Then,
 * too, none of its chunks unpacks to more than its shape needs. kept: or NULL. Lock held.
 * AIRY_ERR_CORRUPT (more or fewer bytes than a chunk has), AIRY_ERR_IO, AIRY_ERR_MEMORY,
 * AIRY_ERR_UNSUPPORTED (a chunk whose bound cannot be told).
 */
airy_status airy_hdf5_inflate(bool *done, struct airy_inflated *kept, hid_t dataset, hid_t type,
                              hid_t memory, hid_t space, void *values);
/*
 * Fail as above where such a chunk is in a box (start NULL: anywhere) of a dataset that libhdf5 is
 * to read. Lock held.
 */
airy_status airy_hdf5_inflate_check(hid_t dataset, const hsize_t *start, const hsize_t *count);

#endif
