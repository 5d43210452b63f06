#include "io/stack/plain_frames.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/image_memory.h"
#include "base/memory.h"
#include "base/size.h"
#include "codec/byte_offset.h"
#include "io/file/gunzip.h"
#include "io/image/pixels.h"
#include "io/file/plain_file.h"
#include "io/stack/internal.h"

enum {
    USUAL_HEADER = 1 << 13,
    MOST_HEADER = (1 << 20) + 4096, /* more than any format takes */
    MAX_FRAMES = 1 << 26,
    TEXT = 1 << 20,
    PIECE = 128 << 10 /* of byte-offset data: it stays in the core's own cache */
};

/* A file's bytes, or those that gzip has unpacked. */
struct source {
    int fd;
    const uint8_t *data; /* NULL: in the file */
    uint64_t size;
};

static airy_status read_bytes(const struct source *s, void *to, size_t size, uint64_t at)
{
    AIRY_FAIL_IF(at > s->size || size > s->size - at, AIRY_ERR_IO,
                 "%zu bytes at %llu lie behind the end of the file (%llu bytes)", size,
                 (unsigned long long)at, (unsigned long long)s->size);
    if (!s->data)
        return airy_file_pread(s->fd, to, size, at);
    memcpy(to, s->data + at, size);
    return AIRY_OK;
}

/* The first bytes of a header as one text: a byte of 0 in it ends nothing. NULL: no memory. */
static char *copy_text(const char *header, size_t size)
{
    char *text = malloc(size + 1);
    for (size_t i = 0; text && i < size; i++)
        text[i] = header[i] ? header[i] : ' ';
    if (text)
        text[size] = 0;
    return text;
}

typedef airy_status parse_fn(struct airy_image_header *header, const void *text, size_t size);

/* The header at `at`. text: NULL, or where its first TEXT bytes go. */
static airy_status parse_at(struct airy_image_header *header, const struct source *s, uint64_t at,
                            parse_fn *parse, char **text)
{
    static const size_t sizes[] = {USUAL_HEADER, MOST_HEADER};
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < 2; i++) {
        const size_t n = airy_min_size(sizes[i], (size_t)(s->size - at));
        char *window = malloc(n + 1);
        AIRY_FAIL_IF(!window, AIRY_ERR_MEMORY, "out of memory for a header");
        status = read_bytes(s, window, n, at);
        if (status == AIRY_OK)
            status = parse(header, window, n);
        if (status == AIRY_OK && text)
            *text = copy_text(window, airy_min_size(airy_min_size(header->bytes, n), TEXT));
        free(window);
        if (status == AIRY_OK || n < sizes[i])
            break;
    }
    AIRY_FAIL_IF(status == AIRY_OK && text && !*text, AIRY_ERR_MEMORY,
                 "out of memory for a header");
    return status;
}

/* Frames of an image's shape: [height, width], or one or two axes in front. */
static airy_status take_shape(struct airy_plain_frames *f, const airy_image *image)
{
    size_t bytes;
    AIRY_FAIL_HINT_IF(image->is_complex, AIRY_ERR_UNSUPPORTED, AIRY_HINT_COMPLEX, AIRY_SUBJECT_NONE,
                      AIRY_COMPLEX_REFUSED);
    AIRY_TRY(airy_image_bytes(&bytes, image));
    AIRY_FAIL_IF(image->ndim < 2, AIRY_ERR_SHAPE,
                 "one dimension of %zu, expected 2 (one frame) or more", image->shape[0]);
    f->dtype = image->dtype;
    f->height = image->shape[image->ndim - 2];
    f->width = image->shape[image->ndim - 1];
    f->frame_bytes = f->stored = f->height * f->width * airy_dtype_size(f->dtype);
    f->frames = bytes / f->frame_bytes;
    AIRY_FAIL_IF(f->frames > MAX_FRAMES, AIRY_ERR_UNSUPPORTED, "%zu frames, expected at most %d",
                 f->frames, MAX_FRAMES);
    return AIRY_OK;
}

