/*
 * airy bench convolve, convolve1d, blur, stats, clip, threshold, label, measure, chain, background:
 * operations on an image that is on the device, and with the copies there and back. The image is noise with 200
 * sources; the volume of blur is noise.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/background.h"
#include "airy/filter.h"
#include "airy/label.h"
#include "airy/random.h"
#include "airy/reduce.h"
#include "bench.h"

enum { SIDE = 2048, TAPS = 15, SOURCES = 200, LINE = SIDE * SIDE, STACK = 16 };

static const size_t flat_shape[2] = {SIDE, SIDE},
                    full_shape[2] = {SIDE + TAPS - 1, SIDE + TAPS - 1}, line_shape[1] = {LINE},
                    long_shape[1] = {LINE + TAPS - 1}, deep_shape[3] = {100, 1024, 1024};

/* What operations on sources need besides the image: labels, and the regions of five sigma. */
struct scene {
    airy_dtype labels;
    bool regions;
};

/* The same image many times, for what takes a stack in one call. */
struct stack {
    airy_array *src, *labels; /* planes of cubes */
    airy_array *srcs[STACK], *targets[STACK];
    size_t counts[STACK];
    airy_region *regions[STACK];
};

struct images {
    airy_queue *queue;
    const struct scene *scene; /* NULL: nothing of it */
    airy_host *host, *back;    /* the image; what comes back */
    airy_array *src, *dst, *labels;
    double kernel[TAPS * TAPS];
    double threshold; /* five standard deviations of the noise */
    airy_region *regions;
    size_t count;
    airy_convolve_params convolve;
    airy_blur_params blur;
    struct stack stack; /* of bench_stack */
};

/* An operation on src, timed as it is and between a push and a pull. */
struct operation {
    const char *name;
    airy_status (*run)(struct images *images);
    double walks; /* images read or written at least */
};

static airy_status run_convolve(struct images *m)
{
    const int ndim = airy_array_ndim(m->src);
    const size_t shape[2] = {TAPS, TAPS};
    return airy_convolve(m->queue, m->dst, m->src, m->kernel, ndim, shape, &m->convolve, NULL);
}

static airy_status run_blur(struct images *m)
{
    return airy_gaussian_blur(m->queue, m->dst, m->src, &m->blur);
}

static airy_status run_stats(struct images *m)
{
    airy_statistics s;
    return airy_statistics_get(m->queue, &s, m->src, NULL,
                               AIRY_STATISTICS_MOMENTS | AIRY_STATISTICS_MEDIAN);
}

static airy_status stats_of(struct images *m, const airy_array *const *srcs)
{
    airy_statistics s[STACK];
    return airy_statistics_each(m->queue, s, srcs, NULL, STACK,
                                AIRY_STATISTICS_MOMENTS | AIRY_STATISTICS_MEDIAN);
}

static airy_status clips_of(struct images *m, const airy_array *const *srcs)
{
    airy_clip_result r[STACK];
    return airy_clip_each(m->queue, r, srcs, NULL, STACK, NULL);
}

/* Two arrays by turns: those go one after the other, planes of one side by side. */
static void take_turns(const airy_array *srcs[STACK], const struct images *m)
{
    for (size_t i = 0; i < STACK; i++)
        srcs[i] = i % 2 ? m->stack.srcs[0] : m->src;
}

static airy_status run_stats_each(struct images *m)
{
    return stats_of(m, (const airy_array *const *)m->stack.srcs);
}

static airy_status run_stats_in_turn(struct images *m)
{
    const airy_array *srcs[STACK];
    take_turns(srcs, m);
    return stats_of(m, srcs);
}

static airy_status run_clip_each(struct images *m)
{
    return clips_of(m, (const airy_array *const *)m->stack.srcs);
}

static airy_status run_clip_in_turn(struct images *m)
{
    const airy_array *srcs[STACK];
    take_turns(srcs, m);
    return clips_of(m, srcs);
}

