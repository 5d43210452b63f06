/*
 * FITS through CFITSIO: images of any HDU, tile-compressed ones too, as physical values.
 *
 * CFITSIO shares lists of files and messages between threads unless it was built otherwise, so one
 * lock of ours is held whenever it is called. It is given descriptors and memory, never a name: its
 * names can fetch, start filters and look for other files.
 *
 * Source: FITS Standard 4.0 (IAU FITS Working Group, 2018), sections 4.4.2.5, 5 and 10; for the
 *         type of scaled integers astropy's documentation of astropy.io.fits.
 */
#include <fitsio.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/image_memory.h"
#include "base/size.h"
#include "io/file/checksums.h"
#include "io/image/fits_header.h"
#include "io/image/fits_library.h"
#include "io/image/fits_scale.h"
#include "io/image/fits_scan.h"
#include "io/image/fits_sums.h"
#include "io/image/fits_tiles.h"
#include "io/file/gunzip.h"
#include "io/image/formats.h"
#include "io/image/pixels.h"
#include "io/file/plain_file.h"

enum { MAX_AXES = 16 };

static pthread_mutex_t fits_mutex = PTHREAD_MUTEX_INITIALIZER; /* CFITSIO */

struct fits_open {
    fitsfile *file;
    void *memory; /* of an uncompressed .gz */
    size_t bytes;
    int fd;
    uint64_t size; /* of the file, or of what the .gz holds */
};

static void close_file(struct fits_open *f)
{
    int code = 0;
    if (f->file)
        fits_close_file(f->file, &code);
    free(f->memory);
    close(f->fd);
}

static airy_status expect_units(uint64_t *expected, void *user, const void *have, size_t used)
{
    (void)user;
    return airy_fits_extent(expected, &(struct fits_bytes){have, -1, used});
}

/* A FITS file starts with SIMPLE; gzip is undone here, so that what it needs is asked for. */
static airy_status open_file(struct fits_open *f, const char *path)
{
    uint8_t start[9] = "";
    char name[64];
    int code = 0;
    memset(f, 0, sizeof(*f));
    AIRY_TRY(airy_file_open(&f->fd, &f->size, path));
    airy_status status =
        airy_file_pread(f->fd, start, airy_min_size(sizeof(start), (size_t)f->size), 0);
    if (status == AIRY_OK && start[0] == 0x1f && start[1] == 0x8b) {
        status = airy_gunzip(&f->memory, &f->bytes, f->fd, f->size, expect_units, NULL);
        f->size = f->bytes;
        if (status == AIRY_OK)
            memcpy(start, f->memory, airy_min_size(sizeof(start), f->bytes));
    }
    if (status == AIRY_OK && (f->size < FITS_BLOCK || memcmp(start, "SIMPLE  =", 9) != 0))
        status = airy_fail(AIRY_ERR_FORMAT, "no FITS file: it does not start with SIMPLE and a "
                                            "block of 2880 bytes");
    if (status == AIRY_OK)
        status = airy_fits_scan(&(struct fits_bytes){f->memory, f->fd, f->size});
    fits_clear_errmsg();
    if (status == AIRY_OK && f->memory) {
        (void)fits_open_memfile(&f->file, "memory", READONLY, &f->memory, &f->bytes, 0, NULL,
                                &code);
    } else if (status == AIRY_OK) {
        snprintf(name, sizeof(name), "/proc/self/fd/%d", f->fd);
        (void)fits_open_diskfile(&f->file, name, READONLY, &code);
    }
    if (code != 0) {
        f->file = NULL;
        status = airy_fits_fail(AIRY_ERR_FORMAT, code);
    }
    if (status != AIRY_OK)
        close_file(f);
    return status;
}

/* Axes of the HDU that CFITSIO is at; 0 for a table. */
static int count_axes(fitsfile *file, int *code)
{
    int type = 0, axes = 0;
    if (fits_get_hdu_type(file, &type, code) == 0 && type == IMAGE_HDU)
        fits_get_img_dim(file, &axes, code);
    return axes;
}

