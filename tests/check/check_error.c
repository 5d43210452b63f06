/* The record of a failure: filled, forwarded, carried across threads and queues, and rendered. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/codec.h"
#include "airy/image.h"
#include "airy/peaks.h"
#include "airy/pipeline.h"
#include "airy/ring.h"
#include "airy/stack.h"
#include "base/error.h"
#include "check_pipeline.h"
#include "core/objects.h"

/* The calling thread's record is this one; text: a part of its sentence. */
static bool is_record(struct check *c, int line, airy_status status, airy_subject subject,
                      const char *name, airy_hint hint, const char *text)
{
    airy_error error;
    airy_error_get(&error);
    const bool same = error.status == status && error.subject == subject &&
                      strcmp(error.name, name) == 0 && error.hint == hint &&
                      strstr(error.text, text) && strcmp(error.text, airy_last_error()) == 0;
    return same || check_failed(c, __FILE__, line, "%s, %s '%s', hint %d: %s",
                                airy_status_name(error.status), airy_subject_name(error.subject),
                                error.name, (int)error.hint, error.text);
}
#define RECORD(...) is_record(c, __LINE__, __VA_ARGS__)

static void check_record(struct check *c)
{
    if (!check_case(c, "error_record"))
        return;
    airy_error error;
    airy_error_clear();
    RECORD(AIRY_OK, AIRY_SUBJECT_NONE, "", AIRY_HINT_NONE, "");
    CHECK(c,
          airy_fail(AIRY_ERR_SHAPE, "taps width = %d, expected <= %d", 64, 63) == AIRY_ERR_SHAPE);
    RECORD(AIRY_ERR_SHAPE, AIRY_SUBJECT_NONE, "", AIRY_HINT_NONE,
           "taps width = 64, expected <= 63");
    CHECK(c, airy_fail_context(AIRY_ERR_SHAPE, "frame %d", 3) == AIRY_ERR_SHAPE);
    RECORD(AIRY_ERR_SHAPE, AIRY_SUBJECT_NONE, "", AIRY_HINT_NONE, "frame 3: taps width = 64, ");
    airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, "'%s' is short", "a.h5");
    RECORD(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, "a.h5", AIRY_HINT_FILE, "'a.h5' is short");
    airy_fail_as(AIRY_ERR_CORRUPT); /* the usual hint follows the status, another one stays */
    RECORD(AIRY_ERR_CORRUPT, AIRY_SUBJECT_FILE, "a.h5", AIRY_HINT_FETCH, "'a.h5' is short");
    airy_hinted(AIRY_HINT_GROWING, airy_fail_as(AIRY_ERR_IO));
    airy_fail_context(AIRY_ERR_FORMAT, "line %d", 2);
    RECORD(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, "a.h5", AIRY_HINT_GROWING, "line 2: 'a.h5' is");
    airy_fail_frame(AIRY_ERR_FORMAT, "a.h5 frame 7");
    RECORD(AIRY_ERR_FORMAT, AIRY_SUBJECT_FRAME, "a.h5 frame 7", AIRY_HINT_GROWING,
           "a.h5 frame 7: line 2: 'a.h5' is short");
    airy_error_get(&error);
    airy_fail(AIRY_ERR_MEMORY, "none left");
    RECORD(AIRY_ERR_MEMORY, AIRY_SUBJECT_NONE, "", AIRY_HINT_MEMORY, "none left");
    CHECK(c, airy_error_restore(&error) == AIRY_ERR_FORMAT);
    RECORD(AIRY_ERR_FORMAT, AIRY_SUBJECT_FRAME, "a.h5 frame 7", AIRY_HINT_GROWING, "line 2");
    /* A sentence of its own record, which is written meanwhile. */
    airy_fail(AIRY_ERR_IO, "again: %s", airy_last_error());
    RECORD(AIRY_ERR_IO, AIRY_SUBJECT_NONE, "", AIRY_HINT_ACCESS, "again: a.h5 frame 7: line 2");
    CHECK(c, strcmp(airy_subject_name((airy_subject)99), "none") == 0);
    CHECK(c, strcmp(airy_subject_name(AIRY_SUBJECT_DEVICE), "device") == 0);
}

