#include "io/result/file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "io/result/layout.h"
#include "io/file/plain_file.h"
#include "io/file/writeback.h"

enum { ROWS_AT_ONCE = 64 };
enum { NORMALIZATIONS = 3 }; /* planes of the sums that frames may share */

/* A row's progress in this run. */
enum row_state {
    ROW_PENDING = 0,
    ROW_DONE,    /* in an earlier run */
    ROW_WRITTEN, /* it does not follow the shared normalizations, or its own are in the file */
    ROW_FOLLOWS, /* good, and nothing stands in the [frames, bins] normalizations for it yet */
    ROW_DIFFERS, /* its own stand there, although the shared ones count in the file */
};

struct airy_pattern_file {
    char *path, *partial;
    int fd;
    bool force, resumed, finished;
    bool joined; /* others write rows, too: the root is not switched, see gather */
    size_t frames, bins;
    size_t rois, maps, grid[2];
    bool zigzag;
    struct airy_pattern_layout layout;
    atomic_uchar *rows;    /* enum row_state */
    pthread_rwlock_t lock; /* shared: a row is being written; exclusive: the normalizations
                              become per frame */
    pthread_mutex_t first; /* of `shared` and have_shared */
    atomic_bool have_shared;
    double *shared; /* [NORMALIZATIONS][bins] of the frames that do not differ */
    airy_writeback *writeback;
};

static airy_status check_spec(const char *path, const struct airy_pattern_spec *spec)
{
    AIRY_FAIL_IF(!path || !*path, AIRY_ERR_PARAM, "path of the integrated file is empty");
    AIRY_FAIL_IF(!spec->radial || !spec->index, AIRY_ERR_PARAM,
                 "integrated file: radial or index is NULL");
    AIRY_FAIL_IF(spec->roi_count > AIRY_PATTERN_ROIS, AIRY_ERR_PARAM,
                 "%zu regions, expected at most %d", spec->roi_count, (int)AIRY_PATTERN_ROIS);
    size_t row, all;
    AIRY_FAIL_IF(spec->grid[0] && (airy_mul_size(&all, spec->grid[0], spec->grid[1]) ||
                                   all < spec->frames || all > (size_t)1 << 28),
                 AIRY_ERR_PARAM,
                 "grid of %zu x %zu, expected at least the %zu rows of the run and at most 2^28",
                 spec->grid[0], spec->grid[1], spec->frames);
    AIRY_FAIL_IF(spec->frames == 0 || spec->bins == 0 || airy_mul_size(&row, spec->bins, 8 * 8) ||
                     airy_mul_size(&all, row, spec->frames) || all > (size_t)1 << 62,
                 AIRY_ERR_PARAM, "integrated file of %zu frames x %zu bins", spec->frames,
                 spec->bins);
    return AIRY_OK;
}

/* It gets its name when it is complete and locked: nobody finds it before. */
static airy_status create_partial(airy_pattern_file *file, const struct airy_pattern_spec *spec)
{
    char *name = NULL;
    AIRY_TRY(airy_file_begin(&name, file->path));
    airy_status status = airy_pattern_layout_create(&file->layout, name, spec);
    if (status == AIRY_OK)
        status = airy_file_open_locked(&file->fd, name, false);
    if (status == AIRY_OK)
        status = airy_file_rename(name, file->partial, false);
    if (status != AIRY_OK)
        airy_file_remove(name);
    free(name);
    return status;
}

/*
 * Give a file that was about to be finished its tail back: first the file's size, then the one
 * libhdf5 expects.
 */
static airy_status restore_tail(airy_pattern_file *file)
{
    struct airy_pattern_layout *layout = &file->layout;
    if (!layout->cut)
        return AIRY_OK;
    AIRY_FAIL_HINT_IF(ftruncate(file->fd, (off_t)layout->end) != 0, AIRY_ERR_IO,
                      airy_hint_of_errno(errno), AIRY_SUBJECT_FILE, "cannot extend '%s': %s",
                      file->partial, strerror(errno));
    layout->cut = false;
    return airy_pattern_layout_switch(file->fd, layout, layout->per_frame, layout->end);
}

