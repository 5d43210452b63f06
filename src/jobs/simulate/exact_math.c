#include "jobs/simulate/exact_math.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

double airy_exact_exp(double x)
{
    /* ln 2 = high + low; high has 33 bits, so that its product with an exponent is exact. */
    static const double high = 0x1.62e42feep-1, low = 0x1.a39ef35793c76p-33;
    x = x > 700 ? 700 : x < -700 ? -700 : x;
    const double n = floor(x * 1.4426950408889634 + 0.5), r = (x - n * high) - n * low;
    double sum = 1;
    for (int i = 14; i > 0; i--) /* |r| <= ln(2) / 2: what is left out is below 1e-19 */
        sum = 1 + sum * r / i;
    const uint64_t bits = (uint64_t)(1023 + (int)n) << 52;
    double power;
    memcpy(&power, &bits, sizeof(power));
    return sum * power;
}

void airy_exact_turn(double t, double *c, double *s)
{
    static const double two_pi = 6.283185307179586;
    t -= floor(t + 0.5);
    const double quarter = floor(4 * t + 0.5), x = two_pi * (t - 0.25 * quarter), y = x * x;
    /* Taylor series, |x| <= pi / 4: the first terms left out are 5e-17 and 2e-18. */
    const double sine =
        x *
        (1 -
         y / 6 *
             (1 - y / 20 *
                      (1 - y / 42 * (1 - y / 72 * (1 - y / 110 * (1 - y / 156 * (1 - y / 210)))))));
    const double cosine =
        1 -
        y / 2 *
            (1 -
             y / 12 *
                 (1 -
                  y / 30 *
                      (1 - y / 56 * (1 - y / 90 * (1 - y / 132 * (1 - y / 182 * (1 - y / 240)))))));
    switch ((int)quarter & 3) {
    case 0:
        *c = cosine, *s = sine;
        break;
    case 1:
        *c = -sine, *s = cosine;
        break;
    case 2:
        *c = -cosine, *s = -sine;
        break;
    default:
        *c = sine, *s = -cosine;
        break;
    }
}

/* One step of four: lines of `step` numbers, `n` of them, become four groups of lines. */
static void step_four(double *to_re, double *to_im, const double *re, const double *im, size_t n,
                      size_t step, const double *table)
{
    const size_t quarter = n / 4, part = quarter * step;
    for (size_t j = 0; j < quarter; j++) {
        const double *w = table + 2 * j * step, *w2 = table + 4 * j * step,
                     *w3 = table + 6 * j * step;
        const double *a = re + j * step, *b = im + j * step;
        double *x = to_re + 4 * j * step, *y = to_im + 4 * j * step;
        for (size_t q = 0; q < step; q++) {
            const double sum0 = a[q] + a[q + 2 * part], sum0i = b[q] + b[q + 2 * part];
            const double dif0 = a[q] - a[q + 2 * part], dif0i = b[q] - b[q + 2 * part];
            const double sum1 = a[q + part] + a[q + 3 * part],
                         sum1i = b[q + part] + b[q + 3 * part];
            const double dif1 = a[q + part] - a[q + 3 * part],
                         dif1i = b[q + part] - b[q + 3 * part];
            const double r1 = dif0 - dif1i, i1 = dif0i + dif1, r3 = dif0 + dif1i, i3 = dif0i - dif1;
            const double r2 = sum0 - sum1, i2 = sum0i - sum1i;
            x[q] = sum0 + sum1;
            y[q] = sum0i + sum1i;
            x[q + step] = r1 * w[0] - i1 * w[1];
            y[q + step] = r1 * w[1] + i1 * w[0];
            x[q + 2 * step] = r2 * w2[0] - i2 * w2[1];
            y[q + 2 * step] = r2 * w2[1] + i2 * w2[0];
            x[q + 3 * step] = r3 * w3[0] - i3 * w3[1];
            y[q + 3 * step] = r3 * w3[1] + i3 * w3[0];
        }
    }
}

void airy_exact_transform(double *re, double *im, size_t n, const double *table, double *work)
{
    double *from[2] = {re, im}, *to[2] = {work, work + n};
    size_t step = 1, left = n;
    /* Stockham's order: every step writes what the next one reads in sequence. */
    for (; left >= 4; left /= 4, step *= 4) {
        step_four(to[0], to[1], from[0], from[1], left, step, table);
        for (int i = 0; i < 2; i++) {
            double *const other = from[i];
            from[i] = to[i];
            to[i] = other;
        }
    }
    for (size_t q = 0; left == 2 && q < step; q++)
        for (int i = 0; i < 2; i++) {
            const double a = from[i][q], b = from[i][q + step];
            from[i][q] = a + b;
            from[i][q + step] = a - b;
        }
    if (from[0] != re) {
        memcpy(re, from[0], n * sizeof(double));
        memcpy(im, from[1], n * sizeof(double));
    }
}
