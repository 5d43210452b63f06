/*
 * Measures of labels: one walk over the runs, in stripes of rows whose number depends on the data
 * alone. Each stripe keeps what it finds of a label by itself; a label's parts are added in the
 * order of stripes.
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
    STRIPES = 64,
    STRIPE_PIXELS = 65536, /* at least */
    LABELS_ALONE = 1 << 24,
    PIECE = 256, /* pixels of a run at a time */
    FINISH_EACH = 256
};

/*
 * What a stripe finds of a label; places are z, y, x. Moments are about the origin, where its first
 * run begins. Places of extremes are pixels in raster order.
 */
struct part {
    struct airy_region_sums sums;
    double min, max;
    uint64_t next; /* part of the label in a later stripe; see part_at */
    uint32_t min_at, max_at;
    uint32_t origin[3], first[3], last[3];
};

struct stripe {
    struct part *parts;
    uint32_t *labels; /* of the parts */
    size_t count, capacity;
    size_t rows, rows_seen;
    airy_status status;
};

struct job {
    const struct airy_runs *runs;
    const airy_array *labels, *src;
    airy_region *regions;
    size_t count, stripe_count; /* labels, stripes */
    struct stripe stripes[STRIPES];
    uint64_t *heads; /* [count], the first part of each label */
    uint32_t *slots; /* [workers][count + 1], parts of a stripe by label; see part_of */
};

static const struct part no_part = {.min = (double)INFINITY,
                                    .max = -(double)INFINITY,
                                    .first = {UINT32_MAX, UINT32_MAX, UINT32_MAX}};

/* A block of this size, large ones in large pages; what was in the old one is moved. */
static bool move(void **block, size_t used, size_t size)
{
    void *larger;
    if (airy_memory_alloc(&larger, size) != AIRY_OK)
        return false;
    if (used)
        memcpy(larger, *block, used);
    airy_memory_release(*block);
    *block = larger;
    return true;
}

/*
 * As much room as the rest of the stripe takes if it is like what was seen of it, up to eight times
 * the room there was: with many labels the time goes into new pages.
 */
static bool grow(struct stripe *s)
{
    const size_t like =
                     (size_t)(1.0625 * (double)s->count * (double)s->rows / (double)s->rows_seen),
                 larger = airy_max_size(like, 2 * s->capacity),
                 capacity = airy_min_size(larger, 8 * s->capacity) + 64;
    void *parts = s->parts, *labels = s->labels;
    const bool done = move(&parts, s->count * sizeof(*s->parts), capacity * sizeof(*s->parts)) &&
                      move(&labels, s->count * sizeof(*s->labels), capacity * sizeof(*s->labels));
    s->parts = parts;
    s->labels = labels;
    s->capacity = done ? capacity : s->capacity;
    return done;
}

/* A row of the image, and its runs. */
struct row {
    uint32_t z, y, pixel; /* pixel: its first, in raster order */
    const char *src;
    const struct airy_run *run;
    const uint32_t *label;
    uint32_t count;
};

/* A label's part of a stripe. slots: [labels + 1], index + 1; 0: none yet. */
static struct part *part_of(struct stripe *s, uint32_t *slots, const struct row *row, uint32_t i)
{
    const uint32_t label = row->label[i];
    if (slots[label])
        return &s->parts[slots[label] - 1];
    if (s->count == s->capacity && !grow(s))
        return NULL;
    struct part *p = &s->parts[s->count];
    *p = no_part;
    p->origin[0] = row->z;
    p->origin[1] = row->y;
    p->origin[2] = row->run[i].begin;
    s->labels[s->count++] = label;
    slots[label] = (uint32_t)s->count;
    return p;
}

static uint32_t place_of(double value, const double *values)
{
    uint32_t i = 0;
    while (values[i] != value)
        i++;
    return i;
}

/* n pixels of a row from x on. */
static void add_values(struct part *p, const struct airy_reduce_kernels *k, const double *values,
                       size_t n, const struct row *row, uint32_t x)
{
    struct airy_reduce_line line;
    k->line(&line, values, n);
    if (line.min < p->min) {
        p->min = line.min;
        p->min_at = row->pixel + x + place_of(line.min, values);
    }
    if (line.max > p->max) {
        p->max = line.max;
        p->max_at = row->pixel + x + place_of(line.max, values);
    }
    struct airy_region_sums *s = &p->sums;
    const double count = (double)n, u = (double)x - (double)p->origin[2],
                 y = (double)row->y - (double)p->origin[1],
                 z = (double)row->z - (double)p->origin[0], sum = line.sum,
                 sum_x = line.first + u * sum;
    s->count += n;
    s->sum += sum;
    s->moment[0] += sum * z;
    s->moment[1] += sum * y;
    s->moment[2] += sum_x;
    s->xx += line.second + u * (line.first + sum_x);
    s->yy += sum * y * y;
    s->xy += sum_x * y;
    s->place[0] += count * (double)row->z;
    s->place[1] += count * (double)row->y;
    s->place[2] += count * ((double)x + 0.5 * (count - 1));
    const uint32_t lo[3] = {row->z, row->y, x}, hi[3] = {row->z, row->y, x + (uint32_t)n - 1};
    for (int i = 0; i < 3; i++) {
        p->first[i] = lo[i] < p->first[i] ? lo[i] : p->first[i];
        p->last[i] = hi[i] > p->last[i] ? hi[i] : p->last[i];
    }
}

