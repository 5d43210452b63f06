#include "io/pattern_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "io/pattern_layout.h"
#include "io/plain_file.h"

enum { NORMALIZATIONS = 3 }; /* planes of the sums that frames may share */

/* A row's progress in this run. */
enum row_state {
    ROW_PENDING = 0,
    ROW_DONE,    /* in an earlier run */
    ROW_WRITTEN, /* it does not follow the shared normalizations, or its own are in the file */
    ROW_FOLLOWS, /* good, and nothing stands in the [frames, bins] normalizations for it yet */
};

struct airy_pattern_file {
    char *path, *partial;
    int fd;
    bool force, resumed, finished;
    size_t frames, bins;
    struct airy_pattern_layout layout;
    atomic_uchar *rows;    /* enum row_state */
    pthread_rwlock_t lock; /* shared: a row is being written; exclusive: the normalizations
                              become per frame */
    pthread_mutex_t first; /* of `shared` and have_shared */
    atomic_bool have_shared;
    double *shared; /* [NORMALIZATIONS][bins] of the frames that do not differ */
};

static airy_status check_spec(const char *path, const struct airy_pattern_spec *spec)
{
    AIRY_FAIL_IF(!path || !*path, AIRY_ERR_PARAM, "path of the integrated file is empty");
    AIRY_FAIL_IF(!spec->radial || !spec->index, AIRY_ERR_PARAM,
                 "integrated file: radial or index is NULL");
    size_t row, all;
    AIRY_FAIL_IF(spec->frames == 0 || spec->bins == 0 || airy_mul_size(&row, spec->bins, 8 * 8) ||
                     airy_mul_size(&all, row, spec->frames) || all > (size_t)1 << 62,
                 AIRY_ERR_PARAM, "integrated file of %zu frames x %zu bins", spec->frames,
                 spec->bins);
    return AIRY_OK;
}

/* Two programs must not write one file. Advisory; file systems without such locks do without. */
static airy_status lock_file(int fd, const char *path)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0};
    const int refused = fcntl(fd, F_OFD_SETLK, &whole) != 0 && (errno == EAGAIN || errno == EACCES);
    AIRY_FAIL_IF(refused, AIRY_ERR_IO, "'%s' is being written by another process", path);
    return AIRY_OK;
}

static airy_status open_locked(int *fd, const char *path)
{
    *fd = open(path, O_RDWR | O_CLOEXEC);
    AIRY_FAIL_IF(*fd < 0, errno == ENOENT ? AIRY_ERR_NOT_FOUND : AIRY_ERR_IO,
                 "cannot open '%s': %s", path, strerror(errno));
    return lock_file(*fd, path);
}

/* Remove what an interrupted run has left, not what another one is writing. */
static airy_status remove_partial(const char *partial)
{
    int fd = -1;
    airy_status status = open_locked(&fd, partial);
    if (status == AIRY_OK && unlink(partial) != 0)
        status = airy_fail(AIRY_ERR_IO, "cannot remove '%s': %s", partial, strerror(errno));
    if (fd >= 0)
        close(fd);
    return status == AIRY_ERR_NOT_FOUND ? AIRY_OK : status;
}

