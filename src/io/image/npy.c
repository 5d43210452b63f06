/*
 * NumPy's array files, versions 1 to 3.
 * Source: NumPy Enhancement Proposal 1, "A simple file format for NumPy arrays", and
 *         numpy.lib.format's documentation.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/image_memory.h"
#include "base/size.h"
#include "io/image/formats.h"
#include "io/image/pixels.h"
#include "io/file/plain_file.h"

enum {
    MAX_HEADER = 1 << 16, /* bytes; a plain array's header has about 100 */
    ALIGNMENT = 64,       /* of the data in files written here */
};

/* The dictionary, character by character. */
struct scanner {
    const char *at, *end;
};

static void skip_blanks(struct scanner *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
}

static bool take(struct scanner *s, char c)
{
    skip_blanks(s);
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static bool take_word(struct scanner *s, const char *word)
{
    skip_blanks(s);
    const size_t n = strlen(word);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0)
        return false;
    s->at += n;
    return true;
}

/* A quoted string without escapes. */
static bool take_string(struct scanner *s, char *text, size_t size)
{
    skip_blanks(s);
    if (s->at == s->end || (*s->at != '\'' && *s->at != '"'))
        return false;
    const char quote = *s->at++;
    const char *close = memchr(s->at, quote, (size_t)(s->end - s->at));
    if (!close || (size_t)(close - s->at) >= size || memchr(s->at, '\\', (size_t)(close - s->at)))
        return false;
    memcpy(text, s->at, (size_t)(close - s->at));
    text[close - s->at] = 0;
    s->at = close + 1;
    return true;
}

static bool take_size(struct scanner *s, size_t *value)
{
    skip_blanks(s);
    size_t v = 0;
    const char *start = s->at;
    for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++)
        if (airy_mul_size(&v, v, 10) || airy_add_size(&v, v, (size_t)(*s->at - '0')))
            return false;
    if (s->at == start)
        return false;
    if (s->at < s->end && *s->at == 'L') /* a long of Python 2 */
        s->at++;
    *value = v;
    return true;
}

static airy_status take_shape(struct scanner *s, airy_image *image)
{
    AIRY_FAIL_IF(!take(s, '('), AIRY_ERR_FORMAT, "NPY header: shape is no tuple");
    image->ndim = 0;
    bool comma = true;
    while (!take(s, ')')) {
        size_t extent = 0;
        AIRY_FAIL_IF(!comma || !take_size(s, &extent), AIRY_ERR_FORMAT,
                     "NPY header: shape is no tuple of sizes");
        AIRY_FAIL_IF(image->ndim == AIRY_MAX_DIMS, AIRY_ERR_UNSUPPORTED,
                     "NPY header: more than %d dimensions", AIRY_MAX_DIMS);
        image->shape[image->ndim++] = extent;
        comma = take(s, ',');
    }
    if (image->ndim == 0)
        image->shape[image->ndim++] = 1; /* a scalar */
    return AIRY_OK;
}

static airy_status take_dtype(struct scanner *s, struct airy_image_header *header)
{
    char text[32];
    skip_blanks(s);
    AIRY_FAIL_IF(s->at < s->end && *s->at == '[', AIRY_ERR_UNSUPPORTED,
                 "NPY header: a structured dtype, expected numbers");
    AIRY_FAIL_IF(!take_string(s, text, sizeof(text)), AIRY_ERR_FORMAT,
                 "NPY header: descr is no string");
    const char order = text[0];
    AIRY_FAIL_IF(!order || !strchr("<>|=", order), AIRY_ERR_FORMAT,
                 "NPY header: descr '%s' has no byte order", text);
    text[0] = '<';
    header->half = strcmp(text + 1, "f2") == 0;
    header->image.is_complex = strcmp(text + 1, "c8") == 0 || strcmp(text + 1, "c16") == 0;
    if (header->image.is_complex)
        snprintf(text, sizeof(text), text[2] == '8' ? "<f4" : "<f8");
    const bool boolean = strcmp(text + 1, "b1") == 0;
    AIRY_FAIL_IF(
        airy_dtype_parse(&header->image.dtype, boolean        ? "<u1"
                                               : header->half ? "<f4"
                                                              : text) != AIRY_OK,
        AIRY_ERR_UNSUPPORTED,
        "NPY header: dtype '%c%s', expected integers of 1, 2, 4, 8, floats of 2, 4, 8 or complex "
        "numbers of 8, 16 bytes",
        order, text + 1);
    AIRY_FAIL_IF(order == '|' && airy_dtype_size(header->image.dtype) > 1, AIRY_ERR_FORMAT,
                 "NPY header: descr '|%s' has no byte order", text + 1);
    const char native = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
    header->swapped = airy_dtype_size(header->image.dtype) > 1 && order != '=' && order != native;
    return AIRY_OK;
}

