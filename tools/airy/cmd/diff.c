/* airy diff: two results or images, element by element. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "images/image_util.h"
#include "result/columns.h"
#include "result/patterns.h"

enum { DIFFERS = 1, TROUBLE = 2 }; /* exit codes, as diff(1) has them */

struct diff_params {
    struct common common;
    double rtol, atol;
    const char *dataset;
};

static const struct opt diff_options[] = {
    {.heading = "Comparison"},
    {.name = "rtol",
     .type = OPT_FLOAT,
     .offset = offsetof(struct diff_params, rtol),
     .lo = 0,
     .hi = 1e300,
     .argument = "R",
     .fallback = "0",
     .help = "equal when |a - b| <= A + R |b|"},
    {.name = "atol",
     .type = OPT_FLOAT,
     .offset = offsetof(struct diff_params, atol),
     .lo = 0,
     .hi = 1e300,
     .argument = "A",
     .fallback = "0",
     .help = "in the unit of the values"},
    {.name = "dataset",
     .type = OPT_STRING,
     .offset = offsetof(struct diff_params, dataset),
     .argument = "PATH",
     .fallback = "all of a result, or the image",
     .help = "compare this HDF5 dataset of both files"},
    {0},
};

struct difference {
    size_t elements, different, worst; /* worst: index of the largest excess, of a complex number */
    double excess;                     /* of the worst */
};

static bool is_wide(const airy_image *image)
{
    return airy_dtype_size(image->dtype) == 8 && !airy_dtype_is_float(image->dtype);
}

/* The digits of an integer of 64 bits, which f64 may not hold; two's complement where it is negative. */
static uint64_t wide_value(const airy_image *image, size_t i)
{
    return is_wide(image) ? ((const uint64_t *)image->data)[i]
                          : (uint64_t)(int64_t)airy_image_value(image, i);
}

/* |a - b|; of integers exact but for its own rounding. x, y: the same elements as f64. */
static double distance(const airy_image *a, const airy_image *b, size_t i, double x, double y)
{
    const bool floats = airy_dtype_is_float(a->dtype) || airy_dtype_is_float(b->dtype);
    if (floats || !(is_wide(a) || is_wide(b)) || (x < 0) != (y < 0))
        return fabs(x - y);
    const uint64_t p = wide_value(a, i), q = wide_value(b, i);
    return (double)(p > q ? p - q : q - p);
}

/* By how much element i is outside the tolerance: NaN equals NaN, an infinity itself. */
static double excess_of(const airy_image *a, const airy_image *b, size_t i, double rtol,
                        double atol)
{
    const double x = airy_image_value(a, i), y = airy_image_value(b, i);
    if ((isnan(x) && isnan(y)) || (isinf(x) && x == y))
        return 0;
    return distance(a, b, i, x, y) - (atol + rtol * fabs(y));
}

/* The same of complex number i: |a - b| by the absolute values, where all parts are finite. */
static double complex_excess(const airy_image *a, const airy_image *b, size_t i, double rtol,
                             double atol)
{
    const double ar = airy_image_value(a, 2 * i), ai = airy_image_value(a, 2 * i + 1),
                 br = airy_image_value(b, 2 * i), bi = airy_image_value(b, 2 * i + 1);
    if (isfinite(ar) && isfinite(ai) && isfinite(br) && isfinite(bi))
        return hypot(ar - br, ai - bi) - (atol + rtol * hypot(br, bi));
    const double parts[2] = {excess_of(a, b, 2 * i, rtol, atol),
                             excess_of(a, b, 2 * i + 1, rtol, atol)};
    return parts[0] <= 0 ? parts[1] : parts[0];
}

static void compare(struct difference *d, const airy_image *a, const airy_image *b, double rtol,
                    double atol)
{
    d->elements = tool_count(a->shape, image_axes(a));
    for (size_t i = 0; i < d->elements; i++) {
        const double excess = a->is_complex ? complex_excess(a, b, i, rtol, atol)
                                            : excess_of(a, b, i, rtol, atol);
        if (excess <= 0)
            continue;
        const double size = isnan(excess) ? (double)INFINITY : excess;
        if (!d->different || size > d->excess) {
            d->worst = i;
            d->excess = size;
        }
        d->different++;
    }
}

static void index_text(char text[96], const airy_image *image, size_t index)
{
    size_t at[AIRY_MAX_DIMS] = {0}, used = 0;
    for (int i = image_axes(image) - 1; i >= 0; i--) {
        at[i] = index % image->shape[i];
        index /= image->shape[i];
    }
    for (int i = 0; i < image_axes(image); i++)
        used += (size_t)snprintf(text + used, 96 - used, i ? ", %zu" : "%zu", at[i]);
}

