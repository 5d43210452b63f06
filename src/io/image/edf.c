/*
 * ESRF data format: text headers "{ key = value ; ... }" padded to 512 bytes, each followed by
 * binary pixels. Several images of one kind become planes.
 * Source: P. Boesecke, J. Appl. Cryst. 40 (2007) s423 (doi:10.1107/S0021889807001100), and the
 *         files that detectors of the ESRF write.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/image_memory.h"
#include "base/size.h"
#include "io/image/header_write.h"
#include "io/image/formats.h"
#include "io/image/pixels.h"
#include "io/file/plain_file.h"

enum { USUAL_HEADER = 1 << 13, MAX_HEADER = 1 << 20, BLOCK = 512, MAX_PLANES = 1 << 24 };
enum { WRITTEN = 2 * BLOCK }; /* bytes of a header that is written */

static const struct {
    const char *name;
    airy_dtype dtype;
} types[] = {
    /* the first of a dtype is the one that is written */
    {"UnsignedByte", AIRY_DTYPE_U8},
    {"SignedByte", AIRY_DTYPE_I8},
    {"UnsignedShort", AIRY_DTYPE_U16},
    {"SignedShort", AIRY_DTYPE_I16},
    {"UnsignedInteger", AIRY_DTYPE_U32},
    {"SignedInteger", AIRY_DTYPE_I32},
    {"Unsigned64", AIRY_DTYPE_U64},
    {"Signed64", AIRY_DTYPE_I64},
    {"FloatValue", AIRY_DTYPE_F32},
    {"DoubleValue", AIRY_DTYPE_F64},
    {"UnsignedChar", AIRY_DTYPE_U8},
    {"SignedChar", AIRY_DTYPE_I8},
    {"Unsigned8", AIRY_DTYPE_U8},
    {"Signed8", AIRY_DTYPE_I8},
    {"Unsigned16", AIRY_DTYPE_U16},
    {"Signed16", AIRY_DTYPE_I16},
    {"UnsignedShortInteger", AIRY_DTYPE_U16},
    {"UnsignedLong", AIRY_DTYPE_U32},
    {"SignedLong", AIRY_DTYPE_I32},
    {"Unsigned32", AIRY_DTYPE_U32},
    {"Signed32", AIRY_DTYPE_I32},
    {"Float", AIRY_DTYPE_F32},
    {"FloatIEEE32", AIRY_DTYPE_F32},
    {"Double", AIRY_DTYPE_F64},
    {"DoubleIEEE64", AIRY_DTYPE_F64},
};

/* The first value of a key in [*next, end), and *next behind it; false: there is none. */
static bool next_value(char value[AIRY_EDF_VALUE], const char **next, const char *end,
                       const char *key)
{
    const char *at = *next;
    while (at < end) {
        const char *stop = memchr(at, ';', (size_t)(end - at));
        if (!stop)
            return false;
        const char *equals = memchr(at, '=', (size_t)(stop - at));
        while (at < stop && isspace((unsigned char)*at))
            at++;
        /* A ';' inside of a value is no end of it: what is left of its line is no key. */
        for (const char *line; equals && (line = memchr(at, '\n', (size_t)(equals - at))) != NULL;)
            at = line + 1;
        while (at < stop && isspace((unsigned char)*at))
            at++;
        const char *key_end = equals ? equals : at;
        while (key_end > at && isspace((unsigned char)key_end[-1]))
            key_end--;
        if (equals && (size_t)(key_end - at) == strlen(key) &&
            strncasecmp(at, key, strlen(key)) == 0) {
            const char *from = equals + 1, *to = stop;
            while (from < to && isspace((unsigned char)*from))
                from++;
            while (to > from && isspace((unsigned char)to[-1]))
                to--;
            snprintf(value, AIRY_EDF_VALUE, "%.*s",
                     (int)airy_min_size((size_t)(to - from), AIRY_EDF_VALUE - 1), from);
            *next = stop + 1;
            return true;
        }
        at = stop + 1;
    }
    return false;
}

bool airy_edf_value(char value[AIRY_EDF_VALUE], const char *text, size_t size, const char *key)
{
    return next_value(value, &text, text + size, key);
}

bool airy_edf_differs(char other[AIRY_EDF_VALUE], const char *text, size_t size, const char *key)
{
    char first[AIRY_EDF_VALUE];
    const char *end = text + size;
    if (!next_value(first, &text, end, key))
        return false;
    while (next_value(other, &text, end, key))
        if (strcasecmp(first, other) != 0)
            return true;
    return false;
}

