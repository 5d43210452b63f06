#include "io/plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/notice.h"
#include "base/number.h"

airy_status airy_file_pread(int fd, void *data, size_t size, uint64_t offset)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n = pread(fd, (char *)data + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        AIRY_FAIL_IF(n < 0, AIRY_ERR_IO, "cannot read %zu bytes at %llu: %s", size,
                     (unsigned long long)offset, strerror(errno));
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
        AIRY_FAIL_IF(n <= 0, AIRY_ERR_IO, "cannot write %zu bytes at %llu: %s", size,
                     (unsigned long long)offset, n < 0 ? strerror(errno) : "nothing was written");
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
        AIRY_FAIL_IF(n <= 0, AIRY_ERR_IO, "cannot write %zu bytes at %llu: %s", parts[0].iov_len,
                     (unsigned long long)offset, n < 0 ? strerror(errno) : "nothing was written");
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

airy_status airy_file_open(int *fd, uint64_t *size, const char *path)
{
    const int opened = open(path, O_RDONLY | O_CLOEXEC);
    AIRY_FAIL_IF(opened < 0, errno == ENOENT ? AIRY_ERR_NOT_FOUND : AIRY_ERR_IO,
                 "cannot open '%s': %s", path, strerror(errno));
    struct stat about;
    const bool regular = fstat(opened, &about) == 0 && S_ISREG(about.st_mode);
    if (!regular)
        close(opened);
    AIRY_FAIL_IF(!regular, AIRY_ERR_IO, "'%s' is no regular file", path);
    *fd = opened;
    *size = (uint64_t)about.st_size;
    return AIRY_OK;
}

airy_status airy_file_open_locked(int *fd, const char *path, bool shared)
{
    *fd = open(path, O_RDWR | O_CLOEXEC);
    AIRY_FAIL_IF(*fd < 0, errno == ENOENT ? AIRY_ERR_NOT_FOUND : AIRY_ERR_IO,
                 "cannot open '%s': %s", path, strerror(errno));
    struct flock whole = {.l_type = shared ? F_RDLCK : F_WRLCK, .l_whence = SEEK_SET};
    const int refused = fcntl(*fd, F_OFD_SETLK, &whole) != 0 &&
                        (errno == EAGAIN || errno == EACCES);
    AIRY_FAIL_IF(refused, AIRY_ERR_IO, "'%s' is being written by another process", path);
    return AIRY_OK;
}

bool airy_file_is(int fd, const char *path)
{
    struct stat named, opened;
    return stat(path, &named) == 0 && fstat(fd, &opened) == 0 && named.st_dev == opened.st_dev &&
           named.st_ino == opened.st_ino;
}

/*
 * Files of this process that have not got their names: a signal, which is the process's, removes
 * them. The list is changed by a thread that no signal can meet meanwhile, so that a handler that
 * waits for it, in another thread, waits for a few instructions, or for an open.
 */
struct half_made {
    struct half_made *next;
    pid_t maker;       /* a child of fork() has the list, too, and none of its files */
    atomic_int opened; /* 0: not yet; below 0: it could not be, and is another's if there is one */
    char name[];
};
static struct half_made *half_made;
static atomic_flag half_made_busy = ATOMIC_FLAG_INIT;
static atomic_bool half_made_gone; /* and busy for good */

static void block_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, before);
}

static void lock_half_made(void)
{
    while (atomic_flag_test_and_set(&half_made_busy))
        airy_relax();
}

static void unlock_half_made(void)
{
    atomic_flag_clear(&half_made_busy);
}

/* It has its name, or is gone. */
static void forget(const char *name)
{
    sigset_t before;
    block_signals(&before);
    lock_half_made();
    struct half_made **link = &half_made;
    while (*link && strcmp((*link)->name, name) != 0)
        link = &(*link)->next;
    struct half_made *dead = *link;
    if (dead)
        *link = dead->next;
    unlock_half_made();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    free(dead);
}

