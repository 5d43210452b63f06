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

/* Results of a piece; of a median, whose piece keeps the elements of all boxes. */
enum { PIECE = 256, MEDIANS = 16 };

struct job {
    const struct airy_project_plan *plan;
    size_t rows, piece, blocks, box;
    double *lists; /* of a median: a worker's MEDIANS x box elements */
};

/* What a piece has found so far. */
struct sums {
    double value[PIECE], mean[PIECE];
    uint64_t count[PIECE];
    double *list; /* box elements for each result */
    size_t box;
};

/* The next `each` elements of `n` boxes. */
static void take(struct sums *s, size_t at, const double *v, size_t n, size_t each,
                 airy_projection how, bool skip_nan)
{
    for (size_t i = 0; i < n; i++) {
        double value = s->value[at + i];
        const double mean = s->mean[at + i];
        uint64_t count = s->count[at + i];
        for (size_t k = 0; k < each; k++) {
            const double x = v[i * each + k];
            if (skip_nan && isnan(x))
                continue;
            switch (how) {
            case AIRY_PROJECT_MAX:
                value = x > value || isnan(x) ? x : value;
                break;
            case AIRY_PROJECT_MIN:
                value = x < value || isnan(x) ? x : value;
                break;
            case AIRY_PROJECT_STD:
                value += (x - mean) * (x - mean);
                break;
            case AIRY_PROJECT_MEDIAN:
                s->list[(at + i) * s->box + count] = x;
                value = isnan(x) ? x : value;
                break;
            default:
                value += x;
            }
            count++;
        }
        s->value[at + i] = value;
        s->count[at + i] = count;
    }
}

/* One element of each box is the common case of slow axes: loops without branches. */
static void take_line(struct sums *s, size_t at, const double *v, size_t n, airy_projection how)
{
    double *restrict value = s->value + at;
    const double *restrict mean = s->mean + at;
    if (how == AIRY_PROJECT_MAX)
        for (size_t i = 0; i < n; i++)
            value[i] = v[i] > value[i] || v[i] != v[i] ? v[i] : value[i];
    else if (how == AIRY_PROJECT_MIN)
        for (size_t i = 0; i < n; i++)
            value[i] = v[i] < value[i] || v[i] != v[i] ? v[i] : value[i];
    else if (how == AIRY_PROJECT_STD)
        for (size_t i = 0; i < n; i++)
            value[i] += (v[i] - mean[i]) * (v[i] - mean[i]);
    else
        for (size_t i = 0; i < n; i++)
            value[i] += v[i];
    for (size_t i = 0; i < n; i++)
        s->count[at + i]++;
}

/* A row of the boxes of n results; in pieces that the block of loaded elements holds. */
static void take_row(struct sums *s, const struct airy_project_plan *p, const char *from, size_t n,
                     airy_projection how)
{
    _Alignas(64) double v[AIRY_ELEMENT_BLOCK];
    const size_t fx = p->factor[AIRY_MAX_DIMS - 1], size = airy_dtype_size(p->src->dtype);
    const struct airy_element_kernels *kernels = airy_element_kernels(AIRY_ELEMENT_F64);
    if (fx > AIRY_ELEMENT_BLOCK) {
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < fx; k += AIRY_ELEMENT_BLOCK) {
                const size_t m = airy_min_size(fx - k, AIRY_ELEMENT_BLOCK);
                kernels->load(v, from + (i * fx + k) * size, p->src->dtype, m);
                take(s, i, v, 1, m, how, p->skip_nan);
            }
        return;
    }
    const size_t most = AIRY_ELEMENT_BLOCK / fx;
    for (size_t i = 0; i < n; i += most) {
        const size_t m = airy_min_size(most, n - i);
        kernels->load(v, from + i * fx * size, p->src->dtype, m * fx);
        if (fx == 1 && !p->skip_nan && how != AIRY_PROJECT_MEDIAN)
            take_line(s, i, v, m, how);
        else
            take(s, i, v, m, fx, how, p->skip_nan);
    }
}

