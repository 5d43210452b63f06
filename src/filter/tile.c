#include "airy/tile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/backend.h"
#include "core/objects.h"

enum { MOST_SLOTS = 2, COPY_START = 256 << 10, OWN_ROOM = 64 << 20 };

/* Elements `at` to `at + length - 1` of a tile's source are those from `from` on of the image. */
struct segment {
    size_t at, from, length;
};

/* A tile along one axis. */
struct span {
    size_t first, end;        /* of the result */
    size_t source;            /* elements of its source */
    size_t skip;              /* elements of what the operation makes in front of `first` */
    struct segment *segments; /* of the source; 1 without wrap */
    size_t segment_count;
};

struct slot {
    airy_queue *queue;
    airy_array *src, *dst, *kept; /* kept: the view of dst that is the tile's result */
    struct span span[AIRY_MAX_DIMS];
    bool busy;
};

struct job {
    airy_queue *queue;
    airy_device *device;
    const airy_image *src;
    airy_image *dst;
    airy_tile_params params;
    airy_tile_fn fn;
    void *user;
    int ndim;
    size_t pieces[AIRY_MAX_DIMS]; /* tiles along an axis */
    airy_tile_plan plan;
    int slot_count; /* of many tiles */
    bool over;      /* one tile, which is the images themselves: nothing is copied */
    struct slot slots[MOST_SLOTS];
};

/*
 * The part of the image that the results first to end - 1 of an axis are made from, from *lo on, with
 * what a border's rule folds into it; without wrap it lies inside of the image.
 */
static size_t source_of(const struct job *job, int axis, size_t first, size_t end, int64_t *lo)
{
    const int64_t n = (int64_t)job->src->shape[axis];
    int64_t a = (int64_t)first - (int64_t)job->params.before[axis];
    int64_t b = (int64_t)(end - 1 + job->params.after[axis]) + 1;
    if (!job->params.wrap) {
        const int64_t folded = -a + 1, back = n - 1 - (b - n) - 1;
        if (a < 0 && folded > b)
            b = folded;
        if (b > n && back < a)
            a = back;
        a = a < 0 ? 0 : a;
        b = b > n ? n : b;
    }
    *lo = a;
    return (size_t)(b - a);
}

/* Whole axes stay as they are: their borders are the operation's. */
static bool is_whole(const struct job *job, int axis)
{
    return job->pieces[axis] == 1;
}

static size_t tile_length(const struct job *job, int axis)
{
    const size_t n = job->plan.shape[axis], pieces = job->pieces[axis];
    return n / pieces + (n % pieces != 0);
}

/* Elements of the longest source of a tile along an axis. */
static size_t longest_source(const struct job *job, int axis)
{
    if (is_whole(job, axis))
        return job->src->shape[axis];
    const size_t length = tile_length(job, axis), n = job->src->shape[axis];
    const size_t before = job->params.before[axis], after = job->params.after[axis];
    if (job->params.wrap || before + after == 0)
        return length + before + after;
    return airy_min_size(length + 2 * airy_max_size(before, after) + 1, n);
}

/* Bytes of arrays of the largest tile. */
struct tile_bytes {
    double source, made; /* what the operation gets, and makes of it */
    double between;      /* of the source's shape and the result's dtype */
};

static struct tile_bytes count_tile(const struct job *job)
{
    const double element = (double)airy_dtype_size(job->params.dtype);
    struct tile_bytes t = {(double)airy_dtype_size(job->src->dtype), element, element};
    for (int i = 0; i < job->ndim; i++) {
        const size_t n = longest_source(job, i);
        t.source *= (double)n;
        t.between *= (double)n;
        t.made *= (double)((ptrdiff_t)n + job->params.grow[i]);
    }
    return t;
}

/* Tiles on their way at a time. */
static int count_slots(const struct job *job)
{
    return job->plan.tiles > 1 ? job->slot_count : 1;
}

static double count_bytes(const struct job *job)
{
    const struct tile_bytes t = count_tile(job);
    return count_slots(job) *
           (t.source + t.made * (1 + job->params.scratch) + t.between * job->params.source_scratch);
}

static double count_copied(const struct job *job)
{
    double bytes = (double)airy_dtype_size(job->src->dtype);
    for (int i = 0; i < job->ndim; i++)
        bytes *= (double)longest_source(job, i) * (double)job->pieces[i];
    return bytes;
}

