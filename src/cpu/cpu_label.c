/*
 * Connected components on the CPU. A row becomes bits, the bits become runs, runs of neighbouring
 * rows that touch are united; the smaller number wins, so that a component's root is its first run
 * in raster order. Stripes of rows go to threads; what touches across their borders is united
 * afterwards.
 */
#include "cpu/cpu_label.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "cpu/cpu_reduce.h"

enum { STRIPES = 64, WORD = 64 };

struct job {
    const struct airy_label_plan *plan;
    struct airy_runs *runs;
    uint64_t *bits; /* [rows][words] */
    size_t words, stripes;
    uint32_t *parent; /* [runs] */
};

void airy_runs_free(struct airy_runs *runs)
{
    free(runs->run);
    free(runs->row_first);
    free(runs->label);
    *runs = (struct airy_runs){.run = NULL};
}

char *airy_row_address(const airy_array *array, const size_t shape[3], size_t row)
{
    const size_t z = row / shape[1], y = row % shape[1], elem = airy_dtype_size(array->dtype);
    const int last = array->ndim - 1;
    size_t at = 0;
    if (last >= 1)
        at += y * array->pitch[last - 1];
    if (last >= 2)
        at += z * array->pitch[last - 2];
    return (char *)airy_array_address(array) + at * elem;
}

/* First row of a stripe; planes of a volume stay together. */
static size_t stripe_begin(const struct job *job, size_t stripe)
{
    const size_t unit = job->runs->shape[0] > 1 ? job->runs->shape[1] : 1,
                 units = job->runs->rows / unit;
    return stripe * units / job->stripes * unit;
}

/* Eight bytes of 0 or 1 to eight bits. */
static uint64_t pack_bytes(const uint8_t *bytes)
{
    uint64_t x;
    memcpy(&x, bytes, sizeof(x));
    return x * UINT64_C(0x0102040810204080) >> 56;
}

static void make_bits(const struct job *job, size_t row)
{
    const struct airy_reduce_kernels *k = airy_reduce_kernels();
    const struct airy_label_plan *plan = job->plan;
    const size_t width = plan->shape[2], elem = airy_dtype_size(plan->src->dtype);
    const char *src = airy_row_address(plan->src, plan->shape, row);
    uint64_t *bits = job->bits + row * job->words;
    _Alignas(64) double values[1024];
    uint8_t mask[1024];
    for (size_t x = 0; x < width; x += 1024) {
        const size_t n = airy_min_size(1024, width - x);
        k->load[plan->src->dtype](values, src + x * elem, n);
        if (plan->has_above)
            k->above(mask, values, n, plan->above);
        else
            k->not_zero(mask, values, n);
        memset(mask + n, 0, airy_align_up(n, WORD) - n);
        for (size_t w = 0; w * WORD < n; w++) {
            uint64_t word = 0;
            for (size_t b = 0; b < 8; b++)
                word |= pack_bytes(mask + w * WORD + 8 * b) << (8 * b);
            bits[x / WORD + w] = word;
        }
    }
}

static uint32_t count_runs(const uint64_t *bits, size_t words)
{
    uint32_t n = 0;
    uint64_t before = 0;
    for (size_t w = 0; w < words; w++) {
        n += (uint32_t)__builtin_popcountll(bits[w] & ~(bits[w] << 1 | before));
        before = bits[w] >> 63;
    }
    return n;
}

static void bits_stripe(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    const struct job *job = arg;
    const size_t end = stripe_begin(job, index + 1);
    for (size_t row = stripe_begin(job, index); row < end; row++) {
        make_bits(job, row);
        job->runs->row_first[row + 1] = count_runs(job->bits + row * job->words, job->words);
    }
}

static void make_runs(struct airy_run *run, const uint64_t *bits, size_t words)
{
    bool inside = false;
    for (size_t w = 0; w < words; w++) {
        const uint64_t before = w ? bits[w - 1] >> 63 : 0;
        /* Where a run begins or ends: a pixel unlike the one before. */
        for (uint64_t turns = bits[w] ^ (bits[w] << 1 | before); turns; turns &= turns - 1) {
            const uint32_t x = (uint32_t)(w * WORD) + (uint32_t)__builtin_ctzll(turns);
            if (inside)
                (run++)->end = x;
            else
                run->begin = x;
            inside = !inside;
        }
    }
    if (inside)
        run->end = (uint32_t)(words * WORD);
}