/* In all digits; the sign of a NaN says nothing. */
static const char *value_text(char text[64], const airy_image *image, size_t i)
{
    if (image->is_complex) {
        snprintf(text, 64, "%.17g%+.17gi", airy_image_value(image, 2 * i),
                 airy_image_value(image, 2 * i + 1));
        return text;
    }
    const double value = airy_image_value(image, i);
    if (is_wide(image))
        snprintf(text, 64, airy_dtype_is_signed(image->dtype) ? "%" PRId64 : "%" PRIu64,
                 wide_value(image, i));
    else
        snprintf(text, 64, "%.17g", isnan(value) ? fabs(value) : value);
    return text;
}

/* Of a complex number: [real, imaginary]. */
static json_t *value_json(const airy_image *image, size_t i)
{
    if (image->is_complex)
        return json_pack("[o, o]", tool_json_number(airy_image_value(image, 2 * i)),
                         tool_json_number(airy_image_value(image, 2 * i + 1)));
    const double value = airy_image_value(image, i);
    if (airy_dtype_is_float(image->dtype))
        return tool_json_number(value);
    return airy_dtype_is_signed(image->dtype) ? json_integer((json_int_t)wide_value(image, i))
                                              : tool_json_unsigned(wide_value(image, i));
}

/* "16 x 1000" */
static void shape_text(char text[512], const airy_image *image)
{
    size_t used = 0;
    for (int i = 0; i < image_axes(image); i++)
        used += (size_t)snprintf(text + used, 512 - used, i ? " x %zu" : "%zu", image->shape[i]);
    if (image->is_complex && used < 512)
        snprintf(text + used, 512 - used, " complex numbers");
}

static void print_difference(const char *name, const struct difference *d, const airy_image *a,
                             const airy_image *b)
{
    char where[96] = "", text[2][64], shown[TOOL_SHOWN];
    name = tool_shown(shown, name);
    if (d->different)
        index_text(where, a, d->worst);
    if (d->different)
        printf("%s: %zu of %zu elements differ, worst at [%s]: %s and %s\n", name, d->different,
               d->elements, where, value_text(text[0], a, d->worst),
               value_text(text[1], b, d->worst));
    else
        printf("%s: equal, %zu elements\n", name, d->elements);
}

static json_t *difference_json(const char *name, const struct difference *d, const airy_image *a,
                               const airy_image *b)
{
    char where[96] = "";
    json_t *json = json_pack("{s:o, s:b, s:I, s:I}", "name", tool_json_string(name), "equal",
                             d->different == 0, "elements", (json_int_t)d->elements, "different",
                             (json_int_t)d->different);
    if (d->different) {
        index_text(where, a, d->worst);
        json_object_set_new(json, "worst", json_string(where));
        json_object_set_new(json, "a", value_json(a, d->worst));
        json_object_set_new(json, "b", value_json(b, d->worst));
    }
    return json;
}

/* Compare two arrays, and print what differs or add it to the list of --json. */
static void diff_arrays(const struct diff_params *p, const char *name, const airy_image *a,
                        const airy_image *b, json_t *list, bool *same)
{
    bool shapes = a->ndim == b->ndim && a->is_complex == b->is_complex;
    for (int i = 0; shapes && i < a->ndim; i++)
        shapes = a->shape[i] == b->shape[i];
    struct difference d = {0};
    char text[2][512] = {"", ""}, shown[TOOL_SHOWN];
    if (shapes) {
        compare(&d, a, b, p->rtol, p->atol);
    } else {
        shape_text(text[0], a);
        shape_text(text[1], b);
    }
    *same &= shapes && d.different == 0;
    if (!p->common.json && shapes)
        print_difference(name, &d, a, b);
    else if (!p->common.json)
        printf("%s: shapes differ: %s and %s\n", tool_shown(shown, name), text[0], text[1]);
    else if (shapes)
        json_array_append_new(list, difference_json(name, &d, a, b));
    else
        json_array_append_new(
            list, json_pack("{s:o, s:b, s:o}", "name", tool_json_string(name), "equal", 0, "why",
                            json_sprintf("shapes differ: %s and %s", text[0], text[1])));
}

/* Exit code of the reading. */
static int diff_pair(const struct diff_params *p, const char *name, const char *path_a,
                     const char *path_b, json_t *list, bool *same)
{
    airy_image a = {0}, b = {0};
    airy_status status = airy_image_read(&a, path_a);
    if (status == AIRY_OK)
        status = airy_image_read(&b, path_b);
    if (status == AIRY_OK)
        diff_arrays(p, name, &a, &b, list, same);
    airy_image_free(&a);
    airy_image_free(&b);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
}