static airy_status run_clip(struct images *m)
{
    airy_clip_result r;
    const airy_status status = airy_clip(m->queue, &r, m->src, NULL, NULL);
    if (status == AIRY_OK)
        m->threshold = 5 * r.kept.std;
    return status;
}

static airy_status run_threshold(struct images *m)
{
    return airy_threshold(m->queue, m->labels, m->src, m->threshold);
}

static airy_status label_once(struct images *m, double above, size_t *count, airy_region **regions)
{
    const airy_label_params params = {.has_above = true, .above = above};
    return airy_label(m->queue, m->labels, m->src, &params, count, regions);
}

static airy_status label_each(struct images *m, double above, airy_region **regions)
{
    const airy_label_params params = {.has_above = true, .above = above};
    return airy_label_each(m->queue, m->stack.targets, (const airy_array *const *)m->stack.srcs,
                           STACK, &params, m->stack.counts, regions);
}

static airy_status run_label(struct images *m)
{
    return label_once(m, m->threshold, &m->count, NULL);
}

static airy_status run_label_each(struct images *m)
{
    return label_each(m, m->threshold, NULL);
}

/* Half of the noise is above 0. */
static airy_status run_label_half(struct images *m)
{
    size_t count;
    return label_once(m, 0, &count, NULL);
}

static airy_status run_label_half_each(struct images *m)
{
    return label_each(m, 0, NULL);
}

static airy_status run_label_and_measure(struct images *m)
{
    airy_region *regions = NULL;
    const airy_status status = label_once(m, m->threshold, &m->count, &regions);
    airy_regions_free(regions);
    return status;
}

static airy_status run_label_and_measure_each(struct images *m)
{
    airy_region *regions[STACK] = {NULL};
    const airy_status status = label_each(m, m->threshold, regions);
    for (int i = 0; i < STACK; i++)
        airy_regions_free(regions[i]);
    return status;
}

static airy_status run_measure(struct images *m)
{
    return airy_measure(m->queue, m->regions, m->count, m->labels, m->src);
}

static airy_status run_measure_each(struct images *m)
{
    const struct stack *stack = &m->stack;
    return airy_measure_each(m->queue, stack->regions, stack->counts,
                             (const airy_array *const *)stack->targets,
                             (const airy_array *const *)stack->srcs, STACK);
}

static airy_status run_chain(struct images *m)
{
    airy_region *regions = NULL;
    airy_status status = run_clip(m);
    const airy_label_params params = {.has_above = true, .above = m->threshold};
    if (status == AIRY_OK)
        status = airy_label(m->queue, NULL, m->src, &params, &m->count, &regions);
    airy_regions_free(regions);
    return status;
}

static airy_status run_background(struct images *m)
{
    airy_background *background = NULL;
    airy_status status = airy_background_create(&background, m->queue, m->src, NULL, NULL, NULL);
    if (status == AIRY_OK)
        status = airy_background_subtract(m->queue, background, m->dst, m->src, NULL);
    airy_background_destroy(&background);
    return status;
}

struct call {
    struct images *images;
    const struct operation *operation;
    size_t count; /* of a chain */
};

static airy_status resident(void *user)
{
    const struct call *call = user;
    const airy_status status = call->operation->run(call->images);
    return status == AIRY_OK ? airy_queue_finish(call->images->queue) : status;
}

/* The image from page-locked memory, and back what the operation has written there. */
static airy_status there_and_back(void *user)
{
    const struct call *call = user;
    struct images *m = call->images;
    airy_status status =
        airy_array_push(m->queue, m->src, airy_host_data(m->host), airy_array_size(m->src));
    if (status == AIRY_OK)
        status = call->operation->run(m);
    if (status == AIRY_OK && m->back)
        status =
            airy_array_pull(m->queue, airy_host_data(m->back), airy_array_size(m->dst), m->dst);
    return status == AIRY_OK ? airy_queue_finish(m->queue) : status;
}

