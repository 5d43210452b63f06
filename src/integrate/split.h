/* How a pixel is shared between bins: rows of pixels in, entries of the matrix out. */
#ifndef AIRY_INTEGRATE_SPLIT_H
#define AIRY_INTEGRATE_SPLIT_H

#include "airy/integrate.h"
#include "integrate/pose.h"

/* Bins of an axis: [lower, upper), or with upper in the last one. */
struct airy_split_axis {
    size_t bins;
    double lower, upper, delta;
    double reach; /* upper before the compat mode enlarges it */
    bool closed;
};

/*
 * What one splitting of one geometry needs; the limits may still be unknown while
 * airy_split_widen runs.
 */
struct airy_split_rule {
    struct airy_pose pose, corner_pose;
    airy_unit unit;
    double scale; /* the unit of the axis is scale times this one; 1 without compat */
    airy_split split;
    bool all_pixels; /* ranges that are not given are those of masked pixels as well; compat only */
    bool compat, truncate;  /* truncate: towards bin 0 rather than down, compat only */
    bool positive, angular; /* the unit cannot be negative; it is an angle about the beam */
    double period;          /* of such a unit: 360 or 2 pi */
    bool polar,
        singular;  /* the unit is 0 at the beam, where the other axis is an angle about it; it
                               is infinite there */
    bool folded;   /* an axis jumps where qip changes its sign, and pixels stay on one side */
    bool relative; /* chi is asked for only by how much it differs within a pixel */
    bool chi_zero;
    bool joins_at_zero; /* pyFAI's histogram: a pixel on the discontinuity is whole there, too */
    size_t width;
    struct airy_split_axis radial; /* in the unit */
    struct airy_split_axis chi; /* rad, or azimuth_unit where that has no turn; bins 0: patterns of
                                      one dimension */
    airy_unit azimuth_unit; /* of that axis, angles in rad: chi_rad, chigi_rad, qoop_nm^-1, ... */
    double turn;            /* of that axis: 2 pi, or 0 */
    bool has_azimuth;       /* one dimension: only pixels in this range of chi count */
    double azimuth_lo, azimuth_hi; /* rad, lo < hi <= lo + 2 pi */
};

/* What pixels reach, in the unit and in rad. */
struct airy_split_limits {
    double lower, upper, chi_lower, chi_upper;
};

/* Entries in the making: of some rows, in pixel order. */
struct airy_entries {
    uint32_t *bin;
    float *coef;
    size_t count, capacity;
    size_t most; /* more than this are not wanted */
    bool failed; /* out of memory or too many; nothing is added any more */
};

/* Work space of one thread. */
struct airy_split_scratch {
    double *block;                                 /* holds the others */
    double *line[2], *chi_line[2];                 /* [width + 1] corners below and above a row;
                                                      chi in rad; where relative, of entries: in
                                                      bins, and by how much chi differs at the
                                                      next corner of the line */
    double *y_line[2], *x_line[2];                 /* [width + 1] where relative: their positions */
    double *lowest, *highest;                      /* [width] where relative: of corners, in bins */
    double *radial[4], *chi[4];                    /* of the row's pixels: their corners A, B, C, D
                                                      in the lines above, or [width] each of a
                                                      detector with corners of its own; chi where
                                                      relative: [width] less that of A */
    double *beam;                                  /* [width] not 0: the direct beam is in the
                                                      pixel; with such corners only */
    double *side;                                  /* [width] where folded: with the sign of qip */
    double *center, *center_chi, *half, *half_chi; /* [width] */
    double *area;                                  /* [radial bins + 2] */
    double *band;                                  /* [chi bins] */
    double *cells;                                 /* [radial bins x chi bins], compat only */
};
airy_status airy_split_scratch_create(struct airy_split_scratch *scratch,
                                      const struct airy_split_rule *rule);
void airy_split_scratch_free(struct airy_split_scratch *scratch);

/*
 * Widen the limits by what pixels of rows [first, last) reach; masked: not 0 = leave out,
 * [height * width] or NULL.
 */
void airy_split_widen(struct airy_split_limits *limits, const struct airy_split_rule *rule,
                      struct airy_split_scratch *scratch, size_t first, size_t last,
                      const uint8_t *masked);
/*
 * Entries of rows [first, last); counts[i]: how many pixel i of the image has. valid: not 0 = take.
 */
void airy_split_rows(struct airy_entries *entries, uint32_t *counts,
                     const struct airy_split_rule *rule, struct airy_split_scratch *scratch,
                     size_t first, size_t last, const uint8_t *valid);

#endif
