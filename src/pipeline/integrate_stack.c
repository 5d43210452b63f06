#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "pipeline/integrate_run.h"

static airy_status integrate_alone(struct airy_integrate_job *job, const char *path)
{
    struct airy_run *run = &job->run;
    struct airy_run_plan plan;
    AIRY_FAIL_IF(path && run->params->parts > 1, AIRY_ERR_PARAM,
                 "airy_integrate_stack: parts = %zu, expected 1: parts of a file are for "
                 "airy_run_work",
                 run->params->parts);
    AIRY_FAIL_IF(run->params->claim, AIRY_ERR_PARAM,
                 "airy_integrate_stack: rows are claimed in airy_run_work only");
    /* What cannot be done for all rows fails before a file is made. */
    AIRY_TRY(airy_run_plan_make(&plan, run, NULL, run->total_rows, NULL));
    if (path)
        AIRY_TRY(airy_integrate_file_open(job, path, AIRY_RUN_ALONE));
    airy_integrate_clear_arrays(job);
    AIRY_TRY(airy_run_execute(run));
    return job->file ? airy_integrate_file_finish(job) : AIRY_OK;
}

/* Frames whose row of the file is not pending. */
static size_t done_rows(const struct airy_integrate_job *job)
{
    const struct airy_run *run = &job->run;
    const size_t groups = airy_run_groups(run);
    size_t done = 0;
    for (size_t i = 0; i < groups; i++)
        if (!airy_pattern_file_row_pending(job->file, i))
            done += airy_min_size(run->group, run->total_rows - i * run->group);
    return done;
}

static airy_status create_file(struct airy_integrate_job *job, const char *path)
{
    AIRY_TRY(airy_integrate_file_open(job, path, AIRY_RUN_ALONE));
    if (job->run.params->resume)
        AIRY_TRY(airy_pattern_file_retry(job->file));
    job->run.out->resumed = done_rows(job);
    return AIRY_OK;
}

static airy_status work_on_part(struct airy_integrate_job *job, const char *path)
{
    if (path)
        AIRY_TRY(airy_integrate_file_open(job, path, AIRY_RUN_JOIN));
    airy_integrate_clear_arrays(job);
    return airy_run_execute(&job->run);
}

static airy_status finish_file(struct airy_integrate_job *job, const char *path)
{
    struct airy_run *run = &job->run;
    AIRY_TRY(airy_integrate_file_open(job, path, AIRY_RUN_GATHER));
    const size_t pending = airy_pattern_file_pending(job->file);
    run->out->frames = done_rows(job);
    run->out->stopped = pending > 0;
    AIRY_FAIL_IF(pending, AIRY_ERR_INCOMPLETE, "'%s.partial': %zu of %zu rows are not written",
                 path, pending, airy_run_groups(run));
    if (run->params->own_normalizations)
        AIRY_TRY(airy_pattern_file_separate(job->file));
    return airy_integrate_file_finish(job);
}

/* A run of the public calls. */
struct call {
    const char *name, *path;
    const airy_stack *stack;
    const airy_integrator *const *integrators;
    size_t count;
    const airy_run_params *params;
    airy_run_info *info;
};

/* Open, do, close; the first failure is the one that is told. */
static airy_status execute(const struct call *call,
                           airy_status (*what)(struct airy_integrate_job *job, const char *path))
{
    static const airy_run_params defaults;
    airy_run_info local, *info = call->info ? call->info : &local;
    const uint64_t start = airy_clock_ns();
    *info = (airy_run_info){0};
    struct airy_integrate_job job = {
        .run = {.stack = call->stack,
                .params = call->params ? call->params : &defaults,
                .out = info},
        .integrators = call->integrators,
        .count = call->count,
    };
    airy_status status = airy_integrate_open(&job, call->name);
    if (status == AIRY_OK)
        status = what(&job, call->path);
    airy_error error = {.status = AIRY_OK};
    (void)airy_error_first(&error, status);
    /* Unfinished: what is done can be resumed. */
    airy_integrate_close(&job, status == AIRY_OK || what != integrate_alone ||
                                   job.run.params->resume || info->frames + info->resumed > 0);
    info->seconds = (double)(airy_clock_ns() - start) * 1e-9;
    return status == AIRY_OK ? status : airy_error_restore(&error);
}

airy_status airy_integrate_stack(const char *path, const airy_stack *stack,
                                 airy_integrator *const *integrators, size_t count,
                                 const airy_run_params *params, airy_run_info *info)
{
    const struct call call = {"airy_integrate_stack",
                              path,
                              stack,
                              (const airy_integrator *const *)integrators,
                              count,
                              params,
                              info};
    return execute(&call, integrate_alone);
}

airy_status airy_run_create(const char *path, const airy_stack *stack,
                            const airy_integrator *integrator, const airy_run_params *params,
                            airy_run_info *info)
{
    const struct call call = {"airy_run_create", path, stack, &integrator, 1, params, info};
    return execute(&call, create_file);
}

airy_status airy_run_work(const char *path, const airy_stack *stack,
                          airy_integrator *const *integrators, size_t count,
                          const airy_run_params *params, airy_run_info *info)
{
    const struct call call = {
        "airy_run_work", path,   stack, (const airy_integrator *const *)integrators,
        count,           params, info};
    return execute(&call, work_on_part);
}

airy_status airy_run_finish(const char *path, const airy_stack *stack,
                            const airy_integrator *integrator, const airy_run_params *params,
                            airy_run_info *info)
{
    const struct call call = {"airy_run_finish", path, stack, &integrator, 1, params, info};
    return execute(&call, finish_file);
}
