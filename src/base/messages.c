#include "base/messages.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

enum { QUEUE = 64, TEXT = 1024 };

struct airy_message {
    airy_log_level level;
    char text[TEXT];
};

airy_status airy_messages_open(struct airy_messages *messages, airy_log_fn hook, void *user,
                               bool any_thread)
{
    *messages = (struct airy_messages){.any_thread = any_thread, .owner = pthread_self()};
    if (!hook)
        return AIRY_OK;
    if (!any_thread)
        AIRY_TRY(airy_memory_calloc((void **)&messages->queue, QUEUE, sizeof(messages->queue[0]),
                                    "messages of a run"));
    pthread_mutex_init(&messages->lock, NULL);
    pthread_cond_init(&messages->change, NULL);
    messages->hook = hook;
    messages->user = user;
    return AIRY_OK;
}

void airy_messages_close(struct airy_messages *messages)
{
    if (messages->hook) {
        pthread_cond_destroy(&messages->change);
        pthread_mutex_destroy(&messages->lock);
    }
    free(messages->queue);
    *messages = (struct airy_messages){0};
}

/* Wait for room. */
static void enqueue(struct airy_messages *messages, airy_log_level level, const char *text)
{
    pthread_mutex_lock(&messages->lock);
    while (messages->count == QUEUE)
        pthread_cond_wait(&messages->change, &messages->lock);
    struct airy_message *last = &messages->queue[(messages->first + messages->count++) % QUEUE];
    last->level = level;
    snprintf(last->text, sizeof(last->text), "%s", text);
    pthread_cond_broadcast(&messages->change);
    pthread_mutex_unlock(&messages->lock);
}

static void call_at_once(struct airy_messages *messages, airy_log_level level, const char *text)
{
    pthread_mutex_lock(&messages->lock);
    messages->hook(messages->user, level, text);
    pthread_mutex_unlock(&messages->lock);
}

void airy_message(struct airy_messages *messages, airy_log_level level, const char *format, ...)
{
    char room[TEXT];
    va_list args;
    if (!messages->hook && airy_log_get_level() < AIRY_LOG_INFO)
        return;
    va_start(args, format);
    char *text = airy_log_format(room, sizeof(room), level, format, args);
    va_end(args);
    if (!messages->hook)
        airy_log(level > AIRY_LOG_INFO ? level : AIRY_LOG_INFO, "%s", text);
    else if (messages->any_thread)
        call_at_once(messages, level, text);
    else if (pthread_equal(pthread_self(), messages->owner))
        messages->hook(messages->user, level, text);
    else
        enqueue(messages, level, text);
    if (text != room)
        free(text);
}

void airy_messages_leave(struct airy_messages *messages)
{
    if (!messages->hook || messages->any_thread)
        return;
    pthread_mutex_lock(&messages->lock);
    messages->ended++;
    pthread_cond_broadcast(&messages->change);
    pthread_mutex_unlock(&messages->lock);
}

void airy_messages_serve(struct airy_messages *messages, size_t threads)
{
    if (!messages->hook || messages->any_thread)
        return;
    pthread_mutex_lock(&messages->lock);
    for (;;) {
        if (messages->count) {
            const struct airy_message next = messages->queue[messages->first];
            messages->first = (messages->first + 1) % QUEUE;
            messages->count--;
            pthread_cond_broadcast(&messages->change);
            pthread_mutex_unlock(&messages->lock);
            messages->hook(messages->user, next.level, next.text);
            pthread_mutex_lock(&messages->lock);
        } else if (messages->ended < threads) {
            pthread_cond_wait(&messages->change, &messages->lock);
        } else {
            break;
        }
    }
    messages->ended = 0;
    pthread_mutex_unlock(&messages->lock);
}
