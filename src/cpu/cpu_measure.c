/*
 * Measures of labels: sums over runs, in a number of stripes that depends on the data alone; each
 * stripe keeps sums of the labels it meets, and these are added stripe by stripe.
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
    PIECE = 256 /* pixels of a run at a time */
};

/* One label in one stripe. */
struct part {
    uint32_t label;
    struct airy_region_sums sums;
    double min, max;
    uint64_t min_at[3], max_at[3], first[3], last[3];
};

struct stripe {
    struct part *parts;
    size_t count, capacity;
    airy_status status;
};

struct job {
    const struct airy_runs *runs;
    const airy_array *src;
    airy_region *regions;
    size_t labels, count; /* count: stripes */
    bool second;          /* the walk for the moments about the center */
    struct stripe *stripes;
};

static void set3(uint64_t v[3], uint64_t z, uint64_t y, uint64_t x)
{
    v[0] = z;
    v[1] = y;
    v[2] = x;
}

/* The part of a label in this stripe. slots: [labels + 1], index + 1; 0: none yet. */
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
    struct part *part = &s->parts[s->count++];
    *part = (struct part){.label = label, .min = (double)INFINITY, .max = -(double)INFINITY};
    set3(part->first, UINT64_MAX, UINT64_MAX, UINT64_MAX);
    slots[label] = (uint32_t)s->count;
    return part;
}

struct place {
    size_t z, y, x;
};

static void add_first(struct part *p, const double *values, size_t n, struct place at)
{
    double sum = 0, sum_x = 0;
    for (size_t i = 0; i < n; i++) {
        const double v = values[i];
        sum += v;
        sum_x += v * (double)(at.x + i);
        if (v < p->min) {
            p->min = v;
            set3(p->min_at, at.z, at.y, at.x + i);
        }
        if (v > p->max) {
            p->max = v;
            set3(p->max_at, at.z, at.y, at.x + i);
        }
    }
    struct airy_region_sums *s = &p->sums;
    const double count = (double)n;
    s->count += n;
    s->sum += sum;
    s->moment[0] += sum * (double)at.z;
    s->moment[1] += sum * (double)at.y;
    s->moment[2] += sum_x;
    s->place[0] += count * (double)at.z;
    s->place[1] += count * (double)at.y;
    s->place[2] += count * ((double)at.x + 0.5 * (count - 1));
    const uint64_t lo[3] = {at.z, at.y, at.x}, hi[3] = {at.z, at.y, at.x + n - 1};
    for (int k = 0; k < 3; k++) {
        p->first[k] = lo[k] < p->first[k] ? lo[k] : p->first[k];
        p->last[k] = hi[k] > p->last[k] ? hi[k] : p->last[k];
    }
}

static void add_second(struct part *p, const airy_region *region, const double *values, size_t n,
                       struct place at)
{
    const double dy = (double)at.y - region->center[1];
    double sum = 0, sum_x = 0, sum_xx = 0;
    for (size_t i = 0; i < n; i++) {
        const double dx = (double)(at.x + i) - region->center[2], v = values[i];
        sum += v;
        sum_x += v * dx;
        sum_xx += v * dx * dx;
    }
    p->sums.xx += sum_xx;
    p->sums.yy += sum * dy * dy;
    p->sums.xy += sum_x * dy;
}

static void add_run(const struct job *job, struct part *p, size_t row, struct airy_run run)
{
    const struct airy_reduce_kernels *k = airy_reduce_kernels();
    const airy_dtype dtype = job->src->dtype;
    const char *src = airy_row_address(job->src, job->runs->shape, row);
    _Alignas(64) double values[PIECE];
    const size_t height = job->runs->shape[1];
    for (size_t x = run.begin; x < run.end; x += PIECE) {
        const size_t n = airy_min_size(PIECE, run.end - x);
        const struct place at = {row / height, row % height, x};
        k->load[dtype](values, src + x * airy_dtype_size(dtype), n);
        if (job->second)
            add_second(p, &job->regions[p->label - 1], values, n, at);
        else
            add_first(p, values, n, at);
    }
}

