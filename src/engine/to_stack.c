/*
 * Frames into a stack. Each thread makes a frame, encodes it, places it in its file in the order of
 * the frames, and writes its bytes at the same time as others do. The run has no lanes, only books:
 * each row is a batch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/stack_write.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/thread.h"
#include "core/profile.h"
#include "engine/run.h"
#include "io/stack/file.h"

enum { MOST_THREADS = 64, KEEP_BYTES = 512 << 20 /* of all chunks that are kept */ };

/* A chunk that is kept because frames repeat. */
struct kept {
    void *chunk;
    size_t size;
};

/* The rows of one file. */
struct part {
    size_t next, placed, end;
};

/* What the threads share. */
struct fill {
    struct airy_run run;
    airy_stack_writer *writer;
    airy_stack_fill_params params;
    airy_codec_params codec;
    airy_profile *profile;
    airy_stack_fill_info *info;
    size_t rows, frame_bytes, bound; /* bound: of a chunk; 0: frames are written as they are */
    size_t part_rows, part_count;
    uint64_t keep_bytes;
    /* With the run's lock: */
    pthread_cond_t turn;
    struct part *parts; /* [part_count] */
    size_t begun;       /* parts that a thread has taken, the first ones */
    struct kept *kept;  /* [period], or NULL */
    uint64_t kept_bytes;
};

/* Lock held. */
static bool ends(const struct fill *fill)
{
    return fill->run.failed || fill->run.stopped;
}

/*
 * A frame's place in its file, in the order of the frames, so that files do not depend on the
 * threads. made: what became of the frame. False: nothing is to be written.
 */
static bool place_row(struct fill *fill, size_t row, const void *chunk, size_t size,
                      airy_status made, airy_frame_place *place)
{
    struct airy_run *run = &fill->run;
    struct part *part = &fill->parts[row / fill->part_rows];
    const bool of_frame = airy_status_is_of_frame(made);
    pthread_mutex_lock(&run->lock);
    while (part->placed != row && !ends(fill) && row < run->bad_batch)
        pthread_cond_wait(&fill->turn, &run->lock);
    const bool proceed = !ends(fill) && row < run->bad_batch;
    airy_status status = run->skip_bad && of_frame ? AIRY_OK : made;
    if (proceed && made == AIRY_OK) {
        pthread_mutex_unlock(&run->lock); /* the turn is still this thread's */
        status = airy_stack_writer_place(fill->writer, row, chunk, size, place);
        pthread_mutex_lock(&run->lock);
    }
    if (proceed && status != AIRY_OK)
        airy_run_end(run, row, status, !of_frame);
    part->placed++;
    pthread_cond_broadcast(&fill->turn);
    pthread_mutex_unlock(&run->lock);
    return proceed && status == AIRY_OK;
}

/* Several frames are written at the same time. */
static void deliver(struct fill *fill, size_t row, const void *chunk, size_t size, airy_status made)
{
    struct airy_run *run = &fill->run;
    struct airy_tally tally = {.frames = 1};
    airy_frame_place place;
    airy_status status;
    if (!place_row(fill, row, chunk, size, made, &place))
        return;
    if (made == AIRY_OK) {
        const uint64_t start = airy_clock_ns();
        status = airy_stack_writer_put(fill->writer, &place, chunk, size);
        airy_profile_add(fill->profile, "write_frame", false,
                         (double)(airy_clock_ns() - start) * 1e-6, (double)size);
        tally.stored = size;
    } else {
        airy_error error;
        airy_error_get(&error);
        (void)airy_run_mark_bad(run, row, &error, &tally);
        status = airy_stack_writer_skip(fill->writer, row);
    }
    pthread_mutex_lock(&run->lock);
    if (status == AIRY_OK)
        airy_run_book(run, &tally);
    else
        airy_run_end(run, row, status, true);
    pthread_mutex_unlock(&run->lock);
    if (status == AIRY_OK)
        airy_run_show(run);
}

/* The chunk of a frame that was encoded before, or NULL. */
static const struct kept *find_kept(struct fill *fill, size_t row)
{
    if (!fill->kept)
        return NULL;
    pthread_mutex_lock(&fill->run.lock);
    const struct kept *kept = &fill->kept[row % fill->params.period];
    const bool there = kept->chunk != NULL;
    pthread_mutex_unlock(&fill->run.lock);
    return there ? kept : NULL; /* it does not change any more */
}

