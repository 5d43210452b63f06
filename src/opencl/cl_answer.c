/* Answers of kernels: small results that the host waits for. */
#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/notice.h"
#include "base/size.h"
#include "opencl/cl_buffer.h"

/* How long the thread polls before it lets the driver wait, ns. */
enum { LOOK_NS = 2000000 };

static _Atomic uint32_t *turn_of(const struct airy_cl_queue *queue, size_t size, size_t slot)
{
    return (_Atomic uint32_t *)((unsigned char *)queue->answer.data + slot * size);
}

/*
 * Grow to twice the size at least, since page-locking takes long. The memory is cleared, and 0 is
 * no sequence number of an answer.
 */
static airy_status grow_answer(struct airy_cl_queue *queue, size_t least)
{
    const size_t size = airy_max_size(least, 2 * queue->answer.size);
    airy_cl_answer_release(queue);
    AIRY_TRY(airy_cl_pin(queue->device, size, true, &queue->answer.memory, &queue->answer.data));
    memset(queue->answer.data, 0, size);
    queue->answer.size = size;
    return AIRY_OK;
}

airy_status airy_cl_answer_begin(airy_queue *queue, size_t size, size_t slots,
                                 struct airy_cl_answer *answer)
{
    struct airy_cl_queue *impl = airy_cl_queue(queue);
    const size_t whole = size * slots;
    assert(size % sizeof(uint32_t) == 0 && whole <= AIRY_CL_ANSWER_BYTES);
    *answer = (struct airy_cl_answer){.size = size};
    if (!queue->device->shares_host) {
        AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_ANSWER, whole, &answer->buffer));
        answer->memory = answer->buffer->handle;
        return AIRY_OK;
    }
    if (impl->answer.size < whole)
        AIRY_TRY(grow_answer(impl, whole));
    impl->answer.turn += impl->answer.turn == UINT32_MAX ? 2 : 1;
    for (size_t i = 0; i < slots; i++) /* anything of answers of another size may be there */
        atomic_store_explicit(turn_of(impl, size, i), 0, memory_order_relaxed);
    answer->memory = impl->answer.memory;
    answer->turn = impl->answer.turn;
    return AIRY_OK;
}

airy_status airy_cl_answer_wait(airy_queue *queue, const struct airy_cl_answer *answer, size_t slot,
                                const void **data)
{
    const struct airy_cl_queue *impl = airy_cl_queue(queue);
    if (answer->turn == 0) {
        airy_array bytes = airy_cl_bytes_of(answer->buffer, answer->size);
        bytes.offset = slot * answer->size;
        return airy_cl_peek(queue, data, &bytes);
    }
    const _Atomic uint32_t *turn = turn_of(impl, answer->size, slot);
    if (slot == 0)
        AIRY_TRY(airy_cl_flush(queue));
    for (const uint64_t end = airy_clock_ns() + LOOK_NS;
         atomic_load_explicit(turn, memory_order_acquire) != answer->turn;) {
        airy_relax();
        if (airy_clock_ns() < end)
            continue;
        AIRY_TRY(airy_cl_finish(queue));
        AIRY_FAIL_ON_IF(atomic_load_explicit(turn, memory_order_acquire) != answer->turn,
                        AIRY_ERR_DEVICE, AIRY_SUBJECT_DEVICE,
                        "device '%s' is done, but its kernel has given no answer",
                        impl->device->spec);
    }
    *data = (const void *)turn;
    return AIRY_OK;
}
