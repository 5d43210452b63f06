/* Stacks to one image. */
#include "airy/reduce_stack.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "airy/error.h"
#include "check_pipeline.h"
#include "ref_reduce.h"

enum { HEIGHT = RUN_HEIGHT, WIDTH = RUN_WIDTH, PIXELS = RUN_PIXELS };

static airy_stack *open_stack(struct check *c, const char *path)
{
    airy_stack *stack = NULL;
    CHECK_OK(c, airy_stack_create(&stack, &path, 1));
    return stack;
}

/* Frames of any dtype, in blocks of 1024 bytes. */
static airy_stack *make_stack(struct check *c, airy_dtype dtype, airy_codec kind,
                              const void *pixels, size_t frames)
{
    const size_t elem = airy_dtype_size(dtype), size = PIXELS * elem;
    const airy_codec_params codec = {
        .codec = kind, .elem_size = (uint32_t)elem, .block_bytes = 1024};
    const airy_stack_writer_params params = {
        .dtype = dtype, .frames = frames, .height = HEIGHT, .width = WIDTH, .codec = codec};
    const char *path = check_run_path(c, "stack.h5");
    airy_stack_writer *writer = NULL;
    if (!CHECK_OK(c, airy_stack_writer_create(&writer, path, &params)))
        return NULL;
    for (size_t i = 0; i < frames; i++) {
        size_t chunk_size = airy_encode_bound(size, &codec);
        uint8_t *chunk = check_alloc(c, chunk_size);
        CHECK_OK(c, airy_encode(chunk, &chunk_size, (const char *)pixels + i * size, size, &codec));
        CHECK_OK(c, airy_stack_writer_add(writer, i, chunk, chunk_size));
    }
    CHECK_OK(c, airy_stack_writer_finish(writer));
    airy_stack_writer_destroy(&writer);
    return open_stack(c, path);
}

/* The chosen frames, those of them that are not `bad`, by plain loops. */
static double *expect(struct check *c, const double *pixels, const airy_run_params *params,
                      size_t frames, size_t bad, airy_projection by)
{
    const size_t last = params->last ? params->last : frames,
                 step = params->step ? params->step : 1;
    double *want = check_alloc(c, PIXELS * sizeof(double)),
           *values = check_alloc(c, frames * sizeof(double));
    for (size_t p = 0; p < PIXELS; p++) {
        size_t n = 0;
        bool nan = false;
        for (size_t i = params->first; i < last; i += step)
            if (i != bad) {
                values[n++] = pixels[i * PIXELS + p];
                nan |= isnan(values[n - 1]);
            }
        struct ref_statistics s;
        ref_statistics(&s, values, NULL, n);
        want[p] = nan                       ? (double)NAN
                  : by == AIRY_PROJECT_MEAN ? s.mean
                  : by == AIRY_PROJECT_SUM  ? s.sum
                  : by == AIRY_PROJECT_MAX  ? s.max
                  : by == AIRY_PROJECT_MIN  ? s.min
                  : by == AIRY_PROJECT_STD  ? s.std
                                            : s.median;
    }
    return want;
}

static double *to_f64(struct check *c, const void *pixels, airy_dtype dtype, size_t count)
{
    double *values = check_alloc(c, count * sizeof(double));
    for (size_t i = 0; i < count; i++)
        values[i] = dtype == AIRY_DTYPE_U8    ? ((const uint8_t *)pixels)[i]
                    : dtype == AIRY_DTYPE_U16 ? ((const uint16_t *)pixels)[i]
                    : dtype == AIRY_DTYPE_U32 ? ((const uint32_t *)pixels)[i]
                    : dtype == AIRY_DTYPE_I32 ? ((const int32_t *)pixels)[i]
                    : dtype == AIRY_DTYPE_F32 ? (double)((const float *)pixels)[i]
                                              : ((const double *)pixels)[i];
    return values;
}

