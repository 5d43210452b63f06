/*
 * Frames of `airy oct` as a camera brings them: from another process through a ring, or from a file
 * at a line rate and again and again. A thread of its own brings them, so that the display's, which
 * is the command's, may stand still without holding it up.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "oct/oct.h"

struct oct_live {
    const struct oct_params *p;
    const struct common *common;
    struct oct_source *source;
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
    atomic_bool stop;
    bool has_thread, tty;
    pthread_t thread;
    airy_status status;
    char message[512];
    double shown;
};

const char *oct_parse_repeat(void *field, const char *text)
{
    struct oct_repeat *repeat = field;
    const size_t length = strlen(text);
    const bool seconds = length > 0 && text[length - 1] == 's';
    char digits[32];
    double value = 0;
    snprintf(digits, sizeof(digits), "%.*s", (int)(length - seconds), text);
    *repeat = (struct oct_repeat){0};
    if (length >= sizeof(digits) || !opt_number(digits, &value) || !(value > 0 && value <= 1e9) ||
        (!seconds && value != (double)(uint64_t)value))
        return "expected a number of times, or of seconds as in 60s";
    if (seconds)
        repeat->seconds = value;
    else
        repeat->times = (uint64_t)value;
    return NULL;
}

bool oct_is_live(const struct oct_params *p)
{
    return p->has_rate || p->has_repeat || oct_ring_name(p->common.inputs.items[0]) != NULL;
}

int oct_live_check(const struct oct_params *p)
{
    const struct common *common = &p->common;
    if (oct_ring_name(common->inputs.items[0]) && (p->has_rate || p->has_repeat || p->has_frames))
        return tool_usage(common, "--line-rate, --repeat and --frames are for files; a ring's "
                                  "frames come as they are put");
    if (p->feed && (p->output || p->plot || p->enface || p->mip || common->explain))
        return tool_usage(common, "--feed plays frames into a ring and makes no results");
    if (p->feed && oct_ring_name(common->inputs.items[0]))
        return tool_usage(common, "--feed plays a file, not a ring");
    return AIRY_EXIT_OK;
}

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
    return atomic_load(&l->stop) || tool_interrupted() || l->frames >= l->total ||
           (l->seconds > 0 && tool_now() - l->start >= l->seconds);
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
    for (double left; (left = due - tool_now()) > 0 && !atomic_load(&l->stop);) {
        if (left < exact)
            continue;
        if (left > longest && tool_interrupted())
            return;
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
    const double behind = tool_now() - l->start - (double)l->frames / l->rate,
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
        return oct_source_read(l->source, buffer, *got, got);
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
    bool more = true;
    l->start = tool_now();
    while (more && l->status == AIRY_OK && !is_over(l)) {
        more = false;
        l->status = pass_buffer(l, &more);
    }
    if (l->status != AIRY_OK)
        snprintf(l->message, sizeof(l->message), "%s", airy_last_error());
    (void)(l->ring ? airy_ring_end(l->ring) : airy_oct_stream_end(l->stream));
    return NULL;
}

/* ---- the thread ---- */

/* All frames of the source into memory. */
static int load(struct oct_live *l)
{
    const struct oct_source *s = l->source;
    if (s->frames > SIZE_MAX / s->input.frame_bytes)
        return tool_fail(l->common,
                         "%s: how many frames it has is not known, --repeat needs a file", s->path);
    const size_t size = (size_t)s->frames * s->input.frame_bytes;
    if (l->host && airy_host_create(l->host, l->device, size) == AIRY_OK)
        l->memory = airy_host_data(*l->host);
    else /* what cannot be page-locked is copied */
        l->host = NULL;
    if (!l->memory)
        l->memory = malloc(size);
    if (!l->memory)
        return tool_fail(l->common,
                         "out of memory for %llu frames to repeat; choose some by --frames",
                         (unsigned long long)s->frames);
    const airy_status status = oct_source_read(l->source, l->memory, (size_t)s->frames, &l->count);
    if (status != AIRY_OK)
        return tool_failed(l->common, status);
    return l->count ? AIRY_EXIT_OK : tool_fail(l->common, "%s: no frame is in it", s->path);
}

