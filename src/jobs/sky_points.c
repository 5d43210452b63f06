/* Points of a text: two coordinates of the command line, or a table. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "airy/file.h"
#include "base/number.h"
#include "base/word.h"
#include "io/file/plain_file.h"
#include "jobs/catalog.h"
#include "jobs/sky_points.h"

static airy_status add_point(struct airy_sky_points *p, double a, double b)
{
    if (p->count == p->room) {
        const size_t room = p->room ? 2 * p->room : 64;
        double *x = realloc(p->a, room * sizeof(double));
        p->a = x ? x : p->a;
        double *y = x ? realloc(p->b, room * sizeof(double)) : NULL;
        p->b = y ? y : p->b;
        AIRY_FAIL_IF(!y, AIRY_ERR_MEMORY, "out of memory for %zu points", p->count);
        p->room = room;
    }
    p->a[p->count] = a;
    p->b[p->count++] = b;
    return AIRY_OK;
}

/*
 * A coordinate; why: a sentence where it is none, or NULL. kind, here and below: of places on the
 * sky, or NULL, of pixels.
 */
static bool parse_coordinate(double *value, const char *text, const airy_sky_info *kind, int which,
                             const char **why)
{
    *why = NULL;
    if (!kind)
        return airy_number_parse(value, text);
    const airy_angle angle = which                              ? AIRY_ANGLE_LATITUDE
                             : airy_catalog_is_equatorial(kind) ? AIRY_ANGLE_RIGHT_ASCENSION
                                                                : AIRY_ANGLE_LONGITUDE;
    if (airy_angle_parse(value, text, angle) == AIRY_OK)
        return true;
    *why = airy_last_error();
    return false;
}

static const char blank[] = " \t\r\n";

static size_t count_fields(const char *line, bool blanks)
{
    size_t count = 0;
    if (!blanks) {
        for (count = 1; (line = strchr(line, ',')); line++)
            count++;
        return count;
    }
    for (line += strspn(line, blank); *line; line += strspn(line, blank)) {
        line += strcspn(line, blank);
        count++;
    }
    return count;
}

/* The text of column `which` of a line, without blanks and quotes; false: there is none. */
static bool get_field(char field[64], const char *line, size_t which, bool blanks)
{
    const char *between = blanks ? blank : ",\n";
    for (line += blanks ? strspn(line, blank) : 0; which > 0; which--) {
        line += strcspn(line, between);
        if (blanks ? !*line : *line != ',')
            return false;
        line += blanks ? strspn(line, blank) : 1;
    }
    line += strspn(line, " \t\"");
    size_t n = strcspn(line, blanks ? blank : ",\r\n");
    while (n > 0 && strchr(" \t\"", line[n - 1]))
        n--;
    if (n >= 64 || (blanks && n == 0))
        return false;
    memcpy(field, line, n);
    field[n] = 0;
    return true;
}

enum { NAMES = 5, NO_NAME = NAMES };

/* Which name of coordinate k that is, the first counts most; offset: added to its values. */
static int find_name(double *offset, const char *name, int k, const airy_sky_info *kind)
{
    static const char *const pixels[2][NAMES] = {{"x", "com_x", "x_px", "XWIN_IMAGE", "X_IMAGE"},
                                                 {"y", "com_y", "y_px", "YWIN_IMAGE", "Y_IMAGE"}},
                             *const places[2][NAMES] = {
                                 {NULL, NULL, "ALPHA_J2000", "ALPHAWIN_J2000", "ALPHA_SKY"},
                                 {NULL, NULL, "DELTA_J2000", "DELTAWIN_J2000", "DELTA_SKY"}};
    char degrees[16];
    int n = 0;
    *offset = 0;
    if (kind) {
        const char *own = airy_catalog_sky_name(kind, k);
        snprintf(degrees, sizeof(degrees), "%s_deg", own);
        if (strcasecmp(name, own) == 0)
            return 0;
        if (strcasecmp(name, degrees) == 0)
            return 1;
        n = airy_catalog_is_equatorial(kind) ? 2 : NO_NAME;
    }
    while (n < NAMES && strcasecmp(name, kind ? places[k][n] : pixels[k][n]) != 0)
        n++;
    if (!kind && (n == 3 || n == 4)) /* SExtractor's pixels count from 1 */
        *offset = -1;
    return n;
}

