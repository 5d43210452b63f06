/* Raw data that an HDF5 dataset keeps in other files (H5Pset_external). */
#ifndef AIRY_IO_HDF5_EXTERNAL_H
#define AIRY_IO_HDF5_EXTERNAL_H

#include "io/hdf5/probe.h"

/* A list of folders, as realpath() gives them. */
struct airy_folder;
/* Add one; AIRY_ERR_NOT_FOUND, AIRY_ERR_MEMORY. */
airy_status airy_folder_add(struct airy_folder **list, const char *folder);
void airy_folders_free(struct airy_folder **list);

/*
 * Open a dataset for reading its values, with the access properties `access` (a copy of
 * airy_hdf5_dataset_access(), with a chunk cache of its own). libhdf5 opens the files of external
 * storage itself and waits for pipes, so such files are looked at here: each must be a regular file
 * in the folder of the HDF5 file, below HDF5_EXTFILE_PREFIX, or in a folder that the process
 * (airy_external_folder_allow) or whoever holds the lock (airy_hdf5_lock_allowing) allows.
 * Otherwise the result is negative, the reason is on libhdf5's error stack for airy_hdf5_fail, and
 * airy_probe_result reports it for those who ask whether something is there. Lock held.
 */
hid_t airy_hdf5_dataset_with(hid_t from, const char *name, hid_t access);
/* Open it with airy_hdf5_dataset_access(). Lock held. */
hid_t airy_hdf5_dataset_own(hid_t from, const char *name);
/*
 * Open a source of a virtual dataset that libhdf5 will open again to read it, and would then look
 * for external files with relative names in the working directory: these are refused. Lock held.
 */
hid_t airy_hdf5_dataset_source(hid_t from, const char *name);
/*
 * Close a dataset that must not be read; the reason goes on libhdf5's error stack and to
 * airy_probe_result, as that of the functions above. Lock held.
 */
void airy_hdf5_refuse(hid_t dataset, const char *why);

#endif
