/*
 * The partial result of a run that makes sparse frames: PATH.partial, from which a run that was
 * stopped or killed goes on. libhdf5 leaves a growing file of compressed datasets readable only when
 * it closes it. So each good frame is appended to a file of its own as well, as a record with a hash,
 * as soon as it is done: a killed program loses no frame that was taken.
 *
 * The file begins as a small HDF5 file, which other commands read at every moment as a result of kind
 * sparse: configuration, fingerprint, radius, frame numbers, and frame/status, which becomes 0 for a
 * frame whose record is there. The records come behind what libhdf5 wrote, in ascending order of
 * rows. Bad frames have none: they are tried again. What a record says is checked before it is used,
 * and the first one that is damaged or cut ends the rows that are taken over.
 * Thread-safety: one thread at a time.
 */
#ifndef AIRY_IO_SPARSE_PARTIAL_H
#define AIRY_IO_SPARSE_PARTIAL_H

#include <hdf5.h>

#include "airy/sparse.h"

typedef struct airy_sparse_partial airy_sparse_partial;

struct airy_sparse_partial_spec {
    const airy_sparse_writer_params *file; /* radius, normalization and dark are not used */
    size_t rows;                           /* of the run */
    uint64_t first, step;                  /* row r is frame first + r * step */
    const char *fingerprint;               /* base/fingerprint.h */
};

/*
 * resume: PATH.partial must be there (AIRY_ERR_NOT_FOUND) and be of this run (AIRY_ERR_FORMAT with
 * the parameter that differs). Otherwise it is made, and none may be there (AIRY_ERR_EXISTS; see
 * airy_pattern_clear_partial). Without force PATH may not be there. AIRY_ERR_IO, AIRY_ERR_MEMORY.
 */
airy_status airy_sparse_partial_create(airy_sparse_partial **partial, const char *path,
                                       const struct airy_sparse_partial_spec *spec, bool resume);
/* A record of this row was there when the file was opened. */
bool airy_sparse_partial_has(const airy_sparse_partial *partial, size_t row);
/* All rows with such records are below this one; 0: there is none. */
size_t airy_sparse_partial_end(const airy_sparse_partial *partial);
/*
 * Read the next of them that is below `before`: its row, SIZE_MAX where there is none, and its
 * frame, which is valid until the next call.
 */
airy_status airy_sparse_partial_next(airy_sparse_partial *partial, size_t before, size_t *row,
                                     airy_sparse_frame *frame);
/* Append the good ones of these frames. Rows ascend, and none is below airy_sparse_partial_end. */
airy_status airy_sparse_partial_add(airy_sparse_partial *partial, const size_t *rows,
                                    const airy_sparse_frame *frames, size_t count);
/* Close it; without keep it is removed. */
void airy_sparse_partial_destroy(airy_sparse_partial **partial, bool keep);

/* Parts of the layout that both files have (writer.c). Lock held. */
herr_t airy_sparse_put_radius(hid_t group, const airy_sparse_writer_params *params);
herr_t airy_sparse_put_process(hid_t process, const char *configuration);

#endif
