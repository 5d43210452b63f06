#include "cli/job_command.h"

#include <stdlib.h>
#include <string.h>

static bool step(void *user, size_t done, size_t total)
{
    struct job_params *p = user;
    if (p->catches_late) {
        tool_catch_interrupts();
        p->catches_late = false;
    }
    if (p->is_silent)
        return !tool_interrupted();
    if (!p->begun && airy_job_device(p->job) && job_parameter(p, "device")) {
        progress_clear(&p->progress);
        tool_say_device(&p->common, airy_job_device(p->job));
    }
    p->begun |= airy_job_device(p->job) != NULL; /* a job may wait for a pipe before it opens one */
    if (p->at_interrupt)
        tool_at_interrupt(p->at_interrupt);
    if (total == 1) /* a bar of one step shows nothing */
        return !tool_interrupted();
    if (total == 0 && p->common.command->watch) {
        p->common.command->watch(p);
        return !tool_interrupted();
    }
    return progress_step(&p->progress, done, total);
}

static void print_message(void *user, airy_log_level level, const char *text)
{
    const struct job_params *p = user;
    const struct command *command = p->common.command;
    char named[2 * AIRY_ERROR_TEXT], shown[TOOL_SHOWN];
    if (p->is_silent)
        return;
    if (level == AIRY_LOG_INFO && command->prints_messages && !p->common.json) {
        puts(tool_shown(shown, text));
        return;
    }
    if (level > AIRY_LOG_WARN && !(level == AIRY_LOG_INFO && p->common.verbose))
        return;
    tool_name_values(&p->common, named, sizeof(named), text);
    progress_clear(&p->progress);
    if (level == AIRY_LOG_ERROR)
        (void)tool_fail(&p->common, "%s", named);
    else
        tool_say(&p->common, "%s", named);
}

/* Exit code. */
static int check_inputs(const struct job_params *p)
{
    const struct common *c = &p->common;
    for (size_t i = 0; i < c->inputs.count; i++)
        if (!*c->inputs.items[i] && !job_is_written(c, i))
            return tool_fail(c, "the %s's name is empty, expected a file",
                             job_argument(p, i)->name);
    return AIRY_EXIT_OK;
}

/* The arguments, and what every command has as options. */
static airy_status set_common(struct job_params *p)
{
    const struct common *c = &p->common;
    char size[32];
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < c->inputs.count && status == AIRY_OK; i++)
        status = airy_job_set(p->job, job_argument(p, i)->name, c->inputs.items[i]);
    snprintf(size, sizeof(size), "%llu", (unsigned long long)c->memory_limit);
    if (status == AIRY_OK && c->device && job_parameter(p, "device"))
        status = airy_job_set(p->job, "device", c->device);
    if (status == AIRY_OK && c->threads && job_parameter(p, "threads"))
        status = airy_job_set_number(p->job, "threads", (double)c->threads);
    if (status == AIRY_OK && c->memory_limit && job_parameter(p, "memory-limit"))
        status = airy_job_set(p->job, "memory-limit", size);
    if (status == AIRY_OK && c->profile && job_parameter(p, "profile"))
        status = airy_job_set_flag(p->job, "profile", true);
    if (status == AIRY_OK && c->force && job_parameter(p, "force"))
        status = airy_job_set_flag(p->job, "force", true);
    if (status == AIRY_OK && c->explain && job_parameter(p, "explain"))
        status = airy_job_set_flag(p->job, "explain", true);
    return status;
}

/* The job is to report what it would do. A plan of oct is a file that is read. */
static bool is_plan(const struct job_params *p)
{
    const airy_parameter *plan = job_parameter(p, "plan");
    airy_job_origin origin = AIRY_ORIGIN_DEFAULT;
    return plan && plan->type == AIRY_PARAMETER_FLAG &&
           airy_job_get_origin(p->job, "plan", &origin) == AIRY_OK && origin != AIRY_ORIGIN_DEFAULT;
}

/* An output, once. Exit code. */
static int check_output(const struct job_params *p)
{
    const struct common *c = &p->common;
    const airy_parameter *output = job_role(p, AIRY_ROLE_WRITTEN);
    if (!output || !output->letter || c->explain ||
        (c->command->prints_json && !c->command->writes))
        return AIRY_EXIT_OK;
    const char *option = opt_given(c, output->name, NULL);
    if (option && job_is_written(c, c->inputs.count - 1))
        return tool_usage(c, "unexpected argument '%s' beside -%c %s",
                          c->inputs.items[c->inputs.count - 1], output->letter, option);
    if (!job_first_output(p) && c->command->writes)
        return tool_usage(c, "no output: give %s%s", output->argument,
                          c->command->writes > 1 ? " behind the input" : "");
    return job_first_output(p) || c->command->optional_output || is_plan(p)
               ? AIRY_EXIT_OK
               : tool_usage(c, "no output: give -%c %s", output->letter, output->argument);
}

int job_check(void *params)
{
    struct job_params *p = params;
    int code = check_output(p);
    if (code == AIRY_EXIT_OK)
        code = check_inputs(p);
    if (code == AIRY_EXIT_OK && p->common.compare)
        code = job_compare_check(&p->common);
    if (code == AIRY_EXIT_OK)
        code = job_configure(p);
    if (code != AIRY_EXIT_OK)
        return code;
    airy_status status = set_common(p);
    if (status == AIRY_OK)
        status = airy_job_check(p->job);
    if (status == AIRY_OK || status == AIRY_ERR_MEMORY)
        return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
    return job_refused(p);
}

