#include "result/patterns.h"
#include "cli/text_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The name says HDF5. */
static bool is_hdf5(const char *path)
{
    return strstr(path, "::") || tool_has_suffix(path, ".h5") || tool_has_suffix(path, ".hdf5") ||
           tool_has_suffix(path, ".nxs") || tool_has_suffix(path, ".partial");
}

void patterns_free(struct patterns *patterns)
{
    free(patterns->radial);
    free(patterns->azimuth);
    free(patterns->values);
    free(patterns->errors);
    free(patterns->along);
    memset(patterns, 0, sizeof(*patterns));
}

static airy_status fail_kind(const char *path, airy_result_kind kind)
{
    static const char *const holds[AIRY_RESULT_COUNT] = {
        [AIRY_RESULT_PATTERNS] = "has no intensities",
        [AIRY_RESULT_SPARSE] = "holds peaks: 'airy densify' makes frames of it",
        [AIRY_RESULT_FRAMES] = ("holds frames: 'airy integrate' makes patterns of them, and "
                                "'airy view' shows them"),
        [AIRY_RESULT_IMAGE] = "holds one image, which 'airy view' shows"};
    airy_error error = {
        .status = AIRY_ERR_FORMAT, .subject = AIRY_SUBJECT_FILE, .hint = AIRY_HINT_STATED};
    snprintf(error.name, sizeof(error.name), "%s", path);
    snprintf(error.text, sizeof(error.text), "'%.800s' %s", path, holds[kind]);
    return airy_error_restore(&error);
}

airy_status patterns_open(airy_result **result, const char *path)
{
    airy_result_plane plane;
    airy_result_info info;
    airy_status status = airy_result_open(result, path);
    if (status != AIRY_OK)
        return status;
    status = airy_result_get_info(*result, &info);
    if (status == AIRY_OK &&
        (info.kind != AIRY_RESULT_PATTERNS ||
         airy_result_find_plane(*result, "result/intensity", &plane) != AIRY_OK))
        status = fail_kind(info.path, info.kind);
    if (status != AIRY_OK)
        airy_result_close(result);
    return status;
}

airy_status patterns_read_plane(airy_image *image, airy_result *result,
                                const airy_result_plane *plane)
{
    const bool fits = plane->rows < SIZE_MAX / sizeof(double) / (plane->cells + 1);
    image->data = fits ? malloc((plane->rows * plane->cells + 1) * sizeof(double)) : NULL;
    const airy_status status =
        image->data ? airy_result_read(result, plane->name, 0, plane->rows, AIRY_DTYPE_F64,
                                       image->data, plane->rows * plane->cells * sizeof(double))
                    : AIRY_ERR_MEMORY;
    if (status != AIRY_OK)
        airy_image_free(image);
    return status;
}

airy_status patterns_read_column(airy_image *column, const char *path, const char *name)
{
    char full[160];
    airy_result *result = NULL;
    airy_result_plane plane;
    airy_status status = patterns_open(&result, path);
    snprintf(full, sizeof(full), "frame/%.150s", name);
    if (status == AIRY_OK)
        status = airy_result_find_plane(result, full, &plane);
    if (status == AIRY_OK) {
        *column = (airy_image){.dtype = AIRY_DTYPE_F64,
                               .ndim = plane.ndim ? 2 : 1,
                               .shape = {plane.rows, plane.cells}};
        status = patterns_read_plane(column, result, &plane);
    }
    airy_result_close(&result);
    return status;
}

airy_status patterns_read_text(char **text, const char *path, const char *name)
{
    airy_result *result = NULL;
    airy_status status = patterns_open(&result, path);
    if (status == AIRY_OK)
        status = airy_result_get_text(result, name, text);
    airy_result_close(&result);
    return status;
}

void patterns_copy_axis(double **values, size_t *count, char label[128],
                        const airy_result_axis *axis)
{
    *values = malloc(axis->count * sizeof(double));
    *count = axis->count;
    if (*values)
        memcpy(*values, axis->values, axis->count * sizeof(double));
    if (*axis->label)
        snprintf(label, 128, "%.127s", axis->label);
}

