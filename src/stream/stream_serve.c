/* Series of messages that come over several sockets, put in order and handed on. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zmq.h>

#include "airy/stream.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "stream/seen.h"
#include "stream/stream_sockets.h"

enum {
    COMPLAINTS = 5, /* sentences of a kind for each series; the rest is counted */
    QUEUED = 8,     /* sentences that are to be said, of so many bytes */
    SENTENCE = 700,
    /*
     * Where the number of images is not said, an image_id further beyond the largest so far than
     * NEAR is believed when another one agrees with it: each row before it is one of the file.
     */
    IMAGES_NEAR = 4096,
    IMAGES_AHEAD = 1 << 20,
    PATIENCE = 10 /* times grace: for the start of a series, while another one is at work */
};

static const double GRACE = 2, TIMEOUT = 300; /* s */

enum phase {
    IDLE,     /* no series */
    STARTING, /* handler->start is at work */
    READY,    /* for the first image */
    OPENING,  /* handler->first is at work */
    RUNNING,  /* images go to handler->image */
    CLOSING   /* the last of them are under way, then handler->end */
};

struct receiver;

struct serve {
    airy_stream_receiver *receiver;
    struct receiver *receivers; /* [receiver->count] */
    const airy_stream_handler *handler;
    double grace, timeout;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum phase phase;
    airy_stream_report series;                /* at work, or the last one */
    const airy_stream_message *start, *first; /* offered by a thread that waits for their end */
    const airy_stream_message *rejected;      /* it was offered as the first image, and is none */
    uint64_t starts, ends; /* messages of this series: a sender with several sockets has several */
    uint64_t first_ns, last_ns; /* images; any message */
    uint64_t marked;            /* images that came or are known to be lost */
    uint64_t complaints;
    struct airy_stream_seen seen;
    char peer[AIRY_STREAM_PEER_BYTES]; /* whose series it is */
    uint64_t ahead;                    /* one more than the largest image_id */
    uint64_t image_bytes;              /* of an image, at most; 0: it is not known yet */
    uint64_t overfull, overfull_said;  /* connections; overfull: when the series began */
    uint64_t uncounted_said;
    uint64_t far;    /* the last image_id that was too large to be believed alone; 0: none */
    size_t working;  /* calls of handler->image under way */
    uint64_t begun;  /* series so far */
    bool stray_said; /* of the series at work */
    bool any_series; /* `series` is of one that is over, where phase is IDLE */
    bool given_up;   /* images of this id wait no longer for their start */
    uint64_t given_up_id;
    uint64_t stray, broken; /* outside of series */
    struct said {
        char text[SENTENCE];
        airy_hint hint;
    } said[QUEUED]; /* to be said */
    size_t said_count;
    bool saying;       /* by a thread, without the lock */
    uint64_t heard_ns; /* any message, or a series' end; 0: nothing came yet */
    bool quit;
    airy_error error; /* of the sockets */
};

/* One thread for each socket. */
struct receiver {
    struct serve *serve;
    void *socket;
    pthread_t thread;
    /*
     * Looks at the socket that found nothing of the series since anything came of it, and when the
     * last of them was; the serve's lock.
     */
    uint64_t looks, looked_since, looked_ns;
    /*
     * It holds a message of another series than that at work, and does not look; held_in: begun
     * then. Where another series has begun since, it has not seen it yet.
     */
    bool held;
    uint64_t held_in;
    airy_stream_message message;
    uint64_t digest;                   /* of its image */
    uint64_t queued_for;               /* image_bytes, when the socket's queue was made for it */
    bool ours;                         /* it belongs to a series that is or was at work */
    char peer[AIRY_STREAM_PEER_BYTES]; /* who sent it: an address, or with CURVE a key */
};

static double seconds_since(uint64_t ns)
{
    return (double)(int64_t)(airy_clock_ns() - ns) * 1e-9;
}

static void wait_change(struct serve *s)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += AIRY_STREAM_POLL_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    (void)pthread_cond_timedwait(&s->changed, &s->lock, &until);
}

/*
 * It is queued: the lock is held, and who listens may take its time, as a terminal that stands
 * still. What finds no room is left out, as what is only counted.
 */
