/*
 * exp and logarithms without branches and tables, so that loops over them become vectors: within 2
 * units in the last place of f64. For f32 they are taken in f64.
 *
 * Source: FreeBSD's msun, e_exp.c, e_log.c, s_log1p.c (Sun Microsystems, 1993), whose reductions and
 * coefficients these are.
 */
#ifndef AIRY_CPU_ELEMENT_MATH_H
#define AIRY_CPU_ELEMENT_MATH_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t bits_of_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static inline double f64_of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* ln 2 in two parts: the product of the first and an exponent is exact. */
#define LN2_HI 6.93147180369123816490e-01
#define LN2_LO 1.90821492927058770002e-10
/* Added to a number of less than 2^51, its whole part stands in the lowest bits. */
#define WHOLE 0x1.8p52

static inline double math_exp(double of)
{
    const double limited = of > 800    ? 800
                           : of < -800 ? -800
                                       : of, /* NaN stays */
        shifted = limited * 1.44269504088896338700e+00 + WHOLE, k = shifted - WHOLE,
                 hi = limited - k * LN2_HI, lo = k * LN2_LO, x = hi - lo, t = x * x;
    const double c =
        x - t * (1.66666666666666019037e-01 +
                 t * (-2.77777777770155933842e-03 +
                      t * (6.61375632143793436117e-05 +
                           t * (-1.65339022054652515390e-06 + t * 4.13813679705723846039e-08))));
    const double y = 1 - ((lo - x * c / (2 - c)) - hi);
    /* 2^k in two factors: by itself it may be too large or too small. */
    const int64_t n = (int64_t)(bits_of_f64(shifted) - bits_of_f64(WHOLE)), half = n >> 1;
    return y * f64_of_bits((uint64_t)(half + 1023) << 52) *
           f64_of_bits((uint64_t)(n - half + 1023) << 52);
}

/* x = 2^exponent (1 + f), 1 + f from root 1/2 to root 2; ln(1 + f) = f - (square - rest). */
struct math_split {
    double exponent, f, square, rest;
};

static inline struct math_split math_split(double x)
{
    const uint64_t root_half = UINT64_C(0x3fe6a09e667f3bcd);
    const int small = x < DBL_MIN;
    const uint64_t bits = bits_of_f64(small ? x * 0x1p54 : x);
    const int64_t k = (int64_t)(bits - root_half) >> 52;
    const double f = f64_of_bits(bits - ((uint64_t)k << 52)) - 1, s = f / (2 + f), z = s * s,
                 square = 0.5 * f * f,
                 series = z * (6.666666666666735130e-01 +
                               z * (3.999999999940941908e-01 +
                                    z * (2.857142874366239149e-01 +
                                         z * (2.222219843214978396e-01 +
                                              z * (1.818357216161805012e-01 +
                                                   z * (1.531383769920937332e-01 +
                                                        z * 1.479819860511658591e-01))))));
    const double exponent = f64_of_bits(bits_of_f64(WHOLE) + (uint64_t)k) - WHOLE;
    return (struct math_split){.exponent = exponent - (small ? 54 : 0),
                               .f = f,
                               .square = square,
                               .rest = s * (square + series)};
}

/* What a logarithm of x is, or has to be. */
static inline double math_log_edges(double x, double log)
{
    const double of_low = x < 0 ? (double)NAN : -(double)INFINITY;
    return x <= 0 ? of_low : x <= DBL_MAX ? log : x;
}

/* ln x + c */
static inline double math_log_near(double x, double c)
{
    const struct math_split s = math_split(x);
    return s.exponent * LN2_HI - ((s.square - (s.rest + (s.exponent * LN2_LO + c))) - s.f);
}

static inline double math_log(double x)
{
    return math_log_edges(x, math_log_near(x, 0));
}

static inline double math_log10(double x)
{
    const struct math_split s = math_split(x);
    const double ln = s.f - (s.square - s.rest),
                 low = s.exponent * 3.69423907715893078616e-13 + 4.34294481903251816668e-01 * ln;
    return math_log_edges(x, low + s.exponent * 3.01029995663611771306e-01);
}

/* ln(1 + x): what 1 + x was rounded by is added. */
static inline double math_log1p(double x)
{
    const double u = 1 + x, c = (x >= 1 ? 1 - (u - x) : x - (u - 1)) / u;
    return x == 0 ? x : math_log_edges(u, math_log_near(u, c));
}

#undef LN2_HI
#undef LN2_LO
#undef WHOLE

#endif
