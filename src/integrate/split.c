#include "integrate/split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "integrate/split_cut.h"

airy_status airy_split_scratch_create(struct airy_split_scratch *scratch,
                                      const struct airy_split_rule *rule)
{
    const size_t corners = rule->width + 1;
    double *block = NULL;
    *scratch = (struct airy_split_scratch){0};
    const size_t cells = rule->compat ? rule->radial.bins * rule->chi.bins : 0,
                 own = rule->pose.corners || rule->folded || rule->relative ? 10 * corners : 0;
    AIRY_TRY(airy_memory_calloc((void **)&block,
                                14 * corners + rule->radial.bins + 2 + rule->chi.bins + cells + own,
                                sizeof *block, "the matrix's work space"));
    scratch->block = block;
    scratch->line[0] = block;
    scratch->line[1] = block + corners;
    scratch->chi_line[0] = block + 2 * corners;
    scratch->chi_line[1] = block + 3 * corners;
    scratch->center = block + 4 * corners;
    scratch->center_chi = block + 5 * corners;
    scratch->half = block + 6 * corners;
    scratch->half_chi = block + 7 * corners;
    for (size_t k = 0; k < 2; k++) {
        scratch->y_line[k] = block + (8 + k) * corners;
        scratch->x_line[k] = block + (10 + k) * corners;
    }
    scratch->lowest = block + 12 * corners;
    scratch->highest = block + 13 * corners;
    scratch->area = block + 14 * corners;
    scratch->band = scratch->area + rule->radial.bins + 2;
    scratch->cells = scratch->band + rule->chi.bins;
    scratch->beam = scratch->cells + cells;
    for (size_t k = 0; k < 4; k++) {
        scratch->radial[k] = scratch->beam + (1 + k) * corners;
        scratch->chi[k] = scratch->beam + (5 + k) * corners;
    }
    scratch->side = scratch->beam + 9 * corners;
    return AIRY_OK;
}

void airy_split_scratch_free(struct airy_split_scratch *scratch)
{
    free(scratch->block);
    *scratch = (struct airy_split_scratch){0};
}

/* The second axis of n points: chi, or the unit that stands for it. */
static void azimuth_of(const struct airy_split_rule *rule, const struct airy_pose *pose, double c1,
                       double c2, size_t n, double *out)
{
    airy_pose_radial(pose, rule->azimuth_unit, c1, c2, n, out);
}

/*
 * n points from (c1, c2): radial, and chi if asked for. pyFAI keeps the results as floats, chi after it
 * has been counted from 0.
 */
static void find_corners(const struct airy_split_rule *rule, const struct airy_pose *pose,
                         double *radial, double *chi, double c1, double c2, size_t n)
{
    airy_pose_radial(pose, rule->unit, c1, c2, n, radial);
    if (chi)
        azimuth_of(rule, pose, c1, c2, n, chi);
    if (!rule->compat)
        return;
    for (size_t j = 0; j < n; j++)
        radial[j] = (double)(float)radial[j];
    const bool from_zero = rule->chi_zero && rule->turn > 0 && has_corners(rule->split);
    for (size_t j = 0; chi && j < n; j++)
        chi[j] = (double)(float)(from_zero ? chi_from_zero(chi[j]) : chi[j]);
}

static void radial_centers(const struct airy_split_rule *rule, double *out, size_t y)
{
    airy_pose_radial(&rule->pose, rule->unit, (double)y + 0.5, 0.5, rule->width, out);
    if (rule->angular && rule->chi_zero)
        for (size_t j = 0; j < rule->width; j++)
            if (out[j] < 0)
                out[j] = out[j] + rule->period < rule->period ? out[j] + rule->period : 0;
}