/* What pixels are read by: a key that is there twice with two values is refused. */
static airy_status get_value(char value[AIRY_EDF_VALUE], bool *found, const char *text, size_t size,
                             const char *key)
{
    char other[AIRY_EDF_VALUE];
    *found = airy_edf_value(value, text, size, key);
    AIRY_FAIL_HINT_IF(airy_edf_differs(other, text, size, key), AIRY_ERR_FORMAT, AIRY_HINT_STATED,
                      AIRY_SUBJECT_NONE,
                      "EDF header: %s is '%s' and again '%s'; remove the wrong one", key, value,
                      other);
    return AIRY_OK;
}

static airy_status get_size(size_t *out, const char *text, size_t size, const char *key,
                            bool needed)
{
    char value[AIRY_EDF_VALUE];
    bool found;
    AIRY_TRY(get_value(value, &found, text, size, key));
    if (!found) {
        AIRY_FAIL_IF(needed, AIRY_ERR_FORMAT, "EDF header: key '%s' is missing", key);
        return AIRY_OK;
    }
    size_t v;
    const bool good = airy_image_parse_size(&v, value);
    AIRY_FAIL_IF(!good, AIRY_ERR_FORMAT, "EDF header: %s = '%s', expected a size", key, value);
    *out = v;
    return AIRY_OK;
}

static airy_status parse_type(struct airy_image_header *header, const char *text, size_t size)
{
    char value[AIRY_EDF_VALUE] = "";
    bool found;
    AIRY_TRY(get_value(value, &found, text, size, "DataType"));
    AIRY_FAIL_IF(!found, AIRY_ERR_FORMAT, "EDF header: key 'DataType' is missing");
    size_t i = 0;
    while (i < sizeof(types) / sizeof(types[0]) && strcasecmp(value, types[i].name) != 0)
        i++;
    AIRY_FAIL_IF(i == sizeof(types) / sizeof(types[0]), AIRY_ERR_UNSUPPORTED,
                 "EDF header: DataType = '%s' is not known", value);
    header->image.dtype = types[i].dtype;
    const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    header->swapped = false;
    if (airy_dtype_size(header->image.dtype) > 1) {
        AIRY_TRY(get_value(value, &found, text, size, "ByteOrder"));
        AIRY_FAIL_IF(!found, AIRY_ERR_FORMAT, "EDF header: key 'ByteOrder' is missing");
        const bool low = strcasecmp(value, "LowByteFirst") == 0,
                   high = strcasecmp(value, "HighByteFirst") == 0;
        AIRY_FAIL_IF(!low && !high, AIRY_ERR_FORMAT,
                     "EDF header: ByteOrder = '%s', expected LowByteFirst or HighByteFirst", value);
        header->swapped = low != little;
    }
    AIRY_TRY(get_value(value, &found, text, size, "Compression"));
    AIRY_FAIL_IF(found && strcasecmp(value, "None") != 0 && strcasecmp(value, "NoCompression") != 0,
                 AIRY_ERR_UNSUPPORTED, "EDF header: Compression = '%s' is not supported", value);
    return AIRY_OK;
}

/* The '}' with a line feed behind it that ends a header, others are text; NULL: it is not there. */
static const char *find_close(const char *text, size_t size)
{
    const char *end = text + size, *at = text;
    while (at < end && (at = memchr(at, '}', (size_t)(end - at))) != NULL) {
        const char *next = at + 1;
        next += next < end && *next == '\r';
        if (next < end && *next == '\n')
            return at;
        at++;
    }
    return NULL;
}

/* From '{' to the line feed behind '}'. */
static airy_status find_end(size_t *bytes, const char *text, size_t size)
{
    AIRY_FAIL_IF(size == 0 || text[0] != '{', AIRY_ERR_FORMAT,
                 "no EDF file: it does not start with '{'");
    const size_t head = airy_min_size(size, MAX_HEADER);
    const char *close = find_close(text, head);
    AIRY_FAIL_IF(!close && !memchr(text, '}', head), AIRY_ERR_FORMAT,
                 "EDF header: no '}' in its first %d bytes", MAX_HEADER);
    AIRY_FAIL_IF(!close, AIRY_ERR_FORMAT, "EDF header: no line feed behind '}'");
    *bytes = (size_t)(close - text) + (close[1] == '\r' ? 3 : 2);
    return AIRY_OK;
}

