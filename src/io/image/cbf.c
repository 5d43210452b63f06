/*
 * CBF: the first binary section of a file, byte-offset compressed. The text before it has one
 * keyword a line.
 * Source: International Tables for Crystallography G (2005), sections 2.3 and 5.6.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/image_memory.h"
#include "base/size.h"
#include "codec/byte_offset.h"
#include "io/file/checksums.h"
#include "io/image/header_write.h"
#include "io/image/formats.h"
#include "io/image/pixels.h"
#include "io/file/plain_file.h"

enum { MAX_HEADER = 1 << 20, VALUE = 96 };

static const uint8_t magic[4] = {0x0c, 0x1a, 0x04, 0xd5}; /* in front of the binary data */

static const struct {
    const char *name;
    airy_dtype dtype;
} types[] = {
    {"unsigned 8-bit integer", AIRY_DTYPE_U8},   {"signed 8-bit integer", AIRY_DTYPE_I8},
    {"unsigned 16-bit integer", AIRY_DTYPE_U16}, {"signed 16-bit integer", AIRY_DTYPE_I16},
    {"unsigned 32-bit integer", AIRY_DTYPE_U32}, {"signed 32-bit integer", AIRY_DTYPE_I32},
};

/* What follows "KEY:" or "KEY=" up to the line's end, without quotes; the first one counts. */
static bool find_value(char value[VALUE], const char *text, size_t size, const char *key)
{
    const size_t n = strlen(key);
    for (const char *at = text, *end = text + size; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        while (at < stop && isspace((unsigned char)*at))
            at++;
        if ((size_t)(stop - at) > n && strncasecmp(at, key, n) == 0 &&
            (at[n] == ':' || at[n] == '=')) {
            const char *from = at + n + 1, *to = stop;
            while (from < to && (isspace((unsigned char)*from) || *from == '"'))
                from++;
            while (to > from && (isspace((unsigned char)to[-1]) || to[-1] == '"' || to[-1] == ';'))
                to--;
            snprintf(value, VALUE, "%.*s", (int)airy_min_size((size_t)(to - from), VALUE - 1),
                     from);
            return true;
        }
        at = stop + 1;
    }
    return false;
}

static airy_status get_size(size_t *out, const char *text, size_t size, const char *key,
                            bool needed)
{
    char value[VALUE];
    if (!find_value(value, text, size, key)) {
        AIRY_FAIL_IF(needed, AIRY_ERR_FORMAT, "CBF header: '%s' is missing", key);
        return AIRY_OK;
    }
    size_t v;
    const bool good = airy_image_parse_size(&v, value);
    AIRY_FAIL_IF(!good, AIRY_ERR_FORMAT, "CBF header: %s = '%s', expected a size", key, value);
    *out = v;
    return AIRY_OK;
}

static airy_status parse_type(airy_image *image, const char *text, size_t size)
{
    char value[VALUE] = "";
    AIRY_FAIL_IF(!find_value(value, text, size, "X-Binary-Element-Type"), AIRY_ERR_FORMAT,
                 "CBF header: 'X-Binary-Element-Type' is missing");
    size_t i = 0;
    while (i < sizeof(types) / sizeof(types[0]) && strcasecmp(value, types[i].name) != 0)
        i++;
    AIRY_FAIL_IF(i == sizeof(types) / sizeof(types[0]), AIRY_ERR_UNSUPPORTED,
                 "CBF header: element type '%s', expected integers of 8, 16 or 32 bits", value);
    image->dtype = types[i].dtype;
    AIRY_FAIL_IF(!find_value(value, text, size, "conversions") ||
                     strcasecmp(value, "x-CBF_BYTE_OFFSET") != 0,
                 AIRY_ERR_UNSUPPORTED, "CBF header: conversions '%s', expected x-CBF_BYTE_OFFSET",
                 value);
    if (find_value(value, text, size, "X-Binary-Element-Byte-Order"))
        AIRY_FAIL_IF(strcasecmp(value, "LITTLE_ENDIAN") != 0, AIRY_ERR_UNSUPPORTED,
                     "CBF header: byte order '%s', expected LITTLE_ENDIAN", value);
    return AIRY_OK;
}

static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Six bits of a letter of base64, -1 of any other. */
static int base64_bits(char letter)
{
    const char *at = letter ? strchr(base64, letter) : NULL;
    return at ? (int)(at - base64) : -1;
}

