/*
 * A slot goes round: free -> (taken, filled) -> given -> in flight -> done -> (held) -> free. Three
 * rings of slot numbers hand it on, each written by one thread and read by one, without locks; what
 * a slot contains belongs to whoever has taken its number out of a ring and not put it into the
 * next.
 *
 * Submitting and looking for what is done is one thread's work: no wake-up lies between the two, and
 * the driver is called by one thread at a time. It is not the giver's, because calls of a driver
 * take 1 to 20 us each and wait where its own queues are full.
 */
#include "airy/oct_stream.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/latency.h"
#include "base/memory.h"
#include "base/notice.h"
#include "base/numa.h"
#include "base/size.h"
#include "core/backend.h"
#include "oct/oct_fns.h"

enum {
    SLOTS = AIRY_OCT_STREAM_SLOTS, /* a power of two */
    LANES = 3,
    SMALL_LANES = 2,
    FEW_SLOTS = 4,
    MANY_SLOTS = 16,
    SMALL_BYTES = 1 << 20,  /* raw and result together */
    SPIN_NS = 50000,        /* before the thread sleeps for a buffer, a default */
    LOOK_NS = 20000,        /* before a thread sleeps for a result */
    LOOK_SMALL_NS = 200000, /* the same while a GPU has small buffers, 20 to 150 us each */
    FLIGHT_SPIN_GPU_NS = 2000000 /* before the thread naps while a GPU works */,
    NAP_NS = 50000
};

/* Numbers of slots on their way from one thread to another; never full, as it has room for all. */
struct slot_ring {
    _Alignas(64) atomic_uint head; /* of numbers taken out */
    _Alignas(64) atomic_uint tail; /* put in */
    uint8_t slots[SLOTS];
};

struct stream_slot {
    airy_host *raw, *result;
    const void *from;      /* raw, or what was lent */
    airy_array *src, *dst; /* shared: over raw and result */
    airy_array *copied;    /* what was lent, on the device; NULL: src is */
    airy_event *done;
    size_t lane;
    uint64_t first_frame, given_ns, latency_ns;
    size_t frames;
    airy_status status;
    char message[256];
    bool held; /* of the thread that asks for results */
};

struct airy_oct_stream {
    const airy_oct *oct;
    airy_device *device;
    bool in_place;
    /*
     * Kernels work in the host's memory: in place, and with small buffers where a GPU can. Each copy
     * of a frame of 60 lines takes 5 us for its bytes, and as much to begin and to be noticed.
     */
    bool shared;
    airy_oct_stream_info sizes; /* counters 0 */
    uint64_t spin_ns, flight_spin_ns, look_ns;
    /*
     * In-order queues; a buffer's copies and computation go through one, and run beside those of the
     * others' buffers. No queue waits for another one: with a queue for each of the three steps, of
     * 4,096 lines of 2,048 samples an H200 took 0.90 of what the link takes, so 0.98. Small
     * buffers get two: a third one brings nothing.
     */
    airy_queue *lanes[LANES];
    size_t lane_count;
    struct stream_slot slots[SLOTS];

    struct slot_ring free, given, done;
    struct airy_notice freed_notice, given_notice, done_notice;

    /* The giver's. */
    struct stream_slot *filling;
    uint64_t next_frame;
    bool ended;

    /* The stream's thread's: slots in flight, oldest first. */
    uint8_t flight[SLOTS];
    size_t flight_head, flight_count, next_lane;
    pthread_t thread;
    bool has_thread;

    _Alignas(64) atomic_bool stop, end;
    atomic_uint_least64_t in, out, dropped, failed;
    struct airy_latency latency;
};

static void put(struct slot_ring *ring, size_t slot)
{
    const unsigned tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    ring->slots[tail % SLOTS] = (uint8_t)slot;
    atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
}

static bool is_empty(struct slot_ring *ring)
{
    return atomic_load_explicit(&ring->head, memory_order_relaxed) ==
           atomic_load_explicit(&ring->tail, memory_order_acquire);
}

