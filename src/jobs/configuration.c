#include "jobs/configuration.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "airy/provenance.h"
#include "airy/resume.h"

static bool is_in(const struct airy_job_row *rows, const char *name)
{
    for (; rows && rows->p.name; rows++)
        if (strcmp(rows->p.name, name) == 0)
            return true;
    return false;
}

/* The text of a parameter that was set; NULL: it has none. */
static airy_status text_of(const airy_job *job, size_t row, char **text)
{
    const char *name = job->rows[row]->p.name;
    *text = NULL;
    return airy_job_is_set(job, name) ? airy_job_get(job, name, text) : AIRY_OK;
}

/* Take a text of JSON; *json stays NULL where memory is short. */
static void take_json(json_t **json, char *text)
{
    *json = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    free(text);
}

static airy_status add_file(json_t *files, const char *name, const char *path)
{
    char *text = NULL;
    json_t *json;
    AIRY_TRY(airy_file_identify(&text, path));
    take_json(&json, text);
    return json_object_set_new(files, name, json) == 0
               ? AIRY_OK
               : airy_fail(AIRY_ERR_MEMORY, "out of memory for JSON");
}

/* "--name=text", or "--name" of a flag: as words of the command, which results hold. */
static airy_status add_option(json_t *options, const airy_parameter *p, const char *text)
{
    char *utf8 = NULL;
    if (p->type == AIRY_PARAMETER_FLAG && strcmp(text, "off") == 0)
        return AIRY_OK;
    AIRY_TRY(airy_utf8_copy(&utf8, text));
    json_t *word = p->type == AIRY_PARAMETER_FLAG ? json_sprintf("--%s", p->name)
                                                  : json_sprintf("--%s=%s", p->name, utf8);
    free(utf8);
    return json_array_append_new(options, word) == 0
               ? AIRY_OK
               : airy_fail(AIRY_ERR_MEMORY, "out of memory for JSON");
}

/* A word for each item of a list. */
static airy_status add_options(json_t *options, const airy_parameter *p, const void *field,
                               const char *text)
{
    const struct airy_job_list *list = field;
    if (!p->list)
        return add_option(options, p, text);
    for (size_t i = 0; i < list->count; i++)
        AIRY_TRY(add_option(options, p, list->items[i]));
    return AIRY_OK;
}

static airy_status add_parameters(const airy_job *job, json_t *files, json_t *options,
                                  const struct airy_job_row *without)
{
    for (size_t i = 0; i < job->row_count; i++) {
        const airy_parameter *p = &job->rows[i]->p;
        char *text = NULL;
        if (p->role == AIRY_ROLE_INPUT || p->affects == AIRY_AFFECTS_HOW ||
            p->affects == AIRY_AFFECTS_WHERE)
            continue;
        airy_status status = text_of(job, i, &text);
        if (status == AIRY_OK && text && p->role == AIRY_ROLE_READ)
            status = add_file(files, p->name, text);
        if (status == AIRY_OK && text && !is_in(without, p->name))
            status = add_options(options, p, job->fields[i], text);
        airy_job_text_free(text);
        AIRY_TRY(status);
    }
    return AIRY_OK;
}

/* {"array": [lengths], "dtype": NAME} of one that stands for a file. */
static json_t *array_json(const airy_host_view *view)
{
    json_t *shape = json_array();
    for (int i = 0; i < view->ndim; i++)
        json_array_append_new(shape, json_integer((json_int_t)view->shape[i]));
    return json_pack("{s:o, s:s}", "array", shape, "dtype", airy_dtype_name(view->dtype));
}

airy_status airy_job_begin_configuration(const airy_job *job, json_t **json,
                                         const struct airy_job_list *inputs,
                                         const airy_geometry *geometry,
                                         const struct airy_job_row *without)
{
    char *text = NULL;
    json_t *list, *pose, *files = json_object(), *options = json_array();
    airy_status status = AIRY_OK;
    if (!inputs) {
        list = json_array();
    } else if (inputs->is_array) {
        list = json_pack("[o]", array_json(&inputs->view));
    } else {
        status = airy_files_identify(&text, (const char *const *)inputs->items, inputs->count);
        take_json(&list, text);
        text = NULL;
    }
    if (status == AIRY_OK)
        status = airy_geometry_print(&text, geometry);
    take_json(&pose, text);
    if (status == AIRY_OK)
        status = add_parameters(job, files, options, without);
    *json = json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "program", "airy", "version",
                      airy_version(), "command", job->kind->name, "inputs", list, "files", files,
                      "geometry", pose, "options", options);
    if (status != AIRY_OK)
        json_decref(*json);
    AIRY_TRY(status);
    AIRY_FAIL_IF(!*json, AIRY_ERR_MEMORY, "out of memory for the configuration");
    return AIRY_OK;
}

