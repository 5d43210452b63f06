/* airy reduce: one image of all frames of a stack, which stream through. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "airy/element.h"
#include "airy/reduce.h"
#include "images/image_util.h"
#include "cli/stack_opt.h"

struct reduce_params {
    struct common common;
    const char *output;
    struct raw_opt raw;
    airy_projection by;
    double hot;
    bool has_hot;
};

static const char *parse_by(void *field, const char *text)
{
    return airy_projection_parse(field, text) == AIRY_OK ? NULL : airy_last_error();
}

static const struct opt reduce_options[] = {
    {.heading = "Input"},
    STACK_RAW_OPTION(struct reduce_params, raw),
    STACK_CHANNEL_OPTION(struct reduce_params, raw),
    {.heading = "Reduction"},
    {.name = "by",
     .type = OPT_PARSED,
     .offset = offsetof(struct reduce_params, by),
     .parse = parse_by,
     .argument = "mean|sum|max|min|median|std",
     .fallback = "mean",
     .help = "of each pixel over the frames; std: population"},
    {.name = "hot",
     .type = OPT_FLOAT,
     .offset = offsetof(struct reduce_params, hot),
     .seen = offsetof(struct reduce_params, has_hot),
     .lo = 0,
     .hi = 1e6,
     .argument = "K",
     .help = "OUT is a mask (uint8): 1 where the image is off its median by more than K robust "
             "standard deviations, and where the file's mask is"},
    {.name = "output",
     .letter = 'o',
     .type = OPT_STRING,
     .offset = offsetof(struct reduce_params, output),
     .use = OPT_WRITTEN_IMAGE,
     .argument = "OUT",
     .help = "the image"},
    {0},
};

/* Bytes of frames that are in memory at a time, once on the host and once on the device. */
enum { STREAM_BYTES = 64 << 20, MEDIAN_BYTES = 256 << 20, MOST_THREADS = 64 };

struct reduction {
    const struct reduce_params *p;
    airy_stack *stack;
    airy_stack_info info;
    airy_stack_meta meta;
    airy_device *device;
    airy_queue *queue;
    airy_array *result;  /* [1, height, width] */
    airy_array *squares; /* of std: the sum of squares about the mean so far */
    airy_array *part, *spread;
    airy_hot_result hot;
    struct progress progress;
    size_t taken; /* frames that are in the result; the others were never written */
};

/* Frames [first, first + count), of each the rows [row, row + rows), read by several threads. */
struct reading {
    const struct reduction *r;
    size_t first, count, row, rows;
    uint8_t *pixels;
    bool *unwritten; /* [count] NULL: found and forgotten */
    bool decided;    /* unwritten says which frames are left out */
    atomic_size_t next;
    atomic_bool failed;
    pthread_mutex_t lock;
    airy_error error; /* of the one that failed */
};

static void note_failure(struct reading *job, const airy_error *error)
{
    pthread_mutex_lock(&job->lock);
    if (!atomic_exchange(&job->failed, true))
        job->error = *error;
    pthread_mutex_unlock(&job->lock);
}

/* A frame that was read before was never written now: another one has its place. */
static void note_change(struct reading *job, size_t frame)
{
    char where[512] = "";
    airy_error error = {.status = AIRY_ERR_IO, .subject = AIRY_SUBJECT_FRAME};
    (void)airy_stack_where(job->r->stack, frame, where, sizeof(where));
    snprintf(error.name, sizeof(error.name), "%.511s", where);
    snprintf(error.text, sizeof(error.text),
             "%s: the frame was there when the first rows were read, and is not now: the file was "
             "changed meanwhile; repeat the command when it stays as it is",
             where);
    note_failure(job, &error);
}

static void read_one(struct reading *job, size_t i, uint8_t *frame)
{
    const airy_stack_info *info = &job->r->info;
    const size_t row = info->width * airy_dtype_size(info->dtype), size = info->height * row;
    uint8_t *to = job->pixels + i * job->rows * row;
    uint8_t *whole = frame ? frame : to;
    if (job->decided && job->unwritten[i])
        return;
    const airy_status status = airy_stack_read(job->r->stack, job->first + i, whole, size);
    if (status == AIRY_ERR_UNWRITTEN && job->decided) {
        note_change(job, job->first + i);
        return;
    }
    job->unwritten[i] = status == AIRY_ERR_UNWRITTEN;
    if (job->unwritten[i])
        return;
    if (status != AIRY_OK) {
        airy_error error;
        airy_error_get(&error);
        note_failure(job, &error);
    } else if (frame) {
        memcpy(to, frame + job->row * row, job->rows * row);
    }
}

