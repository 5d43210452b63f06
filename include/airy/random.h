/**
 * Seeded noise that depends only on (seed, stream, position): pieces may be made in any order and
 * by any number of threads.
 *
 * Source: Philox4x32-10, J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11
 * (2011), doi:10.1145/2063384.2063405; Poisson variates as in W. Hoermann, Insurance: Mathematics
 * and Economics 12 (1993) 39.
 */
#ifndef AIRY_RANDOM_H
#define AIRY_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#include "airy/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Replace means by Poisson variates.
 *
 * @param values  in: means, 0 to 2^53; out: whole numbers
 * @param count   values in this piece
 * @param stream  for example the number of the frame
 * @param first   position of values[0] in the stream
 * Errors: AIRY_ERR_PARAM for a mean that is negative, not finite or larger; values is then
 *         untouched. Threads: any.
 */
AIRY_API airy_status airy_random_poisson_fill(double *values, size_t count, uint64_t seed,
                                              uint64_t stream, uint64_t first);

/**
 * Fill an array with uniform random 32-bit words: out[i] is word first + i of the stream. Threads:
 * any.
 */
AIRY_API void airy_random_words(uint32_t *out, size_t count, uint64_t seed, uint64_t stream,
                                uint64_t first);

#ifdef __cplusplus
}
#endif
#endif
