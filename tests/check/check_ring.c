/* Frames between processes: order, numbers, ends of all kinds, and a header that lies. */
#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "airy/ring.h"

enum { FRAME_BYTES = 1000, SLOTS = 4 };

static const uint64_t LONG_NS = 60000000000u; /* nothing here takes a minute */

static const char *ring_name(struct check *c)
{
    char *name = check_alloc(c, 64);
    snprintf(name, 64, "check-%d", (int)getpid());
    return name;
}

static void fill_frame(uint8_t *frame, uint64_t number)
{
    for (size_t i = 0; i < FRAME_BYTES; i++)
        frame[i] = (uint8_t)(number * 31 + i);
}

static bool is_frame(const airy_ring_frame *frame, uint64_t number)
{
    const uint8_t *got = frame->data;
    bool same = got && frame->number == number;
    for (size_t i = 0; same && i < FRAME_BYTES; i++)
        same = got[i] == (uint8_t)(number * 31 + i);
    return same;
}

static airy_status put_frame(airy_ring *ring, uint64_t number)
{
    uint8_t frame[FRAME_BYTES];
    fill_frame(frame, number);
    return airy_ring_put(ring, frame);
}

static void check_round(struct check *c)
{
    airy_ring *in = NULL, *out = NULL;
    airy_ring_frame frame;
    airy_ring_info info;
    void *room, *again;
    bool ended = true;
    if (!check_case(c, "ring_round"))
        return;
    const char *name = ring_name(c);
    if (!CHECK_OK(c, airy_ring_create(&in, name, FRAME_BYTES, SLOTS)) ||
        !CHECK_OK(c, airy_ring_open(&out, name, 0)))
        goto out;
    CHECK_OK(c, airy_ring_next(out, &frame, 0, &ended));
    CHECK(c, !frame.data && !ended);
    CHECK_OK(c, airy_ring_next(out, &frame, 1000, NULL));
    CHECK(c, !frame.data);
    for (uint64_t i = 0; i < SLOTS + 2; i++)
        CHECK_OK(c, put_frame(in, i));
    CHECK_OK(c, airy_ring_take(in, &room));
    CHECK(c, room == NULL);
    CHECK_OK(c, airy_ring_get_info(in, &info));
    CHECK(c, info.frame_bytes == FRAME_BYTES && info.slots == SLOTS && info.given == SLOTS &&
                 info.dropped == 2 && info.waiting == SLOTS &&
                 info.memory >= SLOTS * (uint64_t)FRAME_BYTES);
    for (uint64_t i = 0; i < SLOTS; i++) {
        uint8_t own[FRAME_BYTES];
        CHECK_OK(c, i % 2 ? airy_ring_next(out, &frame, LONG_NS, &ended)
                          : airy_ring_copy(out, own, &frame, LONG_NS, &ended));
        CHECK(c, is_frame(&frame, i) && !ended && (i % 2 || frame.data == own));
        CHECK_OK(c, airy_ring_release(out));
    }
    CHECK_OK(c, airy_ring_drop(in, 3));
    CHECK_OK(c, airy_ring_take(in, &room));
    CHECK_OK(c, airy_ring_take(in, &again));
    CHECK(c, room && room == again);
    if (room)
        fill_frame(room, 9);
    CHECK_OK(c, airy_ring_give(in));
    CHECK_OK(c, airy_ring_end(in));
    CHECK_FAILS(c, airy_ring_take(in, &room), AIRY_ERR_PARAM, "after the ring's end");
    /* The ring outlives its producer until it is empty. */
    airy_ring_destroy(&in);
    CHECK_OK(c, airy_ring_next(out, &frame, 0, &ended));
    CHECK(c, is_frame(&frame, 9) && !ended);
    CHECK_OK(c, airy_ring_release(out));
    CHECK_OK(c, airy_ring_next(out, &frame, 0, &ended));
    CHECK(c, !frame.data && ended);
    CHECK_FAILS(c, airy_ring_release(out), AIRY_ERR_PARAM, "without a frame");
out:
    airy_ring_destroy(&out);
    airy_ring_destroy(&in);
    CHECK_FAILS(c, airy_ring_open(&out, name, 0), AIRY_ERR_NOT_FOUND, "there is no ring");
}