/* Stretches that lie in a row in the image, for all tiles. */
static double count_copies(const struct job *job)
{
    double copies = 1, all = 1;
    for (int i = 0; i < job->ndim; i++) {
        if (job->pieces[i] > 1)
            copies = all * (double)job->pieces[i];
        all *= (double)longest_source(job, i) * (double)job->pieces[i];
    }
    return copies;
}

static void count_tiles(struct job *job)
{
    job->plan.tiles = 1;
    for (int i = 0; i < job->ndim; i++)
        job->plan.tiles *= job->pieces[i];
}

/* Pieces of an axis whose tiles are half as long. */
static size_t twice_as_many(const struct job *job, int axis)
{
    const size_t length = tile_length(job, axis), half = length / 2 + length % 2;
    return job->plan.shape[axis] / half + (job->plan.shape[axis] % half != 0);
}

/*
 * Twice as many pieces along the axis where that makes copies the least longer, each of which takes
 * as long to start as COPY_START bytes take to go; false: none is left.
 */
static bool cut_once(struct job *job)
{
    int best = -1;
    double least = 0;
    for (int i = 0; i < job->ndim; i++) {
        if (tile_length(job, i) == 1)
            continue;
        const size_t before = job->pieces[i];
        job->pieces[i] = twice_as_many(job, i);
        const double cost = count_copied(job) + COPY_START * count_copies(job);
        if (best < 0 || cost < least) {
            best = i;
            least = cost;
        }
        job->pieces[i] = before;
    }
    if (best < 0)
        return false;
    job->pieces[best] = twice_as_many(job, best);
    count_tiles(job);
    return true;
}

/* No single array is larger than the device admits. */
static bool fits_alone(const struct job *job, uint64_t most)
{
    const struct tile_bytes t = count_tile(job);
    const double between = job->params.source_scratch > 0 ? t.between : 0;
    return most == 0 || fmax(t.source, fmax(t.made, between)) <= (double)most;
}

/* What operations take whatever the size of a tile stays free. */
static double leave_room(double bytes)
{
    return bytes - (bytes / 4 < OWN_ROOM ? bytes / 4 : OWN_ROOM);
}

/* Bytes that tiles may have; limit: that arrays may, whether or not their memory is there. */
static airy_status find_room(const struct job *job, double *room, double *limit, uint64_t *single)
{
    airy_memory_info memory;
    airy_device_info info;
    AIRY_TRY(airy_device_memory(job->device, &memory));
    AIRY_TRY(airy_device_get_info(job->device, &info));
    const double left = memory.limit > memory.in_use ? (double)(memory.limit - memory.in_use) : 0;
    /* Drivers keep some of it for themselves. */
    const double unused = info.memory_free ? (double)info.memory_free * 0.9 : left;
    *single = info.max_alloc;
    *limit = job->params.memory ? (double)job->params.memory : leave_room(left);
    *room = job->params.memory ? (double)job->params.memory : leave_room(fmin(left, unused));
    return AIRY_OK;
}

/* One tile may be the images themselves. */
static bool is_over(const struct job *job)
{
    return job->plan.tiles == 1 && airy_queue_backend(job->queue)->in_place &&
           (uintptr_t)job->src->data % airy_dtype_size(job->src->dtype) == 0;
}

static bool fits(const struct job *job, double room, double limit, uint64_t single)
{
    const double bytes = count_bytes(job);
    if (is_over(job)) /* the source has its memory already */
        return bytes <= limit && bytes - count_tile(job).source <= room;
    return bytes <= room && fits_alone(job, single);
}

static airy_status make_plan(struct job *job, double room, double limit, uint64_t single)
{
    while (!fits(job, room, limit, single))
        AIRY_FAIL_IF(!cut_once(job), AIRY_ERR_MEMORY,
                     "a tile of one element and its surroundings needs %.0f bytes on the device, "
                     "there is room for %.0f",
                     count_bytes(job), room);
    job->over = is_over(job);
    job->plan.device_bytes = (uint64_t)count_bytes(job);
    job->plan.copied_bytes = job->over ? 0 : (uint64_t)count_copied(job);
    for (int i = 0; i < job->ndim; i++)
        job->plan.tile[i] = tile_length(job, i);
    return AIRY_OK;
}

