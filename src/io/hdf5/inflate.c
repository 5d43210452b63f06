#include "io/hdf5/inflate.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "base/size.h"
#include "io/file/plain_file.h"
#include "io/hdf5/error.h"
#include "io/hdf5/type.h"

enum { MAX_FILTERS = 32, MAX_KEPT = 1024 };

struct airy_inflated_chunk {
    uint64_t offset, stored; /* where it lies in the file */
    hsize_t origin[H5S_MAX_RANK];
    uint8_t *values; /* NULL: it was looked at, and libhdf5 reads it */
    size_t bytes;
};

struct filter {
    H5Z_filter_t number;
    unsigned size; /* of an element, where it is a shuffle */
};

/* What is read of a dataset. */
struct reading {
    hid_t dataset, file_type, type;
    airy_probe *probe;
    struct filter filters[MAX_FILTERS]; /* in the order in which they were applied */
    int filter_count, ndim;
    bool ours;   /* there are no other filters than those undone here */
    bool box;    /* exactly this box is wanted, as all of the memory */
    bool native; /* memory has the file's type */
    hsize_t chunk[H5S_MAX_RANK], start[H5S_MAX_RANK], count[H5S_MAX_RANK];
    size_t elements, file_size, size; /* of a chunk; bytes of an element in the file, in memory */
    size_t bytes;                     /* of a chunk in the file's type */
};

struct buffer {
    uint8_t *data;
    size_t size;
};

/* A chunk in the file. */
struct packed {
    uint64_t offset, stored;
    uint32_t mask; /* of the filters that were left out */
};

static bool is_applied(const struct packed *c, int i)
{
    return !(c->mask >> i & 1);
}

/* Whether a filter before filter `end` was applied, or of these one of a number. */
static bool has_before(const struct reading *r, const struct packed *c, int end,
                       H5Z_filter_t number)
{
    for (int i = 0; i < end; i++)
        if (is_applied(c, i) && (number < 0 || r->filters[i].number == number))
            return true;
    return false;
}

static bool find_filters(struct reading *r, hid_t creation)
{
    bool deflate = false;
    r->filter_count = H5Pget_layout(creation) == H5D_CHUNKED ? H5Pget_nfilters(creation) : 0;
    r->ours = true;
    for (int i = 0; i < r->filter_count && i < MAX_FILTERS; i++) {
        unsigned flags, size = 0;
        size_t values = 1;
        struct filter *f = &r->filters[i];
        f->number = H5Pget_filter2(creation, (unsigned)i, &flags, &values, &size, 0, NULL, NULL);
        f->size = values > 0 ? size : 0;
        deflate |= f->number == H5Z_FILTER_DEFLATE;
        r->ours &= f->number == H5Z_FILTER_DEFLATE ||
                   (f->number == H5Z_FILTER_SHUFFLE && f->size > 0);
    }
    return deflate;
}

/* Numbers, and complex ones; texts of variable length libhdf5 alone can follow. */
static bool is_number(hid_t type)
{
    const H5T_class_t class = H5Tget_class(type);
    airy_dtype part;
    return class == H5T_INTEGER || class == H5T_FLOAT || class == H5T_ENUM ||
           airy_hdf5_is_complex(&part, type);
}

/* What is selected, as a box; exact: and nothing else in it. */
static bool find_box(struct reading *r, bool *exact, hid_t space)
{
    hsize_t last[H5S_MAX_RANK];
    const hid_t all = space == H5S_ALL ? H5Dget_space(r->dataset) : -1,
                chosen = space == H5S_ALL ? all : space;
    bool good = chosen >= 0 && H5Sget_simple_extent_ndims(chosen) == r->ndim &&
                H5Sget_select_npoints(chosen) > 0 &&
                H5Sget_select_bounds(chosen, r->start, last) >= 0;
    size_t points = 1;
    for (int axis = 0; good && axis < r->ndim; axis++) {
        r->count[axis] = last[axis] - r->start[axis] + 1;
        good = !airy_mul_size(&points, points, r->count[axis]);
    }
    *exact = good && (hssize_t)points == H5Sget_select_npoints(chosen);
    if (all >= 0)
        H5Sclose(all);
    return good;
}

