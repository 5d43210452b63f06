/*
 * Shared memory: a header, a number for each slot, then the slots. What the other process may have
 * written is read once, bounded, and only what was bounded is used.
 *
 * A consumer reads and writes the object by pread and pwrite: a producer may cut it at any moment,
 * which is a short read then, where an access to mapped memory would be SIGBUS.
 */
#include "airy/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/notice.h"
#include "base/size.h"

enum {
    VERSION = 1,
    NAME = 256,
    LONGEST_NAME = 200,
    ALIGNMENT = 64,
    CREATE_TRIES = 8,
    READ_TRIES = 1000 /* of a counter that changes between two looks at it */
};

/* A producer holds a lock on byte 0 of the object, a consumer on byte 1: the system takes it away
 * when the process ends in whatever way. */
enum side { PRODUCER, CONSUMER };

static const char magic[8] = "AIRYRNG";
static const uint64_t LOOK_NS = 100000000u; /* between two looks at whether the producer lives */

struct header {
    char magic[8];
    uint32_t version, slots;
    uint64_t frame_bytes, size; /* size: of the whole object */
    atomic_uint ready;          /* all above is there */

    _Alignas(ALIGNMENT) atomic_uint_least64_t given;
    atomic_uint_least64_t dropped;
    atomic_uint ended;
    struct airy_notice given_notice;

    _Alignas(ALIGNMENT) atomic_uint_least64_t released;
};

struct airy_ring {
    enum side side;
    char name[NAME];
    int fd;
    struct header *header; /* NULL: not mapped. A consumer only waits on it, and never reads it */
    atomic_uint_least64_t *numbers; /* producer's */
    unsigned char *frames;          /* producer's; the consumer's copy of one frame */
    size_t first;                   /* offset of the first slot */
    size_t size, slots, frame_bytes, stride;
    uint64_t count;       /* producer: given; consumer: released */
    uint64_t next_number; /* producer's */
    bool taken, ended;
};

struct layout {
    size_t frames, stride, size; /* offset of the first; of one; all */
};

static bool plan_layout(struct layout *layout, uint64_t frame_bytes, uint64_t slots)
{
    size_t bytes;
    if (frame_bytes == 0 || frame_bytes > SIZE_MAX / 2 || slots < 2 || slots > AIRY_RING_MAX_SLOTS)
        return false;
    layout->stride = airy_align_up((size_t)frame_bytes, ALIGNMENT);
    layout->frames =
        airy_align_up(sizeof(struct header) + (size_t)slots * sizeof(uint64_t), ALIGNMENT);
    return !airy_mul_size(&bytes, layout->stride, (size_t)slots) &&
           !airy_add_size(&layout->size, bytes, layout->frames) && layout->size <= INT64_MAX;
}

static airy_status check_name(char full[NAME], const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    AIRY_FAIL_IF(!name, AIRY_ERR_PARAM, "ring name is NULL");
    const size_t length = strlen(name);
    AIRY_FAIL_IF(length == 0 || length > LONGEST_NAME || strspn(name, allowed) != length,
                 AIRY_ERR_PARAM,
                 "ring name '%.40s', expected 1 to %d letters, digits, '.', '_' and '-'", name,
                 (int)LONGEST_NAME);
    snprintf(full, NAME, "/airy-%s", name);
    return AIRY_OK;
}

/* True: it is ours now. */
static bool lock_side(int fd, enum side side)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)side, .l_len = 1};
    return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

static bool is_locked(int fd, enum side side)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)side, .l_len = 1};
    return fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

static airy_status new_ring(airy_ring **ring, enum side side, const char *name)
{
    void *block;
    AIRY_FAIL_IF(!ring, AIRY_ERR_PARAM, "airy_ring_%s: ring is NULL",
                 side == PRODUCER ? "create" : "open");
    AIRY_TRY(airy_memory_calloc(&block, 1, sizeof(airy_ring), "a ring"));
    airy_ring *r = block;
    r->side = side;
    r->fd = -1;
    const airy_status status = check_name(r->name, name);
    if (status != AIRY_OK) {
        free(r);
        return status;
    }
    *ring = r;
    return AIRY_OK;
}

