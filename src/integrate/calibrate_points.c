/* Control points: where rings are in an image, by a Gaussian fitted to the pixels of each sector. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "integrate/calibrate_parts.h"

#define PI 3.14159265358979323846

enum {
    RING_SAMPLES = 360, /* places on a ring that say how large its pixels are */
    SECTOR_PIXELS = 12, /* length of a sector along the ring, at least */
    FEWEST_SECTORS = 16,
    FEWEST_PIXELS = 14, /* in a sector: the peak has five unknowns */
    BANDS = 64,         /* of rows; threads take one after another */
    STEPS = 25,
    MOST_BINS = 192 /* of a sector's pixels */
};

bool airy_ring_place(const struct airy_pose *pose, const double tth[2], const double chi[2],
                     double c[2])
{
    /* The direction in the laboratory, turned back into the detector's axes. */
    const double n[3] = {tth[0] * chi[0], tth[0] * chi[1], tth[1]};
    double axis[3];
    for (int k = 0; k < 3; k++)
        axis[k] = pose->m[0][k] * n[0] + pose->m[1][k] * n[1] + pose->m[2][k] * n[2];
    /* The last column of m is dist times a unit vector. */
    const double ahead = axis[2] / pose->dist;
    if (!(ahead > 1e-6))
        return false;
    const double d1 = (pose->dist * axis[0] / ahead + pose->poni1) / pose->pixel1,
                 d2 = (pose->dist * axis[1] / ahead + pose->poni2) / pose->pixel2;
    c[0] = pose->flip1 ? pose->height - d1 : d1;
    c[1] = pose->flip2 ? pose->width - d2 : d2;
    return isfinite(c[0]) && isfinite(c[1]);
}

static bool is_inside(const struct airy_pose *pose, const double c[2])
{
    return c[0] >= 0 && c[0] < pose->height && c[1] >= 0 && c[1] < pose->width;
}

/* Mean scale of a ring on the detector; 0 where it is not on it. */
static double ring_scale(const struct airy_pose *pose, double tth, double pixel)
{
    const double t[2] = {sin(tth), cos(tth)};
    double sum = 0;
    int n = 0;
    for (int i = 0; i < RING_SAMPLES && isfinite(tth); i++) {
        const double chi = 2 * PI * i / RING_SAMPLES, x[2] = {sin(chi), cos(chi)};
        double c[2], gradient[2], at;
        if (!airy_ring_place(pose, t, x, c) || !is_inside(pose, c))
            continue;
        airy_ring_gradient(pose, c, &at, gradient);
        sum += 1 / (pixel * hypot(gradient[0], gradient[1]));
        n++;
    }
    return n ? sum / n : 0;
}

void airy_ring_windows(struct airy_ring_window *windows, const airy_geometry *geometry,
                       const double *spacing, size_t rings)
{
    struct airy_pose pose;
    airy_pose_make(&pose, geometry);
    const double pixel = airy_pixel_length(&geometry->detector);
    for (size_t k = 0; k < rings; k++) {
        windows[k] =
            (struct airy_ring_window){.tth = airy_ring_tth(spacing[k], geometry->wavelength)};
        windows[k].scale = ring_scale(&pose, windows[k].tth, pixel);
    }
    for (size_t k = 0; k < rings; k++) {
        double gap = windows[k].tth;
        if (k > 0)
            gap = windows[k].tth - windows[k - 1].tth;
        if (k + 1 < rings && isfinite(windows[k + 1].tth))
            gap = fmin(gap, windows[k + 1].tth - windows[k].tth);
        windows[k].gap = gap * windows[k].scale;
    }
}

static void choose_windows(struct airy_ring_window *windows, size_t rings,
                           const struct airy_ring_look *look)
{
    const double sectors = (double)look->sectors;
    for (size_t k = 0; k < rings; k++) {
        struct airy_ring_window *w = &windows[k];
        if (!(w->scale > 0) || !(0.45 * w->gap >= look->least_px))
            continue;
        w->half = fmin(look->half_px, 0.45 * w->gap) / w->scale;
        const double around = 2 * PI * w->scale * sin(w->tth) / SECTOR_PIXELS;
        w->sectors = (size_t)fmin(fmax(around, FEWEST_SECTORS), sectors);
    }
}

