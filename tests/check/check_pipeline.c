#include "check_pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/pipeline.h"

enum { HEIGHT = RUN_HEIGHT, WIDTH = RUN_WIDTH, PIXELS = RUN_PIXELS, BINS = RUN_BINS };

static airy_integrator *make_integrator_of(struct check *c, airy_device *device,
                                           airy_error_model error_model, size_t bins)
{
    const airy_geometry geometry = {
        .detector =
            {.name = "Detector", .height = HEIGHT, .width = WIDTH, .pixel1 = 1e-4, .pixel2 = 1e-4},
        .dist = 0.1,
        .poni1 = 1.3e-3,
        .poni2 = 2.1e-3,
        .rot1 = 0.01,
        .wavelength = 1e-10,
    };
    const airy_integrator_params params = {
        .bins = bins, .error_model = error_model, .has_dummy = true, .dummy = 1e9};
    airy_integrator *integrator = NULL;
    CHECK_OK(c, airy_integrator_create(&integrator, device, &geometry, &params));
    return integrator;
}

airy_integrator *check_run_integrator(struct check *c, airy_device *device,
                                      airy_error_model error_model)
{
    return make_integrator_of(c, device, error_model, BINS);
}

static airy_integrator *make_integrator(struct check *c, airy_error_model error_model)
{
    return check_run_integrator(c, c->device, error_model);
}

