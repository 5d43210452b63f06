/* Stacks of files that are not HDF5: each format against the frames it was made of. */
#include "check_stack.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codec/byte_offset.h"
#include "io/stack/source.h"

enum { FRAMES = 11, HEIGHT = 23, WIDTH = 37, PIXELS = HEIGHT * WIDTH };

static const char *path_of(struct check *c, const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = check_alloc(c, size);
    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

/* Counts with a few large ones, so that byte-offset has differences of all widths. */
static int32_t *make_frames(struct check *c)
{
    int32_t *frames = check_alloc(c, FRAMES * PIXELS * sizeof(*frames));
    check_rand(c, frames, AIRY_DTYPE_I32, FRAMES * PIXELS, 0, 90);
    for (size_t i = 0; i < FRAMES * PIXELS; i++)
        if (check_rand_u64(c) % 61 == 0)
            frames[i] = (int32_t)(check_rand_u64(c) >> 32 >> check_rand_u64(c) % 30);
    frames[0] = INT32_MAX;
    frames[1] = INT32_MIN;
    return frames;
}

static airy_image image_of(int32_t *frames, size_t count)
{
    airy_image image = {.dtype = AIRY_DTYPE_I32, .ndim = count > 1 ? 3 : 2, .data = frames};
    image.shape[0] = count;
    image.shape[image.ndim - 2] = HEIGHT;
    image.shape[image.ndim - 1] = WIDTH;
    return image;
}

/* All frames, by airy_stack_read and as the pipeline fetches them. */
static void compare_frames(struct check *c, const airy_stack *stack, const int32_t *frames,
                           size_t count)
{
    airy_stack_info info;
    int32_t pixels[PIXELS];
    if (!CHECK_OK(c, airy_stack_get_info(stack, &info)) || !CHECK(c, info.frames == count) ||
        !CHECK(c, info.height == HEIGHT && info.width == WIDTH && info.dtype == AIRY_DTYPE_I32))
        return;
    CHECK(c, info.path == AIRY_STACK_FILES);
    for (size_t i = 0; i < count; i++) {
        memset(pixels, 0xa5, sizeof(pixels));
        CHECK_OK(c, airy_stack_read(stack, i, pixels, sizeof(pixels)));
        check_values(c, "frame", AIRY_DTYPE_I32, pixels, frames + i * PIXELS, PIXELS, NULL);
        struct airy_frame_source source;
        airy_stack_source(stack, i, &source);
        CHECK(c, source.size == sizeof(pixels));
        memset(pixels, 0xa5, sizeof(pixels));
        CHECK_OK(c, airy_stack_fetch(stack, i, pixels, sizeof(pixels)));
        check_values(c, "fetched frame", AIRY_DTYPE_I32, pixels, frames + i * PIXELS, PIXELS, NULL);
    }
}

static void check_path(struct check *c, const char *path, const int32_t *frames, size_t count)
{
    airy_stack *stack = NULL;
    if (CHECK_OK(c, stack_open(&stack, path)))
        compare_frames(c, stack, frames, count);
    airy_stack_destroy(&stack);
}

/* One file of all frames. */
static void check_one_file(struct check *c, const char *suffix)
{
    char name[32];
    if (!check_case(c, "stack_files_one%s", suffix))
        return;
    int32_t *frames = make_frames(c);
    const airy_image image = image_of(frames, FRAMES);
    snprintf(name, sizeof(name), "all%s", suffix);
    const char *path = path_of(c, check_tmp(c), name);
    CHECK_OK(c, airy_image_write(&image, path, true));
    check_path(c, path, frames, FRAMES);
}

/* One file a frame, numbers of one to two digits: a pattern sorts them by number. */
static void check_series(struct check *c, const char *suffix)
{
    if (!check_case(c, "stack_files_series%s", suffix))
        return;
    int32_t *frames = make_frames(c);
    const char *folder = check_tmp(c);
    char name[48];
    for (size_t i = 0; i < FRAMES; i++) {
        const airy_image image = image_of(frames + i * PIXELS, 1);
        snprintf(name, sizeof(name), "run_%zu%s", i + 3, suffix);
        CHECK_OK(c, airy_image_write(&image, path_of(c, folder, name), true));
    }
    snprintf(name, sizeof(name), "run_*%s", suffix);
    check_path(c, path_of(c, folder, name), frames, FRAMES);
    snprintf(name, sizeof(name), "run_#%s", suffix);
    check_path(c, path_of(c, folder, name), frames, FRAMES);
    snprintf(name, sizeof(name), "run_##%s", suffix); /* from 10 on */
    check_path(c, path_of(c, folder, name), frames + 7 * PIXELS, FRAMES - 7);
    snprintf(name, sizeof(name), "run_1[01]%s", suffix);
    check_path(c, path_of(c, folder, name), frames + 7 * PIXELS, 2);
}

static void check_npy_orders(struct check *c)
{
    if (!check_case(c, "stack_files_npy_orders"))
        return;
    int32_t *frames = make_frames(c);
    int32_t *other = check_alloc(c, 128 + FRAMES * PIXELS * sizeof(*other));
    for (int fortran = 0; fortran < 2; fortran++) {
        char *text = (char *)other;
        memset(text, ' ', 128);
        memcpy(text, "\x93NUMPY\x01\x00\x76\x00", 10);
        const int used = snprintf(
            text + 10, 118, "{'descr': '%ci4', 'fortran_order': %s, 'shape': (%d, %d, %d), }",
            fortran ? '<' : '>', fortran ? "True" : "False", FRAMES, HEIGHT, WIDTH);
        text[10 + used] = ' ';
        text[127] = '\n';
        int32_t *to = other + 32;
        for (size_t i = 0; i < FRAMES * PIXELS; i++) {
            const size_t f = i / PIXELS, y = i / WIDTH % HEIGHT, x = i % WIDTH;
            if (fortran)
                to[f + FRAMES * (y + HEIGHT * x)] = frames[i];
            else
                to[i] = (int32_t)__builtin_bswap32((uint32_t)frames[i]);
        }
        check_path(c, stack_spill(c, "o.npy", other, 128 + FRAMES * PIXELS * 4), frames, FRAMES);
    }
}

/* The name says gzip, the bytes are plain, in an order that only the whole file gives. */
static void check_not_packed(struct check *c)
{
    if (!check_case(c, "stack_files_not_packed"))
        return;
    int32_t *frames = make_frames(c);
    int32_t *other = check_alloc(c, 128 + 2 * PIXELS * sizeof(*other));
    for (size_t count = 1; count <= 2; count++) {
        char *text = (char *)other, shape[40] = "2, ";
        memset(text, ' ', 128);
        memcpy(text, "\x93NUMPY\x01\x00\x76\x00", 10);
        const int used = snprintf(text + 10, 118,
                                  "{'descr': '<i4', 'fortran_order': True, 'shape': (%s%d, %d), }",
                                  count > 1 ? shape : "", HEIGHT, WIDTH);
        text[10 + used] = ' ';
        text[127] = '\n';
        for (size_t i = 0; i < count * PIXELS; i++)
            other[32 + i / PIXELS + count * (i / WIDTH % HEIGHT + HEIGHT * (i % WIDTH))] =
                frames[i];
        const char *path = stack_spill(c, "plain.npy.gz", other, 128 + count * PIXELS * 4);
        check_path(c, path, frames, count);
        airy_image image = {0};
        if (CHECK_OK(c, airy_image_read(&image, path)))
            check_values(c, "image", AIRY_DTYPE_I32, image.data, frames, count * PIXELS, NULL);
        airy_image_free(&image);
    }
}

/* bytes as one stored block of gzip, which is all its format needs up to 65535 of them. */
static const char *spill_packed(struct check *c, const char *name, const uint8_t *bytes,
                                size_t size)
{
    static const uint8_t start[11] = {0x1f, 0x8b, 8, [10] = 1};
    uint8_t *file = check_alloc(c, size + 23);
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    const uint16_t lengths[2] = {(uint16_t)size, (uint16_t)~size};
    const uint32_t ends[2] = {~crc, (uint32_t)size};
    memcpy(file, start, 11);
    memcpy(file + 11, lengths, 4);
    memcpy(file + 15, bytes, size);
    memcpy(file + 15 + size, ends, 8);
    return stack_spill(c, name, file, size + 23);
}

/* A single packed frame behind a file of several. */
static void check_packed(struct check *c)
{
    if (!check_case(c, "stack_files_packed"))
        return;
    int32_t *frames = make_frames(c);
    const char *paths[3] = {path_of(c, check_tmp(c), "three.npy")};
    const airy_image three = image_of(frames, 3);
    CHECK_OK(c, airy_image_write(&three, paths[0], true));
    for (size_t i = 1; i < 3; i++) {
        const airy_image one = image_of(frames + (2 + i) * PIXELS, 1);
        const char *plain = path_of(c, check_tmp(c), "one.npy");
        size_t size = 0;
        CHECK_OK(c, airy_image_write(&one, plain, true));
        const uint8_t *bytes = stack_slurp(c, plain, &size);
        paths[i] = spill_packed(c, i == 1 ? "a.npy.gz" : "b.npy.gz", bytes, size);
        check_path(c, paths[i], frames + (2 + i) * PIXELS, 1);
    }
    airy_stack *stack = NULL;
    if (CHECK_OK(c, airy_stack_create(&stack, paths, 3)))
        compare_frames(c, stack, frames, 5);
    airy_stack_destroy(&stack);
}

static void check_raw(struct check *c)
{
    if (!check_case(c, "stack_files_raw"))
        return;
    int32_t *frames = make_frames(c);
    const size_t bytes = FRAMES * PIXELS * 4;
    uint8_t *file = check_alloc(c, 7 + bytes);
    airy_raw_frames raw = {.dtype = AIRY_DTYPE_I32, .height = HEIGHT, .width = WIDTH, .offset = 7};
    airy_stack *stack = NULL;
    for (int big = 0; big < 2; big++) {
        for (size_t i = 0; i < FRAMES * PIXELS; i++) {
            const uint32_t v = big ? __builtin_bswap32((uint32_t)frames[i]) : (uint32_t)frames[i];
            memcpy(file + 7 + 4 * i, &v, 4);
        }
        const char *path = stack_spill(c, "raw.bin", file, 7 + bytes);
        raw.big_endian = big != 0;
        if (CHECK_OK(c, airy_stack_create_raw(&stack, &path, 1, &raw)))
            compare_frames(c, stack, frames, FRAMES);
        airy_stack_destroy(&stack);
    }
    const char *cut = stack_spill(c, "cut.bin", file, 6 + bytes);
    CHECK_FAILS(c, airy_stack_create_raw(&stack, &cut, 1, &raw), AIRY_ERR_FORMAT, "a multiple of");
    raw.offset = 1 << 20;
    CHECK_FAILS(c, airy_stack_create_raw(&stack, &cut, 1, &raw), AIRY_ERR_FORMAT, "of its header");
    raw.width = 0;
    CHECK_FAILS(c, airy_stack_create_raw(&stack, &cut, 1, &raw), AIRY_ERR_PARAM, "23 x 0");
    raw.width = SIZE_MAX;
    CHECK_FAILS(c, airy_stack_create_raw(&stack, &cut, 1, &raw), AIRY_ERR_PARAM, "expected a size");
    CHECK_FAILS(c, airy_stack_create_raw(&stack, &cut, 1, NULL), AIRY_ERR_PARAM, "raw is NULL");
}

/* HDF5 and other files in one stack, and those that do not fit each other. */
static void check_mixed(struct check *c)
{
    if (!check_case(c, "stack_files_mixed"))
        return;
    int32_t *frames = make_frames(c);
    const char *folder = check_tmp(c);
    const char *const paths[] = {path_of(c, folder, "a.cbf"), path_of(c, folder, "b.h5"),
                                 path_of(c, folder, "c.npy"), path_of(c, folder, "d.edf")};
    const airy_image parts[] = {image_of(frames, 1), image_of(frames + PIXELS, 3),
                                image_of(frames + 4 * PIXELS, 6),
                                image_of(frames + 10 * PIXELS, 1)};
    airy_stack *stack = NULL;
    airy_stack_info info;
    int32_t pixels[PIXELS];
    for (size_t i = 0; i < 4; i++)
        CHECK_OK(c, airy_image_write(&parts[i], paths[i], true));
    if (CHECK_OK(c, airy_stack_create(&stack, paths, 4)) &&
        CHECK_OK(c, airy_stack_get_info(stack, &info)) && CHECK(c, info.frames == FRAMES))
        for (size_t i = 0; i < FRAMES; i++) {
            CHECK_OK(c, airy_stack_read(stack, i, pixels, sizeof(pixels)));
            check_values(c, "frame", AIRY_DTYPE_I32, pixels, frames + i * PIXELS, PIXELS, NULL);
        }
    airy_stack_destroy(&stack);
    /* What patterns are made of, in the name of a file that is there. */
    airy_image back = {0};
    const char *named = path_of(c, folder, "e#[1].h5::/x/y");
    CHECK_OK(c, airy_image_write(&parts[1], named, true));
    if (CHECK_OK(c, airy_image_read(&back, named)))
        check_values(c, "frames", AIRY_DTYPE_I32, back.data, frames + PIXELS, 3 * PIXELS, NULL);
    airy_image_free(&back);
    airy_image other = image_of(frames, 1);
    other.dtype = AIRY_DTYPE_U32;
    CHECK_OK(c, airy_image_write(&other, paths[3], true));
    CHECK_FAILS(c, airy_stack_create(&stack, paths, 4), AIRY_ERR_SHAPE, "expected int32 as in");
    other.dtype = AIRY_DTYPE_I32;
    other.shape[0] = WIDTH;
    other.shape[1] = HEIGHT;
    CHECK_OK(c, airy_image_write(&other, paths[3], true));
    CHECK_FAILS(c, airy_stack_create(&stack, paths, 4), AIRY_ERR_SHAPE, "frames of 37 x 23");
    CHECK_OK(c, unlink(paths[3]) == 0 ? AIRY_OK : AIRY_ERR_IO);
    CHECK_FAILS(c, airy_stack_create(&stack, paths, 4), AIRY_ERR_NOT_FOUND, "d.edf");
    CHECK_FAILS(c, stack_open(&stack, path_of(c, folder, "none_*.cbf")), AIRY_ERR_NOT_FOUND,
                "no file matches");
    CHECK_FAILS(c, stack_open(&stack, path_of(c, folder, "a_#.cbf")), AIRY_ERR_NOT_FOUND,
                "no file matches");
}

/* More files than are looked into: one of another shape, one cut, one gone fail by themselves. */
static void check_long_series(struct check *c)
{
    enum { FILES = 4100 };
    if (!check_case(c, "stack_files_long_series"))
        return;
    const char *folder = check_tmp(c);
    const char **paths = check_alloc(c, FILES * sizeof(*paths));
    airy_stack *stack = NULL;
    uint16_t pixels[6], back[6];
    char name[32];
    for (size_t i = 0; i < FILES; i++) {
        const bool odd = i == 4098;
        for (size_t k = 0; k < 6; k++)
            pixels[k] = (uint16_t)(i + k);
        const airy_image image = {.dtype = AIRY_DTYPE_U16,
                                  .ndim = 2,
                                  .shape = {odd ? 3 : 2, odd ? 2 : 3},
                                  .data = pixels};
        snprintf(name, sizeof(name), "s_%zu.npy", i);
        paths[i] = path_of(c, folder, name);
        CHECK_OK(c, airy_image_write(&image, paths[i], true));
    }
    CHECK(c, truncate(paths[4097], 130) == 0);
    if (!CHECK_OK(c, airy_stack_create(&stack, paths, FILES)))
        return;
    CHECK(c, unlink(paths[4096]) == 0);
    for (size_t i = 0; i < FILES; i += i < 4090 ? 401 : 1) {
        const airy_status status = airy_stack_read(stack, i, back, sizeof(back));
        if (i < 4096 || i == 4099)
            CHECK(c, status == AIRY_OK && back[0] == i && back[5] == i + 5);
        else
            CHECK(c, status == AIRY_ERR_FORMAT || (i == 4096 && status == AIRY_ERR_IO));
        if (i == 4098)
            CHECK(c, strstr(airy_last_error(), "it holds 1 frame of 3 x 2 uint16") != NULL);
    }
    CHECK(c, airy_stack_uses(stack, paths[4000]) && !airy_stack_uses(stack, folder));
    airy_stack_destroy(&stack);
}

/* Files cut at each length, and with bytes changed: an answer, whatever it is. */
static void check_cut(struct check *c, const char *suffix)
{
    if (!check_case(c, "stack_files_hostile%s", suffix))
        return;
    enum { SMALL = 12 };
    int32_t *frames = make_frames(c);
    const bool one = strcmp(suffix, ".cbf") == 0;
    airy_image image = image_of(frames, one ? 1 : 2);
    image.shape[image.ndim - 2] = SMALL;
    image.shape[image.ndim - 1] = SMALL;
    char name[32];
    size_t size = 0;
    int32_t pixels[PIXELS];
    snprintf(name, sizeof(name), "whole%s", suffix);
    const char *path = path_of(c, check_tmp(c), name);
    CHECK_OK(c, airy_image_write(&image, path, true));
    const uint8_t *bytes = stack_slurp(c, path, &size);
    uint8_t *copy = check_alloc(c, size);
    snprintf(name, sizeof(name), "cut%s", suffix);
    for (size_t k = 0; bytes && k < size + 400; k++) {
        memcpy(copy, bytes, size);
        if (k >= size)
            for (int n = 0; n < 3; n++)
                copy[check_rand_u64(c) % size] = (uint8_t)check_rand_u64(c);
        airy_stack *stack = NULL;
        airy_stack_info info;
        airy_stack_meta meta;
        if (stack_open(&stack, stack_spill(c, name, copy, k < size ? k : size)) != AIRY_OK)
            continue;
        CHECK_OK(c, airy_stack_get_info(stack, &info));
        CHECK_OK(c, airy_stack_get_meta(stack, &meta));
        const size_t frame = info.height * info.width * airy_dtype_size(info.dtype);
        for (size_t i = 0; i < info.frames && i < 4 && frame <= sizeof(pixels); i++)
            (void)airy_stack_read(stack, i, pixels, frame);
        airy_stack_destroy(&stack);
    }
}

#define CBF_COMMENTS                                                                               \
    "# Detector: PILATUS 2M, S/N 24-0107\r\n# Pixel_size 172e-6 m x 172e-6 m\r\n"                  \
    "# Count_cutoff 1048500 counts\r\n# Wavelength 0.97950 A\r\n# Detector_distance 0.25 m\r\n"    \
    "# Beam_xy (1231.50, 1263.25) pixels\r\n"

static void check_headers(struct check *c)
{
    if (!check_case(c, "stack_files_headers"))
        return;
    static const char cbf[] =
        "###CBF: VERSION 1.5\r\ndata_x\r\n_array_data.header_contents\r\n;\r\n" CBF_COMMENTS
        ";\r\n\r\nconversions=\"x-CBF_BYTE_OFFSET\"\r\nX-Binary-Size: 2\r\n"
        "X-Binary-Element-Type: \"signed 32-bit integer\"\r\nX-Binary-Size-Fastest-Dimension: 2\r\n"
        "X-Binary-Size-Second-Dimension: 1\r\n\r\n\x0c\x1a\x04\xd5\x01\x02";
    static const char edf[] =
        "{\nDim_1 = 2 ;\nDim_2 = 1 ;\nDataType = UnsignedByte ;\nPSize_1 = 1e-4_m ;\n"
        "PSize_2 = 0.2 mm ;\nSampleDistance = 1.5 ;\nCenter_1 = 100.5 ;\nCenter_2 = 20 ;\n"
        "Offset_1 = 0.5 ;\nWaveLength = 1e-10 ;\nDummy = -10 ;\nDDummy = 0.5 ;\n}\nab";
    airy_stack *stack = NULL;
    airy_stack_meta meta;
    const airy_geometry *g = &meta.geometry;
    if (CHECK_OK(c, stack_open(&stack, stack_spill(c, "h.cbf", cbf, sizeof(cbf) - 1))) &&
        CHECK_OK(c, airy_stack_get_meta(stack, &meta))) {
        CHECK(c, meta.has_geometry && meta.has_saturation && meta.saturation == 1048500);
        CHECK(c, g->dist == 0.25 && g->detector.pixel1 == 172e-6 && g->detector.dectris_dummy);
        CHECK(c, g->poni2 == 1231.5 * 172e-6 && g->poni1 == 1263.25 * 172e-6);
        CHECK(c, g->wavelength == 0.97950 * 1e-10 && !meta.has_mask && !meta.has_dummy);
        uint8_t mask[2];
        double value;
        CHECK_FAILS(c, airy_stack_mask(stack, mask), AIRY_ERR_NOT_FOUND, "no pixel mask");
        CHECK_FAILS(c, airy_stack_monitor(stack, "/x", &value), AIRY_ERR_NOT_FOUND, "no HDF5 file");
    }
    airy_stack_destroy(&stack);
    if (CHECK_OK(c, stack_open(&stack, stack_spill(c, "h.edf", edf, sizeof(edf) - 1))) &&
        CHECK_OK(c, airy_stack_get_meta(stack, &meta))) {
        CHECK(c, meta.has_geometry && g->dist == 1.5 && g->wavelength == 1e-10);
        CHECK(c, g->detector.pixel2 == 1e-4 && fabs(g->detector.pixel1 - 2e-4) < 1e-19);
        CHECK(c, g->poni2 == 100 * 1e-4 && fabs(g->poni1 - 20 * 2e-4) < 1e-17);
        CHECK(c, meta.has_dummy && meta.dummy == -10 && meta.delta_dummy == 0.5);
    }
    airy_stack_destroy(&stack);
}

/* An image of two bytes whose header has these lines. */
static const char *spill_header(struct check *c, const char *name, const char *lines)
{
    char text[600];
    const int n = snprintf(text, sizeof(text),
                           "{\nDim_1 = 2 ;\nDim_2 = 1 ;\nDataType = UnsignedByte ;\n%s}\nab",
                           lines);
    return stack_spill(c, name, text, (size_t)n);
}

#define STATED "PSize_1 = 1e-4 ;\nPSize_2 = 1e-4 ;\n"

/* Parts of a geometry that are there, and words for those that cannot be used. */
static void check_partial(struct check *c)
{
    enum { P = AIRY_GEOMETRY_PIXELS, D = AIRY_GEOMETRY_DISTANCE, C = AIRY_GEOMETRY_CENTER };
    static const struct {
        const char *lines;
        unsigned parts;
        const char *unusable;
    } headers[] = {
        {STATED "SampleDistance = 0.2 ;\nCenter_1 = 5 ;\nCenter_2 = 6 ;\n", P | D | C, ""},
        {STATED "Center_1 = 5 ;\nCenter_2 = 6 ;\n", P | C, ""},
        {STATED "SampleDistance = 0 ;\nCenter_1 = 5 ;\nCenter_2 = 6 ;\n", P | C,
         "SampleDistance is '0'"},
        {STATED "SampleDistance = -1 ;\nCenter_1 = 0 ;\nCenter_2 = 6 ;\n", P | C,
         "SampleDistance is '-1'"},
        {STATED "SampleDistance = 0.2 ;\nCenter_1 = 0 ;\nCenter_2 = 0 ;\n", P | D, "0, 0"},
        {STATED "SampleDistance = 0.2 ;\nCenter_1 = nan ;\nCenter_2 = 6 ;\n", P | D, ""},
        {"PSize_1 = 1e-4 ;\nPSize_2 = 0 ;\nSampleDistance = 0.2 ;\n", D, "PSize_2 is '0'"},
        {STATED "SampleDistance = 0.2 ;\nsampledistance = 0.3 ;\nCenter_1 = 5 ;\nCenter_2 = 6 ;\n",
         P | C, "SampleDistance gives 0.2 m and 0.3 m"},
        {STATED "SampleDistance = 0.2 ;\nSampleDistance = 200_mm ;\nCenter_1 = 5 ;\n"
                "Center_2 = 6 ;\nCenter_2 = 6.05 ;\n",
         P | D | C, ""},
        {STATED "PSize_2 = 2e-4 ;\nSampleDistance = 0.2 ;\nCenter_1 = 5 ;\nCenter_2 = 6 ;\n"
                "Center_1 = 7 ;\n",
         D, "PSize_2 gives 0.0001 m and 0.0002 m, Center_1 gives 5 pixels and 7 pixels"},
        {"", 0, ""},
    };
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        airy_stack *stack = NULL;
        airy_stack_meta meta;
        if (CHECK_OK(c, stack_open(&stack, spill_header(c, "p.edf", headers[i].lines))) &&
            CHECK_OK(c, airy_stack_get_meta(stack, &meta)))
            if (meta.geometry_parts != headers[i].parts ||
                !strstr(meta.unusable, headers[i].unusable) ||
                (!*headers[i].unusable && *meta.unusable) ||
                meta.has_geometry != (headers[i].parts == (P | D | C)) ||
                ((headers[i].parts & D) && meta.geometry.dist != 0.2))
                check_failed(c, __FILE__, __LINE__, "header %zu: parts %u, '%s'", i,
                             meta.geometry_parts, meta.unusable);
        airy_stack_destroy(&stack);
    }
}

