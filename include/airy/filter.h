/**
 * Filters: convolution, Gaussian blur, order statistics and morphology in one, two and three
 * dimensions. An image is blurred by a Gaussian of 1.5 pixels in this way:
 *
 *   const size_t shape[2] = {height, width};
 *   const airy_blur_params params = {.sigma = {1.5, 1.5}};
 *   if (airy_device_create(&device, "cpu", NULL) || airy_queue_create(&queue, device) ||
 *       airy_array_create_from(&src, queue, AIRY_DTYPE_F32, 2, shape, pixels) ||
 *       airy_array_create(&dst, device, AIRY_DTYPE_F32, 2, shape) ||
 *       airy_gaussian_blur(queue, dst, src, &params) ||
 *       airy_array_pull(queue, pixels, sizeof(float) * height * width, dst))
 *       fprintf(stderr, "%s\n", airy_last_error());
 *
 * Arrays have 1 to 3 dimensions, or 4: a list of volumes. src and dst must not overlap. Shapes are
 * given slowest axis first (z, y, x). src is converted to the dtype of dst, and the arithmetic is
 * done in it; sums of integers do not wrap. Rank filters keep the dtype.
 */
#ifndef AIRY_FILTER_H
#define AIRY_FILTER_H

#include "airy/array.h"
#include "airy/border.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    AIRY_FILTER_SIZE_MAX = 1025,   /**< elements of a kernel, box or footprint along an axis */
    AIRY_BLUR_RADIUS_MAX = 512,    /**< elements from the middle to the end of a Gaussian */
    AIRY_RANK_SORTED_MAX = 1 << 20 /**< elements that are sorted, of a box or footprint */
};

/**
 * Which part of the full result is kept. Along an axis, n: length of src, k: of the kernel.
 *   full   n + k - 1 elements
 *   same   n elements from number (k - 1) / 2 of the full ones on: scipy.signal.convolve2d 'same',
 *          and for odd k scipy.ndimage.convolve, which for even k begins at k / 2.
 *          numpy.convolve 'same' of a kernel longer than the line has k elements, this has n.
 *   valid  n - k + 1 elements, for which no border is looked at; k <= n
 */
typedef enum airy_convolve_mode {
    AIRY_CONVOLVE_FULL = 0,
    AIRY_CONVOLVE_SAME,
    AIRY_CONVOLVE_VALID,
    AIRY_CONVOLVE_MODE_COUNT
} airy_convolve_mode;

typedef enum airy_convolve_method {
    AIRY_CONVOLVE_AUTO = 0,  /**< the least work of the others */
    AIRY_CONVOLVE_DIRECT,    /**< any kernel */
    AIRY_CONVOLVE_SEPARABLE, /**< the kernel is a sum of up to 4 products of lines */
    AIRY_CONVOLVE_FFT,       /**< any kernel, by transforms of tiles of the image */
    AIRY_CONVOLVE_METHOD_COUNT
} airy_convolve_method;

AIRY_API const char *airy_convolve_mode_name(airy_convolve_mode mode);
AIRY_API const char *airy_convolve_method_name(airy_convolve_method method);
AIRY_API airy_status airy_convolve_mode_parse(airy_convolve_mode *mode, const char *name);
AIRY_API airy_status airy_convolve_method_parse(airy_convolve_method *method, const char *name);

/** Zeroed is the default. */
typedef struct airy_convolve_params {
    airy_convolve_mode mode;
    airy_border border;  /**< full and same */
    double border_value; /**< AIRY_BORDER_VALUE */
    airy_convolve_method method;
    bool correlate; /**< the kernel is not turned round; same then begins at k / 2 */
    bool normalize; /**< gaps are left out: see airy_convolve */
} airy_convolve_params;