/* Of 16 bytes: 22 letters and "==", which some leave out. */
static bool parse_base64(uint8_t digest[AIRY_MD5_BYTES], const char *text)
{
    enum { LETTERS = 22 };
    uint32_t bits = 0;
    for (size_t i = 0, n = 0; i < LETTERS; i++) {
        const int six = base64_bits(text[i]);
        if (six < 0)
            return false;
        bits = bits << 6 | (uint32_t)six;
        if (i % 4 != 0 && n < AIRY_MD5_BYTES)
            digest[n++] = (uint8_t)(bits >> (6 - 2 * (i % 4)));
    }
    return text[LETTERS] == 0 || strcmp(text + LETTERS, "==") == 0;
}

enum { MD5_LETTERS = 24 };

static void put_base64(char text[MD5_LETTERS + 1], const uint8_t digest[AIRY_MD5_BYTES])
{
    size_t n = 0;
    for (size_t i = 0; i < AIRY_MD5_BYTES; i += 3) {
        const bool last = i + 1 == AIRY_MD5_BYTES;
        const uint32_t bits = (uint32_t)digest[i] << 16 |
                              (last ? 0 : (uint32_t)digest[i + 1] << 8 | digest[i + 2]);
        for (int k = 0; k < 4; k++)
            text[n++] = last && k > 1 ? '=' : base64[bits >> (18 - 6 * k) & 63];
    }
    text[n] = 0;
}

/* An empty one says nothing. */
static airy_status get_md5(struct airy_image_header *header, const char *text, size_t size)
{
    char value[VALUE];
    if (!find_value(value, text, size, "Content-MD5") || !value[0])
        return AIRY_OK;
    header->has_md5 = parse_base64(header->md5, value);
    AIRY_FAIL_IF(!header->has_md5, AIRY_ERR_FORMAT,
                 "CBF header: Content-MD5 = '%s', expected 24 letters of base64", value);
    return AIRY_OK;
}

airy_status airy_cbf_check_md5(struct airy_md5 *md5, const uint8_t said[AIRY_MD5_BYTES])
{
    uint8_t found[AIRY_MD5_BYTES];
    airy_md5_end(found, md5);
    AIRY_FAIL_IF(memcmp(found, said, sizeof(found)) != 0, AIRY_ERR_CORRUPT,
                 "checksum: the header's Content-MD5 is not that of the data, which are damaged");
    return AIRY_OK;
}

airy_status airy_cbf_parse(struct airy_image_header *header, const void *text, size_t size)
{
    memset(header, 0, sizeof(*header));
    AIRY_FAIL_IF(size < 6 || memcmp(text, "###CBF", 6) != 0, AIRY_ERR_FORMAT,
                 "no CBF file: it does not start with '###CBF'");
    const char *mark = memmem(text, airy_min_size(size, MAX_HEADER), magic, sizeof(magic));
    AIRY_FAIL_IF(!mark, AIRY_ERR_FORMAT, "CBF header: no binary section in the first %d bytes",
                 MAX_HEADER);
    const size_t length = (size_t)(mark - (const char *)text);
    airy_image *image = &header->image;
    AIRY_TRY(parse_type(image, text, length));
    size_t width = 0, height = 0, depth = 1, count = 0;
    AIRY_TRY(get_size(&width, text, length, "X-Binary-Size-Fastest-Dimension", true));
    AIRY_TRY(get_size(&height, text, length, "X-Binary-Size-Second-Dimension", true));
    AIRY_TRY(get_size(&depth, text, length, "X-Binary-Size-Third-Dimension", false));
    image->ndim = depth > 1 ? 3 : 2;
    image->shape[0] = depth;
    image->shape[image->ndim - 2] = height;
    image->shape[image->ndim - 1] = width;
    AIRY_TRY(airy_image_bytes(&header->data, image));
    count = header->data / airy_dtype_size(image->dtype);
    size_t said = count;
    AIRY_TRY(get_size(&said, text, length, "X-Binary-Number-of-Elements", false));
    AIRY_FAIL_IF(said != count, AIRY_ERR_FORMAT,
                 "CBF header: %zu elements, its dimensions have %zu", said, count);
    AIRY_TRY(get_size(&header->stored, text, length, "X-Binary-Size", true));
    AIRY_FAIL_IF(header->stored < count, AIRY_ERR_FORMAT,
                 "CBF header: %zu bytes of data for %zu elements", header->stored, count);
    header->bytes = length + sizeof(magic);
    return get_md5(header, text, length);
}

