/*
 * x to the power y of one float type, without branches and tables: the logarithm to the base of 2 is
 * kept in two parts, of which the first has half of the bits, so that its product with such a part
 * is exact without a fused multiply-add. Behind log_tmpl.h, which needs some of the same names; define
 * those of element_math.h. All of them end here.
 *
 * Source: log2 x = 2 / ln 2 artanh((x - 1) / (x + 1)), with parts as in Dekker, Numer. Math. 18
 * (1971) 224; coefficients interpolate at the zeros of Chebyshev's polynomials. Special cases: C11,
 * F.10.4.4.
 */

struct P(parts) {
    V hi, lo;
};

/* The first half of the bits. */
static inline V P(high)(V x)
{
    return OF_BITS(BITS_OF(x) >> LOW_BITS << LOW_BITS);
}

/* Of x 2^raised, a normal number; artanh(s) = s (3 + z + z^2 series(z)) / 3, z = s^2. */
static inline struct P(parts) P(log2)(V x, V raised)
{
    const U bits = BITS_OF(x) - ROOT_HALF + ((U)BIAS << FRACTION_BITS);
    const V exponent = OF_BITS(BITS_OF(WHOLE) + (bits >> FRACTION_BITS)) - (WHOLE + BIAS) - raised,
            m = OF_BITS((bits & (((U)1 << FRACTION_BITS) - 1)) + ROOT_HALF), f = m - 1,
            f_hi = P(high)(f), inverse = 1 / (m + 1), s = f * inverse, s_hi = P(high)(s),
            s_lo = ((f - (s_hi + s_hi) - s_hi * f_hi) - s_hi * (f - f_hi)) * inverse;
    const V z = s * s, square = s_hi * s_hi,
            series = z * z * ARTANH_SERIES(z, z * z) + s_lo * (s_hi + s),
            three_hi = P(high)(3 + square + series), three_lo = series - ((three_hi - 3) - square);
    const V whole = s_hi * three_hi, part = s_lo * three_hi + s * three_lo,
            product_hi = P(high)(whole + part), product_lo = part - (product_hi - whole);
    const V log = TWO_THIRDS_HI * product_hi,
            rest = TWO_THIRDS_LO * product_hi + TWO_THIRDS * product_lo,
            hi = P(high)(log + rest + exponent);
    return (struct P(parts)){.hi = hi, .lo = rest - ((hi - exponent) - log)};
}

static inline struct P(parts) P(times)(V y, struct P(parts) log)
{
    const V hi = P(high)(y);
    return (struct P(parts)){.hi = hi * log.hi, .lo = (y - hi) * log.hi + y * log.lo};
}

/* 2^t = y 2^exponent */
struct P(scaled) {
    V y, exponent;
    U bits; /* the lowest: of the exponent */
};

static inline struct P(scaled) P(exp2)(struct P(parts) t)
{
    const V shifted = t.hi + t.lo + WHOLE_SIGNED, exponent = shifted - WHOLE_SIGNED,
            near = t.hi - exponent, q = near + t.lo, q_hi = P(high)(q), q_lo = t.lo - (q_hi - near);
    const V low = q * q * EXP2_SERIES(q, q * q) + (q_lo * LN2 + q_hi * LN2_REST);
    return (struct P(scaled)){
        .y = 1 + (q_hi * LN2_HALF + low), .exponent = exponent, .bits = BITS_OF(shifted)};
}

/* x^y; in the highest bit whether x is no normal number above 0, or x^y is none or a large one. */
static inline U P(pow_normal)(V *power, V x, V y)
{
    const struct P(scaled) of = P(exp2)(P(times)(y, P(log2)(x, 0)));
    const U exponent = BITS_OF(of.exponent) << 1 >> 1;
    *power = OF_BITS(BITS_OF(of.y) + (of.bits << FRACTION_BITS));
    return (BITS_OF(x) - BITS_OF(MIN_NORMAL)) | (BITS_OF(MAX_FINITE) - BITS_OF(x)) |
           (BITS_OF(BIAS - 2) - exponent);
}

/* |x|^y, neither is NaN. */
static inline V P(pow_size)(V size, V y)
{
    const V limited = y > Y_LIMIT ? Y_LIMIT : y < -Y_LIMIT ? -Y_LIMIT : y;
    const int small = size < MIN_NORMAL;
    const struct P(scaled) of = P(exp2)(
        P(times)(limited, P(log2)(small ? size * SUBNORMAL : size, small ? SUBNORMAL_BITS : 0)));
    /* In two factors: 2^exponent by itself may be too large or too small. */
    const U n = of.bits - BITS_OF(WHOLE_SIGNED) + 4 * (U)BIAS, half = n >> 1;
    const V power = of.y * OF_BITS((half - BIAS) << FRACTION_BITS) *
                    OF_BITS((n - half - BIAS) << FRACTION_BITS);
    const V in_range = of.exponent > 2 * BIAS ? (V)INFINITY : of.exponent < -2 * BIAS ? 0 : power;
    const V up = y > 0 ? (V)INFINITY : 0, down = y > 0 ? 0 : (V)INFINITY;
    return size == 0 ? down : size > MAX_FINITE ? up : in_range;
}

static inline V P(pow)(V x, V y)
{
    const V size = x < 0 ? -x : x, power = P(pow_size)(size, y);
    /* How far y is from an even number: 0, if it is odd 1, else what is between. */
    const V y_size = y < 0 ? -y : y, y_near = y_size < ODD_LIMIT ? y_size : 0,
            y_off = y_near - ((y_near + ODD_LIMIT) - ODD_LIMIT), odd = y_off < 0 ? -y_off : y_off;
    const U sign = BITS_OF(x) >> (8 * sizeof(V) - 1) << (8 * sizeof(V) - 1);
    const V with_sign = odd == 1 ? OF_BITS(BITS_OF(power) | sign) : power,
            of_negative = odd == 0 || odd == 1 || size > MAX_FINITE ? with_sign : (V)NAN,
            defined = x < 0 ? of_negative : with_sign;
    return x == 1 || y == 0 ? 1 : x != x || y != y ? x + y : defined;
}

/* Where one of some neighbours is not normal, all take the way of any number, to the same bits. */
static inline void P(powers)(V *restrict r, const V *a, const V *b, size_t n)
{
    enum { NEIGHBOURS = 128 };
    for (size_t begin = 0; begin < n; begin += NEIGHBOURS) {
        const size_t end = n - begin < NEIGHBOURS ? n : begin + NEIGHBOURS;
        U special = 0;
        for (size_t i = begin; i < end; i++)
            special |= P(pow_normal)(&r[i], a[i], b[i]);
        for (size_t i = begin; i < end && special >> (8 * sizeof(V) - 1); i++)
            r[i] = P(pow)(a[i], b[i]);
    }
}

#undef V
#undef U
#undef S
#undef P
#undef BITS_OF
#undef OF_BITS
#undef FRACTION_BITS
#undef BIAS
#undef ROOT_HALF
#undef MIN_NORMAL
#undef MAX_FINITE
#undef SUBNORMAL
#undef SUBNORMAL_BITS
#undef WHOLE_SIGNED
#undef FLOAT_OF
#undef LN2_HI
#undef LN2_LO
#undef LOG_SERIES
#undef LOW_BITS
#undef WHOLE
#undef ODD_LIMIT
#undef Y_LIMIT
#undef TWO_THIRDS
#undef TWO_THIRDS_HI
#undef TWO_THIRDS_LO
#undef LN2
#undef LN2_HALF
#undef LN2_REST
#undef ARTANH_SERIES
#undef EXP2_SERIES
