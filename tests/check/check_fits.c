/* FITS: encodings as other programs write them, headers through a file, hostile headers. */
#include "check_stack.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/image/fits_header.h"
#include "io/image/formats.h"
#include "ref_codec.h"

enum { MOST_CARDS = 36 };

/* A header block of these cards ("" ends the list) and END, then data. */
static const char *fits_file(struct check *c, const char *const *cards, const void *data,
                             size_t bytes)
{
    uint8_t *file = check_alloc(c, FITS_BLOCK + bytes + 1);
    memset(file, ' ', FITS_BLOCK);
    size_t n = 0;
    for (; n < MOST_CARDS - 1 && cards[n]; n++)
        memcpy(file + n * FITS_CARD, cards[n], strlen(cards[n]));
    memcpy(file + n * FITS_CARD, "END", 3);
    if (bytes)
        memcpy(file + FITS_BLOCK, data, bytes);
    return stack_spill(c, "x.fits", file, FITS_BLOCK + bytes);
}

static bool same_values(const airy_image *a, const airy_image *b)
{
    if (a->ndim != b->ndim || memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof(size_t)) != 0)
        return false;
    size_t count = 1;
    for (int axis = 0; axis < a->ndim; axis++)
        count *= a->shape[axis];
    for (size_t i = 0; i < count; i++) {
        const double x = airy_image_value(a, i), y = airy_image_value(b, i);
        if (x != y && (x == x || y == y)) /* NaN where the other has NaN */
            return false;
    }
    return true;
}

/* 17 encodings of another program; values and shape exact. */
static void check_variants(struct check *c)
{
    static const struct {
        const char *name;
        airy_dtype dtype;
    } files[] = {
        {"u8", AIRY_DTYPE_U8},
        {"i16", AIRY_DTYPE_I16},
        {"u16_bzero", AIRY_DTYPE_U16},
        {"i32", AIRY_DTYPE_I32},
        {"i64", AIRY_DTYPE_I64},
        {"f4_nan", AIRY_DTYPE_F32},
        {"f8", AIRY_DTYPE_F64},
        {"cube_f4", AIRY_DTYPE_F32},
        {"radio4d_f4", AIRY_DTYPE_F32},
        {"i16_bscale_blank", AIRY_DTYPE_F32}, /* the truth is f64; its quarters are exact in f32 */
        {"comp_RICE_1", AIRY_DTYPE_I16},
        {"comp_GZIP_1", AIRY_DTYPE_I16},
        {"comp_GZIP_2", AIRY_DTYPE_I16},
        {"comp_HCOMPRESS_1", AIRY_DTYPE_I16},
        {"comp_PLIO_1", AIRY_DTYPE_I16},
        {"comp_GZIP2_f4_lossless", AIRY_DTYPE_F32},
        {"comp_RICE_f4_dither1", AIRY_DTYPE_F32},
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char name[128], copy[600], truth[1024], value[FITS_CARD];
        if (!check_case(c, "fits_%s", files[i].name))
            continue;
        snprintf(name, sizeof(name), "astro/fitsvariants/%s.fits", files[i].name);
        const char *path = check_golden(c, name);
        const char *values = path ? check_golden(c, "astro/fitsvariants/truth.h5") : NULL;
        if (!values)
            continue;
        snprintf(truth, sizeof(truth), "%s::/%s", values, files[i].name);
        airy_image got = {0}, want = {0}, back = {0};
        if (!CHECK_OK(c, airy_image_read(&got, path)) ||
            !CHECK_OK(c, airy_image_read(&want, truth)))
            continue;
        CHECK(c, got.dtype == files[i].dtype && got.header);
        CHECK(c, airy_header_get(got.header, "BITPIX", value) &&
                     airy_header_get(got.header, "NAXIS1", value) &&
                     !airy_header_get(got.header, "TFORM1", value) &&
                     !airy_header_get(got.header, "ZTILE1", value));
        CHECK(c, same_values(&got, &want));
        snprintf(copy, sizeof(copy), "%s/%s.fits", check_tmp(c), files[i].name);
        CHECK_OK(c, airy_image_write(&got, copy, false));
        if (CHECK_OK(c, airy_image_read(&back, copy)))
            CHECK(c, back.dtype == got.dtype && same_values(&got, &back));
        airy_image_free(&got);
        airy_image_free(&want);
        airy_image_free(&back);
    }
}

