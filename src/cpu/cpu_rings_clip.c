/* Sigma clipping of the entries of one bin. */
#include <math.h>
#include <string.h>

#include "cpu/cpu_rings.h"
#include "reduce/select.h"

/* Of a bin's entries, for its core, which bins with fewer than LEAST_CORE have none of. */
enum { SAMPLE = 31, LEAST_CORE = 256 };

/*
 * The squares about the mean come from those about the pivot, unless these are so much larger that
 * the difference would lose more than 2 bits.
 */
static double spread_of(const struct airy_ring_sums *sums, double pivot, double mean, bool *near)
{
    const double shift = mean - pivot;
    const double v = sums->t2 - shift * (2.0 * sums->t_omega - shift * sums->omega2);
    *near = !(sums->t2 > 4.0 * v);
    return v > 0.0 ? v : 0.0;
}

static enum airy_ring_variances variances_of(const struct airy_ring_task *task, airy_u32 by)
{
    if (by == AIRY_RING_POISSON && !task->job->integrator->dark)
        return AIRY_RING_BY_COUNTS;
    return by == AIRY_RING_POISSON || by == AIRY_RING_GIVEN ? AIRY_RING_BY_ENTRY
                                                            : AIRY_RING_ABOUT_PIVOT;
}

/* The window has all of the core in it, and is summed about the same pivot. */
static bool has_core(const struct airy_ring_task *task, const struct airy_ring_window *window,
                     airy_u32 by)
{
    const struct airy_ring_window *inner = &task->inner;
    return inner->half >= 0.0 && by == task->core_by && window->pivot == inner->pivot &&
           window->mid - window->half < inner->mid - inner->half &&
           window->mid + window->half > inner->mid + inner->half;
}

static void add_core(struct airy_ring_sums *sums, const struct airy_ring_sums *core)
{
    sums->s += core->s;
    sums->omega += core->omega;
    sums->omega2 += core->omega2;
    sums->c += core->c;
    sums->v += core->v;
    sums->t2 += core->t2;
    sums->t_omega += core->t_omega;
    sums->kept += core->kept;
}

void airy_rings_sum(struct airy_ring_sums *sums, const struct airy_ring_task *task, airy_u32 by,
                    const struct airy_ring_window *window, const struct airy_ring_run *run)
{
    struct airy_ring_bin ring = task->ring;
    ring.variances = variances_of(task, by);
    if (!run && has_core(task, window, by)) {
        task->kernels->sum(sums, &task->tail, window, NULL);
        add_core(sums, &task->core);
    } else {
        task->kernels->sum(sums, &ring, window, run);
    }
    if (by != AIRY_RING_SPREAD || sums->kept == 0.0 || sums->omega == 0.0)
        return;
    bool near;
    struct airy_ring_window again = *window;
    again.pivot = sums->s / sums->omega;
    sums->v = spread_of(sums, window->pivot, again.pivot, &near);
    if (!near) {
        task->kernels->sum(sums, &ring, &again, run);
        sums->v = spread_of(sums, again.pivot, again.pivot, &near);
    }
}

void airy_rings_put(double *out, size_t bins, const struct airy_ring_sums *sums)
{
    out[AIRY_SUM_SIGNAL * bins] = sums->s;
    out[AIRY_SUM_VARIANCE * bins] = sums->v;
    out[AIRY_SUM_NORMALIZATION * bins] = sums->omega;
    out[AIRY_SUM_NORMALIZATION2 * bins] = sums->omega2;
    out[AIRY_SUM_COUNT_PLANE * bins] = sums->c;
}

static double value_of(const struct airy_ring_bin *ring, size_t i)
{
    const double weight = (double)ring->weight[i], factor = (double)ring->factor[i];
    return ring->weights == AIRY_RING_UNWEIGHTED ? weight * ring->raw[i] / factor
                                                 : ring->raw[i] / factor;
}

/*
 * Cycles move the limits in the tails of a bin's values: the core, 1.1 times the distance of the
 * quartiles on either side of the median of a sample (1.5 standard deviations, if values are normal),
 * is summed once, and what is outside is kept apart.
 */
