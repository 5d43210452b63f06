/*
 * Small files that unpack to more than their headers account for. The deflate streams are made
 * here, of one literal and copies of 258 bytes.
 */
#include "check_stack.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "airy/file.h"
#include "airy/image.h"

struct bytes {
    uint8_t *at;
    size_t size;
    uint64_t bits; /* of a deflate stream, the lowest first */
    int bit_count;
};

static void add(struct bytes *b, const void *data, size_t size)
{
    if (size > 0)
        memcpy(b->at + b->size, data, size);
    b->size += size;
}

static void add_bits(struct bytes *b, unsigned value, int count)
{
    b->bits |= (uint64_t)value << b->bit_count;
    for (b->bit_count += count; b->bit_count >= 8; b->bit_count -= 8, b->bits >>= 8)
        b->at[b->size++] = (uint8_t)b->bits;
}

static void add_big_endian(struct bytes *b, uint32_t value)
{
    const uint8_t text[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                             (uint8_t)value};
    add(b, text, sizeof(text));
}

/* zlib's two bytes, a block of fixed codes for so many zeros and 258 a copy, and their Adler-32. */
static void add_zeros(struct bytes *b, size_t literals, size_t copies)
{
    add(b, "\x78\x01", 2);
    add_bits(b, 3, 3);
    for (size_t i = 0; i < literals; i++)
        add_bits(b, 0x0c, 8); /* the literal 0, 00110000 from its highest bit on */
    for (size_t i = 0; i < copies; i++) {
        add_bits(b, 0xa3, 8); /* the length 258, 11000101 from its highest bit on */
        add_bits(b, 0, 5);    /* the distance 1 */
    }
    add_bits(b, 0, 7);
    add_bits(b, 0, (8 - b->bit_count) % 8);
    add_big_endian(b, (uint32_t)((literals + 258 * copies) % 65521) << 16 | 1);
}

static void add_chunk(struct bytes *b, const char *name, const void *data, size_t size)
{
    add_big_endian(b, (uint32_t)size);
    const size_t from = b->size;
    add(b, name, 4);
    add(b, data, size);
    add_big_endian(b, stack_crc32(b->at + from, b->size - from));
}

/* A grey PNG of a side, `texts` compressed texts, and pixels that unpack to 258 bytes a copy. */
static const char *put_png(struct check *c, const char *name, uint32_t side, size_t texts,
                           size_t copies)
{
    struct bytes file = {.at = check_alloc(c, copies * 2 + texts * (1 << 13) + 4096)},
                 packed = {.at = check_alloc(c, copies * 2 + 64)},
                 text = {.at = check_alloc(c, 1 << 13)}, header = {.at = check_alloc(c, 16)};
    add(&file, "\x89PNG\r\n\x1a\n", 8);
    add_big_endian(&header, side);
    add_big_endian(&header, side);
    add(&header, "\x08\0\0\0\0", 5);
    add_chunk(&file, "IHDR", header.at, header.size);
    add(&text, "a\0", 3);
    add_zeros(&text, 1, 4096);
    for (size_t i = 0; i < texts; i++)
        add_chunk(&file, "zTXt", text.at, text.size);
    add_zeros(&packed, 1, copies);
    add_chunk(&file, "IDAT", packed.at, packed.size);
    add_chunk(&file, "IEND", NULL, 0);
    return stack_spill(c, name, file.at, file.size);
}

static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check_png_bombs(struct check *c)
{
    if (!check_case(c, "bounds_png"))
        return;
    airy_image image;
    /* 158 MB of zeros for 100 x 101 bytes of rows with their filters. */
    const char *much = put_png(c, "much.png", 100, 0, 613000);
    CHECK_FAILS(c, airy_image_read(&image, much), AIRY_ERR_CORRUPT,
                "its compressed data are more than the image");
    /* Texts of 1 MB each, which nobody reads: 2 GB in all would take seconds. */
    const char *texts = put_png(c, "texts.png", 8, 2000, 1);
    const double begin = processor_time();
    if (CHECK_OK(c, airy_image_read(&image, texts)))
        airy_image_free(&image);
    CHECK(c, processor_time() - begin < 1);
}

/*
 * Write tiles of width x height zeros side by side, for a page of 16 rows and of 16 columns for
 * each tile. All tiles have their data in one place.
 */