/* The segments of a wrapped source that begins at lo, which may be in front of the image. */
static airy_status wrap_segments(struct span *span, int64_t lo, size_t n)
{
    AIRY_TRY(airy_memory_calloc((void **)&span->segments, span->source / n + 2,
                                sizeof(*span->segments), "a tile"));
    const int64_t rest = lo % (int64_t)n;
    size_t from = (size_t)(rest < 0 ? rest + (int64_t)n : rest), at = 0;
    while (at < span->source) {
        const size_t length = airy_min_size(n - from, span->source - at);
        span->segments[span->segment_count++] = (struct segment){at, from, length};
        at += length;
        from = 0;
    }
    return AIRY_OK;
}

static airy_status make_span(const struct job *job, struct span *span, int axis, size_t index)
{
    const size_t length = tile_length(job, axis), n = job->src->shape[axis];
    int64_t lo = 0;
    span->first = index * length;
    span->end = airy_min_size(span->first + length, job->plan.shape[axis]);
    span->source = is_whole(job, axis) ? n : source_of(job, axis, span->first, span->end, &lo);
    span->skip = (size_t)((int64_t)span->first - lo);
    span->segment_count = 0;
    if (job->params.wrap && !is_whole(job, axis))
        return wrap_segments(span, lo, n);
    AIRY_TRY(airy_memory_calloc((void **)&span->segments, 1, sizeof(*span->segments), "a tile"));
    span->segments[span->segment_count++] = (struct segment){0, (size_t)lo, span->source};
    return AIRY_OK;
}

enum direction { TO_DEVICE, FROM_DEVICE };

/* A box of an array and its place in an image. */
struct box {
    airy_array *array;
    const airy_image *image;
    size_t at[AIRY_MAX_DIMS], from[AIRY_MAX_DIMS], shape[AIRY_MAX_DIMS];
};

/* Axes from here on are whole in the image: what lies behind one step in front of them is in a row. */
static int first_whole_axis(const struct box *box)
{
    int axis = box->image->ndim;
    while (axis > 0 && box->shape[axis - 1] == box->image->shape[axis - 1])
        axis--;
    return axis;
}

static airy_status copy_row(airy_queue *queue, const struct box *box, const size_t *index,
                            const size_t *shape, enum direction direction)
{
    const airy_image *image = box->image;
    size_t place = 0, start[AIRY_MAX_DIMS];
    for (int i = 0; i < image->ndim; i++) {
        place = place * image->shape[i] + box->from[i] + index[i];
        start[i] = box->at[i] + index[i];
    }
    airy_array *view = NULL;
    AIRY_TRY(airy_array_view(&view, box->array, start, shape));
    unsigned char *bytes = (unsigned char *)image->data + place * airy_dtype_size(image->dtype);
    const airy_status status = direction == TO_DEVICE
                                   ? airy_array_push(queue, view, bytes, airy_array_size(view))
                                   : airy_array_pull(queue, bytes, airy_array_size(view), view);
    airy_array_destroy(&view);
    return status;
}

/* Stretches that are in a row in the image go by themselves. */
static airy_status copy_box(airy_queue *queue, const struct box *box, enum direction direction)
{
    const int whole = first_whole_axis(box);
    size_t index[AIRY_MAX_DIMS] = {0}, shape[AIRY_MAX_DIMS];
    memcpy(shape, box->shape, sizeof(shape));
    for (int i = 0; i < whole - 1; i++)
        shape[i] = 1;
    for (;;) {
        AIRY_TRY(copy_row(queue, box, index, shape, direction));
        int axis = whole - 2;
        while (axis >= 0 && ++index[axis] == box->shape[axis])
            index[axis--] = 0;
        if (axis < 0)
            return AIRY_OK;
    }
}

static airy_status push_tile(const struct job *job, struct slot *slot)
{
    size_t which[AIRY_MAX_DIMS] = {0};
    for (;;) {
        struct box box = {.array = slot->src, .image = job->src};
        for (int i = 0; i < job->ndim; i++) {
            const struct segment *segment = &slot->span[i].segments[which[i]];
            box.at[i] = segment->at;
            box.from[i] = segment->from;
            box.shape[i] = segment->length;
        }
        AIRY_TRY(copy_box(slot->queue, &box, TO_DEVICE));
        int axis = job->ndim - 1;
        while (axis >= 0 && ++which[axis] == slot->span[axis].segment_count)
            which[axis--] = 0;
        if (axis < 0)
            return AIRY_OK;
    }
}

