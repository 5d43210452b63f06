#include "io/result/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/size.h"
#include "io/hdf5/sink.h"
#include "io/hdf5/put.h"
#include "io/hdf5/sources.h"
#include "io/result/nxazint.h"
#include "io/file/plain_file.h"

enum {
    METADATA_BYTES = 64 << 10, /* more than the groups and headers need: they stay together at
                                  the front */
    /* superblock version 0 with 8-byte addresses */
    END_AT = 40,
    ROOT_AT = 64, /* of the root's symbol table entry: header address, cache type, reserved,
                     scratch[16] */
    SUPERBLOCK_BYTES = 96,
};

#define MAX_FILE ((uint64_t)1 << 62)

enum field_type { TYPE_F32, TYPE_F64, TYPE_U32, TYPE_U64, TYPE_I32, TYPE_MESSAGE };
enum field_when { ALWAYS, WITH_ERRORS, WITH_MONITOR, WITH_GROUPS, WITH_ROIS, WITH_AZIMUTH };
enum field_bins { NO_BINS, OF_RADIUS, OF_AZIMUTH, OF_ALL, OF_ROIS, OF_ROI_ENDS };

static const struct {
    const char *group, *name, *long_name;
    enum field_type type;
    bool frames; /* the first axis */
    enum field_bins bins;
    enum field_when when;
} fields[AIRY_PATTERN_FIELDS] = {
    [AIRY_PATTERN_RADIAL] = {"result", "radial", NULL, TYPE_F64, false, OF_RADIUS, ALWAYS},
    [AIRY_PATTERN_AZIMUTHAL] = {"result", "azimuthal", NULL, TYPE_F64, false, OF_AZIMUTH,
                                WITH_AZIMUTH},
    [AIRY_PATTERN_SHARED_NORMALIZATION] = {"merged", "sum_normalization", NULL, TYPE_F64, false,
                                           OF_ALL, ALWAYS},
    [AIRY_PATTERN_SHARED_NORMALIZATION2] = {"merged", "sum_normalization2", NULL, TYPE_F64, false,
                                            OF_ALL, ALWAYS},
    [AIRY_PATTERN_SHARED_COUNT] = {"merged", "count", NULL, TYPE_F64, false, OF_ALL, ALWAYS},
    [AIRY_PATTERN_ROI] = {"frame", "roi", "regions: radius from, to; chi from, to in degrees",
                          TYPE_F64, false, OF_ROI_ENDS, WITH_ROIS},
    [AIRY_PATTERN_INDEX] = {"frame", "index", "number in the input", TYPE_U64, true, NO_BINS,
                            ALWAYS},
    [AIRY_PATTERN_STATUS] = {"frame", "status", "0 good, 1 bad (see message), -1 pending", TYPE_I32,
                             true, NO_BINS, ALWAYS},
    [AIRY_PATTERN_MONITOR] = {"frame", "monitor", "normalization factor of the frame", TYPE_F64,
                              true, NO_BINS, WITH_MONITOR},
    [AIRY_PATTERN_FRAMES] = {"frame", "frames", "frames in this pattern", TYPE_U32, true, NO_BINS,
                             WITH_GROUPS},
    [AIRY_PATTERN_TOTAL] = {"frame", "total", "sum of the raw values of the valid pixels", TYPE_F64,
                            true, NO_BINS, ALWAYS},
    [AIRY_PATTERN_MAX] = {"frame", "max", "largest raw value of the valid pixels", TYPE_F64, true,
                          NO_BINS, ALWAYS},
    [AIRY_PATTERN_SATURATED] = {"frame", "saturated", "saturated pixels", TYPE_U32, true, NO_BINS,
                                ALWAYS},
    [AIRY_PATTERN_INVALID] = {"frame", "invalid", "pixels left out in this frame alone", TYPE_U32,
                              true, NO_BINS, ALWAYS},
    [AIRY_PATTERN_ROI_SUM] = {"frame", "roi_sum", "counts less dark in the regions", TYPE_F64, true,
                              OF_ROIS, WITH_ROIS},
    [AIRY_PATTERN_ROI_MEAN] = {"frame", "roi_mean", "intensity of the regions", TYPE_F64, true,
                               OF_ROIS, WITH_ROIS},
    [AIRY_PATTERN_INTENSITY] = {"result", "intensity", "Intensity", TYPE_F32, true, OF_ALL, ALWAYS},
    [AIRY_PATTERN_STD] = {"result", "std", "standard deviation", TYPE_F32, true, OF_ALL,
                          WITH_ERRORS},
    [AIRY_PATTERN_SEM] = {"result", "sem", "standard error of the mean", TYPE_F32, true, OF_ALL,
                          WITH_ERRORS},
    [AIRY_PATTERN_SIGNAL] = {"merged", "sum_signal", NULL, TYPE_F64, true, OF_ALL, ALWAYS},
    [AIRY_PATTERN_VARIANCE] = {"merged", "sum_variance", NULL, TYPE_F64, true, OF_ALL, WITH_ERRORS},
    [AIRY_PATTERN_MESSAGE] = {"frame", "message", "why the frame is bad", TYPE_MESSAGE, true,
                              NO_BINS, ALWAYS},
    [AIRY_PATTERN_NORMALIZATION] = {"merged", "sum_normalization", NULL, TYPE_F64, true, OF_ALL,
                                    ALWAYS},
    [AIRY_PATTERN_NORMALIZATION2] = {"merged", "sum_normalization2", NULL, TYPE_F64, true, OF_ALL,
                                     ALWAYS},
    [AIRY_PATTERN_COUNT] = {"merged", "count", NULL, TYPE_F64, true, OF_ALL, ALWAYS},
};

