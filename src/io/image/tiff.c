/*
 * TIFF through libtiff: grey images, pages as planes. libtiff keeps its state in the handle, its
 * messages come to a handler of that handle, and files are read through our own descriptor, so any
 * thread may read without a lock.
 * Source: TIFF Revision 6.0 (Aldus, 1992); libtiff's manual.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/error.h"
#include "base/image_memory.h"
#include "base/memory.h"
#include "base/size.h"
#include "io/image/header_write.h"
#include "io/image/formats.h"
#include "io/file/plain_file.h"

enum { MAX_PAGES = 1 << 20, STRIP = 1 << 20, MAX_TILE = 64 << 20, MAX_PADDING = 64 };

struct tiff_file {
    TIFF *tiff;
    int fd;
    bool writing;
    uint64_t at, size;
    char why[256]; /* the first message: libtiff's, or why it could not be written */
};

static int note_error(TIFF *tiff, void *user, const char *module, const char *format, va_list args)
{
    struct tiff_file *f = user;
    (void)tiff;
    (void)module;
    if (!f->why[0])
        vsnprintf(f->why, sizeof(f->why), format, args);
    for (char *p = f->why; *p; p++)
        if (*p < ' ' || *p > '~')
            *p = '?';
    return 1;
}

static int ignore_warning(TIFF *tiff, void *user, const char *module, const char *format,
                          va_list args)
{
    (void)tiff;
    (void)user;
    (void)module;
    (void)format;
    (void)args;
    return 1;
}

static tmsize_t read_bytes(thandle_t handle, void *data, tmsize_t size)
{
    struct tiff_file *f = handle;
    const uint64_t left = f->at < f->size ? f->size - f->at : 0;
    const size_t n = airy_min_size((size_t)size, (size_t)left);
    if (airy_file_pread(f->fd, data, n, f->at) != AIRY_OK)
        return -1;
    f->at += n;
    return (tmsize_t)n;
}

static tmsize_t write_bytes(thandle_t handle, void *data, tmsize_t size)
{
    struct tiff_file *f = handle;
    if (!f->writing)
        return -1;
    if (airy_file_pwrite(f->fd, data, (size_t)size, f->at) != AIRY_OK) {
        if (!f->why[0]) /* libtiff would say where, but not why */
            snprintf(f->why, sizeof(f->why), "%s", airy_last_error());
        return -1;
    }
    f->at += (uint64_t)size;
    f->size = f->at > f->size ? f->at : f->size;
    return size;
}

static toff_t seek(thandle_t handle, toff_t offset, int whence)
{
    struct tiff_file *f = handle;
    const uint64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? f->at : f->size;
    f->at = base + offset;
    return f->at;
}

static int close_nothing(thandle_t handle)
{
    (void)handle;
    return 0;
}

static toff_t get_size(thandle_t handle)
{
    return ((struct tiff_file *)handle)->size;
}

static airy_status tiff_fail(airy_status status, const struct tiff_file *f, const char *what)
{
    return airy_fail(status, "TIFF: %s%s%s", what, f->why[0] ? ": " : "", f->why);
}