/* Longer than what is kept: cut, not overrun. */
static void check_long(struct check *c)
{
    if (!check_case(c, "error_long"))
        return;
    airy_error error;
    char *many = check_alloc(c, 5000);
    memset(many, 'x', 4999);
    airy_fail_on(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "%s", many);
    airy_error_get(&error);
    CHECK_COUNT(c, strlen(error.text), AIRY_ERROR_TEXT - 1);
    CHECK_COUNT(c, strlen(error.name), AIRY_ERROR_NAME - 1);
    CHECK(c, airy_fail_path(AIRY_ERR_IO, many) == AIRY_ERR_IO && airy_last_error()[0] == 'x');
    airy_fail_frame(AIRY_ERR_IO, many);
    CHECK_COUNT(c, strlen(airy_last_error()), AIRY_ERROR_TEXT - 1);
    struct airy_kept_error *kept = airy_error_keep();
    airy_fail(AIRY_ERR_PARAM, "another");
    CHECK(c, kept && airy_error_raise(kept) == AIRY_ERR_IO);
    airy_error_get(&error);
    CHECK(c, error.subject == AIRY_SUBJECT_FRAME && strlen(error.name) == AIRY_ERROR_NAME - 1 &&
                 strlen(error.text) == AIRY_ERROR_TEXT - 1);
    free(kept);
    CHECK(c, airy_error_raise(NULL) == AIRY_ERR_MEMORY); /* it could not be kept */
    RECORD(AIRY_ERR_MEMORY, AIRY_SUBJECT_NONE, "", AIRY_HINT_MEMORY, "out of memory");
}

/* The file is named once, also by the name that it has until it is whole. */
static void check_path_once(struct check *c)
{
    static const struct {
        const char *name, *path;
        bool named;
    } cases[] = {
        {"e", "e", true},
        {"e", "the", false},
        {"dark.h5", "dark.h5", true},
        {"dark.h5.partial", "dark.h5", true},
        {"dark.h5.0123abcd.partial", "dark.h5", true},
        {"dark.h5.0123abcd.parts", "dark.h5", false},
        {"dark.h5.0123abcg.partial", "dark.h5", false},
        {"dark.h5x", "dark.h5", false},
        {"dark", "dark.h5", false},
    };
    if (!check_case(c, "error_path_once"))
        return;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        airy_fail_on(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "'%s' is full", cases[i].name);
        airy_fail_path(AIRY_ERR_IO, cases[i].path);
        char want[100];
        snprintf(want, sizeof(want), "'%s': '%s' is full", cases[i].path, cases[i].name);
        CHECK(c, strcmp(airy_last_error(),
                        cases[i].named ? want + strlen(cases[i].path) + 4 : want) == 0);
        RECORD(AIRY_ERR_IO, AIRY_SUBJECT_FILE, cases[i].named ? cases[i].name : cases[i].path,
               AIRY_HINT_ACCESS, "is full");
    }
    airy_fail(AIRY_ERR_IO, "'e' is full"); /* named, but nobody says that it is a file */
    airy_fail_path(AIRY_ERR_IO, "e");
    RECORD(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "e", AIRY_HINT_ACCESS, "'e': 'e' is full");
}