/* Coordinates, beam and history stay with the pixels; units go where the values become others. */
static void check_header(struct check *c)
{
    if (!check_case(c, "fits_header"))
        return;
    static const char *const cards[] = {
        "SIMPLE  =                    T",
        "BITPIX  =                   16",
        "NAXIS   =                    2",
        "NAXIS1  =                    2",
        "NAXIS2  =                    1",
        "BSCALE  =              1.5D+00 / Fortran's exponent",
        "BZERO   =                   10",
        "BLANK   =                   -1",
        "CTYPE1  = 'RA---SIN'           / it's a projection",
        "CRVAL1  =      1.234567890D+02",
        "BUNIT   = 'JY/BEAM '",
        "BMAJ    =   6.944444444444E-03",
        "HISTORY AIPS   CLEAN BMAJ=  1.0000E-02 BMIN=  1.0000E-02 BPA=   0.00",
        NULL};
    static const uint8_t data[4] = {0xff, 0xff, 0, 4};
    airy_image image = {0}, back = {0}, mask = {.dtype = AIRY_DTYPE_U8, .ndim = 2, .shape = {1, 2}};
    char value[FITS_CARD];
    double number = 0;
    if (!CHECK_OK(c, airy_image_read(&image, fits_file(c, cards, data, 4))))
        return;
    CHECK(c, image.dtype == AIRY_DTYPE_F32 &&
                 airy_image_value(&image, 0) != airy_image_value(&image, 0));
    CHECK(c, airy_image_value(&image, 1) == 16);
    CHECK(c, airy_header_get(image.header, "CTYPE1", value) && strcmp(value, "RA---SIN") == 0);
    CHECK(c, airy_header_number(image.header, "CRVAL1", &number) && number == 123.4567890);
    CHECK(c, !airy_header_get(image.header, "CRVAL2", value));
    CHECK(c, !airy_header_number(image.header, "BUNIT", &number));
    char path[512];
    snprintf(path, sizeof(path), "%s/y.fits", check_tmp(c));
    CHECK_OK(c, airy_image_write(&image, path, false));
    CHECK_OK(c, airy_image_read(&back, path));
    CHECK(c, same_values(&image, &back));
    CHECK(c, airy_header_get(back.header, "BUNIT", value) && strcmp(value, "JY/BEAM") == 0);
    CHECK(c, airy_header_number(back.header, "BMAJ", &number) && number == 6.944444444444e-3);
    CHECK(c, !airy_header_get(back.header, "BSCALE", value));
    CHECK(c, strstr(back.header->text, "AIPS   CLEAN") != NULL);
    airy_image_free(&back);
    mask.data = malloc(2);
    memcpy(mask.data, "\1\0", 2);
    CHECK_OK(c, airy_image_copy_header(&mask, &image));
    CHECK_OK(c, airy_image_write(&mask, path, true));
    CHECK_OK(c, airy_image_read(&back, path));
    CHECK(c, back.dtype == AIRY_DTYPE_U8 && airy_header_get(back.header, "CTYPE1", value) &&
                 !airy_header_get(back.header, "BUNIT", value));
    mask.shape[0] = 2;
    mask.shape[1] = 1;
    CHECK_FAILS(c, airy_image_write(&mask, path, true), AIRY_ERR_SHAPE, "another shape");
    CHECK_FAILS(c, airy_image_copy_header(&mask, NULL), AIRY_ERR_PARAM, "missing");
    airy_image_free(&mask);
    airy_image_free(&back);
    airy_image_free(&image);
}

#define FITS_START "SIMPLE  =                    T", "BITPIX  =                   16"

static void check_hostile(struct check *c)
{
    if (!check_case(c, "fits_hostile"))
        return;
    static const struct {
        const char *cards[8];
        airy_status status;
        const char *part;
    } bad[] = {
        {{"SIMPLE  =                    T"}, AIRY_ERR_FORMAT, "CFITSIO"},
        {{FITS_START}, AIRY_ERR_FORMAT, "CFITSIO"},
        {{"SIMPLE  =                    T", "BITPIX  =                  -16",
          "NAXIS   =                    1", "NAXIS1  =                    2"},
         AIRY_ERR_FORMAT,
         "CFITSIO"},
        {{FITS_START, "NAXIS   =                   -1"}, AIRY_ERR_FORMAT, "NAXIS = -1, expected 0"},
        {{FITS_START, "NAXIS   =                    2", "NAXIS1  =                    2"},
         AIRY_ERR_FORMAT,
         "CFITSIO"},
        {{FITS_START, "NAXIS   =                    1", "NAXIS1  =                   -5"},
         AIRY_ERR_FORMAT,
         "NAXIS1 = -5, expected 0"},
        {{FITS_START, "NAXIS   =                   17"}, AIRY_ERR_FORMAT, "NAXIS = 17, expected 0"},
        {{FITS_START, "NAXIS   =                    1", "NAXIS1  =                  2.5"},
         AIRY_ERR_FORMAT,
         "NAXIS1 = 2.5"},
        {{FITS_START, "NAXIS   =                    1", "NAXIS1 =                     2"},
         AIRY_ERR_FORMAT,
         "NAXIS1 does not stand in columns 1 to 8"},
        {{FITS_START, "NAXIS   =                    1", "NAXIS1  =                    2",
          "naxis1  =                    2"},
         AIRY_ERR_FORMAT,
         "naxis1 does not stand"},
        {{FITS_START, "NAXIS   =                    0", "PCOUNT  =                 2880"},
         AIRY_ERR_FORMAT,
         "PCOUNT = 2880"},
        {{FITS_START, "NAXIS   =                    1", "NAXIS1  =                    2",
          "BLANK   = 'a text that has no end and is longer than CFITSIO has room for"},
         AIRY_ERR_FORMAT,
         "expected a number"},
        {{FITS_START, "NAXIS   =                    1", "NAXIS1  =                    2",
          "BLANK   = 'a ''text'' that has no end and is longer than there is room for"},
         AIRY_ERR_FORMAT,
         "expected a number"},
        {{FITS_START, "NAXIS   =                    1", "NAXIS1  =                    2",
          "BLANK   = (a number of two parts, longer than CFITSIO has room for it)"},
         AIRY_ERR_FORMAT,
         "expected a number"},
        {{FITS_START, "NAXIS   =                    1", "NAXIS1  =                    2",
          "TTYPE1  = a.name.that.has.no.quotes.and.is.longer.than.CFITSIO.has.room.for.that"},
         AIRY_ERR_FORMAT,
         "expected a text in quotes"},
        {{FITS_START, "NAXIS   =                    1", "NAXIS1  =                    0"},
         AIRY_ERR_SHAPE,
         "NAXIS1 = 0"},
        {{FITS_START, "NAXIS   =                    1", "NAXIS1  =                   99"},
         AIRY_ERR_FORMAT,
         "the file is cut"},
        {{FITS_START, "NAXIS   =                    2", "NAXIS1  =           4294967296",
          "NAXIS2  =           4294967296"},
         AIRY_ERR_SHAPE,
         "below 2^64"},
        {{FITS_START, "NAXIS   =                    2", "NAXIS1  =               100000",
          "NAXIS2  =               100000"},
         AIRY_ERR_FORMAT,
         "the file is cut"},
        {{FITS_START, "NAXIS   =                    1", "NAXIS1  =                    2",
          "BSCALE  = 'x       '"},
         AIRY_ERR_FORMAT,
         "BSCALE"},
        {{FITS_START, "NAXIS   =                    1", "NAXIS1  =                    2",
          "BSCALE  =                  0.0"},
         AIRY_ERR_FORMAT,
         "BSCALE = 0"},
    };
    airy_image image;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_FAILS(c, airy_image_read(&image, fits_file(c, bad[i].cards, "\0\1\0\2", 4)),
                    bad[i].status, bad[i].part);
    static const char *const none[] = {FITS_START, "NAXIS   =                    0", NULL};
    CHECK_FAILS(c, airy_image_read(&image, fits_file(c, none, "", 0)), AIRY_ERR_UNSUPPORTED,
                "no image");
    static const char *const deep[] = {FITS_START,
                                       "NAXIS   =                    6",
                                       "NAXIS1  =                    1",
                                       "NAXIS2  =                    1",
                                       "NAXIS3  =                    1",
                                       "NAXIS4  =                    1",
                                       "NAXIS5  =                    2",
                                       "NAXIS6  =                    1",
                                       NULL};
    CHECK_FAILS(c, airy_image_read(&image, fits_file(c, deep, "\0\1\0\2", 4)), AIRY_ERR_UNSUPPORTED,
                "NAXIS = 5, expected 1 to 4");
    CHECK_FAILS(c, airy_image_read(&image, stack_spill(c, "x.fits", "SIMPLE  =", 9)),
                AIRY_ERR_FORMAT, "no FITS file");
    CHECK_FAILS(c, airy_image_read(&image, stack_spill(c, "x.fits", "", 0)), AIRY_ERR_FORMAT,
                "no FITS file");
    CHECK_FAILS(c, airy_image_read(&image, stack_spill(c, "x.fits.gz", "\x1f\x8b\x08xxxxxxx", 10)),
                AIRY_ERR_CORRUPT, "gzip");
    CHECK_FAILS(c, airy_image_read(&image, "/proc/none/x.fits[2]"), AIRY_ERR_NOT_FOUND,
                "cannot open");
    const char *path = check_golden(c, "astro/fitsvariants/i16.fits");
    char name[1024];
    snprintf(name, sizeof(name), "%s[1]", path ? path : "");
    CHECK_FAILS(c, airy_image_read(&image, name), AIRY_ERR_NOT_FOUND, "no extension [1]");
    snprintf(name, sizeof(name), "%s[SCI,2]", path ? path : "");
    CHECK_FAILS(c, airy_image_read(&image, name), AIRY_ERR_NOT_FOUND, "no extension [SCI,2]");
    snprintf(name, sizeof(name), "%s[-1]", path ? path : "");
    CHECK_FAILS(c, airy_image_read(&image, name), AIRY_ERR_PARAM, "expected 0");
}

