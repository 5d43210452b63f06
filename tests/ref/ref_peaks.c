#include "ref_peaks.h"

#include <math.h>

/* Values of a bin, or of the line between the nearest that have some. */
static double bridged(const double *values, size_t bins, size_t b)
{
    size_t low = b, high = b;
    while (low > 0 && isnan(values[low]))
        low--;
    while (high + 1 < bins && isnan(values[high]))
        high++;
    if (isnan(values[low]))
        return values[high];
    if (isnan(values[high]) || low == high)
        return values[low];
    return values[low] + (values[high] - values[low]) * (double)(b - low) / (double)(high - low);
}

static double interpolate(const struct ref_peaks *r, const double *values, double radius)
{
    const size_t n = r->bins;
    size_t b = 0;
    if (radius <= r->radial[0])
        return bridged(values, n, 0);
    if (radius >= r->radial[n - 1])
        return bridged(values, n, n - 1);
    while (r->radial[b + 1] < radius)
        b++;
    const double t = (radius - r->radial[b]) / (r->radial[b + 1] - r->radial[b]);
    return (1 - t) * bridged(values, n, b) + t * bridged(values, n, b + 1);
}

static bool has_value(const struct ref_peaks *r, size_t i)
{
    return r->counts[i] && !r->out[i];
}

/* 1, 0, or -1 where the distance from the limit is within the slack. */
static int8_t above(double value, double limit, double slack)
{
    return value > limit + slack ? 1 : value < limit - slack ? 0 : -1;
}

static int8_t is_candidate(const struct ref_peaks *r, size_t i)
{
    const double cutoff = r->params.cutoff_peak;
    if (!has_value(r, i) || isnan(r->v[i]))
        return 0;
    const int8_t positive = above(r->v[i], 0, r->slack[i]);
    return positive == 1
               ? above(r->v[i], cutoff * r->u[i], r->slack[i] + cutoff * r->u[i] * r->error)
               : positive;
}

static int8_t is_peak(const struct ref_peaks *r, size_t i)
{
    const size_t half = r->params.patch / 2, y = i / r->width, x = i % r->width;
    size_t least = 0, most = 0;
    int8_t answer = is_candidate(r, i);
    for (size_t yy = y > half ? y - half : 0; yy <= y + half && yy < r->height; yy++)
        for (size_t xx = x > half ? x - half : 0; xx <= x + half && xx < r->width; xx++) {
            const size_t k = yy * r->width + xx;
            if (!has_value(r, k)) {
                if (r->strict)
                    return 0;
                continue;
            }
            const int8_t candidate = is_candidate(r, k);
            least += candidate == 1;
            most += candidate != 0;
            const int8_t larger = k == i ? 0 : above(r->v[k], r->v[i], r->slack[k] + r->slack[i]);
            if (larger == 1)
                return 0;
            if (larger == -1 && answer == 1)
                answer = -1;
        }
    if (most < r->params.connected)
        return 0;
    return least < r->params.connected && answer == 1 ? -1 : answer;
}

void ref_peaks_find(struct ref_peaks *r)
{
    const size_t pixels = r->height * r->width;
    for (size_t i = 0; i < pixels; i++) {
        const double b = interpolate(r, r->mean, r->radius[i]),
                     s = interpolate(r, r->std, r->radius[i]);
        const double x = (r->raw[i] - (r->dark ? (double)r->dark[i] : 0)) / r->norm[i];
        r->v[i] = x - b;
        r->u[i] = sqrt(s * s + r->params.noise * r->params.noise);
        r->slack[i] = r->error * (fabs(x) + fabs(b));
        const double limit = fmax(r->params.noise, r->params.cutoff_pick * r->u[i]);
        r->kept[i] = 0;
        if (has_value(r, i))
            r->kept[i] = isnan(r->v[i]) ? 0 : above(r->v[i], limit, r->slack[i] + limit * r->error);
        else if (r->counts[i])
            r->kept[i] = !r->strict;
    }
    for (size_t i = 0; i < pixels; i++)
        r->peak[i] = has_value(r, i) ? is_peak(r, i) : 0;
}

struct ref_peak ref_peaks_measure(const struct ref_peaks *r, size_t index)
{
    const size_t half = r->params.patch / 2, y = index / r->width, x = index % r->width;
    double v = 0, vy = 0, vx = 0, u2 = 0;
    struct ref_peak p = {0};
    for (size_t yy = y > half ? y - half : 0; yy <= y + half && yy < r->height; yy++)
        for (size_t xx = x > half ? x - half : 0; xx <= x + half && xx < r->width; xx++) {
            const size_t k = yy * r->width + xx;
            if (!has_value(r, k))
                continue;
            p.doubtful |= fabs(r->v[k]) <= r->slack[k];
            p.least += is_candidate(r, k) == 1;
            p.most += is_candidate(r, k) != 0;
            p.slack += r->slack[k];
            if (!(r->v[k] > 0))
                continue;
            v += r->v[k];
            vy += r->v[k] * (double)yy;
            vx += r->v[k] * (double)xx;
            u2 += r->u[k] * r->u[k];
        }
    p.intensity = v;
    p.y = vy / v;
    p.x = vx / v;
    p.sigma = sqrt(u2);
    return p;
}