static bool measure_row(const struct job *job, struct stripe *s, uint32_t *slots,
                        const struct row *row)
{
    const struct airy_reduce_kernels *k = airy_reduce_kernels();
    const airy_dtype dtype = job->src->dtype;
    const size_t size = airy_dtype_size(dtype);
    _Alignas(64) double values[PIECE];
    for (uint32_t i = 0; i < row->count; i++) {
        if (row->label[i] == 0)
            continue;
        struct part *p = part_of(s, slots, row, i);
        if (!p)
            return false;
        for (uint32_t x = row->run[i].begin; x < row->run[i].end; x += PIECE) {
            const size_t n = airy_min_size(PIECE, row->run[i].end - x);
            k->load[dtype](values, row->src + x * size, n);
            add_values(p, k, values, n, row, x);
        }
    }
    return true;
}

/* The runs of a row of a label image. */
struct row_runs {
    struct airy_run *run; /* [width] */
    uint32_t *label;
    uint64_t *turns;
};

static bool alloc_runs(struct row_runs *t, size_t width)
{
    t->run = malloc(width * sizeof(*t->run));
    t->label = malloc(width * sizeof(*t->label));
    t->turns = malloc((width + 63) / 64 * sizeof(*t->turns));
    return t->run && t->label && t->turns;
}

static void free_runs(struct row_runs *t)
{
    free(t->turns);
    free(t->label);
    free(t->run);
}