static bool is_wanted(int field, const struct airy_pattern_spec *spec)
{
    return fields[field].when == ALWAYS || (fields[field].when == WITH_ERRORS && spec->errors) ||
           (fields[field].when == WITH_MONITOR && spec->monitor) ||
           (fields[field].when == WITH_GROUPS && spec->grouped) ||
           (fields[field].when == WITH_ROIS && spec->roi_count) ||
           (fields[field].when == WITH_AZIMUTH && spec->azimuth_bins);
}

/* Which of the two trees a field of "merged" belongs to; everything else is in both. */
static bool only_in(int field, int tree)
{
    if (field >= AIRY_PATTERN_SHARED_NORMALIZATION && field <= AIRY_PATTERN_SHARED_COUNT)
        return tree == 0;
    return field >= AIRY_PATTERN_NORMALIZATION && tree == 1;
}

static size_t type_size(enum field_type type)
{
    static const size_t sizes[] = {
        [TYPE_F32] = 4, [TYPE_F64] = 8, [TYPE_U32] = 4,
        [TYPE_U64] = 8, [TYPE_I32] = 4, [TYPE_MESSAGE] = AIRY_PATTERN_MESSAGE_BYTES};
    return sizes[type];
}

/* The machine's own types, as rows are written without libhdf5; a new identifier to be closed. */
static hid_t open_type(enum field_type type)
{
    switch (type) {
    case TYPE_F32:
        return H5Tcopy(H5T_NATIVE_FLOAT);
    case TYPE_F64:
        return H5Tcopy(H5T_NATIVE_DOUBLE);
    case TYPE_U32:
        return H5Tcopy(H5T_NATIVE_UINT32);
    case TYPE_U64:
        return H5Tcopy(H5T_NATIVE_UINT64);
    case TYPE_I32:
        return H5Tcopy(H5T_NATIVE_INT32);
    default:
        break;
    }
    const hid_t text = H5Tcopy(H5T_C_S1);
    if (text >= 0 && (H5Tset_size(text, AIRY_PATTERN_MESSAGE_BYTES) < 0 ||
                      H5Tset_cset(text, H5T_CSET_UTF8) < 0)) {
        H5Tclose(text);
        return -1;
    }
    return text;
}

static size_t radial_bins(const struct airy_pattern_spec *spec)
{
    return spec->azimuth_bins ? spec->bins / spec->azimuth_bins : spec->bins;
}

static int field_shape(hsize_t shape[3], int field, const struct airy_pattern_spec *spec)
{
    const enum field_bins bins = fields[field].bins;
    int ndim = 0;
    if (fields[field].frames)
        shape[ndim++] = spec->frames;
    if (bins == OF_AZIMUTH || (bins == OF_ALL && spec->azimuth_bins))
        shape[ndim++] = spec->azimuth_bins;
    if (bins == OF_RADIUS || bins == OF_ALL)
        shape[ndim++] = radial_bins(spec);
    if (bins == OF_ROIS || bins == OF_ROI_ENDS)
        shape[ndim++] = spec->roi_count;
    if (bins == OF_ROI_ENDS)
        shape[ndim++] = 4;
    /* GSAS-II compares the elements of all that has one axis of frames; it fails on text. */
    if (spec->nxazint && fields[field].type == TYPE_MESSAGE)
        shape[ndim++] = 1;
    return ndim;
}

void airy_pattern_row_bytes(size_t bytes[AIRY_PATTERN_FIELDS], const struct airy_pattern_spec *spec)
{
    for (int f = 0; f < AIRY_PATTERN_FIELDS; f++) {
        hsize_t shape[3];
        size_t row = type_size(fields[f].type);
        const int ndim = field_shape(shape, f, spec);
        for (int i = fields[f].frames; i < ndim; i++)
            row *= (size_t)shape[i];
        bytes[f] = row;
    }
}

/* The unit's own part of a label: "1/nm" of "q (1/nm)". */
static void unit_of_label(char *text, size_t size, const char *label)
{
    const char *open = strrchr(label, '(');
    const size_t length = open ? strlen(open) : 0;
    const bool has = length > 2 && open[length - 1] == ')';
    snprintf(text, size, "%.*s", has ? (int)(length - 2) : 0, has ? open + 1 : "");
}

static herr_t describe_axis(hid_t dataset, airy_unit unit)
{
    char units[32];
    unit_of_label(units, sizeof(units), airy_unit_label(unit));
    return airy_put_text(dataset, "long_name", airy_unit_label(unit)) < 0 ||
                   airy_put_text(dataset, "units", units) < 0 ||
                   airy_put_text(dataset, "unit_name", airy_unit_name(unit)) < 0
               ? -1
               : 0;
}

static herr_t describe_field(hid_t dataset, int field, const struct airy_pattern_spec *spec)
{
    if (field == AIRY_PATTERN_RADIAL)
        return describe_axis(dataset, spec->unit);
    if (field == AIRY_PATTERN_AZIMUTHAL)
        return describe_axis(dataset, spec->azimuth_unit);
    if (fields[field].frames && fields[field].bins && strcmp(fields[field].group, "result") == 0 &&
        airy_put_text(dataset, "interpretation", spec->azimuth_bins ? "image" : "spectrum") < 0)
        return -1;
    return fields[field].long_name ? airy_put_text(dataset, "long_name", fields[field].long_name)
                                   : 0;
}

/*
 * A dataset whose rows come one by one. Those that nobody has written are pending, their results
 * NaN. Chunks of some 128 KiB: few enough to find, small enough to be written again with each row.
 */
