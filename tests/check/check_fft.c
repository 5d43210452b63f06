/* The transforms inside of the CPU back end. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "cpu/cpu_fft.h"
#include "fft/fft_table.h"
#include "ref_fft.h"

#define W     float
#define TYPE  f32
#define DTYPE AIRY_DTYPE_F32
#define EPS   0x1p-24
#include "check_fft_tmpl.c"
#define W     double
#define TYPE  f64
#define DTYPE AIRY_DTYPE_F64
#define EPS   0x1p-53
#include "check_fft_tmpl.c"

/* Factors are correct to a unit in the last place and exact on the axes. */
static void check_factors(struct check *c)
{
    if (!check_case(c, "fft_factors"))
        return;
    const long double pi = 3.141592653589793238462643383279502884L;
    for (size_t n = 1; n <= AIRY_FFT_MAX; n *= 2)
        for (size_t i = 0; i < (n < 64 ? 2 * n : 64); i++) {
            const size_t k = n < 64 ? i : check_rand_u64(c) % (4 * n);
            const long double angle = 2 * pi * (long double)(k % n) / (long double)n;
            double re, im;
            airy_fft_factor(&re, &im, k, n);
            CHECK(c, fabsl(re - cosl(angle)) <= 0x1p-53L * 1.1L);
            CHECK(c, fabsl(im + sinl(angle)) <= 0x1p-53L * 1.1L);
            if (4 * k % n == 0)
                CHECK(c, fabs(re) + fabs(im) == 1);
        }
}

/* The same numbers all round. */
static void check_circle(struct check *c)
{
    if (!check_case(c, "fft_circle"))
        return;
    double *table = check_alloc(c, 2 * AIRY_FFT_MAX * sizeof(double));
    for (size_t n = 8; n <= AIRY_FFT_MAX; n *= 2) {
        airy_fft_circle(table, n);
        for (size_t k = 0; k < n; k++) {
            double re, im;
            airy_fft_factor(&re, &im, k, n);
            CHECK(c, table[2 * k] == re && table[2 * k + 1] == im);
        }
    }
}

void check_fft(struct check *c)
{
    if (!c->is_cpu)
        return;
    check_factors(c);
    check_circle(c);
    check_type_f32(c);
    check_type_f64(c);
}