static void say(struct serve *s, const char *format, ...) AIRY_PRINTF(2, 3);
static void say(struct serve *s, const char *format, ...)
{
    va_list args;
    if (!s->handler->say || ++s->complaints > COMPLAINTS || s->said_count == QUEUED)
        return;
    struct said *line = &s->said[s->said_count++];
    line->hint = AIRY_HINT_NONE;
    va_start(args, format);
    vsnprintf(line->text, SENTENCE, format, args);
    va_end(args);
    if (s->complaints == COMPLAINTS && s->said_count < QUEUED)
        s->said[s->said_count++] = (struct said){.text = "more of that is only counted"};
}

/* Say what is queued, in order: one thread at a time does it. The lock is given back meanwhile. */
static void speak(struct serve *s)
{
    while (s->said_count && !s->saying) {
        const struct said line = s->said[0];
        memmove(s->said, s->said + 1, --s->said_count * sizeof(s->said[0]));
        s->saying = true;
        pthread_mutex_unlock(&s->lock);
        s->handler->say(s->handler->user, line.text, line.hint);
        pthread_mutex_lock(&s->lock);
        s->saying = false;
        pthread_cond_broadcast(&s->changed);
    }
}

/* The same series: ids may come again, unique ids do not, but not all senders have them. */
static bool is_same(const airy_stream_report *series, const airy_stream_message *m, bool surely)
{
    const bool both = *m->unique_id && *series->unique_id;
    return m->has_series && series->id == m->series_id &&
           (both ? strcmp(series->unique_id, m->unique_id) == 0 : !surely);
}

static bool is_busy(const struct serve *s)
{
    return s->phase != IDLE && s->phase != CLOSING;
}

static bool at_work(const struct serve *s, const airy_stream_message *m)
{
    return is_busy(s) && is_same(&s->series, m, false);
}

static bool holds(const struct serve *s, const struct receiver *r)
{
    return r->held && r->held_in == s->begun;
}

/* Threads that hold a message of another series; starts: one that ends the series at work. */
static size_t count_holding(const struct serve *s, bool starts)
{
    size_t count = 0;
    for (size_t i = 0; i < s->receiver->count; i++) {
        const struct receiver *r = &s->receivers[i];
        count += holds(s, r) && (!starts || r->message.type == AIRY_STREAM_START);
    }
    return count;
}

/*
 * s since anything came of the series at work: those in which sockets were looked at, for messages
 * wait where the process or the machine stood still.
 */
static double quiet_for(const struct serve *s)
{
    double quiet = s->working ? 0 : seconds_since(s->last_ns);
    for (size_t i = 0; i < s->receiver->count; i++) {
        const struct receiver *r = &s->receivers[i];
        const uint64_t looks = r->looked_since == s->last_ns ? r->looks : 0;
        if (!holds(s, r))
            quiet = fmin(quiet, (double)looks * AIRY_STREAM_POLL_MS * 1e-3);
    }
    return quiet;
}

/* Whose message it is; m is a thread's own. */
static struct receiver *owner_of(const struct serve *s, const airy_stream_message *m)
{
    struct receiver *r = s->receivers;
    while (&r->message != m)
        r++;
    return r;
}

/*
 * Anybody may connect to an address that is bound: the series belongs to who began it. Addresses
 * that we connect to are those the caller named.
 */
static bool is_foreign(const struct serve *s, const airy_stream_message *m)
{
    return s->receiver->bound && is_busy(s) && strcmp(owner_of(s, m)->peer, s->peer) != 0;
}

/* What a message belongs to. */
enum side {
    OURS,    /* the series at work */
    OVER,    /* the one before, which only its unique id can tell */
    ANOTHER, /* another one, while one is at work */
    BETWEEN, /* none that is at work: one is ending, or another is about to begin */
    NOTHING, /* no series is at work, nor has any start message come */
    FOREIGN  /* it comes from another address than the series at work */
};

static enum side side_of(const struct serve *s, const airy_stream_message *m)
{
    if (is_foreign(s, m))
        return FOREIGN;
    if (is_busy(s))
        return is_same(&s->series, m, false) ? OURS : ANOTHER;
    if ((s->phase == CLOSING || s->any_series) && is_same(&s->series, m, true))
        return OVER;
    return s->phase == CLOSING || s->start ? BETWEEN : NOTHING;
}

/* Of an image as the start message describes it, uncompressed. */
static uint64_t image_bytes(const airy_stream_receiver *receiver,
                            const airy_stream_start_message *start)
{
    enum { HEAD = 4096, UNKNOWN = 8 };
    const uint64_t pixels = (uint64_t)start->height * start->width,
                   pixel = start->has_dtype ? airy_dtype_size(start->dtype) : UNKNOWN,
                   bytes = pixels * pixel * airy_max_size(start->channels, 1) + HEAD;
    return bytes < receiver->largest ? bytes : receiver->largest;
}