/* The image of a run as f64; NULL after a failure. */
static double *reduce(struct check *c, airy_device *device, const airy_stack *stack,
                      airy_projection by, const airy_run_params *params, airy_reduce_run_info *info)
{
    airy_stack_info of;
    CHECK_OK(c, airy_stack_get_info(stack, &of));
    const airy_dtype dtype = airy_stack_reduce_dtype(by, of.dtype);
    const size_t pixels = of.height * of.width, size = pixels * airy_dtype_size(dtype);
    void *image = check_alloc(c, size);
    if (!CHECK_OK(c, airy_stack_reduce(image, size, stack, device, by, params, info)))
        return NULL;
    return to_f64(c, image, dtype, pixels);
}

/*
 * Extremes and medians are exact, and so are sums of integers. A mean is rounded twice; an error of
 * the mean of u changes a std by no more than u, of values up to 1000.
 */
static void compare(struct check *c, const double *got, const double *want, airy_projection by)
{
    const bool exact = by == AIRY_PROJECT_MAX || by == AIRY_PROJECT_MIN ||
                       by == AIRY_PROJECT_MEDIAN;
    const struct check_tol tol = {.abs = exact ? 0 : 1e-11, .rel = exact ? 0 : 1e-13};
    if (got)
        check_values(c, airy_projection_name(by), AIRY_DTYPE_F64, got, want, PIXELS, &tol);
}

enum { FRAMES = 23 };

static void check_kinds(struct check *c, airy_dtype dtype, airy_codec codec)
{
    static const airy_run_params ranges[] = {
        {.batch = 4}, {.first = 3}, {.last = 5}, {.first = 1, .last = 22, .step = 4, .batch = 2}};
    if (!check_case(c, "reduce_stack_%s_%s", airy_dtype_name(dtype), airy_codec_name(codec)))
        return;
    const size_t count = (size_t)FRAMES * PIXELS;
    void *pixels = check_alloc(c, count * airy_dtype_size(dtype));
    const bool real = airy_dtype_is_float(dtype);
    check_rand(c, pixels, dtype, count, dtype == AIRY_DTYPE_U8 || dtype == AIRY_DTYPE_U16 ? 0 : -90,
               dtype == AIRY_DTYPE_U8 ? 200 : 900);
    if (real)
        check_put(pixels, dtype, 9 * PIXELS + 77, (double)NAN);
    const double *values = to_f64(c, pixels, dtype, count);
    airy_stack *stack = make_stack(c, dtype, codec, pixels, FRAMES);
    for (size_t k = 0; stack && k < sizeof(ranges) / sizeof(ranges[0]); k++)
        for (int by = 0; by < AIRY_PROJECTION_COUNT; by++) {
            airy_reduce_run_info info = {0};
            const double *want = expect(c, values, &ranges[k], FRAMES, FRAMES, by),
                         *got = reduce(c, c->device, stack, by, &ranges[k], &info);
            compare(c, got, want, by);
            const size_t n = k == 0 ? FRAMES : k == 1 ? FRAMES - 3 : k == 2 ? 5 : 6;
            CHECK_COUNT(c, info.taken, n);
            CHECK_COUNT(c, info.run.frames, n);
            CHECK(c, info.run.bad == 0 && info.passes == 1 && info.rows == HEIGHT &&
                         info.run.decoded_bytes == n * PIXELS * airy_dtype_size(dtype));
        }
    airy_stack_destroy(&stack);
}

/* Threads, readers and slots change no bit of floats, whose sums depend on their order. */
static void check_same_bits(struct check *c, airy_codec codec)
{
    if (!check_case(c, "reduce_stack_bits_%s", airy_codec_name(codec)))
        return;
    const size_t count = (size_t)FRAMES * PIXELS;
    float *pixels = check_alloc(c, count * sizeof(float));
    check_rand(c, pixels, AIRY_DTYPE_F32, count, -1, 1e7);
    airy_stack *stack = make_stack(c, AIRY_DTYPE_F32, codec, pixels, FRAMES);
    const airy_projection kinds[] = {AIRY_PROJECT_SUM, AIRY_PROJECT_STD};
    for (int k = 0; stack && k < 2; k++) {
        const double *want = NULL;
        for (unsigned variant = 0; variant < 4; variant++) {
            const airy_run_params params = {
                .batch = 3, .slots = variant & 1 ? 1 : 4, .readers = variant & 2 ? 1 : 5};
            const double *got = reduce(c, c->device, stack, kinds[k], &params, NULL);
            if (got && want)
                check_values(c, "bits", AIRY_DTYPE_F64, got, want, PIXELS, NULL);
            want = want ? want : got;
        }
    }
    airy_stack_destroy(&stack);
}

