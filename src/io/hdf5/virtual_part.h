/* Finding the part of a source that a part of a virtual dataset shows. */
#ifndef AIRY_IO_HDF5_VIRTUAL_PART_H
#define AIRY_IO_HDF5_VIRTUAL_PART_H

#include "io/hdf5/util.h"

/* First and last index of each axis; the part includes both. */
struct airy_part {
    int ndim;
    hsize_t first[H5S_MAX_RANK], last[H5S_MAX_RANK];
};

/* Elements [begin, end) of a selection, in C order. */
struct airy_points {
    hsize_t begin, end;
};

/*
 * Find the elements of `to`, a mapping's selection in the virtual dataset, that lie in `asked`.
 * Returns false where they do not follow one another, or where the selection is not regular. Lock
 * held.
 */
bool airy_virtual_points(struct airy_points *points, const struct airy_part *asked, hid_t to);
/*
 * Find the part that holds these elements of the selection `from`, and no others; shape: of the
 * dataset, for a selection that takes all of it. Returns false where there is none. Lock held.
 */
bool airy_virtual_part(struct airy_part *part, const struct airy_points *points, hid_t from,
                       int ndim, const hsize_t *shape);

#endif
