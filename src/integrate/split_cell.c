/* Cells of radius and chi: how a pixel is shared between them. */
#include <stdlib.h>

#include "integrate/split_cut.h"

/* Corners, four; around the beam two more for each edge that is left out, and two to close. */
enum { MAX_POINTS = 16, MAX_CLIPPED = 4 * MAX_POINTS };

/* Points in radial bins and chi bins. */
struct polygon {
    double x[MAX_CLIPPED], y[MAX_CLIPPED];
    int count;
};

static void add_to(struct polygon *p, double x, double y)
{
    p->x[p->count] = x;
    p->y[p->count++] = y;
}

/* A turn of the second axis in its bins; 0: it has none. */
static double turn_of(const struct airy_split_rule *rule)
{
    return rule->turn / rule->chi.delta;
}

/* A pixel is met as it is, and moved by up to so many turns either way. */
static int most_turns(const struct airy_split_rule *rule)
{
    return rule->turn > 0 ? 2 : 0;
}

/*
 * A pixel on both sides of the discontinuity has its bins in two runs: put in order, and the same
 * bin once.
 */
static void settle(const struct sink *sink)
{
    struct airy_entries *e = sink->entries;
    for (size_t i = sink->first + 1; i < e->count; i++)
        for (size_t k = i; k > sink->first && e->bin[k - 1] > e->bin[k]; k--) {
            const uint32_t bin = e->bin[k];
            const float coef = e->coef[k];
            e->bin[k] = e->bin[k - 1];
            e->coef[k] = e->coef[k - 1];
            e->bin[k - 1] = bin;
            e->coef[k - 1] = coef;
        }
    size_t kept = sink->first;
    for (size_t i = sink->first; i < e->count; i++) {
        if (kept > sink->first && e->bin[kept - 1] == e->bin[i]) {
            e->coef[kept - 1] += e->coef[i];
            continue;
        }
        e->bin[kept] = e->bin[i];
        e->coef[kept++] = e->coef[i];
    }
    e->count = kept;
}

/* ---- the centre alone ---- */

static void add_center(struct sink *sink, const struct airy_split_rule *rule, double radial,
                       double chi)
{
    const struct airy_split_axis *axis = &rule->chi;
    double v = airy_split_compat_chi(rule, chi);
    /* A chi within the turn is left as it is: the largest is the limit, to the last bit. */
    const double turns = rule->turn > 0 ? floor((v - axis->lower) / (2 * PI)) : 0;
    if (!rule->compat && turns != 0) {
        v = axis->lower + (v - axis->lower - 2 * PI * turns);
        /* Just below the lower end it rounds to a whole turn. */
        v = v >= axis->lower + 2 * PI ? axis->lower : v;
    }
    const ptrdiff_t x = bin_of(rule, &rule->radial, radial), y = bin_of(rule, axis, v);
    if (x >= 0 && y >= 0)
        emit(sink, (size_t)y * rule->radial.bins + (size_t)x, 1);
}

/* ---- boxes ---- */

static void add_box_once(struct sink *sink, const struct airy_split_rule *rule,
                         const struct airy_split_scratch *s, size_t first, size_t count, double y0,
                         double y1)
{
    size_t row;
    const size_t rows = airy_split_shares(s->band, &row, rule, &rule->chi, y0, y1);
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < count; k++) {
            const double share = s->band[i] * s->area[k];
            if (rule->compat || share >= LEAST_SHARE)
                emit(sink, (row + i) * rule->radial.bins + first + k, share);
        }
}

/* Shares of a box are products of shares of its sides. */
static void add_box(struct sink *sink, const struct airy_split_rule *rule,
                    const struct airy_split_scratch *s, double x0, double x1, double y0, double y1)
{
    size_t first;
    const size_t count = airy_split_shares(s->area, &first, rule, &rule->radial, x0, x1);
    if (count == 0)
        return;
    if (rule->compat) {
        add_box_once(sink, rule, s, first, count, y0, y1);
        return;
    }
    for (int turn = -most_turns(rule); turn <= most_turns(rule); turn++) {
        const double shift = rule->turn * turn;
        if (y1 + shift > rule->chi.lower && y0 + shift < rule->chi.upper)
            add_box_once(sink, rule, s, first, count, y0 + shift, y1 + shift);
    }
    settle(sink);
}

