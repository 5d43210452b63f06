#include <assert.h>
#include <string.h>

#include "base/size.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_launch.h"
#include "shared/fill_geom.h"

/*
 * Elements as the copies see them, fastest axis first: count[0] bytes in a row, then rows, slices,
 * volumes. step[i]: bytes from one to the next along axis i in the buffer, other[i] in the other
 * array or in tight host memory. Axes without gaps are merged; those of count 1 have step 0. The
 * step of an axis is a multiple of the one below, as OpenCL's rectangles want it.
 */
struct box {
    size_t count[4], step[4], other[4];
    size_t offset; /* bytes from the start of the buffer */
};

/* other NULL: tight memory. */
static struct box make_box(const airy_array *array, const airy_array *other)
{
    const size_t bytes = airy_dtype_size(array->dtype);
    const int last = array->ndim - 1;
    assert(array->pitch[last] == 1 && (!other || other->pitch[last] == 1));
    struct box box = {.count = {array->shape[last] * bytes, 1, 1, 1},
                      .step = {1},
                      .other = {1},
                      .offset = array->offset};
    size_t tight = array->shape[last] * bytes;
    int top = 0;
    for (int i = last - 1; i >= 0; i--) {
        const size_t step = array->pitch[i] * bytes,
                     other_step = other ? other->pitch[i] * bytes : tight;
        tight *= array->shape[i];
        if (array->shape[i] == 1)
            continue;
        if (step == box.count[top] * box.step[top] &&
            other_step == box.count[top] * box.other[top]) {
            box.count[top] *= array->shape[i];
            continue;
        }
        top++;
        box.count[top] = array->shape[i];
        box.step[top] = step;
        box.other[top] = other_step;
    }
    return box;
}

static size_t box_bytes(const struct box *box)
{
    return box->count[0] * box->count[1] * box->count[2] * box->count[3];
}

/* A byte offset as OpenCL's origin, so that x stays inside its row. */
static void make_origin(size_t origin[3], size_t offset, size_t row, size_t slice)
{
    origin[2] = slice ? offset / slice : 0;
    offset -= origin[2] * slice;
    origin[1] = row ? offset / row : 0;
    origin[0] = offset - origin[1] * row;
}

/* One rectangle of up to three axes; a call of OpenCL's. */
struct rect {
    size_t region[3], row, slice, other_row, other_slice;
};

enum direction { PUSH, PULL, COPY };

static cl_int enqueue_rect(const struct airy_cl_queue *queue, enum direction direction,
                           cl_mem buffer, size_t offset, void *host, cl_mem source,
                           size_t source_offset, const struct rect *r, cl_event *event)
{
    const struct airy_cl_api *cl = queue->device->cl;
    const cl_command_queue q = queue->queue;
    if (r->region[1] == 1 && r->region[2] == 1) {
        if (direction == PUSH)
            return cl->EnqueueWriteBuffer(q, buffer, CL_FALSE, offset, r->region[0], host, 0, NULL,
                                          event);
        if (direction == PULL)
            return cl->EnqueueReadBuffer(q, buffer, CL_FALSE, offset, r->region[0], host, 0, NULL,
                                         event);
        return cl->EnqueueCopyBuffer(q, source, buffer, source_offset, offset, r->region[0], 0,
                                     NULL, event);
    }
    static const size_t zero[3] = {0, 0, 0};
    size_t origin[3], source_origin[3];
    make_origin(origin, offset, r->row, r->slice);
    if (direction == PUSH)
        return cl->EnqueueWriteBufferRect(q, buffer, CL_FALSE, origin, zero, r->region, r->row,
                                          r->slice, r->other_row, r->other_slice, host, 0, NULL,
                                          event);
    if (direction == PULL)
        return cl->EnqueueReadBufferRect(q, buffer, CL_FALSE, origin, zero, r->region, r->row,
                                         r->slice, r->other_row, r->other_slice, host, 0, NULL,
                                         event);
    make_origin(source_origin, source_offset, r->other_row, r->other_slice);
    return cl->EnqueueCopyBufferRect(q, source, buffer, source_origin, origin, r->region,
                                     r->other_row, r->other_slice, r->row, r->slice, 0, NULL,
                                     event);
}

struct transfer {
    enum direction direction;
    cl_mem buffer, source; /* source: of a copy */
    size_t source_offset;
};

static const struct {
    const char *name, *call;
} directions[] = {
    [PUSH] = {"push", "a copy to the device"},
    [PULL] = {"pull", "a copy from the device"},
    [COPY] = {"copy inside", "a copy inside the device"},
};

/*
 * Enqueue a box; *last (unless NULL) is the event of its last command, for the caller to release.
 */
