/*
 * Walks over arrays on the CPU: blocks of f64 in raster order, dealt into a fixed number of slices;
 * a slice belongs to one thread. What does not count (masked, behind the end) is NaN in a block,
 * which no comparison admits.
 */
#ifndef AIRY_CPU_CPU_REDUCE_H
#define AIRY_CPU_CPU_REDUCE_H

#include "core/objects.h"
#include "reduce/reduce_fns.h"

enum {
    AIRY_REDUCE_BLOCK = 4096, /* elements; 32 KiB of f64 */
    AIRY_REDUCE_GROUP = 16    /* blocks are filled up to a multiple of it */
};

/* Sums of the elements of a block in [lo, hi], about a pivot. */
struct airy_reduce_moments {
    uint64_t count;
    double sum, squares;
    double min, max; /* +-infinity where there are none */
};

/* Sums over a line of v, v i and v i^2, i from 0; NaN is no extreme. */
struct airy_reduce_line {
    double sum, first, second;
    double min, max; /* +-infinity where there are none */
};

/* A histogram's bins. */
struct airy_reduce_bins {
    double lo, hi, count;
    double scale; /* bins by the width of all */
};

/*
 * Inner loops of one instruction set. values: padded with NaN to a multiple of AIRY_REDUCE_GROUP, n
 * is that multiple, aligned to 64 bytes. The arithmetic, and so the bits, is the same in all sets.
 */
struct airy_reduce_kernels {
    void (*load[AIRY_DTYPE_COUNT])(double *dst, const void *src, size_t n);
    void (*moments)(struct airy_reduce_moments *m, const double *values, size_t n, double pivot,
                    double lo, double hi);
    uint64_t (*count)(const double *values, size_t n, double lo, double hi);
    /* The elements in [lo, hi] to dst, which has room for n; how many. */
    size_t (*gather)(double *dst, const double *values, size_t n, double lo, double hi);
    /* The elements in [lo, hi] but not in [core_lo, core_hi]. */
    size_t (*gather_tails)(double *dst, const double *values, size_t n, double lo, double hi,
                           double core_lo, double core_hi);
    /* 1 where it is so, else 0; any n and alignment. NaN is neither. */
    void (*above)(uint8_t *mask, const double *values, size_t n, double value);
    void (*not_zero)(uint8_t *mask, const double *values, size_t n);
    /* 1 where an element is unlike the one before it; there is one before the first. */
    void (*turns)(uint8_t *mask, const uint32_t *values, size_t n);
    /*
     * The bin of each, as airy_reduce_bin where an edge's rounding is less than a quarter of a bin;
     * count: below lo, count + 1: above hi, count + 2: NaN. Any n.
     */
    void (*bins)(uint32_t *bin, const double *values, size_t n,
                 const struct airy_reduce_bins *bins);
    void (*line)(struct airy_reduce_line *line, const double *values, size_t n); /* any n */
};
extern const struct airy_reduce_kernels airy_reduce_portable;
#if defined(__x86_64__)
extern const struct airy_reduce_kernels airy_reduce_avx2, airy_reduce_avx512;
#endif
const struct airy_reduce_kernels *airy_reduce_kernels(void);

#endif
