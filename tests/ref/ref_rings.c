#include "ref_rings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    size_t pixel;
    double raw, dark, weight, omega, c, x, g;
    int kept;
};

/* All entries of a bin that take part, in ascending order of pixels. */
struct bin {
    struct entry *entries;
    size_t count;
    double all, all_omega2; /* over entries of pixels that are left out, too */
    double s, omega, omega2, c, kept;
};

static void add_kept(struct bin *b)
{
    b->s = b->omega = b->omega2 = b->c = b->kept = 0;
    for (size_t i = 0; i < b->count; i++) {
        const struct entry *e = &b->entries[i];
        if (!e->kept)
            continue;
        b->s += e->weight * (e->raw - e->dark);
        b->omega += e->omega;
        b->omega2 += e->omega * e->omega;
        b->c += e->c;
        b->kept += 1;
    }
}

static double variance_of(const struct bin *b, const struct ref_matrix *m,
                          const struct ref_ring_rules *rules, enum ref_ring_variance by)
{
    double v = 0, s = 0, omega = 0;
    for (size_t i = 0; i < b->count; i++) {
        const struct entry *e = &b->entries[i];
        if (!e->kept)
            continue;
        if (by == REF_RING_POISSON)
            v += e->weight * e->weight * (e->raw > 1 ? e->raw : 1);
        if (by == REF_RING_GIVEN)
            v += e->weight * e->weight * (double)m->variance[e->pixel];
        if (by == REF_RING_SPREAD && rules->compat) {
            const double before = s / omega;
            const int first = omega == 0;
            s += e->omega * e->x;
            omega += e->omega;
            v += first ? 0 : e->omega * e->omega * (e->x - before) * (e->x - s / omega);
        }
        if (by == REF_RING_SPREAD && !rules->compat)
            v += e->omega * e->omega * (e->x - b->s / b->omega) * (e->x - b->s / b->omega);
    }
    return v;
}

/* Rejects what is farther than limit from the mean; how many are left. */
static size_t reject(struct bin *b, double mean, double limit, unsigned char *doubtful)
{
    size_t left = 0;
    for (size_t i = 0; i < b->count; i++) {
        struct entry *e = &b->entries[i];
        const double distance = fabs(e->x - mean);
        if (!e->kept)
            continue;
        if (fabs(distance - limit) <= 0x1p-36 * (fabs(e->x) + fabs(mean)) && limit > 0 &&
            limit > 0x1p-39 * fabs(mean))
            *doubtful = 1;
        e->kept = distance <= limit;
        left += e->kept != 0;
    }
    return left;
}

