#include "result/patterns.h"
#include "cli/text_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char RESULT[] = "/entry/integrate/result";

bool patterns_is_hdf5(const char *path)
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

/* A dataset of the result; shape as rows and columns. */
static airy_status read_dataset(airy_image *image, size_t shape[2], const char *path,
                                const char *name)
{
    char where[4400];
    snprintf(where, sizeof(where), "%s::%s/%s", path, RESULT, name);
    const airy_status status = airy_image_read_real(image, where);
    if (status == AIRY_OK) {
        shape[1] = image->shape[image->ndim - 1];
        shape[0] = tool_count(image->shape, image->ndim) / shape[1];
    }
    return status;
}

/* Rows of floats; results hold them as floats, so that the memory is only handed on. */
static airy_status read_rows(float **values, size_t shape[2], const char *path, const char *name)
{
    airy_image image = {0};
    const airy_status status = read_dataset(&image, shape, path, name);
    if (status != AIRY_OK)
        return status;
    if (image.dtype == AIRY_DTYPE_F32) {
        *values = image.data;
        return AIRY_OK;
    }
    *values = malloc(shape[0] * shape[1] * sizeof(float));
    for (size_t i = 0; *values && i < shape[0] * shape[1]; i++)
        (*values)[i] = (float)airy_image_value(&image, i);
    airy_image_free(&image);
    return *values ? AIRY_OK : AIRY_ERR_MEMORY;
}

static airy_status read_axis(double **values, size_t *count, const char *path, const char *name)
{
    airy_image image = {0};
    size_t shape[2];
    const airy_status status = read_dataset(&image, shape, path, name);
    if (status != AIRY_OK)
        return status;
    *count = shape[0] * shape[1];
    *values = malloc(*count * sizeof(double));
    for (size_t i = 0; *values && i < *count; i++)
        (*values)[i] = airy_image_value(&image, i);
    airy_image_free(&image);
    return *values ? AIRY_OK : AIRY_ERR_MEMORY;
}

/* The one of these datasets that the result has, or NULL; a listing shows one name of each. */
static const char *find_dataset(const char *path, const char *const names[2])
{
    airy_hdf5_entry *entries = NULL;
    size_t count = 0;
    const char *found = NULL;
    if (airy_hdf5_list(&entries, &count, path) != AIRY_OK)
        return NULL;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < 2 && names[k]; k++) {
            char object[128];
            snprintf(object, sizeof(object), "%s/%s", RESULT, names[k]);
            if (strcmp(entries[i].path, object) == 0)
                found = names[k];
        }
    airy_hdf5_list_free(entries);
    return found;
}

airy_status patterns_read_column(airy_image *column, const char *path, const char *name)
{
    char where[4600];
    snprintf(where, sizeof(where), "%.4400s::/entry/integrate/frame/%s", path, name);
    return airy_image_read_real(column, where);
}

json_t *patterns_read_configuration(airy_status *status, const char *path)
{
    char *text = NULL;
    *status = airy_hdf5_text(&text, path, "/entry/integrate/configuration");
    json_t *json = *status == AIRY_OK ? json_loads(text, 0, NULL) : NULL;
    free(text);
    return json;
}

/*
 * Rows that failed or are not done yet (frame/status is not 0) become NaN; files without a status
 * have none.
 */
static int hide_rows(struct patterns *patterns, const struct common *common, const char *path)
{
    airy_image image = {0};
    if (patterns_read_column(&image, path, "status") != AIRY_OK)
        return AIRY_EXIT_OK;
    if (tool_count(image.shape, image.ndim) != patterns->frames) {
        airy_image_free(&image);
        return tool_fail(common, "%s: frame/status has another number of frames than intensity",
                         path);
    }
    for (size_t row = 0; row < patterns->frames; row++) {
        const double state = airy_image_value(&image, row);
        patterns->pending += state < 0;
        const size_t cells = patterns->azimuth_bins * patterns->bins;
        for (size_t i = 0; state != 0 && i < cells; i++)
            patterns->values[row * cells + i] = NAN;
    }
    airy_image_free(&image);
    return AIRY_EXIT_OK;
}

static void read_label(char text[128], const char *path, const char *axis)
{
    char *label = NULL, object[128];
    snprintf(object, sizeof(object), "%s/%s@long_name", RESULT, axis);
    if (airy_hdf5_text(&label, path, object) == AIRY_OK)
        snprintf(text, 128, "%s", label);
    free(label);
}

