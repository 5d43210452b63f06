#include "airy/table.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "io/file/plain_file.h"
#include "io/table/formats.h"

enum { MAX_COLUMNS = 999, MAX_NAME = 68 }; /* FITS: TFIELDS; what a string of one card holds */

typedef void (*print_fn)(FILE *file, const airy_table *table);

static print_fn printer_of_name(const char *path)
{
    static const struct {
        const char *suffix;
        print_fn print;
    } formats[] = {
        {".csv", airy_table_print_csv},     {".fits", airy_table_print_fits},
        {".fit", airy_table_print_fits},    {".vot", airy_table_print_votable},
        {".xml", airy_table_print_votable},
    };
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof(formats) / sizeof(formats[0]); i++)
        if (strcasecmp(dot, formats[i].suffix) == 0)
            return formats[i].print;
    return NULL;
}

bool airy_table_has_format(const char *path)
{
    return path && printer_of_name(path);
}

static bool is_printable(const char *text)
{
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            return false;
    return true;
}

static airy_status check_column(const airy_table *table, size_t index)
{
    const airy_column *c = &table->column[index];
    const char *const words[] = {c->name, c->unit, c->ucd};
    AIRY_FAIL_IF(!c->name || !*c->name, AIRY_ERR_PARAM, "column %zu has no name", index);
    for (size_t i = 0; i < 3; i++)
        AIRY_FAIL_IF(words[i] && (!is_printable(words[i]) || strlen(words[i]) > MAX_NAME),
                     AIRY_ERR_PARAM,
                     "column %zu: name, unit and UCD are at most %d printable ASCII characters",
                     index, MAX_NAME);
    AIRY_FAIL_IF(airy_dtype_size(c->dtype) == 0, AIRY_ERR_DTYPE,
                 "column '%s': dtype = %d is not known", c->name, (int)c->dtype);
    AIRY_FAIL_IF(table->rows && !c->data, AIRY_ERR_PARAM, "column '%s' has no data", c->name);
    for (size_t i = 0; i < index; i++)
        AIRY_FAIL_IF(strcasecmp(table->column[i].name, c->name) == 0, AIRY_ERR_PARAM,
                     "two columns are named '%s'", c->name);
    for (size_t row = 0; c->dtype == AIRY_DTYPE_U64 && row < table->rows; row++)
        AIRY_FAIL_IF(airy_table_cell(c, row).whole < 0, AIRY_ERR_PARAM,
                     "column '%s' row %zu: expected less than 2^63", c->name, row);
    return AIRY_OK;
}

/*
 * Keywords that say what a FITS header is of or how a table lies in its file, or that come several
 * times; those ending in a number are named without it. Source: FITS Standard 4.0, sections 4.4, 7.3.
 */
static bool is_structural(const char *key, bool has_frame)
{
    static const char *const words[] = {"SIMPLE",  "XTENSION", "BITPIX",  "EXTEND",  "PCOUNT",
                                        "GCOUNT",  "GROUPS",   "THEAP",   "EXTNAME", "TFIELDS",
                                        "COMMENT", "END",      "HISTORY", "CONTINUE"};
    static const char *const numbered[] = {"NAXIS", "TFORM", "TTYPE", "TUNIT", "TNULL", "TSCAL",
                                           "TZERO", "TDISP", "TBCOL", "TDIM",  "TUCD",  "TCOMM"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(key, words[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof(numbered) / sizeof(numbered[0]); i++) {
        const size_t n = strlen(numbered[i]);
        if (strncmp(key, numbered[i], n) == 0 && strspn(key + n, "0123456789") == strlen(key + n))
            return true;
    }
    return has_frame && (strcmp(key, "RADESYS") == 0 || strcmp(key, "EQUINOX") == 0);
}

static airy_status check_note(const airy_note *note, bool has_frame)
{
    const size_t length = note->key ? strlen(note->key) : 0;
    AIRY_FAIL_IF(length < 1 || length > 8 ||
                     strspn(note->key, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != length,
                 AIRY_ERR_PARAM, "note '%s': expected 1 to 8 of A-Z, 0-9, '-' and '_'",
                 note->key ? note->key : "");
    AIRY_FAIL_IF(is_structural(note->key, has_frame), AIRY_ERR_PARAM,
                 "note %s: the keyword belongs to the structure of a FITS file", note->key);
    AIRY_FAIL_IF(!note->text && !isfinite(note->number), AIRY_ERR_PARAM,
                 "note %s = %g: expected a finite number", note->key, note->number);
    return AIRY_OK;
}

static airy_status check_table(const airy_table *table)
{
    AIRY_FAIL_IF(table->columns < 1 || table->columns > MAX_COLUMNS || !table->column,
                 AIRY_ERR_PARAM, "table of %zu columns, expected 1 to %d", table->columns,
                 MAX_COLUMNS);
    AIRY_FAIL_IF(table->notes && !table->note, AIRY_ERR_PARAM, "the table's notes are missing");
    AIRY_FAIL_IF(table->sky && (unsigned)table->sky->system >= AIRY_SKY_COUNT, AIRY_ERR_PARAM,
                 "the frame's system = %d is none of airy_sky_system", (int)table->sky->system);
    AIRY_FAIL_IF(table->sky && isinf(table->sky->equinox), AIRY_ERR_PARAM,
                 "the frame's equinox = %g, expected a number of years, or NaN",
                 table->sky->equinox);
    for (size_t i = 0; i < table->columns; i++)
        AIRY_TRY(check_column(table, i));
    for (size_t i = 0; i < table->notes; i++)
        AIRY_TRY(check_note(&table->note[i], table->sky));
    return AIRY_OK;
}

struct job {
    const airy_table *table;
    print_fn print;
};

static void print_job(FILE *file, const void *user)
{
    const struct job *job = user;
    job->print(file, job->table);
}

airy_status airy_table_write(const airy_table *table, const char *path, bool force)
{
    AIRY_FAIL_IF(!table || !path || !*path, AIRY_ERR_PARAM,
                 "airy_table_write: table or path is missing");
    const struct job job = {table, printer_of_name(path)};
    AIRY_FAIL_ON_IF(!job.print, AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_FILE,
                    "'%s': suffix of no format of tables, expected .csv, .fits, .vot or .xml",
                    path);
    AIRY_TRY(check_table(table));
    return airy_print_file(path, force, print_job, &job);
}
