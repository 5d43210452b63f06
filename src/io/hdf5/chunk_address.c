#include "io/hdf5/chunk_address.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "codec/framing.h"

enum {
    FREE_LOOKUPS = 1 << 16, /* of frames, whatever is written */
    FREE_CHUNKS = 1 << 18,  /* under one read, likewise */
    LOOKUPS_PER_CHUNK = 16, /* beyond these: for each chunk that is written */
    MAX_COUNTED = 1 << 26,  /* chunks of a shape: libhdf5 may look at each to count those that
                               are written */
    MAX_SUMMED = 1 << 22,   /* likewise, to sum up their bytes for display */
    MAX_LISTED = 1 << 12    /* chunks listed by number; libhdf5 counts from the first for each */
};

/*
 * Bytes a chunk may have for `decoded` bytes of pixels: the worst framing of the codecs (8-byte
 * blocks) is below 2x.
 */
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

/*
 * After a failed H5Dread_chunk: true if the chunk was never written; otherwise the index itself is
 * broken, and why says how (unless NULL).
 */
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
    return H5Dget_chunk_info_by_coord(dataset, offset, &mask, &address, &stored) >= 0 &&
           address == HADDR_UNDEF;
}

static struct airy_place judge(const airy_probe *probe, uint32_t mask,
                               const struct airy_chunk_grid *grid)
{
    struct airy_place place = {.offset = probe->offset, .kind = AIRY_PLACE_ODD};
    const bool encoded = grid->filtered && !(mask & 1);
    if (probe->hits != 1 || probe->length == 0 || probe->length > UINT32_MAX ||
        (encoded ? probe->length > chunk_limit(grid->frame_bytes)
                 : probe->length != grid->frame_bytes))
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

struct address_walk {
    hid_t dataset;
    const struct airy_chunk_grid *grid;
    airy_probe *probe;
    struct airy_place *places;
    size_t odd, first_odd;
    char why[400]; /* the first of the odd ones */
};

/* False if the chunk was never written. */
static bool look_up(struct address_walk *w, const hsize_t *offset, size_t frame)
{
    uint32_t mask = 0;
    if (airy_probe_chunk(w->probe, w->dataset, offset, &mask) >= 0) {
        w->places[frame] = judge(w->probe, mask, w->grid);
        return true;
    }
    if (is_missing(w->dataset, offset, w->odd ? NULL : w->why, sizeof(w->why)))
        return false;
    w->places[frame] = (struct airy_place){.kind = AIRY_PLACE_ODD};
    w->first_odd = w->odd++ ? w->first_odd : frame;
    return true;
}

static void walk_frames(struct address_walk *w, size_t written)
{
    hsize_t offset[H5S_MAX_RANK] = {0};
    size_t left = written;
    for (size_t frame = 0; frame < w->grid->frames && left > 0; frame++, advance(offset, w->grid))
        if (look_up(w, offset, frame) && w->places[frame].kind != AIRY_PLACE_ODD)
            left--;
}

/*
 * Few chunks in a large shape: the frames they belong to are asked for, not each frame for its
 * chunk.
 */
static airy_status walk_written(struct address_walk *w, size_t written, const char *what)
{
    const struct airy_chunk_grid *grid = w->grid;
    const hid_t space = H5Dget_space(w->dataset);
    bool good = space >= 0;
    for (size_t i = 0; good && i < written; i++) {
        hsize_t offset[H5S_MAX_RANK] = {0}, size;
        unsigned mask;
        haddr_t address;
        size_t frame = 0;
        good = H5Dget_chunk_info(w->dataset, space, i, offset, &mask, &address, &size) >= 0;
        for (int axis = 0; good && axis < grid->ndim; axis++) {
            good = offset[axis] < grid->shape[axis];
            if (axis < grid->ndim - 2)
                frame = frame * (size_t)grid->shape[axis] + (size_t)offset[axis];
        }
        if (good)
            (void)look_up(w, offset, frame);
    }
    if (space >= 0)
        H5Sclose(space);
    AIRY_FAIL_ON_IF(!good, AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET,
                    "%s: the index of its chunks cannot be read", what);
    return AIRY_OK;
}

airy_status airy_chunk_addresses(struct airy_place *places, hid_t dataset,
                                 const struct airy_chunk_grid *grid, const char *what)
{
    struct address_walk w = {
        .dataset = dataset, .grid = grid, .probe = airy_probe_of(dataset), .places = places};
    AIRY_FAIL_ON_IF(!w.probe, AIRY_ERR_IO, AIRY_SUBJECT_DATASET,
                    "%s: its file's driver cannot be reached", what);
    const size_t frames = grid->frames, written = count_written(dataset);
    const bool known = written != SIZE_MAX;
    /*
     * Each chunk takes a byte at least, and so does its entry in an index that cannot be counted.
     */
    AIRY_FAIL_ON_IF(known && written > w.probe->size, AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET,
                    "%s: the index lists %zu chunks, the file has %llu bytes", what, written,
                    (unsigned long long)w.probe->size);
    AIRY_FAIL_ON_IF(!known && frames > FREE_LOOKUPS && frames > w.probe->size, AIRY_ERR_FORMAT,
                    AIRY_SUBJECT_DATASET, "%s: the index of its chunks cannot be read", what);
    const bool sparse = known && frames > FREE_LOOKUPS && frames / LOOKUPS_PER_CHUNK > written;
    AIRY_FAIL_ON_IF(sparse && written > MAX_LISTED, AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_DATASET,
                    "%s: %zu of %zu frames are written, expected at most %d or one of %d", what,
                    written, frames, (int)MAX_LISTED, (int)LOOKUPS_PER_CHUNK);
    if (sparse)
        AIRY_TRY(walk_written(&w, written, what));
    else
        walk_frames(&w, written);
    AIRY_FAIL_ON_IF(w.odd == frames, AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET,
                    "%s: the index of its chunks cannot be read: %s", what, w.why);
    if (w.odd > 0)
        airy_log(AIRY_LOG_WARN,
                 "%s: the index of its chunks is damaged from frame %zu on, %zu frames cannot be "
                 "read: %s",
                 what, w.first_odd, w.odd, w.why);
    return AIRY_OK;
}

airy_status airy_chunk_addresses_part(struct airy_place *places, size_t *unsound, hid_t dataset,
                                      const struct airy_chunk_grid *grid, size_t first,
                                      size_t count, const char *what)
{
    struct address_walk w = {
        .dataset = dataset, .grid = grid, .probe = airy_probe_of(dataset), .places = places};
    AIRY_FAIL_IF(!w.probe, AIRY_ERR_IO, "its file's driver cannot be reached");
    hsize_t offset[H5S_MAX_RANK] = {0};
    size_t rest = first;
    for (int axis = grid->ndim - 3; axis >= 0; axis--) {
        offset[axis] = rest % grid->shape[axis];
        rest /= (size_t)grid->shape[axis];
    }
    *unsound = 0;
    for (size_t i = 0; i < count; i++, advance(offset, grid)) {
        const bool sound = look_up(&w, offset, i) && airy_place_is_there(&places[i]);
        *unsound += !sound;
    }
    if (what && w.odd > 0)
        airy_log(AIRY_LOG_WARN, "%s: the index of its chunks is damaged at frame %zu: %s", what,
                 first + w.first_odd, w.why);
    return AIRY_OK;
}

struct chunk_walk {
    hid_t dataset, creation;
    airy_probe *probe;
    int ndim;
    /* of the box, in chunks */
    hsize_t first[H5S_MAX_RANK], last[H5S_MAX_RANK], chunk[H5S_MAX_RANK];
    uint64_t bytes; /* of a decoded chunk */
    bool written;   /* a chunk that was never written fails */
};

/* What the chunk itself says: 12 bytes, the first 8 of which are the size. */
static airy_status check_header(const struct chunk_walk *w)
{
    uint8_t header[AIRY_CHUNK_HEADER_BYTES];
    const airy_probe *probe = w->probe;
    if (probe->length < sizeof(header) ||
        pread(probe->fd, header, sizeof(header), (off_t)probe->offset) != (ssize_t)sizeof(header))
        return AIRY_OK; /* cut: libhdf5 will say it */
    const uint64_t decoded = (uint64_t)airy_load_be32(header) << 32 | airy_load_be32(header + 4);
    AIRY_FAIL_IF(decoded != w->bytes, AIRY_ERR_CORRUPT,
                 "chunk header: %llu bytes decoded, expected %llu", (unsigned long long)decoded,
                 (unsigned long long)w->bytes);
    return AIRY_OK;
}

/* All of the box lies in one chunk. */
static bool covers(const struct chunk_walk *w)
{
    for (int axis = 0; axis < w->ndim; axis++)
        if (w->first[axis] != w->last[axis])
            return false;
    return true;
}

static airy_status check_chunk(const struct chunk_walk *w, const hsize_t *index)
{
    hsize_t offset[H5S_MAX_RANK];
    for (int axis = 0; axis < w->ndim; axis++)
        offset[axis] = index[axis] * w->chunk[axis];
    uint32_t mask = 0;
    const herr_t read = airy_probe_chunk(w->probe, w->dataset, offset, &mask);
    AIRY_FAIL_IF(w->written && read < 0 && is_missing(w->dataset, offset, NULL, 0),
                 AIRY_ERR_UNWRITTEN, "%s was never written",
                 covers(w) ? "the frame" : "a part of the frame");
    if (read < 0 || w->probe->hits == 0)
        return AIRY_OK; /* missing, or H5Dread will say why */
    /* Below its checksum's 4 bytes libhdf5 counts on from 2^64. */
    AIRY_FAIL_IF(w->probe->length < 4 &&
                     H5Pget_filter_by_id2(w->creation, H5Z_FILTER_FLETCHER32, &(unsigned){0},
                                          &(size_t){0}, NULL, 0, NULL, NULL) >= 0,
                 AIRY_ERR_CORRUPT,
                 "a stored chunk has %llu bytes, fewer than the 4 of its checksum",
                 (unsigned long long)w->probe->length);
    const uint64_t want = airy_filter_stored_bytes(w->creation, mask, w->bytes);
    AIRY_FAIL_IF(want != 0 && w->probe->length != want, AIRY_ERR_CORRUPT,
                 "a stored chunk has %llu bytes, expected %llu",
                 (unsigned long long)w->probe->length, (unsigned long long)want);
    AIRY_FAIL_IF(H5Pget_nfilters(w->creation) > 0 && w->probe->length > chunk_limit(w->bytes),
                 AIRY_ERR_CORRUPT,
                 "a stored chunk has %llu bytes, too many for the %llu of its shape",
                 (unsigned long long)w->probe->length, (unsigned long long)w->bytes);
    return w->probe->hits == 1 && airy_filter_framed(w->creation, mask) ? check_header(w) : AIRY_OK;
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

/* libhdf5 keeps a few hundred bytes for each chunk under a read, written or not. */
static airy_status check_count(const struct chunk_walk *w)
{
    uint64_t chunks = 1;
    bool overflow = false;
    for (int axis = 0; axis < w->ndim; axis++)
        overflow |= __builtin_mul_overflow(chunks, w->last[axis] - w->first[axis] + 1, &chunks);
    if (!overflow && chunks <= FREE_CHUNKS)
        return AIRY_OK;
    const size_t written = overflow || chunks > MAX_COUNTED ? SIZE_MAX : count_written(w->dataset);
    AIRY_FAIL_IF(overflow || chunks > MAX_COUNTED || written == SIZE_MAX ||
                     chunks / LOOKUPS_PER_CHUNK > written || written > w->probe->size,
                 AIRY_ERR_CORRUPT, "its shape has %llu chunks, of which %zu are written",
                 overflow ? ULLONG_MAX : (unsigned long long)chunks,
                 written == SIZE_MAX ? 0 : written);
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
        good = w->chunk[axis] > 0 && size > 0 &&
               !__builtin_mul_overflow(w->bytes, w->chunk[axis], &w->bytes);
        if (!good)
            break;
        w->first[axis] = from / w->chunk[axis];
        w->last[axis] = (from + size - 1) / w->chunk[axis];
    }
    return good;
}

static airy_status check_box(hid_t dataset, const hsize_t *start, const hsize_t *count,
                             bool written)
{
    struct chunk_walk w = {
        .dataset = dataset, .creation = H5Dget_create_plist(dataset), .written = written};
    airy_status status = AIRY_OK;
    const hid_t type = H5Dget_type(dataset);
    w.bytes = type < 0 ? 0 : H5Tget_size(type);
    if (w.creation >= 0 && H5Pget_layout(w.creation) == H5D_CHUNKED) {
        w.ndim = H5Pget_chunk(w.creation, H5S_MAX_RANK, w.chunk);
        w.probe = airy_probe_of(dataset);
        if (!w.probe || !find_box(&w, start, count))
            status =
                airy_fail(AIRY_ERR_CORRUPT, "the shape of the chunks does not fit the dataset");
        else if ((status = check_count(&w)) == AIRY_OK)
            status = walk_chunks(&w);
    }
    if (type >= 0)
        H5Tclose(type);
    if (w.creation >= 0)
        H5Pclose(w.creation);
    return status;
}

airy_status airy_chunk_check(hid_t dataset, const hsize_t *start, const hsize_t *count)
{
    return check_box(dataset, start, count, false);
}

airy_status airy_chunk_check_written(hid_t dataset, const hsize_t *start, const hsize_t *count)
{
    return check_box(dataset, start, count, true);
}

bool airy_chunk_is_unwritten(hid_t dataset, hid_t creation)
{
    size_t mappings;
    if (H5Pget_layout(creation) == H5D_VIRTUAL)
        return H5Pget_virtual_count(creation, &mappings) >= 0 && mappings == 0;
    return H5Pget_layout(creation) == H5D_CONTIGUOUS && H5Pget_external_count(creation) == 0 &&
           H5Dget_offset(dataset) == HADDR_UNDEF;
}

/* Chunks of the whole shape, written or not; UINT64_MAX where they cannot be counted. */
static uint64_t count_shape(hid_t dataset, hid_t creation)
{
    hsize_t shape[H5S_MAX_RANK], chunk[H5S_MAX_RANK];
    const hid_t space = H5Dget_space(dataset);
    const int ndim = space < 0 ? -1 : H5Sget_simple_extent_dims(space, shape, NULL);
    uint64_t chunks = 1;
    bool good = ndim >= 0 && H5Pget_chunk(creation, H5S_MAX_RANK, chunk) == ndim;
    for (int axis = 0; good && axis < ndim; axis++)
        good = chunk[axis] > 0 &&
               !__builtin_mul_overflow(
                   chunks, shape[axis] / chunk[axis] + (shape[axis] % chunk[axis] != 0), &chunks);
    if (space >= 0)
        H5Sclose(space);
    return good ? chunks : UINT64_MAX;
}

bool airy_chunk_all_written(hid_t dataset, hid_t creation)
{
    return H5Pget_layout(creation) != H5D_CHUNKED ||
           count_written(dataset) >= count_shape(dataset, creation);
}

uint64_t airy_chunk_stored_bytes(hid_t dataset)
{
    const hid_t creation = H5Dget_create_plist(dataset);
    uint64_t bytes = 0;
    if (creation >= 0 &&
        (H5Pget_layout(creation) != H5D_CHUNKED || count_shape(dataset, creation) <= MAX_SUMMED))
        bytes = H5Dget_storage_size(dataset);
    if (creation >= 0)
        H5Pclose(creation);
    return bytes;
}