static void measure_stripe(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    const struct job *job = arg;
    struct stripe *s = &job->stripes[index];
    const size_t first = index * job->runs->rows / job->count,
                 last = (index + 1) * job->runs->rows / job->count;
    void *slots = NULL;
    s->count = 0;
    s->status = airy_memory_calloc(&slots, job->labels + 1, sizeof(uint32_t), "regions");
    for (size_t row = first; row < last && s->status == AIRY_OK; row++)
        for (uint32_t i = job->runs->row_first[row]; i < job->runs->row_first[row + 1]; i++) {
            if (job->runs->label[i] == 0)
                continue;
            struct part *part = part_of(s, slots, job->runs->label[i]);
            if (!part) {
                s->status = AIRY_ERR_MEMORY;
                break;
            }
            add_run(job, part, row, job->runs->run[i]);
        }
    free(slots);
}

/* Parts of a label are met in raster order, so the first of equal extremes stays. */
static void merge_first(airy_region *r, struct airy_region_sums *sums, const struct part *p)
{
    if (sums->count == 0) {
        r->min = (double)INFINITY;
        r->max = -(double)INFINITY;
        set3(r->first, UINT64_MAX, UINT64_MAX, UINT64_MAX);
    }
    sums->count += p->sums.count;
    sums->sum += p->sums.sum;
    for (int k = 0; k < 3; k++) {
        sums->moment[k] += p->sums.moment[k];
        sums->place[k] += p->sums.place[k];
        r->first[k] = p->first[k] < r->first[k] ? p->first[k] : r->first[k];
        r->last[k] = p->last[k] > r->last[k] ? p->last[k] : r->last[k];
    }
    if (p->min < r->min) {
        r->min = p->min;
        memcpy(r->min_at, p->min_at, sizeof(r->min_at));
    }
    if (p->max > r->max) {
        r->max = p->max;
        memcpy(r->max_at, p->max_at, sizeof(r->max_at));
    }
}

static airy_status walk(struct job *job, airy_device *device, struct airy_region_sums *sums)
{
    airy_profile_loop(device, job->second ? "measure_moments" : "measure_sums", 0, job->count,
                      measure_stripe, job);
    for (size_t i = 0; i < job->count; i++) {
        AIRY_FAIL_IF(job->stripes[i].status != AIRY_OK, AIRY_ERR_MEMORY,
                     "out of memory for the measures of %zu labels", job->labels);
        for (size_t k = 0; k < job->stripes[i].count; k++) {
            const struct part *p = &job->stripes[i].parts[k];
            struct airy_region_sums *s = &sums[p->label - 1];
            if (job->second) {
                s->xx += p->sums.xx;
                s->yy += p->sums.yy;
                s->xy += p->sums.xy;
            } else {
                merge_first(&job->regions[p->label - 1], s, p);
            }
        }
    }
    return AIRY_OK;
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
    void *block;
    if (runs->row_first[runs->rows] >= RUNS_ALONE && count <= LABELS_ALONE)
        job.count = airy_min_size(STRIPES, runs->rows);
    if (count)
        memset(regions, 0, count * sizeof(*regions));
    AIRY_TRY(airy_memory_calloc(&block, count + 1, sizeof(struct airy_region_sums), "regions"));
    struct airy_region_sums *sums = block;
    airy_status status = walk(&job, queue->device, sums);
    for (size_t i = 0; i < count && status == AIRY_OK; i++)
        airy_region_center(&regions[i], &sums[i]);
    job.second = true;
    if (status == AIRY_OK)
        status = walk(&job, queue->device, sums);
    for (size_t i = 0; i < count && status == AIRY_OK; i++)
        airy_region_finish(&regions[i], &sums[i]);
    for (size_t i = 0; i < STRIPES; i++)
        free(stripes[i].parts);
    free(sums);
    return status;
}
