#include "jobs/pixels.h"

#include <stdlib.h>

#include "base/memory.h"

#define ROW(member, ...) AIRY_JOB_ROW(struct airy_pixel_values, member, __VA_ARGS__)
const struct airy_job_row airy_correction_rows[] = {
    ROW(bad.mask, .name = "mask", .type = AIRY_PARAMETER_PATH, .array = true,
        .role = AIRY_ROLE_READ,
        .help =
            "leaves out the pixels where this image is not 0, beside those that the detector and "
            "the frames' file mask",
        .section = "Corrections"),
    ROW(mask_only, .name = "mask-only", .type = AIRY_PARAMETER_PATH, .array = true,
        .role = AIRY_ROLE_READ,
        .help = "leaves out the pixels where this image is not 0, and takes no other mask"),
    ROW(dark, .name = "dark", .type = AIRY_PARAMETER_PATH, .array = true, .role = AIRY_ROLE_READ,
        .unit = "counts", .help = "subtracts this image"),
    ROW(flat, .name = "flat", .type = AIRY_PARAMETER_PATH, .array = true, .role = AIRY_ROLE_READ,
        .help = "divides by this image, the relative response of the pixels"),
    ROW(polarization, .name = "polarization", .type = AIRY_PARAMETER_TUPLE, .least = 1, .most = 2,
        .argument = "F[,DEG]", .fallback = "off", .computed = true,
        .help =
            "corrects for polarization by this factor from -1 to 1, in a plane of this angle in "
            "degrees"),
    ROW(no_solid_angle, .name = "no-solid-angle", .type = AIRY_PARAMETER_FLAG,
        .help = "leaves out the correction for the solid angle of pixels"),
    ROW(bad.dummy, .name = "dummy", .type = AIRY_PARAMETER_REAL, .any = true, .argument = "V",
        .fallback = "the detector's own", .computed = true,
        .help = "leaves out pixels of this value"),
    ROW(bad.delta_dummy, .name = "delta-dummy", .type = AIRY_PARAMETER_REAL, .hi = 1e300,
        .argument = "D", .fallback = "0",
        .help = "extends the value V of {dummy} to those from V - D to V + D",
        .only_with = {"dummy", NULL}),
    {{0}, 0, NULL}};
#undef ROW

/* An array is an image already; room: where it is described. */
static airy_pixel_source source_of(const struct airy_job_source *source, airy_image *room)
{
    if (source->is_array && room)
        (void)airy_job_load_image(room, source);
    return (airy_pixel_source){.path = source->path, .image = source->is_array ? room : NULL};
}

airy_status airy_job_check_pixels(const struct airy_pixel_values *v)
{
    airy_image room[2];
    const airy_pixel_params params = {.mask = source_of(&v->bad.mask, &room[0]),
                                      .mask_only = source_of(&v->mask_only, &room[1])};
    return airy_pixels_check(&params);
}

airy_status airy_job_correction_params(const airy_job *job, airy_integrator_params *params,
                                       const struct airy_pixel_values *v)
{
    params->no_solid_angle = v->no_solid_angle;
    params->has_dummy = airy_job_is_set(job, "dummy");
    params->dummy = v->bad.dummy;
    params->delta_dummy = v->bad.delta_dummy;
    if (!v->polarization.count)
        return AIRY_OK;
    return airy_tuple_refuse(
        "polarization", &v->polarization,
        airy_params_set_polarization(params, v->polarization.values, v->polarization.count));
}

/* The frames' own mask; *own: malloc'ed where it was read. */
static airy_status find_mask(const uint8_t **mask, uint8_t **own,
                             const struct airy_pixel_frames *frames)
{
    *mask = frames->mask;
    if (!frames->stack)
        return AIRY_OK;
    AIRY_TRY(airy_memory_calloc((void **)own, frames->info->height, frames->info->width, "a mask"));
    *mask = *own;
    return airy_stack_mask(frames->stack, *own);
}

airy_status airy_job_load_pixels(const airy_job *job, airy_pixels *pixels,
                                 const struct airy_pixel_values *v,
                                 const struct airy_pixel_frames *frames,
                                 const airy_detector *detector, bool compat)
{
    airy_image room[6];
    uint8_t *own = NULL;
    airy_pixel_params params = {.mask = source_of(&v->bad.mask, &room[0]),
                                .mask_only = source_of(&v->mask_only, &room[1]),
                                .dark = source_of(&v->dark, &room[2]),
                                .flat = source_of(&v->flat, &room[3]),
                                .absorption = source_of(&v->absorption, &room[4]),
                                .variance = source_of(&v->variance, &room[5]),
                                .keep_negative = compat,
                                .message = airy_job_pass_message,
                                .user = (void *)job};
    const bool has_mask = frames->meta->has_mask && !airy_source_is_given(&v->mask_only);
    airy_status status = has_mask ? find_mask(&params.file_mask, &own, frames) : AIRY_OK;
    if (status == AIRY_OK)
        status =
            airy_pixels_load(pixels, &params, detector, frames->info->height, frames->info->width);
    free(own);
    return status;
}

size_t airy_job_find_gaps(airy_stack_gaps *gaps, const airy_stack *stack, const uint8_t *mask,
                          const size_t chosen[3], size_t count)
{
    enum { LOOKS = 8 };
    airy_stack_info info;
    if (airy_stack_get_info(stack, &info) != AIRY_OK)
        return 0;
    const size_t step = chosen[2] ? chosen[2] : 1, apart = (count - 1) / (LOOKS - 1);
    *gaps = (airy_stack_gaps){.stack = stack,
                              .mask = mask,
                              .first = chosen[0],
                              .step = (apart ? apart : 1) * step,
                              .count = LOOKS,
                              .last = chosen[1] ? chosen[1] : info.frames};
    return airy_stack_find_gaps(gaps);
}

void airy_job_warn_gap_pixels(const airy_job *job, const airy_stack_gaps *gaps, size_t found,
                              airy_dtype dtype, const char *path, const char *also,
                              const char *advice)
{
    const bool is_signed = airy_dtype_is_signed(dtype);
    const double largest = airy_dtype_largest(dtype);
    char dummy[128];
    snprintf(dummy, sizeof(dummy), "dummy=%.0f delta-dummy=%d leaves them out",
             is_signed ? -2 : largest, is_signed ? 1 : (int)(largest - airy_gap_least(dtype)));
    airy_job_message(job, AIRY_LOG_WARN,
                     "%s: %zu pixel%s of frame %zu%s %s %.0f, %s, and part of the result; %s", path,
                     found, found == 1 ? "" : "s", gaps->number, also, found == 1 ? "is" : "are",
                     gaps->value, airy_gap_writers(dtype), advice ? advice : dummy);
}

void airy_job_warn_stack_gaps(const airy_job *job, const airy_stack *stack, const uint8_t *mask,
                              const size_t chosen[3], size_t count, const char *path)
{
    airy_stack_info info;
    airy_stack_gaps gaps;
    if (airy_stack_get_info(stack, &info) != AIRY_OK || airy_dtype_is_float(info.dtype))
        return;
    const size_t found = airy_job_find_gaps(&gaps, stack, mask, chosen, count);
    if (found)
        airy_job_warn_gap_pixels(job, &gaps, found, info.dtype, path, "", NULL);
}
