#include "integrate/split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define PI 3.14159265358979323846

/*
 * Shares below this are left out: rounding leaves areas of 1e-16 in bins that a pixel only touches.
 */
#define LEAST_SHARE 0x1p-40

airy_status airy_split_scratch_create(struct airy_split_scratch *scratch,
                                      const struct airy_split_rule *rule)
{
    const size_t corners = rule->width + 1;
    double *block = NULL;
    *scratch = (struct airy_split_scratch){0};
    AIRY_TRY(airy_memory_calloc((void **)&block, 8 * corners + rule->bins + 2, sizeof *block,
                                "the matrix's work space"));
    scratch->block = block;
    scratch->radial[0] = block;
    scratch->radial[1] = block + corners;
    scratch->chi[0] = block + 2 * corners;
    scratch->chi[1] = block + 3 * corners;
    scratch->center = block + 4 * corners;
    scratch->center_chi = block + 5 * corners;
    scratch->half = block + 6 * corners;
    scratch->half_chi = block + 7 * corners;
    scratch->area = block + 8 * corners;
    return AIRY_OK;
}

void airy_split_scratch_free(struct airy_split_scratch *scratch)
{
    free(scratch->block);
    *scratch = (struct airy_split_scratch){0};
}

/* The angle nearest to reference among v + k period. */
static inline double unwrap(double v, double reference, double period)
{
    const double d = v - reference;
    return d > 0.5 * period ? v - period : d <= -0.5 * period ? v + period : v;
}

/* No NaN comes here, so these are one instruction each; fmin and fmax are calls. */
static inline double min2(double a, double b)
{
    return a < b ? a : b;
}

static inline double max2(double a, double b)
{
    return a > b ? a : b;
}

static inline double min4(double a, double b, double c, double d)
{
    return min2(min2(a, b), min2(c, d));
}

static inline double max4(double a, double b, double c, double d)
{
    return max2(max2(a, b), max2(c, d));
}

/* [0, 2 pi) from (-pi, pi]. */
static inline double chi_from_zero(double chi)
{
    const double v = chi < 0 ? chi + 2 * PI : chi;
    return v >= 2 * PI ? 0 : v;
}

/* The unit that pyFAI computes in, and the factor from there. */
static airy_unit base_unit(airy_unit unit, double *factor)
{
    switch (unit) {
    case AIRY_UNIT_Q_A:
        *factor = 0.1;
        return AIRY_UNIT_Q_NM;
    case AIRY_UNIT_TTH_DEG:
        *factor = 180 / PI;
        return AIRY_UNIT_TTH_RAD;
    case AIRY_UNIT_R_MM:
        *factor = 1000;
        return AIRY_UNIT_R_M;
    default:
        *factor = 1;
        return unit;
    }
}

/* Corners of the row of corners c1: radial, and chi if asked for. pyFAI keeps them as floats. */
static void find_corners(const struct airy_split_rule *rule, double *radial, double *chi, double c1)
{
    const size_t n = rule->width + 1;
    double factor = 1;
    const airy_unit unit = rule->compat ? base_unit(rule->unit, &factor) : rule->unit;
    airy_pose_radial(&rule->corner_pose, unit, c1, 0, n, radial);
    if (chi)
        airy_pose_chi(&rule->corner_pose, c1, 0, n, chi);
    if (!rule->compat)
        return;
    for (size_t j = 0; j < n; j++)
        radial[j] = factor * (double)(float)radial[j];
    for (size_t j = 0; chi && j < n; j++)
        chi[j] = (double)(float)chi[j];
}

static void radial_centers(const struct airy_split_rule *rule, double *out, size_t y)
{
    airy_pose_radial(&rule->pose, rule->unit, (double)y + 0.5, 0.5, rule->width, out);
    if (rule->angular && rule->chi_zero)
        for (size_t j = 0; j < rule->width; j++)
            if (out[j] < 0)
                out[j] = out[j] + 360 < 360 ? out[j] + 360 : 0;
}

