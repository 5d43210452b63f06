#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/thread.h"
#include "codec/codec_fns.h"
#include "codec/framing.h"
#include "core/backend.h"

/*
 * Where a chunk starts: whole cache lines, so that two readers never write the same one and stored
 * pixels are aligned.
 */
enum { PLACE_ALIGNMENT = 64 };

struct place {
    size_t offset, size; /* bytes reserved, from the start of the buffer */
    bool indexed;
};

struct airy_batch {
    airy_device *device;
    airy_batch_params params;
    airy_block_layout layout;
    airy_host *host;
    airy_array *bytes;       /* on the device; on the CPU it lies over host */
    size_t capacity;         /* of host, without the slack */
    atomic_size_t frames;    /* read by who fills one while another is added */
    airy_event *uploaded;    /* the last copy from host; NULL on the CPU, where nothing is copied */
    atomic_size_t used;      /* bytes from the start of the buffer */
    struct place *places;    /* [params.frames] */
    const uint8_t *borrowed; /* pixels of the frames, instead of bytes; NULL: none */
    size_t borrowed_size;
    airy_array *over; /* borrowed, as an array */
};

static airy_block *table_of(const airy_batch *batch, size_t frame)
{
    return (airy_block *)airy_host_data(batch->host) + frame * batch->layout.blocks;
}

/* Checks params, completes their defaults, and works out the sizes. */
static airy_status plan_batch(airy_batch *batch, const airy_batch_params *params)
{
    airy_batch_params *p = &batch->params;
    *p = *params;
    AIRY_FAIL_ON_IF((unsigned)p->dtype >= AIRY_DTYPE_COUNT, AIRY_ERR_DTYPE, AIRY_SUBJECT_PARAMETER,
                    "%s = %d, expected 0 to %d", "dtype", (int)p->dtype, AIRY_DTYPE_COUNT - 1);
    AIRY_FAIL_ON_IF(p->frames == 0, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = 0, expected at least 1", "frames");
    AIRY_FAIL_IF(p->codec.codec == AIRY_CODEC_BSZSTD, AIRY_ERR_UNSUPPORTED,
                 "codec = bszstd, which is decoded on the host only: decode with airy_decode");
    if (p->codec.elem_size == 0)
        p->codec.elem_size = (uint32_t)airy_dtype_size(p->dtype);
    size_t frame_bytes, table, bound, all;
    AIRY_FAIL_IF(
        airy_mul_size(&frame_bytes, p->height, p->width) ||
            airy_mul_size(&frame_bytes, frame_bytes, airy_dtype_size(p->dtype)) || frame_bytes == 0,
        AIRY_ERR_PARAM, "frame of %zu x %zu pixels, expected 1 pixel at least and a size that fits",
        p->height, p->width);
    AIRY_TRY(airy_block_layout_make(&batch->layout, frame_bytes, &p->codec));
    bound = airy_align_up(airy_max_size(airy_encode_bound(frame_bytes, &p->codec), frame_bytes),
                          PLACE_ALIGNMENT);
    const size_t limit = (size_t)UINT32_MAX - AIRY_BATCH_SLACK - 2 * PLACE_ALIGNMENT;
    /* A frame's entries, and what rounding its place up may cost. */
    AIRY_FAIL_IF(airy_mul_size(&table, p->frames,
                               batch->layout.blocks * sizeof(airy_block) + PLACE_ALIGNMENT) ||
                     table >= limit,
                 AIRY_ERR_PARAM, "%zu frames of %u blocks: their table does not fit into 4 GiB",
                 p->frames, batch->layout.blocks);
    table = airy_align_up(table, PLACE_ALIGNMENT);
    if (p->bytes == 0)
        p->bytes = airy_mul_size(&all, p->frames, bound) ? limit - table
                                                         : airy_min_size(all, limit - table);
    AIRY_FAIL_ON_IF(p->bytes > limit - table, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, expected at most %zu (4 GiB less the table)", "bytes", p->bytes,
                    limit - table);
    batch->capacity = table + airy_align_up(p->bytes, PLACE_ALIGNMENT);
    return AIRY_OK;
}

airy_status airy_batch_create(airy_batch **batch, airy_device *device,
                              const airy_batch_params *params)
{
    AIRY_FAIL_IF(!batch || !device || !params, AIRY_ERR_PARAM,
                 "airy_batch_create: argument is NULL");
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, 1, sizeof(airy_batch), "a batch"));
    airy_batch *b = block;
    b->device = device;
    airy_status status;
    AIRY_TRY_OR(out, plan_batch(b, params));
    AIRY_TRY_OR(out, airy_memory_calloc(&block, b->params.frames, sizeof(struct place),
                                        "the places of a batch"));
    b->places = block;
    const size_t size = b->capacity + AIRY_BATCH_SLACK;
    AIRY_TRY_OR(out, airy_host_create(&b->host, device, size));
    if (device->backend->in_place)
        AIRY_TRY_OR(out, airy_array_over_host(&b->bytes, b->host));
    else
        AIRY_TRY_OR(out,
                    airy_array_create_uninitialized(&b->bytes, device, AIRY_DTYPE_U8, 1, &size));
    if (!device->backend->in_place)
        AIRY_TRY_OR(out, airy_event_create(&b->uploaded, device));
    airy_batch_clear(b);
    *batch = b;
    return AIRY_OK;
