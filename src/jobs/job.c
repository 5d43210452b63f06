/* A job from its creation to the end of its run. */
#include "jobs/job.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "io/file/plain_file.h"

airy_status airy_job_make(airy_job **job, const struct airy_job_kind *kind, airy_context *context,
                          const airy_job_hooks *hooks)
{
    airy_job *made;
    AIRY_TRY(airy_memory_calloc((void **)&made, 1, sizeof(*made), "a job"));
    made->kind = kind;
    made->context = context;
    airy_context_hold(context);
    made->hooks = hooks ? *hooks : (airy_job_hooks){0};
    const airy_status status = airy_job_open_values(made);
    if (status != AIRY_OK) {
        airy_job_release(made);
        return status;
    }
    *job = made;
    return AIRY_OK;
}

static void release_results(airy_job *job)
{
    for (size_t i = 0; i < AIRY_JOB_RESULTS; i++) {
        free(job->made[i].data);
        free(job->made[i].text);
        job->made[i] = (struct airy_job_made){.is_there = false};
    }
    job->summary[0] = 0;
    job->begun = job->ended = 0;
}

static void forget_devices(airy_job *job)
{
    job->device = NULL;
    job->devices = NULL;
    job->device_count = 0;
}

void airy_job_release(airy_job *job)
{
    airy_job_close_state(job);
    release_results(job);
    for (size_t i = 0; i < job->row_count; i++)
        airy_value_clear(job->rows[i], job->fields[i]);
    airy_context_let_go(job->context);
    free(job->values);
    free(job);
}

/* A state that airy_job_resolve has left open keeps its devices. */
static airy_status open_kind(airy_job *job)
{
    if (job->state)
        return AIRY_OK;
    forget_devices(job);
    if (!job->kind->open)
        return AIRY_OK;
    AIRY_TRY(airy_memory_calloc(&job->state, 1, job->kind->state_size, "a job"));
    return job->kind->open(job, job->state);
}

static airy_status run_state(airy_job *job)
{
    struct airy_held_files held;
    if (!job->kind->together)
        return job->kind->run(job, job->state);
    airy_files_hold(&held);
    return airy_files_let_go(&held, job->kind->run(job, job->state));
}

bool airy_job_has_ranks(const airy_job *job)
{
    return job->hooks.ranks && job->hooks.ranks->size > 1;
}

/* The run, after which all is closed; the record of a failure outlives that. */
static airy_status run_kind(airy_job *job)
{
    airy_error error = {.status = AIRY_OK};
    airy_status status = airy_job_has_ranks(job) ? AIRY_OK : airy_job_keep_outputs(job);
    if (status == AIRY_OK)
        status = open_kind(job);
    if (status == AIRY_OK && !job->state)
        status = airy_memory_calloc(&job->state, 1, job->kind->state_size, "a job");
    if (status == AIRY_OK)
        status = run_state(job);
    if (status < AIRY_OK)
        (void)airy_error_first(&error, status);
    airy_job_close_state(job);
    return status < AIRY_OK ? airy_error_restore(&error) : status;
}

/* Whether the job was destroyed during its run. */
static bool end_run(airy_job *job)
{
    if (atomic_exchange(&job->stage, AIRY_JOB_IDLE) != AIRY_JOB_ORPHANED)
        return false;
    airy_job_release(job);
    return true;
}

/* Whoever needs a device that has failed opens it anew. */
static void drop_failed(const airy_job *job, airy_status status)
{
    if (status == AIRY_ERR_DEVICE && job->device)
        airy_context_drop_device(job->context, job->device);
}

airy_status airy_job_run_once(airy_job *job)
{
    release_results(job);
    job->is_lossy = false;
    atomic_store(&job->done, 0);
    atomic_store(&job->total, 0);
    job->begun = airy_clock_ns();
    /* One of several ranks goes to where the others are told. */
    const airy_status status = atomic_load(&job->cancelled) && !airy_job_has_ranks(job)
                                   ? airy_fail(AIRY_ERR_CANCELLED, "cancelled before the run")
                                   : run_kind(job);
    job->ended = job->ended ? job->ended : airy_clock_ns();
    drop_failed(job, status);
    if (status < AIRY_OK && !job->kind->keeps)
        release_results(job);
    if (status < AIRY_OK)
        forget_devices(job);
    atomic_store(&job->cancelled, false);
    return status;
}

/* Between idle and idle; what the job is destroyed for meanwhile is its end. */
static airy_status run_stage(airy_job *job, airy_status (*stage)(airy_job *job),
                             const char *function)
{
    int idle = AIRY_JOB_IDLE;
    AIRY_FAIL_IF(!job, AIRY_ERR_PARAM, "%s: job is NULL", function);
    AIRY_FAIL_IF(!atomic_compare_exchange_strong(&job->stage, &idle, AIRY_JOB_RUNS), AIRY_ERR_PARAM,
                 "%s: job %s runs already", function, job->kind->name);
    airy_status status = airy_job_check_values(job);
    if (status == AIRY_OK)
        status = stage(job);
    return end_run(job) && status >= AIRY_OK
               ? airy_fail(AIRY_ERR_CANCELLED, "the job was destroyed during its run")
               : status;
}

airy_status airy_job_run(airy_job *job)
{
    return run_stage(job, airy_job_run_once, "airy_job_run");
}

static airy_status resolve_once(airy_job *job)
{
    airy_error error = {.status = AIRY_OK};
    job->only_plans = true;
    const airy_status status = open_kind(job);
    job->only_plans = false;
    if (status == AIRY_OK)
        return AIRY_OK;
    (void)airy_error_first(&error, status);
    airy_job_close_state(job);
    drop_failed(job, status);
    forget_devices(job);
    return airy_error_restore(&error);
}

airy_status airy_job_resolve(airy_job *job)
{
    return run_stage(job, resolve_once, "airy_job_resolve");
}
