#include "integrate/pose.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

/* x and y of the sample in x and y of the laboratory: EXIF's orientations 1 to 8. */
static const double sample_axes[8][2][2] = {
    {{1, 0}, {0, 1}},   {{-1, 0}, {0, 1}}, {{-1, 0}, {0, -1}}, {{1, 0}, {0, -1}},
    {{0, -1}, {-1, 0}}, {{0, -1}, {1, 0}}, {{0, 1}, {1, 0}},   {{0, 1}, {-1, 0}}};

void airy_pose_make(struct airy_pose *pose, const airy_geometry *geometry)
{
    const double c1 = cos(geometry->rot1), c2 = cos(geometry->rot2), c3 = cos(geometry->rot3);
    const double s1 = sin(geometry->rot1), s2 = sin(geometry->rot2), s3 = sin(geometry->rot3);
    const airy_detector *d = &geometry->detector;
    const double dist = geometry->dist;
    *pose = (struct airy_pose){
        .m = {{c2 * c3, c3 * s1 * s2 - c1 * s3, -dist * (c1 * c3 * s2 + s1 * s3)},
              {c2 * s3, c1 * c3 + s1 * s2 * s3, -dist * (c1 * s2 * s3 - c3 * s1)},
              {s2, -c2 * s1, dist * c1 * c2}},
        .pixel1 = d->pixel1,
        .pixel2 = d->pixel2,
        .poni1 = geometry->poni1,
        .poni2 = geometry->poni2,
        .dist = dist,
        .height = (double)d->height,
        .width = (double)d->width,
        .flip1 = d->orientation == 1 || d->orientation == 2,
        .flip2 = d->orientation == 1 || d->orientation == 4,
        .q_scale = geometry->wavelength > 0 ? 4e-9 * PI / geometry->wavelength : NAN,
        .beam1 = NAN,
        .beam2 = NAN,
        .cos_incidence = cos(geometry->incidence),
        .sin_incidence = sin(geometry->incidence),
        .cos_tilt = cos(geometry->tilt),
        .sin_tilt = sin(geometry->tilt),
    };
    memcpy(pose->sample,
           sample_axes[geometry->sample_orientation ? geometry->sample_orientation - 1 : 0],
           sizeof(pose->sample));
    /* x = y = 0 is solved by p1, p2; z > 0 there says that the beam does not hit from behind. */
    const double det = pose->m[0][0] * pose->m[1][1] - pose->m[0][1] * pose->m[1][0];
    const double p1 = (pose->m[0][1] * pose->m[1][2] - pose->m[1][1] * pose->m[0][2]) / det;
    const double p2 = (pose->m[1][0] * pose->m[0][2] - pose->m[0][0] * pose->m[1][2]) / det;
    const double z = pose->m[2][0] * p1 + pose->m[2][1] * p2 + pose->m[2][2];
    if (isfinite(p1) && isfinite(p2) && z > 0) {
        const double d1 = (p1 + pose->poni1) / pose->pixel1, d2 = (p2 + pose->poni2) / pose->pixel2;
        pose->beam1 = pose->flip1 ? pose->height - d1 : d1;
        pose->beam2 = pose->flip2 ? pose->width - d2 : d2;
    }
}

/* What is constant along a row: positions are a + p2 b for y, x, z. */
struct row {
    double a[3], b[3], p1, start, step, poni2, pixel2;
    bool single;
};

static struct row make_row(const struct airy_pose *pose, double c1, double c2)
{
    const double d1 = pose->flip1 ? pose->height - c1 : c1;
    struct row row = {.poni2 = pose->poni2, .pixel2 = pose->pixel2, .single = pose->single};
    row.p1 = (pose->single ? (double)((float)pose->pixel1 * (float)d1) : pose->pixel1 * d1) -
             pose->poni1;
    for (int k = 0; k < 3; k++) {
        row.a[k] = pose->m[k][0] * row.p1 + pose->m[k][2];
        row.b[k] = pose->m[k][1];
    }
    row.start = pose->flip2 ? pose->width - c2 : c2;
    row.step = pose->flip2 ? -1.0 : 1.0;
    return row;
}

