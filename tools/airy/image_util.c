#include "image_util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double image_limit(airy_dtype dtype)
{
    if (airy_dtype_is_float(dtype))
        return (double)INFINITY;
    const int bits = 8 * (int)airy_dtype_size(dtype) - (airy_dtype_is_signed(dtype) ? 1 : 0);
    return ldexp(1, bits) - 1;
}

/* Read a file that must hold height x width values. */
static int load(const struct common *common, const char *what, const char *path, size_t height,
                size_t width, airy_image *image)
{
    const airy_status status = airy_image_read(image, path);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    const size_t *shape = image->shape;
    int ndim = image->ndim;
    for (; ndim > 2 && shape[0] == 1; ndim--)
        shape++;
    if (ndim == 2 && shape[0] == height && shape[1] == width)
        return AIRY_EXIT_OK;
    char got[128] = "";
    for (int i = 0; i < image->ndim; i++)
        snprintf(got + strlen(got), sizeof(got) - strlen(got), i ? " x %zu" : "%zu",
                 image->shape[i]);
    airy_image_free(image);
    return tool_fail(
        common, "--%s %s: has %s values, the frames have %zu x %zu; give an image of that shape",
        what, path, got, height, width);
}

int image_load_float(const struct common *common, const char *what, const char *path, size_t height,
                     size_t width, float **data, size_t *odd)
{
    airy_image image = {0};
    const int code = load(common, what, path, height, width, &image);
    if (code != AIRY_EXIT_OK)
        return code;
    const size_t count = height * width;
    float *values = malloc(count * sizeof(*values));
    if (!values) {
        airy_image_free(&image);
        return tool_fail(common, "--%s %s: out of memory for %zu values", what, path, count);
    }
    *odd = 0;
    for (size_t i = 0; i < count; i++) {
        values[i] = (float)airy_image_value(&image, i);
        *odd += !isfinite(values[i]);
    }
    airy_image_free(&image);
    *data = values;
    return AIRY_EXIT_OK;
}

int image_load_mask(const struct common *common, const char *what, const char *path, size_t height,
                    size_t width, uint8_t **mask)
{
    airy_image image = {0};
    const int code = load(common, what, path, height, width, &image);
    if (code != AIRY_EXIT_OK)
        return code;
    const size_t count = height * width;
    uint8_t *bad = malloc(count);
    if (!bad) {
        airy_image_free(&image);
        return tool_fail(common, "--%s %s: out of memory for %zu values", what, path, count);
    }
    for (size_t i = 0; i < count; i++)
        bad[i] = airy_image_value(&image, i) != 0; /* NaN differs from 0, so it is bad */
    airy_image_free(&image);
    *mask = bad;
    return AIRY_EXIT_OK;
}

bool image_is_gap(airy_dtype dtype, double value, bool plain)
{
    const size_t size = airy_dtype_size(dtype);
    if (airy_dtype_is_float(dtype) || size < (plain ? 4 : 2))
        return false;
    if (airy_dtype_is_signed(dtype))
        return !plain && (value == -1 || value == -2);
    return value >= image_limit(dtype) - (size > 2 ? 2 : 1);
}

/* The attribute `units` of FILE::DATASET, which frames are read from. */
static void read_units(struct image_frame *frame, const char *place)
{
    const char *mark = strstr(place, "::");
    char file[4096], object[1100], *text = NULL;
    if (!mark)
        return;
    snprintf(file, sizeof(file), "%.*s", (int)(mark - place), place);
    snprintf(object, sizeof(object), "%.1000s@units", mark + 2);
    if (airy_hdf5_text(&text, file, object) == AIRY_OK)
        snprintf(frame->unit, sizeof(frame->unit), "%s", text);
    free(text);
}

