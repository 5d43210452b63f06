/* The stack as the pipeline sees it: where each frame's bytes are. */
#ifndef AIRY_IO_STACK_SOURCE_H
#define AIRY_IO_STACK_SOURCE_H

#include "airy/stack.h"

enum airy_source_kind {
    AIRY_SOURCE_CHUNK,  /* `size` encoded bytes in the stack's codec */
    AIRY_SOURCE_STORED, /* native pixels, frame size: filter skipped, contiguous, no filter */
    AIRY_SOURCE_FILL,   /* never written: AIRY_ERR_UNWRITTEN of each read */
    AIRY_SOURCE_LIBRARY /* only through airy_stack_read */
};

struct airy_frame_source {
    enum airy_source_kind kind;
    size_t size; /* bytes that airy_stack_fetch delivers: the chunk's, or the frame's */
};

/* Its bytes lie in a file, to be read in parts. */
static inline bool airy_source_is_there(const struct airy_frame_source *source)
{
    return source->kind == AIRY_SOURCE_CHUNK || source->kind == AIRY_SOURCE_STORED;
}

/* Refuse a pipe, for a function, `call`, that needs frames in any order or their number. */
airy_status airy_stack_refuse_pipe(const airy_stack *stack, const char *call);
/* Constant time. frame < info.frames; no pipe. */
void airy_stack_source(const airy_stack *stack, size_t frame, struct airy_frame_source *source);
/*
 * The frame's bytes into dst (source.size bytes): the chunk as stored for AIRY_SOURCE_CHUNK,
 * native pixels otherwise. Thread-safety: any number of threads. Errors: AIRY_ERR_IO (short file),
 * AIRY_ERR_CORRUPT, AIRY_ERR_UNWRITTEN; file, dataset and frame named.
 */
airy_status airy_stack_fetch(const airy_stack *stack, size_t frame, void *dst, size_t size);
/*
 * size bytes of a source that is there, from `from` on; the caller keeps to the frame's size.
 * Errors: AIRY_ERR_IO.
 */
airy_status airy_stack_fetch_part(const airy_stack *stack, size_t frame, void *dst, size_t size,
                                  size_t from);

/* Native pixels of a frame of a stack in memory, which are there as long as the stack; NULL: of another. */
const void *airy_stack_pixels(const airy_stack *stack, size_t frame);

/*
 * An output must be none of the files that frames are read from: AIRY_ERR_PARAM otherwise.
 */
airy_status airy_stack_keep(const airy_stack *stack, const char *output);

#endif