static void *read_frames(void *arg)
{
    struct reading *job = arg;
    const airy_stack_info *info = &job->r->info;
    uint8_t *frame = NULL;
    if (job->rows < info->height) {
        frame = malloc(info->height * info->width * airy_dtype_size(info->dtype));
        if (!frame) {
            const airy_error error = {.status = AIRY_ERR_MEMORY,
                                      .hint = AIRY_HINT_MEMORY,
                                      .text = "out of memory for a frame"};
            note_failure(job, &error);
            return NULL;
        }
    }
    for (size_t i;
         !atomic_load(&job->failed) && (i = atomic_fetch_add(&job->next, 1)) < job->count;)
        read_one(job, i, frame);
    free(frame);
    return NULL;
}

/* Frames that were never written are left out: the others move up. */
static void close_gaps(struct reading *job)
{
    const airy_stack_info *info = &job->r->info;
    const size_t size = job->rows * info->width * airy_dtype_size(info->dtype);
    size_t kept = 0;
    for (size_t i = 0; i < job->count; i++) {
        if (job->unwritten[i])
            continue;
        if (kept < i)
            memcpy(job->pixels + kept * size, job->pixels + i * size, size);
        kept++;
    }
    job->count = kept;
}

/* All frames that were written; their number is job->count then. Exit code. */
static int read_all(struct reading *job)
{
    const struct common *common = &job->r->p->common;
    bool *own = job->unwritten ? NULL : calloc(job->count, sizeof(bool));
    job->unwritten = job->unwritten ? job->unwritten : own;
    if (!job->unwritten)
        return tool_fail(common, "out of memory for %zu frames", job->count);
    pthread_t threads[MOST_THREADS];
    size_t started = 0, wanted = tool_threads(common);
    wanted = wanted < MOST_THREADS ? wanted : MOST_THREADS;
    wanted = wanted < job->count ? wanted : job->count;
    atomic_store(&job->next, 0);
    atomic_store(&job->failed, false);
    pthread_mutex_init(&job->lock, NULL);
    while (started + 1 < wanted && pthread_create(&threads[started], NULL, read_frames, job) == 0)
        started++;
    (void)read_frames(job);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&job->lock);
    close_gaps(job);
    free(own);
    return atomic_load(&job->failed) ? tool_failed_as(common, &job->error) : AIRY_EXIT_OK;
}

/* dst += factor src, with src overwritten. */
static airy_status add_scaled(airy_queue *queue, airy_array *dst, airy_array *src, double factor)
{
    airy_status status = airy_combine_value(queue, src, src, AIRY_MULTIPLY, factor);
    return status == AIRY_OK ? airy_combine(queue, dst, dst, AIRY_ADD, src) : status;
}

/*
 * Mean and squares of `before` frames get `count` more: Chan, Golub, LeVeque, 1979, equations 2.1a
 * and b.
 */
static airy_status merge_spread(struct reduction *r, double before, double count)
{
    airy_queue *q = r->queue;
    const double all = before + count;
    airy_status status = airy_apply(q, r->spread, AIRY_SQUARE, r->spread);
    if (status == AIRY_OK)
        status = add_scaled(q, r->squares, r->spread, count);
    if (status == AIRY_OK) /* from here on part: the distance of the means */
        status = airy_combine(q, r->part, r->part, AIRY_SUBTRACT, r->result);
    if (status == AIRY_OK)
        status = airy_apply(q, r->spread, AIRY_SQUARE, r->part);
    if (status == AIRY_OK)
        status = add_scaled(q, r->squares, r->spread, before * count / all);
    return status == AIRY_OK ? add_scaled(q, r->result, r->part, count / all) : status;
}