/* Noise of standard deviation 1, and discs of up to 50 in it. */
static void draw_image(float *image, size_t n, size_t width, bool sources)
{
    uint32_t words[1024];
    for (size_t i = 0; i < n; i += 256) {
        airy_random_words(words, 1024, 1, 0, 4 * i);
        for (size_t k = 0; k < 256 && i + k < n; k++) {
            double sum = 0; /* of four uniform numbers: variance 1/3 */
            for (size_t j = 0; j < 4; j++)
                sum += words[4 * k + j] * 0x1p-32 - 0.5;
            image[i + k] = (float)(sum * sqrt(3.0));
        }
    }
    for (size_t s = 0; sources && s < SOURCES; s++) {
        airy_random_words(words, 3, 2, 0, 4 * s);
        const size_t y0 = 8 + words[0] % (n / width - 16), x0 = 8 + words[1] % (width - 16);
        for (size_t y = y0 - 4; y <= y0 + 4; y++)
            for (size_t x = x0 - 4; x <= x0 + 4; x++) {
                const double dy = (double)y - (double)y0, dx = (double)x - (double)x0;
                image[y * width + x] +=
                    (float)((6 + words[2] * 0x1p-32 * 44) * exp(-(dy * dy + dx * dx) / 4));
            }
    }
}

static airy_status open_images(struct images *m, const struct bench *bench, airy_dtype dtype,
                               int ndim, const size_t *shape, const size_t *out)
{
    *m = (struct images){.queue = bench->queue};
    for (int i = 0; i < TAPS * TAPS; i++) {
        const double y = (i / TAPS - TAPS / 2) * 4.0 / (TAPS - 1),
                     x = (i % TAPS - TAPS / 2) * 4.0 / (TAPS - 1);
        m->kernel[i] = exp(-0.5 * (x * x + y * y));
    }
    airy_status status = airy_array_create(&m->src, bench->device, dtype, ndim, shape);
    if (status == AIRY_OK && out)
        status = airy_array_create(&m->dst, bench->device, dtype, ndim, out);
    if (status == AIRY_OK)
        status = airy_host_create(&m->host, bench->device, airy_array_size(m->src));
    if (status == AIRY_OK && out)
        status = airy_host_create(&m->back, bench->device, airy_array_size(m->dst));
    const size_t n = status == AIRY_OK ? airy_array_count(m->src) : 0;
    float *values = status == AIRY_OK ? airy_host_data(m->host) : NULL;
    if (status == AIRY_OK)
        draw_image(values, n, shape[ndim - 1] < LINE ? shape[ndim - 1] : SIDE, ndim < 3);
    /* From the end on, so that the wider values do not overtake the others. */
    for (size_t i = n; dtype == AIRY_DTYPE_F64 && i-- > 0;)
        ((double *)(void *)values)[i] = values[i];
    return status == AIRY_OK ? airy_array_push(m->queue, m->src, values, airy_array_size(m->src))
                             : status;
}

/* The image with its sources, and what `scene` says. */
static airy_status open_scene(struct images *m, const struct bench *bench,
                              const struct scene *scene)
{
    airy_status status = open_images(m, bench, AIRY_DTYPE_F32, 2, flat_shape, NULL);
    m->scene = scene;
    if (status == AIRY_OK)
        status = airy_array_create(&m->labels, bench->device, scene->labels, 2, flat_shape);
    if (status == AIRY_OK)
        status = run_clip(m);
    if (status == AIRY_OK && scene->regions)
        status = run_label(m);
    if (status == AIRY_OK && scene->regions) {
        m->regions = malloc((m->count + 1) * sizeof(*m->regions));
        status = m->regions ? AIRY_OK : AIRY_ERR_MEMORY;
    }
    return status;
}

static void close_images(struct images *m)
{
    airy_array_destroy(&m->src);
    airy_array_destroy(&m->dst);
    airy_array_destroy(&m->labels);
    airy_host_destroy(&m->host);
    airy_host_destroy(&m->back);
    airy_regions_free(m->regions);
}

