/*
 * The stream, on a device whose OCT is replaced by one that hands the samples on, fails for a frame
 * or waits at a gate: what the stream does does not depend on what is computed.
 */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/oct_stream.h"
#include "base/error.h"
#include "base/latency.h"
#include "base/notice.h"
#include "core/backend.h"
#include "oct/oct_fns.h"
#include "core/objects.h"

enum { SAMPLES = 16, LINES = 3, FRAME = LINES * SAMPLES };

static const uint64_t LONG_NS = 60000000000u; /* nothing here takes a minute */

/* Of the one stream that a case has at a time. */
static struct {
    atomic_uint_least64_t bad_frame; /* its buffer fails */
    atomic_bool closed;              /* the gate */
    atomic_uint arrived;             /* buffers that came so far */
} stub;

static airy_status stub_prepare(airy_queue *queue, struct airy_oct *oct)
{
    (void)queue;
    oct->impl = oct;
    return AIRY_OK;
}

static void stub_release(struct airy_oct *oct)
{
    (void)oct;
}

static airy_status stub_lines(airy_queue *queue, const struct airy_oct_lines_plan *plan)
{
    atomic_fetch_add(&stub.arrived, 1);
    while (atomic_load(&stub.closed))
        usleep(200);
    AIRY_FAIL_IF(plan->first_frame == atomic_load(&stub.bad_frame), AIRY_ERR_CORRUPT,
                 "frame %llu is bad", (unsigned long long)plan->first_frame);
    airy_array *same = NULL;
    AIRY_TRY(airy_array_view_as(&same, plan->src, 0, AIRY_DTYPE_F32, 4, plan->dst->shape));
    struct airy_array dst = *plan->dst;
    const airy_status status = airy_array_copy(queue, &dst, same);
    airy_array_destroy(&same);
    return status;
}

static const struct airy_oct_fns stub_fns = {
    .prepare = stub_prepare, .release = stub_release, .lines = stub_lines};

struct bench_top {
    airy_device *device;
    struct airy_backend backend;
    airy_queue *queue;
    airy_oct *oct;
    airy_oct_stream *stream;
};

/* A device of its own: c's keeps its OCT. */
static bool open_stub(struct check *c, struct bench_top *t,
                      const airy_oct_stream_params *stream_params)
{
    const airy_oct_params params = {.samples = SAMPLES, .lines = LINES, .output = AIRY_OCT_COMPLEX};
    *t = (struct bench_top){0};
    atomic_store(&stub.bad_frame, UINT64_MAX);
    atomic_store(&stub.closed, false);
    if (!CHECK_OK(c, airy_device_create(&t->device, c->spec,
                                        &(airy_device_params){.threads = 2, .profile = true})))
        return false;
    t->backend = *t->device->backend;
    t->backend.oct = &stub_fns;
    t->device->backend = &t->backend;
    const bool good = CHECK_OK(c, airy_queue_create(&t->queue, t->device)) &&
                      CHECK_OK(c, airy_oct_create(&t->oct, t->queue, &params)) &&
                      CHECK_OK(c, airy_oct_stream_create(&t->stream, t->oct, stream_params));
    atomic_store(&stub.arrived, 0);
    return good;
}

static void close_stub(struct check *c, struct bench_top *t)
{
    airy_oct_stream_destroy(&t->stream);
    airy_oct_destroy(&t->oct);
    airy_queue_destroy(&t->queue);
    airy_memory_info memory = {0};
    if (t->device && CHECK_OK(c, airy_device_memory(t->device, &memory)))
        CHECK(c, memory.in_use == 0 && memory.host_in_use == 0);
    airy_device_destroy(&t->device);
}

/* Frame n is 1000 n, 1000 n + 1, ...; exact in f32 for the frames of these cases. */
static void fill_frames(float *to, uint64_t first, size_t frames)
{
    for (size_t i = 0; i < frames * FRAME; i++)
        to[i] = (float)(first * 1000 + i / FRAME * 1000 + i % FRAME);
}

static bool give_frames(struct check *c, airy_oct_stream *stream, uint64_t first, size_t frames)
{
    void *buffer = NULL;
    if (!CHECK_OK(c, airy_oct_stream_take(stream, &buffer)) || !buffer)
        return false;
    fill_frames(buffer, first, frames);
    return CHECK_OK(c, airy_oct_stream_give(stream, frames));
}