/* Ten failures of ten kinds, as a program meets them. */
static void check_ten(struct check *c)
{
    if (!check_case(c, "error_ten"))
        return;
    char folder[600], there[700], other[700];
    uint8_t byte = 7;
    airy_image image = {.data = &byte, .ndim = 2, .shape = {1, 1}, .dtype = AIRY_DTYPE_U8}, read;
    airy_stack *stack = NULL;
    airy_device *device = NULL;
    airy_ring *ring = NULL;
    airy_unit unit;
    airy_detector detector;
    snprintf(folder, sizeof(folder), "%s", check_tmp(c));
    snprintf(there, sizeof(there), "%s/there.npy", folder);
    snprintf(other, sizeof(other), "%s/nowhere.npy", folder);
    const char *paths[] = {there};
    CHECK_OK(c, airy_image_write(&image, there, false));
    CHECK(c, airy_image_write(&image, there, false) == AIRY_ERR_EXISTS);
    RECORD(AIRY_ERR_EXISTS, AIRY_SUBJECT_FILE, there, AIRY_HINT_OVERWRITE, "is there already");
    CHECK(c, airy_image_read(&read, other) == AIRY_ERR_NOT_FOUND);
    RECORD(AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_FILE, other, AIRY_HINT_PATH, "No such file");
    CHECK(c, airy_image_read(&read, folder) == AIRY_ERR_IO);
    RECORD(AIRY_ERR_IO, AIRY_SUBJECT_FILE, folder, AIRY_HINT_REGULAR, "is a folder");
    CHECK(c, airy_image_read(&read, "tcp://detector:31001") == AIRY_ERR_NOT_FOUND);
    RECORD(AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_FILE, "tcp://detector:31001", AIRY_HINT_STREAM,
           "No such file");
    snprintf(other, sizeof(other), "%s/text", folder);
    FILE *file = fopen(other, "w");
    CHECK(c, file && fputs("no frames\n", file) >= 0 && fclose(file) == 0);
    paths[0] = other;
    CHECK(c, airy_stack_create(&stack, paths, 1) == AIRY_ERR_FORMAT);
    RECORD(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, other, AIRY_HINT_RAW, "is of no known format");
    CHECK(c, airy_detector_find(&detector, "nosuch") == AIRY_ERR_NOT_FOUND);
    RECORD(AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_PARAMETER, "detector", AIRY_HINT_DETECTORS,
           "is unknown");
    airy_geometry geometry = {.dist = 0.1};
    double centers[195 * 487];
    CHECK_OK(c, airy_detector_find(&geometry.detector, "Pilatus100k"));
    CHECK(c, airy_geometry_centers(&geometry, AIRY_UNIT_Q_NM, centers) == AIRY_ERR_PARAM);
    RECORD(AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "unit", AIRY_HINT_WAVELENGTH,
           "unit 'q_nm^-1' needs a wavelength");
    geometry.dist = -1;
    CHECK(c, airy_geometry_centers(&geometry, AIRY_UNIT_TTH_DEG, centers) == AIRY_ERR_PARAM);
    RECORD(AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "distance", AIRY_HINT_NONE, "distance = -1 m");
    CHECK(c, airy_unit_parse(&unit, "furlongs") == AIRY_ERR_PARAM);
    RECORD(AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "unit", AIRY_HINT_NONE, "'furlongs' is unknown");
    CHECK(c, airy_device_create(&device, "cpu", &(airy_device_params){.threads = 100000}) ==
                 AIRY_ERR_PARAM);
    RECORD(AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "threads", AIRY_HINT_NONE, "threads = 100000");
    CHECK(c, airy_device_create(&device, "nosuch", NULL) == AIRY_ERR_DEVICE);
    RECORD(AIRY_ERR_DEVICE, AIRY_SUBJECT_DEVICE, "nosuch", AIRY_HINT_STATED, "there are: cpu");
    CHECK(c, airy_ring_open(&ring, "airy-nobody", 0) == AIRY_ERR_NOT_FOUND);
    airy_error error;
    airy_error_get(&error);
    CHECK(c, error.subject == AIRY_SUBJECT_ADDRESS && strstr(error.name, "airy-nobody") &&
                 error.hint == AIRY_HINT_PRODUCER);
    const airy_codec_params codec = {.codec = AIRY_CODEC_BSLZ4, .elem_size = 4};
    uint32_t pixels[64];
    CHECK(c, airy_decode(pixels, sizeof(pixels), "short", 5, &codec) == AIRY_ERR_CORRUPT);
    RECORD(AIRY_ERR_CORRUPT, AIRY_SUBJECT_NONE, "", AIRY_HINT_FETCH, "");
}

static void *fail_elsewhere(void *arg)
{
    (void)airy_hinted(AIRY_HINT_PORT, airy_fail_on(AIRY_ERR_IO, AIRY_SUBJECT_ADDRESS,
                                                   "%s: the other thread", "tcp://*:1"));
    airy_error_get(arg);
    return NULL;
}

