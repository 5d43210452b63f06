/*
 * Source: FITS Standard 4.0 (IAU FITS Working Group, 2018), section 10; what CFITSIO 4.2 takes as
 *         it comes: imcomp_decompress_tile.
 */
#include "io/image/fits_tiles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/image_memory.h"
#include "base/size.h"
#include "io/image/fits_library.h"
#include "io/file/gunzip.h"
#include "io/image/hcompress_walk.h"
#include "io/image/rice_walk.h"

/* Pixels of the tile in this row, from 0: those at the far edges are smaller. */
static size_t count_pixels(const struct fits_tiles *t, LONGLONG row)
{
    size_t pixels = 1;
    for (int i = 0; i < t->axes; i++) {
        const LONGLONG along = (t->extent[i] + t->size[i] - 1) / t->size[i],
                       left = t->extent[i] - row % along * t->size[i];
        pixels *= (size_t)(left < t->size[i] ? left : t->size[i]);
        row /= along;
    }
    return pixels;
}

airy_status airy_fits_tiles_open(struct fits_tiles *tiles, fitsfile *file, uint64_t size,
                                 const airy_image *image, const struct fits_stored *stored)
{
    int code = 0;
    bool there;
    LONGLONG block = 32, bytes = 4;
    char name[FLEN_VALUE] = "";
    struct fits_tiles t = {.file = file,
                           .axes = image->ndim,
                           .most = size,
                           .pixel = (unsigned)abs(stored->bitpix) / 8,
                           .plain = stored->bitpix < 0 && !stored->quantised};
    for (int i = 0; i < image->ndim; i++) {
        char keyword[24];
        t.extent[i] = (LONGLONG)image->shape[image->ndim - 1 - i];
        t.size[i] = i == 0 ? t.extent[i] : 1;
        snprintf(keyword, sizeof(keyword), "ZTILE%d", i + 1);
        AIRY_TRY(airy_fits_key(file, TLONGLONG, keyword, &t.size[i], &there));
        AIRY_FAIL_IF(t.size[i] < 1, AIRY_ERR_FORMAT, "%s = %lld, expected 1 or more", keyword,
                     (long long)t.size[i]);
        if (t.size[i] > t.extent[i])
            t.size[i] = t.extent[i];
    }
    AIRY_TRY(airy_fits_key(file, TLONGLONG, "ZVAL1", &block, &there));
    AIRY_TRY(airy_fits_key(file, TLONGLONG, "ZVAL2", &bytes, &there));
    AIRY_TRY(airy_fits_key(file, TSTRING, "ZNAME2", name, &there));
    if (strcmp(name, "NOISEBIT") == 0) /* of very old files, for which CFITSIO takes 4 */
        bytes = 4;
    t.block = block < 1 ? 1 : (size_t)block;
    t.bytes = bytes == 1 ? 1 : bytes == 2 ? 2 : 4;
    fits_get_num_rowsll(file, &t.rows, &code);
    fits_get_colnum(file, CASEINSEN, "COMPRESSED_DATA", &t.column, &code);
    if (code)
        return airy_fits_fail(AIRY_ERR_CORRUPT, code);
    *tiles = t;
    return AIRY_OK;
}

/* The first `want` elements of a row's tile, or all of them; *length is how many it has. */
static airy_status get_tile(void *start, LONGLONG *length, const struct fits_tiles *t, LONGLONG row,
                            int type, LONGLONG want)
{
    int code = 0, any = 0;
    LONGLONG offset;
    fits_read_descriptll(t->file, t->column, row + 1, length, &offset, &code);
    if (code == 0 && want && *length >= want)
        fits_read_col(t->file, type, t->column, row + 1, 1, want, NULL, start, &any, &code);
    return code ? airy_fits_fail(AIRY_ERR_CORRUPT, code) : AIRY_OK;
}

