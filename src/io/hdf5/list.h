/* What is in an HDF5 file that is open. */
#ifndef AIRY_IO_HDF5_LIST_H
#define AIRY_IO_HDF5_LIST_H

#include "airy/stack.h"
#include "io/hdf5/util.h"

/* The group of a series, and whether a name in it is of the series: data_ and digits. */
#define AIRY_HDF5_SERIES_GROUP "/entry/data"
bool airy_hdf5_in_series(const char *name);

/*
 * The list of airy_hdf5_list without what takes long where there is much of it: stored_bytes, which
 * is summed up over chunks, and a series' links to datasets, each in a file of its own. Lock held.
 */
airy_status airy_hdf5_list_open(airy_hdf5_entry **entries, size_t *count, hid_t file);

#endif
