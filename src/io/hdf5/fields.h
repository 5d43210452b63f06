/* What an HDF5 file of frames or of an image has of its detector. */
#ifndef AIRY_IO_HDF5_FIELDS_H
#define AIRY_IO_HDF5_FIELDS_H

#include "airy/stack.h"
#include "io/hdf5/probe.h" /* hdf5.h with the right API version */

/*
 * Lock held, as hdf5/put.h: geometry, mask, how many images there should be. Without geometry and
 * mask nothing for a dataset of another name than the usual one.
 */
herr_t airy_stack_put_instrument(hid_t file, const airy_stack_writer_params *p);

#endif
