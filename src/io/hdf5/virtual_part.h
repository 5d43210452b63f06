/* Which part of its source a part of a virtual dataset is. */
#ifndef AIRY_IO_HDF5_VIRTUAL_PART_H
#define AIRY_IO_HDF5_VIRTUAL_PART_H

#include "io/hdf5/util.h"

/* First and last index of each axis, both inside. */
struct airy_part {
    int ndim;
    hsize_t first[H5S_MAX_RANK], last[H5S_MAX_RANK];
};

/* Elements [begin, end) of a selection, in C order. */
struct airy_points {
    hsize_t begin, end;
};

/*
 * Which elements of a mapping's selection in the virtual dataset `asked` shows. False where they do
 * not follow one another, or the selection is not regular. Lock held.
 */
bool airy_virtual_points(struct airy_points *points, const struct airy_part *asked, hid_t to);
/*
 * The part that holds these elements of a selection, and no others; shape: of the dataset, for one
 * that takes all of it. False where there is no such part. Lock held.
 */
bool airy_virtual_part(struct airy_part *part, const struct airy_points *points, hid_t from,
                       int ndim, const hsize_t *shape);

#endif