static airy_status write_row(airy_pattern_file *file, int field, size_t row, const void *data)
{
    const struct airy_pattern_layout *layout = &file->layout;
    return airy_file_pwrite(file->fd, data, layout->row[field],
                            layout->offset[field] + row * layout->row[field]);
}

static airy_status write_normalizations(airy_pattern_file *file, size_t row, const double *planes)
{
    for (int k = 0; k < NORMALIZATIONS; k++)
        AIRY_TRY(
            write_row(file, AIRY_PATTERN_NORMALIZATION + k, row, planes + (size_t)k * file->bins));
    return AIRY_OK;
}

static airy_status write_shared(airy_pattern_file *file, const double *planes)
{
    for (int k = 0; k < NORMALIZATIONS; k++)
        AIRY_TRY(write_row(file, AIRY_PATTERN_SHARED_NORMALIZATION + k, 0,
                           planes + (size_t)k * file->bins));
    return AIRY_OK;
}

/* The first frame that does not differ gives the normalizations of all that do not. */
static airy_status keep_shared(airy_pattern_file *file, const double *planes)
{
    if (atomic_load(&file->have_shared))
        return AIRY_OK;
    airy_status status = AIRY_OK;
    pthread_mutex_lock(&file->first);
    if (!atomic_load(&file->have_shared)) {
        status = write_shared(file, planes);
        memcpy(file->shared, planes, NORMALIZATIONS * file->bins * sizeof(double));
        if (status == AIRY_OK)
            atomic_store(&file->have_shared, true);
    }
    pthread_mutex_unlock(&file->first);
    return status;
}

/*
 * From now on each row has its own normalizations; those written so far get theirs before the file
 * says so.
 */
static airy_status make_per_frame(airy_pattern_file *file)
{
    airy_status status = AIRY_OK;
    pthread_rwlock_wrlock(&file->lock);
    if (!file->layout.per_frame) {
        for (size_t row = 0; row < file->frames && status == AIRY_OK; row++)
            if (atomic_load(&file->rows[row]) == ROW_FOLLOWS)
                status = write_normalizations(file, row, file->shared);
        if (status == AIRY_OK)
            status = airy_pattern_layout_switch(file->fd, &file->layout, true, file->layout.end);
        file->layout.per_frame = status == AIRY_OK;
    }
    pthread_rwlock_unlock(&file->lock);
    return status;
}

/* A row as an earlier run left it. closing: a bad row counts as written. */
static enum row_state state_of(const airy_pattern_file *file, int32_t status, uint32_t invalid,
                               bool closing)
{
    /* Bad frames are tried again: their file may be complete by now. */
    if (status != AIRY_ROW_GOOD)
        return closing && status == AIRY_ROW_BAD ? ROW_WRITTEN : ROW_PENDING;
    if (file->layout.per_frame)
        return ROW_DONE;
    return invalid ? ROW_DIFFERS : ROW_FOLLOWS;
}

static airy_status load_rows(airy_pattern_file *file, bool closing)
{
    const struct airy_pattern_layout *layout = &file->layout;
    int32_t *status_of = NULL;
    uint32_t *invalid = NULL;
    airy_status status;
    AIRY_TRY_OR(out, airy_memory_alloc((void **)&status_of, sizeof(*status_of) * file->frames));
    AIRY_TRY_OR(out, airy_memory_alloc((void **)&invalid, sizeof(*invalid) * file->frames));
    AIRY_TRY_OR(out, airy_file_pread(file->fd, status_of, sizeof(*status_of) * file->frames,
                                     layout->offset[AIRY_PATTERN_STATUS]));
    AIRY_TRY_OR(out, airy_file_pread(file->fd, invalid, sizeof(*invalid) * file->frames,
                                     layout->offset[AIRY_PATTERN_INVALID]));
    bool follows = false;
    for (size_t i = 0; i < file->frames; i++) {
        const enum row_state state = state_of(file, status_of[i], invalid[i], closing);
        atomic_store(&file->rows[i], (unsigned char)state);
        follows = follows || state == ROW_FOLLOWS;
    }
    /* The first good row of a run has written them, before its status. */
    for (size_t k = 0; k < NORMALIZATIONS && follows; k++)
        AIRY_TRY_OR(out, airy_file_pread(file->fd, file->shared + k * file->bins, 8 * file->bins,
                                         layout->offset[AIRY_PATTERN_SHARED_NORMALIZATION + k]));
    atomic_store(&file->have_shared, follows);
out:
    airy_memory_release(status_of);
    airy_memory_release(invalid);
    return status;
}

