/* What a back end does for the label family. The front has checked; results are complete on return. */
#ifndef AIRY_LABEL_LABEL_FNS_H
#define AIRY_LABEL_LABEL_FNS_H

#include "airy/label.h"

/* Images of one shape. Arrays of a plan are those of the first; steps: to the next, in elements. */
struct airy_label_stack {
    size_t images;
    size_t src_step, labels_step;
    size_t shape[3]; /* of an image: z, y, x */
};

struct airy_label_plan {
    const airy_array *labels; /* u32 or i32; NULL: not wanted */
    const airy_array *src;
    struct airy_label_stack stack;
    int connectivity;
    bool has_above;
    double above;
    uint64_t min_count, max_count; /* max: UINT64_MAX where there is no limit */
    size_t *counts;                /* out, of each image */
    airy_region **regions;         /* out, malloc'ed lists, all NULL before; NULL: not wanted. The
                                      front frees them when a call fails */
};

struct airy_measure_plan {
    airy_region *const *regions; /* out, of each image */
    const size_t *counts;
    const airy_array *labels, *src;
    struct airy_label_stack stack;
};

struct airy_label_fns {
    airy_status (*label)(airy_queue *queue, const struct airy_label_plan *plan);
    airy_status (*measure)(airy_queue *queue, const struct airy_measure_plan *plan);
};

/*
 * Sums over a label's pixels, of which its measures are made. Places in `moment` and in xx, yy, xy
 * are from an origin inside the box of the component and in units of a length.
 */
struct airy_region_sums {
    uint64_t count;
    double sum, moment[3]; /* of I, of I u */
    double place[3];       /* of r, from the image's corner */
    double xx, yy, xy;     /* of I u u */
};

/*
 * What follows from the sums; extremes and box are there already. origin, length: z, y, x of the
 * places in moments.
 */
void airy_region_finish(airy_region *region, const struct airy_region_sums *sums,
                        const double origin[3], const double length[3]);

extern const struct airy_label_fns airy_label_cpu, airy_label_opencl;

#endif