static hid_t put_rows(hid_t group, int field, hid_t type, int ndim, const hsize_t *shape)
{
    enum { CHUNK_BYTES = 128 << 10, MOST_ROWS = 1024 };
    const float none = NAN;
    const int32_t pending = AIRY_ROW_PENDING;
    hsize_t now[3], most[3], chunk[3];
    size_t row = H5Tget_size(type);
    for (int i = 0; i < ndim; i++) {
        now[i] = i ? shape[i] : 0;
        most[i] = i ? shape[i] : H5S_UNLIMITED;
        chunk[i] = shape[i];
        row *= i ? (size_t)shape[i] : 1;
    }
    chunk[0] = airy_max_size(airy_min_size(CHUNK_BYTES / airy_max_size(row, 1), MOST_ROWS), 1);
    const hid_t creation = airy_put_creation(), space = H5Screate_simple(ndim, now, most);
    hid_t dataset = -1;
    if (creation >= 0 && space >= 0 && H5Pset_chunk(creation, ndim, chunk) >= 0 &&
        (fields[field].type != TYPE_F32 || H5Pset_fill_value(creation, type, &none) >= 0) &&
        (fields[field].type != TYPE_I32 || H5Pset_fill_value(creation, type, &pending) >= 0))
        dataset =
            H5Dcreate2(group, fields[field].name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (creation >= 0)
        H5Pclose(creation);
    if (space >= 0)
        H5Sclose(space);
    return dataset;
}

/* A new dataset, open, or negative. */
static hid_t make_field(hid_t integrate, int field, const struct airy_pattern_spec *spec)
{
    hsize_t shape[3];
    const int ndim = field_shape(shape, field, spec);
    const hid_t group = H5Gopen2(integrate, fields[field].group, H5P_DEFAULT);
    const hid_t type = open_type(fields[field].type);
    hid_t dataset = -1;
    if (group >= 0 && type >= 0)
        dataset = spec->grows && fields[field].frames
                      ? put_rows(group, field, type, ndim, shape)
                      : airy_put_contiguous(group, fields[field].name, type, ndim, shape);
    if (dataset >= 0 && describe_field(dataset, field, spec) < 0) {
        H5Dclose(dataset);
        dataset = -1;
    }
    if (type >= 0)
        H5Tclose(type);
    if (group >= 0)
        H5Gclose(group);
    return dataset;
}

static herr_t put_field(struct airy_pattern_layout *layout, hid_t integrate, int field,
                        const struct airy_pattern_spec *spec)
{
    const hid_t dataset = make_field(integrate, field, spec);
    if (dataset < 0)
        return -1;
    layout->offset[field] = H5Dget_offset(dataset);
    H5Dclose(dataset);
    return 0;
}

static herr_t put_process(hid_t integrate, const struct airy_pattern_spec *spec)
{
    static const char *const axes[2][3] = {{".", "radial"}, {".", "azimuthal", "radial"}};
    const bool two = spec->azimuth_bins > 0;
    const hid_t result = airy_put_group(integrate, "result", airy_pattern_data_class(spec));
    const hid_t frame = airy_put_group(integrate, "frame", "NXcollection");
    herr_t done = result < 0 || frame < 0 || airy_put_process(integrate, spec->configuration) < 0 ||
                          airy_put_string(integrate, "fingerprint", spec->fingerprint) < 0 ||
                          airy_put_text(result, "signal", "intensity") < 0 ||
                          airy_put_texts(result, "axes", axes[two], two ? 3 : 2) < 0 ||
                          (two && airy_put_int(result, "azimuthal_indices", 1) < 0) ||
                          airy_put_int(result, "radial_indices", two ? 2 : 1) < 0
                      ? -1
                      : 0;
    if (result >= 0)
        H5Gclose(result);
    if (frame >= 0)
        H5Gclose(frame);
    return done;
}

/* What the rows are beside their patterns, as the input has it. */
static herr_t put_columns(hid_t integrate, const struct airy_pattern_spec *spec)
{
    const hid_t frame = H5Gopen2(integrate, "frame", H5P_DEFAULT);
    herr_t done = frame < 0 ? -1 : 0;
    for (size_t i = 0; i < spec->column_count && done >= 0; i++) {
        const struct airy_pattern_column *c = &spec->columns[i];
        const hsize_t shape[2] = {spec->frames, 1};
        const int ndim = spec->nxazint && c->text ? 2 : 1; /* as of messages */
        const hid_t type = c->text ? H5Tcopy(H5T_C_S1) : H5Tcopy(airy_hdf5_native(c->dtype));
        if (type < 0 || (c->text && (H5Tset_size(type, c->text) < 0 ||
                                     H5Tset_strpad(type, H5T_STR_NULLPAD) < 0 ||
                                     H5Tset_cset(type, H5T_CSET_UTF8) < 0)))
            done = -1;
        const hid_t dataset = done < 0 ? -1
                                       : airy_put_contiguous(frame, c->name, type, ndim, shape);
        done = dataset < 0 || H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, c->values) < 0
                   ? -1
                   : airy_put_text(dataset, "source", c->path);
        if (done >= 0 && c->units[0])
            done = airy_put_text(dataset, "units", c->units);
        if (dataset >= 0)
            H5Dclose(dataset);
        if (type >= 0)
            H5Tclose(type);
    }
    if (frame >= 0)
        H5Gclose(frame);
    return done;
}

/* root/entry/integrate/merged; returns "integrate". */
static hid_t put_tree(hid_t root)
{
    const hid_t entry = airy_put_group(root, "entry", "NXentry");
    const hid_t integrate = entry < 0 ? -1 : airy_put_group(entry, "integrate", "NXprocess");
    const hid_t merged = integrate < 0 ? -1 : airy_put_group(integrate, "merged", "NXcollection");
    const bool done = merged >= 0 && airy_put_text(root, "NX_class", "NXroot") >= 0 &&
                      airy_put_text(root, "default", "entry") >= 0 &&
                      airy_put_text(entry, "default", "integrate") >= 0 &&
                      airy_put_text(integrate, "default", "result") >= 0;
    if (merged >= 0)
        H5Gclose(merged);
    if (entry >= 0)
        H5Gclose(entry);
    if (!done && integrate >= 0)
        H5Gclose(integrate);
    return done ? integrate : -1;
}

