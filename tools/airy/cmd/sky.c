/* airy sky: pixels to sky coordinates and back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "images/catalog.h"
#include "images/device_image.h"
#include "cli/text_lines.h"

struct sky_params {
    struct common common;
    const char *pixels, *radec;
};

#define FIELD(member) .offset = offsetof(struct sky_params, member)

static const struct opt sky_options[] = {
    {.heading = "Points, one of"},
    {.name = "pixels",
     .type = OPT_STRING,
     FIELD(pixels),
     .use = OPT_READ,
     .argument = "X,Y|FILE",
     .help = "pixels, counted from 0 at the centre of the first one (FITS counts from 1); a "
             "table's columns x, y or com_x, com_y, or SExtractor's X_IMAGE, Y_IMAGE, which count "
             "from 1, or the first two where no line names them"},
    {.name = "radec",
     .type = OPT_STRING,
     FIELD(radec),
     .use = OPT_READ,
     .argument = "RA,DEC|FILE",
     .help = "longitudes and latitudes in degrees or as 05:34:31.9,+22:00:52 or "
             "5h34m31.9s,22d0m52s; a table's columns ra, dec or ALPHA_J2000, DELTA_J2000 (of a "
             "galactic image glon, glat, of an ecliptic one elon, elat), or the first two where no "
             "line names them"},
    {0},
};

struct points {
    double *a, *b;
    size_t count, room;
};

static bool add_point(struct points *p, double a, double b)
{
    if (p->count == p->room) {
        const size_t room = p->room ? 2 * p->room : 64;
        double *x = realloc(p->a, room * sizeof(double));
        p->a = x ? x : p->a;
        double *y = x ? realloc(p->b, room * sizeof(double)) : NULL;
        p->b = y ? y : p->b;
        if (!y)
            return false;
        p->room = room;
    }
    p->a[p->count] = a;
    p->b[p->count++] = b;
    return true;
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
        return opt_number(text, value);
    const airy_angle angle = which                         ? AIRY_ANGLE_LATITUDE
                             : catalog_is_equatorial(kind) ? AIRY_ANGLE_RIGHT_ASCENSION
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
        const char *own = catalog_sky_name(kind, k);
        snprintf(degrees, sizeof(degrees), "%s_deg", own);
        if (strcasecmp(name, own) == 0)
            return 0;
        if (strcasecmp(name, degrees) == 0)
            return 1;
        n = catalog_is_equatorial(kind) ? 2 : NO_NAME;
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
    const struct common *common;
    const char *option, *path;
    const airy_sky_info *kind;
    bool known, blanks;
    struct names names, listed; /* listed: in SExtractor's lines, "# 3 X_IMAGE ..." */
    struct remark remarks[REMARKS];
    size_t lists, remarked;
    size_t fields; /* of each row, between blanks, where a head names as many; else 0 */
    size_t line;   /* from 1 */
};

