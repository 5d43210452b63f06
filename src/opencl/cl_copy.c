#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "base/thread.h"
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
 * A box in pieces that follow each other in tight host memory. Along `axis` a piece has at most
 * `chunk`; the axes below are whole, those above one.
 */
struct pieces {
    const struct box *box;
    int axis;
    size_t chunk, at[4];
    bool done;
};

/* most: bytes of a piece. */
static struct pieces cut(const struct box *box, size_t most)
{
    struct pieces pieces = {.box = box};
    size_t inner = 1;
    while (pieces.axis < 3 && inner * box->count[pieces.axis] <= most)
        inner *= box->count[pieces.axis++];
    pieces.chunk = airy_min_size(most / inner, box->count[pieces.axis]);
    return pieces;
}

static size_t count_pieces(const struct pieces *pieces)
{
    const struct box *box = pieces->box;
    size_t count = (box->count[pieces->axis] + pieces->chunk - 1) / pieces->chunk;
    for (int i = pieces->axis + 1; i < 4; i++)
        count *= box->count[i];
    return count;
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
static airy_status start_copy(airy_queue *queue, const struct transfer *t, const struct box *piece,
                              void *staging, cl_event *event)
{
    const struct airy_cl_queue *impl = airy_cl_queue(queue);
    AIRY_TRY(enqueue_box(queue, t, piece, staging, event));
    AIRY_CL_TRY(impl->device, impl->device->cl->Flush(impl->queue), "clFlush");
    return AIRY_OK;
}

static airy_status start_staged(airy_queue *queue, const struct transfer *t,
                                const struct box *piece, void *staging, cl_event *event)
{
    AIRY_TRY(start_copy(queue, t, piece, staging, event));
    airy_cl_staging_used(airy_cl_queue(queue), staging, box_bytes(piece), *event);
    return AIRY_OK;
}

/*
 * A copy between the device and memory that the driver cannot copy from or to in the background.
 * One thread copies at a fifth of what the link to a GPU takes, so each thread of the pool draws
 * pieces and has two places of the staging memory in turn: it fills or empties one while the
 * device's copy uses the other.
 */
enum {
    STAGED_LEAST = 256 << 10, /* bytes of a piece: a call of the driver is soon longer than it */
    STAGED_THREADS = 8, /* with more, copies of 16 cores take twice as long on an H200's host */
    STAGED_ALIGNMENT = 4096
};

struct staged_place {
    unsigned char *data, *host; /* host: where a pull's piece goes */
    size_t size;
    cl_event event; /* of the copy that uses the place; NULL: none */
};

struct staged {
    airy_queue *queue;
    struct transfer transfer;
    struct staged_place places[STAGED_THREADS][2];
    bool second[STAGED_THREADS]; /* the place that the thread takes next */
    pthread_mutex_t lock;        /* of the queue, and of what follows */
    struct pieces pieces;
    unsigned char *host; /* of the next piece */
    airy_error error;
};

static void staged_failed(struct staged *s, airy_status status)
{
    (void)airy_error_first(&s->error, status);
}

static airy_status empty_place(const struct staged *s, struct staged_place *place)
{
    if (!place->event)
        return AIRY_OK;
    const struct airy_cl_device *device = airy_cl_device(s->queue->device);
    const cl_int code = device->cl->WaitForEvents(1, &place->event);
    device->cl->ReleaseEvent(place->event);
    place->event = NULL;
    AIRY_CL_TRY(device, code, directions[s->transfer.direction].call);
    if (s->transfer.direction == PULL)
        memcpy(place->host, place->data, place->size);
    return AIRY_OK;
}

/* Under the lock. */
static bool draw_piece(struct staged *s, struct staged_place *place, struct box *piece)
{
    if (s->error.status != AIRY_OK || !next_piece(&s->pieces, piece))
        return false;
    place->size = box_bytes(piece);
    place->host = s->host;
    s->host += place->size;
    return true;
}

static void push_piece(void *arg, size_t index, unsigned worker)
{
    (void)index;
    struct staged *s = arg;
    struct staged_place *place = &s->places[worker][s->second[worker]];
    s->second[worker] = !s->second[worker];
    const airy_status emptied = empty_place(s, place);
    struct box piece;
    pthread_mutex_lock(&s->lock);
    if (emptied != AIRY_OK)
        staged_failed(s, emptied);
    const bool drawn = draw_piece(s, place, &piece);
    pthread_mutex_unlock(&s->lock);
    if (!drawn)
        return;
    memcpy(place->data, place->host, place->size);
    pthread_mutex_lock(&s->lock);
    const airy_status started =
        start_copy(s->queue, &s->transfer, &piece, place->data, &place->event);
    if (started != AIRY_OK)
        staged_failed(s, started);
    pthread_mutex_unlock(&s->lock);
}

/* The piece before it lands while this one is on its way. */
static void pull_piece(void *arg, size_t index, unsigned worker)
{
    (void)index;
    struct staged *s = arg;
    struct staged_place *place = &s->places[worker][s->second[worker]];
    s->second[worker] = !s->second[worker];
    struct box piece;
    pthread_mutex_lock(&s->lock);
    if (draw_piece(s, place, &piece)) {
        const airy_status started =
            start_copy(s->queue, &s->transfer, &piece, place->data, &place->event);
        if (started != AIRY_OK)
            staged_failed(s, started);
    }
    pthread_mutex_unlock(&s->lock);
    const airy_status landed = empty_place(s, &s->places[worker][s->second[worker]]);
    if (landed == AIRY_OK)
        return;
    pthread_mutex_lock(&s->lock);
    staged_failed(s, landed);
    pthread_mutex_unlock(&s->lock);
}

static void land_rest(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    struct staged *s = arg;
    for (int i = 0; i < 2; i++) {
        const airy_status landed = empty_place(s, &s->places[index][i]);
        if (landed == AIRY_OK)
            continue;
        pthread_mutex_lock(&s->lock);
        staged_failed(s, landed);
        pthread_mutex_unlock(&s->lock);
    }
}

static airy_status run_staged(airy_queue *queue, const struct transfer *t, const struct box *box,
                              unsigned char *host)
{
    struct airy_cl_queue *impl = airy_cl_queue(queue);
    airy_pool *pool = queue->device->pool;
    const unsigned threads = (unsigned)airy_min_size(airy_pool_size(pool), STAGED_THREADS);
    const size_t place = AIRY_CL_STAGING_BYTES / (2 * threads) / STAGED_ALIGNMENT *
                         STAGED_ALIGNMENT,
                 part = airy_max_size(STAGED_LEAST, box_bytes(box) / threads);
    struct staged s = {.queue = queue, .transfer = *t, .host = host};
    unsigned char *data;
    AIRY_TRY(airy_cl_staging_take_all(impl, &data));
    for (unsigned i = 0; i < 2 * threads; i++)
        s.places[i / 2][i % 2].data = data + i * place;
    s.pieces = cut(box, airy_min_size(place, part));
    pthread_mutex_init(&s.lock, NULL);
    airy_pool_run_few(pool, threads, count_pieces(&s.pieces),
                      t->direction == PUSH ? push_piece : pull_piece, &s);
    if (t->direction == PULL)
        airy_pool_run_few(pool, threads, threads, land_rest, &s);
    pthread_mutex_destroy(&s.lock);
    for (unsigned i = 0; i < 2 * threads; i++) {
        const struct staged_place *left = &s.places[i / 2][i % 2];
        if (left->event)
            airy_cl_staging_used(impl, left->data, left->size, left->event);
    }
    return s.error.status == AIRY_OK ? AIRY_OK : airy_error_restore(&s.error);
}

airy_status airy_cl_push(airy_queue *queue, const airy_array *dst, const void *data, bool pinned)
{
    const struct box box = make_box(dst, NULL);
    const struct transfer transfer = {.direction = PUSH, .buffer = dst->buffer->handle};
    if (pinned)
        return enqueue_box(queue, &transfer, &box, (unsigned char *)data, NULL);
    const size_t size = box_bytes(&box);
    if (size > STAGED_LEAST)
        return run_staged(queue, &transfer, &box, (unsigned char *)data);
    void *staging;
    cl_event event;
    AIRY_TRY(airy_cl_staging_take(airy_cl_queue(queue), size, &staging));
    memcpy(staging, data, size);
    return start_staged(queue, &transfer, &box, staging, &event);
}

airy_status airy_cl_pull(airy_queue *queue, void *data, const airy_array *src, bool pinned)
{
    const struct box box = make_box(src, NULL);
    const struct transfer transfer = {.direction = PULL, .buffer = src->buffer->handle};
    if (pinned)
        return enqueue_box(queue, &transfer, &box, data, &airy_cl_queue(queue)->last);
    const size_t size = box_bytes(&box);
    if (size > STAGED_LEAST)
        return run_staged(queue, &transfer, &box, data);
    const void *staging;
    AIRY_TRY(airy_cl_peek(queue, &staging, src));
    memcpy(data, staging, size);
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

/*
 * The data must stay until the queue is finished. The driver copies them in its own way, as if they
 * were page-locked: for tables, page-locked memory in between costs more than it gains.
 */
airy_status airy_cl_upload_begin(airy_buffer **buffer, airy_queue *queue, const void *data,
                                 size_t size, const char *what)
{
    AIRY_TRY(airy_buffer_create(buffer, queue->device, size ? size : 4, what));
    if (size == 0)
        return AIRY_OK;
    const airy_array bytes = airy_cl_bytes_of(*buffer, size);
    return airy_cl_push(queue, &bytes, data, true);
}

airy_status airy_cl_upload(airy_buffer **buffer, airy_queue *queue, const void *data, size_t size,
                           const char *what)
{
    AIRY_TRY(airy_cl_upload_begin(buffer, queue, data, size, what));
    return airy_queue_finish(queue);
}
