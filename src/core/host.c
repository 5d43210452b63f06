#include <assert.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "core/backend.h"

/* Book before asking, so that two threads cannot pass the limit together. */
static airy_status book(airy_device *device, size_t size)
{
    const uint64_t limit = device->params.memory_limit;
    pthread_mutex_lock(&device->lock);
    airy_memory_info *m = &device->memory;
    /* One memory where the device works in the host's. */
    const uint64_t in_use = m->host_in_use + (device->backend->in_place ? m->in_use : 0);
    const bool fits = limit == 0 || (size <= limit && in_use <= limit - size);
    if (fits)
        m->host_in_use += size;
    if (m->host_in_use > m->host_peak)
        m->host_peak = m->host_in_use;
    pthread_mutex_unlock(&device->lock);
    AIRY_FAIL_ON_IF(!fits, AIRY_ERR_MEMORY, AIRY_SUBJECT_DEVICE,
                    "out of page-locked memory of %s: wanted %llu bytes, in use %llu, limit %llu",
                    device->info.spec, (unsigned long long)size, (unsigned long long)in_use,
                    (unsigned long long)limit);
    return AIRY_OK;
}

static void give_back(airy_device *device, size_t size)
{
    pthread_mutex_lock(&device->lock);
    device->memory.host_in_use -= size;
    pthread_mutex_unlock(&device->lock);
}

static airy_status create(airy_host **host, airy_device *device, size_t size, bool shared)
{
    void *block = NULL;
    AIRY_FAIL_IF(!host || !device, AIRY_ERR_PARAM, "airy_host_create: argument is NULL");
    AIRY_FAIL_IF(size == 0, AIRY_ERR_PARAM, "airy_host_create: size = 0, expected at least 1");
    AIRY_TRY(airy_memory_calloc(&block, 1, sizeof(airy_host), "host memory"));
    airy_host *h = block;
    h->device = device;
    h->size = size;
    h->shared = shared;
    airy_status status = book(device, size);
    if (status == AIRY_OK) {
        status = device->backend->host_alloc(device, size, h);
        if (status != AIRY_OK) {
            airy_fail_context(status, "page-locked memory of %s, wanted %llu bytes",
                              device->info.spec, (unsigned long long)size);
            give_back(device, size);
        }
    }
    if (status != AIRY_OK) {
        free(h);
        return status;
    }
    pthread_mutex_lock(&device->lock);
    h->next = device->hosts;
    if (h->next)
        h->next->previous = h;
    device->hosts = h;
    pthread_mutex_unlock(&device->lock);
    *host = h;
    return AIRY_OK;
}

airy_status airy_host_create(airy_host **host, airy_device *device, size_t size)
{
    return create(host, device, size, false);
}

airy_status airy_host_create_shared(airy_host **host, airy_device *device, size_t size)
{
    assert(device->shares_host);
    return create(host, device, size, true);
}

void airy_host_destroy(airy_host **host)
{
    if (!host || !*host)
        return;
    airy_host *h = *host;
    airy_device *device = h->device;
    pthread_mutex_lock(&device->lock);
    if (h->previous)
        h->previous->next = h->next;
    else
        device->hosts = h->next;
    if (h->next)
        h->next->previous = h->previous;
    pthread_mutex_unlock(&device->lock);
    device->backend->host_release(device, h);
    give_back(device, h->size);
    free(h);
    *host = NULL;
}

void *airy_host_data(airy_host *host)
{
    return host ? host->data : NULL;
}

size_t airy_host_size(const airy_host *host)
{
    return host ? host->size : 0;
}

bool airy_host_contains(airy_device *device, const void *data, size_t size)
{
    const uintptr_t first = (uintptr_t)data;
    bool found = false;
    pthread_mutex_lock(&device->lock);
    for (const airy_host *h = device->hosts; h && !found; h = h->next) {
        const uintptr_t base = (uintptr_t)h->data;
        found = first >= base && first - base <= h->size && size <= h->size - (first - base);
    }
    pthread_mutex_unlock(&device->lock);
    return found;
}