/* ---- quadrilaterals ---- */

static double polygon_area(const struct polygon *p)
{
    double sum = 0;
    for (int k = 0; k < p->count; k++) {
        const int n = k + 1 < p->count ? k + 1 : 0;
        sum += (p->x[n] - p->x[k]) * 0.5 * (p->y[k] - p->y[0] + (p->y[n] - p->y[0]));
    }
    return sum;
}

/*
 * What lies on one side of y = edge; sign 1: above.
 * Source: I. Sutherland, G. Hodgman, CACM 17 (1974) 32.
 */
static void clip_polygon(struct polygon *out, const struct polygon *p, double edge, double sign)
{
    out->count = 0;
    for (int k = 0; k < p->count; k++) {
        const int n = k + 1 < p->count ? k + 1 : 0;
        const double a = sign * (p->y[k] - edge), b = sign * (p->y[n] - edge);
        if (a >= 0)
            add_to(out, p->x[k], p->y[k]);
        if ((a >= 0) != (b >= 0))
            add_to(out, p->x[k] + (p->x[n] - p->x[k]) * (a / (a - b)), edge);
    }
}

static void extent(const double *v, int count, double *least, double *most)
{
    *least = *most = v[0];
    for (int k = 1; k < count; k++) {
        *least = min2(*least, v[k]);
        *most = max2(*most, v[k]);
    }
}

/* The part of a polygon in a row of cells. */
static void add_band(struct sink *sink, const struct airy_split_rule *rule,
                     const struct airy_split_scratch *s, const struct polygon *p, double row,
                     double total)
{
    struct polygon above, part;
    double xmin, xmax;
    clip_polygon(&above, p, row, 1);
    clip_polygon(&part, &above, row + 1, -1);
    if (part.count < 3)
        return;
    extent(part.x, part.count, &xmin, &xmax);
    if (xmax < 0 || xmin >= (double)rule->radial.bins)
        return;
    struct cut cut;
    cut_begin(&cut, rule->radial.bins, s->area, xmin, xmax);
    for (int k = 0; k < part.count; k++) {
        const int n = k + 1 < part.count ? k + 1 : 0;
        cut_edge(&cut, part.x[k], part.y[k] - row, part.x[n], part.y[n] - row);
    }
    for (ptrdiff_t k = 1; k < cut.slots - 1; k++) {
        const double share = cut.area[k] / total;
        if (share >= LEAST_SHARE)
            emit(sink, (size_t)row * rule->radial.bins + (size_t)cut.base + (size_t)(k - 1), share);
    }
}

/* What a polygon reaches. */
struct box {
    double x0, x1, y0, y1;
};

static struct box box_of(const struct polygon *p)
{
    struct box box;
    extent(p->x, p->count, &box.x0, &box.x1);
    extent(p->y, p->count, &box.y0, &box.y1);
    return box;
}

static void add_rows(struct sink *sink, const struct airy_split_rule *rule,
                     const struct airy_split_scratch *s, const struct polygon *p, double ymin,
                     double ymax, double total)
{
    const double last = (double)(rule->chi.bins - 1), from = max2(floor(ymin), 0),
                 to = min2(ceil(ymax) - 1, last);
    for (double row = from; row <= to; row++)
        add_band(sink, rule, s, p, row, total);
}

/* All of it in one cell: most pixels of wide cells. */
static bool add_whole(struct sink *sink, const struct airy_split_rule *rule, const struct box *box)
{
    if (box->x0 < 0 || box->x1 >= (double)rule->radial.bins || box->y0 < 0 ||
        box->y1 >= (double)rule->chi.bins || (size_t)box->x0 != (size_t)box->x1 ||
        (size_t)box->y0 != (size_t)box->y1)
        return false;
    emit(sink, (size_t)box->y0 * rule->radial.bins + (size_t)box->x0, 1);
    return true;
}

