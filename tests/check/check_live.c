/* Frames that come one by one: the same patterns as from a stack, whatever their order. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "airy/error.h"
#include "airy/live.h"
#include "check_pipeline.h"

enum { FRAMES = 70, THREADS = 3, FRAME_BYTES = RUN_PIXELS * 4 };

/* Frames as they come, and what a run over them as a stack gives. */
struct played {
    uint8_t *chunks[FRAMES];
    size_t sizes[FRAMES];
    bool native[FRAMES]; /* not encoded */
    const char *stack, *want, *out;
    airy_integrator *integrators[2];
    airy_device *other;
};

/* special: in other blocks, or cut; half of the sound frames come as pixels where mixed. */
static bool open_played(struct check *c, struct played *p, size_t special, enum spoil spoil,
                        bool mixed)
{
    const char *stack_path = check_run_path(c, "stack.h5");
    *p = (struct played){.stack = stack_path,
                         .want = check_run_path(c, "want.h5"),
                         .out = check_run_path(c, "out.h5")};
    uint32_t *pixels = check_run_frames(c, FRAMES);
    pixels[7 * RUN_PIXELS + 5] = pixels[60 * RUN_PIXELS + 500] = 1000000000; /* dummies */
    check_run_stack(c, stack_path, pixels, FRAMES, special, spoil);
    for (size_t i = 0; i < FRAMES; i++) {
        const bool is_special = i == special;
        const airy_codec_params codec = {.codec = AIRY_CODEC_BSLZ4,
                                         .elem_size = 4,
                                         .block_bytes = is_special && spoil == OTHER_BLOCKS ? 512
                                                                                            : 1024};
        p->native[i] = mixed && i % 2 && !is_special;
        p->sizes[i] = p->native[i] ? FRAME_BYTES : airy_encode_bound(FRAME_BYTES, &codec);
        p->chunks[i] = check_alloc(c, p->sizes[i]);
        if (p->native[i])
            memcpy(p->chunks[i], pixels + i * RUN_PIXELS, FRAME_BYTES);
        else
            CHECK_OK(c, airy_encode(p->chunks[i], &p->sizes[i], pixels + i * RUN_PIXELS,
                                    FRAME_BYTES, &codec));
        if (is_special && spoil == TRUNCATED)
            p->sizes[i] /= 2;
        if (is_special && spoil == FLIPPED)
            memset(p->chunks[i] + 16, 0xff, 40);
    }
    p->integrators[0] = check_run_integrator(c, c->device, AIRY_ERROR_MODEL_POISSON);
    airy_stack *stack = NULL;
    const airy_run_params params = {.skip_bad = true};
    const bool good =
        CHECK_OK(c, airy_stack_create(&stack, &stack_path, 1)) &&
        CHECK_OK(c, airy_integrate_stack(p->want, stack, p->integrators, 1, &params, NULL)) &&
        CHECK_OK(c, airy_device_create(&p->other, c->spec, NULL));
    airy_stack_destroy(&stack);
    if (good)
        p->integrators[1] = check_run_integrator(c, p->other, AIRY_ERROR_MODEL_POISSON);
    return good;
}

static void close_played(struct played *p)
{
    airy_integrator_destroy(&p->integrators[0]);
    airy_integrator_destroy(&p->integrators[1]);
    airy_device_destroy(&p->other);
}

static airy_live_params params_of(uint64_t frames)
{
    return (airy_live_params){
        .height = RUN_HEIGHT,
        .width = RUN_WIDTH,
        .dtype = AIRY_DTYPE_U32,
        .codec = {.codec = AIRY_CODEC_BSLZ4, .elem_size = 4, .block_bytes = 1024},
        .frames = frames,
        .run = {.skip_bad = true},
    };
}

static airy_status put(airy_live *live, const struct played *p, size_t i)
{
    const airy_live_frame frame = {
        .number = i, .bytes = p->chunks[i], .size = p->sizes[i], .encoded = !p->native[i]};
    return airy_live_put(live, &frame, 60);
}

/* Patterns that were handed on. */
struct seen {
    atomic_size_t count, bad, inside;
    atomic_uint rows[FRAMES];
    float first[RUN_BINS];
    pthread_mutex_t *gate; /* NULL, or waits here */
};

static void see(void *user, const airy_live_pattern *pattern)
{
    struct seen *seen = user;
    if (atomic_fetch_add(&seen->inside, 1) != 0)
        atomic_fetch_add(&seen->bad, 1000); /* two at once */
    if (seen->gate) {
        pthread_mutex_lock(seen->gate);
        pthread_mutex_unlock(seen->gate);
    }
    seen->count++;
    seen->bad += pattern->status != AIRY_OK;
    if (pattern->number < FRAMES)
        seen->rows[pattern->number]++;
    if (pattern->number == 0)
        memcpy(seen->first, pattern->intensity, sizeof(seen->first));
    atomic_fetch_sub(&seen->inside, 1);
}

struct giver {
    airy_live *live;
    const struct played *played;
    size_t index;
    airy_status status;
    pthread_t thread;
};

