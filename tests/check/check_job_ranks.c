/* The job integrate by several ranks, which are threads of this process, beside the same by one. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "airy/error.h"
#include "airy/job.h"
#include "check_pipeline.h"

enum { FRAMES = 60, BAD = 17, MOST = 3, COUNTERS = 16, STOP = 0, CLAIMS = 3, NONE = -1 };

/* Where the ranks meet. */
struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int size, here;
    unsigned round;
    int stops; /* this rank stops: the others claim once before; NONE: no rank does */
    const void *parts[MOST];
    int64_t counters[COUNTERS];
};

/* A rank. */
struct seat {
    struct meeting *meeting;
    airy_job_ranks ranks;
    airy_job_hooks hooks;
    airy_job *job;
    size_t stop_at; /* frames, by its progress; SIZE_MAX: never */
    int messages, claims, events[AIRY_JOB_EVENT_COUNT], rows[FRAMES];
    airy_status status;
    airy_error error;
    char host[16];
};

static int64_t add(void *user, size_t counter, int64_t amount)
{
    struct seat *seat = user;
    struct meeting *m = seat->meeting;
    pthread_mutex_lock(&m->lock);
    if (counter >= CLAIMS && amount > 0 && seat->ranks.rank != m->stops && m->stops != NONE &&
        seat->claims++ > 0)
        while (m->counters[STOP] == 0)
            pthread_cond_wait(&m->changed, &m->lock);
    if (counter == STOP && amount)
        pthread_cond_broadcast(&m->changed);
    const int64_t before = m->counters[counter];
    m->counters[counter] += amount;
    pthread_mutex_unlock(&m->lock);
    return before;
}

/* Until all are here. */
static void meet(struct meeting *m, void (*wait)(void *), void *user)
{
    pthread_mutex_lock(&m->lock);
    const unsigned round = m->round;
    if (++m->here == m->size) {
        m->here = 0;
        m->round++;
        pthread_cond_broadcast(&m->changed);
    }
    while (m->round == round) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (pthread_cond_timedwait(&m->changed, &m->lock, &until) != ETIMEDOUT || !wait)
            continue;
        pthread_mutex_unlock(&m->lock);
        wait(user);
        pthread_mutex_lock(&m->lock);
    }
    pthread_mutex_unlock(&m->lock);
}

static int gather(void *user, const void *mine, size_t bytes, void *all, void (*wait)(void *),
                  void *wait_user)
{
    struct seat *seat = user;
    struct meeting *m = seat->meeting;
    m->parts[seat->ranks.rank] = mine;
    meet(m, wait, wait_user);
    for (int i = 0; i < m->size; i++)
        memcpy((char *)all + (size_t)i * bytes, m->parts[i], bytes);
    meet(m, NULL, NULL);
    return 0;
}

static bool step(void *user, size_t done, size_t total)
{
    (void)total;
    return done < ((const struct seat *)user)->stop_at;
}

static void count_message(void *user, airy_log_level level, const char *text)
{
    (void)level;
    (void)text;
    ((struct seat *)user)->messages++;
}

static bool count_event(void *user, const airy_job_event *event)
{
    struct seat *seat = user;
    seat->events[event->kind]++;
    if (event->kind == AIRY_JOB_EVENT_ROW && event->row == event->frame && event->row < FRAMES)
        seat->rows[event->row]++;
    return true;
}

static void open_seat(struct seat *seat, struct meeting *m, int rank)
{
    *seat = (struct seat){.meeting = m, .stop_at = SIZE_MAX};
    snprintf(seat->host, sizeof(seat->host), "host%d", rank);
    seat->ranks = (airy_job_ranks){.rank = rank,
                                   .size = m->size,
                                   .local_rank = rank,
                                   .local_size = m->size,
                                   .host = seat->host,
                                   .add = add,
                                   .counters = COUNTERS,
                                   .gather = gather,
                                   .user = seat};
    seat->hooks = (airy_job_hooks){
        .progress = step, .message = count_message, .user = seat, .ranks = &seat->ranks};
}

/* Ranks that do the same. */
struct team {
    struct meeting meeting;
    struct seat seats[MOST];
};

/* What a run is asked for. */
struct wish {
    const char *stack, *output;
    bool per_rank, resume, force;
};

