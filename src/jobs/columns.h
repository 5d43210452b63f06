/* Columns of numbers read back from text: patterns (.xy, .xye, .chi, .dat) and tables (.csv). */
#ifndef AIRY_JOBS_COLUMNS_H
#define AIRY_JOBS_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "airy/status.h"

enum { AIRY_COLUMNS_MOST = 256 };

struct airy_columns {
    size_t count, rows;
    double *values;                 /* [rows][count]; NaN where a cell of a table is empty */
    char *names[AIRY_COLUMNS_MOST]; /* of a table as its first line has them */
};

/* The name is that of such a text. */
bool airy_columns_is_text(const char *path);
/*
 * Read the file: lines of as many numbers each, without comments ('#') and, of .chi, without its
 * four lines of text. Release it with airy_columns_free in any case.
 */
airy_status airy_columns_read(struct airy_columns *columns, const char *path);
void airy_columns_free(struct airy_columns *columns);

#endif