static void find_core(struct airy_ring_task *task, airy_u32 by)
{
    struct airy_ring_bin *ring = &task->ring;
    double x[SAMPLE];
    task->inner = (struct airy_ring_window){.pivot = value_of(ring, 0), .half = -1.0};
    if (ring->count < LEAST_CORE)
        return;
    for (size_t k = 0; k < SAMPLE; k++) {
        const double value = value_of(ring, (2 * k + 1) * ring->count / (2 * SAMPLE));
        size_t i = k;
        for (; i > 0 && x[i - 1] > value; i--)
            x[i] = x[i - 1];
        x[i] = value;
    }
    const double median = x[SAMPLE / 2], width = x[SAMPLE - 1 - SAMPLE / 4] - x[SAMPLE / 4];
    task->inner = (struct airy_ring_window){.pivot = median, .mid = median, .half = 1.1 * width};
    if (!(width < INFINITY))
        task->inner.half = -1.0;
    if (task->inner.half < 0.0)
        return;
    ring->variances = task->tail.variances = variances_of(task, by);
    if (task->tail.variances != AIRY_RING_ABOUT_PIVOT)
        task->tail.variances = AIRY_RING_BY_ENTRY;
    task->core_by = by;
    task->kernels->cut(&task->core, &task->tail, ring, &task->inner);
}

/* The variance term of an entry, where variances are expected ones. */
static double variance_at(const struct airy_ring_bin *ring, size_t i)
{
    const double weight = (double)ring->weight[i];
    return ring->variances == AIRY_RING_BY_COUNTS ? weight * weight * fmax(1.0, ring->raw[i])
                                                  : ring->v[i];
}

/*
 * The window in which a bin starts anew: about the lower median of all of its entries, by the
 * standard deviation that is expected of the lower half. The core's entries are overwritten.
 */
static struct airy_ring_window find_robust_start(struct airy_ring_task *task, double count)
{
    const airy_ring_rule *rule = &task->job->integrator->ring;
    struct airy_ring_bin *ring = &task->ring;
    double *x = task->tail.s, v = 0.0, omega2 = 0.0;
    ring->variances = variances_of(task, rule->clips_by);
    task->inner.half = -1.0;
    for (size_t i = 0; i < ring->count; i++)
        x[i] = value_of(ring, i);
    const double median = airy_select_nth(x, ring->count, (ring->count - 1) / 2),
                 top = airy_ring_lower_half(median);
    for (size_t i = 0; i < ring->count; i++) {
        const double weight = (double)ring->weight[i], factor = (double)ring->factor[i],
                     omega = ring->weights == AIRY_RING_UNWEIGHTED ? factor : weight * factor;
        if (value_of(ring, i) > top)
            continue;
        v += variance_at(ring, i);
        omega2 += omega * omega;
    }
    return (struct airy_ring_window){
        .pivot = median,
        .mid = median,
        .half = airy_ring_robust_limit(*rule, median, sqrt(v / omega2), count)};
}

void airy_rings_clip(struct airy_ring_task *task, double *out, size_t bins)
{
    const airy_ring_rule *rule = &task->job->integrator->ring;
    struct airy_ring_sums sums, next;
    double lo = -INFINITY, hi = INFINITY;
    bool anew = !airy_ring_starts_anew(*rule);
    find_core(task, rule->clips_by);
    struct airy_ring_window window = {.pivot = task->inner.pivot, .half = INFINITY}, narrower;
    airy_rings_sum(&sums, task, rule->clips_by, &window, NULL);
    const double count = sums.c, all = sums.kept;
    for (unsigned k = 0; k < rule->cycles && sums.omega != 0.0; k++) {
        const double mean = sums.s / sums.omega;
        const double limit = airy_ring_limit(*rule, mean, sqrt(sums.v / sums.omega2), sums.c);
        if (!(limit < INFINITY))
            break;
        lo = fmax(lo, mean - limit);
        hi = fmin(hi, mean + limit);
        narrower = (struct airy_ring_window){window.pivot, 0.5 * (lo + hi), 0.5 * (hi - lo)};
        if (task->inner.half < 0.0 || !has_core(task, &narrower, rule->clips_by))
            narrower.pivot = mean;
        airy_rings_sum(&next, task, rule->clips_by, &narrower, NULL);
        if (!anew && airy_ring_loses_most(next.kept, all)) {
            anew = true;
            narrower = find_robust_start(task, count);
            lo = narrower.mid - narrower.half;
            hi = narrower.mid + narrower.half;
            airy_rings_sum(&next, task, rule->clips_by, &narrower, NULL);
        } else if (next.kept == sums.kept) {
            break;
        }
        if (next.kept == 0.0)
            break;
        window = narrower;
        sums = next;
    }
    if (rule->leaves == AIRY_RING_ZERO)
        sums.v = 0.0;
    else if (rule->leaves != rule->clips_by)
        airy_rings_sum(&sums, task, rule->leaves, &window, NULL);
    airy_rings_put(out, bins, &sums);
}

