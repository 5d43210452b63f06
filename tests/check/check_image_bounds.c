/*
 * Small files that unpack to more than their headers account for. The deflate streams are made
 * here, of one literal and copies of 258 bytes.
 */
#include "check_stack.h"

#include <fcntl.h>
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

struct layout {
    hid_t type;
    hsize_t chunk[3];
    bool shuffled, summed; /* a Fletcher-32 behind deflate */
};

static struct layout frame_a_chunk(bool shuffled)
{
    return (struct layout){H5T_NATIVE_UINT16, {1, ROWS, COLUMNS}, shuffled, false};
}

static hid_t create_stack(const char *path, const struct layout *l, hid_t *dataset)
{
    const hsize_t shape[3] = {2, ROWS, COLUMNS};
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                creation = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(3, shape, NULL);
    H5Pset_chunk(creation, 3, l->chunk);
    if (l->shuffled)
        H5Pset_shuffle(creation);
    H5Pset_deflate(creation, 1);
    if (l->summed)
        H5Pset_fletcher32(creation);
    *dataset = H5Dcreate2(file, "data", l->type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Sclose(space);
    H5Pclose(creation);
    return file;
}

static void put_values(const char *path, const struct layout *l, hid_t type, const void *values)
{
    hid_t dataset;
    const hid_t file = create_stack(path, l, &dataset);
    H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(dataset);
    H5Fclose(file);
}

/* All chunks of zeros, whatever their shape needs. */
static void put_chunks(struct check *c, const char *path, const struct layout *l, size_t literals,
                       size_t copies)
{
    hid_t dataset;
    const hid_t file = create_stack(path, l, &dataset);
    struct bytes b = {.at = check_alloc(c, copies * 2 + literals + 64)};
    add_zeros(&b, literals, copies);
    if (l->summed)
        add(&b, "\0\0\0\0", 4);
    for (hsize_t i = 0; i < 2; i += l->chunk[0])
        for (hsize_t y = 0; y < ROWS; y += l->chunk[1])
            for (hsize_t x = 0; x < COLUMNS; x += l->chunk[2])
                H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, (hsize_t[]){i, y, x}, b.size, b.at);
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

static void fill(uint16_t *values)
{
    for (int i = 0; i < 2 * PIXELS; i++)
        values[i] = (uint16_t)(i * 40503 + i / 7);
}

static void check_deflate(struct check *c)
{
    if (!check_case(c, "bounds_deflate"))
        return;
    static uint16_t values[2 * PIXELS];
    char path[512];
    snprintf(path, sizeof(path), "%s/packed.h5", check_tmp(c));
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        const struct layout l = frame_a_chunk(shuffled);
        memset(values, 0, sizeof(values));
        put_chunks(c, path, &l, 4, 254); /* 65536 bytes, as their shape needs */
        expect_values(c, path, values);
        put_chunks(c, path, &l, 5, 254);
        expect_corrupt(c, path, "more than the 65536 bytes of its shape");
        put_chunks(c, path, &l, 1, 30000);
        expect_corrupt(c, path, "more than the 65536 bytes of its shape");
        put_chunks(c, path, &l, 3, 254);
        expect_corrupt(c, path, "unpacks to 65535 bytes, expected the 65536");
        put_chunks(c, path, &l, 1, 120000); /* more than its shape could take, packed */
        expect_corrupt(c, path, "too many for the 65536 of its shape");
        fill(values);
        put_values(path, &l, H5T_NATIVE_UINT16, values);
        expect_values(c, path, values);
    }
}

/*
 * Chunks of several frames, of parts of frames, that hang over the edge, of another byte order, and
 * of another filter behind deflate.
 */
