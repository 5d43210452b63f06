/**
 * Frames from one process to another on the same machine: a ring buffer in shared memory.
 *
 * One process creates the ring and puts frames, one opens it and gets them. Putting never waits: a
 * frame that finds no free slot is dropped and counted, and keeps its number. A process that dies
 * leaves the other one running: a ring whose producer is gone ends, one without a consumer fills
 * up, and whoever comes next goes on with it or makes it anew. What lies in the shared memory is
 * not trusted by the consumer: numbers that cannot be are an error, and so is a ring that is cut while
 * it is used. A ring of another user, or one that other users may write, is refused. The producer
 * trusts its own user: it maps the memory, which only processes of that user can cut.
 */
#ifndef AIRY_RING_H
#define AIRY_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "airy/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { AIRY_RING_MAX_SLOTS = 65536 };

/** Thread-safety: one thread at a time. */
typedef struct airy_ring airy_ring;

typedef struct airy_ring_info {
    size_t frame_bytes, slots;
    uint64_t given, dropped; /**< frames put so far; frames that found no room */
    uint64_t waiting;        /**< frames given and not yet released */
    uint64_t memory;         /**< bytes of shared memory */
} airy_ring_info;

/** A frame that came out of a ring. */
typedef struct airy_ring_frame {
    const void *data; /**< frame_bytes of them; NULL: none yet */
    uint64_t number;  /**< of the frame, dropped ones counted */
} airy_ring_frame;

/**
 * Make a ring and be its producer.
 *
 * @param ring         out
 * @param name         letters, digits, '.', '_' and '-', at most 200; the system knows it as
 *                     "/airy-" and the name. Readable and writable by the same user alone
 * @param frame_bytes  at least 1
 * @param slots        2 to AIRY_RING_MAX_SLOTS
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_EXISTS where a living producer has it (what a dead one left is
 *         replaced), AIRY_ERR_MEMORY, AIRY_ERR_IO.
 */
AIRY_API airy_status airy_ring_create(airy_ring **ring, const char *name, size_t frame_bytes,
                                      size_t slots);
/**
 * Open a ring as its consumer, from the oldest frame in it on.
 *
 * @param timeout_ns  how long to wait for a living producer
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_NOT_FOUND, AIRY_ERR_EXISTS where it has a consumer,
 *         AIRY_ERR_CORRUPT where it is no ring, AIRY_ERR_MEMORY where a frame does not fit the
 *         memory, AIRY_ERR_IO, also where it belongs to another user than this one or root, or may
 *         be written by others.
 */
AIRY_API airy_status airy_ring_open(airy_ring **ring, const char *name, uint64_t timeout_ns);

/**
 * Acquire room for the next frame, aligned to 64 bytes; never waits. *frame is NULL where there is
 * none. A second call without give in between gives the same room.
 */
AIRY_API airy_status airy_ring_take(airy_ring *ring, void **frame);
/** Submit the frame: it is complete. */
AIRY_API airy_status airy_ring_give(airy_ring *ring);
/** Count frames that were thrown away; they keep their place in the numbering. */
AIRY_API airy_status airy_ring_drop(airy_ring *ring, uint64_t frames);
/** Copy a frame into the ring buffer, or drop it where there is no room. */
AIRY_API airy_status airy_ring_put(airy_ring *ring, const void *frame);
/** Report that no more frames come. Destroying the producer's ring buffer reports it also. */
AIRY_API airy_status airy_ring_end(airy_ring *ring);

/**
 * Receive the oldest frame that was not released; frame->data is NULL where none came within
 * timeout_ns. Its bytes are a copy, which stays until airy_ring_release.
 *
 * @param ended  out: no frame will come any more; may be NULL
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_IO, AIRY_ERR_CORRUPT where the ring's counters cannot be, or the
 *         ring was cut.
 */
AIRY_API airy_status airy_ring_next(airy_ring *ring, airy_ring_frame *frame, uint64_t timeout_ns,
                                    bool *ended);
/**
 * Copy the oldest frame that was not released into memory of the caller, frame_bytes at `to`, which
 * saves the copy that airy_ring_next keeps. Its parameters and errors are those of airy_ring_next.
 */
AIRY_API airy_status airy_ring_copy(airy_ring *ring, void *to, airy_ring_frame *frame,
                                    uint64_t timeout_ns, bool *ended);
/** Release the frame that next or copy gave; its slot is free. */
AIRY_API airy_status airy_ring_release(airy_ring *ring);

AIRY_API airy_status airy_ring_get_info(airy_ring *ring, airy_ring_info *info);

/**
 * Close it and set *ring to NULL. The producer removes the name; frames in the ring buffer can
 * still be received.
 */
AIRY_API void airy_ring_destroy(airy_ring **ring);

#ifdef __cplusplus
}
#endif
#endif