static airy_status open_tiff(struct tiff_file *f, const char *mode)
{
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    AIRY_FAIL_IF(!options, AIRY_ERR_MEMORY, "libtiff does not start");
    TIFFOpenOptionsSetMaxSingleMemAlloc(
        options, (tmsize_t)airy_min_size(airy_memory_available(), SSIZE_MAX));
    TIFFOpenOptionsSetErrorHandlerExtR(options, note_error, f);
    TIFFOpenOptionsSetWarningHandlerExtR(options, ignore_warning, f);
    f->tiff = TIFFClientOpenExt("TIFF", mode, f, read_bytes, write_bytes, seek, close_nothing,
                                get_size, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    return f->tiff ? AIRY_OK : tiff_fail(AIRY_ERR_FORMAT, f, "cannot be opened");
}

static airy_status check_colours(TIFF *tiff)
{
    static const struct {
        uint16_t value;
        const char *name;
    } colours[] = {
        {PHOTOMETRIC_MINISWHITE, "grey with 0 as white"},
        {PHOTOMETRIC_RGB, "RGB"},
        {PHOTOMETRIC_PALETTE, "a palette"},
        {PHOTOMETRIC_MASK, "a transparency mask"},
        {PHOTOMETRIC_SEPARATED, "inks"},
        {PHOTOMETRIC_YCBCR, "YCbCr"},
        {PHOTOMETRIC_CIELAB, "Lab"},
    };
    uint16_t colour = PHOTOMETRIC_MINISBLACK, samples = 1;
    TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &colour);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
    for (size_t i = 0; i < sizeof(colours) / sizeof(colours[0]); i++)
        AIRY_FAIL_IF(colour == colours[i].value, AIRY_ERR_UNSUPPORTED,
                     "its pixels are %s, expected grey with 0 as black", colours[i].name);
    AIRY_FAIL_IF(colour != PHOTOMETRIC_MINISBLACK, AIRY_ERR_UNSUPPORTED,
                 "its photometric interpretation is %d, expected grey (1)", colour);
    AIRY_FAIL_IF(samples != 1, AIRY_ERR_UNSUPPORTED, "%d samples a pixel, expected 1", samples);
    return AIRY_OK;
}

static airy_status describe_page(airy_image *page, TIFF *tiff)
{
    static const struct {
        uint16_t format, bits;
        airy_dtype dtype;
    } types[] = {
        {SAMPLEFORMAT_UINT, 8, AIRY_DTYPE_U8},     {SAMPLEFORMAT_UINT, 16, AIRY_DTYPE_U16},
        {SAMPLEFORMAT_UINT, 32, AIRY_DTYPE_U32},   {SAMPLEFORMAT_UINT, 64, AIRY_DTYPE_U64},
        {SAMPLEFORMAT_INT, 8, AIRY_DTYPE_I8},      {SAMPLEFORMAT_INT, 16, AIRY_DTYPE_I16},
        {SAMPLEFORMAT_INT, 32, AIRY_DTYPE_I32},    {SAMPLEFORMAT_INT, 64, AIRY_DTYPE_I64},
        {SAMPLEFORMAT_IEEEFP, 32, AIRY_DTYPE_F32}, {SAMPLEFORMAT_IEEEFP, 64, AIRY_DTYPE_F64},
    };
    uint16_t bits = 1, format = SAMPLEFORMAT_UINT;
    uint32_t width = 0, height = 0, depth = 1;
    AIRY_TRY(check_colours(tiff));
    TIFFGetFieldDefaulted(tiff, TIFFTAG_IMAGEDEPTH, &depth);
    AIRY_FAIL_IF(
        depth > 1, AIRY_ERR_UNSUPPORTED,
        "its pixels are a volume of %u planes, expected a plane a page; save it as a stack", depth);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &format);
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
    format = format == SAMPLEFORMAT_VOID ? SAMPLEFORMAT_UINT : format;
    size_t i = 0;
    while (i < sizeof(types) / sizeof(types[0]) &&
           (types[i].format != format || types[i].bits != bits))
        i++;
    AIRY_FAIL_IF(i == sizeof(types) / sizeof(types[0]), AIRY_ERR_UNSUPPORTED,
                 "its samples are of format %d and %d bits, expected integers of 8, 16, 32, 64 or "
                 "floats of 32, 64 bits",
                 format, bits);
    *page = (airy_image){.dtype = types[i].dtype, .ndim = 2, .shape = {height, width}};
    size_t bytes;
    return airy_image_bytes(&bytes, page);
}

/*
 * ImageJ writes stacks that 32-bit offsets do not reach, and others do all of theirs, as one page
 * with the images behind one another; tifffile does if it is asked to. Those behind the first would
 * be lost; a description that went along with a single image promises more than the file holds.
 */
