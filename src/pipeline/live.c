#include "airy/live.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/latency.h"
#include "base/memory.h"
#include "base/size.h"
#include "codec/framing.h"
#include "core/backend.h"
#include "integrate/integrator.h"
#include "pipeline/integrate_run.h"

/* Rows of a run whose number of frames is not known are below this. */
#define MOST_ROWS ((size_t)1 << 40)

enum {
    AHEAD = 1 << 20,     /* rows beyond the highest so far, of such a run */
    PIECE = 256 << 10,   /* bytes that stay in a core's cache */
    DEFAULT_WAIT = 2000, /* us */
};

/* What is known of a row: a bit of each. */
enum mark {
    CLAIMED, /* given, or lost, or resumed */
    EARLIER, /* resumed */
    GOOD,    /* in the file, as far as the run knows */
    SPOILED, /* to be bad whatever the file has; the row may not be claimed yet */
    MARKS
};

struct airy_live {
    struct airy_integrate_job job;
    struct integrate_hooks hooks;
    struct airy_feed feed;
    airy_run_params run_params;
    airy_run_info run_info;
    airy_live_params params;
    uint64_t start;
    /* With the run's lock: */
    uint64_t *marks[MARKS];     /* [mark_words] each */
    size_t mark_words, highest; /* highest: rows up to the highest claimed */
    size_t claims, spoils;      /* rows that are CLAIMED, SPOILED */
    uint64_t put, lost, refused;
    bool started, finished, ending; /* ending: no frame of the caller's is taken any more */

    /* One pattern at a time; of latency and first_ns, too, which have one writer. */
    pthread_mutex_t hand_on;
    atomic_uint_least64_t first_ns; /* latency of the first pattern; 0: none yet */
    struct airy_latency latency;
};

/* Hand a slot's patterns on. */
static void hand_on(void *user, const struct airy_slot *slot, const struct airy_pattern_row *rows,
                    size_t count)
{
    airy_live *live = user;
    pthread_mutex_lock(&live->hand_on);
    for (size_t i = 0; i < count; i++) {
        const struct airy_pattern_row *row = &rows[i];
        const bool good = row->stats.status == AIRY_FRAME_GOOD;
        const airy_status status = slot->fates[i].error.status;
        const airy_live_pattern pattern = {
            .number = slot->rows[i],
            .intensity = row->intensity,
            .std = row->std,
            .sem = row->sem,
            .stats = row->stats,
            .status = good                ? AIRY_OK
                      : status != AIRY_OK ? status
                                          : AIRY_ERR_CORRUPT,
            .message = row->message,
            .received_ns = slot->received[i],
        };
        if (live->params.pattern)
            live->params.pattern(live->params.user, &pattern);
        const int64_t took = (int64_t)airy_clock_ns() - slot->received[i];
        if (!good)
            continue;
        airy_latency_add(&live->latency, took > 0 ? (uint64_t)took : 0);
        if (atomic_load(&live->first_ns) == 0)
            atomic_store(&live->first_ns, took > 0 ? (uint64_t)took : 1);
    }
    pthread_mutex_unlock(&live->hand_on);
}