/* Behind its pixels an image has less than a block of other bytes. */
static airy_status check_padding(const struct airy_image_header *header, const char *text,
                                 size_t size)
{
    size_t block = BLOCK;
    AIRY_TRY(get_size(&block, text, size, "EDF_BlockBoundary", false));
    AIRY_FAIL_HINT_IF(header->stored - header->data >= airy_max_size(block, BLOCK), AIRY_ERR_FORMAT,
                      AIRY_HINT_STATED, AIRY_SUBJECT_NONE,
                      "EDF header: %zu bytes of data, but its dimensions need only %zu; Size or a "
                      "dimension is wrong",
                      header->stored, header->data);
    return AIRY_OK;
}

airy_status airy_edf_parse(struct airy_image_header *header, const void *text, size_t size)
{
    memset(header, 0, sizeof(*header));
    AIRY_TRY(find_end(&header->bytes, text, size));
    const char *body = (const char *)text + 1;
    const size_t length = header->bytes - 1;
    airy_image *image = &header->image;
    AIRY_TRY(parse_type(header, body, length));
    size_t width = 0, height = 1, depth = 1;
    AIRY_TRY(get_size(&width, body, length, "Dim_1", true));
    AIRY_TRY(get_size(&height, body, length, "Dim_2", false));
    AIRY_TRY(get_size(&depth, body, length, "Dim_3", false));
    image->ndim = depth > 1 ? 3 : 2;
    image->shape[0] = depth;
    image->shape[image->ndim - 2] = height;
    image->shape[image->ndim - 1] = width;
    AIRY_TRY(airy_image_bytes(&header->data, image));
    header->stored = header->data;
    AIRY_TRY(get_size(&header->stored, body, length, "Size", false));
    AIRY_TRY(get_size(&header->stored, body, length, "EDF_BinarySize", false));
    AIRY_FAIL_IF(header->stored < header->data, AIRY_ERR_FORMAT,
                 "EDF header: %zu bytes of data, its dimensions need %zu", header->stored,
                 header->data);
    return check_padding(header, body, length);
}

airy_status airy_edf_check_size(const struct airy_image_header *header, uint64_t there)
{
    AIRY_FAIL_HINT_IF(
        header->data <= there && header->stored > there, AIRY_ERR_FORMAT, AIRY_HINT_STATED,
        AIRY_SUBJECT_NONE,
        "EDF header: %zu bytes of data, but %llu are there and its dimensions need %zu; "
        "the file is cut off, or Size is wrong",
        header->stored, (unsigned long long)there, header->data);
    return AIRY_OK;
}

static bool same_kind(const struct airy_image_header *a, const struct airy_image_header *b)
{
    return a->image.dtype == b->image.dtype && a->image.ndim == b->image.ndim &&
           a->swapped == b->swapped &&
           memcmp(a->image.shape, b->image.shape, sizeof(a->image.shape)) == 0;
}

/* The header at `offset`; window is MAX_HEADER bytes of scratch. */
static airy_status read_header(struct airy_image_header *header, int fd, uint64_t size,
                               uint64_t offset, char *window)
{
    size_t head = airy_min_size((size_t)(size - offset), USUAL_HEADER);
    AIRY_TRY(airy_file_pread(fd, window, head, offset));
    if (!find_close(window, head)) {
        head = airy_min_size((size_t)(size - offset), MAX_HEADER);
        AIRY_TRY(airy_file_pread(fd, window, head, offset));
    }
    AIRY_TRY(airy_edf_parse(header, window, head));
    AIRY_FAIL_IF(header->data > size - offset - header->bytes, AIRY_ERR_FORMAT,
                 "%llu bytes behind the header, its dimensions need %zu",
                 (unsigned long long)(size - offset - header->bytes), header->data);
    return airy_edf_check_size(header, size - offset - header->bytes);
}

static airy_status add_plane(airy_image *image, size_t planes,
                             const struct airy_image_header *header, int fd, uint64_t offset)
{
    size_t bytes;
    AIRY_FAIL_IF(airy_mul_size(&bytes, planes + 1, header->data), AIRY_ERR_MEMORY,
                 "EDF: %zu images", planes + 1);
    void *larger = realloc(image->data, bytes);
    AIRY_FAIL_IF(!larger, AIRY_ERR_MEMORY, "cannot allocate %zu bytes for an image", bytes);
    image->data = larger;
    uint8_t *plane = (uint8_t *)larger + planes * header->data;
    AIRY_TRY(airy_file_pread(fd, plane, header->data, offset));
    const size_t size = airy_dtype_size(header->image.dtype);
    if (header->swapped)
        airy_image_swap(plane, header->data / size, size);
    return AIRY_OK;
}

