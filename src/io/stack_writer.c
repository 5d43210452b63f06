#include <errno.h>
#include <stdio.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/stack.h"
#include "base/geometry_fields.h"
#include "base/memory.h"
#include "base/size.h"
#include "codec/chunks.h"
#include "io/file_sink.h"
#include "io/hdf5_put.h"
#include "io/plain_file.h"
#include "io/writeback.h"

enum { METADATA_BYTES = 64 << 10 };

struct airy_stack_writer {
    char *path, *partial, *dataset_name;
    bool force, created, finished; /* created: the partial file is ours */
    struct airy_sink sink;
    hid_t file, dataset;       /* -1: not open */
    int bytes;                 /* the file once more, for airy_stack_writer_put; -1: not open */
    airy_writeback *writeback; /* of bytes */
    size_t frames, frame_bytes, chunk_bound;
    uint8_t *added, *placed; /* one bit a frame */
    airy_codec_params codec;
};

static airy_status check_params(airy_stack_writer *w, const airy_stack_writer_params *p)
{
    const size_t size = airy_dtype_size(p->dtype);
    AIRY_FAIL_IF(size == 0, AIRY_ERR_DTYPE, "stack writer: dtype = %d is not known", (int)p->dtype);
    AIRY_FAIL_IF(p->frames == 0 || airy_mul_size(&w->frame_bytes, p->height, p->width) ||
                     airy_mul_size(&w->frame_bytes, w->frame_bytes, size) || w->frame_bytes == 0,
                 AIRY_ERR_PARAM, "stack writer: %zu frames of %zu x %zu pixels", p->frames,
                 p->height, p->width);
    AIRY_FAIL_IF(w->frame_bytes >= UINT32_MAX, AIRY_ERR_UNSUPPORTED,
                 "stack writer: a frame of %zu bytes, HDF5 chunks have fewer than %u",
                 w->frame_bytes, UINT32_MAX);
    w->frames = p->frames;
    w->codec = p->codec;
    if (w->codec.elem_size == 0)
        w->codec.elem_size = (uint32_t)size;
    AIRY_FAIL_IF(w->codec.elem_size != size && w->codec.codec != AIRY_CODEC_LZ4, AIRY_ERR_PARAM,
                 "stack writer: codec's element size = %u, expected %zu of %s", w->codec.elem_size,
                 size, airy_dtype_name(p->dtype));
    airy_block_layout layout;
    AIRY_TRY(airy_block_layout_make(&layout, w->frame_bytes, &w->codec));
    w->chunk_bound = airy_encode_bound(w->frame_bytes, &w->codec);
    AIRY_FAIL_IF(p->dataset && p->dataset[0] != '/', AIRY_ERR_PARAM,
                 "stack writer: dataset '%s', expected a path from /", p->dataset);
    return AIRY_OK;
}

static herr_t set_filter(hid_t creation, const airy_codec_params *codec)
{
    const unsigned block = codec->block_bytes / codec->elem_size; /* 0: the default */
    const unsigned lz4[1] = {codec->block_bytes};
    const unsigned bitshuffle[2] = {block,
                                    codec->codec == AIRY_CODEC_BSLZ4 ? AIRY_BITSHUFFLE_LZ4 : 0};
    switch (codec->codec) {
    case AIRY_CODEC_BSLZ4:
    case AIRY_CODEC_BSHUF: /* set_local of the filter puts version and element size before these */
        return H5Pset_filter(creation, AIRY_FILTER_BITSHUFFLE, H5Z_FLAG_MANDATORY, 2, bitshuffle);
    case AIRY_CODEC_LZ4:
        return H5Pset_filter(creation, AIRY_FILTER_LZ4, H5Z_FLAG_MANDATORY, 1, lz4);
    default:
        return 0;
    }
}

