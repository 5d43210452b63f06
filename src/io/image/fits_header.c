/*
 * Cards: keyword in columns 1 to 8, "= " in 9 and 10, the value from 11 on, a comment behind '/'.
 * Source: FITS Standard 4.0 (IAU FITS Working Group, 2018), section 4.
 */
#include "io/image/fits_header.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "base/size.h"

enum { KEYWORD = 8, MAX_CARDS = 1 << 20 };

static bool is_end(const char *card)
{
    return memcmp(card, "END     ", KEYWORD) == 0;
}

/* Where the first byte of a card is that FITS does not allow; FITS_CARD: there is none. */
static int find_odd(const char *card)
{
    int i = 0;
    while (i < FITS_CARD && card[i] >= ' ' && card[i] <= '~')
        i++;
    return i;
}

airy_status airy_header_create(airy_header **header, const airy_image *image, const char *text,
                               size_t cards)
{
    size_t count = 0;
    while (count < cards && !is_end(text + count * FITS_CARD))
        count++;
    AIRY_FAIL_IF(count > MAX_CARDS, AIRY_ERR_FORMAT,
                 "FITS header of %zu cards, expected at most %d", count, MAX_CARDS);
    airy_header *made = malloc(sizeof(*made) + count * FITS_CARD + 1);
    AIRY_FAIL_IF(!made, AIRY_ERR_MEMORY, "cannot allocate %zu cards of a FITS header", count);
    *made = (airy_header){.dtype = image->dtype, .ndim = image->ndim, .cards = count};
    memcpy(made->shape, image->shape, sizeof(made->shape));
    memcpy(made->text, text, count * FITS_CARD);
    made->text[count * FITS_CARD] = 0;
    *header = made;
    return AIRY_OK;
}

/* The keyword of the card; '#' stands for an index. */
static bool is_named(const char *card, const char *name)
{
    size_t n = strcspn(name, "#");
    if (memcmp(card, name, n) != 0)
        return false;
    while (name[strcspn(name, "#")] && n < KEYWORD && isdigit((unsigned char)card[n]))
        n++;
    while (n < KEYWORD && card[n] == ' ')
        n++;
    return n == KEYWORD;
}

/* Source: FITS Standard 4.0, section 10.1, tables of reserved keywords. */
size_t airy_header_untile(char *text, size_t cards)
{
    static const char *const dropped[] = {
        "XTENSION", "BITPIX", "NAXIS",  "NAXIS#", "PCOUNT",   "GCOUNT",   "TFIELDS",
        "TTYPE#",   "TFORM#", "THEAP",  "ZIMAGE", "ZQUANTIZ", "ZDITHER0", "ZTILE#",
        "ZCMPTYPE", "ZBLANK", "ZNAME#", "ZVAL#",  "CHECKSUM", "DATASUM"};
    static const char *const renamed[][2] = {{"ZSIMPLE", "SIMPLE"},    {"ZTENSION", "XTENSION"},
                                             {"ZBITPIX", "BITPIX"},    {"ZNAXIS", "NAXIS"},
                                             {"ZNAXIS#", "NAXIS"},     {"ZEXTEND", "EXTEND"},
                                             {"ZPCOUNT", "PCOUNT"},    {"ZGCOUNT", "GCOUNT"},
                                             {"ZHECKSUM", "CHECKSUM"}, {"ZDATASUM", "DATASUM"}};
    size_t kept = 0;
    for (size_t i = 0; i < cards; i++) {
        const char *card = text + i * FITS_CARD;
        bool keep = memcmp(card, "EXTNAME = 'COMPRESSED_IMAGE'", 28) != 0;
        for (size_t k = 0; k < sizeof(dropped) / sizeof(dropped[0]) && keep; k++)
            keep = !is_named(card, dropped[k]);
        if (!keep)
            continue;
        char *out = text + kept++ * FITS_CARD;
        memmove(out, card, FITS_CARD);
        for (size_t k = 0; k < sizeof(renamed) / sizeof(renamed[0]); k++) {
            if (!is_named(out, renamed[k][0]))
                continue;
            char name[KEYWORD + 16];
            const size_t index = strcspn(renamed[k][0], "#");
            snprintf(name, sizeof(name), "%s%.*s%*s", renamed[k][1], KEYWORD - (int)index,
                     out + index, KEYWORD, "");
            memcpy(out, name, KEYWORD);
            break;
        }
    }
    return kept;
}

