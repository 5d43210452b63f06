/* OCT plans from JSON; what they mean is docs/oct.md's. */
#include "airy/oct_config.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/size.h"
#include "base/word.h"
#include "io/oct/table.h"
#include "io/oct/words.h"
#include "io/file/json_error.h"
#include "io/file/plain_file.h"

enum {
    MAX_PLAN = 1 << 20, /* bytes */
    TABLES = 4          /* background, axis, window, dispersion */
};

struct plan {
    airy_oct_config *config;
    airy_oct_params *p;
    const char *path;
    double *block; /* TABLES of AIRY_OCT_MAX_SAMPLES */
    size_t tables; /* that are taken */
};

/* "KEY = VALUE, expected WHAT" */
static airy_status unexpected(airy_status status, const char *key, const json_t *value,
                              const char *what)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII |
                                       JSON_REAL_PRECISION(9));
    const size_t n = text ? strlen(text) : 0;
    status = airy_fail_on(status, AIRY_SUBJECT_PARAMETER, "%s = %.60s%s, expected %s", key,
                          text ? text : "?", n > 60 ? "..." : "", what);
    free(text);
    return status;
}

static airy_status read_count(size_t *count, const char *key, const json_t *value, size_t lo,
                              size_t hi)
{
    char what[80];
    snprintf(what, sizeof(what), "an integer from %zu to %zu", lo, hi);
    if (!json_is_integer(value))
        return unexpected(AIRY_ERR_FORMAT, key, value, what);
    const json_int_t got = json_integer_value(value);
    if (got < 0 || (size_t)got < lo || (size_t)got > hi)
        return unexpected(AIRY_ERR_PARAM, key, value, what);
    *count = (size_t)got;
    return AIRY_OK;
}

/* Above lo, at most hi. */
static airy_status read_number(double *number, const char *key, const json_t *value, double lo,
                               double hi)
{
    char what[80];
    if (lo > -INFINITY || hi < INFINITY)
        snprintf(what, sizeof(what), "a number above %g and at most %g", lo, hi);
    else
        snprintf(what, sizeof(what), "a number");
    if (!json_is_number(value))
        return unexpected(AIRY_ERR_FORMAT, key, value, what);
    const double got = json_number_value(value);
    if (!isfinite(got) || !(got > lo && got <= hi))
        return unexpected(AIRY_ERR_PARAM, key, value, what);
    *number = got;
    return AIRY_OK;
}

static airy_status read_flag(bool *flag, const char *key, const json_t *value)
{
    if (!json_is_boolean(value))
        return unexpected(AIRY_ERR_FORMAT, key, value, "true or false");
    *flag = json_is_true(value);
    return AIRY_OK;
}

static int find_word(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; text && i < count; i++)
        if (strcmp(text, words[i]) == 0)
            return (int)i;
    return -1;
}

static airy_status read_word(int *which, const char *key, const json_t *value,
                             const char *const *words, size_t count)
{
    char what[256];
    airy_join_words(what, sizeof(what), words, count);
    if (!json_is_string(value))
        return unexpected(AIRY_ERR_FORMAT, key, value, what);
    const int found = find_word(json_string_value(value), words, count);
    if (found < 0) {
        const char *near = airy_suggest_word(json_string_value(value), words, count);
        const size_t used = strlen(what);
        if (near)
            snprintf(what + used, sizeof(what) - used, "; did you mean '%s'?", near);
        return unexpected(AIRY_ERR_PARAM, key, value, what);
    }
    *which = found;
    return AIRY_OK;
}

/* An object with no other keys than these. */
static airy_status check_keys(const char *key, const json_t *value, const char *const *words,
                              size_t count)
{
    char what[512];
    const char *name;
    json_t *member;
    airy_join_words(what, sizeof(what), words, count);
    if (!json_is_object(value)) {
        char object[600];
        snprintf(object, sizeof(object), "an object with %s", what);
        return unexpected(AIRY_ERR_FORMAT, key, value, object);
    }
    json_object_foreach((json_t *)value, name, member)
    {
        const bool known = find_word(name, words, count) >= 0;
        const char *near = known ? NULL : airy_suggest_word(name, words, count);
        AIRY_FAIL_HINT_IF(near, AIRY_ERR_FORMAT, AIRY_HINT_STATED, AIRY_SUBJECT_PARAMETER,
                          "%s: key '%.40s' is not known, did you mean '%s'?", key, name, near);
        AIRY_FAIL_ON_IF(!known, AIRY_ERR_FORMAT, AIRY_SUBJECT_PARAMETER,
                        "%s: key '%.40s' is not known, expected %s", key, name, what);
    }
    return AIRY_OK;
}

