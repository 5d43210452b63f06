/* Masks and corrections of the pixels of a stack. */
#include "airy/pixels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"

struct load {
    airy_pixels *to;
    const airy_pixel_params *params;
    size_t height, width;
};

static bool is_given(const airy_pixel_source *source)
{
    return source->path || source->image;
}

airy_status airy_pixels_check(const airy_pixel_params *params)
{
    AIRY_FAIL_ON_IF(is_given(&params->mask) && is_given(&params->mask_only), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s and mask-only: give one of them", "mask");
    return AIRY_OK;
}

/* It must be a frame, also with axes of length 1 in front. */
static airy_status check_shape(const struct load *l, const char *name, const char *path,
                               const airy_image *image)
{
    const size_t *shape = image->shape;
    int ndim = image->ndim;
    char got[AIRY_SHAPE_TEXT];
    for (; ndim > 2 && shape[0] == 1; ndim--)
        shape++;
    if (ndim == 2 && shape[0] == l->height && shape[1] == l->width)
        return AIRY_OK;
    return airy_hinted(AIRY_HINT_STATED,
                       airy_fail_on(AIRY_ERR_SHAPE, AIRY_SUBJECT_PARAMETER,
                                    "%s%s%.500s: has %s values, the frames have %zu x %zu; give an "
                                    "image of that shape",
                                    name, path ? " " : "", path ? path : "",
                                    airy_shape_text(got, image->shape, image->ndim), l->height,
                                    l->width));
}

/* The image, which is *own where it was read. */
static airy_status read_source(const struct load *l, const char *name,
                               const airy_pixel_source *source, airy_image *own,
                               const airy_image **image)
{
    *own = (airy_image){.ndim = 0};
    *image = source->path ? own : source->image;
    if (source->path)
        AIRY_TRY(airy_image_read_real(own, source->path));
    return check_shape(l, name, source->path, *image);
}

/* ---- masks ---- */

/* Add a mask; *count: its pixels that are bad. NaN differs from 0, so it is bad. */
static airy_status add_mask(const struct load *l, const char *name, const airy_pixel_source *source,
                            size_t *count)
{
    airy_image own;
    const airy_image *image;
    if (!is_given(source))
        return AIRY_OK;
    const airy_status status = read_source(l, name, source, &own, &image);
    for (size_t i = 0; status == AIRY_OK && i < l->height * l->width; i++) {
        const bool bad = airy_image_value(image, i) != 0;
        *count += bad;
        l->to->mask[i] |= bad;
    }
    airy_image_free(&own);
    return status;
}

static size_t count_bad(const uint8_t *mask, size_t count)
{
    size_t bad = 0;
    for (size_t i = 0; i < count; i++)
        bad += mask[i] != 0;
    return bad;
}

static airy_status load_masks(const struct load *l, const airy_detector *detector)
{
    const airy_pixel_params *p = l->params;
    const size_t count = l->height * l->width;
    airy_pixels *to = l->to;
    AIRY_TRY(airy_memory_calloc((void **)&to->mask, count, 1, "a mask"));
    if (is_given(&p->mask_only))
        return add_mask(l, "mask-only", &p->mask_only, &to->masked[2]);
    AIRY_TRY(airy_detector_mask(detector, to->mask));
    to->masked[0] = count_bad(to->mask, count);
    to->masked[1] = p->file_mask ? count_bad(p->file_mask, count) : 0;
    for (size_t i = 0; p->file_mask && i < count; i++)
        to->mask[i] |= p->file_mask[i];
    return add_mask(l, "mask", &p->mask, &to->masked[2]);
}

/* ---- corrections ---- */

/* Values that no pixel can be corrected with, by kind. */
enum { NOT_FINITE, ZERO, NEGATIVE, KINDS };
static const char *const kind_words[KINDS] = {"not finite", "0", "below 0"};

/* The kind of a value; KINDS: none, it is of use. */
static int kind_of(float value, bool factor, bool positive)
{
    if (!isfinite(value))
        return NOT_FINITE;
    return factor && value == 0 ? ZERO : positive && value < 0 ? NEGATIVE : KINDS;
}

/* Mask the pixels that a correction leaves out; masked ones do not count. */
static void mask_odd(size_t odd[KINDS], const struct load *l, const float *data, bool factor,
                     bool positive)
{
    for (size_t i = 0; i < l->height * l->width; i++) {
        const int kind = l->to->mask[i] ? KINDS : kind_of(data[i], factor, positive);
        if (kind == KINDS)
            continue;
        odd[kind]++;
        l->to->mask[i] = 1;
    }
}

static void report_odd(const struct load *l, const char *name, const char *path,
                       const size_t odd[KINDS])
{
    size_t all = 0, used = 0;
    char why[128] = "", text[768];
    for (int k = 0; k < KINDS; k++) {
        all += odd[k];
        if (odd[k])
            used += (size_t)snprintf(why + used, sizeof(why) - used, "%s%zu %s %s",
                                     used ? ", " : "", odd[k], odd[k] == 1 ? "is" : "are",
                                     kind_words[k]);
    }
    if (!all || !l->params->message)
        return;
    snprintf(text, sizeof(text), "%s=%.500s: %zu of %zu pixels %s left out: %s", name,
             path ? path : "ARRAY", all, l->height * l->width, all == 1 ? "is" : "are", why);
    l->params->message(l->params->user, AIRY_LOG_WARN, text);
}

/* factor: pixels are divided by it; positive: a value below 0 makes no sense. */
static airy_status load_correction(const struct load *l, const char *name,
                                   const airy_pixel_source *source, bool factor, bool positive,
                                   float **data)
{
    size_t odd[KINDS] = {0};
    airy_image own = {.ndim = 0};
    const airy_image *image;
    if (!is_given(source))
        return AIRY_OK;
    airy_status status = read_source(l, name, source, &own, &image);
    if (status == AIRY_OK)
        status = airy_memory_calloc((void **)data, l->height * l->width, sizeof(float), name);
    for (size_t i = 0; status == AIRY_OK && i < l->height * l->width; i++)
        (*data)[i] = (float)airy_image_value(image, i);
    airy_image_free(&own);
    AIRY_TRY(status);
    mask_odd(odd, l, *data, factor, positive);
    report_odd(l, name, source->path, odd);
    return AIRY_OK;
}

airy_status airy_pixels_load(airy_pixels *pixels, const airy_pixel_params *params,
                             const airy_detector *detector, size_t height, size_t width)
{
    AIRY_FAIL_IF(!pixels || !params || !detector, AIRY_ERR_PARAM,
                 "airy_pixels_load: an argument is NULL");
    const struct load l = {pixels, params, height, width};
    const bool positive = !params->keep_negative;
    *pixels = (airy_pixels){.mask = NULL};
    AIRY_TRY(load_masks(&l, detector));
    AIRY_TRY(load_correction(&l, "dark", &params->dark, false, false, &pixels->dark));
    AIRY_TRY(load_correction(&l, "flat", &params->flat, true, positive, &pixels->flat));
    AIRY_TRY(load_correction(&l, "absorption", &params->absorption, true, positive,
                             &pixels->absorption));
    return load_correction(&l, "variance", &params->variance, false, positive, &pixels->variance);
}

void airy_pixels_free(airy_pixels *pixels)
{
    if (!pixels)
        return;
    free(pixels->mask);
    free(pixels->dark);
    free(pixels->flat);
    free(pixels->absorption);
    free(pixels->variance);
    *pixels = (airy_pixels){.mask = NULL};
}

airy_status airy_pixels_apply(airy_integrator_params *p, const airy_pixels *pixels,
                              const airy_stack_meta *meta, airy_dtype dtype)
{
    /* All pixels of an unsigned type are saturated from 0 on. */
    AIRY_FAIL_ON_IF(
        p->has_saturation && !(p->saturation > 0) && !airy_dtype_is_signed(dtype),
        AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_PARAMETER,
        "%s %g: pixels are %s, so that all of them would be saturated; expected a value "
        "above 0",
        "saturation", p->saturation, airy_dtype_name(dtype));
    AIRY_FAIL_ON_IF(p->mask_saturated && airy_dtype_is_float(dtype) && !p->has_saturation &&
                        !meta->has_saturation,
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s: pixels are %s and the file has no saturation; give saturation=V",
                    "mask-saturated", airy_dtype_name(dtype));
    p->mask = pixels->mask;
    p->dark = pixels->dark;
    p->flat = pixels->flat;
    p->absorption = pixels->absorption;
    p->variance = pixels->variance;
    if (pixels->variance)
        p->error_model = AIRY_ERROR_MODEL_VARIANCE;
    if (!p->has_saturation && meta->has_saturation) {
        p->has_saturation = true;
        p->saturation = meta->saturation;
    }
    if (!p->has_dummy && meta->has_dummy) {
        p->has_dummy = true;
        p->dummy = meta->dummy;
        p->delta_dummy = meta->delta_dummy;
    }
    return AIRY_OK;
}
