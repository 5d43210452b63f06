/* airy bench stages: what each step from the file to the patterns takes, warm and cold. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "stages.h"

enum {
    MOST_LEFT_PERCENT = 1,     /* of the stack in the page cache where it counts as cold */
    LEAST_CACHED_PERCENT = 99, /* where it counts as cached */
    GROUP_BYTES = 256 << 20,   /* decoded frames of one thread on a device */
    GROUP_FRAMES = 8,
    RING_BYTES = 512 << 20 /* decoded frames of all threads, so that they go to memory */
};

/* What one thread decodes with. */
struct worker {
    char *frames_cpu; /* [ring] frames */
    size_t next;      /* of the ring */
    airy_queue *queue;
    airy_batch *batch;
    airy_array *frames, *status;
};

struct stages {
    struct bench *bench;
    struct bench_files files;
    unsigned threads;
    struct worker *workers; /* [threads] */
    size_t group;           /* frames a batch of a worker */
    size_t ring;            /* frames of a worker on the CPU */
    double raw;             /* bytes of a decoded frame */
    airy_integrator *integrator;
    airy_run_info info;
    char path[4096]; /* of the patterns */
    bool write;      /* to path */
    struct timing t[2][STAGE_COUNT];
    bool done[2][STAGE_COUNT];
    double frames[2][STAGE_COUNT];   /* of one call */
    char why[2][96];                 /* nothing was measured; "": it was */
    double copy, direct, zeros, out; /* bytes/s; of a frame's patterns, bytes */
};

static airy_status open_worker(struct stages *s, struct worker *w)
{
    const airy_stack_info *info = &s->bench->stack_info;
    if (s->bench->cpu) {
        w->frames_cpu = malloc(s->ring * (size_t)s->raw);
        if (w->frames_cpu)
            memset(w->frames_cpu, 0, s->ring * (size_t)s->raw);
        return w->frames_cpu ? AIRY_OK : AIRY_ERR_MEMORY;
    }
    const airy_batch_params params = {.dtype = info->dtype,
                                      .height = info->height,
                                      .width = info->width,
                                      .codec = info->codec,
                                      .frames = s->group,
                                      .bytes = info->max_chunk * s->group + (s->group << 16)};
    const size_t shape[3] = {s->group, info->height, info->width};
    airy_status status = airy_queue_create(&w->queue, s->bench->device);
    if (status == AIRY_OK)
        status = airy_batch_create(&w->batch, s->bench->device, &params);
    if (status == AIRY_OK)
        status = airy_array_create(&w->frames, s->bench->device, info->dtype, 3, shape);
    if (status == AIRY_OK)
        status = airy_array_create(&w->status, s->bench->device, AIRY_DTYPE_U32, 1, shape);
    return status;
}

static void close_workers(struct stages *s)
{
    for (unsigned i = 0; s->workers && i < s->threads; i++) {
        airy_array_destroy(&s->workers[i].status);
        airy_array_destroy(&s->workers[i].frames);
        airy_batch_destroy(&s->workers[i].batch);
        airy_queue_destroy(&s->workers[i].queue);
        free(s->workers[i].frames_cpu);
    }
    free(s->workers);
    s->workers = NULL;
}

static airy_status open_workers(struct stages *s)
{
    s->group = (size_t)fmin(fmax(GROUP_BYTES / s->raw, 1), GROUP_FRAMES);
    s->ring = (size_t)ceil(RING_BYTES / s->raw / s->threads);
    s->workers = calloc(s->threads, sizeof(*s->workers));
    airy_status status = s->workers ? AIRY_OK : AIRY_ERR_MEMORY;
    for (unsigned i = 0; i < s->threads && status == AIRY_OK; i++)
        status = open_worker(s, &s->workers[i]);
    return status;
}

/* On the CPU one frame, decoded by the thread that reads it. */
static airy_status decode_frame(void *user, unsigned thread, size_t frame)
{
    const struct stages *s = user;
    struct worker *w = &s->workers[thread];
    const size_t size = (size_t)s->raw;
    return airy_stack_read(s->bench->stack, frame, w->frames_cpu + w->next++ % s->ring * size,
                           size);
}

/* On a device a group of frames, read and sent by one thread, on its own queue. */
static airy_status decode_group(void *user, unsigned thread, size_t group)
{
    struct stages *s = user;
    struct worker *w = &s->workers[thread];
    airy_status status = AIRY_OK;
    airy_batch_clear(w->batch);
    for (size_t k = 0; k < s->group && status == AIRY_OK; k++) {
        const size_t frame = (group * s->group + k) % s->files.frames;
        status = bench_files_read_frame(&s->files, thread, frame);
        if (status == AIRY_OK)
            status =
                airy_batch_add(w->batch, s->files.buffers[thread], s->files.places[frame].size);
    }
    if (status == AIRY_OK)
        status = airy_decode_batch(w->queue, w->frames, w->status, w->batch);
    return status == AIRY_OK ? airy_queue_finish(w->queue) : status;
}

