/* Values that detectors write into gaps and bad pixels, and where they got into a result. */
#include <math.h>

#include "airy/gaps.h"
#include "images/image_util.h"
#include "integrate/integrate.h"
#include "result/patterns.h"

enum { LOOKS = 8 }; /* frames that are read where nothing tells which ones have such values */

/* Rows of a result whose largest pixel that counted is such a value. */
static void find_rows(struct gap_rows *rows, const struct integration *job, const char *result)
{
    airy_image max = {0};
    const double least = airy_gap_least(job->info.dtype);
    if (rows->known || isinf(least) || !result ||
        patterns_read_column(&max, result, "max") != AIRY_OK)
        return;
    rows->known = true;
    for (size_t i = 0; i < tool_count(max.shape, max.ndim); i++)
        if (airy_image_value(&max, i) >= least && rows->count++ == 0)
            rows->first = i;
    airy_image_free(&max);
}

/* Look at `count` frames of the run from `first` on, by `step`; the pixels of the first that has any. */
static size_t look(airy_stack_gaps *gaps, const struct integration *job, size_t first, size_t count,
                   size_t step)
{
    *gaps = (airy_stack_gaps){.stack = job->stack,
                              .mask = job->pixels.mask,
                              .first = job->run.first + first * job->run.step,
                              .step = step * job->run.step,
                              .count = count,
                              .last = job->run.last};
    return airy_stack_find_gaps(gaps);
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
    airy_stack_gaps gaps;
    const size_t found = rows.known ? look(&gaps, job, rows.first * each, each, 1)
                                    : look(&gaps, job, 0, LOOKS, apart ? apart : 1);
    if (!found)
        return;
    char more[96] = "";
    if (rows.count > 1)
        snprintf(more, sizeof(more), ", the first of %zu %s with such pixels,", rows.count,
                 each > 1 ? "patterns" : "frames");
    tool_say(job->common,
             "%s: %zu pixel%s of frame %zu%s %s %.0f, %s, and part of the result; --dummy=%.0f "
             "--delta-dummy %d leaves them out",
             job->common->inputs.items[0], found, tool_s(found), gaps.number, more,
             found == 1 ? "is" : "are", gaps.value, airy_gap_writers(dtype),
             is_signed ? -2 : airy_dtype_largest(dtype),
             is_signed ? 1 : (int)(airy_dtype_largest(dtype) - airy_gap_least(job->info.dtype)));
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
