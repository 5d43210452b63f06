#include "cpu/cpu_reduce.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "cpu/cpu_copy.h"
#include "element/element_fns.h"
#include "reduce/select.h"
#include "shared/reduce_geom.h"

enum { SLICES = 256 /* at most */ };

/* An array on its way through the threads. */
struct course {
    const struct airy_reduce_source *source;
    const struct airy_reduce_kernels *kernels;
    size_t count, blocks, slices;
};

static struct course plan_course(const struct airy_reduce_source *source)
{
    struct course c = {.source = source, .kernels = airy_reduce_kernels(), .count = source->count};
    c.blocks = (c.count + AIRY_REDUCE_BLOCK - 1) / AIRY_REDUCE_BLOCK;
    c.slices = airy_min_size(c.blocks, SLICES);
    return c;
}

/* First block of a slice; of slice number `slices` the end. */
static size_t slice_begin(const struct course *c, size_t slice)
{
    return slice * (c->blocks / c->slices) + airy_min_size(slice, c->blocks % c->slices);
}

static void run_slices(const struct course *c, const char *name, airy_pool_fn fn, void *job)
{
    const double bytes = (double)airy_array_size(c->source->src) +
                         (c->source->mask ? (double)c->count : 0.0);
    airy_profile_loop(c->source->queue->device, name, bytes, c->slices, fn, job);
}

static void apply_mask(const airy_array *array, size_t first, size_t n, double *values,
                       uint64_t *masked)
{
    uint64_t out = 0;
    for (size_t done = 0; done < n;) {
        size_t run;
        const uint8_t *mask = (const uint8_t *)airy_cpu_find(array, first + done, &run);
        run = airy_min_size(run, n - done);
        for (size_t i = 0; i < run; i++) {
            values[done + i] = mask[i] ? (double)NAN : values[done + i];
            out += mask[i] != 0;
        }
        done += run;
    }
    if (masked)
        *masked += out;
}

/* Elements [first, first + n) in raster order. masked: NULL, or those masked are counted there. */
static void read_range(const struct course *c, size_t first, size_t n, double *values,
                       uint64_t *masked)
{
    const airy_array *src = c->source->src;
    for (size_t done = 0; done < n;) {
        size_t run;
        const char *at = airy_cpu_find(src, first + done, &run);
        run = airy_min_size(run, n - done);
        c->kernels->load[src->dtype](values + done, at, run);
        done += run;
    }
    if (c->source->mask)
        apply_mask(c->source->mask, first, n, values, masked);
}

/* Elements of a block to values, which has room for AIRY_REDUCE_BLOCK, padded; the padded count. */
static size_t read_block(const struct course *c, size_t block, double *values, uint64_t *masked)
{
    const size_t first = block * AIRY_REDUCE_BLOCK,
                 n = airy_min_size(AIRY_REDUCE_BLOCK, c->count - first),
                 padded = airy_align_up(n, AIRY_REDUCE_GROUP);
    read_range(c, first, n, values, masked);
    for (size_t i = n; i < padded; i++)
        values[i] = (double)NAN;
    return padded;
}

static size_t block_count(const struct course *c, size_t block)
{
    return airy_min_size(AIRY_REDUCE_BLOCK, c->count - block * AIRY_REDUCE_BLOCK);
}

/* What a slice lists; all of them together keep to the limit. */
struct list {
    double *values;
    size_t count, capacity;
    bool dropped;
};

/* Room for one block more; false, and the list is gone, where there is none. */
static bool list_room(struct list *list, const atomic_size_t *listed, size_t limit)
{
    if (!list->dropped && list->capacity - list->count < AIRY_REDUCE_BLOCK) {
        const size_t capacity = 2 * list->capacity + AIRY_REDUCE_BLOCK;
        double *grown = realloc(list->values, capacity * sizeof(*grown));
        list->dropped = !grown;
        if (grown) {
            list->values = grown;
            list->capacity = capacity;
        }
    }
    if (list->dropped || atomic_load_explicit(listed, memory_order_relaxed) > limit) {
        free(list->values);
        *list = (struct list){.dropped = true};
        return false;
    }
    return true;
}

static void list_added(struct list *list, atomic_size_t *listed, size_t n)
{
    list->count += n;
    atomic_fetch_add_explicit(listed, n, memory_order_relaxed);
}

