/* What is known of the experiment as headers of single images state it; plain_meta.c reads them. */
#ifndef AIRY_IO_IMAGE_HEADER_WRITE_H
#define AIRY_IO_IMAGE_HEADER_WRITE_H

#include "airy/stack.h"

enum { AIRY_HEADER_TEXT = 768 }; /* bytes; all that is stated takes less */

/*
 * "# Pixel_size 0.000172 m x 0.000172 m" and its like, as detectors of DECTRIS write them into CBF
 * and TIFF files; lines end in CR LF. Bytes without the 0 at the end; 0: nothing is known. meta may
 * be NULL. Of a turned detector there is no distance and no centre, for such headers have no angles.
 */
size_t airy_header_comments(char text[AIRY_HEADER_TEXT], const airy_stack_meta *meta);
/* "PSize_1 = 0.000172 ;" and its like, the keys of EDF in SI units; lines end in LF. */
size_t airy_header_keys(char text[AIRY_HEADER_TEXT], const airy_stack_meta *meta);
/* The parts of a geometry that such a header can have: airy_geometry_part. */
unsigned airy_header_parts(const airy_stack_meta *meta);

#endif