/* Every third frame, from the last one on. */
static void *give(void *arg)
{
    struct giver *g = arg;
    for (size_t i = FRAMES; i-- > 0;)
        if (i % THREADS == g->index && g->status == AIRY_OK)
            g->status = put(g->live, g->played, i);
    return NULL;
}

static airy_status give_all(airy_live *live, const struct played *played)
{
    struct giver givers[THREADS];
    airy_status status = AIRY_OK;
    for (size_t t = 0; t < THREADS; t++) {
        givers[t] = (struct giver){.live = live, .played = played, .index = t};
        pthread_create(&givers[t].thread, NULL, give, &givers[t]);
    }
    for (size_t t = 0; t < THREADS; t++) {
        pthread_join(givers[t].thread, NULL);
        status = givers[t].status != AIRY_OK ? givers[t].status : status;
    }
    return status;
}

/* Two files have the same rows, whether or not normalizations are there once or for each row. */
static void check_grown(struct check *c, const char *got, const char *want)
{
    static const char *const datasets[] = {
        "result/radial",     "result/intensity",    "result/sem",  "result/std",
        "merged/sum_signal", "merged/sum_variance", "frame/index", "frame/status",
        "frame/invalid",     "frame/total",         "frame/max",   "merged/sum_normalization"};
    check_datasets_same(c, got, want, datasets, sizeof(datasets) / sizeof(datasets[0]));
}

static void check_orders(struct check *c)
{
    static const struct {
        const char *name;
        enum spoil spoil;
        bool mixed;
        size_t devices, batch, slots;
    } cases[] = {
        {"sound", SOUND, false, 1, 0, 0},
        {"mixed_batch3", SOUND, true, 1, 3, 2},
        {"one_slot", SOUND, true, 1, 1, 1},
        {"two_devices", SOUND, false, 2, 4, 2},
        {"other_blocks", OTHER_BLOCKS, false, 1, 5, 0},
        {"truncated", TRUNCATED, true, 2, 0, 0},
        {"flipped", FLIPPED, false, 1, 2, 3},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (!check_case(c, "live_%s", cases[i].name))
            continue;
        struct played played;
        struct seen seen = {0};
        airy_live *live = NULL;
        airy_live_info info = {0};
        const size_t bad = cases[i].spoil == TRUNCATED || cases[i].spoil == FLIPPED;
        if (open_played(c, &played, 33, cases[i].spoil, cases[i].mixed)) {
            airy_live_params params = params_of(FRAMES);
            params.run.batch = cases[i].batch;
            params.run.slots = cases[i].slots;
            params.pattern = see;
            params.user = &seen;
            if (CHECK_OK(c, airy_live_create(&live, played.out, played.integrators,
                                             cases[i].devices, &params)) &&
                CHECK_OK(c, give_all(live, &played)) &&
                CHECK_OK(c, airy_live_finish(live, &info))) {
                CHECK(c, info.put == FRAMES && info.done == FRAMES && info.bad == bad &&
                             info.lost == 0 && info.refused == 0);
                CHECK(c, info.p50 > 0 && info.p50 <= info.p99 && info.p99 <= info.max);
                CHECK(c, seen.count == FRAMES && seen.bad == bad);
                for (size_t k = 0; k < FRAMES; k++)
                    CHECK(c, seen.rows[k] == 1);
                check_run_same(c, played.out, played.want);
            }
            airy_live_destroy(&live);
        }
        close_played(&played);
    }
}

