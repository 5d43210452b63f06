/* The series of `airy stream`: a thread for each socket, all by one clock. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "airy/random.h"
#include "stream/stream.h"

/* Between two looks at whether it is to stop. */
static const uint64_t LOOK_NS = 100000000u;
/* What a frame may come behind its time before it counts as late, and a call take before it waits. */
static const uint64_t LATE_NS = 1000000u;

struct lane {
    struct play *play;
    airy_stream_sender *sender;
    size_t index;
    uint64_t sent, lost, late, bytes, latest_ns, blocked_ns, last_ns;
    struct stream_file file;
    bool failed;
    pthread_t thread;
};

struct play {
    struct stream_source *source;
    const struct common *common;
    struct lane lanes[STREAM_SOCKETS];
    size_t count;
    airy_stream_series series;
    char unique_id[AIRY_STREAM_UNIQUE_MAX + 1], date[40];
    uint64_t start_ns;
    bool playing; /* a series whose time is not in the report yet */
    atomic_bool stop, said;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool is_stopped(struct play *play)
{
    if (tool_interrupted())
        atomic_store(&play->stop, true);
    return atomic_load(&play->stop);
}

/* Sleeps to a point of the clock: delays of one image do not add up. */
static void wait_until(struct play *play, uint64_t due)
{
    for (uint64_t now; (now = now_ns()) < due && !is_stopped(play);) {
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

/* Nobody takes it: said once after a second, given up after --patience. */
static bool is_patient(struct lane *lane, double waited)
{
    struct play *play = lane->play;
    const double patience = play->source->p->patience;
    if (patience > 0 && waited > patience) {
        if (!atomic_exchange(&play->stop, true))
            tool_fail(play->common, "%s: no receiver took a message for %g s",
                      airy_stream_sender_url(lane->sender), patience);
        lane->failed = true;
        return false;
    }
    if (waited > 1 && lane->sent == 0 && !atomic_exchange(&play->said, true))
        tool_say(play->common, "waiting for a receiver at %s",
                 airy_stream_sender_url(lane->sender));
    return true;
}

/*
 * The end has --linger as the images that are queued have: no receiver may need it. After Ctrl-C it
 * goes out where it can, for the receiver would wait for it.
 */
static bool may_linger(struct lane *lane, double waited)
{
    struct play *play = lane->play;
    const double linger = play->source->p->linger, least = 3e-9 * (double)LOOK_NS;
    if (waited < (is_stopped(play) ? least : fmax(linger, least)))
        return true;
    if (linger > 0 && !atomic_exchange(&play->stop, true)) {
        tool_fail(play->common,
                  "%s: no receiver took the end message for %g s; --linger waits longer",
                  airy_stream_sender_url(lane->sender), linger);
        lane->failed = true;
    }
    return false;
}

/* Until it is sent; false: the command is to stop. */
static bool send_message(struct lane *lane, enum message what, airy_stream_image *image,
                         const airy_stream_exposure *exposure)
{
    struct play *play = lane->play;
    const uint64_t began = now_ns();
    for (bool sent = false, again = true; again;) {
        const airy_status status = offer(lane, what, image, exposure, &sent);
        const uint64_t took = now_ns() - began;
        if (status != AIRY_OK) {
            if (!atomic_exchange(&play->stop, true))
                tool_failed(play->common, status);
            lane->failed = true;
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
    const struct stream_params *p = play->source->p;
    const uint64_t window = p->shuffle;
    if (window < 2)
        return place;
    const uint64_t first = place / window * window, left = play->source->total - first;
    const size_t n = (size_t)(left < window ? left : window);
    uint32_t words[STREAM_SHUFFLE];
    uint16_t order[STREAM_SHUFFLE];
    airy_random_words(words, n, p->seed, first, 0);
    for (size_t i = 0; i < n; i++) {
        const size_t j = (size_t)words[i] % (i + 1);
        order[i] = order[j];
        order[j] = (uint16_t)i;
    }
    return first + order[place - first];
}

static bool is_lost(const struct stream_lost *lost, uint64_t id)
{
    bool found = lost->of && id % lost->of == lost->of - 1;
    for (size_t i = 0; i < lost->count; i++)
        found = found || lost->list[i] == id;
    return found;
}

static uint64_t due_ns(const struct play *play, uint64_t place)
{
    const struct stream_params *p = play->source->p;
    return p->has_rate ? (uint64_t)llround((double)place / p->rate * 1e9) : 0;
}

static bool play_image(struct lane *lane, uint64_t place)
{
    struct play *play = lane->play;
    struct stream_source *s = play->source;
    const uint64_t id = image_at(play, place), due = play->start_ns + due_ns(play, place);
    if (is_lost(&s->p->lose, id)) {
        lane->lost++;
        return true;
    }
    const size_t index = (size_t)(id % s->images);
    airy_stream_image *image = s->kept ? s->kept[index] : NULL;
    if (!image) {
        const airy_status status = stream_read_image(&image, &lane->file, s, index);
        if (status != AIRY_OK) {
            if (!atomic_exchange(&play->stop, true) && status != AIRY_ERR_CANCELLED)
                tool_failed(play->common, status);
            lane->failed = true;
            return false;
        }
    }
    wait_until(play, due);
    const airy_stream_exposure exposure = {id, due_ns(play, id), due_ns(play, id + 1)};
    const bool sent = !is_stopped(play) && send_message(lane, MESSAGE_IMAGE, image, &exposure);
    lane->last_ns = now_ns();
    if (!s->kept)
        airy_stream_image_destroy(&image);
    if (sent) {
        const uint64_t behind = s->p->has_rate && lane->last_ns > due ? lane->last_ns - due : 0;
        lane->sent++;
        lane->bytes += stream_image_bytes(s, index);
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
    return NULL;
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
    play->start_ns = now_ns() + (uint64_t)(play->source->p->arm * 1e9);
    play->playing = true;
    size_t started = 0;
    while (whole && started < play->count &&
           pthread_create(&play->lanes[started].thread, NULL, run_lane, &play->lanes[started]) == 0)
        started++;
    if (whole && started < play->count) {
        atomic_store(&play->stop, true);
        play->lanes[0].failed = true;
        tool_fail(play->common, "cannot start %zu threads", play->count);
    }
    for (size_t i = 0; i < started; i++)
        pthread_join(play->lanes[i].thread, NULL);
    for (size_t i = 0; started && i < play->count && !play->source->p->no_end; i++)
        whole = send_message(&play->lanes[i], MESSAGE_END, NULL, NULL) && whole;
    return whole && !atomic_load(&play->stop);
}

/* ---- all ---- */

static int open_sockets(struct play *play)
{
    const struct stream_params *p = play->source->p;
    for (; play->count < p->to.count; play->count++) {
        struct lane *lane = &play->lanes[play->count];
        const airy_stream_sender_params params = {.url = p->to.items[play->count],
                                                  .connect = p->connect,
                                                  .keys = play->source->keys,
                                                  .high_water = (uint32_t)p->high_water};
        const airy_status status = airy_stream_sender_create(&lane->sender, &params);
        if (status == AIRY_ERR_PARAM)
            return tool_usage(play->common, "%s", airy_last_error());
        if (status != AIRY_OK)
            return tool_failed(play->common, status);
        lane->play = play;
        lane->index = play->count;
        if (!p->connect)
            tool_say(play->common, "bound to %s", airy_stream_sender_url(lane->sender));
    }
    return AIRY_EXIT_OK;
}

/*
 * The time of the series that was played last ends when the system has all of its images, or as the
 * next series begins: what ZeroMQ holds then leaves in the time of that one.
 */
static void add_time(struct stream_report *r, struct play *play)
{
    uint64_t end = play->start_ns;
    for (size_t i = 0; i < play->count; i++) {
        const struct lane *lane = &play->lanes[i];
        uint64_t left = 0;
        const bool gone = airy_stream_sender_pending(lane->sender, &left) == 0;
        const uint64_t lane_end = !gone ? now_ns() : left > lane->last_ns ? left : lane->last_ns;
        end = lane_end > end ? lane_end : end;
    }
    if (play->playing)
        r->seconds += 1e-9 * (double)(end - play->start_ns);
    play->playing = false;
}

/* Wait up to --linger until the system has all images. Exit code. */
static int drain(struct play *play)
{
    const double linger = play->source->p->linger;
    const uint64_t end = now_ns() + (uint64_t)(linger * 1e9);
    size_t held = 0;
    for (size_t i = 0; i < play->count; i++) {
        size_t pending;
        while ((pending = airy_stream_sender_pending(play->lanes[i].sender, NULL)) > 0 &&
               now_ns() < end && !is_stopped(play))
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        held += pending;
    }
    if (held && linger > 0 && !is_stopped(play))
        return tool_fail(play->common,
                         "%zu image%s had not left %g s after the last one and will not arrive; "
                         "--linger waits longer",
                         held, tool_s(held), linger);
    return AIRY_EXIT_OK;
}

static void add_lane(struct stream_report *r, const struct lane *lane)
{
    r->sent += lane->sent;
    r->lost += lane->lost;
    r->late += lane->late;
    r->bytes += lane->bytes;
    r->latest = fmax(r->latest, 1e-9 * (double)lane->latest_ns);
    r->blocked += 1e-9 * (double)lane->blocked_ns;
}

int stream_play(struct stream_report *report, struct stream_source *source)
{
    const struct stream_params *p = source->p;
    struct play *play = calloc(1, sizeof(*play));
    *report = (struct stream_report){0};
    if (!play)
        return tool_fail(source->common, "out of memory");
    play->source = source;
    play->common = source->common;
    int code = open_sockets(play);
    for (size_t i = 0; code == AIRY_EXIT_OK && i < p->series_count && !is_stopped(play); i++) {
        if (i)
            wait_until(play, now_ns() + (uint64_t)(p->pause * 1e9));
        add_time(report, play);
        if (play_series(play, p->series + i))
            report->series++;
    }
    if (code == AIRY_EXIT_OK && !is_stopped(play))
        code = drain(play);
    report->stopped = atomic_load(&play->stop);
    add_time(report, play);
    for (size_t i = 0; i < play->count; i++) {
        struct lane *lane = &play->lanes[i];
        add_lane(report, lane);
        code = lane->failed ? AIRY_EXIT_FAILED : code;
        stream_close_file(&lane->file);
    }
    /* For the end messages. */
    const double linger = report->stopped || code != AIRY_EXIT_OK ? 0.5 : p->linger;
    for (size_t i = 0; i <= play->count && i < STREAM_SOCKETS; i++)
        airy_stream_sender_destroy(&play->lanes[i].sender, (uint64_t)(linger * 1e9));
    free(play);
    return code;
}
