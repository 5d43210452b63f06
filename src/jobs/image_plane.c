/* One plane of an image, a cube or a stack, and of its mask. */
#include <stdlib.h>
#include <string.h>

#include "jobs/image_group.h"

/* The planes that an image has, with data or without. */
static airy_status find_planes(struct airy_image_plane *plane, const airy_image *image,
                               const char *name)
{
    const int ndim = image->ndim;
    AIRY_FAIL_IF(ndim < 2, AIRY_ERR_SHAPE,
                 "%s: has one dimension of %zu values, expected an image of 2 or more", name,
                 image->shape[0]);
    *plane = (struct airy_image_plane){plane->number, airy_shape_count(image->shape, ndim - 2),
                                       image->shape[ndim - 2], image->shape[ndim - 1]};
    return AIRY_OK;
}

static airy_status read_of_stack(airy_image *image, struct airy_image_plane *plane,
                                 const airy_stack *stack)
{
    airy_stack_info info;
    size_t size = 0;
    AIRY_TRY(airy_stack_get_info(stack, &info));
    *plane = (struct airy_image_plane){plane->number, info.frames, info.height, info.width};
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

static airy_status take_of_fits(airy_image *image, struct airy_image_plane *plane, airy_fits *fits,
                                const char *path)
{
    AIRY_TRY(airy_fits_read(image, fits, 0, 0, 1)); /* the shape */
    AIRY_TRY(find_planes(plane, image, path));
    if (plane->number >= plane->planes)
        return AIRY_OK;
    airy_image_free(image);
    return airy_fits_read(image, fits, plane->number, 1, 1);
}

static airy_status read_of_fits(airy_image *image, struct airy_image_plane *plane, const char *path)
{
    airy_fits *fits = NULL;
    AIRY_TRY(airy_fits_open(&fits, path));
    const airy_status status = take_of_fits(image, plane, fits, path);
    airy_fits_close(&fits);
    return status;
}

/* A part of a caller's array, which is not moved. */
static airy_status take_of_array(airy_image *image, struct airy_image_plane *plane,
                                 const struct airy_job_source *source, const char *name)
{
    AIRY_TRY(airy_job_load_image(image, source));
    AIRY_TRY(find_planes(plane, image, name));
    const size_t size = plane->height * plane->width * airy_dtype_size(image->dtype);
    image->data = plane->number < plane->planes ? (char *)image->data + plane->number * size : NULL;
    image->ndim = 2;
    image->shape[0] = plane->height;
    image->shape[1] = plane->width;
    return AIRY_OK;
}

static airy_status read_of_file(airy_image *image, struct airy_image_plane *plane, const char *path,
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

airy_status airy_read_plane(airy_image *image, struct airy_image_plane *plane,
                            const struct airy_job_source *source, const char *name,
                            const char *channel)
{
    *image = (airy_image){.data = NULL};
    return source->is_array ? take_of_array(image, plane, source, name)
                            : read_of_file(image, plane, source->path, channel);
}

/* All planes, without their values. */
static airy_image whole_of(const struct airy_image_plane *plane)
{
    if (plane->planes == 1)
        return (airy_image){.ndim = 2, .shape = {plane->height, plane->width}};
    return (airy_image){.ndim = 3, .shape = {plane->planes, plane->height, plane->width}};
}

/* The plane of the mask, or its only one. */
static airy_status read_mask(const struct airy_job_image *d, struct airy_image_plane *plane,
                             airy_image *mask)
{
    const struct airy_job_source *from = &d->bad->mask;
    *plane = (struct airy_image_plane){.number = d->plane.number};
    AIRY_TRY(airy_read_plane(mask, plane, from, "mask", NULL));
    if (plane->planes != 1 || plane->number == 0)
        return AIRY_OK;
    airy_job_unload_image(mask, from);
    plane->number = 0;
    return airy_read_plane(mask, plane, from, "mask", NULL);
}

airy_status airy_job_image_mask_plane(const struct airy_job_image *d, uint8_t *bad)
{
    struct airy_image_plane plane;
    const struct airy_image_plane *of = &d->plane;
    airy_image mask = {.data = NULL};
    airy_status status = read_mask(d, &plane, &mask);
    const bool fits = plane.height == of->height && plane.width == of->width &&
                      (plane.planes == 1 || plane.planes == of->planes);
    if (status == AIRY_OK && !fits) {
        const airy_image got = whole_of(&plane), want = whole_of(of);
        status = airy_job_image_refuse_mask(d, &got, &want);
    }
    for (size_t i = 0; status == AIRY_OK && i < of->height * of->width; i++)
        bad[i] = airy_image_value(&mask, i) != 0; /* NaN differs from 0, so it is bad */
    airy_job_unload_image(&mask, &d->bad->mask);
    return status;
}
