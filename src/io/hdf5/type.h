/* Types of elements in HDF5 files and in memory. The lock of hdf5/util.h is held. */
#ifndef AIRY_IO_HDF5_TYPE_H
#define AIRY_IO_HDF5_TYPE_H

#include "io/hdf5/probe.h" /* hdf5.h with the right API version */

#include "airy/dtype.h"

/* libhdf5's native type; not to be closed. */
hid_t airy_hdf5_native(airy_dtype dtype);
/*
 * The type of an array's elements in memory and in files made here: the native one, or the compound
 * {r, i} of two; to be closed. Negative on failure.
 */
hid_t airy_hdf5_element(airy_dtype dtype, bool is_complex);
/* Return whether a file's type is a compound of two equal floats of 4 or 8 bytes, r and i. */
bool airy_hdf5_is_complex(airy_dtype *dtype, hid_t type);
/*
 * The dtype that holds a file's type: integers of 1, 2, 4, 8 bytes, floats (half precision becomes
 * f32), enumerations by their integers. native: the file's bytes are the native bytes.
 * AIRY_ERR_FORMAT for strings, compounds and the like, by name, AIRY_ERR_UNSUPPORTED for complex
 * numbers; `what` starts the sentence.
 */
airy_status airy_hdf5_dtype(airy_dtype *dtype, bool *native, hid_t type, const char *what);
/* Name a type for lists: "uint32", "uint16 big-endian", "string", "compound" ... */
void airy_hdf5_type_text(char *text, size_t size, hid_t type);

#endif
