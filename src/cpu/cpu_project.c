/*
 * Projections by boxes. A piece of a row of results walks the rows of its boxes, each brought into
 * f64, so that sums along slow axes read neighbours.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/backend.h"
#include "cpu/cpu_element.h"
#include "cpu/cpu_project.h"
#include "cpu/cpu_reduce.h"

/*
 * Results of a piece, and those at least that follow each other in a row; of a median, whose piece
 * keeps the elements of all boxes, fewer where boxes are large.
 */
enum {
    PIECE = 1024,
    NARROW = 64,
    MEDIANS = 16,    /* and as many more as fit here: */
    LISTS = 1 << 17, /* elements of a median's lists, 1 MB */
    BLOCK = 512,     /* elements at a time */
    LINE = 16        /* as many of a box side by side are a line */
};

struct job {
    const struct airy_project_plan *plan;
    size_t rows, piece, blocks, box, room;
    double *lists; /* of a median: a worker's piece + 2 x room elements */
};

/* What a piece has found so far. */
struct sums {
    double value[PIECE], mean[PIECE];
    uint64_t count[PIECE];
    double *list, *scratch; /* of a median: room elements for each result, and twice that */
    size_t box, room;
};

/* Elements of a median are kept, behind those that there are. */
static void list_values(struct sums *s, size_t at, const double *v, size_t n, size_t each)
{
    for (size_t i = 0; i < n; i++) {
        double *list = s->list + (at + i) * s->room + s->count[at + i];
        for (size_t k = 0; k < each; k++)
            list[k] = v[i * each + k];
        s->count[at + i] += each;
    }
}

/* NaN becomes what changes nothing, and is not counted. */
static void skip_nans(struct sums *s, size_t at, double *v, size_t n, size_t each,
                      airy_projection how)
{
    for (size_t i = 0; i < n; i++) {
        const double none = how == AIRY_PROJECT_STD ? s->mean[at + i] : 0;
        uint64_t count = 0;
        for (size_t k = 0; k < each; k++) {
            const double x = v[i * each + k];
            count += !isnan(x);
            v[i * each + k] = isnan(x) ? none : x;
        }
        s->count[at + i] += count;
    }
}

/* The next `each` elements of n boxes. */
static void take(struct sums *s, size_t at, const double *v, size_t n, size_t each,
                 airy_projection how)
{
    const struct airy_project_kernels *kernels = airy_project_kernels();
    if (how == AIRY_PROJECT_MEDIAN) {
        list_values(s, at, v, n, each);
        return;
    }
    if (each < LINE) {
        kernels->boxes(s->value + at, s->mean + at, v, n, each, how);
        return;
    }
    for (size_t i = 0; i < n; i++)
        s->value[at + i] =
            kernels->line(s->value[at + i], s->mean[at + i], v + i * each, each, how);
}

/* A row of the boxes of n results; in pieces that the block of loaded elements holds. */
static void load_row(struct sums *s, const struct airy_project_plan *p, const char *from, size_t n,
                     airy_projection how)
{
    _Alignas(64) double v[BLOCK];
    const size_t fx = p->factor[AIRY_MAX_DIMS - 1], size = airy_dtype_size(p->src->dtype),
                 piece = airy_min_size(fx, BLOCK), most = BLOCK / piece;
    const struct airy_reduce_kernels *kernels = airy_reduce_kernels();
    for (size_t i = 0; i < n; i += most)
        for (size_t k = 0; k < fx; k += piece) {
            const size_t boxes = airy_min_size(most, n - i), each = airy_min_size(piece, fx - k);
            kernels->load[p->src->dtype](v, from + (i * fx + k) * size, boxes * each);
            if (p->skip_nan && how != AIRY_PROJECT_MEDIAN)
                skip_nans(s, i, v, boxes, each, how);
            take(s, i, v, boxes, each, how);
        }
}

/* Sums of f64 of which nothing is left out are of the elements where they lie. */
static void take_row(struct sums *s, const struct airy_project_plan *p, const char *from, size_t n,
                     airy_projection how)
{
    const size_t fx = p->factor[AIRY_MAX_DIMS - 1];
    if (p->src->dtype == AIRY_DTYPE_F64 && !p->skip_nan && fx <= BLOCK &&
        how != AIRY_PROJECT_MEDIAN)
        take(s, 0, (const double *)(const void *)from, n, fx, how);
    else
        load_row(s, p, from, n, how);
}

/* Row w, z, y of the boxes of row at[0], at[1], at[2] of results, from result x on. */
static const char *row_of(const struct airy_project_plan *p, const size_t at[3], size_t w, size_t z,
                          size_t y, size_t x)
{
    const size_t *f = p->factor, *step = p->src_step;
    const size_t place = (at[0] * f[0] + w) * step[0] + (at[1] * f[1] + z) * step[1] +
                         (at[2] * f[2] + y) * step[2] + x * f[3];
    return (const char *)airy_array_address(p->src) + place * airy_dtype_size(p->src->dtype);
}

