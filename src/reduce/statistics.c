/*
 * Statistics of what lies between two bounds, once or until the bounds stand still. One walk sums a
 * core, of which a sample says that it stays, and lists the elements outside of it and those near
 * the median; the passes of a clip then touch the lists alone, until the bounds enter the core.
 */
#include "reduce/statistics.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "reduce/select.h"
#include "shared/middle.h"

enum { BUCKETS = 256, AT_ONCE = 128 /* images whose solutions are kept */ };

/* A list by buckets of equal width, so that order statistics near each other are cheap. */
struct buckets {
    double *values;
    size_t start[BUCKETS + 1];
};

struct kept {
    const struct airy_reduce_source *source;
    const airy_clip_params *params; /* NULL: no clip */
    struct airy_reduce_walk walk;
    struct buckets window;
    bool walked;
};

/* Of the elements in the bounds. */
struct measure {
    uint64_t count, low; /* low: below the window */
    double sum, mean, std, min, max;
};

static size_t bucket_of(double x, double lo, double scale)
{
    const double at = (x - lo) * scale;
    return at < (double)BUCKETS ? (size_t)at : BUCKETS - 1;
}

static airy_status buckets_make(struct buckets *b, const struct airy_reduce_walk *walk)
{
    void *block;
    size_t next[BUCKETS] = {0};
    const double lo = walk->window_lo, scale = (double)BUCKETS / (walk->window_hi - lo);
    AIRY_TRY(airy_memory_alloc(&block, walk->window_count * sizeof(double)));
    airy_memory_release(b->values);
    b->values = block;
    for (size_t i = 0; i < walk->window_count; i++)
        next[bucket_of(walk->window[i], lo, scale)]++;
    for (size_t i = 0, at = 0; i < BUCKETS; i++) {
        b->start[i] = at;
        at += next[i];
        next[i] = b->start[i];
    }
    b->start[BUCKETS] = walk->window_count;
    for (size_t i = 0; i < walk->window_count; i++)
        b->values[next[bucket_of(walk->window[i], lo, scale)]++] = walk->window[i];
    return AIRY_OK;
}

static double buckets_nth(const struct buckets *b, size_t rank)
{
    size_t i = 0;
    while (b->start[i + 1] <= rank)
        i++;
    return airy_select_nth(b->values + b->start[i], b->start[i + 1] - b->start[i],
                           rank - b->start[i]);
}

/* The bounds where a clip of the sample about its mean comes to rest. */
static void clip_sample(double *lo, double *hi, const airy_clip_params *params,
                        const double *sample, size_t n)
{
    size_t left = 0;
    for (int pass = 0; pass < 64; pass++) {
        double sum = 0, squares = 0;
        size_t count = 0;
        for (size_t i = 0; i < n; i++) {
            const bool in = (sample[i] >= *lo) & (sample[i] <= *hi);
            const double d = in ? sample[i] - sample[0] : 0.0;
            sum += d;
            squares += d * d;
            count += in;
        }
        if (count == 0 || count == left)
            return;
        left = count;
        const double mean = sum / (double)count,
                     std = sqrt(fmax(squares / (double)count - mean * mean, 0.0));
        *lo = fmax(*lo, sample[0] + mean - params->kappa_low * std);
        *hi = fmin(*hi, sample[0] + mean + params->kappa_high * std);
    }
}

/* What the next walk sums and lists, from a sample of what is left. */
static airy_status plan_walk(struct kept *k, double lo, double hi, uint64_t among, bool median)
{
    /* Where the final bounds are about to lie, less a margin for what a sample does not know. */
    static const double margin = 0.1;
    const struct airy_reduce_order order = {.lo = lo, .hi = hi};
    struct airy_reduce_walk *w = &k->walk;
    double sample[AIRY_SAMPLE];
    size_t n;
    AIRY_TRY(airy_select_sample(sample, &n, k->source, &order));
    w->lo = w->core_lo = lo;
    w->hi = w->core_hi = hi;
    w->window_lo = (double)INFINITY;
    w->window_hi = -(double)INFINITY;
    w->pivot = 0;
    if (n == 0)
        return AIRY_OK;
    if (k->params) {
        double a = lo, b = hi;
        clip_sample(&a, &b, k->params, sample, n);
        if (a <= b && a > -DBL_MAX && b < DBL_MAX) {
            w->core_lo = fmax(lo, a + margin * (b - a) / 2);
            w->core_hi = fmin(hi, b - margin * (b - a) / 2);
        }
    }
    w->pivot = airy_select_nth(sample, n, n / 2);
    if (median && among) {
        airy_select_window(&w->window_lo, &w->window_hi, sample, n, among, (among - 1) / 2);
        w->window_lo = fmax(w->window_lo, w->core_lo);
        w->window_hi = fmin(w->window_hi, w->core_hi);
    }
    return AIRY_OK;
}