static const uint8_t *find_card(const uint8_t *bytes, size_t size, const char *text)
{
    const size_t n = strlen(text);
    for (size_t i = 0; i + FITS_CARD <= size; i += FITS_CARD)
        if (memcmp(bytes + i, text, n) == 0)
            return bytes + i;
    return NULL;
}

/* The first tile's data are cut to so many bytes. */
static void check_tile_end(struct check *c, const char *name, unsigned left, const char *part)
{
    char path[128];
    size_t size = 0;
    airy_image image = {0};
    snprintf(path, sizeof(path), "astro/fitsvariants/%s.fits", name);
    const char *found = check_golden(c, path);
    uint8_t *bytes = found ? stack_slurp(c, found, &size) : NULL;
    const uint8_t *end = bytes ? find_card(bytes + FITS_BLOCK, size - FITS_BLOCK, "END     ")
                               : NULL;
    if (!end)
        return;
    uint8_t *descriptor = bytes + ((size_t)(end - bytes) / FITS_BLOCK + 1) * FITS_BLOCK;
    descriptor[2] = (uint8_t)(left >> 8);
    descriptor[3] = (uint8_t)left;
    CHECK_FAILS(c, airy_image_read(&image, stack_spill(c, "x.fits", bytes, size)), AIRY_ERR_CORRUPT,
                part);
}

