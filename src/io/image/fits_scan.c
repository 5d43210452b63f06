/*
 * CFITSIO 4.2 takes what a header says as it comes: a tile of length 0, or of a text that is no
 * number, is a division by it while the file is opened; a table with a negative axis is read with
 * variables that were never set; two cards of one keyword count once as the first and once as the
 * last. So all that decides over sizes must stand there once, in one way that cannot be read
 * differently, and each HDU must begin where this file looks for it.
 * Source: FITS Standard 4.0 (IAU FITS Working Group, 2018), sections 4.2, 4.4.1, 7.3 and 10.1;
 *         how keywords are found: CFITSIO 4.2, ffgknm and ffpsvc.
 */
#include "io/image/fits_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/size.h"
#include "io/image/fits_header.h"
#include "io/file/plain_file.h"

enum { MAX_AXES = 16, MAX_BLOCKS = 1 << 16, BLOCK_CARDS = FITS_BLOCK / FITS_CARD };
/* CFITSIO 4.2 repeats a text that is no integer in a message with room for this much of it. */
enum { MAX_INTEGER_TEXT = 28 };
/* It has room for this much of a column's name, and takes a value without quotes as it stands. */
enum { MAX_NAME = 69 };
enum { MAX_DIGITS = 18, MAX_COLUMNS = 999 };
/* CFITSIO takes memory for a whole tile, however small the image. */
enum { LARGE_TILE = 1 << 22 };

/* The numbers of a header; those with an index are MAX_AXES each. */
enum number {
    BITPIX,
    NAXIS,
    PCOUNT,
    GCOUNT,
    TFIELDS,
    THEAP,
    AXES,
    ZAXES = AXES + MAX_AXES,
    TILES = ZAXES + MAX_AXES,
    VALUES = TILES + MAX_AXES,
    GROUPS = VALUES + MAX_AXES,
    ZIMAGE,
    DITHER,
    NUMBERS,
    EXTENSION = NUMBERS, /* texts */
    COMPRESSION,
    VALUE_NAMES,
    NONE
};

struct hdu {
    long long numbers[NUMBERS];
    bool seen[NUMBERS];
    char names[MAX_AXES][16]; /* of the values */
    char compression[16], extension[16];
};

/* BRIEF: anything that CFITSIO has room for in a message; NAME: for a column's name. */
enum form { WHOLE, BRIEF, TEXT, NAME, FLAG };

/* What decides over sizes, or is read as an integer. '#' is an index. */
static const struct key {
    const char *name;
    enum form form;
    enum number what;
} keys[] = {
    {"BITPIX", WHOLE, BITPIX},     {"NAXIS", WHOLE, NAXIS},         {"NAXIS#", WHOLE, AXES},
    {"PCOUNT", WHOLE, PCOUNT},     {"GCOUNT", WHOLE, GCOUNT},       {"TFIELDS", WHOLE, TFIELDS},
    {"THEAP", WHOLE, THEAP},       {"ZBITPIX", WHOLE, NONE},        {"ZNAXIS", WHOLE, NONE},
    {"ZNAXIS#", WHOLE, ZAXES},     {"ZTILE#", WHOLE, TILES},        {"ZVAL#", BRIEF, VALUES},
    {"BLANK", BRIEF, NONE},        {"TNULL#", BRIEF, NONE},         {"TBCOL#", BRIEF, NONE},
    {"EXTVER", BRIEF, NONE},       {"EXTLEVEL", BRIEF, NONE},       {"ZPCOUNT", BRIEF, NONE},
    {"ZGCOUNT", BRIEF, NONE},      {"ZBLANK", BRIEF, NONE},         {"ZDITHER0", WHOLE, DITHER},
    {"XTENSION", TEXT, EXTENSION}, {"ZCMPTYPE", TEXT, COMPRESSION}, {"ZNAME#", TEXT, VALUE_NAMES},
    {"TFORM#", TEXT, NONE},        {"TTYPE#", NAME, NONE},          {"GROUPS", FLAG, GROUPS},
    {"ZIMAGE", FLAG, ZIMAGE},
};

airy_status airy_fits_read_at(const struct fits_bytes *bytes, void *out, uint64_t at, size_t size)
{
    AIRY_FAIL_IF(at > bytes->size || size > bytes->size - at, AIRY_ERR_FORMAT,
                 "%zu bytes at %llu of %llu: the file is cut", size, (unsigned long long)at,
                 (unsigned long long)bytes->size);
    if (!bytes->memory)
        return airy_file_pread(bytes->fd, out, size, at);
    memcpy(out, (const char *)bytes->memory + at, size);
    return AIRY_OK;
}