static airy_status check_behind(const struct tiff_file *f, const airy_image *page)
{
    const char *text = NULL;
    size_t bytes;
    if (!TIFFGetField(f->tiff, TIFFTAG_IMAGEDESCRIPTION, &text) || !text)
        return AIRY_OK;
    AIRY_TRY(airy_image_bytes(&bytes, page));
    const uint64_t room = f->size / bytes;
    AIRY_FAIL_IF(room > 1 && strncmp(text, "{\"shape\":", 9) == 0 &&
                     strstr(text, "\"truncated\": true"),
                 AIRY_ERR_UNSUPPORTED,
                 "a stack of tifffile with its images behind one page, expected a page each; save "
                 "it without truncate");
    const char *images = strncmp(text, "ImageJ=", 7) == 0 ? strstr(text, "\nimages=") : NULL;
    const uint64_t count = images ? strtoull(images + 8, NULL, 10) : 1;
    AIRY_FAIL_IF(count > 1 && room >= count, AIRY_ERR_UNSUPPORTED,
                 "a stack of ImageJ with %llu images behind one page, expected a page each; save "
                 "it as OME-TIFF or as an image sequence",
                 (unsigned long long)count);
    return AIRY_OK;
}

/* Reduced copies of a page are none themselves. */
static bool is_page(TIFF *tiff)
{
    uint32_t kind = 0;
    TIFFGetField(tiff, TIFFTAG_SUBFILETYPE, &kind);
    return (kind & FILETYPE_REDUCEDIMAGE) == 0;
}

/* Where the page's pixels lie in one piece as they are in memory, or 0. */
static uint64_t find_pixels(TIFF *tiff, const airy_image *page)
{
    uint16_t code = COMPRESSION_NONE, order = FILLORDER_MSB2LSB;
    size_t bytes;
    TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &code);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_FILLORDER, &order);
    if (code != COMPRESSION_NONE || order != FILLORDER_MSB2LSB || TIFFIsTiled(tiff) ||
        (TIFFIsByteSwapped(tiff) && airy_dtype_size(page->dtype) > 1) ||
        airy_image_bytes(&bytes, page) != AIRY_OK)
        return 0;
    const uint64_t start = TIFFGetStrileOffset(tiff, 0);
    const uint32_t strips = TIFFNumberOfStrips(tiff);
    uint64_t at = start;
    for (uint32_t i = 0; i < strips; i++) {
        const uint64_t size = TIFFGetStrileByteCount(tiff, i);
        if (TIFFGetStrileOffset(tiff, i) != at || size > bytes - (at - start))
            return 0;
        at += size;
    }
    return at - start == bytes ? start : 0;
}

/* Note a page; doubling: there is room unless the count is a power of two. */
static airy_status note_page(struct airy_tiff_index *index, TIFF *tiff, const airy_image *page)
{
    const size_t n = index->pages;
    if ((n & (n - 1)) == 0) {
        const size_t room = n ? 2 * n : 1;
        uint64_t *directories = realloc(index->directories, room * sizeof(*directories));
        if (directories)
            index->directories = directories;
        uint64_t *pixels = realloc(index->pixels, room * sizeof(*pixels));
        if (pixels)
            index->pixels = pixels;
        AIRY_FAIL_IF(!directories || !pixels, AIRY_ERR_MEMORY, "out of memory for %zu pages", room);
    }
    index->directories[n] = TIFFCurrentDirOffset(tiff);
    index->pixels[n] = find_pixels(tiff, page);
    index->pages++;
    return AIRY_OK;
}

