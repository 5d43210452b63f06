#include "airy/geometry.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "airy/file.h"
#include "base/error.h"
#include "base/number.h"
#include "integrate/detector_table.h"
#include "io/file/json_error.h"
#include "io/file/plain_file.h"

/*
 * A PONI file has some 500 bytes; refinements appended to it for years make a few hundred
 * kilobytes.
 */
enum { MAX_FILE = 4 << 20, MAX_CONFIG = 65536 };

enum key {
    KEY_VERSION,
    KEY_DETECTOR,
    KEY_CONFIG,
    KEY_PIXEL1,
    KEY_PIXEL2,
    KEY_SPLINE,
    KEY_DISTANCE,
    KEY_PONI1,
    KEY_PONI2,
    KEY_ROT1,
    KEY_ROT2,
    KEY_ROT3,
    KEY_WAVELENGTH,
    KEY_PARALLAX,
    KEY_COUNT
};

static const char *const key_names[KEY_COUNT] = {
    "poni_version", "Detector", "Detector_config", "PixelSize1", "PixelSize2",
    "SplineFile",   "Distance", "Poni1",           "Poni2",      "Rot1",
    "Rot2",         "Rot3",     "Wavelength",      "Parallax",
};

/*
 * The values of the file as text, the last of each key; they point into the text. Other programs
 * append a block of all keys for each refinement, which replaces the blocks in front of it.
 */
struct poni {
    const char *path;
    char *value[KEY_COUNT];
    size_t line[KEY_COUNT];
    size_t block[KEY_COUNT];       /* of the last value, from 1 */
    const char *before[KEY_COUNT]; /* the first value in the same block; NULL: there is one value */
    size_t line_before[KEY_COUNT];
};

static airy_status read_text(char **text, const char *path)
{
    FILE *file;
    AIRY_TRY(airy_file_open_stream(&file, path));
    airy_status status = AIRY_OK;
    char *buffer = malloc(MAX_FILE + 1);
    if (!buffer) {
        status = airy_fail_on(AIRY_ERR_MEMORY, AIRY_SUBJECT_FILE, "%s: cannot allocate %d bytes",
                              path, MAX_FILE + 1);
        goto out;
    }
    const size_t n = fread(buffer, 1, MAX_FILE + 1, file);
    if (ferror(file))
        status = airy_fail_system(AIRY_SUBJECT_FILE, errno, "%s: %s", path, strerror(errno));
    else if (n > MAX_FILE)
        status = airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                              "%s: more than %d bytes, that is no PONI file", path, MAX_FILE);
    else if (memchr(buffer, '\0', n))
        status = airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                              "%s: zero bytes, that is no PONI file", path);
    if (status == AIRY_OK) {
        buffer[n] = '\0';
        *text = buffer;
        buffer = NULL;
    }
out:
    free(buffer);
    fclose(file);
    return status;
}

static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        n--;
    text[n] = '\0';
    return text;
}

/* A block begins with its version, or with a detector behind the distance of another block. */
static bool begins_block(const struct poni *poni, enum key key, size_t block)
{
    return key == KEY_VERSION ||
           ((key == KEY_DETECTOR || key == KEY_PIXEL1) && poni->block[KEY_DISTANCE] == block);
}

static void take_value(struct poni *poni, enum key key, char *value, size_t line, size_t block)
{
    if (poni->block[key] != block)
        poni->before[key] = NULL;
    else if (!poni->before[key]) {
        poni->before[key] = poni->value[key];
        poni->line_before[key] = poni->line[key];
    }
    poni->value[key] = value;
    poni->line[key] = line;
    poni->block[key] = block;
}

/*
 * Lines "key: value"; '#' starts a comment line; unknown keys are left alone, as other programs
 * add their own.
 */
static void split_lines(struct poni *poni, char *text)
{
    size_t number = 0, block = 1;
    for (char *line = text; line; number++) {
        char *end = strchr(line, '\n');
        if (end)
            *end = '\0';
        char *colon = strchr(line, ':');
        char *start = trim(line);
        if (*start != '#' && colon) {
            *colon = '\0';
            const char *name = trim(start);
            for (int k = 0; k < KEY_COUNT; k++)
                if (strcasecmp(name, key_names[k]) == 0) {
                    block += begins_block(poni, (enum key)k, block);
                    take_value(poni, (enum key)k, trim(colon + 1), number + 1, block);
                }
        }
        line = end ? end + 1 : NULL;
    }
}