static airy_status check_live(const airy_live_params *p, airy_integrator *const *integrators,
                              size_t count)
{
    AIRY_FAIL_IF(!integrators || count == 0 || !integrators[0], AIRY_ERR_PARAM,
                 "airy_live_create: integrators is NULL");
    AIRY_FAIL_ON_IF((unsigned)p->dtype >= AIRY_DTYPE_COUNT, AIRY_ERR_DTYPE, AIRY_SUBJECT_PARAMETER,
                    "%s = %d, expected 0 to %d", "dtype", (int)p->dtype, AIRY_DTYPE_COUNT - 1);
    AIRY_FAIL_IF(p->run.group > 1, AIRY_ERR_UNSUPPORTED,
                 "run.group = %zu: a live run has one row for each frame; group those of the "
                 "finished stack by airy_integrate_stack",
                 p->run.group);
    AIRY_FAIL_IF(p->run.arrays || p->run.row, AIRY_ERR_UNSUPPORTED,
                 "run.arrays and run.row are for the rows of a stack; a live run writes a file and "
                 "calls params->pattern");
    AIRY_FAIL_IF(p->run.parts > 1, AIRY_ERR_UNSUPPORTED,
                 "run.parts = %zu: a live run is in one process; give it more integrators",
                 p->run.parts);
    AIRY_FAIL_IF(!p->frames && (p->run.monitor || p->run.grid[0] || p->run.grid[1] ||
                                p->run.carried_count || p->run.nxazint),
                 AIRY_ERR_UNSUPPORTED,
                 "monitor, grid, per-frame metadata and NXazint need the number of frames");
    AIRY_FAIL_ON_IF(p->frames > MOST_ROWS, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %llu, expected at most %zu", "frames", (unsigned long long)p->frames,
                    MOST_ROWS);
    AIRY_FAIL_ON_IF(!(p->wait >= 0 && p->wait <= 3600), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %g s, expected 0 to 3600", "wait", p->wait);
    return AIRY_OK;
}

/* What is to be fed, as a stack would describe itself. */
static airy_status describe_frames(airy_stack_info *info, const airy_live_params *p)
{
    size_t bytes;
    AIRY_FAIL_IF(airy_mul_size(&bytes, p->height, p->width) ||
                     airy_mul_size(&bytes, bytes, airy_dtype_size(p->dtype)) || bytes == 0,
                 AIRY_ERR_PARAM,
                 "frames of %zu x %zu pixels, expected 1 pixel at least and a size that fits",
                 p->height, p->width);
    *info = (airy_stack_info){
        .frames = p->frames ? (size_t)p->frames : MOST_ROWS,
        .height = p->height,
        .width = p->width,
        .dtype = p->dtype,
        .codec = p->codec,
        .path = AIRY_STACK_DIRECT,
        .max_chunk = bytes,
        .files = 1,
        .dataset = "the live run",
        .filters = airy_codec_name(p->codec.codec),
    };
    if (p->codec.codec == AIRY_CODEC_NONE)
        return AIRY_OK;
    if (!info->codec.elem_size)
        info->codec.elem_size = (uint32_t)airy_dtype_size(p->dtype);
    const size_t bound = airy_encode_bound(bytes, &info->codec);
    AIRY_FAIL_IF(!bound, AIRY_ERR_PARAM, "frames of %zu bytes do not fit the codec %s", bytes,
                 airy_codec_name(p->codec.codec));
    info->max_chunk = p->max_chunk ? airy_min_size(p->max_chunk, bound) : bound;
    return AIRY_OK;
}

/* Room for the marks of so many rows. The lock is held, or nobody else knows the run. */
static airy_status reserve_marks(airy_live *live, size_t rows)
{
    const size_t words = (rows + 63) / 64;
    if (words <= live->mark_words)
        return AIRY_OK;
    const size_t more = airy_max_size(words, 2 * live->mark_words);
    for (int m = 0; m < MARKS; m++) {
        uint64_t *grown = realloc(live->marks[m], more * sizeof(*grown));
        AIRY_FAIL_IF(!grown, AIRY_ERR_MEMORY, "cannot allocate %zu bytes for the numbers of frames",
                     more * sizeof(*grown));
        memset(grown + live->mark_words, 0, (more - live->mark_words) * sizeof(*grown));
        live->marks[m] = grown;
    }
    live->mark_words = more;
    return AIRY_OK;
}

static bool has_mark(const airy_live *live, enum mark mark, size_t row)
{
    return row / 64 < live->mark_words && (live->marks[mark][row / 64] >> row % 64 & 1);
}

/* The room is reserved. */
static void set_mark(airy_live *live, enum mark mark, size_t row)
{
    live->marks[mark][row / 64] |= (uint64_t)1 << row % 64;
}

/* The room is reserved, and the row is not claimed. */
static void claim(airy_live *live, size_t row)
{
    live->claims++;
    set_mark(live, CLAIMED, row);
    live->highest = airy_max_size(live->highest, row + 1);
}

/* Rows of an earlier run. */
static airy_status claim_resumed(airy_live *live)
{
    struct airy_run *run = &live->job.run;
    if (live->params.frames)
        AIRY_TRY(reserve_marks(live, run->total_rows));
    const size_t rows = live->job.growing ? airy_pattern_growing_rows(live->job.growing)
                        : live->job.file  ? run->total_rows
                                          : 0;
    AIRY_TRY(reserve_marks(live, rows));
    for (size_t row = 0; row < rows; row++)
        if (live->job.growing ? airy_pattern_growing_done(live->job.growing, row)
                              : airy_pattern_file_done(live->job.file, row)) {
            claim(live, row);
            set_mark(live, EARLIER, row);
            set_mark(live, GOOD, row);
            run->resumed++;
        }
    run->out->resumed = run->resumed;
    run->row_count = live->params.frames ? run->total_rows - run->resumed : 0;
    return AIRY_OK;
}

static void describe_spoiled(const airy_live *live, size_t row, char *text, size_t size)
{
    snprintf(text, size, "frame %zu: two images of this number came, with other pixels",
             airy_run_frame(&live->run_params, row));
}

/* A record of a frame but for its sentence. What a detector sent cannot be fetched again. */
static void describe_frame(const airy_live *live, size_t row, airy_error *error, airy_status status)
{
    error->status = status;
    error->subject = AIRY_SUBJECT_FRAME;
    error->hint = AIRY_HINT_NONE;
    snprintf(error->name, sizeof(error->name), "frame %zu", airy_run_frame(&live->run_params, row));
}

/* Frames that were spoiled before they were done. */
static void take_spoiled(void *user, struct airy_slot *slot)
{
    airy_live *live = user;
    pthread_mutex_lock(&live->job.run.lock);
    for (size_t i = 0; i < slot->frames && live->spoils; i++) {
        struct airy_frame_fate *fate = &slot->fates[i];
        if (fate->error.status != AIRY_OK || !has_mark(live, SPOILED, slot->rows[i]))
            continue;
        describe_frame(live, slot->rows[i], &fate->error, AIRY_ERR_CORRUPT);
        describe_spoiled(live, slot->rows[i], fate->error.text, sizeof(fate->error.text));
    }
    pthread_mutex_unlock(&live->job.run.lock);
}

/* Those that were spoiled meanwhile are due. */
static void note_written(void *user, const struct airy_slot *slot,
                         const struct airy_pattern_row *rows, size_t count)
{
    airy_live *live = user;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].stats.status != AIRY_FRAME_GOOD)
            continue;
        set_mark(live, GOOD, slot->rows[i]);
        live->feed.due += has_mark(live, SPOILED, slot->rows[i]);
    }
}

