/*
 * FITS: one image in the primary HDU, big-endian, unsigned types by the offset of BZERO that the
 * standard gives them. Needs no library.
 * Source: FITS Standard 4.0 (IAU FITS Working Group, 2018), sections 3.3, 4.4.1, 4.4.2.7 and 5.2.5.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/image_memory.h"
#include "base/size.h"
#include "io/image/fits_header.h"
#include "io/image/fits_sums.h"
#include "io/image/formats.h"
#include "io/file/plain_file.h"

enum { CHUNK = 1 << 20, FIXED_CARDS = 16, DATASUM_DIGITS = 10 };

struct header {
    char *text;
    size_t size;
    char *checksum, *datasum; /* the letters of their values */
};

/* Bits of a pixel in the file; the offset's value where there is one. */
static int bits_of(airy_dtype dtype, const char **zero)
{
    const int bits = 8 * (int)airy_dtype_size(dtype);
    *zero = NULL;
    if (airy_dtype_is_float(dtype))
        return -bits;
    switch (dtype) {
    case AIRY_DTYPE_I8:
        *zero = "-128";
        break;
    case AIRY_DTYPE_U16:
        *zero = "32768";
        break;
    case AIRY_DTYPE_U32:
        *zero = "2147483648";
        break;
    case AIRY_DTYPE_U64:
        *zero = "9223372036854775808";
        break;
    default:
        break;
    }
    return bits;
}

static void put_card(char **at, const char *keyword, const char *value)
{
    char card[FITS_CARD + 1]; /* blanks follow already */
    const int used = snprintf(card, sizeof(card), "%-8s= %20s", keyword, value);
    memcpy(*at, card, airy_min_size((size_t)used, FITS_CARD));
    *at += FITS_CARD;
}

static void put_number(char **at, const char *keyword, long long value)
{
    char text[24];
    snprintf(text, sizeof(text), "%lld", value);
    put_card(at, keyword, text);
}

/* A unit of the pixels says nothing about labels or masks made from them. */
static bool is_kept(const airy_image *image, const char *card)
{
    if (airy_header_structural(card))
        return false;
    const bool derived = image->dtype != image->header->dtype && !airy_dtype_is_float(image->dtype);
    return !derived || memcmp(card, "BUNIT   ", 8) != 0;
}

/* A text of letters, in quotes; where it stands. */
static char *put_letters(char **at, const char *keyword, const char *letters)
{
    char card[FITS_CARD + 1];
    const int used = snprintf(card, sizeof(card), "%-8s= '%s'", keyword, letters);
    memcpy(*at, card, airy_min_size((size_t)used, FITS_CARD));
    *at += FITS_CARD;
    return *at - FITS_CARD + 11;
}

/* The sums of the header's own HDU, whose data have the sum `data`, in the last two cards. */
static void fill_sums(const struct header *h, uint32_t data)
{
    char letters[AIRY_FITS_SUM_LETTERS + 1];
    char digits[DATASUM_DIGITS + 1];
    snprintf(digits, sizeof(digits), "%-*u", DATASUM_DIGITS, data);
    memcpy(h->datasum, digits, DATASUM_DIGITS);
    airy_fits_sum_letters(letters, airy_fits_sum(data, h->text, h->size));
    memcpy(h->checksum, letters, AIRY_FITS_SUM_LETTERS);
}

