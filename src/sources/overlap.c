#include <math.h>

#include "sources/sources_parts.h"

struct point {
    double x, y;
};

static double cross(struct point p, struct point q)
{
    return p.x * q.y - p.y * q.x;
}

/* From the direction of p to that of q, in (-pi, pi]. */
static double angle(struct point p, struct point q)
{
    return atan2(cross(p, q), p.x * q.x + p.y * q.y);
}

/* Signed area of the triangle 0, p, q in the unit circle. */
static double edge_area(struct point p, struct point q)
{
    const double dx = q.x - p.x, dy = q.y - p.y, a = dx * dx + dy * dy, b = p.x * dx + p.y * dy,
                 d = b * b - a * (p.x * p.x + p.y * p.y - 1);
    if (!(d > 0))
        return 0.5 * angle(p, q);
    const double root = sqrt(d), in = (-b - root) / a, out = (-b + root) / a;
    if (in >= 1 || out <= 0)
        return 0.5 * angle(p, q);
    const struct point enter = {p.x + in * dx, p.y + in * dy},
                       leave = {p.x + out * dx, p.y + out * dy};
    const struct point from = in > 0 ? enter : p, to = out < 1 ? leave : q;
    return (in > 0 ? 0.5 * angle(p, enter) : 0) + 0.5 * cross(from, to) +
           (out < 1 ? 0.5 * angle(leave, q) : 0);
}

static double sum_edges(const struct point p[4])
{
    double area = 0;
    for (int i = 0; i < 4; i++)
        area += edge_area(p[i], p[(i + 1) % 4]);
    return area;
}

/*
 * Where the outline goes in and out of the circle once, its piece inside and the arc that closes it
 * make the area: one angle for all four edges. False: it does not, or the arc is not clear.
 */
static bool sum_outline(double *area, const struct point p[4])
{
    struct point enter = {0, 0}, leave = {0, 0};
    int enters = 0, leaves = 0;
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        const struct point q = p[(i + 1) % 4], s = p[i];
        const double dx = q.x - s.x, dy = q.y - s.y, a = dx * dx + dy * dy, b = s.x * dx + s.y * dy,
                     c = s.x * s.x + s.y * s.y - 1, d = b * b - a * c;
        if (!(d > 0))
            continue;
        const double root = sqrt(d);
        if (-b - root >= a || -b + root <= 0)
            continue;
        struct point from = s, to = q;
        if (-b - root > 0) {
            enter = from = (struct point){s.x + (-b - root) / a * dx, s.y + (-b - root) / a * dy};
            enters++;
        }
        if (-b + root < a) {
            leave = to = (struct point){s.x + (-b + root) / a * dx, s.y + (-b + root) / a * dy};
            leaves++;
        }
        sum += cross(from, to);
    }
    if (enters != 1 || leaves != 1)
        return false;
    const double arc = angle(leave, enter);
    *area = 0.5 * (sum + arc);
    return arc > 0;
}

double airy_pixel_overlap(double dx, double dy, const double m[4])
{
    static const double corner[4][2] = {{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}};
    struct point p[4];
    bool inside = true;
    for (int i = 0; i < 4; i++) {
        const double x = dx + corner[i][0], y = dy + corner[i][1];
        p[i] = (struct point){m[0] * x + m[1] * y, m[2] * x + m[3] * y};
        inside = inside && p[i].x * p[i].x + p[i].y * p[i].y <= 1;
    }
    if (inside)
        return 1;
    double area = 0;
    if (!sum_outline(&area, p))
        area = sum_edges(p);
    return fmin(fmax(area / (m[0] * m[3] - m[1] * m[2]), 0.0), 1.0);
}
