/*
 * airy bench oct: raw spectra to profiles; on the device, in calls one behind the other, from host to
 * host in batches, and frame by frame. The plan is of every step unless a row says what it lacks: background, linear resampling of
 * a wavelength axis, Hann's window, dispersion, dB; u16 to f32.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/oct_stream.h"
#include "airy/random.h"
#include "bench.h"

enum {
    SAMPLES = 2048,
    PATTERN_LINES = 64,
    BATCH_LINES = 4096,
    BATCHES = 8,
    PASSED = 32,
    LONGEST = 61440,
    MANY = 1 << 17,
    ROW_LINES = 1 << 20, /* of calls without a wait between them */
    MOST_CALLS = 64
};

/* What a plan is made of. */
struct plan_of {
    const char *name;
    bool no_background, no_axis, no_window, no_dispersion;
    airy_oct_output output;
    airy_oct_interpolation interpolation;
};

struct oct_job {
    struct bench *bench;
    airy_oct *oct;
    airy_oct_info info;
    size_t lines, calls;   /* calls: in a row, then a wait */
    airy_array *src, *dst; /* resident */
    airy_array *from, *to; /* of a copy of as many bytes */
    airy_oct_stream *stream;
    size_t batch; /* frames of a buffer */
};

static airy_status make_oct(struct oct_job *job, struct bench *bench, size_t samples, size_t lines,
                            const struct plan_of *of)
{
    *job = (struct oct_job){.bench = bench, .lines = lines};
    double *tables = malloc(2 * samples * sizeof(double));
    if (!tables)
        return bench_say(bench, AIRY_ERR_MEMORY, "out of memory");
    double *background = tables, *wavelength = tables + samples;
    for (size_t i = 0; i < samples; i++) {
        background[i] = 20000;
        wavelength[i] = (800 + 100.0 * (double)i / (double)(samples - 1)) * 1e-9;
    }
    const airy_oct_params params = {
        .samples = samples,
        .lines = lines,
        .dtype = AIRY_DTYPE_U16,
        .background = of->no_background ? AIRY_OCT_BACKGROUND_NONE : AIRY_OCT_BACKGROUND_LINE,
        .background_line = background,
        .axis = of->no_axis ? AIRY_OCT_AXIS_NONE : AIRY_OCT_AXIS_WAVELENGTH,
        .axis_table = wavelength,
        .interpolation = of->interpolation,
        .window = of->no_window ? AIRY_OCT_WINDOW_RECT : AIRY_OCT_WINDOW_HANN,
        .has_dispersion = !of->no_dispersion,
        .dispersion = {0, 0, 20, -5},
        .output = of->output,
    };
    airy_status status = airy_oct_create(&job->oct, bench->queue, &params);
    if (status == AIRY_OK)
        status = airy_oct_get_info(job->oct, &job->info);
    free(tables);
    return status;
}

static void close_oct(struct oct_job *job)
{
    airy_oct_stream_destroy(&job->stream);
    airy_array_destroy(&job->src);
    airy_array_destroy(&job->dst);
    airy_array_destroy(&job->from);
    airy_array_destroy(&job->to);
    airy_oct_destroy(&job->oct);
}

/* A fringe a line, and noise; lines repeat after some. */
static void draw_lines(uint16_t *raw, size_t samples, size_t lines)
{
    uint32_t words[AIRY_OCT_MAX_SAMPLES];
    for (size_t l = 0; l < lines && l < PATTERN_LINES; l++) {
        airy_random_words(words, samples, 1, 0, l * samples);
        for (size_t i = 0; i < samples; i++)
            raw[l * samples + i] = (uint16_t)(20000 +
                                              8000 * cos(0.1 * (double)(l + 1) * (double)i) +
                                              words[i] * 0x1p-32 * 1000);
    }
    for (size_t l = PATTERN_LINES; l < lines; l++)
        memcpy(raw + l * samples, raw + (l - PATTERN_LINES) * samples, samples * sizeof(*raw));
}

/* ---- frames that are on the device ---- */

static airy_status run_resident(void *user)
{
    struct oct_job *job = user;
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < job->calls && status == AIRY_OK; i++)
        status = airy_oct_process(job->bench->queue, job->oct, job->dst, job->src, NULL);
    return status == AIRY_OK ? airy_queue_finish(job->bench->queue) : status;
}

