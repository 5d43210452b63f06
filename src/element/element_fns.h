/* What a back end does for the element family. The front has checked. */
#ifndef AIRY_ELEMENT_ELEMENT_FNS_H
#define AIRY_ELEMENT_ELEMENT_FNS_H

#include "airy/element.h"
#include "shared/element_geom.h"

/* A number in place of an array, as every class has it. */
struct airy_element_number {
    double value;
    airy_wide wide;
};

/* dst = op(a, b, c). b and c: an array, or a number that op may or may not look at. */
struct airy_element_plan {
    const airy_array *dst, *a, *b, *c;
    struct airy_element_number number_b, number_c;
    unsigned op; /* of shared/element_geom.h */
    int domain;  /* AIRY_ELEMENT_F32 ... */
    bool truncate;
    uint64_t *inexact; /* NULL, or wait, and add how many elements dst does not hold exactly */
};

/* dst[i] = src[sum of place[axis][i of the axis]], the pattern where one is negative. */
struct airy_move_plan {
    const airy_array *dst, *src;
    size_t n[AIRY_MAX_DIMS];       /* of dst, slowest first; 1 for axes that it lacks */
    size_t step[AIRY_MAX_DIMS];    /* of dst, in elements */
    int64_t *place[AIRY_MAX_DIMS]; /* in elements from src's first; one block of memory, that of
                                       axis 0 first */
    uint8_t pattern[8];
};

struct airy_project_plan {
    const airy_array *dst, *src;
    size_t n[AIRY_MAX_DIMS], factor[AIRY_MAX_DIMS]; /* slowest first */
    size_t src_step[AIRY_MAX_DIMS], dst_step[AIRY_MAX_DIMS];
    airy_projection projection;
    bool skip_nan;
};

struct airy_element_fns {
    airy_status (*move)(airy_queue *queue, const struct airy_move_plan *plan);
    airy_status (*project)(airy_queue *queue, const struct airy_project_plan *plan);
    airy_status (*run)(airy_queue *queue, const struct airy_element_plan *plan);
};

extern const struct airy_element_fns airy_element_cpu, airy_element_opencl;

#endif
