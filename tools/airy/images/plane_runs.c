#include "images/plane_runs.h"

#include <stdlib.h>
#include <string.h>

#include "cli/stack_opt.h"

enum { RUN_BYTES = 256 << 20 };

static size_t plane_pixels(const struct plane_runs *r)
{
    return r->all.shape[1] * r->all.shape[2];
}

static bool finds_bad(const struct plane_runs *r)
{
    return r->bad->mask || r->bad->has_dummy;
}

/* The planes of a run: those of RUN_BYTES, or of what --memory-limit allows. */
static size_t choose_run(const struct plane_runs *r)
{
    const size_t pixel = airy_dtype_size(r->all.dtype) + (finds_bad(r) ? 1 : 0),
                 planes = (size_t)tool_budget(r->common, RUN_BYTES) / pixel / plane_pixels(r);
    return !r->each || planes > r->chosen ? r->chosen : planes ? planes : 1;
}

/*
 * The mask of a stack, of one frame or of each; fits: false where it has other planes, as those of
 * an axis of the image, which the image as a whole must tell.
 */
static int take_mask(struct plane_runs *r, const airy_image *mask, bool *fits)
{
    const size_t count = tool_count(mask->shape, mask->ndim);
    if (mask->ndim < 2 ||
        memcmp(mask->shape + mask->ndim - 2, r->all.shape + 1, 2 * sizeof(size_t)) != 0)
        return image_refuse_mask(r->common, r->bad->mask, mask, &r->all);
    r->mask_planes = tool_count(mask->shape, mask->ndim - 2);
    *fits = r->mask_planes == 1 || r->mask_planes == r->there;
    r->mask = *fits ? malloc(count) : NULL;
    if (*fits && !r->mask)
        return tool_fail(r->common, "out of memory for a mask of %zu values", count);
    for (size_t i = 0; i < count && *fits; i++) /* NaN differs from 0, so it is bad */
        r->mask[i] = airy_image_value(mask, i) != 0;
    return AIRY_EXIT_OK;
}

static int read_mask(struct plane_runs *r, bool *fits)
{
    airy_image mask = {0};
    *fits = true;
    if (!r->bad->mask)
        return AIRY_EXIT_OK;
    const airy_status status = airy_image_read_real(&mask, r->bad->mask);
    const int code = status == AIRY_OK ? take_mask(r, &mask, fits) : tool_failed(r->common, status);
    airy_image_free(&mask);
    return code;
}

/* *opened: the input is a stack whose planes can be read one by one. */
static int open_stack(struct plane_runs *r, bool *opened)
{
    const char *input = r->common->inputs.items[0];
    airy_stack_info info;
    *opened = stack_open_one(&r->stack, r->common, input) == AIRY_OK &&
              airy_stack_get_info(r->stack, &info) == AIRY_OK;
    if (!*opened)
        return AIRY_EXIT_OK;
    r->there = info.frames;
    r->all = (airy_image){
        .dtype = info.dtype, .ndim = 3, .shape = {info.frames, info.height, info.width}};
    return read_mask(r, opened);
}

/* All of the image, as planes. */
static int open_image(struct plane_runs *r)
{
    const char *input = r->common->inputs.items[0];
    const airy_status status = airy_image_read_real(&r->d.image, input);
    airy_image *image = &r->d.image;
    if (status != AIRY_OK)
        return tool_failed(r->common, status);
    if (image->ndim < 2)
        return tool_fail(r->common, "--%s: %s has one dimension of %zu values, expected planes",
                         r->each ? "each" : "frames", input, image->shape[0]);
    image_say_odd_cards(r->common, input, image);
    const int code = device_image_find_bad(&r->mask, &r->d, r->common, r->bad);
    r->there = r->mask_planes = tool_count(image->shape, image->ndim - 2);
    r->all = *image;
    *image = (airy_image){.data = NULL};
    r->all.shape[1] = r->all.shape[r->all.ndim - 2];
    r->all.shape[2] = r->all.shape[r->all.ndim - 1];
    r->all.shape[0] = r->there;
    r->all.ndim = 3;
    return code;
}