/* Two files, the second with one line more or another value. */
static void check_two(struct check *c, const char *lines, unsigned differs, const char *values)
{
    static const char first[] = STATED "SampleDistance = 0.2 ;\nCenter_1 = 5 ;\nCenter_2 = 6 ;\n"
                                       "WaveLength = 1e-10 ;\n";
    char a[4200];
    snprintf(a, sizeof(a), "%s", spill_header(c, "a.edf", first));
    const char *const paths[2] = {a, spill_header(c, "b.edf", lines)};
    airy_stack *stack = NULL;
    unsigned found = 77;
    if (!CHECK_OK(c, airy_stack_create(&stack, paths, 2)))
        return;
    if (differs) {
        CHECK_FAILS(c, airy_stack_hold_geometry(stack, 31, &found), AIRY_ERR_FORMAT, values);
        CHECK(c, found == differs && strstr(airy_last_error(), "a.edf") &&
                     strstr(airy_last_error(), "b.edf"));
        CHECK_OK(c, airy_stack_hold_geometry(stack, 31 & ~differs, &found));
    } else {
        CHECK_OK(c, airy_stack_hold_geometry(stack, 31, &found));
    }
    CHECK(c, !differs || found == 0);
    airy_stack_destroy(&stack);
}

/* Of a series too long to look into, the file that differs fails when it is read. */
static void check_late(struct check *c)
{
    enum { FILES = 4100, ODD = 4098 };
    char name[32], **paths = check_alloc(c, FILES * sizeof(*paths));
    airy_stack *stack = NULL;
    uint8_t pixels[2];
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof(name), "late_%d.edf", i);
        paths[i] = strdup(spill_header(
            c, name, i == ODD ? "SampleDistance = 0.3 ;\n" : "SampleDistance = 0.2 ;\n"));
    }
    if (CHECK_OK(c, airy_stack_create(&stack, (const char *const *)paths, FILES))) {
        CHECK_OK(c, airy_stack_read(stack, ODD, pixels, 2));
        CHECK_OK(c, airy_stack_hold_geometry(stack, 31, NULL));
        CHECK_OK(c, airy_stack_read(stack, ODD - 1, pixels, 2));
        CHECK_FAILS(c, airy_stack_read(stack, ODD, pixels, 2), AIRY_ERR_FORMAT, "0.3 m");
        CHECK_OK(c, airy_stack_hold_geometry(stack, 0, NULL));
        CHECK_OK(c, airy_stack_read(stack, ODD, pixels, 2));
    }
    airy_stack_destroy(&stack);
    for (int i = 0; i < FILES; i++) {
        unlink(paths[i]);
        free(paths[i]);
    }
}