/* Runs of one label of a row of a label image. */
static uint32_t find_runs(const struct row_runs *t, const uint32_t *row, size_t width, size_t count)
{
    uint32_t n = 0;
    bool inside = false;
    airy_label_turns(t->turns, row, width);
    for (size_t w = 0; w * 64 < width; w++)
        for (uint64_t turns = t->turns[w]; turns; turns &= turns - 1) {
            const uint32_t x = (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(turns);
            if (inside)
                t->run[n++].end = x;
            inside = row[x] != 0 && row[x] <= count; /* as u32 negative labels are above, too */
            if (inside) {
                t->run[n].begin = x;
                t->label[n] = row[x];
            }
        }
    if (inside)
        t->run[n++].end = (uint32_t)width;
    return n;
}

static bool measure_rows(const struct job *job, struct stripe *s, size_t first, size_t last,
                         uint32_t *slots, const struct row_runs *t)
{
    const struct airy_runs *runs = job->runs;
    const size_t height = runs->shape[1], width = runs->shape[2];
    s->rows = last - first;
    for (size_t i = first; i < last; i++) {
        s->rows_seen = i - first + 1;
        struct row row = {.z = (uint32_t)(i / height),
                          .y = (uint32_t)(i % height),
                          .pixel = (uint32_t)(i * width),
                          .src = airy_row_address(job->src, runs->shape, i)};
        if (job->labels) {
            const char *labels = airy_row_address(job->labels, runs->shape, i);
            row.count = find_runs(t, (const uint32_t *)(const void *)labels, width, job->count);
            row.run = t->run;
            row.label = t->label;
        } else {
            row.count = runs->row_first[i + 1] - runs->row_first[i];
            row.run = runs->run + runs->row_first[i];
            row.label = runs->label + runs->row_first[i];
        }
        if (!measure_row(job, s, slots, &row))
            return false;
    }
    return true;
}

static void measure_stripe(void *arg, size_t index, unsigned worker)
{
    struct job *job = arg;
    struct stripe *s = &job->stripes[index];
    const size_t rows = job->runs->rows;
    uint32_t *slots = job->slots + worker * (job->count + 1);
    struct row_runs t = {.run = NULL};
    const bool done = (!job->labels || alloc_runs(&t, job->runs->shape[2])) &&
                      measure_rows(job, s, index * rows / job->stripe_count,
                                   (index + 1) * rows / job->stripe_count, slots, &t);
    s->status = done ? AIRY_OK : AIRY_ERR_MEMORY;
    free_runs(&t);
    for (size_t i = 0; i < s->count; i++)
        slots[s->labels[i]] = 0;
}

/* A part by its number: the stripe and the place in it, from 1. */
static struct part *part_at(struct job *job, uint64_t number)
{
    return &job->stripes[number >> 32].parts[(uint32_t)number - 1];
}

/* Each label's parts, in the order of stripes. */
static void link_parts(struct job *job)
{
    for (size_t i = job->stripe_count; i-- > 0;) {
        const struct stripe *s = &job->stripes[i];
        for (size_t k = 0; k < s->count; k++) {
            uint64_t *head = &job->heads[s->labels[k] - 1];
            if (*head)
                s->parts[k].next = *head;
            *head = (uint64_t)i << 32 | (k + 1);
        }
    }
}

/* Parts of a label come in raster order, so the first of equal extremes stays. */
static void add_part(struct part *to, const struct part *p)
{
    struct airy_region_sums *a = &to->sums;
    const struct airy_region_sums *b = &p->sums;
    double u[3]; /* from one origin to the other */
    for (int k = 0; k < 3; k++) {
        u[k] = (double)p->origin[k] - (double)to->origin[k];
        a->moment[k] += b->moment[k] + u[k] * b->sum;
        a->place[k] += b->place[k];
        to->first[k] = p->first[k] < to->first[k] ? p->first[k] : to->first[k];
        to->last[k] = p->last[k] > to->last[k] ? p->last[k] : to->last[k];
    }
    const double y = b->moment[1] + u[1] * b->sum, x = b->moment[2] + u[2] * b->sum;
    a->count += b->count;
    a->sum += b->sum;
    a->xx += b->xx + u[2] * (b->moment[2] + x);
    a->yy += b->yy + u[1] * (b->moment[1] + y);
    a->xy += b->xy + u[1] * b->moment[2] + u[2] * y;
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
    const uint32_t width = (uint32_t)shape[2], height = (uint32_t)shape[1];
    at[0] = pixel / width / height;
    at[1] = pixel / width % height;
    at[2] = pixel % width;
}

static void finish_label(struct job *job, size_t i)
{
    static const double one[3] = {1, 1, 1};
    struct part p = job->heads[i] ? *part_at(job, job->heads[i]) : no_part;
    for (uint64_t next = p.next; next; next = part_at(job, next)->next)
        add_part(&p, part_at(job, next));
    airy_region *r = &job->regions[i];
    *r = (airy_region){.min = p.min, .max = p.max};
    set_pixel(r->min_at, p.min_at, job->runs->shape);
    set_pixel(r->max_at, p.max_at, job->runs->shape);
    double origin[3];
    for (int k = 0; k < 3; k++) {
        r->first[k] = p.first[k];
        r->last[k] = p.last[k];
        origin[k] = (double)p.origin[k];
    }
    airy_region_finish(r, &p.sums, origin, one);
}

static void finish_piece(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    struct job *job = arg;
    const size_t end = airy_min_size((index + 1) * FINISH_EACH, job->count);
    for (size_t i = index * FINISH_EACH; i < end; i++)
        finish_label(job, i);
}

static airy_status measure_all(struct job *job, airy_device *device)
{
    const double bytes = job->labels ? (double)airy_array_size(job->labels) : 0;
    void *heads, *slots;
    AIRY_TRY(airy_memory_calloc(&slots, job->count + 1,
                                airy_pool_size(device->pool) * sizeof(uint32_t), "regions"));
    job->slots = slots;
    airy_profile_loop(device, "measure_runs", bytes, job->stripe_count, measure_stripe, job);
    free(slots);
    for (size_t i = 0; i < job->stripe_count; i++)
        AIRY_FAIL_IF(job->stripes[i].status != AIRY_OK, AIRY_ERR_MEMORY,
                     "out of memory for the measures of %zu labels", job->count);
    AIRY_TRY(airy_memory_calloc(&heads, job->count + 1, sizeof(uint64_t), "regions"));
    job->heads = heads;
    link_parts(job);
    airy_profile_loop(device, "measure_finish", 0, (job->count + FINISH_EACH - 1) / FINISH_EACH,
                      finish_piece, job);
    free(heads);
    return AIRY_OK;
}

airy_status airy_measure_runs(airy_queue *queue, airy_region *regions, size_t count,
                              const struct airy_runs *runs, const airy_array *labels,
                              const airy_array *src)
{
    struct job job = {.runs = runs,
                      .labels = labels,
                      .src = src,
                      .regions = regions,
                      .count = count,
                      .stripe_count = 1};
    if (count <= LABELS_ALONE) {
        const size_t most = airy_min_size(STRIPES, runs->rows);
        job.stripe_count =
            airy_max_size(airy_min_size(most, airy_array_count(src) / STRIPE_PIXELS), 1);
    }
    const airy_status status = measure_all(&job, queue->device);
    for (size_t i = 0; i < job.stripe_count; i++) {
        airy_memory_release(job.stripes[i].labels);
        airy_memory_release(job.stripes[i].parts);
    }
    return status;
}

airy_status airy_cpu_measure(airy_queue *queue, const struct airy_measure_plan *plan)
{
    const struct airy_label_stack *stack = &plan->stack;
    const size_t *shape = stack->shape;
    const struct airy_runs rows = {.shape = {shape[0], shape[1], shape[2]},
                                   .rows = shape[0] * shape[1]};
    for (size_t i = 0; i < stack->images; i++) {
        const airy_array src = airy_image_at(plan->src, i * stack->src_step),
                         labels = airy_image_at(plan->labels, i * stack->labels_step);
        AIRY_TRY(airy_measure_runs(queue, plan->regions[i], plan->counts[i], &rows, &labels, &src));
    }
    return AIRY_OK;
}