/* Room for the planes of a run. */
static int open_run(struct plane_runs *r)
{
    size_t pixels = 0, bytes = 0;
    r->run = choose_run(r);
    const bool large = __builtin_mul_overflow(plane_pixels(r), r->run, &pixels) ||
                       __builtin_mul_overflow(pixels, airy_dtype_size(r->all.dtype), &bytes);
    r->d.image = (airy_image){.dtype = r->all.dtype,
                              .ndim = 3,
                              .shape = {r->run, r->all.shape[1], r->all.shape[2]},
                              .data = large ? NULL : malloc(bytes)};
    r->is_bad = finds_bad(r) && !large ? malloc(pixels) : NULL;
    if (!r->d.image.data || (finds_bad(r) && !r->is_bad))
        return tool_fail(r->common, "out of memory for %zu planes of %zu x %zu pixels", r->run,
                         r->all.shape[1], r->all.shape[2]);
    return device_image_open_queue(&r->d, r->common);
}

static int open_whole(struct plane_runs *r)
{
    const char *input = r->common->inputs.items[0];
    const airy_image *image = &r->d.image;
    const int code = r->each ? device_image_open_cube(&r->d, r->common, input, r->bad)
                             : device_image_open(&r->d, r->common, input, r->bad);
    if (code == AIRY_EXIT_OK && r->each && image->ndim > 2)
        r->total = tool_count(image->shape, image->ndim - 2);
    return code;
}

int plane_runs_open(struct plane_runs *r, const struct common *common, const struct bad_pixels *bad,
                    const size_t *frames, bool each, bool keep)
{
    static const size_t all[3] = {0, 0, 1};
    bool opened = false;
    *r = (struct plane_runs){.common = common,
                             .bad = bad,
                             .each = each,
                             .whole = !frames && (keep || !each),
                             .total = 1};
    if (r->whole)
        return open_whole(r);
    int code = open_stack(r, &opened);
    if (code == AIRY_EXIT_OK && !opened) {
        airy_stack_destroy(&r->stack);
        code = open_image(r);
    }
    if (code == AIRY_EXIT_OK)
        code = stack_choose(&r->chosen, common, frames ? frames : all, r->there);
    if (code != AIRY_EXIT_OK)
        return code;
    r->first = frames ? frames[0] : 0;
    r->step = frames ? frames[2] : 1;
    r->total = each ? r->chosen : 1;
    return open_run(r);
}

/* Planes of the next run into memory. */
static airy_status read_planes(struct plane_runs *r, size_t count)
{
    const size_t pixels = plane_pixels(r), size = pixels * airy_dtype_size(r->all.dtype);
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < count && status == AIRY_OK; i++) {
        const size_t number = r->first + (r->next + i) * r->step;
        char *to = (char *)r->d.image.data + i * size;
        if (r->stack)
            status = airy_stack_read(r->stack, number, to, size);
        else
            memcpy(to, (const char *)r->all.data + number * size, size);
        if (r->mask)
            memcpy(r->is_bad + i * pixels, r->mask + number % r->mask_planes * pixels, pixels);
    }
    if (r->is_bad && !r->mask)
        memset(r->is_bad, 0, count * pixels);
    if (status == AIRY_OK)
        r->dummies += bad_pixels_mark(r->is_bad, r->bad, &r->d.image, count * pixels);
    return status;
}

static void drop_run(struct plane_runs *r)
{
    device_planes_close(&r->planes);
    airy_array_destroy(&r->d.src);
    airy_array_destroy(&r->d.mask);
    r->planes = (struct device_planes){.count = 0};
}

int plane_runs_next(struct plane_runs *r)
{
    r->at += r->planes.count;
    if (r->at == r->total) {
        drop_run(r);
        if (r->stack) /* of an image it is said already, of all planes */
            bad_pixels_say_none(r->common, r->bad, r->all.dtype, r->dummies);
        return AIRY_EXIT_OK;
    }
    if (r->whole) {
        device_image_begin(&r->d, r->common);
        return device_planes_open(&r->planes, &r->d, r->common, r->each);
    }
    const size_t rest = r->chosen - r->next, count = rest < r->run ? rest : r->run;
    drop_run(r);
    const airy_status status = read_planes(r, count);
    if (status != AIRY_OK)
        return tool_failed(r->common, status);
    r->d.image.shape[0] = count;
    const int code = device_image_push(&r->d, r->common, r->is_bad);
    if (code != AIRY_EXIT_OK)
        return code;
    if (r->next == 0)
        device_image_begin(&r->d, r->common);
    r->next += count;
    return device_planes_open(&r->planes, &r->d, r->common, r->each);
}

void plane_runs_close(struct plane_runs *r)
{
    drop_run(r);
    device_image_close(&r->d);
    airy_image_free(&r->all);
    airy_stack_destroy(&r->stack);
    free(r->mask);
    free(r->is_bad);
}
