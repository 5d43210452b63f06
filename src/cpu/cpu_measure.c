/*
 * Measures of labels: one walk over the runs, in stripes of rows whose number depends on the data
 * alone. A label belongs to the stripe of its first run, which adds to its entry; what other stripes
 * meet of it they keep apart, and this is added stripe by stripe.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "cpu/cpu_label.h"
#include "cpu/cpu_reduce.h"

enum {
    STRIPES = 32,
    RUNS_ALONE = 4096, /* fewer runs are one stripe */
    LABELS_ALONE = 1 << 24,
    PIECE = 256, /* pixels of a run at a time */
    FINISH_EACH = 256
};

/* Where a label begins: the origin of its moments. x is that of its first run. */
struct origin {
    uint32_t row, x;
    bool seen;
};

/* What is found of a label. Places of extremes are pixels in raster order; box: z, y, x. */
struct part {
    struct airy_region_sums sums;
    double min, max;
    uint32_t label, min_at, max_at;
    uint32_t first[3], last[3];
};

struct stripe {
    struct part *parts; /* of labels that began before */
    size_t count, capacity;
    airy_status status;
};

struct job {
    const struct airy_runs *runs;
    const airy_array *src;
    airy_region *regions;
    size_t labels, count;         /* count: stripes */
    const struct origin *origins; /* [labels] */
    struct part *own;             /* [labels] */
    struct stripe *stripes;
};

static struct part no_part(uint32_t label)
{
    return (struct part){.label = label,
                         .min = (double)INFINITY,
                         .max = -(double)INFINITY,
                         .first = {UINT32_MAX, UINT32_MAX, UINT32_MAX}};
}

/* The part of a label that began before. slots: [labels + 1], index + 1; 0: none yet. */
static struct part *part_of(struct stripe *s, uint32_t *slots, uint32_t label)
{
    if (slots[label])
        return &s->parts[slots[label] - 1];
    if (s->count == s->capacity) {
        const size_t capacity = 2 * s->capacity + 64;
        struct part *grown = realloc(s->parts, capacity * sizeof(*grown));
        if (!grown)
            return NULL;
        s->parts = grown;
        s->capacity = capacity;
    }
    s->parts[s->count++] = no_part(label);
    slots[label] = (uint32_t)s->count;
    return &s->parts[s->count - 1];
}

/* Pixels of a row that follow each other: [z, y, x]; u: from the label's origin to the first. */
struct place {
    uint32_t at[3], pixel;
    double u[3];
};

static void add_values(struct part *p, const double *values, size_t n, const struct place *place)
{
    double sum = 0, sum_x = 0, sum_xx = 0;
    for (size_t i = 0; i < n; i++) {
        const double v = values[i], u = place->u[2] + (double)i;
        sum += v;
        sum_x += v * u;
        sum_xx += v * u * u;
        if (v < p->min) {
            p->min = v;
            p->min_at = place->pixel + (uint32_t)i;
        }
        if (v > p->max) {
            p->max = v;
            p->max_at = place->pixel + (uint32_t)i;
        }
    }
    struct airy_region_sums *s = &p->sums;
    const double count = (double)n, y = place->u[1];
    s->count += n;
    s->sum += sum;
    s->moment[0] += sum * place->u[0];
    s->moment[1] += sum * y;
    s->moment[2] += sum_x;
    s->xx += sum_xx;
    s->yy += sum * y * y;
    s->xy += sum_x * y;
    s->place[0] += count * (double)place->at[0];
    s->place[1] += count * (double)place->at[1];
    s->place[2] += count * ((double)place->at[2] + 0.5 * (count - 1));
    for (int k = 0; k < 3; k++) {
        const uint32_t lo = place->at[k], hi = k == 2 ? lo + (uint32_t)n - 1 : lo;
        p->first[k] = lo < p->first[k] ? lo : p->first[k];
        p->last[k] = hi > p->last[k] ? hi : p->last[k];
    }
}

static void add_run(const struct job *job, struct part *p, size_t row, struct airy_run run)
{
    const struct airy_reduce_kernels *k = airy_reduce_kernels();
    const struct origin *origin = &job->origins[p->label - 1];
    const airy_dtype dtype = job->src->dtype;
    const char *src = airy_row_address(job->src, job->runs->shape, row);
    const size_t height = job->runs->shape[1], width = job->runs->shape[2];
    const uint32_t z = (uint32_t)(row / height), y = (uint32_t)(row % height);
    _Alignas(64) double values[PIECE];
    for (uint32_t x = run.begin; x < run.end; x += PIECE) {
        const size_t n = airy_min_size(PIECE, run.end - x);
        const struct place place = {.at = {z, y, x},
                                    .pixel = (uint32_t)(row * width + x),
                                    .u = {(double)z - (double)(origin->row / height),
                                          (double)y - (double)(origin->row % height),
                                          (double)x - (double)origin->x}};
        k->load[dtype](values, src + x * airy_dtype_size(dtype), n);
        add_values(p, values, n, &place);
    }
}

