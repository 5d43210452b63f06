/* Frames one after another: every format read and written, pipes, cut and odd files, refusals. */
#include "check.h"

#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "airy/error.h"
#include "airy/frames.h"
#include "airy/peaks_stack.h"
#include "airy/reduce_stack.h"
#include "airy/stack_write.h"

enum { FRAMES = 5, HEIGHT = 3, WIDTH = 7, COUNT = FRAMES * HEIGHT * WIDTH };

static void in_folder(char path[4300], struct check *c, const char *name)
{
    snprintf(path, 4300, "%s/%s", check_tmp(c), name);
}

static bool put_bytes(struct check *c, const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!CHECK(c, file != NULL))
        return false;
    const bool good = fwrite(bytes, 1, size, file) == size;
    return CHECK(c, fclose(file) == 0 && good);
}

/* All frames of a file that is read as a stack. */
static void check_reading(struct check *c, const char *path, const airy_stack_params *params,
                          airy_dtype dtype, const void *want)
{
    airy_stack *stack = NULL;
    airy_stack_info info;
    if (!CHECK_OK(c, airy_stack_create_with(&stack, &path, 1, params)))
        return;
    CHECK_OK(c, airy_stack_get_info(stack, &info));
    CHECK(c, info.frames == FRAMES && info.height == HEIGHT && info.width == WIDTH);
    CHECK(c, info.dtype == dtype && info.rest_bytes == 0);
    CHECK(c, airy_stack_uses(stack, path) && !airy_stack_uses(stack, "/"));
    const size_t size = HEIGHT * WIDTH * airy_dtype_size(dtype);
    uint8_t *got = check_alloc(c, COUNT * 8);
    for (size_t i = 0; i < FRAMES; i++)
        CHECK_OK(c, airy_stack_read(stack, i, got + i * size, size));
    check_values(c, path, dtype, got, want, COUNT, NULL);
    CHECK_FAILS(c, airy_stack_read(stack, FRAMES, got, size), AIRY_ERR_PARAM, "the stack has 5");
    airy_stack_destroy(&stack);
}

/* The frames of a file whose bytes say nothing, of these files only. */
static airy_status open_if_headerless(airy_stack **stack, const char *path,
                                      const airy_raw_frames *raw)
{
    return airy_stack_create_with(stack, &path, 1,
                                  &(airy_stack_params){.raw = raw, .raw_if_headerless = true});
}

/* What the writer makes is read by the reader, and by what reads whole images. */
static void check_format(struct check *c, const char *name, airy_dtype dtype)
{
    if (!check_case(c, "frames_%s_%s", name, airy_dtype_name(dtype)))
        return;
    char path[4300], file[32];
    snprintf(file, sizeof file, "a.%s", name);
    in_folder(path, c, file);
    void *data = check_alloc(c, COUNT * 8);
    check_rand(c, data, dtype, COUNT, 0, 200);
    const size_t frame = HEIGHT * WIDTH * airy_dtype_size(dtype);
    const airy_frame_writer_params params = {
        .dtype = dtype, .height = HEIGHT, .width = WIDTH, .configuration = "{\"a\": 1}"};
    airy_frame_writer *writer = NULL;
    const airy_status made = airy_frame_writer_create(&writer, path, &params);
    if (made == AIRY_ERR_UNSUPPORTED && strcmp(name, "tif") == 0) {
        check_skip(c, "a build without TIFF");
        return;
    }
    if (!CHECK_OK(c, made))
        return;
    CHECK_OK(c, airy_frame_writer_add(writer, data, 2));
    CHECK_OK(c, airy_frame_writer_add(writer, NULL, 0));
    CHECK_OK(c, airy_frame_writer_add(writer, (uint8_t *)data + 2 * frame, 3));
    CHECK(c, access(path, F_OK) != 0);
    CHECK_OK(c, airy_frame_writer_finish(writer));
    airy_frame_writer_destroy(&writer);
    check_reading(c, path, NULL, dtype, data);
    check_reading(
        c, path,
        &(airy_stack_params){.raw = &(airy_raw_frames){.height = 1}, .raw_if_headerless = true},
        dtype, data);
    airy_image image;
    if (CHECK_OK(c, airy_image_read(&image, path))) {
        CHECK(c, image.ndim == 3 && image.shape[0] == FRAMES && image.dtype == dtype);
        check_values(c, path, dtype, image.data, data, COUNT, NULL);
        airy_image_free(&image);
    }
    CHECK_FAILS(c, airy_frame_writer_create(&writer, path, &params), AIRY_ERR_EXISTS,
                "there already");
}