/* half[j]: the largest distance of a corner from the centre; period 0: no period. */
static void half_widths(double *restrict half, const double *restrict center,
                        const double *restrict below, const double *restrict above, size_t width,
                        double period)
{
    if (period == 0) {
        for (size_t j = 0; j < width; j++) {
            const double c = center[j];
            half[j] = max4(fabs(below[j] - c), fabs(above[j] - c), fabs(above[j + 1] - c),
                           fabs(below[j + 1] - c));
        }
        return;
    }
    for (size_t j = 0; j < width; j++) {
        double d = 0;
        for (int k = 0; k < 4; k++) {
            const double corner = (k < 2 ? below : above)[j + (k & 1)];
            d = max2(d, fabs(unwrap(corner, center[j], period) - center[j]));
        }
        half[j] = d;
    }
}

/* True where the direct beam lies in pixel (i, j) or on its edge. */
static bool holds_beam(const struct airy_pose *pose, size_t i, size_t j)
{
    const double near = 0.5 + 1e-6;
    return fabs(pose->beam1 - ((double)i + 0.5)) <= near &&
           fabs(pose->beam2 - ((double)j + 0.5)) <= near;
}

static double period_of(const struct airy_split_rule *rule)
{
    return rule->angular ? 360 : 0;
}

/*
 * Corners of row y, in the unit, in scratch->radial; the upper ones of the row before are taken
 * over.
 */
static void load_corners(const struct airy_split_rule *rule, struct airy_split_scratch *s, size_t y,
                         bool first, bool chi)
{
    double *radial = s->radial[0], *angle = s->chi[0];
    s->radial[0] = s->radial[1];
    s->radial[1] = radial;
    s->chi[0] = s->chi[1];
    s->chi[1] = angle;
    if (first)
        find_corners(rule, s->radial[0], chi ? s->chi[0] : NULL, (double)y);
    find_corners(rule, s->radial[1], chi ? s->chi[1] : NULL, (double)y + 1);
}

/* What pixel j of the row that is loaded reaches. */
static void pixel_reach(const struct airy_split_rule *rule, const struct airy_split_scratch *s,
                        size_t j, double *lo, double *hi)
{
    if (rule->split != AIRY_SPLIT_FULL) {
        *lo = s->center[j] - s->half[j];
        *hi = s->center[j] + s->half[j];
        return;
    }
    double u[4] = {s->radial[0][j], s->radial[1][j], s->radial[1][j + 1], s->radial[0][j + 1]};
    for (int k = 0; rule->angular && k < 4; k++)
        u[k] = unwrap(u[k], s->center[j], 360);
    *lo = min4(u[0], u[1], u[2], u[3]);
    *hi = max4(u[0], u[1], u[2], u[3]);
}

void airy_split_limits(double *lower, double *upper, const struct airy_split_rule *rule,
                       struct airy_split_scratch *s, size_t first, size_t last,
                       const uint8_t *masked)
{
    const size_t w = rule->width;
    const bool around_beam = rule->split == AIRY_SPLIT_FULL && rule->positive && !rule->compat;
    double lo = *lower, hi = *upper;
    for (size_t y = first; y < last; y++) {
        if (rule->split != AIRY_SPLIT_NO)
            load_corners(rule, s, y, y == first, false);
        if (rule->split != AIRY_SPLIT_FULL || rule->angular)
            radial_centers(rule, s->center, y);
        if (rule->split == AIRY_SPLIT_NO)
            memset(s->half, 0, w * sizeof *s->half);
        else if (rule->split == AIRY_SPLIT_BBOX)
            half_widths(s->half, s->center, s->radial[0], s->radial[1], w, period_of(rule));
        for (size_t j = 0; j < w; j++) {
            double a, b;
            if (masked && masked[y * w + j])
                continue;
            pixel_reach(rule, s, j, &a, &b);
            lo = a < lo ? a : lo;
            hi = b > hi ? b : hi;
            if (around_beam && holds_beam(&rule->pose, y, j))
                lo = 0;
        }
    }
    *lower = lo;
    *upper = hi;
}