static int compare_x(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

/* All entries within at least 3 standard deviations of the lower median, that of the lower half. */
static size_t start_anew(struct bin *b, const struct ref_matrix *m,
                         const struct ref_ring_rules *rules, double count, unsigned char *doubtful)
{
    double *x = malloc(b->count * sizeof *x), omega2 = 0;
    for (size_t i = 0; i < b->count; i++)
        x[i] = b->entries[i].x;
    qsort(x, b->count, sizeof *x, compare_x);
    const double median = x[(b->count - 1) / 2];
    for (size_t i = 0; i < b->count; i++) {
        struct entry *e = &b->entries[i];
        e->kept = e->x - median <= 0x1p-40 * fabs(median);
        omega2 += e->kept ? e->omega * e->omega : 0;
    }
    const double std = sqrt(variance_of(b, m, rules, rules->clips_by) / omega2);
    double cutoff = sqrt(2 * log(fmax(count, 3) / sqrt(2 * 3.14159265358979323846)));
    cutoff = fmax(fmax(cutoff, rules->threshold), 3);
    for (size_t i = 0; i < b->count; i++)
        b->entries[i].kept = 1;
    free(x);
    return reject(b, median, fmax(cutoff * std, 0x1p-40 * fabs(median)), doubtful);
}

static void clip(struct bin *b, const struct ref_matrix *m, const struct ref_ring_rules *rules,
                 unsigned char *doubtful)
{
    int *before = malloc((b->count + 1) * sizeof *before);
    int anew = rules->compat || rules->clips_by == REF_RING_SPREAD;
    add_kept(b);
    const double count = b->c;
    for (unsigned k = 0; k < rules->cycles && b->omega != 0; k++) {
        const double mean = b->s / b->omega;
        const double std = sqrt(variance_of(b, m, rules, rules->clips_by) / b->omega2);
        const double n = b->c > 3 ? b->c : 3;
        double cutoff = sqrt(2 * log(n / sqrt(2 * 3.14159265358979323846)));
        if (rules->threshold > cutoff)
            cutoff = rules->threshold;
        double limit = cutoff * std;
        if (!rules->compat && limit < 0x1p-40 * fabs(mean))
            limit = 0x1p-40 * fabs(mean);
        for (size_t i = 0; i < b->count; i++)
            before[i] = b->entries[i].kept;
        size_t left = reject(b, mean, limit, doubtful);
        int same = (double)left == b->kept;
        if (2 * left < b->count && !anew) {
            anew = 1;
            same = 0;
            left = start_anew(b, m, rules, count, doubtful);
        }
        if (left == 0 && !rules->compat)
            for (size_t i = 0; i < b->count; i++)
                b->entries[i].kept = before[i];
        add_kept(b);
        if (same || left == 0)
            break;
    }
    free(before);
}

static int by_value(const void *a, const void *b)
{
    const struct entry *p = a, *q = b;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return p->pixel < q->pixel ? -1 : p->pixel > q->pixel;
}

static void filter(struct bin *b, const struct ref_ring_rules *rules)
{
    double weight = 0;
    int exponent;
    frexp(sqrt(b->all * b->all_omega2) * (1 + 0x1p-40), &exponent);
    for (size_t i = 0; i < b->count; i++) {
        b->entries[i].g = rint(ldexp(fabs(b->entries[i].omega), 52 - exponent));
        weight += b->entries[i].g;
    }
    const double lower = rules->lower * weight, upper = rules->upper * weight;
    qsort(b->entries, b->count, sizeof *b->entries, by_value);
    for (int meets = 0; meets <= !rules->compat; meets++) {
        double from = 0;
        size_t kept = 0;
        for (size_t i = 0; i < b->count; i++) {
            struct entry *e = &b->entries[i];
            const double to = from + e->g;
            e->kept = meets ? from <= upper && lower <= to
                            : (lower <= from && to <= upper) || (from <= lower && upper <= to);
            kept += e->kept != 0;
            from = to;
        }
        if (kept > 0)
            break;
    }
    add_kept(b);
}

static void collect(struct bin *bins, const struct ref_matrix *m, const double *frame,
                    const struct ref_ring_rules *rules)
{
    for (int pass = 0; pass < 2; pass++) {
        for (size_t b = 0; b < m->bins; b++) {
            if (pass == 1)
                bins[b].entries = calloc(bins[b].count + 1, sizeof(struct entry));
            bins[b].count = 0;
        }
        for (size_t i = 0; i < m->pixels; i++)
            for (uint32_t k = m->start[i]; k < m->start[i + 1]; k++) {
                struct bin *b = &bins[m->bin[k]];
                const double omega = (double)m->coef[k] * (double)m->norm[i];
                if (pass == 0) {
                    b->all += 1;
                    b->all_omega2 += omega * omega;
                }
                if (!isfinite(frame[i]) || (frame[i] >= rules->lo && frame[i] <= rules->hi) ||
                    omega == 0)
                    continue;
                if (pass == 1) {
                    struct entry *e = &b->entries[b->count];
                    *e = (struct entry){.pixel = i,
                                        .raw = frame[i],
                                        .dark = m->dark ? (double)m->dark[i] : 0,
                                        .weight = (double)m->weight[k],
                                        .omega = omega,
                                        .c = (double)m->coef[k],
                                        .kept = 1};
                    e->x = e->weight * (e->raw - e->dark) / omega;
                }
                b->count++;
            }
    }
}

/* Terms are rounded 4 times, partial sums of n of them once each. */
static void put(double *sums, double *tolerance, const struct bin *b, const struct ref_matrix *m,
                const struct ref_ring_rules *rules)
{
    const double eps = 16 * ((double)b->count + 8) * 0x1p-53;
    const double v = variance_of(b, m, rules, rules->leaves);
    const double out[5] = {b->s, v, b->omega, b->omega2, b->c};
    double s = 0, spread = 0, omega = 0, mean = 0;
    for (size_t i = 0; i < b->count; i++) {
        const struct entry *e = &b->entries[i];
        if (!e->kept)
            continue;
        s += fabs(e->weight) * (fabs(e->raw) + fabs(e->dark));
        omega += fabs(e->omega);
    }
    mean = b->omega != 0 ? s / fabs(b->omega) : 0;
    for (size_t i = 0; i < b->count; i++) {
        const struct entry *e = &b->entries[i];
        if (e->kept)
            spread +=
                pow(fabs(e->weight) * (fabs(e->raw) + fabs(e->dark)) + fabs(e->omega) * mean, 2);
    }
    const double scale[5] = {s, rules->leaves == REF_RING_SPREAD ? spread : v, omega, b->omega2,
                             b->c};
    for (size_t k = 0; k < 5; k++) {
        sums[k * m->bins] = out[k];
        tolerance[k * m->bins] = eps * scale[k];
    }
}

void ref_rings(double *sums, double *tolerance, unsigned char *doubtful, const struct ref_matrix *m,
               const double *frame, const struct ref_ring_rules *rules)
{
    struct bin *bins = calloc(m->bins, sizeof *bins);
    unsigned char *gone = calloc(m->pixels, 1);
    memset(doubtful, 0, m->bins);
    collect(bins, m, frame, rules);
    for (size_t b = 0; b < m->bins; b++) {
        for (size_t i = 0; i < bins[b].count; i++)
            bins[b].entries[i].kept = !gone[bins[b].entries[i].pixel];
        if (rules->quantile)
            filter(&bins[b], rules);
        else
            clip(&bins[b], m, rules, &doubtful[b]);
        put(sums + b, tolerance + b, &bins[b], m, rules);
        for (size_t i = 0; i < bins[b].count && rules->compat && !rules->quantile; i++)
            gone[bins[b].entries[i].pixel] |= !bins[b].entries[i].kept;
        free(bins[b].entries);
    }
    free(gone);
    free(bins);
}
