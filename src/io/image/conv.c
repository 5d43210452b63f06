/*
 * Kernels of SExtractor: a line CONV NORM or CONV NONORM, then rows of numbers between blanks;
 * comments begin with '#'. Without either word a kernel is normalised.
 * Source: SExtractor 2.25, getASCIIconv in src/filter.c, and the .conv files of its config folder.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/image_memory.h"
#include "base/number.h"
#include "base/size.h"
#include "io/image/formats.h"
#include "io/image/pixels.h"
#include "io/file/plain_file.h"

enum { MAX_SIDE = 1025, MAX_BYTES = 1 << 25 }; /* of kernels that airy_convolve takes */

/* A line of the text, which ends in a 0. */
struct line {
    char *at, *next;
    size_t number; /* from 1 */
};

/* The line at `next` without its end and comment; false: there is none. */
static bool take_line(struct line *line, const char *end)
{
    if (line->next >= end)
        return false;
    line->at = line->next;
    char *stop = memchr(line->at, '\n', (size_t)(end - line->at));
    line->next = stop ? stop + 1 : (char *)end;
    if (stop)
        *stop = 0;
    char *comment = strchr(line->at, '#');
    if (comment)
        *comment = 0;
    line->number++;
    return true;
}

/* The next word, which is cut off; NULL: none is left. */
static char *take_word(char **at)
{
    static const char blanks[] = " \t\r\f\v";
    char *word = *at + strspn(*at, blanks);
    char *stop = word + strcspn(word, blanks);
    *at = *stop ? stop + 1 : stop;
    *stop = 0;
    return *word ? word : NULL;
}

/* What may be printed of a word of the file. */
static const char *shown(char text[24], const char *word)
{
    size_t n = 0;
    for (; n < 20 && word[n]; n++)
        text[n] = isprint((unsigned char)word[n]) ? word[n] : '?';
    memcpy(text + n, word[n] ? "..." : "", word[n] ? 4 : 1);
    return text;
}

static airy_status take_head(struct line *line, const char *end, bool *normalised)
{
    char text[24];
    const bool there = take_line(line, end);
    char *at = line->at, *word = there ? take_word(&at) : NULL;
    AIRY_FAIL_IF(!word || strcmp(word, "CONV") != 0, AIRY_ERR_FORMAT,
                 "line 1: expected CONV NORM or CONV NONORM");
    word = take_word(&at);
    *normalised = !word || strcmp(word, "NORM") == 0;
    AIRY_FAIL_IF(!*normalised && strcmp(word, "NONORM") != 0, AIRY_ERR_FORMAT,
                 "line 1: '%s', expected CONV NORM or CONV NONORM", shown(text, word));
    return AIRY_OK;
}

/* The numbers of a line, into a row; *count 0: there are none. */
static airy_status take_row(double *row, size_t *count, const struct line *line)
{
    char text[24], *at = line->at, *end;
    *count = 0;
    for (const char *word; (word = take_word(&at));) {
        AIRY_FAIL_IF(*count == MAX_SIDE, AIRY_ERR_FORMAT, "line %zu: more than %d numbers in a row",
                     line->number, MAX_SIDE);
        const double v = strtod(word, &end);
        AIRY_FAIL_IF(*end || !isfinite(v) || strpbrk(word, "xX"), AIRY_ERR_FORMAT,
                     "line %zu: '%s', expected a decimal number", line->number, shown(text, word));
        row[(*count)++] = v;
    }
    return AIRY_OK;
}

/* Room for a row behind `rows` of them, which doubles. */
static airy_status grow(airy_image *image, size_t rows, size_t width)
{
    if (rows & (rows - 1))
        return AIRY_OK;
    double *larger = realloc(image->data, (rows ? 2 * rows : 1) * width * sizeof(*larger));
    AIRY_FAIL_IF(!larger, AIRY_ERR_MEMORY, "out of memory for %zu rows", rows);
    image->data = larger;
    return AIRY_OK;
}

static airy_status take_rows(airy_image *image, struct line *line, const char *end)
{
    double row[MAX_SIDE];
    size_t rows = 0, width = 0, count;
    while (take_line(line, end)) {
        AIRY_TRY(take_row(row, &count, line));
        if (count == 0)
            continue;
        width = rows ? width : count;
        AIRY_FAIL_IF(count != width, AIRY_ERR_FORMAT,
                     "line %zu: a row of %zu numbers, the first one has %zu", line->number, count,
                     width);
        AIRY_FAIL_IF(rows == MAX_SIDE, AIRY_ERR_FORMAT, "line %zu: more than %d rows", line->number,
                     MAX_SIDE);
        AIRY_TRY(grow(image, rows, width));
        memcpy((double *)image->data + rows++ * width, row, width * sizeof(*row));
    }
    AIRY_FAIL_IF(rows == 0, AIRY_ERR_FORMAT, "line %zu: the file ends before a row of numbers",
                 line->number);
    image->shape[0] = rows;
    image->shape[1] = width;
    return AIRY_OK;
}

static airy_status normalise(airy_image *image)
{
    double *k = image->data, sum = 0;
    const size_t count = image->shape[0] * image->shape[1];
    for (size_t i = 0; i < count; i++)
        sum += fabs(k[i]);
    AIRY_FAIL_IF(!(sum > 0) || !isfinite(sum), AIRY_ERR_FORMAT,
                 "NORM: the sum of absolute values is %g, expected a number above 0", sum);
    for (size_t i = 0; i < count; i++)
        k[i] /= sum;
    return AIRY_OK;
}

airy_status airy_conv_parse(airy_image *image, char *text, size_t size)
{
    airy_image made = {.dtype = AIRY_DTYPE_F64, .ndim = 2};
    struct line line = {.at = text, .next = text + airy_file_text_mark(text, size)};
    struct airy_c_locale locale;
    bool normalised;
    const char *zero = memchr(text, 0, size);
    AIRY_FAIL_IF(zero, AIRY_ERR_FORMAT, "byte %zu is 0, expected text", (size_t)(zero - text));
    AIRY_TRY(airy_c_locale_enter(&locale));
    airy_status status = take_head(&line, text + size, &normalised);
    if (status == AIRY_OK)
        status = take_rows(&made, &line, text + size);
    airy_c_locale_leave(&locale);
    if (status == AIRY_OK && normalised)
        status = normalise(&made);
    if (status == AIRY_OK)
        *image = made;
    else
        free(made.data);
    return status;
}

static airy_status read_open(airy_image *image, int fd, uint64_t size)
{
    char *text;
    AIRY_FAIL_IF(size > MAX_BYTES, AIRY_ERR_FORMAT, "%llu bytes, expected a kernel of at most %d",
                 (unsigned long long)size, MAX_BYTES);
    AIRY_TRY(airy_image_alloc((void **)&text, (size_t)size + 1));
    text[size] = 0;
    airy_status status = airy_file_pread(fd, text, (size_t)size, 0);
    if (status == AIRY_OK)
        status = airy_conv_parse(image, text, (size_t)size);
    free(text);
    return status;
}

airy_status airy_image_read_conv(airy_image *image, const char *path)
{
    return airy_image_read_with(image, path, read_open);
}
