#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/print_text.h"
#include "core/backend.h"

enum { EDGE = 3, SHORTEN_ABOVE = 1000, DIGITS = 8, TEXT_SIZE = 40 };

/* The elements that are shown, gathered on the host. */
struct shown {
    airy_dtype dtype;
    int ndim;
    size_t shape[AIRY_MAX_DIMS]; /* of what is shown: at most 2 EDGE where an axis is cut */
    bool cut[AIRY_MAX_DIMS];     /* this axis is shortened: "..." after the first EDGE */
    size_t count;
    unsigned char *data;
};

/*
 * Pull one box of the array into its place among the shown elements; box: bit i set = the end of
 * axis i.
 */
static airy_status pull_box(airy_queue *queue, const airy_array *array, struct shown *s,
                            unsigned box)
{
    size_t start[AIRY_MAX_DIMS], shape[AIRY_MAX_DIMS], place[AIRY_MAX_DIMS], count = 1;
    for (int i = 0; i < AIRY_MAX_DIMS; i++) {
        const bool end = box >> i & 1u;
        if (end && !s->cut[i])
            return AIRY_OK;
        start[i] = end ? array->shape[i] - EDGE : 0;
        shape[i] = s->cut[i] ? EDGE : s->shape[i];
        place[i] = end ? EDGE : 0;
        count *= shape[i];
    }
    const size_t size = airy_dtype_size(s->dtype);
    airy_array *view = NULL;
    void *packed = NULL;
    airy_status status;
    AIRY_TRY_OR(out, airy_memory_calloc(&packed, count, size, "printing"));
    AIRY_TRY_OR(out, airy_array_view(&view, array, start, shape));
    AIRY_TRY_OR(out, airy_array_pull(queue, packed, count * size, view));
    for (size_t e = 0; e < count; e++) {
        size_t rest = e, at = 0, step = 1;
        for (int i = AIRY_MAX_DIMS - 1; i >= 0; i--) { /* axes behind the last: shape 1 */
            at += (place[i] + rest % shape[i]) * step;
            rest /= shape[i];
            step *= s->shape[i];
        }
        memcpy(s->data + at * size, (char *)packed + e * size, size);
    }
out:
    airy_array_destroy(&view);
    free(packed);
    return status;
}

static double read_float(const struct shown *s, size_t i)
{
    float f;
    double d;
    memcpy(&f, s->data + 4 * i, sizeof(f) * (s->dtype == AIRY_DTYPE_F32));
    if (s->dtype == AIRY_DTYPE_F32)
        return f;
    memcpy(&d, s->data + 8 * i, sizeof(d));
    return d;
}

static void write_integer(char text[TEXT_SIZE], const struct shown *s, size_t i)
{
    const size_t size = airy_dtype_size(s->dtype);
    uint64_t u = 0;
    for (size_t b = size; b-- > 0;)
        u = u << 8 | s->data[i * size + b];
    if (airy_dtype_is_signed(s->dtype)) {
        const int64_t v = size == 1   ? (int8_t)u
                          : size == 2 ? (int16_t)u
                          : size == 4 ? (int32_t)u
                                      : (int64_t)u;
        snprintf(text, TEXT_SIZE, "%lld", (long long)v);
    } else {
        snprintf(text, TEXT_SIZE, "%llu", (unsigned long long)u);
    }
}

/*
 * How floats are written: all alike, with as many decimals as the one that needs most, at most
 * DIGITS.
 */
struct float_style {
    bool exponent;
    int decimals;
};

/*
 * The fewest decimals that give the value back in its dtype; DIGITS, less zeros at the end, where
 * more were needed.
 */
static int count_decimals(double v, airy_dtype dtype, bool exponent)
{
    char text[400];
    for (int n = 0; n <= DIGITS; n++) {
        snprintf(text, sizeof(text), exponent ? "%.*e" : "%.*f", n, v);
        if (dtype == AIRY_DTYPE_F32 ? strtof(text, NULL) == (float)v : strtod(text, NULL) == v)
            return n;
    }
    const char *point = strchr(text, '.');
    int used = DIGITS;
    while (used > 0 && point && point[used] == '0')
        used--;
    return used;
}

/*
 * NumPy's rule: exponents from 1e8 on, below 1e-4, or when the values span more than a factor of
 * 1000.
 */
static struct float_style choose_style(const struct shown *s)
{
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < s->count; i++) {
        const double v = fabs(read_float(s, i));
        if (!isfinite(v) || v == 0)
            continue;
        low = v < low ? v : low;
        high = v > high ? v : high;
    }
    struct float_style style = {.exponent = high >= 1e8 || low < 1e-4 || high / low > 1000};
    for (size_t i = 0; i < s->count; i++) {
        const double v = read_float(s, i);
        const int n = isfinite(v) ? count_decimals(v, s->dtype, style.exponent) : 0;
        style.decimals = n > style.decimals ? n : style.decimals;
    }
    return style;
}