/* Whether the values of a box are all of the memory. */
static bool fills(const struct reading *r, hid_t memory, hid_t space)
{
    size_t points = 1;
    for (int axis = 0; axis < r->ndim; axis++)
        points *= r->count[axis];
    if (memory == H5S_ALL)
        return space == H5S_ALL || H5Sget_simple_extent_npoints(space) == (hssize_t)points;
    return H5Sget_simple_extent_npoints(memory) == (hssize_t)points &&
           H5Sget_select_npoints(memory) == (hssize_t)points;
}

/* *deflate: false where there is nothing to do. type < 0: the chunks are looked at only. */
static airy_status find_reading(struct reading *r, bool *deflate, hid_t creation, hid_t memory,
                                hid_t space)
{
    *deflate = find_filters(r, creation) && (r->probe = airy_probe_of(r->dataset)) != NULL;
    if (!*deflate)
        return AIRY_OK;
    r->ndim = H5Pget_chunk(creation, H5S_MAX_RANK, r->chunk);
    r->elements = 1;
    bool good = r->ndim > 0 && r->filter_count <= MAX_FILTERS;
    for (int axis = 0; good && axis < r->ndim; axis++)
        good = r->chunk[axis] > 0 && !airy_mul_size(&r->elements, r->elements, r->chunk[axis]);
    r->file_size = H5Tget_size(r->file_type);
    AIRY_FAIL_IF(!good || r->file_size == 0 ||
                     airy_mul_size(&r->bytes, r->elements, r->file_size) || r->bytes > UINT32_MAX,
                 AIRY_ERR_CORRUPT, "the shape or the filters of its chunks make no sense");
    *deflate = find_box(r, &r->box, space); /* nothing is selected otherwise */
    for (int axis = 0; good && *deflate && axis < r->ndim; axis++)
        good = r->start[axis] <= UINT64_MAX - r->count[axis] &&
               r->start[axis] + r->count[axis] <= UINT64_MAX - r->chunk[axis];
    AIRY_FAIL_IF(!good, AIRY_ERR_CORRUPT, "its shape makes no sense");
    r->ours = r->ours && r->type >= 0 && is_number(r->file_type);
    r->box = r->box && r->ours && fills(r, memory, space);
    if (r->box) {
        r->size = H5Tget_size(r->type);
        r->native = H5Tequal(r->file_type, r->type) > 0;
    }
    return AIRY_OK;
}

/* False where it was never written, or where libhdf5 will say what is wrong. */
static bool locate(struct packed *c, const struct reading *r, const hsize_t *origin)
{
    airy_probe *probe = r->probe;
    if (airy_probe_chunk(probe, r->dataset, origin, &c->mask) < 0 || probe->hits != 1 ||
        probe->length == 0 || probe->length > UINT32_MAX || probe->offset > probe->size ||
        probe->length > probe->size - probe->offset)
        return false;
    c->offset = probe->offset;
    c->stored = probe->length;
    return true;
}

/* Bytes that filter i was given: exactly, or where others stand before it at most. */
static size_t find_limit(bool *exact, const struct reading *r, const struct packed *c, int i)
{
    size_t bytes = r->bytes;
    *exact = true;
    for (int k = 0; k < i; k++) {
        if (!is_applied(c, k))
            continue;
        bytes += r->filters[k].number == H5Z_FILTER_FLETCHER32 ? 4 : 0;
        *exact = *exact && (r->filters[k].number == H5Z_FILTER_FLETCHER32 ||
                            r->filters[k].number == H5Z_FILTER_SHUFFLE);
    }
    return airy_min_size(*exact ? bytes : 2 * bytes + 4096, UINT32_MAX);
}

