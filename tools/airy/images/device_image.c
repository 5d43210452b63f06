#include "airy/gaps.h"
#include "images/device_image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/comparison.h"
#include "cli/stack_opt.h"

/* What a mask says of each pixel of the image, of its shape or of one frame for all. */
static int fill_from_mask(uint8_t *bad, const struct device_image *d, const struct common *common,
                          const char *path)
{
    airy_image mask = {0};
    airy_status status = airy_image_read_real(&mask, path);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    int code = AIRY_EXIT_OK;
    const size_t all = tool_count(d->image.shape, d->image.ndim);
    int skip = 0, frames = 0; /* a mask with axes of length 1 in front, or of each frame */
    while (mask.ndim - skip > (d->image.ndim < 2 ? d->image.ndim : 2) && mask.shape[skip] == 1)
        skip++;
    while (mask.ndim - skip >= 2 && mask.ndim - skip < d->image.ndim - frames)
        frames++;
    const size_t count = tool_count(mask.shape, mask.ndim);
    if (mask.ndim - skip != d->image.ndim - frames ||
        memcmp(mask.shape + skip, d->image.shape + frames,
               (size_t)(mask.ndim - skip) * sizeof(size_t)) != 0)
        code = image_refuse_mask(common, path, &mask, &d->image);
    for (size_t i = 0; i < all && code == AIRY_EXIT_OK; i++) /* NaN differs from 0, so it is bad */
        bad[i] = i < count ? airy_image_value(&mask, i) != 0 : bad[i - count];
    airy_image_free(&mask);
    return code;
}

static int device_image_find_bad(uint8_t **is_bad, const struct device_image *d,
                                 const struct common *common, const struct bad_pixels *bad)
{
    const size_t all = tool_count(d->image.shape, d->image.ndim);
    if (!bad || (!bad->mask && !bad->has_dummy))
        return AIRY_EXIT_OK;
    *is_bad = calloc(all, 1);
    if (!*is_bad)
        return tool_fail(common, "out of memory for a mask of %zu values", all);
    const int code = bad->mask ? fill_from_mask(*is_bad, d, common, bad->mask) : AIRY_EXIT_OK;
    if (code == AIRY_EXIT_OK)
        bad_pixels_say_none(common, bad, d->image.dtype,
                            bad_pixels_mark(*is_bad, bad, &d->image, all));
    return code;
}

/* Radio images carry axes of length 1 (frequency, Stokes) in front of their two. */
static void drop_axes(struct device_image *d)
{
    airy_image *image = &d->image;
    while (image->header && image->ndim > 2 && image->shape[0] == 1) {
        image->ndim--;
        memmove(image->shape, image->shape + 1, (size_t)image->ndim * sizeof(size_t));
        d->dropped++;
    }
}

/* Axes that an image of so many gets back. */
static int axes_back(const struct device_image *d, int ndim)
{
    return ndim + d->dropped <= AIRY_MAX_DIMS ? d->dropped : 0;
}

/* The axes as they were, and the source's header where the pixels are still the same ones. */
static airy_status restore_axes(const struct device_image *d, airy_image *image)
{
    const bool same = image->ndim == d->image.ndim &&
                      memcmp(image->shape, d->image.shape, (size_t)image->ndim * sizeof(size_t)) ==
                          0;
    const int back = axes_back(d, image->ndim);
    memmove(image->shape + back, image->shape, (size_t)image->ndim * sizeof(size_t));
    for (int i = 0; i < back; i++)
        image->shape[i] = 1;
    image->ndim += back;
    return same && d->image.header ? airy_image_copy_header(image, &d->image) : AIRY_OK;
}

