#include "io/hdf5/probe.h" /* hdf5.h with the right API version */

#include "io/hdf5/inflate.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/memory.h"
#include "base/size.h"
#include "io/hdf5/util.h"
#include "io/file/plain_file.h"

enum {
    MAX_BYTES = 1 << 30,  /* of a chunk: zlib counts in 32 bits */
    LEAST_BYTES = 1 << 16 /* of each of many chunks: looking up one takes some microseconds */
};

struct chunk {
    uint64_t offset;
    size_t stored, bytes; /* in the file, in memory */
    size_t elem_size;
    bool shuffled;
    int fd;
};

/*
 * Return whether chunks are compressed with deflate, with or without a shuffle before it. The file
 * states the shuffle's element size, which must be this one.
 */
static bool is_deflate(bool *shuffled, hid_t creation, size_t elem_size)
{
    const int filters = H5Pget_nfilters(creation);
    bool good = filters == 1 || filters == 2;
    for (int i = 0; i < filters && good; i++) {
        unsigned flags, size = 0;
        size_t values = 1;
        const H5Z_filter_t filter =
            H5Pget_filter2(creation, (unsigned)i, &flags, &values, &size, 0, NULL, NULL);
        good = i + 1 == filters ? filter == H5Z_FILTER_DEFLATE
                                : filter == H5Z_FILTER_SHUFFLE && values == 1 && size == elem_size;
    }
    *shuffled = filters == 2;
    return good;
}

static bool is_one_chunk(hid_t creation, const hsize_t *start, const hsize_t *count, size_t *bytes)
{
    hsize_t chunk[H5S_MAX_RANK];
    const int ndim =
        H5Pget_layout(creation) == H5D_CHUNKED ? H5Pget_chunk(creation, H5S_MAX_RANK, chunk) : 0;
    bool good = ndim > 0;
    for (int axis = 0; axis < ndim && good; axis++)
        good = chunk[axis] > 0 && chunk[axis] == count[axis] && start[axis] % chunk[axis] == 0 &&
               !airy_mul_size(bytes, *bytes, chunk[axis]);
    return good && *bytes <= MAX_BYTES;
}

static bool is_native(hid_t dataset, airy_dtype dtype)
{
    const hid_t type = H5Dget_type(dataset);
    const bool good = type >= 0 && H5Tequal(type, airy_hdf5_native(dtype)) > 0;
    if (type >= 0)
        H5Tclose(type);
    return good;
}

/* Where it lies, as the driver notes it; false where it was never written or a filter was left out. */
static bool locate(struct chunk *c, hid_t dataset, const hsize_t *start)
{
    airy_probe *probe = airy_probe_of(dataset);
    uint32_t mask = 0;
    if (!probe || airy_probe_chunk(probe, dataset, start, &mask) < 0 || probe->hits != 1 ||
        mask != 0 || probe->length == 0 || probe->length > MAX_BYTES ||
        probe->offset > probe->size || probe->length > probe->size - probe->offset)
        return false;
    c->offset = probe->offset;
    c->stored = (size_t)probe->length;
    c->fd = probe->fd;
    return true;
}

static airy_status inflate_all(uint8_t *out, const struct chunk *c, const uint8_t *packed)
{
    uint8_t more[16];
    z_stream stream = {.next_in = (Bytef *)packed,
                       .avail_in = (uInt)c->stored,
                       .next_out = out,
                       .avail_out = (uInt)c->bytes};
    AIRY_FAIL_IF(inflateInit(&stream) != Z_OK, AIRY_ERR_MEMORY, "zlib does not start");
    int code = inflate(&stream, Z_SYNC_FLUSH);
    if (code == Z_OK && stream.avail_out == 0) { /* nothing but the stream's end may follow */
        stream.next_out = more;
        stream.avail_out = sizeof(more);
        code = inflate(&stream, Z_SYNC_FLUSH);
    }
    const size_t got = stream.total_out;
    inflateEnd(&stream);
    AIRY_FAIL_IF(got > c->bytes, AIRY_ERR_CORRUPT,
                 "a chunk of %zu bytes unpacks to more than the %zu bytes of its shape", c->stored,
                 c->bytes);
    AIRY_FAIL_IF(code != Z_STREAM_END, AIRY_ERR_CORRUPT,
                 "a chunk of %zu bytes does not unpack: inflate() failed", c->stored);
    AIRY_FAIL_IF(got != c->bytes, AIRY_ERR_CORRUPT,
                 "a chunk unpacks to %zu bytes, expected the %zu of its shape", got, c->bytes);
    return AIRY_OK;
}

