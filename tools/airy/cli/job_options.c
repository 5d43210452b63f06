/* The options of a command that is a job, made of the job's description. */
#include <stdlib.h>
#include <string.h>

#include "cli/job_command.h"

/* Tables that were made; they stay until the end. */
struct made_table {
    const struct command *command;
    struct opt *options;
    struct made_table *next;
};
static struct made_table *tables;

/* "mean|sum|max" of words, or what the table says. It stays until the end. */
static const char *argument_of(const airy_parameter *p)
{
    static const char *const of_type[AIRY_PARAMETER_TYPE_COUNT] = {
        [AIRY_PARAMETER_WHOLE] = "N",    [AIRY_PARAMETER_SEED] = "N",
        [AIRY_PARAMETER_BYTES] = "SIZE", [AIRY_PARAMETER_REAL] = "X",
        [AIRY_PARAMETER_TEXT] = "TEXT",  [AIRY_PARAMETER_PATH] = "FILE",
        [AIRY_PARAMETER_TUPLE] = "A,B",  [AIRY_PARAMETER_RANGE] = "A:B[:S]",
        [AIRY_PARAMETER_SHAPE] = "HxW",  [AIRY_PARAMETER_RECORD] = "A,B"};
    if (p->argument || !p->words)
        return p->argument ? p->argument : of_type[p->type];
    size_t size = 1, n = 0;
    for (size_t i = 0; p->words[i]; i++)
        size += strlen(p->words[i]) + 1;
    char *text = calloc(1, size);
    for (size_t i = 0; text && p->words[i]; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%s", i ? "|" : "", p->words[i]);
    return text;
}

static bool has_parameter(const char *job, const char *name)
{
    const airy_parameter *p;
    for (size_t i = 0; (p = airy_job_parameter_at(job, i)); i++)
        if (strcmp(p->name, name) == 0)
            return true;
    return false;
}

/* "{dummy}" of another parameter as "--dummy", "{compat=pyfai}" as "--compat pyfai". Bytes read; 0: it is none. */
static size_t name_reference(char *to, size_t size, const char *job, const airy_parameter *p,
                             const char *text)
{
    char name[64];
    const size_t n = strcspn(text, "=}"), all = strcspn(text, "}");
    if (*text != '{' || !text[all] || n > sizeof(name))
        return 0;
    snprintf(name, sizeof(name), "%.*s", (int)(n - 1), text + 1);
    if (strcmp(name, p->name) == 0 || !has_parameter(job, name))
        return 0;
    snprintf(to, size, "--%s%s%.*s", name, n < all ? " " : "", (int)(n < all ? all - n - 1 : 0),
             text + n + 1);
    return all + 1;
}

/* malloc'ed; NULL: out of memory. */
static char *name_references(const char *job, const airy_parameter *p)
{
    const size_t size = 2 * strlen(p->help) + 1;
    char *text = malloc(size);
    size_t n = 0;
    for (const char *at = p->help; text && *at;) {
        const size_t taken = name_reference(text + n, size - n, job, p, at);
        if (taken) {
            n += strlen(text + n);
            at += taken;
        } else {
            text[n++] = *at++;
        }
    }
    if (text)
        text[n] = 0;
    return text;
}

/* The help text, with what the option goes with and its older name. */
static const char *help_of(const char *job, const airy_parameter *p)
{
    const airy_parameter *other;
    size_t at = 0;
    const airy_parameter_condition *with = &p->only_with;
    char older[64] = "", list[256] = "";
    size_t n = 0;
    if (p->alias)
        snprintf(older, sizeof(older), "; --%s is its older name", p->alias);
    for (size_t i = 0; with->words && with->words[i] && n < sizeof(list); i++)
        n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s",
                              i == 0               ? " "
                              : with->words[i + 1] ? ", "
                                                   : " or ",
                              with->words[i]);
    char *help = name_references(job, p);
    const size_t size = 2 * strlen(p->help) + sizeof(older) + sizeof(list) + 64;
    char *text = help ? malloc(size) : NULL;
    while ((other = airy_job_parameter_at(job, at)) && with->parameter &&
           strcmp(other->name, with->parameter) != 0)
        at++;
    if (text && with->parameter && other && other->role == AIRY_ROLE_INPUT)
        snprintf(text, size, "%s; of%s%s", help, list, older);
    else if (text && with->parameter)
        snprintf(text, size, "%s; it goes with --%s%s%s", help, with->parameter, list, older);
    else if (text)
        snprintf(text, size, "%s%s", help, older);
    free(help);
    return text;
}