/* A file without a header, of a name that says another format. */
static void check_headerless(struct check *c)
{
    if (!check_case(c, "frames_headerless"))
        return;
    char path[4300];
    in_folder(path, c, "b.npy");
    int16_t *data = check_alloc(c, COUNT * sizeof(*data));
    check_rand(c, data, AIRY_DTYPE_I16, COUNT, -200, 200);
    const airy_frame_writer_params params = {
        .dtype = AIRY_DTYPE_I16, .height = HEIGHT, .width = WIDTH, .headerless = true};
    const size_t frame = COUNT / FRAMES;
    airy_frame_writer *writer = NULL;
    if (!CHECK_OK(c, airy_frame_writer_create(&writer, path, &params)))
        return;
    CHECK_OK(c, airy_frame_writer_add(writer, data, 3));
    CHECK_OK(c, airy_frame_writer_add(writer, data + 3 * frame, FRAMES - 3));
    CHECK(c, access(path, F_OK) != 0);
    CHECK_OK(c, airy_frame_writer_finish(writer));
    airy_frame_writer_destroy(&writer);
    int16_t *got = check_alloc(c, (COUNT + 1) * sizeof(*got));
    FILE *file = fopen(path, "rb");
    if (CHECK(c, file)) {
        CHECK(c, fread(got, sizeof(*got), COUNT + 1, file) == COUNT);
        CHECK(c, memcmp(got, data, COUNT * sizeof(*got)) == 0);
        fclose(file);
    }
}

static void check_raw(struct check *c)
{
    if (!check_case(c, "frames_raw"))
        return;
    char path[4300];
    in_folder(path, c, "a.raw");
    enum { HEADER = 5 };
    uint8_t *bytes = check_alloc(c, HEADER + 2 * COUNT + 2);
    check_rand(c, bytes, AIRY_DTYPE_U8, HEADER + 2 * COUNT + 2, 0, 256);
    const airy_raw_frames raw = {
        .dtype = AIRY_DTYPE_I16, .height = HEIGHT, .width = WIDTH, .offset = HEADER};
    const airy_stack_params params = {.raw = &raw, .raw_if_headerless = true, .raw_rest = true};
    int16_t *want = check_alloc(c, COUNT * sizeof(*want));
    memcpy(want, bytes + HEADER, COUNT * sizeof(*want));
    if (put_bytes(c, path, bytes, HEADER + 2 * COUNT))
        check_reading(c, path, &params, AIRY_DTYPE_I16, want);
    /* bytes behind the last whole frame, or of none */
    for (size_t frames = 0; frames < FRAMES; frames += FRAMES - 1) {
        airy_stack *stack = NULL;
        airy_stack_info info;
        const char *only = path;
        const size_t frame = 2 * HEIGHT * WIDTH;
        if (put_bytes(c, path, bytes, HEADER + frames * frame + 3) &&
            CHECK_OK(c, airy_stack_create_with(&stack, &only, 1, &params)) &&
            CHECK_OK(c, airy_stack_get_info(stack, &info)))
            CHECK(c, info.frames == frames && info.rest_bytes == 3 && info.headerless);
        CHECK_FAILS(c, airy_stack_read(stack, frames, bytes, frame), AIRY_ERR_PARAM, "has");
        airy_stack_destroy(&stack);
        CHECK_FAILS(c, airy_stack_create_raw(&stack, &only, 1, &raw), AIRY_ERR_FORMAT,
                    "a multiple of the 42");
    }
    airy_stack *stack = NULL;
    if (put_bytes(c, path, bytes, HEADER - 1))
        CHECK_FAILS(c, open_if_headerless(&stack, path, &raw), AIRY_ERR_FORMAT,
                    "4 bytes, less than the 5 of its header");
}