/* Tile tables that lie, and compressed files cut at any place: an error, never more. */
static void check_tiles(struct check *c)
{
    if (!check_case(c, "fits_hostile_tiles"))
        return;
    static const struct {
        const char *card, *lie;
    } lies[] = {
        {"ZTILE1  =", "ZTILE1  =           2147483647"},
        {"ZTILE1  =", "ZTILE1  =   999999999999999999"},
        {"ZTILE1  =", "ZTILE1  =                    0"},
        {"ZCMPTYPE=", "ZTILE1  =                   72"},
        {"ZVAL1   =", "ZVAL1   =                    0"},
        {"ZVAL2   =", "ZVAL2   =                    3"},
        {"ZTILE2  =", "ZTILE2  =                   -3"},
        {"ZNAXIS1 =", "ZNAXIS1 =                    0"},
        {"ZNAXIS1 =", "ZNAXIS1 =                   99"},
        {"ZNAXIS2 =", "ZNAXIS2 =             99999999"},
        {"ZBITPIX =", "ZBITPIX =                   17"},
        {"ZCMPTYPE=", "ZCMPTYPE= 'NONE_SUCH'"},
        {"NAXIS2  =", "NAXIS2  =                   64"},
        {"NAXIS2  =", "NAXIS2  =             99999999"},
        {"ZTILE1  =", "ZTILE1  =0                  73"},
        {"ZTILE1  =", "ZTILE1 =                    73"},
        {"ZTILE1  =", "ZTILE1  =                   73\xe3"},
        {"ZVAL2   =", "ZVAL2   =          (         2"},
        {"TFIELDS =", "TFIELDS =                   -1"},
        {"NAXIS1  =", "NAXIS1  =                   -8"},
        {"EXTNAME =", "HIERARCH ZTILE1 = 0           "},
        {"EXTNAME =", "PCOUNT  =                    1"},
        {"EXTNAME =", "THEAP   =                   -1"},
        {"EXTNAME =", "ZDITHER0=                    0"},
        {"EXTNAME =", "ZDITHER0=                10001"},
        {"EXTNAME =", "ZCMPTYPE= 'GZIP_1  '          "},
        {"EXTNAME =", "ZIMAGE  =                    F"},
        {"ZVAL1   =", "ZVAL1   = 'twenty-nine characters and more of it'"},
        {"ZTILE2  =", "ZTILE2  = 123456789012345678901234567890x"},
        {"PCOUNT  =", "PCOUNT  = 12345678901234567890123456789.x"},
    };
    const char *path = check_golden(c, "astro/fitsvariants/comp_RICE_1.fits");
    size_t size = 0;
    uint8_t *bytes = path ? stack_slurp(c, path, &size) : NULL;
    airy_image image = {0};
    for (size_t i = 0; bytes && i < sizeof(lies) / sizeof(lies[0]); i++) {
        uint8_t *copy = check_alloc(c, size);
        memcpy(copy, bytes, size);
        const uint8_t *card = find_card(copy + FITS_BLOCK, size - FITS_BLOCK, lies[i].card);
        if (!CHECK(c, card != NULL))
            continue;
        memcpy(copy + (card - copy), lies[i].lie, strlen(lies[i].lie));
        CHECK(c, airy_image_read(&image, stack_spill(c, "x.fits", copy, size)) != AIRY_OK);
    }
    /* The first descriptor, right behind the table's header: 4 bytes length, 4 bytes offset. */
    const uint8_t *end = bytes ? find_card(bytes + FITS_BLOCK, size - FITS_BLOCK, "END     ")
                               : NULL;
    if (end) {
        const size_t table = ((size_t)(end - bytes) / FITS_BLOCK + 1) * FITS_BLOCK;
        uint8_t *copy = check_alloc(c, size);
        memcpy(copy, bytes, size);
        memset(copy + table, 0x7f, 4);
        CHECK_FAILS(c, airy_image_read(&image, stack_spill(c, "x.fits", copy, size)),
                    AIRY_ERR_CORRUPT, "tile 0: 2139062143 elements");
        memcpy(copy, bytes, size);
        copy[table + 3] = 2; /* two bytes of RICE data for a row of pixels */
        CHECK_FAILS(c, airy_image_read(&image, stack_spill(c, "x.fits", copy, size)),
                    AIRY_ERR_CORRUPT, "tile 0: the RICE data end");
    }
    check_tile_end(c, "comp_GZIP_1", 20, "tile 0: its gzip data do not end");
    check_tile_end(c, "comp_HCOMPRESS_1", 24, "HCOMPRESS data of 24 bytes");
    check_tile_end(c, "comp_HCOMPRESS_1", 2859, "tile 0: the HCOMPRESS data end inside a value");
    for (size_t cut = FITS_BLOCK; bytes && cut + FITS_BLOCK < size; cut += 997)
        CHECK(c, airy_image_read(&image, stack_spill(c, "x.fits", bytes, cut)) != AIRY_OK);
}

/* Write a gzip member that stores these bytes without compression. Returns its size. */
static size_t gzip_stored(uint8_t *to, const uint8_t *bytes, size_t size)
{
    static const uint8_t start[11] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 1};
    const uint16_t length[2] = {(uint16_t)size, (uint16_t)~size};
    const uint32_t end[2] = {ref_crc32(bytes, size), (uint32_t)size};
    memcpy(to, start, 11);
    memcpy(to + 11, length, 4);
    memcpy(to + 15, bytes, size);
    memcpy(to + 15 + size, end, 8);
    return size + 23;
}

enum { TILE_SIDE = 16, TILE_PIXELS = TILE_SIDE * TILE_SIDE };

/* A table of one tile, whose data are in the first column or in a second one. */
struct tile_table {
    int bitpix;
    const char *kind, *second, *form; /* second: its name, NULL: there is none */
    uint32_t length;                  /* elements, 0: all bytes */
    size_t bytes;                     /* of a pixel, packed by gzip; or of what is not packed */
    bool packed;
};

static void put_text(uint8_t **at, const char *name, const char *text)
{
    char card[FITS_CARD + 1];
    const int length = snprintf(card, sizeof(card), "%-8s= %s", name, text);
    memset(*at, ' ', FITS_CARD);
    memcpy(*at, card, (size_t)length);
    *at += FITS_CARD;
}

static void put_number(uint8_t **at, const char *name, int number)
{
    char text[32];
    snprintf(text, sizeof(text), "%20d", number);
    put_text(at, name, text);
}

/*
 * Write the table's header at `at` and its data into the next block. Returns the end of that block.
 */
static uint8_t *put_table(uint8_t *at, const struct tile_table *table)
{
    static const uint8_t pixels[8 * TILE_PIXELS];
    const int columns = table->second ? 2 : 1;
    uint8_t *data = at + FITS_BLOCK, *length_at = data + 8 * (columns - 1);
    const size_t raw = table->bytes * TILE_PIXELS;
    memset(at, ' ', FITS_BLOCK);
    memset(data, 0, FITS_BLOCK);
    const size_t used = table->packed ? gzip_stored(data + 8 * columns, pixels, raw) : raw;
    const size_t length = table->length ? table->length : used;
    length_at[2] = (uint8_t)(length >> 8);
    length_at[3] = (uint8_t)length;
    put_text(&at, "XTENSION", "'BINTABLE'");
    put_number(&at, "BITPIX", 8);
    put_number(&at, "NAXIS", 2);
    put_number(&at, "NAXIS1", 8 * columns);
    put_number(&at, "NAXIS2", 1);
    put_number(&at, "PCOUNT", FITS_BLOCK - 8 * columns);
    put_number(&at, "GCOUNT", 1);
    put_number(&at, "TFIELDS", columns);
    put_text(&at, "TTYPE1", "'COMPRESSED_DATA'");
    put_text(&at, "TFORM1", "'1PB(1)  '");
    if (table->second) {
        put_text(&at, "TTYPE2", table->second);
        put_text(&at, "TFORM2", table->form);
    }
    put_text(&at, "ZIMAGE", "                   T");
    put_number(&at, "ZBITPIX", table->bitpix);
    put_number(&at, "ZNAXIS", 2);
    put_number(&at, "ZNAXIS1", TILE_SIDE);
    put_number(&at, "ZNAXIS2", TILE_SIDE);
    put_number(&at, "ZTILE1", TILE_SIDE);
    put_number(&at, "ZTILE2", TILE_SIDE);
    put_number(&at, "ZVAL1", 32);
    put_number(&at, "ZVAL2", 4);
    put_text(&at, "ZCMPTYPE", table->kind);
    memcpy(at, "END", 3);
    return data + FITS_BLOCK;
}

