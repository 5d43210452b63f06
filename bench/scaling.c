/*
 * airy bench scaling: integration on 1, 2, 4 ... cores of this machine by one process, by as many
 * commands that share the frames and by as many ranks of MPI, beside what the same cores execute
 * and read. Cores of a virtual machine may be halves of real ones, and share caches and memory in
 * any case: what can be reached is not the rate of one core times n. On a device the bench
 * integrates on 1, 2, 4 ... GPUs instead, beside copies to as many GPUs at once and reading.
 */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jobs.h"
#include "scaling.h"
#include "cli/world.h"

enum {
    MAX_CORES = 256,
    STEPS = 1 << 16,       /* of computing between two looks at the clock */
    READ_BYTES = 48 << 20, /* that a core reads, over and over */
    LOAD_MS = 40,          /* of a load */
    LOADS = 5
};

/* Rates of one number of cores, or of devices, which have no more than a number. */
struct step {
    size_t n;
    double compute, read; /* operations/s, bytes/s, of all together */
};

struct scaling {
    struct bench *bench;
    struct step steps[SCALING_STEPS];
    size_t step_count;
    struct scaling_figure figures[SCALING_FIGURES];
    size_t count;
    char path[4096];      /* of patterns, with --write; else "" */
    char reference[4096]; /* result of the first job */
    const char *no_ranks; /* why MPI cannot be measured; NULL: it can */
    char no_ranks_why[400];
};

static const char *const kind_names[SCALING_KINDS] = {"core", "command", "rank", "device"};
static const char *const kind_keys[SCALING_KINDS] = {"cores", "commands", "ranks", "devices"};

/* What the threads of a load share. */
struct load {
    bool memory; /* read, else compute */
    atomic_size_t ready;
    atomic_int go; /* 0: wait, 1: go, 2: leave */
    atomic_bool failed;
    pthread_mutex_t lock; /* of rate */
    double rate;
};

/* Chains that do not wait for each other: as much as a core executes, whoever shares it. */
static double compute(void)
{
    uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;
    double done = 0;
    const double begin = tool_now();
    double now = begin;
    for (; now - begin < 1e-3 * LOAD_MS; now = tool_now(), done += 16.0 * STEPS)
        for (uint64_t i = 0; i < STEPS; i++) {
            a += b ^ i;
            b += c ^ i;
            c += d ^ i;
            d += e ^ i;
            e += f ^ i;
            f += g ^ i;
            g += h ^ i;
            h += a ^ i;
        }
    volatile uint64_t keep = a ^ b ^ c ^ d ^ e ^ f ^ g ^ h; /* or the loop would go */
    (void)keep;
    return done / (now - begin);
}

static double read_memory(const uint64_t *data)
{
    uint64_t sum = 0;
    double done = 0;
    const double begin = tool_now();
    double now = begin;
    for (; now - begin < 1e-3 * LOAD_MS; now = tool_now(), done += READ_BYTES)
        for (size_t i = 0; i < READ_BYTES / sizeof(*data); i++)
            sum += data[i];
    volatile uint64_t keep = sum;
    (void)keep;
    return done / (now - begin);
}

static void *work(void *user)
{
    struct load *load = user;
    uint64_t *data = load->memory ? malloc(READ_BYTES) : NULL;
    if (load->memory && !data)
        atomic_store(&load->failed, true);
    if (data)
        memset(data, 1, READ_BYTES);
    atomic_fetch_add(&load->ready, 1);
    while (atomic_load(&load->go) == 0)
        sched_yield();
    if (atomic_load(&load->go) == 1 && !atomic_load(&load->failed)) {
        const double rate = data ? read_memory(data) : compute();
        pthread_mutex_lock(&load->lock);
        load->rate += rate;
        pthread_mutex_unlock(&load->lock);
    }
    free(data);
    return NULL;
}

