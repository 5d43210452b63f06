#include "io/image/fits_sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "io/image/fits_header.h"

enum { PIECE = 1 << 20 }; /* a multiple of 4 bytes, and of the words that a sum of 64 bits holds */

static uint32_t fold(uint64_t sum)
{
    while (sum >> 32)
        sum = (sum & UINT32_MAX) + (sum >> 32);
    return (uint32_t)sum;
}

uint32_t airy_fits_sum(uint32_t sum, const void *data, size_t size)
{
    const uint8_t *at = data;
    uint64_t all = sum;
    size_t i = 0;
    while (size - i >= 4) {
        const size_t last = i + airy_min_size((size - i) / 4 * 4, PIECE);
        for (; i < last; i += 4) {
            uint32_t word;
            memcpy(&word, at + i, 4);
            all += __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap32(word) : word;
        }
        all = fold(all);
    }
    uint8_t rest[4] = {0};
    if (i < size)
        memcpy(rest, at + i, size - i);
    all += (uint32_t)rest[0] << 24 | (uint32_t)rest[1] << 16 | (uint32_t)rest[2] << 8 | rest[3];
    return fold(all);
}

/* Between digits and letters of the ASCII table. */
static bool is_excluded(int letter)
{
    return (letter >= 0x3a && letter <= 0x40) || (letter >= 0x5b && letter <= 0x60);
}

/* Four letters whose sum is the byte and four times '0'. */
static void split_byte(int letters[4], unsigned byte)
{
    for (size_t j = 0; j < 4; j++)
        letters[j] = (int)(byte / 4) + '0';
    letters[0] += (int)(byte % 4);
    for (size_t j = 0; j < 4; j += 2)
        while (is_excluded(letters[j]) || is_excluded(letters[j + 1])) {
            letters[j]++;
            letters[j + 1]--;
        }
}

void airy_fits_sum_letters(char letters[AIRY_FITS_SUM_LETTERS + 1], uint32_t sum)
{
    for (size_t i = 0; i < 4; i++) {
        int four[4];
        split_byte(four, ~sum >> (24 - 8 * i) & 0xff);
        /* One letter further, as the words of a card are counted from its start. */
        for (size_t j = 0; j < 4; j++)
            letters[(4 * j + i + 1) % AIRY_FITS_SUM_LETTERS] = (char)four[j];
    }
    letters[AIRY_FITS_SUM_LETTERS] = 0;
}

struct sums {
    bool has_data, has_all;
    uint32_t data; /* what DATASUM says */
    uint32_t sum;  /* of what was read */
};

/* The text of a value between quotes, without blanks; false: there is none, or it is empty. */
static bool get_text(char text[FITS_CARD], const char *card)
{
    const char *from = memchr(card + 10, '\'', FITS_CARD - 10);
    const char *to = from ? memchr(from + 1, '\'', (size_t)(card + FITS_CARD - from - 1)) : NULL;
    if (!to)
        return false;
    while (++from < to && *from == ' ')
        ;
    while (to > from && to[-1] == ' ')
        to--;
    memcpy(text, from, (size_t)(to - from));
    text[to - from] = 0;
    return text[0] != 0;
}

static airy_status look_at_card(struct sums *s, const char *card)
{
    char text[FITS_CARD];
    const bool data = memcmp(card, "DATASUM =", 9) == 0, all = memcmp(card, "CHECKSUM=", 9) == 0;
    if ((!data && !all) || !get_text(text, card))
        return AIRY_OK;
    s->has_all = s->has_all || all;
    if (!data)
        return AIRY_OK;
    char *end;
    const unsigned long long value = strtoull(text, &end, 10);
    AIRY_FAIL_IF(*end || text[0] == '-' || value > UINT32_MAX, AIRY_ERR_FORMAT,
                 "FITS header: DATASUM = '%s', expected a number below 2^32", text);
    s->data = (uint32_t)value;
    s->has_data = true;
    return AIRY_OK;
}

static airy_status look_at_header(struct sums *s, const struct fits_bytes *bytes, uint64_t head,
                                  uint64_t data)
{
    char block[FITS_BLOCK];
    for (uint64_t at = head; at < data; at += FITS_BLOCK) {
        AIRY_TRY(airy_fits_read_at(bytes, block, at, FITS_BLOCK));
        s->sum = airy_fits_sum(s->sum, block, FITS_BLOCK);
        for (size_t card = 0; card < FITS_BLOCK; card += FITS_CARD)
            AIRY_TRY(look_at_card(s, block + card));
    }
    return AIRY_OK;
}

static airy_status sum_data(uint32_t *sum, const struct fits_bytes *bytes, uint64_t data,
                            uint64_t end)
{
    uint8_t *piece = bytes->memory ? NULL : malloc(PIECE);
    AIRY_FAIL_IF(!bytes->memory && !piece, AIRY_ERR_MEMORY, "out of memory for %d bytes", PIECE);
    airy_status status = AIRY_OK;
    for (uint64_t at = data; at < end && status == AIRY_OK; at += PIECE) {
        const size_t n = end - at < PIECE ? (size_t)(end - at) : PIECE;
        if (piece)
            status = airy_fits_read_at(bytes, piece, at, n);
        if (status == AIRY_OK)
            *sum = airy_fits_sum(*sum, piece ? piece : (const uint8_t *)bytes->memory + at, n);
    }
    free(piece);
    return status;
}

airy_status airy_fits_check_sums(bool *edited, const struct fits_bytes *bytes, uint64_t head,
                                 uint64_t data, uint64_t end)
{
    struct sums s = {.sum = 0};
    uint32_t found = 0;
    *edited = false;
    end = end < bytes->size ? end : bytes->size;
    if (head > data || data > end)
        return AIRY_OK; /* cut: reading the pixels fails */
    AIRY_TRY(look_at_header(&s, bytes, head, data));
    if (!s.has_data && !s.has_all)
        return AIRY_OK;
    AIRY_TRY(sum_data(&found, bytes, data, end));
    /* Both 0 and -0 are nothing. */
    AIRY_FAIL_IF(s.has_data && found != s.data && found % UINT32_MAX != s.data % UINT32_MAX,
                 AIRY_ERR_CORRUPT,
                 "checksum: DATASUM is %u, that of the data is %u: they are damaged", s.data,
                 found);
    const bool whole = !s.has_all || fold((uint64_t)s.sum + found) % UINT32_MAX == 0;
    AIRY_FAIL_IF(!whole && !s.has_data, AIRY_ERR_CORRUPT,
                 "checksum: CHECKSUM is not that of header and data: they are damaged or were "
                 "changed");
    *edited = !whole;
    return AIRY_OK;
}