static airy_status enqueue_box(airy_queue *queue, const struct transfer *t, const struct box *box,
                               unsigned char *host, cl_event *last)
{
    struct airy_cl_queue *impl = airy_cl_queue(queue);
    const struct airy_cl_api *cl = impl->device->cl;
    airy_cl_queue_goes_on(impl);
    const struct rect rect = {
        .region = {box->count[0], box->count[1], box->count[2]},
        .row = box->step[1],
        .slice = box->step[2],
        .other_row = box->other[1],
        .other_slice = box->other[2],
    };
    const double bytes = (double)rect.region[0] * (double)rect.region[1] * (double)rect.region[2];
    const bool profiles = airy_cl_profiles(queue);
    for (size_t v = 0; v < box->count[3]; v++) {
        const size_t other = v * box->other[3];
        const bool wanted = last && v == box->count[3] - 1;
        cl_event event = NULL;
        AIRY_CL_TRY(impl->device,
                    enqueue_rect(impl, t->direction, t->buffer, box->offset + v * box->step[3],
                                 host ? host + other : NULL, t->source, t->source_offset + other,
                                 &rect, wanted || profiles ? &event : NULL),
                    directions[t->direction].call);
        if (wanted)
            *last = event;
        if (wanted && profiles)
            (void)cl->RetainEvent(event);
        if (profiles)
            airy_cl_profile_take(queue, event, directions[t->direction].name, t->direction != COPY,
                                 bytes);
    }
    return AIRY_OK;
}

/*
 * A box in pieces of at most AIRY_CL_STAGING_PIECE bytes that follow each other in tight host
 * memory. Along `axis` a piece has at most `chunk`; the axes below are whole, those above one.
 */
struct pieces {
    const struct box *box;
    int axis;
    size_t chunk, at[4];
    bool done;
};

static struct pieces cut(const struct box *box)
{
    struct pieces pieces = {.box = box};
    size_t inner = 1;
    while (pieces.axis < 3 && inner * box->count[pieces.axis] <= AIRY_CL_STAGING_PIECE)
        inner *= box->count[pieces.axis++];
    pieces.chunk = airy_min_size(AIRY_CL_STAGING_PIECE / inner, box->count[pieces.axis]);
    return pieces;
}

static bool next_piece(struct pieces *pieces, struct box *piece)
{
    if (pieces->done)
        return false;
    const struct box *box = pieces->box;
    const int axis = pieces->axis;
    *piece = *box;
    piece->count[axis] = airy_min_size(pieces->chunk, box->count[axis] - pieces->at[axis]);
    piece->offset += pieces->at[axis] * box->step[axis];
    for (int i = axis + 1; i < 4; i++) {
        piece->count[i] = 1;
        piece->offset += pieces->at[i] * box->step[i];
    }
    size_t tight = 1;
    for (int i = 0; i < 4; i++) {
        piece->other[i] = tight;
        tight *= piece->count[i];
    }
    pieces->at[axis] += piece->count[axis];
    for (int i = axis; i < 4 && pieces->at[i] >= box->count[i]; i++) {
        pieces->at[i] = 0;
        if (i == 3)
            pieces->done = true;
        else
            pieces->at[i + 1]++;
    }
    return true;
}

/*
 * The copy that uses a piece of staging memory goes to the driver at once, to run while the next
 * piece is filled.
 */
static airy_status start_staged(airy_queue *queue, const struct transfer *t,
                                const struct box *piece, void *staging, cl_event *event)
{
    struct airy_cl_queue *impl = airy_cl_queue(queue);
    AIRY_TRY(enqueue_box(queue, t, piece, staging, event));
    airy_cl_staging_used(impl, staging, box_bytes(piece), *event);
    AIRY_CL_TRY(impl->device, impl->device->cl->Flush(impl->queue), "clFlush");
    return AIRY_OK;
}

airy_status airy_cl_push(airy_queue *queue, const airy_array *dst, const void *data, bool pinned)
{
    const struct box box = make_box(dst, NULL);
    const struct transfer transfer = {.direction = PUSH, .buffer = dst->buffer->handle};
    if (pinned)
        return enqueue_box(queue, &transfer, &box, (unsigned char *)data, NULL);
    const unsigned char *from = data;
    struct pieces pieces = cut(&box);
    for (struct box piece; next_piece(&pieces, &piece);) {
        const size_t size = box_bytes(&piece);
        void *staging;
        cl_event event;
        AIRY_TRY(airy_cl_staging_take(airy_cl_queue(queue), size, &staging));
        airy_pool_copy(queue->device->pool, staging, from, size);
        AIRY_TRY(start_staged(queue, &transfer, &piece, staging, &event));
        from += size;
    }
    return AIRY_OK;
}

/*
 * Copies from the device that are on their way through staging memory; 3 pieces and the gap at the
 * ring's end fit into it.
 */
enum { PULL_DEPTH = 3 };
_Static_assert((PULL_DEPTH + 1) * AIRY_CL_STAGING_PIECE <= AIRY_CL_STAGING_BYTES,
               "the ring is too small");

struct pulled {
    cl_event event;
    void *staging;
    size_t size;
};

