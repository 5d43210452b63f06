/* Two results or images, element by element. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/provenance.h"
#include "airy/result.h"
#include "base/number.h"
#include "io/file/format.h"
#include "jobs/columns.h"
#include "jobs/groups.h"
#include "jobs/image_group.h"

struct values {
    struct airy_job_source a, b;
    double rtol, atol;
    char *dataset;
};

#define ROW(member, ...) AIRY_JOB_ROW(struct values, member, __VA_ARGS__)
static const struct airy_job_row rows[] = {
    ROW(a, .name = "a", .type = AIRY_PARAMETER_PATH, .array = true, .role = AIRY_ROLE_INPUT,
        .argument = "A", .help = "a result, an image, a text with columns, or an array"),
    ROW(b, .name = "b", .type = AIRY_PARAMETER_PATH, .array = true, .role = AIRY_ROLE_INPUT,
        .argument = "B", .help = "what it is compared with"),
    ROW(rtol, .name = "rtol", .type = AIRY_PARAMETER_REAL, .hi = 1e300, .argument = "R",
        .fallback = "0", .help = "takes elements as equal where |a - b| <= {atol} + R |b|",
        .section = "Comparison"),
    ROW(atol, .name = "atol", .type = AIRY_PARAMETER_REAL, .hi = 1e300, .argument = "A",
        .fallback = "0",
        .help =
            "takes elements as equal where |a - b| <= A + {rtol} |b|, in the unit of the values"),
    ROW(dataset, .name = "dataset", .type = AIRY_PARAMETER_TEXT, .argument = "PATH",
        .fallback = "all of a result, or the image", .computed = true,
        .help = "compares this HDF5 dataset of both files"),
    {{0}, 0, NULL}};

static const airy_job_result results[] = {
    {"equal", AIRY_JOB_JSON, NULL, "true: all is equal within the tolerance; else false"},
    {"datasets", AIRY_JOB_JSON, NULL,
     "what was compared, a list of {name, equal, elements, different, worst, a, b}: the index and "
     "the two numbers that lie furthest apart; {name, equal, why} where shapes differ"},
    {NULL, AIRY_JOB_ARRAY, NULL, NULL}};

/* A file with a result: what of it is compared, axes, patterns and sums, by their paths in the file. */
struct listing {
    airy_result *result;
    airy_result_info info;
    const char **paths;
    size_t count;
};

/* What is open during a run. */
struct comparison {
    airy_job *job;
    const struct values *v;
    json_t *list;
    bool differs;
    struct listing lists[2];
    struct airy_columns texts[2];
};

/* ---- arrays ---- */

struct difference {
    size_t elements, different, worst; /* worst: index of the largest excess, of a complex number */
    double excess;                     /* of the worst */
};

/* Axes without that of the two parts of complex numbers. */
static int axes_of(const airy_image *image)
{
    return image->ndim - image->is_complex;
}

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
static double excess_of(const airy_image *a, const airy_image *b, size_t i, const struct values *v)
{
    const double x = airy_image_value(a, i), y = airy_image_value(b, i);
    if ((isnan(x) && isnan(y)) || (isinf(x) && x == y))
        return 0;
    return distance(a, b, i, x, y) - (v->atol + v->rtol * fabs(y));
}

/* By how much complex number i is outside, by absolute values where all parts are finite. */
static double complex_excess(const airy_image *a, const airy_image *b, size_t i,
                             const struct values *v)
{
    const double ar = airy_image_value(a, 2 * i), ai = airy_image_value(a, 2 * i + 1),
                 br = airy_image_value(b, 2 * i), bi = airy_image_value(b, 2 * i + 1);
    if (isfinite(ar) && isfinite(ai) && isfinite(br) && isfinite(bi))
        return hypot(ar - br, ai - bi) - (v->atol + v->rtol * hypot(br, bi));
    const double parts[2] = {excess_of(a, b, 2 * i, v), excess_of(a, b, 2 * i + 1, v)};
    return parts[0] <= 0 ? parts[1] : parts[0];
}