/* p and the turns of it; total: the area that is 1, of its sign. */
static void add_turns(struct sink *sink, const struct airy_split_rule *rule,
                      const struct airy_split_scratch *s, const struct polygon *p, double total)
{
    const struct box box = box_of(p);
    const double period = turn_of(rule);
    for (int turn = -most_turns(rule); turn <= most_turns(rule); turn++) {
        const double shift = turn * period;
        if (box.y1 + shift <= 0 || box.y0 + shift >= (double)rule->chi.bins)
            continue;
        struct polygon moved;
        moved.count = 0;
        moved.x[0] = moved.y[0] = 0; /* it has points, which compilers do not see */
        for (int k = 0; k < p->count; k++)
            add_to(&moved, p->x[k], p->y[k] + shift);
        add_rows(sink, rule, s, &moved, box.y0 + shift, box.y1 + shift, total);
    }
}

/* Twice the area of the triangle of points a, b, c of a polygon, with its sign. */
static double side_of(const struct polygon *p, int a, int b, int c)
{
    return (p->x[b] - p->x[a]) * (p->y[c] - p->y[a]) - (p->x[c] - p->x[a]) * (p->y[b] - p->y[a]);
}

/* Where edges k, k + 1 and k + 2, k + 3 of a quadrilateral cross, two triangles meet. */
static bool untwist(struct polygon part[2], const struct polygon *p)
{
    for (int k = 0; k < 2 && p->count == 4; k++) {
        const int a = k, b = k + 1, c = k + 2, d = (k + 3) & 3;
        const double c_side = side_of(p, a, b, c), d_side = side_of(p, a, b, d),
                     a_side = side_of(p, c, d, a), b_side = side_of(p, c, d, b);
        if (!(c_side * d_side < 0 && a_side * b_side < 0))
            continue;
        const double t = a_side / (a_side - b_side), x = p->x[a] + t * (p->x[b] - p->x[a]),
                     y = p->y[a] + t * (p->y[b] - p->y[a]);
        part[0].count = part[1].count = 0;
        add_to(&part[0], x, y);
        add_to(&part[0], p->x[b], p->y[b]);
        add_to(&part[0], p->x[c], p->y[c]);
        add_to(&part[1], x, y);
        add_to(&part[1], p->x[d], p->y[d]);
        add_to(&part[1], p->x[a], p->y[a]);
        return true;
    }
    return false;
}

static void add_polygon(struct sink *sink, const struct airy_split_rule *rule,
                        const struct airy_split_scratch *s, const struct polygon *p)
{
    const struct box box = box_of(p);
    if (add_whole(sink, rule, &box))
        return;
    struct polygon part[2];
    const bool twisted = untwist(part, p);
    const double areas[2] = {polygon_area(twisted ? &part[0] : p),
                             twisted ? polygon_area(&part[1]) : 0},
                 total = fabs(areas[0]) + fabs(areas[1]);
    if (!(total > 1e-12 * (box.x1 - box.x0) * (box.y1 - box.y0))) {
        /* No area: a pixel seen edge-on. By its box. */
        const struct airy_split_axis *r = &rule->radial, *c = &rule->chi;
        add_box(sink, rule, s, r->lower + box.x0 * r->delta, r->lower + box.x1 * r->delta,
                c->lower + box.y0 * c->delta, c->lower + box.y1 * c->delta);
        return;
    }
    for (int k = 0; k < 1 + twisted; k++)
        add_turns(sink, rule, s, twisted ? &part[k] : p, copysign(total, areas[k]));
    settle(sink);
}

/*
 * The pixel with the beam reaches down to radius 0: its image in (radius, chi) lies between its
 * edges and the line x = beam. An edge through the beam is two straight lines to it, and a corner in
 * the beam has no chi.
 */
static void polygon_around_beam(struct polygon *p, const double x[4], const double y[4],
                                const bool at_beam[4], double beam, double period)
{
    int first = 0;
    while (first < 3 && at_beam[first])
        first++;
    double chi = y[first];
    p->count = 0;
    add_to(p, x[first], chi);
    for (int i = 0; i < 4; i++) {
        const int k = (first + i) & 3, next = (k + 1) & 3;
        if (at_beam[next])
            continue;
        const int from = at_beam[k] ? (k + 3) & 3 : k;
        const double turn = unwrap(y[next], y[from], period) - y[from];
        const bool through = at_beam[k] || fabs(fabs(turn) - 0.5 * period) < 1e-6 * period;
        if (through)
            add_to(p, beam, chi);
        chi += turn;
        if (through)
            add_to(p, beam, chi);
        add_to(p, x[next], chi);
    }
    add_to(p, beam, chi);
    add_to(p, beam, y[first]);
}

