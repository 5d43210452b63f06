/*
 * Tunable sizes: the list, its limits, the table in the cache folder whatever its bytes are, and
 * that no result depends on them.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "airy/integrate.h"
#include "airy/oct.h"
#include "base/cache_file.h"
#include "check.h"
#include "core/objects.h"

static void reset(struct check *c)
{
    airy_tunable *list = NULL;
    size_t count = 0;
    if (!CHECK_OK(c, airy_tuning_list(c->device, &list, &count)))
        return;
    for (size_t i = 0; i < count; i++)
        CHECK_OK(c, airy_tuning_set(c->device, list[i].name, 0, AIRY_TUNING_DEFAULT));
    airy_tuning_list_free(list);
}

static void check_list(struct check *c)
{
    airy_tunable *list = NULL;
    size_t count = 0;
    reset(c);
    if (!CHECK_OK(c, airy_tuning_list(c->device, &list, &count)))
        return;
    CHECK(c, count >= 3 && (c->is_cpu || count >= 8));
    for (size_t i = 0; i < count; i++) {
        const airy_tunable *t = &list[i];
        CHECK(c, t->name[0] && t->unit[0] && t->what[0]);
        CHECK(c, 1 <= t->smallest && t->smallest <= t->standard && t->standard <= t->largest);
        CHECK(c, t->current == t->standard && t->source == AIRY_TUNING_DEFAULT);
        CHECK(c, t->value_count >= 1 && t->value_count <= AIRY_TUNABLE_VALUES);
        bool standard = false;
        for (uint32_t v = 0; v < t->value_count; v++) {
            CHECK(c, v == 0 || t->values[v - 1] < t->values[v]);
            CHECK_OK(c, airy_tuning_set(c->device, t->name, t->values[v], AIRY_TUNING_SET));
            standard |= t->values[v] == t->standard;
        }
        CHECK(c, standard);
        CHECK_FAILS(c, airy_tuning_set(c->device, t->name, t->largest + 1, AIRY_TUNING_SET),
                    AIRY_ERR_PARAM, t->name);
    }
    airy_tuning_list_free(list);
    reset(c);
    CHECK_FAILS(c, airy_tuning_set(c->device, "no_such.size", 1, AIRY_TUNING_SET),
                AIRY_ERR_NOT_FOUND, "no_such.size");
    CHECK_FAILS(c, airy_tuning_set(c->device, "pipeline.slots", 2, (airy_tuning_source)9),
                AIRY_ERR_PARAM, "source = 9");
    CHECK_FAILS(c, airy_tuning_set(c->device, NULL, 1, AIRY_TUNING_SET), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_tuning_list(c->device, NULL, &count), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_tuning_save(NULL), AIRY_ERR_PARAM, "NULL");
}

/* Every value is one that the device admits. */
static bool sound(const struct airy_tuning *tuning)
{
    for (size_t i = 0; i < AIRY_TUNE_COUNT; i++) {
        const struct airy_tune_entry *e = &tuning->entries[i];
        if (e->smallest && (e->current < e->smallest || e->current > e->largest))
            return false;
        if (!e->smallest && (e->current || e->source != AIRY_TUNING_DEFAULT))
            return false;
    }
    return true;
}

static void check_text(struct check *c)
{
    char text[AIRY_TUNING_TEXT];
    airy_tunable *list = NULL;
    size_t count = 0;
    reset(c);
    const struct airy_tuning fresh = c->device->tuning;
    CHECK(c, airy_tuning_print(&fresh, text) == 0 && text[0] == 0);
    if (!CHECK_OK(c, airy_tuning_list(c->device, &list, &count)))
        return;
    for (size_t i = 0; i < count; i++)
        CHECK_OK(c, airy_tuning_set(c->device, list[i].name, list[i].largest,
                                    i % 2 ? AIRY_TUNING_SET : AIRY_TUNING_MEASURED));
    const size_t size = airy_tuning_print(&c->device->tuning, text);
    struct airy_tuning back = fresh;
    CHECK(c, size == strlen(text) && airy_tuning_parse(&back, text, size) == count);
    CHECK(c, memcmp(&back, &c->device->tuning, sizeof(back)) == 0);
    for (size_t cut = 0; cut < size; cut++) {
        back = fresh;
        CHECK(c, airy_tuning_parse(&back, text, cut) <= count && sound(&back));
    }
    for (int round = 0; round < 4000; round++) {
        char damaged[AIRY_TUNING_TEXT];
        memcpy(damaged, text, size);
        for (uint64_t n = check_rand_u64(c) % 4 + 1; n > 0; n--)
            damaged[check_rand_u64(c) % size] = (char)check_rand_u64(c);
        back = fresh;
        (void)airy_tuning_parse(&back, damaged, size);
        CHECK(c, sound(&back));
    }
    airy_tuning_list_free(list);
    reset(c);
}