airy_status airy_file_open_new(int *fd, const char *partial)
{
    struct half_made *made;
    sigset_t before;
    const size_t size = strlen(partial) + 1;
    AIRY_TRY(airy_memory_calloc((void **)&made, 1, sizeof(*made) + size, "a file's name"));
    memcpy(made->name, partial, size);
    made->maker = getpid();
    block_signals(&before);
    lock_half_made();
    made->next = half_made;
    half_made = made;
    unlock_half_made();
    const int opened = open(partial, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const int why = errno;
    atomic_store(&made->opened, opened < 0 ? -1 : 1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (opened < 0)
        forget(partial);
    AIRY_FAIL_IF(opened < 0, why == EEXIST ? AIRY_ERR_EXISTS : AIRY_ERR_IO,
                 "cannot create '%s': %s", partial, strerror(why));
    *fd = opened;
    return AIRY_OK;
}

void airy_file_remove(const char *partial)
{
    unlink(partial);
    forget(partial);
}

void airy_file_remove_half_made(void)
{
    sigset_t before;
    const pid_t self = getpid();
    block_signals(&before);
    /* For good: nothing begins after this. A second signal, to whichever thread, waits for no more. */
    while (atomic_flag_test_and_set(&half_made_busy) && !atomic_load(&half_made_gone))
        airy_relax();
    for (struct half_made *made = half_made; made; made = made->next) {
        while (made->maker == self && atomic_load(&made->opened) == 0)
            airy_relax();
        if (made->maker == self && atomic_load(&made->opened) > 0)
            unlink(made->name);
    }
    atomic_store(&half_made_gone, true);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

airy_status airy_file_unique(char **partial, const char *path)
{
    uint32_t number = 0;
    char *made = NULL;
    AIRY_FAIL_IF(getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number), AIRY_ERR_IO,
                 "no random number for a file's name: %s", strerror(errno));
    AIRY_FAIL_IF(asprintf(&made, "%s.%08x.partial", path, number) < 0, AIRY_ERR_MEMORY,
                 "out of memory for a path");
    *partial = made;
    return AIRY_OK;
}

airy_status airy_file_create(int *fd, char **partial, const char *path)
{
    enum { TRIES = 4 };
    AIRY_FAIL_IF(!fd || !partial || !path || !*path, AIRY_ERR_PARAM,
                 "airy_file_create: fd, partial or path is missing");
    airy_status status = AIRY_ERR_EXISTS;
    for (int i = 0; i < TRIES && status == AIRY_ERR_EXISTS; i++) {
        char *name;
        AIRY_TRY(airy_file_unique(&name, path));
        status = airy_file_open_new(fd, name);
        if (status == AIRY_OK)
            *partial = name;
        else
            free(name);
    }
    return status;
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

airy_status airy_file_move(const char *from, const char *to, bool force)
{
    int failed = renameat2(AT_FDCWD, from, AT_FDCWD, to, force ? 0 : RENAME_NOREPLACE) != 0 ? errno
                                                                                            : 0;
    if (failed == EINVAL || failed == ENOSYS) { /* the file system cannot do it in one step */
        AIRY_FAIL_IF(!force && access(to, F_OK) == 0, AIRY_ERR_EXISTS, "'%s' is there already", to);
        failed = rename(from, to) != 0 ? errno : 0;
    }
    AIRY_FAIL_IF(failed == EEXIST, AIRY_ERR_EXISTS, "'%s' is there already", to);
    AIRY_FAIL_IF(failed, AIRY_ERR_IO, "cannot give '%s' its name: %s", to, strerror(failed));
    forget(from);
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
    AIRY_FAIL_IF(fsync(fd) != 0, AIRY_ERR_IO, "fsync: %s", strerror(errno));
    AIRY_FAIL_IF(!airy_file_is(fd, partial), AIRY_ERR_IO,
                 "the file was removed or replaced while it was written");
    return airy_file_rename(partial, path, force);
}

static airy_status write_parts(int fd, const void *const *parts, const size_t *sizes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *bytes = parts[i];
        for (size_t done = 0; done < sizes[i];) {
            const ssize_t n = write(fd, bytes + done, sizes[i] - done);
            if (n < 0 && errno == EINTR)
                continue;
            AIRY_FAIL_IF(n <= 0, AIRY_ERR_IO, "cannot write %zu bytes: %s", sizes[i] - done,
                         n < 0 ? strerror(errno) : "nothing was written");
            done += (size_t)n;
        }
    }
    AIRY_FAIL_IF(fsync(fd) != 0 && errno != EINVAL && errno != EROFS, AIRY_ERR_IO, "fsync: %s",
                 strerror(errno));
    return AIRY_OK;
}

/* A file that is written (status) gets its name, or goes; the partial name is freed. */
static airy_status end_new(airy_status status, char *partial, const char *path, bool force)
{
    status = status == AIRY_OK ? airy_file_rename(partial, path, force)
                               : airy_fail_context(status, "'%s'", partial);
    if (status != AIRY_OK)
        airy_file_remove(partial);
    free(partial);
    return status;
}

airy_status airy_file_put(const char *path, const void *const *parts, const size_t *sizes,
                          size_t count, bool force)
{
    AIRY_FAIL_IF(!force && access(path, F_OK) == 0, AIRY_ERR_EXISTS, "'%s' is there already", path);
    char *partial;
    int fd;
    AIRY_TRY(airy_file_create(&fd, &partial, path));
    const airy_status status = write_parts(fd, parts, sizes, count);
    close(fd);
    return end_new(status, partial, path, force);
}

/* Print to a descriptor, which is closed. */
static airy_status print_to(int fd, void (*print)(FILE *file, const void *user), const void *user)
{
    struct airy_c_locale locale;
    FILE *file = fdopen(fd, "w");
    if (!file) {
        const airy_status status = airy_fail(AIRY_ERR_MEMORY, "%s", strerror(errno));
        close(fd);
        return status;
    }
    airy_status status = airy_c_locale_enter(&locale);
    if (status == AIRY_OK) {
        print(file, user);
        airy_c_locale_leave(&locale);
    }
    if (status == AIRY_OK && (fflush(file) != 0 || ferror(file)))
        status = airy_fail(AIRY_ERR_IO, "it cannot be written: %s", strerror(errno));
    if (status == AIRY_OK && fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
        status = airy_fail(AIRY_ERR_IO, "fsync: %s", strerror(errno));
    (void)fclose(file); /* everything is in the file already */
    return status;
}

airy_status airy_print_file(const char *path, bool force,
                            void (*print)(FILE *file, const void *user), const void *user)
{
    char *partial;
    int fd;
    AIRY_FAIL_IF(!force && access(path, F_OK) == 0, AIRY_ERR_EXISTS, "'%s' is there already", path);
    AIRY_TRY(airy_file_create(&fd, &partial, path));
    return end_new(print_to(fd, print, user), partial, path, force);
}