/* Parts of a run leave rows with normalizations of their own beside others that share one. */
static bool any_differs(const airy_pattern_file *file)
{
    for (size_t row = 0; row < file->frames; row++)
        if (atomic_load(&file->rows[row]) == ROW_DIFFERS)
            return true;
    return false;
}

/* Open the partial file that is there, alone, and bring it into the state of one writer's. */
static airy_status take_over(airy_pattern_file *file, const struct airy_pattern_spec *spec,
                             bool closing)
{
    const airy_status opened = airy_file_open_locked(&file->fd, file->partial, false);
    if (opened != AIRY_OK)
        return airy_fail_context(opened, "cannot resume");
    AIRY_TRY(airy_pattern_layout_open(&file->layout, file->partial, spec));
    file->resumed = true;
    AIRY_TRY(restore_tail(file));
    AIRY_TRY(load_rows(file, closing));
    return any_differs(file) ? make_per_frame(file) : AIRY_OK;
}

static airy_status join(airy_pattern_file *file, const struct airy_pattern_spec *spec)
{
    AIRY_TRY(airy_file_open_locked(&file->fd, file->partial, true));
    AIRY_TRY(airy_pattern_layout_open(&file->layout, file->partial, spec));
    AIRY_FAIL_ON_IF(file->layout.cut, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "'%s' was about to be finished: it has to be resumed first", file->partial);
    file->resumed = file->joined = true;
    return load_rows(file, false);
}

/* A partial result can be opened at every moment. Nobody's notes are removed. */
static airy_status check_partial(const char *partial)
{
    airy_result *result = NULL;
    airy_result_info info = {0};
    airy_status status = airy_result_open(&result, partial);
    if (status == AIRY_OK)
        status = airy_result_get_info(result, &info);
    airy_result_close(&result);
    if (info.kind != AIRY_RESULT_PATTERNS && info.kind != AIRY_RESULT_SPARSE)
        status = AIRY_ERR_FORMAT;
    AIRY_FAIL_HINT_IF(status != AIRY_OK && status != AIRY_ERR_MEMORY, AIRY_ERR_EXISTS,
                      AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
                      "'%s' is there and is no partial result: move it, or choose another output",
                      partial);
    return status;
}

airy_status airy_pattern_clear_partial(const char *partial, bool force)
{
    int fd = -1;
    if (access(partial, F_OK) != 0)
        return AIRY_OK;
    airy_status status = force ? airy_file_open_locked(&fd, partial, false) : AIRY_OK;
    if (status == AIRY_OK)
        status = check_partial(partial);
    if (status == AIRY_OK && !force)
        status = airy_hinted(AIRY_HINT_INTERRUPTED,
                             airy_fail_on(AIRY_ERR_EXISTS, AIRY_SUBJECT_FILE,
                                          "'%s' is there from an interrupted run", partial));
    if (status == AIRY_OK && unlink(partial) != 0)
        status = airy_fail_system(AIRY_SUBJECT_FILE, errno, "cannot remove '%s': %s", partial,
                                  strerror(errno));
    if (fd >= 0)
        close(fd);
    return status == AIRY_ERR_NOT_FOUND ? AIRY_OK : status;
}

