#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "pipeline/run.h"

/* Rows of this part that are not in the partial file yet; those to claim come later. */
static airy_status list_rows(struct airy_run *run)
{
    AIRY_TRY(
        airy_memory_calloc((void **)&run->rows, run->total_rows, sizeof(run->rows[0]), "rows"));
    if (run->params->claim)
        return AIRY_OK;
    const size_t groups = airy_run_groups(run);
    for (size_t row = 0; row < run->total_rows; row++) {
        if (!airy_run_is_mine(run->params, row / run->group, groups))
            continue;
        if (run->file && airy_pattern_file_done(run->file, row / run->group))
            run->resumed++;
        else
            run->rows[run->row_count++] = row;
    }
    run->out->resumed = run->resumed;
    return AIRY_OK;
}

/* All rows of this part, into the file that is open or nowhere. */
static airy_status do_rows(struct airy_run *run)
{
    AIRY_TRY(list_rows(run));
    const bool claimed = run->params->claim != NULL;
    if (run->row_count || claimed) {
        AIRY_TRY(airy_run_prepare(run));
        airy_run_start(run);
        AIRY_TRY(airy_run_join(run));
    }
    run->out->stopped = run->stopped &&
                        (run->out->frames < run->row_count || (claimed && !run->exhausted));
    AIRY_FAIL_IF(run->out->stopped, AIRY_ERR_CANCELLED, "stopped after %zu of %zu frames",
                 run->resumed + run->out->frames, run->resumed + run->row_count);
    return AIRY_OK;
}

static airy_status open_run(struct airy_run *run, const char *call, airy_run_info *info)
{
    static const airy_run_params defaults;
    *info = (airy_run_info){0};
    run->out = info;
    if (!run->params)
        run->params = &defaults;
    return airy_run_open(run, call);
}

static airy_status integrate_alone(struct airy_run *run, const char *path)
{
    struct airy_run_plan plan;
    AIRY_FAIL_IF(path && run->params->parts > 1, AIRY_ERR_PARAM,
                 "airy_integrate_stack: parts = %zu, expected 1: parts of a file are for "
                 "airy_run_work",
                 run->params->parts);
    AIRY_FAIL_IF(run->params->claim, AIRY_ERR_PARAM,
                 "airy_integrate_stack: rows are claimed in airy_run_work only");
    /* What cannot be done for all rows fails before a file is made. */
    AIRY_TRY(airy_run_plan_make(&plan, run->stack, &run->info, &run->team, run->params, NULL,
                                run->total_rows, NULL));
    if (path)
        AIRY_TRY(airy_run_file_open(run, path, AIRY_RUN_ALONE));
    AIRY_TRY(do_rows(run));
    return run->file ? airy_run_file_finish(run) : AIRY_OK;
}

/* Frames whose row of the file is not pending. */
static size_t done_rows(const struct airy_run *run)
{
    const size_t groups = airy_run_groups(run);
    size_t done = 0;
    for (size_t i = 0; i < groups; i++)
        if (!airy_pattern_file_row_pending(run->file, i))
            done += airy_min_size(run->group, run->total_rows - i * run->group);
    return done;
}

static airy_status create_file(struct airy_run *run, const char *path)
{
    AIRY_TRY(airy_run_file_open(run, path, AIRY_RUN_ALONE));
    if (run->params->resume)
        AIRY_TRY(airy_pattern_file_retry(run->file));
    run->out->resumed = done_rows(run);
    return AIRY_OK;
}

static airy_status work_on_part(struct airy_run *run, const char *path)
{
    if (path)
        AIRY_TRY(airy_run_file_open(run, path, AIRY_RUN_JOIN));
    return do_rows(run);
}

static airy_status finish_file(struct airy_run *run, const char *path)
{
    AIRY_TRY(airy_run_file_open(run, path, AIRY_RUN_GATHER));
    const size_t pending = airy_pattern_file_pending(run->file);
    run->out->frames = done_rows(run);
    run->out->stopped = pending > 0;
    AIRY_FAIL_IF(pending, AIRY_ERR_INCOMPLETE, "'%s.partial': %zu of %zu rows are not written",
                 path, pending, airy_run_groups(run));
    if (run->params->own_normalizations)
        AIRY_TRY(airy_pattern_file_separate(run->file));
    return airy_run_file_finish(run);
}

/* Open, do, close; the first failure is the one that is told. */
static airy_status execute(struct airy_run *run, const char *call, const char *path,
                           airy_status (*what)(struct airy_run *run, const char *path),
                           airy_run_info *info)
{
    airy_run_info local;
    const uint64_t start = airy_clock_ns();
    airy_status status = open_run(run, call, info ? info : &local);
    if (status == AIRY_OK)
        status = what(run, path);
    airy_error error = {.status = AIRY_OK};
    (void)airy_error_first(&error, status);
    /* Unfinished: what is done can be resumed. */
    airy_run_close(run, status == AIRY_OK || what != integrate_alone || run->params->resume ||
                            run->out->frames + run->out->resumed > 0);
    run->out->seconds = (double)(airy_clock_ns() - start) * 1e-9;
    return status == AIRY_OK ? status : airy_error_restore(&error);
}

airy_status airy_integrate_stack(const char *path, const airy_stack *stack,
                                 airy_integrator *const *integrators, size_t count,
                                 const airy_run_params *params, airy_run_info *info)
{
    struct airy_run run = {.stack = stack,
                           .team = {(const airy_integrator *const *)integrators, count, 0},
                           .params = params};
    return execute(&run, "airy_integrate_stack", path, integrate_alone, info);
}

airy_status airy_run_create(const char *path, const airy_stack *stack,
                            const airy_integrator *integrator, const airy_run_params *params,
                            airy_run_info *info)
{
    struct airy_run run = {.stack = stack, .team = {&integrator, 1, 0}, .params = params};
    return execute(&run, "airy_run_create", path, create_file, info);
}

airy_status airy_run_work(const char *path, const airy_stack *stack,
                          airy_integrator *const *integrators, size_t count,
                          const airy_run_params *params, airy_run_info *info)
{
    struct airy_run run = {.stack = stack,
                           .team = {(const airy_integrator *const *)integrators, count, 0},
                           .params = params};
    return execute(&run, "airy_run_work", path, work_on_part, info);
}

airy_status airy_run_finish(const char *path, const airy_stack *stack,
                            const airy_integrator *integrator, const airy_run_params *params,
                            airy_run_info *info)
{
    struct airy_run run = {.stack = stack, .team = {&integrator, 1, 0}, .params = params};
    return execute(&run, "airy_run_finish", path, finish_file, info);
}
