/* May a run go on with what an earlier one has left? */
#include "airy/resume.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"

/* Differences as "key: old, new" in one sentence. */
struct differences {
    char text[1024];
    size_t count;
    bool touched; /* a file has another time but the same size */
};

static void add(struct differences *d, const char *key, const char *before, const char *now)
{
    const size_t used = strlen(d->text);
    if (d->count++ < 6)
        snprintf(d->text + used, sizeof(d->text) - used, "%s%s: was %.120s, is %.120s",
                 used ? "; " : "", key, before, now);
}

static void compare_values(struct differences *d, const char *key, const json_t *before,
                           const json_t *now)
{
    if (json_equal(before, now) || !before || !now)
        return;
    char *a = json_dumps(before, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9)),
         *b = json_dumps(now, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9));
    add(d, key, a ? a : "?", b ? b : "?");
    free(a);
    free(b);
}

static const char *text_of(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text ? text : "";
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The same content, or for large files the same name and size. */
static bool same_file(struct differences *d, const json_t *before, const json_t *now)
{
    const char *a = text_of(before, "path"), *b = text_of(now, "path");
    const char *dataset_a = strstr(a, "::"), *dataset_b = strstr(b, "::");
    if (strcmp(dataset_a ? dataset_a : "", dataset_b ? dataset_b : "") != 0)
        return false;
    if (json_object_get(before, "sha256") && json_object_get(now, "sha256"))
        return strcmp(text_of(before, "sha256"), text_of(now, "sha256")) == 0;
    if (json_object_get(before, "files") || json_object_get(now, "files"))
        return json_equal(before, now);
    /* An input that was followed grew: its name stands for it. */
    const bool followed = json_object_size(before) == 1 || json_object_size(now) == 1;
    if (followed)
        return strcmp(base_name(a), base_name(b)) == 0;
    d->touched |=
        !json_equal(json_object_get(before, "modified"), json_object_get(now, "modified"));
    const json_t *size_a = json_object_get(before, "bytes"),
                 *size_b = json_object_get(now, "bytes");
    return strcmp(base_name(a), base_name(b)) == 0 &&
           (size_a == size_b || json_equal(size_a, size_b));
}

static void compare_files(struct differences *d, const char *key, const json_t *before,
                          const json_t *now)
{
    if (!before && !now)
        return;
    if (!before || !now)
        add(d, key, before ? text_of(before, "path") : "none", now ? text_of(now, "path") : "none");
    else if (!same_file(d, before, now)) {
        char other[300];
        const char *a = text_of(before, "path"), *b = text_of(now, "path");
        snprintf(other, sizeof(other), "%s%s", b, strcmp(a, b) == 0 ? " with other content" : "");
        add(d, key, a, other);
    }
}

static void compare_inputs(struct differences *d, const json_t *before, const json_t *now)
{
    const size_t a = json_array_size(before), b = json_array_size(now);
    char text[2][32];
    if (strstr(text_of(json_array_get(before, 0), "path"), "://") ||
        strstr(text_of(json_array_get(now, 0), "path"), "://"))
        return; /* a series of a stream may be played again from elsewhere, or read from its file */
    snprintf(text[0], sizeof(text[0]), "%zu", a);
    snprintf(text[1], sizeof(text[1]), "%zu", b);
    if (a != b)
        add(d, "number of inputs", text[0], text[1]);
    for (size_t i = 0; a == b && i < a; i++)
        compare_files(d, "input", json_array_get(before, i), json_array_get(now, i));
}

/*
 * Keys of the configuration, and files compared by content, stand for these; --on-error and limits
 * of lists say nothing about a good row, and bad ones are made again.
 */
static bool compared_otherwise(const char *name)
{
    static const char *const names[] = {
        "bins",     "unit",      "split",          "method",     "error-model", "frames",
        "mask",     "mask-only", "dark",           "flat",       "absorption",  "variance",
        "on-error", "follow",    "follow-timeout", "poll",       "cutoff-pick", "cutoff-peak",
        "noise",    "patch",     "connected",      "max-pixels", "max-peaks"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* "A,B" */
static bool parse_two(double pair[2], const char *text)
{
    char first[64];
    const size_t n = strcspn(text, ",");
    snprintf(first, sizeof(first), "%.*s", (int)n, text);
    return n < sizeof(first) && text[n] && airy_number_parse(&pair[0], first) &&
           airy_number_parse(&pair[1], text + n + 1);
}

/*
 * "--name=argument" words as {name: argument}; numbers as numbers, so that 0.9 and 0.90 are the
 * same.
 */
static json_t *option_values(const json_t *words)
{
    json_t *values = json_object();
    for (size_t i = 0; i < json_array_size(words); i++) {
        const char *word = json_string_value(json_array_get(words, i));
        if (!word || strncmp(word, "--", 2) != 0)
            continue;
        char name[64];
        double pair[2];
        const size_t length = strcspn(word + 2, "=");
        snprintf(name, sizeof(name), "%.*s", (int)length, word + 2);
        const char *argument = word[2 + length] ? word + 2 + length + 1 : NULL;
        if (compared_otherwise(name))
            continue;
        /* An option that is given several times is compared by its place, too. */
        for (int again = 2; json_object_get(values, name) && again < 100; again++)
            snprintf(name, sizeof(name), "%.*s (%d)", (int)(length < 40 ? length : 40), word + 2,
                     again);
        json_object_set_new(values, name,
                            !argument                               ? json_true()
                            : airy_number_parse(&pair[0], argument) ? json_real(pair[0])
                            : parse_two(pair, argument) ? json_pack("[f,f]", pair[0], pair[1])
                                                        : json_string(argument));
    }
    return values;
}

static void compare_options(struct differences *d, const json_t *before, const json_t *now)
{
    json_t *a = option_values(before), *b = option_values(now), *none = json_string("not given");
    const char *key;
    json_t *value;
    char name[80];
    json_object_foreach(a, key, value)
    {
        const json_t *other = json_object_get(b, key);
        snprintf(name, sizeof(name), "--%s", key);
        compare_values(d, name, value, other ? other : none);
    }
    json_object_foreach(b, key, value)
    {
        snprintf(name, sizeof(name), "--%s", key);
        if (!json_object_get(a, key))
            compare_values(d, name, none, value);
    }
    json_decref(none);
    json_decref(a);
    json_decref(b);
}

/* All that the object `name` of the configuration holds, but for limits of lists. */
static void compare_object(struct differences *d, const char *name, const json_t *before,
                           const json_t *now)
{
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(now, name), key, value)
    {
        if (strncmp(key, "max_", 4) != 0)
            compare_values(d, key, json_object_get(json_object_get(before, name), key), value);
    }
}

static void compare(struct differences *d, const json_t *before, const json_t *now)
{
    static const char *const keys[] = {"command",     "version",   "frames", "bins",
                                       "unit",        "azimuthal", "split",  "method",
                                       "error_model", "file_mask"};
    static const char *const files[] = {"mask", "mask-only",  "dark",
                                        "flat", "absorption", "variance"};
    compare_inputs(d, json_object_get(before, "inputs"), json_object_get(now, "inputs"));
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        compare_values(d, keys[i], json_object_get(before, keys[i]), json_object_get(now, keys[i]));
    compare_object(d, "geometry", before, now);
    compare_object(d, "peaks", before, now);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        compare_files(d, files[i], json_object_get(json_object_get(before, "files"), files[i]),
                      json_object_get(json_object_get(now, "files"), files[i]));
    compare_options(d, json_object_get(before, "options"), json_object_get(now, "options"));
    const json_t *stream_before = json_object_get(before, "stream"),
                 *stream_now = json_object_get(now, "stream");
    compare_values(d, "series_id", json_object_get(stream_before, "series_id"),
                   json_object_get(stream_now, "series_id"));
    compare_values(d, "channel", json_object_get(stream_before, "channel"),
                   json_object_get(stream_now, "channel"));
}

/* What a result says of its run: its configuration, released with free(), and its rows. */
static airy_status read_result(char **configuration, airy_result_info *info, const char *path)
{
    airy_result *result = NULL;
    airy_status status = airy_result_open(&result, path);
    if (status == AIRY_OK)
        status = airy_result_get_info(result, info);
    if (status == AIRY_OK)
        status = airy_result_get_text(result, "configuration", configuration);
    airy_result_close(&result);
    return status;
}

airy_status airy_configuration_compare(airy_configuration_change *change, const char *before,
                                       const char *now)
{
    struct differences d = {.count = 0};
    AIRY_FAIL_IF(!change || !before || !now, AIRY_ERR_PARAM,
                 "airy_configuration_compare: an argument is NULL");
    json_t *a = json_loads(before, JSON_REJECT_DUPLICATES, NULL),
           *b = json_loads(now, JSON_REJECT_DUPLICATES, NULL);
    const bool readable = a && b;
    if (readable)
        compare(&d, a, b);
    json_decref(a);
    json_decref(b);
    AIRY_FAIL_IF(!readable, AIRY_ERR_FORMAT, "its configuration is not one of this program");
    snprintf(change->text, sizeof(change->text), "%.1000s%s", d.text, d.count > 6 ? "; ..." : "");
    change->touched = d.touched;
    return AIRY_OK;
}

airy_status airy_resume_check(const char *partial, const char *configuration,
                              airy_configuration_change *change, char **before)
{
    airy_result_info info;
    char *text = NULL;
    AIRY_FAIL_IF(!partial || !configuration || !change, AIRY_ERR_PARAM,
                 "airy_resume_check: an argument is NULL");
    *change = (airy_configuration_change){.touched = false};
    airy_status status = read_result(&text, &info, partial);
    if (status == AIRY_OK)
        status = airy_configuration_compare(change, text, configuration);
    if (before)
        *before = text;
    else
        free(text);
    if (status != AIRY_OK)
        return airy_hinted(AIRY_HINT_ANEW,
                           airy_fail_context(status, "%s cannot be continued", partial));
    return !*change->text
               ? AIRY_OK
               : airy_hinted(AIRY_HINT_SAME_RUN,
                             airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                                          "%s was started otherwise: %s", partial, change->text));
}

airy_status airy_resume_complete(const char *path, const char *configuration,
                                 airy_result_info *info)
{
    airy_configuration_change change = {.touched = false};
    char *text = NULL;
    AIRY_FAIL_IF(!path || !configuration || !info, AIRY_ERR_PARAM,
                 "airy_resume_complete: an argument is NULL");
    *info = (airy_result_info){.rows = 0};
    airy_status status = read_result(&text, info, path);
    if (status == AIRY_OK && info->good + info->bad == info->rows)
        status = airy_configuration_compare(&change, text, configuration);
    else
        status = AIRY_ERR_EXISTS;
    free(text);
    AIRY_FAIL_ON_IF(status != AIRY_OK, AIRY_ERR_EXISTS, AIRY_SUBJECT_FILE, "'%s' is there already",
                    path);
    return !*change.text
               ? AIRY_OK
               : airy_hinted(AIRY_HINT_ANEW, airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                                                          "'%s' is there already and was made "
                                                          "otherwise: %s",
                                                          path, change.text));
}
