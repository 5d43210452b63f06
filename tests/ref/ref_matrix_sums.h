/* Azimuthal sums over a given matrix, as naive loops. */
#ifndef REF_MATRIX_SUMS_H
#define REF_MATRIX_SUMS_H

#include <stddef.h>
#include <stdint.h>

struct ref_matrix {
    size_t pixels, bins;
    const uint32_t *start, *bin;
    const float *coef, *weight, *norm;
    const float *dark, *variance; /* NULL: none */
    const uint8_t *valid;
};

/* A value is left out where it is not finite or lo <= value <= hi. */
struct ref_rules {
    double lo, hi, saturation;
};

enum ref_model { REF_MODEL_NONE, REF_MODEL_POISSON, REF_MODEL_AZIMUTHAL, REF_MODEL_VARIANCE };

/* All arrays [bins] but terms. */
struct ref_sums {
    double *signal, *variance, *normalization, *normalization2, *count;
    double *magnitude[5];    /* sums of the absolute terms of the planes above */
    double *all_dark;        /* the same of weight * dark, pixels that are left out with them */
    double *recurrence;      /* azimuthal variance in one pass, first pixel without */
    double *ordered, *above; /* signal without dark, and poisson's excess, summed slice by slice
                                with fma */
    uint32_t *entries;
    double total, max;
    uint32_t invalid, saturated;
};

/* slice_end: [slices] first pixel behind each. All arrays of sums are overwritten. */
void ref_matrix_sums(struct ref_sums *sums, const struct ref_matrix *matrix, const double *frame,
                     const struct ref_rules *rules, enum ref_model model, const size_t *slice_end,
                     size_t slices);

#endif
