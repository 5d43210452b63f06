/* Files of a new pair of keys. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "airy/stream_keys.h"
#include "base/error.h"

enum { PATH_BYTES = 4096 + 8, TEXT_BYTES = 256 };

/* A new file. What is there stays. */
static airy_status write_key(const char *path, mode_t mode, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    AIRY_FAIL_HINT_IF(fd < 0 && errno == EEXIST, AIRY_ERR_EXISTS, AIRY_HINT_STATED,
                      AIRY_SUBJECT_FILE, "'%s' is there already; keys are never overwritten", path);
    AIRY_FAIL_ON_IF(fd < 0, AIRY_ERR_IO, AIRY_SUBJECT_FILE, "cannot write '%s': %s", path,
                    strerror(errno));
    const size_t size = strlen(text);
    const bool written = write(fd, text, size) == (ssize_t)size && fsync(fd) == 0;
    const int why = errno;
    if (close(fd) == 0 && written)
        return AIRY_OK;
    (void)unlink(path);
    return airy_fail_system(AIRY_SUBJECT_FILE, why, "cannot write '%s': %s", path, strerror(why));
}

static airy_status write_pair(const char *secret_path, const char *public_path,
                              const char *secret_key, const char *public_key)
{
    char text[TEXT_BYTES];
    snprintf(text, sizeof(text),
             "# secret key of CURVE, for --curve-key; keep it to yourself\n%s\n", secret_key);
    airy_status status = write_key(secret_path, 0600, text);
    explicit_bzero(text, sizeof(text));
    if (status != AIRY_OK)
        return status;
    snprintf(text, sizeof(text), "# public key of CURVE, for --curve-server or --curve-allow\n%s\n",
             public_key);
    status = write_key(public_path, 0644, text);
    if (status != AIRY_OK)
        (void)unlink(secret_path);
    return status;
}

airy_status airy_stream_keys_write(const char *name, char public_key[AIRY_STREAM_KEY_BYTES])
{
    char secret_path[PATH_BYTES], public_path[PATH_BYTES], made[AIRY_STREAM_KEY_BYTES],
        secret_key[AIRY_STREAM_KEY_BYTES];
    struct stat about;
    AIRY_FAIL_IF(!name, AIRY_ERR_PARAM, "airy_stream_keys_write: name is NULL");
    const int n = snprintf(secret_path, sizeof(secret_path), "%s.key", name);
    AIRY_FAIL_IF(n < 0 || (size_t)n >= sizeof(secret_path), AIRY_ERR_PARAM,
                 "the name of the keys is longer than %zu bytes", sizeof(secret_path) - 1);
    snprintf(public_path, sizeof(public_path), "%.*s.pub", n - 4, name);
    AIRY_FAIL_HINT_IF(lstat(public_path, &about) == 0, AIRY_ERR_EXISTS, AIRY_HINT_STATED,
                      AIRY_SUBJECT_FILE, "'%s' is there already; keys are never overwritten",
                      public_path);
    AIRY_TRY(airy_stream_keys_make(made, secret_key));
    const airy_status status = write_pair(secret_path, public_path, secret_key, made);
    explicit_bzero(secret_key, sizeof(secret_key));
    if (status == AIRY_OK && public_key)
        memcpy(public_key, made, sizeof(made));
    return status;
}