/* A pixel near a ring. */
struct hit {
    uint32_t cell;
    float t, chi, value; /* pixels from the ring; rad from the cell's middle */
    float weight;        /* in the fit of the peak */
};

struct hits {
    struct hit *items;
    size_t count, room;
    bool failed;
};

/* Cells are the sectors of all rings that are looked for. */
struct cell {
    uint32_t ring;
    double chi;      /* of its middle */
    size_t first, n; /* of the sorted hits */
};

struct measure {
    const struct airy_ring_image *image;
    struct airy_pose pose;
    const struct airy_ring_window *windows;
    size_t *looked, looked_count; /* rings with a window, and their first cells */
    size_t *first_cell;
    double (*limits)[2]; /* of sin(theta) */
    struct hits bands[BANDS];
    struct cell *cells;
    size_t cell_count;
    struct hit *sorted;
    struct airy_ring_point *points; /* [cells]; sigma 0: none */
    double pixel;
};

static bool add_hit(struct hits *hits, const struct hit *hit)
{
    if (hits->count == hits->room) {
        const size_t room = hits->room ? 2 * hits->room : 4096;
        struct hit *more = realloc(hits->items, room * sizeof(*more));
        if (!more)
            return false;
        hits->items = more;
        hits->room = room;
    }
    hits->items[hits->count++] = *hit;
    return true;
}

/* The pixels of a row that lie in a ring's window. sines: [width], of theta. */
static bool take_row(const struct measure *m, struct hits *hits, size_t y, const double *sines)
{
    const struct airy_pose *pose = &m->pose;
    const size_t width = m->image->width;
    const float *values = m->image->values + y * width;
    const double p1 = pose->pixel1 *
                          (pose->flip1 ? pose->height - (double)y - 0.5 : (double)y + 0.5) -
                      pose->poni1;
    size_t at = 0; /* neighbours in the row are near the same ring */
    for (size_t x = 0; x < width; x++) {
        if (!isfinite(values[x]))
            continue;
        while (at + 1 < m->looked_count && sines[x] > m->limits[at][1])
            at++;
        while (at > 0 && sines[x] < m->limits[at][0])
            at--;
        if (!(sines[x] >= m->limits[at][0] && sines[x] <= m->limits[at][1]))
            continue;
        const struct airy_ring_window *w = &m->windows[m->looked[at]];
        const double p2 = pose->pixel2 *
                              (pose->flip2 ? pose->width - (double)x - 0.5 : (double)x + 0.5) -
                          pose->poni2;
        const double chi = atan2(pose->m[0][0] * p1 + pose->m[0][1] * p2 + pose->m[0][2],
                                 pose->m[1][0] * p1 + pose->m[1][1] * p2 + pose->m[1][2]);
        const double place = (chi / (2 * PI) + 0.5) * (double)w->sectors;
        const size_t sector = (size_t)fmin(fmax(place, 0), (double)w->sectors - 0.5);
        const double step = 2 * PI / (double)w->sectors;
        if (!add_hit(hits,
                     &(struct hit){.cell = (uint32_t)(m->first_cell[at] + sector),
                                   .t = (float)((2 * asin(fmin(sines[x], 1)) - w->tth) * w->scale),
                                   .chi = (float)(step * (place - (double)sector - 0.5)),
                                   .value = values[x]}))
            return false;
    }
    return true;
}

static void take_band(void *user, size_t band, unsigned worker)
{
    (void)worker;
    struct measure *m = user;
    struct hits *hits = &m->bands[band];
    const size_t height = m->image->height;
    const size_t width = m->image->width;
    double *sines = malloc(width * sizeof(*sines));
    hits->failed = !sines;
    for (size_t y = band * height / BANDS; !hits->failed && y < (band + 1) * height / BANDS; y++) {
        airy_pose_radial(&m->pose, AIRY_UNIT_Q_NM, (double)y + 0.5, 0.5, width, sines);
        for (size_t x = 0; x < width; x++)
            sines[x] /= m->pose.q_scale;
        hits->failed = !take_row(m, hits, y, sines);
    }
    free(sines);
}