/* A line of # in front of the first row. */
static void read_remark(struct reading *r, const char *line)
{
    char field[64];
    uint64_t number;
    const char *text = line + strspn(line, " \t#");
    const bool blanks = !strchr(text, ',');
    if (get_field(field, text, 0, true) && opt_whole(field, &number)) {
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

static int say_unnamed(const struct reading *r)
{
    return tool_fail(r->common,
                     "--%s %s line %zu: no columns %s%s%s are named there; name two, or leave the "
                     "line out",
                     r->option, r->path, r->line, r->kind ? catalog_sky_name(r->kind, 0) : "x, y",
                     r->kind ? ", " : " (or com_x, com_y)",
                     r->kind ? catalog_sky_name(r->kind, 1) : "");
}

/* The columns, at the first row: what the lines of # in front of it say of them. */
static int choose_columns(struct reading *r, const char *row)
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
            return tool_fail(r->common,
                             "--%s %s line %zu: are these names of the columns? Write the names "
                             "with %s between them, as the values, or leave the line out",
                             r->option, r->path, m->line, r->blanks ? "blanks" : "commas");
    }
    if (are_both(&r->names))
        return AIRY_EXIT_OK;
    if (r->kind && r->blanks && fields == 6)
        return tool_fail(r->common,
                         "--%s %s line %zu: six columns without names; write angles as 05:34:31.9 "
                         "+22:00:52, or name the columns",
                         r->option, r->path, r->line);
    return r->lists != fields || fields < 2 ? AIRY_EXIT_OK : say_unnamed(r);
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

/* The first row: the columns. True: it names them, or cannot be taken, which code tells. */
static bool take_first(struct reading *r, const char *line, int *code)
{
    r->known = true;
    r->blanks = !strchr(line, ',');
    r->names = take_names(line, r->blanks, r->kind);
    if (are_both(&r->names)) {
        r->fields = count_fields(line, r->blanks);
        return true;
    }
    *code = choose_columns(r, line);
    return *code != AIRY_EXIT_OK;
}

/* A line of numbers, or the first one, that names them. */
static int read_row(struct reading *r, struct points *points, const char *line)
{
    const bool first = !r->known;
    double v[2] = {0, 0};
    const char *why = NULL;
    char field[64] = "";
    int k = 0, code = AIRY_EXIT_OK;
    if (first && take_first(r, line, &code))
        return code;
    const struct names *names = &r->names;
    const size_t fields = r->blanks && r->fields ? count_fields(line, true) : 0;
    if (fields > r->fields) /* a name of two words, as M 13 */
        return tool_fail(r->common,
                         "--%s %s line %zu: %zu columns, and %zu are named; put commas between "
                         "columns that have blanks",
                         r->option, r->path, r->line, fields, r->fields);
    while (k < 2 && get_field(field, line, names->column[k], r->blanks) &&
           parse_field(&v[k], field, r->kind, k, &why))
        k++;
    if (k == 2)
        return add_point(points, v[0] + names->offset[0], v[1] + names->offset[1])
                   ? AIRY_EXIT_OK
                   : tool_fail(r->common, "out of memory for %zu points", points->count);
    if (first && !are_both(names) && !strchr("+-.0123456789", *field)) /* no number: a name */
        return say_unnamed(r);
    return tool_fail(r->common, "--%s %s line %zu: expected %s in columns %zu and %zu%s%s",
                     r->option, r->path, r->line, r->kind ? "angles" : "numbers",
                     names->column[0] + 1, names->column[1] + 1, why ? ": " : "", why ? why : "");
}

static int read_table(struct points *points, const struct common *common, const char *option,
                      const char *path, const airy_sky_info *kind)
{
    struct reading r = {
        .common = common, .option = option, .path = path, .kind = kind, .listed = no_names};
    char named[32];
    snprintf(named, sizeof(named), "--%s ", option);
    struct text_lines lines;
    if (!text_open(&lines, common, named, path))
        return AIRY_EXIT_FAILED;
    int code = AIRY_EXIT_OK;
    if (tool_has_suffix(path, ".fits") || tool_has_suffix(path, ".vot") ||
        tool_has_suffix(path, ".xml"))
        code = tool_fail(common,
                         "--%s %s: tables of FITS and VOTable are only written; give it as .csv",
                         option, path);
    for (const char *line; (line = text_next(&lines, &code)) != NULL;) {
        r.line = lines.number;
        const char *text = line + strspn(line, blank);
        if (*text == '#' && !r.known)
            read_remark(&r, text);
        else if (*text && *text != '#')
            code = read_row(&r, points, line);
    }
    text_close(&lines);
    return code;
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

/*
 * Two coordinates of the command line, from the first or the second on. What has nothing between
 * two of them is the name of a file, which is not there. Exit code.
 */
static int parse_pair(double v[2], const struct common *common, const char *text,
                      const airy_sky_info *kind, int from)
{
    const char *option = kind ? "radec" : "pixels", *why = NULL;
    char pair[2][64];
    if (strcmp(text, "-") == 0)
        return tool_usage(common, "--%s -: expected A,B or a file; standard input is /dev/stdin",
                          option);
    if (!strpbrk(text, ", \t"))
        return tool_fail(common, "--%s %s: neither two numbers A,B nor a file that is there",
                         option, text);
    bool good = split_pair(pair, text);
    for (int k = from; k < 2 && good; k++)
        good = parse_coordinate(&v[k], pair[k], kind, k, &why);
    return good  ? AIRY_EXIT_OK
           : why ? tool_usage(common, "--%s %s: %s", option, text, why)
                 : tool_usage(common, "--%s %s: neither two numbers A,B nor a file that is there",
                              option, text);
}

/* The points of --pixels or --radec. Exit code. */
static int read_points(struct points *points, const struct common *common, const char *text,
                       const airy_sky_info *kind)
{
    double v[2];
    if (tool_exists(text))
        return read_table(points, common, kind ? "radec" : "pixels", text, kind);
    const int code = parse_pair(v, common, text, kind, 0);
    if (code != AIRY_EXIT_OK)
        return code;
    return add_point(points, v[0], v[1]) ? AIRY_EXIT_OK : tool_fail(common, "out of memory");
}

/* That of a point which has no partner may have a sign, which says nothing. */
static double unsigned_nan(double value)
{
    return isnan(value) ? fabs(value) : value;
}

static int print_points(const struct common *common, const airy_sky_info *info,
                        const struct points *from, const double *a, const double *b, bool radec)
{
    const char *longitude = catalog_sky_name(info, 0), *latitude = catalog_sky_name(info, 1);
    json_t *list = json_array();
    if (!common->json)
        printf("x,y,%s,%s\n", longitude, latitude);
    for (size_t i = 0; i < from->count; i++) {
        const double x = radec ? a[i] : from->a[i], y = radec ? b[i] : from->b[i],
                     ra = radec ? from->a[i] : a[i], dec = radec ? from->b[i] : b[i];
        if (common->json)
            json_array_append_new(list,
                                  json_pack("{s:o, s:o, s:o, s:o}", "x", tool_json_number(x), "y",
                                            tool_json_number(y), longitude, tool_json_number(ra),
                                            latitude, tool_json_number(dec)));
        else
            printf("%.15g,%.15g,%.15g,%.15g\n", unsigned_nan(x), unsigned_nan(y), unsigned_nan(ra),
                   unsigned_nan(dec));
    }
    if (common->json)
        return tool_print_json(common, list);
    json_decref(list);
    return AIRY_EXIT_OK;
}

/* Points in the sky that the projection does not show, as its other half. */
static void say_lost(const struct common *common, const struct points *from, const double *to)
{
    size_t lost = 0;
    for (size_t i = 0; i < from->count; i++)
        lost += isnan(to[i]) && !isnan(from->a[i]) && !isnan(from->b[i]);
    if (lost)
        tool_say(common, "%zu of %zu points %s beyond what the projection shows: nan%s", lost,
                 from->count, lost == 1 ? "is" : "are", common->json ? ", in JSON null" : "");
}

static int convert_points(const struct common *common, airy_sky *sky, const airy_sky_info *info,
                          const struct points *points, bool radec)
{
    double *a = malloc((points->count + 1) * sizeof(double)),
           *b = malloc((points->count + 1) * sizeof(double));
    int code = AIRY_EXIT_OK;
    if (!a || !b) {
        code = tool_fail(common, "out of memory for %zu points", points->count);
    } else {
        const airy_status status =
            radec ? airy_sky_to_pixel(sky, a, b, points->a, points->b, points->count)
                  : airy_sky_from_pixel(sky, a, b, points->a, points->b, points->count);
        code = status == AIRY_OK ? print_points(common, info, points, a, b, radec)
                                 : tool_failed(common, status);
        if (code == AIRY_EXIT_OK)
            say_lost(common, points, a);
    }
    free(a);
    free(b);
    return code;
}

static int check_sky(void *user)
{
    const struct sky_params *p = user;
    if (!p->pixels == !p->radec)
        return tool_usage(&p->common, "give one of --pixels and --radec");
    /* Whether a longitude may be in hours, the image says. */
    static const airy_sky_info any;
    const char *text = p->pixels ? p->pixels : p->radec;
    double v[2];
    return tool_exists(text)
               ? AIRY_EXIT_OK
               : parse_pair(v, &p->common, text, p->radec ? &any : NULL, p->radec ? 1 : 0);
}

static int run_sky(void *user)
{
    const struct sky_params *p = user;
    const struct common *common = &p->common;
    const bool radec = p->radec != NULL;
    const char *input = common->inputs.items[0];
    struct points points = {0};
    airy_image image = {0};
    airy_sky *sky = NULL;
    airy_sky_info info;
    airy_status status = airy_image_is_fits(input) ? airy_fits_read_planes(&image, input, 0, 0, 1)
                                                   : airy_image_read_real(&image, input);
    image_say_odd_cards(common, input, &image);
    if (status == AIRY_OK)
        status = airy_sky_create(&sky, &image);
    if (status == AIRY_OK)
        status = airy_sky_get_info(sky, &info);
    int code = status == AIRY_OK ? read_points(&points, common, radec ? p->radec : p->pixels,
                                               radec ? &info : NULL)
                                 : tool_failed(common, status);
    if (code == AIRY_EXIT_OK) {
        catalog_say_assumed(common, sky);
        code = convert_points(common, sky, &info, &points, radec);
    }
    airy_sky_destroy(&sky);
    airy_image_free(&image);
    free(points.a);
    free(points.b);
    return code;
}

const struct command cmd_sky = {
    .name = "sky",
    .usage = "IMAGE --pixels X,Y|FILE [options]",
    .summary = "pixels of a FITS image to sky coordinates and back",
    .details = "Prints x,y,ra,dec as CSV (x,y,glon,glat of a galactic image, x,y,elon,elat of an "
               "ecliptic one, x,y,lon,lat of any other), or a list of objects with --json. Pixels "
               "count from 0: "
               "x = 0, y = 0 is the centre of the first pixel, which FITS calls 1, 1. Right "
               "ascension and declination (or what the header's celestial axes are) are in "
               "degrees. A point that has no partner is nan, in JSON null. A FILE is CSV, or has "
               "blanks between its columns. Its first line may name them, and so may lines of # "
               "in front of it, which else are comments: '# 3 X_IMAGE ...' a line, as "
               "SExtractor's ASCII_HEAD does, or '# x y flux', one name for each column.",
    .examples = "  airy sky image.fits --pixels 511.5,511.5\n"
                "  airy sky image.fits --pixels sources.csv\n"
                "  airy sky 'mosaic.fits[SCI]' --radec 83.633,22.0145 --json\n"
                "  airy sky image.fits --radec '05:34:31.9 +22:00:52'\n"
                "  airy sky image.fits --pixels sextractor.cat\n",
    .tables = {sky_options},
    .params_size = sizeof(struct sky_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .check = check_sky,
    .run = run_sky,
};