/* What is raw although a name or the first two bytes may mean a format, and what never is. */
static void check_stated(struct check *c)
{
    if (!check_case(c, "frames_stated"))
        return;
    static const struct {
        const char *name, *start;
    } raws[] = {{"a.npy", "pixels"}, {"a.tif", "pixels"}, {"a.edf", "{\n"},    {"b", "{\n"},
                {"c", "II*"},        {"a.cbf", "###CBF"}, {"a.gz", "\x1f\x8b"}};
    const airy_raw_frames raw = {.dtype = AIRY_DTYPE_U8, .height = 2, .width = 4},
                          none = {.height = 0};
    char path[4300];
    airy_stack *stack = NULL;
    airy_stack_info info;
    for (size_t i = 0; i < sizeof raws / sizeof *raws; i++) {
        uint8_t bytes[16] = "", got[8];
        memcpy(bytes, raws[i].start, strlen(raws[i].start));
        in_folder(path, c, raws[i].name);
        if (!put_bytes(c, path, bytes, 16) || !CHECK_OK(c, open_if_headerless(&stack, path, &raw)))
            return;
        CHECK_OK(c, airy_stack_get_info(stack, &info));
        CHECK(c, info.headerless && info.frames == 2);
        CHECK_OK(c, airy_stack_read(stack, 0, got, 8));
        CHECK(c, memcmp(got, bytes, 8) == 0);
        airy_stack_destroy(&stack);
        CHECK_FAILS(c, open_if_headerless(&stack, path, &none), AIRY_ERR_PARAM,
                    "a headerless file, whose frames must be described");
    }
    in_folder(path, c, "a.h5");
    if (put_bytes(c, path, "pixels", 6))
        CHECK_FAILS(c, open_if_headerless(&stack, path, &raw), AIRY_ERR_FORMAT, "HDF5");
    /* NPY by its first bytes, of one row */
    uint8_t row[4] = {1, 2, 3, 4}, got[4];
    airy_image image = {.dtype = AIRY_DTYPE_U8, .ndim = 1, .shape = {4}, .data = row};
    char other[4300];
    in_folder(path, c, "row.npy");
    in_folder(other, c, "row.tif");
    if (!CHECK_OK(c, airy_image_write(&image, path, true)) || !CHECK(c, rename(path, other) == 0) ||
        !CHECK_OK(c, open_if_headerless(&stack, other, &none)))
        return;
    CHECK_OK(c, airy_stack_get_info(stack, &info));
    CHECK(c, !info.headerless && info.frames == 1 && info.height == 1 && info.width == 4);
    CHECK_OK(c, airy_stack_read(stack, 0, got, 4));
    CHECK(c, memcmp(got, row, 4) == 0);
    airy_stack_destroy(&stack);
}

/* A pipe that holds these bytes and has no writer any more. */
static airy_status open_pipe(struct check *c, airy_stack **stack, const void *bytes, size_t size,
                             const airy_raw_frames *raw)
{
    char path[4300];
    in_folder(path, c, "pipe");
    if (access(path, F_OK) != 0)
        CHECK(c, mkfifo(path, 0600) == 0);
    FILE *both = fopen(path, "r+"); /* holds the pipe open until the stack is there */
    if (!CHECK(c, both != NULL))
        return AIRY_ERR_IO;
    CHECK(c, fwrite(bytes, 1, size, both) == size && !fflush(both));
    const char *only = path;
    const airy_status status =
        airy_stack_create_with(stack, &only, 1, &(airy_stack_params){.raw = raw, .pipe = true});
    fclose(both);
    CHECK(c, status != AIRY_OK || !airy_stack_uses(*stack, path));
    return status;
}

/* A pipe has no number of frames, and may end anywhere. */
static void check_pipe(struct check *c)
{
    if (!check_case(c, "frames_pipe"))
        return;
    enum { FRAME = HEIGHT * WIDTH };
    uint8_t *bytes = check_alloc(c, 4 + COUNT), got[FRAME];
    check_rand(c, bytes, AIRY_DTYPE_U8, 4 + COUNT, 0, 256);
    const airy_raw_frames raw = {
        .dtype = AIRY_DTYPE_U8, .height = HEIGHT, .width = WIDTH, .offset = 4};
    for (size_t cut = 0; cut < 2; cut++) {
        airy_stack *stack = NULL;
        airy_stack_info info;
        if (!CHECK_OK(c, open_pipe(c, &stack, bytes, 4 + COUNT - cut, &raw)))
            return;
        CHECK_OK(c, airy_stack_get_info(stack, &info));
        CHECK(c, info.is_pipe && info.headerless && info.frames == SIZE_MAX && info.files == 1);
        CHECK(c, info.height == HEIGHT && info.width == WIDTH && info.dtype == AIRY_DTYPE_U8);
        CHECK(c, strstr(info.dataset, "/pipe") && info.max_chunk == FRAME);
        CHECK_FAILS(c, airy_stack_read(stack, 1, got, FRAME), AIRY_ERR_PARAM,
                    "read once and in order: frame 0 is next");
        CHECK_FAILS(c, airy_stack_read(stack, 0, got, FRAME + 1), AIRY_ERR_PARAM, "size = 22");
        for (size_t i = 0; i < FRAMES - cut; i++) {
            CHECK_OK(c, airy_stack_read(stack, i, got, FRAME));
            CHECK(c, memcmp(got, bytes + 4 + i * FRAME, FRAME) == 0);
            CHECK_FAILS(c, airy_stack_read(stack, i, got, FRAME), AIRY_ERR_PARAM, "is next");
        }
        for (size_t again = 0; again < 2; again++)
            if (cut)
                CHECK_FAILS(c, airy_stack_read(stack, FRAMES - 1, got, FRAME), AIRY_ERR_CORRUPT,
                            "ends inside frame 4: 20 of 21 bytes; 4 whole frames came before it");
            else
                CHECK_FAILS(c, airy_stack_read(stack, FRAMES, got, FRAME), AIRY_ERR_ENDED,
                            "ends behind 5 frames");
        airy_stack_destroy(&stack);
    }
    airy_stack *stack = NULL;
    if (CHECK_OK(c, open_pipe(c, &stack, bytes, 3, &raw)))
        CHECK_FAILS(c, airy_stack_read(stack, 0, got, FRAME), AIRY_ERR_FORMAT, "its header");
    airy_stack_destroy(&stack);
}