static airy_status take_extremes(struct reduction *r, const airy_array *frames, size_t before,
                                 size_t count)
{
    const size_t shape[3] = {1, r->info.height, r->info.width};
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < count && status == AIRY_OK; i++) {
        airy_array *frame = NULL;
        const size_t start[3] = {i, 0, 0};
        status = airy_array_view(&frame, frames, start, shape);
        if (status == AIRY_OK && before + i == 0)
            status = airy_array_copy(r->queue, r->result, frame);
        else if (status == AIRY_OK)
            status = airy_combine(r->queue, r->result, r->result,
                                  r->p->by == AIRY_PROJECT_MAX ? AIRY_MAXIMUM : AIRY_MINIMUM,
                                  frame);
        airy_array_destroy(&frame);
    }
    return status;
}

/* A batch of `count` frames behind `before` that were taken already. */
static airy_status take_batch(struct reduction *r, const airy_array *frames, size_t before,
                              size_t count)
{
    const size_t factor[3] = {count, 1, 1};
    const airy_projection by = r->p->by;
    if (by == AIRY_PROJECT_MAX || by == AIRY_PROJECT_MIN)
        return take_extremes(r, frames, before, count);
    if (by == AIRY_PROJECT_STD) {
        airy_status status =
            airy_project(r->queue, r->part, frames, factor, AIRY_PROJECT_MEAN, false);
        if (status == AIRY_OK)
            status = airy_project(r->queue, r->spread, frames, factor, AIRY_PROJECT_STD, false);
        return status == AIRY_OK ? merge_spread(r, (double)before, (double)count) : status;
    }
    const airy_status status =
        airy_project(r->queue, r->part, frames, factor, AIRY_PROJECT_SUM, false);
    return status == AIRY_OK ? airy_combine(r->queue, r->result, r->result, AIRY_ADD, r->part)
                             : status;
}

static airy_status finish_result(struct reduction *r)
{
    const double frames = (double)r->taken;
    if (r->p->by == AIRY_PROJECT_MEAN)
        return airy_combine_value(r->queue, r->result, r->result, AIRY_DIVIDE, frames);
    if (r->p->by != AIRY_PROJECT_STD)
        return AIRY_OK;
    const airy_status status =
        airy_combine_value(r->queue, r->squares, r->squares, AIRY_DIVIDE, frames);
    return status == AIRY_OK ? airy_apply(r->queue, r->result, AIRY_SQRT, r->squares) : status;
}

/* f64 images of zeros that the sums of this reduction need. */
static airy_status make_sums(struct reduction *r)
{
    const airy_projection by = r->p->by;
    const size_t shape[3] = {1, r->info.height, r->info.width};
    const bool sums = by == AIRY_PROJECT_SUM || by == AIRY_PROJECT_MEAN || by == AIRY_PROJECT_STD;
    airy_array **const arrays[3] = {&r->part, &r->squares, &r->spread};
    airy_status status = AIRY_OK;
    for (int i = 0; i < (!sums ? 0 : by == AIRY_PROJECT_STD ? 3 : 1) && status == AIRY_OK; i++)
        status = airy_array_create(arrays[i], r->device, AIRY_DTYPE_F64, 3, shape);
    return status;
}

/* Exit code. */
static int check_taken(const struct reduction *r)
{
    const struct common *common = &r->p->common;
    const size_t left_out = r->info.frames - r->taken;
    if (r->taken == 0)
        return tool_fail(common, "%s: none of its %zu frame%s was ever written",
                         common->inputs.items[0], r->info.frames, tool_s(r->info.frames));
    if (left_out)
        tool_say(common, "%s: %zu of %zu frames were never written and are left out",
                 common->inputs.items[0], left_out, r->info.frames);
    return AIRY_EXIT_OK;
}