/* Lines about slots that are no entries; %s: the hash of this build. */
static void check_lines(struct check *c)
{
    static const char *const bad[] = {
        "",
        "pipeline.slots",
        "pipeline.slots 2",
        "pipeline.slots 2 measured",
        "pipeline.slots 2 measured %s more",
        "pipeline.slots 0 measured %s",
        "pipeline.slots 17 measured %s",
        "pipeline.slots -2 measured %s",
        "pipeline.slots 4294967298 measured %s",
        "pipeline.slots 99999999999999999999999999 measured %s",
        "pipeline.slots 2.5 measured %s",
        "pipeline.slots 2 default %s",
        "pipeline.slots 2 guessed %s",
        "pipeline.slots 2 measured 0123456789abcdef",
        "pipeline.slots 2 measured %s0",
        "pipeline.slots 2 measured %s 0",
        "pipeline.slots 2 measured %s 12x",
        "pipeline.slotspipeline.slotspipeline.slotspipeline.slotspipeline.slots 2 measured %s",
        "pipeline.none 2 measured %s",
    };
    reset(c);
    const struct airy_tuning fresh = c->device->tuning;
    char hash[32], line[512];
    snprintf(hash, sizeof(hash), "%016" PRIx64, fresh.entries[AIRY_TUNE_SLOTS].hash);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const char *mark = strstr(bad[i], "%s");
        struct airy_tuning tuning = fresh;
        snprintf(line, sizeof(line), "%.*s%s%s\n",
                 mark ? (int)(mark - bad[i]) : (int)strlen(bad[i]), bad[i], mark ? hash : "",
                 mark ? mark + 2 : "");
        if (airy_tuning_parse(&tuning, line, strlen(line)) != 0 ||
            memcmp(&tuning, &fresh, sizeof(fresh)) != 0)
            check_failed(c, __FILE__, __LINE__, "taken: %s", line);
    }
    struct airy_tuning tuning = fresh;
    snprintf(line, sizeof(line), "pipeline.slots 2 measured %s 1000000", hash);
    CHECK(c, airy_tuning_parse(&tuning, line, strlen(line)) == 1);
    static const struct {
        uint64_t pixels;
        bool holds;
    } frames[] = {
        {499999, false}, {500000, true}, {1000000, true}, {2000001, true}, {2000002, false}};
    const airy_device probe = {.tuning = tuning};
    for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
        const struct airy_tune_entry e = airy_tuned_for(&probe, AIRY_TUNE_SLOTS, frames[i].pixels);
        CHECK(c, e.current == (frames[i].holds ? 2 : fresh.entries[AIRY_TUNE_SLOTS].standard) &&
                     (e.source == AIRY_TUNING_MEASURED) == frames[i].holds);
    }
    tuning = fresh;
    snprintf(line, sizeof(line), "no entry\npipeline.slots 2 set %s\nnor this", hash);
    CHECK(c, airy_tuning_parse(&tuning, line, strlen(line)) == 1);
    CHECK(c, tuning.entries[AIRY_TUNE_SLOTS].current == 2 &&
                 tuning.entries[AIRY_TUNE_SLOTS].source == AIRY_TUNING_SET);
}

/* Slots of the device when it is opened again: 0 if it cannot be. */
static uint32_t reopened_slots(struct check *c)
{
    airy_device *device = NULL;
    uint32_t slots = 0;
    if (CHECK_OK(c, airy_device_create(&device, c->spec, NULL)))
        slots = airy_tuned(device, AIRY_TUNE_SLOTS);
    airy_device_destroy(&device);
    return slots;
}