static bool entries_reserve(struct airy_entries *entries, size_t more)
{
    if (entries->count + more <= entries->capacity)
        return !entries->failed;
    size_t capacity = entries->capacity ? entries->capacity + entries->capacity / 2 : 4096;
    capacity = capacity < entries->count + more ? entries->count + more : capacity;
    entries->failed = entries->failed || entries->count + more > entries->most;
    if (entries->failed)
        return false;
    uint32_t *bin = realloc(entries->bin, capacity * sizeof *bin);
    if (bin)
        entries->bin = bin;
    float *coef = realloc(entries->coef, capacity * sizeof *coef);
    if (coef)
        entries->coef = coef;
    entries->failed = !bin || !coef;
    if (!entries->failed)
        entries->capacity = capacity;
    return !entries->failed;
}

/* One pixel's entries: `first` is where they start. */
struct sink {
    struct airy_entries *entries;
    size_t first;
};

/*
 * Bins come in ascending order; the same bin twice (a pixel on both sides of chi's discontinuity)
 * is one entry.
 */
static inline void emit(struct sink *sink, size_t bin, double coef)
{
    struct airy_entries *e = sink->entries;
    if (e->count > sink->first && e->bin[e->count - 1] == bin) {
        e->coef[e->count - 1] = (float)(e->coef[e->count - 1] + coef);
        return;
    }
    if (!entries_reserve(e, 1))
        return;
    e->bin[e->count] = (uint32_t)bin;
    e->coef[e->count++] = (float)coef;
}

static inline double to_bins(const struct airy_split_rule *rule, double v)
{
    return (v - rule->lower) / rule->delta;
}

static void add_point(struct sink *sink, const struct airy_split_rule *rule, double v)
{
    if (rule->compat) {
        const double x = to_bins(rule, v);
        const double bin = rule->truncate ? trunc(x) : floor(x);
        if (bin >= 0 && bin < (double)rule->bins)
            emit(sink, (size_t)bin, 1);
        return;
    }
    if (!(v >= rule->lower) || !(v < rule->upper || (rule->closed && v == rule->upper)))
        return;
    const double x = to_bins(rule, v), last = (double)(rule->bins - 1);
    emit(sink, (size_t)(x < last ? x : last), 1);
}

/* Shares of [v0, v1] by length; what lies outside of the range is lost. */
static void add_interval(struct sink *sink, const struct airy_split_rule *rule, double v0,
                         double v1)
{
    const double x0 = to_bins(rule, v0), x1 = to_bins(rule, v1), n = (double)rule->bins;
    if (!(x1 > x0)) {
        add_point(sink, rule, v0);
        return;
    }
    const double a = x0 > 0 ? x0 : 0, b = x1 < n ? x1 : n;
    if (!(a < b))
        return;
    const double inverse = 1 / (x1 - x0);
    const size_t i1 = (size_t)(ceil(b) - 1);
    for (size_t i = (size_t)a; i <= i1; i++) {
        const double share = (min2(b, (double)i + 1) - max2(a, (double)i)) * inverse;
        if (share >= LEAST_SHARE)
            emit(sink, i, share);
    }
}

/*
 * The same as pyFAI does it: bin numbers by truncation (by pixel: down), and what lies outside of
 * the range goes to the bin at the edge, so that every pixel that is kept sums to 1.
 */
static void add_interval_compat(struct sink *sink, const struct airy_split_rule *rule, double v0,
                                double v1)
{
    const double x0 = to_bins(rule, v0), x1 = to_bins(rule, v1), last = (double)(rule->bins - 1);
    double b0 = rule->truncate ? trunc(x0) : floor(x0), b1 = rule->truncate ? trunc(x1) : floor(x1);
    if (b1 < 0 || b0 > last)
        return;
    b0 = b0 < 0 ? 0 : b0;
    b1 = b1 > last ? last : b1;
    if (b0 == b1) {
        emit(sink, (size_t)b0, 1);
        return;
    }
    const double inverse = 1 / (x1 - x0);
    emit(sink, (size_t)b0, (b0 + 1 - x0) * inverse);
    for (double b = b0 + 1; b < b1; b++)
        emit(sink, (size_t)b, inverse);
    emit(sink, (size_t)b1, (x1 - b1) * inverse);
}

/*
 * A polygon being cut into bins: area[0] takes what lies below bin base, area[k] bin base + k - 1,
 * area[slots - 1] the rest.
 */