/* A bad row in place of what the file has, so that a later run makes it anew. */
static airy_status write_spoiled(const airy_live *live, size_t row)
{
    const size_t bins = live->job.integrators[0]->bins,
                 doubles = airy_max_size(3 * bins, AIRY_PATTERN_ROIS);
    double *none = NULL;
    float *gaps = NULL;
    char message[256];
    airy_status status;
    AIRY_TRY_OR(out, airy_memory_calloc((void **)&none, doubles, sizeof(*none), "a row"));
    AIRY_TRY_OR(out, airy_memory_calloc((void **)&gaps, bins, sizeof(*gaps), "a row"));
    for (size_t i = 0; i < bins; i++)
        gaps[i] = NAN;
    describe_spoiled(live, row, message, sizeof(message));
    const struct airy_pattern_row bad = {.intensity = gaps,
                                         .std = gaps,
                                         .sem = gaps,
                                         .signal = none,
                                         .variance = none,
                                         .norms = none,
                                         .roi_sum = none,
                                         .roi_mean = none,
                                         .message = message};
    status = live->job.growing ? airy_pattern_growing_write(live->job.growing, row, &bad, 1)
             : live->job.file  ? airy_pattern_file_write(live->job.file, row, &bad)
                               : AIRY_OK;
out:
    free(none);
    free(gaps);
    return status;
}

/* The first row that is due, which is not any more; false: there is none. */
static bool take_due(airy_live *live, size_t *row)
{
    bool found = false;
    pthread_mutex_lock(&live->job.run.lock);
    for (size_t w = 0; w < live->mark_words && live->feed.due && !found; w++) {
        const uint64_t due = live->marks[GOOD][w] & live->marks[SPOILED][w];
        found = due != 0;
        if (found) {
            *row = 64 * w + (size_t)__builtin_ctzll(due);
            live->marks[GOOD][w] &= ~(due & -due);
            live->feed.due--;
        }
    }
    pthread_mutex_unlock(&live->job.run.lock);
    return found;
}

/* Count a row as bad that was counted as good. One of an earlier run counts as one of this run. */
static void count_mended(airy_live *live, size_t row)
{
    struct airy_run *run = &live->job.run;
    char sentence[256];
    describe_spoiled(live, row, sentence, sizeof(sentence));
    pthread_mutex_lock(&run->lock);
    if (has_mark(live, EARLIER, row)) {
        run->out->resumed = --run->resumed;
        run->row_count += live->params.frames != 0;
        run->out->frames++;
        live->put++;
    }
    run->out->bad++;
    airy_run_note_bad(run->out, row, sentence);
    pthread_mutex_unlock(&run->lock);
    airy_message(&run->messages, AIRY_LOG_WARN, "%s; its row is bad now", sentence);
}

static airy_status mend_row(void *user)
{
    airy_live *live = user;
    size_t row;
    if (!take_due(live, &row))
        return AIRY_OK;
    const airy_status status = write_spoiled(live, row);
    if (status == AIRY_OK) {
        count_mended(live, row);
        return AIRY_OK;
    }
    pthread_mutex_lock(&live->job.run.lock); /* the run ends, and tries it again */
    set_mark(live, GOOD, row);
    live->feed.due++;
    pthread_mutex_unlock(&live->job.run.lock);
    return status;
}