static airy_status make_header(struct header *h, const airy_image *image)
{
    const size_t kept = image->header ? image->header->cards : 0;
    const size_t most = (FIXED_CARDS + kept) * FITS_CARD + FITS_BLOCK;
    const char *zero;
    char *at = malloc(most);
    AIRY_FAIL_IF(!at, AIRY_ERR_MEMORY, "cannot allocate %zu bytes for a FITS header", most);
    h->text = at;
    memset(at, ' ', most);
    put_card(&at, "SIMPLE", "T");
    put_number(&at, "BITPIX", bits_of(image->dtype, &zero));
    put_number(&at, "NAXIS", image->ndim);
    for (int axis = 0; axis < image->ndim; axis++) {
        char keyword[16];
        snprintf(keyword, sizeof(keyword), "NAXIS%d", axis + 1);
        put_number(&at, keyword, (long long)image->shape[image->ndim - 1 - axis]);
    }
    if (zero) {
        put_card(&at, "BSCALE", "1");
        put_card(&at, "BZERO", zero);
    }
    for (size_t i = 0; i < kept; i++) {
        const char *card = image->header->text + i * FITS_CARD;
        if (is_kept(image, card)) {
            for (size_t k = 0; k < FITS_CARD; k++) /* all that a header may have (section 3.2) */
                *at++ = card[k] >= ' ' && card[k] <= '~' ? card[k] : '?';
        }
    }
    h->checksum = put_letters(&at, "CHECKSUM", "0000000000000000");
    h->datasum = put_letters(&at, "DATASUM", "0         ");
    memcpy(at, "END", 3);
    const size_t used = (size_t)(at - h->text) + FITS_CARD;
    h->size = (used + FITS_BLOCK - 1) / FITS_BLOCK * FITS_BLOCK;
    return AIRY_OK;
}

/* Pixels as the file has them: the sign bit flipped where BZERO stands for it, big-endian. */
static void encode(uint8_t *out, const uint8_t *in, size_t bytes, size_t size, bool offset)
{
    for (size_t i = 0; i < bytes; i += size) {
        for (size_t k = 0; k < size; k++)
            out[i + k] = in[i + (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? size - 1 - k : k)];
        if (offset)
            out[i] ^= 0x80;
    }
}

/* *sum: of the data. */
static airy_status write_pixels(uint32_t *sum, int fd, const airy_image *image, size_t bytes,
                                uint64_t start)
{
    const size_t size = airy_dtype_size(image->dtype);
    const char *zero;
    (void)bits_of(image->dtype, &zero);
    uint8_t *buffer = malloc(CHUNK);
    AIRY_FAIL_IF(!buffer, AIRY_ERR_MEMORY, "cannot allocate %d bytes", CHUNK);
    airy_status status = AIRY_OK;
    for (size_t done = 0; done < bytes && status == AIRY_OK;) {
        const size_t n = airy_min_size(CHUNK, bytes - done);
        encode(buffer, (const uint8_t *)image->data + done, n, size, zero != NULL);
        *sum = airy_fits_sum(*sum, buffer, n);
        status = airy_file_pwrite(fd, buffer, n, start + done);
        done += n;
    }
    const size_t over = bytes % FITS_BLOCK;
    if (over && status == AIRY_OK) {
        memset(buffer, 0, FITS_BLOCK);
        status = airy_file_pwrite(fd, buffer, FITS_BLOCK - over, start + bytes);
    }
    free(buffer);
    return status;
}

static airy_status write_all(int fd, const airy_image *image)
{
    struct header h = {.text = NULL};
    size_t bytes;
    uint32_t sum = 0;
    AIRY_TRY(airy_image_bytes(&bytes, image));
    AIRY_TRY(make_header(&h, image));
    airy_status status = write_pixels(&sum, fd, image, bytes, h.size);
    if (status == AIRY_OK) {
        fill_sums(&h, sum);
        status = airy_file_pwrite(fd, h.text, h.size, 0);
    }
    if (status == AIRY_OK && fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
        status = airy_fail_system(AIRY_SUBJECT_NONE, errno, "fsync: %s", strerror(errno));
    free(h.text);
    return status;
}

airy_status airy_image_write_fits(const airy_image *image, const char *path, bool force,
                                  const struct airy_image_about *about)
{
    (void)about;
    const airy_header *header = image->header;
    AIRY_FAIL_ON_IF(
        header && (header->ndim != image->ndim ||
                   memcmp(header->shape, image->shape, (size_t)image->ndim * sizeof(size_t)) != 0),
        AIRY_ERR_SHAPE, AIRY_SUBJECT_FILE,
        "'%s': the header belongs to an image of another shape, its coordinates would be "
        "wrong",
        path);
    AIRY_FAIL_ON_IF(!force && access(path, F_OK) == 0, AIRY_ERR_EXISTS, AIRY_SUBJECT_FILE,
                    "'%s' is there already", path);
    char *partial;
    int fd;
    AIRY_TRY(airy_file_create(&fd, &partial, path));
    const airy_status status = write_all(fd, image);
    close(fd);
    return airy_file_settle(status, partial, path, force);
}