/* Frames in batches, once through the stack. */
static int stream_frames(struct reduction *r)
{
    const struct common *common = &r->p->common;
    const airy_stack_info *info = &r->info;
    const size_t frame = info->height * info->width * airy_dtype_size(info->dtype);
    size_t batch = (size_t)tool_budget(&r->p->common, STREAM_BYTES) / frame;
    batch = batch < 1 ? 1 : batch > info->frames ? info->frames : batch;
    uint8_t *pixels = malloc(batch * frame);
    if (!pixels)
        return tool_fail(common, "out of memory for %zu frames of %zu bytes", batch, frame);
    int code = AIRY_EXIT_OK;
    airy_status status = make_sums(r);
    for (size_t i = 0; i < info->frames && code == AIRY_EXIT_OK && status == AIRY_OK; i += batch) {
        const size_t n = info->frames - i < batch ? info->frames - i : batch;
        struct reading job = {
            .r = r, .first = i, .count = n, .rows = info->height, .pixels = pixels};
        airy_array *frames = NULL;
        code = read_all(&job);
        if (code != AIRY_EXIT_OK)
            break;
        const size_t shape[3] = {job.count, info->height, info->width};
        if (job.count > 0)
            status = airy_array_create_over(&frames, r->queue, info->dtype, 3, shape, pixels);
        if (status == AIRY_OK && job.count > 0)
            status = take_batch(r, frames, r->taken, job.count);
        if (status == AIRY_OK)
            status = airy_queue_finish(r->queue);
        airy_array_destroy(&frames);
        r->taken += job.count;
        if (!progress_step(&r->progress, i + n, info->frames))
            code = tool_fail(common, "interrupted after %zu of %zu frames", i + n, info->frames);
    }
    if (code == AIRY_EXIT_OK && status == AIRY_OK)
        code = check_taken(r);
    if (code == AIRY_EXIT_OK && status == AIRY_OK)
        status = finish_result(r);
    free(pixels);
    return code != AIRY_EXIT_OK ? code : status == AIRY_OK ? code : tool_failed(common, status);
}

/* Rows [row, row + rows) of all frames at once. */
static airy_status take_median(struct reduction *r, uint8_t *pixels, size_t row, size_t rows)
{
    const airy_stack_info *info = &r->info;
    const size_t shape[3] = {r->taken, rows, info->width}, factor[3] = {r->taken, 1, 1},
                 start[3] = {0, row, 0}, part[3] = {1, rows, info->width};
    airy_array *frames = NULL, *to = NULL;
    airy_status status = airy_array_create_over(&frames, r->queue, info->dtype, 3, shape, pixels);
    if (status == AIRY_OK)
        status = airy_array_view(&to, r->result, start, part);
    if (status == AIRY_OK)
        status = airy_project(r->queue, to, frames, factor, AIRY_PROJECT_MEDIAN, false);
    if (status == AIRY_OK)
        status = airy_queue_finish(r->queue);
    airy_array_destroy(&frames);
    airy_array_destroy(&to);
    return status;
}

/*
 * Rows of a strip of all frames, which the host has, and a GPU, too. --memory-limit is for these,
 * the result, a frame for each thread that reads, and an eighth for what the medians need.
 */
static int choose_rows(size_t *rows, const struct reduction *r)
{
    const struct common *common = &r->p->common;
    const airy_stack_info *info = &r->info;
    const uint64_t limit = common->memory_limit, row = info->width * airy_dtype_size(info->dtype),
                   threads = tool_threads(common) < MOST_THREADS ? tool_threads(common)
                                                                 : MOST_THREADS,
                   beside = threads < info->frames ? threads : info->frames;
    uint64_t strip, frames, kept; /* strip: of one row */
    char text[32], room[32];
    if (__builtin_mul_overflow(row, (uint64_t)info->frames, &strip) ||
        __builtin_mul_overflow(beside * row, (uint64_t)info->height, &frames) ||
        __builtin_mul_overflow(info->width * sizeof(double), (uint64_t)info->height, &kept) ||
        __builtin_add_overflow(kept, frames, &kept) ||
        __builtin_add_overflow(kept, limit / 8, &kept))
        return tool_fail(common, "a row of all %zu frames is too large", info->frames);
    uint64_t most = MEDIAN_BYTES;
    if (limit && limit < kept + (uint64_t)MEDIAN_BYTES)
        most = limit > kept ? limit - kept : 0;
    if (limit && most < strip)
        return tool_fail(common,
                         "--memory-limit of %s: the median takes at least %s, for a row of all %zu "
                         "frames, the image, and a frame for each of %zu thread%s; raise it%s",
                         tool_bytes(room, (double)limit),
                         tool_bytes(text, (double)(kept - limit / 8 + strip) * 8 / 7), info->frames,
                         (size_t)threads, tool_s(threads),
                         threads > 1 ? " or lower --threads" : "");
    most = most / strip < 1 ? 1 : most / strip;
    *rows = most < info->height ? (size_t)most : info->height;
    return AIRY_EXIT_OK;
}

