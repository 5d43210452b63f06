/**
 * Files that appear under their names when they are whole.
 *
 * Until then a file is called PATH.XXXXXXXX.partial, eight hexadecimal digits that nobody uses, so
 * that no other file is touched; the end of a name that is too long for that is left out there. All
 * that the library writes goes this way, and a program may write files of its own like that. A
 * program that leaves no temporary file behind when a signal ends it calls airy_file_clean_up() in
 * its handler.
 */
#ifndef AIRY_FILE_H
#define AIRY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "airy/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Create a file that is to be called path, empty, under a name of its own.
 *
 * @param fd       out, open for reading and writing; the caller closes it
 * @param partial  out, that name; released with free()
 *
 * AIRY_ERR_IO with the system's words, AIRY_ERR_MEMORY; AIRY_ERR_PARAM where an argument is
 * missing; AIRY_ERR_EXISTS where other files have each of the few names that were tried. Any
 * thread.
 */
AIRY_API airy_status airy_file_create(int *fd, char **partial, const char *path);

/**
 * Give it its name, in one step: without force a file that is there already stays
 * (AIRY_ERR_EXISTS). A symbolic link of that name counts as a file: it is replaced, and what it
 * leads to stays as it is. After a failure it is where it was. It is on the disk after fsync() of
 * the file, before this, and airy_file_sync_folder(). Any thread.
 */
AIRY_API airy_status airy_file_move(const char *partial, const char *path, bool force);

/**
 * Flush the parent directory of path, so that the new name survives a crash. A file system that
 * cannot do so is no error. Any thread.
 */
AIRY_API void airy_file_sync_folder(const char *path);

/**
 * Commit a file of airy_file_create() that is written: close it and rename it to path as
 * airy_file_move() does; after a failure it is removed. partial is released either way.
 *
 * @param fd    of airy_file_create(), or a duplicate of it; closed either way
 * @param sync  whether the file and its name are flushed to the disk
 *
 * AIRY_ERR_IO with the system's words and path, AIRY_ERR_EXISTS; AIRY_ERR_PARAM, and nothing is
 * done, where an argument is missing. Any thread.
 */
AIRY_API airy_status airy_file_commit(int fd, char *partial, const char *path, bool force,
                                      bool sync);

/**
 * Open a text for reading, behind its byte order mark: a regular file, or a pipe, which is read
 * whole first.
 *
 * @param fd  out, closed by the caller; it can be read again from the start
 *
 * Of a pipe at most 64 MiB are read. One that nobody has open for writing is waited for five
 * seconds. Errors: AIRY_ERR_NOT_FOUND, AIRY_ERR_IO (the system's words; a folder, a device, a pipe
 * that nobody writes into), AIRY_ERR_FORMAT (a pipe of more bytes), AIRY_ERR_MEMORY, AIRY_ERR_PARAM.
 * The sentence begins with "PATH: ". Any thread.
 */
AIRY_API airy_status airy_file_open_text(int *fd, const char *path);

/**
 * A text that is open for its lines:
 *
 *     airy_text *text = NULL;
 *     char *line;
 *     if (airy_text_open(&text, "curve.txt") == AIRY_OK)
 *         while (airy_text_next(text, &line) == AIRY_OK && line)
 *             ... airy_text_line(text) is the number of the line
 *     airy_text_close(&text);
 *
 * One thread at a time.
 */
typedef struct airy_text airy_text;
/** Open a text. Errors: those of airy_file_open_text. */
AIRY_API airy_status airy_text_open(airy_text **text, const char *path);
/**
 * Read the next line.
 *
 * @param line  out: the line without its end, which the caller may change; it is there until the
 *              next call. NULL behind the last one
 *
 * A comment, whose first mark is '#', may be as long as 1 MB; it is cut. Errors: AIRY_ERR_FORMAT (a
 * byte 0, a carriage return without a line feed, a line of more than 4094 bytes), AIRY_ERR_IO,
 * AIRY_ERR_PARAM. The sentence begins with "PATH line N: ".
 */
AIRY_API airy_status airy_text_next(airy_text *text, char **line);
/** Return the number of the line that was read last, from 1 on. */
AIRY_API size_t airy_text_line(const airy_text *text);
/** Close the text. Set *text to NULL. */
AIRY_API void airy_text_close(airy_text **text);

/** Remove a file that has not got its name, if it is there. Any thread. */
AIRY_API void airy_file_remove(const char *partial);

/**
 * Remove every temporary file of path, PATH.XXXXXXXX.partial, that a killed process left: regular
 * files of this user that no process has locked; on file systems whose locks may not reach other
 * machines they must also be a day old. airy_file_create() removes those that have one of the first
 * eight names of path; this reads the folder, and finds them all. Any thread.
 */
AIRY_API void airy_file_remove_left(const char *path);

/**
 * Clean up the temporary files of this process: remove every PATH.XXXXXXXX.partial that
 * airy_file_create() or any other function of the library has created here and that was neither
 * renamed nor removed. A partial result from which a run can be resumed, PATH.partial, is kept.
 * The process must end then: no thread comes out of airy_file_create() any more. Async-signal-safe,
 * and may be called again, as by a second signal.
 */
AIRY_API void airy_file_clean_up(void);

/** Call airy_file_clean_up(). This is its former name, for programs that were built with that. */
AIRY_API void airy_file_remove_half_made(void);

/**
 * Allow HDF5 datasets whose raw data lie in files of this folder, or deeper (external storage,
 * H5Pset_external).
 *
 * A dataset's external files are read without further calls where they lie in the folder of the
 * HDF5 file itself, or deeper; a dataset with one elsewhere is refused, since whoever wrote the HDF5
 * file could otherwise name any file that this process may read. Pipes and devices are always
 * refused. Symbolic links are followed first. External links and virtual datasets, which name HDF5
 * files, are not concerned. The permission holds for the whole process, from the next dataset that
 * is opened, and cannot be taken back: it is for programs that work for one user, as airy does. A
 * program that reads files of several users names the folders of each stack instead
 * (airy_stack_params.external_folders).
 *
 * AIRY_ERR_PARAM where folder is missing, AIRY_ERR_NOT_FOUND where it is no folder,
 * AIRY_ERR_MEMORY. Any thread.
 */
AIRY_API airy_status airy_external_folder_allow(const char *folder);

/**
 * Verify the checksums in CBF files (Content-MD5) and FITS files (DATASUM, CHECKSUM), which
 * is the default, or leave them out to save the time that they take. It holds for the whole
 * process, for stacks (beside airy_stack_params) and images that are opened from now on. What
 * libraries verify while they unpack (HDF5, PNG, gzip) is not concerned. Any thread.
 */
AIRY_API void airy_checksums_verify(bool verify);

/**
 * Return whether a regular file is an HDF5 file that is shorter than its superblock states, such as
 * an interrupted copy.
 *
 * @param there     out, bytes of the file; not written where there is no such file
 * @param declared  out, bytes that it should have
 * Any thread.
 */
AIRY_API bool airy_hdf5_is_cut(const char *path, uint64_t *there, uint64_t *declared);

#ifdef __cplusplus
}
#endif
#endif
