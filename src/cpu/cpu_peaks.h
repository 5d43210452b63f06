/* Which pixels of a piece of a frame stand out: inner loops of one instruction set. */
#ifndef AIRY_CPU_CPU_PEAKS_H
#define AIRY_CPU_CPU_PEAKS_H

#include "peaks/peaks_fns.h"

enum {
    AIRY_PEAKS_BLOCK = 64, /* pixels that are looked at together, a word of bits */
    AIRY_PEAKS_LEVELS = 20 /* 2^20 bins at most */
};

/*
 * A frame's curves as kernels read them, [bins] each, and least values: least_mean[k bins + b] is
 * that of the 2^k bins from b on, as far as there are so many.
 */
struct airy_peaks_curves {
    float *mean, *mean_step, *std, *std_step;
    float *least_mean, *least_std;
    float cutoff; /* the smaller one */
    float slack;  /* what rounding may make of a least value, at most */
};

/* The bins that the pixels of a block lie between; first > last: none of them counts. */
struct airy_peaks_range {
    uint32_t first, last;
};

struct airy_peaks_piece {
    const void *raw;
    const uint32_t *place;
    const float *scale, *dark; /* dark: NULL for none */
    struct airy_peaks_curves curves;
    const airy_peaks_geom *geom;
    const struct airy_peaks_range *ranges; /* of its blocks */
    size_t count;
    uint64_t *kept, *candidates; /* out: a bit a pixel, 0 behind the last */
};

struct airy_peaks_kernels {
    void (*mark[AIRY_DTYPE_COUNT])(const struct airy_peaks_piece *piece); /* NULL: not taken */
};
extern const struct airy_peaks_kernels airy_peaks_portable;
#if defined(__x86_64__)
extern const struct airy_peaks_kernels airy_peaks_avx2, airy_peaks_avx512;
#endif
const struct airy_peaks_kernels *airy_peaks_kernels(void);

#endif