/** What was done. */
typedef struct airy_convolve_info {
    airy_convolve_method method;
    int rank;        /**< products that make the kernel; 0: more than 4, or not looked for */
    double residual; /**< largest |kernel - products| over the largest |kernel| */
    /**
     * fft: elements of a tile along z, y, x, powers of two; 1 or a piece of an axis along which the
     * kernel has one element. Other methods: 0.
     */
    size_t tile[3];
} airy_convolve_info;

/**
 * Convolve: dst[i] = sum_j kernel[j] src[i + offset - j].
 *
 * @param dst           out, f32 or f64, of the shape that airy_convolve_shape gives
 * @param src           any dtype
 * @param kernel        host memory, f64, tight
 * @param kernel_ndim   1 to 3: of the fastest axes of src, which has as many or one more (a list)
 * @param kernel_shape  slowest first; 1 to AIRY_FILTER_SIZE_MAX along an axis
 * @param params        NULL for defaults
 * @param info          out, or NULL
 *
 * NaN:      under the kernel give NaN, also where the kernel is 0, with every method, unless
 *           normalize is set: a tile of fft in which an element is not finite, or so large that
 *           sums over the tile might overflow, is done directly.
 * Gaps:     normalize leaves elements out that are not finite: dst = conv(w src) / conv(w) with
 *           w = 1 where src is finite, else 0; NaN where conv(w) is below 2^-64 (dst f32) or 2^-512
 *           (f64) of the kernel's sum. A constant stays that constant, whatever the kernel's sum.
 *           With a border of zero or a value, elements outside are of that value and no gaps. For
 *           kernels without negative elements (for others conv(w) is no measure) whose sum is finite
 *           and above 0; done directly, or as one product of lines, whose elements are the weights
 *           then: the error of fft does not shrink with conv(w). |error| <= (2 taps + 6) e max
 *           |src| of what is under the kernel, where max |src| conv(w) is above 2^-88 (f32) or
 *           2^-950 (f64) of the kernel's sum; below, products underflow. Memory: an array of the
 *           shape of src and one of that of dst, both in dst's dtype, and one of each shape in u8.
 *           Waits.
 *           Source: Knutsson and Westin, Proc. IEEE CVPR 1993, 515 (normalized convolution); as
 *           astropy.convolution's nan_treatment='interpolate'.
 * Accuracy: direct: |error| <= (taps + 2) e sum |kernel src| (e = 2^-24 for f32, 2^-53 for f64);
 *           separable: the lengths of the lines and the rank in place of taps, the absolute values
 *           of the products in place of |kernel|, and residual max|kernel| sum |src| on top
 *           (residual is below 2^-24 for f32, 1e-14 for f64); fft: |error| <= 21 L e |kernel| |src|
 *           2^(L/2), L the base-2 logarithm of a tile's elements, |kernel| and |src| the roots of
 *           the sums of squares of the kernel and of the two tiles that are done together. In
 *           practice an error of about e times the largest results nearby; but unlike the others it
 *           does not shrink with what is under the kernel: next to a star of 1e6, elements of f32
 *           results are good to some 0.1, and integers do not come out exact. Not bit-equal between
 *           devices.
 * Memory:   separable in three dimensions as airy_gaussian_blur.
 * Errors:   AIRY_ERR_PARAM (a kernel that is no sum of 4 products for SEPARABLE, or is not finite;
 *           one that normalize is not for, and a method or a border's value),
 *           AIRY_ERR_UNSUPPORTED (a kernel whose tiles would be too large for FFT; a device without
 *           double precision where an array has it, or with work-groups of less than 64 items),
 *           AIRY_ERR_SHAPE, AIRY_ERR_DTYPE, AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_convolve(airy_queue *queue, airy_array *dst, const airy_array *src,
                                   const double *kernel, int kernel_ndim,
                                   const size_t *kernel_shape, const airy_convolve_params *params,
                                   airy_convolve_info *info);
/**
 * Return the shape of the result for src_shape of ndim dimensions. AIRY_ERR_SHAPE where nothing is
 * valid.
 */