/* A path beside the plan, malloc'ed. */
static airy_status beside(char **path, const char *plan, const char *name)
{
    const char *slash = strrchr(plan, '/');
    const int folder = slash && name[0] != '/' ? (int)(slash - plan + 1) : 0;
    AIRY_FAIL_IF(asprintf(path, "%.*s%s", folder, plan, name) < 0, AIRY_ERR_MEMORY,
                 "out of memory for a path");
    return AIRY_OK;
}

static airy_status read_list(double *values, size_t *count, const char *key, const json_t *list,
                             size_t most)
{
    char name[64];
    AIRY_FAIL_ON_IF(json_array_size(list) > most, AIRY_ERR_SHAPE, AIRY_SUBJECT_PARAMETER,
                    "%s has %zu numbers, expected at most %zu", key, json_array_size(list), most);
    for (size_t i = 0; i < json_array_size(list); i++) {
        snprintf(name, sizeof(name), "%s[%zu]", key, i);
        AIRY_TRY(read_number(&values[i], name, json_array_get(list, i), -INFINITY, INFINITY));
    }
    *count = json_array_size(list);
    return AIRY_OK;
}

enum { SAMPLES_FROM = sizeof(((airy_oct_config *)NULL)->samples_from) };

/* "background line.npy", or "background" of a list. */
static void name_table(char name[SAMPLES_FROM], const char *key, const json_t *value)
{
    const char *file = json_string_value(value);
    snprintf(name, SAMPLES_FROM, file ? "%.40s %.110s" : "%.40s", key, file);
}

/*
 * A table of samples numbers, a list of them or the name of a file. The first table says what
 * samples is where the plan does not.
 */
static airy_status read_table(double **table, struct plan *plan, const char *key,
                              const json_t *value)
{
    double *values = plan->block + plan->tables * AIRY_OCT_MAX_SAMPLES;
    size_t count = 0;
    char name[SAMPLES_FROM];
    if (json_is_array(value)) {
        AIRY_TRY(read_list(values, &count, key, value, AIRY_OCT_MAX_SAMPLES));
    } else if (json_is_string(value)) {
        char *path;
        AIRY_TRY(beside(&path, plan->path, json_string_value(value)));
        const airy_status status = airy_oct_table_read(values, &count, AIRY_OCT_MAX_SAMPLES, path);
        free(path);
        if (status != AIRY_OK)
            return airy_fail_context(status, "%s", key);
    } else {
        return unexpected(AIRY_ERR_FORMAT, key, value, "the name of a file or a list of numbers");
    }
    AIRY_FAIL_ON_IF(count < AIRY_OCT_MIN_SAMPLES, AIRY_ERR_SHAPE, AIRY_SUBJECT_PARAMETER,
                    "%s has %zu number%s, expected %d to %d", key, count, count == 1 ? "" : "s",
                    AIRY_OCT_MIN_SAMPLES, AIRY_OCT_MAX_SAMPLES);
    if (plan->p->samples == 0) {
        plan->p->samples = count;
        name_table(plan->config->samples_from, key, value);
    }
    name_table(name, key, value);
    AIRY_FAIL_ON_IF(count != plan->p->samples, AIRY_ERR_SHAPE, AIRY_SUBJECT_PARAMETER,
                    "%s has %zu numbers, expected %zu as given by %s", name, count,
                    plan->p->samples, plan->config->samples_from);
    plan->tables++;
    *table = values;
    return AIRY_OK;
}

static airy_status read_samples(struct plan *plan, const char *key, const json_t *value)
{
    snprintf(plan->config->samples_from, SAMPLES_FROM, "%s", key);
    return read_count(&plan->p->samples, key, value, AIRY_OCT_MIN_SAMPLES, AIRY_OCT_MAX_SAMPLES);
}

static airy_status read_lines(struct plan *plan, const char *key, const json_t *value)
{
    return read_count(&plan->p->lines, key, value, 1, AIRY_OCT_MAX_LINES);
}