static void free_lists(struct airy_reduce_walk *w)
{
    free(w->window);
    free(w->tails);
    w->window = w->tails = NULL;
}

static airy_status run_walk(struct kept *k)
{
    free_lists(&k->walk);
    return k->source->fns->walk(k->source, &k->walk);
}

/* True where the walk has what the bounds ask for. */
static bool walk_serves(const struct kept *k, double lo, double hi)
{
    const struct airy_reduce_walk *w = &k->walk;
    return k->walked && lo >= w->lo && hi <= w->hi && lo <= w->core_lo && hi >= w->core_hi &&
           !w->tails_full;
}

static airy_status walk_again(struct kept *k, double lo, double hi, uint64_t among, bool median)
{
    AIRY_TRY(plan_walk(k, lo, hi, among, median));
    AIRY_TRY(run_walk(k));
    if (k->walk.tails_full) { /* the sample was wrong: everything is core */
        k->walk.core_lo = lo;
        k->walk.core_hi = hi;
        AIRY_TRY(run_walk(k));
    }
    k->walked = true;
    return k->walk.window ? buckets_make(&k->window, &k->walk) : AIRY_OK;
}

/* From the count of m, and sums about a pivot. */
static void set_moments(struct measure *m, double pivot, struct airy_double_double sum,
                        struct airy_double_double squares)
{
    const double n = (double)m->count, shift = sum.hi / n, whole = pivot * n;
    struct airy_double_double total = {whole, fma(pivot, n, -whole)};
    airy_double_double_add(&total, sum.hi);
    airy_double_double_add(&total, sum.lo);
    m->sum = total.hi;
    m->mean = total.hi / n;
    const double variance = (squares.hi - sum.hi * shift) / n;
    m->std = sqrt(variance < 0 ? 0 : variance);
}

/* Of some elements of a list; the same four sums side by side. */
enum { LANES = 4, PIECE = 256 };

/* Elements [0, n) of a list of tails that are in [lo, hi], n at most PIECE. */
static void add_tails(struct measure *m, struct airy_double_double *sum,
                      struct airy_double_double *squares, const double *tails, size_t n, double lo,
                      double hi, const struct airy_reduce_walk *w)
{
    double s[LANES] = {0}, q[LANES] = {0}, min[LANES], max[LANES];
    uint64_t count[LANES] = {0}, low[LANES] = {0};
    for (size_t k = 0; k < LANES; k++) {
        min[k] = (double)INFINITY;
        max[k] = -(double)INFINITY;
    }
    for (size_t i = 0; i < n; i++) {
        const size_t k = i % LANES;
        const double x = tails[i];
        const bool in = (x >= lo) & (x <= hi);
        const double d = in ? x - w->pivot : 0.0;
        s[k] += d;
        q[k] += d * d;
        count[k] += in;
        low[k] += in & (x < w->core_lo);
        min[k] = (in & (x < min[k])) ? x : min[k];
        max[k] = (in & (x > max[k])) ? x : max[k];
    }
    for (size_t k = 0; k < LANES; k++) {
        airy_double_double_add(sum, s[k]);
        airy_double_double_add(squares, q[k]);
        m->count += count[k];
        m->low += low[k];
        m->min = fmin(m->min, min[k]);
        m->max = fmax(m->max, max[k]);
    }
}

/* Sums of the core and of those listed outside of it that are still in the bounds. */
static void measure_kept(struct measure *m, const struct kept *k, double lo, double hi)
{
    const struct airy_reduce_walk *w = &k->walk;
    struct airy_double_double sum = w->sum, squares = w->squares;
    *m = (struct measure){.count = w->core_count, .low = w->below, .min = w->min, .max = w->max};
    for (size_t i = 0; i < w->tails_count; i += PIECE)
        add_tails(m, &sum, &squares, w->tails + i,
                  w->tails_count - i < PIECE ? w->tails_count - i : PIECE, lo, hi, w);
    set_moments(m, w->pivot, sum, squares);
}