/* Headers may promise more than there is: a file that grows has a frame at least. */
static airy_status check_pixels(const struct airy_plain_frames *f)
{
    const uint64_t left = f->start < f->size ? f->size - f->start : 0;
    AIRY_FAIL_IF(left < f->stored || left / f->stored < f->frames / 1024, AIRY_ERR_FORMAT,
                 "%llu bytes behind the header, %zu frames of %zu bytes need more",
                 (unsigned long long)left, f->frames, f->stored);
    return AIRY_OK;
}

/* An image whose pixels are all in memory: kept where they are several frames. */
static airy_status hold(struct airy_plain_frames *f, airy_image *image)
{
    const airy_status status = take_shape(f, image);
    f->kind = status == AIRY_OK && f->frames > 1 ? AIRY_PLAIN_HELD : AIRY_PLAIN_IMAGE;
    if (f->kind == AIRY_PLAIN_HELD) {
        f->held = image->data;
        image->data = NULL;
    }
    airy_image_free(image);
    return status;
}

/* Frames of an array of one or two dimensions, as the options say. */
static airy_status cut_rows(airy_image *image, const struct airy_plain_options *options)
{
    size_t *shape = image->shape;
    const size_t height = options->npy_height;
    if (image->is_complex)
        return AIRY_OK;
    if (image->ndim == 1 && options->raw_if_headerless) {
        image->ndim = 2;
        shape[1] = shape[0];
        shape[0] = 1;
    }
    if (image->ndim != 2 || height == 0)
        return AIRY_OK;
    AIRY_FAIL_IF(shape[0] % height, AIRY_ERR_SHAPE,
                 "%zu lines, expected a multiple of the %zu that a frame has", shape[0], height);
    image->ndim = 3;
    shape[2] = shape[1];
    shape[1] = height;
    shape[0] /= height;
    return AIRY_OK;
}

/* The whole image, where its pixels cannot be had one frame at a time. */
static airy_status index_image(struct airy_plain_frames *f, enum airy_image_format format,
                               const char *path, const struct airy_plain_options *options)
{
    airy_image image = {0};
    /* libhdf5's lock is held; a file of another name may have been replaced by now */
    AIRY_FAIL_IF(format == AIRY_FORMAT_HDF5, AIRY_ERR_FORMAT, "an HDF5 file among others");
    f->format = format;
    AIRY_TRY(airy_image_read_as(&image, format, path));
    const airy_status status = format == AIRY_FORMAT_NPY ? cut_rows(&image, options) : AIRY_OK;
    if (status == AIRY_OK)
        return hold(f, &image);
    airy_image_free(&image);
    return status;
}

static airy_status index_fits(struct airy_plain_frames *f, const char *path, bool verify)
{
    struct airy_image_header header;
    f->format = AIRY_FORMAT_FITS;
    AIRY_TRY(airy_fits_index(&header, path, verify));
    if (header.image.data)
        return hold(f, &header.image);
    const airy_status status = take_shape(f, &header.image);
    f->kind = header.bytes ? AIRY_PLAIN_PIXELS : AIRY_PLAIN_IMAGE;
    f->start = header.bytes;
    f->swapped = header.swapped;
    f->flipped = header.flipped;
    airy_image_free(&header.image);
    return status;
}

static airy_status index_npy(struct airy_plain_frames *f, const struct source *s, const char *path,
                             const struct airy_plain_options *options)
{
    struct airy_image_header header;
    AIRY_TRY(parse_at(&header, s, 0, airy_npy_parse, NULL));
    AIRY_FAIL_IF(options->raw_if_headerless && header.data != s->size - header.bytes,
                 AIRY_ERR_FORMAT, "%llu bytes behind the header, its shape needs %zu",
                 (unsigned long long)(s->size - header.bytes), header.data);
    if (header.fortran && header.image.ndim > 1) {
        AIRY_FAIL_IF(s->data, AIRY_ERR_UNSUPPORTED,
                     "in Fortran order and packed, expected it unpacked");
        return index_image(f, AIRY_FORMAT_NPY, path, options);
    }
    AIRY_TRY(cut_rows(&header.image, options));
    AIRY_TRY(take_shape(f, &header.image));
    f->start = header.bytes;
    f->swapped = header.swapped;
    f->half = header.half;
    f->stored /= header.half ? 2 : 1;
    return check_pixels(f);
}

