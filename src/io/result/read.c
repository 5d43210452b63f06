/* Results read back: opening, snapshots, rows of planes, texts. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/size.h"
#include "io/hdf5/sources.h"
#include "io/result/reader.h"

enum { LINKED_MAX = 1 << 14 }; /* files that are looked at */

static const char partial[] = ".partial";

const char *airy_result_kind_name(airy_result_kind kind)
{
    static const char *const names[AIRY_RESULT_COUNT] = {"patterns", "sparse", "frames", "image"};
    return (unsigned)kind < AIRY_RESULT_COUNT ? names[kind] : "?";
}

/* ---- open and close ---- */

static void close_file(airy_result *result)
{
    if (result->file < 0 || airy_hdf5_lock() != AIRY_OK)
        return;
    for (size_t i = 0; i < result->info.planes; i++) {
        if (result->planes[i].dataset >= 0)
            H5Dclose(result->planes[i].dataset);
        result->planes[i].dataset = -1;
    }
    H5Fclose(result->file);
    result->file = -1;
    airy_hdf5_unlock();
}

/* Release all that an open result has; *result is cleared. */
static void release(airy_result *result)
{
    close_file(result);
    for (size_t i = 0; i < AIRY_RESULT_AXES; i++)
        free(result->axes[i].values);
    free(result->planes);
    free(result->status);
    free(result->name);
    free(result->path);
    *result = (airy_result){.file = -1};
}

/* The other name of a result: PATH of PATH.partial, and the other way round; malloc'ed. */
static char *other_name(const char *path)
{
    const size_t n = strlen(path), tail = strlen(partial);
    const bool ends = n > tail && strcmp(path + n - tail, partial) == 0;
    char *other = malloc(n + tail + 1);
    if (other)
        snprintf(other, n + tail + 1, "%.*s%s", (int)(ends ? n - tail : n), path,
                 ends ? "" : partial);
    return other;
}

/* The file that is there, malloc'ed; a run may give it its final name meanwhile. */
static char *choose_path(const char *name)
{
    char *other = access(name, F_OK) != 0 ? other_name(name) : NULL;
    if (other && access(other, F_OK) == 0 && access(name, F_OK) != 0)
        return other;
    free(other);
    return strdup(name);
}

static airy_status open_file(airy_result *result)
{
    free(result->path);
    result->path = choose_path(result->name);
    AIRY_FAIL_IF(!result->path, AIRY_ERR_MEMORY, "out of memory for a path");
    AIRY_TRY(airy_hdf5_lock());
    airy_status status = airy_hdf5_open(&result->file, result->path);
    if (status == AIRY_OK)
        status = airy_result_describe(result);
    airy_hdf5_unlock();
    return status;
}

/* Whether a file of this name, beside the result, is written. Names of elsewhere are not opened. */
static bool is_part_written(const airy_result *result, const char *name)
{
    struct stat about;
    char *path = *name == '/' || strstr(name, "..") ? NULL
                                                    : airy_hdf5_source_find(result->path, name);
    const bool written = path && stat(path, &about) == 0 && S_ISREG(about.st_mode) &&
                         airy_result_is_written(path);
    free(path);
    return written;
}

/* Whether it is written, or one of the files that it shows as one. */
static bool is_written(airy_result *result)
{
    char *text = NULL, *rest = NULL;
    bool written = airy_result_is_written(result->path);
    size_t left = LINKED_MAX;
    airy_error before;
    airy_error_get(&before);
    if (written || airy_result_get_text(result, "files", &text) != AIRY_OK) {
        airy_error_clear(); /* that it shows no other files is no failure of the caller's */
        (void)airy_error_restore(&before);
        return written;
    }
    for (char *name = strtok_r(text, "\n", &rest); name && !written && left-- > 0;
         name = strtok_r(NULL, "\n", &rest))
        written = is_part_written(result, name);
    free(text);
    return written;
}

/* result is cleared; nothing is left in it after a failure. */
static airy_status open_result(airy_result *result, const char *name)
{
    *result = (airy_result){.file = -1, .name = strdup(name)};
    AIRY_FAIL_IF(!result->name, AIRY_ERR_MEMORY, "out of memory for a path");
    airy_status status = open_file(result);
    /* It got its name after it was chosen. */
    if (status == AIRY_ERR_NOT_FOUND && result->file < 0 && strcmp(result->path, name) != 0)
        status = open_file(result);
    if (status == AIRY_OK)
        result->info.written = is_written(result);
    else
        release(result);
    return status;
}