/* As compat pyfai sums: one after another, the spread by recurrence. */
static void recur(struct airy_ring_sums *sums, const struct airy_ring_task *task, airy_u32 by)
{
    const struct airy_ring_bin *ring = &task->ring;
    *sums = (struct airy_ring_sums){.kept = (double)ring->count};
    for (size_t i = 0; i < ring->count; i++) {
        const double omega = task->tail.omega[i], x = task->tail.s[i] / omega;
        const double before = sums->s / sums->omega;
        const bool first = sums->omega == 0.0;
        sums->s += task->tail.s[i];
        sums->omega += omega;
        sums->omega2 += omega * omega;
        sums->c += task->tail.c[i];
        if (by == AIRY_RING_POISSON || by == AIRY_RING_GIVEN)
            sums->v += ring->v[i];
        else if (by == AIRY_RING_SPREAD && !first)
            sums->v += omega * omega * (x - before) * (x - sums->s / sums->omega);
    }
}

static void make_terms(struct airy_ring_task *task)
{
    const struct airy_ring_bin *ring = &task->ring;
    const bool unweighted = ring->weights == AIRY_RING_UNWEIGHTED;
    for (size_t i = 0; i < ring->count; i++) {
        const double weight = (double)ring->weight[i], factor = (double)ring->factor[i];
        task->tail.s[i] = weight * ring->raw[i];
        task->tail.omega[i] = unweighted ? factor : weight * factor;
        task->tail.c[i] = unweighted ? factor : weight;
    }
}

/* Leaves out what is too far from the mean, in this bin and in those to come. */
static void reject(struct airy_ring_task *task, double mean, double limit)
{
    struct airy_ring_bin *ring = &task->ring;
    size_t n = 0;
    for (size_t i = 0; i < ring->count; i++) {
        const uint32_t pixel = task->pixel[i];
        if (fabs(task->tail.s[i] / task->tail.omega[i] - mean) > limit) {
            task->gone[pixel / 64] |= (uint64_t)1 << pixel % 64;
            continue;
        }
        task->tail.s[n] = task->tail.s[i];
        task->tail.omega[n] = task->tail.omega[i];
        task->tail.c[n] = task->tail.c[i];
        ring->v[n] = ring->v[i];
        task->pixel[n++] = pixel;
    }
    ring->count = n;
}

void airy_rings_clip_compat(struct airy_ring_task *task, double *out, size_t bins)
{
    const airy_ring_rule *rule = &task->job->integrator->ring;
    struct airy_ring_sums sums;
    make_terms(task);
    recur(&sums, task, rule->clips_by);
    for (unsigned k = 0; k < rule->cycles && sums.omega != 0.0; k++) {
        const size_t before = task->ring.count;
        const double mean = sums.s / sums.omega;
        const double limit = airy_ring_limit(*rule, mean, sqrt(sums.v / sums.omega2), sums.c);
        if (!(limit < INFINITY))
            break;
        reject(task, mean, limit);
        if (task->ring.count == before)
            break;
        recur(&sums, task, rule->clips_by);
    }
    if (rule->leaves != rule->clips_by)
        recur(&sums, task, rule->leaves);
    airy_rings_put(out, bins, &sums);
}
