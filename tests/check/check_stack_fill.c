/* Frames into a stack by several threads: copied, made and lent; bad ones, limits and stops. */
#include "check_stack.h"

#include <glob.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/error.h"
#include "airy/stack_write.h"

enum { HEIGHT = 37, WIDTH = 41, PIXELS = HEIGHT * WIDTH, FRAME = PIXELS * 2, FRAMES = 11 };

static const char *tmp_path(struct check *c, const char *name)
{
    const char *folder = check_tmp(c);
    char *path = check_alloc(c, strlen(folder) + strlen(name) + 2);
    sprintf(path, "%s/%s", folder, name);
    return path;
}

/* Nothing that begins with this name is there. */
static bool nothing_left(const char *path)
{
    char pattern[1024];
    glob_t found;
    snprintf(pattern, sizeof(pattern), "%s*", path);
    const bool none = glob(pattern, 0, NULL, &found) == GLOB_NOMATCH;
    globfree(&found);
    return none;
}

/* A pixel of a frame. */
static uint16_t value_of(size_t frame, size_t pixel)
{
    return (uint16_t)(1000 * frame + pixel % (7 + frame));
}

/* Frames that are made, some of which fail. */
struct source {
    uint32_t bad;       /* one bit a frame */
    airy_status status; /* of those */
    bool silent;        /* no record of the failure is left */
    size_t period;      /* 0: none */
    atomic_size_t calls;
    uint16_t lent[PIXELS];
};

static airy_status make_frame(void *user, size_t frame, void *pixels)
{
    struct source *source = user;
    atomic_fetch_add(&source->calls, 1);
    if (source->bad >> frame & 1) {
        airy_error error = {.status = source->status};
        snprintf(error.text, sizeof(error.text), "number %zu is broken", frame);
        return source->silent ? source->status : airy_error_restore(&error);
    }
    for (size_t i = 0; i < PIXELS; i++)
        ((uint16_t *)pixels)[i] = value_of(source->period ? frame % source->period : frame, i);
    return AIRY_OK;
}

static const void *lend_frame(void *user, size_t frame)
{
    const struct source *source = user;
    return source->bad >> frame & 1 ? NULL : source->lent;
}

static airy_stack_writer_params format_of(size_t frames, airy_codec codec)
{
    return (airy_stack_writer_params){.dtype = AIRY_DTYPE_U16,
                                      .frames = frames,
                                      .height = HEIGHT,
                                      .width = WIDTH,
                                      .codec = {.codec = codec}};
}

/* Fill a stack, and finish it. */
static airy_status fill_stack(const char *path, const airy_stack_writer_params *format,
                              const airy_stack_fill_params *params, airy_stack_fill_info *info)
{
    airy_stack_writer *writer = NULL;
    airy_status status = airy_stack_writer_create(&writer, path, format);
    if (status == AIRY_OK)
        status = airy_stack_writer_fill(writer, params, info);
    if (status == AIRY_OK)
        status = airy_stack_writer_finish(writer);
    airy_stack_writer_destroy(&writer);
    return status;
}

/* Frame `row` of the stack is frame `frame` of the source; missing: it was never written. */
static bool check_row(struct check *c, const airy_stack *stack, size_t row, size_t frame,
                      bool missing)
{
    uint16_t got[PIXELS], want[PIXELS];
    for (size_t i = 0; i < PIXELS; i++)
        want[i] = value_of(frame, i);
    if (missing)
        return CHECK_FAILS(c, airy_stack_read(stack, row, got, FRAME), AIRY_ERR_UNWRITTEN,
                           "was never written");
    return CHECK_OK(c, airy_stack_read(stack, row, got, FRAME)) &&
           CHECK(c, memcmp(got, want, FRAME) == 0);
}

