/* How the command shows a failure of the library: options by their names, and what to do next. */
#include <stdio.h>
#include <string.h>

#include "airy/error.h"
#include "cli/tool.h"

/* An option of this name that the command takes, its own or a common one; NULL: none. */
static const struct opt *find_option(const struct common *common, const char *name)
{
    for (size_t t = 0; t < OPT_TABLES; t++)
        for (const struct opt *opt = opt_table(common->command, t); opt && !opt_ends(opt); opt++)
            if (opt->name && strcmp(opt->name, name) == 0)
                return opt_taken(common->command, opt) ? opt : NULL;
    return NULL;
}

static bool takes(const struct common *common, const char *name)
{
    return find_option(common, name) != NULL;
}

/* "'airy info FILE'", "'airy info --detectors'" */
static void name_command(char *text, size_t size, const char *name, const char *value)
{
    const int length = (int)strcspn(name, "(");
    const char *equals = value ? strchr(value, '=') : NULL;
    if (equals)
        snprintf(text, size, "'airy %.*s --%.*s'", length, name, (int)(equals - value), value);
    else
        snprintf(text, size, "'airy %.*s%s%s'", length, name, value ? " " : "", value ? value : "");
}

bool tool_hint_style(void *user, char *text, size_t size, const char *name, const char *value)
{
    const struct common *common = *(const struct common *const *)user;
    if (strchr(name, '(')) {
        name_command(text, size, name, value);
        return true;
    }
    if (strcmp(name, "inputs") == 0) {
        snprintf(text, size, "'%s'", value ? value : "");
        return common->command->max_inputs > 2;
    }
    if (!takes(common, name) || (strcmp(name, "memory-limit") == 0 && !common->memory_limit))
        return false;
    const bool flag = !value || strcmp(value, "on") == 0;
    snprintf(text, size, "--%s%s%s", name, flag ? "" : " ", flag ? "" : value);
    return true;
}

size_t tool_hint(char *text, size_t size, const struct common *common, airy_hint hint)
{
    return airy_hint_render(text, size, hint, tool_hint_style, &common);
}

/* "run.group = 0, ..." with the name that the command has for it: "--group = 0, ..." */
static void name_parameter(char *sentence, size_t size, const struct common *common,
                           const airy_error *error)
{
    const char *dot = strrchr(error->name, '.'), *name = dot ? dot + 1 : error->name;
    const size_t length = strlen(error->name);
    char option[AIRY_ERROR_NAME];
    snprintf(option, sizeof(option), "%s", name);
    for (char *c = option; *c; c++)
        *c = *c == '_' ? '-' : *c;
    const bool leads = error->subject == AIRY_SUBJECT_PARAMETER && length &&
                       strncmp(error->text, error->name, length) == 0 &&
                       strncmp(error->text + length, " = ", 3) == 0;
    if (leads && takes(common, option))
        snprintf(sentence, size, "--%s%s", option, error->text + length);
    else
        snprintf(sentence, size, "%s", error->text);
}

/* The option that a word "NAME=..." begins with; NULL: none. */
static const struct opt *named_by(const struct common *common, const char *word)
{
    char name[64];
    const size_t n = strcspn(word, "= ");
    if (word[n] != '=' || n == 0 || n >= sizeof(name))
        return NULL;
    snprintf(name, sizeof(name), "%.*s", (int)n, word);
    return find_option(common, name);
}

void tool_name_values(const struct common *common, char *to, size_t size, const char *text)
{
    size_t used = 0;
    for (const char *at = text; *at && used + 3 < size;) {
        const struct opt *option = at == text || strchr(" ('", at[-1]) ? named_by(common, at)
                                                                       : NULL;
        const size_t word = option ? strcspn(at, " ;,)'") : 1;
        const bool flag = option && option->type == OPT_FLAG;
        const int n = snprintf(to + used, size - used, "%s%.*s", option ? "--" : "",
                               (int)(flag ? strcspn(at, "=") : word), at);
        used += (size_t)n;
        at += word;
    }
    to[used < size ? used : size - 1] = 0;
}

void tool_name_options(const struct common *common, airy_error *error)
{
    static const char *const links[] = {" and ", " goes with "};
    char text[AIRY_ERROR_TEXT + 8], other[64] = "";
    const size_t n = strlen(error->name);
    const char *rest = error->text + n, *lead = "", *link = "";
    if (error->subject == AIRY_SUBJECT_PARAMETER && takes(common, error->name) &&
        strncmp(error->text, error->name, n) == 0 && strcspn(rest, " :=") == 0 &&
        strncmp(rest, " '", 2) != 0) /* "detector 'x' is unknown" */
        lead = "--";
    for (size_t i = 0; *lead && i < sizeof(links) / sizeof(links[0]); i++) {
        const size_t length = strlen(links[i]);
        if (strncmp(rest, links[i], length) != 0)
            continue;
        snprintf(other, sizeof(other), "%.*s", (int)strcspn(rest + length, " ,:"), rest + length);
        if (takes(common, other)) {
            link = links[i];
            rest += length;
        }
    }
    const struct opt *option = *lead ? find_option(common, error->name) : NULL;
    if (option && option->argument && strcmp(rest, " is missing") == 0)
        snprintf(text, sizeof(text), "--%s %s%s", error->name, option->argument, rest);
    else if (*lead)
        snprintf(text, sizeof(text), "--%s%s%s%s", error->name, link, *link ? "--" : "", rest);
    else
        snprintf(text, sizeof(text), "%s", error->text);
    tool_name_values(common, error->text, sizeof(error->text), text);
}

int tool_refused(const struct common *common, airy_status status)
{
    airy_error error;
    char hint[AIRY_HINT_TEXT];
    airy_error_get(&error);
    const size_t n = strlen(error.name);
    if (error.status != status)
        return tool_failed(common, status);
    const bool refused = (status == AIRY_ERR_PARAM || status == AIRY_ERR_UNSUPPORTED) &&
                         error.subject == AIRY_SUBJECT_PARAMETER &&
                         !(strncmp(error.text, error.name, n) == 0 &&
                           strncmp(error.text + n, " = ", 3) == 0); /* a value of a file */
    tool_name_options(common, &error);
    if (!refused)
        return tool_failed_as(common, &error);
    const size_t used = tool_hint(hint, sizeof(hint), common, error.hint);
    return tool_usage(common, "%s%s%s", error.text, used ? "; " : "", hint);
}

int tool_failed_as(const struct common *common, const airy_error *error)
{
    char sentence[2048], tail[AIRY_HINT_TEXT + 2] = "; ";
    name_parameter(sentence, sizeof(sentence), common, error);
    tool_hide_temporary(sentence);
    const size_t hint = tool_hint(tail + 2, sizeof(tail) - 2, common, error->hint);
    tool_print_failure(common->command->name,
                       *sentence ? sentence : airy_status_name(error->status), hint ? tail : "");
    return AIRY_EXIT_FAILED;
}

int tool_failed(const struct common *common, airy_status status)
{
    airy_error error;
    airy_error_get(&error);
    if (error.status != status) /* a failure of the command's, which the library knows nothing of */
        error.hint = AIRY_HINT_NONE;
    if (error.status != status && status == AIRY_ERR_MEMORY)
        snprintf(error.text, sizeof(error.text), "out of memory");
    error.status = status;
    return tool_failed_as(common, &error);
}
