/* What the cases of convolution share. */
#ifndef AIRY_TESTS_CHECK_FILTER_H
#define AIRY_TESTS_CHECK_FILTER_H

#include "airy/filter.h"
#include "check.h"

enum kernel_kind { RANDOM, PRODUCT, TWO_PRODUCTS, ZEROS, KERNEL_KINDS };
extern const char *const check_kernel_names[KERNEL_KINDS];

struct shape {
    int ndim;
    size_t n[3];
};

/* The device as it is, or with 32 KiB or 6 KiB of local memory and groups of 64. */
enum room { WHOLE, SMALL, TINY };

struct problem {
    struct shape src, kernel;
    airy_dtype from, to;
    airy_convolve_params params;
    size_t images; /* 0: no list */
    enum kernel_kind kind;
    enum room room;
};

/* Elements. */
size_t check_shape_count(const struct shape *s);
/* Elements from -1 to 1. */
double *check_kernel(struct check *c, const struct shape *k, enum kernel_kind kind);
/* What the reference gives for every image, and the sum of |kernel src| beside it. */
void check_filter_want(const struct problem *p, const double *values, const double *kernel,
                       const size_t *out, double *want, double *scale);

/* The share of a kernel's sum that normalize needs at least. */
#define CHECK_LEAST(dtype) ((dtype) == AIRY_DTYPE_F32 ? 0x1p-64 : 0x1p-512)

/* Parts of check_filter. */
void check_normalize(struct check *c);
void check_blur_constants(struct check *c);

#endif