/* Write a file of the table, with more HDUs behind it. */
static const char *tile_file(struct check *c, const struct tile_table *table, const void *behind,
                             size_t size)
{
    uint8_t *file = check_alloc(c, 3 * FITS_BLOCK + size), *at = file;
    memset(file, ' ', FITS_BLOCK);
    put_text(&at, "SIMPLE", "                   T");
    put_number(&at, "BITPIX", 8);
    put_number(&at, "NAXIS", 0);
    memcpy(at, "END", 3);
    uint8_t *end = put_table(file + FITS_BLOCK, table);
    if (size)
        memcpy(end, behind, size);
    return stack_spill(c, "x.fits", file, 3 * FITS_BLOCK + size);
}

/* Tiles of more or fewer elements than their pixels, which CFITSIO takes as they are. */
static void check_tile_elements(struct check *c)
{
    if (!check_case(c, "fits_tile_elements"))
        return;
    static const struct {
        struct tile_table table;
        const char *part; /* NULL: it is read */
    } tables[] = {
        {{32, "'GZIP_1'", NULL, NULL, 0, 4, true}, NULL},
        {{-32, "'GZIP_1'", NULL, NULL, 0, 4, true}, NULL},
        {{-32, "'GZIP_1'", NULL, NULL, 0, 1, true}, "256 pixels have 4 bytes each"},
        {{-64, "'GZIP_2'", NULL, NULL, 0, 2, true}, "256 pixels have 8 bytes each"},
        {{32, "'GZIP_1'", NULL, NULL, 0, 8, true}, "256 pixels have 1, 2 or 4 bytes each"},
        {{-64, "'GZIP_1'", "'GZIP_COMPRESSED_DATA'", "'1PB(1)'", 0, 8, true}, NULL},
        {{-64, "'GZIP_1'", "'GZIP_COMPRESSED_DATA'", "'1PB(1)'", 0, 4, true},
         "256 pixels have 8 bytes each"},
        {{-32, "'GZIP_1'", "'UNCOMPRESSED_DATA'", "'1PE(1)'", TILE_PIXELS, 4, false}, NULL},
        {{32, "'RICE_1'", "'UNCOMPRESSED_DATA'", "'1PJ(1)'", TILE_PIXELS, 4, false}, NULL},
        {{32, "'RICE_1'", "'UNCOMPRESSED_DATA'", "'1PJ(1)'", TILE_PIXELS + 1, 4, false},
         "257 elements of UNCOMPRESSED_DATA, expected its 256 pixels"},
        {{32, "'RICE_1'", "'UNCOMPRESSED_DATA'", "'1PB(1)'", 10, 4, false},
         "10 elements of UNCOMPRESSED_DATA, expected its 256 pixels"},
        {{-32, "'RICE_1'", NULL, NULL, 0, 4, false}, "not quantised in tiles of 'RICE_1'"},
    };
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        airy_image image = {0};
        const char *path = tile_file(c, &tables[i].table, NULL, 0);
        const airy_status status = airy_image_read(&image, path);
        if (!tables[i].part)
            CHECK(c, status == AIRY_OK && airy_image_value(&image, TILE_PIXELS - 1) == 0);
        else
            CHECK(c, status != AIRY_OK && strstr(airy_last_error(), tables[i].part) != NULL);
        airy_image_free(&image);
    }
}

/* Quantised floats keep their values behind an image of floats that are not quantised. */
static void check_two_quantisations(struct check *c)
{
    if (!check_case(c, "fits_two_quantisations"))
        return;
    static const struct tile_table plain = {-32, "'GZIP_1'", NULL, NULL, 0, 4, true};
    size_t size = 0;
    airy_image alone = {0}, behind = {0};
    char name[1024];
    const char *found = check_golden(c, "astro/fitsvariants/comp_RICE_f4_dither1.fits");
    uint8_t *bytes = found ? stack_slurp(c, found, &size) : NULL;
    const uint8_t *table = bytes ? find_card(bytes, size, "XTENSION=") : NULL;
    if (!table)
        return;
    snprintf(name, sizeof(name), "%s[2]",
             tile_file(c, &plain, table, size - (size_t)(table - bytes)));
    if (CHECK_OK(c, airy_image_read(&alone, found)) && CHECK_OK(c, airy_image_read(&behind, name)))
        CHECK(c, same_values(&alone, &behind));
    airy_image_free(&alone);
    airy_image_free(&behind);
}

/* 64-bit integers in tiles are what CFITSIO does not read; the file is none that is damaged. */
static void check_wide_tiles(struct check *c)
{
    if (!check_case(c, "fits_wide_tiles"))
        return;
    static const char wide[] = "ZBITPIX =                   64";
    size_t size = 0;
    airy_image image = {0};
    const char *found = check_golden(c, "astro/fitsvariants/comp_GZIP_1.fits");
    uint8_t *bytes = found ? stack_slurp(c, found, &size) : NULL;
    const uint8_t *card = bytes ? find_card(bytes + FITS_BLOCK, size - FITS_BLOCK, "ZBITPIX =")
                                : NULL;
    if (!card)
        return;
    memcpy(bytes + (card - bytes), wide, sizeof(wide) - 1);
    CHECK_FAILS(c, airy_image_read(&image, stack_spill(c, "x.fits", bytes, size)),
                AIRY_ERR_UNSUPPORTED, "BITPIX = 64 in compressed tiles");
}