static bool is_none(const char *value)
{
    return !value || *value == '\0' || strcasecmp(value, "none") == 0 ||
           strcasecmp(value, "null") == 0;
}

/* A decimal number; the caller has set the C locale. */
static bool parse_number(double *out, const char *text)
{
    if (strspn(text, "+-.0123456789eE") != strlen(text))
        return false;
    char *end = NULL;
    const double v = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(v))
        return false;
    *out = v;
    return true;
}

static airy_status get_number(double *out, const struct poni *poni, enum key key)
{
    const char *value = poni->value[key];
    if (is_none(value))
        return AIRY_OK;
    AIRY_FAIL_ON_IF(!parse_number(out, value), AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "%s line %zu: %s = '%.40s' is not a finite number", poni->path, poni->line[key],
                    key_names[key], value);
    return AIRY_OK;
}

static airy_status check_version(const struct poni *poni)
{
    double version = 1;
    AIRY_TRY(get_number(&version, poni, KEY_VERSION));
    AIRY_FAIL_ON_IF(version < 1, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "%s line %zu: poni_version = %g, expected 1, 2, 2.1 or 3", poni->path,
                    poni->line[KEY_VERSION], version);
    AIRY_FAIL_ON_IF(version >= 4 || (version > 3 && version < 4), AIRY_ERR_UNSUPPORTED,
                    AIRY_SUBJECT_FILE,
                    "%s line %zu: version %g is newer than 3, the newest that is known", poni->path,
                    poni->line[KEY_VERSION], version);
    return AIRY_OK;
}

static airy_status config_number(double *out, const struct poni *poni, const json_t *config,
                                 const char *name)
{
    const json_t *value = json_object_get(config, name);
    if (!value || json_is_null(value))
        return AIRY_OK;
    AIRY_FAIL_ON_IF(!json_is_number(value), AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "%s line %zu: %s in Detector_config is not a number", poni->path,
                    poni->line[KEY_CONFIG], name);
    *out = json_number_value(value);
    return AIRY_OK;
}

static airy_status config_shape(airy_detector *detector, bool *shaped, const struct poni *poni,
                                const json_t *config)
{
    const json_t *shape = json_object_get(config, "max_shape");
    if (!shape || json_is_null(shape))
        return AIRY_OK;
    const json_t *h = json_array_get(shape, 0), *w = json_array_get(shape, 1);
    const bool sound = json_array_size(shape) == 2 && json_is_integer(h) && json_is_integer(w) &&
                       json_integer_value(h) > 0 && json_integer_value(w) > 0 &&
                       json_integer_value(h) <= 1 << 20 && json_integer_value(w) <= 1 << 20;
    AIRY_FAIL_ON_IF(
        !sound, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
        "%s line %zu: max_shape in Detector_config is not two numbers between 1 and 1048576",
        poni->path, poni->line[KEY_CONFIG]);
    detector->height = (size_t)json_integer_value(h);
    detector->width = (size_t)json_integer_value(w);
    *shaped = true;
    return AIRY_OK;
}

static airy_status refuse_spline(const struct poni *poni, enum key key, const char *name)
{
    return airy_fail_on(
        AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_FILE,
        "%s line %zu: %s: spline files are not read; pyFAI's detector2nexus makes a "
        "NeXus detector file of it, which is",
        poni->path, poni->line[key], name);
}

/* A detector file, where the PONI says or, with a relative path, beside the PONI. */
static airy_status read_detector_file(airy_detector *detector, const struct poni *poni,
                                      const char *name)
{
    const char *slash = strrchr(poni->path, '/');
    char beside[4096];
    const int n = snprintf(beside, sizeof beside, "%.*s%s",
                           slash ? (int)(slash + 1 - poni->path) : 0, poni->path, name);
    const bool there = access(name, F_OK) == 0 || name[0] == '/' || n < 0 ||
                       (size_t)n >= sizeof beside || access(beside, F_OK) != 0;
    const airy_status status = airy_detector_read(detector, there ? name : beside);
    if (status != AIRY_OK)
        return airy_fail_context(status, "%s line %zu", poni->path, poni->line[KEY_CONFIG]);
    return AIRY_OK;
}