static airy_status map_bytes(airy_ring *ring, size_t size, int access)
{
    void *map = mmap(NULL, size, access, MAP_SHARED, ring->fd, 0);
    AIRY_FAIL_HINT_IF(map == MAP_FAILED, AIRY_ERR_MEMORY, airy_hint_of_errno(errno),
                      AIRY_SUBJECT_ADDRESS, "ring %s: cannot map %zu bytes: %s", ring->name, size,
                      strerror(errno));
    ring->header = map;
    ring->size = size;
    return AIRY_OK;
}

static airy_status map_ring(airy_ring *ring, const struct layout *layout)
{
    AIRY_TRY(map_bytes(ring, layout->size, PROT_READ | PROT_WRITE));
    ring->numbers = (atomic_uint_least64_t *)(ring->header + 1);
    ring->frames = (unsigned char *)ring->header + layout->frames;
    ring->stride = layout->stride;
    return AIRY_OK;
}

static void close_ring(airy_ring *ring)
{
    if (ring->header)
        munmap(ring->header, ring->size);
    if (ring->side == CONSUMER)
        airy_memory_release(ring->frames);
    if (ring->fd >= 0)
        close(ring->fd);
    free(ring);
}

/* ---- the producer ---- */

/* The name still means this object. */
static bool is_current(const char *name, int fd)
{
    struct stat mine, named;
    const int other = shm_open(name, O_RDONLY, 0);
    const bool same = other >= 0 && fstat(fd, &mine) == 0 && fstat(other, &named) == 0 &&
                      mine.st_dev == named.st_dev && mine.st_ino == named.st_ino;
    if (other >= 0)
        close(other);
    return same;
}

/*
 * Only the holder of an object's lock takes its name away, and only while it is that object's: two
 * processes that find a dead ring do not remove each other's new one.
 */
static void unlink_locked(const char *name, int fd)
{
    if (is_current(name, fd))
        shm_unlink(name);
}

/* What a dead producer left makes way; AIRY_ERR_EXISTS where it lives. */
static airy_status clear_name(const char *name)
{
    const int old = shm_open(name, O_RDWR, 0);
    AIRY_FAIL_HINT_IF(old < 0 && errno != ENOENT, AIRY_ERR_IO, airy_hint_of_errno(errno),
                      AIRY_SUBJECT_ADDRESS, "ring %s: cannot open it: %s", name, strerror(errno));
    if (old < 0)
        return AIRY_OK;
    const bool dead = lock_side(old, PRODUCER);
    if (dead)
        unlink_locked(name, old);
    close(old);
    AIRY_FAIL_ON_IF(!dead, AIRY_ERR_EXISTS, AIRY_SUBJECT_ADDRESS, "ring %s has a producer already",
                    name);
    return AIRY_OK;
}