/* k as int32_t: the conversion to double has a vector form. */
static inline double row_p2(const struct row *row, int32_t k)
{
    const double d2 = row->start + row->step * k;
    return (row->single ? (double)((float)row->pixel2 * (float)d2) : row->pixel2 * d2) - row->poni2;
}

/*
 * sin(theta) for an angle 2 theta with opposite leg r >= 0 and adjacent leg z, without
 * trigonometry and without cancellation: with n = hypot(r, z), sin^2(theta) = (n - z) / 2n = r^2 /
 * (2 n (n + z)).
 */
static inline double half_angle_sine(double r2, double z)
{
    const double n = sqrt(r2 + z * z);
    const double ahead = r2 / (2 * n * (n + fabs(z)));
    const double s2 = z >= 0 ? ahead : 1 - ahead;
    return sqrt(n > 0 ? s2 : 0);
}

static void row_q(const struct row *restrict row, double scale, int32_t n, double *restrict out)
{
    for (int32_t k = 0; k < n; k++) {
        const double p2 = row_p2(row, k);
        const double y = row->a[0] + p2 * row->b[0], x = row->a[1] + p2 * row->b[1],
                     z = row->a[2] + p2 * row->b[2];
        out[k] = scale * half_angle_sine(x * x + y * y, z);
    }
}

/* axis 1: qx, 0: qy */
static void row_q_along(const struct row *restrict row, int axis, double scale, int32_t n,
                        double *restrict out)
{
    for (int32_t k = 0; k < n; k++) {
        const double p2 = row_p2(row, k);
        const double x = row->a[axis] + p2 * row->b[axis], z = row->a[2] + p2 * row->b[2];
        out[k] = copysign(scale * half_angle_sine(x * x, z), x);
    }
}

static void row_r(const struct row *restrict row, double scale, int32_t n, double *restrict out)
{
    for (int32_t k = 0; k < n; k++) {
        const double p2 = row_p2(row, k);
        const double y = row->a[0] + p2 * row->b[0], x = row->a[1] + p2 * row->b[1];
        out[k] = scale * sqrt(x * x + y * y);
    }
}

static void row_two_theta(const struct row *restrict row, double scale, int32_t n,
                          double *restrict out)
{
    for (int32_t k = 0; k < n; k++) {
        const double p2 = row_p2(row, k);
        const double y = row->a[0] + p2 * row->b[0], x = row->a[1] + p2 * row->b[1],
                     z = row->a[2] + p2 * row->b[2];
        out[k] = scale * atan2(sqrt(x * x + y * y), z);
    }
}

static void row_chi(const struct row *restrict row, double scale, int32_t n, double *restrict out)
{
    for (int32_t k = 0; k < n; k++) {
        const double p2 = row_p2(row, k);
        const double y = row->a[0] + p2 * row->b[0], x = row->a[1] + p2 * row->b[1];
        const double chi = atan2(y, x);
        out[k] = scale * (chi == -PI ? PI : chi);
    }
}

/* Units that are functions of q. */
static void row_of_q(const struct row *restrict row, double scale, airy_unit unit, int32_t n,
                     double *restrict out)
{
    row_q(row, scale, n, out);
    for (int32_t k = 0; k < n; k++) {
        const double q = out[k];
        out[k] = unit == AIRY_UNIT_D_M         ? 2e-9 * PI / q
                 : unit == AIRY_UNIT_D_NM      ? 2 * PI / q
                 : unit == AIRY_UNIT_D_A       ? 20 * PI / q
                 : unit == AIRY_UNIT_D2_A      ? 0.01 * (q / (2 * PI)) * (q / (2 * PI))
                 : unit == AIRY_UNIT_LOG10Q_M  ? log10(1e9 * q)
                 : unit == AIRY_UNIT_LOGQ_NM   ? log(q)
                 : unit == AIRY_UNIT_LOG1Q_A   ? log1p(0.1 * q)
                 : unit == AIRY_UNIT_ASINHQ_NM ? asinh(q)
                                               : asinh(0.1 * q);
    }
}

