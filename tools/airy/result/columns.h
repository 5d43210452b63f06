/* Columns of numbers read back from text: patterns (.xy, .xye, .chi, .dat) and tables (.csv). */
#ifndef AIRY_TOOLS_RESULT_COLUMNS_H
#define AIRY_TOOLS_RESULT_COLUMNS_H

#include "cli/tool.h"

enum { COLUMNS_MOST = 256 };

struct columns {
    size_t count, rows;
    double *values;            /* [rows][count]; NaN where a cell of a table is empty */
    char *names[COLUMNS_MOST]; /* of a table as its first line has them */
};

/* The name is that of such a text. */
bool columns_is_text(const char *path);
/*
 * Read the file: lines of as many numbers each, without comments ('#') and, of .chi, without its
 * four lines of text. Exit code; free with columns_free in any case.
 */
int columns_load(struct columns *columns, const struct common *common, const char *path);
void columns_free(struct columns *columns);

/* Behind "expected two or three columns of numbers", where a line has more. */
extern const char columns_one_table[];

#endif