static airy_status read_decode(void *user)
{
    struct stages *s = user;
    const struct bench_team team = {
        .bench = s->bench,
        .threads = s->threads,
        .count = s->bench->cpu ? s->files.frames : (s->files.frames + s->group - 1) / s->group,
        .work = s->bench->cpu ? decode_frame : decode_group,
        .user = s};
    return bench_team_run(&team);
}

static airy_status integrate_once(void *user)
{
    struct stages *s = user;
    const airy_run_params run = {
        .batch = s->bench->params->batch, .force = true, .progress = bench_go_on};
    return airy_integrate_stack(s->write ? s->path : NULL, s->bench->stack, &s->integrator, 1, &run,
                                &s->info);
}

static airy_status evict(void *user)
{
    bench_files_evict(&((struct stages *)user)->files);
    return AIRY_OK;
}

/* What a stage does with all frames of the stack, once. */
static airy_status run_stage(struct stages *s, enum stage stage, bool cold)
{
    struct bench_loop loop = {.prepare = cold ? evict : NULL,
                              .user = s,
                              .seconds = bench_seconds(s->bench),
                              .least = 3,
                              .first = !cold};
    airy_status status = AIRY_OK;
    if (stage == STAGE_READ) {
        loop.run = bench_files_read;
        loop.user = &s->files;
        loop.prepare = cold ? bench_files_prepare_cold : NULL;
    } else if (stage == STAGE_READ_DECODE) {
        status = open_workers(s);
        loop.run = read_decode;
    } else {
        loop.run = integrate_once;
    }
    s->write = stage == STAGE_WRITE;
    if (status == AIRY_OK)
        status = bench_loop(s->bench, &s->t[cold][stage], &loop);
    close_workers(s);
    s->done[cold][stage] = status == AIRY_OK;
    s->frames[cold][stage] = (double)s->files.frames;
    if (stage == STAGE_READ_DECODE && !s->bench->cpu) /* the last group goes round */
        s->frames[cold][stage] = ceil(s->frames[cold][stage] / (double)s->group) * (double)s->group;
    return status;
}

/* The last two stages as a long run would: the stack several times in a row. */
static airy_status run_replayed(struct stages *s, enum stage stage)
{
    struct bench_integrated integrated;
    const airy_status status = bench_time_integrate(s->bench, &s->integrator, 1,
                                                    stage == STAGE_WRITE ? s->path : NULL,
                                                    &s->t[0][stage], &integrated);
    s->info = integrated.info;
    s->done[0][stage] = status == AIRY_OK;
    s->frames[0][stage] = (double)s->info.frames;
    return status;
}

static void note_output(struct stages *s)
{
    struct stat about;
    if (stat(s->path, &about) == 0 && s->info.frames)
        s->out = (double)about.st_size / (double)s->info.frames;
}

static airy_status measure_decode(struct stages *s)
{
    const size_t frames = s->bench->params->batch ? s->bench->params->batch : 32;
    size_t stored = 0;
    const airy_status status = bench_time_decode(s->bench, frames, &s->t[0][STAGE_DECODE], &stored);
    s->done[0][STAGE_DECODE] = status == AIRY_OK;
    s->frames[0][STAGE_DECODE] = (double)frames;
    return status;
}

static airy_status measure_cached(struct stages *s)
{
    airy_status status = bench_files_read(&s->files);
    const double resident = bench_files_resident(&s->files);
    if (status == AIRY_OK && resident < LEAST_CACHED_PERCENT * 0.01) {
        snprintf(s->why[0], sizeof(s->why[0]), "the page cache holds only %.0f %% of the stack",
                 100 * resident);
        return AIRY_OK;
    }
    if (status == AIRY_OK)
        status = run_stage(s, STAGE_READ, false);
    if (status == AIRY_OK)
        status = run_stage(s, STAGE_READ_DECODE, false);
    if (status == AIRY_OK)
        status = run_replayed(s, STAGE_INTEGRATE);
    if (status == AIRY_OK)
        status = run_replayed(s, STAGE_WRITE);
    if (status == AIRY_OK)
        note_output(s);
    return status;
}

static airy_status measure_cold(struct stages *s)
{
    bench_files_evict(&s->files);
    const double resident = bench_files_resident(&s->files);
    if (!(resident <= MOST_LEFT_PERCENT * 0.01)) {
        if (isfinite(resident))
            snprintf(s->why[1], sizeof(s->why[1]),
                     "%.0f %% of the stack stayed in memory when it was dropped", 100 * resident);
        else
            snprintf(s->why[1], sizeof(s->why[1]),
                     "the system does not report what is in the page cache");
        return AIRY_OK;
    }
    airy_status status = bench_limit_direct(&s->files, &s->direct);
    static const enum stage stages[] = {STAGE_READ, STAGE_READ_DECODE, STAGE_INTEGRATE,
                                        STAGE_WRITE};
    for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]) && status == AIRY_OK; i++)
        status = run_stage(s, stages[i], true);
    if (status == AIRY_OK && s->out == 0)
        note_output(s);
    return status;
}