/* A record stays in its thread, and what is copied may go to another one. */
static void check_threads(struct check *c)
{
    if (!check_case(c, "error_threads"))
        return;
    airy_error other = {.status = AIRY_OK}, first = {.status = AIRY_OK};
    pthread_t thread;
    airy_fail(AIRY_ERR_PARAM, "this thread");
    CHECK(c, pthread_create(&thread, NULL, fail_elsewhere, &other) == 0 &&
                 pthread_join(thread, NULL) == 0);
    RECORD(AIRY_ERR_PARAM, AIRY_SUBJECT_NONE, "", AIRY_HINT_NONE, "this thread");
    CHECK(c, airy_error_first(&first, AIRY_OK) == AIRY_OK);
    CHECK(c, airy_error_restore(&other) == AIRY_ERR_IO);
    RECORD(AIRY_ERR_IO, AIRY_SUBJECT_ADDRESS, "tcp://*:1", AIRY_HINT_PORT, "the other thread");
    CHECK(c, airy_error_first(&first, AIRY_ERR_IO) == AIRY_ERR_IO);
    airy_fail(AIRY_ERR_MEMORY, "a later one");
    CHECK(c, airy_error_first(&first, AIRY_ERR_MEMORY) == AIRY_ERR_IO);
    CHECK(c, airy_error_restore(&first) == AIRY_ERR_IO);
    RECORD(AIRY_ERR_IO, AIRY_SUBJECT_ADDRESS, "tcp://*:1", AIRY_HINT_PORT, "the other thread");
    /* Devices are opened by threads of their own. */
    airy_device **devices = NULL;
    size_t count = 0;
    CHECK(c, airy_device_create_all(&devices, &count, "cpu,nosuch", NULL) == AIRY_ERR_DEVICE);
    RECORD(AIRY_ERR_DEVICE, AIRY_SUBJECT_DEVICE, "nosuch", AIRY_HINT_STATED, "there are: cpu");
}

/* Work that fails after it was enqueued is reported by the next finish, once. */
static void check_queue(struct check *c)
{
    if (!check_case(c, "error_queue"))
        return;
    (void)airy_hinted(AIRY_HINT_CPU,
                      airy_fail_on(AIRY_ERR_DEVICE, AIRY_SUBJECT_DEVICE, "'%s' is lost", "gpu:7"));
    airy_queue_set_error(c->queue, AIRY_ERR_DEVICE);
    airy_fail(AIRY_ERR_PARAM, "meanwhile");
    airy_queue_set_error(c->queue, AIRY_ERR_PARAM);
    CHECK(c, airy_queue_finish(c->queue) == AIRY_ERR_DEVICE);
    RECORD(AIRY_ERR_DEVICE, AIRY_SUBJECT_DEVICE, "gpu:7", AIRY_HINT_CPU, "'gpu:7' is lost");
    CHECK_OK(c, airy_queue_finish(c->queue));
}

/* From a reader's thread over the writer's to the caller of the run. */
static void check_run(struct check *c)
{
    enum { FRAMES = 6, BAD = 3 };
    if (!check_case(c, "error_run"))
        return;
    airy_integrator *integrator = check_run_integrator(c, c->device, AIRY_ERROR_MODEL_NONE);
    airy_stack *stack = NULL;
    char path[700], out[700], where[700];
    snprintf(path, sizeof(path), "%s", check_run_path(c, "in.h5"));
    snprintf(out, sizeof(out), "%s", check_run_path(c, "out.h5"));
    check_run_stack(c, path, check_run_frames(c, FRAMES), FRAMES, BAD, FLIPPED);
    const char *paths[] = {path};
    if (integrator && CHECK_OK(c, airy_stack_create(&stack, paths, 1)) &&
        CHECK_OK(c, airy_stack_where(stack, BAD, where, sizeof(where)))) {
        airy_run_info info;
        const airy_status status = airy_integrate_stack(out, stack, &integrator, 1, NULL, &info);
        CHECK(c, status == AIRY_ERR_CORRUPT);
        RECORD(AIRY_ERR_CORRUPT, AIRY_SUBJECT_FRAME, where, AIRY_HINT_SKIP_RESUME, where);
        /* Nothing is kept to be resumed without a file. */
        CHECK(c, airy_integrate_stack(NULL, stack, &integrator, 1, NULL, NULL) == status);
        RECORD(AIRY_ERR_CORRUPT, AIRY_SUBJECT_FRAME, where, AIRY_HINT_SKIP, where);
    }
    airy_stack_destroy(&stack);
    airy_integrator_destroy(&integrator);
}