static airy_job *open_job(struct check *c, const struct wish *wish, const airy_job_hooks *hooks)
{
    airy_job *job = NULL;
    CHECK_OK(c, airy_job_create(&job, "integrate", NULL, hooks));
    CHECK_OK(c,
             airy_job_set_json(job, "{\"pixel\": [1e-4, 1e-4], \"dist\": 0.1, \"poni1\": 0.0018, "
                                    "\"poni2\": 0.0021, \"wavelength\": 1e-10, \"bins\": \"50\", "
                                    "\"error-model\": \"poisson\", \"batch\": 1}"));
    CHECK_OK(c, airy_job_set(job, "device", c->spec));
    CHECK_OK(c, airy_job_set(job, "stack", wish->stack));
    CHECK_OK(c, airy_job_set(job, "output", wish->output));
    CHECK_OK(c, airy_job_set_flag(job, "per-rank", wish->per_rank));
    CHECK_OK(c, airy_job_set_flag(job, "resume", wish->resume));
    CHECK_OK(c, airy_job_set_flag(job, "force", wish->force));
    return job;
}

static void open_team(struct check *c, struct team *team, int size, const struct wish *wish)
{
    team->meeting = (struct meeting){.lock = PTHREAD_MUTEX_INITIALIZER,
                                     .changed = PTHREAD_COND_INITIALIZER,
                                     .size = size,
                                     .stops = NONE};
    for (int i = 0; i < size; i++) {
        open_seat(&team->seats[i], &team->meeting, i);
        team->seats[i].job = open_job(c, wish, &team->seats[i].hooks);
    }
}

static void *run_seat(void *user)
{
    struct seat *seat = user;
    seat->status = airy_job_run(seat->job);
    airy_error_get(&seat->error);
    return NULL;
}

/* All have the same status, which is returned. */
static airy_status run_team(struct check *c, struct team *team)
{
    const int size = team->meeting.size;
    pthread_t threads[MOST];
    for (int i = 0; i < size; i++)
        CHECK(c, pthread_create(&threads[i], NULL, run_seat, &team->seats[i]) == 0);
    for (int i = 0; i < size; i++)
        pthread_join(threads[i], NULL);
    const struct seat *first = &team->seats[0];
    for (int i = 0; i < size; i++) {
        const struct seat *seat = &team->seats[i];
        CHECK(c, seat->status == first->status && (i == 0 || seat->messages == 0));
        if (first->status < AIRY_OK)
            CHECK(c, strcmp(seat->error.text, first->error.text) == 0 &&
                         seat->error.hint == first->error.hint &&
                         strcmp(seat->error.name, first->error.name) == 0);
    }
    return first->status;
}

static void close_team(struct team *team)
{
    for (int i = 0; i < team->meeting.size; i++)
        airy_job_destroy(&team->seats[i].job);
}

static airy_status run_ranks(struct check *c, int size, const struct wish *wish)
{
    struct team team;
    open_team(c, &team, size, wish);
    const airy_status status = run_team(c, &team);
    if (status < AIRY_OK)
        printf("# %s\n", team.seats[0].error.text);
    double frames = 0;
    for (int i = 0; i < size && status == AIRY_OK && !wish->resume; i++)
        CHECK(c, airy_job_get_number(team.seats[i].job, "frames", &frames) == AIRY_OK &&
                     frames == FRAMES);
    close_team(&team);
    return status;
}

static void run_alone(struct check *c, const struct wish *wish)
{
    airy_job *job = open_job(c, wish, NULL);
    CHECK_OK(c, airy_job_run(job));
    airy_job_destroy(&job);
}

static const char *make_stack(struct check *c, enum spoil spoil)
{
    const char *path = check_run_path(c, "stack.h5");
    check_run_stack(c, path, check_run_frames(c, FRAMES), FRAMES, spoil == SOUND ? FRAMES : BAD,
                    spoil);
    return path;
}

static bool is_there(const char *output, const char *tail)
{
    char path[4096];
    snprintf(path, sizeof(path), "%.*s%s", (int)strlen(output) - 3, output, tail);
    return access(path, F_OK) == 0;
}

/* Any number of ranks writes what one process writes; twice, as counters go on. */
static void check_same(struct check *c)
{
    for (int size = 1; size <= MOST; size++) {
        if (!check_case(c, "job_ranks_same%d", size))
            continue;
        struct wish wish = {.stack = make_stack(c, SOUND), .output = check_run_path(c, "want.h5")};
        const char *want = wish.output;
        run_alone(c, &wish);
        wish.output = check_run_path(c, "got.h5");
        wish.force = true;
        struct team team;
        open_team(c, &team, size, &wish);
        for (int again = 0; again < 2; again++) {
            CHECK(c, run_team(c, &team) == AIRY_OK);
            check_run_same(c, wish.output, want);
        }
        close_team(&team);
    }
}

