/**
 * OCT of a stack of raw frames: files of spectra in, profiles out, in order.
 *
 *     airy_oct_stack(stack, &oct, 1, NULL, keep, user, NULL);
 *
 *     static airy_status keep(void *user, const void *results, size_t count)
 *     {
 *         ... count results, one behind the other, each of info.result_bytes
 *         return AIRY_OK;
 *     }
 *
 * Frames stream through the device: memory does not grow with their number. Frames that a camera
 * brings go through oct_stream.h, which holds the time between a frame and its result short.
 */
#ifndef AIRY_OCT_STACK_H
#define AIRY_OCT_STACK_H

#include "airy/oct.h"
#include "airy/pipeline.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The outcome of a run of airy_oct_stack. */
typedef struct airy_oct_run_info {
    airy_run_info run;  /**< frames: raw ones, of them bad */
    size_t results;     /**< that were given to the caller */
    size_t bad_results; /**< results that are NaN (0) because a frame of them was bad */
    size_t left_over;   /**< raw frames behind the last result, too few for another one */
} airy_oct_run_info;

/**
 * Receive results that follow the last ones. It is called by one thread at a time, which is not the
 * one that called airy_oct_stack; while it runs, the device goes on with the next batches. Whatever
 * it returns but AIRY_OK ends the run, which returns the same.
 *
 * @param results  [count, out_lines, depth] of params->to of the plan, with output COMPLEX and a
 *                 last axis of 2; valid during the call
 */
typedef airy_status (*airy_oct_results_fn)(void *user, const void *results, size_t count);

/**
 * Process the frames of a stack, a result for each frames_per_result of them.
 *
 * @param stack   frames of [lines, samples], packed ones of [lines, line_bytes] u8; of another dtype
 *                than the plan's, which is f32 then, they are converted on the device
 * @param octs    one a device, of equal parameters, with their estimates where they need them
 * @param count   of octs, at least 1
 * @param params  NULL: all frames. step must be 0 or 1; monitor, resume, parts, group, rois, grid,
 *                claim, arrays and row must not be set; per-frame metadata, configuration, force and
 *                nxazint are not used. batch becomes a multiple of frames_per_result; 0: 64 MiB of frames
 *                and results, on a CPU 8 MiB, fewer where the limit of memory asks for it
 * @param take    may be NULL: nothing is done with the results, for benchmarks
 * @param user    handed to take
 * @param info    out, also on failure; may be NULL
 *
 * A frame that cannot be read or decoded ends the run, after the results in front of it were given;
 * with skip_bad the result that it is part of is NaN, of integers 0. A frame that
 * was never written makes its result NaN as well, with and without skip_bad.
 * Accuracy: results are bit for bit those of airy_oct_process, whatever the batch.
 * Errors: AIRY_ERR_CORRUPT and what else a frame cannot be read for; AIRY_ERR_CANCELLED (by
 *         progress; results of batches that were begun are given); AIRY_ERR_SHAPE, AIRY_ERR_DTYPE
 *         (frames that are not the plan's; fewer than one result takes), AIRY_ERR_PARAM,
 *         AIRY_ERR_MEMORY, those of airy_oct_process, what take returned.
 */
AIRY_API airy_status airy_oct_stack(const airy_stack *stack, const airy_oct *const *octs,
                                    size_t count, const airy_run_params *params,
                                    airy_oct_results_fn take, void *user, airy_oct_run_info *info);

/**
 * Describe what such a run would use, without running: info->run has batch, slots, readers and bytes,
 * info->left_over the frames that would be left over.
 */
AIRY_API airy_status airy_oct_stack_plan(airy_oct_run_info *info, const airy_stack *stack,
                                         const airy_oct *const *octs, size_t count,
                                         const airy_run_params *params);

#ifdef __cplusplus
}
#endif

#endif
