/* The integrated file of a run. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "integrate/integrator.h"
#include "io/result/nxazint.h"
#include "pipeline/integrate_run.h"

static airy_status open_as(struct airy_integrate_job *job, const struct airy_pattern_spec *spec,
                           enum integrate_file how)
{
    const airy_run_params *p = job->run.params;
    if (how == AIRY_RUN_JOIN)
        return airy_pattern_file_join(&job->file, job->path, spec);
    if (how == AIRY_RUN_GATHER)
        return airy_pattern_file_gather(&job->file, job->path, spec, p->force);
    return airy_pattern_file_create(&job->file, job->path, spec, p->force, p->resume);
}

/* Mean of one value a frame of the stack over a group. */
static double group_mean(const struct airy_run *run, const double *values, size_t group)
{
    const size_t first = group * run->group,
                 end = airy_min_size(first + run->group, run->total_rows);
    double sum = 0;
    for (size_t row = first; row < end; row++)
        sum += values[airy_run_frame(run->params, row)];
    return sum / (double)(end - first);
}

bool airy_monitor_is_usable(double monitor)
{
    return monitor > 0 && monitor <= DBL_MAX;
}

double airy_monitor_mean(const double *monitor, size_t count, size_t step)
{
    double sum = 0;
    size_t usable = 0;
    for (size_t i = 0; i < count; i++) {
        const double value = monitor[i * step];
        sum += airy_monitor_is_usable(value) ? value : 0;
        usable += airy_monitor_is_usable(value);
    }
    return usable ? sum / (double)usable : (double)NAN;
}

/* Where none can be good, the mean of what they are. */
static double group_monitor(const struct airy_run *run, size_t group)
{
    const airy_run_params *p = run->params;
    const size_t first = group * run->group,
                 count = airy_min_size(run->group, run->total_rows - first);
    const double mean =
        airy_monitor_mean(p->monitor + airy_run_frame(p, first), count, airy_max_size(p->step, 1));
    return isnan(mean) ? group_mean(run, p->monitor, group) : mean;
}

static double number_of(const airy_frame_values *v, size_t frame)
{
    if (v->dtype == AIRY_DTYPE_F64)
        return ((const double *)v->values)[frame];
    return v->dtype == AIRY_DTYPE_I64 ? (double)((const int64_t *)v->values)[frame]
                                      : (double)((const uint64_t *)v->values)[frame];
}

/* A group's value: the mean of numbers, the first text. A single frame's is what it was. */
static void fill_value(uint8_t *to, const struct airy_run *run, const airy_frame_values *v,
                       size_t size, size_t group)
{
    const size_t first = group * run->group,
                 end = airy_min_size(first + run->group, run->total_rows);
    if (v->text || run->group == 1) {
        memcpy(to + group * size,
               (const uint8_t *)v->values + airy_run_frame(run->params, first) * size, size);
        return;
    }
    double sum = 0;
    for (size_t row = first; row < end; row++)
        sum += number_of(v, airy_run_frame(run->params, row));
    sum /= (double)(end - first);
    memcpy(to + group * size, &sum, size);
}

struct columns {
    struct airy_pattern_column *list;
    char (*names)[80];
    size_t count;
};

static void free_columns(struct columns *columns)
{
    for (size_t i = 0; i < columns->count; i++)
        free((void *)columns->list[i].values);
    free(columns->list);
    free(columns->names);
}

/* By what a result has of its own, or by a column there is. */
static bool is_taken(const struct columns *columns, const char *name)
{
    static const char *const own[] = {"index",   "status",   "message",   "frames",
                                      "monitor", "total",    "max",       "roi",
                                      "roi_sum", "roi_mean", "saturated", "invalid"};
    bool taken = false;
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        taken = taken || strcmp(name, own[i]) == 0;
    for (size_t i = 0; i < columns->count; i++)
        taken = taken || strcmp(name, columns->names[i]) == 0;
    return taken;
}

