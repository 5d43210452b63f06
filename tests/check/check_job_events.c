/* Events of a run that was started: their order and values, a queue that is bounded, and every end. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "airy/error.h"
#include "check_pipeline.h"
#include "jobs/job.h"

enum { FRAMES = 23, BAD = 4, ROOM = 64 };

/* ---- an integration ---- */

static const char geometry[] = "{\"pixel\": [1e-4, 1e-4], \"dist\": 0.1, \"poni1\": 0.0018, "
                               "\"poni2\": 0.0021, \"wavelength\": 1e-10, \"bins\": \"50\", "
                               "\"error-model\": \"poisson\"}";

static airy_job *open_integration(struct check *c, const char *path, const airy_job_hooks *hooks)
{
    airy_job *job = NULL;
    CHECK_OK(c, airy_job_create(&job, "integrate", NULL, hooks));
    CHECK_OK(c, airy_job_set_json(job, geometry));
    CHECK_OK(c, airy_job_set(job, "device", c->spec));
    CHECK_OK(c, airy_job_set(job, "stack", path));
    return job;
}

static const char *make_stack(struct check *c, size_t frames, enum spoil spoil)
{
    const char *path = check_run_path(c, "stack.h5");
    check_run_stack(c, path, check_run_frames(c, frames), frames, spoil == SOUND ? frames : BAD,
                    spoil);
    return path;
}

/* Rows of a run in the order in which they came. */
struct rows {
    struct check *c;
    size_t begins, rows, ends, bins;
    airy_status status[FRAMES], end;
    float intensity[FRAMES][RUN_BINS], std[FRAMES][RUN_BINS], sem[FRAMES][RUN_BINS];
    double radial[RUN_BINS];
    char text[AIRY_ERROR_TEXT]; /* of the last event */
};

static bool take_event(void *user, const airy_job_event *event)
{
    struct rows *r = user;
    struct check *c = r->c;
    snprintf(r->text, sizeof(r->text), "%s", event->text);
    CHECK(c, event->series == 0 && event->radial_bins == RUN_BINS && event->azimuth_bins == 0);
    CHECK(c, event->radial && strcmp(event->unit, "q_nm^-1") == 0);
    if (event->kind == AIRY_JOB_EVENT_SERIES_BEGINS) {
        CHECK(c, event->frames == FRAMES && r->begins++ == 0 && r->rows == 0);
        memcpy(r->radial, event->radial, sizeof(r->radial));
    } else if (event->kind == AIRY_JOB_EVENT_ROW && event->row < FRAMES) {
        CHECK(c, event->row == r->rows && event->frame == r->rows && r->begins && !r->ends);
        CHECK(c, memcmp(r->radial, event->radial, sizeof(r->radial)) == 0);
        r->status[r->rows] = event->status;
        memcpy(r->intensity[r->rows], event->intensity, sizeof(r->intensity[0]));
        memcpy(r->std[r->rows], event->std, sizeof(r->std[0]));
        memcpy(r->sem[r->rows++], event->sem, sizeof(r->sem[0]));
    } else {
        CHECK(c, event->kind == AIRY_JOB_EVENT_SERIES_ENDS && r->ends++ == 0);
        r->end = event->status;
        CHECK(c, (event->status < AIRY_OK) == !event->json);
        CHECK(c, !event->json || strstr(event->json, "\"frames\":"));
    }
    return true;
}

static void check_bytes(struct check *c, const airy_job *job, const char *result, const void *want,
                        size_t size)
{
    airy_host_view view = {.data = NULL};
    if (CHECK_OK(c, airy_job_get_array(job, result, &view)))
        CHECK(c, memcmp(view.data, want, size) == 0);
}

static void check_same_rows(struct check *c, const airy_job *job, const struct rows *r)
{
    CHECK(c, r->begins == 1 && r->rows == FRAMES && r->ends == 1);
    check_bytes(c, job, "intensity", r->intensity, sizeof(r->intensity));
    check_bytes(c, job, "std", r->std, sizeof(r->std));
    check_bytes(c, job, "sem", r->sem, sizeof(r->sem));
    check_bytes(c, job, "status", r->status, sizeof(r->status));
    check_bytes(c, job, "radial", r->radial, sizeof(r->radial));
}