static void write_bytes(struct check *c, const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (CHECK(c, file)) {
        CHECK(c, fwrite(data, 1, size, file) == size);
        fclose(file);
    }
}

/* The table in `folder`, which AIRY_CACHE_DIR names. */
static void check_table(struct check *c, const char *folder)
{
    char path[700], text[AIRY_TUNING_TEXT];
    const uint32_t standard = c->device->tuning.entries[AIRY_TUNE_SLOTS].standard;
    airy_tuning_path(c->device, path, sizeof(path));
    CHECK(c, strncmp(path, folder, strlen(folder)) == 0);
    CHECK_OK(c, airy_tuning_save(c->device)); /* all default: no file */
    CHECK(c, access(path, F_OK) != 0 && reopened_slots(c) == standard);
    CHECK_OK(c, airy_tuning_set(c->device, "pipeline.slots", 7, AIRY_TUNING_MEASURED));
    CHECK_OK(c, airy_tuning_save(c->device));
    CHECK(c, reopened_slots(c) == 7);

    struct stat info;
    CHECK(c, stat(path, &info) == 0 && (info.st_mode & 077) == 0);
    unsigned char *bytes = check_alloc(c, (size_t)info.st_size);
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(bytes, 1, (size_t)info.st_size, file) : 0;
    CHECK(c, size == (size_t)info.st_size);
    if (file)
        fclose(file);
    for (size_t cut = 0; cut < size; cut += size / 16 + 1) {
        write_bytes(c, path, bytes, cut);
        CHECK(c, reopened_slots(c) == standard);
    }
    bytes[size - 3] ^= 1;
    write_bytes(c, path, bytes, size);
    CHECK(c, reopened_slots(c) == standard);

    /* The right place, another driver's key. */
    const size_t length = airy_tuning_print(&c->device->tuning, text);
    const char *name = path + strlen(folder) + 1;
    const struct airy_cache_key other = {{1, 2}};
    CHECK(c, airy_cache_store(folder, name, other, text, length));
    CHECK(c, reopened_slots(c) == standard);
    CHECK_OK(c, airy_tuning_save(c->device)); /* takes its place */
    CHECK(c, reopened_slots(c) == 7);

    CHECK_OK(c, airy_tuning_set(c->device, "pipeline.slots", 0, AIRY_TUNING_SET));
    CHECK_OK(c, airy_tuning_save(c->device));
    CHECK(c, access(path, F_OK) != 0);
}

/* Files of the names of entries in a folder. */
static size_t count_entries(const char *folder)
{
    size_t count = 0;
    for (int i = 0; i < 6; i++) {
        char path[600];
        snprintf(path, sizeof(path), "%s/%016x.x", folder, i);
        count += access(path, F_OK) == 0;
    }
    return count;
}

/* What is no file of the cache, though named like one and the oldest, is not in the way. */
static void check_bound(struct check *c)
{
    const char *folder = check_tmp(c);
    char path[600];
    for (int i = 0; i < 6; i++) {
        const struct timespec times[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}};
        snprintf(path, sizeof(path), "%s/%016x.x", folder, i);
        if (i == 0)
            CHECK(c, mkdir(path, 0700) == 0);
        else
            write_bytes(c, path, "x", 1);
        CHECK(c, utimensat(AT_FDCWD, path, times, 0) == 0);
    }
    airy_cache_bound(folder, ".x", 2);
    CHECK(c, count_entries(folder) == 3 && access(path, F_OK) == 0);
}

