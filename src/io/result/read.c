#include "io/result/read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/size.h"
#include "io/hdf5/chunk_address.h"
#include "io/hdf5/sources.h"
#include "io/hdf5/util.h"

enum { MAX_CELLS = 1 << 22, MAX_ROWS = 1 << 26 };

/* Values of the rows, one each. */
enum column { INDEX, STATUS, TOTAL, MAXIMUM, SATURATED, INVALID, FRAMES, COLUMNS };

struct airy_pattern_reader {
    char *path;
    hid_t file;
    hid_t planes[AIRY_SUM_PLANES]; /* datasets; -1: there is none */
    bool shared[AIRY_SUM_PLANES];  /* [bins], the same for all rows */
    struct airy_pattern_axes axes;
    size_t cells;
    double *radial, *azimuth;
    char *fingerprint;
    double *columns[COLUMNS]; /* [rows] */
};

static const char *const plane_names[AIRY_SUM_PLANES] = {
    "sum_signal", "sum_variance", "sum_normalization", "sum_normalization2", "count"};

/* The shape of a dataset under /entry/integrate; *dataset is open then. */
static airy_status open_dataset(hid_t *dataset, int *ndim, hsize_t shape[H5S_MAX_RANK],
                                const airy_pattern_reader *reader, const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "/entry/integrate/%s", name);
    AIRY_FAIL_ON_IF(!airy_hdf5_exists(reader->file, path), AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "'%s' has no %s: it is no result of an integration", reader->path, path);
    *dataset = airy_hdf5_dataset_own(reader->file, path);
    const hid_t space = *dataset < 0 ? -1 : H5Dget_space(*dataset);
    *ndim = space < 0 ? -1 : H5Sget_simple_extent_dims(space, shape, NULL);
    if (space >= 0)
        H5Sclose(space);
    return *ndim < 0 ? airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                                      "%s::%s cannot be opened as a dataset", reader->path, path)
                     : AIRY_OK;
}

/* All of a dataset of one dimension as doubles. *count: SIZE_MAX any, up to `most`. */
static airy_status read_line(double **values, size_t *count, size_t most,
                             const airy_pattern_reader *reader, const char *name)
{
    hid_t dataset = -1;
    int ndim = 0;
    hsize_t shape[H5S_MAX_RANK] = {0};
    airy_status status = open_dataset(&dataset, &ndim, shape, reader, name);
    if (status == AIRY_OK && (ndim != 1 || shape[0] == 0 || shape[0] > most ||
                              (*count != SIZE_MAX && shape[0] != (hsize_t)*count)))
        status = airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                              "'%s': %s has another shape than a result's", reader->path, name);
    if (status == AIRY_OK)
        status = airy_sources_check(dataset, NULL, NULL, reader->path);
    if (status == AIRY_OK)
        status = airy_chunk_check(dataset, NULL, NULL);
    if (status == AIRY_OK)
        status = airy_memory_calloc((void **)values, (size_t)shape[0], sizeof(double), "an axis");
    if (status == AIRY_OK && airy_hdf5_read(dataset, AIRY_DTYPE_F64, H5S_ALL, H5S_ALL, *values) < 0)
        status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "'%s': %s cannot be read",
                                reader->path, name);
    if (status == AIRY_OK)
        *count = (size_t)shape[0];
    if (dataset >= 0)
        H5Dclose(dataset);
    return status;
}

static bool has(const airy_pattern_reader *reader, const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "/entry/integrate/%s", name);
    return airy_hdf5_exists(reader->file, path);
}

/* A file that does not say has chi in degrees. */
static bool has_unit(const airy_pattern_reader *reader, const char *axis)
{
    char path[128];
    snprintf(path, sizeof(path), "/entry/integrate/result/%s", axis);
    return H5Aexists_by_name(reader->file, path, "unit_name", H5P_DEFAULT) > 0;
}

static airy_status read_unit(airy_unit *unit, const airy_pattern_reader *reader, const char *axis,
                             airy_status (*parse)(airy_unit *, const char *))
{
    char path[128], *name = NULL;
    snprintf(path, sizeof(path), "/entry/integrate/result/%s", axis);
    const hid_t dataset = airy_hdf5_dataset_own(reader->file, path);
    airy_status status = dataset < 0 ? airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                                                      "'%s' has no %s axis", reader->path, axis)
                                     : airy_hdf5_attribute_open(&name, dataset, "unit_name");
    if (dataset >= 0)
        H5Dclose(dataset);
    if (status == AIRY_OK)
        status = parse(unit, name);
    free(name);
    return status == AIRY_OK ? AIRY_OK
                             : airy_fail_context(AIRY_ERR_FORMAT, "'%s': unit of the %s axis",
                                                 reader->path, axis);
}