/* Fetched, by a hook of airy_job_run, and by one of a run that was started: the same rows. */
static void check_integration(struct check *c)
{
    if (!check_case(c, "job_events_integrate"))
        return;
    const char *path = make_stack(c, FRAMES, FLIPPED);
    for (int way = 0; way < 4; way++) {
        struct rows r = {.c = c};
        const airy_job_event *event = NULL;
        const airy_job_hooks hooks = {.event = way ? take_event : NULL, .user = &r};
        airy_job *job = open_integration(c, path, &hooks);
        CHECK_OK(c, airy_job_set(job, "on-error", "skip"));
        if (way == 1) {
            CHECK(c, airy_job_run(job) == AIRY_PARTLY);
        } else {
            CHECK_OK(c, airy_job_start(job));
            do {
                if (way < 3)
                    CHECK_OK(c, airy_job_next(job, &event, INFINITY));
                if (way == 0 && event)
                    take_event(&r, event);
            } while (event);
            CHECK(c, airy_job_finish(job) == AIRY_PARTLY);
        }
        check_same_rows(c, job, &r);
        CHECK(c, r.end == AIRY_PARTLY && r.status[BAD] == AIRY_ERR_CORRUPT && *r.text);
        airy_job_destroy(&job);
    }
}

/* The failure of a frame ends the series and the run, with its record. */
static void check_failure(struct check *c)
{
    if (!check_case(c, "job_events_failure"))
        return;
    const char *path = make_stack(c, FRAMES, FLIPPED);
    struct rows r = {.c = c};
    const airy_job_event *event = NULL;
    airy_host_view view;
    airy_error error;
    airy_job *job = open_integration(c, path, NULL);
    CHECK_OK(c, airy_job_set(job, "batch", "1"));
    CHECK_OK(c, airy_job_start(job));
    while (airy_job_next(job, &event, INFINITY) == AIRY_OK && event)
        take_event(&r, event);
    CHECK(c, r.begins == 1 && r.rows >= BAD && r.ends == 1 && r.end == AIRY_ERR_CORRUPT);
    CHECK(c, strstr(r.text, "frame 4") != NULL);
    CHECK_OK(c, airy_job_next(job, &event, 0));
    CHECK(c, !event);
    airy_error_clear();
    CHECK_FAILS(c, airy_job_finish(job), AIRY_ERR_CORRUPT, "frame 4");
    airy_error_get(&error);
    CHECK(c, error.subject == AIRY_SUBJECT_FRAME && error.hint == AIRY_HINT_SKIP &&
                 strcmp(error.text, r.text) == 0);
    CHECK(c, airy_job_get_array(job, "intensity", &view) == AIRY_ERR_NOT_FOUND);
    /* The inputs are wrong: there is no event. */
    CHECK_OK(c, airy_job_reset(job, "stack"));
    CHECK_OK(c, airy_job_set(job, "stack", "none.h5"));
    CHECK_OK(c, airy_job_start(job));
    CHECK_OK(c, airy_job_next(job, &event, INFINITY));
    CHECK(c, !event);
    CHECK_FAILS(c, airy_job_finish(job), AIRY_ERR_NOT_FOUND, "none.h5");
    airy_job_destroy(&job);
}

static bool take_ends(void *user, const airy_job_event *event)
{
    ++((size_t *)user)[event->kind];
    return true;
}

/* A hook that takes some kinds of events, during airy_job_run and of a run that was started; without
 * the hook these are what airy_job_next gives. */