/* Only the ring's reader; NULL: empty. */
static struct stream_slot *get(airy_oct_stream *stream, struct slot_ring *ring)
{
    if (is_empty(ring))
        return NULL;
    const unsigned head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    const size_t slot = ring->slots[head % SLOTS];
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
    return &stream->slots[slot];
}

static size_t number_of(const airy_oct_stream *stream, const struct stream_slot *slot)
{
    return (size_t)(slot - stream->slots);
}

/* ---- the stream's thread ---- */

static size_t result_bytes(const airy_oct_stream *stream, size_t frames)
{
    const airy_oct_info *info = &stream->oct->info;
    return frames / info->frames_per_result * info->result_bytes;
}

static bool is_lent(const struct stream_slot *slot)
{
    return slot->from != airy_host_data(slot->raw);
}

static airy_status enqueue(const airy_oct_stream *stream, const struct stream_slot *slot,
                           airy_array *dst, airy_array *src)
{
    airy_queue *lane = stream->lanes[slot->lane];
    const airy_oct_run run = {.first_frame = slot->first_frame};
    if (stream->in_place) {
        AIRY_TRY(airy_oct_process(lane, stream->oct, dst, src, &run));
        return airy_queue_finish(lane);
    }
    if (!stream->shared || is_lent(slot))
        AIRY_TRY(airy_array_push(lane, src, slot->from, airy_array_size(src)));
    AIRY_TRY(airy_oct_process(lane, stream->oct, dst, src, &run));
    if (!stream->shared)
        AIRY_TRY(airy_array_pull(lane, airy_host_data(slot->result), airy_array_size(dst), dst));
    return airy_event_record(slot->done, lane);
}

/* What is lent is none of the stream's memory, and copied where kernels read that. */
static airy_array *source_of(const struct stream_slot *slot)
{
    return slot->copied && is_lent(slot) ? slot->copied : slot->src;
}

/* Views of fewer frames than the slot has room for. */
static airy_status enqueue_part(const airy_oct_stream *stream, const struct stream_slot *slot)
{
    const size_t start[AIRY_MAX_DIMS] = {0};
    size_t src_shape[AIRY_MAX_DIMS], dst_shape[AIRY_MAX_DIMS];
    airy_array *src = NULL, *dst = NULL;
    airy_status status;
    memcpy(src_shape, slot->src->shape, sizeof(src_shape));
    memcpy(dst_shape, slot->dst->shape, sizeof(dst_shape));
    src_shape[0] = slot->frames;
    dst_shape[0] = slot->frames / stream->oct->info.frames_per_result;
    AIRY_TRY_OR(out, airy_array_view(&src, source_of(slot), start, src_shape));
    AIRY_TRY_OR(out, airy_array_view(&dst, slot->dst, start, dst_shape));
    status = enqueue(stream, slot, dst, src);
out:
    airy_array_destroy(&src);
    airy_array_destroy(&dst);
    return status;
}

static void keep_error(struct stream_slot *slot, airy_status status)
{
    slot->status = status;
    if (status != AIRY_OK)
        snprintf(slot->message, sizeof(slot->message), "%s", airy_last_error());
}

static void submit(airy_oct_stream *stream, struct stream_slot *slot)
{
    /* A frame alone goes where the last one went: to change queues takes a GPU microseconds. */
    if (stream->flight_count == 0)
        stream->next_lane = 0;
    slot->lane = stream->next_lane++ % stream->lane_count;
    slot->message[0] = '\0';
    const airy_status status = slot->frames == stream->sizes.frames
                                   ? enqueue(stream, slot, slot->dst, source_of(slot))
                                   : enqueue_part(stream, slot);
    keep_error(slot, status);
    /* What was enqueued before the failure still uses the buffers. */
    if (status != AIRY_OK && !stream->in_place)
        (void)airy_queue_finish(stream->lanes[slot->lane]);
    stream->flight[(stream->flight_head + stream->flight_count++) % SLOTS] =
        (uint8_t)number_of(stream, slot);
}