static airy_status add_start(struct airy_plain_frames *f, uint64_t start)
{
    const size_t n = f->frames;
    AIRY_FAIL_IF(n == MAX_FRAMES, AIRY_ERR_UNSUPPORTED, "more than %d frames", MAX_FRAMES);
    if ((n & (n - 1)) == 0) { /* doubling: else there is room */
        uint64_t *larger = realloc(f->starts, (n ? 2 * n : 1) * sizeof(*larger));
        AIRY_FAIL_IF(!larger, AIRY_ERR_MEMORY, "out of memory for %zu frames", n);
        f->starts = larger;
    }
    f->starts[f->frames++] = start;
    return AIRY_OK;
}

/* The header of a frame beside those before it. */
static airy_status note_header(struct airy_plain_frames *f, size_t frame, const char *text)
{
    struct airy_header header;
    unsigned known = 0, fresh = 0;
    airy_plain_header(&header, text);
    if (!header.parts)
        return AIRY_OK;
    if (!f->stated.parts)
        f->stated = header;
    for (const struct airy_frame_header *o = f->others; o; o = o->next)
        for (unsigned part = 1; part <= AIRY_GEOMETRY_TILT; part <<= 1)
            known |= airy_header_differ(&f->stated, &o->header, part);
    for (unsigned part = 1; part <= AIRY_GEOMETRY_TILT; part <<= 1)
        fresh |= airy_header_differ(&f->stated, &header, part) & ~known;
    if (!fresh)
        return AIRY_OK;
    struct airy_frame_header *other;
    AIRY_TRY(airy_memory_calloc((void **)&other, 1, sizeof(*other), "the header of a frame"));
    *other = (struct airy_frame_header){.next = f->others, .frame = frame, .header = header};
    f->others = other;
    return AIRY_OK;
}

static airy_status index_edf(struct airy_plain_frames *f, const struct source *s)
{
    struct airy_image_header header;
    struct airy_plain_frames first = {0};
    uint64_t at = 0;
    size_t images = 0;
    do {
        struct airy_plain_frames part = {0};
        char *text = NULL;
        AIRY_TRY(parse_at(&header, s, at, airy_edf_parse, images ? &text : &f->text));
        const airy_status noted = note_header(f, f->frames, images ? text : f->text);
        free(text);
        AIRY_TRY(noted);
        AIRY_TRY(take_shape(&part, &header.image));
        if (images++ == 0) {
            first = part;
            f->swapped = header.swapped;
        }
        AIRY_FAIL_IF(part.dtype != first.dtype || part.height != first.height ||
                         part.width != first.width || header.swapped != f->swapped,
                     AIRY_ERR_FORMAT, "image %zu has another shape or type than the first", images);
        at += header.bytes;
        for (size_t i = 0; i < part.frames; i++) {
            const uint64_t start = at + (uint64_t)i * part.frame_bytes;
            if (i > 0 && start > s->size) /* a volume cut: what is missing is not counted */
                break;
            AIRY_TRY(add_start(f, start));
        }
        AIRY_TRY(airy_edf_check_size(&header, s->size - at));
        at = header.stored > s->size - at ? s->size : at + header.stored;
    } while (at < s->size);
    f->dtype = first.dtype;
    f->height = first.height;
    f->width = first.width;
    f->frame_bytes = f->stored = first.frame_bytes;
    f->start = f->starts[0];
    AIRY_FAIL_IF(f->start > s->size || f->frame_bytes > s->size - f->start, AIRY_ERR_FORMAT,
                 "%llu bytes behind the header, its dimensions need %zu",
                 (unsigned long long)(s->size - airy_min_size(f->start, s->size)), f->frame_bytes);
    return AIRY_OK;
}

