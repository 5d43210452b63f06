#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/notice.h"
#include "base/size.h"
#include "opencl/cl_buffer.h"

enum {
    ALIGNMENT = 256,
    LOOK_NS = 2000000 /* for an answer, before the thread leaves the waiting to the driver */
};

static airy_status retire_oldest(struct airy_cl_queue *queue)
{
    struct airy_cl_staging *staging = &queue->staging;
    const cl_event event = staging->pieces[staging->first].event;
    staging->first = (staging->first + 1) % AIRY_CL_STAGING_PIECES;
    staging->count--;
    const cl_int code = queue->device->cl->WaitForEvents(1, &event);
    queue->device->cl->ReleaseEvent(event);
    AIRY_CL_TRY(queue->device, code, "a copy through page-locked memory");
    return AIRY_OK;
}

static bool in_use(const struct airy_cl_staging *staging, size_t begin, size_t end)
{
    for (unsigned i = 0; i < staging->count; i++) {
        const unsigned k = (staging->first + i) % AIRY_CL_STAGING_PIECES;
        if (staging->pieces[k].begin < end && begin < staging->pieces[k].end)
            return true;
    }
    return false;
}

airy_status airy_cl_staging_take(struct airy_cl_queue *queue, size_t size, void **piece)
{
    struct airy_cl_staging *staging = &queue->staging;
    if (!staging->buffer) {
        void *data;
        AIRY_TRY(airy_cl_pin(queue->device, AIRY_CL_STAGING_BYTES, false, &staging->buffer, &data));
        staging->data = data;
    }
    if (staging->head + size > AIRY_CL_STAGING_BYTES)
        staging->head = 0;
    while (staging->count == AIRY_CL_STAGING_PIECES ||
           in_use(staging, staging->head, staging->head + size))
        AIRY_TRY(retire_oldest(queue));
    *piece = staging->data + staging->head;
    return AIRY_OK;
}

void airy_cl_staging_used(struct airy_cl_queue *queue, const void *piece, size_t size,
                          cl_event event)
{
    struct airy_cl_staging *staging = &queue->staging;
    const size_t begin = (size_t)((const unsigned char *)piece - staging->data);
    const unsigned k = (staging->first + staging->count) % AIRY_CL_STAGING_PIECES;
    staging->pieces[k].begin = begin;
    staging->pieces[k].end = begin + size;
    staging->pieces[k].event = event;
    staging->count++;
    staging->head = airy_align_up(begin + size, ALIGNMENT);
}

void airy_cl_staging_release(struct airy_cl_queue *queue)
{
    struct airy_cl_staging *staging = &queue->staging;
    for (; staging->count;
         staging->count--, staging->first = (staging->first + 1) % AIRY_CL_STAGING_PIECES)
        queue->device->cl->ReleaseEvent(staging->pieces[staging->first].event);
    if (staging->buffer)
        airy_cl_unpin(queue->device, staging->buffer, staging->data);
    staging->buffer = NULL;
    if (queue->answer.memory)
        airy_cl_unpin(queue->device, queue->answer.memory, queue->answer.data);
    queue->answer.memory = NULL;
}

airy_status airy_cl_answer_begin(airy_queue *queue, airy_buffer *buffer,
                                 struct airy_cl_answer *answer)
{
    struct airy_cl_queue *impl = airy_cl_queue(queue);
    *answer = (struct airy_cl_answer){.buffer = buffer, .memory = buffer->handle};
    if (!queue->device->shares_host)
        return AIRY_OK;
    if (!impl->answer.memory) {
        AIRY_TRY(airy_cl_pin(impl->device, AIRY_CL_ANSWER_BYTES, true, &impl->answer.memory,
                             &impl->answer.data));
        memset(impl->answer.data, 0, AIRY_CL_ANSWER_BYTES);
    }
    impl->answer.turn += impl->answer.turn == UINT32_MAX ? 2 : 1;
    answer->memory = impl->answer.memory;
    answer->turn = impl->answer.turn;
    return AIRY_OK;
}

airy_status airy_cl_answer_wait(airy_queue *queue, const struct airy_cl_answer *answer, void *data,
                                size_t size)
{
    const struct airy_cl_queue *impl = airy_cl_queue(queue);
    if (answer->turn == 0) {
        const airy_array bytes = airy_cl_bytes_of(answer->buffer, size);
        return airy_cl_pull(queue, data, &bytes, false);
    }
    const _Atomic uint32_t *turn = impl->answer.data;
    AIRY_TRY(airy_cl_flush(queue));
    for (const uint64_t end = airy_clock_ns() + LOOK_NS;
         atomic_load_explicit(turn, memory_order_acquire) != answer->turn;) {
        airy_relax();
        if (airy_clock_ns() < end)
            continue;
        AIRY_TRY(airy_cl_finish(queue));
        AIRY_FAIL_IF(atomic_load_explicit(turn, memory_order_acquire) != answer->turn,
                     AIRY_ERR_DEVICE, "device '%s' is done, but its kernel has given no answer",
                     impl->device->spec);
    }
    memcpy(data, impl->answer.data, size);
    return AIRY_OK;
}
