/* Sources by their definition: detection, the tree of thresholds, and areas of overlap. */
#ifndef AIRY_TESTS_REF_SOURCES_H
#define AIRY_TESTS_REF_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ref_field {
    size_t width, height;
    const double *value;  /* NaN: left out */
    const double *noise;  /* NULL: threshold is absolute */
    const double *kernel; /* 3 x 3, NULL: none */
    double threshold;     /* or sigma */
    bool matched;         /* sum k f / s^2 > sigma root(sum k^2 / s^2) */
    int axes;             /* 1: 4-connected, 2: 8-connected */
    uint64_t min_area;
};

struct ref_source {
    uint64_t npix;
    size_t xmin, xmax, ymin, ymax;
    double flux, filtered, peak, x, y, xx, yy, xy;
};

/* Islands without deblending, from 1, and the filtered image. Returns their number. */
size_t ref_sources_find(uint32_t *labels, double *filtered, const struct ref_field *field);
void ref_source_measure(struct ref_source *s, uint32_t label, const uint32_t *labels,
                        const double *filtered, const struct ref_field *field);

struct ref_core {
    double x, y; /* weighted by the filtered image */
    size_t first, npix;
};
/*
 * Cores of the parts that an island is split into, at most `room` of them; 0: it is not split.
 * core[i]: to which of them a pixel belongs, from 1.
 */
size_t ref_sources_split(struct ref_core *cores, size_t room, uint32_t *core, uint32_t label,
                         const uint32_t *labels, const double *filtered,
                         const struct ref_field *field, int levels, double contrast);

/* Area of the square of side 1 about (dx, dy) in the ellipse about (0, 0); error below 1e-6. */
double ref_overlap(double dx, double dy, double a, double b, double theta);

#endif