static int open_live(struct oct_live *l)
{
    const struct oct_params *p = l->p;
    l->rate = p->has_rate ? p->line_rate / (double)l->lines : 0;
    l->total = l->source->frames;
    l->tty = tool_is_terminal(STDERR_FILENO) && !l->common->quiet;
    l->shown = tool_now();
    l->spare = malloc(l->batch * l->source->input.frame_bytes);
    if (!l->spare)
        return tool_fail(l->common, "out of memory for %zu frames", l->batch);
    if (!p->has_repeat)
        return AIRY_EXIT_OK;
    const int code = load(l);
    l->seconds = p->repeat.seconds;
    l->total = p->repeat.times ? p->repeat.times * l->count : UINT64_MAX;
    return code;
}

int oct_live_start(struct oct_live **live, const struct oct_live_start *start)
{
    struct oct_live *l = calloc(1, sizeof(*l));
    *live = l;
    if (!l)
        return tool_fail(&start->p->common, "out of memory");
    l->p = start->p;
    l->common = &start->p->common;
    l->source = start->source;
    l->stream = start->stream;
    l->device = start->device;
    l->host = start->memory;
    l->group = start->group;
    l->batch = start->batch;
    l->lines = l->source->config.params.lines;
    const int code = open_live(l);
    if (code != AIRY_EXIT_OK)
        return code;
    l->source->stop = &l->stop;
    if (pthread_create(&l->thread, NULL, run_camera, l) != 0)
        return tool_fail(l->common, "cannot start a thread for the frames");
    l->has_thread = true;
    return AIRY_EXIT_OK;
}

int oct_live_end(struct oct_live **live)
{
    struct oct_live *l = *live;
    int code = AIRY_EXIT_OK;
    if (!l)
        return code;
    atomic_store(&l->stop, true);
    if (l->has_thread)
        pthread_join(l->thread, NULL);
    l->source->stop = NULL;
    if (l->tty && l->stream)
        fprintf(stderr, "\r\033[K");
    if (l->status != AIRY_OK)
        code = tool_fail(l->common, "%s", l->message);
    else if (l->late)
        tool_say(l->common,
                 "%llu of the dropped frames were not copied in time: this machine does not "
                 "imitate so fast a camera",
                 (unsigned long long)l->late);
    if (!l->host) /* which the stream may still read */
        free(l->memory);
    free(l->spare);
    free(l);
    *live = NULL;
    return code;
}

void oct_live_show(struct oct_live *l)
{
    const double now = tool_now();
    airy_oct_stream_info info;
    if (!l->tty || now - l->shown < 0.2 || airy_oct_stream_get_info(l->stream, &info) != AIRY_OK)
        return;
    l->shown = now;
    fprintf(stderr, "\r\033[K%llu frames, %llu dropped, latency p50 %.4g us, p99 %.4g us",
            (unsigned long long)info.out, (unsigned long long)info.dropped,
            (double)info.latency_p50_ns * 1e-3, (double)info.latency_p99_ns * 1e-3);
    fflush(stderr);
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
        if (tool_interrupted())
            break;
        usleep(LOOK_US);
    }
    tool_say(l->common, "%llu frames in the ring were not taken", (unsigned long long)waiting);
}

int oct_live_feed(const struct oct_params *p, struct oct_source *source)
{
    enum { FEED_SLOTS = 64 };
    const struct common *common = &p->common;
    struct oct_live l = {.p = p,
                         .common = common,
                         .source = source,
                         .group = 1,
                         .batch = 1,
                         .lines = source->config.params.lines};
    airy_ring_info info = {0};
    const airy_status status =
        airy_ring_create(&l.ring, p->feed, source->input.frame_bytes, FEED_SLOTS);
    int code = status == AIRY_OK ? open_live(&l) : tool_failed(common, status);
    if (code == AIRY_EXIT_OK) {
        tool_catch_interrupts();
        run_camera(&l);
        const double seconds = tool_now() - l.start;
        wait_drained(&l);
        if (l.status != AIRY_OK)
            code = tool_fail(common, "%s", l.message);
        else if (airy_ring_get_info(l.ring, &info) == AIRY_OK)
            code = tool_print_json(
                common, json_pack("{s:s, s:I, s:I, s:I, s:o, s:o}", "ring", p->feed, "frames",
                                  (json_int_t)l.frames, "given", (json_int_t)info.given, "dropped",
                                  (json_int_t)info.dropped, "seconds", tool_json_number(seconds),
                                  "lines_per_second",
                                  tool_json_number((double)l.frames * (double)l.lines / seconds)));
    }
    airy_ring_destroy(&l.ring);
    free(l.memory);
    free(l.spare);
    return code;
}