/* Of one file: all its frames, whatever the first of them says; part 0: they agree. */
static void check_alone(struct check *c, const char *path, unsigned differs, const char *values)
{
    airy_stack *stack = NULL;
    unsigned found = 77;
    if (!CHECK_OK(c, stack_open(&stack, path)))
        return;
    if (differs) {
        CHECK_FAILS(c, airy_stack_hold_geometry(stack, 31, &found), AIRY_ERR_FORMAT, values);
        CHECK_OK(c, airy_stack_hold_geometry(stack, 31 & ~differs, NULL));
    } else {
        CHECK_OK(c, airy_stack_hold_geometry(stack, 31, &found));
    }
    CHECK(c, found == differs);
    airy_stack_destroy(&stack);
}

/* Images of one EDF, each with lines of its own. */
static const char *spill_images(struct check *c, const char *const lines[], size_t count)
{
    char text[4096];
    int n = 0;
    for (size_t i = 0; i < count; i++)
        n += snprintf(text + n, sizeof(text) - (size_t)n,
                      "{\nDim_1 = 2 ;\nDim_2 = 1 ;\nDataType = UnsignedByte ;\n%s}\nab", lines[i]);
    return stack_spill(c, "images.edf", text, (size_t)n);
}

static void put_entry(uint8_t *to, uint16_t tag, uint16_t type, uint32_t count, uint32_t value)
{
    memcpy(to, &tag, 2);
    memcpy(to + 2, &type, 2);
    memcpy(to + 4, &count, 4);
    memcpy(to + 8, &value, 4);
}

