#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "core/backend.h"

airy_status airy_host_create(airy_host **host, airy_device *device, size_t size)
{
    void *block;
    AIRY_FAIL_IF(!host || !device, AIRY_ERR_PARAM, "airy_host_create: argument is NULL");
    AIRY_FAIL_IF(size == 0, AIRY_ERR_PARAM, "airy_host_create: size = 0, expected at least 1");
    AIRY_TRY(airy_memory_calloc(&block, 1, sizeof(airy_host), "host memory"));
    airy_host *h = block;
    h->device = device;
    h->size = size;
    const airy_status status = device->backend->host_alloc(device, size, h);
    if (status != AIRY_OK) {
        free(h);
        return airy_fail_context(status, "page-locked memory of %s, wanted %llu bytes", device->info.spec,
                                 (unsigned long long)size);
    }
    pthread_mutex_lock(&device->lock);
    h->next = device->hosts;
    if (h->next)
        h->next->previous = h;
    device->hosts = h;
    device->memory.host_in_use += size;
    if (device->memory.host_in_use > device->memory.host_peak)
        device->memory.host_peak = device->memory.host_in_use;
    pthread_mutex_unlock(&device->lock);
    *host = h;
    return AIRY_OK;
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
    device->memory.host_in_use -= h->size;
    pthread_mutex_unlock(&device->lock);
    device->backend->host_release(device, h);
    free(h);
    *host = NULL;
}

void *airy_host_data(airy_host *host)
{
    return host->data;
}

size_t airy_host_size(const airy_host *host)
{
    return host->size;
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