/* The other process: so many frames, once a byte says that somebody follows. */
static void produce(const char *name, uint64_t frames, bool dies, int follows)
{
    airy_ring *ring = NULL;
    char byte;
    airy_status status = airy_ring_create(&ring, name, FRAME_BYTES, SLOTS);
    if (read(follows, &byte, 1) != 1)
        status = AIRY_ERR_IO;
    for (uint64_t i = 0; i < frames && status == AIRY_OK; i++) {
        status = put_frame(ring, i);
        if (i % 64 == 63)
            usleep(100);
    }
    if (dies && status == AIRY_OK)
        raise(SIGKILL);
    airy_ring_destroy(&ring);
    _exit(status == AIRY_OK ? 0 : 1);
}

/* dies: killed while the consumer waits. */
static void check_processes(struct check *c, bool dies)
{
    enum { FRAMES = 3000 };
    airy_ring *ring = NULL;
    airy_ring_info info = {0};
    if (!check_case(c, dies ? "ring_producer_killed" : "ring_processes"))
        return;
    const char *name = ring_name(c);
    int follows[2];
    if (!CHECK(c, pipe(follows) == 0))
        return;
    const pid_t child = fork();
    if (child == 0)
        produce(name, FRAMES, dies, follows[0]);
    if (!CHECK(c, child > 0))
        return;
    uint64_t seen = 0, next = 0;
    bool ended = false, good = CHECK_OK(c, airy_ring_open(&ring, name, LONG_NS));
    good = CHECK(c, write(follows[1], "", 1) == 1) && good;
    close(follows[0]);
    close(follows[1]);
    while (good && !ended) {
        airy_ring_frame frame;
        good = airy_ring_next(ring, &frame, LONG_NS, &ended) == AIRY_OK;
        if (!good || !frame.data)
            continue;
        good = frame.number >= next && frame.number < FRAMES && is_frame(&frame, frame.number) &&
               airy_ring_release(ring) == AIRY_OK;
        next = frame.number + 1;
        seen++;
    }
    int status = 0;
    CHECK(c, waitpid(child, &status, 0) == child);
    CHECK(c, dies ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 0);
    if (CHECK(c, good) && CHECK_OK(c, airy_ring_get_info(ring, &info)))
        CHECK(c, seen > 0 && info.given == seen && info.given + info.dropped == FRAMES);
    airy_ring_destroy(&ring);
    /* What the dead one left is no ring to open, and makes way for a new one. */
    CHECK_FAILS(c, airy_ring_open(&ring, name, 0), AIRY_ERR_NOT_FOUND, "there is no ring");
    CHECK_OK(c, airy_ring_create(&ring, name, FRAME_BYTES, SLOTS));
    airy_ring_destroy(&ring);
}

/* The next consumer goes on where the one before stopped. */
static void check_consumers(struct check *c)
{
    airy_ring *in = NULL, *out = NULL, *second = NULL;
    airy_ring_frame frame;
    if (!check_case(c, "ring_consumers"))
        return;
    const char *name = ring_name(c);
    CHECK_OK(c, airy_ring_create(&in, name, FRAME_BYTES, SLOTS));
    CHECK_FAILS(c, airy_ring_create(&second, name, FRAME_BYTES, SLOTS), AIRY_ERR_EXISTS,
                "has a producer already");
    CHECK_OK(c, airy_ring_open(&out, name, 0));
    CHECK_FAILS(c, airy_ring_open(&second, name, 0), AIRY_ERR_EXISTS, "has a consumer already");
    if (in && out) {
        for (uint64_t i = 0; i < 3; i++)
            CHECK_OK(c, put_frame(in, i));
        CHECK_OK(c, airy_ring_next(out, &frame, LONG_NS, NULL));
        CHECK_OK(c, airy_ring_release(out));
        CHECK_OK(c, airy_ring_next(out, &frame, LONG_NS, NULL));
        airy_ring_destroy(&out);
        CHECK_OK(c, airy_ring_open(&out, name, 0));
        CHECK_OK(c, airy_ring_next(out, &frame, LONG_NS, NULL));
        CHECK(c, is_frame(&frame, 1));
    }
    airy_ring_destroy(&out);
    airy_ring_destroy(&in);
}

/* The ring's memory, as anybody of the same user may have it. */
static uint8_t *map_bytes(struct check *c, const char *name, size_t size)
{
    char full[80];
    snprintf(full, sizeof(full), "/airy-%s", name);
    const int fd = shm_open(full, O_RDWR, 0);
    if (!CHECK(c, fd >= 0))
        return NULL;
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return CHECK(c, map != MAP_FAILED) ? map : NULL;
}