/* A stack of all frames of which some are missing. */
static bool check_filled(struct check *c, const char *path, uint32_t missing)
{
    airy_stack *stack = NULL;
    if (!CHECK_OK(c, stack_open(&stack, path)))
        return false;
    bool good = true;
    for (size_t row = 0; row < FRAMES; row++)
        good &= check_row(c, stack, row, row, missing >> row & 1);
    airy_stack_destroy(&stack);
    return good;
}

static void check_copy(struct check *c, airy_codec codec)
{
    if (!check_case(c, "stack_fill_copy_%s", airy_codec_name(codec)))
        return;
    struct source source = {.bad = 0};
    const char *from = tmp_path(c, "from.h5"), *to = tmp_path(c, "to.h5");
    const airy_stack_writer_params all = format_of(FRAMES, AIRY_CODEC_BSLZ4),
                                   some = format_of(3, codec);
    airy_stack_fill_info info;
    airy_stack *stack = NULL, *copy = NULL;
    airy_stack_fill_params params = {.make = make_frame, .source = &source, .threads = 4};
    CHECK_OK(c, fill_stack(from, &all, &params, &info));
    CHECK(c, info.frames == FRAMES && info.bad == 0 && info.files == 1 && info.threads == 4 &&
                 info.first_error[0] == 0 && info.stored_bytes > 0);
    check_filled(c, from, 0);
    if (!CHECK_OK(c, stack_open(&stack, from)))
        return;
    params = (airy_stack_fill_params){.stack = stack, .first = 2, .last = 9, .step = 3};
    CHECK_OK(c, fill_stack(to, &some, &params, NULL));
    if (CHECK_OK(c, stack_open(&copy, to)))
        for (size_t row = 0; row < 3; row++)
            check_row(c, copy, row, 2 + 3 * row, false);
    airy_stack_destroy(&copy);
    airy_stack_destroy(&stack);
}

struct heard {
    pthread_t caller;
    size_t count;
    char first[256];
    bool elsewhere, other_level;
};

static void hear(void *user, airy_log_level level, const char *text)
{
    struct heard *heard = user;
    heard->elsewhere |= !pthread_equal(pthread_self(), heard->caller);
    heard->other_level |= level != AIRY_LOG_WARN;
    if (strstr(text, "frame 3 "))
        snprintf(heard->first, sizeof(heard->first), "%s", text);
    heard->count++;
}

/* bits: frames that fail. With several files the first frame of one and all of another are among them. */
static void check_bad(struct check *c, size_t each, uint32_t bits)
{
    if (!check_case(c, "stack_fill_bad_%zu_%x", each, bits))
        return;
    struct source source = {.bad = bits, .status = AIRY_ERR_CORRUPT};
    const char *path = tmp_path(c, "out.h5"), *again = tmp_path(c, "again.h5");
    airy_stack_writer_params format = format_of(FRAMES, AIRY_CODEC_BSLZ4);
    format.frames_per_file = each;
    struct heard heard = {.caller = pthread_self()};
    airy_stack_fill_params params = {
        .make = make_frame, .source = &source, .threads = 4, .message = hear, .user = &heard};
    airy_stack_fill_info info;
    /* The lowest bad frame is told, whatever file and thread is first. */
    for (int k = 0; k < 20; k++)
        CHECK_FAILS(c, fill_stack(path, &format, &params, &info), AIRY_ERR_CORRUPT,
                    "number 3 is broken");
    CHECK(c, info.bad == 0 && info.frames < FRAMES && heard.count == 0);
    CHECK(c, nothing_left(path));
    params.skip_bad = true;
    const size_t bad = (size_t)__builtin_popcount(bits);
    CHECK_OK(c, fill_stack(path, &format, &params, &info));
    CHECK_COUNT(c, info.frames, FRAMES);
    CHECK_COUNT(c, info.bad, bad);
    CHECK_COUNT(c, info.first_bad, 3);
    CHECK_COUNT(c, info.files, each ? (FRAMES - 1) / each + 1 : 1);
    CHECK(c, strcmp(info.first_error, "number 3 is broken") == 0);
    CHECK(c, heard.count == bad && !heard.elsewhere && !heard.other_level);
    CHECK(c, strcmp(heard.first, "frame 3 was left out: number 3 is broken") == 0);
    check_filled(c, path, bits);
    /* A copy of what has missing frames has the same ones missing, or stops at the first. */
    airy_stack *stack = NULL;
    if (!CHECK_OK(c, stack_open(&stack, path)))
        return;
    params = (airy_stack_fill_params){.stack = stack, .threads = 1};
    CHECK_FAILS(c, fill_stack(again, &format, &params, &info), AIRY_ERR_UNWRITTEN, "frame ");
    params.skip_bad = true;
    CHECK_OK(c, fill_stack(again, &format, &params, &info));
    CHECK_COUNT(c, info.bad, bad);
    check_filled(c, again, bits);
    airy_stack_destroy(&stack);
}

