/* Stacks to depth profiles: what the engine does is what airy_oct_process does with the same frames. */
#include "airy/oct_stack.h"

#include <stdio.h>
#include <string.h>

#include "airy/oct_stream.h"
#include "check_pipeline.h"

enum { FRAMES = 23 };

/* What came, and what the caller answers. */
struct kept {
    float *values;
    size_t room, bytes, calls; /* of values, in bytes; bytes that came */
    size_t refuse;             /* call that is refused, from 1; 0: none */
};

static airy_status keep(void *user, const void *results, size_t count)
{
    struct kept *kept = user;
    if (++kept->calls == kept->refuse)
        return AIRY_ERR_NOT_FOUND;
    const size_t bytes = count * kept->room;
    memcpy((char *)kept->values + kept->bytes, results, bytes);
    kept->bytes += bytes;
    return AIRY_OK;
}

struct subject {
    airy_device *device;
    airy_queue *queue;
    airy_oct *oct;
    airy_oct_info info;
    airy_stack *stack;
    airy_stack_info of;
    airy_dtype dtype;
};

static bool open_subject(struct check *c, struct subject *s, const airy_oct_params *params,
                         const char *path, const airy_raw_frames *raw)
{
    const airy_stack_params how = {.raw = raw};
    s->device = c->device;
    s->dtype = params->dtype;
    return CHECK_OK(c, airy_queue_create(&s->queue, c->device)) &&
           CHECK_OK(c, airy_oct_create(&s->oct, s->queue, params)) &&
           CHECK_OK(c, airy_oct_get_info(s->oct, &s->info)) &&
           CHECK_OK(c, airy_stack_create_with(&s->stack, &path, 1, &how)) &&
           CHECK_OK(c, airy_stack_get_info(s->stack, &s->of));
}

static void close_subject(struct subject *s)
{
    airy_stack_destroy(&s->stack);
    airy_oct_destroy(&s->oct);
    airy_queue_destroy(&s->queue);
    *s = (struct subject){0};
}

/* airy_oct_process of these frames at once; pixels: of all frames, in the plan's dtype. */
static float *process(struct check *c, const struct subject *s, const void *pixels, size_t first,
                      size_t count)
{
    const size_t lines = s->of.height, width = s->of.width,
                 results = count / s->info.frames_per_result;
    const size_t raw[3] = {results * s->info.frames_per_result, lines, width},
                 out[3] = {results, s->info.out_lines, s->info.depth};
    const char *from = (const char *)pixels + first * lines * width * airy_dtype_size(s->dtype);
    airy_array *src = NULL, *dst = NULL;
    float *values = check_alloc(c, results * s->info.result_bytes);
    const airy_oct_run run = {.first_frame = first};
    CHECK_OK(c, airy_array_create_from(&src, s->queue, s->dtype, 3, raw, from));
    CHECK_OK(c, airy_array_create(&dst, c->device, AIRY_DTYPE_F32, 3, out));
    CHECK_OK(c, airy_oct_process(s->queue, s->oct, dst, src, &run));
    CHECK_OK(c, airy_array_pull(s->queue, values, results * s->info.result_bytes, dst));
    CHECK_OK(c, airy_queue_finish(s->queue));
    airy_array_destroy(&src);
    airy_array_destroy(&dst);
    return values;
}

static struct kept run(struct check *c, const struct subject *s, const airy_run_params *params,
                       airy_oct_run_info *info)
{
    const airy_oct *const octs[] = {s->oct};
    struct kept kept = {.values = check_alloc(c, FRAMES * s->info.result_bytes),
                        .room = s->info.result_bytes};
    CHECK_OK(c, airy_oct_stack(s->stack, octs, 1, params, keep, &kept, info));
    return kept;
}

/* Runs of several ranges and batches give the bits of airy_oct_process. */
static void check_runs(struct check *c, const struct subject *s, const void *pixels)
{
    static const airy_run_params kinds[] = {
        {.batch = 0},
        {.batch = 4, .slots = 3},
        {.first = 3, .batch = 6, .readers = 1},
        {.first = 1, .last = 20, .batch = 1, .slots = 1, .readers = 3},
        {.last = 8, .batch = 100},
    };
    const size_t each = s->info.frames_per_result;
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        const airy_run_params *p = &kinds[k];
        const size_t last = p->last ? p->last : FRAMES, count = last - p->first,
                     results = count / each;
        airy_oct_run_info info;
        const struct kept got = run(c, s, p, &info);
        const float *want = process(c, s, pixels, p->first, count);
        CHECK_COUNT(c, got.bytes, results * s->info.result_bytes);
        CHECK(c, memcmp(got.values, want, got.bytes) == 0);
        CHECK_COUNT(c, info.results, results);
        CHECK_COUNT(c, info.left_over, count % each);
        CHECK_COUNT(c, info.run.frames, results * each);
        CHECK(c, info.bad_results == 0 && info.run.bad == 0 && info.run.batch % each == 0);
    }
}