/* A file a rank and a master; fewer of them replace more. */
static void check_per_rank(struct check *c)
{
    if (!check_case(c, "job_ranks_files"))
        return;
    struct wish wish = {.stack = make_stack(c, SOUND), .output = check_run_path(c, "want.h5")};
    const char *want = wish.output;
    run_alone(c, &wish);
    wish.output = check_run_path(c, "got.h5");
    wish.per_rank = true;
    CHECK(c, run_ranks(c, 3, &wish) == AIRY_OK);
    check_run_same(c, wish.output, want);
    CHECK(c, is_there(wish.output, "_0000.h5") && is_there(wish.output, "_0002.h5") &&
                 !is_there(wish.output, "_0003.h5") && !is_there(wish.output, ".h5.partial"));
    CHECK(c, run_ranks(c, 2, &wish) == AIRY_ERR_EXISTS);
    wish.force = true;
    CHECK(c, run_ranks(c, 2, &wish) == AIRY_OK);
    check_run_same(c, wish.output, want);
    CHECK(c, is_there(wish.output, "_0001.h5") && !is_there(wish.output, "_0002.h5"));
    wish.per_rank = false;
    run_alone(c, &wish);
    check_run_same(c, wish.output, want);
    CHECK(c, !is_there(wish.output, "_0000.h5"));
    wish.per_rank = true;
    airy_job *job = open_job(c, &wish, NULL);
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_UNSUPPORTED, "per-rank is for several ranks");
    airy_job_destroy(&job);
}

/* One rank is stopped, and so all are; then any number of them goes on, at last one process. */
static void check_resume(struct check *c)
{
    for (int files = 0; files < 2; files++) {
        if (!check_case(c, "job_ranks_resume%s", files ? "_files" : ""))
            continue;
        struct wish wish = {.stack = make_stack(c, SOUND), .output = check_run_path(c, "want.h5")};
        const char *want = wish.output;
        struct team team;
        run_alone(c, &wish);
        wish.output = check_run_path(c, "got.h5");
        wish.per_rank = files;
        for (int size = 3; size >= 2; size--) {
            open_team(c, &team, size, &wish);
            team.meeting.stops = 1;
            if (size == 2) /* before the run */
                airy_job_cancel(team.seats[1].job);
            else
                team.seats[1].stop_at = 0;
            const airy_status status = run_team(c, &team);
            const airy_error *error = &team.seats[0].error;
            CHECK(c, status == AIRY_ERR_CANCELLED && strncmp(error->text, "cancelled ", 10) == 0);
            close_team(&team);
            CHECK(c, !is_there(wish.output, ".h5") && is_there(wish.output, ".h5.partial"));
            wish.resume = true;
        }
        run_alone(c, &wish);
        check_run_same(c, wish.output, want);
        CHECK(c, is_there(wish.output, "_0000.h5") == files);
    }
}

/* The failure of one rank is that of all; of a new run nothing is left where it was the first frame. */
static void check_failure(struct check *c)
{
    static const struct {
        int rank;
        const char *stack, *sentence;
        airy_status status;
    } cases[] = {{1, "none.h5", "rank 1 of 3 (host1): ", AIRY_ERR_NOT_FOUND},
                 {NONE, "none.h5", "cannot open 'none.h5'", AIRY_ERR_NOT_FOUND},
                 {NONE, NULL, "rank ", AIRY_ERR_CORRUPT}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (!check_case(c, "job_ranks_failure%zu", i))
            continue;
        const struct wish good = {.stack = make_stack(c, cases[i].stack ? SOUND : FLIPPED),
                                  .output = check_run_path(c, "got.h5")};
        struct wish bad = good;
        bad.stack = cases[i].stack ? cases[i].stack : good.stack;
        struct team team;
        open_team(c, &team, 3, cases[i].rank == NONE ? &bad : &good);
        if (cases[i].rank != NONE) {
            struct seat *seat = &team.seats[cases[i].rank];
            airy_job_destroy(&seat->job);
            seat->job = open_job(c, &bad, &seat->hooks);
        }
        CHECK(c, run_team(c, &team) == cases[i].status);
        const char *text = team.seats[0].error.text;
        if (!CHECK(c, strncmp(text, cases[i].sentence, strlen(cases[i].sentence)) == 0 &&
                          (cases[i].stack || strstr(text, "frame 17"))))
            printf("# %s\n", text);
        CHECK(c, !is_there(good.output, ".h5"));
        close_team(&team);
    }
}

