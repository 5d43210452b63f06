/* Moving elements by the places of each axis. */
#include <string.h>

#include "base/size.h"
#include "core/backend.h"
#include "cpu/cpu_element.h"

/*
 * Rows and columns of a piece: where neighbours of a row do not come from neighbours, few enough
 * columns that the lines of the cache that a row has touched are still there for the next one.
 */
enum { ROWS = 32, COLUMNS = 64 };

struct job {
    const struct airy_move_plan *plan;
    size_t rows, columns, blocks; /* of dst; of a piece; pieces of a row */
    size_t run_first, run_count;  /* places along x that follow each other */
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

static void move_row(const struct job *job, size_t row, size_t first, size_t last)
{
    const struct airy_move_plan *p = job->plan;
    const size_t size = airy_dtype_size(p->dst->dtype);
    size_t to = 0, rest = row;
    int64_t from = 0;
    bool outside = false;
    for (int i = AIRY_MAX_DIMS - 2; i >= 0; i--) {
        const size_t k = rest % p->n[i];
        rest /= p->n[i];
        to += k * p->step[i];
        outside = outside || p->place[i][k] < 0;
        from += outside ? 0 : p->place[i][k];
    }
    char *dst = (char *)airy_array_address(p->dst) + to * size;
    const char *src = (const char *)airy_array_address(p->src) + (size_t)from * size;
    const size_t run = airy_max_size(first, job->run_first),
                 end = airy_min_size(last, job->run_first + job->run_count);
    if (outside || run >= end) {
        gather(p, dst, outside ? NULL : src, first, last);
        return;
    }
    gather(p, dst, src, first, run);
    memcpy(dst + run * size, src + (size_t)p->place[AIRY_MAX_DIMS - 1][run] * size,
           (end - run) * size);
    gather(p, dst, src, end, last);
}

static void move_piece(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    const struct job *job = arg;
    const size_t width = job->plan->n[AIRY_MAX_DIMS - 1],
                 first = index % job->blocks * job->columns,
                 last = airy_min_size(first + job->columns, width),
                 row = index / job->blocks * ROWS, end = airy_min_size(row + ROWS, job->rows);
    for (size_t i = row; i < end; i++)
        move_row(job, i, first, last);
}

airy_status airy_cpu_move(airy_queue *queue, const struct airy_move_plan *plan)
{
    const size_t width = plan->n[AIRY_MAX_DIMS - 1];
    const int64_t *place = plan->place[AIRY_MAX_DIMS - 1];
    struct job job = {.plan = plan, .rows = plan->n[0] * plan->n[1] * plan->n[2]};
    for (size_t x = 0, first = 0; x < width; x++) {
        if (x > 0 && (place[x] != place[x - 1] + 1 || place[x - 1] < 0))
            first = x;
        if (place[x] >= 0 && x + 1 - first > job.run_count) {
            job.run_first = first;
            job.run_count = x + 1 - first;
        }
    }
    job.columns = 2 * job.run_count >= width ? width : airy_min_size(width, COLUMNS);
    job.blocks = (width + job.columns - 1) / job.columns;
    airy_profile_loop(queue->device, "move", 2.0 * (double)airy_array_size(plan->dst),
                      (job.rows + ROWS - 1) / ROWS * job.blocks, move_piece, &job);
    return AIRY_OK;
}
