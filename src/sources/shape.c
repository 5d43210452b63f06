#include <math.h>
#include <string.h>

#include "base/size.h"
#include "sources/sources_parts.h"

static const double pi = 3.14159265358979323846;

/* Moments below this determinant, px^4, are of a line of pixels: (1/12)^2. */
static const double singular = 0.00694;

struct sums {
    double g, gx, gy, gxx, gyy, gxy, f; /* places from the corner of the box */
    size_t above, above_half;           /* f above the threshold, and above half way to the peak */
};

static void find_extent(struct airy_source_object *o, const struct airy_source_planes *planes,
                        const struct airy_source_pixels *pixels)
{
    airy_source *s = &o->s;
    s->xmin = s->ymin = SIZE_MAX;
    s->xmax = s->ymax = 0;
    s->peak = s->filtered_peak = -(double)INFINITY;
    for (size_t i = 0; i < pixels->count; i++) {
        const struct airy_place p = pixels->place[pixels->index[i]];
        const size_t at = p.y * planes->width + p.x;
        s->xmin = airy_min_size(s->xmin, p.x);
        s->xmax = airy_max_size(s->xmax, p.x);
        s->ymin = airy_min_size(s->ymin, p.y);
        s->ymax = airy_max_size(s->ymax, p.y);
        s->filtered_peak = fmax(s->filtered_peak, (double)planes->filtered[at]);
        if (!((double)planes->value[at] > s->peak))
            continue;
        s->peak = (double)planes->value[at];
        s->xpeak = p.x;
        s->ypeak = p.y;
    }
    const struct airy_place first = pixels->place[pixels->index[0]];
    o->first_x = first.x;
    o->first_y = first.y;
    s->npix = pixels->count;
}

static struct sums add_up(const airy_source *s, const struct airy_source_planes *planes,
                          const struct airy_source_pixels *pixels, double threshold)
{
    const double half = 0.5 * (threshold + s->peak);
    struct sums t = {.g = 0};
    for (size_t i = 0; i < pixels->count; i++) {
        const struct airy_place p = pixels->place[pixels->index[i]];
        const size_t at = p.y * planes->width + p.x;
        const double x = (double)(p.x - s->xmin), y = (double)(p.y - s->ymin),
                     g = (double)planes->filtered[at], f = (double)planes->value[at];
        t.f += f;
        t.g += g;
        t.gx += g * x;
        t.gy += g * y;
        t.gxx += g * x * x;
        t.gyy += g * y * y;
        t.gxy += g * x * y;
        t.above += f > threshold;
        t.above_half += f > half;
    }
    return t;
}

/* Center and moments; where the weights' sum is not positive, of pixels of equal weight. */
static void find_moments(airy_source *s, struct sums *t, const struct airy_source_pixels *pixels,
                         bool keep_center)
{
    struct sums m = *t;
    if (!(m.g > 0)) {
        m.g = m.gx = m.gy = m.gxx = m.gyy = m.gxy = 0;
        for (size_t i = 0; i < pixels->count; i++) {
            const struct airy_place p = pixels->place[pixels->index[i]];
            const double x = (double)(p.x - s->xmin), y = (double)(p.y - s->ymin);
            m.g += 1;
            m.gx += x;
            m.gy += y;
            m.gxx += x * x;
            m.gyy += y * y;
            m.gxy += x * y;
        }
    }
    const double mx = m.gx / m.g, my = m.gy / m.g, x = keep_center ? s->x - (double)s->xmin : mx,
                 y = keep_center ? s->y - (double)s->ymin : my;
    s->xx = m.gxx / m.g - mx * mx + (x - mx) * (x - mx);
    s->yy = m.gyy / m.g - my * my + (y - my) * (y - my);
    s->xy = m.gxy / m.g - mx * my + (x - mx) * (y - my);
    s->x = x + (double)s->xmin;
    s->y = y + (double)s->ymin;
}