out:
    airy_batch_destroy(&b);
    return status;
}

/*
 * The host buffer may change only when the last copy from it is done; an error of that copy waits
 * for airy_queue_finish.
 */
static void wait_for_upload(const airy_batch *batch)
{
    if (batch->uploaded)
        (void)airy_event_wait(batch->uploaded);
}

void airy_batch_destroy(airy_batch **batch)
{
    if (!batch || !*batch)
        return;
    wait_for_upload(*batch);
    airy_event_destroy(&(*batch)->uploaded);
    airy_array_destroy(&(*batch)->bytes);
    airy_array_destroy(&(*batch)->over);
    airy_host_destroy(&(*batch)->host);
    free((*batch)->places);
    free(*batch);
    *batch = NULL;
}

void airy_batch_clear(airy_batch *batch)
{
    if (!batch)
        return;
    wait_for_upload(batch);
    batch->frames = 0;
    atomic_store(&batch->used,
                 airy_align_up(batch->params.frames * batch->layout.blocks * sizeof(airy_block),
                               PLACE_ALIGNMENT));
}

size_t airy_batch_frames(const airy_batch *batch)
{
    return batch ? batch->frames : 0;
}

/* Room for size more bytes, from any thread: the offset, or AIRY_ERR_MEMORY. */
static airy_status take(airy_batch *batch, size_t *offset, size_t size)
{
    size_t at = atomic_load(&batch->used);
    do {
        AIRY_FAIL_IF(size > batch->capacity - at, AIRY_ERR_MEMORY,
                     "batch is full: %zu bytes wanted, %zu of its %zu are left", size,
                     batch->capacity - at, batch->params.bytes);
    } while (!atomic_compare_exchange_weak(&batch->used, &at,
                                           at + airy_align_up(size, PLACE_ALIGNMENT)));
    *offset = at;
    return AIRY_OK;
}

static void index_stored_at(airy_batch *batch, size_t frame, size_t offset)
{
    airy_block *table = table_of(batch, frame);
    for (uint32_t b = 0; b < batch->layout.blocks; b++)
        table[b] =
            (airy_block){.offset = (uint32_t)(offset + airy_block_start(batch->layout, b)),
                         .size = airy_block_decoded_bytes(batch->layout, b) | AIRY_BLOCK_STORED};
    batch->places[frame].indexed = true;
}

/* A sound chunk that is cut into other blocks than the batch: decoded here, stored as pixels. */
static airy_status index_decoded(airy_batch *batch, size_t frame, const void *chunk, size_t size)
{
    size_t offset = 0;
    AIRY_TRY(take(batch, &offset, (size_t)batch->layout.frame_bytes));
    AIRY_TRY(airy_decode((uint8_t *)airy_host_data(batch->host) + offset,
                         (size_t)batch->layout.frame_bytes, chunk, size, &batch->params.codec));
    index_stored_at(batch, frame, offset);
    return AIRY_OK;
}