/* Frames whose bytes follow each other: of a headerless file, also packed ones and of f64. */
static void check_stored(struct check *c, airy_oct_packing packing, airy_dtype dtype, size_t mean)
{
    enum { SAMPLES = 64, LINES = 8 };
    const bool packed = packing != AIRY_OCT_PACKING_NONE;
    const airy_oct_params params = {.samples = SAMPLES,
                                    .lines = LINES,
                                    .packing = packing,
                                    .dtype = packed || dtype == AIRY_DTYPE_U16 ? dtype
                                                                               : AIRY_DTYPE_F32,
                                    .flip = AIRY_OCT_FLIP_ODD,
                                    .average_frames = mean};
    const size_t width = packed ? SAMPLES * 12 / 8 : SAMPLES, count = FRAMES * LINES * width;
    const airy_dtype stored = packed ? AIRY_DTYPE_U8 : dtype;
    const airy_raw_frames raw = {.dtype = stored, .height = LINES, .width = width, .offset = 7};
    if (!check_case(c, "oct_stack_stored_%s_%s_%zu", packed ? "packed" : "plain",
                    airy_dtype_name(dtype), mean))
        return;
    char *pixels = check_alloc(c, count * airy_dtype_size(stored));
    float *converted = check_alloc(c, count * sizeof(float));
    check_rand(c, pixels, stored, count, 0, 200);
    for (size_t i = 0; i < count && stored == AIRY_DTYPE_F64; i++)
        converted[i] = (float)((double *)(void *)pixels)[i];
    const char *path = check_run_path(c, "frames.raw");
    FILE *file = fopen(path, "wb");
    CHECK(c, file && fwrite("header.", 7, 1, file) == 1 &&
                 fwrite(pixels, airy_dtype_size(stored), count, file) == count);
    if (file)
        fclose(file);
    struct subject s = {0};
    if (open_subject(c, &s, &params, path, &raw)) {
        s.dtype = packed ? AIRY_DTYPE_U8 : params.dtype;
        check_runs(c, &s, stored == AIRY_DTYPE_F64 ? (void *)converted : pixels);
    }
    close_subject(&s);
}

static const airy_oct_params RUN_PLAN = {
    .samples = RUN_WIDTH, .lines = RUN_HEIGHT, .dtype = AIRY_DTYPE_F32, .average_frames = 2};

/* Frames that are decoded, and become floats. */
static const float *make_frames(struct check *c, const uint32_t **counts)
{
    float *values = check_alloc(c, (size_t)FRAMES * RUN_PIXELS * sizeof(float));
    *counts = check_run_frames(c, FRAMES);
    for (size_t i = 0; i < (size_t)FRAMES * RUN_PIXELS; i++)
        values[i] = (float)(*counts)[i];
    return values;
}

static void check_decoded(struct check *c, airy_codec codec)
{
    if (!check_case(c, "oct_stack_decoded_%s", airy_codec_name(codec)))
        return;
    const uint32_t *counts;
    const float *values = make_frames(c, &counts);
    const char *path = check_run_path(c, "stack.h5");
    check_run_stack_as(c, path, codec, counts, FRAMES, FRAMES, SOUND);
    struct subject s = {0};
    if (open_subject(c, &s, &RUN_PLAN, path, NULL))
        check_runs(c, &s, values);
    close_subject(&s);
}