/*
 * The threads have ended: rows that are still due, and where the run failed all that are spoiled,
 * for of a batch the file may have taken a part. The first error is returned.
 */
static airy_status mend_rest(airy_live *live, bool failed)
{
    airy_error first = {.status = AIRY_OK};
    for (size_t row = 0; row < live->highest && live->spoils; row++) {
        const bool wanted = has_mark(live, GOOD, row) || (failed && has_mark(live, CLAIMED, row));
        if (!wanted || !has_mark(live, SPOILED, row))
            continue;
        const airy_status written = write_spoiled(live, row);
        if (has_mark(live, GOOD, row))
            count_mended(live, row); /* in doubt it is bad */
        (void)airy_error_first(&first, written);
    }
    return first.status == AIRY_OK ? AIRY_OK : airy_error_restore(&first);
}

static airy_status open_live(airy_live *live)
{
    struct airy_run *run = &live->job.run;
    AIRY_TRY(airy_run_begin(run, "airy_live_create"));
    AIRY_TRY(airy_integrate_open(run));
    run->row_count = run->total_rows;
    if (live->job.path)
        AIRY_TRY(live->params.frames ? airy_integrate_file_open(&live->job, AIRY_RUN_ALONE)
                                     : airy_integrate_file_grow(&live->job));
    AIRY_TRY(airy_run_prepare(run));
    AIRY_TRY(claim_resumed(live));
    live->started = true;
    airy_run_start(run);
    return AIRY_OK;
}

/*
 * Return whether a lane has nothing to do, as one has whose back end works in the call that
 * submits.
 */
static bool is_idle(const struct airy_lane *lane)
{
    return lane->device->backend->in_place || lane->submitted == lane->done;
}

static bool is_ready(struct airy_lane *lane, struct airy_slot *slot, uint64_t *until)
{
    const struct airy_run *run = lane->run;
    if (!slot->closed) {
        const bool due = slot->due <= airy_clock_ns();
        slot->closed = slot->filled && (due || is_idle(lane));
        slot->closed = slot->closed || run->feed->closed || airy_run_ends(run);
        *until = slot->closed || due ? 0 : slot->due;
    }
    if (slot->closed && slot->filled == slot->frames)
        slot->state = AIRY_SLOT_FULL;
    return slot->state == AIRY_SLOT_FULL;
}

airy_status airy_live_create(airy_live **live, const char *path,
                             airy_integrator *const *integrators, size_t count,
                             const airy_live_params *params)
{
    AIRY_FAIL_IF(!live || !params, AIRY_ERR_PARAM, "airy_live_create: argument is NULL");
    AIRY_TRY(check_live(params, integrators, count));
    airy_stack_info info;
    AIRY_TRY(describe_frames(&info, params));
    airy_live *made;
    AIRY_TRY(airy_memory_calloc((void **)&made, 1, sizeof(*made), "a live run"));
    made->params = *params;
    made->run_params = params->run;
    made->run_params.last = 0;
    made->start = airy_clock_ns();
    made->feed = (struct airy_feed){
        .wait_ns = params->wait > 0 ? (uint64_t)(params->wait * 1e9) : DEFAULT_WAIT * 1000,
        .ready = is_ready,
        .mend = mend_row,
        .user = made,
    };
    made->hooks = (struct integrate_hooks){
        .taken = take_spoiled,
        .made = hand_on,
        .written = note_written,
        .user = made,
    };
    made->job = (struct airy_integrate_job){
        .run = {.feed = &made->feed,
                .info = info,
                .params = &made->run_params,
                .out = &made->run_info,
                .job = &made->job},
        .path = path,
        .integrators = (const airy_integrator *const *)integrators,
        .count = count,
        .hooks = &made->hooks,
    };
    pthread_mutex_init(&made->hand_on, NULL);
    const airy_status status = open_live(made);
    if (status != AIRY_OK) {
        airy_error error = {.status = AIRY_OK};
        (void)airy_error_first(&error, status);
        airy_live_destroy(&made);
        return airy_error_restore(&error);
    }
    *live = made;
    return AIRY_OK;
}

/* The slot of a lane that is being filled, or NULL. */
static struct airy_slot *open_slot_of(const struct airy_lane *lane)
{
    if (lane->started == lane->submitted)
        return NULL;
    struct airy_slot *slot = &lane->slots[(lane->started - 1) % lane->slot_count];
    return slot->state == AIRY_SLOT_FILLING && !slot->closed ? slot : NULL;
}