/* True: the oldest slot in flight is done, and handed over. */
static bool land(airy_oct_stream *stream)
{
    if (stream->flight_count == 0)
        return false;
    struct stream_slot *slot = &stream->slots[stream->flight[stream->flight_head]];
    if (slot->status == AIRY_OK && !stream->in_place) {
        bool done = false;
        const airy_status status = airy_event_is_done(slot->done, &done);
        if (status == AIRY_OK && !done)
            return false;
        keep_error(slot, status);
    }
    stream->flight_head = (stream->flight_head + 1) % SLOTS;
    stream->flight_count--;
    slot->latency_ns = airy_clock_ns() - slot->given_ns;
    airy_latency_add(&stream->latency, slot->latency_ns);
    atomic_fetch_add_explicit(slot->status == AIRY_OK ? &stream->out : &stream->failed,
                              slot->frames, memory_order_relaxed);
    put(&stream->done, number_of(stream, slot));
    airy_notice_post(&stream->done_notice);
    return true;
}

/* Nothing happened since `since`: look again at once, after a nap, or when a buffer is given. */
static void pause_thread(airy_oct_stream *stream, uint64_t since, unsigned seen)
{
    const uint64_t waited = airy_clock_ns() - since;
    if (stream->flight_count > 0) {
        if (waited < stream->flight_spin_ns)
            airy_relax();
        else
            (void)airy_notice_wait(&stream->given_notice, seen, airy_notice_deadline(NAP_NS));
        return;
    }
    if (waited < stream->spin_ns)
        airy_relax();
    else
        (void)airy_notice_wait(&stream->given_notice, seen, UINT64_MAX);
}

static void *run_thread(void *arg)
{
    airy_oct_stream *stream = arg;
    airy_numa_bind(stream->device->node);
    uint64_t since = airy_clock_ns();
    for (;;) {
        const unsigned seen = airy_notice_seen(&stream->given_notice);
        if (atomic_load_explicit(&stream->stop, memory_order_acquire))
            break;
        struct stream_slot *slot = get(stream, &stream->given);
        if (slot)
            submit(stream, slot);
        if (land(stream) || slot)
            since = airy_clock_ns();
        else
            pause_thread(stream, since, seen);
    }
    for (size_t i = 0; i < stream->lane_count; i++)
        (void)airy_queue_finish(stream->lanes[i]);
    return NULL;
}

/* ---- making and ending it ---- */

static bool is_small(const airy_oct_stream *stream)
{
    return stream->sizes.raw_bytes + stream->sizes.result_bytes < SMALL_BYTES;
}

static airy_status open_lanes(airy_oct_stream *stream)
{
    const size_t lanes = stream->in_place   ? 1
                         : is_small(stream) ? SMALL_LANES
                                            : airy_min_size(LANES, stream->sizes.slots);
    for (; stream->lane_count < lanes; stream->lane_count++) {
        AIRY_TRY(airy_queue_create(&stream->lanes[stream->lane_count], stream->device));
        stream->lanes[stream->lane_count]->keeps_events = stream->shared;
    }
    return AIRY_OK;
}

/* An array of its own, or over memory of the host. */
static airy_status open_array(const airy_oct_stream *stream, airy_array **array, airy_host *host,
                              airy_dtype dtype, int ndim, const size_t *shape)
{
    if (!host)
        return airy_array_create_uninitialized(array, stream->device, dtype, ndim, shape);
    airy_array *bytes = NULL;
    AIRY_TRY(airy_array_over_host(&bytes, host));
    const airy_status status = airy_array_view_as(array, bytes, 0, dtype, ndim, shape);
    airy_array_destroy(&bytes);
    return status;
}

static airy_status open_host(const airy_oct_stream *stream, airy_host **host, size_t size)
{
    return stream->shared && !stream->in_place ? airy_host_create_shared(host, stream->device, size)
                                               : airy_host_create(host, stream->device, size);
}

