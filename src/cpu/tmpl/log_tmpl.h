/*
 * Logarithms of one float type, without branches and tables. Define V, its unsigned and signed
 * integers U and S, P(name), the name of a function of it, and the constants of element_math.h.
 *
 * Source: FreeBSD's msun, e_log.c, k_logf.h, s_log1p.c (Sun Microsystems, 1993), whose reductions
 * and coefficients these are; the error of 1 + x: Knuth, TAOCP 2, 4.2.2, theorem B.
 */

/* x = 2^exponent (1 + f), 1 + f from root 1/2 to root 2; ln(1 + f) = f - (square - rest). */
struct P(split) {
    V exponent, f, square, rest;
};

static inline struct P(split) P(split)(V x)
{
    const V scale = x < MIN_NORMAL ? SUBNORMAL : 1;
    const U bits = BITS_OF(x * scale) - ROOT_HALF;
    const S exponent = (S)(bits - (BITS_OF(scale) - BITS_OF(1))) >> FRACTION_BITS;
    const V f = OF_BITS((bits & (((U)1 << FRACTION_BITS) - 1)) + ROOT_HALF) - 1, s = f / (2 + f),
            z = s * s, square = (V)0.5 * f * f;
    return (struct P(split)){.exponent = FLOAT_OF(exponent),
                             .f = f,
                             .square = square,
                             .rest = s * (square + LOG_SERIES(z))};
}

/* What a logarithm of x is, or has to be. */
static inline V P(log_edges)(V x, V log)
{
    const V below = x <= MAX_FINITE ? log : x, down = x == 0 ? -(V)INFINITY : below;
    return x < 0 ? (V)NAN : down;
}

/* ln x + c */
static inline V P(log_near)(V x, V c)
{
    const struct P(split) s = P(split)(x);
    return s.exponent * LN2_HI - ((s.square - (s.rest + (s.exponent * LN2_LO + c))) - s.f);
}

static inline V P(log)(V x)
{
    return P(log_edges)(x, P(log_near)(x, -(V)0)); /* no addition is left of it */
}

/* ln(1 + x): what 1 + x was rounded by, over it, is added. */
static inline V P(log1p)(V x)
{
    const V u = 1 + x, of_x = u - 1, c = (x - of_x) + (1 - (u - of_x));
    const V log = P(log_edges)(u, P(log_near)(u, c / u));
    return x == 0 ? x : log;
}
