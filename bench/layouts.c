/* airy bench layouts: one stack by each layout, each a job of its own from start to exit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layouts.h"
#include "cli/world.h"

/* Of a device's memory that a process takes before it holds anything, bytes: its context. */
static const double CONTEXT_BYTES = 1024.0 * 1024 * 1024;

/* Numbers of processes in the table of the practitioners, without one process. */
static const size_t process_counts[] = {2, 4, 8, 15};
enum { PROCESS_COUNTS = sizeof(process_counts) / sizeof(process_counts[0]) };

/* What the jobs on one device have in common. */
struct series {
    struct bench *bench; /* its device is the one they run on */
    const char *spec;
    size_t units;
    double limit;                  /* frames/s */
    size_t replay;                 /* the stack so often in a row */
    struct layout_figure *figures; /* [LAYOUT_FIGURES] */
    size_t count;
    char reference[4096]; /* result of the first job */
};

static void add_job(struct series *series, enum bench_job_kind kind, enum layout layout,
                    size_t processes, size_t threads)
{
    if (series->count < LAYOUT_FIGURES)
        series->figures[series->count++] = (struct layout_figure){.kind = kind,
                                                                  .layout = layout,
                                                                  .cpu = series->bench->cpu,
                                                                  .processes = processes,
                                                                  .threads = threads};
}

/*
 * The largest number of processes that fits; `why` is what bounds it. More processes than the host
 * has threads share these: that is slow, and worth to be seen.
 */
static size_t most_processes(const struct series *series, const char **why)
{
    const struct bench *bench = series->bench;
    *why = "threads, as --threads gives them";
    if (bench->cpu && bench->common->threads)
        return series->units;
    if (!bench->info.gpu)
        return SIZE_MAX;
    const uint64_t memory = bench->info.memory_free ? bench->info.memory_free : bench->info.memory;
    *why = "GiB of the device";
    return (size_t)((double)memory / CONTEXT_BYTES);
}

static void add_processes(struct series *series)
{
    const struct bench *bench = series->bench;
    const char *why;
    char mpi[512];
    world_describe(mpi, sizeof(mpi));
    const bool ranks = strncmp(mpi, "mpi: no", 7) != 0;
    if (!ranks)
        tool_say(bench->common, "%s: ranks are left out: %s", series->spec, mpi);
    const size_t most = most_processes(series, &why);
    const size_t frames = series->replay * bench->stack_info.frames;
    for (size_t i = 0; i < PROCESS_COUNTS; i++) {
        const size_t n = process_counts[i];
        if (n > most)
            tool_say(bench->common, "%s: %zu processes are left out: there are %zu %s",
                     series->spec, n, most, why);
        else if (n > frames)
            tool_say(bench->common, "%s: %zu processes are left out: there %s %zu frame%s",
                     series->spec, n, frames == 1 ? "is" : "are", frames, tool_s(frames));
        else { /* on the CPU each has one thread: n cores, as in the other layouts */
            const size_t threads = bench->cpu ? n : 0;
            add_job(series, BENCH_JOB_COMMANDS, LAYOUT_AUTO, n, threads);
            if (ranks)
                add_job(series, BENCH_JOB_RANKS, LAYOUT_AUTO, n, threads);
        }
    }
}

static void add_jobs(struct series *series)
{
    const bool cpu = series->bench->cpu;
    const size_t units = series->units;
    add_job(series, BENCH_JOB_LAYOUT, LAYOUT_SERIAL, 1, cpu ? units : 0);
    for (size_t n = 1; cpu && n < units; n *= 2)
        add_job(series, BENCH_JOB_LAYOUT, LAYOUT_THREADS, 1, n);
    if (cpu)
        add_job(series, BENCH_JOB_LAYOUT, LAYOUT_THREADS, 1, units);
    add_processes(series);
    if (!cpu)
        add_job(series, BENCH_JOB_LAYOUT, LAYOUT_DEVICE, 1, 0);
}

static const char *word_of(const struct layout_figure *figure)
{
    return figure->kind == BENCH_JOB_LAYOUT     ? layout_name(figure->layout)
           : figure->kind == BENCH_JOB_COMMANDS ? "commands"
                                                : "ranks";
}

