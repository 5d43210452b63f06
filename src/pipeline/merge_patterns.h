/* airy_patterns_merge into memory. */
#ifndef AIRY_PIPELINE_MERGE_PATTERNS_H
#define AIRY_PIPELINE_MERGE_PATTERNS_H

#include "airy/pipeline.h"

enum { AIRY_MERGED_INTENSITY, AIRY_MERGED_STD, AIRY_MERGED_SEM, AIRY_MERGED_PLANES };

/* Patterns in memory. Free them by airy_merged_free, or keep arrays and free each. */
struct airy_merged {
    size_t rows, bins;   /* bins: of the radius */
    size_t azimuth_bins; /* 0: one dimension */
    airy_unit unit, azimuth_unit;
    double *radial, *azimuth; /* azimuth: NULL in one dimension */
    uint64_t *index;          /* [rows]: frame numbers */
    float *values
        [AIRY_MERGED_PLANES]; /* [rows][azimuth_bins][bins]; std and sem NULL without variances */
};

/*
 * Merge into memory where merged is not NULL, and into a file where path is not NULL. All else as of
 * airy_patterns_merge.
 */
airy_status airy_patterns_merge_into(struct airy_merged *merged, const char *path,
                                     const char *const *inputs, size_t count,
                                     const airy_patterns_params *params, airy_patterns_info *info);
void airy_merged_free(struct airy_merged *merged);

#endif
