#include "ref_integrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

static void multiply(double out[3][3], const double a[3][3], const double b[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
}

/* A place in the image: pixel i, j and how far into it, from 0 to 1. */
struct place {
    size_t i, j;
    double f1, f2;
};

static struct place place_of(double c1, double c2)
{
    return (struct place){(size_t)c1, (size_t)c2, c1 - floor(c1), c2 - floor(c2)};
}

/* Corner k of a pixel of the sensor: along y, x and the distance, from the PONI's foot. */
static void own_corner(double p[3], const airy_geometry *g, size_t i, size_t j, int k)
{
    const float *v = g->detector.corners + ((i * g->detector.width + j) * 4 + (size_t)k) * 3;
    p[0] = (double)v[1] - g->poni1;
    p[1] = (double)v[2] - g->poni2;
    p[2] = (double)v[0] + g->dist;
}

static void cross(double out[3], const double a[3], const double b[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Point before the rotations, and the pixel's area times its normal, as a sum of two triangles. */
static void sensor_point(double p[3], double area[3], const airy_geometry *g, struct place at)
{
    const airy_detector *d = &g->detector;
    const bool flip1 = d->orientation == 1 || d->orientation == 2,
               flip2 = d->orientation == 1 || d->orientation == 4;
    if (!d->corners) {
        const double c1 = (double)at.i + at.f1, c2 = (double)at.j + at.f2;
        p[0] = d->pixel1 * (flip1 ? (double)d->height - c1 : c1) - g->poni1;
        p[1] = d->pixel2 * (flip2 ? (double)d->width - c2 : c2) - g->poni2;
        p[2] = g->dist;
        area[0] = area[1] = 0;
        area[2] = d->pixel1 * d->pixel2;
        return;
    }
    const size_t i = flip1 ? d->height - 1 - at.i : at.i, j = flip2 ? d->width - 1 - at.j : at.j;
    const double f1 = flip1 ? 1 - at.f1 : at.f1, f2 = flip2 ? 1 - at.f2 : at.f2;
    const double weight[4] = {(1 - f1) * (1 - f2), f1 * (1 - f2), f1 * f2, (1 - f1) * f2};
    double corner[4][3], side[3][3], half[3];
    for (int k = 0; k < 4; k++)
        own_corner(corner[k], g, i, j, k);
    for (int v = 0; v < 3; v++) {
        p[v] = 0;
        for (int k = 0; k < 4; k++)
            p[v] += weight[k] * corner[k][v];
        for (int k = 0; k < 3; k++)
            side[k][v] = corner[k + 1][v] - corner[0][v];
        area[v] = 0;
    }
    for (int k = 0; k < 2; k++) {
        cross(half, side[k], side[k + 1]);
        for (int v = 0; v < 3; v++)
            area[v] += half[v] / 2;
    }
    if (dot(area, p) < 0)
        for (int v = 0; v < 3; v++)
            area[v] = -area[v];
}

/*
 * The mean of how far along the sensor photons are absorbed: Gauss's rule of five points over eight
 * layers of it.
 */
static double mean_shift(const airy_sensor *sensor, double r, double foot)
{
    enum { LAYERS = 8 };
    const double cosine = foot / hypot(r, foot), rate = sensor->attenuation / cosine;
    if (sensor->thickness == 0)
        return r / foot / rate;
    double sum = 0, all = 0;
    for (int k = 0; k < 5 * LAYERS; k++) {
        const int n = k % 5 - 2;
        const double part = n % 2 ? -1 : 1, root = 2 * sqrt(10.0 / 7);
        const double node = n == 0 ? 0 : copysign(sqrt(5 + part * root) / 3, n);
        const double weight = n == 0 ? 128.0 / 225 : (322 - part * 13 * sqrt(70)) / 900;
        const double z = sensor->thickness * (k / 5 + (1 + node) / 2) / LAYERS;
        sum += weight * exp(-rate * z) * z;
        all += weight * exp(-rate * z);
    }
    return r / foot * sum / all;
}

/* Where a photon came in that is seen here, by putting it in until nothing changes. */
static void undo_parallax(double p[3], const double area[3], const airy_geometry *g)
{
    double normal[3], along[3];
    for (int v = 0; v < 3; v++)
        normal[v] = area[v] / sqrt(dot(area, area));
    const double foot = dot(p, normal);
    for (int v = 0; v < 3; v++)
        along[v] = p[v] - foot * normal[v];
    const double r = sqrt(dot(along, along));
    double at = r;
    for (int k = 0; k < 30; k++)
        at = r - mean_shift(&g->detector.sensor, at, foot);
    for (int v = 0; v < 3 && r > 0; v++)
        p[v] = foot * normal[v] + along[v] * (at / r);
}

static void lab_position(double yxz[3], const airy_geometry *g, struct place at)
{
    const double s1 = sin(g->rot1), s2 = sin(g->rot2), s3 = sin(g->rot3);
    const double k1 = cos(g->rot1), k2 = cos(g->rot2), k3 = cos(g->rot3);
    const double r1[3][3] = {{1, 0, 0}, {0, k1, s1}, {0, -s1, k1}};
    const double r2[3][3] = {{k2, 0, -s2}, {0, 1, 0}, {s2, 0, k2}};
    const double r3[3][3] = {{k3, -s3, 0}, {s3, k3, 0}, {0, 0, 1}};
    double r21[3][3], r[3][3], p[3], area[3];
    multiply(r21, r2, r1);
    multiply(r, r3, r21);
    sensor_point(p, area, g, at);
    if (g->parallax)
        undo_parallax(p, area, g);
    for (int i = 0; i < 3; i++)
        yxz[i] = r[i][0] * p[0] + r[i][1] * p[1] + r[i][2] * p[2];
}

void ref_position(double yxz[3], const airy_geometry *g, double c1, double c2)
{
    lab_position(yxz, g, place_of(c1, c2));
}

static double chi_at(const airy_geometry *g, struct place at)
{
    double t[3];
    lab_position(t, g, at);
    return atan2(t[0], t[1]);
}

double ref_chi(const airy_geometry *g, double c1, double c2)
{
    return chi_at(g, place_of(c1, c2));
}

/* Grazing incidence, by rotations: lab vectors (x, y, z), z along the beam. */
static void turn_sample(double out[3], const double in[3], double incidence, double tilt)
{
    const double y = in[1] * cos(incidence) - in[2] * sin(incidence),
                 z = in[1] * sin(incidence) + in[2] * cos(incidence);
    out[0] = in[0] * cos(tilt) + y * sin(tilt);
    out[1] = y * cos(tilt) - in[0] * sin(tilt);
    out[2] = z;
}

/* x, y after EXIF's orientation 1 to 8. */
static void orient_sample(double *x, double *y, int orientation)
{
    const double a = *x, b = *y;
    const double xs[8] = {a, -a, -a, a, -b, -b, b, b}, ys[8] = {b, b, -b, -b, -a, a, a, -a};
    *x = xs[orientation ? orientation - 1 : 0];
    *y = ys[orientation ? orientation - 1 : 0];
}

static double ref_sample(const airy_geometry *g, airy_unit unit, const double yxz[3])
{
    double x = yxz[1], y = yxz[0], q[3];
    const double z = yxz[2], k = 2 * PI / (g->wavelength * 1e9);
    orient_sample(&x, &y, g->sample_orientation);
    if (unit == AIRY_UNIT_SCATTERING_VERT_RAD)
        return atan2(y, hypot(x, z));
    if (unit == AIRY_UNIT_SCATTERING_HORZ_RAD)
        return atan2(x, z);
    if (unit >= AIRY_UNIT_EXIT_VERT_RAD && unit <= AIRY_UNIT_EXIT_HORZ_DEG) {
        /* The direction turned the other way round: up by the incidence, then by the tilt. */
        const double up = y * cos(g->incidence) + z * sin(g->incidence),
                     along = z * cos(g->incidence) - y * sin(g->incidence);
        const double across = x * cos(g->tilt) - up * sin(g->tilt),
                     top = x * sin(g->tilt) + up * cos(g->tilt);
        const bool vertical = unit == AIRY_UNIT_EXIT_VERT_RAD || unit == AIRY_UNIT_EXIT_VERT_DEG;
        const double angle = vertical ? atan2(top, hypot(along, across)) : atan2(across, along);
        return unit >= AIRY_UNIT_EXIT_VERT_DEG ? angle / PI * 180 : angle;
    }
    const double n = sqrt(x * x + y * y + z * z), lab[3] = {k * x / n, k * y / n, k * (z / n - 1)};
    turn_sample(q, lab, g->incidence, g->tilt);
    const double scale = unit >= AIRY_UNIT_QXGI_A ? 0.1 : 1;
    const double in_plane = hypot(q[0], q[2]) * (q[0] > 0 ? 1 : -1);
    switch (unit) {
    case AIRY_UNIT_CHIGI_RAD:
        return atan2(in_plane, q[1]);
    case AIRY_UNIT_CHIGI_DEG:
        return atan2(in_plane, q[1]) / PI * 180;
    case AIRY_UNIT_QXGI_NM:
    case AIRY_UNIT_QXGI_A:
        return scale * q[0];
    case AIRY_UNIT_QZGI_NM:
    case AIRY_UNIT_QZGI_A:
        return scale * q[2];
    case AIRY_UNIT_QIP_NM:
    case AIRY_UNIT_QIP_A:
        return scale * in_plane;
    default:
        return scale * q[1];
    }
}

static double radial_at(const airy_geometry *g, airy_unit unit, struct place at)
{
    double t[3];
    lab_position(t, g, at);
    const double r = hypot(t[0], t[1]), two_theta = atan2(r, t[2]);
    const double q = 4 * PI / (g->wavelength * 1e9) * sin(two_theta / 2);
    switch (unit) {
    case AIRY_UNIT_Q_NM:
        return q;
    case AIRY_UNIT_Q_A:
        return q / 10;
    case AIRY_UNIT_TTH_DEG:
        return two_theta / PI * 180;
    case AIRY_UNIT_TTH_RAD:
        return two_theta;
    case AIRY_UNIT_R_MM:
        return r * 1000;
    case AIRY_UNIT_R_M:
        return r;
    case AIRY_UNIT_D2_NM:
        return pow(q / (2 * PI), 2);
    case AIRY_UNIT_LOG1Q_NM:
        return log(1 + q);
    case AIRY_UNIT_QX_NM:
        return 4 * PI / (g->wavelength * 1e9) * sin(atan2(t[1], t[2]) / 2);
    case AIRY_UNIT_QY_NM:
        return 4 * PI / (g->wavelength * 1e9) * sin(atan2(t[0], t[2]) / 2);
    case AIRY_UNIT_D_M:
        return g->wavelength / 2 / sin(two_theta / 2);
    case AIRY_UNIT_D_NM:
        return 1e9 * g->wavelength / 2 / sin(two_theta / 2);
    case AIRY_UNIT_D_A:
        return 1e10 * g->wavelength / 2 / sin(two_theta / 2);
    case AIRY_UNIT_D2_A:
        return pow(q / (2 * PI), 2) / 100;
    case AIRY_UNIT_LOG10Q_M:
        return log10(q * 1e9);
    case AIRY_UNIT_LOGQ_NM:
        return log(q);
    case AIRY_UNIT_LOG1Q_A:
        return log(1 + q / 10);
    case AIRY_UNIT_ASINHQ_NM:
        return asinh(q);
    case AIRY_UNIT_ASINHQ_A:
        return asinh(q / 10);
    case AIRY_UNIT_QTOT_NM:
        return q;
    case AIRY_UNIT_QTOT_A:
        return q / 10;
    case AIRY_UNIT_CHI_DEG:
        return chi_at(g, at) / PI * 180;
    case AIRY_UNIT_CHI_RAD:
        return chi_at(g, at);
    default:
        return ref_sample(g, unit, t);
    }
}

double ref_radial(const airy_geometry *g, airy_unit unit, double c1, double c2)
{
    return radial_at(g, unit, place_of(c1, c2));
}

/* Units that are 0 at the beam and nowhere negative. */
static bool is_polar(airy_unit unit)
{
    return unit < AIRY_UNIT_QX_NM || unit == AIRY_UNIT_D2_A || unit == AIRY_UNIT_LOG1Q_A ||
           unit == AIRY_UNIT_ASINHQ_NM || unit == AIRY_UNIT_ASINHQ_A || unit == AIRY_UNIT_QTOT_NM ||
           unit == AIRY_UNIT_QTOT_A;
}

static bool is_positive(airy_unit unit)
{
    return is_polar(unit) || unit == AIRY_UNIT_D_M || unit == AIRY_UNIT_D_NM ||
           unit == AIRY_UNIT_D_A;
}

double ref_solid_angle(const airy_geometry *g, double c1, double c2)
{
    double p[3], area[3];
    sensor_point(p, area, g, place_of(c1, c2));
    return dot(p, area) / pow(dot(p, p), 1.5) /
           (g->detector.pixel1 * g->detector.pixel2 / pow(g->dist, 2));
}

double ref_efficiency(const airy_geometry *g, double c1, double c2)
{
    double p[3], area[3];
    sensor_point(p, area, g, place_of(c1, c2));
    const double cosine = dot(p, area) / sqrt(dot(p, p) * dot(area, area)),
                 x = g->detector.sensor.attenuation * g->detector.sensor.thickness;
    return g->detector.sensor.thickness == 0 ? 1 : (1 - exp(-x / cosine)) / (1 - exp(-x));
}

double ref_polarization(const airy_geometry *g, double factor, double offset_rad, double c1,
                        double c2)
{
    const double tth = ref_radial(g, AIRY_UNIT_TTH_RAD, c1, c2), chi = ref_chi(g, c1, c2);
    return 0.5 * (1 + pow(cos(tth), 2) - factor * cos(2 * (chi + offset_rad)) * pow(sin(tth), 2));
}

/* The angle nearest to `to`. */
static double nearest_turn(double v, double to, double turn)
{
    return v - turn * round((v - to) / turn);
}

/* Of angles about the beam. */
static double turn_of(airy_unit unit)
{
    return unit == AIRY_UNIT_CHI_DEG || unit == AIRY_UNIT_CHIGI_DEG   ? 360
           : unit == AIRY_UNIT_CHI_RAD || unit == AIRY_UNIT_CHIGI_RAD ? 2 * PI
                                                                      : 0;
}

/* The second axis; angles are in rad. */
static airy_unit second_unit(const airy_integrator_params *params)
{
    return params->azimuth_unit == AIRY_UNIT_Q_NM || params->azimuth_unit == AIRY_UNIT_CHI_DEG
               ? AIRY_UNIT_CHI_RAD
           : params->azimuth_unit == AIRY_UNIT_CHIGI_DEG ? AIRY_UNIT_CHIGI_RAD
                                                         : params->azimuth_unit;
}

static bool has_sign_of_qip(airy_unit unit)
{
    return unit == AIRY_UNIT_QIP_NM || unit == AIRY_UNIT_QIP_A || unit == AIRY_UNIT_CHIGI_RAD ||
           unit == AIRY_UNIT_CHIGI_DEG;
}

struct pixel {
    double u[4], chi[4]; /* corners around the pixel, both unwrapped around the centre */
    double center, half; /* of the radius */
    double center_chi, half_chi;
    bool beam; /* the direct beam is inside or at a corner */
    bool at_beam[4];
};

/*
 * True if the beam, the point with x = y = 0, lies between the corners: the turns that chi makes
 * around them add up.
 */
static bool goes_around(const double chi[4])
{
    double sum = 0;
    for (int k = 0; k < 4; k++)
        sum += nearest_turn(chi[(k + 1) % 4] - chi[k], 0, 2 * PI);
    return fabs(sum) > PI;
}

static void make_pixel(struct pixel *p, const airy_geometry *g,
                       const airy_integrator_params *params, size_t i, size_t j)
{
    const struct place at[4] = {{i, j, 0, 0}, {i, j, 1, 0}, {i, j, 1, 1}, {i, j, 0, 1}},
                       center = {i, j, 0.5, 0.5};
    const double period = turn_of(params->unit);
    const bool angular = period > 0;
    const airy_unit second = second_unit(params);
    const double turn = turn_of(second);
    /* Where an axis jumps with the sign of qip, the pixel is on its centre's side. */
    const bool right = radial_at(g, AIRY_UNIT_CHIGI_RAD, center) > 0;
    double raw[4];
    p->center = radial_at(g, params->unit, center);
    if (angular && params->chi_zero && p->center < 0)
        p->center += period;
    p->center_chi = radial_at(g, second, center);
    p->half = p->half_chi = 0;
    const bool polar = is_polar(params->unit) && turn > 0,
               corners = params->split == AIRY_SPLIT_FULL || params->split == AIRY_SPLIT_PSEUDO;
    for (int k = 0; k < 4; k++)
        raw[k] = angular ? radial_at(g, AIRY_UNIT_R_M, at[k]) : radial_at(g, second, at[k]);
    p->beam = polar && goes_around(raw);
    for (int k = 0; k < 4; k++) {
        p->at_beam[k] = polar && radial_at(g, AIRY_UNIT_R_M, at[k]) < 1e-9 * g->detector.pixel1;
        p->beam = p->beam || p->at_beam[k];
    }
    for (int k = 0; k < 4; k++) {
        p->u[k] = radial_at(g, params->unit, at[k]);
        if (has_sign_of_qip(params->unit))
            p->u[k] = right ? fabs(p->u[k]) : -fabs(p->u[k]);
        if (angular)
            p->u[k] = nearest_turn(p->u[k], p->center, period);
        p->half = fmax(p->half, fabs(p->u[k] - p->center));
        if (!angular && has_sign_of_qip(second) && !(corners && p->beam))
            raw[k] = right ? fabs(raw[k]) : -fabs(raw[k]);
        p->chi[k] = turn > 0 && !angular ? nearest_turn(raw[k], p->center_chi, turn) : raw[k];
        p->half_chi = fmax(p->half_chi, fabs(p->chi[k] - p->center_chi));
    }
    for (int k = 0; k < 4 && p->beam; k++)
        p->chi[k] = raw[k];
}

/*
 * Keep what lies on one side of at, of coordinate 0 or 1; polygon of n points to out, which has room
 * for n + 1; returns the number left.
 */
static int clip(double out[][2], double in[][2], int n, int axis, double at, bool above)
{
    const int other = 1 - axis;
    int m = 0;
    for (int k = 0; k < n; k++) {
        const double *a = in[k], *b = in[(k + 1) % n];
        const bool keep_a = above ? a[axis] >= at : a[axis] <= at,
                   keep_b = above ? b[axis] >= at : b[axis] <= at;
        if (keep_a) {
            out[m][0] = a[0];
            out[m++][1] = a[1];
        }
        if (keep_a != keep_b) {
            out[m][axis] = at;
            out[m++][other] = a[other] +
                              (b[other] - a[other]) * (at - a[axis]) / (b[axis] - a[axis]);
        }
    }
    return m;
}

static double polygon_area(double p[][2], int n)
{
    double sum = 0;
    for (int k = 0; k < n; k++)
        sum += p[k][0] * p[(k + 1) % n][1] - p[(k + 1) % n][0] * p[k][1];
    return fabs(sum) / 2;
}

/* Area of a polygon of four corners between u = lo and u = hi. */
static double strip_area(const double u[4], const double v[4], double lo, double hi)
{
    double a[8][2], b[8][2];
    for (int k = 0; k < 4; k++) {
        a[k][0] = u[k];
        a[k][1] = v[k] - v[0]; /* small numbers lose fewer digits */
    }
    const int n = clip(b, a, 4, 0, lo, true);
    const int m = clip(a, b, n, 0, hi, false);
    return polygon_area(a, m);
}

/*
 * The pixel's area between lo and hi; with the beam inside, the area between its edges and radius
 * 0.
 */
static double pixel_area(const struct pixel *p, double lo, double hi)
{
    if (!p->beam)
        return strip_area(p->u, p->chi, lo, hi);
    double sum = 0;
    for (int k = 0; k < 4; k++) {
        const int n = (k + 1) % 4;
        if (p->at_beam[k] || p->at_beam[n])
            continue; /* an edge that points to the beam */
        const double turn = nearest_turn(p->chi[n] - p->chi[k], 0, 2 * PI);
        const double u[4] = {0, p->u[k], p->u[n], 0}, v[4] = {0, 0, turn, turn};
        sum += strip_area(u, v, lo, hi);
    }
    return sum;
}

/* Area of points (u, v) in a cell: u from cell[0] to cell[1], v from cell[2] to cell[3]. */
static double points_in_cell(double p[][2], int n, const double cell[4])
{
    double a[12][2], b[12][2];
    memcpy(a, p, (size_t)n * sizeof *a);
    n = clip(b, a, n, 0, cell[0], true);
    n = clip(a, b, n, 0, cell[1], false);
    n = clip(b, a, n, 1, cell[2], true);
    n = clip(a, b, n, 1, cell[3], false);
    return polygon_area(a, n);
}

/*
 * Where the straight lines through a, b and c, d meet, as parts s and t of the two; false where that
 * is not inside of both.
 */
static bool meet(double out[2], const double a[2], const double b[2], const double c[2],
                 const double d[2])
{
    const double e0 = b[0] - a[0], e1 = b[1] - a[1], f0 = d[0] - c[0], f1 = d[1] - c[1],
                 g0 = c[0] - a[0], g1 = c[1] - a[1], det = e0 * f1 - e1 * f0;
    const double s = (g0 * f1 - g1 * f0) / det, t = (g0 * e1 - g1 * e0) / det;
    out[0] = a[0] + s * e0;
    out[1] = a[1] + s * e1;
    return det != 0 && s > 0 && s < 1 && t > 0 && t < 1;
}

static bool all_beyond(const double x[4], double lo, double hi)
{
    return (x[0] <= lo && x[1] <= lo && x[2] <= lo && x[3] <= lo) ||
           (x[0] >= hi && x[1] >= hi && x[2] >= hi && x[3] >= hi);
}

/* The same of four corners; where two edges cross, of the triangles on either side. */
static double corners_in_cell(const double u[4], const double v[4], const double cell[4])
{
    double p[4][2];
    if (all_beyond(u, cell[0], cell[1]) || all_beyond(v, cell[2], cell[3]))
        return 0; /* as nearly all are: what follows would come to the same */
    for (int k = 0; k < 4; k++) {
        p[k][0] = u[k];
        p[k][1] = v[k];
    }
    for (int k = 0; k < 2; k++) {
        double one[3][2], other[3][2];
        const double *a = p[k], *b = p[k + 1], *c = p[k + 2], *d = p[(k + 3) % 4];
        if (!meet(one[0], a, b, c, d))
            continue;
        memcpy(other[0], one[0], sizeof one[0]);
        memcpy(one[1], b, sizeof one[0]);
        memcpy(one[2], c, sizeof one[0]);
        memcpy(other[1], d, sizeof one[0]);
        memcpy(other[2], a, sizeof one[0]);
        return points_in_cell(one, 3, cell) + points_in_cell(other, 3, cell);
    }
    return points_in_cell(p, 4, cell);
}

static double area_in_cell(const struct pixel *p, const double cell[4])
{
    if (!p->beam)
        return corners_in_cell(p->u, p->chi, cell);
    double sum = 0;
    for (int k = 0; k < 4; k++) {
        const int n = (k + 1) % 4;
        if (p->at_beam[k] || p->at_beam[n])
            continue;
        const double end = nearest_turn(p->chi[n], p->chi[k], 2 * PI);
        const double u[4] = {0, p->u[k], p->u[n], 0}, v[4] = {p->chi[k], p->chi[k], end, end};
        sum += corners_in_cell(u, v, cell);
    }
    return sum;
}

/* Corners of the box that `pseudo` has for a pixel. */
static void pseudo_box(double box[4], const struct pixel *p)
{
    const double *u = p->u, *v = p->chi;
    const double u0 = fmin(fmin(u[0], u[1]), fmin(u[2], u[3])),
                 u1 = fmax(fmax(u[0], u[1]), fmax(u[2], u[3])),
                 v0 = fmin(fmin(v[0], v[1]), fmin(v[2], v[3])),
                 v1 = fmax(fmax(v[0], v[1]), fmax(v[2], v[3]));
    const double middle_u = (u[0] + u[1] + u[2] + u[3]) / 4,
                 middle_v = (v[0] + v[1] + v[2] + v[3]) / 4;
    const double shrink = sqrt(strip_area(u, v, -1e30, 1e30) / ((u1 - u0) * (v1 - v0)));
    box[0] = middle_u - shrink * (u1 - u0) / 2;
    box[1] = middle_u + shrink * (u1 - u0) / 2;
    box[2] = middle_v - shrink * (v1 - v0) / 2;
    box[3] = middle_v + shrink * (v1 - v0) / 2;
}

static double overlap(double lo, double hi, double a, double z)
{
    return fmax(0, fmin(hi, z) - fmax(lo, a)) / (hi - lo);
}

static void reach(const struct pixel *p, const airy_integrator_params *params, double *lo,
                  double *hi)
{
    *lo = *hi = p->center;
    if (params->split == AIRY_SPLIT_BBOX) {
        *lo -= p->half;
        *hi += p->half;
        if (is_positive(params->unit))
            *lo = fmax(*lo, 0);
    }
    if (params->split == AIRY_SPLIT_FULL || params->split == AIRY_SPLIT_PSEUDO) {
        *lo = fmin(fmin(p->u[0], p->u[1]), fmin(p->u[2], p->u[3]));
        *hi = fmax(fmax(p->u[0], p->u[1]), fmax(p->u[2], p->u[3]));
        if (p->beam)
            *lo = 0;
    }
}

static void add_pixel(double *c, const struct pixel *p, const airy_integrator_params *params,
                      const double limits[2])
{
    const double width = (limits[1] - limits[0]) / (double)params->bins;
    double lo, hi;
    reach(p, params, &lo, &hi);
    for (size_t b = 0; b < params->bins; b++) {
        const double left = limits[0] + (double)b * width;
        const double right = b + 1 == params->bins ? limits[1]
                                                   : limits[0] + (double)(b + 1) * width;
        const bool last = b + 1 == params->bins && !params->has_radial_range;
        for (int turn = -1; turn <= 1; turn++) {
            /* chi as the unit: the pixel is also a turn further up and down */
            const double shift = turn_of(params->unit) * turn;
            if (turn != 0 && shift == 0)
                continue;
            const double a = left - shift, z = right - shift;
            if (params->split == AIRY_SPLIT_NO)
                c[b] += p->center >= a && (p->center < z || (last && p->center <= z));
            else if (params->split == AIRY_SPLIT_BBOX)
                c[b] += fmax(0, fmin(hi, z) - fmax(lo, a)) / (hi - lo);
            else
                c[b] += pixel_area(p, a, z) / pixel_area(p, -1e30, 1e30);
        }
    }
}

/* Most cells have none of a pixel. */
static double share_of_area(const struct pixel *p, const double cell[4])
{
    static const double all[4] = {-1e30, 1e30, -1e30, 1e30};
    const double area = area_in_cell(p, cell);
    return area == 0 ? 0 : area / area_in_cell(p, all);
}

/* The box of a pixel that is one. False: it is shared by the area of its corners. */
static bool make_box(double box[4], const struct pixel *p, const airy_integrator_params *params)
{
    box[0] = p->center - p->half;
    box[1] = p->center + p->half;
    box[2] = p->center_chi - p->half_chi;
    box[3] = p->center_chi + p->half_chi;
    if (is_positive(params->unit))
        box[0] = fmax(box[0], 0);
    if (params->split == AIRY_SPLIT_PSEUDO && !p->beam)
        pseudo_box(box, p);
    return params->split == AIRY_SPLIT_BBOX || (params->split == AIRY_SPLIT_PSEUDO && !p->beam);
}

/* box NULL: by area. */
static double share_of_cell(const struct pixel *p, const airy_integrator_params *params,
                            const double *box, const double cell[4], bool last_u, bool last_v)
{
    const int turns = turn_of(second_unit(params)) > 0 ? 3 : 0;
    double sum = 0;
    for (int turn = -turns; turn <= turns; turn++) {
        const double part[4] = {cell[0], cell[1], cell[2] - turn * 2 * PI, cell[3] - turn * 2 * PI};
        if (params->split == AIRY_SPLIT_NO) {
            /* As the limits are made, so that the largest chi is the limit. */
            const double chi = p->center_chi + turn * 2 * PI;
            sum += p->center >= cell[0] &&
                   (p->center < cell[1] || (last_u && p->center <= cell[1])) && chi >= cell[2] &&
                   (chi < cell[3] || (last_v && chi <= cell[3]));
        } else if (box) {
            sum += overlap(box[0], box[1], part[0], part[1]) *
                   overlap(box[2], box[3], part[2], part[3]);
        } else {
            sum += share_of_area(p, part);
        }
    }
    return sum;
}

/* limits: of the radius, then of chi in rad. */
static void add_cells(double *c, const struct pixel *p, const airy_integrator_params *params,
                      const double limits[4])
{
    const size_t n = params->bins, m = params->azimuth_bins;
    double box[4];
    const bool is_box = make_box(box, p, params);
    for (size_t a = 0; a < m; a++)
        for (size_t b = 0; b < n; b++) {
            const double cell[4] = {
                limits[0] + (limits[1] - limits[0]) * (double)b / (double)n,
                b + 1 == n ? limits[1]
                           : limits[0] + (limits[1] - limits[0]) * (double)(b + 1) / (double)n,
                limits[2] + (limits[3] - limits[2]) * (double)a / (double)m,
                a + 1 == m ? limits[3]
                           : limits[2] + (limits[3] - limits[2]) * (double)(a + 1) / (double)m};
            c[a * n + b] = share_of_cell(p, params, is_box ? box : NULL, cell,
                                         b + 1 == n && !params->has_radial_range,
                                         a + 1 == m && !params->has_azimuth_range);
        }
}

static bool in_azimuth(const airy_integrator_params *params, double chi)
{
    if (!params->has_azimuth_range || params->azimuth_bins)
        return true;
    double lo = params->azimuth_range[0] / 180 * PI, hi = params->azimuth_range[1] / 180 * PI;
    while (hi <= lo)
        hi += 2 * PI;
    while (chi < lo)
        chi += 2 * PI;
    while (chi - 2 * PI >= lo)
        chi -= 2 * PI;
    return chi < hi;
}

/* What a pixel reaches along chi, which begins at 0 or at -pi. */
static void reach_chi(const struct pixel *p, const airy_integrator_params *params, double *lo,
                      double *hi)
{
    const bool angle = turn_of(second_unit(params)) > 0;
    const double turn = angle && params->chi_zero && p->center_chi < 0 ? 2 * PI : 0;
    const bool corners = params->split == AIRY_SPLIT_FULL || params->split == AIRY_SPLIT_PSEUDO;
    const double half = params->split == AIRY_SPLIT_BBOX ? p->half_chi : 0;
    *lo = p->center_chi + turn - half;
    *hi = p->center_chi + turn + half;
    for (int k = 0; k < 4 && corners; k++) {
        *lo = fmin(*lo, p->chi[k] + turn);
        *hi = fmax(*hi, p->chi[k] + turn);
    }
    /* With the beam at a corner: between the two edges that end there. */
    for (int k = 0; k < 4 && corners && p->beam; k++) {
        const int n = (k + 1) % 4, l = (k + 2) % 4, m = (k + 3) % 4;
        if (!p->at_beam[k])
            continue;
        const double from = p->chi[n] + (params->chi_zero && p->chi[n] < 0 ? 2 * PI : 0);
        const double far = nearest_turn(p->chi[l], from, 2 * PI),
                     to = nearest_turn(p->chi[m], far, 2 * PI);
        *lo = fmin(from, to);
        *hi = fmax(from, to);
    }
    const double least = params->chi_zero ? 0 : -PI;
    if (angle &&
        ((corners && p->beam && goes_around(p->chi)) || *lo < least || *hi > least + 2 * PI)) {
        *lo = least;
        *hi = least + 2 * PI;
    }
}

static void find_limits(double limits[4], const airy_geometry *g,
                        const airy_integrator_params *params)
{
    const double least = params->chi_zero ? 0 : -PI;
    double found[4] = {INFINITY, -INFINITY, INFINITY, -INFINITY};
    for (size_t i = 0; i < g->detector.height; i++)
        for (size_t j = 0; j < g->detector.width; j++) {
            struct pixel p;
            double lo, hi;
            if (params->mask && params->mask[i * g->detector.width + j])
                continue;
            make_pixel(&p, g, params, i, j);
            reach(&p, params, &lo, &hi);
            found[0] = fmin(found[0], lo);
            found[1] = fmax(found[1], hi);
            reach_chi(&p, params, &lo, &hi);
            found[2] = fmin(found[2], lo);
            found[3] = fmax(found[3], hi);
        }
    const double period = turn_of(params->unit), from = params->chi_zero ? 0 : -period / 2;
    if (period > 0 && (found[0] < from || found[1] > from + period)) {
        found[0] = from;
        found[1] = from + period;
    }
    const bool angle = turn_of(second_unit(params)) > 0;
    limits[0] = params->has_radial_range ? params->radial_range[0] : found[0];
    limits[1] = params->has_radial_range ? params->radial_range[1] : found[1];
    limits[2] = angle ? fmax(found[2], least) : found[2];
    limits[3] = angle ? fmin(found[3], least + 2 * PI) : found[3];
    if (params->has_azimuth_range && !angle) {
        limits[2] = params->azimuth_range[0];
        limits[3] = params->azimuth_range[1];
    } else if (params->has_azimuth_range) {
        limits[2] = params->azimuth_range[0] / 180 * PI;
        limits[3] = params->azimuth_range[1] / 180 * PI;
        while (limits[3] <= limits[2])
            limits[3] += 2 * PI;
    }
}

void ref_matrix(double *c, double limits[4], const airy_geometry *g,
                const airy_integrator_params *params, const uint8_t *valid)
{
    const size_t w = g->detector.width,
                 bins = params->bins * (params->azimuth_bins ? params->azimuth_bins : 1);
    memset(c, 0, g->detector.height * w * bins * sizeof *c);
    find_limits(limits, g, params);
    for (size_t i = 0; i < g->detector.height; i++)
        for (size_t j = 0; j < w; j++) {
            struct pixel p;
            make_pixel(&p, g, params, i, j);
            if (!valid[i * w + j] || !in_azimuth(params, p.center_chi))
                continue;
            if (params->azimuth_bins)
                add_cells(c + (i * w + j) * bins, &p, params, limits);
            else
                add_pixel(c + (i * w + j) * bins, &p, params, limits);
        }
    const bool degrees = params->azimuth_unit == AIRY_UNIT_Q_NM ||
                         turn_of(params->azimuth_unit) == 360;
    for (int k = 2; k < 4 && degrees; k++)
        limits[k] *= 180 / PI;
}

void ref_normalization(double *norm, uint8_t *valid, const airy_geometry *g,
                       const airy_integrator_params *p)
{
    const size_t w = g->detector.width;
    for (size_t i = 0; i < g->detector.height * w; i++) {
        const double y = (double)(i / w) + 0.5, x = (double)(i % w) + 0.5;
        double n = p->normalization != 0 ? p->normalization : 1;
        if (!p->no_solid_angle)
            n *= ref_solid_angle(g, y, x);
        if (p->has_polarization)
            n *= ref_polarization(g, p->polarization, p->polarization_offset_deg / 180 * PI, y, x);
        if (p->sensor_efficiency)
            n *= ref_efficiency(g, y, x);
        if (p->flat)
            n *= (double)p->flat[i];
        if (p->absorption)
            n *= (double)p->absorption[i];
        norm[i] = n;
        valid[i] = !(p->mask && p->mask[i]) && isfinite(n) && n != 0 &&
                   !(p->dark && !isfinite(p->dark[i])) &&
                   !(p->variance && !isfinite(p->variance[i]));
    }
}

void ref_sums(double *sums, double *scale, const double *c, const double *norm,
              const uint8_t *valid, const double *raw, const uint8_t *out, const airy_geometry *g,
              const airy_integrator_params *p)
{
    const size_t bins = p->bins, pixels = g->detector.height * g->detector.width;
    memset(sums, 0, AIRY_SUM_PLANES * bins * sizeof *sums);
    memset(scale, 0, AIRY_SUM_PLANES * bins * sizeof *scale);
    for (size_t b = 0; b < bins; b++) {
        double *s = sums + b, *m = scale + b;
        for (int pass = 0; pass < 2; pass++) {
            const double mean = pass ? s[AIRY_SUM_SIGNAL * bins] / s[AIRY_SUM_NORMALIZATION * bins]
                                     : 0;
            for (size_t i = 0; i < pixels; i++) {
                const double k = c[i * bins + b];
                if (!valid[i] || out[i] || k == 0)
                    continue;
                const double dark = p->dark ? (double)p->dark[i] : 0;
                const double n = p->unweighted ? 1 : norm[i],
                             weight = p->unweighted ? k / norm[i] : k;
                const double x = (raw[i] - dark) * (weight / k) / n;
                if (pass == 1 && p->error_model == AIRY_ERROR_MODEL_AZIMUTHAL) {
                    s[AIRY_SUM_VARIANCE * bins] += pow(k * n * (x - mean), 2);
                    m[AIRY_SUM_VARIANCE * bins] += pow(k * n, 2) * fabs(x - mean) *
                                                   (fabs(x) + fabs(mean));
                }
                if (pass == 1)
                    continue;
                const double v = p->error_model == AIRY_ERROR_MODEL_POISSON ? fmax(1, raw[i])
                                 : p->error_model == AIRY_ERROR_MODEL_VARIANCE
                                     ? (double)p->variance[i]
                                     : 0;
                s[AIRY_SUM_SIGNAL * bins] += weight * (raw[i] - dark);
                m[AIRY_SUM_SIGNAL * bins] += fabs(weight) * (fabs(raw[i]) + fabs(dark));
                s[AIRY_SUM_VARIANCE * bins] += weight * weight * v;
                s[AIRY_SUM_NORMALIZATION * bins] += k * n;
                s[AIRY_SUM_NORMALIZATION2 * bins] += k * k * n * n;
                s[AIRY_SUM_COUNT_PLANE * bins] += k;
            }
        }
        for (int plane = AIRY_SUM_VARIANCE; plane < AIRY_SUM_PLANES; plane++)
            m[(size_t)plane * bins] += fabs(s[(size_t)plane * bins]);
    }
}