static airy_status move_to(fitsfile *file, const char *ext, size_t length)
{
    int code = 0;
    char name[FLEN_VALUE], *end;
    snprintf(name, sizeof(name), "%.*s", (int)airy_min_size(length, sizeof(name) - 1), ext);
    const long number = strtol(name, &end, 10);
    if (!*end && end != name) {
        AIRY_FAIL_IF(number < 0 || number > 1 << 24, AIRY_ERR_PARAM,
                     "extension [%s], expected 0 (the primary image) or more", name);
        fits_movabs_hdu(file, (int)number + 1, NULL, &code);
    } else {
        int version = 0;
        char named[FLEN_VALUE];
        memcpy(named, name, sizeof(named));
        char *comma = strrchr(named, ',');
        if (comma) {
            *comma = 0;
            version = (int)strtol(comma + 1, NULL, 10);
        }
        fits_movnam_hdu(file, ANY_HDU, named, version, &code);
    }
    if (code == END_OF_FILE || code == BAD_HDU_NUM) {
        fits_clear_errmsg();
        return airy_fail(AIRY_ERR_NOT_FOUND, "there is no extension [%s]", name);
    }
    return code ? airy_fits_fail(AIRY_ERR_FORMAT, code) : AIRY_OK;
}

/* The named one, else the first that holds pixels. */
static airy_status select_image(fitsfile *file, const char *ext)
{
    int code = 0;
    if (ext) {
        AIRY_TRY(move_to(file, ext, strlen(ext) - 1));
        const int axes = count_axes(file, &code);
        if (code)
            return airy_fits_fail(AIRY_ERR_FORMAT, code);
        AIRY_FAIL_IF(axes == 0, AIRY_ERR_UNSUPPORTED, "extension [%s holds no image", ext);
        return AIRY_OK;
    }
    for (;;) {
        if (count_axes(file, &code) > 0)
            return AIRY_OK;
        if (code == 0)
            fits_movrel_hdu(file, 1, NULL, &code);
        if (code == END_OF_FILE) {
            fits_clear_errmsg();
            return airy_hinted(AIRY_HINT_CONTENTS,
                               airy_fail(AIRY_ERR_UNSUPPORTED, "no image in any of its HDUs"));
        }
        if (code)
            return airy_fits_fail(AIRY_ERR_FORMAT, code);
    }
}

static airy_status get_shape(airy_image *image, struct fits_stored *s, fitsfile *file)
{
    LONGLONG axes[MAX_AXES] = {0};
    int code = 0, ndim = 0;
    fits_get_img_paramll(file, MAX_AXES, &s->bitpix, &ndim, axes, &code);
    if (code)
        return airy_fits_fail(AIRY_ERR_FORMAT, code);
    AIRY_FAIL_IF(ndim < 1 || ndim > MAX_AXES, AIRY_ERR_UNSUPPORTED, "NAXIS = %d, expected 1 to %d",
                 ndim, AIRY_MAX_DIMS);
    for (int i = 0; i < ndim; i++)
        AIRY_FAIL_IF(axes[i] < 1, AIRY_ERR_SHAPE, "NAXIS%d = %lld, expected at least 1", i + 1,
                     (long long)axes[i]);
    while (ndim > AIRY_MAX_DIMS && axes[ndim - 1] == 1)
        ndim--;
    AIRY_FAIL_IF(ndim > AIRY_MAX_DIMS, AIRY_ERR_UNSUPPORTED, "NAXIS = %d, expected 1 to %d", ndim,
                 AIRY_MAX_DIMS);
    image->ndim = ndim;
    for (int i = 0; i < ndim; i++)
        image->shape[i] = (size_t)axes[ndim - 1 - i];
    return AIRY_OK;
}

/* The type in memory: the file's own, unsigned by the offset, or float where values are scaled. */
static airy_status choose_dtype(airy_image *image, struct fits_stored *s)
{
    static const struct {
        int bitpix;
        airy_dtype plain, offset, scaled;
        double zero;
    } types[] = {
        {8, AIRY_DTYPE_U8, AIRY_DTYPE_I8, AIRY_DTYPE_F32, -128},
        {16, AIRY_DTYPE_I16, AIRY_DTYPE_U16, AIRY_DTYPE_F32, 32768},
        {32, AIRY_DTYPE_I32, AIRY_DTYPE_U32, AIRY_DTYPE_F64, 2147483648.0},
        {64, AIRY_DTYPE_I64, AIRY_DTYPE_U64, AIRY_DTYPE_F64, 9223372036854775808.0},
        {-32, AIRY_DTYPE_F32, AIRY_DTYPE_F32, AIRY_DTYPE_F32, 0},
        {-64, AIRY_DTYPE_F64, AIRY_DTYPE_F64, AIRY_DTYPE_F64, 0},
    };
    size_t i = 0;
    while (i < sizeof(types) / sizeof(types[0]) && types[i].bitpix != s->bitpix)
        i++;
    AIRY_FAIL_IF(i == sizeof(types) / sizeof(types[0]), AIRY_ERR_FORMAT,
                 "BITPIX = %d, expected 8, 16, 32, 64, -32 or -64", s->bitpix);
    s->offset = s->bitpix > 0 && s->scale == 1 && s->zero == types[i].zero && !s->blank;
    const bool scaled = s->scale != 1 || s->zero != 0 || s->blank;
    image->dtype = s->offset ? types[i].offset : scaled ? types[i].scaled : types[i].plain;
    return AIRY_OK;
}

