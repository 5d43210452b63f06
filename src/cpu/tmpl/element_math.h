/*
 * exp, logarithms and powers without branches and tables, so that loops over them become vectors:
 * within 2 units in the last place of f64, within 1 of f32 (those that end in f; all 2^32 arguments
 * of exp and logarithms were compared).
 *
 * Source: FreeBSD's msun, e_exp.c, e_log.c, s_log1p.c, k_logf.h, e_log10f.c (Sun Microsystems,
 * 1993), whose reductions and coefficients these are; of exp in f32 the series of Cephes, expf.c
 * (Moshier, 1989).
 */
#ifndef AIRY_CPU_TMPL_ELEMENT_MATH_H
#define AIRY_CPU_TMPL_ELEMENT_MATH_H

#include <float.h>
#include <math.h>
#include <stddef.h>
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

/*
 * Logarithms. ROOT_HALF: the bits of root 1/2. SUBNORMAL: a factor that makes a subnormal number a
 * normal one. WHOLE_SIGNED: to which a whole number is added to stand in its lowest bits. FLOAT_OF: a
 * whole number of type S. LN2_HI and LN2_LO: ln 2 in two parts; the product of the first and an
 * exponent is exact.
 */
#define V              double
#define U              uint64_t
#define S              int64_t
#define P(name)        math_##name
#define BITS_OF        bits_of_f64
#define OF_BITS        f64_of_bits
#define FRACTION_BITS  52
#define BIAS           1023
#define ROOT_HALF      UINT64_C(0x3fe6a09e667f3bcd)
#define MIN_NORMAL     DBL_MIN
#define MAX_FINITE     DBL_MAX
#define SUBNORMAL      0x1p54
#define SUBNORMAL_BITS 54.0
#define WHOLE_SIGNED   0x1.8p52
#define FLOAT_OF(k)    (f64_of_bits(bits_of_f64(WHOLE_SIGNED) + (uint64_t)(k)) - WHOLE_SIGNED)
#define LN2_HI         6.93147180369123816490e-01
#define LN2_LO         1.90821492927058770002e-10
/* clang-format off */
#define LOG_SERIES(z) \
    (z * (6.666666666666735130e-01 + \
          z * (3.999999999940941908e-01 + \
               z * (2.857142874366239149e-01 + \
                    z * (2.222219843214978396e-01 + \
                         z * (1.818357216161805012e-01 + \
                              z * (1.531383769920937332e-01 + z * 1.479819860511658591e-01)))))))
/* clang-format on */
#include "cpu/tmpl/log_tmpl.h"

static inline double math_exp(double of)
{
    const double limited = of > 800    ? 800
                           : of < -800 ? -800
                                       : of, /* NaN stays */
        shifted = limited * 1.44269504088896338700e+00 + WHOLE_SIGNED, k = shifted - WHOLE_SIGNED,
                 hi = limited - k * LN2_HI, lo = k * LN2_LO, x = hi - lo, t = x * x;
    const double c =
        x - t * (1.66666666666666019037e-01 +
                 t * (-2.77777777770155933842e-03 +
                      t * (6.61375632143793436117e-05 +
                           t * (-1.65339022054652515390e-06 + t * 4.13813679705723846039e-08))));
    const double y = 1 - ((lo - x * c / (2 - c)) - hi);
    /* 2^k in two factors: by itself it may be too large or too small. */
    const int64_t n = (int64_t)(bits_of_f64(shifted) - bits_of_f64(WHOLE_SIGNED)), half = n >> 1;
    return y * f64_of_bits((uint64_t)(half + 1023) << 52) *
           f64_of_bits((uint64_t)(n - half + 1023) << 52);
}

/* The whole number next to x, halves to even, in the lowest bits; limits below 2^51, NaN to 0. */
static inline uint64_t math_whole(double x, double lo, double hi)
{
    const double limited = x < lo ? lo : x > hi ? hi : x;
    return bits_of_f64((x != x ? 0 : limited) + WHOLE_SIGNED);
}

static inline double math_log10(double x)
{
    const struct math_split s = math_split(x);
    const double ln = s.f - (s.square - s.rest),
                 low = s.exponent * 3.69423907715893078616e-13 + 4.34294481903251816668e-01 * ln;
    return math_log_edges(x, low + s.exponent * 3.01029995663611771306e-01);
}

/*
 * Powers. LOW_BITS: those of a fraction's second half. WHOLE: to which a positive whole number is
 * added to stand in its lowest bits. ODD_LIMIT: from which on all numbers are even. Y_LIMIT: to whose
 * power any x but 1 is 0 or infinite, yet no product is. TWO_THIRDS: of 1 / ln 2; HI, of half of the
 * bits, and LO: their two parts, LN2_HALF and LN2_REST: those of ln 2.
 */