/* What fails in a way that no skipping mends. */
static void check_failures(struct check *c)
{
    if (!check_case(c, "stack_fill_failures"))
        return;
    struct source source = {.bad = 1u << 5, .status = AIRY_ERR_DEVICE};
    const char *path = tmp_path(c, "out.h5");
    const airy_stack_writer_params format = format_of(FRAMES, AIRY_CODEC_LZ4);
    airy_stack_fill_params params = {.make = make_frame, .source = &source, .skip_bad = true};
    airy_stack_fill_info info;
    airy_error error;
    CHECK_FAILS(c, fill_stack(path, &format, &params, &info), AIRY_ERR_DEVICE,
                "number 5 is broken");
    source.silent = true;
    CHECK_FAILS(c, fill_stack(path, &format, &params, &info), AIRY_ERR_DEVICE,
                "frame 5 was not made");
    airy_error_get(&error);
    CHECK(c, error.subject == AIRY_SUBJECT_FRAME && strcmp(error.name, "5") == 0);
    params.make = NULL;
    params.lend = lend_frame;
    CHECK_FAILS(c, fill_stack(path, &format, &params, &info), AIRY_ERR_PARAM,
                "frame 5 was not lent");
    CHECK(c, info.frames < FRAMES && info.bad == 0 && nothing_left(path));
}

static bool stop_at_3(void *user, size_t done, size_t total)
{
    *(size_t *)user = total;
    return done < 3;
}

static void check_cancel(struct check *c)
{
    if (!check_case(c, "stack_fill_cancel"))
        return;
    struct source source = {.bad = 0};
    const char *path = tmp_path(c, "out.h5");
    size_t total = 0;
    airy_stack_writer_params format = format_of(FRAMES, AIRY_CODEC_BSLZ4);
    const airy_stack_fill_params params = {
        .make = make_frame, .source = &source, .threads = 3, .progress = stop_at_3, .user = &total};
    airy_stack_fill_info info;
    for (format.frames_per_file = 0; format.frames_per_file < 8; format.frames_per_file += 4) {
        CHECK_FAILS(c, fill_stack(path, &format, &params, &info), AIRY_ERR_CANCELLED,
                    "of 11 frames");
        CHECK(c, info.frames >= 3 && info.frames < FRAMES && total == FRAMES);
        CHECK(c, nothing_left(path));
    }
}

