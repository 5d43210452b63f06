/* The series of the job stream: a thread for each socket, all by one clock. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "airy/random.h"
#include "base/clock.h"
#include "base/memory.h"
#include "jobs/stream/stream.h"

/* Between two looks at whether it is to stop. */
static const uint64_t LOOK_NS = 100000000u;
/* What a frame may come behind its time before it counts as late, and a call take before it waits. */
static const uint64_t LATE_NS = 1000000u;

struct lane {
    struct play *play;
    airy_stream_sender *sender;
    size_t index;
    uint64_t sent, lost, late, bytes, latest_ns, blocked_ns, last_ns;
    struct airy_play_file file;
    pthread_t thread;
};

struct play {
    struct airy_play_source *source;
    struct lane lanes[AIRY_PLAY_SOCKETS];
    size_t count;
    airy_stream_series series;
    char unique_id[AIRY_STREAM_UNIQUE_MAX + 1], date[40];
    uint64_t start_ns;
    bool playing;   /* a series whose time is not in the report yet */
    pthread_t main; /* the job's, which calls its hooks */
    atomic_bool stop, said;
    _Atomic(const char *)
        waits;            /* a URL where nobody takes anything, which is to be said; or NULL */
    atomic_size_t done;   /* images that were sent or left out */
    pthread_mutex_t lock; /* of the following */
    pthread_cond_t ended;
    size_t running; /* lanes */
    airy_error error;
};

static size_t count_all(const struct play *play)
{
    const struct airy_play_source *s = play->source;
    uint64_t all = 0;
    return __builtin_mul_overflow(s->total, (uint64_t)s->v->series_count, &all) ? SIZE_MAX
                                                                                : (size_t)all;
}

/* What the thread that calls the job's hooks has to do now and then. */
static void look(struct play *play)
{
    airy_job *job = play->source->job;
    const char *none = NULL, *url = atomic_exchange(&play->waits, none);
    if (url)
        airy_job_message(job, AIRY_LOG_WARN, "waiting for a receiver at %s", url);
    if (!atomic_load(&play->stop) && !airy_job_step(job, atomic_load(&play->done), count_all(play)))
        atomic_store(&play->stop, true);
}

static bool is_stopped(struct play *play)
{
    if (pthread_equal(pthread_self(), play->main))
        look(play);
    return atomic_load(&play->stop);
}

/* The first failure ends the job. Returns status. */
static airy_status keep_failure(struct play *play, airy_status status)
{
    pthread_mutex_lock(&play->lock);
    (void)airy_error_first(&play->error, status);
    pthread_mutex_unlock(&play->lock);
    return status;
}

/* A lane has failed; what comes after the first failure, or after a cancelling, follows from that. */
static void fail_lane(struct lane *lane, airy_status status)
{
    if (!atomic_exchange(&lane->play->stop, true))
        (void)keep_failure(lane->play, status);
}

