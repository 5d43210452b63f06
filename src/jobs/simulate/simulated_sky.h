/*
 * A radio sky of noise with a beam, a background and sources, the same bits on every machine:
 * integer noise, IEEE doubles, no fused operations.
 */
#ifndef AIRY_JOBS_SIMULATE_SIMULATED_SKY_H
#define AIRY_JOBS_SIMULATE_SIMULATED_SKY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A (1 + r^2/w^2)^-2 in sheared, stretched coordinates; radius > 0: a ring of that radius. */
struct airy_sky_source {
    double x, y, amplitude, width, shear, stretch, radius;
};

struct airy_sky_model {
    uint64_t seed;
    size_t height, width, random; /* random sources behind the given ones */
    double amplitude[2], widths[2], rings;
    double sigma, gradient, background[3], blank;
    const struct airy_sky_source *sources;
    size_t count;
};

/* [height, width] pixels; false when memory is short. */
bool airy_simulated_sky(float *pixels, const struct airy_sky_model *model);

#endif