static airy_status make_column(struct columns *columns, const struct airy_run *run,
                               const airy_frame_values *v)
{
    static const char *const prefixes[] = {"", "input_", "input_input_"};
    const size_t groups = airy_run_groups(run), size = v->text ? v->text : sizeof(double);
    uint8_t *values = NULL;
    char *name = columns->names[columns->count];
    bool taken = true;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]) && taken; i++) {
        snprintf(name, sizeof(columns->names[0]), "%s%s", prefixes[i], v->name);
        taken = is_taken(columns, name);
    }
    AIRY_FAIL_IF(taken, AIRY_ERR_PARAM, "per-frame metadata: several datasets are called '%s'",
                 v->name);
    AIRY_TRY(airy_memory_calloc((void **)&values, groups, size, "values of frames"));
    for (size_t i = 0; i < groups; i++)
        fill_value(values, run, v, size, i);
    columns->list[columns->count++] = (struct airy_pattern_column){
        .name = name,
        .units = v->units,
        .path = v->path,
        .dtype = run->group > 1 ? AIRY_DTYPE_F64 : v->dtype,
        .text = v->text,
        .values = values,
    };
    return AIRY_OK;
}

static airy_status make_columns(struct columns *columns, const struct airy_run *run)
{
    const size_t count = run->params->carried_count;
    if (count == 0)
        return AIRY_OK;
    AIRY_TRY(airy_memory_calloc((void **)&columns->list, count, sizeof(columns->list[0]),
                                "values of frames"));
    AIRY_TRY(airy_memory_calloc((void **)&columns->names, count, sizeof(columns->names[0]),
                                "values of frames"));
    for (size_t i = 0; i < count; i++)
        AIRY_TRY(make_column(columns, run, &run->params->carried[i]));
    return AIRY_OK;
}

static void put_rows(struct airy_fingerprint *f, const char *name, double number)
{
    airy_fingerprint_number(f, AIRY_FINGERPRINT_ROWS, name, number);
}

/* Regions field by field: what lies between the fields has no value. */
static void put_regions(struct airy_fingerprint *f, const airy_run_params *p)
{
    double limits[AIRY_PATTERN_ROIS][5];
    for (size_t i = 0; i < p->roi_count; i++) {
        const airy_roi *roi = &p->rois[i];
        const double fields[5] = {roi->radial[0], roi->radial[1], roi->has_azimuth,
                                  roi->has_azimuth ? roi->azimuth[0] : 0,
                                  roi->has_azimuth ? roi->azimuth[1] : 0};
        memcpy(limits[i], fields, sizeof(fields));
    }
    airy_fingerprint_array(f, AIRY_FINGERPRINT_ROWS, "roi", p->roi_count ? limits : NULL,
                           p->roi_count * sizeof(limits[0]));
}

/* The integrator's parameters, and those that say which rows there are. */
static void describe_run(struct airy_fingerprint *f, const struct airy_integrate_job *job)
{
    const struct airy_run *run = &job->run;
    const airy_run_params *p = run->params;
    *f = job->integrators[0]->fingerprint;
    airy_fingerprint_word(f, AIRY_FINGERPRINT_ROWS, "dtype", airy_dtype_name(run->info.dtype));
    put_rows(f, "first-frame", (double)p->first);
    put_rows(f, "frame-step", (double)airy_max_size(p->step, 1));
    /* Where all frames are one group, their number is that of the run. */
    put_rows(f, "group", p->group == SIZE_MAX ? 0 : (double)run->group);
    airy_fingerprint_word(f, AIRY_FINGERPRINT_ROWS, "merge",
                          run->group > 1 ? airy_merge_name(p->merge) : "none");
    put_regions(f, p);
    put_rows(f, "grid-rows", (double)p->grid[0]);
    put_rows(f, "grid-columns", (double)p->grid[1]);
    airy_fingerprint_word(f, AIRY_FINGERPRINT_ROWS, "zigzag",
                          p->grid[0] && p->zigzag ? "yes" : "no");
}

