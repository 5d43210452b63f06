/* Stacks: the reference files frame by frame, damaged copies, what is refused. */
#include "check_stack.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/stack/source.h"

uint32_t stack_crc32(const void *data, size_t size)
{
    /* The CRC of zlib and PNG: polynomial 0xedb88320, reflected. */
    const uint8_t *bytes = data;
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

void *stack_slurp(struct check *c, const char *path, size_t *size)
{
    struct stat about;
    const int fd = open(path, O_RDONLY);
    if (!CHECK(c, fd >= 0 && fstat(fd, &about) == 0))
        return NULL;
    uint8_t *bytes = check_alloc(c, (size_t)about.st_size + 1);
    *size = (size_t)about.st_size;
    const bool whole = read(fd, bytes, *size) == (ssize_t)*size;
    close(fd);
    return CHECK(c, whole) ? bytes : NULL;
}

const char *stack_spill(struct check *c, const char *name, const void *bytes, size_t size)
{
    const char *folder = check_tmp(c);
    const size_t length = strlen(folder) + strlen(name) + 2;
    char *path = check_alloc(c, length);
    snprintf(path, length, "%s/%s", folder, name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const bool whole = fd >= 0 && write(fd, bytes, size) == (ssize_t)size;
    if (fd >= 0)
        close(fd);
    return CHECK(c, whole) ? path : NULL;
}

airy_status stack_open(airy_stack **stack, const char *path)
{
    return airy_stack_create(stack, &path, 1);
}

/* A frame through airy_stack_fetch and airy_decode, as the pipeline does it. */
static bool fetch_frame(struct check *c, const airy_stack *stack, size_t frame, void *pixels,
                        size_t size)
{
    airy_stack_info info;
    struct airy_frame_source source;
    CHECK_OK(c, airy_stack_get_info(stack, &info));
    airy_stack_source(stack, frame, &source);
    if (source.kind != AIRY_SOURCE_CHUNK)
        return CHECK(c, source.size == size) &&
               CHECK_OK(c, airy_stack_fetch(stack, frame, pixels, size));
    uint8_t *chunk = check_alloc(c, source.size);
    return CHECK(c, source.size <= info.max_chunk) &&
           CHECK_OK(c, airy_stack_fetch(stack, frame, chunk, source.size)) &&
           CHECK_OK(c, airy_decode(pixels, size, chunk, source.size, &info.codec));
}

static void check_frames(struct check *c, const airy_stack *stack, const uint32_t *crc,
                         size_t frames)
{
    airy_stack_info info;
    CHECK_OK(c, airy_stack_get_info(stack, &info));
    if (!CHECK(c, info.frames == frames))
        return;
    const size_t size = info.height * info.width * airy_dtype_size(info.dtype);
    uint8_t *pixels = check_alloc(c, size);
    for (size_t i = 0; i < frames; i++) {
        if (strstr(info.dataset, "missing_chunk.h5") && i % 3 == 2) {
            CHECK_FAILS(c, airy_stack_read(stack, i, pixels, size), AIRY_ERR_UNWRITTEN,
                        "the frame was never written");
            continue;
        }
        if (CHECK_OK(c, airy_stack_read(stack, i, pixels, size)) &&
            stack_crc32(pixels, size) != crc[i])
            check_failed(c, __FILE__, __LINE__, "frame %zu of %s differs", i, info.dataset);
        memset(pixels, 0xa5, size);
        if (fetch_frame(c, stack, i, pixels, size) && stack_crc32(pixels, size) != crc[i])
            check_failed(c, __FILE__, __LINE__, "fetched frame %zu of %s differs", i, info.dataset);
    }
}

/* Layouts that must not need libhdf5 for their pixels. */
static bool expect_direct(const char *file)
{
    static const char *const through_library[] = {"multi_frame_chunk", "tile_chunk", "gzip_shuffle",
                                                  "big_endian", "fletcher"};
    for (size_t i = 0; i < sizeof(through_library) / sizeof(through_library[0]); i++)
        if (strncmp(file, through_library[i], strlen(through_library[i])) == 0)
            return false;
    return true;
}

static void check_golden_file(struct check *c, const json_t *entry)
{
    const char *file = json_string_value(json_object_get(entry, "file"));
    const char *dataset = json_string_value(json_object_get(entry, "path"));
    char variant[64];
    snprintf(variant, sizeof(variant), "%s_%s", file,
             strrchr(dataset, '/') ? strrchr(dataset, '/') + 1 : dataset);
    if (!check_case(c, "stack_%s", variant))
        return;
    char name[128], path[1200];
    snprintf(name, sizeof(name), "diffraction/hdf5/%s", file);
    const char *found = check_golden(c, name);
    if (!found)
        return;
    snprintf(path, sizeof(path), "%s::%s", found, dataset);
    airy_stack *stack = NULL;
    if (!AIRY_HAVE_ZSTD && strcmp(file, "bshuf_zstd.h5") == 0) {
        CHECK_FAILS(c, stack_open(&stack, path), AIRY_ERR_UNSUPPORTED,
                    "filter 32008 (bitshuffle-zstd)");
        return;
    }
    if (!CHECK_OK(c, stack_open(&stack, path)))
        return;
    const json_t *shape = json_object_get(entry, "shape"),
                 *crc = json_object_get(entry, "crc32_native");
    airy_stack_info info;
    airy_dtype dtype = AIRY_DTYPE_F32;
    const char *type = json_string_value(json_object_get(entry, "dtype"));
    CHECK_OK(c, airy_dtype_parse(&dtype, type[0] == '>' ? "<u4" : type));
    CHECK_OK(c, airy_stack_get_info(stack, &info));
    const size_t n = json_array_size(shape);
    CHECK(c, info.height == (size_t)json_integer_value(json_array_get(shape, n - 2)));
    CHECK(c, info.width == (size_t)json_integer_value(json_array_get(shape, n - 1)));
    CHECK(c, info.dtype == dtype);
    CHECK(c, (info.path == AIRY_STACK_DIRECT) == expect_direct(file));
    uint32_t want[64];
    const size_t frames = json_array_size(crc);
    for (size_t i = 0; i < frames && i < 64; i++)
        want[i] = (uint32_t)json_integer_value(json_array_get(crc, i));
    check_frames(c, stack, want, frames);
    airy_stack_destroy(&stack);
    CHECK(c, stack == NULL);
}

static json_t *load_expected(struct check *c)
{
    const char *path = check_golden(c, "diffraction/hdf5/expected.json");
    json_error_t error;
    json_t *all = path ? json_load_file(path, 0, &error) : NULL;
    if (path && !all)
        check_failed(c, __FILE__, __LINE__, "expected.json: %s", error.text);
    return all;
}

static void check_golden_files(struct check *c)
{
    if (!check_case(c, "stack_expected"))
        return;
    json_t *all = load_expected(c);
    for (size_t i = 0; all && i < json_array_size(all); i++)
        check_golden_file(c, json_array_get(all, i));
    json_decref(all);
}

void check_stack(struct check *c)
{
    if (!c->is_cpu)
        return; /* files and host memory only */
    check_golden_files(c);
    check_stack_write(c);
    check_stack_fill(c);
    check_stack_master(c);
    check_stack_layout(c);
    check_stack_chunks(c);
    check_stack_hostile(c);
    check_stack_bounds(c);
    check_image_bounds(c);
    check_stack_damage(c);
    check_stack_table(c);
    check_stack_frames(c);
    check_stack_sources(c);
    check_stack_files(c);
    check_hdf5_text(c);
}