/* A new object of this name, locked. */
static airy_status make_object(airy_ring *ring)
{
    for (int i = 0; i < CREATE_TRIES; i++) {
        const int fd = shm_open(ring->name, O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
        AIRY_FAIL_HINT_IF(fd < 0 && errno != EEXIST, AIRY_ERR_IO, airy_hint_of_errno(errno),
                          AIRY_SUBJECT_ADDRESS, "ring %s: cannot create it: %s", ring->name,
                          strerror(errno));
        if (fd < 0) {
            AIRY_TRY(clear_name(ring->name));
            continue;
        }
        /* Before it was locked somebody may have taken it for a dead one. */
        if (lock_side(fd, PRODUCER) && is_current(ring->name, fd)) {
            ring->fd = fd;
            return AIRY_OK;
        }
        close(fd);
    }
    return airy_fail_on(AIRY_ERR_EXISTS, AIRY_SUBJECT_ADDRESS,
                        "ring %s: other processes create it again and again", ring->name);
}

static airy_status fill_object(airy_ring *ring, size_t frame_bytes, size_t slots)
{
    struct layout layout;
    AIRY_FAIL_IF(!plan_layout(&layout, frame_bytes, slots), AIRY_ERR_PARAM,
                 "ring of %zu slots of %zu bytes, expected 2 to %d slots of 1 byte or more", slots,
                 frame_bytes, (int)AIRY_RING_MAX_SLOTS);
    AIRY_TRY(make_object(ring));
    /* The memory is there from the start: no write can find the file system full. */
    int failed;
    do
        failed = posix_fallocate(ring->fd, 0, (off_t)layout.size);
    while (failed == EINTR);
    AIRY_FAIL_HINT_IF(failed, AIRY_ERR_MEMORY, airy_hint_of_errno(failed), AIRY_SUBJECT_ADDRESS,
                      "ring %s: no %zu bytes of shared memory: %s", ring->name, layout.size,
                      strerror(failed));
    AIRY_TRY(map_ring(ring, &layout));
    ring->slots = slots;
    ring->frame_bytes = frame_bytes;
    struct header *h = ring->header;
    memcpy(h->magic, magic, sizeof(magic));
    h->version = VERSION;
    h->slots = (uint32_t)slots;
    h->frame_bytes = frame_bytes;
    h->size = layout.size;
    atomic_store_explicit(&h->ready, 1, memory_order_release);
    return AIRY_OK;
}

airy_status airy_ring_create(airy_ring **ring, const char *name, size_t frame_bytes, size_t slots)
{
    airy_ring *r;
    AIRY_FAIL_IF(!ring, AIRY_ERR_PARAM, "airy_ring_create: ring is NULL");
    AIRY_TRY(new_ring(&r, PRODUCER, name));
    const airy_status status = fill_object(r, frame_bytes, slots);
    if (status != AIRY_OK) {
        if (r->fd >= 0)
            unlink_locked(r->name, r->fd);
        close_ring(r);
        return status;
    }
    *ring = r;
    return AIRY_OK;
}

static airy_status check_side(const airy_ring *ring, enum side side, const char *call)
{
    AIRY_FAIL_IF(!ring, AIRY_ERR_PARAM, "%s: ring is NULL", call);
    AIRY_FAIL_IF(ring->side != side, AIRY_ERR_PARAM, "%s: this process is the ring's %s", call,
                 side == PRODUCER ? "consumer" : "producer");
    return AIRY_OK;
}

/* A consumer's counter that cannot be leaves no room. */
static bool has_room(airy_ring *ring)
{
    const uint64_t released = atomic_load_explicit(&ring->header->released, memory_order_acquire);
    return ring->count - released < ring->slots;
}

airy_status airy_ring_take(airy_ring *ring, void **frame)
{
    AIRY_TRY(check_side(ring, PRODUCER, "airy_ring_take"));
    AIRY_FAIL_IF(!frame, AIRY_ERR_PARAM, "airy_ring_take: frame is NULL");
    AIRY_FAIL_IF(ring->ended, AIRY_ERR_PARAM, "airy_ring_take after the ring's end");
    ring->taken = ring->taken || has_room(ring);
    *frame = ring->taken ? ring->frames + ring->count % ring->slots * ring->stride : NULL;
    return AIRY_OK;
}

airy_status airy_ring_give(airy_ring *ring)
{
    AIRY_TRY(check_side(ring, PRODUCER, "airy_ring_give"));
    AIRY_FAIL_IF(!ring->taken, AIRY_ERR_PARAM, "airy_ring_give without room from airy_ring_take");
    atomic_store_explicit(&ring->numbers[ring->count % ring->slots], ring->next_number,
                          memory_order_relaxed);
    ring->taken = false;
    ring->next_number++;
    ring->count++;
    atomic_store_explicit(&ring->header->given, ring->count, memory_order_release);
    airy_notice_post(&ring->header->given_notice);
    return AIRY_OK;
}

airy_status airy_ring_drop(airy_ring *ring, uint64_t frames)
{
    AIRY_TRY(check_side(ring, PRODUCER, "airy_ring_drop"));
    ring->next_number += frames;
    atomic_fetch_add_explicit(&ring->header->dropped, frames, memory_order_relaxed);
    return AIRY_OK;
}

airy_status airy_ring_put(airy_ring *ring, const void *frame)
{
    void *room;
    AIRY_FAIL_IF(!frame, AIRY_ERR_PARAM, "airy_ring_put: frame is NULL");
    AIRY_TRY(airy_ring_take(ring, &room));
    if (!room)
        return airy_ring_drop(ring, 1);
    memcpy(room, frame, ring->frame_bytes);
    return airy_ring_give(ring);
}

airy_status airy_ring_end(airy_ring *ring)
{
    AIRY_TRY(check_side(ring, PRODUCER, "airy_ring_end"));
    ring->ended = true;
    atomic_store_explicit(&ring->header->ended, 1, memory_order_release);
    airy_notice_post(&ring->header->given_notice);
    return AIRY_OK;
}

/* ---- the consumer ---- */

static airy_status read_shared(const airy_ring *ring, void *out, size_t size, size_t at)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n = pread(ring->fd, (char *)out + done, size - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        AIRY_FAIL_HINT_IF(n < 0, AIRY_ERR_IO, airy_hint_of_errno(errno), AIRY_SUBJECT_ADDRESS,
                          "ring %s: cannot read it: %s", ring->name, strerror(errno));
        AIRY_FAIL_HINT_IF(n == 0, AIRY_ERR_CORRUPT, AIRY_HINT_STATED, AIRY_SUBJECT_ADDRESS,
                          "ring %s was cut by its producer: %zu bytes at %zu are gone; start the "
                          "producer again",
                          ring->name, size - done, at + done);
        done += (size_t)n;
    }
    atomic_thread_fence(memory_order_acquire);
    return AIRY_OK;
}

