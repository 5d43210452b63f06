/* PNG: grey images of 1 to 16 bits, as stored. Source: ISO/IEC 15948:2004. */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/image_memory.h"
#include "base/size.h"
#include "io/image/formats.h"
#include "io/file/plain_file.h"

/*
 * With the last row libpng unpacks all that is left of the compressed data. A row takes few more
 * bytes than it has, but they may lie in chunks of one byte, each with 12 more.
 */
enum { LAST_FACTOR = 16, LAST_ROOM = 1 << 16 };

struct png_input {
    png_structp png;
    png_infop info;
    int fd;
    uint64_t at, size;
    uint64_t most; /* where the bytes end that the rows being read may take */
    char why[200]; /* libpng's sentence */
};

static void note_error(png_structp png, png_const_charp text)
{
    struct png_input *in = png_get_error_ptr(png);
    snprintf(in->why, sizeof(in->why), "%s", text);
    png_longjmp(png, 1);
}

static void ignore_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void read_bytes(png_structp png, png_bytep data, size_t size)
{
    struct png_input *in = png_get_io_ptr(png);
    if (size > in->size - in->at)
        png_error(png, "the file is cut");
    if (in->at > in->most)
        png_error(png, "its compressed data are more than the image");
    if (airy_file_pread(in->fd, data, size, in->at) != AIRY_OK)
        png_error(png, "the file cannot be read");
    in->at += size;
}

/* Texts and profiles are not used, and a file may have any number of them that unpack to much. */
static void leave_texts(png_structp png)
{
    static const png_byte names[] = "tEXt\0zTXt\0iTXt\0iCCP\0sPLT\0eXIf";
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, names, sizeof(names) / 5);
}

/* libpng leaves by longjmp: nothing in here that would have to be freed. false: see why. */
static bool read_header(struct png_input *in)
{
    if (setjmp(png_jmpbuf(in->png)))
        return false;
    leave_texts(in->png);
    png_set_read_fn(in->png, in, read_bytes);
    png_read_info(in->png, in->info);
    return true;
}

static bool read_rows(struct png_input *in, const airy_image *image)
{
    if (setjmp(png_jmpbuf(in->png)))
        return false;
    const size_t pitch = image->shape[1] * airy_dtype_size(image->dtype);
    if (image->dtype == AIRY_DTYPE_U16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        png_set_swap(in->png);
    png_set_packing(in->png); /* of less than 8 bits, a byte each */
    const int passes = png_set_interlace_handling(in->png);
    png_start_read_image(in->png);
    for (int pass = 0; pass < passes; pass++)
        for (size_t y = 0; y < image->shape[0]; y++) {
            if (pass + 1 == passes && y + 1 == image->shape[0])
                in->most = in->at + LAST_FACTOR * (uint64_t)pitch + LAST_ROOM;
            png_read_row(in->png, (png_bytep)image->data + y * pitch, NULL);
        }
    in->most = UINT64_MAX;
    png_read_end(in->png, NULL);
    return true;
}

static airy_status choose_image(airy_image *image, const struct png_input *in)
{
    const int colour = png_get_color_type(in->png, in->info),
              bits = png_get_bit_depth(in->png, in->info);
    const char *const name = colour == PNG_COLOR_TYPE_PALETTE      ? "a palette"
                             : colour == PNG_COLOR_TYPE_RGB        ? "RGB"
                             : colour == PNG_COLOR_TYPE_RGB_ALPHA  ? "RGB with alpha"
                             : colour == PNG_COLOR_TYPE_GRAY_ALPHA ? "grey with alpha"
                                                                   : "grey";
    AIRY_FAIL_IF(colour != PNG_COLOR_TYPE_GRAY, AIRY_ERR_UNSUPPORTED,
                 "its pixels are %s, expected grey with 0 as black", name);
    *image = (airy_image){
        .dtype = bits == 16 ? AIRY_DTYPE_U16 : AIRY_DTYPE_U8,
        .ndim = 2,
        .shape = {png_get_image_height(in->png, in->info), png_get_image_width(in->png, in->info)}};
    return AIRY_OK;
}

static airy_status read_open(airy_image *image, struct png_input *in)
{
    in->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, in, note_error, ignore_warning);
    in->info = in->png ? png_create_info_struct(in->png) : NULL;
    AIRY_FAIL_IF(!in->info, AIRY_ERR_MEMORY, "libpng does not start");
    AIRY_FAIL_IF(!read_header(in), AIRY_ERR_FORMAT, "PNG: %s", in->why);
    size_t bytes;
    AIRY_TRY(choose_image(image, in));
    AIRY_TRY(airy_image_bytes(&bytes, image));
    enum { DEFLATE_MOST = 1032 }; /* bytes that one can stand for */
    const size_t packed = image->shape[0] * png_get_rowbytes(in->png, in->info);
    AIRY_FAIL_IF(packed / DEFLATE_MOST > in->size, AIRY_ERR_FORMAT,
                 "PNG: %llu bytes cannot hold %zu", (unsigned long long)in->size, packed);
    AIRY_TRY(airy_image_alloc(&image->data, bytes));
    AIRY_FAIL_IF(!read_rows(in, image), AIRY_ERR_CORRUPT, "PNG: %s", in->why);
    return AIRY_OK;
}

