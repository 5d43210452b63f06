/**
 * Frames into a stack writer (stack.h) by several threads: from another stack, from a function that
 * makes them, or from memory.
 *
 *     const airy_stack_write_params params = {.format = format, .fill = {.stack = from}};
 *     airy_stack_write_info info;
 *     if (airy_stack_write_file("copy.h5", &params, &info) == AIRY_OK)
 *         puts(info.summary);
 *
 * Each thread makes a frame, encodes it and writes it. The bytes of the files do not depend on the
 * number of threads. With frames_per_file as many files as there are threads are written at the
 * same time.
 */
#ifndef AIRY_STACK_WRITE_H
#define AIRY_STACK_WRITE_H

#include "airy/device.h"
#include "airy/log.h"
#include "airy/progress.h"
#include "airy/stack.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Make a frame of a source. Several threads call it at the same time, each for another frame.
 *
 * @param source  the pointer that was given with the function
 * @param frame   number of the frame, from 0
 * @param pixels  out: height * width elements
 * Return a failure with airy_error_restore, or just its status: airy_status_is_of_frame returns
 * whether a status is that of a bad frame.
 */
typedef airy_status (*airy_frame_make_fn)(void *source, size_t frame, void *pixels);

/**
 * Return the pixels of a frame that lie in memory until the call of airy_stack_writer_fill ends;
 * NULL fails with AIRY_ERR_PARAM. Threads as for airy_frame_make_fn.
 */
typedef const void *(*airy_frame_lend_fn)(void *source, size_t frame);

/** Where frames come from, and how. Zeroed is the default but for the source. */
typedef struct airy_stack_fill_params {
    /* The source: one of these three. */
    const airy_stack *stack; /**< frames of the writer's shape and element type */
    airy_frame_make_fn make;
    airy_frame_lend_fn lend;
    void *source; /**< handed to the function */
    /**
     * Frames of the source, [first, last) by step, as many as the writer has. step 0: 1. last 0:
     * all from first on of a stack, else as many as are needed.
     */
    size_t first, last, step;
    /**
     * Frame r of the writer is the same as frame r + period: chunks are kept as far as there is
     * memory (512 MiB at most), and written again. 0: frames differ.
     */
    size_t period;
    /**
     * Leave bad frames out: those that cannot be read, decoded or made. Their chunks are never
     * written; airy_stack_read refuses them with AIRY_ERR_UNWRITTEN, and other programs read the
     * fill value, 0. Otherwise the first bad frame ends the call.
     */
    bool skip_bad;
    unsigned
        threads; /**< that work at the same time, at most 64; 0: as many as the process may use */
    /**
     * Bytes for frames and chunks that are in flight and kept; 0: no limit. Fewer threads work
     * where the memory for all of them would exceed it.
     */
    uint64_t memory_limit;
    size_t make_bytes;         /**< that make takes beside the frame, for memory_limit */
    const airy_device *device; /**< NULL, or a device whose profile (device.h) gets the steps
                                    read_frame or make_frame, encode_frame and write_frame */
    airy_progress_fn progress;
    /**
     * Receives a warning for each frame that was left out. It is called only on the thread that
     * called airy_stack_writer_fill. NULL: the messages go to the log of the process at level info
     * (log.h).
     */
    airy_log_fn message;
    void *user; /**< of progress and message */
} airy_stack_fill_params;

typedef struct airy_stack_fill_info {
    size_t frames;    /**< done, with the bad ones */
    size_t bad;       /**< of them left out; above 0, the stack has only a part of the frames */
    size_t first_bad; /**< number in the source of the first bad frame */
    char first_error[512]; /**< its sentence; "": none is bad */
    uint64_t stored_bytes; /**< of the chunks that were written */
    size_t files;          /**< with frames */
    unsigned threads;      /**< that worked */
    uint64_t host_bytes;   /**< of the frames and chunks of all threads */
    double seconds;
} airy_stack_fill_info;

/**
 * Write all frames of a stack. The writer is one of which no frame was added. Call
 * airy_stack_writer_finish if this succeeds; after a failure only airy_stack_writer_destroy may
 * follow, and no file appears under its final name.
 *
 * @param info  out, also on failure; may be NULL
 * Errors: AIRY_ERR_PARAM (no source or several, frames that are not as many as the writer has,
 *         beyond the stack, or added already), AIRY_ERR_SHAPE, AIRY_ERR_DTYPE (a stack that does
 *         not fit the writer), AIRY_ERR_MEMORY (also where memory_limit is below what one frame
 *         needs), AIRY_ERR_CANCELLED (by progress), AIRY_ERR_IO (a full disk); what make returns,
 *         and the failures of airy_stack_read.
 * Threads: alone with the writer.
 */
AIRY_API airy_status airy_stack_writer_fill(airy_stack_writer *writer,
                                            const airy_stack_fill_params *params,
                                            airy_stack_fill_info *info);

/** A stack under its name. Zeroed is the default but for the format's shape and the source. */
typedef struct airy_stack_write_params {
    airy_stack_writer_params format;
    airy_stack_fill_params fill;
    const char *const *inputs; /**< [input_count] further files that frames come from, FILE,
                                    FILE::DATASET or FILE[EXT]; none of them is written over */
    size_t input_count;
    /**
     * Receives a warning for data files of the replaced stack that were removed or that stay; its
     * user is that of fill. NULL: the messages go to the log of the process at level info.
     */
    airy_log_fn message;
} airy_stack_write_params;

typedef struct airy_stack_write_info {
    airy_stack_fill_info fill;
    size_t files;           /**< data files under a master; 0: the frames are in the file itself */
    uint64_t decoded_bytes; /**< of the frames that were written */
    double seconds;         /**< with the beginning and the end of the files */
    char summary[256];      /**< a sentence about the stack, for people */
} airy_stack_write_info;

/**
 * Create a stack, write all of its frames, and give its files their names: airy_stack_writer_create,
 * _fill and _finish. After a failure nothing of it is left.
 *
 * @param info  out, also on failure; may be NULL
 * Errors: those of the three; AIRY_ERR_PARAM also where a file that would be written over is one
 *         that frames come from; AIRY_ERR_CANCELLED.
 */
AIRY_API airy_status airy_stack_write_file(const char *path, const airy_stack_write_params *params,
                                           airy_stack_write_info *info);

#ifdef __cplusplus
}
#endif
#endif
