#include "integrate/ranks.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

int ranks_check(const struct integrate_params *p)
{
    const struct common *common = &p->geometry.common;
    if (p->per_rank && p->output && !integrate_is_hdf5_name(p->output))
        return tool_usage(common, "--per-rank: output '%s' is no .h5 or .nxs file", p->output);
    if (p->per_rank && p->grid[0])
        return tool_usage(common, "--per-rank does not go with --grid, whose maps are of all rows");
    if (world_alone(p->world))
        return AIRY_EXIT_OK;
    if (p->output && ascii_name(p->output))
        return tool_usage(common,
                          "output '%s': ranks write one .h5 together; text files are written by "
                          "one process, without the launcher or with --mpi=off",
                          p->output);
    return AIRY_EXIT_OK;
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
static double count_cores(const struct share *all, int ranks, int mine)
{
    double cores = 0;
    for (int c = 0; c < CPU_SETSIZE; c++) {
        int users = 0;
        if (!CPU_ISSET(c, &all[mine].cores))
            continue;
        for (int i = 0; i < ranks; i++)
            users += all[i].node == all[mine].node && CPU_ISSET(c, &all[i].cores);
        cores += 1.0 / users;
    }
    return cores;
}

/* The GPU of the local rank, as the driver numbers those that it shows to this process. */
static int choose_gpu(const struct world *world, struct common *common, char spec[64])
{
    airy_device_info *list = NULL;
    size_t count = 0, gpus = 0, k = 0;
    const airy_status status = airy_device_list(&list, &count);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    for (size_t i = 0; i < count; i++)
        gpus += list[i].gpu && list[i].usable;
    for (size_t i = 0; i < count; i++) {
        if (!list[i].gpu || !list[i].usable)
            continue;
        if (k++ != (size_t)world->place.local_rank % gpus)
            continue;
        snprintf(spec, 64, "%s", list[i].spec);
        common->device = spec;
        const size_t ranks = ((size_t)world->place.local_size - 1) / gpus + 1;
        if (ranks > 1 && !common->memory_limit) /* a GPU's memory is not handed out twice */
            common->memory_limit = list[i].memory / ranks;
    }
    airy_device_list_free(list);
    return AIRY_EXIT_OK;
}

int ranks_settle(struct world *world, struct integrate_params *params, char spec[64])
{
    struct common *common = &params->geometry.common;
    const int size = world->place.size, rank = world->place.rank;
    struct share mine = {.node = world->place.node}, *all = calloc((size_t)size, sizeof(*all));
    int code = all ? AIRY_EXIT_OK : tool_fail(common, "out of memory");
    if (sched_getaffinity(0, sizeof(mine.cores), &mine.cores) != 0)
        CPU_ZERO(&mine.cores);
    if (code == AIRY_EXIT_OK)
        code = world_gather(world, &mine, sizeof(mine), all);
    const double allowed = CPU_COUNT(&mine.cores);
    if (code == AIRY_EXIT_OK && !common->threads && allowed > 0) {
        /* A cgroup's quota is less than its mask, and shared like it. */
        const double part = count_cores(all, size, rank) / allowed;
        const double threads = floor((double)tool_threads(common) * part + 1e-6);
        common->threads = threads >= 1 ? (size_t)threads : 1;
    }
    free(all);
    const char *wish = common->device ? common->device : getenv("AIRY_DEVICE");
    if (code == AIRY_EXIT_OK &&
        (!wish || !*wish || strcmp(wish, "gpu") == 0 || strcmp(wish, "gpu:all") == 0))
        code = choose_gpu(world, common, spec);
    return code;
}

int ranks_share(const struct world *world, struct integration *job)
{
    enum { SLOTS = 8, SLOTS_LEAST = 3, READERS_LEAST = 2 }; /* as devices of one process do */
    airy_device_info device;
    airy_run_info plan;
    airy_status status = airy_device_get_info(job->device, &device);
    if (status == AIRY_OK)
        status = airy_integrate_plan(&plan, job->stack, job->team.integrators, job->team.count,
                                     &job->run);
    if (status != AIRY_OK)
        return tool_failed(job->common, status);
    if (job->common->verbose)
        tool_line("integrate", "rank %d of %d, %d of %d on its machine: %s (%s), %zu thread%s",
                  world->place.rank, world->place.size, world->place.local_rank,
                  world->place.local_size, device.spec, device.name, job->common->threads,
                  tool_s(job->common->threads));
    if (strcmp(device.backend, "cpu") == 0 || world->place.local_size == 1 ||
        job->layout.layout == LAYOUT_SERIAL)
        return AIRY_EXIT_OK;
    const size_t threads = job->common->threads, slots = SLOTS / (size_t)world->place.local_size;
    job->run.readers = plan.readers < threads    ? plan.readers
                       : threads > READERS_LEAST ? threads
                                                 : READERS_LEAST;
    if (plan.slots > slots)
        job->run.slots = slots > SLOTS_LEAST ? slots : SLOTS_LEAST;
    return AIRY_EXIT_OK;
}

/* All rows that this rank can get. */
static int work(struct ranks_run *run, airy_run_info *info)
{
    struct integration *job = run->job;
    run->cell = RANKS_CELL_NEXT;
    run->rows = integration_rows(job);
    ranks_take(run, &job->run);
    const airy_status status = airy_run_work(job->params->output, job->stack, job->team.integrators,
                                             job->team.count, &job->run, info);
    if (status == AIRY_OK || status == AIRY_ERR_CANCELLED)
        return AIRY_EXIT_OK;
    return tool_failed(job->common, status);
}

static int run_one_file(struct ranks_run *run, airy_run_info *info)
{
    struct integration *job = run->job;
    struct world *world = run->world;
    const char *output = job->params->output;
    airy_status status = AIRY_OK;
    if (world_first(world))
        status = airy_run_create(output, job->stack, job->integrator, &job->run, info);
    if (status != AIRY_OK)
        return tool_failed(job->common, status);
    run->resumed = info->resumed;
    int code = world_tell(world, &run->resumed, sizeof(run->resumed));
    if (code != AIRY_EXIT_OK)
        return code;
    const double start = tool_now();
    code = work(run, info);
    code = ranks_gather(run, info, code);
    if (code == AIRY_EXIT_OK && world_first(world))
        status = airy_run_finish(output, job->stack, job->integrator, &job->run, NULL);
    info->seconds = tool_now() - start;
    info->resumed = run->resumed;
    return status == AIRY_OK ? code : tool_failed(job->common, status);
}

int ranks_run(struct integration *job, airy_run_info *info)
{
    struct world *world = job->params->world;
    struct ranks_run run = {.job = job, .world = world};
    memset(info, 0, sizeof(*info));
    int code = integrate_check_memory(job);
    /* The words of the run are rank 0's, which may be those of the run that it resumes. */
    if (code == AIRY_EXIT_OK)
        code = world_tell_text(world, &job->configuration);
    job->run.configuration = job->configuration;
    if (code == AIRY_EXIT_OK)
        code = world_tell(world, &job->run.resume, sizeof(job->run.resume));
    if (code != AIRY_EXIT_OK)
        return code;
    const size_t rows = integration_rows(job);
    if (!world_alone(world) && rows < (size_t)world->place.size)
        tool_say(job->common, "%zu pattern%s for %d ranks: the others have nothing to do", rows,
                 tool_s(rows), world->place.size);
    progress_begin(&run.progress, job->common, "frames");
    run.progress.active = run.progress.active && world_first(world);
    /* A launcher kills its ranks a second after the signal, which may come amid a long batch. */
    char line[TOOL_SHOWN + 100], shown[TOOL_SHOWN];
    snprintf(line, sizeof(line),
             "airy integrate: stopping; the same command with --resume continues %s.partial\n",
             tool_shown(shown, job->params->output));
    if (world_first(world) && !world_alone(world))
        tool_at_interrupt(line);
    code = job->files ? ranks_files_run(&run, info) : run_one_file(&run, info);
    tool_at_interrupt(NULL);
    progress_end(&run.progress);
    return world_agree(world, code, NULL, NULL);
}

/* Standard deviation of both together, from count, mean and standard deviation of each. */
static double join_std(const airy_profile_row *a, const airy_profile_row *b)
{
    const double n = (double)a->count, m = (double)b->count, all = n + m, apart = b->mean - a->mean;
    return sqrt((n * a->std * a->std + m * b->std * b->std + n * m / all * apart * apart) / all);
}

/* Into the row of the same name, or a new one; the median is lost. */
static void add_row(airy_profile_row *rows, size_t *count, const airy_profile_row *one)
{
    size_t i = 0;
    while (i < *count &&
           (strcmp(rows[i].name, one->name) != 0 || rows[i].transfer != one->transfer))
        i++;
    if (i == *count) {
        rows[(*count)++] = *one;
        return;
    }
    airy_profile_row *row = &rows[i];
    row->std = join_std(row, one);
    row->count += one->count;
    row->total += one->total;
    row->bytes += one->bytes;
    row->min = fmin(row->min, one->min);
    row->max = fmax(row->max, one->max);
    row->mean = row->count ? row->total / (double)row->count : 0;
}

static int print_rows(const struct common *common, const airy_profile_row *rows, size_t count,
                      int ranks)
{
    if (!common->profile_file) {
        fprintf(stderr, "sum of %d ranks\n%-32s %8s %10s %10s %10s %10s %12s %8s\n", ranks,
                "kernel or copy", "count", "min ms", "max ms", "mean ms", "std ms", "total ms",
                "GB/s");
        for (size_t i = 0; i < count; i++) {
            const airy_profile_row *r = &rows[i];
            fprintf(stderr, "%-32s %8llu %10.4f %10.4f %10.4f %10.4f %12.2f %8.2f\n", r->name,
                    (unsigned long long)r->count, r->min, r->max, r->mean, r->std, r->total,
                    r->total > 0 ? r->bytes / r->total * 1e-6 : 0.0);
        }
        return AIRY_EXIT_OK;
    }
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const airy_profile_row *r = &rows[i];
        json_array_append_new(
            list,
            json_pack("{s:s, s:b, s:I, s:o, s:n, s:o, s:o, s:o, s:o, s:o, s:i}", "name", r->name,
                      "transfer", r->transfer, "count", (json_int_t)r->count, "min_ms",
                      tool_json_number(r->min), "median_ms", "max_ms", tool_json_number(r->max),
                      "mean_ms", tool_json_number(r->mean), "std_ms", tool_json_number(r->std),
                      "total_ms", tool_json_number(r->total), "bytes",
                      r->bytes > 0 ? tool_json_number(r->bytes) : json_null(), "ranks", ranks));
    }
    const int code = tool_write_profile(common, list);
    json_decref(list);
    return code;
}

