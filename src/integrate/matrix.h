/*
 * The one matrix of a splitting, by pixel (compressed columns) and, when asked for, by bin.
 * Entries of a pixel are in ascending bin order; entries of a bin in ascending pixel order.
 */
#ifndef AIRY_INTEGRATE_MATRIX_H
#define AIRY_INTEGRATE_MATRIX_H

#include "airy/integrate.h"
#include "base/thread.h"
#include "integrate/split.h"

struct airy_matrix {
    size_t pixels, bins, entries; /* entries < 2^32 */
    uint32_t *start;              /* [pixels + 1]; NULL: there is only the number of entries */
    uint32_t *bin;                /* [entries] */
    float *coef;                  /* [entries] c, sums to 1 over a pixel that lies wholly inside
                                     the range */
    uint32_t *row;                /* [bins + 1], NULL until airy_matrix_by_bin */
    uint32_t *pixel;              /* [entries] */
    uint32_t *entry;              /* [entries] index into bin/coef of the entry */
};

struct airy_matrix_limits {
    double lower, upper; /* of the radial axis in the unit; bins are (upper - lower) / bins wide */
    double azimuth_lower, azimuth_upper; /* of the second axis in its unit; two dimensions only */
};

/*
 * A matrix is made in steps, of which a back end may do the second and the last by itself:
 *   plan   checks the parameters and says what rows of pixels are walked with, but for the axes
 *   reach  what the pixels that are not masked reach; only where airy_matrix_needs_reach
 *   range  the axes
 *   fill   entries of pixels that count: valid[i] != 0; fewer than 2^32 of them
 * Loops run on the pool.
 */
airy_status airy_matrix_plan(struct airy_split_rule *rule, const airy_geometry *geometry,
                             const airy_integrator_params *params);
bool airy_matrix_needs_reach(const airy_integrator_params *params);
airy_status airy_matrix_reach(struct airy_split_limits *found, const struct airy_split_rule *rule,
                              size_t height, const uint8_t *mask, airy_pool *pool);
airy_status airy_matrix_range(struct airy_split_rule *rule, struct airy_matrix_limits *limits,
                              const airy_integrator_params *params,
                              const struct airy_split_limits *found);
airy_status airy_matrix_fill(struct airy_matrix *matrix, const struct airy_split_rule *rule,
                             size_t height, const uint8_t *valid, airy_pool *pool);
/* All of them. */
airy_status airy_matrix_build(struct airy_matrix *matrix, struct airy_matrix_limits *limits,
                              const airy_geometry *geometry, const airy_integrator_params *params,
                              const uint8_t *valid, airy_pool *pool);
/* Before anything is found. */
extern const struct airy_split_limits airy_split_no_limits;
/* Once; the result does not depend on the pool. */
airy_status airy_matrix_by_bin(struct airy_matrix *matrix, airy_pool *pool);
void airy_matrix_free(struct airy_matrix *matrix);

#endif
