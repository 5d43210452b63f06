/* airy bench: whole jobs, with the limit of the machine measured in the same run. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/random.h"
#include "cmd_integrate.h"
#include "stack_out.h"

struct bench_params {
    struct geometry_params geometry;
    size_t frames, batch, bins, replay;
    airy_split split;
    airy_error_model error_model;
    double seconds;
    bool has_frames, has_batch, has_seconds, table, write;
};

#define FIELD(member) .offset = offsetof(struct bench_params, member)
#define SEEN(member)  .seen = offsetof(struct bench_params, member)

static const struct opt bench_options[] = {
    {.heading = "Job"},
    {.name = "frames",
     .type = OPT_COUNT,
     FIELD(frames),
     SEEN(has_frames),
     .lo = 1,
     .hi = 1000000,
     .argument = "N",
     .fallback = "64",
     .help = "frames of the case that is made"},
    {.name = "batch",
     .type = OPT_COUNT,
     FIELD(batch),
     SEEN(has_batch),
     .lo = 1,
     .hi = 65536,
     .argument = "N",
     .fallback = "32 for decode, else chosen",
     .help = "frames a batch"},
    {.name = "bins",
     .type = OPT_COUNT,
     FIELD(bins),
     .lo = 1,
     .hi = 1000000,
     .argument = "N",
     .fallback = "1000",
     .help = "radial bins"},
    {.name = "split",
     .type = OPT_PARSED,
     FIELD(split),
     .parse = integrate_parse_split,
     .argument = "HOW",
     .fallback = "full",
     .help = "pixel splitting: no, bbox, full"},
    {.name = "error-model",
     .type = OPT_PARSED,
     FIELD(error_model),
     .parse = integrate_parse_error_model,
     .argument = "MODEL",
     .fallback = "none",
     .help = "none, poisson or azimuthal"},
    {.name = "seconds",
     .type = OPT_FLOAT,
     FIELD(seconds),
     SEEN(has_seconds),
     .lo = 0.01,
     .hi = 3600,
     .argument = "S",
     .fallback = "2",
     .help = "repeat for at least this long, in s"},
    {.name = "replay",
     .type = OPT_COUNT,
     FIELD(replay),
     .lo = 1,
     .hi = 100000,
     .argument = "N",
     .fallback = "1",
     .help = "integrate: the stack N times in a row, for a steady state"},
    {.name = "write",
     .type = OPT_FLAG,
     FIELD(write),
     .help = "integrate: patterns into a file in TMPDIR, not only to memory"},
    {.name = "table", .type = OPT_FLAG, FIELD(table), .help = "a table to read instead of JSON"},
    {0},
};

enum { MAX_REPEATS = 10000 };

/* Times of one measurement. */
struct timing {
    double times[MAX_REPEATS]; /* s */
    size_t count;
    double first; /* s, of the first call, which is not among times */
};

struct bench {
    const struct bench_params *params;
    const struct common *common;
    airy_device *device;
    airy_queue *queue;
    airy_device_info info;
    struct timing timing;
    json_t *rows;
    char pattern_path[4096]; /* a temporary file for --write, or "" */
};

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double percentile(struct timing *t, double part)
{
    qsort(t->times, t->count, sizeof(double), compare);
    return t->count ? t->times[(size_t)(part * (double)(t->count - 1) + 0.5)] : (double)NAN;
}

/* Call run until the time is up; at least three times after the first. */
static airy_status repeat(struct bench *bench, airy_status (*run)(void *user), void *user)
{
    struct timing *t = &bench->timing;
    const double wanted = bench->params->has_seconds ? bench->params->seconds : 2;
    t->count = 0;
    const double begin = tool_now();
    airy_status status = run(user);
    t->first = tool_now() - begin;
    const double start = tool_now();
    while (status == AIRY_OK && t->count < MAX_REPEATS &&
           (t->count < 3 || tool_now() - start < wanted) && !tool_interrupted()) {
        const double before = tool_now();
        status = run(user);
        t->times[t->count++] = tool_now() - before;
    }
    return status;
}