static airy_status land_pulled(airy_queue *queue, const struct pulled *pulled, unsigned char *to)
{
    const struct airy_cl_device *device = airy_cl_device(queue->device);
    AIRY_CL_TRY(device, device->cl->WaitForEvents(1, &pulled->event), directions[PULL].call);
    airy_pool_copy(queue->device->pool, to, pulled->staging, pulled->size);
    return AIRY_OK;
}

airy_status airy_cl_pull(airy_queue *queue, void *data, const airy_array *src, bool pinned)
{
    const struct box box = make_box(src, NULL);
    const struct transfer transfer = {.direction = PULL, .buffer = src->buffer->handle};
    if (pinned)
        return enqueue_box(queue, &transfer, &box, data, &airy_cl_queue(queue)->last);
    unsigned char *to = data;
    struct pulled flight[PULL_DEPTH];
    size_t started = 0, landed = 0;
    struct pieces pieces = cut(&box);
    for (struct box piece; next_piece(&pieces, &piece); started++) {
        if (started - landed == PULL_DEPTH) {
            const struct pulled *oldest = &flight[landed++ % PULL_DEPTH];
            AIRY_TRY(land_pulled(queue, oldest, to));
            to += oldest->size;
        }
        struct pulled *next = &flight[started % PULL_DEPTH];
        next->size = box_bytes(&piece);
        AIRY_TRY(airy_cl_staging_take(airy_cl_queue(queue), next->size, &next->staging));
        AIRY_TRY(start_staged(queue, &transfer, &piece, next->staging, &next->event));
    }
    for (; landed < started; landed++) {
        const struct pulled *oldest = &flight[landed % PULL_DEPTH];
        AIRY_TRY(land_pulled(queue, oldest, to));
        to += oldest->size;
    }
    return AIRY_OK;
}

airy_status airy_cl_peek(airy_queue *queue, const void **data, const airy_array *src)
{
    const struct box box = make_box(src, NULL);
    const struct transfer transfer = {.direction = PULL, .buffer = src->buffer->handle};
    const struct airy_cl_device *device = airy_cl_device(queue->device);
    void *staging;
    cl_event event;
    assert(box_bytes(&box) <= AIRY_CL_STAGING_PIECE);
    AIRY_TRY(airy_cl_staging_take(airy_cl_queue(queue), box_bytes(&box), &staging));
    AIRY_TRY(start_staged(queue, &transfer, &box, staging, &event));
    AIRY_CL_TRY(device, device->cl->WaitForEvents(1, &event), directions[PULL].call);
    *data = staging;
    return AIRY_OK;
}

airy_status airy_cl_copy(airy_queue *queue, const airy_array *dst, const airy_array *src)
{
    const struct box box = make_box(dst, src);
    const struct transfer transfer = {.direction = COPY,
                                      .buffer = dst->buffer->handle,
                                      .source = src->buffer->handle,
                                      .source_offset = src->offset};
    return enqueue_box(queue, &transfer, &box, NULL, NULL);
}

static airy_status fill_contiguous(airy_queue *queue, cl_mem buffer, size_t offset, size_t size,
                                   const void *pattern, size_t pattern_size)
{
    struct airy_cl_queue *impl = airy_cl_queue(queue);
    const bool profiles = airy_cl_profiles(queue);
    cl_event event = NULL;
    airy_cl_queue_goes_on(impl);
    AIRY_CL_TRY(impl->device,
                impl->device->cl->EnqueueFillBuffer(impl->queue, buffer, pattern, pattern_size,
                                                    offset, size, 0, NULL,
                                                    profiles ? &event : NULL),
                "clEnqueueFillBuffer");
    if (profiles)
        airy_cl_profile_take(queue, event, "fill", false, (double)size);
    return AIRY_OK;
}

airy_status airy_cl_fill(airy_queue *queue, const airy_array *dst, const void *pattern)
{
    static const struct airy_cl_kernel_spec kernels[] = {{"fill.cl", "fill_box", "-DT=uchar"},
                                                         {"fill.cl", "fill_box", "-DT=ushort"},
                                                         {"fill.cl", "fill_box", "-DT=uint"},
                                                         {"fill.cl", "fill_box", "-DT=ulong"}};
    const size_t element = airy_dtype_size(dst->dtype);
    const struct box box = make_box(dst, NULL);
    if (box.count[1] == 1)
        return fill_contiguous(queue, dst->buffer->handle, box.offset, box.count[0], pattern,
                               element);
    airy_fill_geom geom = {
        .offset = box.offset / element,
        .step1 = box.step[1] / element,
        .step2 = box.step[2] / element,
        .step3 = box.step[3] / element,
        .count0 = box.count[0] / element,
        .count1 = box.count[1],
        .count2 = box.count[2],
        .total = box_bytes(&box) / element,
    };
    memcpy(&geom.pattern, pattern, element);
    const struct airy_cl_arg args[] = {AIRY_CL_ARRAY(dst), AIRY_CL_VALUE(geom)};
    const size_t items = geom.total, group = 64;
    return airy_cl_launch(queue, &kernels[__builtin_ctz((unsigned)element)], 1, &items, &group,
                          (double)box_bytes(&box), args, 2);
}