static airy_status open_slot(const airy_oct_stream *stream, struct stream_slot *slot)
{
    const airy_oct_params *p = &stream->oct->p;
    const airy_oct_info *info = &stream->oct->info;
    const bool packed = p->packing != AIRY_OCT_PACKING_NONE;
    const size_t frames = stream->sizes.frames;
    const size_t src_shape[3] = {frames, p->lines, packed ? info->line_bytes : p->samples};
    const size_t dst_shape[4] = {frames / info->frames_per_result, info->out_lines, info->depth, 2};
    AIRY_TRY(open_host(stream, &slot->raw, stream->sizes.raw_bytes));
    AIRY_TRY(open_host(stream, &slot->result, stream->sizes.result_bytes));
    slot->from = airy_host_data(slot->raw);
    memset(airy_host_data(slot->raw), 0, stream->sizes.raw_bytes);
    memset(airy_host_data(slot->result), 0, stream->sizes.result_bytes);
    const airy_dtype dtype = packed ? AIRY_DTYPE_U8 : p->dtype;
    AIRY_TRY(
        open_array(stream, &slot->src, stream->shared ? slot->raw : NULL, dtype, 3, src_shape));
    if (stream->shared && !stream->in_place)
        AIRY_TRY(open_array(stream, &slot->copied, NULL, dtype, 3, src_shape));
    AIRY_TRY(open_array(stream, &slot->dst, stream->shared ? slot->result : NULL, p->to,
                        p->output == AIRY_OCT_COMPLEX ? 4 : 3, dst_shape));
    return airy_event_create(&slot->done, stream->device);
}

static void close_slot(struct stream_slot *slot)
{
    airy_event_destroy(&slot->done);
    airy_array_destroy(&slot->src);
    airy_array_destroy(&slot->copied);
    airy_array_destroy(&slot->dst);
    airy_host_destroy(&slot->raw);
    airy_host_destroy(&slot->result);
}

static airy_status open_slots(airy_oct_stream *stream)
{
    struct airy_numa_policy before;
    airy_status status = AIRY_OK;
    airy_numa_prefer(stream->device->node, &before);
    for (size_t i = 0; i < stream->sizes.slots && status == AIRY_OK; i++) {
        status = open_slot(stream, &stream->slots[i]);
        put(&stream->free, i);
    }
    airy_numa_restore(&before);
    return status;
}

/*
 * Buffers of zeros go through every lane: a full one and, as kernels depend on how much there is to
 * do, parts of it.
 */
static airy_status rehearse(airy_oct_stream *stream)
{
    const size_t least = stream->oct->info.frames_per_result;
    for (size_t i = 0; i < stream->lane_count; i++) {
        struct stream_slot *slot = &stream->slots[i];
        slot->lane = i;
        slot->frames = stream->sizes.frames;
        AIRY_TRY(enqueue(stream, slot, slot->dst, slot->src));
        while (slot->frames > least) {
            slot->frames = slot->frames / least / 2 * least;
            AIRY_TRY(enqueue_part(stream, slot));
        }
        AIRY_TRY(airy_queue_finish(stream->lanes[i]));
    }
    return AIRY_OK;
}

/* Signals stay with the threads of the program that handles them. */
static airy_status start_thread(airy_oct_stream *stream)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&stream->thread, NULL, run_thread, stream);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    AIRY_FAIL_HINT_IF(failed, AIRY_ERR_MEMORY, airy_hint_of_errno(failed), AIRY_SUBJECT_NONE,
                      "cannot start the stream's thread: %s", strerror(failed));
    stream->has_thread = true;
    return AIRY_OK;
}