static airy_status inflate_all(uint8_t *out, size_t *got, size_t limit, const struct buffer *packed)
{
    uint8_t more[16];
    z_stream stream = {.next_in = packed->data,
                       .avail_in = (uInt)packed->size,
                       .next_out = out,
                       .avail_out = (uInt)limit};
    AIRY_FAIL_IF(inflateInit(&stream) != Z_OK, AIRY_ERR_MEMORY, "zlib does not start");
    int code = inflate(&stream, Z_SYNC_FLUSH);
    if (code == Z_OK && stream.avail_out == 0) { /* nothing but the stream's end may follow */
        stream.next_out = more;
        stream.avail_out = sizeof(more);
        code = inflate(&stream, Z_SYNC_FLUSH);
    }
    *got = stream.total_out;
    inflateEnd(&stream);
    AIRY_FAIL_IF(*got > limit, AIRY_ERR_CORRUPT,
                 "a chunk of %zu bytes unpacks to more than the %zu bytes of its shape",
                 packed->size, limit);
    AIRY_FAIL_IF(code != Z_STREAM_END, AIRY_ERR_CORRUPT,
                 "a chunk of %zu bytes does not unpack: inflate() failed", packed->size);
    return AIRY_OK;
}

/* The buffer is replaced by one of its own, or by `to`. */
static airy_status undo_deflate(struct buffer *b, size_t limit, bool exact, uint8_t *to)
{
    uint8_t *out = to ? to : malloc(limit);
    size_t got = 0;
    AIRY_FAIL_IF(!out, AIRY_ERR_MEMORY, "out of memory for a chunk of %zu bytes", limit);
    airy_status status = inflate_all(out, &got, limit, b);
    if (status == AIRY_OK && exact && got != limit)
        status = airy_fail(AIRY_ERR_CORRUPT,
                           "a chunk unpacks to %zu bytes, expected the %zu of its shape", got,
                           limit);
    free(status == AIRY_OK ? b->data : out == to ? NULL : out);
    if (status == AIRY_OK)
        *b = (struct buffer){out, got};
    return status;
}

/* Byte k of all elements lies together; what is left behind the last one stays. */
static airy_status undo_shuffle(struct buffer *b, size_t size, uint8_t *to)
{
    const size_t count = b->size / size;
    uint8_t *out = to ? to : malloc(b->size);
    AIRY_FAIL_IF(!out, AIRY_ERR_MEMORY, "out of memory for a chunk of %zu bytes", b->size);
    for (size_t k = 0; k < size; k++) {
        const uint8_t *restrict in = b->data + k * count;
        uint8_t *restrict byte = out + k;
        for (size_t i = 0; i < count; i++)
            byte[i * size] = in[i];
    }
    memcpy(out + count * size, b->data + count * size, b->size - count * size);
    free(b->data);
    b->data = out;
    return AIRY_OK;
}

/* Undo the filters, the last one first; where they are not all ours as far as the first deflate. */
static airy_status undo(struct buffer *b, const struct reading *r, const struct packed *c,
                        uint8_t *target)
{
    for (int i = r->filter_count - 1; i >= 0; i--) {
        const struct filter *f = &r->filters[i];
        if (!is_applied(c, i))
            continue;
        if (!r->ours && !has_before(r, c, i + 1, H5Z_FILTER_DEFLATE))
            break;
        bool exact;
        uint8_t *to = target && !has_before(r, c, i, -1) ? target : NULL;
        const size_t limit = find_limit(&exact, r, c, i);
        if (f->number == H5Z_FILTER_DEFLATE)
            AIRY_TRY(undo_deflate(b, limit, exact, to));
        else if (f->number == H5Z_FILTER_SHUFFLE && to && b->size != r->bytes)
            break;
        else if (f->number == H5Z_FILTER_SHUFFLE && f->size > 0)
            AIRY_TRY(undo_shuffle(b, f->size, to));
        else if (f->number == H5Z_FILTER_FLETCHER32 && b->size >= 4)
            b->size -= 4;
        else
            return airy_fail(AIRY_ERR_UNSUPPORTED,
                             "its chunks have filter %d behind deflate, and how far that unpacks "
                             "cannot be determined; write them with deflate as the last filter",
                             (int)f->number);
    }
    AIRY_FAIL_IF(r->ours && b->size != r->bytes, AIRY_ERR_CORRUPT,
                 "a chunk has %zu bytes, expected the %zu of its shape", b->size, r->bytes);
    return AIRY_OK;
}