/* Descriptions that are as the first page's say nothing new. */
static airy_status note_text(const struct airy_tiff_index *index, TIFF *tiff, size_t page)
{
    enum { LONGEST = 1 << 16 };
    const char *text = NULL;
    if (!index->described || !TIFFGetField(tiff, TIFFTAG_IMAGEDESCRIPTION, &text) || !text ||
        (page > 0 && index->text && strcmp(text, index->text) == 0))
        return AIRY_OK;
    char *cut = strndup(text, LONGEST);
    AIRY_FAIL_IF(!cut, AIRY_ERR_MEMORY, "out of memory for a description");
    const airy_status status = index->described(index->user, page, cut);
    free(cut);
    return status;
}

/* index: NULL, or where each page is noted. */
static airy_status count_pages(airy_image *image, struct airy_tiff_index *index,
                               struct tiff_file *f)
{
    size_t pages = 0;
    airy_image first = {0};
    do {
        airy_image page;
        if (!is_page(f->tiff))
            continue;
        AIRY_FAIL_IF(pages == MAX_PAGES, AIRY_ERR_UNSUPPORTED, "more than %d pages", MAX_PAGES);
        const airy_status status = describe_page(&page, f->tiff);
        if (status != AIRY_OK)
            return airy_fail_context(status, "page %zu", pages + 1);
        if (index) {
            AIRY_TRY(note_text(index, f->tiff, pages));
            AIRY_TRY(note_page(index, f->tiff, &page));
        }
        if (pages++ == 0)
            first = page;
        AIRY_FAIL_IF(page.dtype != first.dtype || page.shape[0] != first.shape[0] ||
                         page.shape[1] != first.shape[1],
                     AIRY_ERR_UNSUPPORTED,
                     "page %zu has %zu x %zu %s, the first one %zu x %zu %s: no stack", pages,
                     page.shape[0], page.shape[1], airy_dtype_name(page.dtype), first.shape[0],
                     first.shape[1], airy_dtype_name(first.dtype));
    } while (TIFFReadDirectory(f->tiff));
    AIRY_FAIL_IF(f->why[0], AIRY_ERR_FORMAT, "TIFF: %s", f->why);
    AIRY_FAIL_IF(pages == 0, AIRY_ERR_FORMAT, "TIFF: no page");
    if (pages == 1)
        AIRY_TRY(check_behind(f, &first));
    *image = first;
    if (pages > 1) {
        image->ndim = 3;
        image->shape[2] = first.shape[1];
        image->shape[1] = first.shape[0];
        image->shape[0] = pages;
    }
    return AIRY_OK;
}

/*
 * A small file that promises a large image is refused before the memory for it is taken. Deflate
 * packs at most 1032 bytes into one, LZW and run lengths about as many or fewer; the newer codes
 * have no such limit, so theirs is one of ours.
 */
static airy_status check_ratio(const struct tiff_file *f, size_t bytes)
{
    uint16_t code = COMPRESSION_NONE;
    TIFFGetFieldDefaulted(f->tiff, TIFFTAG_COMPRESSION, &code);
    const size_t most = code == COMPRESSION_NONE ? 1
                        : code == COMPRESSION_LZW || code == COMPRESSION_PACKBITS ||
                                code == COMPRESSION_DEFLATE || code == COMPRESSION_ADOBE_DEFLATE
                            ? 2048
                            : 1 << 16;
    AIRY_FAIL_IF(bytes / most > f->size, AIRY_ERR_FORMAT,
                 "%llu bytes cannot hold the %zu that it promises", (unsigned long long)f->size,
                 bytes);
    return AIRY_OK;
}

static airy_status read_strips(uint8_t *out, size_t bytes, struct tiff_file *f)
{
    const tmsize_t strip = TIFFStripSize(f->tiff);
    const uint32_t strips = TIFFNumberOfStrips(f->tiff);
    AIRY_FAIL_IF(strip <= 0 || (bytes + (size_t)strip - 1) / (size_t)strip != strips,
                 AIRY_ERR_FORMAT, "TIFF: %u strips of %lld bytes for %zu bytes", strips,
                 (long long)strip, bytes);
    for (uint32_t i = 0; i < strips; i++) {
        const size_t from = (size_t)i * (size_t)strip,
                     want = airy_min_size((size_t)strip, bytes - from);
        const tmsize_t got = TIFFReadEncodedStrip(f->tiff, i, out + from, (tmsize_t)want);
        if (got != (tmsize_t)want)
            return tiff_fail(AIRY_ERR_CORRUPT, f, "a strip does not decode");
    }
    return AIRY_OK;
}

