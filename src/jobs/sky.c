/* Pixels of an image to sky coordinates and back. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "jobs/catalog.h"
#include "jobs/image_group.h"
#include "jobs/sky_points.h"

struct values {
    struct airy_image_values image;
    struct airy_job_source pixels, radec;
};

#define ROW(member, ...) AIRY_JOB_ROW(struct values, member, __VA_ARGS__)
static const struct airy_job_row rows[] = {
    ROW(image.image.path, .name = "image", .type = AIRY_PARAMETER_PATH, .role = AIRY_ROLE_INPUT,
        .argument = "IMAGE", .help = "the image, of FITS"),
    ROW(pixels, .name = "pixels", .type = AIRY_PARAMETER_PATH, .array = true,
        .role = AIRY_ROLE_READ, .argument = "X,Y|FILE",
        .help = "takes these pixels, counted from 0 at the centre of the first one (FITS counts "
                "from 1); a table's columns x, y or com_x, com_y, or SExtractor's X_IMAGE, "
                "Y_IMAGE, which count from 1, or the first two where no line names them",
        .section = "Points, one of"),
    ROW(radec, .name = "radec", .type = AIRY_PARAMETER_PATH, .array = true, .role = AIRY_ROLE_READ,
        .argument = "RA,DEC|FILE",
        .help = "takes these longitudes and latitudes, in degrees or as 05:34:31.9,+22:00:52 or "
                "5h34m31.9s,22d0m52s; a table's columns ra, dec or ALPHA_J2000, DELTA_J2000 (of a "
                "galactic image glon, glat, of an ecliptic one elon, elat), or the first two where "
                "no line names them"),
    {{0}, 0, NULL}};

static const airy_job_result results[] = {
    {"points", AIRY_JOB_TABLE, NULL, "x, y, ra and dec of each point, or as the sky has them"},
    {NULL, AIRY_JOB_ARRAY, NULL, NULL}};

struct convert {
    airy_image image; /* without data where it is FITS */
    airy_sky *sky;
    struct airy_sky_points from;
    double *a, *b; /* what the points become */
};

static bool is_of_sky(const struct values *v)
{
    return airy_source_is_given(&v->radec);
}