/* Sleeps to a point of the clock: delays of one image do not add up. */
static void wait_until(struct play *play, uint64_t due)
{
    for (uint64_t now; (now = airy_clock_ns()) < due && !is_stopped(play);) {
        const uint64_t to = due - now < LOOK_NS ? due : now + LOOK_NS;
        const struct timespec time = {(time_t)(to / 1000000000u), (long)(to % 1000000000u)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
    }
}

/* ---- one message ---- */

enum message { MESSAGE_START, MESSAGE_IMAGE, MESSAGE_END };

static airy_status offer(struct lane *lane, enum message what, airy_stream_image *image,
                         const airy_stream_exposure *exposure, bool *sent)
{
    const airy_stream_series *series = &lane->play->series;
    if (what == MESSAGE_IMAGE)
        return airy_stream_send_image(lane->sender, image, series, exposure, LOOK_NS, sent);
    return what == MESSAGE_START ? airy_stream_send_start(lane->sender, series, LOOK_NS, sent)
                                 : airy_stream_send_end(lane->sender, series, LOOK_NS, sent);
}

/* Nobody takes it: said once after a second, given up after `patience`. */
static bool is_patient(struct lane *lane, double waited)
{
    struct play *play = lane->play;
    const double patience = play->source->v->patience;
    if (patience > 0 && waited > patience) {
        fail_lane(lane, airy_fail_on(AIRY_ERR_TIMED_OUT, AIRY_SUBJECT_ADDRESS,
                                     "%s: no receiver took a message for %g s",
                                     airy_stream_sender_url(lane->sender), patience));
        return false;
    }
    if (waited > 1 && lane->sent == 0 && !atomic_exchange(&play->said, true))
        atomic_store(&play->waits, airy_stream_sender_url(lane->sender));
    return true;
}

/*
 * The end has `linger` as the images that are queued have: no receiver may need it. After the job was
 * cancelled it goes out where it can, for the receiver would wait for it.
 */
static bool may_linger(struct lane *lane, double waited)
{
    struct play *play = lane->play;
    const double linger = play->source->v->linger, least = 3e-9 * (double)LOOK_NS;
    if (waited < (is_stopped(play) ? least : fmax(linger, least)))
        return true;
    if (linger > 0)
        fail_lane(lane, airy_fail_on(AIRY_ERR_TIMED_OUT, AIRY_SUBJECT_ADDRESS,
                                     "%s: no receiver took the end message for %g s; linger=%g "
                                     "waits longer",
                                     airy_stream_sender_url(lane->sender), linger, 10 * linger));
    return false;
}

/* Until it is sent; false: the job is to stop. */
static bool send_message(struct lane *lane, enum message what, airy_stream_image *image,
                         const airy_stream_exposure *exposure)
{
    struct play *play = lane->play;
    const uint64_t began = airy_clock_ns();
    for (bool sent = false, again = true; again;) {
        const airy_status status = offer(lane, what, image, exposure, &sent);
        const uint64_t took = airy_clock_ns() - began;
        if (status != AIRY_OK) {
            fail_lane(lane, status);
            return false;
        }
        if (sent) {
            lane->blocked_ns += what == MESSAGE_IMAGE && took > LATE_NS ? took : 0;
            return true;
        }
        const double waited = 1e-9 * (double)took;
        again = what == MESSAGE_END ? may_linger(lane, waited)
                                    : !is_stopped(play) && is_patient(lane, waited);
    }
    return false;
}

/* ---- one series ---- */

/* The image that is sent at a place: in order, or drawn from its window. */
static uint64_t image_at(const struct play *play, uint64_t place)
{
    const struct airy_play_values *p = play->source->v;
    const uint64_t window = p->shuffle;
    if (window < 2)
        return place;
    const uint64_t first = place / window * window, left = play->source->total - first;
    const size_t n = (size_t)(left < window ? left : window);
    uint32_t words[AIRY_PLAY_SHUFFLE];
    uint16_t order[AIRY_PLAY_SHUFFLE];
    airy_random_words(words, n, p->seed, first, 0);
    for (size_t i = 0; i < n; i++) {
        const size_t j = (size_t)words[i] % (i + 1);
        order[i] = order[j];
        order[j] = (uint16_t)i;
    }
    return first + order[place - first];
}

static bool is_lost(const struct airy_play_lost *lost, uint64_t id)
{
    bool found = lost->of && id % lost->of == lost->of - 1;
    for (size_t i = 0; i < lost->count; i++)
        found = found || lost->list[i] == id;
    return found;
}

static uint64_t due_ns(const struct play *play, uint64_t place)
{
    const struct airy_play_source *s = play->source;
    return s->has_rate ? (uint64_t)llround((double)place / s->v->rate * 1e9) : 0;
}

static bool play_image(struct lane *lane, uint64_t place)
{
    struct play *play = lane->play;
    struct airy_play_source *s = play->source;
    const uint64_t id = image_at(play, place), due = play->start_ns + due_ns(play, place);
    if (is_lost(&s->v->lose, id)) {
        lane->lost++;
        atomic_fetch_add(&play->done, 1);
        return true;
    }
    const size_t index = (size_t)(id % s->images);
    airy_stream_image *image = s->kept ? s->kept[index] : NULL;
    if (!image) {
        const airy_status status = airy_play_read_image(&image, &lane->file, s, index);
        if (status != AIRY_OK) {
            fail_lane(lane, status);
            return false;
        }
    }
    wait_until(play, due);
    const airy_stream_exposure exposure = {id, due_ns(play, id), due_ns(play, id + 1)};
    const bool sent = !is_stopped(play) && send_message(lane, MESSAGE_IMAGE, image, &exposure);
    lane->last_ns = airy_clock_ns();
    if (!s->kept)
        airy_stream_image_destroy(&image);
    if (sent) {
        const uint64_t behind = s->has_rate && lane->last_ns > due ? lane->last_ns - due : 0;
        lane->sent++;
        atomic_fetch_add(&play->done, 1);
        lane->bytes += airy_play_image_bytes(s, index);
        lane->late += behind > LATE_NS;
        lane->latest_ns = behind > lane->latest_ns ? behind : lane->latest_ns;
    }
    return sent;
}

static void *run_lane(void *user)
{
    struct lane *lane = user;
    struct play *play = lane->play;
    for (uint64_t place = lane->index; place < play->source->total && !is_stopped(play);
         place += play->count)
        if (!play_image(lane, place))
            break;
    pthread_mutex_lock(&play->lock);
    if (--play->running == 0)
        pthread_cond_signal(&play->ended);
    pthread_mutex_unlock(&play->lock);
    return NULL;
}

/* Begin the thread of a lane. */
static bool start_lane(struct lane *lane)
{
    struct play *play = lane->play;
    pthread_mutex_lock(&play->lock);
    const bool started = pthread_create(&lane->thread, NULL, run_lane, lane) == 0;
    play->running += started;
    pthread_mutex_unlock(&play->lock);
    return started;
}

/* Wait for the threads of the first lanes, and call the job's hooks meanwhile. */
static void join_lanes(struct play *play, size_t started)
{
    pthread_mutex_lock(&play->lock);
    while (play->running > 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += (long)LOOK_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&play->ended, &play->lock, &until);
        pthread_mutex_unlock(&play->lock);
        look(play);
        pthread_mutex_lock(&play->lock);
    }
    pthread_mutex_unlock(&play->lock);
    for (size_t i = 0; i < started; i++)
        pthread_join(play->lanes[i].thread, NULL);
}

