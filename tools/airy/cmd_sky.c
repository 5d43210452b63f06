/* airy sky: pixels to sky coordinates and back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "catalog.h"
#include "device_image.h"

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
     .argument = "X,Y|CSV",
     .help = "pixels, counted from 0 at the centre of the first one (FITS counts from 1); a file's "
             "columns x, y or com_x, com_y, or the first two where no line names them"},
    {.name = "radec",
     .type = OPT_STRING,
     FIELD(radec),
     .use = OPT_READ,
     .argument = "RA,DEC|CSV",
     .help =
         "longitudes and latitudes in degrees; a file's columns ra, dec (of a galactic image glon, "
         "glat, of an ecliptic one elon, elat), or the first two where no line names them"},
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

/* The text of column `which` of a line, without blanks and quotes; false: there is none. */
static bool get_field(char field[64], const char *line, size_t which)
{
    for (; which > 0; which--) {
        line += strcspn(line, ",\n");
        if (*line != ',')
            return false;
        line++;
    }
    line += strspn(line, " \t\"");
    size_t n = strcspn(line, ",\r\n");
    while (n > 0 && strchr(" \t\"", line[n - 1]))
        n--;
    if (n >= 64)
        return false;
    memcpy(field, line, n);
    field[n] = 0;
    return true;
}

/* The columns that a head line names; false: it does not name both. info: NULL for pixels. */
static bool find_columns(size_t columns[2], const char *line, const airy_sky_info *info)
{
    const char *names[2][3] = {{"x", "com_x", "x_px"}, {"y", "com_y", "y_px"}};
    char field[64], degrees[2][16];
    for (int k = 0; k < 2 && info; k++) {
        names[k][0] = names[k][2] = catalog_sky_name(info, k);
        snprintf(degrees[k], sizeof(degrees[k]), "%s_deg", names[k][0]);
        names[k][1] = degrees[k];
    }
    bool found[2] = {false, false};
    for (int k = 0; k < 2; k++)
        for (int n = 2; n >= 0; n--) /* the first name counts most */
            for (size_t i = 0; get_field(field, line, i); i++)
                if (strcasecmp(field, names[k][n]) == 0) {
                    columns[k] = i;
                    found[k] = true;
                }
    return found[0] && found[1];
}

static int read_csv(struct points *points, const struct common *common, const char *option,
                    const char *path, const airy_sky_info *info)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return tool_fail(common, "--%s %s: neither two numbers A,B nor a file that opens", option,
                         path);
    char line[4096], field[64];
    size_t columns[2] = {0, 1}, number = 0;
    bool head = true;
    int code = AIRY_EXIT_OK;
    while (code == AIRY_EXIT_OK && fgets(line, sizeof(line), file)) {
        number++;
        const char *text = line + strspn(line, " \t\r\n");
        if (!*text || *text == '#')
            continue;
        double v[2] = {0, 0};
        bool good = true;
        for (int k = 0; k < 2; k++)
            good = good && get_field(field, line, columns[k]) && !opt_any_number(&v[k], field);
        if (!good && head && !find_columns(columns, line, info))
            code = tool_fail(common,
                             "--%s %s line %zu: no columns %s%s%s are named there; name two, or "
                             "leave the line out",
                             option, path, number, info ? catalog_sky_name(info, 0) : "x, y",
                             info ? ", " : " (or com_x, com_y)",
                             info ? catalog_sky_name(info, 1) : "");
        else if (!good && !head)
            code = tool_fail(common, "--%s %s line %zu: expected numbers in columns %zu and %zu",
                             option, path, number, columns[0] + 1, columns[1] + 1);
        else if (good && !add_point(points, v[0], v[1]))
            code = tool_fail(common, "out of memory for %zu points", points->count);
        head = false;
    }
    fclose(file);
    return code;
}

/* Two numbers, or a file. */
static int read_points(struct points *points, const struct common *common, const char *text,
                       const airy_sky_info *info)
{
    double pair[2];
    if (!opt_two(text, pair))
        return read_csv(points, common, info ? "radec" : "pixels", text, info);
    return add_point(points, pair[0], pair[1]) ? AIRY_EXIT_OK : tool_fail(common, "out of memory");
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
            printf("%.15g,%.15g,%.15g,%.15g\n", x, y, ra, dec);
    }
    if (common->json)
        return tool_print_json(common, list);
    json_decref(list);
    return AIRY_EXIT_OK;
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
    }
    free(a);
    free(b);
    return code;
}

static int check_sky(void *user)
{
    const struct sky_params *p = user;
    return !p->pixels == !p->radec ? tool_usage(&p->common, "give one of --pixels and --radec")
                                   : AIRY_EXIT_OK;
}

static int run_sky(void *user)
{
    const struct sky_params *p = user;
    const struct common *common = &p->common;
    const bool radec = p->radec != NULL;
    const char *text = radec ? p->radec : p->pixels;
    struct points points = {0};
    airy_image image = {0};
    airy_sky *sky = NULL;
    airy_sky_info info;
    airy_status status = airy_image_read(&image, common->inputs.items[0]);
    if (status == AIRY_OK)
        status = airy_sky_create(&sky, &image);
    if (status == AIRY_OK)
        status = airy_sky_get_info(sky, &info);
    int code = status == AIRY_OK ? read_points(&points, common, text, radec ? &info : NULL)
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
    .usage = "IMAGE --pixels X,Y|CSV [options]",
    .summary = "pixels of a FITS image to sky coordinates and back",
    .details = "Prints x,y,ra,dec as CSV (x,y,glon,glat of a galactic image, x,y,elon,elat of an "
               "ecliptic one, x,y,lon,lat of any other), or a list of objects with --json. Pixels "
               "count from 0: "
               "x = 0, y = 0 is the centre of the first pixel, which FITS calls 1, 1. Right "
               "ascension and declination (or what the header's celestial axes are) are in "
               "degrees. A point that has no partner is nan, in JSON null.",
    .examples = "  airy sky image.fits --pixels 511.5,511.5\n"
                "  airy sky image.fits --pixels sources.csv\n"
                "  airy sky 'mosaic.fits[SCI]' --radec 83.633,22.0145 --json\n",
    .tables = {sky_options},
    .params_size = sizeof(struct sky_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .check = check_sky,
    .run = run_sky,
};
