#include <math.h>

#include "sources/sources_parts.h"

struct point {
    double x, y;
};

static double cross(struct point p, struct point q)
{
    return p.x * q.y - p.y * q.x;
}

/* Of the unit circle, between the directions of p and q. */
static double sector(struct point p, struct point q)
{
    return 0.5 * atan2(cross(p, q), p.x * q.x + p.y * q.y);
}

/* Signed area of the triangle 0, p, q in the unit circle. */
static double edge_area(struct point p, struct point q)
{
    const double dx = q.x - p.x, dy = q.y - p.y, a = dx * dx + dy * dy, b = p.x * dx + p.y * dy,
                 inside_p = p.x * p.x + p.y * p.y, inside_q = q.x * q.x + q.y * q.y;
    if (inside_p <= 1 && inside_q <= 1)
        return 0.5 * cross(p, q);
    const double d = b * b - a * (inside_p - 1);
    if (!(d > 0))
        return sector(p, q);
    const double root = sqrt(d), in = (-b - root) / a, out = (-b + root) / a;
    if (in >= 1 || out <= 0)
        return sector(p, q);
    const struct point enter = {p.x + in * dx, p.y + in * dy},
                       leave = {p.x + out * dx, p.y + out * dy};
    const struct point from = in > 0 ? enter : p, to = out < 1 ? leave : q;
    return (in > 0 ? sector(p, enter) : 0) + 0.5 * cross(from, to) +
           (out < 1 ? sector(leave, q) : 0);
}

double airy_pixel_overlap(double dx, double dy, const double m[4])
{
    static const double corner[4][2] = {{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}};
    struct point p[4];
    for (int i = 0; i < 4; i++) {
        const double x = dx + corner[i][0], y = dy + corner[i][1];
        p[i] = (struct point){m[0] * x + m[1] * y, m[2] * x + m[3] * y};
    }
    double area = 0;
    for (int i = 0; i < 4; i++)
        area += edge_area(p[i], p[(i + 1) % 4]);
    return fmin(fmax(area / (m[0] * m[3] - m[1] * m[2]), 0.0), 1.0);
}
