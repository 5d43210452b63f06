#include "opencl/cl_decode.h"

#include <assert.h>
#include <stdio.h>

#include "base/error.h"
#include "base/size.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_launch.h"
#include "shared/decode_geom.h"

/*
 * Scratch of the general way is held to this by decoding a few frames at a time, as far as one
 * frame fits.
 */
enum { SCRATCH_BYTES = 256 << 20 };

_Static_assert(AIRY_LAYOUT_BSLZ4 == AIRY_CODEC_BSLZ4 && AIRY_LAYOUT_LZ4 == AIRY_CODEC_LZ4 &&
                   AIRY_LAYOUT_BSHUF == AIRY_CODEC_BSHUF,
               "kernels use other numbers for the codecs");

struct airy_cl_lanes airy_cl_lanes_of(const airy_device *device)
{
    const unsigned lanes = airy_tuned(device, AIRY_TUNE_DECODE_LANES);
    /* Work-group barriers are of one block: several need none, single items or warps. */
    const bool several = lanes == 1 || airy_cl_device(device)->nvidia;
    return (struct airy_cl_lanes){
        .lanes = lanes, .blocks = several ? airy_tuned(device, AIRY_TUNE_DECODE_BLOCKS) : 1};
}

void airy_cl_lanes_options(char *text, size_t size, const struct airy_cl_lanes *lanes)
{
    snprintf(text, size, "-DLANES=%u -DBLOCKS=%u%s%s%s", lanes->lanes, lanes->blocks,
             lanes->portable ? " -DPORTABLE" : "", lanes->as_warp ? " -DAS_WARP" : "",
             lanes->unoptimised ? " -cl-opt-disable" : "");
}

static bool fits_local(const airy_device *device, const airy_block_layout *layout)
{
    const unsigned elem = layout->elem_size;
    return layout->codec != AIRY_CODEC_LZ4 && (elem == 1 || elem == 2 || elem == 4 || elem == 8) &&
           layout->block_bytes <= AIRY_CL_BLOCK_BYTES &&
           device->info.local_mem >= AIRY_CL_BLOCK_LOCAL;
}

/* Full blocks of planes that 32 lanes share out evenly are known as such to the compiler. */
static unsigned room_of(const airy_block_layout *layout)
{
    const bool even = layout->block_bytes > 0 &&
                      layout->block_bytes % (1024 * layout->elem_size) == 0;
    return even ? layout->block_bytes : AIRY_CL_BLOCK_BYTES;
}

static airy_status decode_local(airy_queue *queue, const struct airy_decode_plan *plan,
                                const struct airy_cl_lanes *lanes, const airy_decode_geom *geom)
{
    struct airy_cl_lanes shape = *lanes;
    while (shape.blocks > 1 &&
           (uint64_t)shape.blocks * AIRY_CL_BLOCK_LOCAL > queue->device->info.local_mem)
        shape.blocks /= 2;
    char text[96], options[160];
    airy_cl_lanes_options(text, sizeof(text), &shape);
    snprintf(options, sizeof(options), "%s -DELEM_SIZE=%u -DBLOCK_BYTES=%u", text,
             geom->layout.elem_size, room_of(&geom->layout));
    const struct airy_cl_kernel_spec spec = {"decode.cl", "decode_blocks", options};
    const size_t blocks = (size_t)geom->layout.blocks * geom->frames;
    const size_t local = (size_t)shape.lanes * shape.blocks;
    const size_t global = (blocks + shape.blocks - 1) / shape.blocks * local;
    const double moved = (double)geom->layout.frame_bytes * geom->frames +
                         (double)airy_array_size(plan->chunks.bytes);
    const struct airy_cl_arg args[] = {AIRY_CL_ARRAY(plan->chunks.bytes),
                                       AIRY_CL_ARRAY(plan->frames), AIRY_CL_ARRAY(plan->status),
                                       AIRY_CL_VALUE(*geom)};
    return airy_cl_launch(queue, &spec, 1, &global, &local, moved, args, 4);
}