/* The second tree has the same objects, by further hard links. */
static herr_t share_objects(hid_t from, hid_t to, const struct airy_pattern_spec *spec)
{
    static const char *const shared[] = {"program",     "version", "date",  "configuration",
                                         "fingerprint", "result",  "frame", "merged/sum_signal"};
    for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
        if (H5Lcreate_hard(from, shared[i], to, shared[i], H5P_DEFAULT, H5P_DEFAULT) < 0)
            return -1;
    if (spec->grid[0] && H5Lcreate_hard(from, "map", to, "map", H5P_DEFAULT, H5P_DEFAULT) < 0)
        return -1;
    if (!spec->errors)
        return 0;
    if (H5Lcreate_hard(from, "result/sem", from, "result/intensity_errors", H5P_DEFAULT,
                       H5P_DEFAULT) < 0)
        return -1;
    return H5Lcreate_hard(from, "merged/sum_variance", to, "merged/sum_variance", H5P_DEFAULT,
                          H5P_DEFAULT);
}

bool airy_pattern_grows(int field, const struct airy_pattern_spec *spec)
{
    return fields[field].frames && is_wanted(field, spec);
}

hid_t airy_pattern_field_type(int field)
{
    return open_type(fields[field].type);
}

void airy_pattern_field_path(char path[128], int field)
{
    snprintf(path, 128, "entry/integrate/%s/%s", fields[field].group, fields[field].name);
}

/* Ends of region i as the file has them. */
static void region_ends(double ends[4], const airy_roi *roi)
{
    memcpy(ends, roi->radial, 2 * sizeof(*ends));
    for (int k = 0; k < 2; k++)
        ends[2 + k] = roi->has_azimuth ? roi->azimuth[k] : (double)NAN;
}

static herr_t write_constant(hid_t dataset, int field, const struct airy_pattern_spec *spec)
{
    double ends[AIRY_PATTERN_ROIS][4];
    for (size_t i = 0; i < spec->roi_count; i++)
        region_ends(ends[i], &spec->rois[i]);
    const void *values = field == AIRY_PATTERN_RADIAL      ? (const void *)spec->radial
                         : field == AIRY_PATTERN_AZIMUTHAL ? (const void *)spec->azimuth
                                                           : ends;
    return H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
}

herr_t airy_pattern_put_growing(hid_t datasets[AIRY_PATTERN_FIELDS], hid_t file,
                                const struct airy_pattern_spec *spec)
{
    const hid_t integrate = put_tree(file);
    herr_t done = integrate < 0 ? -1 : put_process(integrate, spec);
    for (int f = 0; f < AIRY_PATTERN_FIELDS && done >= 0; f++) {
        const bool shared = f >= AIRY_PATTERN_SHARED_NORMALIZATION &&
                            f <= AIRY_PATTERN_SHARED_COUNT;
        if (shared || !is_wanted(f, spec))
            continue;
        const hid_t dataset = make_field(integrate, f, spec);
        done = dataset < 0 ? -1 : 0;
        if (done >= 0 && fields[f].frames) {
            datasets[f] = dataset;
        } else if (done >= 0) {
            done = write_constant(dataset, f, spec);
            H5Dclose(dataset);
        }
    }
    if (done >= 0 && spec->errors)
        done = H5Lcreate_hard(integrate, "result/sem", integrate, "result/intensity_errors",
                              H5P_DEFAULT, H5P_DEFAULT);
    if (integrate >= 0)
        H5Gclose(integrate);
    return done;
}