static airy_status read_axes(airy_pattern_reader *reader)
{
    struct airy_pattern_axes *axes = &reader->axes;
    axes->bins = SIZE_MAX;
    AIRY_TRY(read_line(&reader->radial, &axes->bins, MAX_CELLS, reader, "result/radial"));
    if (has(reader, "result/azimuthal")) {
        axes->azimuth_bins = SIZE_MAX;
        AIRY_TRY(read_line(&reader->azimuth, &axes->azimuth_bins, MAX_CELLS / axes->bins, reader,
                           "result/azimuthal"));
    }
    AIRY_TRY(read_unit(&axes->unit, reader, "radial", airy_unit_parse));
    axes->azimuth_unit = AIRY_UNIT_CHI_DEG;
    if (reader->azimuth && has_unit(reader, "azimuthal"))
        AIRY_TRY(read_unit(&axes->azimuth_unit, reader, "azimuthal", airy_unit_parse_azimuthal));
    AIRY_TRY(airy_pattern_fingerprint(&reader->fingerprint, reader->file));
    axes->fingerprint = reader->fingerprint;
    axes->radial = reader->radial;
    axes->azimuth = reader->azimuth;
    reader->cells = axes->bins * airy_max_size(axes->azimuth_bins, 1);
    return AIRY_OK;
}

static airy_status read_columns(airy_pattern_reader *reader)
{
    static const char *const names[COLUMNS] = {"frame/index", "frame/status",    "frame/total",
                                               "frame/max",   "frame/saturated", "frame/invalid",
                                               "frame/frames"};
    reader->axes.rows = SIZE_MAX;
    for (int k = 0; k < COLUMNS; k++)
        if (k != FRAMES || has(reader, names[k]))
            AIRY_TRY(
                read_line(&reader->columns[k], &reader->axes.rows, MAX_ROWS, reader, names[k]));
    return AIRY_OK;
}

/* [rows, (azimuth,) bins], or without rows. */
static airy_status open_plane(airy_pattern_reader *reader, int plane)
{
    const struct airy_pattern_axes *axes = &reader->axes;
    char name[64];
    hsize_t shape[H5S_MAX_RANK] = {0}, want[3];
    int ndim = 0, n = 0;
    snprintf(name, sizeof(name), "merged/%s", plane_names[plane]);
    AIRY_TRY(open_dataset(&reader->planes[plane], &ndim, shape, reader, name));
    if (axes->azimuth_bins)
        want[n++] = axes->azimuth_bins;
    want[n++] = axes->bins;
    const bool shared = ndim == n && plane >= AIRY_SUM_NORMALIZATION;
    bool fits = shared || (ndim == n + 1 && shape[0] == axes->rows);
    for (int i = 0; i < n && fits; i++)
        fits = shape[i + !shared] == want[i];
    AIRY_FAIL_ON_IF(!fits, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "'%s': %s has another shape than the axes and rows", reader->path, name);
    reader->shared[plane] = shared;
    return AIRY_OK;
}

static airy_status open_all(airy_pattern_reader *reader)
{
    AIRY_TRY(airy_hdf5_open(&reader->file, reader->path));
    AIRY_TRY(read_axes(reader));
    AIRY_TRY(read_columns(reader));
    reader->axes.errors = has(reader, "merged/sum_variance");
    for (int k = 0; k < AIRY_SUM_PLANES; k++)
        if (k != AIRY_SUM_VARIANCE || reader->axes.errors)
            AIRY_TRY(open_plane(reader, k));
    return AIRY_OK;
}

airy_status airy_pattern_reader_open(airy_pattern_reader **reader, const char *path)
{
    airy_pattern_reader *made;
    AIRY_TRY(airy_memory_calloc((void **)&made, 1, sizeof(*made), "a result"));
    made->file = -1;
    for (int k = 0; k < AIRY_SUM_PLANES; k++)
        made->planes[k] = -1;
    made->path = strdup(path);
    airy_status status = made->path ? airy_hdf5_lock()
                                    : airy_fail(AIRY_ERR_MEMORY, "out of memory for a path");
    if (status == AIRY_OK) {
        status = open_all(made);
        airy_hdf5_unlock();
    }
    if (status != AIRY_OK) {
        airy_pattern_reader_close(&made);
        return status;
    }
    *reader = made;
    return AIRY_OK;
}

