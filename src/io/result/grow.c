#include "io/result/grow.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/size.h"
#include "io/hdf5/sink.h"
#include "io/hdf5/sources.h"
#include "io/result/layout.h"
#include "io/file/plain_file.h"

enum {
    METADATA_BYTES = 64 << 10,
    HELD_BYTES = 32 << 20, /* rows in memory, in each of two halves */
    HELD_ROWS = 4096,
    COPY_BYTES = 16 << 20, /* of a field, while a file is taken over */
    HALVES = 2,
};
#define FLUSH_NS ((uint64_t)200000000)

/* Rows that are not in the file yet. */
struct half {
    size_t *rows; /* [capacity] */
    int32_t *status;
    bool *bad;                            /* has a message */
    uint8_t *fields[AIRY_PATTERN_FIELDS]; /* [capacity][bytes] of those that are written by row */
    size_t count;
};

struct airy_pattern_growing {
    char *path, *partial;
    int fd; /* holds the lock */
    bool force, finished;
    size_t bins;
    size_t bytes[AIRY_PATTERN_FIELDS];
    struct airy_pattern_numbers numbers;
    uint8_t *done; /* [earlier] rows of the file that was resumed */
    size_t earlier;
    hid_t file, datasets[AIRY_PATTERN_FIELDS]; /* -1: there is none; with the lock of libhdf5 */
    size_t rows;                               /* in the file */
    struct airy_sink sink;

    size_t capacity; /* of a half */
    struct half halves[HALVES];
    pthread_mutex_t lock;
    pthread_cond_t some, room;
    int filling;      /* half that rows are put into; the other is being written, or empty */
    bool full, ends;  /* the thread is asked to write at once; to end */
    airy_error error; /* of the thread */
    pthread_t thread;
    bool has_thread;
    struct airy_disk_owner owner;
};

/* Fields that a row brings with it, but for status and message. */
static bool is_value(const airy_pattern_growing *file, int field)
{
    return file->datasets[field] >= 0 && field != AIRY_PATTERN_INDEX &&
           field != AIRY_PATTERN_STATUS && field != AIRY_PATTERN_MESSAGE;
}

static airy_status open_half(airy_pattern_growing *file, struct half *half)
{
    const size_t n = file->capacity;
    AIRY_TRY(airy_memory_calloc((void **)&half->rows, n, sizeof(half->rows[0]), "rows"));
    AIRY_TRY(airy_memory_calloc((void **)&half->status, n, sizeof(half->status[0]), "rows"));
    AIRY_TRY(airy_memory_calloc((void **)&half->bad, n, sizeof(half->bad[0]), "rows"));
    for (int f = 0; f < AIRY_PATTERN_FIELDS; f++)
        if (is_value(file, f) || (f == AIRY_PATTERN_MESSAGE && file->datasets[f] >= 0))
            AIRY_TRY(airy_memory_calloc((void **)&half->fields[f], n, file->bytes[f], "rows"));
    return AIRY_OK;
}

static void close_half(struct half *half)
{
    free(half->rows);
    free(half->status);
    free(half->bad);
    for (int f = 0; f < AIRY_PATTERN_FIELDS; f++)
        free(half->fields[f]);
}

/* Rows from `row` on of one dataset, as far as it is long. Lock of libhdf5 held. */
static herr_t transfer(hid_t dataset, int field, size_t row, size_t count, void *values, bool write)
{
    hsize_t start[H5S_MAX_RANK] = {row}, shape[H5S_MAX_RANK];
    const hid_t space = H5Dget_space(dataset), type = airy_pattern_field_type(field);
    const int ndim = space < 0 ? -1 : H5Sget_simple_extent_dims(space, shape, NULL);
    herr_t done = -1;
    if (ndim >= 1 && row + count <= shape[0]) {
        shape[0] = count;
        const hid_t memory = H5Screate_simple(ndim, shape, NULL);
        if (memory >= 0 && type >= 0 &&
            H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, shape, NULL) >= 0)
            done = write ? H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, values)
                         : airy_hdf5_read_as(dataset, type, memory, space, values);
        if (memory >= 0)
            H5Sclose(memory);
    }
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    return done;
}

