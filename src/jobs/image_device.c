/* The way of an image to a device and back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "io/file/format.h"
#include "jobs/image_group.h"

/* What a mask says of each pixel of the image, of its shape or of one frame for all. */
static airy_status fill_from_mask(uint8_t *bad, const struct airy_job_image *d,
                                  const airy_image *mask)
{
    const airy_image *image = &d->image;
    const size_t all = airy_shape_count(image->shape, image->ndim),
                 count = airy_shape_count(mask->shape, mask->ndim);
    int skip = 0, frames = 0; /* a mask with axes of length 1 in front, or of each frame */
    while (mask->ndim - skip > (image->ndim < 2 ? image->ndim : 2) && mask->shape[skip] == 1)
        skip++;
    while (mask->ndim - skip >= 2 && mask->ndim - skip < image->ndim - frames)
        frames++;
    if (mask->ndim - skip != image->ndim - frames ||
        memcmp(mask->shape + skip, image->shape + frames,
               (size_t)(mask->ndim - skip) * sizeof(size_t)) != 0)
        return airy_job_image_refuse_mask(d, mask, image);
    for (size_t i = 0; i < all; i++) /* NaN differs from 0, so it is bad */
        bad[i] = i < count ? airy_image_value(mask, i) != 0 : bad[i - count];
    return AIRY_OK;
}

size_t airy_job_image_mark(const struct airy_job_image *d, uint8_t *is_bad, size_t count)
{
    const airy_image *image = &d->image;
    const double dummy = airy_dtype_nearest(image->dtype, d->bad->dummy),
                 delta = d->bad->delta_dummy;
    size_t found = 0;
    if (!airy_job_is_set(d->job, "dummy"))
        return 0;
    for (size_t i = 0; i < count; i++) {
        const double value = airy_image_value(image, i);
        const bool has = value == dummy || (isnan(value) && isnan(dummy)) ||
                         fabs(value - dummy) <= delta;
        is_bad[i] |= has;
        found += has;
    }
    return found;
}

/* ---- reading ---- */