static int device_image_open_queue(struct device_image *d, const struct common *common)
{
    airy_status status = tool_device(common, &d->device);
    if (status == AIRY_OK)
        status = airy_queue_create(&d->queue, d->device);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

void device_image_begin(const struct device_image *d, const struct common *common)
{
    tool_say_device(common, d->device);
    compare_begin(common, d->queue);
}

static int read_image(struct device_image *d, const struct common *common, const char *path)
{
    *d = (struct device_image){.device = NULL};
    const airy_status status = stack_read_image(&d->image, common, path);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    image_say_odd_cards(common, path, &d->image);
    drop_axes(d);
    return AIRY_EXIT_OK;
}

static void put_number(void *data, airy_dtype dtype, size_t i, double value)
{
    if (dtype == AIRY_DTYPE_F32)
        ((float *)data)[i] = (float)value;
    else
        ((double *)data)[i] = value;
}

/* Bad pixels become NaN, in place where the image has floats. */
static int put_nan(struct device_image *d, const struct common *common, airy_dtype dtype)
{
    airy_image *image = &d->image;
    const size_t count = tool_count(image->shape, image->ndim);
    if (!airy_dtype_is_float(image->dtype)) {
        void *data = calloc(count, airy_dtype_size(dtype));
        if (!data)
            return tool_fail(common, "out of memory for %zu numbers", count);
        for (size_t i = 0; i < count; i++)
            put_number(data, dtype, i, airy_image_value(image, i));
        free(image->data);
        image->data = data;
        image->dtype = dtype;
    }
    for (size_t i = 0; i < count; i++)
        if (d->is_bad[i])
            put_number(image->data, image->dtype, i, (double)NAN);
    free(d->is_bad);
    d->is_bad = NULL;
    return AIRY_EXIT_OK;
}

int device_image_open_host(struct device_image *d, const struct common *common, const char *path,
                           const struct bad_pixels *bad, airy_dtype dtype)
{
    int code = read_image(d, common, path);
    if (code == AIRY_EXIT_OK)
        code = device_image_find_bad(&d->is_bad, d, common, bad);
    if (code == AIRY_EXIT_OK && d->is_bad)
        code = put_nan(d, common, dtype);
    if (code == AIRY_EXIT_OK)
        code = device_image_open_queue(d, common);
    return code;
}

int device_image_check_format(const struct device_image *d, const struct common *common,
                              const char *output, airy_dtype dtype)
{
    const int ndim = d->image.ndim;
    return tool_check_format(common, output, dtype, ndim + axes_back(d, ndim));
}

int device_image_save(const struct device_image *d, const struct common *common, airy_image *result,
                      const char *output)
{
    compare_end(common);
    airy_status status = restore_axes(d, result);
    if (status == AIRY_OK && d->image.header && !result->header && tool_has_suffix(output, ".fits"))
        tool_say(common, /* of airy convolve alone */
                 "%s has another shape than the image, so that its header and coordinates are left "
                 "out; --mode same keeps them",
                 output);
    if (status == AIRY_OK)
        status = airy_image_write(result, output, common->force);
    airy_image_free(result);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
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
static const char *leaves_out(const struct common *common)
{
    return opt_has(common->command, "normalize") ? " --normalize" : "";
}

/* How the values are taken, and which options leave them out. */
static void say_gap(const struct common *common, airy_dtype dtype, double value, const char *how)
{
    const bool is_signed = airy_dtype_is_signed(dtype);
    char found_text[32], dummy_text[32];
    tool_say(common, "%s: values of %s are %s, %s; --dummy=%s --delta-dummy %d%s leaves them out",
             common->inputs.items[0], whole_text(found_text, value), how, airy_gap_writers(dtype),
             whole_text(dummy_text, is_signed ? -2 : airy_dtype_largest(dtype)),
             is_signed || airy_dtype_size(dtype) == 2 ? 1 : 2, leaves_out(common));
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
    const size_t count = tool_count(image->shape, image->ndim);
    return finders[image->dtype] && count ? finders[image->dtype](image->data, count) : (double)NAN;
}

bool device_image_say_values(const struct device_image *d, const struct common *common,
                             const struct bad_pixels *bad, double above)
{
    const double value = bad->mask || bad->has_dummy ? (double)NAN : find_extreme(&d->image);
    const bool gap = value > above && airy_gap_is(d->image.dtype, value, false);
    if (gap)
        say_gap(common, d->image.dtype, value, "taken as they are");
    return gap;
}

void device_image_say_spread(const struct device_image *d, const struct common *common,
                             const char *path)
{
    const double value = find_extreme(&d->image);
    char text[32];
    if (airy_gap_is(d->image.dtype, value, false))
        tool_say(common,
                 "%s: values of %s are taken as they are, %s; replace them first, by 0 or by what "
                 "lies around them",
                 path, whole_text(text, value), airy_gap_writers(d->image.dtype));
}

static size_t count_nan(const airy_image *image)
{
    const size_t count = tool_count(image->shape, image->ndim);
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
void device_image_say_nan(const struct device_image *d, const struct common *common,
                          const airy_image *result, const char *output, const char *advice)
{
    const size_t before = count_nan(&d->image), now = count_nan(result),
                 pixels = tool_count(result->shape, result->ndim),
                 all = tool_count(d->image.shape, d->image.ndim);
    if (now && !advice)
        tool_say(common,
                 "%s: %zu pixel%s NaN, where good ones have next to no weight in the kernel",
                 output, now, now > 1 ? "s are" : " is");
    else if ((double)now * (double)all > (double)before * (double)pixels)
        tool_say(common, "%s: %zu of %zu pixel%s %s NaN, of the image %zu of %zu; %s", output, now,
                 pixels, tool_s(pixels), now > 1 ? "are" : "is", before, all, advice);
}

bool device_image_say_mask(const struct common *common, const struct bad_pixels *given,
                           const airy_stack *opened)
{
    const char *input = common->inputs.items[0];
    airy_stack *stack = NULL;
    airy_stack_info info;
    airy_stack_meta meta;
    uint8_t *bad = NULL;
    size_t count = 0;
    const bool looks = !given->mask && !given->has_dummy && !airy_image_is_plain(input) &&
                       !tool_has_suffix(input, "mask");
    if (looks && !opened && stack_open_header(&stack, common, input) == AIRY_OK)
        opened = stack;
    if (looks && opened && airy_stack_get_info(opened, &info) == AIRY_OK &&
        airy_stack_get_meta(opened, &meta) == AIRY_OK && meta.has_mask)
        bad = malloc(info.height * info.width);
    const bool read = bad && airy_stack_mask(opened, bad) == AIRY_OK;
    if (bad && !read)
        tool_say(common, "%s; all pixels are taken as values", airy_last_error());
    if (read) {
        for (size_t i = 0; i < info.height * info.width; i++)
            count += bad[i] != 0;
        if (count)
            tool_say(common,
                     "%s marks %zu pixel%s of a frame as bad, which are taken as values here; "
                     "--mask%s leaves them out",
                     input, count, tool_s(count), leaves_out(common));
    }
    free(bad);
    airy_stack_destroy(&stack);
    return count > 0;
}

void device_image_close(struct device_image *d)
{
    airy_queue_destroy(&d->queue);
    airy_device_destroy(&d->device);
    airy_image_free(&d->image);
    free(d->is_bad);
}

json_t *json_shape(const size_t *shape, int ndim)
{
    json_t *list = json_array();
    for (int i = 0; i < ndim; i++)
        json_array_append_new(list, json_integer((json_int_t)shape[i]));
    return list;
}
