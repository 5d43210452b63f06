#include "base/error.h"

#include <errno.h>
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

static _Thread_local airy_error last;

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
    "AIRY_ERR_ENDED",
};

const char *airy_status_name(airy_status status)
{
    const int index = -(int)status;
    if (status == AIRY_PARTLY)
        return "AIRY_PARTLY";
    if (index < 0 || index >= (int)(sizeof(status_names) / sizeof(status_names[0])))
        return "AIRY_ERR_?";
    return status_names[index];
}

bool airy_status_is_of_frame(airy_status status)
{
    return status == AIRY_ERR_CORRUPT || status == AIRY_ERR_IO || status == AIRY_ERR_FORMAT ||
           status == AIRY_ERR_NOT_FOUND || status == AIRY_ERR_UNWRITTEN;
}

const char *airy_subject_name(airy_subject subject)
{
    static const char *const names[AIRY_SUBJECT_COUNT] = {
        "none", "file", "dataset", "frame", "parameter", "address", "device"};
    return (unsigned)subject < AIRY_SUBJECT_COUNT ? names[subject] : names[0];
}

const char *airy_last_error(void)
{
    return last.text;
}

void airy_error_get(airy_error *error)
{
    if (error)
        *error = last;
}

void airy_error_clear(void)
{
    last = (airy_error){.status = AIRY_OK};
}

const char *airy_version(void)
{
    return AIRY_VERSION;
}

/* The first size - 1 bytes; text may be part of to. */
static void keep_text(char *to, size_t size, const char *text)
{
    const size_t n = strnlen(text, size - 1);
    memmove(to, text, n);
    to[n] = 0;
}

airy_hint airy_usual_hint(airy_status status)
{
    switch (status) {
    case AIRY_ERR_EXISTS:
        return AIRY_HINT_OVERWRITE;
    case AIRY_ERR_MEMORY:
        return AIRY_HINT_MEMORY;
    case AIRY_ERR_DEVICE:
        return AIRY_HINT_DEVICES;
    case AIRY_ERR_IO:
        return AIRY_HINT_ACCESS;
    case AIRY_ERR_NOT_FOUND:
        return AIRY_HINT_NAME;
    case AIRY_ERR_FORMAT:
        return AIRY_HINT_FILE;
    case AIRY_ERR_CORRUPT:
        return AIRY_HINT_FETCH;
    case AIRY_ERR_UNWRITTEN:
        return AIRY_HINT_FRAMES;
    default:
        return AIRY_HINT_NONE;
    }
}

/*
 * Failures are returned, so the log shows them only to those who asked for details: the command
 * prints the sentence itself.
 */
static airy_status keep(airy_status status, const char *text)
{
    last.status = status;
    keep_text(last.text, sizeof(last.text), text);
    airy_log(AIRY_LOG_DEBUG, "%s: %s", airy_status_name(status), last.text);
    return status;
}

