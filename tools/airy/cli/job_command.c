#include "cli/job_command.h"

#include <stdlib.h>
#include <string.h>

static bool step(void *user, size_t done, size_t total)
{
    struct job_params *p = user;
    if (!p->begun && airy_job_device(p->job))
        tool_say_device(&p->common, airy_job_device(p->job));
    p->begun = true;
    return progress_step(&p->progress, done, total);
}

static void print_message(void *user, airy_log_level level, const char *text)
{
    const struct job_params *p = user;
    if (level <= AIRY_LOG_WARN || (level == AIRY_LOG_INFO && p->common.verbose))
        tool_say(&p->common, "%s", text);
}

/* The parameter of a role, and its name; NULL: there is none. */
static const airy_parameter *find_role(const struct job_params *p, airy_parameter_role role)
{
    const airy_parameter *parameter;
    for (size_t i = 0; (parameter = airy_job_parameter_at(p->common.command->job, i)); i++)
        if (parameter->role == role)
            return parameter;
    return NULL;
}

static bool has_parameter(const struct job_params *p, const char *name)
{
    airy_job_origin origin;
    return airy_job_get_origin(p->job, name, &origin) == AIRY_OK;
}

/* The inputs, and what every command has as options. */
static airy_status set_common(struct job_params *p)
{
    const struct common *c = &p->common;
    const airy_parameter *input = find_role(p, AIRY_ROLE_INPUT);
    char size[32];
    airy_status status = AIRY_OK;
    for (size_t i = 0; input && i < c->inputs.count && status == AIRY_OK; i++)
        status = airy_job_set(p->job, input->name, c->inputs.items[i]);
    snprintf(size, sizeof(size), "%llu", (unsigned long long)c->memory_limit);
    if (status == AIRY_OK && c->device && has_parameter(p, "device"))
        status = airy_job_set(p->job, "device", c->device);
    if (status == AIRY_OK && c->threads && has_parameter(p, "threads"))
        status = airy_job_set_number(p->job, "threads", (double)c->threads);
    if (status == AIRY_OK && c->memory_limit && has_parameter(p, "memory-limit"))
        status = airy_job_set(p->job, "memory-limit", size);
    if (status == AIRY_OK && c->profile && has_parameter(p, "profile"))
        status = airy_job_set_flag(p->job, "profile", true);
    if (status == AIRY_OK && c->force && has_parameter(p, "force"))
        status = airy_job_set_flag(p->job, "force", true);
    return status;
}

int job_check(void *params)
{
    struct job_params *p = params;
    const airy_parameter *output = find_role(p, AIRY_ROLE_WRITTEN);
    if (output && output->letter && !opt_given(&p->common, output->name, NULL))
        return tool_usage(&p->common, "-%c %s is missing", output->letter, output->argument);
    airy_status status = set_common(p);
    if (status == AIRY_OK)
        status = airy_job_check(p->job);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_usage(&p->common, "--%s", airy_last_error());
}

/* A parameter is an option here. */
static int print_failure(const struct job_params *p, const char *output, airy_status status)
{
    const struct common *common = &p->common;
    airy_error error;
    airy_error_get(&error);
    if (status == AIRY_ERR_CANCELLED)
        return tool_fail(common, "%s, %s; start again", error.text, tool_left(common, output));
    const size_t n = strlen(error.name);
    if (error.subject == AIRY_SUBJECT_PARAMETER && n && strncmp(error.text, error.name, n) == 0 &&
        has_parameter(p, error.name)) {
        char text[AIRY_ERROR_TEXT];
        snprintf(text, sizeof(text), "--%.*s", (int)sizeof(text) - 3, error.text);
        snprintf(error.text, sizeof(error.text), "%s", text);
    }
    if (status == AIRY_ERR_UNSUPPORTED && output && tool_has_suffix(output, ".png"))
        return tool_fail(common, "%s, and 'airy view' draws pictures", error.text);
    error.status = status;
    return tool_failed_as(common, &error);
}

static int print_results(const struct job_params *p, const char *output)
{
    const struct common *common = &p->common;
    char *text = NULL;
    if (!common->json) {
        tool_say(common, "%s: %s", output, airy_job_summary(p->job));
        return AIRY_EXIT_OK;
    }
    if (airy_job_results_json(p->job, &text) != AIRY_OK)
        return tool_failed(common, AIRY_ERR_MEMORY);
    json_t *json = json_loads(text, 0, NULL);
    airy_job_text_free(text);
    /* A name that is not UTF-8 has its text here, too. */
    if (json && json_is_null(json_object_get(json, "output")))
        json_object_set_new(json, "output", tool_json_string(output));
    return tool_print_json(common, json);
}

int job_run(void *params)
{
    struct job_params *p = params;
    const struct common *common = &p->common;
    const airy_parameter *written = find_role(p, AIRY_ROLE_WRITTEN);
    const char *output = written ? opt_given(common, written->name, NULL) : NULL;
    p->step = step;
    p->message = print_message;
    tool_catch_interrupts();
    progress_begin(&p->progress, common, "frames");
    const airy_status status = airy_job_run(p->job);
    progress_end(&p->progress);
    if (status < AIRY_OK)
        return print_failure(p, output, status);
    int code = airy_job_device(p->job) ? tool_profile(common, airy_job_device(p->job))
                                       : AIRY_EXIT_OK;
    if (code == AIRY_EXIT_OK)
        code = print_results(p, output);
    return code == AIRY_EXIT_OK && status == AIRY_PARTLY ? AIRY_EXIT_PARTLY : code;
}
