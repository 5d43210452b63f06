/* Copies and fills between strided layouts on the host, with the pool. */
#ifndef AIRY_CPU_CPU_COPY_H
#define AIRY_CPU_CPU_COPY_H

#include "core/objects.h"

/* Runs of `run` bytes, shape[0] x shape[1] x shape[2] of them; steps in bytes. */
struct airy_strided {
    char *dst;
    const char *src; /* NULL: every element becomes the pattern */
    size_t run;
    size_t shape[AIRY_MAX_DIMS - 1];
    size_t dst_step[AIRY_MAX_DIMS - 1], src_step[AIRY_MAX_DIMS - 1];
    size_t pattern_size;
    unsigned char pattern[8];
};

/*
 * Layout of one of two arrays of the same shape; NULL stands for tightly packed memory whose
 * pointer the caller sets.
 */
void airy_strided_make(struct airy_strided *s, const airy_array *dst, const airy_array *src);
size_t airy_strided_size(const struct airy_strided *s);
void airy_strided_copy(airy_pool *pool, const struct airy_strided *s);

/* Where element `index` in raster order lies; *run: how many follow it without a gap, itself too. */
char *airy_cpu_find(const airy_array *a, size_t index, size_t *run);

#endif