/* The slices' lists one behind the other, malloc'ed; they are released. NULL where one was dropped. */
static airy_status join_lists(double **values, struct list *first, size_t step, size_t slices)
{
    size_t count = 0, at = 0;
    bool dropped = false;
    for (size_t i = 0; i < slices; i++) {
        const struct list *list = (const struct list *)((const char *)first + i * step);
        count += list->count;
        dropped = dropped || list->dropped;
    }
    void *block = dropped ? NULL : malloc((count + 1) * sizeof(double));
    const bool failed = !dropped && !block;
    for (size_t i = 0; i < slices; i++) {
        struct list *list = (struct list *)((char *)first + i * step);
        if (block && list->count)
            memcpy((double *)block + at, list->values, list->count * sizeof(double));
        at += list->count;
        free(list->values);
        *list = (struct list){0};
    }
    *values = block;
    AIRY_FAIL_IF(failed, AIRY_ERR_MEMORY, "no memory for a list of %zu elements", count);
    return AIRY_OK;
}

struct walk_slice {
    uint64_t masked, core_count, below, window_count, tails_count;
    struct airy_double_double sum, squares;
    double min, max;
    struct list window, tails;
};

struct walk_job {
    struct course course;
    const struct airy_reduce_walk *walk;
    struct walk_slice *slices;
    size_t limit;
    atomic_size_t window, tails; /* listed so far */
};

static double just_below(double x)
{
    return nextafter(x, -(double)INFINITY);
}

static void walk_window(struct walk_job *job, struct walk_slice *s, const double *values, size_t n)
{
    const struct airy_reduce_walk *w = job->walk;
    const struct airy_reduce_kernels *k = job->course.kernels;
    if (w->window_lo > w->window_hi)
        return;
    if (w->window_lo > w->core_lo)
        s->below += k->count(values, n, w->core_lo, just_below(w->window_lo));
    if (w->window_lo < w->window_hi && list_room(&s->window, &job->window, job->limit)) {
        const size_t found =
            k->gather(s->window.values + s->window.count, values, n, w->window_lo, w->window_hi);
        list_added(&s->window, &job->window, found);
        s->window_count += found;
    } else {
        s->window_count += k->count(values, n, w->window_lo, w->window_hi);
    }
}

static void walk_tails(struct walk_job *job, struct walk_slice *s, const double *values, size_t n)
{
    const struct airy_reduce_walk *w = job->walk;
    const struct airy_reduce_kernels *k = job->course.kernels;
    if (w->lo >= w->core_lo && w->hi <= w->core_hi)
        return;
    if (list_room(&s->tails, &job->tails, job->limit)) {
        const size_t found = k->gather_tails(s->tails.values + s->tails.count, values, n, w->lo,
                                             w->hi, w->core_lo, w->core_hi);
        list_added(&s->tails, &job->tails, found);
        s->tails_count += found;
    } else {
        s->tails_count += k->count(values, n, w->lo, just_below(w->core_lo)) +
                          k->count(values, n, nextafter(w->core_hi, (double)INFINITY), w->hi);
    }
}

static void walk_slice(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    struct walk_job *job = arg;
    const struct airy_reduce_walk *w = job->walk;
    struct walk_slice *s = &job->slices[index];
    _Alignas(64) double values[AIRY_REDUCE_BLOCK];
    s->min = (double)INFINITY;
    s->max = -(double)INFINITY;
    const size_t end = slice_begin(&job->course, index + 1);
    for (size_t b = slice_begin(&job->course, index); b < end; b++) {
        const size_t n = read_block(&job->course, b, values, &s->masked);
        struct airy_reduce_moments m;
        job->course.kernels->moments(&m, values, n, w->pivot, w->core_lo, w->core_hi);
        s->core_count += m.count;
        airy_double_double_add(&s->sum, m.sum);
        airy_double_double_add(&s->squares, m.squares);
        s->min = fmin(s->min, m.min);
        s->max = fmax(s->max, m.max);
        walk_window(job, s, values, n);
        walk_tails(job, s, values, n);
    }
}

static void add_slices(struct airy_reduce_walk *w, const struct walk_slice *slices, size_t n)
{
    airy_reduce_walk_begin(w);
    for (size_t i = 0; i < n; i++) {
        w->masked += slices[i].masked;
        w->core_count += slices[i].core_count;
        w->below += slices[i].below;
        w->window_count += slices[i].window_count;
        w->tails_count += slices[i].tails_count;
        airy_double_double_add(&w->sum, slices[i].sum.hi);
        airy_double_double_add(&w->sum, slices[i].sum.lo);
        airy_double_double_add(&w->squares, slices[i].squares.hi);
        airy_double_double_add(&w->squares, slices[i].squares.lo);
        w->min = fmin(w->min, slices[i].min);
        w->max = fmax(w->max, slices[i].max);
    }
}

