/* Sums within circles and ellipses about a source. */
#include <math.h>

#include "base/size.h"
#include "sources/sources_parts.h"

enum { RINGS = 64, SUBPIXELS = 5 };

/* Half the diagonal of a pixel. */
static const double half_diagonal = 0.70710678118654757;
/* Of the ellipse that the Kron radius is measured in, in units of a and b. */
static const double kron_reach = 6;

struct field {
    const struct airy_source_plan *plan;
    const struct airy_source_planes *planes;
    uint32_t label; /* of the source */
};

/*
 * Pixels that a shape can touch, ends included; none where first > last. Weights of both signs can
 * put a centre anywhere, so ends are brought near the image before they are whole numbers.
 */
struct window {
    ptrdiff_t x[2], y[2];
    bool cut;
};

static struct window find_window(const struct field *field, const airy_source *s, double reach_x,
                                 double reach_y)
{
    const double x[2] = {floor(s->x - reach_x + 0.5), ceil(s->x + reach_x - 0.5)},
                 y[2] = {floor(s->y - reach_y + 0.5), ceil(s->y + reach_y - 0.5)},
                 right = (double)field->planes->width - 1,
                 bottom = (double)field->planes->height - 1;
    const struct window w = {
        {(ptrdiff_t)fmin(fmax(x[0], 0), right + 1), (ptrdiff_t)fmax(fmin(x[1], right), -1)},
        {(ptrdiff_t)fmin(fmax(y[0], 0), bottom + 1), (ptrdiff_t)fmax(fmin(y[1], bottom), -1)},
        x[0] < 0 || y[0] < 0 || x[1] > right || y[1] > bottom};
    return w;
}

/* p x^2 + 2 q x y + r y^2 about a source. */
struct form {
    double p, q, r;
};

/* Pixels of a row where the form can be below a limit; none where first > last. */
static void find_row(ptrdiff_t range[2], const struct window *w, const struct form *form,
                     const airy_source *s, ptrdiff_t y, double limit)
{
    const double dy = (double)y - s->y, slope = form->q / form->p,
                 d = limit / form->p + (slope * slope - form->r / form->p) * dy * dy,
                 middle = s->x - slope * dy, half = sqrt(fmax(d, 0)) + 1;
    range[0] = w->x[0];
    range[1] = w->x[1];
    /* One pixel more at each end, for rounding. */
    if (middle - half > (double)range[0])
        range[0] = (ptrdiff_t)fmin(middle - half, (double)w->x[1] + 1);
    if (middle + half < (double)range[1])
        range[1] = (ptrdiff_t)fmax(middle + half, (double)w->x[0] - 1);
}

static bool is_good(const struct field *field, size_t at)
{
    const uint32_t label = field->planes->label[at];
    return field->planes->good[at] &&
           !(field->plan->p.mask_neighbours && label && label != field->label);
}

struct sum {
    double flux, variance, area, lost; /* lost: area of pixels that are left out */
};

static void add_pixel(struct sum *sum, const struct field *field, size_t at, double overlap)
{
    sum->area += overlap;
    if (!is_good(field, at)) {
        sum->lost += overlap;
        return;
    }
    sum->flux += overlap * (double)field->planes->value[at];
    sum->variance += overlap * airy_source_variance(field->planes, at);
}

/* Flux and error of a sum; the flags it has. */
static unsigned finish_sum(double *flux, double *error, struct sum sum, bool cut,
                           const struct field *field)
{
    const double gain = field->plan->p.gain;
    unsigned flags = cut ? AIRY_SOURCE_APER_EDGE : 0;
    *flux = *error = (double)NAN;
    if (sum.lost > 0) {
        flags |= AIRY_SOURCE_APER_MASKED;
        const double scale = sum.area / (sum.area - sum.lost);
        sum.flux *= scale;
        sum.variance *= scale;
    }
    if (!(sum.area - sum.lost > 0))
        return flags | AIRY_SOURCE_APER_EMPTY;
    *flux = sum.flux;
    if (gain > 0 && sum.flux > 0)
        sum.variance += sum.flux / gain;
    if (field->plan->has_noise || gain > 0)
        *error = sqrt(sum.variance);
    return flags;
}