static void check_memory(struct check *c)
{
    if (!check_case(c, "stack_fill_memory"))
        return;
    struct source source = {.bad = 0, .period = 2};
    const char *path = tmp_path(c, "out.h5");
    airy_stack_writer_params format = format_of(FRAMES, AIRY_CODEC_BSLZ4);
    format.codec.elem_size = 2;
    const uint64_t each = FRAME + airy_encode_bound(FRAME, &format.codec) + 100;
    airy_stack_fill_params params = {.make = make_frame,
                                     .source = &source,
                                     .make_bytes = 100,
                                     .threads = 4,
                                     .memory_limit = each - 1};
    airy_stack_fill_info info;
    char text[128];
    airy_error error;
    snprintf(text, sizeof(text), "needs %llu bytes, the limit is %llu", (unsigned long long)each,
             (unsigned long long)each - 1);
    CHECK_FAILS(c, fill_stack(path, &format, &params, &info), AIRY_ERR_MEMORY, text);
    airy_error_get(&error);
    CHECK(c, error.subject == AIRY_SUBJECT_PARAMETER && error.hint == AIRY_HINT_MEMORY &&
                 strcmp(error.name, "memory_limit") == 0);
    CHECK(c, nothing_left(path));
    params.memory_limit = 3 * each - 1;
    CHECK_OK(c, fill_stack(path, &format, &params, &info));
    CHECK(c, info.threads == 2 && info.host_bytes == 2 * each);
    /* Chunks are kept only in what is left of the limit. */
    unlink(path);
    params.period = 2;
    params.memory_limit = each;
    atomic_store(&source.calls, 0);
    CHECK_OK(c, fill_stack(path, &format, &params, &info));
    CHECK(c, info.threads == 1 && atomic_load(&source.calls) == FRAMES);
    size_t size[2];
    const void *plain = stack_slurp(c, path, &size[0]);
    unlink(path);
    params.memory_limit = 0;
    params.threads = 1;
    atomic_store(&source.calls, 0);
    CHECK_OK(c, fill_stack(path, &format, &params, &info));
    CHECK(c, atomic_load(&source.calls) == 2);
    const void *kept = stack_slurp(c, path, &size[1]);
    CHECK(c, size[0] == size[1] && memcmp(plain, kept, size[0]) == 0);
}

/* The files do not depend on the threads; each frame is in the file where it belongs. */
static void check_files(struct check *c)
{
    if (!check_case(c, "stack_fill_files"))
        return;
    struct source source = {.bad = 0};
    airy_stack_writer_params format = format_of(FRAMES, AIRY_CODEC_BSLZ4);
    format.frames_per_file = 4;
    airy_stack_fill_params params = {.make = make_frame, .source = &source};
    airy_stack_fill_info info;
    const char *const path = tmp_path(c, "out_master.h5");
    const void *before[3];
    size_t sizes[3];
    for (unsigned threads = 1; threads < 8; threads += 3) {
        format.force = threads > 1;
        params.threads = threads;
        CHECK_OK(c, fill_stack(path, &format, &params, &info));
        CHECK(c, info.files == 3 && info.frames == FRAMES);
        check_filled(c, path, 0);
        for (int i = 0; i < 3; i++) {
            char *data = NULL;
            size_t size;
            CHECK_OK(c, airy_stack_data_path(&data, path, (size_t)i + 1));
            const void *bytes = stack_slurp(c, data, &size);
            free(data);
            CHECK(c, threads == 1 || (size == sizes[i] && memcmp(bytes, before[i], size) == 0));
            before[i] = bytes;
            sizes[i] = size;
        }
    }
}

static void hear_last(void *user, airy_log_level level, const char *text)
{
    if (level == AIRY_LOG_WARN)
        snprintf(user, 512, "%s", text);
}

