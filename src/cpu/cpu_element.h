/* Loops of arithmetic of each class of shared/element_geom.h. */
#ifndef AIRY_CPU_CPU_ELEMENT_H
#define AIRY_CPU_CPU_ELEMENT_H

#include "element/element_fns.h"

#define AIRY_ELEMENT_CLASSES 7

/* Bytes of an operand at a time, in its class. */
enum { AIRY_ELEMENT_BYTES = 4096 };

/* run: all operations but those that give 0 or 1, which are test's. */
struct airy_element_kernels {
    void (*load)(void *to, const void *from, airy_dtype dtype, size_t n);
    void (*fill)(void *to, const struct airy_element_number *number, size_t n);
    void (*run)(void *result, const void *a, const void *b, const void *c, unsigned op, size_t n);
    void (*test)(uint8_t *result, const void *a, const void *b, unsigned op, size_t n);
    void (*store)(void *to, airy_dtype dtype, const void *from, bool truncate, size_t n);
    /* How many the dtype does not hold. */
    uint64_t (*inexact)(airy_dtype dtype, const void *from, size_t n);
};
extern const struct airy_element_kernels airy_element_portable[AIRY_ELEMENT_CLASSES];
#if defined(__x86_64__)
extern const struct airy_element_kernels airy_element_avx2[AIRY_ELEMENT_CLASSES],
    airy_element_avx512[AIRY_ELEMENT_CLASSES];
#endif
const struct airy_element_kernels *airy_element_kernels(int class);

airy_status airy_cpu_move(airy_queue *queue, const struct airy_move_plan *plan);
airy_status airy_cpu_project(airy_queue *queue, const struct airy_project_plan *plan);

#endif
