/*
 * An integrator's set-up: which bins pixels lie in, sums of all pixels, the pixel table of
 * fused_geom.h. What split.c and cl_fused_table.c do on the host, to the last bit but for the
 * order in which base sums are added up; that is by pixel within a tile, then by tile.
 *
 * Kernels of tiles: a group of AIRY_SPLIT_GROUP items a tile of AIRY_SPLIT_SIDE^2 pixels, in
 * steps of 8 rows.
 */
#include "shared/double_double.h"
#include "shared/fused_geom.h"
#include "shared/split_geom.h"
#include "shared/split_math.h"

#define SIDE  AIRY_SPLIT_SIDE
#define GROUP AIRY_SPLIT_GROUP
#define MOST  AIRY_SPLIT_MOST
#define STEP  (GROUP / SIDE)

/* Coefficients of a pixel inside the range add up to 1 but for their rounding to float. */
#define SUM_SLACK 0x1p-22

struct corner {
    double value, y, x;
};

/* On the detector, less the PONI, and in the laboratory. */
struct place {
    double p1, p2, y, x, z;
};

AIRY_INLINE struct place place_of(const airy_split_geom *g, double c1, double c2)
{
    const double d1 = g->flip1 ? g->height - c1 : c1, d2 = g->flip2 ? g->width - c2 : c2;
    const double p1 = g->pixel1 * d1 - g->poni1, p2 = g->pixel2 * d2 - g->poni2;
    return (struct place){p1, p2, (g->m[0][0] * p1 + g->m[0][2]) + p2 * g->m[0][1],
                          (g->m[1][0] * p1 + g->m[1][2]) + p2 * g->m[1][1],
                          (g->m[2][0] * p1 + g->m[2][2]) + p2 * g->m[2][1]};
}

AIRY_INLINE struct corner corner_at(const airy_split_geom *g, uint i, uint j)
{
    const struct place at = place_of(g, (double)i, (double)j);
    const double y = at.y, x = at.x, z = at.z, r2 = x * x + y * y;
    double value;
    if (g->unit == AIRY_SPLIT_RADIUS)
        value = g->scale * sqrt(r2);
    else
        value = g->scale * half_angle_sine(r2, z);
    if (g->unit == AIRY_SPLIT_SINE_SQUARED)
        value *= value;
    return (struct corner){value, y, x};
}

AIRY_INLINE bool holds_beam(const airy_split_geom *g, uint i, uint j)
{
    const double near = 0.5 + 1e-6;
    return fabs(g->beam1 - ((double)i + 0.5)) <= near && fabs(g->beam2 - ((double)j + 0.5)) <= near;
}

/* The normalization of a pixel, as correct_row of corrections.c has it. */
AIRY_INLINE float norm_of(const airy_split_geom *g, __global const float *flat,
                          __global const float *absorption, uint i, uint j)
{
    const ulong pixel = (ulong)i * g->columns + j;
    const struct place at = place_of(g, (double)i + 0.5, (double)j + 0.5);
    double n = g->normalization;
    if (g->solid_angle) {
        const double c = g->dist / sqrt(g->dist * g->dist + at.p1 * at.p1 + at.p2 * at.p2);
        n *= c * c * c;
    }
    if (g->polarized) {
        const double y = at.y, x = at.x, z = at.z, n2 = x * x + y * y + z * z;
        n *= 0.5 * (1 + (z * z -
                         (g->polarization[0] * (x * x - y * y) - g->polarization[1] * 2 * x * y)) /
                            n2);
    }
    n *= flat ? (double)flat[pixel] : 1;
    n *= absorption ? (double)absorption[pixel] : 1;
    return (float)n;
}

/* What an item has found; lost: pixels that do not count, 16 bits each of airy_losses. */
struct found {
    double lower, upper;
    float norm, dark;
    ulong lost;
};

#define MASKED     1UL
#define NOT_FINITE (1UL << 16)
#define ZERO       (1UL << 32)

AIRY_INLINE void join_found(struct found *a, const struct found *b)
{
    a->lower = min2(a->lower, b->lower);
    a->upper = max2(a->upper, b->upper);
    a->norm = fmax(a->norm, b->norm);
    a->dark = fmax(a->dark, b->dark);
    a->lost += b->lost;
}