airy_status airy_image_read_png(airy_image *image, const char *path)
{
    struct png_input in = {.fd = -1, .most = UINT64_MAX};
    airy_image made = {0};
    AIRY_TRY(airy_file_open(&in.fd, &in.size, path));
    const airy_status status = read_open(&made, &in);
    png_destroy_read_struct(in.png ? &in.png : NULL, in.info ? &in.info : NULL, NULL);
    close(in.fd);
    if (status == AIRY_OK) {
        *image = made;
        return AIRY_OK;
    }
    airy_image_free(&made);
    return airy_fail_context(status, "'%s'", path);
}

struct png_output {
    png_structp png;
    png_infop info;
    uint8_t *bytes;
    size_t used, room;
    char why[200];
};

static void note_write_error(png_structp png, png_const_charp text)
{
    struct png_output *out = png_get_error_ptr(png);
    snprintf(out->why, sizeof(out->why), "%s", text);
    png_longjmp(png, 1);
}

static void write_bytes(png_structp png, png_bytep data, size_t size)
{
    struct png_output *out = png_get_io_ptr(png);
    if (size > out->room - out->used) {
        const size_t room = 2 * out->room + size;
        uint8_t *bytes = realloc(out->bytes, room);
        if (!bytes)
            png_error(png, "out of memory");
        out->bytes = bytes;
        out->room = room;
    }
    memcpy(out->bytes + out->used, data, size);
    out->used += size;
}

static void flush_nothing(png_structp png)
{
    (void)png;
}

static bool encode(struct png_output *out, const airy_image *image)
{
    if (setjmp(png_jmpbuf(out->png)))
        return false;
    const size_t size = airy_dtype_size(image->dtype), pitch = image->shape[1] * size;
    png_set_write_fn(out->png, out, write_bytes, flush_nothing);
    png_set_IHDR(out->png, out->info, (png_uint_32)image->shape[1], (png_uint_32)image->shape[0],
                 (int)(8 * size), PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(out->png, out->info);
    if (size == 2 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        png_set_swap(out->png);
    for (size_t y = 0; y < image->shape[0]; y++)
        png_write_row(out->png, (png_const_bytep)image->data + y * pitch);
    png_write_end(out->png, NULL);
    return true;
}

airy_status airy_image_write_png(const airy_image *image, const char *path, bool force,
                                 const struct airy_image_about *about)
{
    (void)about;
    enum { MOST = 1000000 }; /* libpng's own limit */
    AIRY_FAIL_ON_IF(image->shape[0] > MOST || image->shape[1] > MOST, AIRY_ERR_UNSUPPORTED,
                    AIRY_SUBJECT_FILE, "'%s': PNG of %zu x %zu pixels, expected at most %d a side",
                    path, image->shape[0], image->shape[1], MOST);
    struct png_output out = {.room = 1 << 16};
    out.bytes = malloc(out.room);
    out.png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, &out, note_write_error, ignore_warning);
    out.info = out.png ? png_create_info_struct(out.png) : NULL;
    airy_status status;
    if (!out.info || !out.bytes)
        status = airy_fail(AIRY_ERR_MEMORY, "libpng does not start");
    else if (!encode(&out, image))
        status = airy_fail_on(AIRY_ERR_MEMORY, AIRY_SUBJECT_FILE, "'%s': PNG: %s", path, out.why);
    else
        status = airy_file_put(path, (const void *const[1]){out.bytes}, &out.used, 1, force);
    png_destroy_write_struct(out.png ? &out.png : NULL, out.info ? &out.info : NULL);
    free(out.bytes);
    return status;
}
