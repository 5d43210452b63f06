#include "jobs/integrate/ranks.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/thread.h"

#define ROW(member, ...) AIRY_JOB_ROW(struct airy_ranks_values, member, __VA_ARGS__)
const struct airy_job_row airy_ranks_rows[] = {
    ROW(per_rank, .name = "per-rank", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_WHERE,
        .help = "writes a file for each process of a launcher, which the output shows as one",
        .section = "Several processes (mpirun, srun)"),
    {{0}, 0, NULL}};
#undef ROW

airy_status airy_integration_check_ranks(const airy_job *job)
{
    const struct airy_integrate_values *v = job->values;
    const bool hdf5 = v->output && !airy_integration_is_text(v);
    AIRY_FAIL_ON_IF(v->ranks.per_rank && !hdf5, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s: output '%s' is no .h5 or .nxs file", "per-rank",
                    v->output ? v->output : "");
    AIRY_FAIL_ON_IF(v->ranks.per_rank && v->grid[0], AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s and grid exclude each other: maps are of all rows", "per-rank");
    AIRY_FAIL_ON_IF(airy_job_has_ranks(job) && !hdf5, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s '%s': ranks write one .h5 together; text files and rows in memory are made "
                    "by one process, without the launcher or with mpi=off",
                    "output", v->output ? v->output : "");
    return AIRY_OK;
}

/* What a rank may use of its machine. */
struct share {
    int node;
    cpu_set_t cores;
};

/*
 * Cores of this rank: those of its affinity mask, each divided by the ranks of this machine that
 * may use it, too. A launcher that binds gives each rank its own; one that does not, all to all.
 */
static double count_cores(const struct share *all, size_t ranks, size_t mine)
{
    double cores = 0;
    for (int c = 0; c < CPU_SETSIZE; c++) {
        int users = 0;
        if (!CPU_ISSET(c, &all[mine].cores))
            continue;
        for (size_t i = 0; i < ranks; i++)
            users += all[i].node == all[mine].node && CPU_ISSET(c, &all[i].cores);
        cores += 1.0 / users;
    }
    return cores;
}

/* Nobody has set them. A cgroup's quota is less than the mask, and shared like it. */
static airy_status choose_threads(struct airy_integration *it)
{
    struct airy_world *world = &it->world;
    const size_t size = airy_world_size(world);
    struct share mine = {.node = world->ranks->node}, *all = NULL;
    airy_status status = airy_memory_calloc((void **)&all, size, sizeof(*all), "shares of ranks");
    if (sched_getaffinity(0, sizeof(mine.cores), &mine.cores) != 0)
        CPU_ZERO(&mine.cores);
    status = airy_world_agree(world, status, NULL, NULL);
    if (status == AIRY_OK)
        status = airy_world_gather(world, &mine, sizeof(mine), all);
    const double allowed = CPU_COUNT(&mine.cores);
    if (status == AIRY_OK && !it->compute.threads && allowed > 0) {
        const double part = count_cores(all, size, airy_world_rank(world)) / allowed;
        const double threads = floor((double)airy_thread_limit() * part + 1e-6);
        it->compute.threads = threads >= 1 ? (size_t)threads : 1;
    }
    free(all);
    return status;
}

/* The GPU of the local rank, as the driver numbers those that it shows to this process. */
static airy_status choose_gpu(struct airy_integration *it)
{
    const airy_job_ranks *ranks = it->world.ranks;
    airy_device_info *list = NULL;
    size_t count = 0, gpus = 0, k = 0;
    AIRY_TRY(airy_device_list(&list, &count));
    for (size_t i = 0; i < count; i++)
        gpus += list[i].gpu && list[i].usable;
    for (size_t i = 0; i < count; i++) {
        if (!list[i].gpu || !list[i].usable)
            continue;
        if (k++ != (size_t)ranks->local_rank % gpus)
            continue;
        snprintf(it->spec, sizeof(it->spec), "%s", list[i].spec);
        it->compute.device = it->spec;
        const size_t sharing = ((size_t)ranks->local_size - 1) / gpus + 1;
        if (sharing > 1 && !it->compute.memory_limit) /* a GPU's memory is not handed out twice */
            it->compute.memory_limit = list[i].memory / sharing;
    }
    airy_device_list_free(list);
    return AIRY_OK;
}

airy_status airy_integration_settle_ranks(struct airy_integration *it)
{
    const char *wish = it->compute.device ? it->compute.device : getenv("AIRY_DEVICE");
    if (airy_world_is_alone(&it->world))
        return AIRY_OK;
    AIRY_TRY(choose_threads(it));
    return !wish || !*wish || strcmp(wish, "gpu") == 0 || strcmp(wish, "gpu:all") == 0
               ? choose_gpu(it)
               : AIRY_OK;
}

/* Rank 0 reports what each of them has. */
static airy_status report_shares(struct airy_integration *it, const airy_device_info *device)
{
    const airy_job_ranks *ranks = it->world.ranks;
    const size_t size = airy_world_size(&it->world), threads = it->compute.threads;
    char mine[384], (*all)[384] = NULL;
    snprintf(mine, sizeof(mine),
             "rank %d of %d, %d of %d on its machine: %.63s (%.127s), %zu thread%s", ranks->rank,
             ranks->size, ranks->local_rank, ranks->local_size, device->spec, device->name, threads,
             threads == 1 ? "" : "s");
    airy_status status = airy_memory_calloc((void **)&all, size, sizeof(*all), "shares of ranks");
    status = airy_world_agree(&it->world, status, NULL, NULL);
    if (status == AIRY_OK)
        status = airy_world_gather(&it->world, mine, sizeof(mine), all);
    for (size_t i = 0; status == AIRY_OK && i < size; i++)
        airy_job_message(it->job, AIRY_LOG_INFO, "%s", all[i]);
    free(all);
    return status;
}

airy_status airy_integration_share_ranks(struct airy_integration *it)
{
    enum { SLOTS = 8, SLOTS_LEAST = 3, READERS_LEAST = 2 }; /* as devices of one process do */
    airy_device_info device;
    airy_run_info plan;
    if (airy_world_is_alone(&it->world))
        return AIRY_OK;
    const size_t sharing = (size_t)it->world.ranks->local_size, threads = it->compute.threads;
    AIRY_TRY(airy_device_get_info(it->job->device, &device));
    AIRY_TRY(airy_integrate_plan(&plan, it->stack, it->integrators, it->count, &it->run));
    AIRY_TRY(report_shares(it, &device));
    if (strcmp(device.backend, "cpu") == 0 || sharing == 1 || it->layout == LAYOUT_SERIAL)
        return AIRY_OK;
    it->run.readers = airy_min_size(plan.readers, airy_max_size(threads, READERS_LEAST));
    if (plan.slots > SLOTS / sharing)
        it->run.slots = airy_max_size(SLOTS / sharing, SLOTS_LEAST);
    return AIRY_OK;
}

void airy_integration_end_ranks(const struct airy_integration *it)
{
    if (airy_world_is_first(&it->world))
        airy_ranks_remove_surplus(it);
}

/* Rows in memory are those of one process. */
static airy_status refuse_rows(const airy_job *job)
{
    static const char *const rows[] = {"intensity",  "std",          "sem",   "status",
                                       "sum_signal", "sum_variance", "count", "sum_normalization"};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        AIRY_FAIL_IF(
            airy_job_is_wanted(job, rows[i]), AIRY_ERR_UNSUPPORTED,
            "the result %s stays in memory in a run of one process and one file only: read "
            "it from the output",
            rows[i]);
    return AIRY_OK;
}

bool airy_integration_has_ranks(const struct airy_integration *it)
{
    return !airy_world_is_alone(&it->world) || it->files;
}

airy_status airy_integration_begin_ranks(struct airy_integration *it)
{
    struct airy_world *world = &it->world;
    airy_status status = AIRY_OK;
    if (airy_world_is_first(world) && it->v->output && !airy_integration_is_text(it->v))
        status = airy_ranks_choose_files(it);
    AIRY_TRY(airy_world_agree(world, status, NULL, NULL));
    AIRY_TRY(airy_world_tell(world, &it->files, sizeof(it->files)));
    /* The words of the run are rank 0's, which may be those of the run that it resumes. */
    AIRY_TRY(airy_world_tell_text(world, &it->configuration));
    it->run.configuration = it->configuration;
    AIRY_TRY(airy_world_tell(world, &it->run.resume, sizeof(it->run.resume)));
    if (!airy_integration_has_ranks(it))
        return AIRY_OK;
    AIRY_TRY(refuse_rows(it->job));
    return airy_world_begin(world, AIRY_RANKS_NEXT + airy_max_size(it->files, 1));
}

/* All rows that this rank can get. */
static airy_status work(struct airy_ranks_run *run, airy_run_info *info)
{
    struct airy_integration *it = run->it;
    run->counter = AIRY_RANKS_NEXT;
    run->rows = it->rows;
    airy_ranks_take(run, &it->run);
    const airy_status status =
        airy_run_work(it->v->output, it->stack, it->integrators, it->count, &it->run, info);
    info->stopped |= status == AIRY_ERR_CANCELLED;
    return status == AIRY_ERR_CANCELLED ? AIRY_OK : status;
}

static airy_status run_one_file(struct airy_ranks_run *run, airy_run_info *info)
{
    struct airy_integration *it = run->it;
    struct airy_world *world = run->world;
    const char *output = it->v->output;
    const bool first = airy_world_is_first(world);
    airy_status status =
        first ? airy_run_create(output, it->stack, it->integrators[0], &it->run, info) : AIRY_OK;
    AIRY_TRY(airy_world_agree(world, status, NULL, NULL));
    run->resumed = info->resumed;
    AIRY_TRY(airy_world_tell(world, &run->resumed, sizeof(run->resumed)));
    const uint64_t start = airy_clock_ns();
    status = airy_ranks_gather(run, info, work(run, info));
    if (status == AIRY_OK && first)
        status = airy_run_finish(output, it->stack, it->integrators[0], &it->run, NULL);
    info->seconds = (double)(airy_clock_ns() - start) * 1e-9;
    return status;
}

airy_status airy_integration_run_ranks(struct airy_integration *it, airy_run_info *info)
{
    struct airy_ranks_run run = {.it = it, .world = &it->world};
    const size_t ranks = airy_world_size(run.world);
    it->run.arrays = NULL;
    it->run.progress = NULL; /* of the work alone */
    if (it->rows < ranks)
        airy_job_message(it->job, AIRY_LOG_WARN,
                         "%zu pattern%s for %zu ranks: the others have nothing to do", it->rows,
                         it->rows == 1 ? "" : "s", ranks);
    const airy_status status = it->files ? airy_ranks_run_files(&run, info)
                                         : run_one_file(&run, info);
    info->resumed = run.resumed;
    return airy_world_agree(run.world, status, NULL, NULL);
}