static airy_status read_planes(airy_image *image, int fd, uint64_t size, char *window)
{
    struct airy_image_header first, header;
    uint64_t offset = 0;
    size_t planes = 0;
    memset(&first, 0, sizeof(first));
    do {
        AIRY_TRY(read_header(&header, fd, size, offset, window));
        if (planes == 0)
            first = header;
        AIRY_FAIL_IF(!same_kind(&first, &header), AIRY_ERR_FORMAT,
                     "image %zu has another shape or type than the first", planes);
        AIRY_FAIL_IF(planes > 0 && header.image.ndim == 3, AIRY_ERR_UNSUPPORTED,
                     "several volumes in one EDF file");
        AIRY_TRY(add_plane(image, planes, &header, fd, offset + header.bytes));
        planes++;
        offset += header.bytes;
        offset += header.stored;
    } while (offset < size && planes < MAX_PLANES);
    image->dtype = first.image.dtype;
    image->ndim = planes > 1 ? 3 : first.image.ndim;
    memcpy(image->shape, first.image.shape, sizeof(image->shape));
    if (planes > 1) {
        image->shape[2] = first.image.shape[1];
        image->shape[1] = first.image.shape[0];
        image->shape[0] = planes;
    }
    return AIRY_OK;
}

static airy_status read_open(airy_image *image, int fd, uint64_t size)
{
    airy_image made = {.data = NULL};
    char *window = malloc(MAX_HEADER);
    const airy_status status = window
                                   ? read_planes(&made, fd, size, window)
                                   : airy_fail(AIRY_ERR_MEMORY, "out of memory for an EDF header");
    free(window);
    if (status == AIRY_OK)
        *image = made;
    else
        free(made.data);
    return status;
}

airy_status airy_image_read_edf(airy_image *image, const char *path)
{
    return airy_image_read_with(image, path, read_open);
}

static const char *type_name(airy_dtype dtype)
{
    size_t i = 0;
    while (types[i].dtype != dtype)
        i++;
    return types[i].name;
}

static void make_header(char header[WRITTEN], const airy_image *image, size_t plane, size_t bytes,
                        size_t height, size_t width, const char *keys)
{
    const int used = snprintf(
        header, WRITTEN,
        "{\nEDF_DataBlockID = %zu.Image.Psd ;\nEDF_BinarySize = %zu ;\nEDF_HeaderSize = %d ;\n"
        "HeaderID = EH:%06zu:000000:000000 ;\nImage = %zu ;\nByteOrder = %s ;\nDataType = %s ;\n"
        "Dim_1 = %zu ;\nDim_2 = %zu ;\nSize = %zu ;\n%s",
        plane, bytes, WRITTEN, plane + 1, plane + 1,
        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "LowByteFirst" : "HighByteFirst",
        type_name(image->dtype), width, height, bytes, keys);
    memset(header + used, ' ', (size_t)(WRITTEN - used));
    memcpy(header + WRITTEN - 2, "}\n", 2);
}

airy_status airy_image_write_edf(const airy_image *image, const char *path, bool force,
                                 const struct airy_image_about *about)
{
    char keys[AIRY_HEADER_TEXT];
    (void)airy_header_keys(keys, about->meta);
    const size_t planes = image->ndim == 3 ? image->shape[0] : 1;
    const size_t width = image->shape[image->ndim - 1],
                 height = image->ndim > 1 ? image->shape[image->ndim - 2] : 1;
    size_t all;
    AIRY_TRY(airy_image_bytes(&all, image));
    const size_t bytes = all / planes;
    AIRY_FAIL_ON_IF(planes > MAX_PLANES, AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_FILE,
                    "'%s': %zu planes, expected at most %d", path, planes, MAX_PLANES);
    char(*headers)[WRITTEN] = calloc(planes, sizeof(*headers));
    const void **parts = calloc(2 * planes, sizeof(*parts));
    size_t *sizes = calloc(2 * planes, sizeof(*sizes));
    airy_status status = AIRY_OK;
    if (!headers || !parts || !sizes)
        status = airy_fail(AIRY_ERR_MEMORY, "out of memory for %zu EDF headers", planes);
    for (size_t i = 0; i < planes && status == AIRY_OK; i++) {
        make_header(headers[i], image, i, bytes, height, width, keys);
        parts[2 * i] = headers[i];
        sizes[2 * i] = sizeof(headers[i]);
        parts[2 * i + 1] = (const uint8_t *)image->data + i * bytes;
        sizes[2 * i + 1] = bytes;
    }
    if (status == AIRY_OK)
        status = airy_file_put(path, parts, sizes, 2 * planes, force);
    free(sizes);
    free(parts);
    free(headers);
    return status;
}
