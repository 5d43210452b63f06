#include "io/chunk_address.h"

#include <string.h>

/* Bytes a chunk may have for `decoded` bytes of pixels: the worst framing of the codecs (8-byte blocks) is below 2x. */
static uint64_t chunk_limit(uint64_t decoded)
{
    return 2 * decoded + 4096;
}

struct first_error {
    bool missing;
};

static herr_t look_at_error(unsigned n, const H5E_error2_t *error, void *user)
{
    struct first_error *first = user;
    if (n == 0)
        first->missing = error->desc && strcmp(error->desc, "chunk address isn't defined") == 0;
    return 0;
}

/* After a failed H5Dread_chunk: true if the chunk was never written; otherwise the index itself is broken, and why says how (unless NULL). */
static bool is_missing(hid_t dataset, const hsize_t *offset, char *why, size_t size)
{
    struct first_error first = {false};
    if (why)
        airy_hdf5_message(why, size);
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, look_at_error, &first);
    if (first.missing)
        return true;
    /* Another libhdf5 may say it in other words; this walks the whole index. */
    unsigned mask;
    haddr_t address = 0;
    hsize_t stored;
    return H5Dget_chunk_info_by_coord(dataset, offset, &mask, &address, &stored) >= 0 && address == HADDR_UNDEF;
}

static struct airy_place judge(const airy_probe *probe, uint32_t mask, const struct airy_chunk_grid *grid)
{
    struct airy_place place = {.offset = probe->offset, .kind = AIRY_PLACE_ODD};
    const bool encoded = grid->filtered && !(mask & 1);
    if (probe->hits != 1 || probe->length == 0 || probe->length > UINT32_MAX ||
        (encoded ? probe->length > chunk_limit(grid->frame_bytes) : probe->length != grid->frame_bytes))
        return place;
    place.size = (uint32_t)probe->length;
    if (probe->offset > probe->size || probe->length > probe->size - probe->offset)
        place.kind = AIRY_PLACE_CUT;
    else
        place.kind = encoded ? AIRY_PLACE_CHUNK : AIRY_PLACE_STORED;
    return place;
}

/* Next frame in C order; the two last axes stay 0. */
static void advance(hsize_t *offset, const struct airy_chunk_grid *grid)
{
    for (int axis = grid->ndim - 3; axis >= 0; axis--) {
        if (++offset[axis] < grid->shape[axis])
            return;
        offset[axis] = 0;
    }
}

/* Chunks that were ever written; SIZE_MAX when libhdf5 cannot say. */
static size_t count_written(hid_t dataset)
{
    hsize_t count = 0;
    const hid_t space = H5Dget_space(dataset);
    const bool known = space >= 0 && H5Dget_num_chunks(dataset, space, &count) >= 0;
    if (space >= 0)
        H5Sclose(space);
    return known ? (size_t)count : SIZE_MAX;
}

airy_status airy_chunk_addresses(struct airy_place *places, hid_t dataset, const struct airy_chunk_grid *grid,
                                 const char *what)
{
    airy_probe *probe = airy_probe_of(dataset);
    AIRY_FAIL_IF(!probe, AIRY_ERR_IO, "%s: its file's driver cannot be reached", what);
    hsize_t offset[H5S_MAX_RANK] = {0};
    uint8_t nothing[64]; /* the driver writes nothing here while it records */
    char why[400] = "";
    size_t odd = 0, first_odd = 0, left = count_written(dataset);
    for (size_t frame = 0; frame < grid->frames; frame++, advance(offset, grid)) {
        places[frame] = (struct airy_place){.kind = AIRY_PLACE_FILL};
        if (left == 0) /* a shape far beyond what was written costs no walk for each frame */
            continue;
        uint32_t mask = 0;
        probe->hits = 0;
        probe->recording = true;
        const herr_t read = H5Dread_chunk(dataset, H5P_DEFAULT, offset, &mask, nothing);
        probe->recording = false;
        if (read >= 0) {
            places[frame] = judge(probe, mask, grid);
            left--;
        } else if (!is_missing(dataset, offset, odd ? NULL : why, sizeof(why))) {
            places[frame] = (struct airy_place){.kind = AIRY_PLACE_ODD};
            first_odd = odd++ ? first_odd : frame;
        }
    }
    AIRY_FAIL_IF(odd == grid->frames, AIRY_ERR_FORMAT, "%s: the index of its chunks cannot be read: %s", what, why);
    if (odd > 0)
        airy_log(AIRY_LOG_WARN,
                 "%s: the index of its chunks is damaged from frame %zu on, %zu frames cannot be read: %s", what,
                 first_odd, odd, why);
    return AIRY_OK;
}

