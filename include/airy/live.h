/**
 * Frames that come one by one, from a detector's stream or a file that grows, to patterns.
 *
 * The same lanes as airy_integrate_stack: callers copy the bytes of a frame into a page-locked slot
 * of a device, slots go to whichever device has room, a pattern is handed on and written as soon as
 * it is done. A device that has nothing to do takes the frames that are there; one that is at work
 * gets the next batch when that is full or its oldest frame has waited long enough. Memory is that
 * of the slots, however many frames come.
 */
#ifndef AIRY_LIVE_H
#define AIRY_LIVE_H

#include "airy/pipeline.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Thread-safety: put, lose, spoil and get_info from any thread; create, finish, cancel and destroy
 * are alone.
 */
typedef struct airy_live airy_live;

typedef struct airy_live_frame {
    uint64_t number;   /**< row of the file, from 0 */
    const void *bytes; /**< copied before the call returns */
    size_t size;
    bool encoded;        /**< in params.codec; else native pixels */
    int64_t received_ns; /**< CLOCK_MONOTONIC, where the latency begins; 0: now */
} airy_live_frame;

/** A finished pattern; valid during the call. */
typedef struct airy_live_pattern {
    uint64_t number;
    const float *intensity, *std, *sem; /**< [bins]; std, sem NULL without an error model; NaN of
                                             a bad frame */
    airy_frame_stats stats;
    airy_status status;  /**< AIRY_OK, or that of the bad frame; AIRY_ERR_NOT_FOUND: it is lost */
    const char *message; /**< why it is bad, or NULL */
    int64_t received_ns;
} airy_live_pattern;
/** Called from a thread of the pipeline, never from two at once, before the row is written. */
typedef void (*airy_live_pattern_fn)(void *user, const airy_live_pattern *pattern);

/** Zeroed is the default, but for the shape. */
typedef struct airy_live_params {
    size_t height, width;
    airy_dtype dtype;
    airy_codec_params codec; /**< of encoded frames */
    size_t max_chunk;        /**< bytes of the largest frame as it comes; 0: the most that the codec
                                  can make of one */
    /**
     * Frames that are to come, the rows of the file: it is complete from the start, as
     * airy_integrate_stack makes it. 0: not known; the file grows, and can be read by HDF5's
     * single-writer-multiple-reader rules while it does (docs/live.md).
     */
    uint64_t frames;
    double wait; /**< s that the oldest frame of a batch waits for more while the device is at
                      work; 0: 0.002 */
    /**
     * batch, slots, resume, force, configuration, rois; skip_bad: see airy_live_finish. first and
     * step define which frame of the series a row is: first + row * step. With `frames` also
     * monitor, grid, per-frame metadata and nxazint, each for all rows. progress: its total is
     * `frames`. message: is called on threads of the pipeline, never on two at once, and must not
     * call airy_live functions. What groups or parts rows is not for live runs.
     */
    airy_run_params run;
    airy_live_pattern_fn pattern; /**< or NULL */
    void *user;                   /**< of pattern */
} airy_live_params;

/**
 * Every row is in one of done, lost, missing and resumed, or its frame is still on its way:
 * put - done are. When the run is finished nothing is on its way.
 */
typedef struct airy_live_info {
    uint64_t put, done, bad; /**< frames taken; of them finished; of those bad or spoiled */
    uint64_t lost;           /**< rows given up: by airy_live_lose, or by airy_live_finish with
                                  run.skip_bad, because they never came */
    uint64_t refused;        /**< calls that found no room */
    uint64_t resumed;        /**< rows found done; one that is spoiled is in put, done and bad
                                  instead */
    uint64_t stored_bytes;   /**< of the frames that were good when they were done */
    double seconds;          /**< since airy_live_create */
    double p50, p99, max;    /**< s from received_ns until the pattern is handed on */
    uint64_t host_bytes, device_bytes;
    size_t batch, slots;
    char first_error[512]; /**< sentence of the first bad or missing frame */
    uint64_t missing; /**< rows below `frames`, or below the highest number so far, of which nothing
                           is known */
    double first;     /**< s as p50, of the first pattern; it is among those of p50, p99 and max */
    size_t empty, first_empty; /**< as in airy_run_info */
} airy_live_info;

/**
 * Begin a live run.
 * @param path         NULL: no file
 * @param integrators  one a device, all of the same parameters and geometry; they outlive the run
 * @param params       what run points to (run.monitor, metadata, ...) lives as long as the run
 * Errors: as airy_integrate_stack; AIRY_ERR_UNSUPPORTED (run.group, run.parts, run.arrays, run.row;
 *         without `frames` run.monitor, run.grid, per-frame metadata, run.nxazint).
 */
AIRY_API airy_status airy_live_create(airy_live **live, const char *path,
                                      airy_integrator *const *integrators, size_t count,
                                      const airy_live_params *params);
/**
 * Give a frame, in any order. A frame of a row that is done already (run.resume) is passed over.
 * One whose bytes cannot be right (more than max_chunk, native pixels of another number, blocks
 * that do not decode) is a bad row, and no error here.
 *
 * @param timeout  s to wait for room
 * Errors: AIRY_ERR_TIMED_OUT; AIRY_ERR_PARAM (a number for the second time, one beyond `frames`,
 *         or, where those are not known, more than 2^20 beyond the highest so far);
 *         AIRY_ERR_CANCELLED (by progress, or airy_live_finish was called); that of a run that
 *         failed.
 */
AIRY_API airy_status airy_live_put(airy_live *live, const airy_live_frame *frame, double timeout);
/**
 * Mark a frame missing, which will not come: its row is bad, with this message. timeout, errors as
 * above.
 */
AIRY_API airy_status airy_live_lose(airy_live *live, uint64_t number, const char *message,
                                    double timeout);
/**
 * Make the row of a frame a bad one, because the frame is not known to be right: another frame of
 * its number came. The frame may have been given, may wait for room in airy_live_put, or may be
 * given later. The run ends with AIRY_ERR_CORRUPT, also with run.skip_bad, and run.resume makes the
 * row anew. The call does not wait.
 * Errors: AIRY_ERR_PARAM (a number that airy_live_put does not take), AIRY_ERR_MEMORY,
 *         AIRY_ERR_CANCELLED (airy_live_finish was called).
 */
AIRY_API airy_status airy_live_spoil(airy_live *live, uint64_t number);
AIRY_API void airy_live_get_info(airy_live *live, airy_live_info *info);
/**
 * End the run, as no more frames come: wait for those under way and give the file its name. With
 * run.skip_bad rows that never came are bad. Without, such rows or bad ones are an error, and
 * PATH.partial stays for run.resume with the frames given again or with the detector's own file.
 *
 * @param info  out, also on failure; or NULL
 * Errors: AIRY_ERR_CORRUPT (bad rows), AIRY_ERR_INCOMPLETE (rows that never came, or no frame at
 *         all), those of the run.
 */
AIRY_API airy_status airy_live_finish(airy_live *live, airy_live_info *info);
/**
 * End the run without a result: wait for those under way; PATH.partial stays for run.resume. Only
 * airy_live_get_info and airy_live_destroy may follow.
 *
 * @param info  out, also on failure, what PATH.partial has; or NULL
 * Errors: those of the run.
 */
AIRY_API airy_status airy_live_cancel(airy_live *live, airy_live_info *info);
/** Destroy it; without finish it is cancelled first. NULL is allowed. */
AIRY_API void airy_live_destroy(airy_live **live);

#ifdef __cplusplus
}
#endif
#endif
