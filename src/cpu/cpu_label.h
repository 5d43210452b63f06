/* Labels on the CPU: runs of foreground, and what is measured of them. */
#ifndef AIRY_CPU_CPU_LABEL_H
#define AIRY_CPU_CPU_LABEL_H

#include "core/objects.h"
#include "label/label_fns.h"

/* Pixels [begin, end) of a row that have one label. */
struct airy_run {
    uint32_t begin, end;
};

/* The runs of all rows (z * height + y), in raster order. */
struct airy_runs {
    size_t shape[3], rows;
    struct airy_run *run;
    uint32_t *row_first; /* [rows + 1] */
    uint32_t *label;     /* of each run; 0: background after all */
};
void airy_runs_free(struct airy_runs *runs);

/* Element 0 of a row of an array of 1 to 3 dimensions. */
char *airy_row_address(const airy_array *array, const size_t shape[3], size_t row);

/* Measures of `count` labels; regions[] is overwritten. */
airy_status airy_measure_runs(airy_queue *queue, airy_region *regions, size_t count,
                              const struct airy_runs *runs, const airy_array *src);

#endif
