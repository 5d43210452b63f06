/* Frames into a growing HDF5 dataset, with what viewers and people need to make sense of them. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/size.h"
#include "io/hdf5/sink.h"
#include "io/stack/frame_sink.h"
#include "io/hdf5/put.h"

enum {
    METADATA_BYTES = 16 << 10,
    MOST_CHUNK = 64 << 20 /* bytes; larger frames take several */
};

struct airy_frame_sink {
    struct airy_sink sink;
    char *partial;
    hid_t file, dataset; /* negative: none */
    hid_t type;          /* negative: none */
    int ndim;
    hsize_t shape[4]; /* [frames so far, height, width, 2] */
};

/* What was opened, and what stands in the file; lock held. */
static hid_t put_dataset(struct airy_frame_sink *s, hid_t result, const airy_frame_writer_params *p)
{
    hsize_t most[4], chunk[4];
    memcpy(most, s->shape, sizeof(most));
    memcpy(chunk, s->shape, sizeof(chunk));
    most[0] = H5S_UNLIMITED;
    chunk[0] = 1;
    const size_t row = p->width * airy_dtype_size(p->dtype) * (p->is_complex ? 2 : 1);
    chunk[1] = airy_min_size(p->height, airy_max_size(1, MOST_CHUNK / row));
    hid_t dataset = -1;
    const hid_t creation = airy_put_creation(), space = H5Screate_simple(s->ndim, s->shape, most);
    if (creation >= 0 && space >= 0 && H5Pset_chunk(creation, s->ndim, chunk) >= 0 &&
        H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER) >= 0)
        dataset = H5Dcreate2(result, p->signal ? p->signal : "data", s->type, space, H5P_DEFAULT,
                             creation, H5P_DEFAULT);
    if (creation >= 0)
        H5Pclose(creation);
    if (space >= 0)
        H5Sclose(space);
    return dataset;
}

static int dimensions(const airy_frame_writer_params *p)
{
    return p->is_complex && p->complex_as_pairs ? 4 : 3;
}

static herr_t put_axis(hid_t result, const airy_frame_writer_params *p)
{
    const char *name = p->axis_name ? p->axis_name : "axis";
    const hsize_t width = p->width;
    const char *const axes[] = {".", ".", p->axis ? name : ".", "."};
    if (airy_put_texts(result, "axes", axes, (size_t)dimensions(p)) < 0)
        return -1;
    if (!p->axis)
        return 0;
    const hid_t axis = airy_put_contiguous(result, name, H5T_NATIVE_DOUBLE, 1, &width);
    if (axis < 0)
        return -1;
    const bool done = H5Dwrite(axis, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, p->axis) >=
                          0 &&
                      (!p->axis_units || airy_put_text(axis, "units", p->axis_units) >= 0);
    H5Dclose(axis);
    return done ? 0 : -1;
}

static herr_t put_layout(struct airy_frame_sink *s, const airy_frame_writer_params *p)
{
    const char *process = p->process ? p->process : "frames";
    const hid_t entry = airy_put_group(s->file, "entry", "NXentry");
    const hid_t steps = entry < 0 ? -1 : airy_put_group(entry, process, "NXprocess");
    const hid_t result = steps < 0 ? -1 : airy_put_group(steps, "result", "NXdata");
    bool done = result >= 0 && airy_put_text(s->file, "NX_class", "NXroot") >= 0 &&
                airy_put_text(s->file, "default", "entry") >= 0 &&
                airy_put_text(entry, "default", process) >= 0 &&
                airy_put_text(steps, "default", "result") >= 0 &&
                airy_put_process(steps, p->configuration) >= 0 &&
                airy_put_text(result, "signal", p->signal ? p->signal : "data") >= 0 &&
                put_axis(result, p) >= 0;
    if (done)
        s->dataset = put_dataset(s, result, p);
    done &= s->dataset >= 0 && airy_put_text(s->dataset, "interpretation", "image") >= 0 &&
            (!p->signal_units || airy_put_text(s->dataset, "units", p->signal_units) >= 0);
    if (result >= 0)
        H5Gclose(result);
    if (steps >= 0)
        H5Gclose(steps);
    if (entry >= 0)
        H5Gclose(entry);
    return done ? 0 : -1;
}

