/* Frames through libhdf5, with a few datasets kept open. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/hdf5/inflate.h"
#include "io/hdf5/sources.h"
#include "io/stack/internal.h"

enum { ROWS_KNOWN = 4, MAX_CACHES = 1 << 30 /* bytes of the chunk caches of all slots */ };

struct open_dataset {
    hid_t file, dataset; /* file < 0: a free slot */
    size_t segment;
    hsize_t chunk[H5S_MAX_RANK]; /* all 0: not chunked */
    /*
     * Rows of chunks checked last (their numbers in C order): looking again would throw them out
     * of libhdf5's cache.
     */
    size_t rows[ROWS_KNOWN], row_count;
    struct airy_inflated kept;
    uint64_t used; /* for choosing the one to close */
};

struct stack_library {
    struct open_dataset slots[AIRY_STACK_OPEN_DATASETS];
    uint64_t clock;
};

airy_status airy_stack_library_open(airy_stack *stack)
{
    AIRY_TRY(
        airy_memory_calloc((void **)&stack->library, 1, sizeof(*stack->library), "open datasets"));
    for (int i = 0; i < AIRY_STACK_OPEN_DATASETS; i++)
        stack->library->slots[i].file = -1;
    return AIRY_OK;
}

static void close_slot(struct open_dataset *slot)
{
    if (slot->file < 0)
        return;
    airy_inflated_free(&slot->kept);
    H5Dclose(slot->dataset);
    H5Fclose(slot->file);
    slot->file = -1;
}

void airy_stack_library_close(airy_stack *stack)
{
    if (!stack->library)
        return;
    if (airy_hdf5_lock() == AIRY_OK) {
        for (int i = 0; i < AIRY_STACK_OPEN_DATASETS; i++)
            close_slot(&stack->library->slots[i]);
        airy_hdf5_unlock();
    }
    free(stack->library);
    stack->library = NULL;
}

airy_status airy_stack_check_file(const struct stack_file *file, dev_t device, ino_t inode)
{
    AIRY_FAIL_ON_IF(file->device != device || file->inode != inode, AIRY_ERR_IO, AIRY_SUBJECT_FILE,
                    "'%s' was replaced by another file since it was opened", file->path);
    return AIRY_OK;
}

/* Fail where the dataset lies in another file than the one that the stack was made with. */
static airy_status check_file(const airy_stack *stack, const struct stack_segment *segment,
                              hid_t dataset)
{
    const airy_probe *probe = airy_probe_of(dataset);
    AIRY_FAIL_IF(!probe, AIRY_ERR_IO, "its file's driver cannot be reached");
    return airy_stack_check_file(&stack->files[segment->file], probe->device, probe->inode);
}

static airy_status open_slot(struct open_dataset *slot, const airy_stack *stack,
                             const struct stack_segment *segment)
{
    hid_t file;
    AIRY_TRY(airy_hdf5_open(&file, segment->path));
    const hid_t access = H5Pcopy(airy_hdf5_dataset_access());
    const size_t bytes = airy_max_size(segment->cache_bytes, (size_t)1 << 20);
    hid_t dataset = -1;
    if (access >= 0 && H5Pset_chunk_cache(access, 4099, bytes, 1.0) >= 0)
        dataset = airy_hdf5_dataset_with(file, segment->dataset, access);
    if (access >= 0)
        H5Pclose(access);
    const airy_status status =
        dataset < 0 ? airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_NONE, "cannot be opened again")
                    : check_file(stack, segment, dataset);
    if (status != AIRY_OK) {
        if (dataset >= 0)
            H5Dclose(dataset);
        H5Fclose(file);
        return status;
    }
    memset(slot->chunk, 0, sizeof(slot->chunk));
    const hid_t creation = H5Dget_create_plist(dataset);
    if (creation >= 0 && H5Pget_layout(creation) == H5D_CHUNKED)
        H5Pget_chunk(creation, H5S_MAX_RANK, slot->chunk);
    if (creation >= 0)
        H5Pclose(creation);
    slot->file = file;
    slot->dataset = dataset;
    slot->row_count = 0;
    slot->kept = (struct airy_inflated){.room = segment->cache_bytes};
    return AIRY_OK;
}

/* The one used longest ago, NULL when none is open; bytes: of the caches of all. */
static struct open_dataset *find_oldest(struct stack_library *library,
                                        const struct stack_segment *segments, size_t *bytes)
{
    struct open_dataset *oldest = NULL;
    *bytes = 0;
    for (int i = 0; i < AIRY_STACK_OPEN_DATASETS; i++) {
        struct open_dataset *slot = &library->slots[i];
        if (slot->file < 0)
            continue;
        *bytes += segments[slot->segment].cache_bytes;
        if (!oldest || slot->used < oldest->used)
            oldest = slot;
    }
    return oldest;
}

static airy_status get_slot(const airy_stack *stack, size_t segment, struct open_dataset **found)
{
    struct stack_library *library = stack->library;
    struct open_dataset *slot = &library->slots[0];
    for (int i = 0; i < AIRY_STACK_OPEN_DATASETS; i++) {
        struct open_dataset *candidate = &library->slots[i];
        if (candidate->file >= 0 && candidate->segment == segment) {
            candidate->used = ++library->clock;
            *found = candidate;
            return AIRY_OK;
        }
        if (candidate->used < slot->used)
            slot = candidate;
    }
    close_slot(slot);
    size_t bytes;
    struct open_dataset *oldest;
    while ((oldest = find_oldest(library, stack->segments, &bytes)) != NULL &&
           bytes + stack->segments[segment].cache_bytes > MAX_CACHES)
        close_slot(oldest);
    AIRY_TRY(open_slot(slot, stack, &stack->segments[segment]));
    slot->segment = segment;
    slot->used = ++library->clock;
    *found = slot;
    return AIRY_OK;
}

