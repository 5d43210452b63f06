#include "ref_element.h"

#include <math.h>

long double ref_enter(long double v, enum ref_domain domain)
{
    return domain == REF_F32   ? (long double)(float)v
           : domain == REF_F64 ? (long double)(double)v
                               : v;
}

/* The four operations and the root, rounded once: twice the digits of f32 and two are in f64. */
static long double once(long double f64, enum ref_domain domain)
{
    return domain == REF_F32 ? (long double)(float)(double)f64 : (long double)(double)f64;
}

static long double basic(int op, long double a, long double b, enum ref_domain domain)
{
    const double x = (double)a, y = (double)b;
    if (domain == REF_EXACT)
        return op == 0 ? a + b : op == 1 ? a - b : a * b;
    return once(op == 0 ? x + y : op == 1 ? x - y : op == 2 ? x * y : x / y, domain);
}

static bool compares(int op, long double a, long double b)
{
    switch (op) {
    case 8:
        return a < b;
    case 9:
        return a <= b;
    case 10:
        return a == b;
    case 11:
        return a != b;
    case 12:
        return a >= b;
    case 13:
        return a > b;
    case 14:
        return a != 0 && b != 0;
    case 15:
        return a != 0 || b != 0;
    default:
        return (a != 0) != (b != 0);
    }
}

long double ref_operator(int op, long double a, long double b, enum ref_domain domain)
{
    a = ref_enter(a, domain);
    b = ref_enter(b, domain);
    if (op < 4)
        return basic(op, a, b, domain);
    if (op == 4 || op == 5) {
        if (isnan(a) || isnan(b))
            return (long double)NAN;
        return op == 4 ? (a < b ? a : b) : (a > b ? a : b);
    }
    if (op == 6)
        return ref_enter((long double)pow((double)a, (double)b), domain);
    if (op == 7)
        return ref_enter((long double)hypot((double)a, (double)b), domain);
    return compares(op, a, b);
}

long double ref_function(int function, long double a, enum ref_domain domain)
{
    a = ref_enter(a, domain);
    const double x = (double)a;
    switch (function) {
    case 0:
        return -a;
    case 1:
        return fabsl(a);
    case 2:
        return basic(2, a, a, domain);
    case 3:
        return once((long double)sqrt(x), domain);
    case 4:
        return ref_enter((long double)exp(x), domain);
    case 5:
        return ref_enter((long double)log(x), domain);
    case 6:
        return ref_enter((long double)log10(x), domain);
    case 7:
        return ref_enter((long double)log1p(x), domain);
    case 8:
        return a == 0;
    case 9:
        return isnan(a) != 0;
    default:
        return isfinite(a) != 0;
    }
}

long double ref_store(long double v, struct ref_type type, bool truncate)
{
    if (type.is_float)
        return type.size == 4 ? (long double)(float)v : (long double)(double)v;
    if (isnan(v))
        return 0;
    const int bits = 8 * type.size;
    const long double above = ldexpl(1, type.is_signed ? bits - 1 : bits),
                      least = type.is_signed ? -above : 0;
    const long double whole = truncate ? truncl(v) : rintl(v);
    return whole >= above ? above - 1 : whole < least ? least : whole;
}