static herr_t put_everything(struct airy_pattern_layout *layout, hid_t file,
                             const struct airy_pattern_spec *spec)
{
    static const char *const names[2] = {"shared", "frames"};
    hid_t roots[2] = {-1, -1}, integrate[2] = {-1, -1};
    herr_t done = 0;
    for (int tree = 0; tree < 2 && done >= 0; tree++) {
        roots[tree] = H5Gcreate2(file, names[tree], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        integrate[tree] = roots[tree] < 0 ? -1 : put_tree(roots[tree]);
        H5O_info_t info;
        done = integrate[tree] < 0 ? -1 : H5Oget_info2(roots[tree], &info, H5O_INFO_BASIC);
        layout->roots[tree] = done < 0 ? 0 : info.addr;
    }
    if (done >= 0)
        done = put_process(integrate[0], spec);
    if (done >= 0)
        done = put_columns(integrate[0], spec);
    if (done >= 0 && spec->grid[0])
        done = airy_pattern_put_maps(layout, integrate[0], spec);
    for (int f = 0; f < AIRY_PATTERN_NORMALIZATION && done >= 0; f++)
        if (is_wanted(f, spec))
            done = put_field(layout, integrate[0], f, spec);
    if (done >= 0)
        done = share_objects(integrate[0], integrate[1], spec);
    if (done >= 0 && spec->nxazint)
        done = airy_put_nxazint(roots, spec);
    for (int f = AIRY_PATTERN_NORMALIZATION; f < AIRY_PATTERN_FIELDS && done >= 0; f++)
        done = put_field(layout, integrate[1], f, spec);
    for (int tree = 0; tree < 2; tree++) {
        if (integrate[tree] >= 0)
            H5Gclose(integrate[tree]);
        if (roots[tree] >= 0)
            H5Gclose(roots[tree]);
    }
    return done;
}

static void store_le64(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

static uint64_t load_le64(const uint8_t *p)
{
    uint64_t v = 0;
    for (int i = 0; i < 8; i++)
        v |= (uint64_t)p[i] << 8 * i;
    return v;
}

airy_status airy_pattern_layout_switch(int fd, const struct airy_pattern_layout *layout,
                                       bool per_frame, uint64_t end)
{
    uint8_t bytes[SUPERBLOCK_BYTES];
    AIRY_TRY(airy_file_pread(fd, bytes, sizeof(bytes), 0));
    store_le64(bytes + END_AT, end);
    memset(bytes + ROOT_AT, 0, SUPERBLOCK_BYTES - ROOT_AT); /* cache type 0: nothing is cached */
    store_le64(bytes + ROOT_AT, layout->roots[per_frame]);
    store_le64(bytes + ROOT_AT + 16, layout->roots[0]);
    store_le64(bytes + ROOT_AT + 24, layout->roots[1]);
    return airy_file_pwrite(fd, bytes + END_AT, SUPERBLOCK_BYTES - END_AT, END_AT);
}

/* True if the superblock is of the kind this file relies on. */
static bool is_plain_superblock(const uint8_t *bytes)
{
    return memcmp(bytes, "\211HDF\r\n\032\n", 8) == 0 && bytes[8] == 0 && bytes[13] == 8 &&
           bytes[14] == 8;
}

/* Ends of the regions, and maps without values. */
static airy_status write_regions(int fd, const struct airy_pattern_layout *layout,
                                 const struct airy_pattern_spec *spec)
{
    for (size_t i = 0; i < spec->roi_count; i++) {
        double ends[4];
        region_ends(ends, &spec->rois[i]);
        AIRY_TRY(airy_file_pwrite(fd, ends, sizeof(ends),
                                  layout->offset[AIRY_PATTERN_ROI] + i * sizeof(ends)));
    }
    const size_t cells = spec->grid[0] * spec->grid[1];
    if (cells == 0)
        return AIRY_OK;
    double *none;
    AIRY_TRY(airy_memory_alloc((void **)&none, sizeof(*none) * cells));
    for (size_t i = 0; i < cells; i++)
        none[i] = (double)NAN;
    airy_status status = AIRY_OK;
    for (size_t m = 0; m < airy_pattern_map_count(spec) && status == AIRY_OK; m++)
        status = airy_file_pwrite(fd, none, sizeof(*none) * cells, layout->map[m]);
    airy_memory_release(none);
    return status;
}

size_t airy_pattern_rows_size(const struct airy_pattern_spec *spec)
{
    size_t bytes[AIRY_PATTERN_FIELDS], row = 0, all;
    airy_pattern_row_bytes(bytes, spec);
    for (int f = AIRY_PATTERN_INDEX; f < AIRY_PATTERN_MESSAGE; f++)
        row += bytes[f];
    return airy_mul_size(&all, row, spec->frames) ? SIZE_MAX : all;
}

static airy_status write_constants(int fd, const struct airy_pattern_layout *layout,
                                   const struct airy_pattern_spec *spec)
{
    AIRY_TRY(airy_file_pwrite(fd, spec->radial, layout->row[AIRY_PATTERN_RADIAL],
                              layout->offset[AIRY_PATTERN_RADIAL]));
    if (spec->azimuth_bins)
        AIRY_TRY(airy_file_pwrite(fd, spec->azimuth, layout->row[AIRY_PATTERN_AZIMUTHAL],
                                  layout->offset[AIRY_PATTERN_AZIMUTHAL]));
    AIRY_TRY(
        airy_file_pwrite(fd, spec->index, 8 * spec->frames, layout->offset[AIRY_PATTERN_INDEX]));
    if (spec->monitor)
        AIRY_TRY(airy_file_pwrite(fd, spec->monitor, 8 * spec->frames,
                                  layout->offset[AIRY_PATTERN_MONITOR]));
    AIRY_TRY(write_regions(fd, layout, spec));
    int32_t *pending;
    AIRY_TRY(airy_memory_alloc((void **)&pending, sizeof(*pending) * spec->frames));
    for (size_t i = 0; i < spec->frames; i++)
        pending[i] = AIRY_ROW_PENDING;
    const airy_status status = airy_file_pwrite(fd, pending, sizeof(*pending) * spec->frames,
                                                layout->offset[AIRY_PATTERN_STATUS]);
    airy_memory_release(pending);
    return status;
}

/*
 * The disk space of all rows is reserved now, so that a full disk is one error at the start and
 * later writes cannot fail for want of room. Where the file stays sparse a full disk is an error of
 * the row's pwrite, as nothing is mapped into memory. Messages and per-frame normalizations stay
 * sparse: most runs never write them.
 */
static airy_status reserve_rows(int fd, const struct airy_pattern_layout *layout, const char *path,
                                const struct airy_disk_owner *owner)
{
    const uint64_t size = layout->offset[AIRY_PATTERN_MESSAGE];
    AIRY_TRY(airy_disk_check(path, size, owner));
    return airy_disk_reserve(fd, size, owner);
}

static airy_status complete_file(struct airy_pattern_layout *layout, const char *path,
                                 const struct airy_pattern_spec *spec)
{
    const int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    AIRY_FAIL_HINT_IF(fd < 0, AIRY_ERR_IO, airy_hint_of_errno(errno), AIRY_SUBJECT_NONE,
                      "cannot open it again: %s", strerror(errno));
    uint8_t bytes[SUPERBLOCK_BYTES];
    airy_status status = airy_file_pread(fd, bytes, sizeof(bytes), 0);
    if (status == AIRY_OK && !is_plain_superblock(bytes))
        status = airy_fail(AIRY_ERR_UNSUPPORTED,
                           "this libhdf5 writes superblock version %d, expected 0", bytes[8]);
    if (status == AIRY_OK) {
        layout->end = load_le64(bytes + END_AT);
        layout->per_frame = spec->monitor != NULL || spec->grouped || spec->differ;
        layout->cuttable = layout->offset[AIRY_PATTERN_COUNT] +
                               layout->row[AIRY_PATTERN_COUNT] * spec->frames ==
                           layout->end;
        for (int f = 0; f < AIRY_PATTERN_NORMALIZATION; f++)
            layout->cuttable = layout->cuttable &&
                               layout->offset[f] < layout->offset[AIRY_PATTERN_NORMALIZATION];
        status = reserve_rows(fd, layout, path, &spec->owner);
    }
    if (status == AIRY_OK)
        status = write_constants(fd, layout, spec);
    if (status == AIRY_OK)
        status = airy_pattern_layout_switch(fd, layout, layout->per_frame, layout->end);
    close(fd);
    return status;
}

airy_status airy_pattern_layout_create(struct airy_pattern_layout *layout, const char *partial,
                                       const struct airy_pattern_spec *spec)
{
    struct airy_sink sink;
    hid_t file;
    memset(layout, 0, sizeof(*layout));
    airy_pattern_row_bytes(layout->row, spec);
    AIRY_TRY(airy_hdf5_lock());
    airy_status status = airy_sink_create(&file, &sink, partial, METADATA_BYTES);
    if (status != AIRY_OK) {
        airy_hdf5_unlock();
        return status;
    }
    if (put_everything(layout, file, spec) < 0)
        status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "cannot lay out '%s'", partial);
    if (airy_hdf5_close(file) < 0 && status == AIRY_OK)
        status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "cannot close '%s'", partial);
    if (sink.error)
        status = airy_sink_result(&sink, partial);
    airy_hdf5_unlock();
    if (status == AIRY_OK && (status = complete_file(layout, partial, spec)) != AIRY_OK)
        status = airy_fail_context(status, "%s", partial);
    return status;
}

