/**
 * Messages of the library: warnings, choices and steps that no status reports.
 *
 * Collect them, instead of having them printed on standard error:
 *
 *     static void collect(void *user, airy_log_level level, const char *text)
 *     {
 *         if (level <= AIRY_LOG_WARN)
 *             append(user, text);
 *     }
 *     airy_log_set(collect, &messages);
 *
 * A call that fails reports that with its status and airy_last_error() (status.h), and the log
 * repeats the sentence at level debug only. A run that has a message hook of its own
 * (airy_run_params, pipeline.h) gives its messages to that hook.
 */
#ifndef AIRY_LOG_H
#define AIRY_LOG_H

#include "airy/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Each level includes the ones above it. */
typedef enum airy_log_level {
    AIRY_LOG_OFF = 0,
    AIRY_LOG_ERROR, /**< only what went wrong where no status could report it */
    AIRY_LOG_WARN,  /**< the default level: things that the user should know */
    AIRY_LOG_INFO,  /**< choices: engine, device, method, cache hits */
    AIRY_LOG_DEBUG, /**< one line for each step */
    AIRY_LOG_COUNT
} airy_log_level;

/**
 * Take a message.
 *
 * @param user   the pointer that was given with the callback
 * @param level  AIRY_LOG_ERROR to AIRY_LOG_DEBUG
 * @param text   UTF-8 or the bytes of a file's name, without a newline at the end; valid during the
 *               call. Control characters are replaced by '?', so that it can be printed on a
 *               terminal. It has one line; at level debug, where it quotes compilers, it may have
 *               several.
 */
typedef void (*airy_log_fn)(void *user, airy_log_level level, const char *text);

/**
 * Set the function that receives the messages of the whole process. While one is set, the library
 * writes nothing to standard error.
 *
 * @param callback  NULL restores the default, which prints "airy: TEXT" on standard error. It is
 *                  called from any thread, but never from two at once; it must be quick, and call
 *                  no function of the library but those of this header. A message that comes up
 *                  inside a callback is dropped.
 *
 * When this returns, the callback that was set before will not be called again, and it is not
 * running, except where it made this call itself; so this call waits while another thread is inside
 * that callback. Any thread, at any time, also from inside a callback.
 *
 * The callback runs while the library holds a lock of its own. Do not call the library while you
 * hold a lock that the callback waits for, such as the lock of an interpreter, and do not fork
 * without exec while another thread may be inside the callback.
 */
AIRY_API void airy_log_set(airy_log_fn callback, void *user);

/**
 * Set the level up to which messages are reported, in place of that of the environment. A value
 * outside of the enum counts as the nearest level. Any thread, at any time.
 */
AIRY_API void airy_log_set_level(airy_log_level level);

/**
 * Return the level up to which messages are reported: that of airy_log_set_level(), or before that
 * call the one that the environment variable AIRY_LOG names (off, error, warn, info, debug), or
 * AIRY_LOG_WARN. The variable is read once in a process, when the level is first needed; another
 * value in it is reported as a warning. Any thread.
 */
AIRY_API airy_log_level airy_log_get_level(void);

#ifdef __cplusplus
}
#endif
#endif