/* amount / time as {value, p10, p90} of a row. limit is in the same unit. */
static void add_row(struct bench *bench, const char *name, const char *sample, const char *unit,
                    double amount, double limit, const char *limit_name)
{
    struct timing *t = &bench->timing;
    const double value = amount / percentile(t, 0.5);
    json_array_append_new(
        bench->rows,
        json_pack("{s:s, s:s, s:s, s:f, s:s, s:f, s:f, s:o, s:s, s:o, s:f}", "name", name, "case",
                  sample, "device", airy_device_spec(bench->device), "value", value, "unit", unit,
                  "p10", amount / percentile(t, 0.9), "p90", amount / percentile(t, 0.1), "limit",
                  limit > 0 ? json_real(limit) : json_null(), "limit_name", limit_name, "ratio",
                  limit > 0 ? json_real(value / limit) : json_null(), "first_call", t->first));
}

/* A row of one number. */
static void add_fact(struct bench *bench, const char *name, const char *sample, const char *unit,
                     double value)
{
    json_array_append_new(
        bench->rows, json_pack("{s:s, s:s, s:s, s:f, s:s, s:f, s:f, s:n, s:s, s:n, s:f}", "name",
                               name, "case", sample, "device", airy_device_spec(bench->device),
                               "value", value, "unit", unit, "p10", value, "p90", value, "limit",
                               "limit_name", "", "ratio", "first_call", value));
}

struct copy_job {
    airy_queue *queue;
    airy_array *array, *other;
    void *data, *to;
    size_t size;
};

static airy_status copy_up(void *user)
{
    const struct copy_job *job = user;
    const airy_status status = airy_array_push(job->queue, job->array, job->data, job->size);
    return status == AIRY_OK ? airy_queue_finish(job->queue) : status;
}

static airy_status copy_device(void *user)
{
    const struct copy_job *job = user;
    const airy_status status = airy_array_copy(job->queue, job->other, job->array);
    return status == AIRY_OK ? airy_queue_finish(job->queue) : status;
}

/*
 * Bandwidth in bytes/s: of copies from page-locked memory to the device (up), and of copies inside
 * it. On the CPU both are what its threads copy.
 */
static airy_status measure_limits(struct bench *bench, double *up, double *inside)
{
    const size_t size = (size_t)256 << 20;
    struct copy_job job = {.queue = bench->queue, .size = size};
    airy_host *host = NULL;
    airy_status status = airy_host_create(&host, bench->device, size);
    if (status == AIRY_OK)
        status = airy_array_create(&job.array, bench->device, AIRY_DTYPE_U8, 1, &size);
    if (status == AIRY_OK)
        status = airy_array_create(&job.other, bench->device, AIRY_DTYPE_U8, 1, &size);
    if (status == AIRY_OK) {
        job.data = airy_host_data(host);
        memset(job.data, 1, size);
        status = repeat(bench, copy_up, &job);
        *up = (double)size / percentile(&bench->timing, 0.5);
    }
    if (status == AIRY_OK) {
        status = repeat(bench, copy_device, &job);
        *inside = (double)size / percentile(&bench->timing, 0.5);
    }
    airy_array_destroy(&job.other);
    airy_array_destroy(&job.array);
    airy_host_destroy(&host);
    return status;
}

struct decode_job {
    airy_queue *queue;
    airy_batch *batch;
    airy_array *frames, *status;
};

static airy_status decode(void *user)
{
    const struct decode_job *job = user;
    const airy_status status = airy_decode_batch(job->queue, job->frames, job->status, job->batch);
    return status == AIRY_OK ? airy_queue_finish(job->queue) : status;
}

/*
 * Fill a batch with the first frames of a stack, encoded as they are stored or, where they are
 * not, anew.
 */
static airy_status fill_batch(airy_batch *batch, const airy_stack *stack,
                              const airy_stack_info *info, const airy_codec_params *codec,
                              size_t frames, size_t *stored)
{
    const size_t size = info->height * info->width * airy_dtype_size(info->dtype),
                 bound = airy_encode_bound(size, codec);
    void *pixels = malloc(size), *chunk = malloc(bound);
    airy_status status = pixels && chunk ? AIRY_OK : AIRY_ERR_MEMORY;
    *stored = 0;
    for (size_t i = 0; i < frames && status == AIRY_OK; i++) {
        size_t used = bound;
        status = airy_stack_read(stack, i % info->frames, pixels, size);
        if (status == AIRY_OK)
            status = airy_encode(chunk, &used, pixels, size, codec);
        if (status == AIRY_OK)
            status = airy_batch_add(batch, chunk, used);
        *stored += used;
    }
    free(pixels);
    free(chunk);
    return status;
}

