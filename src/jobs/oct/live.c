/*
 * Frames of the job oct as a camera brings them: from another process through a ring, or from a file
 * at a line rate and again and again. A thread of its own brings them, so that the one that takes the
 * results may stand still without holding it up.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "jobs/oct/oct.h"

struct oct_live {
    const struct oct_values *v;
    airy_job *job;
    struct oct_source *source;
    struct oct_patience *patience;
    airy_oct_stream *stream; /* where frames go, or */
    airy_ring *ring;
    size_t group, batch, lines; /* frames of a result, of a buffer; lines of a frame */
    char *memory;               /* [count] frames that are repeated; NULL: they are read */
    size_t count;
    airy_device *device;
    airy_host **host;      /* around memory; NULL: malloc'ed */
    char *spare;           /* [batch] for what is read and finds no buffer */
    double rate;           /* frames/s; 0: as they come */
    double start;          /* s, when the first one began */
    uint64_t total;        /* frames; UINT64_MAX: until the end */
    double seconds;        /* 0: as many as there are */
    uint64_t frames, late; /* so far, dropped ones too; of them, not brought in time */
    bool has_thread;
    pthread_t thread;
    airy_error error; /* of the thread */
};

static double now(void)
{
    return (double)airy_clock_ns() / 1e9;
}

static const char *parse_repeat(void *field, const char *text)
{
    static const struct airy_job_row number = {
        {.name = "repeat", .type = AIRY_PARAMETER_REAL, .hi = 1e9}, 0, NULL};
    struct oct_repeat *repeat = field;
    const size_t length = strlen(text);
    const bool seconds = length > 0 && text[length - 1] == 's';
    char digits[32];
    double value = 0;
    snprintf(digits, sizeof(digits), "%.*s", (int)(length - seconds), text);
    *repeat = (struct oct_repeat){0};
    if (length >= sizeof(digits) || airy_value_parse(&number, &value, digits) != AIRY_OK ||
        !(value > 0) || (!seconds && value != (double)(uint64_t)value))
        return "expected a number of times, or of seconds as in 60s";
    if (seconds)
        repeat->seconds = value;
    else
        repeat->times = (uint64_t)value;
    return NULL;
}

static void print_repeat(char *text, size_t size, const void *field)
{
    const struct oct_repeat *repeat = field;
    if (repeat->times)
        snprintf(text, size, "%llu", (unsigned long long)repeat->times);
    else
        snprintf(text, size, "%.17gs", repeat->seconds);
}

const struct airy_job_record airy_oct_repeat_record = {sizeof(struct oct_repeat), parse_repeat,
                                                       print_repeat};

/* ---- where frames go ---- */

static airy_status take(struct oct_live *l, void **buffer)
{
    return l->ring ? airy_ring_take(l->ring, buffer) : airy_oct_stream_take(l->stream, buffer);
}

static airy_status give(struct oct_live *l, size_t frames)
{
    return l->ring ? airy_ring_give(l->ring) : airy_oct_stream_give(l->stream, frames);
}

/*
 * The next `got` frames where they lie: the memory of a camera that writes into it by itself. NULL:
 * they do not lie one behind the other there.
 */
static const char *find_lent(const struct oct_live *l, size_t got)
{
    const size_t at = l->count ? (size_t)(l->frames % l->count) : 0;
    return l->host && got % l->group == 0 && at + got <= l->count
               ? l->memory + at * l->source->input.frame_bytes
               : NULL;
}

static airy_status drop(struct oct_live *l, uint64_t frames)
{
    return l->ring ? airy_ring_drop(l->ring, frames) : airy_oct_stream_drop(l->stream, frames);
}

static bool is_over(const struct oct_live *l)
{
    return airy_oct_is_stopped(l->patience) || l->frames >= l->total ||
           (l->seconds > 0 && now() - l->start >= l->seconds);
}

/* Until there is room. A ring has no bell for its producer, who never waits as a rule. */
static airy_status take_wait(struct oct_live *l, void **buffer)
{
    enum { PATIENCE_NS = 100000000, LOOK_US = 50 };
    airy_status status = AIRY_OK;
    *buffer = NULL;
    while (status == AIRY_OK && !*buffer && !is_over(l)) {
        status = l->ring ? airy_ring_take(l->ring, buffer)
                         : airy_oct_stream_take_wait(l->stream, buffer, PATIENCE_NS);
        if (l->ring && !*buffer)
            usleep(LOOK_US);
    }
    return status;
}

/* ---- when they come ---- */

/* Sleeps while that is exact enough, then looks at the clock; not beyond the end of the run. */
static void wait_until(const struct oct_live *l, double due)
{
    const double exact = 100e-6, longest = 0.05;
    for (double left; (left = due - now()) > 0 && !airy_oct_is_stopped(l->patience);) {
        if (left < exact)
            continue;
        const double nap = left - exact < longest ? left - exact : longest;
        const struct timespec time = {0, (long)(nap * 1e9)};
        nanosleep(&time, NULL);
    }
}