/* Hits by cell, in the order of the image's rows. */
static bool sort_hits(struct measure *m)
{
    size_t total = 0;
    for (size_t b = 0; b < BANDS; b++) {
        if (m->bands[b].failed)
            return false;
        total += m->bands[b].count;
    }
    m->sorted = malloc((total + 1) * sizeof(*m->sorted));
    if (!m->sorted)
        return false;
    for (size_t b = 0; b < BANDS; b++)
        for (size_t i = 0; i < m->bands[b].count; i++)
            m->cells[m->bands[b].items[i].cell].n++;
    size_t first = 0;
    for (size_t c = 0; c < m->cell_count; c++) {
        m->cells[c].first = first;
        first += m->cells[c].n;
        m->cells[c].n = 0;
    }
    for (size_t b = 0; b < BANDS; b++)
        for (size_t i = 0; i < m->bands[b].count; i++) {
            const struct hit *hit = &m->bands[b].items[i];
            struct cell *cell = &m->cells[hit->cell];
            m->sorted[cell->first + cell->n++] = *hit;
        }
    return true;
}

/* height exp(-(t - center)^2 / 2 width^2) + base + slope t */
enum { HEIGHT, CENTER, WIDTH, BASE, SLOPE, UNKNOWNS };

struct peak {
    double v[UNKNOWNS], error[UNKNOWNS];
};

/* Means of the cell's pixels in steps of one pixel give where to begin. */
static bool begin_peak(struct peak *peak, const struct hit *hits, size_t n, double half)
{
    enum { MOST = 128 };
    double sum[MOST] = {0}, count[MOST] = {0};
    const double step = fmax(1, 2 * half / (MOST - 1));
    const int bins = (int)(2 * half / step) + 1;
    for (size_t i = 0; i < n; i++) {
        int bin = (int)(((double)hits[i].t + half) / step);
        bin = bin < 0 ? 0 : bin >= bins ? bins - 1 : bin;
        sum[bin] += (double)hits[i].value;
        count[bin]++;
    }
    double low = (double)INFINITY, high = -(double)INFINITY;
    int at = -1;
    for (int b = 0; b < bins; b++) {
        if (count[b] == 0)
            continue;
        const double mean = sum[b] / count[b];
        low = fmin(low, mean);
        if (mean > high) {
            high = mean;
            at = b;
        }
    }
    if (at < 0 || !(high > low))
        return false;
    /* Half of the stretch that is above half of the height. */
    int first = at, last = at;
    while (first > 0 &&
           (count[first - 1] == 0 || sum[first - 1] / count[first - 1] > 0.5 * (low + high)))
        first--;
    while (last + 1 < bins &&
           (count[last + 1] == 0 || sum[last + 1] / count[last + 1] > 0.5 * (low + high)))
        last++;
    *peak = (struct peak){.v = {high - low, (at + 0.5) * step - half,
                                fmax(0.6, 0.42 * step * (last - first + 1)), low, 0}};
    return true;
}

static double model(const double v[UNKNOWNS], double t, double row[UNKNOWNS])
{
    const double z = (t - v[CENTER]) / v[WIDTH];
    const double g = fabs(z) < 7 ? exp(-0.5 * z * z) : 0; /* 2e-11 of the height there */
    row[HEIGHT] = g;
    row[CENTER] = v[HEIGHT] * g * z / v[WIDTH];
    row[WIDTH] = row[CENTER] * z;
    row[BASE] = 1;
    row[SLOPE] = t;
    return v[HEIGHT] * g + v[BASE] + v[SLOPE] * t;
}

/*
 * Weights by the variance that counts of this model would have: of other units than counts the sizes of
 * the errors come from the residuals, as for counts. Scaled by the height, to suit floats.
 */
static void weigh(const double v[UNKNOWNS], struct hit *hits, const float *counts, size_t n)
{
    const double height = fabs(v[HEIGHT]) + 1e-30;
    double unused[UNKNOWNS];
    for (size_t i = 0; i < n; i++)
        hits[i].weight = (counts ? counts[i] : 1) *
                         (float)(height / fmax(model(v, (double)hits[i].t, unused), 0.05 * height));
}