/* A TIFF of pages of 2 x 1 bytes with descriptions; byte order is this machine's, the least. */
static const char *spill_pages(struct check *c, const char *const texts[], size_t count)
{
    enum { ENTRIES = 9, DIRECTORY = 2 + 12 * ENTRIES + 4, PAGE = DIRECTORY + 128 };
    uint8_t bytes[8 + 4 * PAGE] = {'I', 'I', 42, 0, 8};
    for (size_t i = 0; i < count; i++) {
        const uint32_t at = (uint32_t)(8 + i * PAGE), text = at + DIRECTORY,
                       next = i + 1 < count ? at + PAGE : 0;
        uint8_t *entry = bytes + at + 2;
        bytes[at] = ENTRIES;
        strcpy((char *)bytes + text, texts[i]);
        put_entry(entry, 256, 3, 1, 2);
        put_entry(entry + 12, 257, 3, 1, 1);
        put_entry(entry + 24, 258, 3, 1, 8);
        put_entry(entry + 36, 259, 3, 1, 1);
        put_entry(entry + 48, 262, 3, 1, 1);
        put_entry(entry + 60, 270, 2, (uint32_t)strlen(texts[i]) + 1, text);
        put_entry(entry + 72, 273, 4, 1, text + 126);
        put_entry(entry + 84, 278, 3, 1, 1);
        put_entry(entry + 96, 279, 4, 1, 2);
        memcpy(entry + 108, &next, 4);
    }
    return stack_spill(c, "pages.tif", bytes, 8 + count * PAGE);
}