/* What does not depend on how many rows there are. */
static struct airy_pattern_spec describe_rows(const struct airy_integrate_job *job,
                                              struct airy_fingerprint *fingerprint)
{
    describe_run(fingerprint, job);
    const struct airy_run *run = &job->run;
    const airy_integrator *integrator = job->integrators[0];
    return (struct airy_pattern_spec){
        .rois = run->params->rois,
        .roi_count = run->params->roi_count,
        .grouped = run->group > 1,
        .differ = integrator->ring.kind != AIRY_RING_NONE,
        .bins = integrator->bins,
        .radial = integrator->radial,
        .azimuth_bins = integrator->params.azimuth_bins,
        .azimuth = integrator->azimuth,
        .unit = integrator->params.unit,
        .azimuth_unit = integrator->params.azimuth_unit,
        .errors = integrator->params.error_model != AIRY_ERROR_MODEL_NONE,
        .configuration = run->params->configuration ? run->params->configuration : "{}",
        .fingerprint = fingerprint->text,
        .owner = {.live = run->feed != NULL,
                  .go_on = run->params->progress,
                  .user = run->params->user},
    };
}

airy_status airy_integrate_file_grow(struct airy_integrate_job *job)
{
    const airy_run_params *p = job->run.params;
    const struct airy_pattern_numbers numbers = {p->first, airy_max_size(p->step, 1)};
    struct airy_fingerprint fingerprint;
    struct airy_pattern_spec spec = describe_rows(job, &fingerprint);
    spec.grows = true;
    return airy_pattern_growing_create(&job->growing, job->path, &spec, numbers, p->force,
                                       p->resume);
}

airy_status airy_integrate_file_open(struct airy_integrate_job *job, enum integrate_file how)
{
    const struct airy_run *run = &job->run;
    const airy_integrator *integrator = job->integrators[0];
    const size_t groups = airy_run_groups(run);
    uint64_t *index = NULL;
    double *monitor = NULL;
    struct columns columns = {0};
    airy_status status;
    struct airy_fingerprint fingerprint;
    struct airy_pattern_spec spec = describe_rows(job, &fingerprint);
    spec.frames = groups;
    if (how == AIRY_RUN_ALONE && !run->params->resume) /* before any list of so many rows */
        AIRY_TRY(airy_disk_check(job->path, airy_pattern_rows_size(&spec), &spec.owner));
    AIRY_TRY_OR(out,
                airy_memory_calloc((void **)&index, groups, sizeof(index[0]), "frame numbers"));
    AIRY_TRY_OR(out, airy_memory_calloc((void **)&monitor, groups, sizeof(monitor[0]), "monitor"));
    for (size_t i = 0; i < groups; i++) {
        index[i] = airy_run_frame(run->params, i * run->group);
        if (run->params->monitor)
            monitor[i] = group_monitor(run, i);
    }
    AIRY_TRY_OR(out, make_columns(&columns, run));
    if (run->params->nxazint)
        AIRY_TRY_OR(out,
                    airy_nxazint_check(integrator->params.unit, integrator->params.azimuth_unit));
    spec.columns = columns.list;
    spec.column_count = columns.count;
    spec.grid[0] = run->params->grid[0];
    spec.grid[1] = run->params->grid[1];
    spec.zigzag = run->params->zigzag;
    spec.nxazint = run->params->nxazint;
    spec.index = index;
    spec.monitor = run->params->monitor ? monitor : NULL;
    status = open_as(job, &spec, how);
out:
    free(index);
    free(monitor);
    free_columns(&columns);
    return status;
}

/* The planes of a frame without invalid pixels, for what does not differ between frames. */
airy_status airy_integrate_file_finish(struct airy_integrate_job *job)
{
    const airy_integrator *it = job->integrators[0];
    double *sums = NULL;
    if (job->growing)
        return airy_pattern_growing_finish(job->growing);
    AIRY_TRY(
        airy_memory_calloc((void **)&sums, AIRY_SUM_PLANES * it->bins, sizeof(double), "sums"));
    const size_t size = it->bins * sizeof(double);
    memcpy(sums + AIRY_SUM_NORMALIZATION * it->bins, it->base_normalization, size);
    memcpy(sums + AIRY_SUM_NORMALIZATION2 * it->bins, it->base_normalization2, size);
    memcpy(sums + AIRY_SUM_COUNT_PLANE * it->bins, it->base_count, size);
    const airy_status status = airy_pattern_file_finish(job->file, sums);
    free(sums);
    return status;
}