static void clear_slot(struct slot *slot)
{
    airy_array_destroy(&slot->kept);
    airy_array_destroy(&slot->dst);
    airy_array_destroy(&slot->src);
    for (int i = 0; i < AIRY_MAX_DIMS; i++) {
        free(slot->span[i].segments);
        slot->span[i].segments = NULL;
    }
    slot->busy = false;
}

static airy_status make_array(const struct job *job, airy_queue *queue, airy_array **array,
                              airy_dtype dtype, const size_t *shape, void *data)
{
    return job->over ? airy_array_create_over(array, queue, dtype, job->ndim, shape, data)
                     : airy_array_create_uninitialized(array, job->device, dtype, job->ndim, shape);
}

/* Arrays of the slot's spans; those of the tile before are taken where they are alike. */
static airy_status make_arrays(const struct job *job, struct slot *slot)
{
    size_t source[AIRY_MAX_DIMS], made[AIRY_MAX_DIMS], skip[AIRY_MAX_DIMS], kept[AIRY_MAX_DIMS];
    for (int i = 0; i < job->ndim; i++) {
        source[i] = slot->span[i].source;
        made[i] = (size_t)((ptrdiff_t)source[i] + job->params.grow[i]);
        skip[i] = slot->span[i].skip;
        kept[i] = slot->span[i].end - slot->span[i].first;
    }
    const bool alike = slot->src &&
                       memcmp(slot->src->shape, source, (size_t)job->ndim * sizeof(size_t)) == 0;
    airy_array_destroy(&slot->kept);
    if (!alike) {
        airy_array_destroy(&slot->src);
        airy_array_destroy(&slot->dst);
        AIRY_TRY(make_array(job, slot->queue, &slot->src, job->src->dtype, source, job->src->data));
        AIRY_TRY(make_array(job, slot->queue, &slot->dst, job->params.dtype, made, job->dst->data));
    }
    return airy_array_view(&slot->kept, slot->dst, skip, kept);
}

static airy_status start_tile(const struct job *job, struct slot *slot, uint64_t tile)
{
    for (int i = job->ndim - 1; i >= 0; i--) {
        free(slot->span[i].segments);
        slot->span[i].segments = NULL;
        AIRY_TRY(make_span(job, &slot->span[i], i, (size_t)(tile % job->pieces[i])));
        tile /= job->pieces[i];
    }
    AIRY_TRY(make_arrays(job, slot));
    slot->busy = true;
    if (!job->over)
        AIRY_TRY(push_tile(job, slot));
    AIRY_TRY(job->fn(job->user, slot->queue, slot->dst, slot->src));
    return airy_queue_flush(slot->queue);
}

static airy_status finish_tile(const struct job *job, struct slot *slot)
{
    if (!slot->busy)
        return AIRY_OK;
    struct box box = {.array = slot->kept, .image = job->dst};
    for (int i = 0; i < job->ndim; i++) {
        box.from[i] = slot->span[i].first;
        box.shape[i] = slot->span[i].end - slot->span[i].first;
    }
    if (!job->over)
        AIRY_TRY(copy_box(slot->queue, &box, FROM_DEVICE));
    slot->busy = false;
    return airy_queue_finish(slot->queue);
}

/* Every tile once. Whatever happens, nothing is left on the device. */
static airy_status run_tiles(struct job *job)
{
    const int slots = count_slots(job);
    airy_status status = AIRY_OK;
    for (int i = 0; i < slots && status == AIRY_OK; i++)
        status = airy_queue_create(&job->slots[i].queue, job->device);
    for (uint64_t t = 0; t < job->plan.tiles + (uint64_t)slots && status == AIRY_OK; t++) {
        struct slot *slot = &job->slots[t % (uint64_t)slots];
        status = finish_tile(job, slot);
        if (status == AIRY_OK && t < job->plan.tiles)
            status = start_tile(job, slot, t);
    }
    for (int i = 0; i < slots; i++) {
        if (job->slots[i].queue) {
            const airy_status end = airy_queue_finish(job->slots[i].queue);
            status = status == AIRY_OK ? end : status;
        }
        clear_slot(&job->slots[i]);
        airy_queue_destroy(&job->slots[i].queue);
    }
    return status;
}