/* Frames of one file with headers of their own. */
static void check_frames_apart(struct check *c)
{
    static const char near[] = "SampleDistance = 0.2 ;\nWaveLength = 1e-10 ;\n",
                      far[] = "SampleDistance = 0.3 ;\n", other[] = "WaveLength = 2e-10 ;\n";
    const enum airy_geometry_part D = AIRY_GEOMETRY_DISTANCE, W = AIRY_GEOMETRY_WAVELENGTH;
    check_alone(c, spill_images(c, (const char *const[]){near, near, ""}, 3), 0, "");
    check_alone(c, spill_images(c, (const char *const[]){near, near, far}, 3), D,
                "images.edf, but 0.3 m in");
    check_alone(c, spill_images(c, (const char *const[]){near, far}, 2), D, "images.edf frame 1");
    check_alone(c, spill_images(c, (const char *const[]){"", near, far}, 3), D, "0.2 m");
    check_alone(c, spill_images(c, (const char *const[]){near, near, other}, 3), W, "2e-10 m in");
    if (!AIRY_HAVE_TIFF)
        return;
    static const char a[] = "# Detector_distance 0.2 m\r\n# Pixel_size 172e-6 m x 172e-6 m\r\n",
                      b[] = "# Detector_distance 0.2001 m\r\n";
    check_alone(c, spill_pages(c, (const char *const[]){a, a}, 2), 0, "");
    check_alone(c, spill_pages(c, (const char *const[]){a, a, b}, 3), D, "0.2 m in");
    check_alone(c, spill_pages(c, (const char *const[]){a, b}, 2), D, "pages.tif frame 1");
}

