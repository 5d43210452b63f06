/* Moving elements by the places of each axis. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "core/backend.h"
#include "cpu/cpu_element.h"

/*
 * Rows and columns of a piece: where neighbours of a row do not come from neighbours, few enough
 * columns that the lines of the cache that a row has touched are still there for the next one.
 */
enum { ROWS = 32, COLUMNS = 64, LEAST = 32768 /* elements of a piece that is cut for threads */ };

struct job {
    const struct airy_move_plan *plan;
    size_t rows, columns, blocks; /* of dst; of a piece; pieces of a row */
    size_t run_first, run_count;  /* places along x that follow each other, */
    bool backwards;               /* from the last one on */
    int order[AIRY_MAX_DIMS -
              1]; /* axes of rows, the one first of which neighbours are in a piece */
};

#define GATHER(T)                                                                                  \
    do {                                                                                           \
        T outside;                                                                                 \
        memcpy(&outside, p->pattern, sizeof(outside));                                             \
        for (size_t x = first; x < last; x++)                                                      \
            ((T *)dst)[x] = place[x] < 0 ? outside : ((const T *)src)[place[x]];                   \
    } while (0)

/* Elements [first, last) of a row; src NULL: outside. */
static void gather(const struct airy_move_plan *p, char *dst, const char *src, size_t first,
                   size_t last)
{
    const int64_t *place = p->place[AIRY_MAX_DIMS - 1];
    const size_t size = airy_dtype_size(p->dst->dtype);
    if (!src) {
        for (size_t x = first; x < last; x++)
            memcpy(dst + x * size, p->pattern, size);
        return;
    }
    switch (size) {
    case 1:
        GATHER(uint8_t);
        break;
    case 2:
        GATHER(uint16_t);
        break;
    case 4:
        GATHER(uint32_t);
        break;
    default:
        GATHER(uint64_t);
    }
}

#define TURN(T)                                                                                    \
    do {                                                                                           \
        for (size_t i = 0; i < n; i++)                                                             \
            ((T *)dst)[i] = ((const T *)src)[n - 1 - i];                                           \
    } while (0)

/* n elements, the last one first. */
static void turn(void *restrict dst, const void *restrict src, size_t n, size_t size)
{
    switch (size) {
    case 1:
        TURN(uint8_t);
        break;
    case 2:
        TURN(uint16_t);
        break;
    case 4:
        TURN(uint32_t);
        break;
    default:
        TURN(uint64_t);
    }
}

/* A row of dst, and where places along x are from; NULL: outside. */
struct row {
    char *dst;
    const char *src;
};

static struct row find_row(const struct job *job, size_t row)
{
    const struct airy_move_plan *p = job->plan;
    const size_t size = airy_dtype_size(p->dst->dtype);
    size_t to = 0, rest = row;
    int64_t from = 0;
    bool outside = false;
    for (int i = 0; i < AIRY_MAX_DIMS - 1; i++) {
        const int axis = job->order[i];
        const size_t k = rest % p->n[axis];
        rest /= p->n[axis];
        to += k * p->step[axis];
        outside = outside || p->place[axis][k] < 0;
        from += outside ? 0 : p->place[axis][k];
    }
    const char *src = airy_array_address(p->src);
    return (struct row){.dst = (char *)airy_array_address(p->dst) + to * size,
                        .src = outside ? NULL : src + (size_t)from * size};
}

static void move_row(const struct job *job, const struct row *row, size_t first, size_t last)
{
    const struct airy_move_plan *p = job->plan;
    const size_t size = airy_dtype_size(p->dst->dtype), run = airy_max_size(first, job->run_first),
                 end = airy_min_size(last, job->run_first + job->run_count);
    if (!row->src || run >= end) {
        gather(p, row->dst, row->src, first, last);
        return;
    }
    const int64_t *place = p->place[AIRY_MAX_DIMS - 1];
    gather(p, row->dst, row->src, first, run);
    if (job->backwards)
        turn(row->dst + run * size, row->src + (size_t)place[end - 1] * size, end - run, size);
    else
        memcpy(row->dst + run * size, row->src + (size_t)place[run] * size, (end - run) * size);
    gather(p, row->dst, row->src, end, last);
}

