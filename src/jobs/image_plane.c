/* One plane of an image, a cube or a stack, and of its mask. */
#include "jobs/image_group.h"

/* A part of a caller's array, which is not moved. */
static airy_status take_of_array(airy_image *image, airy_image_plane *plane,
                                 const struct airy_job_source *source, const char *name)
{
    AIRY_TRY(airy_job_load_image(image, source));
    const int ndim = image->ndim;
    AIRY_FAIL_IF(ndim < 2, AIRY_ERR_SHAPE,
                 "%s: has one dimension of %zu values, expected an image of 2 or more", name,
                 image->shape[0]);
    *plane = (airy_image_plane){plane->number, airy_shape_count(image->shape, ndim - 2),
                                image->shape[ndim - 2], image->shape[ndim - 1]};
    const size_t size = plane->height * plane->width * airy_dtype_size(image->dtype);
    image->data = plane->number < plane->planes ? (char *)image->data + plane->number * size : NULL;
    image->ndim = 2;
    image->shape[0] = plane->height;
    image->shape[1] = plane->width;
    return AIRY_OK;
}

airy_status airy_read_plane(airy_image *image, airy_image_plane *plane,
                            const struct airy_job_source *source, const char *name,
                            const char *channel)
{
    *image = (airy_image){.data = NULL};
    return source->is_array ? take_of_array(image, plane, source, name)
                            : airy_image_read_plane(image, plane, source->path, channel);
}

/* All planes, without their values. */
static airy_image whole_of(const airy_image_plane *plane)
{
    if (plane->planes == 1)
        return (airy_image){.ndim = 2, .shape = {plane->height, plane->width}};
    return (airy_image){.ndim = 3, .shape = {plane->planes, plane->height, plane->width}};
}

/* The plane of the mask, or its only one. */
static airy_status read_mask(const struct airy_job_image *d, airy_image_plane *plane,
                             airy_image *mask)
{
    const struct airy_job_source *from = &d->bad->mask;
    *plane = (airy_image_plane){.number = d->plane.number};
    AIRY_TRY(airy_read_plane(mask, plane, from, "mask", NULL));
    if (plane->planes != 1 || plane->number == 0)
        return AIRY_OK;
    airy_job_unload_image(mask, from);
    plane->number = 0;
    return airy_read_plane(mask, plane, from, "mask", NULL);
}

airy_status airy_job_image_mask_plane(const struct airy_job_image *d, uint8_t *bad)
{
    airy_image_plane plane;
    const airy_image_plane *of = &d->plane;
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
