#include "jobs/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/file.h"
#include "base/error.h"
#include "base/number.h"
#include "base/word.h"

/* A text that is being read. */
struct reading {
    struct airy_columns *to;
    const char *path;
    airy_text *text;
    size_t capacity; /* rows that there is room for */
    bool is_table;
};

bool airy_columns_is_text(const char *path)
{
    static const char *const suffixes[] = {".xy", ".xye", ".chi", ".dat", ".csv"};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        if (airy_has_suffix(path, suffixes[i]))
            return true;
    return false;
}

void airy_columns_free(struct airy_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++)
        free(columns->names[i]);
    free(columns->values);
    *columns = (struct airy_columns){0};
}

/* A line that is wrong; the sentence says what was expected. */
#define FAIL_LINE_IF(cond, r, format, ...)                                                         \
    AIRY_FAIL_HINT_IF(cond, AIRY_ERR_FORMAT, AIRY_HINT_STATED, AIRY_SUBJECT_FILE,                  \
                      "%s line %zu" format, (r)->path, airy_text_line((r)->text), __VA_ARGS__)

/*
 * Take the next cell of a line, without the quotes around it, and go on behind it; NULL at the end of
 * the line. In tables commas end cells, and a cell may be empty; elsewhere blanks do.
 */
static char *next_cell(char **rest, bool is_table)
{
    char *cell = *rest, *to = cell, *p = cell;
    if (!cell)
        return NULL;
    if (!is_table) {
        cell += strspn(cell, " \t,;");
        p = cell + strcspn(cell, " \t,;");
        *rest = *p ? p + 1 : NULL;
        *p = 0;
        return *cell ? cell : NULL;
    }
    bool quoted = false;
    for (; *p && (quoted || *p != ','); p++)
        if (*p != '"')
            *to++ = *p;
        else if (quoted && p[1] == '"')
            *to++ = *p++;
        else
            quoted = !quoted;
    *rest = *p ? p + 1 : NULL;
    *to = 0;
    return cell;
}

static airy_status split(char *cells[AIRY_COLUMNS_MOST], size_t *count, const struct reading *r,
                         char *line)
{
    *count = 0;
    for (char *cell; (cell = next_cell(&line, r->is_table)) != NULL; cells[(*count)++] = cell)
        FAIL_LINE_IF(*count == AIRY_COLUMNS_MOST, r, ": there are more than %d columns",
                     AIRY_COLUMNS_MOST);
    return AIRY_OK;
}

static airy_status set_names(const struct reading *r, const char *const *names, size_t count)
{
    struct airy_columns *columns = r->to;
    for (; columns->count < count; columns->count++) {
        columns->names[columns->count] = strdup(names[columns->count]);
        AIRY_FAIL_IF(!columns->names[columns->count], AIRY_ERR_MEMORY,
                     "%s: out of memory for names", r->path);
    }
    return AIRY_OK;
}

/* Make room for one more row. */
static airy_status grow(struct reading *r)
{
    if (r->to->rows < r->capacity)
        return AIRY_OK;
    const size_t more = r->capacity ? 2 * r->capacity : 256;
    double *values = realloc(r->to->values, more * r->to->count * sizeof(double));
    AIRY_FAIL_IF(!values, AIRY_ERR_MEMORY, "%s: out of memory for %zu lines", r->path, more);
    r->to->values = values;
    r->capacity = more;
    return AIRY_OK;
}

static airy_status add_row(struct reading *r, char *const *cells, size_t count)
{
    struct airy_columns *columns = r->to;
    FAIL_LINE_IF(count != columns->count, r, ": it has %zu column%s, expected %zu", count,
                 count == 1 ? "" : "s", columns->count);
    AIRY_TRY(grow(r));
    double *row = columns->values + columns->rows * count;
    for (size_t i = 0; i < count; i++) {
        row[i] = (double)NAN;
        FAIL_LINE_IF(*cells[i] && !airy_number_parse_any(&row[i], cells[i]), r,
                     ", column %s: '%s' is not a number", columns->names[i], cells[i]);
    }
    columns->rows++;
    return AIRY_OK;
}

static airy_status take_line(struct reading *r, char *line)
{
    static const char *const names[] = {"radial", "intensity", "sigma"};
    char *cells[AIRY_COLUMNS_MOST];
    size_t count;
    AIRY_TRY(split(cells, &count, r, line));
    if (r->is_table && !r->to->count)
        return set_names(r, (const char *const *)cells, count);
    FAIL_LINE_IF(!r->to->count && (count < 2 || count > 3), r,
                 ": expected two or three columns of numbers%s",
                 count > 3 ? ", it has more; a table may hold several patterns: write them into "
                             ".h5, or each into a file of its own"
                           : "");
    if (!r->to->count)
        AIRY_TRY(set_names(r, names, count));
    return add_row(r, cells, count);
}

static airy_status read_lines(struct reading *r)
{
    enum { CHI_LINES = 4 };
    const bool chi = airy_has_suffix(r->path, ".chi");
    bool headed = false;
    for (char *line;;) {
        AIRY_TRY(airy_text_next(r->text, &line));
        if (!line)
            break;
        if (airy_text_line(r->text) == 1)
            headed = chi && *line != '#';
        if ((headed && airy_text_line(r->text) <= CHI_LINES) || *line == '#' ||
            !line[strspn(line, " \t")])
            continue;
        AIRY_TRY(take_line(r, line));
    }
    AIRY_FAIL_HINT_IF(!r->to->count, AIRY_ERR_FORMAT, AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
                      "%s: has no lines of numbers", r->path);
    return AIRY_OK;
}

airy_status airy_columns_read(struct airy_columns *columns, const char *path)
{
    struct reading r = {.to = columns, .path = path, .is_table = airy_has_suffix(path, ".csv")};
    *columns = (struct airy_columns){0};
    AIRY_TRY(airy_text_open(&r.text, path));
    const airy_status status = read_lines(&r);
    airy_text_close(&r.text);
    return status;
}
