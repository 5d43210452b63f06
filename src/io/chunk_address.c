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

/* After a failed H5Dread_chunk: true if the chunk was never written; otherwise the index itself is broken. */
static bool is_missing(hid_t dataset, const hsize_t *offset)
{
    struct first_error first = {false};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, look_at_error, &first);
    if (first.missing)
        return true;
    /* Another libhdf5 may say it in other words; this walks the whole index. */
    unsigned mask;
    haddr_t address = 0;
    hsize_t size;
    return H5Dget_chunk_info_by_coord(dataset, offset, &mask, &address, &size) >= 0 && address == HADDR_UNDEF;
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
        } else if (!is_missing(dataset, offset)) {
            places[frame] = (struct airy_place){.kind = AIRY_PLACE_ODD};
            first_odd = odd++ ? first_odd : frame;
        }
    }
    AIRY_FAIL_IF(odd == grid->frames, AIRY_ERR_FORMAT, "%s: the index of its chunks cannot be read", what);
    if (odd > 0)
        airy_log(AIRY_LOG_WARN, "%s: the index of its chunks is damaged from frame %zu on, %zu frames cannot be read",
                 what, first_odd, odd);
    return AIRY_OK;
}