/*
 * Corrections, and the facts of each tile. mask, flat, absorption and background may be NULL; dark
 * is background with 0 where a pixel does not count. Mapping: an item 4 pixels of a column. Local
 * memory: 8 KiB. Barriers: 9.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
split_pixels(__global const uchar *mask, __global const float *flat,
             __global const float *absorption, __global const float *background,
             __global float *norm, __global float *dark, __global airy_split_facts *facts,
             const airy_split_geom g)
{
    __local struct found all[GROUP];
    const uint tile = get_group_id(0), item = get_local_id(0);
    const uint j = tile % g.tiles_x * SIDE + item % SIDE;
    const uint first = tile / g.tiles_x * SIDE + item / SIDE * 4u;
    struct found found = {INFINITY, -INFINITY, 0, 0, 0UL};
    if (j < g.columns && first < g.rows) {
        double a = corner_at(&g, first, j).value, d = corner_at(&g, first, j + 1u).value;
        for (uint i = first; i < first + 4u && i < g.rows; i++) {
            const ulong pixel = (ulong)i * g.columns + j;
            const bool masked = mask && mask[pixel];
            const double b = corner_at(&g, i + 1u, j).value,
                         c = corner_at(&g, i + 1u, j + 1u).value;
            const double lo = min4(a, b, c, d), hi = max4(a, b, c, d);
            a = b;
            d = c;
            if (isfinite(lo) && isfinite(hi) && !masked) {
                found.lower = min2(g.polar && holds_beam(&g, i, j) ? 0 : lo, found.lower);
                found.upper = max2(hi, found.upper);
            }
            const float n = norm_of(&g, flat, absorption, i, j),
                        d0 = background ? background[pixel] : 0;
            const bool finite = isfinite(n) && isfinite(d0), counts = !masked && finite && n != 0;
            found.lost += masked ? MASKED : !finite ? NOT_FINITE : n == 0 ? ZERO : 0UL;
            norm[pixel] = counts ? n : 0;
            if (background)
                dark[pixel] = counts ? d0 : 0;
            found.norm = fmax(found.norm, counts ? fabs(n) : 0);
            found.dark = fmax(found.dark, counts ? fabs(d0) : 0);
        }
    }
    all[item] = found;
    for (uint n = GROUP / 2u; n > 0u; n /= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < n) {
            const struct found other = all[item + n];
            join_found(&found, &other);
            all[item] = found;
        }
    }
    if (item == 0u)
        facts[tile] = (airy_split_facts){found.lower,
                                         found.upper,
                                         (uint)found.lost & 0xffffu,
                                         (uint)(found.lost >> 16) & 0xffffu,
                                         (uint)(found.lost >> 32),
                                         found.norm,
                                         found.dark,
                                         0u};
}

/* A pixel's coefficients of bins from `first` on; one of 0 is no entry, neither first nor last. */
struct shares {
    uint first, count;
    float c[MOST];
};

/* Shares by area, without those that are nothing. False: there is no area. */
AIRY_INLINE bool take_areas(struct shares *s, const struct cut *cut, double scale)
{
    double total = 0;
    for (uint k = 0u; k < MOST + 2u; k++)
        total += k < (uint)cut->slots ? fabs(cut->area[k]) : 0;
    if (!(fabs(total) > 1e-12 * scale))
        return false;
    for (uint k = 0u; k < MOST; k++) {
        const double share = k + 2u < (uint)cut->slots ? fabs(cut->area[k + 1u]) / total : 0;
        if (!(share >= LEAST_SHARE))
            continue;
        if (s->count == 0u)
            s->first = (uint)cut->base + k;
        s->count = (uint)cut->base + k + 1u - s->first;
        s->c[s->count - 1u] = (float)share;
    }
    return true;
}

/* Corners A (i, j), B (i + 1, j), C (i + 1, j + 1), D (i, j + 1): bins, and rad. */
struct quad {
    double x[4], y[4], low, high;
};

