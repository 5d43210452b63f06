/* Calls of CFITSIO that several files need. */
#ifndef AIRY_IO_IMAGE_FITS_LIBRARY_H
#define AIRY_IO_IMAGE_FITS_LIBRARY_H

#include <fitsio.h>
#include <stdbool.h>

#include "airy/status.h"

/* Fail with CFITSIO's word for the code and the first line that it noted. */
airy_status airy_fits_fail(airy_status status, int code);
/* Read a keyword that may be missing; one that is no number is an error. */
airy_status airy_fits_key(fitsfile *file, int type, const char *keyword, void *value, bool *there);
/* Find a column of the table by its title; *column is 0 where the table has none. */
airy_status airy_fits_column(int *column, fitsfile *file, const char *title);

#endif