/* The sizes of the chunks under a frame, unless its row was among the last ones. */
static airy_status check_chunks(struct open_dataset *slot, size_t row, const hsize_t *start,
                                const hsize_t *count)
{
    const size_t known = airy_min_size(slot->row_count, ROWS_KNOWN);
    for (size_t i = 0; i < known; i++)
        if (slot->rows[i] == row)
            return AIRY_OK;
    AIRY_TRY(airy_chunk_check_written(slot->dataset, start, count));
    if (slot->chunk[0] > 0)
        slot->rows[slot->row_count++ % ROWS_KNOWN] = row;
    return AIRY_OK;
}

/* Where the frame is in the file; `row` is the number of its row of chunks. */
static bool select_frame(const airy_stack *stack, const struct open_dataset *slot, hid_t space,
                         size_t frame, hsize_t *start, hsize_t *count, size_t *row)
{
    hsize_t shape[H5S_MAX_RANK];
    const int ndim = space < 0 ? -1 : H5Sget_simple_extent_dims(space, shape, NULL);
    bool fits = ndim >= 2 && shape[ndim - 2] == stack->height && shape[ndim - 1] == stack->width;
    size_t step = 1;
    *row = 0;
    for (int axis = ndim - 3; fits && axis >= 0; axis--) {
        fits = shape[axis] > 0;
        if (!fits)
            break;
        const hsize_t deep = slot->chunk[axis] ? slot->chunk[axis] : 1;
        count[axis] = 1;
        start[axis] = frame % shape[axis];
        frame /= shape[axis];
        *row += step * (size_t)(start[axis] / deep);
        step *= (size_t)((shape[axis] - 1) / deep + 1);
    }
    if (!fits || frame != 0)
        return false;
    count[ndim - 2] = shape[ndim - 2];
    count[ndim - 1] = shape[ndim - 1];
    return H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0;
}

static airy_status read_frame(const airy_stack *stack, struct open_dataset *slot, size_t frame,
                              void *pixels)
{
    const struct stack_segment *segment = &stack->segments[slot->segment];
    hsize_t start[H5S_MAX_RANK] = {0}, count[H5S_MAX_RANK];
    size_t row;
    const hid_t dataset = slot->dataset, space = H5Dget_space(dataset);
    hid_t memory = -1;
    airy_status status = AIRY_OK;
    /*
     * Memory of as many dimensions as the file's: libhdf5 maps shapes that differ pixel by pixel,
     * ten times slower.
     */
    if (select_frame(stack, slot, space, frame, start, count, &row))
        memory = H5Screate_simple(H5Sget_simple_extent_ndims(space), count, NULL);
    if (memory < 0)
        status = airy_fail(AIRY_ERR_IO, "the dataset's shape has changed since it was opened");
    if (status == AIRY_OK && segment->sources_missing)
        status = airy_sources_check_written(dataset, start, count, segment->name);
    if (status == AIRY_OK && segment->sources_packed)
        status = airy_sources_check_chunks(dataset, start, count, segment->name);
    if (status == AIRY_OK)
        status = check_chunks(slot, row, start, count);
    /* A chunk of several frames may be written once more, to the same place, while it is read. */
    if (status == AIRY_OK)
        status = airy_hdf5_read_keeping(stack->growing ? NULL : &slot->kept, dataset,
                                        airy_hdf5_native(stack->dtype), memory, space, pixels);
    if (memory >= 0)
        H5Sclose(memory);
    if (space >= 0)
        H5Sclose(space);
    return status;
}

airy_status airy_stack_library_dataset(const airy_stack *stack, size_t segment, hid_t *dataset)
{
    struct open_dataset *slot;
    AIRY_TRY(get_slot(stack, segment, &slot));
    *dataset = slot->dataset;
    return AIRY_OK;
}

airy_status airy_stack_library_written(const airy_stack *stack, size_t segment, size_t frame)
{
    hsize_t start[H5S_MAX_RANK] = {0}, count[H5S_MAX_RANK];
    size_t row;
    struct open_dataset *slot;
    AIRY_TRY(airy_hdf5_lock_allowing(stack->allowed));
    airy_status status = get_slot(stack, segment, &slot);
    const hid_t space = status == AIRY_OK ? H5Dget_space(slot->dataset) : -1;
    if (status == AIRY_OK && !select_frame(stack, slot, space, frame, start, count, &row))
        status = airy_fail(AIRY_ERR_IO, "the dataset's shape has changed since it was opened");
    if (status == AIRY_OK && stack->segments[segment].sources_missing)
        status =
            airy_sources_check_written(slot->dataset, start, count, stack->segments[segment].name);
    if (status == AIRY_OK)
        status = check_chunks(slot, row, start, count);
    if (space >= 0)
        H5Sclose(space);
    airy_hdf5_unlock();
    return status;
}

airy_status airy_stack_library_read(const airy_stack *stack, size_t segment, size_t frame,
                                    void *pixels)
{
    AIRY_TRY(airy_hdf5_lock_allowing(stack->allowed));
    struct open_dataset *slot;
    airy_status status = get_slot(stack, segment, &slot);
    if (status == AIRY_OK)
        status = read_frame(stack, slot, frame, pixels);
    airy_hdf5_unlock();
    return status;
}
