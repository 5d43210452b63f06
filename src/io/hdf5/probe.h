/*
 * A read-only file driver for libhdf5 that can note where raw data would be read instead of
 * reading it: the address of a chunk costs one H5Dread_chunk, without its bytes. It takes no
 * locks, never reads behind the end of a file (an error, not zeros), and reports an endless end of
 * file to libhdf5, so that what is left of a truncated file can still be read. It opens absolute
 * paths only (and those below a folder of HDF5_EXT_PREFIX or HDF5_VDS_PREFIX): the files that
 * links and virtual datasets name are never taken from the working directory.
 */
#ifndef AIRY_IO_HDF5_PROBE_H
#define AIRY_IO_HDF5_PROBE_H

#define H5_USE_110_API /* the oldest libhdf5 this builds with */
#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "airy/status.h"

typedef struct airy_probe {
    H5FD_t head; /* libhdf5's part comes first */
    int fd;
    char *path;   /* as libhdf5 resolved it */
    dev_t device; /* with inode: which file it is */
    ino_t inode;
    uint64_t size;           /* bytes of the file */
    uint64_t end;            /* end of what libhdf5 knows to be allocated */
    bool recording;          /* raw reads are noted, not done */
    unsigned hits;           /* raw reads noted since the caller set it to 0 */
    uint64_t offset, length; /* the last one */
    int error;               /* of the first read that failed, EIO where the file became shorter */
    char *refused; /* why a dataset of this file was not opened (hdf5/external.h), or NULL */
} airy_probe;

/* Register the driver; negative on failure. Lock held. */
hid_t airy_probe_register(void);
/*
 * The driver behind an object of a file opened by airy_hdf5_open, also one reached through its
 * external links. Lives as long as it is open.
 */
airy_probe *airy_probe_of(hid_t object);
/*
 * Where a chunk lies: probe->hits raw reads were noted, the last one in offset and length; nothing is
 * read. Negative where libhdf5 finds no chunk there.
 */
herr_t airy_probe_chunk(airy_probe *probe, hid_t dataset, const hsize_t *offset, uint32_t *mask);
/*
 * AIRY_ERR_IO when the system failed to read from the file of an object since it was opened, or a
 * dataset of it was refused. For who asked whether something is there: libhdf5 says no, too, when it
 * cannot look.
 */
airy_status airy_probe_result(hid_t object);

#endif