/* The chunk's bytes: in target, or without one in memory of their own. */
static airy_status unpack(uint8_t **values, const struct reading *r, const struct packed *c,
                          uint8_t *target)
{
    struct buffer b = {malloc((size_t)c->stored), (size_t)c->stored};
    AIRY_FAIL_IF(!b.data, AIRY_ERR_MEMORY, "out of memory for a chunk of %zu bytes", b.size);
    airy_status status = airy_file_pread(r->probe->fd, b.data, b.size, c->offset);
    if (status == AIRY_OK)
        status = undo(&b, r, c, target);
    if (status == AIRY_OK && target && b.data != target)
        memcpy(target, b.data, r->bytes); /* no filter was applied */
    *values = status == AIRY_OK && !target ? b.data : NULL;
    free(*values || b.data == target ? NULL : b.data);
    return status;
}

static airy_status convert(uint8_t **values, const struct reading *r)
{
    size_t bytes;
    AIRY_FAIL_IF(airy_mul_size(&bytes, r->elements, airy_max_size(r->size, r->file_size)),
                 AIRY_ERR_MEMORY, "a chunk of more bytes than an address can count");
    uint8_t *larger = realloc(*values, bytes), *background = calloc(r->elements, r->size);
    *values = larger ? larger : *values;
    airy_status status = AIRY_OK;
    if (!larger || !background)
        status = airy_fail(AIRY_ERR_MEMORY, "out of memory for a chunk of %zu bytes", bytes);
    else if (H5Tconvert(r->file_type, r->type, r->elements, larger, background, H5P_DEFAULT) < 0)
        status =
            airy_hdf5_fail(AIRY_ERR_CORRUPT, AIRY_SUBJECT_NONE, "its values cannot be converted");
    free(background);
    return status;
}

void airy_inflated_free(struct airy_inflated *kept)
{
    for (size_t i = 0; i < kept->count; i++)
        free(kept->chunks[i].values);
    free(kept->chunks);
    *kept = (struct airy_inflated){.room = kept->room};
}

/* Find a chunk among those that are kept, and make it the last one. */
static struct airy_inflated_chunk *find_kept(struct airy_inflated *kept, const struct reading *r,
                                             const struct packed *c, const hsize_t *origin)
{
    for (size_t i = kept->count; i-- > 0;) {
        const struct airy_inflated_chunk found = kept->chunks[i];
        if (found.offset != c->offset || found.stored != c->stored ||
            memcmp(found.origin, origin, (size_t)r->ndim * sizeof(*origin)) != 0)
            continue;
        memmove(&kept->chunks[i], &kept->chunks[i + 1], (kept->count - 1 - i) * sizeof(found));
        kept->chunks[kept->count - 1] = found;
        return &kept->chunks[kept->count - 1];
    }
    return NULL;
}

/* Whether a chunk that libhdf5 reads was looked at: looking again throws it out of its cache. */
static bool is_known(const struct airy_inflated *kept, const struct reading *r,
                     const hsize_t *origin)
{
    for (size_t i = kept->count; i-- > 0;)
        if (memcmp(kept->chunks[i].origin, origin, (size_t)r->ndim * sizeof(*origin)) == 0)
            return true;
    return false;
}

/* Let go of the oldest ones until there is room. */
static void make_room(struct airy_inflated *kept, size_t bytes)
{
    size_t dropped = 0;
    while (dropped < kept->count && (kept->room == 0 || kept->bytes + bytes > kept->room ||
                                     kept->count - dropped >= MAX_KEPT)) {
        kept->bytes -= kept->chunks[dropped].bytes;
        free(kept->chunks[dropped++].values);
    }
    kept->count -= dropped;
    if (dropped > 0)
        memmove(kept->chunks, kept->chunks + dropped, kept->count * sizeof(*kept->chunks));
}

