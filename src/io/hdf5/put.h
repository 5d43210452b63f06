/*
 * Small things to write into HDF5 files: groups, attributes, scalars. Lock held. All return
 * negative on failure, as libhdf5 does.
 */
#ifndef AIRY_IO_HDF5_PUT_H
#define AIRY_IO_HDF5_PUT_H

#include "io/hdf5/util.h"

/* A variable-length UTF-8 string attribute; an array of them. */
herr_t airy_put_text(hid_t object, const char *name, const char *text);
herr_t airy_put_texts(hid_t object, const char *name, const char *const *texts, size_t count);
herr_t airy_put_int(hid_t object, const char *name, int value);
/* A group, new or there already, with its NX_class; negative on failure. */
hid_t airy_put_group(hid_t parent, const char *name, const char *nx_class);
/* For viewers: /entry/data/SIGNAL is what the file is about. Its groups may be there. */
herr_t airy_put_data_classes(hid_t file, const char *signal);
/* Scalar datasets, contiguous. units: NULL for none. */
herr_t airy_put_string(hid_t parent, const char *name, const char *text);
herr_t airy_put_double(hid_t parent, const char *name, double value, const char *units);
herr_t airy_put_count(hid_t parent, const char *name, uint64_t value);
/*
 * H5Pset_virtual, which takes a '%' in the name of a file or of a dataset for the beginning of a
 * format: here it stands for itself.
 */
herr_t airy_put_virtual(hid_t creation, hid_t to, const char *file, const char *dataset,
                        hid_t from);
/* Of an NXprocess: program, version and date. */
herr_t airy_put_program(hid_t process);
/* The same, and the configuration, "{}" where it is NULL. */
herr_t airy_put_process(hid_t process, const char *configuration);
/*
 * A new list of properties for a dataset to be created, which bears no times: equal input makes
 * equal files.
 */
hid_t airy_put_creation(void);
/*
 * An empty contiguous dataset whose place in the file is fixed at once and whose bytes are not
 * written.
 */
hid_t airy_put_contiguous(hid_t parent, const char *name, hid_t type, int ndim,
                          const hsize_t *shape);

#endif