static airy_status read_tiles(uint8_t *out, const airy_image *page, struct tiff_file *f)
{
    const size_t size = airy_dtype_size(page->dtype), height = page->shape[0],
                 width = page->shape[1];
    uint32_t tile_width = 0, tile_height = 0;
    TIFFGetField(f->tiff, TIFFTAG_TILEWIDTH, &tile_width);
    TIFFGetField(f->tiff, TIFFTAG_TILELENGTH, &tile_height);
    const tmsize_t bytes = TIFFTileSize(f->tiff);
    size_t want = size;
    AIRY_FAIL_IF(tile_width == 0 || tile_height == 0 || airy_mul_size(&want, want, tile_width) ||
                     airy_mul_size(&want, want, tile_height) || bytes <= 0 || want != (size_t)bytes,
                 AIRY_ERR_FORMAT, "TIFF: tiles of %u x %u pixels and %lld bytes", tile_height,
                 tile_width, (long long)bytes);
    AIRY_TRY(check_ratio(f, want));
    AIRY_FAIL_IF(want > MAX_TILE && want / height / width > size, AIRY_ERR_FORMAT,
                 "TIFF: tiles of %zu bytes are larger than the page, expected at most %d", want,
                 (int)MAX_TILE);
    /* Many tiles may have their data in one place, so that all of them take few bytes. */
    const size_t across = (width - 1) / tile_width + 1, down = (height - 1) / tile_height + 1;
    size_t all;
    AIRY_FAIL_IF(airy_mul_size(&all, want, across) || airy_mul_size(&all, all, down) ||
                     (all > MAX_TILE && all / MAX_PADDING / height / width > size),
                 AIRY_ERR_FORMAT,
                 "TIFF: %zu x %zu tiles of %zu bytes for a page of %zu x %zu pixels of %zu bytes, "
                 "expected at most %d times those",
                 down, across, want, height, width, size, (int)MAX_PADDING);
    uint8_t *tile = NULL;
    AIRY_TRY(airy_image_alloc((void **)&tile, want));
    airy_status status = AIRY_OK;
    for (size_t y = 0; y < height && status == AIRY_OK; y += tile_height) {
        for (size_t x = 0; x < width && status == AIRY_OK; x += tile_width) {
            const uint32_t number = TIFFComputeTile(f->tiff, (uint32_t)x, (uint32_t)y, 0, 0);
            if (TIFFReadEncodedTile(f->tiff, number, tile, bytes) != bytes) {
                status = tiff_fail(AIRY_ERR_CORRUPT, f, "a tile does not decode");
                break;
            }
            const size_t rows = airy_min_size(tile_height, height - y),
                         row = airy_min_size(tile_width, width - x) * size;
            for (size_t k = 0; k < rows; k++)
                memcpy(out + ((y + k) * width + x) * size, tile + k * tile_width * size, row);
        }
    }
    free(tile);
    return status;
}

static airy_status read_page(uint8_t *out, const airy_image *page, struct tiff_file *f)
{
    size_t bytes;
    AIRY_TRY(airy_image_bytes(&bytes, page));
    return TIFFIsTiled(f->tiff) ? read_tiles(out, page, f) : read_strips(out, bytes, f);
}

struct airy_tiff_pages {
    struct tiff_file f;
    airy_image page;                    /* of a file that is read: the shape of each */
    size_t done;                        /* pages read or written */
    char description[AIRY_HEADER_TEXT]; /* of the next page that is written; "": none */
};

