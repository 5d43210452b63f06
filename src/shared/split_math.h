/*
 * How a pixel is cut into bins, in doubles: the same on host and device, to the last bit, since
 * sums, products, quotients and roots are rounded correctly on both and nothing else is used.
 */
#ifndef AIRY_SHARED_SPLIT_MATH_H
#define AIRY_SHARED_SPLIT_MATH_H

#ifndef __OPENCL_VERSION__
#include <math.h>
#endif

#include "shared/scalar.h"

#define PI 3.14159265358979323846

/*
 * Shares below this are left out: rounding leaves areas of 1e-16 in bins that a pixel only touches.
 */
#define LEAST_SHARE 0x1p-40

/* The angle nearest to reference among v + k period. */
static inline double unwrap(double v, double reference, double period)
{
    const double d = v - reference;
    return d > 0.5 * period ? v - period : d <= -0.5 * period ? v + period : v;
}

/* No NaN comes here, so these are one instruction each; fmin and fmax are calls. */
static inline double min2(double a, double b)
{
    return a < b ? a : b;
}

static inline double max2(double a, double b)
{
    return a > b ? a : b;
}

static inline double min4(double a, double b, double c, double d)
{
    return min2(min2(a, b), min2(c, d));
}

static inline double max4(double a, double b, double c, double d)
{
    return max2(max2(a, b), max2(c, d));
}

/*
 * sin(theta) for an angle 2 theta with opposite leg r >= 0 and adjacent leg z, without
 * trigonometry and without cancellation: with n = hypot(r, z), sin^2(theta) = (n - z) / 2n = r^2 /
 * (2 n (n + z)).
 */
static inline double half_angle_sine(double r2, double z)
{
    const double n = sqrt(r2 + z * z);
    const double ahead = r2 / (2 * n * (n + fabs(z)));
    const double s2 = z >= 0 ? ahead : 1 - ahead;
    return sqrt(n > 0 ? s2 : 0);
}

/*
 * The arc tangent of t, |t| <= 2^-4: eight terms of its series, of which the next is below 2^-68 of
 * the first.
 */
static inline double arc_of(double t)
{
    const double s = t * t;
    double series = 1.0 / 13 - s * (1.0 / 15);
    series = 1.0 / 11 - s * series;
    series = 1.0 / 9 - s * series;
    series = 1.0 / 7 - s * series;
    series = 1.0 / 5 - s * series;
    series = 1.0 / 3 - s * series;
    return t - t * s * series;
}

/* Not next to the beam: arc_of holds of their ratio. */
static inline int is_small(double cross, double dot)
{
    return dot > 0 && fabs(cross) <= 0x1p-4 * dot;
}

/* The angle of (x, y) as atan2(y, x) has it, to a few 2^-53; 0 at the origin. */
static inline double angle_of(double y, double x)
{
    /* arc tangents of eighths, so that the rest is small */
    const double eighths[9] = {0,
                               0.124354994546761438,
                               0.244978663126864143,
                               0.358770670270572245,
                               0.463647609000806093,
                               0.558599315343562441,
                               0.643501108793284370,
                               0.718829999621624526,
                               0.785398163397448278};
    const double a = fabs(x), b = fabs(y), most = max2(a, b);
    if (!(most > 0))
        return 0;
    const double t = min2(a, b) / most;
    const int k = (int)(8 * t + 0.5);
    double angle = eighths[k] + arc_of((t - 0.125 * k) / (1 + t * (0.125 * k)));
    angle = b > a ? 0.5 * PI - angle : angle;
    angle = x < 0 ? PI - angle : angle;
    return y < 0 ? -angle : angle;
}

/*
 * A polygon being cut into bins: area[0] takes what lies below bin base, area[k] bin base + k - 1,
 * area[slots - 1] the rest.
 */
struct cut {
    double *area;
    double base;
    airy_i64 slots;
};

static inline airy_i64 min_slot(airy_i64 a, airy_i64 b)
{
    return a < b ? a : b;
}

static inline airy_i64 cut_slot(const struct cut *cut, double x)
{
    /* Truncation is floor where it matters: x below base is slot 0 whatever its fraction. */
    const double d = x - cut->base;
    const airy_i64 top = cut->slots - 1;
    if (d < 0)
        return 0;
    return d >= (double)top ? top : min_slot((airy_i64)d + 1, top);
}

/* Add the signed area between an edge and y = 0. */
static inline void cut_edge(const struct cut *cut, double x1, double y1, double x2, double y2)
{
    const airy_i64 s1 = cut_slot(cut, x1), s2 = cut_slot(cut, x2);
    if (s1 == s2) {
        cut->area[s1] += (x2 - x1) * 0.5 * (y1 + y2);
        return;
    }
    const double slope = (y2 - y1) / (x2 - x1);
    const airy_i64 step = s2 > s1 ? 1 : -1;
    double x = x1, y = y1;
    for (airy_i64 s = s1; s != s2; s += step) {
        /* The boundary between slot s and the next: slot s starts at base + s - 1. */
        const double edge = cut->base + (double)(step > 0 ? s : s - 1);
        const double at = y1 + slope * (edge - x1);
        cut->area[s] += (edge - x) * 0.5 * (y + at);
        x = edge;
        y = at;
    }
    cut->area[s2] += (x2 - x) * 0.5 * (y + y2);
}

static inline void cut_begin(struct cut *cut, airy_u64 bins, double *area, double xmin, double xmax)
{
    const double last = (double)(bins - 1);
    const double base = min2(max2(floor(xmin), 0), last), top = min2(max2(floor(xmax), 0), last);
    cut->area = area;
    cut->base = base;
    cut->slots = (airy_i64)(top - base) + 3;
    for (airy_i64 k = 0; k < cut->slots; k++)
        area[k] = 0;
}

/* Areas of a quadrilateral on both sides of an edge between two bins. */
struct two_areas {
    double lower, upper;
};

/* cut_edge of all its edges, for a quadrilateral in two bins: the same operations in the same order. */
static inline struct two_areas cut_in_two(const double x[4], const double y[4], double edge)
{
    double lower = 0, upper = 0;
    for (int k = 0; k < 4; k++) {
        const int n = (k + 1) & 3;
        const double x1 = x[k], y1 = y[k], x2 = x[n], y2 = y[n];
        const int above1 = x1 >= edge, above2 = x2 >= edge;
        if (above1 == above2) {
            const double area = (x2 - x1) * 0.5 * (y1 + y2);
            lower += above1 ? 0 : area;
            upper += above1 ? area : 0;
            continue;
        }
        const double at = y1 + (y2 - y1) / (x2 - x1) * (edge - x1);
        const double first = (edge - x1) * 0.5 * (y1 + at), second = (x2 - edge) * 0.5 * (at + y2);
        lower += above1 ? second : first;
        upper += above1 ? first : second;
    }
    return (struct two_areas){lower, upper};
}

#endif