struct cut {
    double *area;
    double base;
    ptrdiff_t slots;
};

static inline ptrdiff_t min_slot(ptrdiff_t a, ptrdiff_t b)
{
    return a < b ? a : b;
}

static inline ptrdiff_t cut_slot(const struct cut *cut, double x)
{
    /* Truncation is floor where it matters: x below base is slot 0 whatever its fraction. */
    const double d = x - cut->base;
    const ptrdiff_t top = cut->slots - 1;
    if (d < 0)
        return 0;
    return d >= (double)top ? top : min_slot((ptrdiff_t)d + 1, top);
}

/* Add the signed area between an edge and y = 0. */
static inline void cut_edge(const struct cut *cut, double x1, double y1, double x2, double y2)
{
    const ptrdiff_t s1 = cut_slot(cut, x1), s2 = cut_slot(cut, x2);
    if (s1 == s2) {
        cut->area[s1] += (x2 - x1) * 0.5 * (y1 + y2);
        return;
    }
    const double slope = (y2 - y1) / (x2 - x1);
    const ptrdiff_t step = s2 > s1 ? 1 : -1;
    double x = x1, y = y1;
    for (ptrdiff_t s = s1; s != s2; s += step) {
        /* The boundary between slot s and the next: slot s starts at base + s - 1. */
        const double edge = cut->base + (double)(step > 0 ? s : s - 1);
        const double at = y1 + slope * (edge - x1);
        cut->area[s] += (edge - x) * 0.5 * (y + at);
        x = edge;
        y = at;
    }
    cut->area[s2] += (x2 - x) * 0.5 * (y + y2);
}

/*
 * A pixel's corners in order A (y, x), B (y + 1, x), C (y + 1, x + 1), D (y, x + 1): bins and rad
 * (or whatever the other axis is).
 */
struct quad {
    double x[4], y[4], xmin, xmax;
};

static void cut_begin(struct cut *cut, const struct airy_split_rule *rule, double *area,
                      double xmin, double xmax)
{
    const double last = (double)(rule->bins - 1);
    const double base = min2(max2(floor(xmin), 0), last), top = min2(max2(floor(xmax), 0), last);
    cut->area = area;
    cut->base = base;
    cut->slots = (ptrdiff_t)(top - base) + 3;
    for (ptrdiff_t k = 0; k < cut->slots; k++)
        area[k] = 0;
}

/*
 * Around the direct beam the image of a pixel in (radius, chi) is not its quadrilateral: it
 * reaches down to radius 0. It is the sum of the triangles between beam and edges, each the area
 * between an edge and x_beam. Edges that point to the beam have none.
 */
static void cut_around_beam(const struct cut *cut, const struct quad *quad, const bool at_beam[4],
                            double x_beam)
{
    for (int k = 0; k < 4; k++) {
        const int n = (k + 1) & 3;
        const double turn = unwrap(quad->y[n], quad->y[k], 2 * PI) - quad->y[k];
        if (at_beam[k] || at_beam[n] || fabs(fabs(turn) - PI) < 1e-5)
            continue;
        cut_edge(cut, quad->x[k], 0, quad->x[n], turn);
        cut_edge(cut, quad->x[n], turn, x_beam, turn);
    }
}

static void emit_areas(struct sink *sink, const struct airy_split_rule *rule, const struct cut *cut,
                       const struct quad *quad, double scale)
{
    double total = 0;
    const ptrdiff_t from = rule->compat ? 1 : 0, to = rule->compat ? cut->slots - 1 : cut->slots;
    for (ptrdiff_t s = from; s < to; s++)
        total += rule->compat ? cut->area[s] : fabs(cut->area[s]);
    if (!(fabs(total) > 1e-12 * scale)) {
        /* No area: a pixel seen edge-on. By length. */
        add_interval(sink, rule, rule->lower + quad->xmin * rule->delta,
                     rule->lower + quad->xmax * rule->delta);
        return;
    }
    for (ptrdiff_t s = 1; s < cut->slots - 1; s++) {
        const double share = rule->compat ? cut->area[s] / total : fabs(cut->area[s]) / total;
        if (rule->compat ? share != 0 : share >= LEAST_SHARE)
            emit(sink, (size_t)(cut->base + (double)(s - 1)), share);
    }
}

