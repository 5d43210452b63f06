/*
 * Files without a library: all of the bytes or an error; output appears under its name only when
 * it is complete.
 */
#ifndef AIRY_IO_FILE_PLAIN_FILE_H
#define AIRY_IO_FILE_PLAIN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "airy/error.h"
#include "airy/file.h"

/* pread and pwrite of all bytes; AIRY_ERR_IO with the system's words. */
airy_status airy_file_pread(int fd, void *data, size_t size, uint64_t offset);
airy_status airy_file_pwrite(int fd, const void *data, size_t size, uint64_t offset);
/* The same from several places; parts is used up. */
struct iovec;
airy_status airy_file_pwritev(int fd, struct iovec *parts, size_t count, uint64_t offset);
/* What a file is called that is no regular one, "a pipe"; NULL: it is one. */
const char *airy_file_other_kind(mode_t mode);
/* The path cannot be opened; hints at what it is: a stream, tcp://HOST:PORT, an unfinished result. */
airy_status airy_file_fail_open(const char *path, int error);
/* stat of a regular file, which another is not; AIRY_ERR_NOT_FOUND, AIRY_ERR_IO. */
struct stat;
airy_status airy_file_stat(struct stat *about, const char *path);
/* Open a regular file for reading, never waiting for one that is none; the same errors. */
airy_status airy_file_open(int *fd, uint64_t *size, const char *path);
/* Bytes of UTF-8's byte order mark, which is no part of the text, at its start: 3 or 0. */
size_t airy_file_text_mark(const char *text, size_t size);
/* airy_file_open_text for those who read lines; closed with fclose. */
airy_status airy_file_open_stream(FILE **file, const char *path);

/*
 * Open for writing, against other runs: two must not write one file, the parts of one run share
 * it. A regular file of this user, and no link to one. Advisory; file systems without such locks do without. AIRY_ERR_NOT_FOUND, AIRY_ERR_IO; *fd
 * may be open all the same.
 */
airy_status airy_file_open_locked(int *fd, const char *path, bool shared);
/* The file under this name is the one that is open. */
bool airy_file_is(int fd, const char *path);

/*
 * airy_file_create for those who open the file by its name. The file is a temporary one until
 * airy_file_move or airy_file_rename renames it or airy_file_remove removes it
 * (include/airy/file.h). Its name is never PATH.partial, that of an integration that can be resumed.
 */
airy_status airy_file_begin(char **partial, const char *path);
/*
 * Hold the files that this thread writes from now on: airy_file_move and what calls it leaves them under
 * their temporary names. Let them go: rename them one after another where status is no failure, else
 * remove them. Returns status, or the failure of a name, behind which the other files are removed.
 */
struct airy_held_files {
    struct airy_held_file {
        char *partial, *path;
        bool force;
    } * files;
    size_t count;
};
void airy_files_hold(struct airy_held_files *held);
airy_status airy_files_let_go(struct airy_held_files *held, airy_status status);
/* airy_file_move, and the folder is synced. */
airy_status airy_file_rename(const char *from, const char *to, bool force);
/*
 * A file that was written under the name `partial` on the disk, and then under its own. AIRY_ERR_IO,
 * too, where another one stands at that name.
 */
airy_status airy_file_publish(int fd, const char *partial, const char *path, bool force);
/*
 * A new file that is written (status) gets its name, or goes; the partial name is freed. The sentence
 * of a failure names path.
 */
airy_status airy_file_settle(airy_status status, char *partial, const char *path, bool force);
/* A new file of these bytes, under a name of its own until it is complete. */
airy_status airy_file_put(const char *path, const void *const *parts, const size_t *sizes,
                          size_t count, bool force);
/* The same of what `print` prints. In the C locale. */
airy_status airy_print_file(const char *path, bool force,
                            void (*print)(FILE *file, const void *user), const void *user);

#endif
