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
