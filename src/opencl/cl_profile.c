/* Reading the times of a queue's commands for the profile. */
#include "core/profile.h"
#include "opencl/cl_queue.h"

/* Wait for the oldest commands, and read their times. */
void airy_cl_profile_settle(airy_queue *queue, unsigned count)
{
    struct airy_cl_queue *impl = airy_cl_queue(queue);
    const struct airy_cl_api *cl = impl->device->cl;
    if (count == 0)
        return;
    /* in order: the others are done then */
    (void)cl->WaitForEvents(1, &impl->pending[count - 1].event);
    for (unsigned i = 0; i < count; i++) {
        struct airy_cl_pending *pending = &impl->pending[i];
        cl_ulong start = 0, end = 0;
        if (cl->GetEventProfilingInfo(pending->event, CL_PROFILING_COMMAND_START, sizeof(start),
                                      &start, NULL) == CL_SUCCESS &&
            cl->GetEventProfilingInfo(pending->event, CL_PROFILING_COMMAND_END, sizeof(end), &end,
                                      NULL) == CL_SUCCESS &&
            end >= start)
            airy_profile_add(queue->device->profile, pending->name, pending->transfer,
                             (double)(end - start) * 1e-6, pending->bytes);
        cl->ReleaseEvent(pending->event);
    }
    for (unsigned i = count; i < impl->pending_count; i++)
        impl->pending[i - count] = impl->pending[i];
    impl->pending_count -= count;
}

void airy_cl_profile_take(airy_queue *queue, cl_event event, const char *name, bool transfer,
                          double bytes)
{
    struct airy_cl_queue *impl = airy_cl_queue(queue);
    if (impl->pending_count == AIRY_CL_MAX_PENDING)
        airy_cl_profile_settle(queue, AIRY_CL_MAX_PENDING / 2);
    impl->pending[impl->pending_count++] = (struct airy_cl_pending){event, name, transfer, bytes};
}
