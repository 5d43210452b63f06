/*
 * Connected components on the CPU. A row becomes bits, the bits become runs, runs of neighbouring
 * rows that touch are united; the smaller number wins, so that a component's root is its first run
 * in raster order. Stripes of rows go to threads; what touches across their borders is united
 * afterwards.
 */
#include "cpu/cpu_label.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "cpu/cpu_reduce.h"

enum {
    STRIPES = 64,
    PAIRS = 256, /* of runs that touch */
    STEP = 8     /* labels that are written at once */
};

struct job {
    const struct airy_label_plan *plan;
    struct airy_runs *runs;
    uint64_t *bits; /* [rows][words] */
    size_t words, stripes;
    uint32_t *parent;         /* [runs] */
    uint32_t *pixels;         /* [runs], of components at their roots; NULL: any size is wanted */
    size_t reach;             /* stripes on each side of a border, while they are joined */
    uint32_t roots[STRIPES];  /* components of each stripe by itself */
    uint32_t before[STRIPES]; /* labels of the stripes before */
};

/* First row of a stripe; planes of a volume stay together. */
static size_t stripe_begin(const struct job *job, size_t stripe)
{
    const size_t unit = job->runs->shape[0] > 1 ? job->runs->shape[1] : 1,
                 units = job->runs->rows / unit;
    return stripe * units / job->stripes * unit;
}

static uint32_t first_run(const struct job *job, size_t stripe)
{
    return job->runs->row_first[stripe_begin(job, stripe)];
}