static airy_status index_cbf(struct airy_plain_frames *f, const struct source *s, const char *path,
                             const struct airy_plain_options *options)
{
    struct airy_image_header header;
    AIRY_TRY(parse_at(&header, s, 0, airy_cbf_parse, &f->text));
    AIRY_TRY(take_shape(f, &header.image));
    f->start = header.bytes;
    f->stored = header.stored;
    f->codec = "byte-offset";
    AIRY_FAIL_IF(header.stored > s->size - header.bytes, AIRY_ERR_CORRUPT,
                 "%zu bytes of data, the file has %llu behind its header", header.stored,
                 (unsigned long long)(s->size - header.bytes));
    if (f->frames == 1) {
        f->kind = AIRY_PLAIN_BYTE_OFFSET;
        f->has_md5 = options->verify && header.has_md5;
        memcpy(f->md5, header.md5, sizeof(f->md5));
        return AIRY_OK;
    }
    AIRY_FAIL_IF(s->data, AIRY_ERR_UNSUPPORTED, "a packed volume, expected it unpacked");
    return index_image(f, AIRY_FORMAT_CBF, path, options);
}

static airy_status note_page_header(void *user, size_t page, const char *text)
{
    return note_header(user, page, text);
}

static airy_status index_tiff(struct airy_plain_frames *f, int fd, uint64_t size)
{
    struct airy_tiff_index index = {.described = note_page_header, .user = f};
    AIRY_TRY(airy_tiff_list(&index, fd, size));
    const airy_status status = take_shape(f, &index.shape);
    f->text = index.text;
    f->kind = index.pixels ? AIRY_PLAIN_PIXELS : AIRY_PLAIN_PAGES;
    f->starts = index.pixels ? index.pixels : index.directories;
    f->codec = index.pixels ? "none" : "tiff";
    if (index.pixels)
        free(index.directories);
    f->start = f->starts[0];
    return status;
}

static airy_status index_raw(struct airy_plain_frames *f, uint64_t size,
                             const struct airy_plain_options *options)
{
    const airy_raw_frames *raw = &options->raw;
    const airy_image frame = {.dtype = raw->dtype, .ndim = 2, .shape = {raw->height, raw->width}};
    const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    AIRY_FAIL_IF(raw->height == 0 || raw->width == 0, AIRY_ERR_PARAM,
                 "a headerless file, whose frames must be described: %zu x %zu pixels", raw->height,
                 raw->width);
    AIRY_TRY(take_shape(f, &frame));
    AIRY_FAIL_IF(size < raw->offset, AIRY_ERR_FORMAT,
                 "%llu bytes, less than the %llu of its header", (unsigned long long)size,
                 (unsigned long long)raw->offset);
    f->headerless = true;
    f->start = raw->offset;
    f->swapped = raw->big_endian == little && airy_dtype_size(raw->dtype) > 1;
    const uint64_t bytes = size - raw->offset;
    f->frames = (size_t)(bytes / f->frame_bytes);
    f->rest = bytes % f->frame_bytes;
    AIRY_FAIL_IF(!options->raw_rest && (f->frames == 0 || f->rest), AIRY_ERR_FORMAT,
                 "%llu bytes behind an offset of %llu, expected a multiple of the %zu of a frame "
                 "of %zu x %zu %s",
                 (unsigned long long)bytes, (unsigned long long)raw->offset, f->frame_bytes,
                 raw->height, raw->width, airy_dtype_name(raw->dtype));
    AIRY_FAIL_IF(f->frames > MAX_FRAMES, AIRY_ERR_UNSUPPORTED, "%zu frames, expected at most %d",
                 f->frames, MAX_FRAMES);
    return AIRY_OK;
}

/* Headers of what is being unpacked, up to the first that has not been unpacked yet. */
struct packed {
    enum airy_image_format format;
    uint64_t at;
};