/* RFC 3339 with milliseconds, and a name that no other run of a series has. */
static void name_series(struct play *play, uint64_t id)
{
    struct timespec now;
    struct tm utc;
    char text[24];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(play->date, sizeof(play->date), "%s.%03dZ", text, (int)(now.tv_nsec / 1000000));
    snprintf(play->unique_id, sizeof(play->unique_id), "airy-%llx-%09ld-%lx",
             (unsigned long long)now.tv_sec, now.tv_nsec, (unsigned long)getpid());
    play->series = play->source->series;
    play->series.id = id;
    play->series.unique_id = play->unique_id;
    play->series.date = play->date;
}

static bool play_series(struct play *play, uint64_t id)
{
    bool whole = true;
    name_series(play, id);
    for (size_t i = 0; whole && i < play->count; i++)
        whole = send_message(&play->lanes[i], MESSAGE_START, NULL, NULL);
    play->start_ns = airy_clock_ns() + (uint64_t)(play->source->v->arm * 1e9);
    play->playing = true;
    size_t started = 0;
    while (whole && started < play->count && start_lane(&play->lanes[started]))
        started++;
    if (whole && started < play->count)
        fail_lane(&play->lanes[0],
                  airy_fail(AIRY_ERR_MEMORY, "cannot start %zu threads", play->count));
    join_lanes(play, started);
    for (size_t i = 0; started && i < play->count && !play->source->v->no_end; i++)
        whole = send_message(&play->lanes[i], MESSAGE_END, NULL, NULL) && whole;
    return whole && !atomic_load(&play->stop);
}

/* ---- all ---- */

static airy_status open_sockets(struct play *play)
{
    const struct airy_play_source *s = play->source;
    const struct airy_play_values *v = s->v;
    for (; play->count < v->to.count; play->count++) {
        struct lane *lane = &play->lanes[play->count];
        const airy_stream_sender_params params = {.url = v->to.items[play->count],
                                                  .connect = v->connect,
                                                  .keys = airy_curve_side(s->keys, !v->connect),
                                                  .high_water = (uint32_t)v->high_water};
        AIRY_TRY(airy_stream_sender_create(&lane->sender, &params));
        lane->play = play;
        lane->index = play->count;
        if (!v->connect)
            airy_job_message(s->job, AIRY_LOG_WARN, "bound to %s",
                             airy_stream_sender_url(lane->sender));
    }
    return AIRY_OK;
}

