/*
 * Reporting failures: a record per thread with sentence, subject and hint (airy/error.h), and the
 * macros that forward it.
 *
 *   return airy_fail(AIRY_ERR_SHAPE, "%zu x %zu pixels, expected %zu x %zu", ...);
 *   return airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, "'%s' has no frames", path);
 *   return airy_hinted(AIRY_HINT_WAVELENGTH, airy_fail(AIRY_ERR_PARAM, ...));
 */
#ifndef AIRY_BASE_ERROR_H
#define AIRY_BASE_ERROR_H

#include <stddef.h>

#include "airy/error.h"
#include "base/log.h"

/*
 * Keep a record without a subject, with the hint that its status usually has, log the sentence at
 * level debug (the caller tells the user), return status.
 */
airy_status airy_fail(airy_status status, const char *format, ...) AIRY_PRINTF(2, 3);
/*
 * The same with a subject: the format's first conversion, "%s" or "%.Ns", is that of its name. Of
 * AIRY_SUBJECT_NONE the format may be any.
 */
airy_status airy_fail_on(airy_status status, airy_subject subject, const char *format, ...)
    AIRY_PRINTF(3, 4);
/* Give the failure that is being forwarded another status; returns it. */
airy_status airy_fail_as(airy_status status);
/* As airy_fail_on, AIRY_ERR_IO, with the hint of airy_hint_of_errno. */
airy_status airy_fail_system(airy_subject subject, int error, const char *format, ...)
    AIRY_PRINTF(3, 4);
/* Put "text: " before the sentence of a failure that is being forwarded; returns status. */
airy_status airy_fail_context(airy_status status, const char *format, ...) AIRY_PRINTF(2, 3);
/* Put more behind its sentence, also "; what to do"; returns status. */
airy_status airy_fail_more(airy_status status, const char *format, ...) AIRY_PRINTF(2, 3);
/* Put "'path': " before it, with the file as its subject, unless its subject is this file. */
airy_status airy_fail_path(airy_status status, const char *path);
/* Put "frame: " before it, with the frame as its subject. */
airy_status airy_fail_frame(airy_status status, const char *frame);
/* Give the record a subject, in place of the one it has; returns status. */
airy_status airy_about(airy_subject subject, const char *name, airy_status status);
/* Give the record a hint, in place of the one it has; returns status. */
airy_status airy_hinted(airy_hint hint, airy_status status);
/* Give it the hint `to` where its hint is `from`; returns status. */
airy_status airy_hint_becomes(airy_hint from, airy_hint to, airy_status status);
/* The failure is of one of many frames, which its user may leave out: the hint says so, unless it
 * is another one than the usual one of the status; returns status. */
airy_status airy_hint_leaving_out(airy_status status);
/* What a failure suggests of which nothing but its status is known. */
airy_hint airy_usual_hint(airy_status status);
/* What a failure of the operating system suggests; AIRY_HINT_ACCESS in general. */
airy_hint airy_hint_of_errno(int error);

/*
 * A failure crosses threads, queues and clean-ups as its whole record, and airy_error_restore
 * brings it back. Copy the calling thread's record, with this status, unless *first has one
 * already, or status is AIRY_OK. Of several threads the caller holds its lock. Returns
 * first->status.
 */
airy_status airy_error_first(airy_error *first, airy_status status);

/* A record in as few bytes as it needs, for those that are kept for long, one a file. */
struct airy_kept_error {
    airy_status status;
    airy_subject subject;
    airy_hint hint;
    size_t text;  /* where the sentence begins in texts */
    char texts[]; /* name and sentence, each with its end */
};
/* Copy the calling thread's record, malloc'ed; NULL: there is no memory. */
struct airy_kept_error *airy_error_keep(void);
/* Make it the calling thread's last failure, NULL as AIRY_ERR_MEMORY; returns its status. */
airy_status airy_error_raise(const struct airy_kept_error *kept);

/* Forward a failure. */
#define AIRY_TRY(expr)                                                                             \
    do {                                                                                           \
        const airy_status airy_try_status_ = (expr);                                               \
        if (airy_try_status_ != AIRY_OK)                                                           \
            return airy_try_status_;                                                               \
    } while (0)

/* Forward a failure through a clean-up label; `status` must be an airy_status in scope. */
#define AIRY_TRY_OR(label, expr)                                                                   \
    do {                                                                                           \
        status = (expr);                                                                           \
        if (status != AIRY_OK)                                                                     \
            goto label;                                                                            \
    } while (0)

#ifdef AIRY_DEBUG_ABORT
void airy_debug_abort(void) __attribute__((noreturn));
#define AIRY_FAIL_ABORT_() airy_debug_abort()
#else
#define AIRY_FAIL_ABORT_() ((void)0)
#endif

/* Check the caller: files, bytes, user parameters. status is evaluated twice; that a constant
 * comes back tells compilers and checkers that what follows runs only where cond is false. */
#define AIRY_FAIL_IF(cond, status, ...)                                                            \
    do {                                                                                           \
        if (cond) {                                                                                \
            (void)airy_fail((status), __VA_ARGS__);                                                \
            AIRY_FAIL_ABORT_();                                                                    \
            return (status);                                                                       \
        }                                                                                          \
    } while (0)

/* The same with airy_fail_on. */
#define AIRY_FAIL_ON_IF(cond, status, subject, ...)                                                \
    do {                                                                                           \
        if (cond) {                                                                                \
            (void)airy_fail_on((status), (subject), __VA_ARGS__);                                  \
            AIRY_FAIL_ABORT_();                                                                    \
            return (status);                                                                       \
        }                                                                                          \
    } while (0)

/* The same with a hint, which is evaluated before anything else. */
#define AIRY_FAIL_HINT_IF(cond, status, hint, subject, ...)                                        \
    do {                                                                                           \
        if (cond) {                                                                                \
            const airy_hint airy_fail_hint_ = (hint);                                              \
            (void)airy_fail_on((status), (subject), __VA_ARGS__);                                  \
            (void)airy_hinted(airy_fail_hint_, (status));                                          \
            AIRY_FAIL_ABORT_();                                                                    \
            return (status);                                                                       \
        }                                                                                          \
    } while (0)

#endif
