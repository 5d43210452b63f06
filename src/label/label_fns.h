/* What a back end does for the label family. The front has checked; results are complete on return. */
#ifndef AIRY_LABEL_LABEL_FNS_H
#define AIRY_LABEL_LABEL_FNS_H

#include "airy/label.h"

struct airy_label_plan {
    const airy_array *labels; /* u32 or i32; NULL: not wanted */
    const airy_array *src;
    size_t shape[3]; /* z, y, x */
    int connectivity;
    bool has_above;
    double above;
    uint64_t min_count, max_count; /* max: UINT64_MAX where there is no limit */
    bool wants_regions;
    size_t count;         /* out */
    airy_region *regions; /* out, malloc'ed, where wanted */
};

struct airy_measure_plan {
    airy_region *regions; /* out */
    size_t count;
    const airy_array *labels, *src;
    size_t shape[3];
};

struct airy_label_fns {
    airy_status (*label)(airy_queue *queue, struct airy_label_plan *plan);
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