static const char *put_tiles(struct check *c, const char *name, uint32_t width, uint32_t height,
                             uint32_t tiles, size_t copies)
{
    const uint32_t data = 134, size = (uint32_t)(copies * 13 / 8), lists = data + size + 64;
    const struct {
        uint16_t tag, type;
        uint32_t count, value;
    } tags[] = {
        {256, 4, 1, 16 * tiles},
        {257, 4, 1, 16},
        {258, 3, 1, 8},
        {259, 3, 1, 8},
        {262, 3, 1, 1},
        {277, 3, 1, 1},
        {322, 4, 1, width},
        {323, 4, 1, height},
        {324, 4, tiles, tiles > 1 ? lists : data},
        {325, 4, tiles, tiles > 1 ? lists + 4 * tiles : size},
    };
    struct bytes b = {.at = check_alloc(c, copies * 2 + 8 * tiles + 4096)};
    const uint16_t count = sizeof(tags) / sizeof(tags[0]);
    add(&b, "II*\0\x08\0\0\0", 8);
    add(&b, &count, 2);
    add(&b, tags, sizeof(tags));
    add(&b, "\0\0\0\0", 4);
    add_zeros(&b, 1, copies);
    while (b.size < lists)
        add(&b, "", 1);
    for (uint32_t i = 0; i < 2 * tiles; i++)
        add(&b, i < tiles ? &data : &size, 4);
    return stack_spill(c, name, b.at, b.size);
}

static void check_tiff_tile(struct check *c)
{
    if (!check_case(c, "bounds_tiff"))
        return;
    airy_image image;
    const char *large = put_tiles(c, "large.tif", 16384, 16384, 1, 1100000),
               *some = put_tiles(c, "some.tif", 64, 64, 1, 40),
               *several = put_tiles(c, "several.tif", 16, 64, 3, 40),
               *many = put_tiles(c, "many.tif", 16, 1 << 20, 1000, 66000);
    CHECK_FAILS(c, airy_image_read(&image, large), AIRY_ERR_FORMAT, "larger than the page");
    if (CHECK_OK(c, airy_image_read(&image, some)))
        airy_image_free(&image);
    if (CHECK_OK(c, airy_image_read(&image, several)))
        airy_image_free(&image);
    /* 16 GB of zeros for 256 kB of pixels. */
    CHECK_FAILS(c, airy_image_read(&image, many), AIRY_ERR_FORMAT,
                "1 x 1000 tiles of 16777216 bytes");
}

enum { ROWS = 128, COLUMNS = 256, PIXELS = ROWS * COLUMNS };

static hid_t create_stack(const char *path, bool shuffled, hid_t *dataset)
{
    const hsize_t shape[3] = {2, ROWS, COLUMNS}, chunk[3] = {1, ROWS, COLUMNS};
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                creation = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(3, shape, NULL);
    H5Pset_chunk(creation, 3, chunk);
    if (shuffled)
        H5Pset_shuffle(creation);
    H5Pset_deflate(creation, 1);
    *dataset =
        H5Dcreate2(file, "data", H5T_NATIVE_UINT16, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Sclose(space);
    H5Pclose(creation);
    return file;
}

/* Both chunks of zeros, whatever their shape needs. */
static void put_chunks(struct check *c, const char *path, bool shuffled, size_t literals,
                       size_t copies)
{
    hid_t dataset;
    const hid_t file = create_stack(path, shuffled, &dataset);
    struct bytes b = {.at = check_alloc(c, copies * 2 + literals + 64)};
    add_zeros(&b, literals, copies);
    for (hsize_t i = 0; i < 2; i++)
        H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, (hsize_t[]){i, 0, 0}, b.size, b.at);
    H5Dclose(dataset);
    H5Fclose(file);
}

static airy_status read_frame(const char *path, size_t frame, uint16_t *pixels)
{
    airy_stack *stack;
    airy_status status = stack_open(&stack, path);
    if (status != AIRY_OK)
        return status;
    status = airy_stack_read(stack, frame, pixels, PIXELS * sizeof(*pixels));
    airy_stack_destroy(&stack);
    return status;
}

static void expect_corrupt(struct check *c, const char *path, const char *part)
{
    airy_image image;
    static uint16_t pixels[PIXELS];
    char name[600];
    snprintf(name, sizeof(name), "%s::/data", path);
    CHECK_FAILS(c, airy_image_read(&image, name), AIRY_ERR_CORRUPT, part);
    CHECK_FAILS(c, read_frame(path, 1, pixels), AIRY_ERR_CORRUPT, part);
}

static void expect_values(struct check *c, const char *path, const uint16_t *want)
{
    airy_image image;
    static uint16_t pixels[PIXELS];
    char name[600];
    snprintf(name, sizeof(name), "%s::/data", path);
    if (CHECK_OK(c, airy_image_read(&image, name))) {
        CHECK(c, memcmp(image.data, want, 2 * PIXELS * sizeof(*want)) == 0);
        airy_image_free(&image);
    }
    CHECK_OK(c, read_frame(path, 1, pixels));
    CHECK(c, memcmp(pixels, want + PIXELS, sizeof(pixels)) == 0);
}