static airy_status read_dtype(struct plan *plan, const char *key, const json_t *value)
{
    static const char *const names[] = {"f32",  "u8",     "u16",     "i16",    "i8",     "u32",
                                        "i32",  "f64",    "float32", "uint8",  "uint16", "int16",
                                        "int8", "uint32", "int32",   "float64"};
    static const airy_dtype types[] = {AIRY_DTYPE_F32, AIRY_DTYPE_U8, AIRY_DTYPE_U16,
                                       AIRY_DTYPE_I16, AIRY_DTYPE_I8, AIRY_DTYPE_U32,
                                       AIRY_DTYPE_I32, AIRY_DTYPE_F64};
    enum { TYPES = sizeof(types) / sizeof(types[0]), NATIVE = 4 };
    int which;
    AIRY_TRY(read_word(&which, key, value, OCT_WORDS(names)));
    which %= TYPES;
    plan->p->dtype = which < NATIVE ? types[which] : AIRY_DTYPE_F32;
    plan->config->converted = which < NATIVE ? AIRY_DTYPE_F32 : types[which];
    plan->config->has_dtype = true;
    return AIRY_OK;
}

/* Behind dtype: packed samples of 10 or 12 bits are unsigned, whatever it says of their size. */
static airy_status read_packing(struct plan *plan, const char *key, const json_t *value)
{
    int which;
    if (json_is_integer(value)) {
        const json_int_t bits = json_integer_value(value);
        if (bits != 10 && bits != 12)
            return unexpected(AIRY_ERR_PARAM, key, value, "none, 10 or 12");
        which = bits == 10 ? AIRY_OCT_PACKING_10 : AIRY_OCT_PACKING_12;
    } else {
        AIRY_TRY(read_word(&which, key, value, OCT_WORDS(oct_packings)));
    }
    plan->p->packing = (airy_oct_packing)which;
    if (which == AIRY_OCT_PACKING_NONE)
        return AIRY_OK;
    AIRY_FAIL_ON_IF(
        plan->config->has_dtype && plan->p->dtype != AIRY_DTYPE_U8 &&
            plan->p->dtype != AIRY_DTYPE_U16,
        AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
        "%s = %s with dtype = %s, expected dtype u16, u8 or none", "packing", oct_packings[which],
        airy_dtype_name(plan->config->converted ? plan->config->converted : plan->p->dtype));
    plan->p->dtype = AIRY_DTYPE_U8;
    plan->config->has_dtype = true;
    return AIRY_OK;
}

static airy_status read_byte_order(struct plan *plan, const char *key, const json_t *value)
{
    int which;
    AIRY_TRY(read_word(&which, key, value, OCT_WORDS(oct_byte_orders)));
    plan->p->big_endian = which == 1;
    return AIRY_OK;
}

static airy_status read_header_bytes(struct plan *plan, const char *key, const json_t *value)
{
    size_t bytes = 0;
    AIRY_TRY(read_count(&bytes, key, value, 0, (size_t)1 << 50));
    plan->config->header_bytes = bytes;
    return AIRY_OK;
}

static airy_status read_bit_shift(struct plan *plan, const char *key, const json_t *value)
{
    size_t shift = 0;
    AIRY_TRY(read_count(&shift, key, value, 0, 15));
    plan->p->bit_shift = (int)shift;
    return AIRY_OK;
}

static airy_status read_background(struct plan *plan, const char *key, const json_t *value)
{
    static const char rolling[] = "rolling:";
    airy_oct_params *p = plan->p;
    const char *text = json_string_value(value);
    if (text && strcmp(text, "none") == 0)
        return AIRY_OK;
    if (text && strcmp(text, "mean") == 0) {
        p->background = AIRY_OCT_BACKGROUND_MEAN;
        return AIRY_OK;
    }
    if (text && strncmp(text, rolling, sizeof(rolling) - 1) == 0) {
        const char *digits = text + sizeof(rolling) - 1;
        char *end;
        const unsigned long width = strtoul(digits, &end, 10);
        if (*digits < '0' || *digits > '9' || *end || width < 1 || width > AIRY_OCT_MAX_SAMPLES)
            return unexpected(AIRY_ERR_PARAM, key, value,
                              "rolling:W with W from 1 to the number of samples");
        p->background = AIRY_OCT_BACKGROUND_ROLLING;
        p->rolling = width;
        return AIRY_OK;
    }
    double *table;
    AIRY_TRY(read_table(&table, plan, key, value));
    p->background = AIRY_OCT_BACKGROUND_LINE;
    p->background_line = table;
    return AIRY_OK;
}

