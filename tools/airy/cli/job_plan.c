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

/* Whether a name ends so. *rest: what stands in front of it. */
static bool ends_with(const char *name, const char *tail, int *rest)
{
    const size_t length = strlen(name), end = strlen(tail);
    *rest = length > end ? (int)(length - end) : 0;
    return length > end && strcmp(name + length - end, tail) == 0;
}

/* "matrix_host" as "matrix host". */
static void spell(char name[64], const char *key, int length)
{
    snprintf(name, 64, "%.*s", length, key);
    for (char *c = name; *c; c++)
        *c = *c == '_' ? ' ' : *c;
}

static void add_value(char line[LINE], const json_t *value);

static void add_number(char line[LINE], const json_t *value, const char *unit)
{
    char number[96];
    if (json_is_integer(value))
        snprintf(number, sizeof(number), "%lld%s", (long long)json_integer_value(value), unit);
    else
        snprintf(number, sizeof(number), "%.6g%s", json_number_value(value), unit);
    add(line, json_is_number(value) ? number : "-");
}

/* "radial 0 to 12.6 q_nm^-1", with the unit that stands beside the range. */
static void add_range(char line[LINE], const char *axis, const json_t *range, const char *unit)
{
    add(line, axis);
    add_number(line, json_array_get(range, 0), " to ");
    add_number(line, json_array_get(range, 1), unit ? " " : "");
    add(line, unit ? unit : "");
}

/* A value whose name says what it is measured in; false: none. */
static bool add_measure(char line[LINE], const char *key, const json_t *value)
{
    char unit[64], bytes[32];
    int rest;
    if (ends_with(key, "bytes", &rest)) {
        add(line, tool_bytes(bytes, json_number_value(value)));
    } else if (ends_with(key, "_per_second", &rest)) {
        snprintf(unit, sizeof(unit), " %.*s/s", rest, key);
        add_number(line, value, unit);
    } else if (ends_with(key, "_um", &rest)) {
        add_number(line, value, " um");
    } else {
        return false;
    }
    return true;
}

/* "range" and "unit" are one text, and so are "height" and "width", "spec" and "name". */
static bool is_part_of_another(const json_t *object, const char *key)
{
    return (strcmp(key, "unit") == 0 && json_object_get(object, "range")) ||
           (strcmp(key, "azimuth_unit") == 0 && json_object_get(object, "azimuth_range")) ||
           (strcmp(key, "width") == 0 && json_object_get(object, "height")) ||
           (strcmp(key, "name") == 0 && json_object_get(object, "spec"));
}

/* Members that belong together; false: it is none of them. */
static bool add_pair(char line[LINE], const json_t *object, const char *key, const json_t *value)
{
    const json_t *other = json_object_get(object, "width"), *name = json_object_get(object, "name");
    if (strcmp(key, "range") == 0 && json_array_size(value) == 2) {
        add_range(line, "radial ", value, json_string_value(json_object_get(object, "unit")));
    } else if (strcmp(key, "azimuth_range") == 0 && json_array_size(value) == 2) {
        add_range(line, "azimuthal ", value,
                  json_string_value(json_object_get(object, "azimuth_unit")));
    } else if (strcmp(key, "height") == 0 && other) {
        add_number(line, value, " x ");
        add_number(line, other, " pixels");
    } else if (strcmp(key, "spec") == 0 && name) {
        add_value(line, value);
        add(line, " (");
        add_value(line, name);
        add(line, ")");
    } else {
        return false;
    }
    return true;
}

/* "16 frames", "matrix host 12 MB", "split full"; a name of a file or a type stands alone. */
static void add_member(char line[LINE], const json_t *object, const char *key, const json_t *value)
{
    static const char *const plain[] = {"dataset", "dtype", "filters"};
    char name[64];
    int rest;
    if (add_pair(line, object, key, value))
        return;
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        if (strcmp(key, plain[i]) == 0) {
            add_value(line, value);
            return;
        }
    const bool is_size = ends_with(key, "_bytes", &rest),
               is_count = json_is_integer(value) && !is_size && ends_with(key, "s", &rest);
    spell(name, key, is_size || (is_count && json_integer_value(value) == 1) ? rest : 64);
    if (is_count)
        add_number(line, value, " ");
    add(line, name);
    add(line, is_count ? "" : " ");
    if (!is_count && !add_measure(line, key, value))
        add_value(line, value);
}

static void add_object(char line[LINE], const json_t *object)
{
    const char *key, *comma = "";
    json_t *item;
    json_object_foreach((json_t *)object, key, item)
    {
        if (is_part_of_another(object, key))
            continue;
        add(line, comma);
        add_member(line, object, key, item);
        comma = ", ";
    }
}

static void add_value(char line[LINE], const json_t *value)
{
    json_t *item;
    size_t i;
    if (json_is_array(value)) {
        json_array_foreach(value, i, item)
        {
            add(line, i == 0 ? "" : json_is_object(item) ? "; " : ", ");
            add_value(line, item);
        }
    } else if (json_is_object(value)) {
        add_object(line, value);
    } else if (json_is_number(value)) {
        add_number(line, value, "");
    } else {
        add(line, json_is_string(value) ? json_string_value(value)
                  : json_is_null(value) ? "-"
                  : json_is_true(value) ? "yes"
                                        : "no");
    }
}

/* How a line of the plan begins. */
static void label(char name[64], const char *key)
{
    static const struct {
        const char *key, *label;
    } labels[] = {{"chosen_by", "device chosen by"},
                  {"read", "reading"},
                  {"mask", "masked pixels"},
                  {"dummy", "dummy values"},
                  {"why", "because"},
                  {"clip", "clip (sigma, n)"},
                  {"quantile", "quantile (%)"},
                  {"depth_step_um", "depth step"}};
    int rest;
    if (ends_with(key, "_per_second", &rest))
        snprintf(name, 64, "rate");
    else
        spell(name, key, ends_with(key, "_bytes", &rest) ? rest : 64);
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
        if (strcmp(labels[i].key, key) == 0)
            snprintf(name, 64, "%s", labels[i].label);
}

static void print_plan(const struct common *common, const json_t *plan)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)plan, key, value)
    {
        char line[LINE] = "", name[64], shown[TOOL_SHOWN];
        label(name, key);
        if (!add_measure(line, key, value))
            add_value(line, value);
        if (common->explain)
            printf("%-17s %s\n", name, tool_shown(shown, line));
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

int job_explain(struct job_params *p)
{
    const struct common *common = &p->common;
    airy_status status;
    json_t *plan = get_plan(p, &status);
    if (status != AIRY_OK)
        return job_failed(p, NULL, status);
    if (job_parameter(p, "on-error")) { /* it takes frames, of which it can leave out some */
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