static airy_status bench_decode(struct bench *bench, const airy_stack *stack, const char *sample)
{
    airy_stack_info info;
    airy_status status = airy_stack_get_info(stack, &info);
    if (status != AIRY_OK)
        return status;
    const size_t frames = bench->params->has_batch ? bench->params->batch : 32;
    airy_batch_params params = {.dtype = info.dtype,
                                .height = info.height,
                                .width = info.width,
                                .codec = info.codec,
                                .frames = frames};
    if (params.codec.codec == AIRY_CODEC_NONE)
        params.codec = (airy_codec_params){.codec = AIRY_CODEC_BSLZ4};
    params.codec.elem_size = (uint32_t)airy_dtype_size(info.dtype);
    params.bytes = info.max_chunk * frames + (frames << 16);
    struct decode_job job = {.queue = bench->queue};
    const size_t shape[3] = {frames, info.height, info.width};
    size_t stored = 0;
    status = airy_batch_create(&job.batch, bench->device, &params);
    if (status == AIRY_OK)
        status = airy_array_create(&job.frames, bench->device, info.dtype, 3, shape);
    if (status == AIRY_OK)
        status = airy_array_create(&job.status, bench->device, AIRY_DTYPE_U32, 1, shape);
    if (status == AIRY_OK)
        status = fill_batch(job.batch, stack, &info, &params.codec, frames, &stored);
    if (status == AIRY_OK)
        status = repeat(bench, decode, &job);
    if (status == AIRY_OK) {
        const struct timing measured = bench->timing;
        const double raw = (double)airy_array_size(job.frames), a = (double)stored;
        double up = 0, inside = 0;
        status = measure_limits(bench, &up, &inside);
        bench->timing = measured;
        const bool cpu = strcmp(bench->info.backend, "cpu") == 0;
        /*
         * The CPU cannot decode faster than it can copy the frames; a device not faster than the
         * chunks come up the wire.
         */
        const double limit = cpu ? inside / (raw / (double)frames) : up / (a / (double)frames);
        const char *limit_name = cpu ? "copy of the decoded frames"
                                     : "copy of the chunks to the device";
        add_row(bench, "decode", sample, "frames/s", (double)frames, limit, limit_name);
        add_row(bench, "decode bandwidth, decoded", sample, "GB/s", raw * 1e-9, inside * 1e-9,
                "copy inside the device");
    }
    airy_array_destroy(&job.status);
    airy_array_destroy(&job.frames);
    airy_batch_destroy(&job.batch);
    return status;
}

/* A new empty file in TMPDIR, ending in .h5. False after a message. */
static bool temporary_name(const struct bench *bench, char path[4096])
{
    const char *folder = getenv("TMPDIR");
    folder = folder && *folder ? folder : "/tmp";
    const bool fits = (size_t)snprintf(path, 4096, "%s/airy-bench-XXXXXX.h5", folder) < 4096;
    const int file = fits ? mkstemps(path, 3) : -1;
    if (file < 0)
        tool_fail(bench->common, "no file can be made in %s (%s); set TMPDIR", folder,
                  fits ? strerror(errno) : "name too long");
    else
        close(file);
    return file >= 0;
}

struct integrate_job {
    const airy_stack *stack;
    const airy_integrator *integrator;
    airy_run_params run;
    airy_run_info info;
    const char *path; /* of the patterns, or NULL */
};

static airy_status integrate(void *user)
{
    struct integrate_job *job = user;
    return airy_integrate_stack(job->path, job->stack, job->integrator, &job->run, &job->info);
}

