#include "result/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text_lines.h"

bool columns_is_text(const char *path)
{
    static const char *const suffixes[] = {".xy", ".xye", ".chi", ".dat", ".csv"};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        if (tool_has_suffix(path, suffixes[i]))
            return true;
    return false;
}

void columns_free(struct columns *columns)
{
    for (size_t i = 0; i < columns->count; i++)
        free(columns->names[i]);
    free(columns->values);
    *columns = (struct columns){0};
}

/*
 * Take the next cell of a line, without the quotes around it, and go on behind it; NULL at the end of
 * the line. In tables commas end cells, and a cell may be empty; elsewhere blanks do.
 */
static char *next_cell(char **rest, bool table)
{
    char *cell = *rest, *to = cell, *p = cell;
    if (!cell)
        return NULL;
    if (!table) {
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

/* The cells of a line, at most COLUMNS_MOST. */
static int split(char *cells[COLUMNS_MOST], size_t *count, const struct text_lines *lines,
                 char *line, bool table)
{
    *count = 0;
    for (char *cell; (cell = next_cell(&line, table)) != NULL; cells[(*count)++] = cell)
        if (*count == COLUMNS_MOST)
            return tool_fail(lines->common, "%s line %zu: there are more than %d columns",
                             lines->path, lines->number, COLUMNS_MOST);
    return AIRY_EXIT_OK;
}

static int set_names(struct columns *columns, const struct text_lines *lines,
                     const char *const *names, size_t count)
{
    for (; columns->count < count; columns->count++) {
        columns->names[columns->count] = strdup(names[columns->count]);
        if (!columns->names[columns->count])
            return tool_fail(lines->common, "%s: out of memory for names", lines->path);
    }
    return AIRY_EXIT_OK;
}

/* Room for one more row; capacity: of rows. */
static int grow(struct columns *columns, size_t *capacity, const struct text_lines *lines)
{
    if (columns->rows < *capacity)
        return AIRY_EXIT_OK;
    const size_t more = *capacity ? 2 * *capacity : 256;
    double *values = realloc(columns->values, more * columns->count * sizeof(double));
    if (!values)
        return tool_fail(lines->common, "%s: out of memory for %zu lines", lines->path, more);
    columns->values = values;
    *capacity = more;
    return AIRY_EXIT_OK;
}

static int add_row(struct columns *columns, size_t *capacity, const struct text_lines *lines,
                   char *const *cells, size_t count)
{
    if (count != columns->count)
        return tool_fail(lines->common, "%s line %zu: it has %zu column%s, expected %zu",
                         lines->path, lines->number, count, tool_s(count), columns->count);
    const int code = grow(columns, capacity, lines);
    if (code != AIRY_EXIT_OK)
        return code;
    double *row = columns->values + columns->rows * count;
    for (size_t i = 0; i < count; i++) {
        row[i] = (double)NAN;
        if (*cells[i] && opt_any_number(&row[i], cells[i]))
            return tool_fail(lines->common, "%s line %zu, column %s: '%s' is not a number",
                             lines->path, lines->number, columns->names[i], cells[i]);
    }
    columns->rows++;
    return AIRY_EXIT_OK;
}

const char columns_one_table[] = ", it has more; a table of --one-table holds several patterns: "
                                 "integrate into .h5, or without --one-table";

static int read_lines(struct columns *columns, struct text_lines *lines, bool table)
{
    static const char *const names[] = {"radial", "intensity", "sigma"};
    enum { CHI_LINES = 4 };
    const bool chi = tool_has_suffix(lines->path, ".chi");
    bool text = false;
    char *cells[COLUMNS_MOST];
    size_t capacity = 0, count;
    int code = AIRY_EXIT_OK;
    for (char *line; code == AIRY_EXIT_OK && (line = text_next(lines, &code)) != NULL;) {
        if (lines->number == 1)
            text = chi && *line != '#';
        if ((text && lines->number <= CHI_LINES) || *line == '#' || !line[strspn(line, " \t")])
            continue;
        code = split(cells, &count, lines, line, table);
        if (code == AIRY_EXIT_OK && table && !columns->count)
            code = set_names(columns, lines, (const char *const *)cells, count);
        else if (code == AIRY_EXIT_OK && !columns->count && (count < 2 || count > 3))
            code = tool_fail(lines->common,
                             "%s line %zu: expected two or three columns of numbers%s", lines->path,
                             lines->number, count > 3 ? columns_one_table : "");
        else if (code == AIRY_EXIT_OK) {
            code = table ? code : set_names(columns, lines, names, columns->count ? 0 : count);
            code = code == AIRY_EXIT_OK ? add_row(columns, &capacity, lines, cells, count) : code;
        }
    }
    return code;
}

int columns_load(struct columns *columns, const struct common *common, const char *path)
{
    struct text_lines lines;
    const bool table = tool_has_suffix(path, ".csv");
    *columns = (struct columns){0};
    if (!text_open(&lines, common, "", path))
        return AIRY_EXIT_FAILED;
    const int code = read_lines(columns, &lines, table);
    text_close(&lines);
    return code == AIRY_EXIT_OK && !columns->count
               ? tool_fail(common, "%s: has no lines of numbers", path)
               : code;
}
