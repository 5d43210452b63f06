#include <assert.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/size.h"
#include "codec/codec_fns.h"
#include "core/backend.h"
#include "cpu/cpu_codec.h"

enum { BLOCKS_A_TURN = 32 };

struct decode_job {
    const struct airy_chunks *chunks;
    const uint8_t *bytes;
    const airy_block *table;
    uint8_t *frames;
    uint32_t *status;
    uint8_t *scratch;
    size_t scratch_step; /* between the threads' */
    size_t turns;        /* a frame */
};

/*
 * The lowest bad block of a frame wins; good is the largest value. Several threads work on one
 * frame.
 */
static void note_status(uint32_t *status, uint32_t value)
{
    uint32_t old = __atomic_load_n(status, __ATOMIC_RELAXED);
    while (value < old && !__atomic_compare_exchange_n(status, &old, value, true, __ATOMIC_RELAXED,
                                                       __ATOMIC_RELAXED))
        ;
}

static void decode_turn(void *arg, size_t index, unsigned worker)
{
    const struct decode_job *job = arg;
    const airy_block_layout *layout = &job->chunks->layout;
    const size_t frame = index / job->turns;
    const uint32_t first = (uint32_t)(index % job->turns) * BLOCKS_A_TURN;
    const uint32_t last = (uint32_t)airy_min_size(first + BLOCKS_A_TURN, layout->blocks);
    const airy_block *table = job->table + frame * layout->blocks;
    uint8_t *dst = job->frames + frame * layout->frame_bytes;
    uint8_t *scratch = job->scratch ? job->scratch + worker * job->scratch_step : NULL;
    for (uint32_t b = first; b < last; b++) {
        const uint32_t reason = airy_block_decode(dst + airy_block_start(*layout, b), layout, b,
                                                  table[b], job->bytes, scratch);
        if (reason != AIRY_STATUS_GOOD)
            note_status(&job->status[frame], b * 8 + reason);
    }
}

static airy_status decode_cpu(airy_queue *queue, const struct airy_decode_plan *plan)
{
    const struct airy_chunks *chunks = &plan->chunks;
    assert(airy_array_is_tight(plan->frames) && airy_array_is_tight(plan->status));
    struct decode_job job = {.chunks = chunks,
                             .table = chunks->host_table,
                             .bytes = airy_array_address(chunks->bytes),
                             .frames = airy_array_address(plan->frames),
                             .status = airy_array_address(plan->status),
                             .turns = (chunks->layout.blocks + BLOCKS_A_TURN - 1) / BLOCKS_A_TURN};
    unsigned threads = airy_pool_size(queue->device->pool);
    if (chunks->layout.codec == AIRY_CODEC_BSLZ4) {
        airy_buffer *scratch;
        job.scratch_step = airy_align_up(chunks->layout.block_bytes, 64);
        AIRY_TRY(airy_queue_thread_scratch(queue, AIRY_SCRATCH_BLOCKS, job.scratch_step, &threads,
                                           &scratch));
        job.scratch = scratch->handle;
    }
    for (size_t i = 0; i < chunks->frames; i++)
        job.status[i] = AIRY_FRAME_GOOD;
    airy_profile_loop_few(queue->device, "decode",
                          (double)chunks->frames * (double)chunks->layout.frame_bytes, threads,
                          chunks->frames * job.turns, decode_turn, &job);
    return AIRY_OK;
}

const struct airy_codec_fns airy_codec_cpu = {.decode = decode_cpu, .blocks = airy_cpu_block_fns};