/* A read that fails inside a header or a frame: what follows is never taken for a frame's begin. */
static void check_pipe_failing(struct check *c)
{
    if (!check_case(c, "frames_pipe_failing"))
        return;
    static const uint8_t bytes[] = {9, 9, 1, 2, 3, 4, 5, 6, 7, 8};
    const airy_raw_frames raw = {.dtype = AIRY_DTYPE_U8, .height = 1, .width = 4, .offset = 2};
    const char *const input = "-";
    airy_stack *stack = NULL;
    uint8_t got[4];
    int ends[2];
    const int kept = dup(STDIN_FILENO);
    if (!CHECK(c, pipe(ends) == 0))
        return;
    CHECK(c, fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 && dup2(ends[0], STDIN_FILENO) >= 0);
    CHECK_OK(c, airy_stack_create_with(&stack, &input, 1,
                                       &(airy_stack_params){.raw = &raw, .pipe = true}));
    if (stack) {
        CHECK(c, write(ends[1], bytes, 1) == 1);
        CHECK_FAILS(c, airy_stack_read(stack, 0, got, 4), AIRY_ERR_IO, "standard input");
        CHECK(c, write(ends[1], bytes + 1, 5) == 5);
        CHECK_OK(c, airy_stack_read(stack, 0, got, 4));
        CHECK(c, memcmp(got, bytes + 2, 4) == 0);
        CHECK(c, write(ends[1], bytes + 6, 2) == 2);
        CHECK_FAILS(c, airy_stack_read(stack, 1, got, 4), AIRY_ERR_IO, "standard input");
        CHECK(c, write(ends[1], bytes, 4) == 4);
        CHECK_FAILS(c, airy_stack_read(stack, 1, got, 4), AIRY_ERR_CORRUPT, "2 of 4 bytes");
    }
    airy_stack_destroy(&stack);
    dup2(kept, STDIN_FILENO);
    close(kept);
    close(ends[0]);
    close(ends[1]);
}

static bool count_down(void *left)
{
    return --*(int *)left == 0;
}

/* Big-endian pixels; a writer that falls silent; paths that are no pipes, or were not to be. */
static void check_pipe_ways(struct check *c)
{
    if (!check_case(c, "frames_pipe_ways"))
        return;
    static const uint8_t bytes[] = {1, 2, 3, 4, 5};
    const airy_raw_frames raw = {
        .dtype = AIRY_DTYPE_U16, .height = 1, .width = 1, .big_endian = true};
    airy_stack *stack = NULL;
    uint16_t got = 0;
    int left = 3;
    char path[4300];
    const char *only = path;
    in_folder(path, c, "pipe");
    airy_stack_params params = {.pipe = true, .stop = count_down, .stop_user = &left};
    if (!CHECK(c, mkfifo(path, 0600) == 0))
        return;
    FILE *both = fopen(path, "r+");
    if (!CHECK(c, both && fwrite(bytes, 1, 5, both) == 5 && !fflush(both)))
        return;
    CHECK_FAILS(c, airy_stack_create_with(&stack, &only, 1, &params), AIRY_ERR_PARAM,
                "must be described");
    params.raw = &(airy_raw_frames){.height = 0};
    CHECK_FAILS(c, airy_stack_create_with(&stack, &only, 1, &params), AIRY_ERR_PARAM, "0 x 0");
    params.raw = &raw;
    if (CHECK_OK(c, airy_stack_create_with(&stack, &only, 1, &params))) {
        for (size_t i = 0; i < 2; i++)
            CHECK(c, airy_stack_read(stack, i, &got, 2) == AIRY_OK && got == 0x102 + i * 0x202);
        CHECK_FAILS(c, airy_stack_read(stack, 2, &got, 2), AIRY_ERR_CORRUPT, "1 of 2 bytes");
        CHECK(c, left == 0);
    }
    airy_stack_destroy(&stack);
    fclose(both);
    CHECK_FAILS(c, airy_stack_create_raw(&stack, &only, 1, &raw), AIRY_ERR_IO, "is a pipe, not");
    only = "-";
    CHECK_FAILS(c, airy_stack_create_raw(&stack, &only, 1, &raw), AIRY_ERR_NOT_FOUND, "'-'");
    in_folder(path, c, "file");
    only = path;
    if (put_bytes(c, path, bytes, 4) &&
        CHECK_OK(c, airy_stack_create_with(&stack, &only, 1, &params)))
        CHECK(c, airy_stack_read(stack, 1, &got, 2) == AIRY_OK && got == 0x304);
    airy_stack_destroy(&stack);
}