static void compare(struct difference *d, const airy_image *a, const airy_image *b,
                    const struct values *v)
{
    d->elements = airy_shape_count(a->shape, axes_of(a));
    for (size_t i = 0; i < d->elements; i++) {
        const double excess = a->is_complex ? complex_excess(a, b, i, v) : excess_of(a, b, i, v);
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
    for (int i = axes_of(image) - 1; i >= 0; i--) {
        at[i] = index % image->shape[i];
        index /= image->shape[i];
    }
    for (int i = 0; i < axes_of(image); i++)
        used += (size_t)snprintf(text + used, 96 - used, i ? ", %zu" : "%zu", at[i]);
}

/* In all digits; the sign of a NaN says nothing. */
static const char *value_text(char text[64], const airy_image *image, size_t i)
{
    const double value = airy_image_value(image, image->is_complex ? 2 * i : i);
    if (image->is_complex)
        snprintf(text, 64, "%.17g%+.17gi", value, airy_image_value(image, 2 * i + 1));
    else if (is_wide(image))
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
        return json_pack("[o, o]", airy_json_real(airy_image_value(image, 2 * i)),
                         airy_json_real(airy_image_value(image, 2 * i + 1)));
    if (airy_dtype_is_float(image->dtype))
        return airy_json_real(airy_image_value(image, i));
    return airy_dtype_is_signed(image->dtype) ? json_integer((json_int_t)wide_value(image, i))
                                              : airy_json_unsigned(wide_value(image, i));
}

/* "16 x 1000" */
static void print_shape(char *text, size_t size, const airy_image *image)
{
    char shape[AIRY_SHAPE_TEXT];
    snprintf(text, size, "%s%s", airy_shape_text(shape, image->shape, axes_of(image)),
             image->is_complex ? " complex numbers" : "");
}

static airy_status add(struct comparison *c, const char *name, json_t *json)
{
    char *utf8 = NULL;
    if (airy_utf8_copy(&utf8, name) == AIRY_OK)
        (void)json_object_set_new(json, "name", json_string(utf8));
    free(utf8);
    AIRY_FAIL_IF(!json || json_array_append_new(c->list, json) != 0, AIRY_ERR_MEMORY,
                 "out of memory for a list");
    return AIRY_OK;
}

/* Report the comparison of two arrays of one shape, and add it to the list. */
static airy_status add_difference(struct comparison *c, const char *name,
                                  const struct difference *d, const airy_image *a,
                                  const airy_image *b)
{
    char where[96] = "", text[2][64];
    json_t *json = json_pack("{s:n, s:b, s:I, s:I}", "name", "equal", d->different == 0, "elements",
                             (json_int_t)d->elements, "different", (json_int_t)d->different);
    if (!d->different) {
        airy_job_message(c->job, AIRY_LOG_INFO, "%s: equal, %zu elements", name, d->elements);
        return add(c, name, json);
    }
    index_text(where, a, d->worst);
    json_object_set_new(json, "worst", json_string(where));
    json_object_set_new(json, "a", value_json(a, d->worst));
    json_object_set_new(json, "b", value_json(b, d->worst));
    airy_job_message(c->job, AIRY_LOG_INFO,
                     "%s: %zu of %zu elements differ, worst at [%s]: %s and %s", name, d->different,
                     d->elements, where, value_text(text[0], a, d->worst),
                     value_text(text[1], b, d->worst));
    return add(c, name, json);
}

static airy_status compare_arrays(struct comparison *c, const char *name, const airy_image *a,
                                  const airy_image *b)
{
    bool alike = a->ndim == b->ndim && a->is_complex == b->is_complex;
    for (int i = 0; alike && i < a->ndim; i++)
        alike = a->shape[i] == b->shape[i];
    struct difference d = {.elements = 0};
    char text[2][512];
    if (alike) {
        compare(&d, a, b, c->v);
        c->differs |= d.different > 0;
        return add_difference(c, name, &d, a, b);
    }
    c->differs = true;
    print_shape(text[0], sizeof(text[0]), a);
    print_shape(text[1], sizeof(text[1]), b);
    airy_job_message(c->job, AIRY_LOG_INFO, "%s: shapes differ: %s and %s", name, text[0], text[1]);
    return add(c, name,
               json_pack("{s:n, s:b, s:o}", "name", "equal", 0, "why",
                         json_sprintf("shapes differ: %s and %s", text[0], text[1])));
}

static airy_status compare_sources(struct comparison *c, const char *name,
                                   const struct airy_job_source *a, const struct airy_job_source *b)
{
    airy_image images[2] = {{.data = NULL}, {.data = NULL}};
    airy_status status = airy_job_load_image(&images[0], a);
    if (status == AIRY_OK)
        status = airy_job_load_image(&images[1], b);
    if (status == AIRY_OK)
        status = compare_arrays(c, name, &images[0], &images[1]);
    airy_job_unload_image(&images[0], a);
    airy_job_unload_image(&images[1], b);
    return status;
}

/* A dataset of two files. */
static airy_status compare_datasets(struct comparison *c, const char *a, const char *b,
                                    const char *dataset)
{
    const char *const files[2] = {a, b};
    char where[2][4400];
    for (size_t i = 0; i < 2; i++) {
        const int n = snprintf(where[i], sizeof(where[i]), "%s::%s", files[i], dataset);
        AIRY_FAIL_IF((size_t)n >= sizeof(where[i]), AIRY_ERR_PARAM,
                     "%.64s::%.64s...: a name of %d bytes, expected at most %zu", files[i], dataset,
                     n, sizeof(where[i]) - 1);
    }
    return compare_sources(c, dataset, &(struct airy_job_source){.path = where[0]},
                           &(struct airy_job_source){.path = where[1]});
}

/* ---- patterns and tables as text, column by column ---- */

/* A column that one text lacks cannot be compared. */
static airy_status check_columns(const struct comparison *c)
{
    const struct airy_columns *a = &c->texts[0], *b = &c->texts[1];
    for (size_t i = 0; i < a->count || i < b->count; i++) {
        const char *name = i < a->count ? a->names[i] : "not there",
                   *other = i < b->count ? b->names[i] : "not there";
        AIRY_FAIL_HINT_IF(i >= a->count || i >= b->count || strcmp(name, other) != 0,
                          AIRY_ERR_FORMAT, AIRY_HINT_STATED, AIRY_SUBJECT_NONE,
                          "column %zu is %s in %s and %s in %s", i + 1, name, c->v->a.path, other,
                          c->v->b.path);
    }
    return AIRY_OK;
}

/* Column i as an array of its own; free with airy_image_free. */
static airy_status take_column(airy_image *image, const struct airy_columns *from, size_t i)
{
    double *values = malloc((from->rows + 1) * sizeof(double));
    AIRY_FAIL_IF(!values, AIRY_ERR_MEMORY, "out of memory for %zu numbers", from->rows);
    for (size_t row = 0; row < from->rows; row++)
        values[row] = from->values[row * from->count + i];
    *image =
        (airy_image){.data = values, .dtype = AIRY_DTYPE_F64, .ndim = 1, .shape = {from->rows}};
    return AIRY_OK;
}

static airy_status compare_texts(struct comparison *c)
{
    airy_status status = AIRY_OK;
    AIRY_TRY(airy_columns_read(&c->texts[0], c->v->a.path));
    AIRY_TRY(airy_columns_read(&c->texts[1], c->v->b.path));
    AIRY_TRY(check_columns(c));
    for (size_t i = 0; status == AIRY_OK && i < c->texts[0].count; i++) {
        airy_image a = {.data = NULL}, b = {.data = NULL};
        status = take_column(&a, &c->texts[0], i);
        if (status == AIRY_OK)
            status = take_column(&b, &c->texts[1], i);
        if (status == AIRY_OK)
            status = compare_arrays(c, c->texts[0].names[i], &a, &b);
        airy_image_free(&a);
        airy_image_free(&b);
    }
    return status;
}

/* ---- results, dataset by dataset ---- */

static int by_path(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_compared(const airy_result_plane *plane)
{
    return plane->ndim >= 1 &&
           (strncmp(plane->name, "result/", 7) == 0 || strncmp(plane->name, "merged/", 7) == 0);
}

/* Read what a result has. The list stays empty where the file is no result with patterns. */
static airy_status list_result(struct listing *list, const char *path)
{
    airy_result_axis axis;
    airy_result_plane plane;
    const airy_status status = airy_result_open(&list->result, path);
    if (status == AIRY_ERR_FORMAT)
        return AIRY_OK;
    AIRY_TRY(status);
    AIRY_TRY(airy_result_get_info(list->result, &list->info));
    if (list->info.kind != AIRY_RESULT_PATTERNS)
        return AIRY_OK;
    list->paths = malloc((list->info.axes + list->info.planes) * sizeof(*list->paths));
    AIRY_FAIL_IF(!list->paths, AIRY_ERR_MEMORY, "out of memory for a list");
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

/* A dataset that one file lacks cannot be compared. */
static airy_status check_has_all(const struct listing *list, const struct listing *other,
                                 const char *name, const char *other_name)
{
    const char *first = NULL;
    size_t count = 0;
    char more[48] = "";
    for (size_t i = other->count; i-- > 0;)
        if (!has_path(list, other->paths[i])) {
            first = other->paths[i];
            count++;
        }
    if (count > 1)
        snprintf(more, sizeof(more), " and %zu more", count - 1);
    AIRY_FAIL_HINT_IF(first, AIRY_ERR_FORMAT, AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
                      "%s lacks dataset %s%s that %s has; compare one that both have with "
                      "dataset=PATH",
                      name, first, more, other_name);
    return AIRY_OK;
}

/* Rows that are not done are compared as the file has them: that is no result of the run. */
static void warn_pending(const struct comparison *c, const airy_result_info *info)
{
    const size_t done = info->good + info->bad;
    if (!info->complete)
        airy_job_message(c->job, AIRY_LOG_WARN,
                         "%s is not complete: %zu of %zu rows are not done%s", info->path,
                         info->rows - done, info->rows,
                         done < info->rows ? ", and are compared as the file has them" : " so far");
}

/* Compare what both results have, then report what one lacks. */
static airy_status compare_results(struct comparison *c, bool *found)
{
    struct listing *a = &c->lists[0], *b = &c->lists[1];
    const char *name = c->v->a.path, *other = c->v->b.path;
    AIRY_TRY(list_result(a, name));
    AIRY_TRY(list_result(b, other));
    for (int k = 0; k < 2; k++)
        if (c->lists[k].count > 0) /* else it is no result */
            warn_pending(c, &c->lists[k].info);
    for (size_t i = 0; i < a->count; i++) {
        if (!has_path(b, a->paths[i]))
            continue;
        *found = true;
        AIRY_TRY(compare_datasets(c, a->info.path, b->info.path, a->paths[i]));
    }
    AIRY_TRY(check_has_all(b, a, other, name));
    return check_has_all(a, b, name, other);
}

/* ---- the job ---- */

static bool is_hdf5(const struct airy_job_source *source)
{
    static const char partial[] = ".partial";
    const size_t n = source->path ? strlen(source->path) : 0, m = sizeof(partial) - 1;
    return n && !strstr(source->path, "::") &&
           (airy_image_format_of_name(source->path) == AIRY_FORMAT_HDF5 ||
            (n >= m && strcmp(source->path + n - m, partial) == 0));
}

static airy_status compare_inputs(struct comparison *c)
{
    const struct airy_job_source *a = &c->v->a, *b = &c->v->b;
    bool found = false;
    if (c->v->dataset)
        return compare_datasets(c, a->path, b->path, c->v->dataset);
    if (a->path && b->path && airy_columns_is_text(a->path) && airy_columns_is_text(b->path))
        return compare_texts(c);
    if (is_hdf5(a) && is_hdf5(b))
        AIRY_TRY(compare_results(c, &found));
    return found ? AIRY_OK : compare_sources(c, "image", a, b);
}

static airy_status run(airy_job *job, void *state)
{
    struct comparison *c = state;
    *c = (struct comparison){.job = job, .v = job->values, .list = json_array()};
    AIRY_TRY(compare_inputs(c));
    airy_job_sum_up(job, c->differs ? "they differ" : "they are equal");
    AIRY_TRY(airy_job_put_json(job, "equal", json_boolean(!c->differs)));
    return airy_job_put_json(job, "datasets", json_incref(c->list));
}

static void close_comparison(void *state)
{
    struct comparison *c = state;
    json_decref(c->list);
    for (int k = 0; k < 2; k++) {
        airy_columns_free(&c->texts[k]);
        free(c->lists[k].paths);
        airy_result_close(&c->lists[k].result);
    }
}

static airy_status check(airy_job *job)
{
    const struct values *v = job->values;
    AIRY_FAIL_ON_IF(v->dataset && (v->a.is_array || v->b.is_array), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s %s: an array has no datasets", "dataset",
                    v->dataset);
    return AIRY_OK;
}

extern const struct airy_job_kind airy_job_diff;
const struct airy_job_kind airy_job_diff = {
    .name = "diff",
    .summary = "compare two results or images element by element",
    .details = "Results of integrate are compared dataset by dataset (result and merged), patterns "
               "and tables as text (.xy, .xye, .chi, .dat, .csv) column by column without their "
               "comments, anything else as one array. An empty cell of a table is NaN. NaN equals "
               "NaN. Each comparison is reported. The result is {equal, datasets: [{name, equal, "
               "elements, different, worst, a, b}]} with the two numbers that lie furthest apart, "
               "null where one is not finite.",
    .groups = {{rows, 0}},
    .results = results,
    .values_size = sizeof(struct values),
    .state_size = sizeof(struct comparison),
    .check = check,
    .run = run,
    .close = close_comparison,
};