static airy_status decode_piece(airy_queue *queue, const struct airy_decode_plan *plan,
                                const struct airy_cl_lanes *lanes, const airy_decode_geom *geom,
                                airy_buffer *scratch)
{
    struct airy_cl_lanes shape = *lanes;
    shape.blocks = 1;
    char options[96];
    airy_cl_lanes_options(options, sizeof(options), &shape);
    const struct airy_cl_kernel_spec decode = {"decode_large.cl", "decode_large_blocks", options};
    const struct airy_cl_kernel_spec unshuffle = {"decode_large.cl", "unshuffle_large_blocks",
                                                  options};
    const size_t blocks = (size_t)geom->layout.blocks * geom->frames;
    const double moved = (double)geom->layout.frame_bytes * geom->frames;
    const struct airy_cl_arg scratch_arg = scratch ? AIRY_CL_BUFFER(scratch) : AIRY_CL_NULL;
    const struct airy_cl_arg decode_args[] = {AIRY_CL_ARRAY(plan->chunks.bytes),
                                              AIRY_CL_ARRAY(plan->frames), scratch_arg,
                                              AIRY_CL_ARRAY(plan->status), AIRY_CL_VALUE(*geom)};
    const size_t lane_count = lanes->lanes, decode_global = blocks * lane_count;
    AIRY_TRY(airy_cl_launch(queue, &decode, 1, &decode_global, &lane_count, moved, decode_args, 5));
    if (!scratch)
        return AIRY_OK;
    const struct airy_cl_arg args[] = {AIRY_CL_ARRAY(plan->chunks.bytes),
                                       AIRY_CL_ARRAY(plan->frames), scratch_arg,
                                       AIRY_CL_VALUE(*geom)};
    const size_t local = airy_tuned(queue->device, AIRY_TUNE_UNSHUFFLE_GROUP),
                 global = blocks * local;
    return airy_cl_launch(queue, &unshuffle, 1, &global, &local, 2 * moved, args, 4);
}

static airy_status decode_large(airy_queue *queue, const struct airy_decode_plan *plan,
                                const struct airy_cl_lanes *lanes, airy_decode_geom *geom)
{
    const airy_block_layout *layout = &geom->layout;
    const size_t frames = plan->chunks.frames, frames_offset = (size_t)geom->frames_offset;
    const bool shuffled = layout->codec == AIRY_CODEC_BSLZ4 || layout->codec == AIRY_CODEC_BSHUF;
    airy_buffer *scratch = NULL;
    size_t step = frames;
    if (shuffled) {
        geom->scratch_stride = airy_align_up(layout->block_bytes, 16);
        const size_t frame_scratch = (size_t)geom->scratch_stride * layout->blocks;
        step = airy_min_size(frames, airy_max_size(1, SCRATCH_BYTES / frame_scratch));
        AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_BLOCKS, step * frame_scratch, &scratch));
    }
    for (size_t first = 0; first < frames; first += step) {
        geom->first_frame = (uint32_t)first;
        geom->frames = (uint32_t)airy_min_size(step, frames - first);
        geom->frames_offset = frames_offset + first * layout->frame_bytes;
        AIRY_TRY(decode_piece(queue, plan, lanes, geom, scratch));
    }
    return AIRY_OK;
}

airy_status airy_cl_decode(airy_queue *queue, const struct airy_decode_plan *plan,
                           const struct airy_cl_lanes *lanes, bool large)
{
    const struct airy_chunks *chunks = &plan->chunks;
    assert(chunks->frames > 0 && chunks->bytes->offset % 8 == 0 && plan->status->offset % 4 == 0);
    assert(airy_array_is_tight(plan->frames) && airy_array_is_tight(plan->status));
    const uint32_t good = AIRY_STATUS_GOOD;
    AIRY_TRY(airy_cl_fill(queue, plan->status, &good));
    airy_decode_geom geom = {.layout = chunks->layout,
                             .bytes_offset = chunks->bytes->offset,
                             .frames_offset = plan->frames->offset,
                             .status_offset = (uint32_t)(plan->status->offset / 4),
                             .frames = (uint32_t)chunks->frames};
    if (fits_local(queue->device, &chunks->layout) && !large)
        return decode_local(queue, plan, lanes, &geom);
    return decode_large(queue, plan, lanes, &geom);
}

static airy_status decode(airy_queue *queue, const struct airy_decode_plan *plan)
{
    const struct airy_cl_lanes lanes = airy_cl_lanes_of(queue->device);
    return airy_cl_decode(queue, plan, &lanes, false);
}

const struct airy_codec_fns airy_codec_opencl = {.decode = decode};