airy_status airy_image_copy_header(airy_image *dst, const airy_image *src)
{
    AIRY_FAIL_IF(!dst || !src, AIRY_ERR_PARAM, "airy_image_copy_header: an image is missing");
    airy_header *made = NULL;
    if (src->header) {
        const size_t bytes = sizeof(*made) + src->header->cards * FITS_CARD + 1;
        made = malloc(bytes);
        AIRY_FAIL_IF(!made, AIRY_ERR_MEMORY, "cannot allocate a header of %zu bytes", bytes);
        memcpy(made, src->header, bytes);
    }
    free(dst->header);
    dst->header = made;
    return AIRY_OK;
}

airy_status airy_image_add_card(airy_image *image, const char *card)
{
    AIRY_FAIL_IF(!image || !card, AIRY_ERR_PARAM, "airy_image_add_card: image or card is missing");
    const size_t n = strlen(card);
    char text[FITS_CARD];
    memset(text, ' ', sizeof(text));
    memcpy(text, card, airy_min_size(n, FITS_CARD));
    AIRY_FAIL_IF(n > FITS_CARD || find_odd(text) < FITS_CARD || is_end(text), AIRY_ERR_PARAM,
                 "card of %zu characters, expected at most %d printable ones and not END", n,
                 FITS_CARD);
    const size_t cards = image->header ? image->header->cards : 0;
    AIRY_FAIL_IF(cards == MAX_CARDS, AIRY_ERR_PARAM, "a header of %d cards is full", MAX_CARDS);
    airy_header *made = realloc(image->header, sizeof(*made) + (cards + 1) * FITS_CARD + 1);
    AIRY_FAIL_IF(!made, AIRY_ERR_MEMORY, "cannot allocate %zu cards of a FITS header", cards + 1);
    made->dtype = image->dtype;
    made->ndim = image->ndim;
    memcpy(made->shape, image->shape, sizeof(made->shape));
    made->cards = cards + 1;
    memcpy(made->text + cards * FITS_CARD, text, FITS_CARD);
    made->text[(cards + 1) * FITS_CARD] = 0;
    image->header = made;
    return AIRY_OK;
}

airy_status airy_image_get_card(const airy_image *image, const char *keyword,
                                char value[AIRY_CARD_VALUE])
{
    char got[FITS_CARD];
    AIRY_FAIL_IF(!image || !keyword || !value, AIRY_ERR_PARAM,
                 "airy_image_get_card: image, keyword or value is missing");
    AIRY_FAIL_IF(!airy_header_get(image->header, keyword, got), AIRY_ERR_NOT_FOUND,
                 "the image has no keyword %s", keyword);
    snprintf(value, AIRY_CARD_VALUE, "%s", got);
    return AIRY_OK;
}

void airy_header_clean(char *card)
{
    for (int i = 0; i < FITS_CARD; i++)
        if ((unsigned char)card[i] < ' ' || card[i] == 0x7f)
            card[i] = ' ';
}

