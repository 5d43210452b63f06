/* Which pixels of a piece of a frame stand out: inner loops of one instruction set. */
#ifndef AIRY_CPU_CPU_PEAKS_H
#define AIRY_CPU_CPU_PEAKS_H

#include "peaks/peaks_fns.h"

/* A frame's curves as kernels read them, [bins] each. */
struct airy_peaks_curves {
    float *mean, *mean_step, *std, *std_step;
};

struct airy_peaks_piece {
    const void *raw;
    const uint32_t *place;
    const float *scale, *dark; /* dark: NULL for none */
    struct airy_peaks_curves curves;
    const airy_peaks_geom *geom;
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
