#include "integrate/pose.h"

#include <math.h>
#include <string.h>

#include "base/size.h"
#include "shared/split_math.h"

/* x and y of the sample in x and y of the laboratory: EXIF's orientations 1 to 8. */
static const double sample_axes[8][2][2] = {
    {{1, 0}, {0, 1}},   {{-1, 0}, {0, 1}}, {{-1, 0}, {0, -1}}, {{1, 0}, {0, -1}},
    {{0, -1}, {-1, 0}}, {{0, -1}, {1, 0}}, {{0, 1}, {1, 0}},   {{0, 1}, {-1, 0}}};

/*
 * How far along the sensor a photon is absorbed on average that enters it where a normal of length
 * `foot` ends at a distance r from it, and the derivative by r. With s^2 = r^2 + foot^2, sin(alpha) = r
 * / s, x = mu t s / foot: the mean of depths z with density mu' exp(-mu' z) on [0, t], mu' = mu /
 * cos(alpha), times tan(alpha), which is sin(alpha) / mu (1 - x / (exp(x) - 1)).
 */
static double mean_drift(const struct airy_pose *pose, double r, double foot, double *slope)
{
    const double s = sqrt(r * r + foot * foot), sine = r / s, cube = foot * foot / (s * s * s);
    const double x = pose->attenuation * pose->thickness * s / foot;
    double share = 1, change = 0;
    if (pose->thickness > 0 && x < 1e-4) {
        share = x / 2 - x * x / 12;
        change = 0.5 - x / 6;
    } else if (pose->thickness > 0 && x < 700) {
        const double e = expm1(x);
        share = 1 - x / e;
        change = (x * (e + 1) - e) / (e * e);
    }
    *slope = (cube * share + sine * change * x * r / (s * s)) / pose->attenuation;
    return sine * share / pose->attenuation;
}

/* Where a point that is seen at r from the foot of the normal was entered: Newton's method. */
static double entered_at(const struct airy_pose *pose, double r, double foot)
{
    double at = r, slope;
    for (int k = 0; k < 50; k++) {
        const double excess = at + mean_drift(pose, at, foot, &slope) - r;
        const double next = at - excess / (1 + slope), step = fabs(next - at);
        at = next > 0 ? next : 0;
        if (step <= 1e-15 * r)
            break;
    }
    return at;
}