static herr_t extend(const airy_pattern_growing *file, int field, size_t rows)
{
    hsize_t shape[H5S_MAX_RANK];
    const hid_t space = H5Dget_space(file->datasets[field]);
    const int ndim = space < 0 ? -1 : H5Sget_simple_extent_dims(space, shape, NULL);
    if (space >= 0)
        H5Sclose(space);
    shape[0] = rows;
    return ndim < 1 ? -1 : H5Dset_extent(file->datasets[field], shape);
}

/* Frame numbers of rows that are new, be they written now or later. */
static herr_t write_index(const airy_pattern_growing *file, size_t from, size_t to)
{
    enum { SOME = 1024 };
    uint64_t numbers[SOME];
    for (size_t row = from; row < to; row += SOME) {
        const size_t count = airy_min_size(to - row, SOME);
        for (size_t i = 0; i < count; i++)
            numbers[i] = file->numbers.first + (row + i) * file->numbers.step;
        if (transfer(file->datasets[AIRY_PATTERN_INDEX], AIRY_PATTERN_INDEX, row, count, numbers,
                     true) < 0)
            return -1;
    }
    return 0;
}

/* All but status, to hold so many rows. */
static herr_t grow(airy_pattern_growing *file, size_t rows)
{
    for (int f = 0; f < AIRY_PATTERN_FIELDS; f++)
        if (file->datasets[f] >= 0 && f != AIRY_PATTERN_STATUS && extend(file, f, rows) < 0)
            return -1;
    return write_index(file, file->rows, rows);
}

/* Neighbours in memory and in the file, from entry i on. */
static size_t run_length(const struct half *half, size_t i)
{
    size_t n = 1;
    while (i + n < half->count && half->rows[i + n] == half->rows[i] + n)
        n++;
    return n;
}

static herr_t write_run(airy_pattern_growing *file, struct half *half, size_t i, size_t count)
{
    for (int f = 0; f < AIRY_PATTERN_FIELDS; f++)
        if (is_value(file, f) && transfer(file->datasets[f], f, half->rows[i], count,
                                          half->fields[f] + i * file->bytes[f], true) < 0)
            return -1;
    for (size_t k = i; k < i + count; k++)
        if (half->bad[k] &&
            transfer(file->datasets[AIRY_PATTERN_MESSAGE], AIRY_PATTERN_MESSAGE, half->rows[k], 1,
                     half->fields[AIRY_PATTERN_MESSAGE] + k * file->bytes[AIRY_PATTERN_MESSAGE],
                     true) < 0)
            return -1;
    return 0;
}

/* A bad row may take the place of a good one, which is none from now on for every reader. */
static herr_t take_back(const airy_pattern_growing *file, const struct half *half)
{
    int32_t pending = AIRY_ROW_PENDING;
    const hid_t status = file->datasets[AIRY_PATTERN_STATUS];
    size_t count = 0;
    for (size_t i = 0; i < half->count; i++) {
        if (half->status[i] == AIRY_ROW_GOOD || half->rows[i] >= file->rows)
            continue;
        if (transfer(status, AIRY_PATTERN_STATUS, half->rows[i], 1, &pending, true) < 0)
            return -1;
        count++;
    }
    return count ? H5Dflush(status) : 0;
}