static airy_status plan_sizes(airy_oct_stream *stream, const airy_oct_stream_params *params)
{
    const airy_oct_info *info = &stream->oct->info;
    airy_oct_stream_info *sizes = &stream->sizes;
    const size_t least = info->frames_per_result;
    sizes->frames = params->frames ? params->frames : least;
    AIRY_FAIL_IF(sizes->frames % least != 0, AIRY_ERR_PARAM,
                 "stream frames = %zu, expected a multiple of the %zu frames of a result",
                 sizes->frames, least);
    AIRY_FAIL_IF(
        airy_mul_size(&sizes->raw_bytes, sizes->frames, info->frame_bytes) ||
            airy_mul_size(&sizes->result_bytes, sizes->frames / least, info->result_bytes) ||
            sizes->raw_bytes > SIZE_MAX / (4 * SLOTS) ||
            sizes->result_bytes > SIZE_MAX / (4 * SLOTS),
        AIRY_ERR_MEMORY, "stream frames = %zu of %zu bytes are more than memory has", sizes->frames,
        info->frame_bytes);
    AIRY_FAIL_IF(params->slots == 1 || params->slots > SLOTS, AIRY_ERR_PARAM,
                 "stream slots = %zu, expected 2 to %d", params->slots, (int)SLOTS);
    sizes->slots = params->slots ? params->slots : is_small(stream) ? MANY_SLOTS : FEW_SLOTS;
    stream->shared = stream->in_place || (stream->device->shares_host && is_small(stream));
    sizes->memory = (uint64_t)sizes->slots * (sizes->raw_bytes * (stream->in_place ? 1 : 2) +
                                              sizes->result_bytes * (stream->shared ? 1 : 2));
    return AIRY_OK;
}

airy_status airy_oct_stream_create(airy_oct_stream **stream, const airy_oct *oct,
                                   const airy_oct_stream_params *params)
{
    static const airy_oct_stream_params defaults = {0};
    void *block;
    airy_status status;
    AIRY_FAIL_IF(!stream || !oct, AIRY_ERR_PARAM, "airy_oct_stream_create: argument is NULL");
    params = params ? params : &defaults;
    AIRY_TRY(airy_memory_alloc(&block, sizeof(airy_oct_stream)));
    airy_oct_stream *s = memset(block, 0, sizeof(airy_oct_stream));
    s->oct = oct;
    s->device = oct->device;
    s->in_place = oct->device->backend->in_place;
    s->spin_ns = params->spin_ns ? params->spin_ns : SPIN_NS;
    s->flight_spin_ns = s->device->info.gpu ? FLIGHT_SPIN_GPU_NS : s->spin_ns;
    AIRY_TRY_OR(out, plan_sizes(s, params));
    s->look_ns = s->device->info.gpu && is_small(s) ? LOOK_SMALL_NS : LOOK_NS;
    AIRY_TRY_OR(out, open_lanes(s));
    AIRY_TRY_OR(out, open_slots(s));
    airy_profile_pause();
    status = rehearse(s);
    airy_profile_resume();
    AIRY_TRY_OR(out, status);
    AIRY_TRY_OR(out, start_thread(s));
    *stream = s;
    return AIRY_OK;
out:
    airy_oct_stream_destroy(&s);
    return status;
}

void airy_oct_stream_destroy(airy_oct_stream **stream)
{
    if (!stream || !*stream)
        return;
    airy_oct_stream *s = *stream;
    if (s->has_thread) {
        atomic_store_explicit(&s->stop, true, memory_order_release);
        airy_notice_post(&s->given_notice);
        pthread_join(s->thread, NULL);
    }
    for (size_t i = 0; i < LANES; i++)
        airy_queue_destroy(&s->lanes[i]);
    for (size_t i = 0; i < s->sizes.slots; i++)
        close_slot(&s->slots[i]);
    airy_memory_release(s);
    *stream = NULL;
}

/* ---- the giver's side ---- */

airy_status airy_oct_stream_take(airy_oct_stream *stream, void **buffer)
{
    AIRY_FAIL_IF(!stream || !buffer, AIRY_ERR_PARAM, "airy_oct_stream_take: argument is NULL");
    AIRY_FAIL_IF(stream->ended, AIRY_ERR_PARAM, "airy_oct_stream_take after the stream's end");
    if (!stream->filling)
        stream->filling = get(stream, &stream->free);
    *buffer = stream->filling ? airy_host_data(stream->filling->raw) : NULL;
    return AIRY_OK;
}

