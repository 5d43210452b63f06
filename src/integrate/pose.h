/* Where the detector's pixels are, in a form that rows of them are computed from. */
#ifndef AIRY_INTEGRATE_POSE_H
#define AIRY_INTEGRATE_POSE_H

#include "airy/geometry.h"

/*
 * y = m[0][0] p1 + m[0][1] p2 + m[0][2] p3 / dist, x by m[1], z by m[2]; p1 = pixel1 d1 - poni1 with
 * d1 = c1, or height - c1 where flipped: c1 is the index of a row plus 1/2 for centres, plus 0 for the
 * corner below it. The same for columns. p3 = dist. With an array of corners c1 and c2 are rounded down
 * to a pixel, and `corner` says which of its corners is meant.
 */
struct airy_pose {
    double m[3][3];
    double pixel1, pixel2, poni1, poni2, dist;
    double height, width;
    bool flip1, flip2;
    bool single;    /* products of pixel size and index are rounded to float, as pyFAI's corners
                       are */
    double q_scale; /* q in 1/nm = q_scale sin(theta) */
    /* Grazing incidence: x, y in the sample's orientation; cosines and sines of incidence and tilt. */
    double sample[2][2], cos_incidence, sin_incidence, cos_tilt, sin_tilt;
    /*
     * The direct beam in coordinates c1, c2, where it is seen; NaN where it goes past the detector's
     * plane, and with an array of corners.
     */
    double beam1, beam2;
    const float *corners; /* airy_detector.corners or NULL */
    int corner;           /* 0 to 3: A to D as the image counts; -1: their mean */
    bool parallax;
    double attenuation, thickness; /* of the sensor; thickness 0: infinite */
    bool cosines;                  /* solid angles are cos^3 even with corners, as pyFAI's are */
};

/*
 * Check a geometry that is to be used and fill in what can be worked out: the attenuation of its
 * sensor where that is needed. Errors: those of airy_geometry_check, AIRY_ERR_PARAM.
 */
airy_status airy_geometry_prepare(airy_geometry *prepared, const airy_geometry *geometry,
                                  bool sensor);
/* Of a geometry that is prepared. */
void airy_pose_make(struct airy_pose *pose, const airy_geometry *geometry);

/*
 * out[k], k below n: the unit's value at (c1, c2 + k). Serial; lengths in m inside, scaled to the
 * unit.
 */
void airy_pose_radial(const struct airy_pose *pose, airy_unit unit, double c1, double c2, size_t n,
                      double *out);
/* The same of (c1, k), k below n, with positions y, x in the laboratory. */
void airy_pose_line(const struct airy_pose *pose, airy_unit unit, double c1, size_t n,
                    double *radial, double *y, double *x);
/* Positions y, x, z in the laboratory of (c1, c2 + k), k below n. */
void airy_pose_points(const struct airy_pose *pose, double c1, double c2, size_t n, double *y,
                      double *x, double *z);
/* chi in rad, (-pi, pi]. */
void airy_pose_chi(const struct airy_pose *pose, double c1, double c2, size_t n, double *out);
void airy_pose_solid_angle(const struct airy_pose *pose, double c1, double c2, size_t n,
                           double *out);
/* What the sensor absorbs, relative to normal incidence. */
void airy_pose_efficiency(const struct airy_pose *pose, double c1, double c2, size_t n,
                          double *out);
void airy_pose_polarization(const struct airy_pose *pose, double factor, double offset_rad,
                            double c1, double c2, size_t n, double *out);

/* params->azimuth_unit, or what 0 stands for. */
airy_unit airy_azimuth_unit(airy_unit unit);
/* Units that cannot be negative; that are infinite at the beam. What is positive and not infinite is
 * 0 there. */
bool airy_unit_is_positive(airy_unit unit);
bool airy_unit_is_singular(airy_unit unit);
/* qip and the angles made of it: they have its sign, and jump where that changes. */
bool airy_unit_is_folded(airy_unit unit);

#endif