static airy_status walk(const struct airy_reduce_source *source, struct airy_reduce_walk *w)
{
    struct walk_job job = {
        .course = plan_course(source), .walk = w, .limit = airy_reduce_list_limit(source->count)};
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, job.course.slices, sizeof(struct walk_slice), "a walk"));
    job.slices = block;
    atomic_init(&job.window, 0);
    atomic_init(&job.tails, 0);
    run_slices(&job.course, "statistics", walk_slice, &job);
    add_slices(w, job.slices, job.course.slices);
    airy_status status =
        join_lists(&w->window, &job.slices->window, sizeof(*job.slices), job.course.slices);
    const airy_status second =
        join_lists(&w->tails, &job.slices->tails, sizeof(*job.slices), job.course.slices);
    free(block);
    status = status != AIRY_OK ? status : second;
    const bool listed = w->window_lo < w->window_hi;
    if (!listed) { /* counted only */
        free(w->window);
        w->window = NULL;
    }
    w->window_full = listed && (!w->window || w->window_count > job.limit);
    w->tails_full = !w->tails || w->tails_count > job.limit;
    if (status != AIRY_OK) {
        free(w->window);
        free(w->tails);
        w->window = w->tails = NULL;
    }
    return status;
}

static airy_status sample(const struct airy_reduce_source *source, const uint64_t *first,
                          size_t count, double (*runs)[AIRY_SAMPLE_RUN])
{
    const struct course c = plan_course(source);
    for (size_t i = 0; i < count; i++) {
        const size_t n = airy_min_size(AIRY_SAMPLE_RUN, source->count - first[i]);
        read_range(&c, first[i], n, runs[i], NULL);
        for (size_t k = n; k < AIRY_SAMPLE_RUN; k++)
            runs[i][k] = (double)NAN;
    }
    return AIRY_OK;
}

/* What the order compares, NaN for what it does not admit. */
static void compared(double *values, size_t n, const struct airy_reduce_order *order)
{
    const double lo = order->lo, hi = order->hi, center = order->center;
    for (size_t i = 0; i < n; i++) {
        const double x = values[i], v = order->deviation ? fabs(x - center) : x;
        values[i] = ((x >= lo) & (x <= hi)) ? v : (double)NAN;
    }
}

struct list_slice {
    uint64_t below, inside;
    struct list list;
};

struct list_job {
    struct course course;
    const struct airy_reduce_order *order;
    double lo, hi;
    bool wanted;
    size_t limit;
    atomic_size_t listed;
    struct list_slice *slices;
};

static void list_slice(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    struct list_job *job = arg;
    struct list_slice *s = &job->slices[index];
    const struct airy_reduce_kernels *k = job->course.kernels;
    _Alignas(64) double values[AIRY_REDUCE_BLOCK];
    const size_t end = slice_begin(&job->course, index + 1);
    for (size_t b = slice_begin(&job->course, index); b < end; b++) {
        const size_t n = read_block(&job->course, b, values, NULL);
        compared(values, n, job->order);
        s->below += k->count(values, n, -(double)INFINITY, just_below(job->lo));
        if (job->wanted && list_room(&s->list, &job->listed, job->limit)) {
            const size_t found =
                k->gather(s->list.values + s->list.count, values, n, job->lo, job->hi);
            list_added(&s->list, &job->listed, found);
            s->inside += found;
        } else {
            s->inside += k->count(values, n, job->lo, job->hi);
        }
    }
}

static airy_status list(const struct airy_reduce_source *source,
                        const struct airy_reduce_order *order, double lo, double hi,
                        uint64_t *below, uint64_t *inside, double **values)
{
    struct list_job job = {.course = plan_course(source),
                           .order = order,
                           .lo = lo,
                           .hi = hi,
                           .wanted = values != NULL,
                           .limit = airy_reduce_list_limit(source->count)};
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, job.course.slices, sizeof(struct list_slice), "a list"));
    job.slices = block;
    atomic_init(&job.listed, 0);
    run_slices(&job.course, "select_list", list_slice, &job);
    *below = *inside = 0;
    for (size_t i = 0; i < job.course.slices; i++) {
        *below += job.slices[i].below;
        *inside += job.slices[i].inside;
    }
    const airy_status status =
        values ? join_lists(values, &job.slices->list, sizeof(*job.slices), job.course.slices)
               : AIRY_OK;
    free(block);
    if (status == AIRY_OK && values && *inside > job.limit) {
        free(*values);
        *values = NULL;
    }
    return status;
}

struct keys_job {
    struct course course;
    const struct airy_reduce_order *order;
    uint64_t first, span; /* keys from first to first + span */
    unsigned shift;
    uint64_t *bins; /* [workers][1 << AIRY_KEY_BITS] */
};