struct chunk_walk {
    hid_t dataset, creation;
    airy_probe *probe;
    int ndim;
    hsize_t first[H5S_MAX_RANK], last[H5S_MAX_RANK], chunk[H5S_MAX_RANK]; /* of the box, in chunks */
    uint64_t bytes;                                                       /* of a decoded chunk */
};

static airy_status check_chunk(const struct chunk_walk *w, const hsize_t *index)
{
    hsize_t offset[H5S_MAX_RANK];
    for (int axis = 0; axis < w->ndim; axis++)
        offset[axis] = index[axis] * w->chunk[axis];
    uint32_t mask = 0;
    uint8_t nothing[64];
    w->probe->hits = 0;
    w->probe->recording = true;
    const herr_t read = H5Dread_chunk(w->dataset, H5P_DEFAULT, offset, &mask, nothing);
    w->probe->recording = false;
    if (read < 0 || w->probe->hits == 0)
        return AIRY_OK; /* missing, or H5Dread will say why */
    const uint64_t want = airy_filter_stored_bytes(w->creation, mask, w->bytes);
    AIRY_FAIL_IF(want != 0 && w->probe->length != want, AIRY_ERR_CORRUPT,
                 "a stored chunk has %llu bytes, expected %llu", (unsigned long long)w->probe->length,
                 (unsigned long long)want);
    return AIRY_OK;
}

static airy_status walk_chunks(const struct chunk_walk *w)
{
    hsize_t index[H5S_MAX_RANK];
    memcpy(index, w->first, sizeof(index));
    for (int axis = 0; axis >= 0;) {
        AIRY_TRY(check_chunk(w, index));
        for (axis = w->ndim - 1; axis >= 0; axis--) {
            if (++index[axis] <= w->last[axis])
                break;
            index[axis] = w->first[axis];
        }
    }
    return AIRY_OK;
}

/* The chunks that the box touches; false where the shapes make no sense. */
static bool find_box(struct chunk_walk *w, const hsize_t *start, const hsize_t *count)
{
    hsize_t shape[H5S_MAX_RANK];
    const hid_t space = H5Dget_space(w->dataset);
    const int ndim = space < 0 ? -1 : H5Sget_simple_extent_dims(space, shape, NULL);
    if (space >= 0)
        H5Sclose(space);
    bool good = ndim == w->ndim;
    for (int axis = 0; good && axis < ndim; axis++) {
        const hsize_t from = start ? start[axis] : 0, size = start ? count[axis] : shape[axis];
        good = w->chunk[axis] > 0 && size > 0 && !__builtin_mul_overflow(w->bytes, w->chunk[axis], &w->bytes);
        if (!good)
            break;
        w->first[axis] = from / w->chunk[axis];
        w->last[axis] = (from + size - 1) / w->chunk[axis];
    }
    return good;
}

airy_status airy_chunk_check(hid_t dataset, const hsize_t *start, const hsize_t *count)
{
    struct chunk_walk w = {.dataset = dataset, .creation = H5Dget_create_plist(dataset)};
    airy_status status = AIRY_OK;
    const hid_t type = H5Dget_type(dataset);
    w.bytes = type < 0 ? 0 : H5Tget_size(type);
    if (w.creation >= 0 && H5Pget_layout(w.creation) == H5D_CHUNKED) {
        w.ndim = H5Pget_chunk(w.creation, H5S_MAX_RANK, w.chunk);
        w.probe = airy_probe_of(dataset);
        if (!w.probe || !find_box(&w, start, count))
            status = airy_fail(AIRY_ERR_CORRUPT, "the shape of the chunks does not fit the dataset");
        else
            status = walk_chunks(&w);
    }
    if (type >= 0)
        H5Tclose(type);
    if (w.creation >= 0)
        H5Pclose(w.creation);
    return status;
}
