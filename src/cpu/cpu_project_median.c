/*
 * Medians of lists, on vectors: a sorted sample says between which two of its elements the wanted one
 * should be; those between are gathered, and it is looked for among them.
 */
#include <math.h>

#include "base/size.h"
#include "cpu/cpu_project.h"
#include "cpu/cpu_reduce.h"
#include "shared/middle.h"

enum { SAMPLE = 16, MARGIN = 3, FEW = 32 };

/* Filled with NaN, which no comparison admits; the padded count. */
static size_t pad(double *v, size_t n)
{
    const size_t padded = airy_align_up(n, AIRY_REDUCE_GROUP);
    for (size_t i = n; i < padded; i++)
        v[i] = (double)NAN;
    return padded;
}

static void take_sample(double *sample, const double *v, size_t n)
{
    for (size_t i = 0; i < SAMPLE; i++) {
        const double x = v[(2 * i + 1) * n / (2 * SAMPLE)];
        size_t k = i;
        for (; k > 0 && sample[k - 1] > x; k--)
            sample[k] = sample[k - 1];
        sample[k] = x;
    }
}

/* The element with k smaller ones before it; the list is reordered about it. */
static double select_few(double *v, size_t n, size_t k)
{
    size_t lo = 0, hi = n - 1;
    while (lo < hi) {
        const double pivot = v[lo + (hi - lo) / 2];
        size_t i = lo, j = hi;
        for (;;) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i >= j)
                break;
            const double t = v[i];
            v[i++] = v[j];
            v[j--] = t;
        }
        /* v[..j] <= pivot <= v[j + 1..], and j < hi */
        if (k <= j)
            hi = j;
        else
            lo = j + 1;
    }
    return v[k];
}

/* The same; the list stays as it is where it is long. */
static double select_element(double *v, size_t n, size_t k, double *scratch)
{
    const struct airy_reduce_kernels *kernels = airy_reduce_kernels();
    const double infinity = (double)INFINITY;
    double sample[SAMPLE], *next = scratch, *other = scratch + airy_align_up(n, AIRY_REDUCE_GROUP);
    while (n > FEW) {
        take_sample(sample, v, n);
        const size_t at = k * SAMPLE / n;
        double lo = at < MARGIN ? -infinity : sample[at - MARGIN],
               hi = at + MARGIN < SAMPLE ? sample[at + MARGIN] : infinity;
        const size_t padded = pad(v, n),
                     below = lo > -infinity
                                 ? kernels->count(v, padded, -infinity, nextafter(lo, -infinity))
                                 : 0,
                     up_to = kernels->count(v, padded, -infinity, hi);
        size_t before = below, inside = up_to - below;
        if (k < below) {
            hi = nextafter(lo, -infinity);
            lo = -infinity;
            before = 0;
            inside = below;
        } else if (k >= up_to) {
            lo = nextafter(hi, infinity);
            hi = infinity;
            before = up_to;
            inside = n - up_to;
        } else if (lo == hi) {
            return lo;
        }
        if (inside > n - n / 8) /* many are equal */
            break;
        kernels->gather(next, v, padded, lo, hi);
        k -= before;
        n = inside;
        v = next;
        next = other;
        other = v;
    }
    return select_few(v, n, k);
}

/* Those that are no NaN to the front; how many. */
static size_t drop_nans(double *v, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        v[k] = v[i];
        k += !isnan(v[i]);
    }
    return k;
}

double airy_project_median(double *v, size_t n, bool skip_nan, double *scratch)
{
    const struct airy_reduce_kernels *kernels = airy_reduce_kernels();
    const double infinity = (double)INFINITY;
    if (kernels->count(v, pad(v, n), -infinity, infinity) < n)
        n = skip_nan ? drop_nans(v, n) : 0;
    if (n == 0)
        return (double)NAN;
    if (n % 2)
        return select_element(v, n, n / 2, scratch);
    const double lower = select_element(v, n, n / 2 - 1, scratch);
    const size_t padded = pad(v, n);
    double upper = lower;
    if (kernels->count(v, padded, -infinity, lower) == n / 2) {
        struct airy_reduce_moments above;
        kernels->moments(&above, v, padded, 0, nextafter(lower, infinity), infinity);
        upper = above.min;
    }
    return airy_middle(lower, upper);
}