static herr_t put_frames(airy_stack_writer *w, const airy_stack_writer_params *p)
{
    const hsize_t shape[3] = {p->frames, p->height, p->width}, chunk[3] = {1, p->height, p->width};
    const hid_t creation = airy_put_creation(), links = H5Pcreate(H5P_LINK_CREATE);
    const hid_t space = H5Screate_simple(3, shape, NULL);
    if (creation >= 0 && links >= 0 && space >= 0 && H5Pset_chunk(creation, 3, chunk) >= 0 &&
        set_filter(creation, &w->codec) >= 0 && H5Pset_create_intermediate_group(links, 1) >= 0)
        w->dataset = H5Dcreate2(w->file, w->dataset_name, airy_hdf5_native(p->dtype), space, links,
                                creation, H5P_DEFAULT);
    if (creation >= 0)
        H5Pclose(creation);
    if (links >= 0)
        H5Pclose(links);
    if (space >= 0)
        H5Sclose(space);
    return w->dataset < 0 ? -1 : airy_put_text(w->dataset, "interpretation", "image");
}

/*
 * The filter completes its parameters itself; one of the program's own might do so in another way
 * than readers expect.
 */
static airy_status check_filter(const airy_stack_writer *w)
{
    airy_codec_params found;
    bool exact = false;
    const hid_t creation = H5Dget_create_plist(w->dataset);
    if (creation >= 0) {
        airy_filter_codec(&found, &exact, creation);
        H5Pclose(creation);
    }
    const bool shuffled = w->codec.codec == AIRY_CODEC_BSLZ4 || w->codec.codec == AIRY_CODEC_BSHUF;
    AIRY_FAIL_IF(!exact || found.codec != w->codec.codec ||
                     (shuffled && (found.elem_size != w->codec.elem_size ||
                                   found.block_bytes != w->codec.block_bytes)),
                 AIRY_ERR_UNSUPPORTED,
                 "'%s': the filter registered with libhdf5 for codec %s sets other parameters",
                 w->path, airy_codec_name(w->codec.codec));
    return AIRY_OK;
}

/* What makes viewers show the frames at once. */
static herr_t put_classes(airy_stack_writer *w, bool usual_place)
{
    if (airy_put_text(w->file, "NX_class", "NXroot") < 0)
        return -1;
    if (!usual_place)
        return 0;
    const hid_t entry = H5Gopen2(w->file, "/entry", H5P_DEFAULT),
                data = H5Gopen2(w->file, "/entry/data", H5P_DEFAULT);
    const bool done = entry >= 0 && data >= 0 && airy_put_text(w->file, "default", "entry") >= 0 &&
                      airy_put_text(entry, "NX_class", "NXentry") >= 0 &&
                      airy_put_text(entry, "default", "data") >= 0 &&
                      airy_put_text(data, "NX_class", "NXdata") >= 0 &&
                      airy_put_text(data, "signal", "data") >= 0;
    if (data >= 0)
        H5Gclose(data);
    if (entry >= 0)
        H5Gclose(entry);
    return done ? 0 : -1;
}

static herr_t put_mask(hid_t detector, const airy_stack_writer_params *p)
{
    const hsize_t shape[2] = {p->height, p->width};
    const hid_t creation = airy_put_creation(), space = H5Screate_simple(2, shape, NULL);
    hid_t mask = -1;
    if (creation >= 0 && space >= 0 && H5Pset_chunk(creation, 2, shape) >= 0 &&
        (H5Zfilter_avail(H5Z_FILTER_DEFLATE) <= 0 || H5Pset_deflate(creation, 1) >= 0))
        mask = H5Dcreate2(detector, "pixel_mask", H5T_STD_U32LE, space, H5P_DEFAULT, creation,
                          H5P_DEFAULT);
    herr_t done =
        mask < 0 ? -1 : H5Dwrite(mask, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, p->mask);
    if (mask >= 0)
        H5Dclose(mask);
    if (creation >= 0)
        H5Pclose(creation);
    if (space >= 0)
        H5Sclose(space);
    return done;
}

/*
 * All of the geometry, exactly; read back before the fields of a detector that cannot say a
 * rotation.
 */
static herr_t put_poni(hid_t detector, const airy_geometry *g)
{
    const hid_t poni = airy_put_group(detector, "poni", "NXcollection");
    if (poni < 0)
        return -1;
    bool done = airy_put_string(poni, "detector", g->detector.name) >= 0 &&
                airy_put_double(poni, "orientation", g->detector.orientation, NULL) >= 0;
    for (size_t i = 0; i < AIRY_GEOMETRY_FIELDS && done; i++) {
        const struct airy_geometry_field *field = &airy_geometry_fields[i];
        done = airy_put_double(poni, field->name, airy_geometry_get(g, field), field->units) >= 0;
    }
    H5Gclose(poni);
    return done ? 0 : -1;
}

