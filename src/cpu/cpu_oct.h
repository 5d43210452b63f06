/*
 * OCT on the CPU. A thread takes AIRY_OCT_LANES lines at a time and puts them side by side: number i
 * of each of them are neighbours, so that all arithmetic is along lanes, factors are the same for all
 * of them, and no line needs what another has. Real lines of an even length are transformed as
 * complex numbers of half the length.
 */
#ifndef AIRY_CPU_CPU_OCT_H
#define AIRY_CPU_CPU_OCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu/cpu_fft.h"
#include "oct/oct_fns.h"

enum {
    AIRY_OCT_LANES = AIRY_FFT_LANES(float),
    /* Words of 32 bits that are taken from a line at a time, five times as many of 10 bits. */
    AIRY_OCT_WORDS = 16,
    AIRY_OCT_MOST_WORDS = 5 * AIRY_OCT_WORDS,
    AIRY_OCT_SPARE = 256,     /* samples behind a line that loading may write */
    AIRY_OCT_MAX_RADIX = 127, /* beyond it a convolution is about as fast */
    AIRY_OCT_MAX_STEPS = 8    /* 3^8 = 6561 */
};

struct airy_oct_raw {
    size_t line_bytes;
    unsigned bits; /* of a sample: 8, 10, 12, 16; 32: f32 */
    bool big_endian, is_signed;
    unsigned shift;
};

/* Numbers to be transformed: z of airy_oct_tables. */
struct airy_oct_lookup {
    size_t samples, taps;
    const uint32_t *base; /* times LANES */
    const float *weights; /* [samples][taps] */
    const float *phasor;  /* [samples][2]; NULL: real */
    bool halves;          /* even samples are real parts, odd ones imaginary parts */
    /* Factors, where the numbers are stored as the first step by four leaves them; or NULL. */
    const float *first_step;
};

/*
 * A step by an odd prime on each block of n numbers: numbers j, j + n / p, ... become p numbers,
 * which are multiplied by w^(jq), and p blocks of n / p are left.
 */
struct airy_oct_step {
    size_t p, n;
    const float *circle;  /* [p][2]: cosines and sines of 2 pi k / p */
    const float *factors; /* [n / p][p - 1][2] */
};

/* Where a bin's F comes from, and what becomes of it. */
struct airy_oct_spectrum {
    size_t depth;
    bool half;  /* F = (Z[at] + conj Z[mirror]) / 2 + factor (Z[at] - conj Z[mirror]) / i */
    bool pairs; /* half, the first bin is 0, and depth is half the samples and a multiple of 32 */
    bool conjugate;
    const uint32_t *at, *mirror; /* times LANES */
    const float *factor;         /* [depth][2]: w^p / 2 */
    const float *pattern;        /* [depth][2], or NULL */
    const float *post;           /* [depth], or NULL */
    airy_oct_output quantity;
    airy_oct_finish finish; /* display false: as it is, f32 */
    airy_dtype to;
    bool stream; /* rows of f32 begin and end at multiples of 64 bytes and go past the caches */
};

/*
 *   load      samples of LANES lines; poison: NaN for lines of f32 with what is not finite, else 0.
 *             room, tail:
 *             MOST_WORDS * LANES words; x: AIRY_OCT_SPARE more than the samples
 *   roll      samples less their rolling mean, which is exact for integers
 *   add_line  sum[i] += samples of one line, integers in the machine's byte order, shifted
 *   add       sum[i] += x[i] of LANES lines
 *   add_f64   the same in double
 *   gather    mean: [samples] subtracted, or NULL
 *   step      of n numbers in all, which are blocks of step->n
 *   turn      number j times factors[j], of one for all lanes
 *   store     bins of lines to rows, which are tight; rows: `lines` of them
 *   add_row, add_square   sum[i] += x[i], and (x[i] - mean[i])^2
 *   add_turn  sum += conj(a) b, n complex numbers
 *   put_row   n numbers as a line of the result, by finish, post and to; changes them and those
 *             behind them, up to a multiple of LANES
 *   decibels, phases      of n numbers, which are powers; complex numbers
 */
struct airy_oct_kernels {
    void (*load)(float *x, float *poison, const struct airy_oct_raw *raw,
                 const uint8_t *const *lines, uint32_t *room, uint32_t *tail);
    void (*roll)(float *to, const float *x, size_t samples, size_t width, bool integers);
    void (*add_line)(int32_t *sum, const void *line, size_t samples, airy_dtype dtype,
                     unsigned shift);
    void (*add)(float *sum, const float *x, size_t samples);
    void (*add_f64)(double *sum, const float *x, size_t samples);
    void (*gather)(float *re, float *im, const float *x, const struct airy_oct_lookup *lookup,
                   const float *mean);
    void (*step)(float *re, float *im, size_t n, const struct airy_oct_step *step);
    void (*turn)(float *re, float *im, size_t n, const float *factors);
    void (*store)(void *const *rows, size_t lines, const float *re, const float *im,
                  const float *poison, const struct airy_oct_spectrum *spectrum);
    void (*add_row)(double *sum, const float *x, size_t n);
    void (*add_square)(double *sum, const float *x, const double *mean, size_t n);
    void (*add_turn)(double *sum, const float *a, const float *b, size_t n);
    void (*put_row)(void *row, float *numbers, size_t n, const struct airy_oct_spectrum *spectrum);
    void (*decibels)(float *to, const float *power, size_t n);
    void (*phases)(float *to, const float *z, size_t n);
};

extern const struct airy_oct_kernels airy_oct_portable;
#if defined(__x86_64__)
extern const struct airy_oct_kernels airy_oct_avx2, airy_oct_avx512;
#endif
const struct airy_oct_kernels *airy_oct_kernels(void);

/* Made by prepare; all tables stand in one buffer of the device. */
struct airy_oct_cpu_plan {
    struct airy_oct_raw raw;
    struct airy_oct_lookup lookup;
    const float *offset; /* of lookup, or NULL */
    struct airy_oct_spectrum spectrum;
    size_t n; /* numbers of a transform */
    size_t steps;
    struct airy_oct_step step[AIRY_OCT_MAX_STEPS];
    size_t block;       /* a power of two: what the steps leave */
    const float *table; /* of airy_fft_lane_table */
    /*
     * Where n has a factor that no step is for: numbers times chirp, convolved with its conjugate by
     * transforms of `block`, times chirp. L. Bluestein, IEEE Trans. Audio Electroacoust. 18 (1970)
     * 451.
     */
    const float *chirp, *chirp_spectrum; /* [n][2], [block][2]; NULL: steps */
    size_t room;                         /* numbers in memory */
    const uint8_t *zeros;                /* a line, that stands for those that are not there */
    airy_buffer *buffer;
};

airy_status airy_oct_cpu_prepare(airy_queue *queue, struct airy_oct *oct);
void airy_oct_cpu_release(struct airy_oct *oct);
airy_status airy_oct_cpu_combine(airy_queue *queue, const struct airy_oct_combine_plan *plan);

#endif