static airy_status report_integrate(struct bench *bench, const struct integrate_job *job,
                                    const char *sample)
{
    const struct timing measured = bench->timing;
    const double frames = (double)job->info.frames, raw = (double)job->info.decoded_bytes / frames;
    const double stored = (double)job->info.stored_bytes / frames;
    double up = 0, inside = 0;
    const airy_status status = measure_limits(bench, &up, &inside);
    bench->timing = measured;
    const bool cpu = strcmp(bench->info.backend, "cpu") == 0;
    add_row(bench, "integrate", sample, "frames/s", frames, cpu ? inside / raw : up / stored,
            cpu ? "copy of the decoded frames" : "copy of the chunks to the device");
    add_row(bench, "integrate bandwidth, decoded", sample, "GB/s", frames * raw * 1e-9,
            cpu ? inside * 1e-9 : 0, cpu ? "copy in memory" : "");
    add_fact(bench, "compression ratio", sample, "x", raw / stored);
    return status;
}

/* The detector's mask and the file's. */
static airy_status load_mask(uint8_t *mask, const airy_stack *stack, const airy_geometry *geometry)
{
    airy_stack_meta meta;
    const size_t count = geometry->detector.height * geometry->detector.width;
    uint8_t *own = malloc(count);
    airy_status status = own ? airy_detector_mask(&geometry->detector, mask) : AIRY_ERR_MEMORY;
    if (status == AIRY_OK)
        status = airy_stack_get_meta(stack, &meta);
    if (status == AIRY_OK && meta.has_mask && (status = airy_stack_mask(stack, own)) == AIRY_OK)
        for (size_t i = 0; i < count; i++)
            mask[i] |= own[i];
    free(own);
    return status;
}

static airy_status bench_integrate(struct bench *bench, const airy_stack *stack,
                                   const airy_geometry *geometry, const char *sample)
{
    const struct bench_params *p = bench->params;
    uint8_t *mask = malloc(geometry->detector.height * geometry->detector.width);
    airy_status status = mask ? load_mask(mask, stack, geometry) : AIRY_ERR_MEMORY;
    const airy_integrator_params params = {.bins = p->bins,
                                           .split = p->split,
                                           .error_model = p->error_model,
                                           .mask = mask,
                                           .unit = geometry->wavelength > 0 ? AIRY_UNIT_Q_NM
                                                                            : AIRY_UNIT_TTH_DEG};
    airy_integrator *integrator = NULL;
    const double start = tool_now();
    if (status == AIRY_OK)
        status = airy_integrator_create(&integrator, bench->device, geometry, &params);
    const double created = tool_now() - start;
    struct integrate_job job = {.stack = stack,
                                .integrator = integrator,
                                .run = {.batch = p->has_batch ? p->batch : 0, .force = true},
                                .path = *bench->pattern_path ? bench->pattern_path : NULL};
    if (status == AIRY_OK)
        status = repeat(bench, integrate, &job);
    if (status == AIRY_OK)
        status = report_integrate(bench, &job, sample);
    if (status == AIRY_OK)
        add_fact(bench, "integrator set-up", sample, "s", created);
    airy_integrator_destroy(&integrator);
    free(mask);
    return status;
}

/* The case "4M": one Poisson frame plus (index mod 500). */
struct made_case {
    double *base;
    size_t pixels;
};

static airy_status make_frame(void *user, size_t index, void *frame)
{
    const struct made_case *made = user;
    uint32_t *pixels = frame;
    for (size_t i = 0; i < made->pixels; i++)
        pixels[i] = (uint32_t)made->base[i] + (uint32_t)(index % 500);
    return AIRY_OK;
}