/* Column i of a text as an array of its own; free with airy_image_free. */
static int take_column(const struct diff_params *p, airy_image *image, const struct columns *from,
                       size_t i)
{
    double *values = malloc((from->rows ? from->rows : 1) * sizeof(double));
    if (!values)
        return tool_fail(&p->common, "out of memory for %zu numbers", from->rows);
    for (size_t row = 0; row < from->rows; row++)
        values[row] = from->values[row * from->count + i];
    *image =
        (airy_image){.data = values, .dtype = AIRY_DTYPE_F64, .ndim = 1, .shape = {from->rows}};
    return AIRY_EXIT_OK;
}

/* A column that one text lacks cannot be compared. Exit code. */
static int check_columns(const struct diff_params *p, const struct columns texts[2])
{
    const char *const *items = (const char *const *)p->common.inputs.items;
    const size_t most = texts[0].count > texts[1].count ? texts[0].count : texts[1].count;
    for (size_t i = 0; i < most; i++) {
        const bool a = i < texts[0].count, b = i < texts[1].count;
        if (!a || !b || strcmp(texts[0].names[i], texts[1].names[i]) != 0)
            return tool_fail(&p->common, "column %zu is %s in %s and %s in %s", i + 1,
                             a ? texts[0].names[i] : "not there", items[0],
                             b ? texts[1].names[i] : "not there", items[1]);
    }
    return AIRY_EXIT_OK;
}

/* Patterns and tables as text, column by column. */
static int diff_texts(const struct diff_params *p, json_t *list, bool *same)
{
    struct columns texts[2] = {{0}, {0}};
    int code = columns_load(&texts[0], &p->common, p->common.inputs.items[0]);
    if (code == AIRY_EXIT_OK)
        code = columns_load(&texts[1], &p->common, p->common.inputs.items[1]);
    if (code == AIRY_EXIT_OK)
        code = check_columns(p, texts);
    for (size_t i = 0; code == AIRY_EXIT_OK && i < texts[0].count; i++) {
        airy_image a = {0}, b = {0};
        code = take_column(p, &a, &texts[0], i);
        if (code == AIRY_EXIT_OK)
            code = take_column(p, &b, &texts[1], i);
        if (code == AIRY_EXIT_OK)
            diff_arrays(p, texts[0].names[i], &a, &b, list, same);
        airy_image_free(&a);
        airy_image_free(&b);
    }
    columns_free(&texts[0]);
    columns_free(&texts[1]);
    return code;
}

/* What of a result is compared: axes, patterns and sums, by their paths in the file. */
struct listing {
    airy_result *result;
    airy_result_info info;
    const char **paths;
    size_t count;
};

