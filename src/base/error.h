/* Reporting failures: one sentence per failure, kept per thread, and the macros that forward it. */
#ifndef AIRY_BASE_ERROR_H
#define AIRY_BASE_ERROR_H

#include <stddef.h>

#include "airy/status.h"
#include "base/log.h"

/*
 * Keep the sentence for airy_last_error, log it at level debug (the caller tells the user), return
 * status.
 */
airy_status airy_fail(airy_status status, const char *format, ...) AIRY_PRINTF(2, 3);
/* Put "text: " before the sentence of a failure that is being forwarded; returns status. */
airy_status airy_fail_context(airy_status status, const char *format, ...) AIRY_PRINTF(2, 3);
/* The same with 'path', where the sentence does not name it yet. */
airy_status airy_fail_path(airy_status status, const char *path);
/* Restore a sentence carried over from another thread; returns status. */
airy_status airy_fail_restore(airy_status status, const char *text);
/* Keep the sentence for another thread or a later call. */
void airy_error_copy(char *text, size_t size);

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

#endif