/*
 * A camera does not wait for a program that copies too slowly: what is long due is gone. A tenth of a
 * second is made good, as by the memory of a frame grabber: systems hold up threads for that long.
 */
static airy_status skip_late(struct oct_live *l)
{
    const double made_good = 0.1;
    const double behind = now() - l->start - (double)l->frames / l->rate,
                 buffer = (double)l->batch / l->rate;
    if (behind < made_good + 2 * buffer)
        return AIRY_OK;
    const uint64_t gone = (uint64_t)(behind / buffer) * l->batch, left = l->total - l->frames,
                   frames = gone < left ? gone : left;
    l->late += frames;
    l->frames += frames;
    return drop(l, frames);
}

/* ---- what comes ---- */

/* The next frames, up to `batch`; *got 0: there are no more. *lent: where they lie, not copied. */
static airy_status bring(struct oct_live *l, void *buffer, size_t *got, const char **lent)
{
    const size_t bytes = l->source->input.frame_bytes;
    *got = l->total - l->frames < l->batch ? (size_t)(l->total - l->frames) : l->batch;
    *lent = find_lent(l, *got);
    if (*lent)
        return AIRY_OK;
    if (!l->memory)
        return airy_oct_source_read(l->source, buffer, *got, got);
    for (size_t i = 0; i < *got; i++)
        memcpy((char *)buffer + i * bytes, l->memory + (l->frames + i) % l->count * bytes, bytes);
    return AIRY_OK;
}

/* One buffer: brought, given or dropped. *more: others follow. */
static airy_status pass_buffer(struct oct_live *l, bool *more)
{
    void *buffer = NULL;
    const char *from;
    bool lent = false;
    size_t got = 0;
    airy_status status = l->rate > 0 ? skip_late(l) : AIRY_OK;
    if (status == AIRY_OK)
        status = l->rate > 0 ? take(l, &buffer) : take_wait(l, &buffer);
    if (status != AIRY_OK || (!buffer && l->rate <= 0))
        return status;
    status = bring(l, buffer ? buffer : l->spare, &got, &from);
    if (status == AIRY_OK && got == 0 && l->source->skipped) /* behind the last one */
        return drop(l, l->source->skipped);
    if (status != AIRY_OK || got == 0)
        return status;
    *more = true;
    l->frames += got;
    if (l->rate > 0)
        wait_until(l, l->start + (double)l->frames / l->rate);
    /* What the source lost stood in front of what it brought, and has its numbers. */
    if (l->source->skipped)
        status = drop(l, l->source->skipped);
    l->source->skipped = 0;
    /* Frames that no result can be made of, at the end or before some that were lost. */
    const size_t whole = buffer ? got - got % l->group : 0, lost = got - whole;
    if (status == AIRY_OK && whole)
        status = from ? airy_oct_stream_lend(l->stream, from, whole, &lent) : give(l, whole);
    return status == AIRY_OK && lost ? drop(l, lost) : status;
}

static void *run_camera(void *arg)
{
    struct oct_live *l = arg;
    airy_status status = AIRY_OK;
    bool more = true;
    l->start = now();
    while (more && status == AIRY_OK && !is_over(l)) {
        more = false;
        status = pass_buffer(l, &more);
    }
    (void)airy_error_first(&l->error, status);
    (void)(l->ring ? airy_ring_end(l->ring) : airy_oct_stream_end(l->stream));
    return NULL;
}

/* ---- the thread ---- */

/* All frames of the source into memory. */
static airy_status load(struct oct_live *l)
{
    const struct oct_source *s = l->source;
    AIRY_FAIL_HINT_IF(s->frames > SIZE_MAX / s->input.frame_bytes, AIRY_ERR_UNSUPPORTED,
                      AIRY_HINT_STATED, AIRY_SUBJECT_NONE,
                      "%s: how many frames it has is not known; frames are repeated from a file or "
                      "an array",
                      s->input.name);
    const size_t size = (size_t)s->frames * s->input.frame_bytes;
    if (l->host && airy_host_create(l->host, l->device, size) == AIRY_OK)
        l->memory = airy_host_data(*l->host);
    else /* what cannot be page-locked is copied */
        l->host = NULL;
    if (!l->memory)
        l->memory = malloc(size);
    AIRY_FAIL_HINT_IF(!l->memory, AIRY_ERR_MEMORY, AIRY_HINT_FRAMES, AIRY_SUBJECT_NONE,
                      "out of memory for %llu frames to repeat", (unsigned long long)s->frames);
    AIRY_TRY(airy_oct_source_read(l->source, l->memory, (size_t)s->frames, &l->count));
    AIRY_FAIL_IF(l->count == 0, AIRY_ERR_SHAPE, "%s: no frame is in it", s->input.name);
    return AIRY_OK;
}

