/*
 * Temporary files of this process (include/airy/file.h). airy_file_clean_up removes those that are
 * left when a signal ends the process. Thread-safety: any thread.
 */
#ifndef AIRY_BASE_TEMPORARY_H
#define AIRY_BASE_TEMPORARY_H

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
int airy_temporary_create(int *fd, char **partial, const char *path, mode_t mode);
/* Forget a temporary file that was renamed or removed; airy_file_clean_up leaves its name alone. */
void airy_temporary_forget(const char *partial);

#endif
