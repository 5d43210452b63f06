/* The planes of a cube or stack, some at a time, or an image as a whole. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "jobs/image_group.h"

enum { RUN_BYTES = 256 << 20 };

#define ROW(member, ...) AIRY_JOB_ROW(struct airy_planes_values, member, __VA_ARGS__)
const struct airy_job_row airy_planes_rows[] = {
    ROW(each, .name = "each", .type = AIRY_PARAMETER_FLAG,
        .help = "takes each plane of a cube or stack as an image by itself"),
    ROW(frames, .name = "frames", .type = AIRY_PARAMETER_RANGE, .affects = AIRY_AFFECTS_ROWS,
        .argument = "N|A:B[:S]", .fallback = "all", .computed = true,
        .help = "selects frames of a stack, or planes of an image"),
    {{0}, 0, NULL}};
#undef ROW

static size_t plane_pixels(const struct airy_job_planes *r)
{
    return r->all.shape[1] * r->all.shape[2];
}

/* The planes of a run: those of RUN_BYTES, or of a quarter of the memory limit; one at least. */
static size_t choose_run(const struct airy_job_planes *r)
{
    const uint64_t limit = r->d.compute->memory_limit,
                   bytes = limit && limit / 4 < RUN_BYTES ? limit / 4 : RUN_BYTES;
    const size_t pixel = airy_dtype_size(r->all.dtype) + (airy_job_image_finds_bad(&r->d) ? 1 : 0),
                 planes = (size_t)bytes / pixel / plane_pixels(r);
    return !r->values->each || planes > r->chosen ? r->chosen : planes ? planes : 1;
}

/*
 * The mask of a stack, of one frame or of each; fits: false where it has other planes, as those of
 * an axis of the image, which the image as a whole must tell.
 */
static airy_status take_mask(struct airy_job_planes *r, const airy_image *mask, bool *fits)
{
    const size_t count = airy_shape_count(mask->shape, mask->ndim);
    if (mask->ndim < 2 ||
        memcmp(mask->shape + mask->ndim - 2, r->all.shape + 1, 2 * sizeof(size_t)) != 0)
        return airy_job_image_refuse_mask(&r->d, mask, &r->all);
    r->mask_planes = airy_shape_count(mask->shape, mask->ndim - 2);
    *fits = r->mask_planes == 1 || r->mask_planes == r->there;
    if (!*fits)
        return AIRY_OK;
    AIRY_TRY(airy_memory_calloc((void **)&r->mask, count, 1, "a mask"));
    for (size_t i = 0; i < count; i++) /* NaN differs from 0, so it is bad */
        r->mask[i] = airy_image_value(mask, i) != 0;
    return AIRY_OK;
}

static airy_status read_mask(struct airy_job_planes *r, bool *fits)
{
    const struct airy_job_source *from = &r->d.bad->mask;
    airy_image mask = {0};
    *fits = true;
    if (!airy_source_is_given(from))
        return AIRY_OK;
    airy_status status = airy_job_load_real(&mask, from);
    if (status == AIRY_OK)
        status = take_mask(r, &mask, fits);
    airy_job_unload_image(&mask, from);
    return status;
}

/* *opened: the input is a stack whose planes can be read one by one. */
static airy_status open_stack(struct airy_job_planes *r, bool *opened)
{
    airy_stack_info info;
    const airy_status status = airy_job_image_open_stack(&r->stack, &r->d, true);
    *opened = status == AIRY_OK && airy_stack_get_info(r->stack, &info) == AIRY_OK;
    if (!*opened)
        return r->d.from->channel ? status : AIRY_OK;
    r->there = info.frames;
    r->all = (airy_image){
        .dtype = info.dtype, .ndim = 3, .shape = {info.frames, info.height, info.width}};
    return read_mask(r, opened);
}

/* All of the image, as planes. */
static airy_status open_image(struct airy_job_planes *r)
{
    airy_image *image = &r->d.image;
    AIRY_TRY(airy_job_image_read(&r->d));
    AIRY_FAIL_HINT_IF(image->ndim < 2, AIRY_ERR_SHAPE, AIRY_HINT_STATED, AIRY_SUBJECT_PARAMETER,
                      "%s: %s has one dimension of %zu values, expected planes",
                      r->values->each ? "each" : "frames", airy_job_image_name(&r->d),
                      image->shape[0]);
    AIRY_TRY(airy_job_image_find_bad(&r->d, &r->mask));
    r->there = r->mask_planes = airy_shape_count(image->shape, image->ndim - 2);
    r->all = *image;
    r->borrowed = r->d.borrowed;
    *image = (airy_image){.data = NULL};
    r->d.borrowed = false;
    memmove(r->all.shape + 1, r->all.shape + r->all.ndim - 2, 2 * sizeof(size_t));
    r->all.shape[0] = r->there;
    r->all.ndim = 3;
    return AIRY_OK;
}

/* Room for the planes of a run. */
static airy_status open_run(struct airy_job_planes *r)
{
    const bool finds_bad = airy_job_image_finds_bad(&r->d);
    size_t pixels = 0, bytes = 0;
    r->run = choose_run(r);
    const bool large = __builtin_mul_overflow(plane_pixels(r), r->run, &pixels) ||
                       __builtin_mul_overflow(pixels, airy_dtype_size(r->all.dtype), &bytes);
    r->d.image = (airy_image){.dtype = r->all.dtype,
                              .ndim = 3,
                              .shape = {r->run, r->all.shape[1], r->all.shape[2]},
                              .data = large ? NULL : malloc(bytes)};
    r->is_bad = finds_bad && !large ? malloc(pixels) : NULL;
    AIRY_FAIL_IF(!r->d.image.data || (finds_bad && !r->is_bad), AIRY_ERR_MEMORY,
                 "out of memory for %zu planes of %zu x %zu pixels", r->run, r->all.shape[1],
                 r->all.shape[2]);
    return airy_job_image_open_queue(&r->d);
}