/* Bad frames that are skipped are counted by all; groups of frames. */
static void check_kinds(struct check *c)
{
    if (!check_case(c, "job_ranks_kinds"))
        return;
    const struct wish wish = {.stack = make_stack(c, FLIPPED),
                              .output = check_run_path(c, "want.h5")},
                      other = {.stack = wish.stack,
                               .output = check_run_path(c, "got.h5"),
                               .per_rank = true};
    struct team team;
    double bad = 0;
    airy_job *job = open_job(c, &wish, NULL);
    CHECK_OK(c, airy_job_set(job, "on-error", "skip"));
    CHECK_OK(c, airy_job_set(job, "average", "4"));
    CHECK(c, airy_job_run(job) == AIRY_PARTLY);
    airy_job_destroy(&job);
    open_team(c, &team, 3, &other);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(c, airy_job_set(team.seats[i].job, "on-error", "skip"));
        CHECK_OK(c, airy_job_set(team.seats[i].job, "average", "4"));
    }
    CHECK(c, run_team(c, &team) == AIRY_PARTLY);
    for (int i = 0; i < 3; i++)
        CHECK(c, airy_job_get_number(team.seats[i].job, "bad", &bad) == AIRY_OK && bad == 1);
    close_team(&team);
    check_run_same(c, other.output, wish.output);
}

/* Each rank reports the rows that it makes, with their place in the result. */
static void check_events(struct check *c)
{
    for (int files = 0; files < 2; files++) {
        if (!check_case(c, "job_ranks_events%s", files ? "_files" : ""))
            continue;
        const struct wish wish = {.stack = make_stack(c, SOUND),
                                  .output = check_run_path(c, "got.h5"),
                                  .per_rank = files};
        struct team team;
        open_team(c, &team, 3, &wish);
        for (int i = 0; i < 3; i++) {
            struct seat *seat = &team.seats[i];
            airy_job_destroy(&seat->job);
            seat->hooks.event = count_event;
            seat->job = open_job(c, &wish, &seat->hooks);
        }
        CHECK(c, run_team(c, &team) == AIRY_OK);
        for (int row = 0; row < FRAMES; row++)
            CHECK(c,
                  team.seats[0].rows[row] + team.seats[1].rows[row] + team.seats[2].rows[row] == 1);
        for (int i = 0; i < 3; i++)
            CHECK(c, team.seats[i].events[AIRY_JOB_EVENT_SERIES_BEGINS] == 1 &&
                         team.seats[i].events[AIRY_JOB_EVENT_SERIES_ENDS] == 1);
        close_team(&team);
    }
}

static void check_refused(struct check *c)
{
    static const struct {
        const char *name, *text, *sentence;
        int ranks;
    } bad[] = {{"grid", "5x5", "per-rank and grid exclude each other", 1},
               {"output", "a.npy", "a.npy", 1},
               {"output", NULL, "per-rank: output '' is no .h5", 1},
               {"output", "a.npy", "a.npy", 2},
               {"output", NULL, "per-rank: output ''", 2},
               {"per-rank", NULL, "output '': ranks write one .h5 together", 2}};
    if (!check_case(c, "job_ranks_refused"))
        return;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct meeting meeting = {.size = bad[i].ranks};
        struct seat seat;
        const struct wish wish = {.stack = "none.h5", .output = "a.h5", .per_rank = true};
        open_seat(&seat, &meeting, 0);
        airy_job *job = open_job(c, &wish, &seat.hooks);
        if (strcmp(bad[i].name, "grid") != 0)
            CHECK_OK(c, airy_job_reset(job, "output"));
        if (bad[i].text)
            CHECK_OK(c, airy_job_set(job, bad[i].name, bad[i].text));
        else
            CHECK_OK(c, airy_job_reset(job, bad[i].name));
        CHECK_FAILS(c, airy_job_check(job), AIRY_ERR_PARAM, bad[i].sentence);
        airy_job_destroy(&job);
    }
    struct team team;
    const struct wish wish = {.stack = make_stack(c, SOUND), .output = check_run_path(c, "a.h5")};
    open_team(c, &team, 2, &wish);
    for (int i = 0; i < 2; i++)
        CHECK_OK(c, airy_job_want(team.seats[i].job, "sem"));
    CHECK(c, run_team(c, &team) == AIRY_ERR_UNSUPPORTED);
    close_team(&team);
}

