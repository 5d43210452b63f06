/*
 * Factors of transforms of a power of two of elements. A transform is X[k] = sum_j x[j] w^(jk), w =
 * exp(-2 pi i / n); its inverse has the conjugate w and is not divided by n.
 *
 * Forward transforms are done in place by steps of four (decimation in frequency): elements j, j +
 * n/4, j + n/2, j + 3n/4 become four numbers, which are multiplied by 1, w^j, w^2j, w^3j, and the four
 * quarters are transforms of n/4 then, of the frequencies k = 0, 1, 2, 3 modulo 4. What is left of
 * an odd power is a step of two. So frequencies end up in an order of their own, from which inverse
 * transforms begin.
 */
#ifndef AIRY_FFT_FFT_TABLE_H
#define AIRY_FFT_FFT_TABLE_H

#include <stddef.h>

enum { AIRY_FFT_MAX = 8192 }; /* elements of a line */

/* w^k = *c + i *s, to the rounding of double. */
void airy_fft_factor(double *c, double *s, size_t k, size_t n);
/* w^k for all k below n, a power of two: real and imaginary part. */
void airy_fft_circle(double *table, size_t n);
/*
 * Forward transform of n in place by halves, frequencies in their order; circle: of airy_fft_circle.
 * For tables and for what is done once.
 */
void airy_fft_by_halves(double *x, const double *circle, size_t n);
/* Where a forward transform of n leaves frequency k. */
size_t airy_fft_place(size_t n, size_t k);
/*
 * Factors for steps on elements of which each is a vector of lanes: for n, n / 4, ... real and
 * imaginary parts of w^j, w^2j, w^3j for each j below a quarter. 2 n numbers at most.
 */
void airy_fft_lane_table(double *table, size_t n);
/*
 * The same for steps along a row whose vectors are `lanes` neighbours, down to n = lanes: for n, n /
 * 4, ... all real parts of w^j, all imaginary parts, all real parts of w^2j, and so on; for n = 2
 * lanes the real and the imaginary parts of w^j alone. 2 n numbers at most.
 */
void airy_fft_row_table(double *table, size_t n, size_t lanes);

#endif