/* named: the detector is one by name of a file. */
static airy_status apply_file(airy_detector *detector, const struct poni *poni,
                              const json_t *config, bool named)
{
    const json_t *spline = json_object_get(config, "splineFile"),
                 *file = json_object_get(config, "filename");
    if (spline && !json_is_null(spline))
        return refuse_spline(poni, KEY_CONFIG, "splineFile in Detector_config");
    if (!named) {
        AIRY_FAIL_ON_IF(file && !json_is_null(file), AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_FILE,
                        "%s line %zu: filename in Detector_config is for Detector: NexusDetector",
                        poni->path, poni->line[KEY_CONFIG]);
        return AIRY_OK;
    }
    AIRY_FAIL_ON_IF(!json_is_string(file), AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "%s: NexusDetector needs a filename in Detector_config", poni->path);
    return read_detector_file(detector, poni, json_string_value(file));
}

static airy_status apply_sensor(airy_sensor *sensor, const struct poni *poni, const json_t *config)
{
    const json_t *value = json_object_get(config, "sensor");
    if (!value || json_is_null(value))
        return AIRY_OK;
    const json_t *material = json_object_get(value, "material");
    const char *name = json_string_value(material);
    AIRY_FAIL_ON_IF(
        !json_is_object(value) || (material && !json_is_null(material) && !name), AIRY_ERR_FORMAT,
        AIRY_SUBJECT_FILE,
        "%s line %zu: sensor in Detector_config is not {\"material\": ..., \"thickness\": "
        "...}",
        poni->path, poni->line[KEY_CONFIG]);
    AIRY_FAIL_ON_IF(name && strlen(name) >= sizeof sensor->material, AIRY_ERR_FORMAT,
                    AIRY_SUBJECT_FILE,
                    "%s line %zu: sensor material '%.40s' has more than %zu bytes", poni->path,
                    poni->line[KEY_CONFIG], name, sizeof sensor->material - 1);
    *sensor = (airy_sensor){0};
    if (name)
        strcpy(sensor->material, name);
    AIRY_TRY(config_number(&sensor->thickness, poni, value, "thickness"));
    return config_number(&sensor->attenuation, poni, value, "attenuation");
}

static airy_status apply_config(airy_detector *detector, bool *shaped, const struct poni *poni,
                                const json_t *config)
{
    AIRY_TRY(config_number(&detector->pixel1, poni, config, "pixel1"));
    AIRY_TRY(config_number(&detector->pixel2, poni, config, "pixel2"));
    AIRY_TRY(config_shape(detector, shaped, poni, config));
    AIRY_TRY(apply_sensor(&detector->sensor, poni, config));
    double orientation = detector->orientation;
    AIRY_TRY(config_number(&orientation, poni, config, "orientation"));
    AIRY_FAIL_ON_IF(!(orientation >= 0 && orientation <= 8) || orientation != floor(orientation),
                    AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "%s line %zu: orientation = %g, expected 1 to 4", poni->path,
                    poni->line[KEY_CONFIG], orientation);
    detector->orientation = (int)orientation;
    return AIRY_OK;
}

/* NULL where there is none; the caller's reference. */
static airy_status load_config(json_t **config, const struct poni *poni)
{
    const char *text = poni->value[KEY_CONFIG];
    *config = NULL;
    if (is_none(text))
        return AIRY_OK;
    const size_t size = strlen(text), line = poni->line[KEY_CONFIG];
    AIRY_FAIL_ON_IF(size > MAX_CONFIG, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "%s line %zu: Detector_config has %zu bytes, expected at most %d", poni->path,
                    line, size, MAX_CONFIG);
    char wrong[AIRY_JSON_WRONG];
    json_error_t error;
    json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    AIRY_FAIL_ON_IF(!json, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, "%s line %zu: Detector_config: %s",
                    poni->path, line, airy_json_wrong(wrong, &error));
    const bool object = json_is_object(json);
    if (!object)
        json_decref(json);
    AIRY_FAIL_ON_IF(!object, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "%s line %zu: Detector_config is not a JSON object", poni->path, line);
    *config = json;
    return AIRY_OK;
}

