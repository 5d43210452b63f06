#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "core/backend.h"

airy_status airy_event_create(airy_event **event, airy_device *device)
{
    void *block;
    AIRY_FAIL_IF(!event || !device, AIRY_ERR_PARAM, "airy_event_create: argument is NULL");
    AIRY_TRY(airy_memory_calloc(&block, 1, sizeof(airy_event), "an event"));
    airy_event *e = block;
    e->device = device;
    *event = e;
    return AIRY_OK;
}

void airy_event_destroy(airy_event **event)
{
    if (!event || !*event)
        return;
    (*event)->device->backend->event_close(*event);
    free(*event);
    *event = NULL;
}

static airy_status check_devices(const airy_event *event, const airy_queue *queue)
{
    AIRY_FAIL_IF(event->device != queue->device, AIRY_ERR_PARAM,
                 "event is of device %s, the queue of %s", event->device->info.spec,
                 queue->device->info.spec);
    return AIRY_OK;
}

airy_status airy_event_record(airy_event *event, airy_queue *queue)
{
    AIRY_FAIL_IF(!event || !queue, AIRY_ERR_PARAM, "airy_event_record: argument is NULL");
    AIRY_TRY(check_devices(event, queue));
    AIRY_TRY(queue->device->backend->event_record(event, queue));
    event->recorded = true;
    return AIRY_OK;
}

airy_status airy_queue_wait(airy_queue *queue, const airy_event *event)
{
    AIRY_FAIL_IF(!queue || !event, AIRY_ERR_PARAM, "airy_queue_wait: argument is NULL");
    AIRY_TRY(check_devices(event, queue));
    return event->recorded ? queue->device->backend->event_enqueue_wait(queue, event) : AIRY_OK;
}

airy_status airy_event_wait(const airy_event *event)
{
    AIRY_FAIL_IF(!event, AIRY_ERR_PARAM, "airy_event_wait: event is NULL");
    return event->recorded ? event->device->backend->event_wait(event) : AIRY_OK;
}

airy_status airy_event_is_done(const airy_event *event, bool *done)
{
    AIRY_FAIL_IF(!event || !done, AIRY_ERR_PARAM, "airy_event_is_done: argument is NULL");
    *done = true;
    return event->recorded ? event->device->backend->event_is_done(event, done) : AIRY_OK;
}