/*
 * What few pixels need stands in functions of its own, one for all kernels: compilers take seconds
 * over it otherwise.
 */
#define RARE static __attribute__((noinline))

RARE double wide_angle(double y, double x)
{
    return angle_of(y, x);
}

RARE bool cut_wide(struct shares *s, const struct quad *q, uint bins, double scale)
{
    double area[MOST + 2u];
    struct cut cut;
    if (min2(q->high, (double)bins) - max2(q->low, 0) > (double)(MOST - 2u))
        return false;
    cut_begin(&cut, bins, area, q->low, q->high);
    for (int k = 0; k < 4; k++)
        cut_edge(&cut, q->x[k], q->y[k], q->x[(k + 1) & 3], q->y[(k + 1) & 3]);
    return take_areas(s, &cut, scale);
}

AIRY_INLINE bool cut_quad(struct shares *s, const struct quad *q, const airy_split_geom *g)
{
    double least = 0, most = 0;
    for (int k = 0; k < 4; k++) {
        least = min2(least, q->y[k]);
        most = max2(most, q->y[k]);
    }
    const double scale = (q->high - q->low) * (most - least);
    if (!(q->low >= 0 && q->high < (double)g->bins && (uint)q->high == (uint)q->low + 1u))
        return cut_wide(s, q, g->bins, scale);
    const struct two_areas areas = cut_in_two(q->x, q->y, (double)(uint)q->low + 1);
    const double lower = fabs(areas.lower), upper = fabs(areas.upper), total = lower + upper;
    if (!(total > 1e-12 * scale))
        return false;
    const bool below = lower / total >= LEAST_SHARE, above = upper / total >= LEAST_SHARE;
    s->first = (uint)q->low + (below ? 0u : 1u);
    s->count = below && above ? 2u : 1u;
    s->c[0] = (float)((below ? lower : upper) / total);
    s->c[1] = below && above ? (float)(upper / total) : 0;
    return true;
}

/* cut_around_beam of split.c, of pixel (i, j); beam: where it is in bins, and in pixels. */
RARE bool cut_beam(struct shares *s, struct quad *q, uint bins, double beam, double beam1,
                   double beam2, uint i, uint j)
{
    double area[MOST + 2u];
    struct cut cut;
    if (beam >= (double)bins || q->high < 0)
        return true;
    if (min2(q->high, (double)bins) - max2(beam, 0) > (double)(MOST - 2u))
        return false;
    bool at_beam[4];
    for (int k = 0; k < 4; k++) {
        const double d1 = (double)(i + (k == 1 || k == 2 ? 1u : 0u)) - beam1;
        const double d2 = (double)(j + (k >= 2 ? 1u : 0u)) - beam2;
        at_beam[k] = max2(fabs(d1), fabs(d2)) < 1e-6;
    }
    cut_begin(&cut, bins, area, beam, q->high);
    for (int k = 0; k < 4; k++) {
        const int n = (k + 1) & 3;
        const double turn = unwrap(q->y[n], q->y[k], 2 * PI) - q->y[k];
        if (at_beam[k] || at_beam[n] || fabs(fabs(turn) - PI) < 1e-5)
            continue;
        cut_edge(&cut, q->x[k], 0, q->x[n], turn);
        cut_edge(&cut, q->x[n], turn, beam, turn);
    }
    return take_areas(s, &cut, (q->high - beam) * PI);
}

AIRY_INLINE double turn_between(struct corner from, struct corner to)
{
    const double cross = from.x * to.y - from.y * to.x, dot = from.x * to.x + from.y * to.y;
    return is_small(cross, dot) ? arc_of(cross / dot) : wide_angle(cross, dot);
}

