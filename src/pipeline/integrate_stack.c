#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "pipeline/integrate_run.h"

/* What a run would use, for all rows. */
static airy_status make_plan(struct airy_run *run)
{
    run->out->frames = run->total_rows;
    return airy_run_plan_make(&run->plan, run, NULL, run->total_rows, NULL);
}

/* The rows that are done stay in the file. */
static airy_status execute(struct airy_run *run)
{
    const struct airy_integrate_job *job = run->job;
    const airy_status status = airy_run_execute(run);
    return job->path ? airy_hint_becomes(AIRY_HINT_SKIP, AIRY_HINT_SKIP_RESUME, status) : status;
}

static airy_status integrate_alone(struct airy_run *run)
{
    struct airy_integrate_job *job = run->job;
    AIRY_FAIL_IF(job->path && run->params->parts > 1, AIRY_ERR_PARAM,
                 "airy_integrate_stack: parts = %zu, expected 1: parts of a file are for "
                 "airy_run_work",
                 run->params->parts);
    AIRY_FAIL_IF(run->params->claim, AIRY_ERR_PARAM,
                 "airy_integrate_stack: a work queue (claim) is for airy_run_work only");
    /* What cannot be done for all rows fails before a file is made. */
    AIRY_TRY(airy_run_plan_make(&run->plan, run, NULL, run->total_rows, NULL));
    if (job->path)
        AIRY_TRY(airy_integrate_file_open(job, AIRY_RUN_ALONE));
    airy_integrate_clear_arrays(job);
    AIRY_TRY(execute(run));
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

static airy_status create_file(struct airy_run *run)
{
    struct airy_integrate_job *job = run->job;
    AIRY_TRY(airy_integrate_file_open(job, AIRY_RUN_ALONE));
    if (run->params->resume)
        AIRY_TRY(airy_pattern_file_retry(job->file));
    run->out->resumed = done_rows(job);
    return AIRY_OK;
}

static airy_status work_on_part(struct airy_run *run)
{
    struct airy_integrate_job *job = run->job;
    if (job->path)
        AIRY_TRY(airy_integrate_file_open(job, AIRY_RUN_JOIN));
    airy_integrate_clear_arrays(job);
    return execute(run);
}

static airy_status finish_file(struct airy_run *run)
{
    struct airy_integrate_job *job = run->job;
    AIRY_TRY(airy_integrate_file_open(job, AIRY_RUN_GATHER));
    const size_t pending = airy_pattern_file_pending(job->file);
    run->out->frames = done_rows(job);
    run->out->stopped = pending > 0;
    AIRY_FAIL_IF(pending, AIRY_ERR_INCOMPLETE, "'%s.partial': %zu of %zu rows are not written",
                 job->path, pending, airy_run_groups(run));
    if (run->params->own_normalizations)
        AIRY_TRY(airy_pattern_file_separate(job->file));
    return airy_integrate_file_finish(job);
}

/* A run of the public calls. */
static airy_status run_job(const char *call, airy_status (*perform)(struct airy_run *run),
                           const char *path, const airy_stack *stack,
                           const airy_integrator *const *integrators, size_t count,
                           const airy_run_params *params, airy_run_info *info)
{
    airy_run_info local;
    struct airy_integrate_job job = {
        .run = {.stack = stack, .params = params, .out = info ? info : &local, .job = &job},
        .path = path,
        .integrators = integrators,
        .count = count,
        .shared = perform != integrate_alone,
    };
    return airy_run_do(&job.run, call, airy_integrate_open, perform, airy_integrate_close);
}

airy_status airy_integrate_plan(airy_run_info *info, const airy_stack *stack,
                                airy_integrator *const *integrators, size_t count,
                                const airy_run_params *params)
{
    AIRY_FAIL_IF(!info, AIRY_ERR_PARAM, "airy_integrate_plan: info is NULL");
    return run_job("airy_integrate_plan", make_plan, NULL, stack,
                   (const airy_integrator *const *)integrators, count, params, info);
}

airy_status airy_integrate_stack(const char *path, const airy_stack *stack,
                                 airy_integrator *const *integrators, size_t count,
                                 const airy_run_params *params, airy_run_info *info)
{
    return run_job("airy_integrate_stack", integrate_alone, path, stack,
                   (const airy_integrator *const *)integrators, count, params, info);
}

airy_status airy_run_create(const char *path, const airy_stack *stack,
                            const airy_integrator *integrator, const airy_run_params *params,
                            airy_run_info *info)
{
    return run_job("airy_run_create", create_file, path, stack, &integrator, 1, params, info);
}

airy_status airy_run_work(const char *path, const airy_stack *stack,
                          airy_integrator *const *integrators, size_t count,
                          const airy_run_params *params, airy_run_info *info)
{
    return run_job("airy_run_work", work_on_part, path, stack,
                   (const airy_integrator *const *)integrators, count, params, info);
}

airy_status airy_run_finish(const char *path, const airy_stack *stack,
                            const airy_integrator *integrator, const airy_run_params *params,
                            airy_run_info *info)
{
    return run_job("airy_run_finish", finish_file, path, stack, &integrator, 1, params, info);
}
