#include "jobs/integrate/notes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "jobs/integrate/resume.h"

void airy_integration_warn_groups(const struct airy_integration *it)
{
    const size_t group = airy_min_size(it->run.group, it->frames);
    char last[64] = "";
    if (group < 2)
        return;
    if (it->frames % group)
        snprintf(last, sizeof(last), ", the last one of %zu", it->frames % group);
    airy_job_message(it->job, AIRY_LOG_WARN, "%s=%zu: %zu frames make %zu pattern%s%s",
                     airy_merge_name(it->run.merge), group, it->frames, it->rows,
                     it->rows == 1 ? "" : "s", last);
}

void airy_integration_warn_threads(const struct airy_integration *it, unsigned threads)
{
    airy_device_info device;
    const uint64_t limit = it->v->compute.memory_limit;
    for (size_t i = 0; i < it->job->device_count && threads > 0; i++)
        if (airy_device_get_info(it->job->devices[i], &device) == AIRY_OK &&
            strcmp(device.backend, "cpu") == 0 && device.units > threads)
            airy_job_message(it->job, AIRY_LOG_WARN,
                             "memory-limit=%llu left room for %u of %u threads of %s",
                             (unsigned long long)limit, threads, device.units, device.spec);
}

void airy_integration_warn_degrees(const struct airy_integration *it)
{
    const airy_integrator_params *p = &it->params;
    const airy_unit second = p->azimuth_unit ? p->azimuth_unit : AIRY_UNIT_CHI_DEG;
    const double *a = p->azimuth_range, turn = airy_unit_turn(second);
    if (p->has_azimuth_range && turn != 0 && turn < 360 && fabs(a[0]) < 6.3 && fabs(a[1]) < 6.3)
        airy_job_message(it->job, AIRY_LOG_WARN,
                         "azimuth-range=%g,%g: these are degrees, also with azimuthal=%s", a[0],
                         a[1], airy_unit_name(second));
}

void airy_integration_warn_dummy(const struct airy_integration *it)
{
    const struct airy_job_image image = {.job = it->job, .bad = &it->v->pixels.bad};
    if (!airy_job_can_be_dummy(image.bad, it->info.dtype))
        airy_job_warn_dummy(&image, it->info.dtype, 0);
}

/* Rows of a result whose largest pixel that counted is such a value. */
static void find_rows(struct airy_gap_rows *rows, const struct airy_integration *it,
                      const char *result)
{
    const double least = airy_gap_least(it->info.dtype);
    size_t count = 0;
    double *max = NULL;
    if (!rows->known && !isinf(least) && result)
        (void)airy_integration_read_column(&max, &count, result, "frame/max");
    rows->known |= max != NULL;
    for (size_t i = 0; i < count; i++)
        if (max[i] >= least && rows->count++ == 0)
            rows->first = i;
    free(max);
}

/* Pixels of the first frame that has any: of those of a row, or of some of all. */
static size_t look(airy_stack_gaps *gaps, const struct airy_integration *it,
                   const struct airy_gap_rows *rows, size_t group)
{
    const airy_run_params *run = &it->run;
    const size_t chosen[3] = {run->first, run->last, run->step};
    if (!rows->known)
        return it->frames ? airy_job_find_gaps(gaps, it->stack, it->pixels.mask, chosen, it->frames)
                          : 0;
    *gaps = (airy_stack_gaps){.stack = it->stack,
                              .mask = it->pixels.mask,
                              .first = run->first + rows->first * group * run->step,
                              .step = run->step,
                              .count = group,
                              .last = run->last};
    return airy_stack_find_gaps(gaps);
}

void airy_integration_warn_gaps(const struct airy_integration *it, const char *result,
                                const struct airy_gap_rows *known)
{
    const airy_dtype dtype = it->info.dtype;
    struct airy_gap_rows rows = known ? *known : (struct airy_gap_rows){.known = false};
    if (!it->stack || airy_dtype_is_float(dtype) || it->geometry.detector.dectris_dummy ||
        it->params.has_dummy || it->params.mask_saturated)
        return;
    find_rows(&rows, it, result);
    const size_t group = airy_max_size(airy_min_size(it->run.group, it->frames), 1);
    airy_stack_gaps gaps;
    const size_t found = rows.known && rows.count == 0 ? 0 : look(&gaps, it, &rows, group);
    char also[96] = "";
    if (rows.count > 1)
        snprintf(also, sizeof(also), ", the first of %zu %s with such pixels,", rows.count,
                 group > 1 ? "patterns" : "frames");
    if (found)
        airy_job_warn_gap_pixels(it->job, &gaps, found, dtype, airy_integration_name(it), also,
                                 NULL);
}

void airy_integration_warn_dummy_unused(const struct airy_integration *it, const char *result)
{
    const struct airy_bad_values *bad = &it->v->pixels.bad;
    size_t count = 0;
    double sum = 0;
    /* A value that the type does not have is reported already. */
    double *invalid = NULL;
    if (airy_job_is_set(it->job, "dummy") && result && airy_job_can_be_dummy(bad, it->info.dtype))
        (void)airy_integration_read_column(&invalid, &count, result, "frame/invalid");
    for (size_t i = 0; i < count; i++)
        sum += invalid[i];
    if (invalid && sum == 0)
        airy_job_message(it->job, AIRY_LOG_WARN,
                         "dummy=%.15g leaves out no pixel beside those that are masked",
                         bad->dummy);
    free(invalid);
}

void airy_integration_warn_empty(const airy_job *job, size_t frames, size_t empty, size_t first)
{
    static const char advice[] = "saturated, dummy and masked pixels are left out, which "
                                 "saturation=V, dummy=V and mask=FILE "
                                 "decide";
    if (empty == 1)
        airy_job_message(job, AIRY_LOG_WARN, "frame %zu: no valid pixel is left; %s", first,
                         advice);
    else if (empty)
        airy_job_message(job, AIRY_LOG_WARN,
                         "no valid pixel is left in %zu of %zu frames, the first is frame %zu; %s",
                         empty, frames, first, advice);
}
