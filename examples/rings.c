/*
 * Geometry: a detector from the registry, a PONI file written and read, and where the pixels point.
 *
 * Build: cc rings.c $(pkg-config --cflags --libs airy)
 * Run:   ./rings [DETECTOR]       such as eiger_4M, Pilatus100k
 */
#include <airy/geometry.h>
#include <stdio.h>
#include <stdlib.h>

/* Smallest and largest value of an image, and its value at a pixel. */
static void report(const char *what, const double *image, const airy_detector *d, size_t y,
                   size_t x)
{
    double low = image[0], high = image[0];
    for (size_t i = 0; i < d->height * d->width; i++) {
        low = image[i] < low ? image[i] : low;
        high = image[i] > high ? image[i] : high;
    }
    printf("%-12s %10.5f to %10.5f, at [%zu, %zu] %10.5f\n", what, low, high, y, x,
           image[y * d->width + x]);
}

static airy_status run(const char *name, double *image, airy_geometry *g)
{
    const char *path = "rings.poni";
    const airy_detector *d = &g->detector;
    airy_status status;
    /* 100 mm away, the beam hits the middle, 1 A; lengths in m, angles in rad. */
    g->dist = 0.1;
    g->poni1 = d->pixel1 * (double)d->height / 2;
    g->poni2 = d->pixel2 * (double)d->width / 2;
    g->rot1 = 0.01;
    g->wavelength = 1e-10;
    if ((status = airy_geometry_write(g, path)) != AIRY_OK)
        return status;
    status = airy_geometry_read(g, path);
    remove(path);
    if (status != AIRY_OK)
        return status;
    printf("%s: %s, %zu x %zu pixels of %g um\n", name, d->name, d->height, d->width,
           d->pixel1 * 1e6);

    const size_t y = d->height / 4, x = d->width / 3;
    static const airy_unit units[] = {AIRY_UNIT_Q_NM, AIRY_UNIT_TTH_DEG, AIRY_UNIT_R_MM};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if ((status = airy_geometry_centers(g, units[i], image)) != AIRY_OK)
            return status;
        report(airy_unit_label(units[i]), image, d, y, x);
    }
    if ((status = airy_geometry_solid_angle(g, image)) != AIRY_OK)
        return status;
    report("solid angle", image, d, y, x);
    if ((status = airy_geometry_polarization(g, 0.99, 0, image)) != AIRY_OK)
        return status;
    report("polarization", image, d, y, x);
    return AIRY_OK;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "Pilatus100k";
    airy_geometry geometry = {0};
    double *image = NULL;
    airy_status status = airy_detector_find(&geometry.detector, name);
    if (status == AIRY_OK) {
        image = malloc(geometry.detector.height * geometry.detector.width * sizeof(*image));
        status = image ? run(name, image, &geometry) : AIRY_ERR_MEMORY;
    }
    if (status != AIRY_OK)
        fprintf(stderr, "rings: %s: %s\n", airy_status_name(status), airy_last_error());
    free(image);
    return status == AIRY_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
