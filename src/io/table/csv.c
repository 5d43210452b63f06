/* CSV. Source: Y. Shafranovich, RFC 4180 (2005); lines end in a line feed alone. */
#include <string.h>

#include "io/table/formats.h"

static void print_name(FILE *file, const char *name)
{
    if (!strpbrk(name, ",\"")) {
        fputs(name, file);
        return;
    }
    putc('"', file);
    for (; *name; name++) {
        if (*name == '"')
            putc('"', file);
        putc(*name, file);
    }
    putc('"', file);
}

void airy_table_print_csv(FILE *file, const airy_table *table)
{
    char text[AIRY_CELL_TEXT];
    for (size_t i = 0; i < table->columns; i++) {
        if (i > 0)
            putc(',', file);
        print_name(file, table->column[i].name);
    }
    putc('\n', file);
    for (size_t row = 0; row < table->rows; row++)
        for (size_t i = 0; i < table->columns; i++) {
            const airy_column *column = &table->column[i];
            const struct airy_cell cell = airy_table_cell(column, row);
            if (!cell.is_none)
                fputs(airy_cell_text(text, &cell, column->dtype), file);
            putc(i + 1 < table->columns ? ',' : '\n', file);
        }
}