/* A counter, which may change while the system copies it: the same value twice is one that was. */
static airy_status read_counter(const airy_ring *ring, uint64_t *value, size_t at)
{
    uint64_t before;
    AIRY_TRY(read_shared(ring, value, sizeof(*value), at));
    for (int i = 0; i < READ_TRIES; i++) {
        before = *value;
        AIRY_TRY(read_shared(ring, value, sizeof(*value), at));
        if (*value == before)
            return AIRY_OK;
    }
    return airy_fail_on(AIRY_ERR_CORRUPT, AIRY_SUBJECT_ADDRESS,
                        "ring %s: a counter does not stand still", ring->name);
}

static airy_status write_shared(const airy_ring *ring, const void *bytes, size_t size, size_t at)
{
    ssize_t n;
    atomic_thread_fence(memory_order_release);
    do
        n = pwrite(ring->fd, bytes, size, (off_t)at);
    while (n < 0 && errno == EINTR);
    AIRY_FAIL_HINT_IF(n != (ssize_t)size, AIRY_ERR_IO, airy_hint_of_errno(n < 0 ? errno : 0),
                      AIRY_SUBJECT_ADDRESS, "ring %s: cannot write its counters: %s", ring->name,
                      n < 0 ? strerror(errno) : "nothing was written");
    return AIRY_OK;
}

static airy_status write_released(const airy_ring *ring)
{
    return write_shared(ring, &ring->count, sizeof(ring->count), offsetof(struct header, released));
}

/* Whoever may write to the object may put any frames into it. */
static airy_status check_owner(const airy_ring *ring, const struct stat *about)
{
    AIRY_FAIL_HINT_IF(
        about->st_uid != geteuid() && about->st_uid != 0, AIRY_ERR_IO, AIRY_HINT_STATED,
        AIRY_SUBJECT_ADDRESS,
        "ring %s belongs to user %u, expected this user (%u) or root; run producer and "
        "consumer as the same user",
        ring->name, (unsigned)about->st_uid, (unsigned)geteuid());
    AIRY_FAIL_HINT_IF(
        about->st_mode & (S_IWGRP | S_IWOTH), AIRY_ERR_IO, AIRY_HINT_STATED, AIRY_SUBJECT_ADDRESS,
        "ring %s may be written by other users (mode %03o), expected 600; let its producer "
        "create it anew",
        ring->name, (unsigned)(about->st_mode & 0777));
    return AIRY_OK;
}

