#include "ref_calibrate.h"

#include <math.h>

#include "ref_integrate.h"

static double profile(double tth, const struct ref_rings *r, double wavelength)
{
    double sum = r->background;
    for (size_t k = 0; k < r->count; k++) {
        const double s = wavelength / (2 * r->spacing[k]);
        const double z = s <= 1 ? (tth - 2 * asin(s)) / r->sigma : 100;
        if (fabs(z) < 10)
            sum += r->height * exp(-z * z / 2);
    }
    return sum;
}

void ref_ring_image(double *mean, const airy_geometry *g, const struct ref_rings *rings)
{
    const size_t h = g->detector.height, w = g->detector.width;
    const int parts = rings->parts;
    for (size_t y = 0; y < h; y++)
        for (size_t x = 0; x < w; x++) {
            double sum = 0;
            for (int i = 0; i < parts; i++)
                for (int j = 0; j < parts; j++)
                    sum += profile(ref_radial(g, AIRY_UNIT_TTH_RAD, (double)y + (i + 0.5) / parts,
                                              (double)x + (j + 0.5) / parts),
                                   rings, g->wavelength);
            mean[y * w + x] = sum / (parts * parts);
        }
}

/* Newton's method on the position in the laboratory, y = x = 0; it is nearly linear. */
void ref_beam(double yx[2], const airy_geometry *g)
{
    yx[0] = g->poni1 / g->detector.pixel1;
    yx[1] = g->poni2 / g->detector.pixel2;
    for (int step = 0; step < 20; step++) {
        double at[3], up[3], right[3];
        ref_position(at, g, yx[0], yx[1]);
        ref_position(up, g, yx[0] + 1, yx[1]);
        ref_position(right, g, yx[0], yx[1] + 1);
        const double a = up[0] - at[0], b = right[0] - at[0], c = up[1] - at[1],
                     d = right[1] - at[1], det = a * d - b * c;
        yx[0] -= (d * at[0] - b * at[1]) / det;
        yx[1] -= (a * at[1] - c * at[0]) / det;
    }
}