airy_status airy_result_open(airy_result **result, const char *path)
{
    AIRY_FAIL_IF(!result || !path || !*path, AIRY_ERR_PARAM, "result or path is NULL or empty");
    airy_result *made;
    AIRY_TRY(airy_memory_calloc((void **)&made, 1, sizeof(*made), "a result"));
    const airy_status status = open_result(made, path);
    if (status == AIRY_OK)
        *result = made;
    else
        free(made);
    return status;
}

void airy_result_close(airy_result **result)
{
    if (!result || !*result)
        return;
    release(*result);
    free(*result);
    *result = NULL;
}

/* The file is closed first: libhdf5 would show an open one as it was when it was opened. */
airy_status airy_result_refresh(airy_result *result)
{
    AIRY_FAIL_IF(!result, AIRY_ERR_PARAM, "result = NULL");
    airy_result *fresh = NULL;
    close_file(result);
    AIRY_TRY(airy_result_open(&fresh, result->name));
    release(result);
    *result = *fresh;
    free(fresh);
    airy_result_point(result);
    return AIRY_OK;
}

bool airy_result_is_written(const char *path)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    const bool held = fd >= 0 && fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    if (fd >= 0)
        close(fd);
    return held;
}

/* ---- what it holds ---- */

airy_status airy_result_get_info(const airy_result *result, airy_result_info *info)
{
    AIRY_FAIL_IF(!result || !info, AIRY_ERR_PARAM, "result or info = NULL");
    *info = result->info;
    return AIRY_OK;
}

airy_status airy_result_get_axis(const airy_result *result, size_t index, airy_result_axis *axis)
{
    AIRY_FAIL_IF(!result || !axis, AIRY_ERR_PARAM, "result or axis = NULL");
    AIRY_FAIL_ON_IF(index >= result->info.axes, AIRY_ERR_PARAM, AIRY_SUBJECT_FILE,
                    "'%s' has no axis %zu, but %zu", result->path, index, result->info.axes);
    *axis = result->axes[index].about;
    return AIRY_OK;
}

airy_status airy_result_get_plane(const airy_result *result, size_t index, airy_result_plane *plane)
{
    AIRY_FAIL_IF(!result || !plane, AIRY_ERR_PARAM, "result or plane = NULL");
    AIRY_FAIL_ON_IF(index >= result->info.planes, AIRY_ERR_PARAM, AIRY_SUBJECT_FILE,
                    "'%s' has no plane %zu, but %zu", result->path, index, result->info.planes);
    *plane = result->planes[index].about;
    return AIRY_OK;
}

/* NULL: there is none. */
static struct airy_result_dataset *find_plane(const airy_result *result, const char *name)
{
    struct airy_result_dataset *found = NULL;
    for (size_t i = 0; i < result->info.planes; i++) {
        struct airy_result_dataset *plane = &result->planes[i];
        if (strcmp(plane->name, name) == 0)
            return plane;
        if (!found && strcmp(strrchr(plane->name, '/') + 1, name) == 0)
            found = plane;
    }
    return found;
}

airy_status airy_result_find_plane(const airy_result *result, const char *name,
                                   airy_result_plane *plane)
{
    AIRY_FAIL_IF(!result || !name || !plane, AIRY_ERR_PARAM, "result, name or plane = NULL");
    const struct airy_result_dataset *found = find_plane(result, name);
    AIRY_FAIL_ON_IF(!found, AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_FILE,
                    "'%s' has no plane '%.80s'; it is a result of kind %s", result->path, name,
                    airy_result_kind_name(result->info.kind));
    *plane = found->about;
    return AIRY_OK;
}

airy_row airy_result_get_row(const airy_result *result, size_t row)
{
    if (!result || row >= result->info.rows)
        return AIRY_ROW_PENDING;
    const int32_t status = result->status ? result->status[row] : AIRY_ROW_GOOD;
    return status < 0 ? AIRY_ROW_PENDING : status > 0 ? AIRY_ROW_BAD : AIRY_ROW_GOOD;
}

/* ---- rows ---- */

