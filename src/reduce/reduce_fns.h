/*
 * What a back end does for the reduce family: walks over an array that count, sum and list. What a
 * median or a clip makes of them (statistics.c, select.c) is the same on all back ends.
 *
 * Elements are read as f64; one that is masked or NaN lies in no range. Results are host memory and
 * complete on return; threshold writes an array, in the order of the queue.
 */
#ifndef AIRY_REDUCE_REDUCE_FNS_H
#define AIRY_REDUCE_REDUCE_FNS_H

#include <float.h>
#include <math.h>

#include "airy/reduce.h"
#include "shared/double_double.h"

struct airy_reduce_fns;

/* A source and those behind it in a list that a back end may take together: planes of a cube. */
struct airy_reduce_stack {
    size_t images;              /* with it */
    size_t src_step, mask_step; /* from one to the next, in elements */
};

/* An array to be walked. */
struct airy_reduce_source {
    airy_queue *queue;
    const struct airy_reduce_fns *fns;
    const airy_array *src, *mask; /* mask NULL: none */
    size_t count;
    struct airy_reduce_stack stack;
};

/*
 * What elements are compared by: themselves, or with deviation set their distance from center; of
 * the elements in [lo, hi].
 */
struct airy_reduce_order {
    double lo, hi;
    bool deviation;
    double center;
};

/* A list that is longer than this many elements of so many is given up as not worth it. */
static inline size_t airy_reduce_list_limit(size_t count)
{
    return (size_t)1 << 16 > count / 16 ? (size_t)1 << 16 : count / 16;
}

/* One walk that finds all that a statistic or a pass of a clip asks for. */
struct airy_reduce_walk {
    /* in */
    double lo, hi;           /* elements that are left */
    double core_lo, core_hi; /* those of them whose sums are made; the rest, the tails, is listed */
    double window_lo,
        window_hi; /* within the core: listed too, unless it is a single value or empty */
    double pivot;
    /* out */
    uint64_t masked, core_count;
    uint64_t below;                         /* of the core below the window */
    struct airy_double_double sum, squares; /* of x - pivot over the core */
    double min, max;                        /* of the core, +-infinity of none */
    double *window, *tails;                 /* malloc'ed; NULL where nothing was listed */
    size_t window_count, tails_count;       /* right also where a list is longer than its limit: */
    bool window_full, tails_full;           /* then there is none */
};

/* Before what the pieces of an array gave is added: nothing was found. */
static inline void airy_reduce_walk_begin(struct airy_reduce_walk *w)
{
    w->masked = w->core_count = w->below = 0;
    w->window_count = w->tails_count = 0;
    w->sum = w->squares = (struct airy_double_double){0};
    w->min = (double)INFINITY;
    w->max = -(double)INFINITY;
}

/* Runs of a sample, at most, and elements of a run. */
enum { AIRY_SAMPLE_RUN = 16, AIRY_SAMPLE_RUNS = 1024 };

/* Statistics of an image, or the end of its clip, as one call of a back end finds them. */
struct airy_reduce_solution {
    bool found;                        /* false: this way it was not to be had */
    uint64_t finite, masked, infinite; /* of all elements */
    uint64_t count;                    /* what is left; without any the rest is not set */
    double pivot;                      /* and the sums of x - pivot */
    struct airy_double_double sum, squares;
    double min, max, median;
    uint64_t min_at, max_at;
    double low, high; /* bounds of the last pass, and passes */
    uint64_t iterations;
};

struct airy_reduce_fns {
    /*
     * NULL, or all in one go: no pass, and none of `count` images of a queue, waits for the host.
     * params NULL: no clip; else its spread is the standard deviation. Images by themselves come
     * to the same. Where it gives up, the walks below serve.
     */
    airy_status (*solve)(const struct airy_reduce_source *sources, size_t count,
                         const airy_clip_params *params, bool median,
                         struct airy_reduce_solution *solutions);
    airy_status (*walk)(const struct airy_reduce_source *source, struct airy_reduce_walk *walk);
    /* Elements [first[i], first[i] + AIRY_SAMPLE_RUN) of `count` runs; masked ones NaN. */
    airy_status (*sample)(const struct airy_reduce_source *source, const uint64_t *first,
                          size_t count, double (*runs)[AIRY_SAMPLE_RUN]);
    /*
     * How many elements lie below lo and in [lo, hi] in this order; list: NULL, or out, those in
     * [lo, hi], malloc'ed, NULL where they are more than the limit.
     */
    airy_status (*list)(const struct airy_reduce_source *source,
                        const struct airy_reduce_order *order, double lo, double hi,
                        uint64_t *below, uint64_t *inside, double **list);
    /* bins[(key - first) >> shift] += 1 for keys (select.h) in [first, last]. */
    airy_status (*keys)(const struct airy_reduce_source *source,
                        const struct airy_reduce_order *order, uint64_t first, uint64_t last,
                        unsigned shift, uint64_t *bins);
    /* First places in raster order of min and max, which are there. */
    airy_status (*locate)(const struct airy_reduce_source *source, double min, double max,
                          uint64_t *min_at, uint64_t *max_at);
    /* How many elements that are not masked are NaN and infinite. */
    airy_status (*odd)(const struct airy_reduce_source *source, uint64_t *nan, uint64_t *infinite);
    airy_status (*histogram)(const struct airy_reduce_source *source, uint64_t *counts, size_t bins,
                             double lo, double hi, airy_histogram_rest *rest);
    airy_status (*threshold)(airy_queue *queue, const airy_array *mask, const airy_array *src,
                             double value);
};

/* Bins of `keys`: 12 bits of a key at a time. */
enum { AIRY_KEY_BITS = 12 };

extern const struct airy_reduce_fns airy_reduce_cpu, airy_reduce_opencl;

#endif
