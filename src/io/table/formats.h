/* The formats behind airy_table_write: each prints a table that has been checked to a stream. */
#ifndef AIRY_IO_TABLE_FORMATS_H
#define AIRY_IO_TABLE_FORMATS_H

#include <stdio.h>

#include "airy/table.h"

/* One value: an integer, or a float that may be no number. */
struct airy_cell {
    bool is_float, is_none; /* none: a null integer or NaN */
    int64_t whole;
    double real;
};
struct airy_cell airy_table_cell(const airy_column *column, size_t row);

/* What a column is stored as: i16, i32, i64, u8, f32 or f64. */
airy_dtype airy_table_stored(airy_dtype dtype);

enum { AIRY_CELL_TEXT = 40 };
/* Its digits, "nan", "inf" or "-inf"; in the C locale. */
const char *airy_cell_text(char text[AIRY_CELL_TEXT], const struct airy_cell *cell,
                           airy_dtype dtype);

void airy_table_print_csv(FILE *file, const airy_table *table);
void airy_table_print_fits(FILE *file, const airy_table *table);
void airy_table_print_votable(FILE *file, const airy_table *table);

/*
 * The frame of the coordinates as RADESYS names it, of ecliptic ones that of their equinox, as
 * airy_sky_info.system has it of equatorial ones; NULL: none. And its year.
 */
const char *airy_table_frame(const airy_sky_info *sky);
double airy_table_equinox(const airy_sky_info *sky);
/* Coordinates of the table's frame. */
bool airy_column_is_celestial(const airy_column *column);

#endif
