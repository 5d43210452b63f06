/**
 * Bragg peaks of a stack of frames: each frame is separated into peaks and background (peaks.h), and
 * both are written into a file of sparse frames (sparse.h).
 */
#ifndef AIRY_PEAKS_STACK_H
#define AIRY_PEAKS_STACK_H

#include "airy/peaks.h"
#include "airy/pipeline.h"
#include "airy/sparse.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a run of airy_peaks_stack came to. */
typedef struct airy_peaks_run_info {
    airy_run_info run;
    uint64_t pixels, peaks; /**< listed of all frames */
} airy_peaks_run_info;

/**
 * Separate Bragg peaks and background of a stack into a file of sparse frames (sparse.h), which
 * appears under its name when it is complete. Until then good frames are kept in PATH.partial as
 * well, a result of kind sparse (result.h) whose frame/status marks which are done; params->resume
 * goes on from there, also after the program was killed, and the file is the same. Some frames are
 * made again then, and compared with what was kept. A run whose parameters differ is not resumed:
 * AIRY_ERR_FORMAT with the parameter. max_pixels and max_peaks of the finder may differ.
 *
 * @param path     NULL: nothing is written, for benchmarks
 * @param finders  one a device, of integrators of the same parameters and geometry
 * @param params   monitor, parts, claim, group, rois, grid, arrays and row must not be set;
 *                 per-frame metadata is not used
 * @param info     out, also on failure; may be NULL
 * A frame that cannot be read or decoded, or of which more pixels stand out than the finder lists,
 * is bad: without skip_bad it ends the run, and the frames before it are kept. resume tries bad
 * frames again.
 * Errors: as airy_integrate_stack (pipeline.h); AIRY_ERR_CANCELLED keeps what is done;
 *         AIRY_ERR_FORMAT also where a frame differs from the one that was kept.
 */
AIRY_API airy_status airy_peaks_stack(const char *path, const airy_stack *stack,
                                      const airy_peak_finder *const *finders, size_t count,
                                      const airy_run_params *params, airy_peaks_run_info *info);

/**
 * Take `count` frames, which follow those of the call before. They stay during the call only. A
 * status other than AIRY_OK ends the run with it.
 */
typedef airy_status (*airy_sparse_fn)(void *user, const airy_sparse_frame *frames, size_t count);
/**
 * Separate Bragg peaks and background of a stack, and hand the frames to a function in their order;
 * a bad one that is skipped has a message and nothing else. No file is written.
 *
 * @param params  as of airy_peaks_stack; resume must not be set
 * @param each    called on threads of the run, never on two at once
 * Errors: as airy_peaks_stack.
 */
AIRY_API airy_status airy_peaks_each(const airy_stack *stack,
                                     const airy_peak_finder *const *finders, size_t count,
                                     const airy_run_params *params, airy_sparse_fn each, void *user,
                                     airy_peaks_run_info *info);

#ifdef __cplusplus
}
#endif

#endif