static herr_t put_geometry(hid_t instrument, hid_t detector, const airy_geometry *g)
{
    if (airy_put_string(detector, "description", g->detector.name) < 0 ||
        airy_put_double(detector, "x_pixel_size", g->detector.pixel2, "m") < 0 ||
        airy_put_double(detector, "y_pixel_size", g->detector.pixel1, "m") < 0 ||
        put_poni(detector, g) < 0)
        return -1;
    if (g->wavelength > 0) {
        const hid_t beam = airy_put_group(instrument, "beam", "NXbeam");
        const herr_t done = beam < 0 ? -1
                                     : airy_put_double(beam, "incident_wavelength",
                                                       g->wavelength * 1e10, "angstrom");
        if (beam >= 0)
            H5Gclose(beam);
        if (done < 0)
            return done;
    }
    const bool straight = g->rot1 == 0 && g->rot2 == 0 && g->rot3 == 0 &&
                          (g->detector.orientation == 0 || g->detector.orientation == 3);
    if (!straight || g->detector.pixel1 <= 0 || g->detector.pixel2 <= 0)
        return 0;
    return airy_put_double(detector, "beam_center_x", g->poni2 / g->detector.pixel2, "pixel") < 0 ||
                   airy_put_double(detector, "beam_center_y", g->poni1 / g->detector.pixel1,
                                   "pixel") < 0 ||
                   airy_put_double(detector, "detector_distance", g->dist, "m") < 0
               ? -1
               : 0;
}

static herr_t put_instrument(airy_stack_writer *w, const airy_stack_writer_params *p)
{
    if (!p->geometry && !p->mask)
        return 0;
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    hid_t instrument = -1, detector = -1;
    herr_t done = -1;
    if (links >= 0 && H5Pset_create_intermediate_group(links, 1) >= 0)
        instrument = H5Gcreate2(w->file, "/entry/instrument", links, H5P_DEFAULT, H5P_DEFAULT);
    if (instrument >= 0 && airy_put_text(instrument, "NX_class", "NXinstrument") >= 0)
        detector = airy_put_group(instrument, "detector", "NXdetector");
    if (detector >= 0)
        done = p->mask ? put_mask(detector, p) : 0;
    if (done >= 0 && p->geometry)
        done = put_geometry(instrument, detector, p->geometry);
    if (detector >= 0)
        H5Gclose(detector);
    if (instrument >= 0)
        H5Gclose(instrument);
    if (links >= 0)
        H5Pclose(links);
    return done;
}

static airy_status open_file(airy_stack_writer *w, const airy_stack_writer_params *p)
{
    AIRY_FAIL_IF(!w->force && access(w->path, F_OK) == 0, AIRY_ERR_EXISTS, "'%s' is there already",
                 w->path);
    AIRY_TRY(airy_hdf5_lock());
    airy_status status = airy_sink_create(&w->file, &w->sink, w->partial, METADATA_BYTES);
    w->created = status == AIRY_OK;
    const bool usual_place = strcmp(w->dataset_name, "/entry/data/data") == 0;
    if (status == AIRY_OK &&
        (put_frames(w, p) < 0 || put_instrument(w, p) < 0 || put_classes(w, usual_place) < 0))
        status = airy_hdf5_fail(AIRY_ERR_IO, "cannot lay out '%s'", w->partial);
    if (status == AIRY_OK)
        status = check_filter(w);
    if (w->sink.error)
        status = airy_sink_result(&w->sink, w->partial);
    airy_hdf5_unlock();
    AIRY_TRY(status);
    w->bytes = open(w->partial, O_WRONLY | O_CLOEXEC);
    AIRY_FAIL_IF(w->bytes < 0, AIRY_ERR_IO, "cannot open '%s': %s", w->partial, strerror(errno));
    w->writeback = airy_writeback_start(w->bytes);
    return AIRY_OK;
}

