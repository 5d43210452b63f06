/* Sigma clipping of the entries of one bin. */
#include <math.h>
#include <string.h>

#include "cpu/cpu_rings.h"

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

static void sum_once(struct airy_ring_sums *sums, const struct airy_ring_task *task,
                     const struct airy_ring_bin *ring, double pivot, double mid, double half,
                     const struct airy_ring_run *run)
{
    if (run)
        task->kernels->sum_run(sums, ring, run, pivot);
    else
        task->kernels->sum(sums, ring, pivot, mid, half);
}

void airy_rings_sum(struct airy_ring_sums *sums, const struct airy_ring_task *task, airy_u32 by,
                    double pivot, double mid, double half, const struct airy_ring_run *run)
{
    struct airy_ring_bin ring = task->ring;
    ring.c = task->rings->ones ? NULL : ring.c;
    if (by == AIRY_RING_SPREAD || by == AIRY_RING_ZERO)
        ring.v = NULL;
    sum_once(sums, task, &ring, pivot, mid, half, run);
    if (by != AIRY_RING_SPREAD || sums->kept == 0.0 || sums->omega == 0.0)
        return;
    bool near;
    const double mean = sums->s / sums->omega;
    sums->v = spread_of(sums, pivot, mean, &near);
    if (!near) {
        sum_once(sums, task, &ring, mean, mid, half, run);
        sums->v = spread_of(sums, mean, mean, &near);
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

void airy_rings_clip(struct airy_ring_task *task, double *out, size_t bins)
{
    const airy_ring_rule *rule = &task->job->integrator->ring;
    struct airy_ring_sums sums, next;
    double lo = -INFINITY, hi = INFINITY, mid = 0.0, half = INFINITY;
    airy_rings_sum(&sums, task, rule->clips_by, task->ring.s[0] / task->ring.omega[0], mid, half,
                   NULL);
    for (unsigned k = 0; k < rule->cycles && sums.omega != 0.0; k++) {
        const double mean = sums.s / sums.omega;
        const double limit = airy_ring_limit(*rule, mean, sqrt(sums.v / sums.omega2), sums.c);
        if (!(limit < INFINITY))
            break;
        lo = fmax(lo, mean - limit);
        hi = fmin(hi, mean + limit);
        airy_rings_sum(&next, task, rule->clips_by, mean, 0.5 * (lo + hi), 0.5 * (hi - lo), NULL);
        if (next.kept == 0.0 || next.kept == sums.kept)
            break;
        mid = 0.5 * (lo + hi);
        half = 0.5 * (hi - lo);
        sums = next;
    }
    if (rule->leaves == AIRY_RING_ZERO)
        sums.v = 0.0;
    else if (rule->leaves != rule->clips_by)
        airy_rings_sum(&sums, task, rule->leaves, 0.0, mid, half, NULL);
    airy_rings_put(out, bins, &sums);
}

/* As compat pyfai sums: one after another, the spread by recurrence. */
static void recur(struct airy_ring_sums *sums, const struct airy_ring_task *task, airy_u32 by)
{
    const struct airy_ring_bin *ring = &task->ring;
    *sums = (struct airy_ring_sums){.kept = (double)ring->count};
    for (size_t i = 0; i < ring->count; i++) {
        const double omega = ring->omega[i], x = ring->s[i] / omega;
        const double before = sums->s / sums->omega;
        const bool first = sums->omega == 0.0;
        sums->s += ring->s[i];
        sums->omega += omega;
        sums->omega2 += omega * omega;
        sums->c += task->rings->ones ? 1.0 : ring->c[i];
        if (by == AIRY_RING_POISSON || by == AIRY_RING_GIVEN)
            sums->v += ring->v[i];
        else if (by == AIRY_RING_SPREAD && !first)
            sums->v += omega * omega * (x - before) * (x - sums->s / sums->omega);
    }
}

/* Leaves out what is too far from the mean, in this bin and in those to come. */
static void reject(struct airy_ring_task *task, double mean, double limit)
{
    struct airy_ring_bin *ring = &task->ring;
    size_t n = 0;
    for (size_t i = 0; i < ring->count; i++) {
        const uint32_t pixel = task->pixel[i];
        if (fabs(ring->s[i] / ring->omega[i] - mean) > limit) {
            task->gone[pixel / 64] |= (uint64_t)1 << pixel % 64;
            continue;
        }
        ring->s[n] = ring->s[i];
        ring->omega[n] = ring->omega[i];
        ring->c[n] = ring->c[i];
        ring->v[n] = ring->v[i];
        task->pixel[n++] = pixel;
    }
    ring->count = n;
}

void airy_rings_clip_compat(struct airy_ring_task *task, double *out, size_t bins)
{
    const airy_ring_rule *rule = &task->job->integrator->ring;
    struct airy_ring_sums sums;
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