static airy_status measure_rows(const struct job *job, struct stripe *s, size_t first, size_t last,
                                uint32_t *slots)
{
    const struct airy_runs *runs = job->runs;
    for (size_t row = first; row < last; row++)
        for (uint32_t i = runs->row_first[row]; i < runs->row_first[row + 1]; i++) {
            const uint32_t label = runs->label[i];
            if (label == 0)
                continue;
            const struct origin *origin = &job->origins[label - 1];
            struct part *part = origin->row >= first ? &job->own[label - 1]
                                                     : part_of(s, slots, label);
            if (!part)
                return AIRY_ERR_MEMORY;
            if (origin->row == row && origin->x == runs->run[i].begin)
                *part = no_part(label);
            add_run(job, part, row, runs->run[i]);
        }
    return AIRY_OK;
}

static void measure_stripe(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    const struct job *job = arg;
    struct stripe *s = &job->stripes[index];
    void *slots = NULL;
    s->status = airy_memory_calloc(&slots, job->labels + 1, sizeof(uint32_t), "regions");
    if (s->status == AIRY_OK)
        s->status = measure_rows(job, s, index * job->runs->rows / job->count,
                                 (index + 1) * job->runs->rows / job->count, slots);
    free(slots);
}

/* Parts of a label are met in raster order, so the first of equal extremes stays. */
static void add_part(struct part *to, const struct part *p)
{
    struct airy_region_sums *a = &to->sums;
    const struct airy_region_sums *b = &p->sums;
    a->count += b->count;
    a->sum += b->sum;
    a->xx += b->xx;
    a->yy += b->yy;
    a->xy += b->xy;
    for (int k = 0; k < 3; k++) {
        a->moment[k] += b->moment[k];
        a->place[k] += b->place[k];
        to->first[k] = p->first[k] < to->first[k] ? p->first[k] : to->first[k];
        to->last[k] = p->last[k] > to->last[k] ? p->last[k] : to->last[k];
    }
    if (p->min < to->min) {
        to->min = p->min;
        to->min_at = p->min_at;
    }
    if (p->max > to->max) {
        to->max = p->max;
        to->max_at = p->max_at;
    }
}

static void set_pixel(uint64_t at[3], uint32_t pixel, const size_t shape[3])
{
    at[0] = pixel / shape[2] / shape[1];
    at[1] = pixel / shape[2] % shape[1];
    at[2] = pixel % shape[2];
}

static void finish_piece(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    static const double one[3] = {1, 1, 1};
    const struct job *job = arg;
    const size_t end = airy_min_size((index + 1) * FINISH_EACH, job->labels),
                 height = job->runs->shape[1];
    for (size_t i = index * FINISH_EACH; i < end; i++) {
        airy_region *r = &job->regions[i];
        const struct part *p = &job->own[i];
        const struct origin *o = &job->origins[i];
        const double origin[3] = {(double)(o->row / height), (double)(o->row % height),
                                  (double)o->x};
        *r = (airy_region){.min = p->min, .max = p->max};
        set_pixel(r->min_at, p->min_at, job->runs->shape);
        set_pixel(r->max_at, p->max_at, job->runs->shape);
        for (int k = 0; k < 3; k++) {
            r->first[k] = p->first[k];
            r->last[k] = p->last[k];
        }
        airy_region_finish(r, &p->sums, origin, one);
    }
}

static airy_status measure_all(struct job *job, airy_device *device)
{
    airy_profile_loop(device, "measure_runs", 0, job->count, measure_stripe, job);
    for (size_t i = 0; i < job->count; i++) {
        AIRY_FAIL_IF(job->stripes[i].status != AIRY_OK, AIRY_ERR_MEMORY,
                     "out of memory for the measures of %zu labels", job->labels);
        for (size_t k = 0; k < job->stripes[i].count; k++) {
            const struct part *p = &job->stripes[i].parts[k];
            add_part(&job->own[p->label - 1], p);
        }
    }
    airy_profile_loop(device, "measure_finish", 0, (job->labels + FINISH_EACH - 1) / FINISH_EACH,
                      finish_piece, job);
    return AIRY_OK;
}

static void find_origins(struct origin *origins, const struct airy_runs *runs)
{
    for (size_t row = 0; row < runs->rows; row++)
        for (uint32_t i = runs->row_first[row]; i < runs->row_first[row + 1]; i++) {
            const uint32_t label = runs->label[i];
            if (label && !origins[label - 1].seen)
                origins[label - 1] = (struct origin){(uint32_t)row, runs->run[i].begin, true};
        }
}

airy_status airy_measure_runs(airy_queue *queue, airy_region *regions, size_t count,
                              const struct airy_runs *runs, const airy_array *src)
{
    struct stripe stripes[STRIPES] = {{.parts = NULL}};
    struct job job = {.runs = runs,
                      .src = src,
                      .regions = regions,
                      .labels = count,
                      .stripes = stripes,
                      .count = 1};
    void *origins = NULL, *own = NULL;
    airy_status status = AIRY_OK;
    if (runs->row_first[runs->rows] >= RUNS_ALONE && count <= LABELS_ALONE)
        job.count = airy_min_size(STRIPES, runs->rows);
    AIRY_TRY_OR(out, airy_memory_calloc(&origins, count + 1, sizeof(struct origin), "regions"));
    AIRY_TRY_OR(out, airy_memory_calloc(&own, count + 1, sizeof(struct part), "regions"));
    find_origins(origins, runs);
    job.origins = origins;
    job.own = own;
    status = measure_all(&job, queue->device);
out:
    for (size_t i = 0; i < STRIPES; i++)
        free(stripes[i].parts);
    free(own);
    free(origins);
    return status;
}
