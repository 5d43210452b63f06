#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE = 1024,       /* bytes of a message that needs no memory */
    LONGEST = 1 << 20, /* bytes of any message; the rest is cut */
    UNREAD = -1        /* the level before the environment was read */
};

/* The callback, and whether this thread is inside it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static airy_log_fn receiver;
static void *receiver_user;
static _Thread_local bool inside;

static atomic_int current_level = UNREAD;

void airy_log_set(airy_log_fn callback, void *user)
{
    const bool locked = inside; /* by this thread, which calls the callback */
    if (!locked)
        pthread_mutex_lock(&lock);
    receiver = callback;
    receiver_user = user;
    if (!locked)
        pthread_mutex_unlock(&lock);
}

void airy_log_set_level(airy_log_level level)
{
    const int wanted = (int)level;
    atomic_store(&current_level, wanted < AIRY_LOG_OFF     ? AIRY_LOG_OFF
                                 : wanted > AIRY_LOG_DEBUG ? AIRY_LOG_DEBUG
                                                           : wanted);
}

/* The level that a text names, or COUNT. */
static airy_log_level level_of(const char *text)
{
    static const char *const names[AIRY_LOG_COUNT] = {"off", "error", "warn", "info", "debug"};
    int level = AIRY_LOG_OFF;
    while (level < AIRY_LOG_COUNT && strcmp(text, names[level]) != 0)
        level++;
    return (airy_log_level)level;
}

airy_log_level airy_log_get_level(void)
{
    int level = atomic_load(&current_level);
    if (level != UNREAD)
        return (airy_log_level)level;
    const char *text = getenv("AIRY_LOG");
    const airy_log_level named = text && *text ? level_of(text) : AIRY_LOG_WARN;
    const airy_log_level chosen = named == AIRY_LOG_COUNT ? AIRY_LOG_WARN : named;
    /* Of several threads one stores the level; one that airy_log_set_level has stored stays. */
    if (!atomic_compare_exchange_strong(&current_level, &level, (int)chosen))
        return (airy_log_level)level;
    if (named == AIRY_LOG_COUNT)
        airy_log(AIRY_LOG_WARN,
                 "AIRY_LOG=%s is not known; expected off, error, warn, info or debug", text);
    return chosen;
}

/* One line, whatever a file is called; of debug, which quotes logs of compilers, several. */
static void clean(char *text, airy_log_level level)
{
    for (size_t end = strlen(text); end > 0 && text[end - 1] == '\n'; end--)
        text[end - 1] = 0;
    for (char *c = text; *c; c++) {
        const unsigned char byte = (unsigned char)*c, next = (unsigned char)c[1];
        const bool layout = level == AIRY_LOG_DEBUG && (byte == '\n' || byte == '\t');
        if (!layout && (byte < ' ' || byte == 0x7f))
            *c = '?';
        else if (byte == 0xc2 && next >= 0x80 && next < 0xa0) /* U+0080 to U+009F */
            c[0] = c[1] = '?';
    }
}

char *airy_log_format(char *room, size_t size, airy_log_level level, const char *format,
                      va_list args)
{
    va_list again;
    va_copy(again, args);
    const int length = vsnprintf(room, size, format, args);
    char *text = room;
    if (length >= (int)size) {
        const size_t needed = length < LONGEST ? (size_t)length + 1 : LONGEST;
        char *block = malloc(needed);
        if (block) {
            vsnprintf(block, needed, format, again);
            text = block;
        }
    }
    va_end(again);
    if (length < 0)
        room[0] = 0;
    clean(text, level);
    return text;
}

static void deliver(airy_log_level level, const char *text)
{
    pthread_mutex_lock(&lock);
    inside = true;
    if (receiver)
        receiver(receiver_user, level, text);
    else
        fprintf(stderr, "airy: %s\n", text);
    inside = false;
    pthread_mutex_unlock(&lock);
}

void airy_log(airy_log_level level, const char *format, ...)
{
    if (inside || level > airy_log_get_level())
        return;
    const int saved = errno;
    char line[LINE];
    va_list args;
    va_start(args, format);
    char *text = airy_log_format(line, sizeof(line), level, format, args);
    va_end(args);
    deliver(level, text);
    if (text != line)
        free(text);
    errno = saved;
}
