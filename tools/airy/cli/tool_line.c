/* Messages of the commands, as lines on standard error. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/quote.h"
#include "cli/tool.h"

void tool_hide_temporary(char *text)
{
    static const char mark[] = ".partial";
    const size_t n = sizeof(mark) - 1;
    for (char *at = text; (at = strstr(at, mark));) {
        char *number = at - text >= 9 ? at - 9 : at;
        const bool unique = *number == '.' && strspn(number + 1, "0123456789abcdef") == 8;
        if (unique)
            memmove(number, at + n, strlen(at + n) + 1);
        at = unique ? number : at + n;
    }
}

void tool_plain(char *text)
{
    bool unsafe;
    for (size_t n; *text; text += n) {
        n = quote_character(&unsafe, text);
        if (unsafe && *text != '\n')
            memset(text, '?', n);
    }
}

enum { LINE = 2048 }; /* bytes of a message, before its escapes */

const char *tool_shown(char shown[TOOL_SHOWN], const char *text)
{
    char cut[TOOL_SHOWN / 4];
    snprintf(cut, sizeof(cut), "%s", text);
    quote_escape(shown, cut);
    return shown;
}

void tool_line(const char *command, const char *format, ...)
{
    char text[LINE], line[4 * LINE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    quote_escape(line, text);
    fprintf(stderr, "airy%s%s: %s\n", *command ? " " : "", command, line);
}

/* In one of several ranks failures are kept, and rank 0 prints them. */
static struct {
    bool failures, talk;
    char line[2048];
} held;

void tool_hold(bool failures, bool talk)
{
    held.failures = failures;
    if (held.talk != talk) /* other threads may be talking */
        held.talk = talk;
    held.line[0] = 0;
}

const char *tool_held(void)
{
    return held.line;
}

void tool_print_failure(const char *command, const char *text, const char *tail)
{
    const size_t length = strlen(text);
    if (length && text[length - 1] == '?' && *tail == ';') /* "did you mean 'x'? see ..." */
        tail++;
    if (!held.failures)
        tool_line(command, "%s%s", text, tail);
    else if (!*held.line)
        snprintf(held.line, sizeof(held.line), "%.1900s%s", text, tail);
}

static void format_line(char text[2048], const char *format, va_list args)
{
    vsnprintf(text, 2048, format, args);
    tool_hide_temporary(text);
}

int tool_fail(const struct common *common, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    format_line(text, format, args);
    va_end(args);
    tool_print_failure(common->command->name, text, "");
    return AIRY_EXIT_FAILED;
}

int tool_wrong(const struct command *command, const char *text)
{
    char tail[128];
    snprintf(tail, sizeof(tail), "; see 'airy %s --help'", command->name);
    tool_print_failure(command->name, text, tail);
    return AIRY_EXIT_USAGE;
}

int tool_usage(const struct common *common, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    format_line(text, format, args);
    va_end(args);
    return tool_wrong(common->command, text);
}

void tool_say(const struct common *common, const char *format, ...)
{
    char text[2048];
    if (common->quiet || held.talk)
        return;
    va_list args;
    va_start(args, format);
    format_line(text, format, args);
    va_end(args);
    tool_line(common->command->name, "%s", text);
}

bool tool_has_suffix(const char *path, const char *suffix)
{
    const size_t n = strlen(path), m = strlen(suffix);
    return n >= m && strcasecmp(path + n - m, suffix) == 0;
}
