#include "io/file/plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/temporary.h"

airy_status airy_file_pread(int fd, void *data, size_t size, uint64_t offset)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n = pread(fd, (char *)data + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        AIRY_FAIL_HINT_IF(n < 0, AIRY_ERR_IO, airy_hint_of_errno(errno), AIRY_SUBJECT_NONE,
                          "cannot read %zu bytes at %llu: %s", size, (unsigned long long)offset,
                          strerror(errno));
        AIRY_FAIL_IF(n == 0, AIRY_ERR_IO, "cannot read %zu bytes at %llu: the file ends", size,
                     (unsigned long long)offset);
        done += (size_t)n;
    }
    return AIRY_OK;
}

airy_status airy_file_pwrite(int fd, const void *data, size_t size, uint64_t offset)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n =
            pwrite(fd, (const char *)data + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        AIRY_FAIL_HINT_IF(n <= 0, AIRY_ERR_IO, airy_hint_of_errno(n < 0 ? errno : 0),
                          AIRY_SUBJECT_NONE, "cannot write %zu bytes at %llu: %s", size,
                          (unsigned long long)offset,
                          n < 0 ? strerror(errno) : "nothing was written");
        done += (size_t)n;
    }
    return AIRY_OK;
}

airy_status airy_file_pwritev(int fd, struct iovec *parts, size_t count, uint64_t offset)
{
    while (count > 0) {
        ssize_t n = pwritev(fd, parts, (int)count, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        AIRY_FAIL_HINT_IF(n <= 0, AIRY_ERR_IO, airy_hint_of_errno(n < 0 ? errno : 0),
                          AIRY_SUBJECT_NONE, "cannot write %zu bytes at %llu: %s", parts[0].iov_len,
                          (unsigned long long)offset,
                          n < 0 ? strerror(errno) : "nothing was written");
        offset += (uint64_t)n;
        while (count > 0 && (size_t)n >= parts->iov_len) {
            n -= (ssize_t)parts->iov_len;
            parts++;
            count--;
        }
        if (count > 0) {
            parts->iov_base = (char *)parts->iov_base + n;
            parts->iov_len -= (size_t)n;
        }
    }
    return AIRY_OK;
}

const char *airy_file_other_kind(mode_t mode)
{
    return S_ISREG(mode)    ? NULL
           : S_ISDIR(mode)  ? "a folder"
           : S_ISFIFO(mode) ? "a pipe"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

/* "PATH.partial" is there, the result of a run that has not ended. */
static bool has_partial(const char *path)
{
    char partial[4096 + sizeof(".partial")];
    const int length = snprintf(partial, sizeof(partial), "%s.partial", path);
    return length < (int)sizeof(partial) && access(partial, F_OK) == 0;
}

airy_status airy_file_fail_open(const char *path, int error)
{
    const airy_status status = error == ENOENT ? AIRY_ERR_NOT_FOUND : AIRY_ERR_IO;
    if (error == ENOENT && has_partial(path))
        return airy_hinted(AIRY_HINT_PARTIAL,
                           airy_fail_on(status, AIRY_SUBJECT_FILE,
                                        "cannot open '%s': %s, but '%s.partial', the unfinished "
                                        "result of a run, is there",
                                        path, strerror(error), path));
    const bool stream = error == ENOENT && strncmp(path, "tcp:/", 5) == 0;
    return airy_hinted(
        stream ? AIRY_HINT_STREAM : airy_hint_of_errno(error),
        airy_fail_on(status, AIRY_SUBJECT_FILE, "cannot open '%s': %s", path, strerror(error)));
}

airy_status airy_file_stat(struct stat *about, const char *path)
{
    if (stat(path, about) != 0)
        return airy_file_fail_open(path, errno);
    const char *other = airy_file_other_kind(about->st_mode);
    AIRY_FAIL_HINT_IF(other, AIRY_ERR_IO,
                      S_ISFIFO(about->st_mode) ? AIRY_HINT_PIPE : AIRY_HINT_REGULAR,
                      AIRY_SUBJECT_FILE, "'%s' is %s, not a regular file", path, other);
    return AIRY_OK;
}

airy_status airy_file_open(int *fd, uint64_t *size, const char *path)
{
    struct stat about;
    AIRY_TRY(airy_file_stat(&about, path));
    /* A pipe, should one come in between, would wait for its writer. */
    const int opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (opened < 0)
        return airy_file_fail_open(path, errno);
    const bool regular = fstat(opened, &about) == 0 && S_ISREG(about.st_mode);
    if (!regular)
        close(opened);
    AIRY_FAIL_ON_IF(!regular, AIRY_ERR_IO, AIRY_SUBJECT_FILE, "'%s' is not a regular file any more",
                    path);
    *fd = opened;
    *size = (uint64_t)about.st_size;
    return AIRY_OK;
}

size_t airy_file_text_mark(const char *text, size_t size)
{
    return size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* Who can write the folder may have put another file there, or a link to one. */
static airy_status check_own(int fd, const char *path)
{
    struct stat about;
    if (fstat(fd, &about) != 0)
        return airy_file_fail_open(path, errno);
    AIRY_FAIL_HINT_IF(!S_ISREG(about.st_mode), AIRY_ERR_IO, AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
                      "'%s' is not a regular file, and is not written to; remove it", path);
    AIRY_FAIL_HINT_IF(
        about.st_uid != geteuid(), AIRY_ERR_IO, AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
        "'%s' belongs to another user (%lu), and is not written to; copy it, or remove it", path,
        (unsigned long)about.st_uid);
    return AIRY_OK;
}

airy_status airy_file_open_locked(int *fd, const char *path, bool shared)
{
    *fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    AIRY_FAIL_HINT_IF(*fd < 0 && errno == ELOOP, AIRY_ERR_IO, AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
                      "'%s' is a symbolic link, and is not followed to write; remove it", path);
    if (*fd < 0)
        return airy_file_fail_open(path, errno);
    AIRY_TRY(check_own(*fd, path));
    struct flock whole = {.l_type = shared ? F_RDLCK : F_WRLCK, .l_whence = SEEK_SET};
    const int refused = fcntl(*fd, F_OFD_SETLK, &whole) != 0 &&
                        (errno == EAGAIN || errno == EACCES);
    AIRY_FAIL_HINT_IF(refused, AIRY_ERR_IO, AIRY_HINT_WRITER, AIRY_SUBJECT_FILE,
                      "'%s' is being written by another process", path);
    return AIRY_OK;
}

bool airy_file_is(int fd, const char *path)
{
    struct stat named, opened;
    return stat(path, &named) == 0 && fstat(fd, &opened) == 0 && named.st_dev == opened.st_dev &&
           named.st_ino == opened.st_ino;
}

void airy_file_remove(const char *partial)
{
    unlink(partial);
    airy_temporary_forget(partial);
}

airy_status airy_file_create(int *fd, char **partial, const char *path)
{
    AIRY_FAIL_IF(!fd || !partial || !path || !*path, AIRY_ERR_PARAM,
                 "airy_file_create: fd, partial or path is missing");
    const int why = airy_temporary_create(fd, partial, path, 0666);
    AIRY_FAIL_ON_IF(why == ENOMEM, AIRY_ERR_MEMORY, AIRY_SUBJECT_FILE,
                    "out of memory for the name of '%s'", path);
    AIRY_FAIL_HINT_IF(why, why == EEXIST ? AIRY_ERR_EXISTS : AIRY_ERR_IO, airy_hint_of_errno(why),
                      AIRY_SUBJECT_FILE, "cannot create '%s': %s", path, strerror(why));
    return AIRY_OK;
}

airy_status airy_file_begin(char **partial, const char *path)
{
    int fd;
    AIRY_TRY(airy_file_create(&fd, partial, path));
    close(fd);
    return AIRY_OK;
}

void airy_file_sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = !slash ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
    const int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(folder);
}

/* Files of this thread that get their names together; NULL: each at once. */
static _Thread_local struct airy_held_files *held_files;

static airy_status hold_file(struct airy_held_files *held, const char *from, const char *to,
                             bool force)
{
    AIRY_FAIL_ON_IF(!force && access(to, F_OK) == 0, AIRY_ERR_EXISTS, AIRY_SUBJECT_FILE,
                    "'%s' is there already", to);
    struct airy_held_file *files = realloc(held->files, (held->count + 1) * sizeof(*files)),
                          one = {strdup(from), strdup(to), force};
    held->files = files ? files : held->files;
    if (!files || !one.partial || !one.path) {
        free(one.partial);
        free(one.path);
        return airy_fail(AIRY_ERR_MEMORY, "out of memory for the name of a file");
    }
    files[held->count++] = one;
    return AIRY_OK;
}

void airy_files_hold(struct airy_held_files *held)
{
    *held = (struct airy_held_files){.count = 0};
    held_files = held;
}

airy_status airy_files_let_go(struct airy_held_files *held, airy_status status)
{
    airy_error error = {.status = AIRY_OK};
    held_files = NULL;
    for (size_t i = 0; i < held->count; i++) {
        const struct airy_held_file *file = &held->files[i];
        const airy_status moved =
            status < AIRY_OK ? status : airy_file_rename(file->partial, file->path, file->force);
        if (moved != AIRY_OK) { /* those behind it, too */
            status = airy_error_first(&error, moved);
            airy_file_remove(file->partial);
        }
        free(file->partial);
        free(file->path);
    }
    free(held->files);
    return error.status == AIRY_OK ? status : airy_error_restore(&error);
}

airy_status airy_file_move(const char *from, const char *to, bool force)
{
    if (held_files)
        return hold_file(held_files, from, to, force);
    int failed = renameat2(AT_FDCWD, from, AT_FDCWD, to, force ? 0 : RENAME_NOREPLACE) != 0 ? errno
                                                                                            : 0;
    if (failed == EINVAL || failed == ENOSYS) { /* the file system cannot do it in one step */
        AIRY_FAIL_ON_IF(!force && access(to, F_OK) == 0, AIRY_ERR_EXISTS, AIRY_SUBJECT_FILE,
                        "'%s' is there already", to);
        failed = rename(from, to) != 0 ? errno : 0;
    }
    AIRY_FAIL_ON_IF(failed == EEXIST, AIRY_ERR_EXISTS, AIRY_SUBJECT_FILE, "'%s' is there already",
                    to);
    AIRY_FAIL_HINT_IF(failed, AIRY_ERR_IO, airy_hint_of_errno(failed), AIRY_SUBJECT_FILE,
                      "cannot give '%s' its name: %s", to, strerror(failed));
    airy_temporary_forget(from);
    return AIRY_OK;
}

airy_status airy_file_rename(const char *from, const char *to, bool force)
{
    AIRY_TRY(airy_file_move(from, to, force));
    airy_file_sync_folder(to);
    return AIRY_OK;
}

airy_status airy_file_publish(int fd, const char *partial, const char *path, bool force)
{
    AIRY_FAIL_HINT_IF(fsync(fd) != 0, AIRY_ERR_IO, airy_hint_of_errno(errno), AIRY_SUBJECT_NONE,
                      "fsync: %s", strerror(errno));
    AIRY_FAIL_IF(!airy_file_is(fd, partial), AIRY_ERR_IO,
                 "the file was removed or replaced while it was written");
    return airy_file_rename(partial, path, force);
}

/* To the disk; 0, or the error. Some file systems cannot. */
static int flush_file(int fd)
{
    return fsync(fd) != 0 && errno != EINVAL && errno != EROFS ? errno : 0;
}

static airy_status write_parts(int fd, const void *const *parts, const size_t *sizes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *bytes = parts[i];
        for (size_t done = 0; done < sizes[i];) {
            const ssize_t n = write(fd, bytes + done, sizes[i] - done);
            if (n < 0 && errno == EINTR)
                continue;
            AIRY_FAIL_HINT_IF(n <= 0, AIRY_ERR_IO, airy_hint_of_errno(n < 0 ? errno : 0),
                              AIRY_SUBJECT_NONE, "cannot write %zu bytes: %s", sizes[i] - done,
                              n < 0 ? strerror(errno) : "nothing was written");
            done += (size_t)n;
        }
    }
    const int why = flush_file(fd);
    AIRY_FAIL_HINT_IF(why, AIRY_ERR_IO, airy_hint_of_errno(why), AIRY_SUBJECT_NONE, "fsync: %s",
                      strerror(why));
    return AIRY_OK;
}

/* A new file that is written (status) gets its name, or goes; the partial name is freed. */
static airy_status settle(airy_status status, char *partial, const char *path, bool force,
                          bool sync)
{
    if (status != AIRY_OK)
        airy_fail_path(status, path);
    else
        status = sync ? airy_file_rename(partial, path, force)
                      : airy_file_move(partial, path, force);
    if (status != AIRY_OK)
        airy_file_remove(partial);
    free(partial);
    return status;
}

airy_status airy_file_settle(airy_status status, char *partial, const char *path, bool force)
{
    return settle(status, partial, path, force, true);
}

airy_status airy_file_put(const char *path, const void *const *parts, const size_t *sizes,
                          size_t count, bool force)
{
    AIRY_FAIL_ON_IF(!force && access(path, F_OK) == 0, AIRY_ERR_EXISTS, AIRY_SUBJECT_FILE,
                    "'%s' is there already", path);
    char *partial;
    int fd;
    AIRY_TRY(airy_file_create(&fd, &partial, path));
    const airy_status status = write_parts(fd, parts, sizes, count);
    close(fd);
    return airy_file_settle(status, partial, path, force);
}

/* A file that is closed; why: the error of its last writes, or 0. */
static airy_status commit(int why, char *partial, const char *path, bool force, bool sync)
{
    const airy_status status =
        why ? airy_hinted(airy_hint_of_errno(why),
                          airy_fail(AIRY_ERR_IO, "it cannot be written: %s", strerror(why)))
            : AIRY_OK;
    return settle(status, partial, path, force, sync);
}

airy_status airy_file_commit(int fd, char *partial, const char *path, bool force, bool sync)
{
    AIRY_FAIL_IF(fd < 0 || !partial || !path, AIRY_ERR_PARAM,
                 "airy_file_commit: fd, partial or path is missing");
    int why = sync ? flush_file(fd) : 0;
    if (close(fd) != 0 && !why)
        why = errno;
    return commit(why, partial, path, force, sync);
}

/* The same of what was printed. */
static airy_status commit_stream(FILE *file, char *partial, const char *path, bool force)
{
    int why = fflush(file) != 0 ? errno : ferror(file) ? EIO : flush_file(fileno(file));
    if (fclose(file) != 0 && !why)
        why = errno;
    return commit(why, partial, path, force, true);
}

airy_status airy_print_file(const char *path, bool force,
                            void (*print)(FILE *file, const void *user), const void *user)
{
    struct airy_c_locale locale;
    char *partial;
    int fd;
    AIRY_FAIL_ON_IF(!force && access(path, F_OK) == 0, AIRY_ERR_EXISTS, AIRY_SUBJECT_FILE,
                    "'%s' is there already", path);
    AIRY_TRY(airy_file_create(&fd, &partial, path));
    FILE *file = fdopen(fd, "w");
    airy_status status = file ? airy_c_locale_enter(&locale)
                              : airy_fail(AIRY_ERR_MEMORY, "out of memory");
    if (status == AIRY_OK) {
        print(file, user);
        airy_c_locale_leave(&locale);
        return commit_stream(file, partial, path, force);
    }
    if (file)
        (void)fclose(file);
    else
        close(fd);
    return airy_file_settle(status, partial, path, force);
}
