/*
 * Files of this process that have not got their names (include/airy/file.h): a signal, which is the
 * process's, removes them. Thread-safety: any thread.
 */
#ifndef AIRY_BASE_HALF_MADE_H
#define AIRY_BASE_HALF_MADE_H

#include <stdatomic.h>
#include <sys/types.h>

/*
 * Create a file for path, for reading and writing, as PATH.XXXXXXXX.partial: hexadecimal digits that
 * nobody uses. Where that is longer than a name may be, the end of path's is left out. mode: as of
 * open(). *partial is released with free(). Returns 0, or an errno; EEXIST: each of a few such names
 * is taken.
 *
 * The file is locked (flock) while it has that name, and files of such names that no process has
 * locked, which killed runs of the same output left, are removed first: regular ones of this user
 * alone. On file systems whose locks may not reach other machines they must also be a day old.
 */
int airy_half_made_create(int *fd, char **partial, const char *path, mode_t mode);
/* How often a folder was read for such files, which ends after some; tests begin anew. */
extern atomic_uint airy_half_made_looks;
/* It has its name, or is gone. */
void airy_half_made_forget(const char *partial);

#endif