static airy_status run_copy(void *user)
{
    struct oct_job *job = user;
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < job->calls && status == AIRY_OK; i++)
        status = airy_array_copy(job->bench->queue, job->to, job->from);
    return status == AIRY_OK ? airy_queue_finish(job->bench->queue) : status;
}

static airy_status open_resident(struct oct_job *job, size_t samples)
{
    airy_device *device = job->bench->device;
    const size_t src_shape[3] = {1, job->lines, samples},
                 dst_shape[3] = {1, job->info.out_lines, job->info.depth};
    /* A copy reads and writes as many bytes as the lines do together. */
    const size_t bytes = (job->info.frame_bytes + job->info.result_bytes) / 2;
    airy_status status = airy_array_create(&job->src, device, AIRY_DTYPE_U16, 3, src_shape);
    if (status == AIRY_OK)
        status = airy_array_create(&job->dst, device, AIRY_DTYPE_F32, 3, dst_shape);
    if (status == AIRY_OK)
        status = airy_array_create(&job->from, device, AIRY_DTYPE_U8, 1, &bytes);
    if (status == AIRY_OK)
        status = airy_array_create(&job->to, device, AIRY_DTYPE_U8, 1, &bytes);
    if (status == AIRY_OK)
        status = airy_array_fill(job->bench->queue, job->from, 1);
    uint16_t *raw = status == AIRY_OK ? malloc(job->info.frame_bytes) : NULL;
    if (status == AIRY_OK && !raw)
        return bench_say(job->bench, AIRY_ERR_MEMORY, "out of memory");
    if (status == AIRY_OK) {
        draw_lines(raw, samples, job->lines);
        status = airy_array_push(job->bench->queue, job->src, raw, job->info.frame_bytes);
    }
    free(raw);
    return status;
}

static airy_status measure_resident(struct bench *bench, size_t samples, size_t lines,
                                    const struct plan_of *of, const char *name)
{
    struct oct_job job;
    struct timing t, copy;
    airy_status status = make_oct(&job, bench, samples, lines, of);
    /* What is computed at once has nobody to wait for. */
    job.calls = bench->cpu || ROW_LINES / lines < 1 ? 1
                : ROW_LINES / lines > MOST_CALLS    ? MOST_CALLS
                                                    : ROW_LINES / lines;
    const double amount = (double)lines * (double)job.calls;
    if (status == AIRY_OK)
        status = open_resident(&job, samples);
    if (status == AIRY_OK)
        status = bench_repeat(bench, &copy, run_copy, &job);
    if (status == AIRY_OK)
        status = bench_repeat(bench, &t, run_resident, &job);
    if (status == AIRY_OK)
        bench_add_rate(bench, &t,
                       &(struct bench_row){.name = name,
                                           .unit = "lines/s",
                                           .amount = amount,
                                           .limit = amount / bench_percentile(&copy, 0.5),
                                           .limit_name = "a copy on the device that reads and "
                                                         "writes as many bytes",
                                           .note = job.info.method});
    close_oct(&job);
    return status;
}

static const struct plan_of plans[] = {
    {.name = "all steps"},
    {.name = "without dispersion", .no_dispersion = true},
    {.name = "without dispersion and background", .no_dispersion = true, .no_background = true},
    {.name = "without background", .no_background = true},
    {.name = "without resampling", .no_axis = true},
    {.name = "without window", .no_window = true},
    {.name = "without log (power)", .output = AIRY_OCT_POWER},
    {.name = "transform and dB alone",
     .no_background = true,
     .no_axis = true,
     .no_window = true,
     .no_dispersion = true},
    {.name = "cubic", .interpolation = AIRY_OCT_CUBIC},
    {.name = "Lanczos", .interpolation = AIRY_OCT_LANCZOS},
};

static airy_status all_resident(struct bench *bench)
{
    static const size_t lines[] = {1, 60, 512, BATCH_LINES, LONGEST};
    /* Steps and lengths: where the begin and the end of a call count for little, and memory lets it. */
    const bool large = bench->info.memory >= UINT64_C(16) << 30;
    const size_t many = bench->cpu ? BATCH_LINES : large ? MANY : LONGEST;
    static const size_t lengths[] = {512, 1024, 1536, 4096, AIRY_OCT_MAX_SAMPLES};
    airy_status status = AIRY_OK;
    char name[64];
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]) && status == AIRY_OK; i++) {
        snprintf(name, sizeof(name), "resident, frames of %zu", lines[i]);
        status = measure_resident(bench, SAMPLES, lines[i], &plans[0], name);
    }
    for (size_t i = bench->cpu; i < sizeof(plans) / sizeof(plans[0]) && status == AIRY_OK; i++) {
        snprintf(name, sizeof(name), "resident, %s", plans[i].name);
        status = measure_resident(bench, SAMPLES, many, &plans[i], name);
    }
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]) && status == AIRY_OK; i++) {
        snprintf(name, sizeof(name), "resident, %zu samples", lengths[i]);
        status = measure_resident(bench, lengths[i], bench->cpu ? many : many / 4, &plans[0], name);
    }
    return status;
}