static bool window_holds(const struct kept *k, const struct measure *m)
{
    const struct airy_reduce_walk *w = &k->walk;
    return !w->window_full && m->count && w->window_lo <= w->window_hi &&
           (m->count - 1) / 2 >= m->low && m->count / 2 - m->low < w->window_count;
}

static airy_status median_kept(double *median, struct kept *k, const struct measure *m, double lo,
                               double hi)
{
    const struct airy_reduce_walk *w = &k->walk;
    if (!window_holds(k, m)) {
        const struct airy_reduce_order order = {.lo = lo, .hi = hi};
        return airy_select_median(median, k->source, &order, m->count);
    }
    *median = w->window_lo;
    if (w->window_lo == w->window_hi)
        return AIRY_OK;
    const double lower = buckets_nth(&k->window, (m->count - 1) / 2 - m->low);
    const double upper = m->count % 2 ? lower : buckets_nth(&k->window, m->count / 2 - m->low);
    *median = airy_middle(lower, upper);
    return AIRY_OK;
}

/* Measures, and the median where it is asked for, of the elements in [lo, hi]. */
static airy_status look(struct kept *k, struct measure *m, double *median, double lo, double hi,
                        uint64_t among)
{
    bool fresh = false;
    if (!walk_serves(k, lo, hi)) {
        AIRY_TRY(walk_again(k, lo, hi, among, median != NULL));
        fresh = true;
    }
    measure_kept(m, k, lo, hi);
    if (!median || m->count == 0)
        return AIRY_OK;
    if (!window_holds(k, m) && !fresh) {
        AIRY_TRY(walk_again(k, lo, hi, m->count, true));
        measure_kept(m, k, lo, hi);
    }
    return median_kept(median, k, m, lo, hi);
}

static void kept_free(struct kept *k)
{
    free_lists(&k->walk);
    airy_memory_release(k->window.values);
}

/* A count, and NaN for everything that is not set otherwise. */
static airy_statistics blank(uint64_t masked)
{
    const double none = (double)NAN;
    return (airy_statistics){.masked = masked,
                             .min = none,
                             .max = none,
                             .sum = none,
                             .mean = none,
                             .std = none,
                             .median = none,
                             .mad = none};
}

/* The counts of what was left out. */
static airy_status start_result(airy_statistics *r, const struct kept *k, uint64_t finite)
{
    *r = blank(k->walk.masked);
    return finite + k->walk.masked == k->source->count
               ? AIRY_OK
               : k->source->fns->odd(k->source, &r->nan, &r->infinite);
}

static airy_status fill_result(airy_statistics *r, const struct kept *k, const struct measure *m)
{
    r->min = m->min;
    r->max = m->max;
    r->sum = m->sum;
    r->mean = m->mean;
    r->std = m->std;
    return k->source->fns->locate(k->source, m->min, m->max, &r->min_at, &r->max_at);
}

static airy_status deviation(double *mad, const struct airy_reduce_source *source, double median,
                             double lo, double hi, uint64_t count)
{
    const struct airy_reduce_order order = {
        .lo = lo, .hi = hi, .deviation = true, .center = median};
    return airy_select_median(mad, source, &order, count);
}

/* What a back end found in one go. */
static void take_solution(airy_statistics *r, const struct airy_reduce_source *source,
                          const struct airy_reduce_solution *s)
{
    struct measure m = {.count = s->count};
    *r = blank(s->masked);
    r->infinite = s->infinite;
    r->nan = source->count - s->finite - s->masked - s->infinite;
    r->count = s->count;
    if (s->count == 0)
        return;
    set_moments(&m, s->pivot, s->sum, s->squares);
    r->min = s->min;
    r->max = s->max;
    r->min_at = s->min_at;
    r->max_at = s->max_at;
    r->sum = m.sum;
    r->mean = m.mean;
    r->std = m.std;
    r->median = s->median;
}

static bool wants_median(unsigned flags)
{
    return (flags & (AIRY_STATISTICS_MEDIAN | AIRY_STATISTICS_MAD)) != 0;
}

