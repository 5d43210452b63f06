/**
 * OCT at line rate: give a buffer of raw frames, get a buffer of profiles, several on their way.
 *
 * One thread (the camera's) takes free buffers, fills and gives them; another one (the display's)
 * asks for results, in order. Neither waits for the device: a thread of the stream's own copies and
 * computes. Where no buffer is free the camera thread is told at once, and the frames that it then
 * throws away are counted.
 */
#ifndef AIRY_OCT_STREAM_H
#define AIRY_OCT_STREAM_H

#include "airy/oct.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Thread-safety: one thread takes and gives, one asks for results, any asks for the counters.
 */
typedef struct airy_oct_stream airy_oct_stream;

/** Zeroed is the default. */
typedef struct airy_oct_stream_params {
    size_t frames; /**< raw frames a buffer holds, a multiple of frames_per_result; 0: the fewest */
    size_t slots;  /**< buffers, 2 to 64; 0: 4. Each is a raw and a result buffer, page-locked on
                        OpenCL devices, and the same on the device */
} airy_oct_stream_params;

/** A buffer's profiles: [frames / frames_per_result, out_lines, depth]. */
typedef struct airy_oct_result {
    const void *data;     /**< NULL: none yet */
    size_t bytes;         /**< at data */
    uint64_t first_frame; /**< number of its first raw frame, dropped ones counted */
    size_t frames;        /**< raw frames */
    uint64_t latency_ns;  /**< from give to the result on the host */
    airy_status status;   /**< of this buffer; the others go on. The sentence: message */
    char message[256];
    size_t slot; /**< the stream's */
} airy_oct_result;

typedef struct airy_oct_stream_info {
    uint64_t in, out, dropped,
        failed; /**< raw frames given, come out, thrown away, not processed */
    /** Of buffers since the start, ns, to 2 percent; 0 before the first result. */
    uint64_t latency_p50_ns, latency_p99_ns, latency_max_ns;
    uint64_t memory; /**< bytes of host and device memory, all together */
} airy_oct_stream_info;

/**
 * @param stream  out
 * @param oct     learned where it has to; lives until the stream is destroyed
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_MEMORY, AIRY_ERR_DEVICE.
 */
AIRY_API airy_status airy_oct_stream_create(airy_oct_stream **stream, const airy_oct *oct,
                                            const airy_oct_stream_params *params);

/**
 * A free buffer for params->frames raw frames; never waits. *buffer is NULL where none is free: drop
 * the frames (airy_oct_stream_drop) or try again. A second call without give in between gives the
 * same buffer.
 */
AIRY_API airy_status airy_oct_stream_take(airy_oct_stream *stream, void **buffer);
/** The same, but waits for up to timeout_ns; for sources that can be asked to wait. */
AIRY_API airy_status airy_oct_stream_take_wait(airy_oct_stream *stream, void **buffer,
                                               uint64_t timeout_ns);
/**
 * The buffer that take gave, with this many raw frames in it; never waits.
 * @param frames  a multiple of frames_per_result, at most params->frames
 */
AIRY_API airy_status airy_oct_stream_give(airy_oct_stream *stream, size_t frames);
/** Count frames that were thrown away; they keep their place in the numbering. */
AIRY_API airy_status airy_oct_stream_drop(airy_oct_stream *stream, uint64_t frames);
/** No more frames come: next reports the end once all results are out. */
AIRY_API airy_status airy_oct_stream_end(airy_oct_stream *stream);

/**
 * The oldest result that was not asked for yet; result->data is NULL where none came within
 * timeout_ns. It stays valid, and its buffer occupied, until it is released.
 * @param ended  out: no result will come any more
 */
AIRY_API airy_status airy_oct_stream_next(airy_oct_stream *stream, airy_oct_result *result,
                                          uint64_t timeout_ns, bool *ended);
AIRY_API airy_status airy_oct_stream_release(airy_oct_stream *stream,
                                             const airy_oct_result *result);

AIRY_API airy_status airy_oct_stream_get_info(airy_oct_stream *stream, airy_oct_stream_info *info);

/** Waits for work that is under way, throws away what has not begun. Sets *stream to NULL. */
AIRY_API void airy_oct_stream_destroy(airy_oct_stream **stream);

#ifdef __cplusplus
}
#endif
#endif