static void check_file(struct check *c)
{
    const char *folder = check_tmp(c);
    char *before = getenv("AIRY_CACHE_DIR") ? strdup(getenv("AIRY_CACHE_DIR")) : NULL;
    char blocked[600];
    reset(c);
    setenv("AIRY_CACHE_DIR", folder, 1);
    check_table(c, folder);
    snprintf(blocked, sizeof(blocked), "%s/file", folder);
    write_bytes(c, blocked, "x", 1);
    snprintf(blocked, sizeof(blocked), "%s/file/cache", folder); /* holds for root too */
    setenv("AIRY_CACHE_DIR", blocked, 1);
    CHECK_OK(c, airy_tuning_set(c->device, "pipeline.slots", 7, AIRY_TUNING_SET));
    CHECK_FAILS(c, airy_tuning_save(c->device), AIRY_ERR_IO, "cannot be kept");
    CHECK(c, reopened_slots(c) == c->device->tuning.entries[AIRY_TUNE_SLOTS].standard);
    setenv("AIRY_CACHE_DIR", "none", 1);
    CHECK_FAILS(c, airy_tuning_save(c->device), AIRY_ERR_UNSUPPORTED, "AIRY_CACHE_DIR");
    char path[8] = "before";
    airy_tuning_path(c->device, path, sizeof(path));
    CHECK(c, path[0] == 0);
    reset(c);
    if (before)
        setenv("AIRY_CACHE_DIR", before, 1);
    else
        unsetenv("AIRY_CACHE_DIR");
    free(before);
}

enum { FRAMES = 9, BINS = 100 }; /* 9: a GPU sums some together */

/* What a device makes of the same data. */
struct outcome {
    double *sums, *frame_sums;
    airy_frame_stats *stats;
    void *pixels;
};

struct job {
    airy_dtype dtype;
    size_t height, width, frame_bytes;
    airy_codec_params codec;
    uint8_t *pixels;
    airy_integrator *integrator;
};

static bool open_job(struct check *c, struct job *job, uint32_t block_bytes)
{
    *job = (struct job){.dtype = AIRY_DTYPE_U32, .height = 211, .width = 389};
    const size_t count = job->height * job->width;
    job->frame_bytes = count * 4;
    job->codec =
        (airy_codec_params){.codec = AIRY_CODEC_BSLZ4, .elem_size = 4, .block_bytes = block_bytes};
    job->pixels = check_alloc(c, FRAMES * job->frame_bytes);
    check_rand(c, job->pixels, job->dtype, FRAMES * count, 0, 300);
    airy_geometry geometry = {.detector = {.name = "Detector", .pixel1 = 172e-6, .pixel2 = 172e-6},
                              .dist = 0.2,
                              .poni1 = 0.01,
                              .poni2 = 0.03,
                              .wavelength = 1e-10};
    geometry.detector.height = job->height;
    geometry.detector.width = job->width;
    const airy_integrator_params params = {
        .bins = BINS, .split = AIRY_SPLIT_FULL, .error_model = AIRY_ERROR_MODEL_POISSON};
    return CHECK_OK(c, airy_integrator_create(&job->integrator, c->device, &geometry, &params));
}

static airy_batch *fill_batch(struct check *c, const struct job *job)
{
    const size_t bound = airy_encode_bound(job->frame_bytes, &job->codec);
    void *chunk = check_alloc(c, bound);
    const airy_batch_params params = {.dtype = job->dtype,
                                      .height = job->height,
                                      .width = job->width,
                                      .codec = job->codec,
                                      .frames = FRAMES,
                                      .bytes = FRAMES * bound};
    airy_batch *batch = NULL;
    if (!CHECK_OK(c, airy_batch_create(&batch, c->device, &params)))
        return NULL;
    for (size_t i = 0; i < FRAMES; i++) {
        size_t size = bound;
        CHECK_OK(c, airy_encode(chunk, &size, job->pixels + i * job->frame_bytes, job->frame_bytes,
                                &job->codec));
        CHECK_OK(c, airy_batch_add(batch, chunk, size));
    }
    return batch;
}