static void check_refusals(struct check *c)
{
    if (!check_case(c, "live_refusals"))
        return;
    struct played played;
    airy_live *live = NULL;
    if (!open_played(c, &played, FRAMES, SOUND, false)) {
        close_played(&played);
        return;
    }
    airy_live_params params = params_of(FRAMES);
    CHECK_FAILS(c, airy_live_create(NULL, NULL, played.integrators, 1, &params), AIRY_ERR_PARAM,
                "NULL");
    CHECK_FAILS(c, airy_live_create(&live, NULL, NULL, 1, &params), AIRY_ERR_PARAM, "integrators");
    params.run.group = 2;
    CHECK_FAILS(c, airy_live_create(&live, NULL, played.integrators, 1, &params),
                AIRY_ERR_UNSUPPORTED, "run.group = 2: a live run has one row for each frame");
    params = params_of(FRAMES);
    params.run.parts = 2;
    CHECK_FAILS(c, airy_live_create(&live, NULL, played.integrators, 1, &params),
                AIRY_ERR_UNSUPPORTED, "run.parts = 2: a live run is in one process");
    params = params_of(0);
    params.run.grid[0] = params.run.grid[1] = 3;
    CHECK_FAILS(c, airy_live_create(&live, NULL, played.integrators, 1, &params),
                AIRY_ERR_UNSUPPORTED, "number of frames");
    params = params_of((uint64_t)1 << 60);
    CHECK_FAILS(c, airy_live_create(&live, NULL, played.integrators, 1, &params), AIRY_ERR_PARAM,
                "frames = 1152921504606846976");
    params = params_of(FRAMES);
    params.dtype = (airy_dtype)77;
    CHECK_FAILS(c, airy_live_create(&live, NULL, played.integrators, 1, &params), AIRY_ERR_DTYPE,
                "dtype = 77");
    params = params_of(FRAMES);
    params.wait = -1;
    CHECK_FAILS(c, airy_live_create(&live, NULL, played.integrators, 1, &params), AIRY_ERR_PARAM,
                "wait = -1");
    params = params_of(FRAMES);
    params.height = SIZE_MAX / 2;
    CHECK_FAILS(c, airy_live_create(&live, NULL, played.integrators, 1, &params), AIRY_ERR_PARAM,
                "a size that fits");
    params = params_of(FRAMES);
    params.width--;
    CHECK_FAILS(c, airy_live_create(&live, NULL, played.integrators, 1, &params), AIRY_ERR_SHAPE,
                "the live run has frames of 37 x 43");
    params = params_of(FRAMES);
    if (CHECK_OK(c, airy_live_create(&live, NULL, played.integrators, 1, &params))) {
        airy_live_frame frame = {.number = 3, .bytes = played.chunks[3], .size = played.sizes[3]};
        frame.encoded = true;
        CHECK_FAILS(c, airy_live_put(NULL, &frame, 1), AIRY_ERR_PARAM, "NULL");
        CHECK_FAILS(c, airy_live_put(live, NULL, 1), AIRY_ERR_PARAM, "NULL");
        CHECK_FAILS(c, airy_live_put(live, &frame, (double)NAN), AIRY_ERR_PARAM, "timeout");
        CHECK_OK(c, airy_live_put(live, &frame, 60));
        CHECK_FAILS(c, airy_live_put(live, &frame, 1), AIRY_ERR_PARAM,
                    "frame number = 3 was given before");
        CHECK_FAILS(c, airy_live_lose(live, 3, "x", 1), AIRY_ERR_PARAM, "was given before");
        frame.number = FRAMES;
        CHECK_FAILS(c, airy_live_put(live, &frame, 1), AIRY_ERR_PARAM,
                    "frame number = 70, expected below 70");
        frame.number = UINT64_MAX;
        CHECK_FAILS(c, airy_live_put(live, &frame, 1), AIRY_ERR_PARAM, "expected below 70");
        frame.bytes = NULL;
        CHECK_FAILS(c, airy_live_put(live, &frame, 1), AIRY_ERR_PARAM, "NULL");
        CHECK_OK(c, airy_live_finish(live, NULL)); /* skip_bad: the others are bad rows */
        frame = (airy_live_frame){.number = 4, .bytes = played.chunks[4], .size = 4};
        CHECK_FAILS(c, airy_live_put(live, &frame, 1), AIRY_ERR_CANCELLED, "being finished");
        CHECK_FAILS(c, airy_live_finish(live, NULL), AIRY_ERR_PARAM, "finished before");
    }
    airy_live_destroy(&live);
    airy_live_destroy(&live);
    close_played(&played);
}

/* Sizes that nobody can believe are rows that are bad, and hold up nothing. */
static void check_sizes(struct check *c)
{
    if (!check_case(c, "live_sizes"))
        return;
    struct played played;
    airy_live *live = NULL;
    airy_live_info info = {0};
    airy_live_params params = params_of(8);
    params.max_chunk = FRAME_BYTES / 2 * 3;
    if (open_played(c, &played, FRAMES, SOUND, false) &&
        CHECK_OK(c, airy_live_create(&live, NULL, played.integrators, 1, &params))) {
        uint8_t *large = check_alloc(c, 2 * FRAME_BYTES);
        const airy_live_frame frames[] = {
            {.number = 0, .bytes = large, .size = 2 * FRAME_BYTES, .encoded = true},
            {.number = 1, .bytes = large, .size = 2 * FRAME_BYTES},
            {.number = 2, .bytes = large, .size = 0, .encoded = true},
            {.number = 3, .bytes = NULL, .size = 0},
            {.number = 4, .bytes = large, .size = 11, .encoded = true},
            {.number = 5, .bytes = large, .size = FRAME_BYTES - 1},
            {.number = 6, .bytes = large, .size = FRAME_BYTES},
            {.number = 7, .bytes = played.chunks[7], .size = played.sizes[7], .encoded = true},
        };
        for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++)
            CHECK_OK(c, airy_live_put(live, &frames[i], 60));
        CHECK_OK(c, airy_live_finish(live, &info));
        CHECK(c, info.done == 8 && info.bad == 6);
        CHECK(c, strstr(info.first_error, "frame "));
    }
    airy_live_destroy(&live);
    close_played(&played);
}