/* Columns of the two coordinates, and what is added to their values. */
struct names {
    int rank[2]; /* of the name, the first counts most; NO_NAME: none */
    size_t column[2];
    double offset[2];
};
static const struct names no_names = {.rank = {NO_NAME, NO_NAME}, .column = {0, 1}};

static bool are_both(const struct names *n)
{
    return n->rank[0] != NO_NAME && n->rank[1] != NO_NAME;
}

/* A column of that name, where it is a better one than those before it. */
static void take_name(struct names *names, const char *name, size_t column,
                      const airy_sky_info *kind)
{
    for (int k = 0; k < 2; k++) {
        double offset;
        const int n = find_name(&offset, name, k, kind);
        if (n >= names->rank[k])
            continue;
        names->rank[k] = n;
        names->column[k] = column;
        names->offset[k] = offset;
    }
}

static struct names take_names(const char *line, bool blanks, const airy_sky_info *kind)
{
    struct names names = no_names;
    char field[64];
    for (size_t i = 0; get_field(field, line, i, blanks); i++)
        take_name(&names, field, i, kind);
    return names;
}

/* A line of # that names both: the columns, if there are as many, else it only speaks of them. */
struct remark {
    struct names names;
    size_t line, fields;
    bool blanks;
};
enum { REMARKS = 16 }; /* the last ones are kept */

/* A file of points on its way in. Its columns lie between commas, else between blanks. */
struct reading {
    const char *name, *path; /* of the parameter, and the file */
    const airy_sky_info *kind;
    bool known, blanks;
    struct names names, listed; /* listed: in SExtractor's lines, "# 3 X_IMAGE ..." */
    struct remark remarks[REMARKS];
    size_t lists, remarked;
    size_t fields; /* of each row, between blanks, where a head names as many; else 0 */
    size_t line;   /* from 1 */
};

static bool parse_whole(uint64_t *value, const char *text)
{
    if (!*text || text[strspn(text, "0123456789")])
        return false;
    errno = 0;
    *value = strtoull(text, NULL, 10);
    return errno == 0;
}

/* A line of # in front of the first row. */
static void read_remark(struct reading *r, const char *line)
{
    char field[64];
    uint64_t number;
    const char *text = line + strspn(line, " \t#");
    const bool blanks = !strchr(text, ',');
    if (get_field(field, text, 0, true) && parse_whole(&number, field)) {
        r->lists++;
        if (number > 0 && number <= SIZE_MAX && get_field(field, text, 1, true))
            take_name(&r->listed, field, (size_t)number - 1, r->kind);
        return;
    }
    const struct names names = take_names(text, blanks, r->kind);
    if (are_both(&names))
        r->remarks[r->remarked++ % REMARKS] =
            (struct remark){names, r->line, count_fields(text, blanks), blanks};
}

/* The sentence "NAME FILE line N: why". */
static airy_status refuse_line(const struct reading *r, size_t line, const char *why)
{
    return airy_hinted(AIRY_HINT_STATED,
                       airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_PARAMETER, "%s %s line %zu: %s",
                                    r->name, r->path, line, why));
}

static airy_status refuse_unnamed(const struct reading *r)
{
    char why[160];
    snprintf(why, sizeof(why), "no columns %s%s%s are named there; name two, or leave the line out",
             r->kind ? airy_catalog_sky_name(r->kind, 0) : "x, y",
             r->kind ? ", " : " (or com_x, com_y)",
             r->kind ? airy_catalog_sky_name(r->kind, 1) : "");
    return refuse_line(r, r->line, why);
}

/* The columns, at the first row: what the lines of # in front of it say of them. */
static airy_status choose_columns(struct reading *r, const char *row)
{
    const size_t fields = count_fields(row, r->blanks);
    r->names = are_both(&r->listed) ? r->listed : no_names;
    for (size_t i = r->remarked; !are_both(&r->names) && i > 0 && i + REMARKS > r->remarked; i--) {
        const struct remark *m = &r->remarks[(i - 1) % REMARKS];
        if (m->fields != fields)
            continue;
        r->names = m->names;
        r->fields = fields;
        /* Of words between blanks above values between commas none need be names. */
        if (m->blanks != r->blanks && (m->names.column[0] != 0 || m->names.column[1] != 1))
            return refuse_line(r, m->line,
                               r->blanks ? "are these names of the columns? Write the names with "
                                           "blanks between them, as the values, or leave the line "
                                           "out"
                                         : "are these names of the columns? Write the names with "
                                           "commas between them, as the values, or leave the line "
                                           "out");
    }
    if (are_both(&r->names))
        return AIRY_OK;
    if (r->kind && r->blanks && fields == 6)
        return refuse_line(r, r->line,
                           "six columns without names; write angles as 05:34:31.9 +22:00:52, or "
                           "name the columns");
    return r->lists != fields || fields < 2 ? AIRY_OK : refuse_unnamed(r);
}

