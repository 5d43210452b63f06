/* RICE tiles of FITS, walked without being decoded. */
#ifndef AIRY_IO_IMAGE_RICE_WALK_H
#define AIRY_IO_IMAGE_RICE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whether count values of 1, 2 or 4 bytes, coded in blocks of so many, end inside the size bytes.
 * CFITSIO's decoder looks for a set bit for as long as memory goes on.
 */
bool airy_rice_ends(const uint8_t *src, size_t size, size_t count, unsigned bytes, size_t block);

#endif