static uint32_t find_root(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void unite(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = find_root(parent, a);
    b = find_root(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

/* Unite runs of two rows that overlap, or with widen = 1 touch at a corner. */
static void unite_rows(const struct job *job, size_t row, size_t other, uint32_t widen)
{
    const struct airy_run *run = job->runs->run;
    const uint32_t *first = job->runs->row_first;
    uint32_t a = first[row], b = first[other];
    while (a < first[row + 1] && b < first[other + 1]) {
        if (run[a].begin < run[b].end + widen && run[b].begin < run[a].end + widen)
            unite(job->parent, a, b);
        if (run[a].end < run[b].end)
            a++;
        else
            b++;
    }
}

/*
 * Unite a row with the neighbours that come before it: those from `least` on if inner, else those
 * before it.
 */
static void unite_row(const struct job *job, size_t row, size_t least, bool inner)
{
    const size_t height = job->runs->shape[1], y = row % height;
    const int c = job->plan->connectivity;
    const uint32_t edge = c == 8 || c == 18 || c == 26, corner = c == 26;
    const struct {
        bool there;
        size_t back;
        uint32_t widen;
    } neighbours[] = {{y > 0, 1, edge},
                      {row >= height, height, edge},
                      {row >= height && edge && y > 0, height + 1, corner},
                      {row >= height && edge && y + 1 < height, height - 1, corner}};
    for (size_t i = 0; i < sizeof(neighbours) / sizeof(neighbours[0]); i++)
        if (neighbours[i].there && (row - neighbours[i].back >= least) == inner)
            unite_rows(job, row, row - neighbours[i].back, neighbours[i].widen);
}

static void unite_stripe(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    const struct job *job = arg;
    const size_t begin = stripe_begin(job, index), end = stripe_begin(job, index + 1);
    for (size_t row = begin; row < end; row++) {
        const uint32_t first = job->runs->row_first[row], last = job->runs->row_first[row + 1];
        if (first == last)
            continue;
        make_runs(job->runs->run + first, job->bits + row * job->words, job->words);
        job->runs->run[last - 1].end =
            (uint32_t)airy_min_size(job->runs->run[last - 1].end, job->plan->shape[2]);
        for (uint32_t i = first; i < last; i++)
            job->parent[i] = i;
        unite_row(job, row, begin, true);
    }
}

/* What touches across the borders of stripes. */
static void unite_borders(const struct job *job)
{
    const size_t reach = job->runs->shape[0] > 1 ? job->runs->shape[1] : 1;
    for (size_t s = 1; s < job->stripes; s++) {
        const size_t begin = stripe_begin(job, s), end = stripe_begin(job, s + 1);
        for (size_t row = begin; row < airy_min_size(begin + reach, end); row++)
            unite_row(job, row, begin, false);
    }
}

/* Roots get their numbers in raster order, if they are of a size that is wanted. */
static airy_status number_runs(struct job *job, size_t *count)
{
    struct airy_runs *runs = job->runs;
    const uint32_t n = runs->row_first[runs->rows];
    uint32_t *parent = job->parent, *pixels = runs->label;
    for (uint32_t i = 0; i < n; i++) {
        parent[i] = parent[parent[i]]; /* the parent came before, and points to its root */
        pixels[parent[i]] += runs->run[i].end - runs->run[i].begin;
    }
    uint32_t labels = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (parent[i] != i)
            runs->label[i] = runs->label[parent[i]];
        else if (pixels[i] >= job->plan->min_count && pixels[i] <= job->plan->max_count)
            runs->label[i] = ++labels;
        else
            runs->label[i] = 0;
    }
    *count = labels;
    return AIRY_OK;
}

static void write_stripe(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    const struct job *job = arg;
    const struct airy_runs *runs = job->runs;
    const size_t end = stripe_begin(job, index + 1), width = job->plan->shape[2];
    for (size_t row = stripe_begin(job, index); row < end; row++) {
        uint32_t *dst =
            (uint32_t *)(void *)airy_row_address(job->plan->labels, job->plan->shape, row);
        memset(dst, 0, width * sizeof(*dst));
        for (uint32_t i = runs->row_first[row]; i < runs->row_first[row + 1]; i++)
            for (uint32_t x = runs->run[i].begin; x < runs->run[i].end; x++)
                dst[x] = runs->label[i];
    }
}

static airy_status label_runs(struct job *job, airy_device *device, size_t *count)
{
    struct airy_runs *runs = job->runs;
    const double bytes = (double)airy_array_size(job->plan->src);
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, runs->rows, job->words * sizeof(uint64_t), "label bits"));
    job->bits = block;
    AIRY_TRY(airy_memory_calloc(&block, runs->rows + 1, sizeof(uint32_t), "label rows"));
    runs->row_first = block;
    airy_profile_loop(device, "label_bits", bytes, job->stripes, bits_stripe, job);
    for (size_t row = 0; row < runs->rows; row++)
        runs->row_first[row + 1] += runs->row_first[row];
    const size_t n = runs->row_first[runs->rows];
    AIRY_TRY(airy_memory_calloc(&block, n + 1, sizeof(struct airy_run), "label runs"));
    runs->run = block;
    AIRY_TRY(airy_memory_calloc(&block, n + 1, sizeof(uint32_t), "label runs"));
    runs->label = block;
    AIRY_TRY(airy_memory_calloc(&block, n + 1, sizeof(uint32_t), "label runs"));
    job->parent = block;
    airy_profile_loop(device, "label_unite", 0, job->stripes, unite_stripe, job);
    unite_borders(job);
    return number_runs(job, count);
}

