#include "io/hdf5/virtual_part.h"

/* A regular selection of `points` elements. */
struct axes {
    int ndim;
    hsize_t points;
    hsize_t start[H5S_MAX_RANK], stride[H5S_MAX_RANK], count[H5S_MAX_RANK], block[H5S_MAX_RANK];
};

/* Get a selection; shape: of the dataset, for a selection that takes all of it. */
static bool get_axes(struct axes *axes, hid_t space, int ndim, const hsize_t *shape)
{
    const H5S_sel_type type = H5Sget_select_type(space);
    axes->ndim = ndim;
    axes->points = 1;
    if (ndim < 1 || ndim > H5S_MAX_RANK)
        return false;
    for (int i = 0; i < ndim && type == H5S_SEL_ALL; i++) {
        axes->start[i] = 0;
        axes->stride[i] = axes->block[i] = 1;
        axes->count[i] = shape[i];
    }
    if (type != H5S_SEL_ALL &&
        (type != H5S_SEL_HYPERSLABS || H5Sget_simple_extent_ndims(space) != ndim ||
         H5Sis_regular_hyperslab(space) <= 0 ||
         H5Sget_regular_hyperslab(space, axes->start, axes->stride, axes->count, axes->block) < 0))
        return false;
    for (int i = 0; i < ndim; i++) {
        if (axes->count[i] == 1) /* one block, and no step to another */
            axes->stride[i] = axes->block[i];
        if (axes->stride[i] == 0 || axes->stride[i] < axes->block[i] ||
            __builtin_mul_overflow(axes->points, axes->count[i], &axes->points) ||
            __builtin_mul_overflow(axes->points, axes->block[i], &axes->points))
            return false;
    }
    return axes->points > 0;
}

static hsize_t picked(const struct axes *axes, int axis)
{
    return axes->count[axis] * axes->block[axis];
}

/* Return how many indices of the axis are selected before this one. */
static hsize_t count_before(const struct axes *axes, int axis, hsize_t index)
{
    if (index <= axes->start[axis])
        return 0;
    const hsize_t from = index - axes->start[axis], steps = from / axes->stride[axis],
                  rest = from % axes->stride[axis], block = axes->block[axis];
    return steps >= axes->count[axis] ? picked(axes, axis)
                                      : steps * block + (rest < block ? rest : block);
}

/* Return the n-th selected index of the axis. */
static hsize_t index_of(const struct axes *axes, int axis, hsize_t n)
{
    return axes->start[axis] + n / axes->block[axis] * axes->stride[axis] + n % axes->block[axis];
}

static bool takes_all(const struct axes *axes, const struct airy_part *asked, int axis)
{
    return count_before(axes, axis, asked->first[axis]) == 0 &&
           count_before(axes, axis, asked->last[axis] + 1) == picked(axes, axis);
}

bool airy_virtual_points(struct airy_points *points, const struct airy_part *asked, hid_t to)
{
    struct axes axes;
    hsize_t shape[H5S_MAX_RANK];
    if (H5Sget_simple_extent_dims(to, shape, NULL) != asked->ndim ||
        !get_axes(&axes, to, asked->ndim, shape))
        return false;
    hsize_t size = axes.points; /* elements of one index of the axes so far */
    points->begin = 0;
    for (int i = 0; i < axes.ndim; i++) {
        const hsize_t begin = count_before(&axes, i, asked->first[i]),
                      end = count_before(&axes, i, asked->last[i] + 1);
        bool rest = true; /* all of the axes behind is asked for */
        for (int axis = i + 1; axis < axes.ndim; axis++)
            rest = rest && takes_all(&axes, asked, axis);
        size /= picked(&axes, i);
        points->end = points->begin + end * size;
        points->begin += begin * size;
        if (end <= begin || (!rest && end != begin + 1))
            return false;
        if (rest)
            return true;
    }
    return false;
}

bool airy_virtual_part(struct airy_part *part, const struct airy_points *points, hid_t from,
                       int ndim, const hsize_t *shape)
{
    struct axes axes;
    if (!get_axes(&axes, from, ndim, shape) || points->end > axes.points ||
        points->end <= points->begin)
        return false;
    hsize_t size = axes.points, begin = points->begin, end = points->end;
    part->ndim = ndim;
    for (int i = 0; i < ndim; i++) {
        part->first[i] = axes.start[i];
        part->last[i] = index_of(&axes, i, picked(&axes, i) - 1);
    }
    for (int i = 0; i < ndim; i++) {
        size /= picked(&axes, i);
        const hsize_t first = begin / size, last = (end - 1) / size;
        part->first[i] = index_of(&axes, i, first);
        part->last[i] = index_of(&axes, i, last);
        begin -= first * size;
        end -= last * size;
        if (begin == 0 && end == size)
            return true;
        if (first != last)
            return false;
    }
    return false;
}