static airy_status measure(struct bench *bench, struct images *m, const struct operation *operation)
{
    struct call call = {.images = m, .operation = operation};
    struct timing t;
    char name[96];
    airy_status status = bench_measure_limits(bench);
    const double size = (double)airy_array_size(m->src);
    if (status == AIRY_OK)
        status = bench_repeat(bench, &t, resident, &call);
    if (status == AIRY_OK) /* `inside` counts the bytes copied: one read and one written each */
        bench_add_latency(
            bench, &t,
            &(struct bench_row){.name = operation->name,
                                .unit = "ms",
                                .amount = 1e3,
                                .limit = 1e3 * operation->walks * size / (2 * bench->limits.inside),
                                .limit_name = "reading and writing the images at the copy rate"});
    snprintf(name, sizeof(name), "%s, with copies", operation->name);
    if (status == AIRY_OK && !bench->cpu)
        status = bench_repeat(bench, &t, there_and_back, &call);
    const double back = m->back ? (double)airy_array_size(m->dst) : 0;
    if (status == AIRY_OK && !bench->cpu)
        bench_add_latency(bench, &t,
                          &(struct bench_row){.name = name,
                                              .unit = "ms",
                                              .amount = 1e3,
                                              .limit = 1e3 * (size + back) / bench->limits.up,
                                              .limit_name = "the copies alone"});
    return status;
}

static void close_stack(struct stack *stack)
{
    for (int i = 0; i < STACK; i++) {
        airy_array_destroy(&stack->srcs[i]);
        airy_array_destroy(&stack->targets[i]);
        airy_regions_free(stack->regions[i]);
    }
    airy_array_destroy(&stack->src);
    airy_array_destroy(&stack->labels);
    *stack = (struct stack){.src = NULL};
}

/* The image, and what measures need: labels of it, and room for their regions. */
static airy_status open_stack(struct images *m, const struct bench *bench)
{
    struct stack *stack = &m->stack;
    const size_t shape[3] = {STACK, SIDE, SIDE}, one[3] = {1, SIDE, SIDE},
                 size = airy_array_size(m->src);
    airy_status status =
        airy_array_create(&stack->src, bench->device, airy_array_dtype(m->src), 3, shape);
    if (status == AIRY_OK)
        status = airy_array_create(&stack->labels, bench->device, m->scene->labels, 3, shape);
    for (size_t i = 0; i < STACK && status == AIRY_OK; i++) {
        const size_t at[3] = {i, 0, 0};
        status = airy_array_view(&stack->srcs[i], stack->src, at, one);
        if (status == AIRY_OK)
            status = airy_array_view(&stack->targets[i], stack->labels, at, one);
        if (status == AIRY_OK)
            status = airy_array_push(m->queue, stack->srcs[i], airy_host_data(m->host), size);
    }
    if (status == AIRY_OK)
        status = run_label_each(m);
    for (size_t i = 0; i < STACK && status == AIRY_OK; i++) {
        stack->regions[i] = malloc((stack->counts[i] + 1) * sizeof(airy_region));
        status = stack->regions[i] ? AIRY_OK : AIRY_ERR_MEMORY;
    }
    return status;
}

static airy_status chain(void *user)
{
    const struct call *call = user;
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < call->count && status == AIRY_OK; i++)
        status = call->operation->run(call->images);
    return status == AIRY_OK ? airy_queue_finish(call->images->queue) : status;
}

/* Calls in a row, so many that the first launch and the wait at the end, 9 us, do not weigh. */
static airy_status time_chain(const struct bench *bench, struct timing *t, struct call *call)
{
    enum { LEAST = 20 };
    const double enough = 2e-3; /* s */
    call->count = LEAST;
    const struct bench_loop loop = {.run = chain, .user = call, .least = 3, .first = true};
    const airy_status status = bench_loop(bench, t, &loop);
    if (status != AIRY_OK)
        return status;
    const double each = bench_percentile(t, 0.5) / LEAST;
    if (LEAST * each < enough)
        call->count = (size_t)(enough / each) + 1;
    return bench_repeat(bench, t, chain, call);
}