/* Memory for a copy of one frame; the size is the other side's word. */
static airy_status alloc_frame(airy_ring *ring)
{
    void *block;
    if (ring->frames)
        return AIRY_OK;
    AIRY_FAIL_ON_IF(ring->frame_bytes > airy_memory_available(), AIRY_ERR_MEMORY,
                    AIRY_SUBJECT_ADDRESS,
                    "ring %s: a frame has %zu bytes, more than the memory that is left", ring->name,
                    ring->frame_bytes);
    AIRY_TRY(airy_memory_alloc(&block, ring->frame_bytes));
    ring->frames = block;
    return AIRY_OK;
}

/*
 * The object as it is now. *ready false: its producer is still filling it in, or is gone. What is
 * copied out of the header here is all that is ever believed of it.
 */
static airy_status adopt(airy_ring *ring, bool *ready)
{
    struct stat stat;
    struct layout layout;
    struct header h;
    unsigned filled;
    *ready = false;
    AIRY_FAIL_HINT_IF(fstat(ring->fd, &stat) != 0, AIRY_ERR_IO, airy_hint_of_errno(errno),
                      AIRY_SUBJECT_ADDRESS, "ring %s: %s", ring->name, strerror(errno));
    AIRY_TRY(check_owner(ring, &stat));
    if (stat.st_size == 0 || !is_locked(ring->fd, PRODUCER))
        return AIRY_OK;
    AIRY_FAIL_ON_IF(stat.st_size < (off_t)sizeof(struct header), AIRY_ERR_CORRUPT,
                    AIRY_SUBJECT_ADDRESS, "ring %s is no ring: %lld bytes", ring->name,
                    (long long)stat.st_size);
    AIRY_TRY(read_shared(ring, &filled, sizeof(filled), offsetof(struct header, ready)));
    if (!filled)
        return AIRY_OK;
    AIRY_TRY(read_shared(ring, &h, sizeof(h), 0));
    AIRY_FAIL_ON_IF(memcmp(h.magic, magic, sizeof(magic)) != 0, AIRY_ERR_CORRUPT,
                    AIRY_SUBJECT_ADDRESS, "ring %s is no ring", ring->name);
    AIRY_FAIL_ON_IF(h.version != VERSION, AIRY_ERR_CORRUPT, AIRY_SUBJECT_ADDRESS,
                    "ring %s has version %u, expected %d", ring->name, (unsigned)h.version,
                    (int)VERSION);
    AIRY_FAIL_ON_IF(!plan_layout(&layout, h.frame_bytes, h.slots) || layout.size != h.size ||
                        layout.size != (size_t)stat.st_size,
                    AIRY_ERR_CORRUPT, AIRY_SUBJECT_ADDRESS,
                    "ring %s: %u slots of %llu bytes in %lld bytes", ring->name, (unsigned)h.slots,
                    (unsigned long long)h.frame_bytes, (long long)stat.st_size);
    AIRY_TRY(map_bytes(ring, sizeof(struct header), PROT_READ));
    ring->first = layout.frames;
    ring->stride = layout.stride;
    ring->slots = h.slots;
    ring->frame_bytes = (size_t)h.frame_bytes;
    *ready = true;
    return AIRY_OK;
}

/* A consumer before this one has released so many; where that cannot be, what is in it is lost. */
static airy_status resume(airy_ring *ring)
{
    uint64_t given;
    AIRY_TRY(read_counter(ring, &given, offsetof(struct header, given)));
    AIRY_TRY(read_counter(ring, &ring->count, offsetof(struct header, released)));
    if (given - ring->count > ring->slots)
        ring->count = given;
    return write_released(ring);
}