struct heard {
    size_t warnings, calls, most, total, stop_at;
    bool down; /* progress went back, or beyond its end */
    char last[1024];
};

static void hear(void *user, airy_log_level level, const char *text)
{
    struct heard *heard = user;
    if (level != AIRY_LOG_WARN)
        return;
    heard->warnings++;
    snprintf(heard->last, sizeof(heard->last), "%s", text);
}

static bool step_on(void *user, size_t done, size_t total)
{
    struct heard *heard = user;
    heard->calls++;
    heard->down |= done < heard->most || done > total;
    heard->most = done;
    heard->total = total;
    return !heard->stop_at || done < heard->stop_at;
}

/* A limit of memory with which a median of frames of u32 takes `rows` of the image at a time. */
static airy_device *strip_device(struct check *c, size_t frames, size_t rows)
{
    const size_t strip = frames * WIDTH * 4, kept = PIXELS * 8 + (256 << 10) + 2 * PIXELS * 4;
    const airy_device_params params = {.threads = 2,
                                       .memory_limit = (kept + rows * strip + strip / 2) * 8 / 7};
    airy_device *device = NULL;
    CHECK_OK(c, airy_device_create(&device, c->spec, &params));
    return device;
}

/* One frame is spoiled, of a median in one pass and in several. */
static void check_bad(struct check *c, enum spoil spoil, airy_codec codec, const char *name)
{
    enum { BAD = 10 };
    if (!check_case(c, "reduce_stack_bad_%s", name))
        return;
    const char *path = check_run_path(c, "spoiled.h5");
    const uint32_t *pixels = check_run_frames(c, FRAMES);
    double *values = check_alloc(c, (size_t)FRAMES * PIXELS * sizeof(double));
    for (size_t i = 0; i < (size_t)FRAMES * PIXELS; i++)
        values[i] = pixels[i];
    check_run_stack_as(c, path, codec, pixels, FRAMES, BAD, spoil);
    airy_stack *stack = open_stack(c, path);
    airy_device *small = strip_device(c, FRAMES, 10);
    const size_t bad = spoil == OTHER_BLOCKS ? FRAMES : BAD;
    for (int by = 0; stack && small && by < AIRY_PROJECTION_COUNT; by++)
        for (int strips = 0; strips < (by == AIRY_PROJECT_MEDIAN ? 2 : 1); strips++) {
            struct heard heard = {0};
            airy_reduce_run_info info = {0};
            airy_device *device = strips ? small : c->device;
            double *image = check_alloc(c, PIXELS * sizeof(double));
            const size_t size = PIXELS * airy_dtype_size(airy_stack_reduce_dtype(
                                             (airy_projection)by, AIRY_DTYPE_U32));
            airy_run_params params = {
                .batch = strips ? 0 : 4, .message = hear, .progress = step_on, .user = &heard};
            if (bad == BAD) {
                CHECK_FAILS(c, airy_stack_reduce(image, size, stack, device, by, &params, &info),
                            AIRY_ERR_CORRUPT, "spoiled.h5::/entry/data/data frame 10");
                CHECK(c, info.taken == 0 && heard.warnings == 0);
            }
            params.skip_bad = true;
            heard = (struct heard){0};
            const double *got = reduce(c, device, stack, by, &params, &info);
            compare(c, got, expect(c, values, &params, FRAMES, bad, by), by);
            CHECK_COUNT(c, info.passes, strips ? 4 : 1);
            CHECK_COUNT(c, info.rows, strips ? 10 : HEIGHT);
            CHECK_COUNT(c, info.run.frames, FRAMES);
            CHECK_COUNT(c, info.run.bad, bad == BAD ? 1 : 0);
            CHECK_COUNT(c, info.taken, FRAMES - info.run.bad);
            CHECK_COUNT(c, heard.warnings, info.run.bad);
            CHECK(c,
                  !heard.down && heard.total == info.passes * FRAMES && heard.most == heard.total);
            if (bad == BAD)
                CHECK(c, strstr(info.run.first_error, "frame 10") && info.run.first_bad == BAD &&
                             strstr(heard.last, "frame 10 was left out"));
        }
    /* Of nothing else. */
    airy_reduce_run_info info = {0};
    const airy_run_params alone = {.first = BAD, .last = BAD + 1, .skip_bad = true};
    double *image = check_alloc(c, PIXELS * sizeof(double));
    for (int by = 0; bad == BAD && stack && by < AIRY_PROJECTION_COUNT; by++)
        CHECK_FAILS(c,
                    airy_stack_reduce(image,
                                      PIXELS * airy_dtype_size(airy_stack_reduce_dtype(
                                                   (airy_projection)by, AIRY_DTYPE_U32)),
                                      stack, c->device, by, &alone, &info),
                    AIRY_ERR_CORRUPT, "none of the 1 frame can be used, the first: ");
    airy_stack_destroy(&stack);
    airy_device_destroy(&small);
}