/* A whole stack: the bits of fill_stack, what becomes of the stack before, and inputs that stay. */
static void check_write_file(struct check *c)
{
    if (!check_case(c, "stack_write_file"))
        return;
    char said[512] = "";
    struct source source = {.bad = 0};
    char *data[2] = {NULL};
    const char *by_hand = tmp_path(c, "hand.h5"), *path = tmp_path(c, "run_master.h5");
    const airy_stack_fill_params fill = {.make = make_frame, .source = &source, .user = said};
    airy_stack_write_params params = {
        .format = format_of(FRAMES, AIRY_CODEC_BSLZ4), .fill = fill, .message = hear_last};
    airy_stack_write_info info;
    size_t size[2];
    CHECK_OK(c, fill_stack(by_hand, &params.format, &fill, NULL));
    CHECK_OK(c, airy_stack_write_file(path, &params, &info));
    const void *want = stack_slurp(c, by_hand, &size[0]), *got = stack_slurp(c, path, &size[1]);
    CHECK(c, size[0] == size[1] && memcmp(want, got, size[0]) == 0);
    CHECK(c, info.fill.frames == FRAMES && info.files == 0 &&
                 info.decoded_bytes == FRAMES * FRAME &&
                 strstr(info.summary, "11 frames of 37 x 41 uint16, "));
    CHECK_FAILS(c, airy_stack_write_file(path, &params, &info), AIRY_ERR_EXISTS,
                "is there already");
    params.format.force = true;
    params.format.frames_per_file = 4;
    CHECK_OK(c, airy_stack_write_file(path, &params, &info));
    CHECK(c, info.files == 3 && !said[0] && strstr(info.summary, " in 3 files"));
    /* A data file of either stack is none that frames come from. */
    for (size_t i = 0; i < 2; i++)
        CHECK_OK(c, airy_stack_data_path(&data[i], path, i + 1));
    params.inputs = (const char *const *)&data[1];
    params.input_count = 1;
    params.format.frames_per_file = FRAMES;
    CHECK_FAILS(c, airy_stack_write_file(path, &params, &info), AIRY_ERR_PARAM, "would be lost");
    check_filled(c, path, 0);
    params.input_count = 0;
    CHECK_OK(c, airy_stack_write_file(path, &params, &info));
    CHECK(c, strstr(said, "removed 2 data files that only the stack before had, '") &&
                 strstr(said, "run_data_000002.h5' and on"));
    airy_stack *stack = NULL;
    CHECK_OK(c, stack_open(&stack, path));
    params.fill = (airy_stack_fill_params){.stack = stack, .user = said};
    CHECK_FAILS(c, airy_stack_write_file(data[0], &params, NULL), AIRY_ERR_PARAM,
                "is a file that frames are read from");
    airy_stack_destroy(&stack);
    free(data[0]);
    free(data[1]);
}

static void check_profile(struct check *c)
{
    if (!check_case(c, "stack_fill_profile"))
        return;
    static const char *const names[] = {"make_frame", "encode_frame", "write_frame"};
    struct source source = {.bad = 1, .status = AIRY_ERR_CORRUPT};
    airy_device *device = NULL;
    airy_profile_row *rows = NULL;
    size_t count = 0;
    const airy_device_params with = {.threads = 1, .profile = true};
    if (!CHECK_OK(c, airy_device_create(&device, "cpu", &with)))
        return;
    const airy_stack_writer_params format = format_of(FRAMES, AIRY_CODEC_BSLZ4);
    const airy_stack_fill_params params = {
        .make = make_frame, .source = &source, .skip_bad = true, .device = device};
    CHECK_OK(c, fill_stack(tmp_path(c, "out.h5"), &format, &params, NULL));
    CHECK_OK(c, airy_profile_get(device, &rows, &count));
    CHECK_COUNT(c, count, 3);
    for (size_t k = 0; k < 3; k++) {
        size_t at = 0;
        while (at < count && strcmp(rows[at].name, names[k]) != 0)
            at++;
        CHECK(c, at < count && rows[at].count == (k ? FRAMES - 1 : FRAMES));
    }
    airy_profile_free(rows);
    airy_device_destroy(&device);
}