airy_status airy_job_name_inputs(json_t *json, const struct airy_job_list *inputs)
{
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < inputs->count && status == AIRY_OK; i++) {
        char *path = NULL;
        status = airy_utf8_copy(&path, inputs->items[i]);
        if (status == AIRY_OK && json_array_append_new(json_object_get(json, "inputs"),
                                                       json_pack("{s:s}", "path", path)) != 0)
            status = airy_fail(AIRY_ERR_MEMORY, "out of memory for the configuration");
        free(path);
    }
    if (status != AIRY_OK)
        json_decref(json);
    return status;
}

airy_status airy_job_end_configuration(char **text, json_t *json)
{
    *text = json ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(json);
    AIRY_FAIL_IF(!*text, AIRY_ERR_MEMORY, "out of memory for the configuration");
    airy_json_shorten(*text);
    return AIRY_OK;
}

bool airy_job_is_there(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0;
}

bool airy_job_may_be_complete(const char *output, bool resume, bool force)
{
    char partial[AIRY_PARTIAL_PATH];
    return output && resume && !force && airy_job_is_there(output) &&
           airy_job_partial_path(partial, output) == AIRY_OK && !airy_job_is_there(partial);
}

airy_status airy_job_put_complete(airy_job *job, const char *output, bool names_output,
                                  size_t frames, size_t bad)
{
    const char *name = names_output ? output : "", *link = names_output ? ": " : "";
    AIRY_TRY(airy_job_put_text(job, "output", output));
    AIRY_TRY(airy_job_put_json(job, "complete_already", json_true()));
    airy_job_put_number(job, "frames", (double)frames);
    airy_job_put_number(job, "bad", (double)bad);
    if (bad)
        airy_job_sum_up(job, "%s%scomplete already, %zu of %zu frames failed", name, link, bad,
                        frames);
    else
        airy_job_sum_up(job, "%s%scomplete already", name, link);
    return bad ? AIRY_PARTLY : AIRY_OK;
}

airy_status airy_job_partial_path(char partial[AIRY_PARTIAL_PATH], const char *output)
{
    const int n = snprintf(partial, AIRY_PARTIAL_PATH, "%s.partial", output);
    AIRY_FAIL_ON_IF(n >= AIRY_PARTIAL_PATH, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s: the name is longer than %d bytes", "output", AIRY_PARTIAL_PATH - 1);
    return AIRY_OK;
}

airy_status airy_job_check_partial(const airy_job *job, bool *is_there, const char *output,
                                   const char *configuration, char **before)
{
    char partial[AIRY_PARTIAL_PATH];
    airy_configuration_change change;
    AIRY_TRY(airy_job_partial_path(partial, output));
    *is_there = airy_job_is_there(partial);
    if (!*is_there) {
        airy_job_message(job, AIRY_LOG_WARN,
                         "resume=on: there is no %s, so it starts from the beginning", partial);
        return AIRY_OK;
    }
    AIRY_TRY(airy_resume_check(partial, configuration, &change, before));
    if (change.touched)
        airy_job_message(job, AIRY_LOG_WARN,
                         "resume=on: a file has another time than when the run was started, its "
                         "name and size are the same");
    return AIRY_OK;
}

airy_status airy_job_stopped(const char *output, size_t done, size_t total, bool is_resumed)
{
    char of[32] = "";
    AIRY_FAIL_IF(!output || (done == 0 && !is_resumed), AIRY_ERR_CANCELLED,
                 "cancelled before the first frame");
    if (total)
        snprintf(of, sizeof(of), " of %zu", total);
    return airy_hinted(AIRY_HINT_INTERRUPTED,
                       airy_fail(AIRY_ERR_CANCELLED,
                                 "cancelled after %zu%s frames, which are in %s.partial", done, of,
                                 output));
}