void airy_tiff_close(struct airy_tiff_pages **pages)
{
    struct airy_tiff_pages *p = *pages;
    if (p && p->f.tiff)
        TIFFClose(p->f.tiff);
    if (p && p->f.fd >= 0 && !p->f.writing)
        close(p->f.fd);
    free(p);
    *pages = NULL;
}

static airy_status open_pages(struct airy_tiff_pages *p, airy_image *shape)
{
    size_t bytes;
    AIRY_TRY(open_tiff(&p->f, "rm")); /* m: no mapping */
    AIRY_TRY(count_pages(shape, NULL, &p->f));
    AIRY_TRY(airy_image_bytes(&bytes, shape));
    AIRY_TRY(check_ratio(&p->f, bytes));
    AIRY_FAIL_IF(!TIFFSetDirectory(p->f.tiff, 0), AIRY_ERR_FORMAT, "TIFF: %s", p->f.why);
    const size_t *side = shape->shape + shape->ndim - 2;
    p->page = (airy_image){.dtype = shape->dtype, .ndim = 2, .shape = {side[0], side[1]}};
    return AIRY_OK;
}

airy_status airy_tiff_open(struct airy_tiff_pages **pages, airy_image *shape, const char *path)
{
    struct airy_tiff_pages *p;
    AIRY_TRY(airy_memory_calloc((void **)&p, 1, sizeof(*p), "a TIFF file"));
    p->f.fd = -1;
    airy_image found = {0};
    airy_status status = airy_file_open(&p->f.fd, &p->f.size, path);
    if (status == AIRY_OK) {
        status = open_pages(p, &found);
        if (status != AIRY_OK)
            status = airy_fail_context(status, "'%s'", path);
    }
    if (status != AIRY_OK) {
        airy_tiff_close(&p);
        return status;
    }
    *shape = found;
    *pages = p;
    return AIRY_OK;
}

airy_status airy_tiff_read(struct airy_tiff_pages *pages, void *pixels)
{
    TIFF *tiff = pages->f.tiff;
    bool more = pages->done == 0 || TIFFReadDirectory(tiff);
    while (more && !is_page(tiff))
        more = TIFFReadDirectory(tiff);
    AIRY_FAIL_IF(!more, AIRY_ERR_FORMAT, "TIFF: no page behind %zu", pages->done);
    const airy_status status = read_page(pixels, &pages->page, &pages->f);
    pages->done++; /* the next call reads the page behind it in any case */
    return status == AIRY_OK ? status : airy_fail_context(status, "page %zu", pages->done);
}

/* The description of the first page, which is the current one. */
static airy_status copy_text(struct airy_tiff_index *index, TIFF *tiff)
{
    enum { LONGEST = 1 << 20 };
    const char *text = NULL;
    if (!TIFFGetField(tiff, TIFFTAG_IMAGEDESCRIPTION, &text) || !text)
        return AIRY_OK;
    index->text = strndup(text, LONGEST);
    AIRY_FAIL_IF(!index->text, AIRY_ERR_MEMORY, "out of memory for a description");
    return AIRY_OK;
}

static airy_status list_pages(struct airy_tiff_index *index, struct tiff_file *f)
{
    size_t bytes;
    AIRY_TRY(open_tiff(f, "rm"));
    AIRY_TRY(copy_text(index, f->tiff));
    AIRY_TRY(count_pages(&index->shape, index, f));
    AIRY_TRY(airy_image_bytes(&bytes, &index->shape));
    AIRY_TRY(check_ratio(f, bytes));
    bool plain = true;
    for (size_t i = 0; i < index->pages; i++)
        plain = plain && index->pixels[i];
    if (!plain) {
        free(index->pixels);
        index->pixels = NULL;
    }
    return AIRY_OK;
}

