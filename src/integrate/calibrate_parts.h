/* The steps of a calibration: search, control points, fit. Pixels here are coordinates c1, c2 of
 * pose.h: the centre of the first pixel is 0.5, 0.5. */
#ifndef AIRY_INTEGRATE_CALIBRATE_PARTS_H
#define AIRY_INTEGRATE_CALIBRATE_PARTS_H

#include "airy/calibrate.h"
#include "base/thread.h"
#include "integrate/pose.h"

/* Values that do not count are NaN. */
struct airy_ring_image {
    const float *values;
    size_t height, width;
};

/* 2theta of a spacing; NaN where the wavelength is too long for it. */
double airy_ring_tth(double spacing, double wavelength);
/* A point of the ring of 2theta at chi, in pixels; false where that direction misses the plane. */
bool airy_ring_place(const struct airy_pose *pose, const double tth_sin_cos[2],
                     const double chi_sin_cos[2], double c[2]);
/* Derivatives of 2theta at c, by lengths in the plane (rad/m); *tth gets its value. */
void airy_ring_gradient(const struct airy_pose *pose, const double c[2], double *tth,
                        double gradient[2]);
double airy_pixel_length(const airy_detector *detector); /* m; of a square of the pixel's area */

/* Cholesky's factor of a[n][n] (n <= 8), then solve for b in place; false: not positive. */
enum { AIRY_NORMAL_MOST = 8 };
bool airy_normal_factor(double a[AIRY_NORMAL_MOST][AIRY_NORMAL_MOST], int n);
void airy_normal_solve(double a[AIRY_NORMAL_MOST][AIRY_NORMAL_MOST], int n, double *b);

struct airy_ring_point {
    double c[2];
    double scale;    /* pixels of radius a radian of 2theta there */
    double sigma;    /* pixels */
    double residual; /* pixels, by the last fit */
    double chi, width;
    uint32_t ring;
    bool used;
};

struct airy_ring_solution {
    double covariance[AIRY_CALIBRATE_COUNT][AIRY_CALIBRATE_COUNT];
    double rms, spread; /* of the used points' residuals; 1.4826 median of all their sizes */
    size_t used;
    bool singular; /* the points do not tell the parameters apart */
};

/* The value of a geometry that an airy_calibrate_value means. */
double *airy_calibrate_field(airy_geometry *geometry, airy_calibrate_value value);

/*
 * Move the geometry so that the points lie on their rings; marks which points are used. spacing:
 * [rings], m. AIRY_ERR_MEMORY.
 */
airy_status airy_ring_fit(struct airy_ring_solution *solution, airy_geometry *geometry,
                          struct airy_ring_point *points, size_t count, const double *spacing,
                          unsigned refine);

/* What is looked for, and where. */
struct airy_ring_window {
    double tth, half; /* rad; half 0: left alone */
    double scale;     /* pixels a radian, mean over what is on the detector */
    double gap;       /* pixels to the nearer neighbour */
    size_t sectors;
    size_t filled; /* out: of the sectors, with enough pixels */
};

struct airy_ring_points {
    struct airy_ring_point *items;
    size_t count;
    struct airy_ring_window *windows; /* [rings] */
};

struct airy_ring_look {
    double half_px;  /* of the windows; they are cut to 0.45 of the gap */
    double least_px; /* rings whose windows would be narrower are left alone */
    size_t sectors;  /* of a ring at most */
};

/*
 * The points of all rings that stand apart. points->windows: [rings] from the caller, points->items are
 * made anew. AIRY_ERR_MEMORY.
 */
airy_status airy_ring_measure(struct airy_ring_points *points, const struct airy_ring_image *image,
                              const airy_geometry *geometry, const double *spacing, size_t rings,
                              const struct airy_ring_look *look, airy_pool *pool);
/* tth, scale and gap of the windows; scale 0: not on the detector. */
void airy_ring_windows(struct airy_ring_window *windows, const airy_geometry *geometry,
                       const double *spacing, size_t rings);

/*
 * Curves of one 2theta that are no rings of these spacings: peaks of the mean by 2theta, as bright as a
 * tenth of the rings or more; width in pixels. AIRY_ERR_MEMORY.
 */
airy_status airy_ring_others(size_t *others, const struct airy_ring_image *image,
                             const airy_geometry *geometry, const double *spacing, size_t rings,
                             double width);

enum { AIRY_SEARCH_MOST = 4 };
/*
 * Geometries near params->guess whose rings lie on bright curves of the image, the best first; *count of
 * them, 0 where no ring stands apart. AIRY_ERR_MEMORY.
 */
airy_status airy_ring_search(airy_geometry found[AIRY_SEARCH_MOST], size_t *count,
                             const struct airy_ring_image *image, const double *spacing,
                             size_t rings, const airy_calibrate_params *params, unsigned refine,
                             airy_pool *pool);

/* Of doubles, for qsort. */
int airy_by_value(const void *a, const void *b);

#endif
