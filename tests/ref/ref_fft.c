#include "ref_fft.h"

#include <math.h>

void ref_dft(double *to_re, double *to_im, const double *re, const double *im, size_t n, size_t k)
{
    const long double pi = 3.141592653589793238462643383279502884L;
    long double sum_re = 0, sum_im = 0;
    for (size_t j = 0; j < n; j++) {
        const long double angle = 2 * pi * (long double)(j * k % n) / (long double)n;
        const long double c = cosl(angle), s = -sinl(angle), x = re[j], y = im ? im[j] : 0;
        sum_re += x * c - y * s;
        sum_im += x * s + y * c;
    }
    *to_re = (double)sum_re;
    *to_im = (double)sum_im;
}