/*
 * Fewer messages wait where images are large. The queue never becomes longer again: ZeroMQ forgets a
 * sender that waits then. The calling thread is the socket's.
 */
static void fit_queue(struct serve *s, struct receiver *r)
{
    const airy_stream_receiver *all = s->receiver;
    if (r->queued_for >= s->image_bytes)
        return;
    const size_t fits = airy_stream_buffered_queue(all->buffered, s->image_bytes);
    const int queue = (int)airy_min_size(fits, all->queue);
    (void)zmq_setsockopt(r->socket, ZMQ_RCVHWM, &queue, sizeof(queue));
    r->queued_for = s->image_bytes;
}

static bool is_given_up(const struct serve *s, const airy_stream_message *m)
{
    return s->given_up && s->given_up_id == m->series_id;
}

static void give_up(struct serve *s, const airy_stream_message *m)
{
    s->given_up = true;
    s->given_up_id = m->series_id;
}

/* m is a thread's own. */
static void hold(struct serve *s, const airy_stream_message *m)
{
    struct receiver *r = owner_of(s, m);
    r->held = true;
    r->held_in = s->begun;
    wait_change(s);
    r->held = false;
}

/* A message of another sender than the series at work is refused, whatever it says. */
static void refuse(struct serve *s, const airy_stream_message *m)
{
    const char *peer = owner_of(s, m)->peer;
    const bool rival = m->has_type && m->type == AIRY_STREAM_START && is_same(&s->series, m, false);
    if (s->series.refused++ == 0)
        say(s, "series %llu comes from %s: messages from %s are refused",
            (unsigned long long)s->series.id, s->peer, peer);
    if (rival && s->series.rivals++ == 0)
        say(s, "series %llu was begun by %s, and by %s as well", (unsigned long long)s->series.id,
            s->peer, peer);
}

/* A message that belongs to nothing; while a series is at work that is worth a word. */
static void leave_out(struct serve *s, const airy_stream_message *m)
{
    s->stray++;
    if (is_busy(s) && !s->stray_said)
        say(s, "series %llu is at work: messages of series %llu, which has not begun, are left out",
            (unsigned long long)s->series.id, (unsigned long long)m->series_id);
    s->stray_said = s->stray_said || is_busy(s);
}

/*
 * An image or the end of another series, while one is at work. A detector counts its series up, so
 * that of a later one may have overtaken its start on another socket: false, it waits. Where no
 * socket is left on which the start could come, or it does not come for long, it is none.
 */
static bool is_astray(struct serve *s, const airy_stream_message *m, uint64_t *since)
{
    *since = *since ? *since : airy_clock_ns();
    const bool alone = count_holding(s, true) == 0 &&
                       count_holding(s, false) + 1 >= s->receiver->count;
    const bool later = m->series_id >= s->series.id;
    if (later && !alone && seconds_since(*since) <= PATIENCE * s->grace)
        return false;
    if (later)
        give_up(s, m);
    return true;
}

/* The caller of airy_stream_serve reads it before this returns. */
static void offer_start(struct serve *s, const airy_stream_message *m)
{
    s->start = m;
    pthread_cond_broadcast(&s->changed);
    while (s->start == m && (!s->quit || s->phase == STARTING))
        wait_change(s);
}

static void offer_first(struct serve *s, const airy_stream_message *m)
{
    s->first = m;
    pthread_cond_broadcast(&s->changed);
    while (s->first == m && (!s->quit || s->phase == OPENING))
        wait_change(s);
}

static void take_start(struct serve *s, const airy_stream_message *m)
{
    /* One that began anew counts from 1; then the series at work has been silent. */
    const bool restarted = is_busy(s) && quiet_for(s) > s->grace;
    while (!s->quit) {
        const enum side side = side_of(s, m);
        if (side == OVER)
            return;
        if (side == FOREIGN) {
            refuse(s, m);
            return;
        }
        if (side == OURS) { /* from another socket of the sender, or it began anew */
            s->starts++;
            s->last_ns = airy_clock_ns();
            return;
        }
        if (side == NOTHING) {
            offer_start(s, m);
            return;
        }
        if (side == ANOTHER && m->series_id < s->series.id && !restarted) {
            leave_out(s, m);
            return;
        }
        hold(s, m);
    }
}

