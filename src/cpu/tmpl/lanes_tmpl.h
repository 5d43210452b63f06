/*
 * Sixteen sums side by side, in vectors of f64 of the instruction set: for templates of SET.
 */
#ifndef AIRY_CPU_TMPL_LANES_TMPL_H
#define AIRY_CPU_TMPL_LANES_TMPL_H

#include <stdint.h>
#include <string.h>

#include "cpu/cpu_reduce.h"
#include "cpu/tmpl/set_tmpl.h"

enum { WIDTH = VECTOR / 8, PARTS = AIRY_REDUCE_GROUP / WIDTH };
typedef double vec __attribute__((vector_size(VECTOR)));
typedef int64_t bits __attribute__((vector_size(VECTOR)));
_Static_assert(sizeof(vec) == WIDTH * sizeof(double), "a vector has WIDTH elements");

#define SPLAT(x)           ((vec){0} + (x))
#define CHOOSE(mask, x, y) ((vec)(((bits)(x) & (mask)) | ((bits)(y) & ~(mask))))

/* Elements of 16 sums pairwise, 8 apart, 4 apart and so on: the same order in all sets. */
static double NAME(add_up)(vec *sum)
{
    double s[WIDTH];
    for (int k = PARTS; k > 1; k /= 2)
        for (int i = 0; i < k / 2; i++)
            sum[i] += sum[i + k / 2];
    memcpy(s, sum, sizeof(s));
    for (int k = WIDTH; k > 1; k /= 2)
        for (int i = 0; i < k / 2; i++)
            s[i] += s[i + k / 2];
    return s[0];
}

#endif
