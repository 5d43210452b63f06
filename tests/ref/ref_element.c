#include "ref_element.h"

#include <math.h>
#include <stdlib.h>

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

long ref_border_element(long i, long n, int border)
{
    while (i < 0 || i >= n) {
        switch (border) {
        case 2:
            i = i < 0 ? 0 : n - 1;
            break;
        case 3:
            i = i < 0 ? -1 - i : 2 * n - 1 - i;
            break;
        case 4:
            i = n == 1 ? 0 : i < 0 ? -i : 2 * n - 2 - i;
            break;
        case 5:
            i = i < 0 ? i + n : i - n;
            break;
        default:
            return -1;
        }
    }
    return i;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double of_list(double *v, size_t n, int how)
{
    long double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        if (isnan(v[i]))
            return (double)NAN;
    if (n == 0)
        return how == 1 ? 0 : (double)NAN;
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    for (size_t i = 0; i < n; i++)
        squares += (v[i] - sum / (long double)n) * (v[i] - sum / (long double)n);
    qsort(v, n, sizeof(*v), compare);
    switch (how) {
    case 0:
        return (double)(sum / (long double)n);
    case 1:
        return (double)sum;
    case 2:
        return v[n - 1];
    case 3:
        return v[0];
    case 4:
        return (double)sqrtl(squares / (long double)n);
    default:
        return (v[(n - 1) / 2] + v[n / 2]) / 2;
    }
}

double ref_project(const double *src, const size_t shape[4], const size_t first[4],
                   const size_t box[4], int how, bool skip_nan, double *scale)
{
    double *list = calloc(box[0] * box[1] * box[2] * box[3], sizeof(*list));
    size_t n = 0;
    *scale = 0;
    for (size_t i = 0; list && i < box[0] * box[1] * box[2] * box[3]; i++) {
        const size_t x = first[3] + i % box[3], y = first[2] + i / box[3] % box[2],
                     z = first[1] + i / (box[3] * box[2]) % box[1],
                     w = first[0] + i / (box[3] * box[2] * box[1]);
        const double v = src[((w * shape[1] + z) * shape[2] + y) * shape[3] + x];
        if (skip_nan && isnan(v))
            continue;
        list[n++] = v;
        *scale += fabs(v);
    }
    const double value = list ? of_list(list, n, how) : (double)NAN;
    free(list);
    return value;
}
