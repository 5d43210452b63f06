/*
 * A FITS binary table, big-endian, behind a primary HDU without data. Needs no library.
 * Source: FITS Standard 4.0 (IAU FITS Working Group, 2018), sections 4.2.1.2 (CONTINUE) and 7.3.
 */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/size.h"
#include "io/image/fits_header.h"
#include "io/table/formats.h"

enum { MOST_TEXT = 68 }; /* characters of a string in a card, doubled quotes count twice */

/* A card; what does not fit behind the value is left out of the comment. */
static void put_card(FILE *file, const char *keyword, const char *value, const char *comment)
{
    char card[FITS_CARD + 1];
    const int used = snprintf(card, sizeof(card), "%-8s= %20s", keyword, value);
    if (comment && used < FITS_CARD - 4)
        snprintf(card + used, sizeof(card) - (size_t)used, " / %s", comment);
    fprintf(file, "%-80.80s", card);
}

static void put_whole(FILE *file, const char *keyword, long long value, const char *comment)
{
    char text[24];
    snprintf(text, sizeof(text), "%lld", value);
    put_card(file, keyword, text, comment);
}

static void put_real(FILE *file, const char *keyword, double value, const char *comment)
{
    char text[AIRY_NUMBER_TEXT + 2];
    (void)airy_number_text(text, value, false);
    if (!strpbrk(text, ".e"))
        strcat(text, "."); /* stays a real */
    for (char *p = text; *p; p++)
        *p = *p == 'e' ? 'E' : *p;
    put_card(file, keyword, text, comment);
}

/* A string, over as many cards as it needs. Bytes that FITS does not take become '?'. */
static void put_text(FILE *file, const char *keyword, const char *text, const char *comment)
{
    bool first = true;
    do {
        char value[MOST_TEXT + 3] = "'";
        int used = 1;
        /* one place is kept for the '&' of a string that goes on */
        for (; *text && used <= MOST_TEXT - 2; text++) {
            value[used++] = *text >= ' ' && *text <= '~' ? *text : '?';
            if (*text == '\'')
                value[used++] = '\'';
        }
        if (*text)
            value[used++] = '&';
        while (first && used < 9)
            value[used++] = ' ';
        value[used++] = '\'';
        value[used] = 0;
        if (first) {
            char padded[MOST_TEXT + 3];
            snprintf(padded, sizeof(padded), "%-20s", value);
            put_card(file, keyword, padded, *text ? NULL : comment);
        } else {
            fprintf(file, "CONTINUE  %-70s", value);
        }
        first = false;
    } while (*text);
}

static void put_column_text(FILE *file, const char *keyword, size_t number, const char *text)
{
    char name[32];
    snprintf(name, sizeof(name), "%s%zu", keyword, number);
    if (text)
        put_text(file, name, text, NULL);
}

/* END, and what fills the block. */
static void put_end(FILE *file)
{
    fprintf(file, "%-80s", "END");
    for (long over = ftell(file) % FITS_BLOCK; over > 0 && over < FITS_BLOCK; over++)
        putc(' ', file);
}

static const char *form_of(airy_dtype stored)
{
    switch (stored) {
    case AIRY_DTYPE_U8:
        return "1B";
    case AIRY_DTYPE_I16:
        return "1I";
    case AIRY_DTYPE_I32:
        return "1J";
    case AIRY_DTYPE_F32:
        return "1E";
    case AIRY_DTYPE_F64:
        return "1D";
    default:
        return "1K";
    }
}

static void put_frame(FILE *file, const airy_sky_info *sky)
{
    const char *frame = airy_table_frame(sky);
    if (!frame)
        return;
    put_text(file, "RADESYS", frame,
             sky->system == AIRY_SKY_ECLIPTIC ? "frame of elon and elat" : "frame of ra and dec");
    if (strcmp(frame, "ICRS") != 0)
        put_real(file, "EQUINOX", airy_table_equinox(sky), "years");
}

static void put_header(FILE *file, const airy_table *table, size_t row_bytes)
{
    put_text(file, "XTENSION", "BINTABLE", "binary table");
    put_whole(file, "BITPIX", 8, NULL);
    put_whole(file, "NAXIS", 2, NULL);
    put_whole(file, "NAXIS1", (long long)row_bytes, "bytes of a row");
    put_whole(file, "NAXIS2", (long long)table->rows, "rows");
    put_whole(file, "PCOUNT", 0, NULL);
    put_whole(file, "GCOUNT", 1, NULL);
    put_whole(file, "TFIELDS", (long long)table->columns, "columns");
    put_text(file, "EXTNAME", table->name ? table->name : "TABLE", NULL);
    for (size_t i = 0; i < table->columns; i++) {
        const airy_column *c = &table->column[i];
        char name[32];
        put_column_text(file, "TTYPE", i + 1, c->name);
        put_column_text(file, "TFORM", i + 1, form_of(airy_table_stored(c->dtype)));
        put_column_text(file, "TUNIT", i + 1, c->unit);
        put_column_text(file, "TUCD", i + 1, c->ucd);
        put_column_text(file, "TCOMM", i + 1, c->description);
        snprintf(name, sizeof(name), "TNULL%zu", i + 1);
        if (c->has_null && !airy_dtype_is_float(c->dtype))
            put_whole(file, name, (long long)c->null, NULL);
    }
    if (table->sky)
        put_frame(file, table->sky);
    for (size_t i = 0; i < table->notes; i++) {
        const airy_note *note = &table->note[i];
        if (note->text)
            put_text(file, note->key, note->text, note->comment);
        else
            put_real(file, note->key, note->number, note->comment);
    }
    put_end(file);
}

static void put_cell(FILE *file, const airy_column *column, size_t row)
{
    const struct airy_cell cell = airy_table_cell(column, row);
    const airy_dtype stored = airy_table_stored(column->dtype);
    uint64_t bits = (uint64_t)cell.whole;
    if (stored == AIRY_DTYPE_F32) {
        const float real = (float)cell.real;
        uint32_t half;
        memcpy(&half, &real, sizeof(half));
        bits = half;
    } else if (stored == AIRY_DTYPE_F64) {
        memcpy(&bits, &cell.real, sizeof(bits));
    }
    for (size_t k = airy_dtype_size(stored); k-- > 0;)
        putc((int)(bits >> 8 * k & 0xff), file);
}

void airy_table_print_fits(FILE *file, const airy_table *table)
{
    size_t row_bytes = 0;
    for (size_t i = 0; i < table->columns; i++)
        row_bytes += airy_dtype_size(airy_table_stored(table->column[i].dtype));
    put_card(file, "SIMPLE", "T", "conforms to the FITS standard");
    put_whole(file, "BITPIX", 8, NULL);
    put_whole(file, "NAXIS", 0, "the table follows");
    put_card(file, "EXTEND", "T", NULL);
    put_end(file);
    put_header(file, table, row_bytes);
    for (size_t row = 0; row < table->rows; row++)
        for (size_t i = 0; i < table->columns; i++)
            put_cell(file, &table->column[i], row);
    const size_t over = row_bytes * table->rows % FITS_BLOCK;
    for (size_t i = over; i > 0 && i < FITS_BLOCK; i++)
        putc(0, file);
}