/* For the frames that follow a period later, as long as there is room. */
static void keep(struct fill *fill, size_t row, const void *chunk, size_t size)
{
    if (!fill->kept || fill->params.period >= fill->rows - row)
        return;
    pthread_mutex_lock(&fill->run.lock);
    struct kept *kept = &fill->kept[row % fill->params.period];
    const bool room = !kept->chunk && fill->kept_bytes + size <= fill->keep_bytes;
    fill->kept_bytes += room ? size : 0;
    pthread_mutex_unlock(&fill->run.lock);
    if (!room)
        return;
    void *copy = malloc(size);
    if (copy)
        memcpy(copy, chunk, size);
    pthread_mutex_lock(&fill->run.lock);
    if (copy && !kept->chunk) {
        kept->size = size;
        kept->chunk = copy;
        copy = NULL;
    } else {
        fill->kept_bytes -= size;
    }
    pthread_mutex_unlock(&fill->run.lock);
    free(copy);
}

/*
 * The next row of the file that this thread is at; else of one that nobody is at, so that as many
 * files as threads are written at the same time; else of the file that lacks most. False: all are
 * taken. Lock held.
 */
static bool take_row(struct fill *fill, size_t *mine, size_t *row)
{
    struct part *part = *mine < fill->part_count ? &fill->parts[*mine] : NULL;
    if (!part || part->next == part->end) {
        if (fill->begun < fill->part_count) {
            *mine = fill->begun++;
        } else {
            size_t most = 0;
            for (size_t i = 0; i < fill->part_count; i++)
                if (fill->parts[i].end - fill->parts[i].next > most) {
                    most = fill->parts[i].end - fill->parts[i].next;
                    *mine = i;
                }
            if (most == 0)
                return false;
        }
        part = &fill->parts[*mine];
    }
    *row = part->next++;
    return true;
}

/* Right after a function of the caller's failed, which may have left no record. */
static airy_status fail_frame(size_t frame, airy_status status, const char *what)
{
    char number[24];
    airy_error error;
    airy_error_get(&error);
    if (error.status != AIRY_OK)
        return status;
    snprintf(number, sizeof(number), "%zu", frame);
    return airy_fail_on(status, AIRY_SUBJECT_FRAME, "frame %s was not %s", number, what);
}

/* *pixels is frame, or where the source has them. */
static airy_status make_row(struct fill *fill, size_t row, void *frame, const void **pixels)
{
    const airy_stack_fill_params *p = &fill->params;
    const size_t number = airy_run_frame(fill->run.params, row);
    *pixels = frame;
    if (p->stack)
        return airy_stack_read(p->stack, number, frame, fill->frame_bytes);
    airy_error_clear();
    if (p->lend) {
        *pixels = p->lend(p->source, number);
        return *pixels ? AIRY_OK : fail_frame(number, AIRY_ERR_PARAM, "lent");
    }
    const airy_status status = p->make(p->source, number, frame);
    return status == AIRY_OK ? AIRY_OK : fail_frame(number, status, "made");
}

/* frame, chunk: memory of the calling thread. */
static void do_row(struct fill *fill, size_t row, void *frame, void *chunk)
{
    const struct kept *again = find_kept(fill, row);
    if (again) {
        deliver(fill, row, again->chunk, again->size, AIRY_OK);
        return;
    }
    const void *pixels;
    uint64_t start = airy_clock_ns();
    airy_status status = airy_hint_leaving_out(make_row(fill, row, frame, &pixels));
    airy_profile_add(fill->profile, fill->params.stack ? "read_frame" : "make_frame", false,
                     (double)(airy_clock_ns() - start) * 1e-6, (double)fill->frame_bytes);
    size_t used = fill->frame_bytes;
    if (status == AIRY_OK && fill->bound) {
        used = fill->bound;
        start = airy_clock_ns();
        status = airy_encode(chunk, &used, pixels, fill->frame_bytes, &fill->codec);
        airy_profile_add(fill->profile, "encode_frame", false,
                         (double)(airy_clock_ns() - start) * 1e-6, (double)fill->frame_bytes);
        if (status == AIRY_OK)
            keep(fill, row, chunk, used);
    }
    deliver(fill, row, fill->bound ? chunk : pixels, used, status);
}