/*
 * A median needs all frames of a pixel: strips of rows, the stack read once for each. What is
 * unwritten when the first is read is left out of all.
 */
static int stream_rows(struct reduction *r)
{
    const struct common *common = &r->p->common;
    const airy_stack_info *info = &r->info;
    const size_t row = info->width * airy_dtype_size(info->dtype);
    size_t most = 0, all;
    const int chosen = choose_rows(&most, r);
    if (chosen != AIRY_EXIT_OK)
        return chosen;
    const size_t strips = (info->height + most - 1) / most;
    uint8_t *pixels = __builtin_mul_overflow(most * row, info->frames, &all) ? NULL : malloc(all);
    bool *unwritten = calloc(info->frames, sizeof(bool));
    if (!pixels || !unwritten) {
        free(pixels);
        free(unwritten);
        return tool_fail(common, "out of memory for %zu rows of %zu frames", most, info->frames);
    }
    if (strips > 1)
        tool_say(common, "the stack is read %zu times, %zu rows of all %zu frames each", strips,
                 most, info->frames);
    int code = AIRY_EXIT_OK;
    for (size_t i = 0; i < info->height && code == AIRY_EXIT_OK; i += most) {
        const size_t n = info->height - i < most ? info->height - i : most;
        struct reading job = {.r = r,
                              .count = info->frames,
                              .row = i,
                              .rows = n,
                              .pixels = pixels,
                              .unwritten = unwritten,
                              .decided = i > 0};
        code = read_all(&job);
        r->taken = job.count;
        if (code == AIRY_EXIT_OK && i == 0)
            code = check_taken(r);
        const airy_status status = code == AIRY_EXIT_OK ? take_median(r, pixels, i, n) : AIRY_OK;
        if (status != AIRY_OK)
            code = tool_failed(common, status);
        if (code == AIRY_EXIT_OK && !progress_step(&r->progress, i + n, info->height))
            code = tool_fail(common, "interrupted after %zu of %zu rows", i + n, info->height);
    }
    free(unwritten);
    free(pixels);
    return code;
}

/* The file's own mask on the device; NULL where it has none. */
static airy_status load_mask(struct reduction *r, airy_array **mask)
{
    const size_t shape[3] = {1, r->info.height, r->info.width};
    if (!r->meta.has_mask)
        return AIRY_OK;
    uint8_t *bad = malloc(shape[1] * shape[2]);
    if (!bad)
        return AIRY_ERR_MEMORY;
    airy_status status = airy_stack_mask(r->stack, bad);
    if (status == AIRY_OK)
        status = airy_array_create_from(mask, r->queue, AIRY_DTYPE_U8, 3, shape, bad);
    if (status == AIRY_OK)
        status = airy_queue_finish(r->queue);
    free(bad);
    return status;
}

/* --hot: the mask instead of the image. */
static int write_hot(struct reduction *r)
{
    const struct common *common = &r->p->common;
    airy_array *mask = NULL;
    airy_image image = {.dtype = AIRY_DTYPE_U8,
                        .ndim = 2,
                        .shape = {r->info.height, r->info.width},
                        .data = malloc(r->info.height * r->info.width)};
    if (!image.data)
        return tool_fail(common, "out of memory for a mask");
    airy_status status = load_mask(r, &mask);
    if (status == AIRY_OK)
        status = airy_hot_pixels(r->queue, image.data, &r->hot, r->result, mask, r->p->hot);
    int code = AIRY_EXIT_OK;
    if (status == AIRY_ERR_PARAM) /* of what the image's elements are */
        code = tool_fail(common, "--hot, the %s of %s: %s", airy_projection_name(r->p->by),
                         common->inputs.items[0], airy_last_error());
    if (status == AIRY_OK)
        status = airy_image_write(&image, r->p->output, common->force);
    airy_array_destroy(&mask);
    airy_image_free(&image);
    return status == AIRY_OK || code != AIRY_EXIT_OK ? code : tool_failed(common, status);
}

