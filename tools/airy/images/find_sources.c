/* The two methods of airy sources. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/background.h"
#include "airy/element.h"
#include "images/filter_opt.h"
#include "images/found.h"

/* Pixels above k standard deviations among n of pure Gaussian noise. */
static double expected_false(double k, double n)
{
    return n * erfc(k / sqrt(2)) / 2;
}

static int fail_empty(const struct common *common, bool clipped)
{
    return tool_fail(common, "%s: %s, so there is no noise to measure", common->inputs.items[0],
                     clipped ? "a clip leaves nothing of its values" : "no pixel is good");
}

/* What is left out, and the rest with zeros there. */
static airy_status fill_holes(struct device_image *d, const airy_array *flat, airy_array *bad,
                              airy_array *filled)
{
    airy_array *zero = NULL;
    airy_status status =
        airy_array_create(&zero, d->device, airy_array_dtype(flat), 2, d->image.shape);
    if (status == AIRY_OK)
        status = airy_apply(d->queue, bad, AIRY_IS_FINITE, flat);
    if (status == AIRY_OK)
        status = airy_apply(d->queue, bad, AIRY_NOT, bad);
    if (status == AIRY_OK && d->mask)
        status = airy_combine(d->queue, bad, bad, AIRY_OR, d->mask);
    if (status == AIRY_OK)
        status = airy_where(d->queue, filled, bad, zero, flat);
    airy_array_destroy(&zero);
    return status;
}

/* Infinite pixels are no sources, so they become 0, which is below every threshold. */
static airy_status drop_infinite(struct device_image *d)
{
    airy_array *bad = NULL, *filled = NULL;
    airy_status status =
        airy_array_create_uninitialized(&bad, d->device, AIRY_DTYPE_U8, 2, d->image.shape);
    if (status == AIRY_OK)
        status =
            airy_array_create_uninitialized(&filled, d->device, d->image.dtype, 2, d->image.shape);
    if (status == AIRY_OK)
        status = fill_holes(d, d->src, bad, filled);
    airy_array_destroy(&bad);
    airy_array_destroy(status == AIRY_OK ? &d->src : &filled);
    d->src = status == AIRY_OK ? filled : d->src;
    return status;
}

/*
 * Of images of few counts a clip leaves some values, one or nothing, and their deviation is too small
 * or 0. The estimator of backgrounds is made for such images.
 */
static airy_status measure_counts(struct found *found, struct device_image *d,
                                  const airy_clip_result *clip)
{
    const airy_background_params params = {.mesh = {32768, 32768}};
    airy_background *background = NULL;
    airy_background_info info;
    if (clip->clipped == 0 ||
        (!device_image_may_be_coarse(&clip->kept) && clip->kept.median != clip->kept.min &&
         clip->kept.median != clip->kept.max))
        return AIRY_OK;
    const airy_status status =
        airy_background_create(&background, d->queue, d->src, NULL, &params, &info);
    airy_background_destroy(&background);
    found->background = status == AIRY_OK ? info.level : found->background;
    found->noise = status == AIRY_OK ? info.noise : found->noise;
    return status;
}