static airy_status get_scaling(struct fits_stored *s, fitsfile *file)
{
    bool there;
    s->scale = 1;
    s->zero = 0;
    AIRY_TRY(airy_fits_key(file, TDOUBLE, "BSCALE", &s->scale, &there));
    AIRY_TRY(airy_fits_key(file, TDOUBLE, "BZERO", &s->zero, &there));
    AIRY_FAIL_IF(!isfinite(s->scale) || !isfinite(s->zero), AIRY_ERR_FORMAT,
                 "BSCALE = %g, BZERO = %g, expected numbers", s->scale, s->zero);
    AIRY_FAIL_HINT_IF(s->scale == 0, AIRY_ERR_FORMAT, AIRY_HINT_STATED, AIRY_SUBJECT_NONE,
                      "BSCALE = 0, which makes all pixels equal; correct the header");
    if (s->bitpix > 0) {
        AIRY_TRY(airy_fits_key(file, TLONGLONG, "BLANK", &s->blank_value, &s->blank));
        if (!s->blank && s->compressed)
            AIRY_TRY(airy_fits_key(file, TLONGLONG, "ZBLANK", &s->blank_value, &s->blank));
    }
    return AIRY_OK;
}

/* All that the header promises must lie inside the file. */
static airy_status check_end(const struct fits_open *f, const struct fits_stored *s, size_t bytes)
{
    LONGLONG head, data, end;
    int code = 0;
    fits_get_hduaddrll(f->file, &head, &data, &end, &code);
    if (code)
        return airy_fits_fail(AIRY_ERR_FORMAT, code);
    AIRY_FAIL_IF(data < 0 || (uint64_t)data > f->size, AIRY_ERR_FORMAT,
                 "the file ends inside its header");
    const uint64_t left = f->size - (uint64_t)data;
    AIRY_FAIL_IF(!s->compressed && bytes > left, AIRY_ERR_FORMAT,
                 "%llu bytes behind the header, its axes need %zu: the file is cut",
                 (unsigned long long)left, bytes);
    /* A table may lack its last padding. */
    AIRY_FAIL_IF(s->compressed && end > data && (uint64_t)(end - data) > left + FITS_BLOCK,
                 AIRY_ERR_FORMAT,
                 "%llu bytes behind the header, its table needs %lld: the file is cut",
                 (unsigned long long)left, (long long)(end - data));
    return AIRY_OK;
}

/* Pixels on their way: the image, or planes that lie `step` apart and share their tiles. */
struct part {
    const airy_image *image; /* of the HDU, its shape */
    airy_image to;           /* their memory */
    size_t first, last;      /* of the HDU's pixels, both are taken */
    size_t count, step;      /* pixels; along the axes behind the first two */
};

/* Pixels that lie in the file as they are; CFITSIO would want the last block to be complete. */
static airy_status read_plain(const struct part *part, const struct fits_stored *s,
                              const struct fits_open *f)
{
    LONGLONG head, data, end;
    int code = 0;
    const size_t size = (size_t)abs(s->bitpix) / 8, bytes = part->count * size;
    fits_get_hduaddrll(f->file, &head, &data, &end, &code);
    if (code)
        return airy_fits_fail(AIRY_ERR_FORMAT, code);
    const uint64_t at = (uint64_t)data + (uint64_t)part->first * size;
    if (f->memory)
        memcpy(part->to.data, (const uint8_t *)f->memory + at, bytes);
    else
        AIRY_TRY(airy_file_pread(f->fd, part->to.data, bytes, at));
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && size > 1)
        airy_image_swap(part->to.data, part->count, size);
    return AIRY_OK;
}