static void check_deflate_shared(struct check *c)
{
    if (!check_case(c, "bounds_deflate_shared"))
        return;
    static uint16_t values[2 * PIXELS];
    const struct layout layouts[] = {
        {H5T_NATIVE_UINT16, {2, ROWS, COLUMNS}, false, false},
        {H5T_NATIVE_UINT16, {2, ROWS, COLUMNS}, true, false},
        {H5T_NATIVE_UINT16, {2, 50, 70}, true, false},
        {H5T_NATIVE_UINT16, {1, 7, COLUMNS}, false, false},
        {H5T_STD_U16BE, {1, ROWS, COLUMNS}, true, false},
        {H5T_STD_U16BE, {2, 50, COLUMNS}, false, false},
        {H5T_NATIVE_UINT16, {1, ROWS, COLUMNS}, true, true},
        {H5T_NATIVE_UINT16, {2, 64, COLUMNS}, false, true},
    };
    char path[512], more[80], fewer[80];
    snprintf(path, sizeof(path), "%s/shared.h5", check_tmp(c));
    fill(values);
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        const struct layout *l = &layouts[i];
        const size_t bytes = 2 * (size_t)(l->chunk[0] * l->chunk[1] * l->chunk[2]);
        put_values(path, l, H5T_NATIVE_UINT16, values);
        expect_values(c, path, values);
        snprintf(more, sizeof(more), "more than the %zu bytes of its shape", bytes);
        put_chunks(c, path, l, bytes % 258, bytes / 258 + 100);
        expect_corrupt(c, path, more);
        snprintf(fewer, sizeof(fewer), "unpacks to %zu bytes, expected the %zu", bytes - 258,
                 bytes);
        put_chunks(c, path, l, bytes % 258, bytes / 258 - 1);
        expect_corrupt(c, path, fewer);
    }
}

/* The second frame of a chunk needs no second look at the file, in which its bytes are lost by now. */
static void check_deflate_kept(struct check *c)
{
    if (!check_case(c, "bounds_deflate_kept"))
        return;
    static uint16_t values[2 * PIXELS], pixels[PIXELS];
    const struct layout l = {H5T_NATIVE_UINT16, {2, ROWS, COLUMNS}, true, false};
    char path[512];
    airy_stack *stack;
    snprintf(path, sizeof(path), "%s/kept.h5", check_tmp(c));
    fill(values);
    put_values(path, &l, H5T_NATIVE_UINT16, values);
    if (!CHECK_OK(c, stack_open(&stack, path)))
        return;
    CHECK_OK(c, airy_stack_read(stack, 0, pixels, sizeof(pixels)));
    CHECK(c, memcmp(pixels, values, sizeof(pixels)) == 0);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT),
          dataset = H5Dopen2(file, "data", H5P_DEFAULT);
    unsigned mask;
    haddr_t address = HADDR_UNDEF;
    hsize_t size;
    CHECK(c,
          H5Dget_chunk_info_by_coord(dataset, (hsize_t[]){0, 0, 0}, &mask, &address, &size) >= 0);
    H5Dclose(dataset);
    H5Fclose(file);
    const int fd = open(path, O_WRONLY);
    CHECK(c, pwrite(fd, "lost", 4, (off_t)address) == 4);
    close(fd);
    CHECK_OK(c, airy_stack_read(stack, 1, pixels, sizeof(pixels)));
    CHECK(c, memcmp(pixels, values + PIXELS, sizeof(pixels)) == 0);
    airy_stack_destroy(&stack);
}

/* Frames of a virtual dataset that are a row higher than those of its source, so that libhdf5 reads. */
static void put_view(const char *path, const char *source)
{
    const hsize_t high[3] = {2, ROWS + 1, COLUMNS}, shape[3] = {2, ROWS, COLUMNS},
                  start[3] = {0, 1, 0};
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                creation = H5Pcreate(H5P_DATASET_CREATE), to = H5Screate_simple(3, high, NULL),
                from = H5Screate_simple(3, shape, NULL);
    H5Sselect_hyperslab(to, H5S_SELECT_SET, start, NULL, shape, NULL);
    H5Pset_virtual(creation, to, source, "/data", from);
    H5Sselect_all(to);
    H5Dclose(H5Dcreate2(file, "view", H5T_NATIVE_UINT16, to, H5P_DEFAULT, creation, H5P_DEFAULT));
    H5Sclose(from);
    H5Sclose(to);
    H5Pclose(creation);
    H5Fclose(file);
}