static airy_status try_open(airy_ring *ring, bool *ready)
{
    *ready = false;
    ring->fd = shm_open(ring->name, O_RDWR, 0);
    if (ring->fd < 0 && errno == ENOENT)
        return AIRY_OK;
    AIRY_FAIL_HINT_IF(ring->fd < 0, AIRY_ERR_IO, airy_hint_of_errno(errno), AIRY_SUBJECT_ADDRESS,
                      "ring %s: cannot open it: %s", ring->name, strerror(errno));
    airy_status status = adopt(ring, ready);
    if (status == AIRY_OK && *ready && !lock_side(ring->fd, CONSUMER))
        status = airy_fail_on(AIRY_ERR_EXISTS, AIRY_SUBJECT_ADDRESS,
                              "ring %s has a consumer already", ring->name);
    if (status == AIRY_OK && *ready)
        status = resume(ring);
    if (status == AIRY_OK && *ready)
        return AIRY_OK;
    *ready = false;
    if (ring->header)
        munmap(ring->header, ring->size);
    ring->header = NULL;
    close(ring->fd);
    ring->fd = -1;
    return status;
}

airy_status airy_ring_open(airy_ring **ring, const char *name, uint64_t timeout_ns)
{
    airy_ring *r;
    const uint64_t deadline = airy_notice_deadline(timeout_ns);
    AIRY_FAIL_IF(!ring, AIRY_ERR_PARAM, "airy_ring_open: ring is NULL");
    AIRY_TRY(new_ring(&r, CONSUMER, name));
    bool ready = false;
    airy_status status;
    for (;;) {
        status = try_open(r, &ready);
        if (status != AIRY_OK || ready || airy_clock_ns() >= deadline)
            break;
        usleep(1000);
    }
    if (status == AIRY_OK && !ready)
        status = airy_hinted(
            AIRY_HINT_PRODUCER,
            airy_fail_on(AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_ADDRESS, "there is no ring %s", r->name));
    if (status != AIRY_OK) {
        close_ring(r);
        return status;
    }
    *ring = r;
    return AIRY_OK;
}

/* Has the producer said so, or gone without? */
static airy_status is_ended(const airy_ring *ring, bool *ended)
{
    unsigned word;
    AIRY_TRY(read_shared(ring, &word, sizeof(word), offsetof(struct header, ended)));
    *ended = word != 0 || !is_locked(ring->fd, PRODUCER);
    return AIRY_OK;
}

/* Frames in the ring. */
static airy_status count_waiting(const airy_ring *ring, uint64_t *waiting)
{
    uint64_t given;
    AIRY_TRY(read_counter(ring, &given, offsetof(struct header, given)));
    *waiting = given - ring->count;
    AIRY_FAIL_ON_IF(*waiting > ring->slots, AIRY_ERR_CORRUPT, AIRY_SUBJECT_ADDRESS,
                    "ring %s: %llu frames given, %llu released, %zu slots", ring->name,
                    (unsigned long long)given, (unsigned long long)ring->count, ring->slots);
    return AIRY_OK;
}

/*
 * Sleep until the producer posts its notice after `seen`: the order is that of airy_notice_wait, and
 * this is the only sleeper.
 */
static airy_status wait_notice(const airy_ring *ring, unsigned seen, uint64_t deadline)
{
    const size_t at = offsetof(struct header, given_notice) +
                      offsetof(struct airy_notice, sleepers);
    const unsigned one = 1, none = 0;
    AIRY_TRY(write_shared(ring, &one, sizeof(one), at));
    airy_notice_sleep(&ring->header->given_notice, seen, deadline);
    return write_shared(ring, &none, sizeof(none), at);
}

static airy_status copy_frame(const airy_ring *ring, void *to, airy_ring_frame *frame)
{
    const size_t slot = (size_t)(ring->count % ring->slots);
    uint64_t number;
    AIRY_TRY(
        read_shared(ring, &number, sizeof(number), sizeof(struct header) + slot * sizeof(number)));
    AIRY_TRY(read_shared(ring, to, ring->frame_bytes, ring->first + slot * ring->stride));
    *frame = (airy_ring_frame){.data = to, .number = number};
    return AIRY_OK;
}

