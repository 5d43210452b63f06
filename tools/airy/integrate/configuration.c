/* What an integration was made with, as JSON: written into the result, read back by --config. */
#include <stdlib.h>
#include <string.h>

#include "airy/provenance.h"
#include "integrate/integrate.h"
#include "result/patterns.h"

/* The answer of airy_file_identify or airy_files_identify; NULL: memory is short, or *code is another one. */
static json_t *parse_answer(const struct common *common, airy_status status, char *text, int *code)
{
    json_t *json = status == AIRY_OK ? json_loads(text, 0, NULL) : NULL;
    free(text);
    if (status != AIRY_OK && status != AIRY_ERR_MEMORY)
        *code = common ? tool_failed(common, status) : AIRY_EXIT_FAILED;
    return json;
}

/*
 * What airy_file_identify has of a file. NULL: memory is short, or, with *code changed, the file
 * cannot be read, which is reported unless common is NULL.
 */
static json_t *identify_file(const struct common *common, const char *path, int *code)
{
    char *text = NULL;
    const airy_status status = airy_file_identify(&text, path);
    return parse_answer(common, status, text, code);
}

/* Append an item to a list; where one of them is NULL, the list is freed and becomes NULL. */
static void append(json_t **list, json_t *item)
{
    if (json_array_append_new(*list, item) == 0)
        return;
    json_decref(*list);
    *list = NULL;
}

/* All inputs. Of those that are followed nobody knows yet what they will be. */
static json_t *inputs_json(const struct common *common, bool follow, int *code)
{
    const struct opt_list *inputs = &common->inputs;
    char *text = NULL;
    if (!follow) {
        const airy_status status = airy_files_identify(&text, inputs->items, inputs->count);
        return parse_answer(common, status, text, code);
    }
    json_t *list = json_array();
    for (size_t i = 0; i < inputs->count; i++)
        append(&list, json_pack("{s:o}", "path", tool_json_string(inputs->items[i])));
    return list;
}

/* Options that say how it ran, not what came out. */
static bool replayed_option(const char *name)
{
    static const char *const not_kept[] = {
        "format", "one-table", "output",   "plot",           "config",  "resume", "batch",
        "layout", "mpi",       "per-rank", "publish",        "sockets", "series", "timeout",
        "bind",   "drop",      "follow",   "follow-timeout", "poll"};
    for (size_t i = 0; i < sizeof(not_kept) / sizeof(not_kept[0]); i++)
        if (strcmp(name, not_kept[i]) == 0)
            return false;
    return !opt_in_table(geometry_options, name); /* the geometry is kept as numbers */
}

/*
 * Return whether a result stores such a word: "--name=argument", or "--name" of a flag. Other words
 * would let the author of the file decide over --force, or over other outputs and their places.
 */
static bool is_kept(const struct command *command, const char *word)
{
    char name[64];
    const size_t length = strncmp(word, "--", 2) == 0 ? strcspn(word + 2, "=") : 0;
    if (length == 0 || length >= sizeof(name))
        return false;
    snprintf(name, sizeof(name), "%.*s", (int)length, word + 2);
    for (size_t t = 0; t < OPT_TABLES; t++)
        for (const struct opt *opt = opt_table(command, t); opt && !opt_ends(opt); opt++)
            if (opt->name && strcmp(opt->name, name) == 0)
                return replayed_option(name) &&
                       (t + 1 < OPT_TABLES || strcmp(name, "compat") == 0) &&
                       (opt->type == OPT_FLAG) == !word[2 + length];
    return false;
}

/* "--name=argument" or "--name". */
static json_t *option_json(const char *name, const char *argument)
{
    const size_t size = strlen(name) + (argument ? strlen(argument) : 0) + 4;
    char *word = malloc(size);
    if (!word)
        return NULL;
    snprintf(word, size, "--%s%s%s", name, argument ? "=" : "", argument ? argument : "");
    json_t *json = tool_json_string(word);
    free(word);
    return json;
}

/* The files that options name. */
static json_t *files_json(const struct integration *job, int *code)
{
    const struct integrate_params *p = job->params;
    const struct {
        const char *key, *path;
    } named[] = {{"poni", p->geometry.given.poni},
                 {"mask", p->bad.mask},
                 {"mask-only", p->mask_only},
                 {"dark", p->dark},
                 {"flat", p->flat},
                 {"absorption", p->absorption},
                 {"variance", p->variance}};
    json_t *files = json_object();
    for (size_t i = 0; files && i < sizeof(named) / sizeof(named[0]); i++)
        if (named[i].path &&
            json_object_set_new(files, named[i].key,
                                identify_file(job->common, named[i].path, code)) != 0) {
            json_decref(files);
            files = NULL;
        }
    return files;
}

