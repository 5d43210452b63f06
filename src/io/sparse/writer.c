/* Sparse frames into a growing NeXus file, as sparsify-Bragg of pyFAI lays it out. */
#include "airy/sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "io/hdf5/sink.h"
#include "io/hdf5/put.h"
#include "io/file/plain_file.h"
#include "io/sparse/partial.h"

enum {
    METADATA_BYTES = 16 << 10,
    MESSAGE_BYTES = 200,
    LIST_CHUNK = 1 << 16, /* elements of lists of pixels */
    ROW_CHUNK = 1024,     /* of one number a frame */
    PEAK_ROWS = 64,       /* chunks of tables of peaks */
    PEAK_COLUMNS = 32,
    CURVE_CHUNK = 1 << 14, /* elements of curves */
    IMAGE_CHUNK = 1 << 18
};

/* Datasets that grow. */
enum field {
    FRAME_PTR,
    INDEX,
    INTENSITY,
    AVERAGE,
    DEVIATION,
    PEAK_COUNT,
    PEAK_X, /* tables [frames, most peaks of a frame] from here to PEAK_PIXELS */
    PEAK_Y,
    PEAK_TOTAL,
    PEAK_SNR,
    PEAK_SIGMA,
    PEAK_PIXELS,
    NUMBER,
    STATUS,
    MESSAGE,
    FIELDS
};

enum group { FRAMES_GROUP, PEAKS_GROUP, PROCESS_FRAME_GROUP, GROUPS };

static const struct {
    enum group group;
    const char *name, *interpretation, *long_name;
} fields[FIELDS] = {
    [FRAME_PTR] = {FRAMES_GROUP, "frame_ptr", NULL, "where each frame's pixels begin"},
    [INDEX] = {FRAMES_GROUP, "index", NULL, "kept pixels, in raster order"},
    [INTENSITY] = {FRAMES_GROUP, "intensity", NULL, "raw values of the kept pixels"},
    [AVERAGE] = {FRAMES_GROUP, "background_avg", "spectrum", "Average value of background"},
    [DEVIATION] = {FRAMES_GROUP, "background_std", "spectrum", "Standard deviation of background"},
    [PEAK_COUNT] = {PEAKS_GROUP, "nPeaks", "spectrum", "peaks of the frame"},
    [PEAK_X] = {PEAKS_GROUP, "peakXPosRaw", NULL, "column of the centroid (pixel)"},
    [PEAK_Y] = {PEAKS_GROUP, "peakYPosRaw", NULL, "row of the centroid (pixel)"},
    [PEAK_TOTAL] = {PEAKS_GROUP, "peakTotalIntensity", NULL, "intensity above the background"},
    [PEAK_SNR] = {PEAKS_GROUP, "peakSNR", NULL, "intensity by its standard deviation"},
    [PEAK_SIGMA] = {PEAKS_GROUP, "peakSigma", NULL, "standard deviation of the intensity"},
    [PEAK_PIXELS] = {PEAKS_GROUP, "peakNPixels", NULL, "pixels above the cutoff in the patch"},
    [NUMBER] = {PROCESS_FRAME_GROUP, "index", NULL, "number in the input"},
    [STATUS] = {PROCESS_FRAME_GROUP, "status", NULL, "0 good, 1 bad (see message)"},
    [MESSAGE] = {PROCESS_FRAME_GROUP, "message", NULL, "why the frame is bad"},
};

struct airy_sparse_writer {
    struct airy_sink sink;
    char *path, *partial;
    bool force;
    hid_t file, datasets[FIELDS], types[FIELDS]; /* negative: none; types of the memory */
    size_t pixels, bins, elem;
    uint64_t frames, kept;
    size_t most_peaks; /* of a frame */
};

static bool is_table(int field)
{
    return field >= PEAK_X && field <= PEAK_PIXELS;
}

