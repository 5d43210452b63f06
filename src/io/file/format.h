/* The format of a file, by its name or by its first bytes, and the parts of a name. */
#ifndef AIRY_IO_FILE_FORMAT_H
#define AIRY_IO_FILE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "airy/status.h"

enum airy_image_format {
    AIRY_FORMAT_UNKNOWN = 0,
    AIRY_FORMAT_NPY,
    AIRY_FORMAT_HDF5,
    AIRY_FORMAT_EDF,
    AIRY_FORMAT_FITS,
    AIRY_FORMAT_TIFF,
    AIRY_FORMAT_PNG,
    AIRY_FORMAT_CBF,
    AIRY_FORMAT_CONV /* read only */
};
/*
 * Find the format by the name's suffix (a ".gz" behind it does not count), else by the first bytes
 * of the file: AIRY_ERR_NOT_FOUND, AIRY_ERR_IO where these cannot be read.
 */
airy_status airy_image_format_of(enum airy_image_format *format, const char *path);
/*
 * Find the format of a file that may have no header, whose first bytes mean nothing then: HDF5 by name
 * or first bytes, NPY by first bytes, TIFF by both, else AIRY_FORMAT_UNKNOWN. Errors: as above.
 */
airy_status airy_image_format_stated(enum airy_image_format *format, const char *path);
/* Return the format by the name's suffix alone; [EXT] and ".gz" behind it do not count. */
enum airy_image_format airy_image_format_of_name(const char *path);
bool airy_name_is_fits(const char *path);

/*
 * FILE into file, *ext to what stands in the brackets (NULL without) in path: "2]". A file of
 * the whole name goes first. false: file is too small.
 */
bool airy_fits_split(char *file, size_t size, const char **ext, const char *path);
/* "FILE::DATASET" cut in two, malloc'ed; *dataset is NULL for "FILE" alone. */
airy_status airy_stack_split(char **file, char **dataset, const char *path);
/* An output must not be the file of an input, FILE::DATASET or FILE[EXT]: AIRY_ERR_PARAM otherwise. */
airy_status airy_file_keep(const char *input, const char *output);

/* The sentence that refuses complex numbers as pixels; AIRY_HINT_COMPLEX is its hint. */
#define AIRY_COMPLEX_REFUSED "complex numbers, expected real ones"

#endif