airy_status airy_fail(airy_status status, const char *format, ...)
{
    char text[AIRY_ERROR_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    last.hint = airy_usual_hint(status);
    (void)airy_about(AIRY_SUBJECT_NONE, "", status);
    return keep(status, text);
}

/* The first argument is the subject's name. */
static airy_status fail_about(airy_status status, airy_subject subject, airy_hint hint,
                              const char *format, va_list args)
{
    char text[AIRY_ERROR_TEXT], name[AIRY_ERROR_NAME];
    va_list names;
    va_copy(names, args);
    keep_text(name, sizeof(name), subject == AIRY_SUBJECT_NONE ? "" : va_arg(names, const char *));
    va_end(names);
    vsnprintf(text, sizeof(text), format, args);
    (void)airy_about(subject, name, airy_hinted(hint, status));
    return keep(status, text);
}

airy_status airy_fail_on(airy_status status, airy_subject subject, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fail_about(status, subject, airy_usual_hint(status), format, args);
    va_end(args);
    return status;
}

airy_status airy_fail_system(airy_subject subject, int error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fail_about(AIRY_ERR_IO, subject, airy_hint_of_errno(error), format, args);
    va_end(args);
    return AIRY_ERR_IO;
}

airy_status airy_fail_as(airy_status status)
{
    if (last.hint == airy_usual_hint(last.status))
        last.hint = airy_usual_hint(status);
    last.status = status;
    return status;
}

/* The record with a context before its sentence. */
static airy_status forward(airy_status status, const char *context)
{
    char text[AIRY_ERROR_NAME + 2 * AIRY_ERROR_TEXT];
    snprintf(text, sizeof(text), "%s: %s", context, last.text);
    return keep(airy_fail_as(status), text);
}

airy_status airy_fail_context(airy_status status, const char *format, ...)
{
    char context[AIRY_ERROR_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(context, sizeof(context), format, args);
    va_end(args);
    return forward(status, context);
}

airy_status airy_fail_more(airy_status status, const char *format, ...)
{
    char text[2 * AIRY_ERROR_TEXT];
    const size_t used = (size_t)snprintf(text, sizeof(text), "%s", last.text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, sizeof(text) - used, format, args);
    va_end(args);
    return keep(airy_fail_as(status), text);
}

/* The subject is this file, or PATH.XXXXXXXX.partial, the temporary file that becomes it. */
static bool is_about(const char *path)
{
    enum { DIGITS = 8 };
    const size_t length = strnlen(path, sizeof(last.name) - 1);
    if (last.subject != AIRY_SUBJECT_FILE || strncmp(last.name, path, length) != 0)
        return false;
    const char *end = last.name + length;
    return !*end || strcmp(end, ".partial") == 0 ||
           (*end == '.' && strspn(end + 1, "0123456789abcdef") == DIGITS &&
            strcmp(end + 1 + DIGITS, ".partial") == 0);
}

airy_status airy_fail_path(airy_status status, const char *path)
{
    char context[AIRY_ERROR_TEXT];
    if (is_about(path))
        return status;
    snprintf(context, sizeof(context), "'%s'", path);
    (void)airy_about(AIRY_SUBJECT_FILE, path, status);
    return forward(status, context);
}

airy_status airy_fail_frame(airy_status status, const char *frame)
{
    (void)airy_about(AIRY_SUBJECT_FRAME, frame, status);
    return forward(status, frame);
}

airy_status airy_about(airy_subject subject, const char *name, airy_status status)
{
    last.subject = subject;
    keep_text(last.name, sizeof(last.name), name);
    return status;
}

airy_status airy_hinted(airy_hint hint, airy_status status)
{
    last.hint = hint;
    return status;
}

airy_status airy_hint_becomes(airy_hint from, airy_hint to, airy_status status)
{
    last.hint = last.hint == from ? to : last.hint;
    return status;
}

airy_status airy_hint_leaving_out(airy_status status)
{
    (void)airy_hint_becomes(AIRY_HINT_GROWING, AIRY_HINT_GROWING_FRAMES, status);
    (void)airy_hint_becomes(AIRY_HINT_DATA_FILE, AIRY_HINT_DATA_FRAMES, status);
    return airy_status_is_of_frame(status)
               ? airy_hint_becomes(airy_usual_hint(status), AIRY_HINT_SKIP, status)
               : status;
}

airy_hint airy_hint_of_errno(int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return AIRY_HINT_PATH;
    case EACCES:
    case EPERM:
        return AIRY_HINT_PERMISSIONS;
    case ENOSPC:
    case EDQUOT:
        return AIRY_HINT_SPACE;
    case EADDRINUSE:
        return AIRY_HINT_PORT;
    case ENOMEM:
        return AIRY_HINT_MEMORY;
    default:
        return AIRY_HINT_ACCESS;
    }
}

airy_status airy_error_restore(const airy_error *error)
{
    if (!error || error->status == AIRY_OK)
        return AIRY_OK;
    last = *error;
    return keep(last.status, last.text);
}

airy_status airy_error_first(airy_error *first, airy_status status)
{
    if (first->status == AIRY_OK && status != AIRY_OK) {
        *first = last;
        first->status = status;
    }
    return first->status;
}

struct airy_kept_error *airy_error_keep(void)
{
    const size_t name = strlen(last.name) + 1, text = strlen(last.text) + 1;
    struct airy_kept_error *kept = malloc(sizeof(*kept) + name + text);
    if (!kept)
        return NULL;
    kept->status = last.status;
    kept->subject = last.subject;
    kept->hint = last.hint;
    kept->text = name;
    memcpy(kept->texts, last.name, name);
    memcpy(kept->texts + name, last.text, text);
    return kept;
}

airy_status airy_error_raise(const struct airy_kept_error *kept)
{
    if (!kept)
        return airy_fail(AIRY_ERR_MEMORY, "out of memory for a failure's sentence");
    (void)airy_about(kept->subject, kept->texts, kept->status);
    (void)airy_hinted(kept->hint, kept->status);
    return keep(kept->status, kept->texts + kept->text);
}

#ifdef AIRY_DEBUG_ABORT
void airy_debug_abort(void)
{
    fprintf(stderr, "airy: abort: %s\n", last.text);
    abort();
}
#endif