/* All rows of a plane; malloc'ed. */
static airy_status read_rows(float **values, airy_result *result, const airy_result_plane *plane)
{
    const size_t size = plane->rows * plane->cells * sizeof(float);
    *values = malloc(size ? size : 1);
    return *values ? airy_result_read(result, plane->name, 0, plane->rows, AIRY_DTYPE_F32, *values,
                                      size)
                   : AIRY_ERR_MEMORY;
}

/* Rows that failed or are not done yet become NaN. */
static void hide_rows(struct patterns *patterns, const airy_result *result)
{
    const size_t cells = patterns->azimuth_bins * patterns->bins;
    for (size_t row = 0; row < patterns->frames; row++) {
        const airy_row state = airy_result_get_row(result, row);
        patterns->pending += state == AIRY_ROW_PENDING;
        for (size_t i = 0; state != AIRY_ROW_GOOD && i < cells; i++)
            patterns->values[row * cells + i] = NAN;
    }
}

static airy_status load_result(struct patterns *patterns, airy_result *result)
{
    airy_result_axis axis;
    airy_result_plane plane, errors;
    airy_result_info info;
    airy_status status = airy_result_get_info(result, &info);
    if (status == AIRY_OK)
        status = airy_result_find_plane(result, "result/intensity", &plane);
    if (status == AIRY_OK)
        status = airy_result_get_axis(result, 0, &axis);
    if (status != AIRY_OK)
        return status;
    patterns_copy_axis(&patterns->radial, &patterns->bins, patterns->label, &axis);
    patterns->unfinished = !info.complete;
    patterns->azimuth_bins = 1;
    if (info.axes > 1 && airy_result_get_axis(result, 1, &axis) == AIRY_OK)
        patterns_copy_axis(&patterns->azimuth, &patterns->azimuth_bins, patterns->azimuth_label,
                           &axis);
    if (!patterns->radial || (info.axes > 1 && !patterns->azimuth))
        return AIRY_ERR_MEMORY;
    patterns->frames = plane.rows;
    status = read_rows(&patterns->values, result, &plane);
    if (status != AIRY_OK)
        return status;
    hide_rows(patterns, result);
    const bool known = airy_result_find_plane(result, "result/sem", &errors) == AIRY_OK ||
                       airy_result_find_plane(result, "result/intensity_errors", &errors) ==
                           AIRY_OK;
    return known && errors.has_rows && errors.cells == plane.cells
               ? read_rows(&patterns->errors, result, &errors)
               : AIRY_OK;
}

static int load_hdf5(struct patterns *patterns, const struct common *common, const char *path)
{
    airy_result *result = NULL;
    airy_status status = patterns_open(&result, path);
    if ((status == AIRY_ERR_FORMAT || status == AIRY_ERR_NOT_FOUND) && tool_exists(path))
        return tool_fail(common, "expected a result of 'airy integrate': %s", airy_last_error());
    if (status == AIRY_OK)
        status = load_result(patterns, result);
    airy_result_close(&result);
    return status == AIRY_OK           ? AIRY_EXIT_OK
           : status == AIRY_ERR_MEMORY ? tool_fail(common, "%s: out of memory for its rows", path)
                                       : tool_failed(common, status);
}

/* A line is one of Fit2D's first four, title, axis, intensity, number of points; the axis is kept. */
static bool take_chi_header(struct patterns *patterns, const char *line, size_t number)
{
    enum { AXIS = 2, LAST = 4 };
    if (number == AXIS)
        snprintf(patterns->label, sizeof(patterns->label), "%.127s",
                 strcmp(line, CHI_TWO_THETA) == 0 ? airy_unit_label(AIRY_UNIT_TTH_DEG) : line);
    return number <= LAST;
}

/* How many numbers a line has, at most three, and nothing else but a comment; 0: it is no such line. */
static int take_columns(double v[3], const char *text)
{
    int count = 0;
    v[2] = 0;
    for (char *end; count < 3; count++, text = end + strspn(end, " \t,;")) {
        v[count] = strtod(text, &end);
        if (end == text)
            break;
        if (*end && !strchr(" \t,;", *end))
            return 0;
    }
    return !*text || *text == '#' ? count : 0;
}

/* Four numbers or more. */
static bool has_more(const char *text)
{
    int count = 0;
    for (char *end; count < 4 && (strtod(text, &end), end != text); count++)
        text = end + strspn(end, " \t,;");
    return count == 4;
}