static int by_path(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_compared(const airy_result_plane *plane)
{
    return plane->ndim >= 1 &&
           (strncmp(plane->name, "result/", 7) == 0 || strncmp(plane->name, "merged/", 7) == 0);
}

/* Read what a result has. *list stays empty where the file is no result with patterns. */
static airy_status list_result(struct listing *list, const char *path)
{
    airy_result_axis axis;
    airy_result_plane plane;
    airy_status status = airy_result_open(&list->result, path);
    if (status == AIRY_ERR_FORMAT)
        return AIRY_OK;
    if (status == AIRY_OK)
        status = airy_result_get_info(list->result, &list->info);
    if (status != AIRY_OK || list->info.kind != AIRY_RESULT_PATTERNS)
        return status;
    list->paths = malloc((list->info.axes + list->info.planes) * sizeof(*list->paths));
    if (!list->paths)
        return AIRY_ERR_MEMORY;
    for (size_t i = 0; i < list->info.axes; i++)
        if (airy_result_get_axis(list->result, i, &axis) == AIRY_OK)
            list->paths[list->count++] = axis.path;
    for (size_t i = 0; i < list->info.planes; i++)
        if (airy_result_get_plane(list->result, i, &plane) == AIRY_OK && is_compared(&plane))
            list->paths[list->count++] = plane.path;
    qsort(list->paths, list->count, sizeof(*list->paths), by_path);
    return AIRY_OK;
}

static bool has_path(const struct listing *list, const char *path)
{
    return list->count && bsearch(&path, list->paths, list->count, sizeof(*list->paths), by_path);
}

/* The first dataset of one file that the other lacks, and how many there are. */
static const char *only_in(const struct listing *list, const struct listing *other, size_t *count)
{
    const char *first = NULL;
    for (size_t i = list->count; i-- > 0;)
        if (!has_path(other, list->paths[i])) {
            first = list->paths[i];
            ++*count;
        }
    return first;
}

/* A dataset that one file lacks cannot be compared. Exit code. */
static int check_same_paths(const struct diff_params *p, const struct listing lists[2])
{
    for (int k = 0; k < 2; k++) {
        size_t count = 0;
        char more[48] = "";
        const char *path = only_in(&lists[k], &lists[1 - k], &count);
        if (count > 1)
            snprintf(more, sizeof(more), " and %zu more", count - 1);
        if (path)
            return tool_fail(&p->common,
                             "%s lacks dataset %s%s that %s has; compare one that both have with "
                             "--dataset",
                             p->common.inputs.items[1 - k], path, more, p->common.inputs.items[k]);
    }
    return AIRY_EXIT_OK;
}

/* Compare what both results have, then say what one lacks. */
static int diff_listed(const struct diff_params *p, const struct listing lists[2], json_t *list,
                       bool *same, bool *found)
{
    int code = AIRY_EXIT_OK;
    for (size_t i = 0; i < lists[0].count && code == AIRY_EXIT_OK; i++) {
        const char *path = lists[0].paths[i];
        if (!has_path(&lists[1], path))
            continue;
        char where[2][4400];
        for (int k = 0; k < 2; k++)
            snprintf(where[k], sizeof(where[k]), "%s::%s", lists[k].info.path, path);
        *found = true;
        code = diff_pair(p, path, where[0], where[1], list, same);
    }
    return code != AIRY_EXIT_OK ? code : check_same_paths(p, lists);
}

/* Rows that are not done are compared as the file has them: that is no result of the run. */
static void report_pending(const struct diff_params *p, const airy_result_info *info)
{
    const size_t done = info->good + info->bad;
    if (!info->complete)
        tool_say(&p->common, "%s is not complete: %zu of %zu rows are not done%s", info->path,
                 info->rows - done, info->rows,
                 done < info->rows ? ", and are compared as the file has them" : " so far");
}

/* Axes, patterns and sums, when both files are results. */
static int diff_result(const struct diff_params *p, json_t *list, bool *same, bool *found)
{
    struct listing lists[2] = {{0}};
    airy_status status = AIRY_OK;
    for (int k = 0; k < 2 && status == AIRY_OK; k++)
        status = list_result(&lists[k], p->common.inputs.items[k]);
    for (int k = 0; k < 2 && status == AIRY_OK; k++)
        if (lists[k].count > 0) /* else it is no result */
            report_pending(p, &lists[k].info);
    const int code = status == AIRY_OK           ? diff_listed(p, lists, list, same, found)
                     : status == AIRY_ERR_MEMORY ? tool_fail(&p->common, "out of memory for a list")
                                                 : tool_failed(&p->common, status);
    for (int k = 0; k < 2; k++) {
        free(lists[k].paths);
        airy_result_close(&lists[k].result);
    }
    return code;
}

static int diff_files(const struct diff_params *p, json_t *list, bool *same)
{
    const char *a = p->common.inputs.items[0], *b = p->common.inputs.items[1];
    bool found = false;
    if (p->dataset) {
        char where[2][4400];
        snprintf(where[0], sizeof(where[0]), "%s::%s", a, p->dataset);
        snprintf(where[1], sizeof(where[1]), "%s::%s", b, p->dataset);
        return diff_pair(p, p->dataset, where[0], where[1], list, same);
    }
    if (columns_is_text(a) && columns_is_text(b))
        return diff_texts(p, list, same);
    if (!strstr(a, "::") && !strstr(b, "::") && patterns_is_hdf5(a) && patterns_is_hdf5(b)) {
        const int code = diff_result(p, list, same, &found);
        if (code != AIRY_EXIT_OK || found)
            return code;
    }
    return diff_pair(p, "image", a, b, list, same);
}

static int run_diff(void *user)
{
    const struct diff_params *p = user;
    json_t *list = json_array();
    bool same = true;
    int code = diff_files(p, list, &same);
    if (code == AIRY_EXIT_OK && p->common.json)
        code =
            tool_print_json(&p->common, json_pack("{s:b, s:O}", "equal", same, "datasets", list));
    json_decref(list);
    if (code == AIRY_EXIT_OK)
        code = tool_flush("diff");
    return code != AIRY_EXIT_OK ? TROUBLE : same ? AIRY_EXIT_OK : DIFFERS;
}

const struct command cmd_diff = {
    .name = "diff",
    .usage = "A B [options]",
    .summary = "compare two results or images element by element",
    .details =
        "Results of 'airy integrate' are compared dataset by dataset (result and merged), patterns "
        "and tables as text (.xy, .xye, .chi, .dat, .csv) column by column without their "
        "comments, anything else as one array. An empty cell of a table is NaN. NaN equals NaN. "
        "Exit code 0 when all is equal within the tolerance, 1 when not, 2 "
        "when that "
        "cannot be told: a file or a dataset is missing or cannot be read. --json prints {equal, "
        "datasets: [{name, equal, "
        "elements, different, worst, a, b}]} with the two numbers that lie furthest apart, null "
        "where one is not finite.",
    .examples = "  airy diff cpu.h5 gpu.h5 --rtol 1e-5\n"
                "  airy diff a.npy b.npy\n",
    .tables = {diff_options},
    .params_size = sizeof(struct diff_params),
    .min_inputs = 2,
    .max_inputs = 2,
    .run = run_diff,
};
