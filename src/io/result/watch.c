#include "airy/watch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/size.h"
#include "io/hdf5/chunk_address.h"
#include "io/hdf5/sources.h"
#include "io/result/layout.h"

/* Those of what reads results. */
enum { MAX_CELLS = 1 << 22, MAX_ROWS = 1 << 26 };

struct airy_watch {
    char *path;
    hid_t file, intensity;
    airy_watch_info info;
    double *radial, *azimuth;
    int32_t *status; /* [rows] */
};

/* A dataset of so many dimensions at most; its shape. Lock held. */
static airy_status open_dataset(hid_t *dataset, int *ndim, hsize_t shape[3], hsize_t most[3],
                                const airy_watch *watch, const char *path)
{
    AIRY_FAIL_ON_IF(!airy_hdf5_exists(watch->file, path), AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_FILE,
                    "'%s' has no %s: it is no result of an integration", watch->path, path);
    *dataset = airy_hdf5_dataset_own(watch->file, path);
    const hid_t space = *dataset < 0 ? -1 : H5Dget_space(*dataset);
    *ndim = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    if (*ndim >= 1 && *ndim <= 3)
        *ndim = H5Sget_simple_extent_dims(space, shape, most);
    if (space >= 0)
        H5Sclose(space);
    return *ndim < 1 || *ndim > 3
               ? airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                                "'%s': %s is no array of numbers", watch->path, path)
               : AIRY_OK;
}

/* A box of a dataset, all of it with start NULL. Lock held. */
static airy_status read_box(void *values, airy_dtype dtype, hid_t dataset, const hsize_t *start,
                            const hsize_t *count, hsize_t cells, const airy_watch *watch)
{
    AIRY_TRY(airy_sources_check(dataset, start, count, watch->path));
    AIRY_TRY(airy_chunk_check(dataset, start, count));
    const hid_t memory = H5Screate_simple(1, &cells, NULL), space = H5Dget_space(dataset);
    const bool chosen =
        memory >= 0 && space >= 0 &&
        (!start || H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0);
    const airy_status status =
        chosen && airy_hdf5_read(dataset, dtype, memory, space, values) >= 0
            ? AIRY_OK
            : airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "'%s' cannot be read", watch->path);
    if (memory >= 0)
        H5Sclose(memory);
    if (space >= 0)
        H5Sclose(space);
    return status;
}

/* frame/status, before anything else: what it calls done was there before it. */
static airy_status read_status(airy_watch *watch)
{
    hid_t dataset = -1;
    int ndim = 0;
    hsize_t shape[3] = {0}, most[3] = {0};
    airy_watch_info *info = &watch->info;
    airy_status status =
        open_dataset(&dataset, &ndim, shape, most, watch, "/entry/integrate/frame/status");
    if (status == AIRY_OK && (ndim != 1 || shape[0] > MAX_ROWS))
        status = airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                              "'%s': frame/status has another shape than a result's", watch->path);
    if (status == AIRY_OK) {
        info->rows = (size_t)shape[0];
        info->grows = most[0] == H5S_UNLIMITED;
        status = airy_memory_calloc((void **)&watch->status, info->rows + 1, sizeof(int32_t),
                                    "status of rows");
    }
    if (status == AIRY_OK && info->rows)
        status = read_box(watch->status, AIRY_DTYPE_I32, dataset, NULL, NULL, shape[0], watch);
    if (dataset >= 0)
        H5Dclose(dataset);
    info->newest = SIZE_MAX;
    for (size_t i = 0; status == AIRY_OK && i < info->rows; i++) {
        info->good += watch->status[i] == AIRY_ROW_GOOD;
        info->bad += watch->status[i] == AIRY_ROW_BAD;
        info->newest = watch->status[i] == AIRY_ROW_GOOD ? i : info->newest;
    }
    return status;
}

static airy_status open_intensity(airy_watch *watch)
{
    int ndim = 0;
    hsize_t shape[3] = {0}, most[3] = {0};
    airy_watch_info *info = &watch->info;
    AIRY_TRY(open_dataset(&watch->intensity, &ndim, shape, most, watch,
                          "/entry/integrate/result/intensity"));
    AIRY_FAIL_ON_IF(ndim < 2 || shape[0] < info->rows || shape[ndim - 1] == 0 ||
                        shape[ndim - 1] > MAX_CELLS ||
                        (ndim == 3 && (shape[1] == 0 || shape[1] > MAX_CELLS / shape[2])),
                    AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "'%s': intensity has another shape than a result's", watch->path);
    info->bins = (size_t)shape[ndim - 1];
    info->azimuth_bins = ndim == 3 ? (size_t)shape[1] : 0;
    return AIRY_OK;
}

/* An axis of `bins` values and its label. */
static airy_status read_axis(double **values, char label[128], airy_watch *watch, const char *path,
                             size_t bins)
{
    hid_t dataset = -1;
    int ndim = 0;
    hsize_t shape[3] = {0}, most[3] = {0};
    char *text = NULL;
    airy_status status = open_dataset(&dataset, &ndim, shape, most, watch, path);
    if (status == AIRY_OK && (ndim != 1 || shape[0] != bins))
        status = airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                              "'%s': %s has another shape than a result's", watch->path, path);
    if (status == AIRY_OK)
        status = airy_memory_calloc((void **)values, bins, sizeof(double), "an axis");
    if (status == AIRY_OK)
        status = read_box(*values, AIRY_DTYPE_F64, dataset, NULL, NULL, shape[0], watch);
    if (status == AIRY_OK && airy_hdf5_attribute_open(&text, dataset, "long_name") == AIRY_OK)
        snprintf(label, 128, "%s", text);
    free(text);
    if (dataset >= 0)
        H5Dclose(dataset);
    return status;
}