static airy_status read_tiles(const struct part *part, const struct fits_stored *s, fitsfile *file)
{
    static const struct {
        int bitpix, type;
    } types[] = {{8, TBYTE}, {16, TSHORT}, {32, TINT}, {-32, TFLOAT}, {-64, TDOUBLE}};
    int code = 0, any = 0;
    float nan32 = NAN;
    double nan64 = (double)NAN;
    size_t i = 0;
    while (types[i].bitpix != s->bitpix) /* choose_dtype knows these, and 64, of no tiles */
        i++;
    /* Asked for NaN, CFITSIO would also turn numbers below the normal range to 0. */
    void *null = !s->quantised ? NULL : s->bitpix == -32 ? (void *)&nan32 : (void *)&nan64;
    long first[MAX_AXES], last[MAX_AXES], step[MAX_AXES];
    size_t from = part->first, to = part->last;
    for (int k = 0; k < MAX_AXES; k++) {
        const size_t extent = k < part->image->ndim ? part->image->shape[part->image->ndim - 1 - k]
                                                    : 1;
        first[k] = 1 + (long)(from % extent);
        last[k] = 1 + (long)(to % extent);
        step[k] = k < 2 ? 1 : (long)part->step;
        from /= extent;
        to /= extent;
    }
    fits_set_bscale(file, 1.0, 0.0, &code); /* as stored; scaled here */
    fits_read_subset(file, types[i].type, first, last, step, null, part->to.data, &any, &code);
    return code ? airy_fits_fail(AIRY_ERR_CORRUPT, code) : AIRY_OK;
}

/* The cards as they lie in the file: CFITSIO would end one at a byte of 0. */
static airy_status keep_header(airy_image *image, const struct fits_stored *s,
                               const struct fits_open *f)
{
    LONGLONG head = 0, data = 0, end = 0;
    int code = 0;
    if (fits_get_hduaddrll(f->file, &head, &data, &end, &code))
        return airy_fits_fail(AIRY_ERR_FORMAT, code);
    const size_t bytes = (size_t)(data - head), cards = bytes / FITS_CARD;
    void *text;
    AIRY_TRY(airy_image_alloc(&text, bytes));
    const struct fits_bytes file = {f->memory, f->fd, f->size};
    airy_status status = airy_fits_read_at(&file, text, (uint64_t)head, bytes);
    if (status == AIRY_OK)
        status = airy_header_create(&image->header, image, text,
                                    s->compressed ? airy_header_untile(text, cards) : cards);
    free(text);
    return status;
}

/*
 * Find out whether floats are quantised, and let CFITSIO read the header again with that setting.
 * CFITSIO 4.2 would otherwise keep the setting of an image before this one that is not quantised.
 */
static airy_status settle_quantisation(struct fits_stored *s, fitsfile *file)
{
    char method[FLEN_VALUE] = "";
    bool there;
    int code = 0, number = 0, scale, zero;
    AIRY_TRY(airy_fits_key(file, TSTRING, "ZQUANTIZ", method, &there));
    AIRY_TRY(airy_fits_column(&scale, file, "ZSCALE"));
    AIRY_TRY(airy_fits_column(&zero, file, "ZZERO"));
    s->quantised = s->bitpix < 0 && strcmp(method, "NONE") != 0 && (scale || zero);
    const bool plain = s->bitpix < 0 && !s->quantised;
    fits_set_quantize_level(file, plain ? 0 : 1, &code); /* 0: none */
    fits_get_hdu_num(file, &number);
    fits_movabs_hdu(file, 1, NULL, &code);
    fits_movabs_hdu(file, number, NULL, &code);
    return code ? airy_fits_fail(AIRY_ERR_FORMAT, code) : AIRY_OK;
}

/* What the header says of the image that the file is at: shape, type, and how pixels lie. */
static airy_status describe_image(airy_image *image, struct fits_stored *s,
                                  const struct fits_open *f)
{
    int code = 0;
    size_t bytes;
    *s = (struct fits_stored){.compressed = fits_is_compressed_image(f->file, &code) != 0};
    AIRY_TRY(get_shape(image, s, f->file));
    AIRY_TRY(get_scaling(s, f->file));
    AIRY_TRY(choose_dtype(image, s));
    AIRY_TRY(airy_image_bytes(&bytes, image));
    AIRY_TRY(check_end(f, s, bytes / airy_dtype_size(image->dtype) * ((size_t)abs(s->bitpix) / 8)));
    return s->compressed ? settle_quantisation(s, f->file) : AIRY_OK;
}

