/* Pieces that splittings in one and in two dimensions are made of. */
#ifndef AIRY_INTEGRATE_SPLIT_CUT_H
#define AIRY_INTEGRATE_SPLIT_CUT_H

#include <math.h>

#include "integrate/split.h"
#include "shared/split_math.h"

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
/* [0, 2 pi) from (-pi, pi]. */
static inline double chi_from_zero(double chi)
{
    const double v = chi < 0 ? chi + 2 * PI : chi;
    return v >= 2 * PI ? 0 : v;
}

/* chi in rad as the compat mode has it. */
double airy_split_compat_chi(const struct airy_split_rule *rule, double chi);

#endif