static airy_status start_file(airy_pattern_file *file, const struct airy_pattern_spec *spec,
                              bool resume)
{
    AIRY_FAIL_ON_IF(!file->force && access(file->path, F_OK) == 0, AIRY_ERR_EXISTS,
                    AIRY_SUBJECT_FILE, "'%s' is there already", file->path);
    if (resume)
        return take_over(file, spec, false);
    AIRY_TRY(airy_pattern_clear_partial(file->partial, file->force));
    return create_partial(file, spec);
}

/* The object, with no file open yet. */
static airy_status make_file(airy_pattern_file **file, const char *path,
                             const struct airy_pattern_spec *spec)
{
    AIRY_TRY(check_spec(path, spec));
    airy_pattern_file *made;
    AIRY_TRY(airy_memory_calloc((void **)&made, 1, sizeof(*made), "an integrated file"));
    made->fd = -1;
    made->frames = spec->frames;
    made->bins = spec->bins;
    made->rois = spec->roi_count;
    made->maps = airy_pattern_map_count(spec);
    memcpy(made->grid, spec->grid, sizeof(made->grid));
    made->zigzag = spec->zigzag;
    pthread_rwlock_init(&made->lock, NULL);
    pthread_mutex_init(&made->first, NULL);
    made->path = strdup(path);
    if (asprintf(&made->partial, "%s.partial", path) < 0)
        made->partial = NULL;
    airy_status status = made->path && made->partial
                             ? AIRY_OK
                             : airy_fail(AIRY_ERR_MEMORY, "out of memory for a path");
    if (status == AIRY_OK)
        status = airy_memory_calloc((void **)&made->rows, made->frames, sizeof(*made->rows),
                                    "rows of the integrated file");
    if (status == AIRY_OK)
        status = airy_memory_calloc((void **)&made->shared, NORMALIZATIONS * made->bins,
                                    sizeof(double), "normalizations");
    if (status != AIRY_OK) {
        airy_pattern_file_destroy(&made, true);
        return status;
    }
    *file = made;
    return AIRY_OK;
}

/* *file on success, else nothing is left of it. */
static airy_status give(airy_pattern_file **file, airy_pattern_file *made, airy_status status)
{
    if (status == AIRY_OK) {
        made->writeback = airy_writeback_start(made->fd);
        *file = made;
    } else {
        airy_pattern_file_destroy(&made, true);
    }
    return status;
}

airy_status airy_pattern_file_create(airy_pattern_file **file, const char *path,
                                     const struct airy_pattern_spec *spec, bool force, bool resume)
{
    airy_pattern_file *made;
    AIRY_TRY(check_spec(path, spec));
    if (!resume) /* before anything is made for so many rows */
        AIRY_TRY(airy_disk_check(path, airy_pattern_rows_size(spec), &spec->owner));
    AIRY_TRY(make_file(&made, path, spec));
    made->force = force;
    return give(file, made, start_file(made, spec, resume));
}

airy_status airy_pattern_file_join(airy_pattern_file **file, const char *path,
                                   const struct airy_pattern_spec *spec)
{
    airy_pattern_file *made;
    AIRY_TRY(make_file(&made, path, spec));
    return give(file, made, join(made, spec));
}

airy_status airy_pattern_file_gather(airy_pattern_file **file, const char *path,
                                     const struct airy_pattern_spec *spec, bool force)
{
    airy_pattern_file *made;
    AIRY_TRY(make_file(&made, path, spec));
    made->force = force;
    return give(file, made, take_over(made, spec, true));
}

airy_status airy_pattern_file_retry(airy_pattern_file *file)
{
    const int32_t pending = AIRY_ROW_PENDING;
    for (size_t row = 0; row < file->frames; row++)
        if (atomic_load(&file->rows[row]) == ROW_PENDING)
            AIRY_TRY(write_row(file, AIRY_PATTERN_STATUS, row, &pending));
    return AIRY_OK;
}

bool airy_pattern_file_row_pending(const airy_pattern_file *file, size_t row)
{
    return atomic_load(&file->rows[row]) == ROW_PENDING;
}

