/*
 * Files of this process that have not got their names (include/airy/file.h): a signal, which is the
 * process's, removes them. Thread-safety: any thread.
 */
#ifndef AIRY_BASE_HALF_MADE_H
#define AIRY_BASE_HALF_MADE_H

#include <sys/types.h>

/*
 * Create a file for path, for reading and writing, as PATH.XXXXXXXX.partial: hexadecimal digits that
 * nobody uses. Where that is longer than a name may be, the end of path's is left out. mode: as of
 * open(). *partial is released with free(). Returns 0, or an errno; EEXIST: each of a few such names
 * is taken.
 *
 * The first eight names that are tried follow from path, and the file is locked (flock) while it has
 * one. So files of these names that no process has locked, which killed runs of the same output left,
 * are removed first: regular ones of this user alone. On file systems whose locks may not reach other
 * machines they must also be a day old.
 */
int airy_half_made_create(int *fd, char **partial, const char *path, mode_t mode);
/* It has its name, or is gone. */
void airy_half_made_forget(const char *partial);

#endif