/* Frames that do not come, and the run that goes on. */
static void check_lost(struct check *c)
{
    if (!check_case(c, "live_lost_resume"))
        return;
    struct played played;
    airy_live *live = NULL;
    airy_live_info info = {0};
    airy_live_params params = params_of(FRAMES);
    params.run.skip_bad = false;
    if (open_played(c, &played, FRAMES, SOUND, false) &&
        CHECK_OK(c, airy_live_create(&live, played.out, played.integrators, 1, &params))) {
        for (size_t i = 0; i < FRAMES; i++)
            if (i != 5 && i != 40)
                CHECK_OK(c, put(live, &played, i));
        CHECK_OK(c, airy_live_lose(live, 40, "the channel closed", HUGE_VAL));
        CHECK_FAILS(c, airy_live_finish(live, &info), AIRY_ERR_INCOMPLETE,
                    "1 frames never came, the first is number 5");
        CHECK(c, info.put == FRAMES - 2 && info.done == FRAMES - 2 && info.bad == 0);
        CHECK(c, info.lost == 1 && info.missing == 1 && info.first > 0 && info.first <= info.max);
        CHECK(c, strcmp(info.first_error, "the channel closed") == 0);
        airy_live_destroy(&live);
        params.run.resume = true;
        params.frames = 0;
        airy_error error;
        CHECK_FAILS(c, airy_live_create(&live, played.out, played.integrators, 1, &params),
                    AIRY_ERR_FORMAT, "begun with a known number of frames");
        airy_error_get(&error);
        CHECK(c, error.hint == AIRY_HINT_NO_FOLLOW && error.subject == AIRY_SUBJECT_FILE);
        params.frames = FRAMES;
        if (CHECK_OK(c, airy_live_create(&live, played.out, played.integrators, 1, &params))) {
            for (size_t i = 0; i < FRAMES; i++)
                CHECK_OK(c, put(live, &played, i));
            CHECK_FAILS(c, put(live, &played, 5), AIRY_ERR_PARAM, "given before");
            CHECK_OK(c, put(live, &played, 6)); /* of the first run */
            CHECK_OK(c, airy_live_finish(live, &info));
            CHECK(c, info.resumed == FRAMES - 2 && info.put == 2 && info.done == 2);
            CHECK(c, info.lost == 0 && info.missing == 0);
            check_run_same(c, played.out, played.want);
        }
    }
    airy_live_destroy(&live);
    close_played(&played);
}

