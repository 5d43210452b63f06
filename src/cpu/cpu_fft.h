/*
 * Transforms of a power of two of elements on the CPU, in place, real and imaginary parts apart
 * (fft/fft_table.h says in which order). AIRY_FFT_LANES(type) numbers of 64 bytes are done side by
 * side, whatever the instruction set, so that layouts do not depend on it.
 */
#ifndef AIRY_CPU_CPU_FFT_H
#define AIRY_CPU_CPU_FFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AIRY_FFT_LANES(type) (64 / sizeof(type))

/*
 *   forward, inverse  LANES transforms of n elements, `step` apart, of LANES numbers each; table: of
 *                     airy_fft_lane_table
 *   split, join       the steps of the transform of one row of n down to LANES neighbours, and back;
 *                     table: of airy_fft_row_table. What is left are transforms of LANES neighbours:
 *   transpose         LANES x LANES numbers, line by line; `to` is not `from`
 *   part              of forward transforms of n real numbers in re and n others in im: frequencies 0
 *                     to n / 2 of both, in their order, LANES apart. to: real and imaginary parts of
 *                     the one, then of the other; place: airy_fft_place of all n
 *   multiply          n elements of LANES numbers by as many others, in the same places
 *   exceeds           whether one of n numbers is not within [-limit, limit], or NaN
 */
#define AIRY_FFT_KERNELS(type)                                                                     \
    void (*forward)(type * re, type * im, size_t n, size_t step, const type *table);               \
    void (*inverse)(type * re, type * im, size_t n, size_t step, const type *table);               \
    void (*split)(type * re, type * im, size_t n, const type *table);                              \
    void (*join)(type * re, type * im, size_t n, const type *table);                               \
    void (*transpose)(type *const *to, const type *const *from);                                   \
    void (*part)(type *const to[4], const type *re, const type *im, size_t n, size_t step,         \
                 const uint32_t *place);                                                           \
    void (*multiply)(type * re, type * im, const type *by_re, const type *by_im, size_t n,         \
                     size_t step);                                                                 \
    bool (*exceeds)(const type *values, size_t n, type limit);

struct airy_fft_kernels_f32 {
    AIRY_FFT_KERNELS(float)
};
struct airy_fft_kernels_f64 {
    AIRY_FFT_KERNELS(double)
};
struct airy_fft_kernels {
    struct airy_fft_kernels_f32 f32;
    struct airy_fft_kernels_f64 f64;
};

/* What the template has made for a type and a set. */
#define AIRY_FFT_TABLE(type, set)                                                                  \
    {                                                                                              \
        .forward = forward_##type##_##set, .inverse = inverse_##type##_##set,                      \
        .split = split_##type##_##set, .join = join_##type##_##set,                                \
        .transpose = transpose_##type##_##set, .part = part_##type##_##set,                        \
        .multiply = multiply_##type##_##set, .exceeds = exceeds_##type##_##set                     \
    }

extern const struct airy_fft_kernels airy_fft_portable;
#if defined(__x86_64__)
extern const struct airy_fft_kernels airy_fft_avx2, airy_fft_avx512;
#endif
const struct airy_fft_kernels *airy_fft_kernels(void);

#endif