/* The rows, and when they are in the file for every reader, what says that they are. */
static herr_t write_half(airy_pattern_growing *file, struct half *half)
{
    size_t rows = file->rows;
    for (size_t i = 0; i < half->count; i++)
        rows = airy_max_size(rows, half->rows[i] + 1);
    if (take_back(file, half) < 0 || (rows > file->rows && grow(file, rows) < 0))
        return -1;
    for (size_t i = 0, n = 0; i < half->count; i += n) {
        n = run_length(half, i);
        if (write_run(file, half, i, n) < 0)
            return -1;
    }
    if (H5Fflush(file->file, H5F_SCOPE_LOCAL) < 0)
        return -1;
    if (rows > file->rows && extend(file, AIRY_PATTERN_STATUS, rows) < 0)
        return -1;
    file->rows = rows;
    const hid_t status = file->datasets[AIRY_PATTERN_STATUS];
    for (size_t i = 0, n = 0; i < half->count; i += n) {
        n = run_length(half, i);
        if (transfer(status, AIRY_PATTERN_STATUS, half->rows[i], n, half->status + i, true) < 0)
            return -1;
    }
    return H5Dflush(status);
}

/* Numbers come from a sender: rows up to one that is far off may be more than the disk holds. */
static airy_status check_room(const airy_pattern_growing *file, const struct half *half)
{
    size_t rows = 0, row = 0, size;
    for (size_t i = 0; i < half->count; i++)
        rows = airy_max_size(rows, half->rows[i] + 1);
    for (int f = 0; f < AIRY_PATTERN_FIELDS; f++)
        row += is_value(file, f) ? file->bytes[f] : 0;
    if (rows <= file->rows)
        return AIRY_OK;
    if (airy_mul_size(&size, rows - file->rows, row))
        size = SIZE_MAX;
    const airy_status status = airy_disk_check(file->partial, size, &file->owner);
    return status == AIRY_OK ? status : airy_fail_context(status, "'%s'", file->partial);
}

static airy_status flush_half(airy_pattern_growing *file, struct half *half)
{
    if (half->count == 0)
        return AIRY_OK;
    const airy_status room = check_room(file, half);
    if (room != AIRY_OK) {
        half->count = 0;
        return room;
    }
    AIRY_TRY(airy_hdf5_lock());
    airy_status status = AIRY_OK;
    if (write_half(file, half) < 0)
        status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "cannot write rows of '%s'",
                                file->partial);
    if (file->sink.error)
        status = airy_sink_result(&file->sink, file->partial);
    airy_hdf5_unlock();
    half->count = 0;
    return status;
}

/* Wait until there is something to write and its time has come. The lock is held. */
static void wait_for_rows(airy_pattern_growing *file)
{
    while (!file->ends && file->halves[file->filling].count == 0)
        pthread_cond_wait(&file->some, &file->lock);
    const uint64_t until = airy_clock_ns() + FLUSH_NS;
    const struct timespec time = {.tv_sec = (time_t)(until / 1000000000),
                                  .tv_nsec = (long)(until % 1000000000)};
    while (!file->ends && !file->full && airy_clock_ns() < until)
        pthread_cond_timedwait(&file->some, &file->lock, &time);
}

static void *write_rows(void *arg)
{
    airy_pattern_growing *file = arg;
    pthread_mutex_lock(&file->lock);
    for (bool last = false; !last;) {
        wait_for_rows(file);
        last = file->ends;
        struct half *half = &file->halves[file->filling];
        file->filling = 1 - file->filling;
        file->full = false;
        pthread_cond_broadcast(&file->room);
        pthread_mutex_unlock(&file->lock);
        const airy_status status = flush_half(file, half);
        pthread_mutex_lock(&file->lock);
        if (airy_error_first(&file->error, status) != AIRY_OK)
            pthread_cond_broadcast(&file->room);
    }
    pthread_mutex_unlock(&file->lock);
    return NULL;
}

