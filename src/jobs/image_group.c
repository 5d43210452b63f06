#include "jobs/image_group.h"

#include <math.h>
#include <stdio.h>

#include "base/number.h"

#define ROW(member, ...) AIRY_JOB_ROW(struct airy_image_values, member, __VA_ARGS__)
const struct airy_job_row airy_image_rows[] = {
    ROW(image, .name = "image", .type = AIRY_PARAMETER_PATH, .array = true, .role = AIRY_ROLE_INPUT,
        .argument = "IMAGE", .help = "the image, cube or stack"),
    ROW(channel, .name = "channel", .type = AIRY_PARAMETER_TEXT, .argument = "NAME|N",
        .fallback = "the first, with a warning", .computed = true,
        .help = "selects a channel of a detector that has several, by its name such as threshold_1 "
                "or by its number from 1 on",
        .section = "Input"),
    {{0}, 0, NULL}};
#undef ROW

#define ROW(member, ...) AIRY_JOB_ROW(struct airy_bad_values, member, __VA_ARGS__)
const struct airy_job_row airy_bad_rows[] = {
    ROW(mask, .name = "mask", .type = AIRY_PARAMETER_PATH, .array = true, .role = AIRY_ROLE_READ,
        .help = "leaves out the pixels where this image is not 0; it has the shape of the image, "
                "or of one frame for all of a stack",
        .section = "Bad pixels"),
    ROW(dummy, .name = "dummy", .type = AIRY_PARAMETER_REAL, .any = true, .argument = "V",
        .help = "leaves out pixels of this value, such as those in the gaps of a detector"),
    ROW(delta_dummy, .name = "delta-dummy", .type = AIRY_PARAMETER_REAL, .hi = INFINITY,
        .argument = "D", .fallback = "0",
        .help = "extends the value V of {dummy} to those from V - D to V + D",
        .only_with = {"dummy", NULL}),
    {{0}, 0, NULL}};
#undef ROW

size_t airy_shape_count(const size_t *shape, int ndim)
{
    size_t count = 1;
    for (int i = 0; i < ndim; i++)
        count *= shape[i];
    return count;
}

const char *airy_job_image_name(const struct airy_job_image *d)
{
    return d->from->image.is_array ? "image" : d->from->image.path;
}

bool airy_job_image_finds_bad(const struct airy_job_image *d)
{
    return d->bad && (airy_source_is_given(&d->bad->mask) || airy_job_is_set(d->job, "dummy"));
}

airy_status airy_job_image_refuse_mask(const struct airy_job_image *d, const airy_image *mask,
                                       const airy_image *image)
{
    const char *path = d->bad->mask.path;
    char got[AIRY_SHAPE_TEXT], want[AIRY_SHAPE_TEXT];
    return airy_hinted(AIRY_HINT_STATED,
                       airy_fail_on(AIRY_ERR_SHAPE, AIRY_SUBJECT_PARAMETER,
                                    "%s%s%s: has %s values, the image %s; give one of that shape",
                                    "mask", path ? " " : "", path ? path : "",
                                    airy_shape_text(got, mask->shape, mask->ndim),
                                    airy_shape_text(want, image->shape, image->ndim)));
}

airy_status airy_job_load_real(airy_image *image, const struct airy_job_source *source)
{
    if (source->is_array)
        return airy_job_load_image(image, source);
    return airy_image_read_real(image, source->path);
}

airy_status airy_job_image_open_stack(airy_stack **stack, const struct airy_job_image *d,
                                      bool verified)
{
    const char *path = d->from->image.path;
    const airy_stack_params params = {.channel = d->from->channel, .unverified = !verified};
    AIRY_FAIL_IF(!path, AIRY_ERR_UNSUPPORTED, "an array is no stack");
    return airy_stack_create_with(stack, &path, 1, &params);
}
