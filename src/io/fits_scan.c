/*
 * CFITSIO 4.2 takes the description of compressed tiles as it comes: a tile of length 0 is a
 * division by it while the file is opened.
 * Source: FITS Standard 4.0 (IAU FITS Working Group, 2018), sections 4.4.1 and 10.1.
 */
#include "io/fits_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "io/fits_header.h"
#include "io/plain_file.h"

enum { MAX_AXES = 16, MAX_BLOCKS = 1 << 16, BLOCK_CARDS = FITS_BLOCK / FITS_CARD };
/* CFITSIO 4.2 repeats a text that is no integer in a message with room for this much of it. */
enum { MAX_INTEGER_TEXT = 28 };

struct hdu {
    long long bitpix, naxis, pcount, gcount;
    long long axes[MAX_AXES], zaxes[MAX_AXES], tiles[MAX_AXES], values[MAX_AXES];
    char names[MAX_AXES][16];
    bool groups, rice;
    bool seen[4 + 4 * MAX_AXES]; /* the numbers above, in their order */
    bool twice;                  /* one of them has two values: which counts is anybody's guess */
    char long_text[9];           /* the keyword of an integer whose value is a long text, or "" */
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

/* The field of KEYWORDn, or NULL where the card is another. */
static long long *indexed(long long *fields, const char *card, const char *keyword)
{
    const size_t n = strlen(keyword);
    if (memcmp(card, keyword, n) != 0 || card[n] < '1' || card[n] > '9')
        return NULL;
    const long index = strtol(card + n, NULL, 10); /* stops at the blank or '=' of column 9 */
    return index <= MAX_AXES ? fields + index - 1 : NULL;
}

/* What CFITSIO reads as an integer, with an index behind it or without. */
static bool is_integer_key(const char *card)
{
    static const char *const keys[] = {"BITPIX",  "NAXIS",   "PCOUNT", "GCOUNT",  "TFIELDS",
                                       "THEAP",   "BLANK",   "TNULL",  "TBCOL",   "EXTVER",
                                       "EXTLEVE", "ZBITPIX", "ZNAXIS", "ZPCOUNT", "ZGCOUNT",
                                       "ZTILE",   "ZVAL",    "ZBLANK", "ZDITHER", "ZTHEAP"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (memcmp(card, keys[i], strlen(keys[i])) == 0)
            return card[8] == '=';
    return false;
}

/* The text of the value is longer than an integer and CFITSIO's message about it may be. */
static bool is_long_text(const char *card)
{
    const char *text = card + 10 + strspn(card + 10, " ");
    const char *last = strrchr(text, '\'');
    const size_t length = *text == '\'' ? (size_t)(last - text) : strcspn(text, " /");
    return length > MAX_INTEGER_TEXT;
}

static void note_card(struct hdu *h, const char *raw)
{
    char card[FITS_CARD + 1];
    memcpy(card, raw, FITS_CARD);
    card[FITS_CARD] = 0;
    long long *field = NULL, *value;
    if (is_integer_key(card) && is_long_text(card))
        memcpy(h->long_text, card, 8);
    if (memcmp(card, "BITPIX  =", 9) == 0)
        field = &h->bitpix;
    else if (memcmp(card, "NAXIS   =", 9) == 0)
        field = &h->naxis;
    else if (memcmp(card, "PCOUNT  =", 9) == 0)
        field = &h->pcount;
    else if (memcmp(card, "GCOUNT  =", 9) == 0)
        field = &h->gcount;
    else if (memcmp(card, "GROUPS  =", 9) == 0)
        h->groups = card[29] == 'T';
    else if (memcmp(card, "ZCMPTYPE= 'RICE", 15) == 0)
        h->rice = true;
    else if ((value = indexed(h->values, card, "ZNAME")))
        (void)sscanf(card + 10, " '%15[A-Za-z0-9_]", h->names[value - h->values]);
    else if (!(field = indexed(h->axes, card, "NAXIS")) &&
             !(field = indexed(h->zaxes, card, "ZNAXIS")) &&
             !(field = indexed(h->tiles, card, "ZTILE")))
        field = indexed(h->values, card, "ZVAL");
    if (!field)
        return;
    const long long number = strtoll(card + 10, NULL, 10);
    bool *seen = h->seen + (size_t)((char *)field - (char *)h) / sizeof(*field);
    h->twice |= *seen && *field != number;
    *seen = true;
    *field = number;
}

/* Header blocks from *at to the one with END. */
static airy_status scan_header(struct hdu *h, const struct fits_bytes *bytes, uint64_t *at)
{
    char block[FITS_BLOCK];
    *h = (struct hdu){.gcount = 1};
    for (int i = 0; i < MAX_AXES; i++)
        h->tiles[i] = h->zaxes[i] = h->axes[i] = 1;
    for (int blocks = 0; blocks < MAX_BLOCKS; blocks++) {
        AIRY_TRY(airy_fits_read_at(bytes, block, *at, sizeof(block)));
        *at += FITS_BLOCK;
        for (int i = 0; i < BLOCK_CARDS; i++) {
            if (memcmp(block + i * FITS_CARD, "END     ", 8) == 0)
                return AIRY_OK;
            note_card(h, block + i * FITS_CARD);
        }
    }
    return airy_fail(AIRY_ERR_FORMAT, "a header of more than %d blocks", MAX_BLOCKS);
}

static bool is_pixel_size(long long bytes)
{
    return bytes == 1 || bytes == 2 || bytes == 4;
}

static airy_status check_tiles(const struct hdu *h)
{
    /* CFITSIO takes block size and bytes a pixel by their place; no bytes a pixel means 4. */
    AIRY_FAIL_IF(h->rice && (h->values[0] < 1 || h->values[0] > 1 << 16 ||
                             (h->values[1] != 0 && !is_pixel_size(h->values[1]))),
                 AIRY_ERR_FORMAT,
                 "RICE tiles: ZVAL1 = %lld, ZVAL2 = %lld, expected blocks of 1 to 65536 and pixels "
                 "of 1, 2 or 4 bytes",
                 h->values[0], h->values[1]);
    for (int i = 0; i < MAX_AXES; i++) {
        AIRY_FAIL_IF(h->zaxes[i] < 0 || h->tiles[i] < 1 ||
                         h->tiles[i] > (h->zaxes[i] ? h->zaxes[i] : 1),
                     AIRY_ERR_FORMAT, "ZTILE%d = %lld, expected 1 to the image's %lld", i + 1,
                     h->tiles[i], h->zaxes[i]);
        AIRY_FAIL_IF(
            strcmp(h->names[i], "BLOCKSIZE") == 0 && (h->values[i] < 1 || h->values[i] > 1 << 16),
            AIRY_ERR_FORMAT, "BLOCKSIZE of the tiles = %lld, expected 1 to 65536", h->values[i]);
        AIRY_FAIL_IF(strcmp(h->names[i], "BYTEPIX") == 0 && h->values[i] != 1 &&
                         h->values[i] != 2 && h->values[i] != 4,
                     AIRY_ERR_FORMAT, "BYTEPIX of the tiles = %lld, expected 1, 2 or 4",
                     h->values[i]);
    }
    return AIRY_OK;
}

/* Bytes of the data, padded; false: none that the file could have. */
static bool data_size(size_t *bytes, const struct hdu *h)
{
    size_t n = 1;
    if (h->naxis < 0 || h->naxis > 999 || h->pcount < 0 || h->gcount < 0)
        return false;
    for (int i = h->groups ? 1 : 0; i < MAX_AXES && i < h->naxis; i++)
        if (h->axes[i] < 0 || airy_mul_size(&n, n, (size_t)h->axes[i]))
            return false;
    *bytes = 0;
    return h->naxis == 0 ||
           (!airy_add_size(&n, n, (size_t)h->pcount) && !airy_mul_size(&n, n, (size_t)h->gcount) &&
            !airy_mul_size(&n, n, (size_t)(llabs(h->bitpix) / 8)) &&
            !airy_add_size(bytes, n, (FITS_BLOCK - n % FITS_BLOCK) % FITS_BLOCK));
}

airy_status airy_fits_scan(const struct fits_bytes *bytes)
{
    uint64_t at = 0;
    for (int number = 0; at < bytes->size; number++) {
        struct hdu h;
        char start[8] = "";
        /* What follows the last HDU may be anything. */
        if (number > 0 && (bytes->size - at < FITS_BLOCK ||
                           airy_fits_read_at(bytes, start, at, sizeof(start)) != AIRY_OK ||
                           memcmp(start, "XTENSION", 8) != 0))
            return AIRY_OK;
        airy_status status = scan_header(&h, bytes, &at);
        if (status == AIRY_OK && h.twice)
            status = airy_fail(AIRY_ERR_FORMAT, "a keyword of its size stands there twice, with "
                                                "different values");
        if (status == AIRY_OK && h.long_text[0])
            status = airy_fail(AIRY_ERR_FORMAT,
                               "%.*s has a text of more than %d characters, "
                               "expected an integer",
                               (int)strcspn(h.long_text, " "), h.long_text, MAX_INTEGER_TEXT);
        if (status == AIRY_OK)
            status = check_tiles(&h);
        size_t size = 0;
        if (status != AIRY_OK)
            return airy_fail_context(status, "HDU %d", number);
        if (!data_size(&size, &h) || size > bytes->size - at)
            return AIRY_OK; /* the reader of this HDU says what is wrong */
        at += size;
    }
    return AIRY_OK;
}
