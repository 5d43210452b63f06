/* Least squares: the geometry for which control points lie on their rings. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "integrate/calibrate_parts.h"

enum { COUNT = AIRY_CALIBRATE_COUNT, STEPS = 60, ROUNDS = 12 };

double *airy_calibrate_field(airy_geometry *geometry, airy_calibrate_value value)
{
    switch (value) {
    case AIRY_CALIBRATE_DIST:
        return &geometry->dist;
    case AIRY_CALIBRATE_PONI1:
        return &geometry->poni1;
    case AIRY_CALIBRATE_PONI2:
        return &geometry->poni2;
    case AIRY_CALIBRATE_ROT1:
        return &geometry->rot1;
    case AIRY_CALIBRATE_ROT2:
        return &geometry->rot2;
    default:
        return &geometry->wavelength;
    }
}

double airy_ring_tth(double spacing, double wavelength)
{
    return 2 * asin(wavelength / (2 * spacing)); /* NaN beyond 1 */
}

double airy_pixel_length(const airy_detector *detector)
{
    return sqrt(detector->pixel1 * detector->pixel2);
}

bool airy_normal_factor(double a[AIRY_NORMAL_MOST][AIRY_NORMAL_MOST], int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = a[i][j];
            for (int k = 0; k < j; k++)
                sum -= a[i][k] * a[j][k];
            if (i == j && !(sum > 0))
                return false;
            a[i][j] = i == j ? sqrt(sum) : sum / a[j][j];
        }
    return true;
}

void airy_normal_solve(double a[AIRY_NORMAL_MOST][AIRY_NORMAL_MOST], int n, double *b)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            b[i] -= a[i][k] * b[k];
        b[i] /= a[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            b[i] -= a[k][i] * b[k];
        b[i] /= a[i][i];
    }
}

/* y, x, z of a point and of its derivatives by rot1 and rot2. */
struct frame {
    struct airy_pose pose;
    double turn[2][3][3]; /* derivative of pose.m by rot1, rot2; the last column times dist */
};

static void make_frame(struct frame *f, const airy_geometry *g)
{
    const double c1 = cos(g->rot1), c2 = cos(g->rot2), c3 = cos(g->rot3);
    const double s1 = sin(g->rot1), s2 = sin(g->rot2), s3 = sin(g->rot3), d = g->dist;
    airy_pose_make(&f->pose, g);
    const double rot1[3][3] = {{0, c3 * c1 * s2 + s1 * s3, d * (s1 * c3 * s2 - c1 * s3)},
                               {0, -s1 * c3 + c1 * s2 * s3, d * (s1 * s2 * s3 + c3 * c1)},
                               {0, -c2 * c1, -d * s1 * c2}};
    const double rot2[3][3] = {{-s2 * c3, c3 * s1 * c2, -d * c1 * c3 * c2},
                               {-s2 * s3, s1 * c2 * s3, -d * c1 * c2 * s3},
                               {c2, s2 * s1, -d * c1 * s2}};
    memcpy(f->turn[0], rot1, sizeof(rot1));
    memcpy(f->turn[1], rot2, sizeof(rot2));
}

static void plane_point(const struct airy_pose *pose, const double c[2], double p[3])
{
    p[0] = pose->pixel1 * (pose->flip1 ? pose->height - c[0] : c[0]) - pose->poni1;
    p[1] = pose->pixel2 * (pose->flip2 ? pose->width - c[1] : c[1]) - pose->poni2;
    p[2] = 1;
}