/* Byte k of all elements lies together. */
static void unshuffle(uint8_t *restrict out, const uint8_t *restrict in, size_t count, size_t size)
{
    for (size_t k = 0; k < size; k++)
        for (size_t i = 0; i < count; i++)
            out[i * size + k] = in[k * count + i];
}

static airy_status read_chunk(uint8_t *values, const struct chunk *c)
{
    const bool shuffled = c->shuffled && c->elem_size > 1;
    uint8_t *packed = malloc(c->stored), *plain = shuffled ? malloc(c->bytes) : values;
    airy_status status = packed && plain ? AIRY_OK
                                         : airy_fail(AIRY_ERR_MEMORY, "out of memory for a chunk");
    if (status == AIRY_OK)
        status = airy_file_pread(c->fd, packed, c->stored, c->offset);
    if (status == AIRY_OK)
        status = inflate_all(plain, c, packed);
    if (status == AIRY_OK && shuffled)
        unshuffle(values, plain, c->bytes / c->elem_size, c->elem_size);
    free(packed);
    if (shuffled)
        free(plain);
    return status;
}

airy_status airy_hdf5_inflate(bool *done, hid_t dataset, airy_dtype dtype, const hsize_t *start,
                              const hsize_t *count, void *values)
{
    struct chunk c = {.bytes = airy_dtype_size(dtype), .elem_size = airy_dtype_size(dtype)};
    const hid_t creation = H5Dget_create_plist(dataset);
    *done = creation >= 0 && is_deflate(&c.shuffled, creation, c.elem_size) &&
            is_one_chunk(creation, start, count, &c.bytes) && is_native(dataset, dtype) &&
            locate(&c, dataset, start);
    if (creation >= 0)
        H5Pclose(creation);
    return *done ? read_chunk(values, &c) : AIRY_OK;
}

/* A box by libhdf5. */
static herr_t read_box(hid_t dataset, airy_dtype dtype, int ndim, const hsize_t *start,
                       const hsize_t *count, void *values)
{
    const hid_t space = H5Dget_space(dataset), memory = H5Screate_simple(ndim, count, NULL);
    herr_t done = -1;
    if (space >= 0 && memory >= 0 &&
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0)
        done = airy_hdf5_read(dataset, dtype, memory, space, values);
    if (memory >= 0)
        H5Sclose(memory);
    if (space >= 0)
        H5Sclose(space);
    return done;
}

/* The leading axes along which a chunk has one element, those behind them whole; -1: others. */
static int find_lead(hsize_t *chunk, hid_t dataset, const airy_image *image)
{
    const hid_t creation = H5Dget_create_plist(dataset);
    bool shuffled;
    size_t bytes = airy_dtype_size(image->dtype);
    int lead = -1;
    if (creation >= 0 && is_deflate(&shuffled, creation, airy_dtype_size(image->dtype)) &&
        H5Pget_layout(creation) == H5D_CHUNKED &&
        H5Pget_chunk(creation, AIRY_MAX_DIMS, chunk) == image->ndim)
        lead = 0;
    while (lead >= 0 && lead < image->ndim && chunk[lead] == 1)
        lead++;
    for (int axis = lead < 0 ? 0 : lead; axis < image->ndim; axis++)
        if (chunk[axis] != image->shape[axis] || airy_mul_size(&bytes, bytes, image->shape[axis]))
            lead = -1;
    if (creation >= 0)
        H5Pclose(creation);
    return bytes >= LEAST_BYTES ? lead : -1;
}

airy_status airy_hdf5_inflate_all(bool *done, hid_t dataset, const airy_image *image)
{
    hsize_t start[H5S_MAX_RANK] = {0}, chunk[H5S_MAX_RANK] = {0};
    const int lead = find_lead(chunk, dataset, image);
    size_t count = 1, bytes = airy_dtype_size(image->dtype);
    *done = lead >= 0 && is_native(dataset, image->dtype);
    for (int axis = 0; *done && axis < image->ndim; axis++)
        *(axis < lead ? &count : &bytes) *= image->shape[axis];
    for (size_t i = 0; *done && i < count; i++) {
        uint8_t *to = (uint8_t *)image->data + i * bytes;
        size_t rest = i;
        for (int axis = lead - 1; axis >= 0; axis--) {
            start[axis] = rest % image->shape[axis];
            rest /= image->shape[axis];
        }
        bool unpacked;
        AIRY_TRY(airy_hdf5_inflate(&unpacked, dataset, image->dtype, start, chunk, to));
        if (!unpacked && read_box(dataset, image->dtype, image->ndim, start, chunk, to) < 0)
            return airy_hdf5_fail(airy_hdf5_failed_io() ? AIRY_ERR_IO : AIRY_ERR_CORRUPT,
                                  "libhdf5 cannot read it");
    }
    return AIRY_OK;
}