/* Normal equations and sum of squares of what is not `beyond`. */
static double sum_squares(const double v[UNKNOWNS], const struct hit *hits, size_t n, double beyond,
                          double a[AIRY_NORMAL_MOST][AIRY_NORMAL_MOST], double *b, size_t *used)
{
    memset(a, 0, sizeof(double[AIRY_NORMAL_MOST][AIRY_NORMAL_MOST]));
    memset(b, 0, sizeof(double[AIRY_NORMAL_MOST]));
    double sum = 0;
    *used = 0;
    for (size_t i = 0; i < n; i++) {
        double row[UNKNOWNS];
        const double w = (double)hits[i].weight;
        const double e = (double)hits[i].value - model(v, (double)hits[i].t, row);
        if (w * e * e > beyond)
            continue;
        ++*used;
        sum += w * e * e;
        for (int r = 0; r < UNKNOWNS; r++) {
            b[r] += w * row[r] * e;
            for (int c = 0; c <= r; c++)
                a[r][c] += w * row[r] * row[c];
        }
    }
    return sum;
}

/* Means of pixels within a quarter of a pixel, for the first fit; how many. */
static size_t bin_hits(struct hit *bins, float *counts, const struct hit *hits, size_t n,
                       double half)
{
    const double step = fmax(0.25, 2 * half / (MOST_BINS - 2));
    double t[MOST_BINS] = {0}, value[MOST_BINS] = {0}, number[MOST_BINS] = {0};
    for (size_t i = 0; i < n; i++) {
        const double at = ((double)hits[i].t + half) / step;
        const size_t bin = (size_t)fmin(fmax(at, 0), MOST_BINS - 1);
        t[bin] += (double)hits[i].t;
        value[bin] += (double)hits[i].value;
        number[bin]++;
    }
    size_t kept = 0;
    for (size_t b = 0; b < MOST_BINS; b++)
        if (number[b] > 0) {
            bins[kept] = (struct hit){.t = (float)(t[b] / number[b]),
                                      .value = (float)(value[b] / number[b])};
            counts[kept++] = (float)number[b];
        }
    return kept;
}

/* One descent; chi^2 per degree of freedom, or a negative number where there is no peak. */
static double fit_peak(struct peak *peak, struct hit *hits, const float *counts, size_t n,
                       double beyond, double half)
{
    double a[AIRY_NORMAL_MOST][AIRY_NORMAL_MOST], b[AIRY_NORMAL_MOST], damping = 1e-3;
    size_t used;
    weigh(peak->v, hits, counts, n);
    double sum = sum_squares(peak->v, hits, n, beyond, a, b, &used);
    for (int step = 0; step < STEPS; step++) {
        double scaled[AIRY_NORMAL_MOST][AIRY_NORMAL_MOST], move[AIRY_NORMAL_MOST], size[UNKNOWNS];
        for (int i = 0; i < UNKNOWNS; i++)
            size[i] = sqrt(fmax(a[i][i], 1e-300));
        for (int i = 0; i < UNKNOWNS; i++) {
            for (int j = 0; j < i; j++)
                scaled[i][j] = a[i][j] / (size[i] * size[j]);
            scaled[i][i] = 1 + damping;
            move[i] = b[i] / size[i];
        }
        if (!airy_normal_factor(scaled, UNKNOWNS))
            return -1;
        airy_normal_solve(scaled, UNKNOWNS, move);
        double next[UNKNOWNS], na[AIRY_NORMAL_MOST][AIRY_NORMAL_MOST], nb[AIRY_NORMAL_MOST];
        for (int i = 0; i < UNKNOWNS; i++)
            next[i] = peak->v[i] + move[i] / size[i];
        const bool sane = next[WIDTH] > 0.1 && next[WIDTH] < 2 * half &&
                          fabs(next[CENTER]) < 2 * half;
        size_t now_used = 0;
        const double now = sane ? sum_squares(next, hits, n, beyond, na, nb, &now_used)
                                : (double)INFINITY;
        /* With pixels left out a sum over fewer of them is no progress. */
        if (now_used >= used && now < sum) {
            const bool done = sum - now < 1e-4 * sum;
            memcpy(peak->v, next, sizeof(next));
            memcpy(a, na, sizeof(a));
            memcpy(b, nb, sizeof(b));
            sum = now;
            used = now_used;
            damping *= 0.1;
            if (done)
                break;
        } else {
            damping *= 10;
            if (damping > 1e6)
                break;
        }
    }
    if (used < UNKNOWNS + 3)
        return -1;
    const double per = sum / (double)(used - UNKNOWNS);
    double size[UNKNOWNS];
    for (int i = 0; i < UNKNOWNS; i++)
        size[i] = sqrt(fmax(a[i][i], 1e-300));
    for (int i = 0; i < UNKNOWNS; i++)
        for (int j = 0; j <= i; j++)
            a[i][j] /= size[i] * size[j];
    if (!airy_normal_factor(a, UNKNOWNS))
        return -1;
    for (int i = 0; i < UNKNOWNS; i++) {
        double column[AIRY_NORMAL_MOST] = {0};
        column[i] = 1;
        airy_normal_solve(a, UNKNOWNS, column);
        peak->error[i] = sqrt(per * column[i]) / size[i];
    }
    return per;
}

