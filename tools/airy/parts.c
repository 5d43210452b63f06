/* airy integrate --layout processes: the parent, and its workers. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd_integrate.h"
#include "workers.h"

/* Readers of a worker that shares a device, at least. */
enum { READERS_LEAST = 2 };

/* What each worker gets of threads, memory and readers; the parent's own matrix is one share. */
static airy_status share_out(struct workers_board *board, const struct integration *job)
{
    airy_device_info device;
    airy_run_info plan;
    airy_status status = airy_device_get_info(job->device, &device);
    if (status == AIRY_OK)
        status = airy_integrate_plan(&plan, job->stack, &job->integrator, 1, &job->run);
    if (status != AIRY_OK)
        return status;
    const bool cpu = strcmp(device.backend, "cpu") == 0;
    const size_t count = board->count;
    /* Memory of a device is not handed out twice; that of the host is the system's matter. */
    const uint64_t limit = job->common->memory_limit ? job->common->memory_limit
                           : cpu                     ? 0
                                                     : device.memory;
    snprintf(board->device, sizeof(board->device), "%s", airy_device_spec(job->device));
    board->memory_limit = limit / (count + 1);
    board->rows = integration_rows(job);
    for (size_t i = 0; i < count; i++) {
        const size_t threads = device.units / count + (i < device.units % count);
        board->seats[i].threads = cpu ? (uint32_t)(threads ? threads : 1) : 0;
        board->seats[i].readers = cpu ? 0
                                  : plan.readers / count > READERS_LEAST
                                      ? (uint32_t)(plan.readers / count)
                                      : READERS_LEAST;
    }
    return AIRY_OK;
}

/* The workers' counts as those of one run. */
static void gather(airy_run_info *info, const struct workers *workers)
{
    for (size_t i = 0; i < workers->count; i++) {
        const airy_run_info *one = &workers->board->seats[i].info;
        info->frames += one->frames;
        info->host_bytes += one->host_bytes;
        info->device_bytes += one->device_bytes;
        info->stored_bytes += one->stored_bytes;
        info->decoded_bytes += one->decoded_bytes;
        integrate_add_bad(info, one);
    }
    const airy_run_info *first = &workers->board->seats[0].info;
    info->batch = first->batch;
    info->slots = first->slots;
    info->readers = first->readers;
}

/* --profile: the table of each worker, or the rows of all with the worker's number. */
static int profile(const struct workers *workers)
{
    const struct common *common = workers->common;
    json_t *all = json_array();
    int code = AIRY_EXIT_OK;
    for (size_t i = 0; i < workers->count && common->profile && code == AIRY_EXIT_OK; i++) {
        char *text = workers_answer(workers, i);
        json_t *rows = text && common->profile_file ? json_loads(text, 0, NULL) : NULL, *row;
        size_t k;
        json_array_foreach(rows, k, row)
        {
            json_object_set_new(row, "worker", json_integer((json_int_t)i + 1));
            json_array_append(all, row);
        }
        if (text && !common->profile_file)
            fprintf(stderr, "worker %zu of %zu\n%s", i + 1, workers->count, text);
        if (!text || (common->profile_file && !rows))
            code = tool_fail(common, "--profile: worker %zu has left none", i + 1);
        json_decref(rows);
        free(text);
    }
    if (code == AIRY_EXIT_OK && common->profile_file)
        code = tool_write_profile(common, all);
    json_decref(all);
    return code;
}

/* After the workers have ended: one line when it was not to the end. */
static int conclude(const struct integration *job, const struct workers *workers, size_t done,
                    bool created)
{
    char partial[4300], advice[4500] = "";
    snprintf(partial, sizeof(partial), "%s.partial", job->params->output);
    if (done == 0 && created)
        unlink(partial); /* as a run by one process does: there is nothing to go on with */
    if (tool_exists(partial))
        snprintf(advice, sizeof(advice), "the same command with --resume continues %s", partial);
    const int code = workers_report(workers, advice);
    if (code != AIRY_EXIT_OK || workers->stop_time == 0 || done == job->frames)
        return code;
    return tool_fail(job->common, "stopped after %zu of %zu frames%s%s", done, job->frames,
                     *advice ? "; " : "", advice);
}

/* While the partial file is open to the workers. */
static int supervise(const struct integration *job, struct workers *workers, airy_run_info *info)
{
    struct progress progress;
    progress_begin(&progress, job->common, "frames");
    workers_run(workers, progress_step, &progress, info->resumed, job->frames);
    progress_end(&progress);
    gather(info, workers);
    size_t done = info->resumed;
    for (size_t i = 0; i < workers->count; i++)
        done += atomic_load(&workers->board->seats[i].done);
    return conclude(job, workers, done, !job->run.resume);
}