/* A frame in a file of its own that states a distance. */
static const char *put_stated(struct check *c, const char *folder, const char *name, double dist)
{
    const char *path = path_of(c, folder, name);
    airy_geometry geometry = {.dist = dist, .wavelength = 1e-10, .poni1 = 0.01, .poni2 = 0.01};
    geometry.detector.height = geometry.detector.width = 4;
    geometry.detector.pixel1 = geometry.detector.pixel2 = 1e-4;
    const airy_stack_writer_params params = {
        .dtype = AIRY_DTYPE_U8, .frames = 1, .height = 4, .width = 4, .geometry = &geometry};
    const uint8_t pixels[16] = {0};
    airy_stack_writer *writer = NULL;
    if (CHECK_OK(c, airy_stack_writer_create(&writer, path, &params)) &&
        CHECK_OK(c, airy_stack_writer_add(writer, 0, pixels, sizeof(pixels))))
        CHECK_OK(c, airy_stack_writer_finish(writer));
    airy_stack_writer_destroy(&writer);
    return path;
}

/* Sources of a virtual dataset must agree; its own file may state other values for all of them. */
static void check_sources_apart(struct check *c)
{
    const char *folder = check_tmp(c), *sources[3] = {put_stated(c, folder, "a.h5", 0.2),
                                                      put_stated(c, folder, "b.h5", 0.2),
                                                      put_stated(c, folder, "c.h5", 0.3)};
    for (size_t last = 1; last < 3; last++) {
        const char *path = path_of(c, folder, last == 1 ? "same.h5" : "apart.h5");
        const hsize_t shape[3] = {2, 4, 4}, one[3] = {1, 4, 4};
        const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                    creation = H5Pcreate(H5P_DATASET_CREATE),
                    space = H5Screate_simple(3, shape, NULL), part = H5Screate_simple(3, one, NULL);
        for (size_t i = 0; i < 2; i++) {
            const hsize_t start[3] = {i, 0, 0};
            H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, one, NULL);
            H5Pset_virtual(creation, space, sources[i * last], "/entry/data/data", part);
        }
        H5Sselect_all(space);
        H5Dclose(H5Dcreate2(file, "data", H5T_STD_U8LE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
        H5Sclose(part);
        H5Sclose(space);
        H5Pclose(creation);
        H5Fclose(file);
        check_alone(c, path, last == 1 ? 0 : AIRY_GEOMETRY_DISTANCE, "a.h5, but 0.3 m in");
    }
}

static void check_geometries(struct check *c)
{
    if (!check_case(c, "stack_files_geometries"))
        return;
    check_frames_apart(c);
    check_sources_apart(c);
    check_partial(c);
    check_two(c,
              STATED "SampleDistance = 0.200005 ;\nCenter_1 = 5.05 ;\nCenter_2 = 6 ;\nWaveLength = "
                     "1.00005e-10 ;\n",
              0, "");
    check_two(c, "", 0, "");
    check_two(c, STATED "SampleDistance = 0.3 ;\n", AIRY_GEOMETRY_DISTANCE,
              "the distance is 0.2 m");
    check_two(c, "PSize_1 = 1e-4 ;\nPSize_2 = 2e-4 ;\n", AIRY_GEOMETRY_PIXELS, "0.0002 x 0.0001 m");
    check_two(c, "Center_1 = 5 ;\nCenter_2 = 6.2 ;\n", AIRY_GEOMETRY_CENTER, "row 6.2, column 5");
    check_two(c, "WaveLength = 1.001e-10 ;\n", AIRY_GEOMETRY_WAVELENGTH, "1.001e-10 m");
    check_two(c, STATED "DetectorRotation_1 = 0.01 ;\n", AIRY_GEOMETRY_TILT, "angle is 0 deg");
    check_late(c);
}

/* Long runs of short differences and others between them, whole and in pieces. */
static void check_byte_offset_long(struct check *c, airy_dtype dtype)
{
    enum { COUNT = 70001 };
    if (!check_case(c, "stack_files_byte_offset_%s", airy_dtype_name(dtype)))
        return;
    int32_t *values = check_alloc(c, 4 * COUNT), *back = check_alloc(c, 4 * COUNT);
    uint8_t *packed = check_alloc(c, (size_t)BYTE_OFFSET_WORST * COUNT);
    const bool is_signed = dtype == AIRY_DTYPE_I32;
    check_rand(c, values, dtype, COUNT, 0, 120);
    for (size_t i = 0; i < COUNT; i++)
        if (check_rand_u64(c) % 97 == 0)
            values[i] = (int32_t)(check_rand_u64(c) >> 32 >> check_rand_u64(c) % 32);
        else if (is_signed && check_rand_u64(c) % 301 == 0)
            values[i] = -2;
    const size_t used = airy_byte_offset_encode(packed, values, dtype, COUNT);
    CHECK_OK(c, airy_byte_offset_decode(back, dtype, COUNT, packed, used));
    check_values(c, "values", dtype, back, values, COUNT, NULL);
    struct airy_byte_offset walk;
    size_t at = 0, done;
    memset(back, 0xa5, 4 * COUNT);
    airy_byte_offset_begin(&walk, back, dtype, COUNT);
    for (size_t have = 0; at < used; at += done) {
        have += 1 + (size_t)(check_rand_u64(c) % 300);
        have = have < used - at ? have : used - at;
        if (!CHECK_OK(c, airy_byte_offset_more(&walk, packed + at, have, &done)))
            break;
        have -= done;
        CHECK(c, have < BYTE_OFFSET_WORST);
    }
    CHECK_OK(c, airy_byte_offset_end(&walk, used - at));
    check_values(c, "pieces", dtype, back, values, COUNT, NULL);
    CHECK_FAILS(c, airy_byte_offset_decode(back, dtype, COUNT, packed, used - 1), AIRY_ERR_CORRUPT,
                "end at value");
    /* Sixteen in a row, and below the least value in the middle of them. */
    uint8_t down[64] = {5};
    memset(down + 1, 0xff, 63);
    if (!is_signed)
        CHECK_FAILS(c, airy_byte_offset_decode(back, dtype, 64, down, 64), AIRY_ERR_CORRUPT,
                    "value 6 leaves the range of uint32");
    CHECK_BENCH(c, 4.0 * COUNT, 0, airy_byte_offset_decode(back, dtype, COUNT, packed, used));
}

void check_stack_files(struct check *c)
{
    static const char *const suffixes[] = {".npy", ".edf", ".cbf", ".tif"};
    for (size_t i = 0; i < (AIRY_HAVE_TIFF ? 4 : 3); i++) {
        if (strcmp(suffixes[i], ".cbf") != 0)
            check_one_file(c, suffixes[i]);
        check_series(c, suffixes[i]);
        check_cut(c, suffixes[i]);
    }
    check_npy_orders(c);
    check_not_packed(c);
    check_packed(c);
    check_raw(c);
    check_mixed(c);
    check_long_series(c);
    check_headers(c);
    check_geometries(c);
    check_byte_offset_long(c, AIRY_DTYPE_I32);
    check_byte_offset_long(c, AIRY_DTYPE_U32);
}