/* The members that follow from source, group and batch. */
static airy_status open_live(struct oct_live *l)
{
    struct oct_source *s = l->source;
    const struct oct_values *v = l->v = s->v;
    l->job = s->job;
    l->patience = s->patience;
    l->lines = s->config.params.lines;
    l->rate = v->line_rate / (double)l->lines;
    l->total = s->frames;
    l->spare = malloc(l->batch * s->input.frame_bytes);
    AIRY_FAIL_IF(!l->spare, AIRY_ERR_MEMORY, "out of memory for %zu frames", l->batch);
    if (!airy_job_is_set(l->job, "repeat"))
        return AIRY_OK;
    AIRY_TRY(load(l));
    l->seconds = v->repeat.seconds;
    l->total = v->repeat.times ? v->repeat.times * l->count : UINT64_MAX;
    return AIRY_OK;
}

static void close_live(struct oct_live *l)
{
    if (!l->host) /* which the stream may still read */
        free(l->memory);
    free(l->spare);
}

/* Signals stay with the threads of the program that handles them. */
static airy_status start_thread(struct oct_live *l)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    l->patience->has_camera = true;
    const int failed = pthread_create(&l->thread, NULL, run_camera, l);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    AIRY_FAIL_IF(failed, AIRY_ERR_MEMORY, "cannot start a thread for the frames: %s",
                 strerror(failed));
    l->has_thread = true;
    return AIRY_OK;
}

airy_status airy_oct_live_start(struct oct_live **live, const struct airy_oct_live_start *start)
{
    struct oct_live *l = *live = calloc(1, sizeof(*l));
    AIRY_FAIL_IF(!l, AIRY_ERR_MEMORY, "out of memory for a camera");
    l->source = start->source;
    l->stream = start->stream;
    l->device = start->device;
    l->host = start->memory;
    l->group = start->group;
    l->batch = start->batch;
    AIRY_TRY(open_live(l));
    return start_thread(l);
}

airy_status airy_oct_live_end(struct oct_live **live, airy_status status)
{
    struct oct_live *l = *live;
    if (!l)
        return status;
    airy_error error = {.status = AIRY_OK};
    (void)airy_error_first(&error, status);
    if (l->has_thread) {
        atomic_store(&l->patience->stopped, true);
        pthread_join(l->thread, NULL);
    }
    l->patience->has_camera = false;
    if (error.status == AIRY_OK)
        error = l->error;
    if (error.status == AIRY_OK && l->late)
        airy_job_message(l->job, AIRY_LOG_WARN,
                         "%llu of the dropped frames were not copied in time: this machine does "
                         "not imitate so fast a camera",
                         (unsigned long long)l->late);
    close_live(l);
    free(l);
    *live = NULL;
    return error.status == AIRY_OK ? AIRY_OK : airy_error_restore(&error);
}

/* ---- into a ring ---- */

/*
 * The consumer may be behind: it keeps its time as long as it goes on. Looks are counted, not seconds:
 * what stops the whole machine stops the consumer, too.
 */
static void wait_drained(struct oct_live *l)
{
    enum { LOOKS = 5000, LOOK_US = 1000 };
    airy_ring_info info;
    uint64_t waiting = 0;
    for (int looks = 0; looks < LOOKS; looks++) {
        if (airy_ring_get_info(l->ring, &info) != AIRY_OK || info.waiting == 0)
            return;
        if (info.waiting != waiting)
            looks = 0;
        waiting = info.waiting;
        if (airy_oct_is_stopped(l->patience))
            break;
        usleep(LOOK_US);
    }
    airy_job_message(l->job, AIRY_LOG_WARN, "%llu frames in the ring were not taken",
                     (unsigned long long)waiting);
}

static airy_status feed(struct oct_live *l)
{
    airy_ring_info info = {0};
    AIRY_TRY(open_live(l));
    run_camera(l);
    const double seconds = now() - l->start;
    wait_drained(l);
    if (l->error.status != AIRY_OK)
        return airy_error_restore(&l->error);
    AIRY_TRY(airy_ring_get_info(l->ring, &info));
    AIRY_TRY(airy_job_put_text(l->job, "ring", l->v->feed));
    airy_job_put_number(l->job, "frames", (double)l->frames);
    airy_job_put_number(l->job, "given", (double)info.given);
    airy_job_put_number(l->job, "dropped", (double)info.dropped);
    airy_job_put_number(l->job, "seconds", seconds);
    airy_job_put_number(l->job, "lines_per_second", (double)l->frames * (double)l->lines / seconds);
    airy_job_sum_up(l->job, "%llu frames given, %llu dropped", (unsigned long long)info.given,
                    (unsigned long long)info.dropped);
    return AIRY_OK;
}

airy_status airy_oct_live_feed(struct oct_source *source)
{
    enum { FEED_SLOTS = 64 };
    struct oct_live l = {.source = source, .group = 1, .batch = 1};
    AIRY_TRY(airy_ring_create(&l.ring, source->v->feed, source->input.frame_bytes, FEED_SLOTS));
    const airy_status status = feed(&l);
    airy_ring_destroy(&l.ring);
    close_live(&l);
    return status;
}