/* Any byte of the header may be anything, before and after the ring is opened. */
static void check_hostile(struct check *c)
{
    enum { HEADER = 256, ROUNDS = 2000 };
    airy_ring *in = NULL;
    airy_ring_info info = {0};
    if (!check_case(c, "ring_hostile_header"))
        return;
    const char *name = ring_name(c);
    if (!CHECK_OK(c, airy_ring_create(&in, name, FRAME_BYTES, SLOTS)))
        return;
    CHECK_OK(c, airy_ring_get_info(in, &info));
    uint8_t *bytes = map_bytes(c, name, info.memory);
    uint8_t kept[HEADER];
    size_t refused = 0, stopped = 0;
    for (int round = 0; bytes && round < ROUNDS; round++) {
        airy_ring *out = NULL;
        airy_ring_frame frame = {0};
        memcpy(kept, bytes, HEADER);
        for (int i = 0; i < 3; i++) {
            const uint64_t r = check_rand_u64(c);
            bytes[r % HEADER] = (uint8_t)(r >> 32);
        }
        const airy_status opened = airy_ring_open(&out, name, 0);
        refused += opened != AIRY_OK;
        CHECK(c, opened == AIRY_OK || opened == AIRY_ERR_CORRUPT || opened == AIRY_ERR_NOT_FOUND);
        if (out) {
            for (int i = 0; i < 3; i++) {
                const uint64_t r = check_rand_u64(c);
                bytes[r % HEADER] = (uint8_t)(r >> 32);
            }
            const airy_status status = airy_ring_next(out, &frame, 0, NULL);
            stopped += status != AIRY_OK;
            CHECK(c, status == AIRY_OK || status == AIRY_ERR_CORRUPT);
            if (frame.data)
                CHECK_OK(c, airy_ring_release(out));
            void *room;
            CHECK_OK(c, airy_ring_take(in, &room));
            CHECK_OK(c, airy_ring_get_info(out, &info));
        }
        airy_ring_destroy(&out);
        memcpy(bytes, kept, HEADER);
    }
    CHECK(c, refused > 0 && stopped > 0 && refused < ROUNDS);
    if (bytes)
        munmap(bytes, info.memory);
    airy_ring_destroy(&in);
}

/* A producer of the same user cuts the object, between frames and while the consumer waits. */
static void check_cut(struct check *c)
{
    if (!check_case(c, "ring_cut"))
        return;
    const char *name = ring_name(c);
    char full[80];
    snprintf(full, sizeof(full), "/airy-%s", name);
    for (int round = 0; round < 3; round++) {
        airy_ring *in = NULL, *out = NULL;
        airy_ring_frame frame;
        if (!CHECK_OK(c, airy_ring_create(&in, name, 1 << 16, SLOTS)) ||
            !CHECK_OK(c, airy_ring_open(&out, name, 0)))
            return;
        void *room = NULL;
        CHECK_OK(c, airy_ring_take(in, &room));
        CHECK_OK(c, airy_ring_give(in));
        const int fd = shm_open(full, O_RDWR, 0);
        /* To nothing; the header stays; a part of the frame stays. */
        static const off_t left[] = {0, 4096, 1 << 15};
        CHECK(c, fd >= 0 && ftruncate(fd, left[round]) == 0);
        CHECK_FAILS(c, airy_ring_next(out, &frame, LONG_NS, NULL), AIRY_ERR_CORRUPT, "was cut");
        CHECK(c, !frame.data || round == 0);
        CHECK(c, ftruncate(fd, (off_t)1 << 20) == 0); /* for the producer's own mapping */
        close(fd);
        airy_ring_destroy(&out);
        airy_ring_destroy(&in);
    }
}

/* What another user could write is not read. */
static void check_mode(struct check *c)
{
    if (!check_case(c, "ring_mode"))
        return;
    const char *name = ring_name(c);
    char full[80];
    airy_ring *in = NULL, *out = NULL;
    snprintf(full, sizeof(full), "/airy-%s", name);
    if (!CHECK_OK(c, airy_ring_create(&in, name, FRAME_BYTES, SLOTS)))
        return;
    const int fd = shm_open(full, O_RDWR, 0);
    CHECK(c, fd >= 0 && fchmod(fd, 0666) == 0);
    CHECK_FAILS(c, airy_ring_open(&out, name, 0), AIRY_ERR_IO, "mode 666");
    CHECK(c, fchmod(fd, 0620) == 0);
    CHECK_FAILS(c, airy_ring_open(&out, name, 0), AIRY_ERR_IO, "mode 620");
    CHECK(c, fchmod(fd, 0644) == 0);
    CHECK_OK(c, airy_ring_open(&out, name, 0));
    airy_ring_destroy(&out);
    if (geteuid() == 0 && CHECK(c, fchown(fd, 65534, 65534) == 0))
        CHECK_FAILS(c, airy_ring_open(&out, name, 0), AIRY_ERR_IO, "belongs to user 65534");
    close(fd);
    airy_ring_destroy(&in);
}