struct ellipse {
    double a, b, theta; /* a >= b */
    bool whole;         /* pixels whose centres are in it count whole, others not at all */
};

/* m takes it to the unit circle, where half the diagonal of a pixel is at most half_diagonal / b. */
static unsigned sum_ellipse(double *flux, double *error, const struct field *field,
                            const airy_source *s, const struct ellipse *ellipse)
{
    const double a = ellipse->a, b = ellipse->b, theta = ellipse->theta;
    const double c = cos(theta), d = sin(theta), m[4] = {c / a, d / a, -d / b, c / b},
                 margin = ellipse->whole ? 0 : half_diagonal / b,
                 full = margin < 1 ? (1 - margin) * (1 - margin) : -1,
                 none = (1 + margin) * (1 + margin);
    const struct window w = find_window(field, s, hypot(a * c, b * d), hypot(a * d, b * c));
    const struct form form = {m[0] * m[0] + m[2] * m[2], m[0] * m[1] + m[2] * m[3],
                              m[1] * m[1] + m[3] * m[3]};
    struct sum sum = {.flux = 0};
    for (ptrdiff_t y = w.y[0], range[2]; y <= w.y[1]; y++) {
        find_row(range, &w, &form, s, y, none);
        for (ptrdiff_t x = range[0]; x <= range[1]; x++) {
            const double dx = (double)x - s->x, dy = (double)y - s->y, u = m[0] * dx + m[1] * dy,
                         v = m[2] * dx + m[3] * dy, r2 = u * u + v * v;
            if (r2 >= none)
                continue;
            const double overlap = r2 <= full ? 1 : airy_pixel_overlap(dx, dy, m);
            if (overlap > 0)
                add_pixel(&sum, field, (size_t)y * field->planes->width + (size_t)x, overlap);
        }
    }
    return finish_sum(flux, error, sum, w.cut, field);
}

/* sum f r / sum f over pixels whose centres are in the ellipse; 0 where a sum is not positive. */
static unsigned find_kron(double *radius, const struct field *field, const airy_source *s)
{
    const double c = cos(s->theta), d = sin(s->theta), a = kron_reach * s->a, b = kron_reach * s->b;
    const struct window w = find_window(field, s, hypot(a * c, b * d), hypot(a * d, b * c));
    const struct form form = {s->cxx, 0.5 * s->cxy, s->cyy};
    unsigned flags = w.cut ? AIRY_SOURCE_APER_EDGE : 0;
    double flux = 0, moment = 0;
    size_t count = 0;
    *radius = 0;
    for (ptrdiff_t y = w.y[0], range[2]; y <= w.y[1]; y++) {
        find_row(range, &w, &form, s, y, kron_reach * kron_reach);
        for (ptrdiff_t x = range[0]; x <= range[1]; x++) {
            const double dx = (double)x - s->x, dy = (double)y - s->y,
                         r2 = s->cxx * dx * dx + s->cyy * dy * dy + s->cxy * dx * dy;
            const size_t at = (size_t)y * field->planes->width + (size_t)x;
            if (r2 > kron_reach * kron_reach)
                continue;
            if (!is_good(field, at)) {
                flags |= AIRY_SOURCE_APER_MASKED;
                continue;
            }
            const double f = (double)field->planes->value[at];
            moment += sqrt(r2) * f;
            flux += f;
            count++;
        }
    }
    if (count == 0)
        return flags | AIRY_SOURCE_APER_EMPTY;
    if (!(moment > 0 && flux > 0))
        return flags | AIRY_SOURCE_APER_NEGATIVE;
    *radius = moment / flux;
    return flags;
}

/* A pixel's flux f goes to rings by parts of it that are of one ring each. */
static void add_parts(double ring[RINGS], int count, double f, double dx, double dy, double rings)
{
    const double part = 1.0 / SUBPIXELS;
    for (int i = 0; i < SUBPIXELS; i++) {
        const double py = dy + (i - SUBPIXELS / 2) * part;
        double r[SUBPIXELS];
        for (int k = 0; k < SUBPIXELS; k++) {
            const double px = dx + (k - SUBPIXELS / 2) * part;
            r[k] = sqrt(px * px + py * py) * rings;
        }
        for (int k = 0; k < SUBPIXELS; k++)
            if (r[k] < count)
                ring[(int)r[k]] += f * (part * part);
    }
}