/* Physical values of a part; whole: of the image. */
static airy_status read_part(const struct part *part, const struct fits_stored *s,
                             const struct fits_open *f, bool whole)
{
    if (s->compressed) {
        struct fits_tiles t;
        /* CFITSIO refuses them as TLONGLONG, and as TLONG gives other values (4.2.0). */
        AIRY_FAIL_IF(s->bitpix == 64, AIRY_ERR_UNSUPPORTED,
                     "BITPIX = 64 in compressed tiles, which CFITSIO does not unpack; write the "
                     "image without compression, or as 32-bit integers");
        AIRY_TRY(airy_fits_tiles_open(&t, f->file, f->size, part->image, s));
        const struct fits_rows rows = whole ? (struct fits_rows){0, t.rows}
                                            : airy_fits_tiles_rows(&t, part->first);
        AIRY_TRY(airy_fits_tiles_check(&t, &rows));
        AIRY_TRY(read_tiles(part, s, f->file));
    } else {
        AIRY_TRY(read_plain(part, s, f));
    }
    if (s->offset)
        airy_image_flip(part->to.data, part->count, airy_dtype_size(part->to.dtype));
    else if (s->bitpix > 0 && airy_dtype_is_float(part->to.dtype))
        airy_fits_scale_integers(&part->to, s, part->count);
    else if (s->bitpix < 0 && (s->scale != 1 || s->zero != 0))
        airy_fits_scale_floats(&part->to, s, part->count);
    return AIRY_OK;
}

/* The planes of an image that are wanted, from 0; count 0: none. */
struct wanted {
    size_t first, count, step;
};

/* How many of them, from number i on, lie in the tiles of that one, which are unpacked once. */
static airy_status count_together(size_t *count, const airy_image *image,
                                  const struct fits_stored *s, const struct fits_open *f,
                                  const struct wanted *planes, size_t i)
{
    struct fits_tiles t;
    const size_t pixels = image->shape[image->ndim - 1] * image->shape[image->ndim - 2];
    AIRY_TRY(airy_fits_tiles_open(&t, f->file, f->size, image, s));
    const struct fits_rows rows =
        airy_fits_tiles_rows(&t, (planes->first + i * planes->step) * pixels);
    size_t n = 1;
    while (i + n < planes->count &&
           airy_fits_tiles_rows(&t, (planes->first + (i + n) * planes->step) * pixels).first ==
               rows.first)
        n++;
    *count = n;
    return AIRY_OK;
}

static airy_status read_planes(airy_image *image, const struct fits_stored *s,
                               const struct fits_open *f, const struct wanted *planes)
{
    const airy_image whole = *image; /* shape and type before they are cut */
    size_t bytes;
    AIRY_TRY(keep_header(image, s, f));
    if (planes->count == 0)
        return AIRY_OK;
    AIRY_TRY(planes->count == 1
                 ? airy_image_take_plane(image, planes->first)
                 : airy_image_take_planes(image, planes->first, planes->count, planes->step));
    AIRY_TRY(airy_image_bytes(&bytes, image));
    AIRY_TRY(airy_image_alloc(&image->data, bytes));
    const size_t size = bytes / planes->count, pixels = size / airy_dtype_size(image->dtype);
    for (size_t i = 0, n = 1; i < planes->count; i += n) {
        const size_t first = planes->first + i * planes->step;
        if (s->compressed && planes->count > 1)
            AIRY_TRY(count_together(&n, &whole, s, f, planes, i));
        const struct part part = {
            .image = &whole,
            .to = {.dtype = image->dtype, .data = (uint8_t *)image->data + i * size},
            .first = first * pixels,
            .last = (first + (n - 1) * planes->step + 1) * pixels - 1,
            .count = n * pixels,
            .step = n > 1 ? planes->step : 1};
        AIRY_TRY(read_part(&part, s, f, false));
    }
    return AIRY_OK;
}