/* Behind "expected two or three columns of numbers", where a line has more. */
static const char one_table[] = ", it has more; a table of --one-table holds several patterns: "
                                "integrate into .h5, or without --one-table";

/* Lines of two or three numbers: points[3 n], malloc'ed. */
static int read_points(double **points, size_t *count, int *columns, struct patterns *patterns,
                       const struct common *common, const char *path)
{
    struct text_lines lines;
    if (!text_open(&lines, common, "", path))
        return AIRY_EXIT_FAILED;
    size_t room = 0;
    bool chi = false;
    int code = AIRY_EXIT_OK;
    for (const char *line; (line = text_next(&lines, &code)) != NULL;) {
        const char *text = line + strspn(line, " \t");
        if (lines.number == 1)
            chi = tool_has_suffix(path, ".chi") && *line != '#';
        if (chi && take_chi_header(patterns, line, lines.number))
            continue;
        airy_unit unit;
        char word[64];
        if (*text == '#' && sscanf(text + 1, "%63s", word) == 1 &&
            airy_unit_parse(&unit, word) == AIRY_OK)
            snprintf(patterns->label, sizeof(patterns->label), "%s", airy_unit_label(unit));
        if (*text == '#' || !*text)
            continue;
        if (*count == room) {
            room = room ? 2 * room : 1024;
            double *more = realloc(*points, 3 * room * sizeof(double));
            if (!more) {
                code = tool_fail(common, "%s: out of memory for %zu lines", path, room);
                break;
            }
            *points = more;
        }
        double *v = *points + 3 * *count;
        const int got = take_columns(v, text);
        if (got < 2 || (*columns && got != *columns))
            code = tool_fail(common, "%s line %zu: expected two or three columns of numbers%s",
                             path, lines.number, has_more(text) ? one_table : "");
        *columns = got;
        ++*count;
    }
    text_close(&lines);
    if (code == AIRY_EXIT_OK && *count == 0)
        code = tool_fail(common, "%s: has no lines of numbers", path);
    return code;
}

static int load_text(struct patterns *patterns, const struct common *common, const char *path)
{
    double *points = NULL;
    size_t n = 0;
    int columns = 0, code = read_points(&points, &n, &columns, patterns, common, path);
    if (code == AIRY_EXIT_OK) {
        patterns->radial = malloc(n * sizeof(double));
        patterns->values = malloc(n * sizeof(float));
        patterns->errors = columns == 3 ? malloc(n * sizeof(float)) : NULL;
        if (!patterns->radial || !patterns->values || (columns == 3 && !patterns->errors))
            code = tool_fail(common, "%s: out of memory for %zu lines", path, n);
    }
    for (size_t i = 0; code == AIRY_EXIT_OK && i < n; i++) {
        patterns->radial[i] = points[3 * i];
        patterns->values[i] = (float)points[3 * i + 1];
        if (columns == 3)
            patterns->errors[i] = (float)points[3 * i + 2];
    }
    patterns->frames = patterns->azimuth_bins = 1;
    patterns->bins = n;
    free(points);
    return code;
}

int patterns_load(struct patterns *patterns, const struct common *common, const char *path)
{
    memset(patterns, 0, sizeof(*patterns));
    snprintf(patterns->label, sizeof(patterns->label), "radius");
    return is_hdf5(path) ? load_hdf5(patterns, common, path) : load_text(patterns, common, path);
}

/* Names of a group's numbers, or maps, with commas between them; how many there are. */
static size_t list_names(char names[512], const char *path, const char *group, int ndim)
{
    airy_result *result = NULL;
    airy_result_info info;
    airy_result_plane plane;
    const size_t length = strlen(group);
    size_t found = 0, used = 0;
    names[0] = 0;
    if (patterns_open(&result, path) != AIRY_OK)
        return 0;
    for (size_t i = 0; airy_result_get_info(result, &info) == AIRY_OK && i < info.planes &&
                       airy_result_get_plane(result, i, &plane) == AIRY_OK;
         i++) {
        if (strncmp(plane.name, group, length) != 0 || plane.ndim != ndim || plane.text ||
            plane.has_rows != (ndim == 0))
            continue;
        found++;
        if (used < 512)
            used += (size_t)snprintf(names + used, 512 - used, "%s%s", used ? ", " : "",
                                     plane.name + length);
    }
    if (used >= 512)
        memcpy(names + 508, "...", 4);
    airy_result_close(&result);
    return found;
}