/* Flux in the first rings about the source. */
static void sum_rings(double ring[RINGS], int count, const struct field *field,
                      const airy_source *s, double step)
{
    const double reach = count * step, rings = 1 / step, out = reach + half_diagonal,
                 spread = half_diagonal * rings;
    const struct window w = find_window(field, s, reach, reach);
    const struct form circle = {1, 0, 1};
    for (ptrdiff_t y = w.y[0], range[2]; y <= w.y[1]; y++) {
        find_row(range, &w, &circle, s, y, out * out);
        for (ptrdiff_t x = range[0]; x <= range[1]; x++) {
            const double dx = (double)x - s->x, dy = (double)y - s->y, r2 = dx * dx + dy * dy;
            const size_t at = (size_t)y * field->planes->width + (size_t)x;
            if (r2 > out * out || !is_good(field, at))
                continue;
            const double f = (double)field->planes->value[at], r = sqrt(r2) * rings;
            const int first = (int)fmax(r - spread, 0), last = (int)(r + spread);
            if (first != last)
                add_parts(ring, count, f, dx, dy, rings);
            else if (first < count)
                ring[first] += f;
        }
    }
}

/* The radius at which the flux reaches `wanted` first; mostly it is far inside. */
static double find_radius(const struct field *field, const airy_source *s, double wanted)
{
    const double step = kron_reach * s->a / RINGS;
    if (!(wanted > 0))
        return (double)NAN;
    for (int count = RINGS / 4; count <= RINGS; count *= 2) {
        double ring[RINGS] = {0}, sum = 0;
        sum_rings(ring, count, field, s, step);
        for (int i = 0; i < count; i++) {
            if (sum + ring[i] >= wanted)
                return step * (i + (wanted - sum) / ring[i]);
            sum += ring[i];
        }
    }
    return RINGS * step;
}

static void measure_kron(airy_source *s, const struct field *field)
{
    const airy_sources_params *p = &field->plan->p;
    unsigned flags = find_kron(&s->kron_radius, field, s);
    const double k = fmax(p->kron_factor * s->kron_radius, p->kron_minimum);
    const struct ellipse ellipse = {
        .a = k * s->a, .b = k * s->b, .theta = s->theta, .whole = p->whole_pixels};
    if (k > 0)
        flags |= sum_ellipse(&s->flux_kron, &s->flux_kron_err, field, s, &ellipse);
    s->flags |= flags;
    s->half_light_radius = find_radius(field, s, 0.5 * s->flux_kron);
}

void airy_source_apertures(airy_source *s, const struct airy_source_plan *plan,
                           const struct airy_source_planes *planes)
{
    const struct field field = {.plan = plan, .planes = planes, .label = s->label};
    const size_t x = (size_t)fmin(fmax(floor(s->x + 0.5), 0), (double)planes->width - 1),
                 y = (size_t)fmin(fmax(floor(s->y + 0.5), 0), (double)planes->height - 1),
                 at = y * planes->width + x;
    s->background = planes->background ? (double)planes->background[at] : (double)NAN;
    s->noise = plan->has_noise ? sqrt(airy_source_variance(planes, at)) : (double)NAN;
    s->kron_radius = s->flux_kron = s->flux_kron_err = s->half_light_radius = (double)NAN;
    for (int i = 0; i < AIRY_SOURCE_APERTURES; i++) {
        s->flux_aper[i] = s->flux_aper_err[i] = (double)NAN;
        if (i >= plan->p.aperture_count)
            continue;
        const struct ellipse circle = {.a = plan->p.apertures[i], .b = plan->p.apertures[i]};
        s->flags |= sum_ellipse(&s->flux_aper[i], &s->flux_aper_err[i], &field, s, &circle);
    }
    if (!plan->p.isophotal)
        measure_kron(s, &field);
}