/* Whatever needs frames in any order or their number refuses a pipe. */
static void check_pipe_refused(struct check *c)
{
    if (!check_case(c, "frames_pipe_refused"))
        return;
    const airy_raw_frames raw = {.dtype = AIRY_DTYPE_U8, .height = 1, .width = 1};
    const char *path = "/dev/null";
    airy_stack *stack = NULL;
    airy_stack_place place;
    airy_stack_meta meta;
    airy_frame_values *values;
    airy_stack_writer *writer = NULL;
    char text[100], out[4300];
    uint8_t pixel;
    double monitor;
    size_t count;
    in_folder(out, c, "out.h5");
    if (!CHECK_OK(c, airy_stack_create_with(&stack, &path, 1,
                                            &(airy_stack_params){.raw = &raw, .pipe = true})))
        return;
#define REFUSED(call)                                                                              \
    CHECK_FAILS(c, call, AIRY_ERR_UNSUPPORTED,                                                     \
                "'/dev/null' is a pipe, whose frames are read once and in order")
    REFUSED(airy_stack_count_unwritten(stack, &count));
    REFUSED(airy_stack_get_place(stack, 0, &place));
    REFUSED(airy_stack_where(stack, 0, text, sizeof(text)));
    REFUSED(airy_stack_get_meta(stack, &meta));
    REFUSED(airy_stack_hold_geometry(stack, AIRY_GEOMETRY_PIXELS, NULL));
    REFUSED(airy_stack_hold_like(stack, stack, AIRY_GEOMETRY_PIXELS, NULL));
    REFUSED(airy_stack_mask(stack, &pixel));
    REFUSED(airy_stack_monitor(stack, "/monitor", &monitor));
    REFUSED(airy_stack_values(&values, &count, stack, NULL, 0));
    REFUSED(airy_stack_reduce(&pixel, 1, stack, c->device, AIRY_PROJECT_MAX, NULL, NULL));
    REFUSED(airy_peaks_stack(NULL, stack, NULL, 0, NULL, NULL)); /* as whatever runs an engine */
    const airy_stack_writer_params params = {
        .dtype = AIRY_DTYPE_U8, .frames = 1, .height = 1, .width = 1};
    if (CHECK_OK(c, airy_stack_writer_create(&writer, out, &params)))
        REFUSED(airy_stack_writer_fill(writer, &(airy_stack_fill_params){.stack = stack}, NULL));
#undef REFUSED
    airy_stack_writer_destroy(&writer);
    airy_stack_destroy(&stack);
}

/* NPY whose rows are cut into frames, in either order of its elements, and of more axes. */
static void check_arrays(struct check *c)
{
    if (!check_case(c, "frames_npy_shapes"))
        return;
    char path[4300];
    in_folder(path, c, "a.npy");
    double *wide = check_alloc(c, COUNT * sizeof(*wide));
    check_rand(c, wide, AIRY_DTYPE_F64, COUNT, -1e6, 1e6);
    airy_image image = {
        .dtype = AIRY_DTYPE_F64, .ndim = 2, .shape = {FRAMES * HEIGHT, WIDTH}, .data = wide};
    const char *only = path;
    airy_stack *stack = NULL;
    if (CHECK_OK(c, airy_image_write(&image, path, true)))
        check_reading(c, path, &(airy_stack_params){.npy_height = HEIGHT}, AIRY_DTYPE_F64, wide);
    CHECK_FAILS(c, airy_stack_create_with(&stack, &only, 1, &(airy_stack_params){.npy_height = 4}),
                AIRY_ERR_SHAPE, "15 lines, expected a multiple of the 4");
    image = (airy_image){
        .dtype = AIRY_DTYPE_F64, .ndim = 4, .shape = {1, FRAMES, HEIGHT, WIDTH}, .data = wide};
    if (CHECK_OK(c, airy_image_write(&image, path, true))) /* the height is for two dimensions */
        check_reading(c, path, &(airy_stack_params){.npy_height = 2}, AIRY_DTYPE_F64, wide);
    /* A file of several frames stays open: where it has gone, its frames are there all the same. */
    if (CHECK_OK(c, airy_stack_create(&stack, &only, 1)) && CHECK(c, unlink(path) == 0))
        CHECK_OK(c, airy_stack_read(stack, 1, wide, sizeof(*wide) * HEIGHT * WIDTH));
    airy_stack_destroy(&stack);
}