static airy_status close_file(struct airy_frame_sink *s)
{
    airy_status status = airy_hdf5_lock();
    AIRY_TRY(status);
    if (s->dataset >= 0 && H5Dclose(s->dataset) < 0)
        status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "cannot close '%s'", s->partial);
    if (s->file >= 0 && airy_hdf5_close(s->file) < 0 && status == AIRY_OK)
        status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "cannot close '%s'", s->partial);
    if (s->type >= 0)
        H5Tclose(s->type);
    s->dataset = s->file = s->type = -1;
    if (s->sink.error)
        status = airy_sink_result(&s->sink, s->partial);
    airy_hdf5_unlock();
    return status;
}

static void destroy(struct airy_frame_sink *sink)
{
    if (sink->file >= 0)
        (void)close_file(sink);
    free(sink->partial);
    free(sink);
}

static airy_status lay_out(struct airy_frame_sink *s, const airy_frame_writer_params *p)
{
    AIRY_TRY(airy_hdf5_lock());
    airy_status status = airy_sink_create(&s->file, &s->sink, s->partial, METADATA_BYTES);
    if (status == AIRY_OK) {
        s->type = airy_hdf5_element(p->dtype, airy_frame_sink_is_complex(p));
        if (s->type < 0 || put_layout(s, p) < 0)
            status =
                airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "cannot lay out '%s'", s->partial);
        if (s->sink.error)
            status = airy_sink_result(&s->sink, s->partial);
    } else {
        s->file = -1;
    }
    airy_hdf5_unlock();
    return status;
}

static airy_status create(struct airy_frame_sink **sink, int fd, const char *partial,
                          const airy_frame_writer_params *params)
{
    struct airy_frame_sink *s;
    (void)fd;
    AIRY_TRY(airy_memory_calloc((void **)&s, 1, sizeof(*s), "an HDF5 file"));
    s->file = s->dataset = s->type = -1;
    s->ndim = dimensions(params);
    s->shape[1] = params->height;
    s->shape[2] = params->width;
    s->shape[3] = 2;
    s->partial = strdup(partial);
    const airy_status status = s->partial ? lay_out(s, params)
                                          : airy_fail(AIRY_ERR_MEMORY, "out of memory for a path");
    if (status != AIRY_OK) {
        destroy(s);
        return status;
    }
    *sink = s;
    return AIRY_OK;
}

static herr_t write_frames(struct airy_frame_sink *s, const void *frames, size_t count)
{
    const hsize_t start[4] = {s->shape[0], 0, 0, 0};
    hsize_t part[4];
    memcpy(part, s->shape, sizeof(part));
    part[0] = count;
    s->shape[0] += count;
    if (H5Dset_extent(s->dataset, s->shape) < 0)
        return -1;
    herr_t done = -1;
    const hid_t space = H5Dget_space(s->dataset), memory = H5Screate_simple(s->ndim, part, NULL);
    if (space >= 0 && memory >= 0 &&
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, part, NULL) >= 0)
        done = H5Dwrite(s->dataset, s->type, memory, space, H5P_DEFAULT, frames);
    if (space >= 0)
        H5Sclose(space);
    if (memory >= 0)
        H5Sclose(memory);
    return done;
}

static airy_status add(struct airy_frame_sink *sink, const void *frames, size_t count)
{
    AIRY_TRY(airy_hdf5_lock());
    airy_status status = AIRY_OK;
    if (write_frames(sink, frames, count) < 0)
        status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "cannot write '%s'", sink->partial);
    if (sink->sink.error)
        status = airy_sink_result(&sink->sink, sink->partial);
    airy_hdf5_unlock();
    return status;
}

static airy_status finish(struct airy_frame_sink *sink, uint64_t frames)
{
    (void)frames;
    return close_file(sink);
}

const struct airy_frame_sink_fns airy_frame_sink_hdf5 = {
    .create = create, .add = add, .finish = finish, .destroy = destroy};