static airy_status check_read(const airy_result *result, const struct airy_result_dataset *plane,
                              size_t first, size_t count, airy_dtype dtype, size_t bytes)
{
    const airy_result_plane *about = &plane->about;
    size_t need;
    AIRY_FAIL_ON_IF(first > about->rows || count > about->rows - first, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_FILE, "'%s': %s has %zu rows, %zu from row %zu on are too many",
                    result->path, about->name, about->rows, count, first);
    AIRY_FAIL_ON_IF(airy_dtype_size(dtype) == 0 || (about->text && dtype != AIRY_DTYPE_U8) ||
                        (airy_dtype_is_float(about->dtype) && !airy_dtype_is_float(dtype)),
                    AIRY_ERR_DTYPE, AIRY_SUBJECT_FILE, "'%s': %s holds %s, which %s cannot",
                    result->path, about->name,
                    about->text ? "texts" : airy_dtype_name(about->dtype), airy_dtype_name(dtype));
    AIRY_FAIL_ON_IF(airy_mul_size(&need, count, about->cells) ||
                        airy_mul_size(&need, need, airy_dtype_size(dtype)) || need > bytes,
                    AIRY_ERR_PARAM, AIRY_SUBJECT_FILE,
                    "'%s': %zu rows of %s need more than %zu bytes", result->path, count,
                    about->name, bytes);
    return AIRY_OK;
}

/* Elements in memory; to be closed. */
static hid_t memory_type(const struct airy_result_dataset *plane, airy_dtype dtype)
{
    return plane->about.text ? H5Dget_type(plane->dataset)
                             : airy_hdf5_element(dtype, plane->about.is_complex);
}

/* The file may have been written to since it was described: rows may have come, and no more. */
static airy_status check_unchanged(const struct airy_result_dataset *plane, hid_t dataset,
                                   const char *what)
{
    hsize_t shape[H5S_MAX_RANK];
    const hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
    bool same = space >= 0 && type >= 0 &&
                H5Sget_simple_extent_dims(space, shape, NULL) == plane->ndim &&
                (!plane->about.text || H5Tget_size(type) == plane->about.text);
    for (int axis = 1; same && axis < plane->ndim; axis++)
        same = shape[axis] == plane->shape[axis];
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    AIRY_FAIL_ON_IF(!same, AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET,
                    "%s: its shape or type has changed since the result was opened", what);
    return AIRY_OK;
}

/* The filters are ours or libhdf5's: looked at once, when the plane is first read. Lock held. */
static airy_status open_plane(const airy_result *result, struct airy_result_dataset *plane)
{
    if (plane->dataset >= 0)
        return AIRY_OK;
    char what[4096];
    snprintf(what, sizeof(what), "%.3000s::%s", result->path, plane->path);
    const hid_t dataset = airy_hdf5_dataset_own(result->file, plane->path);
    if (dataset < 0)
        return airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_DATASET, "%s cannot be opened", what);
    const hid_t creation = H5Dget_create_plist(dataset);
    airy_status status = creation < 0 ? airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_DATASET,
                                                       "%s: its filters cannot be read", what)
                                      : airy_filter_check(creation, plane->path);
    if (status == AIRY_OK)
        status = check_unchanged(plane, dataset, what);
    if (creation >= 0)
        H5Pclose(creation);
    if (status == AIRY_OK)
        plane->dataset = dataset;
    else
        H5Dclose(dataset);
    return status;
}

/* Lock held. */
static airy_status read_rows(airy_result *result, struct airy_result_dataset *plane, size_t first,
                             size_t count, airy_dtype dtype, void *out)
{
    const airy_result_plane *about = &plane->about;
    hsize_t start[AIRY_RESULT_DIMS] = {first}, part[AIRY_RESULT_DIMS];
    const size_t parts = about->text ? about->text : about->is_complex ? 2 : 1;
    const bool split = about->has_rows || plane->is_list;
    char what[4096];
    AIRY_TRY(open_plane(result, plane));
    memcpy(part, plane->shape, sizeof(part));
    part[0] = count;
    snprintf(what, sizeof(what), "%.3000s::%s", result->path, plane->path);
    const hid_t type = memory_type(plane, dtype);
    if (type < 0)
        return airy_hdf5_fail(AIRY_ERR_MEMORY, AIRY_SUBJECT_DATASET, "%s: its type cannot be made",
                              what);
    const airy_status status = airy_result_read_box(out, type, plane->dataset, split ? start : NULL,
                                                    split ? part : NULL,
                                                    (hsize_t)count * (about->cells / parts), what);
    H5Tclose(type);
    return status;
}

static void blank(void *out, airy_dtype dtype, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (dtype == AIRY_DTYPE_F32)
            ((float *)out)[i] = NAN;
        else
            ((double *)out)[i] = (double)NAN;
}