static void check_deflate(struct check *c)
{
    if (!check_case(c, "bounds_deflate"))
        return;
    static uint16_t values[2 * PIXELS];
    char path[512];
    snprintf(path, sizeof(path), "%s/packed.h5", check_tmp(c));
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        memset(values, 0, sizeof(values));
        put_chunks(c, path, shuffled, 4, 254); /* 65536 bytes, as their shape needs */
        expect_values(c, path, values);
        put_chunks(c, path, shuffled, 5, 254);
        expect_corrupt(c, path, "more than the 65536 bytes of its shape");
        put_chunks(c, path, shuffled, 1, 30000);
        expect_corrupt(c, path, "more than the 65536 bytes of its shape");
        put_chunks(c, path, shuffled, 3, 254);
        expect_corrupt(c, path, "unpacks to 65535 bytes, expected the 65536");
        put_chunks(c, path, shuffled, 1, 120000); /* more than its shape could take, packed */
        expect_corrupt(c, path, "too many for the 65536 of its shape");
        for (int i = 0; i < 2 * PIXELS; i++)
            values[i] = (uint16_t)(i * 40503 + i / 7);
        hid_t dataset;
        const hid_t file = create_stack(path, shuffled, &dataset);
        H5Dwrite(dataset, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
        H5Dclose(dataset);
        H5Fclose(file);
        expect_values(c, path, values);
    }
}

/* A shuffle of elements of one byte moves nothing, also where pixels have two bytes. */
static void check_shuffle(struct check *c)
{
    if (!check_case(c, "bounds_shuffle"))
        return;
    static uint16_t values[2 * PIXELS], want[2 * PIXELS];
    char path[512];
    size_t size = 0;
    hid_t dataset;
    snprintf(path, sizeof(path), "%s/packed.h5", check_tmp(c));
    const hid_t file = create_stack(path, true, &dataset);
    for (int i = 0; i < 2 * PIXELS; i++)
        values[i] = (uint16_t)(i * 40503 + i / 7);
    H5Dwrite(dataset, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(dataset);
    H5Fclose(file);
    for (size_t frame = 0; frame < 2; frame++) /* low bytes, and behind them the high ones */
        for (size_t i = 0; i < PIXELS; i++) {
            uint8_t *bytes = (uint8_t *)(want + frame * PIXELS);
            bytes[i] = (uint8_t)values[frame * PIXELS + i];
            bytes[PIXELS + i] = (uint8_t)(values[frame * PIXELS + i] >> 8);
        }
    uint8_t *bytes = stack_slurp(c, path, &size),
            *name = bytes ? memmem(bytes, size, "shuffle", sizeof("shuffle")) : NULL;
    if (!CHECK(c, name && name[sizeof("shuffle")] == 2))
        return;
    name[sizeof("shuffle")] = 1;
    expect_values(c, stack_spill(c, "packed.h5", bytes, size), want);
}

/* The text behind its mark, from a file and from a pipe. */
static void expect_text(struct check *c, const char *path, const char *want)
{
    FILE *file;
    char text[64] = "";
    if (!CHECK_OK(c, airy_file_open_text(&file, path)))
        return;
    text[fread(text, 1, sizeof(text) - 1, file)] = 0;
    CHECK(c, strcmp(text, want) == 0);
    rewind(file); /* a pipe's text is there a second time */
    CHECK(c, fgetc(file) != EOF);
    fclose(file);
}

static void check_text(struct check *c)
{
    if (!check_case(c, "bounds_text"))
        return;
    static const char marked[] = "\xef\xbb\xbf"
                                 "1 2\n";
    FILE *file;
    int ends[2];
    char name[64];
    expect_text(c, stack_spill(c, "marked", marked, sizeof(marked) - 1), "1 2\n");
    expect_text(c, stack_spill(c, "short", "a", 1), "a");
    if (!CHECK(c, pipe(ends) == 0))
        return;
    snprintf(name, sizeof(name), "/proc/self/fd/%d", ends[0]);
    CHECK(c, write(ends[1], marked, sizeof(marked) - 1) == (ssize_t)sizeof(marked) - 1);
    close(ends[1]);
    expect_text(c, name, "1 2\n");
    close(ends[0]);
    CHECK_FAILS(c, airy_file_open_text(&file, check_tmp(c)), AIRY_ERR_IO, "a folder");
    CHECK_FAILS(c, airy_file_open_text(&file, "/dev/zero"), AIRY_ERR_IO, "a device");
    CHECK_FAILS(c, airy_file_open_text(&file, "/none/x"), AIRY_ERR_NOT_FOUND, "/none/x: ");
    CHECK_FAILS(c, airy_file_open_text(NULL, "x"), AIRY_ERR_PARAM, "missing");
    CHECK_FAILS(c, airy_file_open_text(&file, NULL), AIRY_ERR_PARAM, "missing");
}

void check_image_bounds(struct check *c)
{
    check_text(c);
    check_deflate(c);
    check_shuffle(c);
    check_png_bombs(c);
    if (AIRY_HAVE_TIFF)
        check_tiff_tile(c);
}
