#include "patterns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image_util.h"

static const char RESULT[] = "/entry/integrate/result";

bool patterns_is_hdf5(const char *path)
{
    return strstr(path, "::") || tool_has_suffix(path, ".h5") || tool_has_suffix(path, ".hdf5") ||
           tool_has_suffix(path, ".nxs") || tool_has_suffix(path, ".partial");
}

void patterns_free(struct patterns *patterns)
{
    free(patterns->radial);
    free(patterns->values);
    free(patterns->errors);
    memset(patterns, 0, sizeof(*patterns));
}

/* All elements of a dataset of the result as doubles. */
static airy_status read_dataset(const char *path, const char *name, double **values, size_t shape[2])
{
    char where[4400];
    airy_image image = {0};
    snprintf(where, sizeof(where), "%s::%s/%s", path, RESULT, name);
    const airy_status status = airy_image_read(&image, where);
    if (status != AIRY_OK)
        return status;
    const size_t count = tool_count(image.shape, image.ndim);
    shape[1] = image.shape[image.ndim - 1];
    shape[0] = count / shape[1];
    *values = malloc(count * sizeof(double));
    for (size_t i = 0; *values && i < count; i++)
        (*values)[i] = image_value(image.dtype, image.data, i);
    airy_image_free(&image);
    return *values ? AIRY_OK : AIRY_ERR_MEMORY;
}

/* Name of the dataset of standard errors, or NULL. It has two names, of which a listing shows one. */
static const char *find_errors(const char *path)
{
    static const char *const names[] = {"intensity_errors", "sem"};
    airy_hdf5_entry *entries = NULL;
    size_t count = 0;
    const char *found = NULL;
    if (airy_hdf5_list(&entries, &count, path) != AIRY_OK)
        return NULL;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < 2; k++) {
            char object[128];
            snprintf(object, sizeof(object), "%s/%s", RESULT, names[k]);
            if (strcmp(entries[i].path, object) == 0)
                found = names[k];
        }
    airy_hdf5_list_free(entries);
    return found;
}

static int load_hdf5(struct patterns *patterns, const struct common *common, const char *path)
{
    size_t shape[2], axis[2];
    airy_status status = read_dataset(path, "intensity", &patterns->values, shape);
    if (status == AIRY_OK)
        status = read_dataset(path, "radial", &patterns->radial, axis);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    patterns->frames = shape[0];
    patterns->bins = shape[1];
    if (axis[0] * axis[1] != shape[1])
        return tool_fail(common, "%s: radial has %zu elements, intensity %zu bins; is it a result of 'airy integrate'?",
                         path, axis[0] * axis[1], shape[1]);
    char *label = NULL, object[128];
    snprintf(object, sizeof(object), "%s/radial@long_name", RESULT);
    if (airy_hdf5_text(&label, path, object) == AIRY_OK)
        snprintf(patterns->label, sizeof(patterns->label), "%s", label);
    free(label);
    const char *errors = find_errors(path);
    if (errors && (status = read_dataset(path, errors, &patterns->errors, axis)) != AIRY_OK)
        return tool_failed(common, status);
    if (errors && (axis[0] != shape[0] || axis[1] != shape[1]))
        return tool_fail(common, "%s: %s has another shape than intensity", path, errors);
    return AIRY_EXIT_OK;
}

/* Room for one more of n values; false when memory is short. */
static bool grow(double **values, size_t n)
{
    if (n & (n - 1) || (n && n < 64))
        return true; /* grows at powers of two only */
    double *more = realloc(*values, (n < 64 ? 64 : 2 * n) * sizeof(double));
    *values = more ? more : *values;
    return more != NULL;
}

static int load_text(struct patterns *patterns, const struct common *common, const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return tool_fail(common, "%s: cannot be opened; check path and permissions", path);
    char line[1024];
    size_t n = 0, number = 0;
    int columns = 0, code = AIRY_EXIT_OK;
    while (code == AIRY_EXIT_OK && fgets(line, sizeof(line), file)) {
        number++;
        const char *text = line + strspn(line, " \t");
        airy_unit unit;
        char word[64];
        if (*text == '#' && sscanf(text + 1, "%63s", word) == 1 && airy_unit_parse(&unit, word) == AIRY_OK)
            snprintf(patterns->label, sizeof(patterns->label), "%s", airy_unit_label(unit));
        if (*text == '#' || *text == '\n' || *text == '\r' || !*text)
            continue;
        double v[3] = {0, 0, 0};
        const int got = sscanf(text, "%lf%*[ \t,;]%lf%*[ \t,;]%lf", &v[0], &v[1], &v[2]);
        if (got < 2 || (columns && got != columns))
            code = tool_fail(common, "%s line %zu: expected two or three columns of numbers", path, number);
        else if (!grow(&patterns->radial, n) || !grow(&patterns->values, n) || !grow(&patterns->errors, n))
            code = tool_fail(common, "%s: out of memory", path);
        else {
            columns = got;
            patterns->radial[n] = v[0];
            patterns->values[n] = v[1];
            patterns->errors[n++] = v[2];
        }
    }
    fclose(file);
    if (code == AIRY_EXIT_OK && n == 0)
        code = tool_fail(common, "%s: has no lines of numbers", path);
    if (columns < 3) {
        free(patterns->errors);
        patterns->errors = NULL;
    }
    patterns->frames = 1;
    patterns->bins = n;
    return code;
}

int patterns_load(struct patterns *patterns, const struct common *common, const char *path)
{
    memset(patterns, 0, sizeof(*patterns));
    snprintf(patterns->label, sizeof(patterns->label), "radius");
    return patterns_is_hdf5(path) ? load_hdf5(patterns, common, path) : load_text(patterns, common, path);
}