static int make_case(struct bench *bench, const char *path, airy_geometry *geometry)
{
    const struct common *common = bench->common;
    double q[15], curve[15];
    memset(geometry, 0, sizeof(*geometry));
    airy_status status = airy_detector_find(&geometry->detector, "eiger_4M");
    if (status != AIRY_OK)
        return tool_failed(common, status);
    geometry->dist = 1.1; /* as 'airy simulate diffraction' does */
    geometry->wavelength = 1e-10;
    const size_t pixels = geometry->detector.height * geometry->detector.width;
    struct made_case made = {.base = malloc(pixels * sizeof(double)), .pixels = pixels};
    if (!made.base)
        return tool_fail(common, "out of memory for %zu pixels", pixels);
    for (size_t i = 0; i < 15; i++) {
        q[i] = (double)i;
        curve[i] = 100 / (1 + q[i] * q[i]);
    }
    const airy_integrator_params params = {.unit = AIRY_UNIT_Q_NM};
    status = airy_image_from_pattern(made.base, geometry, &params, q, curve, 15);
    if (status == AIRY_OK)
        status = airy_random_poisson_fill(made.base, pixels, 0, 0, 0);
    struct common forced = *common;
    forced.force = true; /* the name is one that mkstemps just made */
    struct stack_out out = {
        .common = &forced,
        .path = path,
        .writer = {.dtype = AIRY_DTYPE_U32,
                   .frames = bench->params->has_frames ? bench->params->frames : 64,
                   .height = geometry->detector.height,
                   .width = geometry->detector.width,
                   .codec = {.codec = AIRY_CODEC_BSLZ4, .elem_size = 4},
                   .geometry = geometry},
        .make = make_frame,
        .user = &made};
    const int code = status == AIRY_OK ? stack_out_run(&out) : tool_failed(common, status);
    free(made.base);
    return code;
}

static int run_named(struct bench *bench, const char *stack_path, const airy_geometry *made,
                     bool decode_too, bool integrate_too)
{
    airy_stack *stack = NULL;
    airy_stack_info info;
    airy_stack_meta meta;
    airy_geometry geometry;
    const char *sample = made ? "4M" : stack_path;
    const size_t replay = bench->params->replay ? bench->params->replay : 1;
    const char **paths = malloc(replay * sizeof(*paths));
    for (size_t i = 0; paths && i < replay; i++)
        paths[i] = stack_path;
    airy_status status = paths ? airy_stack_create(&stack, paths, replay) : AIRY_ERR_MEMORY;
    if (status == AIRY_OK)
        status = airy_stack_get_info(stack, &info);
    if (status == AIRY_OK)
        status = airy_stack_get_meta(stack, &meta);
    int code = AIRY_EXIT_OK;
    if (status == AIRY_OK && made)
        geometry = *made;
    else if (status == AIRY_OK && integrate_too)
        code =
            geometry_resolve(&geometry, &bench->params->geometry, &meta, info.height, info.width);
    if (status == AIRY_OK && code == AIRY_EXIT_OK && decode_too)
        status = bench_decode(bench, stack, sample);
    if (status == AIRY_OK && code == AIRY_EXIT_OK && integrate_too)
        status = bench_integrate(bench, stack, &geometry, sample);
    if (status != AIRY_OK)
        code = tool_failed(bench->common, status);
    airy_stack_destroy(&stack);
    free(paths);
    return code;
}

/* Make the case in a temporary file, which is gone afterwards. */
static int run_made(struct bench *bench, bool decode_too, bool integrate_too)
{
    char path[4096];
    airy_geometry geometry;
    if (!temporary_name(bench, path))
        return AIRY_EXIT_FAILED;
    int code = make_case(bench, path, &geometry);
    if (code == AIRY_EXIT_OK)
        code = run_named(bench, path, &geometry, decode_too, integrate_too);
    unlink(path);
    return code;
}

static void print_table(const json_t *rows)
{
    size_t i;
    json_t *row;
    printf("%-30s %-12s %10s %-9s %10s %10s %10s %7s\n", "job", "device", "median", "unit", "p10",
           "p90", "limit", "share");
    json_array_foreach((json_t *)rows, i, row)
    {
        const json_t *limit = json_object_get(row, "limit");
        printf("%-30s %-12s %10.4g %-9s %10.4g %10.4g",
               json_string_value(json_object_get(row, "name")),
               json_string_value(json_object_get(row, "device")),
               json_number_value(json_object_get(row, "value")),
               json_string_value(json_object_get(row, "unit")),
               json_number_value(json_object_get(row, "p10")),
               json_number_value(json_object_get(row, "p90")));
        if (json_is_number(limit))
            printf(" %10.4g %6.1f%%  %s\n", json_number_value(limit),
                   100 * json_number_value(json_object_get(row, "ratio")),
                   json_string_value(json_object_get(row, "limit_name")));
        else
            printf(" %10s %7s\n", "-", "-");
    }
}