/* Extremes of results [x, x + n), in src's dtype until the end. */
static void take_extremes(struct sums *s, const struct airy_project_plan *p, const size_t at[3],
                          size_t x, size_t n)
{
    _Alignas(64) double values[PIECE]; /* no dtype is larger */
    const size_t *f = p->factor;
    const airy_dtype dtype = p->src->dtype;
    const bool least = p->projection == AIRY_PROJECT_MIN;
    for (size_t w = 0; w < f[0]; w++)
        for (size_t z = 0; z < f[1]; z++)
            for (size_t y = 0; y < f[2]; y++)
                airy_project_kernels()->extremes[dtype](values, row_of(p, at, w, z, y, x), n, f[3],
                                                        w + z + y == 0, least, p->skip_nan);
    airy_reduce_kernels()->load[dtype](s->value, values, n);
}

/* The boxes of results [x, x + n) of row at[0], at[1], at[2], from the start. */
static void take_boxes(struct sums *s, const struct airy_project_plan *p, const size_t at[3],
                       size_t x, size_t n, airy_projection how)
{
    const size_t *f = p->factor;
    for (size_t i = 0; i < n; i++) {
        s->value[i] = 0;
        s->count[i] = how == AIRY_PROJECT_MEDIAN || p->skip_nan ? 0 : s->box;
    }
    for (size_t w = 0; w < f[0]; w++)
        for (size_t z = 0; z < f[1]; z++)
            for (size_t y = 0; y < f[2]; y++)
                take_row(s, p, row_of(p, at, w, z, y, x), n, how);
}

static void finish(struct sums *s, size_t n, airy_projection how, bool skip_nan)
{
    for (size_t i = 0; i < n; i++) {
        if (how == AIRY_PROJECT_MEDIAN)
            s->value[i] =
                airy_project_median(s->list + i * s->room, s->count[i], skip_nan, s->scratch);
        else if (s->count[i] == 0)
            s->value[i] = how == AIRY_PROJECT_SUM ? 0 : (double)NAN;
        else if (how == AIRY_PROJECT_MEAN)
            s->value[i] /= (double)s->count[i];
        else if (how == AIRY_PROJECT_STD)
            s->value[i] = sqrt(s->value[i] / (double)s->count[i]);
    }
}

static void project_piece(void *arg, size_t index, unsigned worker)
{
    const struct job *job = arg;
    const struct airy_project_plan *p = job->plan;
    struct sums s; /* take_boxes sets what is not set here */
    s.list = job->lists ? job->lists + worker * (job->piece + 2) * job->room : NULL;
    s.scratch = s.list ? s.list + job->piece * job->room : NULL;
    s.box = job->box;
    s.room = job->room;
    const size_t x = index % job->blocks * job->piece, row = index / job->blocks,
                 n = airy_min_size(job->piece, p->n[3] - x);
    const size_t at[3] = {row / (p->n[1] * p->n[2]), row / p->n[2] % p->n[1], row % p->n[2]};
    const airy_projection how = p->projection;
    if (how == AIRY_PROJECT_MAX || how == AIRY_PROJECT_MIN) {
        take_extremes(&s, p, at, x, n);
    } else {
        memset(s.mean, 0, n * sizeof(double));
        if (how == AIRY_PROJECT_STD) {
            take_boxes(&s, p, at, x, n, AIRY_PROJECT_MEAN);
            finish(&s, n, AIRY_PROJECT_MEAN, p->skip_nan);
            memcpy(s.mean, s.value, n * sizeof(double));
        }
        take_boxes(&s, p, at, x, n, how);
        finish(&s, n, how, p->skip_nan);
    }
    const size_t to = at[0] * p->dst_step[0] + at[1] * p->dst_step[1] + at[2] * p->dst_step[2] + x;
    char *dst = (char *)airy_array_address(p->dst) + to * airy_dtype_size(p->dst->dtype);
    airy_element_kernels(AIRY_ELEMENT_F64)->store(dst, p->dst->dtype, s.value, false, n);
}

airy_status airy_cpu_project(airy_queue *queue, const struct airy_project_plan *plan)
{
    const bool median = plan->projection == AIRY_PROJECT_MEDIAN;
    struct job job = {.plan = plan,
                      .rows = plan->n[0] * plan->n[1] * plan->n[2],
                      .box = plan->factor[0] * plan->factor[1] * plan->factor[2] * plan->factor[3]};
    /* Lists begin in different sets of the cache. */
    job.room = airy_align_up(job.box, AIRY_REDUCE_GROUP) + AIRY_REDUCE_GROUP;
    /* As wide as leaves a piece for every thread. */
    const size_t threads = airy_pool_size(queue->device->pool),
                 wide = plan->n[3] * job.rows / threads / NARROW * NARROW,
                 most = median ? airy_min_size(LISTS / job.room, PIECE) : PIECE;
    job.piece = airy_max_size(airy_min_size(wide, most), median ? MEDIANS : NARROW);
    job.blocks = (plan->n[3] + job.piece - 1) / job.piece;
    void *lists = NULL;
    if (median)
        AIRY_TRY(airy_memory_calloc(&lists, job.room + 1,
                                    (job.piece + 2) * sizeof(double) * threads, "medians"));
    const uintptr_t before = (uintptr_t)lists % 64; /* whole lines of the cache */
    job.lists = (double *)((char *)lists + (before ? 64 - before : 0));
    airy_profile_loop(queue->device, "project", (double)airy_array_size(plan->src),
                      job.rows * job.blocks, project_piece, &job);
    free(lists);
    return AIRY_OK;
}