static airy_status check_plio(const struct fits_tiles *t, LONGLONG row)
{
    int16_t word[8] = {0};
    LONGLONG length;
    AIRY_TRY(get_tile(word, &length, t, row, TSHORT, 7));
    const LONGLONG said = word[2] > 0 ? word[2] : (LONGLONG)word[4] * 32768 + word[3];
    AIRY_FAIL_IF(length > 0 && (length < 7 || word[1] < 0 || said < 0 || said > length),
                 AIRY_ERR_CORRUPT, "tile %lld: a PLIO list of %lld words, expected at most %lld",
                 (long long)row, (long long)said, (long long)length);
    int code = 0, any = 0;
    if (said > 7 && said == length) /* an instruction whose second word would lie behind the end */
        fits_read_col(t->file, TSHORT, t->column, row + 1, said, 1, NULL, word, &any, &code);
    AIRY_FAIL_IF(code != 0 || (said > 7 && said == length && word[0] / 4096 == 1), AIRY_ERR_CORRUPT,
                 "tile %lld: the PLIO list ends inside an instruction", (long long)row);
    return AIRY_OK;
}

/* The bytes of a row's tile, malloc'ed; none: it is kept in another column. */
static airy_status take_tile(uint8_t **bytes, LONGLONG *length, const struct fits_tiles *t,
                             LONGLONG row)
{
    LONGLONG again;
    *bytes = NULL;
    AIRY_TRY(get_tile(NULL, length, t, row, TBYTE, 0));
    if (*length == 0)
        return AIRY_OK;
    AIRY_FAIL_IF(*length < 0 || (uint64_t)*length > t->most, AIRY_ERR_CORRUPT,
                 "tile %lld: %lld bytes, the file has %llu", (long long)row, (long long)*length,
                 (unsigned long long)t->most);
    AIRY_TRY(airy_image_alloc((void **)bytes, (size_t)*length));
    const airy_status status = get_tile(*bytes, &again, t, row, TBYTE, *length);
    if (status == AIRY_OK)
        return AIRY_OK;
    free(*bytes);
    *bytes = NULL;
    return status;
}

static airy_status check_hcompress(const struct fits_tiles *t, LONGLONG row)
{
    LONGLONG length;
    uint8_t *bytes;
    AIRY_TRY(take_tile(&bytes, &length, t, row));
    const airy_status status =
        bytes ? airy_hcompress_check(bytes, (size_t)length, count_pixels(t, row)) : AIRY_OK;
    free(bytes);
    return status == AIRY_OK ? AIRY_OK : airy_fail_context(status, "tile %lld", (long long)row);
}

static airy_status check_rice(const struct fits_tiles *t, LONGLONG row)
{
    LONGLONG length;
    uint8_t *bytes;
    AIRY_TRY(take_tile(&bytes, &length, t, row));
    const bool good =
        !bytes || airy_rice_ends(bytes, (size_t)length, count_pixels(t, row), t->bytes, t->block);
    free(bytes);
    AIRY_FAIL_IF(!good, AIRY_ERR_CORRUPT, "tile %lld: the RICE data end inside a value",
                 (long long)row);
    return AIRY_OK;
}

/*
 * Where gzip data end too early, CFITSIO 4.2 asks for memory until there is none. Where they have
 * other elements than CFITSIO expects, it reads behind them, or leaves a part of the tile unset.
 */
static airy_status check_gzip(const struct fits_tiles *t, LONGLONG row, bool exact)
{
    LONGLONG length;
    uint8_t *bytes;
    const size_t pixels = count_pixels(t, row), most = 8 * pixels; /* of 64 bits */
    size_t size = 0;
    AIRY_TRY(take_tile(&bytes, &length, t, row));
    if (!bytes)
        return AIRY_OK;
    const bool ends = airy_gunzip_size(&size, bytes, (size_t)length, most);
    free(bytes);
    AIRY_FAIL_IF(!ends, AIRY_ERR_CORRUPT,
                 "tile %lld: its gzip data do not end after at most %zu bytes", (long long)row,
                 most);
    const bool fits = exact ? size == t->pixel * pixels
                            : size == pixels || size == 2 * pixels || size == 4 * pixels;
    AIRY_FAIL_IF(
        !fits, AIRY_ERR_CORRUPT,
        "tile %lld: its gzip data unpack to %zu bytes, but its %zu pixels have %s%u bytes each",
        (long long)row, size, pixels, exact ? "" : "1, 2 or ", exact ? t->pixel : 4);
    return AIRY_OK;
}