int configuration_text(char **text, const struct integration *job)
{
    const struct integrate_params *p = job->params;
    const struct opt_list *given = &job->common->given;
    int code = AIRY_EXIT_OK;
    json_t *inputs = inputs_json(job->common, p->follow, &code), *options = json_array(),
           *files = code == AIRY_EXIT_OK ? files_json(job, &code) : NULL;
    for (size_t i = 0; i + 1 < given->count; i += 2)
        if (replayed_option(given->items[i]))
            append(&options, option_json(given->items[i], given->items[i + 1]));
    char frames[80];
    snprintf(frames, sizeof(frames), "%zu:%zu:%zu", job->run.first, job->run.last, job->run.step);
    json_t *json = json_pack(
        "{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:b, s:s, s:i, s:s, s:s, s:s, s:s}", "program", "airy",
        "version", airy_version(), "command", "integrate", "inputs", inputs, "files", files,
        "geometry", geometry_json(&job->geometry), "options", options, "file_mask",
        job->meta.has_mask, "frames", frames, "bins", (int)airy_integrator_bins(job->integrator),
        "unit", airy_unit_name(p->pattern.unit), "split", airy_split_name(p->pattern.split),
        "method", airy_method_name(p->pattern.method), "error_model",
        airy_error_model_name(job->integrator_params.error_model));
    if (json && p->pattern.bins.azimuth)
        json_object_set_new(json, "azimuthal",
                            json_string(airy_unit_name(p->pattern.azimuthal ? p->pattern.azimuthal
                                                                            : AIRY_UNIT_CHI_DEG)));
    if (job->source && json)
        json_object_set(json, "stream", job->source->about);
    *text = json ? tool_json_text(json) : NULL;
    json_decref(json);
    return *text || code != AIRY_EXIT_OK
               ? code
               : tool_fail(job->common, "out of memory for the configuration");
}

/* Files whose content changed since: said, not fatal. */
static void say_changed(const struct common *common, const json_t *files)
{
    const char *key;
    json_t *file;
    json_object_foreach((json_t *)files, key, file)
    {
        const char *path = json_string_value(json_object_get(file, "path")),
                   *then = json_string_value(json_object_get(file, "sha256"));
        int code = AIRY_EXIT_OK;
        json_t *is = path && then && strcmp(key, "poni") != 0 ? identify_file(NULL, path, &code)
                                                              : NULL;
        const char *now = json_string_value(json_object_get(is, "sha256"));
        if (now && strcmp(now, then) != 0)
            tool_say(common, "--config: %s file %s has changed since", key, path);
        json_decref(is);
    }
}

/* A configuration by itself, or in what 'airy info RESULT --json' prints. */
static json_t *json_of_file(const struct common *common, const char *path, int *code)
{
    json_error_t error;
    FILE *file = tool_open_text(common, "--config ", path);
    json_t *all = file ? json_loadf(file, JSON_REJECT_DUPLICATES, &error) : NULL;
    *code = file ? AIRY_EXIT_OK : AIRY_EXIT_FAILED;
    if (file)
        fclose(file);
    if (file && !all)
        *code = tool_fail(common, "--config %s: it is no JSON: line %d: %s; check the file", path,
                          error.line, error.text);
    json_t *inside = json_object_get(json_object_get(all, "result"), "configuration");
    json_t *json = json_incref(inside ? inside : all);
    json_decref(all);
    return json;
}

/* Of a previous result, or of a JSON file. NULL, and *code: it cannot be read. */
static json_t *load_configuration(const struct common *common, const char *path, int *code)
{
    if (tool_has_suffix(path, ".json"))
        return json_of_file(common, path, code);
    airy_status status;
    json_t *json = patterns_read_configuration(&status, path);
    if (status == AIRY_ERR_FORMAT && !integrate_is_hdf5_name(path) &&
        !tool_has_suffix(path, ".partial"))
        *code = tool_fail(common,
                          "--config %s: expected a result (.h5), or its configuration (.json); a "
                          "geometry is given by --poni",
                          path);
    else
        *code = status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
    return json;
}

int configuration_read(const struct common *common, const char *path, struct opt_list *words,
                       airy_geometry *geometry)
{
    int code;
    json_t *json = load_configuration(common, path, &code);
    if (code != AIRY_EXIT_OK)
        return code;
    const json_t *options = json_object_get(json, "options");
    if (!json_is_array(options) || !geometry_from_json(geometry, json_object_get(json, "geometry")))
        code = tool_fail(common,
                         "--config %s: its configuration is not one of this program; give the "
                         "options themselves",
                         path);
    for (size_t i = 0; code == AIRY_EXIT_OK && i < json_array_size(options); i++) {
        const char *word = json_string_value(json_array_get(options, i));
        if (!word || !is_kept(common->command, word)) {
            code =
                tool_fail(common,
                          "--config %s: option %zu of its configuration is '%s', which no result "
                          "stores; give the options themselves",
                          path, i + 1, word ? word : "no word");
            break;
        }
        char *copy = strdup(word);
        if (!copy || !opt_list_add(words, copy)) {
            free(copy);
            code = tool_fail(common, "out of memory");
        }
    }
    if (code == AIRY_EXIT_OK)
        say_changed(common, json_object_get(json, "files"));
    json_decref(json);
    return code;
}
