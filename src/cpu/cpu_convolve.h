/* The inner loop of convolution on the CPU. */
#ifndef AIRY_CPU_CPU_CONVOLVE_H
#define AIRY_CPU_CPU_CONVOLVE_H

#include <stdbool.h>

#include "filter/filter_fns.h"

enum {
    AIRY_CONVOLVE_ROWS = 4,  /* results of a block */
    AIRY_CONVOLVE_LOOK = 64, /* elements that are looked at together for equal ones */
    AIRY_CONVOLVE_PAD = 16 /* elements that are read behind the end of a row, whatever they hold */
};

/*
 * Sums, each added up in the order of planes, rows, taps, one product after the other; instruction
 * sets with fused multiply-add use it. A row has n + taps - 1 elements and the padding.
 *   f32, f64   out[i] = sum over rows r and taps j of weights[r * taps + j] * row[r][i + j], i < n;
 *              add: to what is there
 *   block      AIRY_CONVOLVE_ROWS such results at a time, for 3 rows or more: out[k][i] = sum over
 *              planes c, rows r and taps j of weights[(c * rows + r) * taps + j] * row[c * (rows +
 *              AIRY_CONVOLVE_ROWS - 1) + r + k][i + j]
 */
struct airy_convolve_kernels {
    void (*f32)(float *out, const float *const *row, size_t rows, const float *weights, size_t taps,
                size_t n, bool add);
    void (*f64)(double *out, const double *const *row, size_t rows, const double *weights,
                size_t taps, size_t n, bool add);
    void (*block_f32)(float *const *out, const float *const *row, size_t planes, size_t rows,
                      const float *weights, size_t taps, size_t n, bool add);
    void (*block_f64)(double *const *out, const double *const *row, size_t planes, size_t rows,
                      const double *weights, size_t taps, size_t n, bool add);
    void (*load_f32[AIRY_DTYPE_COUNT])(float *dst, const void *src, size_t n);
    void (*load_f64[AIRY_DTYPE_COUNT])(double *dst, const void *src, size_t n);
};
extern const struct airy_convolve_kernels airy_convolve_portable;
#if defined(__x86_64__)
extern const struct airy_convolve_kernels airy_convolve_avx2, airy_convolve_avx512;
#endif
const struct airy_convolve_kernels *airy_convolve_kernels(void);

/* An array with its borders. step: bytes from an image, plane, row to the next. */
struct airy_convolve_source {
    const struct airy_filter_geometry *geometry;
    const struct airy_convolve_kernels *kernels;
    airy_dtype dtype;
    const char *data;
    size_t step[3];
};
void airy_convolve_source_open(struct airy_convolve_source *source, const airy_array *array,
                               const struct airy_filter_geometry *geometry);
/* n elements from number `first` of row (z, y) on, all three of which may lie outside. */
void airy_convolve_line_f32(const struct airy_convolve_source *source, float *line, size_t image,
                            int64_t z, int64_t y, int64_t first, size_t n);
void airy_convolve_line_f64(const struct airy_convolve_source *source, double *line, size_t image,
                            int64_t z, int64_t y, int64_t first, size_t n);

/* Entries of airy_filter_cpu. */
airy_status airy_cpu_convolve_direct(airy_queue *queue, const struct airy_convolve_plan *plan);
airy_status airy_cpu_convolve_separable(airy_queue *queue, const struct airy_convolve_plan *plan);
double airy_cpu_fft_work(const airy_queue *queue, struct airy_convolve_plan *plan);
airy_status airy_cpu_fft(airy_queue *queue, const struct airy_convolve_plan *plan);

#endif