/* add_relative of split.c. False: it is not done here. */
AIRY_INLINE bool share_pixel(struct shares *s, const airy_split_geom *g, uint i, uint j)
{
    const struct corner a = corner_at(g, i, j), b = corner_at(g, i + 1u, j),
                        c = corner_at(g, i + 1u, j + 1u), d = corner_at(g, i, j + 1u);
    struct quad q;
    q.x[0] = (a.value - g->lower) / g->delta;
    q.x[1] = (b.value - g->lower) / g->delta;
    q.x[2] = (c.value - g->lower) / g->delta;
    q.x[3] = (d.value - g->lower) / g->delta;
    q.low = min4(q.x[0], q.x[1], q.x[2], q.x[3]);
    q.high = max4(q.x[0], q.x[1], q.x[2], q.x[3]);
    if (g->polar && holds_beam(g, i, j)) {
        q.y[0] = wide_angle(a.y, a.x);
        q.y[1] = wide_angle(b.y, b.x);
        q.y[2] = wide_angle(c.y, c.x);
        q.y[3] = wide_angle(d.y, d.x);
        return cut_beam(s, &q, g->bins, (0 - g->lower) / g->delta, g->beam1, g->beam2, i, j);
    }
    if (q.high < 0 || q.low >= (double)g->bins)
        return true;
    if (q.low >= 0 && q.high < (double)g->bins && (uint)q.low == (uint)q.high) {
        s->first = (uint)q.low;
        s->count = 1u;
        s->c[0] = 1;
        return true;
    }
    q.y[0] = 0;
    q.y[1] = unwrap(turn_between(a, b), 0, 2 * PI);
    q.y[2] = unwrap(turn_between(a, b) + turn_between(b, c), 0, 2 * PI);
    q.y[3] = unwrap(turn_between(a, d), 0, 2 * PI);
    return cut_quad(s, &q, g);
}

AIRY_INLINE void begin_shares(struct shares *s)
{
    s->first = s->count = 0u;
    for (uint k = 0u; k < MOST; k++)
        s->c[k] = 0;
}

/* Of a tile's item in a step: its pixel; false: there is none that counts. */
AIRY_INLINE bool find_pixel(uint *i, uint *j, const airy_split_geom *g, __global const float *norm,
                            uint step)
{
    const uint tile = get_group_id(0), item = get_local_id(0);
    *i = tile / g->tiles_x * SIDE + step * STEP + item / SIDE;
    *j = tile % g->tiles_x * SIDE + item % SIDE;
    return *i < g->rows && *j < g->columns && norm[*i * g->columns + *j] != 0;
}

/* The largest of the group's values. Barriers: 3, and one before it is called again. */
AIRY_INLINE uint group_most(__local uint *most, uint value)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0u)
        *most = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (value)
        atomic_max(most, value);
    barrier(CLK_LOCAL_MEM_FENCE);
    return *most;
}

/*
 * How a tile's bins, at most GROUP, are dealt to the group: `lanes` of them, a power of two,
 * have GROUP / lanes items each, which share the pixels of a step.
 */
AIRY_INLINE uint lanes_of(uint bins)
{
    uint lanes = 32u;
    while (lanes < bins && lanes < GROUP)
        lanes *= 2u;
    return lanes;
}

/*
 * Which pixels of its part have entries in an item's bin: a bit each, in lanes / 32 words, GROUP
 * apart, that are 0 where marking begins. Only the item reads its words, and clears them.
 */
#define HIT_WORDS (GROUP / 32u * GROUP)

AIRY_INLINE void begin_hits(__local uint *hits, uint lanes)
{
    for (uint w = 0u; w < lanes / 32u; w++)
        hits[w * GROUP + get_local_id(0)] = 0u;
}

/* The item's pixel has an entry in bin number `at` of the tile's. */
AIRY_INLINE void mark_hit(__local uint *hits, uint lanes, uint at)
{
    const uint item = get_local_id(0);
    atomic_or(&hits[item % lanes / 32u * GROUP + item / lanes * lanes + at], 1u << (item & 31u));
}