airy_status airy_tiff_list(struct airy_tiff_index *index, int fd, uint64_t size)
{
    struct tiff_file f = {.fd = fd, .size = size};
    struct airy_tiff_index made = {.described = index->described, .user = index->user};
    const airy_status status = list_pages(&made, &f);
    if (f.tiff)
        TIFFClose(f.tiff);
    if (status != AIRY_OK) {
        free(made.directories);
        free(made.pixels);
        free(made.text);
        return status;
    }
    *index = made;
    return AIRY_OK;
}

static airy_status read_at(void *pixels, const airy_image *page, uint64_t directory,
                           struct tiff_file *f)
{
    airy_image found;
    AIRY_TRY(open_tiff(f, "rm"));
    if (TIFFCurrentDirOffset(f->tiff) != directory && !TIFFSetSubDirectory(f->tiff, directory))
        return tiff_fail(AIRY_ERR_FORMAT, f, "the page's directory cannot be read");
    AIRY_TRY(describe_page(&found, f->tiff));
    AIRY_FAIL_IF(found.dtype != page->dtype || found.shape[0] != page->shape[0] ||
                     found.shape[1] != page->shape[1],
                 AIRY_ERR_FORMAT, "TIFF: a page of another shape than when the file was opened");
    size_t bytes;
    AIRY_TRY(airy_image_bytes(&bytes, &found));
    AIRY_TRY(check_ratio(f, bytes));
    return read_page(pixels, &found, f);
}

airy_status airy_tiff_read_at(void *pixels, const airy_image *page, uint64_t directory, int fd,
                              uint64_t size)
{
    struct tiff_file f = {.fd = fd, .size = size};
    const airy_status status = read_at(pixels, page, directory, &f);
    if (f.tiff)
        TIFFClose(f.tiff);
    return status;
}

airy_status airy_image_read_tiff(airy_image *image, const char *path)
{
    struct airy_tiff_pages *pages;
    airy_image made;
    size_t bytes = 0;
    AIRY_TRY(airy_tiff_open(&pages, &made, path));
    airy_status status = airy_image_bytes(&bytes, &made);
    if (status == AIRY_OK)
        status = airy_image_alloc(&made.data, bytes);
    const size_t count = made.ndim == 3 ? made.shape[0] : 1;
    for (size_t i = 0; i < count && status == AIRY_OK; i++)
        status = airy_tiff_read(pages, (uint8_t *)made.data + i * (bytes / count));
    airy_tiff_close(&pages);
    if (status == AIRY_OK) {
        *image = made;
        return AIRY_OK;
    }
    airy_image_free(&made);
    return airy_fail_context(status, "'%s'", path);
}

static bool write_page(TIFF *tiff, const airy_image *image, const uint8_t *data,
                       const char *description)
{
    const size_t size = airy_dtype_size(image->dtype), height = image->shape[image->ndim - 2],
                 width = image->shape[image->ndim - 1], pitch = width * size,
                 rows = airy_min_size(height, airy_max_size(1, STRIP / pitch));
    const int format = airy_dtype_is_float(image->dtype)    ? SAMPLEFORMAT_IEEEFP
                       : airy_dtype_is_signed(image->dtype) ? SAMPLEFORMAT_INT
                                                            : SAMPLEFORMAT_UINT;
    bool good = TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, (uint32_t)width) &&
                TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, (uint32_t)height) &&
                TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, (int)(8 * size)) &&
                TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1) &&
                TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, format) &&
                TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK) &&
                TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) &&
                TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE) &&
                TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, (uint32_t)rows) &&
                (!*description || TIFFSetField(tiff, TIFFTAG_IMAGEDESCRIPTION, description));
    uint32_t strip = 0;
    for (size_t y = 0; y < height && good; y += rows) {
        const size_t bytes = airy_min_size(rows, height - y) * pitch;
        /* Not changed: the file has the machine's byte order. */
        good = TIFFWriteEncodedStrip(tiff, strip++, (void *)(data + y * pitch), (tmsize_t)bytes) >=
               0;
    }
    return good && TIFFWriteDirectory(tiff);
}