/* Angles of a direction x, y, z against the sample's horizon, and across. */
static double exit_angle(const struct airy_pose *p, double x, double y, double z, bool vertical)
{
    const double up = y * p->cos_incidence + z * p->sin_incidence,
                 along = z * p->cos_incidence - y * p->sin_incidence;
    const double across = x * p->cos_tilt - up * p->sin_tilt,
                 tilted = x * p->sin_tilt + up * p->cos_tilt;
    return vertical ? atan2(tilted, sqrt(along * along + across * across)) : atan2(across, along);
}

/*
 * Components of q over 2 pi / wavelength. That along the beam, z / n - 1, is written without
 * cancellation.
 */
static double sample_q(const struct airy_pose *p, double x, double y, double z, airy_unit unit)
{
    const double r2 = x * x + y * y, n = sqrt(r2 + z * z);
    const double h = x / n, v = y / n, b = z > 0 ? -r2 / (n * (n + z)) : z / n - 1;
    const double turned = p->cos_incidence * v - p->sin_incidence * b;
    const double across = p->cos_tilt * h + p->sin_tilt * turned,
                 up = p->cos_tilt * turned - p->sin_tilt * h,
                 along = p->cos_incidence * b + p->sin_incidence * v;
    switch (unit) {
    case AIRY_UNIT_QXGI_NM:
        return across;
    case AIRY_UNIT_QZGI_NM:
        return along;
    case AIRY_UNIT_QIP_NM:
        return (across > 0 ? 1 : -1) * sqrt(along * along + across * across);
    default:
        return up;
    }
}

static double sample_value(const struct airy_pose *pose, double x, double y, double z,
                           airy_unit unit)
{
    switch (unit) {
    case AIRY_UNIT_SCATTERING_VERT_RAD:
        return atan2(y, sqrt(z * z + x * x));
    case AIRY_UNIT_SCATTERING_HORZ_RAD:
        return atan2(x, z);
    case AIRY_UNIT_EXIT_VERT_RAD:
    case AIRY_UNIT_EXIT_HORZ_RAD:
        return exit_angle(pose, x, y, z, unit == AIRY_UNIT_EXIT_VERT_RAD);
    default:
        return 0.5 * pose->q_scale * sample_q(pose, x, y, z, unit);
    }
}

/* Units at grazing incidence; those of angstroms and degrees are multiples of others. */
static void row_of_sample(const struct row *restrict row, const struct airy_pose *pose,
                          airy_unit unit, int32_t n, double *restrict out)
{
    double scale = 1;
    if (unit == AIRY_UNIT_EXIT_VERT_DEG || unit == AIRY_UNIT_EXIT_HORZ_DEG) {
        scale = 180 / PI;
        unit = unit == AIRY_UNIT_EXIT_VERT_DEG ? AIRY_UNIT_EXIT_VERT_RAD : AIRY_UNIT_EXIT_HORZ_RAD;
    } else if (unit >= AIRY_UNIT_QXGI_A) {
        scale = 0.1;
        unit = (airy_unit)(unit - AIRY_UNIT_QXGI_A + AIRY_UNIT_QXGI_NM);
    }
    for (int32_t k = 0; k < n; k++) {
        const double p2 = row_p2(row, k);
        const double y = row->a[0] + p2 * row->b[0], x = row->a[1] + p2 * row->b[1],
                     z = row->a[2] + p2 * row->b[2];
        out[k] = scale * sample_value(pose, pose->sample[0][0] * x + pose->sample[0][1] * y,
                                      pose->sample[1][0] * x + pose->sample[1][1] * y, z, unit);
    }
}

