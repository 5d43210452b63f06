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

enum {
    AIRY_RUN_WORD = 64,   /* bits */
    AIRY_RUN_PIECE = 1024 /* pixels of a row at a time */
};
/* Pack n bytes of 0 or 1 into whole words; mask has room for the bytes that fill the last word. */
void airy_pack_mask(uint64_t *bits, uint8_t *mask, size_t n);
/* Bits of a row of labels, in words of 64: unlike the one before, or at 0 not 0. */
void airy_label_turns(uint64_t *bits, const uint32_t *row, size_t width);

/*
 * Measures of `count` labels; regions[] is overwritten. labels: an image of them, of which `runs`
 * has the shape only; NULL: the runs'.
 */
airy_status airy_measure_runs(airy_queue *queue, airy_region *regions, size_t count,
                              const struct airy_runs *runs, const airy_array *labels,
                              const airy_array *src);

/* An image that begins so many elements after another one. */
airy_array airy_image_at(const airy_array *first, size_t elements);

airy_status airy_cpu_measure(airy_queue *queue, const struct airy_measure_plan *plan);

#endif