/* Rows that are pending are not read: they have no values, whatever the file has in their place. */
static airy_status read_done(airy_result *result, struct airy_result_dataset *plane, size_t first,
                             size_t count, airy_dtype dtype, void *out)
{
    const size_t row_bytes = plane->about.cells * airy_dtype_size(dtype);
    for (size_t row = 0, end = 0; row < count; row = end) {
        const bool pending = airy_result_get_row(result, first + row) == AIRY_ROW_PENDING;
        end = row + 1;
        while (end < count &&
               pending == (airy_result_get_row(result, first + end) == AIRY_ROW_PENDING))
            end++;
        uint8_t *at = (uint8_t *)out + row * row_bytes;
        if (pending)
            blank(at, dtype, (end - row) * plane->about.cells);
        else
            AIRY_TRY(read_rows(result, plane, first + row, end - row, dtype, at));
    }
    return AIRY_OK;
}

static airy_status check_open(const airy_result *result)
{
    AIRY_FAIL_ON_IF(result->file < 0, AIRY_ERR_IO, AIRY_SUBJECT_FILE,
                    "'%s' could not be opened again", result->path);
    return AIRY_OK;
}

static airy_status read_plane(airy_result *result, struct airy_result_dataset *plane, size_t first,
                              size_t count, airy_dtype dtype, void *out)
{
    if (count == 0 || plane->about.cells == 0)
        return AIRY_OK;
    AIRY_TRY(check_open(result));
    AIRY_TRY(airy_hdf5_lock());
    const bool skips = plane->is_blank && airy_dtype_is_float(dtype);
    const airy_status status =
        (skips ? read_done : read_rows)(result, plane, first, count, dtype, out);
    airy_hdf5_unlock();
    return status;
}

airy_status airy_result_read(airy_result *result, const char *name, size_t first, size_t count,
                             airy_dtype dtype, void *out, size_t bytes)
{
    AIRY_FAIL_IF(!result || !name || !out, AIRY_ERR_PARAM, "result, plane or out = NULL");
    struct airy_result_dataset *plane = find_plane(result, name);
    AIRY_FAIL_ON_IF(!plane, AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_FILE, "'%s' has no plane '%.80s'",
                    result->path, name);
    AIRY_TRY(check_read(result, plane, first, count, dtype, bytes));
    return read_plane(result, plane, first, count, dtype, out);
}

/* ---- texts ---- */

airy_status airy_result_get_message(airy_result *result, size_t row, char *text, size_t size)
{
    char message[4097];
    AIRY_FAIL_IF(!result || !text || size == 0, AIRY_ERR_PARAM,
                 "result or text = NULL, or no room for it");
    AIRY_FAIL_ON_IF(row >= result->info.rows, AIRY_ERR_PARAM, AIRY_SUBJECT_FILE,
                    "'%s' has %zu rows, no row %zu", result->path, result->info.rows, row);
    struct airy_result_dataset *plane = find_plane(result, "frame/message");
    *text = 0;
    if (!plane || !plane->about.text || plane->about.cells >= sizeof(message) ||
        !plane->about.has_rows || airy_result_get_row(result, row) == AIRY_ROW_PENDING)
        return AIRY_OK;
    AIRY_TRY(read_plane(result, plane, row, 1, AIRY_DTYPE_U8, message));
    message[plane->about.cells] = 0;
    snprintf(text, size, "%s", message);
    return AIRY_OK;
}

airy_status airy_result_get_text(airy_result *result, const char *name, char **text)
{
    AIRY_FAIL_IF(!result || !name || !text, AIRY_ERR_PARAM, "result, name or text = NULL");
    char path[sizeof(result->base) + 80];
    const size_t n = strlen(name);
    AIRY_FAIL_IF(n == 0 || n > 64 || *name == '/' || strstr(name, ".."), AIRY_ERR_PARAM,
                 "'%.80s' is no name of a text", name);
    snprintf(path, sizeof(path), "%s/%s", result->base, name);
    AIRY_TRY(check_open(result));
    AIRY_TRY(airy_hdf5_lock());
    /* A NXnote has it in "data". */
    H5O_info_t info;
    if (airy_hdf5_exists(result->file, path) &&
        H5Oget_info_by_name2(result->file, path, &info, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
        info.type == H5O_TYPE_GROUP)
        snprintf(path, sizeof(path), "%s/%s/data", result->base, name);
    airy_status status = airy_hdf5_text_open(text, result->file, path);
    if (status == AIRY_ERR_NOT_FOUND && airy_probe_result(result->file) != AIRY_OK)
        status = AIRY_ERR_IO;
    airy_hdf5_unlock();
    return status == AIRY_OK ? AIRY_OK : airy_fail_context(status, "'%s'", result->path);
}
