/* The files that links and virtual datasets name. */
#ifndef AIRY_IO_HDF5_SOURCES_H
#define AIRY_IO_HDF5_SOURCES_H

#include "io/hdf5/util.h"

/*
 * The path that libhdf5 opens for a file named in the file `beside`: as it is (absolute), below a
 * folder of HDF5_VDS_PREFIX, beside that file, beside what that file is a symbolic link to; never
 * in the working directory. Where none is there: the one beside it. malloc'ed, NULL when memory is
 * short.
 */
char *airy_hdf5_source_find(const char *beside, const char *name);
/*
 * Nothing that a box of a virtual dataset (start NULL: all of it) is mapped to is missing: libhdf5
 * gives fill values for files and datasets that cannot be opened. Datasets of other layouts pass.
 * Lock held. AIRY_ERR_NOT_FOUND, AIRY_ERR_FORMAT: the source is named.
 */
airy_status airy_sources_check(hid_t dataset, const hsize_t *start, const hsize_t *count,
                               const char *what);
/*
 * Check as airy_sources_check does, and fail with AIRY_ERR_UNWRITTEN where a source lacks data of
 * the box. This is known only where the box shows whole frames of the source.
 */
airy_status airy_sources_check_written(hid_t dataset, const hsize_t *start, const hsize_t *count,
                                       const char *what);

/*
 * Check all of a virtual dataset as airy_sources_check_written does. *packed: the chunks of some
 * source have filters, also where it fails with AIRY_ERR_UNWRITTEN or AIRY_ERR_UNSUPPORTED.
 */
airy_status airy_sources_look(bool *packed, hid_t dataset, const char *what);
/*
 * The chunks of the sources that libhdf5 unpacks for a box of a virtual dataset (start NULL: all)
 * have sizes that fit, as airy_chunk_check and airy_hdf5_inflate_check have it. Of all of a dataset
 * this includes airy_sources_check. Lock held.
 * AIRY_ERR_CORRUPT, AIRY_ERR_MEMORY, and the errors of airy_sources_check.
 */
airy_status airy_sources_check_chunks(hid_t dataset, const hsize_t *start, const hsize_t *count,
                                      const char *what);

/*
 * Open a dataset with airy_hdf5_dataset_own, and check all sources of a virtual dataset. The
 * functions of hdf5/external.h leave this check to a caller who knows which part is read. Lock
 * held.
 */
hid_t airy_hdf5_dataset(hid_t from, const char *name);

#endif
