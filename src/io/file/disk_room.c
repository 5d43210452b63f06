#include "io/file/disk_room.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/error.h"
#include "base/size.h"

enum {
    SHARE = 100,    /* a live run leaves one part in so many of the disk free, */
    LIVE_MB = 256,  /* and reserves no file that is larger */
    PIECE_MB = 256, /* reserved at once: a fraction of a second */
    MARGIN_MB = 1024
};
static const uint64_t MB = 1 << 20;

/* Bytes that a file may take, of those that are free. */
static uint64_t room_of(const struct statvfs *disk, const struct airy_disk_owner *owner)
{
    const uint64_t block = disk->f_frsize, most = UINT64_MAX / (block ? block : 1),
                   available = disk->f_bavail < most ? disk->f_bavail * block : UINT64_MAX,
                   all = disk->f_blocks < most ? disk->f_blocks * block : UINT64_MAX,
                   share = all / SHARE < MARGIN_MB * MB ? all / SHARE : MARGIN_MB * MB,
                   margin = owner->live ? share : 0;
    return available > margin ? available - margin : 0;
}

static airy_status check_room(const struct statvfs *disk, uint64_t size,
                              const struct airy_disk_owner *owner)
{
    const uint64_t room = room_of(disk, owner);
    AIRY_FAIL_HINT_IF(
        size > room, AIRY_ERR_IO, AIRY_HINT_STATED, AIRY_SUBJECT_NONE,
        "the result takes %llu bytes, and the disk has room for %llu%s; free some space, "
        "or choose another disk, fewer bins or fewer frames",
        (unsigned long long)size, (unsigned long long)room,
        owner->live ? " beside a margin that stays free" : "");
    return AIRY_OK;
}

airy_status airy_disk_check(const char *path, uint64_t size, const struct airy_disk_owner *owner)
{
    struct statvfs disk;
    char folder[4096];
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) + 1 : 1;
    if (length >= sizeof(folder))
        return AIRY_OK; /* opening it fails by name */
    memcpy(folder, slash ? path : ".", length);
    folder[length] = 0;
    return statvfs(folder, &disk) == 0 ? check_room(&disk, size, owner) : AIRY_OK;
}

airy_status airy_disk_reserve(int fd, uint64_t size, const struct airy_disk_owner *owner)
{
    if (owner->live && size > LIVE_MB * MB)
        return AIRY_OK;
    for (uint64_t done = 0; done < size;) {
        const uint64_t piece = size - done < PIECE_MB * MB ? size - done : PIECE_MB * MB;
        AIRY_FAIL_IF(owner->go_on && !owner->go_on(owner->user, 0, 0), AIRY_ERR_CANCELLED,
                     "cancelled");
        const int failed = fallocate(fd, 0, (off_t)done, (off_t)piece) != 0 ? errno : 0;
        if (failed == EINTR)
            continue;
        if (failed == EOPNOTSUPP || failed == ENOSYS)
            return AIRY_OK;
        AIRY_FAIL_HINT_IF(failed, AIRY_ERR_IO, airy_hint_of_errno(failed), AIRY_SUBJECT_NONE,
                          "cannot reserve %llu bytes: %s", (unsigned long long)size,
                          strerror(failed));
        done += piece;
    }
    return AIRY_OK;
}