static bool read_roots(struct airy_pattern_layout *layout, int fd)
{
    uint8_t bytes[SUPERBLOCK_BYTES];
    if (airy_file_pread(fd, bytes, sizeof(bytes), 0) != AIRY_OK || !is_plain_superblock(bytes))
        return false;
    const uint64_t active = load_le64(bytes + ROOT_AT);
    layout->end = load_le64(bytes + END_AT);
    layout->roots[0] = load_le64(bytes + ROOT_AT + 16);
    layout->roots[1] = load_le64(bytes + ROOT_AT + 24);
    layout->per_frame = active == layout->roots[1];
    return layout->roots[0] != layout->roots[1] &&
           (layout->per_frame || active == layout->roots[0]);
}

/* "[40, 37]"; of more than three axes the first three. */
static const char *shape_text(char text[80], int ndim, const hsize_t *shape)
{
    int at = snprintf(text, 80, "[");
    for (int i = 0; i < ndim && i < 3; i++)
        at += snprintf(text + at, 80 - (size_t)at, "%s%llu", i ? ", " : "",
                       (unsigned long long)shape[i]);
    snprintf(text + at, 80 - (size_t)at, "%s]", ndim > 3 ? ", ..." : "");
    return text;
}

/* The dataset is there, of the expected shape, type and layout, inside the file. */
static airy_status find_field(struct airy_pattern_layout *layout, hid_t root, int field,
                              const struct airy_pattern_spec *spec)
{
    char path[128];
    snprintf(path, sizeof(path), "entry/integrate/%s/%s", fields[field].group, fields[field].name);
    const hid_t dataset = airy_hdf5_dataset(root, path);
    if (dataset < 0)
        return airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_NONE, "its dataset %s is missing",
                              path);
    hsize_t want[3] = {0, 0, 0}, have[H5S_MAX_RANK] = {0};
    const int ndim = field_shape(want, field, spec);
    const hid_t type = H5Dget_type(dataset), expected = open_type(fields[field].type),
                space = H5Dget_space(dataset);
    const int have_ndim = space < 0 ? -1 : H5Sget_simple_extent_dims(space, have, NULL);
    const bool same_type = type >= 0 && expected >= 0 && H5Tequal(type, expected) > 0;
    const haddr_t offset = H5Dget_offset(dataset);
    if (type >= 0)
        H5Tclose(type);
    if (expected >= 0)
        H5Tclose(expected);
    if (space >= 0)
        H5Sclose(space);
    H5Dclose(dataset);
    char texts[2][80];
    AIRY_FAIL_IF(have_ndim != ndim || memcmp(have, want, sizeof(want)) != 0, AIRY_ERR_FORMAT,
                 "its %s has shape %s, this run's %s", path, shape_text(texts[0], have_ndim, have),
                 shape_text(texts[1], ndim, want));
    const uint64_t bytes = (uint64_t)layout->row[field] * (fields[field].frames ? spec->frames : 1);
    /* A run that was killed while finishing has cut off what no row needs. */
    const uint64_t end = field >= AIRY_PATTERN_NORMALIZATION && !layout->per_frame ? MAX_FILE
                                                                                   : layout->end;
    AIRY_FAIL_IF(!same_type || offset == HADDR_UNDEF || offset == 0 || offset > end ||
                     bytes > end - offset,
                 AIRY_ERR_FORMAT, "its %s is not laid out as this version does it", path);
    layout->offset[field] = offset;
    return AIRY_OK;
}

static bool has_link(hid_t root, const char *path)
{
    return H5Lexists(root, path, H5P_DEFAULT) > 0;
}

/* What a file has beside what all have. */
static airy_status check_kind(hid_t root, const struct airy_pattern_spec *spec)
{
    AIRY_FAIL_IF(has_link(root, "entry/definition") != (spec->nxazint != NULL), AIRY_ERR_FORMAT,
                 "it is %s NXazint file, this run writes %s", spec->nxazint ? "no" : "an",
                 spec->nxazint ? "one" : "none");
    AIRY_FAIL_IF(has_link(root, "entry/integrate/result/sem") != spec->errors, AIRY_ERR_FORMAT,
                 "it has %s error model, this run has %s", spec->errors ? "no" : "an",
                 spec->errors ? "one" : "none");
    AIRY_FAIL_IF(has_link(root, "entry/integrate/result/azimuthal") != (spec->azimuth_bins > 0),
                 AIRY_ERR_FORMAT, "it has %s, this run %s",
                 spec->azimuth_bins ? "one dimension" : "two dimensions",
                 spec->azimuth_bins ? "two" : "one");
    AIRY_FAIL_IF(has_link(root, "entry/integrate/frame/monitor") != (spec->monitor != NULL),
                 AIRY_ERR_FORMAT, "it has %s monitor, this run has %s", spec->monitor ? "no" : "a",
                 spec->monitor ? "one" : "none");
    AIRY_FAIL_IF(has_link(root, "entry/integrate/frame/frames") != spec->grouped, AIRY_ERR_FORMAT,
                 "its patterns are of %s, this run's of %s",
                 spec->grouped ? "one frame each" : "several frames",
                 spec->grouped ? "several frames" : "one frame each");
    AIRY_FAIL_IF(has_link(root, "entry/integrate/frame/roi") != (spec->roi_count > 0),
                 AIRY_ERR_FORMAT, "it has %s regions, this run has %s", spec->roi_count ? "no" : "",
                 spec->roi_count ? "some" : "none");
    return AIRY_OK;
}