/* Unpack a chunk, or where libhdf5 reads it see how far it unpacks, and keep it. */
static airy_status keep(struct airy_inflated_chunk **chunk, struct airy_inflated *kept,
                        const struct reading *r, const struct packed *c, const hsize_t *origin)
{
    struct airy_inflated_chunk new = {.offset = c->offset, .stored = c->stored};
    new.bytes = r->box ? r->elements *airy_max_size(r->size, r->file_size) : 0;
    make_room(kept, new.bytes);
    void *larger = realloc(kept->chunks, (kept->count + 1) * sizeof(*kept->chunks));
    AIRY_FAIL_IF(!larger, AIRY_ERR_MEMORY, "out of memory for the chunks that are kept");
    kept->chunks = larger;
    memcpy(new.origin, origin, (size_t)r->ndim * sizeof(*origin));
    airy_status status = unpack(&new.values, r, c, NULL);
    if (status == AIRY_OK && r->box && !r->native)
        status = convert(&new.values, r);
    if (status != AIRY_OK || !r->box) {
        free(new.values);
        new.values = NULL;
    }
    AIRY_TRY(status);
    kept->bytes += new.bytes;
    kept->chunks[kept->count] = new;
    *chunk = &kept->chunks[kept->count++];
    return AIRY_OK;
}

/* Of a chunk and the box. */
struct part {
    hsize_t first[H5S_MAX_RANK], count[H5S_MAX_RANK];
};

static void intersect(struct part *part, const struct reading *r, const hsize_t *origin)
{
    for (int axis = 0; axis < r->ndim; axis++) {
        const hsize_t end = r->start[axis] + r->count[axis], edge = origin[axis] + r->chunk[axis];
        part->first[axis] = origin[axis] > r->start[axis] ? origin[axis] : r->start[axis];
        part->count[axis] = (edge < end ? edge : end) - part->first[axis];
    }
}

/* The number of an element of a box, in C order. */
static size_t number_of(const hsize_t *at, const hsize_t *start, const hsize_t *count, int ndim)
{
    size_t number = 0;
    for (int axis = 0; axis < ndim; axis++)
        number = number * (size_t)count[axis] + (size_t)(at[axis] - start[axis]);
    return number;
}

/* Where a whole chunk goes if it lies in one piece there; else NULL. */
static uint8_t *find_target(const struct reading *r, const struct part *part, uint8_t *values)
{
    int lead = 0;
    while (lead < r->ndim && r->chunk[lead] == 1)
        lead++;
    bool whole = r->native;
    for (int axis = 0; axis < r->ndim; axis++)
        whole = whole && part->count[axis] == r->chunk[axis] &&
                (axis <= lead || r->chunk[axis] == r->count[axis]);
    return whole ? values + number_of(part->first, r->start, r->count, r->ndim) * r->size : NULL;
}

static void copy(uint8_t *values, const uint8_t *chunk, const struct reading *r,
                 const struct part *part, const hsize_t *origin)
{
    hsize_t at[H5S_MAX_RANK];
    const int last = r->ndim - 1;
    memcpy(at, part->first, (size_t)r->ndim * sizeof(*at));
    for (int axis = 0; axis >= 0;) {
        memcpy(values + number_of(at, r->start, r->count, r->ndim) * r->size,
               chunk + number_of(at, origin, r->chunk, r->ndim) * r->size,
               (size_t)part->count[last] * r->size);
        for (axis = last - 1; axis >= 0; axis--) {
            if (++at[axis] < part->first[axis] + part->count[axis])
                break;
            at[axis] = part->first[axis];
        }
    }
}