/* The direct beam is seen this many times further out on a plane than it enters. */
static double seen_outwards(const struct airy_pose *pose, double p1, double p2)
{
    double slope;
    const double r = sqrt(p1 * p1 + p2 * p2);
    return pose->parallax && r > 0 ? 1 + mean_drift(pose, r, pose->dist, &slope) / r : 1;
}

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
        .corners = d->corners,
        .corner = -1,
        .parallax = geometry->parallax,
        .attenuation = d->sensor.attenuation,
        .thickness = d->sensor.thickness,
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
    if (isfinite(p1) && isfinite(p2) && z > 0 && !pose->corners) {
        const double out = seen_outwards(pose, p1, p2);
        const double d1 = (p1 * out + pose->poni1) / pose->pixel1,
                     d2 = (p2 * out + pose->poni2) / pose->pixel2;
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

/* A point of the sensor: along the two axes and the distance, less the PONI. */
struct spot {
    double p[3];
    double area[3]; /* the pixel's area times its normal, which points away from the sample */
};

static void spot_of_corners(struct spot *spot, const struct airy_pose *pose, double c1, double c2)
{
    const size_t i = (size_t)c1, j = (size_t)c2, h = (size_t)pose->height, w = (size_t)pose->width;
    const float *pixel = pose->corners +
                         12 * ((pose->flip1 ? h - 1 - i : i) * w + (pose->flip2 ? w - 1 - j : j));
    static const int order[3] = {1, 2, 0};
    const double offset[3] = {-pose->poni1, -pose->poni2, pose->dist};
    int corner = pose->corner;
    if (corner >= 0 && pose->flip1)
        corner ^= 1;
    if (corner >= 0 && pose->flip2)
        corner = 3 - corner;
    double ac[3], bd[3];
    for (int k = 0; k < 3; k++) {
        const float *v = pixel + order[k];
        const double a = (double)v[0], b = (double)v[3], c = (double)v[6], d = (double)v[9];
        spot->p[k] = (corner < 0 ? 0.25 * (a + b + c + d) : (double)v[3 * corner]) + offset[k];
        ac[k] = c - a;
        bd[k] = d - b;
    }
    double away = 0;
    for (int k = 0; k < 3; k++) {
        const int m = (k + 1) % 3, n = (k + 2) % 3;
        spot->area[k] = 0.5 * (ac[m] * bd[n] - ac[n] * bd[m]);
        away += spot->area[k] * spot->p[k];
    }
    for (int k = 0; k < 3 && away < 0; k++)
        spot->area[k] = -spot->area[k];
}

static void find_spot(struct spot *spot, const struct airy_pose *pose, const struct row *row,
                      double c1, double c2, int32_t k)
{
    if (pose->corners) {
        spot_of_corners(spot, pose, c1, c2 + k);
        return;
    }
    *spot =
        (struct spot){{row->p1, row_p2(row, k), pose->dist}, {0, 0, pose->pixel1 * pose->pixel2}};
}

static double length_of(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static double product_of(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* From where a photon is absorbed on average to where it came in. */
static void undo_parallax(struct spot *spot, const struct airy_pose *pose)
{
    const double area = length_of(spot->area), foot = product_of(spot->p, spot->area) / area;
    double along[3];
    for (int k = 0; k < 3; k++)
        along[k] = spot->p[k] - foot * spot->area[k] / area;
    const double r = length_of(along);
    if (!(foot > 0) || !(r > 0))
        return;
    const double less = 1 - entered_at(pose, r, foot) / r;
    for (int k = 0; k < 3; k++)
        spot->p[k] -= less * along[k];
}

/* Positions in the laboratory. */
enum { PIECE = 256 };
struct points {
    double y[PIECE], x[PIECE], z[PIECE];
};

static void plane_points(struct points *restrict out, const struct row *restrict row, int32_t n)
{
    for (int32_t k = 0; k < n; k++) {
        const double p2 = row_p2(row, k);
        out->y[k] = row->a[0] + p2 * row->b[0];
        out->x[k] = row->a[1] + p2 * row->b[1];
        out->z[k] = row->a[2] + p2 * row->b[2];
    }
}

static void find_points(struct points *out, const struct airy_pose *pose, double c1, double c2,
                        int32_t n)
{
    const struct row row = make_row(pose, c1, c2);
    if (!pose->corners && !pose->parallax) {
        plane_points(out, &row, n);
        return;
    }
    for (int32_t k = 0; k < n; k++) {
        struct spot spot;
        find_spot(&spot, pose, &row, c1, c2, k);
        if (pose->parallax)
            undo_parallax(&spot, pose);
        const double v[3] = {spot.p[0], spot.p[1], spot.p[2] / pose->dist};
        out->y[k] = product_of(pose->m[0], v);
        out->x[k] = product_of(pose->m[1], v);
        out->z[k] = product_of(pose->m[2], v);
    }
}

void airy_pose_points(const struct airy_pose *pose, double c1, double c2, size_t n, double *y,
                      double *x, double *z)
{
    struct points p;
    for (size_t done = 0; done < n; done += PIECE) {
        const size_t m = airy_min_size(PIECE, n - done);
        find_points(&p, pose, c1, c2 + (double)done, (int32_t)m);
        memcpy(y + done, p.y, m * sizeof(*y));
        memcpy(x + done, p.x, m * sizeof(*x));
        memcpy(z + done, p.z, m * sizeof(*z));
    }
}

static void row_q(const struct points *restrict p, double scale, int32_t n, double *restrict out)
{
    for (int32_t k = 0; k < n; k++) {
        const double y = p->y[k], x = p->x[k];
        out[k] = scale * half_angle_sine(x * x + y * y, p->z[k]);
    }
}

/* axis 1: qx, 0: qy */
static void row_q_along(const struct points *restrict p, int axis, double scale, int32_t n,
                        double *restrict out)
{
    for (int32_t k = 0; k < n; k++) {
        const double v = axis ? p->x[k] : p->y[k];
        out[k] = copysign(scale * half_angle_sine(v * v, p->z[k]), v);
    }
}

static void row_r(const struct points *restrict p, double scale, int32_t n, double *restrict out)
{
    for (int32_t k = 0; k < n; k++) {
        const double y = p->y[k], x = p->x[k];
        out[k] = scale * sqrt(x * x + y * y);
    }
}

static void row_two_theta(const struct points *restrict p, double scale, int32_t n,
                          double *restrict out)
{
    for (int32_t k = 0; k < n; k++) {
        const double y = p->y[k], x = p->x[k];
        out[k] = scale * atan2(sqrt(x * x + y * y), p->z[k]);
    }
}

static void row_chi(const struct points *restrict p, double scale, int32_t n, double *restrict out)
{
    for (int32_t k = 0; k < n; k++) {
        const double chi = atan2(p->y[k], p->x[k]);
        out[k] = scale * (chi == -PI ? PI : chi);
    }
}

/* Units that are functions of q. */
static void row_of_q(const struct points *restrict p, double scale, airy_unit unit, int32_t n,
                     double *restrict out)
{
    row_q(p, scale, n, out);
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

/* From the sample's vertical, (-pi, pi]. */
static double polar_angle(const struct airy_pose *pose, double x, double y, double z)
{
    const double angle = atan2(sample_q(pose, x, y, z, AIRY_UNIT_QIP_NM),
                               sample_q(pose, x, y, z, AIRY_UNIT_QOOP_NM));
    return angle == -PI ? PI : angle;
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
    case AIRY_UNIT_CHIGI_RAD:
        return polar_angle(pose, x, y, z);
    default:
        return 0.5 * pose->q_scale * sample_q(pose, x, y, z, unit);
    }
}

/* Units at grazing incidence; those of angstroms and degrees are multiples of others. */
static void row_of_sample(const struct points *restrict p, const struct airy_pose *pose,
                          airy_unit unit, int32_t n, double *restrict out)
{
    double scale = 1;
    if (unit == AIRY_UNIT_EXIT_VERT_DEG || unit == AIRY_UNIT_EXIT_HORZ_DEG) {
        scale = 180 / PI;
        unit = unit == AIRY_UNIT_EXIT_VERT_DEG ? AIRY_UNIT_EXIT_VERT_RAD : AIRY_UNIT_EXIT_HORZ_RAD;
    } else if (unit == AIRY_UNIT_CHIGI_DEG) {
        scale = 180 / PI;
        unit = AIRY_UNIT_CHIGI_RAD;
    } else if (unit >= AIRY_UNIT_QXGI_A && unit <= AIRY_UNIT_QTOT_A) {
        scale = 0.1;
        unit = (airy_unit)(unit - AIRY_UNIT_QXGI_A + AIRY_UNIT_QXGI_NM);
    }
    for (int32_t k = 0; k < n; k++) {
        const double y = p->y[k], x = p->x[k];
        out[k] = scale * sample_value(pose, pose->sample[0][0] * x + pose->sample[0][1] * y,
                                      pose->sample[1][0] * x + pose->sample[1][1] * y, p->z[k],
                                      unit);
    }
}

static void radial_of(const struct points *p, const struct airy_pose *pose, airy_unit unit,
                      int32_t n, double *out)
{
    switch (unit) {
    case AIRY_UNIT_Q_NM:
        row_q(p, pose->q_scale, n, out);
        return;
    case AIRY_UNIT_Q_A:
        row_q(p, 0.1 * pose->q_scale, n, out);
        return;
    case AIRY_UNIT_TTH_DEG:
        row_two_theta(p, 180 / PI, n, out);
        return;
    case AIRY_UNIT_TTH_RAD:
        row_two_theta(p, 1, n, out);
        return;
    case AIRY_UNIT_R_MM:
        row_r(p, 1000, n, out);
        return;
    case AIRY_UNIT_R_M:
        row_r(p, 1, n, out);
        return;
    case AIRY_UNIT_D2_NM:
        row_q(p, pose->q_scale / (2 * PI), n, out);
        for (int32_t k = 0; k < n; k++)
            out[k] *= out[k];
        return;
    case AIRY_UNIT_LOG1Q_NM:
        row_q(p, pose->q_scale, n, out);
        for (int32_t k = 0; k < n; k++)
            out[k] = log1p(out[k]);
        return;
    case AIRY_UNIT_QX_NM:
        row_q_along(p, 1, pose->q_scale, n, out);
        return;
    case AIRY_UNIT_QY_NM:
        row_q_along(p, 0, pose->q_scale, n, out);
        return;
    case AIRY_UNIT_CHI_DEG:
    case AIRY_UNIT_COUNT:
        row_chi(p, 180 / PI, n, out);
        return;
    case AIRY_UNIT_CHI_RAD:
        row_chi(p, 1, n, out);
        return;
    case AIRY_UNIT_QTOT_NM:
        row_q(p, pose->q_scale, n, out);
        return;
    case AIRY_UNIT_QTOT_A:
        row_q(p, 0.1 * pose->q_scale, n, out);
        return;
    default:
        if (unit < AIRY_UNIT_QY_NM)
            row_of_q(p, pose->q_scale, unit, n, out);
        else
            row_of_sample(p, pose, unit, n, out);
        return;
    }
}

void airy_pose_radial(const struct airy_pose *pose, airy_unit unit, double c1, double c2, size_t n,
                      double *out)
{
    struct points p;
    for (size_t done = 0; done < n; done += PIECE) {
        const int32_t m = (int32_t)airy_min_size(PIECE, n - done);
        find_points(&p, pose, c1, c2 + (double)done, m);
        radial_of(&p, pose, unit, m, out + done);
    }
}

void airy_pose_line(const struct airy_pose *pose, airy_unit unit, double c1, size_t n,
                    double *radial, double *y, double *x)
{
    struct points p;
    for (size_t done = 0; done < n; done += PIECE) {
        const size_t m = airy_min_size(PIECE, n - done);
        find_points(&p, pose, c1, (double)done, (int32_t)m);
        radial_of(&p, pose, unit, (int32_t)m, radial + done);
        memcpy(y + done, p.y, m * sizeof(*y));
        memcpy(x + done, p.x, m * sizeof(*x));
    }
}

void airy_pose_chi(const struct airy_pose *pose, double c1, double c2, size_t n, double *out)
{
    struct points p;
    for (size_t done = 0; done < n; done += PIECE) {
        const int32_t m = (int32_t)airy_min_size(PIECE, n - done);
        find_points(&p, pose, c1, c2 + (double)done, m);
        row_chi(&p, 1, m, out + done);
    }
}

/* The cosine of the incidence on a pixel. */
static double spot_cosine(const struct spot *spot)
{
    return product_of(spot->p, spot->area) / (length_of(spot->p) * length_of(spot->area));
}

void airy_pose_solid_angle(const struct airy_pose *pose, double c1, double c2, size_t n,
                           double *restrict out)
{
    const struct row row = make_row(pose, c1, c2);
    const double d2 = pose->dist * pose->dist;
    if (!pose->corners) {
        for (int32_t k = 0; k < (int32_t)n; k++) {
            const double p2 = row_p2(&row, k);
            const double c = pose->dist / sqrt(d2 + row.p1 * row.p1 + p2 * p2);
            out[k] = c * c * c;
        }
        return;
    }
    for (int32_t k = 0; k < (int32_t)n; k++) {
        struct spot spot;
        spot_of_corners(&spot, pose, c1, c2 + k);
        const double c = spot_cosine(&spot), r2 = product_of(spot.p, spot.p);
        out[k] = pose->cosines ? c * c * c
                               : c * length_of(spot.area) / (pose->pixel1 * pose->pixel2) * d2 / r2;
    }
}

void airy_pose_efficiency(const struct airy_pose *pose, double c1, double c2, size_t n, double *out)
{
    const struct row row = make_row(pose, c1, c2);
    const double x = pose->attenuation * pose->thickness;
    for (int32_t k = 0; k < (int32_t)n; k++) {
        struct spot spot;
        find_spot(&spot, pose, &row, c1, c2, k);
        out[k] = x > 0 ? expm1(-x / spot_cosine(&spot)) / expm1(-x) : 1;
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
    const double fc = factor * cos(2 * offset_rad), fs = factor * sin(2 * offset_rad);
    struct points p;
    for (size_t done = 0; done < n; done += PIECE) {
        const int32_t m = (int32_t)airy_min_size(PIECE, n - done);
        find_points(&p, pose, c1, c2 + (double)done, m);
        for (int32_t k = 0; k < m; k++) {
            const double y = p.y[k], x = p.x[k], z = p.z[k];
            const double n2 = x * x + y * y + z * z;
            out[done + (size_t)k] = 0.5 *
                                    (1 + (z * z - (fc * (x * x - y * y) - fs * 2 * x * y)) / n2);
        }
    }
}