/* Run the job and add its times to the figure, which stays without runs where ranks cannot run. */
static int run_job(struct series *series, struct layout_figure *figure, struct bench_job *job)
{
    const struct common *common = series->bench->common;
    const int failed = bench_job_run(job);
    if (tool_interrupted())
        return AIRY_EXIT_FAILED; /* said once at the end */
    if (figure->kind == BENCH_JOB_RANKS && (failed || !(job->seconds > 0))) {
        tool_say(common, "%s: %s are left out: %s", series->spec, figure->name,
                 bench_job_why(job, failed));
        figure->runs = 0;
        return AIRY_EXIT_OK;
    }
    if (failed)
        return tool_fail(common, "layout %s cannot be started: %s", figure->name, strerror(failed));
    if (!(job->seconds > 0))
        return tool_fail(common, "layout %s failed on %s", figure->name, series->spec);
    if (!figure->runs)
        figure->first = job->wall;
    figure->frames = job->frames;
    figure->seconds[figure->runs++] = job->seconds;
    return AIRY_EXIT_OK;
}

/* The job as often as --seconds asks for, the last result against the first one's. */
static int run_figure(struct series *series, struct layout_figure *figure)
{
    const struct bench *bench = series->bench;
    const double wanted = bench_seconds(bench);
    char path[4096], name[64];
    int code = AIRY_EXIT_OK;
    if (figure->kind != BENCH_JOB_LAYOUT || figure->layout == LAYOUT_THREADS)
        snprintf(figure->name, sizeof(figure->name), "%s %zu", word_of(figure),
                 layout_count(figure));
    else
        snprintf(figure->name, sizeof(figure->name), "%s", word_of(figure));
    snprintf(name, sizeof(name), "layout-%s-%zu.h5", bench->cpu ? "cpu" : "device",
             (size_t)(figure - series->figures));
    bench_name(path, bench, name);
    struct bench_job job = {.bench = bench,
                            .spec = series->spec,
                            .path = path,
                            .kind = figure->kind,
                            .layout = figure->layout,
                            .processes = figure->processes,
                            .threads = figure->threads / figure->processes,
                            .replay = series->replay};
    const double begin = tool_now();
    do {
        unlink(path);
        code = run_job(series, figure, &job);
    } while (code == AIRY_EXIT_OK && figure->runs && figure->runs < LAYOUT_RUNS &&
             tool_now() - begin < wanted && !tool_interrupted());
    if (code != AIRY_EXIT_OK || !figure->runs)
        return code;
    if (!*series->reference) {
        snprintf(series->reference, sizeof(series->reference), "%s", path);
        figure->identical = true;
        return AIRY_EXIT_OK;
    }
    const char *differs = bench_job_difference(&job, series->reference, false);
    figure->identical = !differs;
    unlink(path);
    return differs ? tool_fail(bench->common, "layout %s on %s: %s is not what layout %s gives",
                               figure->name, series->spec, differs, series->figures[0].name)
                   : AIRY_EXIT_OK;
}

/* Return the figure that the speed-up is against: one thread, or one process on the device. */
static const struct layout_figure *base_of(const struct series *series,
                                           const struct layout_figure *figure)
{
    for (size_t i = 0; i < series->count; i++) {
        const struct layout_figure *one = &series->figures[i];
        if (one->layout == (figure->cpu ? LAYOUT_THREADS : LAYOUT_DEVICE))
            return one; /* of threads the first: one */
    }
    return figure;
}

static void add_row(const struct series *series, struct layout_figure *figure, struct timing *t)
{
    struct bench *bench = series->bench;
    char name[64], note[96] = "";
    snprintf(name, sizeof(name), "layout %s", figure->name);
    if (figure->processes > series->units && !bench->info.gpu)
        snprintf(note, sizeof(note), "%zu processes share %zu thread%s", figure->processes,
                 series->units, tool_s(series->units));
    memcpy(t->times, figure->seconds, sizeof(figure->seconds));
    t->count = figure->runs;
    t->first = figure->first;
    t->host_peak = t->device_peak = (double)NAN; /* of processes that are gone */
    t->stolen = (double)NAN;
    bench_add_rate(bench, t,
                   &(struct bench_row){.name = name,
                                       .unit = "frames/s",
                                       .amount = figure->frames,
                                       .limit = series->limit,
                                       .limit_name = bench->cpu
                                                         ? "copy of the decoded frames"
                                                         : "copy of these chunks to the device",
                                       .frames = (size_t)figure->frames,
                                       .note = *note ? note : NULL});
    figure->speed_up = layout_rate(figure, 0.5) / layout_rate(base_of(series, figure), 0.5);
    json_t *row = json_array_get(bench->rows, json_array_size(bench->rows) - 1);
    json_object_set_new(row, "layout", json_string(word_of(figure)));
    json_object_set_new(row, "processes", json_integer((json_int_t)figure->processes));
    json_object_set_new(row, "threads",
                        figure->threads ? json_integer((json_int_t)figure->threads) : json_null());
    json_object_set_new(row, "speed_up", json_real(figure->speed_up));
    json_object_set_new(
        row, "speed_up_serial", /* the first figure is the serial layout */
        json_real(layout_rate(figure, 0.5) / layout_rate(&series->figures[0], 0.5)));
    json_object_set_new(row, "identical", json_boolean(figure->identical));
}