/* Headers by hand: big-endian, Fortran order, and data that are not there. */
static void check_headers(struct check *c)
{
    if (!check_case(c, "frames_npy_headers"))
        return;
    char path[4300];
    in_folder(path, c, "a.npy");
    static const struct {
        const char *order, *fortran;
        size_t missing;
        const char *part;
    } cases[] = {{">", "False", 0, NULL},
                 {"<", "True", 0, NULL},
                 {"<", "False", 1, "209 bytes behind the header, its shape needs 210"}};
    uint16_t *want = check_alloc(c, COUNT * sizeof(*want));
    check_rand(c, want, AIRY_DTYPE_U16, COUNT, 0, 65535);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        uint8_t file[128 + 2 * COUNT];
        memset(file, ' ', 128);
        memcpy(file, "\x93NUMPY\1\0\x76\0", 10);
        const int n = snprintf((char *)file + 10, 117,
                               "{'descr': '%su2', 'fortran_order': %s, 'shape': (15, 7), }",
                               cases[k].order, cases[k].fortran);
        file[10 + n] = ' ';
        file[127] = '\n';
        const bool big = cases[k].order[0] == '>', fortran = cases[k].fortran[0] == 'T';
        for (size_t i = 0; i < COUNT; i++) {
            const size_t to = fortran ? i / WIDTH + i % WIDTH * FRAMES * HEIGHT : i;
            file[128 + 2 * to + !big] = (uint8_t)(want[i] >> 8);
            file[128 + 2 * to + big] = (uint8_t)want[i];
        }
        airy_stack *stack = NULL;
        if (!put_bytes(c, path, file, sizeof file - cases[k].missing))
            return;
        if (cases[k].part)
            CHECK_FAILS(c, open_if_headerless(&stack, path, &(airy_raw_frames){.height = 0}),
                        AIRY_ERR_FORMAT, cases[k].part);
        else
            check_reading(c, path, &(airy_stack_params){.npy_height = HEIGHT}, AIRY_DTYPE_U16,
                          want);
    }
}

/* What stands beside the frames of an HDF5 file. */
static void check_hdf5(struct check *c)
{
    if (!check_case(c, "frames_h5_layout"))
        return;
    char path[4300], where[4400];
    in_folder(path, c, "a.h5");
    static const double axis[WIDTH] = {0, 1.5, 3, 4.5, 6, 7.5, 9};
    const airy_frame_writer_params params = {.dtype = AIRY_DTYPE_F32,
                                             .height = HEIGHT,
                                             .width = WIDTH,
                                             .is_complex = true,
                                             .process = "oct",
                                             .signal = "complex",
                                             .signal_units = "1",
                                             .axis = axis,
                                             .axis_name = "depth",
                                             .axis_units = "um",
                                             .configuration = "{\"a\": 1}"};
    float *data = check_alloc(c, 2 * COUNT * sizeof(*data));
    check_rand(c, data, AIRY_DTYPE_F32, 2 * COUNT, -1, 1);
    airy_frame_writer *writer = NULL;
    if (!CHECK_OK(c, airy_frame_writer_create(&writer, path, &params)))
        return;
    CHECK_OK(c, airy_frame_writer_add(writer, data, FRAMES));
    CHECK_OK(c, airy_frame_writer_finish(writer));
    airy_frame_writer_destroy(&writer);
    airy_image image;
    snprintf(where, sizeof where, "%s::/entry/oct/result/complex", path);
    if (CHECK_OK(c, airy_image_read(&image, where))) {
        CHECK(c, image.ndim == 4 && image.shape[0] == FRAMES && image.shape[3] == 2);
        check_values(c, "complex", AIRY_DTYPE_F32, image.data, data, 2 * COUNT, NULL);
        airy_image_free(&image);
    }
    snprintf(where, sizeof where, "%s::/entry/oct/result/depth", path);
    if (CHECK_OK(c, airy_image_read(&image, where))) {
        check_values(c, "depth", AIRY_DTYPE_F64, image.data, axis, WIDTH, NULL);
        airy_image_free(&image);
    }
    static const char *const texts[][2] = {{"/entry/oct/configuration", "{\"a\": 1}"},
                                           {"/entry/oct/result@signal", "complex"},
                                           {"/entry/oct/result/depth@units", "um"},
                                           {"/entry/oct@default", "result"},
                                           {"/entry@default", "oct"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *text = NULL;
        if (CHECK_OK(c, airy_hdf5_text(&text, path, texts[i][0])))
            CHECK(c, strcmp(text, texts[i][1]) == 0);
        free(text);
    }
}

/* The first `size` bytes of a file are these. */
static void check_start(struct check *c, const char *path, const char *want, size_t size)
{
    char got[256] = "";
    FILE *file = fopen(path, "rb");
    if (!CHECK(c, file != NULL))
        return;
    CHECK(c, fread(got, 1, size, file) == size && memcmp(got, want, size) == 0);
    fclose(file);
}

/* What libhdf5 says of a dataset: a compound of two floats of `size` bytes, r and i, of this rank. */
static void check_compound(struct check *c, const char *path, const char *name, size_t size,
                           int rank)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), type = H5Dget_type(dataset),
                space = H5Dget_space(dataset);
    static const char *const names[] = {"r", "i"};
    CHECK(c, H5Tget_class(type) == H5T_COMPOUND && H5Tget_nmembers(type) == 2);
    CHECK(c, H5Tget_size(type) == 2 * size && H5Sget_simple_extent_ndims(space) == rank);
    for (unsigned i = 0; i < 2; i++) {
        char *member = H5Tget_member_name(type, i);
        const hid_t part = H5Tget_member_type(type, i);
        CHECK(c, member && strcmp(member, names[i]) == 0 && H5Tget_class(part) == H5T_FLOAT);
        CHECK(c, H5Tget_size(part) == size && H5Tget_member_offset(type, i) == i * size);
        H5free_memory(member);
        H5Tclose(part);
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(dataset);
    H5Fclose(file);
}

