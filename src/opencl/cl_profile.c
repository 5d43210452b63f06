/* Reading the times of a queue's commands for the profile. */
#include "core/profile.h"

#include <stdlib.h>

#include "base/memory.h"
#include "opencl/cl_queue.h"

/* Wait for the oldest commands, and read their times. The device's profile_lock is held. */
static void settle(struct airy_cl_queue *queue, unsigned count)
{
    const struct airy_cl_api *cl = queue->device->cl;
    if (count == 0)
        return;
    /* in order: the others are done then */
    (void)cl->WaitForEvents(1, &queue->pending[count - 1].event);
    for (unsigned i = 0; i < count; i++) {
        struct airy_cl_pending *pending = &queue->pending[i];
        cl_ulong start = 0, end = 0;
        if (cl->GetEventProfilingInfo(pending->event, CL_PROFILING_COMMAND_START, sizeof(start),
                                      &start, NULL) == CL_SUCCESS &&
            cl->GetEventProfilingInfo(pending->event, CL_PROFILING_COMMAND_END, sizeof(end), &end,
                                      NULL) == CL_SUCCESS &&
            end >= start)
            airy_profile_add(queue->profile, pending->name, pending->transfer,
                             (double)(end - start) * 1e-6, pending->bytes);
        cl->ReleaseEvent(pending->event);
    }
    for (unsigned i = count; i < queue->pending_count; i++)
        queue->pending[i - count] = queue->pending[i];
    queue->pending_count -= count;
}

void airy_cl_profile_settle(struct airy_cl_queue *queue)
{
    if (!queue->profile)
        return;
    pthread_mutex_lock(&queue->device->profile_lock);
    settle(queue, queue->pending_count);
    pthread_mutex_unlock(&queue->device->profile_lock);
}

void airy_cl_profile_settle_all(const airy_device *device)
{
    struct airy_cl_device *impl = airy_cl_device(device);
    pthread_mutex_lock(&impl->profile_lock);
    for (struct airy_cl_queue *queue = impl->profiled; queue; queue = queue->next)
        settle(queue, queue->pending_count);
    pthread_mutex_unlock(&impl->profile_lock);
}

void airy_cl_profile_take(airy_queue *queue, cl_event event, const char *name, bool transfer,
                          double bytes)
{
    struct airy_cl_queue *impl = airy_cl_queue(queue);
    pthread_mutex_lock(&impl->device->profile_lock);
    if (impl->pending_count == AIRY_CL_MAX_PENDING)
        settle(impl, AIRY_CL_MAX_PENDING / 2);
    impl->pending[impl->pending_count++] = (struct airy_cl_pending){event, name, transfer, bytes};
    pthread_mutex_unlock(&impl->device->profile_lock);
}

airy_status airy_cl_profile_open(struct airy_cl_queue *queue, airy_profile *profile)
{
    AIRY_TRY(airy_memory_calloc((void **)&queue->pending, AIRY_CL_MAX_PENDING,
                                sizeof(*queue->pending), "a profile"));
    queue->profile = profile;
    pthread_mutex_lock(&queue->device->profile_lock);
    queue->next = queue->device->profiled;
    if (queue->next)
        queue->next->previous = queue;
    queue->device->profiled = queue;
    pthread_mutex_unlock(&queue->device->profile_lock);
    return AIRY_OK;
}

void airy_cl_profile_close(struct airy_cl_queue *queue)
{
    if (!queue->profile)
        return;
    pthread_mutex_lock(&queue->device->profile_lock);
    settle(queue, queue->pending_count);
    if (queue->previous)
        queue->previous->next = queue->next;
    else
        queue->device->profiled = queue->next;
    if (queue->next)
        queue->next->previous = queue->previous;
    pthread_mutex_unlock(&queue->device->profile_lock);
    free(queue->pending);
}