void airy_pose_radial(const struct airy_pose *pose, airy_unit unit, double c1, double c2,
                      size_t count, double *out)
{
    const struct row row = make_row(pose, c1, c2);
    const int32_t n = (int32_t)count;
    switch (unit) {
    case AIRY_UNIT_Q_NM:
        row_q(&row, pose->q_scale, n, out);
        return;
    case AIRY_UNIT_Q_A:
        row_q(&row, 0.1 * pose->q_scale, n, out);
        return;
    case AIRY_UNIT_TTH_DEG:
        row_two_theta(&row, 180 / PI, n, out);
        return;
    case AIRY_UNIT_TTH_RAD:
        row_two_theta(&row, 1, n, out);
        return;
    case AIRY_UNIT_R_MM:
        row_r(&row, 1000, n, out);
        return;
    case AIRY_UNIT_R_M:
        row_r(&row, 1, n, out);
        return;
    case AIRY_UNIT_D2_NM:
        row_q(&row, pose->q_scale / (2 * PI), n, out);
        for (int32_t k = 0; k < n; k++)
            out[k] *= out[k];
        return;
    case AIRY_UNIT_LOG1Q_NM:
        row_q(&row, pose->q_scale, n, out);
        for (int32_t k = 0; k < n; k++)
            out[k] = log1p(out[k]);
        return;
    case AIRY_UNIT_QX_NM:
        row_q_along(&row, 1, pose->q_scale, n, out);
        return;
    case AIRY_UNIT_QY_NM:
        row_q_along(&row, 0, pose->q_scale, n, out);
        return;
    case AIRY_UNIT_CHI_DEG:
    case AIRY_UNIT_COUNT:
        row_chi(&row, 180 / PI, n, out);
        return;
    case AIRY_UNIT_QTOT_NM:
        row_q(&row, pose->q_scale, n, out);
        return;
    case AIRY_UNIT_QTOT_A:
        row_q(&row, 0.1 * pose->q_scale, n, out);
        return;
    default:
        if (unit < AIRY_UNIT_QY_NM)
            row_of_q(&row, pose->q_scale, unit, n, out);
        else
            row_of_sample(&row, pose, unit, n, out);
        return;
    }
}

void airy_pose_chi(const struct airy_pose *pose, double c1, double c2, size_t n, double *out)
{
    const struct row row = make_row(pose, c1, c2);
    row_chi(&row, 1, (int32_t)n, out);
}

void airy_pose_solid_angle(const struct airy_pose *pose, double c1, double c2, size_t n,
                           double *restrict out)
{
    const struct row row = make_row(pose, c1, c2);
    const double d2 = pose->dist * pose->dist;
    for (int32_t k = 0; k < (int32_t)n; k++) {
        const double p2 = row_p2(&row, k);
        const double c = pose->dist / sqrt(d2 + row.p1 * row.p1 + p2 * p2);
        out[k] = c * c * c;
    }
}

/*
 * With n^2 = r^2 + z^2: cos^2(2theta) = z^2 / n^2, sin^2(2theta) = r^2 / n^2, cos(2chi) = (x^2 -
 * y^2) / r^2, sin(2chi) = 2xy / r^2, so that cos(2 (chi + offset)) sin^2(2theta) = (cos(2 offset)
 * (x^2 - y^2) - sin(2 offset) 2xy) / n^2.
 */
void airy_pose_polarization(const struct airy_pose *pose, double factor, double offset_rad,
                            double c1, double c2, size_t n, double *restrict out)
{
    const struct row row = make_row(pose, c1, c2);
    const double fc = factor * cos(2 * offset_rad), fs = factor * sin(2 * offset_rad);
    for (int32_t k = 0; k < (int32_t)n; k++) {
        const double p2 = row_p2(&row, k);
        const double y = row.a[0] + p2 * row.b[0], x = row.a[1] + p2 * row.b[1],
                     z = row.a[2] + p2 * row.b[2];
        const double n2 = x * x + y * y + z * z;
        out[k] = 0.5 * (1 + (z * z - (fc * (x * x - y * y) - fs * 2 * x * y)) / n2);
    }
}
