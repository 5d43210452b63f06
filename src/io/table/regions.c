/* Ellipses as regions of SAOImage DS9. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "io/file/plain_file.h"
#include "io/table/formats.h"

enum { POINTS = 3 }; /* the centre, and a step from it along x and along y */

static const double deg = 3.14159265358979323846 / 180;

struct job {
    const airy_ellipse *ellipses;
    size_t count;
    const char *frame;   /* NULL: pixels */
    const double *world; /* POINTS longitudes, then POINTS latitudes, an ellipse */
};

/* DS9's name of a frame; its FK5 and ecliptic are of 2000, its FK4 of 1950. */
static const char *frame_name(const airy_sky_info *info)
{
    switch (info->system) {
    case AIRY_SKY_ICRS:
        return "icrs";
    case AIRY_SKY_GALACTIC:
        return "galactic";
    case AIRY_SKY_FK5:
        return isnan(info->equinox) || info->equinox == 2000 ? "fk5" : NULL;
    case AIRY_SKY_FK4:
        return isnan(info->equinox) || info->equinox == 1950 ? "fk4" : NULL;
    case AIRY_SKY_ECLIPTIC:
        return isnan(info->equinox) || info->equinox == 2000 ? "ecliptic" : NULL;
    default:
        return NULL;
    }
}

/* Semi-axes and angle of the ellipse with these second moments. */
static void print_axes(FILE *file, double xx, double yy, double xy, double scale, const char *unit)
{
    const double half = (xx - yy) / 2, root = hypot(half, xy), mean = (xx + yy) / 2;
    const double a = sqrt(fmax(mean + root, 0)), b = sqrt(fmax(mean - root, 0));
    const double angle = atan2(2 * xy, xx - yy) / 2 / deg;
    fprintf(file, "%.9g%s,%.9g%s,%.9g)", a * scale, unit, b * scale, unit, angle);
}

/*
 * J: derivatives of the position to the west and to the north by x and by y, in degrees; moments of
 * the ellipse become J M J^T.
 */
static bool print_sky(FILE *file, const airy_ellipse *e, const double *world, double step)
{
    double j[2][2];
    for (int k = 0; k < 2; k++) {
        const double east = remainder(world[1 + k] - world[0], 360) * cos(world[POINTS] * deg);
        j[0][k] = -east / step;
        j[1][k] = (world[POINTS + 1 + k] - world[POINTS]) / step;
    }
    const double c = cos(e->theta), s = sin(e->theta);
    const double u[2] = {e->a * (j[0][0] * c + j[0][1] * s), e->a * (j[1][0] * c + j[1][1] * s)};
    const double v[2] = {e->b * (j[0][1] * c - j[0][0] * s), e->b * (j[1][1] * c - j[1][0] * s)};
    const double xx = u[0] * u[0] + v[0] * v[0], yy = u[1] * u[1] + v[1] * v[1],
                 xy = u[0] * u[1] + v[0] * v[1];
    if (!isfinite(xx) || !isfinite(yy) || !isfinite(xy))
        return false;
    fprintf(file, "ellipse(%.10f,%+.10f,", world[0], world[POINTS]);
    print_axes(file, xx, yy, xy, 3600, "\"");
    return true;
}

static const double step = 0.01; /* px; differences of f64 degrees keep 8 digits */

static void print_regions(FILE *file, const void *user)
{
    const struct job *job = user;
    fputs("# Region file format: DS9 version 4.1\nglobal color=green\n", file);
    fprintf(file, "%s\n", job->frame ? job->frame : "image");
    for (size_t i = 0; i < job->count; i++) {
        const airy_ellipse *e = &job->ellipses[i];
        if (!isfinite(e->x + e->y + e->a + e->b + e->theta))
            continue;
        if (!job->frame || !print_sky(file, e, job->world + 2 * POINTS * i, step))
            fprintf(file, "%sellipse(%.9g,%.9g,%.9g,%.9g,%.9g)", job->frame ? "image;" : "",
                    e->x + 1, e->y + 1, e->a, e->b, e->theta / deg);
        fprintf(file, " # text={%zu}\n", i + 1);
    }
}

/* World coordinates of the POINTS of every ellipse. */
static airy_status find_world(double **world, const airy_ellipse *ellipses, size_t count,
                              airy_sky *sky)
{
    double *w = calloc(count + 1, 2 * POINTS * sizeof(double));
    AIRY_FAIL_IF(!w, AIRY_ERR_MEMORY, "out of memory for %zu regions", count);
    *world = w;
    for (size_t i = 0; i < count; i++, w += 2 * POINTS) {
        const double x = ellipses[i].x, y = ellipses[i].y;
        const double px[POINTS] = {x, x + step, x}, py[POINTS] = {y, y, y + step};
        AIRY_TRY(airy_sky_from_pixel(sky, w, w + POINTS, px, py, POINTS));
    }
    return AIRY_OK;
}

airy_status airy_regions_write(const airy_ellipse *ellipses, size_t count, airy_sky *sky,
                               const char *path, bool force)
{
    AIRY_FAIL_IF((count && !ellipses) || !path || !*path, AIRY_ERR_PARAM,
                 "airy_regions_write: ellipses or path are missing");
    struct job job = {.ellipses = ellipses, .count = count};
    airy_sky_info info;
    double *world = NULL;
    airy_status status = AIRY_OK;
    if (sky && (status = airy_sky_get_info(sky, &info)) == AIRY_OK)
        job.frame = frame_name(&info);
    if (status == AIRY_OK && job.frame)
        status = find_world(&world, ellipses, count, sky);
    job.world = world;
    if (status == AIRY_OK)
        status = airy_print_file(path, force, print_regions, &job);
    free(world);
    return status;
}