static airy_status find_fields(struct airy_pattern_layout *layout, const hid_t roots[2],
                               const struct airy_pattern_spec *spec)
{
    AIRY_TRY(check_kind(roots[0], spec));
    AIRY_TRY(airy_pattern_find_maps(layout, roots[0], spec));
    for (int f = 0; f < AIRY_PATTERN_FIELDS; f++)
        if (is_wanted(f, spec))
            AIRY_TRY(find_field(layout, roots[only_in(f, 1)], f, spec));
    return AIRY_OK;
}

/*
 * Text of an attribute or a scalar dataset as this program writes them; false when it is not
 * `want`.
 */
static bool same_text(hid_t root, const char *path, const char *want)
{
    const hid_t dataset = airy_hdf5_dataset(root, path);
    const hid_t type = dataset < 0 ? -1 : H5Dget_type(dataset);
    const size_t size = type < 0 || H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0
                            ? 0
                            : H5Tget_size(type);
    bool same = size == strlen(want) + 1;
    char *have = same ? malloc(size) : NULL;
    same = have && airy_hdf5_read_as(dataset, type, H5S_ALL, H5S_ALL, have) >= 0 &&
           memcmp(have, want, size) == 0;
    free(have);
    if (type >= 0)
        H5Tclose(type);
    if (dataset >= 0)
        H5Dclose(dataset);
    return same;
}

static bool same_unit(hid_t root, const char *axis, const char *want)
{
    char *have = NULL;
    const hid_t text = H5Tcopy(H5T_C_S1);
    const hid_t attribute = H5Aopen_by_name(root, axis, "unit_name", H5P_DEFAULT, H5P_DEFAULT);
    const bool read = attribute >= 0 && H5Tset_size(text, H5T_VARIABLE) >= 0 &&
                      H5Tset_cset(text, H5T_CSET_UTF8) >= 0 &&
                      H5Aread(attribute, text, &have) >= 0 && have;
    const bool same = read && strcmp(have, want) == 0;
    if (have)
        H5free_memory(have);
    if (attribute >= 0)
        H5Aclose(attribute);
    H5Tclose(text);
    return same;
}

/*
 * `count` numbers of 8 bytes at an offset are the wanted ones; the first that is not, for the
 * sentence.
 */
static airy_status compare_numbers(int fd, const void *want, size_t count, uint64_t offset,
                                   const char *what)
{
    uint8_t *have;
    AIRY_TRY(airy_memory_alloc((void **)&have, 8 * count));
    airy_status status = airy_file_pread(fd, have, 8 * count, offset);
    for (size_t i = 0; i < count && status == AIRY_OK; i++)
        if (memcmp(have + 8 * i, (const uint8_t *)want + 8 * i, 8) != 0)
            status = airy_fail(AIRY_ERR_FORMAT, "its %s[%zu] differs from this run's", what, i);
    airy_memory_release(have);
    return status;
}

airy_status airy_pattern_fingerprint(char **text, hid_t root)
{
    const airy_status status = airy_hdf5_text_open(text, root, "entry/integrate/fingerprint");
    if (status == AIRY_ERR_NOT_FOUND)
        *text = calloc(1, 1);
    else
        AIRY_TRY(status);
    AIRY_FAIL_IF(!*text, AIRY_ERR_MEMORY, "out of memory for a fingerprint");
    return AIRY_OK;
}

static airy_status compare_units(hid_t root, const struct airy_pattern_spec *spec)
{
    AIRY_FAIL_IF(!same_unit(root, "entry/integrate/result/radial", airy_unit_name(spec->unit)),
                 AIRY_ERR_FORMAT, "its radial unit is not %s", airy_unit_name(spec->unit));
    AIRY_FAIL_IF(spec->azimuth_bins && !same_unit(root, "entry/integrate/result/azimuthal",
                                                  airy_unit_name(spec->azimuth_unit)),
                 AIRY_ERR_FORMAT, "its azimuthal unit is not %s",
                 airy_unit_name(spec->azimuth_unit));
    return AIRY_OK;
}

static airy_status compare_configuration(hid_t root, const struct airy_pattern_spec *spec)
{
    AIRY_FAIL_IF(!same_text(root, "entry/integrate/configuration",
                            spec->configuration ? spec->configuration : "{}"),
                 AIRY_ERR_FORMAT, "its configuration differs from this run's");
    return AIRY_OK;
}

static airy_status compare_fingerprint(hid_t root, const struct airy_pattern_spec *spec)
{
    char *before = NULL;
    AIRY_TRY(airy_pattern_fingerprint(&before, root));
    const airy_status status =
        airy_fingerprint_compare((struct airy_fingerprint_of){before, "the file"},
                                 (struct airy_fingerprint_of){spec->fingerprint, "this run"}, true);
    free(before);
    return status;
}