static airy_status parse_dictionary(struct airy_image_header *header, struct scanner *s)
{
    static const char *const keys[3] = {"descr", "fortran_order", "shape"};
    bool seen[3] = {false, false, false};
    AIRY_FAIL_IF(!take(s, '{'), AIRY_ERR_FORMAT, "NPY header: no dictionary");
    bool comma = true;
    while (!take(s, '}')) {
        char key[32];
        AIRY_FAIL_IF(!comma || !take_string(s, key, sizeof(key)) || !take(s, ':'), AIRY_ERR_FORMAT,
                     "NPY header: the dictionary is malformed");
        int which = 0;
        while (which < 3 && strcmp(key, keys[which]) != 0)
            which++;
        AIRY_FAIL_IF(which == 3 || seen[which], AIRY_ERR_FORMAT,
                     "NPY header: key '%s' is unknown or there twice", key);
        seen[which] = true;
        if (which == 0) {
            AIRY_TRY(take_dtype(s, header));
        } else if (which == 1) {
            header->fortran = take_word(s, "True");
            AIRY_FAIL_IF(!header->fortran && !take_word(s, "False"), AIRY_ERR_FORMAT,
                         "NPY header: fortran_order is neither True nor False");
        } else {
            AIRY_TRY(take_shape(s, &header->image));
        }
        comma = take(s, ',');
    }
    for (int which = 0; which < 3; which++)
        AIRY_FAIL_IF(!seen[which], AIRY_ERR_FORMAT, "NPY header: key '%s' is missing", keys[which]);
    skip_blanks(s);
    AIRY_FAIL_IF(s->at != s->end, AIRY_ERR_FORMAT, "NPY header: %zu bytes behind the dictionary",
                 (size_t)(s->end - s->at));
    return AIRY_OK;
}

/* The axis of the two parts of complex numbers. */
static airy_status add_parts(airy_image *image)
{
    if (!image->is_complex)
        return AIRY_OK;
    AIRY_FAIL_IF(image->ndim == AIRY_MAX_DIMS, AIRY_ERR_UNSUPPORTED,
                 "NPY header: complex numbers of %d dimensions, expected at most %d", image->ndim,
                 AIRY_MAX_DIMS - 1);
    image->shape[image->ndim++] = 2;
    return AIRY_OK;
}

airy_status airy_npy_parse(struct airy_image_header *header, const void *text, size_t size)
{
    const uint8_t *bytes = text;
    memset(header, 0, sizeof(*header));
    AIRY_FAIL_IF(size < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0, AIRY_ERR_FORMAT,
                 "no NPY file: its first bytes are others");
    AIRY_FAIL_IF(bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0, AIRY_ERR_UNSUPPORTED,
                 "NPY version %d.%d, expected 1.0, 2.0 or 3.0", bytes[6], bytes[7]);
    const size_t fixed = bytes[6] == 1 ? 10 : 12;
    AIRY_FAIL_IF(size < fixed, AIRY_ERR_FORMAT, "NPY header: the file ends inside it");
    size_t length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (fixed == 12)
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    AIRY_FAIL_IF(length > MAX_HEADER, AIRY_ERR_FORMAT,
                 "NPY header of %zu bytes, expected at most %d", length, MAX_HEADER);
    AIRY_FAIL_IF(length > size - fixed, AIRY_ERR_FORMAT, "NPY header: the file ends inside it");
    struct scanner s = {(const char *)bytes + fixed, (const char *)bytes + fixed + length};
    AIRY_TRY(parse_dictionary(header, &s));
    AIRY_TRY(add_parts(&header->image));
    AIRY_TRY(airy_image_bytes(&header->data, &header->image));
    header->data /= header->half ? 2 : 1;
    header->bytes = fixed + length;
    return AIRY_OK;
}

/* Fortran order to C order: element (i0, i1, ...) lies at i0 + n0 (i1 + n1 (...)). */
static void to_c_order(uint8_t *out, const uint8_t *in, const airy_image *image)
{
    const size_t size = airy_dtype_size(image->dtype) << image->is_complex;
    const int ndim = image->ndim - image->is_complex;
    size_t step[AIRY_MAX_DIMS], index[AIRY_MAX_DIMS] = {0}, count = 1, from = 0;
    for (int axis = 0; axis < ndim; axis++) {
        step[axis] = count;
        count *= image->shape[axis];
    }
    for (size_t i = 0; i < count; i++) {
        memcpy(out + i * size, in + from * size, size);
        for (int axis = ndim - 1; axis >= 0; axis--) {
            from += step[axis];
            if (++index[axis] < image->shape[axis])
                break;
            from -= step[axis] * image->shape[axis];
            index[axis] = 0;
        }
    }
}