static struct outcome run_job(struct check *c, const struct job *job)
{
    const size_t sums_shape[3] = {FRAMES, AIRY_SUM_PLANES, BINS};
    const size_t stats_shape[2] = {FRAMES, sizeof(airy_frame_stats)};
    const size_t frames_shape[3] = {FRAMES, job->height, job->width};
    const size_t sums_size = FRAMES * AIRY_SUM_PLANES * BINS * sizeof(double);
    const struct outcome out = {check_alloc(c, sums_size), check_alloc(c, sums_size),
                                check_alloc(c, FRAMES * sizeof(airy_frame_stats)),
                                check_alloc(c, FRAMES * job->frame_bytes)};
    airy_array *sums = check_output(c, AIRY_DTYPE_F64, 3, sums_shape),
               *stats = check_output(c, AIRY_DTYPE_U8, 2, stats_shape),
               *frames = check_output(c, job->dtype, 3, frames_shape),
               *status = check_output(c, AIRY_DTYPE_U32, 1, frames_shape);
    airy_batch *batch = fill_batch(c, job);
    CHECK_OK(c, airy_integrate_batch(c->queue, sums, stats, job->integrator, batch));
    CHECK_OK(c, airy_array_pull(c->queue, out.sums, sums_size, sums));
    CHECK_OK(c, airy_array_pull(c->queue, out.stats, FRAMES * sizeof(airy_frame_stats), stats));
    CHECK_OK(c, airy_decode_batch(c->queue, frames, status, batch));
    CHECK_OK(c, airy_array_pull(c->queue, out.pixels, FRAMES * job->frame_bytes, frames));
    CHECK_OK(c, airy_integrate(c->queue, sums, stats, job->integrator, frames));
    CHECK_OK(c, airy_array_pull(c->queue, out.frame_sums, sums_size, sums));
    CHECK_OK(c, airy_queue_finish(c->queue));
    airy_batch_destroy(&batch);
    return out;
}

static void compare(struct check *c, const char *setting, const struct outcome *got,
                    const struct outcome *want, size_t pixels_size)
{
    const size_t sums_size = FRAMES * AIRY_SUM_PLANES * BINS * sizeof(double);
    const bool same = memcmp(got->sums, want->sums, sums_size) == 0 &&
                      memcmp(got->frame_sums, want->frame_sums, sums_size) == 0 &&
                      memcmp(got->stats, want->stats, FRAMES * sizeof(airy_frame_stats)) == 0 &&
                      memcmp(got->pixels, want->pixels, pixels_size) == 0;
    if (!same)
        check_failed(c, __FILE__, __LINE__, "results differ with %s", setting);
}

/* Each size at its ends alone, then all at an end. */
static void check_results(struct check *c, uint32_t block_bytes)
{
    struct job job;
    airy_tunable *list = NULL;
    size_t count = 0;
    reset(c);
    if (!open_job(c, &job, block_bytes) ||
        !CHECK_OK(c, airy_tuning_list(c->device, &list, &count))) {
        airy_integrator_destroy(&job.integrator);
        return;
    }
    const struct outcome want = run_job(c, &job);
    CHECK(c, memcmp(want.pixels, job.pixels, FRAMES * job.frame_bytes) == 0);
    for (size_t i = 0; i <= count; i++) {
        for (int end = 0; end < 2; end++) {
            char setting[96];
            for (size_t k = 0; k < count; k++)
                if (k == i || i == count)
                    CHECK_OK(c, airy_tuning_set(c->device, list[k].name,
                                                end ? list[k].largest : list[k].smallest,
                                                AIRY_TUNING_SET));
            snprintf(setting, sizeof(setting), "the %s %s", end ? "largest" : "smallest",
                     i < count ? list[i].name : "of all");
            const struct outcome got = run_job(c, &job);
            compare(c, setting, &got, &want, FRAMES * job.frame_bytes);
            reset(c);
        }
    }
    airy_tuning_list_free(list);
    airy_integrator_destroy(&job.integrator);
}

