/* Texts that users give: tables, lists, PONI files. They may come from a pipe. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "airy/file.h"
#include "base/error.h"
#include "io/file/plain_file.h"

enum {
    PIPE_BYTES = 64 << 20, /* of a pipe's text */
    PIPE_WAIT = 5000,      /* ms for somebody who writes into a pipe */
    PIPE_STEP = 100        /* ms between looks */
};

static airy_status fail_path(const char *path, int error)
{
    return airy_fail_system(AIRY_SUBJECT_FILE, error, "%s: %s", path, strerror(error));
}

static airy_status write_all(int fd, const char *bytes, size_t size, const char *path)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n = write(fd, bytes + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail_path(path, n < 0 ? errno : EIO);
        done += (size_t)n;
    }
    return AIRY_OK;
}

/*
 * Copy a pipe that does not block until its writers have closed it. Reading tells who writes: it
 * ends at once where nobody has the pipe open, and has to wait where somebody has.
 */
static airy_status copy_pipe(int to, int from, const char *path)
{
    char piece[1 << 16];
    size_t total = 0;
    for (int waited = 0;;) {
        const ssize_t n = read(from, piece, sizeof(piece));
        if (n > 0) {
            total += (size_t)n;
            AIRY_FAIL_HINT_IF(
                total > PIPE_BYTES, AIRY_ERR_FORMAT, AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
                "%s: more than %d bytes came through this pipe; give the text as a file", path,
                (int)PIPE_BYTES);
            AIRY_TRY(write_all(to, piece, (size_t)n, path));
            continue;
        }
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return fail_path(path, errno);
        struct pollfd wait = {.fd = from, .events = POLLIN};
        const bool writer = n < 0;
        const int ready = poll(&wait, 1, PIPE_STEP);
        if (n == 0 && (total > 0 || (ready > 0 && wait.revents & POLLHUP)))
            return AIRY_OK;
        waited = writer || ready != 0 ? 0 : waited + PIPE_STEP;
        AIRY_FAIL_HINT_IF(waited >= PIPE_WAIT, AIRY_ERR_IO, AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
                          "%s: a pipe that nobody writes into; start its writer first", path);
    }
}

/* A pipe cannot be read a second time, and nobody knows where it ends: its text is kept. */
static airy_status keep_pipe(int *kept, int from, const char *path)
{
    const int to = memfd_create("airy-text", MFD_CLOEXEC);
    if (to < 0)
        return fail_path(path, errno);
    airy_status status = copy_pipe(to, from, path);
    if (status == AIRY_OK && lseek(to, 0, SEEK_SET) != 0)
        status = fail_path(path, errno);
    if (status != AIRY_OK)
        close(to);
    else
        *kept = to;
    return status;
}

static airy_status open_text(int *fd, const char *path)
{
    struct stat about;
    const int opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (opened < 0)
        return airy_file_fail_open(path, errno);
    airy_status status = AIRY_OK;
    if (fstat(opened, &about) != 0)
        status = fail_path(path, errno);
    else if (S_ISREG(about.st_mode)) {
        *fd = opened;
        return AIRY_OK;
    } else if (S_ISFIFO(about.st_mode))
        status = keep_pipe(fd, opened, path);
    else
        status =
            airy_hinted(AIRY_HINT_STATED, airy_fail_on(AIRY_ERR_IO, AIRY_SUBJECT_FILE,
                                                       "'%s' is %s, expected a file or a pipe",
                                                       path, airy_file_other_kind(about.st_mode)));
    close(opened);
    return status;
}

airy_status airy_file_open_text(int *fd, const char *path)
{
    AIRY_FAIL_IF(!fd || !path, AIRY_ERR_PARAM, "airy_file_open_text: fd or path is missing");
    int opened = -1;
    AIRY_TRY(open_text(&opened, path));
    /* Where the mark cannot be read, whoever reads the text meets the error. */
    char start[3];
    const ssize_t n = pread(opened, start, sizeof(start), 0);
    if (n > 0)
        (void)lseek(opened, (off_t)airy_file_text_mark(start, (size_t)n), SEEK_SET);
    *fd = opened;
    return AIRY_OK;
}

airy_status airy_file_open_stream(FILE **file, const char *path)
{
    int fd = -1;
    AIRY_TRY(airy_file_open_text(&fd, path));
    FILE *opened = fdopen(fd, "r");
    if (!opened) {
        close(fd);
        return airy_fail_on(AIRY_ERR_MEMORY, AIRY_SUBJECT_FILE, "%s: out of memory", path);
    }
    *file = opened;
    return AIRY_OK;
}