/*
 * Sums of each tile, a row a bin. An item takes a bin and goes through those pixels of its part of
 * a step that have entries there; these lie in local memory, two entries of each pixel at a time.
 * Parts are added up in order. The entries of the row behind those of bins in sums: not 0 where a
 * pixel has more bins than there is room for, or others than its tile. Local memory: 17 KiB.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
split_sums(__global const float *norm, __global const float *dark,
           __global const airy_split_tile *tiles, __global airy_split_row *rows,
           __global airy_split_row *sums, const airy_split_geom g)
{
    __local uint first[GROUP], hits[HIT_WORDS], most;
    __local float coef[2][GROUP], norms[GROUP], darks[GROUP];
    __local double high[GROUP], low[GROUP];
    const airy_split_tile tile = tiles[get_group_id(0)];
    const uint item = get_local_id(0), lanes = lanes_of(tile.count), lane = item % lanes,
               part = item / lanes * lanes;
    const uint bin = tile.first + lane;
    struct airy_double_double sum[AIRY_SPLIT_PLANES];
    uint entries = 0u;
    float largest = 0;
    for (uint p = 0u; p < AIRY_SPLIT_PLANES; p++)
        sum[p] = (struct airy_double_double){0, 0};
    begin_hits(hits, lanes);
    for (uint step = 0u; step < SIDE / STEP; step++) {
        uint i, j;
        struct shares s;
        begin_shares(&s);
        if (find_pixel(&i, &j, &g, norm, step)) {
            const bool done = share_pixel(&s, &g, i, j);
            if (!done || (s.count > 0u &&
                          (s.first < tile.first || s.first + s.count > tile.first + tile.count)))
                sums[g.bins].entries = 1u;
            norms[item] = norm[i * g.columns + j];
            darks[item] = g.has_dark ? dark[i * g.columns + j] : 0;
        }
        const uint all = group_most(&most, s.count);
        for (uint layer = 0u; layer < all; layer += 2u) {
            first[item] = s.first + layer;
            for (uint n = 0u; n < 2u; n++) {
                const float c = layer + n < s.count ? s.c[layer + n] : 0;
                const uint at = s.first + layer + n - tile.first;
                coef[n][item] = c;
                if (c > 0 && at < tile.count)
                    mark_hit(hits, lanes, at);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint w = 0u; w < lanes / 32u; w++) {
                for (uint left = hits[w * GROUP + item]; left; left &= left - 1u) {
                    const uint k = part + 32u * w + 31u - clz(left & (0u - left));
                    const float c = coef[bin - first[k]][k];
                    const double cd = (double)c, cn = cd * (double)norms[k];
                    airy_double_double_add(&sum[0], cn);
                    airy_double_double_add(&sum[1], cn * cn);
                    airy_double_double_add(&sum[2], cd);
                    if (g.has_dark)
                        airy_double_double_add(&sum[3], cd * (double)darks[k]);
                    if (g.poisson)
                        airy_double_double_add(&sum[4], cd * cd);
                    entries++;
                    largest = fmax(largest, c);
                }
            }
            begin_hits(hits, lanes);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
    const bool writes = part == 0u && lane < tile.count;
    __global airy_split_row *row = rows + tile.row + lane;
    for (uint p = 0u; p < AIRY_SPLIT_PLANES; p++) {
        high[item] = sum[p].hi;
        low[item] = sum[p].lo;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = item + lanes; k < GROUP && writes; k += lanes) {
            airy_double_double_add(&sum[p], high[k]);
            airy_double_double_add(&sum[p], low[k]);
        }
        if (writes) {
            row->sum[p] = sum[p].hi;
            row->sum[AIRY_SPLIT_PLANES + p] = sum[p].lo;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    first[item] = entries;
    norms[item] = largest;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = item + lanes; k < GROUP && writes; k += lanes) {
        entries += first[k];
        largest = fmax(largest, norms[k]);
    }
    if (writes) {
        row->entries = entries;
        row->largest = largest;
    }
}

/* Kernels that join tiles: SLICES items a bin, each with a slice of the tiles. */
#define SLICES 32u
#define BINS   (GROUP / SLICES)