static airy_status launch(void *user)
{
    const struct call *call = user;
    return call->operation->run(call->images);
}

static airy_status wait_for_queue(void *user)
{
    const struct call *call = user;
    return airy_queue_finish(call->images->queue);
}

static void add_part(struct bench *bench, struct timing *t, const struct operation *operation,
                     const char *part, double amount, double limit, const char *limit_name)
{
    char name[96];
    snprintf(name, sizeof(name), "%s, %s", operation->name, part);
    bench_add_latency(bench, t,
                      &(struct bench_row){.name = name,
                                          .unit = "ms",
                                          .amount = amount,
                                          .limit = limit,
                                          .limit_name = limit_name});
}

/* What the device's own clock says of kernels and copies, on a device that is opened for it. */
static airy_status measure_profile(struct bench *bench, struct images *m,
                                   const struct operation *operation)
{
    enum { CALLS = 10 };
    struct bench own = *bench;
    struct images images = {.host = NULL};
    char name[96];
    double ms[CALLS + 1][2];
    airy_status status = airy_device_create(&own.device, airy_device_spec(bench->device),
                                            &(airy_device_params){.profile = true});
    if (status != AIRY_OK)
        return status;
    status = airy_queue_create(&own.queue, own.device);
    if (status == AIRY_OK && m->scene)
        status = open_scene(&images, &own, m->scene);
    else if (status == AIRY_OK)
        status = open_images(&images, &own, airy_array_dtype(m->src), airy_array_ndim(m->src),
                             airy_array_shape(m->src), airy_array_shape(m->dst));
    images.convolve = m->convolve;
    images.blur = m->blur;
    struct call call = {.images = &images, .operation = operation};
    for (int i = -1; i <= CALLS && status == AIRY_OK; i++) { /* the first is compiled */
        status = m->scene ? resident(&call) : there_and_back(&call);
        if (status == AIRY_OK)
            status = bench_profile(ms[i < 0 ? 0 : i], own.device);
    }
    static struct timing t;
    for (int what = 0; what < 2 && status == AIRY_OK; what++) {
        t = (struct timing){.first = (double)NAN};
        for (t.count = 0; t.count < CALLS; t.count++)
            t.times[t.count] = 1e-3 * (ms[t.count + 1][what] - ms[t.count][what]);
        snprintf(name, sizeof(name), "%s, %s", operation->name, what ? "copies" : "kernels");
        bench_add_latency(bench, &t,
                          &(struct bench_row){.name = name, .unit = "ms", .amount = 1e3});
    }
    close_images(&images);
    airy_queue_destroy(&own.queue);
    airy_device_destroy(&own.device);
    return status;
}

/*
 * measure, and what the time is made of. Operations whose result the host waits for are back to back
 * one after the other all the same; the row of kernels is what they take of the device.
 */
static airy_status measure_parts(struct bench *bench, struct images *m,
                                 const struct operation *operation)
{
    struct call call = {.images = m, .operation = operation};
    static struct timing t;
    airy_memory_info memory;
    char name[96];
    airy_status status = measure(bench, m, operation);
    if (status != AIRY_OK || bench->cpu)
        return status;
    const double size = m->dst ? (double)(airy_array_size(m->src) + airy_array_size(m->dst))
                               : operation->walks * (double)airy_array_size(m->src);
    status = time_chain(bench, &t, &call);
    if (status == AIRY_OK)
        add_part(bench, &t, operation, "back to back", 1e3 / (double)call.count,
                 1e3 * size / (2 * bench->limits.inside),
                 "reading and writing the images at the copy rate");
    const struct bench_loop loop = {.prepare = wait_for_queue,
                                    .run = launch,
                                    .user = &call,
                                    .seconds = 0.1 * bench_seconds(bench),
                                    .least = 3,
                                    .first = true};
    if (status == AIRY_OK)
        status = bench_loop(bench, &t, &loop);
    if (status == AIRY_OK)
        add_part(bench, &t, operation, "until the call returns", 1e3, 0, NULL);
    if (status == AIRY_OK)
        status = measure_profile(bench, m, operation);
    if (status == AIRY_OK)
        status = airy_device_memory(bench->device, &memory);
    snprintf(name, sizeof(name), "%s, memory at most", operation->name);
    if (status == AIRY_OK)
        bench_add_fact(bench, name, "MB", 1e-6 * (double)memory.peak);
    return status;
}