/* A lane's next slot begins a batch. */
static struct airy_slot *begin_slot(struct airy_lane *lane, uint64_t due)
{
    struct airy_run *run = lane->run;
    struct airy_slot *slot = airy_lane_take_slot(lane);
    airy_batch_clear(slot->batch);
    slot->number = run->next_batch++;
    slot->frames = slot->filled = 0;
    slot->closed = false;
    slot->due = due;
    return slot;
}

/*
 * Where the next frame goes: the device that has nothing to do, else a batch that is begun, else
 * the lane with the fewest batches. NULL: nowhere now.
 */
static struct airy_lane *choose_lane(struct airy_run *run)
{
    struct airy_lane *best = NULL;
    size_t best_rank = SIZE_MAX;
    for (size_t i = 0; i < run->team.lanes; i++) {
        struct airy_lane *lane = &run->lanes[i];
        const size_t under_way = lane->started - lane->written;
        const bool begun = open_slot_of(lane) != NULL;
        if (!begun && !airy_lane_has_room(lane))
            continue;
        /* Begun batches of idle devices, idle ones, begun batches, others. */
        const size_t rank = begun && under_way == 1 ? 0
                            : under_way == 0        ? 1
                            : begun                 ? 2
                                                    : 2 + under_way;
        if (rank < best_rank) {
            best = lane;
            best_rank = rank;
        }
    }
    return best;
}

/* A place taken in a slot. */
struct seat {
    struct airy_lane *lane;
    struct airy_slot *slot;
    size_t frame;
};

/* False: there is no room now. The lock is held. */
static bool take_seat(airy_live *live, struct seat *seat, size_t row, size_t size, uint64_t now)
{
    for (;;) {
        struct airy_lane *lane = choose_lane(&live->job.run);
        if (!lane)
            return false;
        struct airy_slot *slot = open_slot_of(lane);
        if (!slot)
            slot = begin_slot(lane, now + live->feed.wait_ns);
        size_t frame = 0;
        const bool added = airy_batch_append(slot->batch, size, &frame);
        if (added) {
            slot->frames = frame + 1;
            slot->sizes[frame] = size;
            slot->own_rows[frame] = row;
            slot->fates[frame].error.status = AIRY_OK;
            *seat = (struct seat){lane, slot, frame};
        }
        if (!added || slot->frames == live->job.run.plan.batch) {
            slot->closed = true; /* any frame fits into an empty one */
            pthread_cond_signal(&lane->full);
        }
        if (added)
            return true;
    }
}

/* What wants a seat. */
struct wish {
    uint64_t number;
    size_t size;       /* bytes in the slot */
    uint64_t deadline; /* airy_clock_ns; 0: none */
    bool own;          /* of the run itself, at its end */
};

/* Why no frame can be put any more. The lock is held. */
static airy_status check_open(const airy_live *live, const struct wish *wish)
{
    const struct airy_run *run = &live->job.run;
    if (run->failed || run->bad_batch != SIZE_MAX)
        return airy_error_restore(&run->error);
    AIRY_FAIL_IF(run->stopped, AIRY_ERR_CANCELLED, "the live run was cancelled");
    AIRY_FAIL_IF(live->feed.closed || (live->ending && !wish->own), AIRY_ERR_CANCELLED,
                 "the live run is being finished");
    return AIRY_OK;
}

static airy_status check_number(airy_live *live, uint64_t number)
{
    const size_t known = (size_t)live->params.frames;
    const uint64_t limit = known ? known : airy_min_size(live->highest + AHEAD, MOST_ROWS);
    AIRY_FAIL_IF(number >= limit, AIRY_ERR_PARAM, "frame number = %llu, expected below %llu",
                 (unsigned long long)number, (unsigned long long)limit);
    return reserve_marks(live, (size_t)number + 1);
}

/*
 * Claim the number and take a seat for it. *taken false with AIRY_OK: its row is done since an
 * earlier run.
 */
static airy_status admit(airy_live *live, struct seat *seat, const struct wish *wish)
{
    struct airy_run *run = &live->job.run;
    const uint64_t deadline = wish->deadline, number = wish->number;
    const struct timespec until = {.tv_sec = (time_t)(deadline / 1000000000),
                                   .tv_nsec = (long)(deadline % 1000000000)};
    for (;;) {
        AIRY_TRY(check_open(live, wish));
        AIRY_TRY(check_number(live, number));
        seat->lane = NULL;
        const size_t row = (size_t)number;
        if (has_mark(live, CLAIMED, row)) {
            AIRY_FAIL_IF(!has_mark(live, EARLIER, row), AIRY_ERR_PARAM,
                         "frame number = %llu was given before", (unsigned long long)number);
            return AIRY_OK;
        }
        const uint64_t now = airy_clock_ns();
        if (take_seat(live, seat, row, wish->size, now)) {
            claim(live, row);
            return AIRY_OK;
        }
        if (deadline && now >= deadline) {
            live->refused++;
            return airy_fail(AIRY_ERR_TIMED_OUT, "frame number = %llu: no room came free in time",
                             (unsigned long long)number);
        }
        if (deadline)
            pthread_cond_timedwait(&live->feed.room, &run->lock, &until);
        else
            pthread_cond_wait(&live->feed.room, &run->lock);
    }
}

