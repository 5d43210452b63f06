/* The simulated skies of the golden data, pixel by pixel. */
#ifndef AIRY_TESTS_CHECK_SKIES_H
#define AIRY_TESTS_CHECK_SKIES_H

#include "jobs/simulate/simulated_sky.h"

struct check_sky {
    size_t height, width, random;
    uint64_t seed;
    double blank;
};

/* False when memory is short. */
static inline bool check_simulate_sky(float *pixels, const struct check_sky *sky)
{
    static const struct airy_sky_source source = {1030.25, 1019.75, 2.4, 9, 0.2, 1.3, 0};
    const struct airy_sky_model model = {.seed = sky->seed,
                                         .height = sky->height,
                                         .width = sky->width,
                                         .random = sky->random,
                                         .amplitude = {0.045, 1.2},
                                         .widths = {1.6, 7},
                                         .rings = 0.03,
                                         .sigma = 0.0115,
                                         .gradient = 0.9,
                                         .background = {-2e-05, 0.0004, -0.0003},
                                         .blank = sky->blank,
                                         .sources = &source,
                                         .count = sky->height == 2048};
    return airy_simulated_sky(pixels, &model);
}

#endif