/* Spectra with each of their sizes at both ends; so many lines that transforms do go together. */
static void check_spectra(struct check *c)
{
    airy_tunable *list = NULL;
    airy_oct *oct = NULL;
    airy_device_info info;
    size_t count = 0;
    if (!CHECK_OK(c, airy_device_get_info(c->device, &info)) ||
        !CHECK_OK(c, airy_tuning_list(c->device, &list, &count)))
        return;
    const airy_oct_params params = {.samples = 128,
                                    .lines = (size_t)8 * info.units + 3,
                                    .dtype = AIRY_DTYPE_U16,
                                    .window = AIRY_OCT_WINDOW_HANN,
                                    .axis = AIRY_OCT_AXIS_POLY,
                                    .poly = {0, 130, -3}};
    const size_t from[3] = {1, params.lines, 128}, to[3] = {1, params.lines, 64},
                 size = params.lines * 64 * sizeof(float);
    uint16_t *raw = check_alloc(c, params.lines * 128 * sizeof(*raw));
    float *want = check_alloc(c, size), *got = check_alloc(c, size);
    check_rand(c, raw, params.dtype, params.lines * 128, 0, 65535);
    airy_array *src = check_upload(c, params.dtype, 3, from, raw),
               *dst = check_output(c, AIRY_DTYPE_F32, 3, to);
    CHECK_OK(c, airy_oct_create(&oct, c->queue, &params));
    CHECK_OK(c, airy_oct_process(c->queue, oct, dst, src, NULL));
    CHECK_OK(c, airy_array_pull(c->queue, want, size, dst));
    CHECK_OK(c, airy_queue_finish(c->queue));
    for (size_t i = 0; i < 2 * count; i++) {
        const airy_tunable *t = &list[i / 2];
        if (strncmp(t->name, "oct_", 4) != 0)
            continue;
        const uint32_t value = i % 2 ? t->largest : t->smallest;
        CHECK_OK(c, airy_tuning_set(c->device, t->name, value, AIRY_TUNING_SET));
        CHECK_OK(c, airy_oct_process(c->queue, oct, dst, src, NULL));
        CHECK_OK(c, airy_array_pull(c->queue, got, size, dst));
        CHECK_OK(c, airy_queue_finish(c->queue));
        if (memcmp(got, want, size) != 0)
            check_failed(c, __FILE__, __LINE__, "results differ with %s = %u", t->name, value);
        reset(c);
    }
    airy_tuning_list_free(list);
    airy_oct_destroy(&oct);
}

/* What opening and compiling cost is told, and nothing where there is neither. */
static void check_start(struct check *c)
{
    airy_device *device = NULL;
    airy_queue *queue = NULL;
    airy_array *array = NULL;
    airy_start_info before = {0}, after = {0};
    const size_t shape[2] = {4, 4}, start[2] = {1, 1}, inner[2] = {2, 2};
    airy_array *box = NULL;
    CHECK_FAILS(c, airy_device_start(NULL, &before), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_device_start(c->device, NULL), AIRY_ERR_PARAM, "NULL");
    if (CHECK_OK(c, airy_device_create(&device, c->spec, NULL)) &&
        CHECK_OK(c, airy_queue_create(&queue, device)) &&
        CHECK_OK(c, airy_array_create(&array, device, AIRY_DTYPE_U16, 2, shape)) &&
        CHECK_OK(c, airy_array_view(&box, array, start, inner))) {
        CHECK_OK(c, airy_device_start(device, &before));
        CHECK_OK(c, airy_array_fill(queue, box, 7)); /* a kernel's work: there are gaps */
        CHECK_OK(c, airy_queue_finish(queue));
        CHECK_OK(c, airy_device_start(device, &after));
        CHECK(c, (before.context_seconds > 0) == !c->is_cpu && before.programs == 0);
        CHECK(c, after.programs == (c->is_cpu ? 0 : 1) && after.compiled <= after.programs);
        CHECK(c, (after.programs_seconds > 0) == !c->is_cpu);
    }
    airy_array_destroy(&box);
    airy_array_destroy(&array);
    airy_queue_destroy(&queue);
    airy_device_destroy(&device);
}

void check_tuning(struct check *c)
{
    if (check_case(c, "start_info"))
        check_start(c);
    if (check_case(c, "tuning_list"))
        check_list(c);
    if (check_case(c, "tuning_text_hostile"))
        check_text(c);
    if (check_case(c, "tuning_lines"))
        check_lines(c);
    if (check_case(c, "tuning_file"))
        check_file(c);
    if (check_case(c, "tuning_bound"))
        check_bound(c);
    if (check_case(c, "tuning_results_b8192"))
        check_results(c, 8192);
    if (check_case(c, "tuning_results_b32768"))
        check_results(c, 32768);
    if (check_case(c, "tuning_spectra"))
        check_spectra(c);
}