static void take_end(struct serve *s, const airy_stream_message *m)
{
    const uint64_t begun = airy_clock_ns();
    uint64_t held_since = 0;
    while (!s->quit) {
        const enum side side = side_of(s, m);
        if (side == OVER)
            return;
        if (side == FOREIGN) {
            refuse(s, m);
            return;
        }
        if (side == OURS && s->phase == STARTING) {
            wait_change(s);
            continue;
        }
        if (side == OURS) {
            s->ends++;
            s->last_ns = airy_clock_ns();
            pthread_cond_broadcast(&s->changed);
            return;
        }
        if (is_given_up(s, m) || (side == ANOTHER && is_astray(s, m, &held_since)) ||
            (side == NOTHING && seconds_since(begun) > s->grace)) {
            leave_out(s, m);
            return;
        }
        hold(s, m);
    }
}

/* An image of the series at work: true when it can be taken, else something has changed. */
static bool await_opening(struct serve *s, const airy_stream_message *m)
{
    if (s->phase == RUNNING || (s->phase == READY && s->series.error.status != AIRY_OK))
        return true;
    if (s->phase == READY && !s->first)
        offer_first(s, m);
    else
        wait_change(s);
    return false;
}

/* An image, and no start message came for long. */
static void leave_orphan(struct serve *s, const airy_stream_message *m)
{
    s->stray++;
    give_up(s, m);
    s->complaints = 0;
    const size_t count = s->said_count;
    say(s,
        "images of series %llu without a start message are left out: it began before this "
        "receiver did, or another receiver took it; waiting for the next series",
        (unsigned long long)m->series_id);
    if (s->said_count == count + 1)
        s->said[count].hint = AIRY_HINT_LATE;
}

/* Wait until images of this series are taken; false: it is none that is, or all is over. */
static bool await_series(struct serve *s, const airy_stream_message *m)
{
    uint64_t idle_since = 0, held_since = 0;
    while (!s->quit) {
        const enum side side = side_of(s, m);
        fit_queue(s, owner_of(s, m));
        if (side == OURS) {
            if (await_opening(s, m))
                return true;
            if (s->rejected != m)
                continue;
            s->rejected = NULL;
            return false;
        }
        if (side == FOREIGN) {
            refuse(s, m);
            return false;
        }
        if (side == OVER || is_given_up(s, m)) {
            s->stray++;
            return false;
        }
        if (side == ANOTHER && is_astray(s, m, &held_since)) {
            leave_out(s, m);
            return false;
        }
        idle_since = side != NOTHING ? 0 : idle_since ? idle_since : airy_clock_ns();
        if (idle_since && seconds_since(idle_since) > s->grace) {
            leave_orphan(s, m);
            return false;
        }
        hold(s, m);
    }
    return false;
}

/* Whether the series can have such an image. */
static bool is_likely(struct serve *s, uint64_t id)
{
    if (s->series.expected)
        return id < s->series.expected;
    if (id >= (s->handler->max_images ? s->handler->max_images : AIRY_STREAM_IMAGES_MAX))
        return false;
    if (id < s->ahead + IMAGES_NEAR)
        return true;
    const uint64_t apart = id > s->far ? id - s->far : s->far - id;
    const bool agrees = s->far && apart > 0 && apart < IMAGES_NEAR;
    s->far = id;
    return agrees && id < s->ahead + IMAGES_AHEAD;
}

/* An image of a number that is taken: the same again, or another one. */
static void take_again(struct serve *s, uint64_t id, uint64_t digest, uint64_t first)
{
    airy_stream_report *series = &s->series;
    series->duplicates++;
    if (digest == first || digest == AIRY_STREAM_LOST || first == AIRY_STREAM_LOST) {
        say(s, "series %llu: image %llu came again", (unsigned long long)series->id,
            (unsigned long long)id);
        return;
    }
    if (series->conflicts++ == 0) {
        series->conflict_id = id;
        s->complaints = 0; /* whatever was said before */
    }
    say(s, "series %llu: image %llu came again with other pixels", (unsigned long long)series->id,
        (unsigned long long)id);
    if (s->handler->conflict)
        s->handler->conflict(s->handler->user, id);
}