airy_status airy_ring_next(airy_ring *ring, airy_ring_frame *frame, uint64_t timeout_ns,
                           bool *ended)
{
    AIRY_TRY(check_side(ring, CONSUMER, "airy_ring_next"));
    AIRY_FAIL_IF(!frame, AIRY_ERR_PARAM, "airy_ring_next: frame is NULL");
    AIRY_TRY(alloc_frame(ring));
    return airy_ring_copy(ring, ring->frames, frame, timeout_ns, ended);
}

airy_status airy_ring_copy(airy_ring *ring, void *to, airy_ring_frame *frame, uint64_t timeout_ns,
                           bool *ended)
{
    const uint64_t deadline = airy_notice_deadline(timeout_ns);
    uint64_t waiting;
    bool over = false;
    AIRY_TRY(check_side(ring, CONSUMER, "airy_ring_copy"));
    AIRY_FAIL_IF(!to || !frame, AIRY_ERR_PARAM, "airy_ring_copy: argument is NULL");
    for (;;) {
        unsigned seen;
        AIRY_TRY(read_shared(ring, &seen, sizeof(seen),
                             offsetof(struct header, given_notice) +
                                 offsetof(struct airy_notice, posts)));
        AIRY_TRY(count_waiting(ring, &waiting));
        if (waiting > 0 || over)
            break;
        /* Then the frames are counted once more: none comes after the end. */
        AIRY_TRY(is_ended(ring, &over));
        if (over)
            continue;
        if (airy_clock_ns() >= deadline)
            break;
        const uint64_t look = airy_notice_deadline(LOOK_NS);
        AIRY_TRY(wait_notice(ring, seen, look < deadline ? look : deadline));
    }
    *frame = (airy_ring_frame){0};
    ring->taken = false;
    if (waiting > 0)
        AIRY_TRY(copy_frame(ring, to, frame));
    ring->taken = waiting > 0;
    if (ended)
        *ended = waiting == 0 && over;
    return AIRY_OK;
}

airy_status airy_ring_release(airy_ring *ring)
{
    AIRY_TRY(check_side(ring, CONSUMER, "airy_ring_release"));
    AIRY_FAIL_IF(!ring->taken, AIRY_ERR_PARAM,
                 "airy_ring_release without a frame from airy_ring_next");
    ring->taken = false;
    ring->count++;
    return write_released(ring);
}

airy_status airy_ring_get_info(airy_ring *ring, airy_ring_info *info)
{
    AIRY_FAIL_IF(!ring || !info, AIRY_ERR_PARAM, "airy_ring_get_info: argument is NULL");
    uint64_t given, released, dropped;
    struct stat stat;
    AIRY_FAIL_HINT_IF(fstat(ring->fd, &stat) != 0, AIRY_ERR_IO, airy_hint_of_errno(errno),
                      AIRY_SUBJECT_ADDRESS, "ring %s: %s", ring->name, strerror(errno));
    AIRY_TRY(read_counter(ring, &given, offsetof(struct header, given)));
    AIRY_TRY(read_counter(ring, &released, offsetof(struct header, released)));
    AIRY_TRY(read_counter(ring, &dropped, offsetof(struct header, dropped)));
    *info = (airy_ring_info){
        .frame_bytes = ring->frame_bytes,
        .slots = ring->slots,
        .given = given,
        .dropped = dropped,
        .waiting = given - released,
        .memory = (uint64_t)stat.st_size,
    };
    return AIRY_OK;
}

void airy_ring_destroy(airy_ring **ring)
{
    if (!ring || !*ring)
        return;
    airy_ring *r = *ring;
    if (r->side == PRODUCER) {
        (void)airy_ring_end(r);
        unlink_locked(r->name, r->fd);
    }
    close_ring(r);
    *ring = NULL;
}