airy_status airy_stack_writer_create(airy_stack_writer **writer, const char *path,
                                     const airy_stack_writer_params *params)
{
    AIRY_FAIL_IF(!writer || !path || !*path || !params, AIRY_ERR_PARAM,
                 "airy_stack_writer_create: an argument is NULL");
    airy_stack_writer *w;
    AIRY_TRY(airy_memory_calloc((void **)&w, 1, sizeof(*w), "a stack writer"));
    w->file = w->dataset = w->bytes = -1;
    w->force = params->force;
    w->path = strdup(path);
    w->dataset_name = strdup(params->dataset ? params->dataset : "/entry/data/data");
    airy_status status = w->path && w->dataset_name
                             ? AIRY_OK
                             : airy_fail(AIRY_ERR_MEMORY, "out of memory for a path");
    if (status == AIRY_OK)
        status = check_params(w, params);
    if (status == AIRY_OK)
        status = airy_file_unique(&w->partial, path);
    if (status == AIRY_OK)
        status =
            airy_memory_calloc((void **)&w->added, w->frames / 8 + 1, 1, "the frames of a stack");
    if (status == AIRY_OK)
        status =
            airy_memory_calloc((void **)&w->placed, w->frames / 8 + 1, 1, "the frames of a stack");
    if (status == AIRY_OK)
        status = open_file(w, params);
    if (status != AIRY_OK) {
        airy_stack_writer_destroy(&w);
        return status;
    }
    *writer = w;
    return AIRY_OK;
}

/* A chunk that no reader could decode is refused here, where its maker can be found. */
static airy_status check_chunk(const airy_stack_writer *w, size_t frame, const void *chunk,
                               size_t size)
{
    const airy_codec codec = w->codec.codec;
    if (codec == AIRY_CODEC_NONE || codec == AIRY_CODEC_BSHUF) {
        AIRY_FAIL_IF(size != w->frame_bytes, AIRY_ERR_PARAM, "frame %zu: %zu bytes, expected %zu",
                     frame, size, w->frame_bytes);
        return AIRY_OK;
    }
    uint64_t decoded = 0;
    uint32_t block;
    AIRY_FAIL_IF(size > w->chunk_bound, AIRY_ERR_PARAM,
                 "frame %zu: a chunk of %zu bytes, expected at most %zu", frame, size,
                 w->chunk_bound);
    const airy_status status =
        airy_chunk_header(&decoded, &block, chunk, size, codec, w->codec.elem_size);
    if (status != AIRY_OK)
        return airy_fail_context(AIRY_ERR_PARAM, "frame %zu", frame);
    AIRY_FAIL_IF(decoded != w->frame_bytes, AIRY_ERR_PARAM,
                 "frame %zu: its chunk decodes to %llu bytes, expected %zu", frame,
                 (unsigned long long)decoded, w->frame_bytes);
    return AIRY_OK;
}

airy_status airy_stack_writer_place(airy_stack_writer *writer, size_t frame, const void *chunk,
                                    size_t size, airy_frame_place *place)
{
    AIRY_FAIL_IF(!writer || !chunk || !place || writer->dataset < 0, AIRY_ERR_PARAM,
                 "airy_stack_writer_place: no open writer, no chunk or no place");
    AIRY_FAIL_IF(frame >= writer->frames, AIRY_ERR_PARAM, "frame = %zu, the stack has %zu", frame,
                 writer->frames);
    AIRY_TRY(check_chunk(writer, frame, chunk, size));
    AIRY_TRY(airy_hdf5_lock());
    const uint8_t bit = (uint8_t)(1u << frame % 8);
    if (writer->placed[frame / 8] & bit) {
        airy_hdf5_unlock();
        return airy_fail(AIRY_ERR_PARAM, "frame %zu has its place already", frame);
    }
    const hsize_t offset[3] = {frame, 0, 0};
    airy_status status = AIRY_OK;
    writer->placed[frame / 8] |= bit;
    airy_sink_hold(&writer->sink, chunk, size);
    if (H5Dwrite_chunk(writer->dataset, H5P_DEFAULT, 0, offset, size, chunk) < 0)
        status =
            airy_hdf5_fail(AIRY_ERR_IO, "cannot write frame %zu of '%s'", frame, writer->partial);
    *place = (airy_frame_place){.frame = frame, .size = size};
    place->written = !airy_sink_held(&writer->sink, &place->offset);
    if (writer->sink.error)
        status = airy_sink_result(&writer->sink, writer->partial);
    airy_hdf5_unlock();
    return status;
}

