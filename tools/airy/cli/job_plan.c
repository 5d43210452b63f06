/* --explain and --verbose of a command that is a job: what its plan says. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/job_command.h"

enum { LINE = 1024 };

static void add(char line[LINE], const char *text)
{
    const size_t used = strlen(line);
    snprintf(line + used, LINE - used, "%s", text);
}

static void add_value(char line[LINE], const json_t *value);

/* "matrix_host_bytes": "matrix host 12 MB" */
static void add_member(char line[LINE], const char *key, const json_t *value)
{
    char name[64], bytes[32];
    const size_t length = strlen(key), tail = strlen("_bytes");
    const bool is_size = length > tail && strcmp(key + length - tail, "_bytes") == 0;
    snprintf(name, sizeof(name), "%.*s ", (int)(is_size ? length - tail : length), key);
    for (char *c = name; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    add(line, name);
    if (is_size)
        add(line, tool_bytes(bytes, json_number_value(value)));
    else
        add_value(line, value);
}

static void add_value(char line[LINE], const json_t *value)
{
    char number[64];
    const char *key;
    json_t *item;
    size_t i;
    if (json_is_number(value)) {
        snprintf(number, sizeof(number), "%.6g", json_number_value(value));
        if (json_is_integer(value))
            snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(value));
        add(line, number);
    } else if (json_is_array(value)) {
        json_array_foreach(value, i, item)
        {
            add(line, i == 0 ? "" : json_is_object(item) ? "; " : ", ");
            add_value(line, item);
        }
    } else if (json_is_object(value)) {
        json_object_foreach((json_t *)value, key, item)
        {
            add(line,
                item == json_object_iter_value(json_object_iter((json_t *)value)) ? "" : ", ");
            add_member(line, key, item);
        }
    } else {
        add(line, json_is_string(value) ? json_string_value(value)
                  : json_is_null(value) ? "-"
                  : json_is_true(value) ? "yes"
                                        : "no");
    }
}

static void print_plan(const struct common *common, const json_t *plan)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)plan, key, value)
    {
        char line[LINE] = "", name[32], shown[TOOL_SHOWN];
        snprintf(name, sizeof(name), "%.30s", key);
        for (char *c = name; *c; c++)
            *c = *c == '_' ? ' ' : *c;
        add_value(line, value);
        if (common->explain)
            printf("%-9s %s\n", name, tool_shown(shown, line));
        else
            tool_say(common, "%s: %s", name, line);
    }
}

/* The plan as JSON; NULL: *status. */
static json_t *get_plan(const struct job_params *p, airy_status *status)
{
    char *text = NULL;
    *status = airy_job_resolve(p->job);
    if (*status == AIRY_OK)
        *status = airy_job_get_plan(p->job, &text);
    json_t *plan = *status == AIRY_OK ? json_loads(text, 0, NULL) : NULL;
    airy_job_text_free(text);
    return plan;
}

airy_status job_say_plan(const struct job_params *p)
{
    airy_status status;
    const airy_device *device;
    json_t *plan = get_plan(p, &status);
    print_plan(&p->common, plan);
    for (size_t i = 0; (device = airy_job_device_at(p->job, i)); i++)
        tool_say_tuning(&p->common, device);
    json_decref(plan);
    return status;
}

/* The first of the chosen frames as a value of "frames". */
static airy_status choose_some(airy_job *job)
{
    enum { SOME = 32 };
    char *text = NULL, frames[96], *at;
    airy_status status = airy_job_get(job, "frames", &text);
    if (status != AIRY_OK || !text)
        return status;
    const unsigned long long first = strtoull(text, &at, 10),
                             end = *at == ':' ? strtoull(at + 1, &at, 10) : first + 1,
                             step = *at == ':' ? strtoull(at + 1, NULL, 10) : 1;
    airy_job_text_free(text);
    const unsigned long long some = first + SOME * (step ? step : 1);
    snprintf(frames, sizeof(frames), "%llu:%llu:%llu", first, end && end < some ? end : some,
             step ? step : 1);
    status = airy_job_reset(job, "frames");
    return status == AIRY_OK ? airy_job_set(job, "frames", frames) : status;
}

/*
 * Frames a second on a few frames, nothing written; NaN where they cannot be read. *status:
 * AIRY_ERR_MEMORY where the run would end so, too.
 */
static double measure_rate(struct job_params *p, airy_status *status)
{
    static const char *const without[] = {"resume",  "per-rank", "on-error",
                                          "average", "sum",      "grid"};
    const airy_parameter *parameter;
    double frames = 0;
    p->is_silent = true;
    for (size_t i = 0; (parameter = airy_job_parameter_at(p->common.command->job, i)); i++)
        if (parameter->role == AIRY_ROLE_WRITTEN)
            (void)airy_job_reset(p->job, parameter->name);
    for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
        (void)airy_job_reset(p->job, without[i]);
    *status = airy_job_set(p->job, "on-error", "skip");
    if (*status == AIRY_OK)
        *status = choose_some(p->job);
    if (*status == AIRY_OK)
        *status = airy_job_run(p->job);
    (void)airy_job_get_number(p->job, "frames", &frames);
    const double seconds = airy_job_seconds(p->job);
    return *status >= AIRY_OK && seconds > 0 ? frames / seconds : (double)NAN;
}

static bool has_rate(const struct job_params *p)
{
    const airy_parameter *parameter;
    for (size_t i = 0; (parameter = airy_job_parameter_at(p->common.command->job, i)); i++)
        if (strcmp(parameter->name, "on-error") == 0)
            return true;
    return false;
}

int job_explain(struct job_params *p)
{
    const struct common *common = &p->common;
    airy_status status;
    json_t *plan = get_plan(p, &status);
    if (status != AIRY_OK)
        return job_failed(p, NULL, status);
    if (has_rate(p)) {
        const double rate = measure_rate(p, &status);
        if (status == AIRY_ERR_MEMORY) {
            json_decref(plan);
            return job_failed(p, NULL, status);
        }
        json_object_set_new(plan, "frames_per_second", tool_json_number(rate));
    }
    if (common->json)
        return tool_print_json(common, plan);
    print_plan(common, plan);
    json_decref(plan);
    return AIRY_EXIT_OK;
}
