#include "integrate/pose.h"

#include <math.h>

#define PI 3.14159265358979323846

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
    };
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

static void row_qx(const struct row *restrict row, double scale, int32_t n, double *restrict out)
{
    for (int32_t k = 0; k < n; k++) {
        const double p2 = row_p2(row, k);
        const double x = row->a[1] + p2 * row->b[1], z = row->a[2] + p2 * row->b[2];
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
        row_qx(&row, pose->q_scale, n, out);
        return;
    case AIRY_UNIT_CHI_DEG:
    case AIRY_UNIT_COUNT:
        row_chi(&row, 180 / PI, n, out);
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