static void move_piece(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    const struct job *job = arg;
    const size_t width = job->plan->n[AIRY_MAX_DIMS - 1],
                 size = airy_dtype_size(job->plan->dst->dtype),
                 first = index % job->blocks * job->columns,
                 last = airy_min_size(first + job->columns, width),
                 row = index / job->blocks * ROWS, end = airy_min_size(row + ROWS, job->rows);
    struct row before = {.dst = NULL};
    for (size_t i = row; i < end; i++) {
        const struct row next = find_row(job, i);
        if (before.dst && next.src == before.src) /* as of an enlarged image */
            memcpy(next.dst + first * size, before.dst + first * size, (last - first) * size);
        else
            move_row(job, &next, first, last);
        before = next;
    }
}

/* The longest run of places along x that are a step of 1 apart, forwards or backwards. */
static void find_run(struct job *job)
{
    const size_t width = job->plan->n[AIRY_MAX_DIMS - 1];
    const int64_t *place = job->plan->place[AIRY_MAX_DIMS - 1];
    for (int step = 1; step >= -1; step -= 2)
        for (size_t x = 0, first = 0; x < width; x++) {
            if (x > 0 && (place[x] != place[x - 1] + step || place[x - 1] < 0))
                first = x;
            if (place[x] >= 0 && x + 1 - first > job->run_count) {
                job->run_first = first;
                job->run_count = x + 1 - first;
                job->backwards = step < 0;
            }
        }
}

/*
 * Rows of a piece are neighbours along the fastest axis but x; where columns are gathered, along that
 * which has the smallest steps in src, whose elements share lines of the cache.
 */
static void find_order(struct job *job, bool gathered)
{
    const struct airy_move_plan *p = job->plan;
    int best = AIRY_MAX_DIMS - 2;
    int64_t least = INT64_MAX;
    for (int i = AIRY_MAX_DIMS - 2; gathered && i >= 0; i--) {
        const int64_t step = p->n[i] > 1 ? llabs(p->place[i][1] - p->place[i][0]) : least;
        if (step < least) {
            least = step;
            best = i;
        }
    }
    int k = 0;
    job->order[k++] = best;
    for (int i = AIRY_MAX_DIMS - 2; i >= 0; i--)
        if (i != best)
            job->order[k++] = i;
}

/* Whole rows, or, where there are too few for all threads, parts of them. */
static size_t columns_of_run(const struct job *job, size_t width, size_t threads)
{
    const size_t pieces = (job->rows + ROWS - 1) / ROWS, parts = (threads + pieces - 1) / pieces,
                 least = LEAST / airy_min_size(job->rows, ROWS);
    return airy_min_size(width, airy_max_size((width + parts - 1) / parts, least));
}

airy_status airy_cpu_move(airy_queue *queue, const struct airy_move_plan *plan)
{
    const size_t width = plan->n[AIRY_MAX_DIMS - 1];
    struct job job = {.plan = plan, .rows = plan->n[0] * plan->n[1] * plan->n[2]};
    find_run(&job);
    const bool gathered = 2 * job.run_count < width;
    job.columns = gathered ? airy_min_size(width, COLUMNS)
                           : columns_of_run(&job, width, airy_pool_size(queue->device->pool));
    find_order(&job, gathered && job.columns < width);
    job.blocks = (width + job.columns - 1) / job.columns;
    airy_profile_loop(queue->device, "move", 2.0 * (double)airy_array_size(plan->dst),
                      (job.rows + ROWS - 1) / ROWS * job.blocks, move_piece, &job);
    return AIRY_OK;
}