/* The keyword as CFITSIO takes it: up to a blank or '=', or behind HIERARCH. */
static void take_name(char name[FITS_CARD + 1], const char *card)
{
    size_t n = strcspn(card, " =");
    if (memcmp(card, "HIERARCH ", 9) == 0) {
        const char *equals = strchr(card, '=');
        card += 9 + strspn(card + 9, " ");
        n = equals && equals > card ? (size_t)(equals - card) : 0;
        while (n > 0 && card[n - 1] == ' ')
            n--;
    }
    memcpy(name, card, n);
    name[n] = 0;
}

/* The key of that name in any case, and its index from 0 on; NULL: it decides over nothing. */
static const struct key *find_key(size_t *index, const char *name)
{
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const size_t n = strcspn(keys[i].name, "#");
        if (strncasecmp(name, keys[i].name, n) != 0)
            continue;
        *index = 0;
        if (!keys[i].name[n] && !name[n])
            return &keys[i];
        if (keys[i].name[n] && name[n] >= '1' && name[n] <= '9' &&
            !name[n + strspn(name + n, "0123456789")]) {
            *index = (size_t)strtoul(name + n, NULL, 10) - 1;
            return &keys[i];
        }
    }
    return NULL;
}

/* A sign and digits, and nothing behind them that could belong to them. */
static bool take_whole(long long *number, const char *text)
{
    const size_t sign = *text == '-' || *text == '+', digits = strspn(text + sign, "0123456789");
    const char after = text[sign + digits];
    *number = digits <= MAX_DIGITS ? strtoll(text, NULL, 10) : 0;
    return digits > 0 && digits <= MAX_DIGITS && (after == ' ' || after == '/' || after == 0);
}

/* Between quotes, without the blanks at its end. */
static bool take_text(char out[16], const char *text)
{
    const char *end = *text == '\'' ? strchr(text + 1, '\'') : NULL;
    size_t n = end ? (size_t)(end - text - 1) : 0;
    while (n > 0 && text[n] == ' ')
        n--;
    snprintf(out, 16, "%.*s", (int)n, text + 1);
    return end && end[1] != '\'';
}

static bool is_brief(const char *text)
{
    const char *end = *text == '\'' ? strchr(text + 1, '\'') : text + strcspn(text, " /");
    return *text != '(' && end && (*end != '\'' || end[1] != '\'') &&
           end - text <= MAX_INTEGER_TEXT;
}

/* What has no quotes must be a word that is short enough. */
static bool is_name(const char *text)
{
    return *text == '\'' || (*text != '(' && strcspn(text, " /") <= MAX_NAME);
}

/* Twice is no harm where both say the same. */
static airy_status keep_number(struct hdu *h, const char *name, size_t field, long long number)
{
    AIRY_FAIL_IF(h->seen[field] && h->numbers[field] != number, AIRY_ERR_FORMAT,
                 "%s stands there twice, as %lld and as %lld", name, h->numbers[field], number);
    h->seen[field] = true;
    h->numbers[field] = number;
    return AIRY_OK;
}

static airy_status keep_text(char kept[16], const char *name, const char *text)
{
    AIRY_FAIL_IF(kept[0] && strcmp(kept, text) != 0, AIRY_ERR_FORMAT,
                 "%s stands there twice, as '%s' and as '%s'", name, kept, text);
    memcpy(kept, text, 16);
    return AIRY_OK;
}

static airy_status note_card(struct hdu *h, const char *card, const char *name)
{
    _Static_assert(MAX_DIGITS == 18, "a message names this number");
    static const char *const wanted[] = {[WHOLE] = "an integer of at most 18 digits",
                                         [BRIEF] = "a number",
                                         [TEXT] = "a text in quotes",
                                         [NAME] = "a text in quotes",
                                         [FLAG] = "T or F"};
    char start[FITS_CARD + 3], text[16] = "";
    size_t index;
    const struct key *key = find_key(&index, name);
    if (!key)
        return AIRY_OK;
    snprintf(start, sizeof(start), "%-8s= ", name);
    AIRY_FAIL_IF(strncmp(card, start, 10) != 0 ||
                     strncmp(name, key->name, strcspn(key->name, "#")) != 0,
                 AIRY_ERR_FORMAT, "%s does not stand in columns 1 to 8 with '= ' behind", name);
    const char *value = card + 10 + strspn(card + 10, " ");
    long long number;
    const bool whole = take_whole(&number, value);
    const bool good = key->form == WHOLE   ? whole
                      : key->form == BRIEF ? is_brief(value)
                      : key->form == TEXT  ? take_text(text, value)
                      : key->form == NAME  ? is_name(value)
                                           : *value == 'T' || *value == 'F';
    size_t length = strcspn(value, "/");
    while (length > 0 && value[length - 1] == ' ')
        length--;
    AIRY_FAIL_IF(!good && length == 0, AIRY_ERR_FORMAT, "%s has no value, expected %s", name,
                 wanted[key->form]);
    AIRY_FAIL_IF(!good, AIRY_ERR_FORMAT, "%s = %.*s, expected %s", name, (int)length, value,
                 wanted[key->form]);
    if (key->what == NONE || index >= MAX_AXES)
        return AIRY_OK;
    if (key->form == TEXT)
        return keep_text(key->what == EXTENSION     ? h->extension
                         : key->what == COMPRESSION ? h->compression
                                                    : h->names[index],
                         name, text);
    return keep_number(h, name, key->what + index,
                       key->form == FLAG ? *value == 'T'
                       : whole           ? number
                                         : -1);
}