/* A new identifier to be closed. */
static hid_t type_of(int field, airy_dtype dtype)
{
    switch (field) {
    case FRAME_PTR:
    case NUMBER:
        return H5Tcopy(H5T_NATIVE_UINT64);
    case INDEX:
    case PEAK_PIXELS:
        return H5Tcopy(H5T_NATIVE_UINT32);
    case INTENSITY:
        return H5Tcopy(airy_hdf5_native(dtype));
    case PEAK_COUNT:
    case STATUS:
        return H5Tcopy(H5T_NATIVE_INT32);
    case MESSAGE:
        break;
    default:
        return H5Tcopy(H5T_NATIVE_FLOAT);
    }
    const hid_t text = H5Tcopy(H5T_C_S1);
    if (text >= 0 &&
        (H5Tset_size(text, MESSAGE_BYTES) < 0 || H5Tset_cset(text, H5T_CSET_UTF8) < 0)) {
        H5Tclose(text);
        return -1;
    }
    return text;
}

/* A chunked dataset through bitshuffle-lz4; elements that nobody wrote are 0. */
static hid_t put_chunked(hid_t group, const char *name, hid_t type, int ndim, const hsize_t *shape,
                         const hsize_t *most, const hsize_t *chunk, bool packed)
{
    static const unsigned bitshuffle[2] = {0, AIRY_BITSHUFFLE_LZ4};
    static const uint64_t zeros[MESSAGE_BYTES / 8];
    hid_t dataset = -1;
    const hid_t creation = airy_put_creation(), space = H5Screate_simple(ndim, shape, most);
    if (creation >= 0 && space >= 0 && H5Pset_chunk(creation, ndim, chunk) >= 0 &&
        H5Pset_fill_value(creation, type, zeros) >= 0 &&
        (!packed ||
         H5Pset_filter(creation, AIRY_FILTER_BITSHUFFLE, H5Z_FLAG_MANDATORY, 2, bitshuffle) >= 0))
        dataset = H5Dcreate2(group, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (creation >= 0)
        H5Pclose(creation);
    if (space >= 0)
        H5Sclose(space);
    return dataset;
}

static herr_t put_field(airy_sparse_writer *w, hid_t group, int field, airy_dtype dtype)
{
    const bool curve = field == AVERAGE || field == DEVIATION, table = is_table(field),
               list = field == INDEX || field == INTENSITY;
    const hsize_t shape[2] = {0, table ? 0 : w->bins},
                  most[2] = {H5S_UNLIMITED, table ? H5S_UNLIMITED : w->bins};
    hsize_t chunk[2] = {ROW_CHUNK, PEAK_COLUMNS};
    if (curve) {
        chunk[0] = airy_max_size(1, CURVE_CHUNK / w->bins);
        chunk[1] = w->bins;
    } else if (table || list) {
        chunk[0] = table ? PEAK_ROWS : LIST_CHUNK;
    }
    w->types[field] = type_of(field, dtype);
    if (w->types[field] < 0)
        return -1;
    const hid_t dataset = put_chunked(group, fields[field].name, w->types[field],
                                      curve || table ? 2 : 1, shape, most, chunk, field != MESSAGE);
    w->datasets[field] = dataset;
    if (dataset < 0 || airy_put_text(dataset, "long_name", fields[field].long_name) < 0)
        return -1;
    return fields[field].interpretation
               ? airy_put_text(dataset, "interpretation", fields[field].interpretation)
               : 0;
}

static herr_t put_fields(airy_sparse_writer *w, const hid_t groups[GROUPS], airy_dtype dtype)
{
    for (int f = 0; f < FIELDS; f++)
        if (put_field(w, groups[fields[f].group], f, dtype) < 0)
            return -1;
    return H5Lcreate_hard(groups[FRAMES_GROUP], "background_std", groups[FRAMES_GROUP], "errors",
                          H5P_DEFAULT, H5P_DEFAULT);
}

static herr_t put_image(hid_t group, const char *name, const float *values,
                        const airy_sparse_writer_params *p, const char *long_name)
{
    if (!values)
        return 0;
    const hsize_t shape[2] = {p->height, p->width};
    const hsize_t chunk[2] = {airy_min_size(p->height, airy_max_size(1, IMAGE_CHUNK / p->width)),
                              p->width};
    const hid_t image = put_chunked(group, name, H5T_NATIVE_FLOAT, 2, shape, shape, chunk, true);
    if (image < 0)
        return -1;
    const bool done = H5Dwrite(image, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >=
                          0 &&
                      airy_put_text(image, "interpretation", "image") >= 0 &&
                      airy_put_text(image, "long_name", long_name) >= 0;
    H5Dclose(image);
    return done ? 0 : -1;
}

/* In f32, as readers of pyFAI's files want it. */
herr_t airy_sparse_put_radius(hid_t group, const airy_sparse_writer_params *p)
{
    const hsize_t bins = p->bins;
    const hid_t radius = airy_put_contiguous(group, "radius", H5T_NATIVE_FLOAT, 1, &bins);
    if (radius < 0)
        return -1;
    const bool done =
        H5Dwrite(radius, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, p->radial) >= 0 &&
        airy_put_text(radius, "unit", airy_unit_name(p->unit)) >= 0 &&
        airy_put_text(radius, "long_name", airy_unit_label(p->unit)) >= 0;
    H5Dclose(radius);
    return done ? 0 : -1;
}

static herr_t put_dummy(hid_t group, const airy_sparse_writer_params *p)
{
    const hid_t type = airy_hdf5_native(p->dtype),
                dummy = airy_put_contiguous(group, "dummy", type, 0, NULL);
    if (dummy < 0)
        return -1;
    const herr_t done =
        H5Dwrite(dummy, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &p->dummy);
    H5Dclose(dummy);
    return done;
}

static herr_t put_frames_group(hid_t group, const airy_sparse_writer_params *p)
{
    static const char *const axes[] = {".", "radius"};
    return airy_put_text(group, "signal", "background_avg") < 0 ||
                   airy_put_texts(group, "axes", axes, 2) < 0 ||
                   airy_sparse_put_radius(group, p) < 0 ||
                   put_image(group, "mask", p->radius, p,
                             "radius of the pixel, NaN where it does not count") < 0 ||
                   put_image(group, "normalization", p->normalization, p,
                             "counts for intensity 1") < 0 ||
                   put_image(group, "dark", p->dark, p, "dark image (counts)") < 0
               ? -1
               : put_dummy(group, p);
}

/* The configuration is a note, where fabio and densify_Bragg of pyFAI look for cutoffs. */
herr_t airy_sparse_put_process(hid_t process, const char *configuration)
{
    const hid_t note =
        airy_put_program(process) < 0 ? -1 : airy_put_group(process, "configuration", "NXnote");
    const herr_t done = note < 0 || airy_put_string(note, "type", "text/json") < 0
                            ? -1
                            : airy_put_string(note, "data", configuration ? configuration : "{}");
    if (note >= 0)
        H5Gclose(note);
    return done;
}

static herr_t lay_out(airy_sparse_writer *w, const airy_sparse_writer_params *p)
{
    const hid_t entry = airy_put_group(w->file, "entry", "NXentry");
    const hid_t process = entry < 0 ? -1 : airy_put_group(entry, "sparsify", "NXprocess");
    const hid_t groups[GROUPS] = {entry < 0 ? -1 : airy_put_group(entry, "sparse_frames", "NXdata"),
                                  entry < 0 ? -1 : airy_put_group(entry, "peaks", "NXdata"),
                                  process < 0 ? -1
                                              : airy_put_group(process, "frame", "NXcollection")};
    const bool all = groups[0] >= 0 && groups[1] >= 0 && groups[2] >= 0;
    const bool done =
        all && airy_put_text(w->file, "NX_class", "NXroot") >= 0 &&
        airy_put_text(w->file, "default", "entry") >= 0 &&
        /* Readers know the format by how this text begins. */
        airy_put_text(w->file, "creator", "pyFAI's sparse_frames, by airy " AIRY_VERSION) >= 0 &&
        airy_put_text(entry, "default", "sparse_frames") >= 0 &&
        airy_put_text(entry, "pyFAI_sparse_frames", "/entry/sparse_frames") >= 0 &&
        airy_sparse_put_process(process, p->configuration) >= 0 &&
        put_frames_group(groups[FRAMES_GROUP], p) >= 0 &&
        airy_put_text(groups[PEAKS_GROUP], "signal", "nPeaks") >= 0 &&
        put_fields(w, groups, p->dtype) >= 0;
    for (int g = 0; g < GROUPS; g++)
        if (groups[g] >= 0)
            H5Gclose(groups[g]);
    if (process >= 0)
        H5Gclose(process);
    if (entry >= 0)
        H5Gclose(entry);
    return done ? 0 : -1;
}

/* Rows at the end of a dataset; columns of a table beyond those that others had are 0. */
static herr_t append(airy_sparse_writer *w, int field, uint64_t before, size_t rows, size_t columns,
                     const void *values)
{
    const bool two = is_table(field) || field == AVERAGE || field == DEVIATION;
    const hsize_t start[2] = {before, 0}, part[2] = {rows, columns},
                  extent[2] = {before + rows, is_table(field) ? w->most_peaks : columns};
    if (H5Dset_extent(w->datasets[field], extent) < 0)
        return -1;
    if (rows == 0 || (two && columns == 0))
        return 0;
    herr_t done = -1;
    const hid_t space = H5Dget_space(w->datasets[field]),
                memory = H5Screate_simple(two ? 2 : 1, part, NULL);
    if (space >= 0 && memory >= 0 &&
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, part, NULL) >= 0)
        done = H5Dwrite(w->datasets[field], w->types[field], memory, space, H5P_DEFAULT, values);
    if (space >= 0)
        H5Sclose(space);
    if (memory >= 0)
        H5Sclose(memory);
    return done;
}

/* One dataset's values of some frames, put together before the lock is taken. */
struct rows {
    void *values[FIELDS];
    size_t kept, peaks; /* kept pixels of all; peaks of the frame with most */
};

static void free_rows(struct rows *r)
{
    for (int f = 0; f < FIELDS; f++)
        free(r->values[f]);
}

static airy_status make_rows(struct rows *r, const airy_sparse_writer *w,
                             const airy_sparse_frame *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        r->kept += frames[i].pixels;
        r->peaks = airy_max_size(r->peaks, frames[i].peak_count);
    }
    for (int f = 0; f < FIELDS; f++) {
        const size_t elements = f == INDEX || f == INTENSITY     ? r->kept
                                : f == AVERAGE || f == DEVIATION ? count * w->bins
                                : is_table(f)                    ? count * r->peaks
                                                                 : count;
        const size_t size = f == INTENSITY                  ? w->elem
                            : f == MESSAGE                  ? MESSAGE_BYTES
                            : f == FRAME_PTR || f == NUMBER ? sizeof(uint64_t)
                                                            : sizeof(uint32_t);
        AIRY_TRY(airy_memory_calloc(&r->values[f], airy_max_size(elements, 1), size,
                                    "rows of a sparse file"));
    }
    return AIRY_OK;
}