static void check_kinds(struct check *c)
{
    if (!check_case(c, "job_events_kinds"))
        return;
    const char *path = make_stack(c, FRAMES, SOUND);
    const airy_job_hooks ends = {.events = 1u << AIRY_JOB_EVENT_SERIES_ENDS};
    const airy_job_event *one = NULL;
    airy_job *without = open_integration(c, path, &ends);
    CHECK_OK(c, airy_job_start(without));
    CHECK_OK(c, airy_job_next(without, &one, INFINITY));
    CHECK(c, one && one->kind == AIRY_JOB_EVENT_SERIES_ENDS);
    CHECK_OK(c, airy_job_next(without, &one, INFINITY));
    CHECK(c, !one);
    CHECK_OK(c, airy_job_finish(without));
    airy_job_destroy(&without);
    for (int started = 0; started < 2; started++) {
        size_t taken[AIRY_JOB_EVENT_COUNT] = {0}, fetched = 0;
        const airy_job_hooks hooks = {.event = take_ends,
                                      .events = 1u << AIRY_JOB_EVENT_SERIES_BEGINS |
                                                1u << AIRY_JOB_EVENT_SERIES_ENDS,
                                      .user = taken};
        const airy_job_event *event = NULL;
        airy_job *job = open_integration(c, path, &hooks);
        if (started) {
            CHECK_OK(c, airy_job_start(job));
            while (airy_job_next(job, &event, INFINITY) == AIRY_OK && event)
                fetched++;
            CHECK_OK(c, airy_job_finish(job));
        } else {
            CHECK_OK(c, airy_job_run(job));
        }
        CHECK(c, fetched == (started ? FRAMES + 2 : 0));
        CHECK(c, taken[AIRY_JOB_EVENT_SERIES_BEGINS] == 1 && taken[AIRY_JOB_EVENT_ROW] == 0 &&
                     taken[AIRY_JOB_EVENT_SERIES_ENDS] == 1);
        airy_job_destroy(&job);
    }
}

/* What is not allowed, and what is again when the run is finished. */
static void check_misuse(struct check *c)
{
    if (!check_case(c, "job_events_misuse"))
        return;
    const airy_job_event *event = NULL;
    struct rows r = {.c = c};
    airy_job *job = open_integration(c, make_stack(c, FRAMES, SOUND), NULL);
    CHECK_FAILS(c, airy_job_next(job, &event, 0), AIRY_ERR_PARAM, "was not started");
    CHECK_FAILS(c, airy_job_finish(job), AIRY_ERR_PARAM, "was not started");
    CHECK_FAILS(c, airy_job_next(NULL, &event, 0), AIRY_ERR_PARAM, "job is NULL");
    CHECK_FAILS(c, airy_job_start(NULL), AIRY_ERR_PARAM, "job is NULL");
    CHECK_OK(c, airy_job_start(job));
    CHECK_FAILS(c, airy_job_start(job), AIRY_ERR_PARAM, "runs already");
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_PARAM, "runs already");
    CHECK_FAILS(c, airy_job_resolve(job), AIRY_ERR_PARAM, "runs already");
    CHECK_FAILS(c, airy_job_set(job, "frames", "1:2"), AIRY_ERR_PARAM, "wait until it has ended");
    CHECK_FAILS(c, airy_job_next(job, NULL, 0), AIRY_ERR_PARAM, "event is NULL");
    CHECK_FAILS(c, airy_job_next(job, &event, NAN), AIRY_ERR_PARAM, "not a number");
    while (airy_job_next(job, &event, INFINITY) == AIRY_OK && event)
        take_event(&r, event);
    CHECK_FAILS(c, airy_job_start(job), AIRY_ERR_PARAM, "runs already");
    CHECK_OK(c, airy_job_finish(job));
    check_same_rows(c, job, &r);
    CHECK_FAILS(c, airy_job_finish(job), AIRY_ERR_PARAM, "was not started");
    CHECK_FAILS(c, airy_job_next(job, &event, 0), AIRY_ERR_PARAM, "was not started");
    CHECK_OK(c, airy_job_start(job)); /* events that nobody fetches do not hold up the run */
    CHECK_OK(c, airy_job_finish(job));
    check_same_rows(c, job, &r);
    CHECK_OK(c, airy_job_set(job, "zigzag", "on"));
    CHECK_FAILS(c, airy_job_start(job), AIRY_ERR_PARAM, "zigzag goes with grid");
    airy_job_destroy(&job);
}