/* What a back end found, as far as it is wanted, and what that leaves to be done. */
static airy_status finish_statistics(const struct airy_reduce_source *source,
                                     const struct airy_reduce_solution *s, airy_statistics *result,
                                     unsigned flags)
{
    take_solution(result, source, s);
    if (!(flags & AIRY_STATISTICS_MOMENTS)) {
        const airy_statistics all = *result;
        *result = blank(all.masked);
        result->count = all.count;
        result->nan = all.nan;
        result->infinite = all.infinite;
        result->median = all.median;
    }
    if (!wants_median(flags))
        result->median = (double)NAN;
    return s->count && (flags & AIRY_STATISTICS_MAD)
               ? deviation(&result->mad, source, s->median, -DBL_MAX, DBL_MAX, s->count)
               : AIRY_OK;
}

static airy_status walk_statistics(const struct airy_reduce_source *source, airy_statistics *result,
                                   unsigned flags)
{
    struct kept k = {.source = source};
    struct measure m;
    double median = (double)NAN;
    airy_status status =
        look(&k, &m, wants_median(flags) ? &median : NULL, -DBL_MAX, DBL_MAX, source->count);
    if (status == AIRY_OK)
        status = start_result(result, &k, m.count);
    if (status == AIRY_OK) {
        result->count = m.count;
        result->median = median;
    }
    if (status == AIRY_OK && m.count && (flags & AIRY_STATISTICS_MOMENTS))
        status = fill_result(result, &k, &m);
    if (status == AIRY_OK && m.count && (flags & AIRY_STATISTICS_MAD))
        status = deviation(&result->mad, source, median, -DBL_MAX, DBL_MAX, m.count);
    kept_free(&k);
    return status;
}

/* What a back end finds in one go of some images, at most AT_ONCE. */
static airy_status solve(const struct airy_reduce_source *sources, size_t count,
                         const airy_clip_params *params, bool median,
                         struct airy_reduce_solution *solutions)
{
    const struct airy_reduce_fns *fns = sources->fns;
    if (fns->solve && (!params || params->spread == AIRY_SPREAD_STD))
        return fns->solve(sources, count, params, median, solutions);
    for (size_t i = 0; i < count; i++)
        solutions[i] = (struct airy_reduce_solution){.found = false};
    return AIRY_OK;
}

airy_status airy_reduce_statistics(const struct airy_reduce_source *sources, size_t count,
                                   airy_statistics *results, unsigned flags)
{
    struct airy_reduce_solution solutions[AT_ONCE];
    for (size_t first = 0; first < count; first += AT_ONCE) {
        const size_t n = count - first < AT_ONCE ? count - first : AT_ONCE;
        AIRY_TRY(solve(sources + first, n, NULL, wants_median(flags), solutions));
        for (size_t k = 0; k < n; k++) {
            const struct airy_reduce_source *source = &sources[first + k];
            AIRY_TRY(solutions[k].found
                         ? finish_statistics(source, &solutions[k], &results[first + k], flags)
                         : walk_statistics(source, &results[first + k], flags));
        }
    }
    return AIRY_OK;
}

/* A clip under way. */
struct clip {
    struct kept kept;
    struct measure m;
    double lo, hi; /* closed bounds of what is left */
    double median, mad;
    uint64_t count; /* of the pass before */
};

/* One pass: new bounds from what is left. */
static airy_status next_bounds(struct clip *c, const airy_clip_params *p, airy_clip_result *r)
{
    double center = p->center == AIRY_CENTER_MEDIAN ? c->median : c->m.mean, spread = c->m.std;
    if (p->spread == AIRY_SPREAD_MAD) {
        AIRY_TRY(deviation(&c->mad, c->kept.source, c->median, c->lo, c->hi, c->m.count));
        spread = AIRY_MAD_SCALE * c->mad;
    }
    /* Infinity times a spread of 0 is no number. */
    r->low = isinf(p->kappa_low) ? -(double)INFINITY : center - p->kappa_low * spread;
    r->high = isinf(p->kappa_high) ? (double)INFINITY : center + p->kappa_high * spread;
    const double lo = p->inclusive ? r->low : nextafter(r->low, (double)INFINITY),
                 hi = p->inclusive ? r->high : nextafter(r->high, -(double)INFINITY);
    c->lo = fmax(c->lo, lo);
    c->hi = fmin(c->hi, hi);
    return AIRY_OK;
}