#define LOW_BITS      27
#define WHOLE         0x1p52
#define ODD_LIMIT     0x1p53
#define Y_LIMIT       0x1p64
#define TWO_THIRDS    0.9617966939259756
#define TWO_THIRDS_HI 0x1.ec709d8p-1
#define TWO_THIRDS_LO 7.872699542894897e-09
#define LN2           0.6931471805599453
#define LN2_HALF      0x1.62e42f8p-1
#define LN2_REST      1.2996506893889889e-08
/* clang-format off */
#define ARTANH_SERIES(z, zz) \
    ((0.6 + z * 0.4285714285714406 + zz * (0.3333333333247915 + z * 0.2727272750414977)) + \
     zz * zz * (0.2307689233051077 + z * 0.20002213198218508 + \
                zz * (0.17559189696845096 + z * 0.1758649059127012)))
#define EXP2_SERIES(q, qq) \
    ((0.24022650695910072 + q * 0.0555041086648216 + \
      qq * (0.009618129107628479 + q * 0.0013333558146416916)) + \
     qq * qq * (0.00015403530393375903 + q * 1.525273382986708e-05 + \
                qq * (1.3215486802919256e-06 + q * 1.0178062426976924e-07) + \
                qq * qq * (7.054899947032901e-09 + q * 4.4549643712692967e-10 + \
                           qq * 2.5725099252888687e-11)))
/* clang-format on */
#include "cpu/tmpl/power_tmpl.h"

/* In f32. */
static inline uint32_t bits_of_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static inline float f32_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

#define V              float
#define U              uint32_t
#define S              int32_t
#define P(name)        math_##name##f
#define BITS_OF        bits_of_f32
#define OF_BITS        f32_of_bits
#define FRACTION_BITS  23
#define BIAS           127
#define ROOT_HALF      UINT32_C(0x3f3504f3)
#define MIN_NORMAL     FLT_MIN
#define MAX_FINITE     FLT_MAX
#define SUBNORMAL      0x1p25f
#define SUBNORMAL_BITS 25.0f
#define WHOLE_SIGNED   0x1.8p23f
#define FLOAT_OF(k)    ((float)(k))
#define LN2_HI         6.9313812256e-01f
#define LN2_LO         9.0580006145e-06f
/* clang-format off */
#define LOG_SERIES(z) \
    (z * (0xaaaaaa.0p-24f + \
          z * (0xccce13.0p-25f + z * (0x91e9ee.0p-25f + z * 0xf89e26.0p-26f))))
/* clang-format on */
#include "cpu/tmpl/log_tmpl.h"

static inline float math_expf(float of)
{
    const float limited = of > 100    ? 100
                          : of < -110 ? -110
                                      : of, /* NaN stays */
        shifted = limited * 1.44269504089f + WHOLE_SIGNED, k = shifted - WHOLE_SIGNED,
                hi = limited - k * LN2_HI, lo = k * LN2_LO, x = hi - lo;
    const float series =
        5.0000001201e-01f +
        x * (1.6666665459e-01f +
             x * (4.1665795894e-02f +
                  x * (8.3334519073e-03f + x * (1.3981999507e-03f + x * 1.9875691500e-04f))));
    const float y = 1 + (hi + (x * x * series - lo));
    const int32_t n = (int32_t)(bits_of_f32(shifted) - bits_of_f32(WHOLE_SIGNED)), half = n >> 1;
    return y * f32_of_bits((uint32_t)(half + 127) << 23) *
           f32_of_bits((uint32_t)(n - half + 127) << 23);
}

/* Limits below 2^22. */
static inline uint32_t math_wholef(float x, float lo, float hi)
{
    const float limited = x < lo ? lo : x > hi ? hi : x;
    return bits_of_f32((x != x ? 0 : limited) + WHOLE_SIGNED);
}

/* ln(1 + f) in two parts, the first of 12 bits, so that its product with the factor is near. */
static inline float math_log10f(float x)
{
    const struct math_splitf s = math_splitf(x);
    const float hi = f32_of_bits(bits_of_f32(s.f - s.square) & 0xfffff000),
                lo = s.f - hi - s.square + s.rest,
                low = s.exponent * 7.9034151668e-07f + (lo + hi) * -3.1689971365e-05f +
                      lo * 4.3432617188e-01f;
    return math_log_edgesf(x, low + hi * 4.3432617188e-01f + s.exponent * 3.0102920532e-01f);
}

#define LOW_BITS      12
#define WHOLE         0x1p23f
#define ODD_LIMIT     0x1p24f
#define Y_LIMIT       0x1p34f
#define TWO_THIRDS    0.9617967f
#define TWO_THIRDS_HI 0x1.ec6p-1f
#define TWO_THIRDS_LO 1.2677205e-04f
#define LN2           0.6931472f
#define LN2_HALF      0x1.62ep-1f
#define LN2_REST      3.1946183e-05f
/* clang-format off */
#define ARTANH_SERIES(z, zz) (0.6000002f + z * 0.4284333f + zz * 0.34573504f)
#define EXP2_SERIES(q, qq) \
    ((0.2402265f + q * 0.05550411f) + qq * (0.009618082f + q * 0.0013333522f + \
     qq * (0.00015453182f + q * 1.5290963e-05f)))
/* clang-format on */
#include "cpu/tmpl/power_tmpl.h"
#endif