static airy_status read_whole(airy_image *image, const struct fits_stored *s,
                              const struct fits_open *f)
{
    size_t bytes;
    AIRY_TRY(airy_image_bytes(&bytes, image));
    AIRY_TRY(airy_image_alloc(&image->data, bytes));
    const size_t pixels = bytes / airy_dtype_size(image->dtype);
    const struct part part = {
        .image = image, .to = *image, .last = pixels - 1, .count = pixels, .step = 1};
    AIRY_TRY(read_part(&part, s, f, true));
    return keep_header(image, s, f);
}

static airy_status verify_sums(const struct fits_open *f, const char *path)
{
    LONGLONG head, data, end;
    int code = 0;
    bool edited;
    fits_get_hduaddrll(f->file, &head, &data, &end, &code);
    if (code)
        return airy_fits_fail(AIRY_ERR_FORMAT, code);
    if (end < 0 || (uint64_t)end > f->size) /* cut: who reads the pixels says so */
        return AIRY_OK;
    AIRY_TRY(airy_fits_check_sums(&edited, &(struct fits_bytes){f->memory, f->fd, f->size},
                                  (uint64_t)head, (uint64_t)data, (uint64_t)end));
    if (edited)
        airy_log(AIRY_LOG_WARN,
                 "'%s': CHECKSUM is not that of its header, which was changed; its "
                 "data agree with DATASUM",
                 path);
    return AIRY_OK;
}

/* FILE[EXT], at its image; verify: the sums that its HDU carries. */
static airy_status open_image(struct fits_open *f, const char *path, bool verify)
{
    char file[4096];
    const char *ext;
    AIRY_FAIL_IF(!airy_fits_split(file, sizeof(file), &ext, path), AIRY_ERR_PARAM,
                 "a path of %zu bytes, expected less than %zu", strlen(path), sizeof(file));
    AIRY_TRY(open_file(f, file));
    airy_status status = select_image(f->file, ext);
    if (status == AIRY_OK && verify && airy_checksums_wanted())
        status = verify_sums(f, path);
    if (status != AIRY_OK)
        close_file(f);
    return status;
}

/* CFITSIO is left to others. */
static airy_status leave(airy_status status, const char *path)
{
    fits_clear_errmsg();
    pthread_mutex_unlock(&fits_mutex);
    return status == AIRY_OK ? AIRY_OK : airy_fail_path(status, path);
}

typedef airy_status read_fn(airy_image *image, struct fits_open *f, void *user);

/* The image of FILE[EXT] as a function takes it from the open file. */
static airy_status read_with(airy_image *image, const char *path, read_fn *read, void *user,
                             bool verify)
{
    struct fits_open f;
    airy_image made = {0};
    pthread_mutex_lock(&fits_mutex);
    airy_status status = open_image(&f, path, verify);
    if (status == AIRY_OK) {
        status = read(&made, &f, user);
        close_file(&f);
    }
    status = leave(status, path);
    if (status == AIRY_OK)
        *image = made;
    else
        airy_image_free(&made);
    return status;
}

static airy_status read_image(airy_image *image, struct fits_open *f, void *user)
{
    struct fits_stored s;
    (void)user;
    AIRY_TRY(describe_image(image, &s, f));
    return read_whole(image, &s, f);
}

airy_status airy_image_read_fits(airy_image *image, const char *path)
{
    return read_with(image, path, read_image, NULL, true);
}

/* Tiles that a plane shares with others, which would be unpacked again and again. */
static airy_status has_deep_tiles(bool *deep, const airy_image *image, const struct fits_stored *s,
                                  const struct fits_open *f)
{
    struct fits_tiles t;
    AIRY_TRY(airy_fits_tiles_open(&t, f->file, f->size, image, s));
    *deep = false;
    for (int i = 2; i < t.axes; i++)
        *deep = *deep || t.size[i] > 1;
    return AIRY_OK;
}

static airy_status index_image(airy_image *image, struct fits_open *f, void *user)
{
    struct airy_image_header *header = user;
    struct fits_stored s;
    LONGLONG head, data, end;
    int code = 0;
    bool held = f->memory != NULL;
    AIRY_TRY(describe_image(image, &s, f));
    if (s.compressed && !held)
        AIRY_TRY(has_deep_tiles(&held, image, &s, f));
    if (held)
        return read_whole(image, &s, f);
    if (fits_get_hduaddrll(f->file, &head, &data, &end, &code))
        return airy_fits_fail(AIRY_ERR_FORMAT, code);
    const bool scaled = !s.offset && (s.scale != 1 || s.zero != 0 || s.blank);
    header->bytes = s.compressed || scaled ? 0 : (size_t)data;
    header->flipped = s.offset;
    header->swapped = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && abs(s.bitpix) > 8;
    return AIRY_OK;
}