static int report_hot(const struct reduction *r)
{
    const struct common *common = &r->p->common;
    const airy_hot_result *h = &r->hot;
    const char *by = airy_projection_name(r->p->by);
    if (common->json)
        return tool_print_json(
            common, json_pack("{s:o, s:s, s:I, s:[I, I], s:I, s:I, s:I, s:o, s:o, s:o, s:o}",
                              "output", tool_json_string(r->p->output), "by", by, "frames",
                              (json_int_t)r->taken, "shape", (json_int_t)r->info.height,
                              (json_int_t)r->info.width, "above", (json_int_t)h->above, "below",
                              (json_int_t)h->below, "masked", (json_int_t)h->left_out, "median",
                              tool_json_number(h->center), "sigma", tool_json_number(h->sigma),
                              "low", tool_json_number(h->low), "high", tool_json_number(h->high)));
    tool_say(common,
             "%s: %llu pixel%s above %.6g, %llu below %.6g (median %.6g, sigma %.4g of the %s), "
             "%llu masked or not finite",
             r->p->output, (unsigned long long)h->above, tool_s(h->above), h->high,
             (unsigned long long)h->below, h->low, h->center, h->sigma, by,
             (unsigned long long)h->left_out);
    return AIRY_EXIT_OK;
}

static int write_result(struct reduction *r)
{
    const struct common *common = &r->p->common;
    const size_t size = airy_array_size(r->result);
    airy_image image = {.dtype = airy_array_dtype(r->result),
                        .ndim = 2,
                        .shape = {r->info.height, r->info.width},
                        .data = malloc(size)};
    if (!image.data)
        return tool_fail(common, "out of memory for %zu bytes", size);
    airy_status status = airy_array_pull(r->queue, image.data, size, r->result);
    if (status == AIRY_OK)
        status = airy_queue_finish(r->queue);
    if (status == AIRY_OK)
        status = stack_write_image(&image, common, r->stack, &r->meta, r->p->output);
    airy_image_free(&image);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

static int report(const struct reduction *r)
{
    const struct common *common = &r->p->common;
    const airy_stack_info *info = &r->info;
    const char *by = airy_projection_name(r->p->by),
               *dtype = airy_dtype_name(airy_array_dtype(r->result));
    if (common->json)
        return tool_print_json(common,
                               json_pack("{s:o, s:s, s:I, s:[I, I], s:s}", "output",
                                         tool_json_string(r->p->output), "by", by, "frames",
                                         (json_int_t)r->taken, "shape", (json_int_t)info->height,
                                         (json_int_t)info->width, "dtype", dtype));
    tool_say(common, "%s: %s of %zu frame%s, %zu x %zu, %s", r->p->output, by, r->taken,
             tool_s(r->taken), info->height, info->width, dtype);
    return AIRY_EXIT_OK;
}

/*
 * Say where pixels that the file does not mask are what detectors write into gaps: a few frames are
 * looked at, as airy integrate does. What cannot be looked at was said.
 */
static void say_gaps(const struct reduction *r)
{
    enum { LOOKS = 8 };
    const size_t pixels = r->info.height * r->info.width,
                 apart = (r->info.frames - 1) / (LOOKS - 1);
    uint8_t *mask = r->meta.has_mask ? malloc(pixels) : NULL;
    if (mask && airy_stack_mask(r->stack, mask) != AIRY_OK) {
        free(mask);
        mask = NULL;
    }
    struct image_gaps gaps = {.stack = r->stack,
                              .mask = mask,
                              .step = apart ? apart : 1,
                              .count = LOOKS,
                              .last = r->info.frames};
    const size_t found = image_find_gaps(&gaps);
    free(mask);
    if (found)
        tool_say(&r->p->common,
                 "%s: %zu pixel%s of frame %zu %s %.0f, %s, and taken as %s; mask %s where %s is "
                 "used, such as by --mask of 'airy integrate'",
                 r->p->common.inputs.items[0], found, tool_s(found), gaps.number,
                 found == 1 ? "is" : "are", gaps.value, image_gap_words(r->info.dtype),
                 found == 1 ? "it is" : "they are", found == 1 ? "it" : "them", r->p->output);
}

/* Of the image that frames become, which may only be what a mask is made from. */
static airy_dtype dtype_of_result(const struct reduction *r)
{
    const bool extreme = r->p->by == AIRY_PROJECT_MAX || r->p->by == AIRY_PROJECT_MIN;
    return extreme ? r->info.dtype : AIRY_DTYPE_F64;
}

static int reduce_stack(struct reduction *r)
{
    const struct common *common = &r->p->common;
    const size_t shape[3] = {1, r->info.height, r->info.width};
    airy_status status = tool_device(common, &r->device);
    if (status == AIRY_OK)
        status = airy_queue_create(&r->queue, r->device);
    if (status == AIRY_OK)
        status = airy_array_create(&r->result, r->device, dtype_of_result(r), 3, shape);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    tool_say_device(common, r->device);
    tool_catch_interrupts();
    progress_begin(&r->progress, common, r->p->by == AIRY_PROJECT_MEDIAN ? "rows" : "frames");
    int code = r->p->by == AIRY_PROJECT_MEDIAN ? stream_rows(r) : stream_frames(r);
    progress_end(&r->progress);
    if (code == AIRY_EXIT_OK)
        code = r->p->has_hot ? write_hot(r) : write_result(r);
    if (code == AIRY_EXIT_OK)
        image_say_header(common, r->p->output);
    if (code == AIRY_EXIT_OK && !r->p->has_hot)
        say_gaps(r);
    if (code == AIRY_EXIT_OK)
        code = tool_profile(common, r->device);
    if (code != AIRY_EXIT_OK)
        return code;
    code = r->p->has_hot ? report_hot(r) : report(r);
    return code == AIRY_EXIT_OK && r->taken < r->info.frames ? AIRY_EXIT_PARTLY : code;
}

static int check_reduce(void *user)
{
    const struct reduce_params *p = user;
    return p->output ? AIRY_EXIT_OK : tool_usage(&p->common, "-o OUT is missing");
}

static int run_reduce(void *user)
{
    const struct reduce_params *p = user;
    const struct common *common = &p->common;
    struct reduction r = {.p = p};
    airy_status status = stack_open(&r.stack, &common->inputs, &p->raw);
    if (status == AIRY_OK)
        status = airy_stack_get_info(r.stack, &r.info);
    if (status == AIRY_OK)
        status = airy_stack_get_meta(r.stack, &r.meta);
    int code = status == AIRY_OK ? tool_keep_stack(common, p->output, r.stack)
                                 : tool_failed(common, status);
    if (code == AIRY_EXIT_OK && r.info.frames == 0)
        code = tool_fail(common, "%s has no frames", common->inputs.items[0]);
    if (code == AIRY_EXIT_OK)
        code = tool_check_format(common, p->output,
                                 p->has_hot ? AIRY_DTYPE_U8 : dtype_of_result(&r), 2);
    if (code == AIRY_EXIT_OK)
        code = reduce_stack(&r);
    airy_array_destroy(&r.result);
    airy_array_destroy(&r.squares);
    airy_array_destroy(&r.part);
    airy_array_destroy(&r.spread);
    airy_queue_destroy(&r.queue);
    airy_device_destroy(&r.device);
    airy_stack_destroy(&r.stack);
    return code;
}

const struct command cmd_reduce = {
    .name = "reduce",
    .usage = "STACK... -o OUT [--by mean|sum|max|min|median|std] [--hot K]",
    .summary = "dark, flat and hot-pixel images of a stack",
    .details =
        "One image of all frames, pixel by pixel. Frames stream through: memory does not grow with "
        "their number. A median takes strips of rows and reads the stack once for each strip. max "
        "and min have the dtype of the stack, the others float64. Pixels are taken as they are, "
        "those that a detector marks too; NaN gives NaN.",
    .examples = "  airy reduce dark.h5 --by median -o dark.npy\n"
                "  airy reduce dark.h5 --hot 6 -o hot.npy\n"
                "  airy reduce run.h5 --by max -o brightest.edf\n",
    .tables = {reduce_options},
    .takes = TAKES_COMPUTE,
    .params_size = sizeof(struct reduce_params),
    .min_inputs = 1,
    .max_inputs = 10000000,
    .check = check_reduce,
    .run = run_reduce,
};