/* A coordinate of a table, in which nan is that of a point that has none. */
static bool parse_field(double *value, const char *field, const airy_sky_info *kind, int which,
                        const char **why)
{
    if (strcasecmp(field, "nan") != 0)
        return parse_coordinate(value, field, kind, which, why);
    *value = (double)NAN;
    return true;
}

/* The first row: the columns. *named: it names them, and is no row of values. */
static airy_status take_first(struct reading *r, const char *line, bool *named)
{
    r->known = true;
    r->blanks = !strchr(line, ',');
    r->names = take_names(line, r->blanks, r->kind);
    *named = are_both(&r->names);
    if (!*named)
        return choose_columns(r, line);
    r->fields = count_fields(line, r->blanks);
    return AIRY_OK;
}

/* The two values of a line of numbers. */
static airy_status read_values(struct reading *r, struct airy_sky_points *points, const char *line,
                               bool first)
{
    const struct names *names = &r->names;
    const size_t fields = r->blanks && r->fields ? count_fields(line, true) : 0;
    const char *why = NULL;
    char field[64] = "", text[AIRY_ERROR_TEXT];
    double v[2] = {0, 0};
    int k = 0;
    if (fields > r->fields) { /* a name of two words, as M 13 */
        snprintf(text, sizeof(text),
                 "%zu columns, and %zu are named; put commas between columns that have blanks",
                 fields, r->fields);
        return refuse_line(r, r->line, text);
    }
    while (k < 2 && get_field(field, line, names->column[k], r->blanks) &&
           parse_field(&v[k], field, r->kind, k, &why))
        k++;
    if (k == 2)
        return add_point(points, v[0] + names->offset[0], v[1] + names->offset[1]);
    if (first && !are_both(names) && !strchr("+-.0123456789", *field)) /* no number: a name */
        return refuse_unnamed(r);
    snprintf(text, sizeof(text), "expected %s in columns %zu and %zu%s%.512s",
             r->kind ? "angles" : "numbers", names->column[0] + 1, names->column[1] + 1,
             why ? ": " : "", why ? why : "");
    return refuse_line(r, r->line, text);
}

/* A line of numbers, or the first one, that names them. */
static airy_status read_row(struct reading *r, struct airy_sky_points *points, const char *line)
{
    const bool first = !r->known;
    bool named = false;
    if (first)
        AIRY_TRY(take_first(r, line, &named));
    return named ? AIRY_OK : read_values(r, points, line, first);
}

static airy_status read_lines(struct reading *r, struct airy_sky_points *points, airy_text *file)
{
    char *line = NULL;
    for (;;) {
        const airy_status status = airy_text_next(file, &line);
        if (status != AIRY_OK) {
            char why[AIRY_ERROR_TEXT];
            snprintf(why, sizeof(why), "%s", airy_last_error());
            return airy_hinted(AIRY_HINT_STATED, airy_fail_on(status, AIRY_SUBJECT_PARAMETER,
                                                              "%s %.900s", r->name, why));
        }
        r->line = airy_text_line(file);
        if (!line)
            return AIRY_OK;
        const char *text = line + strspn(line, blank);
        if (*text == '#' && !r->known)
            read_remark(r, text);
        else if (*text && *text != '#')
            AIRY_TRY(read_row(r, points, line));
    }
}

static airy_status read_table(struct airy_sky_points *points, const char *name, const char *path,
                              const airy_sky_info *kind)
{
    struct reading r = {.name = name, .path = path, .kind = kind, .listed = no_names};
    airy_text *file = NULL;
    AIRY_TRY(airy_text_open(&file, path));
    airy_status status =
        airy_has_suffix(path, ".fits") || airy_has_suffix(path, ".vot") ||
                airy_has_suffix(path, ".xml")
            ? airy_fail_on(AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_FILE,
                           "%s: tables of FITS and VOTable are only written; give it as .csv", path)
            : read_lines(&r, points, file);
    airy_text_close(&file);
    return status;
}

