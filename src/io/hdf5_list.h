/*
 * The list of airy_hdf5_list for a file that is open, without stored_bytes: summing them up takes
 * as long as a dataset has chunks. Lock held.
 */
#ifndef AIRY_IO_HDF5_LIST_H
#define AIRY_IO_HDF5_LIST_H

#include "airy/stack.h"
#include "io/hdf5_util.h"

airy_status airy_hdf5_list_open(airy_hdf5_entry **entries, size_t *count, hid_t file);

#endif
