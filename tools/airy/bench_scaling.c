/*
 * airy bench scaling: integration on 1, 2, 4 ... cores of this machine, beside what the same cores
 * do in their caches and with memory. Cores of a virtual machine may be halves of real ones, and
 * share caches and memory in any case: what can be reached is not the rate of one core times n.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum {
    MAX_CORES = 256,
    MAX_STEPS = 16,
    CACHED = 1024,         /* doubles that a core works on */
    READ_BYTES = 48 << 20, /* that a core reads, over and over */
    LOAD_MS = 100          /* of a load */
};

/* Rates of one number of cores. */
struct step {
    size_t cores;
    double compute, read; /* multiply-adds/s, bytes/s, of all together */
};

/* What the threads of a load share. */
struct load {
    bool memory; /* read, else compute in cache */
    atomic_size_t ready;
    atomic_int go; /* 0: wait, 1: go, 2: leave */
    atomic_bool failed;
    pthread_mutex_t lock; /* of rate */
    double rate;
};

static double compute(void)
{
    _Alignas(64) double v[CACHED];
    double done = 0;
    for (size_t i = 0; i < CACHED; i++)
        v[i] = 1 / (double)(i + 1);
    const double begin = tool_now();
    double now = begin;
    for (; now - begin < 1e-3 * LOAD_MS; now = tool_now(), done += 256.0 * CACHED)
        for (int pass = 0; pass < 256; pass++)
            for (size_t i = 0; i < CACHED; i++)
                v[i] = v[i] * 0.999 + 0.001;
    volatile double keep = v[CACHED / 2]; /* or the loop would go */
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

static void add_number(struct bench *bench, const char *what, size_t cores, const char *unit,
                       double value)
{
    char name[64];
    snprintf(name, sizeof(name), "%s, %zu core%s", what, cores, tool_s(cores));
    if (value > 0)
        bench_add_fact(bench, name, unit, value);
    else
        bench_add_missing(bench, name, unit, "not enough threads or memory");
}

/* A device of so many threads on as many cores; one: frames/s of one core, 0 as long as unknown. */
static airy_status measure_step(struct bench *bench, const struct step *step,
                                const struct step *first, double *one)
{
    struct bench part = *bench;
    struct timing *t = malloc(sizeof(*t));
    airy_integrator *integrator = NULL;
    struct bench_integrated done;
    airy_status status = t ? AIRY_OK : AIRY_ERR_MEMORY;
    part.device = NULL;
    if (status == AIRY_OK)
        status = airy_device_create(&part.device, "cpu",
                                    &(airy_device_params){.threads = (uint32_t)step->cores});
    if (status == AIRY_OK)
        status = bench_integrator(&integrator, &part);
    if (status == AIRY_OK)
        status = bench_time_integrate(&part, &integrator, 1, NULL, t, &done);
    if (status == AIRY_OK) {
        char name[64];
        snprintf(name, sizeof(name), "integrate, %zu core%s", step->cores, tool_s(step->cores));
        const double rate = (double)done.info.frames / bench_percentile(t, 0.5);
        *one = *one > 0 ? *one : rate;
        bench_add_rate(bench, t,
                       &(struct bench_row){.name = name,
                                           .unit = "frames/s",
                                           .amount = (double)done.info.frames,
                                           .limit = *one * step->compute / first->compute,
                                           .limit_name = "one core, times what they compute",
                                           .frames = done.info.frames});
        add_number(bench, "speed-up", step->cores, "x", rate / *one);
    }
    airy_integrator_destroy(&integrator);
    airy_device_destroy(&part.device);
    free(t);
    return status;
}

/* 1, 2, 4 ... and all. */
static size_t list_steps(struct step steps[MAX_STEPS], size_t cores)
{
    size_t count = 0;
    for (size_t n = 1; n < cores && count + 1 < MAX_STEPS; n *= 2)
        steps[count++].cores = n;
    steps[count++].cores = cores;
    return count;
}

int bench_scaling(struct bench *bench)
{
    struct step steps[MAX_STEPS] = {0};
    cpu_set_t all;
    if (!bench->cpu)
        return tool_usage(bench->common, "scaling is the CPU's: --device cpu");
    size_t cores = tool_threads(bench->common);
    cores = cores > MAX_CORES ? MAX_CORES : cores;
    if (sched_getaffinity(0, sizeof(all), &all) != 0 || (size_t)CPU_COUNT(&all) < cores)
        return tool_fail(bench->common, "fewer cores than threads, %zu: lower --threads", cores);
    const size_t count = list_steps(steps, cores);
    double one = 0;
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < count && status == AIRY_OK; i++) {
        keep_to(&all, steps[i].cores);
        steps[i].compute = measure_load(steps[i].cores, false);
        steps[i].read = measure_load(steps[i].cores, true);
        status = measure_step(bench, &steps[i], &steps[0], &one);
        add_number(bench, "compute in cache", steps[i].cores, "x",
                   steps[i].compute / steps[0].compute);
        add_number(bench, "read memory", steps[i].cores, "x", steps[i].read / steps[0].read);
    }
    sched_setaffinity(0, sizeof(all), &all);
    return status == AIRY_OK ? AIRY_EXIT_OK : bench_failed(bench, status);
}