static void fill_peaks(const struct rows *r, size_t row, const airy_sparse_frame *frame)
{
    for (size_t k = 0; k < frame->peak_count; k++) {
        const airy_peak *p = &frame->peaks[k];
        const size_t at = row * r->peaks + k;
        ((float *)r->values[PEAK_X])[at] = p->x;
        ((float *)r->values[PEAK_Y])[at] = p->y;
        ((float *)r->values[PEAK_TOTAL])[at] = p->intensity;
        ((float *)r->values[PEAK_SNR])[at] = p->snr;
        ((float *)r->values[PEAK_SIGMA])[at] = p->sigma;
        ((uint32_t *)r->values[PEAK_PIXELS])[at] = p->pixels;
    }
}

static void fill_rows(struct rows *r, const airy_sparse_writer *w, const airy_sparse_frame *frames,
                      size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const airy_sparse_frame *frame = &frames[i];
        float *mean = (float *)r->values[AVERAGE] + i * w->bins,
              *std = (float *)r->values[DEVIATION] + i * w->bins;
        for (size_t b = 0; b < w->bins; b++) {
            mean[b] = frame->message ? NAN : frame->mean[b];
            std[b] = frame->message ? NAN : frame->std[b];
        }
        ((uint64_t *)r->values[NUMBER])[i] = frame->number;
        ((int32_t *)r->values[STATUS])[i] = frame->message != NULL;
        ((int32_t *)r->values[PEAK_COUNT])[i] = (int32_t)frame->peak_count;
        if (frame->message)
            snprintf((char *)r->values[MESSAGE] + i * MESSAGE_BYTES, MESSAGE_BYTES, "%s",
                     frame->message);
        if (frame->pixels > 0) {
            memcpy((uint32_t *)r->values[INDEX] + kept, frame->index,
                   frame->pixels * sizeof(uint32_t));
            memcpy((char *)r->values[INTENSITY] + kept * w->elem, frame->intensity,
                   frame->pixels * w->elem);
        }
        kept += frame->pixels;
        ((uint64_t *)r->values[FRAME_PTR])[i] = w->kept + kept;
        fill_peaks(r, i, frame);
    }
}