bool airy_virtual_endless(struct airy_endless *e, hid_t space)
{
    e->axis = -1;
    e->ndim = H5Sget_simple_extent_dims(space, e->shape, NULL);
    if (e->ndim < 1 || H5Sget_select_type(space) != H5S_SEL_HYPERSLABS ||
        H5Sis_regular_hyperslab(space) <= 0 ||
        H5Sget_regular_hyperslab(space, e->start, e->stride, e->count, e->block) < 0)
        return false;
    for (int i = 0; i < e->ndim; i++)
        if (e->count[i] == H5S_UNLIMITED || e->block[i] == H5S_UNLIMITED)
            e->axis = i;
    return e->axis >= 0 && e->stride[e->axis] > 0;
}

hsize_t airy_virtual_indices(const struct airy_endless *e, hsize_t extent)
{
    const hsize_t start = e->start[e->axis], block = e->block[e->axis],
                  from = extent > start ? extent - start : 0, rest = from % e->stride[e->axis];
    return block == H5S_UNLIMITED
               ? from
               : from / e->stride[e->axis] * block + (rest < block ? rest : block);
}

hsize_t airy_virtual_elements(const struct airy_endless *e)
{
    hsize_t elements = 1;
    for (int i = 0; i < e->ndim; i++)
        if (i != e->axis && (__builtin_mul_overflow(elements, e->count[i], &elements) ||
                             __builtin_mul_overflow(elements, e->block[i], &elements)))
            return 0;
    return elements;
}

hid_t airy_virtual_first(const struct airy_endless *e, hsize_t indices)
{
    const int axis = e->axis;
    const hsize_t block = e->block[axis] < indices ? e->block[axis] : indices;
    hsize_t start[H5S_MAX_RANK], count[H5S_MAX_RANK], size[H5S_MAX_RANK], shape[H5S_MAX_RANK], end;
    if (block == 0)
        return -1;
    for (int i = 0; i < e->ndim; i++) {
        start[i] = e->start[i];
        count[i] = e->count[i];
        size[i] = e->block[i];
        shape[i] = e->shape[i];
    }
    const hsize_t blocks = indices / block, rest = indices % block;
    if (__builtin_mul_overflow(blocks, e->stride[axis], &end) ||
        __builtin_add_overflow(end, e->start[axis] + block, &end) || end > INT64_MAX)
        return -1;
    shape[axis] = end;
    count[axis] = blocks;
    size[axis] = block;
    const hid_t space = H5Screate_simple(e->ndim, shape, NULL);
    bool good = space >= 0 &&
                H5Sselect_hyperslab(space, H5S_SELECT_SET, start, e->stride, count, size) >= 0;
    if (good && rest) {
        start[axis] += blocks * e->stride[axis];
        count[axis] = 1;
        size[axis] = rest;
        good = H5Sselect_hyperslab(space, H5S_SELECT_OR, start, e->stride, count, size) >= 0;
    }
    if (good)
        return space;
    if (space >= 0)
        H5Sclose(space);
    return -1;
}

/* Make a dataspace of what is selected in a box; -1 where libhdf5 fails. */
static hid_t intersect(hid_t space, const hsize_t *start, const hsize_t *count)
{
    const hid_t both = H5Scopy(space);
    if (both < 0 || H5Sselect_hyperslab(both, H5S_SELECT_AND, start, NULL, count, NULL) >= 0)
        return both;
    H5Sclose(both);
    return -1;
}

/* Count the selected points of a dataspace, and close it; -1 where it is none. */
static hssize_t count_points(hid_t space)
{
    const hssize_t points = space < 0 ? -1 : H5Sget_select_npoints(space);
    if (space >= 0)
        H5Sclose(space);
    return points;
}

/* Make a dataspace of what is selected at indices [begin, end) of the first axis; begin < end. */
static hid_t select_rows(hid_t space, hsize_t begin, hsize_t end)
{
    hsize_t count[H5S_MAX_RANK], start[H5S_MAX_RANK] = {begin};
    if (H5Sget_simple_extent_dims(space, count, NULL) < 1)
        return -1;
    count[0] = (end < count[0] ? end : count[0]) - begin;
    return intersect(space, start, count);
}