/* Other pixel sizes than those of `known` are a binned image's, or another scan's. */
static void find_binning(airy_detector *d, const airy_detector *known, bool shaped)
{
    const struct airy_detector_entry *entry = d->file[0] ? NULL : airy_detector_entry_find(d->name);
    airy_detector binned = *d;
    if (airy_detector_follow_pixels(&binned, known, entry ? entry->flags : 0) &&
        (!shaped || (binned.height == d->height && binned.width == d->width)))
        *d = binned;
}

static airy_status fill_detector(airy_detector *detector, const struct poni *poni,
                                 const json_t *config)
{
    const char *name = poni->value[KEY_DETECTOR];
    const bool named =
        name && (strcasecmp(name, "NexusDetector") == 0 || strcasecmp(name, "Nexus detector") == 0);
    if (!named) {
        const airy_status found = airy_detector_find(detector, is_none(name) ? "Detector" : name);
        if (found != AIRY_OK)
            return airy_fail_context(found, "%s line %zu", poni->path, poni->line[KEY_DETECTOR]);
        detector->orientation = 3;
    }
    if (!is_none(poni->value[KEY_SPLINE]))
        return refuse_spline(poni, KEY_SPLINE, "SplineFile");
    AIRY_TRY(apply_file(detector, poni, config, named));
    const airy_detector known = *detector;
    AIRY_TRY(get_number(&detector->pixel1, poni, KEY_PIXEL1));
    AIRY_TRY(get_number(&detector->pixel2, poni, KEY_PIXEL2));
    bool shaped = false;
    if (config)
        AIRY_TRY(apply_config(detector, &shaped, poni, config));
    AIRY_FAIL_ON_IF(detector->pixel1 == 0 || detector->pixel2 == 0, AIRY_ERR_FORMAT,
                    AIRY_SUBJECT_FILE, "%s: the pixel size is missing", poni->path);
    find_binning(detector, &known, shaped);
    return AIRY_OK;
}

static airy_status read_detector(airy_detector *detector, const struct poni *poni)
{
    json_t *config;
    AIRY_TRY(load_config(&config, poni));
    const airy_status status = fill_detector(detector, poni, config);
    json_decref(config);
    return status;
}

static airy_status read_parallax(bool *parallax, const struct poni *poni)
{
    const char *value = poni->value[KEY_PARALLAX];
    if (is_none(value) || strcasecmp(value, "false") == 0 || strcmp(value, "0") == 0)
        return AIRY_OK;
    AIRY_FAIL_ON_IF(strcasecmp(value, "true") != 0 && strcmp(value, "1") != 0, AIRY_ERR_FORMAT,
                    AIRY_SUBJECT_FILE, "%s line %zu: Parallax = '%.40s', expected True or False",
                    poni->path, poni->line[KEY_PARALLAX], value);
    *parallax = true;
    return AIRY_OK;
}

/* Two values of one block: beyond rounding, numbers, or other words. */
static bool are_other(const char *a, const char *b)
{
    double x, y;
    if (parse_number(&x, a) && parse_number(&y, b))
        return !(fabs(x - y) <= 1e-3 * fabs(x));
    return strcasecmp(a, b) != 0;
}

static airy_status check_contradictions(const struct poni *poni)
{
    for (int k = 0; k < KEY_COUNT; k++)
        AIRY_FAIL_HINT_IF(
            poni->before[k] && are_other(poni->before[k], poni->value[k]), AIRY_ERR_FORMAT,
            AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
            "%s line %zu: %s = '%.40s', but line %zu has '%.40s'; remove the wrong one", poni->path,
            poni->line[k], key_names[k], poni->value[k], poni->line_before[k], poni->before[k]);
    return AIRY_OK;
}

