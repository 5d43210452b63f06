/* Where each frame of a dataset lies in its file. */
#ifndef AIRY_IO_HDF5_CHUNK_ADDRESS_H
#define AIRY_IO_HDF5_CHUNK_ADDRESS_H

#include "io/hdf5/probe.h"
#include "io/hdf5/util.h"

enum airy_place_kind {
    AIRY_PLACE_FILL = 0, /* never written; 0, so that a cleared table of frames that are not
                            there takes no memory */
    AIRY_PLACE_CHUNK,    /* encoded */
    AIRY_PLACE_STORED,   /* native pixels */
    AIRY_PLACE_LIBRARY,  /* no such place: through libhdf5 */
    AIRY_PLACE_CUT,      /* behind the end of the file */
    AIRY_PLACE_ODD       /* its size or address cannot be right */
};

struct airy_place {
    uint64_t offset;
    uint32_t size;
    uint32_t kind; /* enum airy_place_kind */
};

/* Its bytes lie in the file, to be read by pread. */
static inline bool airy_place_is_there(const struct airy_place *place)
{
    return place->kind == AIRY_PLACE_CHUNK || place->kind == AIRY_PLACE_STORED;
}

struct airy_chunk_grid {
    int ndim;
    const hsize_t *shape; /* the last two axes are one chunk */
    size_t frames;
    size_t frame_bytes;
    bool filtered; /* by exactly one filter */
};

/*
 * Fill places[frames], which are cleared, by asking libhdf5 to read each chunk while the driver
 * only notes where. Lock held. AIRY_ERR_FORMAT where the dataset's index cannot be walked at all
 * or claims more chunks than the file has bytes; a single odd entry is a place of kind CUT or ODD.
 * The work is bounded by what the file holds, not by what its shape says: AIRY_ERR_UNSUPPORTED for
 * a shape with thousands of chunks among far more that were never written.
 */
airy_status airy_chunk_addresses(struct airy_place *places, hid_t dataset,
                                 const struct airy_chunk_grid *grid, const char *what);

/*
 * The places of `count` frames from `first` on only, in places[count], which are cleared; what: or
 * NULL, where nothing is to be said of damage. *unsound: how many are neither CHUNK nor STORED.
 * Lock held.
 */
airy_status airy_chunk_addresses_part(struct airy_place *places, size_t *unsound, hid_t dataset,
                                      const struct airy_chunk_grid *grid, size_t first,
                                      size_t count, const char *what);

/*
 * The chunks under a box of a dataset (start NULL: all of it) have sizes that fit, and are not far
 * more than were ever written; nothing to check where it is not chunked: libhdf5 copies from
 * behind the buffer of one that is too small. Lock held. AIRY_ERR_CORRUPT with the sizes.
 */
airy_status airy_chunk_check(hid_t dataset, const hsize_t *start, const hsize_t *count);
/* Likewise of a box of frames, all chunks of which must have been written: AIRY_ERR_UNWRITTEN. */
airy_status airy_chunk_check_written(hid_t dataset, const hsize_t *start, const hsize_t *count);
/* Return whether nothing was ever stored for a contiguous dataset, or mapped to a virtual one. Lock
 * held. */
bool airy_chunk_is_unwritten(hid_t dataset, hid_t creation);
/* Return whether all chunks of the dataset were written; true for one without chunks. Lock held. */
bool airy_chunk_all_written(hid_t dataset, hid_t creation);

/*
 * Bytes stored of a dataset. libhdf5 may walk an index over all chunks of a shape to tell; 0 for
 * shapes of more chunks than that is worth (2^22), as for those without any. Lock held.
 */
uint64_t airy_chunk_stored_bytes(hid_t dataset);

#endif
