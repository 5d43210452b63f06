/*
 * What a back end does for the background family: statistics of the meshes, and maps. What lies
 * between, from the meshes to the nodes of the splines, is the same on all back ends (nodes.c).
 */
#ifndef AIRY_BACKGROUND_BACKGROUND_FNS_H
#define AIRY_BACKGROUND_BACKGROUND_FNS_H

#include "airy/background.h"
#include "core/objects.h"
#include "shared/background_geom.h"

struct airy_background {
    airy_device *device;
    size_t shape[2], mesh[2], nodes[2]; /* y, x */
    bool compat;
    double base, floor;  /* as in airy_background_map_geom */
    airy_array *splines; /* f64 [2: level less base, noise][planes][nodes y][nodes x] */
};

struct airy_background_plan {
    const airy_array *image, *mask; /* mask NULL: none */
    size_t mesh[2], nodes[2];
    airy_background_estimate estimate;
    bool compat;
};

struct airy_background_map_plan {
    const airy_background *background;
    const airy_array *dst;   /* NULL: only the noise */
    const airy_array *src;   /* NULL: dst is the level, else src - level */
    const airy_array *noise; /* NULL: none */
};

struct airy_background_fns {
    /* level_noise: [2][nodes], out; NaN: the mesh is bad. Complete on return. */
    airy_status (*meshes)(airy_queue *queue, const struct airy_background_plan *plan,
                          double *level_noise);
    airy_status (*map)(airy_queue *queue, const struct airy_background_map_plan *plan);
};

extern const struct airy_background_fns airy_background_cpu, airy_background_opencl;

/* Bad meshes filled, a median over the nodes' neighbours. level, noise: [nodes y][nodes x]. */
airy_status airy_background_fill(double *level, double *noise, const size_t nodes[2], size_t *bad);
airy_status airy_background_filter(double *level, double *noise, const size_t nodes[2],
                                   const size_t window[2], double threshold);
/* The planes of a spline through values less base. */
airy_status airy_background_splines(double *planes, const double *values, double base,
                                    const size_t nodes[2], bool compat);
/* Of count > 0; malloc'ed room is made and released. */
airy_status airy_background_median(double *median, const double *values, size_t count);

#endif