void airy_split_beam_reach(double *lo, double *hi, const struct airy_split_rule *rule,
                           const struct airy_split_scratch *s, size_t i, size_t j)
{
    const double x[4] = {0};
    double y[4];
    gather_corners(y, s->chi, j);
    bool at_beam[4];
    struct polygon p;
    airy_split_at_beam(at_beam, &rule->pose, i, j);
    polygon_around_beam(&p, x, y, at_beam, 0, 2 * PI);
    extent(p.y, p.count, lo, hi);
    if (rule->chi_zero && *lo < 0) {
        *lo += 2 * PI;
        *hi += 2 * PI;
    }
}

/* True: the beam is in it, or on its edge. */
static bool load_polygon(struct polygon *p, const struct airy_split_rule *rule,
                         const struct airy_split_scratch *s, size_t i, size_t j)
{
    const struct airy_split_axis *chi = &rule->chi;
    double x[4], y[4];
    gather_corners(x, s->radial, j);
    gather_corners(y, s->chi, j);
    for (int k = 0; k < 4; k++) {
        x[k] = to_bins(&rule->radial, x[k]);
        y[k] = to_bins(chi, y[k]);
    }
    if (rule->polar && airy_split_holds_beam(rule, s, i, j)) {
        bool at_beam[4];
        airy_split_at_beam(at_beam, &rule->pose, i, j);
        polygon_around_beam(p, x, y, at_beam, to_bins(&rule->radial, 0), turn_of(rule));
        return true;
    }
    p->count = 0;
    for (int k = 0; k < 4; k++)
        add_to(p, x[k], unwrap(y[k], y[0], turn_of(rule)));
    return false;
}

/*
 * A box of the quadrilateral's area and its own box's proportions, about the mean of the corners.
 */
static void add_pseudo(struct sink *sink, const struct airy_split_rule *rule,
                       const struct airy_split_scratch *s, const struct polygon *p)
{
    const struct airy_split_axis *r = &rule->radial, *c = &rule->chi;
    const struct box reach = box_of(p);
    double x = 0, y = 0;
    for (int k = 0; k < p->count; k++) {
        x += p->x[k] / p->count;
        y += p->y[k] / p->count;
    }
    const double long_x = reach.x1 - reach.x0, long_y = reach.y1 - reach.y0, box = long_x * long_y,
                 scale = box > 0 ? sqrt(fabs(polygon_area(p)) / box) : 0,
                 wide = 0.5 * scale * long_x * r->delta, high = 0.5 * scale * long_y * c->delta;
    x = r->lower + x * r->delta;
    y = c->lower + y * c->delta;
    add_box(sink, rule, s, x - wide, x + wide, y - high, y + high);
}

/* ---- pyFAI's rules ---- */

/* Corners of a pixel, in the unit and rad, and what they reach. */
struct corners {
    double x[4], y[4], x0, x1, y0, y1;
};

/* False: the pixel is out of range. */
static bool load_corners_compat(struct corners *c, const struct airy_split_rule *rule,
                                const struct airy_split_scratch *s, size_t j)
{
    gather_corners(c->x, s->radial, j);
    gather_corners(c->y, s->chi, j);
    for (int k = 0; k < 4; k++)
        c->y[k] = airy_split_compat_chi(rule, c->y[k]);
    if (rule->split == AIRY_SPLIT_FULL)
        airy_split_join(rule, c->x, c->y);
    extent(c->x, 4, &c->x0, &c->x1);
    extent(c->y, 4, &c->y0, &c->y1);
    return c->x1 >= rule->radial.lower && c->x0 <= rule->radial.reach && c->y1 >= rule->chi.lower &&
           c->y0 <= rule->chi.reach;
}

/*
 * An edge above column [i, i + 1): its area over the width that it has there is piled up in cells
 * from the bottom, each taking as much as its width holds.
 */
