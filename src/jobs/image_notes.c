/* Warnings about the values of images, and numbers in JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/provenance.h"
#include "airy/gaps.h"
#include "base/word.h"
#include "jobs/image_group.h"

bool airy_cards_text(char text[AIRY_CARDS_TEXT], const char *name, const airy_image *image)
{
    char first[AIRY_CARD_VALUE], more[64] = "";
    const size_t count = airy_image_odd_cards(image, first);
    if (count > 1)
        snprintf(more, sizeof(more), " (%zu such cards in all)", count);
    if (count)
        snprintf(text, AIRY_CARDS_TEXT,
                 "%.512s: header %s, which FITS does not allow%s; cards are kept as they are, and "
                 "control characters in them are read as blanks",
                 name, first, more);
    return count > 0;
}

void airy_job_warn_cards(const struct airy_job_image *d, const airy_image *image)
{
    char text[AIRY_CARDS_TEXT];
    if (airy_cards_text(text, airy_job_image_name(d), image))
        airy_job_message(d->job, AIRY_LOG_WARN, "%s", text);
}

bool airy_job_can_be_dummy(const struct airy_bad_values *bad, airy_dtype dtype)
{
    if (airy_dtype_is_float(dtype))
        return true;
    const double limit = airy_dtype_largest(dtype),
                 least = airy_dtype_is_signed(dtype) ? -limit - 1 : 0,
                 from = fmax(ceil(bad->dummy - bad->delta_dummy), least),
                 to = fmin(floor(bad->dummy + bad->delta_dummy), limit);
    return isfinite(bad->dummy) && from <= to;
}

void airy_job_warn_dummy(const struct airy_job_image *d, airy_dtype dtype, size_t count)
{
    const struct airy_bad_values *bad = d->bad;
    char within[48] = "", why[48] = "none has such a value";
    if (count || !bad || !airy_job_is_set(d->job, "dummy"))
        return;
    if (bad->delta_dummy > 0)
        snprintf(within, sizeof(within), " delta-dummy=%.15g", bad->delta_dummy);
    if (!airy_job_can_be_dummy(bad, dtype))
        snprintf(why, sizeof(why), "%s has no such value", airy_dtype_name(dtype));
    airy_job_message(d->job, AIRY_LOG_WARN, "dummy=%.15g%s leaves out no pixel: %s", bad->dummy,
                     within, why);
}

/* A whole number in digits; the largest of 64 bits is one more as f64. */
static const char *whole_text(char text[32], double value)
{
    if (value >= 0x1p64)
        snprintf(text, 32, "%llu", (unsigned long long)UINT64_MAX);
    else
        snprintf(text, 32, "%.0f", value);
    return text;
}

/* What bad pixels need besides to be left out. */
static const char *leaves_out(const struct airy_job_image *d)
{
    return airy_job_has(d->job, "normalize") ? " normalize=on" : "";
}

/* How the values are taken, and which parameters leave them out. */
static void warn_gap(const struct airy_job_image *d, double value, const char *how)
{
    const airy_dtype dtype = d->image.dtype;
    const bool is_signed = airy_dtype_is_signed(dtype);
    char found_text[32], dummy_text[32];
    airy_job_message(d->job, AIRY_LOG_WARN,
                     "%s: values of %s are %s, %s; dummy=%s delta-dummy=%d%s leaves them out",
                     airy_job_image_name(d), whole_text(found_text, value), how,
                     airy_gap_writers(dtype),
                     whole_text(dummy_text, is_signed ? -2 : airy_dtype_largest(dtype)),
                     is_signed || airy_dtype_size(dtype) == 2 ? 1 : 2, leaves_out(d));
}

void airy_job_warn_gaps(const struct airy_job_image *d, const airy_statistics *found, size_t count,
                        size_t stride)
{
    const airy_dtype dtype = d->image.dtype;
    double value = (double)NAN;
    for (size_t i = 0; i < count; i++) {
        const airy_statistics *s = (const void *)((const char *)found + i * stride);
        value = airy_dtype_is_signed(dtype) ? fmin(value, s->min) : fmax(value, s->max);
    }
    if (!airy_job_image_finds_bad(d) && airy_gap_is(dtype, value, false))
        warn_gap(d, value, "counted");
}

#define EXTREME(name, type, op)                                                                    \
    static double name(const void *data, size_t count)                                             \
    {                                                                                              \
        const type *v = data;                                                                      \
        type extreme = v[0];                                                                       \
        for (size_t i = 1; i < count; i++)                                                         \
            extreme = v[i] op extreme ? v[i] : extreme;                                            \
        return (double)extreme;                                                                    \
    }
EXTREME(largest_u16, uint16_t, >)
EXTREME(largest_u32, uint32_t, >)
EXTREME(largest_u64, uint64_t, >)
EXTREME(least_i16, int16_t, <)
EXTREME(least_i32, int32_t, <)
EXTREME(least_i64, int64_t, <)

/* The least of signed values or the largest of others, of 16 bits and more; NaN: of other types. */
static double find_extreme(const airy_image *image)
{
    static double (*const finders[AIRY_DTYPE_COUNT])(const void *data, size_t count) = {
        [AIRY_DTYPE_U16] = largest_u16, [AIRY_DTYPE_U32] = largest_u32,
        [AIRY_DTYPE_U64] = largest_u64, [AIRY_DTYPE_I16] = least_i16,
        [AIRY_DTYPE_I32] = least_i32,   [AIRY_DTYPE_I64] = least_i64};
    const size_t count = airy_shape_count(image->shape, image->ndim);
    return finders[image->dtype] && count ? finders[image->dtype](image->data, count) : (double)NAN;
}