static herr_t write_rows(airy_sparse_writer *w, const struct rows *r, size_t count)
{
    w->most_peaks = airy_max_size(w->most_peaks, r->peaks);
    for (int f = 0; f < FIELDS; f++) {
        const bool list = f == INDEX || f == INTENSITY;
        const uint64_t before = list ? w->kept : f == FRAME_PTR ? w->frames + 1 : w->frames;
        if (append(w, f, before, list ? r->kept : count, is_table(f) ? r->peaks : w->bins,
                   r->values[f]) < 0)
            return -1;
    }
    return 0;
}

static airy_status check_frame(const airy_sparse_writer *w, const airy_sparse_frame *frame)
{
    AIRY_FAIL_IF((frame->pixels && (!frame->index || !frame->intensity)) ||
                     (frame->peak_count && !frame->peaks) ||
                     (!frame->message && (!frame->mean || !frame->std)),
                 AIRY_ERR_PARAM, "airy_sparse_writer_add: frame %llu lacks an array",
                 (unsigned long long)frame->number);
    AIRY_FAIL_IF(frame->peak_count > INT32_MAX || frame->pixels > w->pixels, AIRY_ERR_PARAM,
                 "frame %llu has %zu pixels and %zu peaks, its image %zu pixels",
                 (unsigned long long)frame->number, frame->pixels, frame->peak_count, w->pixels);
    for (size_t k = 0; k < frame->pixels; k++)
        AIRY_FAIL_IF(frame->index[k] >= w->pixels, AIRY_ERR_PARAM,
                     "frame %llu: index[%zu] = %u, expected below %zu",
                     (unsigned long long)frame->number, k, frame->index[k], w->pixels);
    return AIRY_OK;
}