static bool is_monotonic(const double *table, size_t count)
{
    const bool rises = table[1] > table[0];
    for (size_t i = 1; i < count; i++)
        if (rises ? !(table[i] > table[i - 1]) : !(table[i] < table[i - 1]))
            return false;
    return true;
}

/*
 * Positions at equal steps of a table that rises or falls: what wavelength meters come with as
 * their chirp, the place of each sample on an axis of equal steps of k.
 */
static airy_status invert_chirp(struct plan *plan, double *chirp)
{
    const size_t n = plan->p->samples;
    double positions[AIRY_OCT_MAX_SAMPLES];
    AIRY_FAIL_IF(!is_monotonic(chirp, n), AIRY_ERR_PARAM,
                 "axis chirp: numbers neither rise nor fall all along");
    const double step = (chirp[n - 1] - chirp[0]) / (double)(n - 1);
    for (size_t j = 0, i = 0; j < n; j++) {
        const double along = (double)j * step; /* from the first one, of the sign of step */
        while (i + 2 < n && fabs(chirp[i + 1] - chirp[0]) <= fabs(along))
            i++;
        const double part = (chirp[0] - chirp[i] + along) / (chirp[i + 1] - chirp[i]);
        positions[j] = fmin((double)i + part, (double)(n - 1));
    }
    memcpy(chirp, positions, n * sizeof(*chirp));
    return AIRY_OK;
}

/* "unit" of wavelengths, or of 1/k, in m. */
static airy_status read_unit(double *unit, const json_t *axis)
{
    static const char *const names[] = {"m", "um", "nm"};
    static const double units[] = {1, 1e-6, 1e-9};
    const json_t *value = json_object_get(axis, "unit");
    int which = 0;
    if (value)
        AIRY_TRY(read_word(&which, "axis unit", value, OCT_WORDS(names)));
    *unit = units[which];
    return AIRY_OK;
}

/* A table of 2 pi / wavelength: its 1/k would be light that air absorbs, but not 2 pi times that. */
static airy_status check_wavenumber(double k)
{
    const double pi = 3.14159265358979323846;
    AIRY_FAIL_IF(1 / k >= 60e-9 && 1 / k < 300e-9, AIRY_ERR_PARAM,
                 "axis k has %g 1/m, which is 1/wavelength of %.4g nm, but 2 pi / wavelength of "
                 "%.4g nm; expected 1/wavelength: divide by 2 pi",
                 k, 1e9 / k, 2e9 * pi / k);
    return AIRY_OK;
}

static airy_status scale_axis(struct plan *plan, double *table, double unit)
{
    airy_oct_params *p = plan->p;
    const bool is_k = p->axis == AIRY_OCT_AXIS_K;
    for (size_t i = 0; i < p->samples && unit != 1; i++)
        table[i] = is_k ? table[i] / unit : table[i] * unit;
    for (size_t i = 0; i < p->samples; i++) {
        const double wavelength = is_k ? 1 / table[i] : table[i];
        /* Light: an X-ray is shorter, and a table in nm that says nothing is above. */
        AIRY_FAIL_IF(!(table[i] > 0) || !(wavelength >= 1e-9 && wavelength <= 1e-3), AIRY_ERR_PARAM,
                     "axis %s[%zu] = %g %s, expected wavelengths from 1e-9 to 1e-3 m; \"unit\": "
                     "\"nm\" or \"um\" names another unit",
                     is_k ? "k" : "wavelength", i, table[i], is_k ? "1/m" : "m");
    }
    if (is_k)
        AIRY_TRY(check_wavenumber(table[0]));
    AIRY_FAIL_IF(!is_monotonic(table, p->samples), AIRY_ERR_PARAM,
                 "axis %s: numbers neither rise nor fall all along", is_k ? "k" : "wavelength");
    return AIRY_OK;
}

static airy_status read_poly(double poly[AIRY_OCT_TERMS], const char *key, const json_t *value)
{
    size_t count = 0;
    if (!json_is_array(value) || json_array_size(value) < 1 ||
        json_array_size(value) > AIRY_OCT_TERMS)
        return unexpected(AIRY_ERR_FORMAT, key, value, "a list of 1 to 4 numbers");
    return read_list(poly, &count, key, value, AIRY_OCT_TERMS);
}