static int run_workers(struct integration *job, struct workers *workers, airy_run_info *info)
{
    const struct common *common = job->common;
    const char *output = job->params->output;
    airy_status status = share_out(workers->board, job);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    int code = workers_start(workers, "integrate-part");
    if (code != AIRY_EXIT_OK)
        return code;
    if (!workers_ready(workers))
        return conclude(job, workers, 0, false);
    const double start = tool_now();
    status = airy_run_create(output, job->stack, job->integrator, &job->run, info);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    code = supervise(job, workers, info);
    if (code != AIRY_EXIT_OK)
        return code;
    airy_run_info finished;
    const double worked = workers->last_end - start; /* without the end of the processes */
    status = airy_run_finish(output, job->stack, job->integrator, &job->run, &finished);
    info->seconds = worked + finished.seconds;
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

int parts_run(struct integration *job, airy_run_info *info)
{
    struct workers workers;
    memset(info, 0, sizeof(*info));
    int code = workers_open(&workers, job->common, job->layout.processes);
    if (code == AIRY_EXIT_OK)
        code = run_workers(job, &workers, info);
    if (job->common->verbose && workers.board)
        workers_repeat_talk(&workers);
    if (code == AIRY_EXIT_OK && job->common->profile)
        code = profile(&workers);
    workers_close(&workers);
    return code;
}

/* An airy_progress_fn with a struct worker_link. */
static bool part_step(void *user, size_t done, size_t total)
{
    const struct worker_link *link = user;
    (void)total;
    atomic_store(&link->seat->done, done);
    return worker_wanted(link) && !tool_interrupted();
}

/* An airy_claim_fn with a struct worker_link. */
static bool part_claim(void *user, size_t least, size_t *first, size_t *count)
{
    const struct worker_link *link = user;
    struct workers_board *board = link->board;
    *count = worker_claim(least, board->rows, atomic_load(&board->next), board->count);
    *first = atomic_fetch_add(&board->next, *count);
    return worker_wanted(link) && !tool_interrupted();
}

/* The words of the run are the parent's, which may be those of the run that it resumes. */
static airy_status take_configuration(struct integration *job)
{
    char partial[4300];
    snprintf(partial, sizeof(partial), "%s.partial", job->params->output);
    const airy_status status =
        airy_hdf5_text(&job->configuration, partial, "/entry/integrate/configuration");
    job->run.configuration = job->configuration;
    return status;
}

static int work(struct integration *job, struct worker_link *link)
{
    const struct common *common = job->common;
    job->run.parts = link->board->count;
    job->run.claim = part_claim;
    job->run.claim_user = link;
    job->run.readers = link->seat->readers;
    job->run.progress = part_step;
    job->run.user = link;
    const int code = integrate_check_memory(job);
    if (code != AIRY_EXIT_OK)
        return code;
    if (!worker_begin(link)) {
        atomic_store(&link->seat->stopped, true);
        return AIRY_EXIT_FAILED;
    }
    airy_status status = take_configuration(job);
    if (status == AIRY_OK)
        status = airy_run_work(job->params->output, job->stack, &job->integrator, 1, &job->run,
                               &link->seat->info);
    if (status == AIRY_ERR_STOPPED) {
        atomic_store(&link->seat->stopped, true);
        return AIRY_EXIT_FAILED;
    }
    if (status != AIRY_OK)
        return integrate_failed(common, status);
    atomic_store(&link->seat->done, link->seat->info.frames);
    worker_end(link);
    if (!common->profile)
        return AIRY_EXIT_OK;
    if (common->profile_file)
        return tool_print_json(common, tool_profile_rows(job->device));
    return airy_profile_print(job->device, stdout) == AIRY_OK ? AIRY_EXIT_OK : AIRY_EXIT_FAILED;
}

int parts_work(const struct integrate_params *params, const airy_geometry *replayed)
{
    struct integrate_params own = *params;
    struct common *common = &own.geometry.common;
    struct worker_link link;
    struct integration job;
    int code = worker_attach(&link, common, params->part);
    if (code == AIRY_EXIT_OK) {
        common->device = link.board->device;
        common->memory_limit = link.board->memory_limit;
        common->threads = link.seat->threads;
        code = integration_open(&job, &own, replayed);
        if (code == AIRY_EXIT_OK)
            code = work(&job, &link);
        integration_close(&job);
    }
    worker_detach(&link);
    return code;
}
