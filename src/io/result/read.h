/* An integrated file read back row by row: the sums of each pattern. */
#ifndef AIRY_IO_RESULT_READ_H
#define AIRY_IO_RESULT_READ_H

#include "io/result/layout.h"

typedef struct airy_pattern_reader airy_pattern_reader;

struct airy_pattern_axes {
    size_t rows, bins;   /* bins: of the radius */
    size_t azimuth_bins; /* 0: one dimension */
    const double *radial, *azimuth;
    airy_unit unit, azimuth_unit; /* azimuth_unit: of two dimensions */
    bool errors;
    const char *fingerprint; /* base/fingerprint.h; "": the file has none */
};

/* AIRY_ERR_NOT_FOUND, AIRY_ERR_IO, AIRY_ERR_FORMAT; the sentence names the file. */
airy_status airy_pattern_reader_open(airy_pattern_reader **reader, const char *path);
void airy_pattern_reader_close(airy_pattern_reader **reader);
const struct airy_pattern_axes *airy_pattern_reader_axes(const airy_pattern_reader *reader);
/* frame/status and frame/index of a row. */
int32_t airy_pattern_reader_status(const airy_pattern_reader *reader, size_t row);
uint64_t airy_pattern_reader_index(const airy_pattern_reader *reader, size_t row);
/*
 * sums: [AIRY_SUM_PLANES][all bins], variance 0 without errors; stats and frames (1 where the file
 * does not say) of a row.
 */
airy_status airy_pattern_reader_row(airy_pattern_reader *reader, size_t row, double *sums,
                                    airy_frame_stats *stats, uint32_t *frames);

#endif
