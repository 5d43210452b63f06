/* Inner loops of backgrounds. */
#ifndef AIRY_CPU_CPU_BACKGROUND_H
#define AIRY_CPU_CPU_BACKGROUND_H

#include <stddef.h>
#include <stdint.h>

#include "shared/background_geom.h"

/* Elements of a histogram: the last one counts pixels in no bin. */
enum { AIRY_BACKGROUND_COUNTS = AIRY_BACKGROUND_LEVELS + 1 };

/* Bins with common sums, and how many such groups there are. */
enum {
    AIRY_BACKGROUND_GROUP = 64,
    AIRY_BACKGROUND_GROUPS = AIRY_BACKGROUND_LEVELS / AIRY_BACKGROUND_GROUP
};

/* Pixels in some bins, and the sums of i and i^2 over them, i the bin. */
struct airy_background_sums {
    uint64_t count, first, second;
};

/*
 * Of one instruction set; the arithmetic, and so the bits, is the same in all sets.
 * bins: values padded with NaN to a multiple of 16, n is that multiple, aligned to 64 bytes.
 * sums: before[g]: of the bins in front of group g, of `groups` and one more.
 * level, less, noise: n pixels of a piece; t: their places in it. level: base + the cubic; less: src -
 * base - the cubic, dst may be src; noise: the cubic, not below floor.
 */
struct airy_background_kernels {
    void (*bins)(uint32_t *counts, const double *values, size_t n, const airy_background_bins *b);
    void (*bins_compat)(uint32_t *counts, const double *values, size_t n,
                        const airy_background_bins *b);
    void (*sums)(struct airy_background_sums *before, const uint32_t *counts, size_t groups);
    void (*level_f32)(float *dst, const float *t, size_t n, const airy_background_cubic *c,
                      double base);
    void (*level_f64)(double *dst, const double *t, size_t n, const airy_background_cubic *c,
                      double base);
    void (*less_f32)(float *dst, const float *src, const float *t, size_t n,
                     const airy_background_cubic *c, double base);
    void (*less_f64)(double *dst, const double *src, const double *t, size_t n,
                     const airy_background_cubic *c, double base);
    void (*noise_f32)(float *dst, const float *t, size_t n, const airy_background_cubic *c,
                      double floor);
    void (*noise_f64)(double *dst, const double *t, size_t n, const airy_background_cubic *c,
                      double floor);
};
extern const struct airy_background_kernels airy_background_portable;
#if defined(__x86_64__)
extern const struct airy_background_kernels airy_background_avx2, airy_background_avx512;
#endif
const struct airy_background_kernels *airy_background_kernels(void);

#endif
