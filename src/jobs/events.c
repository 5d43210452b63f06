/*
 * What a job reports: to its hooks, or, of a run that was started, to a queue that airy_job_next
 * empties on the thread of its caller.
 */
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/size.h"
#include "jobs/job.h"

enum { MOST_WAITING = 64, WAITING_BYTES = 64 << 20, UNIT_TEXT = 32, NOTE_TEXT = 128 };
/* airy_job_cancel is for signal handlers and wakes nobody: whoever waits for room looks so often. */
enum { LOOK_NS = 20000000 };

/* A radial axis, which rows that follow one another share. */
struct axis {
    size_t users, bins;
    char unit[UNIT_TEXT];
    double values[]; /* [bins] */
};

/* An event, or a message, with memory of its own. */
struct item {
    struct item *next;
    struct axis *axis; /* NULL: none */
    size_t bytes;
    bool is_message;
    airy_log_level level; /* of a message, whose text is event.text */
    airy_job_event event;
    float values[]; /* intensity, std, sem as far as they are there; then the texts */
};

struct airy_job_events {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* of what follows */
    struct item *first, *last;
    size_t count, bytes; /* of those that wait */
    size_t dropped;      /* since an event was fetched */
    struct axis *axis;   /* of the last event that had one */
    struct item *given;  /* what airy_job_next has given last */
    bool has_stepped;    /* the progress hook has not been called for it */
    bool has_ended;
    airy_status status; /* of the run */
    airy_error error;
    char note[AIRY_ERROR_TEXT + NOTE_TEXT];
};

/* ---- the side of the run ---- */

static void release_axis(struct axis *axis)
{
    if (axis && --axis->users == 0)
        free(axis);
}

static void release_item(struct item *item)
{
    if (item)
        release_axis(item->axis);
    free(item);
}

