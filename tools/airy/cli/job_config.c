/* --config FILE of a command that is a job: parameters of a JSON file, or those that a result was made with. */
#include <stdlib.h>
#include <string.h>

#include "airy/provenance.h"
#include "airy/result.h"
#include "cli/job_command.h"

static int fail(const struct job_params *p, const char *sentence)
{
    return tool_fail(&p->common, "--config %s: %s", p->common.config, sentence);
}

/* Warn about files whose content has changed since the result was made. */
static void say_changed(const struct job_params *p, const json_t *files)
{
    const char *key;
    json_t *file;
    json_object_foreach((json_t *)files, key, file)
    {
        const char *path = json_string_value(json_object_get(file, "path")),
                   *then = json_string_value(json_object_get(file, "sha256"));
        char *text = NULL;
        if (!path || !then || strcmp(key, "poni") == 0 || /* the geometry is stored as numbers */
            airy_file_identify(&text, path) != AIRY_OK)
            continue;
        json_t *is = json_loads(text, 0, NULL);
        const char *now = json_string_value(json_object_get(is, "sha256"));
        if (now && strcmp(now, then) != 0)
            tool_say(&p->common, "--config: %s file %s has changed since", key, path);
        json_decref(is);
        free(text);
    }
}

/* Parameters by name, or the configuration of a result, which 'airy info RESULT --json' prints inside of more. */
static int take_json(const struct job_params *p, const json_t *all)
{
    const json_t *inside = json_object_get(json_object_get(all, "result"), "configuration"),
                 *json = inside ? inside : all;
    const bool made = json_is_array(json_object_get(json, "options"));
    char *text = json_dumps(json, JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY);
    if (!text)
        return fail(p, "out of memory");
    const airy_status status = made ? airy_job_set_configuration(p->job, text)
                                    : airy_job_set_json(p->job, text);
    free(text);
    if (status != AIRY_OK)
        return fail(p, airy_last_error());
    if (made)
        say_changed(p, json_object_get(json, "files"));
    return AIRY_EXIT_OK;
}

static int take_text(const struct job_params *p, const char *text)
{
    json_error_t error;
    char why[sizeof(error.text) + 64];
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!json) {
        snprintf(why, sizeof(why), "it is no JSON: line %d: %s; check the file", error.line,
                 error.text);
        return fail(p, why);
    }
    const int code = take_json(p, json);
    json_decref(json);
    return code;
}

/* The whole of a text file, malloc'ed; NULL: *code. */
static char *read_text(const struct job_params *p, int *code)
{
    enum { MOST = 16 << 20 };
    FILE *file = tool_open_text(&p->common, "--config ", p->common.config);
    char *text = file ? calloc(1, MOST + 1) : NULL;
    *code = file && !text ? fail(p, "out of memory") : AIRY_EXIT_FAILED;
    if (text && fread(text, 1, MOST + 1, file) > MOST) {
        *code = fail(p, "it is longer than 16 MiB");
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

/* The configuration of a result, malloc'ed; NULL: *code. */
static char *read_result(const struct job_params *p, int *code)
{
    airy_result *result = NULL;
    char *text = NULL;
    airy_status status = airy_result_open(&result, p->common.config);
    if (status == AIRY_OK)
        status = airy_result_get_text(result, "configuration", &text);
    const bool is_named = tool_has_suffix(p->common.config, ".h5") ||
                          tool_has_suffix(p->common.config, ".hdf5") ||
                          tool_has_suffix(p->common.config, ".nxs") ||
                          tool_has_suffix(p->common.config, ".partial");
    if (status == AIRY_ERR_FORMAT && !is_named)
        *code = fail(p, "expected a result (.h5), its configuration or parameters (.json); a "
                        "geometry is given by --poni");
    else if (status != AIRY_OK)
        *code = tool_failed(&p->common, status);
    airy_result_close(&result);
    return text;
}

int job_configure(struct job_params *p)
{
    int code = AIRY_EXIT_OK;
    if (!p->common.config)
        return AIRY_EXIT_OK;
    char *text = tool_has_suffix(p->common.config, ".json") ? read_text(p, &code)
                                                            : read_result(p, &code);
    if (text)
        code = take_text(p, text);
    free(text);
    return code;
}
