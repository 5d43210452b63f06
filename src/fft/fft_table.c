#include "fft/fft_table.h"

#include <math.h>

void airy_fft_factor(double *c, double *s, size_t k, size_t n)
{
    /* An eighth of the circle has angles whose cosine and sine are exact to the last place. */
    const double pi = 3.14159265358979323846;
    k %= n;
    const size_t eighth = 8 * k / n, in_pair = eighth % 2;
    const size_t from = eighth / 2 * n;                     /* of 4 k: the quarter's beginning */
    const double part = (double)(4 * k - from) / (double)n; /* of a quarter */
    const double angle = 0.5 * pi * (in_pair ? 1 - part : part);
    const double near = cos(angle), far = sin(angle);
    const double x = in_pair ? far : near, y = in_pair ? near : far;
    switch (eighth / 2) {
    case 0:
        *c = x, *s = -y;
        break;
    case 1:
        *c = -y, *s = -x;
        break;
    case 2:
        *c = -x, *s = y;
        break;
    default:
        *c = y, *s = x;
        break;
    }
}

void airy_fft_circle(double *table, size_t n)
{
    /* An eighth is worked out; the others have the same numbers in other places. */
    for (size_t k = 0; 8 * k <= n; k++)
        airy_fft_factor(&table[2 * k], &table[2 * k + 1], k, n);
    for (size_t k = n / 8 + 1; k < n; k++) {
        double *to = table + 2 * k;
        const double *from = table + 2 * (4 * k <= n ? n / 4 - k : k - n / 4);
        to[0] = 4 * k <= n ? -from[1] : from[1];
        to[1] = -from[0];
    }
}

void airy_fft_by_halves(double *x, const double *circle, size_t n)
{
    for (size_t i = 1, j = 0; i < n; i++) { /* elements in the order of reversed bits */
        size_t bit = n / 2;
        for (; j & bit; bit /= 2)
            j ^= bit;
        j |= bit;
        for (size_t k = 0; k < 2 && i < j; k++) {
            const double kept = x[2 * i + k];
            x[2 * i + k] = x[2 * j + k];
            x[2 * j + k] = kept;
        }
    }
    for (size_t half = 1; half < n; half *= 2)
        for (size_t first = 0; first < n; first += 2 * half)
            for (size_t k = 0; k < half; k++) {
                const double *w = circle + 2 * k * (n / half / 2);
                double *a = x + 2 * (first + k), *b = a + 2 * half;
                const double re = b[0] * w[0] - b[1] * w[1], im = b[0] * w[1] + b[1] * w[0];
                b[0] = a[0] - re;
                b[1] = a[1] - im;
                a[0] += re;
                a[1] += im;
            }
}

size_t airy_fft_place(size_t n, size_t k)
{
    size_t place = 0;
    for (; n >= 4; n /= 4, k /= 4)
        place += k % 4 * (n / 4);
    return place + k; /* n = 2: k is 0 or 1; n = 1: 0 */
}

void airy_fft_lane_table(double *table, size_t n)
{
    for (; n >= 4; n /= 4)
        for (size_t j = 0; j < n / 4; j++, table += 6)
            for (size_t p = 0; p < 3; p++)
                airy_fft_factor(&table[2 * p], &table[2 * p + 1], (p + 1) * j, n);
}

void airy_fft_row_table(double *table, size_t n, size_t lanes)
{
    for (; n >= 4 * lanes; table += n / 4 * 6, n /= 4)
        for (size_t j = 0; j < n / 4; j++)
            for (size_t p = 0; p < 3; p++)
                airy_fft_factor(&table[2 * p * (n / 4) + j], &table[(2 * p + 1) * (n / 4) + j],
                                (p + 1) * j, n);
    for (size_t j = 0; n == 2 * lanes && j < lanes; j++)
        airy_fft_factor(&table[j], &table[lanes + j], j, n);
}
