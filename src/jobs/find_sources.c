/* The two methods of the job sources. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/background.h"
#include "airy/element.h"
#include "airy/filter.h"
#include "base/memory.h"
#include "jobs/found.h"

/* Pixels above k standard deviations among n of pure Gaussian noise. */
static double expected_false(double k, double n)
{
    return n * erfc(k / sqrt(2)) / 2;
}

static airy_status fail_empty(const struct airy_found *found, bool clipped)
{
    return airy_hinted(
        AIRY_HINT_STATED,
        airy_fail(AIRY_ERR_PARAM, "%s: %s, so there is no noise to measure",
                  airy_job_image_name(&found->d),
                  clipped ? "a clip leaves nothing of its values" : "no pixel is good"));
}

/* What is left out, and the rest with zeros there. */
static airy_status fill_holes(struct airy_job_image *d, const airy_array *flat, airy_array *bad,
                              airy_array *filled)
{
    airy_array *zero = NULL;
    airy_status status =
        airy_array_create(&zero, d->job->device, airy_array_dtype(flat), 2, d->image.shape);
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
static airy_status drop_infinite(struct airy_job_image *d)
{
    airy_array *bad = NULL, *filled = NULL;
    airy_status status =
        airy_array_create_uninitialized(&bad, d->job->device, AIRY_DTYPE_U8, 2, d->image.shape);
    if (status == AIRY_OK)
        status = airy_array_create_uninitialized(&filled, d->job->device, d->image.dtype, 2,
                                                 d->image.shape);
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
static airy_status measure_counts(struct airy_found *found, const airy_clip_result *clip)
{
    struct airy_job_image *d = &found->d;
    const airy_background_params params = {.mesh = {32768, 32768}};
    airy_background *background = NULL;
    airy_background_info info;
    if (clip->clipped == 0 ||
        (!airy_clip_may_be_coarse(&clip->kept) && clip->kept.median != clip->kept.min &&
         clip->kept.median != clip->kept.max))
        return AIRY_OK;
    const airy_status status =
        airy_background_create(&background, d->queue, d->src, NULL, &params, &info);
    airy_background_destroy(&background);
    found->background = status == AIRY_OK ? info.level : found->background;
    found->noise = status == AIRY_OK ? info.noise : found->noise;
    return status;
}

airy_status airy_find_simple(struct airy_found *found)
{
    const struct airy_sources_values *v = found->v;
    struct airy_job_image *d = &found->d;
    airy_clip_result clip;
    AIRY_TRY(airy_clip(d->queue, &clip, d->src, NULL, NULL));
    found->background = clip.kept.median;
    found->noise = clip.kept.count ? clip.kept.std : 0;
    AIRY_TRY(measure_counts(found, &clip));
    if (clip.kept.count == 0 && found->noise == 0)
        return fail_empty(found, clip.clipped > 0);
    airy_job_warn_spread(d);
    found->threshold = v->sigma * found->noise;
    if (!isfinite(found->threshold))
        return airy_job_image_no_spread(d);
    found->expected_false = expected_false(v->sigma, (double)(clip.kept.count + clip.clipped));
    const airy_label_params params = {.connectivity = v->connectivity ? (int)v->connectivity : 4,
                                      .has_above = true,
                                      .above = found->threshold,
                                      .min_count = v->min_area};
    if (clip.kept.infinite > 0)
        AIRY_TRY(drop_infinite(d));
    if (found->has_segmentation)
        AIRY_TRY(airy_array_create_uninitialized(&found->segmentation, d->job->device,
                                                 AIRY_DTYPE_I32, 2, d->image.shape));
    return airy_label(d->queue, found->segmentation, d->src, &params, &found->count,
                      &found->regions);
}

/* SEP's default filter, as SExtractor's default.conv. */
static const double small_kernel[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};

/* A Gaussian up to three standard deviations. */
static airy_status make_gaussian(struct airy_found *found, double fwhm)
{
    const double sigma = fwhm / 2.3548200450309493; /* 2 root(2 ln 2) */
    const int radius = (int)ceil(3 * sigma);
    const size_t side = 2 * (size_t)radius + 1;
    AIRY_TRY(airy_memory_calloc((void **)&found->filter, side * side, sizeof(double), "a filter"));
    for (int y = -radius; y <= radius; y++)
        for (int x = -radius; x <= radius; x++)
            found->filter[(size_t)(y + radius) * side + (size_t)(x + radius)] =
                exp(-(x * x + y * y) / (2 * sigma * sigma));
    found->filter_shape[0] = found->filter_shape[1] = side;
    return AIRY_OK;
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
static airy_status check_range(struct airy_found *found, const airy_sources_params *params)
{
    struct airy_job_image *d = &found->d;
    const char *name = airy_job_image_name(d);
    double gain, noise;
    airy_statistics s;
    measure_filter(params, &gain, &noise);
    AIRY_TRY(airy_statistics_get(d->queue, &s, d->src, d->mask, AIRY_STATISTICS_MOMENTS));
    const double largest = s.count > 0 ? fmax(fabs(s.min), fabs(s.max)) : 0;
    AIRY_FAIL_HINT_IF(largest > (double)FLT_MAX, AIRY_ERR_PARAM, AIRY_HINT_STATED,
                      AIRY_SUBJECT_NONE,
                      "%s: has values up to %g, the full method takes them up to %g; scale the "
                      "image down, mask them, or take method=simple",
                      name, largest, (double)FLT_MAX);
    AIRY_FAIL_HINT_IF(largest * gain > (double)FLT_MAX, AIRY_ERR_PARAM, AIRY_HINT_STATED,
                      AIRY_SUBJECT_NONE,
                      "%s: has values up to %g, times the %g of the kernel, the full method takes "
                      "them up to %g; scale the kernel down",
                      name, largest, gain, (double)FLT_MAX);
    found->expected_false = expected_false(found->v->sigma / noise, (double)s.count);
    if (!airy_job_warn_mask(d, NULL))
        airy_job_warn_gaps(d, &s, 1, sizeof(s));
    return AIRY_OK;
}

/* Background, noise and what is left of the image without the background, on the device. */
static airy_status subtract(struct airy_found *found, airy_array **flat)
{
    const airy_background_params params = {.mesh = {found->mesh[0], found->mesh[1]},
                                           .compat_sep = found->sep};
    struct airy_job_image *d = &found->d;
    airy_background_info info;
    airy_background *background = NULL;
    airy_array **const made[] = {flat, &found->level, &found->noise_map};
    airy_status status =
        airy_background_create(&background, d->queue, d->src, d->mask, &params, &info);
    for (size_t i = 0; i < 3 && status == AIRY_OK; i++)
        status = airy_array_create_uninitialized(made[i], d->job->device, AIRY_DTYPE_F32, 2,
                                                 d->image.shape);
    if (status == AIRY_OK)
        status = airy_background_subtract(d->queue, background, *flat, d->src, found->noise_map);
    if (status == AIRY_OK)
        status = airy_background_map(d->queue, background, found->level, NULL);
    if (status == AIRY_OK) {
        found->background = info.level;
        found->noise = info.noise;
        found->threshold = found->v->sigma * info.noise;
        airy_job_message(found->job, AIRY_LOG_INFO,
                         "background of %zu x %zu meshes, %zu of them filled from others",
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
static airy_status measure_correlation(struct airy_found *found, const airy_array *flat,
                                       const airy_sources_params *params)
{
    struct airy_job_image *d = &found->d;
    const double noise = found->noise;
    const airy_convolve_params same = {.mode = AIRY_CONVOLVE_SAME};
    const airy_background_params mesh = {.mesh = {found->mesh[0], found->mesh[1]}};
    airy_array *bad = NULL, *filled = NULL, *filtered = NULL;
    airy_background *background = NULL;
    airy_background_info info = {.noise = 0};
    airy_status status =
        airy_array_create_uninitialized(&bad, d->job->device, AIRY_DTYPE_U8, 2, d->image.shape);
    if (status == AIRY_OK)
        status = airy_array_create_uninitialized(&filled, d->job->device, AIRY_DTYPE_F32, 2,
                                                 d->image.shape);
    if (status == AIRY_OK)
        status = airy_array_create_uninitialized(&filtered, d->job->device, AIRY_DTYPE_F32, 2,
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
    found->correlation = noise > 0 && info.noise > 0 ? info.noise / (noise * sqrt(squares)) : 1;
    airy_background_destroy(&background);
    airy_array_destroy(&bad);
    airy_array_destroy(&filled);
    airy_array_destroy(&filtered);
    return status;
}

static airy_status refuse_kernel(const struct airy_found *found, const char *why)
{
    const char *path = found->v->kernel.path;
    return airy_hinted(AIRY_HINT_STATED,
                       airy_fail_on(AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s%s%s: %s", "kernel",
                                    path ? " " : "", path ? path : "", why));
}

static airy_status check_kernel(struct airy_found *found, const airy_image *image)
{
    const size_t *shape = found->filter_shape;
    char why[128];
    double sum = 0;
    for (int i = 0; i < 2; i++)
        if (shape[i] % 2 == 0 || shape[i] > AIRY_SOURCES_KERNEL_MAX) {
            snprintf(why, sizeof(why), "has %zu x %zu values, expected odd sides of at most %d",
                     shape[0], shape[1], AIRY_SOURCES_KERNEL_MAX);
            return refuse_kernel(found, why);
        }
    const size_t count = shape[0] * shape[1];
    AIRY_TRY(airy_memory_calloc((void **)&found->filter, count, sizeof(double), "a kernel"));
    for (size_t i = 0; i < count; i++) {
        found->filter[i] = airy_image_value(image, i);
        sum += fabs(found->filter[i]);
        if (!isfinite(found->filter[i])) {
            snprintf(why, sizeof(why), "value %zu of %zu is not finite", i, count);
            return refuse_kernel(found, why);
        }
    }
    if (!(sum > 0) || !isfinite(sum)) {
        snprintf(why, sizeof(why), "the sum of absolute values is %g, expected a number above 0",
                 sum);
        return refuse_kernel(found, why);
    }
    if (found->filter_as_is && fabs(sum - 1) > 1e-6)
        airy_job_message(found->job, AIRY_LOG_WARN,
                         "kernel=%s: NONORM, and its absolute values add up to %.6g: sigma=%g is "
                         "%.6g of a kernel of sum 1",
                         found->v->kernel.path, sum, found->v->sigma, found->v->sigma / sum);
    return AIRY_OK;
}

static airy_status take_kernel(struct airy_found *found, const airy_image *image)
{
    const size_t *shape = image->shape;
    char why[64];
    int ndim = image->ndim;
    for (; ndim > 2 && shape[0] == 1; ndim--)
        shape++;
    if (ndim != 2) {
        snprintf(why, sizeof(why), "has %d dimension%s, expected 2", ndim, ndim == 1 ? "" : "s");
        return refuse_kernel(found, why);
    }
    memcpy(found->filter_shape, shape, sizeof(found->filter_shape));
    return check_kernel(found, image);
}

airy_status airy_find_filter(struct airy_found *found)
{
    const struct airy_sources_values *v = found->v;
    airy_image image = {.data = NULL};
    if (v->matched > 0)
        return make_gaussian(found, v->matched);
    if (!airy_source_is_given(&v->kernel))
        return AIRY_OK;
    /* sep has no NONORM */
    found->filter_as_is = v->kernel.path && !found->sep && airy_image_is_conv(v->kernel.path);
    airy_status status = airy_job_load_real(&image, &v->kernel);
    if (status == AIRY_OK)
        status = take_kernel(found, &image);
    airy_job_unload_image(&image, &v->kernel);
    return status;
}

/* The detection filter. */
static void choose_kernel(const struct airy_found *found, airy_sources_params *params)
{
    const size_t small[2] = {3, 3};
    params->matched = found->v->matched > 0;
    /* without a filter of sep's: with one noise for the image it is a plain one */
    params->kernel = found->filter ? found->filter : found->sep ? small_kernel : NULL;
    memcpy(params->kernel_shape, found->filter ? found->filter_shape : small, sizeof(small));
    params->kernel_as_is = found->filter_as_is;
}

static airy_status find_in_flat(struct airy_found *found, const airy_array *flat,
                                airy_sources_params *params)
{
    struct airy_job_image *d = &found->d;
    if (params->matched && !found->sep)
        AIRY_TRY(measure_correlation(found, flat, params));
    airy_array_destroy(&d->src); /* makes room on a GPU */
    params->sigma *= found->correlation;
    params->background = found->level;
    if ((found->v->global_noise || found->sep) && found->noise > 0)
        params->noise = found->noise;
    else
        params->noise_map = found->noise_map;
    if (found->has_segmentation)
        AIRY_TRY(airy_array_create_uninitialized(&found->segmentation, d->job->device,
                                                 AIRY_DTYPE_U32, 2, d->image.shape));
    return airy_sources_find(d->queue, &found->sources, &found->count, found->segmentation, flat,
                             params);
}

airy_status airy_find_full(struct airy_found *found)
{
    const struct airy_sources_values *v = found->v;
    airy_sources_params params = {.sigma = v->sigma,
                                  .mask = found->d.mask,
                                  .gain = v->gain,
                                  .min_area = v->min_area,
                                  .connectivity = (int)v->connectivity,
                                  .deblend_levels = v->deblending.levels,
                                  .has_contrast = v->deblending.levels > 0,
                                  .deblend_contrast = v->deblending.contrast,
                                  .clean = v->clean || found->sep,
                                  .compat_sep = found->sep,
                                  .apertures = v->apertures.values,
                                  .aperture_count = (int)v->apertures.count};
    airy_array *flat = NULL;
    choose_kernel(found, &params);
    found->correlation = 1;
    AIRY_TRY(check_range(found, &params));
    airy_status status = subtract(found, &flat);
    if (status == AIRY_OK)
        status = find_in_flat(found, flat, &params);
    airy_array_destroy(&flat);
    return status;
}

void airy_found_free(struct airy_found *found)
{
    airy_regions_free(found->regions);
    airy_sources_free(found->sources);
    airy_array_destroy(&found->segmentation);
    airy_array_destroy(&found->level);
    airy_array_destroy(&found->noise_map);
    free(found->filter);
}
