/* What the files of the codec family share. */
#ifndef AIRY_TESTS_CHECK_CODEC_H
#define AIRY_TESTS_CHECK_CODEC_H

#include "airy/codec.h"
#include "check.h"

/*
 * count elements of elem_size bytes that compress like a detector's: small numbers, runs of zeros,
 * some large values.
 */
uint8_t *check_codec_pixels(struct check *c, size_t count, size_t elem_size);
/* Encoded, in memory of exactly that size. */
uint8_t *check_codec_encode(struct check *c, const void *pixels, size_t size,
                            const airy_codec_params *params, size_t *chunk_size);

void check_codec_corpus(struct check *c);
void check_codec_batch(struct check *c);

#endif
