/* Values that detectors write into gaps and bad pixels, and where they got into a result. */
#include <math.h>
#include <stdlib.h>

#include "images/image_util.h"
#include "integrate/integrate.h"
#include "result/patterns.h"

enum { LOOKS = 8 }; /* frames that are read where nothing tells which ones have such values */

double integration_gap_least(const struct integration *job)
{
    const airy_dtype dtype = job->info.dtype;
    const size_t size = airy_dtype_size(dtype);
    if (airy_dtype_is_float(dtype) || airy_dtype_is_signed(dtype))
        return (double)INFINITY;
    return image_limit(dtype) - (size > 2 ? 2 : size == 2 ? 1 : 0);
}

/* Rows of a result whose largest pixel that counted is such a value. */
static void find_rows(struct gap_rows *rows, const struct integration *job, const char *result)
{
    airy_image max = {0};
    const double least = integration_gap_least(job);
    if (rows->known || isinf(least) || !result ||
        patterns_read_column(&max, result, "max") != AIRY_OK)
        return;
    rows->known = true;
    for (size_t i = 0; i < tool_count(max.shape, max.ndim); i++)
        if (airy_image_value(&max, i) >= least && rows->count++ == 0)
            rows->first = i;
    airy_image_free(&max);
}

/* Pixels that count and have such a value, *value: of the first of them. */
static size_t count_gaps(const struct integration *job, const airy_image *frame, double *value)
{
    const size_t count = frame->shape[0] * frame->shape[1];
    const double least = integration_gap_least(job);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const double v = airy_image_value(frame, i);
        if ((v < least && !image_is_gap(frame->dtype, v, false)) || (job->mask && job->mask[i]))
            continue;
        *value = found++ ? *value : v;
    }
    return found;
}

/*
 * Number of the run's first frame that has such pixels, and how many these are: of `count` frames
 * from `first` on, by `step`.
 */
static size_t look(const struct integration *job, size_t *number, double *value, size_t first,
                   size_t count, size_t step)
{
    airy_image frame = {
        .dtype = job->info.dtype, .ndim = 2, .shape = {job->info.height, job->info.width}};
    const size_t size = job->info.height * job->info.width * airy_dtype_size(frame.dtype);
    size_t found = 0;
    frame.data = malloc(size);
    for (size_t i = 0; frame.data && i < count && found == 0; i++) {
        *number = job->run.first + (first + i * step) * job->run.step;
        if (*number < job->run.last &&
            airy_stack_read(job->stack, *number, frame.data, size) == AIRY_OK)
            found = count_gaps(job, &frame, value);
    }
    free(frame.data);
    return found;
}

void integration_say_gaps(const struct integration *job, const char *result,
                          const struct gap_rows *known)
{
    const airy_dtype dtype = job->info.dtype;
    const bool is_signed = airy_dtype_is_signed(dtype);
    struct gap_rows rows = known ? *known : (struct gap_rows){0};
    if (!job->stack || airy_dtype_is_float(dtype) || job->geometry.detector.dectris_dummy ||
        job->integrator_params.has_dummy || job->params->mask_saturated)
        return;
    find_rows(&rows, job, result);
    if (rows.known && rows.count == 0)
        return;
    const size_t group = job->run.group < job->frames ? job->run.group : job->frames,
                 each = group > 1 ? group : 1, apart = (job->frames - 1) / (LOOKS - 1);
    size_t number = 0;
    double value = 0;
    const size_t found = rows.known ? look(job, &number, &value, rows.first * each, each, 1)
                                    : look(job, &number, &value, 0, LOOKS, apart ? apart : 1);
    if (!found)
        return;
    char more[96] = "";
    if (rows.count > 1)
        snprintf(more, sizeof(more), ", the first of %zu %s with such pixels,", rows.count,
                 each > 1 ? "patterns" : "frames");
    tool_say(job->common,
             "%s: %zu pixel%s of frame %zu%s %s %.0f, %s, and part of the result; --dummy=%.0f "
             "--delta-dummy %d leaves them out",
             job->common->inputs.items[0], found, tool_s(found), number, more,
             found == 1 ? "is" : "are", value, image_gap_words(dtype),
             is_signed ? -2 : image_limit(dtype),
             is_signed ? 1 : (int)(image_limit(dtype) - integration_gap_least(job)));
}

void integration_say_dummy_unused(const struct integration *job, const char *result)
{
    const struct integrate_params *p = job->params;
    airy_image invalid = {0};
    double sum = 0;
    if (!p->bad.has_dummy || job->files ||
        !bad_pixels_can_be(&p->bad, job->info.dtype) /* else it is said already */
        || !result || patterns_read_column(&invalid, result, "invalid") != AIRY_OK)
        return;
    for (size_t i = 0; i < tool_count(invalid.shape, invalid.ndim); i++)
        sum += airy_image_value(&invalid, i);
    airy_image_free(&invalid);
    if (sum == 0)
        tool_say(job->common, "--dummy=%.15g leaves out no pixel beside those that are masked",
                 p->bad.dummy);
}
