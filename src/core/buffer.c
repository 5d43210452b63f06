#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "core/backend.h"

typedef unsigned long long ull;

static uint64_t find_largest(const airy_device *device)
{
    uint64_t largest = 0;
    for (const airy_buffer *b = device->live; b; b = b->next)
        largest = b->size > largest ? b->size : largest;
    return largest;
}

/*
 * What counts against the limit. Where work is done in the host's memory there is one memory: its
 * arrays and airy_host share the limit. The device's lock is held.
 */
static uint64_t in_use(const airy_device *device)
{
    return device->memory.in_use + (device->backend->in_place ? device->memory.host_in_use : 0);
}

airy_status airy_device_book(airy_device *device, uint64_t size, const char *what)
{
    pthread_mutex_lock(&device->lock);
    const uint64_t limit = device->memory.limit, used = in_use(device);
    const bool fits = size <= limit && used <= limit - size;
    if (fits)
        device->memory.in_use += size;
    if (device->memory.in_use > device->memory.peak)
        device->memory.peak = device->memory.in_use;
    pthread_mutex_unlock(&device->lock);
    AIRY_FAIL_ON_IF(!fits, AIRY_ERR_MEMORY, AIRY_SUBJECT_DEVICE,
                    "out of memory on %s for %s: wanted %llu bytes, in use %llu, limit %llu",
                    device->info.spec, what, (ull)size, (ull)used, (ull)limit);
    return AIRY_OK;
}

void airy_device_unbook(airy_device *device, uint64_t size)
{
    pthread_mutex_lock(&device->lock);
    device->memory.in_use -= size;
    pthread_mutex_unlock(&device->lock);
}

uint64_t airy_device_room(airy_device *device)
{
    pthread_mutex_lock(&device->lock);
    const uint64_t limit = device->memory.limit, used = in_use(device);
    pthread_mutex_unlock(&device->lock);
    return used < limit ? limit - used : 0;
}

/* Book size bytes before they are asked for, so that two threads cannot pass the limit together. */
static airy_status book(airy_device *device, size_t size, const char *what)
{
    pthread_mutex_lock(&device->lock);
    airy_memory_info m = device->memory;
    const uint64_t most = device->info.max_alloc, used = in_use(device);
    const bool fits = (most == 0 || size <= most) && size <= m.limit && used <= m.limit - size;
    if (fits) {
        device->memory.in_use += size;
        device->memory.count++;
        if (device->memory.in_use > m.peak)
            device->memory.peak = device->memory.in_use;
    } else {
        m.largest = find_largest(device);
    }
    pthread_mutex_unlock(&device->lock);
    AIRY_FAIL_ON_IF(
        !fits && most && size > most, AIRY_ERR_MEMORY, AIRY_SUBJECT_DEVICE,
        "out of memory on %s for %s: wanted %llu bytes, largest single allocation of the "
        "device %llu",
        device->info.spec, what, (ull)size, (ull)most);
    AIRY_FAIL_ON_IF(
        !fits, AIRY_ERR_MEMORY, AIRY_SUBJECT_DEVICE,
        "out of memory on %s for %s: wanted %llu bytes, in use %llu, limit %llu, largest "
        "block %llu",
        device->info.spec, what, (ull)size, (ull)used, (ull)m.limit, (ull)m.largest);
    return AIRY_OK;
}

static void give_back(airy_device *device, size_t size)
{
    pthread_mutex_lock(&device->lock);
    device->memory.in_use -= size;
    device->memory.count--;
    pthread_mutex_unlock(&device->lock);
}

/* The back end's reason at the end of the sentence. The booked size counts no more. */
static airy_status report(airy_device *device, airy_status status, size_t size, const char *what)
{
    airy_error reason;
    airy_error_get(&reason);
    give_back(device, size);
    airy_memory_info m;
    AIRY_TRY(airy_device_memory(device, &m));
    return airy_fail_on(status, AIRY_SUBJECT_DEVICE,
                        "out of memory on %s for %s: wanted %llu bytes, in use %llu, limit %llu, "
                        "largest block %llu: %s",
                        device->info.spec, what, (ull)size, (ull)m.in_use, (ull)m.limit,
                        (ull)m.largest, reason.text);
}

static void link_buffer(airy_device *device, airy_buffer *b)
{
    pthread_mutex_lock(&device->lock);
    b->next = device->live;
    if (b->next)
        b->next->previous = b;
    device->live = b;
    pthread_mutex_unlock(&device->lock);
}

static void unlink_buffer(airy_device *device, airy_buffer *b)
{
    pthread_mutex_lock(&device->lock);
    if (b->previous)
        b->previous->next = b->next;
    else
        device->live = b->next;
    if (b->next)
        b->next->previous = b->previous;
    pthread_mutex_unlock(&device->lock);
}

static void begin(airy_buffer *b, airy_device *device, size_t size)
{
    b->device = device;
    b->size = size;
    atomic_init(&b->references, 1);
}

airy_status airy_buffer_create(airy_buffer **buffer, airy_device *device, size_t size,
                               const char *what)
{
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, 1, sizeof(airy_buffer), "a buffer"));
    airy_buffer *b = block;
    airy_status status = book(device, size, what);
    if (status == AIRY_OK) {
        status = device->backend->alloc(device, size ? size : 1, &b->handle);
        if (status == AIRY_ERR_MEMORY)
            status = report(device, status, size, what);
        else if (status != AIRY_OK)
            give_back(device, size);
    }
    if (status != AIRY_OK) {
        free(b);
        return status;
    }
    begin(b, device, size);
    link_buffer(device, b);
    *buffer = b;
    return AIRY_OK;
}

airy_status airy_buffer_over(airy_buffer **buffer, airy_device *device, size_t size, void *handle,
                             const char *what)
{
    AIRY_TRY(airy_buffer_borrow(buffer, device, size, handle));
    airy_buffer *b = *buffer;
    const airy_status status = book(device, size, what);
    if (status != AIRY_OK) {
        airy_buffer_release(buffer);
        return status;
    }
    b->borrowed = false;
    b->over = true;
    link_buffer(device, b);
    return AIRY_OK;
}

airy_status airy_buffer_borrow(airy_buffer **buffer, airy_device *device, size_t size, void *handle)
{
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, 1, sizeof(airy_buffer), "a buffer"));
    airy_buffer *b = block;
    begin(b, device, size);
    b->handle = handle;
    b->borrowed = true;
    *buffer = b;
    return AIRY_OK;
}

void airy_buffer_release(airy_buffer **buffer)
{
    airy_buffer *b = *buffer;
    *buffer = NULL;
    if (!b || atomic_fetch_sub(&b->references, 1) > 1)
        return;
    airy_device *device = b->device;
    if (!b->borrowed) {
        unlink_buffer(device, b);
        if (!b->over)
            device->backend->release(device, b->handle);
        give_back(device, b->size);
    }
    free(b);
}

airy_status airy_device_memory(const airy_device *device, airy_memory_info *info)
{
    AIRY_FAIL_IF(!device || !info, AIRY_ERR_PARAM, "airy_device_memory: argument is NULL");
    pthread_mutex_t *lock = (pthread_mutex_t *)&device->lock;
    pthread_mutex_lock(lock);
    *info = device->memory;
    info->largest = find_largest(device);
    pthread_mutex_unlock(lock);
    return AIRY_OK;
}