/* The frame of a seat is there, or what it is bad for; the slot may go. */
static void leave_seat(airy_live *live, const struct seat *seat, airy_status status,
                       const char *message)
{
    struct airy_frame_fate *fate = &seat->slot->fates[seat->frame];
    fate->error.status = status;
    if (status != AIRY_OK) {
        describe_frame(live, seat->slot->own_rows[seat->frame], &fate->error, status);
        snprintf(fate->error.text, sizeof(fate->error.text), "%.255s", message);
        airy_batch_index_absent(seat->slot->batch, seat->frame);
    }
    pthread_mutex_lock(&live->job.run.lock);
    seat->slot->filled++;
    pthread_cond_signal(&seat->lane->full);
    pthread_mutex_unlock(&live->job.run.lock);
}

/* In pieces: the block lengths of each are read while it is in the core's own cache. */
static airy_status copy_chunk(const struct seat *seat, const uint8_t *bytes, size_t size)
{
    struct airy_chunk_walk walk;
    airy_batch *batch = seat->slot->batch;
    uint8_t *place = airy_batch_place(batch, seat->frame);
    size_t have = 0;
    do {
        const size_t piece = airy_min_size(size - have, PIECE);
        if (piece)
            memcpy(place + have, bytes + have, piece);
        if (have == 0)
            AIRY_TRY(airy_batch_index_begin(batch, seat->frame, size, &walk));
        have += piece;
        AIRY_TRY(airy_batch_index_on(batch, seat->frame, &walk, have));
    } while (have < size);
    return AIRY_OK;
}

/* A sound chunk in blocks of another size, and no room in the batch for its pixels. */
static airy_status decode_alone(const airy_live *live, const struct seat *seat,
                                const airy_live_frame *frame, size_t frame_bytes)
{
    void *pixels = malloc(frame_bytes);
    AIRY_FAIL_IF(!pixels, AIRY_ERR_MEMORY, "cannot allocate %zu bytes for a frame", frame_bytes);
    const airy_status status =
        airy_decode(pixels, frame_bytes, frame->bytes, frame->size, &live->job.run.info.codec);
    if (status == AIRY_OK) {
        airy_batch_index_absent(seat->slot->batch, seat->frame);
        seat->slot->fates[seat->frame].pixels = pixels;
    } else {
        free(pixels);
    }
    return status;
}

static airy_status copy_frame(const airy_live *live, const struct seat *seat,
                              const airy_live_frame *frame)
{
    const airy_stack_info *info = &live->job.run.info;
    const size_t frame_bytes = info->height * info->width * airy_dtype_size(info->dtype);
    if (frame->encoded && info->codec.codec != AIRY_CODEC_NONE) {
        AIRY_FAIL_IF(frame->size > info->max_chunk, AIRY_ERR_CORRUPT,
                     "%zu bytes, expected at most %zu", frame->size, info->max_chunk);
        const airy_status status = copy_chunk(seat, frame->bytes, frame->size);
        return status == AIRY_ERR_MEMORY ? decode_alone(live, seat, frame, frame_bytes) : status;
    }
    AIRY_FAIL_IF(frame->size != frame_bytes, AIRY_ERR_CORRUPT, "%zu bytes, expected %zu",
                 frame->size, frame_bytes);
    memcpy(airy_batch_place(seat->slot->batch, seat->frame), frame->bytes, frame->size);
    airy_batch_index_stored(seat->slot->batch, seat->frame);
    return AIRY_OK;
}

/* Bytes that a frame takes in its slot: none where they are too many, or too few. */
static size_t room_for(const airy_live *live, const airy_live_frame *frame)
{
    const airy_stack_info *info = &live->job.run.info;
    const size_t frame_bytes = info->height * info->width * airy_dtype_size(info->dtype);
    if (frame->encoded && info->codec.codec != AIRY_CODEC_NONE)
        return frame->size <= info->max_chunk ? frame->size : 0;
    return frame->size == frame_bytes ? frame->size : 0;
}

/* airy_clock_ns; a century is as good as for ever: 0. */
static uint64_t deadline_in(uint64_t now, double timeout)
{
    return timeout < 3e9 ? now + (uint64_t)(timeout * 1e9) : 0;
}

