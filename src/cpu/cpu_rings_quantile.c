/*
 * The quantile filter of one bin. Entries near a cut are found by narrowing a window of values about
 * it, which a sample proposes; only these are sorted.
 */
#include <math.h>
#include <string.h>

#include "base/size.h"
#include "cpu/cpu_rings.h"

enum {
    SORTED = 32, /* a list of no more is sorted */
    FEW = 16,    /* of a longer list's entries, a sample */
    LONG = 1024, /* a list of more has a larger one */
    SAMPLE = 64,
    INSERTED = 16 /* sorted by insertion */
};

static void copy_entry(struct airy_ring_list *to, size_t k, const struct airy_ring_list *from,
                       size_t i)
{
    to->x[k] = from->x[i];
    to->g[k] = from->g[i];
    to->at[k] = from->at[i];
}

static void insert_sort(struct airy_ring_list *list, size_t first, size_t end)
{
    for (size_t i = first + 1; i < end; i++) {
        const double x = list->x[i], g = list->g[i];
        const uint32_t at = list->at[i];
        size_t k = i;
        for (; k > first && list->x[k - 1] > x; k--)
            copy_entry(list, k, list, k - 1);
        list->x[k] = x;
        list->g[k] = g;
        list->at[k] = at;
    }
}

/* By x; equal ones stay in order. From runs that insertion sorts, by merging, between two lists. */
static void sort_list(struct airy_ring_list *list, struct airy_ring_list *other)
{
    const size_t n = list->count;
    for (size_t i = 0; i < n; i += INSERTED)
        insert_sort(list, i, airy_min_size(i + INSERTED, n));
    for (size_t run = INSERTED; run < n; run *= 2) {
        for (size_t first = 0; first < n; first += 2 * run) {
            const size_t middle = airy_min_size(first + run, n),
                         end = airy_min_size(first + 2 * run, n);
            size_t i = first, j = middle;
            for (size_t k = first; k < end; k++)
                copy_entry(other, k, list,
                           j < end && (i == middle || list->x[j] < list->x[i]) ? j++ : i++);
        }
        const struct airy_ring_list swap = *list;
        *list = *other;
        *other = swap;
    }
    list->count = n;
}

/* Those of rank lo and hi of a sample of FEW. */
static void rank_few(double found[2], const struct airy_ring_list *list, size_t lo, size_t hi)
{
    double x[FEW];
    for (size_t k = 0; k < FEW; k++) {
        const double value = list->x[(2 * k + 1) * list->count / (2 * FEW)];
        size_t i = k;
        for (; i > 0 && x[i - 1] > value; i--)
            x[i] = x[i - 1];
        x[i] = value;
    }
    found[0] = x[lo];
    found[1] = x[hi];
}

/*
 * Values that have the target between them, more likely than not, as a sample has it; weights and
 * values have little to do with each other. The rank errs by sqrt(n p (1 - p)): short lists are
 * taken again cheaply, and have a window of 1.2 times that on either side, long ones of 2.5.
 */
static void propose(double window[2], const struct airy_ring_list *list, double part,
                    const struct airy_ring_kernels *kernels)
{
    const bool few = list->count <= LONG;
    const double n = few ? FEW : SAMPLE, rank = part * n,
                 wide = (few ? 1.2 : 2.5) * sqrt(rank * (1.0 - part)) + 1.0;
    const double lo = floor(rank - wide), hi = ceil(rank + wide);
    const size_t first = (size_t)fmax(lo, 0.0), last = (size_t)fmin(hi, n - 1.0);
    if (few) {
        rank_few(window, list, first, last);
    } else {
        double x[SAMPLE];
        for (size_t k = 0; k < SAMPLE; k++)
            x[k] = list->x[(2 * k + 1) * list->count / (2 * SAMPLE)];
        kernels->ranked(window, x, SAMPLE, first, last);
    }
    if (lo < 0.0)
        window[0] = -INFINITY;
    if (hi >= n)
        window[1] = INFINITY;
}

/* A part of the entries: all others come before it, with this weight, or behind it. */
struct part {
    struct airy_ring_list list;
    double weight;
    double own; /* of the list itself */
};

static void take_all(struct part *part, struct airy_ring_task *task)
{
    struct airy_ring_list *list = &task->list[0];
    const size_t n = task->all.count;
    memcpy(list->x, task->all.x, n * sizeof(*list->x));
    memcpy(list->g, task->all.g, n * sizeof(*list->g));
    for (size_t i = 0; i < n; i++)
        list->at[i] = (uint32_t)i;
    list->count = n;
    *part = (struct part){.list = *list};
}

/* One narrowing; false: it does not get shorter. */
static bool narrow(struct part *part, struct airy_ring_task *task, struct airy_ring_list *to,
                   double target)
{
    const struct airy_ring_list from = part->list;
    double window[2], weights[2];
    propose(window, &from, fmin(fmax((target - part->weight) / part->own, 0.0), 1.0),
            task->kernels);
    for (int again = 0; again < 2; again++) {
        const size_t before = task->kernels->split(to, weights, &from, window[0], window[1]);
        const double below = part->weight + weights[0];
        /* One entry at least of those that are left ends before the target, one begins after it. */
        const bool low = before == 0 || below + task->heaviest < target,
                   high = before + to->count == from.count ||
                          below + weights[1] - task->heaviest > target;
        if (low && high) {
            if (to->count == from.count)
                return false;
            part->list = *to;
            part->weight = below;
            part->own = weights[1];
            return true;
        }
        window[0] = low ? window[0] : -INFINITY;
        window[1] = high ? window[1] : INFINITY;
    }
    return false;
}

