/* What a back end does for the filter family. */
#ifndef AIRY_FILTER_FILTER_FNS_H
#define AIRY_FILTER_FILTER_FNS_H

#include "airy/filter.h"
#include "core/objects.h"

enum { AIRY_FILTER_MAX_RANK = 4, AIRY_FILTER_MAX_TAPS = 1025, AIRY_RANK_MAX_COUNT = 1 << 20 };

/*
 * One axis: result i is the sum over j < taps of line[j] times the element i + offset - (taps - 1)
 * + j: the kernel is turned round already.
 */
struct airy_filter_axis {
    size_t n, out, taps;
    int64_t offset;
};

/* Axes z, y, x; images: the list in front of them. dst and src are of as many dimensions. */
struct airy_filter_geometry {
    size_t images;
    struct airy_filter_axis axis[3];
    airy_border border;
    double border_value;
};

struct airy_convolve_plan {
    const airy_array *dst, *src;
    struct airy_filter_geometry geometry;
    const double *kernel;                  /* direct: [z taps][y taps][x taps] */
    int rank;                              /* separable: products */
    double *line[AIRY_FILTER_MAX_RANK][3]; /* of a product: taps of each axis */
};

/*
 * Element number `rank`, from the smallest, of those under the footprint. taps of the geometry: its
 * box. dst and src have the same dtype.
 */
struct airy_rank_plan {
    const airy_array *dst, *src;
    struct airy_filter_geometry geometry;
    const uint8_t *footprint; /* [z][y][x], not all of it set; NULL: the box */
    size_t count, rank;       /* of elements under the footprint; rank < count */
    uint8_t outside[8];       /* the border's value as an element */
};

struct airy_filter_fns {
    airy_status (*direct)(airy_queue *queue, const struct airy_convolve_plan *plan);
    airy_status (*separable)(airy_queue *queue, const struct airy_convolve_plan *plan);
    airy_status (*rank)(airy_queue *queue, const struct airy_rank_plan *plan);
};

/* Steps of an array of a plan in elements: image, z, y (x is 1). */
void airy_filter_steps(size_t step[3], const airy_array *array,
                       const struct airy_filter_geometry *geometry);

/* Index of name among names, or a failure that lists them. */
airy_status airy_find_name(int *index, const char *what, const char *name, const char *const *names,
                           int count);
/* dst is on the device, has the shape given and shares no memory with src. */
airy_status airy_filter_check_dst(const airy_queue *queue, const airy_array *dst,
                                  const airy_array *src, const size_t *shape);

/*
 * A kernel of shape[3] as a sum of at most AIRY_FILTER_MAX_RANK products of lines, if the rest is
 * below `limit` times the largest element. line[r][axis]: malloc'ed. *rank 0: it is no such sum.
 */
airy_status airy_kernel_split(double *line[AIRY_FILTER_MAX_RANK][3], int *rank, double *residual,
                              const double *kernel, const size_t shape[3], double limit);

extern const struct airy_filter_fns airy_filter_cpu, airy_filter_opencl;

/*
 * src correlated with a product of lines (z, y, x; one tap of 1 for axes in front of the last
 * `axes`), to the shape of src.
 */
airy_status airy_filter_product(airy_queue *queue, airy_array *dst, const airy_array *src,
                                double *const line[3], const size_t taps[3], int axes,
                                const airy_convolve_params *params);

#endif