/* Mark an image of the series as here; false: it is none of those that are to come. */
static bool mark(struct serve *s, uint64_t id, uint64_t digest)
{
    airy_stream_report *series = &s->series;
    if (!is_likely(s, id)) {
        series->beyond++;
        say(s, "series %llu: image %llu, but it has %llu images%s", (unsigned long long)series->id,
            (unsigned long long)id,
            (unsigned long long)(series->expected ? series->expected : s->ahead),
            series->expected ? "" : " so far");
        return false;
    }
    uint64_t *seen = airy_stream_seen_at(&s->seen, id);
    if (!seen) {
        series->beyond++;
        say(s, "series %llu: out of memory for %llu images", (unsigned long long)series->id,
            (unsigned long long)id + 1);
        return false;
    }
    if (*seen) {
        take_again(s, id, digest, *seen);
        return false;
    }
    *seen = digest;
    s->marked++;
    s->ahead = s->ahead > id ? s->ahead : id + 1;
    return true;
}

static void fail_series(struct serve *s, airy_status status)
{
    (void)airy_error_first(&s->series.error, status);
    pthread_cond_broadcast(&s->changed);
}

static bool all_here(const struct serve *s)
{
    return s->series.expected && s->marked == s->series.expected;
}

static void take_image(struct serve *s, const airy_stream_message *m, size_t size, uint64_t ns)
{
    if (!await_series(s, m))
        return;
    s->series.bytes += size;
    s->last_ns = airy_clock_ns();
    s->first_ns = s->first_ns ? s->first_ns : ns;
    if (!mark(s, m->image.id, owner_of(s, m)->digest))
        return;
    if (s->series.error.status != AIRY_OK) {
        s->series.received++;
        return;
    }
    s->working++;
    pthread_mutex_unlock(&s->lock);
    const airy_status status = s->handler->image(s->handler->user, m, ns);
    pthread_mutex_lock(&s->lock);
    s->working--;
    s->last_ns = airy_clock_ns();
    if (status == AIRY_OK)
        s->series.received++;
    else
        fail_series(s, status);
    if (s->working == 0 && (s->phase == CLOSING || all_here(s) || s->ends))
        pthread_cond_broadcast(&s->changed);
}

/* A message that cannot be read; the sentence is the calling thread's. */
static void take_broken(struct serve *s, const airy_stream_message *m)
{
    char text[512];
    snprintf(text, sizeof(text), "%s", airy_last_error());
    if (is_foreign(s, m)) {
        refuse(s, m);
        return;
    }
    const bool ours = at_work(s, m);
    const bool image = ours && m->has_type && m->type == AIRY_STREAM_IMAGE && m->image.has_id;
    *(ours ? &s->series.broken : &s->broken) += 1;
    if (image)
        say(s, "series %llu, image %llu: %s", (unsigned long long)s->series.id,
            (unsigned long long)m->image.id, text);
    else
        say(s, "a message that cannot be read: %s", text);
    if (!image || s->phase != RUNNING || s->series.error.status != AIRY_OK ||
        !mark(s, m->image.id, AIRY_STREAM_LOST))
        return;
    s->last_ns = airy_clock_ns();
    if (!s->handler->broken)
        return;
    s->working++;
    pthread_mutex_unlock(&s->lock);
    s->handler->broken(s->handler->user, m->image.id, text);
    pthread_mutex_lock(&s->lock);
    s->working--;
    pthread_cond_broadcast(&s->changed);
}

/*
 * A look at the socket that waited in vain, or found a message: of another series it is a look, too,
 * lest those who send such ones keep this one at work. The lock is held.
 */
static void count_look(struct receiver *r, bool waited)
{
    const uint64_t since = r->serve->last_ns, now = airy_clock_ns();
    const bool begins = r->looked_since != since;
    if (!begins && !waited && now - r->looked_ns < AIRY_STREAM_POLL_MS * UINT64_C(1000000))
        return;
    r->looks = begins ? 0 : r->looks + 1;
    r->looked_since = since;
    r->looked_ns = now;
}

/*
 * A text that a connection has, which the message keeps; false: it has none, as one that was reset
 * before anybody asked for its address.
 */
static bool get_peer(char peer[AIRY_STREAM_PEER_BYTES], zmq_msg_t *bytes)
{
    const char *key = zmq_msg_gets(bytes, "User-Id"),
               *found = key && *key ? key : zmq_msg_gets(bytes, "Peer-Address");
    const bool known = found && *found;
    snprintf(peer, AIRY_STREAM_PEER_BYTES, "%s", known ? found : "an unknown address");
    return known;
}

