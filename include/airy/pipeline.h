/**
 * A stack of frames to patterns: readers, device and writers overlapped, memory bounded by slots.
 * The rows go to a file, to the caller's memory, to a function of the caller, or are fetched one by
 * one; any of these may be used together.
 *
 *   airy_integrate_stack("out.h5", stack, &integrator, 1, NULL, NULL);            to a file
 *
 *   const airy_row_arrays arrays = {.rows = frames, .intensity = intensity};      to memory
 *   const airy_run_params params = {.arrays = &arrays};
 *   airy_integrate_stack(NULL, stack, &integrator, 1, &params, NULL);
 *
 *   airy_rows_open(&rows, stack, &integrator, 1, NULL);                           one by one
 *   while (airy_rows_next(rows, &row, UINT64_MAX) == AIRY_OK && row)
 *       printf("frame %zu: %g\n", row->frame, row->intensity[0]);
 *   airy_rows_close(&rows, NULL);
 */
#ifndef AIRY_PIPELINE_H
#define AIRY_PIPELINE_H

#include "airy/integrate.h"
#include "airy/log.h"
#include "airy/merge.h"
#include "airy/progress.h"
#include "airy/stack.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Get the next rows [*first, *first + *count) of a work queue, preferably at least `least` of them;
 * each row is given out once among all processes of a run. Rows past the last one are ignored, and
 * where *first is past it there are no more. Called from threads of the pipeline, never from two
 * at once; it may wait. Return false to cancel, as airy_progress_fn does.
 */
typedef bool (*airy_claim_fn)(void *user, size_t least, size_t *first, size_t *count);

/** Return whether a frame can be normalized by its monitor: a finite number above 0. Any thread. */
AIRY_API bool airy_monitor_is_usable(double monitor);
/**
 * Return the mean of the usable ones of monitor[0], monitor[step], ... [(count - 1) * step]; NaN
 * where none is. It is the monitor of a row that is a group of such frames. Any thread.
 */
AIRY_API double airy_monitor_mean(const double *monitor, size_t count, size_t step);

/** A finished row of a run: the pattern of a frame, or of a group of frames. */
typedef struct airy_run_row {
    size_t number;          /**< of the row in the result, from 0 */
    size_t frame;           /**< its frame in the stack, from 0; of a group the first one */
    size_t frames;          /**< good frames that were added up in it; 0: the row is bad */
    size_t bins;            /**< of the integrator, in two dimensions azimuth_bins * radial_bins */
    const float *intensity; /**< [bins], as airy_integrator_finish; NaN where the row is bad */
    const float *std, *sem; /**< [bins] in the unit of intensity; NaN where the row is bad; NULL
                                  where the integrator has no error model */
    const double *signal;   /**< [bins] sums, as the dataset sum_signal; 0 where the row is bad */
    const double *variance; /**< [bins] as sum_variance; NULL where there is no error model */
    const double *normalization, *normalization2; /**< [bins] as sum_normalization, ...2 */
    const double *count;    /**< [bins] pixels, as count; a split pixel counts in parts */
    double monitor;         /**< the factor of params->monitor that the intensity was divided by; 1
                                  without monitors and of a group, in whose sums it is already */
    airy_frame_stats stats; /**< of its pixels; of a group of all its good frames */
    airy_status status;     /**< AIRY_OK, or of a bad row what was wrong with its (first) frame */
    const char *message;    /**< "", or why the row is bad, or which frames a group lacks */
} airy_run_row;

/**
 * Take a finished row. What the row points at is valid during the call.
 *
 * Threads:  it is called on the writer threads of the run, for several rows at once and in no order;
 *           with params->in_order for one row at a time, in the order of the rows. While it works
 *           its writer does nothing else: where it is slow, the run waits for it.
 * Errors:   return AIRY_OK to go on. AIRY_ERR_CANCELLED ends the run at once, with that status.
 *           Any other status ends it as a bad frame does: rows of batches before this one are all
 *           given, and airy_integrate_stack returns the status of the lowest batch that failed, with
 *           the record that a call of the library, or airy_error_restore, has left on this thread.
 *           With a path, the file has the rows of the batch that was refused already: a run that
 *           resumes it gives none of them again.
 * It must not call libhdf5 unless that is built thread-safe, and not use the run it is called from.
 */
typedef airy_status (*airy_row_fn)(void *user, const airy_run_row *row);

