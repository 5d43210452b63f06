/* Backgrounds from their definition: one mesh, one window, one pixel at a time. */
#ifndef AIRY_TESTS_REF_BACKGROUND_H
#define AIRY_TESTS_REF_BACKGROUND_H

#include <stdbool.h>
#include <stddef.h>

struct ref_background {
    size_t height, width, mesh[2], filter[2];
    double threshold;
    int estimate; /* 0 mode, 1 median, 2 mean */
    bool sep;     /* as SEP does it */
};

/* Nodes, and what is made of them. Free level and noise. */
struct ref_nodes {
    size_t ny, nx, bad;
    double *level, *noise, middle_level, middle_noise;
};

/* x: [height][width], NaN: left out. False: there is no good mesh. */
bool ref_background_nodes(struct ref_nodes *nodes, const double *x, const struct ref_background *p);
/* [height][width] */
void ref_background_map(double *map, const double *nodes, const struct ref_background *p);

#endif