int find_simple(const struct sources_params *p, struct device_image *d, struct found *found)
{
    const struct common *common = &p->common;
    airy_clip_result clip;
    airy_status status = airy_clip(d->queue, &clip, d->src, NULL, NULL);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    found->background = clip.kept.median;
    found->noise = clip.kept.count ? clip.kept.std : 0;
    status = measure_counts(found, d, &clip);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    if (clip.kept.count == 0 && found->noise == 0)
        return fail_empty(common, clip.clipped > 0);
    device_image_say_spread(d, common, common->inputs.items[0]);
    found->threshold = p->sigma * found->noise;
    if (!isfinite(found->threshold))
        return device_image_no_spread(common, common->inputs.items[0]);
    found->expected_false = expected_false(p->sigma, (double)(clip.kept.count + clip.clipped));
    const airy_label_params params = {.connectivity = p->connectivity ? (int)p->connectivity : 4,
                                      .has_above = true,
                                      .above = found->threshold,
                                      .min_count = p->min_area};
    if (clip.kept.infinite > 0)
        status = drop_infinite(d);
    if (status == AIRY_OK && p->segmentation)
        status = airy_array_create_uninitialized(&found->segmentation, d->device, AIRY_DTYPE_I32, 2,
                                                 d->image.shape);
    if (status == AIRY_OK)
        status = airy_label(d->queue, found->segmentation, d->src, &params, &found->count,
                            &found->regions);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

/* SEP's default filter, as SExtractor's default.conv. */
static const double small_kernel[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};

/* A Gaussian up to three standard deviations; its side. */
static size_t make_gaussian(double **kernel, double fwhm)
{
    const double sigma = fwhm / 2.3548200450309493; /* 2 root(2 ln 2) */
    const int radius = (int)ceil(3 * sigma);
    const size_t side = 2 * (size_t)radius + 1;
    double *k = malloc(side * side * sizeof(double));
    for (int y = -radius; k && y <= radius; y++)
        for (int x = -radius; x <= radius; x++)
            k[(size_t)(y + radius) * side + (size_t)(x + radius)] =
                exp(-(x * x + y * y) / (2 * sigma * sigma));
    *kernel = k;
    return side;
}

/*
 * By how much the filter enlarges values at most, and the noise of independent pixels after a filter
 * whose result is compared with theirs.
 */
static void measure_filter(const airy_sources_params *p, double *gain, double *noise)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; p->kernel && i < p->kernel_shape[0] * p->kernel_shape[1]; i++) {
        sum += fabs(p->kernel[i]);
        squares += p->kernel[i] * p->kernel[i];
    }
    *gain = p->kernel && p->kernel_as_is ? sum : 1;
    *noise = sum > 0 && !p->matched ? sqrt(squares) / sum * *gain : 1;
}

/* The full method works in f32, where such pixels would be infinite and left out in silence. */
static int check_range(const struct sources_params *p, struct device_image *d, struct found *found,
                       const airy_sources_params *params)
{
    double gain, noise;
    measure_filter(params, &gain, &noise);
    airy_statistics s;
    const airy_status status =
        airy_statistics_get(d->queue, &s, d->src, d->mask, AIRY_STATISTICS_MOMENTS);
    if (status != AIRY_OK)
        return tool_failed(&p->common, status);
    const double largest = s.count > 0 ? fmax(fabs(s.min), fabs(s.max)) : 0;
    if (largest > (double)FLT_MAX)
        return tool_fail(&p->common,
                         "%s: has values up to %g, the full method takes them up to %g; scale the "
                         "image down, mask them, or take --method simple",
                         p->common.inputs.items[0], largest, (double)FLT_MAX);
    if (largest * gain > (double)FLT_MAX)
        return tool_fail(&p->common,
                         "%s: has values up to %g, times the %g of --kernel %s, the full method "
                         "takes them up to %g; scale the kernel down",
                         p->common.inputs.items[0], largest, gain, p->kernel, (double)FLT_MAX);
    found->expected_false = expected_false(p->sigma / noise, (double)s.count);
    if (!device_image_say_mask(&p->common, &p->bad, NULL))
        device_image_say_gaps(d, &p->common, &p->bad, &s, 1, sizeof(s));
    return AIRY_EXIT_OK;
}