/* half[j]: the largest distance of a corner from the centre; period 0: no period. */
static void half_widths(double *restrict half, const double *restrict center,
                        double *const corner[4], size_t width, double period)
{
    const double *a = corner[0], *b = corner[1], *c = corner[2], *d = corner[3];
    if (period == 0) {
        for (size_t j = 0; j < width; j++) {
            const double at = center[j];
            half[j] = max4(fabs(a[j] - at), fabs(b[j] - at), fabs(c[j] - at), fabs(d[j] - at));
        }
        return;
    }
    for (size_t j = 0; j < width; j++) {
        double most = 0;
        for (int k = 0; k < 4; k++)
            most = max2(most, fabs(unwrap(corner[k][j], center[j], period) - center[j]));
        half[j] = most;
    }
}

/* The origin is in a quadrilateral, which has no corner that points inwards, or near its edge. */
static bool around_origin(const double x[4], const double y[4], const double z[4], double near)
{
    if (!(min4(z[0], z[1], z[2], z[3]) > 0) || min4(x[0], x[1], x[2], x[3]) > near ||
        max4(x[0], x[1], x[2], x[3]) < -near || min4(y[0], y[1], y[2], y[3]) > near ||
        max4(y[0], y[1], y[2], y[3]) < -near)
        return false;
    bool left = true, right = true;
    for (int k = 0; k < 4; k++) {
        const int n = (k + 1) & 3;
        const double side = x[k] * y[n] - x[n] * y[k], edge = hypot(x[n] - x[k], y[n] - y[k]);
        left = left && side >= -near * edge;
        right = right && side <= near * edge;
    }
    return left || right;
}

/* Which pixels of row y hold the beam, of a detector with corners of its own. */
static void find_beam(const struct airy_split_rule *rule, struct airy_split_scratch *s, size_t y)
{
    enum { PIECE = 64 };
    double points[3][4][PIECE];
    const double near = 1e-6 * min2(rule->pose.pixel1, rule->pose.pixel2);
    struct airy_pose pose = rule->pose;
    for (size_t j = 0; j < rule->width; j += PIECE) {
        const size_t n = airy_min_size(PIECE, rule->width - j);
        for (int k = 0; k < 4; k++) {
            pose.corner = k;
            airy_pose_points(&pose, (double)y, (double)j, n, points[0][k], points[1][k],
                             points[2][k]);
        }
        for (size_t i = 0; i < n; i++) {
            double v[3][4];
            for (int k = 0; k < 12; k++)
                v[k / 4][k % 4] = points[k / 4][k % 4][i];
            s->beam[j + i] = around_origin(v[1], v[0], v[2], near);
        }
    }
}

/* Corners of pixels in lines of corners: below, above, above, below. */
static void point_corners(double *corner[4], double *const line[2])
{
    corner[0] = line[0];
    corner[1] = line[1];
    corner[2] = line[1] + 1;
    corner[3] = line[0] + 1;
}

static void load_own_corners(const struct airy_split_rule *rule, struct airy_split_scratch *s,
                             size_t y, bool chi)
{
    struct airy_pose pose = rule->corner_pose;
    for (int k = 0; k < 4; k++) {
        pose.corner = k;
        find_corners(rule, &pose, s->radial[k], chi ? s->chi[k] : NULL, (double)y, 0, rule->width);
    }
    if (has_corners(rule->split) && rule->polar)
        find_beam(rule, s, y);
}

static void swap_lines(double *line[2])
{
    double *below = line[0];
    line[0] = line[1];
    line[1] = below;
}

/* Line k of the two: corners (y, 0) to (y, width). */
static void load_line(const struct airy_split_rule *rule, struct airy_split_scratch *s, int k,
                      size_t y, bool chi)
{
    const struct airy_pose *pose = &rule->corner_pose;
    const size_t w = rule->width;
    double *at_y = s->y_line[k], *at_x = s->x_line[k];
    if (!chi || !rule->relative) {
        find_corners(rule, pose, s->line[k], chi ? s->chi_line[k] : NULL, (double)y, 0, w + 1);
        return;
    }
    airy_pose_line(pose, rule->unit, (double)y, w + 1, s->line[k], at_y, at_x);
    for (size_t j = 0; j <= w; j++)
        s->line[k][j] = to_bins(&rule->radial, s->line[k][j]);
    airy_split_turns(s->chi_line[k], at_y, at_x, at_y + 1, at_x + 1, w);
}