/* Connections that were ended since the last look. The lock is held. */
static void note_ended(struct serve *s)
{
    struct airy_stream_ended overfull, uncounted;
    airy_stream_buffered_ended(s->receiver->buffered, &overfull, &uncounted);
    if (overfull.count != s->overfull_said)
        say(s,
            "what %s sends takes too much memory, and its connection was ended: all that was sent "
            "and not read may take %.4g MB",
            overfull.peer, (double)airy_stream_buffered_limit(s->receiver->buffered) * 1e-6);
    if (uncounted.count != s->uncounted_said)
        say(s,
            "the connection of %s was ended, since the memory that it takes cannot be counted: %s; "
            "allow more open files (ulimit -n), or have fewer senders connect",
            uncounted.peer, strerror(uncounted.error));
    s->overfull_said = overfull.count;
    s->uncounted_said = uncounted.count;
}

static void take(struct receiver *r, zmq_msg_t *bytes, uint64_t ns)
{
    struct serve *s = r->serve;
    airy_stream_message *m = &r->message;
    const size_t size = zmq_msg_size(bytes);
    airy_status status = airy_stream_parse(m, zmq_msg_data(bytes), size);
    if (status == AIRY_OK && zmq_msg_more(bytes))
        status = airy_fail(AIRY_ERR_FORMAT, "a message of several parts, expected one");
    if (!get_peer(r->peer, bytes) && status == AIRY_OK && s->receiver->bound)
        status = airy_fail(AIRY_ERR_IO, "its sender has no address any more");
    if (status == AIRY_OK && m->type == AIRY_STREAM_IMAGE)
        r->digest = airy_stream_digest(&s->seen, &m->image);
    pthread_mutex_lock(&s->lock);
    s->heard_ns = ns;
    if (status != AIRY_OK)
        take_broken(s, m);
    else if (m->type == AIRY_STREAM_START)
        take_start(s, m);
    else if (m->type == AIRY_STREAM_END)
        take_end(s, m);
    else
        take_image(s, m, size, ns);
    r->ours = status == AIRY_OK && at_work(s, m) && !is_foreign(s, m);
    count_look(r, false);
    note_ended(s);
    speak(s);
    pthread_mutex_unlock(&s->lock);
}

static bool is_over(struct receiver *r)
{
    struct serve *s = r->serve;
    pthread_mutex_lock(&s->lock);
    fit_queue(s, r);
    const bool quit = s->quit;
    pthread_mutex_unlock(&s->lock);
    return quit;
}

