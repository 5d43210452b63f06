/* The integrator as the back ends see it: immutable after create. */
#ifndef AIRY_INTEGRATE_INTEGRATOR_H
#define AIRY_INTEGRATE_INTEGRATOR_H

#include <math.h>

#include "airy/merge.h"
#include "base/fingerprint.h"
#include "shared/double_double.h"
#include "integrate/matrix.h"
#include "shared/pixel_test.h"
#include "shared/ring_geom.h"

/* Sums that are the same for all frames. */
enum airy_base {
    AIRY_BASE_NORMALIZATION,
    AIRY_BASE_NORMALIZATION2,
    AIRY_BASE_COUNT,
    AIRY_BASE_DARK,
    AIRY_BASE_VARIANCE,
    AIRY_BASE_PLANES
};

/* s of create: see airy_integrator_info. */
struct airy_setup_times {
    double corrections, matrix, sums, tables;
};

struct airy_integrator {
    airy_device *device;
    airy_geometry geometry;
    airy_integrator_params params; /* defaults filled in; its array pointers are NULL: see below */
    size_t height, width, pixels, valid_pixels;
    size_t not_finite_pixels; /* of those that do not count, but are not masked: see airy_losses */
    bool has_dark;
    airy_ring_rule ring; /* of clip or quantile; AIRY_RING_NONE: plain sums */
    size_t bins; /* of the matrix: params.bins, in two dimensions times params.azimuth_bins */

    /*
     * Only of pixels that count. Where the back end has split them, there is the number of entries
     * alone, and the rule for airy_integrator_matrix.
     */
    struct airy_matrix matrix;
    struct airy_split_rule rule;
    /*
     * Where the back end has made the corrections, norm, dark and valid are NULL here, and taken by
     * airy_corrections_take.
     *
     * Of entry e of pixel i:  signal += weight[e] (raw - dark[i]);  variance += weight[e]^2 v(raw)
     *   normalization += coef[e] norm[i];  normalization2 += (coef[e] norm[i])^2;  count += coef[e]
     * weight is coef in a weighted mean (the same pointer then) and coef / n unweighted; norm is
     * n, or 1 unweighted.
     */
    float *weight;          /* [entries] */
    float *norm;            /* [pixels], 0 where the pixel does not count */
    float *dark, *variance; /* [pixels] or NULL */
    uint8_t *valid;         /* [pixels], 1 = counts: not masked, corrections finite, n not 0;
                               wherever the range is */

    /*
     * Of a frame without invalid pixels, f64 [bins] each: sums over all entries. One block, in the
     * order of enum airy_base.
     */
    double *base_normalization, *base_normalization2, *base_count;
    double *base_dark;      /* sum weight * dark; 0 without dark */
    double *base_variance;  /* poisson: sum weight^2; variance: sum weight^2 variance; else 0 */
    double *base_low;       /* [AIRY_BASE_PLANES][bins], what the sums above lack in 53 bits: see
                              shared/double_double.h */
    uint32_t *base_entries; /* [bins] number of entries: 0 left means an empty bin, all sums
                               exactly 0 */

    struct airy_matrix_limits limits;
    double *radial;  /* [params.bins] */
    double *azimuth; /* [params.azimuth_bins], degrees; NULL in one dimension */
    void *state;     /* the back end's own form; integrate_fns->release */
    uint64_t state_bytes;
    uint64_t booked; /* of the device's limit, where it works in the host's memory */
    const char *engine;
    struct airy_setup_times times;
    struct airy_fingerprint fingerprint; /* of all that decides its sums; see fingerprint.c */
};

/* Both make the same patterns of any frame, as far as their devices do. */
bool airy_integrators_agree(const airy_integrator *a, const airy_integrator *b);
/* Add the lines of an integrator whose arrays are still the caller's. */
void airy_integrator_put_fingerprint(struct airy_fingerprint *f, const airy_integrator *it);

/*
 * What entry e of a pixel adds to the base sums. The only place where this is written down for the
 * host: what is taken away from a base sum is bit by bit what was added to it.
 */
static inline void airy_base_terms(double terms[AIRY_BASE_PLANES], const airy_integrator *it,
                                   size_t pixel, uint32_t e)
{
    const double c = (double)it->matrix.coef[e], weight = (double)it->weight[e],
                 cn = c * (double)it->norm[pixel];
    double variance = 0;
    if (it->params.error_model == AIRY_ERROR_MODEL_POISSON)
        variance = 1;
    else if (it->variance)
        variance = (double)it->variance[pixel];
    terms[AIRY_BASE_NORMALIZATION] = cn;
    terms[AIRY_BASE_NORMALIZATION2] = cn * cn;
    terms[AIRY_BASE_COUNT] = c;
    terms[AIRY_BASE_DARK] = it->dark ? weight * (double)it->dark[pixel] : 0;
    terms[AIRY_BASE_VARIANCE] = weight * weight * variance;
}

/* How many pixels do not count, by the first reason that holds. */
struct airy_losses {
    size_t masked, not_finite, zero;
};

/* norm, dark, valid and variance of the integrator, and how many pixels count. */
airy_status airy_corrections_make(airy_integrator *integrator,
                                  const airy_integrator_params *params);
/* What was found of them: how many pixels count. Errors: AIRY_ERR_PARAM, none does. */
airy_status airy_corrections_count(airy_integrator *integrator, const struct airy_losses *losses);
void airy_corrections_warn(const airy_integrator *integrator);

/* Of the host: see the members of struct airy_integrator. */
struct airy_corrections {
    float *norm, *dark; /* dark: NULL without */
    uint8_t *valid;
    bool own; /* a copy of the device's, which lives until the release; else the integrator's */
};
/* On failure there is nothing to release. */
airy_status airy_corrections_take(struct airy_corrections *corrections,
                                  const airy_integrator *integrator);
void airy_corrections_release(struct airy_corrections *corrections);

/* The matrix of an integrator that has none: as the host makes it always, to the last bit. */
airy_status airy_integrator_matrix(struct airy_matrix *matrix, const airy_integrator *integrator);
/* Memory for the base sums, which are 0 then. */
airy_status airy_base_sums_alloc(airy_integrator *integrator);
/* The base sums, of a matrix that is there; on the pool of the device. */
airy_status airy_base_sums_make(airy_integrator *integrator);

/* airy_ring_scale of a bin. */
static inline double airy_integrator_ring_scale(const airy_integrator *it, size_t bin)
{
    const double bound = sqrt((double)it->base_entries[bin] * it->base_normalization2[bin]);
    int exponent;
    frexp(bound * (1.0 + 0x1p-40), &exponent); /* the root and what is below it are rounded */
    return airy_ring_scale(ldexp(1.0, exponent));
}

/* From sums to results, [bins] each; norms: sum_normalization, sum_normalization2 and count. */
struct airy_division {
    const double *signal, *variance, *norms; /* variance NULL: no std and sem */
    float *intensity, *std, *sem;            /* std, sem may be NULL */
    size_t bins;
    float empty; /* of bins without pixels */
};

/* Long rows are shared out to the pool; NULL: the calling thread does all. */
void airy_divide(struct airy_division d, airy_pool *pool);

/*
 * The front's raw-value rules for a dtype: dummy values (given, or the detector's own),
 * saturation, compat rounding.
 */
airy_status airy_pixel_test_make(airy_pixel_test *test, const airy_integrator *integrator,
                                 airy_dtype dtype);

/* airy_roi_sum of planes that lie apart: signal, normalization, count. */
airy_status airy_roi_sum_planes(double *signal, double *mean, const double *const planes[3],
                                const airy_integrator_info *axes, const airy_roi *roi);

#endif