/*
 * pyFAI's rule: a quadrilateral that turns the wrong way round lies on chi's discontinuity, and
 * its negative corners are moved by a turn. Where chi starts at 0 no corner is negative, so
 * nothing moves. The area's formula (half of the first product only) is pyFAI's too.
 */
static void join_sides(const struct airy_split_rule *rule, const double x[4], double y[4])
{
    const double area = 0.5 * (x[2] - x[0]) * (y[3] - y[1]) - (y[2] - y[0]) * (x[3] - x[1]);
    if (!(rule->pose.flip1 != rule->pose.flip2 ? area < 0 : area > 0))
        return;
    for (int k = 0; k < 4; k++)
        y[k] = y[k] < 0 ? y[k] + 2 * PI : y[k];
    if (0.25 * (y[0] + y[1] + y[2] + y[3]) > PI)
        for (int k = 0; k < 4; k++)
            y[k] -= 2 * PI;
}

/*
 * A quadrilateral in two bins, base and the next: cut_edge and emit_areas for this case, which most
 * pixels are, with the same operations in the same order. False: it has no area.
 */
static bool add_two_bins(struct sink *sink, double base, const struct quad *quad, double scale)
{
    const double edge = base + 1;
    double lower = 0, upper = 0;
    for (int k = 0; k < 4; k++) {
        const int n = (k + 1) & 3;
        const double x1 = quad->x[k], y1 = quad->y[k], x2 = quad->x[n], y2 = quad->y[n];
        const bool above1 = x1 >= edge, above2 = x2 >= edge;
        if (above1 == above2) {
            const double area = (x2 - x1) * 0.5 * (y1 + y2);
            lower += above1 ? 0 : area;
            upper += above1 ? area : 0;
            continue;
        }
        const double at = y1 + (y2 - y1) / (x2 - x1) * (edge - x1);
        const double first = (edge - x1) * 0.5 * (y1 + at), second = (x2 - edge) * 0.5 * (at + y2);
        lower += above1 ? second : first;
        upper += above1 ? first : second;
    }
    const double total = fabs(lower) + fabs(upper);
    if (!(total > 1e-12 * scale))
        return false;
    const double shares[2] = {fabs(lower) / total, fabs(upper) / total};
    for (int k = 0; k < 2; k++)
        if (shares[k] >= LEAST_SHARE)
            emit(sink, (size_t)base + (size_t)k, shares[k]);
    return true;
}

static void add_quad(struct sink *sink, const struct airy_split_rule *rule,
                     struct airy_split_scratch *s, struct quad *quad, size_t i, size_t j)
{
    const double n = (double)rule->bins;
    const double xmin = quad->xmin, xmax = quad->xmax;
    struct cut cut;
    if (!rule->compat && rule->positive && holds_beam(&rule->pose, i, j)) {
        bool at_beam[4];
        for (int k = 0; k < 4; k++) {
            const double d1 = (double)(i + (k == 1 || k == 2)) - rule->pose.beam1;
            const double d2 = (double)(j + (k >= 2)) - rule->pose.beam2;
            at_beam[k] = max2(fabs(d1), fabs(d2)) < 1e-6;
        }
        quad->xmin = to_bins(rule, 0);
        if (quad->xmin >= n || xmax < 0)
            return;
        cut_begin(&cut, rule, s->area, quad->xmin, xmax);
        cut_around_beam(&cut, quad, at_beam, quad->xmin);
        emit_areas(sink, rule, &cut, quad, (xmax - quad->xmin) * PI);
        return;
    }
    if (xmax < 0 || xmin >= n)
        return;
    if (xmin >= 0 && xmax < n && (size_t)xmin == (size_t)xmax) {
        emit(sink, (size_t)xmin, 1);
        return;
    }
    const double y0 = quad->y[0];
    double ymin = 0, ymax = 0;
    for (int k = 0; k < 4; k++) {
        quad->y[k] = rule->compat || rule->angular ? quad->y[k] - y0
                                                   : unwrap(quad->y[k], y0, 2 * PI) - y0;
        ymin = min2(ymin, quad->y[k]);
        ymax = max2(ymax, quad->y[k]);
    }
    if (!rule->compat && xmin >= 0 && xmax < n && (size_t)xmax == (size_t)xmin + 1 &&
        add_two_bins(sink, (double)(size_t)xmin, quad, (xmax - xmin) * (ymax - ymin)))
        return;
    cut_begin(&cut, rule, s->area, xmin, xmax);
    for (int k = 0; k < 4; k++)
        cut_edge(&cut, quad->x[k], quad->y[k], quad->x[(k + 1) & 3], quad->y[(k + 1) & 3]);
    emit_areas(sink, rule, &cut, quad, (xmax - xmin) * (ymax - ymin));
}