static airy_status finish_pixels(struct airy_image_header *header, size_t bytes)
{
    airy_image *image = &header->image;
    const size_t size = airy_dtype_size(image->dtype);
    if (header->half)
        airy_image_widen(image->data, bytes / size, header->swapped);
    else if (header->swapped)
        airy_image_swap(image->data, bytes / size, size);
    if (!header->fortran || image->ndim == 1)
        return AIRY_OK;
    void *ordered;
    AIRY_TRY(airy_image_alloc(&ordered, bytes));
    to_c_order(ordered, image->data, image);
    free(image->data);
    image->data = ordered;
    return AIRY_OK;
}

static airy_status read_open(airy_image *image, int fd, uint64_t size)
{
    struct airy_image_header header;
    char *start;
    const size_t head = airy_min_size((size_t)size, MAX_HEADER + 12);
    AIRY_TRY(airy_image_alloc((void **)&start, head));
    airy_status status = airy_file_pread(fd, start, head, 0);
    if (status == AIRY_OK)
        status = airy_npy_parse(&header, start, head);
    free(start);
    AIRY_TRY(status);
    AIRY_FAIL_IF(header.data != size - header.bytes, AIRY_ERR_FORMAT,
                 "%llu bytes behind the header, its shape needs %zu",
                 (unsigned long long)(size - header.bytes), header.data);
    const size_t bytes = header.half ? 2 * header.data : header.data;
    AIRY_TRY(airy_image_alloc(&header.image.data, bytes));
    status = airy_file_pread(fd, (char *)header.image.data + (bytes - header.data), header.data,
                             header.bytes);
    if (status == AIRY_OK)
        status = finish_pixels(&header, bytes);
    if (status == AIRY_OK)
        *image = header.image;
    else
        free(header.image.data);
    return status;
}

airy_status airy_image_read_npy(airy_image *image, const char *path)
{
    return airy_image_read_with(image, path, read_open);
}

/* NumPy's letter for a dtype, with the machine's byte order. */
static void describe_dtype(char text[8], airy_dtype dtype, bool is_complex)
{
    const size_t size = airy_dtype_size(dtype) << is_complex;
    const char order = size == 1 ? '|' : __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
    const char kind = is_complex                    ? 'c'
                      : airy_dtype_is_float(dtype)  ? 'f'
                      : airy_dtype_is_signed(dtype) ? 'i'
                                                    : 'u';
    snprintf(text, 8, "%c%c%zu", order, kind, size);
}

size_t airy_npy_header(char header[AIRY_NPY_HEADER], const airy_image *image, size_t at_least)
{
    char dtype[8], shape[128];
    int used = 0;
    const int ndim = image->ndim - image->is_complex;
    for (int axis = 0; axis < ndim; axis++)
        used += snprintf(shape + used, sizeof(shape) - (size_t)used, "%s%zu", axis ? ", " : "",
                         image->shape[axis]);
    describe_dtype(dtype, image->dtype, image->is_complex);
    memcpy(header, "\x93NUMPY\1\0", 8);
    const int text = snprintf(header + 10, AIRY_NPY_HEADER - 10,
                              "{'descr': '%s', 'fortran_order': False, 'shape': (%s%s), }", dtype,
                              shape, ndim == 1 ? "," : "");
    const size_t total = airy_max_size(airy_align_up(10 + (size_t)text + 1, ALIGNMENT), at_least);
    memset(header + 10 + text, ' ', total - 10 - (size_t)text - 1);
    header[total - 1] = '\n';
    header[8] = (char)((total - 10) & 0xff);
    header[9] = (char)((total - 10) >> 8);
    return total;
}

airy_status airy_image_write_npy(const airy_image *image, const char *path, bool force,
                                 const struct airy_image_about *about)
{
    (void)about;
    char header[AIRY_NPY_HEADER];
    const void *const parts[2] = {header, image->data};
    size_t sizes[2] = {airy_npy_header(header, image, 0), 0};
    AIRY_TRY(airy_image_bytes(&sizes[1], image));
    return airy_file_put(path, parts, sizes, 2, force);
}