static airy_status start_thread(airy_pattern_growing *file)
{
    size_t row = sizeof(size_t) + sizeof(int32_t) + sizeof(bool);
    for (int f = 0; f < AIRY_PATTERN_FIELDS; f++)
        row += file->datasets[f] >= 0 ? file->bytes[f] : 0;
    file->capacity = airy_max_size(airy_min_size(HELD_BYTES / row, HELD_ROWS), 2);
    for (int h = 0; h < HALVES; h++)
        AIRY_TRY(open_half(file, &file->halves[h]));
    AIRY_FAIL_IF(pthread_create(&file->thread, NULL, write_rows, file) != 0, AIRY_ERR_MEMORY,
                 "cannot start the thread that writes the file");
    file->has_thread = true;
    return AIRY_OK;
}

/* Waits for what is held to be in the file. */
static airy_status stop_thread(airy_pattern_growing *file)
{
    if (file->has_thread) {
        pthread_mutex_lock(&file->lock);
        file->ends = true;
        pthread_cond_broadcast(&file->some);
        pthread_mutex_unlock(&file->lock);
        pthread_join(file->thread, NULL);
        file->has_thread = false;
    }
    return file->error.status == AIRY_OK ? AIRY_OK : airy_error_restore(&file->error);
}

/* The lock is held, and there is room. */
static void hold_row(airy_pattern_growing *file, size_t row, const struct airy_pattern_row *data)
{
    struct half *half = &file->halves[file->filling];
    const size_t i = half->count++;
    const bool good = data->stats.status == AIRY_FRAME_GOOD;
    half->rows[i] = row;
    half->status[i] = good ? AIRY_ROW_GOOD : AIRY_ROW_BAD;
    for (size_t k = 0; k < i && !good; k++)
        half->status[k] = half->rows[k] == row ? AIRY_ROW_BAD : half->status[k];
    half->bad[i] = data->message != NULL;
    for (int f = 0; f < AIRY_PATTERN_FIELDS; f++)
        if (is_value(file, f))
            memcpy(half->fields[f] + i * file->bytes[f], airy_pattern_value(data, f, file->bins),
                   file->bytes[f]);
    if (data->message)
        snprintf((char *)half->fields[AIRY_PATTERN_MESSAGE] + i * file->bytes[AIRY_PATTERN_MESSAGE],
                 file->bytes[AIRY_PATTERN_MESSAGE], "%s", data->message);
}

airy_status airy_pattern_growing_write(airy_pattern_growing *file, size_t row,
                                       const struct airy_pattern_row *data, size_t count)
{
    airy_status status = AIRY_OK;
    pthread_mutex_lock(&file->lock);
    for (size_t i = 0; i < count && status == AIRY_OK; i++) {
        while (file->error.status == AIRY_OK &&
               file->halves[file->filling].count == file->capacity) {
            file->full = true;
            pthread_cond_signal(&file->some);
            pthread_cond_wait(&file->room, &file->lock);
        }
        status = file->error.status;
        if (status == AIRY_OK)
            hold_row(file, row + i, &data[i]);
        else
            (void)airy_error_restore(&file->error);
    }
    pthread_cond_signal(&file->some);
    pthread_mutex_unlock(&file->lock);
    return status;
}

/* All datasets and no rows, in a file that others may read from now on. */
static airy_status lay_out(airy_pattern_growing *file, const char *name,
                           const struct airy_pattern_spec *spec)
{
    AIRY_TRY(airy_hdf5_lock());
    airy_status status = airy_sink_create_growing(&file->file, &file->sink, name, METADATA_BYTES);
    if (status == AIRY_OK && (airy_pattern_put_growing(file->datasets, file->file, spec) < 0 ||
                              H5Fstart_swmr_write(file->file) < 0))
        status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "cannot lay out '%s'", name);
    if (status == AIRY_OK)
        status = airy_sink_result(&file->sink, name);
    airy_hdf5_unlock();
    return status;
}

