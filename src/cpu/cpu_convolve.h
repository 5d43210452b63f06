/* The inner loop of convolution on the CPU. */
#ifndef AIRY_CPU_CPU_CONVOLVE_H
#define AIRY_CPU_CPU_CONVOLVE_H

#include <stdbool.h>

#include "airy/dtype.h"

/*
 * out[i] = sum over rows r and taps j of weights[r * taps + j] * row[r][i + j], for i < n; add: to
 * what is there. A row has n + taps - 1 elements. Products are added in the order of r, then j, one
 * after the other; instruction sets with fused multiply-add use it.
 */
struct airy_convolve_kernels {
    void (*f32)(float *out, const float *const *row, size_t rows, const float *weights, size_t taps,
                size_t n, bool add);
    void (*f64)(double *out, const double *const *row, size_t rows, const double *weights,
                size_t taps, size_t n, bool add);
    void (*load_f32[AIRY_DTYPE_COUNT])(float *dst, const void *src, size_t n);
    void (*load_f64[AIRY_DTYPE_COUNT])(double *dst, const void *src, size_t n);
};
extern const struct airy_convolve_kernels airy_convolve_portable;
#if defined(__x86_64__)
extern const struct airy_convolve_kernels airy_convolve_avx2, airy_convolve_avx512;
#endif
const struct airy_convolve_kernels *airy_convolve_kernels(void);

#endif
