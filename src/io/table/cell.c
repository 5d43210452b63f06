/* Cells and coordinate frames of tables, for all formats. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/dtype.h"
#include "base/number.h"
#include "io/table/formats.h"

airy_dtype airy_table_stored(airy_dtype dtype)
{
    switch (dtype) {
    case AIRY_DTYPE_I8:
        return AIRY_DTYPE_I16;
    case AIRY_DTYPE_U16:
        return AIRY_DTYPE_I32;
    case AIRY_DTYPE_U32:
    case AIRY_DTYPE_U64:
        return AIRY_DTYPE_I64;
    default:
        return dtype;
    }
}

const char *airy_table_frame(const airy_sky_info *sky)
{
    static const char *const frames[AIRY_SKY_COUNT] = {
        [AIRY_SKY_ICRS] = "ICRS", [AIRY_SKY_FK5] = "FK5", [AIRY_SKY_FK4] = "FK4"};
    if (sky->system != AIRY_SKY_ECLIPTIC)
        return frames[sky->system];
    if (!sky->frame[0])
        return isnan(sky->equinox) ? "ICRS" : sky->equinox < 1984 ? "FK4" : "FK5";
    return strcmp(sky->frame, "ICRS") == 0      ? "ICRS"
           : strcmp(sky->frame, "FK5") == 0     ? "FK5"
           : strncmp(sky->frame, "FK4", 3) == 0 ? "FK4"
                                                : NULL;
}

double airy_table_equinox(const airy_sky_info *sky)
{
    const char *frame = airy_table_frame(sky);
    const bool fk4 = frame && strcmp(frame, "FK4") == 0;
    return !isnan(sky->equinox) ? sky->equinox : fk4 ? 1950 : 2000;
}

struct airy_cell airy_table_cell(const airy_column *column, size_t row)
{
    const size_t size = airy_dtype_size(column->dtype);
    const char *at = (const char *)column->data + row * (column->step ? column->step : size);
    struct airy_cell cell = {.is_float = airy_dtype_is_float(column->dtype)};
    _Alignas(8) unsigned char value[8];
    memcpy(value, at, size); /* a column of a struct may lie anywhere */
    if (cell.is_float)
        cell.real = airy_dtype_value(value, column->dtype, 0);
    else if (size == 8) /* values that do not fit were refused */
        memcpy(&cell.whole, value, size);
    else
        cell.whole = (int64_t)airy_dtype_value(value, column->dtype, 0);
    cell.is_none = cell.is_float ? isnan(cell.real)
                                 : column->has_null && cell.whole == column->null;
    return cell;
}

const char *airy_cell_text(char text[AIRY_CELL_TEXT], const struct airy_cell *cell,
                           airy_dtype dtype)
{
    if (!cell->is_float)
        snprintf(text, AIRY_CELL_TEXT, "%lld", (long long)cell->whole);
    else if (isnan(cell->real))
        memcpy(text, "nan", sizeof("nan"));
    else
        (void)airy_number_text(text, cell->real, dtype == AIRY_DTYPE_F32);
    return text;
}

bool airy_column_is_celestial(const airy_column *column)
{
    const char *ucd = column->ucd ? column->ucd : "";
    return strncmp(ucd, "pos.eq", 6) == 0 || strncmp(ucd, "pos.galactic", 12) == 0 ||
           strncmp(ucd, "pos.ecliptic", 12) == 0;
}
