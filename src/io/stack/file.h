/*
 * The files of a stack that is written: frames, chunk = frame, and what says what they are, in one
 * file; or frames in several, and a master that shows them as one.
 */
#ifndef AIRY_IO_STACK_FILE_H
#define AIRY_IO_STACK_FILE_H

#include "airy/stack.h"
#include "io/hdf5/sink.h"
#include "io/file/writeback.h"

enum { AIRY_STACK_METADATA = 64 << 10, AIRY_STACK_MAX_FILES = 100000 };

/* A file with frames. */
struct airy_stack_file {
    char *path, *partial;       /* partial: NULL before it was begun */
    size_t first, frames, left; /* of the stack's frames; left: not yet written */
    bool made;                  /* there is a file under the partial name, and it is ours */
    bool open, complete;        /* for frames; all of them are in it, and on the disk */
    struct airy_sink sink;      /* these while it is open */
    hid_t file, dataset;
    int bytes; /* the file once more, for the bytes of chunks */
    airy_writeback *writeback;
};

/* The parameters that follow are complete: codec with its defaults, the dataset's name. */

/* Frames' dataset laid out under the partial name. part: of a series. Lock held. */
airy_status airy_stack_file_begin(struct airy_stack_file *f, const airy_stack_writer_params *p,
                                  bool part);
/* Closed and on the disk, still under its partial name. */
airy_status airy_stack_file_complete(struct airy_stack_file *f);
/* Closed, and removed where it is made. */
void airy_stack_file_discard(struct airy_stack_file *f);

/* What an open writer was created with, complete but for geometry and mask, which are NULL. */
const airy_stack_writer_params *airy_stack_writer_get_params(const airy_stack_writer *writer);

/*
 * AIRY_ERR_EXISTS where BASE.h5 and BASE_master.h5 would be masters of the same data files, and the
 * other one is.
 */
airy_status airy_stack_master_check(const char *master);
/* The master of a series, into a file of airy_file_begin, to the disk. */
airy_status airy_stack_master_write(const char *partial, const struct airy_stack_file *files,
                                    size_t count, const airy_stack_writer_params *p);

/* On the disk; errors that the system kept for the end of the file come out here. */
airy_status airy_stack_sync(const char *path);

#endif