airy_status airy_live_put(airy_live *live, const airy_live_frame *frame, double timeout)
{
    AIRY_FAIL_IF(!live || !frame || (!frame->bytes && frame->size), AIRY_ERR_PARAM,
                 "airy_live_put: argument is NULL");
    AIRY_FAIL_ON_IF(!(timeout >= 0), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %g s, expected 0 or more", "timeout", timeout);
    const uint64_t now = airy_clock_ns();
    const struct wish wish = {
        .number = frame->number,
        .size = room_for(live, frame),
        .deadline = deadline_in(now, timeout),
    };
    struct seat seat;
    pthread_mutex_lock(&live->job.run.lock);
    const airy_status status = admit(live, &seat, &wish);
    if (status == AIRY_OK && seat.lane) {
        live->put++;
        seat.slot->received[seat.frame] = frame->received_ns ? frame->received_ns : (int64_t)now;
    }
    pthread_mutex_unlock(&live->job.run.lock);
    if (status != AIRY_OK || !seat.lane)
        return status;
    char message[256] = "";
    const airy_status copied = copy_frame(live, &seat, frame);
    if (copied != AIRY_OK)
        snprintf(message, sizeof(message), "frame %zu: %.200s",
                 airy_run_frame(&live->run_params, (size_t)frame->number), airy_last_error());
    leave_seat(live, &seat, copied, message);
    return AIRY_OK;
}

static airy_status lose(airy_live *live, const struct wish *wish, const char *message)
{
    struct seat seat;
    pthread_mutex_lock(&live->job.run.lock);
    const airy_status status = admit(live, &seat, wish);
    if (status == AIRY_OK && seat.lane) {
        live->lost++;
        seat.slot->received[seat.frame] = (int64_t)airy_clock_ns();
    }
    pthread_mutex_unlock(&live->job.run.lock);
    if (status == AIRY_OK && seat.lane)
        leave_seat(live, &seat, AIRY_ERR_NOT_FOUND, message);
    return status;
}

airy_status airy_live_lose(airy_live *live, uint64_t number, const char *message, double timeout)
{
    AIRY_FAIL_IF(!live, AIRY_ERR_PARAM, "airy_live_lose: argument is NULL");
    AIRY_FAIL_ON_IF(!(timeout >= 0), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %g s, expected 0 or more", "timeout", timeout);
    const struct wish wish = {.number = number, .deadline = deadline_in(airy_clock_ns(), timeout)};
    return lose(live, &wish, message && *message ? message : "never came");
}

airy_status airy_live_spoil(airy_live *live, uint64_t number)
{
    AIRY_FAIL_IF(!live, AIRY_ERR_PARAM, "airy_live_spoil: argument is NULL");
    const size_t row = (size_t)number;
    pthread_mutex_lock(&live->job.run.lock);
    const airy_status status = live->finished
                                   ? airy_fail(AIRY_ERR_CANCELLED, "the live run is being finished")
                                   : check_number(live, number);
    if (status == AIRY_OK && !has_mark(live, SPOILED, row)) {
        set_mark(live, SPOILED, row);
        live->spoils++;
        if (has_mark(live, GOOD, row)) {
            live->feed.due++;
            airy_run_wake(&live->job.run);
        }
    }
    pthread_mutex_unlock(&live->job.run.lock);
    return status;
}

/* Rows that the run has, or has so far. */
static size_t rows_to_come(const airy_live *live)
{
    return live->params.frames ? (size_t)live->params.frames : live->highest;
}

void airy_live_get_info(airy_live *live, airy_live_info *info)
{
    if (!live || !info)
        return;
    struct airy_run *run = &live->job.run;
    *info = (airy_live_info){
        .seconds = (double)(airy_clock_ns() - live->start) * 1e-9,
        .p50 = (double)airy_latency_quantile(&live->latency, 0.5) * 1e-9,
        .p99 = (double)airy_latency_quantile(&live->latency, 0.99) * 1e-9,
        .max = (double)airy_latency_quantile(&live->latency, 1) * 1e-9,
        .first = (double)atomic_load(&live->first_ns) * 1e-9,
        .host_bytes = run->plan.host_bytes,
        .device_bytes = run->plan.device_bytes,
        .batch = run->plan.batch,
        .slots = run->plan.slots,
    };
    pthread_mutex_lock(&run->lock);
    info->put = live->put;
    info->lost = live->lost;
    info->refused = live->refused;
    info->resumed = run->resumed;
    info->done = run->out->frames - live->feed.lost;
    info->bad = run->out->bad - live->feed.lost;
    info->missing = rows_to_come(live) - live->claims;
    info->stored_bytes = run->out->stored_bytes;
    info->empty = run->out->empty;
    info->first_empty = run->out->first_empty;
    memcpy(info->first_error, run->out->first_error, sizeof(info->first_error));
    pthread_mutex_unlock(&run->lock);
}

/*
 * No frame is taken any more; those under way are finished. Spoiled rows are made bad also where
 * the run has failed, whose error it is then.
 */
static airy_status end_feed(airy_live *live)
{
    struct airy_run *run = &live->job.run;
    airy_error error = {.status = AIRY_OK};
    pthread_mutex_lock(&run->lock);
    live->feed.closed = true;
    run->batches = run->next_batch;
    airy_run_wake(run);
    pthread_mutex_unlock(&run->lock);
    const airy_status status = airy_run_join(run);
    if (status == AIRY_OK)
        return mend_rest(live, false);
    (void)airy_error_first(&error, status);
    (void)mend_rest(live, true);
    return airy_error_restore(&error);
}

/* Rows that never came, up to the end or the highest that did. */
static size_t missing_rows(airy_live *live, size_t *first)
{
    const size_t missing = rows_to_come(live) - live->claims;
    for (*first = 0; missing && has_mark(live, CLAIMED, *first); ++*first)
        ;
    return missing;
}

static airy_status lose_missing(airy_live *live)
{
    const size_t rows = rows_to_come(live);
    for (size_t row = 0; row < rows; row++) {
        const struct wish wish = {.number = row, .own = true};
        if (!has_mark(live, CLAIMED, row))
            AIRY_TRY(lose(live, &wish, "never came"));
    }
    return AIRY_OK;
}

/* Whether what came is what was to come. */
static airy_status check_whole(airy_live *live)
{
    const struct airy_run *run = &live->job.run;
    size_t first = 0;
    const size_t missing = missing_rows(live, &first);
    AIRY_FAIL_IF(live->highest == 0, AIRY_ERR_INCOMPLETE, "no frame came");
    AIRY_FAIL_IF(missing, AIRY_ERR_INCOMPLETE, "%zu frames never came, the first is number %zu",
                 missing, first);
    AIRY_FAIL_IF(!live->params.run.skip_bad && run->out->bad, AIRY_ERR_CORRUPT,
                 "%zu bad frames, the first: %s", run->out->bad, run->out->first_error);
    return AIRY_OK;
}

/* Frames of the caller's are not taken any more; who waits for room is told. */
static void begin_end(airy_live *live)
{
    pthread_mutex_lock(&live->job.run.lock);
    live->finished = live->ending = true;
    airy_run_wake(&live->job.run);
    pthread_mutex_unlock(&live->job.run.lock);
}

static airy_status finish_live(airy_live *live)
{
    begin_end(live);
    const bool fill = live->params.run.skip_bad && live->highest;
    const airy_status lost = fill ? lose_missing(live) : AIRY_OK;
    AIRY_TRY(end_feed(live)); /* a failed run says why by itself */
    AIRY_TRY(lost);
    AIRY_FAIL_IF(live->job.run.stopped, AIRY_ERR_CANCELLED, "cancelled after %zu frames",
                 live->job.run.resumed + live->job.run.out->frames);
    AIRY_FAIL_IF(live->spoils, AIRY_ERR_CORRUPT, "%zu rows are of two frames each", live->spoils);
    AIRY_TRY(check_whole(live));
    return live->job.file || live->job.growing ? airy_integrate_file_finish(&live->job) : AIRY_OK;
}

airy_status airy_live_cancel(airy_live *live, airy_live_info *info)
{
    AIRY_FAIL_IF(!live, AIRY_ERR_PARAM, "airy_live_cancel: argument is NULL");
    AIRY_FAIL_IF(live->finished, AIRY_ERR_PARAM, "the live run was finished before");
    begin_end(live);
    const airy_status status = end_feed(live);
    airy_live_get_info(live, info);
    return status;
}

airy_status airy_live_finish(airy_live *live, airy_live_info *info)
{
    AIRY_FAIL_IF(!live, AIRY_ERR_PARAM, "airy_live_finish: argument is NULL");
    AIRY_FAIL_IF(live->finished, AIRY_ERR_PARAM, "the live run was finished before");
    const airy_status status = finish_live(live);
    airy_live_get_info(live, info);
    return status;
}

void airy_live_destroy(airy_live **live)
{
    if (!live || !*live)
        return;
    airy_live *dead = *live;
    *live = NULL;
    if (!dead->finished && dead->started)
        (void)end_feed(dead);
    airy_run_close(&dead->job.run);
    airy_integrate_close(&dead->job.run);
    for (int m = 0; m < MARKS; m++)
        free(dead->marks[m]);
    pthread_mutex_destroy(&dead->hand_on);
    free(dead);
}