airy_status airy_fits_index(struct airy_image_header *header, const char *path, bool verify)
{
    *header = (struct airy_image_header){.bytes = 0};
    return read_with(&header->image, path, index_image, header, verify);
}

struct airy_fits {
    struct fits_open open; /* at the image; CFITSIO knows its address */
    struct fits_stored stored;
    airy_image image; /* shape and type */
    size_t frames;
    char path[];
};

static void close_fits(airy_fits **fits)
{
    if (*fits)
        close_file(&(*fits)->open);
    free(*fits);
    *fits = NULL;
}

static airy_status open_fits(airy_fits **fits, const char *path, bool verify)
{
    const size_t length = strlen(path) + 1;
    airy_fits *made = calloc(1, sizeof(*made) + length);
    AIRY_FAIL_IF(!made, AIRY_ERR_MEMORY, "out of memory for an open file");
    memcpy(made->path, path, length);
    airy_status status = open_image(&made->open, path, verify);
    if (status != AIRY_OK) {
        free(made);
        return status;
    }
    status = describe_image(&made->image, &made->stored, &made->open);
    made->frames = 1;
    for (int i = 0; i < made->image.ndim - 2; i++)
        made->frames *= made->image.shape[i];
    if (status != AIRY_OK)
        close_fits(&made);
    *fits = made;
    return status;
}

airy_status airy_fits_open(airy_fits **fits, const char *path)
{
    AIRY_FAIL_IF(!fits || !path || !*path, AIRY_ERR_PARAM,
                 "airy_fits_open: fits or path is missing");
    airy_fits *made = NULL;
    pthread_mutex_lock(&fits_mutex);
    AIRY_TRY(leave(open_fits(&made, path, true), path));
    *fits = made;
    return AIRY_OK;
}

airy_status airy_fits_read(airy_image *image, airy_fits *fits, size_t first, size_t count,
                           size_t step)
{
    AIRY_FAIL_IF(!image || !fits, AIRY_ERR_PARAM, "airy_fits_read: image or fits is missing");
    airy_image made = fits->image;
    const struct wanted wanted = {first, count, step};
    pthread_mutex_lock(&fits_mutex);
    const airy_status status =
        leave(read_planes(&made, &fits->stored, &fits->open, &wanted), fits->path);
    if (status == AIRY_OK)
        *image = made;
    else
        airy_image_free(&made);
    return status;
}

airy_status airy_fits_read_planes(airy_image *image, const char *path, size_t first, size_t count,
                                  size_t step)
{
    AIRY_FAIL_IF(!image || !path || !*path, AIRY_ERR_PARAM,
                 "airy_fits_read_planes: image or path is missing");
    airy_fits *fits;
    AIRY_TRY(airy_fits_open(&fits, path));
    const airy_status status = airy_fits_read(image, fits, first, count, step);
    airy_fits_close(&fits);
    return status;
}

static airy_status read_frame(void *pixels, const airy_image *page, size_t frame,
                              const airy_fits *kept)
{
    const airy_image *image = &kept->image;
    const size_t count = page->shape[0] * page->shape[1];
    AIRY_FAIL_IF(image->ndim < 2 || image->dtype != page->dtype ||
                     image->shape[image->ndim - 2] != page->shape[0] ||
                     image->shape[image->ndim - 1] != page->shape[1] || frame >= kept->frames,
                 AIRY_ERR_FORMAT, "its shape has changed since it was opened");
    const struct part part = {.image = image,
                              .to = {.dtype = image->dtype, .data = pixels},
                              .first = frame * count,
                              .last = (frame + 1) * count - 1,
                              .count = count,
                              .step = 1};
    return read_part(&part, &kept->stored, &kept->open, false);
}

airy_status airy_fits_read_frame(void *pixels, const airy_image *page, size_t frame,
                                 const char *path, airy_fits **kept)
{
    airy_status status = AIRY_OK;
    pthread_mutex_lock(&fits_mutex);
    if (*kept && strcmp((*kept)->path, path) != 0)
        close_fits(kept);
    if (!*kept)
        status = open_fits(kept, path, false); /* verified when it was looked into */
    if (status == AIRY_OK)
        status = read_frame(pixels, page, frame, *kept);
    if (*kept && (status != AIRY_OK || (*kept)->frames == 1 || (*kept)->open.memory))
        close_fits(kept);
    return leave(status, path);
}