airy_status airy_oct_stream_take_wait(airy_oct_stream *stream, void **buffer, uint64_t timeout_ns)
{
    const uint64_t deadline = airy_notice_deadline(timeout_ns);
    AIRY_FAIL_IF(!stream, AIRY_ERR_PARAM, "airy_oct_stream_take_wait: stream is NULL");
    for (;;) {
        const unsigned seen = airy_notice_seen(&stream->freed_notice);
        AIRY_TRY(airy_oct_stream_take(stream, buffer));
        if (*buffer || !airy_notice_wait(&stream->freed_notice, seen, deadline))
            return AIRY_OK;
    }
}

static airy_status check_frames(const airy_oct_stream *stream, size_t frames)
{
    const size_t least = stream->oct->info.frames_per_result;
    AIRY_FAIL_ON_IF(frames == 0 || frames > stream->sizes.frames || frames % least != 0,
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, expected a multiple of %zu, at most %zu", "frames", frames, least,
                    stream->sizes.frames);
    return AIRY_OK;
}

/* The slot that take gave. */
static void give_slot(airy_oct_stream *stream, const void *from, size_t frames)
{
    struct stream_slot *slot = stream->filling;
    slot->from = from;
    stream->filling = NULL;
    slot->frames = frames;
    slot->first_frame = stream->next_frame;
    stream->next_frame += frames;
    atomic_fetch_add_explicit(&stream->in, frames, memory_order_relaxed);
    slot->given_ns = airy_clock_ns();
    put(&stream->given, number_of(stream, slot));
    airy_notice_post(&stream->given_notice);
}

airy_status airy_oct_stream_give(airy_oct_stream *stream, size_t frames)
{
    AIRY_FAIL_IF(!stream, AIRY_ERR_PARAM, "airy_oct_stream_give: stream is NULL");
    AIRY_FAIL_IF(!stream->filling, AIRY_ERR_PARAM,
                 "airy_oct_stream_give without a buffer from airy_oct_stream_take");
    AIRY_FAIL_IF(stream->ended, AIRY_ERR_PARAM, "airy_oct_stream_give after the stream's end");
    AIRY_TRY(check_frames(stream, frames));
    give_slot(stream, airy_host_data(stream->filling->raw), frames);
    return AIRY_OK;
}

airy_status airy_oct_stream_lend(airy_oct_stream *stream, const void *data, size_t frames,
                                 bool *lent)
{
    void *buffer;
    AIRY_FAIL_IF(!stream || !data || !lent, AIRY_ERR_PARAM,
                 "airy_oct_stream_lend: argument is NULL");
    AIRY_TRY(check_frames(stream, frames));
    AIRY_TRY(airy_oct_stream_take(stream, &buffer));
    *lent = buffer != NULL;
    if (!buffer)
        return AIRY_OK;
    if (stream->in_place)
        memcpy(buffer, data, frames * stream->oct->info.frame_bytes);
    give_slot(stream, stream->in_place ? buffer : data, frames);
    return AIRY_OK;
}

airy_status airy_oct_stream_drop(airy_oct_stream *stream, uint64_t frames)
{
    AIRY_FAIL_IF(!stream, AIRY_ERR_PARAM, "airy_oct_stream_drop: stream is NULL");
    stream->next_frame += frames;
    atomic_fetch_add_explicit(&stream->dropped, frames, memory_order_relaxed);
    return AIRY_OK;
}

airy_status airy_oct_stream_end(airy_oct_stream *stream)
{
    AIRY_FAIL_IF(!stream, AIRY_ERR_PARAM, "airy_oct_stream_end: stream is NULL");
    stream->ended = true;
    atomic_store_explicit(&stream->end, true, memory_order_release);
    airy_notice_post(&stream->done_notice);
    return AIRY_OK;
}

/* ---- the side that asks ---- */