/* One image, or of EDF several; behind them there is room for one more header. */
static airy_status expect_images(uint64_t *expected, void *user, const void *have, size_t used)
{
    struct packed *p = user;
    const struct source s = {.fd = -1, .data = have, .size = used};
    parse_fn *parse = p->format == AIRY_FORMAT_NPY   ? airy_npy_parse
                      : p->format == AIRY_FORMAT_EDF ? airy_edf_parse
                                                     : airy_cbf_parse;
    while ((p->at == 0 || p->format == AIRY_FORMAT_EDF) && p->at < used &&
           used - p->at >= MOST_HEADER) {
        struct airy_image_header header;
        AIRY_TRY(parse_at(&header, &s, p->at, parse, NULL));
        const uint64_t data = p->format == AIRY_FORMAT_NPY ? header.data : header.stored;
        AIRY_FAIL_IF(data > UINT64_MAX / 4 || header.bytes > UINT64_MAX / 4, AIRY_ERR_CORRUPT,
                     "its header has more bytes than any file");
        p->at += header.bytes + data;
    }
    *expected = p->at + MOST_HEADER;
    return AIRY_OK;
}

/* Only what gzip holds of formats that come so. */
static airy_status unpack(struct airy_plain_frames *f, struct source *s,
                          enum airy_image_format format)
{
    uint8_t start[2];
    if (s->size < 2 || airy_file_pread(s->fd, start, 2, 0) != AIRY_OK || start[0] != 0x1f ||
        start[1] != 0x8b)
        return AIRY_OK;
    AIRY_FAIL_IF(format != AIRY_FORMAT_NPY && format != AIRY_FORMAT_EDF &&
                     format != AIRY_FORMAT_CBF,
                 AIRY_ERR_UNSUPPORTED, "packed by gzip, expected that of .npy, .edf or .cbf");
    void *data;
    size_t bytes;
    struct packed packed = {.format = format};
    AIRY_TRY(airy_gunzip(&data, &bytes, s->fd, s->size, expect_images, &packed));
    f->held = data;
    s->data = data;
    s->size = f->size = bytes;
    return AIRY_OK;
}

static airy_status index_file(struct airy_plain_frames *f, const char *path, int fd, uint64_t size,
                              enum airy_image_format format,
                              const struct airy_plain_options *options)
{
    struct source s = {.fd = fd, .size = size};
    if (format != AIRY_FORMAT_FITS && format != AIRY_FORMAT_PNG)
        AIRY_TRY(unpack(f, &s, format));
    switch (format) {
    case AIRY_FORMAT_NPY:
        AIRY_TRY(index_npy(f, &s, path, options));
        break;
    case AIRY_FORMAT_EDF:
        AIRY_TRY(index_edf(f, &s));
        break;
    case AIRY_FORMAT_CBF:
        AIRY_TRY(index_cbf(f, &s, path, options));
        break;
    case AIRY_FORMAT_TIFF:
        AIRY_TRY(index_tiff(f, fd, size));
        break;
    case AIRY_FORMAT_FITS:
        AIRY_TRY(index_fits(f, path, options->verify));
        break;
    default: /* says which formats there are */
        AIRY_TRY(index_image(f, format, path, options));
        break;
    }
    f->is_packed = s.data != NULL;
    if (f->is_packed)
        f->codec = "gzip";
    return AIRY_OK;
}

airy_status airy_plain_index(struct airy_plain_frames *frames, const char *path, int fd,
                             uint64_t size, const struct airy_plain_options *options)
{
    struct airy_plain_frames f = {.size = size, .codec = "none"};
    enum airy_image_format format = AIRY_FORMAT_UNKNOWN;
    airy_status status = AIRY_OK;
    if (!options->has_raw)
        status = airy_image_format_of(&format, path);
    else if (options->raw_if_headerless)
        status = airy_image_format_stated(&format, path);
    if (status == AIRY_OK)
        status = options->has_raw && format == AIRY_FORMAT_UNKNOWN
                     ? index_raw(&f, size, options)
                     : index_file(&f, path, fd, size, format, options);
    if (status != AIRY_OK) {
        airy_plain_release(&f);
        return airy_fail_path(status, path);
    }
    *frames = f;
    return AIRY_OK;
}

void airy_plain_release(struct airy_plain_frames *frames)
{
    while (frames->others) {
        struct airy_frame_header *dead = frames->others;
        frames->others = dead->next;
        free(dead);
    }
    free(frames->starts);
    free(frames->held);
    free(frames->text);
    frames->starts = NULL;
    frames->held = NULL;
    frames->text = NULL;
}

static uint64_t start_of(const struct airy_plain_frames *f, size_t frame)
{
    return f->starts ? f->starts[frame] : f->start + (uint64_t)frame * f->stored;
}

