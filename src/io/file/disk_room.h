/* Disk space is reserved after a look at what is free, and in pieces between which a run may stop. */
#ifndef AIRY_IO_FILE_DISK_ROOM_H
#define AIRY_IO_FILE_DISK_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "airy/status.h"

/* Who writes the file; zeroed: a run over files that cannot be stopped. */
struct airy_disk_owner {
    /*
     * The size comes from a sender. A share of the disk stays free, and of a large file no space is
     * reserved: it grows with the rows that really come.
     */
    bool live;
    bool (*go_on)(void *user, size_t done, size_t total); /* false: stop; or NULL */
    void *user;
};

/*
 * `size` bytes have room in the folder that `path` lies in. Where the system does not tell what is
 * free they have.
 * Errors: AIRY_ERR_IO with both numbers.
 */
airy_status airy_disk_check(const char *path, uint64_t size, const struct airy_disk_owner *owner);
/*
 * Reserve the first `size` bytes of a file. A file system that cannot reserve leaves it sparse.
 * Errors: AIRY_ERR_IO, AIRY_ERR_CANCELLED.
 */
airy_status airy_disk_reserve(int fd, uint64_t size, const struct airy_disk_owner *owner);

#endif
