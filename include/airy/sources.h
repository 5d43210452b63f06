/** Sources of an image: detection, deblending, cleaning and measures, after SExtractor and SEP. */
#ifndef AIRY_SOURCES_H
#define AIRY_SOURCES_H

#include "airy/array.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { AIRY_SOURCE_APERTURES = 8 };

/** Bits as in SExtractor and SEP. Those of apertures are of any aperture of the source. */
typedef enum airy_source_flags {
    AIRY_SOURCE_MERGED = 1u << 0,       /**< deblended: its island has other sources */
    AIRY_SOURCE_EDGE = 1u << 1,         /**< has a pixel on the border of the image */
    AIRY_SOURCE_SINGULAR = 1u << 3,     /**< too thin for its moments: 1/12 px^2 was added */
    AIRY_SOURCE_APER_EDGE = 1u << 4,    /**< an aperture reaches over the border */
    AIRY_SOURCE_APER_MASKED = 1u << 5,  /**< an aperture holds pixels that are left out */
    AIRY_SOURCE_APER_EMPTY = 1u << 6,   /**< an aperture holds no other: its flux is NaN */
    AIRY_SOURCE_APER_NEGATIVE = 1u << 7 /**< no Kron radius: the sums for it are not positive */
} airy_source_flags;

/**
 * One source. Coordinates are of pixel centres, from 0. f: pixels of the image; g: of the filtered
 * image, or f without a filter; s: noise of a pixel. Sums are over the pixels of the source.
 * NaN: not known, or not asked for.
 */
typedef struct airy_source {
    uint32_t label; /**< in the segmentation, from 1 */
    uint32_t flags; /**< of airy_source_flags */
    uint64_t npix;
    size_t xmin, xmax, ymin, ymax; /**< bounding box, ends included */
    size_t xpeak, ypeak;           /**< the first of the brightest pixels in raster order */
    double peak, filtered_peak;    /**< largest f, largest g */
    double threshold;              /**< that g was above: the mean over its island */
    double background, noise;      /**< of the pixel nearest to x, y */

    double x, y;                   /**< sum g r / sum g; of deblended ones: of the core alone */
    double xx, yy, xy;             /**< second moments about x, y, weighted by g, px^2 */
    double err_xx, err_yy, err_xy; /**< variance of x, y: sum s^2 (r - x)(r - x) / (sum g)^2 */
    double a, b;                   /**< semi-axes: roots of the eigenvalues of the moments, px */
    double theta;                  /**< of a against x, towards y, rad, in (-pi/2, pi/2] */
    double cxx, cyy, cxy;          /**< the ellipse: cxx dx^2 + cyy dy^2 + cxy dx dy = 1 */

    double flux, flux_err;           /**< sum f */
    double filtered_flux;            /**< sum g */
    double kron_radius;              /**< sum f r / sum f within 6 a, 6 b; unit: a and b. 0: none */
    double flux_kron, flux_kron_err; /**< ellipse of max(kron_factor kron_radius, kron_minimum) */
    double flux_aper[AIRY_SOURCE_APERTURES], flux_aper_err[AIRY_SOURCE_APERTURES];
    double half_light_radius; /**< of the circle with half of flux_kron, px */
} airy_source;

enum {
    AIRY_SOURCES_KERNEL_MAX = 1025 /**< pixels of a detection filter's side */
};