airy_status airy_batch_add(airy_batch *batch, const void *chunk, size_t size)
{
    AIRY_FAIL_IF(!batch || (!chunk && size), AIRY_ERR_PARAM, "airy_batch_add: argument is NULL");
    const size_t frame = batch->frames;
    AIRY_FAIL_IF(frame == batch->params.frames, AIRY_ERR_MEMORY,
                 "batch is full: it has its %zu frames", batch->params.frames);
    wait_for_upload(batch);
    const size_t before = atomic_load(&batch->used);
    size_t offset = 0;
    AIRY_TRY(take(batch, &offset, size));
    airy_status status =
        airy_chunk_walk(table_of(batch, frame), &batch->layout, chunk, size, (uint32_t)offset);
    if (status == AIRY_OK) {
        airy_pool_copy(batch->device->pool, (uint8_t *)airy_host_data(batch->host) + offset, chunk,
                       size);
    } else if (status == AIRY_ERR_UNSUPPORTED) {
        atomic_store(&batch->used, before);
        status = index_decoded(batch, frame, chunk, size);
    }
    if (status != AIRY_OK) {
        atomic_store(&batch->used, before);
        return status;
    }
    batch->places[frame].indexed = true;
    batch->frames++;
    return AIRY_OK;
}

airy_status airy_batch_reserve(airy_batch *batch, size_t frames, const size_t *sizes)
{
    AIRY_FAIL_IF(frames > batch->params.frames, AIRY_ERR_MEMORY,
                 "batch has room for %zu frames, %zu wanted", batch->params.frames, frames);
    wait_for_upload(batch);
    batch->frames = 0;
    batch->borrowed = NULL;
    /* The table is as long as these frames need, so that no gap is copied to the device. */
    atomic_store(&batch->used, airy_align_up(frames * batch->layout.blocks * sizeof(airy_block),
                                             PLACE_ALIGNMENT));
    for (size_t i = 0; i < frames; i++) {
        batch->places[i] = (struct place){.size = sizes[i]};
        AIRY_TRY(take(batch, &batch->places[i].offset, sizes[i]));
    }
    batch->frames = frames;
    return AIRY_OK;
}

bool airy_batch_append(airy_batch *batch, size_t size, size_t *frame)
{
    const size_t next = batch->frames;
    if (next == batch->params.frames || size > batch->capacity - atomic_load(&batch->used) ||
        take(batch, &batch->places[next].offset, size) != AIRY_OK)
        return false;
    batch->places[next].size = size;
    batch->places[next].indexed = false;
    batch->frames = next + 1;
    *frame = next;
    return true;
}

void *airy_batch_place(airy_batch *batch, size_t frame)
{
    assert(frame < batch->frames);
    return (uint8_t *)airy_host_data(batch->host) + batch->places[frame].offset;
}

airy_status airy_batch_index_begin(airy_batch *batch, size_t frame, size_t size,
                                   struct airy_chunk_walk *walk)
{
    assert(frame < batch->frames && size <= batch->places[frame].size);
    const struct place *place = &batch->places[frame];
    const airy_status status = airy_chunk_walk_begin(walk, table_of(batch, frame), &batch->layout,
                                                     airy_batch_place(batch, frame), size,
                                                     (uint32_t)place->offset);
    if (status != AIRY_OK)
        airy_batch_index_absent(batch, frame);
    return status;
}

airy_status airy_batch_index_on(airy_batch *batch, size_t frame, struct airy_chunk_walk *walk,
                                size_t have)
{
    airy_status status = airy_chunk_walk_on(walk, have);
    if (status == AIRY_ERR_UNSUPPORTED)
        status = index_decoded(batch, frame, airy_batch_place(batch, frame), walk->cursor.size);
    if (status != AIRY_OK)
        airy_batch_index_absent(batch, frame);
    batch->places[frame].indexed = true;
    return status;
}

airy_status airy_batch_index(airy_batch *batch, size_t frame, size_t size)
{
    struct airy_chunk_walk walk;
    AIRY_TRY(airy_batch_index_begin(batch, frame, size, &walk));
    return airy_batch_index_on(batch, frame, &walk, size);
}

void airy_batch_index_stored(airy_batch *batch, size_t frame)
{
    assert(frame < batch->frames && batch->places[frame].size >= batch->layout.frame_bytes);
    index_stored_at(batch, frame, batch->places[frame].offset);
}

bool airy_batch_borrow(airy_batch *batch, const void *memory, size_t size)
{
    if (!batch->device->backend->in_place || size > UINT32_MAX ||
        (uintptr_t)memory % airy_dtype_size(batch->params.dtype) != 0)
        return false;
    batch->borrowed = memory;
    batch->borrowed_size = size;
    return true;
}

bool airy_batch_borrows(const airy_batch *batch)
{
    return batch->borrowed != NULL;
}

void airy_batch_index_borrowed(airy_batch *batch, size_t frame, const void *pixels)
{
    assert(frame < batch->frames && batch->borrowed);
    index_stored_at(batch, frame, (size_t)((const uint8_t *)pixels - batch->borrowed));
}