/*
 * The sorted part about a target. What comes before it ends before the target, and what comes behind
 * it begins after it; so do its first and last entry, where there are others.
 */
static void find_part(struct part *part, struct airy_ring_task *task, double target, double all)
{
    unsigned k = 0;
    *part = (struct part){.list = task->all, .own = all};
    while (part->list.count > SORTED && narrow(part, task, &task->list[k], target))
        k = !k;
    if (!part->list.at)
        take_all(part, task);
    struct airy_ring_list other = task->list[part->list.at == task->list[0].at];
    sort_list(&part->list, &other);
}

/* The first or last of a part's entries that the rule keeps, or, with meets, that meet. */
static bool find_end(double *x, double *at, const struct part *part, bool last, bool meets,
                     double lower, double upper)
{
    const struct airy_ring_list *list = &part->list;
    double a = part->weight;
    bool found = false;
    for (size_t k = 0; k < list->count; k++) {
        const double b = a + list->g[k];
        const bool kept = meets ? airy_ring_meets(a, b, lower, upper)
                                : airy_ring_keeps(a, b, lower, upper);
        if (kept && (last || !found)) {
            *x = list->x[k];
            *at = (double)list->at[k];
            found = true;
        }
        a = b;
    }
    return found;
}

/* A run that lies in a sorted list, entry by entry. */
static void sum_listed(struct airy_ring_sums *sums, struct airy_ring_task *task,
                       const struct airy_ring_list *list, const struct airy_ring_run *run)
{
    double raw[SORTED + AIRY_RING_LANES], v[SORTED + AIRY_RING_LANES] = {0};
    float weight[SORTED + AIRY_RING_LANES] = {0}, factor[SORTED + AIRY_RING_LANES] = {0};
    const struct airy_ring_bin all = task->ring;
    struct airy_ring_bin ring = all;
    bool on = false;
    ring.count = 0;
    for (size_t k = 0; k < list->count; k++) {
        const uint32_t at = list->at[k];
        on = on || (double)at == run->first_at;
        if (!on)
            continue;
        raw[ring.count] = all.raw[at];
        weight[ring.count] = all.weight[at];
        factor[ring.count] = all.factor[at];
        v[ring.count++] = all.v[at];
        if ((double)at == run->last_at)
            break;
    }
    for (size_t k = 0; k < AIRY_RING_LANES; k++)
        raw[ring.count + k] = NAN;
    ring.raw = raw;
    ring.weight = weight;
    ring.factor = factor;
    ring.v = v;
    task->ring = ring;
    airy_rings_sum(sums, task, task->job->integrator->ring.leaves,
                   &(struct airy_ring_window){.pivot = run->first, .half = INFINITY}, NULL);
    task->ring = all;
}

/* False: no entry is kept. */
static bool sum_quantile(struct airy_ring_sums *sums, struct airy_ring_task *task, double weight)
{
    const airy_ring_rule *rule = &task->job->integrator->ring;
    const double lower = rule->quantile[0] * weight, upper = rule->quantile[1] * weight;
    struct part part;
    double first[2][2], last[2][2];
    bool found[2], found_last[2];
    find_part(&part, task, lower, weight);
    for (int meets = 0; meets < 2; meets++)
        found[meets] =
            find_end(&first[meets][0], &first[meets][1], &part, false, meets, lower, upper);
    if (upper > lower)
        find_part(&part, task, upper, weight);
    for (int meets = 0; meets < 2; meets++)
        found_last[meets] =
            find_end(&last[meets][0], &last[meets][1], &part, true, meets, lower, upper);
    const int meets = !(found[0] && found_last[0]);
    if (!found[meets] || !found_last[meets] || (meets && rule->compat))
        return false;
    const struct airy_ring_run run = {.first = first[meets][0],
                                      .first_at = first[meets][1],
                                      .last = last[meets][0],
                                      .last_at = last[meets][1],
                                      .x = task->all.x};
    if (upper == lower && part.list.count <= SORTED)
        sum_listed(sums, task, &part.list, &run);
    else
        airy_rings_sum(sums, task, rule->leaves, &(struct airy_ring_window){.pivot = run.first},
                       &run);
    return true;
}

void airy_rings_quantile(struct airy_ring_task *task, double scale, double *out, size_t bins)
{
    struct airy_ring_sums sums;
    const double weight =
        task->kernels->values(task->all.x, task->all.g, &task->heaviest, &task->ring, scale);
    task->inner.half = -1.0;
    task->all.count = task->ring.count;
    if (!sum_quantile(&sums, task, weight))
        return;
    if (task->job->integrator->ring.leaves == AIRY_RING_ZERO)
        sums.v = 0.0;
    airy_rings_put(out, bins, &sums);
}