static int load_hdf5(struct patterns *patterns, const struct common *common, const char *path)
{
    static const char *const azimuth[2] = {"azimuthal"}, *const error_names[2] = {
                                                             "intensity_errors", "sem"};
    size_t shape[2], other[2], bins = 0;
    airy_status status = read_rows(&patterns->values, shape, path, "intensity");
    if (status == AIRY_OK)
        status = read_axis(&patterns->radial, &bins, path, "radial");
    patterns->azimuth_bins = 1;
    if (status == AIRY_OK && find_dataset(path, azimuth))
        status = read_axis(&patterns->azimuth, &patterns->azimuth_bins, path, "azimuthal");
    if (status == AIRY_ERR_NOT_FOUND && tool_exists(path))
        return tool_fail(common, "%s is not a result of 'airy integrate': it lacks %s/%s", path,
                         RESULT, patterns->values ? "radial" : "intensity");
    if (status != AIRY_OK)
        return tool_failed(common, status);
    if (shape[0] % patterns->azimuth_bins != 0)
        return tool_fail(common, "%s: intensity has %zu row%s, azimuthal %zu value%s", path,
                         shape[0], tool_s(shape[0]), patterns->azimuth_bins,
                         tool_s(patterns->azimuth_bins));
    patterns->frames = shape[0] / patterns->azimuth_bins;
    patterns->bins = shape[1];
    if (bins != shape[1])
        return tool_fail(
            common,
            "%s: radial has %zu elements, intensity %zu bins; is it a result of 'airy integrate'?",
            path, bins, shape[1]);
    const int code = hide_rows(patterns, common, path);
    if (code != AIRY_EXIT_OK)
        return code;
    read_label(patterns->label, path, "radial");
    if (patterns->azimuth)
        read_label(patterns->azimuth_label, path, "azimuthal");
    const char *errors = find_dataset(path, error_names);
    if (errors && (status = read_rows(&patterns->errors, other, path, errors)) != AIRY_OK)
        return tool_failed(common, status);
    if (errors && (other[0] != shape[0] || other[1] != shape[1]))
        return tool_fail(common, "%s: %s has another shape than intensity", path, errors);
    return AIRY_EXIT_OK;
}

/* Fit2D's four lines: title, axis, intensity, number of points; others begin with #. */
static void skip_chi_header(FILE *file, size_t *number, struct patterns *patterns, const char *path)
{
    char line[1024];
    const int first = tool_has_suffix(path, ".chi") ? fgetc(file) : EOF;
    if (first == EOF || ungetc(first, file) == EOF || first == '#')
        return;
    for (size_t lines = 0; lines < 4 && fgets(line, sizeof(line), file) && line[0];) {
        const bool ends = strchr(line, '\n') != NULL;
        line[strcspn(line, "\r\n")] = 0;
        if (lines == 1 && ends)
            snprintf(patterns->label, sizeof(patterns->label), "%.127s",
                     strcmp(line, CHI_TWO_THETA) == 0 ? airy_unit_label(AIRY_UNIT_TTH_DEG) : line);
        lines += ends;
        *number += ends;
    }
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

/* Lines of two or three numbers: points[3 n], malloc'ed. */
static int read_points(double **points, size_t *count, int *columns, struct patterns *patterns,
                       const struct common *common, const char *path)
{
    char why[TEXT_WHY];
    struct text_lines lines = {
        .common = common, .option = "", .path = path, .file = tool_open_text(why, path)};
    if (!lines.file)
        return tool_fail(common, "%s: cannot be opened (%s)", path, why);
    size_t room = 0;
    int code = AIRY_EXIT_OK;
    skip_chi_header(lines.file, &lines.number, patterns, path);
    for (const char *line; (line = text_next(&lines, &code)) != NULL;) {
        const char *text = line + strspn(line, " \t");
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
            code = tool_fail(common, "%s line %zu: expected two or three columns of numbers", path,
                             lines.number);
        *columns = got;
        ++*count;
    }
    fclose(lines.file);
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
    return patterns_is_hdf5(path) ? load_hdf5(patterns, common, path)
                                  : load_text(patterns, common, path);
}

/* Names of the numbers of ndim dimensions in a group of the result, with commas between them; how many there are. */
static size_t list_names(char names[512], const char *path, const char *group, int ndim)
{
    airy_hdf5_entry *entries = NULL;
    size_t count = 0, found = 0, used = 0;
    names[0] = 0;
    if (airy_hdf5_list(&entries, &count, path) != AIRY_OK)
        return 0;
    const size_t length = strlen(group);
    for (size_t i = 0; i < count; i++) {
        const airy_hdf5_entry *e = &entries[i];
        if (strncmp(e->path, group, length) != 0 || e->ndim != ndim ||
            strcmp(e->dtype, "string") == 0)
            continue;
        found++;
        if (used < 512)
            used += (size_t)snprintf(names + used, 512 - used, "%s%s", used ? ", " : "",
                                     e->path + length);
    }
    if (used >= 512)
        memcpy(names + 508, "...", 4);
    airy_hdf5_list_free(entries);
    return found;
}

int patterns_lacks(const struct common *common, const char *path, const char *option,
                   const char *name)
{
    const bool map = strcmp(option, "map") == 0;
    char names[512], why[1024];
    snprintf(why, sizeof(why), "%s", airy_last_error());
    if (list_names(names, path, map ? "/entry/integrate/map/" : "/entry/integrate/frame/", 1 + map))
        return tool_fail(common, "--%s %s: %s; there are: %s", option, name, why, names);
    return tool_fail(common, "--%s %s: %s", option, name,
                     map ? "the result has no maps, which 'airy integrate --grid' makes" : why);
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
    char object[256], *units = NULL;
    snprintf(object, sizeof(object), "/entry/integrate/frame/%s@units", name);
    const bool has = airy_hdf5_text(&units, path, object) == AIRY_OK && *units;
    snprintf(patterns->along_label, sizeof(patterns->along_label),
             has ? "%.100s (%.50s)" : "%.100s", name, units);
    free(units);
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
    if (!patterns_is_hdf5(path) || patterns->azimuth || frames < 2)
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