/* What a device of this rank has done. Exit code. */
static int add_device(airy_profile_row *rows, size_t *count, size_t most,
                      const struct integration *job, const airy_device *device)
{
    airy_profile_row *own = NULL;
    size_t own_count = 0;
    const airy_status status = airy_profile_get(device, &own, &own_count);
    if (status != AIRY_OK)
        return tool_failed(job->common, status);
    for (size_t i = 0; i < own_count && *count < most; i++)
        add_row(rows, count, &own[i]);
    airy_profile_free(own);
    return AIRY_EXIT_OK;
}

int ranks_profile(struct integration *job)
{
    enum { MOST = 256 }; /* rows of a rank: kernels and copies have far fewer names */
    struct world *world = job->params->world;
    const size_t ranks = (size_t)world->place.size;
    struct rows {
        size_t count;
        airy_profile_row list[MOST];
    } *mine = calloc(1, sizeof(*mine)), *all = calloc(ranks, sizeof(*all));
    airy_profile_row *sum = calloc(ranks * MOST, sizeof(*sum));
    size_t count = 0;
    int code = mine && all && sum ? AIRY_EXIT_OK : tool_fail(job->common, "out of memory");
    for (size_t i = 0; code == AIRY_EXIT_OK && i < job->team.count; i++)
        code = add_device(mine->list, &mine->count, MOST, job, job->team.devices[i]);
    if (code == AIRY_EXIT_OK)
        code = world_gather(world, mine, sizeof(*mine), all);
    count = 0;
    for (size_t r = 0; code == AIRY_EXIT_OK && r < ranks; r++)
        for (size_t i = 0; i < all[r].count; i++)
            add_row(sum, &count, &all[r].list[i]);
    if (code == AIRY_EXIT_OK && world_first(world))
        code = print_rows(job->common, sum, count, world->place.size);
    free(mine);
    free(all);
    free(sum);
    return code;
}
