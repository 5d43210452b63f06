#include "ref_rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ref_rank(void *dst, const void *src, const struct ref_rank *p)
{
    const char *from = src;
    char *to = dst, *seen = malloc(p->k[0] * p->k[1] * p->k[2] * p->elem);
    for (size_t z = 0; z < p->n[0]; z++)
        for (size_t y = 0; y < p->n[1]; y++)
            for (size_t x = 0; x < p->n[2]; x++, to += p->elem) {
                size_t count = 0, at = 0;
                for (size_t c = 0; c < p->k[0]; c++)
                    for (size_t b = 0; b < p->k[1]; b++)
                        for (size_t a = 0; a < p->k[2]; a++, at++) {
                            if (p->footprint && !p->footprint[at])
                                continue;
                            const long i = ref_border_index((long)(z + c) - (long)p->before[0],
                                                            (long)p->n[0], p->border),
                                       j = ref_border_index((long)(y + b) - (long)p->before[1],
                                                            (long)p->n[1], p->border),
                                       k = ref_border_index((long)(x + a) - (long)p->before[2],
                                                            (long)p->n[2], p->border);
                            const char *element =
                                i < 0 || j < 0 || k < 0
                                    ? p->value
                                    : from + (((size_t)i * p->n[1] + (size_t)j) * p->n[2] +
                                              (size_t)k) *
                                                 p->elem;
                            memcpy(seen + count++ * p->elem, element, p->elem);
                        }
                qsort(seen, count, p->elem, p->compare);
                memcpy(to, seen + p->rank * p->elem, p->elem);
            }
    free(seen);
}

/* NaN behind all numbers, -0 in front of 0. */
static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    if (isnan(x) || isnan(y))
        return (isnan(x) != 0) - (isnan(y) != 0);
    return x == y ? (signbit(y) != 0) - (signbit(x) != 0) : (x > y) - (x < y);
}

/* The elements under the box of element (z, y, x); how many. */
static size_t look_around(double *seen, const double *src, const struct ref_hampel *p, size_t z,
                          size_t y, size_t x)
{
    size_t count = 0;
    for (size_t c = 0; c < p->k[0]; c++)
        for (size_t b = 0; b < p->k[1]; b++)
            for (size_t a = 0; a < p->k[2]; a++) {
                const long i = ref_border_index((long)(z + c) - (long)(p->k[0] / 2), (long)p->n[0],
                                                p->border),
                           j = ref_border_index((long)(y + b) - (long)(p->k[1] / 2), (long)p->n[1],
                                                p->border),
                           k = ref_border_index((long)(x + a) - (long)(p->k[2] / 2), (long)p->n[2],
                                                p->border);
                const bool outside = i < 0 || j < 0 || k < 0;
                seen[count++] = outside
                                    ? p->value
                                    : src[((size_t)i * p->n[1] + (size_t)j) * p->n[2] + (size_t)k];
            }
    return count;
}

void ref_hampel(double *dst, const double *src, const struct ref_hampel *p)
{
    double *seen = malloc(p->k[0] * p->k[1] * p->k[2] * sizeof(*seen));
    for (size_t z = 0; z < p->n[0]; z++)
        for (size_t y = 0; y < p->n[1]; y++)
            for (size_t x = 0; x < p->n[2]; x++) {
                const size_t n = look_around(seen, src, p, z, y, x);
                qsort(seen, n, sizeof(*seen), compare_numbers);
                const double median = seen[n / 2];
                for (size_t i = 0; i < n; i++)
                    seen[i] = fabs(seen[i] - median);
                qsort(seen, n, sizeof(*seen), compare_numbers);
                const double limit = p->kappa * 1.482602218505602 * seen[n / 2];
                const double element = src[(z * p->n[1] + y) * p->n[2] + x];
                *dst++ = fabs(element - median) > limit ? median : element;
            }
    free(seen);
}
