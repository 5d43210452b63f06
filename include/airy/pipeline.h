/**
 * A stack of frames to a file of patterns: readers, device and writer overlapped, memory bounded
 * by slots.
 */
#ifndef AIRY_PIPELINE_H
#define AIRY_PIPELINE_H

#include "airy/integrate.h"
#include "airy/stack.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Progress of a run, called from a thread of the pipeline, never from two at once. Return false to
 * stop: frames in flight are finished and written. It must not call libhdf5 unless that is built
 * thread-safe.
 */
typedef bool (*airy_progress_fn)(void *user, size_t done, size_t total);

/** Zeroed is the default. */
typedef struct airy_run_params {
    size_t first, last, step;  /**< frames [first, last) by step; last 0: all; step 0: 1 */
    size_t batch;              /**< frames a batch; 0: chosen */
    size_t slots;              /**< batches in flight; 0: 3 */
    size_t readers;            /**< reader threads; 0: chosen */
    bool skip_bad;             /**< a frame that cannot be read or decoded gets a status and NaN,
                                    the others go on */
    bool resume;               /**< continue PATH.partial */
    bool force;                /**< overwrite PATH */
    const double *monitor;     /**< [frames of the stack] factors of the normalization, or NULL */
    const char *configuration; /**< JSON that goes into the file */
    airy_progress_fn progress;
    void *user;
} airy_run_params;

typedef struct airy_run_info {
    size_t frames, bad, resumed; /**< written in this run, of them bad, found done */
    size_t batch, slots, readers;
    uint64_t host_bytes, device_bytes, stored_bytes, decoded_bytes;
    double seconds;
    bool stopped;
    char first_error[512]; /**< sentence of the first bad frame */
} airy_run_info;

/** What a run would use, without running: batch, slots, readers, host_bytes, device_bytes. */
AIRY_API airy_status airy_integrate_plan(airy_run_info *info, const airy_stack *stack,
                                         const airy_integrator *integrator,
                                         const airy_run_params *params);

/**
 * Integrate a stack into the NeXus file PATH (layout: docs/integrate.md). Until it is complete it
 * is PATH.partial, a valid HDF5 file at every moment whose frame/status says which rows are done;
 * params->resume goes on from there.
 *
 * @param path    NULL: nothing is written, for benchmarks
 * @param info    out, also on failure
 * Errors: AIRY_ERR_EXISTS, AIRY_ERR_IO, AIRY_ERR_CORRUPT (first bad frame, without skip_bad),
 *         AIRY_ERR_MEMORY, AIRY_ERR_STOPPED (progress said so; the partial file stays).
 */
AIRY_API airy_status airy_integrate_stack(const char *path, const airy_stack *stack,
                                          const airy_integrator *integrator,
                                          const airy_run_params *params, airy_run_info *info);

#ifdef __cplusplus
}
#endif
#endif
