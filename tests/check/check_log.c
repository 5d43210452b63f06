/* Messages of the library: the callback of the process, levels. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "airy/log.h"
#include "base/error.h"
#include "check.h"

enum { KEPT = 256, LONG_TEXT = 5000, THREADS = 4, ROUNDS = 200 };

/* What a callback received. */
struct heard {
    atomic_size_t count, inside, errors;
    airy_log_level levels[KEPT];
    char texts[KEPT][160];
    size_t longest;
    pthread_t owner;
    bool any_thread;
};

static void hear(void *user, airy_log_level level, const char *text)
{
    struct heard *heard = user;
    if (atomic_fetch_add(&heard->inside, 1) != 0)
        heard->errors++; /* two at once */
    if (!heard->any_thread && !pthread_equal(pthread_self(), heard->owner))
        heard->errors++;
    const size_t at = heard->count;
    if (at < KEPT) {
        heard->levels[at] = level;
        snprintf(heard->texts[at], sizeof(heard->texts[at]), "%.159s", text);
    }
    heard->longest = strlen(text) > heard->longest ? strlen(text) : heard->longest;
    heard->count++;
    atomic_fetch_sub(&heard->inside, 1);
}

static struct heard *make_heard(struct check *c)
{
    struct heard *heard = check_alloc(c, sizeof(*heard));
    heard->owner = pthread_self();
    return heard;
}

/* Standard error goes into memory, and comes back. */
struct diverted {
    int kept, memory;
};

static bool divert(struct check *c, struct diverted *d)
{
    fflush(stderr);
    d->kept = dup(STDERR_FILENO);
    d->memory = memfd_create("stderr", MFD_CLOEXEC);
    return CHECK(c, d->kept >= 0 && d->memory >= 0 && dup2(d->memory, STDERR_FILENO) >= 0);
}

/* What was written there. */
static const char *restore(struct check *c, struct diverted *d)
{
    enum { ROOM = 1 << 16 };
    char *text = check_alloc(c, ROOM);
    fflush(stderr);
    dup2(d->kept, STDERR_FILENO);
    const ssize_t n = pread(d->memory, text, ROOM - 1, 0);
    text[n > 0 ? n : 0] = 0;
    close(d->kept);
    close(d->memory);
    return text;
}

static void check_callback(struct check *c)
{
    if (!check_case(c, "log_callback"))
        return;
    struct heard *heard = make_heard(c);
    struct diverted diverted;
    const airy_log_level before = airy_log_get_level();
    airy_log_set_level(AIRY_LOG_WARN);
    if (!divert(c, &diverted))
        return;
    airy_log(AIRY_LOG_WARN, "printed %d\n", 1);
    airy_log(AIRY_LOG_INFO, "not printed");
    airy_log_set(hear, heard);
    airy_log(AIRY_LOG_WARN, "one");
    airy_log(AIRY_LOG_ERROR, "a\033b\nc\302\233d\n");
    airy_log(AIRY_LOG_INFO, "two");
    airy_fail(AIRY_ERR_IO, "a failure is returned"); /* and no message up to info */
    airy_log_set_level(AIRY_LOG_DEBUG);
    airy_fail(AIRY_ERR_IO, "the sentence");
    airy_log(AIRY_LOG_DEBUG, "line\n\tof a compiler");
    char *text = check_alloc(c, LONG_TEXT + 1);
    memset(text, 'x', LONG_TEXT);
    airy_log(AIRY_LOG_DEBUG, "%s", text);
    CHECK(c, strcmp(airy_last_error(), "the sentence") == 0);
    airy_log_set_level(AIRY_LOG_OFF);
    airy_log(AIRY_LOG_ERROR, "nothing");
    airy_log_set(NULL, NULL);
    airy_log_set_level(AIRY_LOG_ERROR);
    airy_log(AIRY_LOG_ERROR, "printed again");
    airy_log_set_level(before);
    const char *printed = restore(c, &diverted);
    CHECK(c, strcmp(printed, "airy: printed 1\nairy: printed again\n") == 0);
    if (CHECK_COUNT(c, heard->count, 5)) {
        CHECK(c, heard->levels[0] == AIRY_LOG_WARN && strcmp(heard->texts[0], "one") == 0);
        CHECK(c, heard->levels[1] == AIRY_LOG_ERROR && strcmp(heard->texts[1], "a?b?c??d") == 0);
        CHECK(c, heard->levels[2] == AIRY_LOG_DEBUG &&
                     strcmp(heard->texts[2], "AIRY_ERR_IO: the sentence") == 0);
        CHECK(c, strcmp(heard->texts[3], "line\n\tof a compiler") == 0);
        CHECK_COUNT(c, heard->longest, LONG_TEXT);
    }
    CHECK_COUNT(c, heard->errors, 0);
}