/* A peak that is one: well above its background, of a sensible width, with pixels on both sides. */
static bool is_good(const struct peak *peak, const struct hit *hits, size_t n, double half)
{
    const double *v = peak->v;
    if (!(v[HEIGHT] > 5 * peak->error[HEIGHT]) || !(v[WIDTH] > 0.25) || !(v[WIDTH] < 0.6 * half) ||
        !(fabs(v[CENTER]) < 0.8 * half) || !(peak->error[CENTER] < fmin(1, 0.5 * v[WIDTH])))
        return false;
    size_t below = 0, near = 0, above = 0;
    for (size_t i = 0; i < n; i++) {
        const double z = ((double)hits[i].t - v[CENTER]) / v[WIDTH];
        below += z < -1;
        above += z > 1;
        near += fabs(z) <= 1;
    }
    return below >= 3 && above >= 3 && near >= 2;
}

/*
 * A ring has many pixels in a sector, so a few that are far brighter than the fourth brightest are no
 * part of it: hot pixels, small spots.
 */
static size_t drop_outstanding(struct hit *hits, size_t n)
{
    float top[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY}, low = INFINITY;
    for (size_t i = 0; i < n; i++) {
        float v = hits[i].value;
        low = fminf(low, v);
        for (int k = 0; k < 4; k++)
            if (v > top[k]) {
                const float lower = top[k];
                top[k] = v;
                v = lower;
            }
    }
    const float limit = top[3] + 2 * (top[3] - low);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (hits[i].value <= limit)
            hits[kept++] = hits[i];
    return kept;
}

static void measure_cell(void *user, size_t index, unsigned worker)
{
    (void)worker;
    struct measure *m = user;
    const struct cell *cell = &m->cells[index];
    const struct airy_ring_window *w = &m->windows[cell->ring];
    struct airy_ring_point *point = &m->points[index];
    struct hit *hits = m->sorted + cell->first;
    const double half = w->half * w->scale;
    struct peak peak;
    const size_t n = cell->n < FEWEST_PIXELS ? 0 : drop_outstanding(hits, cell->n);
    if (n < FEWEST_PIXELS || !begin_peak(&peak, hits, n, half))
        return;
    struct hit bins[MOST_BINS];
    float counts[MOST_BINS];
    const size_t filled = bin_hits(bins, counts, hits, n, half);
    const double begun = fabs(peak.v[HEIGHT]);
    double per = fit_peak(&peak, bins, counts, filled, (double)INFINITY, half);
    /* Then of single pixels, with the weights of what was found, without those 6 deviations off. */
    if (per >= 0)
        per = fit_peak(&peak, hits, NULL, n, fmax(36 * per * fabs(peak.v[HEIGHT]) / begun, 1e-30),
                       half);
    if (per < 0 || !is_good(&peak, hits, n, half))
        return;
    double chi = 0;
    size_t near = 0;
    for (size_t i = 0; i < n; i++)
        if (fabs((double)hits[i].t - peak.v[CENTER]) <= 2 * peak.v[WIDTH]) {
            chi += (double)hits[i].chi;
            near++;
        }
    chi = cell->chi + chi / (double)near;
    const double tth = w->tth + peak.v[CENTER] / w->scale;
    const double t[2] = {sin(tth), cos(tth)}, x[2] = {sin(chi), cos(chi)};
    double gradient[2], at;
    if (!airy_ring_place(&m->pose, t, x, point->c))
        return;
    airy_ring_gradient(&m->pose, point->c, &at, gradient);
    point->scale = 1 / (m->pixel * hypot(gradient[0], gradient[1]));
    point->ring = cell->ring;
    point->chi = chi;
    /* Pixels of the mean scale have become pixels of this place. */
    point->width = 2.3548 * peak.v[WIDTH] * point->scale / w->scale;
    point->sigma = fmax(peak.error[CENTER] * point->scale / w->scale, 1e-6);
}

