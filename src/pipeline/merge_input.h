/* Results that are merged: their axes, and the sums of their rows, in blocks of rows. */
#ifndef AIRY_PIPELINE_MERGE_INPUT_H
#define AIRY_PIPELINE_MERGE_INPUT_H

#include "airy/merge.h"
#include "airy/result.h"

struct merge_input {
    airy_result *result;
    const char *path, *file; /* as it was given, and of the file that is open */
    size_t rows, bins;       /* bins: of the radius */
    size_t azimuth_bins;     /* 0: one dimension */
    const double *radial, *azimuth;
    airy_unit unit, azimuth_unit; /* azimuth_unit: of two dimensions */
    bool errors, grouped;
    char *fingerprint; /* base/fingerprint.h; "": the file has none */
    size_t cells;
    bool shared[AIRY_SUM_PLANES];  /* the same for all rows */
    size_t first, count;           /* rows of the block */
    size_t most;                   /* rows of a block; 0: it has no memory yet */
    double *sums[AIRY_SUM_PLANES]; /* [most][cells], or [cells] where rows share them */
    double *numbers[4];            /* [most]: total, max, saturated, invalid */
    uint32_t *frames;              /* [most] */
};

/* Open a result of an integration. Errors as of airy_result_open. */
airy_status airy_merge_input_open(struct merge_input *input, const char *path);
void airy_merge_input_close(struct merge_input *input);
/* Numbers of all rows' frames in the input. */
airy_status airy_merge_input_index(struct merge_input *input, uint64_t *index, size_t count);
/*
 * sums: [AIRY_SUM_PLANES][cells], variance 0 without errors; stats and frames (1 where the file
 * does not say) of a row. Rows are read in blocks, so ask for one after another.
 */
airy_status airy_merge_input_row(struct merge_input *input, size_t row, double *sums,
                                 airy_frame_stats *stats, uint32_t *frames);

#endif
