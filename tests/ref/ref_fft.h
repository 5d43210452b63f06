/* A transform by its definition. */
#ifndef AIRY_TESTS_REF_FFT_H
#define AIRY_TESTS_REF_FFT_H

#include <stddef.h>

/* One frequency: sum over j of (re[j] + i im[j]) exp(-2 pi i j k / n). im may be NULL. */
void ref_dft(double *to_re, double *to_im, const double *re, const double *im, size_t n, size_t k);

#endif