size_t airy_image_odd_cards(const airy_image *image, char text[AIRY_CARD_VALUE])
{
    const airy_header *header = image ? image->header : NULL;
    size_t count = 0;
    text[0] = 0;
    for (size_t i = 0; header && i < header->cards; i++) {
        const char *card = header->text + i * FITS_CARD;
        const int odd = find_odd(card);
        if (odd == FITS_CARD)
            continue;
        int length = odd < KEYWORD ? odd : KEYWORD;
        while (length > 0 && card[length - 1] == ' ')
            length--;
        if (count++ == 0)
            snprintf(text, AIRY_CARD_VALUE, "card %zu%s%.*s has the byte 0x%02x in column %d",
                     i + 1, length ? ", " : "", length, card, (unsigned)(unsigned char)card[odd],
                     odd + 1);
    }
    return count;
}

/* The value field of a card, without quotes and comment. */
static void get_value(char value[FITS_CARD], const char *raw)
{
    int at = KEYWORD + 2, used = 0;
    char card[FITS_CARD];
    memcpy(card, raw, FITS_CARD);
    airy_header_clean(card);
    while (at < FITS_CARD && card[at] == ' ')
        at++;
    const bool quoted = at < FITS_CARD && card[at] == '\'';
    for (at += quoted; at < FITS_CARD; at++) {
        const bool doubled = quoted && at + 1 < FITS_CARD && card[at] == '\'' &&
                             card[at + 1] == '\''; /* one of the text */
        if (!doubled && card[at] == (quoted ? '\'' : '/'))
            break;
        at += doubled;
        value[used++] = card[at];
    }
    while (used > 0 && value[used - 1] == ' ')
        used--;
    value[used] = 0;
}

bool airy_header_get(const airy_header *header, const char *keyword, char value[FITS_CARD])
{
    char name[KEYWORD + 3] = "        = ";
    memcpy(name, keyword, airy_min_size(strlen(keyword), KEYWORD));
    for (size_t i = 0; header && i < header->cards; i++) {
        const char *card = header->text + i * FITS_CARD;
        if (memcmp(card, name, KEYWORD + 2) != 0)
            continue;
        get_value(value, card);
        return true;
    }
    return false;
}

static bool get_number(double *number, char value[FITS_CARD])
{
    char *end, *exponent = strpbrk(value, "dD"); /* Fortran's double precision: 1.5D+03 */
    if (exponent)
        *exponent = 'E';
    struct airy_c_locale locale;
    if (!value[0] || airy_c_locale_enter(&locale) != AIRY_OK)
        return false;
    const double v = strtod(value, &end);
    airy_c_locale_leave(&locale);
    if (*end || !isfinite(v))
        return false;
    *number = v;
    return true;
}

bool airy_header_number(const airy_header *header, const char *keyword, double *number)
{
    char value[FITS_CARD];
    return airy_header_get(header, keyword, value) && get_number(number, value);
}

/* The number of a card. */
static bool is_number(double *number, const char *card)
{
    char value[FITS_CARD];
    if (memcmp(card + KEYWORD, "= ", 2) != 0)
        return false;
    get_value(value, card);
    return get_number(number, value);
}

/*
 * The axis that NAME and its number are about, in CRPIX3 the third, with the letter of the
 * description ('A' in CRPIX3A, else ' '); 0: another keyword. CD1_3 is about the third one.
 */
static int axis_of(const char keyword[KEYWORD + 1], const char *name, char *version)
{
    int axis = 0, row = 0, used = 0;
    const size_t n = strlen(name);
    if (memcmp(keyword, name, n) != 0)
        return 0;
    if (n == 2 ? sscanf(keyword + n, "%2d_%2d%n", &row, &axis, &used) < 2
               : sscanf(keyword + n, "%2d%n", &axis, &used) < 1)
        return 0;
    const char *letter = keyword + n + used;
    *version = *letter ? *letter : ' ';
    return !*letter || (isupper((unsigned char)*letter) && !letter[1]) ? axis : 0;
}

static void get_keyword(char keyword[KEYWORD + 1], const char *card)
{
    const size_t n = airy_min_size(strcspn(card, " ="), KEYWORD);
    memcpy(keyword, card, n);
    keyword[n] = 0;
}