int image_load_frame(const struct common *common, const char *path, size_t number,
                     const char *output, struct image_frame *picture)
{
    airy_image image = {0};
    airy_stack *stack = NULL;
    airy_stack_info info;
    airy_dtype dtype = AIRY_DTYPE_F32;
    uint8_t *mask = NULL;
    const bool plain = airy_image_is_plain(path);
    const void *data = NULL;
    void *owned = NULL;
    airy_status status = plain ? airy_image_read(&image, path)
                               : airy_stack_create(&stack, &path, 1);
    int code = AIRY_EXIT_OK;
    picture->frames = 1;
    if (status == AIRY_OK && plain) {
        if (image.ndim < 2) {
            code = tool_fail(common,
                             "%s: has one dimension of %zu values, expected an image of 2 or more",
                             path, tool_count(image.shape, image.ndim));
            airy_image_free(&image);
            return code;
        }
        picture->height = image.shape[image.ndim - 2];
        picture->width = image.shape[image.ndim - 1];
        picture->frames = tool_count(image.shape, image.ndim - 2);
        dtype = image.dtype;
        if (airy_image_get_card(&image, "BUNIT", picture->unit) != AIRY_OK)
            picture->unit[0] = 0;
        data = (const char *)image.data + (number < picture->frames ? number : 0) *
                                              picture->height * picture->width *
                                              airy_dtype_size(dtype);
    } else if (status == AIRY_OK && (status = airy_stack_get_info(stack, &info)) == AIRY_OK) {
        picture->height = info.height;
        picture->width = info.width;
        picture->frames = info.frames;
        dtype = info.dtype;
        read_units(picture, info.dataset);
        const size_t count = info.height * info.width, size = count * airy_dtype_size(dtype);
        data = owned = malloc(size);
        mask = calloc(count, 1);
        airy_stack_meta meta;
        if (!owned || !mask)
            code = tool_fail(common, "out of memory for a frame of %zu bytes", size);
        else if (number < picture->frames &&
                 (status = airy_stack_read(stack, number, owned, size)) == AIRY_OK &&
                 (status = airy_stack_get_meta(stack, &meta)) == AIRY_OK && meta.has_mask)
            status = airy_stack_mask(stack, mask);
    }
    if (code == AIRY_EXIT_OK && status != AIRY_OK)
        code = tool_failed(common, status);
    if (code == AIRY_EXIT_OK && number >= picture->frames)
        code = tool_fail(common, "--frame %zu: %s has %zu frame%s, numbered from 0", number, path,
                         picture->frames, tool_s(picture->frames));
    if (code == AIRY_EXIT_OK) {
        const size_t count = picture->height * picture->width;
        const airy_image frame = {
            .dtype = dtype, .ndim = 1, .shape = {count}, .data = (void *)data};
        picture->values = malloc(count * sizeof(double));
        for (size_t i = 0; picture->values && i < count; i++) {
            const double v = airy_image_value(&frame, i);
            picture->values[i] = (mask && mask[i]) || image_is_gap(dtype, v, plain) ? (double)NAN
                                                                                    : v;
        }
        if (!picture->values)
            code = tool_fail(common, "out of memory for %zu pixels", count);
    }
    free(owned);
    free(mask);
    airy_image_free(&image);
    if (code == AIRY_EXIT_OK && stack)
        code = tool_keep_stack(common, output, stack);
    airy_stack_destroy(&stack);
    return code;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int image_percentiles(const struct common *common, const double *values, size_t count,
                      bool positive, double limits[2], size_t *good)
{
    const size_t step = count / 1000000 + 1;
    double *sorted = malloc((count / step + 1) * sizeof(double));
    size_t n = 0;
    if (!sorted)
        return tool_fail(common, "out of memory for %zu values", count / step + 1);
    for (size_t i = 0; i < count; i += step)
        if (isfinite(values[i]) && (!positive || values[i] > 0))
            sorted[n++] = values[i];
    qsort(sorted, n, sizeof(double), compare);
    limits[0] = n ? sorted[(size_t)(0.01 * (double)(n - 1))] : 0;
    limits[1] = n ? sorted[(size_t)(0.995 * (double)(n - 1))] : 1;
    free(sorted);
    *good = n;
    return AIRY_EXIT_OK;
}