static void keys_slice(void *arg, size_t index, unsigned worker)
{
    const struct keys_job *job = arg;
    _Alignas(64) double values[AIRY_REDUCE_BLOCK];
    uint64_t *bins = job->bins + ((size_t)worker << AIRY_KEY_BITS);
    const size_t end = slice_begin(&job->course, index + 1);
    for (size_t b = slice_begin(&job->course, index); b < end; b++) {
        const size_t n = read_block(&job->course, b, values, NULL);
        compared(values, n, job->order);
        for (size_t i = 0; i < n; i++) {
            const uint64_t key = airy_key_of(values[i]) - job->first;
            if (!isnan(values[i]) && key <= job->span)
                bins[key >> job->shift]++;
        }
    }
}

static airy_status keys(const struct airy_reduce_source *source,
                        const struct airy_reduce_order *order, uint64_t first, uint64_t last,
                        unsigned shift, uint64_t *bins)
{
    const size_t workers = airy_pool_size(source->queue->device->pool),
                 n = (size_t)1 << AIRY_KEY_BITS;
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, workers * n, sizeof(uint64_t), "a histogram"));
    struct keys_job job = {.course = plan_course(source),
                           .order = order,
                           .first = first,
                           .span = last - first,
                           .shift = shift,
                           .bins = block};
    run_slices(&job.course, "select_keys", keys_slice, &job);
    for (size_t i = 0; i < workers * n; i++)
        bins[i % n] += job.bins[i];
    free(block);
    return AIRY_OK;
}

struct odd_job {
    struct course course;
    atomic_uint_fast64_t nan, infinite;
};

static void odd_slice(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    struct odd_job *job = arg;
    const struct airy_reduce_kernels *k = job->course.kernels;
    const double infinity = (double)INFINITY;
    _Alignas(64) double values[AIRY_REDUCE_BLOCK];
    uint64_t nan = 0, infinite = 0;
    const size_t end = slice_begin(&job->course, index + 1);
    for (size_t b = slice_begin(&job->course, index); b < end; b++) {
        uint64_t masked = 0;
        const size_t n = read_block(&job->course, b, values, &masked);
        const uint64_t numbers = k->count(values, n, -infinity, infinity);
        infinite += numbers - k->count(values, n, -DBL_MAX, DBL_MAX);
        nan += block_count(&job->course, b) - numbers - masked;
    }
    atomic_fetch_add(&job->nan, nan);
    atomic_fetch_add(&job->infinite, infinite);
}

static airy_status odd(const struct airy_reduce_source *source, uint64_t *nan, uint64_t *infinite)
{
    struct odd_job job = {.course = plan_course(source)};
    atomic_init(&job.nan, 0);
    atomic_init(&job.infinite, 0);
    run_slices(&job.course, "statistics_odd", odd_slice, &job);
    *nan = atomic_load(&job.nan);
    *infinite = atomic_load(&job.infinite);
    return AIRY_OK;
}

struct locate_job {
    struct course course;
    double value[2];
    atomic_size_t at[2]; /* SIZE_MAX: not found yet */
};

static void locate_slice(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    struct locate_job *job = arg;
    _Alignas(64) double values[AIRY_REDUCE_BLOCK];
    bool open[2] = {true, true};
    const size_t end = slice_begin(&job->course, index + 1);
    for (size_t b = slice_begin(&job->course, index); b < end; b++) {
        for (int k = 0; k < 2; k++)
            open[k] = open[k] && atomic_load(&job->at[k]) > b * AIRY_REDUCE_BLOCK;
        if (!open[0] && !open[1])
            return;
        const size_t n = read_block(&job->course, b, values, NULL);
        for (int k = 0; k < 2; k++) {
            if (!open[k] || !job->course.kernels->count(values, n, job->value[k], job->value[k]))
                continue;
            size_t at = b * AIRY_REDUCE_BLOCK, best = atomic_load(&job->at[k]);
            for (size_t i = 0; values[i] != job->value[k]; i++)
                at++;
            while (at < best && !atomic_compare_exchange_weak(&job->at[k], &best, at))
                continue;
            open[k] = false;
        }
    }
}

static airy_status locate(const struct airy_reduce_source *source, double min, double max,
                          uint64_t *min_at, uint64_t *max_at)
{
    struct locate_job job = {.course = plan_course(source), .value = {min, max}};
    atomic_init(&job.at[0], SIZE_MAX);
    atomic_init(&job.at[1], SIZE_MAX);
    run_slices(&job.course, "statistics_locate", locate_slice, &job);
    *min_at = atomic_load(&job.at[0]);
    *max_at = atomic_load(&job.at[1]);
    return AIRY_OK;
}

