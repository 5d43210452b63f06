/*
 * Rank filters on the CPU: comparison networks on lines, and windows that move.
 *
 * Elements are looked at as keys, whose order is that of the elements: unsigned numbers of 8, 16 and
 * 32 bits, signed ones of 64. Floats are keys by their bits; NaN is the largest.
 */
#ifndef AIRY_CPU_CPU_RANK_H
#define AIRY_CPU_CPU_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "airy/device.h"
#include "airy/dtype.h"

/* Bytes of the pieces that a line is worked on in: the widest register. */
enum { AIRY_RANK_CHUNK = 64 };

enum airy_rank_step { AIRY_RANK_BOTH, AIRY_RANK_LOWER, AIRY_RANK_UPPER };

/*
 * low[i] = min(a[i + shift_a], b[i + shift_b]), high[i] the larger one, for i in so many chunks.
 * Lines are numbered. LOWER, UPPER: only one of the two.
 */
struct airy_rank_op {
    uint32_t a, b, low, high;
    uint32_t shift_a, shift_b;
    uint32_t chunks;
    enum airy_rank_step step;
};

/* lines[0 .. inputs - 1] are given; operations write the others. */
struct airy_rank_network {
    struct airy_rank_op *ops;
    size_t count, inputs, lines;
    size_t rows;                     /* rows of results */
    uint32_t *output, *output_shift; /* of each row: its line, and its first element there */
    size_t reach; /* elements of an input line beyond those of the results, at most */
    double cost;  /* bytes read or written for a byte of results */
};

/* What a network is of. */
struct airy_rank_window {
    size_t planes, height, width;
    const uint8_t *footprint; /* NULL: all of it */
    size_t count, rank;
    size_t rows;         /* of results, that there are at most */
    size_t length, elem; /* elements of a line of results, bytes of one */
};

/*
 * The network with the least work; inputs are lines [plane][row] of rows + height - 1 rows. network->ops
 * NULL, and AIRY_OK: it would have too many steps. Freed by airy_rank_network_free.
 */
airy_status airy_rank_network_make(struct airy_rank_network *network,
                                   const struct airy_rank_window *window);
void airy_rank_network_free(struct airy_rank_network *network);

struct airy_rank_slide;
struct airy_rank_kernels {
    double bytes_a_ns; /* that a network reads and writes, about */
    double bucket_ns;  /* of a result with buckets, about */
    void (*buckets)(const struct airy_rank_slide *slide);
    /* By the logarithm of the bytes of a key. */
    void (*run[4])(const struct airy_rank_op *ops, size_t count, void *const *lines);
    void (*load[AIRY_DTYPE_COUNT])(void *keys, const void *src, size_t n);
    void (*store[AIRY_DTYPE_COUNT])(void *dst, const void *keys, size_t n);
    /* count[i] += elements j < taps with limit |line[i + j] - median[i]| < off[i], i < n */
    void (*count_near)(double *count, const double *line, const double *median, const double *off,
                       double limit, size_t taps, size_t n);
};
extern const struct airy_rank_kernels airy_rank_portable;
#if defined(__x86_64__)
extern const struct airy_rank_kernels airy_rank_avx2, airy_rank_avx512;
#endif
const struct airy_rank_kernels *airy_rank_kernels(void);

/* Elements of a row of the footprint that follow each other: first to end - 1. */
struct airy_rank_run {
    uint32_t plane, row, first, end;
};

/* A window that moves over a tile of keys. */
struct airy_rank_slide {
    const void *keys; /* [planes][rows][length]: the results' places and what is seen around them */
    size_t elem;
    size_t planes, rows, length;
    size_t height, width; /* of the results */
    const struct airy_rank_run *runs;
    size_t run_count, rank;
    size_t taps[2]; /* of a box, along y and x */
    void *results;  /* [height][width] */
    void *scratch;  /* airy_rank_slide_scratch or airy_rank_histogram_scratch bytes */
};
/* For so many keys, fewer than 2^32. */
size_t airy_rank_slide_scratch(size_t keys);
void airy_rank_slide(const struct airy_rank_slide *slide);
/* The same of a box of 8-bit keys, at most AIRY_RANK_HISTOGRAM_MOST of them; runs are not looked at. */
enum { AIRY_RANK_HISTOGRAM_MOST = 65535 };
size_t airy_rank_histogram_scratch(size_t length);
void airy_rank_histogram(const struct airy_rank_slide *slide);
/*
 * The same of keys of any size (airy_rank_kernels.buckets): the window and its surroundings have at
 * most AIRY_RANK_BUCKET_SIDE rows and columns in a tile, and a column of it as many elements.
 */
enum {
    AIRY_RANK_BUCKETS = 128,
    AIRY_RANK_BUCKET_SIDE = 255,
    AIRY_RANK_BUCKET_CHUNKS = 32 /* of a bucket, at most */
};
bool airy_rank_buckets_take(size_t planes, size_t height, size_t width);
/* Results of a tile along an axis with so many taps. */
size_t airy_rank_bucket_tile(size_t taps);
size_t airy_rank_bucket_scratch(size_t keys, size_t length);
/* sorted: places of n keys, from the smallest on; scratch is aligned to 8 bytes. */
size_t airy_rank_sort_scratch(size_t keys);
void airy_rank_sort(uint32_t *sorted, void *scratch, const void *keys, size_t elem, size_t n);

/* Entries of struct airy_filter_fns. */
struct airy_rank_plan;
airy_status airy_cpu_rank(airy_queue *queue, const struct airy_rank_plan *plan);
struct airy_hampel_plan;
airy_status airy_cpu_hampel(airy_queue *queue, const struct airy_hampel_plan *plan);

#endif