static airy_status check_job(struct job *job)
{
    const airy_image *src = job->src;
    AIRY_FAIL_IF(src->ndim < 1 || src->ndim > AIRY_MAX_DIMS, AIRY_ERR_SHAPE,
                 "the image has %d dimensions, expected 1 to %d", src->ndim, AIRY_MAX_DIMS);
    AIRY_FAIL_IF(!airy_dtype_size(src->dtype) || !airy_dtype_size(job->params.dtype),
                 AIRY_ERR_DTYPE, "dtype of the image = %d, of the result = %d: none of airy_dtype",
                 (int)src->dtype, (int)job->params.dtype);
    AIRY_FAIL_ON_IF(!(job->params.scratch >= 0) || !(job->params.source_scratch >= 0),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %g, source_scratch = %g, expected numbers of at least 0", "scratch",
                    job->params.scratch, job->params.source_scratch);
    size_t bytes = airy_dtype_size(job->params.dtype);
    job->plan.ndim = job->ndim = src->ndim;
    for (int i = 0; i < src->ndim; i++) {
        const size_t most = (size_t)1 << 40;
        AIRY_FAIL_IF(src->shape[i] < 1 || src->shape[i] > most || job->params.before[i] > most ||
                         job->params.after[i] > most,
                     AIRY_ERR_SHAPE, "axis %d of the image has %zu elements, overlaps %zu and %zu",
                     i, src->shape[i], job->params.before[i], job->params.after[i]);
        AIRY_FAIL_IF(job->params.grow[i] <= -(ptrdiff_t)src->shape[i], AIRY_ERR_SHAPE,
                     "axis %d: a result %td elements shorter than the image's %zu", i,
                     -job->params.grow[i], src->shape[i]);
        job->plan.shape[i] = (size_t)((ptrdiff_t)src->shape[i] + job->params.grow[i]);
        job->pieces[i] = 1;
        AIRY_FAIL_IF(airy_mul_size(&bytes, bytes, job->plan.shape[i]), AIRY_ERR_SHAPE,
                     "the result has more elements than memory has addresses");
    }
    count_tiles(job);
    return AIRY_OK;
}

static airy_status alloc_result(struct job *job)
{
    size_t bytes = airy_dtype_size(job->params.dtype);
    *job->dst = (airy_image){.dtype = job->params.dtype, .ndim = job->ndim};
    for (int i = 0; i < job->ndim; i++)
        bytes *= job->dst->shape[i] = job->plan.shape[i];
    const uint64_t available = airy_memory_available();
    AIRY_FAIL_IF(bytes > available, AIRY_ERR_MEMORY,
                 "the result has %zu bytes, more than the %llu of memory that are left", bytes,
                 (unsigned long long)available);
    return airy_memory_alloc(&job->dst->data, bytes);
}

airy_status airy_tile_run(airy_queue *queue, airy_image *dst, const airy_image *src,
                          const airy_tile_params *params, airy_tile_fn fn, void *user,
                          airy_tile_plan *plan)
{
    AIRY_FAIL_IF(!queue || !src || !src->data || !params || (dst && !fn), AIRY_ERR_PARAM,
                 "airy_tile_run: queue, src, params or fn is NULL");
    struct job job = {
        .queue = queue,
        .device = airy_queue_device(queue),
        /* Where nothing is copied while a tile computes, a second one gains nothing. */
        .slot_count = airy_queue_backend(queue)->in_place ? 1 : MOST_SLOTS,
        .src = src,
        .dst = dst,
        .params = *params,
        .fn = fn,
        .user = user};
    double room, limit;
    uint64_t single;
    AIRY_TRY(check_job(&job));
    AIRY_TRY(airy_queue_finish(queue));
    AIRY_TRY(find_room(&job, &room, &limit, &single));
    AIRY_TRY(make_plan(&job, room, limit, single));
    if (dst) {
        AIRY_TRY(alloc_result(&job));
        airy_status status = run_tiles(&job);
        while (status == AIRY_ERR_MEMORY && cut_once(&job)) {
            status = make_plan(&job, (double)UINT64_MAX, (double)UINT64_MAX, single);
            if (status == AIRY_OK)
                status = run_tiles(&job);
        }
        if (status != AIRY_OK) {
            airy_image_free(dst);
            return status;
        }
    }
    if (plan)
        *plan = job.plan;
    return AIRY_OK;
}
