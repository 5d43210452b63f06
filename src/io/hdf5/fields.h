/* The fields of a detector in HDF5 files of frames or of images. */
#ifndef AIRY_IO_HDF5_FIELDS_H
#define AIRY_IO_HDF5_FIELDS_H

#include "airy/stack.h"
#include "io/hdf5/probe.h" /* hdf5.h with the right API version */

/*
 * Write geometry, mask and the number of images that there should be. Without geometry and mask
 * nothing is written for a dataset of another name than the usual one. Lock held, as for
 * hdf5/put.h.
 */
herr_t airy_stack_put_instrument(hid_t file, const airy_stack_writer_params *p);

#endif