/* Wavelengths of a spectrometer's own polynomial of t = i / (samples - 1). */
static airy_status read_wavelength_poly(struct plan *plan, const char *key, const json_t *value,
                                        double unit)
{
    enum { TERMS = 8 };
    double c[TERMS] = {0};
    size_t terms = 0;
    const size_t n = plan->p->samples;
    if (!json_is_array(value) || json_array_size(value) < 2 || json_array_size(value) > TERMS)
        return unexpected(AIRY_ERR_FORMAT, key, value, "a list of 2 to 8 numbers");
    AIRY_TRY(read_list(c, &terms, key, value, TERMS));
    AIRY_FAIL_ON_IF(n == 0, AIRY_ERR_FORMAT, AIRY_SUBJECT_PARAMETER,
                    "%s: expected the plan to give samples also", key);
    double *table = plan->block + plan->tables++ * AIRY_OCT_MAX_SAMPLES;
    for (size_t i = 0; i < n; i++) {
        const double t = (double)i / (double)(n - 1);
        double sum = 0;
        for (size_t k = terms; k-- > 0;)
            sum = sum * t + c[k];
        table[i] = sum;
    }
    plan->p->axis_table = table;
    return scale_axis(plan, table, unit);
}

static airy_status read_axis(struct plan *plan, const char *key, const json_t *value)
{
    static const char *const keys[] = {"wavelength",      "k",     "curve", "poly",
                                       "wavelength_poly", "chirp", "unit"};
    static const airy_oct_axis axes[] = {AIRY_OCT_AXIS_WAVELENGTH, AIRY_OCT_AXIS_K,
                                         AIRY_OCT_AXIS_CURVE,      AIRY_OCT_AXIS_POLY,
                                         AIRY_OCT_AXIS_WAVELENGTH, AIRY_OCT_AXIS_CURVE};
    enum { POLY = 3, WAVELENGTH_POLY, CHIRP, KINDS };
    airy_oct_params *p = plan->p;
    int kind = -1;
    AIRY_TRY(check_keys(key, value, OCT_WORDS(keys)));
    for (int i = 0; i < KINDS; i++) {
        if (!json_object_get(value, keys[i]))
            continue;
        AIRY_FAIL_IF(kind >= 0, AIRY_ERR_FORMAT, "axis: both %s and %s, expected one of them",
                     keys[kind], keys[i]);
        kind = i;
    }
    AIRY_FAIL_IF(kind < 0, AIRY_ERR_FORMAT,
                 "axis: expected wavelength, k, curve, poly, wavelength_poly or chirp in it");
    char name[32];
    double *table, unit;
    snprintf(name, sizeof(name), "axis %s", keys[kind]);
    const json_t *given = json_object_get(value, keys[kind]);
    p->axis = axes[kind];
    const bool metres = p->axis == AIRY_OCT_AXIS_WAVELENGTH || p->axis == AIRY_OCT_AXIS_K;
    AIRY_FAIL_IF(!metres && json_object_get(value, "unit"), AIRY_ERR_FORMAT,
                 "axis: unit stands beside %s, expected beside wavelength, k or wavelength_poly",
                 keys[kind]);
    AIRY_TRY(read_unit(&unit, value));
    if (kind == POLY)
        return read_poly(p->poly, name, given);
    if (kind == WAVELENGTH_POLY)
        return read_wavelength_poly(plan, name, given, unit);
    AIRY_TRY(read_table(&table, plan, name, given));
    p->axis_table = table;
    return kind == CHIRP ? invert_chirp(plan, table)
           : metres      ? scale_axis(plan, table, unit)
                         : AIRY_OK;
}

static airy_status read_interpolation(struct plan *plan, const char *key, const json_t *value)
{
    int which;
    AIRY_TRY(read_word(&which, key, value, OCT_WORDS(oct_interpolations)));
    plan->p->interpolation = (airy_oct_interpolation)which;
    return AIRY_OK;
}

static airy_status read_window_kind(struct plan *plan, const json_t *value)
{
    const int which = find_word(json_string_value(value), OCT_WORDS(oct_windows));
    if (which >= 0) {
        plan->p->window = (airy_oct_window)which;
        return AIRY_OK;
    }
    double *table;
    const airy_status status = read_table(&table, plan, "window kind", value);
    if (status == AIRY_ERR_NOT_FOUND && json_is_string(value)) {
        char kinds[128];
        airy_join_words(kinds, sizeof(kinds), OCT_WORDS(oct_windows));
        return airy_fail(status, "window kind = '%.40s', expected %s or a file that is there",
                         json_string_value(value), kinds);
    }
    AIRY_TRY(status);
    plan->p->window = AIRY_OCT_WINDOW_TABLE;
    plan->p->window_table = table;
    return AIRY_OK;
}