/*
 * All tiles of a bin, one after the other, and then the slices; [bins] rows behind those of tiles.
 * Local memory: 22 KiB.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
split_join(__global const airy_split_tile *tiles, __global const airy_split_row *rows,
           __global airy_split_row *sums, const airy_split_geom g)
{
    __local double part[2u * AIRY_SPLIT_PLANES][GROUP];
    __local uint part_entries[GROUP];
    __local float part_largest[GROUP];
    const uint item = get_local_id(0), slice = item / BINS,
               bin = get_group_id(0) * BINS + item % BINS;
    struct airy_double_double sum[AIRY_SPLIT_PLANES];
    uint entries = 0u;
    float largest = 0;
    for (uint p = 0u; p < AIRY_SPLIT_PLANES; p++)
        sum[p] = (struct airy_double_double){0, 0};
    const uint last = (uint)((ulong)g.tiles * (slice + 1u) / SLICES);
    for (uint t = (uint)((ulong)g.tiles * slice / SLICES); t < last; t++) {
        if (bin - tiles[t].first >= tiles[t].count)
            continue;
        __global const airy_split_row *row = rows + tiles[t].row + (bin - tiles[t].first);
        for (uint p = 0u; p < AIRY_SPLIT_PLANES; p++) {
            airy_double_double_add(&sum[p], row->sum[p]);
            airy_double_double_add(&sum[p], row->sum[AIRY_SPLIT_PLANES + p]);
        }
        entries += row->entries;
        largest = fmax(largest, row->largest);
    }
    for (uint p = 0u; p < AIRY_SPLIT_PLANES; p++) {
        part[p][item] = sum[p].hi;
        part[AIRY_SPLIT_PLANES + p][item] = sum[p].lo;
    }
    part_entries[item] = entries;
    part_largest[item] = largest;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (slice > 0u || bin >= g.bins)
        return;
    for (uint k = item + BINS; k < GROUP; k += BINS) {
        for (uint p = 0u; p < AIRY_SPLIT_PLANES; p++) {
            airy_double_double_add(&sum[p], part[p][k]);
            airy_double_double_add(&sum[p], part[AIRY_SPLIT_PLANES + p][k]);
        }
        entries += part_entries[k];
        largest = fmax(largest, part_largest[k]);
    }
    for (uint p = 0u; p < AIRY_SPLIT_PLANES; p++) {
        sums[bin].sum[p] = sum[p].hi;
        sums[bin].sum[AIRY_SPLIT_PLANES + p] = sum[p].lo;
    }
    sums[bin].entries = entries;
    sums[bin].largest = largest;
}

/* A pixel in the pixel table: its word, or its extra entries; weights of bins from `first` on. */
struct weights {
    uint first, count, word;
    bool extra;
    uint w[MOST];
};

AIRY_INLINE uint no_bin(const airy_split_geom *g)
{
    return (g->bins + 1u) << g->fraction_bits;
}

/* pack_pixel and weight_of of cl_fused_table.c. */
AIRY_INLINE void weigh_pixel(struct weights *w, const struct shares *s, __global const uint *shift,
                             const airy_split_geom *g)
{
    const uint bits = g->fraction_bits, one = 1u << bits;
    w->first = s->first;
    w->count = s->count;
    w->word = no_bin(g);
    w->extra = s->count > 0u;
    for (uint k = 0u; k < MOST; k++)
        w->w[k] = k < s->count ? (uint)rint((double)s->c[k] * (double)(1UL << shift[s->first + k]))
                               : 0u;
    if (s->count == 0u || s->count > 2u || shift[s->first] != bits ||
        (s->count == 2u && shift[s->first + 1u] != bits))
        return;
    const double c = (double)s->c[0], next = s->count == 2u ? (double)s->c[1] : 0;
    if (!(fabs(c + next - 1) <= SUM_SLACK))
        return;
    uint fraction = (uint)rint(next * (double)one);
    if (fraction >= one) {
        w->first++;
        fraction = 0u;
    }
    w->extra = false;
    w->word = w->first << bits | fraction;
    w->count = fraction ? 2u : 1u;
    w->w[0] = one - fraction;
    w->w[1] = fraction;
}