/* ---- from host to host ---- */

static airy_status open_stream(struct oct_job *job)
{
    /* A slot fewer in flight where two of them are a gigabyte. */
    const airy_oct_stream_params params = {.frames = job->batch,
                                           .slots = job->lines > BATCH_LINES ? 3 : BATCHES};
    airy_status status = airy_oct_stream_create(&job->stream, job->oct, &params);
    /* The buffers go round: what is drawn once stays. */
    for (size_t i = 0; i < params.slots && status == AIRY_OK; i++) {
        void *buffer;
        status = airy_oct_stream_take(job->stream, &buffer);
        if (status == AIRY_OK) {
            draw_lines(buffer, SAMPLES, job->batch * job->lines);
            status = airy_oct_stream_give(job->stream, job->batch);
        }
    }
    return status;
}

/* One result out; *came: there was one. */
static airy_status pass_result(struct oct_job *job, bool *came)
{
    airy_oct_result r;
    airy_status status = airy_oct_stream_next(job->stream, &r, UINT64_MAX, NULL);
    *came = status == AIRY_OK && r.data;
    if (*came && r.status != AIRY_OK)
        return bench_say(job->bench, r.status, r.message);
    return *came ? airy_oct_stream_release(job->stream, &r) : status;
}

/* Every free buffer on its way. */
static airy_status fill_stream(const struct oct_job *job)
{
    for (;;) {
        void *buffer;
        airy_status status = airy_oct_stream_take(job->stream, &buffer);
        if (status == AIRY_OK && buffer)
            status = airy_oct_stream_give(job->stream, job->batch);
        if (status != AIRY_OK || !buffer)
            return status;
    }
}

/* So many results out of a stream that is kept full, also from one call to the next. */
static airy_status run_stream(void *user)
{
    struct oct_job *job = user;
    airy_status status = AIRY_OK;
    for (size_t got = 0; got < PASSED && status == AIRY_OK;) {
        bool came = false;
        status = fill_stream(job);
        if (status == AIRY_OK)
            status = pass_result(job, &came);
        got += came;
    }
    return status;
}

struct two_way {
    airy_queue *up, *down;
    airy_array *raw, *result;
    airy_host *from, *to;
};

static airy_status run_two_way(void *user)
{
    const struct two_way *w = user;
    airy_status status = AIRY_OK;
    for (int i = 0; i < BATCHES && status == AIRY_OK; i++) {
        status = airy_array_push(w->up, w->raw, airy_host_data(w->from), airy_host_size(w->from));
        if (status == AIRY_OK)
            status = airy_queue_flush(w->up);
        if (status == AIRY_OK)
            status =
                airy_array_pull(w->down, airy_host_data(w->to), airy_host_size(w->to), w->result);
        if (status == AIRY_OK)
            status = airy_queue_flush(w->down);
    }
    if (status == AIRY_OK)
        status = airy_queue_finish(w->up);
    return status == AIRY_OK ? airy_queue_finish(w->down) : status;
}

/* Copies of a buffer's raw frames up and of its results down, both at once; lines/s. */
static airy_status two_way_limit(double *limit, const struct oct_job *job)
{
    const struct bench *bench = job->bench;
    struct two_way w = {.up = bench->queue};
    struct timing t;
    const size_t raw = job->batch * job->info.frame_bytes,
                 result = job->batch * job->info.result_bytes;
    airy_status status = airy_queue_create(&w.down, bench->device);
    if (status == AIRY_OK)
        status = airy_array_create(&w.raw, bench->device, AIRY_DTYPE_U8, 1, &raw);
    if (status == AIRY_OK)
        status = airy_array_create(&w.result, bench->device, AIRY_DTYPE_U8, 1, &result);
    if (status == AIRY_OK)
        status = airy_host_create(&w.from, bench->device, raw);
    if (status == AIRY_OK)
        status = airy_host_create(&w.to, bench->device, result);
    if (status == AIRY_OK) {
        memset(airy_host_data(w.from), 1, raw);
        memset(airy_host_data(w.to), 1, result);
        status = bench_repeat(bench, &t, run_two_way, &w);
    }
    if (status == AIRY_OK)
        *limit = (double)BATCHES * (double)(job->batch * job->lines) / bench_percentile(&t, 0.5);
    airy_host_destroy(&w.from);
    airy_host_destroy(&w.to);
    airy_array_destroy(&w.raw);
    airy_array_destroy(&w.result);
    airy_queue_destroy(&w.down);
    return status;
}