static void check_ring_refusals(struct check *c)
{
    airy_ring *in = NULL, *out = NULL;
    airy_ring_frame frame;
    airy_ring_info info;
    void *room;
    if (!check_case(c, "ring_refusals"))
        return;
    const char *name = ring_name(c);
    char long_name[202];
    memset(long_name, 'a', 201);
    long_name[201] = '\0';
    CHECK_FAILS(c, airy_ring_create(NULL, name, 1, 2), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_ring_create(&in, NULL, 1, 2), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_ring_create(&in, "", 1, 2), AIRY_ERR_PARAM, "ring name ''");
    CHECK_FAILS(c, airy_ring_create(&in, "a/b", 1, 2), AIRY_ERR_PARAM, "ring name 'a/b'");
    CHECK_FAILS(c, airy_ring_create(&in, long_name, 1, 2), AIRY_ERR_PARAM, "1 to 200");
    CHECK_FAILS(c, airy_ring_create(&in, name, 0, 2), AIRY_ERR_PARAM, "2 slots of 0 bytes");
    CHECK_FAILS(c, airy_ring_create(&in, name, 1, 1), AIRY_ERR_PARAM, "1 slots");
    CHECK_FAILS(c, airy_ring_create(&in, name, 1, 65537), AIRY_ERR_PARAM, "65537 slots");
    CHECK_FAILS(c, airy_ring_create(&in, name, SIZE_MAX / 2, 3), AIRY_ERR_PARAM, "expected 2");
    CHECK_FAILS(c, airy_ring_create(&in, name, SIZE_MAX / 32, 8), AIRY_ERR_MEMORY, "shared memory");
    CHECK_FAILS(c, airy_ring_open(NULL, name, 0), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_ring_open(&out, "*", 0), AIRY_ERR_PARAM, "ring name");
    CHECK_FAILS(c, airy_ring_open(&out, name, 2000000), AIRY_ERR_NOT_FOUND, "no ring");
    CHECK_OK(c, airy_ring_create(&in, name, 1, 2));
    CHECK_OK(c, airy_ring_open(&out, name, 0));
    CHECK_FAILS(c, airy_ring_take(out, &room), AIRY_ERR_PARAM, "ring's consumer");
    CHECK_FAILS(c, airy_ring_take(in, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_ring_take(NULL, &room), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_ring_give(in), AIRY_ERR_PARAM, "without room");
    CHECK_FAILS(c, airy_ring_give(NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_ring_drop(NULL, 1), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_ring_put(NULL, "a"), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_ring_put(in, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_ring_end(out), AIRY_ERR_PARAM, "ring's consumer");
    CHECK_FAILS(c, airy_ring_next(in, &frame, 0, NULL), AIRY_ERR_PARAM, "ring's producer");
    CHECK_FAILS(c, airy_ring_next(NULL, &frame, 0, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_ring_next(out, NULL, 0, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_ring_copy(in, &room, &frame, 0, NULL), AIRY_ERR_PARAM, "ring's producer");
    CHECK_FAILS(c, airy_ring_copy(out, NULL, &frame, 0, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_ring_release(NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_ring_release(out), AIRY_ERR_PARAM, "without a frame");
    CHECK_FAILS(c, airy_ring_get_info(NULL, &info), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_ring_get_info(in, NULL), AIRY_ERR_PARAM, "NULL");
    airy_ring_destroy(&out);
    airy_ring_destroy(&in);
    airy_ring_destroy(&in);
    airy_ring_destroy(NULL);
}

void check_ring(struct check *c)
{
    /* No device takes part: once is enough. */
    if (!c->is_cpu)
        return;
    check_round(c);
    check_processes(c, false);
    check_processes(c, true);
    check_consumers(c);
    check_hostile(c);
    check_cut(c);
    check_mode(c);
    check_ring_refusals(c);
}
