/*
 * A file driver for libhdf5 that writes. A failed write (full disk, quota, I/O error) is kept for
 * the caller and libhdf5 is told that all is well: its close then runs to its end, where a refused
 * flush would leave the file half open until exit. Check airy_sink_result after the close and
 * after each step that matters. It takes no locks on the file.
 */
#ifndef AIRY_IO_HDF5_SINK_H
#define AIRY_IO_HDF5_SINK_H

#include "io/hdf5/util.h"

/* The caller's; outlives the open file. */
struct airy_sink {
    int error;     /* errno of the first failure; 0: none */
    uint64_t size; /* bytes that could not be written, and where */
    uint64_t offset;
    const void *held; /* of airy_sink_hold; NULL: nothing is held back */
    uint64_t held_size, held_at;
};

/* Register the driver; negative on failure. Lock held. */
hid_t airy_sink_register(void);
/*
 * Open a file of airy_file_begin, which is empty. The oldest file format, so that every reader opens
 * it, with metadata in blocks of meta_block bytes. Lock held. AIRY_ERR_IO with the system's words; the
 * file is still there.
 */
airy_status airy_sink_create(hid_t *file, struct airy_sink *sink, const char *path,
                             size_t meta_block);
/* The same in the format that others may read while it is written (H5Fstart_swmr_write). */
airy_status airy_sink_create_growing(hid_t *file, struct airy_sink *sink, const char *path,
                                     size_t meta_block);
/*
 * Of the next call into libhdf5, the write of these bytes from this address is left out, so that
 * it can be done without the lock. Lock held.
 */
void airy_sink_hold(struct airy_sink *sink, const void *bytes, size_t size);
/* After that call: true and where they go, or false: they were written after all. Lock held. */
bool airy_sink_held(struct airy_sink *sink, uint64_t *offset);
/* AIRY_ERR_IO naming path when a write has failed. */
airy_status airy_sink_result(const struct airy_sink *sink, const char *path);

#endif