static void pile_up(double *cells, size_t rows, double area, double width)
{
    double rest = fabs(area);
    for (size_t h = 0; h < rows && rest > 0; h++) {
        const double part = min2(width, rest);
        cells[h] += copysign(part, area);
        rest -= part;
    }
}

/* cells: [columns][rows]; points are counted from the lower left of the first cell. */
static void pile_edge(double *cells, size_t rows, double x1, double y1, double x2, double y2)
{
    if (x1 == x2)
        return;
    const double slope = (y2 - y1) / (x2 - x1), low = min2(x1, x2), high = max2(x1, x2);
    for (double column = floor(low); column < high; column++) {
        const double a = max2(low, column), b = min2(high, column + 1);
        const double area = (b - a) * (y1 + slope * (0.5 * (a + b) - x1));
        if (b > a)
            pile_up(cells + (size_t)column * rows, rows, x2 > x1 ? area : -area, b - a);
    }
}

/*
 * Corners outside of the range are moved to its ends, edges are piled up column by column, and what
 * cells then have is divided by their sum.
 */
static void add_quad_compat(struct sink *sink, const struct airy_split_rule *rule,
                            struct airy_split_scratch *s, size_t j)
{
    const struct airy_split_axis *r = &rule->radial, *chi = &rule->chi;
    struct corners c;
    if (!load_corners_compat(&c, rule, s, j))
        return;
    /* The quotient may round to more than the bins there are. */
    for (int k = 0; k < 4; k++) {
        c.x[k] = min2(to_bins(r, min2(max2(c.x[k], r->lower), r->reach)), (double)r->bins);
        c.y[k] = min2(to_bins(chi, min2(max2(c.y[k], chi->lower), chi->reach)), (double)chi->bins);
    }
    extent(c.x, 4, &c.x0, &c.x1);
    extent(c.y, 4, &c.y0, &c.y1);
    const double left = floor(c.x0), bottom = floor(c.y0);
    const size_t columns = (size_t)(ceil(c.x1) - left), rows = (size_t)(ceil(c.y1) - bottom);
    double sum = 0, *cells = s->cells;
    for (size_t i = 0; i < columns * rows; i++)
        cells[i] = 0;
    for (int k = 0; k < 4; k++) {
        const int n = (k + 1) & 3;
        pile_edge(cells, rows, c.x[k] - left, c.y[k] - bottom, c.x[n] - left, c.y[n] - bottom);
    }
    for (size_t i = 0; i < columns * rows; i++)
        sum += cells[i];
    for (size_t row = 0; row < rows && sum != 0; row++)
        for (size_t i = 0; i < columns; i++)
            if (cells[i * rows + row] != 0)
                emit(sink, ((size_t)bottom + row) * r->bins + (size_t)left + i,
                     cells[i * rows + row] / sum);
}

/* What a side loses outside of the range counts, not what it keeps. */
static double cut_side(double *low, double *high, const struct airy_split_axis *axis)
{
    double scale = 1;
    if (*low < axis->lower) {
        scale *= (axis->lower - *low) / (*high - *low);
        *low = axis->lower;
    }
    if (*high > axis->reach) {
        scale *= (*high - axis->reach) / (*high - *low);
        *high = axis->reach;
    }
    return scale;
}

/*
 * Lengths of a side in cells, not divided by its own length; how many they are. None where a box
 * that shrank out of the range has none in it: pyFAI then writes beside its arrays.
 */
static size_t side_parts(double *part, size_t *first, const struct airy_split_axis *axis,
                         double low, double high)
{
    const double x0 = to_bins(axis, low), x1 = to_bins(axis, high), last = (double)(axis->bins - 1),
                 t0 = trunc(x0), t1 = min2(trunc(x1), last);
    if (!(t0 >= 0 && t0 <= t1))
        return 0;
    const size_t b0 = (size_t)t0, b1 = (size_t)t1;
    *first = b0;
    part[0] = b0 == b1 ? 1 : (double)b0 + 1 - x0;
    for (size_t b = b0 + 1; b < b1; b++)
        part[b - b0] = 1;
    if (b1 > b0)
        part[b1 - b0] = x1 - (double)b1;
    return b1 - b0 + 1;
}

