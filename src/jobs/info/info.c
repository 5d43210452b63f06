/* What a file holds, and how much of it fits where. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/error.h"
#include "jobs/image_group.h"
#include "jobs/info/info.h"

/* Several files, a pattern, or files without a header: the stack they make. */
static airy_status info_files(json_t **json, const struct info *info)
{
    char why[INFO_WHY];
    json_t *stack = airy_info_stack(info, why);
    AIRY_FAIL_HINT_IF(!stack, AIRY_ERR_FORMAT, AIRY_HINT_STATED, AIRY_SUBJECT_NONE, "%s", why);
    *json = json_pack("{s:o}", "stack", stack);
    return AIRY_OK;
}

static airy_status info_poni(json_t **json, const struct info *info)
{
    airy_geometry geometry;
    AIRY_TRY(airy_geometry_read(&geometry, info->paths[0]));
    *json = airy_info_geometry(&geometry);
    return AIRY_OK;
}

/* An image that cannot be read. Of a FITS file there are the HDUs alone. */
static airy_status info_unread(json_t **json, const struct info *info, airy_status status)
{
    const airy_image none = {.data = NULL};
    airy_fits_hdu *hdus = NULL;
    size_t count = 0;
    bool has_image = false;
    airy_error error;
    airy_error_get(&error);
    if (status != AIRY_ERR_UNSUPPORTED)
        return status;
    error.hint = AIRY_HINT_STATED;
    if (airy_fits_list(&hdus, &count, info->paths[0]) != AIRY_OK)
        return airy_error_restore(&error);
    for (size_t i = 0; i < count; i++)
        has_image = has_image || strcmp(hdus[i].kind, "image") == 0;
    free(hdus);
    if (has_image)
        airy_info_warn(info, "%s", error.text);
    *json = json_pack("{s:o}", "file", airy_json_text(info->paths[0]));
    return airy_info_add_fits(*json, info, &none);
}

static airy_status info_image(json_t **json, const struct info *info)
{
    const struct info plain = {.paths = info->paths, .count = info->count};
    const char *path = info->paths[0];
    airy_image image = {.data = NULL};
    uint64_t shape[AIRY_MAX_DIMS];
    char text[AIRY_CARDS_TEXT], why[INFO_WHY];
    const airy_status status = airy_image_read(&image, path);
    if (status != AIRY_OK)
        return info_unread(json, info, status);
    if (airy_cards_text(text, path, &image))
        airy_info_warn(info, "%s", text);
    for (int i = 0; i < image.ndim; i++)
        shape[i] = image.shape[i];
    const bool is_fits = image.header != NULL;
    const size_t bytes = airy_shape_count(image.shape, image.ndim) * airy_dtype_size(image.dtype);
    *json = json_pack("{s:o, s:o, s:s, s:I}", "file", airy_json_text(path), "shape",
                      airy_info_shape(shape, image.ndim - image.is_complex), "dtype",
                      airy_image_dtype_name(&image), "bytes", (json_int_t)bytes);
    const airy_status added = is_fits ? airy_info_add_fits(*json, info, &image) : AIRY_OK;
    airy_image_free(&image);
    if (is_fits)
        return added;
    json_t *stack = airy_info_stack(&plain, why);
    if (json_is_object(json_object_get(stack, "geometry")) ||
        json_object_get(stack, "contradiction"))
        json_object_set(*json, "stack", stack);
    json_decref(stack);
    return AIRY_OK;
}

static bool is_poni(const char *path)
{
    const size_t n = strlen(path);
    return n >= 5 && strcasecmp(path + n - 5, ".poni") == 0;
}

static airy_status describe(json_t **json, const struct info *info)
{
    const char *path = info->paths[0];
    if (info->params.raw || info->count > 1 || (access(path, F_OK) != 0 && strpbrk(path, "*?#")))
        return info_files(json, info);
    if (is_poni(path))
        return info_poni(json, info);
    return airy_image_is_plain(path) ? info_image(json, info) : airy_info_hdf5(json, info);
}

static airy_status print(char **text, json_t *json)
{
    *text = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(json);
    AIRY_FAIL_IF(!*text, AIRY_ERR_MEMORY, "out of memory for JSON");
    return AIRY_OK;
}

airy_status airy_file_info(char **json, const char *const *paths, size_t count,
                           const airy_file_info_params *params)
{
    AIRY_FAIL_IF(!json || !paths || count == 0, AIRY_ERR_PARAM,
                 "airy_file_info: json or paths is NULL, or there are none");
    for (size_t i = 0; i < count; i++)
        AIRY_FAIL_IF(!paths[i], AIRY_ERR_PARAM, "airy_file_info: paths[%zu] is NULL", i);
    struct info info = {.paths = paths, .count = count};
    json_t *object = NULL;
    if (params)
        info.params = *params;
    const airy_status status = describe(&object, &info);
    if (status == AIRY_OK)
        return print(json, object);
    json_decref(object);
    return status;
}

airy_status airy_image_info(char **json, const uint64_t *shape, int ndim, airy_dtype dtype)
{
    AIRY_FAIL_IF(!json || !shape || ndim < 1 || ndim > AIRY_MAX_DIMS, AIRY_ERR_PARAM,
                 "airy_image_info: an argument is NULL, or ndim is not 1 to %d", AIRY_MAX_DIMS);
    uint64_t row = airy_dtype_size(dtype), bytes = row;
    AIRY_FAIL_IF(row == 0, AIRY_ERR_DTYPE, "airy_image_info: there is no such dtype");
    for (int i = ndim - 1; i >= 0; i--) {
        AIRY_FAIL_IF(shape[i] == 0, AIRY_ERR_PARAM, "axis %d of the image has the length 0", i);
        row = bytes;
        AIRY_FAIL_IF(__builtin_mul_overflow(bytes, shape[i], &bytes) || bytes > PTRDIFF_MAX,
                     AIRY_ERR_PARAM, "so many bytes do not fit the address space");
    }
    return print(json,
                 json_pack("{s:o, s:s, s:o, s:o}", "shape", airy_info_shape(shape, ndim), "dtype",
                           airy_dtype_name(dtype), "bytes", airy_json_unsigned(bytes),
                           "images_that_fit", airy_info_fits((double)bytes, (double)row)));
}
