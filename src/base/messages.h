/*
 * Messages of one run to its hook, which is called only on the thread that is inside the run.
 *
 * The other threads of the run leave theirs in a queue of a fixed size, and wait where it is full;
 * the thread inside the run serves the queue until they have all ended:
 *
 *     airy_messages_open(&messages, hook, user, false);   the thread inside the run
 *     ... starts threads; each calls airy_messages_leave(&messages) when it ends ...
 *     airy_messages_serve(&messages, threads);
 *     ... joins the threads ...
 *     airy_messages_close(&messages);
 *
 * Without a hook, messages go to the log of the process at level info: nobody asked for them, and
 * the run's counts are in its results.
 */
#ifndef AIRY_BASE_MESSAGES_H
#define AIRY_BASE_MESSAGES_H

#include <pthread.h>
#include <stdbool.h>

#include "airy/status.h"
#include "base/log.h"

struct airy_message;

struct airy_messages {
    airy_log_fn hook;
    void *user;
    bool any_thread;
    pthread_t owner; /* the thread inside the run */
    pthread_mutex_t lock;
    pthread_cond_t change; /* of what follows */
    struct airy_message *queue;
    size_t first, count;
    size_t ended; /* threads that have left */
};

/*
 * any_thread: no thread is inside the run all the time; the hook is called on the thread whose
 * message it is, never on two at once. After a failure (AIRY_ERR_MEMORY) only close may follow;
 * messages that was zeroed and never opened may be closed too.
 */
airy_status airy_messages_open(struct airy_messages *messages, airy_log_fn hook, void *user,
                               bool any_thread);
void airy_messages_close(struct airy_messages *messages);

/* Report a message. Any thread, holding no lock that the hook may need. */
void airy_message(struct airy_messages *messages, airy_log_level level, const char *format, ...)
    AIRY_PRINTF(3, 4);

/* The calling thread ends and has no more messages. */
void airy_messages_leave(struct airy_messages *messages);
/* Call the hook with what comes until so many threads have left. The thread inside the run. */
void airy_messages_serve(struct airy_messages *messages, size_t threads);

#endif
