#include "io/oct/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/number.h"
#include "base/size.h"
#include "io/image/formats.h"
#include "io/file/plain_file.h"

enum {
    MAX_TEXT = 4 << 20, /* bytes; the longest table has 8192 lines */
    MAX_LINE = 1024
};

static airy_status take_value(double *values, size_t *count, size_t most, double value)
{
    AIRY_FAIL_IF(*count == most, AIRY_ERR_SHAPE, "more than %zu numbers", most);
    AIRY_FAIL_IF(!isfinite(value), AIRY_ERR_PARAM, "number %zu is %g, expected a finite one",
                 *count, value);
    values[(*count)++] = value;
    return AIRY_OK;
}

static airy_status read_npy(double *values, size_t *count, size_t most, const char *path)
{
    airy_image image;
    AIRY_TRY(airy_image_read_npy(&image, path));
    const bool is_complex = image.is_complex;
    if (is_complex)
        airy_image_free(&image);
    AIRY_FAIL_HINT_IF(is_complex, AIRY_ERR_UNSUPPORTED, AIRY_HINT_COMPLEX, AIRY_SUBJECT_FILE,
                      "'%s': " AIRY_COMPLEX_REFUSED, path);
    size_t n = 1;
    for (int axis = 0; axis < image.ndim; axis++)
        n *= image.shape[axis]; /* bounded: the reader has allocated them */
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < n && status == AIRY_OK; i++)
        status = take_value(values, count, most, airy_image_value(&image, i));
    airy_image_free(&image);
    return status == AIRY_OK ? AIRY_OK : airy_fail_context(status, "'%s'", path);
}

/* The last number of a line; *any: there is one. The line ends with a zero. */
static airy_status last_number(double *value, bool *any, char *line)
{
    static const char between[] = " \t\r,;\v\f";
    line[strcspn(line, "#")] = 0;
    *any = false;
    for (char *at = line + strspn(line, between); *at; at += strspn(at, between)) {
        char *end;
        const size_t length = strcspn(at, between);
        *value = strtod(at, &end);
        AIRY_FAIL_IF(end != at + length, AIRY_ERR_FORMAT, "'%.*s' is no number",
                     (int)airy_min_size(length, 40), at);
        *any = true;
        at = end;
    }
    return AIRY_OK;
}

static airy_status parse_text(double *values, size_t *count, size_t most, const char *text,
                              size_t size)
{
    AIRY_FAIL_IF(memchr(text, 0, size), AIRY_ERR_FORMAT, "neither NPY nor text");
    size_t number = 1;
    for (size_t at = airy_file_text_mark(text, size); at < size; number++) {
        const char *feed = memchr(text + at, '\n', size - at);
        const size_t length = feed ? (size_t)(feed - text) - at : size - at;
        char line[MAX_LINE];
        bool any = false;
        double value = 0;
        AIRY_FAIL_IF(length >= sizeof(line), AIRY_ERR_FORMAT,
                     "line %zu has %zu bytes, expected less than %d", number, length, MAX_LINE);
        memcpy(line, text + at, length);
        line[length] = 0;
        airy_status status = last_number(&value, &any, line);
        if (status == AIRY_OK && any)
            status = take_value(values, count, most, value);
        if (status != AIRY_OK)
            return airy_fail_context(status, "line %zu", number);
        at += length + 1;
    }
    return AIRY_OK;
}

static airy_status read_text(double *values, size_t *count, size_t most, int fd, size_t size)
{
    char *text = malloc(size + 1);
    AIRY_FAIL_IF(!text, AIRY_ERR_MEMORY, "out of memory for %zu bytes", size);
    struct airy_c_locale locale;
    airy_status status = airy_file_pread(fd, text, size, 0);
    if (status == AIRY_OK && (status = airy_c_locale_enter(&locale)) == AIRY_OK) {
        status = parse_text(values, count, most, text, size);
        airy_c_locale_leave(&locale);
    }
    free(text);
    return status;
}

airy_status airy_oct_table_read(double *values, size_t *count, size_t most, const char *path)
{
    int fd;
    uint64_t size;
    char start[6] = "";
    *count = 0;
    AIRY_TRY(airy_file_open(&fd, &size, path));
    airy_status status = airy_file_pread(fd, start, airy_min_size(sizeof(start), (size_t)size), 0);
    const bool npy = status == AIRY_OK && memcmp(start, "\x93NUMPY", sizeof(start)) == 0;
    if (status == AIRY_OK && size > MAX_TEXT)
        status = airy_fail(AIRY_ERR_FORMAT, "%llu bytes, expected at most %d",
                           (unsigned long long)size, MAX_TEXT);
    else if (status == AIRY_OK && !npy)
        status = read_text(values, count, most, fd, (size_t)size);
    close(fd);
    if (status != AIRY_OK)
        return airy_fail_context(status, "'%s'", path);
    return npy ? read_npy(values, count, most, path) : AIRY_OK;
}