/**
 * Memory of the caller for the rows of a run, each of it NULL or with room for all rows: `rows` is
 * at least the number of the run's frames, in groups of airy_run_params.group. The bins of a row
 * follow one another, and a row follows the one before. A row that is bad is NaN in intensity, std
 * and sem, and 0 in the sums. A row that was not made stays as the caller has left it: one that
 * `resume` found done in the file, one of another part, one behind the failure that ended the run;
 * its status is AIRY_ERR_INCOMPLETE.
 */
typedef struct airy_row_arrays {
    size_t rows;                                    /**< room for so many */
    float *intensity, *std, *sem;                   /**< [rows, bins]; std, sem: only with
                                                                  an error model */
    double *signal, *variance;                      /**< [rows, bins] */
    double *normalization, *normalization2, *count; /**< [rows, bins] */
    size_t *frames;                                 /**< [rows] good frames */
    airy_frame_stats *stats;                        /**< [rows] */
    airy_status *status;                            /**< [rows] as airy_run_row.status */
} airy_row_arrays;

/** Zeroed is the default. */
typedef struct airy_run_params {
    size_t first, last, step;  /**< frames [first, last) by step; last 0: all; step 0: 1 */
    size_t batch;              /**< frames a batch; 0: chosen */
    size_t slots;              /**< batches in flight on a device; 0: chosen */
    size_t readers;            /**< reader threads of a device; 0: chosen */
    bool skip_bad;             /**< a frame that cannot be read or decoded gets a status and NaN,
                                    the others go on */
    bool resume;               /**< continue PATH.partial */
    bool force;                /**< overwrite PATH */
    const double *monitor;     /**< [frames of the stack] factors of the normalization, or NULL. One
                                    that is not usable is AIRY_ERR_PARAM; with skip_bad its frame
                                    is bad */
    const char *configuration; /**< JSON that goes into the file */
    airy_progress_fn progress;
    /**
     * Receives the messages of the run (log.h), of every level: each frame that was left out is a
     * warning, a choice such as smaller batches is info; a message of another thread is cut to 1,023
     * bytes. It is called only on the thread that is inside the call, which waits for the run;
     * where it is slow, the run waits for it. progress may be called at the same time, on a thread
     * of the pipeline. A live run calls message on threads of the pipeline, one at a time (live.h).
     * NULL: the messages go to the log of the process at level info. Other warnings of the library
     * go to the callback of airy_log_set().
     */
    airy_log_fn message;
    void *user;         /**< of progress and message */
    size_t part, parts; /**< airy_run_work: blocks of rows b with b % parts == part; parts 0: 1,
                             all rows */
    /**
     * Rows of the file are groups of so many frames that follow one another in the run, put
     * together as `merge` defines; the last one may have fewer. 0, 1: each frame by itself;
     * SIZE_MAX: all are one. Bad frames that are skipped are no part of their group; a group of
     * nothing else is bad. Normalizations are [frames, bins] then, index is that of the first
     * frame, and frame/frames is how many were added.
     */
    size_t group;
    airy_merge merge;
    /** Regions whose signal and mean of each row go to frame/roi_sum and roi_mean; at most 64. */
    const airy_roi *rois;
    size_t roi_count;
    /**
     * A scan of [rows, columns] points, one a row of the file: map/total, and of each region
     * map/roi_K and roi_K_mean. Points without a good row are NaN. 0: no scan. The flag of a
     * snake scan: the second row of the map and every other one run backwards.
     */
    size_t grid[2];
    bool zigzag;
    /**
     * Per-frame metadata: one value a frame of the stack (airy_stack_values), copied to frame/NAME;
     * with groups the mean of numbers, as f64, and the first text.
     */
    const airy_frame_values *carried;
    size_t carried_count;
    const airy_nxazint *nxazint; /**< the file is an NXazint1d or NXazint2d file, too; NULL: not */
    /**
     * A work queue: airy_run_work takes the next rows of it, instead of those of `part`, so that a
     * faster process does more; `parts` is how many share the rows, which sizes the batches. NULL:
     * none.
     */
    airy_claim_fn claim;
    void *claim_user;
    /**
     * airy_run_finish: normalizations are [frames, bins] even where no frame differs, as other
     * files have them that this one is to be linked with (airy_patterns_link).
     */
    bool own_normalizations;
    /**
     * airy_integrate_stack, airy_run_work, airy_rows_open: where the rows go beside the file. They
     * are filled by several threads of the run; read them when the call has returned. NULL: nowhere.
     */
    const airy_row_arrays *arrays;
    /** airy_integrate_stack, airy_run_work: it is called with each finished row, or NULL. */
    airy_row_fn row;
    void *row_user; /**< of row */
    /** Rows are finished one at a time, in order: row needs no lock, and there is one writer. */
    bool in_order;
    size_t writers; /**< threads of a device that finish rows and call row, at most 64; 0: chosen.
                         Groups of frames that go on in the next batch have one */
} airy_run_params;