static void check_deflate_virtual(struct check *c)
{
    if (!check_case(c, "bounds_deflate_virtual"))
        return;
    enum { VIEWED = PIXELS + COLUMNS };
    static uint16_t values[2 * PIXELS], pixels[VIEWED];
    char path[512], view[512], name[600];
    const char *const parts[2] = {"more than the 65536 bytes", "expected the 65536"};
    const struct layout l = frame_a_chunk(false);
    airy_stack *stack = NULL;
    airy_image image;
    snprintf(path, sizeof(path), "%s/source.h5", check_tmp(c));
    snprintf(view, sizeof(view), "%.*s/view.h5", (int)(strrchr(path, '/') - path), path);
    snprintf(name, sizeof(name), "%s::/view", view);
    fill(values);
    put_values(path, &l, H5T_NATIVE_UINT16, values);
    put_view(view, "source.h5");
    if (!CHECK_OK(c, stack_open(&stack, name)))
        return;
    CHECK_OK(c, airy_stack_read(stack, 1, pixels, sizeof(pixels)));
    CHECK(c, memcmp(pixels + COLUMNS, values + PIXELS, PIXELS * sizeof(*pixels)) == 0);
    airy_stack_destroy(&stack);
    if (CHECK_OK(c, airy_image_read(&image, name)))
        airy_image_free(&image);
    for (int k = 0; k < 2; k++) {
        put_chunks(c, path, &l, k == 0 ? 1 : 3, k == 0 ? 30000 : 254);
        if (!CHECK_OK(c, stack_open(&stack, name)))
            return;
        CHECK_FAILS(c, airy_stack_read(stack, 1, pixels, sizeof(pixels)), AIRY_ERR_CORRUPT,
                    parts[k]);
        airy_stack_destroy(&stack);
        CHECK_FAILS(c, airy_image_read(&image, name), AIRY_ERR_CORRUPT, parts[k]);
    }
}

static void check_deflate_complex(struct check *c)
{
    if (!check_case(c, "bounds_deflate_complex"))
        return;
    static float values[2 * PIXELS][2];
    const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(values[0]));
    H5Tinsert(type, "r", 0, H5T_NATIVE_FLOAT);
    H5Tinsert(type, "i", sizeof(float), H5T_NATIVE_FLOAT);
    const struct layout l = {type, {1, 64, COLUMNS}, true, false};
    const size_t bytes = sizeof(values[0]) * 64 * COLUMNS;
    char path[512], name[600], more[80];
    airy_image image;
    snprintf(path, sizeof(path), "%s/complex.h5", check_tmp(c));
    snprintf(name, sizeof(name), "%s::/data", path);
    snprintf(more, sizeof(more), "more than the %zu bytes of its shape", bytes);
    for (int i = 0; i < 2 * PIXELS; i++) {
        values[i][0] = (float)i;
        values[i][1] = (float)-3 * (float)i;
    }
    put_values(path, &l, type, values);
    if (CHECK_OK(c, airy_image_read(&image, name))) {
        CHECK(c, image.is_complex && memcmp(image.data, values, sizeof(values)) == 0);
        airy_image_free(&image);
    }
    put_chunks(c, path, &l, bytes % 258, bytes / 258 + 1000);
    CHECK_FAILS(c, airy_image_read(&image, name), AIRY_ERR_CORRUPT, more);
    H5Tclose(type);
}

/* A shuffle of elements of one byte moves nothing, also where pixels have two bytes. */
static void check_shuffle(struct check *c)
{
    if (!check_case(c, "bounds_shuffle"))
        return;
    static uint16_t values[2 * PIXELS], want[2 * PIXELS];
    char path[512];
    size_t size = 0;
    snprintf(path, sizeof(path), "%s/packed.h5", check_tmp(c));
    fill(values);
    put_values(path, &(struct layout){H5T_NATIVE_UINT16, {1, ROWS, COLUMNS}, true, false},
               H5T_NATIVE_UINT16, values);
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
    int fd = -1;
    char text[64] = "";
    if (!CHECK_OK(c, airy_file_open_text(&fd, path)))
        return;
    const ssize_t n = read(fd, text, sizeof(text) - 1);
    CHECK(c, n >= 0 && strcmp(text, want) == 0);
    char first = 0; /* a pipe's text is there a second time */
    CHECK(c, lseek(fd, 0, SEEK_SET) == 0 && read(fd, &first, 1) == 1);
    close(fd);
}