/* A,B, or two angles with blanks between them; false: neither. */
static bool split_pair(char pair[2][64], const char *text)
{
    char copy[160], *rest = copy;
    if (strlen(text) >= sizeof(copy))
        return false;
    strcpy(copy, text);
    const char *between = strchr(copy, ',') ? "," : " \t";
    for (int k = 0; k < 2; k++) {
        rest += strspn(rest, " \t");
        size_t n = k ? strlen(rest) : strcspn(rest, between);
        char *next = rest[n] ? rest + n + 1 : rest + n;
        while (n > 0 && strchr(" \t", rest[n - 1]))
            n--;
        if (n == 0 || n >= 64 || memchr(rest, ' ', n) || memchr(rest, ',', n))
            return false;
        memcpy(pair[k], rest, n);
        pair[k][n] = 0;
        rest = next;
    }
    return true;
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static airy_status refuse_pair(airy_status status, const char *name, const char *text,
                               const char *why)
{
    return airy_hinted(AIRY_HINT_STATED, airy_fail_on(status, AIRY_SUBJECT_PARAMETER,
                                                      "%s %.128s: %s", name, text, why));
}

static const char neither[] = "neither two numbers A,B nor a file that is there";

/*
 * Two coordinates, from the first or the second on. AIRY_ERR_PARAM, or of those that do not suit an image
 * AIRY_ERR_UNSUPPORTED.
 */
static airy_status parse_pair(double v[2], const char *name, const char *text,
                              const airy_sky_info *kind, int from)
{
    const airy_status status = from || !kind ? AIRY_ERR_PARAM : AIRY_ERR_UNSUPPORTED;
    char pair[2][64], sentence[AIRY_ERROR_TEXT];
    const char *why = NULL;
    bool good = split_pair(pair, text);
    for (int k = from; k < 2 && good; k++)
        good = parse_coordinate(&v[k], pair[k], kind, k, &why);
    if (good)
        return AIRY_OK;
    snprintf(sentence, sizeof(sentence), "%.800s", why ? why : neither);
    return refuse_pair(status, name, text, sentence);
}

airy_status airy_sky_points_check(const char *name, const char *text, bool of_sky)
{
    /* Whether a longitude may be in hours, the image says. */
    static const airy_sky_info any;
    double v[2];
    if (is_there(text))
        return AIRY_OK;
    if (strcmp(text, "-") == 0)
        return refuse_pair(AIRY_ERR_PARAM, name, text,
                           "expected A,B or a file; standard input is /dev/stdin");
    /* What has nothing between two of them is the name of a file, which the run does not find. */
    return strpbrk(text, ", \t") ? parse_pair(v, name, text, of_sky ? &any : NULL, of_sky ? 1 : 0)
                                 : AIRY_OK;
}

airy_status airy_sky_points_find(const char *name, const char *text)
{
    return is_there(text) || strpbrk(text, ", \t")
               ? AIRY_OK
               : refuse_pair(AIRY_ERR_PARAM, name, text, neither);
}

airy_status airy_sky_points_read(struct airy_sky_points *points, const char *name, const char *text,
                                 const airy_sky_info *kind)
{
    double v[2];
    if (is_there(text))
        return read_table(points, name, text, kind);
    AIRY_TRY(parse_pair(v, name, text, kind, 0));
    return add_point(points, v[0], v[1]);
}

airy_status airy_sky_points_take(struct airy_sky_points *points, const char *name,
                                 const airy_host_view *view)
{
    const airy_image image = {.dtype = view->dtype, .data = (void *)view->data};
    AIRY_FAIL_ON_IF(view->ndim != 2 || view->shape[1] != 2, AIRY_ERR_SHAPE, AIRY_SUBJECT_PARAMETER,
                    "%s: the array has another shape than [points, 2]", name);
    for (size_t i = 0; i < view->shape[0]; i++)
        AIRY_TRY(add_point(points, airy_image_value(&image, 2 * i),
                           airy_image_value(&image, 2 * i + 1)));
    return AIRY_OK;
}

void airy_sky_points_free(struct airy_sky_points *points)
{
    free(points->a);
    free(points->b);
}