typedef struct airy_run_info {
    size_t frames, bad, resumed; /**< written in this run, of them bad, found done */
    size_t batch, slots, readers;
    uint64_t host_bytes;                  /**< of slots, in all */
    uint64_t device_bytes;                /**< of slots and scratch, on each device */
    uint64_t stored_bytes, decoded_bytes; /**< of the good frames: their chunks, their pixels */
    double seconds;
    bool stopped;
    char first_error[512]; /**< sentence of the bad frame of the lowest row; "": none */
    unsigned threads;      /**< of a CPU device that work on a batch: fewer than it has where only
                                they fit the limit of memory; 0: devices without any */
    size_t first_bad;      /**< row of first_error */
    double max;            /**< largest pixel that counts of the good frames written in this run;
                                0 where none is above */
    size_t empty;          /**< good frames written in this run in which no pixel counts */
    size_t first_empty;    /**< the first of them in the stack */
} airy_run_info;

/**
 * Describe what a run would use, without running: batch, and on each device slots, readers;
 * host_bytes, device_bytes, threads.
 */
AIRY_API airy_status airy_integrate_plan(airy_run_info *info, const airy_stack *stack,
                                         airy_integrator *const *integrators, size_t count,
                                         const airy_run_params *params);

/**
 * Integrate a stack into the NeXus file PATH (layout: docs/integrate.md). Until it is complete it
 * is PATH.partial, a valid HDF5 file at every moment whose frame/status marks which rows are done;
 * params->resume goes on from there. The result's fingerprint (airy/result.h) records the
 * parameters of the rows (numbers as text, arrays as a hash). A run whose parameters differ is not
 * resumed, and the sentence names the first parameter that differs: AIRY_ERR_FORMAT. The
 * fingerprint does not cover the frames themselves: resume with the same stack.
 *
 * @param path         NULL: no file is written; the rows go to params->arrays and params->row
 * @param integrators  one a device, all of the same parameters and geometry: batches of frames go
 *                     to whichever device has room; which one it was changes a result by no more
 *                     than airy_integrate states for devices, and nothing on devices of one kind
 * @param count        of integrators, at least 1
 * @param info         out, also on failure
 * Errors: AIRY_ERR_EXISTS (with force, too: a PATH.partial that is no partial result), AIRY_ERR_IO,
 *         AIRY_ERR_CORRUPT (the first bad frame, without skip_bad; all rows before it are in the
 *         partial file), AIRY_ERR_MEMORY, AIRY_ERR_CANCELLED (by progress; the partial file stays),
 *         AIRY_ERR_PARAM (integrators that differ; params->arrays with too few rows, or with std,
 *         sem or variance without an error model), what params->row returned. A device that fails
 *         ends the run; with several the sentence names it.
 */
AIRY_API airy_status airy_integrate_stack(const char *path, const airy_stack *stack,
                                          airy_integrator *const *integrators, size_t count,
                                          const airy_run_params *params, airy_run_info *info);

/**
 * Rows of a stack one by one, in order. A thread runs airy_integrate_stack without a file; up to 64
 * finished rows, or 16 MiB of them, wait in a queue. Where the reader is slow the queue is full and
 * the run waits: its memory does not grow with the stack.
 */
typedef struct airy_rows airy_rows;

/**
 * Start the run. The stack, the integrators and all that params points at are used until
 * airy_rows_close; params itself may go. params->progress and params->message are called on threads
 * of the run. params->arrays are filled too, before the row is given.
 *
 * Errors: AIRY_ERR_PARAM (rows or stack is NULL; params->row is set), AIRY_ERR_MEMORY. Whatever else
 *         airy_integrate_stack may find wrong is an error of airy_rows_next.
 */
AIRY_API airy_status airy_rows_open(airy_rows **rows, const airy_stack *stack,
                                    airy_integrator *const *integrators, size_t count,
                                    const airy_run_params *params);
/**
 * Fetch the next row. It is valid until the next call or airy_rows_close.
 *
 * @param row        out; NULL after the last one
 * @param timeout_ns how long to wait for a row; UINT64_MAX: without end
 * Errors: AIRY_ERR_TIMED_OUT, after which the next call waits again; those of airy_integrate_stack
 *         with the run's record (airy_error_get), when all rows before the failure have been given,
 *         and again at each call after it.
 * Threads: one at a time.
 */