/* Datasets and file, where they are open. A failed write is in the sink. */
static void close_hdf5(airy_pattern_growing *file)
{
    if (file->file < 0 || airy_hdf5_lock() != AIRY_OK)
        return;
    for (int f = 0; f < AIRY_PATTERN_FIELDS; f++)
        if (file->datasets[f] >= 0)
            H5Dclose(file->datasets[f]);
    H5Fclose(file->file);
    file->file = -1;
    airy_hdf5_unlock();
}

/* The file that is taken over. */
struct old_file {
    hid_t file, datasets[AIRY_PATTERN_FIELDS];
    size_t rows;
    int32_t *status; /* [rows] */
};

static size_t rows_of(hid_t dataset)
{
    hsize_t shape[H5S_MAX_RANK] = {0};
    const hid_t space = H5Dget_space(dataset);
    const int ndim = space < 0 ? -1 : H5Sget_simple_extent_dims(space, shape, NULL);
    if (space >= 0)
        H5Sclose(space);
    return ndim < 1 ? 0 : (size_t)shape[0];
}

/* A field is there, with rows of the size that this run writes. */
static airy_status open_old_field(struct old_file *old, const airy_pattern_growing *file, int field)
{
    char path[128];
    airy_pattern_field_path(path, field);
    old->datasets[field] = airy_hdf5_dataset(old->file, path);
    if (old->datasets[field] < 0)
        return airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_NONE, "its dataset %s is missing",
                              path);
    hsize_t have[H5S_MAX_RANK] = {0}, want[H5S_MAX_RANK] = {0};
    const hid_t spaces[2] = {H5Dget_space(old->datasets[field]),
                             H5Dget_space(file->datasets[field])};
    const hid_t type = H5Dget_type(old->datasets[field]), expected = airy_pattern_field_type(field);
    const int ndim = H5Sget_simple_extent_dims(spaces[0], have, NULL),
              wanted = H5Sget_simple_extent_dims(spaces[1], want, NULL);
    bool fits = ndim == wanted && ndim >= 1 && H5Tequal(type, expected) > 0;
    for (int i = 1; i < wanted && fits; i++)
        fits = have[i] == want[i];
    H5Tclose(type);
    H5Tclose(expected);
    H5Sclose(spaces[0]);
    H5Sclose(spaces[1]);
    AIRY_FAIL_IF(!fits, AIRY_ERR_FORMAT, "its dataset %s has another shape or type", path);
    return AIRY_OK;
}

static airy_status open_old(struct old_file *old, const airy_pattern_growing *file,
                            const struct airy_pattern_spec *spec)
{
    AIRY_TRY(airy_hdf5_open(&old->file, file->partial));
    AIRY_TRY(airy_pattern_check_growth(old->file, true));
    AIRY_TRY(airy_pattern_fits(old->file, spec));
    for (int f = 0; f < AIRY_PATTERN_FIELDS; f++)
        if (file->datasets[f] >= 0)
            AIRY_TRY(open_old_field(old, file, f));
    old->rows = rows_of(old->datasets[AIRY_PATTERN_STATUS]);
    for (int f = 0; f < AIRY_PATTERN_FIELDS; f++)
        if (old->datasets[f] >= 0)
            old->rows = airy_min_size(old->rows, rows_of(old->datasets[f]));
    if (old->rows == 0)
        return AIRY_OK;
    AIRY_TRY(airy_memory_calloc((void **)&old->status, old->rows, sizeof(int32_t), "rows"));
    if (transfer(old->datasets[AIRY_PATTERN_STATUS], AIRY_PATTERN_STATUS, 0, old->rows, old->status,
                 false) < 0)
        return airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_NONE, "its frame/status cannot be read");
    /* Trailing rows that nobody has done come anew. */
    while (old->rows && old->status[old->rows - 1] != AIRY_ROW_GOOD)
        old->rows--;
    return AIRY_OK;
}

static void close_old(struct old_file *old)
{
    for (int f = 0; f < AIRY_PATTERN_FIELDS; f++)
        if (old->datasets[f] >= 0)
            H5Dclose(old->datasets[f]);
    if (old->file >= 0)
        H5Fclose(old->file);
    free(old->status);
}