static void write_value(char text[TEXT_SIZE], const struct shown *s, size_t i,
                        struct float_style style)
{
    if (!airy_dtype_is_float(s->dtype)) {
        write_integer(text, s, i);
        return;
    }
    const double v = read_float(s, i);
    if (isnan(v))
        snprintf(text, TEXT_SIZE, "nan");
    else if (isinf(v))
        snprintf(text, TEXT_SIZE, v < 0 ? "-inf" : "inf");
    else
        snprintf(text, TEXT_SIZE, style.exponent ? "%#.*e" : "%#.*f", style.decimals, v);
    /* Without an exponent NumPy writes blanks for zeros at the end. */
    for (size_t n = strlen(text); isfinite(v) && !style.exponent && n > 0 && text[n - 1] == '0';
         n--)
        text[n - 1] = ' ';
}

/*
 * Between two neighbours on an axis: a blank on the last, else as many new lines as axes are
 * closed, and their indent.
 */
static void print_gap(FILE *file, const struct shown *s, int axis)
{
    if (axis == s->ndim - 1) {
        fputc(' ', file);
        return;
    }
    for (int n = axis; n < s->ndim - 1; n++)
        fputc('\n', file);
    fprintf(file, "%*s", axis + 1, "");
}

/* The values from element `at` on, axis by axis, with NumPy's brackets. */
static size_t print_axis(FILE *file, const struct shown *s, int axis, size_t at, int width,
                         struct float_style style)
{
    if (axis == AIRY_MAX_DIMS || axis == s->ndim) {
        char text[TEXT_SIZE];
        write_value(text, s, at, style);
        fprintf(file, "%*s", width, text);
        return at + 1;
    }
    fputc('[', file);
    for (size_t i = 0; i < s->shape[axis]; i++) {
        if (i > 0)
            print_gap(file, s, axis);
        if (s->cut[axis] && i == EDGE) {
            fputs("...", file);
            print_gap(file, s, axis);
        }
        at = print_axis(file, s, axis + 1, at, width, style);
    }
    fputc(']', file);
    return at;
}

static void print_values(FILE *file, const struct shown *s)
{
    struct float_style style = {0};
    if (airy_dtype_is_float(s->dtype))
        style = choose_style(s);
    int width = 0;
    for (size_t i = 0; i < s->count; i++) {
        char text[TEXT_SIZE];
        write_value(text, s, i, style);
        width = (int)strlen(text) > width ? (int)strlen(text) : width;
    }
    print_axis(file, s, 0, 0, width, style);
    fputc('\n', file);
}

struct printed {
    const airy_array *array;
    const struct shown *shown;
};

static void print_array(FILE *file, const void *user)
{
    const struct printed *p = user;
    const airy_array *array = p->array;
    fputs("shape (", file);
    for (int i = 0; i < array->ndim; i++)
        fprintf(file, "%s%zu", i ? ", " : "", array->shape[i]);
    fprintf(file, "%s), dtype %s, device %s\n", array->ndim == 1 ? "," : "",
            airy_dtype_name(array->dtype), airy_device_spec(airy_array_device(array)));
    print_values(file, p->shown);
}

airy_status airy_array_format(airy_queue *queue, char **text, const airy_array *array)
{
    AIRY_FAIL_IF(!queue || !array || !text, AIRY_ERR_PARAM, "airy_array_format: argument is NULL");
    AIRY_TRY(airy_check_device(queue, array, "array"));
    struct shown s = {.dtype = array->dtype, .ndim = array->ndim, .count = 1};
    const bool shorten = airy_array_count(array) > SHORTEN_ABOVE;
    for (int i = 0; i < AIRY_MAX_DIMS; i++) {
        s.shape[i] = 1;
        if (i >= s.ndim)
            continue;
        s.cut[i] = shorten && array->shape[i] > 2 * EDGE;
        s.shape[i] = s.cut[i] ? 2 * EDGE : array->shape[i];
        s.count *= s.shape[i];
    }
    void *block = NULL;
    AIRY_TRY(airy_memory_calloc(&block, s.count, airy_dtype_size(s.dtype), "printing"));
    s.data = block;
    airy_status status = AIRY_OK;
    for (unsigned box = 0; status == AIRY_OK && box < 1u << s.ndim; box++)
        status = pull_box(queue, array, &s, box);
    if (status == AIRY_OK)
        status = airy_print_text(text, print_array, &(struct printed){array, &s});
    free(block);
    return status;
}