static bool make_cells(struct measure *m, size_t rings)
{
    m->looked = malloc((rings + 1) * sizeof(size_t));
    m->first_cell = malloc((rings + 1) * sizeof(size_t));
    m->limits = malloc((rings + 1) * sizeof(*m->limits));
    if (!m->looked || !m->first_cell || !m->limits)
        return false;
    for (size_t k = 0; k < rings; k++)
        if (m->windows[k].half > 0) {
            m->looked[m->looked_count] = k;
            m->limits[m->looked_count][0] = sin((m->windows[k].tth - m->windows[k].half) / 2);
            m->limits[m->looked_count][1] =
                sin(fmin(m->windows[k].tth + m->windows[k].half, PI) / 2);
            m->first_cell[m->looked_count++] = m->cell_count;
            m->cell_count += m->windows[k].sectors;
        }
    m->cells = calloc(m->cell_count + 1, sizeof(*m->cells));
    m->points = calloc(m->cell_count + 1, sizeof(*m->points));
    for (size_t i = 0; m->cells && i < m->looked_count; i++) {
        const struct airy_ring_window *w = &m->windows[m->looked[i]];
        for (size_t s = 0; s < w->sectors; s++)
            m->cells[m->first_cell[i] + s] =
                (struct cell){.ring = (uint32_t)m->looked[i],
                              .chi = 2 * PI * ((double)s + 0.5) / (double)w->sectors - PI};
    }
    return m->cells && m->points;
}

airy_status airy_ring_measure(struct airy_ring_points *points, const struct airy_ring_image *image,
                              const airy_geometry *geometry, const double *spacing, size_t rings,
                              const struct airy_ring_look *look, airy_pool *pool)
{
    struct measure *m = calloc(1, sizeof(*m));
    AIRY_FAIL_IF(!m, AIRY_ERR_MEMORY, "out of memory for control points");
    airy_status status = AIRY_OK;
    airy_ring_windows(points->windows, geometry, spacing, rings);
    choose_windows(points->windows, rings, look);
    m->image = image;
    m->windows = points->windows;
    m->pixel = airy_pixel_length(&geometry->detector);
    airy_pose_make(&m->pose, geometry);
    bool made = make_cells(m, rings);
    if (made && m->looked_count) {
        airy_pool_run(pool, BANDS, take_band, m);
        made = sort_hits(m);
    }
    if (!made) {
        status = airy_fail(AIRY_ERR_MEMORY, "out of memory for control points");
        goto out;
    }
    if (m->looked_count)
        airy_pool_run(pool, m->cell_count, measure_cell, m);
    size_t kept = 0;
    for (size_t c = 0; c < m->cell_count; c++) {
        points->windows[m->cells[c].ring].filled += m->cells[c].n >= FEWEST_PIXELS;
        if (m->points[c].sigma > 0)
            m->points[kept++] = m->points[c];
    }
    free(points->items);
    points->items = m->points;
    points->count = kept;
    m->points = NULL;
out:
    for (size_t b = 0; b < BANDS; b++)
        free(m->bands[b].items);
    free(m->looked);
    free(m->first_cell);
    free(m->limits);
    free(m->cells);
    free(m->sorted);
    free(m->points);
    free(m);
    return status;
}