static bool nothing(void *user, char *text, size_t size, const char *name, const char *value)
{
    (void)user;
    (void)text;
    (void)size;
    (void)name;
    (void)value;
    return false;
}

static bool overlong(void *user, char *text, size_t size, const char *name, const char *value)
{
    (void)user;
    (void)name;
    (void)value;
    memset(text, 'x', size); /* without an end */
    return true;
}

static void check_hint(struct check *c, int line, airy_hint hint, airy_hint_style style,
                       const void *user, const char *want)
{
    char text[AIRY_HINT_TEXT];
    const size_t size = airy_hint_render(text, sizeof(text), hint, style, (void *)(uintptr_t)user);
    if (size != strlen(want) || strcmp(text, want) != 0)
        check_failed(c, __FILE__, line, "'%s', expected '%s'", text, want);
}
#define HINT(...) check_hint(c, __LINE__, __VA_ARGS__)

/* What hints name in C is there. */
enum {
    MEMBERS_OF_HINTS = sizeof((airy_run_params){.skip_bad = true, .resume = true, .force = true}) +
                       sizeof((airy_run_params){.batch = 1}) +
                       sizeof((airy_device_params){.memory_limit = 1, .threads = 1}) +
                       sizeof((airy_integrator_params){.bins = 1, .split = AIRY_SPLIT_NO}) +
                       sizeof((airy_peak_params){.max_pixels = 1, .max_peaks = 1}) +
                       sizeof((airy_stack_params){.raw = NULL})
};