/* ---- a job that does nothing but report ---- */

struct source {
    struct check *c;
    size_t bins, events, messages; /* to be reported, a message before each of the first events */
    bool lossy, goes_on;           /* until it is cancelled */
    atomic_size_t reported;
    pthread_t thread; /* of the hooks */
    size_t steps, heard;
    airy_job *destroyed, *meddled; /* by the message hook */
    bool refuses;
};

static struct source *running; /* one job a time */

static airy_status run_source(airy_job *job, void *state)
{
    (void)state;
    struct source *s = running;
    float *row = calloc(s->bins + 1, sizeof(*row));
    double *radial = calloc(s->bins + 1, sizeof(*radial));
    airy_job_event event = {.kind = AIRY_JOB_EVENT_ROW, .radial_bins = s->bins, .radial = radial};
    bool proceed = row && radial;
    airy_job_set_lossy(job, s->lossy);
    for (size_t i = 0; proceed && (i < s->events || s->goes_on); i++) {
        event.row = i;
        row[0] = (float)i;
        radial[0] = (double)(i / 10); /* another axis, sometimes */
        event.intensity = row;
        if (i < s->messages)
            airy_job_message(job, AIRY_LOG_INFO, "message %zu", i);
        proceed = airy_job_emit(job, &event) && airy_job_step(job, i, s->events);
        atomic_store(&s->reported, i + 1);
    }
    free(row);
    free(radial);
    return proceed ? AIRY_OK : airy_fail(AIRY_ERR_CANCELLED, "cancelled");
}

static void close_source(void *state)
{
    (void)state;
}

static const struct airy_job_row no_rows[] = {{{0}, 0, NULL}};
static const airy_job_result no_results[] = {{NULL, AIRY_JOB_ARRAY, NULL, NULL}};
static const struct airy_job_kind source_kind = {.name = "source",
                                                 .groups = {{no_rows, 0}},
                                                 .results = no_results,
                                                 .values_size = 1,
                                                 .state_size = 1,
                                                 .run = run_source,
                                                 .close = close_source};

static void hear(void *user, airy_log_level level, const char *text)
{
    struct source *s = user;
    struct check *c = s->c;
    char want[32];
    const airy_job_event *event;
    snprintf(want, sizeof(want), "message %zu", s->heard++);
    CHECK(c, pthread_equal(s->thread, pthread_self()) && level == AIRY_LOG_INFO);
    CHECK(c, s->lossy || strcmp(text, want) == 0);
    if (s->meddled) {
        CHECK_FAILS(c, airy_job_next(s->meddled, &event, 0), AIRY_ERR_PARAM, "a hook of job");
        CHECK_FAILS(c, airy_job_finish(s->meddled), AIRY_ERR_PARAM, "a hook of job");
    }
    airy_job_destroy(&s->destroyed);
}

static bool see(void *user, size_t done, size_t total)
{
    struct source *s = user;
    struct check *c = s->c;
    (void)total;
    CHECK(c, pthread_equal(s->thread, pthread_self()) && done < SIZE_MAX);
    s->steps++;
    return !s->refuses;
}

static airy_job *open_source(struct check *c, struct source *s)
{
    const airy_job_hooks hooks = {.progress = see, .message = hear, .user = s};
    airy_job *job = NULL;
    s->c = c;
    s->thread = pthread_self();
    running = s;
    CHECK_OK(c, airy_job_make(&job, &source_kind, NULL, &hooks));
    return job;
}