void airy_pattern_reader_close(airy_pattern_reader **reader)
{
    airy_pattern_reader *r = reader ? *reader : NULL;
    if (!r)
        return;
    if (r->file >= 0 && airy_hdf5_lock() == AIRY_OK) {
        for (int k = 0; k < AIRY_SUM_PLANES; k++)
            if (r->planes[k] >= 0)
                H5Dclose(r->planes[k]);
        H5Fclose(r->file);
        airy_hdf5_unlock();
    }
    for (int k = 0; k < COLUMNS; k++)
        free(r->columns[k]);
    free(r->radial);
    free(r->azimuth);
    free(r->fingerprint);
    free(r->path);
    free(r);
    *reader = NULL;
}

const struct airy_pattern_axes *airy_pattern_reader_axes(const airy_pattern_reader *reader)
{
    return &reader->axes;
}

int32_t airy_pattern_reader_status(const airy_pattern_reader *reader, size_t row)
{
    const double v = reader->columns[STATUS][row];
    return v == 0 ? AIRY_ROW_GOOD : v < 0 ? AIRY_ROW_PENDING : AIRY_ROW_BAD;
}

/* A count out of a file, which may hold anything. */
static double bounded(double v, double most)
{
    return v >= 0 ? fmin(v, most) : 0;
}

uint64_t airy_pattern_reader_index(const airy_pattern_reader *reader, size_t row)
{
    return (uint64_t)bounded(reader->columns[INDEX][row], 0x1p53);
}

/* The lock is held. */
static airy_status read_plane(const airy_pattern_reader *reader, int plane, size_t row,
                              double *values)
{
    const struct airy_pattern_axes *axes = &reader->axes;
    if (reader->planes[plane] < 0) {
        memset(values, 0, reader->cells * sizeof(double));
        return AIRY_OK;
    }
    hsize_t start[3] = {row, 0, 0}, count[3] = {1, axes->bins, 0};
    if (axes->azimuth_bins) {
        count[1] = axes->azimuth_bins;
        count[2] = axes->bins;
    }
    const hsize_t cells = reader->cells;
    const hid_t memory = H5Screate_simple(1, &cells, NULL),
                space = H5Dget_space(reader->planes[plane]);
    const bool chosen = memory >= 0 && space >= 0 &&
                        (reader->shared[plane] ||
                         H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0);
    const hsize_t *first = reader->shared[plane] ? NULL : start,
                  *part = reader->shared[plane] ? NULL : count;
    airy_status status = airy_sources_check(reader->planes[plane], first, part, reader->path);
    if (status == AIRY_OK)
        status = airy_chunk_check(reader->planes[plane], first, part);
    if (status == AIRY_OK && (!chosen || airy_hdf5_read(reader->planes[plane], AIRY_DTYPE_F64,
                                                        memory, space, values) < 0))
        status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE,
                                "'%s': row %zu of %s cannot be read", reader->path, row,
                                plane_names[plane]);
    if (memory >= 0)
        H5Sclose(memory);
    if (space >= 0)
        H5Sclose(space);
    return status;
}

airy_status airy_pattern_reader_row(airy_pattern_reader *reader, size_t row, double *sums,
                                    airy_frame_stats *stats, uint32_t *frames)
{
    AIRY_TRY(airy_hdf5_lock());
    airy_status status = AIRY_OK;
    for (int k = 0; k < AIRY_SUM_PLANES && status == AIRY_OK; k++)
        status = read_plane(reader, k, row, sums + (size_t)k * reader->cells);
    airy_hdf5_unlock();
    AIRY_TRY(status);
    double *const *columns = reader->columns;
    *stats = (airy_frame_stats){
        .total = columns[TOTAL][row],
        .max = columns[MAXIMUM][row],
        .invalid = (uint32_t)bounded(columns[INVALID][row], UINT32_MAX),
        .saturated = (uint32_t)bounded(columns[SATURATED][row], UINT32_MAX),
        .status = airy_pattern_reader_status(reader, row) == AIRY_ROW_GOOD ? AIRY_FRAME_GOOD : 0,
    };
    *frames = columns[FRAMES] ? (uint32_t)bounded(columns[FRAMES][row], UINT32_MAX) : 1;
    return AIRY_OK;
}
