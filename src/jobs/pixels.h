/* Masks and corrections of a stack as parameters of a job. */
#ifndef AIRY_JOBS_PIXELS_H
#define AIRY_JOBS_PIXELS_H

#include "airy/gaps.h"
#include "airy/integrate_params.h"
#include "airy/pixels.h"
#include "jobs/image_group.h"

struct airy_pixel_values {
    struct airy_bad_values bad;
    struct airy_job_source mask_only, dark, flat, absorption, variance;
    struct airy_job_tuple polarization;
    bool no_solid_angle;
};
/* Without absorption and variance, which not every job has. */
extern const struct airy_job_row airy_correction_rows[];

/* Values that exclude each other. */
airy_status airy_job_check_pixels(const struct airy_pixel_values *values);
/* What the integrator takes of them without a file. */
airy_status airy_job_correction_params(const airy_job *job, airy_integrator_params *params,
                                       const struct airy_pixel_values *values);
/* Frames that they are for: those of a stack, or without one of a stream, whose mask is `mask`. */
struct airy_pixel_frames {
    const airy_stack *stack;
    const airy_stack_info *info;
    const airy_stack_meta *meta;
    const uint8_t *mask;
};
/* Masks and corrections; free them in any case. */
airy_status airy_job_load_pixels(const airy_job *job, airy_pixels *pixels,
                                 const struct airy_pixel_values *values,
                                 const struct airy_pixel_frames *frames,
                                 const airy_detector *detector, bool compat);
/*
 * Warn about values that detectors write into gaps, in frames `chosen` of a stack that are part of the
 * result. `count` frames are chosen.
 */
void airy_job_warn_stack_gaps(const airy_job *job, const airy_stack *stack, const uint8_t *mask,
                              const size_t chosen[3], size_t count, const char *path);
/*
 * Look at some of the `count` chosen frames: the pixels of the first with values that detectors write
 * into gaps and that `mask` (NULL: none) does not mark, and the warning about them. also: comes behind
 * the frame's number, or "". advice: the end of the sentence; NULL: the dummy value.
 */
size_t airy_job_find_gaps(airy_stack_gaps *gaps, const airy_stack *stack, const uint8_t *mask,
                          const size_t chosen[3], size_t count);
void airy_job_warn_gap_pixels(const airy_job *job, const airy_stack_gaps *gaps, size_t found,
                              airy_dtype dtype, const char *path, const char *also,
                              const char *advice);

#endif
