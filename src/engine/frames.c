/* Whole frames of a batch, for works that need them so. */
#include "base/error.h"
#include "core/objects.h"
#include "engine/run.h"

airy_status airy_lane_head(airy_array **view, const airy_array *array, size_t count)
{
    static const size_t origin[AIRY_MAX_DIMS];
    size_t shape[AIRY_MAX_DIMS];
    for (int k = 0; k < array->ndim; k++)
        shape[k] = k ? array->shape[k] : count;
    return airy_array_view(view, array, origin, shape);
}

airy_status airy_lane_pull(airy_queue *queue, void *to, const airy_array *array, size_t count)
{
    airy_array *view = NULL;
    AIRY_TRY(airy_lane_head(&view, array, count));
    const airy_status status = airy_array_pull(queue, to, airy_array_size(view), view);
    airy_array_destroy(&view);
    return status;
}

airy_status airy_lane_decode(struct airy_lane *lane, const struct airy_slot *slot,
                             const struct airy_chunks *chunks, const airy_array *frames,
                             const airy_array *words)
{
    airy_array *to = NULL, *said = NULL;
    airy_status status = airy_lane_head(&to, frames, slot->frames);
    if (status == AIRY_OK)
        status = airy_lane_head(&said, words, slot->frames);
    if (status == AIRY_OK)
        status = airy_decode_chunks(lane->compute, to, said, chunks);
    airy_array_destroy(&to);
    airy_array_destroy(&said);
    return status;
}

airy_status airy_lane_place(struct airy_lane *lane, const airy_array *frames, size_t i,
                            const airy_array *frame)
{
    airy_array *place = NULL;
    AIRY_TRY(airy_array_view(&place, frames, (const size_t[3]){i, 0, 0}, frame->shape));
    const airy_status status = airy_array_copy(lane->compute, place, frame);
    airy_array_destroy(&place);
    return status;
}

size_t airy_lane_stored_at(const struct airy_chunks *chunks, size_t i)
{
    return chunks->host_table[i * chunks->layout.blocks].offset;
}