static void check_hints(struct check *c)
{
    static const airy_hint_style styles[] = {airy_hint_keyword, airy_hint_c, nothing, overlong};
    static const char *const few[] = {"batch", "threads", "info()", NULL}, *const none[] = {NULL},
                             *const skips[] = {"on-error", NULL};
    char text[AIRY_HINT_TEXT], cut[8];
    if (!check_case(c, "error_hints"))
        return;
    /* Each hint says something in each interface, and shows no template. */
    for (int h = AIRY_HINT_STATED + 1; h < AIRY_HINT_COUNT; h++)
        for (size_t s = 0; s < sizeof(styles) / sizeof(styles[0]); s++) {
            const size_t size = airy_hint_render(text, sizeof(text), (airy_hint)h, styles[s], NULL);
            const bool some = size > 0 && size < sizeof(text) && strlen(text) == size;
            if (!some &&
                !(styles[s] == nothing &&
                  (h == AIRY_HINT_MAX_PIXELS || h == AIRY_HINT_MAX_PEAKS || h == AIRY_HINT_LATE)))
                check_failed(c, __FILE__, __LINE__, "hint %d, style %zu: '%s'", h, s, text);
            CHECK(c, strpbrk(text, "{}|?&") == NULL);
        }
    HINT(AIRY_HINT_OVERWRITE, airy_hint_keyword, NULL, "force=True overwrites it");
    HINT(AIRY_HINT_OVERWRITE, airy_hint_c, NULL, "force = true overwrites it");
    HINT(AIRY_HINT_FOLDER, airy_hint_c, NULL, "give a file");
    HINT(AIRY_HINT_SKIP, airy_hint_c, NULL, "skip_bad = true goes on without such frames");
    HINT(AIRY_HINT_SKIP_RESUME, airy_hint_keyword, skips, "fetch the file again");
    HINT(AIRY_HINT_RAW, airy_hint_c, NULL,
         "check the file, or describe its frames by airy_stack_params.raw");
    HINT(AIRY_HINT_MEMORY, airy_hint_c, NULL,
         "raise memory_limit, lower batch or threads, or choose another device");
    HINT(
        AIRY_HINT_MATRIX, airy_hint_c, NULL,
        "raise memory_limit, use fewer bins, split pixels less by AIRY_SPLIT_NO, or choose another "
        "device");
    HINT(AIRY_HINT_FOLLOW, airy_hint_c, NULL, "resume it by a live run without a number of frames");
    HINT(AIRY_HINT_FOLLOW, airy_hint_keyword, NULL, "resume it by follow=True");
    HINT(AIRY_HINT_OVERWRITE, airy_hint_c, few, "choose another name");
    HINT(AIRY_HINT_DATA_FRAMES, airy_hint_keyword, NULL,
         "put the whole file beside its master; on_error=\"skip\" goes on without such frames");
    HINT(AIRY_HINT_DATA_FRAMES, airy_hint_c, NULL,
         "put the whole file beside its master; skip_bad = true goes on without such frames");
    HINT(AIRY_HINT_DATA_FRAMES, airy_hint_c, skips,
         "put the whole file beside its master; \"on_error\" = \"skip\" goes on without such "
         "frames");
    HINT(AIRY_HINT_DATA_FRAMES, airy_hint_keyword, none, "put the whole file beside its master");
    HINT(AIRY_HINT_GROWING, airy_hint_keyword, NULL,
         "it may still be written, or its copy was cut");
    HINT(AIRY_HINT_GROWING_FRAMES, airy_hint_keyword, NULL,
         "it may still be written, or its copy was cut; on_error=\"skip\" goes on without such "
         "frames");
    HINT(AIRY_HINT_MEMORY, airy_hint_keyword, NULL,
         "raise memory_limit, lower batch or threads, or choose another device");
    HINT(AIRY_HINT_MATRIX, airy_hint_keyword, NULL,
         "raise memory_limit, use fewer bins, split pixels less by split=\"no\", or choose another "
         "device");
    HINT(AIRY_HINT_BINS, airy_hint_keyword, few, "use fewer bins, or a machine with more memory");
    HINT(AIRY_HINT_MEMORY, airy_hint_c, few, "lower \"batch\" or \"threads\"");
    HINT(AIRY_HINT_MEMORY, NULL, NULL, "use a machine with more memory, or smaller data");
    HINT(AIRY_HINT_WAVELENGTH, airy_hint_keyword, NULL, "give wavelength=L or energy=E");
    HINT(AIRY_HINT_NAME, airy_hint_keyword, few,
         "check the name (airy.info(FILE) lists what a file holds)");
    HINT(AIRY_HINT_NAME, airy_hint_c, NULL, "check the name");
    HINT(AIRY_HINT_DETECTORS, airy_hint_keyword, NULL, "airy.info(detectors=True) lists all");
    HINT(AIRY_HINT_STATED, airy_hint_keyword, NULL, "");
    HINT((airy_hint)-1, airy_hint_keyword, NULL, "");
    HINT(AIRY_HINT_COUNT, airy_hint_keyword, NULL, "");
    CHECK_COUNT(c, airy_hint_render(cut, sizeof(cut), AIRY_HINT_PATH, NULL, NULL), 14);
    CHECK(c, strcmp(cut, "check t") == 0);
    CHECK_COUNT(c, airy_hint_render(NULL, 0, AIRY_HINT_PATH, NULL, NULL), 14);
}

static void check_errno(struct check *c)
{
    static const struct {
        int error;
        airy_hint hint;
    } cases[] = {{ENOENT, AIRY_HINT_PATH},     {EACCES, AIRY_HINT_PERMISSIONS},
                 {ENOSPC, AIRY_HINT_SPACE},    {EDQUOT, AIRY_HINT_SPACE},
                 {EADDRINUSE, AIRY_HINT_PORT}, {ENOMEM, AIRY_HINT_MEMORY},
                 {EIO, AIRY_HINT_ACCESS},      {0, AIRY_HINT_ACCESS}};
    if (!check_case(c, "error_errno"))
        return;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CHECK(c, airy_hint_of_errno(cases[i].error) == cases[i].hint);
}

void check_error(struct check *c)
{
    if (c->is_cpu) {
        check_record(c);
        check_long(c);
        check_path_once(c);
        check_ten(c);
        check_threads(c);
        check_hints(c);
        check_errno(c);
    }
    check_queue(c);
    check_run(c);
}