/* The limit, and from it how often the stack makes a job of a third of --seconds at that rate. */
static airy_status measure(struct series *series)
{
    struct bench *bench = series->bench;
    const airy_stack_info *info = &bench->stack_info;
    const double decoded = (double)(info->height * info->width * airy_dtype_size(info->dtype));
    const double stored = (double)info->stored_bytes / (double)info->frames;
    const airy_status status = bench_measure_wire(bench);
    if (status != AIRY_OK)
        return status;
    series->limit = bench->cpu ? bench->limits.inside / decoded : bench->limits.wire / stored;
    const double wanted = series->limit * fmin(bench_seconds(bench) / 3, 4);
    series->replay = bench->params->has_replay
                         ? bench->params->replay
                         : (size_t)fmin(fmax(wanted / (double)info->frames, 1), 4096);
    return AIRY_OK;
}

/* All layouts of one device. */
static int run_series(struct series *series)
{
    struct bench *bench = series->bench;
    series->spec = airy_device_spec(bench->device);
    series->units = bench->info.units ? bench->info.units : 1;
    const airy_status status = measure(series);
    if (status != AIRY_OK)
        return bench_failed(bench, status);
    add_jobs(series);
    int code = AIRY_EXIT_OK;
    size_t kept = 0;
    for (size_t i = 0; i < series->count && code == AIRY_EXIT_OK && !tool_interrupted(); i++) {
        code = run_figure(series, &series->figures[i]);
        if (series->figures[i].runs)
            series->figures[kept++] = series->figures[i];
    }
    series->count = kept;
    struct timing *t = malloc(sizeof(*t));
    for (size_t i = 0; t && i < series->count && code == AIRY_EXIT_OK && !tool_interrupted(); i++)
        add_row(series, &series->figures[i], t);
    free(t);
    return code;
}

/* The CPU's layouts beside those of a GPU that nobody has named. */
static int run_cpu_too(struct bench *bench, struct series *series)
{
    struct bench beside = *bench;
    struct common common = *bench->common;
    common.device = "cpu";
    beside.common = &common;
    beside.device = NULL;
    beside.queue = NULL;
    beside.limits = (struct bench_limits){0};
    beside.cpu = true;
    airy_status status = tool_device(&common, &beside.device);
    if (status == AIRY_OK)
        status = airy_queue_create(&beside.queue, beside.device);
    if (status == AIRY_OK)
        status = airy_device_get_info(beside.device, &beside.info);
    series->bench = &beside;
    const int code = status == AIRY_OK ? run_series(series) : bench_failed(bench, status);
    airy_queue_destroy(&beside.queue);
    airy_device_destroy(&beside.device);
    series->bench = bench;
    return code;
}

int bench_layouts(struct bench *bench)
{
    struct layout_figure *figures = calloc(2 * LAYOUT_FIGURES, sizeof(*figures));
    struct series *both = calloc(2, sizeof(*both));
    const char *wish = getenv("AIRY_DEVICE");
    const bool named = bench->common->device || (wish && *wish);
    int code = figures && both ? bench_folder(bench) : tool_fail(bench->common, "out of memory");
    if (code == AIRY_EXIT_OK && !bench->cpu && !named) {
        both[0].figures = figures;
        code = run_cpu_too(bench, &both[0]);
    }
    if (code == AIRY_EXIT_OK && !tool_interrupted()) {
        both[1].bench = bench;
        both[1].figures = figures + both[0].count;
        code = run_series(&both[1]);
    }
    if (code == AIRY_EXIT_OK && bench->params->plot && !tool_interrupted())
        code = layouts_plot(bench, figures, both[0].count + both[1].count);
    free(both);
    free(figures);
    return code;
}