static airy_status clip_passes(struct clip *c, const airy_clip_params *p, airy_clip_result *r,
                               uint64_t *finite)
{
    const bool middle = p->spread == AIRY_SPREAD_MAD || p->center == AIRY_CENTER_MEDIAN;
    uint64_t before = c->kept.source->count;
    for (size_t pass = 0;; pass++) {
        /* The median of the result is wanted in any case, the last time round. */
        AIRY_TRY(
            look(&c->kept, &c->m, middle || pass == 0 ? &c->median : NULL, c->lo, c->hi, before));
        if (pass == 0)
            *finite = c->m.count;
        const bool still = pass > 0 && c->m.count == before;
        before = c->m.count;
        if (c->m.count == 0 || still || (p->iterations && pass == p->iterations))
            break;
        r->iterations++;
        AIRY_TRY(next_bounds(c, p, r));
    }
    return c->m.count ? look(&c->kept, &c->m, &c->median, c->lo, c->hi, before) : AIRY_OK;
}

static void finish_clip(const struct airy_reduce_source *source,
                        const struct airy_reduce_solution *s, airy_clip_result *result)
{
    take_solution(&result->kept, source, s);
    result->low = s->low;
    result->high = s->high;
    result->iterations = s->iterations;
    result->clipped = s->finite - s->count;
}

static airy_status walk_clip(const struct airy_reduce_source *source, airy_clip_result *result,
                             const airy_clip_params *params)
{
    struct clip c = {.kept = {.source = source, .params = params},
                     .lo = -DBL_MAX,
                     .hi = DBL_MAX,
                     .median = (double)NAN,
                     .mad = (double)NAN};
    uint64_t finite = 0;
    *result = (airy_clip_result){.low = (double)NAN, .high = (double)NAN};
    airy_status status = clip_passes(&c, params, result, &finite);
    if (status == AIRY_OK)
        status = start_result(&result->kept, &c.kept, finite);
    if (status == AIRY_OK) {
        result->kept.count = c.m.count;
        result->clipped = finite - c.m.count;
    }
    if (status == AIRY_OK && c.m.count) {
        status = fill_result(&result->kept, &c.kept, &c.m);
        result->kept.median = c.median;
    }
    if (status == AIRY_OK && c.m.count && params->spread == AIRY_SPREAD_MAD)
        status = deviation(&result->kept.mad, source, c.median, c.lo, c.hi, c.m.count);
    kept_free(&c.kept);
    return status;
}

airy_status airy_reduce_clip(const struct airy_reduce_source *sources, size_t count,
                             airy_clip_result *results, const airy_clip_params *params)
{
    struct airy_reduce_solution solutions[AT_ONCE];
    for (size_t first = 0; first < count; first += AT_ONCE) {
        const size_t n = count - first < AT_ONCE ? count - first : AT_ONCE;
        AIRY_TRY(solve(sources + first, n, params, true, solutions));
        for (size_t k = 0; k < n; k++) {
            const struct airy_reduce_source *source = &sources[first + k];
            if (solutions[k].found)
                finish_clip(source, &solutions[k], &results[first + k]);
            else
                AIRY_TRY(walk_clip(source, &results[first + k], params));
        }
    }
    return AIRY_OK;
}

airy_status airy_reduce_quantiles(const struct airy_reduce_source *source, double *values,
                                  const double *fractions, size_t count)
{
    const struct airy_reduce_order order = {.lo = -DBL_MAX, .hi = DBL_MAX};
    uint64_t below, n;
    AIRY_TRY(source->fns->list(source, &order, order.lo, order.hi, &below, &n, NULL));
    for (size_t i = 0; i < count; i++) {
        double pair[2] = {(double)NAN, (double)NAN};
        const double at = n ? fractions[i] * (double)(n - 1) : 0.0;
        const uint64_t rank = (uint64_t)at;
        const double t = at - (double)rank;
        if (n)
            AIRY_TRY(airy_select_pair(pair, source, &order, n, rank, t != 0));
        values[i] = t == 0 ? pair[0] : (1 - t) * pair[0] + t * pair[1];
    }
    return AIRY_OK;
}