/*
 * What the entries of a row are made of, a step of all its pixels at a time. chi of corners less that of
 * A: an arc tangent each would cost more than the rest.
 */
static void relative_corners(struct airy_split_scratch *s, size_t width)
{
    double *const *chi = s->chi, *below = s->chi_line[0], *above = s->chi_line[1];
    for (size_t k = 0; k < 4; k++)
        s->chi[k] = s->beam + (5 + k) * (width + 1);
    airy_split_turns(chi[1], s->y_line[0], s->x_line[0], s->y_line[1], s->x_line[1], width);
    for (size_t j = 0; j < width; j++) {
        chi[0][j] = 0;
        chi[2][j] = chi[1][j] + above[j];
        chi[3][j] = below[j];
    }
    const double *a = s->line[0], *b = s->line[1], *c = b + 1, *d = a + 1;
    double *restrict lowest = s->lowest, *restrict highest = s->highest;
    for (size_t j = 0; j < width; j++) {
        lowest[j] = min4(a[j], b[j], c[j], d[j]);
        highest[j] = max4(a[j], b[j], c[j], d[j]);
    }
}

/* Corners of row y, in the unit; the upper ones of the row before are taken over. */
static void load_lines(const struct airy_split_rule *rule, struct airy_split_scratch *s, size_t y,
                       bool first, bool chi)
{
    if (rule->pose.corners) {
        load_own_corners(rule, s, y, chi);
        return;
    }
    swap_lines(s->line);
    swap_lines(s->chi_line);
    swap_lines(s->y_line);
    swap_lines(s->x_line);
    if (first)
        load_line(rule, s, 0, y, chi);
    load_line(rule, s, 1, y + 1, chi);
    point_corners(s->radial, s->line);
    if (chi && rule->relative)
        relative_corners(s, rule->width);
    else
        point_corners(s->chi, s->chi_line);
}

/* Corners beyond the jump come to the side of their pixel's centre; around the beam there is none. */
static void fold_corners(const struct airy_split_rule *rule, struct airy_split_scratch *s, size_t y,
                         bool chi)
{
    const size_t w = rule->width;
    const bool radial_jumps = airy_unit_is_folded(rule->unit),
               chi_jumps = chi && airy_unit_is_folded(rule->azimuth_unit);
    airy_pose_radial(&rule->pose, AIRY_UNIT_CHIGI_RAD, (double)y + 0.5, 0.5, w, s->side);
    for (int k = 0; k < 4; k++) {
        double *own = s->beam + (size_t)(1 + k) * (w + 1),
               *own_chi = s->beam + (size_t)(5 + k) * (w + 1);
        if (own != s->radial[k]) {
            memcpy(own, s->radial[k], w * sizeof(*own));
            if (chi)
                memcpy(own_chi, s->chi[k], w * sizeof(*own));
        }
        for (size_t j = 0; j < w; j++) {
            if (rule->polar && has_corners(rule->split) && airy_split_holds_beam(rule, s, y, j))
                continue;
            own[j] = radial_jumps ? copysign(own[j], s->side[j]) : own[j];
            if (chi_jumps)
                own_chi[j] = copysign(own_chi[j], s->side[j]);
        }
        s->radial[k] = own;
        if (chi)
            s->chi[k] = own_chi;
    }
}

static void load_corners(const struct airy_split_rule *rule, struct airy_split_scratch *s, size_t y,
                         bool first, bool chi)
{
    load_lines(rule, s, y, first, chi);
    if (rule->folded)
        fold_corners(rule, s, y, chi);
}

