/* Lists of numbers that OCT plans name: NPY, or text of one number a line. */
#ifndef AIRY_IO_OCT_TABLE_H
#define AIRY_IO_OCT_TABLE_H

#include <stddef.h>

#include "airy/status.h"

/*
 * Numbers of a file, at most `most` of them, into values. NPY (by its first bytes) of any number
 * type and shape; else text: the last number of each line counts, so that tables of several columns
 * (separated by blanks, commas or semicolons) do, too; '#' begins a comment.
 * AIRY_ERR_NOT_FOUND, AIRY_ERR_IO, AIRY_ERR_FORMAT, AIRY_ERR_SHAPE (more than most), AIRY_ERR_PARAM
 * (a number that is not finite), AIRY_ERR_MEMORY; the file is named.
 */
airy_status airy_oct_table_read(double *values, size_t *count, size_t most, const char *path);

#endif