AIRY_API airy_status airy_convolve_shape(size_t *shape, airy_convolve_mode mode, int ndim,
                                         const size_t *src_shape, int kernel_ndim,
                                         const size_t *kernel_shape);

/** Zeroed but for sigma is the default. */
typedef struct airy_blur_params {
    int axes;         /**< how many of the fastest axes sigma is for; 0: all, at most 3 */
    double sigma[3];  /**< px along the last `axes` axes, slowest first; 0: left as it is */
    double truncate;  /**< radius = floor(truncate sigma + 0.5); 0: 4 */
    size_t radius[3]; /**< instead of truncate where not 0; at most 512 */
    bool has_border;
    airy_border border; /**< without has_border: AIRY_BORDER_REFLECT */
    double border_value;
    bool normalize; /**< gaps are left out: as of airy_convolve */
} airy_blur_params;

/**
 * Blur with a Gaussian, as scipy.ndimage.gaussian_filter: weights exp(-x^2 / (2 sigma^2)) over
 * their sum.
 *
 * @param dst  out, f32 or f64, shape of src
 * The weights of each axis add up to 1. For a dst of f32 they are rounded so that their sum stays
 * within 2^-27 of 1 (2^-25 for a sigma below 0.81), for which no weight moves by more than 4 e of
 * itself: the error bound has 4 e more for each axis. Without normalize, where all elements under
 * the weights are equal (with those that the border adds), the result is their value to the last
 * bit. So a constant image stays constant, unless the border is zero or another value.
 * NaN, gaps, accuracy, errors: as airy_convolve, separable. AIRY_ERR_PARAM too where no sigma is
 * above 0 or one is negative or needs a radius over 512.
 * Memory: on the CPU some MB of scratch. On OpenCL none, or a slab of 56 MiB (or of as many rows as
 *         there are taps) where a volume has few columns or the border is wrap; two arrays of the
 *         size of dst where lines of x and y, several hundred taps long, do not fit local memory.
 */
AIRY_API airy_status airy_gaussian_blur(airy_queue *queue, airy_array *dst, const airy_array *src,
                                        const airy_blur_params *params);

typedef enum airy_stencil {
    AIRY_STENCIL_BOX = 0,  /**< mean of a box; of an even length one more element in front */
    AIRY_STENCIL_SOBEL,    /**< along one axis: -1 0 1 there, 1 2 1 along the others */
    AIRY_STENCIL_PREWITT,  /**< the same with 1 1 1 */
    AIRY_STENCIL_GRADIENT, /**< root of the sum of the squares of Sobel along every axis */
    AIRY_STENCIL_LAPLACE,  /**< sum over the axes of 1 -2 1 */
    AIRY_STENCIL_LOG,      /**< sum over the axes of the second derivative of a Gaussian */
    AIRY_STENCIL_DOG,      /**< blur by sigma less blur by sigma2 */
    AIRY_STENCIL_COUNT
} airy_stencil;

/** Zeroed but for what the stencil asks for is the default. */
typedef struct airy_stencil_params {
    airy_stencil stencil;
    int axes;       /**< how many of the fastest axes it is of; 0: all, at most 3 */
    size_t size[3]; /**< BOX: elements along the last `axes` axes, slowest first; 1 to 1025 */
    bool has_axis;
    int axis; /**< SOBEL, PREWITT: among the last `axes` axes; without has_axis: the last */
    double sigma[3], sigma2[3]; /**< px; LOG: all above 0; DOG: one of each above 0 */
    double truncate;            /**< of LOG and DOG, as of airy_blur_params; 0: 4 */
    bool has_border;
    airy_border border; /**< without has_border: AIRY_BORDER_REFLECT */
    double border_value;
} airy_stencil_params;