/* A field of all rows; what stands in rows that are not done does not matter. */
static airy_status copy_field(airy_pattern_growing *file, const struct old_file *old, int field)
{
    const size_t most = airy_max_size(COPY_BYTES / file->bytes[field], 1);
    uint8_t *some;
    AIRY_TRY(
        airy_memory_alloc((void **)&some, airy_min_size(most, old->rows) * file->bytes[field]));
    airy_status status = AIRY_OK;
    for (size_t row = 0; row < old->rows && status == AIRY_OK; row += most) {
        const size_t count = airy_min_size(most, old->rows - row);
        if (transfer(old->datasets[field], field, row, count, some, false) < 0)
            status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_NONE,
                                    "rows %zu to %zu cannot be read", row, row + count - 1);
        else if (transfer(file->datasets[field], field, row, count, some, true) < 0)
            status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_NONE, "rows cannot be written");
    }
    airy_memory_release(some);
    return status;
}

static airy_status copy_rows(airy_pattern_growing *file, const struct old_file *old)
{
    if (old->rows == 0)
        return AIRY_OK;
    AIRY_TRY(airy_memory_calloc((void **)&file->done, old->rows, 1, "rows"));
    if (grow(file, old->rows) < 0)
        return airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_NONE, "rows cannot be made");
    for (int f = 0; f < AIRY_PATTERN_FIELDS; f++)
        if (is_value(file, f))
            AIRY_TRY(copy_field(file, old, f));
    for (size_t row = 0; row < old->rows; row++) {
        file->done[row] = old->status[row] == AIRY_ROW_GOOD;
        if (!file->done[row])
            old->status[row] = AIRY_ROW_PENDING;
    }
    file->rows = file->earlier = old->rows;
    if (extend(file, AIRY_PATTERN_STATUS, old->rows) < 0 ||
        transfer(file->datasets[AIRY_PATTERN_STATUS], AIRY_PATTERN_STATUS, 0, old->rows,
                 old->status, true) < 0 ||
        H5Fflush(file->file, H5F_SCOPE_LOCAL) < 0)
        return airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_NONE, "rows cannot be written");
    return airy_sink_result(&file->sink, file->partial);
}

/*
 * A killed writer's file cannot be trusted with more: where its end is, it may not say. So its
 * rows go into a new one.
 */
static airy_status take_over(airy_pattern_growing *file, const struct airy_pattern_spec *spec)
{
    struct old_file old = {.file = -1};
    for (int f = 0; f < AIRY_PATTERN_FIELDS; f++)
        old.datasets[f] = -1;
    AIRY_TRY(airy_hdf5_lock());
    airy_status status = open_old(&old, file, spec);
    if (status == AIRY_OK)
        status = copy_rows(file, &old);
    close_old(&old);
    airy_hdf5_unlock();
    return status == AIRY_OK
               ? AIRY_OK
               : airy_about(AIRY_SUBJECT_FILE, file->partial,
                            airy_fail_context(status, "cannot resume '%s'", file->partial));
}

/* Under a name of its own until it is locked and has all that is taken over. */
static airy_status make_partial(airy_pattern_growing *file, const struct airy_pattern_spec *spec,
                                bool resume)
{
    char *name;
    AIRY_TRY(airy_file_begin(&name, file->path));
    airy_status status = lay_out(file, name, spec);
    if (status == AIRY_OK)
        status = airy_file_open_locked(&file->fd, name, false);
    if (status == AIRY_OK && resume)
        status = take_over(file, spec);
    if (status == AIRY_OK)
        status = airy_file_rename(name, file->partial, resume);
    if (status != AIRY_OK)
        airy_file_remove(name);
    free(name);
    return status;
}

