/* Powder rings from their definition: Bragg's law, Gaussians of 2theta, means over parts of a pixel. */
#ifndef AIRY_TESTS_REF_CALIBRATE_H
#define AIRY_TESTS_REF_CALIBRATE_H

#include "airy/geometry.h"

struct ref_rings {
    const double *spacing; /* m */
    size_t count;
    double sigma;  /* rad of 2theta */
    double height; /* of each ring above the background */
    double background;
    int parts; /* a pixel is the mean of parts x parts points */
};

/* mean: [height][width] */
void ref_ring_image(double *mean, const airy_geometry *geometry, const struct ref_rings *rings);
/* Pixels from the corner of the first one where the beam hits the detector; not before it. */
void ref_beam(double yx[2], const airy_geometry *geometry);

#endif