/* A table that is none is refused before a rank waits for others. */
static void check_rank_tables(struct check *c)
{
    static const struct {
        int rank, local_rank, local_size;
        size_t counters;
        bool no_add, no_gather;
        const char *sentence;
    } bad[] = {{2, 0, 2, 4, false, false, "rank 2 of 2"},
               {-1, 0, 2, 4, false, false, "rank -1 of 2"},
               {0, 0, 0, 4, false, false, "local rank 0 of 0"},
               {0, -1, 2, 4, false, false, "local rank -1 of 2"},
               {0, 0, 2, 3, false, false, "3 counters, expected at least 4"},
               {0, 0, 2, 4, true, false, "add or gather"},
               {0, 0, 2, 4, false, true, "add or gather"}};
    if (!check_case(c, "job_ranks_tables"))
        return;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const airy_job_ranks ranks = {.rank = bad[i].rank,
                                      .size = 2,
                                      .local_rank = bad[i].local_rank,
                                      .local_size = bad[i].local_size,
                                      .counters = bad[i].counters,
                                      .add = bad[i].no_add ? NULL : add,
                                      .gather = bad[i].no_gather ? NULL : gather};
        const airy_job_hooks hooks = {.ranks = &ranks};
        airy_job *job = NULL;
        CHECK_FAILS(c, airy_job_create(&job, "integrate", NULL, &hooks), AIRY_ERR_PARAM,
                    bad[i].sentence);
        CHECK(c, !job);
    }
}

/* What a rank that does not exist says: the same as this one, or bytes that are no answer. */
struct alone {
    int64_t counters[COUNTERS];
    bool stuck, garbles;
};

static int64_t add_alone(void *user, size_t counter, int64_t amount)
{
    struct alone *a = user;
    const int64_t before = a->counters[counter];
    a->counters[counter] += a->stuck && counter >= CLAIMS ? 0 : amount;
    return before;
}

static int gather_alone(void *user, const void *mine, size_t bytes, void *all, void (*wait)(void *),
                        void *wait_user)
{
    const struct alone *a = user;
    if (wait)
        wait(wait_user);
    memcpy(all, mine, bytes);
    memset((char *)all + bytes, 'A', bytes);
    if (!a->garbles)
        memcpy((char *)all + bytes, mine, bytes);
    return 0;
}

/* A counter that stands still gives no rows for ever, and an answer that is none is a failure. */
static void check_lies(struct check *c)
{
    for (int garbles = 0; garbles < 2; garbles++) {
        if (!check_case(c, "job_ranks_lies_%s", garbles ? "answer" : "counter"))
            continue;
        const struct wish wish = {
            .stack = make_stack(c, SOUND), .output = check_run_path(c, "got.h5"), .force = true};
        struct alone a = {.stuck = !garbles, .garbles = garbles};
        const airy_job_ranks ranks = {.size = 2,
                                      .local_size = 2,
                                      .add = add_alone,
                                      .counters = COUNTERS,
                                      .gather = gather_alone,
                                      .user = &a};
        const airy_job_hooks hooks = {.ranks = &ranks};
        airy_job *job = open_job(c, &wish, &hooks);
        CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_IO,
                    garbles ? "rank 1 of 2" : "the counter of rows that the ranks share went back");
        airy_job_destroy(&job);
        CHECK(c, !is_there(wish.output, ".h5"));
    }
}

/* A file that a parameter reads is not replaced, also with force; without the command's own look. */
static void check_input_kept(struct check *c)
{
    if (!check_case(c, "job_ranks_input_kept"))
        return;
    const char *path = make_stack(c, SOUND);
    const struct wish wish = {.stack = "none.h5", .output = path, .force = true};
    airy_job *job = open_job(c, &wish, NULL);
    CHECK_OK(c, airy_job_set(job, "dark", path));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_PARAM, "is the same file as the input");
    airy_job_destroy(&job);
}

void check_job_ranks(struct check *c)
{
    check_input_kept(c);
    check_rank_tables(c);
    check_lies(c);
    check_same(c);
    check_per_rank(c);
    check_resume(c);
    check_failure(c);
    check_kinds(c);
    check_events(c);
    check_refused(c);
}