/* Of 6 frames 2 and 5 were never written: they are left out without skip_bad. */
static void check_unwritten(struct check *c)
{
    if (!check_case(c, "reduce_stack_unwritten"))
        return;
    const char *path = check_golden(c, "diffraction/hdf5/missing_chunk.h5");
    if (!path)
        return;
    airy_stack *stack = NULL;
    airy_stack_info of = {0};
    char place[600];
    snprintf(place, sizeof(place), "%s::data", path);
    if (!CHECK_OK(c, airy_stack_create(&stack, (const char *[]){place}, 1)))
        return;
    CHECK_OK(c, airy_stack_get_info(stack, &of));
    const size_t pixels = of.height * of.width, elem = airy_dtype_size(of.dtype);
    void *frame = check_alloc(c, pixels * elem);
    double *sum = check_alloc(c, pixels * sizeof(double));
    for (size_t i = 0; i < 6; i++) {
        if (i % 3 == 2)
            continue;
        CHECK_OK(c, airy_stack_read(stack, i, frame, pixels * elem));
        for (size_t p = 0; p < pixels; p++)
            sum[p] += elem == 4   ? ((const uint32_t *)frame)[p]
                      : elem == 2 ? ((const uint16_t *)frame)[p]
                                  : ((const uint8_t *)frame)[p];
    }
    airy_reduce_run_info info = {0};
    const double *got = reduce(c, c->device, stack, AIRY_PROJECT_SUM, NULL, &info);
    if (got)
        check_values(c, "sum", AIRY_DTYPE_F64, got, sum, pixels, NULL);
    CHECK(c, info.taken == 4 && info.run.bad == 2 && info.run.first_bad == 2 &&
                 strstr(info.run.first_error, "never written"));
    (void)reduce(c, c->device, stack, AIRY_PROJECT_MEDIAN, NULL, &info);
    CHECK(c, info.taken == 4 && info.run.bad == 2);
    const airy_run_params gap = {.first = 2, .step = 3};
    CHECK_FAILS(c,
                airy_stack_reduce(sum, pixels * sizeof(double), stack, c->device, AIRY_PROJECT_MEAN,
                                  &gap, &info),
                AIRY_ERR_UNWRITTEN, "none of the 2 frames can be used, the first: ");
    airy_stack_destroy(&stack);
}

