/* What a back end does for the filter family. */
#ifndef AIRY_FILTER_FILTER_FNS_H
#define AIRY_FILTER_FILTER_FNS_H

#include "airy/filter.h"
#include "core/objects.h"

enum { AIRY_FILTER_MAX_RANK = 4 };

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

/*
 * How a convolution is cut for transforms: tiles of length[0] x length[1] x length[2] elements, of
 * which each gives block[0] x block[1] x block[2] results. Axes with more than one tap are
 * transformed. Where x alone is (lines), a tile is `rows` pieces of lines, wherever these lie.
 */
struct airy_convolve_tiles {
    size_t length[3], block[3], rows;
    size_t blocks[3]; /* of an image along each axis */
    bool turned[3], lines;
};

struct airy_convolve_plan {
    const airy_array *dst, *src;
    struct airy_filter_geometry geometry;
    const double *kernel; /* direct, fft: [z taps][y taps][x taps] */
    struct airy_convolve_tiles tiles;
    int rank;                              /* separable: products */
    double *line[AIRY_FILTER_MAX_RANK][3]; /* of a product: taps of each axis */
    bool unit;                             /* each line adds up to 1 */
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
    uint64_t outside;         /* the border's value: an element in its first bytes */
};

/* dst: src where limit |element - median| < |src - median| for at most half of the box, else it. */
struct airy_hampel_plan {
    struct airy_rank_plan median; /* of a box of an odd number of elements */
    double limit;                 /* the MADs that an element may be off the median */
};

struct airy_filter_fns {
    airy_status (*direct)(airy_queue *queue, const struct airy_convolve_plan *plan);
    airy_status (*separable)(airy_queue *queue, const struct airy_convolve_plan *plan);
    /*
     * NULL, or: cut the plan's tiles; the work of fft in products of the direct method, infinite
     * where the kernel is too large for it.
     */
    double (*fft_work)(const airy_queue *queue, struct airy_convolve_plan *plan);
    airy_status (*fft)(airy_queue *queue, const struct airy_convolve_plan *plan);
    airy_status (*rank)(airy_queue *queue, const struct airy_rank_plan *plan);
    airy_status (*hampel)(airy_queue *queue, const struct airy_hampel_plan *plan);
};

/* What transforms cost a back end and how long they may be; lengths are powers of two. */
struct airy_transform_cost {
    size_t least, longest, most; /* along an axis; elements of a tile */
    size_t rows;                 /* of a tile of lines */
    size_t width;                /* of a tile along x where x is not transformed */
    double element[3];           /* work of an element of two tiles, there and back, in products of
                                    the direct method: with one, two, three axes transformed */
    double start;                /* what comes before the first two tiles, as so many of them */
    size_t cached;               /* tiles of more elements take longer: by `beyond` for each */
    double beyond;               /* doubling */
};

/* The tiles that are the least work; that work, infinite where none are large enough. */
double airy_convolve_cut(struct airy_convolve_tiles *tiles,
                         const struct airy_filter_geometry *geometry,
                         const struct airy_transform_cost *cost);

/* Steps of an array of a plan in elements: image, z, y (x is 1). */
void airy_filter_steps(size_t step[3], const airy_array *array,
                       const struct airy_filter_geometry *geometry);

/* dst is on the device, has the shape given and shares no memory with src. */
airy_status airy_filter_check_dst(const airy_queue *queue, const airy_array *dst,
                                  const airy_array *src, const size_t *shape);

/*
 * A kernel of shape[3] as a sum of at most AIRY_FILTER_MAX_RANK products of lines, if the rest is
 * below `limit` times the largest element. line[r][axis]: malloc'ed. *rank 0: it is no such sum.
 */
airy_status airy_kernel_split(double *line[AIRY_FILTER_MAX_RANK][3], int *rank, double *residual,
                              const double *kernel, const size_t shape[3], double limit);

/* Elements that a Gaussian reaches on either side; radius: instead of truncate where not 0. */
double airy_gauss_reach(double sigma, double truncate, size_t radius);
/*
 * A Gaussian of sum 1, or its second derivative: times (x / sigma)^2 - 1, over sigma^2. line:
 * malloc'ed.
 */
airy_status airy_gauss_line(double **line, size_t *taps, double sigma, double truncate,
                            size_t radius, bool second);

extern const struct airy_filter_fns airy_filter_cpu, airy_filter_opencl;

/*
 * src correlated with a product of lines (z, y, x; one tap of 1 for axes in front of the last
 * `axes`), to the shape of src.
 */
airy_status airy_filter_product(airy_queue *queue, airy_array *dst, const airy_array *src,
                                double *const line[3], const size_t taps[3], int axes,
                                const airy_convolve_params *params);

/* Arguments of a filter that are NULL. */
airy_status airy_filter_check_given(const airy_queue *queue, const airy_array *dst,
                                    const airy_array *src, const void *params);

#endif