static airy_status read_axes(airy_watch *watch)
{
    airy_watch_info *info = &watch->info;
    AIRY_TRY(read_axis(&watch->radial, info->label, watch, "/entry/integrate/result/radial",
                       info->bins));
    if (info->azimuth_bins)
        AIRY_TRY(read_axis(&watch->azimuth, info->azimuth_label, watch,
                           "/entry/integrate/result/azimuthal", info->azimuth_bins));
    info->radial = watch->radial;
    info->azimuth = watch->azimuth;
    return AIRY_OK;
}

bool airy_watch_is_written(const char *path)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    const bool held = fd >= 0 && fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    if (fd >= 0)
        close(fd);
    return held;
}

static airy_status open_all(airy_watch *watch)
{
    AIRY_TRY(airy_hdf5_open(&watch->file, watch->path));
    AIRY_TRY(read_status(watch));
    AIRY_TRY(open_intensity(watch));
    return read_axes(watch);
}

airy_status airy_watch_open(airy_watch **out, const char *path)
{
    AIRY_FAIL_IF(!out || !path, AIRY_ERR_PARAM, "watch or path = NULL");
    airy_watch *watch = NULL;
    AIRY_TRY(airy_memory_calloc((void **)&watch, 1, sizeof(*watch), "a look"));
    watch->file = watch->intensity = -1;
    watch->path = strdup(path);
    airy_status status = watch->path ? airy_hdf5_lock()
                                     : airy_fail(AIRY_ERR_MEMORY, "out of memory for a path");
    if (status == AIRY_OK) {
        status = open_all(watch);
        airy_hdf5_unlock();
    }
    if (status != AIRY_OK) {
        airy_watch_close(&watch);
        return status;
    }
    watch->info.written = airy_watch_is_written(path);
    *out = watch;
    return AIRY_OK;
}

airy_status airy_watch_get_info(const airy_watch *watch, airy_watch_info *info)
{
    AIRY_FAIL_IF(!watch || !info, AIRY_ERR_PARAM, "watch or info = NULL");
    *info = watch->info;
    return AIRY_OK;
}

bool airy_watch_is_good(const airy_watch *watch, size_t row)
{
    return watch && row < watch->info.rows && watch->status[row] == AIRY_ROW_GOOD;
}

airy_status airy_watch_read(airy_watch *watch, size_t row, float *values)
{
    AIRY_FAIL_IF(!watch || !values, AIRY_ERR_PARAM, "watch or values = NULL");
    AIRY_FAIL_IF(!airy_watch_is_good(watch, row), AIRY_ERR_PARAM, "row %zu of '%s' is not done",
                 row, watch->path);
    const airy_watch_info *info = &watch->info;
    const hsize_t start[3] = {row, 0, 0}, two[2] = {1, info->bins},
                  three[3] = {1, info->azimuth_bins, info->bins};
    const size_t rows = info->azimuth_bins ? info->azimuth_bins : 1;
    AIRY_TRY(airy_hdf5_lock());
    const airy_status status = read_box(values, AIRY_DTYPE_F32, watch->intensity, start,
                                        info->azimuth_bins ? three : two, rows * info->bins, watch);
    airy_hdf5_unlock();
    return status;
}

static airy_status read_number(airy_watch *watch, const char *path, size_t row, double *value)
{
    hid_t dataset = -1;
    int ndim = 0;
    hsize_t shape[3] = {0}, most[3] = {0};
    const hsize_t start = row, one = 1;
    airy_status status = open_dataset(&dataset, &ndim, shape, most, watch, path);
    if (status == AIRY_OK && (ndim != 1 || row >= shape[0]))
        status = airy_fail_on(AIRY_ERR_PARAM, AIRY_SUBJECT_FILE, "'%s': %s has no row %zu",
                              watch->path, path, row);
    if (status == AIRY_OK)
        status = read_box(value, AIRY_DTYPE_F64, dataset, &start, &one, 1, watch);
    if (dataset >= 0)
        H5Dclose(dataset);
    return status;
}

airy_status airy_watch_number(airy_watch *watch, const char *name, size_t row, double *value)
{
    static const char *const names[] = {"index", "total", "max", "saturated", "invalid"};
    char path[64] = "";
    AIRY_FAIL_IF(!watch || !name || !value, AIRY_ERR_PARAM, "watch, name or value = NULL");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            snprintf(path, sizeof(path), "/entry/integrate/frame/%s", name);
    AIRY_FAIL_IF(!*path, AIRY_ERR_PARAM, "a row has no number '%.40s'", name);
    AIRY_TRY(airy_hdf5_lock());
    const airy_status status = read_number(watch, path, row, value);
    airy_hdf5_unlock();
    return status;
}

void airy_watch_close(airy_watch **out)
{
    airy_watch *watch = out ? *out : NULL;
    if (!watch)
        return;
    if ((watch->file >= 0 || watch->intensity >= 0) && airy_hdf5_lock() == AIRY_OK) {
        if (watch->intensity >= 0)
            H5Dclose(watch->intensity);
        if (watch->file >= 0)
            H5Fclose(watch->file);
        airy_hdf5_unlock();
    }
    free(watch->path);
    free(watch->radial);
    free(watch->azimuth);
    free(watch->status);
    free(watch);
    *out = NULL;
}
