/*
 * CHECKSUM and DATASUM of FITS: sums of an HDU's 32-bit words with the carry added at the low end.
 * Source: FITS Standard 4.0 (IAU FITS Working Group, 2018), section 4.4.2.7 and appendix J.
 */
#ifndef AIRY_IO_IMAGE_FITS_SUMS_H
#define AIRY_IO_IMAGE_FITS_SUMS_H

#include <stdbool.h>

#include "io/image/fits_scan.h"

/* Add big-endian words; what is missing of the last one counts as 0. */
uint32_t airy_fits_sum(uint32_t sum, const void *data, size_t size);

enum { AIRY_FITS_SUM_LETTERS = 16 };
/*
 * The value of CHECKSUM that makes the sum of an HDU -0, where the sum is `sum` with 16 letters 0 in
 * its place, which begins 11 letters into a card. A 0 stands behind it.
 */
void airy_fits_sum_letters(char letters[AIRY_FITS_SUM_LETTERS + 1], uint32_t sum);

/*
 * Verify the sums that the header of an HDU carries; one without is right. The header is at
 * [head, data), the data are at [data, end), of which what lies behind the file's end counts as 0.
 * AIRY_ERR_CORRUPT where the data are other ones than DATASUM says, or, without it, the HDU than
 * CHECKSUM says. *edited: the data are right, and the header was changed.
 */
airy_status airy_fits_check_sums(bool *edited, const struct fits_bytes *bytes, uint64_t head,
                                 uint64_t data, uint64_t end);

#endif