static airy_status read_window(struct plan *plan, const char *key, const json_t *value)
{
    static const char *const keys[] = {"kind", "center", "fill", "before_resampling"};
    airy_oct_params *p = plan->p;
    if (json_is_string(value))
        return read_window_kind(plan, value);
    AIRY_TRY(check_keys(key, value, OCT_WORDS(keys)));
    const json_t *kind = json_object_get(value, "kind"), *center = json_object_get(value, "center"),
                 *fill = json_object_get(value, "fill"),
                 *first = json_object_get(value, "before_resampling");
    AIRY_FAIL_IF(!kind, AIRY_ERR_FORMAT, "window: kind is missing");
    AIRY_TRY(read_window_kind(plan, kind));
    if (center)
        AIRY_TRY(read_number(&p->window_center, "window center", center, 0, 1));
    if (fill)
        AIRY_TRY(read_number(&p->window_fill, "window fill", fill, 0,
                             p->window == AIRY_OCT_WINDOW_GAUSS ? 1e6 : 1));
    return first ? read_flag(&p->window_first, "window before_resampling", first) : AIRY_OK;
}

static airy_status read_dispersion(struct plan *plan, const char *key, const json_t *value)
{
    static const char *const keys[] = {"table"};
    plan->p->has_dispersion = true;
    if (json_is_array(value))
        return read_poly(plan->p->dispersion, key, value);
    AIRY_TRY(check_keys(key, value, OCT_WORDS(keys)));
    double *table;
    AIRY_FAIL_IF(!json_object_get(value, "table"), AIRY_ERR_FORMAT,
                 "dispersion: expected a list of 1 to 4 numbers, or table in it");
    AIRY_TRY(read_table(&table, plan, "dispersion table", json_object_get(value, "table")));
    plan->p->phase_table = table;
    return AIRY_OK;
}

static airy_status read_output(struct plan *plan, const char *key, const json_t *value)
{
    int which;
    AIRY_TRY(read_word(&which, key, value, OCT_WORDS(oct_outputs)));
    plan->p->output = (airy_oct_output)which;
    return AIRY_OK;
}

static airy_status read_depth(struct plan *plan, const char *key, const json_t *value)
{
    airy_oct_params *p = plan->p;
    const size_t most = AIRY_OCT_MAX_SAMPLES / 2 + 1;
    if (!json_is_array(value) || json_array_size(value) != 2)
        return unexpected(AIRY_ERR_FORMAT, key, value, "a list of two bins, the last excluded");
    AIRY_TRY(read_count(&p->depth_first, "depth[0]", json_array_get(value, 0), 0, most));
    AIRY_TRY(read_count(&p->depth_last, "depth[1]", json_array_get(value, 1), 1, most));
    if (p->depth_first >= p->depth_last)
        return unexpected(AIRY_ERR_PARAM, key, value, "the first bin below the last");
    AIRY_FAIL_IF(p->samples && p->depth_last > p->samples / 2 + 1, AIRY_ERR_PARAM,
                 "depth[1] = %zu, expected at most %zu of %zu samples", p->depth_last,
                 p->samples / 2 + 1, p->samples);
    return AIRY_OK;
}

static airy_status read_fixed_pattern(struct plan *plan, const char *key, const json_t *value)
{
    return read_count(&plan->p->fixed_pattern, key, value, 0, 1 << 20);
}

static airy_status read_display(struct plan *plan, const char *key, const json_t *value)
{
    static const char *const names[] = {"none", "u8", "u16", "f32"};
    static const airy_dtype types[] = {AIRY_DTYPE_F32, AIRY_DTYPE_U8, AIRY_DTYPE_U16,
                                       AIRY_DTYPE_F32};
    int which;
    AIRY_TRY(read_word(&which, key, value, OCT_WORDS(names)));
    plan->p->display = which != 0;
    plan->p->to = types[which];
    return AIRY_OK;
}

