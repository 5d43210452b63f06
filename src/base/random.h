/*
 * Counter-based random numbers: Philox4x32-10. A value depends on (seed, stream, counter) alone,
 * so frames may be made in any order.
 * Source: J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11 (2011),
 *         doi:10.1145/2063384.2063405.
 */
#ifndef AIRY_BASE_RANDOM_H
#define AIRY_BASE_RANDOM_H

#include <stdint.h>

void airy_random_block(uint32_t out[4], uint64_t seed, uint64_t stream, uint64_t counter);
/* Uniform in (0, 1) from the block's words, 32 bits each. */
static inline double airy_random_unit(uint32_t word)
{
    return (word + 0.5) * 0x1p-32;
}
/* Poisson variate of a mean, at position counter (below 2^56) of the stream; exact inversion below
 * mean 30, PTRS above. Means that are negative or not a number give 0, those above 2^53 count as
 * 2^53. The same bits on every machine: nothing but IEEE operations, square roots and conversions,
 * all correctly rounded, and no function of libm.
 * Source: W. Hoermann, "The transformed rejection method for generating Poisson random variables",
 * Insurance: Mathematics and Economics 12 (1993) 39, doi:10.1016/0167-6687(93)90997-4. */
uint64_t airy_random_poisson(double mean, uint64_t seed, uint64_t stream, uint64_t counter);

#endif
