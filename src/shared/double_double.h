/*
 * Sums in about 106 bits: an unevaluated hi + lo, |lo| at most half an ulp of hi. Each addition
 * errs by at most 2^-104 of the sums of absolute terms. Needs arithmetic without contraction and
 * without extended precision.
 * Source: T. J. Dekker, Numer. Math. 18 (1971) 224; D. E. Knuth, TAOCP 2, section 4.2.2, theorem B.
 */
#ifndef AIRY_SHARED_DOUBLE_DOUBLE_H
#define AIRY_SHARED_DOUBLE_DOUBLE_H

struct airy_double_double {
    double hi, lo;
};

static inline void airy_double_double_add(struct airy_double_double *sum, double x)
{
    const double s = sum->hi + x, rounded = s - sum->hi;
    const double e = ((sum->hi - (s - rounded)) + (x - rounded)) + sum->lo;
    sum->hi = s + e;
    sum->lo = e - (sum->hi - s);
}

/* a - b, rounded once at the end but for 2^-104 of |a|. */
static inline double airy_double_double_minus(struct airy_double_double a,
                                              struct airy_double_double b)
{
    airy_double_double_add(&a, -b.hi);
    airy_double_double_add(&a, -b.lo);
    return a.hi;
}

#endif
