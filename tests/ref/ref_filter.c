#include "ref_filter.h"

#include <math.h>

/* One step at a time. */
long ref_border_index(long i, long n, enum ref_border border)
{
    while (i < 0 || i >= n) {
        switch (border) {
        case REF_NEAREST:
            i = i < 0 ? 0 : n - 1;
            break;
        case REF_REFLECT:
            i = i < 0 ? -1 - i : 2 * n - 1 - i;
            break;
        case REF_MIRROR:
            i = n == 1 ? 0 : i < 0 ? -i : 2 * n - 2 - i;
            break;
        case REF_WRAP:
            i += i < 0 ? n : -n;
            break;
        default:
            return -1;
        }
    }
    return i;
}

void ref_convolve(double *dst, double *scale, const double *src, const double *kernel,
                  const struct ref_convolve *p)
{
    size_t at = 0;
    long double total = 0;
    for (size_t t = 0; t < p->k[0] * p->k[1] * p->k[2]; t++)
        total += (long double)kernel[t];
    for (size_t z = 0; z < p->out[0]; z++)
        for (size_t y = 0; y < p->out[1]; y++)
            for (size_t x = 0; x < p->out[2]; x++, at++) {
                long double sum = 0, all = 0, weight = 0;
                for (size_t c = 0; c < p->k[0]; c++)
                    for (size_t b = 0; b < p->k[1]; b++)
                        for (size_t a = 0; a < p->k[2]; a++) {
                            const long from[3] = {(long)(z) + p->offset[0] - (long)c,
                                                  (long)(y) + p->offset[1] - (long)b,
                                                  (long)(x) + p->offset[2] - (long)a};
                            long in[3];
                            bool outside = false;
                            for (int i = 0; i < 3; i++) {
                                in[i] = ref_border_index(from[i], (long)p->n[i], p->border);
                                outside = outside || in[i] < 0;
                            }
                            const double v =
                                outside ? (p->border == REF_VALUE ? p->value : 0)
                                        : src[((size_t)in[0] * p->n[1] + (size_t)in[1]) * p->n[2] +
                                              (size_t)in[2]];
                            /* A correlation's kernel is the turned one of a convolution. */
                            const size_t t = p->correlate
                                                 ? ((p->k[0] - 1 - c) * p->k[1] + p->k[1] - 1 - b) *
                                                           p->k[2] +
                                                       p->k[2] - 1 - a
                                                 : (c * p->k[1] + b) * p->k[2] + a;
                            if (p->normalize && !isfinite(v))
                                continue;
                            weight += (long double)kernel[t];
                            sum += (long double)kernel[t] * v;
                            all += fabsl((long double)kernel[t] * v);
                        }
                if (p->normalize)
                    sum = weight > 0 && weight >= p->least * total ? sum / weight
                                                                   : (long double)NAN;
                dst[at] = (double)sum;
                if (scale)
                    scale[at] = (double)all;
            }
}

void ref_gauss(double *weights, size_t radius, double sigma)
{
    double sum = 0;
    for (size_t i = 0; i <= 2 * radius; i++) {
        const double x = (double)i - (double)radius;
        weights[i] = exp(-x * x / (2 * sigma * sigma));
        sum += weights[i];
    }
    for (size_t i = 0; i <= 2 * radius; i++)
        weights[i] /= sum;
}
