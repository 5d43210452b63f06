/* One plane of an image, a cube or a stack. */
#include <stdlib.h>

#include "airy/stack.h"
#include "base/error.h"

static size_t count_of(const size_t *shape, int ndim)
{
    size_t count = 1;
    for (int i = 0; i < ndim; i++)
        count *= shape[i];
    return count;
}

/* The planes that an image has, with data or without. */
static airy_status find_planes(airy_image_plane *plane, const airy_image *image, const char *name)
{
    const int ndim = image->ndim;
    AIRY_FAIL_IF(ndim < 2, AIRY_ERR_SHAPE,
                 "%s: has one dimension of %zu values, expected an image of 2 or more", name,
                 image->shape[0]);
    *plane = (airy_image_plane){plane->number, count_of(image->shape, ndim - 2),
                                image->shape[ndim - 2], image->shape[ndim - 1]};
    return AIRY_OK;
}

static airy_status read_of_stack(airy_image *image, airy_image_plane *plane,
                                 const airy_stack *stack)
{
    airy_stack_info info;
    size_t size = 0;
    AIRY_TRY(airy_stack_get_info(stack, &info));
    *plane = (airy_image_plane){plane->number, info.frames, info.height, info.width};
    *image = (airy_image){.dtype = info.dtype, .ndim = 2, .shape = {info.height, info.width}};
    const bool large =
        __builtin_mul_overflow(info.height * airy_dtype_size(info.dtype), info.width, &size);
    if (plane->number >= info.frames)
        return AIRY_OK;
    image->data = large ? NULL : malloc(size);
    AIRY_FAIL_IF(!image->data, AIRY_ERR_MEMORY, "out of memory for a plane of %zu x %zu pixels",
                 info.height, info.width);
    return airy_stack_read(stack, plane->number, image->data, size);
}

static airy_status take_of_fits(airy_image *image, airy_image_plane *plane, airy_fits *fits,
                                const char *path)
{
    AIRY_TRY(airy_fits_read(image, fits, 0, 0, 1)); /* the shape */
    AIRY_TRY(find_planes(plane, image, path));
    if (plane->number >= plane->planes)
        return AIRY_OK;
    airy_image_free(image);
    return airy_fits_read(image, fits, plane->number, 1, 1);
}

static airy_status read_of_fits(airy_image *image, airy_image_plane *plane, const char *path)
{
    airy_fits *fits = NULL;
    AIRY_TRY(airy_fits_open(&fits, path));
    const airy_status status = take_of_fits(image, plane, fits, path);
    airy_fits_close(&fits);
    return status;
}

static airy_status read_plane(airy_image *image, airy_image_plane *plane, const char *path,
                              const char *channel)
{
    const airy_stack_params params = {.channel = channel};
    airy_stack *stack = NULL;
    if (airy_image_is_fits(path))
        return read_of_fits(image, plane, path);
    airy_status status = airy_stack_create_with(&stack, &path, 1, &params);
    if (status == AIRY_OK) {
        status = read_of_stack(image, plane, stack);
        airy_stack_destroy(&stack);
        return status;
    }
    if (channel)
        return status;
    AIRY_TRY(airy_image_read_real(image, path));
    AIRY_TRY(find_planes(plane, image, path));
    if (plane->number < plane->planes)
        return airy_image_take_plane(image, plane->number);
    airy_image_free(image);
    return AIRY_OK;
}

airy_status airy_image_read_plane(airy_image *image, airy_image_plane *plane, const char *path,
                                  const char *channel)
{
    AIRY_FAIL_IF(!image || !plane || !path, AIRY_ERR_PARAM,
                 "airy_image_read_plane: image, plane or path is NULL");
    *image = (airy_image){.data = NULL};
    const airy_status status = read_plane(image, plane, path, channel);
    if (status != AIRY_OK)
        airy_image_free(image);
    return status;
}