/* By libhdf5: a part that was never written, or of which it will say what is wrong. */
static airy_status read_part(uint8_t *values, const struct reading *r, const struct part *part)
{
    hsize_t to[H5S_MAX_RANK];
    for (int axis = 0; axis < r->ndim; axis++)
        to[axis] = part->first[axis] - r->start[axis];
    const hid_t space = H5Dget_space(r->dataset),
                memory = H5Screate_simple(r->ndim, r->count, NULL);
    airy_status status = AIRY_OK;
    if (space < 0 || memory < 0 ||
        H5Sselect_hyperslab(space, H5S_SELECT_SET, part->first, NULL, part->count, NULL) < 0 ||
        H5Sselect_hyperslab(memory, H5S_SELECT_SET, to, NULL, part->count, NULL) < 0 ||
        H5Dread(r->dataset, r->type, memory, space, H5P_DEFAULT, values) < 0)
        status = airy_hdf5_fail(airy_hdf5_failed_io() ? AIRY_ERR_IO : AIRY_ERR_CORRUPT,
                                AIRY_SUBJECT_NONE, "libhdf5 cannot read it");
    if (memory >= 0)
        H5Sclose(memory);
    if (space >= 0)
        H5Sclose(space);
    return status;
}

static airy_status read_chunk(uint8_t *values, struct airy_inflated *kept, const struct reading *r,
                              const hsize_t *origin)
{
    struct packed c;
    struct part part;
    uint8_t *nothing;
    if (!r->box && is_known(kept, r, origin))
        return AIRY_OK;
    intersect(&part, r, origin);
    if (!locate(&c, r, origin))
        return r->box ? read_part(values, r, &part) : AIRY_OK;
    uint8_t *target = r->box ? find_target(r, &part, values) : NULL;
    if (target)
        return unpack(&nothing, r, &c, target);
    struct airy_inflated_chunk *chunk = find_kept(kept, r, &c, origin);
    if (!chunk)
        AIRY_TRY(keep(&chunk, kept, r, &c, origin));
    if (r->box)
        copy(values, chunk->values, r, &part, origin);
    return AIRY_OK;
}

static airy_status read_chunks(uint8_t *values, struct airy_inflated *kept, const struct reading *r)
{
    hsize_t first[H5S_MAX_RANK], origin[H5S_MAX_RANK];
    for (int axis = 0; axis < r->ndim; axis++)
        origin[axis] = first[axis] = r->start[axis] - r->start[axis] % r->chunk[axis];
    for (int axis = 0; axis >= 0;) {
        AIRY_TRY(read_chunk(values, kept, r, origin));
        for (axis = r->ndim - 1; axis >= 0; axis--) {
            origin[axis] += r->chunk[axis];
            if (origin[axis] < r->start[axis] + r->count[axis])
                break;
            origin[axis] = first[axis];
        }
    }
    return AIRY_OK;
}

airy_status airy_hdf5_inflate(bool *done, struct airy_inflated *kept, hid_t dataset, hid_t type,
                              hid_t memory, hid_t space, void *values)
{
    struct reading r = {.dataset = dataset, .type = type, .file_type = H5Dget_type(dataset)};
    struct airy_inflated own = {0};
    const hid_t creation = H5Dget_create_plist(dataset);
    bool deflate = false;
    airy_status status = AIRY_OK;
    if (creation >= 0 && r.file_type >= 0)
        status = find_reading(&r, &deflate, creation, memory, space);
    if (status == AIRY_OK && deflate)
        status = read_chunks(values, kept ? kept : &own, &r);
    airy_inflated_free(&own);
    if (creation >= 0)
        H5Pclose(creation);
    if (r.file_type >= 0)
        H5Tclose(r.file_type);
    *done = deflate && r.box;
    return status;
}

airy_status airy_hdf5_inflate_check(hid_t dataset, const hsize_t *start, const hsize_t *count)
{
    bool done;
    const hid_t space = start ? H5Dget_space(dataset) : H5S_ALL;
    const airy_status status =
        start && (space < 0 ||
                  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) < 0)
            ? airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_NONE, "its shape cannot be read")
            : airy_hdf5_inflate(&done, NULL, dataset, -1, H5S_ALL, space, NULL);
    if (start && space >= 0)
        H5Sclose(space);
    return status;
}