/* The fused engine's sums of each tile, a row a bin, as split_sums. Local memory: 15 KiB. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
split_fixed(__global const float *norm, __global const float *dark, __global const uint *shift,
            __global const airy_split_tile *tiles, __global airy_split_fixed_row *rows,
            const airy_split_geom g)
{
    __local uint first[GROUP], weight[2][GROUP], hits[HIT_WORDS], most;
    __local float norms[GROUP], darks[GROUP];
    __local ulong sums[GROUP];
    const airy_split_tile tile = tiles[get_group_id(0)];
    const uint item = get_local_id(0), lanes = lanes_of(tile.count), lane = item % lanes,
               part = item / lanes * lanes;
    const uint bin = tile.first + lane, bits = bin < g.bins ? shift[bin] : 0u;
    const double unit = 1 / (double)(1UL << bits);
    ulong sum[AIRY_SPLIT_PLANES + 1u];
    for (uint p = 0u; p <= AIRY_SPLIT_PLANES; p++)
        sum[p] = 0;
    begin_hits(hits, lanes);
    for (uint step = 0u; step < SIDE / STEP; step++) {
        uint i, j;
        struct shares s;
        struct weights w;
        begin_shares(&s);
        if (find_pixel(&i, &j, &g, norm, step)) {
            (void)share_pixel(&s, &g, i, j);
            norms[item] = norm[i * g.columns + j];
            darks[item] = g.has_dark ? dark[i * g.columns + j] : 0;
        }
        weigh_pixel(&w, &s, shift, &g);
        const uint all = group_most(&most, w.count);
        for (uint layer = 0u; layer < all; layer += 2u) {
            first[item] = w.first + layer;
            for (uint n = 0u; n < 2u; n++) {
                const uint v = layer + n < w.count ? w.w[layer + n] : 0u;
                const uint at = w.first + layer + n - tile.first;
                weight[n][item] = v;
                if (v != 0u && at < tile.count)
                    mark_hit(hits, lanes, at);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint word = 0u; word < lanes / 32u; word++) {
                for (uint left = hits[word * GROUP + item]; left; left &= left - 1u) {
                    const uint k = part + 32u * word + 31u - clz(left & (0u - left));
                    const uint v = weight[bin - first[k]][k];
                    const double c = (double)v * unit, cn = c * (double)norms[k];
                    sum[0] += (ulong)(long)rint(cn * g.fixed[0]);
                    sum[1] += (ulong)(long)rint(cn * cn * g.fixed[1]);
                    sum[2] += v;
                    if (g.has_dark)
                        sum[3] += (ulong)(long)rint(c * (double)darks[k] * g.fixed[2]);
                    sum[4] += airy_fused_square(v, bits);
                    sum[5]++;
                }
            }
            begin_hits(hits, lanes);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
    const bool writes = part == 0u && lane < tile.count;
    __global airy_split_fixed_row *row = rows + tile.row + lane;
    for (uint p = 0u; p <= AIRY_SPLIT_PLANES; p++) {
        sums[item] = sum[p];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = item + lanes; k < GROUP && writes; k += lanes)
            sum[p] += sums[k];
        if (writes)
            row->sum[p] = sum[p];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* As split_join; base [planes][bins]. Local memory: 12 KiB. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
split_fixed_join(__global const airy_split_tile *tiles, __global const airy_split_fixed_row *rows,
                 __global ulong *base, __global uint *base_entries, const airy_split_geom g)
{
    __local ulong part[AIRY_SPLIT_PLANES + 1u][GROUP];
    const uint item = get_local_id(0), slice = item / BINS,
               bin = get_group_id(0) * BINS + item % BINS;
    ulong sum[AIRY_SPLIT_PLANES + 1u];
    for (uint p = 0u; p <= AIRY_SPLIT_PLANES; p++)
        sum[p] = 0;
    const uint last = (uint)((ulong)g.tiles * (slice + 1u) / SLICES);
    for (uint t = (uint)((ulong)g.tiles * slice / SLICES); t < last; t++) {
        if (bin - tiles[t].first >= tiles[t].count)
            continue;
        __global const airy_split_fixed_row *row = rows + tiles[t].row + (bin - tiles[t].first);
        for (uint p = 0u; p <= AIRY_SPLIT_PLANES; p++)
            sum[p] += row->sum[p];
    }
    for (uint p = 0u; p <= AIRY_SPLIT_PLANES; p++)
        part[p][item] = sum[p];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (slice > 0u || bin >= g.bins)
        return;
    for (uint k = item + BINS; k < GROUP; k += BINS)
        for (uint p = 0u; p <= AIRY_SPLIT_PLANES; p++)
            sum[p] += part[p][k];
    for (uint p = 0u; p < AIRY_SPLIT_PLANES; p++)
        base[(ulong)p * g.bins + bin] = sum[p];
    base_entries[bin] = (uint)sum[AIRY_SPLIT_PLANES];
}

/* Entries of pixel k of a tile of the pixel table; false: it does not count. */
AIRY_INLINE bool weigh_linear(struct weights *w, __global const float *norm,
                              __global const uint *shift, const airy_split_geom *g, uint pixel)
{
    struct shares s;
    begin_shares(&s);
    const bool counts = pixel < g->pixels && norm[pixel] != 0;
    if (counts)
        (void)share_pixel(&s, g, pixel / g->columns, pixel % g->columns);
    weigh_pixel(w, &s, shift, g);
    return counts;
}