static airy_status check(airy_job *job)
{
    const struct values *v = job->values;
    const bool of_sky = is_of_sky(v);
    const char *name = of_sky ? "radec" : "pixels", *text = of_sky ? v->radec.path : v->pixels.path;
    AIRY_FAIL_ON_IF(airy_source_is_given(&v->pixels) == of_sky, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s and radec: expected one of them", "pixels");
    return text ? airy_sky_points_check(name, text, of_sky) : AIRY_OK;
}

static airy_status read_points(struct convert *s, const struct values *v, const airy_sky_info *info)
{
    const bool of_sky = is_of_sky(v);
    const struct airy_job_source *from = of_sky ? &v->radec : &v->pixels;
    const char *name = of_sky ? "radec" : "pixels";
    return from->is_array ? airy_sky_points_take(&s->from, name, &from->view)
                          : airy_sky_points_read(&s->from, name, from->path, of_sky ? info : NULL);
}

static airy_status put_points(const struct convert *s, airy_job *job, const airy_sky_info *info,
                              bool of_sky)
{
    const double *const pixels[2] = {of_sky ? s->a : s->from.a, of_sky ? s->b : s->from.b},
                        *const places[2] = {of_sky ? s->from.a : s->a, of_sky ? s->from.b : s->b};
    const airy_column columns[] = {
        {.name = "x", .unit = "pix", .dtype = AIRY_DTYPE_F64, .data = pixels[0]},
        {.name = "y", .unit = "pix", .dtype = AIRY_DTYPE_F64, .data = pixels[1]},
        {.name = airy_catalog_sky_name(info, 0),
         .unit = "deg",
         .dtype = AIRY_DTYPE_F64,
         .data = places[0]},
        {.name = airy_catalog_sky_name(info, 1),
         .unit = "deg",
         .dtype = AIRY_DTYPE_F64,
         .data = places[1]}};
    const airy_table table = {
        .name = "POINTS", .rows = s->from.count, .columns = 4, .column = columns, .sky = info};
    airy_job_sum_up(job, "%zu point%s", s->from.count, s->from.count == 1 ? "" : "s");
    return airy_catalog_hand_over(job, "points", &table);
}

/* Points in the sky that the projection does not show, as its other half. */
static void warn_lost(const struct convert *s, const airy_job *job)
{
    const struct airy_sky_points *from = &s->from;
    size_t lost = 0;
    for (size_t i = 0; i < from->count; i++)
        lost += isnan(s->a[i]) && !isnan(from->a[i]) && !isnan(from->b[i]);
    if (lost)
        airy_job_message(job, AIRY_LOG_WARN,
                         "%zu of %zu points %s beyond what the projection shows: nan", lost,
                         from->count, lost == 1 ? "is" : "are");
}

static airy_status run(airy_job *job, void *state)
{
    struct convert *s = state;
    const struct values *v = job->values;
    const struct airy_job_image d = {.job = job, .from = &v->image};
    const char *input = v->image.image.path;
    const bool of_sky = is_of_sky(v);
    const char *text = of_sky ? v->radec.path : v->pixels.path;
    airy_sky_info info;
    if (text)
        AIRY_TRY(airy_sky_points_find(of_sky ? "radec" : "pixels", text));
    AIRY_TRY(airy_image_is_fits(input) ? airy_fits_read_planes(&s->image, input, 0, 0, 1)
                                       : airy_image_read_real(&s->image, input));
    airy_job_warn_cards(&d, &s->image);
    AIRY_TRY(airy_sky_create(&s->sky, &s->image));
    AIRY_TRY(airy_sky_get_info(s->sky, &info));
    AIRY_TRY(read_points(s, v, &info));
    airy_catalog_warn(job, input, s->sky);
    const size_t count = s->from.count;
    AIRY_TRY(airy_memory_calloc((void **)&s->a, count + 1, sizeof(double), "points"));
    AIRY_TRY(airy_memory_calloc((void **)&s->b, count + 1, sizeof(double), "points"));
    AIRY_TRY(of_sky ? airy_sky_to_pixel(s->sky, s->a, s->b, s->from.a, s->from.b, count)
                    : airy_sky_from_pixel(s->sky, s->a, s->b, s->from.a, s->from.b, count));
    AIRY_TRY(put_points(s, job, &info, of_sky));
    warn_lost(s, job);
    return AIRY_OK;
}

static void close_sky(void *state)
{
    struct convert *s = state;
    airy_sky_destroy(&s->sky);
    airy_image_free(&s->image);
    airy_sky_points_free(&s->from);
    free(s->a);
    free(s->b);
}

extern const struct airy_job_kind airy_job_sky;
const struct airy_job_kind airy_job_sky = {
    .name = "sky",
    .summary = "pixels of a FITS image to sky coordinates and back",
    .details =
        "The points are x,y,ra,dec (x,y,glon,glat of a galactic image, x,y,elon,elat of an "
        "ecliptic one, x,y,lon,lat of any other), in the command as CSV, or a list of objects with "
        "--json. Pixels count from 0: x = 0, y = 0 is the centre of the first pixel, which FITS "
        "calls 1, 1. Right ascension and declination (or what the header's celestial axes are) are "
        "in degrees. A point that has no partner is nan, in JSON null. A FILE is CSV, or has "
        "blanks between its columns. Its first line may name them, and so may lines of # in front "
        "of it, which else are comments: '# 3 X_IMAGE ...' a line, as SExtractor's ASCII_HEAD "
        "does, or '# x y flux', one name for each column.",
    .groups = {{rows, 0}},
    .results = results,
    .values_size = sizeof(struct values),
    .state_size = sizeof(struct convert),
    .check = check,
    .run = run,
    .close = close_sky,
};
