/*
 * Frames for timing: an Eiger 4M, one Poisson frame around 100 / (1 + q^2) with 2^n - 1 in the
 * gaps between modules, and the same added to every valid pixel of a frame: 16 i to frame i, which
 * repeats after eight; or, the case "4M", 37 i modulo 500, so that a batch has all of 0 to 499.
 */
#ifndef CHECK_EIGER_H
#define CHECK_EIGER_H

#include "airy/codec.h"
#include "check.h"

enum { EIGER_HEIGHT = 2167, EIGER_WIDTH = 2070 };

/* True for pixels in the gaps. */
static inline bool check_eiger_gap(size_t i)
{
    return i / EIGER_WIDTH % 551 >= 514 || i % EIGER_WIDTH % 1040 >= 1030;
}

/* Pixels of frame number i, of u8, u16 or u32. */
void check_eiger_frame(void *frame, airy_dtype dtype, size_t i);
/* A batch of such frames, bitshuffle-LZ4; NULL: the case has failed. */
airy_batch *check_eiger_batch(struct check *c, airy_dtype dtype, size_t frames);
/* A batch of the case "4M", u32. */
airy_batch *check_eiger_case(struct check *c, size_t frames);

#endif