static bool is_frames(const airy_oct_result *r, uint64_t first, size_t frames)
{
    const float *got = r->data;
    bool same = r->status == AIRY_OK && r->first_frame == first && r->frames == frames &&
                r->bytes == frames * FRAME * sizeof(float);
    for (size_t i = 0; same && i < frames * FRAME; i++)
        same = got[i] == (float)(first * 1000 + i / FRAME * 1000 + i % FRAME);
    return same;
}

static bool next_is(struct check *c, airy_oct_stream *stream, airy_oct_result *r, uint64_t first,
                    size_t frames)
{
    bool ended = true;
    return CHECK_OK(c, airy_oct_stream_next(stream, r, LONG_NS, &ended)) && CHECK(c, r->data) &&
           CHECK(c, !ended) && CHECK(c, is_frames(r, first, frames));
}

static void check_order(struct check *c)
{
    struct bench_top t;
    airy_oct_result r[3];
    airy_oct_stream_info info;
    bool ended = true;
    if (!check_case(c, "oct_stream_order"))
        return;
    if (!open_stub(c, &t, &(airy_oct_stream_params){.frames = 4, .slots = 3})) {
        close_stub(c, &t);
        return;
    }
    CHECK_OK(c, airy_oct_stream_get_info(t.stream, &info));
    CHECK(c, info.frames == 4 && info.slots == 3 && info.raw_bytes == 4 * FRAME * sizeof(float) &&
                 info.result_bytes == info.raw_bytes && info.in == 0 && info.latency_max_ns == 0);
    /* Raw frames and results, as large here, each on the host and the device, or one for both. */
    const uint64_t buffers = c->is_cpu ? 2 : c->device->shares_host ? 3 : 4;
    CHECK(c, info.memory == 3 * buffers * info.raw_bytes);
    CHECK_OK(c, airy_oct_stream_next(t.stream, &r[0], 0, &ended));
    CHECK(c, !r[0].data && !ended);
    CHECK_OK(c, airy_oct_stream_next(t.stream, &r[0], 1000, NULL));
    CHECK(c, !r[0].data);
    /* Full, one of a single frame, after a gap; a slot is held while the others go round. */
    CHECK(c, give_frames(c, t.stream, 0, 4));
    CHECK(c, give_frames(c, t.stream, 4, 1));
    CHECK_OK(c, airy_oct_stream_drop(t.stream, 10));
    CHECK(c, give_frames(c, t.stream, 15, 3));
    void *buffer = &t;
    CHECK_OK(c, airy_oct_stream_take(t.stream, &buffer));
    CHECK(c, buffer == NULL);
    CHECK_OK(c, airy_oct_stream_take_wait(t.stream, &buffer, 1000));
    CHECK(c, buffer == NULL);
    next_is(c, t.stream, &r[0], 0, 4);
    next_is(c, t.stream, &r[1], 4, 1);
    next_is(c, t.stream, &r[2], 15, 3);
    CHECK_OK(c, airy_oct_stream_release(t.stream, &r[1]));
    for (uint64_t i = 18; i < 30; i++) {
        CHECK(c, give_frames(c, t.stream, i, 1));
        next_is(c, t.stream, &r[1], i, 1);
        CHECK(c, r[1].latency_ns > 0 && is_frames(&r[0], 0, 4) && is_frames(&r[2], 15, 3));
        CHECK_OK(c, airy_oct_stream_release(t.stream, &r[1]));
    }
    CHECK_FAILS(c, airy_oct_stream_release(t.stream, &r[1]), AIRY_ERR_PARAM, "is not held");
    CHECK_OK(c, airy_oct_stream_release(t.stream, &r[2]));
    CHECK_OK(c, airy_oct_stream_release(t.stream, &r[0]));
    CHECK_OK(c, airy_oct_stream_take(t.stream, &buffer));
    CHECK(c, buffer != NULL);
    CHECK_OK(c, airy_oct_stream_end(t.stream));
    CHECK_OK(c, airy_oct_stream_next(t.stream, &r[0], LONG_NS, &ended));
    CHECK(c, !r[0].data && ended);
    CHECK_OK(c, airy_oct_stream_get_info(t.stream, &info));
    CHECK(c, info.in == 20 && info.out == 20 && info.dropped == 10 && info.failed == 0);
    CHECK(c, info.latency_p50_ns > 0 && info.latency_p50_ns <= info.latency_p99_ns &&
                 info.latency_p99_ns <= info.latency_max_ns);
    close_stub(c, &t);
}