static airy_status open_whole(struct airy_job_planes *r)
{
    const airy_image *image = &r->d.image;
    if (!r->values->each)
        return airy_job_image_open(&r->d);
    AIRY_TRY(airy_job_image_open_cube(&r->d));
    if (image->ndim > 2)
        r->total = airy_shape_count(image->shape, image->ndim - 2);
    return AIRY_OK;
}

airy_status airy_job_planes_open(struct airy_job_planes *r, bool keep)
{
    const struct airy_planes_values *v = r->values;
    const struct airy_frames_values chosen = {.frames = {v->frames[0], v->frames[1], v->frames[2]}};
    const bool some = airy_job_is_set(r->d.job, "frames");
    bool opened = false;
    r->whole = !some && (keep || !v->each);
    r->total = 1;
    if (r->whole)
        return open_whole(r);
    AIRY_TRY(open_stack(r, &opened));
    if (!opened) {
        airy_stack_destroy(&r->stack);
        AIRY_TRY(open_image(r));
    }
    AIRY_TRY(airy_job_choose_frames(&r->chosen, &chosen, r->there, airy_job_image_name(&r->d)));
    r->first = v->frames[0];
    r->step = some ? v->frames[2] : 1;
    r->total = v->each ? r->chosen : 1;
    return open_run(r);
}

airy_status airy_plane_view(airy_array **view, const airy_array *array, size_t i, size_t count)
{
    const int ndim = airy_array_ndim(array);
    size_t start[AIRY_MAX_DIMS] = {0}, shape[AIRY_MAX_DIMS];
    memcpy(shape, airy_array_shape(array), (size_t)ndim * sizeof(size_t));
    for (int k = ndim - 3; k >= 0 && count > 1; k--) {
        start[k] = i % shape[k];
        i /= shape[k];
        shape[k] = 1;
    }
    return airy_array_view(view, array, start, shape);
}

static void drop_views(struct airy_job_planes *r)
{
    for (size_t i = 0; i < r->count; i++) {
        airy_array_destroy(&r->srcs[i]);
        if (r->masks)
            airy_array_destroy(&r->masks[i]);
    }
    free(r->srcs);
    free(r->masks);
    r->srcs = r->masks = NULL;
    r->count = 0;
}

/* Views of the planes that are on the device, or of all of it. */
static airy_status open_views(struct airy_job_planes *r)
{
    const airy_image *image = &r->d.image;
    AIRY_FAIL_HINT_IF(r->values->each && image->ndim < 2, AIRY_ERR_SHAPE, AIRY_HINT_STATED,
                      AIRY_SUBJECT_PARAMETER,
                      "%s: %s has one dimension of %zu values, expected planes", "each",
                      airy_job_image_name(&r->d), image->shape[0]);
    const size_t count = r->values->each ? airy_shape_count(image->shape, image->ndim - 2) : 1;
    AIRY_TRY(airy_memory_calloc((void **)&r->srcs, count, sizeof(airy_array *), "planes"));
    if (r->d.mask)
        AIRY_TRY(airy_memory_calloc((void **)&r->masks, count, sizeof(airy_array *), "planes"));
    r->count = count;
    for (size_t i = 0; i < count; i++) {
        AIRY_TRY(airy_plane_view(&r->srcs[i], r->d.src, i, count));
        if (r->masks)
            AIRY_TRY(airy_plane_view(&r->masks[i], r->d.mask, i, count));
    }
    return AIRY_OK;
}

/* Planes of the next run into memory. */
static airy_status read_planes(struct airy_job_planes *r, size_t count)
{
    const size_t pixels = plane_pixels(r), size = pixels * airy_dtype_size(r->all.dtype);
    for (size_t i = 0; i < count; i++) {
        const size_t number = r->first + (r->next + i) * r->step;
        char *to = (char *)r->d.image.data + i * size;
        if (r->stack)
            AIRY_TRY(airy_stack_read(r->stack, number, to, size));
        else
            memcpy(to, (const char *)r->all.data + number * size, size);
        if (r->mask)
            memcpy(r->is_bad + i * pixels, r->mask + number % r->mask_planes * pixels, pixels);
    }
    if (r->is_bad && !r->mask)
        memset(r->is_bad, 0, count * pixels);
    if (r->is_bad)
        r->dummies += airy_job_image_mark(&r->d, r->is_bad, count * pixels);
    return AIRY_OK;
}

airy_status airy_job_planes_next(struct airy_job_planes *r)
{
    r->at += r->count;
    drop_views(r);
    if (r->at == r->total) {
        if (r->stack) /* of an image the warning was given before, for all planes */
            airy_job_warn_dummy(&r->d, r->all.dtype, r->dummies);
        return AIRY_OK;
    }
    if (!r->whole) {
        const size_t rest = r->chosen - r->next, count = rest < r->run ? rest : r->run;
        airy_array_destroy(&r->d.src);
        airy_array_destroy(&r->d.mask);
        AIRY_TRY(read_planes(r, count));
        r->d.image.shape[0] = count;
        AIRY_TRY(airy_job_image_push(&r->d, r->is_bad));
        r->next += count;
    }
    AIRY_TRY(airy_job_image_begin(&r->d, r->at, r->total));
    return open_views(r);
}

void airy_job_planes_close(struct airy_job_planes *r)
{
    drop_views(r);
    airy_job_image_close(&r->d);
    if (r->borrowed)
        r->all.data = NULL;
    airy_image_free(&r->all);
    airy_stack_destroy(&r->stack);
    free(r->mask);
    free(r->is_bad);
}
