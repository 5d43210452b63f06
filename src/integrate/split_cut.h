/* Pieces that splittings in one and in two dimensions are made of. */
#ifndef AIRY_INTEGRATE_SPLIT_CUT_H
#define AIRY_INTEGRATE_SPLIT_CUT_H

#include <math.h>

#include "integrate/split.h"

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
 * A polygon being cut into bins: area[0] takes what lies below bin base, area[k] bin base + k - 1,
 * area[slots - 1] the rest.
 */
struct cut {
    double *area;
    double base;
    ptrdiff_t slots;
};

static inline ptrdiff_t min_slot(ptrdiff_t a, ptrdiff_t b)
{
    return a < b ? a : b;
}

static inline ptrdiff_t cut_slot(const struct cut *cut, double x)
{
    /* Truncation is floor where it matters: x below base is slot 0 whatever its fraction. */
    const double d = x - cut->base;
    const ptrdiff_t top = cut->slots - 1;
    if (d < 0)
        return 0;
    return d >= (double)top ? top : min_slot((ptrdiff_t)d + 1, top);
}

/* Add the signed area between an edge and y = 0. */
static inline void cut_edge(const struct cut *cut, double x1, double y1, double x2, double y2)
{
    const ptrdiff_t s1 = cut_slot(cut, x1), s2 = cut_slot(cut, x2);
    if (s1 == s2) {
        cut->area[s1] += (x2 - x1) * 0.5 * (y1 + y2);
        return;
    }
    const double slope = (y2 - y1) / (x2 - x1);
    const ptrdiff_t step = s2 > s1 ? 1 : -1;
    double x = x1, y = y1;
    for (ptrdiff_t s = s1; s != s2; s += step) {
        /* The boundary between slot s and the next: slot s starts at base + s - 1. */
        const double edge = cut->base + (double)(step > 0 ? s : s - 1);
        const double at = y1 + slope * (edge - x1);
        cut->area[s] += (edge - x) * 0.5 * (y + at);
        x = edge;
        y = at;
    }
    cut->area[s2] += (x2 - x) * 0.5 * (y + y2);
}

static inline void cut_begin(struct cut *cut, size_t bins, double *area, double xmin, double xmax)
{
    const double last = (double)(bins - 1);
    const double base = min2(max2(floor(xmin), 0), last), top = min2(max2(floor(xmax), 0), last);
    cut->area = area;
    cut->base = base;
    cut->slots = (ptrdiff_t)(top - base) + 3;
    for (ptrdiff_t k = 0; k < cut->slots; k++)
        area[k] = 0;
}

/* By the quadrilateral of the corners. */
static inline bool has_corners(airy_split split)
{
    return split == AIRY_SPLIT_FULL || split == AIRY_SPLIT_PSEUDO;
}

/* What corners A (y, x), B (y + 1, x), C (y + 1, x + 1), D (y, x + 1) of pixel j have in a row. */
static inline void gather_corners(double out[4], double *const corner[4], size_t j)
{
    for (int k = 0; k < 4; k++)
        out[k] = corner[k][j];
}

/* Room for one more; false: out of memory, or more than wanted. */
bool airy_entries_grow(struct airy_entries *entries);

/* One pixel's entries: `first` is where they start. */
struct sink {
    struct airy_entries *entries;
    size_t first;
};

/*
 * Bins come in ascending order; the same bin twice (a pixel on both sides of chi's discontinuity)
 * is one entry.
 */
static inline void emit(struct sink *sink, size_t bin, double coef)
{
    struct airy_entries *e = sink->entries;
    if (e->count > sink->first && e->bin[e->count - 1] == bin) {
        e->coef[e->count - 1] = (float)(e->coef[e->count - 1] + coef);
        return;
    }
    if (e->failed || (e->count == e->capacity && !airy_entries_grow(e)))
        return;
    e->bin[e->count] = (uint32_t)bin;
    e->coef[e->count++] = (float)coef;
}

static inline double to_bins(const struct airy_split_axis *axis, double v)
{
    return (v - axis->lower) / axis->delta;
}

/* The bin of a value, or -1. */
static inline ptrdiff_t bin_of(const struct airy_split_rule *rule,
                               const struct airy_split_axis *axis, double v)
{
    const double x = to_bins(axis, v), last = (double)(axis->bins - 1);
    if (rule->compat) {
        const double bin = rule->truncate ? trunc(x) : floor(x);
        return bin >= 0 && bin <= last ? (ptrdiff_t)bin : -1;
    }
    if (!(v >= axis->lower) || !(v < axis->upper || (axis->closed && v == axis->upper)))
        return -1;
    return (ptrdiff_t)(x < last ? x : last);
}

/*
 * Shares of [v0, v1] by length in bins *first and the following ones; how many they are. What lies
 * outside of the range is lost; with compat it goes to the bin at the edge, so that every pixel that
 * is kept sums to 1, and bin numbers are made by truncation (by pixel: down).
 */
size_t airy_split_shares(double *share, size_t *first, const struct airy_split_rule *rule,
                         const struct airy_split_axis *axis, double v0, double v1);

/* turn[k]: the angle from (x0[k], y0[k]) to (x1[k], y1[k]), [-pi, pi]; 0 at the origin. */
void airy_split_turns(double *restrict turn, const double *y0, const double *x0, const double *y1,
                      const double *x1, size_t n);

/* Entries of pixel j of the row that is loaded, in two dimensions: bin = chi bin x radial bins + bin. */
void airy_split_cell(struct airy_entries *entries, const struct airy_split_rule *rule,
                     struct airy_split_scratch *scratch, size_t i, size_t j);

/* What the pixel with the beam reaches along chi, rad; a whole turn where the beam is inside. */
void airy_split_beam_reach(double *lo, double *hi, const struct airy_split_rule *rule,
                           const struct airy_split_scratch *scratch, size_t i, size_t j);

/* True where the direct beam lies in pixel (i, j) of the row that is loaded or on its edge. */
bool airy_split_holds_beam(const struct airy_split_rule *rule, const struct airy_split_scratch *s,
                           size_t i, size_t j);
/* Which corners (A, B, C, D) of pixel (i, j) the beam goes through. */
void airy_split_at_beam(bool at_beam[4], const struct airy_pose *pose, size_t i, size_t j);
/* A quadrilateral on both sides of chi's discontinuity is put together, as pyFAI does it. */
void airy_split_join(const struct airy_split_rule *rule, const double x[4], double y[4]);
/* chi in rad as the compat mode has it. */
double airy_split_compat_chi(const struct airy_split_rule *rule, double chi);

#endif