static void pause_ms(long ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* Until a run reports nothing more for a while. */
static size_t wait_full(struct source *s)
{
    size_t before = 0;
    for (int i = 0; i < 100; i++) {
        pause_ms(100);
        const size_t now = atomic_load(&s->reported);
        if (now == before && now)
            break;
        before = now;
    }
    return before;
}

/* A slow reader: 64 events wait, or 64 MiB; none is lost, and hooks are called by their reader. */
static void check_slow_reader(struct check *c)
{
    static const size_t bins[2] = {10, 2 << 20}, most[2] = {ROOM, 8};
    if (!check_case(c, "job_events_slow_reader"))
        return;
    for (int large = 0; large < 2; large++) {
        const airy_job_event *event = NULL;
        struct source s = {.bins = bins[large], .events = large ? 20 : 300, .messages = 5};
        airy_job *job = open_source(c, &s);
        CHECK_OK(c, airy_job_start(job));
        const size_t full = wait_full(&s);
        CHECK(c, full > 0 && full <= most[large]);
        for (size_t i = 0; i < s.events; i++) {
            if (!CHECK_OK(c, airy_job_next(job, &event, INFINITY)) || !CHECK(c, event))
                break;
            CHECK(c, event->row == i && event->intensity[0] == (float)i && !*event->text);
            CHECK(c, event->radial[0] == (double)(i / 10) && !event->std && !event->json);
            CHECK(c, atomic_load(&s.reported) <= i + 1 + most[large]);
        }
        CHECK_OK(c, airy_job_next(job, &event, INFINITY));
        CHECK(c, !event);
        CHECK_OK(c, airy_job_finish(job));
        CHECK(c, s.heard == 5 && s.steps > 0);
        airy_job_destroy(&job);
    }
}

/* A stream does not wait: the oldest rows are dropped, and counted. */
static void check_lossy(struct check *c)
{
    if (!check_case(c, "job_events_lossy"))
        return;
    const airy_job_event *event = NULL;
    struct source s = {.bins = 10, .events = 1000, .lossy = true, .messages = 1000};
    airy_job *job = open_source(c, &s);
    size_t rows = 0, dropped = 0, sum = 0;
    CHECK_OK(c, airy_job_start(job));
    CHECK(c, wait_full(&s) == s.events);
    while (airy_job_next(job, &event, INFINITY) == AIRY_OK && event) {
        rows++;
        CHECK(c, rows < 2 || !*event->text);
        if (*event->text && CHECK(c, strstr(event->text, " events were dropped, because nobody"))) {
            dropped = strtoul(event->text, NULL, 10);
            sum += dropped;
        }
    }
    CHECK(c, rows <= ROOM && s.heard <= ROOM && rows + s.heard == ROOM);
    CHECK(c, rows + sum == s.events);
    CHECK_OK(c, airy_job_finish(job));
    airy_job_destroy(&job);
}

/* Nothing comes in time; a limited time; a message comes within it. */
static void check_timeouts(struct check *c)
{
    if (!check_case(c, "job_events_timeout"))
        return;
    const airy_job_event *event = NULL;
    struct source s = {.bins = 1, .events = 1};
    airy_status status;
    size_t tries = 0;
    airy_job *job = open_source(c, &s);
    CHECK_OK(c, airy_job_start(job));
    do {
        status = airy_job_next(job, &event, tries % 2 ? 0.01 : 0);
        CHECK(c, status == AIRY_OK || (status == AIRY_ERR_TIMED_OUT && !event));
    } while (status == AIRY_ERR_TIMED_OUT && ++tries < 10000);
    CHECK(c, event && event->row == 0);
    CHECK_OK(c, airy_job_next(job, &event, INFINITY));
    CHECK_OK(c, airy_job_next(job, &event, -1));
    CHECK(c, !event);
    CHECK_OK(c, airy_job_finish(job));
    airy_job_destroy(&job);
}

static void *cancel_soon(void *job)
{
    pause_ms(50);
    airy_job_cancel(job);
    return NULL;
}

/* Cancelled while the reader waits for events, while the run waits for room, by a hook; and again. */
static void check_cancel(struct check *c)
{
    if (!check_case(c, "job_events_cancel"))
        return;
    for (int way = 0; way < 4; way++) {
        const airy_job_event *event = NULL;
        pthread_t thread;
        struct source s = {.bins = 1, .goes_on = way != 3, .events = 1, .refuses = way == 2};
        airy_job *job = open_source(c, &s);
        CHECK_OK(c, airy_job_start(job));
        if (way == 0) { /* the run waits */
            CHECK(c, wait_full(&s) == ROOM);
            airy_job_cancel(job);
        } else if (way == 1) { /* both are at work */
            CHECK(c, pthread_create(&thread, NULL, cancel_soon, job) == 0);
            while (airy_job_next(job, &event, INFINITY) == AIRY_OK && event)
                continue;
            pthread_join(thread, NULL);
        }
        if (way < 3)
            CHECK_FAILS(c, airy_job_finish(job), AIRY_ERR_CANCELLED, "cancelled");
        else
            CHECK_OK(c, airy_job_finish(job));
        s.goes_on = s.refuses = false;
        s.events = 3;
        CHECK_OK(c, airy_job_start(job));
        for (size_t i = 0; i < 3 && CHECK_OK(c, airy_job_next(job, &event, INFINITY)); i++)
            CHECK(c, event && event->row == i);
        CHECK_OK(c, airy_job_finish(job));
        airy_job_destroy(&job);
    }
}

static void *destroy_soon(void *job)
{
    pause_ms(50);
    airy_job_destroy(job);
    return NULL;
}

/* Destroyed while it runs: by its thread, by a hook inside airy_job_next or _finish, by another one. */
static void check_destroy(struct check *c)
{
    if (!check_case(c, "job_events_destroy"))
        return;
    for (int way = 0; way < 5; way++) {
        const airy_job_event *event = NULL;
        pthread_t thread;
        struct source s = {.bins = 1, .goes_on = true};
        s.messages = way == 1 || way == 2;
        airy_job *job = open_source(c, &s), *other = job;
        s.destroyed = s.messages ? job : NULL;
        CHECK_OK(c, airy_job_start(job));
        if (way == 0)
            wait_full(&s);
        if (way == 1)
            CHECK_FAILS(c, airy_job_next(job, &event, INFINITY), AIRY_ERR_CANCELLED, "destroyed");
        if (way == 2)
            CHECK_FAILS(c, airy_job_finish(job), AIRY_ERR_CANCELLED, "destroyed");
        if (way == 3) {
            CHECK(c, pthread_create(&thread, NULL, destroy_soon, &other) == 0);
            CHECK_FAILS(c, airy_job_finish(job), AIRY_ERR_CANCELLED, "destroyed");
            pthread_join(thread, NULL);
        }
        if (way == 0 || way == 4)
            airy_job_destroy(&job);
        CHECK(c, !s.destroyed && (way == 0 || way == 4 ? !job : true));
    }
    struct source s = {.bins = 1, .events = 1, .messages = 1};
    airy_job *job = open_source(c, &s);
    s.meddled = job;
    CHECK_OK(c, airy_job_start(job));
    CHECK_OK(c, airy_job_finish(job));
    airy_job_destroy(&job);
}

/* An integration is destroyed while its rows wait, with readers and writers at work. */
static void check_destroy_integration(struct check *c)
{
    if (!check_case(c, "job_events_destroy_integrate"))
        return;
    const char *path = make_stack(c, 200, SOUND);
    for (size_t fetched = 0; fetched < 4; fetched++) {
        const airy_job_event *event = NULL;
        airy_job *job = open_integration(c, path, NULL);
        CHECK_OK(c, airy_job_start(job));
        for (size_t i = 0; i < fetched; i++)
            CHECK_OK(c, airy_job_next(job, &event, INFINITY));
        if (fetched == 3) {
            airy_job_cancel(job);
            CHECK_FAILS(c, airy_job_finish(job), AIRY_ERR_CANCELLED, "");
        }
        airy_job_destroy(&job);
    }
}

void check_job_events(struct check *c)
{
    check_integration(c);
    check_failure(c);
    check_kinds(c);
    check_misuse(c);
    check_slow_reader(c);
    check_lossy(c);
    check_timeouts(c);
    check_cancel(c);
    check_destroy(c);
    check_destroy_integration(c);
}