/* The partial file under its name is the one that is written here. */
static bool is_ours(const airy_pattern_file *file)
{
    struct stat named, opened;
    return stat(file->partial, &named) == 0 && fstat(file->fd, &opened) == 0 &&
           named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

/* It gets its name when it is complete and locked: nobody finds it before. */
static airy_status create_partial(airy_pattern_file *file, const struct airy_pattern_spec *spec)
{
    char *name = NULL;
    AIRY_TRY(airy_file_unique(&name, file->path));
    airy_status status = airy_pattern_layout_create(&file->layout, name, spec);
    if (status == AIRY_OK) {
        status = open_locked(&file->fd, name);
        if (status == AIRY_OK)
            status = airy_file_rename(name, file->partial, false);
        if (status != AIRY_OK)
            unlink(name);
    }
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
    AIRY_FAIL_IF(ftruncate(file->fd, (off_t)layout->end) != 0, AIRY_ERR_IO,
                 "cannot extend '%s': %s", file->partial, strerror(errno));
    layout->cut = false;
    return airy_pattern_layout_switch(file->fd, layout, layout->per_frame, layout->end);
}

static airy_status load_rows(airy_pattern_file *file)
{
    const struct airy_pattern_layout *layout = &file->layout;
    int32_t *status_of;
    AIRY_TRY(airy_memory_alloc((void **)&status_of, sizeof(*status_of) * file->frames));
    airy_status status = airy_file_pread(file->fd, status_of, sizeof(*status_of) * file->frames,
                                         layout->offset[AIRY_PATTERN_STATUS]);
    bool any = false;
    for (size_t i = 0; i < file->frames && status == AIRY_OK; i++) {
        /* Bad frames are tried again: their file may be complete by now. */
        const bool good = status_of[i] == AIRY_ROW_GOOD;
        atomic_store(&file->rows[i],
                     good ? (layout->per_frame ? ROW_DONE : ROW_FOLLOWS) : ROW_PENDING);
        any = any || good;
    }
    airy_memory_release(status_of);
    /* The first good row of a run has written them, before its status. */
    for (int k = 0; k < NORMALIZATIONS && any && !layout->per_frame && status == AIRY_OK; k++)
        status = airy_file_pread(file->fd, file->shared + (size_t)k * file->bins, 8 * file->bins,
                                 layout->offset[AIRY_PATTERN_SHARED_NORMALIZATION + k]);
    atomic_store(&file->have_shared, any && !layout->per_frame);
    return status;
}

static airy_status start_file(airy_pattern_file *file, const struct airy_pattern_spec *spec,
                              bool resume)
{
    AIRY_FAIL_IF(!file->force && access(file->path, F_OK) == 0, AIRY_ERR_EXISTS,
                 "'%s' is there already", file->path);
    if (!resume) {
        AIRY_FAIL_IF(
            !file->force && access(file->partial, F_OK) == 0, AIRY_ERR_EXISTS,
            "'%s' is there from an interrupted run: resume it, remove it, or overwrite by force",
            file->partial);
        if (file->force)
            AIRY_TRY(remove_partial(file->partial));
        return create_partial(file, spec);
    }
    const airy_status opened = open_locked(&file->fd, file->partial);
    if (opened != AIRY_OK)
        return airy_fail_context(opened, "cannot resume");
    AIRY_TRY(airy_pattern_layout_open(&file->layout, file->partial, spec));
    file->resumed = true;
    AIRY_TRY(restore_tail(file));
    return load_rows(file);
}

airy_status airy_pattern_file_create(airy_pattern_file **file, const char *path,
                                     const struct airy_pattern_spec *spec, bool force, bool resume)
{
    AIRY_TRY(check_spec(path, spec));
    airy_pattern_file *made;
    AIRY_TRY(airy_memory_calloc((void **)&made, 1, sizeof(*made), "an integrated file"));
    made->fd = -1;
    made->force = force;
    made->frames = spec->frames;
    made->bins = spec->bins;
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
    if (status == AIRY_OK)
        status = start_file(made, spec, resume);
    if (status != AIRY_OK) {
        airy_pattern_file_destroy(&made, true);
        return status;
    }
    *file = made;
    return AIRY_OK;
}

bool airy_pattern_file_done(const airy_pattern_file *file, size_t row)
{
    const unsigned char state = atomic_load(&file->rows[row]);
    return file->resumed && state != ROW_PENDING;
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

static airy_status write_values(airy_pattern_file *file, size_t row,
                                const struct airy_pattern_row *data)
{
    const struct airy_pattern_layout *layout = &file->layout;
    AIRY_TRY(write_row(file, AIRY_PATTERN_INTENSITY, row, data->intensity));
    AIRY_TRY(write_row(file, AIRY_PATTERN_SIGNAL, row, data->sums + AIRY_SUM_SIGNAL * file->bins));
    if (layout->offset[AIRY_PATTERN_STD]) {
        AIRY_TRY(write_row(file, AIRY_PATTERN_STD, row, data->std));
        AIRY_TRY(write_row(file, AIRY_PATTERN_SEM, row, data->sem));
        AIRY_TRY(write_row(file, AIRY_PATTERN_VARIANCE, row,
                           data->sums + AIRY_SUM_VARIANCE * file->bins));
    }
    AIRY_TRY(write_row(file, AIRY_PATTERN_TOTAL, row, &data->stats.total));
    AIRY_TRY(write_row(file, AIRY_PATTERN_MAX, row, &data->stats.max));
    AIRY_TRY(write_row(file, AIRY_PATTERN_SATURATED, row, &data->stats.saturated));
    AIRY_TRY(write_row(file, AIRY_PATTERN_INVALID, row, &data->stats.invalid));
    if (data->message || file->resumed) { /* a killed run may have left one */
        char message[AIRY_PATTERN_MESSAGE_BYTES] = "";
        snprintf(message, sizeof(message), "%s", data->message ? data->message : "");
        AIRY_TRY(write_row(file, AIRY_PATTERN_MESSAGE, row, message));
    }
    return AIRY_OK;
}

/* The lock is held for reading. */
static airy_status write_all(airy_pattern_file *file, size_t row,
                             const struct airy_pattern_row *data, bool good)
{
    const double *planes = data->sums + AIRY_SUM_NORMALIZATION * file->bins;
    const bool follows = good && !file->layout.per_frame;
    AIRY_TRY(write_values(file, row, data));
    if (file->layout.per_frame)
        AIRY_TRY(write_normalizations(file, row, planes));
    else if (follows)
        AIRY_TRY(keep_shared(file, planes));
    const int32_t status = good ? AIRY_ROW_GOOD : AIRY_ROW_BAD;
    AIRY_TRY(write_row(file, AIRY_PATTERN_STATUS, row, &status));
    atomic_store(&file->rows[row], follows ? ROW_FOLLOWS : ROW_WRITTEN);
    return AIRY_OK;
}

airy_status airy_pattern_file_write(airy_pattern_file *file, size_t row,
                                    const struct airy_pattern_row *data)
{
    AIRY_FAIL_IF(row >= file->frames, AIRY_ERR_PARAM, "row = %zu, the file has %zu", row,
                 file->frames);
    const bool has_errors = file->layout.offset[AIRY_PATTERN_STD] != 0;
    AIRY_FAIL_IF(!data->intensity || !data->sums || (has_errors && (!data->std || !data->sem)),
                 AIRY_ERR_PARAM, "row %zu: intensity, sums, std or sem is NULL", row);
    const bool good = data->stats.status == AIRY_FRAME_GOOD;
    airy_status status = AIRY_OK;
    if (good && data->stats.invalid > 0)
        status = make_per_frame(file);
    if (status == AIRY_OK) {
        pthread_rwlock_rdlock(&file->lock);
        status = write_all(file, row, data, good);
        pthread_rwlock_unlock(&file->lock);
    }
    return status == AIRY_OK ? AIRY_OK
                             : airy_fail_context(status, "row %zu of '%s'", row, file->partial);
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
    AIRY_FAIL_IF(ftruncate(file->fd, (off_t)layout->end) != 0, AIRY_ERR_IO,
                 "cannot shorten the file: %s", strerror(errno));
    layout->cuttable = false;
    return AIRY_OK;
}

airy_status airy_pattern_file_finish(airy_pattern_file *file, const double *sums)
{
    size_t pending = 0;
    for (size_t row = 0; row < file->frames; row++)
        pending += atomic_load(&file->rows[row]) == ROW_PENDING;
    AIRY_FAIL_IF(pending > 0, AIRY_ERR_PARAM, "'%s': %zu of %zu rows are not written",
                 file->partial, pending, file->frames);
    airy_status status = AIRY_OK;
    if (sums && !file->layout.per_frame)
        status = write_shared(file, sums + AIRY_SUM_NORMALIZATION * file->bins);
    if (status == AIRY_OK)
        status = cut_tail(file);
    if (status == AIRY_OK && fsync(file->fd) != 0)
        status = airy_fail(AIRY_ERR_IO, "fsync: %s", strerror(errno));
    if (status == AIRY_OK && !is_ours(file))
        status = airy_fail(AIRY_ERR_IO, "the file was removed or replaced while it was written");
    if (status == AIRY_OK)
        status = airy_file_rename(file->partial, file->path, file->force);
    file->finished = status == AIRY_OK;
    return status == AIRY_OK ? AIRY_OK : airy_fail_context(status, "'%s'", file->partial);
}

void airy_pattern_file_destroy(airy_pattern_file **file, bool keep)
{
    if (!file || !*file)
        return;
    airy_pattern_file *dead = *file;
    *file = NULL;
    if (dead->fd >= 0) {
        if (!keep && !dead->finished && is_ours(dead))
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
