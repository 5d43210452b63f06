#include "io/put_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

/* The name is only safe on disk when its folder is. */
static void sync_folder(const char *path)
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

airy_status airy_put_rename(const char *from, const char *to, bool force)
{
    int failed = renameat2(AT_FDCWD, from, AT_FDCWD, to, force ? 0 : RENAME_NOREPLACE) != 0 ? errno : 0;
    if (failed == EINVAL || failed == ENOSYS) { /* the file system cannot do it in one step */
        AIRY_FAIL_IF(!force && access(to, F_OK) == 0, AIRY_ERR_EXISTS, "'%s' is there already", to);
        failed = rename(from, to) != 0 ? errno : 0;
    }
    AIRY_FAIL_IF(failed == EEXIST, AIRY_ERR_EXISTS, "'%s' is there already", to);
    AIRY_FAIL_IF(failed, AIRY_ERR_IO, "cannot rename '%s' to '%s': %s", from, to, strerror(failed));
    sync_folder(to);
    return AIRY_OK;
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
    AIRY_FAIL_IF(fsync(fd) != 0 && errno != EINVAL && errno != EROFS, AIRY_ERR_IO, "fsync: %s", strerror(errno));
    return AIRY_OK;
}

airy_status airy_put_file(const char *path, const void *const *parts, const size_t *sizes, size_t count, bool force)
{
    AIRY_FAIL_IF(!force && access(path, F_OK) == 0, AIRY_ERR_EXISTS, "'%s' is there already", path);
    char *partial;
    if (asprintf(&partial, "%s.partial", path) < 0)
        return airy_fail(AIRY_ERR_MEMORY, "out of memory for a path");
    const int fd = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    airy_status status;
    if (fd < 0) {
        status = airy_fail(AIRY_ERR_IO, "cannot create '%s': %s", partial, strerror(errno));
    } else {
        status = write_parts(fd, parts, sizes, count);
        close(fd);
        if (status == AIRY_OK)
            status = airy_put_rename(partial, path, force);
        else
            status = airy_fail_context(status, "'%s'", partial);
        if (status != AIRY_OK)
            unlink(partial);
    }
    free(partial);
    return status;
}