/* Entries of a table of counts behind the bins: of what lies below, above, and is NaN. */
enum { REST = 3 };

struct histogram_job {
    struct course course;
    struct airy_reduce_bins bins;
    bool fine; /* edges are so close that their rounding counts */
    size_t entries;
    uint64_t *counts, *masked; /* [workers][entries], [workers] */
};

static void find_bins(const struct histogram_job *job, uint32_t *bin, const double *values,
                      size_t n)
{
    const struct airy_reduce_bins *b = &job->bins;
    job->course.kernels->bins(bin, values, n, b);
    for (size_t i = 0; job->fine && i < n; i++)
        if (values[i] >= b->lo && values[i] <= b->hi)
            bin[i] = airy_reduce_bin(values[i], b->lo, b->hi, (uint32_t)b->count);
}

static void histogram_slice(void *arg, size_t index, unsigned worker)
{
    const struct histogram_job *job = arg;
    _Alignas(64) double values[AIRY_REDUCE_BLOCK];
    uint32_t bin[AIRY_REDUCE_BLOCK];
    uint64_t *counts = job->counts + worker * job->entries;
    const size_t end = slice_begin(&job->course, index + 1);
    for (size_t b = slice_begin(&job->course, index); b < end; b++) {
        (void)read_block(&job->course, b, values, &job->masked[worker]);
        const size_t n = block_count(&job->course, b);
        find_bins(job, bin, values, n);
        for (size_t i = 0; i < n; i++)
            counts[bin[i]]++;
    }
}

static airy_status histogram(const struct airy_reduce_source *source, uint64_t *counts, size_t bins,
                             double lo, double hi, airy_histogram_rest *rest)
{
    const size_t workers = airy_pool_size(source->queue->device->pool), entries = bins + REST;
    const double count = (double)bins, scale = count / (hi - lo),
                 rounding = 0x1p-50 * (count + (fabs(lo) + fabs(hi)) * scale);
    void *all;
    AIRY_TRY(airy_memory_calloc(&all, workers, (entries + 1) * sizeof(uint64_t), "a histogram"));
    struct histogram_job job = {.course = plan_course(source),
                                .bins = {.lo = lo, .hi = hi, .count = count, .scale = scale},
                                .fine = !(rounding < 0.25),
                                .entries = entries,
                                .counts = all,
                                .masked = (uint64_t *)all + workers * entries};
    run_slices(&job.course, "histogram", histogram_slice, &job);
    for (size_t w = 0; w < workers; w++) {
        const uint64_t *of_worker = job.counts + w * entries;
        for (size_t i = 0; i < bins; i++)
            counts[i] += of_worker[i];
        rest->below += of_worker[bins];
        rest->above += of_worker[bins + 1];
        rest->nan += of_worker[bins + 2] - job.masked[w]; /* masked ones are NaN there */
        rest->masked += job.masked[w];
    }
    free(all);
    return AIRY_OK;
}

/* The largest number of the dtype's kind that is not larger: the same elements are above it. */
static struct airy_element_number bound_of(airy_dtype dtype, double value)
{
    if (dtype == AIRY_DTYPE_F32) {
        const float near = (float)value;
        return (struct airy_element_number){
            .value = (double)near > value ? nextafterf(near, -INFINITY) : near};
    }
    /* Integers of less than 64 bits, which a number beyond 33 does not tell apart. */
    const double whole = fmin(fmax(floor(value), -0x1p33), 0x1p33);
    return (struct airy_element_number){
        .value = value, .wide = {.size = (uint64_t)fabs(whole), .negative = whole < 0}};
}

/* In the dtype itself, but for integers of 64 bits: these are taken in f64. */
static airy_status threshold(airy_queue *queue, const airy_array *mask, const airy_array *src,
                             double value)
{
    const airy_dtype dtype = src->dtype;
    const struct airy_element_plan plan = {.dst = mask,
                                           .a = src,
                                           .number_b = bound_of(dtype, value),
                                           .op = AIRY_GREATER,
                                           .domain = dtype == AIRY_DTYPE_F32 ? AIRY_ELEMENT_F32
                                                     : airy_dtype_size(dtype) == 8
                                                         ? AIRY_ELEMENT_F64
                                                         : AIRY_ELEMENT_I64};
    return airy_element_cpu.run(queue, &plan);
}

const struct airy_reduce_fns airy_reduce_cpu = {
    .walk = walk,
    .sample = sample,
    .list = list,
    .keys = keys,
    .locate = locate,
    .odd = odd,
    .histogram = histogram,
    .threshold = threshold,
};