static void write_frames(struct check *c, const char *path, const airy_frame_writer_params *params,
                         const void *data)
{
    airy_frame_writer *writer = NULL;
    if (!CHECK_OK(c, airy_frame_writer_create(&writer, path, params)))
        return;
    CHECK_OK(c, airy_frame_writer_add(writer, data, 2));
    CHECK_OK(c, airy_frame_writer_add(writer,
                                      (const char *)data +
                                          4 * HEIGHT * WIDTH * airy_dtype_size(params->dtype),
                                      FRAMES - 2));
    CHECK_OK(c, airy_frame_writer_finish(writer));
    airy_frame_writer_destroy(&writer);
}

/* Files of complex numbers as other programs have them, read back, and refused where pixels are wanted. */
static void check_complex(struct check *c, airy_dtype dtype)
{
    const size_t size = airy_dtype_size(dtype);
    if (!check_case(c, "frames_complex_%s", airy_dtype_name(dtype)))
        return;
    static const char *const names[] = {"a.npy", "a.h5", "b.npy", "b.h5"};
    char path[4][4300], header[128];
    uint8_t *data = check_alloc(c, 2 * COUNT * size);
    check_rand(c, data, dtype, 2 * COUNT, -1, 1);
    const airy_frame_writer_params params = {
        .dtype = dtype, .height = HEIGHT, .width = WIDTH, .is_complex = true, .signal = "data"};
    for (int i = 0; i < 4; i++)
        in_folder(path[i], c, names[i]);
    for (int i = 0; i < 2; i++)
        write_frames(c, path[i], &params, data);
    for (int i = 0; i < 4; i++) { /* also those that were made of an image */
        airy_image image;
        airy_error error;
        airy_stack *stack = NULL;
        const char *only = path[i];
        if (!CHECK_OK(c, airy_image_read(&image, path[i])))
            return;
        CHECK(c, image.is_complex && image.dtype == dtype && image.ndim == 4);
        CHECK(c, image.shape[0] == FRAMES && image.shape[2] == WIDTH && image.shape[3] == 2);
        check_values(c, path[i], dtype, image.data, data, 2 * COUNT, NULL);
        if (i < 2)
            CHECK_OK(c, airy_image_write(&image, path[i + 2], false));
        else
            CHECK_FAILS(c, airy_image_write(&image, "a.fits", false), AIRY_ERR_UNSUPPORTED,
                        "FITS holds no complex numbers");
        image.shape[3] = 1;
        CHECK_FAILS(c, airy_image_write(&image, path[i], true), AIRY_ERR_SHAPE, "last axis of 2");
        airy_image_free(&image);
        CHECK_FAILS(c, airy_image_read_real(&image, path[i]), AIRY_ERR_UNSUPPORTED,
                    "complex numbers, expected real ones");
        airy_error_get(&error);
        CHECK(c, error.hint == AIRY_HINT_COMPLEX);
        CHECK_FAILS(c, airy_stack_create(&stack, &only, 1), AIRY_ERR_UNSUPPORTED,
                    "complex numbers");
    }
    /* NumPy: numpy.save of an array of that type begins with these bytes. */
    snprintf(header, sizeof header,
             "{'descr': '<c%zu', 'fortran_order': False, 'shape': (5, 3, 7), }", 2 * size);
    for (int i = 0; i < 4; i += 2) {
        char start[128] = "\x93NUMPY\1\0\x76";
        memcpy(start + 10, header, strlen(header));
        check_start(c, path[i], start, 10 + strlen(header));
    }
    check_compound(c, path[1], "/entry/frames/result/data", size, 3);
    check_compound(c, path[3], "/entry/data/data", size, 3);
}

