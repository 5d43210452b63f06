/*
 * Functions for simulated data, the same bits on every machine: IEEE operations and square roots
 * alone, none of libm's functions that round as they like.
 */
#ifndef AIRY_JOBS_SIMULATE_EXACT_MATH_H
#define AIRY_JOBS_SIMULATE_EXACT_MATH_H

#include <stddef.h>

/* exp(x) to 2 units in the last place; x beyond -700 to 700 counts as that. */
double airy_exact_exp(double x);
/* exp(2 pi i t) = *c + i *s for |t| < 2^50, absolute error below 5e-16. */
void airy_exact_turn(double t, double *c, double *s);
/*
 * X[m] = sum_d x[d] exp(+2 pi i d m / n), in place; n a power of two, 1 or more.
 * table: exp(2 pi i j / n) for j below n, real and imaginary parts in turn; work: 2 n numbers.
 */
void airy_exact_transform(double *re, double *im, size_t n, const double *table, double *work);

#endif