static airy_status label(airy_queue *queue, struct airy_label_plan *plan)
{
    struct airy_runs runs = {.shape = {plan->shape[0], plan->shape[1], plan->shape[2]},
                             .rows = plan->shape[0] * plan->shape[1]};
    struct job job = {.plan = plan, .runs = &runs, .words = (plan->shape[2] + WORD - 1) / WORD};
    job.stripes = airy_min_size(STRIPES, plan->shape[0] > 1 ? plan->shape[0] : runs.rows);
    airy_status status = label_runs(&job, queue->device, &plan->count);
    if (status == AIRY_OK && plan->labels)
        airy_profile_loop(queue->device, "label_write", (double)airy_array_size(plan->labels),
                          job.stripes, write_stripe, &job);
    if (status == AIRY_OK && plan->wants_regions) {
        void *block = NULL;
        status = airy_memory_calloc(&block, plan->count + 1, sizeof(airy_region), "regions");
        plan->regions = block;
        if (status == AIRY_OK)
            status = airy_measure_runs(queue, plan->regions, plan->count, &runs, plan->src);
        if (status != AIRY_OK) {
            free(plan->regions);
            plan->regions = NULL;
        }
    }
    free(job.bits);
    free(job.parent);
    airy_runs_free(&runs);
    return status;
}

/* Runs of one label of a label image. */
static uint32_t label_row(struct airy_run *run, uint32_t *label, const uint32_t *row, size_t width,
                          size_t count)
{
    uint32_t n = 0;
    for (size_t x = 0; x < width;) {
        const size_t begin = x;
        const uint32_t value = row[x];
        while (x < width && row[x] == value)
            x++;
        /* As u32 negative labels are above any count. */
        if (value == 0 || value > count)
            continue;
        if (run) {
            run[n] = (struct airy_run){(uint32_t)begin, (uint32_t)x};
            label[n] = value;
        }
        n++;
    }
    return n;
}

struct image_job {
    const struct airy_measure_plan *plan;
    struct airy_runs *runs;
    bool fill;
};

static void image_row(void *arg, size_t row, unsigned worker)
{
    (void)worker;
    const struct image_job *job = arg;
    struct airy_runs *runs = job->runs;
    const uint32_t *labels =
        (const uint32_t *)(const void *)airy_row_address(job->plan->labels, job->plan->shape, row);
    const uint32_t first = job->fill ? runs->row_first[row] : 0;
    const uint32_t n = label_row(job->fill ? runs->run + first : NULL,
                                 job->fill ? runs->label + first : NULL, labels,
                                 job->plan->shape[2], job->plan->count);
    if (!job->fill)
        runs->row_first[row + 1] = n;
}

static airy_status measure_image(airy_queue *queue, const struct airy_measure_plan *plan,
                                 struct airy_runs *runs)
{
    struct image_job job = {.plan = plan, .runs = runs};
    const double bytes = (double)airy_array_size(plan->labels);
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, runs->rows + 1, sizeof(uint32_t), "label rows"));
    runs->row_first = block;
    airy_profile_loop(queue->device, "measure_count", bytes, runs->rows, image_row, &job);
    for (size_t row = 0; row < runs->rows; row++)
        runs->row_first[row + 1] += runs->row_first[row];
    const size_t n = runs->row_first[runs->rows];
    AIRY_TRY(airy_memory_calloc(&block, n + 1, sizeof(uint32_t), "label runs"));
    runs->label = block;
    AIRY_TRY(airy_memory_calloc(&block, n + 1, sizeof(struct airy_run), "label runs"));
    runs->run = block;
    job.fill = true;
    airy_profile_loop(queue->device, "measure_runs", bytes, runs->rows, image_row, &job);
    return airy_measure_runs(queue, plan->regions, plan->count, runs, plan->src);
}

static airy_status measure(airy_queue *queue, const struct airy_measure_plan *plan)
{
    struct airy_runs runs = {.shape = {plan->shape[0], plan->shape[1], plan->shape[2]},
                             .rows = plan->shape[0] * plan->shape[1]};
    const airy_status status = measure_image(queue, plan, &runs);
    airy_runs_free(&runs);
    return status;
}

const struct airy_label_fns airy_label_cpu = {.label = label, .measure = measure};