static void check_text(struct check *c)
{
    if (!check_case(c, "bounds_text"))
        return;
    static const char marked[] = "\xef\xbb\xbf"
                                 "1 2\n";
    int ends[2], fd = -1;
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
    CHECK_FAILS(c, airy_file_open_text(&fd, check_tmp(c)), AIRY_ERR_IO, "a folder");
    CHECK_FAILS(c, airy_file_open_text(&fd, "/dev/zero"), AIRY_ERR_IO, "a device");
    CHECK_FAILS(c, airy_file_open_text(&fd, "/none/x"), AIRY_ERR_NOT_FOUND, "'/none/x': ");
    CHECK_FAILS(c, airy_file_open_text(NULL, "x"), AIRY_ERR_PARAM, "missing");
    CHECK_FAILS(c, airy_file_open_text(&fd, NULL), AIRY_ERR_PARAM, "missing");
}

/* Lines of a text; what is no line of a text ends it. */
static void check_text_lines(struct check *c)
{
    if (!check_case(c, "bounds_text_lines"))
        return;
    static const char two[] = "\xef\xbb\xbf"
                              "1 2\r\n\nend",
                      zero[] = "1\n2\0003\n", turned[] = "1\r2\r";
    static const struct {
        const char *text;
        size_t size, good;
        const char *sentence;
    } bad[] = {
        {zero, sizeof(zero) - 1, 1, "line 2: a byte of value 0, which is in no text"},
        {turned, sizeof(turned) - 1, 0, "line 1: lines that end in a carriage return alone"}};
    airy_text *text = NULL;
    char *line = NULL, *large = check_alloc(c, 5000);
    if (!CHECK_OK(c, airy_text_open(&text, stack_spill(c, "two", two, sizeof(two) - 1))))
        return;
    CHECK(c, airy_text_next(text, &line) == AIRY_OK && line && strcmp(line, "1 2") == 0);
    CHECK(c, airy_text_next(text, &line) == AIRY_OK && line && !*line);
    CHECK(c, airy_text_next(text, &line) == AIRY_OK && line && strcmp(line, "end") == 0);
    CHECK(c, airy_text_line(text) == 3);
    CHECK(c, airy_text_next(text, &line) == AIRY_OK && !line);
    airy_text_close(&text);
    CHECK(c, !text);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CHECK_OK(c, airy_text_open(&text, stack_spill(c, "bad", bad[i].text, bad[i].size)));
        for (size_t k = 0; k < bad[i].good; k++)
            CHECK_OK(c, airy_text_next(text, &line));
        CHECK_FAILS(c, airy_text_next(text, &line), AIRY_ERR_FORMAT, bad[i].sentence);
        airy_text_close(&text);
    }
    memset(large, '1', 5000);
    CHECK_OK(c, airy_text_open(&text, stack_spill(c, "large", large, 5000)));
    CHECK_FAILS(c, airy_text_next(text, &line), AIRY_ERR_FORMAT, "line 1: longer than 4094 bytes");
    airy_text_close(&text);
    large[0] = '#';
    CHECK_OK(c, airy_text_open(&text, stack_spill(c, "remark", large, 5000)));
    CHECK(c, airy_text_next(text, &line) == AIRY_OK && line && strlen(line) == 4095);
    airy_text_close(&text);
    CHECK_FAILS(c, airy_text_open(&text, "/none/x"), AIRY_ERR_NOT_FOUND, "/none/x");
    CHECK_FAILS(c, airy_text_open(&text, NULL), AIRY_ERR_PARAM, "NULL");
}

void check_image_bounds(struct check *c)
{
    check_text(c);
    check_text_lines(c);
    check_deflate(c);
    check_deflate_shared(c);
    check_deflate_kept(c);
    check_deflate_virtual(c);
    check_deflate_complex(c);
    check_shuffle(c);
    check_png_bombs(c);
    if (AIRY_HAVE_TIFF)
        check_tiff_tile(c);
}