static void free_both(airy_image *a, airy_image *b)
{
    airy_image_free(a);
    airy_image_free(b);
}

/* Planes by themselves are those of the image that was read as a whole; and frames of a stack. */
static void check_planes_of(struct check *c, const char *path)
{
    airy_image whole = {0}, want = {0}, got = {0};
    airy_stack *stack = NULL;
    if (!path || !CHECK_OK(c, airy_image_read(&whole, path)) ||
        !CHECK_OK(c, airy_stack_create(&stack, &path, 1)))
        return;
    const size_t height = whole.shape[whole.ndim - 2], width = whole.shape[whole.ndim - 1],
                 size = height * width * airy_dtype_size(whole.dtype);
    size_t planes = 1;
    for (int axis = 0; axis < whole.ndim - 2; axis++)
        planes *= whole.shape[axis];
    void *frame = check_alloc(c, size);
    for (size_t i = 0; i < planes; i += planes / 7 + 1) {
        CHECK_OK(c, airy_image_read(&want, path));
        CHECK_OK(c, airy_image_take_plane(&want, i));
        if (CHECK_OK(c, airy_fits_read_planes(&got, path, i, 1, 1)))
            CHECK(c, got.dtype == want.dtype && same_values(&got, &want) &&
                         strcmp(got.header->text, want.header->text) == 0);
        CHECK_OK(c, airy_stack_read(stack, i, frame, size));
        CHECK(c, memcmp(frame, want.data, size) == 0);
        free_both(&want, &got);
    }
    for (size_t step = 1; step < 4 && planes > step; step++) {
        const size_t count = (planes - 2) / step + 1;
        CHECK_OK(c, airy_image_read(&want, path));
        if (airy_image_take_planes(&want, 1, count, step) == AIRY_OK &&
            CHECK_OK(c, airy_fits_read_planes(&got, path, 1, count, step)))
            CHECK(c, same_values(&got, &want) && strcmp(got.header->text, want.header->text) == 0);
        free_both(&want, &got);
    }
    if (CHECK_OK(c, airy_fits_read_planes(&got, path, 0, 0, 1)))
        CHECK(c, !got.data && got.ndim == whole.ndim && got.header &&
                     memcmp(got.shape, whole.shape, sizeof(got.shape)) == 0);
    CHECK_FAILS(c, airy_fits_read_planes(&want, path, planes, 1, 1), AIRY_ERR_PARAM, "plane");
    CHECK(c, airy_fits_read_planes(&want, path, 0, 2, SIZE_MAX) != AIRY_OK);
    airy_stack_destroy(&stack);
    free_both(&whole, &got);
}

/* Types and scalings of cubes that lie in the file as they are. */
static void check_plain_planes(struct check *c)
{
    static const char *const types[][3] = {
        {"BITPIX  =                    8", "BZERO   =                    0"},
        {"BITPIX  =                    8", "BZERO   =                 -128"},
        {"BITPIX  =                   16", "BZERO   =                32768"},
        {"BITPIX  =                   16", "BSCALE  =                  0.5", "BLANK   = 11"},
        {"BITPIX  =                   32", "BZERO   =                    7"},
        {"BITPIX  =                  -32", "BSCALE  =                  0.5"},
        {"BITPIX  =                  -64", "BZERO   =                    0"},
    };
    if (!check_case(c, "fits_planes_plain"))
        return;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        const char *const cards[] = {"SIMPLE  =                    T",
                                     types[i][0],
                                     "NAXIS   =                    3",
                                     "NAXIS1  =                    3",
                                     "NAXIS2  =                    2",
                                     "NAXIS3  =                    5",
                                     "CRPIX3  =                    2",
                                     "CDELT3  =                    1",
                                     types[i][1],
                                     types[i][2],
                                     NULL};
        uint8_t data[2880];
        for (size_t k = 0; k < sizeof(data); k++)
            data[k] = (uint8_t)(k % 8 == 0 ? 0x40 : k); /* no NaN */
        check_planes_of(c, fits_file(c, cards, data, sizeof(data)));
    }
}

/* Of a stack the second one of five; those behind it are read all the same. */
static void check_damaged_frame(struct check *c, const char *path)
{
    airy_stack *stack = NULL;
    const size_t size = sizeof(int16_t) * 73 * 13;
    void *frame = check_alloc(c, size);
    if (!CHECK_OK(c, airy_stack_create(&stack, &path, 1)))
        return;
    for (size_t i = 0; i < 5; i++) {
        if (i == 1)
            CHECK_FAILS(c, airy_stack_read(stack, i, frame, size), AIRY_ERR_CORRUPT, "tile 14");
        else
            CHECK_OK(c, airy_stack_read(stack, i, frame, size));
    }
    airy_stack_destroy(&stack);
}

/* A card that starts so becomes another one. */
static void set_card(uint8_t *table, size_t size, const char *found, const char *text)
{
    memcpy(table + (find_card(table, size, found) - table), text, strlen(text));
}

/*
 * Rows of an image are tiles, which are rows of a cube as well: 5 planes, with one of a fourth axis,
 * or 4745 of one pixel, whose tiles hold 73 of them.
 */