static airy_status parse_geometry(airy_geometry *geometry, const char *path, char *text)
{
    struct poni poni = {.path = path};
    split_lines(&poni, text);
    AIRY_TRY(check_version(&poni));
    AIRY_FAIL_ON_IF(is_none(poni.value[KEY_DISTANCE]), AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "%s: Distance is missing", path);
    airy_geometry g = {0};
    AIRY_TRY(read_detector(&g.detector, &poni));
    AIRY_TRY(get_number(&g.dist, &poni, KEY_DISTANCE));
    AIRY_TRY(get_number(&g.poni1, &poni, KEY_PONI1));
    AIRY_TRY(get_number(&g.poni2, &poni, KEY_PONI2));
    AIRY_TRY(get_number(&g.rot1, &poni, KEY_ROT1));
    AIRY_TRY(get_number(&g.rot2, &poni, KEY_ROT2));
    AIRY_TRY(get_number(&g.rot3, &poni, KEY_ROT3));
    AIRY_TRY(get_number(&g.wavelength, &poni, KEY_WAVELENGTH));
    AIRY_TRY(read_parallax(&g.parallax, &poni));
    AIRY_FAIL_ON_IF(!is_none(poni.value[KEY_WAVELENGTH]) && g.wavelength == 0, AIRY_ERR_FORMAT,
                    AIRY_SUBJECT_FILE, "%s line %zu: Wavelength = 0, expected > 0", path,
                    poni.line[KEY_WAVELENGTH]);
    const airy_status sound = airy_geometry_check(&g);
    if (sound != AIRY_OK)
        return airy_fail_context(sound == AIRY_ERR_PARAM ? AIRY_ERR_FORMAT : sound, "%s", path);
    AIRY_TRY(check_contradictions(&poni));
    *geometry = g;
    return AIRY_OK;
}

airy_status airy_geometry_read(airy_geometry *geometry, const char *path)
{
    AIRY_FAIL_IF(!geometry, AIRY_ERR_PARAM, "airy_geometry_read: geometry is NULL");
    AIRY_FAIL_IF(!path, AIRY_ERR_PARAM, "airy_geometry_read: path is NULL");
    char *text = NULL;
    struct airy_c_locale locale = {0};
    AIRY_TRY(airy_c_locale_enter(&locale));
    airy_status status = read_text(&text, path);
    if (status == AIRY_OK)
        status = parse_geometry(geometry, path, text);
    airy_c_locale_leave(&locale);
    free(text);
    return status;
}

static void print_number(FILE *file, double value, const char *after)
{
    char text[AIRY_NUMBER_TEXT];
    fprintf(file, "%s%s", airy_number_text(text, value, false), after);
}

/* Of text that is not ours: quoted as JSON has it. */
static void print_string(FILE *file, const char *text)
{
    json_t *json = json_string(text);
    char *quoted = json ? json_dumps(json, JSON_ENCODE_ANY) : NULL;
    fputs(quoted ? quoted : "null", file);
    free(quoted);
    json_decref(json);
}

static void print_sensor(FILE *file, const airy_sensor *sensor)
{
    fprintf(file, ", \"sensor\": {\"material\": ");
    print_string(file, sensor->material);
    if (sensor->thickness > 0) {
        fprintf(file, ", \"thickness\": ");
        print_number(file, sensor->thickness, "");
    }
    if (sensor->attenuation > 0) {
        fprintf(file, ", \"attenuation\": ");
        print_number(file, sensor->attenuation, "");
    }
    fputc('}', file);
}

/* Readers find the shape by name and pixel sizes; some multiply a max_shape by these once more. */
static bool shape_follows(const airy_detector *d, const struct airy_detector_entry *entry)
{
    airy_detector known, read = *d;
    if (!entry || airy_detector_find(&known, d->name) != AIRY_OK)
        return entry && entry->height == d->height && entry->width == d->width;
    if (!airy_detector_follow_pixels(&read, &known, entry->flags)) {
        read.height = known.height;
        read.width = known.width;
    }
    return read.height == d->height && read.width == d->width;
}