/* All that was given has been asked for. */
static bool is_idle(airy_oct_stream *stream)
{
    return atomic_load_explicit(&stream->given.tail, memory_order_acquire) ==
           atomic_load_explicit(&stream->done.head, memory_order_relaxed);
}

/* `end` is seen after the last give. */
static bool is_over(airy_oct_stream *stream)
{
    return atomic_load_explicit(&stream->end, memory_order_acquire) && is_idle(stream);
}

/*
 * Sleeps only after a while: the result of a small frame is there before a thread has woken up. A
 * processor is kept busy longer only while there is something to come.
 */
static struct stream_slot *wait_result(airy_oct_stream *stream, uint64_t timeout_ns)
{
    const uint64_t begin = airy_clock_ns(), end = airy_notice_deadline(timeout_ns);
    for (;;) {
        const unsigned seen = airy_notice_seen(&stream->done_notice);
        struct stream_slot *slot = get(stream, &stream->done);
        if (slot || timeout_ns == 0 || is_over(stream))
            return slot;
        const uint64_t now = airy_clock_ns(), look_ns = is_idle(stream) ? LOOK_NS : stream->look_ns;
        if (now - begin < look_ns && now < end)
            airy_relax();
        else if (!airy_notice_wait(&stream->done_notice, seen, end))
            return NULL;
    }
}

airy_status airy_oct_stream_next(airy_oct_stream *stream, airy_oct_result *result,
                                 uint64_t timeout_ns, bool *ended)
{
    AIRY_FAIL_IF(!stream || !result, AIRY_ERR_PARAM, "airy_oct_stream_next: argument is NULL");
    struct stream_slot *slot = wait_result(stream, timeout_ns);
    if (ended)
        *ended = !slot && is_over(stream);
    *result = (airy_oct_result){0};
    if (!slot)
        return AIRY_OK;
    slot->held = true;
    result->data = airy_host_data(slot->result);
    result->bytes = slot->status == AIRY_OK ? result_bytes(stream, slot->frames) : 0;
    result->first_frame = slot->first_frame;
    result->frames = slot->frames;
    result->latency_ns = slot->latency_ns;
    result->status = slot->status;
    memcpy(result->message, slot->message, sizeof(result->message));
    result->slot = number_of(stream, slot);
    return AIRY_OK;
}

airy_status airy_oct_stream_release(airy_oct_stream *stream, const airy_oct_result *result)
{
    AIRY_FAIL_IF(!stream || !result, AIRY_ERR_PARAM, "airy_oct_stream_release: argument is NULL");
    AIRY_FAIL_IF(result->slot >= stream->sizes.slots || !stream->slots[result->slot].held ||
                     result->first_frame != stream->slots[result->slot].first_frame,
                 AIRY_ERR_PARAM, "the result of slot %zu, frame %llu, is not held", result->slot,
                 (unsigned long long)result->first_frame);
    stream->slots[result->slot].held = false;
    put(&stream->free, result->slot);
    airy_notice_post(&stream->freed_notice);
    return AIRY_OK;
}

airy_status airy_oct_stream_get_info(airy_oct_stream *stream, airy_oct_stream_info *info)
{
    AIRY_FAIL_IF(!stream || !info, AIRY_ERR_PARAM, "airy_oct_stream_get_info: argument is NULL");
    *info = stream->sizes;
    info->in = atomic_load_explicit(&stream->in, memory_order_relaxed);
    info->out = atomic_load_explicit(&stream->out, memory_order_relaxed);
    info->dropped = atomic_load_explicit(&stream->dropped, memory_order_relaxed);
    info->failed = atomic_load_explicit(&stream->failed, memory_order_relaxed);
    info->latency_p50_ns = airy_latency_quantile(&stream->latency, 0.5);
    info->latency_p99_ns = airy_latency_quantile(&stream->latency, 0.99);
    info->latency_max_ns = atomic_load_explicit(&stream->latency.max, memory_order_relaxed);
    return AIRY_OK;
}