/* chi in [lo, hi), a turn at most. */
static inline bool azimuth_inside(const struct airy_split_rule *rule, double chi)
{
    double d = chi - rule->azimuth_lo;
    d -= 2 * PI * floor(d / (2 * PI));
    /* Just below 0, it rounds to a whole turn. */
    d = d >= 2 * PI ? 0 : d;
    return d < rule->azimuth_hi - rule->azimuth_lo;
}

/*
 * pyFAI's: [a, b] touches [lo, hi]; where chi ends at pi, a range that goes beyond takes what lies
 * a turn before, too.
 */
static inline bool azimuth_touches(const struct airy_split_rule *rule, double a, double b)
{
    const double turn = rule->chi_zero ? 0 : 2 * PI;
    return (b >= rule->azimuth_lo && a <= rule->azimuth_hi) ||
           (b + turn >= rule->azimuth_lo && a + turn <= rule->azimuth_hi);
}

static inline double compat_chi(const struct airy_split_rule *rule, double chi)
{
    return rule->chi_zero ? chi_from_zero(chi) : chi;
}

/*
 * Where chi is the unit, the pixel is offered three times, a period apart: the range decides which
 * parts it takes.
 */
static void add_angular(struct sink *sink, const struct airy_split_rule *rule,
                        struct airy_split_scratch *s, size_t i, size_t j)
{
    const double center = s->center[j];
    if (rule->split == AIRY_SPLIT_NO) {
        const double v = rule->lower +
                         (center - rule->lower - 360 * floor((center - rule->lower) / 360));
        add_point(sink, rule, v >= rule->lower + 360 ? rule->lower : v);
        return;
    }
    const double corner[4] = {
        unwrap(s->radial[0][j], center, 360), unwrap(s->radial[1][j], center, 360),
        unwrap(s->radial[1][j + 1], center, 360), unwrap(s->radial[0][j + 1], center, 360)};
    for (int turn = -1; turn <= 1; turn++) {
        const double shift = 360.0 * turn;
        if (rule->split == AIRY_SPLIT_BBOX) {
            if (center + s->half[j] + shift > rule->lower)
                add_interval(sink, rule, center - s->half[j] + shift, center + s->half[j] + shift);
            continue;
        }
        struct quad quad = {.y = {s->chi[0][j], s->chi[1][j], s->chi[1][j + 1], s->chi[0][j + 1]}};
        for (int k = 0; k < 4; k++)
            quad.x[k] = to_bins(rule, corner[k] + shift);
        quad.xmin = min4(quad.x[0], quad.x[1], quad.x[2], quad.x[3]);
        quad.xmax = max4(quad.x[0], quad.x[1], quad.x[2], quad.x[3]);
        add_quad(sink, rule, s, &quad, i, j);
    }
}

static bool pixel_in_azimuth(const struct airy_split_rule *rule, const struct airy_split_scratch *s,
                             size_t j)
{
    if (!rule->compat)
        return azimuth_inside(rule, s->center_chi[j]);
    const double chi = compat_chi(rule, s->center_chi[j]);
    if (rule->split == AIRY_SPLIT_NO)
        return azimuth_touches(rule, chi, chi);
    if (rule->split == AIRY_SPLIT_BBOX)
        return azimuth_touches(rule, chi - s->half_chi[j], chi + s->half_chi[j]);
    const double x[4] = {s->radial[0][j], s->radial[1][j], s->radial[1][j + 1],
                         s->radial[0][j + 1]};
    double y[4] = {compat_chi(rule, s->chi[0][j]), compat_chi(rule, s->chi[1][j]),
                   compat_chi(rule, s->chi[1][j + 1]), compat_chi(rule, s->chi[0][j + 1])};
    join_sides(rule, x, y);
    return azimuth_touches(rule, min4(y[0], y[1], y[2], y[3]), max4(y[0], y[1], y[2], y[3]));
}