static void check_levels(struct check *c)
{
    if (!check_case(c, "log_levels"))
        return;
    const airy_log_level before = airy_log_get_level();
    struct heard *heard = make_heard(c);
    airy_log_set(hear, heard);
    for (int set = AIRY_LOG_OFF; set < AIRY_LOG_COUNT; set++) {
        airy_log_set_level((airy_log_level)set);
        CHECK(c, airy_log_get_level() == (airy_log_level)set);
        heard->count = 0;
        for (int level = AIRY_LOG_ERROR; level < AIRY_LOG_COUNT; level++)
            airy_log((airy_log_level)level, "%d", level);
        CHECK_COUNT(c, heard->count, set);
    }
    airy_log_set_level((airy_log_level)99);
    CHECK(c, airy_log_get_level() == AIRY_LOG_DEBUG);
    airy_log_set_level((airy_log_level)-99);
    CHECK(c, airy_log_get_level() == AIRY_LOG_OFF);
    airy_log_set(NULL, NULL);
    airy_log_set_level(before);
}

/* A callback that calls the library: its own messages are dropped, another callback may be set. */
static void hear_and_talk(void *user, airy_log_level level, const char *text)
{
    hear(user, level, text);
    airy_log(AIRY_LOG_ERROR, "from inside");
    airy_fail(AIRY_ERR_IO, "also from inside");
    airy_log_set_level(AIRY_LOG_DEBUG);
    if (strcmp(text, "last") == 0)
        airy_log_set(NULL, NULL);
}

static void check_inside(struct check *c)
{
    if (!check_case(c, "log_inside"))
        return;
    const airy_log_level before = airy_log_get_level();
    struct heard *heard = make_heard(c);
    airy_log_set_level(AIRY_LOG_WARN);
    airy_log_set(hear_and_talk, heard);
    airy_log(AIRY_LOG_WARN, "first");
    airy_log(AIRY_LOG_WARN, "last");
    airy_log_set_level(AIRY_LOG_OFF);
    airy_log(AIRY_LOG_WARN, "after it");
    airy_log_set_level(before);
    CHECK(c, heard->count == 2 && heard->errors == 0);
}

struct talker {
    pthread_t thread;
    atomic_bool *go;
};

static void *talk(void *arg)
{
    const struct talker *talker = arg;
    while (!atomic_load(talker->go))
        ;
    for (int i = 0; i < ROUNDS; i++) {
        airy_log(AIRY_LOG_ERROR, "message %d", i);
        airy_fail(AIRY_ERR_IO, "failure %d", i);
    }
    return NULL;
}

/* Callbacks and levels change while threads talk; a callback that was replaced is never called. */
static void check_threads(struct check *c)
{
    if (!check_case(c, "log_threads"))
        return;
    const airy_log_level before = airy_log_get_level();
    struct heard *heard[2] = {make_heard(c), make_heard(c)};
    struct talker talkers[THREADS];
    atomic_bool go = false;
    size_t started = 0;
    heard[0]->any_thread = heard[1]->any_thread = true;
    airy_log_set_level(AIRY_LOG_ERROR);
    airy_log_set(hear, heard[0]);
    for (; started < THREADS; started++) {
        talkers[started].go = &go;
        if (!CHECK(c, pthread_create(&talkers[started].thread, NULL, talk, &talkers[started]) == 0))
            break;
    }
    atomic_store(&go, true);
    for (int i = 1; i <= ROUNDS; i++) {
        airy_log_set(hear, heard[i % 2]);
        const size_t other = heard[(i + 1) % 2]->count;
        airy_log_set_level(i % 3 ? AIRY_LOG_ERROR : AIRY_LOG_DEBUG);
        CHECK(c, heard[(i + 1) % 2]->count == other);
    }
    for (size_t i = 0; i < started; i++)
        pthread_join(talkers[i].thread, NULL);
    airy_log_set(NULL, NULL);
    airy_log_set_level(before);
    CHECK_COUNT(c, heard[0]->errors + heard[1]->errors, 0);
    CHECK(c, heard[0]->count + heard[1]->count >= started * ROUNDS);
}

void check_log(struct check *c)
{
    if (!c->is_cpu)
        return;
    check_callback(c);
    check_levels(c);
    check_inside(c);
    check_threads(c);
}
