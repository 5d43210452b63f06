/**
 * OCT at line rate: give a buffer of raw frames, get a buffer of profiles, several on their way.
 *
 * One thread (the camera's) takes free buffers, fills and gives them; another one (the display's)
 * asks for results, in order. Neither waits for the device: a thread of the stream's own copies and
 * computes, so that on devices with memory of their own copies both ways and the computation run at
 * once. Where no buffer is free the camera thread is not kept waiting: it drops the frame, and
 * dropped frames are counted.
 *
 *     airy_oct_stream_take(stream, &buffer);        a camera's thread
 *     if (buffer) { fill it; airy_oct_stream_give(stream, frames); }
 *     else airy_oct_stream_drop(stream, frames);
 *
 *     airy_oct_stream_next(stream, &result, timeout, &ended);       a display's thread
 *     if (result.data) { show it; airy_oct_stream_release(stream, &result); }
 */
#ifndef AIRY_OCT_STREAM_H
#define AIRY_OCT_STREAM_H

#include "airy/oct.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { AIRY_OCT_STREAM_SLOTS = 64 /**< at most */ };

/**
 * Thread-safety: one thread takes, gives, drops and ends; one asks for results and releases them;
 * any asks for the counters. Both may be the same thread. Nothing else is under way when it is
 * destroyed.
 */
typedef struct airy_oct_stream airy_oct_stream;

/** Zeroed is the default. */
typedef struct airy_oct_stream_params {
    size_t frames; /**< raw frames a buffer holds, a multiple of frames_per_result; 0: the fewest */
    size_t slots;  /**< buffers, 2 to 64; 0: 4, of less than 1 MiB 16. Each is a raw and a result
                        buffer, page-locked on OpenCL devices, and the same on the device, of
                        less than 1 MiB on NVIDIA's only the raw one, for external memory: kernels
                        work in the host's memory there */
    /**
     * How long the stream's thread looks for a new buffer before it sleeps, with a processor busy;
     * to wake a thread takes the system 5 to 50 us, which is added to the latency of frames that
     * come at longer intervals. 0: 50 us.
     */
    uint64_t spin_ns;
} airy_oct_stream_params;

/** A buffer's profiles: [frames / frames_per_result, out_lines, depth]. */
typedef struct airy_oct_result {
    const void *data;     /**< NULL: none yet */
    size_t bytes;         /**< at data; 0: failed, see status */
    uint64_t first_frame; /**< number of its first raw frame, dropped ones counted */
    size_t frames;        /**< raw frames */
    uint64_t latency_ns;  /**< from give to the result on the host */
    airy_status status;   /**< of this buffer; the others go on. The sentence: message */
    char message[256];
    size_t slot; /**< the stream's */
} airy_oct_result;

typedef struct airy_oct_stream_info {
    size_t frames, slots;           /**< of a buffer; buffers */
    size_t raw_bytes, result_bytes; /**< of a full buffer */
    /**
     * Raw frames given, come out as results, thrown away, not processed because their buffer
     * failed. When all is done in = out + failed.
     */
    uint64_t in, out, dropped, failed;
    /** Of buffers since the start, ns, to 2 percent; 0 before the first result. */
    uint64_t latency_p50_ns, latency_p99_ns, latency_max_ns;
    uint64_t memory; /**< bytes of its buffers, on host and device together */
} airy_oct_stream_info;

/**
 * Make everything that is needed and process one buffer of zeros, so that frames find kernels
 * compiled and memory there.
 *
 * @param stream  out
 * @param oct     with its estimates where it needs them; lives until the stream is destroyed
 * @param params  NULL for defaults
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_MEMORY, AIRY_ERR_DEVICE, those of airy_oct_process.
 */
AIRY_API airy_status airy_oct_stream_create(airy_oct_stream **stream, const airy_oct *oct,
                                            const airy_oct_stream_params *params);

/**
 * Acquire a free buffer for params->frames raw frames, aligned to 64 bytes; never waits. *buffer is
 * NULL where none is free: drop the frames (airy_oct_stream_drop) or try again. A second call
 * without give in between gives the same buffer.
 * Errors: AIRY_ERR_PARAM, also after airy_oct_stream_end.
 */
AIRY_API airy_status airy_oct_stream_take(airy_oct_stream *stream, void **buffer);
/** Acquire a buffer, and wait up to timeout_ns for it; for sources that can be asked to wait. */
AIRY_API airy_status airy_oct_stream_take_wait(airy_oct_stream *stream, void **buffer,
                                               uint64_t timeout_ns);
/**
 * Submit the buffer that was acquired, with this many raw frames in it; never waits.
 * @param frames  a multiple of frames_per_result, at least one and at most params->frames
 */
AIRY_API airy_status airy_oct_stream_give(airy_oct_stream *stream, size_t frames);
/**
 * Submit frames in external memory, as in the buffer of a frame grabber: nothing is copied, and
 * they stay as they are until their result came. Page-locked memory (airy_host_create) the device
 * reads itself; other memory the stream's thread copies, which takes longer. Devices that work in
 * the host's memory get a copy at once. Never waits.
 * @param frames  as of airy_oct_stream_give
 * @param lent    out: false where no buffer is free, as of airy_oct_stream_take
 */
AIRY_API airy_status airy_oct_stream_lend(airy_oct_stream *stream, const void *data, size_t frames,
                                          bool *lent);
/** Count frames that were thrown away; they keep their place in the numbering. */
AIRY_API airy_status airy_oct_stream_drop(airy_oct_stream *stream, uint64_t frames);
/** End the input: next reports the end once all results are out. */
AIRY_API airy_status airy_oct_stream_end(airy_oct_stream *stream);

/**
 * Receive the oldest result that was not received yet; result->data is NULL where none came within
 * timeout_ns. It stays valid, and its buffer occupied, until it is released; several may be held,
 * and released in any order. The calling thread looks for 20 us before it sleeps, and for 200 us
 * while a GPU has buffers of less than 1 MiB (raw and result).
 * @param ended  out: no result will come any more; may be NULL
 */
AIRY_API airy_status airy_oct_stream_next(airy_oct_stream *stream, airy_oct_result *result,
                                          uint64_t timeout_ns, bool *ended);
/** Release a result. Errors: AIRY_ERR_PARAM where it is not held. */
AIRY_API airy_status airy_oct_stream_release(airy_oct_stream *stream,
                                             const airy_oct_result *result);

AIRY_API airy_status airy_oct_stream_get_info(airy_oct_stream *stream, airy_oct_stream_info *info);

/** Wait for work that is under way, drop what has not begun, and set *stream to NULL. */
AIRY_API void airy_oct_stream_destroy(airy_oct_stream **stream);

#ifdef __cplusplus
}
#endif
#endif