static airy_status read_channel(struct airy_job_image *d)
{
    airy_stack *stack = NULL;
    airy_stack_info info;
    AIRY_FAIL_ON_IF(d->from->image.is_array, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s %s: an array has no channels", "channel", d->from->channel);
    airy_status status = airy_job_image_open_stack(&stack, d, true);
    if (status == AIRY_OK)
        status = airy_stack_get_info(stack, &info);
    if (status == AIRY_OK)
        status = airy_job_read_frames(&d->image, stack, 0, info.frames, 1);
    airy_stack_destroy(&stack);
    return status;
}

airy_status airy_job_image_read(struct airy_job_image *d)
{
    airy_image *image = &d->image;
    if (d->from->channel) {
        AIRY_TRY(read_channel(d));
    } else {
        AIRY_TRY(airy_job_load_real(image, &d->from->image));
        d->borrowed = d->from->image.is_array;
    }
    airy_job_warn_cards(d, image);
    return AIRY_OK;
}

/* Radio images carry axes of length 1 (frequency, Stokes) in front of their two. */
static void drop_axes(struct airy_job_image *d)
{
    airy_image *image = &d->image;
    while (image->header && image->ndim > 2 && image->shape[0] == 1) {
        image->ndim--;
        memmove(image->shape, image->shape + 1, (size_t)image->ndim * sizeof(size_t));
        d->dropped++;
    }
}

/* Of four axes the first two become one. */
static void fold_axes(struct airy_job_image *d)
{
    airy_image *image = &d->image;
    if (image->ndim != 4)
        return;
    d->folded = image->shape[0];
    image->shape[0] *= image->shape[1];
    memmove(image->shape + 1, image->shape + 2, 2 * sizeof(size_t));
    image->ndim = 3;
}

airy_status airy_job_image_find_bad(struct airy_job_image *d, uint8_t **is_bad)
{
    airy_image mask = {0};
    const size_t all = airy_shape_count(d->image.shape, d->image.ndim);
    if (!airy_job_image_finds_bad(d))
        return AIRY_OK;
    AIRY_TRY(airy_memory_calloc((void **)is_bad, all, 1, "a mask"));
    if (airy_source_is_given(&d->bad->mask) && d->plane.planes) {
        AIRY_TRY(airy_job_image_mask_plane(d, *is_bad));
    } else if (airy_source_is_given(&d->bad->mask)) {
        airy_status status = airy_job_load_real(&mask, &d->bad->mask);
        if (status == AIRY_OK)
            status = fill_from_mask(*is_bad, d, &mask);
        airy_job_unload_image(&mask, &d->bad->mask);
        AIRY_TRY(status);
    }
    airy_job_warn_dummy(d, d->image.dtype, airy_job_image_mark(d, *is_bad, all));
    return AIRY_OK;
}

/* ---- to the device ---- */

airy_status airy_job_image_open_queue(struct airy_job_image *d)
{
    airy_device *device = NULL;
    AIRY_TRY(airy_job_open_device(d->job, &device, d->compute));
    return airy_queue_create(&d->queue, device);
}

/* Where several planes were too large together, there are ways to take fewer. */
static airy_status suggest_fewer(const struct airy_job_image *d, airy_status status)
{
    if (status != AIRY_ERR_MEMORY || d->image.ndim < 3 || d->image.shape[0] == 1 ||
        !airy_job_has(d->job, "frames"))
        return status;
    return airy_fail_more(status, "; take fewer planes at a time by each=on or frames=A:B");
}

airy_status airy_job_image_push(struct airy_job_image *d, uint8_t *is_bad)
{
    const airy_image *image = &d->image;
    airy_status status = airy_array_create_over(&d->src, d->queue, image->dtype, image->ndim,
                                                image->shape, image->data);
    if (status == AIRY_OK && is_bad)
        status = airy_array_create_over(&d->mask, d->queue, AIRY_DTYPE_U8, image->ndim,
                                        image->shape, is_bad);
    return suggest_fewer(d, status);
}

airy_status airy_job_image_begin(const struct airy_job_image *d, size_t done, size_t total)
{
    AIRY_FAIL_IF(!airy_job_step(d->job, done, total), AIRY_ERR_CANCELLED,
                 "cancelled after %zu of %zu images", done, total);
    if (done == 0)
        airy_job_work_begins(d->job);
    return AIRY_OK;
}

/* cube: the axes are folded, which those of a mask are not. */
static airy_status open_image(struct airy_job_image *d, bool cube)
{
    AIRY_TRY(airy_job_image_read(d));
    drop_axes(d);
    AIRY_TRY(airy_job_image_find_bad(d, &d->is_bad));
    if (cube)
        fold_axes(d);
    AIRY_TRY(airy_job_image_open_queue(d));
    return airy_job_image_push(d, d->is_bad);
}

airy_status airy_job_image_open(struct airy_job_image *d)
{
    return open_image(d, false);
}

airy_status airy_job_image_open_cube(struct airy_job_image *d)
{
    return open_image(d, true);
}

airy_status airy_job_image_open_plane(struct airy_job_image *d, const size_t *frame)
{
    airy_image_plane *plane = &d->plane;
    airy_image *image = &d->image;
    const char *name = airy_job_image_name(d);
    plane->number = frame ? *frame : 0;
    d->borrowed = d->from->image.is_array;
    AIRY_TRY(airy_read_plane(image, plane, &d->from->image, name, d->from->channel));
    AIRY_FAIL_HINT_IF(plane->planes != 1 && !frame, AIRY_ERR_SHAPE, AIRY_HINT_STATED,
                      AIRY_SUBJECT_NONE,
                      "%s: has %zu x %zu x %zu values, which are %zu planes; choose one with "
                      "frame=N",
                      name, plane->planes, plane->height, plane->width, plane->planes);
    AIRY_FAIL_HINT_IF(!image->data, AIRY_ERR_PARAM, AIRY_HINT_STATED, AIRY_SUBJECT_PARAMETER,
                      "%s %zu: %s has %zu plane%s, numbered from 0", "frame", plane->number, name,
                      plane->planes, plane->planes == 1 ? "" : "s");
    airy_job_warn_cards(d, image);
    drop_axes(d);
    while (image->ndim > 2) { /* of a format whose axes have no meaning of their own */
        image->ndim--;
        memmove(image->shape, image->shape + 1, (size_t)image->ndim * sizeof(size_t));
    }
    AIRY_TRY(airy_job_image_find_bad(d, &d->is_bad));
    AIRY_TRY(airy_job_image_open_queue(d));
    return airy_job_image_push(d, d->is_bad);
}

static void put_number(void *data, airy_dtype dtype, size_t i, double value)
{
    if (dtype == AIRY_DTYPE_F32)
        ((float *)data)[i] = (float)value;
    else
        ((double *)data)[i] = value;
}

/* Bad pixels become NaN, in place where the image has floats of its own. */
static airy_status put_nan(struct airy_job_image *d, airy_dtype of_integers)
{
    airy_image *image = &d->image;
    const bool is_float = airy_dtype_is_float(image->dtype);
    const airy_dtype dtype = is_float ? image->dtype : of_integers;
    const size_t count = airy_shape_count(image->shape, image->ndim);
    if (!is_float || d->borrowed) {
        void *data = NULL;
        AIRY_TRY(airy_memory_calloc(&data, count, airy_dtype_size(dtype), "an image"));
        for (size_t i = 0; i < count; i++)
            put_number(data, dtype, i, airy_image_value(image, i));
        if (!d->borrowed)
            free(image->data);
        d->borrowed = false;
        image->data = data;
        image->dtype = dtype;
    }
    for (size_t i = 0; i < count; i++)
        if (d->is_bad[i])
            put_number(image->data, dtype, i, (double)NAN);
    free(d->is_bad);
    d->is_bad = NULL;
    return AIRY_OK;
}

airy_status airy_job_image_open_host(struct airy_job_image *d, airy_dtype dtype)
{
    AIRY_TRY(airy_job_image_read(d));
    drop_axes(d);
    AIRY_TRY(airy_job_image_find_bad(d, &d->is_bad));
    if (d->is_bad)
        AIRY_TRY(put_nan(d, dtype));
    return airy_job_image_open_queue(d);
}

/* ---- results ---- */

/*
 * Axes that an image of so many gets back: where a plane was taken, FITS alone has them, for their
 * coordinates.
 */
static int axes_back(const struct airy_job_image *d, int ndim, const char *output)
{
    const bool wanted = ndim + d->dropped <= AIRY_MAX_DIMS &&
                        (!d->plane.planes || (output && airy_name_is_fits(output)));
    return wanted ? d->dropped : 0;
}

/* The axes as they were, and the source's header where the pixels are still the same ones. */
static airy_status restore_axes(const struct airy_job_image *d, airy_image *image,
                                const char *output)
{
    const bool same = image->ndim == d->image.ndim &&
                      memcmp(image->shape, d->image.shape, (size_t)image->ndim * sizeof(size_t)) ==
                          0;
    if (d->folded && image->ndim == 3) {
        memmove(image->shape + 2, image->shape + 1, 2 * sizeof(size_t));
        image->shape[1] = image->shape[0] / d->folded;
        image->shape[0] = d->folded;
        image->ndim = 4;
    }
    const int back = axes_back(d, image->ndim, output);
    memmove(image->shape + back, image->shape, (size_t)image->ndim * sizeof(size_t));
    for (int i = 0; i < back; i++)
        image->shape[i] = 1;
    image->ndim += back;
    return same && d->image.header ? airy_image_copy_header(image, &d->image) : AIRY_OK;
}

airy_status airy_job_image_check_format(const struct airy_job_image *d, const char *parameter,
                                        const char *path, airy_dtype dtype)
{
    const int ndim = d->image.ndim + (d->folded > 0);
    return airy_job_check_format(parameter, path, dtype, ndim + axes_back(d, ndim, path));
}

airy_status airy_job_image_pull(const struct airy_job_image *d, airy_image *image,
                                const airy_array *array)
{
    const size_t size = airy_array_size(array);
    *image = (airy_image){.dtype = airy_array_dtype(array), .ndim = airy_array_ndim(array)};
    memcpy(image->shape, airy_array_shape(array), (size_t)image->ndim * sizeof(size_t));
    image->data = malloc(size);
    AIRY_FAIL_IF(!image->data, AIRY_ERR_MEMORY, "out of memory for an image of %zu bytes", size);
    airy_status status = airy_array_pull(d->queue, image->data, size, array);
    if (status == AIRY_OK)
        status = airy_job_image_finish(d);
    if (status != AIRY_OK)
        airy_image_free(image);
    return status;
}

static airy_status write_image(const struct airy_job_image *d, airy_image *image,
                               const struct airy_image_output *output)
{
    AIRY_TRY(restore_axes(d, image, output->path));
    if (!output->path)
        return AIRY_OK;
    if (d->image.header && !image->header && airy_name_is_fits(output->path))
        airy_job_message(d->job, AIRY_LOG_WARN, /* of convolve alone */
                         "%s has another shape than the image, so that its header and coordinates "
                         "are left out; mode=same keeps them",
                         output->path);
    return airy_image_write(image, output->path, output->force);
}

/* Texts are kept before there is a file that a lack of memory would leave behind. */
static airy_status put_facts(const struct airy_job_image *d, const airy_image *image,
                             const struct airy_image_output *output)
{
    const char *dtype = airy_dtype_name(image->dtype);
    char text[AIRY_SHAPE_TEXT];
    if (!airy_job_gives(d->job, "shape"))
        return AIRY_OK;
    if (output->path)
        AIRY_TRY(airy_job_put_text(d->job, "output", output->path));
    if (airy_job_gives(d->job, "dtype"))
        AIRY_TRY(airy_job_put_text(d->job, "dtype", dtype));
    airy_job_put_shape(d->job, "shape", image->shape, image->ndim);
    airy_job_sum_up(d->job, "%s, %s", airy_shape_text(text, image->shape, image->ndim), dtype);
    return AIRY_OK;
}

airy_status airy_job_image_put(const struct airy_job_image *d, airy_image *image,
                               const char *result, const struct airy_image_output *output)
{
    airy_host_view view = {.dtype = image->dtype};
    airy_status status = put_facts(d, image, output);
    if (status == AIRY_OK)
        status = write_image(d, image, output);
    if (status == AIRY_OK && airy_job_keeps(d->job, result)) {
        view.ndim = image->ndim;
        memcpy(view.shape, image->shape, sizeof(view.shape));
        airy_job_put_array(d->job, result, &view, image->data);
        image->data = NULL;
    }
    airy_image_free(image);
    return status;
}

airy_status airy_job_image_finish(const struct airy_job_image *d)
{
    AIRY_TRY(airy_queue_finish(d->queue));
    airy_job_work_ends(d->job);
    return AIRY_OK;
}

void airy_job_image_close(struct airy_job_image *d)
{
    airy_array_destroy(&d->src);
    airy_array_destroy(&d->mask);
    airy_queue_destroy(&d->queue);
    if (d->borrowed)
        d->image.data = NULL;
    airy_image_free(&d->image);
    free(d->is_bad);
}