size_t airy_pattern_file_pending(const airy_pattern_file *file)
{
    size_t pending = 0;
    for (size_t row = 0; row < file->frames; row++)
        pending += airy_pattern_file_row_pending(file, row);
    return pending;
}

bool airy_pattern_file_done(const airy_pattern_file *file, size_t row)
{
    const unsigned char state = atomic_load(&file->rows[row]);
    return file->resumed && state != ROW_PENDING;
}

const void *airy_pattern_value(const struct airy_pattern_row *data, int field, size_t bins)
{
    switch (field) {
    case AIRY_PATTERN_INTENSITY:
        return data->intensity;
    case AIRY_PATTERN_STD:
        return data->std;
    case AIRY_PATTERN_SEM:
        return data->sem;
    case AIRY_PATTERN_SIGNAL:
        return data->signal;
    case AIRY_PATTERN_VARIANCE:
        return data->variance;
    case AIRY_PATTERN_TOTAL:
        return &data->stats.total;
    case AIRY_PATTERN_MAX:
        return &data->stats.max;
    case AIRY_PATTERN_SATURATED:
        return &data->stats.saturated;
    case AIRY_PATTERN_ROI_SUM:
        return data->roi_sum;
    case AIRY_PATTERN_ROI_MEAN:
        return data->roi_mean;
    case AIRY_PATTERN_FRAMES:
        return &data->frames;
    case AIRY_PATTERN_INVALID:
        return &data->stats.invalid;
    default:
        return data->norms + (size_t)(field - AIRY_PATTERN_NORMALIZATION) * bins;
    }
}

static airy_status write_field(airy_pattern_file *file, int field, size_t row,
                               const struct airy_pattern_row *data, size_t count)
{
    const struct airy_pattern_layout *layout = &file->layout;
    struct iovec parts[ROWS_AT_ONCE];
    for (size_t i = 0; i < count; i++)
        parts[i] =
            (struct iovec){.iov_base = (void *)airy_pattern_value(&data[i], field, file->bins),
                           .iov_len = layout->row[field]};
    const uint64_t from = layout->offset[field] + row * layout->row[field];
    AIRY_TRY(airy_file_pwritev(file->fd, parts, count, from));
    airy_writeback_add(file->writeback, from, from + count * layout->row[field]);
    return AIRY_OK;
}

static airy_status write_message(airy_pattern_file *file, size_t row,
                                 const struct airy_pattern_row *data)
{
    char message[AIRY_PATTERN_MESSAGE_BYTES] = "";
    if (!data->message && !file->resumed) /* a killed run may have left one */
        return AIRY_OK;
    snprintf(message, sizeof(message), "%s", data->message ? data->message : "");
    return write_row(file, AIRY_PATTERN_MESSAGE, row, message);
}

static bool is_good(const struct airy_pattern_row *data)
{
    return data->stats.status == AIRY_FRAME_GOOD;
}

/* The row's cell of each map; a bad row has none. */
static airy_status write_maps(airy_pattern_file *file, size_t row,
                              const struct airy_pattern_row *data)
{
    const size_t y = row / file->grid[1], x = row % file->grid[1];
    const size_t cell = y * file->grid[1] + (file->zigzag && y % 2 ? file->grid[1] - 1 - x : x);
    for (size_t m = 0; m < file->maps; m++) {
        const size_t roi = (m - 1) / 2;
        double v = m == 0 ? data->stats.total : m % 2 ? data->roi_sum[roi] : data->roi_mean[roi];
        v = is_good(data) ? v : (double)NAN;
        AIRY_TRY(airy_file_pwrite(file->fd, &v, sizeof(v), file->layout.map[m] + cell * sizeof(v)));
    }
    return AIRY_OK;
}