static airy_status open_growing(airy_pattern_growing *file, const struct airy_pattern_spec *spec,
                                bool resume)
{
    int old = -1;
    AIRY_FAIL_ON_IF(!file->force && access(file->path, F_OK) == 0, AIRY_ERR_EXISTS,
                    AIRY_SUBJECT_FILE, "'%s' is there already", file->path);
    airy_status status = resume ? airy_file_open_locked(&old, file->partial, false)
                                : airy_pattern_clear_partial(file->partial, file->force);
    if (status != AIRY_OK && resume)
        airy_fail_context(status, "cannot resume");
    if (status == AIRY_OK)
        status = make_partial(file, spec, resume);
    if (old >= 0)
        close(old);
    return status == AIRY_OK ? start_thread(file) : status;
}

static void init_conditions(airy_pattern_growing *file)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&file->some, &attributes);
    pthread_cond_init(&file->room, &attributes);
    pthread_condattr_destroy(&attributes);
}

airy_status airy_pattern_growing_create(airy_pattern_growing **file, const char *path,
                                        const struct airy_pattern_spec *spec,
                                        struct airy_pattern_numbers numbers, bool force,
                                        bool resume)
{
    AIRY_FAIL_IF(!path || !*path, AIRY_ERR_PARAM, "path of the integrated file is empty");
    airy_pattern_growing *made;
    AIRY_TRY(airy_memory_calloc((void **)&made, 1, sizeof(*made), "an integrated file"));
    made->fd = -1;
    made->file = -1;
    for (int f = 0; f < AIRY_PATTERN_FIELDS; f++)
        made->datasets[f] = -1;
    made->force = force;
    made->bins = spec->bins;
    made->numbers = numbers;
    made->owner = spec->owner;
    airy_pattern_row_bytes(made->bytes, spec);
    pthread_mutex_init(&made->lock, NULL);
    init_conditions(made);
    made->path = strdup(path);
    if (asprintf(&made->partial, "%s.partial", path) < 0)
        made->partial = NULL;
    airy_status status = made->path && made->partial
                             ? open_growing(made, spec, resume)
                             : airy_fail(AIRY_ERR_MEMORY, "out of memory for a path");
    if (status != AIRY_OK) {
        airy_error error = {.status = AIRY_OK};
        (void)airy_error_first(&error, status);
        airy_pattern_growing_destroy(&made, true);
        return airy_error_restore(&error);
    }
    *file = made;
    return AIRY_OK;
}

size_t airy_pattern_growing_rows(const airy_pattern_growing *file)
{
    return file->earlier;
}

bool airy_pattern_growing_done(const airy_pattern_growing *file, size_t row)
{
    return row < file->earlier && file->done[row];
}

airy_status airy_pattern_growing_finish(airy_pattern_growing *file)
{
    airy_status status = stop_thread(file);
    close_hdf5(file);
    if (status == AIRY_OK)
        status = airy_sink_result(&file->sink, file->partial);
    if (status == AIRY_OK)
        status = airy_file_publish(file->fd, file->partial, file->path, file->force);
    file->finished = status == AIRY_OK;
    return status == AIRY_OK ? AIRY_OK : airy_fail_context(status, "'%s'", file->partial);
}

void airy_pattern_growing_destroy(airy_pattern_growing **file, bool keep)
{
    if (!file || !*file)
        return;
    airy_pattern_growing *dead = *file;
    *file = NULL;
    (void)stop_thread(dead);
    close_hdf5(dead);
    if (dead->fd >= 0) {
        if (!keep && !dead->finished && airy_file_is(dead->fd, dead->partial))
            unlink(dead->partial);
        close(dead->fd);
    }
    for (int h = 0; h < HALVES; h++)
        close_half(&dead->halves[h]);
    pthread_cond_destroy(&dead->some);
    pthread_cond_destroy(&dead->room);
    pthread_mutex_destroy(&dead->lock);
    free(dead->done);
    free(dead->path);
    free(dead->partial);
    free(dead);
}