/* Variances of x and y. Returns the sum of the pixels' variances, without gain. */
static double find_errors(airy_source *s, double *with_gain,
                          const struct airy_source_planes *planes,
                          const struct airy_source_pixels *pixels, double gain)
{
    double plain = 0, all = 0, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < pixels->count; i++) {
        const struct airy_place p = pixels->place[pixels->index[i]];
        const size_t at = p.y * planes->width + p.x;
        const double x = (double)p.x - s->x, y = (double)p.y - s->y,
                     g = (double)planes->filtered[at];
        double v = airy_source_variance(planes, at);
        plain += v;
        v += gain > 0 && g > 0 ? g / gain : 0;
        all += v;
        xx += v * x * x;
        yy += v * y * y;
        xy += v * x * y;
    }
    const double g2 = s->filtered_flux * s->filtered_flux;
    s->err_xx = xx / g2;
    s->err_yy = yy / g2;
    s->err_xy = xy / g2;
    *with_gain = all / g2;
    return plain;
}

static void make_ellipse(airy_source *s, double variance)
{
    if (!(s->xx * s->yy - s->xy * s->xy >= singular)) {
        s->flags |= AIRY_SOURCE_SINGULAR;
        s->xx += 1.0 / 12;
        s->yy += 1.0 / 12;
        const double v = variance / 12;
        if (s->err_xx * s->err_yy - s->err_xy * s->err_xy < v * v) {
            s->err_xx += v;
            s->err_yy += v;
        }
        /* Weights of both signs can leave no ellipse at all. */
        if (!(s->xx > 0 && s->yy > 0 && s->xx * s->yy - s->xy * s->xy > 0.5 * singular)) {
            s->xx = s->yy = 1.0 / 12;
            s->xy = 0;
        }
    }
    const double middle = 0.5 * (s->xx + s->yy), half = 0.5 * (s->xx - s->yy),
                 reach = hypot(half, s->xy), det = s->xx * s->yy - s->xy * s->xy;
    s->a = sqrt(middle + reach);
    s->b = sqrt(det) / s->a; /* middle - reach would lose digits */
    s->theta = 0.5 * atan2(2 * s->xy, s->xx - s->yy);
    if (s->theta <= -0.5 * pi)
        s->theta = 0.5 * pi;
    s->cxx = s->yy / det;
    s->cyy = s->xx / det;
    s->cxy = -2 * s->xy / det;
}

/*
 * How much wider than the moments a Gaussian is that has as many pixels above the threshold as
 * above half way to the peak; at most 1. The moments are of a profile cut at the threshold.
 */
static double find_widening(const airy_source *s, const struct sums *t, double threshold)
{
    const double ratio = threshold / (0.5 * (threshold + s->peak));
    if (!(ratio > 0))
        return 1;
    const double area = t->above > t->above_half ? (double)(t->above - t->above_half) : 1;
    return fmin(area / (-2 * pi * log(ratio < 1 ? ratio : 0.99) * s->a * s->b), 1.0);
}

void airy_source_shape(struct airy_source_object *o, const struct airy_source_planes *planes,
                       const struct airy_source_pixels *pixels, double threshold, double gain,
                       bool keep_center)
{
    airy_source *s = &o->s;
    find_extent(o, planes, pixels);
    struct sums t = add_up(s, planes, pixels, threshold);
    s->threshold = threshold;
    s->flux = t.f;
    s->filtered_flux = t.g;
    s->flags &= AIRY_SOURCE_MERGED;
    if (s->xmin == 0 || s->ymin == 0 || s->xmax + 1 == planes->width ||
        s->ymax + 1 == planes->height)
        s->flags |= AIRY_SOURCE_EDGE;
    find_moments(s, &t, pixels, keep_center);
    double scaled;
    const double variance = find_errors(s, &scaled, planes, pixels, gain) +
                            (gain > 0 && s->flux > 0 ? s->flux / gain : 0);
    make_ellipse(s, scaled);
    const bool known = planes->noise || planes->uniform_noise > 0 || gain > 0;
    s->flux_err = known ? sqrt(variance) : (double)NAN;
    if (!known)
        s->err_xx = s->err_yy = s->err_xy = (double)NAN;
    o->widening = find_widening(s, &t, threshold);
}
