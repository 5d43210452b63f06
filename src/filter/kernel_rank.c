/*
 * Kernels as sums of products: elimination with full pivoting takes one product after the other
 * off the kernel, the largest element's row and column each time, until nothing is left. In three
 * dimensions one product is looked for.
 * Source: E. Tyrtyshnikov, Computing 64 (2000) 367 (cross approximation).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "filter/filter_fns.h"

static size_t find_largest(const double *v, size_t n)
{
    size_t at = 0;
    for (size_t i = 1; i < n; i++)
        if (fabs(v[i]) > fabs(v[at]))
            at = i;
    return at;
}

/* The lines through the largest element, the first two divided by it, taken off the rest. */
static airy_status take_product(double *line[3], double *rest, const size_t shape[3], size_t at)
{
    const size_t z = at / (shape[1] * shape[2]), y = at / shape[2] % shape[1], x = at % shape[2];
    const double pivot = rest[at];
    for (int axis = 0; axis < 3; axis++) {
        void *block;
        AIRY_TRY(airy_memory_calloc(&block, shape[axis], sizeof(double), "a kernel's lines"));
        line[axis] = block;
    }
    for (size_t i = 0; i < shape[0]; i++)
        line[0][i] = rest[(i * shape[1] + y) * shape[2] + x] / pivot;
    for (size_t i = 0; i < shape[1]; i++)
        line[1][i] = rest[(z * shape[1] + i) * shape[2] + x] / pivot;
    memcpy(line[2], rest + (z * shape[1] + y) * shape[2], shape[2] * sizeof(double));
    for (size_t i = 0; i < shape[0] * shape[1]; i++)
        for (size_t k = 0; k < shape[2]; k++)
            rest[i * shape[2] + k] -= line[0][i / shape[1]] * line[1][i % shape[1]] * line[2][k];
    return AIRY_OK;
}

static void free_lines(double *line[AIRY_FILTER_MAX_RANK][3])
{
    for (int r = 0; r < AIRY_FILTER_MAX_RANK; r++)
        for (int axis = 0; axis < 3; axis++) {
            free(line[r][axis]);
            line[r][axis] = NULL;
        }
}

airy_status airy_kernel_split(double *line[AIRY_FILTER_MAX_RANK][3], int *rank, double *residual,
                              const double *kernel, const size_t shape[3], double limit)
{
    const size_t n = shape[0] * shape[1] * shape[2];
    const int most = shape[0] > 1 && shape[1] > 1 && shape[2] > 1 ? 1 : AIRY_FILTER_MAX_RANK;
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, n, sizeof(double), "a kernel"));
    double *rest = block;
    memcpy(rest, kernel, n * sizeof(double));
    size_t at = find_largest(rest, n);
    const double largest = fabs(rest[at]);
    airy_status status = AIRY_OK;
    int r = 0;
    /* A kernel of zeros is one product of zeros. */
    for (; r < most && status == AIRY_OK && (r == 0 || fabs(rest[at]) > limit * largest); r++) {
        if (largest == 0)
            rest[at] = 1; /* divides the zeros around it */
        status = take_product(line[r], rest, shape, at);
        if (largest == 0 && status == AIRY_OK)
            memset(line[0][2], 0, shape[2] * sizeof(double));
        at = find_largest(rest, n);
    }
    *residual = largest > 0 ? fabs(rest[at]) / largest : 0;
    *rank = status == AIRY_OK && *residual <= limit ? r : 0;
    if (*rank == 0)
        free_lines(line);
    free(rest);
    return status;
}