/* The results in front of a bad frame are given; with skip_bad its own is no number. */
static void check_bad(struct check *c, enum spoil spoil, airy_codec codec, const char *name)
{
    enum { BAD = 11 };
    if (!check_case(c, "oct_stack_bad_%s", name))
        return;
    const uint32_t *counts;
    const float *values = make_frames(c, &counts);
    const char *path = check_run_path(c, "spoiled.h5");
    check_run_stack_as(c, path, codec, counts, FRAMES, BAD, spoil);
    struct subject s = {0};
    for (size_t batch = 2; batch <= 8 && open_subject(c, &s, &RUN_PLAN, path, NULL); batch += 6) {
        const airy_oct *const octs[] = {s.oct};
        airy_run_params params = {.batch = batch};
        airy_oct_run_info info;
        const size_t bytes = s.info.result_bytes;
        struct kept kept = {.values = check_alloc(c, FRAMES * bytes), .room = bytes};
        float *want = process(c, &s, values, 0, FRAMES);
        if (spoil != OTHER_BLOCKS) {
            CHECK_FAILS(c, airy_oct_stack(s.stack, octs, 1, &params, keep, &kept, &info),
                        AIRY_ERR_CORRUPT, "spoiled.h5::/entry/data/data frame 11");
            CHECK_COUNT(c, kept.bytes, BAD / 2 * bytes);
            CHECK(c, memcmp(kept.values, want, kept.bytes) == 0);
            CHECK_COUNT(c, info.results, BAD / 2);
            for (size_t i = 0; i < bytes / sizeof(float); i++)
                want[BAD / 2 * (bytes / sizeof(float)) + i] = NAN;
        }
        params.skip_bad = true;
        kept = run(c, &s, &params, &info);
        const size_t bad = spoil == OTHER_BLOCKS ? 0 : 1;
        CHECK_COUNT(c, kept.bytes, FRAMES / 2 * bytes);
        check_values(c, "results", AIRY_DTYPE_F32, kept.values, want, kept.bytes / sizeof(float),
                     NULL);
        CHECK_COUNT(c, info.bad_results, bad);
        CHECK_COUNT(c, info.run.bad, bad);
        close_subject(&s);
    }
    close_subject(&s);
}

static bool stop_at(void *user, size_t done, size_t total)
{
    (void)total;
    return done < *(size_t *)user;
}

/* Progress ends a run, and so does who takes the results; what was given is in order. */
static void check_stopped(struct check *c)
{
    if (!check_case(c, "oct_stack_stopped"))
        return;
    const uint32_t *counts;
    const float *values = make_frames(c, &counts);
    const char *path = check_run_path(c, "stack.h5");
    check_run_stack(c, path, counts, FRAMES, FRAMES, SOUND);
    struct subject s = {0};
    if (open_subject(c, &s, &RUN_PLAN, path, NULL)) {
        const airy_oct *const octs[] = {s.oct};
        const float *want = process(c, &s, values, 0, FRAMES);
        size_t stop = 6;
        airy_run_params params = {.batch = 2, .slots = 2, .progress = stop_at, .user = &stop};
        airy_oct_run_info info;
        struct kept kept = {.values = check_alloc(c, FRAMES * s.info.result_bytes),
                            .room = s.info.result_bytes};
        CHECK_FAILS(c, airy_oct_stack(s.stack, octs, 1, &params, keep, &kept, &info),
                    AIRY_ERR_CANCELLED, "cancelled after ");
        CHECK(c, info.run.stopped && info.results >= 3 && info.results < FRAMES / 2 &&
                     kept.bytes == info.results * s.info.result_bytes &&
                     memcmp(kept.values, want, kept.bytes) == 0);
        params.progress = NULL;
        kept.bytes = kept.calls = 0;
        kept.refuse = 4;
        CHECK(c,
              airy_oct_stack(s.stack, octs, 1, &params, keep, &kept, &info) == AIRY_ERR_NOT_FOUND);
        CHECK_COUNT(c, info.results, 3);
        CHECK(c, kept.calls == 4 && memcmp(kept.values, want, kept.bytes) == 0);
        CHECK_OK(c, airy_oct_stack(s.stack, octs, 1, &params, NULL, NULL, &info));
        CHECK_COUNT(c, info.results, FRAMES / 2);
    }
    close_subject(&s);
}