/* An output of the job's array is an image. */
static bool is_image(const char *job, const airy_parameter *p)
{
    const airy_job_result *result;
    for (size_t i = 0; (result = airy_job_result_at(job, i)); i++)
        if (result->kind == AIRY_JOB_ARRAY && result->parameter &&
            strcmp(result->parameter, p->name) == 0)
            return true;
    return false;
}

/* 1 + the dtype of the images that a parameter names; 0: of any. */
static int held_by(const airy_parameter *p)
{
    for (int dtype = 0; dtype < AIRY_DTYPE_COUNT; dtype++)
        if (p->dtypes == 1u << dtype)
            return 1 + dtype;
    return 0;
}

static struct opt option_of(const char *job, const airy_parameter *p)
{
    const enum opt_use written = has_parameter(job, "resume")
                                     ? OPT_WRITTEN_OWN /* it looks itself whether it is there */
                                 : is_image(job, p) ? OPT_WRITTEN_IMAGE
                                                    : OPT_WRITTEN;
    return (struct opt){.name = p->name,
                        .letter = p->letter,
                        .type = p->type == AIRY_PARAMETER_FLAG ? OPT_FLAG : OPT_PARSED,
                        .offset = offsetof(struct job_params, job),
                        .parameter = p,
                        .use = p->role == AIRY_ROLE_WRITTEN ? written
                               : p->role == AIRY_ROLE_READ  ? OPT_READ
                                                            : OPT_NO_FILE,
                        .holds = held_by(p),
                        .argument = p->type == AIRY_PARAMETER_FLAG ? NULL : argument_of(p),
                        .fallback = p->fallback,
                        .help = help_of(job, p),
                        .heading = p->section};
}

static struct opt *make_options(const struct command *command, bool (*is_common)(const char *name))
{
    const char *const job = command->job ? command->job : command->borrows;
    const char *section = NULL, *last = NULL;
    const airy_parameter *p;
    size_t count = 0, all = 0;
    while (airy_job_parameter_at(job, all))
        all++;
    struct opt *options = calloc(all + 1, sizeof(*options));
    for (size_t i = 0; options && (p = airy_job_parameter_at(job, i)); i++) {
        section = p->section ? p->section : section;
        if (p->role == AIRY_ROLE_INPUT || is_common(p->name) ||
            (command->borrows && !command->borrowed(section, p->name)))
            continue;
        struct opt *made = &options[count++];
        *made = option_of(job, p);
        made->heading = section != last ? section : NULL;
        last = section;
        if (!made->help || (!made->argument && made->type != OPT_FLAG)) {
            free(options);
            return NULL;
        }
    }
    return options;
}

const struct opt *job_options(const struct command *command, bool (*is_common)(const char *name))
{
    for (const struct made_table *t = tables; t; t = t->next)
        if (t->command == command)
            return t->options;
    struct made_table *made = calloc(1, sizeof(*made));
    struct opt *options = made ? make_options(command, is_common) : NULL;
    if (!options) {
        free(made);
        return NULL;
    }
    *made = (struct made_table){command, options, tables};
    tables = made;
    return made->options;
}

static bool step(void *user, size_t done, size_t total)
{
    struct job_params *p = user;
    return !p->step || p->step(p, done, total);
}

static void message(void *user, airy_log_level level, const char *text)
{
    struct job_params *p = user;
    if (p->message)
        p->message(p, level, text);
}

static bool event(void *user, const airy_job_event *reported)
{
    struct job_params *p = user;
    return !p->event || p->event(p, reported);
}

airy_status job_create(struct job_params *p, const char *name, airy_job **job)
{
    const airy_job_hooks hooks = {
        .progress = step,
        .message = message,
        .event = event,
        .events = 1u << AIRY_JOB_EVENT_SERIES_ENDS, /* rows would cost time */
        .user = p,
        .ranks = &p->ranks};
    return airy_job_create(job, name, NULL, &hooks);
}

bool job_open(struct job_params *p, const char *job)
{
    return job_create(p, job, &p->job) == AIRY_OK;
}

void job_close(struct job_params *p)
{
    airy_job_destroy(&p->job);
    airy_context_release();
}