const char *check_run_path(struct check *c, const char *name)
{
    const char *folder = check_tmp(c);
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = check_alloc(c, size);
    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

uint32_t *check_run_frames(struct check *c, size_t frames)
{
    uint32_t *pixels = check_alloc(c, frames * PIXELS * sizeof(uint32_t));
    for (size_t i = 0; i < frames * PIXELS; i++)
        pixels[i] = (uint32_t)(check_rand_u64(c) % 50);
    return pixels;
}

void check_run_stack(struct check *c, const char *path, const uint32_t *pixels, size_t frames,
                     size_t special, enum spoil spoil)
{
    check_run_stack_as(c, path, AIRY_CODEC_BSLZ4, pixels, frames, special, spoil);
}

void check_run_stack_as(struct check *c, const char *path, airy_codec kind, const uint32_t *pixels,
                        size_t frames, size_t special, enum spoil spoil)
{
    airy_codec_params codec = {.codec = kind, .elem_size = 4, .block_bytes = 1024};
    const airy_stack_writer_params params = {.dtype = AIRY_DTYPE_U32,
                                             .frames = frames,
                                             .height = HEIGHT,
                                             .width = WIDTH,
                                             .codec = codec};
    airy_stack_writer *writer = NULL;
    const size_t size = PIXELS * sizeof(uint32_t);
    if (!CHECK_OK(c, airy_stack_writer_create(&writer, path, &params)))
        return;
    for (size_t i = 0; i < frames; i++) {
        const bool is_special = i == special;
        codec.block_bytes = is_special && spoil == OTHER_BLOCKS ? 512 : 1024;
        size_t chunk_size = airy_encode_bound(size, &codec);
        uint8_t *chunk = check_alloc(c, chunk_size);
        CHECK_OK(c, airy_encode(chunk, &chunk_size, pixels + i * PIXELS, size, &codec));
        if (is_special && spoil == TRUNCATED)
            chunk_size /= 2;
        if (is_special && spoil == FLIPPED) /* the first block has more literals than bytes */
            memset(chunk + 16, 0xff, 40);
        CHECK_OK(c, airy_stack_writer_add(writer, i, chunk, chunk_size));
    }
    CHECK_OK(c, airy_stack_writer_finish(writer));
    airy_stack_writer_destroy(&writer);
}

/* The patterns by airy_integrate, frame by frame. */
static float *direct_patterns(struct check *c, const airy_integrator *integrator,
                              const airy_stack *stack)
{
    airy_stack_info info;
    CHECK_OK(c, airy_stack_get_info(stack, &info));
    float *want = check_alloc(c, info.frames * BINS * sizeof(float));
    const size_t size = PIXELS * airy_dtype_size(info.dtype);
    void *pixels = check_alloc(c, size);
    double *sums = check_alloc(c, AIRY_SUM_PLANES * BINS * sizeof(double));
    for (size_t i = 0; i < info.frames; i++) {
        if (airy_stack_read(stack, i, pixels, size) != AIRY_OK) {
            for (size_t b = 0; b < BINS; b++)
                want[i * BINS + b] = NAN;
            continue;
        }
        const size_t frame_shape[3] = {1, HEIGHT, WIDTH},
                     sums_shape[3] = {1, AIRY_SUM_PLANES, BINS},
                     stats_shape[2] = {1, sizeof(airy_frame_stats)};
        airy_array *frame = check_upload(c, info.dtype, 3, frame_shape, pixels);
        airy_array *d_sums = check_output(c, AIRY_DTYPE_F64, 3, sums_shape);
        airy_array *d_stats = check_output(c, AIRY_DTYPE_U8, 2, stats_shape);
        CHECK_OK(c, airy_integrate(c->queue, d_sums, d_stats, integrator, frame));
        CHECK_OK(c,
                 airy_array_pull(c->queue, sums, AIRY_SUM_PLANES * BINS * sizeof(double), d_sums));
        CHECK_OK(c, airy_queue_finish(c->queue));
        CHECK_OK(c, airy_integrator_finish(integrator, sums, 1.0, want + i * BINS, NULL, NULL));
    }
    return want;
}

static bool check_file(struct check *c, const char *path, const float *want, size_t frames)
{
    char dataset[600];
    snprintf(dataset, sizeof(dataset), "%s::/entry/integrate/result/intensity", path);
    airy_image image = {0};
    if (!CHECK_OK(c, airy_image_read(&image, dataset)))
        return false;
    bool good = CHECK(c, image.dtype == AIRY_DTYPE_F32 && image.ndim == 2 &&
                             image.shape[0] == frames && image.shape[1] == BINS);
    /*
     * The CPU walks frames and chunks alike, so all bits agree; a device may use fixed-point
     * weights for chunks: each within 1e-6.
     */
    const struct check_tol tol = {.rel = c->is_cpu ? 0 : 2e-6};
    good = good &&
           check_values(c, "intensity", AIRY_DTYPE_F32, image.data, want, frames * BINS, &tol);
    airy_image_free(&image);
    return good;
}

static void check_runs(struct check *c)
{
    static const airy_run_params runs[] = {{.batch = 1},
                                           {.batch = 4, .slots = 1},
                                           {.batch = 7, .slots = 2, .readers = 3},
                                           {.batch = 64, .readers = 1},
                                           {0}};
    for (size_t r = 0; r < sizeof(runs) / sizeof(runs[0]); r++) {
        if (!check_case(c, "pipeline_u32_37x44_batch%zu_slots%zu", runs[r].batch, runs[r].slots))
            continue;
        enum { FRAMES = 25 };
        const char *path = check_run_path(c, "stack.h5"), *out = check_run_path(c, "out.h5");
        check_run_stack(c, path, check_run_frames(c, FRAMES), FRAMES, FRAMES, SOUND);
        airy_integrator *integrator = make_integrator(c, AIRY_ERROR_MODEL_POISSON);
        airy_stack *stack = NULL;
        airy_run_info info;
        if (CHECK_OK(c, airy_stack_create(&stack, &path, 1)) &&
            CHECK_OK(c, airy_integrate_stack(out, stack, &integrator, 1, &runs[r], &info))) {
            CHECK(c, info.frames == FRAMES && info.bad == 0 && info.resumed == 0 && !info.stopped);
            check_file(c, out, direct_patterns(c, integrator, stack), FRAMES);
            CHECK_FAILS(c, airy_integrate_stack(out, stack, &integrator, 1, &runs[r], &info),
                        AIRY_ERR_EXISTS, "out.h5");
        }
        airy_stack_destroy(&stack);
        airy_integrator_destroy(&integrator);
    }
}

/* Every layout of the reference files gives what reading frame by frame gives. */
static void check_layouts(struct check *c)
{
    static const char *const files[] = {"frame_chunk.h5",
                                        "frame_chunk_latest.h5",
                                        "multi_frame_chunk.h5",
                                        "tile_chunk.h5",
                                        "block64.h5",
                                        "bshuf_none.h5",
                                        "gzip_shuffle.h5",
                                        "lz4_plain.h5",
                                        "raw_chunk.h5",
                                        "contiguous.h5",
                                        "big_endian.h5",
                                        "u2.h5",
                                        "u1.h5",
                                        "i4.h5",
                                        "f4.h5",
                                        "single_2d.h5",
                                        "missing_chunk.h5",
                                        "filter_mask.h5",
                                        "series_master.h5"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (!check_case(c, "pipeline_layout_%s", files[i]))
            continue;
        char name[128];
        snprintf(name, sizeof(name), "diffraction/hdf5/%s", files[i]);
        const char *path = check_golden(c, name), *out = check_run_path(c, "out.h5");
        if (!path)
            continue;
        airy_integrator *integrator = make_integrator(c, AIRY_ERROR_MODEL_NONE);
        airy_stack *stack = NULL;
        airy_stack_info stack_info;
        airy_run_info info;
        const airy_run_params params = {.batch = 4};
        if (CHECK_OK(c, airy_stack_create(&stack, &path, 1)) &&
            CHECK_OK(c, airy_stack_get_info(stack, &stack_info)) &&
            CHECK_OK(c, airy_integrate_stack(out, stack, &integrator, 1, &params, &info))) {
            check_file(c, out, direct_patterns(c, integrator, stack), stack_info.frames);
            /* Frames that were never written do not end a run. */
            CHECK(c, info.bad == (strcmp(files[i], "missing_chunk.h5") == 0 ? 2 : 0));
        }
        airy_stack_destroy(&stack);
        airy_integrator_destroy(&integrator);
    }
}

static void check_bad_frames(struct check *c)
{
    enum { FRAMES = 9 };
    for (size_t special = 0; special < FRAMES; special += 4) {
        for (int skip = 0; skip < 2; skip++) {
            if (!check_case(c, "pipeline_truncated_frame%zu_%s", special, skip ? "skip" : "stop"))
                continue;
            const char *path = check_run_path(c, "bad.h5"), *out = check_run_path(c, "out.h5");
            check_run_stack(c, path, check_run_frames(c, FRAMES), FRAMES, special, TRUNCATED);
            airy_integrator *integrator = make_integrator(c, AIRY_ERROR_MODEL_NONE);
            airy_stack *stack = NULL;
            airy_run_info info;
            const airy_run_params params = {.batch = 4, .skip_bad = skip};
            char frame[32];
            snprintf(frame, sizeof(frame), "frame %zu", special);
            CHECK_OK(c, airy_stack_create(&stack, &path, 1));
            if (skip) {
                CHECK_OK(c, airy_integrate_stack(out, stack, &integrator, 1, &params, &info));
                CHECK(c, info.bad == 1 && info.frames == FRAMES &&
                             strstr(info.first_error, frame) != NULL);
                check_file(c, out, direct_patterns(c, integrator, stack), FRAMES);
            } else {
                CHECK_FAILS(c, airy_integrate_stack(out, stack, &integrator, 1, &params, &info),
                            AIRY_ERR_CORRUPT, frame);
                CHECK(c, access(out, F_OK) != 0);
            }
            airy_stack_destroy(&stack);
            airy_integrator_destroy(&integrator);
        }
    }
    if (check_case(c, "pipeline_other_block_size")) {
        const char *path = check_run_path(c, "mixed.h5"), *out = check_run_path(c, "out.h5");
        check_run_stack(c, path, check_run_frames(c, FRAMES), FRAMES, 5, OTHER_BLOCKS);
        airy_integrator *integrator = make_integrator(c, AIRY_ERROR_MODEL_NONE);
        airy_stack *stack = NULL;
        airy_run_info info;
        CHECK_OK(c, airy_stack_create(&stack, &path, 1));
        CHECK_OK(c, airy_integrate_stack(out, stack, &integrator, 1, NULL, &info));
        CHECK(c, info.bad == 0);
        check_file(c, out, direct_patterns(c, integrator, stack), FRAMES);
        airy_stack_destroy(&stack);
        airy_integrator_destroy(&integrator);
    }
}

static bool stop_after(void *user, size_t done, size_t total)
{
    (void)total;
    return done < *(size_t *)user;
}

static void check_resume(struct check *c)
{
    enum { FRAMES = 40 };
    if (!check_case(c, "pipeline_stop_and_resume"))
        return;
    const char *path = check_run_path(c, "stack.h5"), *out = check_run_path(c, "out.h5");
    char partial[600];
    snprintf(partial, sizeof(partial), "%s.partial", out);
    check_run_stack(c, path, check_run_frames(c, FRAMES), FRAMES, FRAMES, SOUND);
    airy_integrator *integrator = make_integrator(c, AIRY_ERROR_MODEL_POISSON);
    airy_stack *stack = NULL;
    airy_run_info info;
    size_t limit = 10;
    airy_run_params params = {.batch = 3, .progress = stop_after, .user = &limit};
    CHECK_OK(c, airy_stack_create(&stack, &path, 1));
    CHECK_FAILS(c, airy_integrate_stack(out, stack, &integrator, 1, &params, &info),
                AIRY_ERR_CANCELLED, "of 40 frames");
    CHECK(c, info.stopped && info.frames >= 10 && info.frames < FRAMES);
    CHECK(c, access(out, F_OK) != 0 && access(partial, F_OK) == 0);
    const size_t done = info.frames;
    params = (airy_run_params){.resume = true};
    CHECK_OK(c, airy_integrate_stack(out, stack, &integrator, 1, &params, &info));
    CHECK(c, info.resumed == done && info.frames == FRAMES - done);
    CHECK(c, access(out, F_OK) == 0 && access(partial, F_OK) != 0);
    check_file(c, out, direct_patterns(c, integrator, stack), FRAMES);
    airy_stack_destroy(&stack);
    airy_integrator_destroy(&integrator);
}

/*
 * Bad frames are tried again, so the rows of a resumed run are not neighbours: their bytes are
 * another sum.
 */
static void check_resume_bad(struct check *c)
{
    enum { FRAMES = 50, FIRST = 0, SECOND = 40 };
    if (!check_case(c, "pipeline_resume_retries_bad_frames"))
        return;
    const char *path = check_run_path(c, "stack.h5"), *out = check_run_path(c, "out.h5");
    uint32_t *pixels = check_alloc(c, FRAMES * PIXELS * sizeof(uint32_t));
    check_rand(c, pixels + FIRST * PIXELS, AIRY_DTYPE_U32, PIXELS, 0, 4e9);
    check_rand(c, pixels + SECOND * PIXELS, AIRY_DTYPE_U32, PIXELS, 0, 4e9);
    const airy_codec_params codec = {
        .codec = AIRY_CODEC_BSLZ4, .elem_size = 4, .block_bytes = 1024};
    const airy_stack_writer_params writer_params = {.dtype = AIRY_DTYPE_U32,
                                                    .frames = FRAMES,
                                                    .height = HEIGHT,
                                                    .width = WIDTH,
                                                    .codec = codec};
    airy_stack_writer *writer = NULL;
    CHECK_OK(c, airy_stack_writer_create(&writer, path, &writer_params));
    for (size_t i = 0; i < FRAMES; i++) {
        size_t size = airy_encode_bound(PIXELS * sizeof(uint32_t), &codec);
        uint8_t *chunk = check_alloc(c, size);
        CHECK_OK(c,
                 airy_encode(chunk, &size, pixels + i * PIXELS, PIXELS * sizeof(uint32_t), &codec));
        if (i == FIRST || i == SECOND)
            chunk[8] ^= 0x40; /* another block size than the lengths that follow */
        CHECK_OK(c, airy_stack_writer_add(writer, i, chunk, size));
    }
    CHECK_OK(c, airy_stack_writer_finish(writer));
    airy_stack_writer_destroy(&writer);

    airy_integrator *integrator = make_integrator(c, AIRY_ERROR_MODEL_NONE);
    airy_stack *stack = NULL;
    airy_run_info info;
    size_t limit = 48;
    airy_run_params params = {
        .batch = 8, .slots = 1, .skip_bad = true, .progress = stop_after, .user = &limit};
    CHECK_OK(c, airy_stack_create(&stack, &path, 1));
    CHECK_FAILS(c, airy_integrate_stack(out, stack, &integrator, 1, &params, &info),
                AIRY_ERR_CANCELLED, "of 50 frames");
    params = (airy_run_params){.batch = 8, .skip_bad = true, .resume = true};
    CHECK_OK(c, airy_integrate_stack(out, stack, &integrator, 1, &params, &info));
    CHECK(c, info.bad == 2 && info.frames + info.resumed == FRAMES);
    airy_stack_destroy(&stack);
    airy_integrator_destroy(&integrator);
}

/*
 * Whatever the limit, a run works or is refused in a sentence; and what is enough stays enough
 * when there is more.
 */
static void check_memory_limits(struct check *c)
{
    enum { FRAMES = 40 };
    if (!check_case(c, "pipeline_memory_limits"))
        return;
    const char *path = check_run_path(c, "stack.h5"), *out = check_run_path(c, "out.h5");
    check_run_stack(c, path, check_run_frames(c, FRAMES), FRAMES, FRAMES, SOUND);
    airy_stack *stack = NULL;
    CHECK_OK(c, airy_stack_create(&stack, &path, 1));
    struct check limited = *c;
    size_t worked = 0;
    for (uint64_t limit = 100000; limit < 64000000; limit += limit / 8) {
        const airy_device_params device_params = {.threads = 2, .memory_limit = limit};
        airy_integrator *integrator = NULL;
        airy_run_info info;
        if (!CHECK_OK(c, airy_device_create(&limited.device, c->spec, &device_params)))
            break;
        const airy_geometry geometry = {
            .detector = {.name = "Detector",
                         .height = HEIGHT,
                         .width = WIDTH,
                         .pixel1 = 1e-4,
                         .pixel2 = 1e-4},
            .dist = 0.1,
            .wavelength = 1e-10,
        };
        airy_status status = airy_integrator_create(&integrator, limited.device, &geometry,
                                                    &(airy_integrator_params){.bins = BINS});
        if (status == AIRY_OK)
            status = airy_integrate_stack(out, stack, &integrator, 1,
                                          &(airy_run_params){.force = true}, &info);
        worked += status == AIRY_OK;
        if (status != AIRY_OK && (status != AIRY_ERR_MEMORY || worked))
            check_failed(c, __FILE__, __LINE__, "limit %llu: %s: %s", (unsigned long long)limit,
                         airy_status_name(status), airy_last_error());
        airy_integrator_destroy(&integrator);
        airy_device_destroy(&limited.device);
    }
    CHECK(c, worked > 0);
    airy_stack_destroy(&stack);
}

static void check_errors(struct check *c)
{
    enum { FRAMES = 4 };
    if (!check_case(c, "pipeline_errors"))
        return;
    const char *path = check_run_path(c, "stack.h5"), *out = check_run_path(c, "out.h5");
    check_run_stack(c, path, check_run_frames(c, FRAMES), FRAMES, FRAMES, SOUND);
    airy_integrator *integrator = make_integrator(c, AIRY_ERROR_MODEL_NONE);
    airy_stack *stack = NULL;
    airy_run_info info;
    CHECK_OK(c, airy_stack_create(&stack, &path, 1));
    CHECK_FAILS(c, airy_integrate_stack(out, NULL, &integrator, 1, NULL, &info), AIRY_ERR_PARAM,
                "NULL");
    CHECK_FAILS(c, airy_integrate_plan(&info, stack, NULL, 0, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(
        c, airy_integrate_stack(out, stack, &integrator, 1, &(airy_run_params){.last = 5}, &info),
        AIRY_ERR_PARAM, "expected <= 4");
    CHECK_FAILS(
        c, airy_integrate_stack(out, stack, &integrator, 1, &(airy_run_params){.first = 4}, &info),
        AIRY_ERR_PARAM, "first frame = 4");
    CHECK_FAILS(
        c, airy_integrate_stack(out, stack, &integrator, 1, &(airy_run_params){.slots = 65}, &info),
        AIRY_ERR_PARAM, "slots = 65");
    CHECK_FAILS(
        c,
        airy_integrate_stack(out, stack, &integrator, 1, &(airy_run_params){.readers = 257}, &info),
        AIRY_ERR_PARAM, "readers = 257");
    const double monitor[FRAMES] = {1, 2, 0, 1};
    CHECK_FAILS(c,
                airy_integrate_stack(out, stack, &integrator, 1,
                                     &(airy_run_params){.monitor = monitor}, &info),
                AIRY_ERR_PARAM, "frame 2");
    CHECK_FAILS(
        c,
        airy_integrate_stack(check_run_path(c, "no/folder.h5"), stack, &integrator, 1, NULL, &info),
        AIRY_ERR_IO, "folder.h5");
    CHECK_OK(c, airy_integrate_plan(&info, stack, &integrator, 1,
                                    &(airy_run_params){.first = 1, .step = 2}));
    CHECK(c, info.frames == 2 && info.batch >= 1 && info.slots >= 1 && info.readers >= 1 &&
                 info.host_bytes > 0);
    airy_stack_destroy(&stack);
    airy_integrator_destroy(&integrator);
}

static void check_monitor(struct check *c)
{
    enum { FRAMES = 3 };
    if (!check_case(c, "pipeline_monitor"))
        return;
    const char *path = check_run_path(c, "stack.h5"), *out = check_run_path(c, "out.h5");
    uint32_t *pixels = check_run_frames(c, FRAMES);
    memcpy(pixels + PIXELS, pixels, PIXELS * sizeof(uint32_t));
    pixels[2 * PIXELS + 100] = 1000000000; /* a dummy: the frame's normalization differs */
    check_run_stack(c, path, pixels, FRAMES, FRAMES, SOUND);
    airy_integrator *integrator = make_integrator(c, AIRY_ERROR_MODEL_NONE);
    airy_stack *stack = NULL;
    const double monitor[FRAMES] = {1, 4, 1};
    CHECK_OK(c, airy_stack_create(&stack, &path, 1));
    if (CHECK_OK(c, airy_integrate_stack(out, stack, &integrator, 1,
                                         &(airy_run_params){.monitor = monitor}, NULL))) {
        float *want = direct_patterns(c, integrator, stack);
        for (size_t b = 0; b < BINS; b++)
            want[BINS + b] /= 4; /* a power of two: exact */
        check_file(c, out, want, FRAMES);
        char dataset[600];
        snprintf(dataset, sizeof(dataset), "%s::/entry/integrate/merged/count", out);
        airy_image count = {0};
        if (CHECK_OK(c, airy_image_read(&count, dataset))) {
            CHECK(c, count.ndim == 2 && count.shape[0] == FRAMES && count.shape[1] == BINS);
            double total[FRAMES] = {0};
            for (size_t i = 0; count.ndim == 2 && i < (size_t)FRAMES * BINS; i++)
                total[i / BINS] += airy_image_value(&count, i);
            /* Each coefficient is rounded to f32: 1628 pixels, each off by at most 2^-24. */
            CHECK(c, fabs(total[0] - PIXELS) < PIXELS * 0x1p-23 &&
                         fabs(total[2] - (PIXELS - 1)) < PIXELS * 0x1p-23);
            airy_image_free(&count);
        }
    }
    airy_stack_destroy(&stack);
    airy_integrator_destroy(&integrator);
}

/* A frame whose factor is none is a bad frame: alone, or of a group of the others. */
static void check_bad_monitor(struct check *c)
{
    enum { FRAMES = 4, BAD = 2 };
    static const double bad[] = {0, -1, (double)NAN, HUGE_VAL};
    if (!check_case(c, "pipeline_bad_monitor"))
        return;
    const char *path = check_run_path(c, "stack.h5"), *out = check_run_path(c, "out.h5");
    check_run_stack(c, path, check_run_frames(c, FRAMES), FRAMES, FRAMES, SOUND);
    airy_integrator *integrator = make_integrator(c, AIRY_ERROR_MODEL_NONE);
    airy_stack *stack = NULL;
    CHECK_OK(c, airy_stack_create(&stack, &path, 1));
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        airy_run_info info;
        const double monitor[FRAMES] = {1, 4, bad[k], 1};
        airy_run_params params = {.monitor = monitor, .force = true};
        CHECK_FAILS(c, airy_integrate_stack(out, stack, &integrator, 1, &params, &info),
                    AIRY_ERR_PARAM, "frame 2");
        params.skip_bad = true;
        float *want = direct_patterns(c, integrator, stack);
        for (size_t b = 0; b < BINS; b++) {
            want[BINS + b] /= 4; /* a power of two: exact */
            want[BAD * BINS + b] = NAN;
        }
        if (CHECK_OK(c, airy_integrate_stack(out, stack, &integrator, 1, &params, &info)))
            CHECK(c, check_file(c, out, want, FRAMES) && info.bad == 1 && info.first_bad == BAD &&
                         strstr(info.first_error, "monitor"));
        params.first = params.group = 2; /* of frames 2 and 3 the second is left */
        if (CHECK_OK(c, airy_integrate_stack(out, stack, &integrator, 1, &params, &info)))
            CHECK(c, check_file(c, out, want + 3 * BINS, 1) && info.bad == 1);
    }
    airy_stack_destroy(&stack);
    airy_integrator_destroy(&integrator);
}

enum { LONG_BINS = 20000, LONG_FRAMES = 6, LONG_DUMMY = 2, LONG_BAD = 4 };

/* What the file should have of the rows by airy_integrate: intensity, sem, then sums by plane. */
struct long_rows {
    float *intensity, *sem;          /* [frames][bins] */
    double *planes[AIRY_SUM_PLANES]; /* [frames][bins] each */
};

static void direct_long_rows(struct check *c, struct long_rows *want,
                             const airy_integrator *integrator, const uint32_t *pixels)
{
    const size_t cells = (size_t)LONG_FRAMES * LONG_BINS;
    double *sums = check_alloc(c, AIRY_SUM_PLANES * LONG_BINS * sizeof(double));
    want->intensity = check_alloc(c, cells * sizeof(float));
    want->sem = check_alloc(c, cells * sizeof(float));
    for (int k = 0; k < AIRY_SUM_PLANES; k++)
        want->planes[k] = check_alloc(c, cells * sizeof(double));
    for (size_t i = 0; i < LONG_FRAMES; i++) {
        const size_t shape[3] = {1, HEIGHT, WIDTH}, sums_shape[3] = {1, AIRY_SUM_PLANES, LONG_BINS},
                     stats_shape[2] = {1, sizeof(airy_frame_stats)}, at = i * LONG_BINS;
        airy_array *frame = check_upload(c, AIRY_DTYPE_U32, 3, shape, pixels + i * PIXELS);
        airy_array *d_sums = check_output(c, AIRY_DTYPE_F64, 3, sums_shape);
        airy_array *d_stats = check_output(c, AIRY_DTYPE_U8, 2, stats_shape);
        CHECK_OK(c, airy_integrate(c->queue, d_sums, d_stats, integrator, frame));
        CHECK_OK(c, airy_array_pull(c->queue, sums, airy_array_size(d_sums), d_sums));
        CHECK_OK(c, airy_queue_finish(c->queue));
        if (i == LONG_BAD)
            memset(sums, 0, AIRY_SUM_PLANES * LONG_BINS * sizeof(double));
        CHECK_OK(c, airy_integrator_finish(integrator, sums, 1.0, want->intensity + at, NULL,
                                           want->sem + at));
        for (int k = 0; k < AIRY_SUM_PLANES; k++)
            memcpy(want->planes[k] + at, sums + (size_t)k * LONG_BINS, LONG_BINS * sizeof(double));
    }
}

static void check_dataset(struct check *c, const char *path, const char *name, airy_dtype dtype,
                          const void *want)
{
    static const struct check_tol same = {0};
    char dataset[600];
    snprintf(dataset, sizeof(dataset), "%s::/entry/integrate/%s", path, name);
    airy_image image = {0};
    if (!CHECK_OK(c, airy_image_read(&image, dataset)))
        return;
    if (CHECK(c, image.dtype == dtype && image.ndim == 2 && image.shape[0] == LONG_FRAMES &&
                     image.shape[1] == LONG_BINS))
        check_values(c, name, dtype, image.data, want, (size_t)LONG_FRAMES * LONG_BINS, &same);
    airy_image_free(&image);
}

/* A region of each row, to the last bit; NaN where the frame is bad. */
static void check_long_regions(struct check *c, const char *path, const struct long_rows *want,
                               const airy_integrator *integrator, const airy_roi *roi)
{
    static const char *const names[2] = {"roi_sum", "roi_mean"};
    airy_integrator_info axes;
    double *sums = check_alloc(c, AIRY_SUM_PLANES * LONG_BINS * sizeof(double)),
           *values[2] = {check_alloc(c, LONG_FRAMES * sizeof(double)),
                         check_alloc(c, LONG_FRAMES * sizeof(double))};
    CHECK_OK(c, airy_integrator_get_info(integrator, &axes));
    for (size_t i = 0; i < LONG_FRAMES; i++) {
        for (size_t k = 0; k < AIRY_SUM_PLANES; k++)
            memcpy(sums + k * LONG_BINS, want->planes[k] + i * LONG_BINS,
                   LONG_BINS * sizeof(double));
        values[0][i] = values[1][i] = NAN;
        if (i != LONG_BAD)
            CHECK_OK(c, airy_roi_sum(&values[0][i], &values[1][i], sums, &axes, roi));
    }
    for (size_t k = 0; k < 2; k++) {
        char dataset[600];
        airy_image image = {0};
        snprintf(dataset, sizeof(dataset), "%s::/entry/integrate/frame/%s", path, names[k]);
        if (CHECK_OK(c, airy_image_read(&image, dataset)))
            check_values(c, names[k], AIRY_DTYPE_F64, image.data, values[k], LONG_FRAMES,
                         &(struct check_tol){0});
        airy_image_free(&image);
    }
}

/*
 * Of long rows not all planes come back from a device; frames with a dummy, and bad ones, have
 * their own all the same. Decoded frames and chunks are summed alike here: all bits agree.
 */
static void check_long_rows(struct check *c)
{
    for (size_t batch = 1; batch <= 4; batch += 3) {
        if (!check_case(c, "pipeline_long_rows_batch%zu", batch))
            continue;
        const char *path = check_run_path(c, "stack.h5"), *out = check_run_path(c, "out.h5");
        uint32_t *pixels = check_run_frames(c, LONG_FRAMES);
        pixels[LONG_DUMMY * PIXELS + 700] = 1000000000;
        check_run_stack(c, path, pixels, LONG_FRAMES, LONG_BAD, FLIPPED);
        airy_integrator *integrator =
            make_integrator_of(c, c->device, AIRY_ERROR_MODEL_POISSON, LONG_BINS);
        airy_stack *stack = NULL;
        airy_run_info info;
        struct long_rows want;
        airy_integrator_info axes;
        CHECK_OK(c, airy_integrator_get_info(integrator, &axes));
        const double span = axes.upper - axes.lower;
        const airy_roi roi = {.radial = {axes.lower + 0.25 * span, axes.lower + 0.6 * span}};
        direct_long_rows(c, &want, integrator, pixels);
        if (CHECK_OK(c, airy_stack_create(&stack, &path, 1)) &&
            CHECK_OK(c, airy_integrate_stack(
                            out, stack, &integrator, 1,
                            &(airy_run_params){
                                .batch = batch, .skip_bad = true, .rois = &roi, .roi_count = 1},
                            &info)) &&
            CHECK(c, info.bad == 1)) {
            check_dataset(c, out, "result/intensity", AIRY_DTYPE_F32, want.intensity);
            check_dataset(c, out, "result/sem", AIRY_DTYPE_F32, want.sem);
            check_dataset(c, out, "merged/sum_signal", AIRY_DTYPE_F64,
                          want.planes[AIRY_SUM_SIGNAL]);
            check_dataset(c, out, "merged/sum_variance", AIRY_DTYPE_F64,
                          want.planes[AIRY_SUM_VARIANCE]);
            check_dataset(c, out, "merged/sum_normalization", AIRY_DTYPE_F64,
                          want.planes[AIRY_SUM_NORMALIZATION]);
            check_dataset(c, out, "merged/sum_normalization2", AIRY_DTYPE_F64,
                          want.planes[AIRY_SUM_NORMALIZATION2]);
            check_dataset(c, out, "merged/count", AIRY_DTYPE_F64,
                          want.planes[AIRY_SUM_COUNT_PLANE]);
            check_long_regions(c, out, &want, integrator, &roi);
        }
        airy_stack_destroy(&stack);
        airy_integrator_destroy(&integrator);
    }
}

/*
 * So many frames that batches are planned by some of them, and a few that are a hundred times larger
 * than those: more than a batch has room for.
 */
static void check_uneven(struct check *c)
{
    enum { FRAMES = 4200, PERIOD = 128, LARGE = 100 };
    if (!c->is_cpu || !check_case(c, "pipeline_uneven"))
        return;
    const char *path = check_run_path(c, "stack.h5"), *out = check_run_path(c, "out.h5");
    uint32_t *pixels = check_alloc(c, (size_t)FRAMES * PIXELS * sizeof(uint32_t));
    for (size_t i = 0; i < FRAMES; i++)
        for (size_t k = 0; k < PIXELS; k++)
            pixels[i * PIXELS + k] = i % PERIOD == LARGE ? (uint32_t)(check_rand_u64(c) % 900000000)
                                                         : (uint32_t)i;
    check_run_stack(c, path, pixels, FRAMES, FRAMES, SOUND);
    airy_integrator *integrator = make_integrator(c, AIRY_ERROR_MODEL_NONE);
    airy_stack *stack = NULL;
    airy_stack_info about;
    airy_run_info info;
    if (CHECK_OK(c, airy_stack_create(&stack, &path, 1)) &&
        CHECK_OK(c, airy_stack_get_info(stack, &about)) &&
        CHECK_OK(c, airy_integrate_stack(out, stack, &integrator, 1, NULL, &info))) {
        CHECK(c, about.max_chunk < 1000);
        CHECK(c, info.frames == FRAMES && info.bad == 0);
        check_file(c, out, direct_patterns(c, integrator, stack), FRAMES);
    }
    airy_stack_destroy(&stack);
    airy_integrator_destroy(&integrator);
}

/* Monitors that cannot be used are no part of the mean. */
static void check_monitor_mean(struct check *c)
{
    if (!check_case(c, "pipeline_monitor_mean"))
        return;
    const double bad[] = {0, -1, (double)NAN, HUGE_VAL, -HUGE_VAL};
    const double some[] = {2, 0, 4, (double)NAN, 6, -1, 8};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(c, !airy_monitor_is_usable(bad[i]));
    CHECK(c, airy_monitor_is_usable(5e-324) && airy_monitor_is_usable(1.7e308));
    CHECK(c, isnan(airy_monitor_mean(bad, 5, 1)) && isnan(airy_monitor_mean(bad, 0, 1)));
    CHECK(c, airy_monitor_mean(some, 7, 1) == 5 && airy_monitor_mean(some, 3, 2) == 4 &&
                 airy_monitor_mean(some, 2, 3) == 2);
}

void check_pipeline(struct check *c)
{
    check_monitor_mean(c);
    check_uneven(c);
    check_runs(c);
    check_long_rows(c);
    check_layouts(c);
    check_bad_frames(c);
    check_resume(c);
    check_resume_bad(c);
    check_memory_limits(c);
    check_errors(c);
    check_monitor(c);
    check_bad_monitor(c);
}