static airy_status check_gzip_column(const struct fits_tiles *t, LONGLONG row)
{
    return check_gzip(t, row, t->plain);
}

struct fits_rows airy_fits_tiles_rows(const struct fits_tiles *t, size_t first)
{
    size_t row = 0, count = 1, tiles = 1;
    for (int i = 0; i < t->axes; i++) {
        const size_t extent = (size_t)t->extent[i], size = (size_t)t->size[i],
                     along = (extent + size - 1) / size;
        row += first % extent / size * tiles;
        first /= extent;
        tiles *= along; /* at most the pixels */
        count *= i < 2 ? along : 1;
    }
    const size_t most = (size_t)t->rows;
    row = airy_min_size(row, most);
    return (struct fits_rows){(LONGLONG)row, (LONGLONG)(row + airy_min_size(count, most - row))};
}

/*
 * A descriptor states how long a tile is, and CFITSIO allocates that much memory at once. It writes
 * pixels that are not compressed into memory for one tile, however many there are.
 */
static airy_status check_lengths(const struct fits_tiles *t, const struct fits_rows *rows,
                                 const char *title, bool pixels)
{
    int code = 0, column;
    LONGLONG length = 0, offset = 0;
    AIRY_TRY(airy_fits_column(&column, t->file, title));
    for (LONGLONG row = rows->first; column && row < rows->end; row++) {
        if (fits_read_descriptll(t->file, column, row + 1, &length, &offset, &code) != 0)
            return airy_fits_fail(AIRY_ERR_CORRUPT, code);
        AIRY_FAIL_IF(
            length < 0 || (uint64_t)length > t->most || offset < 0 || (uint64_t)offset > t->most,
            AIRY_ERR_CORRUPT, "tile %lld: %lld elements at %lld, the file has %llu bytes",
            (long long)row, (long long)length, (long long)offset, (unsigned long long)t->most);
        AIRY_FAIL_IF(pixels && (length != 0 || offset != 0) &&
                         (size_t)length != count_pixels(t, row),
                     AIRY_ERR_CORRUPT, "tile %lld: %lld elements of %s, expected its %zu pixels",
                     (long long)row, (long long)length, title, count_pixels(t, row));
    }
    return AIRY_OK;
}

airy_status airy_fits_tiles_check(const struct fits_tiles *t, const struct fits_rows *rows)
{
    char kind[FLEN_VALUE] = "";
    bool there;
    struct fits_tiles gzip = *t;
    AIRY_TRY(check_lengths(t, rows, "COMPRESSED_DATA", false));
    AIRY_TRY(check_lengths(t, rows, "GZIP_COMPRESSED_DATA", false));
    AIRY_TRY(check_lengths(t, rows, "UNCOMPRESSED_DATA", true));
    AIRY_TRY(airy_fits_key(t->file, TSTRING, "ZCMPTYPE", kind, &there));
    airy_status (*check)(const struct fits_tiles *, LONGLONG) =
        strncmp(kind, "HCOMPRESS", 9) == 0 ? check_hcompress
        : strncmp(kind, "PLIO", 4) == 0    ? check_plio
        : strncmp(kind, "RICE", 4) == 0    ? check_rice
        : strncmp(kind, "GZIP", 4) == 0    ? check_gzip_column
                                           : NULL;
    AIRY_FAIL_IF(t->plain && check != check_gzip_column, AIRY_ERR_UNSUPPORTED,
                 "floats that are not quantised in tiles of '%s', expected GZIP_1 or GZIP_2", kind);
    for (LONGLONG row = rows->first; check && row < rows->end; row++)
        AIRY_TRY(check(t, row));
    AIRY_TRY(airy_fits_column(&gzip.column, t->file, "GZIP_COMPRESSED_DATA"));
    for (LONGLONG row = rows->first; gzip.column && row < rows->end; row++)
        AIRY_TRY(check_gzip(&gzip, row, true));
    return AIRY_OK;
}
