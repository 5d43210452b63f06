#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_OF_(x) #x
#define TEXT_OF(x)  TEXT_OF_(x)
_Static_assert(__builtin_strcmp(AIRY_VERSION,
                                TEXT_OF(AIRY_VERSION_MAJOR) "." TEXT_OF(
                                    AIRY_VERSION_MINOR) "." TEXT_OF(AIRY_VERSION_PATCH)) == 0,
               "airy/status.h and meson.build have different versions");

enum { MAX_SENTENCE = 1024 };

static _Thread_local char last_error[MAX_SENTENCE];

static const char *const status_names[] = {
    "AIRY_OK",
    "AIRY_ERR_PARAM",
    "AIRY_ERR_SHAPE",
    "AIRY_ERR_DTYPE",
    "AIRY_ERR_UNSUPPORTED",
    "AIRY_ERR_MEMORY",
    "AIRY_ERR_DEVICE",
    "AIRY_ERR_IO",
    "AIRY_ERR_FORMAT",
    "AIRY_ERR_CORRUPT",
    "AIRY_ERR_NOT_FOUND",
    "AIRY_ERR_EXISTS",
    "AIRY_ERR_CANCELLED",
    "AIRY_ERR_TIMED_OUT",
    "AIRY_ERR_UNWRITTEN",
    "AIRY_ERR_INCOMPLETE",
};

const char *airy_status_name(airy_status status)
{
    const int index = -(int)status;
    if (index < 0 || index >= (int)(sizeof(status_names) / sizeof(status_names[0])))
        return "AIRY_ERR_?";
    return status_names[index];
}

bool airy_status_is_of_frame(airy_status status)
{
    return status == AIRY_ERR_CORRUPT || status == AIRY_ERR_IO || status == AIRY_ERR_FORMAT ||
           status == AIRY_ERR_NOT_FOUND || status == AIRY_ERR_UNWRITTEN;
}

const char *airy_last_error(void)
{
    return last_error;
}

void airy_error_copy(char *text, size_t size)
{
    const size_t n = strnlen(last_error, size - 1);
    memcpy(text, last_error, n);
    text[n] = 0;
}

const char *airy_version(void)
{
    return AIRY_VERSION;
}

/*
 * Failures are returned, so the log shows them only to those who asked for details: the command
 * prints the sentence itself.
 */
static airy_status keep(airy_status status, const char *text)
{
    const size_t n = strnlen(text, sizeof(last_error) - 1);
    memmove(last_error, text, n); /* text may be last_error itself */
    last_error[n] = 0;
    airy_log(AIRY_LOG_DEBUG, "%s: %s", airy_status_name(status), last_error);
    return status;
}

airy_status airy_fail(airy_status status, const char *format, ...)
{
    char text[MAX_SENTENCE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return keep(status, text);
}

airy_status airy_fail_context(airy_status status, const char *format, ...)
{
    char text[2 * MAX_SENTENCE + 2], context[MAX_SENTENCE];
    va_list args;
    va_start(args, format);
    vsnprintf(context, sizeof(context), format, args);
    va_end(args);
    snprintf(text, sizeof(text), "%s: %s", context, last_error);
    return keep(status, text);
}

/* In quotes: a file named "e" is in nearly every sentence. PATH.XXXXXXXX.partial is it, too. */
static bool is_named(const char *path)
{
    enum { DIGITS = 8 };
    static const char unfinished[] = ".partial'";
    const size_t length = strlen(path);
    for (const char *at = last_error; (at = strstr(at, path)); at++) {
        const char *end = at + length;
        if (at == last_error || at[-1] != '\'')
            continue;
        if (*end == '\'' || (*end == '.' && strspn(end + 1, "0123456789abcdef") == DIGITS &&
                             strncmp(end + 1 + DIGITS, unfinished, strlen(unfinished)) == 0))
            return true;
    }
    return false;
}

airy_status airy_fail_path(airy_status status, const char *path)
{
    return is_named(path) ? status : airy_fail_context(status, "'%s'", path);
}

airy_status airy_fail_restore(airy_status status, const char *text)
{
    return keep(status, text);
}

#ifdef AIRY_DEBUG_ABORT
void airy_debug_abort(void)
{
    fprintf(stderr, "airy: abort: %s\n", last_error);
    abort();
}
#endif
