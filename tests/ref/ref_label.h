/* Connected components by flooding, and their measures by plain sums. */
#ifndef AIRY_TESTS_REF_LABEL_H
#define AIRY_TESTS_REF_LABEL_H

#include <stddef.h>
#include <stdint.h>

/* labels[z][y][x] of foreground (not 0); neighbours: coordinates differ by at most 1, in at most
 * `axes` of them. Returns the number of labels. */
size_t ref_label(uint32_t *labels, const uint8_t *foreground, const size_t shape[3], int axes);

struct ref_region {
    uint64_t count, min_at[3], max_at[3], first[3], last[3];
    double sum, min, max, center[3], centroid[3], mxx, myy, mxy;
    double magnitude; /* sum of |I| */
};
void ref_measure(struct ref_region *r, uint32_t label, const uint32_t *labels, const double *values,
                 const size_t shape[3]);

#endif
