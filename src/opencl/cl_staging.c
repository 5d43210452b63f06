#include "base/error.h"
#include "base/size.h"
#include "opencl/cl_buffer.h"

enum { ALIGNMENT = 256 };

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

static airy_status make_staging(struct airy_cl_queue *queue)
{
    struct airy_cl_staging *staging = &queue->staging;
    if (staging->buffer)
        return AIRY_OK;
    void *data;
    AIRY_TRY(airy_cl_pin(queue->device, AIRY_CL_STAGING_BYTES, false, &staging->buffer, &data));
    staging->data = data;
    return AIRY_OK;
}

airy_status airy_cl_staging_take_all(struct airy_cl_queue *queue, unsigned char **data)
{
    AIRY_TRY(make_staging(queue));
    while (queue->staging.count)
        AIRY_TRY(retire_oldest(queue));
    *data = queue->staging.data;
    return AIRY_OK;
}

airy_status airy_cl_staging_take(struct airy_cl_queue *queue, size_t size, void **piece)
{
    struct airy_cl_staging *staging = &queue->staging;
    AIRY_TRY(make_staging(queue));
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

void airy_cl_answer_release(struct airy_cl_queue *queue)
{
    if (queue->answer.memory)
        airy_cl_unpin(queue->device, queue->answer.memory, queue->answer.data);
    queue->answer.memory = NULL;
    queue->answer.size = 0;
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
    airy_cl_answer_release(queue);
}