/**
 * Run a filter that is a sum of products of lines, as scipy.ndimage defines them (uniform_filter,
 * sobel, prewitt, generic_gradient_magnitude of sobel, laplace, gaussian_laplace). A border's value
 * stands for every element outside, where scipy.ndimage puts it in again between its passes.
 *
 * @param dst  out, f32 or f64, shape of src
 * NaN:      under the weights gives NaN.
 * Accuracy: of each product as airy_convolve, separable; sums, and hypot for the gradient, are
 *           rounded once more for each axis.
 * Memory: one array of the size of dst more where there are several products.
 * Errors: as airy_gaussian_blur.
 */
AIRY_API airy_status airy_stencil_run(airy_queue *queue, airy_array *dst, const airy_array *src,
                                      const airy_stencil_params *params);

typedef enum airy_rank_filter {
    AIRY_RANK_MEDIAN = 0, /**< element n / 2 of n, counted from 0: of an even number the upper */
    AIRY_RANK_MINIMUM,    /**< grey erosion */
    AIRY_RANK_MAXIMUM,    /**< over the footprint as it is; see the note on dilation */
    AIRY_RANK_PERCENTILE, /**< element floor(n percentile / 100), at 100 the last */
    AIRY_RANK_NTH,        /**< element `rank` */
    AIRY_RANK_OPENING, /**< erosion, then dilation: bright things smaller than the footprint go */
    AIRY_RANK_CLOSING, /**< dilation, then erosion */
    AIRY_RANK_WHITE_TOPHAT, /**< src - opening */
    AIRY_RANK_BLACK_TOPHAT, /**< closing - src */
    AIRY_RANK_FILTER_COUNT
} airy_rank_filter;

/** "median", "minimum", "maximum", "percentile", "rank", "opening", "closing", "tophat",
 *  "black-tophat"; or "?". */
AIRY_API const char *airy_rank_filter_name(airy_rank_filter filter);
AIRY_API airy_status airy_rank_filter_parse(airy_rank_filter *filter, const char *name);

/** Zeroed but for size is the default: a median. */
typedef struct airy_rank_params {
    airy_rank_filter filter;
    int axes;       /**< how many of the fastest axes it is of; 0: all, at most 3 */
    size_t size[3]; /**< of the box along the last `axes` axes, slowest first; 1 to 1025; of
                                   an even length one more element in front */
    const uint8_t *footprint; /**< host memory, tight, of that size: elements not 0 are looked at;
                                   NULL: all of the box */
    double percentile;        /**< 0 to 100 */
    int64_t rank;             /**< NTH: 0 the smallest; negative: -1 the largest */
    bool has_border;
    airy_border border;  /**< without has_border: AIRY_BORDER_REFLECT */
    double border_value; /**< AIRY_BORDER_VALUE: a number that the dtype holds */
} airy_rank_params;

/**
 * Compute order statistics of the elements under a footprint, as scipy.ndimage's median_filter,
 * minimum_filter, maximum_filter, percentile_filter, rank_filter, grey_opening, grey_closing,
 * white_tophat and black_tophat. Every element of the result is one of src's or the border's value;
 * integers stay integers.
 *
 * Dilation, the second half of an opening, is the maximum over the footprint turned round, which
 * along an even length begins one element later.
 *
 * @param dst     out, dtype and shape of src
 * @param src     any dtype
 * @param params  filter and size
 *
 * NaN:       larger than every number: a minimum passes it over, a maximum gives it; written as the
 *            positive quiet NaN. -0 is smaller than 0.
 * Top-hats:  a difference that the dtype does not hold stays at its limit, where scipy's wraps
 *            round; they take one or two arrays of the size of src besides.
 * Accuracy:  exact and equal on all devices; differences of floats are rounded once.
 * Work, for n elements under a footprint of r runs along x, per element of the result:
 *            CPU: on vectors, minimum and maximum of a box: 3 along y and z, log2 of the size along
 *            x; few elements (about 21 x 21): a network of about
 *            n^0.5 log2(n)^2 comparisons; larger boxes of 8 bits: histograms, whatever n; others: 2
 *            r updates of a set of bits and a share of a sort.
 *            OpenCL: box minimum and maximum: the sum of 1 + size / 2 to 16 of each axis; medians
 *            of 3 x 3, 5 x 5, 7 x 7, 3 x 3 x 3: a network; else n comparisons for each bit in which
 *            the elements of a tile differ, until the wanted one is found, and n once more.
 * Memory:    CPU: a tile a thread, of at most twice the footprint's lengths and 16 bytes an
 *            element, and one array of the size of src for minimum and maximum of a box in space;
 *            OpenCL: up to two arrays for those of a box.
 * Errors:    AIRY_ERR_PARAM, AIRY_ERR_SHAPE, AIRY_ERR_DTYPE, AIRY_ERR_MEMORY, AIRY_ERR_UNSUPPORTED
 *            (more than 2^20 elements under a footprint, but for minimum and maximum of a box).
 */
