/*
 * Checks of the tiles of a compressed FITS image before CFITSIO unpacks them, which trusts the
 * sizes inside of the tiles, and that their data end.
 */
#ifndef AIRY_IO_IMAGE_FITS_TILES_H
#define AIRY_IO_IMAGE_FITS_TILES_H

#include <fitsio.h>
#include <stdint.h>

#include "airy/image.h"
#include "io/image/fits_scale.h"

struct fits_tiles {
    fitsfile *file;
    int column;                                                /* COMPRESSED_DATA */
    LONGLONG rows, size[AIRY_MAX_DIMS], extent[AIRY_MAX_DIMS]; /* fastest axis first */
    int axes;
    unsigned bytes; /* RICE: of a value */
    size_t block;
    uint64_t most;  /* bytes of the file */
    unsigned pixel; /* bytes of one in the image */
    bool plain;     /* floats as they are, not quantised */
};

/* Rows [first, end) of the table. */
struct fits_rows {
    LONGLONG first, end;
};

/* Open the tiles of the current image; size: bytes of the file. */
airy_status airy_fits_tiles_open(struct fits_tiles *tiles, fitsfile *file, uint64_t size,
                                 const airy_image *image, const struct fits_stored *stored);
/* Find the rows that hold a plane; first: the index of its first pixel in memory. */
struct fits_rows airy_fits_tiles_rows(const struct fits_tiles *tiles, size_t first);
/* Check that CFITSIO can unpack these rows without reading or writing behind its memory. */
airy_status airy_fits_tiles_check(const struct fits_tiles *tiles, const struct fits_rows *rows);

#endif