static int finish(struct bench *bench, struct images *m, airy_status status)
{
    close_images(m);
    return status == AIRY_OK ? AIRY_EXIT_OK : bench_failed(bench, status);
}

int bench_convolve(struct bench *bench)
{
    static const struct {
        airy_dtype dtype;
        airy_convolve_method method;
        struct operation operation;
    } jobs[] = {
        {AIRY_DTYPE_F32, AIRY_CONVOLVE_DIRECT, {"convolve 15x15, direct, f32", run_convolve, 2}},
        {AIRY_DTYPE_F32, AIRY_CONVOLVE_AUTO, {"convolve 15x15, rank 1, f32", run_convolve, 2}},
        {AIRY_DTYPE_F64, AIRY_CONVOLVE_DIRECT, {"convolve 15x15, direct, f64", run_convolve, 2}},
        {AIRY_DTYPE_F64, AIRY_CONVOLVE_AUTO, {"convolve 15x15, rank 1, f64", run_convolve, 2}},
    };
    struct images m;
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]) && status == AIRY_OK; i++) {
        status = open_images(&m, bench, jobs[i].dtype, 2, flat_shape, full_shape);
        m.convolve.method = jobs[i].method;
        if (status == AIRY_OK)
            status = measure_parts(bench, &m, &jobs[i].operation);
        if (status == AIRY_OK)
            close_images(&m);
    }
    return status == AIRY_OK ? AIRY_EXIT_OK : finish(bench, &m, status);
}

int bench_convolve1d(struct bench *bench)
{
    static const struct operation operation = {"convolve 4 M by 15, f64", run_convolve, 2};
    struct images m;
    airy_status status = open_images(&m, bench, AIRY_DTYPE_F64, 1, line_shape, long_shape);
    if (status == AIRY_OK)
        status = measure_parts(bench, &m, &operation);
    return finish(bench, &m, status);
}

int bench_blur(struct bench *bench)
{
    static const double sigmas[] = {1, 2, 5, 10};
    struct images m;
    airy_status status = open_images(&m, bench, AIRY_DTYPE_F32, 3, deep_shape, deep_shape);
    for (size_t i = 0; i < sizeof(sigmas) / sizeof(sigmas[0]) && status == AIRY_OK; i++) {
        char name[64];
        snprintf(name, sizeof(name), "blur 100x1024x1024, sigma %g", sigmas[i]);
        const struct operation operation = {name, run_blur, 2};
        for (int axis = 0; axis < 3; axis++)
            m.blur.sigma[axis] = sigmas[i];
        status = measure_parts(bench, &m, &operation);
    }
    return finish(bench, &m, status);
}

static int bench_image(struct bench *bench, const struct operation *operation,
                       const struct scene *scene)
{
    struct images m;
    airy_status status = open_scene(&m, bench, scene);
    if (status == AIRY_OK)
        status = measure_parts(bench, &m, operation);
    return finish(bench, &m, status);
}