/* Background, noise and what is left of the image without the background, on the device. */
static airy_status subtract(const struct sources_params *p, struct device_image *d,
                            struct found *found, airy_array **flat)
{
    const airy_background_params params = {.mesh = {p->mesh[0], p->mesh[1]}, .compat_sep = p->sep};
    airy_background_info info;
    airy_background *background = NULL;
    airy_array **const made[] = {flat, &found->level, &found->noise_map};
    airy_status status =
        airy_background_create(&background, d->queue, d->src, d->mask, &params, &info);
    for (size_t i = 0; i < 3 && status == AIRY_OK; i++)
        status =
            airy_array_create_uninitialized(made[i], d->device, AIRY_DTYPE_F32, 2, d->image.shape);
    if (status == AIRY_OK)
        status = airy_background_subtract(d->queue, background, *flat, d->src, found->noise_map);
    if (status == AIRY_OK)
        status = airy_background_map(d->queue, background, found->level, NULL);
    if (status == AIRY_OK) {
        found->background = info.level;
        found->noise = info.noise;
        found->threshold = p->sigma * info.noise;
        if (p->common.verbose)
            tool_say(&p->common, "background of %zu x %zu meshes, %zu of them filled from others",
                     info.nodes[0], info.nodes[1], info.bad);
    }
    airy_background_destroy(&background);
    return status;
}

/*
 * The noise of the filtered image over what independent pixels would leave of it: above 1 where a
 * beam makes neighbours alike, as in every radio image. Without it a matched filter would see most
 * of the noise as sources.
 */
static airy_status measure_correlation(const struct sources_params *p, struct device_image *d,
                                       const airy_array *flat, const airy_sources_params *params,
                                       double noise, double *ratio)
{
    const airy_convolve_params same = {.mode = AIRY_CONVOLVE_SAME};
    const airy_background_params mesh = {.mesh = {p->mesh[0], p->mesh[1]}};
    airy_array *bad = NULL, *filled = NULL, *filtered = NULL;
    airy_background *background = NULL;
    airy_background_info info = {.noise = 0};
    airy_status status =
        airy_array_create_uninitialized(&bad, d->device, AIRY_DTYPE_U8, 2, d->image.shape);
    if (status == AIRY_OK)
        status =
            airy_array_create_uninitialized(&filled, d->device, AIRY_DTYPE_F32, 2, d->image.shape);
    if (status == AIRY_OK)
        status = airy_array_create_uninitialized(&filtered, d->device, AIRY_DTYPE_F32, 2,
                                                 d->image.shape);
    if (status == AIRY_OK)
        status = fill_holes(d, flat, bad, filled);
    if (status == AIRY_OK)
        status = airy_convolve(d->queue, filtered, filled, params->kernel, 2, params->kernel_shape,
                               &same, NULL);
    if (status == AIRY_OK)
        status = airy_background_create(&background, d->queue, filtered, bad, &mesh, &info);
    double squares = 0;
    for (size_t i = 0; i < params->kernel_shape[0] * params->kernel_shape[1]; i++)
        squares += params->kernel[i] * params->kernel[i];
    *ratio = noise > 0 && info.noise > 0 ? info.noise / (noise * sqrt(squares)) : 1;
    airy_background_destroy(&background);
    airy_array_destroy(&bad);
    airy_array_destroy(&filled);
    airy_array_destroy(&filtered);
    return status;
}

static int check_kernel(const struct sources_params *p, int ndim)
{
    const size_t *shape = p->filter_shape;
    double sum = 0;
    if (ndim != 2)
        return tool_fail(&p->common, "--kernel %s: has %d dimension%s, expected 2", p->kernel, ndim,
                         tool_s((size_t)ndim));
    for (int i = 0; i < 2; i++)
        if (shape[i] % 2 == 0 || shape[i] > AIRY_SOURCES_KERNEL_MAX)
            return tool_fail(&p->common,
                             "--kernel %s: has %zu x %zu values, expected odd sides of at most %d",
                             p->kernel, shape[0], shape[1], AIRY_SOURCES_KERNEL_MAX);
    for (size_t i = 0; i < shape[0] * shape[1]; i++)
        sum += fabs(p->filter[i]);
    if (!(sum > 0) || !isfinite(sum))
        return tool_fail(&p->common,
                         "--kernel %s: the sum of absolute values is %g, expected a number above 0",
                         p->kernel, sum);
    if (p->filter_as_is && fabs(sum - 1) > 1e-6)
        tool_say(&p->common,
                 "--kernel %s: NONORM, and its absolute values add up to %.6g: --sigma %g is %.6g "
                 "of a kernel of sum 1",
                 p->kernel, sum, p->sigma, p->sigma / sum);
    return AIRY_EXIT_OK;
}

