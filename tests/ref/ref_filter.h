/* Convolution and blur from their definitions. */
#ifndef AIRY_TESTS_REF_FILTER_H
#define AIRY_TESTS_REF_FILTER_H

#include <stdbool.h>
#include <stddef.h>

enum ref_border { REF_ZERO, REF_VALUE, REF_NEAREST, REF_REFLECT, REF_MIRROR, REF_WRAP };

/* The element of a line of n that stands for element i; -1: the border's value does. */
long ref_border_index(long i, long n, enum ref_border border);

struct ref_convolve {
    size_t n[3], k[3], out[3]; /* z, y, x of source, kernel, result */
    long offset[3];            /* result i is element i + offset of the full one */
    enum ref_border border;
    double value;
    bool correlate;
    bool normalize; /* over the weights of what is finite */
    double least;   /* NaN where these are below this share of the kernel's sum, or 0 */
};

/* scale: NULL, or sum |kernel source| of each element. */
void ref_convolve(double *dst, double *scale, const double *src, const double *kernel,
                  const struct ref_convolve *p);
/* Gaussian weights of 2 radius + 1 taps. */
void ref_gauss(double *weights, size_t radius, double sigma);

#endif