static void check_bad(struct check *c)
{
    struct bench_top t;
    airy_oct_result r;
    airy_oct_stream_info info;
    if (!check_case(c, "oct_stream_bad_buffer"))
        return;
    if (open_stub(c, &t, NULL)) {
        atomic_store(&stub.bad_frame, 2);
        for (uint64_t i = 0; i < 4; i++)
            CHECK(c, give_frames(c, t.stream, i, 1));
        next_is(c, t.stream, &r, 0, 1);
        next_is(c, t.stream, &r, 1, 1);
        CHECK_OK(c, airy_oct_stream_next(t.stream, &r, LONG_NS, NULL));
        CHECK(c, r.data && r.bytes == 0 && r.first_frame == 2 && r.status == AIRY_ERR_CORRUPT &&
                     strcmp(r.message, "frame 2 is bad") == 0);
        next_is(c, t.stream, &r, 3, 1);
        CHECK(c, r.message[0] == '\0');
        CHECK_OK(c, airy_oct_stream_get_info(t.stream, &info));
        CHECK(c, info.in == 4 && info.out == 3 && info.failed == 1);
    }
    close_stub(c, &t);
}

/* The giver's calls return while the device does not, and say when there is no room. */
static void check_stuck(struct check *c)
{
    struct bench_top t;
    void *buffer, *again;
    airy_oct_result r;
    if (!check_case(c, "oct_stream_stuck_device"))
        return;
    if (open_stub(c, &t, &(airy_oct_stream_params){.slots = 5})) {
        atomic_store(&stub.closed, true);
        for (uint64_t i = 0; i < 5; i++)
            CHECK(c, give_frames(c, t.stream, i, 1));
        CHECK_OK(c, airy_oct_stream_take(t.stream, &buffer));
        CHECK(c, buffer == NULL);
        CHECK_OK(c, airy_oct_stream_drop(t.stream, 1));
        CHECK_OK(c, airy_oct_stream_next(t.stream, &r, 1000000, NULL));
        CHECK(c, !r.data);
        atomic_store(&stub.closed, false);
        next_is(c, t.stream, &r, 0, 1);
        CHECK_OK(c, airy_oct_stream_release(t.stream, &r));
        CHECK_OK(c, airy_oct_stream_take_wait(t.stream, &buffer, LONG_NS));
        CHECK_OK(c, airy_oct_stream_take(t.stream, &again));
        CHECK(c, buffer != NULL && buffer == again);
    }
    close_stub(c, &t);
}

struct camera {
    airy_oct_stream *stream;
    uint64_t frames;  /* to be made */
    useconds_t pause; /* after each */
    bool waits;
    airy_status status;
};

static void *run_camera(void *arg)
{
    struct camera *camera = arg;
    for (uint64_t i = 0; i < camera->frames && camera->status == AIRY_OK; i++) {
        void *buffer = NULL;
        camera->status = camera->waits ? airy_oct_stream_take_wait(camera->stream, &buffer, LONG_NS)
                                       : airy_oct_stream_take(camera->stream, &buffer);
        if (buffer) {
            fill_frames(buffer, i, 1);
            camera->status = airy_oct_stream_give(camera->stream, 1);
        } else {
            camera->status = airy_oct_stream_drop(camera->stream, 1);
        }
        if (camera->pause)
            usleep(camera->pause);
    }
    if (camera->status == AIRY_OK)
        camera->status = airy_oct_stream_end(camera->stream);
    return NULL;
}

/* A display that stands still for a while: frames are lost and counted, their order is kept. */
static void check_stall(struct check *c, bool waits)
{
    struct bench_top t;
    airy_oct_stream_info info = {0};
    pthread_t thread;
    if (!check_case(c, "oct_stream_%s", waits ? "waiting_source" : "stalled_consumer"))
        return;
    if (!open_stub(c, &t, &(airy_oct_stream_params){.slots = 4})) {
        close_stub(c, &t);
        return;
    }
    struct camera camera = {
        .stream = t.stream, .frames = 2000, .pause = waits ? 0 : 50, .waits = waits};
    pthread_create(&thread, NULL, run_camera, &camera);
    uint64_t seen = 0, last = 0;
    bool ended = false, good = true;
    while (!ended) {
        airy_oct_result r;
        good = airy_oct_stream_next(t.stream, &r, LONG_NS, &ended) == AIRY_OK && good;
        if (!r.data)
            continue;
        good = good && (seen == 0 || r.first_frame > last) && is_frames(&r, r.first_frame, 1);
        last = r.first_frame;
        /* Until frames are lost: the camera makes more of them than there are slots. */
        while (seen == 100 && !waits && info.dropped == 0 &&
               airy_oct_stream_get_info(t.stream, &info) == AIRY_OK)
            usleep(1000);
        seen++;
        good = airy_oct_stream_release(t.stream, &r) == AIRY_OK && good;
    }
    pthread_join(thread, NULL);
    CHECK_OK(c, camera.status);
    CHECK(c, good);
    CHECK_OK(c, airy_oct_stream_get_info(t.stream, &info));
    CHECK(c, info.in == seen && info.out == seen && info.failed == 0);
    CHECK(c, info.in + info.dropped == camera.frames);
    CHECK(c, waits ? info.dropped == 0 : info.dropped > 0);
    CHECK(c, info.latency_max_ns > 0);
    close_stub(c, &t);
}

