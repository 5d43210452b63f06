/**
 * What is known of each pixel of a stack: its mask, and its corrections.
 *
 *     airy_pixels pixels;
 *     const airy_pixel_params params = {.mask = {.path = "mask.npy"}, .dark = {.image = &dark}};
 *     airy_pixels_load(&pixels, &params, &geometry.detector, height, width);
 *     airy_pixels_apply(&integrator_params, &pixels, &meta, dtype);
 *     airy_integrator_create(&integrator, device, &geometry, &integrator_params);
 *     airy_pixels_free(&pixels);
 */
#ifndef AIRY_PIXELS_H
#define AIRY_PIXELS_H

#include "airy/image.h"
#include "airy/integrate.h"
#include "airy/log.h"
#include "airy/stack.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An image of a file, or one in memory. Zeroed: none. */
typedef struct airy_pixel_source {
    const char *path;        /**< NULL: `image` */
    const airy_image *image; /**< of the shape of a frame */
} airy_pixel_source;

/** Zeroed: no masks and no corrections beside the detector's mask. */
typedef struct airy_pixel_params {
    airy_pixel_source mask;      /**< not 0 = bad, added to the detector's and the file's */
    airy_pixel_source mask_only; /**< not 0 = bad, instead of these */
    airy_pixel_source dark, flat, absorption, variance;
    const uint8_t *file_mask; /**< [height * width], of the frames' file; NULL: none */
    bool keep_negative;       /**< pixels with a negative flat, absorption or variance stay */
    airy_log_fn message;      /**< gets how many pixels a correction leaves out; NULL: nobody */
    void *user;               /**< of message */
} airy_pixel_params;

/** Arrays of [height * width], NULL: none. */
typedef struct airy_pixels {
    uint8_t *mask; /**< all that is masked */
    float *dark, *flat, *absorption, *variance;
    size_t
        masked[3]; /**< pixels that the detector's mask, the file's and the given one leave out */
} airy_pixels;

/** Check that masks do not exclude each other. AIRY_ERR_PARAM with the subject "mask". */
AIRY_API airy_status airy_pixels_check(const airy_pixel_params *params);
/**
 * Read masks and corrections. Pixels that a correction has no value of use for are masked. Free
 * them in any case.
 * Errors: AIRY_ERR_SHAPE with the parameter as subject, those of the files, AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_pixels_load(airy_pixels *pixels, const airy_pixel_params *params,
                                      const airy_detector *detector, size_t height, size_t width);
AIRY_API void airy_pixels_free(airy_pixels *pixels);
/**
 * Set the arrays of an integrator, and where they are not given its dummy value and its saturation as
 * the file states them. The pixels must stay until the integrator is created.
 * Errors: AIRY_ERR_UNSUPPORTED (saturation: frames of this dtype would be saturated everywhere),
 *         AIRY_ERR_PARAM (they have no saturation that could be masked).
 */
AIRY_API airy_status airy_pixels_apply(airy_integrator_params *params, const airy_pixels *pixels,
                                       const airy_stack_meta *meta, airy_dtype dtype);

#ifdef __cplusplus
}
#endif

#endif
