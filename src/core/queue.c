#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/backend.h"

airy_status airy_queue_create(airy_queue **queue, airy_device *device)
{
    void *block;
    AIRY_FAIL_IF(!queue || !device, AIRY_ERR_PARAM, "airy_queue_create: argument is NULL");
    AIRY_TRY(airy_memory_calloc(&block, 1, sizeof(airy_queue), "a queue"));
    airy_queue *q = block;
    q->device = device;
    const airy_status status = device->backend->queue_open(q);
    if (status != AIRY_OK) {
        free(q);
        return status;
    }
    *queue = q;
    return AIRY_OK;
}

void airy_queue_destroy(airy_queue **queue)
{
    if (!queue || !*queue)
        return;
    airy_queue *q = *queue;
    (void)q->device->backend->finish(q);
    for (int i = 0; i < AIRY_SCRATCH_COUNT; i++)
        airy_buffer_release(&q->scratch[i]);
    q->device->backend->queue_close(q);
    free(q);
    *queue = NULL;
}

airy_status airy_queue_flush(airy_queue *queue)
{
    AIRY_FAIL_IF(!queue, AIRY_ERR_PARAM, "airy_queue_flush: queue is NULL");
    return queue->device->backend->flush(queue);
}

airy_status airy_queue_finish(airy_queue *queue)
{
    AIRY_FAIL_IF(!queue, AIRY_ERR_PARAM, "airy_queue_finish: queue is NULL");
    const airy_status status = queue->device->backend->finish(queue);
    if (queue->error.status == AIRY_OK)
        return status;
    (void)airy_error_restore(&queue->error);
    const airy_status first = queue->error.status;
    queue->error.status = AIRY_OK;
    return first;
}

airy_device *airy_queue_device(const airy_queue *queue)
{
    return queue ? queue->device : NULL;
}

const struct airy_backend *airy_queue_backend(const airy_queue *queue)
{
    return queue->device->backend;
}

void airy_queue_set_error(airy_queue *queue, airy_status status)
{
    (void)airy_error_first(&queue->error, status);
}

airy_status airy_queue_scratch(airy_queue *queue, enum airy_scratch slot, size_t size,
                               airy_buffer **buffer)
{
    static const char *const names[AIRY_SCRATCH_COUNT] = {
        "scratch for frames", "scratch for partial sums", "scratch for blocks", "small scratch",
        "scratch for turns",  "scratch for labels",       "counters",           "an answer"};
    airy_buffer **held = &queue->scratch[slot];
    if (*held && (*held)->size < size)
        airy_buffer_release(held);
    if (!*held)
        AIRY_TRY(airy_buffer_create(held, queue->device, size, names[slot]));
    *buffer = *held;
    return AIRY_OK;
}

airy_status airy_queue_thread_scratch(airy_queue *queue, enum airy_scratch slot, size_t each,
                                      unsigned *threads, airy_buffer **buffer)
{
    const size_t held = queue->scratch[slot] ? queue->scratch[slot]->size : 0;
    /* Half of it: arrays that come later need room as well. */
    const uint64_t room = (airy_device_room(queue->device) + held) / 2;
    unsigned n = airy_pool_size(queue->device->pool);
    if (queue->threads && queue->threads < n)
        n = queue->threads;
    if (each > 0 && room / each < n)
        n = room < each ? 1 : (unsigned)(room / each);
    size_t size;
    AIRY_FAIL_IF(airy_mul_size(&size, each, n), AIRY_ERR_MEMORY,
                 "scratch of %zu bytes for each of %u threads does not fit the address space", each,
                 n);
    *threads = n;
    return airy_queue_scratch(queue, slot, size, buffer);
}