/* Count the points that are selected below an index of the first axis; -1: not known. */
static hssize_t count_below(hid_t space, hsize_t end)
{
    return end ? count_points(select_rows(space, 0, end)) : 0;
}

/* Find the index of the first axis at which the point of this number is, from 0 on. */
static hsize_t find_row(hid_t space, hssize_t number)
{
    hsize_t low[H5S_MAX_RANK], high[H5S_MAX_RANK];
    if (H5Sget_select_bounds(space, low, high) < 0)
        return 0;
    while (low[0] < high[0]) {
        const hsize_t middle = low[0] + (high[0] - low[0]) / 2;
        if (count_below(space, middle + 1) > number)
            high[0] = middle;
        else
            low[0] = middle + 1;
    }
    return low[0];
}

/* Count the points of a selection that lie in the part; -1: not known. */
static hssize_t count_in(hid_t space, const struct airy_part *part)
{
    hsize_t count[H5S_MAX_RANK];
    for (int i = 0; i < part->ndim; i++)
        count[i] = part->last[i] - part->first[i] + 1;
    return H5Sget_simple_extent_ndims(space) == part->ndim
               ? count_points(intersect(space, part->first, count))
               : -1;
}

bool airy_virtual_touches(hid_t to, const struct airy_part *part)
{
    return count_in(to, part) != 0;
}

/* Make a selection that is not regular the box around it. */
static bool get_box(struct axes *axes, hid_t space, int ndim)
{
    hsize_t last[H5S_MAX_RANK];
    if (H5Sget_simple_extent_ndims(space) != ndim ||
        H5Sget_select_bounds(space, axes->start, last) < 0)
        return false;
    for (int i = 0; i < ndim; i++) {
        axes->stride[i] = axes->block[i] = 1;
        axes->count[i] = last[i] - axes->start[i] + 1;
    }
    axes->ndim = ndim;
    return true;
}

bool airy_virtual_mark(bool *frames, hid_t to, int ndim, const hsize_t *shape, size_t *left)
{
    struct axes axes;
    hsize_t at[H5S_MAX_RANK] = {0};
    if (!get_axes(&axes, to, ndim, shape) && !get_box(&axes, to, ndim))
        return true; /* it selects nothing */
    for (int axis = 0; axis >= 0;) {
        size_t frame = 0;
        for (int i = 0; i < ndim - 2; i++) {
            const hsize_t index = index_of(&axes, i, at[i]);
            if (index >= shape[i])
                return true; /* the file's selection leaves the shape */
            frame = frame * (size_t)shape[i] + (size_t)index;
        }
        if ((*left)-- == 0)
            return false;
        frames[frame] = true;
        for (axis = ndim - 3; axis >= 0; axis--) {
            if (++at[axis] < picked(&axes, axis))
                break;
            at[axis] = 0;
        }
    }
    return true;
}

/* Return whether a selection has few blocks: each step below takes as long as there are blocks. */
static bool is_of_few(hid_t space)
{
    enum { MOST = 1 << 16 };
    const H5S_sel_type type = H5Sget_select_type(space);
    const hssize_t blocks = type == H5S_SEL_HYPERSLABS ? H5Sget_select_hyper_nblocks(space) : 0;
    return type == H5S_SEL_ALL || (blocks > 0 && blocks <= MOST);
}

/*
 * Points follow one another as in memory, so those of some rows of `to` are numbered without a gap,
 * and so are those that belong to them in `from`: whole rows there, or it is not told.
 * (H5Sselect_project_intersection of libhdf5 1.10 reads behind what it has allocated.)
 */
hid_t airy_virtual_project(hid_t to, hid_t from, const struct airy_part *asked)
{
    const hssize_t points = is_of_few(to) && is_of_few(from) ? count_in(to, asked) : -1;
    const hssize_t begin = points < 0 ? -1 : count_below(to, asked->first[0]),
                   end = begin < 0 ? -1 : count_below(to, asked->last[0] + 1);
    if (end < 0 || end - begin != points)
        return -1;
    if (points == 0) {
        const hid_t nothing = H5Scopy(from);
        H5Sselect_none(nothing);
        return nothing;
    }
    const hsize_t first = find_row(from, begin), last = find_row(from, end - 1);
    return count_below(from, first) == begin && count_below(from, last + 1) == end
               ? select_rows(from, first, last + 1)
               : -1;
}