static void do_rows(struct fill *fill, void *frame, void *chunk)
{
    size_t mine = fill->part_count, row = 0;
    for (;;) {
        pthread_mutex_lock(&fill->run.lock);
        bool more = !ends(fill) && take_row(fill, &mine, &row);
        for (; more && row >= fill->run.bad_batch; more = take_row(fill, &mine, &row))
            fill->parts[mine].next = fill->parts[mine].end; /* as are all behind it */
        pthread_mutex_unlock(&fill->run.lock);
        if (!more)
            return;
        do_row(fill, row, frame, chunk);
    }
}

static void *work(void *arg)
{
    struct fill *fill = arg;
    void *frame = fill->params.lend ? NULL : malloc(fill->frame_bytes),
         *chunk = fill->bound ? malloc(fill->bound) : NULL;
    if ((frame || fill->params.lend) && (chunk || !fill->bound)) {
        do_rows(fill, frame, chunk);
    } else {
        const airy_status status = airy_fail(AIRY_ERR_MEMORY, "out of memory for frames in flight");
        pthread_mutex_lock(&fill->run.lock);
        airy_run_end(&fill->run, 0, status, true);
        pthread_mutex_unlock(&fill->run.lock);
    }
    free(frame);
    free(chunk);
    airy_messages_leave(&fill->run.messages);
    return NULL;
}

static airy_status check_stack(const airy_stack_info *from, const airy_stack_writer_params *to)
{
    AIRY_FAIL_IF(from->height != to->height || from->width != to->width, AIRY_ERR_SHAPE,
                 "airy_stack_writer_fill: frames of %zu x %zu, the writer's are %zu x %zu",
                 from->height, from->width, to->height, to->width);
    AIRY_FAIL_IF(from->dtype != to->dtype, AIRY_ERR_DTYPE,
                 "airy_stack_writer_fill: frames of %s, the writer's are of %s",
                 airy_dtype_name(from->dtype), airy_dtype_name(to->dtype));
    return AIRY_OK;
}

