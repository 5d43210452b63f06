/**
 * Operations on images in host memory that need not fit on the device: tile by tile.
 *
 * A tile's result is made from its part of the image and what overlaps it, so that it is the result
 * of the whole image, bit for bit unless the operation states otherwise. Two tiles are on their way
 * at a time: one computes while the other is copied; one on the CPU, which computes in its own
 * memory, and if it is the only one, in that of the images themselves.
 */
#ifndef AIRY_TILE_H
#define AIRY_TILE_H

#include "airy/filter.h"
#include "airy/image.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How an image was cut, or would be. Axes are the result's. */
typedef struct airy_tile_plan {
    int ndim;
    size_t shape[AIRY_MAX_DIMS]; /**< of the result */
    size_t tile[AIRY_MAX_DIMS];  /**< of a tile's result; those at the end may be smaller */
    uint64_t tiles;
    uint64_t device_bytes; /**< arrays on the device at a time, with what the operation takes */
    uint64_t copied_bytes; /**< to the device, overlaps counted as often as they go; may be 0 */
} airy_tile_plan;

/** Zeroed but for dtype is the default: every element by itself. */
typedef struct airy_tile_params {
    airy_dtype dtype; /**< of the result */
    /** Result i is made from the elements i - before to i + after of the image. */
    size_t before[AIRY_MAX_DIMS], after[AIRY_MAX_DIMS];
    ptrdiff_t grow[AIRY_MAX_DIMS]; /**< elements by which the result is longer than the image */
    bool wrap;      /**< outside of the image lies its other end; else the operation's border */
    double scratch; /**< arrays like the result that the operation takes for itself */
    double source_scratch; /**< and of the result's dtype with the source's shape */
    uint64_t memory;       /**< bytes on the device; 0: what its limit and others leave */
} airy_tile_params;

/** Run the operation: dst from src, queued on `queue`; dst is longer than src by `grow`. */
typedef airy_status (*airy_tile_fn)(void *user, airy_queue *queue, airy_array *dst,
                                    const airy_array *src);

/**
 * Run fn on every tile; done when it returns. Where memory lacks in spite of the plan, tiles are
 * made smaller and it begins again.
 *
 * @param dst   out, freed with airy_image_free; NULL: only the plan is made
 * @param src   its header is not copied
 * @param plan  out, or NULL
 * Errors: AIRY_ERR_MEMORY where not even one element with its surroundings has room (the sentence
 *         gives what it needs), AIRY_ERR_PARAM, AIRY_ERR_SHAPE, and those of fn.
 */
AIRY_API airy_status airy_tile_run(airy_queue *queue, airy_image *dst, const airy_image *src,
                                   const airy_tile_params *params, airy_tile_fn fn, void *user,
                                   airy_tile_plan *plan);

/** Where the filters below put their result; zeroed: f32, all the memory there is. */
typedef struct airy_tile_target {
    airy_dtype dtype; /**< f32 or f64 */
    uint64_t memory;  /**< as of airy_tile_params */
} airy_tile_target;

/** Run airy_convolve on an image in host memory. A method FFT keeps its accuracy, not its bits. */
AIRY_API airy_status airy_tile_convolve(airy_queue *queue, airy_image *dst, const airy_image *src,
                                        const airy_tile_target *target, const double *kernel,
                                        int kernel_ndim, const size_t *kernel_shape,
                                        const airy_convolve_params *params,
                                        airy_convolve_info *info, airy_tile_plan *plan);
/** Run airy_gaussian_blur on an image in host memory. */
AIRY_API airy_status airy_tile_blur(airy_queue *queue, airy_image *dst, const airy_image *src,
                                    const airy_tile_target *target, const airy_blur_params *params,
                                    airy_tile_plan *plan);
/** Run airy_stencil_run on an image in host memory. */
AIRY_API airy_status airy_tile_stencil(airy_queue *queue, airy_image *dst, const airy_image *src,
                                       const airy_tile_target *target,
                                       const airy_stencil_params *params, airy_tile_plan *plan);
/** Run airy_rank_filter_run on an image in host memory; the result has the image's dtype. */
AIRY_API airy_status airy_tile_rank(airy_queue *queue, airy_image *dst, const airy_image *src,
                                    uint64_t memory, const airy_rank_params *params,
                                    airy_tile_plan *plan);
/** Run airy_hampel_run on an image in host memory; the result has the image's dtype. */
AIRY_API airy_status airy_tile_hampel(airy_queue *queue, airy_image *dst, const airy_image *src,
                                      uint64_t memory, const airy_hampel_params *params,
                                      airy_tile_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