/* Write no file beyond so many bytes. */
static void limit_files(struct rlimit *before, rlim_t bytes)
{
    getrlimit(RLIMIT_FSIZE, before);
    const struct rlimit limit = {.rlim_cur = bytes, .rlim_max = before->rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* What the file does not take is counted as on its way, be it lost or not. */
static void check_full_disk(struct check *c)
{
    if (!check_case(c, "live_full_disk"))
        return;
    struct played played;
    airy_live *live = NULL;
    airy_live_info info = {0};
    airy_live_params params = params_of(FRAMES);
    params.run.batch = 1;
    struct rlimit before;
    if (open_played(c, &played, FRAMES, SOUND, false) &&
        CHECK_OK(c, airy_live_create(&live, played.out, played.integrators, 1, &params))) {
        void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
        limit_files(&before, 0);
        for (size_t i = 0; i < FRAMES; i++)
            (void)airy_live_lose(live, i, "never came", HUGE_VAL);
        const airy_status status = airy_live_finish(live, &info);
        setrlimit(RLIMIT_FSIZE, &before);
        signal(SIGXFSZ, handler);
        CHECK(c, status == AIRY_ERR_IO && strstr(airy_last_error(), "File too large") != NULL);
        CHECK(c, info.done == 0 && info.bad == 0 && info.put == 0);
    }
    airy_live_destroy(&live);
    close_played(&played);
}

/* A file that the frames of a live run have begun is completed from a stack. */
static void check_then_stack(struct check *c)
{
    if (!check_case(c, "live_then_stack"))
        return;
    struct played played;
    airy_live *live = NULL;
    airy_stack *stack = NULL;
    airy_live_params params = params_of(FRAMES);
    if (open_played(c, &played, FRAMES, SOUND, false) &&
        CHECK_OK(c, airy_live_create(&live, played.out, played.integrators, 1, &params))) {
        for (size_t i = 10; i < 30; i++)
            CHECK_OK(c, put(live, &played, i));
        airy_live_destroy(&live); /* without finish */
        const airy_run_params run = {.resume = true, .skip_bad = true};
        airy_run_info info;
        if (CHECK_OK(c, airy_stack_create(&stack, &played.stack, 1)) &&
            CHECK_OK(c,
                     airy_integrate_stack(played.out, stack, played.integrators, 1, &run, &info))) {
            CHECK(c, info.resumed == 20 && info.frames == FRAMES - 20);
            check_run_same(c, played.out, played.want);
        }
    }
    airy_stack_destroy(&stack);
    airy_live_destroy(&live);
    close_played(&played);
}

/* The number of frames is not known: the file grows, is read while it does, and is resumed. */
static void check_growing(struct check *c)
{
    for (int order = 0; order < 3; order++) {
        if (!check_case(c, "live_growing_%s",
                        order == 0   ? "in_order"
                        : order == 1 ? "any_order"
                                     : "flipped"))
            continue;
        struct played played;
        airy_live *live = NULL;
        airy_live_info info = {0};
        airy_live_params params = params_of(0);
        const size_t bad = order == 2;
        if (open_played(c, &played, 33, order == 2 ? FLIPPED : SOUND, false) &&
            CHECK_OK(c, airy_live_create(&live, played.out, played.integrators, 1, &params))) {
            if (order)
                CHECK_OK(c, give_all(live, &played));
            for (size_t i = 0; i < FRAMES && !order; i++)
                CHECK_OK(c, put(live, &played, i));
            const airy_live_frame far = {.number = FRAMES + (1 << 20),
                                         .bytes = played.chunks[0],
                                         .size = played.sizes[0],
                                         .encoded = true};
            CHECK_FAILS(c, airy_live_put(live, &far, 1), AIRY_ERR_PARAM, "expected below 1048646");
            CHECK_OK(c, airy_live_finish(live, &info));
            CHECK(c, info.done == FRAMES && info.bad == bad);
            check_grown(c, played.out, played.want);
        }
        airy_live_destroy(&live);
        close_played(&played);
    }
}

/* The same rows are there, and done, in the partial file while it is written. */
static size_t rows_done(const char *partial)
{
    airy_image status = {0};
    char dataset[700];
    size_t done = 0;
    snprintf(dataset, sizeof(dataset), "%s::/entry/integrate/frame/status", partial);
    if (airy_image_read(&status, dataset) == AIRY_OK) /* not before there is a row */
        for (size_t i = 0; i < status.shape[status.ndim - 1]; i++)
            done += ((const int32_t *)status.data)[i] == 0;
    airy_image_free(&status);
    return done;
}

/*
 * The superblock's flags: written (1), by rules under which others may read (4). Both are wanted of
 * a file that libhdf5 opens for such readers.
 */
static bool says_swmr(const char *path)
{
    uint8_t bytes[12] = {0};
    FILE *file = fopen(path, "rb");
    const bool read = file && fread(bytes, sizeof(bytes), 1, file) == 1;
    if (file)
        fclose(file);
    return read && bytes[8] == 3 && bytes[11] == 5;
}

static void check_growing_resume(struct check *c)
{
    if (!check_case(c, "live_growing_resume"))
        return;
    struct played played;
    airy_live *live = NULL;
    airy_live_info info = {0};
    airy_live_params params = params_of(0);
    params.run.skip_bad = false;
    if (open_played(c, &played, FRAMES, SOUND, false) &&
        CHECK_OK(c, airy_live_create(&live, played.out, played.integrators, 1, &params))) {
        char partial[600];
        snprintf(partial, sizeof(partial), "%s.partial", played.out);
        airy_live *second = NULL;
        for (size_t i = 3; i < 40; i += 2)
            CHECK_OK(c, put(live, &played, i));
        size_t done = 0;
        for (int tries = 0; tries < 3000 && done < 19; tries++) {
            usleep(20000);
            done = rows_done(partial);
        }
        CHECK(c, done == 19); /* of 3, 5, ... 39 */
        CHECK(c, says_swmr(partial));
        params.run.resume = true;
        CHECK_FAILS(c, airy_live_create(&second, played.out, played.integrators, 1, &params),
                    AIRY_ERR_IO, "is being written by another process");
        CHECK_FAILS(c, airy_live_finish(live, &info), AIRY_ERR_INCOMPLETE,
                    "21 frames never came, the first is number 0");
        airy_live_destroy(&live);
        CHECK(c, rows_done(partial) == 19);
        params.run.resume = false;
        CHECK_FAILS(c, airy_live_create(&live, played.out, played.integrators, 1, &params),
                    AIRY_ERR_EXISTS, "interrupted run");
        params.run.resume = true;
        params.run.configuration = "{\"other\": 1}";
        CHECK_FAILS(c, airy_live_create(&live, played.out, played.integrators, 1, &params),
                    AIRY_ERR_FORMAT, "its configuration differs");
        params.run.configuration = NULL;
        /* A run over the stack knows how many frames there are. */
        const airy_run_params known = {.resume = true};
        airy_error error;
        airy_stack *stack = NULL;
        CHECK_OK(c, airy_stack_create(&stack, &played.stack, 1));
        CHECK_FAILS(c, airy_integrate_stack(played.out, stack, played.integrators, 1, &known, NULL),
                    AIRY_ERR_FORMAT, "begun by a live run or --follow, which did not know");
        airy_stack_destroy(&stack);
        airy_error_get(&error);
        CHECK(c, error.hint == AIRY_HINT_FOLLOW && error.subject == AIRY_SUBJECT_FILE &&
                     strcmp(error.name, partial) == 0);
        if (CHECK_OK(c, airy_live_create(&live, played.out, played.integrators, 1, &params))) {
            CHECK_OK(c, give_all(live, &played));
            CHECK_FAILS(c, put(live, &played, 4), AIRY_ERR_PARAM, "given before");
            CHECK_OK(c, airy_live_finish(live, &info));
            CHECK(c, info.resumed == 19 && info.put == FRAMES - 19);
            check_grown(c, played.out, played.want);
            CHECK(c, access(partial, F_OK) != 0);
        }
    }
    airy_live_destroy(&live);
    close_played(&played);
}

/* Who takes the patterns is slow: memory stays, and those who put are told in time. */
static void check_full(struct check *c)
{
    if (!check_case(c, "live_full"))
        return;
    struct played played;
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    struct seen seen = {.gate = &gate};
    airy_live *live = NULL;
    airy_live_info info = {0};
    airy_live_params params = params_of(FRAMES);
    params.run.batch = params.run.slots = 2;
    params.pattern = see;
    params.user = &seen;
    if (open_played(c, &played, FRAMES, SOUND, false) &&
        CHECK_OK(c, airy_live_create(&live, NULL, played.integrators, 1, &params))) {
        size_t given = 0;
        airy_status status = AIRY_OK;
        pthread_mutex_lock(&gate);
        while (given < FRAMES && status == AIRY_OK) {
            const airy_live_frame frame = {.number = given,
                                           .bytes = played.chunks[given],
                                           .size = played.sizes[given],
                                           .encoded = true};
            status = airy_live_put(live, &frame, 0.05);
            given += status == AIRY_OK;
        }
        CHECK(c, status == AIRY_ERR_TIMED_OUT && strstr(airy_last_error(), "no room"));
        CHECK(c, given >= 2 && given <= 4); /* two batches of at most two frames */
        CHECK_FAILS(c, airy_live_lose(live, given, "x", 0), AIRY_ERR_TIMED_OUT, "no room");
        pthread_mutex_unlock(&gate);
        for (; given < FRAMES; given++)
            CHECK_OK(c, put(live, &played, given));
        CHECK_OK(c, airy_live_finish(live, &info));
        CHECK(c,
              info.refused == 2 && info.lost == 0 && info.done == FRAMES && seen.count == FRAMES);
    }
    airy_live_destroy(&live);
    close_played(&played);
}

static bool stop_soon(void *user, size_t done, size_t total)
{
    (void)user;
    return total != FRAMES || done < 10;
}

/* Frames are still given when the run is finished, or stops by itself: nobody waits for ever. */
static void check_ends(struct check *c)
{
    for (int stops = 0; stops < 2; stops++) {
        if (!check_case(c, "live_ends_%s", stops ? "stopped" : "finished"))
            continue;
        struct played played;
        airy_live *live = NULL;
        airy_live_info info = {0};
        airy_live_params params = params_of(FRAMES);
        params.run.batch = 1;
        params.run.slots = 2;
        params.run.progress = stops ? stop_soon : NULL;
        if (open_played(c, &played, FRAMES, SOUND, false) &&
            CHECK_OK(c, airy_live_create(&live, NULL, played.integrators, 1, &params))) {
            struct giver giver = {.live = live, .played = &played, .index = 0};
            pthread_create(&giver.thread, NULL, give, &giver);
            if (stops)
                pthread_join(giver.thread, NULL);
            const airy_status status = airy_live_finish(live, &info);
            if (!stops)
                pthread_join(giver.thread, NULL);
            CHECK(c, stops ? status == AIRY_ERR_CANCELLED
                           : status == AIRY_OK || status == AIRY_ERR_INCOMPLETE);
            CHECK(c, giver.status == AIRY_OK || giver.status == AIRY_ERR_CANCELLED);
            CHECK(c, !stops || (giver.status == AIRY_ERR_CANCELLED && info.done >= 10));
        }
        airy_live_destroy(&live);
        close_played(&played);
    }
}

/* Status of a row in the partial file; -2: the row is not there. */
static int32_t status_of(const struct played *played, size_t row)
{
    airy_image status = {0};
    char dataset[700];
    int32_t found = -2;
    snprintf(dataset, sizeof(dataset), "%s.partial::/entry/integrate/frame/status", played->out);
    if (airy_image_read(&status, dataset) == AIRY_OK && row < status.shape[status.ndim - 1])
        found = ((const int32_t *)status.data)[row];
    airy_image_free(&status);
    return found;
}

/* The run goes on from what is there, and makes what is missing or was spoiled. */
static void check_mended(struct check *c, const struct played *played, airy_live_params params,
                         size_t resumed)
{
    airy_live *live = NULL;
    airy_live_info info = {0};
    params.run.resume = true;
    params.pattern = NULL;
    if (CHECK_OK(c, airy_live_create(&live, played->out, played->integrators, 1, &params))) {
        for (size_t i = 0; i < FRAMES; i++)
            CHECK_OK(c, put(live, played, i));
        CHECK_OK(c, airy_live_finish(live, &info));
        CHECK_COUNT(c, info.resumed, resumed);
        CHECK_COUNT(c, info.put, FRAMES - resumed);
        CHECK_COUNT(c, info.bad, 0);
        check_grown(c, played->out, played->want);
    }
    airy_live_destroy(&live);
}

/* Another frame of a number comes while the first waits for room, or before it is given. */
static void check_spoil_waiting(struct check *c)
{
    if (!check_case(c, "live_spoil_waiting"))
        return;
    struct played played;
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    struct seen seen = {.gate = &gate};
    airy_live *live = NULL;
    airy_live_info info = {0};
    airy_live_params params = params_of(FRAMES);
    params.run.batch = 1;
    params.run.slots = 2;
    params.pattern = see;
    params.user = &seen;
    if (open_played(c, &played, FRAMES, SOUND, false) &&
        CHECK_OK(c, airy_live_create(&live, played.out, played.integrators, 1, &params))) {
        struct giver giver = {.live = live, .played = &played, .index = 0};
        pthread_mutex_lock(&gate);
        pthread_create(&giver.thread, NULL, give, &giver); /* 69, 66, ... 0, as there is room */
        usleep(50000);
        CHECK_OK(c, airy_live_spoil(live, 3));
        CHECK_OK(c, airy_live_spoil(live, 66));
        CHECK_OK(c, airy_live_spoil(live, 66));
        CHECK_FAILS(c, airy_live_spoil(live, FRAMES), AIRY_ERR_PARAM, "expected below 70");
        pthread_mutex_unlock(&gate);
        pthread_join(giver.thread, NULL);
        CHECK_OK(c, giver.status);
        for (size_t i = 0; i < FRAMES; i++)
            if (i % THREADS)
                CHECK_OK(c, put(live, &played, i));
        CHECK_FAILS(c, airy_live_finish(live, &info), AIRY_ERR_CORRUPT,
                    "2 rows are of two frames each");
        CHECK(c, info.put == FRAMES && info.done == FRAMES && info.bad == 2);
        CHECK(c, seen.count == FRAMES && seen.bad >= 1); /* 66 may have been handed on before */
        CHECK_FAILS(c, airy_live_spoil(live, 5), AIRY_ERR_CANCELLED, "being finished");
        CHECK_FAILS(c, airy_live_spoil(NULL, 5), AIRY_ERR_PARAM, "NULL");
        airy_live_destroy(&live);
        CHECK(c, status_of(&played, 3) == 1 && status_of(&played, 66) == 1);
        CHECK(c, status_of(&played, 5) == 0);
        check_mended(c, &played, params, FRAMES - 2);
    }
    airy_live_destroy(&live);
    close_played(&played);
}

static void await_done(struct check *c, airy_live *live, size_t rows)
{
    airy_live_info info = {0};
    for (int tries = 0; tries < 3000 && info.done < rows; tries++) {
        airy_live_get_info(live, &info);
        usleep(info.done < rows ? 20000 : 0);
    }
    CHECK(c, info.done == rows);
}

static const char *two_images(size_t frame)
{
    static char sentence[100];
    snprintf(sentence, sizeof(sentence),
             "frame %zu: two images of this number came, with other pixels", frame);
    return sentence;
}

/* Row 7, which is good, is spoiled by the run that goes on, and is bad; row 5 was bad before. */
static void check_spoil_resumed(struct check *c, const struct played *played,
                                airy_live_params params)
{
    airy_live *live = NULL;
    airy_live_info info = {0};
    params.run.resume = true;
    if (CHECK_OK(c, airy_live_create(&live, played->out, played->integrators, 1, &params))) {
        airy_live_get_info(live, &info);
        CHECK(c, info.resumed == FRAMES - 1 && info.put == 0 && info.done == 0);
        CHECK_OK(c, put(live, played, 7));
        CHECK_OK(c, airy_live_spoil(live, 7));
        CHECK_OK(c, airy_live_cancel(live, &info));
        CHECK(c, info.resumed == FRAMES - 2 && info.put == 1 && info.done == 1 && info.bad == 1);
        CHECK(c, info.missing == 1 && strcmp(info.first_error, two_images(7)) == 0);
        CHECK_FAILS(c, airy_live_cancel(NULL, &info), AIRY_ERR_PARAM, "NULL");
        CHECK_FAILS(c, airy_live_cancel(live, &info), AIRY_ERR_PARAM, "finished before");
        CHECK_FAILS(c, airy_live_finish(live, &info), AIRY_ERR_PARAM, "finished before");
        CHECK_FAILS(c, put(live, played, 5), AIRY_ERR_CANCELLED, "being finished");
    }
    airy_live_destroy(&live);
}

/* A row that is spoiled when it is written is bad in the file at once: a killed run leaves it so. */
static void check_spoil_written(struct check *c, bool grows)
{
    if (!check_case(c, "live_spoil_written_%s", grows ? "growing" : "known"))
        return;
    struct played played;
    airy_live *live = NULL;
    airy_live_info info = {0};
    const airy_live_params params = params_of(grows ? 0 : FRAMES);
    if (open_played(c, &played, FRAMES, SOUND, false) &&
        CHECK_OK(c, airy_live_create(&live, played.out, played.integrators, 1, &params))) {
        for (size_t i = 0; i < FRAMES; i++)
            CHECK_OK(c, put(live, &played, i));
        await_done(c, live, FRAMES);
        for (int tries = 0; tries < 1000 && status_of(&played, 5) != 0; tries++)
            usleep(10000); /* rows of a growing file are written some time after */
        CHECK_OK(c, airy_live_spoil(live, 5));
        for (int tries = 0; tries < 1000 && status_of(&played, 5) != 1; tries++)
            usleep(10000);
        CHECK(c, status_of(&played, 5) == 1 && status_of(&played, 6) == 0);
        CHECK_OK(c, airy_live_cancel(live, &info));
        CHECK(c, info.put == FRAMES && info.done == FRAMES && info.bad == 1);
        CHECK(c, strcmp(info.first_error, two_images(5)) == 0);
        airy_live_destroy(&live);
        CHECK(c, status_of(&played, 5) == 1 && status_of(&played, 6) == 0);
        check_spoil_resumed(c, &played, params);
        check_mended(c, &played, params, FRAMES - 2);
    }
    airy_live_destroy(&live);
    close_played(&played);
}

/* The run has failed: what is spoiled is made bad all the same, and the failure is reported. */
static void check_spoil_failed(struct check *c, bool finished)
{
    if (!check_case(c, "live_spoil_failed%s", finished ? "_finished" : ""))
        return;
    struct played played;
    airy_live *live = NULL;
    airy_live_params params = params_of(FRAMES);
    char partial[600];
    params.run.batch = 1;
    if (open_played(c, &played, FRAMES, SOUND, false) &&
        CHECK_OK(c, airy_live_create(&live, played.out, played.integrators, 1, &params))) {
        for (size_t i = 0; i < 10; i++)
            CHECK_OK(c, put(live, &played, i));
        await_done(c, live, 10);
        struct rlimit before;
        void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
        limit_files(&before, 0);
        airy_status status = AIRY_OK;
        for (size_t i = 10; i < FRAMES && status == AIRY_OK; i++)
            status = put(live, &played, i);
        CHECK(c, status == AIRY_ERR_IO);
        setrlimit(RLIMIT_FSIZE, &before);
        signal(SIGXFSZ, handler);
        CHECK_OK(c, airy_live_spoil(live, 5));
        if (finished)
            CHECK_FAILS(c, airy_live_finish(live, NULL), AIRY_ERR_IO, "File too large");
        airy_live_destroy(&live);
        CHECK(c, status_of(&played, 5) == 1 && status_of(&played, 6) == 0);
        /* The other lane may write one more row, when the limit is gone. */
        snprintf(partial, sizeof(partial), "%s.partial", played.out);
        const size_t good = rows_done(partial);
        CHECK(c, good == 9 || good == 10);
        check_mended(c, &played, params, good);
    }
    airy_live_destroy(&live);
    close_played(&played);
}

/* Bins of a row in the partial file that are no numbers. */
static size_t gaps_of(const struct played *played, size_t row)
{
    airy_image image = {0};
    char dataset[700];
    size_t gaps = 0;
    snprintf(dataset, sizeof(dataset), "%s.partial::/entry/integrate/result/intensity",
             played->out);
    if (airy_image_read(&image, dataset) == AIRY_OK)
        for (size_t b = 0; b < RUN_BINS; b++)
            gaps += isnan(((const float *)image.data)[row * RUN_BINS + b]) != 0;
    airy_image_free(&image);
    return gaps;
}

static off_t size_of(const struct played *played)
{
    char path[700];
    struct stat file = {0};
    snprintf(path, sizeof(path), "%s.partial", played->out);
    return stat(path, &file) == 0 ? file.st_size : 0;
}

/* Where a spoiled row is made bad in part only, it is no good row. */
static void check_spoil_torn(struct check *c)
{
    enum { PARTS = 16 };
    if (!check_case(c, "live_spoil_torn"))
        return;
    struct played played;
    airy_live *live = NULL;
    airy_live_params params = params_of(FRAMES);
    params.run.force = true;
    size_t kept = 0, torn = 0;
    if (!open_played(c, &played, FRAMES, SOUND, false)) {
        close_played(&played);
        return;
    }
    for (size_t part = 0; part <= PARTS; part++) {
        if (!CHECK_OK(c, airy_live_create(&live, played.out, played.integrators, 1, &params)))
            break;
        CHECK_OK(c, put(live, &played, 5));
        await_done(c, live, 1);
        const size_t gaps = gaps_of(&played, 5);
        struct rlimit before;
        void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
        limit_files(&before, (rlim_t)size_of(&played) * part / PARTS);
        CHECK_OK(c, airy_live_spoil(live, 5));
        airy_live_destroy(&live);
        setrlimit(RLIMIT_FSIZE, &before);
        signal(SIGXFSZ, handler);
        const int32_t status = status_of(&played, 5);
        CHECK(c, status != 0 || gaps_of(&played, 5) == gaps);
        kept += status == 0;
        torn += status == -1;
    }
    CHECK(c, kept > 0 && torn > 0 && kept + torn <= PARTS);
    airy_live_destroy(&live);
    close_played(&played);
}

void check_live(struct check *c)
{
    check_orders(c);
    check_refusals(c);
    check_sizes(c);
    check_lost(c);
    check_full_disk(c);
    check_then_stack(c);
    check_growing(c);
    check_growing_resume(c);
    check_full(c);
    check_ends(c);
    check_spoil_waiting(c);
    check_spoil_written(c, false);
    check_spoil_written(c, true);
    check_spoil_failed(c, false);
    check_spoil_failed(c, true);
    check_spoil_torn(c);
}