int patterns_lacks(const struct common *common, const char *path, const char *option,
                   const char *name)
{
    const bool map = strcmp(option, "map") == 0;
    char names[512], why[1024];
    snprintf(why, sizeof(why), "%s", airy_last_error());
    if (list_names(names, path, map ? "map/" : "frame/", map ? 2 : 0))
        return tool_fail(common, "--%s %s: %s; there are: %s", option, name, why, names);
    return tool_fail(common, "--%s %s: %s", option, name,
                     map && tool_exists(path)
                         ? "the result has no maps, which 'airy integrate --grid' makes"
                         : why);
}

struct place {
    double value;
    size_t frame;
};

static int by_value(const void *a, const void *b)
{
    const struct place *p = a, *q = b;
    return p->value < q->value ? -1 : p->value > q->value ? 1 : (p->frame > q->frame) * 2 - 1;
}

/* Rows of `bins` values in the order of places. */
static bool move_rows(float **rows, const struct place *places, size_t frames, size_t bins)
{
    if (!*rows)
        return true;
    float *moved = malloc(frames * bins * sizeof(float));
    for (size_t i = 0; moved && i < frames; i++)
        memcpy(moved + i * bins, *rows + places[i].frame * bins, bins * sizeof(float));
    if (moved) {
        free(*rows);
        *rows = moved;
    }
    return moved != NULL;
}

static void label_axis(struct patterns *patterns, const char *path, const char *name)
{
    char full[160];
    airy_result *result = NULL;
    airy_result_plane plane = {.units = ""};
    snprintf(full, sizeof(full), "frame/%.150s", name);
    if (patterns_open(&result, path) == AIRY_OK)
        (void)airy_result_find_plane(result, full, &plane);
    snprintf(patterns->along_label, sizeof(patterns->along_label),
             *plane.units ? "%.100s (%.50s)" : "%.100s", name, plane.units);
    airy_result_close(&result);
}

/* The values, checked; `path` is the result. */
static int read_places(struct place *places, const struct patterns *patterns,
                       const struct common *common, const char *path, const char *name)
{
    airy_image image = {0};
    if (patterns_read_column(&image, path, name) != AIRY_OK)
        return patterns_lacks(common, path, "axis", name);
    int code = AIRY_EXIT_OK;
    const size_t values = tool_count(image.shape, image.ndim);
    if (values != patterns->frames)
        code = tool_fail(common,
                         "--axis %s: it has %zu value%s, expected one for each of %zu frame%s",
                         name, values, tool_s(values), patterns->frames, tool_s(patterns->frames));
    for (size_t i = 0; code == AIRY_EXIT_OK && i < patterns->frames; i++) {
        places[i] = (struct place){airy_image_value(&image, i), i};
        if (!isfinite(places[i].value))
            code = tool_fail(common, "--axis %s: frame %zu has no finite value", name, i);
    }
    airy_image_free(&image);
    return code;
}

int patterns_sort(struct patterns *patterns, const struct common *common, const char *path,
                  const char *name)
{
    const size_t frames = patterns->frames, bins = patterns->bins;
    if (!is_hdf5(path) || patterns->azimuth || frames < 2)
        return tool_fail(
            common, "--axis %s: expected a result in HDF5, of one dimension and several frames",
            name);
    struct place *places = malloc(frames * sizeof(places[0]));
    patterns->along = malloc(frames * sizeof(double));
    if (!places || !patterns->along) {
        free(places);
        return tool_fail(common, "out of memory for %zu values", frames);
    }
    int code = read_places(places, patterns, common, path, name);
    if (code == AIRY_EXIT_OK) {
        qsort(places, frames, sizeof(places[0]), by_value);
        if (!(places[0].value < places[frames - 1].value))
            code = tool_fail(common, "--axis %s: all frames have the same value", name);
        else if (!move_rows(&patterns->values, places, frames, bins) ||
                 !move_rows(&patterns->errors, places, frames, bins))
            code = tool_fail(common, "out of memory for %zu frames", frames);
    }
    for (size_t i = 0; code == AIRY_EXIT_OK && i < frames; i++)
        patterns->along[i] = places[i].value;
    if (code == AIRY_EXIT_OK)
        label_axis(patterns, path, name);
    free(places);
    return code;
}
