/*
 * VOTable 1.4 with its rows as TABLEDATA.
 * Source: F. Ochsenbein, M. Taylor et al., VOTable Format Definition 1.4 (IVOA, 2019); its name
 *         space is that of 1.3.
 */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "io/table/formats.h"

/* Bytes of the UTF-8 character at p; 0: it is none. */
static size_t utf8_length(const unsigned char *p)
{
    const size_t n = p[0] < 0x80                    ? 1
                     : p[0] >= 0xc2 && p[0] < 0xe0  ? 2
                     : p[0] >= 0xe0 && p[0] < 0xf0  ? 3
                     : p[0] >= 0xf0 && p[0] <= 0xf4 ? 4
                                                    : 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    /* too long a form, half of a pair, beyond the last character */
    /* and U+FFFE and U+FFFF, which XML does not have */
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xef && p[1] == 0xbf && p[2] > 0xbd) ||
        (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
        (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

/* Text of an attribute or an element. Bytes that are not UTF-8 are read as Latin-1. */
static void put_escaped(FILE *file, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        const size_t n = utf8_length(p);
        if (n == 0)
            fprintf(file, "&#%d;", *p);
        else if (n > 1)
            fwrite(p, 1, n, file);
        else if (*p == '&')
            fputs("&amp;", file);
        else if (*p == '<')
            fputs("&lt;", file);
        else if (*p == '>')
            fputs("&gt;", file);
        else if (*p == '"')
            fputs("&quot;", file);
        else
            putc(*p < ' ' || *p == 0x7f ? ' ' : *p, file); /* XML 1.0 has no other controls */
        p += n ? n : 1;
    }
}

static void put_attribute(FILE *file, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    fprintf(file, " %s=\"", name);
    put_escaped(file, value);
    putc('"', file);
}

static void put_description(FILE *file, const char *before, const char *text)
{
    if (!text || !*text)
        return;
    fprintf(file, "%s<DESCRIPTION>", before);
    put_escaped(file, text);
    fputs("</DESCRIPTION>\n", file);
}

static const char *type_of(airy_dtype stored)
{
    switch (stored) {
    case AIRY_DTYPE_U8:
        return "unsignedByte";
    case AIRY_DTYPE_I16:
        return "short";
    case AIRY_DTYPE_I32:
        return "int";
    case AIRY_DTYPE_F32:
        return "float";
    case AIRY_DTYPE_F64:
        return "double";
    default:
        return "long";
    }
}

/* true: columns may refer to it. */
static bool put_frame(FILE *file, const airy_sky_info *sky)
{
    static const char *const systems[AIRY_SKY_COUNT] = {
        [AIRY_SKY_ICRS] = "ICRS",        [AIRY_SKY_FK5] = "eq_FK5",
        [AIRY_SKY_FK4] = "eq_FK4",       [AIRY_SKY_GALACTIC] = "galactic",
        [AIRY_SKY_ECLIPTIC] = "ecl_FK5",
    };
    if (!sky || !systems[sky->system])
        return false;
    const char *frame = airy_table_frame(sky);
    const bool fk4 = frame && strcmp(frame, "FK4") == 0;
    fprintf(file, "  <COOSYS ID=\"sky\" system=\"%s\"",
            fk4 && sky->system == AIRY_SKY_ECLIPTIC ? "ecl_FK4" : systems[sky->system]);
    char year[AIRY_NUMBER_TEXT];
    if (sky->system != AIRY_SKY_ICRS && sky->system != AIRY_SKY_GALACTIC)
        fprintf(file, " equinox=\"%c%s\"", fk4 ? 'B' : 'J',
                airy_number_text(year, airy_table_equinox(sky), false));
    fputs("/>\n", file);
    return true;
}

static void put_note(FILE *file, const airy_note *note)
{
    char number[AIRY_NUMBER_TEXT];
    fputs("   <PARAM", file);
    put_attribute(file, "name", note->key);
    fputs(note->text ? " datatype=\"char\" arraysize=\"*\"" : " datatype=\"double\"", file);
    fputs(" value=\"", file);
    put_escaped(file, note->text ? note->text : airy_number_text(number, note->number, false));
    putc('"', file);
    if (!note->comment) {
        fputs("/>\n", file);
        return;
    }
    fputs(">\n", file);
    put_description(file, "    ", note->comment);
    fputs("   </PARAM>\n", file);
}

static void put_field(FILE *file, const airy_column *column, bool framed)
{
    fputs("   <FIELD", file);
    put_attribute(file, "name", column->name);
    put_attribute(file, "datatype", type_of(airy_table_stored(column->dtype)));
    put_attribute(file, "unit", column->unit);
    put_attribute(file, "ucd", column->ucd);
    if (framed && airy_column_is_celestial(column))
        put_attribute(file, "ref", "sky");
    fputs(">\n", file);
    put_description(file, "    ", column->description);
    if (column->has_null && !airy_dtype_is_float(column->dtype))
        fprintf(file, "    <VALUES null=\"%lld\"/>\n", (long long)column->null);
    fputs("   </FIELD>\n", file);
}

static void put_cell(FILE *file, const airy_column *column, size_t row)
{
    char text[AIRY_CELL_TEXT];
    const struct airy_cell cell = airy_table_cell(column, row);
    if (!cell.is_float || isfinite(cell.real))
        fputs(airy_cell_text(text, &cell, column->dtype), file);
    else
        fputs(isnan(cell.real) ? "NaN" : cell.real > 0 ? "+InF" : "-InF", file);
}

void airy_table_print_votable(FILE *file, const airy_table *table)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<VOTABLE version=\"1.4\" xmlns=\"http://www.ivoa.net/xml/VOTable/v1.3\">\n"
          " <RESOURCE>\n",
          file);
    const bool framed = put_frame(file, table->sky);
    fputs("  <TABLE", file);
    put_attribute(file, "name", table->name ? table->name : "TABLE");
    fprintf(file, " nrows=\"%zu\">\n", table->rows);
    put_description(file, "   ", table->description);
    for (size_t i = 0; i < table->notes; i++)
        put_note(file, &table->note[i]);
    for (size_t i = 0; i < table->columns; i++)
        put_field(file, &table->column[i], framed);
    fputs("   <DATA>\n    <TABLEDATA>\n", file);
    for (size_t row = 0; row < table->rows; row++) {
        fputs("     <TR>", file);
        for (size_t i = 0; i < table->columns; i++) {
            fputs("<TD>", file);
            put_cell(file, &table->column[i], row);
            fputs("</TD>", file);
        }
        fputs("</TR>\n", file);
    }
    fputs("    </TABLEDATA>\n   </DATA>\n  </TABLE>\n </RESOURCE>\n</VOTABLE>\n", file);
}