static airy_status compare_spec(const struct airy_pattern_layout *layout, int fd, hid_t root,
                                const struct airy_pattern_spec *spec)
{
    AIRY_TRY(compare_fingerprint(root, spec));
    AIRY_TRY(compare_units(root, spec));
    AIRY_TRY(compare_numbers(fd, spec->radial, radial_bins(spec),
                             layout->offset[AIRY_PATTERN_RADIAL], "radial"));
    if (spec->azimuth_bins)
        AIRY_TRY(compare_numbers(fd, spec->azimuth, spec->azimuth_bins,
                                 layout->offset[AIRY_PATTERN_AZIMUTHAL], "azimuthal"));
    AIRY_TRY(compare_numbers(fd, spec->index, spec->frames, layout->offset[AIRY_PATTERN_INDEX],
                             "frame index"));
    if (spec->monitor)
        AIRY_TRY(compare_numbers(fd, spec->monitor, spec->frames,
                                 layout->offset[AIRY_PATTERN_MONITOR], "monitor"));
    return compare_configuration(root, spec);
}

/* A line of doubles of the file is the wanted one. */
static airy_status compare_line(hid_t root, const char *path, const double *want, size_t count)
{
    const hid_t dataset = airy_hdf5_dataset(root, path);
    const hid_t space = dataset < 0 ? -1 : H5Dget_space(dataset);
    double *have = NULL;
    airy_status status = airy_memory_alloc((void **)&have, count * sizeof(*have));
    if (status == AIRY_OK && (space < 0 || H5Sget_simple_extent_npoints(space) != (hssize_t)count ||
                              airy_hdf5_read(dataset, AIRY_DTYPE_F64, H5S_ALL, H5S_ALL, have) < 0 ||
                              memcmp(have, want, count * sizeof(*have)) != 0))
        status = airy_fail(AIRY_ERR_FORMAT, "its %s differs from this run's", path);
    airy_memory_release(have);
    if (space >= 0)
        H5Sclose(space);
    if (dataset >= 0)
        H5Dclose(dataset);
    return status;
}

airy_status airy_pattern_fits(hid_t file, const struct airy_pattern_spec *spec)
{
    AIRY_TRY(check_kind(file, spec));
    AIRY_TRY(compare_fingerprint(file, spec));
    AIRY_TRY(compare_units(file, spec));
    AIRY_TRY(compare_line(file, "entry/integrate/result/radial", spec->radial, radial_bins(spec)));
    if (spec->azimuth_bins)
        AIRY_TRY(compare_line(file, "entry/integrate/result/azimuthal", spec->azimuth,
                              spec->azimuth_bins));
    return compare_configuration(file, spec);
}

airy_status airy_pattern_check_growth(hid_t file, bool grows)
{
    const hid_t rows = airy_hdf5_dataset(file, "entry/integrate/frame/status"),
                space = rows < 0 ? -1 : H5Dget_space(rows);
    hsize_t most = 0;
    const bool known = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                       H5Sget_simple_extent_dims(space, NULL, &most) == 1;
    if (space >= 0)
        H5Sclose(space);
    if (rows >= 0)
        H5Dclose(rows);
    AIRY_FAIL_HINT_IF(known && most == H5S_UNLIMITED && !grows, AIRY_ERR_FORMAT, AIRY_HINT_FOLLOW,
                      AIRY_SUBJECT_NONE,
                      "it was begun by a live run or --follow, which did not know the number of "
                      "frames, and this run has one");
    AIRY_FAIL_HINT_IF(known && most != H5S_UNLIMITED && grows, AIRY_ERR_FORMAT, AIRY_HINT_NO_FOLLOW,
                      AIRY_SUBJECT_NONE,
                      "it was begun with a known number of frames, and this run has none");
    return AIRY_OK;
}

static airy_status open_partial(struct airy_pattern_layout *layout, int fd, hid_t file,
                                const struct airy_pattern_spec *spec)
{
    AIRY_TRY(airy_pattern_check_growth(file, false));
    AIRY_FAIL_IF(!read_roots(layout, fd), AIRY_ERR_FORMAT,
                 "it was not made by this program, or changed by another one");
    const hid_t roots[2] = {H5Oopen_by_addr(file, layout->roots[0]),
                            H5Oopen_by_addr(file, layout->roots[1])};
    airy_status status;
    if (roots[0] < 0 || roots[1] < 0)
        status =
            airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_NONE, "its root groups cannot be opened");
    else
        status = find_fields(layout, roots, spec);
    if (status == AIRY_OK)
        status = compare_spec(layout, fd, roots[0], spec);
    for (int tree = 0; tree < 2; tree++)
        if (roots[tree] >= 0)
            H5Oclose(roots[tree]);
    if (status == AIRY_OK) {
        const uint64_t tail = layout->offset[AIRY_PATTERN_COUNT] +
                              (uint64_t)layout->row[AIRY_PATTERN_COUNT] * spec->frames;
        layout->cut = tail > layout->end;
        layout->end = layout->cut ? tail : layout->end;
        layout->cuttable = tail == layout->end;
    }
    return status;
}

airy_status airy_pattern_layout_open(struct airy_pattern_layout *layout, const char *path,
                                     const struct airy_pattern_spec *spec)
{
    memset(layout, 0, sizeof(*layout));
    airy_pattern_row_bytes(layout->row, spec);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    AIRY_FAIL_HINT_IF(fd < 0, errno == ENOENT ? AIRY_ERR_NOT_FOUND : AIRY_ERR_IO,
                      airy_hint_of_errno(errno), AIRY_SUBJECT_FILE, "cannot resume '%s': %s", path,
                      strerror(errno));
    airy_status status = airy_hdf5_lock();
    if (status == AIRY_OK) {
        hid_t file;
        status = airy_hdf5_open(&file, path);
        if (status == AIRY_OK) {
            status = open_partial(layout, fd, file, spec);
            H5Fclose(file);
        }
        airy_hdf5_unlock();
    }
    close(fd);
    return status == AIRY_OK ? AIRY_OK
                             : airy_about(AIRY_SUBJECT_FILE, path,
                                          airy_fail_context(status, "cannot resume '%s'", path));
}