AIRY_INLINE uint count_extra(const struct weights *w)
{
    uint n = 0u;
    for (uint k = 0u; k < MOST; k++)
        n += w->extra && k < w->count && w->w[k] != 0u ? 1u : 0u;
    return n;
}

/*
 * Mapping: a group a tile of AIRY_FUSED_TILE pixels. One that does not count has the word of the
 * one before it in the tile. extra_start[t + 1]: how many extra entries tile t has. Local
 * memory: 4.2 KiB.
 */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
split_table(__global const float *norm, __global const uint *shift, __global uint *table,
            __global uint *valid_words, __global uint *extra_start, const airy_split_geom g)
{
    __local uint words[AIRY_FUSED_TILE], valid[AIRY_FUSED_TILE / 32u], extra;
    const uint item = get_local_id(0), tile = get_group_id(0), first = tile * AIRY_FUSED_TILE;
    if (item < AIRY_FUSED_TILE / 32u)
        valid[item] = 0u;
    if (item == 0u)
        extra = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = item; k < AIRY_FUSED_TILE; k += GROUP) {
        struct weights w;
        if (weigh_linear(&w, norm, shift, &g, first + k))
            atomic_or(&valid[k / 32u], 1u << (k & 31u));
        words[k] = w.word;
        const uint n = count_extra(&w);
        if (n)
            atomic_add(&extra, n);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = item; k < AIRY_FUSED_TILE; k += GROUP) {
        uint at = k / 32u, before = valid[at] & (0xffffffffu >> (31u - (k & 31u)));
        while (before == 0u && at > 0u)
            before = valid[--at];
        table[airy_fused_place(first + k)] = before ? words[at * 32u + 31u - clz(before)]
                                                    : no_bin(&g);
    }
    if (item < AIRY_FUSED_TILE / 32u)
        valid_words[tile * (AIRY_FUSED_TILE / 32u) + item] = valid[item];
    if (item == 0u)
        extra_start[tile + 1u] = extra;
}

/* Mapping: as split_table. The extra entries, by pixel. Local memory: 1 KiB. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
split_extra(__global const float *norm, __global const uint *shift,
            __global const uint *extra_start, __global airy_fused_extra *extra,
            const airy_split_geom g)
{
    __local uint counts[GROUP];
    const uint item = get_local_id(0), tile = get_group_id(0);
    uint at = extra_start[tile];
    if (at == extra_start[tile + 1u])
        return;
    for (uint k = item; k < AIRY_FUSED_TILE; k += GROUP) {
        const uint pixel = tile * AIRY_FUSED_TILE + k;
        struct weights w;
        (void)weigh_linear(&w, norm, shift, &g, pixel);
        counts[item] = count_extra(&w);
        barrier(CLK_LOCAL_MEM_FENCE);
        uint place = at;
        for (uint n = 0u; n < GROUP; n++) {
            place += n < item ? counts[n] : 0u;
            at += counts[n];
        }
        for (uint n = 0u; n < MOST; n++)
            if (w.extra && n < w.count && w.w[n] != 0u)
                extra[place++] = (airy_fused_extra){pixel, w.first + n, w.w[n], shift[w.first + n]};
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