int find_filter(struct sources_params *p)
{
    int ndim = 0;
    size_t shape[3] = {0};
    p->filter = NULL;
    if (p->fwhm > 0) {
        shape[0] = shape[1] = make_gaussian(&p->filter, p->fwhm);
        if (!p->filter)
            return tool_fail(&p->common, "--matched %g: out of memory for the filter", p->fwhm);
    }
    int code = p->kernel ? filter_read_kernel(&p->common, p->kernel, &p->filter, &ndim, shape)
                         : AIRY_EXIT_OK;
    memcpy(p->filter_shape, shape, sizeof(p->filter_shape));
    p->filter_as_is = p->kernel && !p->sep && airy_image_is_conv(p->kernel); /* sep has no NONORM */
    return code == AIRY_EXIT_OK && p->kernel ? check_kernel(p, ndim) : code;
}

/* The detection filter. */
static void choose_kernel(const struct sources_params *p, airy_sources_params *params)
{
    const size_t small[2] = {3, 3};
    params->matched = p->fwhm > 0;
    /* without a filter of sep's: with one noise for the image it is a plain one */
    params->kernel = p->filter ? p->filter : p->sep ? small_kernel : NULL;
    memcpy(params->kernel_shape, p->filter ? p->filter_shape : small, sizeof(small));
    params->kernel_as_is = p->filter_as_is;
}

static int find_filtered(const struct sources_params *p, struct device_image *d,
                         struct found *found, airy_sources_params *params)
{
    airy_array *flat = NULL;
    const int checked = check_range(p, d, found, params);
    if (checked != AIRY_EXIT_OK)
        return checked;
    airy_status status = subtract(p, d, found, &flat);
    found->correlation = 1;
    if (status == AIRY_OK && params->matched && !p->sep)
        status = measure_correlation(p, d, flat, params, found->noise, &found->correlation);
    airy_array_destroy(&d->src); /* makes room on a GPU */
    params->sigma *= found->correlation;
    params->background = found->level;
    if ((p->global_noise || p->sep) && found->noise > 0)
        params->noise = found->noise;
    else
        params->noise_map = found->noise_map;
    if (status == AIRY_OK && p->segmentation)
        status = airy_array_create_uninitialized(&found->segmentation, d->device, AIRY_DTYPE_U32, 2,
                                                 d->image.shape);
    if (status == AIRY_OK)
        status = airy_sources_find(d->queue, &found->sources, &found->count, found->segmentation,
                                   flat, params);
    airy_array_destroy(&flat);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
}

int find_full(const struct sources_params *p, struct device_image *d, struct found *found)
{
    airy_sources_params params = {.sigma = p->sigma,
                                  .mask = d->mask,
                                  .gain = p->gain,
                                  .min_area = p->min_area,
                                  .connectivity = (int)p->connectivity,
                                  .deblend_levels = p->deblending.levels,
                                  .has_contrast = p->deblending.levels > 0,
                                  .deblend_contrast = p->deblending.contrast,
                                  .clean = p->clean || p->sep,
                                  .compat_sep = p->sep,
                                  .apertures = p->apertures.radius,
                                  .aperture_count = p->apertures.count};
    choose_kernel(p, &params);
    return find_filtered(p, d, found, &params);
}

void found_free(struct found *found)
{
    airy_regions_free(found->regions);
    airy_sources_free(found->sources);
    airy_array_destroy(&found->segmentation);
    airy_array_destroy(&found->level);
    airy_array_destroy(&found->noise_map);
}