/* Progress stops a run, in the second pass of a median, too. */
static void check_cancelled(struct check *c)
{
    if (!check_case(c, "reduce_stack_cancelled"))
        return;
    enum { MANY = 60 };
    const char *path = check_run_path(c, "stack.h5");
    check_run_stack(c, path, check_run_frames(c, MANY), MANY, MANY, SOUND);
    airy_stack *stack = open_stack(c, path);
    airy_device *small = strip_device(c, MANY, 10);
    double *image = check_alloc(c, PIXELS * sizeof(double));
    for (int strips = 0; stack && small && strips < 2; strips++) {
        struct heard heard = {.stop_at = strips ? MANY + 5 : 5};
        const airy_run_params params = {.batch = 1, .progress = step_on, .user = &heard};
        airy_reduce_run_info info = {0};
        CHECK_FAILS(
            c,
            airy_stack_reduce(image, PIXELS * sizeof(double), stack, strips ? small : c->device,
                              strips ? AIRY_PROJECT_MEDIAN : AIRY_PROJECT_MEAN, &params, &info),
            AIRY_ERR_CANCELLED, strips ? "pass 2 of 4: cancelled after " : "cancelled after ");
        CHECK(c, info.run.stopped && heard.most >= heard.stop_at && heard.most < heard.total);
    }
    airy_stack_destroy(&stack);
    airy_device_destroy(&small);
}

/* An airy_progress_fn: when the first pass is done, the file of a frame changes. */
static bool damage(void *user, size_t done, size_t total)
{
    const airy_stack_place *place = user;
    (void)total;
    if (done != FRAMES)
        return true;
    const int fd = open(place->path, O_WRONLY);
    const uint8_t length = 0xff; /* of the first block, which lies behind two sizes */
    const bool written = pwrite(fd, &length, 1, (off_t)place->offset + 12) == 1;
    close(fd);
    return written;
}

/* Leaving frames out does not help where one is damaged between two passes. */
static void check_changed(struct check *c)
{
    if (!check_case(c, "reduce_stack_changed"))
        return;
    const char *path = check_run_path(c, "stack.h5");
    check_run_stack(c, path, check_run_frames(c, FRAMES), FRAMES, FRAMES, SOUND);
    airy_stack *stack = open_stack(c, path);
    airy_device *small = strip_device(c, FRAMES, 10);
    double *image = check_alloc(c, PIXELS * sizeof(double));
    airy_stack_place place = {0};
    if (stack && small && CHECK_OK(c, airy_stack_get_place(stack, 7, &place))) {
        const airy_run_params params = {.skip_bad = true, .progress = damage, .user = &place};
        airy_error error;
        CHECK_FAILS(c,
                    airy_stack_reduce(image, PIXELS * sizeof(double), stack, small,
                                      AIRY_PROJECT_MEDIAN, &params, NULL),
                    AIRY_ERR_CORRUPT, "read for the first rows, and not again: ");
        airy_error_get(&error);
        CHECK(c, error.hint == AIRY_HINT_FETCH && strstr(error.text, "frame 7"));
    }
    airy_stack_destroy(&stack);
    airy_device_destroy(&small);
}

static void check_limits(struct check *c)
{
    if (!check_case(c, "reduce_stack_memory"))
        return;
    const char *path = check_run_path(c, "stack.h5");
    const uint32_t *pixels = check_run_frames(c, FRAMES);
    check_run_stack_as(c, path, AIRY_CODEC_NONE, pixels, FRAMES, FRAMES, SOUND);
    airy_stack *stack = open_stack(c, path);
    const double *want = reduce(c, c->device, stack, AIRY_PROJECT_STD, NULL, NULL);
    double *image = check_alloc(c, PIXELS * sizeof(double));
    /* Batches of fewer frames, the least that works, too little for the images. */
    const uint64_t limits[] = {4 << 20, 500 << 10, 20 << 10};
    for (size_t i = 0; want && i < 3; i++) {
        const airy_device_params params = {.threads = 1, .memory_limit = limits[i]};
        airy_device *device = NULL;
        airy_reduce_run_info info = {0};
        if (!CHECK_OK(c, airy_device_create(&device, c->spec, &params)))
            break;
        if (i == 2) {
            for (int by = 0; by < AIRY_PROJECTION_COUNT; by++)
                if (airy_stack_reduce_dtype(by, AIRY_DTYPE_U32) == AIRY_DTYPE_F64)
                    CHECK_FAILS(c,
                                airy_stack_reduce(image, PIXELS * sizeof(double), stack, device, by,
                                                  NULL, &info),
                                AIRY_ERR_MEMORY, "limit");
        } else {
            compare(c, reduce(c, device, stack, AIRY_PROJECT_STD, NULL, &info), want,
                    AIRY_PROJECT_STD);
            CHECK(c, i == 0 ? info.run.batch == FRAMES : info.run.batch < FRAMES);
        }
        airy_device_destroy(&device);
    }
    airy_stack_destroy(&stack);
}