/* Where chi is the unit, the other axis of corners is the radius in m. */
static void load_radii(const struct airy_split_rule *rule, struct airy_split_scratch *s, size_t y)
{
    struct airy_pose pose = rule->pose;
    for (int k = 0; k < 2 && !pose.corners; k++)
        airy_pose_radial(&pose, AIRY_UNIT_R_M, (double)y + k, 0, rule->width + 1, s->chi_line[k]);
    for (int k = 0; k < 4 && pose.corners; k++) {
        pose.corner = k;
        airy_pose_radial(&pose, AIRY_UNIT_R_M, (double)y, 0, rule->width, s->chi[k]);
    }
}

/* Everything that is read of the pixels of row y. */
static void load_row(const struct airy_split_rule *rule, struct airy_split_scratch *s, size_t y,
                     bool first)
{
    const size_t w = rule->width;
    const bool bbox = rule->split == AIRY_SPLIT_BBOX, two = rule->chi.bins > 0,
               chi_halves = bbox && (two || (rule->compat && rule->has_azimuth));
    if (rule->split != AIRY_SPLIT_NO)
        load_corners(rule, s, y, first, (has_corners(rule->split) && !rule->angular) || chi_halves);
    if (!has_corners(rule->split) || rule->angular)
        radial_centers(rule, s->center, y);
    if (bbox)
        half_widths(s->half, s->center, s->radial, w, rule->period);
    if (has_corners(rule->split) && rule->angular)
        load_radii(rule, s, y);
    if (rule->has_azimuth || two)
        azimuth_of(rule, &rule->pose, (double)y + 0.5, 0.5, w, s->center_chi);
    if (chi_halves)
        half_widths(s->half_chi, s->center_chi, s->chi, w, rule->turn);
}

/* What the limits are found from: as load_row, without chi where there are no bins of it. */
static void load_reach(const struct airy_split_rule *rule, struct airy_split_scratch *s, size_t y,
                       bool first)
{
    if (rule->chi.bins > 0 || rule->angular) {
        load_row(rule, s, y, first);
        return;
    }
    if (rule->split != AIRY_SPLIT_NO)
        load_corners(rule, s, y, first, false);
    if (!has_corners(rule->split))
        radial_centers(rule, s->center, y);
    if (rule->split == AIRY_SPLIT_BBOX)
        half_widths(s->half, s->center, s->radial, rule->width, rule->period);
}

/* What pixel j of the row that is loaded reaches. */
static void pixel_reach(const struct airy_split_rule *rule, const struct airy_split_scratch *s,
                        size_t j, double *lo, double *hi)
{
    if (!has_corners(rule->split)) {
        const double half = rule->split == AIRY_SPLIT_NO ? 0 : s->half[j];
        *lo = s->center[j] - half;
        *hi = s->center[j] + half;
        return;
    }
    double u[4];
    gather_corners(u, s->radial, j);
    for (int k = 0; rule->angular && k < 4; k++)
        u[k] = unwrap(u[k], s->center[j], rule->period);
    *lo = min4(u[0], u[1], u[2], u[3]);
    *hi = max4(u[0], u[1], u[2], u[3]);
}

/* The same of the second axis. */
static void pixel_reach_chi(const struct airy_split_rule *rule, const struct airy_split_scratch *s,
                            size_t j, double *lo, double *hi)
{
    const double center = airy_split_compat_chi(rule, s->center_chi[j]);
    if (rule->split == AIRY_SPLIT_NO || rule->split == AIRY_SPLIT_BBOX) {
        const double half = rule->split == AIRY_SPLIT_NO ? 0 : s->half_chi[j];
        *lo = center - half;
        *hi = center + half;
        return;
    }
    double y[4];
    gather_corners(y, s->chi, j);
    for (int k = 0; k < 4; k++)
        y[k] = rule->compat ? airy_split_compat_chi(rule, y[k]) : unwrap(y[k], center, rule->turn);
    *lo = min4(y[0], y[1], y[2], y[3]);
    *hi = max4(y[0], y[1], y[2], y[3]);
}