static int choose(const struct bench_params *p, bool *decode_too, bool *integrate_too,
                  const char **stack)
{
    static const char *const names[] = {"decode", "integrate"};
    const struct common *common = &p->geometry.common;
    for (size_t i = 0; i < common->inputs.count; i++) {
        const char *word = common->inputs.items[i];
        if (strcmp(word, "decode") == 0)
            *decode_too = true;
        else if (strcmp(word, "integrate") == 0)
            *integrate_too = true;
        else if (!*stack && (strpbrk(word, "./") || strstr(word, "::")))
            *stack = word;
        else {
            const char *near = opt_nearest(word, names, 2);
            return near ? tool_usage(common, "unknown benchmark '%s', did you mean '%s'?", word,
                                     near)
                        : tool_usage(common,
                                     "unknown benchmark '%s': this build has decode and integrate",
                                     word);
        }
    }
    if (!*decode_too && !*integrate_too)
        *decode_too = *integrate_too = true;
    if (*stack && p->has_frames)
        return tool_usage(common, "--frames is for the case that is made, not for a stack");
    return AIRY_EXIT_OK;
}

static int run_bench(void *user)
{
    const struct bench_params *p = user;
    struct bench *bench = calloc(1, sizeof(*bench));
    bool decode_too = false, integrate_too = false;
    const char *stack = NULL;
    if (!bench)
        return tool_fail(&p->geometry.common, "out of memory");
    bench->params = p;
    bench->common = &p->geometry.common;
    bench->rows = json_array();
    int code = choose(p, &decode_too, &integrate_too, &stack);
    if (code == AIRY_EXIT_OK) {
        airy_status status = tool_device(bench->common, &bench->device);
        if (status == AIRY_OK)
            status = airy_queue_create(&bench->queue, bench->device);
        if (status == AIRY_OK)
            status = airy_device_get_info(bench->device, &bench->info);
        code = status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(bench->common, status);
    }
    if (code == AIRY_EXIT_OK && p->write && !temporary_name(bench, bench->pattern_path))
        code = AIRY_EXIT_FAILED;
    if (code == AIRY_EXIT_OK)
        code = stack ? run_named(bench, stack, NULL, decode_too, integrate_too)
                     : run_made(bench, decode_too, integrate_too);
    if (*bench->pattern_path)
        unlink(bench->pattern_path);
    if (code == AIRY_EXIT_OK && tool_interrupted())
        code = tool_fail(bench->common, "stopped; nothing was measured to the end");
    if (code == AIRY_EXIT_OK)
        code = tool_profile(bench->common, bench->device);
    if (code == AIRY_EXIT_OK)
        tool_say_device(bench->common, bench->device, true);
    if (code == AIRY_EXIT_OK && p->table)
        print_table(bench->rows);
    else if (code == AIRY_EXIT_OK)
        code = tool_print_json(bench->common, json_incref(bench->rows));
    json_decref(bench->rows);
    airy_queue_destroy(&bench->queue);
    airy_device_destroy(&bench->device);
    free(bench);
    return code;
}

const struct command cmd_bench = {
    .name = "bench",
    .usage = "[decode] [integrate] [STACK] [options]",
    .summary = "whole jobs and the machine's limit measured beside them, as JSON",
    .details = "Prints [{name, case, device, value, unit, p10, p90, limit, limit_name, ratio, "
               "first_call}]. Without "
               "STACK the case \"4M\" is made in TMPDIR: Eiger 4M uint32 frames, one Poisson frame "
               "around 100/(1+q^2) "
               "plus (frame index mod 500), 2.4 MB each. decode: chunks in page-locked memory to "
               "frames on the device. "
               "integrate: file (in the page cache) to patterns in memory. first_call is in "
               "seconds; on the CPU limits "
               "are copies by all threads, on a device copies to it and inside it.",
    .examples = "  airy bench decode --device cpu\n"
                "  airy bench integrate --frames 256 --device gpu\n"
                "  airy bench integrate series_master.h5 --poni lab6.poni\n",
    .tables = {geometry_options, bench_options},
    .params_size = sizeof(struct bench_params),
    .min_inputs = 0,
    .max_inputs = 3,
    .run = run_bench,
};