static void check_refused(struct check *c)
{
    if (!check_case(c, "reduce_stack_refused"))
        return;
    const char *path = check_run_path(c, "stack.h5");
    check_run_stack(c, path, check_run_frames(c, 3), 3, 3, SOUND);
    airy_stack *stack = open_stack(c, path);
    double *image = check_alloc(c, PIXELS * sizeof(double));
    const size_t size = PIXELS * sizeof(double);
    const airy_projection mean = AIRY_PROJECT_MEAN;
    CHECK_FAILS(c, airy_stack_reduce(NULL, size, stack, c->device, mean, NULL, NULL),
                AIRY_ERR_PARAM, "is missing");
    CHECK_FAILS(c, airy_stack_reduce(image, size, NULL, c->device, mean, NULL, NULL),
                AIRY_ERR_PARAM, "is missing");
    CHECK_FAILS(c, airy_stack_reduce(image, size, stack, NULL, mean, NULL, NULL), AIRY_ERR_PARAM,
                "is missing");
    CHECK_FAILS(c,
                airy_stack_reduce(image, size, stack, c->device, AIRY_PROJECTION_COUNT, NULL, NULL),
                AIRY_ERR_PARAM, "projection = 6");
    CHECK_FAILS(c, airy_stack_reduce(image, size, stack, c->device, AIRY_PROJECT_MAX, NULL, NULL),
                AIRY_ERR_SHAPE, "expected 37 x 44 pixels of uint32");
    const double monitor[3] = {1, 1, 1};
    const struct {
        airy_run_params params;
        const char *name;
    } cases[] = {{{.monitor = monitor}, "monitor is for integration only"},
                 {{.resume = true}, "resume is"},
                 {{.parts = 2}, "parts is"},
                 {{.group = 2}, "group is"},
                 {{.roi_count = 1}, "rois is"},
                 {{.grid = {1, 3}}, "grid is"},
                 {{.last = 4}, "last frame = 4"},
                 {{.first = 3}, "first frame = 3"},
                 {{.slots = 65}, "slots = 65"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CHECK_FAILS(c,
                    airy_stack_reduce(image, size, stack, c->device, mean, &cases[i].params, NULL),
                    AIRY_ERR_PARAM, cases[i].name);
    airy_stack_destroy(&stack);
}

void check_reduce_stack(struct check *c)
{
    static const airy_dtype dtypes[] = {AIRY_DTYPE_U8, AIRY_DTYPE_U16, AIRY_DTYPE_I32,
                                        AIRY_DTYPE_F32, AIRY_DTYPE_F64};
    for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
        check_kinds(c, dtypes[i], AIRY_CODEC_BSLZ4);
        check_kinds(c, dtypes[i], AIRY_CODEC_NONE);
    }
    check_same_bits(c, AIRY_CODEC_BSLZ4);
    check_same_bits(c, AIRY_CODEC_NONE);
    check_bad(c, OTHER_BLOCKS, AIRY_CODEC_BSLZ4, "other_blocks");
    check_bad(c, TRUNCATED, AIRY_CODEC_BSLZ4, "truncated");
    check_bad(c, FLIPPED, AIRY_CODEC_BSLZ4, "flipped");
    check_bad(c, TRUNCATED, AIRY_CODEC_LZ4, "lz4");
    check_unwritten(c);
    check_cancelled(c);
    check_changed(c);
    check_limits(c);
    check_refused(c);
}
