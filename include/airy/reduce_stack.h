/**
 * One image of all frames of a stack: a dark, a flat, the noise of each pixel.
 *
 *     airy_dtype dtype = airy_stack_reduce_dtype(AIRY_PROJECT_MEAN, info.dtype);
 *     size_t size = info.height * info.width * airy_dtype_size(dtype);
 *     airy_stack_reduce(image, size, stack, device, AIRY_PROJECT_MEAN, NULL, NULL);
 *
 * Frames stream through the device: memory does not grow with their number.
 */
#ifndef AIRY_REDUCE_STACK_H
#define AIRY_REDUCE_STACK_H

#include "airy/element.h"
#include "airy/pipeline.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a run of airy_stack_reduce came to. */
typedef struct airy_reduce_run_info {
    airy_run_info run; /**< frames: read in the first pass, of them bad */
    size_t taken;      /**< frames that are in the image */
    size_t passes;     /**< how often the stack is read: 1, but for a median */
    size_t rows;       /**< of the image that a pass makes */
    uint64_t
        one_pass; /**< limit of the device's memory that makes it one pass; 0: none does, or it is one */
} airy_reduce_run_info;

/** Return the element type of the image: that of the frames for max and min, else f64. */
AIRY_API airy_dtype airy_stack_reduce_dtype(airy_projection projection, airy_dtype frames);

/**
 * Reduce the frames of a stack to one image, pixel by pixel. A mean, a sum and a standard deviation
 * are added up batch by batch, in the order of the frames; a batch is of 64 MiB of pixels or a
 * quarter of the device's limit of memory, whichever is less, unless params->batch is set. A median
 * takes strips of rows, of 256 MiB of all frames or what the limit leaves, and reads the stack once
 * for each strip.
 *
 * @param image   out, [height, width] of airy_stack_reduce_dtype; written on success
 * @param size    bytes of image
 * @param params  NULL: all frames. monitor, resume, parts, group, rois, grid, claim, arrays and row
 *                must not be set; per-frame metadata, configuration, force and nxazint are not used.
 *                Progress
 *                is counted in frames of all passes
 * @param info    out, also on failure; may be NULL
 *
 * A frame that was never written is left out, and with skip_bad one that cannot be read or decoded,
 * too: they are counted in info->run.bad, and a median leaves the same ones out of all its rows.
 * NaN:      gives NaN.
 * Accuracy: sums in f64. The bits of mean, sum and std depend on the size of a batch, and not on
 *           threads; those of the others on nothing.
 * Errors:   AIRY_ERR_CORRUPT and what else a frame cannot be read for, without skip_bad;
 *           AIRY_ERR_UNWRITTEN, or the status of the first bad frame, where no frame is left;
 *           AIRY_ERR_IO also where a frame that a median has read once cannot be read again;
 *           AIRY_ERR_CANCELLED (by progress), AIRY_ERR_MEMORY, AIRY_ERR_PARAM, AIRY_ERR_SHAPE
 *           (size).
 */
AIRY_API airy_status airy_stack_reduce(void *image, size_t size, const airy_stack *stack,
                                       airy_device *device, airy_projection projection,
                                       const airy_run_params *params, airy_reduce_run_info *info);

#ifdef __cplusplus
}
#endif

#endif