/* The look at a socket found no message. */
static void find_nothing(struct receiver *r, int error)
{
    struct serve *s = r->serve;
    pthread_mutex_lock(&s->lock);
    if (error == EAGAIN) {
        count_look(r, true);
        note_ended(s);
        speak(s);
    } else if (error != EINTR) {
        (void)airy_hinted(AIRY_HINT_NONE,
                          airy_fail(AIRY_ERR_IO, "a socket fails: %s", zmq_strerror(error)));
        airy_error_get(&s->error);
        s->quit = true;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
}

/* The message, or the part of one, is not used any more. */
static void count_read(struct receiver *r, zmq_msg_t *bytes)
{
    const struct serve *s = r->serve;
    airy_stream_buffered_read(s->receiver->buffered, (size_t)(r - s->receivers),
                              zmq_msg_get(bytes, ZMQ_SRCFD), zmq_msg_size(bytes), r->ours);
}

/* Parts of a message behind the first are none of ours, whatever they say. */
static void drop_parts(zmq_msg_t *bytes, struct receiver *r)
{
    while (zmq_msg_more(bytes) && zmq_msg_recv(bytes, r->socket, ZMQ_DONTWAIT) >= 0)
        count_read(r, bytes);
}

/* Take what is there, else wait for the next message. */
static bool next_message(struct receiver *r, zmq_msg_t *bytes)
{
    if (zmq_msg_recv(bytes, r->socket, ZMQ_DONTWAIT) >= 0)
        return true;
    if (zmq_errno() == EAGAIN)
        airy_stream_buffered_empty(r->serve->receiver->buffered, (size_t)(r - r->serve->receivers));
    return zmq_msg_recv(bytes, r->socket, 0) >= 0;
}

static void *receive(void *user)
{
    struct receiver *r = user;
    zmq_msg_t bytes;
    zmq_msg_init(&bytes);
    while (!is_over(r)) {
        if (!next_message(r, &bytes)) {
            find_nothing(r, zmq_errno());
            continue;
        }
        take(r, &bytes, airy_clock_ns());
        count_read(r, &bytes);
        drop_parts(&bytes, r);
    }
    zmq_msg_close(&bytes);
    return NULL;
}

static bool is_stopped(const struct serve *s)
{
    return s->quit || (s->handler->stop && s->handler->stop(s->handler->user));
}

/* The series at work needs no more waiting; says why where that is not its end message. */
static bool is_done(struct serve *s)
{
    const unsigned long long id = s->series.id;
    const bool failed = s->series.error.status != AIRY_OK,
               ended = s->ends >= s->starts && s->ends > 0;
    const double quiet = quiet_for(s);
    if (is_stopped(s) || (ended && (all_here(s) || quiet > s->grace || failed)))
        return true;
    if (s->working || s->first)
        return false;
    if (s->ends && all_here(s)) /* a socket's end message is on its way */
        return quiet > s->grace;
    if (count_holding(s, true) &&
        (count_holding(s, false) == s->receiver->count || quiet > s->grace)) {
        if (!s->ends) /* else images are missing, which the report says */
            say(s, "series %llu has no end message, another one begins", id);
        return true;
    }
    if (all_here(s) && quiet > s->grace) {
        say(s, "series %llu has no end message, but all of its images", id);
        return true;
    }
    if (quiet > s->timeout) {
        say(s, "series %llu: nothing came for %g s, it is given up", id, s->timeout);
        return true;
    }
    return false;
}

/* Nothing came for too long after what came before. */
static bool is_deserted(struct serve *s)
{
    const double idle = s->handler->idle;
    if (!(idle > 0) || !s->heard_ns || seconds_since(s->heard_ns) <= idle)
        return false;
    (void)airy_hinted(
        AIRY_HINT_NONE,
        airy_fail(AIRY_ERR_NOT_FOUND, "no series began, and nothing came for %g s", idle));
    airy_error_get(&s->error);
    return true;
}

/* IDLE, until a thread has a start message; false: none is waited for any more. */
static bool await_start(struct serve *s)
{
    while (!s->start && !is_stopped(s) && !is_deserted(s))
        wait_change(s);
    return s->start && !is_stopped(s);
}

/* STARTING: from here on messages of this series are taken. */
static void begin_series(struct serve *s)
{
    const airy_stream_message *m = s->start;
    const uint64_t stray = s->stray, broken = s->broken;
    s->series = (airy_stream_report){.id = m->series_id,
                                     .expected = m->start.number_of_images,
                                     .stray = stray,
                                     .broken = broken};
    memcpy(s->series.unique_id, m->unique_id, sizeof(s->series.unique_id));
    s->begun++;
    s->starts = 1;
    s->ends = s->first_ns = s->marked = s->ahead = s->complaints = s->stray = s->broken = 0;
    s->far = 0;
    s->given_up = s->stray_said = false;
    airy_stream_seen_clear(&s->seen);
    memcpy(s->peer, owner_of(s, m)->peer, sizeof(s->peer));
    s->image_bytes = image_bytes(s->receiver, &m->start);
    s->overfull = s->overfull_said;
    s->phase = STARTING;
    pthread_mutex_unlock(&s->lock);
    const airy_status status = s->handler->start(s->handler->user, m);
    pthread_mutex_lock(&s->lock);
    if (status != AIRY_OK)
        fail_series(s, status);
    s->start = NULL;
    s->last_ns = airy_clock_ns();
    s->phase = READY;
    pthread_cond_broadcast(&s->changed);
}

/* Another image decides what the images are like; this one is bad. */
static void reject_first(struct serve *s, const airy_stream_message *m)
{
    static const char *const why = "its size, type or channel is not that of the start message";
    const uint64_t id = m->image.id;
    say(s, "series %llu, image %llu: %s", (unsigned long long)s->series.id, (unsigned long long)id,
        why);
    s->series.broken++;
    if (mark(s, id, AIRY_STREAM_LOST) && s->handler->broken) {
        pthread_mutex_unlock(&s->lock);
        s->handler->broken(s->handler->user, id, why);
        pthread_mutex_lock(&s->lock);
    }
    s->rejected = m;
    s->first = NULL;
    s->last_ns = airy_clock_ns();
    s->phase = READY;
    pthread_cond_broadcast(&s->changed);
}

/* OPENING */
static void open_series(struct serve *s)
{
    const airy_stream_message *m = s->first;
    s->phase = OPENING;
    pthread_mutex_unlock(&s->lock);
    const airy_status status = s->handler->first(s->handler->user, m);
    pthread_mutex_lock(&s->lock);
    if (status == AIRY_ERR_CORRUPT) {
        reject_first(s, m);
        return;
    }
    if (status != AIRY_OK)
        fail_series(s, status);
    s->first = NULL;
    s->last_ns = airy_clock_ns();
    s->phase = RUNNING;
    pthread_cond_broadcast(&s->changed);
}

/* READY, and RUNNING from the first image on. */
static void run_series(struct serve *s)
{
    while (!is_done(s)) {
        if (s->phase == READY && s->first && s->series.error.status == AIRY_OK)
            open_series(s);
        else
            wait_change(s);
    }
}

/* CLOSING. False: the handler wants no more. */
static bool end_series(struct serve *s)
{
    s->phase = CLOSING;
    s->first = NULL; /* it came too late; its thread goes on as with any other image of no series */
    note_ended(s);
    for (speak(s); s->working || s->saying || s->said_count; speak(s))
        wait_change(s);
    s->series.ended = s->ends > 0;
    s->series.stray += s->stray;
    s->series.overfull = s->overfull_said - s->overfull;
    s->stray = 0;
    s->series.seconds = s->first_ns ? (double)(s->last_ns - s->first_ns) * 1e-9 : 0;
    s->any_series = true;
    pthread_mutex_unlock(&s->lock);
    const bool more = s->handler->end(s->handler->user, &s->series);
    pthread_mutex_lock(&s->lock);
    s->heard_ns = airy_clock_ns();
    s->phase = IDLE;
    pthread_cond_broadcast(&s->changed);
    return more;
}

/* Series after series, by the caller of airy_stream_serve. */
static void serve_series(struct serve *s)
{
    pthread_mutex_lock(&s->lock);
    bool more = true;
    while (more && await_start(s)) {
        begin_series(s);
        run_series(s);
        more = end_series(s);
    }
    if (more && s->error.status == AIRY_OK)
        s->error.status = AIRY_ERR_CANCELLED;
    s->quit = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void init(struct serve *s)
{
    pthread_condattr_t monotonic;
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&s->lock, NULL);
    (void)pthread_cond_init(&s->changed, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
}

/* A thread for each socket; so many were started. Where one could not be, all end again. */
static size_t start_threads(struct serve *s)
{
    const size_t count = s->receiver->count;
    for (size_t i = 0; i < count; i++) {
        struct receiver *r = &s->receivers[i];
        r->serve = s;
        r->socket = s->receiver->sockets[i];
        if (pthread_create(&r->thread, NULL, receive, r) == 0)
            continue;
        pthread_mutex_lock(&s->lock);
        s->quit = true;
        (void)airy_fail(AIRY_ERR_MEMORY, "no thread for socket %zu of %zu", i, count);
        airy_error_get(&s->error);
        pthread_mutex_unlock(&s->lock);
        return i;
    }
    return count;
}

airy_status airy_stream_serve(airy_stream_receiver *receiver, const airy_stream_handler *handler)
{
    AIRY_FAIL_IF(!receiver || !handler || !handler->start || !handler->first || !handler->image ||
                     !handler->end,
                 AIRY_ERR_PARAM, "airy_stream_serve: an argument is NULL");
    struct serve s = {.receiver = receiver,
                      .handler = handler,
                      .grace = handler->grace > 0 ? handler->grace : GRACE,
                      .timeout = handler->timeout > 0 ? handler->timeout : TIMEOUT};
    AIRY_TRY(airy_memory_calloc((void **)&s.receivers, receiver->count, sizeof(s.receivers[0]),
                                "receiving threads"));
    const airy_status begun = airy_stream_seen_begin(&s.seen);
    if (begun != AIRY_OK) {
        free(s.receivers);
        return begun;
    }
    init(&s);
    const size_t started = start_threads(&s);
    if (started == receiver->count)
        serve_series(&s);
    for (size_t i = 0; i < started; i++)
        pthread_join(s.receivers[i].thread, NULL);
    pthread_cond_destroy(&s.changed);
    pthread_mutex_destroy(&s.lock);
    airy_stream_seen_clear(&s.seen);
    free(s.receivers);
    if (s.error.status == AIRY_ERR_CANCELLED)
        return airy_fail(AIRY_ERR_CANCELLED, "cancelled");
    return s.error.status == AIRY_OK ? AIRY_OK : airy_error_restore(&s.error);
}