static void put_value(char *card, const char *keyword, double value)
{
    char text[AIRY_NUMBER_TEXT], rewritten[FITS_CARD + 1];
    snprintf(rewritten, sizeof(rewritten), "%-8s= %20s%50s", keyword,
             airy_number_text(text, value, false), "");
    memcpy(card, rewritten, FITS_CARD);
}

void airy_header_cut(airy_header *header, int axis, const struct airy_cut *cut)
{
    if (!header || axis > header->ndim)
        return;
    header->shape[header->ndim - axis] = cut->count;
    const double first = (double)cut->first, step = (double)cut->step;
    for (size_t i = 0; i < header->cards; i++) {
        char *card = header->text + i * FITS_CARD, keyword[KEYWORD + 1], version;
        double value;
        get_keyword(keyword, card);
        const bool place = axis_of(keyword, "CRPIX", &version) == axis;
        const bool scale = cut->step > 1 && (axis_of(keyword, "CDELT", &version) == axis ||
                                             axis_of(keyword, "CD", &version) == axis);
        if ((place || scale) && is_number(&value, card))
            put_value(card, keyword,
                      scale           ? value * step
                      : cut->step > 1 ? (value - 1 - first) / step + 1
                                      : value - first);
    }
}

/* What a description says about an axis. */
struct described {
    bool at_all, place, scale;
};

/* Does the linear transform mix the axis with others? CD is scaled whole, PC is not. */
static bool mixes(const char *keyword, const char *card, int axis)
{
    int row = 0, column = 0;
    double value = 1;
    if (memcmp(keyword, "PC0", 3) == 0) /* PC001002 of old files */
        return true;
    if (sscanf(keyword, "PC%2d_%2d", &row, &column) < 2 || row == column ||
        (row != axis && column != axis))
        return false;
    return !is_number(&value, card) || value != 0;
}

bool airy_header_follows(const airy_header *header, int axis, const struct airy_cut *cut)
{
    struct described found['Z' + 1] = {{.at_all = false}};
    for (size_t i = 0; header && i < header->cards; i++) {
        const char *card = header->text + i * FITS_CARD;
        char keyword[KEYWORD + 1], version = ' ';
        double value;
        get_keyword(keyword, card);
        if (cut->step > 1 && mixes(keyword, card, axis))
            return false;
        const bool place = axis_of(keyword, "CRPIX", &version) == axis,
                   scale = !place && (axis_of(keyword, "CDELT", &version) == axis ||
                                      axis_of(keyword, "CD", &version) == axis),
                   named = !place && !scale &&
                           (axis_of(keyword, "CTYPE", &version) == axis ||
                            axis_of(keyword, "CRVAL", &version) == axis);
        if (!place && !scale && !named)
            continue;
        if (!named && !is_number(&value, card))
            return false;
        struct described *d = &found[(unsigned char)version];
        *d = (struct described){true, d->place || place, d->scale || scale};
    }
    for (size_t v = 0; v < sizeof(found) / sizeof(found[0]); v++)
        if (found[v].at_all && ((!found[v].place && (cut->first || cut->step > 1)) ||
                                (!found[v].scale && cut->step > 1)))
            return false;
    return true;
}

bool airy_header_structural(const char *card)
{
    static const char *const names[] = {
        "SIMPLE  ", "XTENSION", "BITPIX  ", "NAXIS   ", "EXTEND  ", "PCOUNT  ",
        "GCOUNT  ", "GROUPS  ", "BSCALE  ", "BZERO   ", "BLANK   ", "DATAMIN ",
        "DATAMAX ", "CHECKSUM", "DATASUM ", "EXTNAME ", "EXTVER  ", "EXTLEVEL",
        "INHERIT ", "TFIELDS ", "THEAP   ", "END     ",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (memcmp(card, names[i], KEYWORD) == 0)
            return true;
    return memcmp(card, "NAXIS", 5) == 0 && card[5] >= '0' && card[5] <= '9';
}
