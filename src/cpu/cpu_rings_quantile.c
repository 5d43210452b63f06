/* The quantile filter of one bin. */
#include <math.h>
#include <stdlib.h>

#include "cpu/cpu_rings.h"

static int compare(const void *a, const void *b, void *arg)
{
    const double *x = arg;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    if (x[i] != x[j])
        return x[i] < x[j] ? -1 : 1;
    return i < j ? -1 : i > j;
}

/* Entries of `order` that pass, to its front. */
static size_t keep(struct airy_ring_task *task, double lower, double upper,
                   int (*passes)(double a, double b, double lower, double upper))
{
    double a = 0.0;
    size_t kept = 0;
    for (size_t k = 0; k < task->ring.count; k++) {
        const uint32_t i = task->order[k];
        const double b = a + task->g[i];
        if (passes(a, b, lower, upper))
            task->order[kept++] = i;
        a = b;
    }
    return kept;
}

static int is_kept(double a, double b, double lower, double upper)
{
    return airy_ring_keeps(a, b, lower, upper);
}

static int is_met(double a, double b, double lower, double upper)
{
    return airy_ring_meets(a, b, lower, upper);
}

void airy_ring_quantile(struct airy_ring_task *task, double scale, double *out, size_t bins)
{
    const airy_ring_rule *rule = &task->job->integrator->ring;
    const struct airy_ring *ring = &task->ring;
    double weight = 0.0;
    for (size_t i = 0; i < ring->count; i++) {
        task->x[i] = ring->s[i] / ring->omega[i];
        task->g[i] = rint(fabs(ring->omega[i]) * scale);
        weight += task->g[i];
        task->order[i] = (uint32_t)i;
    }
    const double lower = rule->quantile[0] * weight, upper = rule->quantile[1] * weight;
    qsort_r(task->order, ring->count, sizeof(*task->order), compare, task->x);
    size_t kept = keep(task, lower, upper, is_kept);
    if (kept == 0 && !rule->compat)
        kept = keep(task, lower, upper, is_met);
    double s = 0.0, omega = 0.0, omega2 = 0.0, c = 0.0, v = 0.0;
    for (size_t k = 0; k < kept; k++) {
        const uint32_t i = task->order[k];
        s += ring->s[i];
        omega += ring->omega[i];
        omega2 += ring->omega[i] * ring->omega[i];
        c += task->rings->ones ? 1.0 : ring->c[i];
        v += rule->leaves == AIRY_RING_POISSON || rule->leaves == AIRY_RING_GIVEN ? ring->v[i] : 0;
    }
    for (size_t k = 0; k < kept && rule->leaves == AIRY_RING_SPREAD; k++) {
        const uint32_t i = task->order[k];
        const double d = ring->s[i] - ring->omega[i] * (s / omega);
        v += d * d;
    }
    out[AIRY_SUM_SIGNAL * bins] = s;
    out[AIRY_SUM_VARIANCE * bins] = v;
    out[AIRY_SUM_NORMALIZATION * bins] = omega;
    out[AIRY_SUM_NORMALIZATION2 * bins] = omega2;
    out[AIRY_SUM_COUNT_PLANE * bins] = c;
}