airy_status airy_stack_writer_put(airy_stack_writer *writer, const airy_frame_place *place,
                                  const void *chunk, size_t size)
{
    AIRY_FAIL_IF(!writer || !chunk || !place || writer->bytes < 0, AIRY_ERR_PARAM,
                 "airy_stack_writer_put: no open writer, no chunk or no place");
    AIRY_FAIL_IF(place->frame >= writer->frames || size != place->size, AIRY_ERR_PARAM,
                 "frame = %zu of %zu bytes, the stack has %zu, and %zu bytes were placed",
                 place->frame, size, writer->frames, place->size);
    if (!place->written) {
        const airy_status status = airy_file_pwrite(writer->bytes, chunk, size, place->offset);
        if (status != AIRY_OK)
            return airy_fail_context(status, "'%s'", writer->partial);
        airy_writeback_add(writer->writeback, place->offset, place->offset + size);
    }
    __atomic_fetch_or(&writer->added[place->frame / 8], (uint8_t)(1u << place->frame % 8),
                      __ATOMIC_RELAXED);
    return AIRY_OK;
}

airy_status airy_stack_writer_add(airy_stack_writer *writer, size_t frame, const void *chunk,
                                  size_t size)
{
    airy_frame_place place;
    AIRY_TRY(airy_stack_writer_place(writer, frame, chunk, size, &place));
    return airy_stack_writer_put(writer, &place, chunk, size);
}

static size_t first_missing(const airy_stack_writer *w)
{
    size_t frame = 0;
    while (frame < w->frames && (w->added[frame / 8] >> frame % 8 & 1))
        frame++;
    return frame;
}

/* The lock is held or not needed: nothing is open. */
static airy_status close_file(airy_stack_writer *w)
{
    airy_status status = AIRY_OK;
    if (w->dataset >= 0 && H5Dclose(w->dataset) < 0)
        status = airy_hdf5_fail(AIRY_ERR_IO, "cannot close '%s'", w->partial);
    if (w->file >= 0 && H5Fclose(w->file) < 0 && status == AIRY_OK)
        status = airy_hdf5_fail(AIRY_ERR_IO, "cannot close '%s'", w->partial);
    w->dataset = w->file = -1;
    airy_writeback_stop(&w->writeback);
    if (w->bytes >= 0 && close(w->bytes) != 0 && status == AIRY_OK)
        status = airy_fail(AIRY_ERR_IO, "'%s': %s", w->partial, strerror(errno));
    w->bytes = -1;
    if (w->sink.error)
        status = airy_sink_result(&w->sink, w->partial);
    return status;
}

/* Errors that the system kept for the end of the file come out here. */
static airy_status sync_file(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const int failed = fd < 0 || fsync(fd) != 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    AIRY_FAIL_IF(failed, AIRY_ERR_IO, "'%s': fsync: %s", path, strerror(failed));
    return AIRY_OK;
}

airy_status airy_stack_writer_finish(airy_stack_writer *writer)
{
    AIRY_FAIL_IF(!writer || writer->file < 0, AIRY_ERR_PARAM,
                 "airy_stack_writer_finish: no open writer");
    const size_t missing = first_missing(writer);
    AIRY_FAIL_IF(missing < writer->frames, AIRY_ERR_PARAM, "'%s': frame %zu of %zu was not added",
                 writer->path, missing, writer->frames);
    AIRY_TRY(airy_hdf5_lock());
    const airy_status status = close_file(writer);
    airy_hdf5_unlock();
    AIRY_TRY(status);
    AIRY_TRY(sync_file(writer->partial));
    AIRY_TRY(airy_file_rename(writer->partial, writer->path, writer->force));
    writer->finished = true;
    return AIRY_OK;
}

void airy_stack_writer_destroy(airy_stack_writer **writer)
{
    if (!writer || !*writer)
        return;
    airy_stack_writer *dead = *writer;
    *writer = NULL;
    if (dead->file >= 0 && airy_hdf5_lock() == AIRY_OK) {
        (void)close_file(dead);
        airy_hdf5_unlock();
    }
    if (!dead->finished && dead->created)
        unlink(dead->partial);
    free(dead->path);
    free(dead->partial);
    free(dead->added);
    free(dead->placed);
    free(dead->dataset_name);
    free(dead);
}