static airy_status read_open(airy_image *image, int fd, uint64_t size)
{
    struct airy_image_header header;
    uint8_t *start = NULL, *stored = NULL;
    const size_t head = airy_min_size((size_t)size, MAX_HEADER);
    AIRY_TRY(airy_image_alloc((void **)&start, head));
    airy_status status = airy_file_pread(fd, start, head, 0);
    if (status == AIRY_OK)
        status = airy_cbf_parse(&header, start, head);
    free(start);
    AIRY_TRY(status);
    AIRY_FAIL_IF(header.stored > size - header.bytes, AIRY_ERR_FORMAT,
                 "%llu bytes behind the header, expected %zu: the file is cut",
                 (unsigned long long)(size - header.bytes), header.stored);
    AIRY_TRY(airy_image_alloc((void **)&stored, header.stored));
    status = airy_file_pread(fd, stored, header.stored, header.bytes);
    airy_image *made = &header.image;
    if (status == AIRY_OK && header.has_md5 && airy_checksums_wanted()) {
        struct airy_md5 md5;
        airy_md5_begin(&md5);
        airy_md5_add(&md5, stored, header.stored);
        status = airy_cbf_check_md5(&md5, header.md5);
    }
    if (status == AIRY_OK)
        status = airy_image_alloc(&made->data, header.data);
    if (status == AIRY_OK)
        status = airy_byte_offset_decode(made->data, made->dtype,
                                         header.data / airy_dtype_size(made->dtype), stored,
                                         header.stored);
    free(stored);
    if (status == AIRY_OK)
        *image = *made;
    else
        free(made->data);
    return status;
}

airy_status airy_image_read_cbf(airy_image *image, const char *path)
{
    return airy_image_read_with(image, path, read_open);
}

static size_t find_type(airy_dtype dtype)
{
    size_t type = 0;
    while (type < sizeof(types) / sizeof(types[0]) && types[type].dtype != dtype)
        type++;
    return type;
}

/* The block of what is known, in the form that detectors of DECTRIS give it; else "". */
static void make_contents(char text[AIRY_HEADER_TEXT + 256], const airy_stack_meta *meta)
{
    char comments[AIRY_HEADER_TEXT];
    text[0] = 0;
    if (airy_header_comments(comments, meta))
        snprintf(text, AIRY_HEADER_TEXT + 256,
                 "_array_data.header_convention \"PILATUS_1.2\"\r\n"
                 "_array_data.header_contents\r\n;\r\n%s;\r\n\r\n",
                 comments);
}

airy_status airy_image_write_cbf(const airy_image *image, const char *path, bool force,
                                 const struct airy_image_about *about)
{
    static const char tail[] = "\r\n--CIF-BINARY-FORMAT-SECTION----\r\n;\r\n";
    const char *type = types[find_type(image->dtype)].name;
    size_t bytes, room, count;
    AIRY_TRY(airy_image_bytes(&bytes, image));
    count = bytes / airy_dtype_size(image->dtype);
    AIRY_FAIL_ON_IF(airy_mul_size(&room, count, BYTE_OFFSET_WORST), AIRY_ERR_SHAPE,
                    AIRY_SUBJECT_FILE, "'%s': %zu pixels are too many", path, count);
    uint8_t *packed = NULL;
    AIRY_TRY(airy_image_alloc((void **)&packed, room));
    const size_t size = airy_byte_offset_encode(packed, image->data, image->dtype, count);
    struct airy_md5 md5;
    uint8_t digest[AIRY_MD5_BYTES];
    char sum[MD5_LETTERS + 1], contents[AIRY_HEADER_TEXT + 256], header[2048];
    airy_md5_begin(&md5);
    airy_md5_add(&md5, packed, size);
    airy_md5_end(digest, &md5);
    put_base64(sum, digest);
    make_contents(contents, about->meta);
    const int used = snprintf(
        header, sizeof(header),
        "###CBF: VERSION 1.5\r\n\r\ndata_image\r\n\r\n%s_array_data.data\r\n;\r\n"
        "--CIF-BINARY-FORMAT-SECTION--\r\nContent-Type: application/octet-stream;\r\n"
        "     conversions=\"x-CBF_BYTE_OFFSET\"\r\nContent-Transfer-Encoding: BINARY\r\n"
        "X-Binary-Size: %zu\r\nX-Binary-ID: 1\r\nX-Binary-Element-Type: \"%s\"\r\n"
        "X-Binary-Element-Byte-Order: LITTLE_ENDIAN\r\nContent-MD5: %s\r\n"
        "X-Binary-Number-of-Elements: %zu\r\n"
        "X-Binary-Size-Fastest-Dimension: %zu\r\nX-Binary-Size-Second-Dimension: %zu\r\n\r\n",
        contents, size, type, sum, count, image->shape[1], image->shape[0]);
    const void *const parts[] = {header, magic, packed, tail};
    const size_t sizes[] = {(size_t)used, sizeof(magic), size, sizeof(tail) - 1};
    const airy_status status = airy_file_put(path, parts, sizes, 4, force);
    free(packed);
    return status;
}