airy_status airy_tiff_create(struct airy_tiff_pages **pages, int fd, bool far)
{
    struct airy_tiff_pages *p;
    AIRY_TRY(airy_memory_calloc((void **)&p, 1, sizeof(*p), "a TIFF file"));
    p->f.writing = true;
    p->f.fd = fd;
    const airy_status status = open_tiff(&p->f, far ? "w8m" : "wm");
    if (status != AIRY_OK) {
        airy_tiff_close(&p);
        return status;
    }
    *pages = p;
    return AIRY_OK;
}

airy_status airy_tiff_add(struct airy_tiff_pages *pages, const airy_image *page)
{
    AIRY_FAIL_IF(pages->done == MAX_PAGES, AIRY_ERR_UNSUPPORTED,
                 "TIFF: more than %d pages, expected .h5 or .npy for so many", MAX_PAGES);
    if (!write_page(pages->f.tiff, page, page->data, pages->description))
        return tiff_fail(AIRY_ERR_IO, &pages->f, "cannot be written");
    pages->description[0] = 0;
    pages->done++;
    return AIRY_OK;
}

airy_status airy_tiff_finish(struct airy_tiff_pages *pages)
{
    TIFFClose(pages->f.tiff);
    pages->f.tiff = NULL;
    if (pages->f.why[0])
        return tiff_fail(AIRY_ERR_IO, &pages->f, "cannot be written");
    AIRY_FAIL_HINT_IF(fsync(pages->f.fd) != 0 && errno != EINVAL && errno != EROFS, AIRY_ERR_IO,
                      airy_hint_of_errno(errno), AIRY_SUBJECT_NONE, "fsync: %s", strerror(errno));
    return AIRY_OK;
}

static airy_status write_all(int fd, const airy_image *image, const airy_stack_meta *meta)
{
    struct airy_tiff_pages *file;
    size_t bytes;
    AIRY_TRY(airy_image_bytes(&bytes, image));
    const size_t pages = image->ndim == 3 ? image->shape[0] : 1;
    /* 64-bit offsets, where 32 bits could not reach the last page's directory */
    AIRY_TRY(airy_tiff_create(&file, fd, bytes + 512 * pages > (size_t)3 << 30));
    (void)airy_header_comments(file->description, meta);
    airy_image page = {.dtype = image->dtype,
                       .ndim = 2,
                       .shape = {image->shape[image->ndim - 2], image->shape[image->ndim - 1]}};
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < pages && status == AIRY_OK; i++) {
        page.data = (uint8_t *)image->data + i * (bytes / pages);
        status = airy_tiff_add(file, &page);
    }
    if (status == AIRY_OK)
        status = airy_tiff_finish(file);
    airy_tiff_close(&file);
    return status;
}

airy_status airy_image_write_tiff(const airy_image *image, const char *path, bool force,
                                  const struct airy_image_about *about)
{
    for (int axis = image->ndim - 2; axis < image->ndim; axis++)
        AIRY_FAIL_ON_IF(image->shape[axis] > UINT32_MAX, AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_FILE,
                        "'%s': %zu pixels a side are more than TIFF's 32 bits", path,
                        image->shape[axis]);
    AIRY_FAIL_ON_IF(image->ndim == 3 && image->shape[0] > MAX_PAGES, AIRY_ERR_UNSUPPORTED,
                    AIRY_SUBJECT_FILE, "'%s': %zu pages, expected at most %d", path,
                    image->shape[0], MAX_PAGES);
    AIRY_FAIL_ON_IF(!force && access(path, F_OK) == 0, AIRY_ERR_EXISTS, AIRY_SUBJECT_FILE,
                    "'%s' is there already", path);
    char *partial;
    int fd;
    AIRY_TRY(airy_file_create(&fd, &partial, path));
    const airy_status status = write_all(fd, image, about->meta);
    close(fd);
    return airy_file_settle(status, partial, path, force);
}