/** Zeroed, but for noise, noise_map or threshold, is the default. */
typedef struct airy_sources_params {
    double sigma; /**< threshold over the noise of a pixel; 0: 5 */
    bool has_threshold;
    double threshold;             /**< the same for all pixels, in place of sigma */
    double noise;                 /**< of every pixel, one standard deviation; 0: not known */
    const airy_array *noise_map;  /**< f32 or f64, shape of image, in place of noise; or NULL */
    const airy_array *background; /**< f32 or f64, shape of image: what was subtracted; or NULL */
    const airy_array *mask;       /**< u8, shape of image, not 0: leave the pixel out; or NULL */
    double gain;                  /**< electrons a unit: adds f / gain to variances; 0: does not */

    uint64_t min_area;      /**< px; 0: 5 */
    int connectivity;       /**< 4 or 8; 0: 8 */
    const double *kernel;   /**< detection filter, host, tight; NULL: none */
    size_t kernel_shape[2]; /**< y, x; odd, at most AIRY_SOURCES_KERNEL_MAX */
    bool matched; /**< compare sum k f / s^2 over root(sum k^2 / s^2) with sigma, not g with it */

    int deblend_levels; /**< 1 to 1024; 0: 32; 1: no deblending */
    bool has_contrast;
    double deblend_contrast; /**< 0 to 1; without has_contrast: 0.005 */
    bool clean;              /**< remove what the wings of a brighter source explain */
    double clean_power;      /**< exponent of the Moffat wings; 0: 1 */

    const double *apertures; /**< radii of circles, px, above 0; host */
    int aperture_count;      /**< at most AIRY_SOURCE_APERTURES */
    bool isophotal;          /**< only the measures of the source's own pixels and apertures */
    double kron_factor;      /**< 0: 2.5 */
    bool has_kron_minimum;
    double kron_minimum;  /**< in units of a and b; without has_kron_minimum: 3.5 */
    bool mask_neighbours; /**< leave pixels of other sources out of apertures */
    bool whole_pixels;    /**< flux_kron of all of the pixels whose centres are in the ellipse, as
                            SExtractor's FLUX_AUTO, not of exact overlaps */

    bool compat_sep;   /**< clean as SExtractor and SEP do, oddities too: docs/sources.md */
    bool kernel_as_is; /**< do not divide kernel by sum |kernel|, as with SExtractor's NONORM */
} airy_sources_params;

/**
 * Find the sources of an image whose background has been subtracted, in the raster order of their
 * first pixels.
 *
 * A pixel is detected where g > threshold; islands of connected detected pixels with at least
 * min_area of them are split where, at one of deblend_levels thresholds in geometric steps up to
 * the peak, two parts or more have each more than deblend_contrast of the island's flux above that
 * threshold. Pixels of an island outside of the parts go to the part whose Gaussian is highest
 * there.
 *
 * @param sources       out, *count of them; free with airy_sources_free
 * @param count         out
 * @param segmentation  out, u32, shape of image: the label of the source that a pixel belongs to,
 *                      0: none; NULL: not wanted
 * @param image         2-D, any dtype, fewer than 2^31 pixels
 * @param params        not NULL: noise, noise_map or threshold have to be given
 *
 * Left out: pixels that are not finite or masked, and those whose noise_map is not a number
 * above 0. They are in no source and count as 0 for the filter; in apertures they take the mean of
 * the rest of the aperture.
 * Filter: correlation with kernel / sum |kernel|, or with kernel itself, zero outside the image; in
 * f32, which values times a large kernel may leave.
 * Apertures: exact overlap of pixels with the circle or ellipse; with gain, their variance has
 * flux / gain too where that is positive.
 * Precision: pixels are rounded to f32, as the filter and comparisons are; sums are f64. The same
 * bits whatever the threads are. Between devices the filtered values differ by rounding, and so the
 * pixels that are as near to a threshold.
 * Where: filter, threshold and labels on the queue's device; the rest on the host's threads, on an
 * OpenCL device from copies of its arrays. The call waits for its work.
 * Memory: 14 bytes a pixel on the device (10 without a kernel), 4 more with noise_map and with a
 *         background that is no tight f32, 8 more with matched; on an OpenCL device host copies of
 *         most of it; on the host up to 80 bytes a detected pixel, 40 of them for one island at a
 *         time, and 1.5 kB a source.
 * Time: near-linear in pixels and sources, however large an island is; no limit on either.
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_SHAPE, AIRY_ERR_DTYPE, AIRY_ERR_MEMORY, AIRY_ERR_UNSUPPORTED.
 * Source: E. Bertin, S. Arnouts, A&AS 117 (1996) 393; K. Barbary, JOSS 1 (2016) 58. docs/sources.md
 *         lists where this differs from both.
 */
AIRY_API airy_status airy_sources_find(airy_queue *queue, airy_source **sources, size_t *count,
                                       airy_array *segmentation, const airy_array *image,
                                       const airy_sources_params *params);
AIRY_API void airy_sources_free(airy_source *sources);

#ifdef __cplusplus
}
#endif
#endif