/* The boxes of results [x, x + n) of row at[0], at[1], at[2], from the start. */
static void take_boxes(struct sums *s, const struct airy_project_plan *p, const size_t at[3],
                       size_t x, size_t n, airy_projection how)
{
    const size_t *f = p->factor, *step = p->src_step;
    const char *base = airy_array_address(p->src);
    for (size_t i = 0; i < n; i++) {
        s->value[i] = how == AIRY_PROJECT_MAX   ? -(double)INFINITY
                      : how == AIRY_PROJECT_MIN ? (double)INFINITY
                                                : 0;
        s->count[i] = 0;
    }
    for (size_t w = 0; w < f[0]; w++)
        for (size_t z = 0; z < f[1]; z++)
            for (size_t y = 0; y < f[2]; y++) {
                const size_t place = (at[0] * f[0] + w) * step[0] + (at[1] * f[1] + z) * step[1] +
                                     (at[2] * f[2] + y) * step[2] + x * f[3];
                take_row(s, p, base + place * airy_dtype_size(p->src->dtype), n, how);
            }
}

/* The element with k smaller ones before it; the list is reordered about it. */
static double select_element(double *v, size_t n, size_t k)
{
    size_t lo = 0, hi = n - 1;
    while (lo < hi) {
        const double pivot = v[lo + (hi - lo) / 2];
        size_t i = lo, j = hi;
        for (;;) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i >= j)
                break;
            const double t = v[i];
            v[i++] = v[j];
            v[j--] = t;
        }
        /* v[..j] <= pivot <= v[j + 1..], and j < hi */
        if (k <= j)
            hi = j;
        else
            lo = j + 1;
    }
    return v[k];
}

static double median_of(double *v, size_t n)
{
    const double upper = select_element(v, n, n / 2);
    if (n % 2)
        return upper;
    double lower = v[0];
    for (size_t i = 1; i < n / 2; i++)
        lower = v[i] > lower ? v[i] : lower;
    return 0.5 * lower + 0.5 * upper;
}

static void finish(struct sums *s, size_t n, airy_projection how)
{
    for (size_t i = 0; i < n; i++) {
        if (s->count[i] == 0)
            s->value[i] = how == AIRY_PROJECT_SUM ? 0 : (double)NAN;
        else if (how == AIRY_PROJECT_MEAN)
            s->value[i] /= (double)s->count[i];
        else if (how == AIRY_PROJECT_STD)
            s->value[i] = sqrt(s->value[i] / (double)s->count[i]);
        else if (how == AIRY_PROJECT_MEDIAN && !isnan(s->value[i]))
            s->value[i] = median_of(s->list + i * s->box, s->count[i]);
    }
}

static void project_piece(void *arg, size_t index, unsigned worker)
{
    const struct job *job = arg;
    const struct airy_project_plan *p = job->plan;
    struct sums s = {.list = job->lists ? job->lists + worker * MEDIANS * job->box : NULL,
                     .box = job->box};
    const size_t x = index % job->blocks * job->piece, row = index / job->blocks,
                 n = airy_min_size(job->piece, p->n[3] - x);
    const size_t at[3] = {row / (p->n[1] * p->n[2]), row / p->n[2] % p->n[1], row % p->n[2]};
    airy_projection how = p->projection;
    if (how == AIRY_PROJECT_STD) {
        take_boxes(&s, p, at, x, n, AIRY_PROJECT_MEAN);
        finish(&s, n, AIRY_PROJECT_MEAN);
        memcpy(s.mean, s.value, n * sizeof(double));
    }
    take_boxes(&s, p, at, x, n, how);
    finish(&s, n, how);
    const size_t to = at[0] * p->dst_step[0] + at[1] * p->dst_step[1] + at[2] * p->dst_step[2] + x;
    char *dst = (char *)airy_array_address(p->dst) + to * airy_dtype_size(p->dst->dtype);
    airy_element_kernels(AIRY_ELEMENT_F64)->store(dst, p->dst->dtype, s.value, false, n);
}

airy_status airy_cpu_project(airy_queue *queue, const struct airy_project_plan *plan)
{
    const bool median = plan->projection == AIRY_PROJECT_MEDIAN;
    struct job job = {.plan = plan,
                      .rows = plan->n[0] * plan->n[1] * plan->n[2],
                      .piece = median ? MEDIANS : PIECE,
                      .box = plan->factor[0] * plan->factor[1] * plan->factor[2] * plan->factor[3]};
    job.blocks = (plan->n[3] + job.piece - 1) / job.piece;
    void *lists = NULL;
    if (median)
        AIRY_TRY(airy_memory_calloc(&lists, job.box,
                                    MEDIANS * sizeof(double) * airy_pool_size(queue->device->pool),
                                    "medians"));
    job.lists = lists;
    airy_profile_loop(queue->device, "project", (double)airy_array_size(plan->src),
                      job.rows * job.blocks, project_piece, &job);
    free(lists);
    return AIRY_OK;
}
