/* Inner loops of projections. */
#ifndef AIRY_CPU_CPU_PROJECT_H
#define AIRY_CPU_CPU_PROJECT_H

#include "airy/element.h"

/*
 * Loops of one instruction set; how: std, or else a sum. mean: of the box, for std. NaN stays. The
 * arithmetic, and so the bits, is the same in all sets.
 */
struct airy_project_kernels {
    /* The next `each` elements of each of n boxes, one after the other. */
    void (*boxes)(double *value, const double *mean, const double *v, size_t n, size_t each,
                  airy_projection how);
    /* The next n elements of one box: its value with them. */
    double (*line)(double value, double mean, const double *v, size_t n, airy_projection how);
    /*
     * As boxes, of extremes, in the dtype; first: there is no value yet. least: the minimum.
     * skip_nan: NaN stays only where there is nothing else.
     */
    void (*extremes[AIRY_DTYPE_COUNT])(void *value, const void *v, size_t n, size_t each,
                                       bool first, bool least, bool skip_nan);
};
extern const struct airy_project_kernels airy_project_portable;
#if defined(__x86_64__)
extern const struct airy_project_kernels airy_project_avx2, airy_project_avx512;
#endif
const struct airy_project_kernels *airy_project_kernels(void);

/*
 * The median of n elements; NaN where one is NaN, or of skip_nan all. v, aligned to 64 bytes, has
 * room for n up to the next multiple of AIRY_REDUCE_GROUP and is reordered. scratch: twice that room.
 */
double airy_project_median(double *v, size_t n, bool skip_nan, double *scratch);

#endif