static void widen_by_pixel(struct airy_split_limits *limits, const struct airy_split_rule *rule,
                           const struct airy_split_scratch *s, size_t y, size_t j)
{
    const bool around_beam = has_corners(rule->split) && rule->polar && !rule->compat &&
                             airy_split_holds_beam(rule, s, y, j);
    double lo, hi;
    pixel_reach(rule, s, j, &lo, &hi);
    if (!isfinite(lo) || !isfinite(hi))
        return;
    limits->lower = around_beam ? 0 : min2(lo, limits->lower);
    limits->upper = max2(hi, limits->upper);
    if (rule->chi.bins == 0)
        return;
    if (around_beam)
        airy_split_beam_reach(&lo, &hi, rule, s, y, j);
    else
        pixel_reach_chi(rule, s, j, &lo, &hi);
    /* On both sides of the discontinuity: the whole turn, so that nothing of it is lost. */
    const double least = rule->chi_zero ? 0 : -PI;
    if (!rule->compat && rule->turn > 0 && (lo < least || hi > least + 2 * PI)) {
        lo = least;
        hi = least + 2 * PI;
    }
    limits->chi_lower = min2(lo, limits->chi_lower);
    limits->chi_upper = max2(hi, limits->chi_upper);
}

void airy_split_widen(struct airy_split_limits *limits, const struct airy_split_rule *rule,
                      struct airy_split_scratch *s, size_t first, size_t last,
                      const uint8_t *masked)
{
    const size_t w = rule->width;
    for (size_t y = first; y < last; y++) {
        load_reach(rule, s, y, y == first);
        for (size_t j = 0; j < w; j++)
            if (!masked || !masked[y * w + j])
                widen_by_pixel(limits, rule, s, y, j);
    }
}

static void add_point(struct sink *sink, const struct airy_split_rule *rule, double v)
{
    const ptrdiff_t bin = bin_of(rule, &rule->radial, v);
    if (bin >= 0)
        emit(sink, (size_t)bin, 1);
}

static void add_interval(struct sink *sink, const struct airy_split_rule *rule,
                         struct airy_split_scratch *s, double v0, double v1)
{
    size_t first;
    const size_t count = airy_split_shares(s->area, &first, rule, &rule->radial, v0, v1);
    for (size_t i = 0; i < count; i++)
        if (rule->compat || s->area[i] >= LEAST_SHARE)
            emit(sink, first + i, s->area[i]);
}

/*
 * A pixel's corners in order A (y, x), B (y + 1, x), C (y + 1, x + 1), D (y, x + 1): bins and rad
 * (or whatever the other axis is).
 */
struct quad {
    double x[4], y[4], xmin, xmax;
};

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

static void emit_areas(struct sink *sink, const struct airy_split_rule *rule,
                       struct airy_split_scratch *s, const struct cut *cut, const struct quad *quad,
                       double scale)
{
    double total = 0;
    const ptrdiff_t from = rule->compat ? 1 : 0, to = rule->compat ? cut->slots - 1 : cut->slots;
    for (ptrdiff_t k = from; k < to; k++)
        total += rule->compat ? cut->area[k] : fabs(cut->area[k]);
    if (!(fabs(total) > 1e-12 * scale)) {
        /* No area: a pixel seen edge-on. By length. */
        add_interval(sink, rule, s, rule->radial.lower + quad->xmin * rule->radial.delta,
                     rule->radial.lower + quad->xmax * rule->radial.delta);
        return;
    }
    for (ptrdiff_t k = 1; k < cut->slots - 1; k++) {
        const double share = rule->compat ? cut->area[k] / total : fabs(cut->area[k]) / total;
        if (rule->compat ? share != 0 : share >= LEAST_SHARE)
            emit(sink, (size_t)(cut->base + (double)(k - 1)), share);
    }
}