/* The old form, for who needs it. */
static void check_pairs(struct check *c)
{
    if (!check_case(c, "frames_complex_as_pairs"))
        return;
    char path[4300];
    float *data = check_alloc(c, 2 * COUNT * sizeof(*data));
    check_rand(c, data, AIRY_DTYPE_F32, 2 * COUNT, -1, 1);
    const airy_frame_writer_params params = {.dtype = AIRY_DTYPE_F32,
                                             .height = HEIGHT,
                                             .width = WIDTH,
                                             .is_complex = true,
                                             .complex_as_pairs = true};
    static const char *const names[] = {"a.npy", "a.h5"};
    for (int i = 0; i < 2; i++) {
        airy_image image;
        in_folder(path, c, names[i]);
        write_frames(c, path, &params, data);
        if (!CHECK_OK(c, airy_image_read_real(&image, path)))
            return;
        CHECK(c, !image.is_complex && image.ndim == 4 && image.shape[3] == 2);
        check_values(c, path, AIRY_DTYPE_F32, image.data, data, 2 * COUNT, NULL);
        airy_image_free(&image);
    }
}

static void check_refusals(struct check *c)
{
    if (!check_case(c, "frames_refused"))
        return;
    char path[4300];
    in_folder(path, c, "none.raw");
    airy_frame_writer *writer = NULL;
    airy_frame_writer_params params = {.dtype = AIRY_DTYPE_U8, .height = 2, .width = 2};
    CHECK_FAILS(c, airy_frame_writer_create(&writer, path, &params), AIRY_ERR_UNSUPPORTED,
                "suffix of no format of frames");
    in_folder(path, c, "a.npy");
    CHECK_FAILS(c, airy_frame_writer_create(&writer, path, NULL), AIRY_ERR_PARAM, "missing");
    CHECK_FAILS(c, airy_frame_writer_create(&writer, "/nowhere/a.npy", &params), AIRY_ERR_IO,
                "cannot create");
    CHECK_FAILS(c, airy_frame_writer_create(&writer, "/nowhere/a.h5", &params), AIRY_ERR_IO,
                "nowhere");
    if (CHECK_OK(c, airy_frame_writer_create(&writer, path, &params)))
        CHECK_FAILS(c, airy_frame_writer_finish(writer), AIRY_ERR_PARAM, "no frame was added");
    CHECK_FAILS(c, airy_frame_writer_add(writer, NULL, 1), AIRY_ERR_PARAM, "no frames");
    airy_frame_writer_destroy(&writer);
    CHECK(c, access(path, F_OK) != 0);
    params.width = 0;
    CHECK_FAILS(c, airy_frame_writer_create(&writer, path, &params), AIRY_ERR_SHAPE, "2 x 0");
    params.dtype = AIRY_DTYPE_COUNT;
    CHECK_FAILS(c, airy_frame_writer_create(&writer, path, &params), AIRY_ERR_DTYPE, "not known");
    params = (airy_frame_writer_params){.height = 2, .width = 2, .is_complex = true};
    params.dtype = AIRY_DTYPE_U8;
    CHECK_FAILS(c, airy_frame_writer_create(&writer, path, &params), AIRY_ERR_DTYPE,
                "complex numbers of ");
    params.dtype = AIRY_DTYPE_F32;
    in_folder(path, c, "a.tif");
    CHECK_FAILS(c, airy_frame_writer_create(&writer, path, &params), AIRY_ERR_UNSUPPORTED,
                "TIFF holds no complex numbers");
    CHECK_FAILS(c, airy_frame_writer_finish(NULL), AIRY_ERR_PARAM, "no open writer");
    CHECK(c, airy_frame_writer_has_format("x.H5") && airy_frame_writer_has_format("y.tiff") &&
                 !airy_frame_writer_has_format("x.png") && !airy_frame_writer_has_format(NULL));
}

void check_frame_files(struct check *c)
{
    if (!c->is_cpu) /* files have no device */
        return;
    static const airy_dtype types[] = {AIRY_DTYPE_U8, AIRY_DTYPE_U16, AIRY_DTYPE_I16,
                                       AIRY_DTYPE_F32};
    for (size_t i = 0; i < 4; i++) {
        check_format(c, "npy", types[i]);
        check_format(c, "h5", types[i]);
        check_format(c, "tif", types[i]);
    }
    check_headerless(c);
    check_raw(c);
    check_stated(c);
    check_pipe(c);
    check_pipe_failing(c);
    check_pipe_ways(c);
    check_pipe_refused(c);
    check_arrays(c);
    check_headers(c);
    check_hdf5(c);
    check_complex(c, AIRY_DTYPE_F32);
    check_complex(c, AIRY_DTYPE_F64);
    check_pairs(c);
    check_refusals(c);
}