bool airy_job_warn_values(const struct airy_job_image *d, double above)
{
    const double value = airy_job_image_finds_bad(d) ? (double)NAN : find_extreme(&d->image);
    const bool gap = value > above && airy_gap_is(d->image.dtype, value, false);
    if (gap)
        warn_gap(d, value, "taken as they are");
    return gap;
}

void airy_job_warn_spread(const struct airy_job_image *d)
{
    const double value = find_extreme(&d->image);
    char text[32];
    if (airy_gap_is(d->image.dtype, value, false))
        airy_job_message(d->job, AIRY_LOG_WARN,
                         "%s: values of %s are taken as they are, %s; replace them first, by 0 or "
                         "by what lies around them",
                         airy_job_image_name(d), whole_text(text, value),
                         airy_gap_writers(d->image.dtype));
}

static size_t count_nan(const airy_image *image)
{
    const size_t count = airy_shape_count(image->shape, image->ndim);
    const float *single = image->data;
    const double *wide = image->data;
    size_t nan = 0;
    for (size_t i = 0; i < count && image->dtype == AIRY_DTYPE_F32; i++)
        nan += isnan(single[i]) != 0;
    for (size_t i = 0; i < count && image->dtype == AIRY_DTYPE_F64; i++)
        nan += isnan(wide[i]) != 0;
    return nan;
}

/* Shares of pixels, as a result may have fewer or more of them than the image. */
void airy_job_warn_nan(const struct airy_job_image *d, const airy_image *result, const char *output,
                       const char *advice)
{
    const size_t before = count_nan(&d->image), now = count_nan(result),
                 pixels = airy_shape_count(result->shape, result->ndim),
                 all = airy_shape_count(d->image.shape, d->image.ndim);
    const char *name = output ? output : "the result";
    if (now && !advice)
        airy_job_message(
            d->job, AIRY_LOG_WARN,
            "%s: %zu pixel%s NaN, where good ones have next to no weight in the kernel", name, now,
            now > 1 ? "s are" : " is");
    else if ((double)now * (double)all > (double)before * (double)pixels)
        airy_job_message(
            d->job, AIRY_LOG_WARN, "%s: %zu of %zu pixel%s %s NaN, of the image %zu of %zu; %s",
            name, now, pixels, pixels == 1 ? "" : "s", now > 1 ? "are" : "is", before, all, advice);
}

/* The input is a mask by its name, such as .../pixel_mask, which marks no pixels of itself. */
static bool is_mask_name(const char *path)
{
    return airy_has_suffix(path, "mask");
}

/* Pixels that a stack marks. */
static size_t count_marked(const struct airy_job_image *d, const airy_stack *stack)
{
    airy_stack_info info;
    airy_stack_meta meta;
    size_t count = 0;
    if (airy_stack_get_info(stack, &info) != AIRY_OK ||
        airy_stack_get_meta(stack, &meta) != AIRY_OK || !meta.has_mask)
        return 0;
    uint8_t *bad = malloc(info.height * info.width);
    const bool read = bad && airy_stack_mask(stack, bad) == AIRY_OK;
    if (bad && !read)
        airy_job_message(d->job, AIRY_LOG_WARN, "%s; all pixels are taken as values",
                         airy_last_error());
    for (size_t i = 0; read && i < info.height * info.width; i++)
        count += bad[i] != 0;
    free(bad);
    return count;
}

bool airy_job_warn_mask(const struct airy_job_image *d, const airy_stack *opened)
{
    const char *path = d->from->image.path;
    airy_stack *stack = NULL;
    if (!path || airy_job_image_finds_bad(d) || airy_image_is_plain(path) || is_mask_name(path))
        return false;
    if (!opened && airy_job_image_open_stack(&stack, d, false) == AIRY_OK)
        opened = stack;
    const size_t count = opened ? count_marked(d, opened) : 0;
    airy_stack_destroy(&stack);
    if (count)
        airy_job_message(d->job, AIRY_LOG_WARN,
                         "%s marks %zu pixel%s of a frame as bad, which are taken as values here; "
                         "mask=FILE%s leaves them out",
                         path, count, count == 1 ? "" : "s", leaves_out(d));
    return count > 0;
}

bool airy_clip_may_be_coarse(const airy_statistics *kept)
{
    return kept->count == 0 || kept->min == kept->max ||
           (kept->std < 2 && kept->median == floor(kept->median) && kept->min == floor(kept->min) &&
            kept->max == floor(kept->max));
}

airy_status airy_job_image_no_spread(const struct airy_job_image *d)
{
    return airy_hinted(AIRY_HINT_STATED,
                       airy_fail(AIRY_ERR_PARAM,
                                 "%s: the standard deviation is not finite, for the squares of its "
                                 "values are too large; scale the image down",
                                 airy_job_image_name(d)));
}

json_t *airy_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *airy_json_text(const char *text)
{
    char *utf8 = NULL;
    json_t *json = airy_utf8_copy(&utf8, text) == AIRY_OK ? json_string(utf8) : NULL;
    free(utf8);
    return json;
}

json_t *airy_json_unsigned(uint64_t value)
{
    char digits[24];
    if (value <= INT64_MAX)
        return json_integer((json_int_t)value);
    snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
    return json_string(digits);
}

json_t *airy_statistics_json(const airy_statistics *s)
{
    return json_pack("{s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "count", (json_int_t)s->count,
                     "nan", (json_int_t)s->nan + (json_int_t)s->infinite, "masked",
                     (json_int_t)s->masked, "min", airy_json_real(s->min), "max",
                     airy_json_real(s->max), "sum", airy_json_real(s->sum), "mean",
                     airy_json_real(s->mean), "median", airy_json_real(s->median), "std",
                     airy_json_real(s->std));
}