static airy_status write_values(airy_pattern_file *file, size_t row,
                                const struct airy_pattern_row *data, size_t count)
{
    static const int fields[] = {
        AIRY_PATTERN_INTENSITY, AIRY_PATTERN_SIGNAL,    AIRY_PATTERN_TOTAL,
        AIRY_PATTERN_MAX,       AIRY_PATTERN_SATURATED, AIRY_PATTERN_INVALID,
        AIRY_PATTERN_STD,       AIRY_PATTERN_SEM,       AIRY_PATTERN_VARIANCE};
    const size_t errors = file->layout.offset[AIRY_PATTERN_STD] ? 0 : 3;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]) - errors; i++)
        AIRY_TRY(write_field(file, fields[i], row, data, count));
    for (int f = AIRY_PATTERN_ROI_SUM; f <= AIRY_PATTERN_ROI_MEAN && file->rois; f++)
        AIRY_TRY(write_field(file, f, row, data, count));
    for (size_t i = 0; i < count && file->maps; i++)
        AIRY_TRY(write_maps(file, row + i, &data[i]));
    if (file->layout.offset[AIRY_PATTERN_FRAMES])
        AIRY_TRY(write_field(file, AIRY_PATTERN_FRAMES, row, data, count));
    for (size_t i = 0; i < count; i++)
        AIRY_TRY(write_message(file, row + i, &data[i]));
    return AIRY_OK;
}

/* Good, and with normalizations of its own. */
static bool differs(const struct airy_pattern_row *data)
{
    return is_good(data) && data->stats.invalid > 0;
}

static airy_status write_norms(airy_pattern_file *file, size_t row,
                               const struct airy_pattern_row *data, size_t count)
{
    if (file->layout.per_frame) {
        for (int k = 0; k < NORMALIZATIONS; k++)
            AIRY_TRY(write_field(file, AIRY_PATTERN_NORMALIZATION + k, row, data, count));
        return AIRY_OK;
    }
    for (size_t i = 0; i < count; i++) {
        if (differs(&data[i]))
            AIRY_TRY(write_normalizations(file, row + i, data[i].norms));
        else if (is_good(&data[i]))
            AIRY_TRY(keep_shared(file, data[i].norms));
    }
    return AIRY_OK;
}

/* A row that is there already is none until it is there anew. */
static airy_status take_back(airy_pattern_file *file, size_t row)
{
    const int32_t pending = AIRY_ROW_PENDING;
    return atomic_load(&file->rows[row]) == ROW_PENDING
               ? AIRY_OK
               : write_row(file, AIRY_PATTERN_STATUS, row, &pending);
}

/* The lock is held for reading. count <= ROWS_AT_ONCE */
static airy_status write_all(airy_pattern_file *file, size_t row,
                             const struct airy_pattern_row *data, size_t count)
{
    int32_t status[ROWS_AT_ONCE];
    for (size_t i = 0; i < count; i++)
        AIRY_TRY(take_back(file, row + i));
    AIRY_TRY(write_values(file, row, data, count));
    AIRY_TRY(write_norms(file, row, data, count));
    for (size_t i = 0; i < count; i++)
        status[i] = is_good(&data[i]) ? AIRY_ROW_GOOD : AIRY_ROW_BAD;
    AIRY_TRY(airy_file_pwrite(file->fd, status, count * sizeof(status[0]),
                              file->layout.offset[AIRY_PATTERN_STATUS] + row * sizeof(status[0])));
    for (size_t i = 0; i < count; i++) {
        const bool follows = is_good(&data[i]) && !file->layout.per_frame && !differs(&data[i]);
        atomic_store(&file->rows[row + i], follows ? ROW_FOLLOWS : ROW_WRITTEN);
    }
    return AIRY_OK;
}