/*
 * A quadrilateral in two bins, base and the next: what cut_edge and emit_areas make of this case,
 * which most pixels are. False: it has no area.
 */
static bool add_two_bins(struct sink *sink, double base, const struct quad *quad, double scale)
{
    const struct two_areas areas = cut_in_two(quad->x, quad->y, base + 1);
    const double lower = areas.lower, upper = areas.upper;
    const double total = fabs(lower) + fabs(upper);
    if (!(total > 1e-12 * scale))
        return false;
    const double shares[2] = {fabs(lower) / total, fabs(upper) / total};
    for (int k = 0; k < 2; k++)
        if (shares[k] >= LEAST_SHARE)
            emit(sink, (size_t)base + (size_t)k, shares[k]);
    return true;
}

/* Of a pixel whose A may be the beam itself, where the others are relative to nothing. */
static void corner_angles(double chi[4], const struct airy_split_scratch *s, size_t j)
{
    for (int k = 0; k < 4; k++) {
        const int line = k == 1 || k == 2;
        const size_t at = j + (k >= 2);
        chi[k] = angle_of(s->y_line[line][at], s->x_line[line][at]);
    }
}

static void add_quad(struct sink *sink, const struct airy_split_rule *rule,
                     struct airy_split_scratch *s, struct quad *quad, size_t i, size_t j)
{
    const double n = (double)rule->radial.bins;
    const double xmin = quad->xmin, xmax = quad->xmax;
    struct cut cut;
    if (!rule->compat && rule->polar && airy_split_holds_beam(rule, s, i, j)) {
        bool at_beam[4];
        airy_split_at_beam(at_beam, &rule->pose, i, j);
        if (rule->relative)
            corner_angles(quad->y, s, j);
        quad->xmin = to_bins(&rule->radial, 0);
        if (quad->xmin >= n || xmax < 0)
            return;
        cut_begin(&cut, rule->radial.bins, s->area, quad->xmin, xmax);
        cut_around_beam(&cut, quad, at_beam, quad->xmin);
        emit_areas(sink, rule, s, &cut, quad, (xmax - quad->xmin) * PI);
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
    cut_begin(&cut, rule->radial.bins, s->area, xmin, xmax);
    for (int k = 0; k < 4; k++)
        cut_edge(&cut, quad->x[k], quad->y[k], quad->x[(k + 1) & 3], quad->y[(k + 1) & 3]);
    emit_areas(sink, rule, s, &cut, quad, (xmax - xmin) * (ymax - ymin));
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

/*
 * Where chi is the unit, the pixel is offered three times, a period apart: the range decides which
 * parts it takes.
 */
static void add_angular(struct sink *sink, const struct airy_split_rule *rule,
                        struct airy_split_scratch *s, size_t i, size_t j)
{
    const double center = s->center[j];
    if (rule->split == AIRY_SPLIT_NO) {
        const double lower = rule->radial.lower, turns = floor((center - lower) / rule->period);
        /* Within the turn it stays as it is: the largest is the limit, to the last bit. */
        const double v = turns != 0 ? lower + (center - lower - rule->period * turns) : center;
        add_point(sink, rule, v >= lower + rule->period && turns != 0 ? lower : v);
        return;
    }
    double corner[4];
    gather_corners(corner, s->radial, j);
    for (int k = 0; k < 4; k++)
        corner[k] = unwrap(corner[k], center, rule->period);
    for (int turn = -1; turn <= 1; turn++) {
        const double shift = rule->period * turn;
        if (rule->split == AIRY_SPLIT_BBOX) {
            if (center + s->half[j] + shift > rule->radial.lower)
                add_interval(sink, rule, s, center - s->half[j] + shift,
                             center + s->half[j] + shift);
            continue;
        }
        struct quad quad;
        gather_corners(quad.y, s->chi, j);
        for (int k = 0; k < 4; k++)
            quad.x[k] = to_bins(&rule->radial, corner[k] + shift);
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
    const double chi = airy_split_compat_chi(rule, s->center_chi[j]);
    if (rule->split == AIRY_SPLIT_NO)
        return azimuth_touches(rule, chi, chi);
    if (rule->split == AIRY_SPLIT_BBOX)
        return azimuth_touches(rule, chi - s->half_chi[j], chi + s->half_chi[j]);
    double x[4], y[4];
    gather_corners(x, s->radial, j);
    gather_corners(y, s->chi, j);
    for (int k = 0; k < 4; k++)
        y[k] = airy_split_compat_chi(rule, y[k]);
    airy_split_join(rule, x, y);
    return azimuth_touches(rule, min4(y[0], y[1], y[2], y[3]), max4(y[0], y[1], y[2], y[3]));
}

/* As add_pixel: most of the rest is done for the row. */
static void add_relative(struct sink *sink, const struct airy_split_rule *rule,
                         struct airy_split_scratch *s, size_t i, size_t j)
{
    struct quad quad = {.xmin = s->lowest[j], .xmax = s->highest[j]};
    if (quad.xmin >= 0 && quad.xmax < (double)rule->radial.bins &&
        (size_t)quad.xmin == (size_t)quad.xmax && !airy_split_holds_beam(rule, s, i, j)) {
        emit(sink, (size_t)quad.xmin, 1);
        return;
    }
    gather_corners(quad.x, s->radial, j);
    gather_corners(quad.y, s->chi, j);
    add_quad(sink, rule, s, &quad, i, j);
}

static void add_pixel(struct sink *sink, const struct airy_split_rule *rule,
                      struct airy_split_scratch *s, size_t i, size_t j)
{
    if (rule->angular) {
        add_angular(sink, rule, s, i, j);
        return;
    }
    if (rule->relative) {
        add_relative(sink, rule, s, i, j);
        return;
    }
    if (rule->split == AIRY_SPLIT_NO) {
        add_point(sink, rule, s->center[j]);
        return;
    }
    if (rule->split == AIRY_SPLIT_BBOX) {
        const double a = s->center[j] - s->half[j], b = s->center[j] + s->half[j];
        const double v0 = rule->positive && !rule->compat && a < 0 ? 0 : a;
        add_interval(sink, rule, s, v0, b);
        return;
    }
    struct quad quad;
    gather_corners(quad.x, s->radial, j);
    gather_corners(quad.y, s->chi, j);
    for (int k = 0; k < 4; k++)
        quad.x[k] = to_bins(&rule->radial, quad.x[k]);
    if (rule->compat) {
        for (int k = 0; k < 4; k++)
            quad.y[k] = airy_split_compat_chi(rule, quad.y[k]);
        airy_split_join(rule, quad.x, quad.y);
    }
    quad.xmin = min4(quad.x[0], quad.x[1], quad.x[2], quad.x[3]);
    quad.xmax = max4(quad.x[0], quad.x[1], quad.x[2], quad.x[3]);
    add_quad(sink, rule, s, &quad, i, j);
}

/* Of units that are infinite at the beam. */
static bool is_finite(const struct airy_split_rule *rule, const struct airy_split_scratch *s,
                      size_t j)
{
    double lo, hi;
    pixel_reach(rule, s, j, &lo, &hi);
    return isfinite(lo) && isfinite(hi);
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
            if (valid[y * w + j] && (!rule->singular || is_finite(rule, scratch, j)) &&
                (!rule->has_azimuth || pixel_in_azimuth(rule, scratch, j))) {
                if (rule->chi.bins > 0)
                    airy_split_cell(entries, rule, scratch, y, j);
                else
                    add_pixel(&sink, rule, scratch, y, j);
            }
            counts[y * w + j] = (uint32_t)(entries->count - sink.first);
        }
    }
}