airy_status airy_sparse_writer_add(airy_sparse_writer *writer, const airy_sparse_frame *frames,
                                   size_t count)
{
    struct rows rows = {.kept = 0};
    AIRY_FAIL_IF(!writer || (count && !frames) || writer->file < 0, AIRY_ERR_PARAM,
                 "airy_sparse_writer_add: no open writer or no frames");
    for (size_t i = 0; i < count; i++)
        AIRY_TRY(check_frame(writer, &frames[i]));
    if (count == 0)
        return AIRY_OK;
    airy_status status = make_rows(&rows, writer, frames, count);
    if (status == AIRY_OK)
        fill_rows(&rows, writer, frames, count);
    if (status == AIRY_OK)
        status = airy_hdf5_lock();
    if (status == AIRY_OK) {
        if (write_rows(writer, &rows, count) < 0)
            status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "cannot write '%s'",
                                    writer->partial);
        if (writer->sink.error)
            status = airy_sink_result(&writer->sink, writer->partial);
        airy_hdf5_unlock();
    }
    if (status == AIRY_OK) {
        writer->frames += count;
        writer->kept += rows.kept;
    }
    free_rows(&rows);
    return status;
}

static airy_status check_params(const airy_sparse_writer_params *p, size_t *pixels)
{
    AIRY_FAIL_IF(airy_dtype_size(p->dtype) == 0 || p->dtype == AIRY_DTYPE_U64 ||
                     p->dtype == AIRY_DTYPE_I64,
                 AIRY_ERR_DTYPE, "sparse frames: dtype = %s, expected at most 32 bits or a float",
                 airy_dtype_name(p->dtype));
    AIRY_FAIL_IF(p->height == 0 || p->width == 0 || airy_mul_size(pixels, p->height, p->width) ||
                     *pixels > INT32_MAX,
                 AIRY_ERR_SHAPE, "sparse frames of %zu x %zu, expected 1 to 2^31 - 1 pixels",
                 p->height, p->width);
    AIRY_FAIL_IF(p->bins == 0 || p->bins > 1000000, AIRY_ERR_PARAM,
                 "sparse frames: bins = %zu, expected 1 to 1000000", p->bins);
    AIRY_FAIL_IF(!p->radial || !p->radius || !p->normalization, AIRY_ERR_PARAM,
                 "sparse frames: %s is NULL",
                 !p->radial   ? "radial"
                 : !p->radius ? "radius"
                              : "normalization");
    return AIRY_OK;
}

