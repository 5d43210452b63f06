#include "ref_reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The finite, unmasked elements, ascending; free it. */
static double *sorted(const double *x, const uint8_t *mask, size_t n, size_t *count)
{
    double *v = calloc(n + 1, sizeof(*v));
    *count = 0;
    for (size_t i = 0; v && i < n; i++)
        if (isfinite(x[i]) && !(mask && mask[i]))
            v[(*count)++] = x[i];
    if (v)
        qsort(v, *count, sizeof(*v), compare);
    return v;
}

static double middle(const double *v, size_t count)
{
    return count == 0 ? (double)NAN : (v[(count - 1) / 2] + v[count / 2]) / 2;
}

double ref_quantile(const double *x, const uint8_t *mask, size_t n, double fraction)
{
    size_t count;
    double *v = sorted(x, mask, n, &count), value = (double)NAN;
    if (v && count) {
        const double at = fraction * (double)(count - 1);
        const size_t i = (size_t)at, next = i + 1 < count ? i + 1 : i;
        value = v[i] + (v[next] - v[i]) * (at - (double)i);
    }
    free(v);
    return value;
}

/* Moments of ascending values. */
static void sum_up(struct ref_statistics *s, const double *v, size_t count)
{
    long double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += v[i];
    const long double mean = sum / (long double)count;
    for (size_t i = 0; i < count; i++)
        squares += (v[i] - mean) * (v[i] - mean);
    s->sum = (double)sum;
    s->mean = (double)mean;
    s->std = (double)sqrtl(squares / (long double)count);
    s->median = middle(v, count);
}

/* The middle distance of values from their median; v is lost. */
static double deviation(double *v, size_t count, double median)
{
    for (size_t i = 0; i < count; i++)
        v[i] = fabs(v[i] - median);
    qsort(v, count, sizeof(*v), compare);
    return middle(v, count);
}

void ref_counts(struct ref_statistics *s, const double *x, const uint8_t *mask, size_t n)
{
    memset(s, 0, sizeof(*s));
    s->min = s->max = s->sum = s->mean = s->std = s->median = s->mad = (double)NAN;
    for (size_t i = 0; i < n; i++) {
        if (mask && mask[i])
            s->masked++;
        else if (isnan(x[i]))
            s->nan++;
        else if (isinf(x[i]))
            s->infinite++;
        else if (s->count++ == 0 || x[i] < s->min) {
            s->min = x[i];
            s->min_at = i;
        }
    }
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i]) && !(mask && mask[i]) && !(x[i] <= s->max)) {
            s->max = x[i];
            s->max_at = i;
        }
}

void ref_statistics(struct ref_statistics *s, const double *x, const uint8_t *mask, size_t n)
{
    ref_counts(s, x, mask, n);
    if (s->count == 0)
        return;
    size_t count;
    double *v = sorted(x, mask, n, &count);
    if (v) {
        sum_up(s, v, count);
        s->mad = deviation(v, count, s->median);
    }
    free(v);
}

/* Sorted once: a clip takes values off both ends. */
uint64_t ref_clip(struct ref_statistics *s, uint8_t *keep, const double *x, const uint8_t *mask,
                  size_t n, const struct ref_clip *p)
{
    uint8_t *out = calloc(n + 1, 1);
    double *copy = calloc(n + 1, sizeof(*copy));
    size_t count, first = 0, last;
    double *v = sorted(x, mask, n, &count);
    uint64_t passes = 0;
    last = count;
    for (bool removed = v && copy;
         first < last && removed && (!p->iterations || passes < p->iterations); passes++) {
        struct ref_statistics left = {0};
        sum_up(&left, v + first, last - first);
        if (p->mad) {
            memcpy(copy, v + first, (last - first) * sizeof(*v));
            left.mad = deviation(copy, last - first, left.median);
        }
        const double center = p->mean ? left.mean : left.median,
                     spread = p->mad ? 1.482602218505602 * left.mad : left.std;
        const double lo = center - p->kappa_low * spread, hi = center + p->kappa_high * spread;
        const size_t before = last - first;
        while (first < last && !(p->inclusive ? v[first] >= lo : v[first] > lo))
            first++;
        while (first < last && !(p->inclusive ? v[last - 1] <= hi : v[last - 1] < hi))
            last--;
        removed = last - first < before;
    }
    for (size_t i = 0; v && out && i < n; i++) {
        keep[i] = first < last && !(mask && mask[i]) && x[i] >= v[first] && x[i] <= v[last - 1];
        out[i] = !keep[i];
    }
    if (v && out)
        ref_statistics(s, x, out, n);
    free(v);
    free(copy);
    free(out);
    return passes;
}