static airy_status read_db_range(struct plan *plan, const char *key, const json_t *value)
{
    airy_oct_params *p = plan->p;
    if (!json_is_array(value) || json_array_size(value) != 2)
        return unexpected(AIRY_ERR_FORMAT, key, value, "a list of two numbers");
    AIRY_TRY(read_number(&p->low, "db_range[0]", json_array_get(value, 0), -INFINITY, INFINITY));
    AIRY_TRY(read_number(&p->high, "db_range[1]", json_array_get(value, 1), -INFINITY, INFINITY));
    if (!(p->low < p->high))
        return unexpected(AIRY_ERR_PARAM, key, value, "the first number below the second");
    plan->config->has_range = true;
    return AIRY_OK;
}

/* Keys that say how a display is made. */
static airy_status need_display(const struct plan *plan, const char *key)
{
    AIRY_FAIL_ON_IF(!plan->p->display, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s stands without display, expected u8, u16 "
                    "or f32 in it",
                    key);
    return AIRY_OK;
}

static airy_status read_multiply(struct plan *plan, const char *key, const json_t *value)
{
    AIRY_TRY(need_display(plan, key));
    return read_number(&plan->p->multiply, key, value, 0, 1e300);
}

static airy_status read_add(struct plan *plan, const char *key, const json_t *value)
{
    AIRY_TRY(need_display(plan, key));
    return read_number(&plan->p->add, key, value, -INFINITY, INFINITY);
}

static airy_status read_post_background(struct plan *plan, const char *key, const json_t *value)
{
    static const char *const keys[] = {"weight", "offset"};
    airy_oct_params *p = plan->p;
    AIRY_TRY(check_keys(key, value, OCT_WORDS(keys)));
    AIRY_TRY(need_display(plan, key));
    const json_t *weight = json_object_get(value, "weight"),
                 *offset = json_object_get(value, "offset");
    p->post_background = true;
    p->post_weight = 1;
    if (weight)
        AIRY_TRY(
            read_number(&p->post_weight, "post_background weight", weight, -INFINITY, INFINITY));
    return offset
               ? read_number(&p->post_offset, "post_background offset", offset, -INFINITY, INFINITY)
               : AIRY_OK;
}

static airy_status read_average_lines(struct plan *plan, const char *key, const json_t *value)
{
    return read_count(&plan->p->average_lines, key, value, 0, AIRY_OCT_MAX_LINES);
}

static airy_status read_average_frames(struct plan *plan, const char *key, const json_t *value)
{
    return read_count(&plan->p->average_frames, key, value, 0, 1 << 20);
}

static airy_status read_flow(struct plan *plan, const char *key, const json_t *value)
{
    static const char *const keys[] = {"kind", "repeats", "of"};
    airy_oct_params *p = plan->p;
    int which = 0;
    AIRY_TRY(check_keys(key, value, OCT_WORDS(keys)));
    const json_t *kind = json_object_get(value, "kind"),
                 *repeats = json_object_get(value, "repeats"), *of = json_object_get(value, "of");
    AIRY_FAIL_IF(!kind || !repeats, AIRY_ERR_FORMAT, "flow: expected kind and repeats in it");
    AIRY_TRY(read_word(&which, "flow kind", kind, OCT_WORDS(oct_flows)));
    p->flow = (airy_oct_flow)which;
    AIRY_TRY(read_count(&p->repeats, "flow repeats", repeats, 2, 1 << 20));
    which = 0;
    if (of)
        AIRY_TRY(read_word(&which, "flow of", of, OCT_WORDS(oct_repeats)));
    p->flow_frames = which == 1;
    return AIRY_OK;
}

static airy_status read_flip(struct plan *plan, const char *key, const json_t *value)
{
    int which = json_is_true(value) ? AIRY_OCT_FLIP_EVEN : AIRY_OCT_FLIP_NONE;
    if (!json_is_boolean(value))
        AIRY_TRY(read_word(&which, key, value, OCT_WORDS(oct_flips)));
    plan->p->flip = (airy_oct_flip)which;
    return AIRY_OK;
}

static airy_status read_sinusoidal(struct plan *plan, const char *key, const json_t *value)
{
    return read_flag(&plan->p->sinusoidal, key, value);
}

static airy_status read_compat(struct plan *plan, const char *key, const json_t *value)
{
    int which;
    AIRY_TRY(read_word(&which, key, value, OCT_WORDS(oct_compats)));
    plan->p->compat = (airy_oct_compat)which;
    return AIRY_OK;
}