static void turn(const double m[3][3], const double p[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = m[i][0] * p[0] + m[i][1] * p[1] + m[i][2] * p[2];
}

/* d 2theta for a step of (y, x, z) at a place with r = hypot(x, y) > 0. */
static double angle_step(const double at[3], double r, const double step[3])
{
    const double dr = (at[0] * step[0] + at[1] * step[1]) / r;
    return (at[2] * dr - r * step[2]) / (r * r + at[2] * at[2]);
}

void airy_ring_gradient(const struct airy_pose *pose, const double c[2], double *tth,
                        double gradient[2])
{
    double p[3], at[3];
    plane_point(pose, c, p);
    turn(pose->m, p, at);
    const double r = hypot(at[0], at[1]);
    *tth = atan2(r, at[2]);
    for (int k = 0; k < 2; k++) {
        const double step[3] = {pose->m[0][k], pose->m[1][k], pose->m[2][k]};
        gradient[k] = r > 0 ? angle_step(at, r, step) : 0;
    }
}

/* The residual in pixels, and its derivatives by all values. */
static double residual(const struct frame *f, const airy_geometry *g,
                       const struct airy_ring_point *point, double spacing, double row[COUNT])
{
    double p[3], at[3], step[3];
    plane_point(&f->pose, point->c, p);
    turn(f->pose.m, p, at);
    const double r = fmax(hypot(at[0], at[1]), 1e-300);
    const double tth = atan2(r, at[2]);
    for (int k = 0; k < 2; k++) {
        const double back[3] = {-f->pose.m[0][k], -f->pose.m[1][k], -f->pose.m[2][k]};
        row[AIRY_CALIBRATE_PONI1 + k] = angle_step(at, r, back);
        turn(f->turn[k], p, step);
        row[AIRY_CALIBRATE_ROT1 + k] = angle_step(at, r, step);
    }
    const double away[3] = {f->pose.m[0][2] / g->dist, f->pose.m[1][2] / g->dist,
                            f->pose.m[2][2] / g->dist};
    row[AIRY_CALIBRATE_DIST] = angle_step(at, r, away);
    const double s = g->wavelength / (2 * spacing);
    row[AIRY_CALIBRATE_WAVELENGTH] = -1 / (spacing * sqrt(fmax(1 - s * s, 1e-300)));
    for (int k = 0; k < COUNT; k++)
        row[k] *= point->scale;
    return (tth - airy_ring_tth(spacing, g->wavelength)) * point->scale;
}

struct fit {
    struct airy_ring_point *points;
    size_t count;
    const double *spacing;
    int index[COUNT], n; /* the values that are refined */
    double excess;       /* px^2, what scatters more than the points' own sigmas say */
    double huber;        /* pixels, 0: none */
};

/* Weight of a point; by Huber it falls with 1/e beyond the limit. */
static double weigh(const struct fit *f, const struct airy_ring_point *point, double e)
{
    const double w = 1 / (point->sigma * point->sigma + f->excess);
    return f->huber > 0 && fabs(e) > f->huber ? w * f->huber / fabs(e) : w;
}

/* Normal equations; returns the sum of squares, infinity where the geometry is impossible. */
static double add_up(const struct fit *f, const airy_geometry *g,
                     double a[AIRY_NORMAL_MOST][AIRY_NORMAL_MOST], double *b)
{
    struct frame frame;
    make_frame(&frame, g);
    memset(a, 0, sizeof(double[AIRY_NORMAL_MOST][AIRY_NORMAL_MOST]));
    memset(b, 0, sizeof(double[AIRY_NORMAL_MOST]));
    if (!(g->dist > 0) || !(g->wavelength > 0))
        return (double)INFINITY;
    double sum = 0;
    for (size_t i = 0; i < f->count; i++) {
        const struct airy_ring_point *point = &f->points[i];
        if (!point->used)
            continue;
        double row[COUNT];
        const double e = residual(&frame, g, point, f->spacing[point->ring], row);
        const double w = weigh(f, point, e);
        sum += w * e * e;
        for (int r = 0; r < f->n; r++) {
            b[r] -= w * row[f->index[r]] * e;
            for (int c = 0; c <= r; c++)
                a[r][c] += w * row[f->index[r]] * row[f->index[c]];
        }
    }
    return isfinite(sum) ? sum : (double)INFINITY;
}

/* The matrix with ones on its diagonal; what it was, is in size. */
static bool balance(double a[AIRY_NORMAL_MOST][AIRY_NORMAL_MOST], int n, double *size)
{
    for (int i = 0; i < n; i++) {
        size[i] = sqrt(a[i][i]);
        if (!(size[i] > 0) || !isfinite(size[i]))
            return false;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            a[i][j] /= size[i] * size[j];
    return true;
}

/* Levenberg and Marquardt; false: the matrix is singular. */
static bool descend(const struct fit *f, airy_geometry *g)
{
    double a[AIRY_NORMAL_MOST][AIRY_NORMAL_MOST], b[AIRY_NORMAL_MOST], damping = 1e-6;
    double sum = add_up(f, g, a, b);
    for (int step = 0; step < STEPS; step++) {
        double size[AIRY_NORMAL_MOST], scaled[AIRY_NORMAL_MOST][AIRY_NORMAL_MOST], move[COUNT];
        memcpy(scaled, a, sizeof(scaled));
        if (!isfinite(sum) || !balance(scaled, f->n, size))
            return false;
        for (int i = 0; i < f->n; i++) {
            scaled[i][i] += damping;
            move[i] = b[i] / size[i];
        }
        if (!airy_normal_factor(scaled, f->n))
            return false;
        airy_normal_solve(scaled, f->n, move);
        airy_geometry next = *g;
        double length = 0;
        for (int i = 0; i < f->n; i++) {
            length += move[i] * move[i];
            *airy_calibrate_field(&next, (airy_calibrate_value)f->index[i]) += move[i] / size[i];
        }
        double na[AIRY_NORMAL_MOST][AIRY_NORMAL_MOST], nb[AIRY_NORMAL_MOST];
        const double now = add_up(f, &next, na, nb);
        /* `length` is the change of the weighted residuals: 1e-20 of a standard deviation. */
        const bool done = length < 1e-20 || fabs(now - sum) < 1e-13 * sum;
        if (now <= sum) {
            *g = next;
            sum = now;
            memcpy(a, na, sizeof(a));
            memcpy(b, nb, sizeof(b));
            damping = fmax(damping * 0.1, 1e-14);
        } else {
            damping *= 10;
        }
        if (done || damping > 1e12)
            break;
    }
    return true;
}

int airy_by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
    qsort(values, n, sizeof(*values), airy_by_value);
    return n ? values[n / 2] : 0;
}

/* New residuals of all points; the robust standard deviation of those in use. */
static double look(struct fit *f, const airy_geometry *g, double *room)
{
    struct frame frame;
    make_frame(&frame, g);
    size_t n = 0;
    for (size_t i = 0; i < f->count; i++) {
        double row[COUNT];
        struct airy_ring_point *point = &f->points[i];
        point->residual = residual(&frame, g, point, f->spacing[point->ring], row);
        if (point->used)
            room[n++] = fabs(point->residual);
    }
    const double spread = 1.4826 * median(room, n);
    n = 0;
    for (size_t i = 0; i < f->count; i++)
        if (f->points[i].used)
            room[n++] = f->points[i].sigma * f->points[i].sigma;
    f->excess = fmax(spread * spread - median(room, n), 1e-8);
    return spread;
}

/* Leave out what is 4 standard deviations off; whether that changes anything. */
static bool cut(struct fit *f, double spread)
{
    bool changed = false;
    for (size_t i = 0; i < f->count; i++) {
        struct airy_ring_point *point = &f->points[i];
        const double limit = 4 * fmax(spread, sqrt(point->sigma * point->sigma + f->excess));
        const bool use = fabs(point->residual) <= limit;
        changed |= use != point->used;
        point->used = use;
    }
    return changed;
}

static void describe(struct airy_ring_solution *s, const struct fit *f, const airy_geometry *g)
{
    double a[AIRY_NORMAL_MOST][AIRY_NORMAL_MOST], b[AIRY_NORMAL_MOST], size[AIRY_NORMAL_MOST];
    const double sum = add_up(f, g, a, b);
    for (size_t i = 0; i < f->count; i++)
        if (f->points[i].used) {
            s->rms += f->points[i].residual * f->points[i].residual;
            s->used++;
        }
    s->rms = s->used ? sqrt(s->rms / (double)s->used) : (double)NAN;
    s->singular = s->used <= (size_t)f->n || !balance(a, f->n, size) ||
                  !airy_normal_factor(a, f->n);
    if (s->singular)
        return;
    /* A pivot is what a value adds to those before it: 1e-7 is far above rounding of the sums. */
    for (int i = 0; i < f->n; i++)
        s->singular |= a[i][i] < 1e-7;
    const double factor = sum / (double)(s->used - (size_t)f->n);
    for (int j = 0; j < f->n; j++) {
        double column[AIRY_NORMAL_MOST] = {0};
        column[j] = 1;
        airy_normal_solve(a, f->n, column);
        for (int i = 0; i < f->n; i++)
            s->covariance[f->index[i]][f->index[j]] = factor * column[i] / (size[i] * size[j]);
    }
}

airy_status airy_ring_fit(struct airy_ring_solution *solution, airy_geometry *geometry,
                          struct airy_ring_point *points, size_t count, const double *spacing,
                          unsigned refine)
{
    struct fit f = {.points = points, .count = count, .spacing = spacing};
    for (int k = 0; k < COUNT; k++)
        if (refine & 1u << k)
            f.index[f.n++] = k;
    double *room = malloc((count + 1) * sizeof(*room));
    AIRY_FAIL_IF(!room, AIRY_ERR_MEMORY, "out of memory for %zu control points", count);
    *solution = (struct airy_ring_solution){0};
    airy_geometry g = *geometry;
    for (size_t i = 0; i < count; i++)
        points[i].used = true;
    bool sound = true;
    solution->spread = look(&f, &g, room);
    for (int round = 0; round < ROUNDS && sound; round++) {
        f.huber = round < 3 ? 1.5 * fmax(solution->spread, 1e-3) : 0;
        sound = descend(&f, &g);
        solution->spread = look(&f, &g, room);
        if (round >= 2 && !cut(&f, solution->spread) && round > 3)
            break;
    }
    if (sound) {
        describe(solution, &f, &g);
        *geometry = g;
    } else {
        solution->singular = true;
    }
    free(room);
    return AIRY_OK;
}