void airy_fits_close(airy_fits **fits)
{
    if (!fits || !*fits)
        return;
    pthread_mutex_lock(&fits_mutex);
    close_fits(fits);
    (void)leave(AIRY_OK, "");
}

static airy_status describe_hdu(airy_fits_hdu *hdu, fitsfile *file)
{
    int code = 0, type = 0, bitpix = 0, ndim = 0;
    LONGLONG axes[MAX_AXES] = {0};
    bool there;
    fits_get_hdu_type(file, &type, &code);
    if (code)
        return airy_fits_fail(AIRY_ERR_FORMAT, code);
    char name[FLEN_VALUE] = "";
    AIRY_TRY(airy_fits_key(file, TSTRING, "EXTNAME", name, &there));
    snprintf(hdu->name, sizeof(hdu->name), "%s", name);
    if (type != IMAGE_HDU) {
        snprintf(hdu->kind, sizeof(hdu->kind), "%s",
                 type == BINARY_TBL ? "binary table" : "ASCII table");
        LONGLONG rows = 0;
        int columns = 0;
        fits_get_num_rowsll(file, &rows, &code);
        fits_get_num_cols(file, &columns, &code);
        hdu->shape[0] = (size_t)rows;
        hdu->shape[1] = (size_t)columns;
        return code ? airy_fits_fail(AIRY_ERR_FORMAT, code) : AIRY_OK;
    }
    fits_get_img_paramll(file, MAX_AXES, &bitpix, &ndim, axes, &code);
    if (code)
        return airy_fits_fail(AIRY_ERR_FORMAT, code);
    const bool compressed = fits_is_compressed_image(file, &code) != 0;
    snprintf(hdu->kind, sizeof(hdu->kind), "%s", ndim ? "image" : "header");
    if (compressed) {
        AIRY_TRY(airy_fits_key(file, TSTRING, "ZCMPTYPE", name, &there));
        snprintf(hdu->compression, sizeof(hdu->compression), "%s", there ? name : "");
    }
    hdu->bitpix = bitpix;
    hdu->ndim = ndim < AIRY_FITS_AXES ? ndim : AIRY_FITS_AXES;
    for (int i = 0; i < hdu->ndim; i++)
        hdu->shape[i] = axes[hdu->ndim - 1 - i] > 0 ? (size_t)axes[hdu->ndim - 1 - i] : 0;
    return AIRY_OK;
}

static airy_status list_hdus(airy_fits_hdu **list, size_t *count, fitsfile *file)
{
    int code = 0, total = 0;
    fits_get_num_hdus(file, &total, &code);
    if (code)
        return airy_fits_fail(AIRY_ERR_FORMAT, code);
    *list = calloc((size_t)total, sizeof(**list));
    AIRY_FAIL_IF(!*list, AIRY_ERR_MEMORY, "cannot allocate a list of %d HDUs", total);
    for (int i = 0; i < total; i++) {
        fits_movabs_hdu(file, i + 1, NULL, &code);
        if (code)
            return airy_fits_fail(AIRY_ERR_FORMAT, code);
        AIRY_TRY(describe_hdu(*list + i, file));
    }
    *count = (size_t)total;
    return AIRY_OK;
}

airy_status airy_fits_list(airy_fits_hdu **hdus, size_t *count, const char *path)
{
    AIRY_FAIL_IF(!hdus || !count || !path || !*path, AIRY_ERR_PARAM,
                 "airy_fits_list: hdus, count or path is missing");
    char file[4096];
    const char *ext;
    struct fits_open f;
    airy_fits_hdu *made = NULL;
    AIRY_FAIL_IF(!airy_fits_split(file, sizeof(file), &ext, path), AIRY_ERR_PARAM,
                 "a path of %zu bytes, expected less than %zu", strlen(path), sizeof(file));
    pthread_mutex_lock(&fits_mutex);
    airy_status status = open_file(&f, file);
    if (status == AIRY_OK) {
        status = list_hdus(&made, count, f.file);
        close_file(&f);
    }
    status = leave(status, path);
    if (status == AIRY_OK)
        *hdus = made;
    else
        free(made);
    return status;
}