static void print_config(FILE *file, const airy_detector *d,
                         const struct airy_detector_entry *entry)
{
    fprintf(file, "Detector_config: {");
    if (d->file[0]) {
        fprintf(file, "\"filename\": ");
        print_string(file, d->file);
        fprintf(file, ", ");
    }
    /* The pixels of a file are its own, unless they are binned. */
    if (!d->file[0] || d->binning1 > 1 || d->binning2 > 1) {
        fprintf(file, "\"pixel1\": ");
        print_number(file, d->pixel1, ", \"pixel2\": ");
        print_number(file, d->pixel2, ", ");
    }
    if (d->height && !d->file[0] && !shape_follows(d, entry))
        fprintf(file, "\"max_shape\": [%zu, %zu], ", d->height, d->width);
    fprintf(file, "\"orientation\": %d", d->orientation ? d->orientation : 3);
    if (d->sensor.material[0] || d->sensor.attenuation > 0)
        print_sensor(file, &d->sensor);
    fprintf(file, "}\n");
}

/* Each line behind "# "; control characters as '?'. */
static void print_notes(FILE *file, const char *notes)
{
    for (bool first = true; notes && *notes; notes++) {
        if (first)
            fputs("# ", file);
        first = *notes == '\n';
        fputc(!first && iscntrl((unsigned char)*notes) ? '?' : *notes, file);
        if (!first && !notes[1])
            fputc('\n', file);
    }
}

struct noted {
    const airy_geometry *geometry;
    const char *notes;
};

/* The registry's name as files have it: blanks as '_'. */
static void print_poni(FILE *file, const void *user)
{
    const struct noted *noted = user;
    const airy_geometry *g = noted->geometry;
    const airy_detector *d = &g->detector;
    const struct airy_detector_entry *entry = d->file[0] ? NULL : airy_detector_entry_find(d->name);
    const char *own = d->file[0] ? "NexusDetector" : "Detector";
    char name[sizeof d->name];
    snprintf(name, sizeof name, "%.*s", entry ? (int)strcspn(entry->names, "|") : (int)strlen(own),
             entry ? entry->names : own);
    for (char *c = name; *c; c++)
        *c = *c == ' ' ? '_' : *c;
    const bool third = g->parallax || d->sensor.material[0] || d->sensor.attenuation > 0;
    print_notes(file, noted->notes);
    fprintf(file, "# Nota: C-Order, 1 refers to the Y axis, 2 to the X axis\n");
    fprintf(file, "poni_version: %s\n", third ? "3" : "2.1");
    fprintf(file, "Detector: %s\n", name);
    print_config(file, d, entry);
    fprintf(file, "Distance: ");
    print_number(file, g->dist, "\nPoni1: ");
    print_number(file, g->poni1, "\nPoni2: ");
    print_number(file, g->poni2, "\nRot1: ");
    print_number(file, g->rot1, "\nRot2: ");
    print_number(file, g->rot2, "\nRot3: ");
    print_number(file, g->rot3, "\n");
    if (g->wavelength > 0) {
        fprintf(file, "Wavelength: ");
        print_number(file, g->wavelength, "\n");
    }
    if (third)
        fprintf(file, "Parallax: %s\n", g->parallax ? "True" : "False");
}

/* A PONI file holds these as JSON, which is UTF-8. */
static airy_status check_text(const char *text, const char *what)
{
    json_t *json = json_string(text);
    AIRY_FAIL_IF(!json, AIRY_ERR_UNSUPPORTED,
                 "a PONI file cannot hold the %s '%s', which is not UTF-8; rename it", what, text);
    json_decref(json);
    return AIRY_OK;
}

airy_status airy_geometry_write(const airy_geometry *geometry, const char *path)
{
    return airy_geometry_write_noted(geometry, NULL, path);
}

airy_status airy_geometry_write_noted(const airy_geometry *geometry, const char *notes,
                                      const char *path)
{
    AIRY_FAIL_IF(!path, AIRY_ERR_PARAM, "airy_geometry_write: path is NULL");
    AIRY_TRY(airy_geometry_check(geometry));
    AIRY_TRY(check_text(geometry->detector.file, "name of its detector file"));
    AIRY_TRY(check_text(geometry->detector.sensor.material, "sensor material"));
    return airy_print_file(path, true, print_poni, &(struct noted){geometry, notes});
}
