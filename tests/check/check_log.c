/* Messages of the library: the callback of the process, levels, the hooks of runs. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "airy/live.h"
#include "airy/log.h"
#include "airy/peaks_stack.h"
#include "airy/pipeline.h"
#include "base/error.h"
#include "check_pipeline.h"

enum { KEPT = 256, LONG_TEXT = 5000, THREADS = 4, ROUNDS = 200, FRAMES = 150 };

/* What a callback or a hook received. */
struct heard {
    atomic_size_t count, inside, errors;
    airy_log_level levels[KEPT];
    char texts[KEPT][160];
    size_t longest;
    pthread_t owner; /* of hooks: where they are to be called */
    bool any_thread;
    bool slow;
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
    if (heard->slow)
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    atomic_fetch_sub(&heard->inside, 1);
}

static struct heard *make_heard(struct check *c)
{
    struct heard *heard = check_alloc(c, sizeof(*heard));
    heard->owner = pthread_self();
    return heard;
}

static size_t count_of(const struct heard *heard, const char *part)
{
    size_t n = 0;
    for (size_t i = 0; i < heard->count && i < KEPT; i++)
        n += strstr(heard->texts[i], part) != NULL;
    return n;
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

/* A stack of FRAMES frames, of which `bad` have no usable monitor. */
struct talking_run {
    const char *path, *out;
    airy_stack *stack;
    airy_integrator *integrator;
    double monitor[FRAMES];
    airy_run_params params;
};

static bool open_run(struct check *c, struct talking_run *r, size_t bad, struct heard *heard)
{
    *r = (struct talking_run){.path = check_run_path(c, "in.h5"),
                              .out = check_run_path(c, "out.h5")};
    check_run_stack(c, r->path, check_run_frames(c, FRAMES), FRAMES, FRAMES, SOUND);
    for (size_t i = 0; i < FRAMES; i++)
        r->monitor[i] = i < bad ? 0 : 1;
    r->params = (airy_run_params){.skip_bad = true,
                                  .monitor = r->monitor,
                                  .batch = 7,
                                  .message = heard ? hear : NULL,
                                  .user = heard};
    r->integrator = check_run_integrator(c, c->device, AIRY_ERROR_MODEL_POISSON);
    return CHECK_OK(c, airy_stack_create(&r->stack, &r->path, 1)) && r->integrator;
}

static void close_run(struct talking_run *r)
{
    airy_integrator_destroy(&r->integrator);
    airy_stack_destroy(&r->stack);
}

static airy_status run(struct talking_run *r, airy_run_info *info)
{
    return airy_integrate_stack(r->out, r->stack, &r->integrator, 1, &r->params, info);
}

/*
 * More messages than the queue holds, of a run in several threads, to a hook that is slow: all come
 * on this thread, none twice, and standard error stays empty.
 */
static void check_hook(struct check *c)
{
    if (!check_case(c, "log_hook"))
        return;
    struct talking_run r;
    struct heard *heard = make_heard(c), *process = make_heard(c);
    struct diverted diverted;
    airy_run_info info = {0};
    heard->slow = true;
    process->any_thread = true;
    if (open_run(c, &r, FRAMES - 1, heard) && divert(c, &diverted)) {
        airy_log_set(hear, process);
        const airy_status status = run(&r, &info);
        airy_log_set(NULL, NULL);
        const char *printed = restore(c, &diverted);
        CHECK_OK(c, status);
        CHECK(c, *printed == 0);
        CHECK(c, info.frames == FRAMES && info.bad == FRAMES - 1);
        CHECK_COUNT(c, heard->count, FRAMES - 1);
        CHECK_COUNT(c, heard->errors, 0);
        CHECK_COUNT(c, count_of(process, "left out"), 0);
        for (size_t i = 0; i + 1 < FRAMES && i < KEPT; i++) {
            char part[64];
            snprintf(part, sizeof(part), "frame %zu was left out: ", i);
            CHECK(c, heard->levels[i] == AIRY_LOG_WARN && count_of(heard, part) == 1 &&
                         strstr(heard->texts[i], "its monitor is 0"));
        }
    }
    close_run(&r);
}

/* Without a hook, the log of the process has the messages, at level info. */
static void check_no_hook(struct check *c)
{
    if (!check_case(c, "log_no_hook"))
        return;
    struct talking_run r;
    const airy_log_level before = airy_log_get_level();
    for (int level = AIRY_LOG_WARN; level <= AIRY_LOG_INFO; level++) {
        struct heard *process = make_heard(c);
        process->any_thread = true;
        if (open_run(c, &r, 3, NULL)) {
            airy_log_set_level((airy_log_level)level);
            airy_log_set(hear, process);
            CHECK_OK(c, run(&r, NULL));
            airy_log_set(NULL, NULL);
            airy_log_set_level(before);
            CHECK_COUNT(c, count_of(process, " was left out: "), level == AIRY_LOG_INFO ? 3 : 0);
            for (size_t i = 0; i < process->count && i < KEPT; i++)
                CHECK(c, process->levels[i] == AIRY_LOG_INFO);
        }
        close_run(&r);
    }
}

/* A hook beside failures: what ends the run is its status, and the hook is not called after it. */
static void check_hook_ends(struct check *c)
{
    if (!check_case(c, "log_hook_ends"))
        return;
    struct talking_run r;
    struct heard *heard = make_heard(c);
    if (open_run(c, &r, 0, heard)) {
        const char *spoiled = check_run_path(c, "spoiled.h5");
        airy_stack_destroy(&r.stack);
        check_run_stack(c, spoiled, check_run_frames(c, 20), 20, 11, TRUNCATED);
        r.params.monitor = NULL;
        r.params.skip_bad = false;
        if (CHECK_OK(c, airy_stack_create(&r.stack, &spoiled, 1))) {
            CHECK_FAILS(c, run(&r, NULL), AIRY_ERR_CORRUPT, "frame 11");
            CHECK_COUNT(c, heard->count, 0);
            r.params.skip_bad = r.params.force = true;
            CHECK_OK(c, run(&r, NULL));
            CHECK(c, heard->count == 1 && count_of(heard, " frame 11") == 1);
            r.params.first = 30; /* past the end: fails before there are threads */
            CHECK(c, run(&r, NULL) != AIRY_OK && heard->count == 1 && heard->errors == 0);
        }
    }
    close_run(&r);
}

static bool stop_early(void *user, size_t done, size_t total)
{
    (void)user;
    (void)total;
    return done == 0; /* goes on while the file is made */
}

/* A run that is cancelled still gives its hook every message of the rows that it wrote. */
static void check_hook_cancel(struct check *c)
{
    if (!check_case(c, "log_hook_cancel"))
        return;
    struct talking_run r;
    struct heard *heard = make_heard(c);
    airy_run_info info = {0};
    heard->slow = true;
    if (open_run(c, &r, FRAMES, heard)) {
        r.params.batch = 1;
        r.params.progress = stop_early;
        CHECK_FAILS(c, run(&r, &info), AIRY_ERR_CANCELLED, "cancelled after");
        CHECK(c, info.bad > 0 && info.bad < FRAMES);
        CHECK_COUNT(c, heard->count, info.bad);
        CHECK_COUNT(c, heard->errors, 0);
    }
    close_run(&r);
}

/* Peaks of a stack: the same hook. */
static void check_hook_peaks(struct check *c)
{
    if (!check_case(c, "log_hook_peaks"))
        return;
    struct talking_run r;
    struct heard *heard = make_heard(c);
    airy_peak_finder *finder = NULL;
    airy_peaks_run_info info = {0};
    if (open_run(c, &r, 0, heard) &&
        CHECK_OK(c, airy_peak_finder_create(&finder, r.integrator, NULL))) {
        const char *spoiled = check_run_path(c, "spoiled.h5");
        airy_stack_destroy(&r.stack);
        check_run_stack(c, spoiled, check_run_frames(c, 20), 20, 11, TRUNCATED);
        r.params.monitor = NULL;
        r.params.batch = 2;
        if (CHECK_OK(c, airy_stack_create(&r.stack, &spoiled, 1)) &&
            CHECK_OK(c, airy_peaks_stack(r.out, r.stack, (const airy_peak_finder *[]){finder}, 1,
                                         &r.params, &info))) {
            CHECK_COUNT(c, heard->count, info.run.bad);
            CHECK(c, count_of(heard, " frame 11") == 1 && heard->errors == 0);
        }
    }
    airy_peak_finder_destroy(&finder);
    close_run(&r);
}

/* A live run has no thread inside it: its hook is called on any, never on two at once. */
static void check_hook_live(struct check *c)
{
    if (!check_case(c, "log_hook_live"))
        return;
    struct heard *heard = make_heard(c);
    airy_live *live = NULL;
    airy_live_info info = {0};
    heard->any_thread = true;
    const airy_live_params params = {.height = RUN_HEIGHT,
                                     .width = RUN_WIDTH,
                                     .dtype = AIRY_DTYPE_U32,
                                     .frames = 40,
                                     .run = {.skip_bad = true, .message = hear, .user = heard}};
    airy_integrator *integrator = check_run_integrator(c, c->device, AIRY_ERROR_MODEL_POISSON);
    const uint32_t *pixels = check_run_frames(c, 1);
    if (integrator && CHECK_OK(c, airy_live_create(&live, NULL, &integrator, 1, &params))) {
        airy_live_frame frame = {.bytes = pixels, .size = RUN_PIXELS * sizeof(*pixels)};
        for (; frame.number < 10; frame.number++)
            CHECK_OK(c, airy_live_put(live, &frame, 60));
        CHECK_OK(c, airy_live_lose(live, 10, "it was lost on its way", 60));
        CHECK_OK(c, airy_live_finish(live, &info));
        CHECK_COUNT(c, heard->count, 30);
        CHECK(c, info.bad == 0 && info.lost == 30 && heard->errors == 0);
        CHECK(c, count_of(heard, " was left out: ") == 30 &&
                     count_of(heard, "frame 10 was left out: it was lost on its way") == 1);
    }
    airy_live_destroy(&live);
    airy_integrator_destroy(&integrator);
}

void check_log(struct check *c)
{
    if (c->is_cpu) {
        check_callback(c);
        check_levels(c);
        check_inside(c);
        check_threads(c);
    }
    check_hook(c);
    check_no_hook(c);
    check_hook_ends(c);
    check_hook_cancel(c);
    check_hook_peaks(c);
    check_hook_live(c);
}