/* Header blocks from *at to the one with END. */
static airy_status scan_header(struct hdu *h, const struct fits_bytes *bytes, uint64_t *at)
{
    char block[FITS_BLOCK], card[FITS_CARD + 1] = "", name[FITS_CARD + 1];
    *h = (struct hdu){.numbers = {[GCOUNT] = 1}};
    for (size_t i = 0; i < 3 * MAX_AXES; i++)
        h->numbers[AXES + i] = 1; /* AXES, ZAXES and TILES */
    for (int blocks = 0; blocks < MAX_BLOCKS; blocks++) {
        AIRY_TRY(airy_fits_read_at(bytes, block, *at, sizeof(block)));
        *at += FITS_BLOCK;
        for (int i = 0; i < BLOCK_CARDS; i++) {
            memcpy(card, block + i * FITS_CARD, FITS_CARD);
            take_name(name, card);
            if (strcmp(name, "END") == 0)
                return AIRY_OK;
            AIRY_TRY(note_card(h, card, name));
        }
    }
    return airy_fail(AIRY_ERR_FORMAT, "a header of more than %d blocks", MAX_BLOCKS);
}

static bool is_pixel_size(long long bytes)
{
    return bytes == 1 || bytes == 2 || bytes == 4;
}

static bool is_block_size(long long pixels)
{
    return pixels >= 1 && pixels <= 1 << 16;
}

static airy_status check_tiles(const struct hdu *h)
{
    const long long *sizes = h->numbers + ZAXES, *tiles = h->numbers + TILES,
                    *values = h->numbers + VALUES;
    const bool rice = strcmp(h->compression, "RICE_1") == 0 ||
                      strcmp(h->compression, "RICE_ONE") == 0;
    /* CFITSIO takes block size and bytes a pixel by their place; no bytes a pixel means 4. */
    AIRY_FAIL_IF(rice &&
                     (!is_block_size(values[0]) || (values[1] != 0 && !is_pixel_size(values[1]))),
                 AIRY_ERR_FORMAT,
                 "RICE tiles: ZVAL1 = %lld, ZVAL2 = %lld, expected blocks of 1 to 65536 and pixels "
                 "of 1, 2 or 4 bytes",
                 values[0], values[1]);
    long long pixels = 1;
    bool beyond = false;
    for (int i = 0; i < MAX_AXES; i++) {
        AIRY_FAIL_IF(sizes[i] < 1, AIRY_ERR_FORMAT, "ZNAXIS%d = %lld, expected at least 1", i + 1,
                     sizes[i]);
        AIRY_FAIL_IF(tiles[i] < 1, AIRY_ERR_FORMAT, "ZTILE%d = %lld, expected 1 or more", i + 1,
                     tiles[i]);
        beyond |= tiles[i] > sizes[i];
        pixels = tiles[i] > LARGE_TILE / pixels ? LARGE_TILE + 1 : pixels * tiles[i];
        AIRY_FAIL_IF(beyond && pixels > LARGE_TILE, AIRY_ERR_FORMAT,
                     "ZTILE%d = %lld: tiles that are larger than the image, expected at most %d "
                     "pixels",
                     i + 1, tiles[i], LARGE_TILE);
        AIRY_FAIL_IF(strcmp(h->names[i], "BLOCKSIZE") == 0 && !is_block_size(values[i]),
                     AIRY_ERR_FORMAT, "BLOCKSIZE of the tiles = %lld, expected 1 to 65536",
                     values[i]);
        AIRY_FAIL_IF(strcmp(h->names[i], "BYTEPIX") == 0 && !is_pixel_size(values[i]),
                     AIRY_ERR_FORMAT, "BYTEPIX of the tiles = %lld, expected 1, 2 or 4", values[i]);
    }
    return AIRY_OK;
}