/* In the order in which they are read: some look at those before. */
static const struct key {
    const char *name;
    airy_status (*read)(struct plan *plan, const char *key, const json_t *value);
} keys_of_plan[] = {
    {"samples", read_samples},
    {"lines", read_lines},
    {"dtype", read_dtype},
    {"packing", read_packing},
    {"byte_order", read_byte_order},
    {"header_bytes", read_header_bytes},
    {"bit_shift", read_bit_shift},
    {"background", read_background},
    {"axis", read_axis},
    {"interpolation", read_interpolation},
    {"window", read_window},
    {"dispersion", read_dispersion},
    {"output", read_output},
    {"depth", read_depth},
    {"fixed_pattern", read_fixed_pattern},
    {"display", read_display},
    {"db_range", read_db_range},
    {"multiply", read_multiply},
    {"add", read_add},
    {"post_background", read_post_background},
    {"average_lines", read_average_lines},
    {"average_frames", read_average_frames},
    {"flow", read_flow},
    {"flip", read_flip},
    {"sinusoidal", read_sinusoidal},
    {"compat", read_compat},
};
enum { KEYS = sizeof(keys_of_plan) / sizeof(keys_of_plan[0]) };

static airy_status read_keys(struct plan *plan, const json_t *root)
{
    const char *names[KEYS];
    for (size_t i = 0; i < KEYS; i++)
        names[i] = keys_of_plan[i].name;
    AIRY_TRY(check_keys("the plan", root, names, KEYS));
    for (size_t i = 0; i < KEYS; i++) {
        const json_t *value = json_object_get(root, names[i]);
        if (value)
            AIRY_TRY(keys_of_plan[i].read(plan, names[i], value));
    }
    const airy_oct_params *p = plan->p;
    AIRY_FAIL_ON_IF(p->samples && p->rolling > p->samples, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = rolling:%zu, expected at most the %zu samples", "background", p->rolling,
                    p->samples);
    return AIRY_OK;
}

/* The whole file, malloc'ed. */
static airy_status load(char **text, size_t *size, const char *path)
{
    int fd;
    uint64_t bytes;
    AIRY_TRY(airy_file_open(&fd, &bytes, path));
    char *made = bytes <= MAX_PLAN ? malloc((size_t)bytes + 1) : NULL;
    airy_status status;
    if (bytes > MAX_PLAN)
        status = airy_fail(AIRY_ERR_FORMAT, "%llu bytes, expected a plan of at most %d",
                           (unsigned long long)bytes, MAX_PLAN);
    else if (!made)
        status =
            airy_fail(AIRY_ERR_MEMORY, "out of memory for %llu bytes", (unsigned long long)bytes);
    else
        status = airy_file_pread(fd, made, (size_t)bytes, 0);
    close(fd);
    if (status != AIRY_OK) {
        free(made);
        return status;
    }
    *text = made;
    *size = (size_t)bytes;
    return AIRY_OK;
}

static airy_status parse(struct plan *plan, const char *text, size_t size)
{
    char wrong[AIRY_JSON_WRONG];
    json_error_t error;
    const size_t mark = airy_file_text_mark(text, size);
    json_t *root = json_loadb(text + mark, size - mark, JSON_REJECT_DUPLICATES, &error);
    AIRY_FAIL_IF(!root, AIRY_ERR_FORMAT, "line %d: %s", error.line, airy_json_wrong(wrong, &error));
    const airy_status status = read_keys(plan, root);
    json_decref(root);
    return status;
}

airy_status airy_oct_config_read(airy_oct_config *config, const char *path)
{
    AIRY_FAIL_IF(!config || !path || !*path, AIRY_ERR_PARAM,
                 "airy_oct_config_read: config or path is missing");
    airy_oct_config made = {.block = NULL};
    char *text = NULL;
    size_t size = 0;
    AIRY_TRY(load(&text, &size, path));
    made.block = calloc((size_t)TABLES * AIRY_OCT_MAX_SAMPLES, sizeof(double));
    struct plan plan = {.config = &made, .p = &made.params, .path = path, .block = made.block};
    const airy_status status = made.block ? parse(&plan, text, size)
                                          : airy_fail(AIRY_ERR_MEMORY, "out of memory for tables");
    free(text);
    if (status != AIRY_OK) {
        airy_oct_config_free(&made);
        return airy_fail_context(status, "'%s'", path);
    }
    *config = made;
    return AIRY_OK;
}

void airy_oct_config_free(airy_oct_config *config)
{
    if (!config)
        return;
    free(config->block);
    memset(config, 0, sizeof(*config));
}