/*
 * The time of the series that was played last ends when the system has all of its images, or as the
 * next series begins: what ZeroMQ holds then leaves in the time of that one.
 */
static void add_time(struct airy_play_report *r, struct play *play)
{
    uint64_t end = play->start_ns;
    for (size_t i = 0; i < play->count; i++) {
        const struct lane *lane = &play->lanes[i];
        uint64_t left = 0;
        const bool gone = airy_stream_sender_pending(lane->sender, &left) == 0;
        const uint64_t lane_end = !gone                  ? airy_clock_ns()
                                  : left > lane->last_ns ? left
                                                         : lane->last_ns;
        end = lane_end > end ? lane_end : end;
    }
    if (play->playing)
        r->seconds += 1e-9 * (double)(end - play->start_ns);
    play->playing = false;
}

/* Wait up to `linger` until the system has all images. */
static airy_status drain(struct play *play)
{
    const double linger = play->source->v->linger;
    const uint64_t end = airy_clock_ns() + (uint64_t)(linger * 1e9);
    size_t held = 0;
    for (size_t i = 0; i < play->count; i++) {
        size_t pending;
        while ((pending = airy_stream_sender_pending(play->lanes[i].sender, NULL)) > 0 &&
               airy_clock_ns() < end && !is_stopped(play))
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        held += pending;
    }
    AIRY_FAIL_IF(held && linger > 0 && !is_stopped(play), AIRY_ERR_TIMED_OUT,
                 "%zu image%s had not left %g s after the last one and will not arrive; linger=%g "
                 "waits longer",
                 held, held == 1 ? "" : "s", linger, 10 * linger);
    return AIRY_OK;
}

static void add_lane(struct airy_play_report *r, const struct lane *lane)
{
    r->sent += lane->sent;
    r->lost += lane->lost;
    r->late += lane->late;
    r->bytes += lane->bytes;
    r->latest = fmax(r->latest, 1e-9 * (double)lane->latest_ns);
    r->blocked += 1e-9 * (double)lane->blocked_ns;
}

static airy_status play_all(struct airy_play_report *report, struct play *play)
{
    const struct airy_play_values *v = play->source->v;
    AIRY_TRY(open_sockets(play));
    for (size_t i = 0; i < v->series_count && !is_stopped(play); i++) {
        if (i)
            wait_until(play, airy_clock_ns() + (uint64_t)(v->pause * 1e9));
        add_time(report, play);
        if (play_series(play, v->series + i))
            report->series++;
    }
    return is_stopped(play) ? AIRY_OK : drain(play);
}

/* Senders wait for the end messages, unless the job was stopped or has failed. */
static void close_sockets(struct play *play, double linger)
{
    for (size_t i = 0; i < AIRY_PLAY_SOCKETS; i++) {
        airy_stream_sender_destroy(&play->lanes[i].sender, (uint64_t)(linger * 1e9));
        airy_play_close_file(&play->lanes[i].file);
    }
}

airy_status airy_play_series(struct airy_play_report *report, struct airy_play_source *source)
{
    struct play *play;
    *report = (struct airy_play_report){0};
    AIRY_TRY(airy_memory_calloc((void **)&play, 1, sizeof(*play), "a stream"));
    play->source = source;
    play->main = pthread_self();
    pthread_mutex_init(&play->lock, NULL);
    pthread_cond_init(&play->ended, NULL);
    const airy_status played = play_all(report, play);
    if (played != AIRY_OK)
        (void)keep_failure(play, played);
    report->stopped = atomic_load(&play->stop);
    add_time(report, play);
    for (size_t i = 0; i < play->count; i++)
        add_lane(report, &play->lanes[i]);
    if (report->stopped)
        (void)keep_failure(
            play, airy_fail(AIRY_ERR_CANCELLED, "the stream was cancelled after %llu image%s",
                            (unsigned long long)report->sent, report->sent == 1 ? "" : "s"));
    close_sockets(play, play->error.status != AIRY_OK ? 0.5 : source->v->linger);
    const airy_status status = airy_error_restore(&play->error);
    pthread_cond_destroy(&play->ended);
    pthread_mutex_destroy(&play->lock);
    free(play);
    return status;
}
