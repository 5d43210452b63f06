/* What libhdf5 says of a call that failed, as our sentences. The lock of hdf5/util.h is held. */
#ifndef AIRY_IO_HDF5_ERROR_H
#define AIRY_IO_HDF5_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * "what: the first useful message of libhdf5's error stack"; call it right after the failed call.
 */
airy_status airy_hdf5_fail(airy_status status, const char *format, ...) AIRY_PRINTF(2, 3);
/*
 * The failed call stumbled over the operating system or the file's end, not over what the bytes
 * say.
 */
bool airy_hdf5_failed_io(void);
/* The same without the file's end. */
bool airy_hdf5_failed_system(void);
/* The same message alone. */
void airy_hdf5_message(char *text, size_t size);
/* The memory that libhdf5 takes to begin, or to open a file, can be had. */
bool airy_hdf5_has_room(void);
/* AIRY_ERR_MEMORY where libhdf5 1.10 would read through NULL, for want of room for a cache. */
airy_status airy_hdf5_check_room(const char *path);

#endif