static void check_tiled_planes(struct check *c)
{
    if (!check_case(c, "fits_planes_tiled"))
        return;
    const char *path = check_golden(c, "astro/fitsvariants/comp_RICE_1.fits");
    size_t size = 0;
    uint8_t *bytes = path ? stack_slurp(c, path, &size) : NULL;
    uint8_t *table = bytes ? bytes + FITS_BLOCK : NULL;
    if (!table)
        return;
    const size_t rest = size - FITS_BLOCK;
    set_card(table, rest, "ZNAXIS  =", "ZNAXIS  =                    3");
    set_card(table, rest, "ZNAXIS2 =", "ZNAXIS2 =                   13");
    set_card(table, rest, "EXTNAME =", "ZNAXIS3 =                    5");
    check_planes_of(c, stack_spill(c, "x.fits", bytes, size));
    /* A tile that is damaged is one of its plane: row 14 of the table lies in the second one. */
    uint8_t *cut = check_alloc(c, size);
    memcpy(cut, bytes, size);
    const uint8_t *end = find_card(table, rest, "END     ");
    memset(cut + ((size_t)(end - bytes) / FITS_BLOCK + 1) * FITS_BLOCK + (size_t)8 * 14, 0x7f, 4);
    const char *damaged = stack_spill(c, "y.fits", cut, size);
    airy_image image = {0};
    for (size_t i = 0; i < 5; i++) {
        if (i == 1)
            CHECK_FAILS(c, airy_fits_read_planes(&image, damaged, 1, 1, 1), AIRY_ERR_CORRUPT,
                        "tile 14");
        else if (CHECK_OK(c, airy_fits_read_planes(&image, damaged, i, 1, 1)))
            airy_image_free(&image);
    }
    CHECK_FAILS(c, airy_image_read(&image, damaged), AIRY_ERR_CORRUPT, "tile 14");
    check_damaged_frame(c, damaged);
    set_card(table, rest, "ZNAXIS  =", "ZNAXIS  =                    4");
    set_card(table, rest, "ZPCOUNT =", "ZNAXIS4 =                    1");
    check_planes_of(c, stack_spill(c, "x.fits", bytes, size));
    set_card(table, rest, "ZNAXIS3 =", "ZNAXIS3 =                    1");
    set_card(table, rest, "ZNAXIS4 =", "ZNAXIS4 =                    5");
    check_planes_of(c, stack_spill(c, "x.fits", bytes, size));
    set_card(table, rest, "ZNAXIS  =", "ZNAXIS  =                    3");
    set_card(table, rest, "ZNAXIS3 =", "ZNAXIS3 =                 4745");
    set_card(table, rest, "ZNAXIS1 =", "ZNAXIS1 =                    1");
    set_card(table, rest, "ZNAXIS2 =", "ZNAXIS2 =                    1");
    set_card(table, rest, "ZTILE1  =", "ZTILE3  =                   73");
    set_card(table, rest, "ZTILE2  =", "ZTILE1  =                    1");
    check_planes_of(c, stack_spill(c, "x.fits", bytes, size));
}

/* Descriptors that are open. */
static size_t count_open(struct check *c)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (!CHECK(c, folder))
        return 0;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* Half of what is counted from `from` on, big-endian. */
static const char *scaled_cube(struct check *c, const char *name, int from)
{
    static const char *const cards[] = {
        "SIMPLE  =                    T", "BITPIX  =                   16",
        "NAXIS   =                    3", "NAXIS1  =                    3",
        "NAXIS2  =                    2", "NAXIS3  =                    5",
        "BSCALE  =                  0.5", NULL};
    uint8_t data[60];
    for (size_t i = 0; i < 30; i++) {
        data[2 * i] = (uint8_t)((from + (int)i) >> 8);
        data[2 * i + 1] = (uint8_t)(from + (int)i);
    }
    size_t size = 0;
    const char *path = fits_file(c, cards, data, sizeof(data));
    const uint8_t *bytes = path ? stack_slurp(c, path, &size) : NULL;
    return bytes ? stack_spill(c, name, bytes, size) : NULL;
}

static void check_frame(struct check *c, const airy_stack *stack, size_t frame, int from)
{
    float got[6] = {0};
    CHECK_OK(c, airy_stack_read(stack, frame, got, sizeof(got)));
    for (size_t i = 0; i < 6; i++)
        CHECK(c, got[i] == 0.5f * (float)(from + (int)(frame % 5 * 6 + i)));
}

/* The first byte of a file. */
static void set_start(struct check *c, const char *path, char start)
{
    const int fd = open(path, O_WRONLY);
    CHECK(c, fd >= 0 && pwrite(fd, &start, 1, 0) == 1);
    close(fd);
}

/* A file is looked into once for frames that follow each other, and closed with its stack. */
static void check_kept(struct check *c)
{
    if (!check_case(c, "fits_planes_kept"))
        return;
    const char *const paths[] = {scaled_cube(c, "a.fits", 0), scaled_cube(c, "b.fits", 1000)};
    const size_t before = count_open(c);
    airy_stack *stack = NULL;
    float frame[6];
    if (!paths[0] || !paths[1] || !CHECK_OK(c, airy_stack_create(&stack, paths, 2)))
        return;
    check_frame(c, stack, 0, 0);
    set_start(c, paths[0], 'X');
    check_frame(c, stack, 4, 0);
    check_frame(c, stack, 5, 1000);
    CHECK_FAILS(c, airy_stack_read(stack, 1, frame, sizeof(frame)), AIRY_ERR_FORMAT, "SIMPLE");
    set_start(c, paths[0], 'S');
    check_frame(c, stack, 1, 0);
    check_frame(c, stack, 9, 1000);
    CHECK(c, count_open(c) > before);
    airy_stack_destroy(&stack);
    CHECK(c, count_open(c) == before);
}

