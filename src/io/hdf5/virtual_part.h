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
 * A selection without an end: its blocks go on along one axis, or the last one does. Lock held.
 */
struct airy_endless {
    int ndim, axis;
    hsize_t shape[H5S_MAX_RANK]; /* of the dataspace */
    hsize_t start[H5S_MAX_RANK], stride[H5S_MAX_RANK], count[H5S_MAX_RANK], block[H5S_MAX_RANK];
};
/* Describe a selection without an end; returns false where it has one. */
bool airy_virtual_endless(struct airy_endless *e, hid_t space);
/* Count the indices of its axis below `extent`; make a dataspace of the first ones, or -1. */
hsize_t airy_virtual_indices(const struct airy_endless *e, hsize_t extent);
hid_t airy_virtual_first(const struct airy_endless *e, hsize_t indices);
/* How many elements one index of its axis has. */
hsize_t airy_virtual_elements(const struct airy_endless *e);
/*
 * Find what is selected in `from` for the part of the selection `to` that `asked` shows, as a
 * dataspace; -1 where that is not whole rows of the first axis. Lock held.
 */
hid_t airy_virtual_project(hid_t to, hid_t from, const struct airy_part *asked);

/* Return whether the selection of a mapping has elements in the part. Lock held. */
bool airy_virtual_touches(hid_t to, const struct airy_part *part);
/*
 * Mark the frames, images of the last two axes, that have elements in the selection: in
 * frames[product of the axes before], of a dataset of this shape; of a selection that is not regular
 * all that lie between. *left: steps that may still be taken; returns false where they do not
 * suffice. Lock held.
 */
bool airy_virtual_mark(bool *frames, hid_t to, int ndim, const hsize_t *shape, size_t *left);

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