static void make_bits(const struct job *job, size_t row)
{
    const struct airy_reduce_kernels *k = airy_reduce_kernels();
    const struct airy_label_plan *plan = job->plan;
    const size_t width = plan->stack.shape[2], elem = airy_dtype_size(plan->src->dtype);
    const char *src = airy_row_address(plan->src, plan->stack.shape, row);
    uint64_t *bits = job->bits + row * job->words;
    _Alignas(64) double values[AIRY_RUN_PIECE];
    uint8_t mask[AIRY_RUN_PIECE];
    for (size_t x = 0; x < width; x += AIRY_RUN_PIECE) {
        const size_t n = airy_min_size(AIRY_RUN_PIECE, width - x);
        k->load[plan->src->dtype](values, src + x * elem, n);
        if (plan->has_above)
            k->above(mask, values, n, plan->above);
        else
            k->not_zero(mask, values, n);
        airy_pack_mask(bits + x / AIRY_RUN_WORD, mask, n);
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

/* Without branches on pixels, as all that is done of each run: in dense images none is foretold. */
static void make_runs(struct airy_run *run, const uint64_t *bits, size_t words)
{
    size_t begun = 0, ended = 0;
    uint64_t before = 0;
    for (size_t w = 0; w < words; w++) {
        const uint64_t left = bits[w] << 1 | before; /* each pixel's neighbour */
        const uint32_t x = (uint32_t)(w * AIRY_RUN_WORD);
        for (uint64_t begins = bits[w] & ~left; begins; begins &= begins - 1)
            run[begun++].begin = x + (uint32_t)__builtin_ctzll(begins);
        for (uint64_t ends = left & ~bits[w]; ends; ends &= ends - 1)
            run[ended++].end = x + (uint32_t)__builtin_ctzll(ends);
        before = bits[w] >> (AIRY_RUN_WORD - 1);
    }
    if (ended < begun)
        run[ended].end = (uint32_t)(words * AIRY_RUN_WORD);
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

static void unite_pairs(uint32_t *parent, const uint32_t pair[PAIRS][2], size_t n)
{
    for (size_t i = 0; i < n; i++)
        unite(parent, pair[i][0], pair[i][1]);
}

/* Unite runs of two rows that overlap, or with widen = 1 touch at a corner. */
static void unite_rows(const struct job *job, size_t row, size_t other, uint32_t widen)
{
    const struct airy_run *run = job->runs->run;
    const uint32_t *first = job->runs->row_first;
    uint32_t pair[PAIRS][2], a = first[row], b = first[other];
    size_t n = 0;
    while (a < first[row + 1] && b < first[other + 1]) {
        const uint32_t a_ends = run[a].end < run[b].end;
        pair[n][0] = a;
        pair[n][1] = b;
        n += (run[a].begin < run[b].end + widen) & (run[b].begin < run[a].end + widen);
        a += a_ends;
        b += 1 - a_ends;
        if (n == PAIRS) {
            unite_pairs(job->parent, pair, n);
            n = 0;
        }
    }
    unite_pairs(job->parent, pair, n);
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

/*
 * Every run to the root of its component in the stripe: what it points to came before, and points
 * there. The roots are listed where the stripe's labels will be.
 */
static void flatten_stripe(struct job *job, size_t index)
{
    uint32_t *parent = job->parent, *list = job->runs->label + first_run(job, index);
    const uint32_t end = first_run(job, index + 1);
    uint32_t roots = 0;
    for (uint32_t i = first_run(job, index); i < end; i++) {
        list[roots] = i;
        roots += parent[i] == i;
        parent[i] = parent[parent[i]];
    }
    job->roots[index] = roots;
}

static void unite_stripe(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    struct job *job = arg;
    const size_t begin = stripe_begin(job, index), end = stripe_begin(job, index + 1);
    for (size_t row = begin; row < end; row++) {
        const uint32_t first = job->runs->row_first[row], last = job->runs->row_first[row + 1];
        if (first == last)
            continue;
        make_runs(job->runs->run + first, job->bits + row * job->words, job->words);
        job->runs->run[last - 1].end =
            (uint32_t)airy_min_size(job->runs->run[last - 1].end, job->plan->stack.shape[2]);
        for (uint32_t i = first; i < last; i++)
            job->parent[i] = i;
        unite_row(job, row, begin, true);
    }
    flatten_stripe(job, index);
}

/* What touches across the border in the middle of 2 x reach stripes, which nobody else looks at. */
static void join_stripes(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    const struct job *job = arg;
    const size_t stripe = (2 * index + 1) * job->reach;
    const size_t begin = stripe_begin(job, stripe),
                 end = stripe_begin(job, stripe + 1 < job->stripes ? stripe + 1 : job->stripes),
                 rows = job->runs->shape[0] > 1 ? job->runs->shape[1] : 1;
    for (size_t row = begin; row < airy_min_size(begin + rows, end); row++)
        unite_row(job, row, begin, false);
}

/* Pairs of stripes, pairs of these and so on. */
static void join_all(struct job *job, airy_device *device)
{
    for (job->reach = 1; job->reach < job->stripes; job->reach *= 2)
        airy_profile_loop(device, "label_join", 0,
                          (job->stripes + job->reach - 1) / (2 * job->reach), join_stripes, job);
    /* What a root of a stripe points to is one that came before, and points to the image's. */
    for (size_t s = 0; s < job->stripes; s++) {
        const uint32_t *list = job->runs->label + first_run(job, s);
        for (uint32_t k = 0; k < job->roots[s]; k++)
            job->parent[list[k]] = job->parent[job->parent[list[k]]];
    }
}

/* The root of every run, in place of its label. */
static void root_stripe(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    const struct job *job = arg;
    const uint32_t end = first_run(job, index + 1);
    for (uint32_t i = first_run(job, index); i < end; i++)
        job->runs->label[i] = job->parent[job->parent[i]];
}

static bool is_wanted(const struct job *job, uint32_t i)
{
    const bool is_root = job->runs->label[i] == i;
    if (!job->pixels)
        return is_root;
    return is_root && job->pixels[i] >= job->plan->min_count &&
           job->pixels[i] <= job->plan->max_count;
}

static void count_stripe(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    struct job *job = arg;
    const uint32_t end = first_run(job, index + 1);
    uint32_t roots = 0;
    for (uint32_t i = first_run(job, index); i < end; i++)
        roots += is_wanted(job, i);
    job->before[index] = roots;
}

/* Roots get their numbers in raster order, in place of their parents; no other run's is looked at. */
static void number_stripe(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    struct job *job = arg;
    const uint32_t end = first_run(job, index + 1);
    uint32_t label = job->before[index];
    for (uint32_t i = first_run(job, index); i < end; i++) {
        const bool wanted = is_wanted(job, i);
        label += wanted;
        job->parent[i] = label * wanted;
    }
}

static void label_stripe(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    const struct job *job = arg;
    uint32_t *label = job->runs->label;
    const uint32_t end = first_run(job, index + 1);
    for (uint32_t i = first_run(job, index); i < end; i++)
        label[i] = job->parent[label[i]];
}

/* Labels of runs; components of a size that is not wanted get 0. */
static airy_status number_runs(struct job *job, airy_device *device, size_t *count)
{
    const struct airy_runs *runs = job->runs;
    const size_t n = runs->row_first[runs->rows];
    airy_profile_loop(device, "label_roots", 0, job->stripes, root_stripe, job);
    if (job->plan->min_count > 1 || job->plan->max_count < airy_array_count(job->plan->src)) {
        void *block;
        AIRY_TRY(airy_memory_calloc(&block, n + 1, sizeof(uint32_t), "label runs"));
        job->pixels = block;
        for (size_t i = 0; i < n; i++)
            job->pixels[runs->label[i]] += runs->run[i].end - runs->run[i].begin;
    }
    airy_profile_loop(device, "label_count", 0, job->stripes, count_stripe, job);
    uint32_t labels = 0;
    for (size_t s = 0; s < job->stripes; s++) {
        const uint32_t roots = job->before[s];
        job->before[s] = labels;
        labels += roots;
    }
    airy_profile_loop(device, "label_number", 0, job->stripes, number_stripe, job);
    airy_profile_loop(device, "label_runs", 0, job->stripes, label_stripe, job);
    *count = labels;
    return AIRY_OK;
}

/* Pixels begin to end, in steps that may go beyond it, but not beyond `room`. */
static inline void fill(uint32_t *dst, size_t begin, size_t end, size_t room, uint32_t label)
{
    size_t x = begin;
    for (; x < end && x + STEP <= room; x += STEP)
        for (size_t k = 0; k < STEP; k++)
            dst[x + k] = label;
    for (; x < end; x++)
        dst[x] = label;
}

/* n runs. What a step goes beyond the end of a run is written after it, but for rows of few runs. */
static void write_row(uint32_t *dst, size_t width, const struct airy_run *run,
                      const uint32_t *label, size_t n)
{
    const bool few = n < width / (4 * STEP);
    size_t x = 0;
    if (few)
        memset(dst, 0, width * sizeof(*dst));
    for (size_t i = 0; i < n; i++) {
        if (!few)
            fill(dst, x, run[i].begin, width, 0);
        fill(dst, run[i].begin, run[i].end, few ? run[i].end : width, label[i]);
        x = run[i].end;
    }
    if (!few)
        fill(dst, x, width, width, 0);
}

static void write_stripe(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    const struct job *job = arg;
    const struct airy_runs *runs = job->runs;
    const size_t end = stripe_begin(job, index + 1);
    for (size_t row = stripe_begin(job, index); row < end; row++) {
        const uint32_t first = runs->row_first[row], n = runs->row_first[row + 1] - first;
        void *dst = airy_row_address(job->plan->labels, job->plan->stack.shape, row);
        write_row(dst, job->plan->stack.shape[2], runs->run + first, runs->label + first, n);
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
    join_all(job, device);
    return number_runs(job, device, count);
}

static airy_status label_image(airy_queue *queue, const struct airy_label_plan *plan)
{
    const size_t *shape = plan->stack.shape;
    struct airy_runs runs = {.shape = {shape[0], shape[1], shape[2]}, .rows = shape[0] * shape[1]};
    struct job job = {
        .plan = plan, .runs = &runs, .words = (shape[2] + AIRY_RUN_WORD - 1) / AIRY_RUN_WORD};
    job.stripes = airy_min_size(STRIPES, shape[0] > 1 ? shape[0] : runs.rows);
    airy_status status = label_runs(&job, queue->device, plan->counts);
    if (status == AIRY_OK && plan->labels)
        airy_profile_loop(queue->device, "label_write", (double)airy_array_size(plan->labels),
                          job.stripes, write_stripe, &job);
    if (status == AIRY_OK && plan->regions) {
        void *block = NULL;
        status = airy_memory_calloc(&block, *plan->counts + 1, sizeof(airy_region), "regions");
        *plan->regions = block;
        if (status == AIRY_OK)
            status =
                airy_measure_runs(queue, *plan->regions, *plan->counts, &runs, NULL, plan->src);
    }
    free(job.bits);
    free(job.parent);
    free(job.pixels);
    airy_runs_free(&runs);
    return status;
}

static airy_status label(airy_queue *queue, const struct airy_label_plan *plan)
{
    const struct airy_label_stack *stack = &plan->stack;
    for (size_t i = 0; i < stack->images; i++) {
        const airy_array src = airy_image_at(plan->src, i * stack->src_step),
                         labels = airy_image_at(plan->labels ? plan->labels : plan->src,
                                                i * stack->labels_step);
        struct airy_label_plan one = *plan;
        one.src = &src;
        one.labels = plan->labels ? &labels : NULL;
        one.counts = plan->counts + i;
        one.regions = plan->regions ? plan->regions + i : NULL;
        AIRY_TRY(label_image(queue, &one));
    }
    return AIRY_OK;
}

const struct airy_label_fns airy_label_cpu = {.label = label, .measure = airy_cpu_measure};