static airy_status check_row(const airy_pattern_file *file, size_t row,
                             const struct airy_pattern_row *data)
{
    AIRY_FAIL_ON_IF(row >= file->frames, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, the file has %zu", "row", row, file->frames);
    const bool has_errors = file->layout.offset[AIRY_PATTERN_STD] != 0;
    AIRY_FAIL_IF(!data->intensity || !data->signal || !data->norms ||
                     (has_errors && (!data->std || !data->sem || !data->variance)),
                 AIRY_ERR_PARAM, "row %zu: intensity, sums, std or sem is NULL", row);
    AIRY_FAIL_IF(file->rois && (!data->roi_sum || !data->roi_mean), AIRY_ERR_PARAM,
                 "row %zu: its regions are NULL", row);
    return AIRY_OK;
}

airy_status airy_pattern_file_write_rows(airy_pattern_file *file, size_t row,
                                         const struct airy_pattern_row *data, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        AIRY_TRY(check_row(file, row + i, &data[i]));
        any = any || differs(&data[i]);
    }
    airy_status status = any && !file->joined ? make_per_frame(file) : AIRY_OK;
    size_t done = 0;
    while (status == AIRY_OK && done < count) {
        const size_t some = airy_min_size(count - done, ROWS_AT_ONCE);
        pthread_rwlock_rdlock(&file->lock);
        status = write_all(file, row + done, data + done, some);
        pthread_rwlock_unlock(&file->lock);
        done += status == AIRY_OK ? some : 0;
    }
    return status == AIRY_OK
               ? AIRY_OK
               : airy_fail_context(status, "row %zu of '%s'", row + done, file->partial);
}

airy_status airy_pattern_file_write(airy_pattern_file *file, size_t row,
                                    const struct airy_pattern_row *data)
{
    return airy_pattern_file_write_rows(file, row, data, 1);
}

/*
 * Without per-frame normalizations their place is cut off: first the size libhdf5 expects, then
 * the file's.
 */
static airy_status cut_tail(airy_pattern_file *file)
{
    struct airy_pattern_layout *layout = &file->layout;
    if (layout->per_frame || !layout->cuttable)
        return AIRY_OK;
    layout->end = layout->offset[AIRY_PATTERN_NORMALIZATION];
    AIRY_TRY(airy_pattern_layout_switch(file->fd, layout, false, layout->end));
    AIRY_FAIL_HINT_IF(ftruncate(file->fd, (off_t)layout->end) != 0, AIRY_ERR_IO,
                      airy_hint_of_errno(errno), AIRY_SUBJECT_NONE, "cannot shorten the file: %s",
                      strerror(errno));
    layout->cuttable = false;
    return AIRY_OK;
}

airy_status airy_pattern_file_separate(airy_pattern_file *file)
{
    return make_per_frame(file);
}

airy_status airy_pattern_file_finish(airy_pattern_file *file, const double *sums)
{
    const size_t pending = airy_pattern_file_pending(file);
    AIRY_FAIL_ON_IF(pending > 0, AIRY_ERR_PARAM, AIRY_SUBJECT_FILE,
                    "'%s': %zu of %zu rows are not written", file->partial, pending, file->frames);
    airy_status status = AIRY_OK;
    if (sums && !file->layout.per_frame)
        status = write_shared(file, sums + AIRY_SUM_NORMALIZATION * file->bins);
    if (status == AIRY_OK)
        status = cut_tail(file);
    airy_writeback_stop(&file->writeback);
    if (status == AIRY_OK)
        status = airy_file_publish(file->fd, file->partial, file->path, file->force);
    file->finished = status == AIRY_OK;
    return status == AIRY_OK ? AIRY_OK : airy_fail_context(status, "'%s'", file->partial);
}

void airy_pattern_file_destroy(airy_pattern_file **file, bool keep)
{
    if (!file || !*file)
        return;
    airy_pattern_file *dead = *file;
    *file = NULL;
    airy_writeback_stop(&dead->writeback);
    if (dead->fd >= 0) {
        if (!keep && !dead->finished && airy_file_is(dead->fd, dead->partial))
            unlink(dead->partial);
        close(dead->fd);
    }
    pthread_rwlock_destroy(&dead->lock);
    pthread_mutex_destroy(&dead->first);
    free(dead->rows);
    free(dead->shared);
    free(dead->path);
    free(dead->partial);
    free(dead);
}