/*
 * The sides of the shrunk box are exchanged, so that it is taken only where it lies in the pixel's
 * box all the same; where it has several cells on either side, products are divided by the length of
 * the one side and multiplied by that of the other.
 */
static void add_pseudo_compat(struct sink *sink, const struct airy_split_rule *rule,
                              struct airy_split_scratch *s, size_t j)
{
    const struct airy_split_axis *r = &rule->radial, *chi = &rule->chi;
    struct corners c;
    if (!load_corners_compat(&c, rule, s, j))
        return;
    struct polygon p = {.count = 0};
    double x = 0, y = 0;
    for (int k = 0; k < 4; k++) {
        add_to(&p, c.x[k], c.y[k]);
        x += 0.25 * c.x[k];
        y += 0.25 * c.y[k];
    }
    const double width = c.y1 - c.y0, height = c.x1 - c.x0, area = fabs(polygon_area(&p));
    if (width != 0 && height != 0) {
        const double new_height = sqrt(area * height / width),
                     new_width = new_height * width / height;
        const double x0 = x - new_width / 2, x1 = x + new_width / 2, y0 = y - new_height / 2,
                     y1 = y + new_height / 2;
        if (x0 >= c.x0 && x1 <= c.x1 && y0 >= c.y0 && y1 <= c.y1) {
            c.x0 = x0;
            c.x1 = x1;
            c.y0 = y0;
            c.y1 = y1;
        }
    }
    if (rule->positive) {
        c.x0 = max2(c.x0, 0);
        c.x1 = max2(c.x1, 0);
    }
    const double least = rule->chi_zero ? 0 : -(double)(float)PI,
                 most = (rule->chi_zero ? 2 : 1) * (double)(float)PI;
    c.y1 = min2(c.y1, most);
    c.y0 = max2(c.y0, least);
    const double scale = cut_side(&c.x0, &c.x1, r) * cut_side(&c.y0, &c.y1, chi);
    if ((c.y1 - c.y0) / chi->delta > 0.5 * (double)chi->bins) {
        if (chi->reach - c.y1 > c.y0 - chi->lower) {
            c.y0 = c.y1;
            c.y1 = chi->reach;
        } else {
            c.y1 = c.y0;
            c.y0 = chi->lower;
        }
    }
    size_t first, row;
    const size_t count = side_parts(s->area, &first, r, c.x0, c.x1),
                 rows = side_parts(s->band, &row, chi, c.y0, c.y1);
    const double long_x = (c.x1 - c.x0) / r->delta, long_y = (c.y1 - c.y0) / chi->delta;
    const double factor = scale * (count > 1 && rows > 1 ? long_y / long_x
                                   : count > 1           ? 1 / long_x
                                   : rows > 1            ? 1 / long_y
                                                         : 1);
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < count; k++)
            emit(sink, (row + i) * r->bins + first + k, factor * s->band[i] * s->area[k]);
}

void airy_split_cell(struct airy_entries *entries, const struct airy_split_rule *rule,
                     struct airy_split_scratch *s, size_t i, size_t j)
{
    struct sink sink = {entries, entries->count};
    if (rule->split == AIRY_SPLIT_NO) {
        add_center(&sink, rule, s->center[j], s->center_chi[j]);
        return;
    }
    if (rule->split == AIRY_SPLIT_BBOX) {
        const double a = s->center[j] - s->half[j],
                     chi = airy_split_compat_chi(rule, s->center_chi[j]);
        add_box(&sink, rule, s, rule->positive && !rule->compat && a < 0 ? 0 : a,
                s->center[j] + s->half[j], chi - s->half_chi[j], chi + s->half_chi[j]);
        return;
    }
    if (rule->compat) {
        if (rule->split == AIRY_SPLIT_PSEUDO)
            add_pseudo_compat(&sink, rule, s, j);
        else
            add_quad_compat(&sink, rule, s, j);
        return;
    }
    struct polygon p;
    if (!load_polygon(&p, rule, s, i, j) && rule->split == AIRY_SPLIT_PSEUDO)
        add_pseudo(&sink, rule, s, &p);
    else
        add_polygon(&sink, rule, s, &p);
}