void airy_batch_index_absent(airy_batch *batch, size_t frame)
{
    airy_block *table = table_of(batch, frame);
    for (uint32_t b = 0; b < batch->layout.blocks; b++)
        table[b] = (airy_block){.offset = 0, .size = AIRY_BLOCK_ABSENT};
    batch->places[frame].indexed = true;
}

airy_status airy_batch_upload(airy_queue *queue, airy_batch *batch, struct airy_chunks *chunks)
{
    AIRY_FAIL_IF(batch->device != queue->device, AIRY_ERR_PARAM,
                 "batch is of device %s, the queue is of %s", batch->device->info.spec,
                 queue->device->info.spec);
    AIRY_FAIL_IF(batch->frames == 0, AIRY_ERR_PARAM, "batch has no frames");
    for (size_t i = 0; i < batch->frames; i++)
        if (!batch->places[i].indexed)
            airy_batch_index_absent(batch, i);
    uint8_t *data = airy_host_data(batch->host);
    size_t used = atomic_load(&batch->used);
    memset(data + used, 0, AIRY_BATCH_SLACK);
    used += AIRY_BATCH_SLACK;
    if (!batch->device->backend->in_place) {
        airy_array *part = NULL;
        const size_t start = 0;
        AIRY_TRY(airy_array_view(&part, batch->bytes, &start, &used));
        const airy_status status = airy_array_push(queue, part, data, used);
        airy_array_destroy(&part);
        AIRY_TRY(status);
        AIRY_TRY(airy_event_record(batch->uploaded, queue));
    }
    airy_array_destroy(&batch->over);
    if (batch->borrowed)
        AIRY_TRY(airy_array_over_memory(&batch->over, batch->device, batch->borrowed,
                                        batch->borrowed_size));
    *chunks = (struct airy_chunks){.layout = batch->layout,
                                   .dtype = batch->params.dtype,
                                   .height = batch->params.height,
                                   .width = batch->params.width,
                                   .frames = batch->frames,
                                   .bytes = batch->over ? batch->over : batch->bytes,
                                   .host_table = table_of(batch, 0)};
    return AIRY_OK;
}

airy_status airy_decode_chunks(airy_queue *queue, const airy_array *frames,
                               const airy_array *status, const struct airy_chunks *chunks)
{
    const struct airy_backend *backend = airy_queue_backend(queue);
    AIRY_FAIL_IF(!backend->codec || !backend->codec->decode, AIRY_ERR_UNSUPPORTED,
                 "back end '%s' does not implement decoding", backend->name);
    return backend->codec->decode(
        queue, &(struct airy_decode_plan){.chunks = *chunks, .frames = frames, .status = status});
}

airy_status airy_decode_batch(airy_queue *queue, airy_array *frames, airy_array *status,
                              airy_batch *batch)
{
    AIRY_FAIL_IF(!queue || !frames || !status || !batch, AIRY_ERR_PARAM,
                 "airy_decode_batch: argument is NULL");
    AIRY_TRY(airy_check_device(queue, frames, "frames"));
    AIRY_TRY(airy_check_device(queue, status, "status"));
    const airy_batch_params *p = &batch->params;
    char text[96];
    AIRY_FAIL_IF(frames->dtype != p->dtype, AIRY_ERR_DTYPE, "frames is %s, the batch has %s",
                 airy_array_describe(frames, text), airy_dtype_name(p->dtype));
    AIRY_FAIL_IF(status->dtype != AIRY_DTYPE_U32, AIRY_ERR_DTYPE, "status is %s, expected u32",
                 airy_array_describe(status, text));
    AIRY_FAIL_IF(frames->ndim != 3 || frames->shape[0] != batch->frames ||
                     frames->shape[1] != p->height || frames->shape[2] != p->width ||
                     !airy_array_is_tight(frames),
                 AIRY_ERR_SHAPE, "frames is %s, expected [%zu, %zu, %zu] without gaps",
                 airy_array_describe(frames, text), batch->frames, p->height, p->width);
    AIRY_FAIL_IF(status->ndim != 1 || status->shape[0] != batch->frames ||
                     !airy_array_is_tight(status),
                 AIRY_ERR_SHAPE, "status is %s, expected [%zu] without gaps",
                 airy_array_describe(status, text), batch->frames);
    struct airy_chunks chunks;
    AIRY_TRY(airy_batch_upload(queue, batch, &chunks));
    return airy_decode_chunks(queue, frames, status, &chunks);
}