/* Destroyed in every state. */
static void check_destroy(struct check *c)
{
    enum { NEW, TAKEN, GIVEN, BUSY, HELD, ENDED, STATES };
    for (int state = NEW; state < STATES; state++) {
        struct bench_top t;
        void *buffer;
        airy_oct_result r;
        if (!check_case(c, "oct_stream_destroy_%d", state))
            continue;
        if (open_stub(c, &t, NULL)) {
            if (state == TAKEN)
                CHECK_OK(c, airy_oct_stream_take(t.stream, &buffer));
            atomic_store(&stub.closed, state == BUSY);
            if (state >= GIVEN)
                for (uint64_t i = 0; i < 3; i++)
                    CHECK(c, give_frames(c, t.stream, i, 1));
            if (state == BUSY) {
                while (atomic_load(&stub.arrived) == 0)
                    usleep(100);
                atomic_store(&stub.closed, false);
            }
            if (state >= HELD)
                next_is(c, t.stream, &r, 0, 1);
            if (state == ENDED)
                CHECK_OK(c, airy_oct_stream_end(t.stream));
        }
        close_stub(c, &t);
    }
    airy_oct_stream *none = NULL;
    airy_oct_stream_destroy(&none);
    airy_oct_stream_destroy(NULL);
}

static void check_stream_refusals(struct check *c)
{
    struct bench_top t;
    airy_oct_stream *none = NULL;
    airy_oct_result r = {0};
    airy_oct_stream_info info;
    bool lent;
    void *buffer;
    if (!check_case(c, "oct_stream_refusals"))
        return;
    if (!open_stub(c, &t, NULL)) {
        close_stub(c, &t);
        return;
    }
    static const struct {
        airy_oct_stream_params params;
        airy_status status;
        const char *part;
    } bad[] = {{{.slots = 1}, AIRY_ERR_PARAM, "slots = 1, expected 2 to 64"},
               {{.slots = 65}, AIRY_ERR_PARAM, "slots = 65"},
               {{.frames = SIZE_MAX / 2}, AIRY_ERR_MEMORY, "more than memory has"}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_FAILS(c, airy_oct_stream_create(&none, t.oct, &bad[i].params), bad[i].status,
                    bad[i].part);
    atomic_store(&stub.bad_frame, 0);
    CHECK_FAILS(c, airy_oct_stream_create(&none, t.oct, NULL), AIRY_ERR_CORRUPT, "frame 0 is bad");
    CHECK(c, none == NULL);
    CHECK_FAILS(c, airy_oct_stream_create(NULL, t.oct, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_oct_stream_create(&none, NULL, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_oct_stream_take(NULL, &buffer), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_oct_stream_take(t.stream, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_oct_stream_take_wait(NULL, &buffer, 0), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_oct_stream_take_wait(t.stream, NULL, 0), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_oct_stream_give(NULL, 1), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_oct_stream_give(t.stream, 1), AIRY_ERR_PARAM, "without a buffer");
    CHECK_OK(c, airy_oct_stream_take(t.stream, &buffer));
    CHECK_FAILS(c, airy_oct_stream_give(t.stream, 0), AIRY_ERR_PARAM, "frames = 0");
    CHECK_FAILS(c, airy_oct_stream_give(t.stream, 2), AIRY_ERR_PARAM, "frames = 2");
    CHECK_FAILS(c, airy_oct_stream_lend(NULL, &r, 1, &lent), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_oct_stream_lend(t.stream, NULL, 1, &lent), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_oct_stream_lend(t.stream, &r, 1, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_oct_stream_lend(t.stream, &r, 2, &lent), AIRY_ERR_PARAM, "frames = 2");
    CHECK_FAILS(c, airy_oct_stream_drop(NULL, 1), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_oct_stream_next(NULL, &r, 0, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_oct_stream_next(t.stream, NULL, 0, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_oct_stream_release(NULL, &r), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_oct_stream_release(t.stream, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_oct_stream_release(t.stream, &r), AIRY_ERR_PARAM, "is not held");
    r.slot = 64;
    CHECK_FAILS(c, airy_oct_stream_release(t.stream, &r), AIRY_ERR_PARAM, "is not held");
    CHECK_FAILS(c, airy_oct_stream_get_info(NULL, &info), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_oct_stream_get_info(t.stream, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_oct_stream_end(NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_OK(c, airy_oct_stream_end(t.stream));
    CHECK_FAILS(c, airy_oct_stream_give(t.stream, 1), AIRY_ERR_PARAM, "after the stream's end");
    CHECK_FAILS(c, airy_oct_stream_take(t.stream, &buffer), AIRY_ERR_PARAM, "after");
    CHECK_FAILS(c, airy_oct_stream_lend(t.stream, &r, 1, &lent), AIRY_ERR_PARAM, "after");
    close_stub(c, &t);
}

/* Results of repeats: buffers hold whole ones. */
static void check_repeats(struct check *c)
{
    struct bench_top t;
    if (!check_case(c, "oct_stream_repeats"))
        return;
    if (open_stub(c, &t, NULL)) {
        airy_oct_stream *stream = NULL;
        airy_oct_stream_info info = {0};
        void *buffer;
        airy_oct *oct = NULL;
        const airy_oct_params params = {
            .samples = SAMPLES, .lines = LINES, .output = AIRY_OCT_COMPLEX, .average_frames = 3};
        CHECK_OK(c, airy_oct_create(&oct, t.queue, &params));
        CHECK_FAILS(c, airy_oct_stream_create(&stream, oct, &(airy_oct_stream_params){.frames = 4}),
                    AIRY_ERR_PARAM, "a multiple of the 3 frames");
        airy_oct_destroy(&oct);
        CHECK_OK(c, airy_oct_stream_get_info(t.stream, &info));
        CHECK(c, info.frames == 1 && info.slots == 16);
        CHECK_OK(c, airy_oct_stream_take(t.stream, &buffer));
    }
    close_stub(c, &t);
}

/* Through the real back end: what airy_oct_process makes of the same frames in one call. */
static void check_profiles(struct check *c, size_t samples, size_t lines, size_t each)
{
    enum { BUFFERS = 5 };
    const size_t frames = BUFFERS * each, depth = samples / 2, count = frames * lines * samples;
    if (!check_case(c, "oct_stream_profiles_%zux%zux%zu", each, lines, samples))
        return;
    const airy_oct_params params = {.samples = samples,
                                    .lines = lines,
                                    .dtype = AIRY_DTYPE_U16,
                                    .background = AIRY_OCT_BACKGROUND_MEAN,
                                    .window = AIRY_OCT_WINDOW_HANN,
                                    .flip = AIRY_OCT_FLIP_ODD};
    const airy_oct_stream_params stream_params = {.frames = each};
    const size_t src_shape[3] = {frames, lines, samples}, dst_shape[3] = {frames, lines, depth};
    airy_oct *oct = NULL;
    airy_host *pinned = NULL;
    airy_oct_stream *stream = NULL;
    uint16_t *raw = check_alloc(c, count * sizeof(*raw));
    float *want = check_alloc(c, count / 2 * sizeof(*want)),
          *got = check_alloc(c, count / 2 * sizeof(*got));
    check_rand(c, raw, AIRY_DTYPE_U16, count, 0, 4096);
    airy_array *src = check_upload(c, AIRY_DTYPE_U16, 3, src_shape, raw);
    airy_array *dst = check_output(c, AIRY_DTYPE_F32, 3, dst_shape);
    if (CHECK_OK(c, airy_oct_create(&oct, c->queue, &params)) &&
        CHECK_OK(c, airy_oct_process(c->queue, oct, dst, src, NULL)) &&
        CHECK_OK(c, airy_array_pull(c->queue, want, count / 2 * sizeof(*want), dst)) &&
        CHECK_OK(c, airy_queue_finish(c->queue)))
        CHECK_OK(c, airy_oct_stream_create(&stream, oct, &stream_params));
    CHECK_OK(c, airy_host_create(&pinned, c->device, count / BUFFERS * sizeof(*raw)));
    bool good = stream != NULL;
    size_t given = 0, at = 0;
    while (good && at < BUFFERS) {
        void *buffer = NULL;
        airy_oct_result r;
        if (given < BUFFERS)
            good = CHECK_OK(c, airy_oct_stream_take(stream, &buffer));
        if (buffer && given % 2) { /* where they lie: page-locked, and as malloc gives it */
            const uint16_t *from = raw + given * (count / BUFFERS);
            bool lent = false;
            if (given++ == 1 && pinned)
                from = memcpy(airy_host_data(pinned), from, count / BUFFERS * sizeof(*raw));
            good = CHECK_OK(c, airy_oct_stream_lend(stream, from, each, &lent)) && CHECK(c, lent);
            continue;
        }
        if (buffer) {
            memcpy(buffer, raw + given++ * (count / BUFFERS), count / BUFFERS * sizeof(*raw));
            good = CHECK_OK(c, airy_oct_stream_give(stream, each));
            continue;
        }
        good = good && CHECK_OK(c, airy_oct_stream_next(stream, &r, LONG_NS, NULL)) &&
               CHECK_OK(c, r.status) && CHECK(c, r.first_frame == at * each);
        if (good)
            memcpy(got + at++ * (count / 2 / BUFFERS), r.data, r.bytes);
        good = good && CHECK_OK(c, airy_oct_stream_release(stream, &r));
    }
    /* The same lines beside the same neighbours, by the same code. */
    if (good)
        check_values(c, "profiles", AIRY_DTYPE_F32, got, want, count / 2, NULL);
    airy_oct_stream_destroy(&stream);
    airy_host_destroy(&pinned);
    airy_oct_destroy(&oct);
}

static void check_latency(struct check *c)
{
    if (!check_case(c, "latency_classes"))
        return;
    struct airy_latency *l = check_alloc(c, sizeof(*l));
    CHECK(c, airy_latency_quantile(l, 0.5) == 0);
    /* A class ends at most 1/64 above its beginning. */
    for (int bit = 0; bit < 39; bit++)
        for (int part = 0; part < 5; part++) {
            const uint64_t ns = (UINT64_C(1) << bit) + (UINT64_C(1) << bit) * (uint64_t)part / 5;
            memset(l, 0, sizeof(*l));
            airy_latency_add(l, ns);
            airy_latency_add(l, UINT64_C(1) << 39);
            const uint64_t got = airy_latency_quantile(l, 0.5);
            CHECK(c, got >= ns && got <= ns + ns / 64);
        }
    memset(l, 0, sizeof(*l));
    for (uint64_t i = 1; i <= 1000; i++)
        airy_latency_add(l, i * 1000);
    const uint64_t p50 = airy_latency_quantile(l, 0.5), p99 = airy_latency_quantile(l, 0.99);
    CHECK(c, p50 >= 500000 && p50 <= 508000 && p99 >= 990000 && p99 <= 1000000);
    CHECK(c, airy_latency_quantile(l, 1) == 1000000 && airy_latency_quantile(l, 0) <= 1015);
    airy_latency_add(l, UINT64_MAX);
    CHECK(c, airy_latency_quantile(l, 1) == UINT64_MAX);
}

static void *post_later(void *arg)
{
    usleep(2000);
    airy_notice_post(arg);
    return NULL;
}

static void check_notice(struct check *c)
{
    if (!check_case(c, "notice"))
        return;
    struct airy_notice notice;
    pthread_t thread;
    memset(&notice, 0, sizeof(notice));
    unsigned seen = airy_notice_seen(&notice);
    CHECK(c, !airy_notice_wait(&notice, seen, 0));
    airy_notice_post(&notice);
    CHECK(c, airy_notice_wait(&notice, seen, 0)); /* already posted */
    seen = airy_notice_seen(&notice);
    pthread_create(&thread, NULL, post_later, &notice);
    while (airy_notice_seen(&notice) == seen && airy_notice_wait(&notice, seen, UINT64_MAX))
        continue;
    CHECK(c, airy_notice_seen(&notice) == seen + 1);
    pthread_join(thread, NULL);
    CHECK(c, airy_notice_deadline(UINT64_MAX) == UINT64_MAX);
}

void check_oct_stream(struct check *c)
{
    check_order(c);
    check_bad(c);
    check_stuck(c);
    check_stall(c, false);
    check_stall(c, true);
    check_destroy(c);
    check_stream_refusals(c);
    check_repeats(c);
    check_profiles(c, 64, 8, 3);
    check_profiles(c, 2048, 32, 4);
    check_latency(c);
    check_notice(c);
}