static size_t text_bytes(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static const float *copy_plane(float **room, const float *plane, size_t bins)
{
    float *copy = *room;
    if (!plane)
        return NULL;
    *room += bins;
    return memcpy(copy, plane, bins * sizeof(*plane));
}

static const char *copy_text(char **room, const char *text)
{
    char *copy = *room;
    if (!text)
        return NULL;
    *room += text_bytes(text);
    return memcpy(copy, text, text_bytes(text));
}

/* A copy but for the axis; NULL: there is no memory. */
static struct item *new_item(const airy_job_event *event)
{
    const char *text = event->text ? event->text : "";
    const size_t planes = !!event->intensity + !!event->std + !!event->sem;
    size_t bins, size;
    struct item *item = NULL;
    if (airy_mul_size(&bins, event->radial_bins, airy_max_size(event->azimuth_bins, 1)) ||
        airy_mul_size(&size, bins, planes * sizeof(float)) ||
        __builtin_add_overflow(size, sizeof(*item) + text_bytes(text) + text_bytes(event->json),
                               &size) ||
        airy_memory_calloc((void **)&item, 1, size, "an event") != AIRY_OK)
        return NULL;
    float *values = item->values;
    item->bytes = size;
    item->event = *event;
    item->event.intensity = copy_plane(&values, event->intensity, bins);
    item->event.std = copy_plane(&values, event->std, bins);
    item->event.sem = copy_plane(&values, event->sem, bins);
    char *texts = (char *)values;
    item->event.text = copy_text(&texts, text);
    item->event.json = copy_text(&texts, event->json);
    return item;
}

static bool is_axis(const struct axis *axis, const airy_job_event *event)
{
    return axis && axis->bins == event->radial_bins && strcmp(axis->unit, event->unit) == 0 &&
           memcmp(axis->values, event->radial, axis->bins * sizeof(double)) == 0;
}

/* Give an item the axis of its event: the last one's, where it is the same. The lock is held. */
static airy_status set_axis(struct airy_job_events *e, struct item *item)
{
    airy_job_event *event = &item->event;
    struct axis *axis = NULL;
    size_t size;
    event->unit = event->unit ? event->unit : "";
    if (!event->radial || !event->radial_bins) {
        event->unit = "";
        return AIRY_OK;
    }
    if (!is_axis(e->axis, event)) {
        AIRY_FAIL_IF(airy_mul_size(&size, event->radial_bins, sizeof(double)) ||
                         __builtin_add_overflow(size, sizeof(*axis), &size),
                     AIRY_ERR_MEMORY, "an axis has too many bins");
        AIRY_TRY(airy_memory_calloc((void **)&axis, 1, size, "an axis"));
        axis->users = 1;
        axis->bins = event->radial_bins;
        snprintf(axis->unit, sizeof(axis->unit), "%s", event->unit);
        memcpy(axis->values, event->radial, axis->bins * sizeof(double));
        release_axis(e->axis);
        e->axis = axis;
        item->bytes += size;
    }
    item->axis = e->axis;
    item->axis->users++;
    event->radial = item->axis->values;
    event->unit = item->axis->unit;
    return AIRY_OK;
}

static bool has_room(const struct airy_job_events *e, const struct item *item)
{
    return e->count == 0 ||
           (e->count < MOST_WAITING && e->bytes + item->bytes <= (size_t)WAITING_BYTES);
}

/* Take the item behind `before` out of the queue; NULL: the first one. */
static struct item *take_out(struct airy_job_events *e, struct item *before)
{
    struct item *item = before ? before->next : e->first;
    *(before ? &before->next : &e->first) = item->next;
    if (e->last == item)
        e->last = before;
    e->count--;
    e->bytes -= item->bytes;
    return item;
}

static bool is_row(const struct item *item)
{
    return !item->is_message &&
           (item->event.kind == AIRY_JOB_EVENT_ROW || item->event.kind == AIRY_JOB_EVENT_LOST);
}

/* The oldest row, or, where no row waits, the oldest of all. */
static void drop_one(struct airy_job_events *e)
{
    struct item *before = NULL, *item = e->first;
    while (item && !is_row(item)) {
        before = item;
        item = item->next;
    }
    item = take_out(e, item ? before : NULL);
    e->dropped += !item->is_message;
    release_item(item);
}

static void wait_until(struct airy_job_events *e, uint64_t until, int *timed_out)
{
    const struct timespec time = {.tv_sec = (time_t)(until / 1000000000),
                                  .tv_nsec = (long)(until % 1000000000)};
    *timed_out = pthread_cond_timedwait(&e->changed, &e->lock, &time);
}

/* The lock is held. */
static void make_room(const airy_job *job, struct airy_job_events *e, const struct item *item)
{
    int timed_out;
    while (!has_room(e, item) && job->is_lossy)
        drop_one(e);
    while (!has_room(e, item) && !atomic_load(&job->cancelled))
        wait_until(e, airy_clock_ns() + LOOK_NS, &timed_out);
}

/*
 * Append an item, which is the queue's from then on, when there is room. A run that is cancelled does
 * not wait; the end of a series is reported all the same.
 */
static airy_status put(const airy_job *job, struct item *item)
{
    struct airy_job_events *e = job->events;
    airy_status status = item ? AIRY_OK : AIRY_ERR_MEMORY;
    pthread_mutex_lock(&e->lock);
    if (item)
        status = set_axis(e, item);
    if (status == AIRY_OK)
        make_room(job, e, item);
    const bool is_end = item && !item->is_message && item->event.kind == AIRY_JOB_EVENT_SERIES_ENDS;
    if (status == AIRY_OK && (is_end || has_room(e, item))) {
        *(e->last ? &e->last->next : &e->first) = item;
        e->last = item;
        e->count++;
        e->bytes += item->bytes;
        pthread_cond_broadcast(&e->changed);
    } else
        release_item(item);
    if (status != AIRY_OK)
        (void)airy_error_first(&e->error, status);
    pthread_mutex_unlock(&e->lock);
    return status;
}

static bool hook_takes(const airy_job *job, airy_job_event_kind kind)
{
    const unsigned wanted = job->hooks.events;
    return job->hooks.event && (!wanted || (wanted & 1u << kind));
}

/* Of a run that was started without the hook the mask says what airy_job_next gives. */
static bool queue_takes(const airy_job *job, airy_job_event_kind kind)
{
    const unsigned wanted = job->hooks.events;
    return job->hooks.event || !wanted || (wanted & 1u << kind);
}

bool airy_job_takes(const airy_job *job, airy_job_event_kind kind)
{
    return job->events ? queue_takes(job, kind) : hook_takes(job, kind);
}

void airy_job_set_lossy(airy_job *job, bool is_lossy)
{
    job->is_lossy = is_lossy;
}

bool airy_job_emit(airy_job *job, const airy_job_event *event)
{
    if (!job->events)
        return !hook_takes(job, event->kind) || job->hooks.event(job->hooks.user, event);
    if (queue_takes(job, event->kind) && put(job, new_item(event)) != AIRY_OK)
        airy_job_cancel(job); /* airy_job_finish returns the failure */
    return !atomic_load(&job->cancelled);
}

/* Of several ranks the first one alone reports. */
static void tell(const airy_job *job, airy_log_level level, const char *text)
{
    if (job->hooks.ranks && job->hooks.ranks->rank > 0)
        return;
    if (!job->hooks.message) {
        airy_log(level, "%s", text);
        return;
    }
    if (!job->events) {
        job->hooks.message(job->hooks.user, level, text);
        return;
    }
    const airy_job_event event = {.text = text};
    struct item *item = new_item(&event);
    if (!item) /* a run does not fail for a message */
        return;
    item->is_message = true;
    item->level = level;
    (void)put(job, item);
}

void airy_job_message(const airy_job *job, airy_log_level level, const char *format, ...)
{
    char room[1024];
    va_list args;
    va_start(args, format);
    char *text = airy_log_format(room, sizeof(room), level, format, args);
    va_end(args);
    tell(job, level, text);
    if (text != room)
        free(text);
}

void airy_job_pass_message(void *user, airy_log_level level, const char *text)
{
    tell(user, level, text);
}

void airy_job_frame_message(void *user, airy_log_level level, const char *text)
{
    tell(user, level == AIRY_LOG_WARN ? AIRY_LOG_INFO : level, text);
}

void airy_job_cancel(airy_job *job)
{
    if (job)
        atomic_store(&job->cancelled, true);
}

void airy_job_progress(const airy_job *job, size_t *done, size_t *total)
{
    if (done)
        *done = job ? atomic_load(&job->done) : 0;
    if (total)
        *total = job ? atomic_load(&job->total) : 0;
}

/* Whoever is inside airy_job_next calls the hook. */
static void wake_progress(struct airy_job_events *e)
{
    pthread_mutex_lock(&e->lock);
    e->has_stepped = true;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

bool airy_job_step(void *user, size_t done, size_t total)
{
    airy_job *job = user;
    atomic_store(&job->done, done);
    atomic_store(&job->total, total);
    bool proceed = true;
    if (job->hooks.progress && job->events)
        wake_progress(job->events);
    else if (job->hooks.progress)
        proceed = job->hooks.progress(job->hooks.user, done, total);
    return proceed && !atomic_load(&job->cancelled);
}

/* ---- the thread ---- */

/* What ended the run: of one that an event has cancelled, for which there was no memory, that. */
static void *run(void *user)
{
    airy_job *job = user;
    struct airy_job_events *e = job->events;
    const airy_status status = airy_job_run_once(job);
    pthread_mutex_lock(&e->lock);
    if (status != AIRY_ERR_CANCELLED)
        e->error.status = AIRY_OK;
    e->status = status < AIRY_OK ? airy_error_first(&e->error, status) : status;
    e->has_ended = true;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

static void destroy_events(struct airy_job_events *e)
{
    while (e->first)
        release_item(take_out(e, NULL));
    release_item(e->given);
    release_axis(e->axis);
    pthread_cond_destroy(&e->changed);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

static airy_status create_events(struct airy_job_events **events)
{
    struct airy_job_events *e;
    pthread_condattr_t attributes;
    AIRY_TRY(airy_memory_calloc((void **)&e, 1, sizeof(*e), "events"));
    pthread_mutex_init(&e->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&e->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    *events = e;
    return AIRY_OK;
}

/* Of a job whose stage is AIRY_JOB_RUNS. Its check sees that somebody takes events. */
static airy_status start_thread(airy_job *job)
{
    AIRY_TRY(create_events(&job->events));
    airy_status status = airy_job_check_values(job);
    if (status == AIRY_OK && pthread_create(&job->events->thread, NULL, run, job) != 0)
        status = airy_fail(AIRY_ERR_MEMORY, "cannot start a thread for job %s", job->kind->name);
    if (status != AIRY_OK) {
        destroy_events(job->events);
        job->events = NULL;
    }
    return status;
}

airy_status airy_job_start(airy_job *job)
{
    int idle = AIRY_JOB_IDLE;
    AIRY_FAIL_IF(!job, AIRY_ERR_PARAM, "airy_job_start: job is NULL");
    AIRY_FAIL_IF(!atomic_compare_exchange_strong(&job->stage, &idle, AIRY_JOB_RUNS), AIRY_ERR_PARAM,
                 "airy_job_start: job %s runs already", job->kind->name);
    const airy_status status = start_thread(job);
    atomic_store(&job->stage, status == AIRY_OK ? AIRY_JOB_STARTED : AIRY_JOB_IDLE);
    return status;
}

/* ---- the side of the caller ---- */

/* Wait for the end of the run, and return what it has returned. */
static airy_status join(airy_job *job)
{
    struct airy_job_events *e = job->events;
    pthread_join(e->thread, NULL);
    const airy_status status = e->status;
    const airy_error error = e->error;
    job->events = NULL;
    destroy_events(e);
    atomic_store(&job->cancelled, false);
    return status < AIRY_OK ? airy_error_restore(&error) : status;
}

void airy_job_destroy(airy_job **job)
{
    if (!job || !*job)
        return;
    airy_job *gone = *job;
    *job = NULL;
    airy_job_cancel(gone);
    int stage = atomic_load(&gone->stage);
    while (stage != AIRY_JOB_IDLE &&
           !atomic_compare_exchange_weak(&gone->stage, &stage, AIRY_JOB_ORPHANED))
        continue;
    if (stage == AIRY_JOB_RUNS || stage == AIRY_JOB_ATTENDED) /* whoever ends that releases it */
        return;
    if (stage == AIRY_JOB_STARTED)
        (void)join(gone);
    airy_job_release(gone);
}

static airy_status release_orphan(airy_job *job)
{
    airy_job_release(job);
    return airy_fail(AIRY_ERR_CANCELLED, "the job was destroyed during its run");
}

static airy_status enter(airy_job *job, const char *function)
{
    int started = AIRY_JOB_STARTED;
    AIRY_FAIL_IF(!job, AIRY_ERR_PARAM, "%s: job is NULL", function);
    if (atomic_compare_exchange_strong(&job->stage, &started, AIRY_JOB_ATTENDED))
        return AIRY_OK;
    AIRY_FAIL_IF(started == AIRY_JOB_ATTENDED, AIRY_ERR_PARAM,
                 "%s: a hook of job %s, or another thread, calls it inside airy_job_next", function,
                 job->kind->name);
    return airy_fail(AIRY_ERR_PARAM, "%s: job %s was not started", function, job->kind->name);
}

/* Hooks are called without the lock. A message that nobody asked for is the log's. */
static void call_message(airy_job *job, airy_log_level level, const char *text)
{
    struct airy_job_events *e = job->events;
    pthread_mutex_unlock(&e->lock);
    if (job->hooks.message)
        job->hooks.message(job->hooks.user, level, text);
    else
        airy_log(level, "%s", text);
    pthread_mutex_lock(&e->lock);
}

static void call_progress(airy_job *job)
{
    struct airy_job_events *e = job->events;
    size_t done, total;
    e->has_stepped = false;
    airy_job_progress(job, &done, &total);
    pthread_mutex_unlock(&e->lock);
    if (!job->hooks.progress(job->hooks.user, done, total))
        airy_job_cancel(job);
    pthread_mutex_lock(&e->lock);
}

static const char *dropped_text(struct airy_job_events *e, const char *text)
{
    snprintf(e->note, sizeof(e->note), "%zu event%s dropped, because nobody fetched %s in time%s%s",
             e->dropped, e->dropped == 1 ? " was" : "s were", e->dropped == 1 ? "it" : "them",
             *text ? "; " : "", text);
    e->dropped = 0;
    return e->note;
}

/* What waits first, if it is a message, goes to the hook; false: it is an event, or nothing waits. */
static bool pass_one_message(airy_job *job)
{
    struct airy_job_events *e = job->events;
    if (e->first && !e->first->is_message)
        return false;
    if (e->first) {
        struct item *item = take_out(e, NULL);
        pthread_cond_broadcast(&e->changed);
        call_message(job, item->level, item->event.text);
        release_item(item);
        return true;
    }
    if (!e->has_ended || !e->dropped)
        return false;
    call_message(job, AIRY_LOG_WARN, dropped_text(e, ""));
    return true;
}

static bool is_orphaned(const airy_job *job)
{
    return atomic_load(&job->stage) == AIRY_JOB_ORPHANED;
}

/* Until there is an event, the run has ended, the job was destroyed, or time is up. The lock is held. */
static bool wait_event(airy_job *job, uint64_t until)
{
    struct airy_job_events *e = job->events;
    int timed_out = 0;
    while (!is_orphaned(job)) {
        if (e->has_stepped) {
            call_progress(job);
            continue;
        }
        if (pass_one_message(job))
            continue;
        if (e->first || e->has_ended)
            return true;
        if (timed_out)
            return false;
        wait_until(e, until, &timed_out);
    }
    return true;
}

/* The next event, or NULL. Return whether there was one, or the end, in time. */
static bool fetch(airy_job *job, const airy_job_event **event, uint64_t until)
{
    struct airy_job_events *e = job->events;
    *event = NULL;
    pthread_mutex_lock(&e->lock);
    release_item(e->given);
    e->given = NULL;
    const bool there = wait_event(job, until);
    if (there && e->first && !is_orphaned(job)) {
        e->given = take_out(e, NULL);
        if (e->dropped)
            e->given->event.text = dropped_text(e, e->given->event.text);
        *event = &e->given->event;
        pthread_cond_broadcast(&e->changed);
    }
    pthread_mutex_unlock(&e->lock);
    if (*event && hook_takes(job, (*event)->kind) && !job->hooks.event(job->hooks.user, *event))
        airy_job_cancel(job);
    return there;
}

/* The end of `seconds` from now on, of airy_clock_ns. */
static uint64_t deadline(double seconds)
{
    const uint64_t now = airy_clock_ns();
    return seconds < 1e9 ? now + (uint64_t)(fmax(seconds, 0) * 1e9) : UINT64_MAX;
}

airy_status airy_job_next(airy_job *job, const airy_job_event **event, double timeout)
{
    AIRY_FAIL_IF(!event || isnan(timeout), AIRY_ERR_PARAM,
                 "airy_job_next: event is NULL, or the timeout is not a number");
    AIRY_TRY(enter(job, "airy_job_next"));
    int attended = AIRY_JOB_ATTENDED;
    const bool there = fetch(job, event, deadline(timeout));
    if (!atomic_compare_exchange_strong(&job->stage, &attended, AIRY_JOB_STARTED)) {
        *event = NULL;
        (void)join(job);
        return release_orphan(job);
    }
    AIRY_FAIL_IF(!there, AIRY_ERR_TIMED_OUT, "no event within %g s", timeout);
    return AIRY_OK;
}

airy_status airy_job_finish(airy_job *job)
{
    const airy_job_event *event = NULL;
    AIRY_TRY(enter(job, "airy_job_finish"));
    do
        (void)fetch(job, &event, UINT64_MAX);
    while (event);
    const airy_status status = join(job);
    return atomic_exchange(&job->stage, AIRY_JOB_IDLE) == AIRY_JOB_ORPHANED ? release_orphan(job)
                                                                            : status;
}
