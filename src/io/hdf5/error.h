/* Failures of libhdf5's calls as sentences of the library. The lock of hdf5/util.h is held. */
#ifndef AIRY_IO_HDF5_ERROR_H
#define AIRY_IO_HDF5_ERROR_H

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * "what: the first useful message of libhdf5's error stack"; call it right after the failed call.
 * subject and format are as for airy_fail_on; the hint follows what libhdf5 reports.
 */
airy_status airy_hdf5_fail(airy_status status, airy_subject subject, const char *format, ...)
    AIRY_PRINTF(3, 4);
/* Return what libhdf5's error stack suggests to do about a failure of this status. */
airy_hint airy_hdf5_hint(airy_status status);
/*
 * Return whether the call failed because of the operating system or the file's end, not because of
 * the bytes that it read.
 */
bool airy_hdf5_failed_io(void);
/* Return whether the call failed because of the operating system. */
bool airy_hdf5_failed_system(void);
/* Copy the message that airy_hdf5_fail puts behind "what: ". */
void airy_hdf5_message(char *text, size_t size);
/* Return whether there is the memory that libhdf5 needs to begin, or to open a file. */
bool airy_hdf5_has_room(void);
/*
 * Close a file that was written. libhdf5 1.10 that runs out of memory in it leaves a file behind that
 * it crashes over at exit, so that without room the file stays open: a failure, too.
 */
herr_t airy_hdf5_close(hid_t file);
/*
 * Fail with AIRY_ERR_MEMORY where libhdf5 1.10 would read through NULL for want of room for a
 * cache.
 */
airy_status airy_hdf5_check_room(const char *path);

#endif