/* A limit of memory makes batches smaller, down to what one result takes. */
static void check_limit(struct check *c)
{
    if (!check_case(c, "oct_stack_limit"))
        return;
    const uint32_t *counts;
    const float *values = make_frames(c, &counts);
    const char *path = check_run_path(c, "stack.h5");
    const airy_device_params small = {.threads = 1, .memory_limit = 400000};
    airy_device *device = NULL, *before = c->device;
    check_run_stack(c, path, counts, FRAMES, FRAMES, SOUND);
    struct subject s = {0};
    if (CHECK_OK(c, airy_device_create(&device, c->spec, &small))) {
        c->device = device;
        if (open_subject(c, &s, &RUN_PLAN, path, NULL)) {
            airy_oct_run_info info;
            const struct kept got = run(c, &s, NULL, &info);
            const float *want = process(c, &s, values, 0, FRAMES);
            CHECK(c, info.run.batch < FRAMES / 2 * 2 && info.run.batch % 2 == 0);
            CHECK(c, memcmp(got.values, want, got.bytes) == 0);
        }
        close_subject(&s);
        c->device = before;
    }
    airy_device_destroy(&device);
}

static void check_refused(struct check *c)
{
    if (!check_case(c, "oct_stack_refused"))
        return;
    const uint32_t *counts;
    (void)make_frames(c, &counts);
    const char *path = check_run_path(c, "stack.h5");
    check_run_stack(c, path, counts, FRAMES, FRAMES, SOUND);
    airy_oct_params other = RUN_PLAN;
    struct subject s = {0}, wide = {0}, whole = {0};
    if (open_subject(c, &s, &RUN_PLAN, path, NULL)) {
        const airy_oct *const octs[] = {s.oct};
        other.samples++;
        CHECK(c, open_subject(c, &wide, &other, path, NULL));
        other = RUN_PLAN;
        other.dtype = AIRY_DTYPE_U16;
        CHECK(c, open_subject(c, &whole, &other, path, NULL));
        const airy_oct *const two[] = {s.oct, wide.oct}, *const u16[] = {whole.oct};
        const airy_run_params step = {.step = 2}, one = {.last = 1}, group = {.group = 2},
                              far = {.last = FRAMES + 1};
        CHECK_FAILS(c, airy_oct_stack(NULL, octs, 1, NULL, NULL, NULL, NULL), AIRY_ERR_PARAM,
                    "stack is NULL");
        CHECK_FAILS(c, airy_oct_stack(s.stack, octs, 0, NULL, NULL, NULL, NULL), AIRY_ERR_PARAM,
                    "octs is missing");
        CHECK_FAILS(c, airy_oct_stack(s.stack, two, 2, NULL, NULL, NULL, NULL), AIRY_ERR_SHAPE,
                    "frames have 37 lines of 44, expected 37 of 45");
        CHECK_FAILS(c, airy_oct_stack(s.stack, u16, 1, NULL, NULL, NULL, NULL), AIRY_ERR_DTYPE,
                    "frames of uint32, expected uint16");
        CHECK_FAILS(c, airy_oct_stack(s.stack, octs, 1, &step, NULL, NULL, NULL), AIRY_ERR_PARAM,
                    "step = 2");
        CHECK_FAILS(c, airy_oct_stack(s.stack, octs, 1, &one, NULL, NULL, NULL), AIRY_ERR_SHAPE,
                    "1 frame is chosen, but a result takes 2");
        CHECK_FAILS(c, airy_oct_stack(s.stack, octs, 1, &group, NULL, NULL, NULL), AIRY_ERR_PARAM,
                    "group");
        CHECK_FAILS(c, airy_oct_stack(s.stack, octs, 1, &far, NULL, NULL, NULL), AIRY_ERR_PARAM,
                    "last frame = 24");
    }
    close_subject(&s);
    close_subject(&wide);
    close_subject(&whole);
}

void check_oct_stack(struct check *c)
{
    check_stored(c, AIRY_OCT_PACKING_NONE, AIRY_DTYPE_U16, 0);
    check_stored(c, AIRY_OCT_PACKING_NONE, AIRY_DTYPE_U16, 3);
    check_stored(c, AIRY_OCT_PACKING_NONE, AIRY_DTYPE_F64, 2);
    check_stored(c, AIRY_OCT_PACKING_12, AIRY_DTYPE_U16, 0);
    check_decoded(c, AIRY_CODEC_NONE);
    check_decoded(c, AIRY_CODEC_BSLZ4);
    check_bad(c, TRUNCATED, AIRY_CODEC_BSLZ4, "truncated");
    check_bad(c, FLIPPED, AIRY_CODEC_BSLZ4, "flipped");
    check_bad(c, OTHER_BLOCKS, AIRY_CODEC_BSLZ4, "other_blocks");
    check_stopped(c);
    check_limit(c);
    check_refused(c);
}