static airy_status measure_limits(struct stages *s)
{
    airy_status status = bench_measure_wire(s->bench);
    if (status == AIRY_OK)
        status = bench_limit_memcpy(&s->files, &s->copy);
    if (status == AIRY_OK && s->out > 0)
        status =
            bench_limit_zeros(s->bench, (uint64_t)(s->out * (double)s->info.frames), &s->zeros);
    return status;
}

struct limit {
    double value; /* frames/s */
    const char *name;
};

static void lower(struct limit *limit, double value, const char *name)
{
    if (isfinite(value) && value > 0 && !(limit->value > 0 && limit->value <= value))
        *limit = (struct limit){value, name};
}

static double rate_of(struct stages *s, bool cold, enum stage stage)
{
    return s->done[cold][stage] ? s->frames[cold][stage] / bench_percentile(&s->t[cold][stage], 0.5)
                                : (double)NAN;
}

/* The lowest of what a stage cannot pass. */
static struct limit limit_of(struct stages *s, enum stage stage, bool cold)
{
    const struct bench_limits *m = &s->bench->limits;
    struct limit limit = {0};
    if (stage != STAGE_DECODE && cold)
        lower(&limit, s->direct / s->files.stored, "reads past the page cache");
    if (stage == STAGE_READ) {
        lower(&limit, s->copy / s->files.stored, "copy in memory, same threads");
        return limit;
    }
    if (s->bench->cpu)
        lower(&limit, m->inside / s->raw, "copy of the decoded frames");
    else
        lower(&limit, m->wire / s->files.stored, "copy of these chunks to the device");
    if (stage != STAGE_DECODE && !cold)
        lower(&limit, rate_of(s, false, STAGE_READ), "the read alone");
    if (stage == STAGE_WRITE && s->out > 0)
        lower(&limit, s->zeros / s->out, "writing as many zeros, fsync included");
    return limit;
}

static void report_stage(struct stages *s, enum stage stage, bool cold, struct stage_figure *figure)
{
    char name[64], note[64];
    snprintf(name, sizeof(name), "%s%s", stage_names[stage],
             stage == STAGE_DECODE ? ""
             : cold                ? ", cold"
                                   : ", cached");
    snprintf(note, sizeof(note), "%u threads read", s->threads);
    figure->rate[cold] = rate_of(s, cold, stage);
    figure->limit[cold] = NAN;
    if (!s->done[cold][stage]) {
        bench_add_missing(s->bench, name, "frames/s", s->why[cold]);
        return;
    }
    const struct limit limit = limit_of(s, stage, cold);
    figure->limit[cold] = limit.value > 0 ? limit.value : (double)NAN;
    bench_add_rate(s->bench, &s->t[cold][stage],
                   &(struct bench_row){
                       .name = name,
                       .unit = "frames/s",
                       .amount = s->frames[cold][stage],
                       .limit = limit.value,
                       .limit_name = limit.name,
                       .frames = (size_t)s->frames[cold][stage],
                       .note = stage == STAGE_READ || stage == STAGE_READ_DECODE ? note : NULL});
}

static int report(struct stages *s)
{
    struct stage_figure figures[STAGE_COUNT];
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        report_stage(s, (enum stage)stage, false, &figures[stage]);
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        figures[stage].rate[1] = figures[stage].limit[1] = NAN;
        if (stage != STAGE_DECODE)
            report_stage(s, (enum stage)stage, true, &figures[stage]);
    }
    bench_add_fact(s->bench, "stored bytes of a frame", "B", s->files.stored);
    bench_add_fact(s->bench, "bytes written of a frame", "B", s->out);
    return s->bench->params->plot ? stages_plot(s->bench, figures) : AIRY_EXIT_OK;
}

int bench_stages(struct bench *bench)
{
    const airy_stack_info *info = &bench->stack_info;
    int code = bench_folder(bench);
    if (code != AIRY_EXIT_OK)
        return code;
    struct stages *s = calloc(1, sizeof(*s));
    if (!s)
        return tool_fail(bench->common, "out of memory");
    s->bench = bench;
    s->threads = tool_threads(bench->common);
    s->raw = (double)(info->height * info->width * airy_dtype_size(info->dtype));
    s->direct = NAN;
    bench_name(s->path, bench, "patterns.h5");
    airy_status status = bench_files_open(&s->files, bench, s->threads);
    if (status == AIRY_ERR_UNSUPPORTED)
        bench_say(bench, status,
                  "stages are of stacks whose frames are each one piece of a file "
                  "that can be opened");
    if (status == AIRY_OK)
        status = bench_integrator(&s->integrator, bench);
    if (status == AIRY_OK)
        status = measure_decode(s);
    if (status == AIRY_OK)
        status = measure_cached(s);
    if (status == AIRY_OK)
        status = measure_cold(s);
    if (status == AIRY_OK)
        status = measure_limits(s);
    code = status == AIRY_OK ? report(s) : bench_failed(bench, status);
    airy_integrator_destroy(&s->integrator);
    bench_files_close(&s->files);
    free(s);
    return code;
}