/* An open file needs its name no more, and what is refused leaves it open. */
static void check_open(struct check *c)
{
    if (!check_case(c, "fits_planes_open"))
        return;
    const char *path = scaled_cube(c, "a.fits", 0);
    const size_t before = count_open(c);
    airy_fits *fits = NULL;
    airy_image want = {0}, got = {0};
    if (!path || !CHECK_OK(c, airy_fits_read_planes(&want, path, 1, 2, 2)) ||
        !CHECK_OK(c, airy_fits_open(&fits, path)))
        return;
    unlink(path);
    if (CHECK_OK(c, airy_fits_read(&got, fits, 0, 0, 1)))
        CHECK(c, !got.data && got.ndim == 3 && got.header);
    CHECK_FAILS(c, airy_fits_read(&got, fits, got.shape[0], 1, 1), AIRY_ERR_PARAM, path);
    airy_image_free(&got);
    if (CHECK_OK(c, airy_fits_read(&got, fits, 1, 2, 2)))
        CHECK(c, same_values(&got, &want) && strcmp(got.header->text, want.header->text) == 0);
    free_both(&want, &got);
    airy_fits_close(&fits);
    airy_fits_close(&fits);
    CHECK(c, !fits && count_open(c) == before);
    CHECK_FAILS(c, airy_fits_open(&fits, path), AIRY_ERR_NOT_FOUND, "cannot open");
    CHECK_FAILS(c, airy_fits_open(&fits, NULL), AIRY_ERR_PARAM, "missing");
    CHECK_FAILS(c, airy_fits_read(&got, NULL, 0, 0, 1), AIRY_ERR_PARAM, "missing");
}

static void check_planes(struct check *c)
{
    static const char *const cubes[] = {"cube_f4", "radio4d_f4", "u16_bzero", "comp_HCOMPRESS_1"};
    for (size_t i = 0; i < sizeof(cubes) / sizeof(cubes[0]); i++) {
        char name[128];
        snprintf(name, sizeof(name), "astro/fitsvariants/%s.fits", cubes[i]);
        if (check_case(c, "fits_planes_%s", cubes[i]))
            check_planes_of(c, check_golden(c, name));
    }
    check_plain_planes(c);
    check_tiled_planes(c);
    check_kept(c);
    check_open(c);
    if (!check_case(c, "fits_planes_refused"))
        return;
    airy_image image = {0};
    const char *path = check_golden(c, "astro/fitsvariants/cube_f4.fits");
    CHECK_FAILS(c, airy_fits_read_planes(NULL, path, 0, 1, 1), AIRY_ERR_PARAM, "missing");
    CHECK_FAILS(c, airy_fits_read_planes(&image, "", 0, 1, 1), AIRY_ERR_PARAM, "missing");
    CHECK_FAILS(c, airy_fits_read_planes(&image, "/proc/none/x.fits", 0, 1, 1), AIRY_ERR_NOT_FOUND,
                "cannot open");
}

static void check_list(struct check *c)
{
    if (!check_case(c, "fits_list"))
        return;
    const char *path = check_golden(c, "astro/fitsvariants/comp_RICE_1.fits");
    airy_fits_hdu *hdus = NULL;
    size_t count = 0;
    if (!path || !CHECK_OK(c, airy_fits_list(&hdus, &count, path)))
        return;
    CHECK(c, count == 2 && hdus[0].ndim == 0 && strcmp(hdus[0].kind, "header") == 0);
    CHECK(c, strcmp(hdus[1].kind, "image") == 0 && strcmp(hdus[1].compression, "RICE_1") == 0 &&
                 hdus[1].bitpix == 16 && hdus[1].ndim == 2 && hdus[1].shape[0] == 65 &&
                 hdus[1].shape[1] == 73);
    free(hdus);
    const char *folder = check_tmp(c);
    char *bare = check_alloc(c, strlen(folder) + 16);
    sprintf(bare, "%s/bare", folder);
    CHECK(c, airy_image_is_fits(path) && airy_image_is_fits("none.fits.gz") &&
                 !airy_image_is_fits("none_##.fits") && !airy_image_is_fits("none") &&
                 !airy_image_is_fits(NULL));
    CHECK(c, symlink(path, bare) == 0 && airy_image_is_fits(bare)); /* by what it starts with */
    CHECK_FAILS(c, airy_fits_list(&hdus, &count, NULL), AIRY_ERR_PARAM, "missing");
    CHECK_FAILS(c, airy_fits_list(&hdus, &count, "/proc/none/x.fits"), AIRY_ERR_NOT_FOUND,
                "cannot open");
}

/* Images of telescopes and of other programs, where they are there. */
static void check_real(struct check *c)
{
    static const struct {
        const char *name;
        size_t height, width;
    } files[] = {
        {"astro/aegean/1904-66_SIN.fits", 192, 192},
        {"astro/sep/image.fits", 256, 256},
        {"astro/caesar/ScorpioFaintSNRField.fits", 1000, 1000},
        {"astro/astropy/m13_rice.fits", 300, 300},
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (!check_case(c, "fits_real_%zu", i))
            continue;
        const char *path = check_realdata(c, files[i].name);
        airy_image image = {0};
        if (!path || !CHECK_OK(c, airy_image_read(&image, path)))
            continue;
        CHECK(c, image.ndim >= 2 && image.shape[image.ndim - 2] == files[i].height &&
                     image.shape[image.ndim - 1] == files[i].width);
        airy_image_free(&image);
    }
    if (!check_case(c, "fits_real_m13_compressed"))
        return;
    const char *plain = check_realdata(c, "astro/astropy/m13.fits"),
               *rice = plain ? check_realdata(c, "astro/astropy/m13_rice.fits") : NULL;
    airy_image a = {0}, b = {0};
    if (rice && CHECK_OK(c, airy_image_read(&a, plain)) && CHECK_OK(c, airy_image_read(&b, rice)))
        CHECK(c, same_values(&a, &b));
    airy_image_free(&a);
    airy_image_free(&b);
}

void check_fits(struct check *c)
{
    if (!c->is_cpu || !AIRY_HAVE_FITS)
        return; /* files and host memory only */
    check_variants(c);
    check_header(c);
    check_hostile(c);
    check_tiles(c);
    check_tile_elements(c);
    check_two_quantisations(c);
    check_wide_tiles(c);
    check_planes(c);
    check_list(c);
    check_real(c);
}