AIRY_API airy_status airy_rank_filter_run(airy_queue *queue, airy_array *dst, const airy_array *src,
                                          const airy_rank_params *params);

/** Zeroed but for size is the default. */
typedef struct airy_hampel_params {
    int axes;       /**< how many of the fastest axes it is of; 0: all, at most 3 */
    size_t size[3]; /**< of the box along the last `axes` axes, slowest first; odd, 1 to 1025 */
    double kappa;   /**< above 0, finite; 0: 3 */
    bool has_border;
    airy_border border;  /**< without has_border: AIRY_BORDER_REFLECT */
    double border_value; /**< AIRY_BORDER_VALUE: a number that the dtype holds */
} airy_hampel_params;

/**
 * Run the Hampel filter: an element that is off the median of the box around it by more than kappa
 * robust standard deviations is replaced by that median; the others stay as they are. For hot and
 * dead pixels, cosmic rays and other outliers of a few elements.
 *
 *   dst = |src - m| > kappa 1.482602218505602 MAD ? m : src
 *
 * with m the median of the box and MAD the median of |element - m| in it, the element itself among
 * them in both.
 *
 * @param dst     out, dtype and shape of src
 * @param src     any dtype
 * @param params  size, and kappa
 *
 * MAD 0:     where more than half of a box are equal, what differs from them is replaced.
 * NaN:       larger than every number, as of airy_rank_filter_run, and so are deviations that are
 *            NaN. An element that is NaN stays; one next to so many that the median or MAD is NaN
 *            too.
 * Accuracy:  every element of dst is one of src's or the border's value, equal on all devices.
 *            Deviations are rounded once to f64, in which integers beyond 2^53 are rounded before;
 *            so are kappa 1.482602218505602 and its product with a deviation.
 * Work:      a median of airy_rank_filter_run, and a comparison for each element of a box.
 * Memory:    as airy_rank_filter_run.
 * Errors:    as airy_rank_filter_run; AIRY_ERR_UNSUPPORTED too on an OpenCL device without f64.
 * Source:    F. R. Hampel, J. Am. Stat. Assoc. 69 (1974) 383, doi:10.1080/01621459.1974.10482962,
 *            for median and MAD; R. K. Pearson, IEEE Trans. Control Syst. Technol. 10 (2002) 55,
 *            doi:10.1109/87.974338, for their moving form.
 */
AIRY_API airy_status airy_hampel_run(airy_queue *queue, airy_array *dst, const airy_array *src,
                                     const airy_hampel_params *params);

/**
 * Fill a footprint with a disc or ball: elements whose centres are at most `radius` px from the
 * centre of a box of 2 floor(radius) + 1 elements along each of `axes` axes.
 *
 * @param footprint  out, malloc'ed, [length]^axes; free it with airy_footprint_free
 * @param length     out: elements along an axis
 * Errors: AIRY_ERR_PARAM (axes not 1 to 3, radius not 0 to 512), AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_footprint_ball(uint8_t **footprint, size_t *length, int axes,
                                         double radius);
AIRY_API void airy_footprint_free(uint8_t *footprint);

#ifdef __cplusplus
}
#endif
#endif