uint64_t airy_plain_offset(const struct airy_plain_frames *f, size_t frame)
{
    const bool as_is = f->kind == AIRY_PLAIN_PIXELS && !f->swapped && !f->half && !f->flipped &&
                       !f->held;
    return as_is ? start_of(f, frame) : UINT64_MAX;
}

static airy_status decode_piecewise(const struct airy_plain_frames *f, const struct source *s,
                                    uint8_t *piece, void *pixels)
{
    struct airy_byte_offset walk;
    struct airy_md5 md5;
    size_t have = 0, left = f->stored, used;
    uint64_t at = f->start;
    airy_byte_offset_begin(&walk, pixels, f->dtype, f->height * f->width);
    airy_md5_begin(&md5);
    do {
        const size_t more = airy_min_size(PIECE - have, left);
        AIRY_TRY(read_bytes(s, piece + have, more, at));
        if (f->has_md5)
            airy_md5_add(&md5, piece + have, more);
        at += more;
        left -= more;
        have += more;
        AIRY_TRY(airy_byte_offset_more(&walk, piece, have, &used));
        have -= used;
        memmove(piece, piece + used, have);
    } while (left > 0 && walk.done < walk.count && used > 0);
    AIRY_TRY(airy_byte_offset_end(&walk, left + have));
    return f->has_md5 ? airy_cbf_check_md5(&md5, f->md5) : AIRY_OK;
}

static airy_status read_byte_offset(const struct airy_plain_frames *f, const struct source *s,
                                    void *pixels)
{
    uint8_t *piece = malloc(PIECE);
    AIRY_FAIL_IF(!piece, AIRY_ERR_MEMORY, "out of memory for %d bytes", PIECE);
    const airy_status status = decode_piecewise(f, s, piece, pixels);
    free(piece);
    return status;
}

static airy_status read_image(const struct airy_plain_frames *f, const char *path, void *pixels)
{
    airy_image image = {0};
    struct airy_plain_frames now = {0};
    AIRY_TRY(airy_image_read_as(&image, f->format, path));
    airy_status status = take_shape(&now, &image);
    if (status == AIRY_OK && now.dtype == f->dtype && now.height == f->height &&
        now.width == f->width && now.frames == 1)
        memcpy(pixels, image.data, f->frame_bytes);
    else if (status == AIRY_OK)
        status = airy_fail(AIRY_ERR_FORMAT, "its shape has changed since it was opened");
    airy_image_free(&image);
    return status;
}

airy_status airy_plain_read(const struct airy_plain_frames *f, size_t frame, const char *path,
                            int fd, airy_fits **kept, void *pixels)
{
    const airy_image page = {.dtype = f->dtype, .ndim = 2, .shape = {f->height, f->width}};
    const struct source s = {.fd = fd, .data = f->held, .size = f->size};
    const size_t size = airy_dtype_size(f->dtype);
    switch (f->kind) {
    case AIRY_PLAIN_BYTE_OFFSET:
        return read_byte_offset(f, &s, pixels);
    case AIRY_PLAIN_PAGES:
        return airy_tiff_read_at(pixels, &page, f->starts[frame], fd, f->size);
    case AIRY_PLAIN_IMAGE:
        return f->format == AIRY_FORMAT_FITS
                   ? airy_fits_read_frame(pixels, &page, frame, path, kept)
                   : read_image(f, path, pixels);
    case AIRY_PLAIN_HELD:
        memcpy(pixels, f->held + frame * f->frame_bytes, f->frame_bytes);
        return AIRY_OK;
    default:
        break;
    }
    AIRY_TRY(read_bytes(&s, (uint8_t *)pixels + (f->frame_bytes - f->stored), f->stored,
                        start_of(f, frame)));
    if (f->half)
        airy_image_widen(pixels, f->frame_bytes / size, f->swapped);
    else if (f->swapped)
        airy_image_swap(pixels, f->frame_bytes / size, size);
    if (f->flipped)
        airy_image_flip(pixels, f->frame_bytes / size, size);
    return AIRY_OK;
}