/* What an image takes of an operation on a stack, in one call; the CPU does one after the other. */
static int bench_stack(struct bench *bench, const struct operation *operation,
                       const struct scene *scene)
{
    struct images m;
    struct call call = {.images = &m, .operation = operation};
    static struct timing t;
    char part[64];
    if (bench->cpu)
        return AIRY_EXIT_OK;
    snprintf(part, sizeof(part), "an image of %d in one call", STACK);
    airy_status status = open_scene(&m, bench, scene);
    if (status == AIRY_OK)
        status = open_stack(&m, bench);
    if (status == AIRY_OK)
        status = bench_repeat(bench, &t, resident, &call);
    if (status == AIRY_OK)
        add_part(bench, &t, operation, part, 1e3 / STACK,
                 1e3 * operation->walks * (double)airy_array_size(m.src) /
                     (2 * bench->limits.inside),
                 "reading and writing the images at the copy rate");
    close_stack(&m.stack);
    return finish(bench, &m, status);
}

static const struct scene mask = {AIRY_DTYPE_U8, false}, labels = {AIRY_DTYPE_U32, false},
                          regions = {AIRY_DTYPE_U32, true};

/* Of an image; of a stack, whose images go one after the other, and side by side. */
static int bench_many(struct bench *bench, const struct operation *operations)
{
    int code = bench_image(bench, &operations[0], &mask);
    for (int i = 1; i < 3 && code == AIRY_EXIT_OK; i++)
        code = bench_stack(bench, &operations[i], &labels);
    return code;
}

int bench_stats(struct bench *bench)
{
    static const struct operation operations[] = {
        {"mean, median, std, max of 2048x2048", run_stats, 1},
        {"mean, median, std, max of 2048x2048, in turn", run_stats_in_turn, 1},
        {"mean, median, std, max of 2048x2048", run_stats_each, 1},
    };
    return bench_many(bench, operations);
}

int bench_clip(struct bench *bench)
{
    static const struct operation operations[] = {
        {"clip to convergence, 2048x2048", run_clip, 1},
        {"clip to convergence, 2048x2048, in turn", run_clip_in_turn, 1},
        {"clip to convergence, 2048x2048", run_clip_each, 1},
    };
    return bench_many(bench, operations);
}

int bench_threshold(struct bench *bench)
{
    static const struct operation operation = {"threshold, 2048x2048", run_threshold, 1.25};
    return bench_image(bench, &operation, &mask);
}

int bench_label(struct bench *bench)
{
    static const struct operation operations[][2] = {
        {{"label, 2048x2048", run_label, 2}, {"label, 2048x2048", run_label_each, 2}},
        {{"label and measures, 2048x2048", run_label_and_measure, 2},
         {"label and measures, 2048x2048", run_label_and_measure_each, 2}},
        {{"label of half the pixels, 2048x2048", run_label_half, 2},
         {"label of half the pixels, 2048x2048", run_label_half_each, 2}},
    };
    int code = AIRY_EXIT_OK;
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]) && code == AIRY_EXIT_OK;
         i++) {
        code = bench_image(bench, &operations[i][0], &labels);
        if (code == AIRY_EXIT_OK)
            code = bench_stack(bench, &operations[i][1], &labels);
    }
    return code;
}

int bench_measure(struct bench *bench)
{
    static const struct operation one = {"measures of labels, 2048x2048", run_measure, 2},
                                  each = {"measures of labels, 2048x2048", run_measure_each, 2};
    const int code = bench_image(bench, &one, &regions);
    return code == AIRY_EXIT_OK ? bench_stack(bench, &each, &regions) : code;
}

int bench_chain(struct bench *bench)
{
    static const struct operation operation = {"clip, threshold, label, measure, 2048x2048",
                                               run_chain, 1};
    return bench_image(bench, &operation, &mask);
}

int bench_background(struct bench *bench)
{
    static const struct operation operation = {"background taken from 2048x2048", run_background,
                                               3};
    struct images m;
    airy_status status = open_images(&m, bench, AIRY_DTYPE_F32, 2, flat_shape, flat_shape);
    if (status == AIRY_OK)
        status = measure_parts(bench, &m, &operation);
    return finish(bench, &m, status);
}