static void check_refused(struct check *c)
{
    if (!check_case(c, "stack_fill_refused"))
        return;
    struct source source = {.bad = 0};
    const char *from = tmp_path(c, "from.h5"), *to = tmp_path(c, "to.h5");
    const airy_stack_writer_params format = format_of(FRAMES, AIRY_CODEC_NONE);
    airy_stack_fill_params make = {.make = make_frame, .source = &source}, copy, none = {.step = 1};
    airy_stack *stack = NULL;
    airy_stack_writer *writer = NULL;
    CHECK_OK(c, fill_stack(from, &format, &make, NULL));
    if (!CHECK_OK(c, stack_open(&stack, from)) ||
        !CHECK_OK(c, airy_stack_writer_create(&writer, to, &format)))
        return;
    copy = (airy_stack_fill_params){.stack = stack};
    CHECK_FAILS(c, airy_stack_writer_fill(writer, NULL, NULL), AIRY_ERR_PARAM, "params is NULL");
    CHECK_FAILS(c, airy_stack_writer_fill(NULL, &make, NULL), AIRY_ERR_PARAM, "no writer");
    CHECK_FAILS(c, airy_stack_writer_fill(writer, &none, NULL), AIRY_ERR_PARAM, "0 of stack, make");
    make.stack = stack;
    CHECK_FAILS(c, airy_stack_writer_fill(writer, &make, NULL), AIRY_ERR_PARAM, "2 of stack, make");
    copy.first = 1;
    CHECK_FAILS(c, airy_stack_writer_fill(writer, &copy, NULL), AIRY_ERR_PARAM,
                "frames: 11 from 1 on by 1, the source has 11");
    copy.first = 0;
    copy.last = FRAMES + 1;
    CHECK_FAILS(c, airy_stack_writer_fill(writer, &copy, NULL), AIRY_ERR_PARAM, "has 11");
    copy.last = 4;
    CHECK_FAILS(c, airy_stack_writer_fill(writer, &copy, NULL), AIRY_ERR_PARAM,
                "frames: 4 are chosen, the writer has 11");
    copy.step = SIZE_MAX;
    CHECK_FAILS(c, airy_stack_writer_fill(writer, &copy, NULL), AIRY_ERR_PARAM, "frames: 11");
    copy.last = copy.step = 0;
    CHECK_FAILS(c, airy_stack_writer_skip(NULL, 0), AIRY_ERR_PARAM, "no open writer");
    CHECK_FAILS(c, airy_stack_writer_skip(writer, FRAMES), AIRY_ERR_PARAM, "the stack has 11");
    CHECK_OK(c, airy_stack_writer_skip(writer, 4));
    CHECK_FAILS(c, airy_stack_writer_skip(writer, 4), AIRY_ERR_PARAM, "has its place already");
    CHECK_FAILS(c, airy_stack_writer_fill(writer, &copy, NULL), AIRY_ERR_PARAM,
                "frame 4 has its place already");
    airy_stack_writer_destroy(&writer);
    airy_stack_writer_params other = format;
    other.width = WIDTH + 1;
    CHECK_FAILS(c, fill_stack(to, &other, &copy, NULL), AIRY_ERR_SHAPE, "the writer's are 37 x 42");
    other = format;
    other.dtype = AIRY_DTYPE_I16;
    CHECK_FAILS(c, fill_stack(to, &other, &copy, NULL), AIRY_ERR_DTYPE,
                "the writer's are of int16");
    CHECK(c, nothing_left(to));
    airy_stack_destroy(&stack);
}

void check_stack_fill(struct check *c)
{
    check_copy(c, AIRY_CODEC_NONE);
    check_copy(c, AIRY_CODEC_BSLZ4);
    check_copy(c, AIRY_CODEC_LZ4);
    check_bad(c, 0, 1u << 3);
    check_bad(c, 0, 1u << 3 | 1u << 4 | 1u << 10);
    check_bad(c, 3, 1u << 3 | 1u << 4 | 1u << 5 | 1u << 9);
    check_bad(c, 1, 1u << 3 | 1u << 10);
    check_failures(c);
    check_cancel(c);
    check_memory(c);
    check_files(c);
    check_write_file(c);
    check_profile(c);
    check_refused(c);
}