/* So many cores together; 0 where threads or memory are short. */
static double measure_load(size_t cores, bool memory)
{
    struct load load = {.memory = memory, .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[MAX_CORES];
    size_t started = 0;
    while (started < cores && pthread_create(&threads[started], NULL, work, &load) == 0)
        started++;
    while (atomic_load(&load.ready) < started)
        sched_yield();
    const bool whole = started == cores && !atomic_load(&load.failed);
    atomic_store(&load.go, whole ? 1 : 2);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    return whole ? load.rate : 0;
}

/* The median of several: who shares the cores comes and goes. */
static double usual_load(size_t cores, bool memory, struct timing *t)
{
    for (t->count = 0; t->count < LOADS; t->count++) {
        const double rate = measure_load(cores, memory);
        if (!(rate > 0))
            return 0;
        t->times[t->count] = rate;
    }
    return bench_percentile(t, 0.5);
}

/* Threads that are started from now on stay on the first n of these cores. */
static void keep_to(const cpu_set_t *all, size_t n)
{
    cpu_set_t some;
    CPU_ZERO(&some);
    for (size_t c = 0, found = 0; c < CPU_SETSIZE && found < n; c++)
        if (CPU_ISSET(c, all)) {
            CPU_SET(c, &some);
            found++;
        }
    sched_setaffinity(0, sizeof(some), &some);
}

static const char SHORT[] = "not enough threads or memory";

/* Into the newest row. */
static void add_key(struct scaling *scaling, const char *key, json_t *value)
{
    json_t *row = json_array_get(scaling->bench->rows, json_array_size(scaling->bench->rows) - 1);
    json_object_set_new(row, key, value);
}

/* value 0: not measured, for this reason. */
static void add_number(struct scaling *scaling, const char *what, enum scaling_kind kind, size_t n,
                       const char *unit, double value, const char *why)
{
    char name[64];
    snprintf(name, sizeof(name), "%s, %zu %s%s", what, n, kind_names[kind], tool_s(n));
    if (value > 0)
        bench_add_fact(scaling->bench, name, unit, value);
    else
        bench_add_missing(scaling->bench, name, unit, why);
    add_key(scaling, kind_keys[kind], json_integer((json_int_t)n));
}

/* limit: frames/s that were measured beside it; 0: those of one, times what the cores compute. */
static struct scaling_figure *add_figure(struct scaling *scaling, enum scaling_kind kind,
                                         const struct step *step, double rate, double limit)
{
    if (scaling->count == SCALING_FIGURES)
        return &scaling->figures[SCALING_FIGURES - 1];
    struct scaling_figure *figure = &scaling->figures[scaling->count++];
    double one = rate;
    for (size_t i = scaling->count - 1; i-- > 0;)
        if (scaling->figures[i].kind == kind)
            one = scaling->figures[i].rate; /* the last to be found is the first measured */
    *figure = (struct scaling_figure){
        .kind = kind,
        .n = step->n,
        .rate = rate,
        .speed_up = rate / one,
        .limit = limit > 0 ? limit / one : step->compute / scaling->steps[0].compute};
    return figure;
}

static void add_row(struct scaling *scaling, struct bench *bench, enum scaling_kind kind,
                    const struct step *step, double frames, struct timing *t)
{
    const struct scaling_figure *figure =
        add_figure(scaling, kind, step, frames / bench_percentile(t, 0.5), 0);
    char name[64];
    snprintf(name, sizeof(name), "integrate, %zu %s%s", step->n, kind_names[kind], tool_s(step->n));
    bench_add_rate(bench, t,
                   &(struct bench_row){.name = name,
                                       .unit = "frames/s",
                                       .amount = frames,
                                       .limit = figure->rate / figure->speed_up * figure->limit,
                                       .limit_name = kind == SCALING_CORES
                                                         ? "one core, times what they compute"
                                                         : "one, times what the cores compute",
                                       .frames = (size_t)frames});
    add_key(scaling, kind_keys[kind], json_integer((json_int_t)step->n));
    add_key(scaling, "speed_up", json_real(figure->speed_up));
    if (kind != SCALING_CORES) /* else the command would have ended */
        add_key(scaling, "identical", json_true());
    add_number(scaling, "speed-up", kind, step->n, "x", figure->speed_up, NULL);
}

/* A device of so many threads on as many cores. */
static airy_status measure_cores(struct scaling *scaling, const struct step *step, struct timing *t)
{
    struct bench part = *scaling->bench;
    airy_integrator *integrator = NULL;
    struct bench_integrated done;
    part.device = NULL;
    airy_status status = airy_device_create(&part.device, "cpu",
                                            &(airy_device_params){.threads = (uint32_t)step->n});
    if (status == AIRY_OK)
        status = bench_integrator(&integrator, &part);
    if (status == AIRY_OK)
        status = bench_time_integrate(&part, &integrator, 1, *scaling->path ? scaling->path : NULL,
                                      t, &done);
    if (status == AIRY_OK)
        add_row(scaling, &part, SCALING_CORES, step, (double)done.info.frames, t);
    airy_integrator_destroy(&integrator);
    airy_device_destroy(&part.device);
    return status;
}

/* The result against the first job's; then it goes. Exit code. */
static int check_result(struct scaling *scaling, const struct bench_job *job, const char *name)
{
    if (!*scaling->reference) {
        snprintf(scaling->reference, sizeof(scaling->reference), "%s", job->path);
        return AIRY_EXIT_OK;
    }
    const char *differs = bench_job_difference(job, scaling->reference, true);
    unlink(job->path);
    return differs ? tool_fail(scaling->bench->common, "%zu %s: %s is not what one process gives",
                               job->processes, name, differs)
                   : AIRY_EXIT_OK;
}

/* Without MPI, or where mpirun does not start so many: a row that says so. */
static int miss_ranks(struct scaling *scaling, const struct step *step, const char *why)
{
    add_number(scaling, "integrate", SCALING_RANKS, step->n, "frames/s", 0, why);
    return AIRY_EXIT_OK;
}

/* Time as many commands or ranks of one thread as there are cores, with a file. Exit code. */
static int measure_jobs(struct scaling *scaling, enum scaling_kind kind, const struct step *step,
                        struct timing *t)
{
    struct bench *bench = scaling->bench;
    const bool ranks = kind == SCALING_RANKS;
    const double cores_rate = scaling->figures[scaling->count - 1].rate;
    const double wanted = cores_rate * fmin(bench_seconds(bench) / 3, 4);
    char path[4096];
    bench_name(path, bench, ranks ? "ranks.h5" : step->n == 1 ? "reference.h5" : "commands.h5");
    struct bench_job job = {
        .bench = bench,
        .spec = "cpu",
        .path = path,
        .kind = ranks ? BENCH_JOB_RANKS : BENCH_JOB_COMMANDS,
        .processes = step->n,
        .threads = 1,
        .replay = bench->params->has_replay
                      ? bench->params->replay
                      : (size_t)fmin(fmax(wanted / (double)bench->stack_info.frames, 1), 4096)};
    *t = (struct timing){.host_peak = (double)NAN, .device_peak = (double)NAN};
    const struct bench_ticks ticks = bench_ticks();
    const double begin = tool_now();
    do {
        unlink(path);
        const int failed = bench_job_run(&job);
        if (tool_interrupted())
            return AIRY_EXIT_FAILED; /* said once at the end */
        if (ranks && (failed || !(job.seconds > 0)))
            return miss_ranks(scaling, step, bench_job_why(&job, failed));
        if (failed || !(job.seconds > 0))
            return tool_fail(bench->common, "%zu command%s failed%s%s", step->n, tool_s(step->n),
                             failed ? ": " : "", failed ? strerror(failed) : "");
        t->first = t->count ? t->first : job.wall;
        t->times[t->count++] = job.seconds;
    } while (t->count < BENCH_MAX_REPEATS && tool_now() - begin < bench_seconds(bench));
    t->stolen = bench_stolen(&ticks);
    const int code = check_result(scaling, &job, kind_keys[kind]);
    if (code == AIRY_EXIT_OK)
        add_row(scaling, bench, kind, step, job.frames, t);
    return code;
}

/* 1, 2, 4 ... and all. */
static void list_steps(struct scaling *scaling, size_t most)
{
    size_t *count = &scaling->step_count;
    for (size_t n = 1; n < most && *count + 1 < SCALING_STEPS; n *= 2)
        scaling->steps[(*count)++].n = n;
    scaling->steps[(*count)++].n = most;
}

/* One number of cores, by each kind that has so many. Exit code. */
static int measure_step(struct scaling *scaling, struct step *step, const cpu_set_t *all,
                        struct timing *t)
{
    const struct bench *bench = scaling->bench;
    keep_to(all, step->n);
    step->compute = usual_load(step->n, false, t);
    step->read = usual_load(step->n, true, t);
    const airy_status status = measure_cores(scaling, step, t);
    if (status != AIRY_OK)
        return bench_failed(bench, status);
    add_number(scaling, "compute in registers", SCALING_CORES, step->n, "x",
               step->compute / scaling->steps[0].compute, SHORT);
    add_number(scaling, "read memory", SCALING_CORES, step->n, "x",
               step->read / scaling->steps[0].read, SHORT);
    if (step->n > BENCH_PROCESSES_MAX || step->n > bench->stack_info.frames)
        return AIRY_EXIT_OK;
    const int code = measure_jobs(scaling, SCALING_COMMANDS, step, t);
    if (code != AIRY_EXIT_OK)
        return code;
    return scaling->no_ranks ? miss_ranks(scaling, step, scaling->no_ranks)
                             : measure_jobs(scaling, SCALING_RANKS, step, t);
}

static int scale_cpu(struct scaling *scaling, struct timing *t)
{
    struct bench *bench = scaling->bench;
    cpu_set_t all;
    size_t cores = tool_threads(bench->common);
    cores = cores > MAX_CORES ? MAX_CORES : cores;
    if (sched_getaffinity(0, sizeof(all), &all) != 0 || (size_t)CPU_COUNT(&all) < cores)
        return tool_fail(bench->common, "fewer cores than threads, %zu: lower --threads", cores);
    int code = bench_folder(bench);
    if (code != AIRY_EXIT_OK)
        return code;
    world_describe(scaling->no_ranks_why, sizeof(scaling->no_ranks_why));
    if (strncmp(scaling->no_ranks_why, "mpi: no", 7) == 0)
        scaling->no_ranks = scaling->no_ranks_why;
    list_steps(scaling, cores);
    for (size_t i = 0; i < scaling->step_count && code == AIRY_EXIT_OK; i++)
        code = measure_step(scaling, &scaling->steps[i], &all, t);
    sched_setaffinity(0, sizeof(all), &all);
    return code;
}

/* The first 1, 2, 4 ... devices of the team, each number beside its own limits. */
static int scale_devices(struct scaling *scaling)
{
    struct bench *bench = scaling->bench;
    airy_status status = bench_team(bench);
    list_steps(scaling, bench->team.count);
    for (size_t i = 0; i < scaling->step_count && status == AIRY_OK; i++) {
        const struct step *step = &scaling->steps[i];
        struct bench part = *bench;
        struct bench_integrated done;
        part.team.count = step->n;
        status = bench_integrate_team(&part, *scaling->path ? scaling->path : NULL, &done);
        if (status == AIRY_OK) {
            const struct scaling_figure *figure =
                add_figure(scaling, SCALING_DEVICES, step, done.rate, done.limit);
            scaling->bench = &part; /* whose devices the row names */
            add_number(scaling, "speed-up", SCALING_DEVICES, step->n, "x", figure->speed_up, NULL);
            scaling->bench = bench;
        }
    }
    return status == AIRY_OK ? AIRY_EXIT_OK : bench_failed(bench, status);
}

int bench_scaling(struct bench *bench)
{
    if (bench->cpu && bench->team.count > 1)
        return tool_usage(bench->common, "scaling takes the CPU, or other devices: not both");
    struct scaling *scaling = calloc(1, sizeof(*scaling));
    struct timing *t = malloc(sizeof(*t));
    int code = scaling && t ? AIRY_EXIT_OK : tool_fail(bench->common, "out of memory");
    if (code == AIRY_EXIT_OK && bench->params->write)
        code = bench_folder(bench);
    if (code == AIRY_EXIT_OK) {
        scaling->bench = bench;
        if (bench->params->write)
            bench_name(scaling->path, bench, "patterns.h5");
        code = bench->cpu ? scale_cpu(scaling, t) : scale_devices(scaling);
    }
    if (code == AIRY_EXIT_OK && bench->params->plot && !tool_interrupted())
        code = scaling_plot(bench, scaling->figures, scaling->count);
    free(t);
    free(scaling);
    return code;
}