static airy_status check_counts(const struct hdu *h)
{
    const long long *n = h->numbers;
    AIRY_FAIL_IF(n[NAXIS] < 0 || n[NAXIS] > MAX_AXES, AIRY_ERR_FORMAT,
                 "NAXIS = %lld, expected 0 to %d", n[NAXIS], MAX_AXES);
    for (int i = 0; i < n[NAXIS]; i++)
        AIRY_FAIL_IF(n[AXES + i] < 0, AIRY_ERR_FORMAT, "NAXIS%d = %lld, expected 0 or more", i + 1,
                     n[AXES + i]);
    AIRY_FAIL_IF(n[PCOUNT] < 0 || n[GCOUNT] < 0 || (n[NAXIS] == 0 && n[PCOUNT] > 0),
                 AIRY_ERR_FORMAT, "PCOUNT = %lld, GCOUNT = %lld, expected 0 and 1", n[PCOUNT],
                 n[GCOUNT]);
    AIRY_FAIL_IF(n[TFIELDS] < 0 || n[TFIELDS] > MAX_COLUMNS, AIRY_ERR_FORMAT,
                 "TFIELDS = %lld, expected 0 to %d", n[TFIELDS], MAX_COLUMNS);
    /* CFITSIO begins in its list of random numbers there, less one. */
    AIRY_FAIL_IF(h->seen[DITHER] && (n[DITHER] < 1 || n[DITHER] > 10000), AIRY_ERR_FORMAT,
                 "ZDITHER0 = %lld, expected 1 to 10000", n[DITHER]);
    return AIRY_OK;
}

static bool is_table(const struct hdu *h)
{
    const char *kind = h->extension + strspn(h->extension, " ");
    return strcmp(kind, "BINTABLE") == 0 || strcmp(kind, "A3DTABLE") == 0 ||
           strcmp(kind, "3DTABLE") == 0;
}

static size_t pad(size_t bytes)
{
    return (bytes + FITS_BLOCK - 1) / FITS_BLOCK * FITS_BLOCK;
}

/* Bytes of the data, padded. */
static airy_status data_size(size_t *bytes, const struct hdu *h)
{
    const long long *n = h->numbers;
    size_t rows = 1, all = 0;
    AIRY_TRY(check_counts(h));
    bool over = false;
    for (int i = n[GROUPS] && n[AXES] == 0 ? 1 : 0; i < n[NAXIS]; i++)
        over |= airy_mul_size(&rows, rows, (size_t)n[AXES + i]);
    if (n[NAXIS] > 0)
        over |= airy_add_size(&all, rows, (size_t)n[PCOUNT]) ||
                airy_mul_size(&all, all, (size_t)n[GCOUNT]) ||
                airy_mul_size(&all, all, (size_t)(llabs(n[BITPIX]) / 8));
    AIRY_FAIL_IF(over || all > INT64_MAX / 2, AIRY_ERR_SHAPE,
                 "its axes need more bytes than there are, expected a size below 2^64");
    *bytes = pad(all);
    /* There CFITSIO looks for what follows the table, whatever gap PCOUNT includes. */
    if (is_table(h) && h->seen[THEAP]) {
        AIRY_FAIL_IF(n[THEAP] < 0 || n[THEAP] > INT64_MAX / 4 || n[PCOUNT] > INT64_MAX / 4,
                     AIRY_ERR_FORMAT, "THEAP = %lld, expected %zu", n[THEAP], rows);
        *bytes = pad((size_t)(n[THEAP] + n[PCOUNT]));
    }
    return AIRY_OK;
}

/* More than any header has. */
enum { HEADER_ROOM = 8 << 20 };

/* *at: behind the last HDU of these bytes, or where the one begins that does not scan. */
static airy_status walk_units(uint64_t *at, const struct fits_bytes *bytes)
{
    *at = 0;
    for (int number = 0; *at < bytes->size; number++) {
        struct hdu h;
        char start[8] = "";
        /* What follows the last HDU may be anything. */
        if (number > 0 && (bytes->size - *at < FITS_BLOCK ||
                           airy_fits_read_at(bytes, start, *at, sizeof(start)) != AIRY_OK ||
                           memcmp(start, "XTENSION", 8) != 0))
            return AIRY_OK;
        size_t size = 0;
        uint64_t data = *at;
        airy_status status = scan_header(&h, bytes, &data);
        if (status == AIRY_OK)
            status = check_tiles(&h);
        if (status == AIRY_OK)
            status = data_size(&size, &h);
        if (status != AIRY_OK)
            return airy_fail_context(status, "HDU %d", number);
        AIRY_FAIL_IF(size > UINT64_MAX / 4, AIRY_ERR_FORMAT, "HDU %d: %zu bytes of data", number,
                     size);
        *at = data + size;
    }
    return AIRY_OK;
}

/* An HDU that is cut is for its reader, who says what is wrong. */
airy_status airy_fits_scan(const struct fits_bytes *bytes)
{
    uint64_t at;
    return walk_units(&at, bytes);
}

airy_status airy_fits_extent(uint64_t *extent, const struct fits_bytes *bytes)
{
    uint64_t at;
    const airy_status status = walk_units(&at, bytes);
    *extent = at + HEADER_ROOM;
    return status == AIRY_OK || bytes->size - at < HEADER_ROOM ? AIRY_OK : status;
}