static airy_status open_file(airy_sparse_writer *w, const airy_sparse_writer_params *params)
{
    static const uint64_t zero;
    AIRY_TRY(airy_file_begin(&w->partial, w->path));
    AIRY_TRY(airy_hdf5_lock());
    airy_status status = airy_sink_create(&w->file, &w->sink, w->partial, METADATA_BYTES);
    if (status != AIRY_OK) {
        w->file = -1;
    } else if (lay_out(w, params) < 0 || append(w, FRAME_PTR, 0, 1, 1, &zero) < 0) {
        status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "cannot lay out '%s'", w->partial);
    }
    if (w->sink.error)
        status = airy_sink_result(&w->sink, w->partial);
    airy_hdf5_unlock();
    return status;
}

airy_status airy_sparse_writer_create(airy_sparse_writer **writer, const char *path,
                                      const airy_sparse_writer_params *params)
{
    AIRY_FAIL_IF(!writer || !path || !*path || !params, AIRY_ERR_PARAM,
                 "airy_sparse_writer_create: an argument is missing");
    size_t pixels = 0;
    AIRY_TRY(check_params(params, &pixels));
    AIRY_FAIL_ON_IF(!params->force && access(path, F_OK) == 0, AIRY_ERR_EXISTS, AIRY_SUBJECT_FILE,
                    "'%s' is there already", path);
    airy_sparse_writer *w;
    AIRY_TRY(airy_memory_calloc((void **)&w, 1, sizeof(*w), "a sparse file"));
    w->file = -1;
    for (int f = 0; f < FIELDS; f++)
        w->datasets[f] = w->types[f] = -1;
    w->pixels = pixels;
    w->bins = params->bins;
    w->elem = airy_dtype_size(params->dtype);
    w->force = params->force;
    w->path = strdup(path);
    const airy_status status = w->path ? open_file(w, params)
                                       : airy_fail(AIRY_ERR_MEMORY, "out of memory for a path");
    if (status != AIRY_OK) {
        airy_sparse_writer_destroy(&w);
        return status;
    }
    *writer = w;
    return AIRY_OK;
}

static airy_status close_file(airy_sparse_writer *w)
{
    AIRY_TRY(airy_hdf5_lock());
    airy_status status = AIRY_OK;
    for (int f = 0; f < FIELDS; f++) {
        if (w->datasets[f] >= 0 && H5Dclose(w->datasets[f]) < 0 && status == AIRY_OK)
            status =
                airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "cannot close '%s'", w->partial);
        if (w->types[f] >= 0)
            H5Tclose(w->types[f]);
        w->datasets[f] = w->types[f] = -1;
    }
    if (airy_hdf5_close(w->file) < 0 && status == AIRY_OK)
        status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "cannot close '%s'", w->partial);
    w->file = -1;
    if (w->sink.error)
        status = airy_sink_result(&w->sink, w->partial);
    airy_hdf5_unlock();
    return status;
}

airy_status airy_sparse_writer_finish(airy_sparse_writer *writer)
{
    AIRY_FAIL_IF(!writer || writer->file < 0, AIRY_ERR_PARAM,
                 "airy_sparse_writer_finish: no open writer");
    AIRY_FAIL_ON_IF(writer->frames == 0, AIRY_ERR_PARAM, AIRY_SUBJECT_FILE,
                    "'%s': no frame was added", writer->path);
    AIRY_TRY(close_file(writer));
    AIRY_TRY(airy_file_rename(writer->partial, writer->path, writer->force));
    free(writer->partial);
    writer->partial = NULL;
    return AIRY_OK;
}

void airy_sparse_writer_destroy(airy_sparse_writer **writer)
{
    if (!writer || !*writer)
        return;
    airy_sparse_writer *w = *writer;
    if (w->file >= 0)
        (void)close_file(w);
    if (w->partial)
        airy_file_remove(w->partial);
    free(w->partial);
    free(w->path);
    free(w);
    *writer = NULL;
}