static airy_status measure_stream(struct bench *bench, size_t lines, const struct plan_of *of)
{
    struct oct_job job;
    struct timing t;
    double limit = 0;
    char name[64];
    snprintf(name, sizeof(name), "host to host, frames of %zu", lines);
    airy_status status = make_oct(&job, bench, SAMPLES, lines, of);
    job.batch = lines < BATCH_LINES ? BATCH_LINES / lines : 1;
    if (status == AIRY_OK)
        status = two_way_limit(&limit, &job);
    if (status == AIRY_OK)
        status = open_stream(&job);
    if (status == AIRY_OK)
        status = bench_repeat(bench, &t, run_stream, &job);
    if (status == AIRY_OK)
        bench_add_rate(
            bench, &t,
            &(struct bench_row){.name = name,
                                .unit = "lines/s",
                                .amount = (double)PASSED * (double)(job.batch * lines),
                                .limit = limit,
                                .limit_name = "copies of the same bytes up and down at once",
                                .frames = job.batch});
    close_oct(&job);
    return status;
}

/* ---- frame by frame ---- */

/* One frame in, its profiles out; nothing else is under way. */
static airy_status run_frame(void *user)
{
    struct oct_job *job = user;
    void *buffer;
    bool came = false;
    airy_status status = airy_oct_stream_take_wait(job->stream, &buffer, UINT64_MAX);
    if (status == AIRY_OK)
        status = airy_oct_stream_give(job->stream, 1);
    return status == AIRY_OK ? pass_result(job, &came) : status;
}

static airy_status measure_frames(struct bench *bench, size_t lines, const struct plan_of *of)
{
    struct oct_job job;
    struct timing t;
    char name[64];
    airy_status status = make_oct(&job, bench, SAMPLES, lines, of);
    job.batch = 1;
    if (status == AIRY_OK)
        status = airy_oct_stream_create(&job.stream, job.oct, NULL);
    if (status == AIRY_OK)
        status = bench_repeat(bench, &t, run_frame, &job);
    if (status == AIRY_OK) {
        char note[80];
        snprintf(name, sizeof(name), "one by one, frames of %zu", lines);
        snprintf(note, sizeof(note), "p99 %.4g us, p99.9 %.4g us, %.5g frames/s",
                 1e6 * bench_percentile(&t, 0.99), 1e6 * bench_percentile(&t, 0.999),
                 (double)t.count / t.spent);
        bench_add_latency(
            bench, &t,
            &(struct bench_row){.name = name, .unit = "us", .amount = 1e6, .note = note});
        status = bench_repeat(bench, &t, run_stream, &job);
    }
    if (status == AIRY_OK) {
        snprintf(name, sizeof(name), "in a row, frames of %zu", lines);
        bench_add_rate(bench, &t,
                       &(struct bench_row){.name = name, .unit = "frames/s", .amount = PASSED});
    }
    close_oct(&job);
    return status;
}

int bench_oct(struct bench *bench)
{
    static const size_t batches[] = {1, 60, 512, BATCH_LINES, LONGEST},
                        frames[] = {1, 60, 512, BATCH_LINES};
    airy_status status = all_resident(bench);
    /* In the host's memory nothing is copied, and the longest frames take 1.5 GB of it. */
    const size_t count = sizeof(batches) / sizeof(batches[0]) - (bench->cpu ? 1 : 0);
    for (size_t i = 0; i < count && status == AIRY_OK; i++)
        status = measure_stream(bench, batches[i], &plans[1]);
    for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]) && status == AIRY_OK; i++)
        status = measure_frames(bench, frames[i], &plans[1]);
    return status == AIRY_OK ? AIRY_EXIT_OK : bench_failed(bench, status);
}