json_t *job_results(const struct job_params *p)
{
    char *text = NULL;
    json_t *json = airy_job_results_json(p->job, &text) == AIRY_OK ? json_loads(text, 0, NULL)
                                                                   : NULL;
    airy_job_text_free(text);
    if (p->common.command->json_without)
        json_object_del(json, p->common.command->json_without);
    return json;
}

static int print_profile(const struct job_params *p)
{
    enum { MOST = 64 };
    const airy_device *devices[MOST];
    size_t count = 0;
    while (count < MOST && (devices[count] = airy_job_device_at(p->job, count)))
        count++;
    return p->world && p->common.profile ? world_profile(p->world, devices, count)
                                         : tool_profile_all(&p->common, devices, count);
}

static int print_results(const struct job_params *p, const char *output)
{
    const struct common *common = &p->common;
    if (!common->json && !common->command->prints_json) {
        const char *summary = airy_job_summary(p->job);
        if (*summary)
            tool_say(common, "%s%s%s", output ? output : "", output ? ": " : "", summary);
        return AIRY_EXIT_OK;
    }
    json_t *json = job_results(p);
    /* A name that is not UTF-8 has its text here, too. */
    if (json && json_is_null(json_object_get(json, "output")) &&
        airy_job_get_text(p->job, "output", &output) == AIRY_OK)
        json_object_set_new(json, "output", tool_json_string(output));
    return tool_print_json(common, json);
}

/* A failure, and what a job has done all the same; to stop one that says that is no failure. Exit code. */
static int print_end(const struct job_params *p, const char *output, airy_status status)
{
    const bool has_results = *airy_job_summary(p->job) != 0;
    const int code = has_results && p->common.command->asks && status == AIRY_ERR_CANCELLED
                         ? AIRY_EXIT_FAILED
                         : job_failed(p, output, status);
    if (has_results && p->ranks.rank == 0)
        (void)print_results(p, output);
    return code;
}

/* What takes frames asks between them; another job is ended by the signal itself, with a word. */
static void begin_signals(struct job_params *p)
{
    static char line[160];
    const airy_parameter *frames = job_parameter(p, "frames"); /* a number of them: they are made */
    if (p->common.command->asks || job_parameter(p, "on-error") ||
        (frames && frames->type == AIRY_PARAMETER_WHOLE)) {
        /* Until there is anything to keep, who said what a signal does is heeded. */
        p->catches_late = p->world_is_asked;
        if (!p->catches_late)
            tool_catch_interrupts();
        return;
    }
    snprintf(line, sizeof(line), "airy %s: cancelled; nothing was written\n",
             p->common.command->name);
    tool_say_at_interrupt(line);
}

/* An airy_job_event_fn: of series that come by themselves, what became of each. */
static bool print_series(void *user, const airy_job_event *event)
{
    struct job_params *p = user;
    char named[2 * AIRY_ERROR_TEXT];
    if (!p->prints_series || event->kind != AIRY_JOB_EVENT_SERIES_ENDS)
        return true;
    progress_end(&p->progress);
    progress_begin(&p->progress, &p->common, "frames");
    if (p->common.json && event->json)
        (void)tool_print_json(&p->common, json_loads(event->json, 0, NULL));
    tool_name_values(&p->common, named, sizeof(named), event->text);
    if (!p->common.json && *named) /* "": its failure is the run's */
        tool_say(&p->common, "%s", named);
    return true;
}

int job_run(void *params)
{
    struct job_params *p = params;
    const struct common *common = &p->common;
    const char *output = is_plan(p) ? NULL : job_first_output(p);
    int code = AIRY_EXIT_OK;
    p->step = step;
    p->message = print_message;
    p->event = print_series;
    begin_signals(p);
    if (common->explain)
        return job_explain(p);
    airy_status status = common->verbose && !common->compare ? job_say_plan(p) : AIRY_OK;
    progress_begin(&p->progress, common, "frames");
    p->progress.active &= p->ranks.rank == 0;
    if (status == AIRY_OK && common->command->planned)
        code = common->command->planned(p);
    if (code != AIRY_EXIT_OK)
        return code;
    if (status == AIRY_OK)
        status = common->compare ? job_compare(p, &code) : airy_job_run(p->job);
    tool_say_at_interrupt(NULL);
    progress_end(&p->progress);
    if (status < AIRY_OK)
        return print_end(p, output, status);
    if (code == AIRY_EXIT_OK && airy_job_device(p->job))
        code = print_profile(p);
    const bool is_first = p->ranks.rank == 0; /* of several ranks, which talks */
    if (code == AIRY_EXIT_OK && is_first && common->command->show)
        code = common->command->show(p);
    const bool is_shown = common->command->show || common->command->prints_messages;
    if (code == AIRY_EXIT_OK && is_first && !common->compare && !common->command->shows_json &&
        !p->prints_series && (common->json || common->command->prints_json || !is_shown))
        code = print_results(p, output);
    return code == AIRY_EXIT_OK && status == AIRY_PARTLY ? AIRY_EXIT_PARTLY : code;
}
