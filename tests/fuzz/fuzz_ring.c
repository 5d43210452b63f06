/*
 * A ring in shared memory whose other side writes what it likes: calls of a producer and a consumer
 * in any order, and bytes of the header and of the slots' numbers changed in between. Every frame
 * that is given lies in the ring, whole; nothing waits for ever.
 *
 * Input: slots (1 byte), bytes of a frame (1), then steps of 4 bytes: what, where (2), value.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "airy/airy.h"
#include "fuzz.h"

struct scene {
    airy_ring *producer, *consumer;
    uint8_t *bytes; /* the object, as a third process sees it */
    size_t size, frame_bytes, slots;
    char name[32];
};

static void map_bytes(struct scene *s)
{
    char full[48];
    struct stat stat;
    snprintf(full, sizeof(full), "/airy-%s", s->name);
    const int fd = shm_open(full, O_RDWR, 0);
    require(fd >= 0 && fstat(fd, &stat) == 0);
    s->size = (size_t)stat.st_size;
    s->bytes = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    require(s->bytes != MAP_FAILED);
    close(fd);
}

/* Reads and writes a whole frame: outside of the map that is a crash. */
static void touch(const void *frame, size_t size, bool write)
{
    volatile uint8_t *at = (volatile uint8_t *)(uintptr_t)frame;
    uint8_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + at[i]);
    if (write)
        at[size - 1] = sum;
}

static void step(struct scene *s, const uint8_t *data)
{
    const size_t where = data[1] | (size_t)data[2] << 8, front = s->size - s->slots * 64;
    airy_ring_frame frame = {0};
    airy_ring_info info;
    void *room = NULL;
    bool ended;
    switch (data[0] % 8) {
    case 0:
        if (airy_ring_take(s->producer, &room) == AIRY_OK && room) {
            touch(room, s->frame_bytes, true);
            require(airy_ring_give(s->producer) == AIRY_OK);
        }
        break;
    case 1:
        (void)airy_ring_drop(s->producer, data[3]);
        break;
    case 2:
        if (!s->consumer)
            (void)airy_ring_open(&s->consumer, s->name, 0);
        if (s->consumer && airy_ring_get_info(s->consumer, &info) == AIRY_OK)
            require(info.frame_bytes <= s->size && info.memory <= s->size);
        break;
    case 3:
    case 4:
        if (s->consumer && airy_ring_next(s->consumer, &frame, 0, &ended) == AIRY_OK &&
            frame.data) {
            require(airy_ring_get_info(s->consumer, &info) == AIRY_OK);
            touch(frame.data, info.frame_bytes, false);
            require(airy_ring_release(s->consumer) == AIRY_OK);
        }
        break;
    case 5:
        airy_ring_destroy(&s->consumer);
        break;
    default:
        s->bytes[data[0] & 64 ? where % s->size : where % (front ? front : 1)] = data[3];
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct scene s = {.slots = 2 + data[0] % 6, .frame_bytes = 1 + data[1] % 64};
    snprintf(s.name, sizeof(s.name), "fuzz-%d", (int)getpid());
    require(airy_ring_create(&s.producer, s.name, s.frame_bytes, s.slots) == AIRY_OK);
    map_bytes(&s);
    for (size_t at = 2; at + 4 <= size && at < 2 + 4 * 200; at += 4)
        step(&s, data + at);
    airy_ring_destroy(&s.consumer);
    airy_ring_destroy(&s.producer);
    munmap(s.bytes, s.size);
    return 0;
}