static void add_pixel(struct sink *sink, const struct airy_split_rule *rule,
                      struct airy_split_scratch *s, size_t i, size_t j)
{
    if (rule->angular) {
        add_angular(sink, rule, s, i, j);
        return;
    }
    if (rule->split == AIRY_SPLIT_NO) {
        add_point(sink, rule, s->center[j]);
        return;
    }
    if (rule->split == AIRY_SPLIT_BBOX) {
        const double a = s->center[j] - s->half[j], b = s->center[j] + s->half[j];
        const double v0 = rule->positive && !rule->compat && a < 0 ? 0 : a;
        (rule->compat ? add_interval_compat : add_interval)(sink, rule, v0, b);
        return;
    }
    struct quad quad = {
        .x = {s->radial[0][j], s->radial[1][j], s->radial[1][j + 1], s->radial[0][j + 1]},
        .y = {s->chi[0][j], s->chi[1][j], s->chi[1][j + 1], s->chi[0][j + 1]},
    };
    for (int k = 0; k < 4; k++)
        quad.x[k] = to_bins(rule, quad.x[k]);
    if (rule->compat) {
        for (int k = 0; k < 4; k++)
            quad.y[k] = compat_chi(rule, quad.y[k]);
        join_sides(rule, quad.x, quad.y);
    }
    quad.xmin = min4(quad.x[0], quad.x[1], quad.x[2], quad.x[3]);
    quad.xmax = max4(quad.x[0], quad.x[1], quad.x[2], quad.x[3]);
    add_quad(sink, rule, s, &quad, i, j);
}

/* Everything add_pixel reads of row y. */
static void load_row(const struct airy_split_rule *rule, struct airy_split_scratch *s, size_t y,
                     bool first)
{
    const size_t w = rule->width;
    const bool bbox_azimuth = rule->compat && rule->has_azimuth && rule->split == AIRY_SPLIT_BBOX;
    if (rule->split != AIRY_SPLIT_NO)
        load_corners(rule, s, y, first,
                     (rule->split == AIRY_SPLIT_FULL && !rule->angular) || bbox_azimuth);
    if (rule->split != AIRY_SPLIT_FULL || rule->angular)
        radial_centers(rule, s->center, y);
    if (rule->split == AIRY_SPLIT_BBOX)
        half_widths(s->half, s->center, s->radial[0], s->radial[1], w, period_of(rule));
    if (rule->split == AIRY_SPLIT_FULL && rule->angular) {
        /* The other axis is the radius. */
        airy_pose_radial(&rule->pose, AIRY_UNIT_R_M, (double)y, 0, w + 1, s->chi[0]);
        airy_pose_radial(&rule->pose, AIRY_UNIT_R_M, (double)y + 1, 0, w + 1, s->chi[1]);
    }
    if (rule->has_azimuth)
        airy_pose_chi(&rule->pose, (double)y + 0.5, 0.5, w, s->center_chi);
    if (bbox_azimuth)
        half_widths(s->half_chi, s->center_chi, s->chi[0], s->chi[1], w, 2 * PI);
}

void airy_split_rows(struct airy_entries *entries, uint32_t *counts,
                     const struct airy_split_rule *rule, struct airy_split_scratch *scratch,
                     size_t first, size_t last, const uint8_t *valid)
{
    const size_t w = rule->width;
    for (size_t y = first; y < last; y++) {
        load_row(rule, scratch, y, y == first);
        for (size_t j = 0; j < w; j++) {
            struct sink sink = {entries, entries->count};
            if (valid[y * w + j] && (!rule->has_azimuth || pixel_in_azimuth(rule, scratch, j)))
                add_pixel(&sink, rule, scratch, y, j);
            counts[y * w + j] = (uint32_t)(entries->count - sink.first);
        }
    }
}