AIRY_API airy_status airy_rows_next(airy_rows *rows, const airy_run_row **row, uint64_t timeout_ns);
/**
 * End the run and release the rows; before the last row it is cancelled, and frames that are being
 * read are waited for. *rows becomes NULL. info: out, or NULL.
 */
AIRY_API void airy_rows_close(airy_rows **rows, airy_run_info *info);

/**
 * Integrate a stack by several processes: one calls airy_run_create; then each calls airy_run_work
 * with its own params->part of params->parts, at the same time or not, on the same machine or on
 * others that share the file; when all have returned, one calls airy_run_finish. All with the same
 * path, stack, params (apart from part, progress, batch, slots, readers) and integrators of the
 * same parameters.
 *
 * airy_run_create makes PATH.partial, or checks that resume can go on with it (info->resumed: rows
 * that are done); it stays, whatever happens. airy_run_work writes the rows of its part, or the
 * next rows of the work queue (params->claim; info->resumed is 0 then), that are not done; what
 * fails in one process has to be reported to the others by the caller. Until airy_run_finish,
 * sum_normalization, sum_normalization2 and count of frames with invalid pixels of their own are
 * not to be seen in the partial file. airy_run_finish gives the file its final name.
 *
 * Errors: as airy_integrate_stack; airy_run_work: AIRY_ERR_NOT_FOUND without PATH.partial,
 *         AIRY_ERR_FORMAT where it belongs to another run; airy_run_finish: AIRY_ERR_INCOMPLETE
 *         where rows are missing (the partial file stays), AIRY_ERR_IO while a process is at work.
 */
AIRY_API airy_status airy_run_create(const char *path, const airy_stack *stack,
                                     const airy_integrator *integrator,
                                     const airy_run_params *params, airy_run_info *info);
AIRY_API airy_status airy_run_work(const char *path, const airy_stack *stack,
                                   airy_integrator *const *integrators, size_t count,
                                   const airy_run_params *params, airy_run_info *info);
AIRY_API airy_status airy_run_finish(const char *path, const airy_stack *stack,
                                     const airy_integrator *integrator,
                                     const airy_run_params *params, airy_run_info *info);

/** Zeroed: the rows of all files one after the other. */
typedef struct airy_patterns_params {
    bool join; /**< all rows become one, as `merge` defines; bad ones are left out */
    airy_merge merge;
    size_t rebin;           /**< so many bins of the radius become one (airy_sums_rebin); 0: 1 */
    airy_error_model model; /**< of the files, for the variance of joined rows */
    bool has_empty;
    double empty;              /**< of a bin without pixels; default NaN */
    bool force;                /**< overwrite */
    const char *configuration; /**< JSON that goes into the file */
    airy_progress_fn
        progress; /**< counts rows; false ends the merge, AIRY_ERR_CANCELLED; or NULL */
    void *user;   /**< of progress */
} airy_patterns_params;

typedef struct airy_patterns_info {
    size_t rows, bad; /**< read, of them bad */
    size_t written;
    size_t bins; /**< written, of the radius */
} airy_patterns_info;

/**
 * Merge the patterns of integrated files, from their sums: same parameters by their
 * fingerprints, same unit, radial and azimuthal axis (to 10^-9 of a bin) and the same planes.
 * Normalizations of the result are [frames, bins], frame/frames is how many frames a row is of,
 * frame/index is that of its input.
 *
 * @param info  out or NULL
 * Errors: AIRY_ERR_NOT_FOUND, AIRY_ERR_IO, AIRY_ERR_FORMAT (not such a file, not complete, made
 *         with other parameters or without a fingerprint, axes that differ: file and parameter or
 *         element named), AIRY_ERR_EXISTS, AIRY_ERR_PARAM, AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_patterns_merge(const char *path, const char *const *inputs, size_t count,
                                         const airy_patterns_params *params,
                                         airy_patterns_info *info);

/**
 * Write one file that shows integrated files, also unfinished ones, as one: their rows one after
 * another, in HDF5 virtual datasets; all else is the first one's. The inputs stay where they are,
 * and are found again when they and the file are moved together. A row whose file is missing reads
 * as pending (frame/status -1, values NaN). The text "files" of the result (airy/result.h) lists
 * the inputs, one a line.
 *
 * Errors: AIRY_ERR_NOT_FOUND, AIRY_ERR_IO, AIRY_ERR_FORMAT (not such a file, made with other
 *         parameters, datasets that differ in more than rows), AIRY_ERR_EXISTS, AIRY_ERR_PARAM,
 *         AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_patterns_link(const char *path, const char *const *inputs, size_t count,
                                        bool force);

#ifdef __cplusplus
}
#endif
#endif
