#include "images/filter_opt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/comparison.h"

const char *filter_parse_border(void *field, const char *text)
{
    airy_convolve_params *p = field;
    if (strncmp(text, "value=", 6) == 0 && !opt_any_number(&p->border_value, text + 6)) {
        p->border = AIRY_BORDER_VALUE;
        return NULL;
    }
    if (strncmp(text, "value", 5) == 0)
        return "expected value=V with a number V";
    const char *words[AIRY_BORDER_COUNT + 1] = {NULL};
    for (int b = 0; b < AIRY_BORDER_COUNT; b++)
        words[b] = b == AIRY_BORDER_VALUE ? "value=V" : airy_border_name((airy_border)b);
    int border = 0;
    const char *expected = opt_word(text, words, &border);
    p->border = (airy_border)border;
    return expected;
}

int filter_result_dtype(const struct common *common, const char *text, airy_dtype from,
                        airy_dtype *dtype)
{
    *dtype = from == AIRY_DTYPE_F64 ? AIRY_DTYPE_F64 : AIRY_DTYPE_F32;
    if (!text)
        return AIRY_EXIT_OK;
    static const char *const words[] = {"float32", "float64", NULL};
    const char *expected = opt_dtype(dtype, text, words);
    return expected ? tool_usage(common, "--dtype %s: %s", text, expected) : AIRY_EXIT_OK;
}

int filter_numbers(const struct common *common, const char *name, const char *text,
                   double numbers[3], int *count)
{
    *count = (int)opt_numbers(text, numbers, 3);
    bool good = *count > 0;
    for (int i = 0; i < *count; i++)
        good &= numbers[i] >= 0;
    return good ? AIRY_EXIT_OK
                : tool_usage(common, "--%s %s: expected 1 to 3 numbers of at least 0, as S,S,S",
                             name, text);
}

int filter_axes(const struct common *common, const char *name, const char *text, int count,
                int ndim, int *axes)
{
    static const char *const expected[] = {"1 number", "1 or 2 numbers", "1 to 3 numbers",
                                           "1 or 3 numbers"};
    const int most = ndim < 3 ? ndim : 3;
    *axes = count == 1 ? most : count;
    if (*axes > most || *axes < ndim - 1)
        return tool_usage(common, "--%s %s: expected %s for an image of %d dimension%s", name, text,
                          expected[(ndim < 4 ? ndim : 4) - 1], ndim, tool_s(ndim));
    return AIRY_EXIT_OK;
}

int filter_check(const struct common *common, const char *output, const char *dtype, bool plan)
{
    airy_dtype of_result;
    if (!output && !plan)
        return tool_usage(common, "-o OUT is missing");
    return filter_result_dtype(common, dtype, AIRY_DTYPE_F32, &of_result);
}

int filter_check_reach(const struct common *common, const char *name, const char *text,
                       const double *sigma, int count, double truncate)
{
    for (int i = 0; i < count; i++) {
        const double reach = floor((truncate > 0 ? truncate : 4) * sigma[i] + 0.5);
        if (reach > AIRY_BLUR_RADIUS_MAX)
            return tool_usage(
                common,
                "--%s %s: a sigma of %g needs a radius of %g px, expected at most %d; "
                "lower --truncate, or blur more than once, by sigmas whose squares "
                "add up",
                name, text, sigma[i], reach, AIRY_BLUR_RADIUS_MAX);
    }
    return AIRY_EXIT_OK;
}

int filter_save(const struct device_image *d, const struct common *common, airy_image *result,
                const char *output, const char *advice)
{
    compare_end(common);
    device_image_say_nan(d, common, result, output, advice);
    return device_image_save(d, common, result, output);
}

/* "3 x 4" */
static void print_shape(char text[96], const size_t *shape, int ndim)
{
    size_t used = 0;
    for (int i = 0; i < ndim && used < 96; i++)
        used += (size_t)snprintf(text + used, 96 - used, i ? " x %zu" : "%zu", shape[i]);
}

void filter_report_plan(const struct common *common, const airy_tile_plan *plan, bool only,
                        json_t *json)
{
    char tile[96], all[96];
    print_shape(tile, plan->tile, plan->ndim);
    print_shape(all, plan->shape, plan->ndim);
    json_object_set_new(json, "shape", json_shape(plan->shape, plan->ndim));
    json_object_set_new(json, "tiles", json_integer((json_int_t)plan->tiles));
    json_object_set_new(json, "tile", json_shape(plan->tile, plan->ndim));
    json_object_set_new(json, "device_bytes", json_integer((json_int_t)plan->device_bytes));
    json_object_set_new(json, "copied_bytes", json_integer((json_int_t)plan->copied_bytes));
    if (!only && plan->tiles == 1)
        return;
    char copied[32] = "nothing";
    if (plan->copied_bytes)
        snprintf(copied, sizeof(copied), "%.1f MB", (double)plan->copied_bytes * 1e-6);
    tool_say(common, "%s in %llu tile%s of %s: %.1f MB on the device, %s copied to it", all,
             (unsigned long long)plan->tiles, tool_s((size_t)plan->tiles), tile,
             (double)plan->device_bytes * 1e-6, copied);
}

int filter_read_kernel(const struct common *common, const char *path, double **values, int *ndim,
                       size_t shape[3])
{
    airy_image image = {0};
    const airy_status status = airy_image_read_real(&image, path);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    const size_t n = tool_count(image.shape, image.ndim), *from = image.shape;
    *ndim = image.ndim;
    for (; *ndim > 1 && from[0] == 1 && *ndim > 2; (*ndim)--)
        from++;
    *values = *ndim <= 3 ? malloc(n * sizeof(**values)) : NULL;
    int code = AIRY_EXIT_OK;
    if (*ndim > 3)
        code = tool_fail(common, "--kernel %s: has 4 dimensions, expected 1 to 3", path);
    else if (!*values)
        code = tool_fail(common, "--kernel %s: out of memory for %zu values", path, n);
    for (size_t i = 0; i < n && *values && code == AIRY_EXIT_OK; i++) {
        (*values)[i] = airy_image_value(&image, i);
        if (!isfinite((*values)[i]))
            code = tool_fail(common, "--kernel %s: value %zu of %zu is not finite", path, i, n);
    }
    if (*ndim <= 3)
        memcpy(shape, from, (size_t)*ndim * sizeof(*shape));
    airy_image_free(&image);
    return code;
}