/* The frames that are chosen are there, and as many as the writer has. */
static airy_status check_frames(const struct fill *fill, const airy_stack_writer_params *to)
{
    const airy_stack_fill_params *p = &fill->params;
    const airy_stack_info *from = &fill->run.info;
    const size_t there = p->stack ? from->frames : SIZE_MAX, step = airy_max_size(p->step, 1);
    size_t span = 0, end = 0;
    if (p->stack)
        AIRY_TRY(check_stack(from, to));
    AIRY_FAIL_HINT_IF(airy_mul_size(&span, to->frames - 1, step) ||
                          airy_add_size(&end, p->first, span) || end >= there || p->last > there,
                      AIRY_ERR_PARAM, AIRY_HINT_FRAMES, AIRY_SUBJECT_PARAMETER,
                      "%s: %zu from %zu on by %zu, the source has %zu", "frames", to->frames,
                      p->first, step, there);
    const size_t last = p->last    ? p->last
                        : p->stack ? there
                                   : end + 1,
                 count = last > p->first ? (last - p->first - 1) / step + 1 : 0;
    AIRY_FAIL_ON_IF(count != to->frames, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s: %zu are chosen, the writer has %zu", "frames", count, to->frames);
    return AIRY_OK;
}

/* As many threads as the limit of memory lets work; what is left is for chunks that are kept. */
static airy_status bound_memory(struct fill *fill)
{
    const airy_stack_fill_params *p = &fill->params;
    const uint64_t own = (uint64_t)(p->lend ? 0 : fill->frame_bytes) + fill->bound +
                         fill->run.info.max_chunk,
                   each = p->make_bytes < UINT64_MAX - own ? own + p->make_bytes : UINT64_MAX;
    size_t threads = p->threads ? p->threads : airy_thread_limit();
    threads = airy_min_size(airy_min_size(threads, MOST_THREADS), fill->rows);
    if (p->memory_limit && each > p->memory_limit)
        return airy_about(AIRY_SUBJECT_PARAMETER, "memory_limit",
                          airy_fail(AIRY_ERR_MEMORY,
                                    "a frame in flight needs %llu bytes, the limit is %llu",
                                    (unsigned long long)each, (unsigned long long)p->memory_limit));
    if (p->memory_limit && each && threads > p->memory_limit / each)
        threads = (size_t)(p->memory_limit / each);
    fill->info->threads = (unsigned)threads;
    fill->info->host_bytes = each * threads;
    fill->keep_bytes = KEEP_BYTES;
    if (p->memory_limit && p->memory_limit - each * threads < KEEP_BYTES)
        fill->keep_bytes = p->memory_limit - each * threads;
    return AIRY_OK;
}

/* Rows by the files that they go to. */
static airy_status divide(struct fill *fill, size_t each)
{
    fill->part_rows = each && each < fill->rows ? each : fill->rows;
    fill->part_count = (fill->rows - 1) / fill->part_rows + 1;
    fill->info->files = fill->part_count;
    AIRY_TRY(airy_memory_calloc((void **)&fill->parts, fill->part_count, sizeof(*fill->parts),
                                "the files of a stack"));
    for (size_t i = 0; i < fill->part_count; i++) {
        struct part *part = &fill->parts[i];
        part->next = part->placed = i * fill->part_rows;
        part->end = airy_min_size(part->next + fill->part_rows, fill->rows);
    }
    return AIRY_OK;
}

static airy_status prepare(struct airy_run *run)
{
    struct fill *fill = run->job;
    const airy_stack_fill_params *p = &fill->params;
    const int sources = (p->stack != NULL) + (p->make != NULL) + (p->lend != NULL);
    AIRY_FAIL_IF(!fill->writer || sources != 1, AIRY_ERR_PARAM,
                 "airy_stack_writer_fill: no writer, or %d of stack, make and lend, expected one",
                 sources);
    const airy_stack_writer_params *to = airy_stack_writer_get_params(fill->writer);
    fill->rows = run->row_count = to->frames;
    fill->codec = to->codec;
    fill->frame_bytes = to->height * to->width * airy_dtype_size(to->dtype);
    fill->bound =
        to->codec.codec == AIRY_CODEC_NONE ? 0 : airy_encode_bound(fill->frame_bytes, &fill->codec);
    fill->profile = p->device ? airy_profile_of(p->device) : NULL;
    AIRY_TRY(check_frames(fill, to));
    AIRY_TRY(bound_memory(fill));
    if (p->period && p->period < fill->rows) /* without memory for it, all are encoded */
        fill->kept = calloc(p->period, sizeof(*fill->kept));
    return divide(fill, to->frames_per_file);
}

/* The calling thread only hands on messages, unless no other thread can be started. */
static airy_status do_work(struct airy_run *run)
{
    struct fill *fill = run->job;
    pthread_t threads[MOST_THREADS];
    unsigned started = 0;
    while (started < fill->info->threads &&
           pthread_create(&threads[started], NULL, work, fill) == 0)
        started++;
    if (started == 0)
        work(fill);
    fill->info->threads = started ? started : 1;
    airy_messages_serve(&run->messages, fill->info->threads);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    if (run->failed || run->bad_batch != SIZE_MAX)
        return airy_error_restore(&run->error);
    AIRY_FAIL_IF(run->out->frames < fill->rows, AIRY_ERR_CANCELLED,
                 "cancelled after %zu of %zu frames", run->out->frames, fill->rows);
    return AIRY_OK;
}

static void release(struct airy_run *run)
{
    struct fill *fill = run->job;
    for (size_t i = 0; fill->kept && i < fill->params.period; i++)
        free(fill->kept[i].chunk);
    free(fill->kept);
    free(fill->parts);
    pthread_cond_destroy(&fill->turn);
}

airy_status airy_stack_writer_fill(airy_stack_writer *writer, const airy_stack_fill_params *params,
                                   airy_stack_fill_info *info)
{
    airy_stack_fill_info local;
    airy_run_info out;
    AIRY_FAIL_IF(!params, AIRY_ERR_PARAM, "airy_stack_writer_fill: params is NULL");
    const airy_run_params books = {.first = params->first,
                                   .step = params->step,
                                   .skip_bad = params->skip_bad,
                                   .progress = params->progress,
                                   .message = params->message,
                                   .user = params->user};
    struct fill fill = {
        .run = {.stack = params->stack, .params = &books, .out = &out, .job = &fill},
        .writer = writer,
        .params = *params,
        .info = info ? info : &local,
        .turn = PTHREAD_COND_INITIALIZER};
    *fill.info = (airy_stack_fill_info){.frames = 0};
    const airy_status status =
        airy_run_do(&fill.run, "airy_stack_writer_fill", prepare, do_work, release);
    fill.info->frames = out.frames;
    fill.info->bad = out.bad;
    fill.info->first_bad = out.bad ? airy_run_frame(&books, out.first_bad) : 0;
    memcpy(fill.info->first_error, out.first_error, sizeof(out.first_error));
    fill.info->stored_bytes = out.stored_bytes;
    fill.info->seconds = out.seconds;
    return status;
}
